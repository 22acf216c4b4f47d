"""Welcome 4: who shows a figure: pyplot, a notebook once, nobody where it is written to a file."""

from __future__ import annotations

import gc
import importlib
import pickle
import weakref
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.animation import FuncAnimation
from pictures.test_readable import modes
from PIL import Image

from constraints.errors import FileError, OptionError, SizeError, WrongObjectError
from constraints.loops import assemble_position
from constraints.models import Mechanism, mechanisms, sample_arm
from constraints.pictures import animate, plot_configurations
from constraints.pictures.assemblies import FRAME_TIME
from constraints.pictures.figures import new_figure

ARM = sample_arm()
HOME = ARM.reference("home")


@pytest.fixture(scope="module")
def linkage() -> Mechanism:
    return mechanisms.four_bar()


def test_pyplot_sees_a_figure_and_closes_it() -> None:
    """`plt.show()` opens what `robot.plot(q)` drew; closed, it is gone, and nothing holds it."""
    assert plt.get_fignums() == []
    figure = ARM.plot(HOME)
    assert plt.get_fignums() == [figure.number]
    assert plt.gcf() is figure
    gone = weakref.ref(figure)
    plt.close(figure)
    assert plt.get_fignums() == []
    del figure
    gc.collect()
    assert gone() is None


def test_what_is_saved_does_not_stay_open(tmp_path: Path) -> None:
    """Thirty pictures in a run leave nothing: pyplot would warn at the twentieth, and warnings are errors here."""
    for _ in range(30):
        new_figure(1.0, 1.0, shown=False)
    figure = ARM.plot(HOME, tmp_path / "arm.png")
    plot_configurations(ARM, {"home": HOME}, tmp_path / "arms.svg")
    assert plt.get_fignums() == []
    with Image.open(tmp_path / "arm.png") as picture:
        assert picture.size == tuple((100.0 * figure.get_size_inches()).astype(int))
    assert (tmp_path / "arms.svg").read_text(encoding="utf-8").count("<svg") == 1


def test_a_notebook_shows_a_figure_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the value of a cell it is shown as usual, and pyplot, which shows what is open at its end, forgets it."""
    figure = ARM.plot(HOME)
    with pytest.raises(NotImplementedError):
        figure._ipython_display_()
    assert plt.get_fignums() == [figure.number]  # no notebook: a window stays
    monkeypatch.setattr(mpl, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    with pytest.raises(NotImplementedError):
        figure._ipython_display_()
    assert plt.get_fignums() == []


def test_a_figure_can_be_pickled() -> None:
    figure = ARM.plot(HOME)
    copy = pickle.loads(pickle.dumps(figure))
    assert len(copy.axes[0].lines) == len(figure.axes[0].lines) == 4  # ground symbol, what it stands on, links, joints


def test_a_backend_without_a_display_leaves_a_figure_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend with windows is named, and there is no display: the figure can still be saved."""

    def figure(**_: object) -> None:
        raise ImportError("Cannot load backend 'TkAgg' which requires the 'tk' interactive framework")

    monkeypatch.setattr(plt, "figure", figure)
    assert len(ARM.plot(HOME).axes) == 1
    assert plt.get_fignums() == []


def test_an_animation_moves_and_is_saved(linkage: Mechanism, tmp_path: Path) -> None:
    """`animate(configurations)`: matplotlib's animation, written as a GIF, and as a page that needs no network."""
    q = linkage.posture("closed")
    Q = linkage.sweep(q, "crank", [1.0, 1.4, 1.8]).qs
    animation = linkage.animate(Q)
    assert isinstance(animation, FuncAnimation)
    assert animation._interval == 1000.0 / 15.0  # type: ignore[attr-defined]
    assert len(plt.get_fignums()) == 1  # it has a window, where there are windows
    animation.save(tmp_path / "own.gif", writer="pillow")
    plt.close("all")
    linkage.animate(Q, tmp_path / "four_bar.gif", rate=10.0)
    assert plt.get_fignums() == []
    for name in ("own.gif", "four_bar.gif"):
        with Image.open(tmp_path / name) as picture:
            assert getattr(picture, "n_frames", 1) == 3
            first = np.array(picture.convert("RGB")).astype(int)
            picture.seek(2)
            assert (np.abs(first - np.array(picture.convert("RGB"))).max(axis=2) > 60).sum() > 300
    assert picture.info["duration"] == 100
    page = linkage.animate(Q, tmp_path / "four_bar.html")._repr_html_()
    for text in (page, (tmp_path / "four_bar.html").read_text(encoding="utf-8")):
        assert text.count("data:image/png;base64") == 3
        assert "http" not in text.replace("http://www.w3.org", "")


