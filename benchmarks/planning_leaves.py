"""Scenes of `planning.py` on one leaf."""

from __future__ import annotations

import sys
from pathlib import Path as File
from typing import Any

import numpy as np
import pinocchio as pin
from planning_scenes import Array, Query, Scene

sys.path.insert(0, str(File(__file__).resolve().parent.parent / "tests" / "planning"))
sys.path.insert(0, str(File(__file__).resolve().parent.parent / "examples"))
import carry_a_glass
import judge

from constraints import Options, Projector
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

    def solve(query: Query, rng: np.random.Generator, limits: Limits) -> Connection:
        return connect(scene.problem, *query, rng=rng, collisions=scene.collisions, limits=limits)

    def faults(path: Path, query: Query) -> list[str]:
        return judge.faults(path, model, scene.collisions.checker.geometry, error, query)

    return Scene(queries, 4, solve, faults, scene.collisions, {"roboplan": 4})
