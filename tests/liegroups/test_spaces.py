"""Every law on every space, spaces written by users, structure, the door for user input, elements, errors."""

from __future__ import annotations

import copy
import pickle
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np
import pytest
from data.additions.heisenberg import HEISENBERG as TABLE
from each_choice import draws
from house.doors import offered
from hypothesis import given, seed, settings, strategies as st

import liegroups
from constraints.testing import CheckFailed, check_space
from liegroups import (
    SE2,
    SE3,
    SO2,
    SO3,
    ConstraintError,
    Element,
    Group,
    GroupMaps,
    Layout,
    ProductSpace,
    R3xSO3,
    Rn,
    Space,
    errors,
)
from liegroups.errors import (
    DtypeError,
    DuplicateNameError,
    EmptyIntervalError,
    NotFiniteError,
    NotNormalizedError,
    OperatorError,
    OverlapError,
    SizeError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)

SPACES = [Rn(0), Rn(1), Rn(7), SO2, SE2, SO3, SE3, R3xSO3]
SPACES += [g for name in offered(liegroups) if isinstance(g := getattr(liegroups, name), Group) and g not in SPACES]
PRODUCTS = [SE3 * Rn(2), SO3**2, SO2 * Rn(1) * SE2 * Rn(1) ** 3, Rn(1) ** 5, ProductSpace([SE3 * Rn(2), SO3, Rn(0)])]
PRODUCTS += [SE2 * SO3 * Rn(1)]


NEEDED = [f.name for f in fields(GroupMaps) if f.default is MISSING]


def maps_of(space: Any) -> GroupMaps:
    """The methods of a space whose names begin with an underscore, as its table of maps."""
    return GroupMaps(**{name: getattr(space, f"_{name}") for name in NEEDED})


HEISENBERG = Group(Layout.group("Heisenberg", [0.0, 0.0, 0.0], 3), TABLE)


class Arm(Space):
    """A space with the structure of another one and maps of its own, as that of a robot."""

    def __init__(self) -> None:
        self.joints = ProductSpace([SE3, Rn(1), SO2, Rn(2)], ["base", "lift", "wheel", "wrist"])
        super().__init__(self.joints.layout, maps_of(self), self.joints.batch_maps)
        self.calls = 0
        self.writes = False

    def _integrate(self, q, v):
        self.calls += 1
        if self.writes:
            v *= 1.0
        return self.joints.integrate(q, v)

    def _difference(self, q0, q1):
        return self.joints.difference(q0, q1)

    def _compose(self, q0, q1):
        return self.joints.compose(q0, q1)

    def _inverse(self, q):
        return self.joints.inverse(q)

    def _adjoint(self, q):
        return self.joints.adjoint(q)

    def _exp_jacobian(self, v):
        return self.joints.exp_jacobian(v)

    def _log_jacobian(self, v):
        return self.joints.log_jacobian(v)


# --- laws ------------------------------------------------------------------------------------------------------------


@draws(20, 60)
@pytest.mark.parametrize("space", SPACES + PRODUCTS, ids=str)
def test_laws(space: Space, count: int) -> None:
    check_space(space, rng_seed=1, samples=count, twins=1e-14)


@pytest.mark.parametrize("space", [HEISENBERG, Arm(), Arm() * SO3, HEISENBERG * Rn(1), HEISENBERG * SE3], ids=repr)
def test_laws_of_spaces_written_by_users(space: Space) -> None:
    check_space(space, samples=20)


@pytest.mark.parametrize("broken", NEEDED)
def test_check_space_finds_a_wrong_map(broken: str) -> None:
    right = getattr(TABLE, broken)

    def wrong(*arguments: np.ndarray) -> np.ndarray:
        result = right(*arguments)
        return result + 1e-5 * np.arange(result.size).reshape(result.shape)

    with pytest.raises(CheckFailed) as caught:
        check_space(Group(HEISENBERG.layout, replace(TABLE, **{broken: wrong})))
    assert f"maps.{broken}" in caught.value.mend
    assert caught.value.amount is not None
    assert caught.value.tolerance is not None
    assert caught.value.amount > caught.value.tolerance
    assert "off by" in str(caught.value)
    assert "fix: " in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_check_space_finds_a_map_that_writes_to_its_arguments() -> None:
    space = Arm()
    space.writes = True
    with pytest.raises(CheckFailed, match="do not change their arguments"):
        check_space(space)


