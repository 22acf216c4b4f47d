"""Branches: other ways of closing at the same values of what is held, told apart and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from linkages_with_balls import ball_delta

from constraints import ConstraintError, errors
from constraints.models import Mechanism, mechanisms
from constraints.reduced import Branches, OpenMechanismError, branches, minimal_coordinates
from constraints.reduced.sweeps.branches import _restart, _without_turns  # pyright: ignore[reportPrivateUsage]

TURN = 2.0 * np.pi


def closed(mechanism: Mechanism) -> np.ndarray:
    return mechanism.posture("closed")


@pytest.mark.parametrize(
    ("name", "ways"), [("four_bar", 2), ("five_bar", 2), ("bennett", 1), ("slider_crank", 4), ("scissor_lift", 8)]
)
def test_all_ways_of_small_mechanisms(name: str, ways: int) -> None:
    """Counted by hand: two sides of a triangle; of a lift, two a stage; of a slider-crank two sliders, on each of which
    the universal joint holds the rod in two ways. A Bennett linkage has one where its hinge is not at a half turn."""
    mechanism = getattr(mechanisms, name)()
    q = closed(mechanism)
    found = mechanism.branches(q)
    assert len(found) == ways
    np.testing.assert_allclose(found[0].q, q, atol=1e-12)
    assert sum(way.found for way in found.ways) + found.open == found.tries == 100
    rows, parts = mechanism.constraint_set(), found.coordinates.partition
    held = found.coordinates.held
    for way in found.ways:
        assert np.abs(rows.position_error(way.q)).max() < 1e-9
        np.testing.assert_array_equal(way.q[held], q[held])  # all of them have one number a coordinate
        J = rows.jacobian(way.q)
        assert way.sign == np.sign(np.linalg.det(J[np.ix_(parts.rows, parts.dependent)]))
        sizes = np.linalg.svd(J[:, parts.dependent], compute_uv=False)
        assert way.least == pytest.approx(sizes[parts.rank - 1])
        assert np.abs(way.q - q)[parts.dependent].max() <= np.pi + 1e-9
    if ways == 2:
        assert found[0].sign == -found[1].sign != 0.0
    for i, (way, line) in enumerate(zip(found, found.describe().splitlines()[1:], strict=False)):
        assert f"  {i}: sign {'+' if way.sign > 0.0 else '-'}, least singular value {way.least:.3g}," in line
        assert ("; as given" in line, "; from the given one: " in line) == (i == 0, i > 0)


def test_searches_start_anew_within_a_turn_and_with_what_is_held() -> None:
    mechanism, rng = mechanisms.four_bar(), np.random.default_rng(0)
    parts = mechanism.minimal_coordinates(closed(mechanism), independent=["crank"])
    for drawn in (_restart(parts, closed(mechanism), rng) for _ in range(20)):
        assert np.abs(drawn).max() <= np.pi
        np.testing.assert_array_equal(drawn[parts.held], closed(mechanism)[parts.held])


def test_the_ways_of_a_lift_are_those_of_its_loops() -> None:
    """Each stage is open or folded over: with the slide held the first bar is at +-acos(slide / bar)."""
    lift = mechanisms.scissor_lift()
    found = lift.branches(closed(lift))
    first = np.array([way.q[1] for way in found.ways])
    np.testing.assert_allclose(np.abs(first), 0.5, atol=1e-9)
    assert (first > 0.0).sum() == (first < 0.0).sum() == 4


def test_one_seed_gives_one_answer() -> None:
    platform = mechanisms.stewart_platform()
    one, again, other = (platform.branches(closed(platform), tries=20, seed=seed) for seed in (3, 3, 4))
    assert [way.found for way in one.ways] == [way.found for way in again.ways]
    for a, b in zip(one.ways, again.ways, strict=True):
        np.testing.assert_array_equal(a.q, b.q)
    assert len(one) != len(other) or np.abs(one[1].q - other[1].q).max() > 1e-6


def test_whole_turns_are_no_other_way() -> None:
    """From a configuration with turns, the same ways within half a turn of it; bodies are where they were."""
    linkage = mechanisms.four_bar()
    q = closed(linkage) + TURN * np.array([1.0, -2.0, 3.0])
    found = linkage.branches(q)
    assert len(found) == 2
    assert found[0].found > 10
    for way in found.ways:
        assert np.abs(way.q - q).max() <= np.pi
        np.testing.assert_array_equal(way.q[0], q[0])


def test_metres_are_no_turns() -> None:
    """A slider-crank of several metres: its other place of the slider is 2 pi m away and more, and stays there."""
    big = mechanisms.slider_crank(crank=1.0, rod=6.0, offset=0.5)
    found = big.branches(closed(big))
    assert len(found) == 4
    rows = big.constraint_set()
    assert max(np.abs(rows.position_error(way.q)).max() for way in found.ways) < 1e-9
    sliders = sorted({round(float(way.q[3]), 6) for way in found.ways})
    y = np.sin(0.7)
    reach = np.sqrt(36.0 - y * y - 0.25)
    np.testing.assert_allclose(sliders, [np.cos(0.7) - reach, np.cos(0.7) + reach], atol=1e-6)


def test_a_part_of_a_rotation_is_held_too() -> None:
    """A delta robot, its platform's place held by three coordinates of a free joint: arms and its turning follow."""
    delta = mechanisms.delta_robot()
    q = closed(delta)
    names = [f"platform[{i}]" for i in range(3)]
    found = delta.branches(q, independent=names, tries=60)
    assert found.coordinates.independent == tuple(names)
    rows = delta.constraint_set()
    assert len(found) >= 8  # each arm in two ways at least, with the platform level
    level = [way.q for way in found.ways if np.abs(way.q[3:6]).max() < 1e-9]
    assert len({tuple(np.round(way[7:], 6)) for way in level}) >= 2
    for way in found.ways:
        assert np.abs(rows.position_error(way.q)).max() < 1e-9


