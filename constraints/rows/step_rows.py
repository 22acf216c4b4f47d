r"""Rows for a step: a short cut of the solver's. Nobody else takes it, and no constraint need have it.

With any invertible T, Newton's step from :math:`(T e, T J)` is that from :math:`(e, J)`. A T that keeps the norm of
each block of rows leaves residual and merit as they are, and may take away most of the work (`docs/solver.md`). Two
kinds of rows have one: functions into :math:`R^n` that say so, and errors in a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast, final

from liegroups import SO2, SO3, Space
from liegroups.arrays import Matrix, Vector

from ..functions.function import Function
from ..linear_algebra import dot
from ..point import Point
from .comparison import RowTable

SMALL_ERROR = 1.0
"""Errors [m, rad] in SE(2) and SE(3) up to which a step may take rows without the derivative of the logarithm."""


class StepRows(Protocol):
    """What a function into :math:`R^n` may have beside `evaluate`: T h and T J, with a T that is at hand.

    Rotated into the body, the Jacobian of a pose is the body Jacobian itself. A subclass that overrides `evaluate`
    alone has no such rows. `mixed_rows`, where there is one, is a sequence of slices: the blocks of rows that T mixes,
    whose norm it keeps; rows in none are those of `evaluate`, but for rounding.
    """

    def evaluate_for_step(self, point: Point, error: Vector, jacobian: Matrix | None = None) -> None:
        """Write T h (outputs.nv,), and T J where a Jacobian is given, as `Function.evaluate` has it."""


@final
class GroupStepRows:
    r"""Errors in a group, with :math:`T = J_{log}^{-1}(e)`, which leaves e as it is: the body Jacobian of the function.

    The step that a damped solver takes still leads down for rotations, :math:`J_{log}^T(e)\, e = e`; for poses in SE(3)
    that holds for small errors, and large ones keep their rows.

    Args:
        function: into the group.
    """

    def __init__(self, function: Function) -> None:
        self._function, self._group = function, function.outputs
        self._neutral = self._group.neutral
        self._coupled = not all(leaf.space.is_flat or leaf.space in (SO2, SO3) for leaf in self._group.leaves())

    def write(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """As `RowOwner.write_position`, times T."""
        group, reference = self._group, self._neutral if rhs is None else rhs
        value = point.scratch(self, "value", (group.nq,))
        self._function.evaluate(point, value, jacobian)
        group.write_error(reference, value, error)
        if jacobian is not None and self._coupled and dot(error, error) > SMALL_ERROR**2:
            group.write_error(reference, value, error, jacobian)


def step_rows_of(function: Function, rows: RowTable) -> StepRows | GroupStepRows | None:
    """The rows for a step of a function that a table compares; None where all rows stay as they are.

    All rows that count must count as they are, and of a block that is mixed all or none.

    Args:
        function: into R^n or another group.
        rows: what is asked of each row.
    """
    group = function.outputs
    steps, blocks = function_step_rows(function) if group.is_flat else (GroupStepRows(function), _blocks(group))
    whole = all(rows.mask[block].all() or not rows.mask[block].any() for block in blocks)
    return steps if rows.is_plain and whole else None


def function_step_rows(f: Function) -> tuple[StepRows | None, Sequence[slice]]:
    """The rows for a step that a function has itself, or None; and the blocks of rows that they mix."""
    has_steps = getattr(f, "evaluate_for_step", None) is not None
    return (cast("StepRows", f), getattr(f, "mixed_rows", ())) if has_steps else (None, ())


def _blocks(group: Space) -> list[slice]:
    return [leaf.v for leaf in group.leaves() if not leaf.space.is_flat]
