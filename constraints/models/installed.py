"""The robots of the `example-robot-data` distribution (extra `robots`), by name."""

from __future__ import annotations

from pathlib import Path

from ..errors import MissingExtraError
from ..robot.packages import robot_data_folder


def installed_robots() -> dict[str, tuple[Path, ...]]:
    """The robots that the installed `example-robot-data` distribution has: name -> paths of its URDF files.

    The name is that of the robot's folder without "_description" or "_data"; variants are in the order of their
    names. Files without a link are left out.

    Raises:
        MissingExtraError: the distribution is not installed; the message says how to install it.
    """
    folder = robot_data_folder()
    if folder is None:
        raise MissingExtraError("example-robot-data", "robots")
    robots: dict[str, tuple[Path, ...]] = {}
    for home in sorted((folder / "robots").iterdir()):
        paths = tuple(path for path in sorted(home.rglob("*.urdf")) if b"<link" in path.read_bytes())
        if paths:
            robots[home.name.removesuffix("_description").removesuffix("_data")] = paths
    return robots
