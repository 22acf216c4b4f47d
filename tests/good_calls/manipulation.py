"""Graphs of constraints, grasps, placements; paths and what they go along; walks; collisions."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import partial

import numpy as np
from bad_values import Good, at_least_zero, free, key, number, placement, point, positive, thing, typo, vector
from explicit_samples import arm_and_box
from robots import arm

import constraints as lc
from constraints import manipulation as mp
from constraints.planning import walk

from .files import loaded
from .things import BOX, HOME, PROBLEM, REACH, TABLE, arm_path, graph, path

LOOP, TAKE = "Loop | f", "hand > box/handle | f"


def of_graphs(good: Good) -> None:
    frame, rng, where = arm_and_box().frame("box/root_joint"), np.random.default_rng(0), point(arm_and_box().space)
    good(mp.Gripper, free("claw"), frame, at_least_zero()).blamed(frame="'claw'", clearance="'claw'")
    masks = [[1, 1, 1, 1, 0, 0], [1] * 5, [2] * 6, "111111", [True] * 7, [0.5] * 6, 3]
    good(mp.Handle, free("knob"), frame).blamed(frame="'knob'").but("'knob'", mask=masks)
    gripper, handle = mp.Gripper("claw", arm_and_box().frame("arm/tool")), mp.Handle("knob", frame)
    good(mp.grasp, arm_and_box(), gripper, handle)
    good(mp.State, free("there"), free([])).but(("'there'", "hand"), constraints=[[*PROBLEM.constraints]])
    states, transitions = typo("free"), typo(LOOP, TAKE)
    good(graph().state, states).blamed(which="state")
    good(graph().transition, transitions).blamed(which="transition")
    good(graph().sample, states, rng).blamed(state=("state", "transition"))
    for of_point in (graph().state_of, graph().leaf_of, graph().errors):
        good(of_point, where).blamed(q=("q", "configuration"))
    good(graph().target, transitions, where, where)
    good(mp.Rule, free([".*"]), free([".*"])).but("of a rule", grippers=[["["], ["("], ["*"], [3], [None]])
    good(mp.ConstraintGraphFactory, arm_and_box(), [gripper], free([])).blamed(grippers="of a graph factory")
    box = lc.Surface("lid", frame, [[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    floor = lc.Surface("table", arm_and_box().frame("universe"), TABLE.points)
    call = good(mp.placement, arm_and_box(), free("place"), free(box), free(floor))
    wrong = [[], "table", None, [frame]]
    call.but("objects of", objects=wrong).but("floors of", floors=wrong)
    good(mp.SecurityMargins, number(0.1)).blamed(default="margin")
    good(graph().plot, free(None), free(None)).but("ax", ax=[3, "axes", BOX])
    good(mp.plot_path, arm_path()).blamed(motion="path to be drawn")


def of_walks(good: Good) -> None:
    space, names, rng = arm_and_box().space, free([LOOP]), np.random.default_rng(0)
    none, where = thing("None"), point(space)
    call = good(walk, graph(), where, names, rng=rng, goal=where, collisions=none, limits=none)
    call.blamed(**{name: f"{name} of a walk" for name in ("graph", "rng", "collisions", "limits")})
    wrong = [LOOP, 3, None, [], [3], [None], b"x", print, key(LOOP, TAKE).within(lambda x: [x])]
    call.but("transition", transitions=wrong).but("guess of a walk", guess=[thing("None Callable")])
    call.but("must follow", transitions=[[TAKE, TAKE]])
    wrong = point(space).within(lambda q: lambda *_: q)
    good(walk, free(graph()), free(space.neutral), names, rng=free(rng)).but("guess", guess=[wrong])


def of_interpolation(good: Good) -> None:
    q, rhs, limits = vector(7, HOME), REACH.rhs_from(HOME), {"max_angle": positive(0.1), "max_length": positive(0.1)}
    call = good(mp.interpolate, REACH, q, q, free(rhs), options=lc.Options(), **limits)
    call.blamed(problem="problem of an interpolation")
    wrong = [thing("None Callable Space dict Mapping ndarray"), vector(3), {"hand": [0.0, 0.0, 0.0]}, PROBLEM.rhs]
    wrong += [(rhs,), (rhs, rhs, rhs), (rhs, "x"), (np.zeros(4), rhs), ([np.nan] * 3, rhs)]
    returned = [thing("ndarray"), *map(free, (np.zeros(2), [np.nan] * 3, PROBLEM.rhs))]
    call.but("right-hand side", rhs=wrong).but(
        "right-hand side", rhs=[x.within(lambda x: lambda s: x) for x in returned]
    )


def of_paths(good: Good) -> None:
    whole, piece = path(), path().pieces[0]
    call = good(mp.Path, free([piece]), free((1.0,))).but("path", pieces=[(), [], None, 3, piece, "pieces"])
    call.but("piece of a path", pieces=[thing().within(lambda x: [piece, x])])
    call.but("durations", durations=[(0.0,), (-1.0,), (1.0, 1.0), ("x",), (np.nan,), 3, "1", (None,), ([1.0],)])
    good(whole, number(0.5)).blamed(time="time on a path")
    good(whole.lasting, positive(2.0))
    good(operator.add, free(whole), whole.reversed()).blamed(b="path to be added").but("piece 1", b=[whole, arm_path()])
    changed = partial(replace, piece)
    good(changed, problem=piece.problem, sides=piece.sides, options=piece.options)
    call = good(changed, samples=free(np.zeros((4, 2))), times=free(np.linspace(0.0, 1.0, 4)))
    few = [[], [[0.0, 0.0]], None, 3, "samples", np.zeros((2, 3)), np.zeros((3, 2, 1)), [0.0, 1.0]]
    call.but("sample", samples=few).but("sample 3", samples=[vector(2).within(lambda x: [[0.0, 0.0]] * 3 + [x])])
    wrong = [
        [0.0, 0.5, 0.5, 1.0],
        [0.0, 0.7, 0.3, 1.0],
        [0.1, 0.2, 0.3, 1.0],
        [0.0, 0.2, 0.3, 0.9],
        [1.0, 0.7, 0.2, 0.0],
    ]
    call.but("times", times=[vector(4), *wrong])
    rhs = PROBLEM.rhs
    good(changed, sides=free(piece.sides)).but("right-hand side", sides=[mp.MovingRightHandSide(rhs)])
    call = good(mp.MovingRightHandSide, free(rhs), free(None), free(None))
    for name in ("first", "last", "function"):
        call.but(name, **{name: [thing("None Callable Space")]})
    windows = [None, 3, "ab", (0.0,), (0.0, np.nan), (0.0, 1.0, 2.0), ("a", "b"), (None, 1.0)]
    call.but("window", window=windows).but("neither", first=[None]).but("end of a path", last=[REACH.rhs])
    call.given("both", function=lambda s: rhs).given("only the last", first=None, last=rhs)


BALL = """<robot name='a'><link name='body'>
  <collision><geometry><sphere radius='0.1'/></geometry></collision></link></robot>"""


def of_collisions(good: Good) -> None:
    shapes = [mp.Shape("ball", "Sphere", (0.1,), "tool"), mp.Shape("table", "Box", (1.0, 1.0, 0.01))]
    model = mp.CollisionModel(arm(), shapes)
    call = good(mp.CollisionModel, arm(), free(shapes), margin=number(0.01)).blamed(robot="robot of a collision model")
    call.but("srdf", srdf=[3, None, "no", [True], 1.0]).but("shape", shapes=[3, None, [3], "ball", [None], print])
    urdfs = [3, ["a"], {"": 3}, {3: "a.urdf"}, "/nowhere.urdf", {"arm": "/nowhere.urdf"}, b"x", {"a": None}, ""]
    call.but(("urdf", "URDF", "nowhere", "a.urdf"), urdfs=urdfs)
    call.but("packages", packages=[3, [3], None, [None], b"x", print])
    call.but(("pair", "shape"), ignored=[3, [3], ["ball"], [("ball",)], [("ball", "tabel")], None])
    good(model.always_colliding, samples=9, seed=0)
    good(model.random_free, np.random.default_rng(0), size=2, tries=9).but("tries", tries=[0])
    changes = [("'body'", "'bdy'"), ("'0.1'", "'x'"), ("'0.1'", "'-0.1'"), ("'0.1'", "'0'"), ("sphere", "ball")]
    changes += [("<sphere radius='0.1'/>", "<mesh filename='nowhere.stl'/>")]
    texts = ["<robot", "<sdf/>", "", "<robot name='a'><link name='b'/></robot>"]
    texts += [BALL.replace(*change) for change in changes]
    call = good(partial(loaded, lambda path: mp.CollisionModel(BOX, urdfs=path)), free(BALL.encode()))
    call.but(("broken", "bdy"), text=[text.encode() for text in texts])
    call = good(mp.Shape, free("lump"), free("Sphere"), free(0.1), free("universe"), placement())
    call.blamed(placement="'lump'").but(
        "'lump'", size=[(0.1, 0.2), (-0.1,), (np.nan,), "x", None, {}, (0.0,), [[0.1], [0.1, 0.2]], 1j]
    )

    def model_of(shape):
        return mp.CollisionModel(arm(), [mp.Shape(*shape)])

    wrong = [("", "Sphere", (0.1,), 3), ("a", "Ball", (0.1,)), ("a", ["Sphere"], 1.0), (3, "Sphere", (0.1,))]
    good(model_of, free(("a", "Sphere", (0.1,)))).but(("shape", "frame", "a name"), shape=wrong)
    call = good(model.first_collision, arm_path(), positive(0.1)).blamed(path="path of a collision check")
    call.but(("path", "space"), path=[path()])
    for of_point in (model.is_free, model.collisions):
        good(of_point, vector(7)).blamed(q=("q", "configuration"))
    pairs = [
        ("ball",),
        "ball",
        3,
        key("ball").within(lambda x: (x, "table")),
        key("table").within(lambda x: ("ball", x)),
    ]
    good(model.without, free(("ball", "table"))).but(("shape", "pair"), pairs0=pairs)
    wrong = [3, "x", [("ball", "table")], {"ball": 0.1}, {("ball", "table"): "x"}, {("ball", "table"): np.nan}]
    good(model.with_margins, free({})).but(("margin", "pair of shapes"), margins=wrong)
