"""Verdicts of collision models against plain coal, and thin plates across paths.

    python benchmarks/verdicts.py --configurations 100000 --plates 1000
    python benchmarks/verdicts.py --check

Five scenes: an arm of meshes beside solids of all kinds; others, with margins of 2 cm; solids on every type of joint;
an arm beside a point cloud, with a glass in its hand; two boxes, a cylinder and a floor. Half of the configurations of
each are random, the others within 1e-4 rad or m of one at which the verdict changes, either side. A verdict of plain
coal is that of pinocchio's loop over all pairs, without covers, kernels and trees: a point cloud is a ball a point.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
import pinocchio as pin
from collisions.test_along import PLATE, at_a_height, of_a_box, of_an_arm, turned
from collisions.test_covers import PANDA, objects, scene
from proving import run_parts
from robots import mixed_tree, panda

from constraints.collisions import CollisionModel, PointCloud, Shape

coal: Any = import_module("coal")
TOLERANCE = 1e-9
"""Of coal's search for a common point, as in `constraints.collisions`."""
NEAR = 1e-4
"""How far from a change of the verdict configurations are that are near it [m]."""


def cloud_scene() -> CollisionModel:
    rng = np.random.default_rng(0)
    wall = np.column_stack((np.full(300, 0.5), rng.uniform(-0.6, 0.6, 300), rng.uniform(0.0, 0.8, 300)))
    model = CollisionModel(panda(), [PointCloud("scan", wall, 0.02)], PANDA)
    fingers = ("panda_leftfinger", "panda_rightfinger")
    grasp = [0.0, 0.0, 0.1034, 0.0, 0.0, 0.0, 1.0]
    return model.attached(Shape("glass", "Cylinder", (0.03, 0.12)), "panda_hand", placement=grasp, touching=fingers)


SCENES = {
    "arm of meshes, post": lambda: scene(1, panda(), PANDA, 6),
    "the same, 2 cm": lambda: scene(2, panda(), PANDA, 6, 0.02),
    "every type of joint": lambda: scene(3, mixed_tree(), None, 40),
    "point cloud, glass": cloud_scene,
    "objects on a floor": objects,
}


class PlainCoal:
    """All pairs of a model by pinocchio's plain loop over coal; those of clouds one by one, ball by ball."""

    def __init__(self, model: CollisionModel) -> None:
        self.robot = model.robot
        self.solids, margins, *_ = model._has
        self.data, self.requests, self.geometry = self.robot.model.createData(), {}, pin.GeometryModel()
        for solid in self.solids:
            made = pin.GeometryObject(solid.name, solid.joint, solid.placement, solid.body.geometry)
            self.geometry.addGeometryObject(made)
        plain = list[float]()
        for (i, j), margin in margins.items():
            if self.solids[i].body.cloud is None and self.solids[j].body.cloud is None:
                self.geometry.addCollisionPair(pin.CollisionPair(i, j))
                plain.append(margin)
            else:
                self.requests[i, j] = request = coal.CollisionRequest()
                request.security_margin, request.gjk_tolerance = margin, TOLERANCE
        self.memory = self.geometry.createData()
        for k, margin in enumerate(plain):  # pinocchio's own requests begin where the last search of the pair ended
            self.memory.collisionRequests[k] = coal.CollisionRequest()
            self.memory.collisionRequests[k].security_margin = margin
            self.memory.collisionRequests[k].gjk_tolerance = TOLERANCE
            self.memory.collisionRequests[k].enable_contact = False

    def place(self) -> list[Any]:
        """Placements of all solids."""
        poses = [self.data.oMi[solid.joint] * solid.placement for solid in self.solids]
        return [coal.Transform3s(pose.rotation, pose.translation) for pose in poses]

    def balls(self, i: int, there: Any, other: int, where: Any, margin: float) -> list[Any]:
        """Placements of the balls of a cloud that another solid may be near to; of any other solid its own."""
        cloud = self.solids[i].body.cloud
        if cloud is None:
            return [there]
        body = self.solids[other].body.geometry
        body.computeLocalAABB()
        center = where.transform(np.array(body.aabb_center))
        points = cloud.points @ there.getRotation().T + there.getTranslation()
        near = np.linalg.norm(points - center, axis=1) <= body.aabb_radius + cloud.radius + margin + 1e-3
        return [coal.Transform3s(np.eye(3), point) for point in points[near]]

    def form(self, i: int) -> Any:
        body = self.solids[i].body
        return body.geometry if body.cloud is None else coal.Sphere(body.cloud.radius)

    def is_free(self, q: np.ndarray) -> bool:
        """Whether no pair collides."""
        if pin.computeCollisions(self.robot.model, self.data, self.geometry, self.memory, q, True):
            return False
        places = self.place() if self.requests else []
        for (i, j), request in self.requests.items():
            a, b = self.form(i), self.form(j)
            for at in self.balls(i, places[i], j, places[j], request.security_margin):
                for there in self.balls(j, places[j], i, places[i], request.security_margin):
                    if coal.collide(a, at, b, there, request, coal.CollisionResult()):
                        return False
        return True


