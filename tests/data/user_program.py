"""A user's program, as strict type checkers see it; `test_typed_api.py` checks and runs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from constraints import (
    CenterOfMass,
    Comparison,
    ConstraintError,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projection,
    Projector,
    RightHandSide,
    Robot,
    Status,
    Target,
    project,
)
from constraints.models import sample_two_arms
from liegroups import SE3, SO3, Element, R3xSO3, Rn, Segments, Space


def grasp(robot: Robot) -> Implicit:
    """Hands that keep their distance: lists are taken for masks and comparisons."""
    hands = Pose(robot, "right_tool", reference="left_tool", outputs=R3xSO3)
    types = [Comparison.EQUALITY] * 5 + [Comparison.EQUAL_TO_ZERO]
    return Implicit(hands, comparison=types, mask=[True, True, True, True, True, False], scale=[1.0] * 6, name="grasp")


def above_the_table(robot: Robot, height: float) -> Implicit:
    """One row of a position."""
    return Implicit.above(Position(robot, "left_tool").restricted([2]), [height], margin=1e-3, name="above")


def circle(q: NDArray[np.float64]) -> float:
    """A function of the user's own."""
    return float(q @ q) - 1.0


def path(t: float) -> list[float]:
    """Where the left hand goes."""
    return [0.45, 0.2 + 0.05 * t, 1.0]


def main() -> int:
    """Project, look, move on."""
    robot: Robot = sample_two_arms()
    rng = np.random.default_rng(0)
    q: NDArray[np.float64] = robot.configuration({"torso": 0.1}, start="home")
    hold = grasp(robot)
    moving = Implicit.equal(Position(robot, "left_tool"), Target(path, interval=(0.0, 1.0)), name="moving")
    problem = Problem(robot, [hold, moving, above_the_table(robot, 0.2)])
    sides: RightHandSide = problem.rhs_from(q).replace(moving, [0.45, 0.2, 1.0])
    options = Options(threshold=1e-6, max_iterations=60, seed=3)
    result: Projection = Projector(problem, options).project(q, sides)
    if result.status is not Status.CONVERGED:
        return 1
    solution: NDArray[np.float64] = result.q
    later: Projection = Projector(problem, Options.local()).project(solution, rhs=problem.rhs_at(0.5))
    error: NDArray[np.float64] = result.error(hold)
    satisfied: bool = problem.is_satisfied(solution, "moving", sides)
    freedom: int = problem.dimension(solution)
    basis: NDArray[np.float64] = problem.tangent_basis(solution)
    velocity = problem.project_tangent(solution, [0.0] * robot.nv)

    plane: Space = Rn(2)
    round_it: Function = Function.from_callable(circle, inputs=plane, outputs=Rn(1), name="circle")
    found = project(plane, [Implicit.zero(round_it)], [3, 4]).or_raise()
    turned = Element([0.0, 0.0, 0.0, 1.0], SO3) + np.array([0.0, 0.0, 0.5])
    block = Segments.of(SE3 * Rn(2), 1)
    center = CenterOfMass(robot, subtrees=["torso"]).value(robot.random(rng))
    pose = robot.at(solution).placement(robot.frame("left_tool"))
    held = Implicit.equal(Pose(robot, "left_tool"), pose, mask=(1, 1, 1, 0, 0, 0))
    try:
        robot.frame("left_tol")
    except ConstraintError as mistake:
        message = str(mistake)
    else:
        return 1
    facts = (
        satisfied,
        later.residual < 1.0,
        error.shape == (5,),
        basis.shape == (robot.nv, freedom),
        not velocity.any(),
        found.residual <= 1e-4,
        turned.space == SO3,
        len(block) == 2,
        center.shape == (3,),
        held.name.startswith("Pose"),
        "left_tool" in message,
    )
    return 0 if all(facts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
