"""Agreement with pinocchio's groups: integrate, difference and their four Jacobians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Rn, Space

POINTS = 1000

GROUPS: dict[str, tuple[Space, Any]] = {
    "R7": (Rn(7), pin.liegroups.Rn(7)),
    "SO2": (SO2, pin.liegroups.SO2()),
    "SE2": (SE2, pin.liegroups.SE2()),
    "SO3": (SO3, pin.liegroups.SO3()),
    "SE3": (SE3, pin.liegroups.SE3()),
    "R3xSO3": (R3xSO3, pin.liegroups.Rn(3) * pin.liegroups.SO3()),
    "SE3xR2xSO2": (SE3 * Rn(2) * SO2, pin.liegroups.SE3() * pin.liegroups.Rn(2) * pin.liegroups.SO2()),
    "SE2xSO3^2": (SE2 * SO3**2, pin.liegroups.SE2() * pin.liegroups.SO3() * pin.liegroups.SO3()),
}
BOTH = pytest.mark.parametrize(("ours", "theirs"), GROUPS.values(), ids=GROUPS)


def points(space: Space) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(20)
    return space.random(rng, size=POINTS), space.random(rng, size=POINTS), rng.uniform(-2, 2, (POINTS, space.nv))


def tolerance(space: Space, d: np.ndarray) -> float:
    """1e-12, but where pinocchio itself loses digits: near pi, and in SE(2) by 1/angle^2 near zero (1 - cos)."""
    bound = 1e-12
    for leaf in space.leaves():
        if leaf.space in (SO3, SE3):
            bound = max(bound, 1e-12 / float(np.pi - np.linalg.norm(d[leaf.v][-3:])))
        elif leaf.space == SE2:
            bound = max(bound, 1e-15 / float(d[leaf.v][-1]) ** 2)
    return bound


def up_to_sign(space: Space, a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance of coordinates, q and -q of a quaternion being one."""
    worst, rest = 0.0, np.ones(space.nq, dtype=bool)
    for block in space.unit_blocks:
        if block.stop - block.start == 4:
            rest[block] = False
            worst = max(worst, min(np.max(np.abs(a[block] - b[block])), np.max(np.abs(a[block] + b[block]))))
    return max(worst, float(np.max(np.abs(a - b)[rest], initial=0.0)))


@BOTH
def test_sizes_and_neutral(ours: Space, theirs: Any) -> None:
    assert (ours.nq, ours.nv) == (theirs.nq, theirs.nv)
    assert np.array_equal(ours.neutral, theirs.neutral)


@BOTH
def test_integrate_and_difference(ours: Space, theirs: Any) -> None:
    for q, p, v in zip(*points(ours), strict=True):
        assert up_to_sign(ours, ours.integrate(q, v), theirs.integrate(q, v)) < 1e-12
        d = ours.difference(q, p)
        assert np.max(np.abs(d - theirs.difference(q, p))) < tolerance(ours, d)


@BOTH
def test_jacobians(ours: Space, theirs: Any) -> None:
    first, second = pin.ArgumentPosition.ARG0, pin.ArgumentPosition.ARG1
    for q, p, v in zip(*points(ours), strict=True):
        d = ours.difference(q, p)
        pairs = [
            (ours.integrate_dq(q, v), theirs.dIntegrate_dq(q, v), 1e-12),
            (ours.integrate_dv(q, v), theirs.dIntegrate_dv(q, v), 1e-12),
            (ours.difference_dq0(q, p), theirs.dDifference(q, p, first), tolerance(ours, d)),
            (ours.difference_dq1(q, p), theirs.dDifference(q, p, second), tolerance(ours, d)),
        ]
        for a, b, bound in pairs:
            assert np.max(np.abs(a - b)) < bound
