"""Linkages with published figures, driven all the way. Each figure is derived here again, then asked of a sweep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from constraints.models import Mechanism, mechanisms
from constraints.reduced import SweepStatus, minimal_coordinates
from constraints.reduced.sweeps.singularities import SingularityKind

GROUND, CRANK, COUPLER, ROCKER = 0.1, 0.04, 0.12, 0.08
"""R. L. Norton, Design of Machinery, example 4-1: crank 40, coupler 120, rocker 80, ground 100 mm."""
TURN = 2.0 * np.pi


def crank_rocker() -> Mechanism:
    return mechanisms.four_bar(GROUND, CRANK, COUPLER, ROCKER, math.radians(40.0))


def freudenstein(crank: float) -> tuple[list[float], list[float]]:
    """Angles of rocker and coupler at an angle of the crank, open then crossed: the half-angle formulas of Norton."""
    k1, k2 = GROUND / CRANK, GROUND / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2.0 * CRANK * ROCKER)
    k4, k5 = GROUND / COUPLER, (ROCKER**2 - GROUND**2 - CRANK**2 - COUPLER**2) / (2.0 * CRANK * COUPLER)
    c, s = math.cos(crank), math.sin(crank)

    def halves(first: float, constant: float) -> list[float]:
        A, B, C = c - k1 + first * c + constant, -2.0 * s, k1 + (first - 1.0) * c + constant
        return [2.0 * math.atan((-B + sign * math.sqrt(B * B - 4.0 * A * C)) / (2.0 * A)) for sign in (-1.0, 1.0)]

    return halves(-k2, k3), halves(k4, k5)


def test_both_branches_of_norton_at_a_crank_angle_of_40_degrees() -> None:
    """Norton, Design of Machinery, example 4-1: rocker 57.33 and -98.01 deg, coupler 20.30 and -60.98 deg."""
    rockers, couplers = freudenstein(math.radians(40.0))
    np.testing.assert_allclose(np.degrees(rockers), [57.33, -98.01], atol=0.006)
    np.testing.assert_allclose(np.degrees(couplers), [20.30, -60.98], atol=0.006)
    linkage = crank_rocker()
    found = linkage.branches(linkage.posture("closed"))
    assert len(found) == 2
    assert {way.sign for way in found.ways} == {-1.0, 1.0}
    assert all(way.found > 10 for way in found.ways)
    for way, rocker, coupler in zip(found.ways, rockers, couplers, strict=True):
        off = np.array([way.q[2] - rocker, way.q[0] + way.q[1] - coupler])
        np.testing.assert_allclose(off - TURN * np.round(off / TURN), 0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("end", "sign", "rocker", "crank"), [(0.0, 1.0, 54.900, 24.147), (200.0, -1.0, 128.682, 231.318)]
)
def test_dead_points_of_the_crank_rocker_driven_at_its_rocker(
    end: float, sign: float, rocker: float, crank: float
) -> None:
    """Norton's crank-rocker driven at its rocker: dead points at 54.900 and 128.682 deg, crank 24.147 and 231.318.

    Crank and coupler are on one line there, 160 or 80 mm long: by the law of cosines
    cos(180 deg - rocker) = (ground^2 + rocker^2 - line^2) / (2 ground rocker).
    """
    line = COUPLER + sign * CRANK
    inner = math.acos((GROUND**2 + ROCKER**2 - line**2) / (2.0 * GROUND * ROCKER))
    at_crank = math.acos((GROUND**2 + line**2 - ROCKER**2) / (2.0 * GROUND * line)) + (0.0 if sign > 0.0 else np.pi)
    assert math.degrees(np.pi - inner) == pytest.approx(rocker, abs=6e-4)
    assert math.degrees(at_crank) == pytest.approx(crank, abs=6e-4)
    linkage = crank_rocker()
    found = linkage.sweep(linkage.posture("closed"), "rocker", np.radians(np.linspace(57.0, end, 50)))
    assert found.status is SweepStatus.DEAD_POINT
    (dead,) = found.singularities
    assert dead.kind is SingularityKind.DEAD_POINT
    assert dead.joints == ("crank", "coupler")
    assert abs(dead.value - (np.pi - inner)) < 1e-10
    assert found.end_value == dead.value
    assert abs((dead.q[0] - at_crank) % TURN) < 1e-6 or abs((dead.q[0] - at_crank) % TURN - TURN) < 1e-6


def test_transmission_angle_of_the_crank_rocker() -> None:
    """Norton's crank-rocker: 26.384 to 86.417 deg over a turn of the crank.

    The extremes are where the crank is on the line of the ground: the coupler's and the rocker's ends are then
    ground -+ crank apart, cos mu = (coupler^2 + rocker^2 - (ground -+ crank)^2) / (2 coupler rocker).
    """
    extremes = [
        math.acos((COUPLER**2 + ROCKER**2 - (GROUND + s * CRANK) ** 2) / (2.0 * COUPLER * ROCKER)) for s in (-1.0, 1.0)
    ]
    np.testing.assert_allclose(np.degrees(extremes), [26.384, 86.417], atol=6e-4)
    linkage = crank_rocker()
    found = linkage.sweep(linkage.posture("closed"), "crank", np.radians(np.arange(0.0, 361.0, 5.0))).or_raise()
    angles = found.transmission_angles()
    assert angles[0] == pytest.approx(extremes[0], abs=1e-9)
    assert angles[36] == pytest.approx(extremes[1], abs=1e-9)
    assert angles.min() >= extremes[0] - 1e-9
    assert angles.max() <= extremes[1] + 1e-9


Sizes = tuple[float, float, float, float]


def leg_determinant(yaw: float, R: float, r: float, spread: float, height: float) -> float:
    """Of the lines of the six legs (direction, moment) of a platform turned by a yaw, level, above its base."""
    pair, side = 2.0 * np.pi / 3.0 * (np.arange(6) // 2), np.where(np.arange(6) % 2, 1.0, -1.0)
    base, top = pair + side * spread, pair + side * (np.pi / 3.0 - spread) + yaw
    A = np.stack([R * np.cos(base), R * np.sin(base), np.zeros(6)], axis=1)
    B = np.stack([r * np.cos(top), r * np.sin(top), np.full(6, height)], axis=1)
    return float(np.linalg.det(np.hstack([B - A, np.cross(A, B - A)])))


@pytest.mark.parametrize("sizes", [(0.5, 0.3, 0.3, 0.5), (0.5, 0.5, 0.1, 0.8), (0.4, 0.6, 0.4, 0.3)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_stewart_platform_is_singular_at_a_yaw_of_90_degrees(sizes: Sizes, side: float) -> None:
    """E. F. Fichter, A Stewart platform-based manipulator (1986): singular where it is turned by +-90 deg.

    Base and platform are semi-regular hexagons; the determinant of the legs' lines is that at yaw 0 times cos(yaw).
    """
    for yaw in (0.4, 1.3, 2.0):
        assert leg_determinant(yaw, *sizes) == pytest.approx(leg_determinant(0.0, *sizes) * math.cos(yaw), rel=1e-9)
    platform = mechanisms.stewart_platform(*sizes)
    found = platform.sweep(
        platform.posture("closed"),
        "platform[5]",
        side * np.linspace(0.1, 2.0, 12),
        preferred=["platform"],
        actuated=platform.motors,
    ).or_raise()
    assert found.held == tuple(f"platform[{i}]" for i in range(5))
    (singular,) = found.singularities
    assert singular.kind is SingularityKind.ACTUATORS
    assert abs(singular.value - side * np.pi / 2.0) < 1e-9
    assert {"platform[2]", "platform[5]"} <= set(singular.joints)  # a screw: it turns and rises
    assert not {f"length{i + 1}" for i in range(6)} & set(singular.joints)
    least = found.least_with(platform.motors)
    assert least.argmin() == np.abs(np.abs(found.values) - np.pi / 2.0).argmin()


def test_two_regular_hexagons_are_singular_everywhere() -> None:
    """An architecture singularity (Ma and Angeles 1991): similar regular hexagons; said at the start, once."""
    assert abs(leg_determinant(0.3, 0.5, 0.3, np.pi / 6.0, 0.5)) < 1e-12
    platform = mechanisms.stewart_platform(0.5, 0.3, np.pi / 6.0)
    found = platform.sweep(
        platform.posture("closed"), "platform[5]", [0.5, 1.0], preferred=["platform"], actuated=platform.motors
    ).or_raise()
    assert [(each.kind, each.value) for each in found.singularities] == [(SingularityKind.ACTUATORS, 0.0)]
    assert found.least_with(platform.motors).max() < 1e-9


def test_bennett_linkage_along_a_whole_turn() -> None:
    """K. H. Hunt, Kinematic Geometry of Mechanisms: tan(t1/2) tan(t2/2) is constant, sin((b+a)/2) / sin((b-a)/2).

    Six rows of rank three: three of them are redundant, one coordinate is independent, and the rest follow.
    """
    alpha, beta = 0.6, 1.2
    constant = math.sin(0.5 * (beta + alpha)) / math.sin(0.5 * (beta - alpha))
    linkage = mechanisms.bennett(0.3, alpha, beta)
    q = linkage.posture("closed")
    parts = minimal_coordinates(linkage.constraint_set(), q, independent=["hinge1"])
    assert (parts.partition.rank, len(parts.redundant), parts.dependent) == (3, 3, ("hinge2", "hinge3", "hinge4"))
    found = linkage.sweep(q, "hinge1", q[0] + np.linspace(0.0, TURN, 73)).or_raise()
    one, two, three, four = found.qs.T
    # divided by the tangents, for these go through infinity
    left = np.sin(one / 2.0) * np.sin(two / 2.0) - constant * np.cos(one / 2.0) * np.cos(two / 2.0)
    np.testing.assert_allclose(left, 0.0, atol=1e-10)
    np.testing.assert_allclose(np.sin([one + three, two + four]), 0.0, atol=1e-10)
    back = found.qs[-1] - found.qs[0]
    np.testing.assert_allclose(back, np.array([1.0, -1.0, -1.0, 1.0]) * TURN, atol=1e-10)
    assert set(found.signs.tolist()) == {found.signs[0]}
    assert not found.singularities
    for q in found.qs[::12]:
        judged = linkage.judge(q)
        assert (judged.rank, judged.mobility, len(judged.redundant)) == (3, 1, 3)
