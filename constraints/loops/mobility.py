"""What the rows of a mechanism leave free: rank, mobility, redundant and inconsistent rows, independent coordinates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector

from ..linear_algebra import as_rank_tolerance, pivots
from ..problem.arguments import frozen_columns
from ..robot import Robot
from ..rows.stack import Stack
from ..rows.stacking import stack_rows
from ..solvers.diagnosis.dependent_rows import Row
from .closing.idle_motions import idle_motions
from .closing.rank_beside import CLOSED as CLOSED, rank_beside
from .odd_axis import odd_axis, on_one_line
from .partition import Partition, partition

FREE = 1e-6
"""Part of a motion, of norm 1, from which on a coordinate takes part in it."""

WEAK_ROWS = 1e-4
"""Singular values that count, but are below this part of the largest one, are named."""

INCONSISTENT = 1e-12
"""Errors below this, in directions that no motion reaches, are rounding [m or rad]."""


@dataclass(frozen=True, eq=False)
class Mobility:
    r"""What the rows of a mechanism leave free at one configuration.

    With J = U S V^T, rank = number of singular values above `tolerance` times the largest. Which coordinates are
    dependent, and which rows span the others, is found by pivoted QR (`loops.partition`); the other rows are redundant.
    The part of the residual that no motion
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
        driven: names of the driven coordinates, where they were given.
        held_mobility: degrees of freedom that are left when the driven coordinates are held: nv less their number less
            the rank of the other columns; None without driven coordinates.
        blocked: how many directions of the driven coordinates the others cannot follow: the rank less that of the other
            columns. Above 0 it is a dead centre for certain; as many more directions of the others are free.
        undetermined: names of coordinates that can move, to first order, while the driven ones are held.
        held_singular_values: of the columns of J that are not driven, largest first; the last of the rank goes to zero
            where a dead centre comes near.
        rank_beside: the largest rank at closed configurations 0.01 [rad or m] beside; that of this one if it is open.
        weak: name of a row -> the singular value, as a part of the largest one, by which it is held alone, where that
            counts but is below 1e-4. Either a singular configuration is near, or the row is redundant but for the
            digits of a file.
        idle: motions of single bodies that nothing else takes part in, as "rod spins about its own axis".
        on_one_line: neighbours in a loop that turn the body between them about one line, in words.
        askew: pins that cannot turn, as their axis alone is not parallel to the others of their loop, in words.
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
    driven: tuple[str, ...] = ()
    held_mobility: int | None = None
    blocked: int = 0
    undetermined: tuple[str, ...] = ()
    held_singular_values: Vector | None = field(default=None, repr=False)
    rank_beside: int = 0
    weak: dict[str, float] = field(default_factory=dict[str, float])
    idle: tuple[str, ...] = ()
    on_one_line: tuple[str, ...] = ()
    askew: tuple[str, ...] = ()

    @property
    def is_singular(self) -> bool:
        """Whether the rank is lower here than beside: a dead centre, a stretched arm, or where two branches meet."""
        return self.rank_beside > self.rank

    @property
    def is_determined(self) -> bool:
        """Whether the driven coordinates determine the others, to first order: not at a dead centre, nor too few."""
        return self.held_mobility == 0

    @property
    def inconsistency(self) -> float:
        """Largest entry of `inconsistent`; 0 where there is none."""
        return max(self.inconsistent.values(), default=0.0)

    def describe(self) -> str:
        """The figures in words."""
        lines = [f"rows {self.rows}, rank {self.rank} (tolerance {self.tolerance:g}), mobility {self.mobility}"]
        if not self.is_closed:
            lines.append(f"  computed at an open configuration (residual {self.residual:.3g}): assemble it first")
        if self.is_singular:
            lines.append(f"  singular: the rank is {self.rank_beside} at closed configurations beside this one")
        if self.redundant:
            lines.append(f"  redundant: {', '.join(self.redundant)}")
        lines += [f"  {line}" for line in weak_words(self.weak)]
        lines += [f"  '{name}': inconsistent by {size:.3g}" for name, size in self.inconsistent.items()]
        lines.append(f"  independent: {', '.join(self.independent) or 'none'}")
        lines += [f"  idle: {', '.join(self.idle)}"] if self.idle else []
        lines += [f"  {words}" for words in self.on_one_line]
        lines += [f"  {'cannot turn' if self.mobility else 'nothing moves'}: {words}" for words in self.askew]
        if self.held_mobility is not None:
            lines.append(f"  with {', '.join(self.driven)} held: mobility {self.held_mobility}")
        if self.undetermined:
            why = (
                "a dead centre, or too few are driven"
                if self.blocked == 0
                else "a dead centre, or a part that moves alone"
            )
            lines.append(f"    may move: {', '.join(self.undetermined)} ({why})")
        if self.blocked:
            lines.append(f"    blocked directions of the driven joints: {self.blocked}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def mobility_at(
    robot: Robot, stack: Stack, q: ArrayLike, preferred: Collection[str], tolerance: float, driven: Any = ()
) -> Mobility:
    """Judge a stack of rows at a configuration.

    Args:
        robot: on which they are.
        stack: the rows.
        q: configuration (nq,).
        preferred: joints whose coordinates should be independent where they can be.
        tolerance: singular values below this part of the largest one count as zero.
        driven: joints (by name) or Segments that are held, and preferred in place of the others.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with q.
        WrongObjectError: a tolerance that is no number.
        UnknownJointError: lists the joints whose names come closest.
    """
    tolerance = as_rank_tolerance(tolerance, "tolerance of a rank")
    held = frozen_columns(robot.space, driven, "driven joints")
    point = robot.at(q)  # held until all is copied
    rows = stack_rows(stack, point)
    J, r, residual = rows.jacobian.copy(), rows.error.copy(), rows.residual
    wanted = np.flatnonzero(held).tolist() if held.any() else [i for j in preferred for i in robot.segments(j).v]
    parts = partition(J, preferred=wanted, tolerance=tolerance)
    rank = parts.rank
    U, S, _ = np.linalg.svd(J, full_matrices=False)
    left = r - U[:, :rank] @ (U[:, :rank].T @ r)
    apart = dict(stack.norms(left))
    labels, columns = row_names(stack), robot.coordinate_names
    return Mobility(
        rows=stack.size,
        rank=rank,
        mobility=robot.nv - rank,
        redundant=named(labels, parts.redundant),
        inconsistent={n: size for n, size in sorted(apart.items(), key=lambda e: -e[1]) if size > INCONSISTENT},
        independent=named(columns, parts.independent),
        dependent=named(columns, parts.dependent),
        residual=residual,
        reachable=float(np.linalg.norm(U[:, :rank].T @ r)),
        is_closed=bool(residual <= CLOSED),
        singular_values=np.asarray(S, dtype=np.float64),
        tolerance=tolerance,
        rank_beside=_rank_beside(robot, stack, point.q, rank, tolerance) if residual <= CLOSED else rank,
        weak=weak_rows(U, S, rank, labels),
        idle=idle_motions(robot, point, J, rank),
        on_one_line=tuple(on_one_line(stack)),
        askew=tuple(filter(None, (odd_axis(owner, point.q) for owner in stack))),
        **(_held(J, held, parts, columns) if held.any() else {}),
    )


