# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""Write a function of your own, check it, and put a robot onto it: two tools vertical, 0.4 m apart.

The quick way wraps any Python function of the configuration; its Jacobian is then by differences, two evaluations a
joint (0.3 ms here). The other way is a class with the Jacobian as a formula (0.01 ms here);
`constraints/functions/frames/_template.py` shows one in full. `check_function` tells whether either is right.

    python examples/custom_function.py            # prints a few lines
    python examples/custom_function.py --plot OUT.png   # draws start and result too
    python examples/custom_function.py --check    # the same; fails if something is not as it should be
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from constraints import Function, Implicit, Problem, Projector, Robot, project
from constraints.functions.frames.frame_function import posture_of, supporting_columns
from constraints.models import sample_two_arms
from constraints.pictures import Drawing, plot_configurations
from constraints.testing import CheckFailed, check_function
from liegroups import Rn

ROBOT = sample_two_arms()
LEFT, RIGHT = ROBOT.frame("left_tool"), ROBOT.frame("right_tool")


# 1. Any Python function: (inputs.nq,) in, a number or (outputs.nq,) out.


def hand_gap(q):
    posture = ROBOT.at(q)
    return np.linalg.norm(posture.placement(LEFT).translation - posture.placement(RIGHT).translation)


gap = Function.from_callable(hand_gap, ROBOT.space, Rn(1))  # metres


# 2. A class: data, what it maps, and `evaluate`.


@dataclass(frozen=True, eq=False, repr=False)
class Vertical(Function):
    r"""The vertical seen from a frame, its x and y: zero where the z axis of the frame is vertical, up or down.

    .. math:: f(q) = (u_x, u_y), \quad u = {}^oR_f^T e_z, \quad \dot u = [u]\,\omega

    with the body angular velocity :math:`\omega = J_{ang} \dot q` of the frame.
    """

    robot: Robot
    frame: str

    def __post_init__(self):
        joint = self.robot.frame(self.frame).joint  # an unknown name is refused, with those that come closest
        columns = supporting_columns(self.robot, joint)  # the joints between the world and the frame
        self.declare(self.robot.space, Rn(2), columns, periodic=True, name=f"Vertical({self.frame})")

    def evaluate(self, point, value, jacobian=None):
        posture, frame = posture_of(point), self.robot.frame(self.frame)
        x, y, z = posture.placement(frame).rotation[2]
        value[:] = x, y
        if jacobian is not None:
            angular = posture.jacobian(frame)[3:]
            jacobian[:] = np.array([[0.0, -z, y], [z, 0.0, -x]]) @ angular


def main() -> None:
    arguments = argparse.ArgumentParser(description="A function of your own, checked and projected with.")
    arguments.add_argument("--plot", metavar="OUT.png", help="draw start and result there (extra `plot`)")
    arguments.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = arguments.parse_args()

    # 3. Check before use: every law on random configurations.
    left, right = Vertical(ROBOT, "left_tool"), Vertical(ROBOT, "right_tool")
    for f in (gap, left, right):
        check_function(f)
        print(f"{f.name}: all laws hold; it depends on {int(f.columns.sum())} of {ROBOT.nv} joints")

    # What a mistake looks like: half the Jacobian.
    wrong = Function.from_callable(left.value, ROBOT.space, Rn(2), lambda q: 0.5 * left.jacobian(q), name="half")
    try:
        check_function(wrong, pickles=False)
        raise SystemExit("the mistake was not found")
    except CheckFailed as failed:
        print(f"\nA mistake is found:\n{str(failed).splitlines()[0]}\n")

    # 4. Use it like any other function.
    wanted = [Implicit.zero(left), Implicit.zero(right), Implicit.equal(gap, [0.4])]
    first = project(ROBOT, wanted, ROBOT.reference("home"))
    q = first.q
    tilts = [np.degrees(np.arcsin(np.linalg.norm(f.value(q)))) for f in (left, right)]
    print(first)
    print(f"tools {hand_gap(q):.4f} m apart, {tilts[0]:.3f} and {tilts[1]:.3f} degrees from the vertical")

    # For many configurations, make a projector once.
    projector, rng, start = Projector(Problem(ROBOT, wanted)), np.random.default_rng(0), perf_counter()
    results = [projector.project(q) for q in ROBOT.random(rng, 20)]
    milliseconds = 1e3 * (perf_counter() - start) / len(results)
    solved = [result for result in results if result.success]
    print(f"{len(solved)} of {len(results)} random postures projected, {milliseconds:.1f} ms each")
    if options.plot is not None:
        home = ROBOT.reference("home")
        plot_configurations(
            ROBOT, {"start": home, "tools vertical, 0.4 m apart": q}, options.plot, drawing=Drawing(tips=[LEFT, RIGHT])
        )
    if options.check:
        assert first.success, first.describe()
        assert len(solved) >= 18, f"{len(solved)} of {len(results)} projections succeeded"
        for result in solved:
            assert abs(hand_gap(result.q) - 0.4) <= 1e-4
            assert all(np.linalg.norm(f.value(result.q)) <= 1e-4 for f in (left, right))


if __name__ == "__main__":
    main()
