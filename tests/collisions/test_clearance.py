"""Distances between solids as a function: closed forms, coal, differences, through contact, and kept by projections."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from robots import arm

from constraints import Base, Implicit, Part, Position, Problem, Projector, Robot, Workspace, rigid_transform
from constraints.collisions import Clearance, CollisionModel, PointCloud, Shape
from constraints.errors import NotSavableError, OptionError, UndefinedError, UnknownNameError, WrongObjectError
from constraints.point import place
from constraints.testing import check_function

coal: Any = import_module("coal")
BODY = "<robot name='one'><link name='body'/></robot>"
ONE = Robot.from_urdf(BODY, base=Base.FREE_FLYER)
TWO = Robot.system([Part("a", ONE), Part("b", ONE)])
SIZES: dict[str, Any] = {"Box": (0.3, 0.2, 0.4), "Sphere": (0.15,), "Capsule": (0.1, 0.3), "Cylinder": (0.1, 0.3)}
EXACT = ("Box", "Sphere", "Capsule")


def pair(a: str, b: str, **options: Any) -> Clearance:
    return Clearance(
        CollisionModel(TWO, [Shape("one", a, SIZES[a], "a/body"), Shape("two", b, SIZES[b], "b/body")], **options)
    )


def at(*numbers: float, rpy: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Body a at the origin, b there."""
    there = pin.SE3ToXYZQUAT(rigid_transform(numbers, rpy=rpy))
    return np.concatenate([pin.SE3ToXYZQUAT(pin.SE3.Identity()), there])


def of_arm(**options: Any) -> CollisionModel:
    """Solids on the arm and beside it."""
    shapes = [
        Shape("post", "Capsule", (0.05, 1.0), placement=rigid_transform([0.35, 0.25, 0.3], rpy=[0.2, 0.1, 0.0])),
        Shape("wall", "Box", (0.1, 2.0, 2.0), placement=rigid_transform([-0.55, 0.0, 0.0], rpy=[0.0, 0.3, 0.1])),
        Shape("ball", "Sphere", (0.06,), "tool"),
        Shape("fore", "Box", (0.1, 0.08, 0.3), "elbow"),
    ]
    return CollisionModel(arm(), shapes, **options)


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [-0.1, -1e-3, -1e-6, 0.0, 1e-12, 1e-6, 1e-3, 0.4])
def test_balls_and_boxes_are_as_far_apart_as_their_sides(gap: float) -> None:
    """Closed forms; at contact too the Jacobian is that of the two bodies along the line between them."""
    balls, boxes = pair("Sphere", "Sphere"), pair("Box", "Box")
    value, J = balls.linearise(at(0.3 + gap, 0.0, 0.0))
    assert value[0] == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(J, [[-1.0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0]], atol=1e-12)
    value, J = boxes.linearise(at(0.05, 0.03, 0.4 + gap))
    assert value[0] == pytest.approx(gap, abs=2e-9)
    np.testing.assert_allclose(
        J[0, [0, 1, 2, 6, 7, 8]], [0.0, 0.0, -1.0, 0.0, 0.0, 1.0], atol=1e-9 if abs(gap) > 1e-8 else 1e-5
    )


@draws(10, 200)
@pytest.mark.parametrize("a", SIZES)
@pytest.mark.parametrize("b", SIZES)
def test_distances_are_those_of_coal_asked_directly(a: str, b: str, count: int) -> None:
    f, rng = pair(a, b), np.random.default_rng(1)
    solids = [Shape("s", kind, SIZES[kind]).solid() for kind in (a, b)]
    for _ in range(count):
        q = TWO.random(rng)
        q[:3], q[7:10] = rng.uniform(-0.3, 0.3, (2, 3))
        places = [pin.XYZQUATToSE3(x) for x in (q[:7], q[7:])]
        frames = [coal.Transform3s(x.rotation, x.translation) for x in places]
        result = coal.DistanceResult()
        expected = coal.distance(solids[0], frames[0], solids[1], frames[1], coal.DistanceRequest(), result)
        value, J = f.linearise(q)
        assert value[0] == pytest.approx(expected, abs=5e-6)  # of coal's own tolerance
        n = np.array(result.normal)
        expected = np.concatenate([-places[0].rotation.T @ n, places[1].rotation.T @ n])
        limit = 1e-6 if {a, b} <= set(EXACT) else 2e-2
        np.testing.assert_allclose(J[0, [0, 1, 2, 6, 7, 8]], expected, atol=limit)


