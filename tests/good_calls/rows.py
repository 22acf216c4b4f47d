"""Implicit and explicit constraints, targets, right-hand sides, stacks."""

from __future__ import annotations

import operator

import numpy as np
from bad_values import Good, free, key, number, placement, point, thing, typo, vector
from robots import arm

import constraints as lc
from constraints.functions import Identity
from constraints.rows.stacking import Order, stack_rows
from liegroups import SE3, R3xSO3, Rn, Segments

from .things import BOX, HAND, MOVING, OF_SPACE, POSE, PROBLEM, SPACE, TOOL, projector

E = lc.Comparison.EQUALITY
NOT_NUMBERS = ["x", "1", {}, print, 1j, object()]


def of_implicit(good: Good) -> None:
    for make in (lc.Implicit, lc.Implicit.zero, lc.Implicit.equal):
        good(make, POSE)
    for make in (lc.Implicit.above, lc.Implicit.below):
        good(make, TOOL)
    hand = free("hand")
    call = good(lc.Implicit, free(POSE), name=hand).but("name", name=[3, 2.5, b"a", ["a"], print])
    wrong = ["EQUALITY", 1, [E] * 5, [E] * 7, [], ["EQUALITY"] * 6, [E, E, E, E, E, 3], {}, print, True, E.value]
    call.but("comparison of 'hand'", comparison=wrong)
    masks = [[True] * 5, [True] * 7, [2] * 6, [0.5] * 6, ["x"] * 6, "x", {}, print, [[True] * 6], [np.nan] * 6, []]
    call.but("mask of 'hand'", mask=[*masks, 1j, object()])
    sides = [[1.0] * 5, [1.0] * 7, np.nan, *NOT_NUMBERS, [], [[1.0] * 6], True, ["1"] * 6]
    call.but("lower of 'hand'", lower=sides).but("upper of 'hand'", upper=sides)
    call.given("row 5", lower=1.0, upper=[2.0] * 5 + [0.5])
    call.given("hand", comparison=E, lower=1.0).given("hand", comparison=E, upper=1.0)
    for i, fixed in enumerate([lc.Comparison.EQUAL_TO_ZERO, lc.Comparison.SUPERIOR, lc.Comparison.INFERIOR] * 2):
        rows, rhs = [fixed if j == i else E for j in range(6)], R3xSO3.exp(np.full(6, 0.1 * (i + 1)))
        call.given(f"row {i}", comparison=rows, rhs=rhs)
    sizes = [[1.0] * 5, [1.0] * 7, -1.0, np.nan, np.inf, [1.0] * 5 + [-1.0], *NOT_NUMBERS, [], True]
    good(lc.Implicit, free(POSE), free(lc.Comparison.SUPERIOR), name=hand).but("hand", scale=sizes, margin=sizes)
    wrong = [[1.0] * 2, [1.0] * 4, np.nan, *NOT_NUMBERS, [[1.0] * 3]]
    good(lc.Implicit.between, free(TOOL), free(-1.0), free(1.0), name=hand).but("hand", lower=wrong, upper=wrong)
    good(lc.Implicit.above, free(TOOL), free(0.0), name=hand).but("hand", lower=wrong, margin=wrong)
    good(lc.Implicit.below, free(TOOL), free(0.0), name=hand).but("hand", upper=wrong, margin=wrong)
    for outputs in (R3xSO3, SE3):
        pose = lc.Pose(arm(), "tool", outputs=outputs)
        good(lc.Implicit.equal, free(pose), point(outputs), name=hand).blamed(rhs="right-hand side of 'hand'")


def of_targets(good: Good) -> None:
    def line(t):
        return [t]

    names = ("value", "velocity", "acceleration")
    call = good(lc.Target, line, line, line).blamed(**{name: f"{name} of a Target" for name in names})
    intervals = [(2.0, 1.0), (1.0,), None, 3, "ab", (np.nan, 1.0), (0.0, np.nan), ("a", "b"), (1.0, 2.0, 3.0), {}]
    call.but("interval", interval=intervals)
    target = lc.Target(line, line, line, interval=(0.0, 1.0))
    times = ["x", "0.5", None, {}, [0.5, 0.6], np.nan, np.inf, print, 1j, 2.0, -1.0, object()]
    good(target.at, free(0.5)).but("time", t=times)
    for of_rates in (target.velocity_at, target.acceleration_at):
        good(of_rates, free(0.5), free(Rn(1))).but("time", t=times)
    good(target.restricted, free(0.2), free(0.5)).but("time", start=times, end=times)

    def moved(value, later, velocity, acceleration):
        moving = lc.Target(lambda t: value if t == 0.0 else later, velocity, acceleration)
        return lc.Problem(arm(), [lc.Implicit.equal(TOOL, moving, name="moving")]).rhs_at(0.5)

    still, rate = vector(3, [0.3, 0.0, 0.6]), vector(3).within(lambda x: lambda t: x)
    names = ("value", "later", "velocity", "acceleration")
    good(moved, still, still, rate, rate).blamed(**dict.fromkeys(names, ("moving", "target")))


