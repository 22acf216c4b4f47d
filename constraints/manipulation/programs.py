"""Problems of a constraint graph: built on first use, kept by what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, final

from liegroups import Rn

from ..arrays import ArrayLike, Vector
from ..functions.affine import Constant
from ..implicit import Implicit
from ..problem import Problem
from ..right_hand_side import RightHandSide
from ..robot import Robot
from ..solvers import Options, Projector
from ..stack import RowOwner
from .foliation import Foliation, merged
from .states import State, Transition

__all__ = ["PathProblem", "Programs"]


class PathProblem(NamedTuple):
    """What every configuration of a path of a transition satisfies.

    Attributes:
        problem: the constraints of the containing state and of the leaf.
        rhs: right-hand sides that put it on the leaf of the start.
    """

    problem: Problem
    rhs: RightHandSide


@final
class Programs:
    """The problems and projectors of one graph.

    Args:
        robot: the robot.
        foliations: whose constraints, complements and holds are merged.
        constraints: asked of every configuration.
        options: threshold and budget of projections.
    """

    def __init__(
        self, robot: Robot, foliations: Sequence[Foliation], constraints: Sequence[RowOwner], options: Options
    ) -> None:
        self.robot, self.foliations, self.everywhere, self.options = robot, tuple(foliations), constraints, options
        self._nothing = Implicit.between(Constant([0.0], Rn(1), robot.space), -1.0, 1.0, name="no constraint")
        self._problems: dict[object, Problem] = {}
        self._projectors: dict[object, Projector] = {}

    def state(self, state: State) -> Projector:
        """What puts configurations into a state."""
        return self._projector((id(state), "state"), [*self.everywhere, *state.constraints], (), self.options)

    def path(self, transition: Transition, q_start: Vector) -> PathProblem:
        """What paths of a transition satisfy, on the leaf of their start."""
        owners = _of_paths(transition)
        chosen = self._chosen(owners, q_start)
        problem = self._problem((id(transition), "path", _pairs(chosen)), [*self.everywhere, *owners], chosen)
        return PathProblem(problem, problem.rhs_from(q_start))

    def target(
        self, transition: Transition, parts: int, q_start: Vector, leaf: Vector | None
    ) -> tuple[Projector, RightHandSide]:
        """What puts configurations on the end of a transition, on the leaf of its start.

        Args:
            transition: without waypoints.
            parts: of how many inner transitions it is one; the threshold is shared among them.
            q_start: where it starts.
            leaf: for a level-set transition: a configuration on the leaf where it is to end.
        """
        owners = _once(
            [*transition.constraints, *transition.parameters, *transition.target.constraints,
             *transition.containing.constraints]
        )  # fmt: skip
        chosen = self._chosen(owners, q_start)
        if leaf is not None:
            ends = dict(self._chosen(transition.parameters, leaf))
            chosen = [(whole, ends.get(whole, one)) for whole, one in chosen]
        options = replace(self.options, threshold=self.options.threshold / parts)
        if transition.short:
            options = replace(options, restarts=False, wrap=False)
        key = (id(transition), parts, _pairs(chosen))
        projector = self._projector(key, [*self.everywhere, *owners], chosen, options)
        rhs = projector.problem.rhs_from(q_start)
        if leaf is not None and transition.parameters:
            rhs = self._on_leaf(projector.problem, rhs, transition, chosen, leaf)
        return projector, rhs

    def _on_leaf(
        self,
        problem: Problem,
        rhs: RightHandSide,
        transition: Transition,
        chosen: Sequence[tuple[Foliation, Foliation]],
        leaf: Vector,
    ) -> RightHandSide:
        """The right-hand sides of parameters read from another configuration."""
        point = problem.at(leaf)
        stands = {id(owner): owner for owner in problem.constraints}
        for parameter in transition.parameters:
            owners: list[RowOwner | None] = [parameter]
            for whole, one in chosen:
                if whole.complement is parameter:
                    owners += [one.hold, one.complement]
            found = next((owner for owner in owners if id(owner) in stands), None)
            if found is not None:
                rhs = rhs.replace(found, found.rhs_at(point))
        return rhs

    def condition(self, transition: Transition) -> Projector:
        """What puts configurations where the leaf of a level-set transition may be chosen."""
        return self._projector(
            (id(transition), "condition"), [*self.everywhere, *(transition.condition or ())], (), self.options
        )

    def on_path(self, transition: Transition) -> list[RowOwner]:
        """Constraints of the paths of a transition, holds in place; where surfaces are not chosen, of all of them."""
        owners = [*self.everywhere, *_of_paths(transition)]
        given = {id(owner) for owner in owners}
        kept = [f for f in self.foliations if f.complement is not None and id(f.complement) in given]
        return merged(_once(owners), [(f, f) for f in kept])

    def _chosen(self, owners: Sequence[RowOwner], q: ArrayLike) -> list[tuple[Foliation, Foliation]]:
        """Foliations whose complement is among the owners, with the variant at q."""
        given = {id(owner) for owner in owners}
        return [(f, f.at(q)) for f in self.foliations if f.complement is not None and id(f.complement) in given]

    def _problem(
        self, key: object, owners: Sequence[RowOwner], chosen: Sequence[tuple[Foliation, Foliation]]
    ) -> Problem:
        found = self._problems.get(key)
        if found is None:
            constraints = merged(_once(owners), chosen) or [self._nothing]
            found = self._problems[key] = Problem(self.robot, constraints)
        return found

    def _projector(
        self,
        key: object,
        owners: Sequence[RowOwner],
        chosen: Sequence[tuple[Foliation, Foliation]],
        options: Options,
    ) -> Projector:
        found = self._projectors.get(key)
        if found is None:
            found = self._projectors[key] = Projector(self._problem(("projector", key), owners, chosen), options)
        return found


def _pairs(chosen: Sequence[tuple[Foliation, Foliation]]) -> tuple[object, ...]:
    return tuple(one.pair for _, one in chosen)


def _of_paths(transition: Transition) -> list[RowOwner]:
    containing = transition.containing
    return [*transition.constraints, *containing.constraints, *containing.path_constraints]


def _once(owners: Sequence[RowOwner]) -> list[RowOwner]:
    return list({id(owner): owner for owner in owners}.values())
