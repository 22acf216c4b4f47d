"""A driver turned all the way: the closed configurations along one coordinate, on one branch."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups.arguments import as_flag, expect, finite_number, real_numbers
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import read_only

from ...errors import OptionError, SizeError, SpaceMismatchError
from ...linear_algebra import singular_values
from ...loops import ConstraintSet
from ...loops.closing.lu import factorised
from ...loops.mobility import coordinate_names
from ...ranges import positive_number, whole_number
from ...robot import Bounds
from ...solvers.options import LEAST_THRESHOLD, below_rounding
from ..wishes import Wished, columns_of
from .continuation import Curve, CurvePlace
from .driver import coordinates_with, driver_column, driver_of
from .sweep_result import Sweep, passive_columns
from .travel import Manner, SweepStatus, Travel


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
    needs, for any distance between values: a step is accepted only if the tangent rotates by less than 0.25 rad, the
    chord is along the mean of the tangents, and :math:`\det [J_w; t^T]` keeps its sign, which a jump to another branch
    changes. The sweep first moves from q to the first value.

    Args:
        constraint_set: closures, couplers and other equalities with position rows.
        q: closed configuration (nq,), which determines the branch.
        driver: a joint with one coordinate, or a coordinate, "rod[0]"; `Driver` defines its value.
        values: (m,) [rad or m], in any order, also over more than a full turn.
        independent: other coordinates to hold (if the mobility is above 1); each must be independent together with the
            driver.
        preferred: coordinates to hold rather than others, if possible.
        turn_back: at a dead point continue along the curve, which leads back on the other branch: the values are met
            again in reverse, back to the first one (or, after a further dead point, forwards again). Values must then
            be increasing, or decreasing.
        cross: where branches cross, continue smoothly; the point is listed, and the sign of det J_v changes there.
        actuated: other coordinates, as many as the mobility, for example the legs of a platform that is driven by its
            pose: a configuration where the mechanism can move with all of them locked is listed too (a singularity of
            the second kind of Gosselin and Angeles). The sweep does not end there.
        bounds: bounds to keep, as `robot.bounds`; none by default.
        step: the longest inner step, of driver and dependent coordinates together [rad and m].
        tolerance: largest error of the rows, in the part that motions can reduce [m or rad]; redundant rows must hold
            to 1e-6.
        max_steps: limit of inner steps.
        t: time of the targets of rows [s].
        close: close q first (`assemble_position`) if it is open.

    Returns:
        A value; a sweep that ends early has a status, and raises no exception. Singularities are
        located to rounding (about 1e-9 in the driver).

    Raises:
        OpenMechanismError: q is open without `close`, or it does not close.
        PartitionError: the driver cannot be driven, or coordinates to hold depend on it: names them.
        UnknownNameError, OptionError, SizeError, WrongObjectError, NotFiniteError: an invalid argument.

    Source: Allgower and Georg, Introduction to numerical continuation methods, 2003, chapters 2, 6 and 8.
    """
    whole = expect(constraint_set, ConstraintSet, "constraint set of a sweep")
    asked = _values(values, as_flag(turn_back, "turn_back of a sweep"))
    if not LEAST_THRESHOLD <= tolerance < np.inf:
        raise OptionError(below_rounding("tolerance of a sweep", tolerance))
    time = finite_number(t, "time of a sweep")
    column, held = driver_column(whole, driver), columns_of(whole.robot, independent, "independent coordinates")
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


def _least(place: CurvePlace, rank: int) -> float:
    """The least singular value of J_v; infinite where nothing follows."""
    return float(singular_values(place.J[:, 1:])[rank - 1]) if rank else np.inf
