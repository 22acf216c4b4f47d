"""Shapes that are held, appear, vanish and move: as a model that is built anew, and as coal used directly."""

from __future__ import annotations

import pickle
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from collisions.test_along import PANDA, pose
from robots import panda

from constraints import errors
from constraints.collisions import CollisionModel, Shape, checking, solids
from constraints.collisions.pairs import LeftOutReason
from constraints.models import sample_arm

coal: Any = import_module("coal")
FINGERS = ("panda_leftfinger", "panda_rightfinger")
GRASP = [0.0, 0.0, 0.1034, 0.0, 0.0, 0.0, 1.0]
GLASS, TABLE = Shape("glass", "Cylinder", (0.03, 0.12)), Shape("table", "Box", (1.0, 1.0, 0.02))


def arm(*more: Shape, **options: Any) -> CollisionModel:
    """An arm of balls and a capsule beside a post."""
    shapes = [
        Shape("hand", "Sphere", (0.06,), "tool"),
        Shape("forearm", "Capsule", (0.05, 0.2), "forearm_roll"),
        Shape("post", "Cylinder", (0.05, 0.8), placement=pose(0.4, 0.2, 0.4)),
    ]
    return CollisionModel(sample_arm(), [*shapes, *more], **options)


@cache
def panda_at_a_table() -> CollisionModel:
    return CollisionModel(panda(), [Shape("table", "Box", (1.0, 1.0, 0.02), placement=pose(0.4, 0.0, 0.25))], PANDA)


def rows(model: CollisionModel, count: int = 300) -> np.ndarray:
    rng = np.random.default_rng(4)
    return np.array([model.robot.random(rng) for _ in range(count)])


def agree(one: CollisionModel, other: CollisionModel) -> None:
    """The same pairs, verdicts and words; some are free, some are not."""
    Q = rows(one)
    verdicts = one.is_free_batch(Q)
    assert 0 < verdicts.sum() < len(Q)
    assert (one.names, one.joints, one.pairs, one.describe()) == (
        *(other.names, other.joints, other.pairs, other.describe()),
    )
    assert (verdicts == other.is_free_batch(Q)).all()
    assert [one.collisions(q) for q in Q[:40]] == [other.collisions(q) for q in Q[:40]]


def test_a_held_glass_collides_as_coal_says() -> None:
    """Panda with a glass in its hand over a table: each pair of the glass, by coal on the poses of pinocchio."""
    model, robot = panda_at_a_table(), panda_at_a_table().robot
    holding = model.attached(GLASS, "panda_hand", placement=GRASP, touching=FINGERS)
    assert "glass" not in model.names
    assert set(model.pairs) <= set(holding.pairs)
    pairs = {frozenset(pair) for pair in holding.pairs if "glass" in pair}
    frame = robot.frame("panda_hand")
    mine = [solid for solid in holding._has.solids if solid.name != "glass"]  # pyright: ignore[reportPrivateUsage]
    expected = [s for s in mine if s.joint != frame.joint and s.link not in FINGERS]
    assert pairs == {frozenset(("glass", solid.name)) for solid in expected}
    data, request = robot.model.createData(), coal.CollisionRequest()
    request.gjk_tolerance = 1e-9
    met = set[str]()
    for q in rows(holding, 200):
        pin.forwardKinematics(robot.model, data, q)
        pose = data.oMi[frame.joint] * frame.placement * pin.XYZQUATToSE3(np.array(GRASP))
        there = coal.Transform3s(pose.rotation, pose.translation)
        hits = set[str]()
        for solid in expected:
            its = data.oMi[solid.joint] * solid.placement
            where, result = coal.Transform3s(its.rotation, its.translation), coal.CollisionResult()
            if coal.collide(coal.Cylinder(0.03, 0.12), there, solid.body.geometry, where, request, result):
                hits.add(solid.name)
        assert {c.a for c in holding.collisions(q) if c.b == "glass"} == hits
        assert holding.is_free(q) == (not hits and model.is_free(q))
        met |= hits
    assert {"table", "panda_link0_0"} <= met


def test_what_may_touch_is_said() -> None:
    model = CollisionModel(panda(), urdfs=PANDA).attached(
        GLASS, "panda_hand", touching=["panda_leftfinger", "panda_link5*"]
    )
    out = {(pair.a, pair.reason) for pair in model.left_out if pair.b == "glass"}
    assert ("panda_leftfinger_0", LeftOutReason.MAY_TOUCH) in out
    assert ("panda_link7_0", LeftOutReason.SAME_JOINT) in out
    assert ("panda_link5_0", LeftOutReason.MAY_TOUCH) in out
    assert not any(name.startswith("panda_rightfinger") for name, _ in out)
    assert ("panda_rightfinger_0", "glass") in model.pairs


def test_a_model_that_is_changed_is_the_one_that_is_built_so() -> None:
    """Added, removed and moved; the model itself stays what it was."""
    model, before = arm(TABLE), rows(arm(TABLE))
    wanted = model.is_free_batch(before)
    post, box = arm().without(("hand", "forearm")), Shape("box", "Box", (0.2, 0.1, 0.3), placement=pose(0.3, -0.3, 0.4))
    agree(arm().added(TABLE, box), arm(TABLE, box))
    agree(arm(TABLE, box).removed("table"), arm(box))
    agree(arm(box, TABLE).removed("ta*", "box"), arm())
    agree(arm(margin=0.03).added(box), arm(box, margin=0.03))
    agree(post.added(box), arm(box).without(("hand", "forearm")))
    elsewhere = CollisionModel(model.robot, [*(s for s in sources(model) if s.name != "post"), moved(model, "post")])
    for _ in range(2):  # before and after its first question
        found = model.moved({"post": pose(0.2, -0.3, 0.5)})
        agree(found.without(), model.without().moved({"post": pose(0.2, -0.3, 0.5)}))
        assert [found.is_free(q) for q in before] == [elsewhere.is_free(q) for q in before]
        assert (found.is_free_batch(before) != wanted).any()
        assert (model.is_free_batch(before) == wanted).all()


