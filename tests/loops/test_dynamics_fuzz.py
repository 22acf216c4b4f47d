"""Bad inputs to hinges, closures, contacts, constraint sets and assembly: each is refused by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from fuzz import BadInput, Chaos, verdict

from constraints import Robot, loops
from constraints.loops import Hinge
from constraints.models import sample_two_arms

Made = tuple[Callable[[], object], tuple[str, ...]]


@functools.cache
def robot() -> Robot:
    return sample_two_arms()


@functools.cache
def rows() -> loops.ConstraintSet:
    return loops.ConstraintSet(robot(), [loops.PointClosure(robot(), "left_tool", "right_tool", name="hands")])


def call(culprits: str | tuple[str, ...], f: Callable[..., Any], *values: Any, **named: Any) -> Made:
    return lambda: f(*values, **named), (culprits,) if isinstance(culprits, str) else culprits


def picked(c: Chaos, ways: Mapping[str, Callable[[], Made]]) -> Made:
    """One of some ways to be wrong."""
    return ways[c.pick(*ways)]()


def bad_axis(c: Chaos) -> Any:
    return c.pick(c.vector(3), c.say("axis not unit", [1.0, 1.0, 0.0]), c.say("no axis", [0.0, 0.0, 0.0]))


def end(c: Chaos) -> Any:
    return c.pick(c.name(["left_tool"]), c.placement())


def hinge(c: Chaos) -> Made:
    about = c.pick(*(getattr(Hinge, name) for name in ("pin", "slider", "cylindrical", "planar", "two_sliders")))
    kind = c.pick(Hinge.ball(), Hinge.planar(), Hinge.free())
    return picked(c, {
        "axis": lambda: call(("axis", "normal"), about, bad_axis(c)),
        "pitch": lambda: call("pitch", Hinge.helical, [0.0, 0.0, 1.0], c.pick(c.number(), 0.0)),
        "square": lambda: call("universal", Hinge.universal, [1.0, 0, 0], c.pick([0.6, 0.8, 0.0], [1.0, 0.0, 0.0])),
        "custom": lambda: call("sub-hinge", Hinge.custom, c.pick([Hinge.pin()] * 2, "pin", 3, [c.thing(Hinge)], None)),
        "coordinates": lambda: call("hinge coordinates", kind.placement, c.point(kind.space)),
    })  # fmt: skip


def closure(c: Chaos) -> Made:
    kind = c.pick(loops.Closure, loops.PointClosure)
    mask = c.pick([True] * 5, "xyz", 3, [2] * 6, [True] * 7, np.zeros((2, 6)))
    axes = c.pick(np.zeros((1, 6)), np.eye(6)[:, :5], np.ones((2, 6)), "x", np.full((1, 6), np.nan))
    ends = robot(), "left_tool", "right_tool"
    return picked(c, {
        "robot": lambda: call("robot", kind, c.thing(Robot), *ends[1:]),
        "predecessor": lambda: call(("frame", "predecessor"), kind, robot(), end(c), "right_tool"),
        "successor": lambda: call(("frame", "successor"), kind, robot(), "right_tool", end(c)),
        "hinge": lambda: call("hinge", loops.Closure, *ends, c.thing(Hinge)),
        "target": lambda: call("target", kind, *ends, target=c.thing(type(None))),
        "name": lambda: call("name", kind, *ends, name=c.thing(str)),
        "length": lambda: call("length", loops.RodClosure, *ends, c.pick(c.number(), c.say("no length", -1.0), 0.0)),
        "mask": lambda: call("mask", loops.Closure.masked, *ends, c.say("a wrong mask", mask)),
        "axes": lambda: call(("axis", "axes"), loops.Closure.along, *ends, c.say("wrong axes", axes)),
        "one joint": lambda: call("joint", kind, robot(), "left_tool", c.say("one joint", "left_tool")),
    })  # fmt: skip


def contact(c: Chaos) -> Made:
    kind = c.pick(loops.PointContact, loops.SurfaceContact)
    place = c.placement if kind is loops.SurfaceContact else lambda: c.vector(3)
    return picked(c, {
        "robot": lambda: call("robot", kind, c.thing(Robot), "left_tool"),
        "frame": lambda: call("frame", kind, robot(), c.pick(c.name(["left_tool"]), c.thing(str))),
        "anchor": lambda: call("anchor", kind, robot(), "left_tool", anchor=place()),
        "normal": lambda: call("normal", loops.PointContact, robot(), "left_tool", bad_axis(c)),
        "axes": lambda: call("axes", kind, robot(), "left_tool", axes=c.thing(loops.Axes)),
        "name": lambda: call("name", kind, robot(), "left_tool", name=c.thing(str)),
    })  # fmt: skip


def constraint_set(c: Chaos) -> Made:
    time, gain = c.pick(-1.0, 0.0, "x", None, np.nan), c.pick(-1.0, np.nan, "x", None)
    owners, speed = c.pick(3, None, "hands", print), ("v of", "v:", "velocity")
    return picked(c, {
        "robot": lambda: call("robot", loops.ConstraintSet, c.thing(Robot), []),
        "owners": lambda: call("constraints of a set", loops.ConstraintSet, robot(), c.say("no sequence", owners)),
        "owner": lambda: call("constraint 0", loops.ConstraintSet, robot(), [c.thing()]),
        "on": lambda: call(("constraint", "hands"), rows().switched, [c.name(["hands"])]),
        "gains": lambda: call(("gain", "time"), rows().stabilised, c.say("no time", time)),
        "which": lambda: call(("constraint", "hands"), rows().stabilised, 0.1, c.name(["hands"])),
        "q": lambda: call(("q of", "q:"), rows().position_error, c.point(robot().space)),
        "v": lambda: call(speed, rows().drift, robot().neutral, c.vector(robot().nv)),
        "time": lambda: call(("velocity gain", "position gain"), loops.Baumgarte, c.say("no gain", gain)),
        "row": lambda: call("row", rows().row_name, c.say("no row", c.pick(3, -1, 99))),
    })  # fmt: skip


def assembly(c: Chaos) -> Made:
    q, assemble, step = robot().neutral, loops.assemble_position, c.pick(-1.0, "x", [1.0], np.nan)
    speed, count = np.zeros(robot().nv), c.pick(-1, 2.5, "x")
    return picked(c, {
        "set": lambda: call("constraint set", assemble, c.thing(), q),
        "set of velocities": lambda: call("constraint set", loops.assemble_velocity, c.thing(), q, speed),
        "q": lambda: call(("q0 of", "q0"), assemble, rows(), c.point(robot().space)),
        "weights": lambda: call("weights", assemble, rows(), q, weights=c.vector(robot().nv)),
        "driven": lambda: call(("joint", "frozen"), assemble, rows(), q, driven=[c.name(robot().joint_names)]),
        "tolerance": lambda: call("tolerance", assemble, rows(), q, tolerance=c.pick(c.number(), 0.0, -1.0)),
        "iterations": lambda: call("max_iterations", assemble, rows(), q, max_iterations=c.say("no count", count)),
        "branch": lambda: call("stay_on_branch", assemble, rows(), q, stay_on_branch=c.say("no step", step)),
        "v": lambda: call("v0", loops.assemble_velocity, rows(), q, c.vector(robot().nv)),
        "rhs": lambda: call("right-hand side", assemble, rows(), q, rhs=c.thing(type(None))),
        "joint": lambda: call("closure", loops.to_joint, c.thing(loops.Closure)),
    })  # fmt: skip


MAKERS = {"hinge": hinge, "closure": closure, "contact": contact, "set": constraint_set, "assembly": assembly}


@pytest.mark.parametrize("entry", MAKERS)
def test_bad_inputs_are_refused_by_name(entry: str) -> None:
    """RBDL case 20: whatever is wrong ends in a ConstraintError that names the culprit and what was expected."""
    found: list[str] = []
    for number in range(120):
        chaos = Chaos(np.random.default_rng([2026, number, len(entry)]))
        made, culprits = MAKERS[entry](chaos)
        said = verdict(BadInput(entry, chaos.kind, made, culprits, 2026, number))
        if said is not None:
            found.append(f"{chaos.kind}: {said}")
    assert not found, "\n".join(sorted(set(found)))
