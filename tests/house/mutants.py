"""Mutants: one token of a room is changed, and the tests of that room are run: do they notice?

    PYTHONPATH=tests python -m house.mutants ROOM [--seed S] [--count N] [--processes P] [--seconds T]

ROOM is a folder of the library (`rows`, `solvers/newton`, `functions`, `liegroups`, ...); `solvers` is its own files
and those of all its rooms. Its tests are the folder of the same name under `tests/`. Everything happens in a copy of
the tree. Kernels run in plain Python (`NUMBA_DISABLE_JIT=1`), all but what makes and keeps them.

Operators, comparisons, signs, and/or, `not`, numbers and True/False are changed; never names, texts, types or
docstrings, nor what is a choice and no behaviour: the size of constants that a docstring explains, and keywords
that make a call quicker or stricter (`SPARED`); nor `init=` of a record that has its own `__init__`, which `dataclass`
leaves alone whatever is said.

The room's tests are run once, with the lines that each of them runs. A mutant is judged by the tests that run its
line: the `FIRST` quickest, then the others, until one fails. Each of these two runs is a fork of a process that has
imported the libraries below the room but nothing of the tree, so what is changed is always imported afresh. It may
take T seconds of the processor more than three times what its tests take.

What lived is listed with its line, and the exit code is the number of these (at most 100). A mutant that lives is
equivalent, or shows what no test looks at.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from house.changes import Mutant, places

ROOT = Path(__file__).resolve().parent.parent.parent
COPIED = ("constraints", "liegroups", "tests", "benchmarks", "examples", "docs", "README.md", "pyproject.toml")
NEIGHBOURS = {"solvers/newton": "newton", "solvers/refinement": "refinement", "solvers/projection": "projection",
              "solvers/diagnosis": "diagnosis", "solvers/compiled": "compiled", "solvers/kernels": "compiled",
              "solvers/tape": "compiled", "solvers/machine": "compiled"}  # fmt: skip
"""Rooms whose tests are in a folder of another name; a room of a room without one is judged by those of that room."""
PRELOADED = ("numpy.testing", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial.transform",
             "pinocchio", "networkx", "hypothesis", "mpmath", "yaml", "concurrent.futures", "xml.etree.ElementTree",
             "doctest", "_pytest.assertion.rewrite", "_pytest.doctest", "_pytest.python")  # fmt: skip
"""What a judge has imported before it forks."""
MAKERS = {"constraints/solvers/machine/jit.py": "tests/compiled/test_cache.py",
          "constraints/solvers/machine/cache.py": "tests/compiled/test_cache.py"}  # fmt: skip
"""What makes kernels and keeps them is judged with numba's compiler, by these tests alone."""
PLAIN = {"NUMBA_DISABLE_JIT": "1", "PYTEST_ADDOPTS": "-W ignore::RuntimeWarning"}
"""Kernels as Python functions: numpy warns of an overflow that they look at themselves."""
OF_SOLIDS = ("tests/collisions/test_covers.py", "tests/collisions/test_clouds.py", "tests/collisions/test_division.py")
ELSEWHERE = {"constraints/solvers/kernels/covers.py": OF_SOLIDS, "constraints/solvers/kernels/division.py": OF_SOLIDS}
"""Kernels of solids, in Python too, are judged where their pairs and legs are."""
CASES = "not browser and not long"
"""Tests of programs judge too."""
FIRST = 20
"""So many of the quickest tests are tried before the others are even collected."""


def sources(room: str) -> Iterator[str]:
    """Files of a room, as paths below the root."""
    folder = ROOT / room if room == "liegroups" else ROOT / "constraints" / room
    if not folder.is_dir():
        raise SystemExit(f"no room {room!r}: a folder of constraints, as 'rows' or 'solvers/newton', or 'liegroups'")
    for path in sorted(folder.rglob("*.py")):
        if path.name != "__init__.py":
            yield str(path.relative_to(ROOT))


class Part(NamedTuple):
    """Files that the same tests judge, in processes with these variables."""

    files: list[str]
    tests: list[str]
    variables: dict[str, str]


