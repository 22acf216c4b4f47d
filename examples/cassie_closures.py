# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots]"]
# ///
"""Cassie, whose legs are closed chains: read from SDF, cut to a tree, closed again, bent at the knees.

    python examples/cassie_closures.py            # prints what it does
    python examples/cassie_closures.py --plot OUT.png   # draws the assembly too
    python examples/cassie_closures.py --check    # the same; fails if something is not as it should be

The robot is Cassie where example-robot-data is installed, else a small linkage. Shows where loops are cut and how to
cut them elsewhere, what the closures leave free, which rows are redundant and how well they agree, assembly from a
disturbed posture, and joints that are driven while the others follow.
"""

from __future__ import annotations

import argparse

import numpy as np

from constraints import ConstraintError
from constraints.loops import AssemblyOptions, assemble_position
from constraints.models import Mechanism, load
from constraints.pictures import render

CASSIE = "package://example-robot-data/robots/cassie_description/robots/cassie_v2.sdf"
LINKAGE = """<sdf version="1.9"><model name="linkage">
  <link name="thigh"/><link name="rod"><pose>0 0.1 0 0 0 0</pose></link>
  <link name="shin"><pose>0.4 0 0 0 0 0</pose></link><link name="lever"><pose>0.4 0.1 0 0 0 0</pose></link>
  <joint name="hip" type="revolute"><parent>world</parent><child>thigh</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="knee" type="revolute"><parent>thigh</parent><child>shin</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="crank" type="revolute"><parent>thigh</parent><child>rod</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="foot" type="revolute"><parent>shin</parent><child>lever</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="rod-end" type="ball"><parent>rod</parent><child>lever</child>
    <pose relative_to="lever">0.05 0 0 0 0 0</pose></joint>
</model></sdf>"""


def robot_with_loops() -> tuple[str, list[str], str]:
    """A file, the joints to bend, and another joint at which one of its loops can be cut."""
    try:
        load(CASSIE)
    except ConstraintError as missing:
        print(f"A small linkage takes the place of Cassie: {missing}\n")
        return LINKAGE, ["knee"], "crank"
    return CASSIE, ["left-knee-op", "right-knee-op"], "left-achilles-spring-joint"


def bent(mechanism: Mechanism, q: np.ndarray, knees: list[str], angle: float) -> np.ndarray:
    """4. The posture with the knees bent further by an angle; knees and base are driven, the rest follows."""
    robot = mechanism.robot
    for _ in range(10):
        q = robot.configuration({knee: q[robot.slice_of(knee)][0] + 0.1 * angle for knee in knees}, start=q)
        driven = [*knees, *(joint for joint in robot.joint_names if joint == "root_joint")]
        done = assemble_position(mechanism.constraint_set(), q, driven=driven, options=AssemblyOptions(tolerance=1e-7))
        if not done.success:
            raise SystemExit(f"the knees do not bend that far: {done}")
        q = done.q
    return q


def main() -> None:
    parser = argparse.ArgumentParser(description="Cassie's closed chains.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the assembly there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    file, knees, elsewhere = robot_with_loops()
    mechanism = load(file)
    print(f"1. {mechanism.describe()}\n")

    q = mechanism.posture("file")
    print(f"2. In the posture of the file: {mechanism.judge(q)}\n")

    rng = np.random.default_rng(0)
    disturbed = mechanism.robot.space.integrate(q, 0.1 * rng.standard_normal(mechanism.robot.nv))
    done = assemble_position(mechanism.constraint_set(), disturbed, options=AssemblyOptions(tolerance=1e-7))
    judged = mechanism.judge(done.q)
    print(f"3. From a disturbed posture: residual {mechanism.judge(disturbed).residual:.2g} before, {done} after")
    print(f"  of which redundant rows keep {judged.inconsistency:.1g}: the file has so many decimals\n")

    print("4. The knees bend by 0.3 rad")
    low = bent(mechanism, q, knees, -0.3)
    moved = mechanism.robot.space.difference(q, low)
    for joint in mechanism.robot.joint_names:
        angle = moved[mechanism.robot.velocity_slice_of(joint)]
        if np.abs(angle).max() > 1e-3:
            print(f"  {joint}: {np.linalg.norm(angle):.3f} rad")

    other = load(file, cut=[elsewhere])
    print(f"\n5. Cut at '{elsewhere}' instead: {[closure.name for closure in other.closures]}")
    print(f"  mobility {other.mobility(other.posture('file'))}, as before")

    if options.plot is not None:
        render(mechanism, {"disturbed": disturbed, "assembled": done.q}, options.plot)
    if options.check:
        assert mechanism.mobility(q) == other.mobility(other.posture("file")) == mechanism.robot.nv - judged.rank
        assert elsewhere in [closure.name for closure in other.closures]
        assert done.success
        assert judged.is_closed
        assert judged.inconsistency < 1e-7
        assert mechanism.judge(low).residual <= 1e-7
        for knee in knees:
            np.testing.assert_allclose(moved[mechanism.robot.velocity_slice_of(knee)], -0.3, atol=1e-12)
        assert np.count_nonzero(np.abs(moved) > 1e-3) > len(knees)


if __name__ == "__main__":
    main()
