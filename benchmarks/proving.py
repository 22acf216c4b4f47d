"""What the proofs at scale share (`soundness.py`, `dynamics_soundness.py`): workers, bad inputs, options, findings.

A finding is a pair of the number of its case and what is wrong with it, in words.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import bench_setup  # noqa: F401

Answer = dict[str, Any]
Finding = Sequence[Any]
Proof = tuple[list[str], list[Finding], Answer]
"""Lines to print, findings, figures."""

CHUNK = 100
"""Bad inputs that are one task."""


class Progress:
    """Says every tenth of the work that is done, on standard error.

    Args:
        total: tasks.
    """

    def __init__(self, total: int) -> None:
        self._total, self._said, self._done, self._began = total, 0, 0, time.perf_counter()

    def one_more(self) -> None:
        """A task is done."""
        self._done += 1
        tenths = 10 * self._done // self._total
        if tenths > self._said:
            self._said = tenths
            print(f"{10 * tenths} % after {time.perf_counter() - self._began:.0f} s", file=sys.stderr)


def answers(work: Callable[[Any], Any], tasks: Sequence[Any], processes: int) -> Iterator[Any]:
    """The answers of all tasks, in order."""
    if processes == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, tasks, chunksize=max(1, min(8, len(tasks) // (4 * processes))))


def on_processes(count: int) -> str:
    return f"on {count} process{'es' * (count > 1)}"


Try = Callable[[int, int], tuple[str, str | None]]
"""Tries input `number` of a seed: where it goes, and what is wrong with what came of it."""


def bad_input(source: str, seed: int, number: int) -> tuple[str, str | None]:
    """Of a module of the tests (`fuzz`, `dynamics_fuzz`)."""
    bad = importlib.import_module(source).bad_input(seed, number)
    said = importlib.import_module("fuzz").verdict(bad)
    return bad.entry, None if said is None else f"{bad.label}: {said}"


def broken_file(seed: int, number: int) -> tuple[str, str | None]:
    """A file of broken structure (`tests/broken_structures.py`)."""
    module = importlib.import_module("broken_structures")
    broken = module.broken_structure(seed, number)
    said, what = module.fault(broken), f"broken {broken.format} (seed {seed}, number {number}): {broken.done}"
    return broken.format, None if said is None else f"{what}: {said}"


def tried(make: Try, seed: int, numbers: range) -> tuple[set[str], list[Finding]]:
    """Where some inputs went, and findings."""
    logging.disable(logging.WARNING)
    places, findings = set[str](), list[Finding]()
    for number in numbers:
        try:
            place, said = make(seed, number)
        except Exception as error:
            findings.append((number, f"making the input raised {type(error).__name__}: {error}"))
            continue
        places.add(place)
        if said is not None:
            findings.append((number, said))
    return places, findings


def all_tried(make: Try, count: int, seed: int, processes: int) -> tuple[set[str], list[Finding], float]:
    """Where all inputs went, findings, and the seconds that it took."""
    began = time.perf_counter()
    tasks = [range(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    known = list(answers(partial(tried, make, seed), tasks, processes))
    places = set[str]().union(*(some for some, _ in known))
    return places, [finding for _, findings in known for finding in findings], time.perf_counter() - began


def bad_inputs(source: str, count: int, seed: int, processes: int) -> Proof:
    """Try as many bad inputs as asked for: each must end in an error that names the culprit."""
    entries, findings, seconds = all_tried(partial(bad_input, source), count, seed, processes)
    line = (
        f"{count} bad inputs (seed {seed}) at {len(entries)} entry points: {count - len(findings)} refused by name; "
        f"{len(findings)} findings; {seconds:.0f} s {on_processes(processes)}"
    )
    figures = {"bad_inputs": count, "seed": seed, "entry_points": len(entries)}
    return [line], findings, figures | {"findings": len(findings), "seconds": seconds, "processes": processes}


def broken_files(count: int, seed: int, processes: int) -> Proof:
    """Read as many files of broken structure: each must end in a result or a typed error, in time."""
    formats, findings, seconds = all_tried(broken_file, count, seed, processes)
    line = (
        f"{count} files of broken structure (seed {seed}; {', '.join(sorted(formats))}): "
        f"{count - len(findings)} read or refused; "
        f"{len(findings)} findings; {seconds:.0f} s {on_processes(processes)}"
    )
    return [line], findings, {"broken_files": count, "seed": seed, "findings": len(findings), "seconds": seconds}


def add_common(parser: argparse.ArgumentParser, case: str, shown: int) -> None:
    """Options of both commands.

    Args:
        parser: of the command.
        case: what one case is.
        shown: findings that are printed one by one.
    """
    parser.add_argument("--case", type=int, metavar="INDEX", help=f"repeat one {case}, and say all about it")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of everything that is random (%(default)s)")
    parser.add_argument("--processes", type=int, default=1, metavar="P", help="that share the work (%(default)s)")
    parser.add_argument("--shown", type=int, default=shown, metavar="N", help="findings in full (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--check", action="store_true", help="a short run of both")


def checked(parser: argparse.ArgumentParser, short_runs: dict[str, int]) -> argparse.Namespace:
    """The options of the command line, refused where there is nothing to do.

    Args:
        parser: of the command.
        short_runs: names of the options that say how much to prove, with how much `--check` asks for.
    """
    options = parser.parse_args()
    for name, count in short_runs.items():
        if options.check and getattr(options, name) is None:
            setattr(options, name, count)
    if options.case is None and all(getattr(options, name) is None for name in short_runs):
        parser.error(f"nothing to do: give {', '.join(f'--{name} N' for name in short_runs)}, or --case INDEX")
    for name, least in (*((name, 1) for name in short_runs), ("case", 0), ("seed", 0), ("processes", 1)):
        number = getattr(options, name)
        if number is not None and number < least:
            parser.error(f"--{name}: expected a whole number from {least}, got {number}")
    return options


def concluded(options: argparse.Namespace, proofs: Sequence[tuple[str, Callable[[], Proof]]]) -> int:
    """Run what is asked for and print it, findings with the command that repeats them; 1 where there are some.

    Args:
        options: of the command line.
        proofs: each with the word that repeats a finding: an option, or "number" where there is none.
    """
    figures, count = list[Answer](), 0
    engine = f"--engine {options.engine} " if hasattr(options, "engine") else ""
    for flag, prove in proofs:
        lines, findings, some = prove()
        for index, what in findings[: options.shown]:
            print(f"FOUND {what} (repeat: {engine}--seed {options.seed} {flag} {index})")
        print("\n".join(lines))
        figures.append(some)
        count += len(findings)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return int(count > 0)


def run_parts(doc: str | None, parts: Mapping[str, tuple[Callable[[int], bool], int]]) -> int:
    """The command of a benchmark that is made of parts: `--part N`, or `--check`, a little of each.

    Args:
        doc: of the benchmark.
        parts: by option what runs, so many times, and whether it holds; and how many times with `--check`.

    Returns:
        The exit code, 1 where something does not hold.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in parts:
        parser.add_argument(f"--{name}", type=int, default=0, metavar="N")
    parser.add_argument("--check", action="store_true", help="a little of each")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    holds = True
    for name, (run, few) in parts.items():
        count = few if options.check else getattr(options, name)
        if count:
            begun = time.process_time()
            good = run(count)
            took = time.process_time() - begun
            print(f"{name}: {'holds' if good else 'DOES NOT HOLD'} ({took:.0f} s)\n", flush=True)
            holds &= good
    return 0 if holds else 1
