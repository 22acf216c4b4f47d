# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A four-bar on a spring: where it rests, how it swings there, and the spring that would let it rest elsewhere.

    python examples/modes_of_a_four_bar.py            # prints what it does
    python examples/modes_of_a_four_bar.py --plot OUT.png   # draws it too
    python examples/modes_of_a_four_bar.py --gif OUT.gif    # and the mode, moving
    python examples/modes_of_a_four_bar.py --check    # the same; fails if something is not as it should be

Shows `equilibrium` from a start 0.3 rad away, the loop closed at each step; a free length solved for in the place of
the crank; `modes`, compared with a simulated swing; and how the frequency depends on the spring.
"""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

from constraints import Robot
from constraints.dynamics import Forces, PointSpring, simulate
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.models import mechanisms
from constraints.reduced import Equilibrium, MinimalCoordinates, Mode, Unknown, equilibrium, minimal_coordinates

HOOK = np.array([0.2, 0.55, 0.0])  # where the spring hangs [m]
STIFFNESS, FREE_LENGTH = 120.0, 0.2  # [N/m], [m]
LENGTHS = np.linspace(0.02, 0.32, 31)  # [m]


def four_bar() -> MinimalCoordinates:
    """1. The built-in four-bar, with gravity in its plane; the crank is independent, the rest follows."""
    made = mechanisms.four_bar()
    model = pin.Model(made.robot.model)
    model.gravity = pin.Motion(np.array([0.0, -9.81, 0.0]), np.zeros(3))  # along -y; the linkage turns about z
    robot = Robot(model)
    tip = Closure(robot, "coupler_end", "rocker_end", Hinge.pin([0, 0, 1]), name="tip")
    return minimal_coordinates(ConstraintSet(robot, [tip]), made.posture("closed"), independent=["crank"])


def spring(robot: Robot, length: float = FREE_LENGTH) -> PointSpring:
    """Between the end of the crank and the hook."""
    return PointSpring(robot, "crank_end", pin.SE3(np.eye(3), HOOK), STIFFNESS, length=length)


def beside(coordinates: MinimalCoordinates, q: np.ndarray, by: float) -> np.ndarray:
    """Closed, with the crank turned."""
    space = coordinates.constraint_set.robot.space
    return coordinates.close(space.integrate(q, coordinates.spread([by]))).or_raise().q


def simulated_frequency(found: Equilibrium, mode: Mode) -> float:
    """Of a swing of 1e-3 rad, from once the crank passes its place of rest downwards to the next time [Hz]."""
    rows = found.coordinates.constraint_set
    pull = spring(rows.robot)
    start = mode.configurations(1, amplitude=1e-3)[0]
    period = 1.0 / mode.frequency
    record = simulate(
        rows, start, np.zeros(rows.robot.nv), 1.4 * period, period / 200.0, forces=Forces(rows.robot, [pull])
    ).or_raise()
    away = np.array([q[0] for q in record.qs]) - found.q[0]
    down = np.flatnonzero((away[:-1] > 0.0) & (away[1:] <= 0.0))
    first, second = (record.times[i] + period / 200.0 * away[i] / (away[i] - away[i + 1]) for i in down[:2])
    return float(1.0 / (second - first))


def frequencies(coordinates: MinimalCoordinates, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angle of the crank at rest [deg] and frequency [Hz] over the free length, each from the last one."""
    angles, rates, q = [], [], start
    for length in LENGTHS:
        found = equilibrium(coordinates, q, external=[spring(coordinates.constraint_set.robot, length)]).or_raise()
        q = found.q
        angles.append(np.rad2deg(q[0]))
        rates.append(found.modes().or_raise()[0].frequency)
    return np.array(angles), np.array(rates)


def draw(found: Equilibrium, mode: Mode, curves: tuple[np.ndarray, np.ndarray], path: str) -> None:
    """The linkage at rest and along its mode; angle at rest and frequency over the free length."""
    from matplotlib.figure import Figure

    robot = found.coordinates.constraint_set.robot
    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    swing = mode.configurations(12, amplitude=0.35)
    for q, colour, width in [(each, "#9ecae1", 1.0) for each in swing[:7]] + [(found.q, "#1f77b4", 2.5)]:
        at = robot.at(q)
        bars = [at.placement(name).translation[:2] for name in ("crank", "crank_end", "coupler_end", "rocker")]
        left.plot(*np.array(bars).T, "o-", color=colour, linewidth=width, markersize=2.0 * width)
    end = robot.at(found.q).placement("crank_end").translation[:2]
    left.plot(*np.array([end, HOOK[:2]]).T, ":", color="#d62728", linewidth=2.0, label="spring")
    left.plot(*HOOK[:2], "s", color="#404040", markersize=5.0)
    left.set(aspect="equal", title=f"at rest, and its mode of {mode.frequency:.2f} Hz", xlabel="x [m]", ylabel="y [m]")
    left.legend(loc="upper left")
    angle = right.twinx()
    right.plot(LENGTHS, curves[1], color="#1f77b4")
    angle.plot(LENGTHS, curves[0], color="#ff7f0e")
    right.plot(FREE_LENGTH, mode.frequency, "o", color="#1f77b4")
    right.set(title="by the free length of the spring", xlabel="free length [m]")
    right.set_ylabel("frequency [Hz]", color="#1f77b4")
    angle.set_ylabel("crank at rest [deg]", color="#ff7f0e")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="A four-bar on a spring: rest and mode.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it there (extra `plot`)")
    parser.add_argument("--gif", metavar="OUT.gif", help="draw the mode, moving (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    coordinates = four_bar()
    robot, closed = coordinates.constraint_set.robot, coordinates.q
    print(f"1. {coordinates}\n")

    print("2. Where it rests")
    near = equilibrium(coordinates, closed, external=[spring(robot)]).or_raise()
    found = equilibrium(coordinates, beside(coordinates, near.q, 0.3), external=[spring(robot)]).or_raise()
    print(found.describe())
    print(f"  R_u on the way: {', '.join(f'{r:.1e}' for r in found.residuals)}\n")

    print("3. How it swings there")
    modes = found.modes().or_raise()
    print(modes.describe())
    seen = simulated_frequency(found, modes[0])
    print(f"  a simulated swing of 1e-3 rad: {seen:.4f} Hz\n")

    print("4. The free length with which it rests at 1 rad")
    other = equilibrium(
        coordinates,
        closed,
        external=lambda x: [spring(robot, x["free length"])],
        exchange={"crank": Unknown("free length", FREE_LENGTH)},
    ).or_raise()
    print(other.describe())

    curves = frequencies(coordinates, found.q)
    if options.plot is not None:
        draw(found, modes[0], curves, options.plot)
    if options.gif is not None:
        modes[0].animate(options.gif)
    if options.check:
        assert np.abs(found.q - near.q).max() < 1e-8
        assert abs(seen / modes[0].frequency - 1.0) < 1e-4
        assert modes.is_stable
        assert np.array_equal(other.q, closed)
        there = equilibrium(
            coordinates, beside(coordinates, closed, 0.1), external=[spring(robot, other.scalars["free length"])]
        )
        assert np.abs(there.or_raise().q - closed).max() < 1e-8
        assert np.isfinite(curves[1]).all()


if __name__ == "__main__":
    main()