@draws(4, 60)
@pytest.mark.parametrize("model", [of_arm(), of_arm(margin=0.03)])
def test_what_is_free_is_clear(model: CollisionModel, count: int) -> None:
    """The sign is the verdict of the collision model; smallest and nearby rows are parts of all rows."""
    whole, least = Clearance(model), Clearance(model, smallest=True)
    near, rng = Clearance(model, influence=0.15), np.random.default_rng(2)
    for _ in range(count):
        q = model.robot.random(rng)
        value, J = whole.linearise(q)
        assert model.is_free(q) == (value.min() > 0.0)
        assert {(c.a, c.b) for c in model.collisions(q)} == {whole.rows[k] for k in np.flatnonzero(value <= 0.0)}
        one, row = least.linearise(q)
        np.testing.assert_array_equal(one, [value.min()])
        np.testing.assert_array_equal(row[0], J[value.argmin()])
        some, rows = near.linearise(q)
        np.testing.assert_array_equal(some, np.minimum(value, 0.15))
        np.testing.assert_array_equal(rows, np.where(value[:, None] < 0.15, J, 0.0))


def test_pairs_in_any_order_make_rows_in_that_of_the_model() -> None:
    """As a set too; each pair once, however often it is asked for; a smallest row names all."""
    model, q = of_arm(), arm().reference("home")
    pairs = {("ball", "post"), ("fore", "*"), ("post", "ball")}
    f = Clearance(model, pairs)
    assert f.rows == tuple(pair for pair in model.pairs if "fore" in pair or set(pair) == {"ball", "post"})
    whole = dict(zip(model.pairs, Clearance(model).value(q), strict=True))
    np.testing.assert_array_equal(f.value(q), [whole[pair] for pair in f.rows])
    least, one = Clearance(model, pairs, smallest=True), Clearance(model, [("ball", "post")])
    assert least.rows == f.rows
    assert [each.name for each in (f, least, one)] == [
        f"Clearance({len(f.rows)} pairs)", f"Clearance(smallest of {len(f.rows)} pairs)", "Clearance(post - ball)"
    ]  # fmt: skip
    assert model.without(*pairs).pairs == CollisionModel(arm(), sources(model), ignored=pairs).pairs


def sources(model: CollisionModel) -> list[Any]:
    return [solid.source for solid in model.contents.solids]


def test_margins_of_pairs_are_taken_off() -> None:
    plain, wide = Clearance(of_arm()), Clearance(of_arm(margin=0.02, margins={("post", "ball"): 0.05}))
    q = arm().reference("home")
    expected = np.where([set(row) == {"post", "ball"} for row in plain.rows], 0.05, 0.02)
    np.testing.assert_allclose(plain.value(q) - wide.value(q), expected, atol=1e-12)


