"""A tree whose joints move along axes that are fixed in their bodies: what pinocchio's derivatives are right for.

In pinocchio 4.1 the derivatives of inverse dynamics and of accelerations leave out how the motion subspace of a joint
changes with its own coordinates: of universal, ZYX, composite and ellipsoid joints their error is as large as the
derivatives themselves. A chain of their parts, with bodies without mass between them, has the same coordinates and the
same motions.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector
from liegroups.formulas.log_slopes import five_points
from liegroups.formulas.third_order import se3_coad

from ..workspace import Pool
from .frame import Frame
from .model.inertia import is_depth_first
from .model.joints import COMPOSITE, copied_joint, joint_whole, type_name
from .model.pinocchio import Model, data_of, pin
from .moving_frames import MovingFrames


@final
class ElementaryTree:
    """The same tree with elementary joints: same q, v and forces. Immutable; threads may share it.

    Args:
        model: pinocchio's.

    Attributes:
        model: with elementary joints; the same object where all are.
        joints: joint of the given model -> the one that carries its body.
        is_exact: whether there is one: an ellipsoid joint has no parts.
    """

    def __init__(self, model: Model) -> None:
        source: Any = model
        kinds = [type_name(source.joints[i]) for i in range(1, source.njoints)]
        self.is_exact = all(_has_parts(source.joints[i]) for i in range(1, source.njoints))
        self.joints: tuple[int, ...] = tuple(range(source.njoints))
        self.model: Any = source
        if self.is_exact and any(kind in _OF_SEVERAL for kind in kinds):
            self.model, self.joints = expanded(source)

    @cached_property
    def datas(self) -> Pool[Any]:
        """Pinocchio data of the model, one for each that asks."""
        return Pool(partial(data_of, self.model))

    def moving(self, q: Vector, v: Vector, a: Vector) -> MovingFrames:
        """Frames in motion, on data of their own: give `moving.data` back to `datas` when done.

        Args:
            q, v, a: (nq,), (nv,), (nv,).
        """
        return MovingFrames(self, self.datas.take(), q, v, a)

    def force_slopes(self, data: Any, q: Vector, v: Vector, a: Vector, wrenches: Any = None) -> tuple[Matrix, Matrix]:
        """Derivatives (nv, nv) of M a + h by q and by v, new arrays; exact where the tree is, else by differences.

        Args:
            data: of pinocchio, for this tree; overwritten.
            q, v, a: (nq,), (nv,), (nv,).
            wrenches: what acts on the bodies and stays as it is in them, by joint; its joint forces are left out.
        """
        more = () if wrenches is None else (wrenches,)
        if not self.is_exact:
            return _by_differences(self.model, data, q, v, a, *more)
        if self._in_order is not None:
            return self._in_order.force_slopes(q, v, a, wrenches)
        by_q, by_v, _ = pin.computeRNEADerivatives(self.model, data, q, v, a, *more)
        return by_q.copy(), by_v.copy()

    @cached_property
    def _in_order(self) -> _DepthFirst | None:
        """The tree with joints in another order, where its own is not depth-first."""
        return None if is_depth_first(self.model) else _DepthFirst(self.model)

    @cached_property
    def _supports(self) -> Matrix:
        """(njoints, nv): 1 for the columns of the elementary joints between the world and a joint, itself included."""
        return np.ascontiguousarray(self.carries[self._of_columns].T)

    @cached_property
    def _moves(self) -> Matrix:
        """(nv, nv): 1 where the joint of the second column carries that of the first, or is it."""
        return self._supports[self._of_columns]

    @property
    def _of_columns(self) -> Indices:
        """Joints of the columns (nv,)."""
        model: Any = self.model
        return np.repeat(np.arange(int(model.njoints)), model.nvs)

    @cached_property
    def subspaces(self) -> tuple[Matrix, Indices]:
        """Body twists (6, nv) of the elementary joints by tangent coordinate, constant, and the joint (nv,) of each."""
        model = self.model
        S, joints = np.zeros((6, model.nv)), np.zeros(model.nv, dtype=np.intp)
        for j in range(1, model.njoints):
            joint = joint_whole(model.joints[j])
            memory = joint.createData()
            joint.calc(memory, pin.neutral(model)[joint.idx_q : joint.idx_q + joint.nq])
            block = slice(joint.idx_v, joint.idx_v + joint.nv)
            S[:, block] = np.array(memory.S, dtype=np.float64).reshape(6, joint.nv)
            joints[block] = j
        return S, joints

    def placements(self, q: Vector) -> tuple[Matrix, Matrix]:
        """Of the joints in the world: origins (..., njoints, 3) [m] and rotations (..., njoints, 3, 3), by pinocchio.

        Args:
            q: (..., nq).
        """
        model, data, each = self.model, self.datas.take(), list[list[Any]]()
        for one in q.reshape(-1, model.nq):
            pin.forwardKinematics(model, data, one)
            each.append([oMi.np for oMi in data.oMi])
        self.datas.give(data)
        found = np.array(each).reshape(*q.shape[:-1], model.njoints, 4, 4)
        return found[..., :3, 3], found[..., :3, :3]

    @cached_property
    def steps(self) -> Vector:
        """Length (njoints,) of the placement of each elementary joint on the one before."""
        return np.array([float(np.linalg.norm(M.translation)) for M in self.model.jointPlacements])

    @cached_property
    def carries(self) -> Matrix:
        """(njoints, njoints): 1 where the first joint carries the second one, or is it; the world carries all."""
        model = self.model
        on = np.zeros((model.njoints, model.njoints))
        for j in range(model.njoints):
            on[:, j] = on[:, model.parents[j]] if j else 0.0
            on[j, j] = 1.0
        return on

    def wrench_slope(self, world_jacobian: Matrix, a: Frame, b: Frame, wrench: Vector) -> Matrix:
        r"""Derivative (nv, nv) by q of the joint forces of a wrench that b feels from a, and that stays as it is in b.

        With :math:`J_i` the columns of the world Jacobian, W the wrench in the world, and the sign of columns as in J,

        .. math:: \frac{\partial}{\partial q_k}\, s_i\, J_i^T W
            = s_i\,\big([k \text{ carries } i] - [k \text{ carries } b]\big)\,W^T [J_k, J_i]

        Args:
            world_jacobian: of the joints (6, nv), spatial, in the world.
            a, b: frames; a may be held in the world.
            wrench: on b (6,), in the world, at its origin.
        """
        on_b = self._supports[self.joints[b.joint]]
        signs = on_b - self._supports[self.joints[a.joint]]
        turned: Matrix = world_jacobian.T @ se3_coad(wrench) @ world_jacobian  # (i, k): W . [J_k, J_i]
        turned *= self._moves - on_b
        turned *= signs[:, None]
        return turned

    def carried_slope(self, world_jacobian: Matrix, jacobian: Matrix, force: Vector) -> Matrix:
        r"""Derivative (nv, nv) by q of the joint forces of a force at the mean of points of bodies, fixed in the world.

        With :math:`w_k` the axes of the joints and :math:`J_i` the columns of the mean, in the world,

        .. math:: \frac{\partial}{\partial q_k}\, F \cdot J_i = \begin{cases}
            F \cdot (w_k \times J_i) & k \text{ carries } i \\
            F \cdot (w_i \times J_k) & i \text{ carries } k \end{cases}

        Args:
            world_jacobian: of the joints (6, nv), spatial, in the world.
            jacobian: of the mean (3, nv), in the world.
            force: F (3,), in the axes of the world.
        """
        turned: Matrix = jacobian.T @ pin.skew(force) @ world_jacobian[3:]  # (i, k): F . (w_k x J_i)
        return np.where(self._moves > 0.0, turned, self._moves.T * turned.T)


@final
class _DepthFirst:
    """A tree whose subtrees are one after the other: pinocchio's derivatives of forces are wrong for other orders.

    Args:
        model: with joints in any order.
    """

    def __init__(self, model: Any) -> None:
        children: list[list[int]] = [[] for _ in range(model.njoints)]
        for j in range(1, model.njoints):
            parent = int(model.parents[j])
            children[parent].append(j)
        waiting, order, where = [0], list[int](), {0: 0}
        while waiting:
            order.append(waiting.pop())
            waiting += children[order[-1]]
        made: Any = pin.Model()
        made.gravity = model.gravity
        q, v = list[int](), list[int]()
        for j in order[1:]:
            joint, parent = model.joints[j], where[model.parents[j]]
            where[j] = copied_joint(model, j, made, parent, model.jointPlacements[j])
            q += range(joint.idx_q, joint.idx_q + joint.nq)
            v += range(joint.idx_v, joint.idx_v + joint.nv)
        self._order, self._q, self._v = order, np.array(q, dtype=np.intp), np.array(v, dtype=np.intp)
        back = np.argsort(self._v)
        self._back = np.ix_(back, back)
        self._model, self._datas = made, Pool(partial(data_of, made))

    def force_slopes(self, q: Vector, v: Vector, a: Vector, wrenches: Any) -> tuple[Matrix, Matrix]:
        """As of the tree."""
        data: Any = self._datas.take()
        own: Any = pin.StdVec_Force([pin.Force.Zero() if wrenches is None else wrenches[j] for j in self._order])
        state = q[self._q], v[self._v], a[self._v]
        by_q, by_v, _ = pin.computeRNEADerivatives(self._model, data, *state, own)
        found = by_q[self._back], by_v[self._back]
        self._datas.give(data)
        return found


def _by_differences(model: Any, data: Any, q: Vector, v: Vector, a: Vector, *wrenches: Any) -> tuple[Matrix, Matrix]:
    """Where pinocchio's derivatives are wrong and the joints have no parts."""
    by_q, by_v = np.zeros((2, v.size, v.size))
    for i, factor, step in five_points(v.size):
        by_q[:, i] += factor * pin.rnea(model, data, pin.integrate(model, q, step), v, a, *wrenches)
        by_v[:, i] += factor * pin.rnea(model, data, q, v + step, a, *wrenches)
    return by_q, by_v


