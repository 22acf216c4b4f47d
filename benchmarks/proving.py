"""What the proofs at scale share: tallies, workers, bad inputs, options, findings, commands made of parts.

A finding is a pair of the number of its case and what is wrong with it, in words.
"""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import bench_setup
from timing import with_seconds

Finding = Sequence[Any]

CHUNK = 100
"""Bad inputs that are one task."""


@dataclass
class Tally:
    """What came of some cases.

    Attributes:
        counts: how many ended with each word.
        errors: the largest error of each name.
        findings: what is wrong.
    """

    counts: Counter[str] = field(default_factory=lambda: Counter[str]())
    errors: dict[str, float] = field(default_factory=lambda: dict[str, float]())
    findings: list[Finding] = field(default_factory=lambda: list[Finding]())

    def met(self, errors: Mapping[str, float]) -> None:
        """Keep the largest errors."""
        for name, size in errors.items():
            self.errors[name] = max(self.errors.get(name, 0.0), size)

    def add(self, other: Tally) -> None:
        """Take what came of other cases."""
        self.counts += other.counts
        self.met(other.errors)
        self.findings += other.findings

    @staticmethod
    def of(parts: Iterable[Tally]) -> Tally:
        """All of them together."""
        whole = Tally()
        for part in parts:
            whole.add(part)
        return whole


class Proof(NamedTuple):
    """What a proof says.

    Attributes:
        line: what was done; the number of findings and the time are printed after it.
        findings: what is wrong.
        figures: for the file.
        above: lines to print before.
        after: what follows the time in the line.
    """

    line: str
    findings: list[Finding]
    figures: dict[str, Any]
    above: Sequence[str] = ()
    after: str = ""


class Part(NamedTuple):
    """Something to be proved.

    Attributes:
        option: that says how much.
        help: of the option.
        few: how much in a short run.
        flag: the word that repeats a finding: an option, or "number" where there is none.
        proofs: what is run.
    """

    option: str
    help: str
    few: int
    flag: str
    proofs: tuple[Callable[[Namespace], Proof], ...]


