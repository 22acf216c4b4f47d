"""Mechanisms as pictures: before and after their assembly, and the way there (extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from liegroups.arguments import natural_number
from liegroups.arrays import ArrayLike, Vector

from ..errors import OptionError
from ..loops.frame_rows import FrameRows
from ..robot import Frame, Robot
from ..rows.row_owner import RowOwner
from ..rows.stacking import stack_rows
from .figures import Cube, new_figure, save_animation, save_figure, show_cube
from .robots import draw_configuration, stick_figure

if TYPE_CHECKING:
    from ..loops.constraint_set import ConstraintSet
    from ..models.mechanism import Mechanism

NAMED = 6
"""How many closures are written out beside a picture, the worst first."""
FRAME_TIME = 0.5
"""How long an iterate is shown in an animation [s]."""
OPEN, SHUT, FIXED = "#d62728", "#2ca02c", "#404040"
SEEN_APART = 1e-3
"""Ends of a closure that are further apart than this part of the picture are joined by a line."""
SMALLEST = 1e-3
"""Least half of the width of what is shown [m]."""

_Pair = tuple[Frame, Frame]


def plot_assembly(
    mechanism: Mechanism, start: ArrayLike, end: ArrayLike, path: str | os.PathLike[str] | None = None
) -> Any:
    """Two configurations side by side, usually before and after assembly, with the errors of the closures.

    Ends of a closure are dots, squares where they are fixed in the world, joined by a red line where they are apart.

    Args:
        mechanism: which.
        start, end: configurations (nq,).
        path: also write the picture there.

    Returns:
        the matplotlib figure.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with a configuration.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    robot, pairs = mechanism.robot, _pairs(mechanism.closures)
    configurations = [np.array(robot.check(q, what)) for q, what in ((start, "start"), (end, "end"))]
    cube = _cube(robot, configurations, pairs)
    figure = new_figure(11.0, 6.6, layout="none")
    figure.text(0.5, 0.955, mechanism.name, ha="center", fontsize=15, fontweight="bold")
    for column, (q, word) in enumerate(zip(configurations, ("before", "after"), strict=True)):
        axes = figure.add_axes((0.5 * column, 0.2, 0.5, 0.72), projection="3d", computed_zorder=False)
        show_cube(axes, cube, cube.grid, zoom=1.15)
        _draw(axes, robot, q, pairs, cube)
        errors = _errors(mechanism, q)
        worst = max(errors.values(), default=0.0)
        colour = OPEN if worst > 1e-6 else SHUT
        middle = 0.25 + 0.5 * column
        figure.text(middle, 0.905, f"{word}: residual {worst:.2g}", ha="center", fontsize=13, color=colour)
        lines = [f"{name}: {error:.1e}" for name, error in sorted(errors.items(), key=lambda e: -e[1])[:NAMED]]
        if len(errors) > NAMED:
            lines.append(f"and {len(errors) - NAMED} more")
        figure.text(middle, 0.185, "\n".join(lines), ha="center", va="top", fontsize=9, color="#404040")
    figure.text(0.5, 0.01, f"grid {cube.grid:g} m", ha="center", fontsize=9, color="#808080")
    return save_figure(figure, path)


class Iterated(Protocol):
    """A result that has kept its way: an Assembly, or a Closing."""

    @property
    def constraint_set(self) -> ConstraintSet:
        """What was to be closed."""
        ...

    @property
    def iterates(self) -> Sequence[Vector]:
        """The configurations on the way, the start first."""
        ...

    @property
    def residuals(self) -> Sequence[float]:
        """The residual at each of them."""
        ...

    @property
    def status(self) -> Enum:
        """How it ended."""
        ...

    @property
    def success(self) -> bool:
        """Whether it is closed."""
        ...

    @property
    def worst(self) -> str:
        """Name of the constraint with the largest error at the end; may be empty."""
        ...


