"""Configuration of the documentation site: `sphinx-build -W docs docs/_build`."""

from __future__ import annotations

import sys
from pathlib import Path

import constraints

sys.path.insert(0, str(Path(__file__).parent))

project = "lie-constraints"
author = "the lie-constraints founders"
version = release = constraints.__version__

extensions = [
    "docstrings",
    "myst_nb",  # pages of MyST, and those of docs/notebooks with the output of their code
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"lie-constraints {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = False

myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # what a notebook shows is what this library prints now
nb_execution_in_temp = True
nb_execution_show_tb = True  # a cell that fails is a warning with its traceback, and -W makes it an error
nb_execution_timeout = 120  # [s] a cell
nb_merge_streams = True
nb_code_prompt_show, nb_code_prompt_hide = "Show the solution", "Hide the solution"
mathjax_path = "tex-svg.js"  # docstrings.py puts it there
mathjax3_config = {"options": {"enableMenu": False}, "svg": {"mtextInheritFont": True}}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Names that stand for a type, as signatures show them; docs/api/types.rst says what each is.
autodoc_type_aliases = {
    name: name
    for name in (
        *("ArrayLike", "BoolVector", "ComplexVector", "Indices", "Matrix", "Objects", "Placement", "Vector"),
        *("BatchRightHandSides", "GivenPoint", "GivenTargets", "Guess", "InTime", "OfThree", "OfTwo", "OfVector"),
        *("FollowedTargets", "Goal", "TangentLike"),
    )
}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
# What a class takes from a base that has an entry of its own is shown there, and so is what functions say to the
# solvers in their own bases; of other bases without an entry the members are shown with the class.
autodoc_default_options = {
    "members": True,
    "inherited-members": "object, Action, BaseException, Calculation, Combined, ConstraintError, Derivatives, Enum, "
    "Exception, FrameFunction, Framed, Function, Generic, GraspFunction, Group, MassFunction, Motion, NamedTuple, "
    "Posture, Protocol, Result, RowOwner, Sequence, Space, Straight, WithPath, int, str, tuple, _PairFunction",
}
autosummary_generate = False
default_role = "py:obj"
python_use_unqualified_type_names = True
python_trailing_comma_in_multi_line_signatures = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Source", "notes_style")]
suppress_warnings = ["ref.python"]  # several classes have a `q` or a `residual`: the page is right either way