def sources(model: CollisionModel) -> list[Any]:
    return [solid.source for solid in model._has.solids]  # pyright: ignore[reportPrivateUsage]


def moved(model: CollisionModel, name: str) -> Shape:
    old = next(shape for shape in sources(model) if shape.name == name)
    return Shape(name, old.kind, old.size, placement=pose(0.2, -0.3, 0.5))


@pytest.mark.parametrize("compiled", [True, False])
def test_shapes_that_are_carried_move_too(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A held box that slips, a ball on a link, a mesh beside them, and what is not covered by numbers alone."""
    if not compiled:
        monkeypatch.setattr(checking, "USUAL", "readable")
    held = arm(TABLE).attached(Shape("box", "Box", (0.05, 0.05, 0.2)), "tool", placement=pose(0.0, 0.0, 0.1))
    slipped = held.moved({"box": pose(0.0, 0.1, 0.0), "hand": pose(0.05, 0.0, 0.0)})
    anew = arm(TABLE).removed("hand").added(Shape("hand", "Sphere", (0.06,), "tool", pose(0.05, 0.0, 0.0)))
    anew = anew.attached(Shape("box", "Box", (0.05, 0.05, 0.2)), "tool", placement=pose(0.0, 0.1, 0.0))
    Q = rows(held)
    assert held.is_free(Q[0]) in (True, False)  # numbers are copied from here on
    again = held.moved({"box": pose(0.0, 0.1, 0.0), "hand": pose(0.05, 0.0, 0.0)})
    wanted = anew.is_free_batch(Q)
    assert 0 < wanted.sum() < len(Q)
    for model in (slipped, again, pickle.loads(pickle.dumps(again))):
        assert (model.is_free_batch(Q) == wanted).all()
        assert all(model.is_free(q) == (not model.collisions(q)) for q in Q[:50])


def test_copies_that_are_pickled_are_the_same() -> None:
    """A shape may have the name of a solid that is gone."""
    model = panda_at_a_table().removed("panda_link5_0", "table").without(("panda_link0_0", "*"))
    model = model.attached(GLASS, "panda_hand", touching=FINGERS, name="panda_link5_0").added(TABLE)
    again = pickle.loads(pickle.dumps(model))
    Q = rows(model, 100)
    assert (again.names, again.pairs, again.left_out) == (model.names, model.pairs, model.left_out)
    assert (again.is_free_batch(Q) == model.is_free_batch(Q)).all()


def test_covers_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of nine meshes and a post: changed copies make covers of what is new alone."""
    asked = list[Any]()
    make = solids.cover_of

    def count(solid: Any) -> Any:
        asked.append(solid)
        return make(solid)

    monkeypatch.setattr(solids, "cover_of", count)
    model = CollisionModel(panda(), [Shape("post", "Cylinder", (0.05, 1.0), placement=pose(0.5, 0.0, 0.5))], PANDA)
    q = model.robot.neutral
    model.is_free(q)
    assert len(asked) == len(model.names)
    held = model.attached(GLASS, "panda_hand", touching=FINGERS)
    there = model.moved({"post": pose(0.4, 0.0, 0.5)})
    for other in (there, model.removed("post"), model.without(("post", "*")), held):
        other.is_free(q)
    assert len(asked) <= len(model.names) + 1
    held.moved({"glass": GRASP}).is_free(q)
    model.added(TABLE).is_free(q)
    assert len(asked) <= len(model.names) + 2


def test_what_cannot_be_changed_is_named() -> None:
    model = panda_at_a_table()
    with pytest.raises(errors.UnknownFrameError, match="panda_hand"):
        model.attached(GLASS, "panda_hnd")
    with pytest.raises(errors.DuplicateError, match="'table'"):
        model.attached(GLASS, "panda_hand", name="table")
    with pytest.raises(errors.DuplicateError, match="'table'"):
        model.added(TABLE)
    with pytest.raises(errors.UnknownNameError, match=r"shape or link.*'panda_leftfingr'.*panda_leftfinger"):
        model.attached(GLASS, "panda_hand", touching=["panda_leftfingr"])
    with pytest.raises(errors.WrongObjectError, match="may touch"):
        model.attached(GLASS, "panda_hand", touching="panda_leftfinger")
    with pytest.raises(errors.WrongObjectError, match="shape to be held"):
        model.attached("glass", "panda_hand")  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.UnknownNameError, match=r"'tabel'.*table"):
        model.moved({"tabel": GRASP})
    with pytest.raises(errors.UnknownNameError, match=r"'tabel'.*table"):
        model.removed("tabel")
    with pytest.raises(errors.OptionError, match="'panda_link0_0' is part of the link 'panda_link0'"):
        model.moved({"panda_link0_0": GRASP})
    with pytest.raises(errors.ConstraintError, match="placement of shape 'table'"):
        model.moved({"table": [0.0, 1.0]})
    with pytest.raises(errors.WrongObjectError, match="placements of shapes"):
        model.moved([("table", GRASP)])  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.FrozenValueError, match="`moved`"):
        model.names = ()
