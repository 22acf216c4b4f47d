"""The constraint graph of manipulation."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, final

import numpy as np

from liegroups.arguments import as_name, expect
from liegroups.arrays import ArrayLike

from ..exports import from_above
from ..keywords import FieldOf, closed
from ..paths.relative_motion import CollisionPair, RelativeMotion, SecurityMargins
from ..problem.problem import Problem
from ..ranges import whole_number
from ..robot import Robot
from ..robot.arguments import as_robot
from ..rows.row_owner import RowOwner
from ..solvers import Engine, Options, Projection, ProjectionBatch, Projector
from ..solvers.projection.engines import as_engine
from ..words import counted
from .arguments import as_owners, configurations, each_of, graph_options, path_options
from .description import describe, to_dot
from .doubts import ROUGHLY, questions, shown
from .foliation import Foliation, Leaf, leaf_at, one_placement_each
from .graph_errors import GraphErrors, graph_errors
from .network import Network
from .plans import TransitionPlans
from .problems import GraphProblems, PathProblem
from .selector import StateSelector
from .states import State, Transition
from .targets import TargetConfiguration, from_start, from_starts, together
from .validation import Validation, validation

_log = logging.getLogger(__package__)


@final
@closed("make a new one, ConstraintGraph(...)")
class ConstraintGraph:
    """States of a manipulation problem, and the transitions between them. Immutable.

    A *state* holds constraints that are the same for all its configurations; its configurations lie on *leaves*, one
    for each value of the complements. A *transition* is a path in a containing state, on the leaf of its start.
    `ConstraintGraphFactory` builds one from grippers, handles and surfaces.

    Args:
        robot: robot and objects, as one `Robot` (`Robot.system`).
        states: states, waypoints included.
        transitions: transitions; inner ones are part of these.
        foliations: constraints with complements and holds: the hold replaces a constraint and its complement where both
            apply. If two holds compute the same object the first stays explicit.
        constraints: constraints on every configuration. They keep their own right-hand sides: no start changes these.
        margins: distances to keep between bodies.
        options: of projections to states and targets; the default threshold is 1e-4; paths use half of it. By default
            at most 100 iterations, because whoever plans on a graph draws another guess.
        attempts: most guesses for a target.
        engine: solver and evaluator, as in `Projector`.
        name: name in messages.

    Attributes:
        robot, transitions, foliations, constraints, margins, options, attempts, engine, name: as given.
        states: the states without waypoints, highest priority first.
        waypoint_states: states that are only passed through.
        inner_transitions: the parts of transitions through waypoints.
        questions: what looks wrong in what it is made of; logged as one WARNING, and told by `validate`.

    Raises:
        DuplicateNameError: two states or transitions with the same name.
        DuplicateError: the same state, transition, foliation or constraint twice.
        GraphError: a transition between states that are not in the graph, or two placements of one object.
        UnknownJointError: margins of a joint that the robot does not have.
        WrongObjectError, OptionError, UnknownNameError: other invalid arguments.

    Source: `Graph` of hpp-manipulation.
    """

    def __init__(
        self,
        robot: Robot,
        states: Sequence[State],
        transitions: Sequence[Transition],
        foliations: Sequence[Foliation] = (),
        *,
        constraints: Sequence[RowOwner] = (),
        margins: SecurityMargins | None = None,
        options: Options | None = None,
        attempts: int = 4,
        engine: Engine | str | None = None,
        name: str = "graph",
    ) -> None:
        self.robot = as_robot(robot, "robot of a constraint graph")
        self.name = as_name(name, "name of a constraint graph")
        self.foliations = each_of(foliations, Foliation, "foliations of a constraint graph")
        self.constraints = as_owners(constraints, "constraints of a constraint graph")
        self.options = graph_options(options)
        self.attempts = whole_number(attempts, "attempts of a constraint graph", 1)
        self.engine = as_engine(engine)
        distances = SecurityMargins() if margins is None else margins
        self.margins = expect(distances, SecurityMargins, "margins of a constraint graph").of_joints(
            self.robot.joint_names
        )
        every = each_of(states, State, "states of a constraint graph")
        self.transitions = each_of(transitions, Transition, "transitions of a constraint graph")
        self._network = Network(every, self.transitions)
        self.inner_transitions = self._network.inner
        own = [state for state in every if not state.waypoint]
        self.states: tuple[State, ...] = tuple(sorted(own, key=lambda state: -state.priority))
        self.waypoint_states: tuple[State, ...] = tuple(s for s in every if s.waypoint)
        one_placement_each(self.foliations)
        self._problems = GraphProblems(self.robot, self.foliations, self.constraints, self.options, self.engine)
        evaluations, memories = self._problems.evaluations, self._problems.memories
        self._selector = StateSelector(evaluations, memories, self.states, self.constraints, self.threshold)
        self._plans = TransitionPlans(self._problems, self._selector)
        plain = [t for t in (*self.transitions, *self.inner_transitions) if not t.inner]
        self.questions = questions(plain, self.foliations, self.constraints, self.states)
        if self.questions:
            _log.warning("graph %r: %s", self.name, shown(self.questions))

    # Looking up.

    threshold = FieldOf[float]("options.threshold", "Largest error norm of a constraint in a state.")

    @property
    def path_options(self) -> Options:
        """Options for paths: half the threshold, no restarts, no wrapping."""
        return path_options(self.options)

    def state(self, which: State | str) -> State:
        """A state, or waypoint state, of this graph by its name.

        Raises:
            UnknownNameError: lists the names that come closest.
        """
        return self._network.state(which)

    def transition(self, which: Transition | str) -> Transition:
        """A transition, or inner transition, of this graph by its name; an unknown one raises as `state` does."""
        return self._network.transition(which)

    def transitions_from(self, state: State | str, to: State | str | None = None) -> tuple[Transition, ...]:
        """Transitions that leave a state, without inner ones.

        Args:
            state: where they start.
            to: only transitions to this state.
        """
        target = None if to is None else self.state(to)
        return tuple(t for t in self._network.leaving(self.state(state)) if target is None or t.target is target)

    def choose(self, state: State | str, rng: np.random.Generator) -> Transition:
        """A random transition from a state, with probabilities given by the weights; GraphError if there is none."""
        expect(rng, np.random.Generator, "rng", "a numpy.random.Generator, as numpy.random.default_rng(0)")
        return self._network.choose(self.state(state), rng)

    def shortest_path(self, source: State | str, target: State | str) -> tuple[Transition, ...]:
        """A shortest sequence of transitions between two states, loops and level sets left out.

        Raises:
            GraphError: there is none.
        """
        return self._network.shortest(self.state(source), self.state(target))

    # Configurations.

    def state_of(self, q: ArrayLike) -> State:
        """The state of a configuration: the one of highest priority that contains it, the first if several.

        A constraint shared by several states is evaluated once.

        Args:
            q: configuration (nq,).

        Raises:
            GraphError: no state contains it; the nearest one is named.
        """
        return self._selector.state_of(self.robot.check(q, "q"))

    def contains(self, state: State | str, q: ArrayLike) -> bool:
        """Whether a configuration satisfies the constraints of a state and of the graph; bounds are ignored.

        Args:
            state: a state, or its name; waypoint states too.
            q: configuration (nq,).
        """
        return self._selector.contains(self.state(state), self.robot.check(q, "q"))

    def leaf_of(self, q: ArrayLike, where: State | Transition | str | None = None) -> Leaf:
        """The leaf of a configuration: the parameters that paths from there keep.

        Args:
            q: configuration (nq,).
            where: a transition, if it has waypoints an inner one; or a state, for the leaf of its loop; by default the
                state of q.

        Raises:
            GraphError: the transition leads through waypoints, which are listed; q is not where its paths are.
        """
        return self._leaf(q, where, self.threshold)

    def _leaf(self, q: ArrayLike, where: State | Transition | str | None, limit: float) -> Leaf:
        state, foliations = self._network.leaves(self.state_of(q) if where is None else where, self.foliations)
        posture = self.robot.at(q)
        if where is not None:
            self._selector.refuse_outside(state, posture.q, max(ROUGHLY * self.threshold, limit))
        return leaf_at(foliations, posture)

    def foliations_of(self, where: State | Transition | str) -> tuple[Foliation, ...]:
        """The foliations whose leaf is kept by paths of a transition without waypoints, or of the loop of a state."""
        return tuple(self._network.leaves(where, self.foliations)[1])

    def same_leaf(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        where: State | Transition | str | None = None,
        tolerance: float | None = None,
    ) -> bool:
        """Whether two configurations are on the same leaf (`Leaf.same_as`); without `where`, also in the same state.

        Args:
            q0, q1: configurations (nq,).
            where: as in `leaf_of`.
            tolerance: as in `Leaf.same_as`; the threshold by default.
        """
        if where is None:
            where = self.state_of(q0)
            if self.state_of(q1) is not where:
                return False
        limit = self.threshold if tolerance is None else tolerance
        return self._leaf(q0, where, limit).same_as(self._leaf(q1, where, limit), limit)

    # Projections.

    def sample(self, state: State | str, rng: np.random.Generator) -> Projection:
        """A random configuration, projected onto a state; the projection may have failed.

        Args:
            state: a state, or its name; waypoint states too.
            rng: generator.
        """
        return self._problems.state(self.state(state)).project(self.robot.random(rng))

    def samples(
        self, state: State | str, rng: np.random.Generator, size: int, executor: Executor | None = None
    ) -> ProjectionBatch:
        """Several random configurations (`size`), each projected onto a state; `executor` as in `project_batch`."""
        return self._problems.state(self.state(state)).project_batch(self.robot.random(rng, size), executor=executor)

    def problem_of(self, state: State | str) -> Problem:
        """The constraints of configurations in a state, as a problem."""
        return self._problems.state(self.state(state)).problem

    def path_problem(self, transition: Transition | str, q_start: ArrayLike) -> PathProblem:
        """The constraints of the paths of a transition, and right-hand sides that keep them on the leaf of the start.

        Solve it with `graph.path_options`: half the threshold, so all configurations of a path stay inside its states.

        Args:
            transition: a transition, or its name; if it has waypoints give an inner one.
            q_start: configuration (nq,) on the leaf; it is not checked whether it is in the containing state.

        Raises:
            GraphError: the transition leads through waypoints; they are listed.
        """
        return self._problems.path(self._network.without_waypoints(transition), self.robot.check(q_start, "q_start"))

    def target(
        self,
        transition: Transition | str,
        q_start: ArrayLike,
        q: ArrayLike,
        *,
        leaf: ArrayLike | None = None,
        onto: Sequence[Foliation] = (),
    ) -> TargetConfiguration:
        """A configuration in the target state of a transition that paths on the leaf of the start may reach.

        Args:
            transition: a transition, or its name.
            q_start: configuration (nq,) in its source state.
            q: guess (nq,); ignored by short transitions.
            leaf: for a level-set transition: a configuration (nq,) on the leaf where it must end, which satisfies the
                condition; by default the guess, projected onto the condition.
            onto: of any other transition: foliations on whose leaf of `leaf` it must end, too (`foliations_of`);
                of those that it keeps, a loop of its source chooses the leaf before, one waypoint more.

        Returns:
            The target, with its waypoints; the search may have failed.

        Raises:
            GraphError: the start is not in the source state; a leaf that does not satisfy the condition; a leaf for a
                transition that chooses none.
        """
        found = self.transition(transition)
        if onto:
            found = self._plans.onto(found, onto, self.transitions_from(found.source, found.source))
        return from_start(self._plans, found, q_start, q, self.attempts, leaf)

    def targets(
        self, transition: Transition | str, Q_start: ArrayLike, Q: ArrayLike, executor: Executor | None = None
    ) -> tuple[TargetConfiguration, ...]:
        """Targets of several starts, each as `target` finds it, bit for bit.

        Args:
            transition: a transition, or its name.
            Q_start: starts (n, nq).
            Q: guesses (n, nq).
            executor: runs the projections in parallel, as in `Projector.project_batch`.
        """
        found = self.transition(transition)
        pairs = configurations(self.robot, Q_start, Q)
        attempt = together(executor)
        return tuple(from_starts(self._plans, found, pairs, self.attempts, None, attempt))

    # Bodies.

    def relative_motion(self, where: State | Transition | str) -> RelativeMotion:
        """How bodies move relative to each other along paths of a transition, or in a state.

        Args:
            where: a state or transition, or its name; of a transition with waypoints an inner one.

        Raises:
            GraphError: the transition leads through waypoints; they are listed.
        """
        return self._problems.motion(self._network.state_or_motion(where))

    def path_projector(self, problem: Problem) -> Projector:
        """What puts configurations onto a `path_problem`, with `path_options`; it is made once."""
        return self._problems.path_projector(problem)

    def collision_pairs(
        self, where: State | Transition | str, pairs: Sequence[tuple[str, str]]
    ) -> tuple[CollisionPair, ...]:
        """The pairs of bodies to check for collision, with the distance to keep.

        Pairs that do not move relative to each other along the paths of a transition are left out.

        Args:
            where: as in `relative_motion`.
            pairs: pairs of joints by name; "universe" is the world.
        """
        return self._problems.pairs(self._network.state_or_motion(where), self.margins, pairs)

    # Reading.

    def errors(self, q: ArrayLike, q_start: ArrayLike | None = None) -> GraphErrors:
        """Errors of a configuration by state and constraint, and by transition against the leaf of a start.

        Args:
            q: configuration (nq,).
            q_start: configuration (nq,) whose leaves are used; q itself by default.
        """
        point = self.robot.check(q, "q")
        return graph_errors(self, point, point if q_start is None else self.robot.check(q_start, "q_start"))

    def validate(self, rng: np.random.Generator, count: int = 100) -> Validation:
        """Sample every state and transition: how often each is reached, and which states hide others.

        Args:
            rng: generator.
            count: samples per state, and per transition, at least 1.
        """
        return validation(self, rng, count)

    def describe(self) -> str:
        """The graph in words."""
        return describe(self)

    def to_dot(self) -> str:
        """The graph in the language of Graphviz: states, waypoints, transitions."""
        return to_dot(self)

    def plot(self, path: str | os.PathLike[str] | None = None, ax: Any = None, waypoints: bool = True) -> Any:
        """The graph as a matplotlib figure (extra `plot`).

        `path`: also write it there. `ax`: axes to draw on. `waypoints`: draw waypoint states and inner transitions too.
        """
        return from_above("plot_graph")(self, path, ax, waypoints)

    def __repr__(self) -> str:
        whole = f"{counted(len(self.states), 'state')}, {counted(len(self.transitions), 'transition')}"
        inner = counted(len(self.inner_transitions), "inner transition")
        parts = f"{counted(len(self.waypoint_states), 'waypoint state')}, {inner}"
        return f"ConstraintGraph({self.name!r}: {whole}, {parts})"

    def __reduce__(self) -> tuple[Any, ...]:
        named = {key: getattr(self, key) for key in ("constraints", "margins", "options", "attempts", "engine", "name")}
        return _rebuilt, ((self.robot, (*self.states, *self.waypoint_states), self.transitions, self.foliations), named)


def _rebuilt(arguments: tuple[Any, ...], options: dict[str, Any]) -> ConstraintGraph:
    return ConstraintGraph(*arguments, **options)
