# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A five-bar linkage is driven at one joint, a whole turn; the other crank moves freely: the torque of the drive.

    python examples/driven_five_bar.py            # prints what it does
    python examples/driven_five_bar.py --plot OUT.png   # draws the turn and the torque too
    python examples/driven_five_bar.py --check    # the same; fails if something is not as it should be

Shows dynamics in minimal coordinates: of four joints one is driven (a function of time), one is independent, two follow
from the rows of the loop. What is integrated is one angle; the torque of the drive comes with it. Its power, less what
a damper takes, is the change of the energy, which is how the example checks itself.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Affine, Implicit, Robot, Target
from constraints.dynamics import forward_dynamics
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.models import mechanisms
from constraints.reduced import MinimalCoordinates, ReducedDynamics, minimal_coordinates, reduced_forward_dynamics

TURN, STEP, DAMPING = 3.0, 0.01, 0.3  # [s], [s], [N m s]
LEFT, RIGHT = "left_inner", "right_inner"


def upright() -> tuple[ConstraintSet, np.ndarray]:
    """1. The built-in five-bar with long outer bars, gravity in its plane; closed, the right crank hanging down."""
    made = mechanisms.five_bar(ground=0.5, inner=0.2, outer=0.5, left=2.2, right=-1.45)
    model = pin.Model(made.robot.model)
    model.gravity = pin.Motion(np.array([0.0, -9.81, 0.0]), np.zeros(3))  # along -y; the linkage turns about z
    robot = Robot(model)
    tip = Closure(robot, "left_outer_end", "right_outer_end", Hinge.pin([0, 0, 1]), name="tip")
    return ConstraintSet(robot, [tip]), made.posture("closed")


def turn_from(start: float) -> Target:
    """2. One turn of the left crank, at rest at both ends: a polynomial of degree five."""

    def part(t: float) -> tuple[float, float, float]:
        x = np.clip(t / TURN, 0.0, 1.0)
        place = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        rate, change = 30.0 * x**2 * (1.0 - x) ** 2, 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
        return start + 2.0 * np.pi * place, 2.0 * np.pi * rate / TURN, 2.0 * np.pi * change / TURN**2

    return Target(lambda t: [part(t)[0]], lambda t: [part(t)[1]], lambda t: [part(t)[2]])


def at(coordinates: MinimalCoordinates, near: np.ndarray, t: float, angle: float, rate: float) -> ReducedDynamics:
    """3. All at time t from the free angle and its rate: the closed state, accelerations, torque of the drive."""
    robot = coordinates.constraint_set.robot
    q = near.copy()
    q[robot.slice_of(RIGHT)] = angle
    state = coordinates.at(q, coordinates.spread([rate]), t=t, close=True)
    damper = np.zeros(robot.nv)
    damper[robot.velocity_slice_of(RIGHT)] = -DAMPING * rate
    return reduced_forward_dynamics(state, damper).or_raise()


def motion(coordinates: MinimalCoordinates) -> list[ReducedDynamics]:
    """4. The turn, by Runge and Kutta on one angle; closings start from the last posture and stay on its branch."""
    free = coordinates.partition.independent
    y, found = np.array([coordinates.q[coordinates.constraint_set.robot.slice_of(RIGHT)][0], 0.0]), []
    near = np.array(coordinates.q)
    for k in range(round(TURN / STEP) + 1):
        t = k * STEP

        def slope(t: float, y: np.ndarray, near: np.ndarray = near) -> tuple[np.ndarray, ReducedDynamics]:
            there = at(coordinates, near, t, y[0], y[1])
            return np.array([y[1], there.acceleration[free][0]]), there

        k1, here = slope(t, y)
        found.append(here)
        k2, _ = slope(t + STEP / 2, y + STEP / 2 * k1)
        k3, _ = slope(t + STEP / 2, y + STEP / 2 * k2)
        k4, _ = slope(t + STEP, y + STEP * k3)
        near, y = np.array(here.state.q), y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return found


def energy(robot: Robot, found: list[ReducedDynamics]) -> np.ndarray:
    """Kinetic and potential energy at each state [J]."""
    model: Any = robot.model
    data = model.createData()
    return np.array(
        [
            pin.computeKineticEnergy(model, data, one.state.q, one.state.v)
            + pin.computePotentialEnergy(model, data, one.state.q)
            for one in found
        ]
    )


