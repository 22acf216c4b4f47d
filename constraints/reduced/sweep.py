"""A driver turned all the way: the closed configurations along one coordinate, on one branch."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups.arguments import as_flag, expect, finite_number, real_numbers
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.frozen import read_only

from ..errors import ConstraintError, OptionError, SizeError, SpaceMismatchError
from ..keywords import names_checked
from ..linear_algebra import singular_values
from ..loops import ConstraintSet
from ..loops.mobility import coordinate_names
from ..ranges import positive_number, whole_number
from ..robot import Bounds, Frame
from ..rows.right_hand_side import RightHandSide
from ..solvers.options import LEAST_THRESHOLD, below_rounding
from ..solvers.result import Result
from ..words import counted, first_names
from .closing import factorised
from .continuation import Curve, Place
from .coordinates import MinimalCoordinates, Wished, columns_of
from .driver import Driver, coordinates_with, driver_column, driver_of
from .singularities import Singularity
from .transmission import pivots_of, transmission_angles
from .travel import Manner, SweepStatus, Travel


class NotSweptError(ConstraintError):
    """A sweep did not reach all values; carries the result: `sweep`."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        super().__init__(f"{sweep.status} ({sweep.reached_words})")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    r"""Closed configurations along a driver.

    The branch is told by the sign of :math:`\det J_v`, as a continuous motion keeps it: at the start it is that of
    :math:`J[h, v]` of the coordinates; from there on it changes at dead points and where ways cross alone, while the
    sign of a fixed set of rows h may also change because those rows become dependent.

    Attributes:
        coordinates: the driver is the first independent coordinate; the other ones were held; all others followed.
        driver: the driver.
        asked: (m,) the values that were asked for.
        values: (n,) of the driver, those that were reached, in the order in which they were [rad or m].
        indices: (n,) which of the values asked for they are.
        qs: (n, nq) configurations.
        signs: (n,) sign of det J_v; 1 or -1.
        least_singular_values: (n,) the least singular value of J_v, all its rows taken: 0 where the driver does not
            determine the others.
        status: how it ended.
        singularities: those on the way, in order; where it ended at one, that is the last.
        end: (nq,) the last configuration: of the last value, or the singularity or bound where it ended.
        end_value: of the driver there.
        bounds: those that were to be kept, or None.
        steps: number of inner steps.
        actuated: names of the actuated coordinates, where their singularities were looked for.
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
    def success(self) -> bool:
        """Whether all values were reached, or, where it was to turn back, met again."""
        return self.status.is_success

    @property
    def q(self) -> Vector:
        """The last configuration (nq,), `end`."""
        return self.end

    @property
    def held(self) -> tuple[str, ...]:
        """Names of the other independent coordinates, which kept their values."""
        return self.coordinates.independent[1:]

    @property
    def at_bounds(self) -> tuple[str, ...]:
        """Names of the joints at their bounds, to 1e-6, where it ended at bounds; otherwise none."""
        if self.status is not SweepStatus.OUT_OF_BOUNDS or self.bounds is None:
            return ()
        near = (self.end <= self.bounds.lower + EDGE) | (self.end >= self.bounds.upper - EDGE)
        return tuple(factor.name for factor in self.bounds.space.factors if near[factor.q].any())

    def transmission_angles(self, through: Iterable[str | Frame] = ()) -> Vector:
        r"""Angles (n,) between coupler and output, from 0 to :math:`\pi/2` [rad], as `transmission_angles`.

        Args:
            through: frames P, Q, R at the joints of the loop that the driver is not at, in order; by default they are
                found, where the driver is in one loop of four pivots with parallel axes.

        Raises:
            OptionError: there is no such loop; give the frames.
        """
        return transmission_angles(pivots_of(self.coordinates, through), self.qs)

    def least_with(self, held: Wished) -> Vector:
        """The least singular value (n,) of the columns of J that are left where other coordinates are held.

        Args:
            held: as many as the mobility; motors, for instance. Where the value is 0 they do not hold the mechanism.

        Raises:
            SizeError, UnknownNameError: as of `actuated` of `sweep`.
        """
        return least_values(self.coordinates, passive_columns(self.coordinates, held), self.rhs, self.qs)

    def or_raise(self) -> Sweep:
        """The sweep itself if it succeeded. Raises NotSweptError, which carries it."""
        if not self.success:
            raise NotSweptError(self)
        return self

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
        from ..pictures import plot_sweep

        return plot_sweep(self, path)

    @property
    def reached_words(self) -> str:
        """How many values were reached, and where it ended, in words."""
        reached = len(set(self.indices.tolist()))
        words = f"{reached} of {counted(len(self.asked), 'value')}; {self.driver.name} {self.end_value:.9g} at the end"
        outside = first_names(self.at_bounds)
        return f"{words}, at the bounds of {outside}" if outside else words

    def describe(self) -> str:
        """The sweep in words: driver, what was held, how it ended, singularities."""
        lines = [
            f"sweep of '{self.driver.name}': {self.status}",
            f"  {self.reached_words}; {counted(self.steps, 'inner step')}",
            f"  held: {first_names(self.held) or 'nothing else is independent'}",
            f"  follow: {first_names(self.coordinates.dependent) or 'none'}",
        ]
        if len(self.values):
            worst = int(np.argmin(self.least_singular_values))
            least = self.least_singular_values[worst]
            lines.append(f"  least singular value of J_v: {least:.3g}, at {self.values[worst]:.6g}")
        lines += [f"  {each}" for each in self.singularities]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        singular = counted(len(self.singularities), "singular point")
        return f"Sweep({self.driver.name!r}, {self.status.name}, {counted(len(self.values), 'value')}, {singular})"


