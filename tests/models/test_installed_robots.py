"""Robots of the installed `example-robot-data`, and what `package://` says of its neighbours."""

from __future__ import annotations

import importlib.metadata

import pytest

from constraints import Base, Robot
from constraints.errors import FileError, MissingExtraError, UnknownNameError
from constraints.models import installed_robots, load
from constraints.robot.files.packages import robot_data_folder


def test_installed_robots_can_be_loaded() -> None:
    """Mend 17: name -> paths, each a URDF that `Robot.from_urdf` reads."""
    pytest.importorskip("pinocchio")
    if robot_data_folder() is None:
        pytest.skip("example-robot-data is not installed")
    robots = installed_robots()
    assert {"panda", "talos", "ur", "solo", "anymal_b_simple"} <= set(robots)
    assert list(robots) == sorted(robots)
    files = [path for name, paths in robots.items() if name != "cassie" for path in paths]
    assert all(path.suffix == ".urdf" and path.is_file() for path in files)
    assert Robot.from_urdf(robots["panda"][0]).nq == 9
    for name in ("talos", "solo", "ur", "double_pendulum"):
        for path in robots[name]:
            assert Robot.from_urdf(path, base=Base.FREE_FLYER).nv >= 6
    with pytest.raises(FileError, match=r"load\(installed_robots\(\)\['panda'\]\[0\]\)"):
        load("panda")


def test_robots_are_known_by_the_names_of_their_files_and_by_sdf() -> None:
    """Honest 24: `installed_robots()` knows "ur5", and Cassie, which has SDF files only."""
    if robot_data_folder() is None:
        pytest.skip("example-robot-data is not installed")
    robots = installed_robots()
    assert Robot.from_urdf(robots["ur5"][0]).nq == 6
    assert {path.stem.split("_")[0] for path in robots["ur5"]} == {"ur5"}
    assert {path.suffix for path in robots["cassie"]} == {".sdf"}
    assert load(robots["cassie"][0], strict=False).closures


def test_a_robot_that_is_not_installed_has_neighbours() -> None:
    """Planner 9: a mistyped name was a plain KeyError."""
    robots = installed_robots()
    with pytest.raises(UnknownNameError, match="no installed robot is named 'kinva'; the nearest names are kinova"):
        robots["kinva"]
    assert robots.get("kinva") is None
    assert "kinva" not in robots


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mend 17: a helpful error when the extra is not installed."""

    def absent(_: str) -> None:
        raise importlib.metadata.PackageNotFoundError("example-robot-data")

    robot_data_folder.cache_clear()
    monkeypatch.setattr(importlib.metadata, "files", absent)
    try:
        with pytest.raises(MissingExtraError, match=r"lie-constraints\[robots\]"):
            installed_robots()
        with pytest.raises(FileError, match="no such file"):
            load("panda")
    finally:
        robot_data_folder.cache_clear()
