"""The README's Python runs, on a robot that is a small file as a reader would have it; its claims hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constraints import ConstraintError, Status
from constraints.__main__ import main

ROOT = Path(__file__).resolve().parent.parent
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
        'python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest',
    ],
)
def test_commands_stand_on_a_line_of_their_own(command: str) -> None:
    assert command in README.splitlines()


def test_extras_of_the_commands_exist() -> None:
    declared = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"robots", "plot", "test"} <= declared


def test_statuses_are_those_of_the_library() -> None:
    table = README[README.index("## Statuses") : README.index("## Installing")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [status.name for status in Status]


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).is_file(), target


def test_options_of_the_demonstration_are_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["demo", "--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    for option in ("--output FILE.png", "--starts N", "--seed S"):
        assert option in said
        assert f"[{option}]" in README
