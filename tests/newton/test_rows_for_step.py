"""Rows for a step are the exact rows times an invertible matrix that keeps norms, and Newton's step is the same."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest
from robots import ur5
from samples import SAMPLES

from constraints import Function, Implicit, Options, Orientation, Pose, Problem, Projector, Rotation, Transformation
from constraints.rows.stacking import StackedRows
from liegroups import SE3, R3xSO3, Rn

ANGLES = [0.0, 1e-12, 1e-8, 1e-4, 1.0, 2.9, np.pi - 1e-8]
MIXING = sorted(name for name, make in SAMPLES.items() if getattr(make(), "mixed_rows", ()))


def both(constraint: Implicit, q: np.ndarray, rhs: np.ndarray | None = None):
    """Error and Jacobian of a constraint alone: exact, and for a step."""
    problem = Problem(constraint.space, [constraint], bounds=None)
    sides = problem.rhs if rhs is None else problem.rhs.replace(constraint, rhs)
    rows = []
    for mixed in (False, True):
        memory = StackedRows(problem.constraints, problem.space)
        stacked = memory.position(problem.at(q), sides, mixed=mixed)
        rows.append((stacked.error.copy(), stacked.jacobian.copy()))
    return rows


def check_mixing(constraint: Implicit, q: np.ndarray, blocks, rhs: np.ndarray | None = None) -> None:
    (e, J), (e1, J1) = both(constraint, q, rhs)
    for block in blocks:
        assert np.linalg.norm(e1[block]) == pytest.approx(np.linalg.norm(e[block]), rel=1e-9, abs=1e-13)
    # T by its effect on the Jacobian: T J J^+ where J has full row rank.
    T = J1 @ np.linalg.pinv(J)
    if np.linalg.svd(J, compute_uv=False)[-1] > 1e-3:
        np.testing.assert_allclose(T @ J, J1, atol=1e-8)
        np.testing.assert_allclose(T @ e, e1, atol=1e-7)
        assert np.linalg.cond(T) < 1e3
        np.testing.assert_allclose(np.linalg.pinv(J1) @ e1, np.linalg.pinv(J) @ e, atol=1e-6)
    assert not J1[:, ~constraint.columns].any()


@pytest.mark.parametrize("name", MIXING)
def test_functions_into_vectors_mix_their_rows(name: str):
    """Against the exact rows, for every function that has such rows, at random configurations."""
    f = SAMPLES[name]()
    rng = np.random.default_rng(5)
    for _ in range(5):
        check_mixing(Implicit.zero(f), f.inputs.random(rng), f.mixed_rows)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith("CenterOfMass, relative")])
def test_the_centre_of_mass_for_a_step_is_itself(name: str):
    """The rows of the function, but for the last bits."""
    f = SAMPLES[name]()
    rng = np.random.default_rng(6)
    for _ in range(5):
        q = f.inputs.random(rng)
        (e, J), (e1, J1) = both(Implicit.zero(f), q)
        np.testing.assert_allclose(e1, e, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(J1, f.jacobian(q), rtol=0.0, atol=1e-14)
        assert np.array_equal(J, f.jacobian(q))


def test_some_functions_mix():
    """The list above is not empty: absolute and relative forms of the three functions of a pose in vectors."""
    assert {name.split(" ")[0].split("(")[0] for name in MIXING} >= {"Transformation", "Orientation", "Position"}


@pytest.mark.parametrize("angle", ANGLES)
def test_hard_angles(angle: float):
    """Rotation errors of zero, tiny, and close to half a turn; translation errors of zero and not."""
    robot = ur5()
    frame = robot.joint_names[-1]
    q = np.array([0.4, -0.7, 0.6, 0.1, 0.9, -0.3])
    here = pin.XYZQUATToSE3(Pose(robot, frame).value(q))
    for shift in (np.zeros(3), np.array([0.2, -0.1, 0.3])):
        axis = np.array([0.36, 0.48, 0.8])
        target = here * pin.SE3(pin.exp3(-angle * axis), shift)
        for f in (Transformation(robot, frame, target), Orientation(robot, frame, target)):
            check_mixing(Implicit.zero(f), q, f.mixed_rows)
        for f, rhs, blocks in (
            (Pose(robot, frame), pin.SE3ToXYZQUAT(target), (slice(0, 6),)),
            (Pose(robot, frame, outputs=R3xSO3), pin.SE3ToXYZQUAT(target), (slice(0, 3), slice(3, 6))),
            (Rotation(robot, frame), pin.SE3ToXYZQUAT(target)[3:], (slice(0, 3),)),
        ):
            check_mixing(Implicit.equal(f), q, blocks, rhs)


def test_masks_that_split_a_block_and_right_hand_sides_keep_rows_exact():
    """Where mixing would bring masked rows in, or move the right-hand side, the rows are exact, bit for bit."""
    robot = ur5()
    frame, q = robot.joint_names[-1], np.array([0.4, -0.7, 0.6, 0.1, 0.9, -0.3])
    f = Transformation(robot, frame)
    split = Implicit.zero(f, mask=[True, False, True, True, True, True])
    offset = Implicit.equal(f, np.array([0.1, 0.0, 0.2, 0.0, 0.3, 0.0]))
    scaled = Implicit(f, scale=[1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
    for constraint in (split, offset, scaled):
        (e, J), (e1, J1) = both(constraint, q)
        assert np.array_equal(e, e1)
        assert np.array_equal(J, J1)
    whole = Implicit.zero(f, mask=[False, False, False, True, True, True])
    (e, _), (e1, _) = both(whole, q)
    assert not np.array_equal(e, e1)
    assert np.linalg.norm(e1) == pytest.approx(np.linalg.norm(e), rel=1e-12)


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
    assert type(f).evaluate_for_step is None  # that of the parent spoke of another value
    assert not f.mixed_rows
    assert not f.sees_only_frames
    check_mixing(Implicit.zero(f), q + 0.1, (slice(0, 3), slice(3, 6)))
    result = Projector(Problem(robot, [Implicit.zero(f)])).project(q + 0.05)
    assert result.success
    model = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, result.q)
    off = here.actInv(data.oMi[model.njoints - 1])
    np.testing.assert_allclose(off.translation, [x, 0.0, 0.0], atol=1e-4)
    np.testing.assert_allclose(off.rotation, np.eye(3), atol=1e-4)


def test_projections_end_where_the_exact_rows_hold():
    """What the solver calls a solution satisfies the exact rows; a stationary end is one of the exact gradient."""
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
