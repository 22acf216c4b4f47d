"""Lengths of levers: Jacobians of frames, and how they change, against differences, and where bounds are reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import humanoid, mixed_tree, random_tree, ur5
from short_paths import unit

from constraints import CenterOfMass, Frame, Function, Pose, Position, Robot, Rotation
from constraints.functions.frames.levers import Levers, Norms

# Wherever joints are.


def differences(f: Function, q: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    """What J u changes by along a motion w of bodies, by central differences."""
    t, space = 1e-5, f.inputs
    return (f.jacobian(space.integrate(q, t * w)) - f.jacobian(space.integrate(q, -t * w))) @ u / (2.0 * t)


def pairs_of_frames() -> list[tuple[Any, Any, Any]]:
    found = list[tuple[Any, Any, Any]]()
    locked: Any = mixed_tree().model
    mixed = pin.buildReducedModel(locked, [locked.getJointId("ellipsoid")], pin.neutral(locked))
    for robot in (ur5(), humanoid(), Robot(mixed)):
        names = list(robot.frame_names)
        for a, b in (("universe", names[-1]), (names[len(names) // 2], names[-1]), (names[-1], names[1])):
            found += [(robot, a, b)] if Position(robot, b, a).columns.any() else []
    return found


@pytest.mark.parametrize(("robot", "a", "b"), pairs_of_frames())
def test_columns_and_their_slopes_are_no_longer_than_lengths_say(robot: Any, a: str, b: str) -> None:
    rng = np.random.default_rng(5)
    Q = np.array([robot.random(rng) for _ in range(3)])
    place, turn = Position(robot, b, a), Rotation(robot, b, a)
    pose = Pose(robot, b, a)
    moving = np.ones(robot.nv, dtype=np.bool_)
    levers = Levers.between(robot, place.frame_a, [place.frame_b], Q, moving)
    known = [(place, levers.place(np.ones(1))), (turn, levers.turn), (pose, levers.carried.beside(levers.turn))]
    largest = np.zeros((len(known), 3))
    for q in Q:
        for _ in range(20):
            w, u = unit(rng, place.columns), unit(rng, place.columns)
            for k, (f, norms) in enumerate(known):
                along, across = differences(f, q, w, u), differences(f, q, u, w)
                sizes = np.linalg.norm([f.jacobian(q) @ u, along, 0.5 * (along + across)], axis=1)
                assert (sizes <= np.array(norms) * (1.0 + 1e-9) + 1e-8).all()
                largest[k] = np.maximum(largest[k], sizes / np.maximum(norms, 1e-9))
    assert largest[0].max() > 0.03  # they are not too long to be of use


def test_a_mean_is_no_farther_than_the_mean_of_lengths() -> None:
    robot, rng = humanoid(), np.random.default_rng(6)
    f, q = CenterOfMass(robot), robot.random(rng)
    frames, shares = f.centers
    norms = Levers.between(robot, f.frame_a, frames, q[None], np.ones(robot.nv, dtype=np.bool_)).place(shares)
    for _ in range(40):
        w, u = unit(rng, f.columns), unit(rng, f.columns)
        along, across = differences(f, q, w, u), differences(f, q, u, w)
        sizes = np.linalg.norm([f.jacobian(q) @ u, along, 0.5 * (along + across)], axis=1)
        assert (sizes <= np.array(norms) + 1e-8).all()


def test_norms_of_two_are_those_of_all_rows() -> None:
    assert np.allclose(Norms(3.0, 5.0, 8.0).beside(Norms(4.0, 12.0, 15.0)), [5.0, 13.0, 17.0])


# Along directions.


def lengths_along(jacobian: Any, space: Any, q: np.ndarray, d: np.ndarray, u: np.ndarray, h: float = 1e-3) -> Any:
    """What `NormsAlong` bounds, by differences."""
    before, here, after = (jacobian(space.integrate(q, t * d)) for t in (-h, 0.0, h))
    slope, bend = (after - before) / (2.0 * h), (after - 2.0 * here + before) / h**2
    parts = here @ u, here @ d, slope @ u, slope @ d, bend @ u, bend @ d
    return np.array([np.linalg.norm(part) for part in parts])


def measured(robot: Robot, a: Any, b: Any, q: np.ndarray) -> list[tuple[Any, Any]]:
    """Jacobians of all kinds of b seen from a, with their bounds."""
    place, rng = Position(robot, b, a), np.random.default_rng(1)
    levers = Levers.between(robot, place.frame_a, [place.frame_b], q[None], np.ones(robot.nv, dtype=np.bool_))
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    frame = place.frame_b
    ahead = Position(
        robot, Frame("ahead", frame.joint, pin.SE3(frame.placement.homogeneous) * pin.SE3(np.eye(3), axis)), a
    )
    turn, pose = Rotation(robot, b, a), Pose(robot, b, a)
    return [
        (place.jacobian, levers.place_along(np.ones(1))),
        (turn.jacobian, lambda d: levers.twist_along(d, False)),
        (pose.jacobian, lambda d: levers.twist_along(d, True)),
        (lambda q: ahead.jacobian(q) - place.jacobian(q), levers.direction_along),
    ]


def compared(jacobian: Any, along: Any, robot: Robot, q: np.ndarray, d: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Lengths by differences as parts of their bounds."""
    bounds = np.array([np.max(each) for each in along(np.abs(d)[None])])
    sizes = lengths_along(jacobian, robot.space, q, d, u)
    assert (sizes <= bounds * (1.0 + 1e-4) + 1e-5).all()
    return sizes / np.maximum(bounds, 1e-3)


