"""Points at the edge of what a robot reaches, by many climbs: no library code decides where that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from constraints import Position


def farthest(robot: Any, frame: str, rng: np.random.Generator, climbs: int) -> tuple[np.ndarray, np.ndarray]:
    """The farthest point along a random direction, by many climbs, and that direction."""
    f, u, best, at_best = Position(robot, frame), rng.normal(size=3), -np.inf, np.zeros(robot.nq)
    u = u / np.linalg.norm(u)
    lower, upper = np.maximum(robot.bounds.lower, -np.pi), np.minimum(robot.bounds.upper, np.pi)
    for _ in range(climbs):
        climb = minimize(
            lambda q: -u @ f.value(q), rng.uniform(lower, upper), jac=lambda q: -u @ f.jacobian(q),
            bounds=list(zip(lower, upper, strict=True)), method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        if -climb.fun > best:
            best, at_best = -climb.fun, climb.x
    return f.value(at_best), u
