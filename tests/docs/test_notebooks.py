"""The notebooks of docs/notebooks: sources without output, whose cells the site runs.

Their cells are executed once, by `sphinx-build -W docs SITE` (myst-nb, `nb_execution_mode = "force"`): a cell that
fails is a warning there, and so an error. The tests here are those that need no kernel.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
NOTEBOOKS = sorted(path for path in (DOCS / "notebooks").glob("*.md") if path.name != "index.md")
CELL = re.compile(r"^```\{code-cell\} ipython3\n(?P<options>(?::.*\n)*)(?P<code>(?s:.*?))^```$", re.MULTILINE)


def cells(path: Path) -> list[tuple[str, str]]:
    """Options and code of the cells, magics left out."""
    found = CELL.finditer(path.read_text(encoding="utf-8"))
    return [(m["options"], re.sub(r"^%.*\n", "", m["code"], flags=re.MULTILINE)) for m in found]


def ids(path: Path) -> str:
    return path.stem


def test_there_are_notebooks_and_the_site_runs_them():
    configuration = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert [path.stem for path in NOTEBOOKS] == ["arm", "four_bar"]
    assert '"myst_nb"' in configuration
    assert 'nb_execution_mode = "force"' in configuration
    stage = (DOCS.parent / ".ci/run").read_text(encoding="utf-8")
    assert re.search(r"sphinx-build .*-W .*docs", stage)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_all_code_of_a_notebook_is_in_cells_that_are_run(path):
    """A block of the kind `python`, or a cell that may fail or is skipped, would be run by nobody."""
    text = path.read_text(encoding="utf-8")
    assert "kernelspec:" in text.split("---")[1]
    assert "```python" not in text
    assert text.count("{code-cell}") == len(cells(path)) > 20
    assert {options for options, _ in cells(path)} == {"", ":tags: [hide-cell]\n"}  # the latter: solutions


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_a_notebook_imports_what_is_there_and_fits_the_page(path):
    for _, code in cells(path):
        assert max(map(len, code.splitlines())) <= 90, code
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                module = importlib.import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_each_exercise_has_a_folded_solution(path):
    _, exercises = path.read_text(encoding="utf-8").split("## Exercises")
    parts = re.split(r"^\*\*\d\.\*\* ", exercises, flags=re.MULTILINE)[1:]
    assert len(parts) == 5
    assert all(part.count(":tags: [hide-cell]") == 1 for part in parts)