@pytest.mark.parametrize("seed", range(16))
def test_jacobians_curve_no_more_than_lengths_say(seed: int) -> None:
    robot, rng, used = random_tree(seed), np.random.default_rng(seed), np.zeros(6)
    names = list(robot.frame_names)
    for a, b in [("universe", names[-1]), *([str(x) for x in rng.permutation(names)[:2]] for _ in range(3))]:
        q = robot.random(rng)
        on = (Position(robot, b, a).columns | Rotation(robot, b, a).columns).astype(float)
        for jacobian, along in measured(robot, a, b, q) if on.any() else []:
            for _ in range(12):
                d = unit(rng, on)
                u = d if rng.random() < 0.3 else unit(rng, on)
                used = np.maximum(used, compared(jacobian, along, robot, q, d, u))
    assert (used > 0.05).all()


@pytest.mark.parametrize("robot", [humanoid(), *(random_tree(seed) for seed in range(4))])
def test_a_mean_curves_no_more_than_the_mean_of_lengths(robot: Robot) -> None:
    rng, names = np.random.default_rng(3), list(robot.frame_names)
    for a in ("universe", names[len(names) // 2]):
        f, q = CenterOfMass(robot, reference=a), robot.random(rng)
        frames, shares = f.centers
        levers = Levers.between(robot, f.frame_a, frames, q[None], np.ones(robot.nv, dtype=np.bool_))
        for _ in range(20):
            compared(f.jacobian, levers.place_along(shares), robot, q, unit(rng, f.columns), unit(rng, f.columns))


def arm(*joints: Any, apart: float = 1.0) -> Robot:
    """Joints in a row along x, each 1 m from the one before, and a tip as far."""
    model, last = pin.Model(), 0
    for i, joint in enumerate(joints):
        last = model.addJoint(last, joint, pin.SE3(np.eye(3), np.array([apart * (i > 0), 0.0, 0.0])), f"joint_{i}")
    model.addFrame(pin.Frame("tip", last, 0, pin.SE3(np.eye(3), np.array([apart, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    return Robot(model)


def test_bounds_along_ways_are_reached_by_arms_that_are_stretched() -> None:
    """Half of any of them would be wrong."""
    one, two = arm(pin.JointModelRZ()), arm(pin.JointModelRX(), pin.JointModelRZ())
    x, q, (first, second) = np.ones(1), np.zeros(2), np.eye(2)
    place = measured(one, "universe", "tip", np.zeros(1))[0]
    assert compared(*place, one, np.zeros(1), x, x).min() > 0.99
    turn, pose = measured(two, "universe", "tip", q)[1:3]
    assert compared(*turn, two, q, second, first)[[2, 4]].min() > 0.99
    assert compared(*pose, two, q, second, first)[[2, 4]].min() > 0.2
    screw = arm(pin.JointModelRX(), pin.JointModelHZ(5.0), apart=0.0)
    assert compared(*measured(screw, "universe", "tip", q)[2], screw, q, second, first)[4] > 0.85
    along = measured(one, "universe", "tip", np.zeros(1))[3][1]
    places: Any = [[length, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] for length in (1.0, 0.0)]
    ahead, here = (Position(one, Frame("x", 1, place)) for place in places)
    direction = lambda q: ahead.jacobian(q) - here.jacobian(q)  # noqa: E731
    assert compared(direction, along, one, np.zeros(1), x, x).min() > 0.99
