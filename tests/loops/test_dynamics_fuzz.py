"""Bad inputs to hinges, closures, contacts, constraint sets and assembly: each is refused by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fuzz import BadInput, Chaos, verdict

from constraints import Robot, loops
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


def bad_axis(c: Chaos) -> Any:
    return c.pick(c.vector(3), c.say("axis not unit", [1.0, 1.0, 0.0]), c.say("no axis", [0.0, 0.0, 0.0]))


def hinge(c: Chaos) -> Made:
    way = c.pick("axis", "axis", "pitch", "square", "custom", "coordinates")
    if way == "axis":
        named = {"pin": "axis", "slider": "axis", "cylindrical": "axis", "planar": "normal", "two_sliders": "normal"}
        kind = c.pick(*named)
        return call(("axis", "normal"), getattr(loops.Hinge, kind), bad_axis(c))
    if way == "pitch":
        return call("pitch", loops.Hinge.helical, [0.0, 0.0, 1.0], c.pick(c.number(), 0.0))
    if way == "square":
        return call("universal", loops.Hinge.universal, [1.0, 0.0, 0.0], c.pick([0.6, 0.8, 0.0], [1.0, 0.0, 0.0]))
    if way == "custom":
        return call(
            "sub-hinge", loops.Hinge.custom, c.pick([loops.Hinge.pin()] * 2, "pin", 3, [c.thing(loops.Hinge)], None)
        )
    kind = c.pick(loops.Hinge.ball(), loops.Hinge.planar(), loops.Hinge.free())
    return call("hinge coordinates", kind.placement, c.point(kind.space))


def closure(c: Chaos) -> Made:
    kind = c.pick(loops.Closure, loops.PointClosure)
    way = c.pick("robot", "predecessor", "successor", "hinge", "target", "name", "length", "mask", "axes", "one joint")
    if way == "robot":
        return call("robot", kind, c.thing(Robot), "left_tool", "right_tool")
    if way == "predecessor":
        given = c.pick(c.name(["left_tool"]), c.placement())
        return call(("frame", "predecessor"), kind, robot(), given, "right_tool")
    if way == "successor":
        given = c.pick(c.name(["left_tool"]), c.placement())
        return call(("frame", "successor"), kind, robot(), "right_tool", given)
    if way == "hinge":
        return call("hinge", loops.Closure, robot(), "left_tool", "right_tool", c.thing(loops.Hinge))
    if way == "target":
        return call("target", kind, robot(), "left_tool", "right_tool", target=c.thing(type(None)))
    if way == "name":
        return call("name", kind, robot(), "left_tool", "right_tool", name=c.thing(str))
    if way == "length":
        length = c.pick(c.number(), c.say("no length", c.pick(0.0, -1.0)))
        return call("length", loops.RodClosure, robot(), "left_tool", "right_tool", length)
    if way == "mask":
        mask = c.say("a wrong mask", c.pick([True] * 5, "xyz", 3, [2] * 6, [True] * 7, np.zeros((2, 6))))
        return call("mask", loops.Closure.masked, robot(), "left_tool", "right_tool", mask)
    if way == "axes":
        axes = c.say(
            "wrong axes", c.pick(np.zeros((1, 6)), np.eye(6)[:, :5], np.ones((2, 6)), "x", np.full((1, 6), np.nan))
        )
        return call(("axis", "axes"), loops.Closure.along, robot(), "left_tool", "right_tool", axes)
    return call("joint", kind, robot(), "left_tool", c.say("one joint", "left_tool"))


def contact(c: Chaos) -> Made:
    kind = c.pick(loops.PointContact, loops.SurfaceContact)
    way = c.pick("robot", "frame", "anchor", "normal", "axes", "name")
    if way == "robot":
        return call("robot", kind, c.thing(Robot), "left_tool")
    if way == "frame":
        return call("frame", kind, robot(), c.pick(c.name(["left_tool"]), c.thing(str)))
    if way == "anchor":
        wrong = c.vector(3) if kind is loops.PointContact else c.placement()
        return call("anchor", kind, robot(), "left_tool", anchor=wrong)
    if way == "normal":
        return call("normal", loops.PointContact, robot(), "left_tool", bad_axis(c))
    if way == "axes":
        return call("axes", kind, robot(), "left_tool", axes=c.thing(loops.Axes))
    return call("name", kind, robot(), "left_tool", name=c.thing(str))


def constraint_set(c: Chaos) -> Made:
    way = c.pick("robot", "owners", "owner", "on", "gains", "which", "q", "v", "time", "row")
    if way == "robot":
        return call("robot", loops.ConstraintSet, c.thing(Robot), [])
    if way == "owners":
        return call(
            "constraints of a set", loops.ConstraintSet, robot(), c.say("no sequence", c.pick(3, None, "hands", print))
        )
    if way == "owner":
        return call("constraint 0", loops.ConstraintSet, robot(), [c.thing()])
    if way == "on":
        return call(("constraint", "hands"), rows().switched, [c.name(["hands"])])
    if way == "gains":
        return call(("gain", "time"), rows().stabilised, c.say("no time", c.pick(-1.0, 0.0, "x", None, np.nan)))
    if way == "which":
        return call(("constraint", "hands"), rows().stabilised, 0.1, c.name(["hands"]))
    if way == "q":
        return call(("q of", "q:"), rows().position_error, c.point(robot().space))
    if way == "v":
        return call(("v of", "v:", "velocity"), rows().drift, robot().neutral, c.vector(robot().nv))
    if way == "time":
        return call(
            ("velocity gain", "position gain"), loops.Baumgarte, c.say("no gain", c.pick(-1.0, np.nan, "x", None))
        )
    return call("row", rows().row_name, c.say("no row", c.pick(3, -1, 99)))


def assembly(c: Chaos) -> Made:
    q = robot().neutral
    way = c.pick("set", "q", "weights", "driven", "tolerance", "iterations", "branch", "v", "rhs", "joint")
    if way == "set":
        if c.rng.random() < 0.5:
            return call("constraint set", loops.assemble_position, c.thing(), q)
        return call("constraint set", loops.assemble_velocity, c.thing(), q, np.zeros(robot().nv))
    if way == "q":
        return call(("q0 of", "q0"), loops.assemble_position, rows(), c.point(robot().space))
    if way == "weights":
        return call("weights", loops.assemble_position, rows(), q, weights=c.vector(robot().nv))
    if way == "driven":
        return call(("joint", "frozen"), loops.assemble_position, rows(), q, driven=[c.name(robot().joint_names)])
    if way == "tolerance":
        return call("tolerance", loops.assemble_position, rows(), q, tolerance=c.pick(c.number(), 0.0, -1.0))
    if way == "iterations":
        return call(
            "max_iterations", loops.assemble_position, rows(), q, max_iterations=c.say("no count", c.pick(-1, 2.5, "x"))
        )
    if way == "branch":
        step = c.say("no step", c.pick(-1.0, "x", [1.0], np.nan))
        return call("stay_on_branch", loops.assemble_position, rows(), q, stay_on_branch=step)
    if way == "v":
        return call("v0", loops.assemble_velocity, rows(), q, c.vector(robot().nv))
    if way == "rhs":
        return call("right-hand side", loops.assemble_position, rows(), q, rhs=c.thing(type(None)))
    return call("closure", loops.to_joint, c.thing(loops.Closure))


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
