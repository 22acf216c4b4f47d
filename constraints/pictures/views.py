"""From where a picture is seen, and which part of the world it shows: in space, or flat in a plane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import ceil, cos, floor, radians, sin
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import UnknownNameError, WrongObjectError
from ..robot import Robot
from .figures import QUIET

VIEWS = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
"""Planes by name: the axes of the world that point to the right and up."""
NAMES = (*VIEWS, "3d")
USUAL = (18.0, -58.0)
"""Elevation and azimuth of a view in space [deg]."""
PARALLEL_LINES = 1e-6
"""How far axes of joints may differ in a mechanism that moves in a plane."""
MARGIN, POINT, AROUND = 0.06, 1e-6, 0.05
"""Room around what is drawn, a part of its width; what is as small is a point, with this around it [m]."""
FLATTEST, TALLEST, LINES = 0.45, 1.8, 0.175
"""Least and largest height over width of a picture, and least distance of its grid lines, a part of its width."""
THIN = {True: 0.15, False: 0.25}
"""Least side of what is shown, as a part of the width; of flat pictures, and in space."""
LETTERS, LEAST, TRIES = 0.2, 20.0, 3
"""Room for letters of axes in space [inch], least half of them [pixels], how often their zoom is corrected."""
INWARDS = -13.0
"""How far the letters of axes in space are from where scales would end [points]."""
GRID, FRAME = "#e0e0e0", "#d0d0d0"
"""Colours of grids, and of what is around them."""
Wanted = str | Sequence[float] | None
"""How users say a view: a name of `NAMES`, (elevation, azimuth) [deg], or None for the best one."""


class Direction(NamedTuple):
    """A direction in which the world is seen.

    Attributes:
        basis: (2, 3) the directions of the world to the right and up in the picture.
        flat: whether the picture is flat: points are put on that plane, and its axes have scales.
        angles: elevation and azimuth [deg] of a picture in space.
    """

    basis: Matrix
    flat: bool
    angles: tuple[float, float] = USUAL

    @staticmethod
    def of(
        view: object, robot: Robot | None = None, q: ArrayLike | None = None, points: Iterable[ArrayLike] = ()
    ) -> Direction:
        """The view that a user wants.

        Args:
            view: "xy", "xz", "yz", "3d", or (elevation, azimuth) [deg]. None is the plane in which all joints of the
                robot move, where there is one; then that of the points, and "3d" otherwise.
            robot: what is to be seen.
            q: a configuration of it (nq,).
            points: (3,) what is seen of a mechanism that closures keep in a plane, in all its configurations.

        Raises:
            UnknownNameError: a name that is none of them.
            WrongObjectError: neither a name nor two numbers.
        """
        if view is None:
            normal = None if robot is None or q is None else plane_of_motion(robot, q)
            normal = plane_of(points) if normal is None else normal
            return Direction.space(USUAL) if normal is None else Direction.along(normal)
        if isinstance(view, str):
            if view not in NAMES:
                raise UnknownNameError("view", view, NAMES)
            return Direction(np.eye(3)[list(VIEWS[view])], True) if view in VIEWS else Direction.space(USUAL)
        if isinstance(view, dict | set) or np.shape(view) != (2,):  # type: ignore[arg-type]
            what = f"one of {', '.join(map(repr, NAMES))}, or (elevation, azimuth) in degrees"
            raise WrongObjectError("view", what, view)
        elevation, azimuth = finite_vector(view, 2, "view").tolist()  # type: ignore[arg-type]
        return Direction.space((elevation, azimuth))

    @staticmethod
    def space(angles: tuple[float, float]) -> Direction:
        """A view in space, from elevation and azimuth [deg]."""
        e, a = map(radians, angles)
        return Direction(
            np.array([[-sin(a), cos(a), 0.0], [-sin(e) * cos(a), -sin(e) * sin(a), cos(e)]]), False, angles
        )

    @staticmethod
    def along(normal: Vector) -> Direction:
        """A flat view of the plane with this normal (3,), from the side from which one looks in space."""
        usual = Direction.space(USUAL).basis
        n = normal * (1.0 if normal @ np.cross(*usual) > 0.0 else -1.0)
        above = np.array([0.0, 0.0, 1.0]) if abs(n[2]) < 1.0 - PARALLEL_LINES else np.array([0.0, 1.0, 0.0])
        up = above - (above @ n) * n
        up /= np.linalg.norm(up)
        basis = np.array([np.cross(up, n), up])
        return Direction(np.where(np.abs(basis) < PARALLEL_LINES, 0.0, basis), True)

    def seen(self, points: ArrayLike) -> Any:
        """Coordinates of points (n, 3) as matplotlib's axes take them: rows x, y, z, or right, up."""
        points = np.atleast_2d(np.asarray(points, dtype=np.float64))
        return (points @ self.basis.T).T if self.flat else points.T

    @property
    def labels(self) -> tuple[str, str]:
        """What stands at the axes of a flat picture."""
        return _words(self.basis[0]), _words(self.basis[1])


