"""Results are unit whatever the rounding of what is given, and messages say what the numbers of a space are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from liegroups import SE2, SE3, SO2, SO3, Layout, R3xSO3, Rn, Space
from liegroups.by_name import by_name, no_factor, order_of, tangent_of
from liegroups.errors import SizeError, UnknownNameError
from liegroups.layout import Factor

SPACES = [SO2, SO3, SE2, SE3, R3xSO3, SO3 * SE2, SO2 * Rn(2) * SO2]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
@pytest.mark.parametrize("scale", [1.0 - 4e-7, 1.0 - 1e-9, 1.0 + 1e-9, 1.0 + 4e-7])
def test_what_comes_out_is_unit(space: Space, scale: float) -> None:
    """Products, steps and ways between two points, one by one and stacked, of points whose norms are a little off."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        p, q, v = space.random(rng), space.random(rng), rng.normal(size=space.nv)
        exact = space.integrate(p, v), space.compose(p, q), space.interpolate(p, q, 0.3)
        for block in space.unit_blocks:
            p[block] *= scale
            q[block] *= scale
        found = space.integrate(p, v), space.compose(p, q), space.interpolate(p, q, 0.3)
        stacked = space.integrate(np.array([p, q]), v)[0], space.compose(np.array([p, p]), np.array([q, q]))[1]
        for each in (*found, *stacked):
            for block in space.unit_blocks:
                assert abs(np.linalg.norm(each[block]) - 1.0) < 4e-16
        for mine, theirs in zip((*found, *stacked), (*exact, *exact[:2]), strict=True):
            assert np.abs(mine - theirs).max() < 1e-5


def test_random_points_are_unit_one_by_one_and_stacked() -> None:
    for space in SPACES:
        for points in (space.random(np.random.default_rng(1), size=40), space.random(np.random.default_rng(1))[None]):
            for block in space.unit_blocks:
                np.testing.assert_allclose(np.linalg.norm(points[:, block], axis=1), 1.0, atol=4e-16)


@pytest.mark.parametrize(
    ("space", "hint"),
    [
        (SO2, "(cos, sin)"), (SO3, "the quaternion xyzw"), (SE3, "the position, then the quaternion xyzw"), (Rn(3), ""),
        (SE2, "x, y, then (cos, sin)"), (R3xSO3, "'SO3' takes 4 numbers"), (Rn(2) * SO3, "'SO3' takes 4 numbers"),
        (SO2 * Rn(2) * SE3, "'SO2' takes 2 numbers, 'SE3' takes 7 numbers"),
        (Rn(2) * Rn(1), ""), (SO3 * SO3 * SO2 * SE2, "'SO3[0]' takes 4 numbers, 'SO3[1]' takes 4 numbers, "
                              "'SO2' takes 2 numbers, 'SE2' takes 4 numbers"),
        (SO3 * SO3 * SO2 * SE2 * SE3, "'SO3[0]' takes 4 numbers, 'SO3[1]' takes 4 numbers, 'SO2' takes 2 numbers, "
                                      "'SE2' takes 4 numbers, ..."),
    ],
    ids=lambda each: each.name if isinstance(each, Space) else None,
)  # fmt: skip
def test_what_the_numbers_are(space: Space, hint: str) -> None:
    """Of a group their order, of a product the factors that take more numbers than they have coordinates."""
    assert space.layout.hint == hint
    with pytest.raises(SizeError) as caught:
        space.check(np.zeros(space.nq + 1))
    assert str(caught.value).endswith(f"({hint})" if hint else f"received {space.nq + 1}")
    fresh = Layout.group("G", [1.0, 0.0], 1, [slice(0, 2)], "cosine and sine")
    assert fresh.hint == "cosine and sine"


def test_valid_names_are_listed_up_to_40_of_them_and_200_characters_each() -> None:
    names = [f"{i:02d}" for i in range(41)]
    assert str(UnknownNameError("frame", "x", names[:40])).endswith(f"the valid names are {', '.join(names[:40])}")
    assert str(UnknownNameError("frame", "x", names)).endswith(f"{', '.join(names[:40])}, and 1 more")
    for n, shown in ((200, 200 * "a"), (201, f"{200 * 'a'}...")):
        assert str(UnknownNameError("frame", "x", [n * "a"])).endswith(f"the valid names are {shown}")


def test_numbers_by_name_and_back() -> None:
    """Of a point, or of a tangent vector; plain numbers where a factor has one; both sizes are named otherwise."""
    space = SO3 * Rn(1) * SO2
    names = [factor.name for factor in space.factors]
    q, v = space.random(np.random.default_rng(0)), np.arange(5.0)
    point, tangent = by_name(q, space.factors), by_name(v, space.factors)
    assert list(point) == list(tangent) == names
    np.testing.assert_array_equal(point[names[0]], q[:4])
    np.testing.assert_array_equal(point[names[2]], q[5:])
    np.testing.assert_array_equal(tangent[names[0]], v[:3])
    assert (point[names[1]], tangent[names[1]], tangent[names[2]]) == (q[4], 3.0, 4.0)
    assert type(tangent[names[1]]) is float
    with pytest.raises(SizeError, match="expected size 5, or 7 of a point, received 6"):
        by_name(np.zeros(6), space.factors)
    with pytest.raises(SizeError, match="expected size 3, received 4"):
        by_name(np.zeros(4), (Rn(1) * Rn(2)).factors)
    assert by_name(np.zeros(0), ()) == {}
    with pytest.raises(SizeError, match="expected size 0, received 1"):
        by_name(np.zeros(1), ())

    def read(values: Any) -> list[float]:
        return tangent_of(values, space.factors, "v", space.name, no_factor).tolist()

    assert read(dict(tangent)) == v.tolist()
    assert read({names[2]: [0.5]}) == [0.0, 0.0, 0.0, 0.0, 0.5]
    assert read(v) == v.tolist()
    with pytest.raises(UnknownNameError, match="v: no factor is named 'R7'"):
        read({"R7": 1.0})
    with pytest.raises(SizeError, match=f"v, '{names[0]}'"):
        read({names[0]: 1.0})
    with pytest.raises(SizeError, match="or by name"):
        read(np.zeros(4))
    assert tangent_of([], (), "v", "R0", no_factor).size == 0
    assert order_of(SO3.factors) == ""
    assert order_of(space.factors) == f"in the order {', '.join(names)}; or by name, {{{names[0]!r}: ...}}"
    six, seven = (named_product(n) for n in (6, 7))
    assert order_of(six).startswith("in the order a0, a1, a2, a3, a4, a5; or")
    assert order_of(seven).startswith("in the order a0, a1, a2, a3, a4, a5, ...; or")


def named_product(count: int) -> tuple[Factor, ...]:
    return tuple(Factor(Rn(1), slice(i, i + 1), slice(i, i + 1), f"a{i}") for i in range(count))
