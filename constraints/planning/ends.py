"""What a path shall lead from and to: configurations, a box, or problems whose solutions are goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..collisions.model import Collision, CollisionModel
from ..errors import SizeError, UndefinedError
from ..paths.interpolation import is_on_another_leaf
from ..problem.description import errors_of
from ..problem.problem import Problem
from ..robot import Bounds
from ..rows.right_hand_side import RightHandSide
from ..solvers import Options, Projector
from ..solvers.projection.batch_arguments import starts_of
from ..words import counted
from .leaf import LeafOfProblem
from .limits import Clock
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
class RandomSolutions:
    """Solutions of problems that are found from random configurations: goals of a search, starts of branches.

    Args:
        leaf: has the random configurations, collisions, counts, and the threshold.
        problems: what is solved, each with its right-hand sides.
        at_once: random configurations that are projected together.

    Attributes:
        tried, solved: how many projections, and how many of them succeeded.
        nearest: the last try that failed by least, in words.
        colliding: a solution (nq,) of the last round without a free one.
    """

    def __init__(
        self, leaf: LeafOfProblem, problems: Sequence[tuple[Problem, RightHandSide]], at_once: int = GOALS_AT_ONCE
    ) -> None:
        options, engine = Options(threshold=leaf.projector.options.threshold), leaf.projector.engine
        self._projectors = [(Projector(problem, options, engine), rhs) for problem, rhs in problems]
        self._leaf, self._at_once = leaf, at_once
        self.tried, self.solved, self.nearest = 0, 0, ""
        self.colliding: Vector | None = None

    def more(self, rng: np.random.Generator, like: Vector) -> Matrix:
        """Free ones (n, nq) from some random configurations, with the frozen dofs of another one; often none."""
        leaf, found = self._leaf, list[Matrix]()
        for projector, rhs in self._projectors:
            batch = projector.project_batch(leaf.random(rng, like, self._at_once), rhs)
            leaf.counts.projections += len(batch)
            self.tried += len(batch)
            Q = batch.q[batch.success]
            self.solved += len(Q)
            if not len(Q) and not found:
                self.nearest = str(batch[int(batch.residual.argmin())])
            free = leaf.free(Q)
            if len(Q) and not free.any():
                self.colliding = Q[0]
            found.append(Q[free])
        return np.concatenate(found)

    def first(
        self, rng: np.random.Generator, like: Vector, clock: Clock, rounds: int, status: PlanningStatus
    ) -> Matrix | Refused:
        """The first free ones (n, nq) in some rounds; or the status, and why there is none."""
        for _ in range(rounds):
            found = self.more(rng, like)
            if len(found):
                return found
            if clock.is_over:
                break
        model, q = self._leaf.collisions, self.colliding
        met = () if model is None or q is None else model.collisions(q)
        return Refused(status, f"{counted(self.tried, 'projection')}; {in_words(met) or self.nearest}", met, q)


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


def goals_of(leaf: LeafOfProblem, given: Goal) -> Matrix | RandomSolutions:
    """What a user gives as goal.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with a configuration.
        WrongObjectError: something that is no goal.
        SpaceMismatchError, RobotMismatchError: a goal for another robot.
        EmptyIntervalError: a box that lies beside the bounds; names the joint.
    """
    own = leaf.problem
    if isinstance(given, Bounds):
        box = given.on(own.space)
        both = Bounds(own.space, np.maximum(box.lower, own.bounds.lower), np.minimum(box.upper, own.bounds.upper))
        narrow = own.with_bounds(both)
        return RandomSolutions(leaf, [(narrow, leaf.rhs.on(narrow.constraints))])
    listed: list[object] = [*cast("Any", given)] if isinstance(given, list | tuple) else [given]
    if not any(isinstance(each, Problem) for each in listed):
        return rows_of(own, cast("ArrayLike", given), "goal")
    others = [expect(each, Problem, "goal among several", "a Problem") for each in listed]
    merged = [(own.merged(other), other) for other in others]
    return RandomSolutions(leaf, [(both, both.rhs_from_parts(other.rhs, leaf.rhs)) for both, other in merged])


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
        words = "" if leaf.collisions is None else met_in_words(leaf.collisions, Q[on][0], pairs)
        return Refused(PlanningStatus.of_end(what, "COLLIDES"), words, pairs, Q[on][0])
    return Q[on][free]


def in_words(pairs: Sequence[Collision]) -> str:
    """Pairs that collide."""
    return ", ".join(f"{pair.a} collides with {pair.b}" for pair in pairs)


def met_in_words(model: CollisionModel, q: Vector, pairs: Sequence[Collision]) -> str:
    """The same of a configuration (nq,): which pairs collide, and which are only closer than their margin."""
    bare = model.with_margins({(pair.a, pair.b): 0.0 for pair in pairs})
    met = {frozenset((pair.a, pair.b)) for pair in bare.collisions(q)}
    touching = [pair for pair in pairs if frozenset((pair.a, pair.b)) in met]
    near = [f"{pair.a} is closer to {pair.b} than the margin" for pair in pairs if pair not in touching]
    return ", ".join(filter(None, (in_words(touching), *near)))


def left_unasked(collisions: CollisionModel | None) -> str:
    """That nothing was asked about collisions, in words; empty where it was."""
    if collisions is None:
        return "collisions were not looked at"
    return "" if collisions.pairs else "the collision model has no pairs: no collisions were looked at"


def _holds(problem: Problem, q: Vector, rhs: RightHandSide, threshold: float) -> bool:
    try:
        return problem.is_satisfied(q, rhs=rhs, threshold=threshold)
    except UndefinedError:
        return False
