"""Robots with their meshes as pictures: the camera sees all of them; sticks where there is no browser."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pinocchio as pin
import pytest

from constraints.errors import ConstraintError, OptionError, UnknownNameError, WrongObjectError
from constraints.models import mechanisms, sample_arm
from constraints.pictures import Drawing, PhotoOptions, render
from constraints.pictures.browser import camera, rendered
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
    if look[0] == 0.5:
        points[:, 2] = 0.4 * points[:, 2]  # of another shape than the widest and the highest picture
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
    high, wide = np.ptp(points @ R[:, 1]), np.ptp(points @ R[:, 0])
    assert shot.height == round(400.0 * min(max(high / wide, 1.0 / 1.5), 1.5))
    seen = (points - shot.position) @ R
    assert (seen[:, 2] > 0.0).all()
    edge = math.tan(0.5 * FIELD)
    across = np.abs(seen[:, 0] / seen[:, 2]).max() / (edge * shot.width / shot.height)
    down = np.abs(seen[:, 1] / seen[:, 2]).max() / edge
    assert max(across, down) == pytest.approx(1.0 / camera.ROOM, rel=3e-3)  # a width of whole pixels


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
    with pytest.raises(WrongObjectError, match="view"):
        render(ARM, view=(30.0,))
    with pytest.raises(OptionError, match="seconds of a picture"):
        render(ARM, photo=PhotoOptions(seconds=0.0))
    for width in (1, 15, 4097):
        with pytest.raises(ConstraintError, match="width"):
            render(ARM, photo=PhotoOptions(width=width))
    for count in (0, 101):
        with pytest.raises(ConstraintError, match="count of pictures"):
            render(ARM, count=count)
    assert [PhotoOptions(width=width).width for width in (16, 4096)] == [16, 4096]


@pytest.mark.parametrize(
    ("view", "look"),
    [("xy", [0.0, 0.0, 1.0]), ("xz", [0.0, -1.0, 0.0]), ("yz", [1.0, 0.0, 0.0]),
     ((30.0, 135.0), [-math.sqrt(0.375), math.sqrt(0.375), 0.5])],
)  # fmt: skip
def test_a_view_is_where_the_camera_stands(
    view: Any, look: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In front of a plane, its two axes to the right and up; else by elevation and azimuth."""
    shots = list[camera.Shot]()

    def photographs(_: object, shot: camera.Shot, *__: object) -> None:
        shots.append(shot)
        raise camera.NoCameraError("none")

    monkeypatch.setattr(rendered, "photographs", photographs)
    render(ARM, HOME, tmp_path / "arm.png", view=view)
    w, x, y, z = shots[0].wxyz
    assert [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)] == pytest.approx([-c for c in look])