def test_a_notebook_shows_an_animation_and_not_its_figure(linkage: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpl, "get_backend", lambda: "inline")
    animation: Any = linkage.animate([linkage.posture("closed")] * 2)
    assert plt.get_fignums() == []
    assert "<img" in animation._repr_html_()


def test_iterates_and_modes_have_a_window_where_they_are_not_written(linkage: Mechanism, tmp_path: Path) -> None:
    """Spectrum, table and shapes of modes lie beside each other; the table fills the width, a shape 9 square inches."""
    assembly = assemble_position(linkage.constraint_set(), linkage.posture("closed") + 0.05)
    assembly.plot_iterates(tmp_path / "way.gif")
    with Image.open(tmp_path / "way.gif") as picture:
        frames: Any = getattr(picture, "n_frames", 1)
        assert (frames, picture.info["duration"]) == (len(assembly.iterates), 1000.0 * FRAME_TIME)
    modes().plot(tmp_path / "modes.png")
    assert plt.get_fignums() == []
    figures = [assembly.plot_iterates(), modes().plot()]
    assert plt.get_fignums() == [figure.number for figure in figures]
    figure = figures[1]
    figure.draw_without_rendering()
    inches = figure.dpi_scale_trans.inverted()
    shape, spectrum = (axes.get_tightbbox().transformed(inches) for axes in figure.axes)
    table = next(text for text in figure.texts if "damping ratio" in text.get_text()).get_window_extent()
    table, (width, height) = table.transformed(inches), figure.get_size_inches()
    assert 0.0 < shape.y1 < min(spectrum.y0, table.y0) < shape.y1 + 1.0
    assert 0.0 < spectrum.x0 < spectrum.x1 < table.x0 < table.x1 < width < table.x1 + 0.3
    assert height - 0.3 < spectrum.y1 < height
    assert table.y1 == pytest.approx(spectrum.y1)
    for figure in figures:
        place, (width, height) = figure.axes[0].get_position(), figure.get_size_inches()
        assert place.width * width * place.height * height == pytest.approx(9.0)


def test_an_animation_lives_as_long_as_its_figure(linkage: Mechanism) -> None:
    """`robot.animate(Q); plt.show()` moves, though nobody holds what `animate` gave."""
    made = weakref.ref(linkage.animate([linkage.posture("closed")] * 2))
    gc.collect()
    animation = made()
    assert animation is not None
    animation.to_jshtml()


def test_animations_refuse_what_they_cannot_use(
    linkage: Mechanism, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Q = [linkage.posture("closed")] * 2
    with pytest.raises(WrongObjectError, match=r"robot\.animate"):
        animate(Q)
    with pytest.raises(OptionError, match="rate"):
        linkage.animate(Q, rate=-1.0)
    with pytest.raises(FileError, match=r"\.gif, \.html, \.mp4"):
        linkage.animate(Q, tmp_path / "a.png")
    with pytest.raises(OptionError, match="poses of a strip"):
        assemble_position(linkage.constraint_set(), Q[0] + 0.05).plot_iterates(poses=0)
    with pytest.raises(SizeError, match="configuration 0"):
        linkage.animate([[1.0, 2.0]])
    with pytest.raises(WrongObjectError, match="at least one"):
        linkage.animate(np.zeros((0, 3)))
    writers = importlib.import_module("matplotlib.animation").writers
    monkeypatch.setattr(writers, "is_available", lambda name: False)
    with pytest.raises(FileError, match="ffmpeg"):
        linkage.animate(Q, tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []
