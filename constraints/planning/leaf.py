"""The solutions of a problem for one right-hand side, as searches see them: steps on it, and what is free."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from types import NoneType
from typing import NamedTuple, final

import numpy as np

from liegroups import Space
from liegroups.arguments import expect
from liegroups.arrays import BoolVector, Matrix, Vector

from ..collisions.checking import Checker
from ..collisions.model import CollisionModel
from ..errors import SpaceMismatchError
from ..problem.problem import Problem
from ..robot.configuration import random_points
from ..rows.right_hand_side import RightHandSide
from ..solvers import Options, Projector
from ..solvers.growth import GrowthProgram, Rules
from ..solvers.projection.projector import kept_projector
from .metric import Metric

THRESHOLD_OF_PATHS = 5e-5
"""Half of the usual one, so that what lies between samples is within the usual one [m, rad]."""
MAX_ANGLE, MAX_LENGTH = 0.1, 0.02
"""Most that a joint moves between two samples of a path [rad], [m]."""
FARTHEST_OF_STEP = 2.0
"""A step that is projected farther than this from where it began, in steps, has left its neighbourhood."""
LEAST_GAIN_OF_STEP = 1e-3
"""Part of a step by which it must come nearer."""
MET = 1e-6
"""Distance from a target, in steps, that counts as none."""


class Effort(NamedTuple):
    """What a search took.

    Attributes:
        nodes: in all trees.
        rounds: of growth.
        projections, checks: onto the constraints, for collisions.
        refused: edges between nodes that were taken back when looked at closely.
        seconds: wall time [s].
    """

    nodes: int
    rounds: int
    projections: int
    checks: int
    refused: int
    seconds: float


@final
class Counts:
    """What a search has asked for.

    Attributes:
        projections: onto the constraints.
        checks: of configurations for collisions.
        rounds: of growth.
        refused: edges between nodes that were taken back.
    """

    def __init__(self) -> None:
        self.projections = self.checks = self.rounds = self.refused = 0

    def effort(self, nodes: int, seconds: float) -> Effort:
        """All of it, with the nodes of all trees and the time [s] that it took."""
        return Effort(nodes, self.rounds, self.projections, self.checks, self.refused, seconds)


class Stepped(NamedTuple):
    """Steps towards targets.

    Attributes:
        q: where they lead (n, nq).
        left: distances (n,) from there to the targets.
        done: (n,) whether the step was projected, stays near, comes nearer and is free.
    """

    q: Matrix
    left: Vector
    done: BoolVector


@final
class LeafOfProblem:
    """The solutions of a problem for one right-hand side.

    Args:
        projector: of the problem.
        rhs: the right-hand side.
        collisions: what must be free; None for nothing.
    """

    def __init__(self, projector: Projector, rhs: RightHandSide, collisions: CollisionModel | None) -> None:
        self.projector, self.rhs, self.collisions = projector, rhs, collisions
        self.problem: Problem = projector.problem
        self.space = self.problem.space
        self.chart = Metric(self.problem, MAX_ANGLE, MAX_LENGTH)
        self.counts = Counts()
        self._like: LeafOfProblem | None = None
        self._points = random_points(self.problem.bounds, self.problem.revolute)

    @property
    def checker(self) -> Checker | None:
        """What looks for collisions; None where nothing collides."""
        return None if self.collisions is None else self.collisions.checker

    @cached_property
    def growth(self) -> GrowthProgram | None:
        """The kernel that takes many steps at once; None where there is none for the constraints, or for the solids."""
        if self._like is not None:
            return self._like.growth
        if self.checker is not None and self.checker.doubts is None:
            return None
        rules = Rules(*self.chart.weights, FARTHEST_OF_STEP, LEAST_GAIN_OF_STEP, MET)
        return self.projector.program.growth(rules)

    def on(self, rhs: RightHandSide, counts: Counts) -> LeafOfProblem:
        """Another leaf of the same problem, with its own counts."""
        other = copy(self)
        other.rhs, other.counts, other._like = rhs, counts, self._like or self
        return other

    def without_collisions(self) -> LeafOfProblem:
        """The same leaf where nothing collides, with counts of its own."""
        return LeafOfProblem(self.projector, self.rhs, None)

    def free(self, Q: Matrix) -> BoolVector:
        """Whether configurations (n, nq) are free of collisions."""
        if self.checker is None:
            return np.ones(len(Q), dtype=np.bool_)
        self.counts.checks += len(Q)
        return self.checker.free(Q)

    def projected(self, Q: Matrix) -> tuple[Matrix, BoolVector]:
        """Configurations (n, nq) put onto the leaf, and which ones were."""
        self.counts.projections += len(Q)
        batch = self.projector.project_batch(Q, self.rhs)
        return batch.q, batch.success

    def random(self, rng: np.random.Generator, like: Vector, count: int) -> Matrix:
        """Random configurations (count, nq) within bounds, not on the leaf; frozen dofs as in `like`."""
        Q = self._points.draw(rng, count)
        frozen = self.problem.frozen
        for leaf in self.space.leaves():
            held = frozen[leaf.v]
            if leaf.space.is_flat:
                Q[:, np.arange(leaf.q.start, leaf.q.stop)[held]] = like[leaf.q][held]
            elif held.all():
                Q[:, leaf.q] = like[leaf.q]
        return Q

    def step(self, Q: Matrix, targets: Matrix, distances: Vector) -> Stepped:
        """A step from each row towards its target.

        Args:
            Q: where they begin (n, nq), on the leaf.
            targets: (n, nq).
            distances: between them (n,), in steps.
        """
        whole = distances <= 1.0
        ahead = self.space.interpolate(Q, targets, 1.0 / np.maximum(distances, 1.0))
        ahead[whole] = targets[whole]
        q, done = self.projected(ahead)
        left = self.chart.distances(q, targets)
        done = done & (self.chart.distances(Q, q) <= FARTHEST_OF_STEP) & (left <= distances - LEAST_GAIN_OF_STEP)
        near = np.flatnonzero(done)
        done[near] = self.free(q[near])
        return Stepped(q, left, done)


def check_space(space: Space, collisions: CollisionModel | None, who: str) -> None:
    """Refuse what is no collision model, and one of another robot.

    Raises:
        WrongObjectError: it is none; `who` says whose, "of a plan".
        SpaceMismatchError: names both.
    """
    expect(collisions, (CollisionModel, NoneType), f"collisions {who}", "a CollisionModel, or None")
    if collisions is not None and collisions.robot.space != space:
        raise SpaceMismatchError("collision model of a search", space.name, collisions.robot.space.name)


def path_projector(problem: Problem | Projector, collisions: CollisionModel | None, who: str) -> Projector:
    """A projector for paths: the one that is given, or one with `Options.local()` and half its threshold.

    Raises:
        OptionError: its options have a clock, so that paths would not be the same each time.
        WrongObjectError, SpaceMismatchError: a problem that is none; as of `check_space`.
    """
    expect(problem, (Problem, Projector), f"problem {who}", "a Problem, or a Projector of one")
    check_space(problem.space if isinstance(problem, Problem) else problem.problem.space, collisions, who)
    if isinstance(problem, Projector):
        problem.options.without_clock("of a path")
        return problem
    return kept_projector(problem, Options.local(threshold=THRESHOLD_OF_PATHS))
