"""Looks at the built site as a person would, page by page, and says what is wrong.

    python docs/look.py SITE                     # files only: links, anchors, what the site asks a network for, names
    python docs/look.py SITE --views one         # and each page in chromium, 1000 pixels wide
    python docs/look.py SITE --views all         # 1400, 1000 and 400 pixels, light and dark
    python docs/look.py SITE --views all --screenshots DIR    # and a sheet of small pictures of all pages for each view

SITE is what `sphinx-build docs SITE` wrote. It ends with 1 where something is wrong. Chromium and selenium are needed
for views only; where they are not there, `--views` says how to get them and ends with 2.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from inspect import ismodule
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

__all__ = ["VIEWS", "View", "look", "pages_of", "wrong_in_files", "wrong_names"]

SPELLED_OUT = ("_NestedSequence", "TypeAliasForwardRef", "&lt;factory&gt;", ">dtype<")
"""What a signature shows where the name of a type was lost."""
LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src",),
}
"""Attributes through which a page loads something."""
LINKS_THAT_LOAD = ("stylesheet", "icon", "preload", "prefetch", "preconnect", "shortcut icon", "manifest")


@dataclass(frozen=True)
class View:
    """A window and a scheme of colours.

    Attributes:
        width: of the page [pixels].
        scheme: "light" or "dark".
    """

    width: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.width} {self.scheme}"


VIEWS = {
    "one": (View(1000, "light"),),
    "all": tuple(View(width, scheme) for width in (1400, 1000, 400) for scheme in ("light", "dark")),
}


class Page(HTMLParser):
    """What a built page holds: names of places, links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names, links to and loads."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") in LINKS_THAT_LOAD:
            self.loads.append(found.get("href", ""))
        self.loads += [found[name].split()[0] for name in LOADED.get(tag, ()) if found.get(name)]


