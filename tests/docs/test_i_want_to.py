"""The page "I want to ...": each line of code on it runs, with the names that it says."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docs.pages import text_of

import constraints
import constraints.actions
import constraints.dynamics
import constraints.functions
import constraints.interop
import constraints.loops
import constraints.manipulation
import constraints.models
import constraints.pictures
import constraints.planning
import constraints.testing
import liegroups
from constraints import Base, Implicit, Options, Part, Position, Problem, Projector, Robot, Status
from constraints.functions import StaticStability, StaticTorques, Support, SupportPolygon, norm
from constraints.manipulation import Shape
from constraints.models import mechanisms, sample_arm, sample_humanoid, sample_two_arms

PAGE = text_of("i_want_to")
ROWS = [row for row in re.findall(r"^\| (.*?) \| (.*) \|$", PAGE, re.MULTILINE) if row[0] not in ("I want to", "---")]
NAMED = {"Group(layout, maps)", "near", "start", "parameter(problem_at, value)"}  # in words, with a page of their own
NAMED |= {"PoseContact(robot, frame, pose_map)"}
FILES = {'Robot.from_urdf("arm.urdf")', 'constraints.models.load("robot.urdf")'}
FILES |= {'constraints.manipulation.read_scene("scene.json")'}
HOMES = (constraints, constraints.functions, constraints.testing, constraints.dynamics)


def names() -> dict[str, Any]:
    """What the page takes as given."""
    robot = sample_arm()
    q = robot.reference("home")
    hand = Implicit.equal(constraints.Pose(robot, "tool"), [0.45, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0], name="hand")
    elbow = Implicit.equal(Position(robot, "elbow"), [0.0, 0.3, 0.6], name="elbow")
    problem = Problem(robot, [hand])
    projector = Projector(problem, Options(nearest=True, threshold=1e-8))
    result = projector.project(q).or_raise()
    shapes = [
        Shape("hand", "Sphere", (0.06,), "tool"),
        Shape("post", "Sphere", (0.1,), "universe", [0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
    ]
    box = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)
    mechanism = mechanisms.four_bar()
    q_open = mechanism.posture("closed")
    follow = Implicit.equal(Position(robot, "tool"), constraints.Target(lambda t: [0.4, 0.1 * t, 0.5]))
    given = dict(vars(constraints)) | {name: getattr(liegroups, name) for name in ("SE3", "SO3", "R3xSO3", "Rn")}
    return given | {
        **{"np": np, "pickle": pickle, "constraints": constraints, "robot": robot, "model": robot.model},
        **{"q": result.q, "q0": result.q, "q1": result.q, "q_ref": q, "Q": [q, q], "pool": None},
        **{"a": np.linspace(-1.0, 1.0, robot.nv), "v": np.ones(robot.nv), "velocity": 1.0, "acceleration": 2.0},
        **{"path": constraints.paths.interpolate(problem, result.q, result.q).or_raise()},
        **{"hand": hand, "elbow": elbow, "problem": problem, "other": Problem(robot, [elbow]), "projector": projector},
        **{"result": Projector(problem, Options(nearest=True, threshold=1e-8, trace=True)).project(q)},
        **{"target": [0.4, 0.1, 0.5, 0.0, 1.0, 0.0, 0.0], "there": [0.9, 0.3, 0.2, 0.0, 0.0, 0.0, 1.0]},
        **{"two_arms": sample_two_arms(), "grip": [0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], "humanoid": sample_humanoid()},
        **{"shapes": shapes, "collisions": constraints.manipulation.CollisionModel(robot, shapes)},
        **{"moving": Problem(robot, [follow])},
        **{"f": Position(robot, "tool"), "g": Position(robot, "elbow"), "norm": norm},
        **{kind.__name__: kind for kind in (StaticStability, StaticTorques, SupportPolygon)},
        **{"soles": [Support(sample_humanoid().frame("rleg_effector_body"), np.eye(3), friction=0.5)]},
        **{"scene": Robot.system([Part("arm", robot), Part("box", box)]), "mechanism": mechanism},
        **{"q_open": q_open, "q_closed": q_open},
    }


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_each_line_of_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """README: each claim has its command."""
    monkeypatch.chdir(tmp_path)
    space, ran = names(), 0
    for what, cell in ROWS:
        codes = [code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", cell)]
        for code in sorted(codes, key=lambda code: " = " not in code or "(" in code.split(" = ")[0]):
            if code in NAMED | FILES or re.fullmatch(r"(fast|plot|there|pinocchio\.\w+)", code):
                continue
            if re.fullmatch(r"\w+", code):
                assert any(hasattr(home, code) for home in HOMES), (what, code)
                continue
            exec(code, space)
            ran += 1
    assert ran >= 60


def test_the_groups_of_rows_are_short() -> None:
    """Grouped by topic, so that nobody reads forty rows."""
    for part in PAGE.split("\n## ")[1:]:
        assert len(re.findall(r"^\| (?!I want to|---)", part, re.MULTILINE)) <= 9, part[:40]


def test_the_tool_looks_at_a_point_as_written() -> None:
    """Plain pinocchio sees the point on the x axis of the tool, and in front, from the code in the row."""
    ((_, cell),) = (row for row in ROWS if row[0].startswith("look at a point"))
    assign, *asked = re.findall(r"`([^`]+\(.*?\))`", cell)
    space = names()
    robot = space["robot"]
    exec(assign, space)
    problem = Problem(robot, [eval(code, space) for code in asked])
    result = Projector(problem).project(robot.reference("home"))
    assert result.status is Status.CONVERGED
    pose = robot.at(result.q).placement(robot.frame("tool"))
    seen = pose.rotation.T @ (np.array(space["there"][:3]) - pose.translation)
    assert np.linalg.norm(seen[1:]) <= 1e-4
    assert seen[0] >= 0.1 - 1e-4


@pytest.mark.parametrize(
    ("row", "code", "axis", "tilt"),
    [("keep an axis", 0, 2, 1e-4), ("keep an axis", 1, 0, 1e-4), ("let it tilt", 0, 2, 0.1 * np.sqrt(2.0) + 1e-4)],
    ids=["z up", "x up", "tilted"],
)
def test_an_axis_points_up_as_written(row: str, code: int, axis: int, tilt: float) -> None:
    """Plain pinocchio sees this axis of the tool point up, in solutions turned about it in different ways."""
    ((_, cell),) = (found for found in ROWS if found[0].startswith(row))
    space = names()
    robot = space["robot"]
    constraint = eval(re.findall(r"`(Implicit[^`]+)`", cell)[code], space)
    batch = Projector(Problem(robot, [constraint])).project_batch(robot.random(np.random.default_rng(0), 10))
    turns = np.array([robot.at(q).placement("tool").rotation for q in batch.q])
    assert batch.success.all()
    assert np.arccos(np.clip(turns[:, 2, axis], -1.0, 1.0)).max() <= tilt
    assert np.ptp(turns[:, 0, (axis + 1) % 3]) > 0.5


def test_velocity_and_acceleration_of_a_point_as_written() -> None:
    """Stumble 6: the rows give the derivatives in time of the point's curve, by finite differences."""
    space = names()
    robot, q, v, a = (space[name] for name in ("robot", "q", "v", "a"))
    codes = {what.split(",")[0]: cell.strip("`") for what, cell in ROWS}
    h = 1e-4
    times = (-h, 0.0, h)
    curve = codes["get the curve of a point"]
    before, here, after = eval(curve, space | {"Q": [robot.space.integrate(q, t * v + 0.5 * t * t * a) for t in times]})
    velocity, acceleration = (
        eval(codes[f"get the {which} of a point"], space) for which in ("velocity", "acceleration")
    )
    np.testing.assert_allclose(velocity, (after - before) / (2.0 * h), atol=1e-6)
    np.testing.assert_allclose(acceleration, (after - 2.0 * here + before) / h**2, atol=1e-5)
