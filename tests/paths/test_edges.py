"""Edges by a kernel: those that halving interval by interval gives, of all groups, whole and broken ones; and many."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each_choice import a_few

pytest.importorskip("numba")

from compiled.guarded import plain as plain_kernels
from compiled.kinds_of_problems import CASES
from robots import arm

from constraints import Implicit, Options, Position, Problem, Projector, errors
from constraints.functions import Identity, Polynomial
from constraints.paths.edges import interpolate_edges
from constraints.paths.interpolation import Interpolation, PathStatus, interpolate
from constraints.solvers.machine import layout
from constraints.workspace import Pool
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn

LIMITS: Any = {"max_angle": 0.1, "max_length": 0.05}


def plain(monkeypatch: pytest.MonkeyPatch, projector: Projector, *ends: Any, **given: Any) -> Interpolation:
    """Interval by interval, with the projections of the projector."""
    with monkeypatch.context() as without:
        without.setattr(projector.program, "edges", None)
        return interpolate(projector, *ends, **given)


def assert_alike(found: Interpolation, expected: Interpolation, tolerance: float) -> None:
    """The same status, number of samples and times; samples, and where it stopped, up to the rounding of group maps."""
    assert found.status is expected.status
    assert found.reached == expected.reached
    assert (found.path is None) == (expected.path is None)
    if found.path is not None and expected.path is not None:
        np.testing.assert_array_equal(found.path.times, expected.path.times)
        np.testing.assert_allclose(found.path.samples, expected.path.samples, rtol=0, atol=tolerance)
    assert (found.stop is None) == (expected.stop is None)
    if found.stop is not None and expected.stop is not None:
        assert found.stop.time == expected.stop.time
        assert found.stop.joint == expected.stop.joint
        np.testing.assert_allclose(found.stop.q, expected.stop.q, rtol=0, atol=tolerance)
        assert (found.stop.projection is None) == (expected.stop.projection is None)
        if found.stop.projection is not None and expected.stop.projection is not None:
            assert found.stop.projection.status is expected.stop.projection.status
        if found.stop.jump is not None and expected.stop.jump is not None:
            np.testing.assert_allclose(found.stop.jump, expected.stop.jump, rtol=0, atol=tolerance)


@cache
def solved(name: str) -> tuple[Projector, list[Any]]:
    """A kind of problem, and some solutions with their right-hand sides: near ones follow each other, then far ones."""
    case = CASES[name]()
    projector = Projector(case.problem, replace(Options.local(), optimise_last=False))
    space, rng = case.problem.space, np.random.default_rng(case.seed)
    found = list[Any]()
    for q, rhs in case.starts(6):
        first = Projector(case.problem, Options()).project(q, rhs)
        for size in (0.05, 0.4, 1.5):
            second = projector.project(space.integrate(first.q, size * rng.normal(size=space.nv)), rhs)
            if first.success and second.success:
                found.append((first.q, second.q, rhs, size))
    return projector, found


KINDS = ["a place", "a place, narrow", "feet", "levels, optional", "intervals", "boxed free base",
         "one output", "boxed planar base", "outputs of outputs", "scaled outputs", "carried", "placed", "mixed joints",
         "two parts", "Lifted, composed", "ConvexShapeContact, of the world", "12 rows",
         "bounds of one axis"]  # fmt: skip


@pytest.mark.parametrize("name", a_few(KINDS, 6))
def test_edges_of_all_kinds_of_problems(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes all of them. Far projections multiply rounding: of maps of groups, of sums with products."""
    projector, ends = solved(name)
    assert projector.program.edges is not None
    assert ends
    for q0, q1, rhs, size in ends:
        found = interpolate(projector, q0, q1, rhs, **LIMITS)
        tolerance = 1e-11 if size < 1.0 else 1e-8
        assert_alike(found, plain(monkeypatch, projector, q0, q1, rhs=rhs, **LIMITS), tolerance)


