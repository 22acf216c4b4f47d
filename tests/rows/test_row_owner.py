"""Owners of rows: one root evaluates, nobody overrides; what is known to be exact; rows of contacts without anchor."""

from __future__ import annotations

import copy
import pickle
from array import array
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box
from robots import two_arms

import constraints as lc
from constraints.actions import Cost, StageConstraint
from constraints.functions.frames.pose_from_rows import PoseFromRows
from constraints.loops import (
    Closure,
    ConstraintSet,
    PointClosure,
    PointContact,
    PoseClosure,
    PoseContact,
    RodClosure,
    SurfaceContact,
)
from constraints.rows import RowOwner
from constraints.rows.row_owner import Reference
from liegroups import SE3, Rn, Segments
from liegroups.formulas.log_slopes import FIVE_POINTS

Q, FRAME = two_arms().neutral, two_arms().frame_names[-1]


def kinds(base: type) -> Iterator[type]:
    for cls in base.__subclasses__():
        yield cls
        yield from kinds(cls)


PUBLIC = [cls for cls in kinds(RowOwner) if cls.__module__.startswith("constraints.") and cls.__name__[0] != "_"]
KINDS = sorted(PUBLIC, key=lambda cls: cls.__name__)


def test_every_owner_is_known() -> None:
    users = {lc.Implicit, lc.Explicit, Closure, PointClosure, RodClosure, PointContact, SurfaceContact}
    users |= {PoseClosure, PoseContact}
    assert {cls.__name__ for cls in KINDS} == {cls.__name__ for cls in users} | {"FrameRows"}


@pytest.mark.parametrize("cls", KINDS, ids=lambda cls: cls.__name__)
def test_no_owner_overrides_what_its_bases_implement(cls: type) -> None:
    """At most three floors, and each method is written once; what objects have (repr) aside."""
    floors = cls.__mro__[: cls.__mro__.index(RowOwner) + 1]
    assert len(floors) <= 3
    for base in floors[1:]:
        written = {name for name, it in vars(base).items() if callable(it) or isinstance(it, property)}
        written -= {name for name in written if getattr(vars(base)[name], "__isabstractmethod__", False)}
        assert not {name for name in written & set(vars(cls)) if not name.startswith("__")}


def test_what_is_known_to_be_exact_stays_so_as_long_as_it_has_the_same_parts() -> None:
    robot = arm_and_box()
    pose = lc.explicit_relative_pose(robot, "gripper", "handle")
    assert pose.is_exact
    kept = (replace(pose, rhs=np.zeros(6), comparison=lc.Comparison.EQUALITY), replace(pose, level=1, name="mine"))
    for same in (*kept, pickle.loads(pickle.dumps(pose)), copy.deepcopy(pose), pose.on(robot.space * Rn(1))):
        assert same.is_exact
    again = lc.explicit_relative_pose(robot, "gripper", "handle")
    for other in (
        replace(pose, implicit=again.implicit),
        replace(pose, f=again.f),
        replace(pose, rhs_map=again.rhs_map),
    ):
        assert not other.is_exact
        assert other.known_exact().is_exact
        assert not other.is_exact  # a copy says so, not this one


def test_without_g_and_twin_it_is_exact_by_construction() -> None:
    space, robot = Rn(2), two_arms()
    f, out = lc.Affine(np.array([[2.0]]), [0.1]), Segments.coordinates(space, [1])
    plain = lc.Explicit(f, out, Segments.coordinates(space, [0]), whole=space)
    assert plain.is_exact
    joint, source = robot.joint_names[:2]
    assert lc.locked_joint(robot, joint).is_exact
    assert lc.linear_coupling(robot, joint, {source: 1.0}).is_exact
    twin = lc.Affine(np.array([[-2.0, 1.0]]), [-0.1], space)
    assert not replace(plain, implicit=twin).is_exact