EDGE = 1e-6
"""So near to a bound counts as at it, where a sweep ended at bounds [rad or m]."""


@names_checked("options are named: independent=, turn_back=, bounds=, ...")
def sweep(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    driver: str,
    values: ArrayLike,
    *,
    independent: Wished = (),
    preferred: Wished = (),
    turn_back: bool = False,
    cross: bool = False,
    actuated: Wished | None = None,
    bounds: Bounds | None = None,
    step: float = 0.1,
    tolerance: float = 1e-12,
    max_steps: int = 100_000,
    t: float = 0.0,
    close: bool = False,
) -> Sweep:
    r"""Drive one coordinate of a closed mechanism through values, and stay on the branch of q.

    Pseudo-arclength continuation: from a closed configuration a step along the tangent t of the curve,
    :math:`J_w\, t = 0`, w = (driver, dependent coordinates), then Newton's steps :math:`-J_w^+ h` at right angles to
    it; the configurations at the values are corrected with the driver held. Inner steps are as short as the curve
    asks for, whatever the distance of the values: a step is taken only where the tangent turns by less than 0.25 rad,
    the chord is along the mean of the tangents, and :math:`\det [J_w; t^T]` keeps its sign, which a jump to another
    branch changes. From q it first travels to the first value.

    Args:
        constraint_set: closures, couplers and other equalities with position rows.
        q: closed configuration (nq,), which tells the branch.
        driver: a joint of one coordinate, or a coordinate, "rod[0]"; what its value is says `Driver`.
        values: (m,) [rad or m], in any order, more than a full turn too.
        independent: other coordinates that are held (where the mobility is above 1); each must be independent beside
            the driver.
        preferred: coordinates that are held rather than others, where that is possible.
        turn_back: at a dead point go on along the curve, which leads back on the other branch: the values that were
            reached are met again in reverse, back to the first one (or, after a further dead point, onwards again).
            Values must then rise, or fall, throughout.
        cross: where ways cross, go straight on (smoothly); it is listed, and the sign of det J_v changes there.
        actuated: other coordinates, as many as the mobility: where they leave the others a motion when all of them are
            locked, a singularity of them is listed too (of the second kind of Gosselin and Angeles), as of a platform
            that is moved by its pose and held by its legs. The sweep does not end there.
        bounds: to be kept, as `robot.bounds`; none by default.
        step: the longest inner step, of driver and dependent coordinates together [rad and m].
        tolerance: largest error of the rows, in what motions can reduce [m or rad]; redundant rows must hold to 1e-6.
        max_steps: limit of inner steps.
        t: time of the targets of rows [s].
        close: close q first (`assemble_position`) where it is open.

    Returns:
        A value; ending at a singularity, at bounds or nowhere is a status, never an exception. Singularities are
        located to rounding (about 1e-9 in the driver).

    Raises:
        OpenMechanismError: q is open and `close` was not asked for, or it does not close.
        PartitionError: the driver cannot be driven, or what is to be held follows from it: names them.
        UnknownNameError, OptionError, SizeError, WrongObjectError, NotFiniteError: what is wrong with an argument.

    Source: Allgower and Georg, Introduction to numerical continuation methods, 2003, chapters 2, 6 and 8.
    """
    whole = expect(constraint_set, ConstraintSet, "constraint set of a sweep")
    asked = _values(values, as_flag(turn_back, "turn_back of a sweep"))
    if not LEAST_THRESHOLD <= tolerance < np.inf:
        raise OptionError(below_rounding("tolerance of a sweep", tolerance))
    time = finite_number(t, "time of a sweep")
    column, held = driver_column(whole, driver), columns_of(whole, independent)
    if column in held:
        raise OptionError(f"independent coordinates of a sweep: '{driver}' is the driver; name others")
    coordinates = coordinates_with(whole, q, [column, *held], preferred, time, close)
    chosen = driver_of(coordinates)
    manner = Manner(
        turn_back,
        as_flag(cross, "cross of a sweep"),
        None if actuated is None else passive_columns(coordinates, actuated),
        _bounds(bounds, whole),
        positive_number(step, "step of a sweep"),
        whole_number(max_steps, "max_steps of a sweep", 1),
    )
    curve = Curve(coordinates, chosen, coordinates.rhs_at(time), tolerance)
    parts = coordinates.partition
    J = whole.jacobian(coordinates.q, curve.rhs)
    sign = factorised(J[np.ix_(parts.rows, parts.dependent)]).sign
    travel = Travel(curve, curve.started(coordinates.q, sign), manner)
    return _result(travel, asked, travel.through(asked))


