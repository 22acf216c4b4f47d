r"""The laws that any space must keep, run on random and on nearly equal points.

>>> from constraints.testing import check_space
>>> from liegroups import SE3, Rn
>>> check_space(SE3 * Rn(2), samples=3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroups import SE3, SO3, ConstraintError, ProductSpace, Rn, Space
from liegroups.arrays import Vector
from liegroups.frozen import read_only
from liegroups.space import as_space
from liegroups.unit_blocks import plain_entries

from ..linear_algebra import largest
from .failure import CheckFailed, copies_of, require, within


@dataclass(frozen=True)
class _Sample:
    """Three points and a tangent vector: v is well inside the injectivity radius, and p is q (+) v."""

    q: Vector
    p: Vector
    r: Vector
    v: Vector


def check_space(
    space: Space, rng_seed: int = 0, samples: int = 20, twins: float = 1e-12, *, pickles: bool = True
) -> None:
    """Check every law of `Space` on random points, and say which one fails, where, by how much, and what to fix.

    Points are drawn with ``space.random``; each comes with a tangent vector of ordinary size, or with one of size 1e-7,
    because many formulas fail only near zero. The laws: group axioms, integration against difference, adjoint,
    Jacobians against central differences along the space (value and slope), brackets and second derivatives of the
    logarithm, the in-place error, each map for one vector and over leading axes, products, interpolation, random
    points in bounds, checks of user input, and copies.

    Args:
        space: any space, your own included.
        rng_seed: seed of the points.
        samples: number of points.
        twins: largest relative difference between a row of a batch and the same map on one vector.
        pickles: False for a group with lambdas, which cannot be pickled.

    Raises:
        CheckFailed: a law does not hold.
        WrongObjectError: not a space, or a class instead of an object.
    """
    as_space(space, "space to be checked")
    _check_structure(space)
    try:
        _check_maps(space, rng_seed, samples, twins)
    except ValueError as error:  # the points are read-only
        if "read-only" not in str(error):
            raise
        raise CheckFailed(
            "maps do not change their arguments", {"error": error}, None, 0.0, "write to new arrays"
        ) from error
    _check_copies(space, pickles)


def _check_maps(space: Space, rng_seed: int, samples: int, twins: float) -> None:
    rng = np.random.default_rng(rng_seed)
    drawn = list(_samples(space, rng, samples))
    for index, sample in enumerate(drawn):
        _check_group(space, sample)
        _check_moves(space, sample)
        _check_error(space, sample, rng)
        _check_opposites(space, sample)
        _check_parts(space, sample)
        if index < 10:
            _check_jacobians(space, sample)
            _check_second_order(space, sample, rng)
    _check_twins(space, drawn, twins)
    _check_random(space, rng)
    _check_door(space, rng)


def _samples(space: Space, rng: np.random.Generator, count: int) -> Iterator[_Sample]:
    for index in range(count):
        q, far, r = space.random(rng, size=3)
        v = 0.9 * space.difference(q, far)
        if index % 3 == 1:
            v = v * (1e-7 / max(1e-3, largest(v)))
        if index == 2:
            v = np.zeros(space.nv)
        p = space.integrate(q, v)
        inside = np.isfinite(np.concatenate((q, p, r, v))).all() and _apart(space, q, space.exp(space.log(q))) < 0.1
        mend = "the numbers of a group outside unit blocks are free: store a scale as its logarithm, or maps.difference"
        require("random points are points of the group, and are reached by exp", bool(inside), mend, q=q, v=v, p=p)
        plain = plain_entries(space.nq, space.unit_blocks)
        bound = largest((space.exp(space.log(q)) - q)[plain]) / (1.0 + largest(q))
        words = "random points are those that exp reaches, number by number"
        require(words, bound < 0.1, "unit_blocks of the Layout, where numbers of a point depend on each other", q=q)
        for array in (q, p, r, v):
            read_only(array)  # a map that writes to its arguments fails here
        yield _Sample(q, p, r, v)


def _apart(space: Space, a: Vector, b: Vector) -> float:
    return largest(space.difference(a, b)) / (1.0 + largest(a))


# --- the laws --------------------------------------------------------------------------------------------------------


def _check_structure(space: Space) -> None:
    q = v = 0
    for factor in space.factors:
        fits = (factor.q.start, factor.v.start) == (q, v)
        q, v = q + factor.space.nq, v + factor.space.nv
        fits = fits and (factor.q.stop, factor.v.stop) == (q, v)
        require("factors follow each other without gaps", fits, "slices of the factors", factor=factor)
    require("factors fill the space", (q, v) == (space.nq, space.nv), "nq, nv or the factors", sizes=(q, v))
    require("neutral has nq entries", space.neutral.shape == (space.nq,), "the Layout", neutral=space.neutral)
    require("unit blocks of neutral have norm 1", space.is_normalized(space.neutral, 1e-14), "the Layout")
    same = space.vector_q.shape == space.vector_v.shape
    require("vector_q and vector_v go together", same, "the Layout", q=space.vector_q, v=space.vector_v)
    for array in (space.neutral, space.vector_q, space.vector_v):
        require("shared arrays are read-only", not array.flags.writeable, "the Layout, or how the space unpickles")
    within("log(neutral) = 0", largest(space.log(space.neutral)), 1e-14, "neutral of the Layout, or maps.difference")


def _check_copies(space: Space, pickles: bool) -> None:
    for how, twin in copies_of(space, "space", space.name, pickles).items():
        same = twin == space and hash(twin) == hash(space) and twin.name == space.name
        require(f"{how} is the same space", same, "__reduce__, or attributes that do not pickle", copy=twin)
        frozen = not (twin.neutral.flags.writeable or twin.vector_q.flags.writeable)
        require(f"arrays of {how} are read-only", frozen, "call super().__init__ with the Layout when rebuilding")


def _check_group(space: Space, s: _Sample) -> None:
    q, p, r, v = s.q, s.p, s.r, s.v
    compose, inverse, neutral = space.compose, space.inverse, space.neutral
    left, right = compose(compose(q, p), r), compose(q, compose(p, r))
    within("(q p) r = q (p r)", _apart(space, left, right), 1e-12, "maps.compose", q=q, p=p, r=r)
    within("q 1 = q", _apart(space, q, compose(q, neutral)), 1e-13, "maps.compose or neutral", q=q)
    within("1 q = q", _apart(space, q, compose(neutral, q)), 1e-13, "maps.compose or neutral", q=q)
    within("q^-1 q = 1", _apart(space, neutral, compose(inverse(q), q)), 1e-12, "maps.inverse or maps.compose", q=q)
    within("q q^-1 = 1", _apart(space, neutral, compose(q, inverse(q))), 1e-12, "maps.inverse or maps.compose", q=q)
    within("exp(log q) = q", _apart(space, q, space.exp(space.log(q))), 1e-11, "maps.integrate, maps.difference", q=q)
    moved = compose(q, space.exp(v))
    within("q (+) v = q exp(v)", _apart(space, moved, p), 1e-12, "maps.integrate or maps.compose", q=q, v=v)
    d = space.log(compose(inverse(q), p))
    d -= space.difference(q, p)
    within("p (-) q = log(q^-1 p)", largest(d), 1e-11, "maps.difference or maps.inverse", q=q, p=p)
    left, right = p, compose(space.exp(space.adjoint(q) @ v), q)
    within("q exp(v) = exp(Ad_q v) q", _apart(space, left, right), 1e-11, "maps.adjoint", q=q, v=v)


def _check_moves(space: Space, s: _Sample) -> None:
    q, p, r, v = s.q, s.p, s.r, s.v
    back = space.difference(q, p)
    allowed = 1e-11 * (1.0 + largest(v))
    within("(q (+) v) (-) q = v", largest(back - v), allowed, "maps.integrate, maps.difference", q=q, v=v)
    arrived = space.integrate(q, space.difference(q, r))
    within("q (+) (r (-) q) = r", _apart(space, r, arrived), 1e-11, "maps.integrate, maps.difference", q=q, r=r)
    for name, point in (("q (+) v", p), ("q r", space.compose(q, r)), ("q^-1", space.inverse(q))):
        normal = space.is_normalized(point, 1e-14)
        require(f"unit blocks of {name} have norm 1", normal, "normalise the result", q=q, v=v, result=point)
    for name, array in (("maps.integrate", p), ("maps.difference", back), ("maps.inverse", space.inverse(q))):
        fresh = not np.shares_memory(array, q) and array.dtype == np.float64
        require("results are new arrays of doubles", fresh, f"{name} returns its argument", q=q)
    for t, end in ((0.0, q), (1.0, r)):
        between = space.interpolate(q, r, t)
        within(f"interpolate(q, r, {t}) is an end", _apart(space, end, between), 1e-11, "maps.difference", q=q, r=r)
    half = space.interpolate(q, p, np.array([0.5, 1.0]))
    law = "interpolate(q, q (+) v, 1/2) = q (+) v/2"
    within(law, _apart(space, space.integrate(q, 0.5 * v), half[0]), 1e-11, "maps.difference, batch_maps", q=q, v=v)


_JACOBIANS = {
    "integrate_dq": ("q (+) v by q", "maps.adjoint: integrate_dq is the adjoint of exp(-v)"),
    "integrate_dv": ("q (+) v by v", "maps.exp_jacobian"),
    "difference_dq0": ("p (-) q by q", "maps.log_jacobian: difference_dq0 is -log_jacobian(-d)"),
    "difference_dq1": ("p (-) q by p", "maps.log_jacobian"),
}
"""Of what each map is the derivative, and what to mend."""


def _check_jacobians(space: Space, s: _Sample) -> None:
    q, p, v = s.q, s.p, s.v
    zero, plus, minus = np.zeros(space.nv), space.integrate, space.difference
    moves: dict[str, Callable[[Vector], Vector]] = {
        "integrate_dq": lambda e: minus(p, plus(plus(q, e), v)),
        "integrate_dv": lambda e: minus(p, plus(q, v + e)),
        "difference_dq0": lambda e: minus(plus(q, e), p),
        "difference_dq1": lambda e: minus(q, plus(p, e)),
    }
    for name, move in moves.items():
        of, mend = _JACOBIANS[name]
        law = f"{name} is the derivative of {of}"
        jacobian = getattr(space, name)(q, p if name.startswith("difference") else v)
        require(law, jacobian.shape == (space.nv, space.nv), f"{mend}: shape", shape=jacobian.shape)
        errors = {
            h: largest(_central(move, zero, h) - jacobian) / (1.0 + largest(jacobian)) for h in (4e-2, 4e-3, 1e-5)
        }
        within(law, errors[1e-5], 1e-7, mend, q=q, v=v)
        # An error of a central difference falls like h^2, a wrong Jacobian stays wrong: a factor 100 a decade.
        slope = max(errors[4e-3] - 1e-11, 0.0) / max(errors[4e-2], 1e-300)
        within(f"{law}, by slope", slope, 0.05, mend, q=q, v=v, errors=errors)
    both = space.log_jacobian(v) @ space.exp_jacobian(v)
    within("log_jacobian(v) exp_jacobian(v) = 1", largest(both - np.eye(space.nv)), 1e-11, "maps.log_jacobian", v=v)


def _central(move: Callable[[Vector], Vector], zero: Vector, h: float) -> Vector:
    columns: list[Vector] = []
    for i in range(zero.size):
        step = zero.copy()
        step[i] = h
        columns.append((move(step) - move(-step)) / (2.0 * h))
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _check_second_order(space: Space, s: _Sample, rng: np.random.Generator) -> None:
    x, y, z = rng.standard_normal((3, space.nv))
    xy, yz, zx = space.bracket(x, y), space.bracket(y, z), space.bracket(z, x)
    size = 1.0 + largest(xy)
    zero = np.zeros(1)
    slope = _central(lambda h: space.adjoint(space.exp(h[0] * x)) @ y, zero, 1e-5)[:, 0]
    within("[x, y] is the derivative of Ad_exp(s x) y", largest(xy - slope) / size, 1e-8, "maps.bracket", x=x, y=y)
    within("[x, y] = -[y, x]", largest(xy + space.bracket(y, x)) / size, 1e-10, "maps.bracket", x=x, y=y)
    cycle = space.bracket(x, yz) + space.bracket(y, zx) + space.bracket(z, xy)
    within("[x, [y, z]] + [y, [z, x]] + [z, [x, y]] = 0", largest(cycle), 1e-9, "maps.bracket", x=x, y=y, z=z)
    J = space.log_jacobian(s.v)
    second = space.log_second_derivative(s.v, x, y)
    turning = _central(lambda h: space.log_jacobian(s.v + h[0] * (J @ x)) @ x, zero, 1e-5)[:, 0]
    amount = largest(second - J @ y - turning) / (1.0 + largest(second))
    law = "log_second_derivative = J_log a + (d/dt J_log) v"
    within(law, amount, 1e-7, "maps.log_second or maps.log_jacobian", r=s.v, velocity=x, acceleration=y)


def _check_error(space: Space, s: _Sample, rng: np.random.Generator) -> None:
    q, p = s.q, s.p
    wide = rng.standard_normal((space.nv, 7))
    e, jacobian = np.full(space.nv, np.nan), wide[:, 1:6]
    expected = space.difference_dq1(q, p) @ jacobian
    space.error(q, p, e)
    within("error writes p (-) q", largest(e - space.difference(q, p)), 0.0, "maps.difference", q=q, p=p)
    space.error(q, p, e, jacobian)
    mend = "maps.log_jacobian, or factors that do not fit it"
    within("error multiplies by difference_dq1 in place", largest(wide[:, 1:6] - expected), 1e-12, mend, q=q, p=p)


def _check_opposites(space: Space, s: _Sample) -> None:
    for leaf in space.leaves():
        if leaf.space not in (SO3, SE3):
            continue
        opposite = s.r.copy()
        opposite[leaf.q.stop - 4 : leaf.q.stop] *= -1.0
        law = "a quaternion and its opposite are one rotation"
        for name, a, b in (
            ("maps.difference", space.difference(s.q, opposite), space.difference(s.q, s.r)),
            ("maps.difference", space.difference(opposite, s.q), space.difference(s.r, s.q)),
            ("maps.adjoint", space.adjoint(opposite), space.adjoint(s.r)),
        ):
            within(law, largest(a - b) / (1.0 + largest(b)), 1e-12, name, q=s.q, r=s.r, factor=leaf.name)


def _check_parts(space: Space, s: _Sample) -> None:
    whole = ProductSpace((Rn(1), space, Rn(2)))
    q, v = np.r_[0.5, s.q, 1.0, 2.0], np.r_[0.1, s.v, 0.2, 0.3]
    expected = np.r_[0.6, s.p, 1.2, 2.3]
    mend = "the maps of the space behave differently inside a product"
    within("product = parts", largest(whole.integrate(q, v) - expected), 1e-14 * (1.0 + largest(q)), mend, q=s.q, v=s.v)
    d = np.r_[0.0, space.difference(s.q, s.r), 0.0, 0.0]
    moved = q.copy()
    moved[1:-2] = s.r
    within("product = parts", largest(whole.difference(q, moved) - d), 1e-14 * (1.0 + largest(d)), mend, q=s.q, r=s.r)


def _check_twins(space: Space, samples: list[_Sample], tolerance: float) -> None:
    q, p, v = (np.array([getattr(s, name) for s in samples]) for name in ("q", "p", "v"))
    of: tuple[tuple[tuple[Vector, ...], str], ...] = (
        ((q, v), "integrate integrate_dq integrate_dv"),
        ((q, p), "compose difference difference_dq0 difference_dq1"),
        ((q,), "inverse log adjoint"),
        ((v,), "exp exp_jacobian log_jacobian"),
    )
    for name, arguments in ((name, arguments) for arguments, names in of for name in names.split()):
        call = getattr(space, name)
        batch = call(*arguments)
        mend = f"batch_maps.{name.split('_d')[0]} and maps.{name.split('_d')[0]} must compute the same"
        for i in range(len(samples)):
            single = call(*(a[i] for a in arguments))
            amount = largest(batch[i] - single) / (1.0 + largest(single)) if batch[i].shape == single.shape else np.inf
            where = {f"argument {j}": a[i] for j, a in enumerate(arguments)}
            within(f"{name} of a batch = {name} of each row", amount, tolerance, mend, **where)
        if len(arguments) == 2:
            a, b = arguments
            grid = call(a[:, None], b[None, :2])
            law = f"{name} broadcasts leading axes"
            rows = len(samples), min(2, len(samples))
            require(law, grid.shape[:2] == rows, mend, shape=grid.shape)
            amount = largest(grid[:, 0] - call(a, b[0])) / (1.0 + largest(grid))
            within(law, amount, tolerance, mend, a=a, b=b[0])


def _check_random(space: Space, rng: np.random.Generator) -> None:
    lower, upper = np.full(space.nq, -0.5), np.full(space.nq, 3.0)
    lower[::3], upper[1::3] = -np.inf, np.inf
    plain = plain_entries(space.nq, space.unit_blocks)
    points = space.random(rng, lower, upper, size=50)
    require("random has one row per point", points.shape == (50, space.nq), "random", shape=points.shape)
    for q in points:
        require("random points are finite", bool(np.isfinite(q).all()), "unit_blocks", q=q)
        require("random points are normalised", space.is_normalized(q, 1e-14), "unit_blocks of the Layout", q=q)
        inside = bool(np.all((lower <= q) & (q <= upper) | ~plain))
        require("random points are within bounds", inside, "vector_q or unit_blocks", q=q, lower=lower, upper=upper)
    first, again = (space.random(np.random.default_rng(5)) for _ in range(2))
    require("random depends on the generator alone", bool(np.array_equal(first, again)), "use no other source", q=first)


def _check_door(space: Space, rng: np.random.Generator) -> None:
    q = space.random(rng)
    require("check accepts a point", bool(np.array_equal(space.check(q.tolist()), q)), "unit_blocks", q=q)
    bad: dict[str, Any] = {"a wrong size": np.ones(space.nq + 1)}
    if space.nq:
        bad |= {
            "NaN": np.full(space.nq, np.nan),
            "truth values": np.ones(space.nq, np.bool_),
            "words": ["a"] * space.nq,
        }
    if space.unit_blocks:
        bad["a wrong norm"] = 1.1 * q
        within(
            "normalize corrects a norm",
            largest(space.normalize(1.1 * q)[space.unit_blocks[0]]),
            1.0,
            "unit_blocks",
            q=q,
        )
    for what, value in bad.items():
        try:
            space.check(value)
        except ConstraintError:
            continue
        raise CheckFailed(f"check refuses {what}", {"q": value}, None, 0.0, "unit_blocks of the Layout")
