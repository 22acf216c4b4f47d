"""The README's Python runs, on a robot that is a small file as a reader would have it; its claims hold."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import needs_robot_data

from constraints import (
    Base,
    Comparison,
    ConstraintError,
    Explicit,
    Part,
    Problem,
    Projector,
    Robot,
    Status,
    explicit_relative_pose,
    linear_coupling,
)
from constraints.__main__ import COMMANDS, main
from constraints.cli import demo_scenes
from constraints.files import decoding, documents, encoding, json_values as parsed
from constraints.models import sample_arm, sample_two_arms

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)

JOINTS = (
    ("turn", "0 0 1", "0 0 0.2", 2.9),
    ("shoulder", "0 1 0", "0 0 0.1", 1.9),
    ("elbow", "0 1 0", "0 0 0.4", 2.5),
    ("forearm", "0 0 1", "0 0 0.2", 2.9),
    ("wrist", "0 1 0", "0 0 0.2", 2.0),
    ("flange", "0 0 1", "0 0 0.1", 2.9),
)


def arm() -> str:
    """Six revolute joints, and a frame called tool at the end."""
    text, parent = "<robot name='arm'><link name='base'/>", "base"
    for name, axis, offset, limit in JOINTS:
        text += (
            f"<link name='{name}_link'/><joint name='{name}' type='revolute'>"
            f"<parent link='{parent}'/><child link='{name}_link'/><origin xyz='{offset}'/><axis xyz='{axis}'/>"
            f"<limit lower='{-limit}' upper='{limit}' effort='1' velocity='1'/></joint>"
        )
        parent = f"{name}_link"
    return (
        f"{text}<link name='tool'/><joint name='mount' type='fixed'><parent link='{parent}'/><child link='tool'/>"
        "<origin xyz='0 0 0.1'/></joint></robot>"
    )


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that all blocks of Python leave behind, run one after the other beside a file arm.urdf."""
    (tmp_path / "arm.urdf").write_text(arm())
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    return names


def test_blocks_run_and_project(ran: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    result, robot = ran["result"], ran["robot"]
    assert result.success
    placement = robot.at(result.q).placement(robot.frame("tool"))
    np.testing.assert_allclose(placement.translation, ran["target"][:3], rtol=0, atol=1e-4)
    assert robot.bounds.contains(result.q)
    assert ran["nearby"].project(result.q, ran["lower"]).success


def test_the_tool_looks_at_a_point_as_written() -> None:
    """Plain pinocchio sees the point on the x axis of the tool, and in front, from the code in the row."""
    (row,) = (line for line in README.splitlines() if line.startswith("| look at a point"))
    assign, *constraints = re.findall(r"`([^`]+\(.*?\))`", row)
    names: dict[str, Any] = {"robot": sample_arm(), "there": [0.9, 0.3, 0.2, 0.0, 0.0, 0.0, 1.0]}
    exec(f"from constraints import Implicit, Position\n{assign}", names)
    asked = [eval(code, names) for code in constraints]
    assert len(asked) == 2
    robot = sample_arm()
    q = Projector(Problem(robot, asked)).project(robot.reference("home")).or_raise().q
    pose = robot.at(q).placement(robot.frame("tool"))
    seen = pose.rotation.T @ (np.array(names["there"][:3]) - pose.translation)
    assert np.linalg.norm(seen[1:]) <= 1e-4
    assert seen[0] >= 0.1 - 1e-4


def test_first_block_is_short_and_in_the_first_screen() -> None:
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert len(lines) <= 10
    assert README[: README.index(BLOCKS[0])].count("\n") + BLOCKS[0].count("\n") <= 35


def test_typo_in_the_frame_names_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "arm.urdf").write_text(arm())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConstraintError, match=r"'tol'.*tool"):
        exec(compile(BLOCKS[0].replace('"tool"', '"tol"'), "README.md", "exec"), {})


@pytest.mark.parametrize(
    "command",
    [
        'python3 -m venv .venv && .venv/bin/pip install ".[robots,plot]" && .venv/bin/python -m constraints demo',
        'python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest -n auto --dist worksteal',
    ],
)
def test_commands_stand_on_a_line_of_their_own(command: str) -> None:
    assert command in README.splitlines()


def test_extras_of_the_commands_exist() -> None:
    declared = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"robots", "plot", "test"} <= declared