def plot_iterates(result: Iterated, path: str | os.PathLike[str] | None, poses: int) -> Any:
    """Draw the iterates of an assembly or a closing; the ends of open closures are joined by a dashed line.

    Args:
        result: with its iterates.
        path: also write it there: `.gif` for an animation of all iterates, else a strip.
        poses: how many iterates a strip shows, the first and the last among them.

    Raises:
        OptionError, SizeError: no iterate, or no pose.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    iterates, residuals, rows = result.iterates, result.residuals, result.constraint_set
    if natural_number(poses, "poses of a strip") == 0 or not iterates:
        raise OptionError(f"poses of a strip: expected at least one of {len(iterates)} iterates, got {poses}")
    robot, pairs = rows.robot, _pairs(rows.stack)
    cube = _cube(robot, iterates, pairs)

    def show(axes: Any, i: int) -> None:
        show_cube(axes, cube, grid=0.5 * cube.reach, zoom=1.1)
        shut = _draw(axes, robot, iterates[i], pairs, cube)
        axes.set_title(f"{i}: {residuals[i]:.1e}", fontsize=9, color=SHUT if shut else OPEN)

    last, count = len(iterates) - 1, min(poses, len(iterates))
    chosen = [round(i * last / max(count - 1, 1)) for i in range(count)]
    figure = new_figure(3.2 * len(chosen), 3.6, layout="none")
    for column, i in enumerate(chosen):
        place = (column / len(chosen), 0.0, 1.0 / len(chosen), 0.82)
        show(figure.add_axes(place, projection="3d", computed_zorder=False), i)
    words = "" if result.success or not result.worst else f", worst: {result.worst}"
    figure.text(0.5, 0.985, f"{result.status.name}{words}", ha="center", va="top", fontsize=10)
    if path is not None and os.fspath(path).lower().endswith(".gif"):
        moving = new_figure(4.0, 4.0, layout="none")
        axes = moving.add_axes((0.0, 0.0, 1.0, 0.92), projection="3d", computed_zorder=False)

        def pictures() -> Iterator[None]:
            for i in range(len(iterates)):
                axes.clear()
                yield show(axes, i)

        save_animation(moving, pictures(), path, 1.0 / FRAME_TIME, 100)
        return figure
    return save_figure(figure, path)


def _draw(axes: Any, robot: Robot, q: Vector, pairs: Sequence[_Pair], cube: Cube) -> bool:
    """The robot, fixed ends, and a line between the ends of each closure that is open; whether all are shut."""
    draw_configuration(axes, robot, q, tips=_ends(pairs, fixed=False))
    for frame in _ends(pairs, fixed=True):
        axes.plot(*np.array(frame.placement.translation)[:, None], "s", color=FIXED, markersize=5.0, zorder=11)
    posture, shut = robot.at(q), True
    for pair in pairs:
        ends = np.array([posture.placement(frame).translation for frame in pair])
        if np.abs(ends[0] - ends[1]).max() > SEEN_APART * cube.reach:
            shut = False
            axes.plot(*ends.T, "--", color=OPEN, linewidth=1.5, zorder=11)
    return shut


def _errors(mechanism: Mechanism, q: Vector) -> dict[str, float]:
    """The error norm of each closure and coupler, by name."""
    if not mechanism.rows:
        return {}
    return dict(mechanism.stack.norms(stack_rows(mechanism.stack, mechanism.robot.at(q), jacobian=False).error))


def _pairs(owners: Iterable[RowOwner]) -> list[_Pair]:
    """The two frames of each closure."""
    return [(owner.predecessor, owner.successor) for owner in owners if isinstance(owner, FrameRows)]


def _ends(pairs: Sequence[_Pair], fixed: bool) -> list[Frame]:
    """The frames of closures that are fixed in the world, or those on moving bodies."""
    return [frame for pair in pairs for frame in pair if fixed is (frame.joint == 0)]


def _cube(robot: Robot, configurations: Iterable[Vector], pairs: Sequence[_Pair]) -> Cube:
    """The cube around a mechanism in some configurations."""
    points = [np.array(frame.placement.translation) for frame in _ends(pairs, fixed=True)]
    for q in configurations:
        points += [end for stick in stick_figure(robot, q, _ends(pairs, fixed=False)) for end in stick]
    return Cube.around(points, SMALLEST)
