"""Rank, singular values and redundant rows of a problem at a configuration, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ...errors import UndefinedError
from ...linear_algebra import RANK_TOLERANCE, largest, null_space, numerical_rank, pivots, row_lengths, singular_values
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...rows.stacking import Order, stack_rows

NEARBY = 0.1
"""How far [rad or m] the dofs are moved to see whether rows depend on each other there too."""
PLACES = 2
"""Number of configurations nearby that are looked at."""


class Row(NamedTuple):
    """A row by name.

    Attributes:
        constraint: its name.
        position: of the constraint in `problem.constraints`.
        row: which tangent row of the constraint's group.
    """

    constraint: str
    position: int
    row: int

    def __str__(self) -> str:
        return f"row {self.row} of '{self.constraint}'"


class RedundantRow(NamedTuple):
    r"""A row that is a combination :math:`J_i = c^T J_B` of others.

    Attributes:
        row: which.
        repeats: the rows of the combination; none for a row that no free dof moves.
        mismatch: :math:`e_i - c^T e_B`: what it asks for beside what they give; no small motion changes it.
        everywhere: whether it depends on them at configurations nearby too; otherwise this one is singular.
    """

    row: Row
    repeats: tuple[Row, ...]
    mismatch: float
    everywhere: bool


class Dependence(NamedTuple):
    """What the rows of a problem are to each other at a configuration.

    Attributes:
        levels: names of the levels that have rows; computed constraints are one above all others.
        rows: number of rows of each.
        ranks: rank of each in the null space of those above.
        singular_values: of the same, largest first.
        redundant: rows that depend on others, optional ones left out.
        inconsistency: norm of the part of the error outside the range of the Jacobian, optional rows left out.
    """

    levels: tuple[str, ...]
    rows: tuple[int, ...]
    ranks: tuple[int, ...]
    singular_values: tuple[Vector, ...]
    redundant: tuple[RedundantRow, ...]
    inconsistency: float


def dependence(problem: Problem, q: Vector, rhs: RightHandSide) -> Dependence:
    r"""Analyse the rows of a problem at a configuration.

    With N an orthonormal basis of the null space of the levels above, pivoted QR of :math:`(J_i N)^T`: pivots below
    1e-6 of the longest row of :math:`J_i` count as zero, and their rows are redundant.

    Args:
        problem: whose rows; computed constraints count as a level above all others.
        q: configuration (nq,).
        rhs: right-hand sides.

    Raises:
        UndefinedError: a function has no value there, or a Jacobian that is not finite.
    """
    named = _stacks(problem)
    stacks = [stack for _, stack in named]
    blocks = [_block(problem, stack, q, rhs) for stack in stacks]
    if not all(np.isfinite(block.jacobian).all() for block in blocks):
        raise UndefinedError("a constraint has a Jacobian that is not finite")
    null, start = np.eye(int((~problem.frozen).sum())), 0
    ranks, values, basis, spare = list[int](), list[Vector](), list[int](), list[int]()
    for block in blocks:
        inside = block.jacobian @ null
        values.append(singular_values(inside))
        order, sizes = pivots(inside.T)
        rank = numerical_rank(sizes, largest(row_lengths(block.jacobian)))  # what is left inside may be rounding alone
        basis += [start + i for i in order[:rank].tolist()]
        spare += [start + i for i in sorted(order[rank:].tolist()) if block.counts[i]]
        ranks.append(rank)
        if rank:
            null = null @ null_space(inside[order[:rank]])
        start += len(inside)
    needed = len(stacks) - (problem.optional_last and problem.levels[-1].size > 0)
    whole = _together(blocks[:needed], problem)
    basis, spare = ([i for i in chosen if i < len(whole.error)] for chosen in (basis, spare))
    names = [row for stack in stacks for row in _names(problem, stack)]
    there = _everywhere(problem, stacks[:needed], q, rhs, basis, spare)
    redundant = [_redundant(i, basis, whole, names, also) for i, also in zip(spare, there, strict=True)]
    outside = whole.error - whole.jacobian @ np.linalg.lstsq(whole.jacobian, whole.error, rcond=RANK_TOLERANCE)[0]
    return Dependence(
        tuple(name for name, _ in named),
        tuple(len(block.error) for block in blocks),
        tuple(ranks),
        tuple(values),
        tuple(redundant),
        float(np.sqrt(outside @ outside)),
    )


class _Block(NamedTuple):
    """Rows of one level: errors, Jacobian by the dofs that move; satisfied inequalities do not count."""

    error: Vector
    jacobian: Matrix
    counts: BoolVector


def _stacks(problem: Problem) -> list[tuple[str, Stack]]:
    """The levels that have rows, with their names, what is computed above all others."""
    last = len(problem.levels) - 1 if problem.optional_last else -1
    levels = [(f"level {i}{' (optional)' * (i == last)}", level) for i, level in enumerate(problem.levels)]
    return [(name, stack) for name, stack in (("computed", problem.explicits), *levels) if stack.size]


def _block(problem: Problem, stack: Stack, q: Vector, rhs: RightHandSide) -> _Block:
    point = problem.at(q)  # held until all is copied
    rows = stack_rows(stack, point, Order.POSITION, rhs)
    one_sided = np.concatenate([owner.rows.one_sided[owner.rows.mask] for owner in stack])
    return _Block(rows.error.copy(), rows.jacobian[:, ~problem.frozen], ~(one_sided & (rows.error == 0.0)))


def _together(blocks: Sequence[_Block], problem: Problem) -> _Block:
    """All rows of some levels."""
    none = _Block(np.zeros(0), np.zeros((0, int((~problem.frozen).sum()))), np.zeros(0, dtype=np.bool_))
    return _Block(*(np.concatenate(parts) for parts in zip(none, *blocks, strict=True)))


def _names(problem: Problem, stack: Stack) -> Iterator[Row]:
    for owner in stack:
        for row in np.flatnonzero(owner.rows.mask):
            yield Row(owner.name, problem.constraints.index(owner), int(row))


def _redundant(i: int, basis: list[int], whole: _Block, names: Sequence[Row], everywhere: bool) -> RedundantRow:
    """One row in terms of those of the basis."""
    e, J = whole.error, whole.jacobian
    length = float(np.sqrt(J[i] @ J[i]))
    if not basis or length <= RANK_TOLERANCE * largest(row_lengths(J)):
        return RedundantRow(names[i], (), float(e[i]), everywhere)
    c = np.array(np.linalg.lstsq(J[basis].T, J[i], rcond=None)[0], dtype=np.float64)
    parts = np.abs(c) * row_lengths(J[basis])
    repeats = tuple(names[k] for k, part in zip(basis, parts.tolist(), strict=True) if part > RANK_TOLERANCE * length)
    return RedundantRow(names[i], repeats, float(e[i] - c @ e[basis]), everywhere)


def _everywhere(
    problem: Problem, stacks: Sequence[Stack], q: Vector, rhs: RightHandSide, basis: list[int], spare: list[int]
) -> list[bool]:
    """Whether redundant rows depend on the basis at configurations nearby too."""
    also = np.ones(len(spare), dtype=np.bool_)
    rng = np.random.default_rng(0)
    for _ in range(PLACES if spare else 0):
        near = problem.space.integrate(q, NEARBY * problem.free * rng.standard_normal(problem.space.nv))
        try:
            near = problem.resolution.resolved(near, rhs)
            J = _together([_block(problem, stack, near, rhs) for stack in stacks], problem).jacobian
        except UndefinedError:
            continue
        left, B = J[spare], J[basis]
        if basis:
            left = left - np.linalg.lstsq(B.T, left.T, rcond=RANK_TOLERANCE)[0].T @ B
        also &= row_lengths(left) <= RANK_TOLERANCE * largest(row_lengths(J))
    return [bool(entry) for entry in also]
