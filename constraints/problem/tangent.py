"""Velocities that keep the constraints of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..linear_algebra import null_space, row_space
from ..point import Point
from ..rows.right_hand_side import RightHandSide
from ..rows.stack import Stack
from ..rows.stacking import Order, stack_rows

if TYPE_CHECKING:
    from .problem import Problem


def tangent_basis(problem: Problem, point: Point, rhs: RightHandSide) -> Matrix:
    """Orthonormal basis (nv, dimension) of the velocities that keep all mandatory errors."""
    return kept_velocities(problem, _jacobian(problem, point, rhs, (*problem.mandatory, problem.explicits)))


def kept_velocities(problem: Problem, J: Matrix) -> Matrix:
    """Orthonormal basis (nv, dimension) of the velocities that some rows keep, by their Jacobian J (rows, nv)."""
    moving = np.flatnonzero(~problem.frozen)
    inside = null_space(J[:, moving])
    basis = np.zeros((problem.space.nv, inside.shape[1]))
    basis[moving] = inside
    return basis


def project_tangent(problem: Problem, point: Point, v: Vector, rhs: RightHandSide) -> Vector:
    """The nearest motion of the free dofs that keeps all mandatory errors, computed dofs following."""
    T = problem.resolution_jacobian(point, rhs)
    Q, rank = row_space(_jacobian(problem, point, rhs, problem.mandatory) @ T)
    return T @ (v - Q[:, :rank] @ (Q[:, :rank].T @ v))


def reduced_jacobian(problem: Problem, point: Point, rhs: RightHandSide) -> Matrix:
    """Jacobian (reduced_size, number of free dofs) of the errors of the levels, at a point of resolved constraints."""
    T = problem.resolution_jacobian(point, rhs)[:, problem.free]
    return _jacobian(problem, point, rhs, problem.levels) @ T


def _jacobian(problem: Problem, point: Point, rhs: RightHandSide, stacks: Sequence[Stack]) -> Matrix:
    """Jacobian of the errors of some stacks."""
    blocks = [stack_rows(stack, point, Order.POSITION, rhs).jacobian.copy() for stack in stacks if stack.size]
    return np.concatenate([np.zeros((0, problem.space.nv)), *blocks])
