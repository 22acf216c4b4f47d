"""Functions that kernels call, in Python and in machine code: as the readable engine has them, and its errors."""

from __future__ import annotations

import ctypes
import gc
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from called_functions import ARM, Boom, differs
from each_choice import draws

from constraints import Function, Implicit, Options, Position, Problem, Projector
from constraints.errors import FunctionError, NotPicklableError, UndefinedError
from constraints.functions.from_callable import CompiledFunction
from constraints.paths import interpolate
from constraints.solvers import CompiledEngine, Status, why_not
from liegroups import Rn

numba: Any = pytest.importorskip("numba")

from constraints.solvers.compiled.problem import packed  # noqa: E402

ENGINES = "compiled", "readable"
RNG = np.random.default_rng(0)


def circle(q: Any) -> Any:
    return [q @ q - 1.0]


def radial(q: Any) -> Any:
    return [2.0 * q]


def beyond(q: Any) -> Any:
    if q[0] > 2.0:
        raise Boom("beyond")
    return circle(q)


def problem_of(f: Callable[[Any], Any], jacobian: Any = radial, n: int = 3) -> Problem:
    """A sphere, by a Python function."""
    return Problem(Rn(n), [Implicit.zero(Function.from_callable(f, Rn(n), Rn(1), jacobian, trace=False))])


@draws(25, 1000)
def test_both_engines_agree_on_functions_of_users(count: int) -> None:
    """In status, configuration to 1e-9, and error; a case by itself may differ where a rounding of the start does."""
    found = {seed: words for seed in range(count) if (words := differs(seed))}
    assert not found


# Exceptions.


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_function_raises_is_raised_as_it_is(engine: str, capfd: pytest.CaptureFixture[str]) -> None:
    """From one projection, a batch, threads, an evaluation, a path; never printed, and the next call works."""
    projector, far, near = Projector(problem_of(beyond), engine=engine), np.full(3, 2.5), np.full(3, 0.3)
    rows = np.array([near] * 20 + [far] + [near] * 20)
    calls: list[Callable[[], object]] = [
        lambda: projector.project(far),
        lambda: projector.project_batch(rows),
        lambda: projector.project_batch(rows, executor=threads),
        lambda: projector.residual(far),
        lambda: projector.jacobian(far),
        lambda: projector.tangent_basis(far),
        lambda: interpolate(projector, np.array([1.0, 0.0, 0.0]), far),
    ]
    with ThreadPoolExecutor(2) as threads:
        for call in calls:
            with pytest.raises(Boom, match=r"^beyond") as raised:
                call()
            notes = " ".join(raised.value.__notes__)
            assert notes.startswith("raised by the function 'beyond' at q = [2.5 2.5 2.5]")
            assert projector.project(near).success
            assert projector.residual(near) == pytest.approx(0.73)
        with pytest.raises(Boom) as raised:
            projector.project_batch(rows)
        assert raised.value.__notes__[-1] == "in row 20 of the batch"
    said = capfd.readouterr()
    assert said.out == ""
    assert [line for line in said.err.splitlines() if not line.startswith("lie-constraints: compiling")] == []


@pytest.mark.program
def test_what_a_function_raises_in_a_worker_is_raised_here() -> None:
    rows = np.array([[0.3, 0.3, 0.3], [2.5, 2.5, 2.5]])
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        projector = Projector(problem_of(beyond))
        assert np.array_equal(projector.project_batch(rows[:1], executor=executor).q[0], projector.project(rows[0]).q)
        with pytest.raises(Boom, match="beyond"):
            projector.project_batch(rows, executor=executor)


def test_nothing_is_called_after_an_exception() -> None:
    """Neither in the projection, nor by functions beside it."""
    seen = list[int]()

    def first(q: Any) -> Any:
        seen.append(1)
        if len(seen) == 2:
            raise Boom
        return circle(q)

    def second(q: Any) -> Any:
        seen.append(2)
        return [q[0]]

    f, g = (Function.from_callable(h, Rn(3), Rn(1), lambda q: np.ones((1, 3))) for h in (first, second))
    projector = Projector(Problem(Rn(3), [Implicit.zero(f), Implicit.zero(g)]))
    with pytest.raises(Boom):
        projector.project([1.0, 2.0, 3.0])
    assert seen.count(1) == 2
    assert seen[-1] == 1


def test_an_interrupt_ends_a_projection_and_keeps_the_rows_of_a_batch() -> None:
    interrupts = list[float]()

    def interrupted(q: Any) -> Any:
        if interrupts and q[0] > interrupts[0]:
            raise KeyboardInterrupt
        return circle(q)

    projector = Projector(problem_of(interrupted))
    rows = np.linspace(0.1, 1.9, 200)[:, None] * np.ones(3)
    whole = projector.project_batch(rows)
    interrupts.append(1.5)
    with pytest.raises(KeyboardInterrupt):
        projector.project(rows[-1])
    with pytest.raises(KeyboardInterrupt) as stop:
        projector.project_batch(rows)
    done: Any = stop.value
    assert len(done.rows) > 0
    assert np.array_equal(done.batch.q, whole.q[done.rows])


