"""Singular configurations are called so; velocities by name close; explicit loops out of bounds are refused."""

from __future__ import annotations

import numpy as np
import pytest
from closed_states import mechanism_of

from constraints import Bounds, Options, Projector
from constraints.errors import OptionError, UnknownNameError
from constraints.loops import AssemblyOptions, assemble_position
from constraints.models import mechanisms
from constraints.reduced import OpenMechanismError, minimal_coordinates

ALL = (
    "four_bar",
    "five_bar",
    "scissor_lift",
    "slider_crank",
    "stewart_platform",
    "delta_robot",
    "bennett",
    "cassie_sdf",
)


def test_a_flat_parallelogram_is_singular_and_a_crooked_one_is_not() -> None:
    linkage = mechanisms.four_bar(0.4, 0.2, 0.4, 0.2)
    flat = linkage.robot.neutral
    judged = linkage.judge(flat)
    assert judged.is_singular
    assert (judged.rank, judged.rank_beside) == (1, 2)
    assert "singular: the rank is 2 at closed configurations beside this one" in judged.describe()
    coordinates = linkage.minimal_coordinates(flat)
    assert coordinates.is_singular
    assert "singular" in coordinates.describe()
    crooked = linkage.posture("closed")
    assert not linkage.judge(crooked).is_singular
    assert not linkage.minimal_coordinates(crooked).is_singular
    assert "singular" not in linkage.minimal_coordinates(crooked).describe()


@pytest.mark.parametrize("name", ALL)
def test_regular_mechanisms_are_not_called_singular(name: str) -> None:
    """Overconstrained ones too, whose rank is higher at open configurations beside."""
    mechanism, _, q = mechanism_of(name)
    judged = mechanism.judge(q)
    assert judged.rank_beside == judged.rank
    assert not judged.is_singular


def test_an_open_configuration_has_no_rank_beside() -> None:
    linkage = mechanisms.four_bar()
    judged = linkage.judge(linkage.posture("closed") + 0.1)
    assert not judged.is_closed
    assert not judged.is_singular


def test_velocities_by_name_close() -> None:
    """`at(q, {"crank": 1.0})`: the dependent velocities follow; a vector must be closed already."""
    linkage = mechanisms.four_bar()
    q = linkage.posture("closed")
    coordinates = minimal_coordinates(linkage.constraint_set(), q, independent=["crank"])
    state = coordinates.at(q, {"crank": 1.0})
    assert state.v[0] == 1.0
    np.testing.assert_allclose(state.v, state.velocity(coordinates.spread([1.0])), atol=1e-14)
    step = 1e-6
    ends = [coordinates.close(q + np.array([h, 0.0, 0.0])).or_raise().q for h in (step, -step)]
    np.testing.assert_allclose(state.v, (ends[0] - ends[1]) / (2.0 * step), atol=1e-8)
    with pytest.raises(OpenMechanismError):
        coordinates.at(q, coordinates.spread([1.0]))
    with pytest.raises(UnknownNameError, match="crank"):
        coordinates.at(q, {"rocker": 1.0})


def test_velocities_by_name_of_driven_joints_close() -> None:
    linkage = mechanisms.five_bar()
    q = linkage.posture("closed")
    coordinates = minimal_coordinates(linkage.constraint_set(), q, driven=["left_inner"], independent=["right_inner"])
    state = coordinates.at(q, {"left_inner": 0.3, "right_inner": -0.2})
    np.testing.assert_allclose(state.v, state.velocity(coordinates.spread([-0.2], [0.3])), atol=1e-14)


def test_explicit_loops_out_of_bounds_are_refused() -> None:
    """A projection with them ended STALLED after seconds: computed joints stay on a branch that is outside."""
    mechanism, rows, q = mechanism_of("cassie_sdf")
    robot = mechanism.robot
    outside = mechanism.explicit_loops(q)
    with pytest.raises(OptionError, match=r"out of bounds, '.*' 0\.\d+ rad .* its bound.*bounds=robot\.bounds"):
        outside.problem()
    assert outside.problem(bounds=Bounds.none(robot.space)).explicits is not None
    inside = assemble_position(rows, q, options=AssemblyOptions(bounds=robot.bounds))
    assert inside.success
    made = mechanism.explicit_loops(inside.q)
    np.testing.assert_array_equal(made.q, inside.q)
    found = Projector(made.problem(), Options.local()).project(inside.q)
    assert found.success
    joint = made.loops[0].dependent[0]
    at = robot.slice_of(joint)
    tight = robot.bounds.replace({joint: (inside.q[at] + 0.1, inside.q[at] + 0.4)})
    with pytest.raises(OptionError, match=f"'{joint}' 0.1 rad below its bound"):
        made.problem(bounds=tight)
