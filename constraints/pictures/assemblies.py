"""Mechanisms as pictures: before and after their assembly, and the way there (extra `plot`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups.arguments import natural_number
from liegroups.arrays import ArrayLike

from ..errors import OptionError
from ..words import first_of
from .figures import BAD, GOOD, TEXT, save_figure
from .films import film
from .panels import PanelLayout, in_a_row, panels
from .scenes import DrawnScene
from .views import Wanted

if TYPE_CHECKING:
    from ..loops import Assembly
    from ..models.structure.mechanism import Mechanism
    from ..reduced import Closing

NAMED = 6
"""How many closures are written out below a picture, the worst first."""
FRAME_TIME = 0.5
"""How long an iterate is shown in an animation [s]."""
SMALL, WIDE, SIDE = 0.17, 4.8, 3.0
"""Height of a line of small print, sides of a picture of two and of one of a strip [inch]."""
MARGIN, APART = 0.085, 0.17
"""Room above small print, and above and below it [inch]."""
HEAD, LEAST = 0.42, 8.0
"""Room for the name above all, and least width of a picture of two [inch]."""
SHUT = 1e-6
"""Largest error of what is closed."""


def plot_assembly(
    mechanism: Mechanism,
    start: ArrayLike,
    end: ArrayLike,
    path: str | os.PathLike[str] | None = None,
    *,
    view: Wanted = None,
) -> Any:
    """Two configurations side by side, usually before and after assembly, with the errors of the closures.

    Ends of a closure are dots, squares where they are fixed in the world, joined by a dashed line where they are apart.

    Args:
        mechanism: which.
        start, end: configurations (nq,).
        path: the file that the picture is written to.
        view: as in `plot_robot`.

    Returns:
        the matplotlib figure.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with a configuration.
        UnknownNameError: a view that is none.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    scene = DrawnScene(mechanism)
    Q = [np.array(scene.robot.check(q, what)) for q, what in ((start, "start"), (end, "end"))]
    scene.look(Q, view)
    errors = [errors_of(mechanism, q) for q in Q]
    below = SMALL * min(len(errors[0]), NAMED + 1) + APART
    layout = PanelLayout(side=WIDE, heading=mechanism.name, above=HEAD, below=below, least=LEAST)
    figure, pictures, feet = panels(scene, [" ", " "], path is None, layout)
    for axes, (middle, low), q, found, word in zip(pictures, feet, Q, errors, ("before", "after"), strict=True):
        scene.show(axes)
        scene.draw(axes, q)
        worst = next(iter(found.values()), 0.0)
        _entitle(axes, scene, f"{word}: residual {worst:.2g}", worst <= SHUT)
        named = [f"{name}: {error:.1e}" for name, error in found.items()]
        top = low - MARGIN / figure.get_figheight()
        figure.text(middle, top, "\n".join(first_of(named, NAMED)), ha="center", va="top", fontsize="small", color=TEXT)
    return save_figure(figure, path)


def _entitle(axes: Any, scene: DrawnScene, words: str, shut: bool) -> None:
    """What stands above a picture, in the colour of what is shut, or open."""
    axes.set_title(words, color=GOOD if shut else BAD, y=0.5 + scene.reach[1])


def plot_iterates(
    result: Assembly | Closing, path: str | os.PathLike[str] | None, poses: int, view: Wanted = None
) -> Any:
    """Draw the iterates of an assembly or a closing; the ends of open closures are joined by a dashed line.

    Args:
        result: with its iterates.
        path: the file that it is written to: `.gif` for an animation of all iterates, else a strip.
        poses: how many iterates a strip shows, the first and the last among them.
        view: as in `plot_robot`.

    Raises:
        OptionError, SizeError: no iterate, or no pose.
        UnknownNameError: a view that is none.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    iterates, residuals = result.iterates, result.residuals
    if natural_number(poses, "poses of a strip") == 0 or not iterates:
        raise OptionError(f"poses of a strip: expected at least one of {len(iterates)} iterates, got {poses}")
    scene = DrawnScene(result.constraint_set)
    scene.look(iterates, view)

    def show(axes: Any, i: int) -> None:
        axes.clear()
        scene.show(axes)
        shut = scene.draw(axes, iterates[i])
        _entitle(axes, scene, f"{i}: {residuals[i]:.1e}", shut)

    last, count = len(iterates) - 1, min(poses, len(iterates))
    chosen = [round(i * last / max(count - 1, 1)) for i in range(count)]
    words = "" if result.success or not result.worst else f", worst: {result.worst}"
    heading = f"{result.status.name}{words}"
    layout = PanelLayout(side=SIDE, columns=in_a_row(count), heading=heading, above=HEAD, least=SIDE)
    figure, pictures, _ = panels(scene, [" "] * count, path is None, layout)
    for axes, i in zip(pictures, chosen, strict=True):
        show(axes, i)
    if path is not None and os.fspath(path).lower().endswith(".gif"):
        moving, (axes,), _ = panels(scene, [" "], False)
        film(moving, lambda i: show(axes, i), len(iterates), path, 1.0 / FRAME_TIME)
        return figure
    return save_figure(figure, path)


def errors_of(mechanism: Mechanism, q: ArrayLike) -> dict[str, float]:
    """How far each closure and coupler is open, by name, the worst first."""
    if not mechanism.rows:
        return {}
    norms = mechanism.stack.norms(mechanism.constraint_set().position_error(q))
    return dict(sorted(norms, key=lambda entry: -entry[1]))
