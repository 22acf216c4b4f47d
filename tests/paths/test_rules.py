"""Paths by their rules, written out again: bisection, times, and the check for collisions on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each_choice import a_few
from robots import arm

from constraints import Affine, Function, Implicit, Options, Problem, Projector
from constraints.collisions.model import CollisionModel
from constraints.collisions.shapes import Shape
from constraints.functions import Polynomial
from constraints.paths.interpolation import PathStatus, interpolate
from constraints.paths.path import Path
from liegroups import SE3, SO3, Rn

OPTIONS = Options.local()


def curve(f: Any, slope: Any, name: str) -> Problem:
    """One row of two numbers, which may move with its right-hand side."""
    return Problem(Rn(2), [Implicit.equal(Function.from_callable(f, Rn(2), Rn(1), slope, name=name))])


CIRCLE = curve(lambda q: [q @ q - 1.0], lambda q: [2.0 * q], "circle")
WAVE = curve(lambda q: [q[1] - 0.5 * np.sin(6.0 * q[0])], lambda q: [[-3.0 * np.cos(6.0 * q[0]), 1.0]], "wave")
STEP = curve(lambda q: [q[1] - (0.4 if q[0] > 0.31 else 0.0)], lambda q: [[0.0, 1.0]], "step")
CLIFF = curve(lambda q: [q[1] - (0.4 if q[0] > -1.0 else 0.0)], lambda q: [[0.0, 1.0]], "cliff")
LOOPS = curve(lambda q: [q[1] ** 2 - q[0] ** 2 + q[0] ** 4], lambda q: [[-2 * q[0] + 4 * q[0] ** 3, 2 * q[1]]], "loops")
GAP = curve(lambda q: [q[1] if not 0.45 < q[0] < 0.55 else 1.0 + q[1] ** 2],
            lambda q: [[0.0, 1.0 if not 0.45 < q[0] < 0.55 else 2.0 * q[1]]], "gap")  # fmt: skip
ROUND = Problem(Rn(2), [Implicit.equal(Polynomial([-1, 0, 1], [1, 0]) + Polynomial([0, 0, 1], [0, 1]), name="round")])
EIGHT = Problem(Rn(2), [Implicit.equal(Polynomial([0, 0, -1, 0, 1], [1, 0]) + Polynomial([0, 0, 1], [0, 1]), name="8")])
CUBIC = Problem(Rn(2), [Implicit.equal(Polynomial([-3, -1, 3, 1], [1, 0]), name="cubic")])
"""These are halved by a kernel, where there is one."""
NOTHING = Function.from_callable(lambda q: [0.0], SE3 * SO3, Rn(1), lambda q: np.zeros((1, 9)))
TURNS = Problem(SE3 * SO3, [Implicit.equal(NOTHING, name="none")])


def size(problem: Problem, a: np.ndarray, b: np.ndarray, angle: float, length: float) -> float:
    """The largest part of a limit that a joint moves by."""
    if problem is not TURNS:
        return float(np.abs(b - a).max()) / length
    turns = [np.linalg.norm(SO3.difference(a[i : i + 4], b[i : i + 4])) for i in (3, 7)]
    return float(max(max(turns) / angle, np.linalg.norm(b[:3] - a[:3]) / length))


@dataclass
class Plain:
    """The first interval is halved until it is short and steady, then the next one."""

    problem: Problem
    rhs: Any
    limits: tuple[float, float]
    longest: float
    times: list[float] = field(default_factory=lambda: [0.0])
    samples: list[np.ndarray] = field(default_factory=lambda: list[np.ndarray]())
    stopped: float = math.nan

    def run(self, q0: np.ndarray, q1: np.ndarray) -> PathStatus:
        self.samples.append(q0)
        for q, t, status in ((q0, 0.0, PathStatus.START), (q1, 1.0, PathStatus.END)):
            if self.problem.residual(q, self.rhs(t)) > OPTIONS.threshold:
                self.stopped = t
                return status
        return self.between(0.0, 1.0, q0, q1)

    def between(self, t0: float, t1: float, a: np.ndarray, b: np.ndarray) -> PathStatus:
        t = 0.5 * (t0 + t1)
        found = Projector(self.problem, OPTIONS).project(self.problem.space.interpolate(a, b, 0.5), self.rhs(t))
        if not found.success:
            self.stopped = t
            return PathStatus.NOT_PROJECTED
        whole, first, second = (
            size(self.problem, *ends, *self.limits) for ends in ((a, b), (a, found.q), (found.q, b))
        )
        if t1 - t0 <= self.longest and whole <= 1.0 and max(first, second) <= 0.75 * whole + 1e-3:
            self.times.append(t1)
            self.samples.append(b)
            return PathStatus.COMPLETE
        if t1 - t0 < 2.0**-18:
            self.stopped = t0
            return PathStatus.JUMP
        status = self.between(t0, t, a, found.q)
        return self.between(t, t1, found.q, b) if status is PathStatus.COMPLETE else status


def on_circle(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


@pytest.mark.parametrize(
    ("problem", "q0", "q1", "limits", "status"),
    [
        (CIRCLE, on_circle(10), on_circle(130), (0.1, 0.02), "COMPLETE"),
        (CIRCLE, on_circle(0), on_circle(95), (9.0, 0.3), "COMPLETE"),
        (CIRCLE, on_circle(0), on_circle(30), (1.0, 5.0), "COMPLETE"),
        (CIRCLE, on_circle(0), [1.0, 0.5], (0.1, 0.1), "END"), (CIRCLE, [0.5, 0.0], on_circle(0), (0.1, 0.1), "START"),
        (WAVE, [0.0, 0.0], [math.pi / 3, 0.0], (0.1, 0.15), "COMPLETE"),
        (WAVE, [0.0, 0.0], [2 * math.pi / 3, 0.0], (1.0, 4.0), "COMPLETE"),
        (STEP, [0.0, 0.0], [1.0, 0.4], (0.1, 0.2), "JUMP"), (STEP, [0.0, 0.0], [1.0, 0.4], (0.1, 2.0), None),
        (STEP, [1.0, 0.4], [0.3, 0.0], (0.1, 0.3), "JUMP"), (CLIFF, [0.0, 0.4], [1.0, 0.4], (0.1, 0.15), "COMPLETE"),
        (LOOPS, [0.6, 0.48], [-0.6, -0.48], (0.1, 0.1), None), (LOOPS, [0.6, 0.48], [0.6, -0.48], (0.1, 0.1), None),
        (LOOPS, [0.6, 0.48], [0.8, -0.48], (0.1, 2.0), None),
        (GAP, [0.0, 0.0], [1.0, 0.0], (0.1, 0.1), "NOT_PROJECTED"),
        (GAP, [0.9, 0.0], [0.3, 0.0], (0.1, 0.03), "NOT_PROJECTED"),
        (GAP, [0.9, 0.0], [0.6, 0.0], (0.1, 0.03), "COMPLETE"),
        (ROUND, on_circle(10), on_circle(130), (0.1, 0.02), "COMPLETE"),
        (ROUND, on_circle(0), on_circle(180), (0.1, 0.02), "NOT_PROJECTED"),
        (ROUND, on_circle(0), on_circle(95), (0.1, 0.05), "COMPLETE"), (ROUND, [1, 0], [1, 0.5], (0.1, 0.1), "END"),
        (ROUND, [0.5, 0.0], on_circle(0), (0.1, 0.1), "START"), (EIGHT, [0.6, 0.48], [-0.6, -0.48], (0.1, 0.1), None),
        (EIGHT, [0.6, 0.48], [0.6, -0.48], (0.1, 0.1), None), (EIGHT, [0.6, 0.48], [0.8, -0.48], (0.1, 2.0), None),
        (CUBIC, [-1.0, 0.0], [1.0, 0.5], (0.1, 0.02), "JUMP"), (CUBIC, [-1.0, 0.0], [-1.0, 3.0], (0.1, 0.1), None),
        (CUBIC, [-1.0, 0.0], [1.0, 0.5], (0.1, 5.0), "JUMP"),  # the ends are close enough, their middle is not
        (CUBIC, [1.0, 0.2], [-3.0, 0.5], (0.1, 0.05), None), (CUBIC, [1.0, 0.2], [1.0, 0.2], (0.1, 0.05), "COMPLETE"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("moving", [False, True])
def test_the_bisection_is_the_one_that_is_described(
    problem: Problem, q0: list[float], q1: list[float], limits: tuple[float, float], status: str | None, moving: bool
) -> None:
    """Status, samples, times, and where it ended; with right-hand sides that rest, and that come and go."""
    name = problem.constraints.names[0]

    def rhs(t: float) -> Any:
        return problem.rhs.replace(name, [0.05 * math.sin(math.pi * t)]) if moving else problem.rhs

    plain = Plain(problem, rhs, limits, 1 / 16 if moving else 1.0)
    expected = plain.run(np.array(q0), np.array(q1))
    assert moving or status in (None, expected.name)
    found = interpolate(problem, q0, q1, rhs if moving else None, max_angle=limits[0], max_length=limits[1])
    assert found.status is expected
    assert found.success == (expected is PathStatus.COMPLETE)
    assert found.reached == plain.times[-1]
    if len(plain.times) == 1:
        assert found.path is None
    else:
        assert found.path is not None
        np.testing.assert_array_equal(found.path.samples, plain.samples)
        np.testing.assert_allclose(found.path.times * found.reached, plain.times, rtol=0, atol=1e-15)
        for t in (0.0, 0.3, 1.0):  # right-hand sides of a part are those of the part
            sides = found.path.pieces[0].sides.at(t)
            np.testing.assert_allclose(sides.vector, rhs(t * found.reached).vector, atol=1e-15)
    if found.success:
        assert found.stop is None
        return
    assert found.stop is not None
    assert found.stop.time == plain.stopped
    np.testing.assert_array_equal(found.stop.rhs.vector, rhs(plain.stopped).vector)
    assert (found.stop.projection is not None) == (expected is PathStatus.NOT_PROJECTED)
    assert (found.stop.jump is not None) == (expected is PathStatus.JUMP) == (found.stop.joint != "")
    if found.stop.jump is not None:
        np.testing.assert_array_equal(found.stop.q, plain.samples[-1])


@pytest.mark.parametrize("seed", range(4))
def test_steps_of_poses_and_rotations(seed: int) -> None:
    """By the distance of origins and by angles; whole paths, to any limits."""
    rng = np.random.default_rng(seed)
    q0, q1 = (SE3 * SO3).random(rng), (SE3 * SO3).random(rng)
    limits = tuple(rng.uniform(0.05, 0.6, 2))
    plain = Plain(TURNS, lambda t: TURNS.rhs, (float(limits[0]), float(limits[1])), 1.0)
    assert plain.run(q0, q1) is PathStatus.COMPLETE
    path = interpolate(TURNS, q0, q1, max_angle=limits[0], max_length=limits[1]).or_raise()
    assert len(path.samples) == len(plain.samples)
    np.testing.assert_allclose(path.samples, plain.samples, rtol=0, atol=1e-14)  # maps of many poses at once
    jump = path.max_jump()
    steps = [size(TURNS, a, b, 1.0, math.inf) for a, b in pairwise(plain.samples)]
    assert jump.angle == pytest.approx(max(steps))
    assert jump.length == pytest.approx(max(size(TURNS, a, b, math.inf, 1.0) for a, b in pairwise(plain.samples)))


# Collisions on the way.

REST = Problem(arm(), [Implicit.equal(Affine(np.zeros((1, 7)), [0.0], arm().space), name="none")])


@pytest.mark.parametrize("seed", a_few(range(6), 2))
def test_the_first_collision_is_where_two_balls_come_too_near(seed: int) -> None:
    """By the distance of their centres at 2501 times; by its pair and its time, of two pieces of other durations."""
    rng = np.random.default_rng(seed)
    corners = [arm().random(rng) for _ in range(3)]
    legs = [interpolate(REST, a, b, max_angle=0.7).or_raise() for a, b in pairwise(corners)]
    path, times = Path((legs[0].pieces[0], legs[1].pieces[0]), (2.0, 0.5)), np.linspace(0.0, 2.5, 2501)
    hands = np.array([arm().at(path(t)).placement(arm().frame("tool")).translation for t in times])
    where = [arm().at(path(t)).placement(arm().frame("tool")).translation for t in (1.31, 2.5)]
    for place, radius in ((where[0], 0.01), (where[1], 0.01), (where[0], 0.2), (np.array([3.0, 0.0, 0.0]), 0.01)):
        post = Shape("post", "Sphere", (radius,), "universe", [*place, 0.0, 0.0, 0.0, 1.0])
        model = CollisionModel(arm(), [Shape("hand", "Sphere", (0.02,), "tool"), post])
        near = np.linalg.norm(hands - place, axis=1) < radius + 0.02
        found = model.first_collision(path)
        assert (found is None) == (not near.any())
        if found is not None:
            assert found[:2] == ("hand", "post")
            assert found.time is not None
            assert times[near.argmax()] - 0.001 <= found.time <= times[near.argmax()] + 0.002
            assert not model.is_free(path(found.time))
