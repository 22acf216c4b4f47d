"""Owners of rows: one root evaluates, nobody overrides; what is known to be exact; rows of contacts without anchor."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from explicit_samples import arm_and_box
from robots import two_arms

import constraints as lc
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
from liegroups import Rn, Segments


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
