"""Sensitivities in closed form: circles, planes, boxes, computed and frozen dofs, bodies; what is refused."""

# pyright: reportArgumentType=false
# bounds and arguments that are wrong are given as lists

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import (
    Affine,
    Bounds,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Position,
    Problem,
    Projector,
    Status,
)
from constraints.errors import UndefinedError
from constraints.solvers import Diagnosis, SensitivityError, diagnose
from constraints.solvers.diagnosis.conflict import Kind
from constraints.solvers.diagnosis.sensitivity import SensitivityKind
from liegroups import SE3, Rn, Segments, Space

SHARP = Options(threshold=1e-10)
NEAR = Options(nearest=True, threshold=1e-10)


def circle(radius2: float = 4.0, space: Space | None = None) -> Implicit:
    f = Function.from_callable(lambda q: [q @ q], Rn(2), Rn(1), lambda q: [2.0 * q], name="circle")
    return Implicit.equal(f if space is None else f.on(space, Segments.coordinates(space, [0, 1])), [radius2])


def sensitivity(problem: Problem, q: Any, options: Options = SHARP, **more: Any) -> Any:
    return Projector(problem, options).project(q, **more).or_raise().sensitivity()


def test_the_nearest_point_of_a_circle_follows_everything() -> None:
    """q = r n / |n|: by the reference r / |n| (I - u u'), by the square of the radius u / 2r."""
    near = np.array([3.0, 4.0])
    u, r = near / 5.0, 2.0
    across = r / 5.0 * (np.eye(2) - np.outer(u, u))
    s = sensitivity(Problem(Rn(2), [circle()]), near, NEAR)
    assert s.kind is SensitivityKind.NEAREST
    np.testing.assert_allclose(s.near, across, atol=1e-7)
    np.testing.assert_allclose(s.start, across, atol=1e-7)
    np.testing.assert_allclose(s.rhs[:, 0], u / (2.0 * r), atol=1e-7)
    np.testing.assert_allclose(s.rhs_of("circle"), s.rhs, atol=0)
    by_radius = s.parameter(lambda radius: Problem(Rn(2), [circle(radius**2)]), 2.0)
    np.testing.assert_allclose(by_radius[:, 0], u, atol=1e-6)
    by_two = s.parameter(lambda p: Problem(Rn(2), [circle(p[0] * p[1])]), [1000.0, 0.004])
    np.testing.assert_allclose(by_two, np.outer(u / (2.0 * r), [0.004, 1000.0]), rtol=1e-4, atol=1e-7)
    given = sensitivity(Problem(Rn(2), [circle()]), [1.0, 0.5], NEAR, near=near)
    np.testing.assert_allclose(given.near, across, atol=1e-6)
    np.testing.assert_allclose(given.start, 0.0, atol=1e-6)
    assert repr(s) == f"Sensitivity(NEAREST: {SensitivityKind.NEAREST.value})"
    scaled = Problem(Rn(2), [circle()], weights=[1.0, 4.0])
    bent = sensitivity(scaled, near, NEAR)
    h = 1e-5
    there = [Projector(scaled, NEAR).project(near + s * h * e).q for e in np.eye(2) for s in (1.0, -1.0)]
    seen = np.transpose([(there[0] - there[1]) / (2 * h), (there[2] - there[3]) / (2 * h)])
    np.testing.assert_allclose(bent.near, seen, atol=1e-4)


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 4.0]], ids=["alike", "costs"])
def test_a_plane_is_followed_by_the_cheapest_motion(weights: list[float] | None) -> None:
    """By its offset W^-1 a / (a W^-1 a); by the start what is left of the identity."""
    a, W = np.array([1.0, 2.0, -2.0]), np.diag(weights or [1.0] * 3)
    plane = Implicit.equal(Affine([a]), [3.0], name="plane")
    s = sensitivity(Problem(Rn(3), [plane], weights=weights), [1.0, 0.0, 0.0])
    assert s.kind is SensitivityKind.CONTINUED
    cheapest = np.linalg.solve(W, a) / (a @ np.linalg.solve(W, a))
    np.testing.assert_allclose(s.rhs[:, 0], cheapest, atol=1e-7)
    np.testing.assert_allclose(s.start, np.eye(3) - np.outer(cheapest, a), atol=1e-7)
    assert not s.near.any()
    assert s.near.shape == (3, 3)
    assert s.weakly_active == ()


