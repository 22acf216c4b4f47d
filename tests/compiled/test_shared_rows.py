"""Rows that threads take from each other: the bits of the single call, whoever takes them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box
from robots import ur5

pytest.importorskip("numba")

from constraints import Implicit, Options, Pose, Problem, Projector, RightHandSide, explicit_relative_pose
from constraints.solvers.engine import SharedRows
from constraints.workspace import Workspace


def reach(n: int) -> tuple[Projector, np.ndarray, list[RightHandSide]]:
    """An arm that reaches for a pose of its own in each row."""
    robot, rng = ur5(), np.random.default_rng(3)
    hand = Implicit.equal(Pose(robot, robot.joint_names[-1]), name="hand")
    problem = Problem(robot, [hand])
    sides = [problem.rhs_from(robot.random(rng)) for _ in range(n)]
    return Projector(problem, Options(max_iterations=12), "compiled"), robot.random(rng, n), sides


@pytest.mark.parametrize(
    ("n", "many"), [(0, False), *[(n, many) for n in (1, 15, 16, 17, 150) for many in (False, True)]]
)
def test_rows_of_threads_have_the_bits_of_the_single_call(n: int, many: bool) -> None:
    projector, Q, sides = reach(max(n, 1))
    given = sides if many else sides[0]
    expected = [projector.project(q, given[i] if isinstance(given, list) else given) for i, q in enumerate(Q[:n])]
    with ThreadPoolExecutor(4) as pool:
        batch = projector.project_batch(Q[:n], given, executor=pool)
    assert batch.q.tobytes() == np.array([r.q for r in expected]).tobytes()
    assert [r.status for r in batch] == [r.status for r in expected]
    assert batch.iterations.tolist() == [r.iterations for r in expected]
    assert batch.residual.tolist() == [r.residual for r in expected]


def test_each_row_is_taken_once() -> None:
    """Four threads begin at once; all rows come out, and a second round over the same rows does nothing."""
    projector, Q, sides = reach(200)
    rows = projector.program.shared(Q, sides)  # pyright: ignore[reportPrivateUsage]
    assert isinstance(rows, SharedRows)
    begin = threading.Barrier(4)

    def work() -> None:
        begin.wait()
        rows.work(Workspace())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = rows.outcomes(Workspace())
    alone = projector.project_batch(Q, sides)
    assert found.q.tobytes() == alone.q.tobytes()
    before = found.q.copy()
    found.q[:] = 0.0
    rows.work(Workspace())
    assert not found.q.any()
    assert before.any()


def test_nobody_takes_a_row_after_the_end_was_said() -> None:
    projector, Q, sides = reach(40)
    rows = projector.program.shared(Q, sides)  # pyright: ignore[reportPrivateUsage]
    assert rows is not None
    rows.stop()
    rows.work(Workspace())
    assert not rows.outcomes(Workspace()).q.any()


def test_traces_are_not_shared_and_bodies_are_brought_back() -> None:
    """With traces rows go to threads by tasks; rows out of bounds by a computed body go on, as in the single call."""
    projector, Q, sides = reach(40)
    traced = Projector(projector.problem, Options(max_iterations=12, trace=True), "compiled")
    assert traced.program.shared(Q, sides) is None  # pyright: ignore[reportPrivateUsage]
    robot, rng = arm_and_box(), np.random.default_rng(1)
    lower, upper = robot.bounds.lower.copy(), robot.bounds.upper.copy()
    box = robot.space.leaves()[-1].q
    hold = explicit_relative_pose(robot, "gripper", "handle", name="hold")
    middle = np.median([Projector(Problem(robot, [hold])).project(q).q[box] for q in robot.random(rng, 40)], axis=0)
    lower[box.start], upper[box.start + 2] = middle[0], middle[2]
    problem = Problem(robot, [hold], type(robot.bounds)(robot.space, lower, upper))
    bringing, starts = Projector(problem, engine="compiled"), robot.random(rng, 120)
    by_kernels: Any = bringing.program, projector.program  # pyright: ignore[reportPrivateUsage]
    assert [program.brings_back for program in by_kernels] == [True, False]
    expected = [bringing.project(q) for q in starts]
    left = [projection for projection in expected if not problem.bounds.contains(projection.q)]
    assert len(left) < 12, "most are brought back"
    with ThreadPoolExecutor(2) as pool:
        batch = bringing.project_batch(starts, executor=pool)
    assert batch.q.tobytes() == np.array([r.q for r in expected]).tobytes()
    assert [r.iterations for r in batch] == [r.iterations for r in expected]