def test_a_function_declares_which_blocks_are_rotation_vectors() -> None:
    robot = arm_and_box()
    assert PoseFromRows().rotation_vector_blocks == (slice(3, 6),)
    assert lc.Position(robot, "gripper").rotation_vector_blocks == ()
    pose = lc.explicit_relative_pose(robot, "gripper", "handle")
    assert pose.wrapped_rotation_vectors == (slice(3, 6),)
    assert replace(pose, mask=[1, 1, 1, 1, 1, 0]).wrapped_rotation_vectors == ()
    assert pose.twin.wrapped_rotation_vectors == ()


@pytest.mark.parametrize("anchor", [None, [0.3, 0.1, 0.2]], ids=["free", "anchored"])
def test_a_contact_has_the_rates_that_a_set_has(anchor: list[float] | None) -> None:
    robot, rng = two_arms(), np.random.default_rng(3)
    frame = robot.frame_names[-1]
    for contact in (
        PointContact(robot, frame, anchor=anchor),
        SurfaceContact(robot, frame, None if anchor is None else [*anchor, 0.0, 0.0, 0.0, 1.0]),
    ):
        rows = ConstraintSet(robot, [contact])
        assert contact.has_position == (anchor is not None)
        if anchor is None:
            error, J = np.ones(contact.group.nv), np.ones((contact.group.nv, robot.nv))
            contact.write_position(robot.at(robot.neutral), None, error, J)
            assert not error.any()
            assert not J.any()
            contact.write_position(robot.at(robot.neutral), None, np.ones(contact.group.nv), None)
        q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        np.testing.assert_allclose(contact.residual(q), rows.position_error(q), atol=1e-12)
        np.testing.assert_allclose(contact.residual_rate(q, v), rows.velocity_error(q, v), atol=1e-12)
        second = rows.drift(q, v) + rows.jacobian(q) @ a
        np.testing.assert_allclose(contact.residual_acceleration(q, v, a), second, atol=1e-10)
        pose, twist, _ = contact.motion(q, v)
        np.testing.assert_allclose(pose.homogeneous, contact.pose(q).homogeneous, atol=1e-12)
        np.testing.assert_allclose(contact.constraint_matrices(q)[1] @ twist, contact.residual_rate(q, v), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "given", "kept"),
    [
        (lambda x: lc.Implicit.equal(lc.Position(two_arms(), FRAME), x), np.ones(3), lambda made: made.rhs),
        (lambda x: lc.Implicit(lc.Position(two_arms(), FRAME), mask=x), np.ones(3, bool), lambda made: made.mask),
        (lambda x: PointContact(two_arms(), FRAME, x), np.eye(3)[2], lambda made: made.anchored(Q).normal),
        (lambda x: SurfaceContact(two_arms(), FRAME, x), np.eye(4), lambda made: made.anchor),
        (lambda x: Cost(lc.Position(two_arms(), FRAME), x), np.ones(3), lambda made: made.reference),
        (lambda x: Cost(lc.Position(two_arms(), FRAME), activation=x), np.ones(3), lambda made: made.activation),
        (lambda x: StageConstraint(lc.Position(two_arms(), FRAME), upper=x), np.ones(3), lambda made: made.bounds[1]),
    ],
)
def test_what_a_caller_does_to_an_array_later_is_not_seen(make: Any, given: Any, kept: Any) -> None:
    """One array, filled again for each of many constraints, is not the last one for all of them."""
    made, before = make(given), given.copy()
    given[...] = 0.0
    np.testing.assert_array_equal(kept(made), before)


def test_arrays_of_the_standard_library_are_copied_too() -> None:
    given = array("d", [1.0, 2.0])
    made = lc.Implicit.equal(lc.Affine(np.eye(2)), given)
    given[0] = 5.0
    assert list(made.rhs) == [1.0, 2.0]  # pyright: ignore[reportArgumentType, reportUnknownArgumentType]


