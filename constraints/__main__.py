"""Command line: `python -m constraints COMMAND`. Errors are one line and an exit code, never a traceback.

To add a command: a module in `constraints/cli` with `add_arguments(parser)` and `run(options)`, and a line in
`COMMANDS`, by alphabet. `python docs/commands.py` prints the table of the page.

Exit codes: 0, all is well; 1, the command ran and not all is (a projection failed, a report is not reproduced to the
bit); 2, wrong usage, or a file or value that is refused; 70, an error of this library; 130, interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from . import __version__
from .errors import ConstraintError

COMMANDS = {
    "assemble": "load a mechanism, close its loops, print its rows, rank and mobility",
    "demo": "project random configurations of robots; print a table, write a picture",
    "describe": "describe the problem of a file in words",
    "graph": "build the constraint graph of a scene file, print it, draw it, sample it",
    "info": "print versions, linear algebra, threads and extras, for a bug report",
    "plan": "find a path from the start to the goal of a scene or problem file",
    "project": "project random configurations onto the problem of a file, or repeat a reported case",
    "show": "show a robot, mechanism or scene in a browser, or write the page to a file",
    "warm-up": "compile the kernels of the compiled engine, once per machine",
}
"""Name of each command, which is that of its module in `constraints.cli` (with _ for -), and what it does."""

REFUSED, BROKEN, INTERRUPTED = 2, 70, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: of the command line; those of the process by default.

    Returns:
        the exit code.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    command = next((word for word in words if not word.startswith("-")), "")
    try:
        with _warnings_on_stderr():
            return _ran(command, words)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


@contextmanager
def _warnings_on_stderr() -> Generator[None, None, None]:
    """What the library warns of (limits of a file that are none, names that mean nothing) is said on stderr, once."""
    said = set[str]()
    handler, log = logging.StreamHandler(), logging.getLogger(__package__)
    handler.setFormatter(logging.Formatter("warning: %(message)s"))
    handler.addFilter(lambda record: not (record.getMessage() in said or said.add(record.getMessage())))
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _parser(command: str) -> argparse.ArgumentParser:
    """The parser, with the arguments of one command: the modules of the others are not imported."""
    parser = argparse.ArgumentParser(
        prog="python -m constraints",
        description="Project robot configurations onto constraints.",
        epilog="`python -m constraints COMMAND --help` shows the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"lie-constraints {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, words in COMMANDS.items():
        added = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        if name == command:
            _module(name).add_arguments(added)
    return parser


def _module(command: str) -> Any:
    return importlib.import_module(f"constraints.cli.{command.replace('-', '_')}")


def _ran(command: str, words: list[str]) -> int:
    """The exit code of a command; one line for what it raises."""
    try:
        options = _parser(command).parse_args(words)
        code = _module(options.command).run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # who read has enough, as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if "--traceback" in words:
            raise
        refused = isinstance(error, ConstraintError | OSError)
        kind = "" if refused else f"this is a bug in lie-constraints, please report it: {type(error).__name__}: "
        hint = "" if refused else " (--traceback before the command shows where)"
        print(f"error: {kind}{' '.join(str(error).split())}{hint}", file=sys.stderr)
        return REFUSED if refused else BROKEN


if __name__ == "__main__":
    sys.exit(main())
