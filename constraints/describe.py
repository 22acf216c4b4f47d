"""Problems in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .dependency import dof_names
from .stack import RowOwner

if TYPE_CHECKING:
    from .problem import Problem

__all__ = ["describe"]


def describe(problem: Problem) -> str:
    """A problem's space, its constraints with their rows and how each is resolved, its bounds.

    Args:
        problem: the problem.
    """
    who = problem.robot.name if problem.robot is not None else problem.space.name
    rows, free = problem.reduced_size, int(problem.free.sum())
    lines = [
        f"Problem on {who}: {problem.space.nv} dofs ({free} free), {problem.constraints.size} rows, "
        f"{rows} of them left to Newton steps"
    ]
    if rows > free:
        lines.append(f"  more rows ({rows}) than free dofs ({free}): solvable only if rows repeat or are inequalities")
    reasons = {id(refusal.constraint): refusal.reason for refusal in problem.resolution.refused}
    for i, level in enumerate(problem.levels):
        optional = " (optional)" if problem.optional_last and i == len(problem.levels) - 1 else ""
        for owner in level:
            because = f" because {reasons[id(owner)]}" if id(owner) in reasons else ": solved by Newton steps"
            lines.append(f"  level {i}{optional}: {_describe(owner)}; implicit{because}")
    for i, generation in enumerate(problem.resolution.generations):
        for owner in generation:
            computed = dof_names(problem.space, owner.outputs.v)
            lines.append(f"  generation {i}: {_describe(owner)}; explicit: computes {computed}")
    if problem.frozen.any():
        lines.append(f"  frozen: {dof_names(problem.space, np.flatnonzero(problem.frozen).tolist())}")
    lower, upper = problem.bounds.tangent_lower, problem.bounds.tangent_upper
    bounded = int((np.isfinite(lower) | np.isfinite(upper)).sum())
    lines.append(f"  bounds on {bounded} dofs, {int(problem.wraps.sum())} of them free to turn by whole turns")
    return "\n".join(lines)


def _describe(owner: RowOwner) -> str:
    words = [word for word, counts in zip(owner.rows.words, owner.rows.mask, strict=True) if counts]
    kinds = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    return f"'{owner.name}' in {owner.group.name}, {len(words)} of {owner.group.nv} rows ({kinds})"
