"""Results are unit whatever the rounding of what is given, and messages say what the numbers of a space are."""

from __future__ import annotations

import numpy as np
import pytest

from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Rn, SizeError, Space

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
        (Rn(2) * SO3, "'SO3' takes 4 numbers"), (SO2 * Rn(2) * SE3, "'SO2' takes 2 numbers, 'SE3' takes 7 numbers"),
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
