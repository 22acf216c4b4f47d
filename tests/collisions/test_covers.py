"""Covers hold all of their solid, and what a kernel frees by them is free for coal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few, draws
from robots import mixed_tree, panda, talos, two_arms

from constraints import Base, Part, Robot, errors
from constraints.collisions import CollisionModel, Shape, checking
from constraints.collisions.covers import cover_of
from constraints.models import sample_arm

coal: Any = import_module("coal")
ROBOTS = "package://example-robot-data/robots"
PANDA = f"{ROBOTS}/panda_description/urdf/panda.urdf"


def mesh(corners: Any, faces: Any) -> Any:
    solid = coal.BVHModelOBBRSS()
    solid.beginModel(len(faces), len(corners))
    solid.addVertices(np.array(corners, dtype=float))
    for face in faces:
        a, b, c = (np.array(corners[i], dtype=float) for i in face)
        solid.addTriangle(a, b, c)
    solid.endModel()
    return solid


def rock(rng: np.random.Generator, count: int = 40) -> Any:
    """The surface of the hull of random points, long in one direction."""
    from scipy.spatial import ConvexHull

    points = rng.standard_normal((count, 3)) * [0.4, 0.1, 0.02] + [0.3, -0.2, 0.1]
    return mesh(points, ConvexHull(points).simplices)


def hull(rng: np.random.Generator) -> Any:
    solid = rock(rng)
    solid.buildConvexHull(True, "Qt")
    return solid.convex


def touches(solid: Any, point: Any, ball: Any, request: Any) -> bool:
    there = coal.Transform3s(np.eye(3), point)
    return bool(coal.collide(solid, coal.Transform3s(), ball, there, request, coal.CollisionResult()))


SOLIDS = {
    "sphere": lambda rng: coal.Sphere(0.3),
    "capsule": lambda rng: coal.Capsule(0.05, 0.8),
    "flat capsule": lambda rng: coal.Capsule(0.5, 0.001),
    "cylinder": lambda rng: coal.Cylinder(0.05, 1.2),
    "can": lambda rng: coal.Cylinder(0.2, 0.3),
    "disc": lambda rng: coal.Cylinder(0.4, 0.01),
    "box": lambda rng: coal.Box(0.3, 0.1, 0.2),
    "plate": lambda rng: coal.Box(1.0, 0.8, 0.001),
    "rod": lambda rng: coal.Box(0.01, 2.0, 0.01),
    "ellipsoid": lambda rng: coal.Ellipsoid(0.1, 0.3, 0.05),
    "cone": lambda rng: coal.Cone(0.2, 0.4),
    "mesh": rock,
    "hull": hull,
    "one triangle": lambda rng: mesh([[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 1, 2]]),
    "no size": lambda rng: mesh([[1, 1, 1]] * 3, [[0, 1, 2]]),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_what_touches_a_solid_touches_its_cover(name: str) -> None:
    """Tiny balls that collide with the solid, by coal, have their centre within a sphere of the cover."""
    rng = np.random.default_rng(7)
    solid = SOLIDS[name](rng)
    cover = cover_of(solid)
    assert cover is not None
    solid.computeLocalAABB()
    lower, upper = np.array(solid.aabb_local.min_), np.array(solid.aabb_local.max_)
    points = rng.uniform(lower - 1e-3, upper + 1e-3, (8_000, 3))
    if hasattr(solid, "num_tris"):  # a surface: points on it
        faces = np.array([[solid.vertices()[solid.tri_indices(k)[i]] for i in range(3)] for k in range(solid.num_tris)])
        parts = rng.dirichlet(np.ones(3), 4000)
        points = np.einsum("nk,nki->ni", parts, faces[rng.integers(len(faces), size=len(parts))])
    ball, request = coal.Sphere(1e-6), coal.CollisionRequest()
    request.gjk_tolerance = 1e-9
    inside = [p for p in points if touches(solid, p, ball, request)]
    assert len(inside) > 20
    away = np.linalg.norm(np.array(inside)[:, None] - cover.centers, axis=2) - cover.radii
    assert away.min(axis=1).max() <= 2e-6
    assert (np.linalg.norm(np.array(inside) - cover.center, axis=1) <= cover.radius + 2e-6).all()


def test_what_has_no_end_has_no_cover() -> None:
    assert cover_of(coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)) is None
    assert cover_of(coal.Plane(np.array([0.0, 0.0, 1.0]), 0.0)) is None


SMALL = {
    "sphere": (1, 0.3, 0.3),
    "capsule": (17, np.hypot(0.05, 0.025), 0.45),
    "flat capsule": (2, np.hypot(0.5, 0.0005), 0.5005),
    "cylinder": (24, np.hypot(0.05, 0.025), np.hypot(0.05, 0.6)),
    "can": (2, np.hypot(0.2, 0.075), 0.25),
    "disc": (25, 0.1133, np.hypot(np.hypot(0.4, 0.4), 0.005)),
    "box": (30, 0.0514, 0.5 * np.sqrt(0.14)),
    "plate": (30, 0.1156, 0.6404),
    "rod": (32, np.hypot(1.0 / 32, np.hypot(0.005, 0.005)), 1.0001),
    "ellipsoid": (12, 0.0867, np.sqrt(0.1025)),
    "cone": (27, 0.1155, 0.3465),
    "mesh": (32, 0.105, 0.618),
    "hull": (30, 0.0944, 0.645),
    "one triangle": (32, 0.157, 0.5 * np.sqrt(5.0)),
    "no size": (1, 0.0, 0.0),
}
"""So many spheres at most, the largest of them, and the one around all: what is spared frees pairs without coal."""


@pytest.mark.parametrize("name", SMALL)
def test_covers_are_not_much_larger_than_their_solids(name: str) -> None:
    """A box has the corners of its cells, a capsule or a cylinder one sphere a radius of its axis."""
    cover = cover_of(SOLIDS[name](np.random.default_rng(7)))
    assert cover is not None
    count, largest, around = SMALL[name]
    assert len(cover.radii) <= count
    assert cover.radii.max() <= largest + 1e-11
    assert cover.radius <= around + 1e-11


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e5])
def test_rounding_is_a_part_of_the_size(size: float) -> None:
    """So that sums of numbers of that size leave nothing outside."""
    cover = cover_of(coal.Sphere(size))
    assert cover is not None
    assert cover.radius / size - 1.0 == pytest.approx(1e-12, abs=3e-16)
    np.testing.assert_array_equal(cover.radii, [cover.radius])


@pytest.mark.parametrize("last", [False, True])
def test_a_floor_without_an_end_has_no_cover_and_is_met_where_its_face_is(last: bool) -> None:
    """Two balls of 0.1 m over a floor whose top is 0.1 m high, which is too large for a sphere; first and last."""
    body = Robot.from_urdf("<robot name='body'><link name='l'/></robot>", base=Base.FREE_FLYER)
    robot = Robot.system([Part(name, body) for name in "ab"])
    shapes = [Shape(name, "Sphere", (0.1,), f"{name}/l") for name in "ab"]
    shapes.insert(2 * last, Shape("floor", "Box", (1e150, 1e150, 0.2)))
    Q = np.tile(robot.neutral, (6, 1))
    Q[:, 0], Q[:, 2], Q[:, 9] = [0.3] * 4 + [0.19, 0.21], [9, 0.19, 9, 0.21, 9, 9], [9, 9, 0.19, 0.21, 9, 9]
    wanted = [True, False, False, True, False, True]
    model = CollisionModel(robot, shapes)
    assert model.is_free_batch(Q).tolist() == wanted == [not model.collisions(q) for q in Q]


def placed(rng: np.random.Generator, away: float) -> np.ndarray:
    """A random pose, as seven numbers; its place within a cube."""
    turn = rng.standard_normal(4)
    return np.concatenate([rng.uniform(-away, away, 3), turn / np.linalg.norm(turn)])


def scene(seed: int, robot: Robot, urdf: str | None, count: int, margin: float = 0.0) -> CollisionModel:
    """A robot with its own solids, others on its frames, and some around it, of all kinds."""
    rng = np.random.default_rng(seed)
    frames = [name for name in robot.frame_names if name != "universe"]
    kinds = {"Box": 3, "Sphere": 1, "Cylinder": 2, "Capsule": 2}
    shapes = list[Shape]()
    for n in range(count):
        kind = list(kinds)[n % 4]
        pose = placed(rng, 0.6 if n % 2 else 0.06)
        frame = "universe" if n % 2 else frames[int(rng.integers(len(frames)))]
        shapes.append(Shape(f"shape {n}", kind, tuple(rng.uniform(0.03, 0.2, kinds[kind])), frame, pose))
    return CollisionModel(robot, shapes, urdf, margin=margin)


def objects() -> CollisionModel:
    """Three free objects on a floor that they touch, one of them held apart by a margin, one that may overlap."""
    body = Robot.from_urdf("<robot name='body'><link name='l'/></robot>", base=Base.FREE_FLYER)
    robot = Robot.system([Part(name, body) for name in "abc"])
    shapes = [Shape(name, "Box", (0.2, 0.1, 0.1), f"{name}/l") for name in "ab"]
    shapes += [
        Shape("c", "Cylinder", (0.1, 0.1), "c/l"),
        Shape("floor", "Box", (3.0, 3.0, 0.1), placement=[0, 0, -0.1, 0, 0, 0, 1]),
    ]
    return CollisionModel(robot, shapes).with_margins({("a", "b"): -0.02, ("a", "c"): 0.05, ("b", "floor"): -0.01})


def humanoid() -> CollisionModel:
    robot = talos()
    post = Shape("post", "Cylinder", (0.1, 2.0), placement=[0.45, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    return CollisionModel(robot, [post], f"{ROBOTS}/talos_data/robots/talos_reduced.urdf")


SCENES = {
    "panda": lambda: scene(1, panda(), PANDA, 6),
    "panda, some pairs": lambda: scene(1, panda(), PANDA, 6).without(("shape *", "panda_link5_0")),
    "panda, margins": lambda: scene(2, panda(), PANDA, 6, 0.02),
    "every joint type": lambda: scene(3, mixed_tree(), None, 40),
    "every joint type, overlapping": lambda: scene(4, mixed_tree(), None, 40, -0.03),
    "two arms": lambda: scene(10, two_arms(), None, 6),
    "objects": objects,
    "humanoid": humanoid,
}


def drawn(model: CollisionModel, count: int) -> np.ndarray:
    """Random configurations; of a humanoid near the one that it stands in."""
    rng, robot = np.random.default_rng(3), model.robot
    if "half_sitting" in robot.references:
        standing, step = robot.references["half_sitting"], 0.25 * rng.standard_normal((count, robot.nv))
        return np.array([robot.space.integrate(standing, v) for v in step])
    return np.array([robot.random(rng) for _ in range(count)])


@pytest.mark.parametrize("name", a_few(SCENES, 3))
def test_verdicts_are_coals(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one, in rows, and without the extra, as balls are where they are; some are free, some are not."""
    model = SCENES[name]()
    Q = drawn(model, 150)
    wanted = np.array([not model.collisions(q) for q in Q])
    assert 0 < wanted.sum() < len(Q)
    assert (model.is_free_batch(Q) == wanted).all()
    assert [model.is_free(q) for q in Q] == wanted.tolist()
    monkeypatch.setattr(checking, "USUAL", "readable")
    plain = model.with_margins({})
    assert (plain.is_free_batch(Q) == wanted).all()
    assert [plain.is_free(q) for q in Q] == wanted.tolist()
    ours, theirs = (each.checker.balls(Q[:5]) for each in (plain, model))
    np.testing.assert_allclose(ours[..., 9:], theirs[..., 9:], rtol=0.0, atol=1e-12)
    assert (ours.any(axis=2) == theirs.any(axis=2)).all()