def _values(values: ArrayLike, monotonic: bool) -> Vector:
    asked = np.atleast_1d(np.array(real_numbers(values, "values of a sweep", finite=True)))
    if asked.ndim != 1 or not asked.size:
        raise SizeError("values of a sweep", "one number or more, (m,)", asked.shape)
    steps = np.diff(asked)
    if monotonic and not ((steps > 0.0).all() or (steps < 0.0).all()):
        raise OptionError("values of a sweep that turns back: they must rise, or fall, throughout")
    return read_only(asked)


def passive_columns(coordinates: MinimalCoordinates, actuated: Wished) -> Indices:
    """Tangent columns that are not actuated.

    Args:
        coordinates: of whose mechanism.
        actuated: joints or coordinates, as many columns as the mobility.
    """
    whole = coordinates.constraint_set
    columns = columns_of(whole, actuated)
    mobility = coordinates.held.size
    if len(columns) != mobility:
        raise SizeError("actuated coordinates of a sweep", f"{mobility}, the mobility", len(columns))
    return np.setdiff1d(np.arange(whole.robot.nv), columns)


def _bounds(bounds: Any, constraint_set: ConstraintSet) -> Bounds | None:
    if bounds is None:
        return None
    given = expect(bounds, Bounds, "bounds of a sweep", "Bounds (robot.bounds), or None")
    space = constraint_set.robot.space
    if given.space != space:
        raise SpaceMismatchError("bounds of a sweep", space.name, given.space.name)
    return given


def _result(travel: Travel, asked: Vector, status: SweepStatus) -> Sweep:
    places, coordinates = travel.places, travel.curve.coordinates
    nq = coordinates.constraint_set.robot.nq
    return Sweep(
        coordinates,
        travel.curve.driver,
        asked,
        read_only(np.array([place.value for place in places])),
        read_only(np.array(travel.indices, dtype=np.intp)),
        read_only(np.array([place.q for place in places]).reshape(-1, nq)),
        read_only(np.array([place.sign for place in places])),
        read_only(np.array([_least(place, travel.curve.rank) for place in places])),
        status,
        tuple(travel.singularities),
        read_only(travel.here.q.copy()),
        travel.here.value,
        travel.manner.bounds,
        travel.steps,
        _actuated(travel),
        travel.curve.rhs,
    )


def _actuated(travel: Travel) -> tuple[str, ...]:
    passive = travel.manner.passive
    names = coordinate_names(travel.curve.coordinates.constraint_set.robot)
    return () if passive is None else tuple(name for i, name in enumerate(names) if i not in passive)


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


def _least(place: Place, rank: int) -> float:
    """The least singular value of J_v; infinite where nothing follows."""
    return float(singular_values(place.J[:, 1:])[rank - 1]) if rank else np.inf
