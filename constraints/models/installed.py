"""The robots of the `example-robot-data` distribution (extra `robots`), by name."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from ..errors import MissingExtraError, UnknownNameError
from ..robot.packages import robot_data_folder


class _Installed(dict[str, tuple[Path, ...]]):
    """URDF files by the name of the robot."""

    def __missing__(self, name: str) -> NoReturn:
        """Refuse a name that no robot has.

        Raises:
            UnknownNameError: lists the names that come closest.
        """
        raise UnknownNameError("installed robot", name, tuple(self))


def installed_robots() -> dict[str, tuple[Path, ...]]:
    """The robots that the installed `example-robot-data` distribution has: name -> paths of its URDF files.

    The name is that of the robot's folder without "_description" or "_data"; variants are in the order of their
    names. Files without a link are left out.

    Of a name that it does not have, `installed_robots()[name]` raises an UnknownNameError with the nearest names.

    Raises:
        MissingExtraError: the distribution is not installed; the message says how to install it.
    """
    folder = robot_data_folder()
    if folder is None:
        raise MissingExtraError("example-robot-data", "robots")
    robots = _Installed()
    for home in sorted((folder / "robots").iterdir()):
        paths = tuple(path for path in sorted(home.rglob("*.urdf")) if b"<link" in path.read_bytes())
        if paths:
            robots[home.name.removesuffix("_description").removesuffix("_data")] = paths
    return robots