def test_covers_free_most_of_what_is_free() -> None:
    """Of an arm of meshes beside a post, at random: at most 0.15 of what is free needs coal (measured: 0.11)."""
    post = Shape("post", "Cylinder", (0.05, 1.2), placement=[0.45, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0])
    model = CollisionModel(panda(), [post], PANDA)
    Q = drawn(model, 800)
    doubted = np.unique(model._checker._packed.in_doubt(Q)[:, 0])  # pyright: ignore[reportPrivateUsage]
    free = model.is_free_batch(Q)
    assert 1.0 - np.isin(np.flatnonzero(free), doubted).mean() > 0.85


@draws(60, 300)
def test_doubts_are_those_of_the_spheres_by_numpy(count: int) -> None:
    """Of meshes, whose spheres differ: a pair is in doubt where two spheres, and those around all, are near enough."""
    model = CollisionModel(panda(), (), PANDA, margin=0.01)
    checker, robot = model._checker, model.robot  # pyright: ignore[reportPrivateUsage]
    solids, margins, *_ = model._has  # pyright: ignore[reportPrivateUsage]
    gap, data, Q = 0.01 + 1e-6, robot.model.createData(), drawn(model, count)
    wanted = list[list[int]]()
    for n, q in enumerate(Q):
        pin.forwardKinematics(robot.model, data, q)
        balls = list[np.ndarray]()
        for solid in solids:
            cover = solid.body.cover
            assert cover is not None
            pose = data.oMi[solid.joint] * solid.placement
            centers = np.vstack((cover.center, cover.centers)) @ pose.rotation.T + pose.translation
            balls.append(np.column_stack((centers, [cover.radius, *cover.radii])))
        for k, (i, j) in enumerate(margins):
            a, b = balls[i], balls[j]
            apart = np.linalg.norm(a[:, None, :3] - b[None, :, :3], axis=2) > a[:, None, 3] + b[None, :, 3] + gap
            if not (apart[0, 0] or (apart[1:, :1] | apart[1:, 1:]).all()):
                wanted.append([n, k])
    assert checker._packed.in_doubt(Q).tolist() == wanted  # pyright: ignore[reportPrivateUsage]
    assert len(wanted) > count / 6