def test_statuses_are_those_of_the_library() -> None:
    table = README[README.index("## Statuses") : README.index("## The command line")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [status.name for status in Status]


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if target.startswith("#"):
            assert f"\n## {target[1:].replace('-', ' ')}\n" in README.lower(), target
        else:
            assert target.startswith("https://") or (ROOT / target).is_file(), target


def test_options_of_the_demonstration_are_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["demo", "--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    for option in ("--output FILE.png", "--starts N", "--seed S"):
        assert option in said
        assert f"[{option}]" in README


def test_command_line_runs_as_written(ran: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands of the section, on the files that the blocks of Python have left; the table names each command."""
    section = README[README.index("## The command line") : README.index("## Installing")]
    assert set(re.findall(r"^\| `([\w-]+)", section, re.MULTILINE)) == set(COMMANDS)
    lines = re.findall(r"^python -m constraints (.*)$", section, re.MULTILINE)
    assert len(lines) == 2
    capsys.readouterr()
    for line, said in zip(lines, ("the same as reported, bit for bit", "of 200"), strict=True):
        assert main(line.split()) in (0, 1)
        assert said in capsys.readouterr().out
    assert (tmp_path / "reached.npz").is_file()
    for words in re.findall(r"`project FILE (.*?)`", section):
        with pytest.raises(SystemExit):
            main(["project", "--help"])
        usage = capsys.readouterr().out
        assert all(option in usage for option in re.findall(r"\[(.*?)\]", words))


def test_page_on_problem_files_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the page, and its limits and names: those of the code."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "problem_files.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "problem_files.md", "exec"), {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["case.json", "options.json", "reach.json", "rhs.json"]
    for limit in (documents.LARGEST_FILE // 2**20, parsed.MOST_COORDINATES, encoding.DEEPEST, parsed.LONGEST_TEXT):
        assert re.search(rf"^\|.*\| {limit}\b", page, re.MULTILINE), limit
    assert f"{decoding.MOST_PARTS:,}".replace(",", " ") in page
    assert f"## Schema, version {documents.VERSION}" in page
    assert all(f'"lie-constraints {kind}"' in page for kind in documents.FORMATS)


@needs_robot_data
def test_table_of_the_demonstration_has_its_scenes_and_sizes() -> None:
    block = README[README.index("problem    ") : README.index("(`--starts 1000`")]
    rows = [re.split(r"\s{2,}", line.strip()) for line in block.splitlines()[2:] if " of 1000 " in line]
    found = [(row[0], int(row[1]), int(row[2])) for row in rows]
    assert found == [(s.name, s.problem.space.nv, s.problem.constraints.size) for s in demo_scenes.scenes()[0]]
    assert all(row[3].endswith("of 1000") for row in rows)
    assert all(float(row[-1]) <= 1e-4 for row in rows)


def test_reasons_to_fall_back_are_those_of_the_library() -> None:
    robot = sample_two_arms()
    a, b, c = ("left_wrist_roll", "left_wrist_pitch", "left_elbow")
    column = robot.velocity_slice_of(a).start
    coupled = linear_coupling(robot, a, {b: 0.5})

    def said(*constraints: Explicit, frozen: tuple[str, ...] = ()) -> str:
        return Problem(robot, list(constraints), frozen=frozen).describe()

    masked = explicit_relative_pose(*held(), name="box")
    for text, row in (
        (Problem(masked.twin.function.inputs, [replace(masked, mask=[1, 1, 1, 1, 1, 0])]).describe(), "is masked"),
        (said(replace(coupled, comparison=Comparison.SUPERIOR)), "only equalities determine the outputs"),
        (said(coupled, linear_coupling(robot, a, {c: 1.0})), "already computed by"),
        (said(coupled, linear_coupling(robot, b, {a: 1.0}, name="back")), "cycle"),
        (said(coupled, frozen=(a,)), "frozen"),
    ):
        assert "; implicit because" in text
        assert row in text
        assert row in README
    assert column in coupled.outputs.v


def held() -> tuple[Robot, str, str]:
    box = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)
    return Robot.system([Part("arms", sample_two_arms()), Part("box", box)]), "arms/left_tool", "box/body"


def test_block_on_explicit_constraints_leaves_one_row_to_newton_steps(ran: dict[str, Any]) -> None:
    problem = Problem(ran["robot"], [ran["height"], ran["wrist"]])
    assert (problem.constraints.size, problem.reduced_size) == (2, 1)


def test_changelog_names_what_exists() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for target in re.findall(r"`((?:docs|benchmarks)/[\w./]+)`", text):
        assert (ROOT / target).is_file(), target
