"""Two feet on a rough floor: what sticks, slips and leaves, against all that they can do, tried one by one."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Robot, Target
from constraints.dynamics import Floor, JointLaw, simulate
from constraints.dynamics.events.sides import SeenSides, Standing
from constraints.dynamics.events.unilateral import Unilateral
from constraints.functions import Affine

FEET = ("left foot", "right foot")
SHARE = 1e-7


def on_two_feet(rng: np.random.Generator) -> tuple[Robot, Any]:
    """A trunk in a plane on two legs of 0.5 m, both feet at the height zero, and its configuration."""
    model = pin.Model()
    trunk = 0
    for kind, name in ((pin.JointModelPX(), "x"), (pin.JointModelPZ(), "z"), (pin.JointModelRY(), "pitch")):
        trunk = model.addJoint(trunk, kind, pin.SE3.Identity(), name)
    lever = np.array([rng.uniform(-0.2, 0.2), 0.0, rng.uniform(-0.1, 0.3)])
    model.appendBodyToJoint(trunk, pin.Inertia(rng.uniform(1.0, 5.0), lever, 0.05 * np.eye(3)), pin.SE3.Identity())
    angles = rng.uniform(-0.6, 0.6, 2)
    for x, name in ((-0.2, "left"), (0.2, "right")):
        leg = model.addJoint(trunk, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])), name)
        body = pin.Inertia(rng.uniform(0.1, 1.0), np.array([0.0, 0.0, -0.2]), 0.01 * np.eye(3))
        model.appendBodyToJoint(leg, body, pin.SE3.Identity())
        foot = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5]))
        model.addFrame(pin.Frame(f"{name} foot", leg, 0, foot, pin.FrameType.OP_FRAME))
    robot = Robot(model)
    left, right = (robot.at([0.0, 0.0, 0.0, *angles]).placement(foot).translation for foot in FEET)
    pitch = np.arctan2(right[2] - left[2], right[0] - left[0])
    q = np.array([0.0, 0.0, pitch, *angles])
    q[1] = -robot.at(q).placement(FEET[0]).translation[2]
    return robot, q


def mass_and_rows(robot: Robot, q: Any) -> tuple[Any, Any]:
    """Mass matrix, and the Jacobian of each foot along x and z."""
    model: Any = robot.model
    data, axes = model.createData(), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    rows = [pin.computeFrameJacobian(model, data, q, model.getFrameId(foot), axes)[[0, 2]] for foot in FEET]
    upper = np.triu(pin.crba(model, data, q))
    return upper + np.triu(upper, 1).T, rows


def constant(torque: Any, q: Any, v: Any) -> Any:
    return torque


def right_ones(robot: Robot, q: Any, tau: Any, mu: float) -> set[tuple[str, ...]]:
    """What both feet do at rest, where all laws hold: enumerated, and solved by numpy."""
    M, rows = mass_and_rows(robot, q)
    h = pin.rnea(robot.model, robot.model.createData(), q, np.zeros(5), np.zeros(5))
    found = set[tuple[str, ...]]()
    for ways in product(("sticks", "+", "-", "away"), repeat=2):
        pushes, held = [np.zeros((0, 5))], [np.zeros((0, 5))]
        for way, (x, z) in zip(ways, rows, strict=True):
            if way != "away":
                held.append(np.array([z, x] if way == "sticks" else [z]))
                pushes.append(held[-1] if way == "sticks" else np.array([z - {"+": mu, "-": -mu}[way] * x]))
        D, C = np.concatenate(pushes), np.concatenate(held)
        zero = np.zeros((len(C), len(C)))
        solved = np.linalg.solve(np.block([[M, -D.T], [C, zero]]), np.concatenate([tau - h, np.zeros(len(C))]))
        a, forces, good = solved[:5], iter(solved[5:].tolist()), True
        for way, (x, z) in zip(ways, rows, strict=True):
            push = next(forces) if way != "away" else 0.0
            good &= push > 0.0 or (way == "away" and z @ a > 0.0)
            good &= abs(next(forces)) < mu * push if way == "sticks" else way == "away" or (x @ a > 0.0) == (way == "+")
        if good:
            found.add(tuple("slips" if way in "+-" else way for way in ways))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_what_two_feet_do_from_rest_obeys_all_laws(seed: int) -> None:
    """Changed one by one, a quarter ended in a foot that pulls, friction that drives, or a jam that is none."""
    rng, judged = np.random.default_rng(seed), 0
    for _ in range(20):
        robot, q = on_two_feet(rng)
        tau, mu = np.array([0.0, 0.0, 0.0, *rng.normal(size=2) * 6.0]), rng.uniform(0.2, 1.0)
        ways = right_ones(robot, q, tau, mu)
        if len(ways) == 1:
            laws = [JointLaw(robot, name, partial(constant, [tau[i]])) for i, name in ((3, "left"), (4, "right"))]
            floor = Floor(robot, FEET, friction=mu, laws=laws)
            assert tuple(floor.states(floor.start(q, np.zeros(5))).values()) in ways
            judged += 1
    assert judged > 10


@pytest.mark.parametrize("stands", [True, False])
def test_impulses_on_two_feet_push_within_the_cone_of_friction(stands: bool) -> None:
    """The left foot comes down while the right one stands, or comes down with it."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        robot, q = on_two_feet(rng)
        M, rows = mass_and_rows(robot, q)
        mu, first = rng.uniform(0.1, 0.8), rng.normal(size=5)
        wanted = [-rng.uniform(0.1, 2.0), *((0.0, 0.0) if stands else (-rng.uniform(0.1, 2.0), rng.normal()))]
        seen_rows = np.array([rows[0][1], rows[1][1], rows[1][0]])
        v = first + np.linalg.pinv(seen_rows) @ (wanted - seen_rows @ first)
        floor = Floor(robot, FEET, friction=mu)
        right = np.array([False, stands])
        holds = floor._sides.switched(floor._all, Standing(right, right))
        after, _ = Unilateral(floor._sides).touched(SeenSides(floor._sides, robot.at(q, v), 0.0, holds), 0)
        jump = M @ (after.v - v)
        (left_x, left_z), (right_x, right_z) = np.linalg.lstsq(np.concatenate(rows).T, jump)[0].reshape(2, 2)
        little = SHARE * max(abs(left_z), abs(right_z))
        assert min(left_z, right_z) >= -little
        assert abs(left_x) <= mu * left_z + little
        assert abs(right_x) <= mu * right_z + little
        assert min(z @ after.v for _, z in rows) > -SHARE
        assert after.v @ M @ after.v <= v @ M @ v


def test_a_foot_slips_where_driven_legs_spread_both() -> None:
    """Both legs follow their motors: were both feet stuck, rows would contradict each other."""
    robot, q = on_two_feet(np.random.default_rng(3))
    faster = Target(lambda t: [q[3] + 0.5 * t**2, q[4] - 0.5 * t**2], lambda t: [t, -t], lambda t: [1.0, -1.0])
    legs = Implicit.equal(Affine(np.eye(5)[3:], np.zeros(2), robot.space), faster, name="legs")
    floor = Floor(robot, FEET, friction=0.6, constraints=[legs])
    holds = floor.start(q, np.zeros(5))
    assert "slips" in floor.states(holds).values()
    record = simulate(holds, q, np.zeros(5), 0.2, forces=floor.forces, events=floor.events).or_raise()
    assert record.q[3] == pytest.approx(q[3] + 0.02)
