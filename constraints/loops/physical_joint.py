"""A closure onto a free body as a joint of the tree: the loop is gone, and the state is carried over."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from liegroups.arguments import as_flag, as_name, expect
from liegroups.arrays import ArrayLike, TangentLike, Vector

from ..errors import ConstraintError
from ..robot import Frame, Robot
from ..robot.model.joints import copied_joint, type_name
from ..robot.model.pinocchio import Placement, pin
from .closures import Closure
from .hinges.hinge import Hinge, chain
from .hinges.hinge_fit import fitted
from .hinges.subhinge import Subhinge


class NotAJointError(ConstraintError):
    """A closure that cannot become a joint of the tree: `closure` and the reason."""

    def __init__(self, closure: str, reason: str) -> None:
        self.closure, self.reason = closure, reason
        super().__init__(f"'{closure}' cannot become a joint: {reason}")


@final
@dataclass(frozen=True, eq=False, repr=False)
class PhysicalJoint:
    """Result of `to_joint`: a closure replaced by a joint.

    Attributes:
        robot: the robot with the joint in its tree; the free-flyer of the child is gone.
        closure: the closure that was replaced, on the robot it was on.
        reverse: whether the predecessor's body is the child.
        joint: name of the new joint; None for a locked hinge, which joins two bodies into one.
    """

    robot: Robot
    closure: Closure
    reverse: bool
    joint: str | None
    _base: int = field(repr=False)
    _moved: Placement = field(repr=False)  # the old joint frame of the child seen from its new one
    _indices: dict[int, int] = field(repr=False)

    def configuration(self, q: ArrayLike) -> Vector:
        """A configuration of the old robot as one of the new; an open closure gets the best fit of its hinge."""
        return self.state(q, np.zeros(self.closure.robot.nv))[0]

    def state(self, q: ArrayLike, v: TangentLike) -> tuple[Vector, Vector]:
        """Configuration and velocity of the old robot, converted to the new one.

        Args:
            q, v: (nq,) and (nv,) of the old robot.
        """
        old, new = self.closure.robot, self.robot
        q, speed = old.check(q), old.space.check_tangent(v, "v")
        after, rates = self._carried(old, new, q, speed)
        if self.joint is not None:
            fit = fitted(self.closure.hinge, *self.closure.motion(q, speed))
            own = fit.coordinates, fit.rates
            theta, turning = _reversed_state(self.closure.hinge, *own) if self.reverse else own
            after[new.slice_of(self.joint)], rates[new.velocity_slice_of(self.joint)] = theta, turning
        return after, rates

    def original(self, q: ArrayLike, v: TangentLike | None = None) -> tuple[Vector, Vector]:
        """Configuration and velocity of the new robot, converted to the old one; the closure is closed there.

        Args:
            q, v: (nq,) and (nv,) of the new robot; v is zero by default.
        """
        old, new = self.closure.robot, self.robot
        q = new.check(q)
        speed = np.zeros(new.nv) if v is None else new.space.check_tangent(v, "v")
        before, rates = self._carried(new, old, q, speed)
        base = str(old.model.names[self._base])
        motion, body = new.at(q, speed), self.frame(Frame(base, self._base))
        root: Any = old.model.jointPlacements[self._base]
        before[old.slice_of(base)] = pin.SE3ToXYZQUAT(root.actInv(motion.posture.placement(body)))
        rates[old.velocity_slice_of(base)] = motion.velocity(body)
        return before, rates

    def _carried(self, source: Robot, to: Robot, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """The state of the joints that both robots have; the others neutral, at rest."""
        moved, rates = to.neutral, np.zeros(to.nv)
        for name in self.robot.joint_names:
            if name != self.joint:
                moved[to.slice_of(name)] = q[source.slice_of(name)]
                rates[to.velocity_slice_of(name)] = v[source.velocity_slice_of(name)]
        return moved, rates

    def frame(self, frame: Frame | str) -> Frame:
        """A frame of the old robot as one of the new, to build other closures again."""
        old = self.closure.robot.frame(frame)
        joint = self._indices[old.joint]
        placement = self._moved * old.placement if old.joint == self._base else old.placement
        return Frame(old.name, joint, placement, str(self.robot.model.names[joint]))

    def __repr__(self) -> str:
        return f"PhysicalJoint({self.closure.name!r} as {self.joint or 'one body'}, {self.robot})"


def to_joint(closure: Closure, *, reverse: bool = False, name: str = "") -> PhysicalJoint:
    r"""Replace a closure by a joint of the tree with the same hinge.

    The body of the successor becomes the child of the predecessor's body, or the other way round. The child must be a
    base body, connected to the world by a free-flyer; the joint replaces the free-flyer, so the tree stays a tree.

    Args:
        closure: a `Closure`.
        reverse: make the predecessor's body the child; the joint is then :math:`H(\theta)^{-1}`, with the same angles.
        name: name of the joint; the closure's by default.

    Returns:
        The new robot, and the conversions of its states and frames.

    Raises:
        NotAJointError: the child is not a base body on a free-flyer, or carries its parent; the closure has a target.
        WrongObjectError: not a `Closure`.

    Source: `toPhysicalHinge` of Karana kdFlex.
    """
    expect(closure, Closure, "closure to become a joint")
    reverse = as_flag(reverse, "reverse of a joint")
    parent, child = (closure.successor, closure.predecessor) if reverse else (closure.predecessor, closure.successor)
    _refuse(closure, parent, child)
    hinge = _reversed(closure.hinge) if reverse else closure.hinge
    label = as_name(name, "name of a joint") or closure.name
    return _Rebuilt(closure, parent, child, hinge, label).result(reverse)


def _refuse(closure: Closure, parent: Frame, child: Frame) -> None:
    """Raise where the tree would not stay a tree."""
    model: Any = closure.robot.model
    if closure.target is not None:
        raise NotAJointError(closure.name, "its rows follow a target in time, which a joint cannot")
    word, other = ("predecessor", "successor") if child is closure.predecessor else ("successor", "predecessor")
    kind = "the world" if child.joint == 0 else f"joint '{model.names[child.joint]}'"
    if not _is_base(model, child):
        turned = "reverse=True makes it the child, by the inverse joint" if word == "successor" else "leave reverse out"
        way = f"its {other} is one: {turned}" if _is_base(model, parent) else f"nor is its {other}"
        raise NotAJointError(
            closure.name, f"its {word} is on {kind}, and only a base body on a free-flyer can become the child; {way}"
        )
    if parent.joint in list(model.subtrees[child.joint]):
        raise NotAJointError(closure.name, f"its {word} carries the other body: the tree would contain a loop")


def _is_base(model: Any, frame: Frame) -> bool:
    """Whether a frame is on a free-flyer in the world."""
    free = frame.joint and type_name(model.joints[frame.joint]) == "FreeFlyer"
    return bool(free) and int(model.parents[frame.joint]) == 0


class _Rebuilt:
    """A model made again with one joint in the place of a free-flyer."""

    def __init__(self, closure: Closure, parent: Frame, child: Frame, hinge: Hinge, label: str) -> None:
        self.closure, self.old, self.base = closure, closure.robot, child.joint
        self.model: Any = pin.Model()
        source: Any = self.old.model
        self.model.name, self.model.gravity = source.name, source.gravity
        self.indices: dict[int, int] = {0: 0}
        below = set(source.subtrees[self.base])
        for i in range(1, source.njoints):
            if i not in below:
                self.copy(i, self.indices[int(source.parents[i])], source.jointPlacements[i])
        at = self.indices[parent.joint]
        self.joint = label if hinge.subhinges else None
        if self.joint is None:
            self.moved: Any = parent.placement * child.placement.inverse()
            self.indices[self.base] = at
        else:
            self.moved = child.placement.inverse()
            self.indices[self.base] = self.model.addJoint(at, joint_model(hinge), parent.placement, label)
            q, n = self.model.idx_qs[self.indices[self.base]], self.model.nqs[self.indices[self.base]]
            self.model.lowerPositionLimit[q : q + n], self.model.upperPositionLimit[q : q + n] = -np.inf, np.inf
        self.model.appendBodyToJoint(self.indices[self.base], source.inertias[self.base], self.moved)
        for i in sorted(below - {self.base}):
            above = int(source.parents[i])
            seen: Any = source.jointPlacements[i]
            self.copy(i, self.indices[above], self.moved * seen if above == self.base else seen)

    def copy(self, i: int, parent: int, placement: Any) -> None:
        """One joint of the old model, with its body and what belongs to its dofs."""
        source: Any = self.old.model
        self.indices[i] = new = copied_joint(source, i, self.model, parent, placement)
        a, b = source.joints[i], self.model.joints[new]
        q0, q1 = slice(a.idx_q, a.idx_q + a.nq), slice(b.idx_q, b.idx_q + b.nq)
        self.model.lowerPositionLimit[q1] = self.old.bounds.lower[q0]
        self.model.upperPositionLimit[q1] = self.old.bounds.upper[q0]

    def result(self, reverse: bool) -> PhysicalJoint:
        """The robot with its frames and postures."""
        source: Any = self.old.model
        added = [(f.name, f.joint, f.placement, pin.FrameType.OP_FRAME) for f in self.old.added_frames]
        named = [(f.name, int(f.parentJoint), f.placement, f.type) for f in source.frames]
        for name, joint, placement, kind in named + added:
            gone = joint == self.base and kind == pin.FrameType.JOINT
            if name != "universe" and not gone:
                at = self.moved * placement if joint == self.base else placement
                self.model.addFrame(pin.Frame(name, self.indices[joint], 0, at, kind))
        base = str(source.names[self.base])
        self.model.addFrame(pin.Frame(base, self.indices[self.base], 0, self.moved, pin.FrameType.OP_FRAME))
        mimics = [m for m in self.old.mimics if base not in (m.joint, m.source)]
        old = self.old
        robot = Robot(self.model, old.name, None, None, mimics, old.disabled_collisions, old.visuals)
        made = PhysicalJoint(robot, self.closure, reverse, self.joint, self.base, self.moved, self.indices)
        postures = {name: made.configuration(q) for name, q in self.old.references.items()}
        return replace(made, robot=robot.with_references(postures))


def joint_model(hinge: Hinge) -> Any:
    """Pinocchio's joint of a hinge: its one step, or a composite of its steps."""
    steps: list[tuple[Any, Any]] = []
    for sub in hinge.subhinges:
        turn = pin.SE3.Identity() if sub.turn is None else pin.SE3(sub.turn, np.zeros(3))
        if sub.is_ball:
            model = pin.JointModelSpherical()
        elif not sub.turns:
            model = pin.JointModelPrismaticUnaligned(sub.axis)
        elif sub.pitch:
            model = pin.JointModelHelicalUnaligned(sub.axis, sub.pitch)
        else:
            model = pin.JointModelRevoluteUnaligned(sub.axis)
        steps.append((model, turn))
    if len(steps) == 1 and hinge.subhinges[0].turn is None:
        return steps[0][0]
    composite = pin.JointModelComposite()
    for model, placement in steps:
        composite.addJoint(model, placement)
    return composite


def _reversed(hinge: Hinge) -> Hinge:
    """The hinge whose placement is the inverse: its steps backwards, along the opposite axes."""
    steps: list[Subhinge] = []
    pending: Any = None  # the constant turn of the step that comes after, undone before this one
    for sub in reversed(hinge.subhinges):
        steps.append(Subhinge(sub.motion, -sub.axis, sub.pitch, pending))
        pending = None if sub.turn is None else sub.turn.T
    return chain(*steps)


def _reversed_state(hinge: Hinge, theta: Vector, rates: Vector) -> tuple[Vector, Vector]:
    """Coordinates and rates of the reversed hinge: those of each step, backwards; of a ball the inverse."""
    out: list[Vector] = []
    turning: list[Vector] = []
    q, v = theta.size, rates.size
    for sub in reversed(hinge.subhinges):
        own, rate = theta[q - sub.nq : q], rates[v - sub.nv : v]
        if sub.is_ball:
            R = sub.placement(own).rotation
            own, rate = own * np.array([-1.0, -1.0, -1.0, 1.0]), -R @ rate
        out.append(own)
        turning.append(rate)
        q, v = q - sub.nq, v - sub.nv
    return np.concatenate([np.zeros(0), *out]), np.concatenate([np.zeros(0), *turning])
