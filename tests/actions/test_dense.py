"""Contact dynamics as actions where no array is stored, or where Crocoddyl or pinocchio are wrong.

Oracle: a dense saddle point by numpy and plain pinocchio, with central differences (`dense.py`); it shares no code with
the library. Cases 2 (all of Talos), 3, 4, 9, 10, 12 and 13 of the acceptance list of contact dynamics.
"""

# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOptionalOperand=false
# pyright: reportOptionalCall=false, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.dense import Dense, DenseContact, error
from crocoddyl_cases import robot_of
from robots import needs_robot_data, panda, talos

from constraints import Robot
from constraints.actions import Actuators, ContactForwardDynamics
from constraints.loops import Axes, Baumgarte, ConstraintSet, Form, PointContact, SurfaceContact

TCP, HAND = "panda_hand_tcp", "panda_hand"
SOLES = ("left_sole_link", "right_sole_link")


@dataclass(frozen=True)
class Held:
    """One contact, for both sides."""

    frame: str
    kind: str
    mask: tuple[int, ...] | None = None
    error_in_world: bool = False


def both(
    robot: Robot,
    held: list[Held],
    seed: int,
    axes: Axes = Axes.LOCAL,
    gains: tuple[float, float] = (0.0, 0.0),
    damping: float = 0.0,
    armature: float = 0.0,
    away: float = 0.5,
) -> tuple[ContactForwardDynamics, Dense, Any, Any, Any]:
    """The action, the oracle, and a state with a control."""
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    is_free = robot.nq != robot.nv
    actuators = Actuators.floating_base(robot) if is_free else Actuators.full(robot)
    u = 5.0 * rng.standard_normal(actuators.nu)
    owners: list[Any] = []
    known: list[DenseContact] = []
    aligned = axes is Axes.LOCAL_WORLD_ALIGNED
    for i, one in enumerate(held):
        there: Any = robot.at(q).placement(one.frame)
        ref = there * pin.exp6(away * rng.standard_normal(6))
        is_point = one.kind == "3D"
        size = 3 if is_point else 6
        mask = None if one.mask is None else [row in one.mask for row in range(size)]
        options: dict[str, Any] = {"axes": axes, "form": Form.RATES, "mask": mask, "name": f"{one.frame} {i}"}
        if is_point:
            if one.error_in_world:
                options["error_axes"] = Axes.LOCAL_WORLD_ALIGNED
            owners.append(PointContact(robot, one.frame, anchor=ref.translation, **options))
        else:
            owners.append(SurfaceContact(robot, one.frame, anchor=ref, **options))
        rows = tuple(range(size)) if one.mask is None else one.mask
        known.append(DenseContact(one.frame, rows, ref, is_point, aligned, one.error_in_world))
    rows_of = ConstraintSet(robot, owners).stabilised(Baumgarte(*gains))
    action = ContactForwardDynamics(
        robot, actuators, rows_of, damping=damping, armature=armature, with_force_derivatives=True
    )
    dense = Dense(robot.model, known, actuators.B(q), gains, damping, armature)
    return action, dense, q, v, u


def agree(action: ContactForwardDynamics, dense: Dense, q: Any, v: Any, u: Any) -> None:
    """Values to 1e-10, derivatives to 1e-7 of differences, by pinocchio's calls where they serve, and by own rows."""
    agree_once(action, dense, q, v, u)
    if action.calc(action.state.join(q, v), u).trace is not None:
        agree_once(action.replace(rhs=action.constraint_set.rhs), dense, q, v, u)


def agree_once(action: ContactForwardDynamics, dense: Dense, q: Any, v: Any, u: Any) -> None:
    """One way."""
    done = action.calc(action.state.join(q, v), u).or_raise()
    found, known = action.calc_diff(done).or_raise(), dense.slopes(q, v, u)
    a, multipliers = dense.solve(q, v, u)
    assert error(done.acceleration, a) < 1e-10
    assert error(done.multipliers, multipliers) < 1e-10
    assert error(found.Fx, known["Fx"]) < 1e-7
    assert error(found.Fu, known["Fu"]) < 1e-7
    assert error(found.multipliers_x, known["df_dx"]) < 1e-7
    assert error(found.multipliers_u, known["df_du"]) < 1e-7


AXES = pytest.mark.parametrize("axes", list(Axes), ids=lambda axes: axes.name)
TALOS_LEGS = "talos_legs"


@needs_robot_data
@AXES
@pytest.mark.parametrize("gains", [(0.0, 0.0), (40.0, 9.0)])
def test_case_2_all_of_talos(axes: Axes, gains: tuple[float, float]) -> None:
    agree(*both(talos(), [Held(sole, "6D") for sole in SOLES], 0, axes, gains))


