"""Recognising planar loops: hinges about parallel axes around one closure."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from liegroups import SO2, Space
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross

from ...errors import UndefinedError
from ...functions.frames.frame_function import supporting_columns
from ...linear_algebra import largest
from ...loops import Hinge, HingeKind
from ...loops.closures import Closure, PointClosure
from .local_loops import LocalLoop
from .loop_choice import LoopChoice
from .loop_function import LoopFunction
from .planar_loops import ElbowSide, PlanarLoop, Vertex, angles_of, joined, whole_turns

PARALLEL_PINS = 1e-9
"""Axes whose directions differ by more are not parallel [rad]."""
AGREEMENT_OF_CLOSED_FORM = 1e-9
"""By so much a closed form may differ from what Newton finds [rad]."""

_TURNING = (HingeKind.PIN, HingeKind.CYLINDRICAL, HingeKind.BALL, HingeKind.GIMBAL)


def planar_loop(function: LoopFunction) -> PlanarLoop | None:
    """The closed form of a local loop, on the branch of its reference; None where it has none.

    It has one where all joints turn about parallel axes, one closure closes them that is a hinge about that axis, a
    ball, a point or a weld, and three hinges are not known, that of the closure among them.

    Args:
        function: the loop by Newton, whose reference and choice it takes.
    """
    loop, choice = function.loop, function.choice
    if len(loop.parts.closures) != 1 or choice.spins or not choice.inputs.v:
        return None
    closure = loop.parts.closures[0]
    is_locked = isinstance(closure, Closure) and closure.hinge.kind is HingeKind.LOCKED
    if not is_locked and not isinstance(closure, PointClosure) and not _turns(closure):
        return None
    if len(choice.outputs) != (3 if is_locked else 2):
        return None
    plane = _plane(loop, choice.inputs.v[0])
    if plane is None:
        return None
    vertices = _vertices(loop, choice, is_locked, *plane)
    return _anchored(function, _continuous(vertices, function.reference[choice.inputs.q_indices], function.inputs))


def _turns(closure: Any) -> bool:
    hinge: Hinge | None = getattr(closure, "hinge", None)
    return hinge is not None and hinge.kind in _TURNING


def _plane(loop: LocalLoop, driver: int) -> tuple[Matrix, Vector, bool] | None:
    """The plane of a loop; None where its joints are no hinges about parallel axes.

    Args:
        loop: which.
        driver: column of the first independent joint.

    Returns:
        Its axes (2, 3) in the body that carries the loop, the sign of each hinge against its normal, which is the axis
        of the driver, and whether the driver is on the chain of the predecessor.
    """
    space, robot = loop.robot.space, loop.robot
    if any(leaf.space.nv != 1 or (not leaf.space.is_flat and leaf.space != SO2) for leaf in space.leaves()):
        return None
    J: Matrix = robot.at(robot.neutral).with_jacobians().world_jacobian.copy()
    function = loop.rows[0]
    ahead = bool(supporting_columns(robot, function.frame_a.joint)[driver])
    normal = J[3:, driver]
    if not np.abs(np.linalg.norm(J[3:], axis=0) - 1.0).max() < PARALLEL_PINS:  # sliders do not turn
        return None
    signs = np.sign(normal @ J[3:])
    if np.abs(J[3:] * signs - normal[:, None]).max() > PARALLEL_PINS:
        return None
    x = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = x - normal * (normal @ x)
    x /= np.linalg.norm(x)
    return np.array([x, cross(normal, x)]), signs, ahead


def _vertices(
    loop: LocalLoop, choice: LoopChoice, is_locked: bool, axes: Matrix, signs: Vector, ahead: bool
) -> list[Vertex]:
    """The hinges on the way around, from the body that carries the loop; sides in its axes, all angles zero."""
    robot, function = loop.robot, loop.rows[0]
    k = robot.at(robot.neutral).placed()
    frames = [function.frame_a, function.frame_b] if ahead else [function.frame_b, function.frame_a]
    chains: list[list[int]] = [np.flatnonzero(supporting_columns(robot, frame.joint)).tolist() for frame in frames]
    ends = [k.oMi[frame.joint].act(frame.placement) for frame in frames]

    def at(place: Any) -> complex:
        return complex(*(axes @ place.translation))

    hinges = {column: at(k.oMi[column + 1]) for chain in chains for column in chain}  # one column a joint
    turn = 0.0
    if is_locked:  # the turn from the body of the first frame to that of the second
        R = axes @ ends[0].rotation @ ends[1].rotation.T @ axes.T
        turn = float(np.arctan2(R[1, 0], R[0, 0]))
    there = [(column, 1.0, hinges[column]) for column in chains[0]]
    back = [(column, -1.0, hinges[column]) for column in reversed(chains[1])]
    vertices: list[Vertex] = []
    following = [*(p for _, _, p in there[1:]), at(ends[0])]
    for (column, direction, p), after in zip(there, following, strict=True):
        vertices.append(_vertex(choice, column, direction * float(signs[column]), after - p))
    first_back = back[0][2] if back else 0j
    vertices.append(Vertex(None, None, not is_locked, 1.0, turn, first_back - at(ends[1])))
    for i, (column, direction, p) in enumerate(back):
        after = back[i + 1][2] if i + 1 < len(back) else 0j
        vertices.append(_vertex(choice, column, direction * float(signs[column]), after - p))
    start = there[0][2]  # the way ends where it began
    vertices[-1] = vertices[-1]._replace(side=vertices[-1].side + start)
    first = next(h for h, vertex in enumerate(vertices) if vertex.is_unknown)
    return [*vertices[first:], *vertices[:first]]


def _vertex(choice: LoopChoice, column: int, sign: float, side: complex) -> Vertex:
    source = choice.inputs.v.index(column) if column in choice.inputs.v else None
    target = choice.outputs.v.index(column) if column in choice.outputs.v else None
    return Vertex(source, target, target is not None, sign, 0.0, side)


def _continuous(vertices: list[Vertex], u: Vector, space: Space) -> list[Vertex]:
    """The hinges with whole turns added to the known ones, so that angles are continuous around the inputs u."""
    around, angles = list(vertices), angles_of(space, u)
    corners = [h for h, vertex in enumerate(vertices) if vertex.is_unknown]
    for start, end in zip(corners, [*corners[1:], len(vertices)], strict=True):
        rest = around[end - 1].side
        direction = cmath.phase(rest)
        for h in range(end - 1, start, -1):
            vertex, side = around[h], around[h - 1].side
            turn = vertex.offset + (0.0 if vertex.source is None else vertex.sign * angles[vertex.source])
            more = whole_turns(direction + turn, cmath.phase(side))
            around[h] = vertex._replace(offset=vertex.offset + more)
            rest, direction = joined(side, rest * cmath.rect(1.0, turn), direction + turn + more)
    return around


def _anchored(function: LoopFunction, vertices: list[Vertex]) -> PlanarLoop | None:
    """The closed form on the branch of the reference, with its angles; None where it is not what Newton finds."""
    choice, q = function.choice, function.reference
    u, v = q[choice.inputs.q_indices], q[choice.outputs.q_indices]
    none = (0.0,) * len(choice.outputs)
    for elbow in ElbowSide:
        bare = PlanarLoop(function.inputs, function.outputs, tuple(vertices), elbow, none, name=function.name)
        try:
            apart = function.outputs.difference(bare.value(u), v)
        except UndefinedError:
            return None
        turns = tuple(whole_turns(0.0, float(d)) for d in apart)
        if largest(apart - np.array(turns)) <= AGREEMENT_OF_CLOSED_FORM:
            closed = PlanarLoop(function.inputs, function.outputs, tuple(vertices), elbow, turns, name=function.name)
            return closed if _agree(function, closed, u) else None
    return None


def _agree(function: LoopFunction, closed: PlanarLoop, u: Vector) -> bool:
    """Whether the closed form is what Newton finds around the reference."""
    rng = np.random.default_rng(0)
    for step in 0.1 * rng.standard_normal((3, u.size and function.inputs.nv)):
        near = function.inputs.integrate(u, step)
        try:
            expected = function.value(near)
        except UndefinedError:
            continue
        if largest(function.outputs.difference(closed.value(near), expected)) > AGREEMENT_OF_CLOSED_FORM:
            return False
    return True
