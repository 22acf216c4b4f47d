"""Small parts of a projection: chunks of a batch, rows read one by one, effort in words, levels, what workers say."""

# pyright: reportArgumentType=false
# bounds and arguments that are wrong are given as lists

from __future__ import annotations

import inspect
import pickle
import sys
import types
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import (
    Affine,
    Bounds,
    Function,
    Implicit,
    Options,
    Orientation,
    Position,
    Problem,
    Projection,
    Projector,
    Status,
    errors,
)
from constraints.errors import NotPicklableError
from constraints.functions import Identity
from constraints.solvers import diagnose
from constraints.solvers.projection import workers
from constraints.solvers.projection.batch import _chunk  # pyright: ignore[reportPrivateUsage]
from constraints.solvers.projection.batch_arguments import references_of, sides_of, starts_of
from constraints.solvers.projection.workers import Failure
from liegroups import SO3, Rn


def line(rows: int = 1, engine: str | None = None) -> Projector:
    """x + y is 1, or both are."""
    A = np.array([[1.0, 1.0], [1.0, -1.0]])[:rows]
    return Projector(Problem(Rn(2), [Implicit.equal(Affine(A), np.ones(rows), name="line")]), engine=engine)


class Here(Executor):
    """Does everything at once, and counts the tasks."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks += 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.parametrize(
    ("pool", "given", "shared"),
    [
        (ThreadPoolExecutor, {}, True),
        (ThreadPoolExecutor, {"progress": False}, True),
        (ThreadPoolExecutor, {"chunk": 2}, False),
        (ThreadPoolExecutor, {"progress": lambda done, total: None}, False),
        (ThreadPoolExecutor, {"near": [0.0, 0.0]}, False),
        (Here, {}, False),
    ],
)
def test_threads_share_rows_where_nobody_asks_for_parts(
    pool: Any, given: dict[str, Any], shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(workers.Job, "run_on_threads", lambda self, Q, *rest: calls.append(len(Q)))
    with pool() as executor:
        found = Projector(line().problem, Options(nearest="near" in given)).project_batch(
            np.full((5, 2), 0.25), executor=executor, **given
        )
    assert calls == ([5] if shared else [])
    assert found.success.all()


@pytest.mark.parametrize(
    ("n", "chunk", "tasks"),
    [(1, None, 1), (2, None, 2), (32, None, 32), (33, None, 17), (64, None, 32), (65, None, 22), (32001, None, 33),
     (10, 3, 4), (9, 3, 3), (9, np.int64(100), 1), (3, 1, 3)],
)  # fmt: skip
def test_a_batch_is_cut_in_thirty_two_parts_of_a_thousand_rows_at_most(n: int, chunk: Any, tasks: int) -> None:
    """Who is told of progress sees the same parts; without executor and progress there is one."""
    pool, told = Here(), list[int]()
    Q = np.tile([0.25, 0.75], (n, 1))
    if n < 100:
        batch = line(engine="readable").project_batch(Q, executor=pool, chunk=chunk)
        assert pool.tasks == tasks
        assert batch.success.all()
        line(engine="readable").project_batch(Q, chunk=chunk, progress=lambda done, total: told.append(done))
        assert len(told) == tasks
        assert told[-1] == n
    size = _chunk(chunk, n, pool, None)
    assert -(-n // size) == tasks
    assert size <= (1000 if chunk is None else chunk)
    assert _chunk(None, n, None, None) == _chunk(None, n, None, False) == n
    assert _chunk(None, n, None, True) == _chunk(None, n, pool, None)
    assert _chunk(None, 0, None, None) == _chunk(None, 0, pool, None) == 1
    for wrong in (0, True, 1.5):
        with pytest.raises(errors.OptionError, match=f"from 1, or None, got {wrong!r}"):
            _chunk(wrong, n, None, None)  # type: ignore[arg-type]


@pytest.mark.skipif(find_spec("numba") is None, reason="the compiled engine is an extra")
@pytest.mark.parametrize(
    ("n", "chunk", "tasks"),
    [(1, None, 1), (255, None, 1), (256, None, 2), (511, None, 2), (2000, None, 8), (4096, None, 32), (33000, None, 33),
     (100, 10, 10)],
)  # fmt: skip
def test_rows_of_the_compiled_engine_are_cut_in_fewer_parts(n: int, chunk: int | None, tasks: int) -> None:
    """Engine 7: a task has 128 rows or more, and parts are a power of two; a given chunk is what it says.

    (A part costs 0.1 ms beside its rows, mostly with the interpreter's lock, as much as ten rows of an arm.)
    """
    pool = Here()
    batch = line(engine="compiled").project_batch(np.tile([0.25, 0.75], (n, 1)), executor=pool, chunk=chunk)
    assert batch.success.all()
    assert pool.tasks == tasks


def test_starts_stay_the_callers_and_columns_of_a_batch_are_read_only() -> None:
    """Engine 7: kernels read a copy of what the caller gave; nothing that comes back can be changed."""
    Q = np.tile([0.3, 0.9], (5, 1))
    Q.flags.writeable = False
    for executor in (None, Here()):
        batch = line().project_batch(Q, executor=executor)
        np.testing.assert_array_equal(batch.starts, np.tile([0.3, 0.9], (5, 1)))
        assert not np.shares_memory(batch.starts, Q)
        for name in ("starts", "q", "status", "iterations", "restarts", "residual", "seconds"):
            assert not getattr(batch, name).flags.writeable
        np.testing.assert_allclose(batch.q.sum(axis=1), 1.0, atol=1e-4)


def forms(problem: Problem) -> dict[str, Any]:
    return {
        "none": None, "one": problem.rhs.replace(0, [2.0]), "vector": [2.0], "matrix": [[2.0], [3.0], [4.0]],
        "list": [problem.rhs.replace(0, [x]) for x in (2.0, 3.0, 4.0)],
        "tuple": tuple(problem.rhs.replace(0, [x]) for x in (2.0, 3.0, 4.0)),
    }  # fmt: skip


@pytest.mark.parametrize("form", ["none", "one", "vector", "matrix", "list", "tuple"])
@pytest.mark.parametrize("pool", [None, Here()], ids=["here", "executor"])
def test_right_hand_sides_of_rows_in_every_form(form: str, pool: Executor | None) -> None:
    """One for all or one a row: rows, parts, and rows of parts hold theirs."""
    projector = line()
    given = forms(projector.problem)[form]
    wanted = [1.0] * 3 if form == "none" else [2.0] * 3 if form in ("one", "vector") else [2.0, 3.0, 4.0]
    batch = projector.project_batch(np.zeros((3, 2)), given, executor=pool, chunk=2)
    parts: list[tuple[Any, list[float]]] = [
        (batch, wanted), (batch[1:], wanted[1:]), (batch[[2, -3]], [wanted[2], wanted[0]]),
        (batch[np.array([True, False, True])], wanted[::2]), (batch[::-1], wanted[::-1]), (batch[[]], []),
    ]  # fmt: skip
    for part, expected in parts:
        assert len(part) == len(expected)
        for i, x in enumerate(expected):
            assert part.rhs(i).of(0).tolist() == [x]
            assert part[i].rhs.of(0).tolist() == [x]
            assert part.q[i].sum() == pytest.approx(x, abs=1e-4)
            assert part[i].q.tobytes() == part.q[i].tobytes()
            assert part[i].seconds == part.seconds[i]
        assert not part.starts.flags.writeable
    assert batch.rhs(-1).of(0).tolist() == wanted[-1:]
    for wrong in (3, -4):
        with pytest.raises(errors.SizeError, match="below 3"):
            batch[wrong]
        with pytest.raises(errors.SizeError, match="below 3"):
            batch[[0, wrong]]
        with pytest.raises(errors.SizeError, match="below 3"):
            batch.rhs(wrong)
    for mask in ([True, False], np.array([True, False])):
        with pytest.raises(errors.SizeError, match="mask of a batch: expected size 3, received 2"):
            batch[mask]
    for strange in (1.5, [0.5], np.zeros((1, 1), dtype=int), np.ones((2, 2), dtype=int), "1", [[0]], None):
        with pytest.raises(errors.WrongObjectError, match="row of a batch: expected a whole number, a slice, a mask"):
            batch[strange]  # type: ignore[index]


def test_a_batch_counts_and_prints_its_rows() -> None:
    roof = Projector(Problem(Rn(1), [Implicit.zero(Affine([[1.0]], [-5.0]))], Bounds(Rn(1), [-1.0], [1.0])),
                     Options(max_iterations=3))  # fmt: skip
    batch = roof.project_batch([[0.0], [0.5]])
    assert not batch.success.any()
    assert sum(batch.counts.values()) == 2
    assert all(batch.counts.values())
    assert "largest residual" not in repr(batch)
    assert repr(batch).startswith("ProjectionBatch(2 rows: 2 ")
    spent = int((batch.iterations == 3).sum())
    assert spent in (1, 2)
    assert repr(batch).endswith(f"; {spent} failure{'s' * (spent > 1)} used all 3 iterations)")  # planner 1
    fine = line().project_batch([[0.0, 0.0]])
    assert fine.counts == {Status.CONVERGED: 1}
    assert repr(fine).startswith(
        f"ProjectionBatch(1 row: 1 CONVERGED; largest residual of a success {fine.residual[0]:.3g}"
    )


def test_starts_and_references_are_copied_and_checked_by_row() -> None:
    Q = np.array([[0, 0, 0, 1], [0, 0, 1, 0]], dtype=np.int32)
    starts = starts_of(SO3, Q)
    np.testing.assert_array_equal(starts, Q)
    assert starts.dtype == np.float64
    assert not np.shares_memory(starts, starts_of(SO3, starts))
    for bad, kind, said in (
        ([[0, 0, 0, 1], [0, 0, 0, 1.1]], errors.NotNormalizedError, "row 1 of Q"),
        ([[0, 0, np.nan, 1], [0, 0, 0, 1]], errors.NotFiniteError, "row 0 of Q"),
        ([0, 0, 0, 1], errors.SizeError, r"Q of SO3: expected .*\(n, 4\)"),
        ([[0, 0, 1]], errors.SizeError, r"\(n, 4\)"),
        ([["a"] * 4], errors.DtypeError, "Q"),
    ):
        with pytest.raises(kind, match=said):
            starts_of(SO3, bad)
    near = 1.0 + np.array([4e-7, -4e-7])
    np.testing.assert_array_equal(starts_of(SO3, [[0, 0, 0, near[0]], [0, 0, 0, near[1]]])[:, 3], near)
    one, many = references_of(Rn(2), [1.0, 2.0], 3), references_of(Rn(2), [[1.0, 2.0]] * 3, 3)
    assert (one.shape, many.shape) == ((2,), (3, 2))
    assert not one.flags.writeable
    assert not many.flags.writeable
    with pytest.raises(errors.SizeError, match="near"):
        references_of(Rn(2), [[1.0, 2.0]] * 2, 3)


def test_each_unit_block_of_a_row_is_looked_at() -> None:
    """To 1e-6, beside numbers whose squares are too large."""
    space = Rn(1) * SO3 * SO3
    good = np.tile([1e200, 0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8], (3, 1))
    np.testing.assert_array_equal(starts_of(space, good), good)
    for entries in (slice(1, 5), slice(5, 9)):
        for off in (6e-7, -6e-7, 2e-6, -2e-6):
            Q = good.copy()
            Q[1, entries] *= 1.0 + off
            if abs(off) < 1e-6:
                np.testing.assert_array_equal(starts_of(space, Q), Q)
                continue
            with pytest.raises(errors.NotNormalizedError, match=rf"row 1 of Q .*q\[{entries.start}:{entries.stop}\]"):
                starts_of(space, Q)


def test_flat_right_hand_sides_are_checked_by_row() -> None:
    """Rotations that are none, numbers on rows that take none: the row is named; roundings pass."""
    turn, still = Implicit.equal(Identity(SO3), name="turn"), Implicit.zero(Identity(SO3), name="still")
    problem = Problem(SO3, [turn, still])
    good = np.tile(problem.rhs.vector, (3, 1))
    assert sides_of(problem, good, 3).shape == (3, 8)  # type: ignore[union-attr]
    rounded = good.copy()
    rounded[1, 4] = 2e-14
    sides_of(problem, rounded, 3)
    for column, amount, kind in (
        (0, 0.1, errors.BatchRowError),
        (4, 1e-6, errors.BatchRowError),
        (2, np.nan, errors.NotFiniteError),
    ):
        bad = good.copy()
        bad[1, column] += amount
        with pytest.raises(kind, match="row 1"):
            sides_of(problem, bad, 3)
    with pytest.raises(errors.SizeError):
        sides_of(problem, good, 2)
    with pytest.raises(errors.SizeError, match=r"\(3, 8\)"):
        sides_of(problem, good[:, :7], 3)
    with pytest.raises(errors.WrongObjectError, match="row 1 of rhs"):
        sides_of(problem, [problem.rhs, 3.0], 2)  # type: ignore[list-item]


# A result.


def test_effort_in_words() -> None:
    """Used of what was given; tries; what to do about a failure, and nothing of it for a success."""
    far = Problem(Rn(1), [Implicit.zero(Function.from_callable(lambda q: q**2 + 1.0, Rn(1), Rn(1)))])
    spent = Projector(far, Options(max_iterations=3, restarts=False)).project([2.0])
    used = "all 3 iterations used, in 1 try, without restarts"
    assert spent.effort.startswith(f"{used}; more: `Options(max_iterations=1000)`; `diagnose()` says whether")
    tried = Projector(far, Options(max_iterations=60)).project([2.0])
    assert f" used, in {tried.restarts + 1} tries" in tried.effort
    alone = Projector(far, Options(max_iterations=500, restarts=False)).project([2.0])
    assert alone.iterations < 500
    assert alone.effort.startswith(
        f"{alone.iterations} of 500 iterations used, in 1 try, without restarts; `diagnose()`"
    )
    fine = line().project([0.0, 0.0])
    assert fine.effort == f"{fine.iterations} of {fine.options.max_iterations} iterations used, in 1 try"
    nowhere = Function.from_callable(lambda q: (_ for _ in ()).throw(errors.UndefinedError("no")), Rn(1), Rn(1))
    undefined = Projector(Problem(Rn(1), [Implicit.zero(nowhere)])).project([0.0])
    assert undefined.status is Status.UNDEFINED
    assert undefined.effort.endswith("`diagnose()` names the function")
    assert undefined.describe().splitlines()[0] == str(undefined)


def test_results_in_words() -> None:
    fine, failed = line().project([0.0, 0.0]), Projector(line().problem, Options(max_iterations=1, threshold=1e-9))
    spent = f"{fine.iterations} iteration{'s' * (fine.iterations > 1)}"
    assert str(fine) == f"{fine.status} (residual {fine.residual:.3g}, {spent})"
    assert repr(fine) == str(fine)
    lines = fine.describe().splitlines()
    assert lines[0] == str(fine)
    assert lines[2].startswith("  ")
    assert "'line'" in lines[2]  # the line before says which engine
    refined = Projector(line().problem, Options(nearest=True)).project([0.0, 0.0])
    assert f", stationarity {refined.stationarity:.1g})" in str(refined)
    assert fine.stationarity is None
    assert failed.project([1.0, 0.0]).success  # a solution already: no iteration is needed
    frozen = Problem(Rn(2), line().problem.constraints.owners, Bounds(Rn(2), [2.0, 2.0], [2.0, 2.0]))
    stuck = Projector(frozen).project([2.0, 2.0])
    assert not stuck.success
    assert str(stuck).startswith(f"{stuck.status} (residual 3; ")
    with pytest.raises(errors.WrongObjectError, match="unpacked value"):
        iter(fine)


def test_singular_values_by_level() -> None:
    """Those of each level's rows at q, whatever the other levels are."""
    robot = arm()
    hand, turn = Implicit.equal(Position(robot, "tool"), name="hand"), Implicit.equal(Orientation(robot, "tool"))
    problem = Problem(robot, [[hand], [turn], [Implicit.equal(Position(robot, "elbow"))]], optional_last=True)
    result = Projector(problem, Options(max_iterations=2)).project(robot.random(np.random.default_rng(1)))
    values, J = result.singular_values(), problem.jacobian(result.q)
    assert len(values) == 3
    for i, found in enumerate(values):
        np.testing.assert_allclose(found, np.linalg.svd(J[3 * i : 3 * i + 3], compute_uv=False), rtol=0, atol=1e-12)


def test_a_result_reads_everything_from_its_case_and_outcome() -> None:
    projector = Projector(line().problem, Options(nearest=True, trace=True))
    near, start = [0.3, 0.3], [2.0, 0.0]
    result = projector.project(start, near=near)
    assert result.near is not None
    assert (result.start.tolist(), result.near.tolist()) == (start, near)
    assert result.problem is projector.problem
    assert result.options is projector.options
    assert result.engine is projector.engine
    assert result.trace is not None
    np.testing.assert_allclose(result.q, [0.5, 0.5], atol=1e-9)
    assert result.error("line").tolist() == result.error().tolist()
    assert result.active_bounds == ()
    assert result.violations == ()
    assert result.seconds > 0.0
    assert replace(projector.options, trace=False) != projector.options


def test_a_diagnosis_has_one_set_of_defaults() -> None:
    """The method of a result and the function take the same, for the same."""
    method = dict(inspect.signature(Projection.diagnose).parameters)
    assert method.pop("self")
    own = {name: (it.kind, it.default) for name, it in method.items()}
    function = dict(inspect.signature(diagnose).parameters)
    assert function.pop("projection")
    assert own == {name: (it.kind, it.default) for name, it in function.items()}


# Workers.


@pytest.mark.parametrize(
    ("text", "named"), [("work()\n", True), ("", False), ('if __name__ == "__main__":\n    work()\n', False)]
)
def test_only_a_script_without_a_guard_is_suspected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, named: bool
) -> None:
    script = tmp_path / "script.py"
    script.write_text(text)
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert workers._without_guard() == ""  # pyright: ignore[reportPrivateUsage]
    main.__file__ = str(script)
    words = workers._without_guard()  # pyright: ignore[reportPrivateUsage]
    assert words == (f"{script} has no `__main__` guard ({workers.GUARD}); or " if named else "")
    main.__file__ = str(tmp_path / "gone.py")
    assert workers._without_guard() == ""  # pyright: ignore[reportPrivateUsage]


