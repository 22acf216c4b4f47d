"""Rods that may spin: left out of equilibria, named by judges, results and modes; and downhill where Newton is lost."""

from __future__ import annotations

import numpy as np
import pytest
from each_choice import a_few
from linkages_with_balls import ball_delta
from matplotlib.text import Text

from constraints.dynamics import Force, JointSpring
from constraints.models import Mechanism, mechanisms
from constraints.pictures.modes import plot_modes
from constraints.reduced import Equilibrium, equilibrium, minimal_coordinates
from constraints.reduced.equilibria.idle_unknowns import idle_in

RODS = [f"rod{i}{side}" for i in range(3) for side in "ab"]


@pytest.fixture(scope="module")
def delta() -> Mechanism:
    return ball_delta()


def springs(delta: Mechanism) -> list[Force]:
    return [JointSpring(delta.robot, f"arm{i}", 5.0, rest=0.4) for i in range(3)]


def searched(delta: Mechanism, seed: int) -> Equilibrium:
    """From a closed configuration near one with the rods turned at random."""
    rng = np.random.default_rng(seed)
    space, q = delta.robot.space, delta.posture("closed")
    start = space.integrate(q, 0.2 * rng.standard_normal(space.nv))
    coordinates = delta.minimal_coordinates(start, close=True)
    return equilibrium(coordinates, coordinates.q, external=springs(delta))


def test_judge_names_idle_motions(delta: Mechanism) -> None:
    judged = delta.judge(delta.posture("closed"))
    assert judged.mobility == 9
    assert judged.idle == tuple(f"{rod} spins about its own axis" for rod in RODS)
    assert "  idle: rod0a spins about its own axis, rod0b" in judged.describe()


def test_there_are_none_where_something_else_moves() -> None:
    """Ends of arms, platforms on legs and wheels on their own pins are no idle motions."""
    for made in (mechanisms.four_bar(), mechanisms.delta_robot(), mechanisms.stewart_platform(), mechanisms.bennett()):
        assert made.judge(made.posture("closed")).idle == ()


@pytest.mark.parametrize("seed", a_few(range(4), 1))
def test_rods_that_spin_do_not_stall_a_search(delta: Mechanism, seed: int) -> None:
    """7 of 40 starts were STALLED at the equilibrium, whose arms are at one angle by symmetry."""
    found = searched(delta, seed)
    assert found.success, str(found)
    arms = [found.q[delta.robot.slice_of(f"arm{i}")][0] for i in range(3)]
    np.testing.assert_allclose(arms, arms[0], atol=1e-6)
    assert found.idle == tuple(RODS)
    assert "idle: rod0a spins about its own axis" in found.describe()


def test_modes_name_idle_motions_and_show_the_others_first(delta: Mechanism) -> None:
    found = searched(delta, 0)
    modes = found.modes().or_raise()
    assert [mode.idle for mode in modes if mode.idle] == RODS
    assert len(modes.rigid) == 6
    assert len(modes) == 9
    for mode in modes.rigid:
        assert mode.name == f"{mode.idle} spins about its own axis"
        moved = found.state.motion.posture.space.integrate(found.q, 0.1 * mode.shape.real)
        np.testing.assert_allclose(delta.constraint_set().position_error(moved), 0.0, atol=1e-9)
    figure = plot_modes(modes, most=4)
    texts = [text.get_text() for text in figure.findobj(Text)]
    heads = [text.split(":")[0] for text in texts if text[1:3] == ": " and text[0].isdigit()]
    assert heads == ["6", "7", "8", "0"]


def test_idle_motions_are_of_norm_one(delta: Mechanism) -> None:
    """In the independent coordinates, and they move no row."""
    coordinates = delta.minimal_coordinates(delta.posture("closed"))
    found = idle_in(coordinates.at(coordinates.q))
    assert [*found] == RODS
    J = delta.constraint_set().jacobian(coordinates.q)
    for motion in found.values():
        assert np.linalg.norm(motion) == pytest.approx(1.0, abs=1e-12)
        whole = coordinates.at(coordinates.q).velocity(coordinates.spread(motion))
        assert np.abs(J @ whole).max() < 1e-9


def test_a_spin_on_which_a_spring_acts_is_no_idle_one(delta: Mechanism) -> None:
    """A spring at the ball of one rod holds its spin."""
    q = delta.posture("closed")
    coordinates = delta.minimal_coordinates(q)
    held = JointSpring(delta.robot, "rod0a", 0.1, rest=q[delta.robot.slice_of("rod0a")])
    found = equilibrium(coordinates, q, external=[*springs(delta), held]).or_raise()
    assert "rod0a" not in found.idle
    assert "rod0b" in found.idle


@pytest.mark.parametrize("angle", [-1.5, -0.5, 0.25, 0.5, 1.5])
@pytest.mark.parametrize("independent", [[], ["hinge1"], ["hinge2"]])
def test_bennett_under_gravity_comes_to_rest(angle: float, independent: list[str]) -> None:
    """Newton alone ended 24 of 72 starts where the slope of the potential is least: now its value is the merit."""
    linkage = mechanisms.bennett()
    q = mechanisms.bennett(angle=angle).posture("closed")
    coordinates = minimal_coordinates(linkage.constraint_set(), q, independent=independent)
    found = equilibrium(coordinates, q)
    assert found.success, str(found)
    assert len(found.factors) == len(found.points) - 1
    for name in ("hinge1", "hinge2"):  # the weight does no work on either side
        again = minimal_coordinates(linkage.constraint_set(), found.q, independent=[name])
        assert equilibrium(again, found.q).iterations == 0
