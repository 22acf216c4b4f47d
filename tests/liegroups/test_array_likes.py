"""Mend 11: every public map of every space takes what numpy reads as real numbers, and refuses the rest by name."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from robots import arm, humanoid, mixed_tree

from liegroups import SE2, SE3, SO2, SO3, ConstraintError, ProductSpace, R3xSO3, Rn, Space
from liegroups.arguments import real_numbers, truth_values
from liegroups.errors import DtypeError, NotNormalizedError, SizeError, WrongObjectError

SPACES: dict[str, Callable[[], Space]] = {
    **{space.name: (lambda space=space: space) for space in (Rn(3), SO2, SE2, SO3, SE3, R3xSO3, SE3 * Rn(2))},
    "nested": lambda: ProductSpace([SE3 * Rn(2), SO3]),
    "arm": lambda: arm().space,
    "humanoid": lambda: humanoid().space,
    "every joint": lambda: mixed_tree().space,
}
MAPS = {  # name of a map -> what its arguments are
    "integrate": "qv", "integrate_dq": "qv", "integrate_dv": "qv", "difference": "qq", "difference_dq0": "qq",
    "difference_dq1": "qq", "compose": "qq", "inverse": "q", "adjoint": "q", "log": "q", "normalize": "q",
    "exp": "v", "exp_jacobian": "v", "log_jacobian": "v",
}  # fmt: skip


def samples(space: Space, kinds: str, size: int | None = None) -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    shape = (space.nv,) if size is None else (size, space.nv)
    return [space.random(rng, size=size) if kind == "q" else rng.uniform(-1.0, 1.0, shape) for kind in kinds]


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("space", SPACES)
def test_lists_tuples_and_copies_from_pickles_give_what_arrays_give(space: str, name: str) -> None:
    """Mend 11: to the bit, for one vector and for rows."""
    where = SPACES[space]()
    for size in (None, 3):
        arrays = samples(where, MAPS[name], size)
        expected = getattr(where, name)(*arrays)
        for given in (
            [a.tolist() for a in arrays],
            [tuple(a.tolist()) for a in arrays],
            pickle.loads(pickle.dumps(arrays)),
            [np.asfortranarray(a) for a in arrays],
            [np.repeat(a, 2, axis=-1)[..., ::2] for a in arrays],
            [a[::-1].copy()[::-1] for a in arrays],
        ):
            found = getattr(where, name)(*given)
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("space", SPACES)
def test_integers_and_single_precision_count_as_numbers(space: str, name: str) -> None:
    """Mend 11: integers are read as what they stand for, and the result is float64."""
    where = SPACES[space]()
    q, v = np.array(where.neutral), np.zeros(where.nv)
    v[:1] = 2.0
    exact = [q if kind == "q" else v for kind in MAPS[name]]
    expected = getattr(where, name)(*exact)
    for dtype in (np.int64, np.int8, np.float32, ">f8"):
        found = getattr(where, name)(*[a.astype(dtype) for a in exact])
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected)


REFUSED: list[tuple[Any, type[ConstraintError]]] = [
    (None, DtypeError),
    ("abc", DtypeError),
    ({"x": 1.0}, DtypeError),
    ([[1.0], [1.0, 2.0]], DtypeError),
    (object(), DtypeError),
    (1.0, SizeError),
    (np.zeros(50), SizeError),
    (np.zeros((2, 50)), SizeError),
]


def masked(size: int) -> Any:
    """An array whose last entry is masked."""
    return np.ma.masked_array(np.zeros(size), mask=np.arange(size) == size - 1)


def test_a_mask_without_masked_entries_is_no_mask() -> None:
    q = SE3.random(np.random.default_rng(0))
    np.testing.assert_array_equal(SE3.log(np.ma.masked_array(q)), SE3.log(q))
    with pytest.raises(
        DtypeError, match=re.escape("a masked array without numbers at [6] (array.filled(number) gives")
    ):
        SE3.check(masked(7))
    for read in (real_numbers, lambda values, what: truth_values(values, what, "truth values")):
        with pytest.raises(DtypeError, match=r"mine: .* masked array without numbers at \[2\]"):
            read(masked(3), "mine")


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("space", ["R3", "SO2", "SO3", "SE2", "SE3", "nested", "humanoid"])
def test_everything_else_is_refused_by_name(space: str, name: str) -> None:
    """Mend 11: a typed error names what it is that came, and of which space."""
    where = SPACES[space]()
    kinds = MAPS[name]
    for place, kind in enumerate(kinds):
        what = "configuration of " if kind == "q" else "tangent vector of "
        size = where.nq if kind == "q" else where.nv
        for bad, error in [*REFUSED, (np.ones(size, dtype=bool), DtypeError), (np.ones(size) * 1j, DtypeError),
                           (["1.0"] * size, DtypeError), ([None] * size, DtypeError), (masked(size), DtypeError),
                           ([masked(size)], DtypeError), ([np.ma.masked] * size, DtypeError)]:  # fmt: skip
            given: list[Any] = samples(where, kinds)
            given[place] = bad
            with pytest.raises(error, match=what):
                getattr(where, name)(*given)


@pytest.mark.parametrize("name", [name for name, kinds in MAPS.items() if len(kinds) == 2])
def test_rows_that_do_not_go_together_are_refused(name: str) -> None:
    """Mend 11: three rows and four rows."""
    three, four = samples(SE3, MAPS[name][0], 3), samples(SE3, MAPS[name][1], 4)
    with pytest.raises(SizeError, match="leading axes"):
        getattr(SE3, name)(three[0], four[0])


def test_a_step_of_a_robot_may_be_a_list() -> None:
    """Mend 11: the case of the report; it was "'list' object has no attribute 'shape'"."""
    robot = arm()
    q = robot.space.integrate(robot.neutral, [0.1] * robot.nv)
    np.testing.assert_array_equal(q, robot.space.integrate(robot.neutral, np.full(robot.nv, 0.1)))


def test_interpolation_takes_lists() -> None:
    """Mend 11: points, and fractions of the way."""
    q0, q1 = samples(SE3, "qq")
    rows = SE3.interpolate(q0.tolist(), q1.tolist(), [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(rows, SE3.interpolate(q0, q1, np.array([0.0, 0.5, 1.0])))
    np.testing.assert_allclose(rows[2], q1 * np.sign(rows[2] @ q1), atol=1e-12)
    with pytest.raises(DtypeError, match="fraction"):
        SE3.interpolate(q0, q1, "half")  # pyright: ignore[reportArgumentType]
    with pytest.raises(SizeError, match="leading axes"):
        SE3.interpolate(np.array([q0] * 3), np.array([q1] * 3), [0.0, 1.0])


def test_error_reads_its_points_and_looks_at_what_it_writes_to() -> None:
    """Mend 11: in place, so the receiver is an array; integers would lose all that is behind the point."""
    q0, q1 = samples(SE3, "qq")
    e, expected = np.zeros(6), SE3.difference(q0, q1)
    SE3.error(q0.tolist(), tuple(q1), e)
    np.testing.assert_array_equal(e, expected)
    for receiver in (np.zeros(6, dtype=int), [0.0] * 6, None):
        with pytest.raises(WrongObjectError, match="float64"):
            SE3.error(q0, q1, receiver)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SizeError, match="e of error"):
        SE3.error(q0, q1, np.zeros((2, 6)))
    with pytest.raises(SizeError, match="jacobian of error"):
        SE3.error(q0, q1, e, np.zeros((5, 3)))
    with pytest.raises(SizeError, match="points of error"):
        SE3.error(np.array([q0, q0]), q1, e)


def test_norms_are_read_from_lists_too() -> None:
    """Mend 11: one point alone has an answer."""
    assert SO3.is_normalized([0, 0, 0, 1])
    assert not (SO3 * SO2).is_normalized([0, 0, 0, 1, 0.5, 0.5])
    with pytest.raises(SizeError, match="one vector"):
        SO3.is_normalized([[0, 0, 0, 1]])


def test_points_are_drawn_by_a_generator_between_numbers() -> None:
    """Mend 11: a seed, or numpy's old generator, is none; bounds may be lists."""
    rng = np.random.default_rng(0)
    assert (np.abs(Rn(2).random(rng, [-0.1, -0.2], (0.1, 0.2), size=100)).max(axis=0) <= [0.1, 0.2]).all()
    for bad in (0, None, np.random.RandomState(0)):
        with pytest.raises(WrongObjectError, match="rng"):
            SO3.random(bad)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DtypeError, match="lower bounds"):
        Rn(2).random(rng, ["a", "b"])
    with pytest.raises(SizeError, match="size of random points"):
        Rn(2).random(rng, size=-1)


@pytest.mark.parametrize("size", [0.5, 2.0, 1e150])
def test_a_quaternion_too_short_or_too_long_is_asked_for_its_order(size: float) -> None:
    words = f"its norm is {size:g}; is the order x y z w, after x y z in a pose"
    with pytest.raises(NotNormalizedError, match=re.escape(words)):
        SO3.check(size * SO3.neutral)


@pytest.mark.parametrize("space", [SO2, SO3, SE3])
def test_a_zero_vector_is_not_told_to_be_divided_by_its_norm(space: Space) -> None:
    """Mend 17: of norm 0 no division makes a unit vector; of another norm it does."""
    with pytest.raises(NotNormalizedError, match="its norm is 0; the zero vector has no direction"):
        space.check(np.zeros(space.nq))
    with pytest.raises(NotNormalizedError, match="its norm is 0; the zero vector has no direction"):
        space.normalize(np.zeros(space.nq))
    with pytest.raises(NotNormalizedError, match="divide it by its norm"):
        space.check(2.0 * space.neutral)
