# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""Project configurations of your own robot onto a pose of one of its frames.

    python examples/projection_on_your_robot.py                     a small sample robot, written to a temporary file
    python examples/projection_on_your_robot.py arm.urdf tool0      yours
    python examples/projection_on_your_robot.py --plot OUT.png      draws start and result too

Shows what a typo in a name gives, how statuses are read, how the target changes without building anything again, what
bounds do, and how problems and results describe themselves.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from constraints import ConstraintError, Implicit, Options, Pose, Problem, Projector, Robot, Status
from constraints.pictures import Drawing, render

# Six revolute joints, as (name, axis, offset from the joint before [m], lower, upper [rad]).
JOINTS = (
    ("turn", "0 0 1", "0 0 0.2", -2.9, 2.9),
    ("shoulder", "0 1 0", "0 0 0.1", -1.9, 1.9),
    ("elbow", "0 1 0", "0 0 0.4", -2.5, 2.5),
    ("forearm", "0 0 1", "0 0 0.2", -2.9, 2.9),
    ("wrist", "0 1 0", "0 0 0.2", -2.0, 2.0),
    ("flange", "0 0 1", "0 0 0.1", -2.9, 2.9),
)


def sample_urdf() -> str:
    """A small arm with the frame "tool" at its end."""
    lines, parent = ['<robot name="small_arm">', '  <link name="base"/>'], "base"
    for name, axis, offset, lower, upper in JOINTS:
        lines += [
            f'  <link name="{name}_link"/>',
            f'  <joint name="{name}" type="revolute">',
            f'    <parent link="{parent}"/><child link="{name}_link"/><origin xyz="{offset}"/><axis xyz="{axis}"/>',
            f'    <limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>',
            "  </joint>",
        ]
        parent = f"{name}_link"
    lines += [
        '  <link name="tool"/>',
        '  <joint name="tool_mount" type="fixed">',
        f'    <parent link="{parent}"/><child link="tool"/><origin xyz="0 0 0.1"/>',
        "  </joint>",
        "</robot>",
    ]
    return "\n".join(lines) + "\n"


def show(robot: Robot, frame: str, plot: str | None, seed: int = 2) -> None:
    """The tour, on any robot with a frame that moves."""
    rng = np.random.default_rng(seed)

    # A target that can be reached: where some configuration has the frame. Usually you bring your own:
    # a pinocchio.SE3, or seven numbers (translation, quaternion xyzw).
    target = robot.at(robot.random(rng)).placement(robot.frame(frame))

    # Equal to a right-hand side, which may be given anew at each call.
    hand = Implicit.equal(Pose(robot, frame), target, name="hand")
    projector = Projector(Problem(robot, [hand]))
    print(projector.problem.describe())

    start = robot.random(rng)
    result = projector.project(start)
    print(f"\n{result.describe()}")
    print(robot.format(result.q))

    if plot is not None:
        render(
            robot, {"start": start, "result": result.q}, plot, drawing=Drawing(placements=[target])
        )  # sticks without a browser

    # Failure is a status, not an exception: the best configuration found comes back with the reason.
    match result.status:
        case Status.CONVERGED:
            assert projector.is_satisfied(result.q)
        case Status.STATIONARY | Status.STALLED:
            print("Out of reach from here: another start, or another target?")
        case status:
            print(status.value)

    # Another target, the same projector.
    elsewhere = robot.at(robot.random(rng)).placement(robot.frame(frame))
    moved = projector.project(start, projector.problem.rhs.replace(hand, elsewhere))
    print(f"\nelsewhere: {moved}")

    # A target nobody reaches. `or_raise` turns the status into an exception, for those who prefer it.
    away = np.array(hand.default_rhs)
    away[2] += 100.0
    lost = projector.project(start, projector.problem.rhs.replace(hand, away))
    print(f"100 m up: {lost}")
    try:
        lost.or_raise()
    except ConstraintError as error:
        print(f"          or_raise: {type(error).__name__}")

    # From a start nearby and for a step of a planner: no restart, no jump to another branch.
    near = robot.space.integrate(result.q, 0.01 * rng.standard_normal(robot.nv))
    step = Projector(projector.problem, Options.local()).project(robot.bounds.clip(near))
    print(f"a small step: {step}")

    # Tighter bounds are another robot on the same space; q and the constraints stay usable.
    joint = next(name for name in robot.joint_names if robot.slice_of(name).stop - robot.slice_of(name).start == 1)
    entry = robot.slice_of(joint).start
    lower = max(float(robot.bounds.lower[entry]), float(result.q[entry]) - 0.3)
    upper = min(float(robot.bounds.upper[entry]), float(result.q[entry]) + 0.3)
    tight = robot.with_bounds({joint: (lower, upper)})
    held = Projector(Problem(tight, [hand])).project(start)
    print(f"\n'{joint}' between {lower:.2f} and {upper:.2f}: {held.status.name}, it is at {held.q[entry]:.2f}")

    # A typo: the error names the culprit and the names that come closest.
    try:
        Pose(robot, frame + "_")
    except ConstraintError as error:
        print(f"\na typo: {error}")

    if result.success:
        assert result.residual <= projector.options.threshold
        assert tight.bounds.contains(held.q)
        assert not lost.success


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", nargs="?", type=Path, help="your robot; a small sample is written if absent")
    parser.add_argument("frame", nargs="?", default="tool", help='a frame of it (default: "tool")')
    parser.add_argument("--plot", metavar="OUT.png", help="draw start and result there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="only show that everything runs")
    options = parser.parse_args()
    try:
        if options.urdf is not None:
            show(Robot.from_urdf(options.urdf), options.frame, options.plot)
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "small_arm.urdf"
                path.write_text(sample_urdf())
                show(Robot.from_urdf(path), options.frame, options.plot)
    except ConstraintError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
