# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A humanoid in a ditch: it balances by friction on two slopes, reaches, and looks at its hand.

    python examples/balance_on_slopes.py            # prints what it does
    python examples/balance_on_slopes.py --plot OUT.png   # draws start and result too
    python examples/balance_on_slopes.py --check    # the same; fails if something is not as it should be

The robot is Talos where example-robot-data is installed, else pinocchio's sample humanoid. Both slopes are steeper than
their friction holds, so neither foot can stand alone; together they press against each other. Where the centre of mass
may be is a question of contact forces here (`StaticStability`), no polygon. The gaze is a formula of functions.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from constraints import (
    Base,
    ConstraintError,
    Frame,
    Implicit,
    Pose,
    Position,
    Problem,
    Projection,
    Projector,
    Robot,
    Rotation,
    rigid_transform,
)
from constraints.functions import StaticStability, StaticTorques, Support, dot, norm, rotated
from constraints.manipulation import Shape
from constraints.models import sample_humanoid
from constraints.pictures import Drawing, render

SLOPE = np.radians(20.0)
DITCH = (SLOPE, -SLOPE)
FRICTION = 0.3  # tan(20 deg) is 0.36
GAZE = np.radians(5.0)  # half of the cone in which the hand is to be seen


class Humanoid(NamedTuple):
    robot: Robot
    home: np.ndarray
    feet: tuple[Frame, Frame]  # left and right, their z axes upwards at home
    sole: np.ndarray  # corners [m]
    head: str  # looks along the x axis of this frame
    hand: str
    point: np.ndarray  # where the hand goes [m]


def humanoid() -> Humanoid:
    """Talos, or the sample humanoid, which is 4 m tall."""
    folder = "package://example-robot-data/robots/talos_data/"
    try:
        robot = Robot.from_urdf(
            folder + "robots/talos_reduced.urdf", folder + "srdf/talos.srdf", base=Base.FREE_FLYER, name="talos"
        )
        home, size = robot.reference("half_sitting"), (0.1, 0.06)
        names, head, hand = ("left_sole_link", "right_sole_link"), "head_2_link", "gripper_left_base_link"
        point = np.array([0.45, 0.25, 0.9])
    except ConstraintError as missing:
        print(f"A sample humanoid takes the place of Talos: {missing}\n")
        robot = sample_humanoid()
        home, size = robot.reference("home"), (0.3, 0.15)
        names, head, hand = ("lleg_effector_body", "rleg_effector_body"), "head2_joint", "larm_effector_body"
        point = np.array([1.2, 0.6, 0.0])
    left, right = (upright(robot, home, name) for name in names)
    sole = np.array([[x, y, 0.0] for x in (-size[0], size[0]) for y in (-size[1], size[1])])
    return Humanoid(robot, home, (left, right), sole, head, hand, point)


def upright(robot: Robot, q: np.ndarray, name: str) -> Frame:
    """The frame of this name, turned on its body so that its axes are those of the world at q."""
    oMf = robot.at(q).placement(name)
    return robot.frame(name, rigid_transform(rotation=oMf.rotation.T))


def slopes(h: Humanoid, tilts: tuple[float, float] = DITCH) -> list[pin.SE3]:
    """Where the feet stand: one sole further apart than at home, each slope turned about the x axis [rad]."""
    found = []
    for foot, tilt, side in zip(h.feet, tilts, (1.0, -1.0), strict=True):
        apart = [0.0, side * float(h.sole[:, 1].max()), 0.0]
        found.append(rigid_transform(h.robot.at(h.home).placement(foot).translation + apart, rpy=[tilt, 0.0, 0.0]))
    return found


def supports(h: Humanoid) -> list[Support]:
    """What the humanoid leans on: the corners of its soles."""
    return [Support(foot, h.sole, friction=FRICTION) for foot in h.feet]


class Wanted(NamedTuple):
    """The constraints."""

    feet: list[Implicit]
    balance: Implicit
    reach: Implicit
    gaze: Implicit


def wanted(h: Humanoid, tilts: tuple[float, float] = DITCH) -> Wanted:
    """1. What is asked for."""
    places = zip(h.feet, slopes(h, tilts), strict=True)
    feet = [Implicit.equal(Pose(h.robot, foot), place, name=str(foot)) for foot, place in places]
    balance = Implicit.zero(StaticStability(h.robot, supports(h)), name="balance")
    hand = Position(h.robot, h.hand)
    reach = Implicit.equal(hand, h.point, name="reach")
    sight = hand - Position(h.robot, h.head)
    straight = rotated(Rotation(h.robot, h.head), [1.0, 0.0, 0.0])  # where the head looks
    gaze = Implicit.above(dot(straight, sight) / norm(sight), np.cos(GAZE), name="gaze")
    return Wanted(feet, balance, reach, gaze)


