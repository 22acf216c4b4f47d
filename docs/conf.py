"""Configuration of the documentation site: `sphinx-build -W docs docs/_build`."""

from __future__ import annotations

import constraints

project = "lie-constraints"
author = "the lie-constraints founders"
version = release = constraints.__version__

extensions = [
    "myst_nb",  # pages of MyST, and those of docs/notebooks with the output of their code
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"lie-constraints {version}"

myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # what a notebook shows is what this library prints now
nb_execution_in_temp = True
nb_execution_show_tb = True  # a cell that fails is a warning with its traceback, and -W makes it an error
nb_execution_timeout = 120  # [s] a cell
nb_merge_streams = True
nb_code_prompt_show, nb_code_prompt_hide = "Show the solution", "Hide the solution"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_type_aliases = {"Objects": "numpy.ndarray"}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # several classes have a `q` or a `residual`: the page is right either way
napoleon_custom_sections = [("Shapes", "params_style"), ("Source", "notes_style")]
