"""Expressions of functions against the same expressions of their values, Jacobians and drifts; how they are called."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from robots import arm, two_arms
from samples import SAMPLES

from constraints import Affine, CenterOfMass, Function, Orientation, Pose, Position, Rotation, Transformation
from constraints.errors import SizeError, SpaceMismatchError, WrongObjectError
from constraints.functions import Constant, Identity, Polynomial, Sum
from constraints.point import place_motion
from constraints.testing import check_function
from constraints.workspace import Workspace
from liegroups import SE3, SO3, R3xSO3, Rn

ROBOT = arm()
LEAVES = {
    "Position(tool)": Position(ROBOT, "tool"), "Position(elbow)": Position(ROBOT, "elbow"),
    "CenterOfMass": CenterOfMass(ROBOT), "Orientation(elbow)": Orientation(ROBOT, "elbow"),
}  # fmt: skip
Expected = dict[str, float]


def tables(q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """By leaf: value, Jacobian and drift, one beside the other (3, 9)."""
    return {name: np.column_stack([f.value(q), f.jacobian(q), f.drift_at(q, v)]) for name, f in LEAVES.items()}


def drawn(rng: np.random.Generator, depth: int) -> tuple[Function, Expected]:
    """An expression with +, -, a factor or a divisor, and its factor by leaf."""
    kind = int(rng.integers(0, 6)) if depth else 0
    if kind == 0:
        name = list(LEAVES)[int(rng.integers(0, len(LEAVES)))]
        return LEAVES[name], {name: 1.0}
    f, mine = drawn(rng, depth - 1)
    if kind == 1:
        g, theirs = drawn(rng, depth - 1)
        return f + g, {name: mine.get(name, 0.0) + theirs.get(name, 0.0) for name in mine | theirs}
    if kind == 2:
        return -f, {name: -factor for name, factor in mine.items()}
    c: Any = [0.5, -3.0, 2, Fraction(1, 4), np.float64(7.0)][int(rng.integers(0, 5))]
    whole = 1.0 / float(c) if kind == 5 else float(c)
    made = f / c if kind == 5 else c * f if kind == 4 else f * c
    return made, {name: whole * factor for name, factor in mine.items()}


@pytest.mark.parametrize("seed", range(12))
def test_sums_of_any_depth(seed: int) -> None:
    """Value, Jacobian and drift are the sums of those of the leaves; what is no leaf is one sum."""
    rng = np.random.default_rng(seed)
    f, factors = drawn(rng, 4)
    q, v = ROBOT.random(rng), rng.normal(size=ROBOT.nv)
    expected = sum(factor * tables(q, v)[name] for name, factor in factors.items())
    found = np.column_stack([f.value(q), f.jacobian(q), f.drift_at(q, v)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(f.value(q), f.linearise(q).value)
    assert all(not isinstance(part, Sum) for part in getattr(f, "functions", ()))
    np.testing.assert_array_equal(f.columns, np.logical_or.reduce([LEAVES[name].columns for name in factors]))
    assert f.periodic.tolist() == [all(LEAVES[name].periodic[i] for name in factors) for i in range(ROBOT.nv)]


def test_sums_are_called_by_their_terms() -> None:
    p, e = LEAVES["Position(tool)"], LEAVES["Position(elbow)"]
    for f, name in (
        (p + e, "Position(tool) + Position(elbow)"), (p - e + p - e, ""), (-p, "-Position(tool)"),
        (2 * p, "2 Position(tool)"), (p / 4, "0.25 Position(tool)"), (-p + e, "-Position(tool) + Position(elbow)"),
        (p + -1.5 * e, "Position(tool) - 1.5 Position(elbow)"), (0.0 * p, "0"),
        (2 * (p + e) / 4 + p, "0.5 Position(tool) + 0.5 Position(elbow) + Position(tool)"),
        (p + 0.0 * e, "Position(tool)"),
    ):  # fmt: skip
        assert not name or f.name == name
    own = Sum([p, e], name="middle")
    assert (own + p).name == "middle + Position(tool)"
    assert (own + p).functions[0] is own  # type: ignore[union-attr]
    assert (2.0 * own).name == "2 middle"
    assert Sum([p, e], [1.0, -2.0]).factors.tolist() == [1.0, -2.0]  # type: ignore[union-attr]
    rows = 0.5 * Affine(np.eye(7), name="q") + Affine(np.ones((7, 7)), name="p")
    assert not rows.periodic.any()


def test_what_has_no_sum_is_refused() -> None:
    p, pose = LEAVES["Position(tool)"], Pose(ROBOT, "tool")
    wrong: Any
    for wrong, kind, said in (
        (lambda: pose + 1.0, WrongObjectError, r"what is added to Pose\(tool\): expected a Function \(for a value"),
        (lambda: pose - 1.0, WrongObjectError, r"right of Pose\(tool\) - ...: expected a Function \(for a value"),
        (lambda: 1.0 + pose, WrongObjectError, r"what Pose\(tool\) is added to"),
        (lambda: p * "2", WrongObjectError, "operand of product: expected a Function, a number or a vector"),
        (lambda: (p + p) * None, WrongObjectError, "operand of product: expected a Function, a number or a vector"),
        (lambda: p / 0, WrongObjectError, "a number other than 0"),
        (lambda: p / 0.0, WrongObjectError, "a number other than 0"),
        (lambda: p / "2", WrongObjectError, "a number other than 0"),
        (lambda: pose + pose, SpaceMismatchError, r"outputs of Pose\(tool\), in a sum or times a number"),
        (lambda: 2.0 * pose, SpaceMismatchError, "in a sum or times a number"),
        (lambda: p + Transformation(ROBOT, "tool"), SpaceMismatchError, r"outputs of Transformation\(tool\) in a sum"),
        (lambda: p + Position(two_arms(), "left_tool"), SpaceMismatchError, "inputs of a sum"),
        (lambda: p - pose, SpaceMismatchError, r"outputs of Position\(tool\) - Pose\(tool\)"),
        (lambda: np.eye(4) @ p, SizeError, "matrix of an affine function"),
        (lambda: np.eye(7) @ pose, SpaceMismatchError, "A @ f"),
        (lambda: Sum([]), SizeError, "at least 1|at least one"), (lambda: Sum([p], [1.0, 2.0]), SizeError, "factors"),
    ):  # fmt: skip
        with pytest.raises(kind, match=said):
            wrong()


@pytest.mark.parametrize("outputs", [Rn(3), SO3, SE3, R3xSO3], ids=str)
def test_differences_and_products_with_matrices(outputs: Any) -> None:
    """f - g by the group, its Jacobian and drift; a matrix times a function into numbers."""
    kinds: dict[Any, Any] = {
        Rn(3): lambda frame: Position(ROBOT, frame), SO3: lambda frame: Rotation(ROBOT, frame),
        SE3: lambda frame: Pose(ROBOT, frame), R3xSO3: lambda frame: Pose(ROBOT, frame, outputs=R3xSO3),
    }  # fmt: skip
    f, g = kinds[outputs]("tool"), kinds[outputs]("elbow")
    rng = np.random.default_rng(2)
    check_function(f - g, samples=2)
    q = ROBOT.random(rng)
    np.testing.assert_array_equal((f - g).value(q), outputs.difference(g.value(q), f.value(q)))
    np.testing.assert_array_equal((f - g).linearise(q).value, (f - g).value(q))
    assert ((f - g).name, (f - g).outputs) == (f"{f.name} - {g.name}", Rn(outputs.nv))
    np.testing.assert_array_equal((f - g).columns, f.columns | g.columns)
    A = rng.normal(size=(2, outputs.nv))
    twice = A @ (f - g)
    np.testing.assert_allclose(twice.value(q), A @ (f - g).value(q), atol=1e-14)
    np.testing.assert_allclose(twice.jacobian(q), A @ (f - g).jacobian(q), atol=1e-14)
    right = f - Identity(ROBOT.space) if outputs == Rn(7) else f - Constant(outputs.neutral, outputs, ROBOT.space)
    np.testing.assert_allclose(right.value(q), outputs.log(f.value(q)), atol=1e-15)
    mixed = Affine(np.eye(7)) @ Identity(Rn(7)) - Constant(np.ones(7), inputs=Rn(7))
    assert not mixed.periodic.any()


def test_accelerations_by_differences_have_eight_digits() -> None:
    """Of J a + Jdot v by q and by v, against a polynomial's own."""
    w, b, a = np.array([0.7, -0.4, 1.1]), 0.2, [0.3, -1.0, 0.5, 0.8]
    f, p = Polynomial(a, w, b), np.polynomial.Polynomial(a)
    rng = np.random.default_rng(3)
    q, v, change = rng.normal(size=(3, 3))
    dq, dv = np.full((1, 3), np.nan), np.full((1, 3), np.nan)
    f.drift_derivatives(place_motion(Rn(3), q, v, Workspace()), change, dq, dv)
    s = w @ q + b
    by_q = (p.deriv(2)(s) * (w @ change) + p.deriv(3)(s) * (w @ v) ** 2) * w
    np.testing.assert_allclose(dq[0], by_q, rtol=1e-7)
    np.testing.assert_allclose(dv[0], 2.0 * p.deriv(2)(s) * (w @ v) * w, rtol=1e-7)


