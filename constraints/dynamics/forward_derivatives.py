"""Derivatives of forward dynamics, as a value: of accelerations, multipliers and wrenches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.third_order import se3_coad

from ..loops import Axes
from ..loops.contacts import as_axes
from ..loops.frame_rows import FrameRows
from ..robot import Frame, Motion
from ..robot.model.pinocchio import pin
from ..rows.row_owner import RowOwner
from ..solvers.result import Result
from ..words import first_names
from .derivatives import SolutionSlopes, balance_at, slopes_of_balance
from .laws.external_force import force_slopes
from .methods.pinocchio_constraints import PinocchioConstraints, differentiable_constraints_of
from .methods.status import DynamicsStatus
from .methods.system import Question
from .multipliers import Body, check_body, frame_rows

if TYPE_CHECKING:
    from .forward import ForwardDynamics


class WrenchDerivatives(NamedTuple):
    """Derivatives of a wrench: by q (along the tangent), v and joint forces (6, nv), by gamma (6, size)."""

    by_q: Matrix
    by_v: Matrix
    by_tau: Matrix
    by_gamma: Matrix


@final
@dataclass(frozen=True, eq=False, repr=False)
class DynamicsDerivatives(Result):
    r"""Derivatives of constrained accelerations and multipliers at one state.

    Of :math:`M a + h = \tau + f(q, v) + J^T \lambda` and :math:`J a = \gamma`, by q (along the tangent: :math:`a(q
    \oplus \delta)`), v, joint forces tau and wanted accelerations gamma of the rows (targets act through gamma).
    Right-hand sides, tau and wanted accelerations are constant in the derivatives by q and v; external forces vary with
    the state. It is neither true nor false: `success` says whether there are derivatives.

    Attributes:
        status: whether there are derivatives, and of which multipliers.
        question: arguments of the dynamics.
        multipliers: lambda (size,).
        slopes: all derivatives; None if there are none.
        by_differences: names of constraints and external forces without formulas: their part is accurate to about 1e-9.
    """

    status: DynamicsStatus
    question: Question
    multipliers: Vector
    slopes: SolutionSlopes | None
    by_differences: tuple[str, ...]

    @property
    def has_exact_derivatives(self) -> bool:
        """Whether all derivatives come from formulas, without differences."""
        return self.success and not self.by_differences

    @property
    def acceleration_dq(self) -> Matrix:
        """Derivative of the acceleration by q (nv, nv); zeros if there are no derivatives (as in all of these)."""
        return self._slopes.a_q

    @property
    def acceleration_dv(self) -> Matrix:
        """Derivative of the acceleration by v (nv, nv)."""
        return self._slopes.a_v

    @property
    def acceleration_dtau(self) -> Matrix:
        """Derivative of the acceleration by joint forces (nv, nv)."""
        return self._slopes.a_tau

    @property
    def acceleration_dgamma(self) -> Matrix:
        """Derivative of the acceleration by wanted accelerations of the rows (nv, size)."""
        return self._slopes.a_gamma

    @property
    def multipliers_dq(self) -> Matrix:
        """Derivative of the multipliers by q (size, nv)."""
        return self._slopes.l_q

    @property
    def multipliers_dv(self) -> Matrix:
        """Derivative of the multipliers by v (size, nv)."""
        return self._slopes.l_v

    @property
    def multipliers_dtau(self) -> Matrix:
        """Derivative of the multipliers by joint forces (size, nv)."""
        return self._slopes.l_tau

    @property
    def multipliers_dgamma(self) -> Matrix:
        """Derivative of the multipliers by wanted accelerations of the rows (size, size)."""
        return self._slopes.l_gamma

    def wrench(
        self,
        which: RowOwner | str | int,
        on: Body = "successor",
        axes: Axes = Axes.LOCAL,
        frame: Frame | str | None = None,
    ) -> WrenchDerivatives:
        """Derivatives of `ForwardDynamics.wrench`, with the same arguments.

        Args:
            which: the object, its position, or its name.
            on: "successor", or "predecessor" with the opposite wrench.
            axes: LOCAL, those of the frame, or LOCAL_WORLD_ALIGNED.
            frame: the wrench is at its origin and in its axes; the frame of the body by default.

        Raises:
            NoWrenchError: the constraint is neither a contact nor a closure.
            UnknownNameError: `on` is not "successor" or "predecessor".
        """
        check_body(on)
        as_axes(axes, "a wrench")
        constraint_set, found = self.question.constraint_set, self._slopes
        owner = frame_rows(constraint_set, which)
        s = constraint_set.slice_of(which)
        moved = _moved(self.question, owner, self.multipliers[s], -1.0 if on == "predecessor" else 1.0, axes, frame)
        by_q, matrix = moved
        return WrenchDerivatives(
            by_q + matrix @ found.l_q[s], *(matrix @ each[s] for each in (found.l_v, found.l_tau, found.l_gamma))
        )

    @cached_property
    def _slopes(self) -> SolutionSlopes:
        if self.slopes is not None:
            return self.slopes
        n, k = self.question.v.size, self.question.constraint_set.size
        shapes = ((n, n), (n, n), (n, n), (k, n), (k, n), (k, n), (n, k), (k, k))
        return SolutionSlopes(*(np.zeros(shape) for shape in shapes))

    def __str__(self) -> str:
        some = f" (by differences: {first_names(self.by_differences)})" if self.by_differences else ""
        return f"{self.status}{some}"

    def __repr__(self) -> str:
        return f"DynamicsDerivatives({self.status.name})"


def dynamics_derivatives(result: ForwardDynamics) -> DynamicsDerivatives:
    """Derivatives of a result of `forward_dynamics`, by any method; same as `result.derivatives()`.

    They are exact for contacts, for closures (except custom hinges) and for constraints on functions that have
    `drift_derivatives`; `by_differences` names the others, and forces without `generalised_slopes(motion)`.

    If rows are redundant and their rank is the same nearby, derivatives of accelerations and wrench sums are exact, and
    the multipliers are those of least norm. If the rank changes near the state there are no derivatives. This happens
    at dead points, and for mechanisms that move only by their special lengths (Bennett's): their accelerations are
    smooth only along closed motions, which minimal coordinates describe.

    Args:
        result: acceleration and multipliers at one state.

    Raises:
        WrongObjectError: something else.
    """
    from .forward import ForwardDynamics

    expect(result, ForwardDynamics, "result to be differentiated", "what forward_dynamics returned")
    asked, multipliers = result.question, result.multipliers
    if not result.success:
        return DynamicsDerivatives(DynamicsStatus.NOT_SOLVED, asked, multipliers, None, ())
    space = asked.constraint_set.robot.space
    motion = space.move(space.place_alone(asked.q), asked.v)
    fused = _by_pinocchio(result, motion)
    if fused is not None:
        return DynamicsDerivatives(DynamicsStatus.SOLVED, asked, multipliers, fused, ())
    found, names = _by_rows(result, motion)
    if found is None or not isfinite(float(found.a_q.sum())):
        return DynamicsDerivatives(DynamicsStatus.NO_DERIVATIVES, asked, multipliers, None, names)
    whole = result.status is DynamicsStatus.SOLVED
    status = DynamicsStatus.SOLVED if whole else DynamicsStatus.RANK_DEFICIENT
    return DynamicsDerivatives(status, asked, multipliers, found, names)


def _by_pinocchio(result: ForwardDynamics, motion: Motion) -> SolutionSlopes | None:
    """By pinocchio's own derivatives, where all rows are those of pinocchio."""
    asked = result.question
    plain = not asked.external and asked.acceleration is None and asked.rhs is None
    if not plain or result.status is not DynamicsStatus.SOLVED:
        return None
    own = differentiable_constraints_of(asked.constraint_set, motion)
    if own is None or own.solve(asked.q, asked.v, asked.tau) is None:
        return None
    return slopes_by_pinocchio(own)


def slopes_by_pinocchio(own: PinocchioConstraints) -> SolutionSlopes:
    """Derivatives of the last solution, copies."""
    by = own.differentiate()
    a_q, a_v, a_tau = (np.array(each) for each in by[:3])
    spread = own.constraint_set.spread
    l_q, l_v, l_tau = (spread(np.array(each)) for each in by[3:])
    l_gamma = spread(spread(own.operational_inertia()).T).T
    return SolutionSlopes(a_q, a_v, a_tau, l_q, l_v, l_tau, -l_tau.T, l_gamma)


def _by_rows(result: ForwardDynamics, motion: Motion) -> tuple[SolutionSlopes | None, tuple[str, ...]]:
    """By the derivatives of all rows; and the names of what has no formulas."""
    asked, multipliers = result.question, result.multipliers
    constraint_set, q, v = asked.constraint_set, asked.q, asked.v
    tree = constraint_set.robot.space.elementary
    data = tree.datas.take()
    balance = balance_at(constraint_set, q, v, result.acceleration, multipliers, tree, data, asked.rhs)
    names = balance.rows.by_differences
    if asked.external:
        by_q, by_v, rough = force_slopes(asked.external, motion)
        balance = balance._replace(force_q=balance.force_q - by_q, force_v=balance.force_v - by_v)
        names += rough
    found = slopes_of_balance(constraint_set, q, motion.mass_matrix(), balance, multipliers, data, 0.0, asked.rhs)
    tree.datas.give(data)
    return found, names if tree.is_exact else ("inertia of ellipsoid joints", *names)


def _moved(
    question: Question, owner: FrameRows, multipliers: Vector, sign: float, axes: Axes, frame: Frame | str | None
) -> tuple[Matrix, Matrix]:
    """Of a wrench on a body, seen from a frame: its derivative by q at constant multipliers, and by the multipliers."""
    robot, still = question.constraint_set.robot, np.zeros(6)
    posture, b = robot.at(question.q), owner.successor

    def jacobian(at: Frame) -> Matrix:
        return posture.jacobian(at) if at.joint else np.zeros((6, robot.nv))

    X: Any = owner.pose(question.q)
    J_b = jacobian(b)
    J = J_b - X.toActionMatrixInverse() @ jacobian(owner.predecessor)
    D, slopes = owner.moving.rows_at(X, still, still, multipliers)
    wrench: Vector = sign * (multipliers @ D)
    by_q: Matrix = sign * (slopes.force @ J) - se3_coad(wrench) @ J_b  # in the world: W = X* w, and X moves with b
    to = posture.frame(frame) if frame is not None else b if sign > 0.0 else owner.predecessor
    seen: Any = posture.placement(to).actInv(posture.placement(b))
    carry = seen.toDualActionMatrix()
    w = carry @ wrench
    by_q = carry @ by_q + se3_coad(w) @ jacobian(to)
    matrix: Matrix = sign * (carry @ D.T)
    if axes is Axes.LOCAL_WORLD_ALIGNED:
        R = posture.placement(to).rotation
        turn = np.kron(np.eye(2), R)
        J_turn = jacobian(to)[3:]
        by_q = turn @ (by_q - np.vstack([pin.skew(w[:3]), pin.skew(w[3:])]) @ J_turn)
        matrix = turn @ matrix
    return by_q, matrix
