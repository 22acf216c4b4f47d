"""Command line: `python -m constraints demo`. Errors are one line and an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import __version__, assemble_command
from .errors import ConstraintError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: of the command line; those of the process by default.

    Returns:
        the exit code: 0, or 1 after an error, which is one line on the standard error stream.
    """
    parser = argparse.ArgumentParser(
        prog="python -m constraints", description="Put robot configurations onto constraints."
    )
    parser.add_argument("--version", action="version", version=f"lie-constraints {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="project random configurations of robots; print a table, write a picture")
    demo.add_argument("--output", default="demo.png", metavar="FILE.png", help="the picture (default: %(default)s)")
    demo.add_argument("--starts", type=int, default=500, metavar="N", help="configurations a robot (%(default)s)")
    demo.add_argument("--seed", type=int, default=0, metavar="S", help="of the random generator (%(default)s)")
    assemble = commands.add_parser("assemble", help="load a mechanism, close its loops, say what it is")
    assemble_command.add_arguments(assemble)
    options = parser.parse_args(arguments)
    if options.command == "assemble":
        return assemble_command.run(options)

    # What a robot's file makes the library remark on is for its author, not for who watches the demonstration.
    try:
        from .demo import run

        run(options.output, options.starts, options.seed)
    except ConstraintError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
