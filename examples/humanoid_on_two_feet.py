# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A humanoid on two feet: priorities, a wish that may fail, costs of motion, and joints that do not move.

    python examples/humanoid_on_two_feet.py            # prints what it does
    python examples/humanoid_on_two_feet.py --plot OUT.png   # draws start and result too
    python examples/humanoid_on_two_feet.py --check    # the same; fails if something is not as it should be

The robot is Talos where example-robot-data is installed, else pinocchio's sample humanoid. Constraints are given by
level: the feet stand where they stand, the centre of mass is over them; the eyes look at a point and a hand reaches for
it. `optional_last=True` makes this last level a wish: it shapes the steps of the solver, but need not be satisfied.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from constraints import (
    Base,
    CenterOfMass,
    ConstraintError,
    Implicit,
    Pose,
    Position,
    Problem,
    Projection,
    Projector,
    Robot,
)
from constraints.models import sample_humanoid
from constraints.pictures import Drawing, render


class Humanoid(NamedTuple):
    robot: Robot
    home: np.ndarray  # feet flat on the ground
    feet: tuple[str, str]
    head: str  # looks along the x axis of this frame
    hand: str
    chest: tuple[str, ...]  # joints
    still: tuple[str, ...]  # joints that shall not move
    room: tuple[float, float]  # of the centre of mass, along x and y from the middle between the feet [m]
    point: np.ndarray  # what to look at and to reach for, within reach [m]


def humanoid() -> Humanoid:
    """Talos, or the sample humanoid, which is 4 m tall."""
    folder = "package://example-robot-data/robots/talos_data/"
    try:
        robot = Robot.from_urdf(
            folder + "robots/talos_reduced.urdf", folder + "srdf/talos.srdf", base=Base.FREE_FLYER, name="talos"
        )
    except ConstraintError as missing:
        print(f"A sample humanoid takes the place of Talos: {missing}\n")
        sample = sample_humanoid()
        feet, chest = ("lleg_effector_body", "rleg_effector_body"), ("chest1_joint", "chest2_joint")
        still = tuple(name for name in sample.joint_names if name.startswith("rarm"))
        home, room = sample.reference("home"), (0.1, 0.2)
        return Humanoid(
            sample, home, feet, "head2_joint", "larm_effector_body", chest, still, room, np.array([1.4, 0.6, 0.2])
        )
    feet, chest = ("left_sole_link", "right_sole_link"), ("torso_1_joint", "torso_2_joint")
    still = tuple(name for name in robot.joint_names if name.startswith("arm_right") or name.startswith("gripper"))
    home, room = robot.reference("half_sitting"), (0.05, 0.1)
    hand = "gripper_left_base_link"
    return Humanoid(robot, home, feet, "head_2_link", hand, chest, still, room, np.array([0.5, 0.3, 1.2]))


class Levels(NamedTuple):
    """The constraints, each to be used in several problems."""

    feet: list[Implicit]
    balance: Implicit
    gaze: Implicit
    reach: Implicit


def levels(h: Humanoid) -> Levels:
    """1. What is wanted, the most important first."""
    posture = h.robot.at(h.home)
    stand = [posture.placement(h.robot.frame(foot)) for foot in h.feet]
    feet = [Implicit.equal(Pose(h.robot, foot), oMf, name=foot) for foot, oMf in zip(h.feet, stand, strict=True)]
    # An interval a row: x and y of the centre of mass between bounds, z free.
    middle = (stand[0].translation + stand[1].translation)[:2] / 2
    lower, upper = [*(middle - h.room), -np.inf], [*(middle + h.room), np.inf]
    balance = Implicit.between(CenterOfMass(h.robot), lower, upper, name="balance")
    # The point seen from the head: straight ahead where its y and z are zero.
    point = h.robot.frame("universe", [*h.point, 0.0, 0.0, 0.0, 1.0])
    gaze = Implicit.zero(Position(h.robot, point, reference=h.head), mask=[False, True, True], name="gaze")
    reach = Implicit.equal(Position(h.robot, h.hand), h.point, name="reach")
    return Levels(feet, balance, gaze, reach)


def moved(h: Humanoid, a: np.ndarray, b: np.ndarray, joints: tuple[str, ...]) -> float:
    """How far joints are apart in two configurations."""
    difference = h.robot.space.difference(a, b)
    return float(max(np.abs(difference[h.robot.velocity_slice_of(joint)]).max() for joint in joints))


