# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""Two hands on one bar: a closed kinematic chain, and a walk along its configurations as a planner makes it.

    python examples/closed_loop_with_two_arms.py            # prints what it does
    python examples/closed_loop_with_two_arms.py --plot OUT.png   # draws the walk too
    python examples/closed_loop_with_two_arms.py --check    # the same; fails if something is not as it should be

The robot is PR2 where example-robot-data is installed, else a sample robot with two arms. Shows the relative pose of
two hands, the bar as an object whose pose is computed, what happens to an explicit constraint that cannot be one, and
the functions a planner works with: `dimension`, `tangent_basis`, `project_tangent`, projections with `Options.local()`.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from constraints import (
    Base,
    ConstraintError,
    Implicit,
    Options,
    Part,
    Pose,
    Problem,
    Projector,
    Robot,
    explicit_relative_pose,
    locked_joint,
)
from constraints.models import sample_two_arms
from constraints.pictures import render

BAR = "<robot name='bar'><link name='middle'/></robot>"
STEP = 0.02  # length of a step of the walk, in the norm of the velocity (rad and m)


class Hands(NamedTuple):
    robot: Robot
    left: str
    right: str
    apart: list[float]  # pose of the right hand seen from the left one: position [m] and quaternion xyzw
    torso: str


def two_hands() -> Hands:
    """A robot with two hands, and how they hold the bar."""
    try:
        robot = Robot.from_urdf("package://example-robot-data/robots/pr2_description/urdf/pr2.urdf")
    except ConstraintError as missing:
        print(f"A sample robot takes the place of PR2: {missing}\n")
        return Hands(sample_two_arms(), "left_tool", "right_tool", [0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0], "torso")
    side_by_side = [0.0, -0.4, 0.0, 0.0, 0.0, 0.0, 1.0]
    return Hands(robot, "l_gripper_tool_frame", "r_gripper_tool_frame", side_by_side, "torso_lift_joint")


def closed_loop(hands: Hands) -> Projector:
    """1. Two hands at a fixed pose relative to each other. The torso stays where it is: one dof less to think about."""
    loop = Implicit.equal(Pose(hands.robot, hands.right, reference=hands.left), hands.apart, name="loop")
    problem = Problem(hands.robot, [loop, locked_joint(hands.robot, hands.torso, 0.1, name="torso")])
    print(problem.describe())
    return Projector(problem)


def walk(problem: Problem, q: np.ndarray, steps: int, rng: np.random.Generator) -> np.ndarray:
    """3. Small steps on the manifold of closed configurations, as a planner makes them. Returns the path.

    A velocity is projected onto the tangent space, followed for a short while, and the small error that curvature
    leaves is projected away. `Options.local()` neither restarts nor turns joints by whole turns: paths do not jump.
    """
    local = Projector(problem, Options.local())
    direction = rng.standard_normal(problem.space.nv)
    path, drift, iterations = [q], 0.0, 0
    for _ in range(steps):
        v = problem.project_tangent(q, direction)
        ahead = problem.space.integrate(q, STEP * v / np.linalg.norm(v))
        drift = max(drift, problem.residual(problem.bounds.clip(ahead)))
        result = local.project(ahead)
        if not result.success:
            print(f"  stopped: {result}")
            break
        iterations += result.iterations
        q = result.q
        path.append(q)
    moved = [float(np.linalg.norm(problem.space.difference(a, b))) for a, b in pairwise(path)]
    print(f"  {len(moved)} steps of about {np.mean(moved):.3f}, {iterations / max(len(moved), 1):.1f} iterations each;")
    print(f"  the largest error before a projection was {drift:.1e}, after it {max(map(problem.residual, path)):.1e}")
    return np.array(path)


