"""Functions made by writing them down: against 50 digits, with equal parts once, as text, as data, and refused."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compiled.test_functions import Packed
from expression_trees import Tree
from mpmath import mp
from robots import arm, two_arms
from samples import SAMPLES, arm_frames

import constraints.functions
import liegroups
from constraints import (
    Affine,
    CenterOfMass,
    Function,
    Implicit,
    Pose,
    Position,
    Problem,
    Rotation,
    Stacked,
    Transformation,
)
from constraints.errors import (
    ConstraintError,
    DtypeError,
    OperatorError,
    OptionError,
    OverlapError,
    RobotMismatchError,
    SizeError,
    SpaceMismatchError,
    UndefinedError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import (
    Constant,
    Expression,
    Identity,
    Sum,
    atan2,
    cos,
    cross,
    dot,
    exp,
    inverse,
    log,
    maximum,
    minimum,
    norm,
    rotated,
    sin,
    smooth_abs,
    sqrt,
    stack,
)
from constraints.functions.expressions.operators import OPERATORS
from liegroups import SE3, SO3, Rn

ROBOT = arm()
ANY: dict[str, Any] = {
    "P": Position(ROBOT, "tool"),
    "E": Position(ROBOT, "elbow"),
    "C": CenterOfMass(ROBOT),
    "R": Rotation(ROBOT, "tool"),
    "POSE": Pose(ROBOT, "tool"),
}
P, E, C, R, POSE = ANY.values()
POSE_ROWS = Transformation(ROBOT, "tool")
Q = ROBOT.random(np.random.default_rng(7))
LIMIT = 1e-14
"""Of the bounds of rounding: of values; of Jacobians and drifts, in which the same roundings are found."""
NAMES = {"robot": ROBOT, **vars(constraints.functions)}


def read(text: str, **names: Any) -> Function:
    return eval(text, {**NAMES, **names})


# --- against 50 digits ------------------------------------------------------------------------------------------------


ONE: Any = 1.0


def name_of(case: Any) -> str:
    """A case by its function: what lambdas are called differs from process to process."""
    return case.name if isinstance(case, Function) else "by numpy"


@pytest.mark.parametrize("seed", range(10))
def test_trees_are_what_they_are_in_fifty_digits(seed: int) -> None:
    """The long one: `python benchmarks/expressions.py --trees 1000`."""
    tree = Tree.drawn(seed)
    value, J = tree.function.linearise(tree.q)
    assert tree.value_error(value) < LIMIT
    assert tree.jacobian_error(J) < LIMIT
    assert tree.drift_error(tree.function.drift_at(tree.q, tree.v)) < LIMIT
    assert tree.function.has_exact_derivatives
    again = read(tree.function.formula())
    np.testing.assert_allclose(again.value(tree.q), value, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(again.jacobian(tree.q), J, rtol=1e-12, atol=1e-13 * np.abs(J).max())


def test_the_judge_notices_a_wrong_digit() -> None:
    """Its bounds are not so wide that anything passes."""
    tree = Tree.drawn(0)
    value, J = tree.function.linearise(tree.q)
    drift = tree.function.drift_at(tree.q, tree.v)
    assert tree.value_error(value * (1 + 1e-9)) > 1e-12
    assert tree.jacobian_error(J * (1 + 1e-6)) > 1e-9
    assert tree.drift_error(drift * (1 + 1e-4)) > 1e-9


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (P * E, lambda p, e: p * e),
        (P[2] * E, lambda p, e: p[2] * e),
        (P / E, lambda p, e: p / e),
        (P**3, lambda p, e: p**3),
        (dot(P, E), lambda p, e: p @ e),
        (cross(P, E), np.cross),
        (norm(P - E), lambda p, e: np.linalg.norm(p - e)),
        (minimum(P, E), np.minimum),
        (maximum(P, 0.1), lambda p, e: np.maximum(p, 0.1)),
        (smooth_abs(P, 0.3), lambda p, e: np.sqrt(p * p + 0.09) - 0.3),
        (sqrt(P * P), lambda p, e: abs(p)),
        (sin(P), lambda p, e: np.sin(p)),
        (cos(P), lambda p, e: np.cos(p)),
        (exp(P), lambda p, e: np.exp(p)),
        (log(P**2), lambda p, e: np.log(p * p)),
        (atan2(P, E), np.arctan2),
        (2 / P - 1, lambda p, e: 2 / p - 1),
        (1 - P, lambda p, e: 1 - p),
        ([1.0, 2.0, 3.0] - P * [3.0, 2.0, 1.0], lambda p, e: np.arange(1, 4) - p * [3, 2, 1]),
        (P[1:], lambda p, e: p[1:]),
        (P[-1], lambda p, e: p[2:]),
        (P[[0, 2]], lambda p, e: p[[0, 2]]),
        (+P, lambda p, e: p),
        (stack(P[0], 1.0, E), lambda p, e: np.r_[p[0], 1.0, e]),
    ],
    ids=name_of,
)
def test_values_are_those_of_numpy(f: Any, value: Any) -> None:
    np.testing.assert_allclose(f.value(Q), value(P.value(Q), E.value(Q)), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("by_numpy", "written"),
    [
        (lambda: np.sin(P), sin(P)),
        (lambda: np.cos(P), cos(P)),
        (lambda: np.exp(P), exp(P)),
        (lambda: np.log(P), log(P)),
        (lambda: np.sqrt(P), sqrt(P)),
        (lambda: np.arctan2(P, E), atan2(P, E)),
        (lambda: np.minimum(P, 0.0), minimum(P, 0.0)),
        (lambda: np.maximum(np.zeros(3), P), maximum(np.zeros(3), P)),
        (lambda: np.square(P), P**2),
        (lambda: np.reciprocal(P), 1.0 / P),
        (lambda: np.ones(3) * P, np.ones(3) * P),
        (lambda: np.ones(3) - P, [1.0, 1.0, 1.0] - P),
        (lambda: np.power(P, 2), P**2),
        (lambda: np.float64(2.0) * P, 2.0 * P),
        (lambda: np.eye(3)[:1] @ P, Affine([[1.0, 0.0, 0.0]]) @ P),
        (lambda: np.add(P, E), P + E),
        (lambda: np.negative(P), -P),
        (lambda: np.ones(3) / P, 1.0 / P),
        (lambda: np.linalg.norm(P), norm(P)),
        (lambda: np.dot(P, E), dot(P, E)),
        (lambda: np.cross(P, E), cross(P, E)),
        (lambda: np.concatenate([P, E]), Stacked(P, E)),
        (lambda: np.positive(P), P),
    ],
    ids=name_of,
)
def test_functions_of_numpy_take_functions(by_numpy: Any, written: Function) -> None:
    made = by_numpy()
    assert isinstance(made, Function)
    np.testing.assert_array_equal(
        made.formula().replace("[1.0, 1.0, 1.0]", "1.0"), written.formula().replace("[1.0, 1.0, 1.0]", "1.0")
    )


def test_a_relative_position_may_be_written_down() -> None:
    """What the library has, by hand: the same value, Jacobian and drift."""
    robot = arm_frames()
    own = Position(robot, "b", reference="a")
    by_hand = rotated(inverse(Rotation(robot, "a")), Position(robot, "b") - Position(robot, "a"))
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v = robot.random(rng), rng.normal(size=7)
        np.testing.assert_allclose(by_hand.value(q), own.value(q), rtol=0, atol=1e-14)
        np.testing.assert_allclose(by_hand.jacobian(q), own.jacobian(q), rtol=0, atol=1e-14)
        np.testing.assert_allclose(by_hand.drift_at(q, v), own.drift_at(q, v), rtol=0, atol=1e-12)
    assert by_hand.periodic.all()
    np.testing.assert_array_equal(by_hand.columns, own.columns)


def test_what_is_seen_from_a_frame_by_hand_is_known_and_nothing_else() -> None:
    """A point or a centre of mass less the origin of the frame whose rotation is inverted, all seen from one frame."""
    robot, moving = arm_frames(), robot_frame_on("wrist_pitch")
    turn, origin, p, c = Rotation(robot, "a"), Position(robot, "a"), Position(robot, "b"), CenterOfMass(robot)
    seen = {"reference": moving}
    known: list[tuple[Function, Function, Function]] = [
        (turn, p, origin),
        (turn, c, origin),
        (Rotation(robot, "a", **seen), Position(robot, "b", **seen), Position(robot, "a", **seen)),
    ]
    other: list[tuple[Function, Function, Function]] = [
        (Rotation(robot, "b"), p, origin),
        (turn, p, Position(robot, "a", **seen)),
        (Rotation(robot, "a", **seen), p, origin),
        (turn, p, c),
        (turn, p, Constant([0.1, 0.2, 0.3], inputs=robot.space)),
    ]
    rng = np.random.default_rng(2)
    for i, (R, f, g) in enumerate(known + other):
        by_hand: Any = rotated(inverse(R), f - g)
        assert (by_hand.known is None) == (i >= len(known))
        for q in robot.random(rng, 3):
            expected = SO3.adjoint(R.value(q)).T @ (f.value(q) - g.value(q))
            np.testing.assert_allclose(by_hand.value(q), expected, rtol=0, atol=1e-14)
            np.testing.assert_allclose(Packed(by_hand).linearise(q)[0], expected, rtol=0, atol=1e-14)


def robot_frame_on(joint: str) -> Any:
    return arm_frames().frame(joint)


def test_an_inverse_undoes_a_pose_and_a_norm_is_a_distance() -> None:
    np.testing.assert_allclose(SE3.compose(inverse(POSE).value(Q), POSE.value(Q)), SE3.neutral, atol=1e-15)
    np.testing.assert_array_equal(inverse(R).value(Q), SO3.inverse(R.value(Q)))
    assert inverse(POSE).outputs == SE3


def test_at_equal_operands_the_first_one_gives_the_slope() -> None:
    q: Any = Identity(Rn(2))
    for f in (minimum(q[0], 2.0 * q[1]), maximum(q[0], 2.0 * q[1])):
        np.testing.assert_array_equal(f.jacobian([2.0, 1.0]), [[1.0, 0.0]])


# --- equal parts once -------------------------------------------------------------------------------------------------


class Counted(Function):
    """A function that counts its evaluations."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.declare(Rn(2), Rn(2))

    def evaluate(self, point: Any, value: np.ndarray, jacobian: np.ndarray | None = None) -> None:
        self.calls.append("evaluate")
        value[:] = point.q
        if jacobian is not None:
            jacobian[:] = np.eye(2)

    def drift(self, motion: Any, out: np.ndarray) -> None:
        self.calls.append("drift")
        out[:] = 0.0


