"""Derivatives of several explicit constraints: each stands in rows of its own, and both engines step alike."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("numba")

from constraints import Implicit, Options, Position, Problem, Projector, linear_coupling
from constraints.models import sample_arm

ARM = sample_arm()


def coupled(order: int) -> Problem:
    """A point, with three joints that are computed from three others, in one or the other order."""
    couplings = [
        linear_coupling(ARM, "wrist_pitch", {"elbow": -0.8}, offset=0.4),
        linear_coupling(ARM, "forearm_roll", {"shoulder_yaw": 0.6}),
        linear_coupling(ARM, "shoulder_roll", {"shoulder_pitch": 0.5}, offset=-0.1),
    ][::order]
    return Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [0.45, 0.1, 0.4], name="point"), *couplings])


@pytest.mark.parametrize("order", [1, -1])
def test_each_explicit_map_has_its_own_rows_of_derivatives(order: int) -> None:
    """Steps of a Newton method tell: a derivative in the place of another one changes the next iterate."""
    problem = coupled(order)
    starts = ARM.random(np.random.default_rng(7), 20)
    for q in starts:
        results = [
            Projector(problem, Options(restarts=False, trace=True, max_iterations=6), engine).project(q)
            for engine in ("readable", "compiled")
        ]
        traces = [np.array([step.q for step in result.trace or ()]) for result in results]
        assert len(traces[0]) == len(traces[1]) > 1
        assert_allclose(traces[1], traces[0], rtol=0, atol=1e-9)
