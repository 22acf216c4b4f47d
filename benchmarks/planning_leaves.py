"""Scenes of `planning.py` on one leaf."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import bench_setup  # noqa: F401
import carry_a_glass
import judge
import numpy as np
import pinocchio as pin
import two_arms_one_bar
from planning_scenes import Array, Query, Scene

from constraints import (
    Base,
    CenterOfMass,
    ConstraintError,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
)
from constraints.collisions import CollisionModel, Shape
from constraints.paths import Path, interpolate
from constraints.planning import Connection, Limits, connect


def glass(share: str | None = None) -> Scene:
    """A Panda's hand upright at a height, from one side of a post to the other: ten starts and goals."""
    scene, rng = carry_a_glass.glass(), np.random.default_rng(20)
    model, data = scene.robot.model, scene.robot.model.createData()
    hand = model.getFrameId(carry_a_glass.HAND)
    post = np.array(carry_a_glass.POST.placement.translation[:2])
    exact, queries = Projector(scene.problem, Options(threshold=1e-9)), list[Query]()

    def pose(q: Array) -> Any:
        pin.framesForwardKinematics(model, data, q)
        return data.oMf[hand]

    def error(q: Array) -> float:
        at = pose(q)
        tilt = pin.log3(np.diag([1.0, -1.0, -1.0]) @ at.rotation)[:2]
        return max(float(np.linalg.norm(tilt)), abs(float(at.translation[2]) - carry_a_glass.HEIGHT))

    def end(side: float) -> Array:
        while True:
            q = scene.robot.random(rng)
            q[7:] = carry_a_glass.REST[7:]
            found = exact.project(q)
            away = pose(found.q).translation[:2] - post
            if (
                found.success
                and 0.25 < side * away[1] < 0.5
                and abs(away[0]) < 0.2
                and scene.collisions.is_free(found.q)
            ):
                return np.array(found.q)

    while len(queries) < 10:
        ends = end(-1.0), end(1.0)
        straight = interpolate(scene.problem, *ends)
        if straight.path is None or scene.collisions.first_collision(straight.path) is not None:
            queries.append(ends)

    return on_leaf(queries, 4, scene.problem, scene.collisions, error, {"roboplan": 4})


def bar(_: str | None = None) -> Scene:
    """Two UR5 bring a bar from above a shelf to below it: examples/two_arms_one_bar.py, five starts and goals."""
    scene, rng, queries = two_arms_one_bar.arms(), np.random.default_rng(21), list[Query]()
    model, data = scene.robot.model, scene.robot.model.createData()
    (left, aMl), (right, aMr) = ((f.joint, pin.SE3(f.placement.homogeneous)) for f in scene.hands)

    def error(q: Array) -> float:
        pin.forwardKinematics(model, data, q)
        apart = (data.oMi[left] * aMl).actInv(data.oMi[right] * aMr)
        apart.translation += [0.0, two_arms_one_bar.APART, 0.0]
        return float(np.hypot(np.linalg.norm(apart.translation), np.linalg.norm(pin.log3(apart.rotation))))

    while len(queries) < 5:
        (y0, z0), (y1, z1) = two_arms_one_bar.ABOVE, two_arms_one_bar.BELOW
        dy0, dy1, dz0, dz1 = rng.uniform(-0.05, 0.05, 4)
        try:
            start = scene.at(y0 + dy0, z0 + 0.4 * dz0, two_arms_one_bar.NEAR)
            goal = scene.at(y1 + dy1, z1 + 0.4 * dz1, start)
        except ConstraintError:
            continue
        if scene.collisions.is_free(start) and scene.collisions.is_free(goal):
            queries.append((start, goal))
    return on_leaf(queries, 4, scene.problem, scene.collisions, error)


def talos(_: str | None = None) -> Scene:
    """Talos on two feet, balanced: both hands from one side of a post to the other, five starts and goals."""
    folder, rng, queries = "package://example-robot-data/robots/talos_data", np.random.default_rng(22), list[Query]()
    urdf = f"{folder}/robots/talos_reduced.urdf"
    robot = Robot.from_urdf(urdf, f"{folder}/srdf/talos.srdf", base=Base.FREE_FLYER)
    home = robot.reference("half_sitting")
    model: Any = robot.model
    data, soles = model.createData(), [model.getFrameId(name) for name in SOLES]
    feet = {name: pin.SE3(robot.at(home).placement(robot.frame(name)).homogeneous) for name in SOLES}
    middle = np.mean([oMf.translation[:2] for oMf in feet.values()], axis=0)
    held = [Implicit.equal(Pose(robot, name), oMf, name=name) for name, oMf in feet.items()]
    balance = Implicit.equal(CenterOfMass(robot), [*middle, 0.0], mask=[True, True, False], name="balance")
    still = [name for name in robot.joint_names if name.startswith("gripper")]
    problem = Problem(robot, [*held, balance], frozen=still)
    post = Shape("post", "Cylinder", (0.04, 1.8), placement=[0.45, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0])
    collisions = CollisionModel(robot, [post], urdf)

    def error(q: Array) -> float:
        pin.framesForwardKinematics(model, data, q)
        off = [oMf.actInv(data.oMf[sole]) for sole, oMf in zip(soles, feet.values(), strict=True)]
        far = [float(np.hypot(np.linalg.norm(M.translation), np.linalg.norm(pin.log3(M.rotation)))) for M in off]
        return max(*far, float(np.linalg.norm(pin.centerOfMass(model, data, q)[:2] - middle)))

    def end(side: float) -> Array:
        """Both hands on one side of the post, near the usual posture."""
        while True:
            outer, inner = side * rng.uniform(0.4, 0.5), side * rng.uniform(0.12, 0.2)
            y = (outer, inner) if side > 0.0 else (inner, outer)
            reach = [
                Implicit.equal(Position(robot, name), [rng.uniform(0.42, 0.5), at, rng.uniform(1.0, 1.2)], name=name)
                for name, at in zip(HANDS, y, strict=True)
            ]
            projector = Projector(problem | Problem(robot, reach), Options.local(threshold=1e-9))
            off = np.zeros(robot.nv)
            off[6:] = np.where(problem.frozen[6:], 0.0, rng.normal(0.0, 0.3, robot.nv - 6))
            found = projector.project(problem.bounds.clip(robot.space.integrate(home, off)))
            if found.success and collisions.is_free(found.q):
                return np.array(found.q)

    while len(queries) < 5:
        queries.append((end(1.0), end(-1.0)))
    return on_leaf(queries, 2, problem, collisions, error)


SOLES, HANDS = ("left_sole_link", "right_sole_link"), ("gripper_left_base_link", "gripper_right_base_link")


def on_leaf(
    queries: Sequence[Query],
    seeds: int,
    problem: Problem,
    collisions: CollisionModel,
    error: Callable[[Array], float],
    peers: Mapping[str, int] | None = None,
    seconds: float = 60.0,
) -> Scene:
    """A scene of `connect`, with its error by plain pinocchio."""

    def solve(query: Query, rng: np.random.Generator, limits: Limits) -> Connection:
        return connect(problem, *query, rng=rng, collisions=collisions, limits=limits)

    def faults(path: Path, query: Query) -> list[str]:
        return judge.faults(path, collisions.robot.model, collisions.checker.geometry, error, query)

    return Scene(queries, seeds, solve, faults, collisions, peers or {}, seconds)
