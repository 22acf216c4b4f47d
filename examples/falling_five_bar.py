# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A five-bar linkage falls: a closed chain in motion, its energy kept to a millionth over two seconds.

    python examples/falling_five_bar.py            # prints what it does
    python examples/falling_five_bar.py --plot OUT.png   # draws it too
    python examples/falling_five_bar.py --check    # the same; fails if something is not as it should be

Shows `simulate`: a motion with constraints, kept by projection in the metric of the mass matrix; its energy and its
errors; and an event, located to 1e-9 s. Without projection, and without stabilisation, the linkage comes apart.
"""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

from constraints import Robot
from constraints.dynamics import Event, MotionRecord, SimulationOptions, simulate
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.models import mechanisms

DURATION, STEP = 2.0, 1.0 / 700.0  # [s]


def upright() -> tuple[ConstraintSet, np.ndarray]:
    """1. The built-in five-bar, a metre high, with gravity in its plane; and its closed posture."""
    made = mechanisms.five_bar(ground=1.2, inner=1.0, outer=1.4)
    model = pin.Model(made.robot.model)
    model.gravity = pin.Motion(np.array([0.0, -9.81, 0.0]), np.zeros(3))  # along -y; the linkage turns about z
    robot = Robot(model)
    tip = Closure(robot, "left_outer_end", "right_outer_end", Hinge.pin([0, 0, 1]), name="tip")
    return ConstraintSet(robot, [tip]), made.posture("closed")


def tip_of(rows: ConstraintSet, q: np.ndarray) -> np.ndarray:
    """Where the outer bars meet (2,) [m]."""
    return rows.robot.at(q).placement("left_outer_end").translation[:2]


def draw(rows: ConstraintSet, record: MotionRecord, path: str) -> None:
    """The linkage every tenth of a second with the path of its tip, and its energies."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    every = round(0.1 / STEP)
    for k, q in enumerate(record.qs[: round(0.9 / STEP) : every]):
        at = rows.robot.at(q)
        bars = [at.placement(name).translation[:2] for name in ("left_inner", "left_outer", "left_outer_end")]
        bars += [at.placement(name).translation[:2] for name in ("right_outer", "right_inner")]
        left.plot(*np.array(bars).T, "o-", color="#1f77b4", alpha=0.25 + 0.08 * k, markersize=3)
    tips = np.array([tip_of(rows, q) for q in record.qs])
    left.plot(*tips.T, color="#ff7f0e", linewidth=1.0, label="tip, two seconds")
    left.set(aspect="equal", title="the first 0.9 s", xlabel="x [m]", ylabel="y [m]")
    left.legend(loc="lower left")
    for label, energy in (("kinetic", record.kinetic_energy), ("potential", record.potential_energy)):
        right.plot(record.times, energy, label=label)
    right.plot(record.times, record.energy, "k", label="both")
    right.set(title=f"energy, kept within {record.energy_drift:.0e} J", xlabel="time [s]", ylabel="[J]")
    right.legend(loc="upper left")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="A five-bar linkage falls.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    rows, q = upright()
    print(f"1. {rows.robot}, {rows}\n")

    print("2. It falls, from rest")
    level = Event(lambda motion: tip_of(rows, motion.posture.q)[1], "tip at the height of the pivots")
    record = simulate(rows, q, np.zeros(4), DURATION, STEP, events=level).or_raise()
    print(record.describe())
    relative = record.energy_drift / record.energy[0]
    print(f"  energy drift {relative:.1e} of the energy at the start\n")

    print("3. The same without projection, in steps six times as long")
    loose = simulate(
        rows, q, np.zeros(4), DURATION, 6.0 * STEP, options=SimulationOptions(correction="baumgarte")
    ).or_raise()
    print(f"  the tip is open by {loose.position_drift.max():.1e} m")
    settled = simulate(
        rows.stabilised(0.05), q, np.zeros(4), DURATION, 6.0 * STEP, options=SimulationOptions(correction="baumgarte")
    ).or_raise()
    print(f"  stabilised, settling in 0.05 s, by {settled.position_drift.max():.1e} m")

    if options.plot is not None:
        draw(rows, record, options.plot)
    if options.check:
        assert relative < 1e-6
        assert record.position_drift.max() <= 1e-10
        assert len(record.events) >= 1
        for crossing in record.events:
            assert abs(tip_of(rows, crossing.q)[1]) < 1e-7
        assert loose.position_drift.max() > settled.position_drift.max() > 1e3 * record.position_drift.max()


if __name__ == "__main__":
    main()
