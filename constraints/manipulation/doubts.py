"""What is doubtful in a graph: asked when it is made, and looked at in targets.

A graph of the factory has no doubts but for its scene: holds are equivalent to constraint and complement, paths start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..functions.contact.contact_surface import Surface
from ..problem.questions import reach_of
from ..questions import FAR_AWAY
from ..robot import Robot
from ..rows.row_owner import RowOwner
from ..words import counted, first_names, first_of
from .foliation import Foliation, leaf_at, missing_rows
from .gripper import Gripper, Handle
from .memory import GraphMemory
from .problems import GraphProblems, PathProblem

if TYPE_CHECKING:
    from .factory.factory import MovableObject
    from .selector import StateSelector
    from .states import State, Transition

ROUGHLY = 10.0
"""Factor of the threshold by which a start may be off the paths from there: holds measure errors in other frames."""
SHOWN = 3
"""Number of questions of a graph that are logged; `graph.validate` tells all."""


def questions(
    transitions: Sequence[Transition],
    foliations: Sequence[Foliation],
    everywhere: Sequence[RowOwner],
    states: Sequence[State] = (),
) -> tuple[str, ...]:
    """What is asked about the transitions of a graph, from what they are made of: no configuration is looked at.

    Args:
        transitions: without waypoints.
        foliations: of the graph.
        everywhere: constraints of all configurations.
        states: those that a configuration may be in, in the order in which they are asked.
    """
    asked: dict[str, list[str]] = {}
    for transition in transitions:
        found = [*_not_kept(transition, foliations, everywhere), *_not_at_start(transition, foliations, everywhere)]
        for words in found or _in_another_state(transition, everywhere, states):
            asked.setdefault(words, []).append(transition.name)
    lacking = (_lacking(foliation) for foliation in foliations if not foliation.proven)
    return (*(f"{_transitions(names)}: {words}" for words, names in asked.items()), *filter(None, lacking))


def shown(asked: Sequence[str], where: str = "more, in `graph.validate(rng)`") -> str:
    """The first questions, and how many more there are."""
    return "; ".join(first_of(asked, SHOWN, where))


def _transitions(names: Sequence[str]) -> str:
    noun, quoted = "transition" if len(names) == 1 else "transitions", [f"'{name}'" for name in names]
    return f"{noun} {first_names(quoted, 2)}"


def _lacking(f: Foliation) -> str:
    """A complement that does not tell all leaves of its hold."""
    missing = missing_rows(f)
    if f.complement is None or missing <= 0:
        return ""
    return (
        f"foliation '{f.name}': its hold '{f.hold.name}' keeps {counted(missing, 'row')} more of the start than its "
        f"complement '{f.complement.name}' has, so `same_leaf` takes different leaves for one: is a row missing there?"
    )


def _in_another_state(transition: Transition, everywhere: Sequence[RowOwner], states: Sequence[State]) -> Iterator[str]:
    """A state of higher priority in which all targets of the transition are too."""
    target = transition.target
    if target not in states:  # only passed through
        return
    there = _ids(target.constraints, transition.containing.constraints, transition.constraints, everywhere)
    for state in states[: states.index(target)]:
        if state.priority > target.priority and _ids(state.constraints) <= there:
            yield (
                f"all its targets are in '{state}' too, of higher priority ({state.priority}, '{target}' has "
                f"{target.priority}), so `state_of` never says '{target}': are the priorities right, or its waypoints?"
            )
            return


def _not_kept(transition: Transition, foliations: Sequence[Foliation], everywhere: Sequence[RowOwner]) -> Iterator[str]:
    """Foliations in which paths stay, but on no leaf."""
    containing = transition.containing
    there = _ids(containing.constraints, containing.path_constraints, everywhere)
    kept = _ids(transition.constraints, everywhere)
    for f in foliations:
        if f.complement is None or f.constraint is None or id(f.constraint) not in there:
            continue
        if id(f.complement) not in kept and id(f.hold) not in kept | there:
            yield (
                f"paths stay in '{containing}', which has the constraint of foliation '{f.name}', but its complement "
                f"'{f.complement.name}' is not among the constraints of the transition: may what it holds move there?"
            )


def _not_at_start(
    transition: Transition, foliations: Sequence[Foliation], everywhere: Sequence[RowOwner]
) -> Iterator[str]:
    """Constraints of paths that their start need not satisfy."""
    source, containing = transition.source, transition.containing
    known = _ids(source.constraints, source.path_constraints, everywhere)
    for owner in containing.constraints:
        if id(owner) not in known:
            yield f"paths stay in '{containing}', whose '{owner.name}' the source '{source}' has not: can they start?"
    there = known | _ids(containing.constraints, containing.path_constraints)
    held = {id(f.complement) for f in foliations if f.constraint is None or id(f.constraint) in there}
    for owner in transition.constraints:
        rows = owner.rows
        same = np.flatnonzero(rows.mask & ~rows.free_rhs & ~rows.one_sided)
        if same.size and id(owner) not in there | held:
            yield (
                f"row {int(same[0])} of '{owner.name}' is the same for all configurations, and the source '{source}' "
                "has it not: can paths start? (`Implicit.equal`, not `zero`, keeps what the start has)"
            )


def _ids(*owners: Iterable[RowOwner]) -> set[int]:
    return {id(owner) for each in owners for owner in each}


@final
class TargetDoubts:
    """Looks at targets of a transition some of whose parts are doubtful.

    Attributes:
        doubted: whether there is anything to look at.
    """

    def __init__(
        self,
        problems: GraphProblems,
        selector: StateSelector,
        parts: Sequence[Transition],
        everywhere: Sequence[RowOwner],
    ) -> None:
        self._problems, self._selector, self._parts = problems, selector, parts
        made = [f for f in problems.foliations if not f.proven]
        kept = _ids(*(part.constraints for part in parts), *(part.parameters for part in parts))
        held = any(id(f.complement) in kept for f in made)
        starts = (words for part in parts for words in _not_at_start(part, problems.foliations, everywhere))
        self.doubted = held or next(starts, None) is not None

    def found_in(self, start: Vector, ends: Sequence[Vector], memory: GraphMemory) -> str:
        """What is wrong with a target that was found, in words; nothing where it is right."""
        for part, end in zip(self._parts, ends, strict=True):
            wrong = self.wrong_with(part, start, end, memory)
            if wrong:
                return wrong
            start = end
        return ""

    def wrong_with(self, part: Transition, start: Vector, end: Vector, memory: GraphMemory) -> str:
        """The same, of one part: it starts elsewhere, it ends in another state, or on another leaf."""
        off = off_the_start(self._problems.path(part, start), start, ROUGHLY * self._selector.threshold)
        if off:
            asked = "".join(
                f"; is '{f.hold.name}', the hold of foliation '{f.name}', equivalent to its constraint and complement?"
                for f in self._problems.foliations
                if not f.proven and off.startswith(f"{f.hold.name!r} ")
            )
            return f"paths of '{part}' cannot start there: {off}{asked}"
        for state in dict.fromkeys((part.target, part.containing)):
            missed = self._selector.misses(state, end, memory.workspace)
            if missed:
                return f"it is not in '{state}', though the constraints of '{part}' hold there: {missed}"
        kept = _ids(part.constraints)
        for f in self._problems.foliations:
            if id(f.complement) in kept:
                here, there = leaf_at([f], memory.at(start)), leaf_at([f], memory.at(end))
                if not here.same_as(there, ROUGHLY * self._selector.threshold):
                    return f"it is not on the leaf of its start ({here}; there {there})"
        return ""


def off_the_start(path: PathProblem, q: Vector, limit: float) -> str:
    """The constraint of paths that their start misses most, and how far, in words; nothing up to a limit."""
    off, words = path.problem.constraints.worst(path.problem.error(q, rhs=path.rhs))
    return words if off > limit else ""


def scene_questions(
    robot: Robot,
    grippers: Sequence[Gripper],
    objects: Sequence[MovableObject],
    floors: Sequence[Surface],
    preplacement_distance: float = 0.0,
) -> tuple[str, ...]:
    """What is asked about a scene, of which a factory is to make a graph."""
    handles = [(thing, handle) for thing in objects for handle in thing.handles]
    asked = [*_nobody_grasps(robot, grippers, handles), *_clearances(robot, grippers, handles)]
    reach = max((reach_of(robot, gripper.frame) for gripper in grippers), default=np.inf)
    if 0.0 < reach < preplacement_distance:
        far = f"{preplacement_distance:.6g} m, where grippers reach {reach:.3g} m"
        asked.append(f"preplacement_distance is {far}: is it in millimetres?")
    for thing in objects:
        asked += _places(robot, thing, floors, reach)
    return tuple(dict.fromkeys(asked))


def loose_mimics(robot: Robot, constraints: Sequence[RowOwner]) -> Iterator[str]:
    """Joints that follow others by their files, and that no constraint looks at."""
    held = np.any([owner.columns for owner in constraints], axis=0) if constraints else np.zeros(robot.nv, np.bool_)
    columns = {factor.name: factor.v for factor in robot.space.factors}
    loose = [mimic.joint for mimic in robot.mimics if not held[columns[mimic.joint]].any()]
    if loose:
        yield f"joints with a mimic tag follow nothing, {first_names(loose, 3)}: constraints=mimic_constraints(robot)?"


def nothing_is_taken(free: bool) -> str:
    """What is asked where no two sets of grasps that rules allow differ by one grasp.

    Args:
        free: whether they allow the set without grasps.
    """
    why = "" if free else "they refuse 'free', in which nothing is held, and "
    return (
        f"the rules leave no take and no release: {why}no two sets of grasps that they allow differ by one grasp; is a "
        'rule missing, Rule([".*"], [""]) for the set without grasps, or Rule([".*"], [".*"]) at the end for all?'
    )


def _nobody_grasps(
    robot: Robot, grippers: Sequence[Gripper], handles: Sequence[tuple[MovableObject, Handle]]
) -> Iterator[str]:
    """Handles without a gripper; a gripper or a handle of which all others are on joints that carry it."""
    if handles and not grippers:
        names = first_names([handle.name for _, handle in handles])
        yield f"there are handles, {names}, but no gripper: does an SRDF file lack, whose grippers grasp them?"
        return
    model: Any = robot.model

    def carries(handle: Handle, gripper: Gripper) -> bool:
        return handle.frame.joint in list(model.supports[gripper.frame.joint])

    for thing, handle in handles:
        if all(carries(handle, gripper) for gripper in grippers):
            joint, carried = handle.frame.joint_name, first_names([gripper.name for gripper in grippers])
            yield (
                f"handle '{handle.name}' of object '{thing.name}' is on joint '{joint}', which carries the gripper "
                f"{carried}: is it of the object, or is the gripper on it?"
            )


def _clearances(
    robot: Robot, grippers: Sequence[Gripper], handles: Sequence[tuple[MovableObject, Handle]]
) -> Iterator[str]:
    """Clearances longer than grippers reach."""
    for gripper in grippers:
        reach = reach_of(robot, gripper.frame)
        for kind, part in (("gripper", gripper), *(("handle", handle) for _, handle in handles)):
            if 0.0 < reach < part.clearance:
                yield (
                    f"clearance {part.clearance:.6g} m of {kind} '{part.name}', where gripper '{gripper.name}' reaches "
                    f"{reach:.3g} m: is it in millimetres?"
                )


def _places(robot: Robot, thing: MovableObject, floors: Sequence[Surface], reach: float) -> Iterator[str]:
    """Bounds of an object far beyond the reach of grippers, surfaces larger than they, floors outside of both."""
    part = robot.slice_of(robot.joint_names[thing.joint - 1])
    lower, upper = robot.bounds.lower[part][:3], robot.bounds.upper[part][:3]
    if robot.space.factors[thing.joint - 1].space.name != "SE3" or not np.isfinite([lower, upper]).all():
        return
    room = float(np.linalg.norm(upper - lower))
    size = max((float(np.linalg.norm(_corners(each), axis=1).max()) for each in thing.surfaces), default=0.0)
    if 0.0 < reach < room / FAR_AWAY:
        far = f"{room:.6g} m across, and grippers reach {reach:.3g} m"
        yield f"the bounds of object '{thing.name}' are {far}: are they in millimetres?"
        return
    if size > room:
        yield (
            f"a surface of object '{thing.name}' is {size:.6g} m away from its origin, and its bounds are {room:.3g} m "
            "across: is it in millimetres?"
        )
        return
    for floor in floors if thing.surfaces else ():
        if floor.joint:
            continue
        corners = _corners(floor)
        least, most = corners.min(axis=0), corners.max(axis=0)
        gap = float(np.linalg.norm(np.maximum(np.maximum(least - upper, lower - most), 0.0)))
        wide = float(np.linalg.norm(most - least))
        if gap > size:
            asked = "is it in millimetres?" if gap > room else "can nothing stand there?"
            yield f"surface '{floor.name}' is {gap:.6g} m out of the bounds of object '{thing.name}': {asked}"
        elif wide > FAR_AWAY * room:
            far = f"{wide:.6g} m wide, and the bounds of object '{thing.name}' {room:.3g} m"
            yield f"surface '{floor.name}' is {far}: is it in millimetres?"
        elif float(np.linalg.norm(np.clip(np.zeros(3), least, most))) > reach + size:
            far = f"further away than a gripper reaches, {reach:.3g} m"
            yield f"surface '{floor.name}' is {far}: can nothing be put there?"


def _corners(surface: Surface) -> Matrix:
    """Vertices (n, 3) on the joint that carries them."""
    place = surface.frame.placement
    return np.asarray(surface.points) @ np.asarray(place.rotation).T + np.asarray(place.translation)
