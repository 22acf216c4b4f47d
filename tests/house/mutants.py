"""Mutants: one token of a room is changed, and the tests of that room are run: do they notice?

    python tests/house/mutants.py ROOM [--seed S] [--count N] [--processes P] [--seconds T]

ROOM is a folder of the library (`rows`, `solvers/newton`, `functions`, `liegroups`, ...); `solvers` is its own files
and those of all its rooms. Its tests are the folder of the same name under `tests/`. Everything happens in a copy of
the tree. Operators, comparisons, signs, and/or, `not`, numbers and True/False are changed, never names, texts, types
or docstrings. Tests that run the changed line are run, the quickest first, until one fails; a mutant is given T
seconds.

What lived is listed with its line, and the exit code is the number of these (at most 100). A mutant that lives is
equivalent, or shows what no test looks at.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
COPIED = ("constraints", "liegroups", "tests", "benchmarks", "examples", "docs", "README.md", "pyproject.toml")
NEIGHBOURS = {"solvers/newton": "newton", "solvers/refinement": "refinement", "solvers/projection": "projection",
              "solvers/diagnosis": "diagnosis", "functions/contact": "functions"}  # fmt: skip
"""Rooms whose tests are in a folder of another name."""

OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.MatMult: "+", ast.FloorDiv: "/", ast.Mod: "*",
    ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=",
    ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.And: "or", ast.Or: "and",
}  # fmt: skip
TOKENS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in",
    ast.NotIn: "not in", ast.And: "and", ast.Or: "or",
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: in which file, where in its text, and what comes in its place."""

    path: str
    line: int
    start: int
    stop: int
    new: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.stop :]

    def describe(self, text: str) -> str:
        line = text.splitlines()[self.line - 1].strip()
        return f"{self.path}:{self.line}: {text[self.start : self.stop]!r} -> {self.new!r}   {line}"


class Places(ast.NodeVisitor):
    """Every place of a source where one token can be changed."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text, self.found = path, text, list[Mutant]()
        self.offsets = [0]
        for line in text.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        encoded = self.text[self.offsets[line - 1] : self.offsets[line]].encode()
        return self.offsets[line - 1] + len(encoded[:column].decode())

    def between(self, before: ast.expr, after: ast.expr, kind: type[ast.AST], node: ast.expr) -> None:
        """Change the operator between two operands."""
        old = TOKENS[kind]
        start = self.offset(before.end_lineno or 0, before.end_col_offset or 0)
        stop = self.offset(after.lineno, after.col_offset)
        at = self.text.find(old, start, stop)
        if at >= 0:
            self.found.append(Mutant(self.path, self.text.count("\n", 0, at) + 1, at, at + len(old), OPERATORS[kind]))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.between(node.left, node.right, type(node.op), node)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for before, after in zip(node.values, node.values[1:], strict=False):
            self.between(before, after, type(node.op), node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for before, op, after in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self.between(before, after, type(op), node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start = self.offset(node.lineno, node.col_offset)
        stop = self.offset(node.operand.lineno, node.operand.col_offset)
        if isinstance(node.op, ast.USub | ast.Not | ast.Invert) and "(" not in self.text[start:stop]:
            self.found.append(Mutant(self.path, node.lineno, start, stop, ""))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start = self.offset(node.lineno, node.col_offset)
        stop = self.offset(node.end_lineno or 0, node.end_col_offset or 0)
        value: Any = node.value
        if value is True or value is False:
            self.found.append(Mutant(self.path, node.lineno, start, stop, repr(not value)))
        elif isinstance(value, int | float):
            self.found.append(
                Mutant(
                    self.path,
                    node.lineno,
                    start,
                    stop,
                    repr(1.5 * value + 1.0 if isinstance(value, float) else value + 1),
                )
            )

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Leave annotations alone."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for child in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(child)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave the words of errors alone."""

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)


def places(path: str, text: str) -> list[Mutant]:
    """All changes of one file, in its order."""
    visitor = Places(path, text)
    visitor.visit(ast.parse(text))
    return sorted(visitor.found, key=lambda mutant: mutant.start)


