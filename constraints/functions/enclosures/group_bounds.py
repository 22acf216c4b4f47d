r"""Bounds of the maps of groups near the identity, by series in the adjoint.

With :math:`A \ge |\mathrm{ad}_d|` entry by entry for all :math:`|d| \le D`, a power series
:math:`\sum c_n \mathrm{ad}_d^n` is at most :math:`\sum |c_n| A^n` entry by entry. For rotations and poses:

.. math:: J_{\exp}(d) = \sum_n \frac{(-\mathrm{ad}_d)^n}{(n+1)!}, \qquad
    J_{\log}(d) = \sum_n \frac{B_n (-\mathrm{ad}_d)^n}{n!}, \qquad
    \mathrm{Ad}_{\exp d} = \sum_n \frac{\mathrm{ad}_d^n}{n!}

(Iserles et al., Lie-group methods, 2000). All bounds are of differences from the identity; those of vectors are zero.
"""

from __future__ import annotations

from functools import cache
from math import factorial, pi
from typing import Any

import numpy as np

from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.arrays import Indices, Matrix, Vector

from ...errors import NoEnclosureError, UndefinedError
from .interval import UNIT, applied, one_rounding, rounded_up

TERMS = 24
"""Of the series that are summed; what follows is bounded by the next one."""

LARGEST_AD = 3.0
"""Of the norm of an adjoint up to which the series of the logarithm is taken; it converges below 2 pi."""

HALF_TURN = 3.1415926535897936
"""Just above pi: no logarithm of a rotation is longer."""

OF_MAPS = 64.0 * UNIT
"""Rounding of products, inverses and adjoints of unit quaternions and poses, relative to 1 + lengths: a dozen
operations on numbers of at most this size, each within a unit in the last place, several times over."""


def _log_coefficients() -> list[float]:
    r""":math:`|B_n|/n!`, by :math:`2 \zeta(2k) / (2 \pi)^{2k}`, n >= 1; rounded up."""
    found = [0.5]
    for n in range(2, TERMS + 1):
        zeta = 1.0 + sum(j ** -float(n) for j in range(2, 60)) + 59.0 ** (1.0 - n) / (n - 1.0)
        found.append(0.0 if n % 2 else 2.0 * zeta / (2.0 * pi) ** n)
    return [c * (1.0 + 1e-9) for c in found]


_EXP = [1.0 / factorial(n + 1) for n in range(1, TERMS + 1)]
_EXP_REST = [0.0, *_EXP[1:]]
_AD = [1.0 / factorial(n) for n in range(1, TERMS + 1)]
_LOG = _log_coefficients()


@cache
def curved_blocks(space: Space) -> tuple[tuple[slice, str], ...]:
    """Tangent slices of the rotations and poses of a space, with what they are.

    Raises:
        NoEnclosureError: a group that the library does not know.
    """
    known = {SO2.atoms: "", SE2.atoms: "SE2", SO3.atoms: "SO3", SE3.atoms: "SE3"}
    found = list[tuple[slice, str]]()
    for leaf in space.leaves():
        if leaf.space.is_flat:
            continue
        if leaf.space.atoms not in known:
            raise NoEnclosureError(f"group {leaf.space.name}", "its maps have no bounds here")
        if known[leaf.space.atoms]:
            found.append((leaf.v, known[leaf.space.atoms]))
    return tuple(found)


@cache
def circle_columns(space: Space) -> Indices:
    """Tangent columns of the angles that are kept as cosine and sine."""
    return np.array([leaf.v.start for leaf in space.leaves() if leaf.space.atoms == SO2.atoms], dtype=np.intp)


def ad_bound(kind: str, D: Vector) -> Matrix:
    """Entry by entry at least the adjoint of each tangent vector within D.

    Args:
        kind: of the group, "SO3", "SE3" or "SE2".
        D: (..., nv), not negative.
    """
    if kind != "SE3":
        A = _crossing(D)
        if kind == "SE2":
            A[..., 2, :] = 0.0
        return A
    W = _crossing(D[..., 3:])
    out = np.zeros((*D.shape[:-1], 6, 6))
    out[..., :3, :3], out[..., :3, 3:], out[..., 3:, 3:] = W, _crossing(D[..., :3]), W
    return out


_BESIDE, _APART = np.array([[0, 2, 1], [2, 1, 0], [1, 0, 2]]), ~np.eye(3, dtype=np.bool_)
"""Which entry is at a place of the absolute values of a cross product, and where there is one."""


def _crossing(d: Vector) -> Matrix:
    return np.where(_APART, d[..., _BESIDE], 0.0)  # of infinite ones too


def _series(A: Matrix, coefficients: list[float]) -> Matrix:
    r"""The sum of :math:`|c_n| A^n`, n >= 1.

    Up to a norm s of 1/2 by two terms: the others are at most :math:`s^3 e^s / 6`, since :math:`|c_n| \le 1/n!` for
    all three series as long as that matters. Else by `TERMS`, and :math:`|c_n| \le 4 / (2 \pi)^n` from there on.
    """
    s = _norm(A)[..., None, None]
    if (s <= 0.5).all():
        return np.asarray(rounded_up(coefficients[0] * A + coefficients[1] * (A @ A) + 0.3 * s * s * s))
    total, power = np.zeros(A.shape), np.eye(A.shape[-1])
    for c in coefficients:
        power = power @ A
        total += c * power
    ratio = s / (2.0 * pi)
    return np.asarray(rounded_up(total + 4.0 * ratio ** (TERMS + 1) / (1.0 - ratio)))