@seed(7)
@settings(max_examples=200, deadline=None, derandomize=False, database=None)
@given(
    space=st.sampled_from([SO2, SE2, SO3, SE3, SE3 * Rn(1)]),
    scale=st.sampled_from([0.0, 1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 3.1, 3.1415926]),
    number=st.integers(0, 2**32 - 1),
)
def test_integrate_and_difference_are_inverse(space: Space, scale: float, number: int) -> None:
    rng = np.random.default_rng(number)
    q, v = space.random(rng), rng.standard_normal(space.nv)
    v *= scale / np.linalg.norm(v)  # so every rotation is below pi
    p = space.integrate(q, v)
    back = space.difference(q, p)
    assert np.max(np.abs(back - v)) < 1e-13
    assert np.max(np.abs(space.difference(p, q) + v)) < 1e-13
    assert np.max(np.abs(space.difference(p, space.integrate(q, back)))) < 1e-13


def test_many_coordinates_are_one_operation() -> None:
    space = Rn(1) ** 30
    assert isinstance(space, ProductSpace)
    assert space.flats == ((slice(0, 30), slice(0, 30)),)
    assert space.groups == ()


def test_a_factor_keeps_its_own_maps() -> None:
    arm = Arm()
    whole = arm * SO3 * Rn(2)
    assert [factor.space for factor in whole.factors] == [arm, SO3, Rn(2)]
    whole.integrate(whole.neutral, np.zeros(whole.nv))
    assert arm.calls == 1


# --- structure -------------------------------------------------------------------------------------------------------


def test_equality_is_that_of_structures() -> None:
    assert Rn(1) ** 3 == Rn(3)
    assert hash(Rn(1) ** 3) == hash(Rn(3))
    assert Rn(3) * SO3 == R3xSO3 != SE3
    assert SO3 * Rn(3) != R3xSO3
    assert Rn(1) * (Rn(2) * SO3) * Rn(0) == R3xSO3
    assert Arm() == SE3 * Rn(1) * SO2 * Rn(2)
    assert Arm() != Arm().layout
    assert Rn(0) * SO3 == SO3
    assert SO3**0 == Rn(0)


def test_names_and_atoms() -> None:
    space = SE3 * Rn(2) * Rn(1) * SO3 * SO3
    assert repr(space) == space.name == "SE3xR3xSO3^2"
    assert space.atoms == (("SE3", 1), ("R", 3), ("SO3", 1), ("SO3", 1))
    assert [factor.name for factor in space.factors] == ["SE3", "R2", "R1", "SO3[0]", "SO3[1]"]
    assert (Rn(0)).name == "R0"
    assert SO3.factors[0].space is SO3


def test_leaves_have_places_in_the_whole() -> None:
    leaves = (SO3 * Arm()).leaves()
    assert [leaf.name for leaf in leaves] == ["SO3", "SE3xR1xSO2xR2.base"] + [
        f"SE3xR1xSO2xR2.{name}" for name in ("lift", "wheel", "wrist")
    ]
    assert [(leaf.q.start, leaf.v.start) for leaf in leaves] == [(0, 0), (4, 3), (11, 9), (12, 10), (14, 11)]
    for leaf in ((SO3 * Arm()) * (SE2 * Rn(1))).leaves():
        assert (leaf.q.stop - leaf.q.start, leaf.v.stop - leaf.v.start) == (leaf.space.nq, leaf.space.nv)


def test_coordinates_of_vectors_and_unit_blocks() -> None:
    space = SE2 * Rn(2) * SE3 * Rn(1) * SO2
    assert space.vector_q.tolist() == [4, 5, 13]
    assert space.vector_v.tolist() == [3, 4, 11]
    assert space.unit_blocks == (slice(2, 4), slice(9, 13), slice(14, 16))


def test_given_names_survive_products() -> None:
    left = ProductSpace([SE3, Rn(2)], ["base", "arm"])
    right = ProductSpace([SO3], ["head"])
    assert [factor.name for factor in (left * right).factors] == ["base", "arm", "head"]
    assert len({factor.name for factor in (left * left).factors}) == 4
    with pytest.raises(DuplicateNameError):
        ProductSpace([SO3, SO3], ["a", "a"])
    with pytest.raises(SizeError):
        ProductSpace([SO3, SO3], ["a"])


