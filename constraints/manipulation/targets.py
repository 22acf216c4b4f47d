"""Configurations at the end of transitions."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import final

import numpy as np

from ..arrays import ArrayLike, Matrix, Vector
from ..errors import ConstraintError, GraphError, WrongObjectError
from ..robot import Robot
from ..solvers import Projection, Status
from .programs import Programs
from .states import Transition

__all__ = ["TargetConfiguration", "UnreachedError", "configurations", "leaf_for", "reach"]


class UnreachedError(ConstraintError):
    """A target configuration was asked for that was not found; `target` has the projections."""

    def __init__(self, target: TargetConfiguration) -> None:
        self.target = target
        super().__init__(str(target))


@final
@dataclass(frozen=True, eq=False, repr=False)
class TargetConfiguration:
    """A configuration in the target state of a transition, on the leaf of its start; or how far it got.

    Attributes:
        transition: the transition.
        q_start: where it starts.
        projections: one for each inner transition that was tried, in order; one for a transition without any. Where a
            short one asks only for what the one before has found, that one again.
        attempts: how many guesses were needed.
    """

    transition: Transition
    q_start: Vector
    projections: tuple[Projection, ...]
    attempts: int

    @property
    def q(self) -> Vector:
        """The last configuration (nq,)."""
        return self.projections[-1].q

    @property
    def status(self) -> Status:
        """Status of the last projection."""
        return self.projections[-1].status

    @property
    def success(self) -> bool:
        """Whether the target state was reached."""
        return len(self.projections) == max(1, len(self.transition.inner)) and self.projections[-1].success

    @property
    def waypoints(self) -> tuple[Vector, ...]:
        """The configurations after each inner transition, the target last; those that were reached."""
        return tuple(p.q for p in self.projections if p.success)

    @property
    def failed_at(self) -> Transition | None:
        """The transition, or inner transition, whose target was not found; None after success."""
        if self.success:
            return None
        inner = self.transition.inner
        return inner[len(self.projections) - 1] if inner else self.transition

    def or_raise(self) -> TargetConfiguration:
        """Itself if it succeeded.

        Raises:
            UnreachedError: it failed; the error carries it.
        """
        if not self.success:
            raise UnreachedError(self)
        return self

    def __str__(self) -> str:
        failed = self.failed_at
        where = "" if failed is None else f" (at '{failed}')"
        words = "1 guess" if self.attempts == 1 else f"{self.attempts} guesses"
        return f"target of '{self.transition}'{where} after {words}: {self.projections[-1]}"

    __repr__ = __str__


def reach(
    programs: Programs, transition: Transition, q_start: Vector, q: Vector, leaf: Vector | None, attempts: int
) -> TargetConfiguration:
    """Go through the waypoints of a transition; where one is not found, start again from another guess.

    Short inner transitions start where the last one ended, without restarts: what is found may be joined by a short
    motion. The guesses are random, and a function of the start and the first guess alone.

    Args:
        programs: problems of the graph.
        transition: with waypoints or without.
        q_start: start (nq,), in the source state.
        q: first guess (nq,).
        leaf: configuration on the leaf where a level-set transition ends.
        attempts: number of guesses at most.
    """
    best, rng = None, None
    for attempt in range(1, attempts + 1):
        found = TargetConfiguration(transition, q_start, _chain(programs, transition, q_start, q, leaf), attempt)
        if found.success or transition.short:
            return found
        if best is None or len(found.projections) > len(best.projections):
            best = found
        if rng is None:
            rng = np.random.default_rng([zlib.crc32(q_start.tobytes()), zlib.crc32(q.tobytes())])
        q = programs.robot.random(rng)
    assert best is not None  # at least one attempt was made
    return TargetConfiguration(transition, q_start, best.projections, attempts)


def _chain(
    programs: Programs, transition: Transition, q_start: Vector, q: Vector, leaf: Vector | None
) -> tuple[Projection, ...]:
    """Projections of one attempt, up to the first that fails."""
    parts = transition.inner or (transition,)
    done: list[Projection] = []
    for i, part in enumerate(parts):
        if done and programs.follows(part, parts[i - 1], len(parts)):
            done.append(done[-1])
            continue
        on = leaf if part.parameters else None
        projector, rhs = programs.target(part, len(parts), q_start, on, done[-1] if done else None)
        projection = projector.project(q_start if part.short else q, rhs)
        done.append(projection)
        if not projection.success:
            break
        q_start = projection.q
    return tuple(done)


def leaf_for(programs: Programs, transition: Transition, q: Vector, leaf: ArrayLike | None) -> Vector | None:
    """The configuration from which a level-set transition reads its parameters; None where there are none.

    Args:
        programs: problems of the graph.
        transition: with waypoints or without.
        q: a guess, which is put where leaves may be chosen, where no leaf is given.
        leaf: configuration (nq,) on the leaf.

    Raises:
        GraphError: a leaf for a transition that chooses none.
    """
    part = next((part for part in (transition.inner or (transition,)) if part.parameters), None)
    if part is None:
        if leaf is not None:
            raise GraphError(f"transition '{transition}' chooses no leaf: only level-set transitions take one")
        return None
    return programs.condition(part).project(q).q if leaf is None else programs.robot.check(leaf, "leaf")


def configurations(robot: Robot, given: ArrayLike, what: str) -> Matrix:
    """Configurations (n, nq), each checked.

    Raises:
        WrongObjectError: no array of two axes.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with one of them.
    """
    rows = np.asarray(given)
    if rows.ndim != 2:
        raise WrongObjectError(what, f"configurations (n, {robot.nq})", f"an array of {rows.ndim} axes")
    return np.array([robot.check(row, f"{what}[{i}]") for i, row in enumerate(rows)]).reshape(len(rows), robot.nq)
