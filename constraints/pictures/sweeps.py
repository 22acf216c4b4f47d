"""A driver turned all the way, as a picture. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.groups import translation_size

from ..errors import OptionError
from ..reduced.sweeps.singularities import Singularity, SingularityKind
from ..reduced.sweeps.sweep_result import Sweep, least_values, passive_columns
from ..reduced.sweeps.transmission import pivots_of, transmission_angles
from ..robot import Robot
from ..robot.model.joints import radian_columns
from ..words import first_names
from .figures import BAD, BESIDE, LINES, moving_most, name_ordinate, save_figure, stacked

COLOURS = {
    SingularityKind.DEAD_POINT: BAD,
    SingularityKind.BRANCH_POINT: "#8e3b8e",
    SingularityKind.ACTUATORS: "#b07700",
}
STYLES = ("-", "--")
"""Of what is travelled one way, and back."""
HIDDEN = "_nolegend_"
"""A label that matplotlib leaves out of legends."""


class _Curve(NamedTuple):
    """The configurations of a sweep with the singularities between them, in the order of travel."""

    values: Vector
    qs: Matrix
    parts: list[slice]

    @staticmethod
    def of(sweep: Sweep) -> _Curve:
        """Merge them; each part goes one way and ends at a dead point."""
        met = sweep.singularities
        before = [each.before for each in met]
        values = np.insert(sweep.values, before, [each.value for each in met])
        qs = np.insert(sweep.qs, before, np.array([each.q for each in met]).reshape(-1, sweep.qs.shape[1]), axis=0)
        dead = [i + each.before for i, each in enumerate(met) if each.kind is SingularityKind.DEAD_POINT]
        parts = [slice(a, b + 1) for a, b in pairwise([0, *dead, len(values) - 1])]
        return _Curve(values, qs, parts)


def plot_sweep(sweep: Sweep, path: str | os.PathLike[str] | None = None) -> Any:
    """Dependent coordinates over the driver, below them the transmission angle, or the least singular value of J_v.

    Angles and lengths have a picture each; of more than eight coordinates those that move most are drawn. What is
    travelled after a dead point is dashed. Singularities are vertical lines.

    Args:
        sweep: with at least one configuration.
        path: also write the figure there.

    Returns:
        the matplotlib figure; a notebook shows it, `figure.savefig` writes it.

    Raises:
        OptionError: the sweep reached nothing.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    expect(sweep, Sweep, "sweep to be drawn")
    if not len(sweep.values):
        raise OptionError("the sweep has nothing to plot: it reached no value")
    way = _Curve.of(sweep)
    groups: dict[str, dict[str, Vector]] = {"rad": {}, "m": {}}
    for name, curve, is_angle in zip(sweep.coordinates.dependent, *_curves(sweep, way), strict=True):
        groups["rad" if is_angle else "m"][name] = curve
    groups = {unit: curves for unit, curves in groups.items() if curves}
    figure, panels = stacked(len(groups) + 1, path is None)
    for axes, (unit, curves) in zip(panels, groups.items(), strict=False):
        _draw_coordinates(axes, way, curves, unit)
    _draw_measure(panels[-1], sweep, way)
    for axes in panels:
        for each in sweep.singularities:
            axes.axvline(each.value, color=COLOURS[each.kind], linestyle=":")
    panels[-1].set_xlabel(f"{sweep.driver.name} [{'rad' if _is_angle(sweep)[sweep.driver.column] else 'm'}]")
    for each in _first_of_each_place(sweep.singularities):
        name = str(each.kind) if each.kind is not SingularityKind.ACTUATORS else "actuators"
        style = {"ha": "center", "va": "bottom", "fontsize": "small", "color": COLOURS[each.kind]}
        panels[0].text(each.value, 1.0, name, transform=panels[0].get_xaxis_transform(), **style)
    return save_figure(figure, path)


def _is_angle(sweep: Sweep) -> BoolVector:
    """Which tangent columns (nv,) are angles."""
    robot = sweep.coordinates.constraint_set.robot
    angles = radian_columns(robot.model).copy()
    for leaf in robot.space.leaves():
        if not leaf.space.is_flat:  # a pose has its lengths first
            angles[leaf.v.start + translation_size(leaf.space) : leaf.v.stop] = True
    return angles


def _curves(sweep: Sweep, way: _Curve) -> tuple[Matrix, BoolVector]:
    """Dependent coordinates (r, n), counted on over whole turns, and which of them are angles."""
    robot: Robot = sweep.coordinates.constraint_set.robot
    columns = sweep.coordinates.partition.dependent
    steps = [robot.space.difference(a, b)[columns] for a, b in pairwise(way.qs)]
    start = np.zeros(robot.nv)
    for leaf in robot.space.leaves():
        if leaf.space.is_flat:
            start[leaf.v] = way.qs[0][leaf.q]
        elif leaf.space.nv == 1:
            start[leaf.v] = np.arctan2(*way.qs[0][leaf.q][::-1])
    return np.cumsum([start[columns], *steps], axis=0).T, _is_angle(sweep)[columns]


def _draw_coordinates(axes: Any, way: _Curve, curves: Mapping[str, Vector], unit: str) -> None:
    drawn = moving_most(curves)
    for colour, (name, curve) in zip(LINES, drawn.items(), strict=False):
        _draw(axes, way, curve, colour, name)
    axes.set_ylabel(f"dependent [{unit}]")
    left = len(curves) - len(drawn)
    axes.legend(title=f"and {left} that move less" if left else None, **BESIDE)


def _draw_measure(axes: Any, sweep: Sweep, way: _Curve) -> None:
    """The transmission angle where there is one, or the least singular value; that with actuators held beside it."""
    for label, measure, colour in _measures(sweep, way):
        _draw(axes, way, measure, colour, label if sweep.actuated else HIDDEN)
        name_ordinate(axes, "least singular value" if sweep.actuated else label)
    if sweep.actuated:
        axes.legend(**BESIDE)
    axes.set_ylim(bottom=0.0)


def _draw(axes: Any, way: _Curve, curve: Vector, colour: str, label: str) -> None:
    """A curve, in another style where it goes back; its name is in the legend once."""
    for number, part in enumerate(way.parts):
        style = {"color": colour, "label": HIDDEN if number else label}
        axes.plot(way.values[part], curve[part], STYLES[number % 2], **style)


def _measures(sweep: Sweep, way: _Curve) -> list[tuple[str, Vector, str]]:
    coordinates = sweep.coordinates
    if not sweep.actuated:
        with suppress(OptionError):  # there is one of four-pivot loops alone; every mechanism has singular values
            loops = pivots_of(coordinates)
            names = first_names([pivots.name for pivots in loops], 3)
            label = f"transmission angle [deg]\n{'smallest of' if len(loops) > 1 else 'loop of'} {names}"
            return [(label, np.degrees(transmission_angles(loops, way.qs)), "k")]
    least = least_values(coordinates, coordinates.partition.dependent, sweep.rhs, way.qs)
    found = [("of J_v" if sweep.actuated else "least singular value of J_v", least, "k")]
    if sweep.actuated:
        passive = passive_columns(coordinates, sweep.actuated)
        held = least_values(coordinates, passive, sweep.rhs, way.qs)
        found.append(("actuators held", held, COLOURS[SingularityKind.ACTUATORS]))
    return found


def _first_of_each_place(singularities: tuple[Singularity, ...]) -> list[Singularity]:
    """Those that are at different values: what is met again on the way back is written once."""
    found = dict[tuple[SingularityKind, float], Singularity]()
    for each in singularities:
        found.setdefault((each.kind, round(each.value, 6)), each)
    return list(found.values())