def test_a_function_that_stands_in_many_places_is_evaluated_once() -> None:
    f = Counted()
    g = stack(f[0] * f[1], (f - 1.0) / norm(f), [[1.0, 2.0]] @ f, exp(Affine([[1.0, 1.0]]) @ f))
    f.calls.clear()
    g.value([1.0, 2.0])
    assert f.calls == ["evaluate"]
    g.jacobian([1.0, 2.0])
    assert f.calls == ["evaluate"] * 2
    f.calls.clear()
    g.drift_at([1.0, 2.0], [0.3, 0.4])
    assert sorted(f.calls) == ["drift", "evaluate"]


def test_parts_that_are_alike_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written twice: other objects, of the same content; another frame, name or factor is another function."""
    seen: list[str] = []
    evaluate = Position.evaluate

    def counted(self: Position, *arguments: Any) -> None:
        seen.append(self.name)
        evaluate(self, *arguments)

    monkeypatch.setattr(Position, "evaluate", counted)

    def apart(frame: str = "tool", factor: float = 1.0) -> Function:
        return Position(ROBOT, frame) - factor * Position(ROBOT, "elbow")

    (apart() * norm(apart())).value(Q)
    assert sorted(seen) == ["Position(elbow)", "Position(tool)"]
    seen.clear()
    f = apart() * norm(apart("wrist_pitch", 2.0))
    expected = (P.value(Q) - E.value(Q)) * np.linalg.norm(Position(ROBOT, "wrist_pitch").value(Q) - 2.0 * E.value(Q))
    seen.clear()
    np.testing.assert_allclose(f.value(Q), expected, rtol=1e-14)
    assert sorted(seen) == ["Position(elbow)", "Position(tool)", "Position(wrist_pitch)"]


def test_arrays_that_a_user_changes_later_make_other_functions() -> None:
    A = np.array([[1.0, 0.0, 0.0]])
    first = A @ P
    A[0] = [0.0, 0.0, 1.0]
    second = A @ P
    np.testing.assert_allclose((first * second).value(Q), P.value(Q)[0] * P.value(Q)[2], rtol=1e-15)


def test_a_tower_of_squares_is_as_high_as_it_is_and_not_as_wide() -> None:
    """Each floor stands on the one below twice: 2^30 evaluations for whoever does not see it."""
    f: Any = Affine([[0.9]])
    for _ in range(30):
        f = 0.5 * (f * f) + 0.25
    x = 0.9
    for _ in range(30):
        x = 0.5 * x * x + 0.25
    assert f.value([1.0])[0] == pytest.approx(x, rel=1e-13)
    assert f.has_exact_drift
    assert f.has_exact_derivatives
    assert math.isfinite(f.drift_at([1.0], [1.0])[0])
    assert len(f.name) < 300


# --- text and files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Position(robot, 'tool') - Position(robot, 'elbow')",
        "Position(robot, 'tool')[2] * cos(norm(CenterOfMass(robot)))",
        "(Position(robot, 'tool') - Position(robot, 'elbow')) * (norm(Position(robot, 'tool')) + 0.5)",
        "-Position(robot, 'tool')[0] ** 2",
        "(-Position(robot, 'tool')[0]) ** 2",
        "1.0 / Position(robot, 'tool') ** -1",
        "2.0 * Position(robot, 'tool') + [1.0, 2.0, 3.0] - Position(robot, 'elbow')",
        "Position(robot, 'tool')[[0, 2]] - 0.5",
        "[[1.0, 0.0, 2.0]] @ (Position(robot, 'tool') * Position(robot, 'elbow'))",
        "rotated(inverse(Rotation(robot, 'tool')), [0.0, 0.0, 1.0])",
        "smooth_abs(Position(robot, 'tool'), 0.01)",
        "stack(sin(Position(robot, 'tool')[0]), atan2(Position(robot, 'tool')[1], 1.0))",
        "Position(robot, 'tool') / (Position(robot, 'elbow') * 2.0 / Position(robot, 'tool'))",
        "minimum(exp(Position(robot, 'tool')), maximum(log(CenterOfMass(robot) ** 2), 0.5))",
        "sqrt(2.0 - Position(robot, 'elbow'))",
        "dot(cross(Position(robot, 'tool'), [0.0, 0.0, 1.0]), Position(robot, 'tool', 'elbow'))",
        "Position(robot, 'tool')[0] * -0.5 ** 2",
        "Polynomial([0.5, 1.0], [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], inputs=robot.space) ** 0.5",
        "Identity(robot.space)[3] * 2.0",
        "norm(Pose(robot, 'tool', 'elbow') - Pose(robot, 'elbow'))",
        "Constant([1.0, 2.0, 3.0], inputs=robot.space) * Constant([1.0], inputs=robot.space)",
    ],
)
def test_a_formula_is_read_as_it_is_written(text: str) -> None:
    """Read, written and read again: the same text the second time, the same function both times."""
    first = read(text)
    again = read(first.formula(), Rn=Rn)
    assert again.formula() == first.formula()
    np.testing.assert_allclose(again.value(Q), first.value(Q), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(again.jacobian(Q), first.jacobian(Q), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("f", "formula", "name"),
    [
        (
            P[2] * cos(norm(P - C)),
            "Position(robot, 'tool')[2] * cos(norm(Position(robot, 'tool') - CenterOfMass(robot)))",
            "Position(tool)[2] * cos(norm(Position(tool) - CenterOfMass))",
        ),
        (
            (P - E) ** 2,
            "(Position(robot, 'tool') - Position(robot, 'elbow')) ** 2",
            "(Position(tool) - Position(elbow)) ** 2",
        ),
        (1.0 + 2 * P, "1.0 + 2.0 * Position(robot, 'tool')", "1 + 2 Position(tool)"),
        (-(np.eye(3)[:1] @ P), "-([[1.0, 0.0, 0.0]] @ Position(robot, 'tool'))", "-Affine @ Position(tool)"),
        (
            P / (P * E),
            "Position(robot, 'tool') / (Position(robot, 'tool') * Position(robot, 'elbow'))",
            "Position(tool) / (Position(tool) * Position(elbow))",
        ),
        (
            -(P + E) * P,
            "(-Position(robot, 'tool') - Position(robot, 'elbow')) * Position(robot, 'tool')",
            "(-Position(tool) - Position(elbow)) * Position(tool)",
        ),
    ],
    ids=str,
)
def test_text_and_names_are_those_of_the_formula(f: Function, formula: str, name: str) -> None:
    assert (f.formula(), f.name) == (formula, name)


@pytest.mark.parametrize(
    "name", [name for name in SAMPLES if name.startswith(("Expression", "Sum", "Difference", "Stack"))]
)
def test_samples_are_read_again(name: str) -> None:
    f: Any = SAMPLES[name]()
    robots = [g.robot for g in f.functions_within() if hasattr(g, "robot")]
    again = eval(f.formula(), {**NAMES, **vars(liegroups), "robot": (robots or [SimpleNamespace(space=f.inputs)])[0]})
    q = f.inputs.random(np.random.default_rng(3))
    np.testing.assert_allclose(again.value(q), f.value(q), rtol=1e-13, atol=1e-14)


def test_expressions_are_saved_as_data(tmp_path: Path) -> None:
    """All operators; a part that is shared stays shared; the number of a power and of a width."""
    apart = P - E
    written = {
        "product": apart * norm(apart),
        "quotient": P / (2.0 + E),
        "power": P**3,
        "dot": dot(P, E),
        "cross": cross(P, E),
        "norm": norm(apart),
        "rotated": rotated(R, [0.0, 0.0, 1.0]),
        "inverse": inverse(R),
        "minimum": minimum(P, E),
        "maximum": maximum(P, 0.1),
        "smooth_abs": smooth_abs(P, 0.2),
        "sqrt": sqrt(P + 2.0),
        "sin": sin(P),
        "cos": cos(P),
        "atan2": atan2(P, E),
        "exp": exp(P),
        "log": log(P + 2.0),
    }
    assert set(written) == set(OPERATORS)
    problem = Problem(ROBOT, [Implicit.equal(f, f.value(Q), name=name) for name, f in written.items()])
    path = tmp_path / "problem.json"
    problem.save(path)
    again = Problem.load(path)
    for c in again.constraints:
        f: Any = c.function  # type: ignore[union-attr]
        np.testing.assert_array_equal(f.value(Q), written[c.name].value(Q))
        assert f.formula() == written[c.name].formula()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(problem)).jacobian(Q), problem.jacobian(Q))
    path.write_text(re.sub(r'("operator":\s*)"smooth_abs"', r'\1"rough_abs"', path.read_text()))
    with pytest.raises(ConstraintError, match="rough_abs"):
        Problem.load(path)


# --- no value ---------------------------------------------------------------------------------------------------------

X: Any = Identity(Rn(3))


@pytest.mark.parametrize(
    ("f", "x", "said"),
    [
        (X / X[1], [1.0, 0.0, 1.0], r"Identity / Identity\[1\]: division by zero"),
        (1.0 / X, [1.0, 0.0, 1.0], "division by zero"),
        (X**-2, [1.0, 0.0, 1.0], "division by zero"),
        (log(X), [1.0, 0.0, 1.0], r"log\(Identity\): there is no logarithm of 0"),
        (log(X), [1.0, -2.0, 1.0], "there is no logarithm of -2"),
        (sqrt(X), [1.0, -2.0, 1.0], "no square root of -2"),
        (sqrt(X), [1.0, 0.0, 1.0], "square root has no derivative at 0"),
        (norm(X), [0.0, 0.0, 0.0], "norm has no derivative at 0"),
        (norm(X), [1e-13, 0.0, 0.0], "norm has no derivative at 0"),
        (X**0.5, [1.0, -2.0, 1.0], "no power 0.5 of -2"),
        (X**0.5, [1.0, 0.0, 1.0], "no derivatives at 0"),
        (X**1.5, [1.0, 0.0, 1.0], "no derivatives at 0"),
        (X**-0.5, [1.0, 0.0, 1.0], "division by zero"),
        (X**-0.5, [1.0, 1e-320, 1.0], r"\*\* -0.5: of 9.99989e-321 it is too large"),
        (1.0 / X, [1.0, 1e-200, 1.0], "too large a number, or its derivative is"),
        (log(X), [1.0, 1e-320, 1.0], "too large a number, or its derivative is"),
        (atan2(X[0], X[1]), [0.0, 0.0, 1.0], r"no angle of the vector \(0, 0\)"),
        (exp(X), [1.0, 800.0, 1.0], "exponential of 800 is too large"),
        (X**9, [1e200, 1.0, 1.0], "too large a number"),
    ],
    ids=str,
)
def test_where_there_is_no_value_the_reason_is_said(f: Function, x: list[float], said: str) -> None:
    with pytest.raises(UndefinedError, match=said):
        f.value(x)
    with pytest.raises(UndefinedError, match=said):
        f.jacobian(x)
    with pytest.raises(UndefinedError, match=said):
        f.drift_at(x, np.ones(3))


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1.0, 1e160, 1e200, 1e300])
def test_lengths_and_angles_of_any_size_are_those_of_their_ratio(scale: float) -> None:
    """Squares of numbers beyond 1e154, and below 1e-162, are none; both engines."""
    x = np.array([3.0, 4.0, 0.0])
    for f, value, slopes in (
        (atan2(scale * X[0], scale * X[1]), math.atan2(3.0, 4.0), np.array([4.0, -3.0, 0.0]) / 25.0),
        (smooth_abs(scale * X[0], 4.0 * scale), scale, np.array([0.6 * scale, 0.0, 0.0])),
    ):
        for found in (f.linearise(x), Packed(f).linearise(x)):
            np.testing.assert_allclose(found[0], [value], rtol=1e-14)
            np.testing.assert_allclose(found[1], slopes[None], rtol=1e-14, atol=0)


@pytest.mark.parametrize(("f", "exponent"), [(sqrt(X), 0.5), *((X**p, p) for p in (0.5, 1.5, 0.25))], ids=str)
@pytest.mark.parametrize("x", [1e-120, 1e-300, 1e-320])
def test_next_to_zero_a_root_has_a_value_and_a_slope(f: Function, exponent: float, x: float) -> None:
    """Derivatives that are too large are an error where they are asked for, and there alone."""
    value, J = f.linearise([x, 1.0, 1.0])
    assert value[0] == pytest.approx(float(mp.mpf(x) ** exponent), rel=1e-12)
    assert J[0, 0] == pytest.approx(float(exponent * mp.mpf(x) ** (exponent - 1.0)), rel=1e-12)
    if exponent < 1.0 and x < 1e-200:
        with pytest.raises(UndefinedError, match="too large a number, or its derivative is"):
            f.drift_at([x, 1.0, 1.0], [1.0, 0.0, 0.0])


# --- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "kind", "said"),
    [
        (
            lambda: P * Position(two_arms(), "left_tool"),
            SpaceMismatchError,
            r"inputs of Position\(tool\) \* Position\(left_tool\)",
        ),
        (lambda: dot(P, Position(arm().with_frame("x", "tool"), "x")), None, ""),
        (lambda: P * stack(P, E), SizeError, "operands of .*: expected size 6, or 1"),
        (lambda: cross(P, P[0]), SizeError, "expected size 3"),
        (lambda: dot(P, P[0]), SizeError, "expected size 3"),
        (lambda: P + R, SpaceMismatchError, "R"),
        (lambda: R + R, SpaceMismatchError, "in a sum"),
        (lambda: R + 1.0, WrongObjectError, r"what is added to Rotation\(tool\): expected a Function \(for a value"),
        (lambda: 1.0 + R, WrongObjectError, r"what Rotation\(tool\) is added to"),
        (lambda: POSE - [1.0] * 7, WrongObjectError, r"right of Pose\(tool\) - ...: expected a Function \(for a value"),
        (lambda: 2.0 * POSE, SpaceMismatchError, r"outputs of Pose\(tool\), in a sum or times a number"),
        (lambda: P + POSE_ROWS, SpaceMismatchError, r"outputs of Transformation\(tool\) in a sum"),
        (lambda: P + Position(two_arms(), "left_tool"), SpaceMismatchError, "inputs of a sum"),
        (lambda: P - POSE, SpaceMismatchError, r"outputs of Position\(tool\) - Pose\(tool\)"),
        (lambda: np.eye(4) @ P, SizeError, "matrix of an affine function"),
        (lambda: np.eye(7) @ POSE, SpaceMismatchError, "A @ f"),
        (lambda: Sum([]), SizeError, "at least one"),
        (lambda: Sum([P], [1.0, 2.0]), SizeError, "factors"),
        (lambda: POSE**2, SpaceMismatchError, "Position for the point"),
        (lambda: sin(R), SpaceMismatchError, "Position for the point"),
        (lambda: POSE * P, SpaceMismatchError, "operand of"),
        (lambda: rotated(POSE, P), SpaceMismatchError, r"Rotation\(robot, frame\)"),
        (lambda: rotated(P, P), SpaceMismatchError, "rotation of"),
        (lambda: rotated(R, P[0]), SizeError, "expected size 3"),
        (lambda: inverse(P), SpaceMismatchError, "1 / f, or -f"),
        (lambda: P * np.eye(3), SizeError, "A @ f"),
        (lambda: np.eye(3) * P, SizeError, "A @ f"),
        (lambda: P * "2", WrongObjectError, "operand of product: expected a Function, a number or a vector"),
        (lambda: (P + P) * None, WrongObjectError, "operand of product: expected a Function, a number or a vector"),
        (lambda: P + "2", WrongObjectError, "a Function, a number or a vector"),
        (lambda: P * True, DtypeError, "operand of product"),
        (lambda: P * np.nan, ConstraintError, "factors of a sum"),
        (lambda: P * [1.0, np.inf, 0.0], ConstraintError, "operand of product"),
        (lambda: P + np.ones(2), SpaceMismatchError, "in a sum"),
        (lambda: P ** "2", DtypeError, "number of 'power'"),
        (lambda: P**E, OperatorError, r"exp\(g \* log\(f\)\)"),
        (lambda: 2**P, OperatorError, r"exp\(log\(c\) \* f\)"),
        *((lambda c=c: P / c, WrongObjectError, "a number other than 0") for c in (0, 0.0, "2")),
        (lambda: abs(P), OperatorError, "smooth_abs"),
        (lambda: np.abs(P), OperatorError, "smooth_abs"),
        (lambda: smooth_abs(P, 0.0), OptionError, "a positive number"),
        (lambda: P[[2, 0]], OperatorError, r"stack\(f\[2\], f\[0\]\)"),
        (lambda: P[3], UnknownNameError, "tangent coordinate"),
        (lambda: P[-4], UnknownNameError, "tangent coordinate"),
        (lambda: P["z"], WrongObjectError, "row numbers"),
        (lambda: P[0.5], WrongObjectError, "row numbers"),
        (lambda: P[np.array([True, False, True])], ConstraintError, "rows of"),
        (lambda: P[()], None, ""),
        (lambda: POSE[0], OverlapError, "cut in two"),
        (lambda: list(P), OperatorError, r"a loop over Position\(tool\)"),
        (lambda: np.tan(P), OperatorError, r"np.tan\(Position\(tool\)\)"),
        (lambda: np.add.reduce(P), OperatorError, "np.add.reduce"),
        (lambda: np.sum(P), OperatorError, "np.sum"),
        (lambda: np.sin(P, out=np.zeros(3)), OperatorError, "np.sin"),
        (lambda: np.linalg.norm(P, axis=0), OperatorError, "np.norm"),
        (lambda: np.linalg.inv(R), OperatorError, "np.inv"),
        (lambda: norm(ONE), WrongObjectError, "operand of norm"),
        (lambda: stack(1.0), WrongObjectError, "operand of stack"),
        (lambda: Expression("root", [P]), UnknownNameError, "operator"),
        (lambda: Expression("sin", [P, P]), SizeError, "functions of 'sin'"),
        (lambda: Expression("power", [P]), OptionError, "needs a number"),
        (lambda: Expression("sin", [P], 2.0), OptionError, "takes no number"),
        (lambda: Expression("dot", [P, ONE]), WrongObjectError, "function 1"),
        (lambda: P >= 0.0, OperatorError, "Implicit.above"),
        (lambda: P > 0.0, OperatorError, "Implicit.above"),
        (lambda: P <= 0.0, OperatorError, "Implicit.below"),
        (lambda: P < 0.0, OperatorError, "Implicit.below"),
        (lambda: np.zeros(3) >= P, OperatorError, "Implicit.below"),
    ],
)
def test_what_is_no_formula_is_refused_by_name(write: Any, kind: Any, said: str) -> None:
    if kind is None:  # it is one
        assert isinstance(write(), Function)
        return
    with pytest.raises(kind, match=said):
        write()


def test_functions_of_two_robots_of_one_structure_are_refused() -> None:
    import pinocchio as pin

    from constraints import Robot

    model: Any = pin.Model(ROBOT.model)
    model.jointPlacements[1].translation[2] += 0.1
    with pytest.raises((RobotMismatchError, SpaceMismatchError)):
        P * Position(Robot(model), "tool")


def test_equality_stays_identity() -> None:
    f, g = P * E, P * E
    assert f == f
    assert f != g
    assert len({f, g}) == 2
    assert not np.equal(f, np.ones(3))


def test_constants_may_stand_alone() -> None:
    two: Any = Constant([2.0], inputs=ROBOT.space)
    assert (two**3).value(Q) == [8.0]
    assert not (two * two).columns.any()
