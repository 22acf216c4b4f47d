"""Walks that cannot succeed say so at once: the box of `examples/pick_and_place.py`, with one thing wrong each time."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from robots import arm, needs_robot_data

from constraints import Affine, Implicit, Position
from constraints.errors import GraphError, OptionError, WrongObjectError
from constraints.manipulation import ConstraintGraph, State, Transition, Walk, walk
from constraints.manipulation.walks.refusals import WalkTask, refusals

ROOT = Path(__file__).resolve().parent.parent.parent
FAR = (0.85, -0.8, 0.25)
"""Middle of a table 1.2 m from the arm's base, further than a UR5 reaches."""


@pytest.fixture(scope="module")
def example() -> Any:
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        return importlib.import_module("pick_and_place")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def told(example: Any) -> Any:
    made = example.story()
    made.graph.target(example.STEPS[0], made.start, made.robot.random(np.random.default_rng(0)))  # loads kernels
    return made


def at_once(graph: ConstraintGraph, q: Any, steps: Any, **options: Any) -> Walk:
    """A walk that was not begun, and took less than a second of this process."""
    began = process_time()
    found = walk(graph, q, steps, np.random.default_rng(0), **options)
    assert process_time() - began < 1.0
    assert not found.success
    assert (found.tries, found.done, found.path) == (0, 0, None)
    return found


@needs_robot_data
@pytest.mark.parametrize("what", ["start", "goal"])
def test_ends_in_collision(told: Any, example: Any, what: str) -> None:
    """An arm that reaches into a table, with the box where it was."""
    rng, q = np.random.default_rng(1), getattr(told, what).copy()
    met: Any = ()
    while not any("table" in pair.a + pair.b for pair in met):
        q[:6] = told.robot.random(rng)[:6]
        met = told.collisions.collisions(q)
    ends = {"start": told.start, "goal": told.goal} | {what: q}
    asked = {"goal": ends["goal"], "collisions": told.collisions, "guess": example.guess}
    found = at_once(told.graph, ends["start"], example.STEPS, **asked)
    assert f"the {what} is in collision" in str(found)
    assert any("table" in pair.a + pair.b for pair in told.collisions.collisions(q))


@needs_robot_data
def test_a_goal_with_the_box_where_no_transition_brings_it(told: Any) -> None:
    found = at_once(told.graph, told.start, ["Loop | f"], goal=told.goal)
    assert "the goal has 'place_box' elsewhere, and no transition of the walk moves it" in str(found)
    same = np.r_[told.goal[:6], told.start[6:]]
    assert walk(told.graph, told.start, ["Loop | f"], np.random.default_rng(0), goal=same).success


@needs_robot_data
def test_a_release_that_the_arm_does_not_reach(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The take before it is possible, and is not what is blamed."""
    monkeypatch.setitem(example.TABLES, "right", FAR)
    told = example.story()
    steps = [example.STEPS[2], example.STEPS[3]]
    found = at_once(told.graph, told.start, steps, goal=told.goal)
    assert f"no target of '{example.STEPS[2]}' was found from the goal" in str(found)
    assert [case.transition.name for case in found.cases.values() if hasattr(case, "transition")] == [example.STEPS[2]]  # pyright: ignore


def points(name: str, x: float) -> Implicit:
    return Implicit.between(Position(arm(), "tool"), [x, 0.2, 0.5], [x, 0.2, 0.5], name=name)


def graph() -> ConstraintGraph:
    """Near, far out of reach, and anywhere."""
    anywhere, near, far = State("anywhere"), State("near", [points("near", 0.3)], 1), State("far", [points("far", 9.0)])
    there = [Transition(f"to {s}", anywhere, s, anywhere) for s in (near, far)]
    back = [Transition(f"from {s}", s, anywhere, anywhere) for s in (near, far)]
    return ConstraintGraph(
        arm(), [near, far, anywhere], [*there, *back, Transition("stay", anywhere, anywhere, anywhere)]
    )


def test_a_state_out_of_reach_and_an_end_in_no_state() -> None:
    found = at_once(graph(), np.full(7, 0.2), ["to near", "from near", "to far"])
    assert "the state 'far' was reached from none of 40 random configurations" in str(found)
    first = Implicit.zero(Affine([np.eye(7)[0]], [-0.1], arm().space), name="held")
    only = State("only", [first])
    lone = ConstraintGraph(arm(), [only], [Transition("stay", only, only, only)])
    with pytest.raises(GraphError, match="only"):
        walk(lone, np.full(7, 0.2), ["stay"], np.random.default_rng(0))


def test_what_can_be_done_has_no_refusal_and_draws_nothing_of_the_walk() -> None:
    made = graph()
    steps = tuple(made.transition(name) for name in ("to near", "from near"))
    assert list(refusals(made, WalkTask(np.full(7, 0.2), steps))) == []
    rng = np.random.default_rng(3)
    assert walk(made, np.full(7, 0.2), ["to near"], rng).success


def test_a_walk_tells_how_far_it_is_and_ends_after_its_time() -> None:
    made, told = graph(), list[tuple[int, int]]()
    found = walk(
        made, np.full(7, 0.2), ["to near", "from near"], np.random.default_rng(0),
        progress=lambda done, drawn: told.append((done, drawn)),
    )  # fmt: skip
    assert found.success
    assert told == [(0, 0), (1, 1)]
    late = walk(made, np.full(7, 0.2), ["to near"], np.random.default_rng(0), seconds=1e-9)
    assert not late.success
    assert late.tries == 0
    assert "the time of 1e-09 s was over" in str(late)
    for wrong in (0.0, -1.0, "1"):
        with pytest.raises(OptionError, match="seconds of a walk"):
            walk(made, np.full(7, 0.2), ["to near"], np.random.default_rng(0), seconds=wrong)  # type: ignore[arg-type]
    with pytest.raises(WrongObjectError, match="progress of a walk"):
        walk(made, np.full(7, 0.2), ["to near"], np.random.default_rng(0), progress=lambda: 0)  # type: ignore[arg-type]