@pytest.mark.parametrize("space", SPACES + PRODUCTS + [HEISENBERG, Arm()], ids=repr)
def test_copies(space: Space) -> None:
    for twin in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        assert twin == space
        assert [f.name for f in twin.factors] == [f.name for f in space.factors]
        with pytest.raises(ValueError, match="read-only"):
            twin.neutral[...] = 1.0


# --- the door --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([True, False, False, True, False, False, False], DtypeError),
        ([1j, 0, 0, 0, 0, 0, 1], DtypeError),
        (list("abcdefg"), DtypeError),
        ([None] * 7, DtypeError),
        ([[1.0], [1.0, 2.0]], DtypeError),
        (None, DtypeError),
        ([0, 0, 0, 0, 0, 1], SizeError),
        (0.0, SizeError),
        ([[0, 0, 0, 0, 0, 0, 1]], SizeError),
        ([0, 0, np.nan, 0, 0, 0, 1], NotFiniteError),
        ([0, np.inf, 0, 0, 0, 0, 1], NotFiniteError),
        ([0, 0, 0, 0, 0, 0, 1.1], NotNormalizedError),
        ([0, 0, 0, 0, 0, 0, 0], NotNormalizedError),
    ],
)
def test_check_refuses(value, error) -> None:
    with pytest.raises(error) as caught:
        SE3.check(value, "start")
    assert "start" in str(caught.value)
    assert "SE3" in str(caught.value)
    assert isinstance(caught.value, ConstraintError)


def test_check_converts_and_does_not_copy_without_need() -> None:
    q = np.array([1.0, 2, 3, 0, 0, 0, 1])
    assert SE3.check(q) is q
    assert SE3.check([1, 2, 3, 0, 0, 0, 1]).dtype == np.float64
    assert SE3.check(np.array([1, 2, 3, 0, 0, 0, 1], dtype=np.float32)).tolist() == q.tolist()
    near = q * np.r_[1, 1, 1, 1, 1, 1, 1 + 5e-7]
    assert SE3.check(near) is near
    with pytest.raises(NotNormalizedError):
        SE3.check(near, tolerance=1e-7)
    assert Rn(2).check([1e308, 1e308]).tolist() == [1e308, 1e308]
    with pytest.raises(NotNormalizedError, match=r"factor 'SO3'.*q\[2:6\]"):
        (Rn(2) * SO3).check(np.ones(6))
    with pytest.raises(NotFiniteError, match=r"\[1\]"):
        Rn(2).check([0, np.nan])


def test_maps_refuse_wrong_sizes() -> None:
    q = SE3.neutral
    half: Any = 0.5
    for call in (
        lambda: SE3.integrate(q, np.zeros(7)),
        lambda: SE3.difference(q, np.zeros(6)),
        lambda: SE3.exp(np.zeros((2, 7))),
        lambda: SE3.error(q, np.zeros(6), np.zeros(6)),
        lambda: SE3.adjoint(np.zeros(())),
        lambda: Rn(-1),
        lambda: SO3**-1,
        lambda: Rn(half),
        lambda: SO3**half,
    ):
        with pytest.raises(SizeError):
            call()


def test_products_are_of_spaces() -> None:
    for other in ("SO3", None):
        with pytest.raises(TypeError):
            SO3 * other


def test_normalize() -> None:
    space = SE3 * SO2
    q = 3.0 * np.r_[1.0, 2, 3, 0.5, 0.5, 0.5, 0.5, 0.6, 0.8]
    assert space.normalize(q).tolist() == pytest.approx([3, 6, 9, 0.5, 0.5, 0.5, 0.5, 0.6, 0.8])
    assert not space.is_normalized(q)
    assert space.normalize(np.stack([q, q])).shape == (2, 9)
    with pytest.raises(NotNormalizedError):
        space.normalize(np.zeros(9))


@pytest.mark.parametrize("space", [SO2, SO2 * Rn(1) * SO3], ids=str)
def test_a_norm_may_be_off_by_as_much_as_the_tolerance(space: Space) -> None:
    """By 1/8, which is exact: this much is allowed, less is not; the neutral element is exact."""
    assert space.is_normalized(space.neutral, 0.0)
    for entry in (0.875, 1.125):
        q = space.neutral.copy()
        q[space.unit_blocks[-1]] *= entry
        assert space.is_normalized(q, 0.125)
        assert not space.is_normalized(q, 0.124)


