"""Travelling along the curve of closed configurations, from value to value of the driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liegroups.arguments import as_flag, expect, finite_number
from liegroups.arrays import Indices, Vector

from ...errors import UndefinedError
from ...keywords import record_by_name
from ...loops.closing.corrector import longest_trusted
from ...ranges import positive_number, whole_number
from ...robot import Bounds
from ...solvers.options import as_threshold
from ...solvers.status import StatusEnum
from .continuation import Curve, CurvePlace
from .singularities import (
    Jumped,
    Singularity,
    SingularityKind,
    actuator_point,
    branch_point,
    dead_point,
    is_actuator_point,
    singularity,
)

SHORTEST_STEP_OF_TRAVEL = 1e-9
"""A step that fails however short it is: this is the shortest that is tried [rad or m]."""
MARGIN_OF_BOUNDS = 1e-9
"""Distance outside the bounds that counts as within them [rad or m]: rounding."""


class SweepStatus(StatusEnum, successes=("COMPLETED", "TURNED_BACK")):
    """How a sweep ended: each value is a sentence for humans."""

    COMPLETED = "All values were reached, along one curve."
    TURNED_BACK = (
        "At a dead point the sweep turned, and met the values again on the other branch, back to the first one."
    )
    DEAD_POINT = "The sweep ended at a dead point: the driver cannot continue, J_v is singular there."
    BRANCH_POINT = "The sweep ended where branches cross: which one continues is not determined."
    OUT_OF_BOUNDS = "The sweep ended at the given bounds."
    UNDEFINED = "A function has no value on the path."
    NOT_CLOSED = "Newton's iteration does not close the mechanism, however short the step."
    SINGULAR_START = "The start is singular: the rank of the rows is higher beside it, where more coordinates follow."
    MAX_STEPS = "The limit of inner steps was reached before the last value."


@final
@record_by_name
@dataclass(frozen=True, kw_only=True, eq=False)
class SweepOptions:
    """How `sweep` travels along the curve of closed configurations, each option given by its name. Immutable.

    Attributes:
        turn_back: at a dead point continue along the curve, which leads back on the other branch: the values are met
            again in reverse, back to the first one (or, after a further dead point, forwards again). Values must then
            be increasing, or decreasing.
        cross: where branches cross, continue smoothly; the point is listed, and the sign of det J_v changes there.
        bounds: bounds to keep, as `robot.bounds`; none by default.
        step: the longest inner step, of driver and dependent coordinates together [rad and m].
        tolerance: largest error of the rows, in the part that motions can reduce [m or rad]; redundant rows must hold
            to 1e-6.
        max_steps: limit of inner steps.
        t: time of the targets of rows [s].
        close: close the start first (`assemble_position`) if it is open.

    Raises:
        OptionError, WrongObjectError, NotFiniteError: an invalid option.
    """

    turn_back: bool = False
    cross: bool = False
    bounds: Bounds | None = None
    step: float = 0.1
    tolerance: float = 1e-12
    max_steps: int = 100_000
    t: float = 0.0
    close: bool = False

    def __post_init__(self) -> None:
        """Check types and ranges."""
        for name in ("turn_back", "cross", "close"):
            as_flag(getattr(self, name), f"{name} of a sweep")
        if self.bounds is not None:
            expect(self.bounds, Bounds, "bounds of a sweep", "Bounds (robot.bounds), or None")
        positive_number(self.step, "step of a sweep")
        as_threshold(self.tolerance, "tolerance of a sweep")
        whole_number(self.max_steps, "max_steps of a sweep", 1)
        finite_number(self.t, "time of a sweep")


@final
class Travel:
    """A sweep on its way. One a run.

    Args:
        curve: what is travelled on.
        start: where.
        options: how.
        passive: tangent columns that are not actuated, where singularities of actuators are looked for; or None.

    Attributes:
        places: the configurations at the values that were reached.
        indices: of these values, in the values asked for.
        singularities: those that were met.
        here: where it is.
        steps: inner steps so far.
    """

    def __init__(self, curve: Curve, start: CurvePlace, options: SweepOptions, passive: Indices | None) -> None:
        self.curve, self.here, self.options, self.passive = curve, start, options, passive
        self.places: list[CurvePlace] = []
        self.indices: list[int] = []
        self.singularities: list[Singularity] = []
        self.steps = 0
        self._length = 0.25 * options.step
        self._before: CurvePlace | None = None
        self._turned = False

    def through(self, values: Vector) -> SweepStatus:
        """Travel to the values in turn; after a dead point, where it may, to those before it."""
        i, onwards = 0, 1
        if self._outside(self.here):
            return SweepStatus.OUT_OF_BOUNDS
        passive = self.passive
        if passive is not None and is_actuator_point(self.curve, passive, self.here):
            self._met(SingularityKind.ACTUATORS, self.here)
        while 0 <= i < len(values):
            ended = self._to(float(values[i]))
            if ended is None:
                self.places.append(self.here)
                self.indices.append(i)
            elif ended is SweepStatus.DEAD_POINT and self.options.turn_back and self.places:
                onwards, self._turned = -onwards, True
            else:
                return ended
            i += onwards
        return SweepStatus.TURNED_BACK if self._turned else SweepStatus.COMPLETED

    def _to(self, value: float) -> SweepStatus | None:
        """Travel to a value; None where it is reached."""
        here = self.here
        if (value - here.value) * here.tangent[0] < 0.0:
            self.here, self._before = here.reversed, None
        while self.here.value != value:
            if self.steps >= self.options.max_steps:
                return SweepStatus.MAX_STEPS
            self.steps += 1
            ended = self._stepped(value)
            if ended is not None:
                return ended
        return None

    def _stepped(self, value: float) -> SweepStatus | None:
        """One inner step, towards a value; None where all is well."""
        a, why = self.here, SweepStatus.NOT_CLOSED

        def step(length: float) -> tuple[CurvePlace, CurvePlace | None, bool] | None:
            nonlocal why
            is_direct = abs(value - a.value) <= length * abs(a.tangent[0])
            try:
                b = self.curve.step_to(a, value) if is_direct else self.curve.step(a, length, self._before)
                crossing = Jumped() if b is None else branch_point(self.curve, a, b)
            except UndefinedError:
                why = SweepStatus.UNDEFINED
                return None
            return None if b is None or isinstance(crossing, Jumped) else (b, crossing, is_direct)

        found, length = longest_trusted(step, self._length, SHORTEST_STEP_OF_TRAVEL)
        if found is None:
            return SweepStatus.SINGULAR_START if self.curve.rank_grew else why
        b, crossing, is_direct = found
        self._length = length if is_direct else min(2.0 * length, self.options.step)
        return self._taken(a, b, crossing, value)

    def _taken(self, a: CurvePlace, b: CurvePlace, crossing: CurvePlace | None, value: float) -> SweepStatus | None:
        """Go on to b, or to what comes before it: the value, a singularity, the bounds."""
        if crossing is not None:
            reached = self._value_between(a, crossing, value)
            if reached is not None:
                return self._arrived(reached, a)
            self._watched(a, crossing)
            self._met(SingularityKind.BRANCH_POINT, crossing)
            if not self.options.cross:
                self.here = crossing
                return SweepStatus.BRANCH_POINT
            b = b._replace(parity=-b.parity) if self.curve.crossing(a, b, b.J) < 0.0 else b
            if a.tangent[0] * b.tangent[0] < 0.0:  # the driver turns there, too
                self.here, self._before = (b if self.options.turn_back else crossing), None
                return SweepStatus.DEAD_POINT
        still = dead_point(self.curve, a, b)
        reached = self._value_between(a, b if still is None else still, value)
        if reached is not None:
            return self._arrived(reached, a)
        if still is not None:
            ended = self._arrived(still, None)
            if ended is None:
                self._met(SingularityKind.DEAD_POINT, still)
            return SweepStatus.DEAD_POINT if ended is None else ended
        return self._arrived(b, a)

    def _value_between(self, a: CurvePlace, b: CurvePlace, value: float) -> CurvePlace | None:
        """The place of a value between two places, where it is there; a itself is not."""
        if b.value == value:
            return b
        if not min(a.value, b.value) < value < max(a.value, b.value):
            return None
        low, high = a, b
        for _ in range(80):
            place = None
            if low.tangent[0] != 0.0:
                place = self.curve.step_to(low, value)
            if place is not None:
                return place
            middle = self.curve.between(low, high, 0.5)
            if middle is None:
                return None
            low, high = (middle, high) if (middle.value - value) * (low.value - value) > 0.0 else (low, middle)
        return None

    def _arrived(self, b: CurvePlace, before: CurvePlace | None) -> SweepStatus | None:
        """Be at b, or at the bounds on the way to it."""
        a = self.here
        if not self._outside(b):
            self._watched(a, b)
            self.here, self._before = b, before
            return None
        low, high = 0.0, 1.0
        while high - low > 1e-9:
            middle = 0.5 * (low + high)
            place = self.curve.between(a, b, middle)
            low, high = (low, middle) if place is None or self._outside(place) else (middle, high)
        self.here = (self.curve.between(a, b, low) if low > 0.0 else None) or a
        self._watched(a, self.here)
        return SweepStatus.OUT_OF_BOUNDS

    def _outside(self, place: CurvePlace) -> bool:
        bounds = self.options.bounds
        return bounds is not None and not bounds.contains(place.q, MARGIN_OF_BOUNDS)

    def _watched(self, a: CurvePlace, b: CurvePlace) -> None:
        """Note a singularity of the actuators between a and b."""
        passive = self.passive
        place = None if passive is None else actuator_point(self.curve, passive, a, b)
        if place is not None:
            self._met(SingularityKind.ACTUATORS, place)

    def _met(self, kind: SingularityKind, place: CurvePlace) -> None:
        passive = self.passive if kind is SingularityKind.ACTUATORS else None
        columns = self.curve.columns[1:] if passive is None else passive
        self.singularities.append(singularity(self.curve, kind, place, len(self.places), columns))
