"""Runs the Python blocks of a page in order, and compares what they print with the text block behind each.

    python docs/blocks.py PAGE...            # runs them in a temporary folder, says what differs
    python docs/blocks.py --write PAGE...    # writes what was printed into the text blocks

A page is one program: its blocks share their names. A block of the kind `text` directly behind a block of Python is
what that block prints. A block that imports a neighbour which is not installed ends the run: what stands behind it
rests on it. Figures may differ in their last digits from one machine to another, times and numbers of
iterations altogether.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import types
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

__all__ = ["Block", "blocks", "differences", "run"]

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n*^```text(?P<roughly> roughly)?\n(?P<text>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_VARIES = re.compile(r"\b\d[\d.]*(?:e[+-]?\d+)? (?:ms|us|s|iterations?|tries|restarts?)\b")
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.\d*|\.\d+|\d+(?=e[+-]\d))(?:e[+-]?\d+)?")
_NEIGHBOUR = re.compile(r"^(?:from|import) (ompl)\b", re.MULTILINE)  # packages that may be absent
_SMALL, _RELATIVE = 1e-4, 0.02


@dataclass(frozen=True)
class Block:
    """A block of Python in a page.

    Attributes:
        code: the Python.
        line: number of its first line in the page.
        text: what the page says it prints; None where it says nothing.
    roughly: whether figures and the order of lines are left out of the comparison: the kind `text roughly`.
        span: where that text is in the page.
    """

    code: str
    line: int
    text: str | None
    roughly: bool
    span: tuple[int, int]


def blocks(page: str) -> list[Block]:
    """The Python blocks of a page's text, in order."""
    found = _BLOCK.finditer(page)
    return [
        Block(m["code"], page.count("\n", 0, m.start("code")) + 1, m["text"], bool(m["roughly"]), m.span("text"))
        for m in found
    ]


def run(path: Path) -> list[tuple[Block, str]]:
    """Run the blocks of a page in the current folder, as the main module; each with what it prints.

    Blocks are run up to the first that imports a neighbour which is not installed.
    """
    main, module = sys.modules["__main__"], types.ModuleType("__main__")
    sys.modules["__main__"] = module  # what the page defines can be pickled
    results: list[tuple[Block, str]] = []
    try:
        for block in blocks(path.read_text(encoding="utf-8")):
            if any(find_spec(name) is None for name in _NEIGHBOUR.findall(block.code)):
                break
            out = io.StringIO()
            code = compile("\n" * (block.line - 1) + block.code, str(path), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(out):
                exec(code, module.__dict__)
            results.append((block, "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())))
    finally:
        sys.modules["__main__"] = main
    return results


def differences(said: str, printed: str, roughly: bool = False) -> list[str]:
    """Lines in which what a page says and what was printed differ by more than the last digits of figures."""
    mine, theirs = said.splitlines(), printed.splitlines()
    if len(mine) != len(theirs):
        return [f"the page has {len(mine)} lines, {len(theirs)} were printed:\n{printed}"]
    if roughly:  # what is equally bad comes in either order
        mine, theirs = (sorted(lines, key=_words) for lines in (mine, theirs))
    pairs = zip(mine, theirs, strict=True)
    return [f"the page says {a!r}, printed was {b!r}" for a, b in pairs if not _alike(a, b, roughly)]


def _alike(a: str, b: str, roughly: bool) -> bool:
    if _words(a) != _words(b):
        return False
    numbers = zip(*(map(float, _NUMBER.findall(_VARIES.sub("~", line))) for line in (a, b)), strict=True)
    return roughly or all(abs(x - y) <= max(_SMALL, _RELATIVE * abs(x)) for x, y in numbers)


def _words(line: str) -> list[str]:
    """The words of a line; numbers with a fraction, times and numbers of iterations have a sign in their place."""
    return _NUMBER.sub("#", _VARIES.sub("~", line)).split()


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Run the Python blocks of documentation pages.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="write what is printed into the pages")
    arguments = parser.parse_args()
    home, wrong = Path.cwd(), 0
    for path in (page.resolve() for page in arguments.pages):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            results = run(path)
            os.chdir(home)
        if arguments.write:
            page = path.read_text(encoding="utf-8")
            for block, printed in reversed(results):
                if block.text is not None:
                    page = page[: block.span[0]] + printed + page[block.span[1] :]
            path.write_text(page, encoding="utf-8")
        else:
            for block, printed in results:
                for difference in differences(block.text, printed, block.roughly) if block.text is not None else ():
                    print(f"{path}:{block.line}: {difference}")
                    wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
