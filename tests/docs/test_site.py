"""The site: every public name has a place in docs/api, and `docs/look.py` finds what is wrong with a page."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from browser import browser, needs_browser

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
API = DOCS / "api"
NOT_IN_SIGNATURES = {"Draw", "Integers", "Picture", "Real"}
"""Names for types that no signature of a page shows."""


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


look = load("look")


def described(page: Path) -> list[str]:
    """Whole names that a page of docs/api describes."""
    found: list[str] = []
    home = ""
    for word, name in re.findall(
        r"^\.\. (currentmodule|auto\w+|autosummary):: ?(\S*)", page.read_text(encoding="utf-8"), re.MULTILINE
    ):
        if word == "currentmodule":
            home = name
        elif word in ("autoclass", "autofunction", "autoexception", "autodata"):
            found.append(f"{home}.{name}")
    return found


def test_every_public_name_has_a_place_in_the_api_pages() -> None:
    """Issue 18: API by topic; a new name of a door fails here until a page of docs/api describes it."""
    names = [name for page in API.rglob("*.rst") for name in described(page)]
    assert len(names) > 300
    parts = [name.rpartition(".") for name in names]
    assert [name for home, _, name in parts if not hasattr(importlib.import_module(home), name)] == []
    assert list(look.wrong_names(names)) == []
    assert len(set(names)) == len(names)


def test_types_that_a_signature_would_spell_out_are_named_in_the_configuration() -> None:
    """A name for numbers that Sphinx is not told of stands in signatures as 'Union[_SupportsArray[dtype[Any]], ...'."""
    told = re.search(r"^autodoc_type_aliases = .*?^}", (DOCS / "conf.py").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert told is not None
    described = re.findall(r"py:type:: (\w+)", (API / "types.rst").read_text("utf-8"))
    assert sorted(re.findall(r'"(\w+)"', told.group())) == sorted(described)
    sources = [file for room in ("constraints", "liegroups") for file in (DOCS.parent / room).rglob("*.py")]
    found = {
        name
        for file in sources
        for name, meaning in re.findall(r"^([A-Z]\w+)(?:: TypeAlias)? = (.*)$", file.read_text("utf-8"), re.MULTILINE)
        if re.search(r"\b(ArrayLike|NDArray|TangentLike)\b", meaning)
    }
    assert "TangentLike" in found
    assert found - set(described) - NOT_IN_SIGNATURES == set()


def test_a_public_name_without_a_place_is_named() -> None:
    names = [name for page in API.rglob("*.rst") for name in described(page) if not name.endswith(".Projector")]
    assert list(look.wrong_names(names)) == [
        f"no page of docs/api describes constraints{room}.Projector" for room in ("", ".solvers")
    ]


@pytest.mark.parametrize("topic", sorted(path.name for path in API.iterdir() if path.is_dir()))
def test_the_page_of_a_topic_lists_what_its_pages_describe(topic: str) -> None:
    listed = re.findall(r"^   ~(\S+)", (API / topic / "index.rst").read_text(encoding="utf-8"), re.MULTILINE)
    names = [name for page in sorted((API / topic).glob("*.rst")) for name in described(page)]
    assert len(listed) == len(set(listed)), "the list of index.rst has a name twice"
    assert set(listed) == set(names), f"in one of the list of index.rst and the pages only: {set(listed) ^ set(names)}"


def test_the_section_shapes_becomes_a_field() -> None:
    """Issue 18: `Shapes` renders; the comma of `(m,)` ended the name of a type before."""
    sphinx = load("docstrings")
    lines = [
        "Affine.",
        "",
        "Shapes:",
        "    value (m,): [m],",
        "        and more.",
        "    jacobian (m, nv).",
        "",
        "Raises:",
    ]
    sphinx.shapes_as_a_field(None, "class", "Affine", object, {}, lines)
    fields = ["    * **value** (m,): [m], and more.", "    * **jacobian** (m, nv)."]
    assert lines == ["Affine.", "", ":Shapes:", *fields, "", "Raises:"]


def test_bases_are_the_next_public_ones() -> None:
    from constraints import Affine
    from constraints.errors import UnknownFrameError

    sphinx = load("docstrings")
    assert sphinx.known_bases(Affine) == ["Function"]  # by way of one that is not public
    assert sphinx.known_bases(UnknownFrameError) == ["UnknownNameError"]


def written(folder: Path, **pages: str) -> Path:
    """A site of such pages."""
    for name, body in pages.items():
        head = "<!doctype html><html><head><meta charset='utf-8'><title>a page</title></head>"
        (folder / f"{name}.html").write_text(f"{head}<body><article>{body}</article></body></html>", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<a href='nowhere.html'>there</a>", "one.html: a link to nowhere.html, which is not there"),
        ("<a href='two.html#b'>there</a>", "one.html: a link to two.html#b: the page has no such place"),
        ("<a href='#c'>there</a>", "one.html: a link to #c: the page has no such place"),
        ("<img src='no.png'>", "one.html: a link to no.png, which is not there"),
        ("<script src='https://example.org/x.js'></script>", "one.html: it loads https://example.org/x.js"),
        ("<link rel='stylesheet' href='//example.org/x.css'>", "one.html: it loads //example.org/x.css"),
        ("<pre>_NestedSequence[float]</pre>", "one.html: it shows _NestedSequence"),
    ],
)
def test_what_is_wrong_in_the_files_is_said(body: str, said: str, tmp_path: Path) -> None:
    site = written(tmp_path, one=body, two="<p id='a'>here</p>")
    assert list(look.wrong_in_files(site)) == [said]


def test_nothing_is_said_of_files_in_which_nothing_is_wrong(tmp_path: Path) -> None:
    links = "<a href='two.html#a'>there</a> <a href='#d'>here</a> <a href='https://example.org'>elsewhere</a>"
    site = written(tmp_path, one=f"<p id='d'>{links}</p>", two="<p id='a'>here</p>")
    assert list(look.wrong_in_files(site)) == []
    (site / "style.css").write_text("@font-face { src: url('https://example.org/font.woff') }", encoding="utf-8")
    assert list(look.wrong_in_files(site)) == ["style.css: it loads from a network, url('http"]


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser(1000, 1000) as found:
        yield found


@needs_browser
@pytest.mark.browser
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (r"<p>where \(q\) is it</p>", "TeX that was not drawn"),
        (r"<p>the $\dot q$ of it</p>", "TeX that was not drawn"),
        (r"<p>of \mathrm{log}</p>", "TeX that was not drawn"),
        ("<mjx-container><svg data-mjx-error='Undefined'></svg></mjx-container>", "a formula with an error: Undefined"),
        ("<p style='width: 1500px'>wide</p>", "the page is 1508 pixels wide in a window of 1000 (1000 light)"),
        ("<p style='width: 600px'>wide</p>", "the page is 608 pixels wide in a window of 400 (400 dark)"),
        ("<p style='width: 1500px'>wide</p>", "beyond the right edge, at 1508: <p> wide"),
        ("<div style='width: 50px; overflow: hidden'><p style='width: 90px'>cut</p></div>", "cut off: 90 pixels in 50"),
        ("<img src='no.png' alt='none'>", "a picture that is not there: no.png"),
        ("<p style='color: #aaa'>faint</p>", "words at a contrast of 2.3: <p> faint"),
        ("<script>undefined.name</script>", "console: "),
        ("<img src='http://127.0.0.1:9/x.png' alt='none'>", "it asked for http://127.0.0.1:9/x.png"),
    ],
)
def test_what_is_wrong_with_a_page_is_seen(driver: Any, body: str, said: str, tmp_path: Path) -> None:
    """Issue 18: the browser test fails on raw TeX, overflow, missing pictures, errors in the console, networks."""
    site = written(tmp_path, one=body)
    found = look.look(driver, (site / "one.html").as_uri(), [look.View(1000, "light"), look.View(400, "dark")])
    assert any(said in line for line in found), found


@needs_browser
@pytest.mark.browser
def test_nothing_is_said_of_a_page_that_is_right(driver: Any, tmp_path: Path) -> None:
    scrolls = "<div style='overflow-x: auto'><table style='width: 3000px'><tr><td>wide</td></tr></table></div>"
    body = rf"<p>It costs 3 $ or \n.</p><p><code>\(q\) $x$</code></p>{scrolls}"
    site = written(tmp_path, one=body)
    pictures: dict[Any, list[Any]] = {}
    assert look.look(driver, (site / "one.html").as_uri(), look.VIEWS["all"], pictures) == []
    assert [shown[0].shape[1] for shown in pictures.values()] == [1400, 1400, 1000, 1000, 400, 400]
    look.write_sheets(site / "sheets", ["one.html"], pictures)
    assert len(list((site / "sheets").glob("*.png"))) == 6
