"""The README fits a page, its Python runs as it stands and on a robot that is a file; its claims hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docs.pages import ROOT, blocks

from constraints import ConstraintError

README = (ROOT / "README.md").read_text(encoding="utf-8")
(BLOCK,) = blocks.blocks(README)

JOINTS = (
    ("turn", "0 0 1", "0 0 0.2", 2.9),
    ("shoulder", "0 1 0", "0 0 0.1", 1.9),
    ("elbow", "0 1 0", "0 0 0.4", 2.5),
    ("forearm", "0 0 1", "0 0 0.2", 2.9),
    ("wrist", "0 1 0", "0 0 0.2", 2.0),
    ("flange", "0 0 1", "0 0 0.1", 2.9),
)


INSTALL = 'python3 -m venv .venv && .venv/bin/pip install ".[fast,plot]"'
"""What README, site, tutorial and the page on installing begin with."""


def arm() -> str:
    """Six revolute joints, and a frame called tool at the end."""
    text, parent = "<robot name='arm'><link name='base'/>", "base"
    for name, axis, offset, limit in JOINTS:
        text += (
            f"<link name='{name}_link'/><joint name='{name}' type='revolute'>"
            f"<parent link='{parent}'/><child link='{name}_link'/><origin xyz='{offset}'/><axis xyz='{axis}'/>"
            f"<limit lower='-{limit}' upper='{limit}' effort='1' velocity='1'/></joint>"
        )
        parent = f"{name}_link"
    return (
        f"{text}<link name='tool'/><joint name='mount' type='fixed'><parent link='{parent}'/><child link='tool'/>"
        "<origin xyz='0 0 0.1'/></joint></robot>"
    )


def on_a_file(code: str) -> dict[str, Any]:
    """The names that the block leaves behind, with its robot taken from a file as the README says it."""
    assert '`robot = Robot.from_urdf("arm.urdf")`, with `from constraints import Robot`' in README
    names: dict[str, Any] = {}
    code = code.replace("robot = sample_arm()", 'from constraints import Robot\nrobot = Robot.from_urdf("arm.urdf")')
    exec(compile(code, "README.md", "exec"), names)
    return names


def test_it_is_one_page_and_begins_with_what_it_is_a_picture_an_install_line_and_ten_lines() -> None:
    """Welcome 1: at most 150 lines, the first screen."""
    assert README.count("\n") <= 150
    assert len([line for line in BLOCK.code.splitlines() if line.strip()]) <= 10
    places = [README.index(part) for part in ("Puts robot", "![", INSTALL, BLOCK.code)]
    assert places == sorted(places)
    assert README[: README.index(BLOCK.code)].count("\n") + BLOCK.code.count("\n") <= 35


def test_the_block_projects_on_a_robot_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "arm.urdf").write_text(arm())
    monkeypatch.chdir(tmp_path)
    names = on_a_file(BLOCK.code)
    result, robot = names["result"], names["robot"]
    assert result.success
    placement = robot.at(result.q).placement(robot.frame("tool"))
    np.testing.assert_allclose(placement.translation, names["target"][:3], rtol=0, atol=1e-4)
    assert robot.bounds.contains(result.q)


def test_typo_in_the_frame_names_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "arm.urdf").write_text(arm())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConstraintError, match=r"'tol'.*tool"):
        on_a_file(BLOCK.code.replace('"tool"', '"tol"'))


@pytest.mark.parametrize(
    "command",
    [
        INSTALL,
        'python3 -m venv .venv && .venv/bin/pip install ".[fast,plot,robots]" && .venv/bin/python -m constraints demo',
        'python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest -n auto --dist worksteal',
    ],
)
def test_commands_stand_on_a_line_of_their_own(command: str) -> None:
    assert command in README.splitlines()


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/tutorial.md", "docs/installing.md"])
def test_where_one_begins_one_command_installs_the_compiled_engine(page: str) -> None:
    """The first command of each page, and the same one; the demonstration has that engine too."""
    text = (ROOT / page).read_text(encoding="utf-8")
    commands = [line for line in text.splitlines() if "pip install" in line and not line.startswith("|")]
    assert commands[0] == INSTALL
    assert "fast" in INSTALL
    assert all('"[' not in line and "fast" in line for line in commands if "constraints demo" in line)


def test_extras_of_the_commands_exist() -> None:
    declared = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    named = {extra for extras in re.findall(r'"\.\[([\w,]+)\]"', README) for extra in extras.split(",")}
    assert {"robots", "plot", "test"} <= named <= declared


def slugs(path: Path) -> set[str]:
    """Anchors of the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if not target.startswith("https://"):
            page, _, anchor = target.partition("#")
            assert (ROOT / page).is_file(), target
            assert not anchor or anchor in slugs(ROOT / page), target


def test_commands_name_files_and_options_that_are_there() -> None:
    """Each claim has its command."""
    commands = re.findall(r"`python ((?:examples|benchmarks)/\w+\.py)( [^`]*)?`", README)
    assert len(commands) == 6
    for script, words in commands:
        text = (ROOT / script).read_text(encoding="utf-8")
        assert all(option in text for option in re.findall(r"--[\w-]+", words)), script


def test_changelog_names_what_exists() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for target in re.findall(r"`((?:docs|benchmarks)/[\w./]+)`", text):
        assert (ROOT / target).is_file(), target