def plane_of_motion(robot: Robot, q: ArrayLike) -> Vector | None:
    r"""Normal (3,) of the plane in which all joints move, or None where they move in space.

    Joints move in planes with the normal n where in all columns (v, w) of the spatial Jacobian in the world w is
    parallel to n and v normal to it. Then it is so in all configurations: such twists are the algebra of SE(2).

    Args:
        robot: the robot.
        q: configuration (nq,).
    """
    J = np.array(robot.at(q).with_jacobians().world_jacobian)
    v, w = J[:3], J[3:]
    turns = bool(np.abs(w).max(initial=0.0) > PARALLEL_LINES)
    directions, sizes, _ = np.linalg.svd(w if turns else v)
    n: Vector = directions[:, 0 if turns else 2]
    if turns and len(sizes) > 1 and sizes[1] > PARALLEL_LINES * sizes[0]:
        return None
    if not turns and (len(sizes) < 2 or sizes[1] < PARALLEL_LINES):
        return None  # all slide along one line, or nothing moves
    return n if np.abs(n @ v).max() < PARALLEL_LINES * max(1.0, float(np.abs(v).max())) else None


def plane_of(points: Iterable[ArrayLike]) -> Vector | None:
    """Normal (3,) of the plane in which points (3,) lie, or None where they lie in space, or on a line."""
    seen = np.array([*points], dtype=np.float64).reshape(-1, 3)
    if len(seen) < 3:
        return None
    _, sizes, directions = np.linalg.svd(seen - seen.mean(axis=0))
    return directions[2] if sizes[2] < PARALLEL_LINES * sizes[0] < sizes[1] else None


def _words(direction: Vector) -> str:
    """A direction in letters: x [m], or 0.71 x + 0.71 y [m]."""
    named = [(c, name) for c, name in zip(direction.tolist(), "xyz", strict=True) if c]
    if len(named) == 1:
        return f"{'-' if named[0][0] < 0.0 else ''}{named[0][1]} [m]"
    text = " + ".join(f"{c:.2g} {name}" for c, name in named)
    return f"{text.replace('+ -', '- ')} [m]"


class Region(NamedTuple):
    """The part of the world that a picture shows: a box along the axes of the world.

    Attributes:
        low, high: its corners (3,) [m].
    """

    low: Vector
    high: Vector

    @staticmethod
    def around(points: Iterable[ArrayLike]) -> Region:
        """The box around points (3,) [m] with a little room; around the origin where there is none."""
        seen = np.array([*points] or [np.zeros(3)], dtype=np.float64)
        low, high = seen.min(axis=0), seen.max(axis=0)
        middle = 0.5 * (low + high)
        half = 0.5 * (high - low) + MARGIN * float((high - low).max())
        if half.max() < POINT:
            half[:] = AROUND
        return Region(middle - half, middle + half)

    @property
    def middle(self) -> Vector:
        """Its middle (3,) [m]."""
        return 0.5 * (self.low + self.high)

    @property
    def reach(self) -> float:
        """Half of its largest side [m]."""
        return 0.5 * self.width

    @property
    def width(self) -> float:
        """Its largest side [m]."""
        return float((self.high - self.low).max())

    @property
    def grid(self) -> float:
        """A round distance between grid lines [m], about a quarter of its width."""
        least = LINES * self.width
        power = 10.0 ** np.floor(np.log10(least))
        return float(next(power * step for step in (1, 2, 5, 10) if power * step >= least))

    def shown(self, flat: bool) -> Region:
        """The same where it is not too thin to be seen."""
        half = np.maximum(0.5 * (self.high - self.low), 0.5 * THIN[flat] * self.width)
        return Region(self.middle - half, self.middle + half)

    def limits(self, view: Direction) -> Matrix:
        """Low and high ends (2, k) along the axes of a picture [m]: of a flat one, of what its corners span."""
        whole = self.shown(view.flat)
        if not view.flat:
            return np.array(whole)
        seen = view.seen(corners_of(whole))
        return np.array([seen.min(axis=1), seen.max(axis=1)])

    def ratio(self, view: Direction) -> float:
        """Height over width of a picture of it, within `FLATTEST` and `TALLEST`."""
        if view.flat:
            width, height = np.ptp(self.limits(view), axis=0).tolist()
        else:
            width, height = (np.abs(view.basis) @ np.ptp(self.limits(view), axis=0)).tolist()
        return min(max(height / width, FLATTEST), TALLEST)


