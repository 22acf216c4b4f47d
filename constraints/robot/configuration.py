"""Making configurations of a robot: from one value a joint, or at random; and reading them, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from liegroups import SE2, SE3, SO2, SO3, Rn, Space

from ..arrays import BoolVector, Vector
from ..errors import DtypeError, NotFiniteError, NotNormalizedError, SizeError, WrongObjectError
from .bounds import Bounds
from .coordinates import Leaf, leaves, vector_size
from .frame import as_placement
from .pinocchio import pin

__all__ = ["joint_value", "random_configuration", "table"]

UNIT = 1e-6
"""A vector whose norm differs from 1 by less is normalised, any other is refused."""


def joint_value(group: Space, value: object, what: str) -> Vector:
    """Turn what a user gives for one joint into the entries of q.

    Args:
        group: the group of the joint.
        value: the entries of q themselves, or
            one number for a scalar joint, or the angle [rad] of a (cos, sin) joint;
            three numbers (x, y, angle) for a planar joint [m, rad];
            a rotation matrix, a `pinocchio.Quaternion` or a quaternion xyzw for a spherical joint;
            a `pinocchio.SE3`, a 4 x 4 matrix, or translation [m] and quaternion xyzw for a free-flyer.
        what: how an error message names it.

    Returns:
        (group.nq,) entries of q, unit vectors normalised.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with the value.
    """
    if isinstance(value, pin.SE3):
        if not isinstance(group, SE3):
            raise WrongObjectError(what, _expected(group), value)
        return np.array(pin.SE3ToXYZQUAT(value))
    if isinstance(value, pin.Quaternion):
        value = np.array(value.coeffs())
    array = _numbers(value, group, what)
    if isinstance(group, SO2) and array.size == 1:
        angle = array.item()
        return np.array([math.cos(angle), math.sin(angle)])
    if isinstance(group, SE2) and array.shape == (3,):
        x, y, angle = array.tolist()
        return np.array([x, y, math.cos(angle), math.sin(angle)])
    if isinstance(group, SO3) and array.shape == (3, 3):
        homogeneous = np.eye(4)
        homogeneous[:3, :3] = array
        return np.array(pin.SE3ToXYZQUAT(as_placement(homogeneous, what))[3:])
    if isinstance(group, SE3) and array.shape == (4, 4):
        return np.array(pin.SE3ToXYZQUAT(as_placement(array, what)))
    if array.ndim > 1 or array.size != group.nq:
        raise SizeError(what, _expected(group), array.shape if array.ndim else 1)
    q = array.reshape(group.nq).astype(np.float64)
    for leaf in leaves(group):
        unit = q[leaf.q][vector_size(leaf.group) :]
        norm = math.sqrt(float(unit @ unit))
        if unit.size and abs(norm - 1.0) > UNIT:
            raise NotNormalizedError(what, "quaternion xyzw" if unit.size == 4 else "(cos, sin)", norm)
        if unit.size:
            unit /= norm
    return q


def _numbers(value: object, group: Space, what: str) -> Vector:
    """The value as finite real numbers."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise WrongObjectError(what, _expected(group), value) from None
    if array.dtype.kind not in "iuf":
        raise DtypeError(what, f"{value!r}" if array.dtype.kind in "OUS" else array.dtype)
    if not np.isfinite(array).all():
        raise NotFiniteError(what, np.flatnonzero(~np.isfinite(array)).tolist())
    return array.astype(np.float64)


def _expected(group: Space) -> str:
    """What a joint of this group takes, in words."""
    if isinstance(group, Rn):
        return "one number" if group.nq == 1 else f"{group.nq} numbers"
    words = {
        SO2: "an angle or 2 numbers (cos, sin)",
        SE2: "3 numbers (x, y, angle) or 4 (x, y, cos, sin)",
        SO3: "4 numbers (quaternion xyzw), a 3 x 3 matrix or a pinocchio.Quaternion",
        SE3: "7 numbers (translation, quaternion xyzw), a 4 x 4 matrix or a pinocchio.SE3",
    }
    return words.get(type(group), f"{group.nq} numbers")


