"""A path along given right-hand sides: a tool path, whose free rows are chosen so that it can be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from liegroups.arguments import expect, is_finite_number
from liegroups.arrays import ArrayLike, Matrix, Vector

from ...collisions.model import Collision, CollisionModel
from ...errors import OptionError
from ...paths.moving_rhs import MovingRightHandSide
from ...paths.path import Path
from ...paths.with_path import WithPath
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...solvers import Projector
from ...words import counted
from ..ends import RandomSolutions, Refused, in_words, left_unasked, rows_of, usable
from ..leaf import Effort, LeafOfProblem, path_projector
from ..limits import Clock, Limits
from ..status import PlanningStatus
from .reasons import BranchEnd, Reasons
from .search import DRAWN_AT_ONCE, BranchSearch, Reached
from .targets import Targets
from .tracker import LONGEST_STEP, Stopped, Tracker

MOST_STARTS = 32
"""Most branches that begin at random solutions."""
ROUNDS_OF_STARTS = 20
"""Times that random configurations are drawn before there is no start."""
DISTINCT = 1.0
"""Least distance between two starts, in largest steps."""
TOLD = 32
"""Most branches of which a result says why they stop: those of the starts."""
SHOWN = 5
"""Reasons of other branches that `describe` has."""

FollowedTargets = ArrayLike | list[RightHandSide] | MovingRightHandSide | Callable[[float], RightHandSide | ArrayLike]
"""Rows of right-hand sides (n, size), a list of them, what moves from one to another, or a function of s in [0, 1]."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Following(WithPath):
    """Result of following right-hand sides. On failure `path` is the longest part that was found.

    It is neither true nor false (`if following:` raises): `success` says whether all targets are followed.

    Attributes:
        path: a path of one piece, whose right-hand sides move; its samples are at most 0.1 rad and 2 cm apart. None if
            nothing can be followed.
        status: why the search ended.
        reached: value of the parameter up to which it leads, in [0, 1].
        rows_reached: how many of the rows of targets were reached; None if a function was given.
        problem: the constraints that are held along the path.
        effort: what it took.
        reason: what stops the longest branch, or what is wrong with the starts, in words with names; on success that
            no collisions were looked at, or nothing.
        collisions: pairs that collide there.
        joints: names of joints that stop it: at a bound, or since they would jump.
        branches: where and why the branches of the starts stop, the longest first; empty on success.
    """

    path: Path | None
    status: PlanningStatus
    reached: float
    rows_reached: int | None
    problem: Problem
    effort: Effort
    reason: str = ""
    collisions: tuple[Collision, ...] = ()
    joints: tuple[str, ...] = ()
    branches: tuple[BranchEnd, ...] = ()

    def describe(self) -> str:
        """The result in words: status, how far it leads, what stops it and the other branches, what is held."""
        e, lines = self.effort, [str(self)]
        lines += self._lines_of_path()
        if self.branches:
            lines.append(f"  {counted(len(self.branches), 'branch')} from the starts:")
            kinds = Counter(branch.kind for branch in self.branches).most_common()
            for kind, count in kinds[:SHOWN]:
                farthest = next(branch for branch in self.branches if branch.kind == kind)
                lines.append(f"    {count} up to {farthest.reached:.4g} at most: {farthest.reason}")
            if len(kinds) > SHOWN:
                lines.append(f"    and {len(kinds) - SHOWN} more reasons")
        lines.append(f"  {counted(e.nodes, 'node')} in {counted(e.rounds, 'round')} aside, {e.seconds:.3g} s")
        lines.append(f"  {counted(e.projections, 'projection')}, {counted(e.checks, 'check')} for collisions")
        return "\n".join(lines)

    def __str__(self) -> str:
        if self.success:
            return super().__str__()
        far = f"followed up to {self.reached:.4g} of the way" if self.path is not None else "nothing is followed"
        rows = "" if self.rows_reached is None else f", {counted(self.rows_reached, 'row')} of targets"
        return f"{self.status} ({far}{rows}: {self.reason})"