class NotRun(Exception):
    """Why a proof cannot begin."""


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
    """The answers of all tasks, in order; says what is done."""
    progress = Progress(len(tasks))
    if processes == 1:
        for task in tasks:
            yield work(task)
            progress.one_more()
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, logging.disable, (logging.WARNING,)) as pool:
        for answer in pool.map(work, tasks, chunksize=max(1, min(8, len(tasks) // (4 * processes)))):
            yield answer
            progress.one_more()


Try = Callable[[int, int], tuple[str, str | None]]
"""Tries input `number` of a seed: where it goes, and what is wrong with what came of it."""


def bad_input(rooms: Sequence[str], seed: int, number: int) -> tuple[str, str | None]:
    """Of some rooms of `good_calls` of the tests, of all where none is given."""
    fuzz = importlib.import_module("fuzz")
    bad = fuzz.bad_input(seed, number, rooms or fuzz.ROOMS)
    said = fuzz.verdict(bad)
    return bad.entry, None if said is None else f"{bad.label}: {said}"


def broken_file(seed: int, number: int) -> tuple[str, str | None]:
    """A file of broken structure (`tests/broken_structures.py`)."""
    module = importlib.import_module("broken_structures")
    broken = module.broken_structure(seed, number)
    said, what = module.fault(broken), f"broken {broken.format} (seed {seed}, number {number}): {broken.done}"
    return broken.format, None if said is None else f"{what}: {said}"


def tried(make: Try, seed: int, numbers: range) -> Tally:
    """Where some inputs went, and findings."""
    tally = Tally()
    for number in numbers:
        try:
            place, said = make(seed, number)
        except Exception as error:
            tally.findings.append((number, f"making the input raised {type(error).__name__}: {error}"))
            continue
        tally.counts[place] += 1
        tally.findings += [] if said is None else [(number, said)]
    return tally


def all_tried(make: Try, count: int, options: Namespace) -> Tally:
    """Where all inputs went, and findings."""
    tasks = [range(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    return Tally.of(answers(partial(tried, make, options.seed), tasks, options.processes))


def bad_inputs(rooms: Sequence[str], option: str, options: Namespace) -> Proof:
    """Try as many bad inputs as an option asks for: each must end in an error that names the culprit."""
    count, seed = getattr(options, option), options.seed
    found = all_tried(partial(bad_input, rooms), count, options)
    line = (
        f"{count} bad inputs (seed {seed}) at {len(found.counts)} entry points: "
        f"{count - len(found.findings)} refused by name; "
    )
    return Proof(line, found.findings, {"bad_inputs": count, "entry_points": len(found.counts)})


def broken_files(option: str, options: Namespace) -> Proof:
    """Read as many files of broken structure: each must end in a result or a typed error, in time."""
    count, seed = getattr(options, option), options.seed
    found = all_tried(broken_file, count, options)
    line = (
        f"{count} files of broken structure (seed {seed}; {', '.join(sorted(found.counts))}): "
        f"{count - len(found.findings)} read or refused; "
    )
    return Proof(line, found.findings, {"broken_files": count})


def parser_of(doc: str | None, parts: Sequence[Part], case: str) -> ArgumentParser:
    """Options of a proof.

    Args:
        doc: of the module.
        parts: what is proved.
        case: what one case is.
    """
    parser = bench_setup.command(
        doc, "seed", "json", "check", **{part.option: (None, part.help) for part in parts},
        processes=(1, "that share the work"), shown=(30, "findings in full"),
    )  # fmt: skip
    parser.add_argument("--case", type=bench_setup.whole(0), metavar="INDEX", help=f"repeat one {case}, in full")
    return parser


def prove(parser: ArgumentParser, parts: Sequence[Part], show: Callable[[Namespace], int]) -> int:
    """Run what is asked for and print it, findings with the command that repeats them; 1 where there are some.

    Args:
        parser: of the command.
        parts: what can be asked for.
        show: repeats one case.
    """
    options, figures, count = parser.parse_args(), list[dict[str, Any]](), 0
    asked = {part: getattr(options, part.option) or (part.few if options.check else 0) for part in parts}
    if options.case is None and not any(asked.values()):
        parser.error(f"nothing to do: give {', '.join(f'--{part.option} N' for part in parts)}, or --case INDEX")
    vars(options).update({part.option: number for part, number in asked.items()})
    engine = f"--engine {options.engine} " if hasattr(options, "engine") else ""
    try:
        if options.case is not None:
            return show(options)
        for part, run in [(each, run) for each in parts if asked[each] for run in each.proofs]:
            began = time.perf_counter()
            proof = run(options)
            seconds, found = time.perf_counter() - began, len(proof.findings)
            for index, what in proof.findings[: options.shown]:
                print(f"FOUND {what} (repeat: {engine}--seed {options.seed} {part.flag} {index})")
            on = f"on {options.processes} process{'es' * (options.processes > 1)}"
            print("\n".join([*proof.above, f"{proof.line}{found} findings; {seconds:.0f} s {on}{proof.after}"]))
            of_all = {"seed": options.seed, "findings": found, "seconds": seconds, "processes": options.processes}
            figures.append(proof.figures | of_all)
            count += found
    except NotRun as why:
        print(why, file=sys.stderr)
        return 2
    bench_setup.write(options.json, figures)
    return int(count > 0)


def run_parts(doc: str | None, parts: Mapping[str, tuple[Callable[[int], bool], int]]) -> int:
    """The command of a benchmark that is made of parts: `--part N`, or a little of each to check it.

    Args:
        doc: of the benchmark.
        parts: by option what runs, so many times, and whether it holds; and how many times in a check.

    Returns:
        The exit code, 1 where something does not hold.
    """
    counts = {name: (None, next(iter((run.__doc__ or "").splitlines()), "")) for name, (run, _) in parts.items()}
    options, holds = bench_setup.command(doc, "check", **counts).parse_args(), True
    for name, (run, few) in parts.items():
        count = few if options.check else getattr(options, name)
        if count:
            good, took = with_seconds(partial(run, count))
            print(f"{name}: {'holds' if good else 'DOES NOT HOLD'} ({took:.0f} s)\n", flush=True)
            holds &= good
    return 0 if holds else 1
