"""The pages of decisions are short, in their index, and name what exists; no page of the docs is long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.pages import DOCS, ROOT

DECISIONS = DOCS / "decisions"
PAGES = sorted(path for path in DECISIONS.glob("*.md") if path.stem != "index")
LONGEST_DECISIONS, LONGEST_PAGE = 60, 400
SOURCES = ("constraints", "liegroups", "tests", "benchmarks", "examples", ".ci")


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("page", [*PAGES, DECISIONS / "index.md"], ids=lambda path: path.stem)
def test_a_page_of_decisions_is_short(page: Path) -> None:
    assert lines_of(page) <= LONGEST_DECISIONS


def test_each_page_of_decisions_is_in_the_index() -> None:
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\((\w+)\.md\)", index)
    assert sorted(set(linked)) == [page.stem for page in PAGES]
    (tree,) = re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.MULTILINE | re.DOTALL)
    assert [line for line in tree.splitlines() if line and not line.startswith(":")] == linked


def test_no_page_is_long() -> None:
    """Notebooks are no pages: each is one sitting of a course, from top to bottom; nor is the table of thresholds."""
    pages = [path for path in DOCS.rglob("*.md") if DOCS / "notebooks" not in path.parents]
    pages.remove(DOCS / "thresholds.md")
    assert len(pages) > 80
    assert [f"{path.relative_to(DOCS)}: {lines_of(path)}" for path in pages if lines_of(path) > LONGEST_PAGE] == []


def names() -> frozenset[str]:
    """All words of the sources, and the names of their folders and files."""
    found = set(SOURCES)
    for room in SOURCES:
        for path in (ROOT / room).rglob("*"):
            if path == Path(__file__):
                continue
            found.update(re.findall(r"\w+", path.name))
            if path.suffix in (".py", ".md") or (path.is_file() and room == ".ci"):
                found.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return frozenset(found)


def test_what_pages_of_decisions_name_is_there() -> None:
    spans = [(page.stem, span) for page in PAGES for span in re.findall(r"`([^`]+)`", page.read_text(encoding="utf-8"))]
    there = names()
    assert [(page, span) for page, span in spans if not set(re.findall(r"[A-Za-z_]\w\w+", span)) <= there] == []
