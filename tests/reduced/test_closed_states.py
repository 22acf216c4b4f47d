"""Closed states: velocities and accelerations of dependent coordinates, at rest and with motions in time."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from closed_mechanisms import ALL, closed_mechanism
from each_choice import a_few
from reduced.test_closing import split_platform

from constraints import Target
from constraints.errors import WrongObjectError
from constraints.loops import ConstraintSet, RodClosure, assemble_position
from constraints.reduced import (
    ClosedState,
    MinimalCoordinates,
    OpenMechanismError,
    branches,
    closing,
    minimal_coordinates,
    state,
    sweep,
)

CUTS = {"5bar_linkage_iso3d": "3D", "5bar_linkage": "6D", "five_bar": "pin"}
FORCED = {"cassie_sdf": 3e-8}
"""Rates of redundant rows where a file has them consistent to 1e-9 m only."""


def moving(name: str, seed: int = 0) -> ClosedState:
    """A random closed state with velocities of size 1."""
    mechanism, q = closed_mechanism(name)
    rng, robot = np.random.default_rng(seed), mechanism.robot
    coordinates = minimal_coordinates(mechanism.constraint_set(), q)
    start = robot.space.integrate(q, 0.02 * rng.standard_normal(robot.nv))
    v = coordinates.spread(rng.uniform(-1.0, 1.0, coordinates.partition.independent.size))
    return coordinates.at(start, v, close=True)


def slope(coordinates: MinimalCoordinates, q: np.ndarray, u: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Central difference of the closed configuration along the independent coordinates."""
    space = coordinates.constraint_set.robot.space
    ahead, behind = (
        coordinates.close(space.integrate(q, s * coordinates.spread(u)), tolerance=1e-14, max_iterations=20).q
        for s in (h, -h)
    )
    return space.difference(behind, ahead) / (2.0 * h)


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_velocities_keep_the_rows(name: str) -> None:
    """Case 5: J qd below 1e-12, the independent velocities bit for bit as given."""
    found = moving(name)
    rows, parts = found.coordinates.constraint_set, found.coordinates.partition
    off = rows.jacobian(found.q) @ found.v
    assert np.abs(off[parts.rows]).max() <= 1e-12
    assert np.abs(off).max() <= FORCED.get(name, 1e-10)
    rng = np.random.default_rng(0)
    rng.standard_normal(rows.robot.nv)
    u = rng.uniform(-1.0, 1.0, parts.independent.size)
    assert found.v[parts.independent].tobytes() == u.tobytes()
    np.testing.assert_allclose(found.velocity(found.coordinates.spread(u)), found.v, atol=1e-12)


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_b_is_the_derivative_of_the_closed_configuration(name: str) -> None:
    """Case 5: B against differences of the closed v(u) below 1e-6."""
    found = moving(name)
    coordinates = found.coordinates
    n = coordinates.partition.independent.size
    for k in range(n):
        by_differences = slope(coordinates, found.q, np.eye(n)[k])
        np.testing.assert_allclose(by_differences[coordinates.partition.dependent], found.B[:, k], atol=1e-6)


def test_b_is_the_derivative_where_a_free_joint_is_split() -> None:
    """Case 5: the same with parts of a free joint held."""
    coordinates, q = split_platform()
    found = coordinates.at(q, close=True)
    for k in range(6):
        by_differences = slope(coordinates, found.q, np.eye(6)[k])
        np.testing.assert_allclose(by_differences, found.velocity(coordinates.spread(np.eye(6)[k])), atol=1e-6)


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_the_quadratic_term_is_the_second_derivative_of_the_errors(name: str) -> None:
    """Case 5: Jdot qd against differences below 1e-6, for 3D, 6D and pin closures and all others."""
    found, h = moving(name), 2e-4
    rows, parts = found.coordinates.constraint_set, found.coordinates.partition
    space = rows.robot.space
    e = [rows.position_error(space.integrate(found.q, s * found.v)) for s in (-2 * h, -h, 0.0, h, 2 * h)]
    second = (-e[0] + 16.0 * e[1] - 30.0 * e[2] + 16.0 * e[3] - e[4]) / (12.0 * h**2)
    np.testing.assert_allclose(found.rows.drift, second, atol=1e-6)
    a = found.acceleration(np.zeros(rows.robot.nv))
    off = rows.jacobian(found.q) @ a + found.rows.drift
    assert np.abs(off[parts.rows]).max() <= 1e-11
    assert np.abs(off).max() <= FORCED.get(name, 1e-9)


