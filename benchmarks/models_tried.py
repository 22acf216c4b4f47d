"""Robots of other people: whether each model of the installed packages loads, moves, and reaches a pose.

    python benchmarks/models_tried.py [--packages NAME ...]
    python benchmarks/models_tried.py --check

Every URDF, MJCF and SDF file of the packages below that are installed is loaded by
`constraints.models.load(..., strict=False)` and by its home library (pinocchio, MuJoCo; no SDF reader is at hand): a
file that the home library reads and we refuse is a finding, and the command then exits with 1. What is a mistake of the
file, which `load` refuses unless told otherwise, is listed. Of each model that moves a random configuration within
bounds is drawn; the pose of its last frame there is the target, and another random configuration the start of
`Projector.project` with a budget of 100 iterations. A mechanism with closures is closed first: the target is the pose
of its last frame in a closed configuration, and closures and pose are projected together. Where its own bounds do not
let it, both are tried once more without them.

`--check` is quick: some of the models.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin

from constraints import Bounds, Frame, Implicit, Options, Pose, Problem, Projector, Robot
from constraints.errors import ConstraintError
from constraints.models import Mechanism, load

PACKAGES = (
    "example-robot-data", "airo-models", "armar", "icub-models", "rtb-data", "pybullet", "robosuite",
    "robosuite-models", "gymnasium-robotics", "dm-control", "myosuite", "myo-sim",
)  # fmt: skip
KINDS = {"robot": "URDF", "mujoco": "MJCF", "sdf": "SDF"}
ENDINGS = (".urdf", ".xml", ".mjcf", ".sdf", ".world")
OPTIONS = Options(max_iterations=100)
STARTS = 5
TRIES = 5
"""So many starts are given at most to a pose, and to the closing of a mechanism."""
FEW = 40
"""With `--check` one model of so many is tried."""


@dataclass
class Tried:
    """What became of one file.

    Attributes:
        package, file: where it is; the path within the package.
        kind: URDF, MJCF or SDF.
        reason: why we refuse it; empty where it loads.
        home: why its home library refuses it; empty where it loads, None where that was not asked.
        nv, rows: tangent dimension, and rows of closures and couplers.
        mistakes: entries that are mistakes of the file, for which `load` refuses it unless `strict=False`.
        closed: whether a mechanism with rows could be closed; None without rows.
        pose: the projection in words; empty where none was tried.
        reached: whether it succeeded.
        starts: from how many starts it was tried: all but the last failed.
        within_bounds: what the projection within the bounds of the file gave, where it was done without them too.
    """

    package: str
    file: str
    kind: str
    reason: str = ""
    home: str | None = None
    nv: int = 0
    rows: int = 0
    mistakes: tuple[str, ...] = ()
    closed: bool | None = None
    pose: str = ""
    reached: bool = False
    starts: int = 0
    within_bounds: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether the refusal is ours alone."""
        return bool(self.reason) and self.home == ""


def main(given: Sequence[str] | None = None) -> int:
    """Try all models, and print the tables."""
    parser = bench_setup.command(__doc__, "check")
    parser.add_argument("--packages", nargs="+", default=PACKAGES, help="distributions to look into")
    options = parser.parse_args(given)
    tried: list[Tried] = []
    versions: dict[str, str | None] = {}
    for package in options.packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
            print(f"{package}: not installed", file=sys.stderr)
            continue
        models = [*models_of(package)][:: FEW if options.check else 1]
        found = [attempt(package, str(name), path, kind) for name, path, kind in models]
        print(f"{package}: {len(found)} models", file=sys.stderr, flush=True)
        tried += found
    print(report(tried, versions))
    findings = [t for t in tried if t.is_finding]
    for t in findings:
        print(f"finding: {t.package} {t.file}: {t.reason}", file=sys.stderr)
    return 1 if findings else 0


def models_of(package: str) -> Iterator[tuple[Path, Path, str]]:
    """Name within the package, path and kind of each model file of a distribution."""
    for file in sorted(distribution(package).files or (), key=str):
        path = Path(str(file.locate()))
        if path.suffix in ENDINGS and path.is_file():
            kind = kind_of(path)
            inside = [part for part in file.parts if part != ".."]
            if kind is not None:
                yield Path(*inside[inside.index("share") + 1 if "share" in inside else 0 :]), path, kind


