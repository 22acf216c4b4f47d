"""Points of solids that a kernel compares with the world: coal finds the solid at each of them."""

from __future__ import annotations

import numpy as np
import pytest
from collisions.test_covers import SOLIDS, coal, touches

from constraints.collisions.covers import points_of

COUNTS = {"box": 8, "plate": 8, "rod": 8, "one triangle": 3, "no size": 1}


@pytest.mark.parametrize("name", SOLIDS)
def test_the_solid_is_where_its_points_are(name: str) -> None:
    solid, request = SOLIDS[name](np.random.default_rng(7)), coal.CollisionRequest()
    request.gjk_tolerance = 1e-9
    points = points_of(solid)
    assert points.shape[1:] == (3,)
    if name in ("mesh", "hull"):
        assert len(points) > 10
    else:
        assert len(points) == COUNTS.get(name, 0)
    assert all(touches(solid, point, coal.Sphere(1e-7), request) for point in points)