def _rank_beside(robot: Robot, stack: Stack, q: Vector, rank: int, tolerance: float) -> int:
    """The rank of the rows at closed configurations beside one."""

    def evaluate(near: Vector) -> tuple[Vector, Matrix]:
        point = robot.at(near)  # held until all is copied
        rows = stack_rows(stack, point)
        return rows.error.copy(), rows.jacobian.copy()

    return max(rank, rank_beside(evaluate, robot.space, q, np.arange(robot.nv), tolerance))


def weak_rows(U: Matrix, S: Vector, rank: int, labels: Sequence[str]) -> dict[str, float]:
    """Rows that only small singular values hold: for each of these the row with the largest share, and its part.

    Args:
        U, S: of the Jacobian, largest first.
        rank: of it.
        labels: names of its rows.
    """
    weak: dict[int, float] = {}
    for k in range(rank):
        if S[k] <= WEAK_ROWS * S[0]:
            shares = np.abs(U[:, k])
            shares[list(weak)] = 0.0
            weak[int(pivots(shares[None])[0][0])] = float(S[k] / S[0])
    return {labels[i]: part for i, part in weak.items()}


def weak_words(weak: Mapping[str, float]) -> list[str]:
    """A line for each row that is held weakly: why that may be, and what to do then."""
    lines: list[str] = []
    for name, part in weak.items():
        limit = f"{10.0 ** np.ceil(np.log10(1.05 * part)):.0e}"
        lines.append(
            f"{name} is held by {part:.2g} of the largest singular value: a singular configuration is near, or it is "
            f"redundant but for the digits of a file (then `tolerance={limit}`, `rounding={limit}` of a set)"
        )
    return lines


def named(names: Sequence[str], chosen: Indices) -> tuple[str, ...]:
    """Some of the names."""
    return tuple(names[int(i)] for i in chosen)


def _held(J: Matrix, held: BoolVector, parts: Partition, columns: Sequence[str]) -> dict[str, Any]:
    """What is left when some columns are held, which the partition has left independent where it could."""
    others = np.flatnonzero(~held)
    _, S, Vt = np.linalg.svd(J[:, others])
    left = int((~held[parts.dependent]).sum())
    free = np.abs(Vt[left:]).max(axis=0, initial=0.0) > FREE
    return {
        "driven": named(columns, np.flatnonzero(held)),
        "held_mobility": others.size - left,
        "blocked": parts.rank - left,
        "undetermined": named(columns, others[free]),
        "held_singular_values": np.asarray(S, dtype=np.float64),
    }


def row_names(stack: Stack) -> tuple[str, ...]:
    """A name for each row that counts, as a diagnosis has it: "row 2 of 'left foot'"."""
    rows = [Row(owner.name, i, int(k)) for i, owner in enumerate(stack) for k in np.flatnonzero(owner.rows.mask)]
    return tuple(str(row) for row in rows)


def gimbal_words(robot: Robot, J: Matrix, columns: Indices) -> str:
    """Of some columns, those that move no row because their joint has lost an axis; empty where there are none.

    They belong to a joint of several coordinates whose others move rows: at such a posture two of its axes, or an axis
    and the line of a rod, fall together.

    Args:
        robot: whose coordinates.
        J: Jacobian of the rows (size, nv).
        columns: tangent columns that are looked at.
    """
    sizes, names = np.sqrt((J * J).sum(axis=0)), robot.coordinate_names
    still = sizes <= FREE * float(sizes.max(initial=0.0))
    found: list[str] = []
    for factor in robot.space.factors:
        own = [int(i) for i in columns if factor.v.start <= i < factor.v.stop and still[i]]
        if own and not still[factor.v].all():
            which = " and ".join(names[i] for i in own)
            found.append(f"{which} moves no row here: a singular posture (gimbal lock) of joint '{factor.name}' itself")
    return "; ".join(found)


def taking_part(robot: Robot, motions: Matrix) -> tuple[str, ...]:
    """Names of the coordinates that take part in some motions (nv, m), of norm 1 each."""
    part = np.abs(motions).max(axis=1, initial=0.0)
    return tuple(name for name, p in zip(robot.coordinate_names, part.tolist(), strict=True) if p > FREE)
