"""Rows of problems on boxes, in a chart: Jacobians by differences are within what is said of how they change."""

from __future__ import annotations

import certificate_claims as claims
import numpy as np
import pytest
from enclosure_cases import bent

from constraints.certificates.rows import ProblemRows
from constraints.functions import TangentBox


@pytest.mark.parametrize("seed", range(6))
def test_slopes_of_rows_in_a_chart(seed: int) -> None:
    problem, q, sides = claims.well_posed(seed)
    rng, space = np.random.default_rng(seed), problem.space
    rows = ProblemRows.of(problem, sides)
    for size in (1e-4, 1e-3):
        box = TangentBox(space, q, size, np.full(space.nv, 0.5 * size))
        found = rows.on(box)
        v = 0.5 * size * rng.uniform(-1.0, 1.0, space.nv)
        w = rng.normal(size=space.nv)
        v += 0.5 * size * w / np.linalg.norm(w)

        def error(at: np.ndarray) -> np.ndarray:
            return problem.error(space.integrate(q, at), rhs=sides)

        J = np.array([(error(v + 1e-5 * e) - error(v - 1e-5 * e)) / 2e-5 for e in np.eye(space.nv)]).T
        for bounds in (found.jacobian, bent(found.bend, v)):
            assert (bounds.lower - 1e-8 <= J).all()
            assert (bounds.upper + 1e-8 >= J).all()
        assert found.value.widened(1e-12).contains(error(np.zeros(space.nv)))
        assert rows.at(q).contains(found.value.middle)
        if seed not in (1, 4):  # a rotation vector near half a turn, and a norm
            assert bent(found.bend, v).radius.max() < 60.0 * size * found.jacobian.radius.max()
