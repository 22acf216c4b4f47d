"""Leaves, states and objects of constraint graphs where something is unusual. Truth from plain pinocchio."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm

from constraints import Base, Implicit, Options, Part, Position, Projector, Robot, Rotation, Surface, manipulation
from constraints.errors import (
    DuplicateError,
    FileError,
    GraphError,
    ModelError,
    NotFiniteError,
    OptionError,
    WrongObjectError,
)
from constraints.planning import walk

BOX = "<robot name='box'><link name='body'/></robot>"
BOTTOM = 0.03 * np.array([[-1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [1.0, -1.0, -1.0]])
TOP = BOTTOM[::-1] * [1.0, 1.0, -1.0]
TABLE = [[0.2, -0.4, 0.05], [0.8, -0.4, 0.05], [0.8, 0.4, 0.05], [0.2, 0.4, 0.05]]
FROM_ABOVE = [0.0, 0.0, 0.0, 0.0, 0.5**0.5, 0.0, 0.5**0.5]
FREE, HELD, TAKE = "free", "hand grasps box0/h", "hand > box0/h | f"
RNG = np.random.default_rng


def scene(boxes: int = 1) -> Robot:
    """An arm and some boxes on free joints."""
    box = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    box = box.with_bounds({"root_joint": ([-0.8, -0.8, -0.2], [0.8, 0.8, 1.2])})
    return Robot.system([Part("arm", arm()), *(Part(f"box{i}", box) for i in range(boxes))])


def factory(boxes: int = 1, floors: Any = (), grippers: Any = (), **masks: Any) -> manipulation.ConstraintGraphFactory:
    robot = scene(boxes)
    objects: list[manipulation.MovableObject] = []
    for i in range(boxes):
        name, body = f"box{i}", robot.frame(f"box{i}/body")
        handle = manipulation.Handle(f"{name}/h", robot.frame(f"{name}/body", FROM_ABOVE), 0.03, **masks)
        objects.append(manipulation.MovableObject(name, [handle], [Surface(f"{name}/bottom", body, BOTTOM)]))
    table = Surface("table", robot.frame("universe"), TABLE)
    hands = [manipulation.Gripper("hand", robot.frame("arm/tool")), *(g(robot) for g in grippers)]
    return manipulation.ConstraintGraphFactory(robot, hands, objects, [table, *(f(robot) for f in floors)])


def poses(graph: manipulation.ConstraintGraph, q: np.ndarray, *joints: str) -> list[pin.SE3]:
    model: Any = graph.robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return [data.oMi[model.getJointId(joint)].copy() for joint in joints]


def test_a_constraint_of_the_graph_keeps_its_own_right_hand_side() -> None:
    """Implicit.equal on the whole graph is the same for all configurations: targets do not drift away with starts.

    Each start is off by nearly the threshold. Truth: the tilt of the box, by pinocchio.
    """
    made = factory().generate()
    everything = ([*made.states, *made.waypoint_states], made.transitions, made.foliations)

    def graph(tilt: float, threshold: float) -> manipulation.ConstraintGraph:
        turn = pin.Quaternion(pin.exp3(np.array([tilt, 0.0, 0.0]))).coeffs()
        level = Implicit.equal(Rotation(made.robot, "box0/body"), turn, mask=[True, True, False], name="level")
        options = Options(threshold=threshold)
        return manipulation.ConstraintGraph(made.robot, *everything, constraints=[level], options=options)

    whole, rng, found = graph(0.0, 1e-4), RNG(0), 0
    for _ in range(10):
        start = graph(8e-5, 1e-9).sample(HELD, rng)
        if not start.success or not whole.contains(HELD, start.q):
            continue
        problem, rhs = whole.path_problem("Loop | 0-0", start.q)
        np.testing.assert_array_equal(rhs.of("level"), problem.rhs.of("level"))
        target = whole.target("Loop | 0-0", start.q, whole.robot.random(rng))
        if target.success:
            found += 1
            (box,) = poses(whole, target.q, "box0/root_joint")
            assert np.linalg.norm(pin.log3(box.rotation)[:2]) <= 1e-4
            assert whole.contains(HELD, target.q)
    assert found >= 3


@pytest.mark.parametrize(
    ("mask", "complement"),
    [("111000", "000100"), ("110011", "001000"), ("000111", "100000"), ("111011", "000100"), ("111000", "000111")],
)
def test_a_leaf_contains_its_start_whatever_a_handle_keeps(mask: str, complement: str) -> None:
    """Rows of a handle in neither of its masks may have any value: on the leaf of a configuration that one is."""
    rows = {what: [letter == "1" for letter in word] for what, word in (("mask", mask), ("complement", complement))}
    graph, rng = factory(1, **rows).generate(), RNG(2)
    for transition in (graph.transition("Loop | 0-0"), *graph.inner_transitions):
        for projection in graph.samples(transition.source, rng, 3):
            if projection.success:
                problem, rhs = graph.path_problem(transition, projection.q)
                assert problem.residual(projection.q, rhs) <= 1e-4


def test_a_leaf_is_said_by_the_rows_that_count() -> None:
    """A handle that keeps x alone: other y and z are the same leaf, and level-set targets end on it."""
    kept = {"mask": [False] * 3 + [True] * 3, "complement": [True] + [False] * 5}
    graph, rng, found = factory(1, **kept).generate(), RNG(1), 0

    def x(q: np.ndarray) -> float:
        box, hand = poses(graph, q, "box0/root_joint", graph.robot.frame("arm/tool").joint_name)
        tool = hand * graph.robot.frame("arm/tool").placement
        return float(tool.actInv(box).translation[0])

    for _ in range(8):
        start, leaf = (graph.sample(state, rng).or_raise().q for state in (FREE, HELD))
        target = graph.target(f"{TAKE}_ls", start, graph.robot.random(rng), leaf=leaf)
        assert target.on_leaf == target.success
        if target.success:
            found += 1
            assert x(target.q) == pytest.approx(x(leaf), abs=1e-4)
            assert graph.same_leaf(target.q, leaf)
        assert graph.same_leaf(leaf, graph.sample(HELD, rng).or_raise().q) is False
    assert found >= 3


def test_a_transition_through_waypoints_has_no_leaf_of_its_own() -> None:
    """It was said to have the only leaf, so that any two configurations were on the same one."""
    graph = factory().generate()
    q, other = (graph.sample(FREE, RNG(i)).or_raise().q for i in (0, 1))
    assert not graph.same_leaf(q, other, f"{TAKE}_01")
    pairs = [("box0/root_joint", "universe")]
    for ask in (
        lambda: graph.leaf_of(q, TAKE), lambda: graph.same_leaf(q, other, TAKE), lambda: graph.relative_motion(TAKE),
        lambda: graph.collision_pairs(graph.transition(TAKE), pairs),
    ):  # fmt: skip
        with pytest.raises(GraphError, match=rf"leads through waypoints.* give a part: '{TAKE[:4]}.*_01'"):
            ask()
    assert graph.collision_pairs(f"{TAKE}_01", pairs) == ()


def test_a_tolerance_of_leaves_is_a_number() -> None:
    graph = factory().generate()
    q = graph.sample(FREE, RNG(0)).or_raise().q
    for bad, error in ((np.nan, NotFiniteError), (-1.0, OptionError)):
        with pytest.raises(error, match="tolerance of leaves"):
            graph.same_leaf(q, q, tolerance=bad)


def test_parts_of_a_graph_are_given_once_and_all_of_them_count() -> None:
    """What was counted twice, read as true, or passed over."""
    graph = factory().generate()
    states, place = [*graph.states, *graph.waypoint_states], graph.foliations[0]
    for parts, name in (
        (([*states, states[0]], graph.transitions, graph.foliations), f"states of a constraint graph: '{HELD}'"),
        ((states, [*graph.transitions] * 2, graph.foliations), "transitions of a constraint graph: 'Loop | f'"),
        ((states, graph.transitions, [place, place]), "foliations of a constraint graph: 'place_box0'"),
    ):
        with pytest.raises(DuplicateError, match=rf"{name} is given twice".replace("|", r"\|")):
            manipulation.ConstraintGraph(graph.robot, *parts)
    state, take, no = graph.states[0], graph.transition(TAKE), "no"
    with pytest.raises(WrongObjectError, match="waypoint of state 'a'"):
        manipulation.State("a", waypoint=no)  # type: ignore[arg-type]
    with pytest.raises(WrongObjectError, match="short of transition 'a'"):
        manipulation.Transition("a", state, state, state, short=no)  # type: ignore[arg-type]
    owner, ends = place.complement, (take.source, take.target, take.containing)
    assert owner is not None
    extras: tuple[dict[str, Any], ...] = (
        {"constraints": [owner]},
        {"condition": []},
        {"condition": [], "parameters": [owner]},
    )
    for extra in extras:
        with pytest.raises(GraphError, match="must be those of its inner transitions"):
            manipulation.Transition("a", *ends, inner=take.inner, **extra)
    with pytest.raises(WrongObjectError, match=r"rng: expected a numpy.random.Generator.*default_rng"):
        graph.choose(FREE, 3)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="count of a validation: expected a whole number from 1, got 0"):
        graph.validate(RNG(0), 0)


def test_constraints_of_one_name_are_told_apart() -> None:
    """The error of the second stood for both."""
    robot = scene()
    at = Position(robot, "arm/tool", robot.frame("universe", [0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]))
    box = Position(robot, "box0/body", robot.frame("universe", [0.4, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]))
    state = manipulation.State("both", [Implicit.zero(f, name="there") for f in (at, box)])
    graph = manipulation.ConstraintGraph(robot, [state], [manipulation.Transition("stay", state, state, state)])
    q = graph.sample(state, RNG(0)).or_raise().q.copy()
    q[0] += 0.3
    errors = graph.errors(q).states["both"]
    assert errors["there (constraint 0)"] == pytest.approx(np.linalg.norm(at.value(q)), rel=1e-12)
    assert errors["there (constraint 1)"] <= 1e-4
    assert "'there (constraint 0)' off by" in str(graph.errors(q))
    with pytest.raises(GraphError, match=r"the nearest is 'both': 'there' \(constraint 0\) is off by"):
        graph.state_of(q)


def test_an_object_is_on_a_joint() -> None:
    """A handle in the world locked the last joint of the robot."""
    rail = manipulation.Handle("rail/h", scene().frame("universe", [0.5, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]))
    with pytest.raises(GraphError, match="object 'rail': 'rail/h' is fixed in the world"):
        manipulation.MovableObject("rail", [rail])


def test_nothing_holds_itself_or_stands_on_itself() -> None:
    """A box with a gripper of its own, and boxes that may stand on each other: such graphs were refused."""
    made = factory(2, grippers=[lambda robot: manipulation.Gripper("claw", robot.frame("box0/body"))])
    graph = made.generate()
    with pytest.raises(GraphError, match="gripper 'claw' and handle 'box0/h' are on one joint, 'box0/root_joint'"):
        manipulation.grasp(graph.robot, made.grippers[1], made.objects[0].handles[0])
    names = {state.name for state in graph.states}
    assert "claw grasps box1/h" in names
    assert "hand grasps box0/h : claw grasps box1/h" in names
    assert not any("claw grasps box0/h" in name for name in names)

    tops = [lambda robot, i=i: Surface(f"top{i}", robot.frame(f"box{i}/body"), TOP) for i in range(2)]
    graph, rng = factory(2, floors=tops).generate(), RNG(3)
    joints = ("box0/root_joint", "box1/root_joint")
    q = graph.robot.random(rng)
    q[7:14], q[14:21] = [0.5, 0.0, 0.0801, 0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.1402, 0.0, 0.0, np.sin(0.3), np.cos(0.3)]
    assert graph.state_of(q).name == FREE
    assert "place_box1 (box1/bottom on top0)" in str(graph.leaf_of(q))
    target = graph.target("hand > box0/h | f", q, graph.robot.random(rng)).or_raise()
    before, after = (poses(graph, at, *joints) for at in (q, target.q))
    assert np.linalg.norm(pin.log6(before[0].actInv(after[0])).vector) > 1e-3
    relative = [a.actInv(b) for a, b in (before, after)]
    np.testing.assert_allclose(relative[1].homogeneous, relative[0].homogeneous, atol=1e-9)
    robot = scene()
    top = Surface("top", robot.frame("box0/body"), TOP)
    thing = manipulation.MovableObject("box0", [manipulation.Handle("h", robot.frame("box0/body"))], [top])
    with pytest.raises(GraphError, match="no floors to put it on"):
        manipulation.ConstraintGraphFactory(
            robot, [manipulation.Gripper("hand", robot.frame("arm/tool"))], [thing], [top]
        )


def test_a_leaf_satisfies_the_condition_of_its_transition() -> None:
    """A leaf of another manifold was taken as it was; where none satisfies the condition targets were found all the
    same."""
    graph, rng = factory(1, mask=[True] * 3 + [False] + [True] * 2).generate(), RNG(0)
    give = graph.transition(f"{TAKE.replace('>', '<')[:-1]}0-0_ls")
    start, lying = (graph.sample(state, rng).or_raise().q for state in (HELD, FREE))
    guess = graph.robot.random(rng)
    with pytest.raises(GraphError, match=f"the leaf of '{give}' must satisfy its condition: 'place_box0' is off by "):
        graph.target(give, start, guess, leaf=start)
    assert graph.target(give, start, guess, leaf=lying).projections

    at = graph.robot.frame("universe", [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    for x, found in ((0.0, 3), (5.0, 0)):
        here = Implicit.equal(Position(graph.robot, "box0/body", at), [x, 0, 0], mask=[True, False, False], name="here")
        first = replace(give.inner[0], condition=[*(give.inner[0].condition or ()), here])
        put = replace(give, inner=[first, *give.inner[1:]])
        states = [*graph.states, *graph.waypoint_states]
        chosen = manipulation.ConstraintGraph(graph.robot, states, [put], graph.foliations, attempts=3)
        pairs = [(graph.sample(HELD, rng).or_raise().q, graph.robot.random(rng)) for _ in range(6)]
        targets = [chosen.target(put, *pair) for pair in pairs]
        batch = chosen.targets(put, *np.array(pairs).swapaxes(0, 1))
        assert [t.q.tobytes() for t in targets] == [t.q.tobytes() for t in batch]
        for target in targets:
            if target.success:
                assert poses(graph, target.q, "box0/root_joint")[0].translation[0] == pytest.approx(0.5 + x, abs=2e-4)
        assert sum(target.success for target in targets) >= found
        if not found:
            assert not any(target.success for target in targets)
            assert {(t.attempts, len(t.projections), t.on_leaf, t.failed_at) for t in targets} == {(3, 1, False, first)}
            assert "'here': error" in targets[0].describe()


def test_a_walk_begins_and_ends_where_paths_do() -> None:
    """Within half the threshold and within bounds: elsewhere all its targets were tried, in vain."""
    graph, rng = factory().generate(), RNG(4)
    start = graph.sample(FREE, rng).or_raise().q
    off = [start.copy(), start.copy()]
    off[0][9] -= 0.9999e-4  # as if there were no margin
    off[1][0] = 3.5
    where = r"'place_box0' is off by \S+, the margin: it stands 0.0001 above its floor"
    said = rf"off 'free' by \S+, but paths keep to 5e-05: project it .*{where}", "out of bounds: 'arm/shoulder_yaw'"
    for q, words in zip(off, said, strict=True):
        assert graph.state_of(q).name == FREE
        with pytest.raises(GraphError, match=f"the start of a walk is {words}"):
            walk(graph, q, ["Loop | f"], rng=rng)
        with pytest.raises(GraphError, match=f"the goal of a walk is {words}"):
            walk(graph, start, ["Loop | f"], rng=rng, goal=q)
    near = Projector(graph.problem_of(FREE), graph.path_options).project(off[0]).or_raise().q
    assert walk(graph, near, ["Loop | f"], rng=rng).success


def test_names_and_frames_of_a_factory_are_looked_at() -> None:
    """A frame of another robot was an index out of range; a name in place of names was read letter by letter."""
    made = factory()
    other = manipulation.MovableObject("box1", [manipulation.Handle("box1/h", scene(2).frame("box1/body"))])
    with pytest.raises(ModelError, match=r"'box1/body' .* is not a frame of"):
        manipulation.ConstraintGraphFactory(made.robot, made.grippers, [other])
    tag = "<{0} name='{1}'><position/><link name='{2}'/></{0}>"
    parts = tag.format("gripper", "hand", "arm/tool") + tag.format("handle", "h", "box0/body")
    read = manipulation.read_semantics(made.robot, f"<robot name='scene'>{parts}</robot>")
    names: dict[str, Any] = {"grippers": ["hand"], "objects": {"box0": (["h"], [])}, "floors": []}
    assert len(manipulation.ConstraintGraphFactory.from_semantics(made.robot, read, **names).generate().states) == 2
    for what, bad in (("grippers", "hand"), ("objects", ["box0"]), ("floors", "table")):
        with pytest.raises(WrongObjectError, match=f"{what} of a graph factory: expected a "):
            manipulation.ConstraintGraphFactory.from_semantics(made.robot, read, **{**names, what: bad})


def test_a_shape_of_a_contact_has_three_vertices() -> None:
    """A shape without any was an error of an array."""
    contact = "<contact name='c'><link name='box0/body'/><point>0 0 0 1 0 0 0 1 0</point><shape>{}</shape></contact>"
    for shape, count in (("0", 0), ("2 0 1", 2), ("3 0 1 2 0", 0)):
        with pytest.raises(FileError, match=f"contact 'c': expected shapes of at least 3 vertices, found {count}"):
            manipulation.read_semantics(scene(), f"<robot name='scene'>{contact.format(shape)}</robot>")
