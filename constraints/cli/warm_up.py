"""`warm-up`: compile the kernels of the compiled engine, for images and continuous integration."""

from __future__ import annotations

import argparse
from time import perf_counter

from ..solvers.kernels.loading import PARTS, cold_parts, compiling, entrances
from ..solvers.machine.cache import folder
from .arguments import ALL_WELL


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes: nothing."""


def run(options: argparse.Namespace) -> int:
    """Compile what is not there yet, and say where it is kept."""
    began, cold = perf_counter(), cold_parts(*PARTS)
    with compiling(*PARTS):
        entrances().take_all()
    done = "compiled" if cold else "read"
    folders = {folder(name) for name in PARTS}
    some = ", ".join(sorted(str(one) for one in folders if one is not None))
    kept = f"stored in {some}" if None not in folders else "not stored: no folder is writable"
    print(f"kernels {done} in {perf_counter() - began:.1f} s, {kept}")
    return ALL_WELL
