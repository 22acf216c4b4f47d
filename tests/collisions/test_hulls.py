"""Hulls of the parts of meshes: they hold all triangles, and a verdict that they give is that of plain coal."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from collisions.test_clearance import BODY
from collisions.test_covers import mesh, rock
from scipy.spatial import ConvexHull

from constraints import Base, Part, Robot
from constraints.collisions import CollisionModel, Shape, checking
from constraints.collisions.hulls import PARTS, PlacedMesh, parts_of
from constraints.errors import OptionError

coal: Any = import_module("coal")
BOX = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SIDES = ConvexHull(BOX).simplices


def boxes(*places: tuple[list[float], list[float]]) -> tuple[Any, Any]:
    """Corners and triangles of boxes: middles and sides."""
    corners = np.concatenate([np.array(middle) + BOX * sides for middle, sides in places])
    return corners, np.concatenate([SIDES + 8 * i for i in range(len(places))])


BRACKET = boxes(
    ([0.0, 0.0, 0.0], [0.1, 0.5, 0.1]), ([0.2, -0.2, 0.0], [0.3, 0.1, 0.1]), ([0.2, 0.2, 0.0], [0.3, 0.1, 0.1])
)
"""A clamp of three boxes."""
FLAG = (
    np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, -1], [0.05, 0, -1], [0, 0.05, -1]], dtype=float),
    np.array([[0, 1, 2], [0, 2, 3], [0, 4, 5], [4, 5, 6], [0, 4, 6]]),
)
"""A pole with a flat flag, which alone has no hull."""


@pytest.mark.parametrize("shape", [BRACKET, FLAG], ids=["bracket", "flag"])
def test_each_triangle_is_in_a_part(shape: tuple[Any, Any]) -> None:
    corners, faces = shape
    parts = [ConvexHull(np.array(part.points())).equations for part in parts_of(mesh(corners, faces))]
    assert 1 <= len(parts) <= PARTS
    for triangle in faces:
        beyond = [(corners[triangle] @ part[:, :3].T + part[:, 3]).max() for part in parts]
        assert min(beyond) < 1e-12


def test_parts_are_smaller_than_the_hull_and_what_is_convex_is_not_cut() -> None:
    volumes = [ConvexHull(np.array(part.points())).volume for part in parts_of(mesh(*BRACKET))]
    assert len(volumes) > 1
    assert sum(volumes) < 0.6 * ConvexHull(BRACKET[0]).volume
    assert len(parts_of(rock(np.random.default_rng(1)))) == 1


@pytest.mark.parametrize("margin", [-0.01, 0.0, 0.02])
def test_meshes_within_micrometres_of_contact_are_judged_themselves(margin: float, tmp_path: Path) -> None:
    """Two cubes as meshes, 4e-6 m either side of their margin: hulls, which are as large, do not decide."""
    model = clamps(tmp_path, margin, boxes(([0.0, 0.0, 0.0], [0.25, 0.25, 0.25])))
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.25, 0.01, 0.02, 0.0, 0.0, 0.0, 1.0])
    for gap in (-4e-6, 4e-6):
        q[7] = 0.25 + max(margin, 0.0) + gap
        assert model.is_free(q) == (gap > 0.0 or margin < 0.0)
        assert model.checker.are_apart(q, 0, 0.0) == model.is_free(q)


def clamps(folder: Path, margin: float, shape: tuple[Any, Any] = BRACKET) -> CollisionModel:
    """Two bodies that are clamps, as meshes."""
    file, (corners, faces) = folder / "clamp.obj", shape
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c}" for a, b, c in faces + 1]
    file.write_text("\n".join(lines) + "\n")
    urdf = BODY.replace("/>", f"><collision><geometry><mesh filename='{file}'/></geometry></collision></link>", 1)
    body = Robot.from_urdf(urdf, base=Base.FREE_FLYER)
    both = Robot.system([Part("a", body), Part("b", body)])
    return CollisionModel(both, urdfs={"a": urdf, "b": urdf}, margin=margin)


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_verdicts_of_two_clamps_are_those_of_plain_coal(
    margin: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One between the jaws of the other, turned and moved: the hulls meet, the meshes often do not."""
    model, rng, asked = clamps(tmp_path, margin), np.random.default_rng(5), list[Any]()
    checker, robot = model.checker, model.robot
    right = pin.computeCollision

    def counted(geometry: Any, data: Any, pair: int) -> bool:
        asked.append(geometry is checker.geometry)
        return right(geometry, data, pair)

    Q = np.array([robot.space.random(rng) for _ in range(400)])
    Q[:, :3], Q[:, 7:10] = 0.0, rng.uniform(-0.4, 0.4, (400, 3))
    plain = checking.data_of(checker.geometry, [margin])
    data = robot.model.createData()
    free = [not pin.computeCollisions(robot.model, data, checker.geometry, plain, q, True) for q in Q]
    assert 100 < sum(free) < 300
    monkeypatch.setattr(pin, "computeCollision", counted)
    assert model.is_free_batch(Q).tolist() == free
    doubted = np.unique(checker._packed.in_doubt(Q)[:, 0])  # pyright: ignore[reportPrivateUsage]
    assert sum(asked) < 0.75 * len(doubted)


def placements(rng: np.random.Generator) -> list[Any]:
    """Two of coal."""
    turns = [pin.Quaternion(*rng.standard_normal(4)).normalized().matrix() for _ in "ab"]
    return [coal.Transform3s(turn, rng.uniform(-0.5, 0.5, 3)) for turn in turns]


