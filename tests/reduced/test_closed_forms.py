"""Planar loops made by hand, factors of matrices, sums and efforts: against closed forms and differences."""

from __future__ import annotations

import cmath
from math import pi
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from constraints.errors import OptionError, UndefinedError
from constraints.loops.closing.lu import factorised
from constraints.reduced.closing import Closing
from constraints.reduced.equilibria.extrapolation import Extrapolation
from constraints.reduced.equilibria.prescribed import negligible
from constraints.reduced.explicit_loops.planar_loops import (
    ElbowSide,
    PlanarLoop,
    Vertex,
    angles_of,
    joined,
    whole_turns,
)
from constraints.reduced.explicit_loops.planar_shape import _continuous
from constraints.reduced.inverse import _least, _not_driven, _unreached
from constraints.testing import check_function
from liegroups import SO2, Rn

# Planar loops.


def by_hand(branch: ElbowSide, seed: int = 0) -> PlanarLoop:
    """Seven hinges: three unknown corners, three inputs on both sides of the axis, and a weld; one output a circle."""
    rng = np.random.default_rng(seed)

    def side(length: float) -> complex:
        return complex(cmath.rect(length, rng.uniform(-pi, pi)))

    vertices = (
        Vertex(None, 0, True, 1.0, 0.0, side(0.5)), Vertex(0, None, False, -1.0, 0.3, side(0.2)),
        Vertex(None, 2, True, -1.0, 0.4, side(0.6)), Vertex(1, None, False, 1.0, -0.2, side(0.15)),
        Vertex(None, 1, True, 1.0, -0.7, side(0.7)), Vertex(None, None, False, 1.0, 1.1, side(0.1)),
        Vertex(2, None, False, -1.0, 0.0, side(0.12)),
    )  # fmt: skip
    return PlanarLoop(Rn(2) * SO2, Rn(1) * SO2 * Rn(1), vertices, branch, (2.0 * pi, 0.0, -4.0 * pi), name="hand")


def turns_of(loop: PlanarLoop, u: np.ndarray, value: np.ndarray) -> list[float]:
    """The turn at each hinge, from inputs and outputs."""
    given = [u[0], u[1], np.arctan2(u[3], u[2])]
    found = [value[0], np.arctan2(value[2], value[1]), value[3]]
    turns: list[float] = []
    for vertex in loop.vertices:
        angle = 0.0
        if vertex.source is not None:
            angle = vertex.sign * given[vertex.source]
        elif vertex.target is not None:
            angle = vertex.sign * (found[vertex.target] - loop.turns[vertex.target])
        turns.append(angle + vertex.offset)
    return turns


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("branch", ElbowSide)
def test_the_path_around_a_loop_is_closed(branch: ElbowSide, seed: int) -> None:
    """Turns add up to whole turns, sides to nothing; the middle corner is on the side that the branch says."""
    loop, rng = by_hand(branch, seed), np.random.default_rng(seed)
    inputs, done = loop.block_in, 0
    for _ in range(30):
        u = inputs.random(rng, np.array([-3.0, -3.0, -1.0, -1.0]), np.array([3.0, 3.0, 1.0, 1.0]))
        try:
            value = loop.value(u)
        except UndefinedError:
            continue
        done += 1
        turns = turns_of(loop, u, value)
        assert abs(np.remainder(sum(turns) + 1.0, 2.0 * pi) - 1.0) < 1e-9
        places, direction = [0j], 0.0
        for vertex, turn in zip(loop.vertices, [*turns[1:], 0.0], strict=True):
            places.append(places[-1] + vertex.side * cmath.rect(1.0, direction))
            direction += turn
        assert abs(places[-1]) < 1e-9
        A, B, C = (places[h] for h in (0, 2, 4))
        left = ((C - A).conjugate() * (B - A)).imag
        assert (left > 0.0) == (branch is ElbowSide.OPEN)
        other = loop.with_elbow(branch.other)
        assert (other.elbow, other.turns, other.vertices) == (branch.other, loop.turns, loop.vertices)
        assert np.abs(loop.block_out.difference(value, other.value(u))).max() > 1e-3
    assert done >= 3