def sources(room: str) -> Iterator[str]:
    """Files of a room, as paths below the root."""
    folder = ROOT / room if room == "liegroups" else ROOT / "constraints" / room
    if not folder.is_dir():
        raise SystemExit(f"no room {room!r}: a folder of constraints, as 'rows' or 'solvers/newton', or 'liegroups'")
    for path in sorted(folder.rglob("*.py")):
        if path.name != "__init__.py":
            yield str(path.relative_to(ROOT))


def tests_of(room: str) -> list[str]:
    """The folders of tests that judge a room."""
    names = [NEIGHBOURS[r] for r in NEIGHBOURS if r.startswith("solvers/")] if room == "solvers" else []
    return [f"tests/{name}" for name in names or [NEIGHBOURS.get(room, room)]]


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


def run(tree: Path, arguments: list[str], seconds: float) -> tuple[int | None, str]:
    """Exit code of a command in a tree, None where it takes too long; and the end of what it said."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                   "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    try:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tree, env=environment, timeout=seconds, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, (done.stdout + done.stderr)[-2000:]


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

    def __init__(self, tree: Path, files: list[str], tests: list[str]) -> None:
        (tree / "mutants_recorder.py").write_text(RECORDER)
        record = tree / "mutants_record.json"
        os.environ["MUTANTS_WATCHED"], os.environ["MUTANTS_RECORD"] = json.dumps(files), str(record)
        whole = ["-m", "pytest", "-q", "-p", "mutants_recorder", "-p", "no:cacheprovider", *tests]
        code, said = run(tree, whole, 3600.0)
        if code != 0:
            raise SystemExit(f"the tests of the room do not pass as they are (exit code {code}):\n{said}")
        self.seen, self.seconds = json.loads(record.read_text())

    def tests(self, mutant: Mutant) -> list[str]:
        """Tests that run the line of a mutant, the quickest first; all that import the file where it runs on import."""
        found = set(self.seen.get(f"{mutant.path}:{mutant.line}", ()))
        if "" in found:
            found = set(self.seconds)
        return sorted(found, key=lambda test: self.seconds.get(test, 0.0))


def notices(trees: list[Path], judge: Judge, mutant: Mutant, seconds: float) -> str:
    """How a mutant ended: "noticed", "lived", "no test runs it", "too slow"."""
    tests = judge.tests(mutant)
    if not tests:
        return "no test runs it"
    tree = trees.pop()
    path = tree / mutant.path
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutant.apply(text), encoding="utf-8")
        (tree / "chosen.txt").write_text("\n".join(tests))
        code, _ = run(tree, ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "@chosen.txt"], seconds)
    finally:
        path.write_text(text, encoding="utf-8")
        trees.append(tree)
    return "too slow" if code is None else "lived" if code == 0 else "noticed"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns how many mutants lived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120.0, help="for the tests of one mutant")
    options = parser.parse_args(arguments)
    files = list(sources(options.room))
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in files}
    every = [mutant for path in files for mutant in places(path, texts[path])]
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
    print(f"{options.room}: {len(chosen)} of {len(every)} mutants, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        trees: list[Path] = []
        for i in range(options.processes):
            folder = Path(scratch) / str(i)
            folder.mkdir()
            trees.append(copied(folder))
        judge = Judge(trees[0], files, tests_of(options.room))
        with ThreadPoolExecutor(options.processes) as pool:
            ends = list(pool.map(lambda mutant: notices(trees, judge, mutant, options.seconds), chosen))
    alive = [(end, mutant) for end, mutant in zip(ends, chosen, strict=True) if end in ("lived", "no test runs it")]
    for end, mutant in sorted(alive, key=lambda pair: pair[1]):
        print(f"  {end}: {mutant.describe(texts[mutant.path])}")
    slow = ends.count("too slow")
    print(f"{len(chosen) - len(alive)} of {len(chosen)} noticed ({slow} of them by time)")
    return min(len(alive), 100)


if __name__ == "__main__":
    raise SystemExit(main())
