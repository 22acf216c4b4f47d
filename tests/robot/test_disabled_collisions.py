"""Collisions that an SRDF disables: read, and kept by robots and systems."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from constraints import Implicit, Part, Position, Problem, Robot
from constraints.errors import FileError, UnknownNameError, WrongObjectError

ARM = """<robot name='arm'><link name='base'/><link name='upper'/><link name='elbow'/><link name='hand'/>
  <joint name='j1' type='revolute'><parent link='base'/><child link='upper'/><axis xyz='0 0 1'/>
    <limit lower='-3' upper='3' effort='1' velocity='1'/></joint>
  <joint name='j2' type='revolute'><parent link='upper'/><child link='elbow'/><axis xyz='1 0 0'/>
    <limit lower='-3' upper='3' effort='1' velocity='1'/></joint>
  <joint name='j3' type='revolute'><parent link='elbow'/><child link='hand'/><origin xyz='0 0 0.1'/><axis xyz='0 1 0'/>
    <limit lower='-3' upper='3' effort='1' velocity='1'/></joint></robot>"""
"""Upper arm and hand are 0.1 m apart, whatever the joints are."""


def srdf(*tags: str) -> str:
    return f"<robot name='arm'>{''.join(tags)}</robot>"


def disable(a: str, b: str, reason: str = "Never") -> str:
    return f"<disable_collisions link1='{a}' link2='{b}' reason='{reason}'/>"


def test_the_pairs_go_where_the_robot_goes(tmp_path: Path) -> None:
    """Mend 1: pickles, frames, bounds, systems and problem files keep them; what is no pair is named."""
    robot = Robot.from_urdf(ARM, srdf(disable("upper", "hand")))
    assert robot.disabled_collisions == (("upper", "hand", "Never"),)
    others = [
        pickle.loads(pickle.dumps(robot)),
        robot.with_frame("tip", "hand", [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]),
        robot.with_bounds({"j1": (-1.0, 1.0)}),
        robot.with_references({"zero": robot.neutral}),
        Robot(robot.model, disabled_collisions=[("upper", "hand", "Never")]),  # pyright: ignore[reportArgumentType]
        Robot(robot.model, disabled_collisions={("upper", "hand", "Never")}),  # pyright: ignore[reportArgumentType]
        Robot.from_urdf(ARM).with_srdf(srdf(disable("upper", "hand"))),
    ]
    assert all(other.disabled_collisions == robot.disabled_collisions for other in others)
    system = Robot.system([Part("a", robot), Part("b", robot, on="a/hand")])
    assert system.disabled_collisions == (("a/upper", "a/hand", "Never"), ("b/upper", "b/hand", "Never"))
    nested = Robot.system([Part("both", system)])
    assert nested.disabled_collisions[1] == ("both/b/upper", "both/b/hand", "Never")
    problem = Problem(system, [Implicit.equal(Position(system, "b/hand"), [0.1, 0.1, 0.1], name="at")])
    problem.save(tmp_path / "problem.json")
    loaded = Problem.load(tmp_path / "problem.json").robot
    assert loaded is not None
    assert loaded.disabled_collisions == system.disabled_collisions
    assert loaded.space.same_robot(system.space)
    with pytest.raises(UnknownNameError, match=r"'uper'.*upper"):
        Robot(robot.model, disabled_collisions=[("uper", "hand")])  # pyright: ignore[reportArgumentType]
    for wrong in (["upper"], [3], [("upper",)], 3, "upper", [("upper", 3)], [("upper", "hand", "", "")]):
        with pytest.raises(WrongObjectError, match="disabled collision"):
            Robot(robot.model, disabled_collisions=wrong)  # pyright: ignore[reportArgumentType]


def test_links_that_do_not_exist_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 1: the log names them with the nearest link, and the pairs that can be read are kept."""
    robot = Robot.from_urdf(ARM, srdf(disable("upper", "hand"), disable("uper", "elbow"), disable("base", "gripper")))
    assert robot.disabled_collisions == (("upper", "hand", "Never"),)
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert "no link uper, gripper" in said
    assert "2 tags" in said
    assert "upper" in said.split("uper, gripper")[1]


def test_tags_that_name_no_link_are_refused() -> None:
    for tag, has in (
        ("disable_collisions", "link1='upper'"),
        ("disable_collisions", "link2='upper', link='hand'"),
        ("disable_default_collisions", ""),
    ):
        with pytest.raises(FileError, match=f"needs the attribute 'link.* it has {has or 'nothing'}$"):
            Robot.from_urdf(ARM, srdf(f"<{tag} {has.replace(',', '')}/>"))


def test_links_that_are_disabled_by_default() -> None:
    """Mend 1: `disable_default_collisions` stands for all pairs of a link, less those of `enable_collisions`."""
    tags = "<disable_default_collisions link='hand'/>", "<enable_collisions link1='base' link2='hand'/>"
    pairs = {frozenset(pair[:2]) for pair in Robot.from_urdf(ARM, srdf(*tags)).disabled_collisions}
    assert pairs == {frozenset(("hand", "upper")), frozenset(("hand", "elbow"))}


def test_misspelt_tags_are_refused_and_links_by_default_that_do_not_exist_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(FileError, match="<disable_colisions> is not understood; expected <disable_collisions>"):
        Robot.from_urdf(ARM, srdf(disable("upper", "hand").replace("collisions", "colisions")))
    tags = [f"<disable_default_collisions link='{link}'/>" for link in ("gripper", "gripper", "camera", "hand")]
    robot = Robot.from_urdf(ARM, srdf(*tags, disable("hand", "base"), disable("base", "hand", "User")))
    assert robot.disabled_collisions[0] == ("hand", "base", "Never")  # the first one counts
    assert len(robot.disabled_collisions) == 3
    assert "no link gripper, camera: 2 tags" in caplog.text
