# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots,plot]"]
# ///
"""A Panda writes on a cylinder, and stays 5 cm clear of a beam beside its forearm.

    python examples/write_on_a_cylinder.py                     # writes, says what is held and how near it comes
    python examples/write_on_a_cylinder.py --plot write.png    # and draws it
    python examples/write_on_a_cylinder.py --check             # fails if something is not as it should be

All is written down: the tip on the cylinder is the norm of what is across its axis, the pen is in a cone about the way
to the axis, and `Clearance` keeps links off the beam. `follow` takes the tip along the line.
"""

from __future__ import annotations

import argparse
import logging
import sys
from functools import partial
from typing import NamedTuple

import numpy as np

from constraints import ConstraintError, Implicit, Options, Position, Problem, Projector, RightHandSide, Robot
from constraints.collisions import Clearance, CollisionModel, Shape
from constraints.functions import across, atan2, direction, dot, norm, stack
from constraints.paths.path import Path
from constraints.pictures import Drawing, PhotoOptions, render
from constraints.planning import follow

PANDA = "package://example-robot-data/robots/panda_description"
URDF, SRDF = f"{PANDA}/urdf/panda.urdf", f"{PANDA}/srdf/panda.srdf"
HAND, PEN, CLEAR, TILT = "panda_hand_tcp", 0.1, 0.05, 0.6
CENTER, RADIUS, HEIGHT = np.array([0.62, 0.0, 0.0]), 0.12, 0.45
BEAM = Shape("beam", "Capsule", (0.03, 1.0), placement=[0.33, 0.1, 0.72, 0.7071068, 0.0, 0.0, 0.7071068])
TIN = Shape("tin", "Cylinder", (RADIUS - 0.002, 0.3), placement=[*CENTER[:2], HEIGHT, 0.0, 0.0, 0.0, 1.0])
REST = np.array([0.0, -0.5, 0.0, -2.4, 0.0, 3.4, 0.785, 0.0, 0.0])


class Desk(NamedTuple):
    robot: Robot
    problem: Problem
    beside: Problem
    collisions: CollisionModel
    pen: Shape


def desk() -> Desk:
    """The arm with a pen, a tin to write on, and a beam; the problem, and the same without a word of the beam."""
    robot = Robot.from_urdf(URDF, SRDF)
    tip = robot.frame(HAND, [0.0, 0.0, PEN, 0.0, 0.0, 0.0, 1.0])
    pen = Shape("pen", "Cylinder", (0.006, PEN - 0.02), robot.frame(HAND, [0.0, 0.0, 0.5 * PEN, 0.0, 0.0, 0.0, 1.0]))
    held = [("pen", f"panda_{link}*") for link in ("hand", "leftfinger", "rightfinger")]
    solids = CollisionModel(robot, [BEAM, TIN, pen], URDF, ignored=held)
    out = across(Position(robot, tip) - CENTER, "z")  # from the axis of the tin to the tip
    inward = stack(-out / norm(out), 0.0)
    written = [
        Implicit.equal(stack(atan2(-out[1], -out[0]), Position(robot, tip)[2]), [0.0, HEIGHT], name="line"),
        Implicit.zero(norm(out) - RADIUS, name="on the tin"),
        Implicit.above(dot(direction(robot, tip, "z"), inward), np.cos(TILT), name="pen"),
    ]
    clearance = Clearance(solids, [("panda_*", "beam")], influence=0.2)
    clear = Implicit.above(clearance, CLEAR, margin=1e-3, name="clear")
    fingers = [name for name in robot.joint_names if "finger" in name]
    problem, beside = (Problem(robot, rows, frozen=fingers) for rows in ([*written, clear], written))
    return Desk(robot, problem, beside, solids, pen)


def line(problem: Problem, s: float) -> RightHandSide:
    """Loops round the tin, as a hand writes them: its angle about the axis, and the height."""
    turn = 8.0 * np.pi * s
    angle, height = 1.2 * (0.5 - s) + 0.18 * np.sin(turn), HEIGHT + 0.04 * np.cos(turn)
    return problem.rhs.replace("line", [angle, height])


def ink(robot: Robot, written: Path) -> list[Shape]:
    """Dots where the tip has been."""
    places = []
    for q in map(written, np.linspace(0.0, written.duration, 150)):
        tip = robot.at(q).placement(HAND).act(np.array([0.0, 0.0, PEN]))
        places.append([*tip, 0.0, 0.0, 0.0, 1.0])
    return [Shape(f"dot {k}", "Sphere", (0.006,), placement=place) for k, place in enumerate(places)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="OUT.png", help="draw the path there")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # remarks on the robot's file
    try:
        here = desk()
    except ConstraintError as missing:
        print(f"The scene needs the robots of example-robot-data: {missing}", file=sys.stderr)
        return 1
    near = Clearance(here.collisions, [("panda_*", "beam")], smallest=True)
    paths, least = list[Path](), list[float]()
    for wanted, words in ((here.problem, "with the beam in mind"), (here.beside, "without")):
        start = Projector(wanted, Options.local()).project(REST, line(wanted, 0.0)).or_raise().q
        path = follow(wanted, partial(line, wanted), start, rng=np.random.default_rng(0)).or_raise()
        paths.append(path)
        least.append(min(float(near.value(q)[0]) for q in map(path, np.linspace(0.0, path.duration, 100))))
        print(f"{words}: {len(path.samples)} samples, {100.0 * least[-1]:.1f} cm from the beam where it is nearest")
    written = paths[0]
    for held in written.held():
        print(f"held: {held.name}, to {held.error:.0e}")
    if options.plot:
        drawing, photo = Drawing(shapes=[BEAM, TIN, here.pen, *ink(here.robot, written)]), PhotoOptions(width=360)
        render(written, path=options.plot, drawing=drawing, count=4, photo=photo, view=(15, 215))
    if options.check:
        assert all(held.error <= 1e-4 for held in written.held())
        assert here.collisions.first_collision(written) is None
        assert least[0] >= CLEAR > least[1] + 0.01
        for q in map(written, np.linspace(0.0, written.duration, 50)):
            tip = here.robot.at(q).placement(HAND).act(np.array([0.0, 0.0, PEN]))
            assert abs(np.hypot(*(tip - CENTER)[:2]) - RADIUS) < 1e-4
    return 0


if __name__ == "__main__":
    sys.exit(main())
