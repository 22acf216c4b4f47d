"""Read every SRDF file under some folders, as robots and as semantics, and print what came of it as a table.

    python benchmarks/srdfs.py FOLDER [FOLDER ...]

A file is read with the URDF beside it that has its name, or whose robot has; where there is none, with a stand-in that
has the links that the file names and no joints. The columns are: the robot it was read with; postures; pairs of links
whose collisions it disables, those of links that the robot has, and all of them; grippers, handles, polygons; notes of
what was passed over or repaired, or the refusal. The exit code is 1 where a file was refused.
"""

from __future__ import annotations

import logging
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from constraints import Base, Robot
from constraints.errors import ConstraintError
from constraints.manipulation import read_semantics

LINKS = ("link1", "link2", "base_link", "tip_link", "child_link", "parent_link")
"""Attributes that name a link, beside the name of a `link` tag."""


def stand_in(root: ElementTree.Element) -> Robot:
    """A robot with the links that a file names, all fixed to one."""
    named = [element.get(key) for element in root.iter() for key in LINKS]
    named += [element.get("name") for element in root.iter("link")]
    links = dict.fromkeys(name for name in named if name)
    joints = "".join(
        f"<link name='{link}'/><joint name='to {link}' type='fixed'><parent link='the root'/>"
        f"<child link='{link}'/></joint>"
        for link in links
    )
    return Robot.from_urdf(f"<robot name='stand-in'><link name='the root'/>{joints}</robot>", base=Base.FREE_FLYER)


def robots_of(path: Path, root: ElementTree.Element) -> Iterator[tuple[str, Robot]]:
    """Robots that the file may be about, the best first; the stand-in last."""
    urdfs = (
        sorted(path.parent.parent.rglob("*.urdf")) if path.parent.name == "srdf" else sorted(path.parent.glob("*.urdf"))
    )
    same_name = [urdf for urdf in urdfs if urdf.stem == path.stem]
    same_robot = [urdf for urdf in urdfs if urdf not in same_name and f'name="{root.get("name")}"' in head(urdf)]
    for urdf in (*same_name, *same_robot):
        try:
            robot = Robot.from_urdf(urdf, base=Base.FREE_FLYER)
        except ConstraintError:
            continue
        yield urdf.name, robot
    yield "stand-in", stand_in(root)


def head(path: Path) -> str:
    """The first kilobytes of a file."""
    return path.read_bytes()[:4000].decode(errors="replace")


def row(path: Path) -> tuple[str, bool]:
    """A line of the table, and whether the file was read."""
    name = f"{path.parent.name}/{path.name}"
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        root = ElementTree.Element("robot")
    refusal = ""
    for label, robot in robots_of(path, root):
        try:
            read, found = robot.with_srdf(path), read_semantics(robot, path)
        except ConstraintError as error:
            refusal = refusal or str(error).replace(f"{path}: ", "")
            continue
        total = len({frozenset((e.get("link1"), e.get("link2"))) for e in root.iter("disable_collisions")})
        polygons = sum(map(len, found.surfaces.values()))
        notes = "; ".join(note.replace(f"{path}: ", "") for note in found.notes)
        numbers = f"{len(read.references)} | {len(read.disabled_collisions)} of {total} | "
        numbers += f"{len(found.grippers)} | {len(found.handles)} | {polygons}"
        return f"| {name} | {label} | {numbers} | {notes} |", True
    return f"| {name} | none | | | | | | refused: {refusal} |", False


def main(folders: list[str]) -> int:
    """Print the table."""
    logging.disable(logging.WARNING)
    paths = sorted({path.resolve() for folder in folders for path in Path(folder).rglob("*.srdf")})
    print("| file | robot | postures | disabled pairs | grippers | handles | polygons | notes |")
    print("|---|---|---|---|---|---|---|---|")
    rows = [row(path) for path in paths]
    print("\n".join(text for text, _ in rows))
    read = sum(good for _, good in rows)
    print(f"\n{len(rows)} files, {read} read, {len(rows) - read} refused")
    return int(read < len(rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