def off_balance(h: Humanoid, q: np.ndarray) -> float:
    """Part of the weight that is missing in the balance of forces and moments, or that the cones cannot carry.

    Written out from the forces that the function gives, about the origin of the world.
    """
    stability = StaticStability(h.robot, supports(h))
    posture = h.robot.at(q)
    total, moment = np.zeros(3), np.zeros(3)
    slips = 0.0
    for foot, forces in zip(h.feet, stability.forces(q), strict=True):
        oMf = posture.placement(foot)
        for corner, force in zip(h.sole, forces, strict=True):
            total += force
            moment += np.cross(oMf.act(corner), force)
            local = oMf.rotation.T @ force
            slips = max(slips, np.hypot(*local[:2]) - FRICTION * local[2])
    up = np.array([0.0, 0.0, stability.weight])
    moment -= np.cross(posture.center_of_mass(), up)
    return max(np.abs(total - up).max(), np.abs(moment).max(), slips) / stability.weight


def report(h: Humanoid, result: Projection) -> None:
    """What a projection reached."""
    stability, q = StaticStability(h.robot, supports(h)), result.q
    print(f"  {result.status.name} after {result.iterations} iterations")
    for foot, forces in zip(h.feet, stability.forces(q), strict=True):
        fx, fy, fz = np.sum(forces, axis=0) / stability.weight
        print(f"  {foot}: {fz:.2f} of the weight upwards, {np.hypot(fx, fy):.2f} sideways")
    print(f"  missing: {np.linalg.norm(stability.value(q)):.1e} of the weight")
    print(f"  hand {np.linalg.norm(Position(h.robot, h.hand).value(q) - h.point):.1e} m from its point")
    print(f"  seen {angle_of_sight(h, q):.1f} deg off the middle of the view")


def angle_of_sight(h: Humanoid, q: np.ndarray) -> float:
    """Between where the head looks and where the hand is [deg]."""
    posture = h.robot.at(q)
    eye = posture.placement(h.head)
    sight = posture.placement(h.hand).translation - eye.translation
    return float(np.degrees(np.arccos(eye.rotation[:, 0] @ sight / np.linalg.norm(sight))))


def ditch(h: Humanoid) -> list[Shape]:
    """The slopes as boxes, for the picture."""
    size = (4.0 * float(h.sole[:, 0].max()), 4.0 * float(h.sole[:, 1].max()), 0.02)
    below = rigid_transform([0.0, 0.0, -0.5 * size[2]])
    return [Shape(f"slope {i}", "Box", size, placement=place * below) for i, place in enumerate(slopes(h))]


def main() -> None:
    arguments = argparse.ArgumentParser(description="A humanoid that balances by friction on two slopes.")
    arguments.add_argument("--plot", metavar="OUT.png", help="draw start and result there (extra `plot`)")
    arguments.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = arguments.parse_args()
    h, rng = humanoid(), np.random.default_rng(0)
    robot, given = h.robot, wanted(h)

    print("1. Feet on two slopes, balance by friction, a reach and a gaze")
    problem = Problem(robot, [*given.feet, given.balance, given.reach, given.gaze])
    print(problem.describe())
    start = robot.bounds.clip(robot.space.integrate(h.home, 0.2 * rng.standard_normal(robot.nv)))
    projector = Projector(problem)
    result = projector.project(start)
    report(h, result)

    print("\n2. Neither foot could stand alone: the least that is missing")
    alone = [float(np.linalg.norm(StaticStability(robot, s).value(result.q))) for s in supports(h)]
    for foot, missing in zip(h.feet, alone, strict=True):
        print(f"  {foot}: {missing:.3f} of the weight")

    print("\n3. What the joints have to hold, beside the limits of their motors")
    torques = StaticTorques(robot, supports(h))
    load = np.abs(torques.value(result.q)) / torques.limits[1]
    worst = int(load.argmax())
    print(f"  the most loaded joint carries {load[worst]:.0%} of its limit")

    print("\n4. On two slopes that fall the same way nothing helps")
    hill = wanted(h, (SLOPE, SLOPE))
    fallen = Projector(Problem(robot, [*hill.feet, hill.balance])).project(start)
    least = float(np.linalg.norm(StaticStability(robot, supports(h)).value(fallen.q)))
    print(f"  {fallen.status.name}: {least:.3f} of the weight is missing")

    print("\n5. From many starts")
    starts = robot.space.integrate(np.tile(h.home, (20, 1)), 0.3 * rng.standard_normal((20, robot.nv)))
    ends = [projector.project(robot.bounds.clip(q)) for q in starts]
    solved = [end for end in ends if end.success]
    print(f"  {len(solved)} of {len(ends)} balance; {1e3 * np.median([end.seconds for end in ends]):.0f} ms each")

    if options.plot is not None:
        drawing = Drawing(shapes=ditch(h), placements=[[*h.point, 0.0, 0.0, 0.0, 1.0]])
        render(robot, {"start": start, "in balance": result.q}, options.plot, drawing=drawing, view=(12.0, 20.0))
    if options.check:
        assert result.success, result.describe()
        for end in (result, *solved):
            assert off_balance(h, end.q) < 1e-3
            assert angle_of_sight(h, end.q) < np.degrees(GAZE) + 0.1
            assert np.linalg.norm(Position(robot, h.hand).value(end.q) - h.point) < 1e-3
        assert min(alone) > 0.01
        assert not fallen.success
        assert least > 0.01
        assert len(solved) >= 18, f"{len(solved)} of {len(ends)} projections succeeded"


if __name__ == "__main__":
    main()