@pytest.mark.parametrize("name", CUTS)
def test_accelerations_are_second_differences_of_the_closed_motion(name: str) -> None:
    """Case 5: u(t) = u0 + t ud + t^2 udd / 2 closed at three times: the dependent ones follow; 3D, 6D and pin."""
    found, h = moving(name), 5e-4
    coordinates, space = found.coordinates, found.coordinates.constraint_set.robot.space
    udd = np.random.default_rng(5).uniform(-1.0, 1.0, coordinates.partition.independent.size)
    ud = found.v[coordinates.partition.independent]
    ahead, behind = (
        coordinates.close(space.integrate(found.q, coordinates.spread(s * ud + 0.5 * s**2 * udd)), tolerance=1e-14).q
        for s in (h, -h)
    )
    second = (space.difference(found.q, ahead) + space.difference(found.q, behind)) / h**2
    np.testing.assert_allclose(second, found.acceleration(coordinates.spread(udd)), atol=1e-5)


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_one_decomposition_serves_all_levels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Item 2: the LU of -J_v is computed once a closed state, and once for each step of a closing before it."""
    found, count = moving(name), [0]
    whole: Any = closing.factorised

    def counted(J_v: np.ndarray) -> Any:
        count[0] += 1
        return whole(J_v)

    monkeypatch.setattr(closing, "factorised", counted)
    monkeypatch.setattr(state, "factorised", counted)
    again = found.coordinates.at(found.q, found.v)
    again.velocity(found.v)
    again.acceleration(found.v)
    assert count == [1]
    found.coordinates.at(found.q, found.v, close=True)
    assert count == [2]
    start = found.coordinates.constraint_set.robot.space.integrate(found.q, 1e-3 * np.ones(found.v.size))
    steps = found.coordinates.close(start).or_raise().iterations
    assert count == [2 + steps]
    found.coordinates.at(start, close=True)
    assert count == [3 + 2 * steps]
    np.testing.assert_allclose(
        found.lu.solve(
            -found.rows.jacobian[found.coordinates.partition.rows][:, found.coordinates.partition.dependent]
        ),
        np.eye(len(found.B)),
        atol=1e-9,
    )


# Motions in time.


def swing(t: float) -> list[float]:
    return [0.3 * np.sin(2.0 * t)]


def test_driven_joints_move_the_dependent_ones() -> None:
    """Item 2: a driven joint with a velocity and an acceleration, against differences of closed configurations."""
    mechanism, q = closed_mechanism("five_bar")
    left, right = mechanism.motors
    target = Target(lambda t: [q[0] + swing(t)[0]], lambda t: [0.6 * np.cos(2 * t)], lambda t: [-1.2 * np.sin(2 * t)])
    coordinates = mechanism.minimal_coordinates(q, driven={left: target}, independent=[right])
    t, h, space = 0.3, 5e-4, mechanism.robot.space
    now = coordinates.at(q, t=t, close=True)
    assert now.v[0] == 0.6 * np.cos(0.6)
    ahead, behind = (coordinates.close(now.q, t=t + s, tolerance=1e-14).or_raise().q for s in (h, -h))
    np.testing.assert_allclose(space.difference(behind, ahead) / (2 * h), now.v, atol=1e-6)
    second = (space.difference(now.q, ahead) + space.difference(now.q, behind)) / h**2
    np.testing.assert_allclose(now.acceleration(coordinates.spread([0.0], [-1.2 * np.sin(0.6)])), second, atol=1e-5)
    # Without closing: where it is and how fast it goes is not assumed.
    with pytest.raises(OpenMechanismError, match=f"'{left}' is off by .* in the place that its motion has") as caught:
        coordinates.at(now.q, now.v, t=t + 0.1)
    assert caught.value.worst == left
    with pytest.raises(OpenMechanismError, match=f"'{left}' is off by .* in the velocity that its motion has"):
        coordinates.at(now.q, t=t)
    np.testing.assert_array_equal(coordinates.at(now.q, now.v, t=t).B, now.B)


def test_targets_of_rows_move_the_dependent_ones() -> None:
    """Item 2: a rod whose length is a function of time: velocities and accelerations less those of its target."""
    mechanism, q = closed_mechanism("five_bar")
    robot = mechanism.robot
    a, b = (name for name in robot.frame_names if name.endswith("inner_end"))
    points = robot.at(q)
    apart = float(np.linalg.norm(points.placement(a).translation - points.placement(b).translation))
    rod = RodClosure(robot, a, b, Target(lambda t: [apart + 0.05 * np.sin(3.0 * t)]), name="rod")
    rows = mechanism.constraint_set([rod])
    coordinates = minimal_coordinates(rows, q, t=0.0)
    assert coordinates.partition.independent.size == 1
    t, h, space = 0.2, 5e-4, robot.space
    now = coordinates.at(q, coordinates.spread([0.7]), t=t, close=True)
    along = coordinates.spread([0.7])
    ahead, behind = (
        coordinates.close(space.integrate(now.q, s * along), t=t + s, tolerance=1e-14).or_raise().q for s in (h, -h)
    )
    np.testing.assert_allclose(space.difference(behind, ahead) / (2 * h), now.v, atol=1e-6)
    second = (space.difference(now.q, ahead) + space.difference(now.q, behind)) / h**2
    np.testing.assert_allclose(now.acceleration(np.zeros(4)), second, atol=2e-5)
    np.testing.assert_allclose(now.velocity(along), now.v, atol=1e-12)
    resting = now.velocity(np.zeros(4))
    assert np.abs(resting).max() > 0.01
    np.testing.assert_allclose(rows.velocity_error(now.q, resting, rows.rhs_at(t)), 0.0, atol=1e-12)
    with pytest.raises(OpenMechanismError, match="'rod' is off"):
        coordinates.at(now.q, now.v, t=t + 0.1)
    first = coordinates.close(now.q, t=t + 0.1).iterates[1]
    np.testing.assert_array_equal(coordinates.step(now.q, t=t + 0.1).q, first)
    np.testing.assert_array_equal(coordinates.step(now.q, rhs=rows.rhs_at(t + 0.1)).q, first)
    np.testing.assert_array_equal(coordinates.close(now.q, rhs=rows.rhs_at(t + 0.1)).iterates[1], first)
    for usual, said in (  # the time is zero where none is said
        (coordinates.close(now.q).q, coordinates.close(now.q, t=0.0).q),
        (coordinates.step(now.q).q, coordinates.step(now.q, t=0.0).q),
        (coordinates.at(now.q, close=True).v, coordinates.at(now.q, t=0.0, close=True).v),
        (minimal_coordinates(rows, now.q, close=True).q, minimal_coordinates(rows, now.q, t=0.0, close=True).q),
        (minimal_coordinates(rows, q).q, q),
        (branches(coordinates, tries=0, close=True).ways[0].q, q),
        (sweep(rows, q, coordinates.independent[0], [q[0]]).coordinates.q, q),
    ):
        np.testing.assert_array_equal(usual, said)
    alone = ConstraintSet(robot, [rod])
    for every in (alone, rows):
        found = minimal_coordinates(every, q).rhs_at(t)
        np.testing.assert_array_equal(found.vector, every.rhs_at(t).vector)
        assert (found.vector[every.slice_of("rod")] > every.rhs_at(0.0).vector[every.slice_of("rod")]).all()
    still = mechanism.minimal_coordinates(q)
    assert still.rhs_at(0.1) is still.rhs_at(0.2)  # nothing to be made again


# Nothing closes by itself.


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_open_states_are_refused_by_name_or_closed_on_request(name: str) -> None:
    """Done when: an open start is refused, in position or velocity, with the worst constraint, residual and remedy."""
    found = moving(name)
    coordinates, rows = found.coordinates, found.coordinates.constraint_set
    space, rng = rows.robot.space, np.random.default_rng(1)
    opened = space.integrate(found.q, 0.01 * rng.standard_normal(space.nv))
    with pytest.raises(OpenMechanismError, match="pass close=True") as caught:
        coordinates.at(opened)
    norms = dict(rows.stack.norms(rows.position_error(opened)))
    assert caught.value.worst == max(norms, key=lambda each: norms[each])
    assert caught.value.residual == pytest.approx(max(norms.values()))
    assert caught.value.level == "position"
    v = rng.standard_normal(space.nv)
    with pytest.raises(OpenMechanismError, match=r"in velocity.*assemble_velocity") as caught:
        coordinates.at(found.q, v)
    norms = dict(rows.stack.norms(rows.velocity_error(found.q, v)))
    assert caught.value.worst == max(norms, key=lambda each: norms[each])
    assert caught.value.level == "velocity"
    closed = coordinates.at(opened, v, close=True)
    assert closed.v[coordinates.held].tobytes() == v[coordinates.held].tobytes()
    given = coordinates.at(found.q, found.v)
    assert (given.q.tobytes(), given.v.tobytes()) == (found.q.tobytes(), found.v.tobytes())


def test_states_are_values() -> None:
    """Item 2: read-only, independent of what was given, and they pickle."""
    found = moving("stewart_platform")
    q, v = found.q.copy(), found.v.copy()
    again = found.coordinates.at(q, v)
    q[:], v[:] = 0.0, 0.0
    np.testing.assert_array_equal(again.q, found.q)
    for each in (again.q, again.v, again.B, again.drift):
        with pytest.raises(ValueError, match="read-only"):
            each[0] = 1.0
    copy = pickle.loads(pickle.dumps(again))
    a = np.random.default_rng(0).standard_normal(again.v.size)
    np.testing.assert_array_equal(copy.acceleration(a), again.acceleration(a))
    np.testing.assert_array_equal(copy.motion.q, again.q)
    assert repr(copy) == "ClosedState(t 0, MinimalCoordinates(u 6, c 0, v 18))"
    with pytest.raises(WrongObjectError):
        found.coordinates.at(found.q, close="yes")  # pyright: ignore[reportArgumentType]


def test_a_mechanism_without_closures_has_only_independent_coordinates() -> None:
    """Item 1: no row at all: all coordinates are independent, and every state is closed."""
    mechanism, q = closed_mechanism("four_bar")
    coordinates = minimal_coordinates(ConstraintSet(mechanism.robot, []), q)
    assert coordinates.independent == ("crank", "coupler", "rocker")
    found = coordinates.at(q, [1.0, 2.0, 3.0])
    assert found.B.shape == (0, 3)
    assert coordinates.close(q).or_raise().iterations == 0
    np.testing.assert_array_equal(found.acceleration([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])


def test_a_structure_has_only_dependent_coordinates() -> None:
    """Item 1: no freedom left: all coordinates are dependent."""
    mechanism, q = closed_mechanism("four_bar")
    robot = mechanism.robot
    frozen = mechanism.minimal_coordinates(q, driven=["crank"])
    assert frozen.independent == ()
    found = frozen.at(q)
    assert found.B.shape == (2, 1)
    moved = robot.configuration({"crank": 1.2}, start=q)
    closed = frozen.at(moved, close=True)
    assert closed.q[0] == 1.2
    np.testing.assert_allclose(assemble_position(mechanism.constraint_set(), moved, driven=["crank"]).q, closed.q)
