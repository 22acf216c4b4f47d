"""What rows of relative poses change by: exact slopes of every map against differences, at the bad places too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from loops.test_hinges import HINGES

from constraints.linear_algebra import norm
from constraints.loops import Hinge
from constraints.loops.contacts import LocalPoint, PointRates, TwistRows
from constraints.loops.hinges.custom_fit import CustomRows
from constraints.loops.hinges.hinge_fit import hinge_rows, rate_matrix, rate_slopes
from constraints.loops.hinges.hinge_rates import hinge_rates
from constraints.loops.hinges.pose_map import LogPose, PoseMap, Rod, Split, TurnedLog
from constraints.loops.hinges.rotation_rows import Swing, Turn
from liegroups.formulas.log_slopes import FIVE_POINTS

TURN = pin.exp3(np.array([0.3, -0.8, 0.5]))
SOME = np.array([[0.3, -0.2, 0.9], [1.0, 0.4, 0.0]])
A, B = np.array([0.6, 0.0, 0.8]), np.array([0.0, -0.28, 0.96])

MAPS: dict[str, PoseMap] = {
    **{f"derivative {name}": hinge_rows(hinge) for name, hinge in HINGES.items() if name not in ("free", "custom")},
    **{
        f"rates {name}": hinge_rates(hinge, name) for name, hinge in HINGES.items() if name not in ("free", "custom")
    },
    "some of both": Split(SOME, Turn(TURN)), "swing of two axes": Split(SOME, Swing(A, B)),
    "translation": Split(np.eye(3), None), "rod": Rod(0.4), "log": LogPose(), "turned log": TurnedLog(TURN),
    "local point": LocalPoint(SOME, True),
    "loose local point": LocalPoint(SOME, False), "point rates": PointRates(np.eye(3)),
    "twist": TwistRows(None, True), "turned twist": TwistRows(TURN, True), "classical": TwistRows(TURN, False),
    "local classical": TwistRows(None, False),
}  # fmt: skip
ANGLES = (0.0, 1e-8, 1e-4, 1e-2, 0.5, 1.2, 1.3, 2.2, 2.9, 3.1)
"""Zero, both sides of the switch of the series, long turns."""


def poses(rng: np.random.Generator, angles: tuple[float, ...] = ANGLES) -> list[Any]:
    found = []
    for angle in angles:
        axis = rng.standard_normal(3)
        found.append(pin.SE3(pin.exp3(angle * axis / np.linalg.norm(axis)), rng.standard_normal(3)))
    return found


def near(mine: Any, theirs: Any, tolerance: float) -> bool:
    return bool(np.abs(mine - theirs).max(initial=0.0) <= tolerance * (1.0 + np.abs(theirs).max(initial=0.0)))


def by_values(f: Any, step: float) -> Any:
    """Second derivatives of values: pinocchio's Jacobians of logarithms are wrong by 1e-8 at small angles."""
    found = []
    for e in np.eye(6):
        found.append(sum(factor * f(scale * step / 1e-3 * e) for scale, factor in FIVE_POINTS) * 1e-3 / step)
    return np.array(found).T


@pytest.mark.parametrize("name", list(MAPS))
def test_slopes_of_a_map(name: str) -> None:
    """Of values, rates, forces and accelerations, by the pose and by its twist, from no turn to nearly a half."""
    pose_map, rng = MAPS[name], np.random.default_rng(3)
    assert pose_map.has_exact_slopes
    if not pose_map.size:
        return
    for pose in poses(rng):
        twist, acceleration = rng.standard_normal(6), rng.standard_normal(6)
        y = rng.standard_normal(pose_map.size)
        found = pose_map.slopes(pose, twist, acceleration, y)

        def D(X: Any) -> Any:
            out, rows = np.zeros(pose_map.size), np.zeros((pose_map.size, 6))
            pose_map.value(X, out, rows)
            return rows

        def second(X: Any, nu: Any, acceleration: Any = acceleration) -> Any:
            out = np.zeros(pose_map.size)
            pose_map.second(X, nu, acceleration, out)
            return out

        def value(X: Any) -> Any:
            out = np.full(pose_map.size, np.nan)
            pose_map.value(X, out)
            return out

        if name not in APART and not name.startswith("rates") and name != "loose local point" and "twist" not in name:
            assert near(D(pose), by_values(lambda d: value(pose * pin.exp6(d)), 1e-3), 1e-8)  # noqa: B023
        changed = second(pose, twist) - second(pose, twist, np.zeros(6))
        assert near(changed, D(pose) @ acceleration, 1e-12)
        h = 4e-3  # beside small angles D itself is off by 1e-8
        assert near(found.rate, by_values(lambda d: D(pose * pin.exp6(d)) @ twist, h), 2e-5)  # noqa: B023
        assert near(found.force, by_values(lambda d: y @ D(pose * pin.exp6(d)), h), 2e-5)  # noqa: B023
        assert near(found.by_pose, by_values(lambda d: second(pose * pin.exp6(d), twist), 1e-3), 2e-7)  # noqa: B023
        assert near(found.by_twist, by_values(lambda d: second(pose, twist + d), 1e-3), 2e-7)  # noqa: B023