def test_the_only_solution_needs_no_costs() -> None:
    """A x = b with A regular: by b the inverse of A; nothing by the start, bounds do not hold it."""
    A = np.array([[1.0, 2.0], [0.5, -1.0]])
    x = np.array([1.0, 0.3])
    box = Bounds(Rn(2), [-9.0, -9.0], [1.0, 9.0])
    problem = Problem(Rn(2), [Implicit.equal(Affine(A), A @ x)], box)
    s = sensitivity(problem, x)
    assert s.kind is SensitivityKind.UNIQUE
    np.testing.assert_allclose(s.rhs, np.linalg.inv(A), atol=1e-7)
    np.testing.assert_allclose(s.start, 0.0, atol=1e-7)


def test_active_bounds_and_rows_hold_and_weak_ones_are_named() -> None:
    """x + y + z = 3 next to the origin with x at most 0.5; a bound whose multiplier is zero is told."""
    plane = Implicit.equal(Affine([[1.0, 1.0, 1.0]]), [3.0], name="plane")
    box = Bounds(Rn(3), np.full(3, -9.0), [0.5, 9.0, 9.0])
    s = sensitivity(Problem(Rn(3), [plane], box), np.zeros(3), NEAR)
    np.testing.assert_allclose(s.rhs[:, 0], [0.0, 0.5, 0.5], atol=1e-7)
    np.testing.assert_allclose(s.near, [[0, 0, 0], [0, 0.5, -0.5], [0, -0.5, 0.5]], atol=1e-7)
    assert s.weakly_active == ()
    by_bound = s.parameter(lambda b: Problem(Rn(3), [plane], Bounds(Rn(3), np.full(3, -9.0), [b, 9.0, 9.0])), 0.5)
    np.testing.assert_allclose(by_bound[:, 0], [1.0, -0.5, -0.5], atol=1e-7)
    name = Problem(Rn(3), [plane]).space.leaves()[0].name
    touched = sensitivity(Problem(Rn(3), [plane], Bounds(Rn(3), np.full(3, -9.0), [1.0, 9.0, 9.0])), np.zeros(3), NEAR)
    assert touched.weakly_active == (f"{name}[0] at its upper bound",)
    assert repr(touched).endswith(f"; zero multipliers: {name}[0] at its upper bound)")
    low = Implicit.below(Affine([[0.0, 2.0, 0.0]]), 1.0, name="low")
    s = sensitivity(Problem(Rn(3), [plane, low]), np.zeros(3), NEAR)
    np.testing.assert_allclose(s.rhs_of("plane")[:, 0], [0.5, 0.0, 0.5], atol=1e-7)
    moved = s.parameter(
        lambda b: Problem(Rn(3), [plane, Implicit.below(Affine([[0.0, 2.0, 0.0]]), b, name="low")]), 1.0
    )
    np.testing.assert_allclose(moved[:, 0], [-0.25, 0.5, -0.25], atol=1e-7)
    with pytest.raises(SensitivityError, match="'low' takes no right-hand side"):
        s.rhs_of("low")

    def computed(b: float) -> Problem:
        one, other = (Segments.coordinates(Rn(3), [i]) for i in (0, 1))
        double = Explicit(Affine([[2.0]]), other, one, whole=Rn(3), name="double")
        return Problem(Rn(3), [plane, double], Bounds(Rn(3), [-9.0, b, -9.0], [9.0, b, 9.0]))

    moved = sensitivity(computed(1.0), [0.5, 1.0, 1.5], NEAR).parameter(computed, 1.0)  # y = 2 x between equal bounds
    np.testing.assert_allclose(moved[:, 0], [0.5, 1.0, -1.5], atol=1e-7)
    weak = sensitivity(
        Problem(Rn(3), [plane, Implicit.below(Affine([[0.0, 2.0, 0.0]]), 2.0, name="low")]), np.zeros(3), NEAR
    )
    assert weak.weakly_active == ("'low', row 0, at its upper end",)


