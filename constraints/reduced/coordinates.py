"""Minimal coordinates: which tangent coordinates of a closed mechanism are free, driven, or follow from the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias, final

import numpy as np

from liegroups import Segments
from liegroups.arguments import as_tolerance, expect, finite_vector
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.frozen import read_only_copy

from ..errors import ConstraintError, OptionError, SizeError, UnknownNameError, WrongObjectError
from ..linear_algebra import RANK_TOLERANCE, largest
from ..loops import ConstraintSet
from ..loops.mobility import coordinate_names
from ..loops.partition import Partition, partition
from ..problem.arguments import frozen_columns
from ..rows.right_hand_side import RightHandSide
from ..rows.target import Target
from ..words import counted, first_names
from .closing import Closing, close_position
from .state import ClosedState, closed_configuration, closed_state

Wished: TypeAlias = "Iterable[str | Segments] | Segments"
"""Coordinates: names of joints ("elbow"), of one of their coordinates ("ball[1]"), or Segments."""

Driven: TypeAlias = "Iterable[str | Segments] | Segments | Mapping[str, Target | None]"
"""Driven joints: names or Segments; or from joint to its motion in time (None: it has no function of time)."""

DRIVEN = "driven joints"


class PartitionError(ConstraintError):
    """Coordinates cannot be split as it was wished: `names` are those that cannot, `partition` what is possible."""

    def __init__(self, message: str, names: tuple[str, ...], partition: Partition) -> None:
        self.names, self.partition = names, partition
        super().__init__(message)


@final
@dataclass(frozen=True, eq=False, repr=False)
class MinimalCoordinates:
    r"""The tangent coordinates of a closed mechanism, split into independent u, driven c and dependent v. Immutable.

    The rows of the constraint set determine the dependent velocities: with h the rows that count,

    .. math:: \dot v = B\,[\dot u; \dot c] + \ldots, \qquad B = -J_v^{-1} J_{uc}, \qquad J_v = J[h, v]

    Attributes:
        constraint_set: whose rows.
        q: (nq,) the closed configuration at which they were judged.
        partition: columns u, c, v and rows h, the others redundant.
        targets: driven joint -> its motion in time, where it has one.
        tolerance: singular values below this part of the largest one count as zero.

    Source: coordinate partitioning of Robotran (Wehage and Haug 1982), on tangent coordinates: balls and free joints
    have three and six.
    """

    constraint_set: ConstraintSet
    q: Vector
    partition: Partition
    targets: Mapping[str, Target] = field(default_factory=dict[str, Target])
    tolerance: float = RANK_TOLERANCE

    @property
    def held(self) -> Indices:
        """Columns u, then c: all that do not follow from others."""
        return np.concatenate([self.partition.independent, self.partition.driven])

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the independent coordinates, the wished ones first."""
        return self._named(self.partition.independent)

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the driven coordinates."""
        return self._named(self.partition.driven)

    @property
    def dependent(self) -> tuple[str, ...]:
        """Names of the dependent coordinates."""
        return self._named(self.partition.dependent)

    @property
    def redundant(self) -> tuple[str, ...]:
        """Names of the rows that the others imply: "elbow[2]"."""
        return tuple(self.constraint_set.row_name(int(i)) for i in self.partition.redundant)

    def close(self, q: ArrayLike, **options: Any) -> Closing:
        """As `close_position`, of these coordinates."""
        return close_position(self, q, **options)

    def at(self, q: ArrayLike, v: ArrayLike | None = None, **options: Any) -> ClosedState:
        """As `closed_state`, of these coordinates: a state that is closed at all levels."""
        return closed_state(self, q, v, **options)

    def rhs_at(self, t: float) -> RightHandSide:
        """Right-hand sides of the rows at time t [s], as `constraint_set.rhs_at`."""
        return self.constraint_set.rhs_at(t)

    def spread(self, u: ArrayLike, c: ArrayLike | None = None) -> Vector:
        """Tangent vector (nv,) from its independent and driven parts; zeros for the dependent ones.

        Args:
            u: (nu,), in the order of `independent`.
            c: (nc,), in the order of `driven`; zeros by default.
        """
        parts = self.partition
        whole = np.zeros(self.constraint_set.robot.nv)
        whole[parts.independent] = finite_vector(u, parts.independent.size, "independent part of a tangent")
        if c is not None:
            whole[parts.driven] = finite_vector(c, parts.driven.size, "driven part of a tangent")
        return whole

    def _named(self, columns: Indices) -> tuple[str, ...]:
        names = coordinate_names(self.constraint_set.robot)
        return tuple(names[int(i)] for i in columns)

    def describe(self) -> str:
        """The coordinates by name, and the redundant rows."""
        parts = self.partition
        rows = f"{counted(self.constraint_set.size, 'row')}, rank {parts.rank}"
        lines = [f"minimal coordinates of '{self.constraint_set.robot.name}': {rows}"]
        for word, names in (
            ("independent", self.independent),
            ("driven", self.driven),
            ("dependent", self.dependent),
            ("redundant rows", self.redundant),
        ):
            lines.append(f"  {word} ({len(names)}): {', '.join(names) or 'none'}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        p = self.partition
        return f"MinimalCoordinates(u {p.independent.size}, c {p.driven.size}, v {p.dependent.size})"


def minimal_coordinates(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    *,
    independent: Wished = (),
    driven: Driven = (),
    tolerance: float = RANK_TOLERANCE,
    t: float = 0.0,
    close: bool = False,
) -> MinimalCoordinates:
    """Split the tangent coordinates of a closed mechanism, by pivots of its Jacobian or as wished.

    Args:
        constraint_set: closures, couplers and other equalities with position rows.
        q: closed configuration (nq,) at which it is judged.
        independent: coordinates that shall be independent: all of them, some, or none; the rest is chosen by pivoting.
        driven: joints whose motion is imposed, whole; never dependent.
        tolerance: singular values below this part of the largest one count as zero.
        t: time of the targets of rows [s].
        close: close q first (`assemble_position`) where it is open.

    Raises:
        OpenMechanismError: q is open and `close` was not asked for, or it does not close.
        PartitionError: a wish, or a driven joint, that the rows do not leave free: names it, and what would do.
        UnknownNameError, OverlapError, WrongObjectError, OptionError: what is wrong with an argument.
    """
    whole = expect(constraint_set, ConstraintSet, "constraint set of minimal coordinates")
    _only_equalities(whole)
    limit = as_tolerance(tolerance, "tolerance of a partition")
    targets = _targets(driven)
    held = frozen_columns(whole.robot.space, [*targets] if isinstance(driven, Mapping) else driven, DRIVEN)
    wished = columns_of(whole, independent)
    for i in wished:
        if held[i]:
            name = coordinate_names(whole.robot)[i]
            raise OptionError(f"independent coordinates: '{name}' is driven; it cannot be both")
    at = closed_configuration(whole, q, t, close)
    J = whole.jacobian(at, whole.rhs_at(t))
    parts = partition(J, preferred=wished, driven=held, tolerance=limit)
    _check(whole, J, parts, wished, held, limit)
    moving = {joint: motion for joint, motion in targets.items() if motion is not None}
    return MinimalCoordinates(whole, read_only_copy(at), parts, MappingProxyType(moving), limit)


def columns_of(constraint_set: ConstraintSet, wished: Any) -> list[int]:
    """Tangent columns of joints, coordinates or Segments, in the order given."""
    robot = constraint_set.robot
    if isinstance(wished, str):
        expected = "a sequence of names of joints or coordinates, or Segments"
        raise WrongObjectError("independent coordinates", expected, f"one name alone: write ['{wished}']")
    names = coordinate_names(robot)
    columns: list[int] = []
    for entry in [wished] if isinstance(wished, Segments) else wished:
        if isinstance(entry, Segments):
            if entry.v and max(entry.v) >= robot.nv:
                raise SizeError("independent Segments", f"tangent coordinates below {robot.nv}", max(entry.v))
            columns += entry.v
            continue
        name = expect(entry, str, "independent coordinate", "the name of a joint or coordinate, or Segments")
        if name in names:
            columns.append(names.index(name))
        elif name in robot.joint_names:
            columns += range(*robot.velocity_slice_of(name).indices(robot.nv))
        else:
            raise UnknownNameError("joint or coordinate", name, (*robot.joint_names, *names))
    return list(dict.fromkeys(columns))


def _targets(driven: Any) -> dict[str, Target | None]:
    """The motions of driven joints, where they were given as a mapping."""
    if not isinstance(driven, Mapping):
        return {}
    entries: dict[str, Any] = {**driven}
    for joint, motion in entries.items():
        if motion is not None:
            expect(motion, Target, f"motion of the driven joint '{joint}'", "a Target, or None")
    return entries


def _only_equalities(constraint_set: ConstraintSet) -> None:
    """Minimal coordinates are of equalities with a position; what else there is, is refused by name."""
    for on, owner in zip(constraint_set.active, constraint_set.stack, strict=True):
        if not on:
            continue
        if not owner.has_position:
            raise OptionError(f"minimal coordinates: '{owner.name}' has no position rows; give it an anchor")
        if (owner.rows.one_sided & owner.rows.mask).any():
            raise OptionError(f"minimal coordinates: '{owner.name}' has inequalities; they leave no set of coordinates")


def _check(
    constraint_set: ConstraintSet, J: Matrix, parts: Partition, wished: list[int], held: BoolVector, tolerance: float
) -> None:
    """Refuse wishes that the rows do not leave free, and driven joints that they block."""
    names = coordinate_names(constraint_set.robot)
    able = partition(J, preferred=[*np.flatnonzero(held).tolist(), *wished], tolerance=tolerance)
    blocked = tuple(names[i] for i in able.dependent.tolist() if held[i])
    if blocked:
        raise PartitionError(
            f"driven joints: the rows leave {counted(J.shape[1] - able.rank, 'degree')} of freedom, so "
            f"{first_names(blocked)} cannot be driven beside the others (a dead centre, or too many are driven)",
            blocked,
            able,
        )
    wrong = tuple(names[i] for i in wished if i in parts.dependent)
    if wrong:
        left = J.shape[1] - int(held.sum()) - parts.rank
        scale = largest(J)
        free = partition(J, driven=held, tolerance=tolerance)
        others = first_names([names[i] for i in free.independent.tolist()])
        raise PartitionError(
            f"independent coordinates: {first_names(wrong)} cannot be independent beside the other wishes: J_v would "
            f"be singular (largest entry of J {scale:.3g}); the rows leave {left} free; possible: {others}",
            wrong,
            parts,
        )
