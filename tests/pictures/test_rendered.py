"""Robots with their meshes as pictures: the camera sees all of them; sticks where there is no browser."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constraints.errors import ConstraintError, OptionError, UnknownNameError
from constraints.models import mechanisms, sample_arm
from constraints.pictures import PhotoOptions, render
from constraints.pictures.browser import camera
from constraints.pictures.browser.stage import FIELD

pytest.importorskip("viser")
pytest.importorskip("matplotlib").use("agg")

ARM = sample_arm()
HOME = ARM.reference("home")


@pytest.mark.parametrize("look", [[0.5, -0.7, 0.4], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.1, -0.3]])
def test_the_camera_sees_all_points_and_no_more_than_it_must(look: list[float]) -> None:
    """By plain projection: every point is inside of the picture, and one is near its edge."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(40, 3)) * [0.2, 0.5, 1.0] + [3.0, -1.0, 2.0]
    direction = np.array(look) / np.linalg.norm(look)
    shot = camera.Shot.of(points, direction, 400)
    w, x, y, z = shot.wxyz
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    assert np.allclose(R[:, 2], -direction, atol=1e-12)  # it looks back along the direction
    assert R[2, 1] <= 1e-12  # and is not upside down: its y axis points down
    seen = (points - shot.position) @ R
    assert (seen[:, 2] > 0.0).all()
    edge = math.tan(0.5 * FIELD)
    across = np.abs(seen[:, 0] / seen[:, 2]).max() / (edge * shot.width / shot.height)
    down = np.abs(seen[:, 1] / seen[:, 2]).max() / edge
    assert 0.85 < max(across, down) < 1.0


@pytest.mark.parametrize("thing", [ARM, mechanisms.four_bar()], ids=["arm", "mechanism"])
def test_without_a_browser_sticks_are_drawn_and_the_log_says_why(
    thing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(camera, "BROWSERS", ("no-such-browser",))
    with caplog.at_level(logging.WARNING, "constraints.pictures"):
        figure = render(thing, None, tmp_path / "sticks.png")
    assert "drawn as sticks, no browser was found (no-such-browser" in caplog.text
    assert figure.axes[0].lines
    assert (tmp_path / "sticks.png").read_bytes().startswith(b"\x89PNG")


def test_bad_arguments_are_refused_before_a_page_is_made() -> None:
    with pytest.raises(UnknownNameError, match="view"):
        render(ARM, view="xyz")
    with pytest.raises(OptionError, match="seconds of a picture"):
        render(ARM, photo=PhotoOptions(seconds=0.0))
    with pytest.raises(ConstraintError, match="width"):
        render(ARM, photo=PhotoOptions(width=1))


@pytest.mark.browser
def test_a_page_is_photographed(tmp_path: Path) -> None:
    """Two configurations side by side, which are not blank, and differ."""
    figure = render(ARM, {"home": HOME, "neutral": ARM.neutral}, tmp_path / "arm.png", photo=PhotoOptions(width=240))
    images = [np.array(axes.images[0].get_array()) for axes in figure.axes]
    assert [text.get_text() for text in figure.texts] == ["home", "neutral"]
    assert all(image.shape[1] == 240 and image.std() > 3.0 for image in images)
    assert np.abs(images[0].astype(int) - images[1]).max() > 50
