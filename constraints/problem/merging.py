"""Problems made of others: what several ask for, together; one with its explicit constraints as rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import set_fields

from ..errors import MergeConflictError, RobotMismatchError, SpaceMismatchError, UnknownNameError, WrongObjectError
from ..functions.lifted import block_of, robots_of, same_space
from ..robot import Bounds
from ..rows.explicit import Explicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from .arguments import on_space
from .problem import Problem
from .resolution import left_to_steps, order


def explicits_as_rows(problem: Problem) -> Problem:
    """The same problem with nothing computed: explicit constraints are rows of Newton steps, by their twins."""
    if not problem.explicits.owners:
        return problem
    other, nothing = copy.copy(problem), order(problem.space, ())
    levels = left_to_steps(problem.constraint_levels, nothing, problem.optional_last)
    set_fields(other, levels=levels, resolution=nothing, explicits=Stack(()), free=~problem.frozen)
    return other


def merge_problems(problems: Sequence[Problem]) -> Problem:
    """The problem that asks for all that some problems ask for; `Problem.merged` says how."""
    if not problems:
        raise WrongObjectError("problems to be merged", "at least one Problem", "none")
    for i, problem in enumerate(problems):
        expect(problem, Problem, f"problem {i} to be merged")
    whole = _whole(problems)
    blocks = [block_of(problem.space, whole.space, "problem to be merged") for problem in problems]
    levels, optional = _levels(problems, whole.space)
    held = np.zeros(whole.space.nv, dtype=np.bool_)
    for problem, block in zip(problems, blocks, strict=True):
        held[block.v_indices] |= problem.frozen
    return Problem(
        whole.robot or whole.space,
        [*levels, optional] if optional else levels,
        _bounds(whole.space, problems, blocks),
        weights=_weights(whole.space, problems, blocks),
        frozen=Segments.coordinates(whole.space, np.flatnonzero(held)),
        optional_last=bool(optional),
    )


def rhs_from_parts(problem: Problem, parts: Sequence[RightHandSide]) -> RightHandSide:
    """Right-hand sides put together from those of parts; `Problem.rhs_from_parts` says how."""
    stack = problem.constraints
    places = {_identity(owner, problem.space): i for i, owner in enumerate(stack)}
    found: dict[int, tuple[Vector, Vector, Vector]] = {}
    moving = False
    for part in parts:
        expect(part, RightHandSide, "part of right-hand sides")
        moving |= part.velocity is not None or part.acceleration is not None
        for j, owner in enumerate(part.stack):
            i = places.get(_identity(owner, problem.space))
            if i is None:
                words = f"the constraint object {owner.name!r} of a part is not in this problem"
                raise UnknownNameError("constraint object of a part", owner.name, stack.names, words)
            point = (part.of(j), *_rates(part, part.stack.full_slices[j]))
            if i in found and not _same(owner, found[i], point):
                raise MergeConflictError(f"right-hand side of {owner.name!r}", found[i][0], point[0])
            found.setdefault(i, point)
    vector = problem.rhs.vector.copy()
    velocity, acceleration = np.zeros(stack.full_size), np.zeros(stack.full_size)
    for i, point in found.items():
        vector[stack.rhs_slices[i]] = point[0]
        velocity[stack.full_slices[i]], acceleration[stack.full_slices[i]] = point[1:]
    return RightHandSide(stack, vector, *((velocity, acceleration) if moving else ()))


def _whole(problems: Sequence[Problem]) -> Problem:
    """The problem whose space has room for the others."""
    for whole in sorted(problems, key=lambda problem: problem.robot is None):
        if all(_fits(problem.space, whole.space) for problem in problems):
            return whole
    whole = max(problems, key=lambda problem: problem.space.nv)
    part = next(problem for problem in problems if not _fits(problem.space, whole.space))
    mine, theirs = robots_of(part.space), robots_of(whole.space)
    if mine and theirs and not any(a.same_robot(b) for a in mine for b in theirs):
        names = " and ".join(f"'{p.space.name if p.robot is None else p.robot.name}'" for p in (part, whole))
        why = "" if part.space == whole.space else " (a system and its parts are different robots)"
        raise RobotMismatchError(
            f"problems to be merged belong to two robots, {names}: build all of them on one Robot object{why}"
        )
    words = "problems to be merged (one space must be the other, or exactly one factor of it)"
    raise SpaceMismatchError(words, part.space, whole.space)


def _fits(space: Space, whole: Space) -> bool:
    """Whether a space is the whole, or one factor of it."""
    return same_space(space, whole) or sum(same_space(space, factor.space) for factor in whole.factors) == 1


class _Identity(NamedTuple):
    """What makes two constraints one: the object the user gave, and the dofs it computes."""

    original: int
    computes: tuple[int, ...]


def _identity(owner: RowOwner, space: Space) -> _Identity:
    """The identity of a constraint that lives on a space, or on one factor of it."""
    original = id(owner.original)
    if not isinstance(owner, Explicit) or not _fits(owner.space, space):
        return _Identity(original, ())
    block = block_of(owner.space, space, owner.name)
    return _Identity(original, tuple(block.v[i] for i in owner.outputs.v))


def _levels(problems: Sequence[Problem], space: Space) -> tuple[list[list[RowOwner]], list[RowOwner]]:
    """Constraints by mandatory level, and those of an optional last one; each once, where it matters most."""
    order: dict[_Identity, RowOwner] = {}
    level_of: dict[_Identity, float] = {}
    for problem in problems:
        levels = problem.constraint_levels
        last = len(levels) - 1 if problem.optional_last else -1
        for i, level in enumerate(levels):
            for owner in level:
                key = _identity(owner, space)
                if key not in order:
                    order[key] = owner if same_space(owner.space, space) else on_space(owner, space)
                level_of[key] = min(level_of.get(key, np.inf), np.inf if i == last else i)
    deepest = max((int(level) for level in level_of.values() if level < np.inf), default=0)
    levels = [[owner for key, owner in order.items() if level_of[key] == i] for i in range(deepest + 1)]
    return levels, [owner for key, owner in order.items() if level_of[key] == np.inf]


def _bounds(space: Space, problems: Sequence[Problem], blocks: Sequence[Segments]) -> Bounds:
    """The box that all boxes share."""
    lower, upper = np.full(space.nq, -np.inf), np.full(space.nq, np.inf)
    for problem, block in zip(problems, blocks, strict=True):
        lower[block.q_indices] = np.maximum(lower[block.q_indices], problem.bounds.lower)
        upper[block.q_indices] = np.minimum(upper[block.q_indices], problem.bounds.upper)
    return Bounds(space, lower, upper)


def _weights(
    space: Space, problems: Sequence[Problem], blocks: Sequence[Segments]
) -> ArrayLike | dict[str, float] | None:
    """Costs of motion: those that some problem gives; by joint where not all are given, None where none is."""
    costs, has_cost = np.ones(space.nv), np.zeros(space.nv, dtype=np.bool_)
    for problem, block in zip(problems, blocks, strict=True):
        there = block.v_indices[problem.has_cost]
        mine = problem.weights[problem.has_cost]
        wrong = np.flatnonzero(has_cost[there] & (costs[there] != mine))
        if wrong.size:
            column = int(there[wrong[0]])
            joint = next(leaf.name for leaf in space.leaves() if leaf.v.start <= column < leaf.v.stop)
            raise MergeConflictError(f"weight of '{joint}'", costs[column], mine[wrong[0]])
        costs[there], has_cost[there] = mine, True
    if not has_cost.any():
        return None
    named: dict[str, Any] = {leaf.name: costs[leaf.v] for leaf in space.leaves() if has_cost[leaf.v].all()}
    return named if sum(len(cost) for cost in named.values()) == has_cost.sum() < space.nv else costs


def _rates(part: RightHandSide, rows: slice) -> tuple[Vector, Vector]:
    """Velocity and acceleration of one constraint's right-hand side; zero where it rests."""
    still = np.zeros(rows.stop - rows.start)
    velocity, acceleration = part.velocity, part.acceleration
    return still if velocity is None else velocity[rows], still if acceleration is None else acceleration[rows]


def _same(owner: RowOwner, a: tuple[Vector, Vector, Vector], b: tuple[Vector, Vector, Vector]) -> bool:
    """Whether two right-hand sides of one constraint are the same point with the same rates; q and -q are one."""
    apart = np.concatenate([owner.group.difference(a[0], b[0]), a[1] - b[1], a[2] - b[2]])
    return float(np.abs(apart).max(initial=0.0)) <= 1e-12
