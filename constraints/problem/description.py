"""Problems in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from liegroups.arrays import Vector

from ..errors import NotFiniteError, NotNormalizedError, UndefinedError
from ..exports import from_above
from ..functions.affine import Constant
from ..functions.frames.pose import Pose
from ..functions.frames.position import Position
from ..functions.frames.transformation import Transformation
from ..functions.function import Function
from ..functions.lifted import Lifted
from ..rows.angle_limits import idle_limits, rotation_rows
from ..rows.comparison import INTERVAL, RowTable
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..words import counted, first_of, one_line, row_numbers
from .arguments import UNMOVED, other_bounds
from .resolution import dof_names

if TYPE_CHECKING:
    from .problem import Problem

LEFT_OUT = "left out"
MISSED = "its g_inverse or its twin is wrong, or has no solution there"
"""What is said of an explicit constraint that its own outputs do not satisfy."""
SHOWN = 12
"""Numbers of a right-hand side, and kinds of rows, that are printed."""


def summary(problem: Problem) -> str:
    """A problem in a line: its dofs, its rows, the names of its constraints."""
    names = one_line(", ".join(problem.constraints.names))
    return f"Problem({_sizes(problem)}: {names})"


def printed(problem: Problem) -> str:
    """The same, and which engine solves it."""
    return f"{summary(problem)}, solved by {from_above('solved_by')(problem)}"


def _sizes(problem: Problem, between: str = "") -> str:
    """How many dofs and rows."""
    return f"{counted(problem.space.nv, 'dof')}{between}, {counted(problem.constraints.size, 'row')}"


def describe(problem: Problem) -> str:
    """A problem's space, its constraints with their rows, right-hand sides and how each is resolved, its bounds."""
    who = problem.robot.name if problem.robot is not None else problem.space.name
    rows, free = problem.reduced_size, int((problem.free & ~problem.bounds.frozen).sum())
    lines = [f"Problem on {who}: {_sizes(problem, f' ({free} free)')}, {rows} of them left to Newton steps"]
    if rows > free:
        lines.append(f"  more rows ({rows}) than free dofs ({free}): solvable only if rows repeat or are inequalities")
    labels = {id(owner): label for owner, label in zip(problem.constraints, problem.constraints.labels, strict=True)}
    reasons = {id(refusal.constraint): refusal.reason for refusal in problem.resolution.refused}
    for i, level in enumerate(problem.levels):
        optional = " (optional)" if problem.optional_last and i == len(problem.levels) - 1 else ""
        for owner in level:
            because = f" because {reasons[id(owner)]}" if id(owner) in reasons else ": solved by Newton steps"
            lines.append(f"  level {i}{optional}: {labels[id(owner)]} {_rows(owner)}; implicit{because}")
            lines += _details(owner, problem)
    for i, generation in enumerate(problem.resolution.generations):
        for owner in generation:
            computed = dof_names(problem.space, owner.outputs.v)
            lines.append(f"  generation {i}: {labels[id(owner)]} {_rows(owner)}; explicit: computes {computed}")
            lines += _details(owner, problem)
    if problem.frozen.any():
        lines.append(f"  frozen: {dof_names(problem.space, np.flatnonzero(problem.frozen).tolist())}")
    lines += _costs(problem)
    frozen = frozen_by_bounds(problem)
    if frozen:
        lines.append(f"  {frozen}")
    bounded = int((np.isfinite(problem.bounds.lower) | np.isfinite(problem.bounds.upper)).sum())
    lines.append(
        f"  bounds on {counted(bounded, 'dof')}, {int(problem.wraps.sum())} of them free to turn by whole turns"
    )
    others = other_bounds(problem.robot.bounds if problem.robot else problem.bounds, problem.constraints)
    if others:
        whose = "the problem's robot" if problem.robot and problem.bounds is problem.robot.bounds else "the problem"
        lines.append(f"    these are the bounds of {whose}; the robot of its functions has other bounds on {others}")
    return "\n".join(lines)


def _costs(problem: Problem) -> Iterator[str]:
    """Costs of motion that are not one, a line a cost, the largest first."""
    free, others = problem.weights != 1.0, np.unique(problem.weights)[::-1]
    unlike = [cost for cost in others.tolist() if cost != 1.0]
    for cost in unlike[:SHOWN]:
        names = dof_names(problem.space, np.flatnonzero(free & (problem.weights == cost)).tolist())
        yield f"  cost of motion {cost:.4g}{' (moves freely; frozen= keeps it still)' if not cost else ''}: {names}"
    if len(unlike) > SHOWN:
        yield f"  and {len(unlike) - SHOWN} more costs of motion"