def of_right_hand_sides(good: Good) -> None:
    stack, rhs = PROBLEM.constraints, PROBLEM.rhs
    call = good(lc.RightHandSide, stack, vector(stack.rhs_size, rhs.vector)).blamed(vector="right-hand side")
    for scale in (0.0, 0.5, 2.0):
        turned = rhs.vector.copy()
        turned[3:7] *= scale
        call.but("right-hand side of 'hand'", vector=[turned])
    moving = vector(stack.full_size)
    good(lc.RightHandSide, free(stack), free(None), moving, moving)
    which = [key("hand", "up"), 2, -3, None, 1.5, MOVING]
    good(rhs.of, free("hand")).but("constraint", constraint=which)
    call = good(rhs.replace, free("hand"), point(R3xSO3)).but("constraint", constraint=which)
    call.blamed(point="right-hand side of 'hand'").given("'up'", constraint="up", point=[0.0, 0.0, 0.3])
    others = [OF_SPACE.rhs, lc.Problem(arm(), [MOVING]).rhs]
    for method in (PROBLEM.residual, PROBLEM.jacobian, projector().project, projector().is_satisfied):
        good(method, free(arm().neutral), rhs=free(None)).but("right-hand side", rhs=others)


def of_stacks(good: Good) -> None:
    call = good(lc.Stack, [HAND]).blamed(owners="constraint").but("hand", owners=[[HAND, HAND]])
    call.but("whole", owners=[[HAND, OF_SPACE.constraints[0]]]).but("constraint", owners=[3, None, print, HAND])
    one = free(lc.Stack([HAND]))
    good(operator.getitem, one, free(0)).but("constraint", b=[key("hand"), 1, -2, None, 1.5, MOVING])
    good(operator.add, one, lc.Stack([MOVING])).blamed(b="stack")
    call = good(stack_rows, PROBLEM.constraints, PROBLEM.at(arm().neutral), Order.POSITION, PROBLEM.rhs)
    call.given("motion", order=Order.VELOCITY).but("point", point=[OF_SPACE.at(SPACE.neutral)])
    call.but("right-hand side", rhs=[OF_SPACE.rhs])


def of_explicit(good: Good) -> None:
    whole = Rn(4)
    f, ins, outs = lc.Affine([[2.0, 1.0]]), Segments.coordinates(whole, [0, 1]), Segments.coordinates(whole, [3])
    same = Identity(Rn(1))
    call = good(lc.Explicit, f, outs, ins, name=free("follow"), g=same, g_inverse=same, whole=free(None), level=0)
    call.blamed(
        level="level of 'follow'", f="f of an explicit", outputs="outputs of 'follow'", inputs="inputs of 'follow'"
    )
    call.but("inputs and outputs of 'follow'", outputs=[Segments.coordinates(whole, [1])])
    call.but("follow", outputs=[Segments.coordinates(whole, [2, 3])])
    call.given("follow", outputs=Segments.coordinates(Rn(9), [8]), whole=whole)
    options = {"whole": free(whole), "name": free("follow")}
    call = good(lc.Explicit, free(f), free(outs), free(ins), comparison=free(E), rhs=vector(1), **options)
    call.blamed(rhs="'follow'").but("'follow'", comparison=["x", 3, [], [E, E], {}])


def of_joints(good: Good) -> None:
    joint, joint_key = typo(*arm().joint_names), key(*arm().joint_names).within(lambda x: {x: 1.0})
    values = ["x", {}, [1.0, 2.0], np.nan, np.inf, print, 1j, object(), True, [[1.0]]]
    good(lc.locked_joint, arm(), joint, free(0.5))
    good(lc.locked_joint, free(arm()), free("elbow"), free(0.5)).but("elbow", value=values)
    good(lc.locked_joint, free(BOX), free("root_joint"), placement()).blamed(value="root_joint")
    good(lc.mimic_constraints, arm())
    call = good(lc.linear_coupling, arm(), typo("wrist_roll"), free({"shoulder_yaw": 1.0}), 0.5).but(
        "source", sources=[thing("dict")]
    )
    call.blamed(offset=("offset", "vector")).but("joint", sources=[joint_key])
    call.but("multiplier", sources=[number().within(lambda x: {"shoulder_yaw": x})])
    call = good(lc.explicit_relative_pose, BOX, free("universe"), typo("body", *BOX.frame_names)).blamed(b="frame")
    call.given("tool", robot=arm(), a="elbow", b="tool")
