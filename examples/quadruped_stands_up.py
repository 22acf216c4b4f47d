# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots]"]
# ///
"""ANYmal stands up on its four feet: optimal control with contacts and friction, solved by SciPy.

    python examples/quadruped_stands_up.py            # prints what it does
    python examples/quadruped_stands_up.py --plot OUT.png   # draws it, with the forces under its feet
    python examples/quadruped_stands_up.py --check    # the same; fails if something is not as it should be

The robot is that of example-robot-data; where it is not installed there is nothing to see. Shows bounds of the forces
of contacts, quasi-static controls as a guess, and `MultipleShooting` for `trust-constr`.

The contacts are held by the dynamics (closed at the first knot, stabilised after it); no row of the program asks for
them again. The goal is pose and twist of the base, twelve numbers: as many as four held feet leave free.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from constraints import Base, ConstraintError, Pose, Robot
from constraints.actions import (
    Actuators,
    ContactForwardDynamics,
    Cost,
    SemiImplicitEuler,
    StageConstraint,
    StageSpace,
    StateSpace,
)
from constraints.functions import Affine
from constraints.interop import MultipleShooting, ShootingResult, ShootingTrajectory
from constraints.loops import Axes, ConstraintSet, PointContact, assemble_position

FOLDER = "package://example-robot-data/robots/anymal_b_simple_description/"
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
KNOTS, DURATION = 16, 0.4  # [s]
RISE = 0.2  # [m]
FRICTION, PUSH = 0.6, 10.0  # coefficient; least vertical force under each foot [N]
TOLERANCE = 1e-5


class Quadruped(NamedTuple):
    rows: ConstraintSet
    low: np.ndarray
    high: np.ndarray

    @property
    def robot(self) -> Robot:
        return self.rows.robot


def quadruped() -> Quadruped:
    """1. The robot, its feet as contacts where they stand, and two postures: standing, and low."""
    robot = Robot.from_urdf(FOLDER + "robots/anymal.urdf", FOLDER + "srdf/anymal.srdf", base=Base.FREE_FLYER)
    high = robot.reference("standing")
    contacts = [PointContact(robot, foot, axes=Axes.LOCAL_WORLD_ALIGNED, name=foot).anchored(high) for foot in FEET]
    rows = ConstraintSet(robot, contacts).stabilised(2.0 * DURATION / KNOTS)
    low = np.array(high)
    low[2] -= RISE
    low = assemble_position(rows, low, driven=["root_joint"]).or_raise().q
    return Quadruped(rows, low, high)


def inside_friction(stage: StageSpace) -> list[StageConstraint]:
    """Each foot pushes the ground, and its force is in a pyramid of friction."""
    mu = FRICTION / np.sqrt(2.0)  # the pyramid inside the cone
    sides = np.array([[0, 0, 1], [-1, 0, mu], [1, 0, mu], [0, -1, mu], [0, 1, mu]])
    pyramid = Affine(sides, np.zeros(5))
    least = np.array([PUSH, 0.0, 0.0, 0.0, 0.0])
    return [StageConstraint(stage.force(foot, pyramid), lower=least, name=f"friction {foot}") for foot in FEET]


def stand_up(body: Quadruped) -> MultipleShooting:
    """2. Little torque more than standing takes, and at the end the base is up, at rest."""
    robot, rows, state = body.robot, body.rows, StateSpace(body.robot)
    legs = Actuators.floating_base(robot)
    stage = state.with_controls(legs.nu, rows)
    held = ContactForwardDynamics(robot, legs, rows)
    below, above = (held.quasi_static(state.join(q)).or_raise().u for q in (body.low, body.high))
    costs = [
        Cost(stage.control(), reference=above, weight=0.1, name="torque"),
        Cost(stage.velocity(), weight=1.0, name="speed"),
    ]
    base = StageConstraint(Pose(robot, "root_joint"), reference=body.high[:7], name="up")
    rest = StageConstraint(stage.velocity().restricted(range(6)), name="at rest")
    run = ContactForwardDynamics(robot, legs, rows, costs, inside_friction(stage))
    end = ContactForwardDynamics(robot, legs, rows, constraints=[base, rest])
    step = SemiImplicitEuler(run, DURATION / KNOTS)
    start = state.join(body.low)
    return MultipleShooting([step] * KNOTS, end, start, us=[below] * KNOTS)


def pushes(body: Quadruped, trajectory: ShootingTrajectory) -> np.ndarray:
    """Forces of the ground (knots, feet, 3) [N]."""
    held = ContactForwardDynamics(body.robot, Actuators.floating_base(body.robot), body.rows)
    done = [held.calc(x, u).or_raise() for x, u in zip(trajectory.xs[:-1], trajectory.us, strict=True)]
    return np.array([[node.multipliers_of(foot) for foot in FEET] for node in done])


def slips(body: Quadruped, trajectory: ShootingTrajectory) -> np.ndarray:
    """How far each foot is from where it stood, at each knot (knots + 1, feet) [m]."""
    stood = body.robot.at(body.high)
    there = [stood.placement(foot).translation.copy() for foot in FEET]
    found: list[np.ndarray] = []
    for x in trajectory.xs:
        at = body.robot.at(x[: body.robot.nq])
        here = np.array([at.placement(foot).translation for foot in FEET])
        found.append(np.linalg.norm(here - there, axis=1))
    return np.array(found)


def draw(body: Quadruped, found: ShootingResult, forces: np.ndarray, path: str) -> None:
    """The robot from the side at the start, on the way and at the end, and the forces under its feet."""
    from matplotlib.figure import Figure

    from constraints.pictures.robots import stick_figure

    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    nq = body.robot.nq
    for k, colour in ((0, "#c7c7c7"), (KNOTS // 2, "#ff7f0e"), (KNOTS, "#1f77b4")):
        label = f"{k * DURATION / KNOTS:.2f} s"
        for i, (a, b) in enumerate(stick_figure(body.robot, found.trajectory.xs[k][:nq], FEET)):
            words = label if i == 0 else None
            left.plot([a[0], b[0]], [a[2], b[2]], color=colour, label=words, solid_capstyle="round")
    left.axhline(0.0, color="k", linewidth=0.8)
    left.set(aspect="equal", title="from the side", xlabel="x [m]", ylabel="z [m]")
    left.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, -0.16), frameon=False)
    times = np.linspace(0.0, DURATION, KNOTS + 1)
    for i, foot in enumerate(FEET):
        right.stairs(forces[:, i, 2], times, baseline=None, label=foot.replace("_FOOT", ""), linewidth=1.5)
    right.set(title="vertical forces of the ground", xlabel="time [s]", ylabel="[N]", ylim=(0.0, None))
    right.legend(title="foot")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="A quadruped stands up.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    try:
        body = quadruped()
    except ConstraintError as missing:
        print(f"Nothing takes the place of ANYmal: {missing}")
        return
    print(f"1. {body.robot}, {body.rows}; its base has to rise by {RISE} m\n")

    program = stand_up(body)
    print(f"2. {program}")
    found = program.minimize(tolerance=TOLERANCE).or_raise()
    print(found)

    forces, away = pushes(body, found.trajectory), slips(body, found.trajectory)
    slope = np.hypot(forces[..., 0], forces[..., 1]) / forces[..., 2]
    print("3. What it did")
    print(f"  vertical forces from {forces[..., 2].min():.1f} to {forces[..., 2].max():.1f} N")
    print(f"  horizontal ones up to {slope.max():.2f} of these")
    print(f"  no foot is further from its place than {away.max():.1e} m")

    if options.plot is not None:
        draw(body, found, forces, options.plot)
    if options.check:
        last = found.trajectory.xs[-1]
        assert max(found.defect, found.missed, found.gradient) < TOLERANCE
        assert np.abs(last[:7] - body.high[:7]).max() < TOLERANCE
        assert np.abs(last[body.robot.nq :][:6]).max() < TOLERANCE
        assert forces[..., 2].min() > PUSH - TOLERANCE
        assert slope.max() < FRICTION + 1e-4
        assert away.max() < 2e-3


if __name__ == "__main__":
    main()
