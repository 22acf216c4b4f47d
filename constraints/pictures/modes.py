"""Modes as pictures: their spectrum, a table, and how each moves a mechanism; moving ones too (extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from liegroups.arguments import natural_number
from liegroups.arrays import Matrix, Vector

from ..errors import FileError, OptionError
from ..loops.frame_rows import FrameRows
from ..reduced.equilibria.prescribed import NOT_BESIDE
from ..robot import Frame, Robot
from .figures import Cube, new_figure, save_animation, save_figure, show_cube
from .robots import draw_configuration

if TYPE_CHECKING:
    from ..reduced import Mode, Modes

STILL, AHEAD, BEHIND, ROD, FIXED = "#b0b0b0", "#1f77b4", "#9ecae1", "#606060", "#404040"
COLOURS = {"grows": "#d62728", "oscillates": "#2ca02c", "decays": "#1f77b4", "rigid": "#7f7f7f"}
"""Of the marks in the spectrum, by the first word of a mode's class."""
FAR = 0.12
"""How far the fastest point of a mechanism moves in a picture, as a part of its width."""
LARGEST, SMALLEST = 0.6, 1e-4
"""Amplitudes that are drawn at most, and at least [rad or m]."""
FLAT = 1e-6
"""A mechanism that is thinner than this part of its width is seen from its front."""
SWING = 1.6
"""How long a period is shown [s]."""
IN_A_ROW = 4
LISTED = 12
"""Lines of the table."""
WIDE = 30.0
"""Real parts that are so many times larger than imaginary ones are shown on a logarithmic scale."""
APART = 1e-3
"""Ends of a closure that are further apart than this part of the width are joined by a rod."""


class _Scene(NamedTuple):
    """What is drawn of a mechanism, and from where it is seen.

    Attributes:
        robot: the robot.
        pairs: the two frames of each closure.
        tips: ends of the sticks.
        cube: what is shown.
        view: elevation and azimuth [deg].
    """

    robot: Robot
    pairs: tuple[tuple[Frame, Frame], ...]
    tips: Sequence[Frame]
    cube: Cube
    view: tuple[float, float]