_OF_SEVERAL = (COMPOSITE, "Universal", "SphericalZYX")


def _has_parts(joint: Any) -> bool:
    """Whether a joint is elementary, or a chain of elementary ones."""
    if type_name(joint) == COMPOSITE:
        return all(_has_parts(part) for part in joint_whole(joint).joints)
    return type_name(joint) != "Ellipsoid"


def elementary_parts(joint: Any) -> list[tuple[Any, Any]]:
    """Elementary joints in order, each with its placement on the one before."""
    kind, whole, here = type_name(joint), joint_whole(joint), pin.SE3.Identity()
    if kind == "Universal":
        return [(pin.JointModelRevoluteUnaligned(np.array(axis)), here) for axis in (whole.axis1, whole.axis2)]
    if kind == "SphericalZYX":
        return [(each(), here) for each in (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX)]
    if kind != COMPOSITE:
        return [(joint, here)]
    found: list[tuple[Any, Any]] = []
    for part, placement in zip(whole.joints, whole.jointPlacements, strict=True):
        (first, at), *others = elementary_parts(part)
        found += [(first, placement * at), *others]
    return found


def expanded(source: Any) -> tuple[Any, tuple[int, ...]]:
    """A model with elementary joints, an ellipsoid joint among them, and of each joint the one that carries its body.

    Args:
        source: pinocchio's model.
    """
    model: Any = pin.Model()
    model.name, model.gravity = source.name, source.gravity
    joints: list[int] = [0]
    for i in range(1, int(source.njoints)):
        parent = int(source.parents[i])
        at = joints[parent]
        placement = source.jointPlacements[i]
        parts = elementary_parts(source.joints[i])
        for number, (part, offset) in enumerate(parts):
            name = source.names[i] if number == len(parts) - 1 else f"{source.names[i]} {number}"
            at = int(model.addJoint(at, part, placement * offset, name))
            placement = pin.SE3.Identity()
        model.appendBodyToJoint(at, source.inertias[i], pin.SE3.Identity())
        joints.append(at)
    model.armature = source.armature
    return model, tuple(joints)
