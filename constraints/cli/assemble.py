"""`python -m constraints assemble FILE`: load a mechanism, close it, say what it is."""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

from ..errors import ConstraintError
from ..models import load
from ..models.structure.assemblies import Assemblies, assemblies
from ..models.structure.mechanism import grouped
from ..pictures.assemblies import errors_of, plot_assembly
from .arguments import ALL_WELL, NOT_ALL, outputs, save_arrays

RESTARTS = 20
"""Number of times that other ways of closing are looked for."""
CLOSED = 1e-8
"""Largest error of a closure that is not named as open."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("file", metavar="FILE", help="URDF, MJCF or SDF")
    add("--loops", metavar="YAML", help="loop sidecar of a URDF (default: the YAML file next to it with the same stem)")
    cut = "cut this joint of a URDF or SDF first (repeatable)"
    add("--cut", action="append", default=[], metavar="JOINT", help=cut)
    lenient = "load as much as possible of a file with mistakes and list them; exit code 1"
    add("--lenient", action="store_true", help=lenient)
    add("--seed", type=int, default=0, metavar="N", help="seed of the random starts (default: %(default)s)")
    add("--plot", metavar="OUT.png", help="write a picture: open and closed, with errors")
    add("--save", metavar="OUT.npz", help="write the closed configuration and the results")
    add("--details", action="store_true", help="one line for each element that was not read, instead of one per kind")


def run(options: argparse.Namespace) -> int:
    """Load, assemble from the neutral configuration and random starts, print one fact a line, name then number.

    Rank, mobility and redundant rows are those of the closed configuration of the largest rank that was found.

    Returns:
        the exit code: 0 when it closed from at least one start (to 1e-8, or to what redundant rows contradict each
        other by), 1 when it did not, or when the file has mistakes (--lenient).

    Raises:
        FileError: a file cannot be read or written.
        MissingExtraError: a picture is wanted, or a file is given, that needs a library which is not installed.
    """
    outputs((options.file, options.loops), save=options.save, plot=options.plot)
    mechanism = load(options.file, options.loops, cut=options.cut, strict=not options.lenient)
    found = assemblies(mechanism, options.seed)
    print("\n".join(facts(found, options.details)))
    if options.plot:
        plot_assembly(mechanism, found.starts[found.shown], found.ends[found.shown], options.plot)
        print(f"picture {options.plot}")
    if options.save:
        save(found, options.save)
        print(f"configuration {options.save}")
    is_whole = not any(entry.is_mistake for entry in mechanism.unread)
    return ALL_WELL if found.success and is_whole else NOT_ALL


def facts(found: Assemblies, details: bool = False) -> list[str]:
    """What was found, one fact a line; what was not read a line a kind, or with details a line each."""
    mechanism, judged = found.mechanism, found.judged
    done = [i for i, is_closed in zip(found.iterations, found.closed, strict=True) if is_closed]
    lines = [
        f"mechanism {mechanism.name}",
        f"nq {mechanism.robot.nq}",
        f"nv {mechanism.robot.nv}",
        f"closures {len(mechanism.closures)}",
        f"couplers {len(mechanism.couplers)}",
        f"motors {len(mechanism.motors)}",
        f"starts {len(found.starts)}",
        f"closed {sum(found.closed)}",
        f"iterations {int(np.median(done)) if done else max(found.iterations)}",
        f"residual {judged.residual:.3g}",
        f"inconsistency {found.inconsistency:.3g}",
        f"rows {judged.rows}",
        f"rank {judged.rank}",
        f"redundant {judged.rows - judged.rank}",
        f"mobility {judged.mobility}",
    ]
    if has_other_ways(found):
        lines.append("closed in one of several ways (`mechanism.branches`)")
    if not found.success:
        lines.append("not closed: rank and mobility belong to the configuration of least residual")
        wide = {name: error for name, error in errors_of(mechanism, found.q).items() if error > CLOSED}
        lines += [f"open closure: {name} by {error:.3g}" for name, error in wide.items()]
    if not mechanism.rows:
        lines.append(
            "no closures: a URDF or SDF has them where a link has two parents, a URDF in a sidecar (--loops) too, "
            "an MJCF in its equalities"
        )
    lines += [f"cut: {name}, which closes a loop" for name in mechanism.cut]
    if found.success:
        lines += [f"out of bounds: {v.joint} by {v.amount:.3g}" for v in mechanism.robot.bounds.violations(found.q)]
    lines += [f"inconsistent: {name} by {size:.3g}" for name, size in judged.inconsistent.items() if found.success]
    lines += [f"redundant: {name}" for name in judged.redundant]
    lines += [f"independent coordinate: {name}" for name in judged.independent]
    lines += [f"mistake: {entry}" for entry in mechanism.unread if entry.is_mistake]
    lines += [f"unread: {line}" for line in grouped([e for e in mechanism.unread if not e.is_mistake], details)]
    return lines


def has_other_ways(found: Assemblies) -> bool:
    """Whether a few restarts close the mechanism otherwise, with the same independent coordinates, motors first."""
    if not (found.success and found.mechanism.rows):
        return False
    try:
        return len(found.mechanism.branches(found.q, tries=RESTARTS)) > 1
    except ConstraintError:  # no coordinates can be chosen there, or rows contradict each other: nothing is known
        return False


def save(found: Assemblies, path: str | os.PathLike[str]) -> None:
    """Write the configuration, its start, the names of the joints and the figures as an npz file.

    Raises:
        FileError: the file cannot be written.
    """
    judged = found.judged
    arrays: dict[str, Any] = {
        "q": found.q,
        "start": found.starts[found.chosen],
        "closed": np.array(found.success),
        "joints": np.array(found.mechanism.robot.joint_names),
    }
    arrays |= {name: np.array(getattr(judged, name)) for name in ("residual", "rows", "rank", "mobility")}
    arrays |= {name: np.array(getattr(judged, name), dtype=np.str_) for name in ("independent", "redundant")}
    save_arrays(path, arrays)
