"""Functions of frames, masses, contact, users; functions made of functions; measures, boxes."""

from __future__ import annotations

import operator

import numpy as np
from bad_values import Good, at_least_zero, frame, free, key, placement, point, positive, thing, typo, vector
from robots import arm, two_arms

import constraints as lc
from constraints import functions as fn
from liegroups import SE3, SO2, SO3, Rn, Segments

from .spaces import SPACES
from .things import BOX, FOOT, HAND, POSE, TABLE, TOOL, twin

FRAME, NAME, ROBOT = frame(*arm().frame_names), key(*arm().frame_names), free(arm())
F = free(TOOL)


def of_frames(good: Good) -> None:
    for kind in (lc.Position, lc.Orientation, lc.Transformation, lc.Rotation, lc.Pose):
        call = good(kind, arm(), FRAME, placement(), name=free("hand")).but("name", name=[3, 2.5, b"a", ["a"], print])
        call.but(("frame", "reference"), reference=[NAME])
        good(kind, ROBOT, FRAME, free("elbow")).but(("frame", "reference"), reference=[NAME])
    for reference in (None, "elbow"):
        call = good(lc.Pose, ROBOT, free("tool"), free(reference), free(SE3))
        call.but("outputs", outputs=[SO3, Rn(6), "SE3", None, 7, SE3 * Rn(1), {}])
    for f in (POSE, fn.Identity(SE3), lc.Pose(BOX, "body")):
        for at in (f.value, f.jacobian, f.linearise):
            good(at, point(f.inputs)).blamed(q="argument of")


def of_masses(good: Good) -> None:
    call = good(lc.CenterOfMass, arm(), joints=["elbow"]).but("joint", joints=["elbow", {}])
    call.but("CenterOfMass", joints=[[]]).given("joint", subtrees=["elbow"])
    good(lc.CenterOfMass, ROBOT, subtrees=["elbow"]).blamed(subtrees=("joint", "subtree"))
    call = good(lc.CenterOfMass, ROBOT, reference=placement()).but(("frame", "reference"), reference=[NAME])
    call.but("mass", robot=[BOX])
    good(lc.ComBetweenFeet, arm(), FRAME, FRAME, FRAME)
    corners = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]]
    up = vector(3, [0.0, 0.0, 1.0])
    call = good(fn.Support, arm().frame("tool"), np.array(corners), at_least_zero(), up, 4).but("edges", edges=[2, 0])
    call.blamed(frame="frame of a support", friction="coefficient").but("normal", normal=[[0.0, 0.0, 2.0]])
    call.but("point", points=[[], [0.0, 0.0, 0.0], [[0.0, 0.0]], [[np.nan, 0.0, 0.0]], np.zeros((0, 3)), 1j])
    good(fn.Support.under, FOOT).blamed(surface="surface of a support")
    support = fn.Support(arm().frame("tool"), corners)
    light = {"robot": BOX, "supports": fn.Support(BOX.frame("body"), np.eye(3)), "joints": None}
    shares = {"shares": vector(1, [1.0]), "damping": at_least_zero()}
    for kind, more in (
        (fn.StaticStability, {"length": positive()}),
        (fn.ContactForces, {"length": positive(), **shares}),
        (fn.SupportPolygon, {}),
        (fn.StaticTorques, {**shares, "actuated": list(arm().joint_names)}),
    ):
        call = good(kind, arm(), [support], joints=["elbow"], **more).given("mass", **light)
        call.given("joint", subtrees=["elbow"]).blamed(actuated=("actuated", "joint"))
        good(kind, ROBOT, support, subtrees=["elbow"]).blamed(subtrees=("joint", "subtree"))
        if shares["shares"] in more.values():
            call.but("share", shares=[[0.0], [-1.0]])
    call.but(("actuated", "joint"), actuated=["elbow", [typo(*arm().joint_names)], 3, [], {}])
    robot, feet = two_arms(), frame("left_tool", *two_arms().frame_names)
    options = {"sliding": True, "aligned": True, "mask": free(None), "subtrees": ["torso"]}
    call = good(lc.double_support, robot, feet, feet, point(robot.space), **options)
    call.blamed(q="posture", subtrees=("subtree", "joint", "mass")).but("mask", mask=[[1, 1], "x", 7])
    call.but(("subtree", "joint", "mass"), subtrees=["left_tool", 3, []])


