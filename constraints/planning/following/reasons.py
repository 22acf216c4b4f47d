"""Why a branch of solutions stops, in words: with the joint, the bound, the pair or the rows."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Vector

from ...collisions.model import Collision
from ...errors import UndefinedError
from ...robot import Bounds
from ...rows.right_hand_side import RightHandSide
from ...solvers import Projector
from ..ends import in_words
from ..leaf import LeafOfProblem
from .targets import Targets
from .tracker import Stopped, Tracker

SINGULAR_BRANCH = 0.02
"""Smallest singular value of the Jacobian, as a part of the largest, below which a branch is said to be singular."""
STEPS_TO_BEYOND = 3.0
"""Without bounds a solution is looked for at most this far from where a branch stops, in largest steps."""


class BranchEnd(NamedTuple):
    """Where a branch of solutions stops before the end of the targets.

    Attributes:
        reached: value of the parameter up to which it leads, in [0, 1].
        q: the last configuration (nq,).
        reason: in words, with names.
        collisions: pairs that collide a step further.
        joints: those at fault: they would leave their bounds, or would have to jump.
    """

    reached: float
    q: Vector
    reason: str
    collisions: tuple[Collision, ...] = ()
    joints: tuple[str, ...] = ()

    @property
    def kind(self) -> tuple[str, ...]:
        """What two branches that stop for one reason have alike: names of joints and of pairs, or the words."""
        pairs = (f"{pair.a} {pair.b}" for pair in self.collisions)
        return (*self.joints, *pairs) or (self.reason,)


@final
class Reasons:
    """Asks why branches stop."""

    def __init__(self, leaf: LeafOfProblem, targets: Targets, tracker: Tracker) -> None:
        self._leaf, self._targets, self._tracker = leaf, targets, tracker
        problem = leaf.problem.with_bounds(Bounds.none(leaf.space))
        self._unbounded = Projector(problem, leaf.projector.options, leaf.projector.engine)

    def of(self, s: float, q: Vector, stopped: Stopped, ahead: float, refused: Vector) -> BranchEnd:
        """Why a branch stops.

        Args:
            s, q: where.
            stopped: the kind of reason.
            ahead: value of the parameter that is not reached.
            refused: configuration (nq,) that was refused.
        """
        if stopped == Stopped.COLLIDED and self._leaf.collisions is not None:
            pairs = self._leaf.collisions.collisions(refused)
            return BranchEnd(s, q, in_words(pairs), pairs)
        if stopped == Stopped.JUMPED:
            return self._jump(s, q, refused)
        if stopped == Stopped.NOT:
            return BranchEnd(s, q, "the search ended before")
        return self._bound(s, q, ahead) or BranchEnd(s, q, self._off(q, refused, self._targets.at(ahead)))

    def _jump(self, s: float, q: Vector, refused: Vector) -> BranchEnd:
        """Of a joint that would have to move far at once."""
        moved, space = np.abs(self._leaf.space.difference(q, refused)), self._leaf.space
        leaf = max(space.leaves(), key=lambda each: float(moved[each.v].max(initial=0.0)))
        column = leaf.v.start + int(moved[leaf.v].argmax())
        unit = "rad" if self._leaf.problem.revolute[column] else "m"
        words = f"'{leaf.name}' would jump by {moved[column]:.3g} {unit} within the shortest step"
        return BranchEnd(s, q, words + self._singular(q, self._targets.at(s)), joints=(leaf.name,))

    def _bound(self, s: float, q: Vector, ahead: float) -> BranchEnd | None:
        """Of joints whose bounds stop it: without bounds it goes on beside, and they leave theirs."""
        beyond = self._unbounded.project(q, self._targets.at(ahead).on(self._unbounded.problem.constraints))
        if not beyond.success or self._tracker.steps(q[None], beyond.q[None])[0] > STEPS_TO_BEYOND:
            return None
        bounds = self._leaf.problem.bounds
        outside = bounds.violations(beyond.q)
        if not outside:
            return None
        words = list[str]()
        for each in outside:
            upper = each.amount > 0.0
            bound = bounds.upper[each.entry] if upper else bounds.lower[each.entry]
            side = "upper" if upper else "lower"
            words.append(f"'{each.place or each.joint}' is at its {side} bound, {bound:.6g} {each.unit}".rstrip())
        return BranchEnd(s, q, "; ".join(words), joints=tuple(dict.fromkeys(each.joint for each in outside)))

    def _off(self, q: Vector, refused: Vector, rhs: RightHandSide) -> str:
        """Of targets that are not reached: which constraints, and whether the branch is singular there."""
        stack = self._leaf.problem.constraints
        try:
            norms = [norm for _, norm in stack.norms(self._leaf.problem.error(refused, rhs=rhs))]
        except UndefinedError as error:
            return f"a function has no value there: {error}"
        threshold = self._leaf.projector.options.threshold
        off = [label for label, norm in zip(stack.labels, norms, strict=True) if norm > threshold]
        words = f"{', '.join(off)} cannot be satisfied further on" if off else "the projection leaves the bounds"
        return words + self._singular(q, rhs)

    def _singular(self, q: Vector, rhs: RightHandSide) -> str:
        """Whether the branch is singular there, in words."""
        try:
            J = self._leaf.problem.reduced_jacobian(q, rhs)
        except UndefinedError:
            return ""
        if not J.size:
            return ""
        values = np.linalg.svd(J, compute_uv=False)
        if len(J) > J.shape[1] or values[-1] >= SINGULAR_BRANCH * values[0]:
            return ""
        return "; it is singular there"
