"""Expressions of functions against the same expressions of their values, Jacobians and drifts; how they are called."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import Affine, CenterOfMass, Function, Orientation, Position
from constraints.functions import Identity, Sum
from liegroups import Rn

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


def test_whole_powers_have_values_and_slopes_at_zero() -> None:
    for exponent, value, slope in ((0, 1.0, 0.0), (1, 0.0, 1.0), (2, 0.0, 0.0)):
        f = Identity(Rn(1)) ** exponent
        assert (f.value([0.0]).tolist(), f.jacobian([0.0]).tolist()) == ([value], [[slope]])
