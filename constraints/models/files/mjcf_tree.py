"""The kinematic tree of a compiled MuJoCo model, as a `pinocchio.Model`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ...robot import Frame, Robot
from ...robot.model.pinocchio import Placement, pin
from ..structure.mechanism import Unread
from ..structure.tree import JointKind, JointLimits, Tree, inertia_matrix, rotation_about, translation

FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's numbers for its joint types (`mjtJoint`)."""
_KINDS = {FREE: JointKind.FREE, BALL: JointKind.BALL, SLIDE: JointKind.PRISMATIC, HINGE: JointKind.REVOLUTE}
_WORDS = {FREE: "free", BALL: "ball", SLIDE: "slide", HINGE: "hinge"}
_NO_GRAVITY = 128
"""`mjDSBL_GRAVITY`."""

Place = tuple[int, Any]
"""Index of a joint in pinocchio, and a placement on it."""


@dataclass(frozen=True, eq=False)
class CompiledTree:
    """The tree, and where the objects of the compiled model went.

    Attributes:
        tree: the model.
        joints: joint index in pinocchio, by MuJoCo's joint number.
        bodies: (joint index, placement on it), by MuJoCo's body number.
        body_names: by MuJoCo's body number.
        sites: (joint index, placement on it), by MuJoCo's site number.
        unread: what has no place in a tree.
    """

    tree: Tree
    joints: list[int] = field(default_factory=list[int])
    bodies: list[Place] = field(default_factory=list[Place])
    body_names: list[str] = field(default_factory=list[str])
    sites: list[Place] = field(default_factory=list[Place])
    unread: list[Unread] = field(default_factory=list[Unread])

    def joint_name(self, joint: int) -> str:
        """Name in pinocchio of MuJoCo's joint."""
        return str(self.tree.model.names[self.joints[joint]])

    def frame(self, place: Place, offset: Placement, name: str) -> Frame:
        """A frame at an offset from a body or a site.

        Args:
            place: an entry of `bodies` or `sites`.
            offset: from it.
            name: of the frame.
        """
        joint, jMb = place
        return Frame(name, joint, jMb * offset, str(self.tree.model.names[joint]))


def read_tree(mj: Any) -> CompiledTree:
    r"""Build the tree of a compiled model.

    MuJoCo moves a body from its place on its parent by its joints in order, each about its anchor p in the body's
    frame, by its coordinate less its reference:

    .. math:: {}^{p}M_{b} = M_0 \prod_j T(p_j)\, R(a_j, q_j - q_{0,j})\, T(-p_j)

    (a slide joint translates along a). The same product is a chain of joints here, with the reference in the placement
    of each, so that a hinge or slide coordinate is the same number in both. Coordinates come in MuJoCo's order.

    Args:
        mj: `mujoco.MjModel`.
    """
    tree = Tree(bytes(mj.names).split(b"\0", 1)[0].decode(errors="replace") or "mechanism")  # the first of its names
    weightless = int(mj.opt.disableflags) & _NO_GRAVITY
    tree.model.gravity.linear = np.zeros(3) if weightless else np.array(mj.opt.gravity)
    out = CompiledTree(tree)
    out.bodies.append((0, pin.SE3.Identity()))
    out.body_names.append(tree.body(0, pin.SE3.Identity(), "world"))
    for b in range(1, mj.nbody):
        _add_body(out, mj, b)
    for s in range(mj.nsite):
        joint, jMb = out.bodies[int(mj.site_bodyid[s])]
        jMs = jMb * pose_of(mj.site_pos[s], mj.site_quat[s])
        out.sites.append((joint, jMs))
        tree.frame(joint, jMs, mj.site(s).name or f"site_{s}")
    return out


def _add_body(out: CompiledTree, mj: Any, b: int) -> None:
    """Joints and inertia of one body."""
    tree, name = out.tree, mj.body(b).name or f"body_{b}"
    joint, placement = out.bodies[int(mj.body_parentid[b])]
    placement = placement * pose_of(mj.body_pos[b], mj.body_quat[b])
    first = int(mj.body_jntadr[b])
    for j in range(first, first + int(mj.body_jntnum[b])):
        kind, axis = int(mj.jnt_type[j]), np.array(mj.jnt_axis[j])
        anchor = translation(np.zeros(3) if kind in (FREE, SLIDE) else mj.jnt_pos[j])
        placement = placement * anchor
        if kind == FREE:  # its coordinates are the pose in the world
            placement = pin.SE3.Identity()
        elif kind in (SLIDE, HINGE):
            reference = float(mj.qpos0[mj.jnt_qposadr[j]])
            undo = translation(-reference * axis) if kind == SLIDE else rotation_about(axis, -reference)
            placement = placement * undo
        wanted = mj.jnt(j).name or f"{name}_{_WORDS[kind]}"
        joint = tree.joint(joint, _KINDS[kind], placement, wanted, axis, limits=_limits(mj, j))
        out.joints.append(joint)
        if kind == BALL and mj.jnt_limited[j]:
            reason = f"a ball joint cannot have bounds here; the limit of the file is {mj.jnt_range[j][1]:.4g} rad"
            out.unread.append(Unread(f"range of joint '{wanted}'", reason))
        placement = anchor.inverse()
    axes = pose_of(np.zeros(3), mj.body_iquat[b]).rotation
    inertia = inertia_matrix(mj.body_inertia[b], axes)
    out.body_names.append(tree.body(joint, placement, name, float(mj.body_mass[b]), mj.body_ipos[b], inertia))
    out.bodies.append((joint, placement))
    if mj.body_mocapid[b] >= 0:
        out.unread.append(Unread(f"mocap of body '{name}'", "the body stays where the file places it"))


def _limits(mj: Any, j: int) -> JointLimits:
    dof = int(mj.jnt_dofadr[j])
    scalar = int(mj.jnt_type[j]) in (SLIDE, HINGE)
    lower, upper = mj.jnt_range[j] if mj.jnt_limited[j] and scalar else (-np.inf, np.inf)
    effort = float(np.abs(mj.jnt_actfrcrange[j]).max()) if mj.jnt_actfrclimited[j] else np.inf
    return JointLimits(
        float(lower), float(upper), effort,
        damping=float(mj.dof_damping[dof]), friction=float(mj.dof_frictionloss[dof]),
        armature=float(mj.dof_armature[dof]),
    )  # fmt: skip


def from_qpos(robot: Robot, qpos: Any) -> Vector:
    """A configuration from MuJoCo's `qpos`: the same numbers, quaternions from wxyz to xyzw and of norm 1.

    Args:
        robot: the robot of a mechanism that was read from the same model.
        qpos: (nq,) in MuJoCo's order.
    """
    q = np.array(qpos, dtype=np.float64)
    for factor in robot.space.factors:
        if factor.space.nq in (4, 7):
            stop = factor.q.stop
            q[stop - 4 : stop] = np.roll(q[stop - 4 : stop], -1)
    return robot.space.normalize(q)


def pose_of(position: Any, quaternion: Any) -> Any:
    """A placement from a position and a quaternion wxyz, of MuJoCo's numbers."""
    w, x, y, z = (float(value) for value in quaternion)
    return pin.XYZQUATToSE3(np.array([*position, x, y, z, w]))
