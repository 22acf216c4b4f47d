"""Bounds of how rows curve along straight ways: against differences, on random trees, and where they are reached."""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import Any, cast

import mpmath as mp
import numpy as np
import pinocchio as pin
import pytest
from robots import random_tree
from short_paths import cases, held, kept, unit, upright

from constraints import CenterOfMass, Pose
from constraints.certificates.paths import curves
from constraints.certificates.paths.leg import Way
from constraints.certificates.slopes import FARTHEST_TILT, SlopedRows
from constraints.functions.enclosures.group_bounds import curved_blocks
from constraints.functions.frames.levers import NormsAlong
from liegroups import R3xSO3

# Rows by v.


@cache
def more_cases() -> dict[str, Any]:
    robot, other = random_tree(7), random_tree(9)
    return {
        **{name: case[1] for name, case in cases().items()},
        "tree": kept(robot, [held(Pose, robot.frame_names[-1])], 1)[1],
        "tree, place and rotation": kept(other, [held(Pose, other.frame_names[-1], outputs=R3xSO3)], 2)[1],
        "tree, upright": kept(random_tree(5), [upright], 3)[1],
        "tree, centre of mass": kept(random_tree(6), [held(CenterOfMass)], 4)[1],
    }


NAMES = [
    *("pose", "place and rotation", "rotation", "upright", "slide", "feet", "foot on foot"),
    *("tree", "tree, place and rotation", "tree, upright", "tree, centre of mass"),
]


@pytest.mark.parametrize("name", NAMES)
def test_rows_curve_no_more_than_their_bounds(name: str) -> None:
    """Third derivatives by v, by differences, at all times of ways that leave the constraints by a little."""
    search, rng = more_cases()[name], np.random.default_rng(12)
    tubes, problem = search._tubes, search.problem
    space, columns, used, h = problem.space, problem.implicit_dofs.astype(float), np.zeros(2), 4e-3

    def third(m: np.ndarray, v: np.ndarray, d: np.ndarray, u: np.ndarray) -> np.ndarray:
        V = np.array([v + h * (i * d + j * u) for j in (-1, 1) for i in (-1, 0, 1)])
        E = tubes._samples.at(space.integrate(np.repeat(m[None], len(V), axis=0), V))[0]
        return (E[3] - 2.0 * E[4] + E[5] - E[0] + 2.0 * E[1] - E[2]) / (2.0 * h**3)

    for q in search.piece.samples:
        for _ in range(12):
            d = unit(rng, columns)
            if not d.any():
                continue
            d = d if rng.random() < 0.5 else problem.project_tangent(q, d)
            d *= 0.06 * rng.uniform(0.1, 1.0) / np.linalg.norm(d)
            ends = space.integrate(np.array([q, q]), np.array([-d, d]))
            way = Way.between(space, ends[:1], ends[1:], problem.frozen, np.zeros(1))
            begun = tubes.begun(way, problem.frozen[None])
            size = float(np.linalg.norm(way.d))
            direction, u = way.d[0] / size, unit(rng, columns)
            t = float(rng.choice([-1.0, 1.0, rng.uniform(-1.0, 1.0)]))
            bent, bowed = (third(q, t * way.d[0], direction, x) * size**2 for x in (u, direction))
            for i, block in enumerate(tubes.blocks):
                if np.abs(begun.sampled.errors[0][:, block.rows]).max() > 0.5 * block.farthest:
                    continue
                bounds = np.array([begun.curves.bend[i, 0], begun.curves.bow[i, 0] / size])
                found = np.array([np.linalg.norm(each[block.rows]) for each in (bent, bowed)])
                assert (found <= bounds * 1.001 + 1e-3 * size**2).all()
                used = np.maximum(used, found / bounds)
    assert (used > (1e-4 if name in ("foot on foot", "tree") else 0.02)).all()  # of long chains the least is used


