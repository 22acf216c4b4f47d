"""A closure onto a free body as a joint of the tree: mobility, state, accelerations, refusals."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from linkages import PREDECESSOR, SUCCESSOR, arm_and_body_model
from loops.test_hinges import HINGES
from samples import placement

from constraints import Frame, Robot, Target, loops
from constraints.errors import WrongObjectError
from constraints.loops.physical_joint import NotAJointError


@functools.cache
def robot() -> Robot:
    """With frames on both, and armatures and bounds that a conversion has to keep."""
    model, rng = arm_and_body_model(), np.random.default_rng(5)
    model.addFrame(pin.Frame("hand", 3, 0, placement(91), pin.FrameType.OP_FRAME))
    model.armature[:] = rng.uniform(0.0, 0.1, model.nv)
    model.armature[2:8] = 0.0
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = -1.0, 1.0
    return Robot(model, "arm and body").with_frame("added", "base", placement(92))


def apart(one: Any, other: Any) -> float:
    return float(np.abs(one.homogeneous - other.homogeneous).max())


def accelerations(rows: loops.ConstraintSet, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of the old robot under gravity alone, by the saddle-point system of plain pinocchio."""
    model: Any = rows.robot.model
    d = model.createData()
    M = np.array(pin.crba(model, d, q))
    M = np.triu(M) + np.triu(M, 1).T
    h, J, drift = np.array(pin.nonLinearEffects(model, d, q, v)), rows.jacobian(q), rows.drift(q, v)
    K = np.block([[M, J.T], [J, np.zeros((len(drift), len(drift)))]])
    return np.linalg.lstsq(K, np.concatenate([-h, -drift]), rcond=None)[0][: model.nv]


@pytest.mark.parametrize("reverse", [False, True], ids=["successor", "predecessor"])
@pytest.mark.parametrize("name", HINGES)
def test_the_joint_is_the_closure(name: str, reverse: bool) -> None:
    """Case 12: same mobility, same places and speeds after conversion, same accelerations, both polarities."""
    old, rng = robot(), np.random.default_rng(7)
    sides = (SUCCESSOR, PREDECESSOR) if reverse else (PREDECESSOR, SUCCESSOR)
    closure = loops.Closure(old, *sides, HINGES[name], name="loop")
    joint = loops.to_joint(closure, reverse=reverse)
    rows = loops.ConstraintSet(old, [closure])
    q = old.random(rng)
    if closure.group.nv:
        q = loops.assemble_position(rows, q).or_raise().q
    v = loops.assemble_velocity(rows, q, rng.standard_normal(old.nv))
    assert joint.robot.nv == old.nv - np.linalg.matrix_rank(rows.jacobian(q), 1e-8)
    after, rates = joint.state(q, v)
    back, speed = joint.original(after, rates)
    assert np.abs(old.space.difference(q, back)).max() < 1e-11
    assert np.abs(v - speed).max() < 1e-10
    for frame in ("tip", "hand", "added", "two", "base"):
        ours, theirs = joint.robot.at(after, rates), old.at(q, v)
        there = old.frame(frame)
        assert apart(ours.posture.placement(joint.frame(frame)), theirs.posture.placement(there)) < 1e-11
        assert np.abs(ours.velocity(joint.frame(frame)) - theirs.velocity(there)).max() < 1e-10
        assert apart(joint.robot.at(after).placement(joint.robot.frame(frame)), old.at(q).placement(there)) < 1e-11
    d = joint.robot.model.createData()
    found = pin.aba(joint.robot.model, d, after, rates, np.zeros(joint.robot.nv))
    expected = accelerations(rows, q, v)
    for kept in ("one", "two", "tail"):
        gap = found[joint.robot.velocity_slice_of(kept)] - expected[old.velocity_slice_of(kept)]
        assert np.abs(gap).max() < 1e-8 * (1.0 + np.abs(expected).max())


