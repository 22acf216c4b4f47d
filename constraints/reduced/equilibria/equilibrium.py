"""Equilibria of closed mechanisms: configurations where the reduced residual vanishes, loops closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from liegroups.arguments import (
    as_callable,
    as_flag,
    as_mapping,
    as_tolerance,
    as_tuple,
    expect,
    finite_number,
    natural_number,
    refuse_repeated,
)
from liegroups.arrays import ArrayLike, Indices, TangentLike, Vector
from liegroups.frozen import read_only_copy, set_fields

from ...dynamics.laws.external_force import Force
from ...errors import FailedError, OptionError, UndefinedError
from ...keywords import record_by_name
from ...linear_algebra import largest
from ...robot.bounds import Violation, outside_bounds
from ...solvers.result import ByJoint
from ...words import counted, first_names
from ..closing import ReducedStatus, driven_at
from ..coordinates import MinimalCoordinates
from ..state import ClosedState, check_driven
from ..wishes import Wished, places_of
from .balance import ForceBalance, Given, Scalars, SearchPoint, Unknown
from .equilibrium_search import EquilibriumSearch, search
from .kept_motion import EquilibriumKind, KeptMotion, kept_acceleration, kept_sides, kept_speeds
from .linearisation import Linearisation, linearised
from .prescribed import at_rest

if TYPE_CHECKING:
    from .modes import Modes

ELSEWHERE = (
    "There may be an equilibrium elsewhere: start from other configurations of a sweep; a sign change of "
    "`reduced_residual` along it shows where."
)
"""What is said of a search that stalled."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(ByJoint):
    """Result of a search for an equilibrium: configuration, status and iterates. Immutable.

    Attributes:
        q: (nq,) the last iterate.
        status: how it ended.
        reason: details of a failure; may be empty.
        unheld: names of unknowns that no force holds at q: either all of their values are an equilibrium, or none.
        coordinates: which coordinates follow from which.
        kind: which part of the motion was kept.
        points: the iterates with all results computed there; empty if the start does not close.
        factors: fraction of Newton's step that was taken, for each step.
        unknowns: the scalars that were solved for besides coordinates.
        ignored: independent coordinates that kept their values, and whose R_u was ignored.
        idle: names of joints whose body may spin about its own axis at q, with no force on the spin: it was left out.
    """

    _joint_space: ClassVar[str] = "coordinates.constraint_set.robot.space"

    q: Vector
    status: ReducedStatus
    reason: str
    unheld: tuple[str, ...]
    coordinates: MinimalCoordinates
    kind: EquilibriumKind
    points: tuple[SearchPoint, ...]
    factors: tuple[float, ...]
    unknowns: tuple[Unknown, ...]
    ignored: tuple[str, ...]
    idle: tuple[str, ...] = ()

    @property
    def state(self) -> ClosedState:
        """The closed state at q, with the kept velocities. Raises FailedError if there is none."""
        return self._last.state

    @property
    def scalars(self) -> Scalars:
        """Values of the scalar unknowns by name."""
        if not self.points:
            return MappingProxyType({unknown.name: unknown.start for unknown in self.unknowns})
        values = self.points[-1].scalars
        return MappingProxyType({unknown.name: float(x) for unknown, x in zip(self.unknowns, values, strict=True)})

    @property
    def driven_forces(self) -> Vector:
        """Q_c (nc,) [N, N m], forces of the drives in addition to tau, in the order of `coordinates.driven`."""
        return self._last.residual.driven

    @property
    def multipliers(self) -> Vector:
        """Multipliers lambda (size,) of the rows, zero on redundant ones."""
        return self._last.residual.multipliers

    @property
    def residual(self) -> float:
        """Largest R_u [N, N m] (without ignored coordinates), or extra equation, at q; infinite without a state."""
        return largest(self.points[-1].missing) if self.points else np.inf

    @property
    def residuals(self) -> tuple[float, ...]:
        """The residual at each iterate."""
        return tuple(largest(point.missing) for point in self.points)

    @property
    def iterates(self) -> tuple[Vector, ...]:
        """The closed configurations of the search, the start first."""
        return tuple(point.state.q for point in self.points)

    @property
    def iterations(self) -> int:
        """Number of steps."""
        return len(self.factors)

    def linearisation(self) -> Linearisation:
        """M_r, G_r and K_r at q, with the same forces.

        Raises:
            FailedError: the start does not close.
            NoLinearisationError: no neighbour of q closes.
        """
        return linearised(self._last.state, self._last.given)

    def modes(self, **options: Any) -> Modes:
        """As `modes`, of the linearisation at q; coordinates that the equilibrium ignored are held there too."""
        return self.linearisation().modes(**{"ignored": self.ignored, **options})

    def describe(self) -> str:
        """How it ended, the coordinates at q, those outside their bounds, the scalars, and the forces of the drives."""
        lines = [f"equilibrium ({self.kind.name.lower().replace('_', '-')}): {self}"]
        robot, parts = self.coordinates.constraint_set.robot, self.coordinates.partition
        from_neutral = robot.space.difference(robot.space.neutral, self.q)
        for name, x in zip(self.coordinates.independent, from_neutral[parts.independent], strict=True):
            lines.append(f"  {name}: {x:.6g}")
        lines += [f"  {name}: {x:.6g} (solved for)" for name, x in self.scalars.items()]
        lines += outside_bounds(self.violations)
        if self.points:
            for name, force in zip(self.coordinates.driven, self.driven_forces, strict=True):
                lines.append(f"  force of the drive of {name}: {force:.6g}")
        if self.unheld:
            lines.append(f"  held by no force: {first_names(self.unheld)}")
        lines += [f"  idle: {name} spins about its own axis" for name in self.idle]
        if self.status is ReducedStatus.STALLED:
            lines.append(f"  {ELSEWHERE}")
        return "\n".join(lines)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Coordinates of q outside the bounds of the robot, which the search ignores."""
        return self.coordinates.constraint_set.robot.bounds.violations(self.q)

    @property
    def _last(self) -> SearchPoint:
        if not self.points:
            raise FailedError(self)
        return self.points[-1]

    def __str__(self) -> str:
        words = f"{self.status} (residual {self.residual:.3g}, {counted(self.iterations, 'iteration')})"
        if self.status is ReducedStatus.SINGULAR:
            words += f"; no force holds {first_names(self.unheld)}: start elsewhere, or leave them out (ignore=)"
        return f"{words}; {self.reason}" if self.reason else words

    def __repr__(self) -> str:
        return f"Equilibrium({self.status.name}, residual {self.residual:.3g}, {counted(self.iterations, 'iteration')})"


@final
@record_by_name
@dataclass(frozen=True, kw_only=True, eq=False)
class EquilibriumOptions:
    """Further unknowns of `equilibrium`, and how it searches, each option given by its name. Immutable.

    Attributes:
        extra: scalars to solve for beside those in `exchange`.
        equations: (state, scalars) -> one number per scalar in `extra`, zero at a solution.
        t: time of driven joints and of targets of rows [s].
        close: if the start is open, close it first.
        tolerance: largest R_u, as a fraction of the sizes of its terms: gravity, inertia and each force. If all of
            these vanish a distance of 1e-3 of the tolerance [rad or m] is used instead.
        max_iterations: budget of steps.

    Raises:
        OptionError, WrongObjectError, SizeError, NotFiniteError: an invalid option.
    """

    extra: Iterable[Unknown] = ()
    equations: Callable[[ClosedState, Scalars], ArrayLike] | None = None
    t: float = 0.0
    close: bool = False
    tolerance: float = 1e-9
    max_iterations: int = 50

    def __post_init__(self) -> None:
        """Check types and ranges."""
        more = as_tuple(self.extra, "extra unknowns", "Unknown")
        if (self.equations is None) != (not more):
            raise OptionError(
                f"extra unknowns: {len(more)}, and {'no' if self.equations is None else 'some'} equations"
            )
        if self.equations is not None:
            as_callable(self.equations, "extra equations", "a function (state, scalars) -> numbers")
        set_fields(self, extra=more, t=finite_number(self.t, "time of an equilibrium"))
        as_flag(self.close, "close")
        as_tolerance(self.tolerance, "tolerance of an equilibrium")
        natural_number(self.max_iterations, "iteration limit")


def equilibrium(
    coordinates: MinimalCoordinates,
    q: ArrayLike,
    kept: KeptMotion | None = None,
    *,
    tau: TangentLike | Callable[[Scalars], TangentLike] | None = None,
    external: Iterable[Force] | Callable[[Scalars], Iterable[Force]] = (),
    exchange: Mapping[str, Unknown] | None = None,
    ignore: Wished = (),
    options: EquilibriumOptions | None = None,
) -> Equilibrium:
    r"""Find where a closed mechanism keeps its motion: :math:`R_u = 0`, with the loops closed in every evaluation.

    The unknowns are the independent coordinates; driven ones are fixed. Balls and free joints move in their tangent.
    Bounds of the joints are ignored: `violations` and `describe` name what is outside, also after success.
    A static equilibrium has no velocities and no accelerations; `kept` says which others keep: those of a governor
    whose spin is driven, for instance.

    **Other unknowns.** In `exchange`, an independent coordinate keeps its value, and a scalar is solved for in its
    place: the free length of a spring, a speed. Forces that depend on scalars are given as a function of their values
    by name: `external=lambda x: [PointSpring(robot, "tip", "hook", 200.0, length=x["free length"])]`; `tau`
    and what is kept may be functions too. The options have room for more scalars, with as many equations.

    Args:
        coordinates: which coordinates follow from which.
        q: start (nq,), closed.
        kept: velocities and accelerations that are kept; none by default.
        tau: joint forces (nv,) [N, N m], or by joint, {"crank": 1.0}; zero by default.
        external: external forces.
        exchange: independent coordinate -> the scalar that replaces it among the unknowns.
        ignore: independent coordinates that keep their value, and whose R_u is ignored.
        options: further unknowns, the time, tolerances.

    Returns:
        A value; failure is a status, never an exception.

    Raises:
        OpenMechanismError: q is open, without the option `close`.
        OptionError, UnknownNameError, WrongObjectError, SizeError, DuplicateNameError: an invalid argument.

    Source: `mbs_equil` of Robotran, with `mbs_Rred` as its function.
    """
    expect(coordinates, MinimalCoordinates, "coordinates of an equilibrium", "MinimalCoordinates")
    motion = KeptMotion() if kept is None else expect(kept, KeptMotion, "kept motion of an equilibrium")
    how = EquilibriumOptions() if options is None else expect(options, EquilibriumOptions, "options of an equilibrium")
    exchanged = as_mapping(exchange or {}, "exchanged unknowns", "coordinate -> Unknown")
    more = tuple(how.extra)
    scalars = _scalars([*exchanged.values(), *more])
    places = partial(places_of, coordinates.constraint_set.robot, coordinates.partition.independent)
    left = places(ignore, "ignored coordinates")
    held = np.concatenate([places([name], "exchanged coordinate") for name in exchanged] or [left[:0]])
    _check_exchanged(coordinates, exchanged, held, left)
    everything = np.arange(coordinates.partition.independent.size)
    balanced = np.setdiff1d(everything, left)
    balance = ForceBalance(
        at_rest(coordinates),
        how.t,
        kept_sides(coordinates.rhs_at(how.t), motion.what),
        np.setdiff1d(balanced, held),
        balanced,
        scalars,
        Given(motion.v, motion.acceleration, kept_acceleration(coordinates, motion, how.t), tau, external),
        *kept_speeds(coordinates, motion.what, how.t),
        how.equations,
        len(more),
    )
    return _searched(coordinates, q, balance, motion.what, how)


def _searched(
    coordinates: MinimalCoordinates,
    q: ArrayLike,
    balance: ForceBalance,
    kind: EquilibriumKind,
    options: EquilibriumOptions,
) -> Equilibrium:
    robot = coordinates.constraint_set.robot
    at = np.array(robot.check(q))
    if options.close:
        at = driven_at(coordinates, at, balance.t)
    else:
        check_driven(coordinates, at, None, balance.t, "pass EquilibriumOptions(close=True) to move it there")
        still = balance.rhs.with_valid(balance.rhs.vector.copy())
        balance.coordinates.at(at, t=balance.t, rhs=still)  # refuses it open
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not finite
            found = search(balance, balance.start(at), options.tolerance, options.max_iterations)
    except FailedError as error:
        found = EquilibriumSearch((), (), ReducedStatus.NOT_CLOSED, f"the start: {error}", ())
    except UndefinedError as error:
        found = EquilibriumSearch((), (), ReducedStatus.UNDEFINED, f"the start: {error}", ())
    names = [coordinates.independent[int(i)] for i in balance.moving] + [scalar.name for scalar in balance.scalars]
    return Equilibrium(
        read_only_copy(found.points[-1].state.q if found.points else at),
        found.status,
        found.reason,
        tuple(names[i] for i in found.unheld),
        coordinates,
        kind,
        found.points,
        found.factors,
        balance.scalars,
        tuple(name for i, name in enumerate(coordinates.independent) if i not in balance.balanced),
        found.idle,
    )


def _scalars(given: list[Any]) -> tuple[Unknown, ...]:
    """Unknown scalars with names of their own."""
    for unknown in given:
        expect(unknown, Unknown, "unknown of an equilibrium", "an Unknown(name, start)")
    refuse_repeated([unknown.name for unknown in given], "unknown")
    return tuple(given)


def _check_exchanged(
    coordinates: MinimalCoordinates, exchanged: Mapping[str, Unknown], held: Indices, left: Indices
) -> None:
    """One scalar for one coordinate, each once, and none that is ignored."""
    if held.size != len(exchanged) or len(set(held.tolist())) != held.size:
        raise OptionError(f"exchanged unknowns: one coordinate for one scalar, got {', '.join(exchanged)}")
    for place in held:
        if place in left:
            raise OptionError(f"exchanged unknowns: '{coordinates.independent[place]}' is ignored too")