SPACE = ProductSpace([Rn(2), SO2, SE2, SO3, SE3, Rn(1)])
KEPT = Projector(
    Problem(SPACE, [Implicit.equal(Identity(SPACE), mask=np.isin(np.arange(SPACE.nv), [0, 15]), name="kept")]),
    Options.local(),
)
"""Two numbers stay where they are; the other dofs of all kinds are free."""


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-5, 0.3, np.pi - 1e-9, np.pi, np.pi + 1e-9])
@pytest.mark.parametrize("axis", [[1.0, 0.0, 0.0], [0.0, 0.6, -0.8], [-0.48, 0.6, -0.64]])
def test_edges_of_all_groups(axis: list[float], turn: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotations up to half a turn, and just beyond; quaternions of either sign."""
    w, rng = turn * np.array(axis), np.random.default_rng(7)
    step = np.array([0.0, 0.3, turn, 0.1, -0.2, -turn, *w, 0.2, -0.1, 0.3, *w, 0.0])
    for q0 in (SPACE.neutral, SPACE.random(rng), SPACE.random(rng)):
        q1, rhs = SPACE.integrate(q0, step), KEPT.problem.rhs_from(q0)
        for sign in (1.0, -1.0):
            q1[8:12] *= sign
            q1[15:19] *= -sign
            given: Any = {"rhs": rhs, "max_angle": 0.5, "max_length": 0.2}
            found = interpolate(KEPT, q0, q1, **given)
            assert_alike(found, plain(monkeypatch, KEPT, q0, q1, **given), 1e-14)
            assert found.success


CUBIC = Polynomial([-3.0, -1.0, 3.0, 1.0], [1.0, 0.0])
"""Roots -3, -1 and 1: two branches of lines and more."""
LINES = Projector(Problem(Rn(2), [Implicit.equal(CUBIC, name="cubic")]), Options.local())
PLACE = Projector(Problem(arm(), [Implicit.equal(Position(arm(), "tool"), name="place")]), Options.local())


def test_the_whole_depth_of_halving_stays_in_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python, on arrays whose end is looked at: the ends ahead are what stands last."""
    program: Any = LINES.program.edges
    memory = program._pool.take()
    with monkeypatch.context() as plainly:
        plainly.setattr(program, "_pool", Pool(lambda: memory._replace(where=memory.held)))
        plainly.setattr(program, "_lay", plain_kernels("edges").lay_edges)
        assert_alike(
            interpolate(LINES, [1.0, 0.2], [-1.0, 0.1]), plain(monkeypatch, LINES, [1.0, 0.2], [-1.0, 0.1]), 0.0
        )
    assert interpolate(LINES, [1.0, 0.2], [-1.0, 0.1]).status is PathStatus.JUMP


def test_an_edge_of_many_samples_is_laid_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [-1.0, 0.0], [-1.0, 40.0]
    found = interpolate(LINES, *ends)
    assert found.or_raise().samples.shape == (2049, 2)
    assert_alike(found, plain(monkeypatch, LINES, *ends), 0.0)


def some_edges(count: int) -> tuple[Any, Any]:
    """Edges of an arm whose tool stays where it is: near ones and far ones, whole and broken; two with bad ends."""
    rng = np.random.default_rng(5)
    first = [q.q for q in PLACE.project_batch(rng.normal(0.0, 0.7, (count, 7))) if q.success]
    second = [PLACE.project(q + rng.choice([0.05, 0.3, 2.0]) * rng.normal(size=7)).q for q in first]
    first[3], second[5] = first[3] + 0.1, second[5] + 0.1
    return np.array(first), np.array(second)


@pytest.mark.parametrize("kind", ["compiled", "readable", "moving", "in doubt"])
def test_many_edges_are_those_that_are_laid_alone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, in whatever company; and where the kernel does not take an end that others may."""
    count = 120 if kind == "compiled" else 12
    projector = Projector(PLACE.problem, PLACE.options, "readable") if kind == "readable" else PLACE
    Q0, Q1 = some_edges(count)
    rhs = (projector.problem.rhs, projector.problem.rhs) if kind == "moving" else None
    program: Any = PLACE.program.edges
    run = program.run

    def refusing(*given: Any, **limits: Any) -> Any:
        laid = run(*given, **limits)
        return laid._replace(status=np.where(np.arange(len(laid.status)) == 1, layout.AT_END, laid.status))

    if kind == "in doubt":
        monkeypatch.setattr(program, "run", refusing)
    found = interpolate_edges(projector, Q0, Q1, rhs)
    assert found.offsets.shape == (len(Q0) + 1,)
    assert found.samples.shape == (found.offsets[-1], 7)
    if kind == "compiled":
        assert {PathStatus.COMPLETE, PathStatus.START, PathStatus.END} < set(found.status)
        assert len(set(found.status)) > 3
    for i, (q0, q1) in enumerate(zip(Q0, Q1, strict=True)):
        alone, rows = interpolate(projector, q0, q1, rhs), slice(*found.offsets[i : i + 2])
        assert found.status[i] is alone.status
        if alone.path is None:
            expected = [] if alone.status in (PathStatus.START, PathStatus.END) else [q0]
            np.testing.assert_array_equal(found.samples[rows], np.reshape(expected, (-1, 7)))
        else:
            np.testing.assert_array_equal(found.samples[rows], alone.path.samples)
            np.testing.assert_allclose(found.times[rows], alone.reached * alone.path.times, rtol=0, atol=1e-15)


def test_no_edges_and_wrong_ones() -> None:
    for projector in (PLACE, Projector(PLACE.problem, PLACE.options, "readable")):
        nothing = interpolate_edges(projector, np.empty((0, 7)), np.empty((0, 7)))
        assert [each.shape for each in nothing] == [(0,), (1,), (0,), (0, 7)]
    with pytest.raises(errors.SizeError, match="a row for each of the 2 of Q0"):
        interpolate_edges(PLACE, np.zeros((2, 7)), np.zeros((3, 7)))
    with pytest.raises(errors.NotFiniteError, match="row 1 of Q1"):
        interpolate_edges(PLACE, np.zeros((2, 7)), [np.zeros(7), np.full(7, np.nan)])
    with pytest.raises(errors.OptionError, match="max_length of edges"):
        interpolate_edges(PLACE, np.zeros((2, 7)), np.zeros((2, 7)), max_length=0.0)
    problem: Any = PLACE.problem
    with pytest.raises(errors.WrongObjectError, match="projector of edges"):
        interpolate_edges(problem, np.zeros((2, 7)), np.zeros((2, 7)))


def test_the_largest_error_is_that_of_each_sample_and_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """By kernels as by the functions; of a sample that is off the constraints too."""
    Q0, Q1 = some_edges(30)
    for q0, q1 in zip(Q0, Q1, strict=True):
        path = interpolate(PLACE, q0, q1).path
        if path is None:
            continue
        whole, piece = path.max_error(), path.pieces[0]
        middles = [path(0.5 * (t0 + t1)) for t0, t1 in pairwise(path.times)]
        expected = max(PLACE.problem.residual(q) for q in [*path.samples, *middles])
        assert whole == pytest.approx(expected, rel=1e-6, abs=1e-15)
        off = path.samples.copy()
        off[-1] += 1e-3
        worst = replace(piece, samples=off).max_error()
        assert worst == pytest.approx(PLACE.problem.residual(off[-1]))
        assert worst > PLACE.options.threshold


def test_residuals_of_rows_are_those_of_each() -> None:
    rng = np.random.default_rng(9)
    for name in ("a pose", "intervals", "levels, optional", "outputs of outputs", "placed"):
        problem = CASES[name]().problem
        Q = np.array([problem.space.random(rng) for _ in range(5)])
        for engine in ("compiled", "readable"):
            found = Projector(problem, engine=engine).residuals(Q)
            np.testing.assert_allclose(found, [problem.residual(q) for q in Q], rtol=1e-9, atol=1e-14)
    assert Projector(problem).residuals(Q[:0]).shape == (0,)