@pytest.mark.parametrize("name", ["feet", "tree", "tree, upright", "tree, centre of mass"])
def test_jacobians_at_both_ends_are_those_by_v(name: str) -> None:
    """With bodies that move as a whole: what C times them is off the middle by, by differences."""
    search, rng = more_cases()[name], np.random.default_rng(13)
    tubes, problem = search._tubes, search.problem
    space, columns, h = problem.space, problem.implicit_dofs.astype(float), 1e-4
    assert curved_blocks(space)
    for q in search.piece.samples:
        d = 0.05 * unit(rng, columns)
        for v, _ in curved_blocks(space):
            d[v] += 0.01
        ends = space.integrate(np.array([q, q]), np.array([-d, d]))
        way = Way.between(space, ends[:1], ends[1:], problem.frozen, np.zeros(1))
        begun = tubes.begun(way, problem.frozen[None])

        def by_v(v: np.ndarray, q: np.ndarray = q) -> np.ndarray:
            V = np.concatenate([v + h * np.eye(space.nv), v - h * np.eye(space.nv)])
            E = tubes._samples.at(space.integrate(np.repeat(q[None], len(V), axis=0), V))[0]
            return (E[: space.nv] - E[space.nv :]).T / (2.0 * h) * columns

        middle, C = by_v(np.zeros(space.nv)), begun.at.preconditioner[0]
        b = np.sqrt(2.0) * np.linalg.norm(tubes._curved * d)
        slope = float(np.array([block.slope for block in tubes.blocks]) @ begun.sizes[:, 0])
        for i, t in enumerate((-1.0, 1.0)):
            change = float(np.linalg.norm(C @ (by_v(t * way.d[0]) - middle)))
            assert abs(change - begun.sampled.changes[0, i]) <= 0.2 * b * b * slope + 1e-5 * np.linalg.norm(C)


def nested(coefficients: Any, A: np.ndarray, by: int) -> np.ndarray:
    """The sum of c_n t^n A^n, derived so often by t, at t = 1."""
    found = np.zeros(A.shape)
    for n, c in enumerate(coefficients):
        if n >= by:
            found += c * float(np.prod(range(n - by + 1, n + 1))) * np.linalg.matrix_power(A, n)
    return found


def adjoint(d: np.ndarray) -> np.ndarray:
    v, w = pin.skew(d[:3]), pin.skew(d[3:])
    return np.block([[w, v], [np.zeros((3, 3)), w]])


def test_maps_and_their_derivatives_are_within_their_series() -> None:
    """Of bodies, by 24 terms: the exponential along d, and the logarithm along a curve of places."""
    rng, used = np.random.default_rng(4), np.zeros(6)
    exponential = [(-1.0) ** n / factorial(n + 1) for n in range(24)]
    logarithm = [float(mp.bernoulli(n)) * (-1.0) ** n / factorial(n) for n in range(24)]
    for _ in range(300):
        A = adjoint(rng.normal(size=6))
        A *= rng.uniform(0.5, 1.0) / np.linalg.norm(A, 2)
        b = float(np.linalg.norm(0.2 * A, 2))
        sizes = [float(np.linalg.norm(nested(exponential, 0.2 * A, by), 2)) for by in range(3)]
        assert (np.array(sizes) <= np.array(curves.of_exponential(np.array(b))) * (1.0 + 1e-12)).all()
        e, once, twice = (rng.uniform(0.05, 0.99) * adjoint(v / np.linalg.norm(v)) for v in rng.normal(size=(3, 6)))
        h, way = 1e-3, [e - 1e-3 * once + 5e-7 * twice, e, e + 1e-3 * once + 5e-7 * twice]
        before, here, after = (nested(logarithm, each, 0) for each in way)
        changes = here, (after - before) / (2.0 * h), (after - 2.0 * here + before) / h**2
        a, *others = (float(np.linalg.norm(each, 2)) for each in (e, once, twice))
        bounds = np.array([float(each) for each in curves.of_logarithm(a, *map(np.array, others))])
        lengths = np.array([np.linalg.norm(each, 2) for each in changes])
        assert (lengths <= bounds * (1.0 + 1e-4) + 1e-6).all()
        used = np.maximum(used, [*np.array(sizes) / curves.of_exponential(np.array(b)), *lengths / bounds])
    assert (used > [0.9, 0.8, 0.8, 0.9, 0.9, 0.8]).all()