def test_a_drift_by_differences_has_eight_digits_at_any_speed() -> None:
    """Of a function into a group, of a point of a group: against the formula that another function has."""
    exact = Pose(ROBOT, "tool")
    bare = Function.from_callable(exact.value, ROBOT.space, SE3, exact.jacobian, name="bare")
    rng = np.random.default_rng(4)
    for speed in (1e-3, 1.0, 1e3):
        q, v = ROBOT.random(rng), speed * rng.normal(size=7)
        expected = exact.drift_at(q, v)
        np.testing.assert_allclose(bare.drift_at(q, v), expected, rtol=0, atol=2e-8 * np.abs(expected).max())
    assert not bare.drift_at(q, np.zeros(7)).any()
    assert not bare.has_exact_drift
    assert exact.has_exact_drift


@pytest.mark.parametrize("name", [n for n in SAMPLES if n.endswith(("(arm)", "(humanoid)", "(mixed)", "(two arms)"))])
def test_what_frames_and_masses_tell_is_periodic_in_every_joint(name: str) -> None:
    """A whole turn of a revolute joint brings every body back; the numbers of a joint themselves it does not."""
    assert SAMPLES[name]().periodic.all()
    for f in (Identity(Rn(2)), Affine(np.eye(2)), Polynomial([0.0, 1.0], [1.0, 1.0])):
        assert not f.periodic.any()


def test_whole_powers_have_values_and_slopes_at_zero() -> None:
    for exponent, value, slope in ((0, 1.0, 0.0), (1, 0.0, 1.0), (2, 0.0, 0.0)):
        f = Identity(Rn(1)) ** exponent
        assert (f.value([0.0]).tolist(), f.jacobian([0.0]).tolist()) == ([value], [[slope]])
