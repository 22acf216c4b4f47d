"""Short paths on constraints of all kinds that are proved by samples, and the search of their legs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import path_claims as claims
from robots import humanoid, panda

from constraints import (
    Bounds,
    CenterOfMass,
    Implicit,
    Orientation,
    Pose,
    Position,
    Problem,
    Projector,
    Rotation,
    Transformation,
)
from constraints.certificates.paths.leg_search import LegSearch
from constraints.paths import Path
from liegroups import R3xSO3


def unit(rng: np.random.Generator, columns: np.ndarray) -> np.ndarray:
    """Of length 1, along some columns, few of them as often as many."""
    v = rng.normal(size=columns.size) * columns * (rng.uniform(size=columns.size) < rng.uniform(0.1, 1.0))
    return v / max(float(np.linalg.norm(v)), 1e-9)


def kept(robot: Any, rows: Any, seed: int = 0, step: float = 0.03) -> tuple[Path, Any]:
    """A short path on constraints that hold at a configuration, and the search of its legs."""
    rng = np.random.default_rng(seed)
    q = 0.5 * robot.random(rng) + 0.5 * robot.neutral if robot.nq == robot.nv else robot.random(rng)
    problem = Problem(robot, [make(robot, q) for make in rows], Bounds.none(robot.space))
    projector = Projector(problem)
    Q, v = [q], problem.project_tangent(q, rng.normal(size=robot.nv))
    for _ in range(4):
        v = problem.project_tangent(Q[-1], v)
        Q.append(projector.project(robot.space.integrate(Q[-1], step * v / np.linalg.norm(v))).or_raise().q)
    path = claims.path_through(problem, np.array(Q))
    return path, LegSearch(path.pieces[0], None)


def held(kind: Any, *frames: str, mask: Any = None, **options: Any) -> Any:
    return lambda robot, q: Implicit.equal(
        f := kind(robot, *frames, **options), f.value(q), mask=mask, name=kind.__name__
    )


def upright(robot: Any, q: np.ndarray) -> Implicit:
    """Two rows of a rotation vector, which stand for the tilt of an axis, seen from where the tool is."""
    last = robot.frame_names[-1]
    here = Pose(robot, last).value(q)
    return Implicit.equal(Orientation(robot, last, here), mask=[True, True, False], name="upright")


def placed(robot: Any, q: np.ndarray) -> Implicit:
    last = robot.frame_names[-1]
    here = Pose(robot, last).value(q)
    return Implicit.equal(Transformation(robot, last, here), mask=[False, True, True, True, False, True], name="slide")


@cache
def cases() -> dict[str, tuple[Path, Any]]:
    last, feet = panda().frame_names[-1], ("rleg6_joint", "lleg6_joint")
    return {
        "pose": kept(panda(), [held(Pose, last)]),
        "place and rotation": kept(panda(), [held(Pose, last, outputs=R3xSO3)]),
        "rotation": kept(panda(), [held(Rotation, last)]),
        "upright": kept(panda(), [upright, held(Position, last, mask=[False, False, True])]),
        "slide": kept(panda(), [placed]),
        "feet": kept(
            humanoid(), [*(held(Pose, foot) for foot in feet), held(CenterOfMass, mask=[True, True, False])], step=6e-3
        ),
        "foot on foot": kept(humanoid(), [held(Pose, *feet)]),
    }
