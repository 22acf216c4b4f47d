"""Explicit before implicit: a four-bar in closed form in the dependency graph, beside a second loop and a grasp."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Bounds, Explicit, Function, Implicit, Options, Pose, Problem, Projector, Robot
from constraints.loops import PointClosure
from liegroups import Rn

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.4, 0.9, 0.7


def closed_form(crank: float) -> tuple[float, float]:
    """Coupler angle (relative to the crank) and rocker angle of a four-bar, elbow up."""
    B = CRANK * np.array([np.cos(crank), np.sin(crank)])
    d = np.array([GROUND, 0.0]) - B
    length = float(np.hypot(*d))
    inner = np.arccos((COUPLER**2 + length**2 - ROCKER**2) / (2.0 * COUPLER * length))
    absolute = np.arctan2(d[1], d[0]) + inner
    C = B + COUPLER * np.array([np.cos(absolute), np.sin(absolute)])
    rocker = np.arctan2(C[1], C[0] - GROUND)
    return float(absolute - crank), float(rocker)


def follow(q: Any) -> list[float]:
    return list(closed_form(float(q[0])))


def follow_rates(q: Any) -> Any:
    """Derivative of both angles by the crank: the velocity loop equations, solved for them."""
    crank = float(q[0])
    coupler, rocker = closed_form(crank)
    absolute = crank + coupler
    across = [np.array([-np.sin(t), np.cos(t)]) for t in (crank, absolute, rocker)]
    # CRANK u(crank) + COUPLER u(absolute) w = ROCKER u(rocker) r
    A = np.column_stack([COUPLER * across[1], -ROCKER * across[2]])
    w, r = np.linalg.solve(A, -CRANK * across[0])
    return np.array([[w - 1.0], [r]])


@functools.cache
def robot() -> Robot:
    """Two four-bars, the second on the rocker of the first, and an arm that grasps what the second moves."""
    model = pin.Model()
    box = pin.Inertia.FromBox(1.0, 0.2, 0.1, 0.1)

    def T(x: float, y: float = 0.0) -> Any:
        return pin.SE3(np.eye(3), np.array([x, y, 0.0]))

    def joint(parent: int, place: Any, name: str, kind: Any = None) -> int:
        index = model.addJoint(parent, pin.JointModelRZ() if kind is None else kind, place, name)
        model.appendBodyToJoint(index, box, pin.SE3.Identity())
        return index

    def frame(name: str, on: int, place: Any) -> None:
        model.addFrame(pin.Frame(name, on, 0, place, pin.FrameType.OP_FRAME))

    crank = joint(0, T(0.0), "crank")
    coupler = joint(crank, T(CRANK), "coupler")
    rocker = joint(0, T(GROUND), "rocker")
    frame("coupler end", coupler, T(COUPLER))
    frame("rocker end", rocker, T(ROCKER))
    second = joint(rocker, T(0.2), "link")  # a second loop that uses the rocker's angle
    frame("link end", second, T(0.6))
    third = joint(0, T(1.9, 0.6), "swing")
    frame("swing end", third, T(0.5))
    at = 0
    kinds = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRY, pin.JointModelRX, pin.JointModelRY, pin.JointModelRX)
    offsets = ([1.2, 0.0, 0.3], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0])
    for i, (kind, offset) in enumerate(zip(kinds, offsets, strict=True)):
        at = joint(at, pin.SE3(np.eye(3), np.array(offset)), f"arm{i}", kind())
    frame("hand", at, T(0.1))
    frame("handle", third, pin.SE3(pin.exp3(np.array([0.2, 0.1, 0.0])), np.array([0.25, 0.0, 0.1])))
    return Robot(model, "chained loops").without_bounds()


@functools.cache
def constraints() -> tuple[Explicit, PointClosure, PointClosure, Implicit]:
    """The four-bar as an explicit map and as a closure, the second loop, the grasp."""
    r = robot()
    f = Function.from_callable(follow, Rn(1), Rn(2), follow_rates, name="four-bar")
    explicit = Explicit(f, r.segments("coupler", "rocker"), r.segments("crank"), name="four-bar")
    first = PointClosure(r, "rocker end", "coupler end", name="first loop")
    second = PointClosure(r, "swing end", "link end", name="second loop")
    grasp = Implicit.zero(Pose(r, "handle", reference="hand"), name="grasp")
    return explicit, first, second, grasp


def start(seed: int) -> np.ndarray:
    r, rng = robot(), np.random.default_rng(seed)
    crank = 0.9 + 0.1 * rng.standard_normal()
    coupler, rocker = closed_form(crank)
    q = r.configuration(crank=crank, coupler=coupler, rocker=rocker, link=-1.0, swing=2.6)
    q[5:] = [-0.2, 0.6, -1.0, 0.3, 0.5, 0.1]
    return q + 0.05 * rng.standard_normal(r.nq)


def test_the_closed_form_is_the_loop() -> None:
    """Case 20: the explicit map closes the first loop, and its derivative is B_vu by differences."""
    explicit, first, _, _ = constraints()
    for crank in np.linspace(0.4, 1.4, 7):
        q = robot().configuration(crank=crank)
        q[1:3] = follow([crank])
        assert np.abs(first.residual(q)).max() < 1e-14
        h = 1e-6
        slope = (np.array(follow([crank + h])) - np.array(follow([crank - h]))) / (2 * h)
        assert np.abs(slope - explicit.f.jacobian([crank])[:, 0]).max() < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_explicit_loops_chain_with_implicit_ones(seed: int) -> None:
    """Case 20: with a second loop and a 6D grasp, the explicit four-bar ends where the all-implicit one does."""
    explicit, first, second, grasp = constraints()
    free = Bounds.none(robot().space)
    options = Options.local(threshold=1e-12, max_iterations=100, patience_count=20)
    closed = Projector(Problem(robot(), [first, second, grasp], free), options).project(start(seed)).or_raise().q
    away = closed + 0.02 * np.random.default_rng(seed).standard_normal(robot().nq)
    away[0] = closed[0]  # with the crank held, both have one solution nearby
    mixed = Problem(robot(), [explicit, second, grasp], free, frozen=["crank"])
    whole = Problem(robot(), [first, second, grasp], free, frozen=["crank"])
    assert [e.name for e in mixed.explicits] == ["four-bar"]
    assert mixed.reduced_size == whole.reduced_size - 3
    assert int(mixed.free.sum()) == int(whole.free.sum()) - 2
    one, other = (Projector(problem, options).project(away).or_raise().q for problem in (mixed, whole))
    assert np.abs(one - other).max() < 1e-9
    assert np.abs(first.residual(one)).max() < 1e-12


def test_loops_that_compute_each_other_are_refused_by_their_cycle() -> None:
    """Case 20: explicit loops in a circle: one is solved implicitly, and the cycle is named."""
    explicit, _, _, _ = constraints()
    r = robot()
    back = Function.from_callable(lambda q: [0.5 * q[0]], Rn(1), Rn(1), lambda q: np.array([[0.5]]), name="back")
    circle = Explicit(back, r.segments("crank"), r.segments("rocker"), name="back drive")
    problem = Problem(r, [explicit, circle])
    assert len(problem.explicits) == 1
    (refused,) = problem.resolution.refused
    assert "cycle" in str(refused.reason)
    text = problem.describe()
    assert "four-bar" in text
    assert "back drive" in text
    assert "rocker" in text