def of_contact(good: Good) -> None:
    not_points = [[[0, 0, 0]] * 3, [[0, 0]] * 3, [], "abc", np.full((4, 3), np.nan), 3, None]
    call = good(lc.Surface, free("lid"), arm().frame("tool"), free([[0, 0, 0], [1, 0, 0], [1, 1, 0]]))
    call.blamed(frame="'lid'").but("'lid'", points=not_points)
    pairs = ["table", 3, ("table",), typo("foot").within(lambda x: ("table", x))]
    pairs += [typo("table").within(lambda x: (x, "foot"))]
    for kind in (lc.ConvexShapeContact, lc.ConvexShapeContactComplement, lc.ConvexShapeContactHold):
        call = good(kind, arm(), TABLE, FOOT, at_least_zero(0.0), free(("table", "foot")))
        call.but("floors", floors=[[], [None]]).but("objects", objects=[[], [FOOT] * 2, ["foot"]])
        call.but(("pair", "floor", "object"), pair=pairs)
    hold = lc.ConvexShapeContactHold(arm(), TABLE, FOOT)
    floor, free_foot = (lc.Surface(s.name, BOX.frame(f), s.points) for s, f in ((TABLE, "universe"), (FOOT, "body")))
    good(lc.explicit_contact, lc.ConvexShapeContactHold(BOX, floor, free_foot)).but("foot", hold=[hold])


def of_functions(good: Good) -> None:
    A = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 3))
    call = good(fn.Affine, A, vector(2), Rn(3)).blamed(A="matrix", b="vector")
    call.but("affine", inputs=[Rn(4), SO3 * Rn(1), SE3, Rn(0), SO3, SO2 * Rn(2)])
    good(fn.Identity, SE3)
    good(fn.Constant, point(SE3), SE3, SE3).blamed(constant="constant")
    call = good(fn.Stacked, [POSE, TOOL]).blamed(parts0="function").but("functions", parts0=[[], ()])
    others = [fn.Identity(Rn(3)), lc.Position(two_arms(), "left_tool"), lc.Position(twin(), "tool")]
    call.but("inputs", parts0=[[POSE, other] for other in others])
    call = good(fn.Sum, [TOOL, TOOL], vector(2)).blamed(factors="factors of a sum")
    call.but("sum", functions=[[TOOL, other] for other in (POSE, fn.Identity(Rn(3)), fn.Identity(SO3))])
    call.but("functions of a sum", functions=[3, None, print, "abc", ()])
    good(operator.mul, free(TOOL), free(2.0)).but(("factor", "operand"), b=[None, "x", {}, print, np.nan])
    call = good(operator.add, free(TOOL), free(TOOL)).but("outputs of Pose", a=[POSE])
    call.but(("added to", "operand"), b=[thing("int float ndarray list tuple")])
    rows = [[6], [-1], [3], [3, 4], [0, 0], ["x"], None, 3, "rows", print, [1.5], [None], {}]
    good(POSE.restricted, free([0])).but(("coordinate", "segment", "rows", "cut"), rows=rows)
    two = arm().space * arm().space
    for owner in (POSE, HAND):
        good(owner.on, arm().space).but("space", space=[Rn(3), SE3, two_arms().space, two])
    space = arm().space * Rn(2)
    call = good(POSE.on, free(space), free(Segments.of(space, 0)))
    call.but("block", block=[Segments.of(space, 1), Segments.coordinates(space, [7, 8]), "arm", 3, {}, [0, 1]])
    f = free(fn.Identity(SE3))
    good(operator.matmul, f, f).but("inner function", b=[thing("None")]).but("Identity @", b=[fn.Identity(Rn(7))])
    good(operator.sub, f, f).but("right of", b=[thing("None")]).but("inputs of Identity", b=[fn.Identity(Rn(7))])
    call = good(operator.sub, free(TOOL), free(TOOL)).but("outputs of Position", b=[POSE])
    call.but("inputs of Position", b=[lc.Position(twin(), "tool")])


def of_users(good: Good) -> None:
    call = good(lc.Function.from_callable, lambda q: q[:2], Rn(3), Rn(2), lambda q: np.eye(3)[:2]).blamed(f="function")
    columns = [[True], [True] * 4, "x", {}, print, [[True] * 3], ["a", "b", "c"], [0.5, 0.5, 1.0]]
    call.but("columns", columns=columns)

    def value(returned):
        return lc.Function.from_callable(lambda q: returned, Rn(3), Rn(2), name="mine").value(np.zeros(3))

    def jacobian(returned):
        f = lc.Function.from_callable(lambda q: q[:2], Rn(3), Rn(2), lambda q: returned, name="mine")
        return f.jacobian(np.zeros(3))

    wrong = [np.zeros(3), 1.0, "x", None, {}, [[1.0], [1.0, 2.0]], np.zeros(2) + 1j, ["a", "b"], ["1", "2"], print]
    good(value, free(np.zeros(2))).but("mine", returned=wrong)
    wrong = [
        np.zeros((2, 2)),
        np.zeros(5),
        "x",
        None,
        {},
        np.ones((2, 3)) + 1j,
        print,
        [["a"] * 3] * 2,
        np.eye(3)[:, :2],
    ]
    good(jacobian, free(np.zeros((2, 3)))).but("mine", returned=wrong)