def random_configuration(bounds: Bounds, revolute: BoolVector, rng: np.random.Generator, shape: tuple[int, ...]) -> Vector:
    r"""Draw configurations, each entry on its own.

    Numbers are uniform in their bounds: angles of revolute joints in what the bounds leave of :math:`[-\pi, \pi]`,
    others in :math:`[-1, 1]` m where they have no bounds. (cos, sin) is a uniform angle, quaternions are uniform on
    the rotations (Haar).

    Args:
        bounds: bounds, and the space.
        revolute: (nv,) tangent columns that are the angle of a revolute joint.
        rng: where the numbers come from.
        shape: leading axes.

    Returns:
        (\*shape, nq) configurations.
    """
    q = np.empty((*shape, bounds.space.nq))
    for leaf in leaves(bounds.space):
        n = vector_size(leaf.group)
        for i in range(n):
            angle = isinstance(leaf.group, Rn) and bool(revolute[leaf.v.start + i])
            entry = leaf.q.start + i
            low, high = _window(float(bounds.lower[entry]), float(bounds.upper[entry]), angle)
            q[..., entry] = rng.uniform(low, high, shape)
        unit = q[..., leaf.q.start + n : leaf.q.stop]
        if unit.shape[-1] == 2:
            angles = rng.uniform(-np.pi, np.pi, shape)
            unit[..., 0], unit[..., 1] = np.cos(angles), np.sin(angles)
        elif unit.shape[-1] == 4:
            normal = rng.standard_normal((*shape, 4))
            unit[...] = normal / np.sqrt((normal * normal).sum(axis=-1, keepdims=True))
    return q


def _window(low: float, high: float, angle: bool) -> tuple[float, float]:
    """Finite interval inside [low, high] from which a coordinate is drawn."""
    reach = math.pi if angle else 1.0
    if angle and low <= reach and high >= -reach:
        return max(low, -reach), min(high, reach)
    if math.isinf(low):
        low = min(-reach, high - 2 * reach)
    if math.isinf(high):
        high = max(reach, low + 2 * reach)
    return low, high


def table(q: Vector, bounds: Bounds, kinds: Sequence[str], revolute: BoolVector) -> str:
    """Write a configuration as a table, a joint a line.

    Args:
        q: configuration (nq,).
        bounds: bounds, and the space.
        kinds: the type of each joint, in the order of the factors.
        revolute: (nv,) tangent columns that are the angle of a revolute joint.
    """
    outside = {violation.index: violation for violation in bounds.violations(q)}
    rows: list[tuple[str, str, str, str]] = []
    for factor, kind in zip(bounds.space.factors, kinds, strict=True):
        written: list[str] = []
        marks: list[str] = []
        for leaf in leaves(factor.space):
            start = factor.q.start + leaf.q.start
            written.append(_write(leaf, q[start : start + leaf.group.nq], revolute[factor.v]))
            for i in range(start, start + leaf.group.nq):
                if i in outside:
                    sign, bound = ("<", bounds.lower[i]) if outside[i].amount < 0 else (">", bounds.upper[i])
                    marks.append(f"{q[i]:.6g} {sign} {bound:.6g}")
        rows.append((factor.name, kind, "; ".join(written), f"  OUT OF BOUNDS: {', '.join(marks)}" if marks else ""))
    wide = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = [f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:<{wide[2]}}{d}".rstrip() for a, b, c, d in rows]
    return "\n".join(lines) if lines else "(no joints)"


def _write(leaf: Leaf, q: Vector, revolute: BoolVector) -> str:
    """Entries of one leaf with their unit; an angle in degrees too."""
    numbers = [f"{x: .4f}" for x in q.tolist()]
    if isinstance(leaf.group, Rn):
        angles = revolute[leaf.v]
        return ", ".join(
            f"{text} rad ({math.degrees(x): .1f} deg)" if angle else f"{text} m"
            for text, x, angle in zip(numbers, q.tolist(), angles, strict=True)
        )
    if isinstance(leaf.group, SO2):
        return f"{', '.join(numbers)} (cos, sin: {math.degrees(math.atan2(q[1], q[0])): .1f} deg)"
    if isinstance(leaf.group, SE2):
        return f"{', '.join(numbers[:2])} m, {', '.join(numbers[2:])} (cos, sin: {math.degrees(math.atan2(q[3], q[2])): .1f} deg)"
    if isinstance(leaf.group, SE3):
        return f"{', '.join(numbers[:3])} m, {', '.join(numbers[3:])} (quaternion xyzw)"
    return f"{', '.join(numbers)} (quaternion xyzw)"
