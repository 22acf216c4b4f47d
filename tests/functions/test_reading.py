"""Formulas read from Python functions: what is read is the function, with exact derivatives; what is not says why."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import Function, Implicit, Problem, Projector
from constraints.errors import FunctionError, UndefinedError
from constraints.solvers import why_not
from constraints.testing import check_function
from liegroups import SE3, SO3, Rn

RNG = np.random.default_rng(1)
A = RNG.normal(size=(3, 4))

READ: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "norm": (lambda q: np.linalg.norm(q), lambda q: [q / np.linalg.norm(q)]),
    "dot": (lambda q: q @ q - 1.0, lambda q: [2.0 * q]),
    "affine": (lambda q: A @ (q - [1, 2, 3, 4]) / 2, lambda q: A / 2),
    "rows": (lambda q: [q[0], 2.0, q[1:3].sum()], lambda q: [[1, 0, 0, 0], [0] * 4, [0, 1, 1, 0]]),
    "product": (lambda q: np.prod(q), lambda q: [np.prod(q) / q]),
    "waves": (lambda q: A @ np.sin(q), lambda q: A * np.cos(q)),
    "tangent": (lambda q: np.tan(q[0]) + np.arctan2(q[1], 2.0), lambda q: [
        [1 / np.cos(q[0]) ** 2, 2 / (4 + q[1] ** 2), 0, 0]]),
    "bell": (lambda q: np.exp(-((q - 0.3) ** 2).sum() / 2), lambda q: [
        (0.3 - q) * np.exp(-((q - 0.3) ** 2).sum() / 2)]),
    "beside arrays": (lambda q: q[0] * np.array([1.0, 2.0]) + np.array([q[1], 3]), lambda q: [
        [1, 1, 0, 0], [2, 0, 0, 0]]),
    "cross": (lambda q: np.cross(q[:3], [0, 0, 1]), lambda q: [[0, 1, 0, 0], [-1, 0, 0, 0], [0] * 4]),
    "logarithm": (lambda q: np.log(q[0]) + q[1] ** 3 + 1 / q[2], lambda q: [
        [1 / q[0], 3 * q[1] ** 2, -1 / q[2] ** 2, 0]]),
    "hypot": (lambda q: np.hypot(q[0], 2.0), lambda q: [[q[0] / np.hypot(q[0], 2), 0, 0, 0]]),
    "a number beside arrays": (lambda q: q[0] * A[0] + (q[1] + A[1]) + (q[2] - A[2]) + q[3] / (2 + A[2] ** 2),
        lambda q: np.transpose([A[0], [1] * 4, [1] * 4, 1 / (2 + A[2] ** 2)])),
    "signs": (lambda q: +q[0] - -q[1] + (2.0 - q[2]), lambda q: [[1, 1, -1, 0]]),
    "root": (lambda q: q[0] ** 0.5 + 3.0 * q[1] ** 1.0, lambda q: [[0.5 / np.sqrt(q[0]), 3, 0, 0]]),
    "what cancels": (lambda q: (0.0 * q[0] + 3.0) * q[1] + q[2] * (q[0] - q[0] + 2.0), lambda q: [[0, 3, 2, 0]]),
    "conjugate": (lambda q: np.conj(q) @ q, lambda q: [2.0 * q]),
    "pole": (lambda q: q[1] / q[0], lambda q: [[-q[1] / q[0] ** 2, 1 / q[0], 0, 0]]),  # some are near
}  # fmt: skip
"""Functions with their Jacobians, by hand."""

UNREAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    "branch": (lambda q: q[0] if q[0] > 0 else 2 * q[0], "it branches on a value"),
    "comparison": (lambda q: np.where(q > 0, q, 0.0).sum(), "it branches on a value"),
    "largest": (lambda q: np.max(q), "it branches on a value"),
    "number": (lambda q: math.sin(q[0]), "it hands a value to something that takes numbers alone"),
    "array": (lambda q: np.array(q, dtype=float).sum(), "it hands a value to something that takes numbers alone"),
    "kink": (lambda q: abs(q[0]), "it takes an absolute value"),
    "remainder": (lambda q: q[0] % 1.0, "it takes remainders"),
    "unknown": (lambda q: np.tanh(q[0]), "has no callable tanh method"),
    "beyond": (lambda q: [x for x in q] and q[4], "IndexError"),
    "loop of a number": (lambda q: sum(x for x in q[0]), "TypeError"),
    "writing": (lambda q: q.__setitem__(0, 1.0) or q[0], "ValueError"),
    "constant": (lambda q: 2.0, "it gives numbers"),
    "of wrong size": (lambda q: q, "its value has another size"),
    "told apart": (lambda q: q[0] if q.dtype == object else q[1], "its formula gives other values"),
    "exponent": (lambda q: q[0] ** q[1], "it has an exponent that is not a number"),
    "nowhere": (lambda q: np.log(q[0] - 1.99), "it has a value at few configurations"),
    "truth": (lambda q: q[0] + True, "it combines a value with bool True"),
    "text": (lambda q: q[0] + "one", "it combines a value with str 'one'"),
    "infinity": (lambda q: q[0] * np.inf, "it combines a value with float inf"),
    "nothing below": (lambda q: q[0] / (q[1] - q[1]), "it divides by a number that is 0"),
    "powers": (lambda q: q[0] ** np.array([q[1]]), "it has an exponent that is not a number"),
    "error": (lambda q: q[0] if q.dtype == object else {}[0], "it raises KeyError where its formula has a value"),
    "elsewhere": (
        lambda q: np.log(q[0] - 9.0) if q.dtype == object else q[0],
        "its formula has no value where it has one",
    ),
    "long": (lambda q: sum(np.sin((i + 1) * q[0]) for i in range(400)), "it has more than 300 operators"),
}


COMPLEX = ("branch", "comparison", "largest", "writing", "unknown", "constant", "told apart", "exponent", "long",
           "truth", "powers", "elsewhere")  # fmt: skip
"""Those of them that take complex numbers."""


def made(f: Callable[[Any], Any], **options: Any) -> Any:
    return Function.from_callable(f, Rn(4), Rn(np.size(f(np.full(4, 2.5)))), name="mine", **options)


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_the_function_with_its_exact_jacobian(name: str) -> None:
    f, jacobian = READ[name]
    read = made(f)
    assert read.describe().startswith("mine: read as ")
    assert read.describe().endswith("with what it captured when it was made")
    assert read.has_exact_drift
    for q in RNG.uniform(0.2, 2.0, (5, 4)):
        np.testing.assert_allclose(read.value(q), np.reshape(f(q), -1), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(read.jacobian(q), jacobian(q), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_read_is_called_and_says_why(name: str) -> None:
    f, reason = UNREAD[name]
    outputs = Rn(1)
    left = Function.from_callable(f, Rn(4), outputs, name="mine")
    assert left.read is None
    by = "complex steps" if name in COMPLEX else "central differences"
    assert left.describe().startswith(f"mine: in Python, with {by} (")
    assert reason in left.describe()


def test_a_row_that_is_read_wrongly_is_told_beside_a_larger_one() -> None:
    f = made(lambda q: [1e20 * q[2], q[0] if q.dtype == object else q[1]])
    assert f.read is None
    assert "its formula gives other values" in f.describe()


def test_a_jacobian_that_is_given_is_kept_and_reading_can_be_turned_off() -> None:
    given = made(lambda q: q @ q, jacobian=lambda q: 7.0 * q)
    np.testing.assert_array_equal(given.jacobian([1.0, 2.0, 3.0, 4.0]), [[7.0, 14.0, 21.0, 28.0]])
    assert given.describe() == "mine: in Python, with the Jacobian that was given (its Jacobian is given)"
    assert made(lambda q: q @ q, trace=False).describe().endswith("complex steps (trace=False)")


def test_what_is_captured_is_frozen_where_it_is_read() -> None:
    target = np.array([1.0, 2.0, 3.0, 4.0])
    read, called = (made(lambda q: q - target, trace=trace) for trace in (True, False))
    target[:] = 0.0
    np.testing.assert_array_equal(read.value(np.zeros(4)), [-1.0, -2.0, -3.0, -4.0])
    np.testing.assert_array_equal(called.value(np.zeros(4)), np.zeros(4))


def test_single_numbers_of_rotations_are_not_read() -> None:
    position = Function.from_callable(lambda q: q[:3] * 2.0, Rn(3) * SO3, Rn(3), name="place")
    assert position.read is not None
    np.testing.assert_array_equal(position.columns, np.arange(6) < 3)
    assert "a rotation or pose" in Function.from_callable(lambda q: q[3], SE3, Rn(1)).describe()
    assert "its values are in SO3" in Function.from_callable(lambda q: q[3:], SE3, SO3).describe()
    for f, inputs, outputs in ((lambda q: q[3:], Rn(3) * SO3, SO3), (lambda q: q[:1], SO3, Rn(1))):
        why = "complex steps need coordinates and values that are numbers"
        assert Function.from_callable(f, inputs, outputs).describe().endswith(f"; {why})")


def test_columns_that_were_declared_are_held_to() -> None:
    some = np.array([True, False, False, False])
    assert made(lambda q: q[0] ** 2, columns=some).read is not None
    assert "columns that were not declared" in made(lambda q: q[0] * q[1], columns=some).describe()


def test_a_function_that_writes_into_its_argument_is_still_told() -> None:
    def writing(q: Any) -> Any:
        q[0] = 3.0
        return q[1]

    with pytest.raises(FunctionError, match="writes into its argument"):
        made(writing).jacobian(np.zeros(4))


def test_where_it_has_no_value_the_function_is_named() -> None:
    with pytest.raises(UndefinedError, match="mine: "):
        made(lambda q: np.log(q[0])).jacobian([-1.0, 0.0, 0.0, 0.0])


def half(q: Any) -> Any:
    return q[0] * q[1] - 0.5


def test_it_travels() -> None:
    f = made(half)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again.jacobian([1.0, 2.0, 3.0, 4.0]), f.jacobian([1.0, 2.0, 3.0, 4.0]))


def test_problems_with_it_need_no_python() -> None:
    pytest.importorskip("numba")
    robot = arm()
    f = Function.from_callable(lambda q: np.sin(q[0]) * q[1] - 0.1, robot.space, Rn(1), name="mine")
    check_function(f, pickles=False)
    problem = Problem(robot, [Implicit.zero(f)])
    assert why_not(problem) is None
    assert str(problem).endswith("solved by the compiled engine")
    q = np.full(robot.nq, 0.3)
    mine, theirs = (Projector(problem, engine=engine).project(q) for engine in ("compiled", "readable"))
    assert mine.success
    np.testing.assert_allclose(mine.q, theirs.q, atol=1e-9)


# Complex steps.

M = np.array([[3.0, 1.0], [0.5, 2.0]])
KINKS: dict[str, Callable[[Any], Any]] = {
    "absolute value": lambda q: np.abs(q[0]) + q[1],
    "norm": lambda q: np.linalg.norm(q) + 0.0 * np.tanh(q[0]),
    "conjugate": lambda q: np.tanh(np.conj(q[0])),
    "real part": lambda q: np.tanh(np.real(q[0])) + q[1],
    "scalar product of complex vectors": lambda q: np.vdot(q, q) * np.tanh(1.0),
    "discarded": lambda q: np.asarray(q, dtype=np.float64).sum(),
    "branch by kind": lambda q: np.tanh(q[0]) if np.isrealobj(q) else np.tanh(q[0]) + 1e-22j,
    "root": lambda q: np.sqrt(np.tanh(q[0]) ** 2 - 2.0) + q[1] if np.iscomplexobj(q) else np.tanh(q[0]) + q[1],
}  # fmt: skip
"""What takes complex numbers, and has other derivatives by them."""


def test_what_takes_complex_numbers_has_its_derivatives_to_rounding() -> None:
    """A branch, a function that formulas do not have, a linear system; beside a rotation, too."""
    rng = np.random.default_rng(4)
    solved = made(lambda q: np.linalg.solve(M + np.diag(q[:2]), np.tanh(q[2:])))
    bent = made(lambda q: q[0] ** 3 if q[0] > 0.0 else np.sinh(q[0] * q[1]))
    for q in rng.uniform(-0.8, 2.0, (20, 4)):
        A, b = M + np.diag(q[:2]), np.tanh(q[2:])
        x = np.linalg.solve(A, b)
        truth = np.linalg.solve(A, np.hstack([-np.diag(x), np.diag(1.0 - b * b)]))
        np.testing.assert_allclose(solved.jacobian(q), truth, rtol=1e-13, atol=1e-13)
        c = np.cosh(q[0] * q[1])
        truth = [[3.0 * q[0] ** 2, 0, 0, 0]] if q[0] > 0.0 else [[q[1] * c, q[0] * c, 0, 0]]
        np.testing.assert_allclose(bent.jacobian(q), truth, rtol=1e-14, atol=1e-14)
    assert (solved.calls_for_jacobian, bent.has_exact_drift) == (6, False)
    posed = Function.from_callable(lambda q: np.tanh(q[0]) * q[6], Rn(3) * SO3, Rn(1), name="mine")
    assert posed.describe().startswith("mine: in Python, with complex steps, along rotations central differences (")
    q = posed.inputs.integrate(posed.inputs.neutral, rng.standard_normal(6))
    truth = np.r_[(1.0 - np.tanh(q[0]) ** 2) * q[6], 0.0, 0.0, -0.5 * np.tanh(q[0]) * q[3:6]]
    np.testing.assert_allclose(posed.jacobian(q)[0], truth, atol=1e-9)
    assert posed.jacobian(q)[0, 0] == pytest.approx(truth[0], rel=1e-14)


def test_what_asks_a_robot_is_said_to_take_real_numbers_only() -> None:
    robot = arm()
    f = Function.from_callable(lambda q: robot.at(q).placement("tool").translation[2], robot.space, Rn(1), name="mine")
    why = "it calls something that takes real numbers only; it raises DtypeError for a complex number"
    assert f.describe() == f"mine: in Python, with central differences ({why})"


@pytest.mark.parametrize("name", KINKS)
def test_what_only_seems_to_take_complex_numbers_has_differences(name: str) -> None:
    for scale in (1e-6, 1.0, 1e6):
        f = made(lambda q, scale=scale: scale * KINKS[name](q), trace=False)
        why = "complex steps do not give its derivatives"
        assert f.describe() == f"mine: in Python, with central differences (trace=False; {why})"


SMALL: dict[str, Callable[[Any], Any]] = {
    "row below a large one": lambda q: [2e6 * np.tanh(q[0]), np.abs(q[1]) - 0.3],
    "norm below a large row": lambda q: [2e6 * np.tanh(q[0]), np.linalg.norm(q[1:]) - 0.3],
    "real part below a large row": lambda q: [1e6 * q[0], 1e-6 * np.real(q[1])],
    "conjugate below a large row": lambda q: [1e6 * q[0], 1e-6 * np.tanh(np.conj(q[1]))],
    "entry beside a large one": lambda q: q[0] + 1e-7 * np.abs(q[1]),
    "entry beside a large one, in a small row": lambda q: [1e6 * q[0], 1e-6 * (q[0] + 1e-7 * np.linalg.norm(q[1:]))],
    "part of an entry": lambda q: np.tanh(q[0]) + 1e-7 * np.abs(q[0]),
}
"""What complex steps miss, beside much larger slopes."""


@pytest.mark.parametrize("name", SMALL)
def test_a_slope_that_complex_steps_miss_is_found_beside_larger_ones(name: str) -> None:
    """At declaration; and where only a branch has it, when the Jacobian is made."""
    f = SMALL[name]
    assert "differences (trace=False; complex steps do not give its derivatives)" in made(f, trace=False).describe()
    branching = made(lambda q: f(q) if q[3] > 2.0 else [np.tanh(x) for x in q[: np.size(f(np.real(q)))]], trace=False)
    assert branching.describe() == "mine: in Python, with complex steps (trace=False)"
    q, h = np.array([0.2, 0.7, -0.4, 2.5]), 1e-4
    ends = [[np.reshape(f(q + s * h * e), -1) for e in np.eye(4)] for s in (-1.0, 1.0)]
    truth = (np.array(ends[1]) - np.array(ends[0])).T / (2.0 * h)
    error = np.abs(branching.jacobian(q) - truth).max(axis=1)
    assert (error <= 1e-8 * np.abs(truth).max(axis=1)).all()
    assert branching.jacobian(q)[-1, 1 if "part" not in name or "real" in name else 0] != 0.0


HONEST: dict[str, Callable[[Any], Any]] = {
    "linear solve": lambda q: np.linalg.solve(S + np.diag(q), np.sin(q)),
    "inverse": lambda q: np.linalg.inv(S + np.outer(q, q)) @ q,
    "polynomial": lambda q: [q[0] ** 7 - 3.0 * q[1] ** 2 * q[2], q @ q, np.prod(q)],
    "trigonometry": lambda q: [np.sin(q.sum()) * np.cos(3.0 * q[0]), np.arctan(q[1]) + np.tan(q[2] / 4.0)],
    "cancelling": lambda q: 1e6 * np.cos(q[:2]) - 1e6,
    "not used": lambda q: [q[6], 0.0 * q[0] + 5.0],
    "rational": lambda q: q[0] / (1.0 + q[1:] ** 2),
    "scales": lambda q: np.sinh(q) * 10.0 ** np.arange(-6.0, 7.0, 2.0),
    "scales in a row": lambda q: np.sinh(q) @ 10.0 ** np.arange(-6.0, 7.0, 2.0),
}
S = 3.0 * np.eye(7) + np.random.default_rng(5).standard_normal((7, 7))


@pytest.mark.parametrize("name", HONEST)
def test_what_is_analytic_has_complex_steps_at_every_scale(name: str) -> None:
    for scale in (1e-6, 1.0, 1e6):

        def f(q: Any, scale: float = scale) -> Any:
            return scale * np.asarray(HONEST[name](q))

        mine = Function.from_callable(f, Rn(7), Rn(np.size(f(np.ones(7)))), trace=False)
        assert mine.describe() == "f: in Python, with complex steps (trace=False)"
        q = np.linspace(-0.9, 1.1, 7)
        exact = np.transpose([np.reshape(f(q + 1e-30j * e).imag / 1e-30, -1) for e in np.eye(7)])
        for row, truth in zip(mine.jacobian(q), exact, strict=True):
            np.testing.assert_allclose(row, truth, rtol=1e-14, atol=1e-14 * np.abs(truth).max())


def test_a_function_may_give_its_own_buffers_to_complex_steps() -> None:
    buffers = {kind: np.zeros(2, dtype=kind) for kind in (np.float64, np.complex128)}

    def f(q: Any) -> Any:
        out = buffers[q.dtype.type]
        out[:] = np.tanh(q[:2])
        return out

    mine = made(f, trace=False)
    assert "complex steps (" in mine.describe()
    slopes = 1.0 - np.tanh([0.3, 0.9]) ** 2
    np.testing.assert_allclose(mine.jacobian([0.3, 0.9, 0.0, 0.0])[:, :2], np.diag(slopes), rtol=1e-14)


def test_what_the_test_of_complex_steps_raises_is_said() -> None:
    def odd(q: Any) -> Any:
        if q[0] > 1.0:
            raise KeyError(q[0])
        return np.tanh(q[0])

    def partial(q: Any) -> Any:
        if q[0] > 1.0:
            raise UndefinedError("nothing there")
        return np.tanh(q[0])

    assert "with central differences (trace=False; it raises KeyError for a real number)" in made_of(odd).describe()
    told = made_of(lambda q: math.sin(q[0]) + np.floor(q[0])).describe()
    assert "with central differences (trace=False; it raises TypeError for a complex number)" in told
    assert made_of(partial).describe() == "partial: in Python, with complex steps (trace=False)"
    assert "it has a value at few" in made_of(lambda q: np.log(q[0] - 1.99)).describe()


def made_of(f: Callable[[Any], Any]) -> Any:
    return Function.from_callable(f, Rn(4), Rn(1), trace=False)


@pytest.mark.parametrize("n", [1, 10, 30])
def test_the_test_of_complex_steps_takes_few_calls(n: int) -> None:
    calls = list[Any]()
    f = Function.from_callable(lambda q: calls.append(q) or np.tanh(q).sum(), Rn(n), Rn(1), trace=False)
    assert (len(calls), f.calls_for_jacobian) == (26 + 6 * n, n + 2)
    f.value(np.zeros(n))
    f.linearise(np.zeros(n))  # looked at once
    calls.clear()
    f.linearise(np.zeros(n))
    assert len(calls) == 1 + f.calls_for_jacobian


def test_where_a_complex_step_is_wrong_the_difference_is_taken() -> None:
    """An absolute value beyond the configurations that were tried; a branch there that refuses complex numbers."""
    for beyond in (abs, lambda x: math.sinh(x)):
        f = made(lambda q, beyond=beyond: np.tanh(q[0] * q[1]) if q[0] < 2.5 else beyond(q[0]) * q[1])
        assert "complex steps" in f.describe()
        for q in ([1.0, 0.5, 0.0, 0.0], [3.0, 0.5, 0.0, 0.0]):
            h = 1e-6
            truth = [(f.value(q + h * e) - f.value(q - h * e))[0] / (2.0 * h) for e in np.eye(4)]
            np.testing.assert_allclose(f.jacobian(q)[0], truth, atol=1e-8)
