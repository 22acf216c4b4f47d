"""Sides that push and never pull: where they are touched, let go, slipped on and stuck to, as events of a motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np
from numpy.linalg import norm

from ...errors import OptionError, UndefinedError
from ...linear_algebra import largest, row_lengths
from ...loops import ConstraintSet
from ...robot import Motion
from ..impact import impact
from .events import Event
from .hits import hit, solved_impact
from .sides import LITTLE, NO_DISTANCE, SLACK_OF_A_SIDE, SLOW_SLIP, STILL_SPEED, SeenSides, Sides, Standing, all_ways


@final
class Unilateral:
    """The events of some sides, and what the state becomes at each.

    Args:
        sides: the rows that push.
    """

    def __init__(self, sides: Sides) -> None:
        self.sides = sides

    def events(self) -> tuple[Event, ...]:
        """What happens at each side."""
        found: list[Event] = []
        for i, side in enumerate(self.sides.sides):
            found += [self._event(side.touches, i, self.gap, self.touched)]
            found += [self._event(side.leaves, i, self.pushing, self.left)]
            if side.tangents:
                found += [self._event(f"{side.name} slips", i, self.grip, self.loosened)]
                found += [self._event(f"{side.name} sticks", i, self.slide, self.stuck)]
        return tuple(found)

    def _event(
        self,
        name: str,
        i: int,
        value: Callable[[SeenSides, int], float],
        reset: Callable[[SeenSides, int], tuple[Motion, ConstraintSet]],
    ) -> Event:
        def function(motion: Motion, t: float, *, constraint_set: ConstraintSet) -> float:
            return value(self.sides.seen(motion, t, constraint_set), i)

        def becomes(motion: Motion, t: float, *, constraint_set: ConstraintSet) -> tuple[Motion, ConstraintSet]:
            return reset(self.sides.seen(motion, t, constraint_set), i)

        return Event(function, name, "falling", reset=becomes)

    def gap(self, seen: SeenSides, i: int) -> float:
        """How far side i is; 1 while it is touched."""
        return 1.0 if seen.standing.on[i] else float(seen.gaps[i]) + SLACK_OF_A_SIDE

    def pushing(self, seen: SeenSides, i: int) -> float:
        """How hard side i pushes; 1 while it is not touched."""
        return float(seen.push[i]) if seen.standing.on[i] else 1.0

    def grip(self, seen: SeenSides, i: int) -> float:
        """How much more side i could hold along its tangents; 1 while it does not stick."""
        if not seen.standing.sticks[i]:
            return 1.0
        return self.sides.sides[i].friction * float(seen.push[i]) - float(norm(seen.along(i)))

    def slide(self, seen: SeenSides, i: int) -> float:
        """How fast side i slips, above SLOW_SLIP; 1 while it does not. Positive while a side gets faster from rest."""
        if not seen.standing.slips[i]:
            return 1.0
        v = seen.slipping[i]
        speed = float(norm(v))
        if speed > 2.0 * SLOW_SLIP:
            return speed - SLOW_SLIP
        rows = seen.tangents[i]
        a = seen.jacobian[rows] @ seen.dynamics.acceleration + seen.drift[rows]
        size = float(norm(a))
        faster = float(v @ a) / size if size > 0.0 else 0.0
        return max(speed - SLOW_SLIP, faster + LITTLE)

    # What a state becomes.

    def touched(self, seen: SeenSides, i: int) -> tuple[Motion, ConstraintSet]:
        """Impact on side i, and on all that is hit at once."""
        coming = ~seen.standing.on & (seen.gaps <= NO_DISTANCE) & (seen.rates < 0.0)
        coming[i] = True
        return self.settled(*hit(seen, coming), seen.t)

    def left(self, seen: SeenSides, i: int) -> tuple[Motion, ConstraintSet]:
        """Side i lets go."""
        return self.settled(
            seen.motion, self.sides.switched(seen.holds, seen.standing.changed(i, False, False)), seen.t, i
        )

    def loosened(self, seen: SeenSides, i: int) -> tuple[Motion, ConstraintSet]:
        """Side i begins to slip."""
        return self.settled(seen.motion, self.sides.switched(seen.holds, seen.standing.changed(i, True, False)), seen.t)

    def stuck(self, seen: SeenSides, i: int) -> tuple[Motion, ConstraintSet]:
        """Side i stops slipping, if its friction can hold it."""
        slow = seen.standing.slips & self.sides.grips & (row_lengths(seen.slipping) <= 2.0 * SLOW_SLIP)
        slow[i] = True
        held = self.sides.switched(seen.holds, Standing(seen.standing.on, seen.standing.sticks | slow))
        after = solved_impact(impact(held, seen.motion, rhs=held.rhs_at(seen.t)))
        return self.settled(held.robot.at(seen.motion.q, after.velocity), held, seen.t)

    def begin(self, motion: Motion, t: float, holds: ConstraintSet, what: str, unit: str) -> ConstraintSet:
        """The set of a motion that starts here: sides that are touched, and at rest, are on.

        Raises:
            OptionError: the start is beyond sides by more than 1e-6; names them, as `what`, with distances in `unit`.
        """
        none = np.zeros(len(self.sides.sides), np.bool_)
        off = self.sides.switched(holds, Standing(none, none))
        seen = SeenSides(self.sides, motion, t, off)
        beyond = [
            f"{side.name} ({-gap:.3g} {unit})"
            for side, gap in zip(self.sides.sides, seen.gaps, strict=True)
            if gap < -NO_DISTANCE
        ]
        if beyond:
            raise OptionError(f"start of a motion: beyond {what} by some: {', '.join(beyond)}")
        on = (seen.gaps <= NO_DISTANCE) & (np.abs(seen.rates) <= STILL_SPEED)
        still = self.sides.grips & (row_lengths(seen.slipping) <= STILL_SPEED)
        return self.settled(motion, self.sides.switched(off, Standing(on, on & still)), t)[1]

    def settled(
        self, motion: Motion, holds: ConstraintSet, t: float, let_go: int | None = None
    ) -> tuple[Motion, ConstraintSet]:
        """The state with the sides that can be so: none pulls, none holds more than friction allows, none sinks in.

        Nor does friction drive one that slips from rest. The worst one is changed first; where that goes round, as
        a foot that leaves lets another one sink, or rows contradict each other, all they can do is tried.

        Args:
            motion, holds, t: the state, and the set to begin with.
            let_go: a side that is not touched again here.
        """
        known, jammed = set[bytes](), None
        seen = self.sides.seen(motion, t, holds)
        try:
            while seen.standing.mark not in known and seen.dynamics.success:
                known.add(seen.standing.mark)
                better = self._better(seen, let_go)
                if better is None:
                    return motion, holds
                holds = self.sides.switched(holds, better)
                seen = self.sides.seen(motion, t, holds)
        except UndefinedError as error:
            jammed = error
        touched = seen.standing.on | ((seen.gaps <= NO_DISTANCE) & (np.abs(seen.rates) <= STILL_SPEED))
        if let_go is not None:
            touched[let_go] = False
        for standing in all_ways(touched, self.sides.grips & (row_lengths(seen.slipping) <= STILL_SPEED)):
            tried = self.sides.switched(holds, standing)
            try:
                seen = self.sides.seen(motion, t, tried)
                if seen.dynamics.success and self._better(seen, let_go) is None:
                    return motion, tried
            except UndefinedError:
                continue
        if jammed is not None:
            raise jammed
        return motion, holds

    def _better(self, seen: SeenSides, let_go: int | None) -> Standing | None:
        """The sides with the worst of them changed; None where all can be as they are."""
        standing, found = seen.standing, seen.dynamics
        alongs = [seen.along(i) for i in range(len(seen.push))]
        less = standing.lessened(self.sides.sides, seen.push, alongs, largest(found.multipliers))
        if less is not None:
            return less
        sinking = seen.jacobian[seen.normals] @ found.acceleration + seen.drift[seen.normals]
        sinking[standing.on | (seen.gaps > NO_DISTANCE) | (np.abs(seen.rates) > STILL_SPEED)] = 0.0
        if let_go is not None:
            sinking[let_go] = 0.0
        i = int(np.argmin(sinking))
        if sinking[i] < -NO_DISTANCE * (1.0 + float(np.abs(found.acceleration).max())):
            return standing.changed(i, True, bool(self.sides.grips[i] and norm(seen.slipping[i]) <= STILL_SPEED))
        return self._driven(seen)

    def _driven(self, seen: SeenSides) -> Standing | None:
        """With the side held that friction drives most, of those that slip from rest; None where it drives none."""
        acceleration, worst, found = seen.dynamics.acceleration, 0.0, None
        for i in seen.dragging:
            if norm(seen.slipping[i]) <= STILL_SPEED:
                rows = seen.tangents[i]
                along = float(seen.direction(i) @ (seen.jacobian[rows] @ acceleration + seen.drift[rows]))
                if along < min(worst, -NO_DISTANCE * (1.0 + largest(acceleration))):
                    worst, found = along, seen.standing.changed(i, True, True)
        return found