def follow(
    problem: Problem | Projector,
    targets: FollowedTargets,
    starts: ArrayLike | None = None,
    *,
    rng: np.random.Generator,
    collisions: CollisionModel | None = None,
    limits: Limits | None = None,
    shortest: float = 2.0**-10,
) -> Following:
    r"""A path along right-hand sides that are given: a tool path, with the rows free that the constraints leave free.

    .. math:: q(s)\ \text{solves the constraints with}\ r(s), \qquad s \in [0, 1]

    All starts are followed at once, each by steps of its own: the configuration is projected onto the targets a bit
    further (the step of least joint motion). A step is taken if no joint moves by more than 0.1 rad or 2 cm, the
    solution half-way lies between both ends, bounds hold, and all is free at 0.02 rad and 5 mm; else it is halved. So
    an elbow or wrist that would flip stops a branch, and never hides between samples. Where none reaches the end and
    rows are free, branches are drawn aside by self-motion towards random configurations, from solutions before (a tree
    along the path, Oriolo, Ottaviani and Cefalo 2002), until 10 rounds lead no further; the path is then pulled
    straight between the same targets. Of the paths to the end the shortest is taken, else the longest part. s never
    goes back, nor stands still: where the arm needs room to change its posture, it does so along the way.

    Planners with a ladder (Descartes of ROS-Industrial; Holladay et al. 2019) sample solutions of each target and
    join those that are near each other. Here all that joins solutions is a motion on the constraints.

    Args:
        problem: the constraints; or a projector for them, which is then used with its options. By default
            `Options.local()` with half its threshold, so that what lies between samples is within the threshold.
        targets: rows of right-hand sides (n, problem.constraints.rhs_size), n at least 2, or a list of
            `RightHandSide`: at equal parts of s; each is a sample of the path, and between two of them every right-hand
            side moves on its group. Or a function from s to right-hand sides, which is looked at 65 times or more, and
            closer where joints move: what comes and goes within less may be missed. Or what moves from one to
            another, as `straight_line` gives it.
        starts: a configuration (nq,) or rows (n, nq), any of which will do, which satisfy the first targets; None for
            up to 32 random solutions of these, with frozen joints at zero, moved into bounds.
        rng: generator, for instance `numpy.random.default_rng(0)`. The same generator gives the same bits, unless the
            clock ends the search.
        collisions: what must be free; None for nothing.
        limits: its `seconds` and `nodes` end the search, with the best so far.
        shortest: part of s in which a joint that moves by more than 0.1 rad or 2 cm jumps: how fast joints may move
            along the path, and so how near a singular configuration may be. If rows of targets are closer: from one
            row to the next.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with a start or with targets, or fewer
            than two rows.
        SpaceMismatchError: a collision model of another robot.
        OptionError: `shortest` is not in (0, 1/32].
        WrongObjectError: an argument of another type, or a function that gives no right-hand side.

    Example:
        >>> import numpy as np
        >>> from liegroups import Rn
        >>> from constraints import Function, Implicit, Problem
        >>> from constraints.planning import follow
        >>> height = Function.from_callable(lambda q: q[1:], Rn(2), Rn(1), name="height")
        >>> problem = Problem(Rn(2), [Implicit.equal(height)])
        >>> follow(problem, lambda s: [s], [0.0, 0.0], rng=np.random.default_rng(0)).reached
        1.0

    Source: G. Oriolo, M. Ottaviani, S. Cefalo, Probabilistic motion planning for redundant robots along given
    end-effector paths, IROS 2002; R. Holladay, O. Salzman, S. Srinivasa, Minimizing task-space Frechet error via
    efficient incremental graph search, IEEE Robotics and Automation Letters 4 (2019).
    """
    expect(rng, np.random.Generator, "rng of a path to be followed", "a Generator, as numpy.random.default_rng(0)")
    limits = Limits() if limits is None else expect(limits, Limits, "limits of a path to be followed", "Limits")
    if not is_finite_number(shortest) or not 0.0 < shortest <= LONGEST_STEP:
        raise OptionError(f"shortest step of a path to be followed: expected a number in (0, 1/32], got {shortest!r}")
    projector = path_projector(problem, collisions, "of a path to be followed")
    along = Targets(projector.problem, targets)
    given = None if starts is None else rows_of(projector.problem, starts, "starts")
    leaf = LeafOfProblem(projector, along.at(0.0), collisions)
    return _Follower(leaf, along, limits, float(shortest)).run(given, rng)


