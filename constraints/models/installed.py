"""The robots of the `example-robot-data` distribution (extra `robots`), by name."""

from __future__ import annotations

from pathlib import Path

from ..errors import MissingExtraError
from ..keywords import Named
from ..robot.files.packages import robot_data_folder


def installed_robots() -> dict[str, tuple[Path, ...]]:
    """The robots that the installed `example-robot-data` distribution has: name -> paths of its files.

    The name is that of the robot's folder without "_description" or "_data"; variants are in the order of their
    names. Files of a folder whose names begin with another word are there by that word too, the shortest first: "ur5"
    has those of the folder "ur". Files without a link are left out. A robot that has no URDF has its SDF files, which
    `constraints.models.load` reads: "cassie".

    Of a name that it does not have, `installed_robots()[name]` raises an UnknownNameError with the nearest names.

    Raises:
        MissingExtraError: the distribution is not installed; the message says how to install it.
    """
    folder = robot_data_folder()
    if folder is None:
        raise MissingExtraError("example-robot-data", "robots")
    robots = dict[str, tuple[Path, ...]]()
    for home in sorted((folder / "robots").iterdir()):
        paths = _with_links(home, "*.urdf") or _with_links(home, "*.sdf")
        if paths:
            robots[home.name.removesuffix("_description").removesuffix("_data")] = paths
    variants: dict[str, list[Path]] = {}
    for path in (path for paths in robots.values() for path in paths):
        variants.setdefault(path.stem.split("_")[0], []).append(path)
    for word, paths in variants.items():
        if not any(name.startswith(f"{word}_") for name in robots):  # a part of the name of a folder
            robots.setdefault(word, tuple(sorted(paths, key=lambda path: (len(path.stem), path.stem))))
    return Named("installed robot", sorted(robots.items()))


def _with_links(home: Path, pattern: str) -> tuple[Path, ...]:
    return tuple(path for path in sorted(home.rglob(pattern)) if b"<link" in path.read_bytes())
