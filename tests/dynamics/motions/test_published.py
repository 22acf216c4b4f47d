"""Published motions: Andrews' squeezing mechanism, and the problems A02 and A04 of IFToMM's benchmark library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from published_mechanisms import bricard, four_bar_windows, squeezer
from published_references import SQUEEZER_AT_30_MS, Squeezer, bricard_angles, bricard_rate, bricard_time, windows_motion

from constraints.dynamics import DynamicsStatus, Event, SimulationOptions, forward_dynamics, simulate
from constraints.loops import Axes

IN_ORDER = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


@pytest.mark.parametrize("method", ["automatic", "direct", "range_space", "null_space"])
def test_squeezer_starts_with_the_published_accelerations_and_multipliers(method: str) -> None:
    """Published figures: Andrews' mechanism at rest; multipliers in the sign of M q'' = f - G^T lambda."""
    s = squeezer()
    motion = s.robot.at(s.q, s.v)
    assert s.forces is not None
    found = forward_dynamics(s.constraint_set, motion, s.forces(motion, 0.0), method=method).or_raise()
    a = dict(zip(s.robot.joint_names, found.acceleration, strict=True))
    assert a.pop("beta") == pytest.approx(14222.4439199541, abs=1e-8)
    assert a.pop("Theta") == pytest.approx(-10666.8329399656, abs=1e-8)
    np.testing.assert_allclose(list(a.values()), 0.0, atol=1e-7)
    # on the point of the body Theta, in the axes of the world, with the opposite sign
    for loop, force in enumerate([(-98.5668703962, 6.1226883443), (0.0, 0.0), (0.0, 0.0)]):
        wrench = found.wrench(loop, "successor", Axes.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(wrench[:2], force, atol=1e-9)


@pytest.mark.parametrize("step", ["adaptive", 1e-4])
def test_squeezer_moves_as_published_for_30_ms(step: Any) -> None:
    """Published figures: against a reference of its own at 1e-11, and the published angles and rates at 0.03 s."""
    s, published = squeezer(), np.array(SQUEEZER_AT_30_MS)
    own = Squeezer().motion(0.03)
    np.testing.assert_allclose(own[:7], published[:7], atol=2e-9)
    np.testing.assert_allclose(own[7:], published[7:], atol=1e-6)
    record = simulate(
        s.constraint_set, s.q, s.v, 0.03, step, forces=s.forces, options=SimulationOptions(every=50)
    ).or_raise()
    order = [s.robot.joint_index(name) - 1 for name in IN_ORDER]
    np.testing.assert_allclose(record.q[order], own[:7], atol=1e-6)
    np.testing.assert_allclose(record.v[order], own[7:], atol=1e-3)  # of up to 1400 rad/s
    assert record.position_drift.max() <= 1e-10


@pytest.mark.parametrize(("step", "close"), [("adaptive", 1e-5), (0.01, 1e-6)])
def test_windows_keep_their_energy_through_the_flat_pose(step: Any, close: float) -> None:
    """Published figures: A02, two windows, from upright at 1 m/s, down through flat and up again.

    Stages of order 8 ended on another branch beside the flat pose, and the cranks turned back: few stages pass it.
    """
    a = four_bar_windows()
    flat = Event(lambda motion, t: np.sin(motion.posture.q[0]), "flat")
    record = simulate(a.constraint_set, a.q, a.v, 1.4, step, events=flat).or_raise()
    assert record.steps < 100 or step == 0.01
    assert [crossing.name for crossing in record.events] == ["flat", "flat"]
    angle, rate = windows_motion(1.4)
    assert record.q[0] == pytest.approx(angle, abs=close)
    assert record.v[0] == pytest.approx(rate, abs=close)
    assert record.energy_drift < 0.1 * close * record.kinetic_energy.max()
    for crossing in record.events:  # the times of the reference
        assert np.sin(windows_motion(crossing.time)[0]) == pytest.approx(0.0, abs=close)


def test_windows_in_the_flat_pose_have_a_lower_rank_and_go_on() -> None:
    """Published figures: A02 from the flat pose itself, whose mobility is 3: the rank says so, the energy is kept."""
    a = four_bar_windows()
    angles = {"crank0": 0.0, "crank1": 0.0, "crank2": 0.0, "coupler0": 0.0}
    q, v = a.robot.configuration(angles), 4.8857897 * a.v
    there = forward_dynamics(a.constraint_set, a.robot.at(q, v))
    assert there.success
    assert there.rank == 2
    record = simulate(a.constraint_set, q, v, 0.3, 0.005).or_raise()
    assert record.ranks[0] == 2
    assert set(record.ranks[1:]) == {4}
    assert "rank 4, and down to 2 at 1 state" in record.describe()
    assert record.energy_drift < 1e-5 * record.kinetic_energy.max()
    cranks = [a.robot.slice_of(f"crank{i}").start for i in range(3)]
    np.testing.assert_allclose(record.q[cranks], record.q[cranks[0]], atol=1e-9)  # it stays a parallelogram


def test_windows_go_on_from_a_reset_in_the_flat_pose() -> None:
    """Published figures: A02 stopped within 1e-9 s of each flat pose, where its rows contradict: a status, and on."""
    a = four_bar_windows()
    flat = Event(lambda motion, t: np.sin(motion.posture.q[0]), "flat", reset=lambda motion, t: motion)
    record = simulate(a.constraint_set, a.q, a.v, 1.4, 0.01, events=flat).or_raise()
    there = np.flatnonzero(record.ranks < 4)
    np.testing.assert_allclose(np.unique(record.times[there]), [c.time for c in record.events])
    assert "rank 4, and down to 2 at 4 states" in record.describe()  # before and after each reset
    assert record.energy_drift < 1e-5 * record.kinetic_energy.max()
    assert record.q[0] == pytest.approx(windows_motion(1.4)[0], abs=1e-5)


@pytest.mark.long  # its energy is in test_adaptive.py
def test_bricard_moves_with_its_redundant_row() -> None:
    """Published figures: A04, mobility 1 though Gruebler counts 0; against the closed form of the linkage."""
    b = bricard()
    start = forward_dynamics(b.constraint_set, b.robot.at(b.q, b.v))
    assert start.status is DynamicsStatus.RANK_DEFICIENT
    assert b.robot.nv - start.rank == 1
    record = simulate(b.constraint_set, b.q, b.v, 1.0, 0.02).or_raise()
    assert set(record.ranks) == {4}
    assert record.energy_drift < 1e-7 * record.kinetic_energy.max()
    for q, v in zip(record.qs[10:], record.vs[10:], strict=True):
        angles, rates = bricard_angles(q[0])
        np.testing.assert_allclose(q, angles, atol=1e-8)
        np.testing.assert_allclose(v, v[0] * rates, atol=1e-7)
        assert abs(v[0]) == pytest.approx(bricard_rate(q[0]), abs=1e-7)
    assert bricard_time(record.qs[10, 0], record.q[0]) == pytest.approx(0.8, abs=1e-7)