ROBOT = arm_and_box()
STATE = ROBOT.random(np.random.default_rng(4)), *np.random.default_rng(5).normal(size=(2, ROBOT.nv))
HAND, HOLD = lc.Position(ROBOT, "gripper"), lc.Pose(ROBOT, "gripper", reference="handle")
PLACE, AWAY = HAND.value(STATE[0]), np.array([0.1, -0.1, 0.2])
UNITS = [1.0, 2.0, 3.0, 0.5, 1.0, 2.0]
HELD = lc.explicit_relative_pose(ROBOT, "gripper", "handle")
AXIS = HELD.measured.value(STATE[0])[3:] / np.linalg.norm(HELD.measured.value(STATE[0])[3:])


def product(q: np.ndarray) -> np.ndarray:
    return np.array([np.sin(q[0]) * q[1]])


@pytest.mark.parametrize(
    ("owner", "rhs", "by_formulas"),
    [
        (lc.Implicit.equal(HAND), PLACE + AWAY, True),
        (lc.Implicit(HAND, scale=[2.0, 3.0, 0.5], lower=PLACE + AWAY), None, True),  # the second row holds
        (lc.Implicit(HAND, scale=[2.0, 3.0, 0.5], upper=PLACE + AWAY), None, True),  # and here the first
        (lc.Implicit.equal(HOLD), SE3.exp([0.2, 0.1, -0.3, 0.4, 0.2, 0.1]), True),
        (lc.Implicit(HOLD, scale=UNITS, mask=[1, 1, 0, 1, 1, 1]), None, True),
        (lc.Implicit(HOLD, lower=[-9, 9, 0, -4, 0, -0.1], upper=[9, 10, 0, 4, 0, 0.1]), None, True),
        (PointContact(ROBOT, "gripper"), None, True),
        (SurfaceContact(ROBOT, "gripper", [0.3, 0.1, 0.2, 0.0, 0.0, 0.0, 1.0]), None, True),
        (HELD, None, True),
        (HELD, np.r_[0.1, 0.2, 0.3, 0.5 * AXIS], True),
        (HELD, np.r_[0.1, 0.2, 0.3, -3.0 * AXIS], False),  # whole turns are taken
        (lc.Implicit.equal(lc.Function.from_callable(product, ROBOT.space, Rn(1), trace=False)), None, False),
    ],
)  # fmt: skip
def test_slopes_of_rows_are_their_differences(owner: RowOwner, rhs: Any, by_formulas: bool) -> None:
    """Of velocity and acceleration rows by q and v, and of forces by q, with a right-hand side that moves."""
    (q, v, a), rng, k, n = STATE, np.random.default_rng(6), owner.group.nv, ROBOT.nv
    reference = Reference(rhs, *(rng.normal(size=(2, k)) if rhs is not None else (None, None)))
    y = rng.normal(size=k) * owner.rows.mask

    def at(step: np.ndarray, faster: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        motion, J = ROBOT.at(ROBOT.space.integrate(q, step), v + faster), np.zeros((k, n))
        rate, second = np.zeros((2, k))
        owner.write_velocity(motion, reference, rate, J)
        owner.write_acceleration(motion, reference, second, J)
        return rate, second + J @ a, y @ J, J.copy()

    def differences(i: int, f: Any) -> np.ndarray:
        return np.array([sum(factor * f(step * e)[i] for step, factor in FIVE_POINTS) for e in np.eye(n)]).T

    found = owner.slopes(ROBOT.at(q, v), reference, a, y)
    counted = owner.rows.mask
    assert found.is_exact == by_formulas
    for mine, truth in (
        (found.jacobian, at(np.zeros(n))[3]), (found.rate, differences(0, at)), (found.by_q, differences(1, at)),
        (found.by_v, differences(1, lambda e: at(np.zeros(n), e))),
    ):  # fmt: skip
        np.testing.assert_allclose(mine[counted], truth[counted], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(found.force, differences(2, at), rtol=1e-7, atol=1e-7)
