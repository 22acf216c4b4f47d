"""Bodies whose pose is computed, as parts of what carries them: their frames need no second kinematics."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import SE3
from liegroups.arrays import BoolVector, Vector

from ...functions.frame_function import Framed, FrameFunction, kinematics_at, supporting_columns
from ...functions.pose import Pose
from ...functions.translation import RightTranslation
from ...point import Point
from ...problem.problem import Problem
from ...robot import Frame
from ...robot.pinocchio import Placement
from ...rows.explicit import Explicit
from ...rows.implicit import Implicit
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...workspace import Workspace


class _Seen(NamedTuple):
    """A function of frames on carried bodies, and the same function of frames on the joints that carry them."""

    given: FrameFunction
    carried: FrameFunction


@final
class AttachedFrame:
    r"""The map of an explicit relative pose, :math:`q \mapsto {}^PM_a\, r\, c` with r the right-hand side.

    It is the pose of a frame that r moves on the joint of a: in each workspace the memory of one function is anchored
    where the right-hand side wants it.

    Args:
        explicit: the constraint.
        f: its function.

    Attributes:
        explicit: as given.
        function: to be evaluated, once `anchor` has been called for the right-hand side.
    """

    __slots__ = ("_constant", "explicit", "function")

    def __init__(self, explicit: Explicit, f: Pose) -> None:
        self.explicit, self.function = explicit, copy.copy(f)  # a copy: what f itself has in a workspace stays
        g_inverse = explicit.g_inverse
        self._constant = g_inverse.constant if isinstance(g_inverse, RightTranslation) else None

    @staticmethod
    def of(explicit: Explicit) -> AttachedFrame | None:
        """That of a constraint; None where its map is something else."""
        f, g_inverse = explicit.map, explicit.g_inverse
        plain = g_inverse is None or isinstance(g_inverse, RightTranslation)
        return AttachedFrame(explicit, f) if plain and type(f) is Pose and f.outputs == SE3 else None

    def placement(self, rhs: RightHandSide, workspace: Workspace) -> Placement:
        """Placement of the moved frame on its joint, found once for as long as the right-hand side is the same.

        Raises:
            UndefinedError: there is none for this right-hand side.
        """
        return rhs.kept(self.explicit, workspace, "placement", self._placement)

    def _placement(self, point: Vector) -> Placement:
        f, element = self.function, self.explicit.group_rhs(point)
        if self._constant is not None:
            element = f.outputs.compose(element, self._constant)
        return f.offset_placement(element)

    def anchor(self, point: Point, rhs: RightHandSide) -> None:
        """Make the function that of a right-hand side, in the workspace of a point."""
        f, placement = self.function, self.placement(rhs, point.workspace)
        kinematics_at(point, None, 0).relative(f, f.frame_a, f.frame_b).anchor(f.frame_a.placement, placement)


@final
class AttachedBodies:
    r"""The computed bodies of a problem that the solver's loop can do without.

    An explicit relative pose puts a free body onto a frame c of the joint that carries it:
    :math:`{}^oM_{body} = {}^oM_c`, whatever q. A frame of the body at :math:`{}^{body}M_f` is then the frame
    :math:`c\,{}^{body}M_f` of the carrying joint. Rows that are functions of frames are evaluated there: their Jacobian
    is the reduced one at once, no output has to be written and no kinematics computed again, until a solution is found.
    Where anything else reads the pose of a body (a centre of mass, a function of the user's, a joint on the body),
    the body is computed as others are.

    Args:
        problem: whose explicit constraints.

    Attributes:
        explicits: ids of the constraints that the loop leaves out.
        substitutes: id of an owner -> the same constraint on frames of what carries the bodies.
    """

    def __init__(self, problem: Problem) -> None:
        self._bodies = _attached_bodies(problem)
        self.explicits = frozenset(id(carrying.explicit) for carrying in self._bodies.values())
        self.substitutes: dict[int, RowOwner] = {}
        self._seen: list[_Seen] = []
        joints = self._carriers()
        for owner in (owner for level in problem.levels for owner in level):
            if isinstance(owner, Implicit) and (f := _frames_at_hand(problem, owner, self._bodies)) is not None:
                parts = [_on_carriers(part, joints) for part in f.parts]
                moved = [_Seen(*pair) for pair in zip(f.parts, parts, strict=True) if pair[0] is not pair[1]]
                if moved:
                    self.substitutes[id(owner)] = owner.with_function(f.with_parts(parts))
                    self._seen += moved

    def __bool__(self) -> bool:
        return bool(self._bodies)

    def place(self, point: Point, rhs: RightHandSide) -> None:
        """Anchor the frames of carried bodies in the workspace of a point, for the right-hand sides given.

        Args:
            point: any point of the workspace.
            rhs: right-hand sides of the explicit constraints.
        """
        on: dict[int, Any] = {}  # joint of a body -> placement of the body on the joint that carries it
        for joint, carrying in self._bodies.items():
            placement: Any = carrying.placement(rhs, point.workspace)
            carrier = carrying.function.frame_b.joint
            on[joint] = on[carrier] * placement if carrier in on else placement
        k = kinematics_at(point, None, 0)
        for given, carried in self._seen:
            a, b = (
                on[frame.joint].act(frame.placement) if frame.joint in on else frame.placement
                for frame in (given.frame_a, given.frame_b)
            )
            k.relative(carried, carried.frame_a, carried.frame_b).anchor(a, b)

    def _carriers(self) -> dict[int, int]:
        """Joint of each carried body -> the joint, of no carried body, that carries it."""
        joints: dict[int, int] = {}
        for joint, carrying in self._bodies.items():
            carrier = carrying.function.frame_b.joint
            joints[joint] = joints.get(carrier, carrier)
        return joints


def _attached_bodies(problem: Problem) -> dict[int, AttachedFrame]:
    """Joints of the bodies that only functions of frames read, with what computes them, in resolution order."""
    maps = [AttachedFrame.of(e) for e in problem.explicits if isinstance(e, Explicit)]
    bodies: dict[int, AttachedFrame] = {}
    for carrying in maps:
        if carrying is not None and (joint := _body(problem, carrying)) is not None:
            bodies[joint] = carrying
    while True:
        read = np.zeros(problem.space.nv, dtype=np.bool_)  # by anything that cannot look at frames elsewhere
        for explicit in problem.explicits:
            carrier = _carrier(explicit, bodies)
            if isinstance(explicit, Explicit) and carrier is None:
                read |= explicit.map.columns
            elif carrier is not None and carrier not in bodies and problem.robot is not None:
                read |= supporting_columns(problem.robot, carrier)  # a body may be a part of what is placed
        for owner in (owner for level in problem.levels for owner in level):
            if _frames_at_hand(problem, owner, bodies) is None:
                read |= owner.columns
        kept = {joint: c for joint, c in bodies.items() if not read[_columns_on(problem, joint)].any()}
        if len(kept) == len(bodies):
            return kept
        bodies = kept


def _body(problem: Problem, carrying: AttachedFrame) -> int | None:
    """The joint of the free body that an explicit relative pose puts onto a frame; None where it is something else."""
    explicit, f = carrying.explicit, carrying.function
    if explicit.is_constant or problem.robot is None:
        return None
    model: Any = problem.robot.model
    for joint in range(1, model.njoints):
        if model.idx_vs[joint] == explicit.outputs.v[0] and model.nvs[joint] == len(explicit.outputs):
            base = f.frame_a.placement.homogeneous, model.jointPlacements[joint].homogeneous
            seat = model.joints[joint].shortname() == "JointModelFreeFlyer" and np.array_equal(*base)
            return joint if seat and f.frame_a.joint == model.parents[joint] else None
    return None


def _columns_on(problem: Problem, body: int) -> BoolVector:
    """Tangent columns (nv,) of a body and of all joints on it: what is seen from them may be seen from the body."""
    columns = np.zeros(problem.space.nv, dtype=np.bool_)
    if problem.robot is not None:
        model: Any = problem.robot.model
        for joint in model.subtrees[body]:
            columns[model.idx_vs[joint] : model.idx_vs[joint] + model.nvs[joint]] = True
    return columns


def _carrier(explicit: RowOwner, bodies: dict[int, AttachedFrame]) -> int | None:
    """The joint that a constraint puts a carried body onto; None where its body is not carried."""
    return next((c.function.frame_b.joint for c in bodies.values() if c.explicit is explicit), None)


def _on_carriers(part: FrameFunction, joints: dict[int, int]) -> FrameFunction:
    """The function with frames of carried bodies on the joints that carry them; itself where it has none."""
    on = [joints.get(frame.joint, frame.joint) for frame in (part.frame_a, part.frame_b)]
    if on == [part.frame_a.joint, part.frame_b.joint]:
        return part
    return part.between(Frame(part.frame_a.name, on[0]), Frame(part.frame_b.name, on[1]))


def _frames_at_hand(problem: Problem, owner: RowOwner, bodies: dict[int, AttachedFrame]) -> Framed | None:
    """The function of a constraint, if all it sees are frames on carried bodies or apart from them; else None."""
    if not isinstance(owner, Implicit) or not isinstance(f := owner.function, Framed):
        return None
    if not f.sees_only_frames:
        return None
    frames = [frame for part in f.parts for frame in (part.frame_a, part.frame_b)]
    return f if all(_is_at_hand(problem, frame, bodies) for frame in frames) else None


def _is_at_hand(problem: Problem, frame: Frame, bodies: dict[int, AttachedFrame]) -> bool:
    """Whether a frame is on a carried body or apart from all; not so on a joint of a body, whose pose places it."""
    if problem.robot is None or frame.joint in bodies:
        return problem.robot is not None
    supports: Any = problem.robot.model.supports
    return not any(joint in bodies for joint in supports[frame.joint])
