"""`warm-up`: compile the kernels of the compiled engine, for images and continuous integration."""

from __future__ import annotations

import argparse
from time import perf_counter

from ..solvers.kernels.loading import entrances
from ..solvers.machine.cache import folder, is_warm
from .arguments import ALL_WELL


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes: nothing."""


def run(options: argparse.Namespace) -> int:
    """Compile what is not there yet, and say where it is kept."""
    began, warm = perf_counter(), is_warm()
    entrances()
    done = "read" if warm else "compiled"
    where = folder()
    kept = "not stored: no folder is writable" if where is None else f"stored in {where}"
    print(f"kernels {done} in {perf_counter() - began:.1f} s, {kept}")
    return ALL_WELL
