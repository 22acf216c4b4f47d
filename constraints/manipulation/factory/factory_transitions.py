"""Take and release: transitions between two states that differ by one grasp, through their waypoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from ...rows.row_owner import RowOwner
from ..states import State, Transition
from .factory_parts import Grasp, GraspSet, Parts, complements

LEVEL_SET_WEIGHT = 10


class Between(NamedTuple):
    """What lies between two states.

    Attributes:
        transitions: take and release, and their level-set variants.
        waypoints: the states they lead through.
    """

    transitions: list[Transition]
    waypoints: list[State]


def transitions_between(parts: Parts, ends: tuple[State, State], held: GraspSet, added: Grasp) -> Between:
    """Take and release of one handle by one gripper.

    Args:
        parts: constraints and names.
        ends: the state without the grasp, and the state with it.
        held: the grasps of the first.
        added: the grasp of the second.
    """
    way = _Way(parts, *ends, held, added)
    chain = way.chain()
    steps = [_Step(way, i, chain) for i in range(len(chain) - 1)]
    take = [step.forward() for step in steps]
    release = [step.backward() for step in reversed(steps)]
    found = [
        Transition(way.take, way.fewer, way.more, way.fewer, inner=take),
        Transition(way.release, way.more, way.fewer, way.fewer, inner=release),
    ]
    if parts.complements_of(held) and parts.complements_of(way.after):
        grasp = parts.grasps[added]
        holding = [grasp.constraint] if grasp.constraint is not None else []
        first = steps[0].level_set(True, holding, complements([grasp]))
        if first.parameters or parts.empty_level_sets:
            found.append(way.level_set(way.take, (way.fewer, way.more), [first, *take[1:]]))
        first = steps[-1].level_set(False, parts.constraints_of(held), complements([parts.placements[way.thing]]))
        if not way.passed_on and (first.parameters or parts.empty_level_sets):
            found.append(way.level_set(way.release, (way.more, way.fewer), [first, *release[1:]]))
    return Between(found, chain[1:-1])


@final
@dataclass(frozen=True, eq=False)
class _Way:
    """From a state to the one with one grasp more."""

    parts: Parts
    fewer: State
    more: State
    held: GraspSet
    added: Grasp

    @property
    def after(self) -> GraspSet:
        return self.held | {self.added}

    @property
    def thing(self) -> int:
        """Index of the object."""
        return self.parts.object_of[self.added[1]]

    @property
    def passed_on(self) -> bool:
        """Whether another gripper already holds the object."""
        return self.thing in self.parts.objects_in(self.held)

    @property
    def take(self) -> str:
        return self._name(">", self.held)

    @property
    def release(self) -> str:
        return self._name("<", self.after)

    def _name(self, sign: str, left: GraspSet) -> str:
        gripper, handle = self.parts.grippers[self.added[0]], self.parts.handles[self.added[1]]
        return f"{gripper} {sign} {handle} | {self.parts.short(left)}"

    def chain(self) -> list[State]:
        """Both ends with the waypoints between them."""
        parts, grasp = self.parts, self.parts.grasps[self.added]
        before = parts.constraints_of(self.held)
        waypoints = [State(f"{self.take}_pregrasp", [*before, parts.pregrasps[self.added]], waypoint=True)]
        above = None if self.passed_on else parts.preplacements[self.thing]
        if above is not None:
            holding = [grasp.constraint] if grasp.constraint is not None else []
            lifted = [*parts.constraints_of(self.after), above]
            waypoints += [
                State(f"{self.take}_intersec", [*before, *holding], waypoint=True),
                State(f"{self.take}_preplace", lifted, waypoint=True),
            ]
        return [self.fewer, *waypoints, self.more]

    def level_set(self, name: str, ends: tuple[State, State], inner: list[Transition]) -> Transition:
        return Transition(f"{name}_ls", *ends, self.fewer, weight=LEVEL_SET_WEIGHT, inner=inner)


@final
@dataclass(frozen=True, eq=False)
class _Step:
    """Between two neighbours of the chain of waypoints."""

    way: _Way
    i: int
    chain: list[State]

    @property
    def containing(self) -> State:
        """The state whose paths it uses: without the grasp up to it, with the grasp after it."""
        return self.way.fewer if self.i < 2 else self.way.more

    @property
    def kept(self) -> list[RowOwner]:
        """Complements of the containing state; between pregrasp and grasp also that of the grasp."""
        parts, way = self.way.parts, self.way
        kept = parts.complements_of(way.held if self.i < 2 else way.after)
        if self.i == 1:
            kept = kept + complements([parts.grasps[way.added]])
        if self.i == 2 and parts.preplace_guide:
            kept = kept + complements([parts.placements[way.thing]])
        return kept

    def forward(self) -> Transition:
        a, b = self.chain[self.i], self.chain[self.i + 1]
        name = f"{self.way.take}_{self.i}{self.i + 1}"
        return Transition(name, a, b, self.containing, self.kept, -1, short=self.i > 0)

    def backward(self) -> Transition:
        """The step back. From the grasp to pregrasp it is always short, so that the gripper leaves as it came."""
        a, b = self.chain[self.i + 1], self.chain[self.i]
        name = f"{self.way.release}_{self.i + 1}{self.i}"
        return Transition(name, a, b, self.containing, self.kept, -1, short=self.i < 3)

    def level_set(self, forward: bool, condition: list[RowOwner], parameters: list[RowOwner]) -> Transition:
        """The same step, ending on a leaf that is chosen."""
        plain = self.forward() if forward else self.backward()
        return Transition(
            f"{plain.name}_ls", plain.source, plain.target, plain.containing, plain.constraints, -1,
            condition=condition, parameters=[p for p in parameters if p not in plain.constraints],
        )  # fmt: skip
