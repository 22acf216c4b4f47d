"""Modes as pictures: their spectrum, a table, and how each moves a mechanism; moving ones too (extra `plot`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups.arguments import natural_number
from liegroups.arrays import Vector

from ..errors import OptionError
from ..reduced.equilibria.prescribed import NOT_BESIDE
from .figures import LETTER, save_figure, tidy
from .films import check_film, film, has_window
from .panels import PanelLayout, panels
from .robots import Stroke
from .scenes import DrawnScene
from .views import Region, Wanted

if TYPE_CHECKING:
    from ..reduced import Mode, Modes

STILL, AHEAD, BEHIND = "#a0a0a0", "#0072b2", "#8cc5ea"
COLOURS = {"grows": "#d55e00", "oscillates": "#009e73", "decays": "#0072b2", "rigid": "#7f7f7f"}
"""Of the marks in the spectrum, by the first word of a mode's class."""
FAR = 0.12
"""How far the fastest point of a mechanism moves in a picture, as a part of its width."""
LARGEST, SMALLEST = 0.6, 1e-4
"""Amplitudes that are drawn at most, and at least [rad or m]."""
SWING = 1.6
"""How long a period is shown [s]."""
SHAPES = 8
"""Shapes that are drawn by default."""
LISTED = 12
"""Lines of the table."""
BEYOND, TALL, NARROWEST = {"linear": 1.3, "symlog": 3.0}, 1.1, 1e-3
"""Half of the width of a spectrum, in largest real parts, its height, in largest imaginary ones; its least width."""
WIDE = 30.0
"""Real parts that are so many times larger than imaginary ones are shown on a logarithmic scale."""
TABLE = 8.5
"""Size of the letters of the table [points]."""
LEFT, TOP, ACROSS, HIGH, BESIDE = 0.9, 0.2, 2.5, 1.6, 3.8
"""The spectrum: from the left and from above, its width and height, and where the table begins beside it [inch]."""
SIDE, ABOVE = 3.0, 2.5
"""Of a shape, and height of what is above: the spectrum, and the table of fifteen lines at most [inch]."""
STRONG, WEAK = 2.2, 1.6
"""Widths of sticks that are ahead, and of others [points]."""


def plot_modes(
    modes: Modes, path: str | os.PathLike[str] | None = None, most: int | None = None, view: Wanted = None
) -> Any:
    """As `Modes.plot`."""
    idle = [i for i, mode in enumerate(modes.or_raise()) if mode.idle]
    order = [i for i in range(len(modes)) if i not in idle] + idle
    usual = max(SHAPES, len(modes) - len(idle)) if idle else SHAPES
    numbers = order[: usual if most is None else natural_number(most, "shapes of a picture")]
    shown = [modes[i] for i in numbers]
    if not shown:
        raise OptionError(f"shapes of a picture: expected at least one of {len(modes)} modes, got {most}")
    scene = _scene(shown[0])
    moved = [_swing(scene, mode, 2) for mode in shown]
    scene.look([shown[0].state.q, *(q for swing in moved for q in swing)], view)
    table = modes.describe().splitlines()[1:]
    if len(modes) > LISTED:
        table[1 + LISTED : 1 + len(modes)] = [f"   and {len(modes) - LISTED} more"]
    least = BESIDE + LETTER * TABLE * max(map(len, table))
    titles = [f"{i}: {_words(mode)}" for i, mode in zip(numbers, shown, strict=True)]
    figure, pictures, _ = panels(scene, titles, path is None, PanelLayout(side=SIDE, above=ABOVE, least=least))
    width, height = figure.get_size_inches()
    _spectrum(figure.add_axes((LEFT / width, 1.0 - (TOP + HIGH) / height, ACROSS / width, HIGH / height)), modes)
    figure.text(BESIDE / width, 1.0 - TOP / height, "\n".join(table), family="monospace", fontsize=TABLE, va="top")
    for axes, mode, (ahead, behind) in zip(pictures, shown, moved, strict=True):
        scene.show(axes)
        for q, colour in ((behind, BEHIND), (mode.state.q, STILL), (ahead, AHEAD)):
            scene.draw(axes, q, Stroke(colour, STRONG if colour == AHEAD else WEAK))
    return save_figure(figure, path)


def animate_mode(
    mode: Mode,
    path: str | os.PathLike[str] | None = None,
    frames: int = 24,
    amplitude: float | None = None,
    view: Wanted = None,
) -> Any:
    """As `Mode.animate`."""
    check_film(path)
    count, scene = natural_number(frames, "frames of a mode"), _scene(mode)
    swing = _swing(scene, mode, count) if amplitude is None else mode.configurations(count, amplitude=amplitude)
    scene.look([mode.state.q, *swing], view)
    figure, (axes,), _ = panels(scene, [_words(mode)], has_window(path))

    def draw(i: int) -> None:
        axes.clear()
        scene.show(axes)
        scene.draw(axes, mode.state.q, Stroke(STILL, WEAK))
        scene.draw(axes, swing[i], Stroke(AHEAD, STRONG))

    return film(figure, draw, count, path, count / SWING)


def _words(mode: Mode) -> str:
    """What stands above a shape."""
    s = mode.eigenvalue
    number = f"{mode.frequency:.4g} Hz, " if s.imag else f"{s.real:.4g} 1/s, " if s.real else ""
    return f"{number}{mode.kind.value}"


def _scene(mode: Mode) -> DrawnScene:
    return DrawnScene(mode.state.coordinates.constraint_set)


def _swing(scene: DrawnScene, mode: Mode, count: int) -> tuple[Vector, ...]:
    """Closed configurations of a period whose amplitude can be seen, or the largest at which the loops close."""
    still = np.array(scene.points(mode.state.q))
    near = np.array(scene.points(mode.configurations(1, amplitude=SMALLEST)[0]))
    speed = float(np.sqrt(((near - still) ** 2).sum(axis=1).max(initial=0.0))) / SMALLEST
    width = Region.around(still).width
    amplitude = min(FAR * width / speed if speed > SMALLEST * width else LARGEST, LARGEST)
    while amplitude > SMALLEST:
        try:
            return mode.configurations(count, amplitude=amplitude)
        except NOT_BESIDE:
            amplitude *= 0.5
    return mode.configurations(count, amplitude=SMALLEST)


def _spectrum(axes: Any, modes: Modes) -> None:
    """Eigenvalues in the upper half of the complex plane."""
    for mode in modes:
        s = mode.eigenvalue
        colour = COLOURS[mode.kind.value.partition(",")[0]]
        axes.plot(s.real, s.imag, "o" if s.imag else "s", color=colour)
    up = float(modes.eigenvalues.imag.max()) or 1.0
    aside = max(float(np.abs(modes.eigenvalues.real).max()), NARROWEST * up)
    axes.axvline(0.0, color="#c0c0c0", zorder=0)
    if aside > WIDE * up:  # a few decay much faster than anything moves
        axes.set_xscale("symlog", linthresh=up)
        axes.set_xticks([-aside, -up, aside], [f"{x:.3g}" for x in (-aside, -up, aside)])
        axes.minorticks_off()
    across = BEYOND[axes.get_xscale()] * aside
    axes.set(xlim=(-across, across), ylim=(up - TALL * up, TALL * up))
    axes.set_xlabel("Re s [1/s]", fontsize="small")
    axes.set_ylabel("Im s [rad/s]", fontsize="small")
    axes.tick_params(labelsize="small")
    tidy(axes)
