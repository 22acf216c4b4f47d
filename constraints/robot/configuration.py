"""Making configurations of a robot: from one value a joint, or at random; and reading them, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from liegroups import SE2, SE3, SO2, SO3, Factor, Space

from ..arrays import BoolVector, Vector
from ..errors import DtypeError, NotFiniteError, NotNormalizedError, SizeError, WrongObjectError
from .bounds import Bounds
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
        if group != SE3:
            raise WrongObjectError(what, _expected(group), value)
        return np.array(pin.SE3ToXYZQUAT(value))
    if isinstance(value, pin.Quaternion):
        value = np.array(value.coeffs())
    array = _numbers(value, group, what)
    if group == SO2 and array.size == 1:
        angle = array.item()
        return np.array([math.cos(angle), math.sin(angle)])
    if group == SE2 and array.shape == (3,):
        x, y, angle = array.tolist()
        return np.array([x, y, math.cos(angle), math.sin(angle)])
    if group == SO3 and array.shape == (3, 3):
        homogeneous = np.eye(4)
        homogeneous[:3, :3] = array
        return np.array(pin.SE3ToXYZQUAT(as_placement(homogeneous, what))[3:])
    if group == SE3 and array.shape == (4, 4):
        return np.array(pin.SE3ToXYZQUAT(as_placement(array, what)))
    if array.ndim > 1 or array.size != group.nq:
        raise SizeError(what, _expected(group), array.shape if array.ndim else 1)
    q = array.reshape(group.nq).astype(np.float64)
    for block in group.unit_blocks:
        unit = q[block]
        norm = math.sqrt(float(unit @ unit))
        if abs(norm - 1.0) > UNIT:
            raise NotNormalizedError(what, "quaternion xyzw" if unit.size == 4 else "(cos, sin)", norm)
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
    if group.is_flat:
        return "one number" if group.nq == 1 else f"{group.nq} numbers"
    words = {
        SO2: "an angle or 2 numbers (cos, sin)",
        SE2: "3 numbers (x, y, angle) or 4 (x, y, cos, sin)",
        SO3: "4 numbers (quaternion xyzw), a 3 x 3 matrix or a pinocchio.Quaternion",
        SE3: "7 numbers (translation, quaternion xyzw), a 4 x 4 matrix or a pinocchio.SE3",
    }
    return words.get(group, f"{group.nq} numbers")


def random_configuration(bounds: Bounds, angular: BoolVector, rng: np.random.Generator, size: int | None) -> Vector:
    r"""Draw configurations, each entry on its own.

    Plain numbers are uniform in their bounds: angles in what the bounds leave of :math:`[-\pi, \pi]`, others in
    :math:`[-1, 1]` m where they have none. (cos, sin) is a uniform angle, quaternions are uniform on the rotations (Haar).

    Args:
        bounds: bounds, and the space.
        angular: (nv,) tangent columns that are an angle stored as one number.
        rng: where the numbers come from.
        size: how many; one without leading axis if None.

    Returns:
        (nq,) or (size, nq).
    """
    space = bounds.space
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    for i in space.vector_q[angular[space.vector_v]]:
        if lower[i] <= math.pi and upper[i] >= -math.pi:
            lower[i], upper[i] = max(lower[i], -math.pi), min(upper[i], math.pi)
    return space.random(rng, lower, upper, size)


def table(q: Vector, bounds: Bounds, kinds: Sequence[str], angular: BoolVector) -> str:
    """Write a configuration as a table, a joint a line.

    Args:
        q: configuration (nq,).
        bounds: bounds, and the space.
        kinds: the type of each joint, in the order of the factors.
        angular: (nv,) tangent columns that are an angle stored as one number.
    """
    if not kinds:
        return "(no joints)"
    outside = {violation.index: violation for violation in bounds.violations(q)}
    rows: list[tuple[str, str, str, str]] = []
    for factor, kind in zip(bounds.space.factors, kinds, strict=True):
        written: list[str] = []
        marks: list[str] = []
        for leaf in factor.space.leaves():
            start = factor.q.start + leaf.q.start
            written.append(_write(leaf, q[start : start + leaf.space.nq], angular[factor.v]))
            for i in range(start, start + leaf.space.nq):
                if i in outside:
                    sign, bound = ("<", bounds.lower[i]) if outside[i].amount < 0 else (">", bounds.upper[i])
                    marks.append(f"{q[i]:.6g} {sign} {bound:.6g}")
        rows.append((factor.name, kind, "; ".join(written), f"  OUT OF BOUNDS: {', '.join(marks)}" if marks else ""))
    wide = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:<{wide[2]}}{d}".rstrip() for a, b, c, d in rows]
    return "\n".join(lines)


def _write(leaf: Factor, q: Vector, angular: BoolVector) -> str:
    """Entries of one leaf with their unit; an angle in degrees too."""
    numbers = [f"{x: .4f}" for x in q.tolist()]
    if leaf.space.is_flat:
        angles = angular[leaf.v]
        return ", ".join(
            f"{text} rad ({math.degrees(x): .1f} deg)" if angle else f"{text} m"
            for text, x, angle in zip(numbers, q.tolist(), angles, strict=True)
        )
    if leaf.space == SO2:
        return f"{', '.join(numbers)} (cos, sin: {math.degrees(math.atan2(q[1], q[0])): .1f} deg)"
    if leaf.space == SE2:
        return f"{', '.join(numbers[:2])} m, {', '.join(numbers[2:])} (cos, sin: {math.degrees(math.atan2(q[3], q[2])): .1f} deg)"
    if leaf.space == SE3:
        return f"{', '.join(numbers[:3])} m, {', '.join(numbers[3:])} (quaternion xyzw)"
    return f"{', '.join(numbers)} (quaternion xyzw)"
