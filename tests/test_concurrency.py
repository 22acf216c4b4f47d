"""One model, many workers: threads and processes give the bits of one worker."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from robots import arm, two_arms

from constraints import Implicit, Options, Pose, Position, Problem, Projector, RelativePose, RightHandSide, Target

Answer = tuple[bytes, str, int, int, float]


def projector() -> Projector:
    """Two arms that hold a thing, an elbow above a height, and a tool at a right-hand side that varies."""
    robot = two_arms()
    grip = RelativePose(robot, "left_tool", "right_tool")
    return Projector(
        Problem(
            robot,
            [
                Implicit.equal(grip, grip.value(robot.reference("home")), name="grip"),
                Implicit.equal(Position(robot, "left_tool"), Target(_path), mask=[1, 1, 0], name="path"),
                Implicit.above(Position(robot, "left_elbow"), [-9.0, -9.0, 0.5], margin=1e-3, name="height"),
            ],
        )
    )


def _path(t: float) -> list[float]:
    return [0.45 + 0.05 * t, 0.1 * t, 0.0]


def answers(p: Projector, starts: Sequence[np.ndarray], rhs: RightHandSide | None = None) -> list[Answer]:
    """All that a projection gives, but for the time it took."""
    found = [p.project(q, rhs) for q in starts]
    return [(r.q.tobytes(), r.status.name, r.iterations, r.restarts, r.residual) for r in found]


def _work(given: bytes) -> list[Answer]:
    p, starts, rhs = pickle.loads(given)
    return answers(p, starts, rhs)


def starts(n: int) -> list[np.ndarray]:
    return list(two_arms().random(np.random.default_rng(100), n))


def test_eight_threads_share_a_projector():
    """Property 21: eight threads on one projector give identical bits, statuses and counts."""
    shared, given = projector(), starts(40)
    expected = answers(projector(), given)
    assert sum(answer[1] == "CONVERGED" for answer in expected) > 30
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: answers(shared, given), range(8)):
            assert found == expected


def test_eight_threads_share_a_problem():
    """Property 21: what planners ask of a problem, and postures of one robot, are safe to share too."""
    problem, given = projector().problem, starts(30)

    def ask(_: int) -> list[bytes]:
        out: list[bytes] = []
        for q in given:
            out += [problem.jacobian(q).tobytes(), problem.error(q).tobytes(), problem.rhs_from(q).vector.tobytes()]
            out.append(Pose(arm(), "tool").jacobian(q[:7]).tobytes())
        return out

    expected = ask(0)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(ask, range(8)):
            assert found == expected


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_two_processes(method):
    """Property 21: projector, starts and right-hand side sent to two processes: identical bits."""
    p, given = projector(), starts(20)
    rhs = p.problem.rhs_at(0.5)
    expected = answers(p, given, rhs)
    message = pickle.dumps((p, given, rhs))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for found in pool.map(_work, [message, message]):
            assert found == expected


def test_copies_give_the_same_bits():
    """Property 21: pickled and deep-copied projectors, problems and right-hand sides."""
    p, given = projector(), starts(15)
    rhs = p.problem.rhs_at(0.25)
    expected = answers(p, given, rhs)
    again: Any
    for again in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p), Projector(pickle.loads(pickle.dumps(p.problem)))):
        assert answers(again, given, rhs) == expected
        assert again.options == p.options
    for other in (pickle.loads(pickle.dumps(rhs)), copy.deepcopy(rhs)):
        assert answers(p, given, other) == expected


def test_options_travel():
    """Property 21: options are part of what is pickled."""
    robot = arm()
    p = Projector(Problem(robot, [Implicit.equal(Position(robot, "tool"))]), Options.local(threshold=1e-9, seed=4))
    assert pickle.loads(pickle.dumps(p)).options == p.options


def test_results_hold_no_workspace():
    """Property 21: a result is small: the problem and plain numbers, no memory of the worker."""
    p = projector()
    result = p.project(starts(1)[0])
    alone = len(pickle.dumps(p.problem))
    assert len(pickle.dumps(result)) < alone + 4000
