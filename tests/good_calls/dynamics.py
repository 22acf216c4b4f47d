"""Constrained dynamics: systems, forward dynamics, impacts, forces, their results; the algebra below."""

from __future__ import annotations

import numpy as np
from bad_values import Good, Kind, at_least_zero, free, key, number, thing, typo, vector
from robots import arm

from constraints.dynamics import (
    ExternalForce,
    Factorisation,
    Forces,
    FrameLink,
    FunctionLaw,
    FunctionSpring,
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
from constraints.functions import Identity, Position
from constraints.loops import Axes, ConstraintSet, PointContact
from liegroups import Rn

from .loops import ROBOT, hands

JOINT = ROBOT.joint_names[0]
FLOOR = PointContact(ROBOT, "left_tool", [0.0, 0.0, 1.0], name="floor")
N = ROBOT.nv


def of_motion(good: Good) -> None:
    rows = ConstraintSet(ROBOT, [*hands().stack, FLOOR])
    posture, motion = ROBOT.at(ROBOT.neutral), ROBOT.at(ROBOT.neutral, np.full(N, 0.1))
    foreign = arm().at(arm().neutral, np.zeros(arm().nv))
    for f in (constrained_system, forward_dynamics, impact):
        call = good(f, rows, motion, rhs=rows.rhs_at(0.0)).blamed(motion="state of dynamics")
        call.but("state of dynamics", motion=[posture]).but(("robot", "motion"), motion=[foreign])
        if f is not impact:
            unknown = key("left_tool").within(lambda name: [ExternalForce(name, np.ones(6))])
            call = good(f, free(rows), free(motion), tau=vector(N), acceleration=vector(rows.size), external=free([]))
            call.but("external force", external=[3, 1.5, print, 1j, thing().within(lambda x: [x])])
            call.but(("frame", "left_tool"), external=[unknown])
        if f is not constrained_system:
            call = good(f, free(rows), free(motion), method=Method.DIRECT, factorisation=Factorisation.CHOLESKY)
            call.but("method", method=["dircet", "", "null-spaces", "?"])
            call.but("hands", method=["test forces", Method.TEST_FORCES])  # which takes contacts
            call.but("floor", method=["proximal"])  # which takes three rows or six
    call = good(impact, free(rows), free(motion), after=vector(rows.size)).blamed(after=("velocity", "after"))
    call.given("restitution", after=np.zeros(rows.size), restitution=0.5)
    call = good(impact, free(rows), free(motion), restitution=free({"floor": 0.5}))
    outside = [-0.1, 1.1, -1e-9, 2, -5]
    call.but("restitution", restitution=["x", None, [], [0.5, 0.5], np.nan, np.inf, print, 1j, b"1", *outside])
    call.but("floor", restitution=[Kind(None, (lambda c: {"floor": c.pick(c.number(), *outside)},))])
    call.but("hands", restitution=[{"hands": 0.5}])
    call.but(("constraint", "floor"), restitution=[key("floor").within(lambda x: {x: 0.5})])


def of_laws(good: Good) -> None:
    good(ExternalForce, free("left_tool"), vector(6), Axes.LOCAL)
    robot, tools = free(ROBOT), (free("left_tool"), free("right_tool"))
    call = good(PointLink, ROBOT, key("left_tool"), tools[1], number(1.0))
    call.blamed(a=("frame", "left_tool"), law="law of a point link")
    tool = Position(ROBOT, "left_tool")
    for kind, law in ((FunctionSpring, 1.0), (FunctionLaw, lambda y, v: y)):
        good(kind, tool, free(law)).but("function", function=["x", None, 1.0, print, Identity(Rn(2))])
    k = at_least_zero(1.0)
    good(JointSpring, robot, typo(JOINT), k, k, vector(1)).blamed(joint=("joint", JOINT))
    wrong = [3.0, "x", None, [], print, lambda q: q, lambda a, b, c, d: a]
    good(JointLaw, robot, free(JOINT), free(lambda q, v: 0.0)).but("law", law=wrong)
    good(FrameLink, robot, *tools, free(lambda pose, v: np.zeros(6))).but("law", law=wrong)
    good(Forces, ROBOT, free([])).but("force", laws=[thing().within(lambda x: [x])])

    def pushed(force):
        return Forces(ROBOT, [JointLaw(ROBOT, JOINT, lambda q, v: force)])(ROBOT.neutral, np.zeros(N))

    good(pushed, free(1.0)).but("law at joint", force=["x", None, [1.0, 2.0], np.nan, np.inf, 1j, {}])


def of_results(good: Good) -> None:
    rows, motion = ConstraintSet(ROBOT, [*hands().stack, FLOOR]), ROBOT.at(ROBOT.neutral, np.full(N, 0.1))
    for result in (forward_dynamics(rows, motion), impact(rows, motion)):
        good(result.multipliers_of, key("hands")).blamed(which=("constraint", "hands"))
        call = good(result.wrench, key("hands"), axes=Axes.LOCAL).blamed(which=("constraint", "hands"))
        call.but("body", on=["sucessor", "", "world", 3, None])
        call.but(("frame", "left_tool"), frame=[key("left_tool"), thing("None Frame str")])


def of_algebra(good: Good) -> None:
    H, G, f, gamma = np.diag([1.0, 2.0, 3.0]), np.ones((1, 3)), np.ones(3), np.ones(1)
    wrong = [np.ones((3, 2)), np.ones((2, 3, 3)), "x", None, {}, np.ones((4, 4)) + 1j, print]
    for solve in (solve_direct, solve_range_space, solve_null_space):
        call = good(solve, free(H), free(G), free(f), free(gamma))
        call.but("H of", H=wrong).but("G of", G=wrong).but("c of", c=wrong).but("gamma of", gamma=wrong)
    parents = [np.array(p) for p in ([0], [-1, 1, 0], [-1, 0, 5], [-3])]
    good(TreeSparsity, free(np.array([-1, 0, 1]))).but("parent", parents=parents)
    call = good(solve_range_space, free(H), free(G), free(f), free(gamma))
    call.but("sparsity", sparsity=[TreeSparsity(np.arange(n) - 1) for n in (1, 2, 4, 9)])
    bases = [(np.eye(3), np.eye(3)), (np.ones((3, 1)), np.ones((3, 1))), (np.ones(3), np.eye(3))]
    good(solve_null_space, free(H), free(G), free(f), free(gamma)).but(("basis", "bases"), bases=bases)
