"""Exact derivatives of accelerations that explicit maps of local loops give, and of dynamics with them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from dynamics.derivatives.test_force_slopes import slope
from dynamics.derivatives.test_forward_derivatives import check
from each_choice import a_few
from reduced.test_explicit_loops import BY_NEWTON, FILES, made

from constraints import Implicit
from constraints.dynamics import DynamicsStatus
from constraints.errors import UndefinedError
from constraints.functions import Identity
from constraints.loops import ConstraintSet
from constraints.models import mechanisms
from constraints.point import place_motion
from constraints.workspace import Workspace

STEPS = (8e-3, 2e-3, 5e-4, 1e-4)
"""Of the differences; one is as good as it is near to the next."""


def accelerations(f: Any, x: Any, v: Any, a: Any) -> Any:
    """J a + drift."""
    drift = np.zeros(f.outputs.nv)
    f.drift(place_motion(f.inputs, x, v, Workspace()), drift)
    return f.jacobian(x) @ a + drift


def truth(f: Any, x: Any, v: Any, a: Any) -> tuple[Any, float]:
    """Derivative by the argument, by the best of some differences, and how good it is."""
    by_step = [slope(lambda d: accelerations(f, f.inputs.integrate(x, d), v, a), f.inputs.nv, step) for step in STEPS]
    apart = [float(np.abs(one - other).max()) for one, other in pairwise(by_step)]
    best = int(np.argmin(apart))
    return by_step[best + 1], apart[best] / (1.0 + float(np.abs(by_step[best]).max()))


@pytest.mark.parametrize("name", a_few([*BY_NEWTON, *FILES, "four_bar", "five_bar", "cassie_mjcf"], 6))
def test_maps_of_loops(name: str) -> None:
    """Of each loop, in closed form or by Newton, with held spins of balls: at its reference, near it, and away."""
    mechanism, q = made(name)
    rng, seen = np.random.default_rng(1), 0
    for loop in mechanism.explicit_loops(q).loops:
        f = loop.function
        assert f.has_exact_derivatives
        for far in (0.0, 0.03, 0.3, 0.3):
            x = f.inputs.integrate(q[loop.inputs.q_indices], far * rng.standard_normal(f.inputs.nv))
            v, a = rng.standard_normal((2, f.inputs.nv))
            dq, dv = np.full((2, f.outputs.nv, f.inputs.nv), np.nan)
            try:
                by_q, apart = truth(f, x, v, a)
                f.drift_derivatives(place_motion(f.inputs, x, v, Workspace()), a, dq, dv)
            except UndefinedError:
                continue
            by_v = slope(lambda d: accelerations(f, x, v + d, a), f.inputs.nv, 0.1)  # noqa: B023
            assert np.abs(dv - by_v).max() <= 1e-7 * (1.0 + np.abs(by_v).max())
            if apart > 1e-9:  # next to a dead point
                continue
            seen += 1
            assert np.abs(dq - by_q).max() <= 1e-7 * (1.0 + np.abs(by_q).max())
    assert seen


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "slider_crank", "delta_robot"])
def test_forward_dynamics_with_maps_as_rows(name: str) -> None:
    """Joints that are computed, less their maps: exact derivatives of accelerations and multipliers, open by 0.05."""
    mechanism = getattr(mechanisms, name)()
    robot, q = mechanism.robot, np.array(mechanism.postures["closed"])
    rng, here = np.random.default_rng(2), Identity(robot.space)
    rows = [
        Implicit.zero(here.restricted(loop.outputs) - loop.function.on(robot.space, loop.inputs))
        for loop in mechanism.explicit_loops(q).loops
    ]
    some = ConstraintSet(robot, rows).stabilised(0.3)
    away = robot.space.integrate(q, 0.05 * rng.standard_normal(robot.nv))
    found = check(some, away, rng.standard_normal(robot.nv), rng.standard_normal(robot.nv))
    assert found.has_exact_derivatives
    assert found.status is DynamicsStatus.SOLVED


def test_velocities_by_maps_close_the_loops_to_rounding() -> None:
    """Their Jacobian is that of the value, not of the place before Newton's last correction, 1e-9 away."""
    mechanism, q = made("cassie_mjcf")
    robot, rng = mechanism.robot, np.random.default_rng(3)
    for loop in mechanism.explicit_loops(q).loops:
        rows = ConstraintSet(robot, loop.closures)
        for _ in range(60):
            x = loop.function.inputs.integrate(
                q[loop.inputs.q_indices], 0.2 * rng.standard_normal(len(loop.inputs.v_indices))
            )
            try:
                at = loop.function.linearise(x)
            except UndefinedError:
                continue
            there, v = q.copy(), np.zeros(robot.nv)
            there[loop.inputs.q_indices], there[loop.outputs.q_indices] = x, at.value
            v[loop.inputs.v_indices] = rng.standard_normal(len(x))
            v[loop.outputs.v_indices] = at.jacobian @ v[loop.inputs.v_indices]
            assert np.abs(rows.velocity_error(there, v)).max() < 1e-12 * (1.0 + np.abs(v).max())
