"""Where files are: `package://` addresses, robots of `example-robot-data`, files with visual geometry."""

from __future__ import annotations

import difflib
import functools
import importlib.metadata
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from liegroups.arguments import as_path, as_tuple, expect

from ...errors import FileError
from ...words import first_names

_SCHEME = "package://"
_ROBOT_DATA = "example-robot-data"
_SHOWN = 10
"""Names that a message lists where none comes close."""


@functools.cache
def robot_data_folder() -> Path | None:
    """Folder with the robots of the installed `example-robot-data` distribution; None where it is not installed.

    The distribution has no Python module: its share folder is found in the list of its files.
    """
    try:
        files = importlib.metadata.files(_ROBOT_DATA) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        parts = file.parts
        if parts[-1] == "package.xml" or "robots" in parts:
            for i in range(len(parts) - 1):
                if parts[i : i + 2] == ("share", _ROBOT_DATA):
                    folder = Path(str(file.locate())).parents[len(parts) - i - 3]
                    if folder.is_dir():
                        return folder
    return None


def find_resource(url: str | os.PathLike[str], packages: Iterable[str | os.PathLike[str]] = ()) -> Path:
    """The file that a path or a `package://NAME/rest` address stands for.

    A package is looked for in `packages`, then in the folders of the environment variables `ROS_PACKAGE_PATH` and
    `AMENT_PREFIX_PATH` (their `share`), then among the robots of `example-robot-data`.

    Args:
        url: path or address.
        packages: folders, each a package itself or the parent of packages.

    Raises:
        FileError: the file does not exist; the reason says where it was looked for, and which packages are there.
    """
    text = os.fspath(url)
    if not text.startswith(_SCHEME):
        path = Path(text).expanduser()
        if path.is_dir():
            raise FileError(text, "is a folder, but a file was expected")
        if not path.is_file():
            raise FileError(text, _missing(path))
        return path
    package, _, rest = text.removeprefix(_SCHEME).partition("/")
    if not package or not rest:
        raise FileError(text, "expected package://NAME/path/of/the/file")
    folders = [*map(Path, as_folders(packages)), *_from_environment()]
    data = robot_data_folder()
    if data is not None:
        folders.append(data.parent)
    homes = [home for folder in folders for home in _homes(folder, package)]
    for home in homes:
        if (home / rest).is_file():
            return home / rest
    if homes:
        raise FileError(text, f"{_missing(homes[0] / rest)} (package '{package}' is {homes[0]})")
    searched = ", ".join(str(folder) for folder in folders) or "no folder, because none was given"
    searched += _neighbours(folders, package)
    hint = "; it comes with pip install example-robot-data" if package == _ROBOT_DATA else ""
    raise FileError(text, f"no package '{package}'; looked in {searched}{hint}")


class VisualFile(NamedTuple):
    """A file with the visual geometry of a robot's links. It is read when somebody draws the robot, not before.

    Attributes:
        source: its absolute path, or the XML text itself.
        kind: "URDF", "MJCF" or "SDF".
        packages: folders in which its meshes are looked for.
        prefix: what stands before the names of its links in a system ("panda/").
    """

    source: str
    kind: str = "URDF"
    packages: tuple[str, ...] = ()
    prefix: str = ""

    @staticmethod
    def of(
        source: str | os.PathLike[str], kind: str = "URDF", packages: Iterable[str | os.PathLike[str]] = ()
    ) -> VisualFile:
        """The entry of a file.

        Args:
            source: path, `package://` address, or the XML text itself.
            kind: "URDF", "MJCF" or "SDF".
            packages: folders in which packages are looked for.

        Raises:
            FileError: there is no such file.
        """
        text, folders = os.fspath(source), as_folders(packages)
        is_text = text.lstrip("\ufeff \t\r\n").startswith("<")
        return VisualFile(text if is_text else os.path.abspath(find_resource(text, folders)), kind, folders)

    def prefixed(self, prefix: str) -> VisualFile:
        """The same of links whose names have got a prefix."""
        return self._replace(prefix=prefix + self.prefix)


def as_visuals(entries: Iterable[VisualFile]) -> tuple[VisualFile, ...]:
    """Files with visual geometry, or a typed error that names what is none.

    Raises:
        WrongObjectError: what is no `VisualFile`.
    """
    files = as_tuple(entries, "visuals of a robot", "VisualFile", ordered=False)
    return tuple(expect(file, VisualFile, f"visuals {i} of a robot") for i, file in enumerate(files))


def as_folders(packages: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Folders of packages, one alone taken too.

    Raises:
        WrongObjectError: what is no path.
    """
    if isinstance(packages, str | os.PathLike):
        packages = [packages]
    listed = as_tuple(packages, "packages", "folders")
    return tuple(str(Path(as_path(folder, "packages", "folders")).expanduser()) for folder in listed)


def _from_environment() -> list[Path]:
    """Folders that ROS names in the environment."""
    ros = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
    ament = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [*(Path(folder) for folder in ros if folder), *(Path(folder) / "share" for folder in ament if folder)]


def _homes(folder: Path, package: str) -> list[Path]:
    """Folders of that package: inside `folder`, or `folder` itself."""
    candidates = [folder / package, folder] if folder.name == package else [folder / package]
    return [home for home in candidates if home.is_dir()]


def _neighbours(folders: Iterable[Path], package: str) -> str:
    """The packages that are there: those whose names come closest, or the first few."""
    found: dict[str, None] = {}
    for folder in folders:
        if not folder.is_dir():
            continue
        if (folder / "package.xml").is_file():
            found[folder.name] = None
        try:
            found |= dict.fromkeys(sorted(home.name for home in folder.iterdir() if home.is_dir()))
        except OSError:  # a folder that may not be read
            continue
    names = [name for name in found if not name.startswith(".")]
    near = difflib.get_close_matches(package, names, n=5, cutoff=0.5)
    if near:
        return f"; the nearest packages there are {', '.join(near)}"
    return f"; the packages there are {first_names(names, _SHOWN)}" if names else ""


def _missing(path: Path) -> str:
    """Reason for a file that is not there, with the files beside it whose names come closest."""
    if not path.parent.is_dir():
        return f"no such file: the folder {path.parent} does not exist"
    near = difflib.get_close_matches(path.name, sorted(p.name for p in path.parent.iterdir() if p.is_file()), n=3)
    return f"no such file; the same folder has {', '.join(near)}" if near else "no such file"
