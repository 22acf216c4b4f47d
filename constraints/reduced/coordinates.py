"""Minimal coordinates: which tangent coordinates of a closed mechanism are free, driven, or follow from the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liegroups.arguments import as_flag, expect, finite_number
from liegroups.arrays import ArrayLike, Indices, Matrix, TangentLike, Vector
from liegroups.frozen import read_only, read_only_copy

from ..errors import OptionError, SizeError, UndefinedError
from ..keywords import NamesChecked
from ..linear_algebra import RANK_TOLERANCE, as_rank_tolerance, rank_of_rows, singular_values
from ..loops import ConstraintSet
from ..loops.closing.rank_beside import rank_beside
from ..loops.constraint_set import A_SET
from ..loops.mobility import named, weak_rows, weak_words
from ..loops.partition import Partition, partition
from ..rows.right_hand_side import RightHandSide
from ..rows.target import Target
from ..words import counted, first_names
from .chart import Chart
from .closing import Closing, ClosingStep, DeadPointError, closing, driven_at, newton_step
from .state import ClosedState, closed_configuration, closed_state
from .wishes import (
    Driven,
    PartitionError as PartitionError,
    Wished,
    check_not_driven,
    check_partition,
    columns_of,
    driven_columns,
    part_of,
)

SHOWN = 40
"""So many names of a kind are printed; the properties have all."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class MinimalCoordinates(NamesChecked):
    r"""The tangent coordinates of a closed mechanism, split into independent u, driven c and dependent v. Immutable.

    The rows of the constraint set determine the dependent velocities: with h the independent rows,

    .. math:: \dot v = B\,[\dot u; \dot c] + \ldots, \qquad B = -J_v^{-1} J_{uc}, \qquad J_v = J[h, v]

    Columns are tangent coordinates: a ball has three, "ball[0]" to "ball[2]", a free joint six, linear then angular.
    It contains all data needed to close the mechanism, and can be pickled.

    Attributes:
        constraint_set: the constraint set.
        q: (nq,) the closed configuration at which they were chosen.
        partition: columns u, c, v and rows h, the others redundant.
        targets: driven joint -> its motion in time, if it has one.
        tolerance: singular values below this fraction of the largest one count as zero.

    Source: coordinate partitioning of Robotran (Wehage and Haug 1982), which partitions joints; here tangent
    coordinates.
    """

    constraint_set: ConstraintSet
    q: Vector
    partition: Partition
    targets: Mapping[str, Target] = field(default_factory=dict[str, Target])
    tolerance: float = RANK_TOLERANCE

    def __post_init__(self) -> None:
        """Make it read-only."""
        vars(self)["targets"] = MappingProxyType({**self.targets})
        vars(self)["q"] = read_only_copy(self.q)

    @cached_property
    def held(self) -> Indices:
        """Columns u, then c: all that do not follow from others."""
        return read_only(np.concatenate([self.partition.independent, self.partition.driven]))

    @cached_property
    def chart(self) -> Chart:
        """How the dependent columns move a configuration; the others are held."""
        return Chart(self.constraint_set.robot.space, self.partition.dependent)

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the independent coordinates: the requested ones first, then the preferred ones."""
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
        """Names of the rows that the others imply: "elbow[2]". Rows that are off are not among them."""
        whole, rows = self.constraint_set, self.partition.redundant
        return tuple(whole.row_name(int(i)) for i in rows[np.isin(rows, whole.on_rows)])

    def close(
        self,
        q: ArrayLike,
        *,
        tolerance: float = 1e-12,
        max_iterations: int = 50,
        t: float = 0.0,
        rhs: RightHandSide | None = None,
    ) -> Closing:
        r"""Close the mechanism by its dependent coordinates; independent and driven ones keep their bits.

        .. math:: v_{k+1} = v_k \oplus \left(-J_v^{-1}\,h\right), \qquad J_v = J[h, v]

        Plain Newton: no step limit, no bounds, and it may end on another branch than the start; use `assemble_position`
        for far starts. Joints driven in time first get their values at t.

        If only some columns of a ball or free joint are dependent, the others cannot be held bit for bit: the logarithm
        of its change from the start has no component along the held columns.

        Args:
            q: start (nq,); returned unchanged if it is closed.
            tolerance: largest error of the rows h [m or rad], 1e-15 or more; all rows must then hold to 1e-6 (redundant
                rows of a file agree only to its decimals).
            max_iterations: budget.
            t: time of driven joints and of targets of rows [s].
            rhs: right-hand sides; those at t by default.

        Returns:
            A value with the iterates; failure is a status, never an exception.

        Raises:
            SizeError, NotFiniteError, NotNormalizedError, OptionError: an invalid argument, or an invalid motion of a
                driven joint.

        Source: `mbs_close_geo` of Robotran.
        """
        return closing(self, q, tolerance, max_iterations, t, rhs)

    def step(
        self, q: ArrayLike, *, start: ArrayLike | None = None, t: float = 0.0, rhs: RightHandSide | None = None
    ) -> ClosingStep:
        """One step of `close`: repeated, it gives the same iterates, bit for bit.

        Args:
            q: iterate (nq,).
            start: the first iterate (nq,), q by default. It matters if a ball or a free joint is split (`chart.split`):
                the held columns do not move from there.
            t: time of driven joints and of targets of rows [s].
            rhs: right-hand sides; those at t by default.

        Raises:
            DeadPointError: J_v is singular at q.
            UndefinedError: a function has no value at q, or the step is longer than 1e6.
            SizeError, NotFiniteError, NotNormalizedError: an invalid argument.

        Source: `mbs_step_close_geo` of Robotran.
        """
        check, time = self.constraint_set.robot.check, finite_number(t, "time of a step")
        at = driven_at(self, np.array(check(q)), time)
        first = at if start is None else np.array(check(start, "start"))
        found, lu = newton_step(self, at, self.rhs_at(time) if rhs is None else rhs, first)
        if found is not None:
            return found
        if lu.is_singular:
            raise DeadPointError(lu.rcond, self.dependent)
        raise UndefinedError("step of a closing: from here it is longer than 1e6 rad or m, which is useless")

    def at(
        self,
        q: ArrayLike,
        v: TangentLike | None = None,
        *,
        t: float = 0.0,
        close: bool = False,
        rhs: RightHandSide | None = None,
    ) -> ClosedState:
        """A state whose position, velocity and acceleration satisfy the rows; loops are closed as by `close`.

        Args:
            q: (nq,).
            v: (nv,), closed; at rest by default. Or of independent and driven joints by name, {"crank": 1.0}, the
                others zero: the dependent velocities then follow.
            t: time of driven joints and of targets of rows [s].
            close: compute the dependent parts of q and v, and those driven in time, from the others; without it an
                open state is an error.
            rhs: right-hand sides with their rates; those at t by default.

        Raises:
            OpenMechanismError: the state is open in position or velocity, by more than 1e-6.
            FailedError: with `close`, Newton's iteration failed; the error carries it.
            DeadPointError: J_v is singular there.
            RankError: rows that are redundant for the coordinates are not redundant here.
            SizeError, NotFiniteError, NotNormalizedError: an invalid argument.

        Source: `mbs_close_geo`, `mbs_close_kin` and `mbs_calc_jdqd` of Robotran.
        """
        return closed_state(self, q, v, t, close, rhs)

    def rhs_at(self, t: float) -> RightHandSide:
        """Right-hand sides of the rows at time t [s], as `constraint_set.rhs_at`."""
        return self.constraint_set.rhs_at(t) if self._at_rest is None else self._at_rest

    @cached_property
    def _at_rest(self) -> RightHandSide | None:
        """Those at all times; None where one is a function of time."""
        moves = any(owner.target is not None for owner in self.constraint_set.stack)
        return None if moves else self.constraint_set.rhs_at(0.0)

    def spread(self, u: TangentLike, c: TangentLike | None = None) -> Vector:
        """Tangent vector (nv,) from its independent and driven parts; zeros for the dependent ones.

        Args:
            u: (nu,), in the order of `independent`; or by joint, {"crank": 1.0}, the others zero.
            c: (nc,), in the order of `driven`, or by joint; zeros by default.

        Raises:
            UnknownNameError, UnknownJointError: a joint that is not among them; lists those that are.
            SizeError, DtypeError, NotFiniteError: a part with other than as many finite numbers.
        """
        parts = self.partition
        whole = np.zeros(self.constraint_set.robot.nv)
        all_driven = c is None and not parts.independent.size and parts.driven.size
        if all_driven and not isinstance(u, Mapping) and np.size(u):
            hint = f"driven ones are the second argument: spread([], {np.array(u, dtype=object).ravel().tolist()})"
            raise SizeError("independent part of a tangent", 0, np.size(u), hint)
        whole[parts.independent] = self.independent_part(u, "independent part of a tangent")
        if c is not None:
            whole[parts.driven] = self.driven_part(c, "driven part of a tangent")
        return whole

    @cached_property
    def is_singular(self) -> bool:
        """Whether q is singular: the rank of the rows is higher at closed configurations 0.01 [rad or m] beside it."""
        rows, sides = self.constraint_set, self.rhs_at(0.0)

        def evaluate(q: Vector) -> tuple[Vector, Matrix]:
            return rows.position_rows(rows.robot.at(q), sides)

        every = np.arange(rows.robot.nv)
        there = rank_beside(evaluate, rows.robot.space, self.q, every, self.tolerance)
        return there > rank_of_rows(singular_values(evaluate(self.q)[1]), self.tolerance)

    @property
    def weak(self) -> dict[str, float]:
        """Rows that small singular values hold, each with its part of the largest one, as `Mobility.weak`."""
        J = self.constraint_set.jacobian(self.q, self.rhs_at(0.0))
        U, S, _ = np.linalg.svd(J, full_matrices=False)
        names = [self.constraint_set.row_name(i) for i in range(len(J))]
        return weak_rows(U, S, rank_of_rows(S, self.tolerance), names)

    def spread_by_joint(self, v: Mapping[str, ArrayLike], what: str) -> Vector:
        """Tangent vector (nv,) from independent and driven joints by name; zeros for the others. Errors as `spread`."""
        whole, robot = np.zeros(self.constraint_set.robot.nv), self.constraint_set.robot
        whole[self.held] = part_of(robot, self.held, v, what, "independent or driven coordinate")
        return whole

    def independent_part(self, u: TangentLike, what: str) -> Vector:
        """Numbers (nu,) of the independent coordinates from a user: in their order, or by joint. Errors as `spread`."""
        return part_of(self.constraint_set.robot, self.partition.independent, u, what, "independent coordinate")

    def driven_part(self, c: TangentLike, what: str) -> Vector:
        """Numbers (nc,) of the driven coordinates from a user: in their order, or by joint. Errors as `spread`."""
        return part_of(self.constraint_set.robot, self.partition.driven, c, what, "driven coordinate")

    def _named(self, columns: Indices) -> tuple[str, ...]:
        return named(self.constraint_set.robot.coordinate_names, columns)

    def describe(self) -> str:
        """The coordinates by name, and the redundant rows."""
        parts = self.partition
        rows = f"{counted(len(self.constraint_set.on_rows), 'row')}, rank {parts.rank}"
        lines = [f"minimal coordinates of '{self.constraint_set.robot.name}': {rows}"]
        for word, names in (
            ("independent", self.independent),
            ("driven", self.driven),
            ("dependent", self.dependent),
            ("redundant rows", self.redundant),
        ):
            timed = " (in time)" if word == "driven" and self.targets else ""
            lines.append(f"  {word} ({len(names)}): {first_names(names, SHOWN) or 'none'}{timed}")
        if self.is_singular:
            lines.append("  singular: the rank is higher at closed configurations beside this one: split them there")
        lines += [f"  {line}" for line in weak_words(self.weak)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        p = self.partition
        return f"MinimalCoordinates(u {p.independent.size}, c {p.driven.size}, v {p.dependent.size})"

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.constraint_set, self.q, self.partition, dict(self.targets), self.tolerance)
        return MinimalCoordinates, arguments


def minimal_coordinates(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    *,
    independent: Wished = (),
    preferred: Wished = (),
    driven: Driven = (),
    tolerance: float | None = None,
    t: float = 0.0,
    close: bool = False,
) -> MinimalCoordinates:
    r"""Split the tangent coordinates of a closed mechanism, by pivots of its Jacobian or as requested.

    The number of dependent ones is the rank of J without its driven columns, by singular values. They are found by QR
    with column pivoting, which takes the column that is farthest from the span of those before: first among columns
    that are neither requested nor preferred, then among the preferred ones, last among the requested ones. The rows h
    are then the pivots of :math:`J[:, v]^T`. So J_v is about as well conditioned as J allows: on the mechanisms and
    models here, without requested coordinates, its condition is at most 2.4 times that of J, and no entry of B is above
    1.6.

    The split depends on q alone: at a singular configuration, such as a flat parallelogram, more coordinates are
    independent and more rows redundant than nearby, and `at` raises RankError at other configurations.

    Args:
        constraint_set: closures, couplers and other equalities with position rows.
        q: closed configuration (nq,) at which they are split.
        independent: coordinates that must be independent: all, some, or none; the rest is chosen.
        preferred: coordinates that are independent if the rank allows, for example motors; never an error.
        driven: joints whose motion is imposed, whole; never dependent.
        tolerance: singular values up to this part of the largest one count as zero; the `rounding` of the set by
            default.
        t: time of the targets of rows [s].
        close: close q first (`assemble_position`, with the driven joints held) if it is open.

    Raises:
        OpenMechanismError: q is open without `close`, or it does not close.
        PartitionError: the rows do not leave a requested or driven coordinate free: names it, and possible ones.
        UnknownNameError, UnknownJointError, OverlapError, WrongObjectError, OptionError: an invalid argument.

    Example:
        >>> from constraints.models import mechanisms
        >>> linkage = mechanisms.four_bar()
        >>> print(minimal_coordinates(linkage.constraint_set(), linkage.posture("closed"), independent=["rocker"]))
        minimal coordinates of 'four_bar': 5 rows, rank 2
          independent (1): rocker
          driven (0): none
          dependent (2): crank, coupler
          redundant rows (3): coupler_end to rocker_end[2], coupler_end to rocker_end[3], ...

    Source: coordinate partitioning of Robotran (`mbs_part`).
    """
    whole = expect(constraint_set, ConstraintSet, "constraint set of minimal coordinates", A_SET)
    _only_equalities(whole)
    limit = whole.rounding if tolerance is None else as_rank_tolerance(tolerance, "tolerance of a partition")
    time = finite_number(t, "time of a partition")
    robot = whole.robot
    held, motions = driven_columns(robot, driven)
    wished = columns_of(robot, independent, "independent coordinates")
    check_not_driven(robot, wished, held)
    liked = columns_of(robot, preferred, "preferred coordinates")
    start = np.array(robot.check(q))
    at = closed_configuration(whole, start, time, as_flag(close, "`close` of minimal coordinates"), held)
    J = whole.jacobian(at, whole.rhs_at(time))
    parts = partition(J, wished=wished, preferred=liked, driven=held, tolerance=limit)
    check_partition(whole, J, parts, wished, held, limit)
    for each in parts:
        read_only(each)
    return MinimalCoordinates(whole, at, parts, motions, limit)


def _only_equalities(constraint_set: ConstraintSet) -> None:
    """Refuse, by name, constraints that are on and are no equalities of positions."""
    for owner, _ in constraint_set.on:
        if not owner.has_position:
            raise OptionError(f"minimal coordinates: '{owner.name}' has no position rows; give it an anchor")
        if (owner.rows.one_sided & owner.rows.mask).any():
            raise OptionError(f"minimal coordinates: '{owner.name}' has inequalities, which do not define coordinates")
