"""A driver turned all the way: the closed configurations along one coordinate, on one branch."""

from __future__ import annotations

import numpy as np

from liegroups.arguments import expect, real_numbers
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import read_only

from ...errors import OptionError, SizeError, SpaceMismatchError
from ...linear_algebra import singular_values
from ...loops import ConstraintSet
from ...loops.closing.lu import factorised
from ...loops.constraint_set import A_SET
from ...questions import TURNS, ask_once
from ..wishes import Wished, columns_of
from .continuation import Curve, CurvePlace
from .driver import coordinates_with, driver_column, driver_of
from .sweep_result import Sweep, passive_columns
from .travel import SweepOptions, SweepStatus, Travel


def sweep(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    driver: str,
    values: ArrayLike,
    *,
    independent: Wished = (),
    preferred: Wished = (),
    actuated: Wished | None = None,
    options: SweepOptions | None = None,
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
        actuated: other coordinates, as many as the mobility, for example the legs of a platform that is driven by its
            pose: a configuration where the mechanism can move with all of them locked is listed too (a singularity of
            the second kind of Gosselin and Angeles). The sweep does not end there.
        options: how it travels: dead points, crossings, bounds, steps and tolerances.

    Returns:
        A value; a sweep that ends early has a status, and raises no exception. Singularities are
        located to rounding (about 1e-9 in the driver).

    Raises:
        OpenMechanismError: q is open without the option `close`, or it does not close.
        PartitionError: the driver cannot be driven, or coordinates to hold depend on it: names them.
        UnknownNameError, OptionError, SizeError, WrongObjectError, NotFiniteError: an invalid argument.

    Source: Allgower and Georg, Introduction to numerical continuation methods, 2003, chapters 2, 6 and 8.
    """
    whole = expect(constraint_set, ConstraintSet, "constraint set of a sweep", A_SET)
    chosen = SweepOptions() if options is None else expect(options, SweepOptions, "options of a sweep")
    if chosen.bounds is not None and chosen.bounds.space != whole.robot.space:
        raise SpaceMismatchError("bounds of a sweep", whole.robot.space.name, chosen.bounds.space.name)
    asked = _values(values, chosen.turn_back)
    column, held = driver_column(whole, driver), columns_of(whole.robot, independent, "independent coordinates")
    if column in held:
        raise OptionError(f"independent coordinates of a sweep: '{driver}' is the driver; name others")
    coordinates = coordinates_with(whole, q, [column, *held], preferred, chosen.t, chosen.close)
    passive = None if actuated is None else passive_columns(coordinates, actuated)
    curve = Curve(coordinates, driver_of(coordinates), coordinates.rhs_at(chosen.t), chosen.tolerance)
    turns = curve.driver.turns(whole.robot, np.append(asked, curve.driver.value_in(coordinates.q)))
    if turns > TURNS:
        ask_once(f"values of a sweep of '{driver}': they go over {turns:.3g} turns, in radians: are they in degrees?")
    parts = coordinates.partition
    J = whole.jacobian(coordinates.q, curve.rhs)
    sign = factorised(J[np.ix_(parts.rows, parts.dependent)]).sign
    travel = Travel(curve, curve.started(coordinates.q, sign), chosen, passive)
    return _result(travel, asked, travel.through(asked))


def _values(values: ArrayLike, monotonic: bool) -> Vector:
    asked = np.atleast_1d(np.array(real_numbers(values, "values of a sweep", finite=True)))
    if asked.ndim != 1 or not asked.size:
        raise SizeError("values of a sweep", "one number or more, (m,)", asked.shape)
    steps = np.diff(asked)
    if monotonic and not ((steps > 0.0).all() or (steps < 0.0).all()):
        raise OptionError("values of a sweep that turns back: they must rise, or fall, throughout")
    return read_only(asked)


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
        travel.options.bounds,
        travel.steps,
        _actuated(travel),
        travel.curve.rhs,
    )


def _actuated(travel: Travel) -> tuple[str, ...]:
    passive = travel.passive
    names = travel.curve.coordinates.constraint_set.robot.coordinate_names
    return () if passive is None else tuple(name for i, name in enumerate(names) if i not in passive)


def _least(place: CurvePlace, rank: int) -> float:
    """The least singular value of J_v; infinite where nothing follows."""
    return float(singular_values(place.J[:, 1:])[rank - 1]) if rank else np.inf
