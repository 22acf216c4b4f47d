# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A five-bar linkage swings up with motors too weak to lift it: optimal control of a closed chain, by SciPy.

    python examples/five_bar_swings_up.py            # prints what it does
    python examples/five_bar_swings_up.py --plot OUT.png   # draws it too
    python examples/five_bar_swings_up.py --check    # the same; fails if something is not as it should be

Shows actions of contact dynamics with a loop, their steps in time, and `MultipleShooting` for `trust-constr`.

The dynamics keep the loop closed: it is closed at the first knot and stabilised (Baumgarte) after it. No row asks for
closure at the knots. Such rows would say again what the dynamics say, and the rows of the program would no longer be
independent; the example measures that. For the same reason the goal is four numbers, positions and speeds of the two
motors, not a whole state.
"""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

from constraints import Function, Position, Robot
from constraints.actions import (
    Actuators,
    ContactForwardDynamics,
    Cost,
    SemiImplicitEuler,
    StageConstraint,
    StageSpace,
    StateSpace,
)
from constraints.interop import MultipleShooting, ShootingResult, ShootingTrajectory
from constraints.loops import Closure, ConstraintSet, Hinge, assemble_position
from constraints.models import mechanisms

SIZES = {"ground": 0.1, "inner": 0.25, "outer": 0.35}  # [m]
MOTORS = ("left_inner", "right_inner")
DRIVEN = [0, 2, 4, 6]  # positions and speeds of the motors, in a state
STRENGTH = 3.0  # [N m]; less than it takes to hold the linkage wherever it is on the way
KNOTS, DURATION = 40, 1.0  # [s]
TOLERANCE = 1e-5


def hanging() -> tuple[ConstraintSet, np.ndarray]:
    """1. The built-in five-bar with gravity in its plane, weak motors, and a posture that hangs."""
    made = mechanisms.five_bar(**SIZES, left=np.pi - 0.9, right=0.9)
    model = pin.Model(made.robot.model)
    model.gravity = pin.Motion(np.array([0.0, -9.81, 0.0]), np.zeros(3))  # along -y; the linkage turns about z
    model.upperEffortLimit, model.lowerEffortLimit = np.full(4, STRENGTH), np.full(4, -STRENGTH)
    robot = Robot(model)
    tip = Closure(robot, "left_outer_end", "right_outer_end", Hinge.pin([0, 0, 1]), name="tip")
    return ConstraintSet(robot, [tip]).stabilised(2.0 * DURATION / KNOTS), -made.posture("closed")


def half_turn(rows: ConstraintSet, q: np.ndarray) -> np.ndarray:
    """A guess: states (knots + 1, nx) of a half turn of both motors, closed at each knot."""
    postures = [q]
    for s in np.linspace(0.0, 1.0, KNOTS + 1)[1:]:
        turned = np.array(postures[-1])
        turned[[0, 2]] = q[[0, 2]] + np.pi * s**2 * (3.0 - 2.0 * s)
        postures.append(assemble_position(rows, turned, driven=MOTORS).or_raise().q)
    speeds = np.gradient(np.array(postures), DURATION / KNOTS, axis=0)
    speeds[0] = 0.0
    return np.hstack([postures, speeds])


def swing(rows: ConstraintSet, guess: np.ndarray, closed_knots: bool = False) -> MultipleShooting:
    """2. Little torque and little speed on the way; at the end the motors are where they should be, at rest."""
    stage = StateSpace(rows.robot).with_controls(2)
    motors = Actuators.joints(rows.robot, MOTORS)
    costs = [Cost(stage.control(), name="torque"), Cost(stage.velocity(), weight=0.01, name="speed")]
    goal = StageConstraint(stage.states().restricted(DRIVEN), reference=guess[-1][DRIVEN], name="goal")
    closure = [StageConstraint(gap(stage), name="closed")] if closed_knots else []
    run = ContactForwardDynamics(rows.robot, motors, rows, costs, closure)
    end = ContactForwardDynamics(rows.robot, motors, rows, constraints=[goal, *closure])
    step = SemiImplicitEuler(run, DURATION / KNOTS)
    return MultipleShooting([step] * KNOTS, end, guess[0], guess)


def holding(rows: ConstraintSet, guess: np.ndarray) -> float:
    """The strongest torque that holds the linkage at a knot of the guess [N m]."""
    run = ContactForwardDynamics(rows.robot, Actuators.joints(rows.robot, MOTORS), rows)
    at_rest = np.array(guess)
    at_rest[:, 4:] = 0.0
    return max(float(np.abs(run.quasi_static(x).or_raise().u).max()) for x in at_rest)


def gap(stage: StageSpace) -> Function:
    """Between the ends that the pin joins (2,) [m]."""
    robot = stage.state.robot
    ends = Position(robot, "left_outer_end") - Position(robot, "right_outer_end")
    return stage.lift(ends.restricted([0, 1]))


def independence(program: MultipleShooting, trajectory: ShootingTrajectory) -> float:
    """Smallest singular value of the Jacobian of all rows, each row of unit length."""
    rows = program.around(trajectory).jacobian(np.zeros(program.n)).toarray()
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return float(np.linalg.svd(rows, compute_uv=False)[-1])


def openings(rows: ConstraintSet, trajectory: ShootingTrajectory) -> np.ndarray:
    """How far the loop is open at each knot [m]."""
    ends = ("left_outer_end", "right_outer_end")
    at = [[rows.robot.at(x[:4]).placement(end).translation for end in ends] for x in trajectory.xs]
    return np.array([np.linalg.norm(a - b) for a, b in at])


def draw(rows: ConstraintSet, found: ShootingResult, path: str) -> None:
    """The linkage at every fourth knot with the path of its tip, and the torques of its motors."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 6.4), layout="constrained")
    upper, lower = figure.subplots(2, 1, height_ratios=[3, 2])
    colours = dict(zip(MOTORS, ("#1f77b4", "#ff7f0e"), strict=True))
    xs, us = found.trajectory.xs, np.array(found.trajectory.us)
    tips = np.array([rows.robot.at(x[:4]).placement("left_outer_end").translation[:2] for x in xs])
    for column, k in enumerate(range(0, KNOTS + 1, KNOTS // 10)):
        aside = np.array([0.5 * column, 0.0])
        at = rows.robot.at(xs[k][:4])
        for motor, colour in colours.items():
            names = (motor, motor.replace("inner", "outer"), motor.replace("inner", "outer_end"))
            bars = np.array([at.placement(name).translation[:2] for name in names]) + aside
            upper.plot(*bars.T, "o-", color=colour, markersize=3)
        upper.plot(*(tips[: k + 1] + aside).T, color="#888888", linewidth=0.8)
        upper.text(aside[0], -0.72, f"{k * DURATION / KNOTS:.1f} s", ha="center")
    upper.set(aspect="equal", title="every tenth of a second, with the path of the tip", ylim=(-0.8, 0.65))
    upper.axis("off")
    times = np.linspace(0.0, DURATION, KNOTS + 1)
    for (motor, colour), u in zip(colours.items(), us.T, strict=True):
        lower.stairs(u, times, baseline=None, label=f"{motor.partition('_')[0]} motor", linewidth=1.5, color=colour)
    for side in (-STRENGTH, STRENGTH):
        lower.axhline(side, color="k", linewidth=0.8, linestyle="--", label="limit" if side > 0 else None)
    lower.set(title="torques", xlabel="time [s]", ylabel="[N m]")
    lower.legend(loc="upper right", bbox_to_anchor=(1.0, 0.93))
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="A five-bar linkage swings up.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    rows, q = hanging()
    guess = half_turn(rows, q)
    program = swing(rows, guess)
    needed = holding(rows, guess)
    print(f"1. {rows.robot}, {rows}; to hold it takes {needed:.2f} N m, its motors have {STRENGTH:g}\n")

    print(f"2. {program}")
    found = program.minimize(tolerance=TOLERANCE).or_raise()
    print(found)
    strongest = max(np.abs(u).max() for u in found.trajectory.us)
    print(f"  torques up to {strongest:.3f} N m; the loop opens by {openings(rows, found.trajectory).max():.4f} m\n")

    print("3. Rows that ask for closure at each knot as well")
    alone = independence(program, found.trajectory)
    doubled = independence(swing(rows, guess, closed_knots=True), found.trajectory)
    print(f"  smallest singular value of all rows, each of unit length: {alone:.1e} without them, {doubled:.1e} with")

    if options.plot is not None:
        draw(rows, found, options.plot)
    if options.check:
        assert needed > STRENGTH
        assert found.defect < TOLERANCE
        assert found.missed < TOLERANCE
        assert found.gradient < TOLERANCE
        assert strongest < STRENGTH + TOLERANCE
        assert np.abs(found.trajectory.xs[-1][DRIVEN] - guess[-1][DRIVEN]).max() < TOLERANCE
        assert openings(rows, found.trajectory).max() < 0.012
        assert doubled < 0.1 * alone


if __name__ == "__main__":
    main()
