# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[mjcf]"]
# ///
"""A gripper from an MJCF file: its loops, its coupled fingers, and what was not read.

    python examples/read_a_mujoco_gripper.py                        # a gripper written below
    python examples/read_a_mujoco_gripper.py my_gripper.xml         # yours: what it is, closed
    python examples/read_a_mujoco_gripper.py --plot OUT.png         # draws it opened, too
    python examples/read_a_mujoco_gripper.py --check                # fails if something is not as it should be

MuJoCo holds loops together by soft equalities; here they are constraints. Shows couplers that are computed instead of
solved, MuJoCo's `qpos` against configurations here, and an opening that is wanted between two fingertips.
"""

from __future__ import annotations

import argparse

import numpy as np

from constraints import Implicit, Options, Position, Projector
from constraints.models import Mechanism, load
from constraints.models.files.mjcf import from_qpos
from constraints.models.structure.assemblies import assemblies
from constraints.pictures import plot_assembly

FINGER = """
    <body name="{side}_driver" pos="{x} 0 0">
      <joint name="{side}_driver" axis="0 {sign} 0" range="-50 50"/>
      <geom type="capsule" size="0.005" fromto="0 0 0 0 0 0.05"/>
      <body name="{side}_finger" pos="0 0 0.05">
        <joint name="{side}_finger" axis="0 {sign} 0"/>
        <geom type="box" size="0.005 0.01 0.03" pos="0 0 0.03"/>
        <site name="{side}_tip" pos="0 0 0.06"/>
      </body>
    </body>
    <body name="{side}_link" pos="{inner} 0 0">
      <joint name="{side}_link" axis="0 {sign} 0"/>
      <geom type="capsule" size="0.004" fromto="0 0 0 0 0 0.05"/>
    </body>"""
GRIPPER = f"""<mujoco model="gripper">
  <worldbody>
    {FINGER.format(side="left", sign=1, x=0.05, inner=0.03)}
    {FINGER.format(side="right", sign=-1, x=-0.05, inner=-0.03)}
  </worldbody>
  <equality>
    <connect name="left loop" body1="left_link" body2="left_finger" anchor="0 0 0.05"/>
    <connect name="right loop" body1="right_link" body2="right_finger" anchor="0 0 0.05"/>
    <joint name="fingers together" joint1="right_driver" joint2="left_driver" polycoef="0 1 0 0 0"/>
    <joint name="not used" joint1="right_link" joint2="left_link" active="false"/>
  </equality>
  <actuator><position name="close" joint="left_driver"/></actuator>
  <keyframe><key name="closed" qpos="-0.5 0 0 0 0 0"/></keyframe>
</mujoco>"""
"""Two fingers on parallelograms, so that they stay parallel: connect closes each, a joint equality couples them."""


def describe(mechanism: Mechanism) -> None:
    """1. and 2. What the file gives, and what it is once it is closed."""
    print(f"1. {mechanism.describe()}\n")
    found = assemblies(mechanism)
    print(f"2. Closed from {sum(found.closed)} of {len(found.closed)} starts. There: {found.judged}")
    for entry in mechanism.unread:
        print(f"  not read: {entry}")


def opened(mechanism: Mechanism, opening: float) -> np.ndarray:
    """3. The configuration in which the fingertips are so far apart [m]."""
    between = Position(mechanism.robot, "left_tip", reference="right_tip")
    apart = Implicit(between.restricted([0]), lower=opening, upper=opening, name="opening")
    problem = mechanism.problem([apart])
    print(problem.describe())
    return Projector(problem, Options(threshold=1e-9)).project(mechanism.posture("qpos0")).or_raise().q


def main() -> None:
    parser = argparse.ArgumentParser(description="A gripper from an MJCF file.")
    parser.add_argument("file", nargs="?", help="an MJCF file; by default a gripper written in this example")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it, opened, there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    mechanism = load(options.file or GRIPPER)
    describe(mechanism)
    if options.file:
        return

    print("\n3. Fingertips 60 mm apart")
    q = opened(mechanism, 0.06)
    print(mechanism.robot.format(q))
    key = mechanism.posture("closed")
    print("\n4. A keyframe is what its author wrote, not always a closed configuration:")
    print(f"  'closed' has a residual of {mechanism.judge(key).residual:.2g} (m or rad)")

    if options.plot is not None:
        plot_assembly(mechanism, mechanism.posture("closed"), q, options.plot)
    if options.check:
        robot = mechanism.robot
        judged = mechanism.judge(q)
        assert judged.residual <= 1e-8
        assert (judged.rows, judged.rank, judged.mobility) == (7, 5, 1)
        assert judged.independent == mechanism.motors == ("left_driver",)
        assert any("not used" in str(entry) for entry in mechanism.unread)
        angles = {joint: q[robot.slice_of(joint)][0] for joint in robot.joint_names}
        assert abs(0.05 + 0.05 * np.sin(angles["left_driver"]) - 0.03) < 1e-8
        for side in ("left", "right"):
            assert abs(angles[f"{side}_driver"] - angles["left_driver"]) < 1e-8
            assert abs(angles[f"{side}_finger"] + angles[f"{side}_driver"]) < 1e-8  # the fingers stay upright
        assert mechanism.judge(key).residual > 1e-3
        np.testing.assert_allclose(key, from_qpos(robot, [-0.5, 0, 0, 0, 0, 0]))


if __name__ == "__main__":
    main()