def kind_of(path: Path) -> str | None:
    """The kind of a file by its outermost element; by its ending where that cannot be told."""
    text = re.sub(rb"<!--.*?-->|<\?.*?\?>|<!.*?>", b"", path.read_bytes(), flags=re.DOTALL)
    found = re.search(rb"<([A-Za-z_][\w.:-]*)", text)
    by_ending = {".urdf": "URDF", ".sdf": "SDF"}.get(path.suffix)
    return KINDS.get(found[1].decode(), by_ending) if found else by_ending


def attempt(package: str, name: str, path: Path, kind: str) -> Tried:
    """Load one file here and at home, and project."""
    tried = Tried(package, name, kind, home=home_refusal(path, kind))
    try:
        mechanism = load(path, strict=False)
    except ConstraintError as error:
        tried.reason = one_line(str(error), path)
        return tried
    robot = mechanism.robot
    tried.nv, tried.rows = robot.nv, mechanism.rows
    tried.mistakes = tuple(one_line(str(entry), path) for entry in mechanism.unread if entry.is_mistake)
    if robot.nv:
        project(mechanism, tried)
    return tried


def project(mechanism: Mechanism, tried: Tried) -> None:
    """Project within the bounds of the file; a mechanism whose bounds keep it open once more without them."""
    none = Bounds.none(mechanism.robot.space)
    _project(mechanism, mechanism.robot.bounds, tried)
    if mechanism.rows and not tried.reached:
        tried.within_bounds = tried.pose
        _project(mechanism, none, tried)


def _project(mechanism: Mechanism, bounds: Bounds, tried: Tried) -> None:
    """Close the mechanism, and project its last frame onto a pose that it has somewhere."""
    robot, rng = mechanism.robot, np.random.default_rng(0)
    target, start = robot.random(rng), robot.random(rng)
    if mechanism.rows:
        projector = Projector(mechanism.problem(bounds=bounds), OPTIONS)
        starts = [*mechanism.postures.values(), robot.neutral, *(robot.random(rng) for _ in range(TRIES))]
        closings = [projector.project(q) for q in starts[:TRIES]]
        closed = next((c for c in closings if c.success), None)
        tried.closed = closed is not None
        if closed is None:
            tried.pose = str(closings[0])
            return
        target = closed.q
    frame = last_frame(robot)
    pose = Pose(robot, frame)
    wanted = Implicit.equal(pose, pose.value(target), name="pose")
    problem = mechanism.problem([wanted], bounds=bounds) if mechanism.rows else Problem(robot, [wanted])
    for tried.starts in range(1, STARTS + 1):
        result = Projector(problem, OPTIONS).project(start)
        tried.reached, tried.pose = result.success, str(result)
        if result.success:
            break
        start = robot.random(rng)
    else:
        return
    # The judge: the frame's placement by pinocchio alone.
    data = robot.model.createData()
    placed = []
    for q in (result.q, target):
        pin.forwardKinematics(robot.model, data, np.array(q))
        placed.append(data.oMi[frame.joint] * frame.placement)
    off = float(np.linalg.norm(pin.log6(placed[0].actInv(placed[1])).vector))
    if off > 2e-4 or not bounds.contains(result.q):
        tried.reached, tried.pose = (
            False,
            f"CONVERGED, but pinocchio finds the frame {off:.2g} off, or a bound is broken",
        )


def last_frame(robot: Robot) -> Frame:
    """The last frame of the model that a joint carries: the object, for its name may be that of others too."""
    model: Any = robot.model
    found = next(frame for frame in reversed(list(model.frames)) if frame.parentJoint > 0)
    return Frame(found.name, found.parentJoint, found.placement, str(model.names[found.parentJoint]))