class Odd(Exception):
    """It does not survive pickling."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(a)

    def __reduce__(self) -> Any:
        raise TypeError("an error that cannot be pickled, whoever teaches pickle to do so (tblib)")


def test_what_a_worker_raised_is_raised_here() -> None:
    travels, again = workers._travels, workers._raise  # pyright: ignore[reportPrivateUsage]
    assert travels(ValueError("no"))
    assert not travels(Odd(1, 2))
    error = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught:
        again(Failure(error, "line 3"))
    assert caught.value is error
    assert error.__notes__ == ["in a worker, where the traceback was:\nline 3"]
    with pytest.raises(ValueError, match="no"):
        again(Failure(error, "line 4"))  # it was raised here before: it has its traceback
    assert len(error.__notes__) == 1
    with pytest.raises(Exception, match="cannot be sent back:\nline 5"):
        again(Failure(None, "line 5"))


def test_only_what_is_of_the_main_module_goes_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be imported elsewhere is pickled plainly; cloudpickle is asked for the rest, and where it fails too."""
    asked: list[tuple[Any, ...]] = []

    def dumps(given: tuple[Any, ...], protocol: int) -> bytes:
        asked.append(given)
        if given[-1] == 2:
            raise TypeError("not by value either")
        return b"by value"

    cloud = types.SimpleNamespace(import_module=lambda name: types.SimpleNamespace(dumps=dumps))
    monkeypatch.setattr(workers, "importlib", cloud)
    assert workers._pickled((len, 1)) == pickle.dumps((len, 1), protocol=pickle.HIGHEST_PROTOCOL)  # pyright: ignore
    assert asked == []
    assert workers._pickled(("__main__", 1)) == b"by value"  # pyright: ignore
    plain = pickle.dumps(("__main__", 2), protocol=pickle.HIGHEST_PROTOCOL)
    assert workers._pickled(("__main__", 2)) == plain  # pyright: ignore
    assert len(asked) == 2

    class Refuses:
        def __reduce__(self) -> str:
            raise TypeError("the first reason")

    with pytest.raises(NotPicklableError, match=r"\(the first reason\)"):
        workers._pickled((Refuses(), 2))  # pyright: ignore
