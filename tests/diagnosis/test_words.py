"""A diagnosis in words, whole, from made-up data; and what its parts measure, against closed forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from constraints import Affine, Bounds, Comparison, Function, Implicit, Options, Problem, Projection, Projector
from constraints.errors import SizeError, SpaceMismatchError, UndefinedError, WrongObjectError
from constraints.functions import Identity
from constraints.robot.bounds import Violation
from constraints.solvers import Diagnosis, Status
from constraints.solvers.diagnosis.conflict import Conflict, Finder, Kind, Member, Trial, error_norm
from constraints.solvers.diagnosis.dependent_rows import Dependence, RedundantRow, Row, dependence
from constraints.solvers.diagnosis.diagnosis import ConstraintNorm, Undefined
from constraints.solvers.diagnosis.parameters import parameters_of, same_layout
from constraints.solvers.diagnosis.rounding import rounding_of
from constraints.solvers.projection.engines import USUAL
from liegroups import SE3, Rn, Segments, Space

HAND, FOOT, ARM = Member(Kind.CONSTRAINT, "hand", 0), Member(Kind.CONSTRAINT, "foot", 1), Member(Kind.BOUNDS, "arm", 2)
FROZEN = Member(Kind.FROZEN, "dofs", 0)
Q = np.zeros(1)


def trial(*members: Member, reached: bool = True, **changes: Any) -> Trial:
    made = Trial(tuple(members), Q if reached else None, 3, 17, 0.0 if reached else 0.125, 0.0)
    return made._replace(**changes)


def made(**changes: Any) -> Diagnosis:
    """A failure that says as little as it can."""
    errors = (ConstraintNorm("hand", 0, 0.5, False), ConstraintNorm("foot", 1, 0.0, False))
    whole = trial(HAND, FOOT, ARM, FROZEN, reached=False)
    given: dict[str, Any] = {
        "status": Status.MAX_ITERATIONS, "residual": 0.5, "threshold": 1e-4, "errors": errors, "undefined": (),
        "conflict": None, "solution": None, "leaving": (), "without_bounds": None, "dependence": None,
        "active_bounds": (), "explicits": (), "dofs": 4, "trials": (whole,),
    }  # fmt: skip
    return Diagnosis(**(given | changes))


def rows(redundant: tuple[RedundantRow, ...] = (), **changes: Any) -> Dependence:
    values = (np.array([2.0, 0.5, 0.0]), np.array([0.0]))
    return Dependence(("level 0", "level 1"), (3, 1), (2, 0), values, redundant, 0.0)._replace(**changes)


def test_a_plain_failure_has_its_status_and_its_errors() -> None:
    status = str(Status.MAX_ITERATIONS)
    assert str(made()).splitlines() == [
        f"{status} (residual 0.5, threshold 0.0001)", "Errors by constraint:",
        "  'hand': 0.5 (not satisfied)", "  'foot': 0",
    ]  # fmt: skip
    assert made().suggestions == ()
    assert repr(made()) == str(made())
    assert not made().success


def test_a_success_says_that_there_is_nothing_to_mend() -> None:
    """Of what it computed nothing is said, and nothing would help."""
    fine = made(status=Status.CONVERGED, residual=1e-5, explicits=("lid",), doubtful_jacobians=(("hand", 1.0),))
    assert fine.success
    assert fine.suggestions == ()
    assert str(fine).splitlines()[1] == "Nothing to correct: all mandatory constraints are satisfied."
    assert "Computed" not in str(fine)
    assert "Computed constraints involved: 'lid', 'door'" in str(made(explicits=("lid", "door")))


def test_errors_are_listed_up_to_eight() -> None:
    errors = tuple(ConstraintNorm(f"c{i}", i, 1.0 - 0.1 * i, i == 1) for i in range(9))
    lines = str(made(errors=errors[:8])).splitlines()
    assert lines[2:4] == ["  'c0': 1 (not satisfied)", "  'c1': 0.9 (optional)"]
    assert len(lines) == 10
    assert str(made(errors=errors)).splitlines()[10:] == ["  and 1 more, not larger"]
    at_threshold = (ConstraintNorm("hand", 0, 1e-4, False),)
    assert str(made(errors=at_threshold)).splitlines()[-1] == "  'hand': 0.0001"
    nowhere = (ConstraintNorm("hand", 0, np.inf, False), ConstraintNorm("hand", 1, 0.0, False))
    text = str(made(errors=nowhere, undefined=(Undefined("hand", 0, Q, "no root"),)))
    assert "  'hand' (constraint 0): inf, no value: no root" in text
    assert "  'hand' (constraint 1): 0\n" in text + "\n"
    assert "Start where 'hand' (constraint 0) has a value, or keep it there with bounds: no root." in text


def test_bounds_are_listed_up_to_eight() -> None:
    names = tuple(f"joint{i} at its upper bound" for i in range(9))
    assert str(made(active_bounds=names[:8])).splitlines()[-1] == f"Bounds: {'; '.join(names[:8])}"
    assert str(made(active_bounds=names)).splitlines()[-1] == f"Bounds: {'; '.join(names[:8])}; and 1 more"


def test_conflicts_in_words() -> None:
    together = trial(HAND, FOOT, reached=False, tries=1, iterations=1)
    without = (trial(FOOT, ARM, FROZEN), trial(HAND, ARM, FROZEN))
    conflict = Conflict((HAND, FOOT), together, without)
    text = str(made(conflict=conflict, trials=(made().trials[0], *without)))
    said = "as far as projection can tell (1 try, 1 iteration, least residual 0.125):"
    others = "  If any one of them is left out, the others can be satisfied"
    assert f"Cannot be satisfied together, {said}\n  'hand'\n  'foot'\n{others}.\n" in text
    assert "What would help:\n  Without 'hand' it succeeds.\n  Without 'foot' it succeeds.\nErrors" in text
    assert "Leaving out one of them is not" not in text
    cases = ((HAND, ARM), True), ((HAND, FROZEN), True), ((HAND, ARM, FROZEN), False), ((ARM, FROZEN), False)
    for left, word in cases:
        some = replace(conflict, without=(without[0], trial(*left)))
        words = f"{others}, other bounds and frozen dofs left out.\n" if word else f"{others}.\n"
        assert words in str(made(conflict=some))
    bounded = Conflict((HAND, ARM), together, (trial(FOOT, ARM, FROZEN), trial(HAND, FOOT, FROZEN)))
    assert f"{others}.\n" in str(made(conflict=bounded))  # ARM is the one that is left out
    for residual, least in ((0.25, "0.25 within all bounds"), (0.12502, "0.125")):
        nearer = replace(conflict, within=trial(HAND, FOOT, ARM, FROZEN, reached=False, residual=residual))
        assert f"(1 try, 1 iteration, least residual {least}):" in str(made(conflict=nearer))
    lone = Conflict((ARM,), trial(ARM, reached=False, outside=0.25, tries=2), (trial(HAND, FOOT, FROZEN),))
    text = str(made(conflict=lone))
    words = "(2 tries, 17 iterations, least residual 0.125, 0.25 outside bounds)"
    assert f"Out of reach, as far as projection can tell {words}:\n  the bounds of 'arm'\n" in text
    assert "If any one" not in text
    assert "Leaving out one of them is not enough to satisfy the rest" in text  # that trial is not among those made
    held = Conflict((FROZEN,), trial(FROZEN, reached=False), (None,))
    text = str(made(conflict=held, trials=(made().trials[0], trial(HAND, FOOT, ARM))))
    assert "  the frozen dofs\n  (some of these may not be needed" in text
    assert "With its frozen dofs free to move it succeeds." in text
    assert "Leaving out one of them is not" not in text


def test_to_ask_for_nothing_is_no_help() -> None:
    """Of a lone constraint nobody says that it succeeds without it; of bounds it is said."""
    one = (ConstraintNorm("hand", 0, 0.5, False),)
    conflict = Conflict((HAND, ARM), trial(HAND, ARM, reached=False), (None, None))
    both = (trial(HAND, ARM, reached=False), trial(HAND), trial(ARM))
    assert made(errors=one, conflict=conflict, trials=both).suggestions == ("Without the bounds of 'arm' it succeeds.",)
    two = made(conflict=conflict, trials=both).suggestions
    assert two == ("Without 'hand' it succeeds.", "Without the bounds of 'arm' it succeeds.")
    failed = (both[0], trial(HAND, reached=False), trial(ARM, reached=False))
    assert made(conflict=conflict, trials=failed).suggestions == ()


def test_what_bounds_cost_is_said_the_farthest_first() -> None:
    far = (Violation("arm", 0, 0.1), Violation("leg", 1, -0.4, "rad"))
    said = made(without_bounds=Q, leaving=far).suggestions
    most = "'leg' 0.4 rad below its bound, 'arm' 0.1 above its bound"
    assert said == (f"Without its bounds it succeeds, for instance with {most}.",)


@pytest.mark.parametrize(
    ("first", "engine", "said"),
    [
        ({"tries": 1}, "", "Allow more iterations: 17 more iterations from its result satisfy all"),
        ({"tries": 1}, "Mine()", f"Solve it with engine={USUAL!r}: 17 more iterations from its result satisfy all"),
        ({"tries": 2}, "", "Start elsewhere, or allow restarts and more iterations: a solution exists"),
        ({"tries": 1, "solution": None}, "", "Start elsewhere"),
    ],
)
def test_what_a_solution_shows(first: dict[str, Any], engine: str, said: str) -> None:
    trials = (trial(HAND, FOOT, ARM, FROZEN)._replace(**first), trial(HAND, FOOT, ARM, FROZEN))
    (one,) = made(solution=Q, engine=engine, trials=trials, without_bounds=Q).suggestions
    assert one.startswith(said)
    assert ("check the steps of Mine()" in one) == bool(engine)


def test_a_solution_after_restarts_asks_for_a_larger_budget() -> None:
    """Planner 1: it was told to allow restarts although they were on."""
    trials = (trial(HAND, FOOT, ARM, FROZEN)._replace(tries=2),)
    (one,) = made(solution=Q, trials=trials, more_iterations=1000).suggestions
    assert one == "Take Options(max_iterations=1000), or start elsewhere: a solution exists (diagnosis.solution)."
    far = Implicit.zero(Function.from_callable(lambda q: q**2 + 1.0, Rn(1), Rn(1)))
    for options, more in ((Options(max_iterations=200), 2000), (Options(restarts=False), 0)):
        failed = Projector(Problem(Rn(1), [far]), options).project([2.0])
        assert failed.diagnose(iterations=10, trials=2).more_iterations == more


def test_a_threshold_below_rounding_is_told() -> None:
    whole = (trial(HAND, residual=3e-12),)
    below = made(threshold=1e-12, trials=whole, rounding=2.34e-11, solution=Q)
    assert below.is_below_rounding
    assert below.suggestions == ("Ask for a threshold of 3e-11 or more: float64 cannot resolve less here.",)
    assert "The threshold is below rounding: all is satisfied to float64" in str(below)
    assert replace(below, rounding=2e-11).suggestions[0].startswith("Ask for a threshold of 2e-11 ")
    for other in (
        {"rounding": 2.9e-12}, {"threshold": 3e-12}, {"threshold": 1e-4}, {"status": Status.CONVERGED},
        {"trials": (trial(HAND, reached=False, residual=3e-12),)},
        {"trials": (trial(HAND, FOOT, reached=False), trial(HAND, residual=3e-12))},
    ):  # fmt: skip
        assert not replace(below, **other).is_below_rounding
    assert replace(below, rounding=3e-12).is_below_rounding
    assert not made(threshold=1e-12, trials=whole, solution=Q).is_below_rounding  # no rounding is known


def test_doubtful_jacobians_come_first() -> None:
    first, *_ = made(doubtful_jacobians=(("hand", 1.25),), undefined=(Undefined("foot", 1, Q, "no"),)).suggestions
    assert first.startswith("Look at the Jacobian of 'hand': it differs by 1.25 from finite differences there;")


def redundant(row: int, *repeats: int, mismatch: float = 0.25, everywhere: bool = True) -> RedundantRow:
    return RedundantRow(Row("hand", 0, row), tuple(Row("foot", 1, i) for i in repeats), mismatch, everywhere)


def test_dependent_rows_in_words() -> None:
    found = (redundant(0, 1), redundant(1, 0, 1), redundant(2, 0, 1, 2, 3, everywhere=False), redundant(3))
    text = str(made(dependence=rows(found, inconsistency=0.3)))
    assert text.splitlines()[-8:] == [
        "Rows, level by level in the null space of those above (4 dofs may move):",
        "  level 0: 3 rows, rank 2, singular values 2 to 0.5",
        "  level 1: 1 row, rank 0",
        "Redundant rows (not consistent: 0.3 of the error is out of reach of any small motion):",
        "  row 0 of 'hand' depends on row 1 of 'foot'; mismatch 0.25",
        "  row 1 of 'hand' depends on row 0 of 'foot' and row 1 of 'foot'; mismatch 0.25",
        "  row 2 of 'hand' depends on row 0 of 'foot' and row 1 of 'foot' and 2 more, only here: a singular "
        "configuration; mismatch 0.25",
        "  row 3 of 'hand' depends on no free dof; mismatch 0.25",
    ]
    three = str(made(dependence=rows((redundant(1, 0, 1, 2),))))
    assert three.endswith("depends on row 0 of 'foot' and row 1 of 'foot' and 1 more; mismatch 0.25")
    assert "Redundant rows (consistent: 0.0001 " in str(made(dependence=rows(found, inconsistency=1e-4)))
    assert "Redundant" not in str(made(dependence=rows()))
    eight = tuple(redundant(i) for i in range(8))
    assert str(made(dependence=rows(eight))).splitlines()[-1].startswith("  row 7 of 'hand' depends on no free dof")
    assert str(made(dependence=rows((*eight, redundant(8))))).splitlines()[-1] == "  and 1 more"


def test_what_rows_suggest() -> None:
    """Only mismatches above the threshold, of rows that depend on others everywhere; one other is named."""
    both = "Make row 0 of 'hand' and row 1 of 'foot' agree: one repeats the other, their errors differ by 0.25."
    assert made(dependence=rows((redundant(0, 1),))).suggestions == (both,)
    assert made(dependence=rows((redundant(3),))).suggestions == (
        "No free dof moves row 3 of 'hand', whose error is 0.25.",
    )
    for silent in (
        redundant(0, 1, mismatch=1e-4), redundant(0, 1, everywhere=False), redundant(0, 1, 2),
        redundant(0, 1, mismatch=-1e-4),
    ):  # fmt: skip
        assert made(dependence=rows((silent,))).suggestions == ()
    assert len(made(dependence=rows((redundant(0, 1, mismatch=-0.1),))).suggestions) == 1
    full = made(dependence=rows(inconsistency=0.25), dofs=2)
    assert full.suggestions == ("Mask some rows: there are 4 rows, and only 2 dofs may move.",)
    for other in ({"dofs": 3}, {"dependence": rows(rows=(1, 1))}, {"dependence": None}, {"dependence": rows()}):
        assert replace(full, **other).suggestions == ()
    assert "Mask some rows" not in "".join(replace(full, solution=Q).suggestions)


# What is measured.


def test_rounding_grows_with_distances_scales_and_right_hand_sides() -> None:
    """The formula by hand; poses count by their largest entry, 1 at least."""
    space: Space = Rn(2) * SE3
    A = np.zeros((2, 8))
    A[:, :2] = [[3.0, -4.0], [0.0, 2.0]]
    f = Affine(np.array([[3.0, -4.0], [0.0, 2.0]])).on(space, Segments.coordinates(space, [0, 1]))
    big = Implicit(f, Comparison.EQUALITY, [5.0, -7.0], scale=[2.0, 1.0], name="big")
    small = Implicit.zero(f, mask=[True, False], name="small")
    q = space.neutral.copy()
    q[:2] = [-10.0, 0.5]
    eps = np.finfo(np.float64).eps
    problem = Problem(space, [small, big])
    # |J| max(1, |q|) = (3 * 10 + 4 * 10) * 2 and 2 * 10, since both numbers are one leaf
    expected = eps * np.hypot(2.0 * 70.0 + 2.0 * 7.0, 20.0 + 2.0 * 7.0)
    assert rounding_of(problem, q, problem.rhs) == pytest.approx(expected, rel=1e-12, abs=0.0)
    assert rounding_of(Problem(space, [small]), q, Problem(space, [small]).rhs) == pytest.approx(
        eps * 70.0, rel=1e-12, abs=0.0
    )
    q[0] = 0.5
    assert rounding_of(Problem(space, [small]), q, Problem(space, [small]).rhs) == pytest.approx(
        eps * 7.0, rel=1e-12, abs=0.0
    )


def root(q: np.ndarray) -> np.ndarray:
    if q[0] < 0.0:
        raise UndefinedError("no root")
    return np.sqrt(q[:1])


ROOT = Function.from_callable(root, Rn(2), Rn(1), lambda q: [[0.5 / np.sqrt(q[0]), 0.0]], name="root")


def test_where_a_function_has_no_value_there_is_a_reason() -> None:
    problem = Problem(Rn(2), [Implicit.zero(ROOT), Implicit.zero(Identity(Rn(2)))])
    root_of, plain = problem.constraints.owners
    assert error_norm(problem, root_of, np.array([-1.0, 0.0]), problem.rhs) == (np.inf, "no root")
    assert error_norm(problem, root_of, np.array([4.0, 0.0]), problem.rhs) == (2.0, "")
    assert error_norm(problem, plain, np.array([3.0, 4.0]), problem.rhs) == (5.0, "")
    nowhere = Problem(Rn(2), [Implicit.zero(Function.from_callable(lambda q: [np.inf * q[0]], Rn(2), Rn(1)))])
    infinite = error_norm(nowhere, nowhere.constraints.owners[0], np.array([1.0, 0.0]), nowhere.rhs)
    assert infinite == (np.inf, "its error is not finite")
    assert rounding_of(problem, np.array([-1.0, 0.0]), problem.rhs) == 0.0


def test_dependence_of_linear_rows() -> None:
    """Ranks, singular values and mismatches by hand: a row that repeats, a combination, one that nothing moves."""
    first = Implicit.equal(Affine([[3.0, 0, 0, 0], [0, 4.0, 0, 0], [6.0, 0, 0, 0]]), [0.0, 0.0, 0.3], name="a")
    second = Implicit.equal(Affine([[3.0, 4.0, 0, 0], [0, 0, 0.5, 0], [0, 0, 0, 1.0]]), [0.0, 0.0, 0.7], name="b")
    third = Implicit.zero(Affine([[1.0, 0, 0, 0], [0, 0, 2.0, 0]]), mask=[False, True], name="c")
    frozen = Segments.coordinates(Rn(4), [3])
    problem = Problem(Rn(4), [[first], [second], [third]], frozen=frozen)
    found = dependence(problem, np.array([0.1, 0.2, 0.05, 0.4]), problem.rhs)
    assert found.levels == ("level 0", "level 1", "level 2")
    assert found.rows == (3, 3, 1)
    assert found.ranks == (2, 1, 0)
    np.testing.assert_allclose(found.singular_values[0], [np.sqrt(45.0), 4.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.singular_values[1], [0.5], atol=1e-12)
    assert found.singular_values[2].size == 0  # no motion is left
    by_row = {str(entry.row): entry for entry in found.redundant}
    assert list(by_row) == ["row 0 of 'a'", "row 0 of 'b'", "row 2 of 'b'", "row 1 of 'c'"]
    assert [str(row) for row in by_row["row 0 of 'a'"].repeats] == ["row 2 of 'a'"]
    assert by_row["row 0 of 'a'"].mismatch == pytest.approx(0.3 - 0.5 * 0.3)
    assert {str(row) for row in by_row["row 0 of 'b'"].repeats} == {"row 2 of 'a'", "row 1 of 'a'"}
    assert by_row["row 0 of 'b'"].mismatch == pytest.approx(1.1 - 0.5 * 0.3 - 0.8)
    assert by_row["row 2 of 'b'"].repeats == ()
    assert by_row["row 2 of 'b'"].mismatch == pytest.approx(-0.3)
    assert by_row["row 1 of 'c'"].mismatch == pytest.approx(0.0, abs=1e-12)
    assert all(entry.everywhere for entry in found.redundant)
    e, J = problem.error([0.1, 0.2, 0.05, 0.4]), problem.jacobian([0.1, 0.2, 0.05, 0.4])[:, :3]
    outside = e - J @ np.linalg.lstsq(J, e, rcond=None)[0]
    assert found.inconsistency == pytest.approx(np.linalg.norm(outside))
    loose = dependence(Problem(Rn(4), [[first], [second], [third]], optional_last=True), np.zeros(4), problem.rhs)
    assert loose.levels[-1] == "level 2 (optional)"
    assert not any(entry.row.constraint == "c" for entry in loose.redundant)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
def test_dependence_has_no_unit(unit: float) -> None:
    """Rows of millimetres or of megametres: the same ranks, the same rows, whatever their lengths are to each other."""
    J = unit * np.array([[3.0, 0.0, 0.0], [3.0, 2e-4, 0.0], [6.0, 0.0, 0.0], [1e-4, 0.0, 0.0]])
    problem = Problem(Rn(3), [Implicit.zero(Affine(J), name="a")])
    found = dependence(problem, np.zeros(3), problem.rhs)
    assert found.ranks == (2,)
    assert [(entry.row.row, entry.everywhere) for entry in found.redundant] in (
        [(0, True), (3, True)],
        [(1, True), (3, True)],
    )
    assert all(len(entry.repeats) == 1 for entry in found.redundant if entry.row.row != 1)
    none = Problem(Rn(3), [Implicit.zero(Affine(unit * np.array([[1.0, 0, 0], [1e-8, 0, 0]])), name="a")])
    (entry,) = dependence(none, np.zeros(3), none.rhs).redundant
    assert (entry.row.row, entry.repeats) == (1, ())  # shorter than roundings of the others: as if it were nothing


def test_dependence_at_a_point_alone_is_singular() -> None:
    """x y and x z are parallel where x is zero, and only there."""
    f = Function.from_callable(lambda q: [q[0] * q[1], q[0] * q[2]], Rn(3), Rn(2),
                               lambda q: [[q[1], q[0], 0.0], [q[2], 0.0, q[0]]])  # fmt: skip
    problem = Problem(Rn(3), [Implicit.zero(f, name="f")])
    (entry,) = dependence(problem, np.array([0.0, 1.0, 3.0]), problem.rhs).redundant
    assert not entry.everywhere
    assert (str(entry.row), [str(row) for row in entry.repeats]) == ("row 0 of 'f'", ["row 1 of 'f'"])


@pytest.mark.parametrize("value", [0.5, 2, np.float64(0.5), [0.5, 1.0], (1, 2, 3), np.zeros(0)])
def test_parameters_in_every_form(value: Any) -> None:
    numbers, single = parameters_of(value)
    np.testing.assert_array_equal(numbers, np.atleast_1d(np.asarray(value, dtype=float)))
    assert single == (np.ndim(value) == 0)


def test_parameters_that_are_none_and_problems_of_another_layout() -> None:
    with pytest.raises(SizeError, match="value of a parameter: expected size one number, or a vector"):
        parameters_of([[1.0]])
    with pytest.raises(WrongObjectError, match="value of a parameter"):
        parameters_of([[1.0], [1.0, 2.0]])
    line, other = Implicit.zero(Affine([[1.0, 0.0]]), name="line"), Implicit.zero(Affine([[1.0, 2.0]]), name="line")
    mine = Problem(Rn(2), [line])
    assert same_layout(mine, same := Problem(Rn(2), [other])) is same
    for theirs in (
        Problem(Rn(2), [line], frozen=Segments.coordinates(Rn(2), [0])), Problem(Rn(2), [line, other]),
        Problem(Rn(2), [Implicit.zero(Affine([[1.0, 0.0]]), name="row")]), Problem(Rn(2), [[], [line]]),
        Problem(Rn(3), [Implicit.zero(Affine([[1.0, 0.0, 0.0]]), name="line")]),
        Problem(Rn(2), [Implicit.zero(Affine(np.eye(2)), name="line")]),
    ):  # fmt: skip
        with pytest.raises(SpaceMismatchError, match="problem of other parameters"):
            same_layout(mine, theirs)
    with pytest.raises(WrongObjectError, match="value of problem_at"):
        same_layout(mine, "problem")


def finder(problem: Problem, q: list[float]) -> Finder:
    return Finder(Projector(problem, Options(max_iterations=1, restarts=False)).project(q), 40, 20, 0)


def test_members_are_what_a_projection_must_respect() -> None:
    """Mandatory rows that count, bounds of joints that they move or that are frozen, and what is frozen."""
    space = Rn(1) * Rn(1) * Rn(1) * SE3
    lower, upper = np.full(space.nq, -np.inf), np.full(space.nq, np.inf)
    lower[0], upper[1], lower[2], upper[4] = -1.0, 1.0, -1.0, 2.0
    row = [Affine([[1.0]]).on(space, Segments.coordinates(space, [i])) for i in range(3)]
    levels = [[Implicit.equal(row[0], [5.0], name="a"), Implicit.zero(row[2], mask=False, name="masked")],
              [Implicit.zero(row[2], name="wish")]]  # fmt: skip
    start = space.neutral.tolist()
    problem = Problem(
        space, levels, Bounds(space, lower, upper), frozen=Segments.coordinates(space, [1]), optional_last=True
    )
    names = [(m.kind, m.position) for m in finder(problem, start).members]
    assert names == [(Kind.CONSTRAINT, 0), (Kind.BOUNDS, 0), (Kind.BOUNDS, 1), (Kind.BOUNDS, 2), (Kind.FROZEN, 0)]
    three = Problem(space, [levels[0], [Implicit.zero(row[1], name="middle")], levels[1]], optional_last=True)
    assert [(m.kind, m.name) for m in finder(three, start).members] == [
        (Kind.CONSTRAINT, "a"), (Kind.CONSTRAINT, "middle"),
    ]  # fmt: skip
    failed = Projector(three, Options(max_iterations=1, restarts=False)).project(start).diagnose(iterations=4, trials=2)
    assert {entry.constraint for entry in failed.errors if entry.optional} == {"wish"}
    posed = Implicit.equal(Identity(SE3).on(space, Segments.of(space, space.factors[3].name)), name="pose")
    problem = Problem(space, [posed], Bounds(space, lower, upper))
    assert [(m.kind, m.position) for m in finder(problem, start).members] == [(Kind.CONSTRAINT, 0), (Kind.BOUNDS, 3)]


def test_a_constraint_holds_to_just_the_threshold() -> None:
    looking = finder(Problem(Rn(1), [Implicit.zero(Affine([[1.0]]), name="x")]), [5.0])
    for off, holds in ((1e-4, True), (-1e-4, True), (np.nextafter(1e-4, 1.0), False)):
        assert bool(looking._satisfied(np.array([off]))) == holds  # pyright: ignore[reportPrivateUsage]


def test_a_kink_between_two_differences_is_no_proof_against_a_jacobian() -> None:
    kink = Function.from_callable(lambda q: [1.0 + abs(q[0])], Rn(1), Rn(1), lambda q: [[5.0]], name="kink")
    result = Projector(Problem(Rn(1), [Implicit.zero(kink)]), Options(max_iterations=1, restarts=False)).project([2e-5])
    near = Projection(result.case, result.outcome._replace(q=np.array([2e-5])), result.seconds)
    assert near.diagnose(iterations=8, trials=4).doubtful_jacobians == ()
