"""Walks against the same search written out here: depth first, with patience, a budget, detours and a goal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from corners import corner, posts
from robots import arm

from constraints import Projector
from constraints.collisions.model import CollisionModel
from constraints.manipulation import ConstraintGraph, Transition
from constraints.manipulation.walks.walk import walk
from constraints.paths.interpolation import interpolate


@dataclass
class Plain:
    """A walk by the words of its docstring."""

    graph: ConstraintGraph
    steps: list[Transition]
    rng: np.random.Generator
    collisions: CollisionModel | None
    tries: int
    patience: int
    detours: int
    drawn: int = 0
    why: Counter[str] = field(default_factory=lambda: Counter[str]())
    collided: bool = False

    def run(self, q: Any, goal: Any) -> list[Any]:
        """Pairs of a transition's number and the path that walks it, as far as the best try got."""
        paths: list[Any] = []
        best: list[Any] = []
        while len(paths) < len(self.steps):
            i = len(paths)
            last = goal if i == len(self.steps) - 1 else None
            found = None
            for _ in range(self.patience):
                if self.drawn == self.tries:
                    break
                self.drawn += 1
                found = self.one(self.steps[i], paths[-1].end if paths else q, last)
                if found is not None:
                    break
            if found is not None:
                paths = [*paths, found]
                best = paths if len(paths) > len(best) else best
            elif self.drawn == self.tries:
                return best
            else:
                paths = paths[:-1]
        return best

    def one(self, step: Transition, q: Any, goal: Any) -> Any:
        if goal is not None:
            opposite = next(t for t in self.graph.transitions if t.source is step.target and t.target is step.source)
            back = self.one(opposite, goal, None)
            stay = next(t for t in self.graph.transitions if t.source is step.source is t.target)
            joined = None if back is None else self.motion(stay, q, back.end)
            return None if joined is None or back is None else joined + back.reversed()
        target = self.graph.target(step, q, arm().random(self.rng))
        if not target.success:
            self.why[f"no target found for '{target.failed_at}'"] += 1
            return None
        path: Any = None
        for part, point in zip(step.inner or [step], target.waypoints, strict=True):
            motion = self.motion(part, q, point)
            if motion is None:
                return None
            path, q = motion if path is None else path + motion, point
        return path

    def motion(self, part: Transition, q0: Any, q1: Any) -> Any:
        problem, rhs = self.graph.path_problem(part, q0)
        if problem.residual(q1, rhs=rhs) > self.graph.threshold:
            self.why[f"ends of '{part}' on two leaves"] += 1
            return None
        path = self.free(part, problem, rhs, [q0, q1])
        if not part.short:
            for _ in range(self.detours):
                if path is not None:
                    break
                away = arm().space.integrate(0.5 * (q0 + q1), 0.5 * self.rng.standard_normal(7))
                middle = Projector(problem, self.graph.path_options).project(away, rhs)
                if middle.success:
                    path = self.free(part, problem, rhs, [q0, middle.q, q1])
        return path

    def free(self, part: Transition, problem: Any, rhs: Any, through: list[Any]) -> Any:
        whole: Any = None
        for q0, q1 in pairwise(through):
            found = interpolate(problem, q0, q1, rhs, options=self.graph.path_options)
            if not found.success:
                self.why[f"{found.status.name} on '{part}'"] += 1
                return None
            whole = found.path if whole is None else whole + found.path
        if self.collisions is not None:
            model = self.collisions.among(self.graph.collision_pairs(part, self.collisions.joint_pairs))
            met = model.first_collision(whole)
            if met is not None:
                self.collided = True
                self.why[f"{met.a} collides with {met.b} on '{part}'"] += 1
                return None
        return whole


@pytest.mark.parametrize(
    ("seed", "count", "short", "asked"),
    [
        (0, 0, False, {}), (1, 3, False, {}), (2, 6, False, {"detours": 1}), (3, 6, True, {"detours": 2}),
        (4, 6, False, {"tries": 5, "patience": 2, "detours": 0}), (5, 11, True, {"tries": 8, "patience": 1}),
        (6, 9, False, {"tries": 4, "patience": 4, "detours": 0}), (7, 4, False, {"detours": 1, "goal": True}),
        (8, 7, True, {"tries": 6, "detours": 2, "goal": True}), (9, 5, False, {"tries": 2, "goal": True}),
        (10, 12, False, {"tries": 3, "detours": 3}), (11, 15, False, {"patience": 2, "tries": 12, "detours": 0}),
        (12, 10, False, {"patience": 1, "tries": 20, "detours": 1}), (13, 8, False, {"detours": 0, "goal": True}),
    ],
)  # fmt: skip
def test_a_walk_is_the_search_that_it_says_it_is(seed: int, count: int, short: bool, asked: dict[str, Any]) -> None:
    """The same draws, tries, refusals, and the same path to rounding."""
    graph, model = corner(short), posts(count) if count else None
    rng = np.random.default_rng(100 + seed)
    q, goal = 0.5 * arm().random(rng), None
    q[0] = 0.1
    names = ["stay in a", "a to b", "stay in b"]
    numbers: dict[str, Any] = {"tries": 20, "patience": 3, "detours": 4} | asked
    if numbers.pop("goal", False):
        names, goal = ["stay in b", "b to a"], 0.5 * arm().random(rng)
        q[1], goal[0] = 0.2, 0.1
        q[0] = 0.3
    mine, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    plain = Plain(graph, [graph.transition(name) for name in names], mine, model, **numbers)
    expected = plain.run(q, goal)
    found = walk(graph, q, names, theirs, goal=goal, collisions=model, **numbers)
    if model is not None and model.collisions(q):  # seen before anything is drawn
        assert (found.done, found.tries, found.path) == (0, 0, None)
        assert plain.why
        assert found.start_collisions == model.collisions(q)
        return
    assert (found.done, found.tries, found.refusals) == (len(expected), plain.drawn, plain.why)
    assert theirs.bit_generator.state == mine.bit_generator.state
    if not expected:
        assert found.path is None
    else:
        assert found.path is not None
        np.testing.assert_allclose(found.path.samples, np.vstack([path.samples for path in expected]), atol=1e-9)
    failed = not found.success and plain.collided
    assert found.start_collisions == (model.collisions(q) if failed and model is not None else ())
    assert found.always_colliding == (model.always_colliding() if failed and model is not None else ())
    assert set(found.cases) <= set(found.refusals)