@needs_robot_data
@AXES
def test_case_3_panda_with_gains_damping_and_armature(axes: Axes) -> None:
    agree(*both(panda(), [Held(TCP, "6D")], 1, axes, (30.0, 7.0), 1e-4, 0.05))


MASKS = [(0,), (2,), (0, 2), (1, 2)]


@needs_robot_data
@AXES
@pytest.mark.parametrize("mask", MASKS)
def test_case_4_masks_of_a_point(axes: Axes, mask: tuple[int, ...]) -> None:
    """1D and 2D are rows of one 3D contact."""
    agree(*both(panda(), [Held(TCP, "3D", mask)], 2, axes, (30.0, 7.0)))


@needs_robot_data
@AXES
@pytest.mark.parametrize("mask", [(2,), (0, 1, 2, 3, 4), (0, 1, 5), (3, 4, 5)])
def test_case_4_masks_of_a_surface(axes: Axes, mask: tuple[int, ...]) -> None:
    """Rows of one 6D contact, among them the line contact of five that users ask Crocoddyl for."""
    agree(*both(panda(), [Held(TCP, "6D", mask)], 3, axes, (30.0, 7.0)))


@needs_robot_data
def test_case_4_a_mask_of_one_row_is_a_normal() -> None:
    robot, rng = panda(), np.random.default_rng(0)
    x = np.concatenate([robot.random(rng), rng.standard_normal(9)])
    anchor = [0.3, 0.1, 0.2]
    made = []
    for options in ({"normal": [0.0, 0.0, 1.0]}, {"mask": [False, False, True]}):
        contact = PointContact(robot, TCP, anchor=anchor, axes=Axes.LOCAL, form=Form.RATES, **options)
        rows = ConstraintSet(robot, [contact]).stabilised(0.1)
        made.append(ContactForwardDynamics(robot, None, rows).calc(x, np.zeros(9)).acceleration)
    assert np.array_equal(*made)


@AXES
def test_case_9_a_surface_far_from_its_reference_with_gains(axes: Axes) -> None:
    """Pinocchio 4.1 is off by 1 in world axes."""
    agree(*both(robot_of(TALOS_LEGS), [Held(sole, "6D") for sole in SOLES], 4, axes, (40.0, 9.0), away=0.5))


@AXES
@pytest.mark.parametrize("kind", ["3D", "6D"])
def test_case_10_damping_in_any_axes(axes: Axes, kind: str) -> None:
    """Pinocchio 4.1 is off by 1e-2 in world axes; loops are in `test_loops.py`."""
    agree(*both(robot_of(TALOS_LEGS), [Held(sole, kind) for sole in SOLES], 5, axes, damping=1e-3))


@needs_robot_data
@AXES
@pytest.mark.parametrize("damping", [1e-2, 1e-4])
def test_case_12_two_contacts_on_one_joint(axes: Axes, damping: float) -> None:
    """Crocoddyl is off by 0.5: wrenches of one joint overwrite each other there."""
    agree(*both(panda(), [Held(TCP, "3D"), Held(HAND, "3D")], 6, axes, damping=damping))


@needs_robot_data
@pytest.mark.parametrize("gains", [(0.0, 0.0), (0.0, 7.0), (30.0, 7.0)])
def test_case_13_the_2d_contact_of_crocoddyl(gains: tuple[float, float]) -> None:
    """Rows x and z of the frame, with the position error in world axes: value and derivatives."""
    agree(*both(panda(), [Held(TCP, "3D", (0, 2), error_in_world=True)], 7, Axes.LOCAL, gains))


@pytest.mark.parametrize("axes", list(Axes))
def test_wrenches_and_their_derivatives(axes: Axes) -> None:
    """Of one contact, in both axes and seen from another frame, against differences of the calculation's wrench."""
    from actions.dense import differences

    action, _, q, v, u = both(robot_of(TALOS_LEGS), [Held(sole, "6D") for sole in SOLES], 9, axes, (40.0, 9.0))
    x = action.state.join(q, v)
    found = action.calc_diff(action.calc(x, u))
    for seen in Axes:
        for frame in (None, "right_sole_link"):
            args: Any = ("left_sole_link 0", "successor", seen, frame)
            by_x = differences(lambda d, a=args: action.calc(action.state.integrate(x, d), u).wrench(*a), 36)
            by_u = differences(lambda d, a=args: action.calc(x, u + d).wrench(*a), 12)
            mine = found.wrench(*args)
            assert error(mine.by_x, by_x) < 1e-7
            assert error(mine.by_u, by_u) < 1e-7
