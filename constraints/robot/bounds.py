"""Joint bounds: the box in which the coordinates of a configuration that are plain numbers stay."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from liegroups import Space
from liegroups.arguments import as_mapping, real_numbers
from liegroups.arrays import ArrayLike, BoolVector, Vector
from liegroups.errors import EmptyIntervalError
from liegroups.frozen import read_only, set_fields
from liegroups.layout import Factor
from liegroups.space import as_space
from liegroups.unit_blocks import plain_entries

from ..errors import NotFiniteError, OptionError, SizeError, UnknownJointError, WrongObjectError
from ..questions import Coordinate, asked_of_limit, asked_of_turns, coordinate_at, far_entries, say
from ..words import counted, first_names
from .model.joints import radian_columns
from .model.pinocchio import Model
from .space import RobotSpace

_log = logging.getLogger(__package__)

LEAST_NO_LIMIT = 1e300
"""A limit of at least this size is no limit (pinocchio writes the largest float)."""


class Violation(NamedTuple):
    """A coordinate outside its bounds.

    Attributes:
        joint: name of the joint.
        entry: which entry of q.
        amount: how far outside, negative below the lower bound [`unit`].
        unit: "m" or "rad" on the space of a robot; empty on other spaces.
        place: the joint with the number of the coordinate where it has several, "box/root_joint[2]".
    """

    joint: str
    entry: int
    amount: float
    unit: str = ""
    place: str = ""

    def __str__(self) -> str:
        side = "above" if self.amount > 0.0 else "below"
        return f"'{self.place or self.joint}' {abs(self.amount):.3g}{' ' * bool(self.unit)}{self.unit} {side} its bound"


@dataclass(frozen=True, eq=False)
class Bounds:
    r"""Box :math:`l \le q \le u` on the vector coordinates of a configuration; infinite if there is no bound.

    Entries of unit vectors, (cos, sin) and quaternions, never have bounds: values given for them are ignored. Values of
    1e300 or more mean no bound. A coordinate whose two bounds are equal is frozen: it cannot move (`frozen`).

    Args:
        space: space of the configurations.
        lower, upper: (nq,) [m or rad by coordinate], infinite if there is no bound.

    Raises:
        SizeError, DtypeError, WrongObjectError: an array is not of size nq, or not numeric; or `space` is not a Space.
        NotFiniteError: a bound is NaN.
        EmptyIntervalError: a lower bound is above the upper one; the message names the joint.
    """

    space: Space
    lower: Vector
    upper: Vector

    def __post_init__(self) -> None:
        """Own checked, read-only copies."""
        as_space(self.space, "space of bounds")
        vector = plain_entries(self.space.nq, self.space.unit_blocks)
        lower, upper = (
            self._sized(side, what).copy()
            for side, what in ((self.lower, "lower bounds"), (self.upper, "upper bounds"))
        )
        lower[~vector], upper[~vector] = -np.inf, np.inf
        for array, side in ((lower, "lower"), (upper, "upper")):
            if np.isnan(array).any():
                i = int(np.isnan(array).argmax())
                raise NotFiniteError(f"{side} bounds, joint '{_joint_of(self.space, i)}'", [i])
        lower, upper = limits_of(lower), limits_of(upper)
        wrong = (lower > upper) | np.isposinf(lower) | np.isneginf(upper)
        if wrong.any():
            i = int(wrong.argmax())
            raise EmptyIntervalError(f"joint '{_joint_of(self.space, i)}'", float(lower[i]), float(upper[i]))
        set_fields(self, lower=read_only(lower), upper=read_only(upper))

    @staticmethod
    def none(space: Space) -> Bounds:
        """Bounds without any limit."""
        size = as_space(space, "space of bounds").nq
        return Bounds(space, np.full(size, -np.inf), np.full(size, np.inf))

    @staticmethod
    def of(model: Model, space: Space) -> Bounds:
        """The bounds of a pinocchio model, unchanged; a log line names the joints that they freeze."""
        bounds = Bounds(space, model.lowerPositionLimit, model.upperPositionLimit)
        if bounds.frozen_joints:
            words = "cannot move, their two bounds are equal (robot.with_bounds changes them)"
            _log.warning("%s: these joints %s: %s", model.name or "robot", words, first_names(bounds.frozen_joints))
        return bounds

    def on(self, space: Space) -> Bounds:
        """The same box in a copy of its space, or in one that has it as its one factor, the rest without bounds.

        Raises:
            SizeError: another number of coordinates, and not one such factor.
        """
        if space is self.space:
            return self
        places = [factor.q for factor in space.factors if factor.space == self.space]
        if space.nq == self.space.nq or len(places) != 1:
            return Bounds(space, self.lower, self.upper)
        lower, upper = np.full((2, space.nq), [[-np.inf], [np.inf]])
        lower[places[0]], upper[places[0]] = self.lower, self.upper
        return Bounds(space, lower, upper)

    def replace(self, bounds: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Bounds:
        """The same bounds, except for the joints given.

        Args:
            bounds: joint name -> (lower, upper), each one number for all vector coordinates of the joint, or one for
                each (three for a free-flyer: its translation).

        Raises:
            UnknownJointError: lists the joints whose names come closest.
            OptionError: the joint has no coordinate that can have bounds.
            EmptyIntervalError, SizeError, NotFiniteError: what is wrong with a bound.
            WrongObjectError: the value is not a pair.
        """
        lower, upper = self.lower.copy(), self.upper.copy()
        vector = plain_entries(self.space.nq, self.space.unit_blocks)
        factors = {factor.name: factor for factor in self.space.factors}
        for joint, pair in as_mapping(bounds, "bounds", "from joint name to (lower, upper)").items():
            if joint not in factors:
                raise UnknownJointError(str(joint), tuple(factors))
            q = factors[joint].q
            entries = q.start + np.flatnonzero(vector[q])
            if not entries.size:
                raise OptionError(f"joint '{joint}' is a unit vector in q: it cannot have bounds")
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise WrongObjectError(f"bounds of joint '{joint}'", "a pair (lower, upper)", repr(pair))
            for array, value, side in ((lower, pair[0], "lower"), (upper, pair[1], "upper")):
                array[entries] = _joint_side(value, entries.size, f"{side} bound of joint '{joint}'")
        found = Bounds(self.space, lower, upper)
        say(_log, self.asked_of_new(found))
        return found

    def asked_of_new(self, bounds: Bounds, what: str = "new bounds") -> list[str]:
        """What is asked about bounds that take the place of these: many times as wide, or of many turns.

        Args:
            bounds: the new ones.
            what: they are.
        """
        differ = (bounds.lower != self.lower) | (bounds.upper != self.upper)
        other = np.flatnonzero(differ & (np.isfinite(bounds.lower) | np.isfinite(bounds.upper))).tolist()
        pairs = [(i, float(bounds.lower[i]), float(bounds.upper[i])) for i in other]
        return [f"{what}: {words}" for i, *ends in pairs for words in self._asked_of_bounds(i, *ends) if words]

    def _asked_of_bounds(self, entry: int, *wanted: float) -> list[str]:
        joint = self.coordinate(entry)
        if joint is not None:
            return [joint.question_of_bound(value) for value in wanted]
        return [asked_of_limit(self._leaf(entry).name, *wanted)] if self._is_angle(entry) else []

    def _leaf(self, entry: int) -> Factor:
        return next(leaf for leaf in self.space.leaves() if leaf.q.start <= entry < leaf.q.stop)

    def _is_angle(self, entry: int) -> bool:
        """Whether an entry of q is an angle stored as one number."""
        column = self.space.vector_v[np.flatnonzero(self.space.vector_q == entry)]
        return isinstance(self.space, RobotSpace) and bool(self.space.revolute[column].any())

    def coordinate(self, entry: int) -> Coordinate | None:
        """An entry of q, if it is a number with two bounds: what asks about degrees and millimetres.

        Args:
            entry: which.
        """
        space = self.space
        revolute = space.revolute if isinstance(space, RobotSpace) else np.zeros(space.nv, dtype=np.bool_)
        return coordinate_at(space, self.lower, self.upper, revolute, entry)

    def asked_of(self, q: Vector) -> list[str]:
        """What is asked about a posture that is given by its numbers: those far out of their bounds, or many turns.

        Args:
            q: configuration (nq,).
        """
        out = sorted({*np.flatnonzero((q < self.lower) | (q > self.upper)).tolist(), *far_entries(q)})
        joints = [(i, self.coordinate(i), float(q[i])) for i in out]
        asked = [self._asked_of_angle(i, x) if joint is None else joint.question(x) for i, joint, x in joints]
        return [words for words in asked if words]

    def asked_of_start(self, q: Vector, joint: slice) -> str:
        """What is asked about the value of a joint that may be out of narrow bounds.

        Args:
            q: configuration (nq,).
            joint: its entries.
        """
        for i in range(joint.start, joint.stop):
            place, value = self.coordinate(i), float(q[i])
            words = self._asked_of_angle(i, value) if place is None else place.question_of_start(value)
            if words:
                return words
        return ""

    def _asked_of_angle(self, entry: int, value: float) -> str:
        """What is asked about an entry of q that is no number with two bounds."""
        return asked_of_turns(f"'{self.name_of(entry)}'", value) if self._is_angle(entry) else ""

    def contains(self, q: ArrayLike, tolerance: float = 0.0) -> bool:
        """Whether q is inside.

        Args:
            q: configuration (nq,).
            tolerance: how far outside still counts as inside [m or rad].

        Raises:
            SizeError: q is not of size nq.
        """
        q = self._sized(q)
        return bool(((q >= self.lower - tolerance) & (q <= self.upper + tolerance)).all())

    def violations(self, q: ArrayLike, tolerance: float = 0.0) -> tuple[Violation, ...]:
        """The coordinates outside their bounds, in the order of q.

        Args:
            q: configuration (nq,).
            tolerance: how far outside still counts as inside [m or rad].

        Raises:
            SizeError: q is not of size nq.
        """
        q = self._sized(q)
        amount = np.maximum(q - self.upper, 0.0) + np.minimum(q - self.lower, 0.0)
        return tuple(
            Violation(_joint_of(self.space, i), i, float(amount[i]), self._units[i], self.name_of(i))
            for i in np.flatnonzero(np.abs(amount) > tolerance).tolist()
        )

    def name_of(self, entry: int) -> str:
        """Name of an entry of q: of its joint, with the number of the coordinate where this has several, "base[2]".

        Args:
            entry: which.
        """
        leaf = self._leaf(entry)
        return leaf.name if leaf.space.nq == 1 else f"{leaf.name}[{entry - leaf.q.start}]"

    def clip(self, q: ArrayLike) -> Vector:
        """Copy of q with each coordinate moved to its nearest bound if it is outside. Raises SizeError."""
        return np.clip(self._sized(q), self.lower, self.upper)

    @cached_property
    def _units(self) -> list[str]:
        """Units of the entries of q, as far as its space knows: the coordinates of flat parts, and translations."""
        units = [""] * self.space.nq
        if isinstance(self.space, RobotSpace):
            radians = radian_columns(self.space.model).tolist()
            for leaf in self.space.leaves():
                columns = range(leaf.v.start, leaf.v.stop) if leaf.space.is_flat else ()
                kinds = ["rad" if radians[i] else "m" for i in columns]
                units[leaf.q] = kinds or ["m"] * (leaf.q.stop - leaf.q.start)
        return units

    def _sized(self, q: ArrayLike, what: str = "q") -> Vector:
        """A configuration, or one side of the box, as an array; its size checked."""
        expected = counted(self.space.nq, "number")
        array = real_numbers(q, what, expected)
        if array.shape != (self.space.nq,):
            raise SizeError(what, expected, array.shape)
        return array

    @cached_property
    def tangent_lower(self) -> Vector:
        """Lower bounds (nv,) of the tangent columns that are vector coordinates of q; -inf elsewhere."""
        return self._tangent(self.lower, -np.inf)

    @cached_property
    def tangent_upper(self) -> Vector:
        """Upper bounds (nv,) of the tangent columns that are vector coordinates of q; inf elsewhere."""
        return self._tangent(self.upper, np.inf)

    @cached_property
    def frozen(self) -> BoolVector:
        """(nv,) true for the tangent columns that cannot move because the two bounds of their coordinate are equal."""
        return read_only(self.tangent_lower == self.tangent_upper)

    @cached_property
    def frozen_joints(self) -> tuple[str, ...]:
        """Names of the joints whose coordinates are all frozen, in the order of q."""
        moving = (factor for factor in self.space.factors if factor.space.nv)
        return tuple(factor.name for factor in moving if self.frozen[factor.v].all())

    def _tangent(self, side: Vector, none: float) -> Vector:
        out = np.full(self.space.nv, none)
        out[self.space.vector_v] = side[self.space.vector_q]
        return read_only(out)

    def __reduce__(self) -> Any:
        return Bounds, (self.space, self.lower, self.upper)


def outside_bounds(violations: Sequence[Violation]) -> list[str]:
    """The line of a result that names coordinates outside the bounds of its robot; none if all are inside."""
    words = first_names([str(violation) for violation in violations])
    return [f"  outside the bounds of the robot: {words}"] if words else []


def limits_of(numbers: ArrayLike) -> Vector:
    """Limits of a model, infinite where it says by a number beyond `LEAST_NO_LIMIT` that there is none; a copy.

    Args:
        numbers: of positions, velocities or efforts.
    """
    limits = np.array(numbers, dtype=np.float64)
    limits[limits >= LEAST_NO_LIMIT], limits[limits <= -LEAST_NO_LIMIT] = np.inf, -np.inf
    return limits


def _joint_side(value: object, size: int, what: str) -> Vector:
    """One side of one joint's bounds, a scalar standing for all coordinates."""
    expected = f"a number or {counted(size, 'number')}"
    if isinstance(value, str):
        raise WrongObjectError(what, expected, value)
    array = real_numbers(value, what, expected)
    if array.shape not in ((), (1,), (size,)):
        raise SizeError(what, expected, array.shape)
    return np.broadcast_to(array, (size,))


def _joint_of(space: Space, entry: int) -> str:
    """Name of the outermost factor that holds an entry of q."""
    return next((factor.name for factor in space.factors if factor.q.start <= entry < factor.q.stop), space.name)