def parts_of(room: str, files: list[str]) -> list[Part]:
    """Who judges which files of a room: its folder of tests, and the law that all rooms keep.

    Kernels are judged as Python functions: a change would be compiled for a minute otherwise, and no line of them seen.
    """
    names = [NEIGHBOURS[r] for r in NEIGHBOURS if r.startswith("solvers/")] if room == "solvers" else []
    while not names:
        name = NEIGHBOURS.get(room, room)
        names, room = ([name], room) if (ROOT / "tests" / name).is_dir() else ([], _above(room))
    rules = ["solvers"] if files[0].startswith("constraints/solvers/") else []  # by number, each for both engines
    folders = dict.fromkeys(f"tests/{name}" for name in [*names, *rules])
    plain = PLAIN if "tests/compiled" in folders else {}
    left_out = [f"--ignore={tests}" for tests in dict.fromkeys(MAKERS.values())] if plain else []
    others = [file for file in files if file not in {**MAKERS, **ELSEWHERE}]
    found = [Part(others, [*folders, "tests/house/test_values.py", *left_out], plain)]
    for tests in dict.fromkeys(MAKERS.values()):
        found.append(Part([f for f in files if MAKERS.get(f) == tests], [tests], {}))
    for elsewhere in dict.fromkeys(ELSEWHERE.values()):
        found.append(Part([f for f in files if ELSEWHERE.get(f) == elsewhere], [*elsewhere], PLAIN))
    return [part for part in found if part.files]


def _above(room: str) -> str:
    if "/" not in room:
        raise SystemExit(f"no folder of tests judges {room!r}")
    return room.rsplit("/", 1)[0]


def copied(into: Path) -> Path:
    """A copy of the tree, with what the tests read beside it."""
    tree = into / "tree"
    tree.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, tree / name)
    if (ROOT.parent / "shared").exists() and not (into / "shared").exists():
        (into / "shared").symlink_to((ROOT.parent / "shared").resolve())
    return tree


def environment(tree: Path, variables: dict[str, str]) -> dict[str, str]:
    """Variables of the processes that work in a copy of the tree."""
    return {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables}  # fmt: skip


RECORDER = """
import json, os, warnings
import coverage
watched = {os.path.abspath(path): path for path in json.loads(os.environ["MUTANTS_WATCHED"])}
cover, seen, seconds = coverage.Coverage(data_file=None, include=list(watched)), {}, {}
def pytest_configure(config): cover.start()
def pytest_collection_finish(session): record("")
def record(test):
    cover.stop()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tests that run nothing of the room
        data = cover.get_data()
    for path in data.measured_files():
        for line in data.lines(path) or ():
            seen.setdefault(f"{watched.get(path, path)}:{line}", []).append(test)
    cover.erase()
    cover.start()
def pytest_runtest_logreport(report):
    seconds[report.nodeid] = seconds.get(report.nodeid, 0.0) + report.duration
    if report.when == "teardown": record(report.nodeid)
def pytest_unconfigure(config):
    with open(os.environ["MUTANTS_RECORD"], "w") as file: json.dump([seen, seconds], file)
"""


class Judge:
    """Which tests run which line, and how long they take; recorded once, in one run of the room's tests."""

    def __init__(self, tree: Path, part: Part) -> None:
        self.part = part
        (tree / "mutants_recorder.py").write_text(RECORDER)
        record = tree / "mutants_record.json"
        watched = {"MUTANTS_WATCHED": json.dumps(part.files), "MUTANTS_RECORD": str(record)}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "mutants_recorder", "-p", "no:cacheprovider", "-m", CASES,
             *part.tests],
            cwd=tree, env={**os.environ, **environment(tree, part.variables), **watched}, timeout=3600.0,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            said = (done.stdout + done.stderr)[-2000:]
            raise SystemExit(f"the tests of the room do not pass as they are (exit code {done.returncode}):\n{said}")
        self.seen, self.seconds = json.loads(record.read_text())

    def tests(self, mutant: Mutant) -> list[str]:
        """Tests that run the line of a mutant, the quickest first.

        All tests, where the line is run on import; those first that run anything else of the file.
        """
        found = set(self.seen.get(f"{mutant.path}:{mutant.line}", ()))
        first = found
        if "" in found:
            lines = (tests for line, tests in self.seen.items() if line.startswith(f"{mutant.path}:"))
            first, found = set().union(*lines), set(self.seconds)
        return sorted(found, key=lambda test: (test not in first, self.seconds.get(test, 0.0)))

    def end(self, tree: Path, mutant: Mutant | None, seconds: float) -> str:
        """How a mutant ends: "noticed", "lived", "no test runs it", "too slow"; None is the room as it is."""
        tests = self.tests(mutant) if mutant else sorted(self.seconds, key=lambda test: self.seconds[test])[:FIRST]
        if not tests:
            return "no test runs it"
        path = tree / mutant.path if mutant else tree / "README.md"
        text, written = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
        try:
            path.write_text(mutant.apply(text) if mutant else text, encoding="utf-8")
            os.utime(path, ns=(written, written + 10**10))  # Python knows old bytecode by size and second alone
            for part in filter(None, (tests[:FIRST], tests[FIRST:])):
                limit = seconds + 3.0 * sum(self.seconds[test] for test in part)
                code = forked(tree, part, self.part.variables, limit)
                if code != 0:
                    return "too slow" if code is None else "noticed"
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(written, written))
        return "lived"


