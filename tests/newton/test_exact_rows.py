"""Projections end where the rows themselves hold: those of the function that was given, as it was written."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest
from robots import ur5

from constraints import Function, Implicit, Options, Pose, Problem, Projector, Transformation
from liegroups import SE3, Rn


@dataclass(frozen=True, eq=False, repr=False)
class Doubled(Transformation):
    """Twice the rows, by a user who knows `evaluate` alone."""

    def evaluate(self, point, value, jacobian=None):
        super().evaluate(point, value, jacobian)
        value *= 2.0
        value[0] -= 0.2
        if jacobian is not None:
            jacobian *= 2.0


class Shifted:
    """The same change as a mixin."""

    def evaluate(self, point, value, jacobian=None):
        super().evaluate(point, value, jacobian)  # pyright: ignore
        value[0] -= 0.1


@dataclass(frozen=True, eq=False, repr=False)
class Mixed(Shifted, Transformation):
    """With the mixin before the function."""


@pytest.mark.parametrize(("kind", "x"), [(Doubled, 0.1), (Mixed, 0.1)])
def test_whoever_overrides_the_value_alone_is_asked_for_it(kind, x: float):
    """The solver ends where the subclass is zero, not its parent: plain pinocchio says where the frame is."""
    robot = ur5()
    frame, q = robot.joint_names[-1], np.array([0.4, -0.7, 0.6, 0.1, 0.9, -0.3])
    here = pin.XYZQUATToSE3(Pose(robot, frame).value(q))
    f = kind(robot, frame, here)
    result = Projector(Problem(robot, [Implicit.zero(f)])).project(q + 0.05)
    assert result.success
    model = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, result.q)
    off = here.actInv(data.oMi[model.njoints - 1])
    np.testing.assert_allclose(off.translation, [x, 0.0, 0.0], atol=1e-4)
    np.testing.assert_allclose(off.rotation, np.eye(3), atol=1e-4)


def test_projections_end_where_the_exact_rows_hold():
    """What the solver calls a solution satisfies the rows; its residual is that of the function."""
    robot = ur5()
    rng = np.random.default_rng(3)
    f = Transformation(
        robot, robot.joint_names[-1], pin.XYZQUATToSE3(SE3.random(rng, np.full(7, 0.2), np.full(7, 0.5)))
    )
    problem = Problem(robot, [Implicit.zero(f)])
    projector = Projector(problem, Options())
    for _ in range(20):
        result = projector.project(robot.random(rng))
        error = f.value(result.q)
        assert result.residual == pytest.approx(float(np.linalg.norm(error)), rel=1e-9, abs=1e-12)
        assert result.success == (np.linalg.norm(error) <= 1e-4)


@pytest.mark.parametrize("cap", [1e160, 1e300])
def test_a_cap_whose_square_overflows_is_no_cap(cap: float):
    """Newton's own steps, from a start where they are long: (0.1, 0.1) to a root of x y = 3."""
    f = Function.from_callable(
        lambda q: [q[0] * q[1] - 3.0], Rn(2), Rn(1), lambda q: np.array([[q[1], q[0]]]), name="product"
    )
    result = Projector(Problem(Rn(2), [Implicit.zero(f)]), Options(cap=cap, damping=0.0)).project([0.1, 0.1])
    assert result.success
    assert result.q[0] * result.q[1] == pytest.approx(3.0, abs=1e-4)
