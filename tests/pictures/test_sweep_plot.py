"""Pictures of sweeps, motions, modes and assemblies: arrays drawn are the arrays given; singular points are named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pictures.test_readable import modes, motion
from reduced.test_sweep import continuous_four_bar

from constraints import errors
from constraints.models import Mechanism, mechanisms
from constraints.pictures import plot_assembly
from constraints.pictures.figures import BAD, GOOD
from constraints.pictures.modes import COLOURS
from constraints.reduced import Sweep, SweepOptions, sweep

pytest.importorskip("matplotlib").use("agg")


def closed(mechanism: Mechanism) -> np.ndarray:
    return mechanism.posture("closed")


def curves(found: Sweep) -> list[list[str]]:
    figure = found.plot()
    return [[line.get_label() for line in axes.lines if not line.get_label().startswith("_")] for axes in figure.axes]


def test_it_is_drawn(tmp_path: Any) -> None:
    """Angles, lengths, and a measure; after a dead point a second line; singularities marked and named."""
    linkage = mechanisms.four_bar(0.1, 0.04, 0.12, 0.08, math.radians(40.0))
    found = linkage.sweep(
        closed(linkage), "rocker", np.radians(np.arange(60.0, 140.0, 5.0)), options=SweepOptions(turn_back=True)
    )
    figure = found.plot(tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").stat().st_size > 5000
    top, below = figure.axes
    assert [text.get_text() for text in top.texts] == ["dead point"]
    figure.draw_without_rendering()
    assert top.bbox.y1 - 1.0 < top.texts[0].get_window_extent().y0 < top.bbox.y1 + 9.0  # on its top
    lines = [line for line in top.lines if len(line.get_xdata()) > 2]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-", "--"]
    for there, back in (lines[:2], lines[2:]):
        assert (there.get_xdata()[-1], there.get_ydata()[-1]) == (back.get_xdata()[0], back.get_ydata()[0])
        assert there.get_xdata()[-1] == found.singularities[0].value
    assert sorted(curves(found)[0]) == ["coupler", "crank"]  # once each
    assert below.get_ylabel().split("\n", 1)[0] == "transmission angle [deg]"
    assert below.get_ylabel().split()[3:] == "loop of coupler_end to rocker_end".split()
    assert below.lines[0].get_ydata()[-1] == pytest.approx(0.0, abs=1e-4)
    slider = mechanisms.slider_crank()
    turned = slider.sweep(closed(slider), "crank", np.linspace(0.7, 7.0, 20))
    assert curves(turned)[:2] == [["rod[0]", "rod[1]"], ["slider"]]
    assert turned.plot().axes[-1].get_ylabel() == "least singular value of J_v"
    platform = mechanisms.stewart_platform()
    yawed = platform.sweep(
        closed(platform), "platform[5]", [0.5, 1.0, 2.0], preferred=["platform"], actuated=platform.motors
    )
    legs = {f"leg{i}": yawed.qs[:, platform.robot.slice_of(f"leg{i}")] for i in range(1, 7)}
    turned_by = {f"{leg}[{k}]": np.ptp(np.unwrap(q[:, k])) for leg, q in legs.items() for k in range(2)}
    assert set(curves(yawed)[0]) == set(sorted(turned_by, key=turned_by.__getitem__)[-8:])
    assert curves(yawed)[1:] == [[f"length{i}" for i in range(1, 7)], ["of J_v", "actuators held"]]
    assert yawed.plot().axes[-1].get_xlabel() == "platform[5] [rad]"
    nothing = linkage.sweep(closed(linkage), "rocker", [3.0])
    with pytest.raises(errors.OptionError, match="reached no value"):
        nothing.plot()


def labelled(axes: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {line.get_label(): line.get_data() for line in axes.lines if not line.get_label().startswith("_")}


def test_curves_of_a_motion_are_its_series() -> None:
    """At most eight of a quantity, those that change most; a column by its name; time is below all."""
    record = motion()
    series, wanted = record.series(), ["q", "v", "a", "multiplier", "force", "power", "energy", "position drift"]
    figure = record.plot(what=wanted)
    for axes, name in zip(figure.axes, wanted, strict=True):
        prefix = (
            f"{name} of " if name in ("force", "power") else "" if name in ("energy", "position drift") else f"{name} "
        )
        there = [key for key in series if key.startswith(prefix) and prefix]
        lines = labelled(axes)
        assert len(lines) == min(len(there), 8) or not prefix
        for label, (x, y) in lines.items():
            np.testing.assert_array_equal(x, record.times)
            np.testing.assert_array_equal(y, series[prefix + label])
    assert [axes.get_xlabel() for axes in figure.axes] == [""] * 7 + ["time [s]"]
    with pytest.raises(errors.UnknownNameError, match="position drift"):
        record.plot(what="position drifts")


def test_curves_of_a_sweep_are_its_configurations() -> None:
    """Lengths as they are, angles up to whole turns, without a jump; all over the values of the driver."""
    values = np.linspace(1.0, 7.3, 40)
    made = (mechanisms.slider_crank(), mechanisms.four_bar())
    sweeps = [mechanism.sweep(closed(mechanism), "crank", values) for mechanism in made]
    for found in (*sweeps, sweep(*continuous_four_bar(), "crank", values)):
        robot = found.coordinates.constraint_set.robot
        *coordinates, _ = found.plot().axes
        for axes in coordinates:
            for label, (x, y) in labelled(axes).items():
                joint, _, entry = label.partition("[")
                own = found.qs[:, robot.slice_of(joint)]
                circle = not entry and own.shape[1] == 2
                drawn = np.arctan2(own[:, 1], own[:, 0]) if circle else own[:, int(entry[:-1]) if entry else 0]
                np.testing.assert_allclose(x, found.values)
                np.testing.assert_allclose(np.exp(1j * y), np.exp(1j * drawn), atol=1e-9)
                in_metres = axes.get_ylabel() == "dependent [m]"
                assert np.allclose(y, drawn) if in_metres else np.abs(np.diff(y)).max() < np.pi
                assert y[0] == pytest.approx(drawn[0])
        assert found.plot().axes[-1].get_xlabel() == "crank [rad]"


@pytest.mark.parametrize(("damping", "scale"), [(0.0, "linear"), (0.3, "linear"), (3.0, "symlog")])
def test_the_spectrum_shows_the_eigenvalues(damping: float, scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, round where it swings, square where not, in the colour of its class, inside of the axes.

    Beside it is the table of `describe`, of which a few lines are shown.
    """
    found = modes(damping=damping)
    table = found.describe().splitlines()[1:]
    assert "\n".join(table) in [text.get_text() for text in found.plot().texts]
    monkeypatch.setattr("constraints.pictures.modes.LISTED", 0)
    figure = found.plot()
    assert f"{table[0]}\n   and {len(found)} more" in [text.get_text() for text in figure.texts]
    (axes,) = (axes for axes in figure.axes if axes.get_xlabel() == "Re s [1/s]")
    dots = [line for line in axes.lines if line.get_marker() in ("o", "s")]
    assert [complex(*map(float, np.ravel(dot.get_data()))) for dot in dots] == pytest.approx(
        [m.eigenvalue for m in found]
    )
    for dot, mode in zip(dots, found, strict=True):
        assert dot.get_marker() == ("o" if mode.eigenvalue.imag else "s")
        assert dot.get_color() == COLOURS[mode.kind.value.partition(",")[0]]
        (x,), (y,) = dot.get_data()
        pixels = axes.transData.transform((x, y))
        assert (np.abs(pixels - axes.bbox.get_points()).min(axis=0) > 6.0).all()  # all of the mark is seen
        assert axes.bbox.contains(*pixels)
        assert axes.get_ylim()[0] > -0.2 * axes.get_ylim()[1]
    assert -axes.get_xlim()[0] == axes.get_xlim()[1]
    assert axes.get_xscale() == scale
    figure.draw_without_rendering()
    said = [float(label.get_text().replace("\N{MINUS SIGN}", "-")) for label in axes.get_xticklabels()]
    assert said == pytest.approx([*axes.get_xticks()], rel=0.01)
    assert [0.0, 0.0] in [list(line.get_xdata()) for line in axes.lines]  # between what grows and what decays


def test_an_assembly_says_how_far_its_closures_are_open() -> None:
    """Six of them, the worst first, and how many more; before in the colour of what is open."""
    for mechanism, count in (
        (mechanisms.four_bar(), 1),
        (mechanisms.delta_robot(), 6),
        (mechanisms.stewart_platform(), 6),
    ):
        q = closed(mechanism)
        figure = plot_assembly(mechanism, mechanism.robot.space.integrate(q, np.full(mechanism.robot.nv, 0.01)), q)
        titles = [axes.title for axes in figure.axes]
        assert [title.get_color() for title in titles] == [BAD, GOOD]
        said = [text.get_text().splitlines() for text in figure.texts if ": " in text.get_text()]
        for title, lines in zip(titles, said, strict=True):
            numbers = [float(line.rpartition(": ")[2]) for line in lines if not line.startswith("and ")]
            assert numbers == sorted(numbers, reverse=True)
            assert len(numbers) == count
            assert float(title.get_text().split()[-1]) == pytest.approx(numbers[0], rel=0.06)
