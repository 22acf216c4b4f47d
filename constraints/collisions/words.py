"""Collision models in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..robot.files.disabled_collisions import link_names
from ..words import counted, first_names
from .pairs import SAMPLES, SHOWN, LeftOutReason, WhyOut

if TYPE_CHECKING:
    from ..robot import Robot
    from .changes import Contents


def in_words(verdicts: Iterable[WhyOut], details: bool) -> str:
    """How many pairs are left out for which reason: "29 disabled in the SRDF (Adjacent 9, Never 20), 3 on one joint".

    Args:
        verdicts: one a pair.
        details: whether the words of the SRDF are told too.
    """
    counts = Counter(verdicts)
    parts: list[str] = []
    for reason in LeftOutReason:
        said = Counter({verdict.said: count for verdict, count in counts.items() if verdict.reason is reason})
        if said:
            parts.append(f"{said.total()} {reason.value}{_said(said) if details else ''}")
    return ", ".join(parts)


def _said(said: Mapping[str, int]) -> str:
    words = [f"{word} {count}" for word, count in sorted(said.items(), key=lambda item: -item[1]) if word]
    return f" ({', '.join(words)})" if words else ""


def always_in_words(pairs: Sequence[tuple[str, str]]) -> str:
    """What to say of pairs that always collide; empty where there are none."""
    if not pairs:
        return ""
    named = ", ".join(f"'{a}' and '{b}'" for a, b in pairs[:SHOWN])
    more = f" and {len(pairs) - SHOWN} pairs more" if len(pairs) > SHOWN else ""
    return (
        f"{named}{more} collide in all of {SAMPLES} random configurations; leave them out by `model.without(...)`, or "
        "give the robot the SRDF that disables them (`Robot.from_urdf(urdf, srdf=...)`)"
    )


def described(has: Contents, robot: Robot, srdf: bool) -> str:
    """A model in words: shapes, checked pairs, how many are left out for each reason; `srdf` as in `left_out`."""
    shapes, joints = counted(len(has.solids), "shape"), counted(len({s.joint for s in has.solids}), "joint")
    looked = f"{counted(len(has.margins), 'pair')} {'is' if len(has.margins) == 1 else 'are'} checked"
    lines = [f"{shapes} on {joints}, {looked}", *(f"  {bare}" for bare in bare_parts(has, robot))]
    lines.append(f"  left out: {in_words(has.out.values(), True) or 'none'}")
    if robot.disabled_collisions:
        used = "" if srdf else ", not used (srdf=False)"
        lines.append(f"  SRDF: {counted(len(robot.disabled_collisions), 'pair')} of links{used}")
    if any(distances := sorted(set(has.margins.values()))):
        lines.append(f"  margins: {', '.join(f'{distance:g}' for distance in distances)} m")
    return "\n".join(lines)


def bare_parts(has: Contents, robot: Robot) -> list[str]:
    """A line that names the parts of a system without a solid, with which nothing collides; none where all have some.

    Args:
        has: what a model looks at.
        robot: the system; a robot whose joints and links have names without a prefix is none.
    """
    split = [name.partition("/") for name in (*robot.joint_names, *link_names(robot.model))]
    if not all(part and name for part, _, name in split):
        return []
    carriers = [str(robot.model.names[solid.joint]) for solid in has.solids] + [s.frame_name for s in has.solids]
    covered = {name.partition("/")[0] for name in carriers}
    bare = [part for part in dict.fromkeys(part for part, *_ in split) if part not in covered]
    return [f"these parts have no solid, so nothing collides with them: {first_names(bare)}"] if bare else []


def why_empty(has: Contents) -> str:
    """Why no pair is checked."""
    if len(has.solids) >= 2:
        return f"left out: {in_words(has.out.values(), True)}; `left_out` names them"
    shapes = f"only one shape, '{has.solids[0].name}'" if has.solids else "no shape"
    return f"it has {shapes}; a Robot brings no shapes, give them by shapes= and urdfs="
