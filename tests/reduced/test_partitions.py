"""Minimal coordinates: which coordinates are independent, driven and dependent, and wishes that cannot be."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from closed_mechanisms import ALL, FILES, closed_mechanism
from each_choice import a_few
from models.test_mechanism_files import EXPECTED

from constraints import ConstraintError, Implicit, Position, Target, errors
from constraints.loops import ConstraintSet, PointContact, assemble_position
from constraints.models import mechanisms
from constraints.reduced import MinimalCoordinates, OpenMechanismError, PartitionError, minimal_coordinates

TIED = (
    *("delta_robot", "5bar_linkage_iso3d", "cassie_like", "digit_like_2legs", "cassie_mjcf", "mj_connect"),
    *("mj_joint_couplers", "mj_weld", "cassie_sdf"),
)
"""Where a column moves with one independent column alone, or not at all, and another could be independent."""


def blocks(coordinates: MinimalCoordinates) -> tuple[np.ndarray, np.ndarray]:
    """J and J_v, evaluated by the set itself."""
    J, parts = coordinates.constraint_set.jacobian(coordinates.q), coordinates.partition
    return J, J[np.ix_(parts.rows, parts.dependent)]


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_every_mechanism_splits_and_the_pivot_block_is_as_regular_as_its_rows(name: str) -> None:
    """Case 3: each column and row once, as many as the table says; condition of J_v at most 3 times that of J."""
    mechanism, q = closed_mechanism(name)
    coordinates = minimal_coordinates(mechanism.constraint_set(), q)
    parts, (J, J_v) = coordinates.partition, blocks(coordinates)
    assert sorted([*parts.dependent, *parts.independent, *parts.driven]) == list(range(mechanism.robot.nv))
    assert sorted([*parts.rows, *parts.redundant]) == list(range(mechanism.rows))
    sizes = np.linalg.svd(J, compute_uv=False)
    rank = np.linalg.matrix_rank(J, tol=1e-6 * sizes[0])
    assert parts.rank == parts.rows.size == rank
    if name in FILES:
        assert (parts.rank, parts.independent.size) == (EXPECTED[name]["rank"], EXPECTED[name]["mobility"])
    assert np.linalg.cond(J_v) <= 3.0 * sizes[0] / sizes[rank - 1]
    B = -np.linalg.solve(J_v, J[np.ix_(parts.rows, parts.independent)])
    assert np.abs(B).max() <= 2.0
    # Rows called redundant follow from the others, to the decimals of the file.
    T = np.zeros((mechanism.robot.nv, parts.independent.size))
    T[parts.independent, np.arange(parts.independent.size)], T[parts.dependent] = 1.0, B
    assert np.abs(J @ T).max() <= 1e-8 * sizes[0]
    assert len(coordinates.redundant) == mechanism.rows - rank


def test_five_bar_with_a_6d_closure() -> None:
    """Case 3: 3 independent and 3 redundant rows, mobility 3; printed readably."""
    mechanism, q = closed_mechanism("5bar_linkage")
    coordinates = mechanism.minimal_coordinates(q)
    parts = coordinates.partition
    assert (mechanism.rows, parts.rank, parts.redundant.size, parts.independent.size) == (6, 3, 3, 3)
    assert coordinates.independent[:2] == ("mot1", "mot2")
    text = str(coordinates)
    assert "6 rows, rank 3" in text
    assert "independent (3): mot1, mot2" in text
    assert "redundant rows (3):" in text
    assert all(name in text for name in (*coordinates.dependent, *coordinates.redundant))
    assert repr(coordinates) == "MinimalCoordinates(u 3, c 0, v 3)"


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_wishes_are_kept_and_completed(name: str) -> None:
    """Case 3: complete, partial and empty wishes, in any order; the rest is chosen."""
    mechanism, q = closed_mechanism(name)
    rows, rng = mechanism.constraint_set(), np.random.default_rng(1)
    first = minimal_coordinates(rows, q)
    wish = list(rng.permutation(first.independent))
    assert minimal_coordinates(rows, q, independent=wish).independent == tuple(wish)
    part = wish[: (len(wish) + 1) // 2]
    found = minimal_coordinates(rows, q, independent=part)
    assert found.independent[: len(part)] == tuple(part)
    assert len(found.independent) == len(wish)
    assert np.linalg.cond(blocks(found)[1]) < 1e7
    assert set(minimal_coordinates(rows, q, independent=[]).independent) == set(wish)


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_motors_come_first_where_the_rank_allows(name: str) -> None:
    """Case 3: `mechanism.minimal_coordinates` prefers motors, as `judge`; wishes come before them."""
    mechanism, q = closed_mechanism(name)
    coordinates = mechanism.minimal_coordinates(q)
    judged = mechanism.judge(q)
    assert coordinates.independent == judged.independent
    assert coordinates.dependent == judged.dependent
    assert len(coordinates.redundant) == len(judged.redundant)
    wish = minimal_coordinates(mechanism.constraint_set(), q).independent[-1:]
    wished = mechanism.minimal_coordinates(q, independent=wish)
    assert wished.independent[0] == wish[0]


@pytest.mark.parametrize("name", ALL)
def test_driven_joints_are_never_dependent(name: str) -> None:
    """Case 3: whichever whole joints are driven, as far as the rows leave them free."""
    mechanism, q = closed_mechanism(name)
    robot, rows = mechanism.robot, mechanism.constraint_set()
    free = minimal_coordinates(rows, q).independent
    joints = [joint for joint in robot.joint_names if joint in free]
    driven = joints[: max(1, len(joints) // 2)] if joints else []
    coordinates = minimal_coordinates(rows, q, driven=driven)
    assert sorted(coordinates.driven) == sorted(driven)
    assert not set(coordinates.dependent) & set(driven)
    assert len(coordinates.independent) == len(free) - len(driven)


def test_columns_of_balls_are_wished_one_by_one() -> None:
    """Case 3: balls, digit_like_2legs: part of one is independent, part of it dependent; Segments are whole joints."""
    mechanism, q = closed_mechanism("digit_like_2legs")
    robot, rows = mechanism.robot, mechanism.constraint_set()
    ball = next(f.name for f in robot.space.factors if f.v.stop - f.v.start == 3)
    found = minimal_coordinates(rows, q, independent=[f"{ball}[1]"])
    assert found.independent[0] == f"{ball}[1]"
    split = {name.partition("[")[0] for name in found.dependent} & {n.partition("[")[0] for n in found.independent}
    assert set(found.chart.split) == {name for name in split if len(robot.segments(name).v) == 3}
    platform, at = closed_mechanism("stewart_platform")
    plate = next(f.name for f in platform.robot.space.factors if f.v.stop - f.v.start == 6)
    for wish in ([plate], platform.robot.segments(plate), [platform.robot.segments(plate)]):
        whole = minimal_coordinates(platform.constraint_set(), at, independent=wish)
        assert whole.independent == tuple(f"{plate}[{i}]" for i in range(6))


def test_a_wish_that_is_too_large_is_refused_with_what_would_do() -> None:
    """Bad input: wrong wishes, too many of them."""
    mechanism, q = closed_mechanism("four_bar")
    with pytest.raises(PartitionError, match="2 were given, but the rows leave only 1 free") as caught:
        mechanism.minimal_coordinates(q, independent=["crank", "rocker"])
    (name,) = caught.value.names
    assert f"not {name}" in str(caught.value)
    possible = {"crank", "rocker"} - {name}
    assert str(caught.value).endswith(f"possible: {possible.pop()}")
    assert caught.value.partition.independent.size == 1


@pytest.mark.parametrize("name", TIED)
def test_a_wish_that_makes_j_v_singular_is_refused_by_name(name: str) -> None:
    """Case 3: columns that the rows tie together, or hold still, are refused; what is said to be possible is."""
    mechanism, q = closed_mechanism(name)
    rows = mechanism.constraint_set()
    first = minimal_coordinates(rows, q)
    (J, J_v), parts = blocks(first), first.partition
    B = -np.linalg.solve(J_v, J[np.ix_(parts.rows, parts.independent)])
    # A dependent column that moves with one independent column alone is tied to it; one that never moves is held.
    tied = [(i, np.flatnonzero(np.abs(B[i]) > 1e-9)) for i in range(len(B))]
    tied = [(i, moves) for i, moves in tied if moves.size <= 1 < parts.independent.size + (moves.size == 0)]
    i, moves = tied[0]
    wish = [first.dependent[i], *(first.independent[int(k)] for k in moves)]
    with pytest.raises(PartitionError, match="J_v would be singular") as caught:
        minimal_coordinates(rows, q, independent=wish)
    assert set(caught.value.names) <= set(wish)
    possible = str(caught.value).partition("possible: ")[2]
    if "more" not in possible:
        assert len(minimal_coordinates(rows, q, independent=possible.split(", ")).independent) == len(first.independent)


def test_driven_joints_that_the_rows_block_are_refused() -> None:
    """Bad input: driven joint among dependents: too many are driven, or the pose is a dead centre."""
    mechanism, q = closed_mechanism("four_bar")
    with pytest.raises(PartitionError, match=r"leave 1 degree of freedom.*2 coordinates cannot be driven") as caught:
        mechanism.minimal_coordinates(q, driven=["crank", "rocker"])
    assert len(caught.value.names) == 1
    stretched = assemble_position(
        mechanism.constraint_set(), mechanism.robot.configuration({"coupler": 0.0}, start=q), driven=["coupler"]
    ).or_raise()
    with pytest.raises(PartitionError, match=r"rocker cannot be driven together .*as at a dead centre\)"):
        mechanism.minimal_coordinates(stretched.q, driven=["rocker"])
    with pytest.raises(PartitionError, match="not rocker: J_v would be singular"):
        mechanism.minimal_coordinates(stretched.q, independent=["rocker"])
    assert mechanism.minimal_coordinates(stretched.q, driven=["crank"]).driven == ("crank",)


def test_names_that_nothing_has_are_answered_with_the_nearest() -> None:
    """Bad input: unknown names, a name alone, parts of driven joints, one joint in both groups."""
    mechanism, q = closed_mechanism("digit_like_2legs")
    ball = next(f.name for f in mechanism.robot.space.factors if f.v.stop - f.v.start == 3)
    with pytest.raises(errors.UnknownNameError) as caught:
        mechanism.minimal_coordinates(q, independent=[f"{ball}[3]"])
    assert f"{ball}[2]" in str(caught.value)
    with pytest.raises(errors.OptionError, match=f"is a part of '{ball}', which is driven as a whole"):
        mechanism.minimal_coordinates(q, driven=[f"{ball}[0]"])
    with pytest.raises(errors.UnknownJointError, match=ball):  # no part of it
        mechanism.minimal_coordinates(q, driven=[f"{ball}[3]"])
    linkage, at = closed_mechanism("four_bar")
    with pytest.raises(errors.UnknownNameError, match="crank"):
        linkage.minimal_coordinates(at, independent=["cranck"])
    with pytest.raises(errors.UnknownJointError, match="crank"):
        linkage.minimal_coordinates(at, driven=["cranck"])
    with pytest.raises(errors.UnknownJointError, match="crank"):
        linkage.minimal_coordinates(at, driven={"cranck": None})
    with pytest.raises(errors.OptionError, match="crank cannot be both independent and driven"):
        linkage.minimal_coordinates(at, independent=["crank"], driven=["crank"])
    wrong: list[dict[str, Any]] = [{"independent": "crank"}, {"driven": "crank"}, {"independent": 3}]
    for options in [*wrong, {"independent": {"crank": 1.0}}]:
        with pytest.raises(errors.WrongObjectError):
            linkage.minimal_coordinates(at, **options)
    with pytest.raises(errors.WrongObjectError, match="Target"):
        linkage.minimal_coordinates(at, driven={"crank": 0.3})  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.WrongObjectError, match="posture"):
        linkage.minimal_coordinates("closed")
    with pytest.raises(errors.UnknownNameError, match="driven"):
        linkage.minimal_coordinates(at, drive=["crank"])  # pyright: ignore[reportCallIssue]
    platform, home = closed_mechanism("stewart_platform")
    plate = next(f for f in platform.robot.space.factors if f.v.stop - f.v.start == 6)
    mask = np.arange(platform.robot.nv) == plate.v.start
    with pytest.raises(errors.OverlapError):
        platform.minimal_coordinates(home, driven=mask.tolist())


def test_open_configurations_are_refused_or_closed_on_request() -> None:
    """Case 3, open start: named with its size and the remedy; judged only where it is closed."""
    mechanism, q = closed_mechanism("four_bar")
    opened = mechanism.robot.configuration({"crank": 1.3}, start=q)
    with pytest.raises(OpenMechanismError, match="pass close=True") as caught:
        mechanism.minimal_coordinates(opened)
    error = mechanism.constraint_set().position_error(opened)
    assert caught.value.worst == mechanism.closures[0].name
    assert caught.value.residual == pytest.approx(np.linalg.norm(error))
    assert caught.value.level == "position"
    closed = mechanism.minimal_coordinates(opened, close=True)
    assert np.abs(mechanism.constraint_set().position_error(closed.q)).max() <= 1e-11
    driven = mechanism.minimal_coordinates(opened, close=True, driven=["crank"])
    assert driven.q[0] == 1.3
    impossible = mechanisms.four_bar()
    far = impossible.robot.configuration({"coupler": 0.0, "rocker": 3.0}, start=q)
    with pytest.raises(OpenMechanismError, match="does not close from here"):
        impossible.minimal_coordinates(far, close=True, driven=["coupler", "rocker"])


def test_the_tolerance_of_the_rank_is_the_callers() -> None:
    """Case 3: singular values of robot_delta span 7e4: at 1e-4 fewer columns are dependent."""
    mechanism, q = closed_mechanism("robot_delta")
    J = mechanism.constraint_set().jacobian(q)
    for tolerance in (1e-6, 1e-4, 1e-2):
        coordinates = mechanism.minimal_coordinates(q, tolerance=tolerance)
        sizes = np.linalg.svd(J, compute_uv=False)
        assert coordinates.partition.rank == (sizes > tolerance * sizes[0]).sum()
        assert coordinates.tolerance == tolerance
    assert mechanism.minimal_coordinates(q, tolerance=1e-4).partition.rank < 9
    with pytest.raises(ConstraintError):
        mechanism.minimal_coordinates(q, tolerance=-1.0)


def test_rows_that_are_off_do_not_count() -> None:
    """Case 3: a constraint that is switched off neither ties nor is redundant, nor is it closed."""
    mechanism, q = closed_mechanism("delta_robot")
    rows = mechanism.constraint_set()
    name = rows.names[0]
    off = minimal_coordinates(rows.switched(off=[name]), q)
    count = rows.slice_of(name).stop - rows.slice_of(name).start
    assert off.partition.rank == rows.size - count
    assert off.redundant == ()
    assert f"{rows.size - count} rows, rank" in str(off)
    start = mechanism.robot.space.integrate(q, 0.05 * np.random.default_rng(0).standard_normal(mechanism.robot.nv))
    done = off.close(start).or_raise()
    assert np.abs(rows.position_error(done.q)[rows.slice_of(name)]).max() > 1e-4
    assert np.abs(rows.position_error(done.q)).max(initial=0.0, where=~mask_of(rows, name)) <= 1e-12


def mask_of(rows: ConstraintSet, name: str) -> np.ndarray:
    mask = np.zeros(rows.size, dtype=bool)
    mask[rows.slice_of(name)] = True
    return mask


def test_what_is_no_equality_with_a_position_is_refused_by_name() -> None:
    """Bad input: inequalities and contacts without anchor leave no minimal coordinates."""
    mechanism, q = closed_mechanism("four_bar")
    robot = mechanism.robot
    frame = robot.frame_names[-1]
    above = Implicit.above(Position(robot, frame), [-9.0, -9.0, -9.0], name="floor")
    with pytest.raises(errors.OptionError, match="'floor' has inequalities"):
        minimal_coordinates(ConstraintSet(robot, [above]), q)
    contact = PointContact(robot, frame, name="tip")
    with pytest.raises(errors.OptionError, match="'tip' has no position rows"):
        minimal_coordinates(ConstraintSet(robot, [contact]), q)
    both = mechanism.constraint_set([contact])
    assert minimal_coordinates(both.switched(off=["tip"]), q).partition.rank == 2


def turning(t: float) -> list[float]:
    return [1.0 + 0.3 * np.sin(t)]


def test_coordinates_are_values_that_pickle() -> None:
    """Item 1: a value that travels: unchanged by others, with its motions; a copy closes to the same bits."""
    mechanism, q = closed_mechanism("four_bar")
    motions = {"crank": Target(turning)}
    given = q.copy()
    coordinates = mechanism.minimal_coordinates(given, driven=motions)
    given[:] = 9.0
    motions.clear()
    assert list(coordinates.targets) == ["crank"]
    np.testing.assert_array_equal(coordinates.q, q)
    with pytest.raises(ValueError, match="read-only"):
        coordinates.q[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        coordinates.partition.dependent[0] = 1
    with pytest.raises(TypeError):
        coordinates.targets["crank"] = Target(turning)  # pyright: ignore[reportIndexIssue]
    copy = pickle.loads(pickle.dumps(coordinates))
    assert str(copy) == str(coordinates)
    assert "driven (1): crank (in time)" in str(copy)
    for t in (0.0, 0.4):
        np.testing.assert_array_equal(copy.close(q, t=t).or_raise().q, coordinates.close(q, t=t).or_raise().q)
