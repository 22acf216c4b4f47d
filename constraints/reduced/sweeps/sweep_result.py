"""What a sweep gave: configurations along a driver, singularities, and how well the driver moves the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...errors import OptionError, SizeError
from ...exports import from_above
from ...linear_algebra import singular_values
from ...robot import Bounds, Frame
from ...robot.bounds import Violation, outside_bounds
from ...rows.right_hand_side import RightHandSide
from ...solvers.result import Result
from ...words import counted, first_names
from ..coordinates import MinimalCoordinates
from ..wishes import Wished, columns_of
from .driver import Driver
from .singularities import Singularity
from .transmission import pivots_of, transmission_angles
from .travel import SweepStatus

if TYPE_CHECKING:
    from ...certificates.path_certificate import SweepCertificate

EDGE = 1e-6
"""So near to a bound counts as at it, where a sweep ended at bounds [rad or m]."""

A_TURN = 1.01
"""A driver that goes over more turns than this is said to do so."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    r"""Closed configurations along a driver.

    The sign of :math:`\det J_v` identifies the branch. At the start it is the sign for :math:`J[h, v]` of the
    coordinates; along the sweep it changes only at dead points and where branches cross. (With a fixed set of rows h it
    could also change because those rows become dependent.)

    Attributes:
        coordinates: the driver is the first independent coordinate; the other independent ones were held.
        driver: the driver.
        asked: (m,) the requested values.
        values: (n,) values of the driver that were reached, in that order [rad or m].
        indices: (n,) their positions in the requested values.
        qs: (n, nq) configurations.
        signs: (n,) sign of det J_v; 1 or -1.
        least_singular_values: (n,) the least singular value of J_v with all rows: 0 if the driver does not determine
            the others.
        status: how it ended.
        singularities: those on the path, in order; if the sweep ended at one, it is the last.
        end: (nq,) the last configuration: at the last value, or at the singularity or bound where it ended.
        end_value: of the driver there.
        bounds: the given bounds, or None.
        steps: number of inner steps.
        actuated: names of the actuated coordinates, if given.
        rhs: right-hand sides of the rows.
    """

    coordinates: MinimalCoordinates
    driver: Driver
    asked: Vector
    values: Vector
    indices: Indices
    qs: Matrix
    signs: Vector
    least_singular_values: Vector
    status: SweepStatus
    singularities: tuple[Singularity, ...]
    end: Vector
    end_value: float
    bounds: Bounds | None
    steps: int
    actuated: tuple[str, ...]
    rhs: RightHandSide

    @property
    def q(self) -> Vector:
        """The last configuration (nq,), `end`."""
        return self.end

    @property
    def held(self) -> tuple[str, ...]:
        """Names of the other independent coordinates, which kept their values."""
        return self.coordinates.independent[1:]

    @property
    def held_as_rates(self) -> tuple[str, ...]:
        """Held coordinates that are parts of a rotation or pose whose other parts follow.

        Their rate was held at zero: the configurations depend on the path (and slightly on the inner steps).
        """
        parts, names = self.coordinates.partition, self.coordinates.independent
        leaves = [
            leaf for leaf in self.coordinates.constraint_set.robot.space.leaves() if leaf.space.nq > leaf.space.nv
        ]
        return tuple(
            name
            for name, column in zip(names[1:], parts.independent[1:].tolist(), strict=True)
            for leaf in leaves
            if leaf.v.start <= column < leaf.v.stop
            and ((parts.dependent >= leaf.v.start) & (parts.dependent < leaf.v.stop)).any()
        )

    @property
    def at_bounds(self) -> tuple[str, ...]:
        """Names of the joints at their bounds, to 1e-6, if it ended at bounds; else empty."""
        if self.status is not SweepStatus.OUT_OF_BOUNDS or self.bounds is None:
            return ()
        near = (self.end <= self.bounds.lower + EDGE) | (self.end >= self.bounds.upper - EDGE)
        return tuple(factor.name for factor in self.bounds.space.factors if near[factor.q].any())

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Coordinates outside the bounds of the robot along the sweep, each by the most, in the order of q."""
        bounds, worst = self.coordinates.constraint_set.robot.bounds, dict[int, Violation]()
        for q in (*self.qs, self.end):
            for each in bounds.violations(q, EDGE):
                if abs(each.amount) > abs(worst.get(each.entry, each._replace(amount=0.0)).amount):
                    worst[each.entry] = each
        return tuple(worst[entry] for entry in sorted(worst))

    def transmission_angles(self, through: Iterable[str | Frame] = ()) -> Vector:
        r"""Angles (n,) between coupler and output, from 0 to :math:`\pi/2` [rad].

        If the driver is in several loops of four pivots (`transmission_loops`), the angles are those of the worst loop
        at each value.

        Args:
            through: frames P, Q, R at the three other joints of one loop, in order; by default the loops are found.
                They have four pivots with parallel axes, the driver's among them.

        Raises:
            OptionError: there is no such loop; give the frames.
        """
        return transmission_angles(pivots_of(self.coordinates, through), self.qs)

    @property
    def transmission_loops(self) -> tuple[str, ...]:
        """Names of the closures of the loops that `transmission_angles` finds; empty if there are none."""
        try:
            return tuple(pivots.name for pivots in pivots_of(self.coordinates))
        except OptionError:
            return ()

    def least_with(self, held: Wished) -> Vector:
        """The least singular value (n,) of the remaining columns of J, if other coordinates are held.

        Args:
            held: as many as the mobility; motors, for instance. If the value is 0 they do not hold the mechanism.

        Raises:
            SizeError, UnknownNameError: as in `actuated` of `sweep`.
        """
        return least_values(self.coordinates, passive_columns(self.coordinates, held), self.rhs, self.qs)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Figure of the dependent coordinates, and of transmission angle or least singular value, over the driver.

        Args:
            path: also write the figure there.

        Returns:
            The matplotlib figure (extra `plot`).

        Raises:
            MissingExtraError: matplotlib is not installed.
            FileError: the file cannot be written.
        """
        return from_above("plot_sweep")(self, path)

    def certify(self, *, branches: bool = True, seconds: float = 30.0) -> SweepCertificate:
        """Prove that it stays on one branch, and follow all others that close the mechanism at its first value.

        Args:
            branches: whether the others are looked for; coordinates that are no angles need `SweepOptions.bounds`.
            seconds: wall time of the search for them.

        Returns:
            COMPLETE, PROVED (the sweep's own branch alone), or NOT_PROVED with the value where the proof ends; dead
            points, where the rows lose rank with the driver held, are named.

        Raises:
            OptionError: no time; fewer than two values; a held coordinate that is a part of a rotation.
        """
        return from_above("certify_sweep")(self, branches=branches, seconds=seconds)

    @property
    def reached_words(self) -> str:
        """How many values were reached, and where it ended, in words."""
        reached = len(set(self.indices.tolist()))
        words = f"{reached} of {counted(len(self.asked), 'value')}; {self.driver.name} {self.end_value:.9g} at the end"
        turns = self.driver.turns(self.coordinates.constraint_set.robot, self.values)
        words += f", after {turns:.3g} turns" if turns > A_TURN else ""
        outside = first_names(self.at_bounds)
        return f"{words}, at the bounds of {outside}" if outside else words

    def describe(self) -> str:
        """The sweep in words: driver, what was held, how it ended, singularities, what is outside its bounds."""
        lines = [
            f"sweep of '{self.driver.name}': {self.status}",
            f"  {self.reached_words}; {counted(self.steps, 'inner step')}",
            f"  held: {first_names(self.held) or 'nothing else is independent'}",
            *([f"  held as rates: {first_names(self.held_as_rates)}"] if self.held_as_rates else []),
            f"  follow: {first_names(self.coordinates.dependent) or 'none'}",
        ]
        if len(self.values):
            worst = int(np.argmin(self.least_singular_values))
            least = self.least_singular_values[worst]
            lines.append(f"  least singular value of J_v: {least:.3g}, at {self.values[worst]:.6g}")
        lines += [f"  {each}" for each in self.singularities]
        lines += ["  `cross=True` goes on there, smoothly"] if self.status is SweepStatus.BRANCH_POINT else []
        lines += outside_bounds(self.violations)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        singular = counted(len(self.singularities), "singular point")
        outside = ", out of bounds" if self.violations else ""
        values = counted(len(self.values), "value")
        return f"Sweep({self.driver.name!r}, {self.status.name}, {values}, {singular}{outside})"


def passive_columns(coordinates: MinimalCoordinates, actuated: Wished) -> Indices:
    """Tangent columns that are not actuated.

    Args:
        coordinates: of whose mechanism.
        actuated: joints or coordinates, as many columns as the mobility.
    """
    whole = coordinates.constraint_set
    columns = columns_of(whole.robot, actuated, "actuated coordinates")
    mobility = coordinates.held.size
    if len(columns) != mobility:
        raise SizeError("actuated coordinates of a sweep", f"{mobility}, the mobility", len(columns))
    return np.setdiff1d(np.arange(whole.robot.nv), columns)


def least_values(coordinates: MinimalCoordinates, columns: Indices, rhs: RightHandSide, qs: Matrix) -> Vector:
    """The least singular value (n,) of some columns of J, as many as its rank; infinite where there are none.

    Args:
        coordinates: of whose rows.
        columns: which columns.
        rhs: right-hand sides of the rows.
        qs: configurations (n, nq).
    """
    whole, rank = coordinates.constraint_set, coordinates.partition.rank
    sizes = [singular_values(whole.jacobian(q, rhs)[:, columns]) for q in qs] if rank else []
    return np.array([float(each[rank - 1]) for each in sizes]) if rank else np.full(len(qs), np.inf)
