"""Pictures of sweeps: curves of coordinates, a measure of how well a mechanism moves, singular points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from constraints import errors
from constraints.models import Mechanism, mechanisms
from constraints.reduced import Sweep, SweepOptions

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
    lines = [line for line in top.lines if len(line.get_xdata()) > 2]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-", "--"]
    for there, back in (lines[:2], lines[2:]):
        assert (there.get_xdata()[-1], there.get_ydata()[-1]) == (back.get_xdata()[0], back.get_ydata()[0])
        assert there.get_xdata()[-1] == found.singularities[0].value
    assert below.get_ylabel() == "transmission angle [deg]\nloop of coupler_end to rocker_end"
    assert below.lines[0].get_ydata()[-1] == pytest.approx(0.0, abs=1e-4)
    slider = mechanisms.slider_crank()
    turned = slider.sweep(closed(slider), "crank", np.linspace(0.7, 7.0, 20))
    assert curves(turned)[:2] == [["rod[0]", "rod[1]"], ["slider"]]
    assert turned.plot().axes[-1].get_ylabel() == "least singular value of J_v"
    platform = mechanisms.stewart_platform()
    yawed = platform.sweep(
        closed(platform), "platform[5]", [0.5, 1.0, 2.0], preferred=["platform"], actuated=platform.motors
    )
    assert curves(yawed)[-1] == ["of J_v", "actuators held"]
    nothing = linkage.sweep(closed(linkage), "rocker", [3.0])
    with pytest.raises(errors.OptionError, match="reached no value"):
        nothing.plot()