@pytest.mark.parametrize(("count", "rows", "columns"), [(1, 1, 1), (4, 1, 4), (5, 2, 3)])
def test_photographs_are_side_by_side_dot_by_dot(
    count: int, rows: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each under its title, none over another one, as large as it was taken."""
    taken = [np.full((60, 80, 3), 10 * i, dtype=np.uint8) for i in range(count)]
    monkeypatch.setattr(rendered, "photographs", lambda *_: taken)
    figure = render(ARM, {f"pose {i}": HOME for i in range(count)}, count=count)
    assert plt.get_fignums() == [figure.number]
    assert (figure.get_size_inches() * rendered.DOTS).round().tolist() == [80 * columns, (60 + 34) * rows]
    shown = [axes for axes in figure.axes if axes.images]
    for i, axes in enumerate(shown):
        assert (np.array(axes.images[0].get_array()) == taken[i]).all()
        assert axes.get_title() == f"pose {i}"
        row, column = divmod(i, columns)
        left, bottom, wide, high = axes.get_position().bounds * np.tile(figure.get_size_inches() * rendered.DOTS, 2)
        assert (left, wide, high) == pytest.approx((80 * column, 80, 60))
        assert bottom == pytest.approx(94 * (rows - row - 1))
    assert (len(shown), any(axes.axison for axes in figure.axes)) == (count, False)


def test_arrows_are_in_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen along y, by plain projection: those of a target far away, which is at the edge, and of a frame."""
    shots = list[camera.Shot]()
    monkeypatch.setattr(rendered, "photographs", lambda _, shot, *__: shots.append(shot) or [np.zeros((2, 2, 3))])
    stages = list[Any]()
    monkeypatch.setattr(rendered.View, "__exit__", lambda view, *_: (stages.append(view.stage), view.close())[0])
    target = np.array([3.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    for drawing in (Drawing(placements=[target]), Drawing(frames=["tool"])):
        render(ARM, ARM.neutral, view="xz", drawing=drawing)  # upright
        shot, length = shots[-1], stages[-1].arrow
        oMf = pin.XYZQUATToSE3(target) if drawing.placements else ARM.at(ARM.neutral).placement("tool").copy()
        tips = np.array([oMf.act(length * axis) for axis in np.eye(3)]) - shot.position
        across = np.abs(tips[:, 0] / tips[:, 1]).max() / (math.tan(0.5 * FIELD) * shot.width / shot.height)
        down = np.abs(tips[:, 2] / tips[:, 1]).max() / math.tan(0.5 * FIELD)
        assert max(across, down) < 1.0
        assert not drawing.placements or across > 0.85


# With something that stands in for a browser: what it is asked, and what is made of its pictures.


SHOT = camera.Shot(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0]), 240, 160)


class StandIn:
    """A view whose page is opened at the third look, and whose pictures show its step; the first ones still change."""

    url = "http://127.0.0.1:1"

    def __init__(self, opens: bool = True, error: Exception | None = None, changes: int = 2, blank: int = 0) -> None:
        self.step, self.looks, self.asked, self.opens, self.error = -1, 0, list[Any](), opens, error
        self.changes, self.blank = changes, blank

    def clients(self) -> list[Any]:
        self.looks += 1
        return ["other page", self] if self.looks > 3 and self.opens else ["other page"]

    def get_render(self, **asked: Any) -> np.ndarray:
        self.asked.append(asked)
        if self.error is not None:
            raise self.error
        seen = np.full((asked["height"], asked["width"], 4), 200, dtype=np.uint8)
        if len(self.asked) <= self.blank:
            return np.full_like(seen, 255)
        seen[0, 0] = (10 * self.step, 50 * max(self.changes - len(self.asked), 0) % 250, 0, 51)
        return seen


def program(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that writes down how it is called."""
    file = folder / "stand-in"
    file.write_text(f'#!/bin/sh\necho "$@" > {folder}/called\n{text}\n')
    file.chmod(0o755)
    monkeypatch.setattr(camera, "BROWSERS", ("no-such-browser", str(file)))
    return folder / "called"


@pytest.mark.parametrize(("blank", "looks"), [(0, 4), (3, 6)])
def test_photographs_are_asked_for_when_all_meshes_are_there(
    blank: int, looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small pictures until they are equal three times, then one a step, on a white ground."""
    called, view = program(tmp_path, "sleep 60", monkeypatch), StandIn(blank=blank)
    found = camera.photographs(view, SHOT, [3, 5], 20.0)  # pyright: ignore[reportArgumentType]
    small, (first, second) = view.asked[:-2], view.asked[-2:]
    assert [(each["width"], each["height"]) for each in small] == [
        (180, 120)
    ] * looks  # the second is the first of three; or the fourth
    assert (first["width"], first["height"], first["fov"], first["timeout"]) == (240, 160, FIELD, 20.0)
    assert (first["position"], first["wxyz"]) == (SHOT.position, SHOT.wxyz)
    assert second == first
    assert [picture.shape for picture in found] == [(160, 240, 3)] * 2
    assert [picture[0, 0].tolist() for picture in found] == [[210, 204, 204], [214, 204, 204]]  # a fifth of the colour
    assert found[0][1, 1].tolist() == [212, 212, 212]
    words = called.read_text().split()
    assert words[0] == "--headless"
    assert "--window-size=240,360" in words
    assert words[-1] == view.url


@pytest.mark.parametrize(
    ("text", "view", "seconds", "words"),
    [
        ("exit 3", StandIn(opens=False), 20.0, "ended with 3: http://127"),
        ("sleep 60", StandIn(opens=False), 0.3, "did not open it in 0.3 s"),
        ("sleep 60", StandIn(error=TimeoutError("late")), 20.0, "no picture within 20 s \\(late\\)"),
        ("sleep 60", StandIn(changes=1000), 0.5, "still changed after 0.5 s"),
    ],
)
def test_what_a_browser_does_not_do_is_said(
    text: str, view: Any, seconds: float, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, text, monkeypatch)
    with pytest.raises(camera.NoCameraError, match=words):
        camera.photographs(view, SHOT, [0], seconds)


@pytest.mark.browser
def test_a_page_is_photographed(tmp_path: Path) -> None:
    """Two configurations side by side, which are not blank, and differ."""
    figure = render(ARM, {"home": HOME, "neutral": ARM.neutral}, tmp_path / "arm.png", photo=PhotoOptions(width=240))
    images = [np.array(axes.images[0].get_array()) for axes in figure.axes]
    assert [axes.get_title() for axes in figure.axes] == ["home", "neutral"]
    assert all(image.shape[1] == 240 and image.std() > 3.0 for image in images)
    assert np.abs(images[0].astype(int) - images[1]).max() > 50
