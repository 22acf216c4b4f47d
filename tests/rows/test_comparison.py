"""Rows: what each asks for, against the definition written out here and differences along the manifold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from robots import arm

from constraints import Comparison, Function, Implicit, Pose, Position, Stack
from constraints.errors import DtypeError, NotFiniteError, OptionError, SizeError, WrongObjectError
from constraints.functions import Identity
from constraints.point import place
from constraints.rows.comparison import RowTable
from constraints.rows.stacking import stack_rows
from constraints.workspace import Workspace
from liegroups import R3xSO3, Rn

EQUALITY, ZERO, SUPERIOR, INFERIOR = Comparison
SAMPLES = 500


def distance(row: float, comparison: Comparison, margin: float) -> float:
    """Signed distance of a row to what it asks for, from the words of the comparison types."""
    if comparison is SUPERIOR:
        return row - margin if row < margin else 0.0
    if comparison is INFERIOR:
        return row + margin if row > -margin else 0.0
    return row


def rows_of_log(q, rhs) -> np.ndarray:
    """log(rhs^-1 h(q)) in R3xSO3 for the tool of the arm: pinocchio's kinematics, and the half-angle formula."""
    robot = arm()
    model: Any = robot.model
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    oMf = data.oMf[model.getFrameId("tool")]
    turn = (pin.Quaternion(np.array(rhs[3:])).conjugate() * pin.Quaternion(oMf.rotation)).coeffs()
    vector, w = turn[:3] * np.sign(turn[3] or 1.0), abs(turn[3])
    sine = float(np.sqrt(vector @ vector))
    return np.r_[oMf.translation - rhs[:3], 2.0 * np.arctan2(sine, w) / sine * vector]


def combination(rng):
    """Comparison types, mask, scale, margin and a right-hand side that they admit."""
    types = [Comparison(t) for t in rng.choice([c.value for c in Comparison], 6)]
    mask = rng.random(6) < 0.7
    log = np.where([t is EQUALITY for t in types], rng.uniform(-0.6, 0.6, 6), 0.0)
    rhs = np.r_[log[:3], pin.Quaternion(pin.exp3(log[3:])).coeffs()]
    scale = rng.uniform(0.2, 3.0, 6)
    margin = np.where([t in (SUPERIOR, INFERIOR) for t in types], rng.uniform(0.0, 0.3, 6), 0.0)  # equalities have none
    return types, mask, scale, margin, rhs


@draws(80, SAMPLES)
def test_combinations_of_comparison_and_mask(count):
    """Property 3: for comparison types x mask on a 6-row R3xSO3 function the error is the definition's, and its
    Jacobian the difference along the manifold of the definition."""
    rng, robot, f = np.random.default_rng(30), arm(), Pose(arm(), "tool", outputs=R3xSO3)
    worst_error = worst_jacobian = 0.0
    for _ in range(count):
        types, mask, scale, margin, rhs = combination(rng)
        stack = Stack([Implicit(f, types, rhs, mask.tolist(), scale, margin)])
        q = robot.random(rng)

        def definition(q, types=types, mask=mask, scale=scale, margin=margin, rhs=rhs):
            log = rows_of_log(q, rhs)
            return np.array([s * distance(r, t, m) for r, t, m, s in zip(log, types, margin, scale, strict=True)])[mask]

        rows = stack_rows(stack, robot.at(q))
        assert rows.error.shape == (mask.sum(),)
        assert rows.jacobian.shape == (mask.sum(), robot.nv)
        worst_error = max(worst_error, np.abs(rows.error - definition(q)).max(initial=0.0))
        error, jacobian = rows.error.copy(), rows.jacobian.copy()
        h, step = 1e-6, np.eye(robot.nv)
        differences = np.array(
            [(definition(q + h * e) - definition(q - h * e)) / (2 * h) for e in step]
        ).T  # all joints of the arm are numbers
        bend = np.minimum(np.abs(rows_of_log(q, rhs) - margin), np.abs(rows_of_log(q, rhs) + margin))[mask] < 1e-5
        worst_jacobian = max(worst_jacobian, np.abs(jacobian - differences)[~bend].max(initial=0.0))
        inside = np.array([t in (SUPERIOR, INFERIOR) for t in types])[mask] & (error == 0.0)
        assert not jacobian[inside].any()
    assert worst_error < 1e-13
    assert worst_jacobian < 1e-6


