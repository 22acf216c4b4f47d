"""The factory of constraint graphs: from grippers, handles and surfaces to all states and transitions."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, final

from liegroups.arguments import as_flag, as_mapping, as_name, expect, refuse_repeated
from liegroups.frozen import set_fields

from ...errors import GraphError, UnknownNameError, WrongObjectError
from ...functions.contact.contact_sides import asked_of_floor, asked_of_object
from ...functions.contact.contact_surface import Surface, as_surfaces
from ...paths.relative_motion import SecurityMargins
from ...ranges import not_negative
from ...robot import Robot
from ...robot.arguments import as_robot
from ...rows.row_owner import RowOwner
from ...solvers import Engine, Options
from ..arguments import all_of, as_owners
from ..doubts import loose_mimics, nothing_is_taken, scene_questions, shown
from ..graph import ConstraintGraph
from ..gripper import Gripper, Handle
from ..states import State, Transition
from .factory_parts import GraspSet, Parts
from .factory_transitions import transitions_between
from .placement import MARGIN_OF_HEIGHT
from .rules import Rule, check_rules, is_allowed
from .semantics import Semantics

_log = logging.getLogger(__package__)


@final
@dataclass(frozen=True, eq=False)
class MovableObject:
    """A movable object: its handles, and the surfaces on which it stands.

    Args:
        name: used in names of constraints ("place_box").
        handles: at least one; all on the joint of the object.
        surfaces: surfaces on which it may stand; without any it is left where it is.

    Raises:
        GraphError: no handle, handles in the world, or handles and surfaces on several joints.
        WrongObjectError, DuplicateNameError: other invalid arguments.
    """

    name: str
    handles: Sequence[Handle]
    surfaces: Sequence[Surface] = ()

    def __post_init__(self) -> None:
        """Check that everything is on one joint."""
        who = as_name(self.name, "name of an object")
        set_fields(
            self,
            handles=all_of(self.handles, Handle, f"handles of object '{who}'"),
            surfaces=as_surfaces(self.surfaces, f"surfaces of object '{who}'"),
        )
        if not self.handles:
            raise GraphError(f"object '{who}' needs at least one handle")
        if self.joint == 0:
            raise GraphError(
                f"object '{who}': '{self.handles[0].name}' is fixed in the world, expected handles on a joint"
            )
        for part in (*self.handles, *self.surfaces):
            if part.frame.joint != self.joint:
                mine, other = self.handles[0].frame.joint_name, part.frame.joint_name
                raise GraphError(
                    f"object '{who}': '{part.name}' is on joint '{other}', expected '{mine}' as its first handle "
                    f"'{self.handles[0].name}'{_of_a_part_alone(mine, other)}"
                )

    @property
    def joint(self) -> int:
        """Index of the joint of the object."""
        return self.handles[0].frame.joint


def _of_a_part_alone(a: str, b: str) -> str:
    """What is said where one of two joints has the name of the other without the prefix of a part of a system."""
    short, long = sorted((a, b), key=len)
    if not long.endswith(f"/{short}"):
        return ""
    return f": joint '{short}' is of a part alone; take frames from the robot of the whole scene, where it is '{long}'"


@final
@dataclass(frozen=True, eq=False)
class ConstraintGraphFactory:
    """Builds the graph of all sets of grasps that the rules allow.

    A state is a set of grasps, no handle twice; objects that no gripper holds are placed. There is a loop on each
    state, and a pair of transitions, take (">") and release ("<"), between two states that differ by one grasp. A take
    leads through *pregrasp* (the gripper before the handle), *intersec* (the gripper holds the object, which still
    stands) and *preplace* (held, above its surface); only through pregrasp if the object has no surfaces, or another
    gripper holds it. If both states have leaves, a level-set variant ("_ls") chooses the leaf on which it ends.

    Args:
        robot: robots and objects as one robot.
        grippers: the grippers. None holds a handle on its own joint.
        objects: the movable objects. If the normal of a surface points into its object, towards the centre of mass (the
            origin, if it has no mass), a warning in the log names it.
        floors: surfaces on which objects may stand (environment contacts); none stands on one that it carries. If a
            floor is fixed in the world and its normal points down (see `floor.describe()`), a warning in the log names
            it. One more warning asks about what nobody can do: handles without a gripper, a gripper and a handle where
            one carries the other, surfaces and clearances out of the bounds of objects and the reach of grippers.
        rules: the first rule about a set of grasps says whether it is allowed; if there is none, it is not. Without
            rules all sets are allowed.
        preplacement_distance: height of preplace above the surface [m].
        margin: height of placed objects above their floor [m].
        preplace_guide: keep the place on the floor up to preplace: objects are lifted and put down straight.
        empty_level_sets: also build level-set variants without a leaf to choose, as hpp-manipulation does.
        constraints: on every configuration, as in `ConstraintGraph`; `mimic_constraints(robot)` for joints that follow
            others. It is asked about those that no constraint holds.
        options, margins, attempts, engine, name: as in `ConstraintGraph`.

    Raises:
        GraphError: a rule that matches nothing, an object given twice, surfaces without a floor.
        DuplicateNameError: two grippers, handles or objects with the same name.
        ModelError: a gripper, handle or surface of another robot.
        WrongObjectError, OptionError: other invalid arguments.

    `ConstraintGraphFactory(robot, [gripper], [box], [table]).generate()` is the graph of the simplest scene;
    `examples/pick_and_place.py` is a complete example.

    Source: `ConstraintGraphFactory` of hpp-manipulation.
    """

    robot: Robot
    grippers: Sequence[Gripper]
    objects: Sequence[MovableObject]
    floors: Sequence[Surface] = ()
    rules: Sequence[Rule] = ()
    preplacement_distance: float = field(default=0.05, kw_only=True)
    margin: float = field(default=MARGIN_OF_HEIGHT, kw_only=True)
    preplace_guide: bool = field(default=False, kw_only=True)
    empty_level_sets: bool = field(default=False, kw_only=True)
    constraints: Sequence[RowOwner] = field(default=(), kw_only=True)
    margins: SecurityMargins | None = field(default=None, kw_only=True)
    options: Options | None = field(default=None, kw_only=True)
    attempts: int = field(default=4, kw_only=True)
    engine: Engine | str | None = field(default=None, kw_only=True)
    name: str = field(default="graph", kw_only=True)

    def __post_init__(self) -> None:
        """Check what was given."""
        as_robot(self.robot, "robot of a graph factory")
        for what, kind in (("grippers", Gripper), ("objects", MovableObject), ("rules", Rule)):
            set_fields(self, **{what: all_of(getattr(self, what), kind, f"{what} of a graph factory")})
        set_fields(self, floors=as_surfaces(self.floors, "floors of a graph factory"))
        set_fields(self, constraints=as_owners(self.constraints, "constraints of a graph factory"))
        for what in ("preplacement_distance", "margin"):
            set_fields(self, **{what: not_negative(getattr(self, what), f"{what} of a graph factory")})
        for what in ("preplace_guide", "empty_level_sets"):
            as_flag(getattr(self, what), f"{what} of a graph factory")
        things = [part for thing in self.objects for part in (*thing.handles, *thing.surfaces)]
        for part in (*self.grippers, *things, *self.floors):
            self.robot.frame(part.frame)
        handles = [handle.name for thing in self.objects for handle in thing.handles]
        grippers, objects = ([each.name for each in every] for every in (self.grippers, self.objects))
        for kind, names in (("gripper", grippers), ("object", objects), ("handle", handles)):
            refuse_repeated(names, f"{kind} of a graph factory")
        placed: dict[int, str] = {}
        for thing in self.objects:
            if placed.setdefault(thing.joint, thing.name) != thing.name:
                raise GraphError(
                    f"objects '{placed[thing.joint]}' and '{thing.name}' are on one joint: it would be placed twice; "
                    "give one object with the handles and surfaces of both"
                )
            if thing.surfaces and all(floor.joint == thing.joint for floor in self.floors):
                raise GraphError(f"object '{thing.name}' has surfaces, but there are no floors to put it on")
        self._say_which_look_wrong()
        asked = self._questions()
        if asked:
            _log.warning("graph factory %r: %s", self.name, shown(asked))
        check_rules(self.rules, grippers, handles)

    def _say_which_look_wrong(self) -> None:
        """A warning for each floor that looks down, and each surface of an object that looks into it."""
        asked = [asked_of_floor(floor) for floor in self.floors]
        for thing in self.objects:
            asked += [asked_of_object(self.robot, surface, thing.name) for surface in thing.surfaces]
        for words in filter(None, asked):
            _log.warning("%s", words)

    def _questions(self) -> tuple[str, ...]:
        asked = scene_questions(self.robot, self.grippers, self.objects, self.floors, self.preplacement_distance)
        return *asked, *loose_mimics(self.robot, self.constraints)

    @classmethod
    def from_semantics(
        cls,
        robot: Robot,
        semantics: Semantics,
        grippers: Sequence[str],
        objects: Mapping[str, tuple[Sequence[str], Sequence[str]]],
        floors: Sequence[str | Surface] = (),
        rules: Sequence[Rule] = (),
        **options: Any,
    ) -> ConstraintGraphFactory:
        """A factory from names in SRDF files.

        Args:
            robot: the robot.
            semantics: content of the files, `read_semantics(...)`; several are joined by `|`.
            grippers: names of grippers.
            objects: object -> names of its handles, and of its contact surfaces.
            floors: names of contact surfaces of the environment; surfaces made in Python may be among them.
            rules: as in the class.
            **options: the other arguments of the class.

        Raises:
            UnknownNameError: a gripper, handle or surface that no file contains; lists the nearest names.
            WrongObjectError: an object whose names are no pair of sequences, grippers or floors that are no sequence.
        """
        expect(semantics, Semantics, "semantics of a graph factory", "Semantics (read_semantics(...))")
        as_mapping(objects, "objects of a graph factory", "from a name to (handles, surfaces)")
        grippers = all_of(grippers, str, "grippers of a graph factory", "names")
        floors = all_of(floors, (str, Surface, tuple), "floors of a graph factory", "names and Surfaces")
        for name, pair in objects.items():
            _refuse_what_is_no_pair(name, pair)
        things = [
            MovableObject(
                name,
                [_known(semantics.handles, handle, "handle") for handle in handles],
                [polygon for contact in contacts for polygon in _known(semantics.surfaces, contact, "surface")],
            )
            for name, (handles, contacts) in objects.items()
        ]
        taken = [_known(semantics.grippers, gripper, "gripper") for gripper in grippers]
        ground: list[Surface] = []
        for floor in floors:
            known = _known(semantics.surfaces, floor, "surface") if isinstance(floor, str) else floor
            ground += as_surfaces(known, "floors of a graph factory")
        return cls(robot, taken, things, ground, rules, **options)

    def generate(self) -> ConstraintGraph:
        """The graph.

        Raises:
            GraphError: the rules allow no set of grasps.
        """
        names = [gripper.name for gripper in self.grippers]
        parts = Parts(self)
        every = [s for s in _grasp_sets(len(names), len(parts.handles)) if s <= parts.grasps.keys()]
        sets = [s for s in every if is_allowed(self.rules, names, parts.held(s))]
        if not sets:
            raise GraphError("the rules allow no set of grasps, not even the empty one")
        states = {held: State(parts.name_of(held), parts.constraints_of(held), _priority(held)) for held in sets}
        transitions: list[Transition] = []
        waypoints: list[State] = []
        for held, state in states.items():
            complements = parts.complements_of(held)
            transitions.append(Transition(f"Loop | {parts.short(held)}", state, state, state, complements, 0))
        for held in sets:
            for gripper, handle in _one_more(held, len(names), len(parts.handles)):
                more = held | {(gripper, handle)}
                if more in states:
                    pair = (states[held], states[more])
                    found = transitions_between(parts, pair, held, (gripper, handle))
                    transitions += found.transitions
                    waypoints += found.waypoints
        asked = list(self._questions())
        if parts.grasps and all(transition.is_loop for transition in transitions):
            asked.append(nothing_is_taken(frozenset() in states))
            _log.warning("graph factory %r: %s", self.name, asked[-1])
        graph = ConstraintGraph(
            self.robot, [*states.values(), *waypoints], transitions, parts.foliations, constraints=self.constraints,
            margins=self.margins, options=self.options, attempts=self.attempts, engine=self.engine, name=self.name,
        )  # fmt: skip
        set_fields(graph, questions=(*asked, *graph.questions))
        return graph


def _grasp_sets(grippers: int, handles: int) -> list[GraspSet]:
    """All partial assignments of handles to grippers, no handle twice; the empty one first."""
    found: list[GraspSet] = [frozenset()]
    for gripper in range(grippers):
        found += [
            held | {(gripper, handle)}
            for held in list(found)
            for handle in range(handles)
            if handle not in {other for _, other in held}
        ]
    return sorted(found, key=lambda held: (len(held), sorted(held)))


def _one_more(held: GraspSet, grippers: int, handles: int) -> list[tuple[int, int]]:
    """The grasps that may be added."""
    busy, taken = {gripper for gripper, _ in held}, {handle for _, handle in held}
    return [(g, h) for g in range(grippers) if g not in busy for h in range(handles) if h not in taken]


def _priority(held: GraspSet) -> int:
    """Higher the more is held: 0, 1, 3, 6, ..."""
    return len(held) * (len(held) + 1) // 2


def _refuse_what_is_no_pair(name: str, pair: Any) -> None:
    """Refuse names of an object that are not (handles, surfaces), each a sequence of names.

    Raises:
        WrongObjectError: names the object and what it was given.
    """
    if isinstance(pair, (tuple, list)) and len(cast(Sequence[Any], pair)) == 2:
        if all(isinstance(names, Sequence) and not isinstance(names, str) for names in cast(Sequence[Any], pair)):
            return
    example = f"(['{name}/top'], ['{name}/bottom'])"
    raise WrongObjectError(f"object '{name}'", f"a pair (handles, surfaces), as {example}", pair)


def _known(among: Mapping[str, Any], name: str, kind: str) -> Any:
    if name not in among:
        raise UnknownNameError(kind, name, tuple(among))
    return among[name]