def near_margins(model: CollisionModel, free: np.ndarray, met: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Configurations near a change of the verdict: halved between free ones and others, then moved by a little."""
    space = model.robot.space
    while np.abs(space.difference(free, met)).max() > NEAR / 4:
        middle = space.interpolate(free, met, 0.5)
        verdicts = model.is_free_batch(middle)
        free, met = np.where(verdicts[:, None], middle, free), np.where(verdicts[:, None], met, middle)
    return space.interpolate(free, met, rng.uniform(-1.5, 2.5, len(free)))


def configurations(model: CollisionModel, count: int) -> tuple[np.ndarray, int]:
    """Half at random, and half near margins; how many of these there are."""
    rng = np.random.default_rng(1)
    Q = np.array([model.robot.random(rng) for _ in range(count // 2)])
    verdicts = model.is_free_batch(Q)
    free, met = Q[verdicts], Q[~verdicts]
    pairs = count - len(Q)
    near = near_margins(model, free[rng.integers(len(free), size=pairs)], met[rng.integers(len(met), size=pairs)], rng)
    return np.concatenate((Q, near)), pairs


def verdicts(count: int) -> bool:
    """Whether those of so many configurations of each scene are plain coal's."""
    differing = 0
    for name, make in SCENES.items():
        model, began = make(), time.process_time()
        Q, near = configurations(model, count)
        found, plain = model.is_free_batch(Q), PlainCoal(model)
        wanted = np.array([plain.is_free(q) for q in Q])
        differ = int((found != wanted).sum())
        differing += differ
        print(
            f"{name:22s} {len(Q)} configurations, {found.sum()} free, {near} within {NEAR:g} of a change "
            f"({found[-near:].sum()} free): {differ} differ ({time.process_time() - began:.0f} s)", flush=True,
        )  # fmt: skip
    return differing == 0


def plates(count: int) -> bool:
    """Whether no plate of 1 mm across paths is missed, of so many for each kind of paths."""
    missed = 0
    for make, frame in ((of_an_arm, "tool"), (of_a_box, "l"), (at_a_height, "tool")):
        rng, here, began = np.random.default_rng(11), 0, time.process_time()
        for _ in range(-(-count // 50)):
            path = make(rng)
            robot = path.pieces[0].problem.robot
            model = CollisionModel(robot, [Shape("ball", "Sphere", (0.01,), frame), PLATE])
            for at in rng.uniform(0.0, path.duration, 50):
                there = robot.at(path(at)).placement(frame).translation
                found = model.moved({"plate": turned(rng, there)}).first_collision(path)
                here += found is None or found.time > at + 1e-3
        print(
            f"{make.__name__:22s} {count} plates of 1 mm: {here} missed ({time.process_time() - began:.0f} s)",
            flush=True,
        )
        missed += here
    return missed == 0


if __name__ == "__main__":
    sys.exit(run_parts(__doc__, {"configurations": (verdicts, 400), "plates": (plates, 50)}))
