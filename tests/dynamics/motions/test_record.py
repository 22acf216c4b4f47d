"""A record as a scope: named columns, energies and powers, tables, pictures, and limits that were passed."""

from __future__ import annotations

import csv
import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dynamics.motions.test_integration import falling_bars

from constraints.dynamics import (
    Event,
    Forces,
    JointLaw,
    JointSpring,
    MotionRecord,
    SimulationOptions,
    forward_dynamics,
    simulate,
)
from constraints.errors import OptionError, UnknownNameError
from constraints.loops import ConstraintSet
from constraints.loops.mobility import row_names


@functools.cache
def swinging() -> MotionRecord:
    """A five-bar with a spring and damper at one pivot, and a drive at the other."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    robot = rows.robot
    first, second = robot.joint_names[:2]
    laws = [
        JointSpring(robot, first, stiffness=3.0, damping=0.7, rest=q[0]),
        JointLaw(robot, second, lambda q, v, t: 2.0 * np.sin(3.0 * t), potential=lambda q: 0.0),
    ]
    passes = Event(lambda motion, t: t - 0.2, "passes")
    return simulate(rows, q, np.zeros(4), 0.5, forces=Forces(robot, laws), events=passes).or_raise()


def test_columns_are_those_of_the_laws_themselves() -> None:
    """Forces, power and multipliers by name, as forward dynamics and the laws give them at each state."""
    record = swinging()
    robot, columns = record.constraint_set.robot, record.series()
    first, second = robot.joint_names[:2]
    spring, drive = f"JointSpring {first}", f"JointLaw {second}"
    i, j = robot.velocity_slice_of(first).start, robot.velocity_slice_of(second).start
    expected = -3.0 * (record.qs[:, i] - record.qs[0, i]) - 0.7 * record.vs[:, i]
    np.testing.assert_allclose(columns[f"force of {spring} on {first}"], expected, atol=1e-12)
    np.testing.assert_allclose(columns[f"power of {spring}"], expected * record.vs[:, i], atol=1e-12)
    np.testing.assert_allclose(
        columns[f"power of {drive}"], 2.0 * np.sin(3.0 * record.times) * record.vs[:, j], atol=1e-12
    )
    np.testing.assert_allclose(columns["power of pin"], 0.0, atol=1e-7)  # a closed loop does no work
    np.testing.assert_array_equal(columns[f"q {first}"], record.qs[:, i])
    k = len(record.times) // 2
    there = robot.at(record.qs[k], record.vs[k])
    assert isinstance(record.forces, Forces)
    found = forward_dynamics(record.constraint_set, there, external=record.forces.at(float(record.times[k])))
    for n in range(record.constraint_set.size):
        name = row_names(record.constraint_set.stack)[n]
        assert columns[f"multiplier {name}"][k] == pytest.approx(found.multipliers[n], abs=1e-9)
    assert all(len(column) == len(record.times) for column in columns.values())


def test_dissipated_energy_closes_the_balance() -> None:
    """What the damper takes less what the drive gives, integrated on a fine grid of the same motion."""
    record = swinging()
    assert record.dissipated is not None
    fine = simulate(
        record.constraint_set,
        record.qs[0],
        record.vs[0],
        0.5,
        options=SimulationOptions(max_step=5e-3),
        forces=record.forces,  # type: ignore[arg-type]
    )
    robot = record.constraint_set.robot
    first, second = (robot.velocity_slice_of(name).start for name in robot.joint_names[:2])
    taken = 0.7 * fine.vs[:, first] ** 2 - 2.0 * np.sin(3.0 * fine.times) * fine.vs[:, second]
    assert record.dissipated[-1] == pytest.approx(np.trapezoid(taken, fine.times), rel=1e-3, abs=1e-5)
    total = record.energy + np.asarray(record.force_energy) + record.dissipated
    np.testing.assert_allclose(total, total[0], atol=1e-6)
    assert f"dissipated {record.dissipated[-1]:.3g} J" in record.describe()


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet", "txt"])
def test_a_record_is_saved_as_a_table(tmp_path: Path, ending: str) -> None:
    record, path = swinging(), tmp_path / f"run.{ending}"
    columns = record.series()
    if ending == "txt":
        with pytest.raises(OptionError, match=r"expected an ending of \.csv, \.npz, \.parquet, got"):
            record.save(path)
        return
    if ending == "parquet" and importlib.util.find_spec("pandas") is None:
        with pytest.raises(OptionError, match="parquet needs pandas"):
            record.save(path)
        return
    record.save(path)
    if ending == "parquet":
        read: Any = importlib.import_module("pandas").read_parquet(path)
        back = {name: read[name].to_numpy() for name in read}
    elif ending == "npz":
        back = dict(np.load(path))
    else:
        with path.open(newline="") as file:
            head, *body = list(csv.reader(file))
        back = {name: np.array([float(row[i]) for row in body]) for i, name in enumerate(head)}
    assert list(back) == list(columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(back[name], column)


def test_a_record_is_drawn(tmp_path: Path) -> None:
    """A panel for each quantity; events are lines; what is not there is named."""
    pytest.importorskip("matplotlib")
    record = swinging()
    figure = record.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000
    labels = [ax.get_ylabel() for ax in figure.axes]
    assert labels == ["q [m, rad]", "v [m/s, rad/s]", "force [N, N m]", "power [W]", "energy [J]"]
    figure = record.plot(tmp_path / "one.svg", ["multiplier", "energy error"])
    assert [ax.get_ylabel() for ax in figure.axes] == ["multiplier [N, N m]", "energy error"]
    np.testing.assert_array_equal(figure.axes[1].lines[0].get_ydata(), record.energy_error)
    with pytest.raises(UnknownNameError, match="energy"):
        record.plot(tmp_path / "x.png", "speed")


def test_limits_that_were_passed_are_named() -> None:
    """A motion swung through the stops of its joints in silence."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    name = rows.robot.joint_names[0]
    free = simulate(rows, q, np.zeros(4), 0.5).or_raise()
    assert free.limits_passed == ()
    assert "limits" not in free.describe()
    low, high = q[0] - 0.1, q[0] + 0.1
    stops = rows.robot.with_bounds({name: (low, high)})
    bounded = ConstraintSet(stops, [*rows.stack.owners])
    record = simulate(bounded, q, np.zeros(4), 0.5).or_raise()
    (passed,) = record.limits_passed
    beyond = np.maximum(record.qs[:, 0] - high, 0.0) + np.minimum(record.qs[:, 0] - low, 0.0)
    assert passed.violation.joint == name
    assert abs(passed.violation.amount) == pytest.approx(np.abs(beyond).max())
    assert passed.time == record.times[np.flatnonzero(beyond)[0]]
    assert f"beyond joint limits: '{name}'" in record.describe()
