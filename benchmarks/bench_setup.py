"""Imported before numpy: linear algebra on one thread, tests and examples on the path; what all commands share."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["ROOT", "TESTS", "command", "quiet", "whole", "write"]

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
sys.path[1:1] = [str(folder) for folder in (TESTS, TESTS / "planning", ROOT / "examples")]


class OneLine(argparse.ArgumentParser):
    """Says in one line what is wrong with the options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def whole(least: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number from the least one on."""

    def number(given: str) -> int:
        if not given.removeprefix("-").isdecimal() or int(given) < least:
            raise argparse.ArgumentTypeError(f"expected a whole number from {least}, got {given}")
        return int(given)

    return number


SHARED: dict[str, dict[str, Any]] = {
    "json": {"type": Path, "metavar": "FILE", "help": "write the figures there"},
    "check": {"action": "store_true", "help": "a short run that only shows that everything holds"},
    "hpp-python": {"metavar": "PATH", "help": "interpreter that has hpp-python"},
    "seed": {"type": whole(0), "default": 0, "metavar": "S", "help": "of what is random (%(default)s)"},
}
"""Options that several commands have."""


def command(doc: str | None, *shared: str, **counts: tuple[int | None, str]) -> OneLine:
    """The parser of a command, which also silences remarks on the robots' files.

    Args:
        doc: of the module.
        shared: names of options in `SHARED`.
        counts: options that are whole numbers from 1, with their defaults and what they count.
    """
    logging.disable(logging.WARNING)
    parser = OneLine(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, (default, what) in counts.items():
        said = what if default is None else f"{what} (%(default)s)"
        parser.add_argument(f"--{name}", type=whole(1), default=default, metavar="N", help=said)
    for name in shared:
        parser.add_argument(f"--{name}", **SHARED[name])
    return parser


def write(path: Path | None, figures: Any) -> None:
    """Write figures as JSON, where a file is named."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


@contextlib.contextmanager
def quiet(lines: list[str]) -> Iterator[None]:
    """Take what compiled code writes to both streams of the process, and hand out its lines."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(stream) for stream in (1, 2)]
    with tempfile.TemporaryFile() as sink:
        for stream in (1, 2):
            os.dup2(sink.fileno(), stream)
        try:
            yield
        finally:
            for stream, old in zip((1, 2), saved, strict=True):
                os.dup2(old, stream)
                os.close(old)
            sink.seek(0)
            lines += sink.read().decode(errors="replace").splitlines()