def errors_of(problem: Problem, q: Vector, rhs: RightHandSide | None, threshold: float) -> list[str]:
    """The error of each constraint at a configuration, and the joints at a bound or outside it.

    Args:
        threshold: above which an optional constraint is not satisfied.

    Raises:
        UndefinedError: a function has no value there.
    """
    lines, stack, error = list[str](), problem.constraints, problem.error(q, rhs=rhs)
    optional = problem.levels[-1].owners if problem.optional_last else ()
    for owner, label, (_, norm) in zip(stack, stack.labels, stack.norms(error), strict=True):
        left = " (optional, not satisfied)" if owner in optional and norm > threshold else ""
        scaled = " (scaled)" if (owner.rows.scale[owner.rows.mask] != 1.0).any() else ""
        lines.append(f"{label}: error {norm:.3g}{scaled}{left}")
    return [*lines, *active_bounds(problem, q)]


def missed_by_outputs(problem: Problem, q: Vector, rhs: RightHandSide, threshold: float) -> list[Explicit]:
    """The explicit constraints whose computed outputs do not satisfy them.

    Args:
        q: configuration (nq,), whose outputs are computed here.
    """
    q, missed = q.copy(), list[Explicit]()
    for explicit in problem.resolution.explicits:
        try:
            q[explicit.outputs.q_indices] = rhs.map_of(explicit).value(q)
            error = np.zeros(0) if explicit.is_exact else problem.error(q, explicit, rhs)
        except (UndefinedError, NotNormalizedError, NotFiniteError):
            break
        if not float(np.sqrt(error @ error)) <= threshold:
            missed.append(explicit)
    return missed


def targets_without_time(problem: Problem, rhs: RightHandSide) -> tuple[str, ...]:
    """Targets that stand where their time begins because no time was given, a sentence for each such time.

    Args:
        rhs: right-hand sides; those of `problem.rhs_at(t)` have a time.
    """
    names: dict[float, list[str]] = {}
    for owner, block in zip(problem.constraints, problem.constraints.rhs_slices, strict=True):
        if owner.target is not None and rhs.velocity is None and (rhs.vector[block] == owner.default_rhs).all():
            names.setdefault(owner.target.first_time, []).append(f"{owner.name!r}")
    return tuple(
        f"Target of {', '.join(group)} evaluated at time {t:g} s: `rhs=problem.rhs_at(t)` evaluates it at t"
        for t, group in names.items()
    )


def frozen_by_bounds(problem: Problem, *, that_matter: bool = False) -> str:
    """The joints that cannot move because their two bounds are equal, in words; empty where there is none.

    Args:
        that_matter: only those that Newton steps would move, or that are computed.
    """
    matter = problem.implicit_dofs | problem.resolution.outputs
    columns = problem.bounds.frozen & (matter if that_matter else ~problem.frozen)
    names = dof_names(problem.space, np.flatnonzero(columns).tolist())
    return f"cannot move, both bounds are equal: {names}" if names else ""


def active_bounds(problem: Problem, q: Vector) -> tuple[str, ...]:
    """Joints at a bound or outside it, as "name at its lower bound", in the order of q; "name[2]" is a coordinate.

    Those whose two bounds are equal are always at both, and are left out there (`frozen_by_bounds` names them).
    """
    bounds, words = problem.bounds, list[str]()
    for factor in problem.space.leaves():
        for i in range(factor.q.start, factor.q.stop):
            below, above = q[i] - bounds.lower[i], bounds.upper[i] - q[i]
            if below == above == 0.0:
                continue
            for side, room in (("lower", below), ("upper", above)):
                if room <= 0.0:
                    words.append(f"{bounds.name_of(i)} {'at' if room == 0.0 else 'outside'} its {side} bound")
    return tuple(words)


def _rows(owner: RowOwner) -> str:
    """How many rows of each kind count."""
    words = [word for word, counts in zip(owner.rows.words, owner.rows.mask, strict=True) if counts]
    kinds = ", ".join(_counted(words.count(word), word) for word in dict.fromkeys(words))
    return f"in {owner.group.name}, {len(words)} of {counted(owner.group.nv, 'row')}{f' ({kinds})' if kinds else ''}"


def _counted(number: int, word: str) -> str:
    if word == INTERVAL:
        word = f"in {INTERVAL}" if number == 1 else "in intervals"
    return f"{number} {word}"