def test_random_points_and_bounds() -> None:
    rng = np.random.default_rng(0)
    space = Rn(6) * SE3
    lower = np.r_[-1.0, 5.0, -np.inf, -np.inf, -np.finfo(float).max, 2.0, 1.0, 1.0, 1.0, np.full(4, 7.0)]
    upper = np.r_[-0.5, np.inf, -5.0, np.inf, np.finfo(float).max, 2.0, 2.0, 2.0, 2.0, np.full(4, -7.0)]
    q = space.random(rng, lower, upper, size=500)
    assert np.all((lower <= q)[:, :9] & (q <= upper)[:, :9])
    assert np.all(np.abs(q[:, 3:5]) <= 1.0)
    assert np.all(q[:, 5] == 2.0)
    assert np.allclose(np.linalg.norm(q[:, 9:], axis=1), 1.0, atol=1e-15)
    with pytest.raises(EmptyIntervalError):
        Rn(1).random(rng, np.array([1.0]), np.array([0.0]))
    with pytest.raises(EmptyIntervalError):
        Rn(1).random(rng, np.array([np.nan]))
    with pytest.raises(SizeError):
        Rn(2).random(rng, np.array([1.0]))


def test_random_rotations_are_uniform() -> None:
    q = SO3.random(np.random.default_rng(1), size=20000)
    angle = np.linalg.norm(SO3.log(q), axis=1)
    assert np.mean(angle) == pytest.approx(np.pi / 2 + 2 / np.pi, abs=0.02)  # mean angle of Haar rotations
    turns = SO2.log(SO2.random(np.random.default_rng(1), size=20000))
    assert np.mean(turns**2) == pytest.approx(np.pi**2 / 3, rel=0.03)


# --- elements and errors ---------------------------------------------------------------------------------------------


def test_elements() -> None:
    e = Element([1, 2, 3, 0, 0, 0, 1], SE3)
    v = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    moved = e + v
    assert np.allclose(moved - e, v, atol=1e-14)
    assert e * e.inverse() == Element(SE3.neutral, SE3)
    assert (e.inverse() * moved).log() == pytest.approx(v)
    assert Element(-SO3.neutral, SO3) == Element(SO3.neutral, SO3)
    assert moved != e
    assert e != 3
    assert moved.is_close(e, 2.0)
    assert not moved.is_close(e + 1e-3 * v)
    assert pickle.loads(pickle.dumps(moved)) == moved
    assert copy.deepcopy(moved) == moved
    assert "SE3" in repr(moved)
    with pytest.raises(ValueError, match="read-only"):
        moved.q[0] = 1.0
    with pytest.raises(AttributeError):
        moved.q = v
    with pytest.raises(SpaceMismatchError):
        moved - Element([0, 0, 0, 1], SO3)
    with pytest.raises(SizeError):
        e + np.ones(1)
    with pytest.raises(NotNormalizedError):
        Element([0, 0, 0, 2], SO3)


ERRORS = [
    ConstraintError("in words"),
    SizeError("q", 7, 6),
    DtypeError("q", np.dtype(bool)),
    NotFiniteError("q", [1, 2]),
    NotNormalizedError("q", "quaternion", 1.5),
    OperatorError("SE3(...)", "a point is an array"),
    SpaceMismatchError("value", SE3, R3xSO3),
    OverlapError("segments", "factor 'a' is cut", [3]),
    EmptyIntervalError("coordinate 3", 1.0, 0.0),
    DuplicateNameError("factor", "a"),
    UnknownNameError("frame", "gripprr", ["gripper", "base", "grip"]),
    WrongObjectError("space of an element", "a Space", None),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_pickle_with_their_data(error: ConstraintError) -> None:
    error.add_note("seen twice")
    for twin in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert {k: str(v) for k, v in vars(twin).items()} == {k: str(v) for k, v in vars(error).items()}
    assert isinstance(error, ValueError)


def test_every_error_is_tested() -> None:
    kinds = {name for name in offered(errors) if isinstance(getattr(errors, name), type)}
    assert {type(error).__name__ for error in ERRORS} == kinds


def test_unknown_names_list_the_nearest() -> None:
    assert "gripper" in str(UnknownNameError("frame", "gripprr", ["gripper", "base"]))
    assert "base" in str(UnknownNameError("frame", "zzz", ["gripper", "base"]))
    assert str(UnknownNameError("frame", "zzz", [])) == "no frame is named 'zzz'; there are none at all"