@pytest.mark.parametrize("branch", ElbowSide)
def test_a_loop_by_hand_obeys_the_laws(branch: ElbowSide) -> None:
    """Jacobian, drift and its derivatives, by differences."""
    loop = by_hand(branch)
    assert loop.has_exact_drift
    check_function(loop)


def test_triangles_that_are_flat_have_no_value() -> None:
    """Two bars of 1 m on a ground of l: up to two metres less a part of 1e-12, below that a value on each side."""
    for ground, is_flat in ((2.0 - 2e-13, True), (2.0 - 1e-11, False), (2.0 + 1e-9, True), (1e-13, True), (0.5, False)):
        vertices = (
            Vertex(None, 0, True, 1.0, 0.0, 1.0 + 0j), Vertex(None, 1, True, 1.0, 0.0, 1.0 + 0j),
            Vertex(None, None, True, 1.0, 0.0, complex(ground)), Vertex(0, None, False, 1.0, 0.0, 1e-300 + 0j),
        )  # fmt: skip
        loop = PlanarLoop(Rn(1), Rn(2), vertices, ElbowSide.OPEN, (0.0, 0.0), name="bars")
        if is_flat:
            with pytest.raises(UndefinedError, match=r"bars: sides of 1, 1 and .* form no triangle, or a flat one"):
                loop.value([0.0])
        else:
            elbow = 2.0 * np.arcsin(0.5 * ground)  # between the bars
            assert abs(np.cos(loop.value([0.0])[1]) + np.cos(elbow)) < 1e-9


