"""What a trajectory gives: states, samples, the fields of ROS's message, and files that others read."""

from __future__ import annotations

import csv
import functools
import json
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest

from constraints import Base, Implicit, Part, Problem, Projector, Robot
from constraints.errors import NoAttributeError, OptionError, UnknownJointError, WrongObjectError
from constraints.functions import Position
from constraints.manipulation import interpolate
from constraints.planning import Trajectory, timed
from constraints.planning.trajectories.group_spline import GroupSpline

URDF = """<robot name="crane"><link name="base"/><link name="mast"/><link name="jib"/><link name="hook"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="mast"/><axis xyz="0 0 1"/></joint>
<joint name="lift" type="revolute"><parent link="mast"/><child link="jib"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="2" effort="1"/></joint>
<joint name="slide" type="prismatic"><parent link="jib"/><child link="hook"/><axis xyz="1 0 0"/>
  <limit lower="0.2" upper="3" velocity="1" effort="1"/></joint></robot>"""


@functools.cache
def crane() -> Robot:
    """A joint without end, a hinge and a slider; beside them a body that is free."""
    load = Robot.from_urdf("<robot name='load'><link name='body'/></robot>", base=Base.FREE_FLYER)
    return Robot.system([Part("crane", Robot.from_urdf(URDF)), Part("load", load)])


@functools.cache
def trajectory() -> Trajectory:
    """The hook stays at 0.5 m while the crane turns past half a turn."""
    robot = crane()
    height = Implicit.equal(Position(robot, "crane/hook"), [0.0, 0.0, 0.5], mask=[False, False, True], name="height")
    problem = Problem(robot, [height])
    ends = [
        robot.configuration({"crane/turn": angle, "crane/lift": -0.5, "crane/slide": slide})
        for angle, slide in ((2.0, 1.0), (4.0, 1.5))
    ]
    q0, q1 = (Projector(problem).project(q).or_raise().q for q in ends)
    return timed(interpolate(problem, q0, q1).or_raise(), 1.0, 2.0)


def test_a_state_is_that_of_the_samples() -> None:
    samples = trajectory().sample(100.0)
    assert samples.times[:-1] == pytest.approx(np.arange(len(samples.times) - 1) / 100.0)
    assert samples.times[-1] == trajectory().duration
    for k in (0, 17, len(samples.times) - 1):
        state = trajectory()(float(samples.times[k]))
        for one, all_of_them in zip(state, samples[1:], strict=True):
            assert np.array_equal(one, all_of_them[k])
    assert np.abs(samples.v[[0, -1]]).max() < 1e-9
    assert trajectory().stops.tolist() == [0.0, trajectory().duration]


def test_a_call_evaluates_the_part_of_its_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    thrice, asked = Trajectory(trajectory().parts * 3, (), 1.0), list[int]()
    at = GroupSpline.at
    monkeypatch.setattr(GroupSpline, "at", lambda self, s: (asked.append(len(s)), at(self, s))[1])
    middle = thrice(1.5 * trajectory().duration)
    assert asked == [1]
    assert middle.q == pytest.approx(trajectory()(0.5 * trajectory().duration).q, abs=1e-12)


def test_times_that_it_does_not_have_are_refused() -> None:
    for time in (-0.1, trajectory().duration + 0.1):
        with pytest.raises(OptionError, match="is outside"):
            trajectory()(time)
    for time in (np.nan, "now", [0.1, 0.2], None):
        with pytest.raises(WrongObjectError, match="time on a trajectory"):
            trajectory()(time)  # pyright: ignore[reportArgumentType]
    for rate in (0.0, -1.0, np.inf, np.nan, "100"):
        with pytest.raises(OptionError, match="rate of a trajectory"):
            trajectory().sample(rate)  # pyright: ignore[reportArgumentType]
    with pytest.raises(NoAttributeError, match="sample"):
        trajectory().waypoints  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018


def test_a_time_step_in_place_of_a_rate_is_asked_about(tmp_path: FilePath, caplog: pytest.LogCaptureFixture) -> None:
    motion = trajectory()
    for rate in (100.0, 1.01 / motion.duration):
        motion.sample(rate)
    assert not caplog.messages
    motion.as_joint_trajectory(0.01)
    motion.save(tmp_path / "motion.csv", 0.01)
    assert caplog.messages == [
        f"rate of a trajectory: 0.01 samples a second, less than one in its {motion.duration:.3g} s: is it the time "
        "between two? Its rate is 100"
    ]