def plot_modes(modes: Modes, path: str | os.PathLike[str] | None = None, most: int = 8) -> Any:
    """The spectrum of modes, a table, and their shapes: at rest in grey, and both ends of the motion in blue.

    Amplitudes are chosen so that the shapes can be seen; rods of closures are grey lines.

    Args:
        modes: with at least one mode.
        path: also write the figure there.
        most: shapes that are drawn, the first ones.

    Returns:
        the matplotlib figure.

    Raises:
        NoModesError: there are no modes.
        OptionError: no shape to draw.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    shown = modes.or_raise().found[: natural_number(most, "shapes of a picture")]
    if not shown:
        raise OptionError(f"shapes of a picture: expected at least one of {len(modes)} modes, got {most}")
    moved = [_swing(mode, 2) for mode in shown]
    scene = _scene(shown[0], [q for swing in moved for q in swing])
    columns = min(IN_A_ROW, len(shown))
    rows = -(-len(shown) // columns)
    table = _table(modes)
    top = max(2.35, 0.45 + 0.19 * len(table))
    width, height = max(3.1 * columns, 10.4), top + 3.3 * rows + 0.25
    figure = new_figure(width, height, layout="none")
    _spectrum(figure.add_axes((0.9 / width, 1.0 - 1.8 / height, 2.5 / width, 1.6 / height)), modes)
    figure.text(3.8 / width, 1.0 - 0.2 / height, "\n".join(table), family="monospace", fontsize=8.5, va="top")
    panel = width / columns
    for i, (mode, (ahead, behind)) in enumerate(zip(shown, moved, strict=True)):
        row, column = divmod(i, columns)
        left, bottom = column * panel / width, 1.0 - (top + 3.3 * (row + 1)) / height
        place = (left, bottom, panel / width, 2.95 / height)
        axes = figure.add_axes(place, projection="3d", computed_zorder=False)
        _show(axes, scene)
        _draw(axes, scene, behind, BEHIND)
        _draw(axes, scene, mode.state.q, STILL)
        _draw(axes, scene, ahead, AHEAD)
        axes_top = bottom + 3.0 / height
        figure.text(left + 0.5 * panel / width, axes_top, f"{i}: {_words(mode)}", ha="center", fontsize=10)
    figure.text(0.5, 0.08 / height, f"grid {scene.cube.grid:g} m", ha="center", fontsize=9, color="#808080")
    return save_figure(figure, path)


def animate_mode(mode: Mode, path: str | os.PathLike[str], frames: int, amplitude: float | None) -> None:
    """A mode as an animated GIF: closed configurations along one period, which is shown in 1.6 s.

    Args:
        mode: the mode.
        path: where it is written.
        frames: pictures of a period.
        amplitude: of the coordinate with the largest entry [rad or m]; chosen so that it can be seen if None.

    Raises:
        OptionError: no frame.
        NotClosedError, DeadPointError, LeftBranchError: the loops do not close that far; take a smaller amplitude.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written, or is no GIF.
    """
    name = os.fspath(path)
    if not name.lower().endswith(".gif"):
        raise FileError(name, "is written as a GIF: expected a name that ends in .gif")
    count = natural_number(frames, "frames of a mode")
    swing = _swing(mode, count) if amplitude is None else mode.configurations(count, amplitude=amplitude)
    scene = _scene(mode, swing)
    figure = new_figure(4.2, 4.4, layout="none")
    figure.text(0.5, 0.955, _words(mode), ha="center", fontsize=11)
    figure.text(0.5, 0.015, f"grid {scene.cube.grid:g} m", ha="center", fontsize=8, color="#808080")
    axes = figure.add_axes((0.0, 0.03, 1.0, 0.92), projection="3d", computed_zorder=False)

    def pictures() -> Iterator[None]:
        for q in swing:
            axes.clear()
            _show(axes, scene)
            _draw(axes, scene, mode.state.q, STILL)
            yield _draw(axes, scene, q, AHEAD)

    save_animation(figure, pictures(), path, count / SWING, 100)


def _table(modes: Modes) -> list[str]:
    """The first modes, a line each, how many more there are, and what was held."""
    lines = [f"   {'Hz':>9} {'rate [1/s]':>11} {'damping ratio':>14}   {'class':<19}   moves most"]
    for i, mode in enumerate(modes.found[:LISTED]):
        numbers = f"{mode.frequency:9.4g} {mode.rate:11.4g} {mode.damping_ratio:14.3g}"
        lines.append(f"{i:2d} {numbers}   {mode.kind.value:<19}   {mode.name}")
    if len(modes) > LISTED:
        lines.append(f"   and {len(modes) - LISTED} more")
    return lines + ([f"held: {', '.join(modes.ignored)}"] if modes.ignored else [])


def _words(mode: Mode) -> str:
    """What stands above a shape."""
    s = mode.eigenvalue
    number = f"{mode.frequency:.4g} Hz, " if s.imag else f"{s.real:.4g} 1/s, " if s.real else ""
    return f"{number}{mode.kind.value}"


def _swing(mode: Mode, count: int) -> tuple[Vector, ...]:
    """Closed configurations of a period whose amplitude can be seen, or the largest at which the loops close."""
    if count == 0:
        return mode.configurations(count)  # refuses it
    robot, tips = mode.state.coordinates.constraint_set.robot, _tips(mode)
    still = _points(robot, mode.state.q, tips)
    near = _points(robot, mode.configurations(1, amplitude=SMALLEST)[0], tips)
    speed = float(np.sqrt(((near - still) ** 2).sum(axis=1).max(initial=0.0))) / SMALLEST
    width = 2.0 * Cube.around(still).reach
    amplitude = min(FAR * width / speed if speed > SMALLEST * width else LARGEST, LARGEST)
    while amplitude > SMALLEST:
        try:
            return mode.configurations(count, amplitude=amplitude)
        except NOT_BESIDE:
            amplitude *= 0.5
    return mode.configurations(count, amplitude=SMALLEST)


def _pairs(mode: Mode) -> tuple[tuple[Frame, Frame], ...]:
    owners = mode.state.coordinates.constraint_set.stack
    return tuple((owner.predecessor, owner.successor) for owner in owners if isinstance(owner, FrameRows))


def _tips(mode: Mode) -> list[Frame]:
    """The ends of closures on moving bodies, and centres of mass that lie beyond all else that their joint carries."""
    robot = mode.state.coordinates.constraint_set.robot
    ends = [frame for pair in _pairs(mode) for frame in pair if frame.joint]
    parents = {int(parent) for parent in robot.model.parents}
    for joint, inertia in enumerate(robot.model.inertias):
        lever = np.array(inertia.lever)
        others = [np.abs(np.array(end.placement.translation)).max() for end in ends if end.joint == joint]
        is_end = joint and joint not in parents and inertia.mass > 0.0 and (not others or max(others) > 0.0)
        if is_end and np.abs(lever).max() > max(others, default=0.0):
            ends.append(robot.frame(robot.model.names[joint], np.concatenate([lever, [0.0, 0.0, 0.0, 1.0]])))
    return ends


def _points(robot: Robot, q: Vector, tips: Sequence[Frame]) -> Matrix:
    """Joints and tips (n, 3) of a configuration [m]."""
    posture = robot.at(q)
    joints = [np.array(oMi.translation) for oMi in list(posture.placed().oMi)[1:]]
    return np.array([*joints, *(np.array(posture.placement(tip).translation) for tip in tips)])


def _scene(mode: Mode, configurations: Sequence[Vector]) -> _Scene:
    """The mechanism of a mode with a cube around some configurations, seen from its front where it is flat."""
    robot, pairs, tips = mode.state.coordinates.constraint_set.robot, _pairs(mode), _tips(mode)
    fixed = [np.array(frame.placement.translation) for pair in pairs for frame in pair if frame.joint == 0]
    still = np.array([*_points(robot, mode.state.q, tips), *fixed])
    seen = np.vstack([*(_points(robot, q, tips) for q in configurations), still])
    thin = np.ptp(seen, axis=0) < FLAT * np.ptp(seen, axis=0).max()
    front = {0: (0.0, 0.0), 1: (0.0, -90.0), 2: (90.0, -90.0)}  # along x, along y, from above
    flat = [view for axis, view in front.items() if thin[axis]]
    return _Scene(robot, pairs, tips, Cube.around(seen, 1e-3), flat[0] if len(flat) == 1 else (18.0, -58.0))


def _show(axes: Any, scene: _Scene) -> None:
    flat = scene.view[0] != 18.0
    show_cube(axes, scene.cube, scene.cube.grid, zoom=1.45 if flat else 1.2)
    axes.view_init(elev=scene.view[0], azim=scene.view[1])
    if flat:
        axes.set_proj_type("ortho")


def _draw(axes: Any, scene: _Scene, q: Vector, colour: str) -> None:
    """Sticks of the robot, rods between ends that are apart, and squares where ends are fixed."""
    robot = scene.robot
    posture = robot.at(q)
    for pair in scene.pairs:
        ends = np.array([posture.placement(frame).translation for frame in pair])
        if np.abs(ends[0] - ends[1]).max() > APART * scene.cube.reach:
            axes.plot(*ends.T, color=ROD if colour == AHEAD else colour, linewidth=1.0)
        for frame in pair:
            if frame.joint == 0:
                axes.plot(*np.array(frame.placement.translation)[:, None], "s", color=FIXED, markersize=4.0)
    draw_configuration(axes, robot, q, tips=scene.tips, colour=colour, width=2.2 if colour == AHEAD else 1.6)


def _spectrum(axes: Any, modes: Modes) -> None:
    """Eigenvalues in the upper half of the complex plane."""
    for mode in modes:
        s = mode.eigenvalue
        colour = COLOURS[mode.kind.value.partition(",")[0]]
        axes.plot(s.real, s.imag, "o" if s.imag else "s", color=colour, markersize=6.0, alpha=0.85)
    up = float(modes.eigenvalues.imag.max()) or 1.0
    aside = max(float(np.abs(modes.eigenvalues.real).max()), 1e-3 * up)
    axes.axvline(0.0, color="#c0c0c0", linewidth=1.0, zorder=0)
    if aside > WIDE * up:  # a few decay much faster than anything moves
        axes.set_xscale("symlog", linthresh=up)
        axes.set_xticks([-aside, -up, aside], [f"{x:.1g}" for x in (-aside, -up, aside)])
        axes.minorticks_off()
    axes.set(xlim=(-1.3 * aside, 1.3 * aside), ylim=(-0.08 * up, 1.1 * up))
    axes.set_xlabel("Re s [1/s]", fontsize=9)
    axes.set_ylabel("Im s [rad/s]", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(True, color="#eeeeee")
