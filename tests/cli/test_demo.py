"""The demonstration: figures that hold, a picture, and errors of one line."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from pictures.test_plots import hide_matplotlib

from constraints import Options, Projector
from constraints.__main__ import main
from constraints.cli import demo as command, demo_scenes, demonstration as demo
from constraints.errors import FileError
from constraints.solvers.projection import engines

ROOT = Path(__file__).resolve().parent.parent.parent
EVERY = [*demo_scenes.scenes()[0], *demo_scenes.sample_scenes()]


@pytest.mark.parametrize("scene", EVERY, ids=lambda scene: scene.name)
def test_successes_hold_by_an_independent_measure(scene: demo_scenes.DemoScene) -> None:
    outcome = demo.project_all(scene, 40, seed=1)
    assert outcome.success.mean() >= 0.8
    assert outcome.largest_error <= 1e-4
    for q in outcome.ends[outcome.success]:
        assert scene.robot.bounds.contains(q)
        assert scene.problem.is_satisfied(q)
    np.testing.assert_array_equal(outcome.starts, demo.project_all(scene, 40, seed=1).starts)


@pytest.mark.parametrize("scene", EVERY, ids=lambda scene: scene.name)
def test_measure_agrees_with_the_kinematics_of_pinocchio(scene: demo_scenes.DemoScene) -> None:
    model: Any = scene.robot.model
    data = model.createData()
    for q in scene.starts(5, seed=2):
        pin.framesForwardKinematics(model, data, q)
        for tip in scene.tips:
            expected = data.oMf[model.getFrameId(tip)].homogeneous
            np.testing.assert_allclose(
                demo_scenes.placement_by_hand(scene.robot, tip, q).homogeneous, expected, atol=1e-12
            )
        np.testing.assert_allclose(
            demo_scenes.center_by_hand(scene.robot, q), pin.centerOfMass(model, data, q), atol=1e-12
        )
        assert scene.measure(q) > 1e-2  # a random configuration is no solution


def test_balanced_robots_stand_where_they_should() -> None:
    for scene in EVERY:
        if scene.center is None:
            continue
        model: Any = scene.robot.model
        data = model.createData()
        outcome = demo.project_all(scene, 20, seed=3)
        between = np.mean([oMf.translation for oMf in scene.ground], axis=0)
        for q in outcome.ends[outcome.success]:
            center = pin.centerOfMass(model, data, q)
            assert np.abs(center - between)[:2].max() <= 0.2 + 1e-4
            assert center[2] > between[2] + 0.3


def test_carried_boxes_are_computed_from_the_arm() -> None:
    for scene in EVERY:
        if not scene.problem.explicits:
            continue
        assert [e.name for e in scene.problem.explicits] == ["grasp"]
        outcome = demo.project_all(scene, 20, seed=4)
        for q in outcome.ends[outcome.success]:
            hand, box = (demo_scenes.placement_by_hand(scene.robot, f, q) for f in (*scene.tips, *scene.boxes))
            np.testing.assert_allclose(hand.actInv(box).homogeneous[:3, 3], [0.0, 0.0, 0.1], atol=1e-12)
            np.testing.assert_allclose(box.rotation[2], [0.0, 0.0, 1.0], atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_measure_sees_angles_near_zero_and_near_half_a_turn(seed: int) -> None:
    """About any axis, and beside a distance."""
    scene = demo_scenes.sample_scenes()[0]
    wrist = scene.robot.slice_of("wrist_roll").start
    home = scene.robot.reference("home")
    assert scene.measure(home) < 1e-12
    axis = np.random.default_rng(seed).normal(size=3)
    here = pin.SE3(pin.exp3(axis), np.array([0.1, 0.2, 0.3]))
    for angle in (1e-9, 1e-4, 1.0, np.pi - 1e-6):
        q = home.copy()
        q[wrist] += angle
        assert scene.measure(q) == pytest.approx(angle, rel=1e-6)
        there = here * pin.SE3(pin.exp3(angle * axis / np.linalg.norm(axis)), 0.5 * axis)
        assert demo_scenes._apart(here, there) == pytest.approx(np.hypot(0.5 * np.linalg.norm(axis), angle), rel=1e-6)


def test_command_prints_a_table_and_writes_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Engine 7: it says which engine solved, and how many times as long the readable one takes."""
    picture = tmp_path / "demo.png"
    assert main(["demo", "--output", str(picture), "--starts", "8"]) == 0
    said = capsys.readouterr()
    names = "Panda UR5 PR2 Talos Stewart Cassie dofs rows success iterations".split()
    for words in (*names, "time each", "largest error", str(picture)):
        assert words in said.out
    assert said.err == ""
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000
    if find_spec("numba") is not None:
        found = re.search(r"Engine: compiled\. The readable engine takes (\d+) times as long", said.out)
        assert found is not None
        assert int(found[1]) > 3


def test_without_numba_the_demonstration_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Engine 7: where numba is not installed the readable engine solves, and the line says how to get the other one."""
    monkeypatch.setattr(engines, "USUAL", "readable")
    monkeypatch.setattr(command, "scenes", lambda: (EVERY[:1], ""))
    assert main(["demo", "--output", str(tmp_path / "demo.png"), "--starts", "2"]) == 0
    said = capsys.readouterr().out
    assert "Engine: readable, because numba is not installed; pip install '.[fast]'" in said
    assert "times as long" not in said


def test_sample_robots_take_the_place_of_absent_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = demo_scenes.Robot.from_urdf

    def absent(source: Any, *given: Any, **named: Any) -> Any:
        if str(source).startswith("package://"):
            raise FileError(str(source), "no package 'example-robot-data'")
        return real(source, *given, **named)

    monkeypatch.setattr(demo_scenes.Robot, "from_urdf", absent)
    assert main(["demo", "--output", str(tmp_path / "demo.png"), "--starts", "5"]) == 0
    said = capsys.readouterr().out
    for words in ("example-robot-data", "[robots]", "131 MB", "Sample arm", "Two arms", "Sample humanoid"):
        assert words in said
    assert (tmp_path / "demo.png").is_file()


def test_without_matplotlib_there_is_the_table_and_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide_matplotlib(monkeypatch)
    monkeypatch.setattr(command, "scenes", lambda: (EVERY[:1], ""))
    assert main(["demo", "--output", str(tmp_path / "demo.png"), "--starts", "3"]) == 0
    said = capsys.readouterr().out
    assert EVERY[0].name in said
    assert "pip install 'lie-constraints[plot]'" in said
    assert not (tmp_path / "demo.png").exists()


def test_table_and_picture_stand_when_nothing_succeeded(tmp_path: Path) -> None:
    nothing: list[demo.SceneOutcome] = []
    for scene in demo_scenes.sample_scenes():
        starts = scene.starts(2, seed=0)
        options = Options(max_iterations=0)
        ends = [Projector(scene.problem, options).project(q) for q in starts]
        assert not any(end.success for end in ends)
        failed = np.zeros(2, dtype=bool)
        nothing.append(demo.SceneOutcome(scene, starts, starts, failed, np.zeros(2), np.full(2, 0.1), np.nan))
    for outcomes in (nothing, nothing[:1]):
        text = demo.table(outcomes)
        assert text.count("0 of 2") == len(outcomes)
        assert "nan" not in text
        demo.draw(outcomes, tmp_path / "demo.png")
        assert (tmp_path / "demo.png").is_file()