def test_the_fields_of_a_joint_trajectory() -> None:
    """Angles of the joint without end pass half a turn without a jump; velocities are the differences of positions."""
    made = trajectory().as_joint_trajectory(200.0)
    assert made.joint_names == ("crane/turn", "crane/lift", "crane/slide")
    assert made._fields == ("joint_names", "points")
    assert made.points[0]._fields == ("positions", "velocities", "accelerations", "time_from_start")
    positions = np.array([point.positions for point in made.points])
    velocities = np.array([point.velocities for point in made.points])
    times = np.array([point.time_from_start for point in made.points])
    assert positions[0, 0] == pytest.approx(2.0, abs=1e-3)
    assert positions[-1, 0] == pytest.approx(4.0, abs=1e-3)
    assert (np.diff(positions[:, 0]) > 0.0).all()
    slopes = np.diff(positions, axis=0)[:-1] / np.diff(times)[:-1, None]
    assert slopes == pytest.approx(0.5 * (velocities[1:-1] + velocities[:-2]), abs=2.0 / 200.0)
    height = positions[:, 2] * np.sin(-positions[:, 1])
    assert height == pytest.approx(np.full(len(height), 0.5), abs=1e-6)
    assert all(type(number) is float for number in made.points[3].positions)


def test_joints_of_a_joint_trajectory_are_chosen_by_name() -> None:
    made = trajectory().as_joint_trajectory(50.0, ["crane/slide", "crane/turn"])
    every = trajectory().as_joint_trajectory(50.0)
    assert made.joint_names == ("crane/slide", "crane/turn")
    assert made.points[5].positions == tuple(every.points[5].positions[i] for i in (2, 0))
    assert made.points[5].accelerations == tuple(every.points[5].accelerations[i] for i in (2, 0))
    with pytest.raises(OptionError, match="'load/root_joint' has several degrees of freedom"):
        trajectory().as_joint_trajectory(50.0, ["load/root_joint"])
    with pytest.raises(UnknownJointError, match="crane/lift"):
        trajectory().as_joint_trajectory(50.0, ["crane/lif"])


def read_json(path: FilePath) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_json_has_the_samples_bit_for_bit(tmp_path: FilePath) -> None:
    file = tmp_path / "motion.json"
    trajectory().save(file, 50.0)
    read, samples = read_json(file), trajectory().sample(50.0)
    assert read["format"] == "lie-constraints trajectory"
    assert read["joint_names"] == ["crane/turn", "crane/lift", "crane/slide", "load/root_joint"]
    assert read["duration"] == trajectory().duration
    for name, rows in (("times", samples.times), ("configurations", samples.q), ("velocities", samples.v),
                       ("accelerations", samples.a)):  # fmt: skip
        assert np.array_equal(np.array(read[name]), rows)
    assert read["events"] == []


def test_csv_has_a_named_column_for_each_number(tmp_path: FilePath) -> None:
    file = tmp_path / "motion.csv"
    trajectory().save(file, 50.0)
    with file.open(newline="", encoding="utf-8") as text:
        head, *rows = csv.reader(text)
    samples = trajectory().sample(50.0)
    assert len(head) == len(set(head)) == 1 + 4 + 7 + 9 + 9
    assert head[:5] == ["time", "q crane/turn[0]", "q crane/turn[1]", "q crane/lift", "q crane/slide"]
    assert head[head.index("v crane/turn") :][:3] == ["v crane/turn", "v crane/lift", "v crane/slide"]
    numbers = np.array(rows, dtype=float)
    assert np.array_equal(numbers, np.column_stack([samples.times, samples.q, samples.v, samples.a]))


def test_files_that_it_cannot_write_are_refused(tmp_path: FilePath) -> None:
    with pytest.raises(OptionError, match=r"\.json"):
        trajectory().save(tmp_path / "motion.txt")
    with pytest.raises(WrongObjectError, match="path of a file"):
        trajectory().save(3)  # pyright: ignore[reportArgumentType]