def _norm(A: Matrix) -> Any:
    """The largest sum of a row."""
    return A.sum(axis=-1).max(axis=-1)


@cache
def structure(space: Space) -> Matrix:
    """C (nv, nv, nv) with [x, y]_i = sum of c_ilk x_l y_k; zero where the space is flat."""
    out = np.zeros((space.nv, space.nv, space.nv))
    for v, _ in curved_blocks(space):
        every = np.eye(space.nv)
        for i in range(v.start, v.stop):
            for k in range(v.start, v.stop):
                out[:, i, k] = space.bracket(every[i], every[k])
    return out


def _by_block(space: Space, D: Vector, coefficients: list[float]) -> Matrix:
    out = np.zeros((*D.shape[:-1], space.nv, space.nv))
    for v, kind in curved_blocks(space):
        moves: Any = D[..., v].any(axis=-1)
        if not moves.any():
            continue
        A = ad_bound(kind, D[..., v])
        size = _norm(A)
        if not (size <= LARGEST_AD).all():
            what = f"a rotation or pose of {space.name} that may turn, or move, too far: {float(size.max()):.3g}"
            raise UndefinedError(what, ~(size <= LARGEST_AD))
        out[..., v, v] = _series(A, coefficients) * moves[..., None, None]
    return out


def exp_jacobian_bound(space: Space, D: Vector) -> Matrix:
    r"""At least :math:`|J_{\exp}(d) - 1|` for all |d| <= D, (..., nv, nv).

    Raises:
        UndefinedError: a rotation or pose may be too far from the identity.
    """
    return _by_block(space, D, _EXP)


def exp_jacobian_rest(space: Space, D: Vector) -> Matrix:
    r"""At least :math:`|J_{\exp}(d) - 1 + \tfrac12 \mathrm{ad}_d|` for all |d| <= D. Raises as `exp_jacobian_bound`."""
    return _by_block(space, D, _EXP_REST)


def log_jacobian_bound(space: Space, D: Vector) -> Matrix:
    r"""At least :math:`|J_{\log}(d) - 1|` for all |d| <= D, (..., nv, nv). Raises as `exp_jacobian_bound`."""
    return _by_block(space, D, _LOG)


def adjoint_bound(space: Space, D: Vector) -> Matrix:
    r"""At least :math:`|\mathrm{Ad}_{\exp d} - 1|` for all |d| <= D, (..., nv, nv). Raises as `exp_jacobian_bound`."""
    return _by_block(space, D, _AD)


def walked(space: Space, way: Vector) -> Vector:
    r"""A bound (nv,) of the logarithm of where a motion from the identity leads.

    With body velocity :math:`|\nu(t)|` of integral at most `way`, :math:`\dot d = J_{\log}(d)\,\nu`. As long as
    :math:`|d| \le D`, it is at most :math:`(1 + E(D))\, way` with E the bound of the Jacobian of log; if that is
    below D, d never reaches the boundary of D.

    Args:
        space: a group.
        way: (..., nv), not negative.

    Returns:
        D; for a rotation alone, at most its angle. Infinite for poses that may be anywhere.
    """
    out = np.array(way)
    for v, kind in curved_blocks(space):
        out[..., v] = _walked(kind, way[..., v])
    return out


def _walked(kind: str, way: Vector) -> Vector:
    if not way.any():
        return way
    still = ~way.any(axis=-1, keepdims=True)
    longest = np.minimum(rounded_up(way.sum(axis=-1, keepdims=True)), HALF_TURN if kind == "SO3" else np.inf)
    out = np.where(still, way, np.broadcast_to(longest, way.shape) if kind == "SO3" else np.inf)
    most, left = way * (1.0 + 1e-6) + 1e-300, ~still
    for _ in range(20):
        A = ad_bound(kind, most)
        left = left & (_norm(A) <= LARGEST_AD)[..., None]
        if not left.any():
            break
        reached = rounded_up(way + applied(_series(A * left[..., None], _LOG), way))
        found = left & (reached < most).all(axis=-1, keepdims=True)
        # of a rotation: its angle is at most the way
        out = np.where(found, np.minimum(reached, longest) if kind == "SO3" else reached, out)
        left, most = left & ~found, reached * 1.02
    return out


def map_rounding(space: Space, *points: Vector) -> Vector:
    """Rounding (..., nv) of a product of points, or of an inverse: of vectors one sum; of others relative to lengths.

    Args:
        space: a group.
        points: what goes in, and last what comes out (..., space.nq).
    """
    out = np.zeros((*points[-1].shape[:-1], space.nv))
    out[..., space.vector_v] = one_rounding(points[-1][..., space.vector_q])
    for leaf in space.leaves():
        if not leaf.space.is_flat:
            size: Any = sum(np.abs(q[..., leaf.q]).max(axis=-1) for q in points if q.shape[-1] == space.nq)
            out[..., leaf.v] = OF_MAPS * (1.0 + size)[..., None]
    return out
