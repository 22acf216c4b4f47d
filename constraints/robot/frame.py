"""A frame: a placement on a joint, known by a name."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.frozen import set_fields

from ..arrays import Matrix, Vector
from ..errors import DtypeError, NotFiniteError, NotNormalizedError, SizeError, WrongObjectError
from .pinocchio import Placement, pin

__all__ = ["Frame", "as_frame", "as_placement", "pose_vector"]


def as_placement(placement: object, what: str = "placement") -> Placement:
    """Turn a `pinocchio.SE3`, a 4 x 4 matrix, or seven numbers (translation [m], quaternion xyzw) into a placement.

    Args:
        placement: what the user gave; None is the identity.
        what: how an error message names it.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with it.
    """
    if placement is None:
        return pin.SE3.Identity()
    numbers: Any = getattr(placement, "homogeneous", placement)
    try:
        given: Matrix = np.asarray(numbers)
    except (TypeError, ValueError):
        raise WrongObjectError(what, "a pinocchio.SE3, a 4 x 4 matrix or seven numbers", placement) from None
    if given.dtype == object or given.ndim == 0:
        raise WrongObjectError(what, "a pinocchio.SE3, a 4 x 4 matrix or seven numbers", placement)
    if given.dtype.kind not in "iuf":
        raise DtypeError(what, given.dtype)
    given = given.astype(np.float64, copy=False)
    if not np.isfinite(given).all():
        raise NotFiniteError(what, np.flatnonzero(~np.isfinite(given)).tolist())
    if given.shape == (7,):
        norm = float(np.sqrt(given[3:] @ given[3:]))
        if abs(norm - 1.0) > 1e-6:
            raise NotNormalizedError(what, "quaternion xyzw", norm)
        return pin.XYZQUATToSE3(np.r_[given[:3], given[3:] / norm])
    if given.shape == (4, 4):
        R = given[:3, :3]
        worst = float(np.abs(R @ R.T - np.eye(3)).max())
        if worst > 1e-6 or np.linalg.det(R) < 0.0 or np.abs(given[3] - [0.0, 0.0, 0.0, 1.0]).max() > 1e-6:
            raise NotNormalizedError(what, "rotation matrix", 1.0 + worst, _words(R, worst))
        return pin.SE3(np.ascontiguousarray(R), np.ascontiguousarray(given[:3, 3]))
    raise SizeError(what, "a 4 x 4 matrix or seven numbers", given.shape)


def _words(R: Matrix, worst: float) -> str:
    """What is wrong with a 4 x 4 matrix that is no placement."""
    if worst > 1e-6:
        return f"R must have R R^T = 1, which is off by {worst:.3g}"
    return "must not reflect: its determinant is -1" if np.linalg.det(R) < 0.0 else "must have 0 0 0 1 below it"


def as_frame(given: Frame) -> Frame:
    """Take a frame from a user, where names are not known.

    Raises:
        WrongObjectError: no Frame; for a name it says how to find one.
    """
    if not isinstance(given, Frame):  # pyright: ignore[reportUnnecessaryIsInstance]
        find, came = (f"'{given}'", "a name") if isinstance(given, str) else ("name", given)
        raise WrongObjectError("frame of a posture", f"a Frame, robot.frame({find})", came)
    return given


def pose_vector(placement: Placement) -> Vector:
    """A placement as a point of SE(3): translation [m], quaternion xyzw."""
    return np.asarray(pin.SE3ToXYZQUAT(placement))


@dataclass(frozen=True, eq=False)
class Frame:
    r"""Frame f fixed on joint j: :math:`{}^oM_f = {}^oM_j\, {}^jM_f`.

    Args:
        name: the name by which messages call it.
        joint: index of the joint that carries it; 0 is the world.
        placement: :math:`{}^jM_f` (`pinocchio.SE3`; a 4 x 4 matrix and seven numbers are taken too).
        joint_name: name of the joint, for printing.
    """

    name: str
    joint: int
    placement: Placement = field(default_factory=lambda: pin.SE3.Identity())
    joint_name: str = ""

    def __post_init__(self) -> None:
        """Own a copy of the placement."""
        name: Any = self.name
        joint: Any = self.joint
        if not isinstance(name, str):
            raise WrongObjectError("name of a frame", "a string", name)
        if not isinstance(joint, int | np.integer) or isinstance(joint, bool) or joint < 0:
            raise WrongObjectError(f"joint of frame '{name}'", "the index of a joint, 0 or more", repr(self.joint))
        set_fields(self, placement=as_placement(self.placement, f"placement of frame '{self.name}'").copy())

    def moved(self, offset: Placement) -> Frame:
        r"""The frame at an offset seen from this one, :math:`{}^jM_f\,{}^fM_{new}`, under the same name."""
        other = copy.copy(self)
        set_fields(other, placement=self.placement * offset)
        return other

    @property
    def is_joint(self) -> bool:
        """True when the frame is the joint's own."""
        return bool(np.array_equal(self.placement.homogeneous, np.eye(4)))

    def __str__(self) -> str:
        return self.name
