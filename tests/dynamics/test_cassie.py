"""Cassie on one foot: its four loops, a contact of the foot and rows of one side in one stacked Jacobian."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from models.test_mechanism_files import path_of

from constraints import Frame, Implicit, Position
from constraints.dynamics import DynamicsStatus, Method, MethodError, forward_dynamics
from constraints.loops import AssemblyOptions, ConstraintSet, PointContact, assemble_position
from constraints.models import load

pytest.importorskip("mujoco")

ANY = (Method.AUTOMATIC, Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE)


@functools.cache
def cassie() -> tuple[ConstraintSet, Any, Any, Any]:
    """Loops and the contact, and a state that satisfies them, from the closed keyframe."""
    mechanism = load(path_of("cassie_mjcf"))
    robot, loops = mechanism.robot, mechanism.constraint_set()
    start = np.array(mechanism.postures["home" if "home" in mechanism.postures else "qpos0"])
    q = assemble_position(loops, start, options=AssemblyOptions(tolerance=1e-13, max_iterations=50)).or_raise().q
    joint = list(robot.model.names).index("left-foot")
    sole = Frame("sole", joint, pin.SE3(np.eye(3), np.array([0.01, 0.08, 0.02])), "left-foot")
    rows = ConstraintSet(robot, [*loops.stack, PointContact(robot, sole, name="sole").anchored(q)])
    rng = np.random.default_rng(3)
    J = rows.jacobian(q)
    v = rng.standard_normal(robot.nv)
    v -= np.linalg.pinv(J, 1e-8) @ (J @ v)
    return rows, q, v, 5.0 * rng.standard_normal(robot.nv)


@functools.cache
def by_pinocchio() -> tuple[Any, list[Any]]:
    """Acceleration, and the force of each anchor on its second body (the foot, for the contact), in world axes."""
    rows, q, v, tau = cassie()
    model, models, kinds = rows.robot.model, [], pin.ContactType.CONTACT_3D
    for owner in rows.stack:
        a: Any = owner.predecessor  # type: ignore[attr-defined]
        b: Any = owner.successor  # type: ignore[attr-defined]
        if a.joint:
            models.append(pin.RigidConstraintModel(kinds, model, a.joint, a.placement, b.joint, b.placement, pin.LOCAL))
        else:
            models.append(pin.RigidConstraintModel(kinds, model, b.joint, b.placement, pin.LOCAL))
    data, datas = model.createData(), [m.createData() for m in models]
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1e-7, 500)
    a = np.array(pin.constraintDynamics(model, data, q, v, tau, models, datas, settings))
    forces = []
    for owner, force in zip(rows.stack, np.array(data.lambda_c).reshape(-1, 3), strict=True):
        of: Any = owner.predecessor if owner.predecessor.joint else owner.successor  # type: ignore[attr-defined]
        turned = (data.oMi[of.joint] * of.placement).rotation @ force
        forces.append(-turned if owner.predecessor.joint else turned)  # type: ignore[attr-defined]
    return a, forces


@pytest.mark.parametrize("method", ANY)
def test_loops_and_a_contact_are_one_stacked_jacobian(method: Method) -> None:
    """Closed loop 22: fifteen rows of rank thirteen; accelerations and forces of pinocchio on the same anchors."""
    rows, q, v, tau = cassie()
    result = forward_dynamics(rows, rows.robot.at(q, v), tau, method=method)
    a, forces = by_pinocchio()
    assert rows.size == 15
    assert result.status is DynamicsStatus.RANK_DEFICIENT
    assert result.rank == 13
    assert len(result.redundant_rows) == 2
    assert all(name.startswith(("connect left", "connect right")) for name in result.redundant_rows)
    assert np.abs(result.acceleration - a).max() < 1e-7 * np.abs(a).max()
    size = max(np.abs(force).max() for force in forces)
    for owner, force in zip(rows.stack, forces, strict=True):
        ours = result.wrench(owner)[:3]
        R = rows.robot.at(q).placement(owner.successor).rotation  # type: ignore[attr-defined]
        assert np.abs(R @ ours - force).max() < 1e-6 * size


def test_the_contact_alone_is_taken_by_test_forces() -> None:
    """Closed loop 22: the loops are named where a method takes contacts only; without them it agrees."""
    rows, q, v, tau = cassie()
    with pytest.raises(MethodError, match="connect left-plantar-rod left-foot"):
        forward_dynamics(rows, rows.robot.at(q, v), tau, method=Method.TEST_FORCES)
    open_ = rows.switched(on=["sole"])
    one = forward_dynamics(open_, open_.robot.at(q, v), tau, method=Method.TEST_FORCES)
    other = forward_dynamics(open_, open_.robot.at(q, v), tau, method=Method.DIRECT)
    assert np.abs(one.acceleration - other.acceleration).max() < 1e-8 * np.abs(other.acceleration).max()


@pytest.mark.parametrize("method", ANY)
def test_rows_of_one_side_act_only_where_they_are_violated(method: Method) -> None:
    """Closed loop 22: limits beside loops and contact: no row, no rank, no force where they hold."""
    rows, q, v, tau = cassie()
    robot = rows.robot
    free = forward_dynamics(rows, robot.at(q, v), tau, method=method)
    height = float(robot.at(q).placement("right-foot").translation[2])
    for limit, acts in ((height - 0.05, False), (height + 0.05, True)):
        above = Implicit.above(Position(robot, "right-foot"), limit, mask=[False, False, True], name="foot up")
        both = ConstraintSet(robot, [*rows.stack, above]).stabilised(0.1, "foot up")
        result = forward_dynamics(both, robot.at(q, v), tau, method=method)
        assert result.rank == 13 + acts
        assert bool(result.multipliers_of("foot up").any()) is acts
        if acts:
            missed = both.jacobian(q) @ result.acceleration - result.system.gamma
            assert np.abs(missed).max() < 1e-9 * np.abs(result.acceleration).max()
        else:
            assert np.abs(result.acceleration - free.acceleration).max() < 1e-9 * np.abs(free.acceleration).max()