def test_a_callback_that_is_interrupted_outside_of_our_code_is_an_interrupt() -> None:
    """Ctypes returns 0 for it, which no callback does."""
    calls = packed(problem_of(circle), Options()).calls
    assert calls is not None
    assert isinstance(calls.error(0, 0), KeyboardInterrupt)


# Batches, threads, pickles, lifetimes.


def wavy(q: Any) -> Any:
    if q[1] < -0.9:
        raise UndefinedError("nothing there")
    return [np.sin(3.0 * q[0]) + q[1] * q[2] - 0.4, q @ q - 1.1]


def test_rows_have_the_bits_of_single_calls_on_threads_too() -> None:
    place = Implicit.equal(Position(ARM, "tool")[:2], [0.35, 0.2])
    mine = Function.from_callable(wavy, ARM.space, Rn(2), columns=np.arange(7) < 7)
    projector = Projector(Problem(ARM, [place, Implicit.zero(mine)]), Options(max_iterations=30))
    Q = np.array([ARM.random(RNG) for _ in range(60)])
    batch = projector.project_batch(Q)
    assert {Status.CONVERGED} < set(batch.status)
    for i, q in enumerate(Q):
        alone = projector.project(q)
        assert np.array_equal(alone.q, batch.q[i])
        assert (alone.status, alone.iterations, alone.restarts) == (
            batch.status[i], batch.iterations[i], batch.restarts[i],
        )  # fmt: skip
    with ThreadPoolExecutor(2) as threads:
        assert np.array_equal(projector.project_batch(np.tile(Q, (5, 1)), executor=threads).q, np.tile(batch.q, (5, 1)))


def test_a_function_is_called_once_a_lane_that_runs() -> None:
    counted = list[Any]()

    def f(q: Any) -> Any:
        counted.append(q.copy())
        return circle(q)

    projector = Projector(problem_of(f))
    rows = np.random.default_rng(3).uniform(-2.0, 2.0, (21, 3))
    projector.project(rows[0])  # what looks at the function once
    counted.clear()
    for row in rows:
        projector.project(row)
    alone, in_lanes = len(counted), counted.clear()
    projector.project_batch(rows)
    in_lanes = len(counted)
    assert alone <= in_lanes <= alone + len(rows)  # which are looked at by value, before their first step
    counted.clear()
    projector.project_batch(rows[:1])
    assert len({q.tobytes() for q in counted}) <= len(counted) <= len({q.tobytes() for q in counted}) + 1


def test_a_copy_of_the_argument_is_the_functions_own() -> None:
    kept = list[Any]()

    def keeping(q: Any) -> Any:
        kept.append(q)
        return circle(q)

    Projector(problem_of(keeping)).project([1.0, 2.0, 3.0])
    assert np.array_equal(kept[0], [1.0, 2.0, 3.0])
    assert len({id(q) for q in kept}) == len(kept)


def test_pickles_have_the_function_and_no_address() -> None:
    projector = Projector(problem_of(circle))
    found = projector.project([3.0, 4.0, 5.0])
    again: Projector = pickle.loads(pickle.dumps(projector))
    assert isinstance(again.project([3.0, 4.0, 5.0]).engine, CompiledEngine)
    assert np.array_equal(again.project([3.0, 4.0, 5.0]).q, found.q)
    assert pickle.dumps(Projector(problem_of(circle))) == pickle.dumps(projector)


def test_a_function_may_project_with_its_own_projector() -> None:
    """Each call has a memory of its own."""
    depth, holder = list[int](), list[Projector]()

    def recursive(q: Any) -> Any:
        if not depth:
            depth.append(1)
            inner = holder[0].project(0.5 * q)
            depth.clear()
            assert inner.success
        return circle(q)

    holder.append(Projector(problem_of(recursive)))
    found = holder[0].project([3.0, 4.0, 5.0])
    assert np.array_equal(found.q, Projector(problem_of(circle)).project([3.0, 4.0, 5.0]).q)


def test_the_program_owns_what_it_calls() -> None:
    projector = Projector(problem_of(lambda q: circle(q)))
    found = projector.project([3.0, 4.0, 5.0]).q
    for _ in range(3):
        gc.collect()
        rubbish = [Projector(problem_of(lambda q: [q[0]])) for _ in range(20)]
        assert np.array_equal(projector.project([3.0, 4.0, 5.0]).q, found)
        del rubbish
    projectors = [Projector(problem_of(circle)) for _ in range(8)]
    threads = [threading.Thread(target=p.project, args=([3.0, 4.0, 5.0],)) for p in projectors]
    for thread in threads:
        thread.start()
    del projectors
    for thread in threads:
        thread.join()