def test_near_a_margin_coal_decides() -> None:
    """Two boxes, face to face, within 1e-9 m to 1e-4 m of the margin, either side of it."""
    body = Robot.from_urdf("<robot name='body'><link name='l'/></robot>", base=Base.FREE_FLYER)
    robot = Robot.system([Part(name, body) for name in "ab"])
    shapes = [Shape(name, "Box", (0.2, 0.3, 0.4), f"{name}/l") for name in "ab"]
    for margin in (0.0, 0.03):
        model = CollisionModel(robot, shapes, margin=margin)
        Q = np.tile(robot.neutral, (60, 1))
        gaps = np.concatenate([sign * np.logspace(-9, -4, 30) for sign in (-1.0, 1.0)])
        Q[:, 7] = 0.2 + margin + gaps
        assert model.is_free_batch(Q).tolist() == [not model.collisions(q) for q in Q]
        assert model.is_free_batch(Q)[gaps > 1e-5].all()
        assert not model.is_free_batch(Q)[gaps < -1e-5].any()


def test_verdicts_do_not_depend_on_what_was_asked_before() -> None:
    """A cylinder within micrometres of a floor, asked in another order, one by one, and for all pairs.

    With pinocchio's own requests, which begin where the last search of the pair ended, 2 of these 400 differ.
    """
    rng, model = np.random.default_rng(8), objects()
    turns = rng.standard_normal((400, 4))
    Q = np.tile(model.robot.neutral, (400, 1))
    Q[:, 0], Q[:, 7] = -1.0, 1.0
    Q[:, [2, 9]] = 1.0
    Q[:, 17:21] = turns / np.linalg.norm(turns, axis=1)[:, None]
    tilt = np.abs(1.0 - 2.0 * (Q[:, 17] ** 2 + Q[:, 18] ** 2))
    Q[:, 16] = 0.05 * tilt + 0.1 * np.sqrt(1.0 - tilt**2) - 0.05 + rng.uniform(-3e-6, 3e-6, 400)
    wanted, order = model.is_free_batch(Q), rng.permutation(400)
    assert 50 < wanted.sum() < 350
    assert (model.is_free_batch(Q[order]) == wanted[order]).all()
    assert [model.is_free(q) for q in Q] == wanted.tolist()
    assert [not model.collisions(q) for q in Q] == wanted.tolist()


