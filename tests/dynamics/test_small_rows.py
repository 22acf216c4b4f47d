"""Rows that are zero but for rounding hold nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from constraints.dynamics import impact
from constraints.dynamics.methods.row_space import RowSpace
from constraints.dynamics.methods.saddle_point import solve_direct, solve_null_space, solve_range_space
from constraints.loops import AssemblyOptions, PointContact, assemble_position
from constraints.models import load

CASSIE = Path(__file__).parent.parent / "data" / "mechanisms" / "cassie_sdf" / "cassie_sdf.sdf"


@pytest.mark.parametrize("solve", [solve_direct, solve_range_space, solve_null_space])
@pytest.mark.parametrize("size", [1e-13, 1e-11, 1e-9])
def test_rows_of_rounding_hold_nothing(solve, size: float) -> None:
    """Item 8: a loop that is planar but for its last digits: brought to unit length its third row would be noise."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    M, G, c, gamma = (
        A @ A.T + np.eye(5),
        rng.standard_normal((3, 5)),
        rng.standard_normal(5),
        np.array([1.0, -2.0, 0.0]),
    )
    G[2] *= size
    found, right = solve(M, G, c, gamma), solve(M, G[:2], c, gamma[:2])
    assert found.status.is_success
    assert RowSpace(G).rank == 2
    np.testing.assert_allclose(found.acceleration, right.acceleration, atol=1e-12)
    np.testing.assert_allclose(found.multipliers[:2], right.multipliers, atol=1e-12)
    assert abs(found.multipliers[2]) <= 10.0 * size * np.abs(right.multipliers).max()  # its share, as short as the row


def test_impact_of_cassie_loses_no_more_than_there_is() -> None:
    """Item 8: both feet hit the ground; rows of 1e-12 across the planes of the legs have no part in it."""
    mechanism = load(CASSIE)
    robot = mechanism.robot
    q = robot.configuration({f"{side}-pitch-op": 0.3 for side in ("left", "right")}, start=mechanism.posture("file"))
    options = AssemblyOptions(tolerance=1e-7)
    q = assemble_position(mechanism.constraint_set(), q, options=options, driven=["root_joint"]).or_raise().q
    feet = [PointContact(robot, f"{side}-foot-op", name=side) for side in ("left", "right")]
    v = np.zeros(robot.nv)
    v[2] = -1.0
    motion = robot.at(q, v)
    hit = impact(mechanism.constraint_set(feet), motion)
    assert hit.status.is_success
    assert hit.row_space.rank == mechanism.rank(q) + 6
    kinetic = 0.5 * v @ motion.mass_matrix() @ v
    assert 0.0 < hit.energy_lost < kinetic
    left = 0.5 * hit.velocity @ motion.mass_matrix() @ hit.velocity
    assert hit.energy_lost == pytest.approx(kinetic - left, rel=1e-6)


def test_what_rows_of_zeros_may_ask_for_goes_with_the_largest_singular_value() -> None:
    """Up to `rounding` of it, by the size of the accelerations: 3 here, though directions are of length one."""
    space = RowSpace(np.array([[3.0, 0.0], [0.0, 0.0]]), 1e-6)
    for asked, met in ((2.5e-6, True), (3.5e-6, False)):
        rows = space.independent(np.array([0.0, asked]), 1.0)
        assert rows.limit == pytest.approx(3e-6, rel=1e-12)
        assert rows.are_all_met_by(np.zeros(2)) == met