class Chosen:
    """A plugin of pytest: these tests, in this order. One that is no longer found has failed."""

    def __init__(self, tests: list[str]) -> None:
        self.rank = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self.rank), key=lambda item: self.rank[item.nodeid])
        if len(items) != len(self.rank):
            raise KeyError("tests that are no longer found")


def forked(tree: Path, tests: list[str], variables: dict[str, str], seconds: float) -> int | None:
    """Exit code of these tests in a fork of this process.

    None where they take more seconds of the processor, or ten times as long: the machine may be shared.
    """
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            os.chdir(tree)
            os.environ.update(environment(tree, variables), PYTHONDONTWRITEBYTECODE="1")
            sys.dont_write_bytecode = True  # the first run has written that of what is not changed
            sys.path[:] = [str(tree), *(entry for entry in sys.path if not Path(entry or ".").is_relative_to(ROOT))]
            sys.argv[:] = ["pytest"]
            import pytest

            files = list(dict.fromkeys(test.split("::")[0] for test in tests))
            options = ["-q", "-x", "-p", "no:cacheprovider", "-m", CASES, f"--basetemp={tree.parent / 'temporary'}"]
            os._exit(int(pytest.main([*options, *files], plugins=[Chosen(tests)])))
        finally:
            os._exit(70)
    end = time.monotonic() + 10.0 * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def ends(judge: Judge, tree: Path, mutants: list[Mutant], seconds: float) -> list[str]:
    """How these mutants end, one after the other, in one copy of the tree."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if judge.end(tree, None, seconds) != "lived":
        raise SystemExit("the quickest tests of the room do not pass in a fork")
    found: list[str] = []
    for mutant in mutants:
        found.append(judge.end(tree, mutant, seconds))
        if found[-1] != "noticed":
            print(f"  {found[-1]}: {mutant.describe((tree / mutant.path).read_text(encoding='utf-8'))}", flush=True)
    return found


def judged(judge: Judge, trees: list[Path], mutants: list[Mutant], seconds: float) -> list[str]:
    """How these mutants end, in a process for each copy of the tree."""
    n = len(trees)
    with ProcessPoolExecutor(n, multiprocessing.get_context("fork")) as pool:
        pending = [pool.submit(ends, judge, trees[i], mutants[i::n], seconds) for i in range(n)]
        return [end for future in pending for end in future.result()]


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns how many mutants lived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="more than three times its tests")
    options = parser.parse_args(arguments)
    files = list(sources(options.room))
    every = [mutant for path in files for mutant in places(path, (ROOT / path).read_text(encoding="utf-8"))]
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
    print(f"{options.room}: {len(chosen)} of {len(every)} mutants, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)  # tests that become another user read the copy too
        trees: list[Path] = []
        for i in range(options.processes):
            folder = Path(scratch) / str(i)
            folder.mkdir()
            trees.append(copied(folder))
        found: list[str] = []
        for part in parts_of(options.room, files):
            own = [mutant for mutant in chosen if mutant.path in part.files]
            if own:
                found += judged(Judge(trees[0], part), trees, own, options.seconds)
    slow, alive = found.count("too slow"), found.count("lived") + found.count("no test runs it")
    print(f"{len(found) - alive} of {len(found)} noticed ({slow} of them by time)")
    return min(alive, 100)


if __name__ == "__main__":
    raise SystemExit(main())