def test_slopes_of_a_custom_hinge_stay_on_one_branch_of_its_fit() -> None:
    """Differences are taken of a fit that is continued: at the last pose, fits from afar end on branches apart.

    The drift is a formula: the rate along the twist is to be the same (to 1e-7: logarithms at small angles).
    """
    (turns, slides), rng = np.array([[0.2254, 0.5840, -0.7798], [0.0444, 0.7935, 0.6070]]), np.random.default_rng(6)
    rows = CustomRows(Hinge.custom([Hinge.pin(turns / norm(turns)), Hinge.slider(slides / norm(slides))]))
    assert not rows.has_exact_slopes
    quaternion = np.array([-0.7039, -0.0332, -0.4671, 0.5341])
    afar = pin.XYZQUATToSE3(np.array([-0.0156, 0.0255, 0.5181, *(quaternion / norm(quaternion))]))
    closed = [rows.hinge.kinematics(theta)[0] for theta in rng.uniform(-1.0, 1.0, (8, 2))]
    for pose in (*closed, *(X * pin.exp6(0.1 * rng.standard_normal(6)) for X in closed), afar):
        (twist, x), drift = rng.standard_normal((2, 6)), np.zeros(rows.size)
        y = rng.standard_normal(rows.size)
        found = rows.slopes(pose, twist, np.zeros(6), y)
        rows.second(pose, twist, np.zeros(6), drift)
        assert near(found.rate @ twist, drift, 1e-7)
        assert abs(y @ found.rate @ x - twist @ found.force @ x) < 1e-9 * (1.0 + np.abs(found.rate).max())
        bent = rate_slopes(rows.hinge, pose, twist, np.ones(2)).rate @ twist
        assert near(bent, rows.motion(pose, twist, np.zeros(6))[2], 1e-7)


@pytest.mark.parametrize("name", [name for name in HINGES if name not in ("locked", "free", "custom")])
def test_slopes_of_the_rates_of_a_hinge(name: str) -> None:
    """How fitted coordinates move with the pose, and wrenches of forces on them, by differences of `rate_matrix`."""
    hinge, rng = HINGES[name], np.random.default_rng(8)
    for pose in poses(rng, (0.0, 1e-4, 0.5, 1.2)):
        twist, force = rng.standard_normal(6), rng.standard_normal(hinge.dofs)
        found = rate_slopes(hinge, pose, twist, force)
        assert near(found.F, rate_matrix(hinge, pose), 1e-12)
        assert near(found.rate, by_values(lambda d: rate_matrix(hinge, pose * pin.exp6(d)) @ twist, 1e-3), 1e-6)  # noqa: B023
        assert near(found.force, by_values(lambda d: force @ rate_matrix(hinge, pose * pin.exp6(d)), 1e-3), 1e-6)  # noqa: B023


APART = ("point rates", "turned twist", "classical", "local classical", "rates locked")
"""Whose accelerations are not the derivative of their rates: spatial ones in other axes, classical ones of a body."""


@pytest.mark.parametrize("name", [name for name in MAPS if name not in APART])
def test_slopes_of_a_map_belong_together(name: str) -> None:
    r"""Without differences: the rate along itself is the drift, :math:`rate\,\nu = \ddot r(\dot\nu = 0)`.

    Which tells rates of logarithms at small angles to rounding. And :math:`y^T rate\,x = x_\nu^T force\,x`.
    """
    pose_map, rng = MAPS[name], np.random.default_rng(4)
    if not pose_map.size:
        return
    for pose in poses(rng):
        twist, y, x = rng.standard_normal(6), rng.standard_normal(pose_map.size), rng.standard_normal(6)
        found = pose_map.slopes(pose, twist, np.zeros(6), y)
        drift = np.zeros(pose_map.size)
        pose_map.second(pose, twist, np.zeros(6), drift)
        assert near(found.rate @ twist, drift, 3e-8)
        assert abs(y @ found.rate @ x - twist @ found.force @ x) < 1e-9 * (1.0 + np.abs(found.rate).max())
