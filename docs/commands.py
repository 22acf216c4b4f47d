"""The table of commands of `command_line.md`, from the parser: `python docs/commands.py` prints it."""

from __future__ import annotations

import argparse
import importlib
import re

from constraints.__main__ import COMMANDS

HEAD = ["| Command | Does |", "|---|---|"]


def usage_of(command: str) -> str:
    """A command with its arguments, files first: "assemble FILE [--loops YAML]"."""
    parser = argparse.ArgumentParser(
        prog=command, add_help=False, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=10_000)
    )
    importlib.import_module(f"constraints.cli.{command.replace('-', '_')}").add_arguments(parser)
    words = parser.format_usage().removeprefix("usage: ").strip()
    parts = re.fullmatch(r"(\S+)((?: \[.*\])?)((?: [^\[\]]+)?)", words)
    assert parts is not None, words
    name, options, files = parts.groups()
    return f"{name}{files}{options}"


def table() -> str:
    """All lines of it."""
    return "\n".join([*HEAD, *(f"| `{usage_of(name)}` | {words} |" for name, words in COMMANDS.items())])


if __name__ == "__main__":
    print(table())
