"""First and second order at a point of the feasible set: active rows, multipliers, what is left of the gradient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...linear_algebra import RANK_TOLERANCE, null_space
from ...problem.problem import Problem
from ...problem.resolution import dof_names
from .feasible_set import FeasibleSet, FeasibleSetAt, LocalModel
from .quadratic_model import Inequalities, multipliers

ACTIVE = 1e-9
"""An inequality row or a bound this near to its value [scaled error, m or rad] is active."""


class Optimality(NamedTuple):
    """How the gradient of the objective is explained at a configuration.

    Attributes:
        basis: (live dofs, m) orthonormal, the motions that keep the equalities.
        slopes: the inequality rows and the bounds, linear in steps of the live dofs.
        weights: their multipliers, positive where active and needed.
        rows: (rows,) multipliers of all rows, positive where the lower end of an interval pushes.
        stationarity: size of what no active row explains of the gradient, relative to its scale (`LocalModel.scale`).
    """

    basis: Matrix
    slopes: Inequalities
    weights: Vector
    rows: Vector
    stationarity: float


def inequalities(view: FeasibleSetAt, local: LocalModel) -> Inequalities:
    """The inequality rows and the bounds as linear rows on steps of the live dofs."""
    feasible = view.feasible
    live, box, wide = feasible.live, feasible.box, feasible.wide
    C = np.concatenate((local.jacobian[wide][:, live], feasible.unit))
    value = np.concatenate((local.values[wide], local.q[box.coordinate[live]]))
    lower = np.concatenate((view.lower[wide], box.lower[live]))
    upper = np.concatenate((view.upper[wide], box.upper[live]))
    below, above = np.isfinite(lower), np.isfinite(upper)
    number = np.concatenate((wide, feasible.size + live))
    return Inequalities(
        np.concatenate((C[below], -C[above])),
        np.minimum(np.concatenate(((lower - value)[below], (value - upper)[above])), 0.0),
        np.concatenate((number[below], number[above])),
        np.repeat([1.0, -1.0], [int(below.sum()), int(above.sum())]),
    )


def optimality(view: FeasibleSetAt, local: LocalModel) -> Optimality:
    r"""Multipliers of the active rows and bounds, and what they leave of the gradient.

    .. math:: \min_{\lambda,\, \mu \ge 0} |g - A^T \lambda - C^T \mu|

    Args:
        view: the rows.
        local: what is known at the configuration.
    """
    feasible = view.feasible
    live = feasible.live
    g, A = local.gradient[live], local.jacobian[feasible.equal][:, live]
    N = np.ascontiguousarray(null_space(A))
    slopes = inequalities(view, local)
    near = np.flatnonzero(slopes.d >= -ACTIVE)
    C = slopes.C[near]
    mu, left = multipliers(N.T @ g, C @ N)
    weights = np.zeros(slopes.d.size)
    weights[near] = mu
    stationarity = float(np.sqrt(left.dot(left))) / local.scale if local.scale > 0.0 else 0.0
    return Optimality(N, slopes, weights, row_multipliers(view, local, slopes, weights), stationarity)


def row_multipliers(view: FeasibleSetAt, local: LocalModel, slopes: Inequalities, weights: Vector) -> Vector:
    """Multipliers (rows,) of all rows, from those of the inequalities: equalities explain what these leave."""
    feasible = view.feasible
    live = feasible.live
    rows = np.zeros(feasible.size)
    mine = slopes.number < feasible.size
    np.add.at(rows, slopes.number[mine], (slopes.side * weights)[mine])
    A = local.jacobian[feasible.equal][:, live]
    if len(A):
        left = local.gradient[live] - weights @ slopes.C
        rows[feasible.equal] = np.linalg.lstsq(A.T, left, rcond=RANK_TOLERANCE)[0]
    return rows


def differences(
    view: FeasibleSetAt, local: LocalModel, rows: Vector, steps: Matrix, h: float, central: bool = False
) -> Matrix:
    r"""Derivative of the gradient of the Lagrangian, :math:`g - J^T \lambda`, along motions, by differences.

    Args:
        view: the rows and the objective.
        local: where.
        rows: multipliers :math:`\lambda` of the rows, kept.
        steps: (live dofs, m) motions.
        h: length of a difference.
        central: twice the work, and an error of second order.

    Returns:
        (live dofs, m).
    """
    space, live = view.feasible.problem.space, view.feasible.live
    out = np.empty(steps.shape)
    here = (local.gradient - rows @ local.jacobian)[live]
    v = np.zeros(space.nv)
    for i, step in enumerate(steps.T):
        v[live] = h * step
        ahead = view.at(space.integrate(local.q, v))
        out[:, i] = (ahead.gradient - rows @ ahead.jacobian)[live]
        if central:
            behind = view.at(space.integrate(local.q, -v))
            out[:, i] = (out[:, i] - (behind.gradient - rows @ behind.jacobian)[live]) / (2.0 * h)
        else:
            out[:, i] = (out[:, i] - here) / h
    return out


def inequality_name(feasible: FeasibleSet, number: int, side: float) -> str:
    """An inequality in words."""
    end = "lower" if side > 0.0 else "upper"
    stack = feasible.stack
    for owner, rows, label in zip(stack, stack.slices, stack.labels, strict=True):
        if rows.start <= number < rows.stop:
            return f"{label}, row {np.flatnonzero(owner.rows.mask)[number - rows.start]}, at its {end} end"
    problem = feasible.problem
    if number < feasible.size:
        name = problem.bounds.name_of(feasible.guarded[number - stack.size])
    else:
        name = joint_name(problem, number - feasible.size)
    return f"{name} at its {end} bound"


def joint_name(problem: Problem, column: int) -> str:
    """Name of the joint of a tangent column, with its number where the joint has several."""
    return dof_names(problem.space, [int(column)])
