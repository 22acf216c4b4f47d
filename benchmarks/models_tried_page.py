"""The page of `models_tried.py`: what became of each file, and the tables of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

LISTED = 60
"""Folders with more models of which nothing moves are one line of the table."""


@dataclass
class Tried:
    """What became of one file.

    Attributes:
        package, file: where it is; the path within the package.
        kind: URDF, MJCF or SDF.
        reason: why we refuse it; empty where it loads.
        home: why its home library refuses it; empty where it loads, None where that was not asked.
        nv, rows: tangent dimension, and rows of closures and couplers.
        frozen, unread: joints that cannot move, and entries of `mechanism.unread`.
        mistakes: entries that are mistakes of the file, for which `load` refuses it unless `strict=False`.
        closed: whether a mechanism with rows could be closed; None without rows.
        frame: the last frame that a joint carries; empty where nothing moves.
        pose: the projection in words; empty where none was tried.
        reached: whether it succeeded.
        starts: from how many starts it was tried: all but the last failed.
        within_bounds: what the projection within the bounds of the file gave, where it was done without them too.
        seconds: of loading.
    """

    package: str
    file: str
    kind: str
    reason: str = ""
    home: str | None = None
    nv: int = 0
    rows: int = 0
    frozen: int = 0
    unread: int = 0
    mistakes: tuple[str, ...] = ()
    closed: bool | None = None
    frame: str = ""
    pose: str = ""
    reached: bool = False
    starts: int = 0
    within_bounds: str = ""
    seconds: float = field(default=0.0, repr=False)

    @property
    def is_finding(self) -> bool:
        """Whether the refusal is ours alone."""
        return bool(self.reason) and self.home == ""


HEAD = """\
Robots of other people, and what became of them. `python benchmarks/models_tried.py --write docs/models_tried.md`
writes this page. It looks into whichever of these packages are installed: every URDF, MJCF and SDF file is loaded by
`constraints.models.load` with `strict=False`, URDF and MJCF also by their home libraries, pinocchio and MuJoCo.
*Refused here alone* must be 0: what is refused here, the home libraries do not read either. *With mistakes*: files that
load, but not strictly: they have names, types or keys that mean nothing.

Of a model that moves, the last frame is projected from a random configuration within bounds onto the pose that it has
in another one: 100 iterations with their restarts, and up to five such starts where that is not enough. A model with
closures and couplers is closed first, and projected together with them onto a pose that it has when closed; where its
own bounds do not let it, without them. Pinocchio alone judges the poses reached."""


def page(tried: list[Tried], versions: dict[str, str | None]) -> str:
    """All tables."""
    lines = [
        "# Models tried",
        "",
        *HEAD.splitlines(),
        "",
        *summary(tried, versions),
        "",
        *refused(tried),
        "",
        *mistaken(tried),
        "",
        *not_reached(tried),
        "",
        *everything(tried),
    ]
    return "\n".join(lines) + "\n"


def summary(tried: list[Tried], versions: dict[str, str | None]) -> list[str]:
    """A line a package and kind."""
    lines = ["## Sums", ""]
    lines += table("package", "kind", "files", "load", "refused", "refused here alone", "refused at home alone",
                   "with mistakes", "move", "closed", "poses reached", "from the first start",
                   "without bounds")  # fmt: skip
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
    return [*lines, "", f"Not installed when this was written: {', '.join(absent)}."] if absent else lines


def refused(tried: list[Tried]) -> list[str]:
    """The refusals, ours beside that of the home library."""
    lines = ["## Refused", "", *table("package", "file", "our words", "words of its home library")]
    for t in tried:
        if t.reason:
            home = "not asked" if t.home is None else t.home or "**reads it**"
            lines.append(row(t.package, f"`{t.file}`", t.reason, home))
    return lines


def mistaken(tried: list[Tried]) -> list[str]:
    """Models that load with `strict=False` only, with the first mistakes of each."""
    lines = ["## With mistakes", ""]
    found = [t for t in tried if t.mistakes]
    if not found:
        return [*lines, "None."]
    words = "`load` refuses these files unless `strict=False` is given: the mistakes then stand in `unread`."
    lines += [words, "", *table("package", "file", "mistakes", "the first of them")]
    return [*lines, *(row(t.package, f"`{t.file}`", len(t.mistakes), t.mistakes[0]) for t in found)]


def not_reached(tried: list[Tried]) -> list[str]:
    """Models that move and whose pose was not reached, at all or within the bounds of the file."""
    left = [t for t in tried if t.nv and not t.reached]
    lines = ["## Not reached", ""]
    if left:
        lines += table("package", "file", "nv", "rows", "pose")
        lines += [row(t.package, f"`{t.file}`", t.nv, t.rows, t.pose) for t in left]
    else:
        lines.append("None.")
    lines += ["", "## Reached without bounds only", ""]
    free = [t for t in tried if t.reached and t.within_bounds]
    if not free:
        return [*lines, "None."]
    words = (
        "The bounds of these files contradict their closures or couplers: within them they did not close, or not there."
    )
    lines += [words, "", *table("package", "file", "nv", "rows", "within bounds")]
    return [*lines, *(row(t.package, f"`{t.file}`", t.nv, t.rows, t.within_bounds) for t in free)]


def everything(tried: list[Tried]) -> list[str]:
    """All models that load; folders with many models of which nothing moves are one line."""
    words = "`frozen`: joints whose two bounds are equal. `unread`: entries of `mechanism.unread`."
    lines = ["## All models that load", "", words, ""]
    lines += table("package", "file", "kind", "nv", "rows", "frozen", "unread", "last frame", "pose")
    still = Counter(folder(t) for t in tried if not t.reason and not t.nv)
    said: set[str] = set()
    for t in (t for t in tried if not t.reason):
        where, pose = folder(t), "reached" if t.reached else "not reached"
        pose += " without bounds" if t.within_bounds else ""
        pose += f", start {t.starts}" if t.reached and t.starts > 1 else ""
        if not t.nv and still[where] > LISTED:
            if where not in said:
                said.add(where)
                lines.append(
                    row(t.package, f"{still[where]} files in `{where}`", t.kind, 0, "", "", "", "", "nothing moves")
                )
            continue
        frame, pose = f"`{t.frame}`" if t.frame else "", pose if t.nv else "nothing moves"
        lines.append(row(t.package, f"`{t.file}`", t.kind, t.nv, t.rows, t.frozen, t.unread, frame, pose))
    return lines


def folder(t: Tried) -> str:
    """The first two folders of a file."""
    return "/".join(Path(t.file).parts[:-1][:2])


def table(*columns: str) -> list[str]:
    """Head of a table."""
    return [row(*columns), row(*("---" for _ in columns))]


def row(*cells: object) -> str:
    """One line of a table."""
    return f"| {' | '.join(str(cell) for cell in cells)} |"