def test_rods_that_spin_are_in_one_way() -> None:
    """Six rods between balls, each of which may turn alone: ways differ by the place of the platform."""
    delta = ball_delta()
    found = delta.branches(closed(delta), tries=30)
    assert found.open == 0  # every restart ended open while the turn of each rod was held
    places = [delta.robot.at(way.q).placement("platform").homogeneous for way in found.ways]
    assert len(places) > 8
    for i, place in enumerate(places):
        assert min(np.abs(place - other).max() for j, other in enumerate(places) if j != i) > 1e-3
        assert np.abs(delta.constraint_set().position_error(found.ways[i].q)).max() < 1e-9


def test_bounds_that_are_asked_for_are_kept() -> None:
    linkage = mechanisms.four_bar()
    bounded = linkage.robot.with_bounds({"rocker": (0.0, np.pi)}).bounds
    found = linkage.branches(closed(linkage), bounds=bounded)
    assert len(found) == 1
    assert found.open > 20


def test_turns_are_taken_away_where_bounds_allow_it() -> None:
    """A rocker found a turn away: brought back, but kept where its bounds have that turn alone."""
    linkage = mechanisms.four_bar()
    q = closed(linkage)
    parts, far = minimal_coordinates(linkage.constraint_set(), q), np.array(q)
    far[2] += 2.0 * np.pi
    bounds = linkage.robot.with_bounds({"rocker": (q[2] + 1.0, q[2] + 8.0)}).bounds
    np.testing.assert_allclose(_without_turns(parts, q, far, None), q, atol=1e-14)
    np.testing.assert_array_equal(_without_turns(parts, q, far, bounds), far)


def test_a_singular_way_has_no_sign() -> None:
    """A parallelogram that is stretched flat closes in one way, found to the root of the tolerance."""
    linkage = mechanisms.four_bar(0.4, 0.15, 0.4, 0.15)
    flat = linkage.sweep(closed(linkage), "crank", [4.0]).end
    parts = minimal_coordinates(linkage.constraint_set(), closed(linkage), independent=["crank"])
    found = branches(parts, flat, tries=10)
    assert len(found) == 1
    assert found[0].sign == 0.0
    assert found[0].least < 1e-8
    assert "sign 0 (singular)" in found.describe()


def test_ways_that_are_infinitely_many_are_said_to_be() -> None:
    """A rhombus folded so that the crank's end is on the rocker's pivot: the two others turn about it."""
    rhombus = mechanisms.four_bar(0.3, 0.3, 0.3, 0.3)
    parts = minimal_coordinates(rhombus.constraint_set(), closed(rhombus), independent=["crank"])
    folded = np.array([0.0, 2.0, 2.0])
    found = branches(parts, folded, tries=10)
    assert len(found) > 5
    assert {way.sign for way in found.ways} == {0.0}
    assert f"{len(found)} of these are singular; each may be one of infinitely many" in found.describe()


def test_an_open_configuration_is_refused_unless_it_may_be_closed() -> None:
    linkage = mechanisms.four_bar()
    q = closed(linkage)
    with pytest.raises(OpenMechanismError, match="OPEN"):
        linkage.branches(q + 0.1)
    assert len(linkage.branches(q + 0.1, close=True)) == 2
    parts = minimal_coordinates(linkage.constraint_set(), q, independent=["crank"])
    with pytest.raises(OpenMechanismError, match="coupler_end to rocker_end"):
        branches(parts, q + 0.1)
    start = q + np.array([0.0, 0.02, -0.03])
    there = branches(parts, start, close=True)
    np.testing.assert_allclose(there[0].q, q, atol=1e-9)
    apart = mechanisms.four_bar(0.4, 0.3, 0.2, 0.25, angle=0.3)
    own = minimal_coordinates(apart.constraint_set(), closed(apart), independent=["crank"])
    with pytest.raises(errors.FailedError):
        branches(own, np.array([3.0, 0.1, 0.2]), close=True)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"tries": -1}, errors.OptionError, "tries of branches"),
        ({"seed": 0.5}, errors.OptionError, "seed of branches"),
        ({"tolerance": -1.0}, errors.WrongObjectError, "tolerance of branches"),
        ({"bounds": 3}, errors.WrongObjectError, "bounds of branches"),
        ({"bounds": mechanisms.bennett().robot.bounds}, errors.SpaceMismatchError, "bounds of branches"),
        ({"q": [0.0]}, errors.SizeError, "q"),
        ({"independent": ["crnk"]}, errors.UnknownNameError, "crank"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], error: type[ConstraintError], words: str) -> None:
    linkage = mechanisms.four_bar()
    with pytest.raises(error, match=words):
        linkage.branches(given.get("q", closed(linkage)), **{k: v for k, v in given.items() if k != "q"})
    with pytest.raises(errors.WrongObjectError, match="MinimalCoordinates"):
        branches(linkage)  # pyright: ignore[reportArgumentType]


def test_it_says_what_it_found_and_what_it_cannot_say() -> None:
    linkage = mechanisms.four_bar()
    found = linkage.branches(closed(linkage), tries=3)
    said = found.describe()
    assert "2 ways of closing 'four_bar' with crank held: 3 restarts (seed 0)" in said
    assert "restarts do not prove that there are no others" in said
    assert isinstance(found, Branches)
    assert str(found) == said
    assert repr(found) == "Branches(2 ways, 3 restarts)"
    platform = mechanisms.stewart_platform()
    many = platform.branches(closed(platform), tries=30)
    assert many.once > 10
    assert f"{many.once} of these were found by only one restart" in many.describe()