def work(robot: Robot, found: list[ReducedDynamics]) -> tuple[np.ndarray, np.ndarray]:
    """Work of the drive and of the damper up to every second state [J], by Simpson's rule."""
    left, right = (robot.velocity_slice_of(name).start for name in (LEFT, RIGHT))
    drive = np.array([one.driven_forces[0] * one.state.v[left] for one in found])
    damper = np.array([-DAMPING * one.state.v[right] ** 2 for one in found])
    parts = [(p[:-2:2] + 4.0 * p[1:-1:2] + p[2::2]) * STEP / 3.0 for p in (drive, damper)]
    first, second = (np.concatenate([[0.0], np.cumsum(part)]) for part in parts)
    return first, second


def draw(robot: Robot, found: list[ReducedDynamics], path: str) -> None:
    """The linkage at eight times with the path of its tip, and the torque over the turn."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    frames = ("left_inner", "left_outer", "left_outer_end", "right_outer", "right_inner")
    for k, one in enumerate(found[:: len(found) // 8][:8]):
        bars = [robot.at(one.state.q).placement(name).translation[:2] for name in frames]
        left.plot(*np.array(bars).T, "o-", color="#1f77b4", alpha=0.2 + 0.1 * k, markersize=3)
    tips = np.array([robot.at(one.state.q).placement("left_outer_end").translation[:2] for one in found])
    left.plot(*tips.T, color="#ff7f0e", linewidth=1.0, label="tip")
    left.set(aspect="equal", title="a turn of the left crank", xlabel="x [m]", ylabel="y [m]")
    left.legend(loc="upper left")
    turned = np.degrees([one.state.q[0] - found[0].state.q[0] for one in found])
    right.plot(turned, [one.driven_forces[0] for one in found])
    right.axhline(0.0, color="#c7c7c7", linewidth=0.8)
    right.set(title="torque of the drive", xlabel="left crank turned by [deg]", ylabel="[N m]")
    right.set_xticks(range(0, 361, 60))
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="A five-bar linkage is driven at one joint, a whole turn.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the turn and the torque there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    rows, q = upright()
    robot = rows.robot
    crank = turn_from(float(q[robot.slice_of(LEFT)][0]))
    coordinates = minimal_coordinates(rows, q, driven={LEFT: crank}, independent=[RIGHT])
    print(f"1. {coordinates}\n")

    print("2. The left crank is driven a whole turn")
    found = motion(coordinates)
    torque = np.array([one.driven_forces[0] for one in found])
    for one in found[::50]:
        turned = np.degrees(one.state.q[0] - q[0])
        print(f"  {one.state.t:.1f} s, {turned:5.1f} deg: {one.driven_forces[0]:+7.3f} N m")
    print(f"  largest {np.abs(torque).max():.3f} N m")

    print("\n3. Power and energy")
    driven, damped = work(robot, found)
    change = energy(robot, found)[::2]
    change -= change[0]
    off = float(np.abs(driven + damped - change).max())
    print(f"  the drive gives {driven[-1]:+.4f} J, the damper takes {-damped[-1]:.4f} J")
    print(f"  the energy changes by {change[-1]:+.4f} J; apart by {off:.1e} J at most")

    if options.plot is not None:
        draw(robot, found, options.plot)
    if options.check:
        assert off < 1e-5 * np.abs(driven).max()
        assert abs(found[-1].state.q[0] - q[0] - 2.0 * np.pi) < 1e-12
        pick = np.zeros((1, robot.nv))
        pick[0, robot.velocity_slice_of(LEFT)] = 1.0
        drive = Implicit.equal(Affine(pick, inputs=robot.space), crank, name="drive")
        whole = ConstraintSet(robot, [*rows.stack.owners, drive])  # the drive as a row: its multiplier is the torque
        for one in found[::30]:
            state = one.state
            assert np.abs(rows.position_error(state.q)).max() < 1e-10
            damper = np.zeros(robot.nv)
            damper[robot.velocity_slice_of(RIGHT)] = -DAMPING * state.v[robot.velocity_slice_of(RIGHT)]
            other = forward_dynamics(whole, robot.at(state.q, state.v), damper, rhs=whole.rhs_at(state.t)).or_raise()
            assert np.abs(one.acceleration - other.acceleration).max() < 1e-9
            assert np.abs(one.driven_forces - other.multipliers_of("drive")).max() < 1e-9


if __name__ == "__main__":
    main()