def corners_of(box: Sequence[Vector] | Matrix) -> Matrix:
    """The corners (8, 3) of a box, given by two of them."""
    return np.array([*product(*np.transpose(box).tolist())])


def new_axes(figure: Any, place: tuple[float, float, float, float], view: Direction) -> Any:
    """Axes for such a view around a place of a figure (left, bottom, width, height, as parts of it).

    Axes in space are always square in matplotlib: they reach over the place, and `show_region` draws inside of it.
    """
    if view.flat:
        return figure.add_axes(place)
    (left, bottom, wide, high), (width, height) = place, figure.get_size_inches()
    side = max(wide * width, high * height)
    corner = (left + 0.5 * (wide - side / width), bottom + 0.5 * (high - side / height))
    axes = figure.add_axes((*corner, side / width, side / height), projection="3d", computed_zorder=False)
    axes.patch.set_visible(False)
    return axes


def check_axes(ax: Any, view: Direction) -> None:
    """Refuse a user's axes on which this view cannot be drawn.

    Raises:
        WrongObjectError: flat axes for a view in space, or axes in space for a flat one.
    """
    if hasattr(ax, "get_zlim") is view.flat:
        wanted = "flat matplotlib axes (or view='3d')" if view.flat else "matplotlib axes made with projection='3d'"
        raise WrongObjectError("ax", wanted, ax)


def show_region(
    ax: Any, region: Region, view: Direction, scales: bool = False, grid: float | None = None, ratio: float = 1.0
) -> None:
    """Show a part of the world, with one scale for all axes and a grid, and nothing else around it.

    Args:
        ax: matplotlib axes that suit the view.
        region: what is shown.
        view: from where.
        scales: with numbers along the axes of a flat picture.
        grid: distance of lines where there are no numbers [m]; `region.grid` by default.
        ratio: height over width of the part of the axes that is to be filled, in space.
    """
    step = region.grid if grid is None else grid
    low, high = region.limits(view)
    for name, a, b in zip("xyz", low.tolist(), high.tolist(), strict=False):
        ax.set(**{f"{name}lim": (a, b)})
        if not (scales and view.flat):
            ticks = [step * i for i in range(ceil(a / step), floor(b / step) + 1)]
            ax.set(**{f"{name}ticks": ticks, f"{name}ticklabels": []})
    ax.grid(True, color=GRID)
    if view.flat:
        _show_flat(ax, view, scales)
    else:
        _show_space(ax, view, high - low, ratio)


def _show_flat(ax: Any, view: Direction, scales: bool) -> None:
    ax.set_aspect("equal", adjustable="box")
    ax.set_axisbelow(True)
    for spine in ax.spines.values():
        spine.set_color(FRAME)
    ax.tick_params(color=FRAME, labelcolor=QUIET, labelsize="small")
    if not scales:
        ax.tick_params(length=0)
    else:
        right, up = view.labels
        ax.set_xlabel(right, color=QUIET)
        ax.set_ylabel(up, color=QUIET)


def _show_space(ax: Any, view: Direction, sides: Vector, ratio: float) -> None:
    """A box with pale walls, as large as the axes have room for it."""
    ax.view_init(*view.angles)
    for name in "xyz":
        axis = getattr(ax, f"{name}axis")
        axis.set_pane_color("0.97")
        axis.line.set_color(FRAME)
        axis.set_tick_params(color=FRAME)
        getattr(ax, f"set_{name}label")(name, fontsize="small", color=QUIET, labelpad=INWARDS)
    zoom, corners = 1.0, corners_of(np.transpose([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()]))
    filled = np.array([min(1.0, 1.0 / ratio), min(1.0, ratio)])
    for _ in range(TRIES):
        ax.set_box_aspect(sides, zoom=zoom)
        ax.apply_aspect()
        seen = np.c_[corners, np.ones(8)] @ ax.get_proj().T
        places = ax.transData.transform(seen[:, :2] / seen[:, 3:]) - ax.bbox.get_points().mean(axis=0)
        room = np.maximum(0.5 * filled * ax.bbox.size - LETTERS * ax.figure.dpi, LEAST)
        zoom *= float((room / np.abs(places).max(axis=0)).min())
    ax.set_box_aspect(sides, zoom=zoom)
