"""Problems of a constraint graph: built on first use, kept by what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import NamedTuple, final

from liegroups import Rn
from liegroups.arrays import Vector

from ..functions.affine import Constant
from ..paths.relative_motion import CollisionPair, RelativeMotion, SecurityMargins, collision_pairs, relative_motion
from ..problem.problem import Problem
from ..problem.span import spans_of
from ..robot import Robot
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..solvers import Engine, Options, Projection, Projector
from ..workspace import Kept
from .arguments import path_options
from .foliation import Foliation, merge_foliations
from .leaf_problem import Evaluations, ProblemFamily
from .memory import GraphMemory, GraphMemoryPool
from .states import State, Transition

PAIRS = 512
"""So many tables of pairs of joints that move against each other a graph keeps."""
NOTHING = "no constraint"
"""Name of the constraint of a problem that has none: it is always satisfied."""


class PathProblem(NamedTuple):
    """The constraints of the paths of a transition.

    Attributes:
        problem: the constraints of the containing state and of the leaf.
        rhs: right-hand sides of the leaf of the start.
    """

    problem: Problem
    rhs: RightHandSide


@final
class GraphProblems:
    """The problems and projectors of one graph.

    Attributes:
        robot, foliations, options: as given.
        everywhere: constraints that are asked of every configuration.
        memories: memory of calls.
        path_projector: what puts configurations onto a problem of paths, made once.
        evaluations: of constraints alone.
    """

    def __init__(
        self,
        robot: Robot,
        foliations: Sequence[Foliation],
        constraints: Sequence[RowOwner],
        options: Options,
        engine: Engine,
    ) -> None:
        self.robot, self.foliations, self.options = robot, tuple(foliations), options
        self.everywhere = constraints
        self._nothing = Implicit.between(Constant([0.0], Rn(1), robot.space), -1.0, 1.0, name=NOTHING)
        self.memories, self.evaluations = GraphMemoryPool(robot), Evaluations(robot, engine)
        self._families: dict[tuple[int, ...], ProblemFamily] = {}
        self._spans = cache(spans_of)
        self.path_projector = cache(partial(Projector, options=path_options(options), engine=engine))
        self._motions: dict[int, RelativeMotion] = {}
        self._pairs: Kept[tuple[CollisionPair, ...]] = Kept(PAIRS)

    def state(self, state: State) -> Projector:
        """What puts configurations into a state."""
        return self._kept(state.constraints).whole.projector

    def condition(self, transition: Transition) -> Projector:
        """What puts configurations where the leaf of a level-set transition may be chosen."""
        return self._kept(transition.condition or ()).whole.projector

    def misses(self, transition: Transition, q: Vector) -> str:
        """How far a configuration (nq,) is off the condition of a transition, in words; nothing if it satisfies it."""
        projector = self.condition(transition)
        stack = projector.problem.constraints
        norms = [norm for _, norm in stack.norms(projector.problem.error(q))]
        off = [(name, norm) for name, norm in zip(stack.labels, norms, strict=True) if norm > self.options.threshold]
        return ", ".join(f"{name} is off by {norm:.3g}" for name, norm in off)

    def is_out_of_reach(self, failed: Projection, memory: GraphMemory) -> bool:
        """Whether no guess can do what a projection did not: frames are further apart than joints can span."""
        problem, threshold = failed.problem, failed.options.threshold
        return any(span.is_too_short(memory.at(failed.q), threshold) for span in self._spans(problem))

    def path(self, transition: Transition, q_start: Vector) -> PathProblem:
        """What paths of a transition satisfy, on the leaf of their start."""
        memory = self.memories.take()
        found = self._of_paths(transition).at(q_start, memory)
        path = PathProblem(found.problem, found.rhs_at(q_start, memory.workspace))
        self.memories.give(memory)
        return path

    def pairs(
        self, where: State | Transition, margins: SecurityMargins, pairs: Sequence[tuple[str, str]]
    ) -> tuple[CollisionPair, ...]:
        """The pairs of some that move against each other."""
        make = partial(collision_pairs, self.motion(where), margins, pairs)
        return self._pairs.get((id(where), *pairs), make)

    def motion(self, where: State | Transition) -> RelativeMotion:
        """How bodies move relative to each other in a state of the graph, or along paths of a transition of it."""
        found = self._motions.get(id(where))
        if found is None:
            own = self.on_path(where) if isinstance(where, Transition) else [*self.everywhere, *where.constraints]
            found = self._motions[id(where)] = relative_motion(self.robot, own)
        return found

    def on_path(self, transition: Transition) -> list[RowOwner]:
        """Constraints of the paths of a transition, holds in place; where surfaces are not chosen, of all of them."""
        family = self._of_paths(transition)
        return merge_foliations(family.owners, [(f, f) for f in family.foliations])

    def _of_paths(self, transition: Transition) -> ProblemFamily:
        containing = transition.containing
        owners = [*transition.constraints, *containing.constraints, *containing.path_constraints]
        return self._kept(owners)

    def _kept(self, owners: Sequence[RowOwner]) -> ProblemFamily:
        """The family of some constraints, which the graph holds: transitions forth and back share theirs."""
        key = tuple(dict.fromkeys(map(id, owners)))
        found = self._families.get(key)
        if found is None:
            found = self._families[key] = self.family(owners, self.options)
        return found

    def family(self, owners: Sequence[RowOwner], options: Options) -> ProblemFamily:
        """The problems of some constraints, and of those that are asked of every configuration."""
        once = list({id(owner): owner for owner in (*self.everywhere, *owners)}.values())
        kept = [f for f in self.foliations if any(f.complement is owner for owner in once)]
        return ProblemFamily(self.evaluations, once, kept, options, self._nothing, self.everywhere)
