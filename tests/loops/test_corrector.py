"""The one corrector of closed loops: what it trusts, how it ends, and that nothing else iterates beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import constraints
from constraints.loops.closing.corrector import Corrector, Ending, Record, Trust, longest_trusted
from constraints.loops.closing.lu import factorised

ROOT = Path(constraints.__file__).parent
SOLVES = {"solve", "lstsq", "svd", "pinv", "_dgetrs", "getrs", "_getrs", "solve_triangular"}
MOVES = {"integrate", "moved"}

ALLOWED = {
    ("custom_fit.py", "_exact"),  # coordinates of one hinge, fitted to a pose: no loop is closed
    ("custom_fit.py", "_least_squares"),
    ("kept_branch.py", "driven_back"),  # moves the driven joints, by the capped steps of assembly
    ("branch.py", "meets_dead_centre"),  # cuts a way into parts; each is closed by assembly
}
"""Loops that solve and move, and are no iteration that closes loops."""


class Root:
    """Columns of x * x = a, and rows that may be spoilt beside it."""

    def __init__(self, a: float, redundant: float = 0.0) -> None:
        self.a, self.redundant = a, redundant

    def rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([q[0] ** 2 - self.a, self.redundant]), np.array([[2.0 * q[0]]])

    def off(self, error: np.ndarray, J: np.ndarray) -> float:
        return abs(float(error[0]))

    def step(self, q: np.ndarray, error: np.ndarray, J: np.ndarray) -> tuple[np.ndarray | None, float]:
        lu = factorised(J)
        return None if lu.is_singular else lu.solve(error[:1]), lu.sign

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        return q + step


def ended(trust: Trust, start: float = 3.0, a: float = 4.0, redundant: float = 0.0) -> tuple[Ending, float, Record]:
    root, q = Root(a, redundant), np.array([start])
    record = Record(q)
    done = Corrector(root.rows, root).newton(q, trust, record)
    assert q[0] == start
    return done.ending, float(done.q[0]), record


def test_full_steps_to_a_tolerance() -> None:
    ending, q, record = ended(Trust(1e-12))
    assert (ending, q) == (Ending.CLOSED, 2.0)
    assert len(record.iterates) == len(record.residuals) == len(record.step_sizes) + 1
    assert record.step_sizes[0] == pytest.approx(5.0 / 6.0)
    assert record.signs == [1.0] * len(record.step_sizes)


@pytest.mark.parametrize(
    ("trust", "start", "a", "redundant", "ending", "steps"),
    [
        (Trust(1e-12), 2.0, 4.0, 1e-5, Ending.OTHER_ROWS_OPEN, 0),
        (Trust(1e-12), 2.0, 4.0, 1e-7, Ending.CLOSED, 0),
        (Trust(1e-12, most=2), 3.0, 4.0, 0.0, Ending.BUDGET, 2),
        (Trust(1e-12, most=0), 2.0, 4.0, 0.0, Ending.CLOSED, 0),
        (Trust(1e-12), 0.0, 4.0, 0.0, Ending.SINGULAR, 0),
        (Trust(most=3), 2.0, 4.0, 0.0, Ending.BUDGET, 3),  # steps of zero are taken, too
        (Trust(1e-12), np.inf, 4.0, 0.0, Ending.INFINITE, 0),
        (Trust(1e-12, farthest=0.5), 3.0, 4.0, 0.0, Ending.INFINITE, 0),
        (Trust(1e-12, first=0.8), 3.0, 4.0, 0.0, Ending.NOT_TRUSTED, 0),
        (Trust(1e-12, shrinking=0.1), 3.0, 4.0, 0.0, Ending.NOT_TRUSTED, 1),
        (Trust(1e-12, sign=-1.0), 3.0, 4.0, 0.0, Ending.NOT_TRUSTED, 0),
        (Trust(1e-12, sign=1.0), 3.0, 4.0, 0.0, Ending.CLOSED, 5),
        (Trust(still=1e-7), 3.0, 4.0, 0.0, Ending.CLOSED, 4),
        (Trust(sharp=1e-7), 3.0, 4.0, 0.0, Ending.CLOSED, 5),
        (Trust(settled=1e-3), 3.0, 4.0, 0.0, Ending.CLOSED, 5),
    ],
)
def test_what_is_trusted_and_how_it_ends(
    trust: Trust, start: float, a: float, redundant: float, ending: Ending, steps: int
) -> None:
    """Steps from 3 to the root of 4: 0.83, 0.16, 0.0064, 1e-5, 2.6e-11."""
    with np.errstate(all="ignore"):
        found, _, record = ended(trust, start, a, redundant)
    assert (found, len(record.step_sizes)) == (ending, steps)


def test_the_step_after_one_that_is_settled_may_be_longer() -> None:
    """It is rounding: no progress is asked of it."""
    assert ended(Trust(settled=1e-3, shrinking=0.3))[0] is Ending.CLOSED


@pytest.mark.parametrize(("limit", "length", "tried"), [(1.0, 1.0, 1), (0.3, 0.25, 3), (0.0, None, 4)])
def test_a_step_is_halved_until_it_is_trusted(limit: float, length: float | None, tried: int) -> None:
    """The first one is tried however short; none is shorter than the shortest."""
    seen = list[float]()

    def step(part: float) -> str | None:
        seen.append(part)
        return "taken" if part <= limit else None

    found = longest_trusted(step, 1.0, 0.125)
    assert len(seen) == tried
    assert found == ((None, 0.125) if length is None else ("taken", length))
    assert longest_trusted(step, 1e-3, 0.125) == (("taken", 1e-3) if limit else (None, 1e-3))


def names(node: ast.AST) -> set[str]:
    """All names and attributes in a piece of code."""
    every = [*ast.walk(node)]
    attributes = {each.attr for each in every if isinstance(each, ast.Attribute)}
    return attributes | {each.id for each in every if isinstance(each, ast.Name)}


def iterations(tree: ast.Module) -> Iterator[str]:
    """Functions with a loop that solves linear equations and moves a configuration, here or by functions of the file.

    A function that calls `newton` is a user of the corrector, and is not looked into.
    """
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    bodies = {f.name: names(f) for f in functions if "newton" not in names(f)}
    for function in functions:
        assigned = {
            target.id: names(node.value)
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for each in node.targets
            for target in ast.walk(each)
            if isinstance(target, ast.Name)
        }
        for loop in (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)):
            found, new = set[str](), names(loop)
            called = {n.func.id for n in ast.walk(loop) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            for name in called & set(assigned):  # a map that got a name before the loop
                new |= assigned[name]
            while new:
                found |= new
                new = set().union(*(bodies.get(name, set()) for name in new)) - found
            if found & SOLVES and found & MOVES:
                yield function.name


def sources() -> list[Path]:
    return sorted(path for room in ("loops", "reduced") for path in (ROOT / room).rglob("*.py"))


def test_there_is_one_newton() -> None:
    """One function of that name closes loops, and no other loop in these rooms solves and moves."""
    homes = [
        path.name
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "newton"
    ]
    assert homes == ["corrector.py"]
    others = [
        (path.name, name) for path in sources() for name in iterations(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert {*others} == ALLOWED


def test_the_law_sees_an_iteration_beside_it() -> None:
    loop = "def close(q):\n    for _ in range(9):\n        q = moved(q, J.solve(h))\n"
    hidden = "def close(q):\n    while True:\n        q = once(q)\ndef once(q):\n    return integrate(q, solve(h))\n"
    named = "def close(q):\n    to = space.integrate\n    for _ in x:\n        q = to(q, solve(h))\n"
    assert [[*iterations(ast.parse(code))] for code in (loop, hidden, named)] == [["close"]] * 3
