"""Formulas by the kernels: against 50 digits, where they have no value, equal parts once, and projections."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from expression_trees import Tree
from robots import arm

from constraints import Function, Implicit, Options, Position, Problem, Projector, Rotation, Status
from constraints.errors import UndefinedError
from constraints.functions import Identity, atan2, cos, cross, exp, inverse, log, norm, rotated, sin, smooth_abs, sqrt
from constraints.functions.expressions.operators import OPERATORS
from liegroups import Rn

pytest.importorskip("numba")

from compiled.test_functions import Packed

from constraints.solvers import why_not
from constraints.solvers.compiled.operators import OF_ONE_NUMBER, OF_TWO_NUMBERS, OF_VECTORS
from constraints.solvers.machine import layout

LIMIT = 1e-14
"""Of the bounds of rounding."""
ROBOT = arm()
X: Any = Identity(Rn(3))
P: Any = Position(ROBOT, "tool")
E, R = Position(ROBOT, "elbow"), Rotation(ROBOT, "tool")


def test_each_operator_has_its_instruction() -> None:
    packed = [*OF_ONE_NUMBER, *OF_TWO_NUMBERS, *OF_VECTORS, "dot", "norm", "inverse"]
    assert sorted(packed) == sorted(OPERATORS)


@pytest.mark.parametrize("seed", range(100, 110))
def test_trees_are_what_they_are_in_fifty_digits(seed: int) -> None:
    """The long one: `python benchmarks/expressions.py --trees 1000`."""
    tree = Tree.drawn(seed)
    value, J = Packed(tree.function).linearise(tree.q)
    assert tree.value_error(value) < LIMIT
    assert tree.jacobian_error(J) < LIMIT


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (X / X[1], [1.0, 0.0, 1.0]),
        (1.0 / X, [1.0, 0.0, 1.0]),
        (X**-2, [1.0, 0.0, 1.0]),
        (X**0.5, [1.0, 0.0, 1.0]),
        (X**0.5, [1.0, -2.0, 1.0]),
        (X**9, [1e200, 1.0, 1.0]),
        (log(X), [1.0, 0.0, 1.0]),
        (log(X), [1.0, 1.0, -1.0]),
        (sqrt(X), [1.0, -2.0, 1.0]),
        (sqrt(X), [1.0, 0.0, 1.0]),
        (norm(X), [0.0, 0.0, 0.0]),
        (norm(X), [1e-13, 0.0, 0.0]),
        (atan2(X[0], X[1]), [0.0, 0.0, 1.0]),
        (exp(X), [1.0, 800.0, 1.0]),
        (sin(X) / X[0], [0.0, 1.0, 1.0]),
    ],
    ids=str,
)
def test_what_has_no_value_has_none_here_either(f: Function, x: list[float]) -> None:
    packed = Packed(f)
    for asked in (layout.VALUES, layout.WITH_JACOBIAN):
        with pytest.raises(UndefinedError):
            packed.value(x, asked)
    with pytest.raises(UndefinedError):
        f.value(x)
    assert np.isfinite(packed.value([0.3, 0.4, 0.5])).all()


def test_at_equal_operands_the_first_one_gives_the_slope() -> None:
    q: Any = Identity(Rn(2))
    for f in (np.minimum(q[0], 2.0 * q[1]), np.maximum(q[0], 2.0 * q[1])):
        np.testing.assert_array_equal(Packed(f).linearise([2.0, 1.0])[1], [[1.0, 0.0]])


def test_parts_that_are_alike_are_packed_once() -> None:
    def apart(frame: str = "tool") -> Function:
        return Position(ROBOT, frame) - Position(ROBOT, "elbow")

    def count(f: Function) -> Counter[int]:
        return Counter(int(row[layout.OPERATION]) for row in Packed(f).instructions())

    twice = count(apart() * norm(apart()) + cross(apart(), Position(ROBOT, "tool")))
    assert twice[layout.POSITION] == 2
    assert count(apart() * norm(apart("wrist_pitch")))[layout.POSITION] == 3
    assert count(rotated(inverse(R), apart()))[layout.ROTATION] == 1


def starts(count: int = 60) -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.array([ROBOT.random(rng) for _ in range(count)])


def test_a_formula_is_solved_for_by_both_engines() -> None:
    """Equal statuses and iterations, and configurations to rounding."""
    tilt = rotated(R, [0.0, 0.0, 1.0])[2]
    rows = [
        Implicit.equal(P[2] * tilt, [0.2], name="height times cosine"),
        Implicit.equal(norm(P - E) / (1.0 + smooth_abs(P[1], 0.1)), [0.3], name="ratio"),
        Implicit.above(cos(atan2(P[1], P[0])), [-0.5], name="sector"),
    ]
    problem = Problem(ROBOT, rows)
    assert why_not(problem) is None
    compiled = Projector(problem).project_batch(starts())
    readable = Projector(problem, engine="readable").project_batch(starts())
    assert compiled.success.mean() > 0.9
    assert (compiled.iterations == readable.iterations).mean() > 0.95
    same = compiled.iterations == readable.iterations
    np.testing.assert_allclose(compiled.q[same], readable.q[same], rtol=0, atol=1e-8)


def test_a_relative_position_by_hand_is_solved_for_like_the_librarys() -> None:
    own = Position(ROBOT, "tool", reference="elbow")
    by_hand = rotated(inverse(Rotation(ROBOT, "elbow")), P - E)
    goal = own.value(ROBOT.random(np.random.default_rng(6)))
    found = [Projector(Problem(ROBOT, [Implicit.equal(f, goal)])).project_batch(starts()) for f in (own, by_hand)]
    assert found[0].success.mean() > 0.9
    assert (found[0].success == found[1].success).all()
    assert (found[0].iterations == found[1].iterations).mean() > 0.95


@pytest.mark.parametrize(
    ("f", "start"),
    [(log, -1.0), (log, 0.0), (log, 1e-320), (sqrt, 0.0), (lambda x: x**0.5, 0.0), (lambda x: x**1.5, 0.0),
     (lambda x: x**-0.5, 1e-320), (lambda x: 1.0 / x, 1e-200), (lambda x: atan2(x, 0.0 * x), 0.0)],
)  # fmt: skip
def test_a_start_without_a_value_is_undefined_in_both_engines(f: Any, start: float) -> None:
    """A root has a value at 0, but no slope there, as a power with a broken exponent."""
    problem = Problem(Rn(3), [Implicit.equal(f(X[:1]) + X[1:2], [0.5])])
    for engine in ("compiled", "readable"):
        projector = Projector(problem, Options(restarts=False), engine=engine)
        result = projector.project([start, 0.2, 0.3])
        assert result.status is Status.UNDEFINED
        others = starts()[:9, :3]
        for row, q in zip(projector.project_batch([[start, 0.2, 0.3], *others]), [result.start, *others], strict=True):
            alone = projector.project(q)
            assert row.q.tobytes() == alone.q.tobytes()
            assert (row.status, row.iterations, row.residual) == (alone.status, alone.iterations, alone.residual)


@pytest.mark.parametrize("exponent", [0.5, 0.75, 0.25, 1.5, 2.5])
@pytest.mark.parametrize("start", [1e-120, 1e-300, 1e-320])
def test_next_to_zero_a_root_is_the_same_in_both_engines(exponent: float, start: float) -> None:
    f = X[:1] ** exponent
    for mine, packed in zip(f.linearise([start, 0.2, 0.3]), Packed(f).linearise([start, 0.2, 0.3]), strict=True):
        np.testing.assert_allclose(packed, mine, rtol=1e-12)