def test_computed_frozen_and_idle_dofs_follow() -> None:
    """y = 2x + z with z frozen, x + y = 3: x = (3 - z) / 3; what nothing moves stays."""
    space = Rn(5)
    lid = Explicit(
        Affine([[2.0, 1.0]]), Segments.coordinates(space, [1]), Segments.coordinates(space, [0, 2]), whole=space
    )
    row = Implicit.equal(Affine([[1.0, 1.0]]).on(space, Segments.coordinates(space, [0, 1])), [3.0], name="sum")
    problem = Problem(space, [lid, row], frozen=Segments.coordinates(space, [2]), weights=[1.0, 1.0, 1.0, 1.0, 1.0])
    expected = np.zeros((5, 5))
    expected[:, 2] = [-1.0 / 3.0, 1.0 / 3.0, 1.0, 0.0, 0.0]
    expected[3, 3] = expected[4, 4] = 1.0
    for options in (SHARP, NEAR):
        s = sensitivity(problem, [0.1, 0.2, 0.3, 0.4, 0.5], options)
        np.testing.assert_allclose(s.start, expected, atol=1e-7)
        np.testing.assert_allclose(s.rhs_of("sum")[:, 0], [1.0 / 3.0, 2.0 / 3.0, 0.0, 0.0, 0.0], atol=1e-7)
    free = expected.copy()
    free[3, 3] = free[4, 4] = 0.0
    s = sensitivity(problem, [0.1, 0.2, 0.3, 0.4, 0.5], NEAR, near=np.zeros(5))
    np.testing.assert_allclose(s.start, free, atol=1e-7)
    np.testing.assert_allclose(np.diag(s.near), [0.0, 0.0, 0.0, 1.0, 1.0], atol=1e-7)
    box = Bounds(space, np.full(5, -9.0), [9.0, 9.0, 9.0, 0.4, 9.0])
    held = Problem(space, [lid, row], box, frozen=Segments.coordinates(space, [2]))
    s = sensitivity(held, [0.1, 0.2, 0.3, 0.4, 0.5], NEAR)
    assert s.weakly_active == (f"{space.leaves()[0].name}[3] at a bound",)
    assert np.diag(s.start).round(6).tolist() == [0.0, 0.0, 1.0, 0.0, 1.0]
    s = sensitivity(held, [0.1, 0.2, 0.3, 0.7, 0.5], NEAR)
    assert s.weakly_active == ()


