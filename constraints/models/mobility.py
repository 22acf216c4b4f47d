"""What the rows of a mechanism leave free: rank, mobility, redundant and inconsistent rows, independent coordinates."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr

from liegroups.doors import as_tolerance

from ..arrays import ArrayLike, Indices, Matrix, Vector
from ..robot import Robot
from ..rows import stack_rows
from ..solvers.dependence import Row
from ..stack import Stack

__all__ = ["Mobility", "coordinate_names", "mobility_at", "row_names"]

CLOSED = 1e-6
"""Residual up to which a configuration counts as closed [m or rad]: beyond, ranks are those of another posture."""

INCONSISTENT = 1e-12
"""Errors below this, in directions that no motion reaches, are rounding [m or rad]."""


@dataclass(frozen=True, eq=False)
class Mobility:
    r"""What the rows of a mechanism leave free at one configuration.

    With J = U S V^T, rank = number of singular values above `tolerance` times the largest. A set of `rank` rows that
    span the others is found by pivoted QR of J^T; the rest is redundant. The part of the residual that no motion
    reaches, :math:`r_\perp = (I - U_r U_r^T)\, r`, says by how much redundant rows are inconsistent.

    Attributes:
        rows, rank, mobility: numbers; mobility = nv - rank.
        redundant: names of rows that the others imply, to first order.
        inconsistent: owner of rows -> size of its part of :math:`r_\perp`, where above 1e-12 [m or rad], worst first.
        independent: names of coordinates that can be chosen freely; motors first where they can be.
        dependent: names of those that follow from them.
        residual: largest norm of the rows of one owner.
        reachable: norm of the part of all errors that motions can reduce, :math:`|U_r^T r|`.
        is_closed: whether the residual is at most 1e-6. At an open configuration rank and mobility are those of that
            configuration: overconstrained mechanisms have a higher rank there.
        singular_values: of J, largest first.
        tolerance: what was used.
    """

    rows: int
    rank: int
    mobility: int
    redundant: tuple[str, ...]
    inconsistent: dict[str, float]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    residual: float
    reachable: float
    is_closed: bool
    singular_values: Vector = field(repr=False)
    tolerance: float

    @property
    def inconsistency(self) -> float:
        """Largest entry of `inconsistent`; 0 where there is none."""
        return max(self.inconsistent.values(), default=0.0)

    def describe(self) -> str:
        """The figures in words."""
        lines = [f"rows {self.rows}, rank {self.rank} (tolerance {self.tolerance:g}), mobility {self.mobility}"]
        if not self.is_closed:
            lines.append(f"  judged at an open configuration (residual {self.residual:.3g}): assemble it first")
        if self.redundant:
            lines.append(f"  redundant: {', '.join(self.redundant)}")
        lines += [f"  '{name}': inconsistent by {size:.3g}" for name, size in self.inconsistent.items()]
        lines.append(f"  independent: {', '.join(self.independent) or 'none'}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def mobility_at(robot: Robot, stack: Stack, q: ArrayLike, preferred: Collection[str], tolerance: float) -> Mobility:
    """Judge a stack of rows at a configuration.

    Args:
        robot: on which they are.
        stack: the rows.
        q: configuration (nq,).
        preferred: joints whose coordinates should be independent where they can be.
        tolerance: singular values below this part of the largest one count as zero.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with q.
        WrongObjectError: a tolerance that is no number.
    """
    tolerance = as_tolerance(tolerance, "tolerance of a rank")
    point = robot.at(q)  # held until all is copied
    rows = stack_rows(stack, point)
    J, r, residual = rows.jacobian.copy(), rows.error.copy(), rows.residual
    U, S, _ = np.linalg.svd(J, full_matrices=False)
    rank = int((tolerance * S.max(initial=0.0) < S).sum())
    left = r - U[:, :rank] @ (U[:, :rank].T @ r)
    apart = {owner.name: float(np.sqrt(left[s] @ left[s])) for owner, s in zip(stack, stack.slices, strict=True)}
    kept = set(_pivots(J.T)[:rank])
    labels = row_names(stack)
    columns = coordinate_names(robot)
    chosen = set(_dependent(J, rank, _columns_of(robot, preferred), tolerance).tolist())
    order = [*_columns_of(robot, preferred), *range(robot.nv)]
    return Mobility(
        rows=stack.size,
        rank=rank,
        mobility=robot.nv - rank,
        redundant=tuple(label for i, label in enumerate(labels) if i not in kept),
        inconsistent={n: size for n, size in sorted(apart.items(), key=lambda e: -e[1]) if size > INCONSISTENT},
        independent=tuple(columns[i] for i in dict.fromkeys(order) if i not in chosen),
        dependent=tuple(name for i, name in enumerate(columns) if i in chosen),
        residual=residual,
        reachable=float(np.linalg.norm(U[:, :rank].T @ r)),
        is_closed=bool(residual <= CLOSED),
        singular_values=np.asarray(S, dtype=np.float64),
        tolerance=tolerance,
    )


def row_names(stack: Stack) -> tuple[str, ...]:
    """A name for each row that counts, as a diagnosis has it: "row 2 of 'left foot'"."""
    rows = [Row(owner.name, i, int(k)) for i, owner in enumerate(stack) for k in np.flatnonzero(owner.rows.mask)]
    return tuple(str(row) for row in rows)


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """A name for each tangent coordinate: that of its joint, with its number where the joint has several."""
    names: list[str] = []
    for factor in robot.space.factors:
        size = factor.v.stop - factor.v.start
        names += [factor.name] if size == 1 else [f"{factor.name}[{i}]" for i in range(size)]
    return tuple(names)


def _columns_of(robot: Robot, joints: Collection[str]) -> list[int]:
    return [i for joint in joints for i in range(*robot.velocity_slice_of(joint).indices(robot.nv))]


def _pivots(A: Matrix) -> list[int]:
    """Columns in the order of pivoted QR."""
    if not A.size:
        return list(range(A.shape[1]))
    found: Any = qr(A, mode="r", pivoting=True)
    pivots: list[int] = found[1].tolist()
    return pivots


def _dependent(J: Matrix, rank: int, preferred: list[int], tolerance: float) -> Indices:
    """Columns that follow from the others: as few of the preferred ones as the rank allows."""
    wanted = set(preferred)
    passes = [[i for i in range(J.shape[1]) if i not in wanted], list(dict.fromkeys(preferred))]
    passes = [columns for columns in passes if columns]
    longest = float(np.sqrt(np.einsum("ij,ij->j", J, J).max(initial=0.0)))
    taken: list[int] = []
    span = np.zeros((J.shape[0], 0))
    for columns in passes:
        needed = rank - len(taken)
        if needed == 0:
            break
        rest = J[:, columns] - span @ (span.T @ J[:, columns])
        decomposition: tuple[Any, Any, Any] = qr(rest, mode="economic", pivoting=True)
        basis, R, order = decomposition
        found = needed if columns is passes[-1] else int((np.abs(np.diag(R)) > tolerance * longest).sum())
        found = min(found, needed)
        picked: list[int] = order[:found].tolist()
        taken += [columns[i] for i in picked]
        span = np.concatenate([span, basis[:, :found]], axis=1)
    return np.array(sorted(taken), dtype=np.intp)