def test_of_what_is_far_coal_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Balls around solids say so: beyond the influence, and where another row is smaller; not of an endless floor."""
    shapes = [Shape("one", "Box", (0.3, 0.2, 0.4), "a/body"), Shape("two", "Box", (0.3, 0.2, 0.4), "b/body")]
    shapes += [Shape(f"post {i}", "Box", (0.2,) * 3, placement=[3.0 * i, 5.0, 0, 0, 0, 0, 1]) for i in range(4)]
    floor, compute, asked = Shape("floor", "Box", (1e150, 1e150, 0.2)), pin.computeDistance, list[int]()

    def counted(geometry: Any, data: Any, pair: int) -> Any:
        asked.append(pair)
        return compute(geometry, data, pair)

    monkeypatch.setattr(pin, "computeDistance", counted)
    q = at(0.5, 0.0, 0.0)
    q[[2, 9]] = 1.0
    for model, count in ((CollisionModel(TWO, shapes), 1), (CollisionModel(TWO, [*shapes, floor]), 3)):
        for f in (Clearance(model, influence=0.3), Clearance(model, smallest=True)):
            asked.clear()
            value = f.value(q)
            assert (len(set(asked)), value.min()) == (count, pytest.approx(0.2, abs=1e-8))
        assert Clearance(model).value(q)[0] == pytest.approx(0.2, abs=1e-8)
    alone = Clearance(CollisionModel(TWO, shapes[:2]), influence=0.3)
    for x, count, clear in ((0.5, 1, 0.2), (1.5, 0, 0.3)):
        asked.clear()
        assert alone.value(at(x, 0.0, 0.0))[0] == pytest.approx(clear, abs=1e-8)
        assert len(asked) == count


def test_points_of_clouds_have_their_radius() -> None:
    cloud = PointCloud("cloud", np.array([[0.5, 0.0, 0.0], [0.6, 0.3, 0.1]]), 0.02, "a/body")
    two = Shape("two", "Sphere", (0.15,), "b/body")
    f, last = (Clearance(CollisionModel(TWO, solids)) for solids in ([cloud, two], [two, cloud]))
    other = PointCloud("other", np.array([[0.0, 0.0, 0.0], [-0.3, 0.2, 0.0]]), 0.05, "b/body")
    both = Clearance(CollisionModel(TWO, [cloud, other]))
    for x in (0.0, 0.2, 0.34):
        assert f.value(at(x, 0.0, 0.0))[0] == pytest.approx(0.5 - x - 0.15 - 0.02, abs=1e-6)
        assert last.value(at(x, 0.0, 0.0))[0] == pytest.approx(0.5 - x - 0.15 - 0.02, abs=1e-6)
        value, J = both.linearise(at(x, 0.0, 0.0))
        assert value[0] == pytest.approx(0.5 - x - 0.05 - 0.02, abs=1e-6)
        np.testing.assert_allclose(J[0, [0, 6]], [1.0, -1.0], atol=1e-4)


def test_meshes_are_their_convex_hulls(tmp_path: Path) -> None:
    """A cube as a mesh without its lid, beside a cube and beside itself: as far as cubes, through contact."""
    corners = [f"v {x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    sides = ["1 3 4", "1 4 2", "5 6 8", "5 8 7", "1 2 6", "1 6 5", "3 7 8", "3 8 4", "1 5 7", "1 7 3"]
    mesh = tmp_path / "open.obj"
    mesh.write_text("\n".join((*corners, *(f"f {side}" for side in sides))) + "\n")
    urdf = BODY.replace("/>", f"><collision><geometry><mesh filename='{mesh}'/></geometry></collision></link>", 1)
    robot = Robot.from_urdf(urdf, base=Base.FREE_FLYER)
    both = Robot.system([Part("a", robot), Part("b", robot)])
    cube = Shape("cube", "Box", (0.2, 0.2, 0.2), "b/body")
    for f in (
        Clearance(CollisionModel(both, [cube], {"a": urdf})),
        Clearance(CollisionModel(both, urdfs={"a": urdf, "b": urdf})),
    ):
        for x in (0.5, 0.2001, 0.2, 0.1999, 0.15, 0.11):
            value, J = f.linearise(at(x, 0.03, 0.02))
            assert value[0] == pytest.approx(x - 0.2, abs=1e-8)  # vertices are read as 32 bits
            np.testing.assert_allclose(J[0, :3], [-1.0, 0.0, 0.0], atol=1e-5)


# --- the laws, at bad places too -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        Clearance(of_arm()),
        Clearance(of_arm(), smallest=True),
        Clearance(of_arm(), [("fore", "*"), ("ball", "post")], influence=0.2),
        *(pair(a, b) for a in EXACT for b in EXACT if a <= b),
    ],
    ids=str,
)
def test_laws(f: Clearance) -> None:
    check_function(f, samples=3)


@pytest.mark.parametrize("b", SIZES)
@pytest.mark.parametrize("a", SIZES)
def test_the_jacobian_is_finite_and_goes_on_through_contact(a: str, b: str) -> None:
    """On a line from apart into each other: everywhere a unit normal, and no jump where they touch."""
    f, q = pair(a, b), at(0.0, 0.0, 0.0)
    rpy = [0.3, 0.5, 0.2]

    def along(x: float) -> np.ndarray:
        return at(x, 0.03, 0.02, rpy=rpy)

    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if f.value(along(middle))[0] > 0.0 else (middle, high)
    before = None
    for off in (1e-3, 1e-6, 1e-8, 1e-10, 0.0, -1e-10, -1e-8, -1e-6, -1e-3):
        q = along(high + off)
        value, J = f.linearise(q)
        assert np.isfinite(J).all()
        assert np.linalg.norm(J[0, :3]) == pytest.approx(1.0, abs=1e-9)
        assert abs(value[0] - off * J[0, 6:9] @ pin.XYZQUATToSE3(q[7:]).rotation.T[:, 0]) < 1e-3 * abs(off) + 3e-7
        if before is not None:
            np.testing.assert_allclose(J, before, atol=1e-2)
        before = J


def test_two_balls_with_one_centre_have_a_value() -> None:
    value, J = pair("Sphere", "Sphere").linearise(at(0.0, 0.0, 0.0))
    assert value[0] == pytest.approx(-0.3)
    assert np.linalg.norm(J[0, :3]) == pytest.approx(1.0)


def test_the_same_in_copies_threads_and_whatever_was_asked_before() -> None:
    f, rng, robot = Clearance(of_arm()), np.random.default_rng(3), arm()
    Q = [robot.random(rng) for _ in range(40)]
    expected = [f.linearise(q) for q in Q]
    workspace, value, J = Workspace(), np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, robot.nv))
    for k in rng.permutation(len(Q)):
        f.evaluate(place(f.inputs, Q[k], workspace), value, J)
        np.testing.assert_array_equal(value, expected[k].value)
        np.testing.assert_array_equal(J, expected[k].jacobian)
    with ThreadPoolExecutor(4) as threads:
        for found, once in zip(threads.map(f.linearise, Q), expected, strict=True):
            np.testing.assert_array_equal(found.jacobian, once.jacobian)
    for again in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        np.testing.assert_array_equal(again.value(Q[0]), expected[0].value)


# --- kept ------------------------------------------------------------------------------------------------------------


@draws(5, 200)
@pytest.mark.parametrize("options", [{}, {"influence": 0.2}, {"smallest": True}])
def test_projections_keep_clear(options: dict[str, Any], count: int) -> None:
    """The tool at a point beside the post, 5 cm between all solids: judged by a collision model."""
    model, judge = of_arm(), of_arm(margin=0.0495)
    reach = Implicit.equal(Position(arm(), "tool"), [0.35, -0.1, 0.45])
    projector = Projector(Problem(arm(), [reach, Implicit.above(Clearance(model, **options), 0.05)]))
    rng, solved = np.random.default_rng(7), 0
    for _ in range(count):
        result = projector.project(arm().random(rng))
        if result.success:
            solved += 1
            assert judge.is_free(result.q)
    assert solved >= 0.95 * count


def test_contact_is_an_equality() -> None:
    """A ball onto a tilted box: its surface, not beside it."""
    f = pair("Box", "Sphere")
    projector = Projector(Problem(TWO, [Implicit.zero(f)]))
    rng = np.random.default_rng(8)
    for _ in range(20):
        q = TWO.random(rng)
        q[:3], q[7:10] = rng.uniform(-0.5, 0.5, (2, 3))
        result = projector.project(q).or_raise()
        a, b = (pin.XYZQUATToSE3(x) for x in (result.q[:7], result.q[7:]))
        p = np.abs((a.inverse() * b).translation) - [0.15, 0.1, 0.2]
        assert np.linalg.norm(np.maximum(p, 0.0)) + min(0.0, p.max()) == pytest.approx(0.15, abs=1e-3)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (("x",), {}, WrongObjectError, "model of a clearance"),
        ((of_arm(), [("post", "nothing")]), {}, UnknownNameError, "nothing"),
        ((of_arm(), [("post", "wall")]), {}, OptionError, "'post' and 'wall' of a clearance"),
        ((of_arm(), []), {}, OptionError, "one at least"),
        ((of_arm(),), {"influence": 0.0}, OptionError, "influence"),
        ((of_arm(),), {"influence": "x"}, OptionError, "influence"),
        ((of_arm(),), {"smallest": 1}, WrongObjectError, "smallest"),
        ((of_arm(), "post"), {}, WrongObjectError, "pair"),
    ],
)
def test_what_does_not_fit_is_named(arguments: Any, options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Clearance(*arguments, **options)


def test_files_do_not_hold_solids(tmp_path: Any) -> None:
    with pytest.raises(NotSavableError, match=r"none of constraints\.functions"):
        Problem(arm(), [Implicit.above(Clearance(of_arm()))]).save(tmp_path / "problem.json")


def test_where_coal_finds_nothing_there_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constraints.collisions.clearance._Asking.ask", lambda *_: None)
    with pytest.raises(UndefinedError, match="coal finds no nearest points of 'post' and 'ball'"):
        Clearance(of_arm(), [("post", "ball")]).value(arm().reference("home"))