@pytest.mark.parametrize(("farthest", "tilted"), [(np.inf, False), (0.3, False), (0.2, True)])
def test_products_are_derived_by_the_rule_of_leibniz(farthest: float, tilted: bool) -> None:
    """Of numbers that are as large as their bounds, as polynomials of the time."""
    rng, t, fake = np.random.default_rng(5), np.polynomial.Polynomial([0.0, 1.0]), cast("Any", None)
    for _ in range(10):
        size, way, slope, turn, bend, bow, speed, curved = rng.uniform(0.1, 2.0, 8)
        block = SlopedRows(slice(0, 1), 1.0, 1.0, fake, farthest, tilted)
        along, curved = NormsAlong(size, *(np.array(x) for x in (way, slope, turn, bend, bow))), 0.1 * curved
        E, E1, E2 = (float(x) for x in curves.of_exponential(np.sqrt(2.0) * np.array(curved)))
        B = (size + slope * t + 0.5 * bend * t**2) * (E + E1 * t + 0.5 * E2 * t**2)
        place = way + turn * t + 0.5 * bow * t**2  # J d
        outer, rows = 1.0 + 0.0 * t, place
        if tilted:
            f, f1, f2 = curves._OF_TILT
            x = place.integ()
            outer, rows = f + f1 * x + 0.5 * f2 * x**2, (f * x + 0.5 * f1 * x**2 + f2 / 6.0 * x**3).deriv()
        elif farthest < np.inf:
            a, ad = np.sqrt(2.0) * farthest, np.sqrt(2.0) * speed
            L, L1, _ = curves.of_logarithm(a, ad, 0.0 * ad)
            L2 = curves.of_logarithm(a, ad, np.sqrt(2.0) * (L1 * way + L * turn))[2]
            outer = L + L1 * t + 0.5 * L2 * t**2
            rows = outer * place
        found = curves.curves(block, along, np.array(curved), np.array(speed))
        assert np.allclose(found.bend, (outer * B).deriv(2)(0.0), rtol=1e-6)
        assert np.allclose(found.bow, rows.deriv(2)(0.0), rtol=1e-6)


@mp.workdps(40)
def test_derivatives_of_a_tilt_are_within_their_bounds() -> None:
    """In 40 digits, up to the farthest tilt, along what is across a direction and what is not; the bounds are near."""
    h = mp.mpf("1e-8")
    rng, used = np.random.default_rng(2), np.zeros(3)

    def f(c: Any) -> Any:
        k = mp.acos(c[2]) / mp.sqrt(1 - c[2] ** 2)
        return mp.matrix([k * c[0], k * c[1]])

    def derivative(g: Any, *ways: Any) -> Any:
        if not ways:
            return g
        u, rest = ways[0], ways[1:]
        return derivative(lambda c: (g(c + h * u) - g(c - h * u)) / (2 * h), *rest)

    for i in range(60):
        angle, side = FARTHEST_TILT * (1.0 if i % 2 else rng.uniform(0.05, 1.0)), rng.uniform(-np.pi, np.pi)
        c = np.array([np.sin(angle) * np.cos(side), np.sin(angle) * np.sin(side), np.cos(angle)])
        ways = rng.normal(size=(3, 3))
        ways[1:] -= np.outer(ways[1:] @ c, c)
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        any_way, across, other = (mp.matrix(list(map(float, way))) for way in ways)
        point = mp.matrix(list(map(float, c)))
        sizes = [
            float(mp.norm(derivative(f, *each)(point)))
            for each in ((any_way,), (any_way, across), (across, other, across))
        ]
        assert (np.array(sizes) <= curves._OF_TILT).all()
        used = np.maximum(used, np.array(sizes) / curves._OF_TILT)
    assert (used > 0.4).all()


def test_along_of_nothing_is_zero() -> None:
    none = NormsAlong.of(np.zeros((2, 3)), np.ones(3), np.zeros((2, 3)), np.zeros((2, 3)))
    assert max(float(np.max(each)) for each in none[1:]) < 1e-200
