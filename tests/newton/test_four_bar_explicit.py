"""Explicit before implicit: a four-bar in closed form in the dependency graph, beside a second loop and a grasp.

The map is made by hand here; `tests/reduced/test_explicit_loops.py` has the one that the library makes.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from chained_loops import COUPLER, CRANK, ROCKER, closed_form, closures, robot, start

from constraints import Bounds, Explicit, Function, Implicit, Options, Problem, Projector
from constraints.loops import PointClosure
from liegroups import Rn


def follow(q: Any) -> list[float]:
    return list(closed_form(float(q[0])))


def follow_rates(q: Any) -> Any:
    """Derivative of both angles by the crank: the velocity loop equations, solved for them."""
    crank = float(q[0])
    coupler, rocker = closed_form(crank)
    absolute = crank + coupler
    across = [np.array([-np.sin(t), np.cos(t)]) for t in (crank, absolute, rocker)]
    # CRANK u(crank) + COUPLER u(absolute) w = ROCKER u(rocker) r
    A = np.column_stack([COUPLER * across[1], -ROCKER * across[2]])
    w, r = np.linalg.solve(A, -CRANK * across[0])
    return np.array([[w - 1.0], [r]])


@functools.cache
def constraints() -> tuple[Explicit, PointClosure, PointClosure, Implicit]:
    """The four-bar as an explicit map and as a closure, the second loop, the grasp."""
    r = robot()
    f = Function.from_callable(follow, Rn(1), Rn(2), follow_rates, name="four-bar")
    explicit = Explicit(f, r.segments("coupler", "rocker"), r.segments("crank"), name="four-bar")
    return (explicit, *closures())


def test_the_closed_form_is_the_loop() -> None:
    """Case 20: the explicit map closes the first loop, and its derivative is B_vu by differences."""
    explicit, first, _, _ = constraints()
    for crank in np.linspace(0.4, 1.4, 7):
        q = robot().configuration(crank=crank)
        q[1:3] = follow([crank])
        assert np.abs(first.residual(q)).max() < 1e-14
        h = 1e-6
        slope = (np.array(follow([crank + h])) - np.array(follow([crank - h]))) / (2 * h)
        assert np.abs(slope - explicit.f.jacobian([crank])[:, 0]).max() < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_explicit_loops_chain_with_implicit_ones(seed: int) -> None:
    """Case 20: with a second loop and a 6D grasp, the explicit four-bar ends where the all-implicit one does."""
    explicit, first, second, grasp = constraints()
    free = Bounds.none(robot().space)
    options = Options.local(threshold=1e-12, max_iterations=100, patience_count=20)
    closed = Projector(Problem(robot(), [first, second, grasp], free), options).project(start(seed)).or_raise().q
    away = closed + 0.02 * np.random.default_rng(seed).standard_normal(robot().nq)
    away[0] = closed[0]  # with the crank held, both have one solution nearby
    mixed = Problem(robot(), [explicit, second, grasp], free, frozen=["crank"])
    whole = Problem(robot(), [first, second, grasp], free, frozen=["crank"])
    assert [e.name for e in mixed.explicits] == ["four-bar"]
    assert mixed.reduced_size == whole.reduced_size - 3
    assert int(mixed.free.sum()) == int(whole.free.sum()) - 2
    one, other = (Projector(problem, options).project(away).or_raise().q for problem in (mixed, whole))
    assert np.abs(one - other).max() < 1e-9
    assert np.abs(first.residual(one)).max() < 1e-12


def test_loops_that_compute_each_other_are_refused_by_their_cycle() -> None:
    """Case 20: explicit loops in a circle: one is solved implicitly, and the cycle is named."""
    explicit, _, _, _ = constraints()
    r = robot()
    back = Function.from_callable(lambda q: [0.5 * q[0]], Rn(1), Rn(1), lambda q: np.array([[0.5]]), name="back")
    circle = Explicit(back, r.segments("crank"), r.segments("rocker"), name="back drive")
    problem = Problem(r, [explicit, circle])
    assert len(problem.explicits) == 1
    (refused,) = problem.resolution.refused
    assert "cycle" in str(refused.reason)
    text = problem.describe()
    assert "four-bar" in text
    assert "back drive" in text
    assert "rocker" in text