def standing(h: Humanoid, q: np.ndarray) -> float:
    """Largest distance of a foot from its place [m]."""
    wanted, found = h.robot.at(h.home), h.robot.at(q)
    feet = [h.robot.frame(foot) for foot in h.feet]
    return max(float(np.abs(found.placement(f).translation - wanted.placement(f).translation).max()) for f in feet)


def report(what: str, h: Humanoid, given: Levels, result: Projection) -> None:
    """One line on a projection."""
    problem = result.problem
    names = problem.constraints.names
    errors = {c.name: np.linalg.norm(problem.error(result.q, c, result.rhs)) for c in given[1:] if c.name in names}
    found = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
    print(f"  {what}: {result.status.name}; feet {standing(h, result.q):.1e} m from their places; errors: {found}")


def main() -> None:
    arguments = argparse.ArgumentParser(description="A humanoid on two feet: priorities, wishes, costs.")
    arguments.add_argument("--plot", metavar="OUT.png", help="draw start and result there (extra `plot`)")
    arguments.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = arguments.parse_args()
    h, rng = humanoid(), np.random.default_rng(0)
    robot, given = h.robot, levels(h)
    start = robot.bounds.clip(robot.space.integrate(h.home, 0.15 * rng.standard_normal(robot.nv)))

    print("1. Three levels, the last one a wish; one arm does not move")
    problem = Problem(
        robot, [given.feet, [given.balance], [given.gaze, given.reach]], optional_last=True, frozen=h.still
    )
    print(problem.describe())
    projector = Projector(problem)
    result = projector.project(start)
    report("a point within reach", h, given, result)

    print("\n2. A wish that cannot be granted costs the levels above nothing")
    away = h.point + np.array([10.0, 0.0, 0.0])
    far = problem.rhs.replace(given.reach, away)
    wishful = projector.project(start, far)
    report("a point 10 m away", h, given, wishful)
    # The same as one level: nothing is satisfied, and the status says so.
    flat = Problem(robot, [*given.feet, given.balance, given.gaze, given.reach], frozen=h.still)
    torn = Projector(flat).project(start, flat.rhs.replace(given.reach, away))
    report("the same without levels", h, given, torn)

    print("\n3. Costs of motion: a chest that is dear moves less")
    demands = [*given.feet, given.balance, given.gaze]
    chest = dict.fromkeys(h.chest, 100.0)
    plain, dear = (Projector(Problem(robot, demands, weights=w)).project(start) for w in (None, chest))
    for what, end in (("all alike", plain), ("the chest 100 times the others", dear)):
        print(f"  {what}: {end.status.name}, the chest turned by {moved(h, start, end.q, h.chest):.3f} rad")

    print("\n4. From many starts")
    starts = robot.space.integrate(np.tile(h.home, (50, 1)), 0.2 * rng.standard_normal((50, robot.nv)))
    ends = [projector.project(robot.bounds.clip(q)) for q in starts]
    solved = [end for end in ends if end.success]
    print(f"  {len(solved)} of {len(ends)} stand; {1e3 * np.median([end.seconds for end in ends]):.1f} ms each")

    if options.plot is not None:
        point = [*h.point, 0.0, 0.0, 0.0, 1.0]
        render(robot, {"start": start, "on two feet": result.q}, options.plot, drawing=Drawing(placements=[point]))
    if options.check:
        assert result.success, result.describe()
        assert wishful.success, wishful.describe()
        assert not torn.success
        for end in (result, wishful, plain, dear, *solved):
            assert standing(h, end.q) <= 1e-4
            center = CenterOfMass(robot).value(end.q)[:2]
            middle = np.mean([robot.at(h.home).placement(robot.frame(foot)).translation for foot in h.feet], axis=0)[:2]
            assert (np.abs(center - middle) <= np.array(h.room) + 1e-4).all()
        assert np.linalg.norm(problem.error(wishful.q, given.reach, far)) > 5.0
        for joint in h.still:
            np.testing.assert_array_equal(result.q[robot.slice_of(joint)], start[robot.slice_of(joint)])
        assert plain.success
        assert dear.success
        assert moved(h, start, dear.q, h.chest) < 0.5 * moved(h, start, plain.q, h.chest)
        assert len(solved) >= 45, f"{len(solved)} of {len(ends)} projections succeeded"


if __name__ == "__main__":
    main()
