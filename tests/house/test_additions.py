"""What others add, from outside the package, in one file each: a direction of descent, a hinge. (A group: Sim(2), in
`tests/liegroups`.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from constraints import Implicit, Pose, Problem, Projector, Status
from constraints.errors import OptionError, StepError, WrongObjectError
from constraints.loops.hinges.pose_map import OfRelativePose, PoseMap
from constraints.models import sample_arm
from constraints.solvers import DampedCholesky, LinearStep, NewtonEngine, Options, SparseKKT
from constraints.testing import check_function

ROBOT = sample_arm()


class PseudoInverse(LinearStep):
    """Gauss-Newton by the pseudo-inverse: no damping but where singular values vanish."""

    def __init__(self, rows: int, weights: np.ndarray | None = None) -> None:
        costs = np.ones(1) if weights is None else weights
        self.scale = 1.0 / np.sqrt(np.maximum(costs, 0.01 * costs[costs > 0.0].min()))

    def solve(self, e: np.ndarray, J: np.ndarray, mu: float, root: np.ndarray | None = None) -> np.ndarray:
        S = self.scale * np.eye(J.shape[1]) if root is None else root
        return -S @ (np.linalg.pinv(J @ S, rcond=1e-3) @ e)


class OnBowl(PoseMap):
    r"""The origin of b on a bowl in a: :math:`r = z - (x^2 + y^2)`; a hinge with five freedoms."""

    size = 1

    def value(self, pose: Any, out: np.ndarray, D: np.ndarray | None = None) -> None:
        x, y, z = pose.translation
        out[0] = z - (x * x + y * y)
        if D is not None:
            D[0, :3] = np.array([-2.0 * x, -2.0 * y, 1.0]) @ pose.rotation

    def second(self, pose: Any, twist: np.ndarray, acceleration: np.ndarray, out: np.ndarray) -> None:
        x, y, _ = pose.translation
        v = pose.rotation @ twist[:3]
        a = pose.rotation @ (acceleration[:3] + np.cross(twist[3:], twist[:3]))
        out[0] = a[2] - 2.0 * (x * a[0] + y * a[1] + v[0] ** 2 + v[1] ** 2)


def reachable() -> tuple[Problem, np.ndarray]:
    """A pose that the arm reaches, and starts."""
    rng = np.random.default_rng(2)
    q = ROBOT.random(rng)
    problem = Problem(ROBOT, [Implicit.equal(Pose(ROBOT, "tool"), Pose(ROBOT, "tool").value(q))])
    return problem, np.array([ROBOT.random(rng) for _ in range(40)])


def test_a_direction_of_descent_is_one_class() -> None:
    """Bounds, caps, restarts and statuses come with the engine; batch and single call have the same bits."""
    problem, starts = reachable()
    own = Projector(problem, engine=NewtonEngine(PseudoInverse))
    batch, usual = own.project_batch(starts), Projector(problem).project_batch(starts)
    assert batch.success.sum() >= 0.9 * usual.success.sum() > 0.0
    assert all(problem.is_satisfied(q) for q in batch.q[batch.success])
    assert (batch.iterations != usual.iterations).any()  # it is another one
    for i in (0, 7):
        assert own.project(starts[i]).q.tobytes() == batch.q[i].tobytes()
    assert own.project(starts[0]).engine.__repr__() == "NewtonEngine(PseudoInverse)"


def test_the_default_direction_can_be_said() -> None:
    problem, starts = reachable()
    said, silent = (Projector(problem, engine=engine) for engine in (NewtonEngine(DampedCholesky), "readable"))
    assert said.project(starts[0]).q.tobytes() == silent.project(starts[0]).q.tobytes()


def test_a_refinement_serves_any_direction() -> None:
    """`nearest` is composed around the program of whatever engine."""
    problem, starts = reachable()
    free = Problem(ROBOT, [Implicit.equal(Pose(ROBOT, "tool"), problem.rhs.vector, mask=[True] * 3 + [False] * 3)])
    found = Projector(free, Options(nearest=True), NewtonEngine(PseudoInverse)).project(starts[0])
    usual = Projector(free, Options(nearest=True)).project(starts[0])
    assert found.success
    assert found.stationarity is not None
    assert found.stationarity <= 1e-8
    assert usual.stationarity is not None


def test_what_is_no_direction_is_refused() -> None:
    problem, _ = reachable()
    with pytest.raises(WrongObjectError, match="LinearStep"):
        NewtonEngine(PseudoInverse(6))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(OptionError, match="SparseKKT solves one level without bounds"):
        Projector(problem, engine=NewtonEngine(SparseKKT))


def stepping(solve: Any) -> type[LinearStep]:
    """A class whose `solve` does that."""
    return type("MyStep", (PseudoInverse,), {"solve": solve})


@pytest.mark.parametrize(
    ("solve", "said"),
    [
        (lambda self, e, J, mu, root=None: None, "MyStep.solve returned None"),
        (lambda self, e, J, mu, root=None: [0.0] * 7, r"MyStep.solve returned \[0.0"),
        (lambda self, e, J, mu, root=None: np.zeros(3), r"shape \(3,\), but nv is 7"),
        (lambda self, e, J, mu, root=None: np.full(7, np.nan), "not finite"),
        (lambda self, e, J, mu, root=None: np.linalg.solve(np.zeros((7, 7)), np.zeros(7)), "could not solve .Singular"),
    ],
)
def test_a_direction_that_is_none_is_named(solve: Any, said: str) -> None:
    problem, starts = reachable()
    with pytest.raises(StepError, match=said):
        Projector(problem, engine=NewtonEngine(stepping(solve))).project(starts[0])


def test_a_direction_without_costs_is_refused() -> None:
    def build(self: Any, rows: int) -> None:
        """Forgets the costs."""

    with pytest.raises(WrongObjectError, match=r"MyStep\(rows, weights\)"):
        NewtonEngine(type("MyStep", (PseudoInverse,), {"__init__": build}))


def test_costs_of_zero_are_no_trouble() -> None:
    problem, starts = reachable()
    costly = Problem(ROBOT, problem.constraint_levels[0], weights=[1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 2.0])
    assert Projector(costly, engine=NewtonEngine(PseudoInverse)).project_batch(starts).success.mean() > 0.8


def test_a_hinge_is_one_class() -> None:
    """Value, Jacobian, drift, columns, threads and pickling by the law of functions; and it is solved."""
    bowl = OfRelativePose(ROBOT, ROBOT.frame("world"), ROBOT.frame("tool"), OnBowl(), name="on a bowl")
    check_function(bowl)
    result = Projector(Problem(ROBOT, [Implicit.zero(bowl)])).project(ROBOT.random(np.random.default_rng(0)))
    assert result.status is Status.CONVERGED
    x, y, z = ROBOT.at(result.q).placement("tool").translation
    assert abs(z - (x * x + y * y)) <= 1e-4
