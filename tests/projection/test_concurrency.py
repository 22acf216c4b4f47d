"""One model, many workers: threads and processes give the bits of one worker."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, two_arms

from constraints import Implicit, Options, Pose, Position, Problem, Projector, RightHandSide, Target
from constraints.loops import PointClosure
from constraints.loops.mobility import mobility_at
from constraints.robot.posture import Kinematics
from constraints.robot.space import _Lease
from constraints.rows.stacking import StackedRows
from constraints.solvers.diagnosis.conflict import error_norm
from constraints.solvers.diagnosis.dependent_rows import dependence

Answer = tuple[bytes, str, int, int, float]


def projector() -> Projector:
    """Two arms that hold a thing, an elbow above a height, and a tool at a right-hand side that varies."""
    robot = two_arms()
    grip = Pose(robot, "right_tool", reference="left_tool")
    return Projector(
        Problem(
            robot,
            [
                Implicit.equal(grip, grip.value(robot.reference("home")), name="grip"),
                Implicit.equal(Position(robot, "left_tool"), Target(_path), mask=[1, 1, 0], name="path"),
                Implicit.above(Position(robot, "left_elbow"), [-9.0, -9.0, 0.5], margin=1e-3, name="height"),
            ],
        ),
        Options(seed=4, stall_count=3),
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


@pytest.mark.long
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
    for again in (
        pickle.loads(pickle.dumps(p)),
        copy.deepcopy(p),
        Projector(pickle.loads(pickle.dumps(p.problem)), p.options),
    ):
        assert answers(again, given, rhs) == expected
        assert again.options == p.options
    for other in (pickle.loads(pickle.dumps(rhs)), copy.deepcopy(rhs)):
        assert answers(p, given, other) == expected


def test_results_hold_no_workspace():
    """Property 21: a result is small: the problem and plain numbers, no memory of the worker."""
    p = projector()
    result = p.project(starts(1)[0])
    alone = len(pickle.dumps(p.problem))
    assert len(pickle.dumps(result)) < alone + 4000


def test_what_is_read_of_a_point_is_read_while_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Property 21: memory that goes back to the pool is anybody's at once: here it is spoilt as it goes back."""
    robot = two_arms()
    q, other = robot.random(np.random.default_rng(7), 2)
    problem = projector().problem
    closure = PointClosure(robot, "left_tool", "right_tool", name="hands")

    def ask() -> list[np.ndarray]:
        rows = problem.rows(q)
        dependent = dependence(problem, q, problem.rhs)
        return [
            rows.error, rows.jacobian, problem.error(q), problem.error(q, 1), np.array(problem.residual(q)),
            problem.tangent_basis(q), dependent.singular_values[0], np.array(dependent.inconsistency),
            np.array([error_norm(problem, owner, q, problem.rhs)[0] for owner in problem.constraints]),
            closure.pose(q).homogeneous, mobility_at(robot, problem.constraints, q, (), 1e-8).singular_values,
        ]  # fmt: skip

    def spoilt(lease: Any) -> None:
        workspace = lease._workspace
        for thing in list(workspace._memory.values()):
            if isinstance(thing, StackedRows):
                thing.rows.error[:] = thing.rows.jacobian[:] = np.nan
                for block in thing._blocks:
                    block.error[:] = block.jacobian[:] = np.nan
                thing.reduced = True  # all of it is written anew
            elif isinstance(thing, Kinematics):
                pin.computeJointJacobians(thing.model, thing.data, other)
                for frames in thing.frames.values():
                    frames.update(thing.model, thing.data, frames.memory)
        lease._pool.give(workspace)

    expected = ask()
    monkeypatch.setattr(_Lease, "__del__", spoilt)
    for _ in range(2):
        for found, wanted in zip(ask(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