# What is said of it.


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="kernels in Python take most of the time themselves")
def test_results_problems_and_one_warning_say_what_runs_in_python(caplog: pytest.LogCaptureFixture) -> None:
    problem = problem_of(circle, None)
    projector = Projector(problem)
    for _ in range(6):
        result = projector.project([3.0, 4.0, 5.0])
    assert str(problem).endswith("solved by the compiled engine, which calls circle in Python")
    assert " % of the time in Python: circle" in str(result)
    assert "circle has no Jacobian, which costs 5 calls each time" in result.describe()
    said = [record.getMessage() for record in caplog.records if "in Python" in record.getMessage()]
    assert len(said) == 1
    assert "`Function.compiled` costs no Python" in said[0]
    readable = Projector(problem, engine="readable").project([3.0, 4.0, 5.0])
    assert "in Python" not in str(readable)


# Machine code.


def machine_code(function: Any) -> Any:
    """Compiled by numba, also where kernels run as Python functions."""
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 0
    try:
        return numba.cfunc("intc(CPointer(double), CPointer(double), CPointer(double))")(function)
    finally:
        numba.config.DISABLE_JIT = before


@machine_code
def sphere(q, value, jacobian):
    value[0] = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1.0
    if numba.carray(jacobian, (1, 3)).ctypes.data != 0:
        for i in range(3):
            jacobian[i] = 2.0 * q[i]
    return 0


@machine_code
def hemisphere(q, value, jacobian):
    value[0], value[1] = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1.0, q[2]
    if numba.carray(jacobian, (2, 3)).ctypes.data != 0:
        for i in range(6):
            jacobian[i] = 0.0
        for i in range(3):
            jacobian[i] = 2.0 * q[i]
        jacobian[5] = 1.0
    if q[2] < 0.0:
        return 1
    return 0 if q[0] < 7.0 else 5


POINTER = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_double)] * 3)(sphere.address)


@pytest.mark.parametrize("code", [sphere, sphere.address, POINTER], ids=["numba", "address", "ctypes"])
def test_both_engines_call_machine_code(code: Any) -> None:
    f = Function.compiled(code, Rn(3), Rn(1), name="sphere")
    problem = Problem(Rn(3), [Implicit.zero(f)])
    assert why_not(problem) is None
    assert str(problem).endswith("solved by the compiled engine")
    known = Projector(problem_of(circle), engine="readable").project([3.0, 4.0, 5.0])
    for engine in ENGINES:
        found = Projector(problem, engine=engine).project([3.0, 4.0, 5.0])
        assert found.success
        np.testing.assert_allclose(found.q, known.q, atol=1e-12)
    np.testing.assert_array_equal(f.jacobian([1.0, 2.0, 3.0]), [[2.0, 4.0, 6.0]])


def test_machine_code_says_where_it_has_no_value_and_nothing_else() -> None:
    f = Function.compiled(hemisphere, Rn(3), Rn(2), name="hemisphere")
    for engine in ENGINES:
        projector = Projector(Problem(Rn(3), [Implicit.equal(f, [0.0, 0.5])]), Options(restarts=False), engine)
        assert projector.project([1.0, 1.0, 1.0]).success
        assert projector.project([1.0, 1.0, -1.0]).status is Status.UNDEFINED
        with pytest.raises(FunctionError, match="hemisphere returned 5; a compiled function returns 0 with a value"):
            projector.project([8.0, 1.0, 1.0])
        with pytest.raises(FunctionError, match="hemisphere returned 5"):
            projector.project_batch([[1.0, 1.0, 1.0], [8.0, 1.0, 1.0]])
    with pytest.raises(UndefinedError, match="hemisphere has no value there"):
        f.value([1.0, 1.0, -1.0])


def test_columns_that_machine_code_does_not_declare_are_left_alone() -> None:
    f = Function.compiled(sphere, Rn(3), Rn(1), columns=[True, False, True], name="sphere")
    np.testing.assert_array_equal(f.jacobian([1.0, 2.0, 3.0]), [[2.0, 0.0, 6.0]])
    found = [Projector(Problem(Rn(3), [Implicit.zero(f)]), engine=e).project([3.0, 0.5, 5.0]).q for e in ENGINES]
    assert found[0][1] == found[1][1] == 0.5
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def test_machine_code_travels_as_its_python_function_or_says_why_not() -> None:
    f = Function.compiled(sphere, Rn(3), Rn(1), name="sphere")
    again: CompiledFunction = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again.value([1.0, 2.0, 3.0]), [13.0])
    for code in (sphere.address, POINTER):
        with pytest.raises(NotPicklableError, match="sphere is an address of this process"):
            pickle.dumps(Function.compiled(code, Rn(3), Rn(1), name="sphere"))
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        projector = Projector(Problem(Rn(3), [Implicit.zero(f)]))
        assert projector.project_batch([[3.0, 4.0, 5.0]], executor=executor).success.all()