@pytest.mark.parametrize("solid", ["rock", "bracket", "without area"])
def test_the_bound_of_a_distance_is_above_it_and_mostly_near(solid: str) -> None:
    """Coal's own distance of the meshes; no bound is given where parts overlap. Triangles may have no area."""
    rng, (corners, faces) = np.random.default_rng(3), BRACKET
    lines = [[0, 20, 20], [8, 3, 3], [1, 16, 16]] if solid == "without area" else []
    shape = rock(rng) if solid == "rock" else mesh(corners, np.array([*faces, *lines]))
    parts, over = parts_of(shape), list[float]()
    for _ in range(300):
        a, b = (PlacedMesh(shape, parts, at) for at in placements(rng))
        most = a.most_apart(b)
        least = coal.distance(shape, a.at, shape, b.at, coal.DistanceRequest(), coal.DistanceResult())
        if np.isfinite(most):
            over.append(most - least)
        elif solid == "rock":
            assert least <= 1e-9
    assert len(over) > 150
    assert min(over) >= -1e-9
    assert np.quantile(over, 0.75) < 1e-6


@pytest.mark.parametrize("margin", [-0.01, 0.0, 0.02])
@pytest.mark.parametrize("more", [0.0, 0.003, 0.05, 0.4])
def test_what_is_near_is_what_plain_coal_says(margin: float, more: float, tmp_path: Path) -> None:
    model, rng = clamps(tmp_path, margin), np.random.default_rng(8)
    checker, robot = model.checker, model.robot
    plain, wider = (checking.data_of(checker.geometry, [m]) for m in (margin, margin + more))
    data, answers = robot.model.createData(), list[tuple[bool, bool]]()
    for _ in range(150):
        q = robot.space.random(rng)
        q[:3], q[7:10] = 0.0, rng.uniform(-0.5, 0.5, 3)
        met, near = (pin.computeCollisions(robot.model, data, checker.geometry, of, q, True) for of in (plain, wider))
        found = checker.near(q[None], np.array([[more]]))
        assert found.met.any() == met
        assert len(found.rows) >= near
        assert checker.are_apart(q, 0, more) != near
        answers.append((met, near))
    assert 10 < sum(met for met, _ in answers) < 140
    assert more < 0.05 or any(near and not met for met, near in answers)


def test_meshes_are_seldom_asked_for_a_margin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coal takes long over it where they are apart."""
    model, rng, asked = clamps(tmp_path, 0.02), np.random.default_rng(6), list[float]()
    checker, right = model.checker, pin.computeCollision

    def counted(geometry: Any, data: Any, pair: int) -> bool:
        if geometry is checker.geometry:
            asked.append(data.collisionRequests[pair].security_margin)
        return right(geometry, data, pair)

    monkeypatch.setattr(pin, "computeCollision", counted)
    for _ in range(200):
        q = model.robot.space.random(rng)
        q[:3], q[7:10] = 0.0, rng.uniform(-0.4, 0.4, 3)
        model.is_free(q)
    assert len(asked) > 50
    assert set(asked) == {0.0}


def test_a_mesh_that_is_there_twice_has_one_cover_and_one_of_another_scale_its_own(tmp_path: Path) -> None:
    model = clamps(tmp_path, 0.0)
    twice = [solid.body for solid in model.checker._solids]  # pyright: ignore[reportPrivateUsage]
    assert twice[0] is twice[1]
    file = str(tmp_path / "clamp.obj")
    meshes = (f"<collision><geometry><mesh filename='{file}' scale='{k} 1 1'/></geometry></collision>" for k in (1, 2))
    urdf = BODY.replace("/>", f">{''.join(meshes)}</link>", 1)
    body = Robot.from_urdf(urdf, base=Base.FREE_FLYER)
    wide = [solid.body for solid in CollisionModel(body, urdfs=urdf).checker._solids]  # pyright: ignore[reportPrivateUsage]
    assert wide[1].box[1][0] == pytest.approx(2.0 * wide[0].box[1][0])


@pytest.mark.parametrize("kernels", [True, False])
def test_sheets_collide(kernels: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no hull, and the boxes around them no volume: pinocchio's broadphase never looks at these."""
    if not kernels:
        monkeypatch.setattr(checking, "USUAL", "numpy")
    corners = 0.4 * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    model, rng = clamps(tmp_path, 0.01, (corners, np.array([[0, 1, 2], [0, 2, 3]]))), np.random.default_rng(2)
    Q = np.array([model.robot.space.random(rng) for _ in range(60)])
    Q[:, :3], Q[:, 7:10] = 0.0, rng.uniform(-0.3, 0.3, (60, 3))
    data, geometry = model.robot.model.createData(), model.checker.geometry
    plain = checking.data_of(geometry, [0.01])
    met = [pin.computeCollisions(model.robot.model, data, geometry, plain, q, True) for q in Q]
    assert 5 < sum(met) < 55
    assert model.is_free_batch(Q).tolist() == [not each for each in met]
    assert [len(model.collisions(q, 1)) for q in Q] == met


def test_a_mesh_that_may_overlap_a_shape_near_it_is_refused_by_name(tmp_path: Path) -> None:
    """Coal has no verdict of them; two meshes may overlap, and what is far from each other is free."""
    model = clamps(tmp_path, 0.0)
    ball = Shape("ball", "Sphere", (0.1,), placement=[3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    name, q = model.names[0], model.robot.space.neutral
    both = model.added(ball).with_margins({(name, "ball"): -0.01, model.pairs[0]: -0.01})
    apart = q + np.eye(len(q))[7] * 9.0
    assert both.is_free(apart)
    apart[0] = 3.0
    for ask in (both.is_free, both.collisions):
        with pytest.raises(OptionError, match=rf"margin -0.01 m of '{name}' and 'ball', .*: a mesh may only overlap"):
            ask(apart)
    assert not both.is_free(q)