@final
class _Follower:
    """One call of `follow`."""

    def __init__(self, leaf: LeafOfProblem, targets: Targets, limits: Limits, shortest: float) -> None:
        self._leaf, self._targets, self._clock, self._limits = leaf, targets, Clock(limits.seconds), limits
        self._tracker = Tracker(leaf, targets, shortest, self._clock, limits.nodes)

    def run(self, given: Matrix | None, rng: np.random.Generator) -> Following:
        leaf, targets = self._leaf, self._targets
        starts = random_starts(leaf, rng, self._clock) if given is None else usable(leaf, given, "start")
        if isinstance(starts, Refused):
            refused = self._result(starts.status, None)
            return replace(refused, reason=starts.words, collisions=starts.collisions)
        search = BranchSearch(leaf, targets, self._tracker, rng, self._clock)
        best = search.run(starts)
        if best.reached == 1.0:
            return self._result(PlanningStatus.FOUND, best)
        reasons, ends = Reasons(leaf, targets, self._tracker), search.ends
        nodes = self._tracker.nodes

        def reason(i: int) -> BranchEnd:
            node = int(ends.nodes[i])
            stopped = Stopped(int(ends.stopped[i]))
            return reasons.of(float(nodes.s[node]), nodes.q[node].copy(), stopped, float(ends.ahead[i]), ends.q[i])

        why = reason(best.end)
        if best.met is not None:
            words = f"{in_words((best.met,))} between samples"
            why = BranchEnd(best.reached, best.q[-1], words, (best.met,))
        if search.beyond.words:
            why = why._replace(reason=f"{why.reason}; {search.beyond.words}")
        branches = sorted((reason(i) for i in range(min(len(starts), TOLD))), key=lambda each: -each.reached)
        return self._result(self._status(), best, why, tuple(branches))

    def _status(self) -> PlanningStatus:
        """Why a search did not come to the end of the targets."""
        if self._clock.is_over:
            return PlanningStatus.TIME
        return PlanningStatus.NODES if self._tracker.nodes.count >= self._limits.nodes else PlanningStatus.PARTLY

    def _result(
        self,
        status: PlanningStatus,
        best: Reached | None,
        why: BranchEnd | None = None,
        branches: tuple[BranchEnd, ...] = (),
    ) -> Following:
        effort = self._leaf.counts.effort(self._tracker.nodes.count, self._clock.spent)
        reached = 0.0 if best is None else best.reached
        rows = int(np.count_nonzero(self._targets.knots <= reached)) if best is not None else 0
        return Following(
            None if best is None else best.path,
            status,
            reached,
            None if self._targets.rows is None else rows,
            self._leaf.problem,
            effort,
            left_unasked(self._leaf.collisions) if why is None else why.reason,
            () if why is None else why.collisions,
            () if why is None else why.joints,
            branches,
        )


def random_starts(leaf: LeafOfProblem, rng: np.random.Generator, clock: Clock) -> Matrix | Refused:
    """Free solutions (n, nq) of the first targets, none near another one; or why there is none."""
    bounds, kept, distances = leaf.problem.bounds, list[Vector](), leaf.chart.distances
    like = np.clip(leaf.space.neutral, bounds.lower, bounds.upper)
    solutions = RandomSolutions(leaf, [(leaf.problem, leaf.rhs)], DRAWN_AT_ONCE)
    found = solutions.first(rng, like, clock, ROUNDS_OF_STARTS, PlanningStatus.NO_START)
    if isinstance(found, Refused):
        return found
    for q in found:
        if not kept or distances(np.array(kept), np.repeat(q[None], len(kept), axis=0)).min() > DISTINCT:
            kept.append(q)
        if len(kept) == MOST_STARTS:
            break
    return np.array(kept)
