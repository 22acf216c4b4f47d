"""What a path shall lead from and to: configurations, a box, or problems whose solutions are goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast, final

import numpy as np

from liegroups import Space
from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..collisions.model import Collision, CollisionModel
from ..errors import SizeError, SpaceMismatchError, UndefinedError
from ..paths.interpolation import is_on_another_leaf
from ..problem.description import errors_of
from ..problem.problem import Problem
from ..robot import Bounds
from ..rows.right_hand_side import RightHandSide
from ..solvers import Options, Projector
from ..solvers.projection.batch_arguments import starts_of
from .leaf import LeafOfProblem
from .status import PlanningStatus

GOALS_AT_ONCE = 16
"""Random configurations that are projected onto a goal together."""

Goal = ArrayLike | Problem | Bounds | Sequence[Problem]
"""A configuration (nq,), rows of them (n, nq), a box, a problem, or several problems, any of which will do."""


class Refused(NamedTuple):
    """Ends from which no path can lead.

    Attributes:
        status: why.
        words: what is wrong, with names.
        collisions: pairs that collide there.
        q: the end (nq,) of which this is said; None where there is none.
    """

    status: PlanningStatus
    words: str
    collisions: tuple[Collision, ...] = ()
    q: Vector | None = None


@final
class Goals:
    """Goals that are found while the search goes on: solutions of a problem and of one of several others.

    Args:
        leaf: where they must lie.
        problems: what they must solve beside.
    """

    def __init__(self, leaf: LeafOfProblem, problems: Sequence[Problem]) -> None:
        self._leaf, threshold = leaf, leaf.projector.options.threshold
        self._projectors = list[tuple[Projector, RightHandSide]]()
        for other in problems:
            both = leaf.problem.merged(other)
            self._projectors.append(
                (
                    Projector(both, Options(threshold=threshold), leaf.projector.engine),
                    both.rhs_from_parts(other.rhs, leaf.rhs),
                )
            )
        self.tried, self.collisions = 0, tuple[Collision, ...]()
        self.colliding: Vector | None = None
        self.nearest = ""

    @staticmethod
    def within(leaf: LeafOfProblem, box: Bounds) -> Goals:
        """Goals in a box."""
        narrow = narrowed(leaf.problem, box)
        goals = Goals(leaf, ())
        options = Options(threshold=leaf.projector.options.threshold)
        goals._projectors.append((Projector(narrow, options, leaf.projector.engine), leaf.rhs.on(narrow.constraints)))
        return goals

    def more(self, rng: np.random.Generator, like: Vector) -> Matrix:
        """Goals (n, nq) found from some random configurations; often none."""
        leaf, found = self._leaf, list[Matrix]()
        for projector, rhs in self._projectors:
            batch = projector.project_batch(leaf.random(rng, like, GOALS_AT_ONCE), rhs)
            leaf.counts.projections += len(batch)
            self.tried += len(batch)
            Q = batch.q[batch.success]
            if not len(Q) and not found:
                self.nearest = str(batch[int(batch.residual.argmin())])
            free = leaf.free(Q)
            if len(Q) and not free.any() and leaf.collisions is not None:
                self.colliding, self.collisions = Q[0], leaf.collisions.collisions(Q[0])
            found.append(Q[free])
        return np.concatenate(found)


def narrowed(problem: Problem, box: Bounds) -> Problem:
    """The same problem in narrower bounds.

    Raises:
        SizeError: a box of another size.
        EmptyIntervalError: a box that lies beside the bounds; names the joint.
    """
    box, own = box.on(problem.space), problem.bounds
    both = Bounds(problem.space, np.maximum(box.lower, own.lower), np.minimum(box.upper, own.upper))
    return problem.with_bounds(both)


def rows_of(problem: Problem, given: ArrayLike, what: str) -> Matrix:
    """One configuration or several as rows (n, nq), checked.

    Raises:
        SizeError: another size, or no row.
        DtypeError, NotFiniteError, NotNormalizedError: what is wrong with one.
    """
    if np.ndim(cast("Any", given)) == 2:
        rows = starts_of(problem.space, given, what)
        if not len(rows):
            raise SizeError(what, f"one configuration ({problem.space.nq},), or rows of them", rows.shape)
        return read_only(rows)
    return read_only(problem.check(given, what)[None].copy())


def goals_of(leaf: LeafOfProblem, given: Goal) -> Matrix | Goals:
    """What a user gives as goal.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with a configuration.
        WrongObjectError: something that is no goal.
        SpaceMismatchError, RobotMismatchError: a goal for another robot.
    """
    if isinstance(given, Bounds):
        return Goals.within(leaf, given)
    if isinstance(given, Problem):
        return Goals(leaf, (given,))
    if isinstance(given, list | tuple) and any(isinstance(each, Problem) for each in cast("list[object]", given)):
        several = [expect(each, Problem, "goal among several", "a Problem") for each in cast("list[object]", given)]
        return Goals(leaf, several)
    return rows_of(leaf.problem, cast("ArrayLike", given), "goal")


def usable(leaf: LeafOfProblem, Q: Matrix, what: str) -> Matrix | Refused:
    """The rows that lie on the leaf and are free; or why none does.

    Args:
        leaf: where they must lie.
        Q: configurations (n, nq).
        what: "start" or "goal".
    """
    threshold = leaf.projector.options.threshold
    on = np.array([_holds(leaf.problem, q, leaf.rhs, threshold) for q in Q])
    if not on.any():
        q = Q[0]
        lines = errors_of(leaf.problem, q, leaf.rhs, threshold)
        other = is_on_another_leaf(leaf.problem, q, threshold)
        words = "; it lies on another leaf: its own right-hand sides are `problem.rhs_from(q)`" if other else ""
        return Refused(PlanningStatus.of_end(what, "OFF"), f"{'; '.join(lines)}{words}", q=q)
    free = leaf.free(Q[on])
    if not free.any():
        pairs = () if leaf.collisions is None else leaf.collisions.collisions(Q[on][0])
        return Refused(PlanningStatus.of_end(what, "COLLIDES"), in_words(pairs), pairs, Q[on][0])
    return Q[on][free]


def in_words(pairs: Sequence[Collision]) -> str:
    """Pairs that collide."""
    return ", ".join(f"{pair.a} collides with {pair.b}" for pair in pairs)


def left_unasked(collisions: CollisionModel | None) -> str:
    """That nothing was asked about collisions, in words; empty where it was."""
    if collisions is None:
        return "collisions were not looked at"
    return "" if collisions.pairs else "the collision model has no pairs: no collisions were looked at"


def check_space(space: Space, collisions: CollisionModel | None) -> None:
    """Refuse a collision model of another robot.

    Raises:
        SpaceMismatchError: names both.
    """
    if collisions is not None and collisions.robot.space != space:
        raise SpaceMismatchError("collision model of a search", space.name, collisions.robot.space.name)


def _holds(problem: Problem, q: Vector, rhs: RightHandSide, threshold: float) -> bool:
    try:
        return problem.is_satisfied(q, rhs=rhs, threshold=threshold)
    except UndefinedError:
        return False
