"""Controls that hold a robot at rest, with the forces of its contacts and loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups.arguments import as_mapping, as_tolerance, natural_number, real_numbers
from liegroups.arrays import ArrayLike, Vector

from ..errors import ConstraintError, OptionError, SizeError, UnknownNameError
from ..linear_algebra import largest
from ..solvers.result import Result

if TYPE_CHECKING:
    from .contact_dynamics import ContactForwardDynamics

RANK = 1e-12
"""Singular values of the balance below this part of the largest, times its larger size, are zero: Crocoddyl's."""


class NoEquilibriumError(ConstraintError):
    """No controls hold the robot at rest; carries the result: `result`."""

    def __init__(self, result: QuasiStatic) -> None:
        self.result = result
        super().__init__(str(result))


@final
@dataclass(frozen=True, eq=False, repr=False)
class QuasiStatic(Result):
    r"""Controls and multipliers at rest: :math:`B u + J^T \lambda = h(q, 0)`.

    Attributes:
        u: (nu,), of least norm if it is not unique.
        multipliers: lambda (size,).
        missing: (nv,) rest of the balance [N, N m].
        residual: its largest entry.
        limit: the balance counts as met up to this residual.
        iterations: number of corrections of rounding.
    """

    u: Vector
    multipliers: Vector
    missing: Vector
    residual: float
    limit: float
    iterations: int

    @property
    def success(self) -> bool:
        """Whether the balance is met."""
        return self.residual <= self.limit

    def or_raise(self) -> QuasiStatic:
        """The result itself if it is an equilibrium. Raises NoEquilibriumError, which carries it."""
        if not self.success:
            raise NoEquilibriumError(self)
        return self

    def __repr__(self) -> str:
        return f"QuasiStatic({self})"

    def __str__(self) -> str:
        if self.success:
            return f"equilibrium (residual {self.residual:.3g} N or N m)"
        return f"no equilibrium: controls and contacts leave {self.residual:.3g} N or N m"


def quasi_static(
    action: ContactForwardDynamics,
    x: ArrayLike,
    max_iterations: int = 5,
    tolerance: float = 1e-9,
    weights: Mapping[str, ArrayLike] | None = None,
) -> QuasiStatic:
    r"""Least controls and multipliers that hold a robot at rest.

    .. math:: \min_{u, \lambda} |W_u u|^2 + |W_\lambda \lambda|^2 \quad \text{such that} \quad
        B u + J^T \lambda = h(q, 0)

    Without weights newtons count as newton metres, as in Crocoddyl: an arm in contact then lets the contact carry part
    of its own weight. Contacts that are off carry nothing; damping and armature have no part in it.

    Args:
        action: whose actuators and constraints.
        x: state (nx,), at rest.
        max_iterations: corrections of rounding, at most.
        tolerance: largest entry of the balance that counts as met, as a part of the largest force of gravity.
        weights: "controls" and "multipliers" -> one number, or one an entry: what a unit of each counts. They say what
            newtons are against newton metres; infinite: what is not used at all.

    Raises:
        OptionError: a state that moves; a weight that is not positive.
        UnknownNameError: another name among the weights.
        SizeError, NotFiniteError, ...: what is wrong with x or with weights.

    Source: `quasiStatic` of Crocoddyl, which ignores velocities and says nothing where there is no equilibrium.
    """
    q, v = action.state.split(x)
    if v.any():
        raise OptionError(f"state of a quasi-static balance: expected no velocity, got up to {largest(v):.3g}")
    most = natural_number(max_iterations, "iterations of a quasi-static balance")
    close = as_tolerance(tolerance, "tolerance of a quasi-static balance")
    motion = action.robot.at(q, v)
    B, J = action.actuators.B(q), action.constraint_set.rows_at(motion, action.rhs).jacobian
    nu, k = B.shape[1], len(J)
    scale = 1.0 / _weights(weights, nu, k)
    A, asked = np.hstack([B, J.T]) * scale, motion.bias_force()
    y, left, used = np.zeros(nu + k), asked, 0
    limit = close * max(largest(asked), 1.0)
    while True:
        y = y + np.linalg.lstsq(A, left, rcond=RANK * max(A.shape))[0] if A.size else y
        missing = asked - A @ y
        if largest(missing) <= limit or used >= most or largest(missing) >= 0.5 * largest(left):
            break
        left, used = missing, used + 1
    found = y * scale
    residual = largest(missing)
    return QuasiStatic(found[:nu], found[nu:], missing, residual, limit, used)


def _weights(weights: Any, nu: int, k: int) -> Vector:
    found = {"controls": np.ones(nu), "multipliers": np.ones(k)}
    words = "from 'controls' and 'multipliers' to numbers"
    entries: dict[str, Any] = {} if weights is None else {**as_mapping(weights, "weights of a balance", words)}
    for name, numbers in entries.items():
        if name not in found:
            raise UnknownNameError("weights of a quasi-static balance", name, tuple(found))
        n, given = found[name].size, real_numbers(numbers, f"weights of {name}")
        if given.ndim and given.shape != (n,):
            raise SizeError(f"weights of {name}", n, given.shape)
        if not (given > 0.0).all():
            raise OptionError(f"weights of {name}: expected positive numbers, got {given.min():g}")
        found[name] = np.broadcast_to(given, (n,)).astype(np.float64)
    return np.concatenate([found["controls"], found["multipliers"]])