def test_distances_of_a_sphere_from_solids_in_the_world_are_coals() -> None:
    """A ball around each of the four kinds, turned anyhow: free as far as the last hundredth of a millimetre."""
    rng = np.random.default_rng(5)
    ball = Robot.from_urdf("<robot name='ball'><link name='l'/></robot>", base=Base.FREE_FLYER)
    for kind, size in {"Box": (0.3, 0.2, 0.1), "Sphere": (0.2,), "Cylinder": (0.1, 0.4), "Capsule": (0.1, 0.4)}.items():
        turned = placed(rng, 0.5)
        model = CollisionModel(
            ball, [Shape("ball", "Sphere", (0.05,), "l"), Shape("wall", kind, size, placement=turned)]
        )
        Q = np.tile(ball.neutral, (500, 1))
        Q[:, :3] = turned[:3] + rng.uniform(-0.4, 0.4, (500, 3))
        wall = model._checker.geometry.geometryObjects[1]  # pyright: ignore[reportPrivateUsage]
        there = coal.Transform3s(wall.placement.rotation, wall.placement.translation)
        distances = np.array([
            coal.distance(
                coal.Sphere(0.05), coal.Transform3s(np.eye(3), q[:3]), wall.geometry, there,
                coal.DistanceRequest(), coal.DistanceResult(),
            )
            for q in Q
        ])  # fmt: skip
        doubted = np.unique(model._checker._packed.in_doubt(Q)[:, 0])  # pyright: ignore[reportPrivateUsage]
        clear = np.abs(distances) > 1e-5
        assert (np.isin(np.arange(500), doubted) == (distances <= 0.0))[clear].all()
        assert 20 < len(doubted) < 480


