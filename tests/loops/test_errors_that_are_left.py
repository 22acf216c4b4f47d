"""What is left of errors: ranks beside, errors in two parts, idle motions, rows that are held weakly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from loops.test_assembly import planar_arm

from constraints import Bounds, Function, Implicit, Problem, Robot
from constraints.errors import UndefinedError
from constraints.loops import PointClosure, RodClosure
from constraints.loops.closing.idle_motions import idle_directions, idle_motions
from constraints.loops.closing.rank_beside import rank_beside
from constraints.loops.closing.split_errors import (
    can_be_split,
    closed_but_for_redundant_rows,
    is_closed,
    nearly_closed,
    split_errors,
)
from constraints.loops.mobility import taking_part, weak_rows
from liegroups import Rn, Segments

R2 = Rn(2)


def of(*rows: Any, names: str = "") -> list[Implicit]:
    """A constraint for each of some rows (value, gradient) in the plane."""
    made = []
    for i, (value, gradient) in enumerate(rows):
        f = Function.from_callable(lambda q, v=value: [v(*q)], R2, Rn(1), lambda q, g=gradient: [g(*q)], name=f"f{i}")
        made.append(Implicit.zero(f, name=(names or "abcd")[i]))
    return made


# Ranks beside.


def beside(rows: list[tuple[Any, Any]], moving: Any = (0, 1), rounding: float = 1e-6) -> tuple[int, int]:
    """The rank, and at how many configurations rows were evaluated."""
    seen = []

    def evaluate(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(q)
        return np.array([value(*q) for value, _ in rows]), np.array([gradient(*q) for _, gradient in rows], dtype=float)

    found = rank_beside(evaluate, R2, np.zeros(2), np.array(moving), rounding)
    assert np.abs(seen).max() < 0.03
    return found, len(seen)


def bent(c: float) -> list[tuple[Any, Any]]:
    """Zero for y twice, the second time bent by c x^2: beside, at x = 0.01, the lesser singular value is 0.01 c."""
    return [(lambda x, y: y, lambda x, y: [0.0, 1.0]), (lambda x, y: y + c * x * x, lambda x, y: [2.0 * c * x, 1.0])]


def test_the_rank_beside_a_closed_configuration() -> None:
    """Higher where branches meet, and where rows agree at one place alone; ten times the rounding has to be passed."""
    cross = [(lambda x, y: x * y, lambda x, y: [y, x])]
    assert beside(cross)[0] == 1
    assert beside(cross, moving=[1])[0] == 0
    assert beside(bent(0.0)) == (1, 11)  # two ways, of four steps and a look at each end
    assert beside(bent(2e-3))[0] == 2
    assert beside(bent(0.5e-3))[0] == 1
    assert beside(bent(2.0), rounding=1e-3)[0] == 2
    assert beside(bent(0.5), rounding=1e-3)[0] == 1
    line = [(lambda x, y: y - x, lambda x, y: [-1.0, 1.0])]
    assert beside(line) == (1, 1)  # all rows count already
    fixed = [*line, (lambda x, y: y + x, lambda x, y: [1.0, 1.0]), (lambda x, y: y, lambda x, y: [0.0, 1.0])]
    assert beside(fixed) == (2, 1)  # nothing is free


def test_rows_without_a_value_beside_leave_the_rank() -> None:
    def evaluate(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if q.any():
            raise UndefinedError("nothing here")
        return np.zeros(1), np.zeros((1, 2))

    assert rank_beside(evaluate, R2, np.zeros(2), np.arange(2)) == 0


def test_away_from_where_rows_hold_steps_end() -> None:
    """A Newton step longer than the way there and back leads elsewhere: the rank is counted before it."""
    places = []

    def evaluate(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places.append(q)
        return np.array([q[1] + (1.0 if q.any() else 0.0), 0.0]), np.array([[0.0, 1.0], [0.0, 0.0]])

    assert rank_beside(evaluate, R2, np.zeros(2), np.arange(2)) == 1
    assert len(places) == 1 + 2
    assert np.abs(places).max() < 0.011


# Errors in two parts.


def twins(d: float, slope: float = 0.0) -> list[Implicit]:
    """A row x = 1, and again x = 1 - d, in two constraints, the second one with a share of y."""
    return of((lambda x, y: x - 1.0, lambda x, y: [1.0, 0.0]),
              (lambda x, y: x - 1.0 + d + slope * y, lambda x, y: [1.0, slope]))  # fmt: skip


def boundless(rows: list[Any], **options: Any) -> Problem:
    return Problem(R2, rows, bounds=Bounds.none(R2), **options)


def test_errors_are_split_by_the_rank() -> None:
    """Twins that differ by d: half of it each is left, which nothing moves; x goes to the middle in one step."""
    d = 1e-4
    problem = boundless(twins(d))
    found = split_errors(problem, np.array([1.05, 0.3]), problem.rhs, 1e-12, 1e-6)
    assert found is not None
    np.testing.assert_allclose(found.q, [1.0 - 0.5 * d, 0.3], atol=1e-15)
    assert (found.rank, found.weakest < 1e-15, found.reachable < 1e-12) == (1, True, True)
    np.testing.assert_allclose(found.left, [-0.5 * d, 0.5 * d], atol=1e-15)
    assert found.residual == pytest.approx(0.5 * d)
    assert found.unmoved == pytest.approx(0.5 * d)
    assert "is off by 5e-05, and no joint moves it" in found.words
    for steps, is_found in ((1, False), (2, True)):
        again = split_errors(problem, np.array([1.05, 0.3]), problem.rhs, 1e-12, 1e-6, steps)
        assert (again is not None) == is_found
    near = split_errors(problem, np.array([1.0 - 0.5 * d + 1e-8, 0.0]), problem.rhs, 1.1e-8, 1e-6, 1)
    assert near is not None
    assert near.reachable == pytest.approx(1e-8, rel=1e-3)
    for far, is_found in ((0.099, True), (0.101, False)):
        assert (split_errors(problem, np.array([1.0 + far, 0.0]), problem.rhs, 1e-12, 1e-6) is not None) == is_found


def test_what_hardly_moves_counts_from_the_rounding_on() -> None:
    """The lesser of two singular values is half the slope of the larger one."""
    slope, d = 1e-4, 1e-6
    problem = boundless(twins(d, slope))
    for rounding, rank in ((0.6e-4, 1), (0.4e-4, 2)):
        found = split_errors(problem, np.array([1.0, 0.0]), problem.rhs, 1e-12, rounding)
        assert found is not None
        assert found.rank == rank
        if rank == 1:
            assert found.weakest == pytest.approx(0.5 * slope, rel=1e-3)
            assert "the joints move it 5e-05 times as much as others" in found.words
        else:
            assert found.weakest == 0.0
            np.testing.assert_allclose(found.q, [1.0, -d / slope], atol=1e-12)


@pytest.mark.parametrize(("residual", "limit"), [(0.94e-5, "1e-05"), (0.96e-5, "1e-04"), (3e-7, "1e-06")])
def test_the_tolerance_that_accepts_it(residual: float, limit: str) -> None:
    """The power of ten above 1.05 times what is off."""
    problem = boundless(twins(2.0 * residual))
    found = split_errors(problem, np.array([1.0, 0.0]), problem.rhs, 1e-12, 1e-6)
    assert found is not None
    assert f"`tolerance={limit}` accepts it" in found.words


def test_steps_cost_what_the_coordinates_cost() -> None:
    """Twice x + y = 1: where y costs three times as much it does a quarter; a joint that is held does nothing."""
    row = lambda x, y: x + y - 1.0, lambda x, y: [1.0, 1.0]
    start = np.array([0.5, 0.46])
    for options, step in (({}, [0.02, 0.02]), ({"weights": [1.0, 3.0]}, [0.03, 0.01]),
                          ({"frozen": [Segments.coordinates(R2, [0])]}, [0.0, 0.04])):  # fmt: skip
        problem = boundless(of(row, row), **options)
        found = split_errors(problem, start, problem.rhs, 1e-12, 1e-6)
        assert found is not None
        np.testing.assert_allclose(found.q - start, step, atol=1e-12)


def test_the_row_with_the_largest_share_is_named_as_its_constraint_has_it() -> None:
    """By its number before the mask."""
    f = Function.from_callable(
        lambda q: [9.0, q[0] - 1e-5, 7.0, q[0]], R2, Rn(4), lambda q: np.array([[0.0, 0], [1, 0], [0, 0], [1, 0]]),
        name="four",
    )  # fmt: skip
    g = Function.from_callable(lambda q: [q[0] - 4e-5], R2, Rn(1), lambda q: np.array([[1.0, 0.0]]), name="one")
    for rows, name, number, place in (
        ([(f, [0, 1, 0, 1])], "four", 3, 0), ([(g, None), (f, [0, 1, 0, 1])], "one", 0, 0),
        ([(f, [0, 0, 0, 1]), (g, None), (f, [0, 1, 0, 0])], "one", 0, 1),
    ):  # fmt: skip
        owners = [Implicit.zero(each, mask=mask, name=f"{each.name}{i}") for i, (each, mask) in enumerate(rows)]
        problem = boundless(owners)
        found = split_errors(problem, np.zeros(2), problem.rhs, 1e-12, 1e-6)
        assert found is not None
        largest = np.abs(found.left)
        if largest.max() > 1.001 * np.sort(largest)[-2]:
            assert (found.row.constraint, found.row.row) == (f"{name}{place}", number)


def test_what_has_no_value_is_not_split() -> None:
    root = Function.from_callable(
        lambda q: [np.sqrt(q[0] - 50.0)], R2, Rn(1), lambda q: [[0.5 / np.sqrt(q[0] - 50.0), 0.0]]
    )
    problem = boundless([Implicit.zero(root, name="root")])
    with np.errstate(invalid="ignore"):
        assert split_errors(problem, np.zeros(2), problem.rhs, 1e-12, 1e-6) is None
    steep = Function.from_callable(lambda q: [0.0], R2, Rn(1), lambda q: [[np.inf, 0.0]])
    problem = boundless([Implicit.zero(steep, name="steep")])
    assert split_errors(problem, np.zeros(2), problem.rhs, 1e-12, 1e-6) is None


def test_equalities_of_one_level_can_be_split() -> None:
    robot = planar_arm(0.5, 0.5)
    f = Function.from_callable(lambda q: q, robot.space, Rn(2), lambda q: np.eye(2), name="both")

    def problem(*rows: Any) -> Problem:
        return Problem(robot, rows, bounds=Bounds.none(robot.space))

    zero = Implicit.zero(f, name="zero")
    half = Implicit(f, lower=[-1.0, -np.inf], upper=[-1.0, 1.0], name="half")
    above = Implicit.above(f, [0.0, 0.0], name="above")
    masked = Implicit.above(f, [0.0, 0.0], mask=[True, False], name="masked")
    second = Implicit.zero(f, name="second")
    assert can_be_split(problem(zero))
    for rows in ((above,), (zero, above), (zero, half), (masked,), ([zero], [second])):
        assert not can_be_split(problem(*rows))
    hidden = Implicit(f, lower=[0.0, 0.0], upper=[0.0, 1.0], mask=[True, False], name="hidden")
    assert can_be_split(problem(hidden))


def solved(d: float, q: Any = (1.0, 0.0), threshold: float = 1e-12, slope: float = 0.0) -> Any:
    """An assembly that ended at q, as the parts look at it."""
    problem = boundless(twins(d, slope))
    at = np.array(q, dtype=float)
    options = SimpleNamespace(threshold=threshold, nearest=False)
    residual = problem.residual(at, problem.rhs)
    return SimpleNamespace(problem=problem, rhs=problem.rhs, q=at, start=at, options=options, residual=residual)


def test_a_millionth_that_nothing_moves_is_closed() -> None:
    for d, closed in ((1.98e-6, True), (2.02e-6, False)):
        done = solved(d)
        assert is_closed(done, np.array([1.0 - 0.5 * d, 0.3]), 1e-6) == closed
    assert not is_closed(solved(1e-6), np.array([1.0, 0.3]), 1e-6)  # a step would close it better
    assert is_closed(solved(1e-6, threshold=0.8e-6), np.array([1.0, 0.3]), 1e-6)


def test_rows_that_hardly_move_explain_a_failure_up_to_a_thousandth() -> None:
    """By three digits: of the residual, and of the singular values."""
    for d, explained in ((0.99e-3, True), (1.01e-3, False)):
        assert (nearly_closed(solved(d)) is not None) == explained
    for slope, rank in ((1.98e-3, 1), (2.02e-3, 2)):
        found = nearly_closed(solved(1e-5, slope=slope))
        assert found is not None
        assert found.rank == rank
    exact = nearly_closed(solved(1e-4, q=(1.0 - 0.5e-4 + 0.4e-7, 0.0)))
    assert exact is not None
    assert exact.reachable == pytest.approx(0.4e-7, rel=1e-3)  # to a thousandth of the residual it is closed already


def test_what_is_closed_but_for_redundant_rows() -> None:
    """At the first iterate that is near, or the last; not where rows are independent elsewhere, nor out of bounds."""

    def found(done: Any, **changes: Any) -> Any:
        done.trace = changes.pop("trace", None)
        done.options = SimpleNamespace(**(vars(done.options) | changes))
        return closed_but_for_redundant_rows(done, 1e-6)

    for d, is_found in ((1.98e-6, True), (2.02e-6, False)):
        assert (found(solved(d)) is not None) == is_found
        assert found(solved(d), threshold=1e-5) is not None
    assert found(solved(1e-6), nearest=True) is None
    first = SimpleNamespace(q=np.array([1.0, 0.7]), residual=1e-6)
    far = SimpleNamespace(q=np.array([1.0, 9.0]), residual=1.1e-6)
    for trace, y in (((far, first), 0.7), ((far,), 0.0), ((), 0.0)):
        assert found(solved(1e-6), trace=trace).q[1] == y
    tight = solved(1e-6)
    tight.problem = Problem(R2, twins(1e-6), bounds=Bounds(R2, np.array([1.1, -9.0]), np.array([9.0, 9.0])))
    assert found(tight) is None
    unequal = solved(1e-6)
    f = Function.from_callable(lambda q: [q[0] - 1.0], R2, Rn(1), lambda q: [[1.0, 0.0]], name="f")
    unequal.problem = boundless([*twins(1e-6), Implicit.above(f, [-9.0], name="low")])
    assert found(unequal) is None
    for c, start, is_found in ((2.0, 0.5, False), (2.0, 0.0, False), (1e-4, 0.5, False), (1e-7, 0.5, True)):
        curved = solved(1e-6)
        curved.problem = boundless(of(*bent(c)))
        curved.rhs, curved.q, curved.start = curved.problem.rhs, np.array([0.0, 1e-9]), np.array([start, 0.0])
        assert (found(curved) is not None) == is_found


# Idle motions.


def rod(kind: Any, *, arm: bool = False) -> Robot:
    """A rod of 1 m along x on a joint, after an arm of 0.5 m that turns about z where there is one."""
    model: Any = pin.Model()
    at = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "arm") if arm else 0
    place = pin.SE3(np.eye(3), np.array([0.5 if arm else 0.0, 0.0, 0.0]))
    at = model.addJoint(at, kind, place, "rod")
    model.addFrame(pin.Frame("end", at, 0, pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    return Robot(model, "rod")


def test_a_rod_between_two_balls_spins() -> None:
    """About its own length, and nothing else; not where no row holds it, nor where its joint turns about one axis."""
    robot = rod(pin.JointModelSpherical())
    held = PointClosure(robot, [1.0, 0, 0, 0, 0, 0, 1], "end")
    q = robot.neutral
    J = held.function.jacobian(q)
    found = idle_directions(robot, robot.at(q), J, 2)
    assert list(found) == ["rod"]
    np.testing.assert_allclose(np.abs(found["rod"]), [1.0, 0.0, 0.0], atol=1e-12)
    assert idle_motions(robot, robot.at(q), J, 2) == ("rod spins about its own axis",)
    two: Any = rod(pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]))
    J2 = PointClosure(two, [1.0, 0, 0, 0, 0, 0, 1], "end").function.jacobian(two.neutral)
    np.testing.assert_allclose(np.abs(idle_directions(two, two.at(two.neutral), J2, 1)["rod"]), [1.0, 0.0], atol=1e-12)
    assert idle_directions(robot, robot.at(q), np.zeros((0, 3)), 0) == {}
    assert idle_directions(robot, robot.at(q), np.zeros((1, 3)), 0) == {}
    assert idle_directions(robot, robot.at(q), J[[0]] + [[0.0, 1.0, 0.0]], 1) == {}  # it turns about two axes
    assert idle_directions(robot, robot.at(q), np.eye(3), 3) == {}
    one = rod(pin.JointModelRX())
    assert idle_directions(one, one.at(one.neutral), np.zeros((1, 1)), 0) == {}
    assert idle_directions(one, one.at(one.neutral), np.ones((1, 1)) * 1e-9, 0) == {}


def test_a_rod_on_an_arm_spins_though_the_arm_moves() -> None:
    """The mechanism has two motions, and only one of them is idle."""
    robot = rod(pin.JointModelSpherical(), arm=True)
    held = RodClosure(robot, [1.5, 0.4, 0.2, 0, 0, 0, 1], "end", 0.6)
    q = robot.neutral
    J = held.function.jacobian(q)
    found = idle_directions(robot, robot.at(q), J, 1)
    assert found == {}  # it may also swing about an axis that leaves the length
    held2 = PointClosure(robot, [1.5, 0.0, 0, 0, 0, 0, 1], "end")
    J = held2.function.jacobian(q)
    found = idle_directions(robot, robot.at(q), J, int(np.linalg.matrix_rank(J)))
    assert list(found) == ["rod"]
    np.testing.assert_allclose(np.abs(found["rod"]), [0.0, 1.0, 0.0, 0.0], atol=1e-12)


# Rows that are weak, and who takes part.


def test_rows_that_only_small_singular_values_hold() -> None:
    """Up to a ten-thousandth of the largest, of those that count; each with the row of the largest share."""
    S = np.array([1.0, 1.0001e-4, 1e-4, 3e-6, 1e-9])
    U = np.eye(5)[:, [2, 0, 4, 1, 3]]
    labels = ["a", "b", "c", "d", "e"]
    assert weak_rows(U, S, 4, labels) == {"e": 1e-4, "b": 3e-6}
    assert weak_rows(U, 2.0 * S, 5, labels) == {"e": 1e-4, "b": 3e-6, "d": 1e-9}
    assert weak_rows(U, S, 2, labels) == {}


def test_who_takes_part_in_motions() -> None:
    robot = planar_arm(0.5, 0.5, 0.5)
    motions = np.array([[1.0, 0.0], [0.9e-6, 0.0], [-1.1e-6, 0.5e-6]])
    assert taking_part(robot, motions) == ("j0", "j2")
    assert taking_part(robot, np.zeros((3, 0))) == ()
