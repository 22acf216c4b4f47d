"""Assembly: configurations and velocities that close a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups import Segments

from ..arrays import ArrayLike, Matrix, Vector
from ..given import costs, frozen_columns
from ..ranks import RANK_TOLERANCE
from ..right_hand_side import RightHandSide
from ..robot import Bounds
from ..solvers import Options, Projection, Projector, Status
from .constraint_set import ConstraintSet

__all__ = ["Assembly", "assemble_position", "assemble_velocity"]

Driven = Sequence[str | Segments] | Segments


@final
@dataclass(frozen=True, eq=False, repr=False)
class Assembly:
    """What an assembly gave. On failure q is the best iterate; nothing is raised.

    Attributes:
        projection: the result of the solver, with its trace.
        constraint_set: what was assembled.
        status: why it ended; LEFT_BRANCH where it closed on another branch than that of the start.
    """

    projection: Projection
    constraint_set: ConstraintSet
    status: Status

    @property
    def q(self) -> Vector:
        """Configuration (nq,): closed, or the iterate of least residual."""
        return self.projection.q

    @property
    def success(self) -> bool:
        """Whether q is closed, and on the branch of the start where that was asked for."""
        return self.status is Status.CONVERGED

    @property
    def iterations(self) -> int:
        """Jacobians with their steps."""
        return self.projection.iterations

    @property
    def residual(self) -> float:
        """Largest norm of the error of one constraint."""
        return self.projection.residual

    def __repr__(self) -> str:
        return f"Assembly({self.status.name}, residual {self.residual:.3g}, {self.iterations} iterations)"


def assemble_position(
    constraint_set: ConstraintSet,
    q0: ArrayLike,
    *,
    weights: ArrayLike | Mapping[str, float] | None = None,
    driven: Driven = (),
    rhs: RightHandSide | None = None,
    bounds: Bounds | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 100,
) -> Assembly:
    """Close a mechanism: a configuration near q0 that satisfies its constraints."""
    problem = constraint_set.problem(
        weights=weights, frozen=driven, bounds=bounds or Bounds.none(constraint_set.robot.space)
    )
    options = Options.local(threshold=tolerance, max_iterations=max_iterations, trace=True)
    projection = Projector(problem, options).project(q0)
    return Assembly(projection, constraint_set, projection.status)


def assemble_velocity(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    v0: ArrayLike,
    *,
    weights: ArrayLike | Mapping[str, float] | None = None,
    driven: Driven = (),
    rhs: RightHandSide | None = None,
) -> Vector:
    r"""The velocity nearest to v0 that keeps a mechanism closed: the exact weighted projection.

    .. math:: \min_v \tfrac12 (v - v_0)^T W (v - v_0) \quad \text{such that} \quad J v = \dot y

    with :math:`\dot y` the velocity of the targets. Rank-revealing: redundant rows and zero costs are no special case.
    Of what the costs leave open, the nearest to v0 is taken; rows that contradict are met by least squares.

    Args:
        constraint_set: what holds.
        q: configuration (nq,), closed.
        v0: wanted velocity (nv,).
        weights: costs (nv,), or by joint; ones by default, 0 moves freely.
        driven: joints (by name) or Segments whose velocity is that of v0, bit for bit.
        rhs: right-hand sides with their velocities, as of `constraint_set.rhs_at(t)`; at rest by default.

    Returns:
        Velocity (nv,).

    Raises:
        SizeError, DtypeError, NotFiniteError, UnknownJointError, OptionError: what is wrong with an argument.
    """
    space = constraint_set.robot.space
    start = np.array(space.check_tangent(v0, "v0"))
    W, moving = costs(space, weights), np.flatnonzero(~frozen_columns(space, driven))
    error = constraint_set.velocity_error(q, start, rhs)
    J = constraint_set.jacobian(q, rhs)[:, moving]
    start[moving] -= least_change(J, error, W[moving])
    return start


def least_change(J: Matrix, e: Vector, W: Vector) -> Vector:
    """The d of least d^T W d with J d = e, by singular values; of those the shortest."""
    U, s, Vt = np.linalg.svd(J)
    rank = int((s > RANK_TOLERANCE * s.max(initial=0.0)).sum())
    d = Vt[:rank].T @ ((U[:, :rank].T @ e) / s[:rank])
    Z, root = Vt[rank:].T, np.sqrt(W)
    return d - Z @ np.linalg.lstsq(root[:, None] * Z, root * d, rcond=1e-10)[0]
