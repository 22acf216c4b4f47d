"""Double support: what stays and what may move, of feet in any frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import humanoid

from constraints import ComBetweenFeet, Implicit, Problem, Projector, Robot, double_support
from constraints.errors import ConstraintError

FEET = ("lleg6_joint", "rleg6_joint")
MODES: dict[str, dict[str, Any]] = {
    "fixed": {}, "sliding": {"sliding": True}, "aligned": {"aligned": True},
    "aligned, sliding": {"aligned": True, "sliding": True},
}  # fmt: skip


def standing() -> tuple[Robot, np.ndarray]:
    """Feet beside each other, the soles' frames turned in all directions, the centre of mass above their line."""
    robot = humanoid().with_frame("left", FEET[0], pin.SE3(pin.utils.rotate("x", 0.9), np.array([0.1, 0.0, 0.0])))
    robot = robot.with_frame("right", FEET[1], pin.SE3(pin.utils.rotate("y", -0.4), np.array([0.1, 0.0, 0.0])))
    line = ComBetweenFeet(robot, "left", "right", "universe")
    problem = Problem(robot, [Implicit.zero(line, mask=[0, 1, 0, 0])])
    start = robot.space.integrate(robot.neutral, 0.1 * np.random.default_rng(0).standard_normal(robot.nv))
    return robot, Projector(problem).project(start).or_raise().q


def errors(constraints: tuple[Implicit, ...], q: np.ndarray) -> dict[str, float]:
    problem = Problem(constraints[0].function.inputs, list(constraints))
    return {c.name: float(np.abs(problem.error(q, c)).max()) for c in constraints}


@pytest.mark.parametrize("mode", MODES)
def test_the_posture_itself_is_one(mode: str) -> None:
    robot, q = standing()
    given = double_support(robot, "left", "right", q, **MODES[mode])
    assert given[0].name == "balance"
    assert max(errors(given, q).values()) < 1e-4
    assert Projector(Problem(robot, list(given))).project(q).success


@pytest.mark.parametrize(
    ("mode", "moving"),
    [
        ("fixed", {"left", "right"}),
        ("sliding", {"left along the ground"}),
        ("aligned", {"left", "right"}),
        ("aligned, sliding", set()),
    ],
)
def test_the_whole_robot_goes_and_turns_along_the_ground(mode: str, moving: set[str]) -> None:
    """What sees it is what holds the feet in their places; the place along the ground is where it went."""
    robot, q = standing()
    given = double_support(robot, "left", "right", q, **MODES[mode])
    gone = np.array(q)
    left = pin.XYZQUATToSE3(q[:7])
    about = robot.at(q).placement("left").translation
    turn = pin.SE3(pin.utils.rotate("z", 0.6), np.zeros(3))
    shift = pin.SE3(np.eye(3), about + np.array([0.3, -0.2, 0.0])) * turn * pin.SE3(np.eye(3), -about)
    gone[:7] = pin.SE3ToXYZQUAT(shift * left)
    found = errors(given, gone)
    assert {name for name, error in found.items() if error > 1e-4} == moving
    if "left along the ground" in found:
        row = next(c for c in given if c.name == "left along the ground").function.value(gone)
        np.testing.assert_allclose(row, [0.3, -0.2, 0.0, 0.0, 0.0, 0.6], rtol=0, atol=1e-12)
    lifted = np.array(gone)
    lifted[2] += 0.05
    assert max(errors(given, lifted).values()) > 0.04


def test_rows_of_each_mode() -> None:
    robot, q = standing()
    for mode, rows in (("sliding", 3 + 6 + 3 + 3), ("aligned, sliding", 4 + 3 + 3), ("fixed", 15), ("aligned", 16)):
        given = double_support(robot, "left", "right", q, **MODES[mode])
        assert sum(int(np.sum(c.rows.mask)) for c in given) == rows
    names = {
        "fixed": ["left", "right"], "aligned": ["left", "right"],
        "sliding": ["right seen from left", "left on the ground", "left along the ground"],
        "aligned, sliding": ["left on the ground", "right on the ground"],
    }  # fmt: skip
    for mode, named in names.items():
        assert [c.name for c in double_support(robot, "left", "right", q, **MODES[mode])] == ["balance", *named]
    flat = double_support(robot, "left", "right", q, mask=[True, True, False])
    assert np.sum(flat[0].rows.mask) == 2
    legs = double_support(robot, "left", "right", q, subtrees=["lleg1_joint", "rleg1_joint"])
    assert not np.allclose(legs[0].function.value(q), flat[0].function.value(q))


def test_another_posture_is_projected_back_and_the_mass_stays_between_the_feet() -> None:
    robot, q = standing()
    rng = np.random.default_rng(1)
    for mode in MODES:
        given = double_support(robot, "left", "right", q, **MODES[mode])
        start = robot.space.integrate(q, 0.1 * rng.standard_normal(robot.nv))
        found = Projector(Problem(robot, list(given))).project(start).or_raise().q
        posture = robot.at(found)
        c = posture.center_of_mass()[:2]
        left, right = (posture.placement(name).translation[:2] for name in ("left", "right"))
        u = right - left
        if "aligned" in mode:
            assert -1e-3 < (c - left) @ u / (u @ u) < 1.0 + 1e-3
            assert abs((c - left)[0] * u[1] - (c - left)[1] * u[0]) < 1e-3
        upright = robot.at(q).placement("left").rotation @ posture.placement("left").rotation.T
        np.testing.assert_allclose(upright[2], [0.0, 0.0, 1.0], rtol=0, atol=1e-3)


def test_a_foot_that_is_not_there_is_named() -> None:
    robot, q = standing()
    with pytest.raises(ConstraintError, match="lefd"):
        double_support(robot, "lefd", "right", q)