@pytest.mark.parametrize("lower", [-np.inf, -0.3, 0.2])
@pytest.mark.parametrize("upper", [np.inf, 0.4, 0.2])
def test_intervals(lower, upper):
    """Property 3: an interval row's error is the distance to [lower, upper], zero with zero Jacobian inside."""
    f, grid = Identity(Rn(1)), np.linspace(-1.0, 1.0, 41)
    constraint = Implicit(f, lower=lower, upper=upper, scale=2.0)
    stack = Stack([constraint])
    if np.isinf(lower) and np.isinf(upper):
        assert stack.size == 0
        return
    for x in grid:
        rows = stack_rows(stack, f_point(f, x))
        outside = x - lower if x < lower else x - upper if x > upper else 0.0
        assert rows.error[0] == pytest.approx(2.0 * outside, abs=1e-15)
        slope = 2.0 if outside or lower == upper else 0.0
        assert rows.jacobian[0, 0] == slope


def f_point(f: Function, *x: float):
    return place(f.inputs, np.array(x), Workspace())


@pytest.mark.parametrize("mask", [True, 1, [True] * 3, (1, 1, 1), np.ones(3, dtype=bool)])
def test_masks_in_every_form(mask):
    """Property 25: lists, tuples, arrays and one value for all are taken for masks."""
    assert Stack([Implicit.zero(Position(arm(), "tool"), mask=mask)]).size == 3


@pytest.mark.parametrize("comparison", [ZERO, [ZERO] * 3, (ZERO,) * 3, None])
def test_comparisons_in_every_form(comparison):
    """Property 25: one comparison for all rows, or a list, or a tuple."""
    assert Implicit(Position(arm(), "tool"), comparison).rows.is_plain


def table(**changes):
    given: dict[str, Any] = dict.fromkeys(("comparison", "mask", "scale", "lower", "upper")) | {"margin": 0.0} | changes
    return RowTable.of(3, "hand", **given)


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"comparison": [ZERO, ZERO]}, SizeError, "comparison of 'hand': expected size 3, received 2"),
        ({"comparison": "EQUALITY"}, WrongObjectError, "comparison of 'hand': expected a Comparison"),
        ({"mask": [1, 2, 0]}, WrongObjectError, "mask of 'hand': expected booleans per row"),
        ({"mask": [2, 0]}, WrongObjectError, r"row \(\[True, False, True\] for only the rows \[0, 2\]\)"),
        ({"mask": 2}, WrongObjectError, r"row \(\[False, False, True\] for only the rows \[2\]\)"),
        (
            {"mask": [0.5, 1.0, 2.0]},
            WrongObjectError,
            r"booleans per row \(for weights of rows: Implicit\(.*scale=\)\)",
        ),
        ({"mask": [2, 2, 0]}, WrongObjectError, r"booleans per row \(for weights of rows"),
        ({"mask": [2, 3]}, WrongObjectError, r"booleans per row \(for weights of rows"),
        ({"mask": [2, -1]}, WrongObjectError, r"booleans per row \(for weights of rows"),
        ({"mask": ["x", "y"]}, WrongObjectError, r"mask of 'hand': expected booleans per row, "),
        ({"mask": [[2, 0, 1]]}, WrongObjectError, r"mask of 'hand': expected booleans per row, "),
        ({"mask": [[2], [0, 1]]}, WrongObjectError, r"mask of 'hand': expected booleans per row, "),
        ({"mask": [True]}, SizeError, "mask of 'hand': expected size 3"),
        ({"scale": 0.0}, OptionError, "'hand': scale must be positive"),
        ({"scale": [1.0, 1.0, -1.0]}, OptionError, r"'hand': scale must be positive.* got \[1.0, 1.0, -1.0\]"),
        ({"margin": -0.1, "comparison": SUPERIOR}, OptionError, "'hand': margin must be zero or larger"),
        ({"lower": [0.0, np.nan, 0.0]}, NotFiniteError, "lower of 'hand'"),
        ({"lower": "high"}, DtypeError, "lower of 'hand': expected real numbers"),
        ({"upper": ["1", "2", "3"]}, DtypeError, "upper of 'hand': expected real numbers"),
        ({"scale": True}, DtypeError, "scale of 'hand': expected real numbers"),
        ({"lower": 1.0, "upper": [2.0, 2.0, 0.5]}, OptionError, "'hand': row 2 has lower 1 above upper 0.5"),
        ({"lower": 1.0, "comparison": ZERO}, OptionError, "every row has a comparison"),
        ({"upper": 1.0, "comparison": [ZERO, SUPERIOR, ZERO]}, OptionError, "every row has a comparison"),
    ],
)
def test_refusals_name_the_constraint(changes, kind, said):
    """Property 9: what is wrong with a row table is said with the constraint and the row."""
    with pytest.raises(kind, match=said):
        table(**changes)


def test_tables_cannot_be_written_to():
    """Property 21: a row table is a value."""
    rows = table(comparison=SUPERIOR)
    for array in (rows.lower, rows.upper, rows.scale, rows.free_rhs, rows.mask):
        assert not array.flags.writeable
