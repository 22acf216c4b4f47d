"""Segments: constructors, exact set algebra, errors that name the factor."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings, strategies as st

from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn, Segments
from liegroups.errors import OverlapError, SizeError, SpaceMismatchError, UnknownNameError

ARM = ProductSpace([SE3, Rn(3), SO2, Rn(2), SO3], ["base", "arm", "wheel", "wrist", "ball"])


def test_of_factors() -> None:
    block = Segments.of(ARM, "wheel", "base")
    assert block.q == (*range(7), 10, 11)
    assert block.v == (*range(6), 9)
    assert block.space == SE3 * SO2
    assert Segments.of(ARM, 0, 2) == block
    assert Segments.of(ARM, "ball").space is SO3
    assert Segments.of(ARM).space == Rn(0)
    assert Segments.of(SO3, 0) == Segments.all(SO3)
    with pytest.raises(UnknownNameError, match="wheel"):
        Segments.of(ARM, "whel")
    with pytest.raises(UnknownNameError):
        Segments.of(ARM, 5)
    with pytest.raises(OverlapError, match="base"):
        Segments.of(ARM, "base", 0)


def test_coordinates() -> None:
    block = Segments.coordinates(ARM, [11, 7, 9, 8])
    assert block == Segments((8, 9, 10, 11, 13), (7, 8, 9, 11), Rn(2) * SO2 * Rn(1))
    assert Segments.coordinates(ARM, np.arange(ARM.nv)) == Segments.all(ARM)
    assert Segments.coordinates(ARM, []) == Segments.empty()
    with pytest.raises(OverlapError, match=r"'base'.*cut in two.*\[5\] without \[0, 1, 2, 3, 4\]"):
        Segments.coordinates(ARM, [5, 6])
    with pytest.raises(OverlapError, match="twice"):
        Segments.coordinates(ARM, [6, 6])
    with pytest.raises(UnknownNameError):
        Segments.coordinates(ARM, [ARM.nv])
    with pytest.raises(UnknownNameError):
        Segments.coordinates(ARM, [-1])
    with pytest.raises(OverlapError, match=r"SE2xR1.SE2' .SE2. is cut in two"):
        Segments.coordinates(ProductSpace([ProductSpace([SE2, Rn(1)])]), [0])


def test_sizes_are_checked() -> None:
    with pytest.raises(SizeError):
        Segments((0, 1), (0,), Rn(1))
    with pytest.raises(SizeError):
        Segments((0, 1, 2, 3), (0,), SO3)


@pytest.mark.parametrize("factor", [True, False, 1.0, -1, 5, None, "leg"])
def test_a_factor_that_is_none_is_refused(factor: Any) -> None:
    """Truth values, fractions and negative numbers count no factors: there are five."""
    assert len(ARM.factors) == 5
    fifth: Any = np.int64(4)
    assert Segments.of(ARM, fifth) == Segments.of(ARM, 4) == Segments.of(ARM, ARM.factors[4].name)
    with pytest.raises(UnknownNameError, match="factor of"):
        Segments.of(ARM, factor)


def test_indices() -> None:
    block = Segments.of(ARM, "arm", "wheel")
    assert block.q_slice == slice(7, 12)
    assert block.v_slice == slice(6, 10)
    assert block.q_indices.dtype == block.v_indices.dtype == np.intp
    assert block.v_indices.tolist() == [6, 7, 8, 9]
    apart = Segments.of(ARM, "base", "wheel")
    assert apart.q_slice is None
    assert apart.v_slice is None
    assert Segments.empty().v_slice == slice(0, 0)
    assert len(block) == 4
    assert pickle.loads(pickle.dumps(block)) == block
    assert hash(Segments.of(ARM, "arm")) == hash(Segments.of(ARM, "arm"))


def test_a_block_of_values_is_a_point_of_its_group() -> None:
    q = ARM.random(np.random.default_rng(0))
    p = ARM.random(np.random.default_rng(1))
    for names in itertools.combinations(["base", "arm", "wheel", "wrist", "ball"], 3):
        block = Segments.of(ARM, *names)
        d = block.space.difference(q[block.q_indices], p[block.q_indices])
        assert np.array_equal(d, ARM.difference(q, p)[block.v_indices])


PIECES = [list(range(6)), [6], [7], [8], [9], [10], [11], [12, 13, 14]]
SUBSETS = st.sets(st.integers(0, len(PIECES) - 1))


@seed(3)
@settings(max_examples=60, deadline=None, database=None)
@given(left=SUBSETS, right=SUBSETS)
def test_set_algebra_is_that_of_coordinates(left: set[int], right: set[int]) -> None:
    def block(pieces: set[int]) -> Segments:
        return Segments.coordinates(ARM, [i for piece in pieces for i in PIECES[piece]])

    a, b = block(left), block(right)
    assert a | b == block(left | right) == b | a
    assert a & b == block(left & right) == b & a
    assert a - b == block(left - right)
    assert a.overlaps(b) == bool(left & right)
    assert (a in b) == (left <= right)
    assert (a | b).space == block(left | right).space
    assert (a - b) | (a & b) == a
    assert all(i in a for i in a.v)


def test_parts_of_different_spaces_do_not_mix() -> None:
    cut = Segments((0, 1, 2), (0, 1, 2), Rn(3))
    with pytest.raises(SpaceMismatchError):
        cut | Segments.of(ARM, "base")
    with pytest.raises(SpaceMismatchError):
        Segments.of(ARM, "base") - Segments((3,), (3,), Rn(1))
