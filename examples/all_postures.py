# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""All sixteen postures of a six-joint arm that hold its hand in one pose, and the proof that there is no other one.

    python examples/all_postures.py                    # prints them
    python examples/all_postures.py --plot OUT.png     # draws them too
    python examples/all_postures.py --check            # the same; fails if something is not as it should be

Shows `all_solutions`: projections find postures, certificates prove them, and boxes of configurations are divided until
none is left that could hold another one. And `refute`: with the hand farther away no posture is left, which is proved
too. Six revolute joints have sixteen postures at most (Primrose, 1986); the arm and its pose are those of Manocha and
Canny, Efficient inverse kinematics for general 6R manipulators, 1994, after an arm of Manseur and Doty (1989).
"""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

from constraints import Implicit, Pose, Problem, Robot
from constraints.certificates import CertificateStatus, CompleteBy, all_solutions, refute
from constraints.certificates.boxes.solutions import Solutions

RIGHT, ONE = np.radians(90.0), np.radians(1.0)
AHEAD = (0.3, 1.0, 0.0, 1.5, 0.0, 0.0)  # from axis to axis [m]
UP = (0.0, 0.0, 0.2, 0.0, 0.0, 0.0)  # along each axis [m]
TWIST = (RIGHT, ONE, RIGHT, ONE, RIGHT, ONE)  # from axis to axis
ROTATION = [[-0.760117, -0.641689, 0.102262], [0.133333, 0.0, 0.991071], [-0.635959, 0.766965, 0.0855577]]
PLACE = [-1.14017, 0.0, 0.0]  # of the hand [m]


def the_arm() -> Robot:
    """Six revolute joints without bounds, and the frame "hand"."""
    model, joint, place = pin.Model(), 0, pin.SE3.Identity()
    model.name = "arm"
    for i, (a, d, twist) in enumerate(zip(AHEAD, UP, TWIST, strict=True)):
        joint = model.addJoint(joint, pin.JointModelRZ(), place, f"joint{i + 1}")
        place = pin.SE3(pin.utils.rotate("x", twist), np.array([a, 0.0, d]))
        model.addJointFrame(joint)
    model.addFrame(pin.Frame("hand", joint, 0, place, pin.FrameType.OP_FRAME))
    return Robot(model)


def the_pose(rotation: list[list[float]], place: list[float]) -> np.ndarray:
    """Of the hand: its rotation, published with six digits, made exact."""
    U, _, V = np.linalg.svd(np.array(rotation))
    return pin.SE3ToXYZQUAT(pin.SE3(U @ V, np.array(place)))


def draw(robot: Robot, found: Solutions, path: str) -> None:
    """Each posture in a picture of its own; the hand, a dot, is always in the same place."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 10.0), layout="constrained")
    names = [f"joint{i + 1}" for i in range(6)] + ["hand"]
    for i, q in enumerate(found.q):
        axes = figure.add_subplot(4, 4, i + 1, projection="3d")
        points = np.array([robot.at(q).placement(name).translation for name in names])
        axes.plot(*points.T, "o-", color="#1f77b4", markersize=3, linewidth=1.8)
        axes.plot(*points[-1:].T, "o", color="#d62728", markersize=7)
        axes.set(xlim=(-1.8, 0.9), ylim=(-1.4, 1.3), zlim=(-1.4, 1.3), xticklabels=[], yticklabels=[], zticklabels=[])
        axes.set_title(f"{np.degrees(found.certificates[i].r):.0e} deg", fontsize=8)
    figure.suptitle("sixteen postures, each within this of an exact one")
    figure.savefig(path, dpi=100)


def main() -> None:
    """Find all postures; then none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="OUT.png", help="draw the postures")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    robot = the_arm()
    hand = Pose(robot, "hand")
    problem = Problem(robot, [Implicit.equal(hand, the_pose(ROTATION, PLACE))])

    found = all_solutions(problem)
    print(found)
    for q, certificate in zip(found.q, found.certificates, strict=True):
        print(" ", " ".join(f"{x:8.2f}" for x in np.degrees(q)), f"  exact within {certificate.r:.0e}")

    far = refute(problem, the_pose(ROTATION, [3.0, 0.0, 0.0]))
    print(far)
    if options.plot:
        draw(robot, found, options.plot)
    if options.check:
        assert found.complete_by is CompleteBy.SEARCH
        assert len(found) == 16
        assert all(certificate.check() == [] for certificate in found.certificates)
        assert max(np.abs(hand.value(q) - hand.value(found.q[0])).max() for q in found.q) < 1e-7
        assert far.status is CertificateStatus.REFUTED


if __name__ == "__main__":
    main()
