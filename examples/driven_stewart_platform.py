# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A Stewart-Gough platform is driven along a path by its six legs: the forces that they need.

    python examples/driven_stewart_platform.py            # prints what it does
    python examples/driven_stewart_platform.py --plot OUT.png   # draws the path and the forces too
    python examples/driven_stewart_platform.py --check    # the same; fails if something is not as it should be

Shows a drive as a constraint: the lengths of the legs follow a `Target` in time, and the multipliers of those rows are
the forces of the six motors. Their work is the change of the energy, which is how the example checks itself.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Affine, Implicit, Target
from constraints.dynamics import MotionRecord, simulate
from constraints.loops import ConstraintSet, assemble_velocity
from constraints.models import Mechanism, mechanisms

PERIOD, STEP = 1.5, 0.01  # [s]


def path(t: float) -> Any:
    """Placement of the platform: up, round a circle leaning inwards, and back; at rest at both ends."""
    part = np.clip(t / PERIOD, 0.0, 1.0)
    angle = 2.0 * np.pi * part**3 * (10.0 - 15.0 * part + 6.0 * part**2)
    out = 0.5 * (1.0 - np.cos(angle))
    lean = pin.exp3(0.2 * out * np.array([np.sin(angle), -np.cos(angle), 0.0]))
    return pin.SE3(lean, np.array([0.12 * out * np.cos(angle), 0.12 * np.sin(angle), 0.5 + 0.1 * out]))


def drive(platform: Mechanism) -> Implicit:
    """1. Six rows that hold the lengths of the legs to those that the path asks for; rates by differences."""
    robot = platform.robot
    pick = np.zeros((6, robot.nv))
    for row, motor in enumerate(platform.motors):
        pick[row, robot.velocity_slice_of(motor)] = 1.0
    anchors = np.array([robot.frame(f"anchor{leg}").placement.translation for leg in range(1, 7)])
    feet = np.array([robot.model.jointPlacements[robot.joint_index(f"leg{leg}")].translation for leg in range(1, 7)])

    def lengths(t: float) -> np.ndarray:
        top = path(t)
        return np.linalg.norm(anchors @ top.rotation.T + top.translation - feet, axis=1)

    return Implicit.equal(Affine(pick, inputs=robot.space), Target(lengths), name="legs")


def work(platform: Mechanism, record: MotionRecord) -> np.ndarray:
    """3. Work of the six forces since the start [J], by Simpson's rule over every second state."""
    columns = [platform.robot.velocity_slice_of(motor).start for motor in platform.motors]
    power = np.einsum("ti,ti->t", record.multipliers_of("legs"), record.vs[:, columns])
    parts = (power[:-2:2] + 4.0 * power[1:-1:2] + power[2::2]) * STEP / 3.0
    return np.concatenate([[0.0], np.cumsum(parts)])


def draw(platform: Mechanism, record: MotionRecord, out: str) -> None:
    """The platform at three times, and the forces of its legs."""
    from matplotlib.figure import Figure

    from constraints.pictures import Drawing

    figure = Figure(figsize=(11.0, 4.8), layout="constrained")
    space = figure.add_subplot(1, 2, 1, projection="3d", computed_zorder=False)
    for k, colour in ((0, "#c7c7c7"), (len(record.times) // 3, "#98c6ea"), (len(record.times) // 2, "#1f77b4")):
        platform.plot(record.qs[k], ax=space, drawing=Drawing(colour=colour))
    tops = np.array([path(t).translation for t in record.times])
    space.plot(*tops.T, color="#ff7f0e")
    space.set_title(f"at 0, {PERIOD / 3:.1f} and {PERIOD / 2:.2f} s, and the path")
    plot = figure.add_subplot(1, 2, 2)
    for leg, force in enumerate(record.multipliers_of("legs").T, 1):
        plot.plot(record.times, force, label=f"leg {leg}")
    plot.set(title="forces of the legs (positive pushes)", xlabel="time [s]", ylabel="[N]")
    plot.legend(ncols=2)
    figure.savefig(out, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description="A Stewart-Gough platform is driven along a path.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the path and the forces there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    platform = mechanisms.stewart_platform()
    rows: ConstraintSet = platform.constraint_set([drive(platform)])
    q = mechanisms.stewart_posture(platform, path(0.0))
    print(f"1. {platform}, with the drive {rows}\n")

    print("2. It is driven along the path")
    record = simulate(rows, q, np.zeros(platform.robot.nv), PERIOD, STEP).or_raise()
    forces = record.multipliers_of("legs")
    print(f"  {record}")
    for k in range(0, len(record.times), 30):
        print(f"  {record.times[k]:.1f} s: {' '.join(f'{force:+7.2f}' for force in forces[k])} N")

    print("\n3. The work of the forces, and the energy")
    done, energy = work(platform, record), record.energy[::2] - record.energy[0]
    print(
        f"  work up to {done.max():.3f} J, at the end {done[-1]:+.1e} J; apart by {np.abs(done - energy).max():.1e} J"
    )

    if options.plot is not None:
        draw(platform, record, options.plot)
    if options.check:
        for t, q_t in zip(record.times[::15], record.qs[::15], strict=True):
            there = platform.robot.at(q_t).placement("platform")
            assert np.abs(pin.log6(path(t).actInv(there)).vector).max() < 1e-8
        assert np.abs(done - energy).max() < 1e-3 * done.max()
        # at rest the forces hold the weight: their virtual work is that of gravity, for any motion of the platform
        weight = pin.computeGeneralizedGravity(platform.robot.model, platform.robot.model.createData(), q)
        for twist in np.eye(6):
            wanted = np.zeros(platform.robot.nv)
            wanted[platform.robot.velocity_slice_of("platform")] = twist
            v = assemble_velocity(platform.constraint_set(), q, wanted, driven=["platform"])
            legs = [v[platform.robot.velocity_slice_of(motor)][0] for motor in platform.motors]
            assert abs(forces[0] @ legs - weight @ v) < 1e-2  # N, N m: the path begins with a jerk


if __name__ == "__main__":
    main()