def _details(owner: RowOwner, problem: Problem) -> Iterator[str]:
    """A line on the rows, where they are not all the same plain equality, and others on what they are compared to."""
    table = owner.rows
    for name, before in (("written_out", "value "), ("seen_from", "")):
        if said := getattr(_function(owner), name, ""):
            yield f"    {before}{said}"
    if not owner.columns.any():
        yield f"    {UNMOVED}"
    kinds: dict[str, list[int]] = {}
    for row, word in enumerate(table.words):
        kinds.setdefault(_kind(table, row, word), []).append(row)
    if list(kinds) != list(table.words[:1]):
        ordered = sorted(kinds.items(), key=lambda entry: entry[0] == LEFT_OUT)
        said = [f"{row_numbers(rows)} {kind}" for kind, rows in ordered]
        yield f"    {'; '.join(first_of(said, SHOWN, 'more kinds'))}"
    if isinstance(owner, Explicit) and isinstance(owner.f, Constant):
        held = owner.output_function().value(owner.space.neutral)
        lower, upper = (side[list(owner.outputs.q)] for side in (problem.bounds.lower, problem.bounds.upper))
        outside = ", outside its bounds" if ((held < lower) | (held > upper)).any() else ""
        yield f"    held at {_point(held)}{outside}"
    if owner.target is not None:
        start, end = owner.target.interval
        span = f"[{start:g}, {end:g}] s" if np.isfinite((start, end)).any() else "all times"
        first = f"right-hand side at time {owner.target.first_time:g} s: {_point(owner.default_rhs)}"
        yield f"    a Target over {span}; {first}"
    elif owner.group.log(owner.default_rhs).any():
        yield f"    right-hand side {_point(owner.default_rhs)}"
    elif isinstance(owner, Implicit):
        yield from _no_right_hand_side(owner)
    if _mixes_positions(owner):
        yield "    translation rows of SE3 are positions only if the rotation error is zero; those of R3xSO3 always are"
    angle = _least_angle(owner)
    if angle > np.pi * (1.0 + 1e-9):
        vector = f"a rotation vector is at most pi long, this one is at least {angle:.4g} long"
        yield f"    out of reach: {vector}; angles are in radians"
    idle = idle_limits(table, _function(owner), owner.group)
    if idle:
        yield f"    {idle}"


def _no_right_hand_side(owner: Implicit) -> Iterator[str]:
    """What a right-hand side that is zero asks for, where nobody gave one, or where it is a place in the world."""
    function, rows, zero = _function(owner), owner.rows, "zero"
    held = rows.mask & (rows.lower == 0.0) & (rows.upper == 0.0)
    if isinstance(function, Position | Pose | Transformation) and held.all():
        a, what = function.frame_a, zero if isinstance(function, Position) else "the identity pose"
        whose = "that placement" if function.seen_from else f"'{a}'" if a.joint else "the world"
        zero = f"{what}, '{function.frame_b}' at the origin of {whose}"
    if owner.rhs is None and (rows.mask & rows.free_rhs).any():
        yield f"    right-hand side: none given, so {zero}; problem.rhs_from(q) reads what q has"
    elif zero != "zero":
        yield f"    right-hand side {zero}"


def _mixes_positions(owner: RowOwner) -> bool:
    """Whether translation rows of a pose in SE(3) are asked for one by one, while the rotation is not held."""
    held = owner.rows.mask & (owner.rows.lower == owner.rows.upper)
    for leaf in owner.group.leaves():
        if leaf.space.name == "SE3":
            linear, angular = slice(leaf.v.start, leaf.v.start + 3), slice(leaf.v.start + 3, leaf.v.stop)
            if owner.rows.mask[linear].any() and not (held[linear].all() or held[angular].all()):
                return True
    return False


def _least_angle(owner: RowOwner) -> float:
    """The length that a rotation vector among the rows must have at least, whatever the configuration."""
    table, flat = owner.rows, owner.group.is_flat
    rhs = owner.default_rhs if flat else np.zeros(owner.group.nv)
    least = np.maximum(np.maximum(table.lower + rhs, -(table.upper + rhs)), 0.0)
    if flat:
        function = _function(owner.twin if isinstance(owner, Explicit) else owner)
        blocks = [] if owner.wrapped_rotation_vectors else rotation_rows(function, owner.group)
    else:
        blocks = rotation_rows(None, owner.group)
    return max((float(np.linalg.norm(least[block])) for block in blocks), default=0.0)


def _function(owner: RowOwner) -> Function | None:
    """The function of a constraint, as it was before it was lifted to a bigger space; None where it is another kind."""
    function = owner.f if isinstance(owner, Explicit) else owner.function if isinstance(owner, Implicit) else None
    return function.function if isinstance(function, Lifted) else function


def _kind(table: RowTable, row: int, word: str) -> str:
    """What one row asks for."""
    if not table.mask[row]:
        return LEFT_OUT
    low, high = float(table.lower[row]), float(table.upper[row])
    if word == INTERVAL:
        kind = f"at most {high:.4g}" if low == -np.inf else f"at least {low:.4g}"
        kind = f"in [{low:.4g}, {high:.4g}]" if -np.inf < low and high < np.inf else kind
    else:
        kind = word
        kind += f" (at least {low:.4g})" if high == np.inf and low else ""
        kind += f" (at most {high:.4g})" if low == -np.inf and high else ""
    scale = float(table.scale[row])
    return kind if scale == 1.0 else f"{kind}, error times {scale:.4g}"


def _point(point: Vector) -> str:
    """A point of a group in numbers."""
    return f"[{', '.join(first_of([f'{x:.4g}' for x in (point + 0.0).tolist()], SHOWN))}]"
