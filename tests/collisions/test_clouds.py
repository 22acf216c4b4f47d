"""Point clouds: one ball a point, by coal and by numpy."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from collisions.test_along import PANDA, body
from robots import panda
from scipy.spatial import cKDTree

from constraints import Part, Robot, errors
from constraints.collisions import CollisionModel, PointCloud, Shape, checking
from constraints.collisions.clouds import CloudTree
from constraints.collisions.covers import Cover

coal: Any = import_module("coal")
SIZES = {"Box": (0.3, 0.2, 0.1), "Sphere": (0.1,), "Cylinder": (0.1, 0.3), "Capsule": (0.05, 0.4)}


def pose(rng: np.random.Generator, away: float) -> np.ndarray:
    turn = rng.standard_normal(4)
    return np.concatenate([rng.uniform(-away, away, 3), turn / np.linalg.norm(turn)])


def transform(seven: Any) -> Any:
    import pinocchio as pin

    placed = pin.XYZQUATToSE3(np.array(seven))
    return coal.Transform3s(placed.rotation, placed.translation)


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("compiled", [True, False])
def test_a_cloud_is_a_ball_a_point(kind: str, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances of a solid from each ball, by coal; margins within 1e-7 m of the least of them, either side."""
    if not compiled:
        monkeypatch.setattr(checking, "USUAL", "readable")
    rng, robot = np.random.default_rng(3), body()
    points, placed, radius = rng.uniform(-0.5, 0.5, (400, 3)), pose(rng, 0.1), 0.02
    shapes = [Shape("solid", kind, SIZES[kind], "l"), PointCloud("cloud", points, radius, placement=placed)]
    model = CollisionModel(robot, shapes)
    solid, ball, request = shapes[0].solid(), coal.Sphere(radius), coal.DistanceRequest()  # pyright: ignore[reportAttributeAccessIssue]
    request.gjk_tolerance = 1e-9
    world = transform(placed)
    centers = [world.transform(p) for p in points]
    met, near = 0, 0
    for _ in range(60):
        q = pose(rng, 0.9)
        there = transform(q)
        distances = [
            coal.distance(solid, there, ball, coal.Transform3s(np.eye(3), p), request, coal.DistanceResult())
            for p in centers
            if np.linalg.norm(p - q[:3]) < 0.6
        ]
        least = min(distances, default=np.inf)
        assert model.is_free(q) == (least > 0.0) == (not model.collisions(q))
        met += least <= 0.0
        if 1e-4 < least < np.inf and near < 8:
            near += 1
            for more in (1e-4, 1e-7, -1e-7, -1e-4):
                wide = CollisionModel(robot, shapes, margin=least + more)
                assert wide.is_free_batch([q])[0] == (more < 0.0), more
    assert met > 5
    assert near == 8


def test_clouds_that_move_and_clouds_together() -> None:
    """A held cloud against one in the world, by a tree of scipy; then both elsewhere, and pickled."""
    rng, robot = np.random.default_rng(1), body()
    world, held = rng.uniform(-1.0, 1.0, (5000, 3)), rng.uniform(-0.1, 0.1, (200, 3))
    placed, grasp = pose(rng, 0.3), pose(rng, 0.1)
    model = CollisionModel(robot, [PointCloud("scan", world, 0.01, placement=placed)])
    model = model.attached(PointCloud("glass", held, 0.005), "l", placement=grasp)
    again = pickle.loads(pickle.dumps(model))
    for where, hand in ((placed, grasp), (pose(rng, 0.3), pose(rng, 0.1))):
        moved = model.moved({"scan": where, "glass": hand})
        tree, on = cKDTree([transform(where).transform(p) for p in world]), [transform(hand).transform(p) for p in held]
        Q = np.array([pose(rng, 1.2) for _ in range(150)])
        wanted = [np.min(tree.query([transform(q).transform(p) for p in on])[0]) > 0.015 for q in Q]
        assert 10 < sum(wanted) < 140
        assert moved.is_free_batch(Q).tolist() == wanted == [not moved.collisions(q) for q in Q]
    assert (again.is_free_batch(Q) == model.is_free_batch(Q)).all()