def of_operators(good: Good) -> None:
    call = good(fn.Expression, free("product"), free([TOOL[0], TOOL[0]])).but(
        "operator", operator=["tan", None, 3, print]
    )
    call.but("functions", functions=[[], [TOOL], [TOOL] * 3])
    good(fn.Expression, free("power"), free([TOOL]), free(2.0)).but("number", number=[None, "x", np.nan, print])
    operands = [None, "x", print, np.eye(2), {}]
    for of_two in (fn.dot, fn.minimum, fn.maximum, fn.cross):
        good(of_two, F, F).but("operand", f=operands, g=operands)
    good(fn.atan2, F, F).but("operand", y=operands, x=operands)
    for of_one in (fn.sqrt, fn.cos, fn.sin, fn.exp, fn.log, fn.norm):
        good(of_one, F).but("operand", f=[POSE, None, 2.0, "x"])
    good(fn.smooth_abs, F, free(0.1)).but("width", width=[0.0, -1.0, None, np.nan, "x"])
    turn = fn.Rotation(arm(), "tool")
    good(fn.rotated, free(turn), F).but("rotated", R=[TOOL, POSE])
    good(fn.inverse, free(turn)).but("inverse", f=[thing()])
    good(fn.stack, F, F).but("stack", functions1=[None, "x", print, {}])
    good(fn.wrapped, TOOL[0]).blamed(f="angles")
    call = good(fn.Polynomial, free([1.0, 2.0]), free([1.0, 0.0]), free(0.0), free(Rn(2)))
    call.but("coefficients", coefficients=[[], "abc", [np.nan, 1.0], None, [1j], {}, print])
    call.but(("matrix", "weights"), weights=["x", {}, [[1.0], [1.0, 2.0]], [np.nan], np.eye(2), print])
    call.but("vector", offset=[np.nan, "x", None, [1.0, 2.0]]).given("affine", weights=[1.0, 0.0, 0.0], inputs=SO3)


def of_geometry(good: Good) -> None:
    for turned in (fn.direction, fn.AngleAbout):
        call = good(turned, arm(), FRAME, free("z")).but(
            ("axis", "axes"), axis=["w", [1.0, 1.0, 0.0], [1.0], None, print]
        )
    good(fn.across, F, free("z")).but("vector", v=[TOOL[:2], POSE, None, "x", 1.0])
    call = good(fn.off_segment, F, free([0.0, 0.0, 0.0]), free([1.0, 0.0, 0.0]))
    call.but("segment", end=[[0.0, 0.0, 0.0], [1.0], TOOL[:2], "x"])
    wrong = [[[0, 0], [1, 0]], [[0, 0], [1, 0], [2, 0]], [[0, 0, 0]] * 3, "x", [[0, 0], [1, np.nan], [1, 1]]]
    good(fn.in_polygon, F, free([[0, 0], [1, 0], [0, 1]])).but("vertices", vertices=wrong)
    good(fn.gaze, F, free("z"), free(0.5)).but("half angle", half_angle=[0.0, -1.0, 4.0, None, np.nan, "x"])
    good(fn.in_view, F, free([0.5, 0.5])).but("half angle", half_angles=[[0.5], [0.5, 1.7], [0.0, 0.5], "x", None])
    wrong = [[[0.0]] * 3, "x", None, [0.0] * 5, [[0.0, np.nan]] * 5]
    points = [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0], [4.0, 0.0]]
    good(fn.curve, free(TOOL[0]), free(points)).but("points of a curve", points=wrong)


def of_measures(good: Good) -> None:
    for measure in (fn.Manipulability, fn.SmallestSingularValue):
        call = good(measure, TOOL, free(["elbow"]))
        call.but(
            ("locked", "nobody", "names", "rows"), locked=[["nobody"], "elbow", [3], None, list(arm().joint_names)]
        )
    good(fn.limit_distance, arm(), free(["elbow"])).but(
        ("joints", "nobody", "names"), joints=[["nobody"], "elbow", [3], []]
    )
    call = good(fn.squared_distance, free(arm().space), vector(7), free(np.ones(7))).blamed(q="constant")
    call.but("weights", weights=[[1.0], [-1.0] * 7, "x", [np.nan] * 7])
    for space in SPACES:
        call = good(fn.TangentBox, space, point(space, rows=True), vector(space.nv, 0.1, scalar=True))
        call.blamed(space="space of a box", center="center of a box", radius="radius of a box")
        call.but("radius of a box", radius=[-1e-3])
        rows, sides = np.stack([space.neutral] * 2), np.full((2, space.nv), 0.1)
        good(fn.TangentBox, free(space), rows, sides).blamed(center=("center", "box"), radius=("radius", "center"))
