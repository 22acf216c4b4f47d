"""Energy lost in impacts: by velocities, by impulses, and where Newton's restitution adds some."""

from __future__ import annotations

import numpy as np
import pytest
from rbdl_models import contacts_of, dynamics, set_of

from constraints.dynamics import Method, MethodError, impact
from constraints.errors import OptionError
from constraints.loops import ConstraintSet


def stored(name: str) -> tuple[ConstraintSet, np.ndarray]:
    rows = contacts_of(name) if name.startswith("humanoid") else set_of(name)
    return rows, np.array(dynamics()[name]["states"][0]["q_inplace"])


def kinetic(rows: ConstraintSet, q: np.ndarray, v: np.ndarray) -> float:
    return 0.5 * float(v @ rows.robot.at(q, v).mass_matrix() @ v)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("method", [m for m in Method if m not in (Method.SPARSE, Method.PROXIMAL)])
def test_one_restitution_of_all_contacts_loses_energy(method: Method, e: float) -> None:
    """RBDL 3: (1 - e^2) of what the velocity of the contacts has in the metric of the rows; the rest stays."""
    rows, q = stored("humanoid_4contacts")
    for seed in range(5):
        v = np.random.default_rng(seed).standard_normal(rows.robot.nv)
        result = impact(rows, rows.robot.at(q, v), restitution=e, method=method).or_raise()
        J, M = rows.jacobian(q), rows.robot.at(q, v).mass_matrix()
        K = J @ np.linalg.solve(M, J.T)
        expected = 0.5 * (1.0 - e * e) * float((J @ v) @ np.linalg.solve(K, J @ v))
        lost = kinetic(rows, q, v) - kinetic(rows, q, result.velocity)
        assert result.energy_lost == pytest.approx(lost, rel=1e-8, abs=1e-8)
        assert result.energy_lost == pytest.approx(expected, rel=1e-8, abs=1e-8)
        assert result.energy_lost >= -1e-9


@pytest.mark.parametrize("name", ["fivebar_planar", "double_pendulum_absolute"])
def test_closing_a_loop_loses_energy(name: str) -> None:
    """Closures have e = 0: what they stop is lost."""
    rows, q = stored(name)
    for seed in range(5):
        v = np.random.default_rng(seed).standard_normal(rows.robot.nv)
        result = impact(rows, rows.robot.at(q, v)).or_raise()
        lost = kinetic(rows, q, v) - kinetic(rows, q, result.velocity)
        assert result.energy_lost == pytest.approx(lost, rel=1e-9)
        assert result.energy_lost > 0.0


def test_different_restitutions_can_add_energy() -> None:
    """Newton's restitution by row: with one bouncing contact beside three that do not, energy may come from nothing."""
    rows, q = stored("humanoid_4contacts")
    e = np.arange(rows.size) == 2
    J, M = rows.jacobian(q), rows.robot.at(q, np.zeros(rows.robot.nv)).mass_matrix()
    metric = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    u = np.linalg.eigh(metric - np.outer(e, e) * metric)[1][:, 0]  # of the velocity of the rows, what gains most
    v = np.linalg.pinv(J) @ u
    result = impact(rows, rows.robot.at(q, v), restitution=dict(zip(rows.names, e.astype(float), strict=True)))
    lost = kinetic(rows, q, v) - kinetic(rows, q, result.velocity)
    assert result.success
    assert result.energy_lost == pytest.approx(lost, rel=1e-8)
    assert result.energy_lost < -1e-3


def test_methods_that_take_contacts_only_name_the_closure() -> None:
    """RBDL 20: as in forward dynamics."""
    rows = set_of("fivebar_planar")
    q = rows.robot.neutral
    with pytest.raises(MethodError, match="loop 0"):
        impact(rows, rows.robot.at(q, np.ones(rows.robot.nv)), method=Method.TEST_FORCES)


def test_a_contact_has_one_restitution() -> None:
    """Under two keys, a name and a position, the last one won."""
    rows = contacts_of("humanoid_4contacts")
    motion = rows.robot.at(rows.robot.neutral, np.zeros(rows.robot.nv))
    with pytest.raises(OptionError, match=f"restitution of '{rows.names[0]}': it is given twice"):
        impact(rows, motion, restitution={0: 0.2, rows.names[0]: 0.5})


@pytest.mark.parametrize("name", ["fivebar_planar", "double_pendulum_absolute"])
def test_energy_lost_with_wanted_velocities_counts_their_work(name: str) -> None:
    """Rows that are driven to a velocity do work on the robot: kinetic energy before, minus after, plus that work."""
    rows, q = stored(name)
    rng = np.random.default_rng(3)
    robot, J = rows.robot, rows.jacobian(q)
    v = rng.standard_normal(robot.nv)
    after = J @ rng.standard_normal(robot.nv)  # that the rows can have together
    result = impact(rows, robot.at(q, v), after=after).or_raise()
    np.testing.assert_allclose(J @ result.velocity, after, atol=1e-9)
    work = float(result.impulses @ after)  # of what moves with `after`, by the impulses on the robot
    lost = kinetic(rows, q, v) - kinetic(rows, q, result.velocity) + work
    assert result.energy_lost == pytest.approx(lost, rel=1e-9)
    assert abs(work) > 1e-3
