"""Bad inputs to constrained dynamics, one after the other, each with the culprit that the error must name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz import BadInput, Chaos, Made, given, made

from constraints import Robot
from constraints.dynamics import (
    ExternalForce,
    Factorisation,
    Forces,
    ForwardDynamics,
    FrameLink,
    FunctionLaw,
    FunctionSpring,
    Impact,
    JointLaw,
    JointSpring,
    Method,
    PointLink,
    constrained_system,
    forward_dynamics,
    impact,
)
from constraints.dynamics.methods.saddle_point import solve_direct, solve_null_space, solve_range_space
from constraints.dynamics.methods.tree_sparsity import TreeSparsity
from constraints.functions.affine import Identity
from constraints.loops import (
    Axes,
    Baumgarte,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    PointClosure,
    PointContact,
    SurfaceContact,
)
from constraints.models import sample_arm, sample_two_arms
from liegroups import Rn


@functools.cache
def robot() -> Robot:
    return sample_two_arms()


@functools.cache
def rows() -> ConstraintSet:
    hands = PointClosure(robot(), "left_tool", "right_tool", name="hands")
    return ConstraintSet(robot(), [hands, PointContact(robot(), "left_tool", [0.0, 0.0, 1.0], name="floor")])


@functools.cache
def other() -> Robot:
    return sample_arm()


def motion() -> Any:
    return robot().at(robot().neutral, np.full(robot().nv, 0.1))


@functools.cache
def solved() -> ForwardDynamics:
    return forward_dynamics(rows(), motion())


@functools.cache
def struck() -> Impact:
    return impact(rows(), motion())


def state_of(c: Chaos, f: Callable[..., Any]) -> Made:
    """What `constrained_system`, `forward_dynamics` and `impact` share: a set, a motion."""
    way = c.pick("set", "motion", "posture", "foreign motion", "rhs")
    if way == "set":
        return given("constraint set", f, c.thing(ConstraintSet), motion())
    if way == "motion":
        return given("motion", f, rows(), c.thing())
    if way == "posture":
        return given("motion", f, rows(), c.say("a posture", robot().at(robot().neutral)))
    if way == "foreign motion":
        foreign = other().at(other().neutral, np.zeros(other().nv))
        return given(("robot", "motion"), f, rows(), c.say("motion of another robot", foreign))
    return given("right-hand side", f, rows(), motion(), rhs=c.thing(type(None)))


def forces_of(c: Chaos, f: Callable[..., Any]) -> Made:
    """What the first two share: forces, wanted accelerations."""
    way = c.pick("tau", "tau", "external", "external force", "frame", "acceleration", "acceleration")
    if way == "tau":
        return given("tau", f, rows(), motion(), c.vector(robot().nv))
    if way == "acceleration":
        return given("acceleration", f, rows(), motion(), acceleration=c.vector(rows().size))
    if way == "external":
        return given("external force", f, rows(), motion(), external=c.say("no forces", c.pick(3, 1.5, print, 1j)))
    if way == "external force":
        return given("external force", f, rows(), motion(), external=[c.thing(ExternalForce)])
    unknown = ExternalForce(c.name(["left_tool"]), np.ones(6))
    return given(("frame", "left_tool"), f, rows(), motion(), external=[unknown])


def method_of(c: Chaos, f: Callable[..., Any]) -> Made:
    """What the last two share: method and factorisation."""
    way = c.pick("method", "name", "factorisation", "contacts only")
    if way == "method":
        return given("method", f, rows(), motion(), method=c.thing(Method))
    if way == "name":
        return given("method", f, rows(), motion(), method=c.say("a typo", c.pick("dircet", "", "null-spaces", "?")))
    if way == "factorisation":
        return given("factorisation", f, rows(), motion(), factorisation=c.thing(Factorisation))
    taken = c.say("a method that does not take it", c.pick("test forces", "proximal", Method.TEST_FORCES))
    culprit = "floor" if taken == "proximal" else "hands"  # one row; contacts only
    return given(culprit, f, rows(), motion(), method=taken)


def system(c: Chaos) -> Made:
    return c.pick(state_of, forces_of)(c, constrained_system)


def forward(c: Chaos) -> Made:
    return c.pick(state_of, forces_of, method_of)(c, forward_dynamics)


def strike(c: Chaos) -> Made:
    way = c.pick("state", "method", "after", "restitution", "range", "by contact", "of a closure", "name", "both")
    if way in ("state", "method"):
        return (state_of if way == "state" else method_of)(c, impact)
    if way == "after":
        return given(("velocity", "after"), impact, rows(), motion(), after=c.vector(rows().size))
    if way == "restitution":
        wrong = c.say("no number", c.pick("x", None, [], [0.5, 0.5], np.nan, np.inf, print, 1j, b"1"))
        return given("restitution", impact, rows(), motion(), restitution=wrong)
    number = c.say("out of [0, 1]", c.pick(-0.1, 1.1, -1e-9, 2, -5))
    if way == "range":
        return given("restitution", impact, rows(), motion(), restitution=number)
    if way == "by contact":
        return given("floor", impact, rows(), motion(), restitution={"floor": c.pick(number, c.number())})
    if way == "of a closure":
        return given("hands", impact, rows(), motion(), restitution={"hands": c.say("a closure", 0.5)})
    if way == "name":
        return given(("constraint", "floor"), impact, rows(), motion(), restitution={c.name(["floor"]): 0.5})
    return given("restitution", impact, rows(), motion(), after=np.zeros(4), restitution=c.say("and after", 0.5))


def external(c: Chaos) -> Made:
    way = c.pick("wrench", "wrench", "axes")
    if way == "wrench":
        return given("wrench", ExternalForce, "left_tool", c.vector(6))
    return given("axes", ExternalForce, "left_tool", np.ones(6), c.thing(Axes))


def laws(c: Chaos) -> Made:
    way = c.pick(
        "frame", "law", "function", "joint", "stiffness", "damping", "rest", "joint law", "frame law", "force", "result"
    )
    tools, joint = ("left_tool", "right_tool"), robot().joint_names[0]
    if way == "frame":
        return given(("frame", "left_tool"), PointLink, robot(), c.name(["left_tool"]), "right_tool", 1.0)
    if way == "law":
        return given("law of a point link", PointLink, robot(), *tools, c.number())
    if way == "function":
        kind = c.pick(FunctionSpring, FunctionLaw)
        return given(
            "function", kind, c.say("no function of a robot", c.pick("x", None, 1.0, print, Identity(Rn(2)))), 1.0
        )
    if way == "joint":
        return given(("joint", joint), JointSpring, robot(), c.name([joint]), 1.0)
    if way in ("stiffness", "damping"):
        wrong = c.say("no stiffness", c.pick(-1.0, np.nan, np.inf, "x", None, [1.0, 2.0], print, 1j, {}))
        return given(way, JointSpring, robot(), joint, **{"stiffness": 1.0, way: wrong})
    if way == "rest":
        return given("rest", JointSpring, robot(), joint, 1.0, rest=c.vector(2))
    if way in ("joint law", "frame law"):
        wrong = c.say("no law", c.pick(3.0, "x", None, [], print, lambda q: q, lambda a, b, c, d: a))
        if way == "joint law":
            return given("law", JointLaw, robot(), joint, wrong)
        return given("law", FrameLink, robot(), *tools, wrong)
    if way == "force":
        return given("force", Forces, robot(), [c.thing(ExternalForce)])
    wrong = c.say("no force", c.pick("x", None, [1.0, 2.0], np.nan, np.inf, 1j, {}))
    return given("law at joint", Forces(robot(), [JointLaw(robot(), joint, lambda q, v: wrong)]), *zero())


def zero() -> tuple[Any, Any]:
    return robot().neutral, np.zeros(robot().nv)


def answers(c: Chaos) -> Made:
    result = c.pick(solved(), struck())
    way = c.pick("which", "wrench", "on", "axes", "frame")
    if way == "which":
        return given(("constraint", "hands"), result.multipliers_of, c.name(["hands"]))
    if way == "wrench":
        return given(("constraint", "hands"), result.wrench, c.name(["hands"]))
    if way == "on":
        wrong = c.say("no body", c.pick("sucessor", "", "world", 3, None))
        return given("body", result.wrench, "hands", wrong)
    if way == "axes":
        return given("axes", result.wrench, "hands", axes=c.thing(Axes))
    wrong = c.name(["left_tool"]) if c.rng.random() < 0.5 else c.thing(type(None), str)
    return given(("frame", "left_tool"), result.wrench, "hands", frame=wrong)


def forms(c: Chaos) -> Made:
    way = c.pick("form", "axes", "custom")
    if way == "custom":
        hinge = c.say("rates of a custom hinge", Hinge.custom([Hinge.pin(), Hinge.slider()]))
        return given("own", Closure, robot(), "left_tool", "right_tool", hinge, form=Form.RATES, name="own")
    kind = c.pick(PointContact, SurfaceContact)
    if way == "axes":
        return given("axes", kind, robot(), "left_tool", axes=c.thing(Axes))
    if c.rng.random() < 0.5:
        return given("form", Closure, robot(), "left_tool", "right_tool", form=c.thing(Form))
    return given("form", kind, robot(), "left_tool", form=c.thing(Form))


def subsets(c: Chaos) -> Made:
    way = c.pick("on", "off", "which", "gains", "time", "gain", "position")
    if way in ("on", "off"):
        return given(("constraint", "hands"), rows().switched, **{way: [c.name(["hands"])]})
    if way == "which":
        return given(("constraint", "hands"), rows().stabilised, 0.1, c.name(["hands"]))
    if way == "gains":
        wrong = c.say("no gains", c.pick("x", None, [], [1.0, 2.0], np.nan, print, 1j, {}))
        return given(("gain", "time", "stabilisation"), rows().stabilised, wrong)
    if way == "time":
        return given(("time",), rows().stabilised, c.say("no time", c.pick(0.0, -0.1, -5, np.nan)))
    if way == "position":
        return given(("constraint", "position"), rows().switched, off=[c.say("no position", c.pick(2, 7, -9))])
    wrong = c.say("no gain", c.pick(-1.0, np.nan, np.inf, -np.inf, "x", "1", None, [], print, 1j))
    return given("gain", Baumgarte, *c.pick((wrong, 1.0), (1.0, wrong)))


def algebra(c: Chaos) -> Made:
    H, G, f, gamma = np.diag([1.0, 2.0, 3.0]), np.ones((1, 3)), np.ones(3), np.ones(1)
    solve = c.pick(solve_direct, solve_range_space, solve_null_space)
    way = c.pick("H", "G", "c", "gamma", "parents", "sparsity", "bases")
    wrong = c.say("no matrix", c.pick(np.ones((3, 2)), np.ones((2, 3, 3)), "x", None, {}, np.ones((4, 4)) + 1j, print))
    if way == "H":
        return given("H of", solve, wrong, G, f, gamma)
    if way == "G":
        return given("G of", solve, H, wrong, f, gamma)
    if way == "c":
        return given("c of", solve, H, G, wrong, gamma)
    if way == "gamma":
        return given("gamma of", solve, H, G, f, wrong)
    if way == "parents":
        return given(
            "parent", TreeSparsity, np.array(c.say("a later parent", c.pick([0], [-1, 1, 0], [-1, 0, 5], [-3])))
        )
    if way == "sparsity":
        wrong = c.say("of another tree", TreeSparsity(np.arange(c.pick(1, 2, 4, 9)) - 1))
        return given("sparsity", solve_range_space, H, G, f, gamma, sparsity=wrong)
    bases = c.say(
        "no bases", c.pick((np.eye(3), np.eye(3)), (np.ones((3, 1)), np.ones((3, 1))), (np.ones(3), np.eye(3)))
    )
    return given(("basis", "bases"), solve_null_space, H, G, f, gamma, bases=bases)


MAKERS: dict[str, Callable[[Chaos], Made]] = {
    "constrained_system": system, "forward_dynamics": forward, "impact": strike, "ExternalForce": external,
    "laws": laws, "results": answers, "forms": forms, "subsets": subsets, "algebra": algebra,
}  # fmt: skip


def bad_input(seed: int, number: int) -> BadInput:
    """One of them; the same for the same seed."""
    entry = tuple(MAKERS)[number % len(MAKERS)]
    return made(entry, MAKERS[entry], seed, number, 77)
