"""Finding local loops and making them explicit: the door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from liegroups import Segments
from liegroups.arguments import as_mapping, as_tuple, expect
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import read_only_copy

from ...errors import UndefinedError, UnknownNameError
from ...functions.affine import Constant
from ...functions.function import Function
from ...functions.stacked import Stacked
from ...linear_algebra import numerical_rank, singular_values
from ...loops import ConstraintSet, PoseClosure
from ...loops.constraint_set import A_SET
from ...loops.mobility import CLOSED
from ...loops.open_mechanism import OpenMechanismError
from ...problem.resolution import order
from ...robot import Robot
from ...rows.explicit import Explicit
from ...rows.row_owner import RowOwner
from .explicit_loop import ExplicitLoop, ExplicitLoops, KeptImplicit
from .local_loops import CLOSURES, LocalLoop, LoopParts, loops_in
from .loop_choice import LoopChoice, NotExplicitError, choose
from .loop_function import LoopFunction
from .planar_loops import ElbowSide, PlanarLoop
from .planar_shape import planar_loop

REMEDY = "loops are made explicit at a closed configuration, assemble_position(constraint_set, q).q"

TRIED, DISTANCE_OF_PLACES, HALVES = 4, 0.05, 6
"""At so many places around the reference, so far from it [rad or m] or some halves of that, the rank has to be what it
is there."""


def explicit_loops(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    *,
    preferred: Sequence[str] = (),
    elbows: Mapping[str, ElbowSide | str] | None = None,
) -> ExplicitLoops:
    r"""Find the local loops of a mechanism, and make them explicit constraints: :math:`q_{dep} = g(q_{ind})`.

    Each enters the dependency graph of a `Problem` like any explicit constraint; Jain (2012) and Chignoli et al. (2023)
    call it a constraint embedding. A local loop is a biconnected part of the graph whose nodes are bodies and whose
    edges are joints and closures; the closures of one part are solved together. Planar loops with one closure become a
    `PlanarLoop`, in closed form; the others a `LoopFunction`, by Newton, on the branch of q. Constraints that stay
    implicit are listed with the reason.

    The twin of each has all rows of its closures, also redundant ones: errors and satisfaction are the same as before,
    and a loop that becomes implicit again (in a cycle, say) has its original rows.

    Args:
        constraint_set: the closures, with couplers and other constraints. Constraints that are off are left out.
        q: closed configuration (nq,): the branch, and where the spins of rods are held. It should be within the bounds
            of the robot: `ExplicitLoops.problem` refuses loops of a q outside the bounds that it is to keep.
        preferred: joints that should be independent if the rank allows, the most important first: the motors.
        elbows: name of a loop in closed form, or of its closure -> ElbowSide, or its name; by default the side of
            q.

    Raises:
        OpenMechanismError: q is open; says by how much, and what to do.
        UnknownJointError, UnknownNameError, OptionError: invalid preferred joints or elbows.
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with q.

    Example:
        >>> from constraints.models import mechanisms
        >>> linkage = mechanisms.four_bar()
        >>> loops = explicit_loops(linkage.constraint_set(), linkage.postures["closed"], preferred=["crank"])
        >>> loops.loops[0].dependent, loops.loops[0].elbow
        (('coupler', 'rocker'), ElbowSide.OPEN)
    """
    expect(constraint_set, ConstraintSet, "constraint set of explicit loops", A_SET)
    robot = constraint_set.robot
    wished = as_tuple(preferred, "preferred joints", "joint names")
    for joint in wished:
        robot.joint_index(joint)
    closed = robot.check(q, "q")
    norms = constraint_set.stack.norms(constraint_set.position_error(closed))
    if any(not off <= CLOSED for _, off in norms):
        raise OpenMechanismError.of(norms, "position", REMEDY)
    finder = _Finder(constraint_set, closed, wished)
    loops = [made for parts in loops_in(constraint_set) if (made := finder.made(parts)) is not None]
    found = finder.in_order(_with_elbows(loops, {} if elbows is None else elbows))
    return ExplicitLoops(constraint_set, *found, read_only_copy(closed))


class _Finder:
    """Makes loops explicit, and keeps what could not be.

    Args:
        constraint_set, q, preferred: as in `explicit_loops`.
    """

    def __init__(self, constraint_set: ConstraintSet, q: Vector, preferred: Sequence[str]) -> None:
        self._q, self._robot = q, constraint_set.robot
        self._on = [owner for owner, _ in constraint_set.on]
        others = [owner for owner in self._on if not isinstance(owner, CLOSURES)]
        self._couplers = [owner for owner in others if isinstance(owner, Explicit) and owner.refusal() is None]
        self._held = {name for e in self._couplers for name in self._joints(e.outputs.v)}
        read = [name for e in self._couplers for name in self._joints(np.flatnonzero(e.map.columns).tolist())]
        self._preferred = tuple(dict.fromkeys([*preferred, *read]))
        self._kept = [KeptImplicit((owner,), _why_no_loop(owner)) for owner in others]

    def _joints(self, columns: Iterable[int]) -> list[str]:
        """Names of the joints of some tangent columns."""
        wanted = set(columns)
        return [f.name for f in self._robot.space.factors if not wanted.isdisjoint(range(f.v.start, f.v.stop))]

    def made(self, parts: LoopParts) -> ExplicitLoop | None:
        """The explicit constraint of a local loop; None where there is none, and the reason is kept."""
        for closure in parts.closures:
            if closure.target is not None:
                reason = f"'{closure.name}' follows a target, but the right-hand side of an explicit loop must be zero"
                self._kept.append(KeptImplicit(parts.closures, reason))
                return None
        try:
            return self._explicit(LocalLoop(self._robot, parts))
        except NotExplicitError as error:
            self._kept.append(KeptImplicit(parts.closures, error.reason))
            return None

    def _explicit(self, loop: LocalLoop) -> ExplicitLoop:
        q = self._q[loop.block.q_indices]
        point = loop.robot.at(q)
        J = loop.at(point)[1].copy()
        choice = choose(loop, J, self._preferred, self._held, self._seen(loop))
        try:
            newton = LoopFunction(loop, choice, q, name=loop.name)
        except UndefinedError as error:
            raise NotExplicitError(loop.name, "q is a dead point of it, where no joint follows uniquely") from error
        _refuse_changing_rank(newton)
        function = planar_loop(newton) or newton
        names = [f.name for f in loop.robot.space.factors for _ in range(f.v.start, f.v.stop)]
        return ExplicitLoop(
            _constraint(self._robot, loop, choice, function),
            loop.parts.closures,
            function,
            tuple(dict.fromkeys(names[i] for i in choice.inputs.v)),
            tuple(dict.fromkeys(names[i] for i in choice.outputs.v)),
            loop.row_names(choice.redundant),
            tuple(spin.joint for spin in choice.spins),
        )

    def _seen(self, loop: LocalLoop) -> set[str]:
        """Joints of a loop that carry other joints, or that constraints outside it read."""
        model: Any = self._robot.model
        carrying = {int(model.parents[i]) for i in range(1, model.njoints)}
        names = {str(model.names[i]) for i in loop.parts.joints if i in carrying}
        inside = {id(closure) for closure in loop.parts.closures}
        read = np.zeros(self._robot.nv, dtype=np.bool_)
        for owner in self._on:
            if id(owner) not in inside:
                read |= owner.columns
        return names | set(self._joints(np.flatnonzero(read).tolist()))

    def in_order(self, loops: Sequence[ExplicitLoop]) -> tuple[tuple[ExplicitLoop, ...], tuple[KeptImplicit, ...]]:
        """The loops that the dependency graph takes beside the couplers, and all that stays as it is."""
        resolution = order(self._robot.space, [*self._couplers, *(loop.explicit for loop in loops)])
        refused = {id(constraint): reason for constraint, reason in resolution.refused}
        kept = [KeptImplicit(x.closures, refused[id(x.explicit)]) for x in loops if id(x.explicit) in refused]
        return tuple(x for x in loops if id(x.explicit) not in refused), (*self._kept, *kept)


def _why_no_loop(owner: RowOwner) -> str:
    if isinstance(owner, Explicit):
        refusal = owner.refusal()
        return "it is explicit already" if refusal is None else f"it is not a closure, and not explicit: {refusal}"
    if owner.is_contact:
        return "a contact, which does not close a loop permanently"
    if isinstance(owner, PoseClosure):
        return f"its rows are a map of its own ({type(owner.pose_map).__name__}), which stays implicit"
    return "it is not a closure between two bodies"


def _refuse_changing_rank(function: LoopFunction) -> None:
    """Refuse a loop whose rank changes around its reference, or that closes nowhere there."""
    loop, choice = function.loop, function.choice
    q, rank, found = function.reference.copy(), int(choice.rows.size), 0
    u, rng = q[choice.inputs.q_indices].copy(), np.random.default_rng(0)
    for step in DISTANCE_OF_PLACES * rng.standard_normal((TRIED, function.inputs.nv)):
        for halves in range(HALVES):
            near = function.inputs.integrate(u, 0.5**halves * step)
            try:
                q[choice.outputs.q_indices] = function.value(near)
            except UndefinedError:
                continue
            found, q[choice.inputs.q_indices] = found + 1, near
            point = loop.robot.at(q)
            there = numerical_rank(singular_values(loop.at(point)[1]))
            if there != rank:
                reason = f"its rank is not constant: {rank} at the given configuration, {there} nearby"
                raise NotExplicitError(loop.name, reason)
            break
    if not found:
        reason = "its rank is not constant: at the given configuration other branches begin, as at a dead point"
        raise NotExplicitError(loop.name, reason)


def _constraint(robot: Robot, loop: LocalLoop, choice: LoopChoice, function: PlanarLoop | LoopFunction) -> Explicit:
    """The explicit constraint on the whole robot, whose twin has the rows of the closures."""
    columns = loop.block.v_indices
    inputs, outputs = (
        Segments.coordinates(robot.space, np.sort(columns[block.v_indices]))
        for block in (choice.inputs, choice.outputs)
    )
    measured: list[Function] = [closure.function for closure in loop.parts.closures]
    rows = measured[0] if len(measured) == 1 else Stacked(measured, name=loop.name)
    none = Constant(outputs.space.neutral, outputs.space, rows.outputs, name=loop.name)  # the right-hand side is zero
    parts: dict[str, Any] = {"implicit": rows, "rhs_map": none, "has_branches": True, "whole": robot.space}
    return Explicit(function, outputs, inputs, name=loop.name, **parts)


def _with_elbows(loops: Sequence[ExplicitLoop], elbows: Mapping[str, ElbowSide | str]) -> list[ExplicitLoop]:
    """The loops, some closed on the other side."""
    wanted = dict(as_mapping(elbows, "elbows of explicit loops", "from the name of a loop to an ElbowSide"))
    known = [name for loop in loops for name in loop.names]
    for name in wanted:
        if name not in known:
            raise UnknownNameError("explicit loop", str(name), known)
    made: list[ExplicitLoop] = []
    for loop in loops:
        named = [wanted[name] for name in loop.names if name in wanted]
        made.append(loop.with_elbow(named[0]) if named else loop)
    return made