@pytest.mark.parametrize("turns", [-2, 0, 1])
def test_a_side_and_the_rest_of_a_way(turns: int) -> None:
    """Their sum; its direction goes on from that of the longer one."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        side, rest = (complex(*rng.normal(size=2)) for _ in "ab")
        direction = cmath.phase(rest) + 2.0 * pi * turns
        both, along = joined(side, rest, direction)
        assert both == side + rest
        assert abs(cmath.rect(abs(both), along) - both) < 1e-12
        base = direction if abs(rest) > abs(side) else cmath.phase(side)
        assert abs(along - base) <= 0.5 * pi + 1e-12
    assert joined(1.0 + 0j, 0j, 7.0) == (1.0 + 0j, 0.0)
    assert joined(0j, 2j, 7.0) == (2j, 7.0)
    assert joined(0j, 0j, 7.0) == (0j, 0.0)
    both, along = joined(1.0 + 0j, 1j, 9.0)  # as long: the side counts
    assert along == pytest.approx(0.25 * pi)


def test_turns_and_angles() -> None:
    for angle, near, turns in (
        (0.0, 0.0, 0),
        (0.1, 6.3, 1),
        (0.1, 3.0, 0),
        (0.1, 3.3, 1),
        (7.0, 0.5, -1),
        (-0.1, 12.5, 2),
    ):
        assert whole_turns(angle, near) == pytest.approx(2.0 * pi * turns)
    q = np.array([0.3, 7.0, np.cos(2.0), np.sin(2.0), -9.0])
    assert angles_of(Rn(2) * SO2 * Rn(1), q) == pytest.approx([0.3, 7.0, 2.0, -9.0])


@pytest.mark.parametrize("seed", range(4))
def test_each_side_of_a_chain_is_less_than_half_a_turn_from_the_way_behind_it(seed: int) -> None:
    """At the inputs where whole turns are chosen: seen from each hinge, the rest of the way goes on from its side."""
    loop, rng = by_hand(ElbowSide.OPEN, seed), np.random.default_rng(seed)
    for _ in range(10):
        u = loop.block_in.random(rng, np.array([-9.0, -9.0, -1.0, -1.0]), np.array([9.0, 9.0, 1.0, 1.0]))
        angles = angles_of(loop.block_in, u)
        around = _continuous(list(loop.vertices), u, loop.block_in)
        for old, new in zip(loop.vertices, around, strict=True):
            assert new._replace(offset=old.offset) == old
            assert abs(np.remainder(new.offset - old.offset + 1.0, 2.0 * pi) - 1.0) < 1e-12
        assert [around[h].offset for h in (0, 2, 4)] == [loop.vertices[h].offset for h in (0, 2, 4)]
        for corner, end in ((0, 2), (2, 4), (4, 7)):
            rest, direction = around[end - 1].side, cmath.phase(around[end - 1].side)
            for h in range(end - 1, corner, -1):
                vertex, side = around[h], around[h - 1].side
                turn = vertex.offset + (0.0 if vertex.source is None else vertex.sign * angles[vertex.source])
                assert abs(direction + turn - cmath.phase(side)) <= pi + 1e-12
                rest, direction = joined(side, rest * cmath.rect(1.0, turn), direction + turn)


# Factors.


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 30])
def test_factors_of_a_matrix(n: int) -> None:
    """Of -J: both systems, the sign of det J, and its condition."""
    rng = np.random.default_rng(n)
    for _ in range(8):
        J, b = rng.normal(size=(n, n)), rng.normal(size=(n, 2))
        lu = factorised(J)
        np.testing.assert_allclose(-J @ lu.solve(b), b, atol=1e-9)
        np.testing.assert_allclose(-J.T @ lu.solve_transposed(b), b, atol=1e-9)
        assert lu.sign == np.sign(np.linalg.det(J))
        assert 0.99 <= lu.rcond * np.linalg.cond(J, 1) < (1.5 if n < 30 else 10.0)  # an estimate, from above
        assert not lu.is_singular
        assert lu.solve(np.zeros((n, 0))).shape == lu.solve_transposed(np.zeros((n, 0))).shape == (n, 0)


def test_matrices_that_are_singular() -> None:
    """From a reciprocal condition of 1e-12 down; where a pivot is zero there is no sign."""
    for small, is_singular in ((0.9e-12, True), (1.2e-12, False)):
        lu = factorised(np.diag([1.0, -small]))
        assert lu.rcond == pytest.approx(small)
        assert lu.is_singular == is_singular
        assert lu.sign == -1.0
    zero = factorised(np.array([[1.0, 2.0], [2.0, 4.0]]))
    assert (zero.rcond, zero.sign, zero.is_singular) == (0.0, 0.0, True)
    none = factorised(np.zeros((0, 0)))
    assert (none.rcond, none.sign, none.is_singular) == (1.0, 1.0, False)
    assert (none.factors.shape, none.pivots.shape) == ((0, 0), (0,))
    assert none.solve(np.zeros(0)).shape == none.solve_transposed(np.zeros((0, 3)))[:, 0].shape == (0,)


# Sums and efforts.


def test_what_is_no_force() -> None:
    """A part of the terms, and of what a thousandth of a radian changes, and rounding."""
    K = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0]])
    found = negligible(1e-6, np.array([2.0, 5.0]), 1e-12, K)
    np.testing.assert_allclose(found, [1e-6 * (2.0 + 7e-3) + 1e-12, 5e-6 + 1e-12], rtol=1e-12)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_extrapolation_is_the_table_of_neville(power: int) -> None:
    """Each column takes one power of the step away; the best entry is that with the least change from its parents."""
    rng, h, noise = np.random.default_rng(0), 0.5 ** np.arange(6), 1e-14
    powers = [power, power + 2, power + 4, power + 6, power + 7]
    a = 3.0 + np.sum([rng.uniform(0.5, 1.0, 2) * (0.3 * h[:, None]) ** p for p in powers], axis=0)
    found, table = Extrapolation(power), list[list[np.ndarray]]()
    best, error = np.zeros(2), np.full(2, np.inf)
    for k in range(6):
        row = [a[k]]
        for j in range(k):
            two = 2.0 ** powers[j] if j < 4 else 2.0 ** (power + 8)
            row.append((two * row[j] - table[-1][j]) / (two - 1.0))
            change = np.abs([row[-1] - row[j], row[-1] - table[-1][j]]).max(axis=0) + noise
            best, error = np.where(change < error, row[-1], best), np.minimum(change, error)
        worse = k > 1 and bool((np.abs(row[-1] - table[-1][-1]) > 2.0 * error + noise).all())
        table.append(row)
        assert found.add(a[k], noise) == worse
        np.testing.assert_allclose(found.best, best if k else a[0], rtol=1e-14)
        np.testing.assert_allclose(found.error, error, rtol=1e-3, atol=1e-15)
    np.testing.assert_allclose(found.best, 3.0, atol=1e-8)
    assert (np.abs(found.best - 3.0) < found.error).all()


def test_efforts_of_least_norm() -> None:
    """Of more actuators the least, of weak ones none: from 1e-12 of the scale times the number of actuators down."""
    effort, rank = _least(np.array([[1.0, 2.0]]), np.array([5.0]), 1.0)
    np.testing.assert_allclose(effort, [1.0, 2.0])
    assert rank == 1
    reach = np.array([[2.0, 0.0], [0.0, 0.0]])
    effort, rank = _least(reach, np.array([4.0, 7.0]), 2.0)
    np.testing.assert_allclose(effort, [2.0, 0.0])
    assert rank == 1
    for small, rank in ((0.9e-12, 1), (1.1e-12, 2)):
        for scale in (1.0, 1e3):
            assert _least(scale * np.diag([1.0, small]), np.zeros(2), scale)[1] == rank
    assert _unreached(np.array([[2.0, 0.0], [0.0, 0.0]]), ("a", "b"), 1) == ("b",)
    assert _unreached(np.array([[0.0, 0.0], [0.0, 3.0]]), ("a", "b"), 1) == ("a",)
    assert _unreached(np.array([[1.0], [2.0], [0.5]]), ("a", "b", "c"), 1) == ("a", "c")
    assert _unreached(np.eye(2), ("a", "b"), 2) == ()


def test_actuators_of_driven_coordinates_alone_are_refused() -> None:
    """One that acts on others too is none of these; nor is one that acts on nothing."""
    state: Any = SimpleNamespace(coordinates=SimpleNamespace(partition=SimpleNamespace(driven=np.array([1, 2]))))
    columns = {"free": [1.0, 0, 0], "both": [1.0, -1.0, 0.0], "none": [0.0, 0, 0], "driven": [0.0, -2.0, 0.0],
               "pair": [0.0, 1.0, -1.0]}  # fmt: skip
    for name, column in columns.items():
        actuators: Any = SimpleNamespace(matrix=np.array([[1.0, 0.0, 0.0], column]).T, names=("other", name))
        if name in ("driven", "pair"):
            with pytest.raises(OptionError, match=f"actuated '{name}': it is driven"):
                _not_driven(state, actuators)
        else:
            _not_driven(state, actuators)


@pytest.mark.parametrize(
    ("residuals", "signs", "jumps"),
    [([1.0, 0.9, 1.1, 0.8], [1.0, -1.0, 1.0, -1.0], True), ([1.0, 0.9, 0.05, 0.8], [1.0, -1.0, 1.0, -1.0], False),
     ([1.0, 0.9, 1.1, 0.8], [1.0, -1.0, 1.0, 1.0], False), ([1.0, 2.0, 0.11, 0.8], [1.0, 1.0, 1.0, -1.0], True),
     ([1.0, 2.0, 0.09, 0.8], [1.0, 1.0, 1.0, -1.0], False), ([1.0, 0.5, 0.06, 9.0], [1.0, 1.0, -1.0, 1.0], True),
     ([0.5], [], False)],
)  # fmt: skip
def test_iterates_that_jump(residuals: list[float], signs: list[float], jumps: bool) -> None:
    """Both signs in the second half, whose least residual is no tenth of that of the first."""
    asked: Any = Closing.jumps
    assert asked.fget(SimpleNamespace(residuals=tuple(residuals), signs=tuple(signs))) == jumps
