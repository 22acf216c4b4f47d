"""Enclosures of what functions share: differences, logarithms and compositions of points of groups."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

import numpy as np

from liegroups import Rn, Space
from liegroups.arrays import Indices, Matrix, Vector

from ...errors import UndefinedError
from .box import Bend, Enclosure, TangentBox
from .group_bounds import OF_MAPS, adjoint_bound, circle_columns, curved_blocks, map_rounding, structure, walked
from .interval import UNIT, Interval, applied, lengths, rounded_up

if TYPE_CHECKING:
    from ..function import Function

LARGEST_LOG = 5.0
"""Of the norm of the adjoint of a logarithm up to which its Jacobian is bounded; the series ends at 2 pi."""

NEARLY_HALF = pi - 1e-6
"""Of a turn: logarithms beyond it may be those of the other way round."""

OF_LOGS = 2.0**-40
"""Rounding of Jacobians of logarithms, relative to 1 + lengths. `tests/functions/test_enclosures.py` finds less than a
tenth of it up to 3 rad."""


def through(outer: Function, inner: Enclosure, box: TangentBox) -> Enclosure:
    r"""Of :math:`f(g(q))`: the outer function is enclosed around the value of the inner one.

    Args:
        outer: f.
        inner: of g.
        box: of q.
    """
    if not np.isfinite(inner.error).all():
        raise UndefinedError(f"the argument of {outer.name} may be anywhere", ~np.isfinite(inner.error).all(axis=-1))
    f = outer.enclosed(TangentBox(outer.inputs, inner.value, inner.error))
    way = rounded_up(f.rounding + applied(f.jacobian.magnitude, inner.rounding))
    return Enclosure.centred(outer.outputs, box, f.value, walked(outer.outputs, way), f.jacobian @ inner.jacobian)


def seen_from(group: Space, h: Enclosure, r: Enclosure, box: TangentBox) -> Enclosure:
    r"""Of :math:`g = r^{-1} h`, with :math:`J = J_h - \mathrm{Ad}_g^{-1} J_r`.

    .. math:: \mathrm{Ad}_g^{-1} = \mathrm{Ad}_{\exp d_h}^{-1}\, \mathrm{Ad}_{g_0}^{-1}\, \mathrm{Ad}_{\exp d_r}
    """
    value = np.asarray(group.compose(group.inverse(r.value), h.value))
    small = map_rounding(group, r.value, h.value, value)
    if group.is_flat:
        way = h.rounding + r.rounding + small
        return Enclosure.centred(group, box, value, np.where(way > 0.0, rounded_up(way), 0.0), h.jacobian - r.jacobian)
    A = np.asarray(group.adjoint(group.inverse(value)))

    def around(of_h: Vector, of_r: Vector) -> Matrix:
        """Radius of Ad_g^-1 where h and r are within these."""
        X, Y, size = adjoint_bound(group, of_h), adjoint_bound(group, of_r), np.abs(A) + small[..., None]
        left = size + X @ size
        return np.asarray(rounded_up(small[..., None] + X @ size + left @ Y))

    over = Interval.around(A, around(h.error, r.error))
    near = np.abs(A) + around(h.rounding, r.rounding)
    way = rounded_up(h.rounding + applied(near, r.rounding) + small)
    return Enclosure.centred(group, box, value, walked(group, way), h.jacobian - over @ r.jacobian)


def logarithm(group: Space, g: Enclosure, box: TangentBox, farthest: float = NEARLY_HALF) -> Enclosure:
    r"""Of :math:`\log g`, with :math:`J_{\log}(\log g)\, J_g`; a vector.

    With :math:`a \ge \|\mathrm{ad}_e\|_2` on the box, the Jacobian differs from that at the centre by at most
    :math:`\gamma'(a)\,\|\mathrm{ad}_{e - e_0}\|_2`, :math:`\gamma(a) = \tfrac a2 + 1 - \tfrac a2 \cot \tfrac a2`, the
    sum of the absolute values of the terms of its series. Vectors are their own logarithm. What it changes by with e is
    :math:`\tfrac12 \mathrm{ad}_{e'}` and at most :math:`(\gamma'(a) - \tfrac12)\,\|\mathrm{ad}_{e'}\|_2` more, with
    :math:`e' = J_{\log} J_g`. Motions of a plane, known to be so without rounding, have logarithms in the plane, and
    their turns are numbers. Angles on a circle are counted on, up to `farthest`: with more than half a turn the result
    is not the logarithm, but zero only where that is.

    Raises:
        UndefinedError: a rotation, or an angle on a circle, may be half a turn, or a pose too far away.
    """
    value = np.asarray(group.log(g.value))
    n, leading = group.nv, value.shape[:-1]
    middle, over, near = np.zeros((3, *leading, n, n))
    middle[...] = np.eye(n)
    rounding, rest = np.zeros((2, *leading, n))
    for v, kind in curved_blocks(group):
        own, wide, narrow, small, more = _log_jacobian(group, v, kind, value, g)
        middle[..., v, v], over[..., v, v], near[..., v, v] = own, wide[..., None, None], narrow[..., None, None]
        rounding[..., v], rest[..., v] = small[..., None], more[..., None]
    J, plain = Interval.around(middle, over), group.vector_v
    jacobian = (J @ g.jacobian).with_rows(plain, g.jacobian[..., plain, :])
    rounding[..., plain] = g.rounding[..., plain]
    circles = circle_columns(group)
    if circles.size:
        size = np.abs(value[..., circles])
        lost = ~(size + g.error[..., circles] < farthest).all(axis=-1)
        if lost.any():
            raise UndefinedError(f"the logarithm of an angle near half a turn, in {group.name}", lost)
        rounding[..., circles] = rounded_up(g.rounding[..., circles] + OF_MAPS * (1.0 + size))
    for across, turn in _planes(group, value, g):
        for rows in (turn, across):
            jacobian = jacobian.with_rows(rows, g.jacobian[..., rows, :])
        rounding[..., across] = 0.0

    def bend() -> Bend:
        outer = g.bend.through(J)
        straight = Interval.around(middle, near) @ g.bend.straight
        if not rest.any():
            return Bend(straight, outer.slopes)
        ad = (Interval.of(structure(group).reshape(n * n, n)) @ g.jacobian).reshaped(*leading, n, n, -1)
        turned, H = ad.turned() @ jacobian[..., None, :, :], outer.slopes
        sizes = _sizes(group, g.jacobian)[..., None], _sizes(group, jacobian)[..., None, :]
        far = rest[..., None, None] * sizes[0] * sizes[1]
        about = H.middle + 0.5 * turned.middle
        far = H.radius + 0.5 * turned.radius + far + 2.0 * UNIT * np.abs(about)
        return Bend(straight, Interval.around(about, rounded_up(far)))

    return Enclosure.centred(Rn(group.nv), box, value, rounding, jacobian, bend)


def _planes(group: Space, value: Vector, g: Enclosure) -> list[tuple[Indices, int]]:
    """Of each rotation or pose that moves in a plane of two axes: rows that are zero, and that of the turn."""
    still = (value == 0.0) & (g.rounding == 0.0) & ~(g.jacobian.magnitude > 0.0).any(axis=-1)
    still = still.reshape(-1, group.nv).all(axis=0)  # on all boxes
    found = list[tuple[Indices, int]]()
    for v, kind in curved_blocks(group):
        for k in range(3 if kind != "SE2" else 0):
            turns = v.stop - 3 + np.arange(3)
            across = np.r_[[v.start + k] if kind == "SE3" else [], np.delete(turns, k)].astype(np.intp)
            if still[across].all():
                found.append((across, int(turns[k])))
    return found


def _sizes(group: Space, columns: Interval) -> Matrix:
    """(..., nv, columns) in the rows of each rotation or pose: at least the norm of the adjoint of that part."""
    out, size = np.zeros(columns.shape), columns.magnitude
    for v, kind in curved_blocks(group):
        split = {"SO3": 0, "SE3": 3, "SE2": 2}[kind]
        parts = np.split(size[..., v, :], [split], axis=-2)
        out[..., v, :] = np.sum([np.sqrt((part * part).sum(axis=-2)) for part in parts], axis=0)[..., None, :]
    return out


def _log_jacobian(
    group: Space, v: slice, kind: str, value: Vector, g: Enclosure
) -> tuple[Matrix, Vector, Vector, Vector, Vector]:
    r"""Of one rotation or pose.

    Returns:
        Jacobian of its logarithm (..., n, n), and of each: its radius on the box, the same by rounding, rounding of
        the logarithm, and :math:`\gamma'(a) - 1/2` on the box.
    """
    e = value[..., v]
    turns = {"SO3": slice(0, 3), "SE3": slice(3, 6), "SE2": slice(2, 3)}[kind]
    center, length = _ad_norm(kind, e), 1.0 + np.abs(e).max(axis=-1)
    J, angle = np.asarray(group.log_jacobian(value))[..., v, v], lengths(e[..., turns])
    grows = 2.0 if kind == "SE3" else 1.5

    def bounds(way: Vector) -> tuple[Vector, Vector]:
        """Of what the logarithm changes by, as a norm, where g moves by this; and of its adjoint there."""
        step = rounded_up(lengths(way))
        a, moved, lost, settled = center, np.zeros(step.shape), *np.zeros((2, *step.shape), dtype=np.bool_)
        for _ in range(40):
            lost = lost | (a > LARGEST_LOG) | ~(angle + moved < NEARLY_HALF)
            reached = (1.0 + _gamma(np.minimum(a, LARGEST_LOG))) * step
            settled = lost | (reached <= moved)
            if settled.all():
                break
            moved = np.where(settled, moved, reached * 1.01)
            a = center + grows * moved
        lost = lost | ~settled
        if lost.any():
            what = "the logarithm of a rotation near half a turn, or of a pose too far away"
            raise UndefinedError(f"{what}, in {group.name}", lost)
        return moved, a

    moved, a = bounds(g.error[..., v])
    slope, off = _gamma_slope(a), bounds(g.rounding[..., v])[0]
    over, near = (rounded_up(slope * grows * by + OF_LOGS * length) for by in (moved, off))
    rounding = rounded_up(off + length * (OF_MAPS + 4.0 * OF_MAPS / np.maximum(pi - angle, 1e-6)))  # near half a turn
    return J, over, near, rounding, slope - 0.5


def _ad_norm(kind: str, e: Vector) -> Vector:
    """At least the 2-norm of the adjoint of a tangent vector; of SO3 it is the angle."""
    if kind == "SO3":
        return lengths(e) * (1.0 + 1e-12)
    if kind == "SE2":
        return (lengths(e[..., :2]) + np.abs(e[..., 2])) * (1.0 + 1e-12)
    return (lengths(e[..., :3]) + lengths(e[..., 3:])) * (1.0 + 1e-12)


def _gamma(a: Vector) -> Vector:
    return np.where(a == 0.0, 0.0, 0.5 * a + _bernoulli(a) * (1.0 + 1e-9) + 1e-15)


def _bernoulli(a: Vector) -> Vector:
    """1 - (a/2) cot(a/2): below 1e-2 its series, a^2 / 12 and less than a tenth of that more."""
    half = 0.5 * np.maximum(a, 1e-2)
    return np.where(a < 1e-2, a * a / 11.0, 1.0 - half / np.tan(half))


def _gamma_slope(a: Vector) -> Vector:
    """The derivative of gamma, which grows with a; below 1e-2 its series, 1/2 + a/6 and less than a tenth more."""
    half = 0.5 * np.maximum(a, 1e-2)
    beyond = (0.5 - 0.5 / np.tan(half) + 0.5 * half / np.sin(half) ** 2) * (1.0 + 1e-9) + 1e-12
    return np.where(a < 1e-2, 0.5 + a / 5.0, beyond)
