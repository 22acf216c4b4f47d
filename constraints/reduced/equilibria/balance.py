"""The equations of an equilibrium: their unknowns, and their values at closed states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, final

import numpy as np

from liegroups.arguments import as_name, finite_number, real_numbers
from liegroups.arrays import ArrayLike, Indices, Matrix, TangentLike, Vector
from liegroups.frozen import read_only, set_fields

from ...dynamics.laws.external_force import Force
from ...errors import SizeError, WrongObjectError
from ...keywords import Named, can_be_called
from ...ranges import positive_number
from ...rows.right_hand_side import RightHandSide
from ..dynamics import Residual
from ..state import ClosedState
from ..system import reduced_mass_matrix
from .prescribed import NOT_BESIDE, Prescribed, closed_beside, negligible, prescribed

if TYPE_CHECKING:
    from ..coordinates import MinimalCoordinates

Scalars: TypeAlias = Mapping[str, float]
"""Values of the unknowns that are no coordinates, by name."""

FINE = 1e-5
"""Step of differences of coordinates [rad or m]."""


@final
@dataclass(frozen=True, eq=False)
class Unknown:
    """A scalar that an equilibrium solves for, in addition to coordinates or in place of one: a free length, a speed.

    Args:
        name: the key for functions: `lambda x: [PointSpring(..., length=x["free length"])]`.
        start: first value.
        step: step of differences; 1e-6 of 1 + abs(start) by default.

    Raises:
        WrongObjectError, NotFiniteError, OptionError: an invalid argument.
    """

    name: str
    start: float
    step: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        name = as_name(self.name, "name of an unknown")
        start = finite_number(self.start, f"start of the unknown '{name}'")
        step = 1e-6 * (1.0 + abs(start)) if self.step is None else self.step
        set_fields(self, start=start, step=positive_number(step, f"step of the unknown '{name}'"))


@final
class Given(NamedTuple):
    """What acts and moves, each a value or a function of the unknown scalars.

    Attributes:
        v: velocity (nv,), of which the independent and driven parts count.
        acceleration, driven_acceleration: (nu,), (nc,).
        tau: (nv,).
        external: forces.
    """

    v: TangentLike | Callable[[Scalars], TangentLike] | None
    acceleration: TangentLike | Callable[[Scalars], TangentLike] | None
    driven_acceleration: TangentLike | Callable[[Scalars], TangentLike] | None
    tau: TangentLike | Callable[[Scalars], TangentLike] | None
    external: Iterable[Force] | Callable[[Scalars], Iterable[Force]]


class SearchPoint(NamedTuple):
    """A closed state with values of the unknown scalars, and what is missing there.

    Attributes:
        state: closed.
        scalars: values of the unknowns that are no coordinates.
        given: what acts there.
        residual: R_u, Q_c, accelerations, multipliers.
        missing: (n,) values of the equations: R_u of the coordinates that are in balance, then extra equations.
    """

    state: ClosedState
    scalars: Vector
    given: Prescribed
    residual: Residual
    missing: Vector


@final
@dataclass(frozen=True, eq=False)
class ForceBalance:
    """The equations of an equilibrium. Unknowns: independent coordinates that move, then scalars.

    Attributes:
        coordinates: without motions in time.
        t: time [s].
        rhs: right-hand sides of the rows at t, with the rates that count.
        moving: which independent coordinates are solved for, as places in u.
        balanced: whose R_u must vanish, as places in u.
        scalars: the other unknowns.
        given: what acts and moves.
        timed: columns of joints that are driven in time.
        drives: their velocities.
        equations: extra ones, (state, scalars) -> numbers.
        extra: how many of these.
    """

    coordinates: MinimalCoordinates
    t: float
    rhs: RightHandSide
    moving: Indices
    balanced: Indices
    scalars: tuple[Unknown, ...]
    given: Given
    timed: Indices
    drives: Vector
    equations: Callable[[ClosedState, Scalars], ArrayLike] | None
    extra: int

    def named(self, scalars: Vector) -> Scalars:
        """The scalars by name."""
        values = ((s.name, float(x)) for s, x in zip(self.scalars, scalars, strict=True))
        return MappingProxyType(Named("scalar of an equilibrium", values))

    def velocity(self, scalars: Vector) -> Vector:
        """Velocity (nv,), whose dependent part does not count yet."""
        given = _at(self.given.v, self.named(scalars))
        space = self.coordinates.constraint_set.robot.space
        v = np.zeros(space.nv) if given is None else np.array(space.check_tangent(given, "v"))
        v[self.timed] = self.drives
        return v

    def start(self, q: Vector) -> SearchPoint:
        """The point at a closed configuration, the scalars at their starts."""
        scalars = np.array([s.start for s in self.scalars])
        state = self.coordinates.at(q, self.velocity(scalars), t=self.t, rhs=self.rhs, close=True)
        return self._point(state, scalars)

    def beside(self, point: SearchPoint, x: Vector) -> SearchPoint:
        """The point after a step of the unknowns (n,). Raises what `closed_beside` raises."""
        n = self.moving.size
        step = np.zeros(self.coordinates.partition.independent.size)
        step[self.moving] = x[:n]
        scalars = point.scalars + x[n:]
        return self._point(closed_beside(point.state, step, self.velocity(scalars)), scalars)

    def derivative(self, point: SearchPoint) -> Matrix:
        """Derivative (n, n) of what is missing by the unknowns: central differences along the closed states.

        Raises what `closed_beside` raises, where no neighbour closes, nor one nearer by.
        """
        steps = np.concatenate([np.full(self.moving.size, FINE), [float(s.step or 0.0) for s in self.scalars]])
        D = np.zeros((point.missing.size, steps.size))
        for i, h in enumerate(steps):
            D[:, i] = self._difference(point, i, float(h))
        return D

    def allowed(self, point: SearchPoint, D: Matrix, tolerance: float) -> Vector:
        """How large what is missing (n,) may be at an equilibrium: forces as `negligible` says.

        Extra equations: a part of what they change by where all unknowns change by their size.

        Args:
            point: where.
            D: derivative there (n, n).
            tolerance: of the equilibrium.
        """
        sizes, rounding = point.given.sizes(point.state, point.residual.acceleration)
        rows, moving = self.balanced.size, self.moving.size
        forces = negligible(tolerance, sizes[self.balanced], rounding, D[:rows, :moving])
        reach = np.concatenate([np.ones(moving), 1.0 + np.abs(point.scalars)])
        return np.concatenate([forces, tolerance * (np.abs(D[rows:]) @ reach)])

    def sizes(self, state: ClosedState) -> Vector:
        """Square roots of the inertias (nu,): what makes numbers of different units comparable; 1 for what has none."""
        inertia = np.diag(reduced_mass_matrix(state))
        least = 1e-12 * float(inertia.max(initial=0.0))
        return np.sqrt(np.where(inertia > least, inertia, 1.0))

    def _difference(self, point: SearchPoint, i: int, h: float) -> Vector:
        x = np.zeros(self.moving.size + len(self.scalars))
        x[i] = h
        try:
            return (self.beside(point, x).missing - self.beside(point, -x).missing) / (2.0 * h)
        except NOT_BESIDE:
            if h < 0.01 * FINE:
                raise
            return self._difference(point, i, 0.1 * h)

    def _point(self, state: ClosedState, scalars: Vector) -> SearchPoint:
        values = self.named(scalars)
        _, acceleration, driven, tau, external = (_at(given, values) for given in self.given)
        given = prescribed(self.coordinates, acceleration, driven, tau, external)
        residual = given.residual(state)
        missing = residual.independent[self.balanced]
        if self.equations is not None:
            more = real_numbers(self.equations(state, values), "extra equations of an equilibrium", finite=True)
            if more.size != self.extra:
                raise SizeError("extra equations of an equilibrium", self.extra, more.size)
            missing = np.concatenate([missing, more.ravel()])
        for array in (scalars, missing, *residual):
            read_only(array)
        return SearchPoint(state, scalars, given, residual, missing)


def _at(given: Any, scalars: Scalars) -> Any:
    """A value, or that of a function of the unknown scalars. Forces may be called too, and are no such function."""
    is_function = callable(given) and not (hasattr(given, "generalised") or hasattr(given, "__iter__"))
    if is_function and not can_be_called(given, scalars):
        words = f"a function f(x) of the unknowns by name (here {', '.join(scalars) or 'none'}), or the value itself"
        raise WrongObjectError("what acts in an equilibrium", words, getattr(given, "__name__", repr(given)))
    return given(scalars) if is_function else given