def home_refusal(path: Path, kind: str) -> str | None:
    """Why the home library of a kind of file refuses it; empty where it reads it, None where there is none to ask."""
    reader = {"URDF": _by_pinocchio, "MJCF": _by_mujoco}.get(kind)
    if reader is None:
        return None
    said: list[str] = []
    with bench_setup.quiet(said):
        try:
            return "" if reader(path) else None
        except Exception as error:
            reason = str(error)
    heard = [line.removeprefix("Error:").strip() for line in said if " at line " not in line]
    return one_line("; ".join([*(line for line in heard if line), reason]), path)


def _by_pinocchio(path: Path) -> bool:
    pin.buildModelFromUrdf(str(path))
    return True


def _by_mujoco(path: Path) -> bool:
    try:
        mujoco: Any = importlib.import_module("mujoco")
    except ModuleNotFoundError:
        return False
    mujoco.set_mju_user_warning(lambda said: None)  # instead of a file in the folder
    mujoco.MjModel.from_xml_path(str(path))
    return True


def one_line(reason: str, path: Path) -> str:
    """A refusal without the path, as one line that a table can hold."""
    text = " ".join(reason.replace(str(path), path.name).split()).replace("|", "\\|")
    text = re.sub(r"(?<![\w.])/\S*/", "", text)  # no path of this machine
    return text if len(text) < 220 else text[:217] + "..."


def report(tried: list[Tried], versions: dict[str, str | None]) -> str:
    """Sums by package, and files by name: refused, with mistakes, not reached, reached without bounds only.

    *Refused here alone* must be 0. *With mistakes*: names, types or keys that mean nothing; `load` refuses these files
    unless `strict=False` is given. *Without bounds*: bounds of these files contradict their closures or couplers.
    """
    read = {None: "not asked", "": "**reads it**"}
    free = [t for t in tried if t.reached and t.within_bounds]
    parts = [
        sums(tried, versions),
        table("## Refused", "package", "file", "here", "its home library")
        + [row(t.package, f"`{t.file}`", t.reason, read.get(t.home, t.home)) for t in tried if t.reason],
        table("## With mistakes", "package", "file", "mistakes", "the first of them")
        + [row(t.package, f"`{t.file}`", len(t.mistakes), t.mistakes[0]) for t in tried if t.mistakes],
        table("## Not reached", "package", "file", "nv", "rows", "pose")
        + [row(t.package, f"`{t.file}`", t.nv, t.rows, t.pose) for t in tried if t.nv and not t.reached],
        table("## Reached without bounds only", "package", "file", "nv", "rows", "within bounds")
        + [row(t.package, f"`{t.file}`", t.nv, t.rows, t.within_bounds) for t in free],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def sums(tried: list[Tried], versions: dict[str, str | None]) -> list[str]:
    """A line a package and kind."""
    lines = table(
        "## Sums", "package", "kind", "files", "load", "refused", "refused here alone", "refused at home alone",
        "with mistakes", "move", "closed", "poses reached", "from the first start", "without bounds",
    )  # fmt: skip
    groups: dict[tuple[str, str], list[Tried]] = defaultdict(list)
    for t in tried:
        groups[f"{t.package} {versions[t.package]}", t.kind].append(t)
    for (package, kind), group in [*sorted(groups.items()), (("all", ""), tried)]:
        loaded = [t for t in group if not t.reason]
        moving, looped = [t for t in loaded if t.nv], [t for t in loaded if t.closed is not None]
        lines.append(row(
            package, kind, len(group), len(loaded), len(group) - len(loaded), sum(t.is_finding for t in group),
            sum(bool(t.home) for t in loaded), sum(bool(t.mistakes) for t in loaded),
            len(moving), f"{sum(bool(t.closed) for t in looped)} of {len(looped)}",
            f"{sum(t.reached for t in moving)} of {len(moving)}",
            sum(t.reached and t.starts == 1 for t in moving), sum(bool(t.within_bounds) for t in moving if t.reached),
        ))  # fmt: skip
    absent = [package for package, known in versions.items() if known is None]
    return [*lines, "", f"Not installed: {', '.join(absent)}."] if absent else lines


def table(heading: str, *columns: str) -> list[str]:
    """Head of a table."""
    return [heading, "", row(*columns), row(*("---" for _ in columns))]


def row(*cells: object) -> str:
    """One line of a table."""
    return f"| {' | '.join(str(cell) for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main())