def test_rows_of_any_layout_and_number() -> None:
    model = scene(1, panda(), PANDA, 6)
    Q = drawn(model, 60)
    wanted = model.is_free_batch(Q)
    for rows in (np.asfortranarray(Q), Q.tolist(), np.lib.stride_tricks.as_strided(Q, writeable=False)):
        assert (model.is_free_batch(rows) == wanted).all()
    assert model.is_free_batch(Q[:0]).shape == (0,)
    assert (model.is_free_batch(Q[::2]) == wanted[::2]).all()
    with pytest.raises(errors.SizeError, match=r"per row; a single one is \[q\]\)"):  # it named `project`
        model.is_free_batch(Q[0])
    with pytest.raises(errors.SizeError):
        model.is_free_batch(Q[:, :-1])
    with pytest.raises(errors.NotFiniteError, match="row 2 of Q"):
        model.is_free_batch(np.where(np.arange(60)[:, None] == 2, np.nan, Q))


def test_lists_of_doubts_are_as_long_as_they_need() -> None:
    """More doubts than the list of one call holds."""
    model = scene(3, mixed_tree(), None, 40, 5.0)
    Q = drawn(model, 40)
    assert len(model._checker._packed.in_doubt(Q)) > 5000  # pyright: ignore[reportPrivateUsage]
    assert not model.is_free_batch(Q).any()


def test_threads_share_a_model() -> None:
    model = scene(1, panda(), PANDA, 6)
    Q = drawn(model, 400)
    wanted = model.is_free_batch(Q)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(model.is_free_batch, np.split(Q, 20)))
    assert (np.concatenate(found) == wanted).all()


def test_a_model_without_pairs_is_free() -> None:
    model = CollisionModel(sample_arm(), [Shape("ball", "Sphere", (0.1,), "tool")])
    assert model.is_free(model.robot.neutral)
    assert model.is_free_batch([model.robot.neutral] * 3).all()