def pages_of(site: Path) -> list[Path]:
    """Pages of a built site; those that Sphinx makes for itself (search, index of names) too."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts)


def wrong_in_files(site: Path) -> Iterator[str]:
    """Links and anchors that lead nowhere, what is loaded from a network, and types that are spelled out."""

    @cache
    def read(path: Path) -> Page:
        return Page(path)

    for path in pages_of(site):
        here = path.relative_to(site)
        page = read(path)
        yield from (f"{here}: it loads {address}" for address in page.loads if is_remote(address))
        yield from (f"{here}: it shows {what}" for what in SPELLED_OUT if what in page.text)
        for link in dict.fromkeys((*page.links, *(load for load in page.loads if not is_remote(load)))):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{here}: a link to {link}, which is not there"
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors:
                yield f"{here}: a link to {link}: the page has no such place"
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for mark in ("url(http", "url(//", "url('http", 'url("http', '@import "http', "@import url(http"):
            if mark in text:
                yield f"{path.relative_to(site)}: it loads from a network, {mark}"


def is_remote(address: str) -> bool:
    """Whether a page that loads this asks a network for it."""
    return urlsplit(address).scheme in ("http", "https", "ws", "wss") or address.startswith("//")


def public_things() -> dict[str, Any]:
    """Every public name of the library, with the package that offers it, and what it is."""
    from house.doors import offered

    import constraints

    rooms = [f"constraints.{room.name}" for room in pkgutil.iter_modules(constraints.__path__) if room.ispkg]
    found: dict[str, Any] = {}
    for name in ("constraints", "liegroups", *rooms, "constraints.models.mechanisms"):
        door = importlib.import_module(name)
        found |= {f"{name}.{offer}": getattr(door, offer) for offer in offered(door)}
    return {name: thing for name, thing in found.items() if not ismodule(thing)}


def wrong_names(documented: Sequence[str]) -> Iterator[str]:
    """Public names that no page of the API has.

    Args:
        documented: whole names of what pages describe, as the inventory of the site lists them.
    """
    things = public_things()
    described = {id(things[name]) for name in documented if name in things}
    missing = [name for name, thing in things.items() if id(thing) not in described]
    yield from (f"no page of docs/api describes {name}" for name in missing)


def inventory(site: Path) -> list[str]:
    """Python names that pages of the site describe, by its objects.inv."""
    from sphinx.util.inventory import InventoryFile

    content = (site / "objects.inv").read_bytes()
    found = InventoryFile.loads(content, uri="")
    return [name for kind, entries in found.data.items() if kind.startswith("py:") for name in entries]


def look(driver: Any, address: str, views: Sequence[View], pictures: dict[View, list[Any]] | None = None) -> list[str]:
    """What is wrong with one page in some views; its console and what it asks a network for are read once.

    Args:
        driver: of selenium, from `browser` of the tests.
        address: of the page, file://...
        views: of the page; it is loaded once.
        pictures: receives a picture (height, width, 3) a view, where it is given.
    """
    import browser

    browser.console(driver), browser.requested(driver)
    browser.resize(driver, views[0].width, 1000)
    browser.prefer(driver, views[0].scheme)
    driver.get(address)
    driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "const drawn = window.MathJax && MathJax.startup ? MathJax.startup.promise : Promise.resolve();"
        "drawn.then(() => done(), () => done());"
    )
    wrong: dict[str, list[View]] = {}
    for view in views:
        browser.resize(driver, view.width, 1000)
        browser.prefer(driver, view.scheme)
        for what in dict.fromkeys(driver.execute_script(SCRIPT)):
            wrong.setdefault(what, []).append(view)
        if pictures is not None:
            pictures.setdefault(view, []).append(browser.picture(driver))
    said = [f"{what} ({', '.join(map(str, where))})" for what, where in wrong.items()]
    said += [f"console: {line}" for line in browser.console(driver)]
    return said + [f"it asked for {url}" for url in browser.requested(driver) if not url.startswith("file:")]


SCRIPT = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")


def write_sheets(folder: Path, names: Sequence[str], pictures: dict[View, list[Any]]) -> None:
    """A sheet for each view: small pictures of the tops of all pages, with their names."""
    from PIL import Image, ImageDraw

    folder.mkdir(parents=True, exist_ok=True)
    wide, high, columns = 320, 340, 6
    for view, shown in pictures.items():
        rows = -(-len(shown) // columns)
        sheet = Image.new("RGB", (columns * wide, rows * high), "#808080")
        for i, (name, array) in enumerate(zip(names, shown, strict=True)):
            small = Image.fromarray(array)
            small.thumbnail((wide - 10, high - 25))
            x, y = i % columns * wide + 5, i // columns * high
            sheet.paste(small, (x, y + 20))
            ImageDraw.Draw(sheet).text((x, y + 4), name, fill="white")
        sheet.save(folder / f"{view.width}_{view.scheme}.png")


def look_at_all(site: Path, views: Sequence[View], screenshots: Path | None) -> list[str]:
    """Open each page of a site, and say what is wrong."""
    import browser

    wrong: list[str] = []
    pictures: dict[View, list[Any]] | None = {} if screenshots is not None else None
    pages = pages_of(site)
    names = [path.relative_to(site).as_posix() for path in pages]
    with browser.browser(1000, 1000) as driver:
        for name, path in zip(names, pages, strict=True):
            wrong += [f"{name}: {what}" for what in look(driver, path.resolve().as_uri(), views, pictures)]
    if screenshots is not None and pictures is not None:
        write_sheets(screenshots, names, pictures)
    return wrong


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Look at the built site, and say what is wrong with it.")
    parser.add_argument("site", type=Path)
    parser.add_argument("--views", choices=VIEWS, help="open each page in chromium: in one view, or in all six")
    parser.add_argument("--screenshots", type=Path, metavar="DIR", help="write a sheet of small pictures for each view")
    options = parser.parse_args()
    began, pages = time.monotonic(), pages_of(options.site)
    if not pages:
        parser.error(f"{options.site} has no pages: sphinx-build docs {options.site}")
    wrong = [*wrong_in_files(options.site), *wrong_names(inventory(options.site))]
    said = f"{len(pages)} pages: links, places, names, what is loaded"
    if options.views or options.screenshots:
        import browser

        if lacking := browser.lacking():
            print(f"no page was opened: {lacking}")
            return 2
        views = VIEWS[options.views or "one"]
        wrong += look_at_all(options.site, views, options.screenshots)
        said += f"; each opened in {len(views)} view{'s' if len(views) > 1 else ''}"
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{said}: {len(wrong)} wrong, {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