@pytest.mark.parametrize("count", [1, 2, 8, 9, 63, 5000])
def test_the_tree_holds_all_points(count: int) -> None:
    """Each point is in a leaf, each box holds what is below it, and the cover holds all balls."""
    points = np.random.default_rng(count).standard_normal((count, 3)) * [1.0, 0.2, 3.0]
    tree = CloudTree(points, 0.1)
    boxes, leaves = tree.numbers[: 12 * tree.leaves].reshape(-1, 6), tree.groups
    assert len(leaves) == tree.leaves <= max(count / 4, 1)
    assert leaves.shape[1] <= 8
    assert {tuple(p) for p in leaves.reshape(-1, 3)} == {tuple(p) for p in points}
    for n in range(1, 2 * tree.leaves):
        below = leaves[n - tree.leaves][None] if n >= tree.leaves else boxes[[2 * n, 2 * n + 1]].reshape(-1, 2, 3)
        assert np.allclose(boxes[n], [*below.min(axis=(0, 1)), *below.max(axis=(0, 1))], atol=0)
    cover: Cover = tree.cover()
    away = np.linalg.norm(points[:, None] - cover.centers, axis=2) + 0.1 - cover.radii
    assert away.min(axis=1).max() <= 0.0
    assert (np.linalg.norm(points - cover.center, axis=1) + 0.1 <= cover.radius).all()


def test_a_robot_beside_many_points() -> None:
    """A wall and a floor of 20,000 points: verdicts with the kernel are those of plain coal."""
    rng = np.random.default_rng(0)
    wall = np.column_stack((np.full(10_000, 0.5), rng.uniform(-1, 1, 10_000), rng.uniform(0, 1.2, 10_000)))
    floor = np.column_stack((rng.uniform(-1, 1, (10_000, 2)), np.full(10_000, -0.05)))
    model = CollisionModel(panda(), [PointCloud("scan", np.concatenate((wall, floor)), 0.01)], PANDA)
    Q = np.array([model.robot.random(rng) for _ in range(150)])
    wanted = np.array([not model.collisions(q) for q in Q])
    assert 10 < wanted.sum() < 140
    assert (model.is_free_batch(Q) == wanted).all()


def test_balls_are_what_they_were_beside_other_solids() -> None:
    """A ball and a box with and without a cloud far away: the same verdicts at margins within 1e-9 m."""
    robot = Robot.system([Part(name, body()) for name in "ab"])
    shapes = [Shape("ball", "Sphere", (0.1,), "a/l"), Shape("box", "Box", (0.2, 0.2, 0.2), "b/l")]
    far = PointCloud("far", np.full((1, 3), 9.0), 0.1)
    q = robot.neutral.copy()
    for gap in (-1e-9, 1e-9, -1e-3, 1e-3):
        q[7] = 0.2 + gap
        assert CollisionModel(robot, shapes).is_free(q) == CollisionModel(robot, [*shapes, far]).is_free(q) == (gap > 0)


def test_each_of_several_balls_has_its_own_distance_from_a_cloud() -> None:
    """Plainly: to the nearest of the points."""
    points = np.random.default_rng(5).uniform(-0.2, 0.2, (60, 3))
    robot = body()
    places = np.array([[0.5, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 0.0, -0.9]])
    balls = [Shape(f"ball {i}", "Sphere", (0.1 + 0.05 * i,), placement=[*p, 0, 0, 0, 1]) for i, p in enumerate(places)]
    model = CollisionModel(robot, [*balls, PointCloud("cloud", points, 0.01, "l")])
    for i, place in enumerate(places):
        apart = np.linalg.norm(points - place, axis=1).min() - 0.01 - (0.1 + 0.05 * i)
        margins = {(f"ball {i}", "cloud"): apart - 1e-9}
        assert model.with_margins(margins).is_free(robot.neutral)
        margins = {(f"ball {i}", "cloud"): apart + 1e-9}
        met = model.with_margins(margins).collisions(robot.neutral)
        assert [{pair.a, pair.b} for pair in met] == [{f"ball {i}", "cloud"}]


def test_the_size_of_a_cloud_is_that_of_the_box_around_its_balls() -> None:
    cloud = PointCloud("c", np.array([[0.0, 0.0, 1.0], [0.5, -0.2, 1.0], [0.1, 0.1, 1.0]]), 0.02)
    assert cloud.size == pytest.approx((0.54, 0.34, 0.04))
    assert repr(cloud) == "PointCloud('c', 3 points, radius 0.02 m)"


def test_bad_clouds_are_named() -> None:
    with pytest.raises(errors.SizeError, match="points of point cloud 'c'"):
        PointCloud("c", np.zeros((3, 2)), 0.1)
    with pytest.raises(errors.SizeError, match="n at least 1"):
        PointCloud("c", np.zeros((0, 3)), 0.1)
    with pytest.raises(errors.NotFiniteError, match="points of point cloud 'c'"):
        PointCloud("c", np.full((1, 3), np.nan), 0.1)
    for radius in (0.0, -1.0, np.inf, "1"):
        with pytest.raises(errors.OptionError, match="radius of point cloud 'c'"):
            PointCloud("c", np.zeros((3, 3)), radius)  # pyright: ignore[reportArgumentType]