def with_a_bar(hands: Hands) -> tuple[Problem, str]:
    """4. The bar as an object. Its pose is a function of the left hand; the right hand has to be where the bar ends."""
    bar = Robot.from_urdf(BAR, base=Base.FREE_FLYER)
    robot = Robot.system([Part("robot", hands.robot), Part("bar", bar)])
    left, right = f"robot/{hands.left}", f"robot/{hands.right}"
    end = robot.frame("bar/middle", hands.apart)  # a frame fixed on the bar, where the right hand holds it
    # Both hands could compute the bar, but not both at once: the first given does, the second falls back to an
    # implicit constraint, and `describe` says why.
    first = explicit_relative_pose(robot, left, "bar/middle", name="left hand")
    second = explicit_relative_pose(robot, right, end, name="right hand")
    problem = Problem(robot, [first, second])
    print(problem.describe())
    print(f"  {problem.constraints.size} rows, {problem.reduced_size} of them left to Newton steps")
    return problem, right


def main() -> None:
    arguments = argparse.ArgumentParser(description="Two hands on one bar: a closed kinematic chain.")
    arguments.add_argument("--plot", metavar="OUT.png", help="draw the walk there (extra `plot`)")
    arguments.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = arguments.parse_args()
    hands, rng = two_hands(), np.random.default_rng(1)
    robot = hands.robot

    print("1. The loop as an implicit constraint")
    projector = closed_loop(hands)
    result = projector.project(robot.random(rng))
    print(f"  {result}\n")

    # 2. What a planner asks about a configuration on the manifold.
    problem, q = projector.problem, result.q
    basis = problem.tangent_basis(q)
    print(f"2. The solutions near this one form a set of dimension {problem.dimension(q)}; {robot.nv} dofs")
    along = problem.project_tangent(q, rng.standard_normal(robot.nv))
    slope = problem.jacobian(q) @ along
    print(f"  error per unit of motion along a projected velocity: {np.abs(slope).max():.1e}\n")

    print("3. A walk along the loop")
    path = walk(problem, q, 60, rng)

    print("\n4. The same with the bar as an object")
    held, right = with_a_bar(hands)
    whole = held.robot
    assert whole is not None
    carried = Projector(held).project(whole.random(rng))
    print(f"  {carried}")
    along_bar = walk(held, carried.q, 60, rng)

    # 5. A joint that an explicit constraint computes does not move on its own: it follows.
    bar = whole.velocity_slice_of("bar/root_joint")
    push = np.zeros(whole.nv)
    push[bar] = 1.0
    print(f"\n5. A push on the bar alone moves nothing: {np.abs(held.project_tangent(carried.q, push)).max():.1e}")
    follows = held.project_tangent(carried.q, rng.standard_normal(whole.nv))
    print(f"  along another velocity it moves with the hands, at {np.linalg.norm(follows[bar]):.2f}")

    if options.plot is not None:
        render(robot, {"closed": result.q, "on the way": path[len(path) // 2], "its end": path[-1]}, options.plot)
    if options.check:
        assert result.success, result.describe()
        assert problem.dimension(q) == robot.nv - 7  # six rows of the loop, one of the torso
        assert basis.shape == (robot.nv, problem.dimension(q))
        assert np.abs(problem.jacobian(q) @ basis).max() <= 1e-9
        assert np.abs(slope).max() <= 1e-9
        for walked, of in ((path, problem), (along_bar, held)):
            assert len(walked) >= 40, f"the walk ended after {len(walked)} steps"
            assert all(of.is_satisfied(point) for point in walked)
        torso = path[:, robot.slice_of(hands.torso)]
        assert np.ptp(torso) == 0.0
        assert carried.success, carried.describe()
        assert (held.constraints.size, held.reduced_size) == (12, 6)
        assert [explicit.name for explicit in held.explicits] == ["left hand"]
        assert "already computed by 'left hand'" in held.resolution.refused[0].reason
        apart = Pose(whole, right, reference=f"robot/{hands.left}")
        assert all(Problem(whole, [Implicit.equal(apart, hands.apart)]).residual(point) <= 2e-4 for point in along_bar)
        hand = Pose(whole, f"robot/{hands.left}")
        ours = [hand.value(point) for point in along_bar]
        np.testing.assert_allclose(
            along_bar[:, whole.slice_of("bar/root_joint")][:, :3], np.array(ours)[:, :3], atol=1e-9
        )
        assert np.abs(held.project_tangent(carried.q, push)).max() <= 1e-12
        assert np.linalg.norm(follows[bar]) > 1e-3


if __name__ == "__main__":
    main()