def test_open_closures_take_the_hinge_that_fits_best() -> None:
    """An open configuration is converted to the fitted coordinates, bounds and armature stay with their joints."""
    old = robot()
    closure = loops.Closure(old, PREDECESSOR, SUCCESSOR, HINGES["pin"], name="loop")
    joint = loops.to_joint(closure, name="elbow")
    q = old.random(np.random.default_rng(1))
    after = joint.configuration(q)
    assert after[joint.robot.slice_of("elbow")] == pytest.approx(closure.hinge_motion(q).coordinates)
    assert (after[joint.robot.slice_of("tail")] == q[old.slice_of("tail")]).all()
    model: Any = joint.robot.model
    source: Any = old.model
    for kept in ("one", "two", "tail"):
        assert model.armature[joint.robot.velocity_slice_of(kept)] == source.armature[old.velocity_slice_of(kept)]
        assert joint.robot.bounds.upper[joint.robot.slice_of(kept)] == 1.0


def test_what_would_not_stay_a_tree_is_refused_with_the_reason() -> None:
    """Case 12: refusal when the child is no free base, or carries its parent; and of other closures."""
    old = robot()
    pin_joint = HINGES["pin"]
    with pytest.raises(NotAJointError, match=r"predecessor is on joint 'two'.*successor is one: leave reverse out$"):
        loops.to_joint(loops.Closure(old, PREDECESSOR, SUCCESSOR, pin_joint), reverse=True)
    with pytest.raises(NotAJointError, match=r"the world.*reverse=True"):
        loops.to_joint(loops.Closure(old, SUCCESSOR, placement(1), pin_joint))
    model: Any = pin.Model()
    for i, (name, parent, joint) in enumerate(
        [("arm", 0, pin.JointModelRZ()), ("tray", 1, pin.JointModelFreeFlyer()), ("base", 0, pin.JointModelFreeFlyer())]
    ):
        model.addJoint(parent, joint, placement(i), name)
    three = Robot(model, "tray on an arm")
    frames = {name: Frame(name, i + 1, placement(i), name) for i, name in enumerate(("arm", "tray", "base"))}
    for child in ("arm", "tray"):
        only = f"is on joint '{child}', and only a base body on a free-flyer can become the child; "
        turned = "reverse=True makes it the child, by the inverse joint$"
        with pytest.raises(NotAJointError, match=f"successor {only}its predecessor is one: {turned}"):
            loops.to_joint(loops.Closure(three, frames["base"], frames[child], pin_joint))
        assert loops.to_joint(loops.Closure(three, frames["base"], frames[child], pin_joint), reverse=True).joint
        with pytest.raises(NotAJointError, match=f"predecessor {only}its successor is one: leave reverse out$"):
            loops.to_joint(loops.Closure(three, frames[child], frames["base"], pin_joint), reverse=True)
        other = frames["tray" if child == "arm" else "arm"]  # no advice where neither way does it
        with pytest.raises(NotAJointError, match=f"successor {only}nor is its predecessor$"):
            loops.to_joint(loops.Closure(three, other, frames[child], pin_joint))
    assert loops.to_joint(loops.Closure(three, frames["tray"], frames["base"], pin_joint)).robot.nv == 1 + 6 + 1
    with pytest.raises(NotAJointError, match="carries the other body"):
        loops.to_joint(loops.Closure(old, "tip", SUCCESSOR, pin_joint))
    with pytest.raises(WrongObjectError, match="Closure"):
        loops.to_joint(loops.PointClosure(old, PREDECESSOR, SUCCESSOR))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_closure_that_follows_a_target_is_no_joint() -> None:
    """Its rows are held at other values in time: the joint dropped them without a word."""
    closure = loops.Closure(robot(), PREDECESSOR, SUCCESSOR, loops.Hinge.pin(), name="loop")
    driven = replace(closure, target=Target(lambda t: np.full(5, 0.1 * t)))
    assert loops.to_joint(closure).joint == closure.name
    with pytest.raises(NotAJointError, match="follow a target"):
        loops.to_joint(driven)
