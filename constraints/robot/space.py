"""The configuration space of a robot: a product whose factors are its joints."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, final, overload

import numpy as np

from liegroups import SE2, SO2, ProductSpace, Space
from liegroups.arrays import ArrayLike, BoolVector, TangentLike, Vector
from liegroups.frozen import read_only, read_only_copy

from ..errors import ModelError, UnknownJointError
from ..point import ALL_JOINTS, PlacedSpace
from ..workspace import Pool, Workspace, as_workspace
from .elementary import ElementaryTree
from .frame import Frame
from .model.joints import angular_columns, joint_space
from .model.pinocchio import Model, pin
from .posture import Kinematics, Motion, Posture
from .subtree import truncated

WORTH_CUTTING = 0.8
"""A tree with more of the joints than this part is as good as the whole."""
INEXACT = (SO2, SE2)
"""Groups that are not left to Pinocchio: its `integrate` of SE(2) is 16 mm off at (v, w) = (1 m, 1e-14 rad), and its
`difference` of SO(2) and SE(2) is 0 below 2e-8 rad, and 2e-8 off next to a half turn."""
_POOL = 16
"""Workspaces kept for reuse; more than that are in use only where many postures are alive at once."""


@final
class RobotSpace(PlacedSpace):
    """Configuration space of a kinematic tree: maps for one vector by Pinocchio where it is exact.

    Args:
        model: the tree; it belongs to the robot and is never changed.

    Attributes:
        model: the tree.
        factors: the joints in order: group, slice of q, slice of v, name.
        revolute: (nv,) true for the columns that are an angle stored as one number.
        zero_velocity: (nv,) zeros.

    Raises:
        ModelError: a mimic joint, or a joint of an unknown type; the message names it.
    """

    _no_factor = UnknownJointError

    def __init__(self, model: Model) -> None:
        names = [str(name) for name in list(model.names)[1:]]
        groups = [joint_space(model.joints[i], name) for i, name in enumerate(names, start=1)]
        product = ProductSpace(groups, names)
        maps = product.maps
        if not any(leaf.space in INEXACT for leaf in product.layout.leaves()):
            integrate, difference = partial(pin.integrate, model), partial(pin.difference, model)
            maps = replace(maps, integrate=integrate, difference=difference)  # a tenth of the time of the product's
        super().__init__(product.layout, maps, product.batch_maps)
        self.model = model
        self.revolute: BoolVector = read_only(angular_columns(model))
        self.zero_velocity: Vector = np.zeros(self.nv)
        self._pool = Pool(Workspace)
        self._trees: dict[int, Any] = {}

    @cached_property
    def _joints(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.model.names)

    def check_frame(self, frame: Frame, robot: str = "this robot") -> None:
        """Refuse a frame on a joint that the model does not have.

        Raises:
            ModelError: names the frame and its joint.
        """
        joints = self._joints
        if frame.joint >= len(joints) or frame.joint_name not in ("", joints[frame.joint]):
            raise ModelError(f"frame '{frame}' on joint '{frame.joint_name}' ({frame.joint}) is not a frame of {robot}")

    @cached_property
    def elementary(self) -> ElementaryTree:
        """The same tree with elementary joints, whose derivatives pinocchio knows; built on request, never pickled."""
        return ElementaryTree(self.model)

    # Identity

    @cached_property
    def digest(self) -> str:
        """Digest of the model: two robots with the same digest have the same model."""
        return hashlib.sha256(pickle.dumps(self.model)).hexdigest()

    def same_robot(self, other: Space) -> bool:
        """True if the other space belongs to the same model (after unpickling, the digest decides)."""
        if self is other:
            return True
        return isinstance(other, RobotSpace) and self.atoms == other.atoms and self.digest == other.digest

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model,)

    def __deepcopy__(self, memo: dict[int, Any]) -> RobotSpace:
        return self  # immutable: a copied problem is still one of this robot

    # Points

    @overload
    def at(self, q: ArrayLike, v: None = None, workspace: Workspace | None = None) -> Posture: ...
    @overload
    def at(self, q: ArrayLike, v: Workspace) -> Posture: ...
    @overload
    def at(self, q: ArrayLike, v: TangentLike, workspace: Workspace | None = None) -> Motion: ...
    def at(
        self, q: ArrayLike, v: TangentLike | Workspace | None = None, workspace: Workspace | None = None
    ) -> Posture | Motion:
        """Posture at q, or Motion at (q, v).

        Args:
            q: configuration (nq,), checked and copied.
            v: tangent velocity (nv,), for a Motion, or by joint, {"elbow": 1.0}, the others zero; a workspace may be
                given in its place.
            workspace: borrow this one: the posture is stale once the workspace holds another configuration. By default
                the posture takes one from a pool and stays valid.
        """
        if isinstance(v, Workspace):
            v, workspace = None, v
        q = read_only_copy(self.check(q, "q"))
        posture = self.place_alone(q) if workspace is None else self.place(q, as_workspace(workspace))
        return posture if v is None else Motion(posture, np.array(self.check_tangent(v, "velocity")))

    def place(self, q: Vector, workspace: Workspace, serial: int | None = None) -> Posture:
        """Posture at a q that has been checked; with `serial`, as part of a point placed already."""
        if serial is None:
            workspace.serial = serial = workspace.serial + 1
        return Posture(self, q, workspace, serial)

    def place_alone(self, q: Vector) -> Posture:
        """Posture at a q that has been checked, in a workspace from the pool."""
        workspace = self._pool.take()
        workspace.serial += 1
        return Posture(self, q, workspace, workspace.serial, _Lease(self._pool, workspace))

    def move(self, point: Any, v: Vector) -> Motion:
        """The posture with velocity v."""
        return Motion(point, v)

    def kinematics(self) -> Kinematics:
        """New pinocchio memory for this model (about 1 ms for a humanoid)."""
        return Kinematics(self)

    def tree_to(self, last: int) -> tuple[int, Any]:
        """The part of the model up to a joint, for kinematics on data of the whole: the same bits, the rest untouched.

        Args:
            last: index of a joint.

        Returns:
            Index of the last joint in it, and the model: the whole model if a part would save little.
        """
        if last + 1 > WORTH_CUTTING * self.model.njoints:
            return ALL_JOINTS, self.model
        tree = self._trees.get(last)
        if tree is None:
            tree = self._trees[last] = truncated(self.model, last)
        return last, tree


@final
class _Lease:
    """Gives the workspace of a posture back to the pool when the posture is gone, unless too much gathered in it."""

    __slots__ = ("_pool", "_workspace")

    def __init__(self, pool: Pool[Workspace], workspace: Workspace) -> None:
        self._pool, self._workspace = pool, workspace

    def __del__(self, limit: int = _POOL) -> None:  # bound here: at interpreter exit the module's names are gone
        if len(self._pool.free) < limit and not self._workspace.is_crowded:
            self._pool.give(self._workspace)