def test_the_last_level_at_its_least_follows_its_wish() -> None:
    """x + y = 1 with (x, y) nearest to a wish: the projection onto the line, by either right-hand side."""
    line = Implicit.equal(Affine([[1.0, 1.0]]), [1.0], name="line")
    wish = Implicit.equal(Affine(np.eye(2)), [2.0, 3.0], name="wish")
    problem = Problem(Rn(2), [[line], [wish]], optional_last=True)
    options = Options(optimise_last=True, refine_gain=0.0, threshold=1e-9)
    s = sensitivity(problem, [5.0, 5.0], options)
    assert s.kind is SensitivityKind.LAST_LEVEL
    np.testing.assert_allclose(s.rhs_of("wish"), [[0.5, -0.5], [-0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(s.rhs_of("line")[:, 0], [0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(s.rhs, np.hstack((s.rhs_of("line"), s.rhs_of("wish"))), atol=0)
    with pytest.raises(SensitivityError, match=r"use Options\(optimise_last=True\)"):
        sensitivity(problem, [5.0, 5.0])


def test_a_body_at_its_bound_keeps_the_motions_along_it() -> None:
    """What no row moves follows its start along the faces of its box: R' D R by the velocities of its own frame."""
    space = Rn(1) * SE3
    row = Implicit.equal(Affine([[1.0]]).on(space, Segments.coordinates(space, [0])), [0.3])
    upper = np.full(space.nq, np.inf)
    upper[1] = 0.5
    problem = Problem(space, [row], Bounds(space, np.full(space.nq, -np.inf), upper))
    q = space.random(np.random.default_rng(3))
    q[1] = 0.5
    s = sensitivity(problem, q)
    R = SE3.adjoint(q[1:])[:3, :3]
    np.testing.assert_allclose(s.start[1:4, 1:4], R.T @ np.diag([0.0, 1.0, 1.0]) @ R, atol=1e-9)
    np.testing.assert_allclose(s.start[4:, 4:], np.eye(3), atol=1e-9)
    assert s.start[0, 0] == pytest.approx(0.0, abs=1e-7)
    q[1] = 0.4
    np.testing.assert_allclose(sensitivity(problem, q).start[1:, 1:], np.eye(6), atol=1e-9)


def test_other_problems_are_refused_by_what_is_off() -> None:
    """Residual, rows or bounds, computed dofs, gradient: each by its own words and amount."""
    near = np.array([3.0, 4.0])
    s = sensitivity(Problem(Rn(2), [circle()]), near, NEAR)
    with pytest.raises(SensitivityError, match=r"at the parameters 5 is .* it has a residual of 1 at the solution"):
        s.parameter(lambda c: Problem(Rn(2), [circle(c)]), 5.0)
    with pytest.raises(SensitivityError, match=r"\[1\. 4\.\] is .* a gradient of the objective changed by"):
        s.parameter(lambda w: Problem(Rn(2), [circle()], weights=w), [1.0, 4.0])
    s.parameter(lambda w: Problem(Rn(2), [circle()], weights=w), [1.0, 1.0])
    plane = Implicit.equal(Affine([[1.0, 1.0]]), [3.0], name="plane")

    def boxed(b: float) -> Problem:
        return Problem(Rn(2), [plane], Bounds(Rn(2), [-9.0, -9.0], [b, 9.0]))

    s = sensitivity(boxed(0.5), np.zeros(2), NEAR)
    with pytest.raises(SensitivityError, match=r"active rows or bounds changed by 0\.25 at the solution"):
        s.parameter(boxed, 0.75)

    def lidded(c: float) -> Problem:
        space = Rn(2)
        lid = Explicit(Affine([[1.0]], [c]), Segments.coordinates(space, [1]), Segments.coordinates(space, [0]),
                       whole=space)  # fmt: skip
        return Problem(space, [lid])

    s = sensitivity(lidded(0.1), np.zeros(2))
    with pytest.raises(SensitivityError, match=r"it has a residual of 0\.1|computed dofs moved by 0\.1"):
        s.parameter(lidded, 0.2)
    np.testing.assert_allclose(s.parameter(lidded, 0.1)[:, 0], [0.0, 1.0], atol=1e-7)
    off = 2.0**-10  # the largest residual of a solution is no other problem
    s = sensitivity(Problem(Rn(1), [Implicit.equal(Affine([[1.0]]), [1.0])]), [1.0 + off], Options(threshold=off))
    assert s.projection.residual == off
    np.testing.assert_allclose(s.parameter(lambda x: Problem(Rn(1), [Implicit.equal(Affine([[1.0]]), [x])]), 1.0), 1.0)
    with pytest.raises(SensitivityError) as caught:
        Projector(Problem(Rn(1), [Implicit.equal(Affine([[0.0]]), [1.0])])).project([0.0]).sensitivity()
    assert str(caught.value).startswith("no sensitivity: the projection failed (")
    assert not caught.value.projection.success


def test_what_is_not_unique_or_contradicts_has_no_sensitivity() -> None:
    twice = Implicit.equal(Affine([[1.0, 0.0], [1.0, 0.0]]), [1.0, 1.0], name="twice")
    s = sensitivity(Problem(Rn(2), [twice]), np.zeros(2))
    with pytest.raises(SensitivityError, match="rows contradict each other as soon as the right-hand side of 'twice'"):
        s.rhs_of("twice")
    both = s.parameter(
        lambda x: Problem(Rn(2), [Implicit.equal(Affine([[1.0, 0.0], [1.0, 0.0]]), [x, x], name="twice")]), 1.0
    )
    np.testing.assert_allclose(both[:, 0], [1.0, 0.0], atol=1e-7)
    centre = Problem(Rn(2), [circle()], weights=[1.0, 1.0])
    with pytest.raises(SensitivityError, match=r"not locally unique|not stationary"):
        sensitivity(centre, [0.6, 0.8], NEAR, near=np.zeros(2))


# Diagnoses of small problems, whole.


def test_where_nothing_has_a_value_draws_are_tried() -> None:
    """A start without a value ends the search there; drawn configurations tell whether the constraint can hold."""

    def value(q: np.ndarray) -> Any:
        if q[0] < 0.0:
            raise UndefinedError("too low")
        return [q[0] - 0.5]

    f = Function.from_callable(value, Rn(1), Rn(1), lambda q: [[1.0]], name="low")
    problem = Problem(Rn(1), [Implicit.zero(f)], Bounds(Rn(1), [-1.0], [1.0]))
    result = Projector(problem, Options(restarts=False)).project([-0.5])
    assert result.status is Status.UNDEFINED
    diagnosis = result.diagnose(iterations=40)
    assert diagnosis.solution is not None
    assert diagnosis.solution[0] == pytest.approx(0.5, abs=1e-4)
    assert [(entry.constraint, entry.reason) for entry in diagnosis.undefined] == [("low", "too low")]
    assert "Start elsewhere, or allow restarts" in diagnosis.suggestions[0]
    never = Function.from_callable(lambda q: (_ for _ in ()).throw(UndefinedError("never")), Rn(1), Rn(1), name="no")
    lost = Projector(Problem(Rn(1), [Implicit.zero(never)], Bounds(Rn(1), [-1.0], [1.0]))).project([0.0])
    told = lost.diagnose(iterations=24, trials=6)
    assert told.conflict is not None
    assert [member.kind for member in told.conflict.members] == [Kind.CONSTRAINT]
    assert told.conflict.trial.residual == np.inf
    assert told.dependence is None
    assert told.rounding == 0.0


@pytest.mark.parametrize("iterations", [1, 3, 4, 8, 40])
def test_trials_keep_to_their_budget(iterations: int) -> None:
    """A quarter to go on, half to search, an eighth twice to follow and to be bold: never more than was given."""
    f = Function.from_callable(lambda q: [q @ q + 1.0], Rn(2), Rn(1), lambda q: [2.0 * q], name="never")
    problem = Problem(Rn(2), [Implicit.zero(f)], Bounds(Rn(2), [-1.0, -1.0], [1.0, 1.0]))
    result = Projector(problem, Options(max_iterations=4)).project([0.5, 0.7])
    diagnosis = diagnose(result, iterations=iterations, trials=9)
    for made in diagnosis.trials:
        assert made.iterations <= max(iterations, 1) + 2
    assert diagnosis.conflict is not None
    assert [member.name for member in diagnosis.conflict.members] == ["never"]
    tries = diagnosis.conflict.trial.tries
    assert tries == 1 if iterations < 4 else tries >= 4
    few = diagnose(result, iterations=iterations, trials=1)
    assert len(few.trials) == 1
    assert few.conflict is not None
    assert not few.conflict.is_minimal


def made(problem: Problem, start: Any, **options: Any) -> Diagnosis:
    return Projector(problem, Options(max_iterations=60)).project(start).diagnose(iterations=40, trials=30, **options)


def test_where_the_budget_ended_nothing_is_undefined_because_of_a_step_that_was_not_taken() -> None:
    """A full step from there would leave the domain; of a status that is another one nothing is said of that."""

    def value(q: np.ndarray) -> Any:
        if q[0] < 0.0:
            raise UndefinedError("too low")
        return [np.sqrt(q[0]) + 0.5]

    f = Function.from_callable(value, Rn(1), Rn(1), lambda q: [[0.5 / np.sqrt(q[0])]], name="root")
    result = Projector(Problem(Rn(1), [Implicit.zero(f)]), Options(max_iterations=0)).project([1.0])
    assert result.status is Status.MAX_ITERATIONS
    assert result.diagnose(iterations=4, trials=2).undefined == ()


def test_joints_that_turn_are_told_near_the_middle_of_their_bounds() -> None:
    """Solutions of trials without these bounds are shifted by whole turns to within half a turn of the middle."""
    robot = arm()
    lower, upper = np.full(7, -np.pi), np.full(7, np.pi)
    lower[0], upper[0] = 1.0, 15.0
    here, there = ([0.3, 0.2, 0.5 + dz] for dz in (0.0, 0.1))
    rows = [Implicit.equal(Position(robot, "tool"), at, name=name) for at, name in ((here, "here"), (there, "there"))]
    problem = Problem(robot, rows, Bounds(robot.space, lower, upper))
    assert problem.wraps[0]
    q = robot.neutral.copy()
    q[0] = 2.0
    diagnosis = made(problem, q)
    solved = [trial.solution for trial in diagnosis.trials if trial.solution is not None]
    assert solved
    for q in solved:
        assert abs(q[0] - 8.0) <= np.pi + 1e-9
        assert np.abs(q[1:]).max() <= np.pi + 1e-9


@pytest.mark.parametrize("cost", [1.0, 1e10])
def test_gradients_are_compared_in_parts_of_themselves(cost: float) -> None:
    """A gradient of 1e10 that is off by roundings is the same; one that is off by a part in 1e5 is not."""
    s = sensitivity(Problem(Rn(2), [circle()], weights=[cost, cost]), np.array([3.0, 4.0]), NEAR)

    def costly(w: float) -> Problem:
        return Problem(Rn(2), [circle()], weights=[w, w * (1.0 + 1e-15)])

    np.testing.assert_allclose(s.parameter(costly, cost * (1.0 + 1e-15)), 0.0, atol=1e-6)
    with pytest.raises(SensitivityError, match="a gradient of the objective changed by"):
        s.parameter(lambda w: Problem(Rn(2), [circle()], weights=[w, w * (1.0 + 1e-5)]), cost)


def test_rows_that_take_no_right_hand_side_have_zero_columns() -> None:
    """A constraint of an equality, a row that does not count, and a limit: the first one's column alone."""
    f = Function.from_callable(
        lambda q: [q @ q, q[1], q[0]], Rn(2), Rn(3), lambda q: [2.0 * q, [0.0, 1.0], [1.0, 0.0]], name="mixed"
    )
    rows = [Comparison.EQUALITY, Comparison.EQUALITY, Comparison.SUPERIOR]
    mixed = Implicit(f, rows, rhs=[4.0, 0.3, 0.0], mask=[True, False, True], name="mixed")
    s = sensitivity(Problem(Rn(2), [mixed]), np.array([3.0, 4.0]), NEAR)
    assert s.weakly_active == ()
    np.testing.assert_allclose(s.rhs_of("mixed")[:, 0], [0.15, 0.2], atol=1e-7)
    np.testing.assert_array_equal(s.rhs_of("mixed")[:, 1:], 0.0)
    np.testing.assert_array_equal(s.rhs, s.rhs_of("mixed"))


def test_what_a_diagnosis_says_of_is_what_matters() -> None:
    """Dofs that bounds freeze where a row would move them; what is computed for rows that have to hold."""
    space = Rn(1) * Rn(1) * Rn(1) * Rn(1) * Rn(1)
    names = [leaf.name for leaf in space.leaves()]
    one, two = (
        Explicit(
            Affine([[1.0]]), Segments.coordinates(space, [b]), Segments.coordinates(space, [0]), whole=space, name=n
        )
        for b, n in ((1, "one"), (2, "two"))
    )
    far = Implicit.equal(Affine([[0.0, 1.0, 0.0, 1.0, 0.0]]), [50.0], name="far")
    wish = Implicit.equal(Affine([[0.0, 0.0, 1.0, 0.0, 0.0]]), [70.0], name="wish")
    lower, upper = np.full(5, -1.0), np.full(5, 1.0)
    lower[3:] = upper[3:] = 0.5
    problem = Problem(space, [[one, two, far], [wish]], Bounds(space, lower, upper), optional_last=True)
    diagnosis = made(problem, [0.0, 0.0, 0.0, 0.5, 0.5])
    assert diagnosis.explicits == ("one",)
    assert diagnosis.active_bounds[-1] == f"cannot move, both bounds are equal: {names[3]}"
    by_name = {entry.constraint: entry.optional for entry in diagnosis.errors}
    assert by_name == {"one": False, "two": False, "far": False, "wish": True}


@pytest.mark.parametrize(("start", "follows"), [(-1.0, 0.0), (-0.999, 1.0), (0.999, 1.0), (1.0, 0.0)])
def test_dofs_that_nothing_moves_follow_their_start_but_at_a_bound(start: float, follows: float) -> None:
    space = Rn(1) * Rn(1)
    row = Implicit.equal(Affine([[1.0]]).on(space, Segments.coordinates(space, [0])), [0.3])
    s = sensitivity(Problem(space, [row], Bounds(space, [-9.0, -1.0], [9.0, 1.0])), [0.0, start])
    np.testing.assert_allclose(s.start, np.diag([0.0, follows]), atol=1e-9)
    assert s.weakly_active == (() if follows else (f"{space.leaves()[1].name} at a bound",))
