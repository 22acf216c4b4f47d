"""Placements and rotations as users give them: the one place that reads them."""

from __future__ import annotations

import logging
from typing import Any, Protocol

import numpy as np

from liegroups import SE3, SO3
from liegroups.arguments import finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.formulas.second_order import se3_log_second
from liegroups.frozen import read_only

from ..errors import NotNormalizedError, OptionError, SizeError, UnknownNameError, WrongObjectError
from ..linear_algebra import dot
from ..questions import SHOWN, asked_of_angles, say
from .model.pinocchio import Placement, pin

_log = logging.getLogger(__package__)
_ASKED: set[tuple[float, ...]] = set()
"""Angles that were asked about."""


class HasMatrix(Protocol):
    """A rotation or a placement of scipy, mink or jaxlie."""

    def as_matrix(self) -> Any:
        """The matrix, (3, 3) or (4, 4)."""


ROUNDING_OF_A_UNIT_VECTOR = 2e-15
"""How far the norm of a vector that was normalised may be from 1."""

X, Y, Z = (tuple(row) for row in np.eye(3).tolist())
_AXES = {"x": X, "y": Y, "z": Z, "-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)}
TYPED = 1e-3
"""A unit quaternion that was typed may have another norm by this: it is normalised. Entries of q may not (1e-6)."""
_PLACEMENT = "a pinocchio.SE3, a 4 x 4 matrix, seven numbers (translation, quaternion xyzw) or rigid_transform(...)"
_ROTATION = "a 3 x 3 matrix, a scipy Rotation, a quaternion xyzw or rigid_transform(rpy=...)"


def rigid_transform(
    translation: ArrayLike = (0.0, 0.0, 0.0), rotation: object = None, *, rpy: ArrayLike | None = None
) -> Placement:
    r"""A placement :math:`{}^aM_b` from its translation and its rotation, as a `pinocchio.SE3`.

    Args:
        translation: of b seen from a (3,) [m].
        rotation: a 3 x 3 matrix, a scipy `Rotation`, a `pinocchio.Quaternion`, or a quaternion xyzw (4,).
        rpy: instead of `rotation`: roll, pitch, yaw (3,) [rad] about the fixed axes x, y, z in this order, as in URDF:
            :math:`R = R_z(y)\,R_y(p)\,R_x(r)`.

    Raises:
        OptionError: both a rotation and rpy.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with an argument.

    Example:
        >>> print(rigid_transform([0.0, 0.0, 0.5], rpy=[0.0, 0.0, 3.0]).rotation[0].round(3))
        [-0.99  -0.141  0.   ]
    """
    p = finite_vector(translation, 3, "translation of a rigid transform")
    if rpy is not None:
        if rotation is not None:
            raise OptionError("rigid transform: give its rotation or rpy, not both")
        angles = np.array(finite_vector(rpy, 3, "rpy of a rigid transform"))
        _ask(tuple(angles.tolist()))
        return pin.SE3(pin.rpy.rpyToMatrix(angles), np.array(p))
    R = np.eye(3) if rotation is None else as_rotation(rotation, "rotation of a rigid transform")
    return pin.SE3(R, np.array(p))


def _ask(angles: tuple[float, ...]) -> None:
    """Ask about angles beyond a whole turn: about each once, and about a few."""
    words = asked_of_angles(f"rpy {list(angles)} of a rigid transform", angles)
    if words and angles not in _ASKED and len(_ASKED) < SHOWN:
        _ASKED.add(angles)
        say(_log, [words])


def as_placement(placement: object, what: str = "placement") -> Placement:
    """Read a placement: a `pinocchio.SE3`, a 4 x 4 matrix, or seven numbers (translation [m], quaternion xyzw).

    An object with the matrix as `homogeneous`, `as_matrix()` or `GetAsMatrix4()` is accepted too: rigid transforms of
    pinocchio, scipy, mink, jaxlie and Drake. The translation of a rotation alone is zero.

    Args:
        placement: the value given by the user; None is the identity.
        what: its name in error messages.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with it.
    """
    if placement is None:
        return pin.SE3.Identity()
    if isinstance(placement, pin.Quaternion):
        return pin.SE3(as_rotation(placement, what), np.zeros(3))
    numbers = _real(placement, what, _PLACEMENT)
    if numbers.shape == (3, 3):
        return pin.SE3(_rotation_matrix(numbers, what), np.zeros(3))
    if numbers.shape == (7,):
        return pin.XYZQUATToSE3(np.r_[numbers[:3], _unit_quaternion(numbers[3:], what)])
    if numbers.shape == (4, 4):
        x, y, z, w = numbers[3].tolist()
        if max(abs(x), abs(y), abs(z), abs(w - 1.0)) > 1e-6:
            raise NotNormalizedError(what, "4 x 4 matrix", 1.0, "must have the last row 0 0 0 1")
        return pin.SE3(_rotation_matrix(numbers[:3, :3], what), np.ascontiguousarray(numbers[:3, 3]))
    raise SizeError(
        what, "(7,), (4, 4) or (3, 3)", numbers.shape, _hint(numbers) or "translation and quaternion, or a matrix"
    )


def as_rotation(rotation: object, what: str = "rotation") -> Matrix:
    """Read a rotation matrix (3, 3) from a matrix, a scipy `Rotation`, a quaternion xyzw, or a placement.

    As in `as_placement`, an object with a matrix is accepted. Three numbers are refused: their meaning is ambiguous.

    Args:
        rotation: the value given by the user.
        what: its name in error messages.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with it.
    """
    numbers = _real(rotation, what, _ROTATION)
    if numbers.shape == (4,):
        return np.asarray(pin.Quaternion(_unit_quaternion(numbers, what)).matrix())
    if numbers.shape == (3, 3):
        return _rotation_matrix(numbers, what)
    if numbers.shape == (4, 4):
        return np.asarray(as_placement(numbers, what).rotation)
    raise SizeError(what, "(4,) or (3, 3)", numbers.shape, _hint(numbers) or "quaternion xyzw, or a matrix")


def has_matrix(candidate: object, size: int) -> bool:
    """Whether it is a matrix of that size, or an object that has one: 3 for rotations, 4 for placements."""
    return shape_of(matrix_of(candidate)) == (size, size)


def shape_of(numbers: Any) -> tuple[int, ...] | None:
    """Shape of what numpy would read; None for rows of several lengths."""
    try:
        return np.shape(numbers)
    except (TypeError, ValueError):
        return None


def matrix_of(candidate: Any) -> Any:
    """The numbers of an object of pinocchio, scipy, mink, jaxlie or Drake that stands for a rotation or a placement.

    Anything else comes back as it is.
    """
    if type(candidate) in (np.ndarray, list, tuple):
        return candidate
    if hasattr(candidate, "homogeneous"):
        return candidate.homogeneous
    if isinstance(candidate, pin.Quaternion):  # xyzw, of any norm yet
        return np.array(candidate.coeffs())
    for method in ("as_matrix", "GetAsMatrix4", "matrix"):
        if callable(getattr(candidate, method, None)):
            return getattr(candidate, method)()
    return candidate


def pose_vector(placement: Placement) -> Vector:
    """A placement as a point of SE(3): translation [m], quaternion xyzw."""
    return np.asarray(pin.SE3ToXYZQUAT(placement))


def quaternion_of(R: Matrix) -> Vector:
    """A rotation matrix (3, 3) as a point of SO(3): quaternion xyzw."""
    return np.array(pin.Quaternion(R).normalized().coeffs())


def _real(came: Any, what: str, expected: str) -> Vector:
    """The finite numbers of what came: one number alone is neither a placement nor a rotation."""
    numbers = matrix_of(came)
    shape = shape_of(numbers)
    if shape is None and isinstance(came, tuple | list) and len(came) == 2:  # pyright: ignore[reportUnknownArgumentType]
        raise WrongObjectError(what, expected, "a pair (for translation and rotation: rigid_transform(*pair))")
    if shape == ():
        raise WrongObjectError(what, expected, came)
    return real_numbers(numbers, what, expected, finite=True)


def _unit_quaternion(quaternion: Vector, what: str) -> Vector:
    norm = float(np.sqrt(quaternion @ quaternion))
    if abs(norm - 1.0) > TYPED:
        raise NotNormalizedError(what, "quaternion xyzw", norm)
    return quaternion / norm


def _rotation_matrix(R: Matrix, what: str) -> Matrix:
    """A matrix that is one of rotation, to 1e-6."""
    worst, turns = _orthogonality(R)
    if worst > 1e-6:
        raise NotNormalizedError(
            what, "rotation matrix", 1.0 + worst, f"R must satisfy R R^T = 1, but is off by {worst:.3g}"
        )
    if not turns:
        raise NotNormalizedError(what, "rotation matrix", 1.0, "must not be a reflection: its determinant is -1")
    if worst > 1e-12:  # as of single precision: the nearest rotation
        return np.asarray(pin.Quaternion(np.ascontiguousarray(R)).normalized().matrix())
    return np.ascontiguousarray(R)


def _orthogonality(R: Matrix) -> tuple[float, bool]:
    """Largest entry of R R^T - 1, and whether the determinant is positive; in a tenth of numpy's time."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    lengths = abs(a * a + b * b + c * c - 1.0), abs(d * d + e * e + f * f - 1.0), abs(g * g + h * h + i * i - 1.0)
    products = abs(a * d + b * e + c * f), abs(a * g + b * h + c * i), abs(d * g + e * h + f * i)
    return max(*lengths, *products), a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) > 0.0


def way_from(count: int) -> str:
    """What to write for so many numbers, which may mean several things; empty where nothing is known."""
    ways = {
        3: "three numbers may be a translation, rigid_transform([x, y, z]), angles, rigid_transform(rpy=[r, p, y]), "
        "or a rotation vector, scipy's Rotation.from_rotvec",
        6: "six numbers may be rigid_transform([x, y, z], rpy=[r, p, y])",
    }
    return ways.get(count, "")


def _hint(array: Vector) -> str:
    """What to write for an array of another shape."""
    if array.ndim == 3 and array.shape[1:] in ((3, 3), (4, 4)):
        return "give one of them"
    return way_from(array.size) if array.ndim == 1 else ""


LONG_TURN = 2.8
"""Angle [rad] up to which pinocchio's logarithm of a matrix is exact to 7e-15."""


def rotation_log(R: Matrix, jacobian: Matrix | None = None) -> Vector:
    r"""Rotation vector :math:`\log R` (3,) [rad] of a rotation matrix, to 1e-14 up to half a turn.

    Pinocchio's own loses up to 6e-11 between 2.8 and 3.14 rad, enough to disturb differences of it; there the
    quaternion is asked.

    Args:
        R: rotation matrix (3, 3).
        jacobian: receives the derivative (3, 3) by the body rotation, where one is given.
    """
    r: Vector = pin.log3(R)
    square = dot(r, r)
    if square >= LONG_TURN**2:
        r = pin.log3(pin.Quaternion(R))
    if jacobian is not None:
        jacobian[...] = pin.Jlog3(R) if _is_exact(square) else SO3.maps.log_jacobian(r)
    return r


def pose_log(M: Any, jacobian: Matrix | None = None) -> Vector:
    r"""Logarithm :math:`\log_6 M` (6,) [m, rad] of a `pinocchio.SE3`: to 1e-13 below 2.8 rad.

    Args:
        M: the pose.
        jacobian: receives the derivative (6, 6) by the body twist, where one is given.
    """
    log: Vector = pin.log6(M).vector
    if jacobian is not None:
        jacobian[...] = pin.Jlog6(M) if _is_exact(dot(log[3:], log[3:])) else SE3.maps.log_jacobian(log)
    return log


def pose_log_second(M: Any, twist: Vector, acceleration: Vector) -> Vector:
    r"""Second time derivative of :math:`\log_6 M` (6,): linear, then angular.

    Args:
        M: the pose, its rotation short of half a turn.
        twist, acceleration: its body twist (6,) and the derivative of that.
    """
    return se3_log_second(pose_log(M), twist, acceleration)


def _is_exact(square: float) -> bool:
    """Whether Pinocchio's Jlog3 and Jlog6 are, by the square of the angle: up to 2e-7 is lost from 1e-4 to 3e-3 rad."""
    return not 1e-8 < square < 1e-4 and square < LONG_TURN**2


def unit_axis(axis: ArrayLike, what: str) -> Vector:
    """A unit vector (3,), read-only; one that is unit to rounding keeps its bits.

    Args:
        axis: three numbers, or the name of an axis of the frame: "x", "y", "z", "-x", "-y", "-z".
        what: how an error message names it.

    Raises:
        UnknownNameError: text that names no axis.
        SizeError, DtypeError, NotFiniteError: not three numbers.
        NotNormalizedError: its norm is further than 1e-6 from 1.
    """
    if isinstance(axis, str):
        if axis.lower() not in _AXES:
            raise UnknownNameError("axis", axis, tuple(_AXES), f"{what}: no axis is named {axis!r}")
        axis = _AXES[axis.lower()]
    direction = finite_vector(axis, 3, what, "or 'x', 'y', 'z', '-x', '-y', '-z'")
    norm = float(np.sqrt(direction @ direction))
    if abs(norm - 1.0) > 1e-6:
        raise NotNormalizedError(what, "unit axis", norm)
    return read_only(direction / norm if abs(norm - 1.0) > ROUNDING_OF_A_UNIT_VECTOR else np.array(direction))
