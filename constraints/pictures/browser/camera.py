"""Pictures of a view's page, taken by a browser without a window on this machine."""

from __future__ import annotations

import logging
import math
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from liegroups.arrays import Matrix, Vector

from ...errors import ConstraintError
from ...robot.placement import quaternion_of
from .stage import FIELD, upright
from .view import View

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Programs that are looked for, in this order."""
FLAGS = (
    "--headless", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--hide-scrollbars", "--no-first-run",
)  # fmt: skip
"""Without a window, and without a graphics card."""
ROOM = 1.08
"""How much further away the camera is than where all just fits."""
TALLEST = 1.5
"""Largest height of a picture, as a part of its width; the least one is its inverse."""
BARS = 200
"""Height of a window above that of the picture [pixels]."""
SMALL, PAUSE = 120, 0.15
"""Height of the pictures that tell whether all meshes are there [pixels], and the time between them [s]."""
SETTLED = 2
"""Number of small pictures in a row that are equal to the one before: then all meshes are there."""
READY, PATIENCE = 0.05, 5.0
"""How often it is looked whether the page is open, and how long a browser may take to end [s]."""
Picture = npt.NDArray[np.uint8]


class NoCameraError(ConstraintError):
    """No picture of a page can be taken here; says why, and what to do."""


class Shot(NamedTuple):
    """Where a camera stands.

    Attributes:
        position: (3,) [m].
        wxyz: (4,) its axes in the world: x to the right, y down, z to what it sees.
        width, height: of the picture [pixels].
    """

    position: Vector
    wxyz: Vector
    width: int
    height: int

    @staticmethod
    def of(points: Matrix, look: Vector, width: int) -> Shot:
        """The camera that just sees some points, in a picture that is as high as they ask for, within `TALLEST`.

        Args:
            points: (n, 3) [m].
            look: unit vector from what is seen to the camera.
            width: of the picture [pixels].
        """
        right = np.cross(upright(look), look)
        right /= np.linalg.norm(right)
        axes = np.array([right, np.cross(-look, right), -look])  # rows: right, down, forward
        x, y, z = axes @ points.T
        ratio = float(np.clip(np.ptp(y) / np.ptp(x), 1.0 / TALLEST, TALLEST))
        slope = math.tan(0.5 * FIELD) / ROOM
        seen: list[tuple[float, float]] = []
        for u, t in ((x, slope / ratio), (y, slope)):  # all |u - middle| <= t (z + away)
            high, low = float((u - t * z).max()), float((u + t * z).min())
            seen.append((0.5 * (high + low), 0.5 * (high - low) / t))
        (right, near), (down, far) = seen
        position = np.array([right, down, -max(near, far)]) @ axes
        quaternion = quaternion_of(axes.T)
        return Shot(position, np.array([quaternion[3], *quaternion[:3]]), width, round(width * ratio))


def browser() -> str:
    """Path of a browser that can be run without a window.

    Raises:
        NoCameraError: there is none.
    """
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise NoCameraError(f"no browser was found ({', '.join(BROWSERS)}): apt-get install chromium")


def photographs(view: View, shot: Shot, steps: Sequence[int], seconds: float) -> list[Picture]:
    """Pictures (height, width, 3) of a view at some of its configurations.

    Args:
        view: the page.
        shot: where the camera stands.
        steps: configurations of its film.
        seconds: how long the browser may take until it has the page, and for each picture.

    Raises:
        NoCameraError: there is no browser, or it does not answer.
    """
    asked: dict[str, Any] = {
        "height": shot.height, "width": shot.width, "wxyz": shot.wxyz, "position": shot.position, "fov": FIELD,
        "transport_format": "png", "timeout": seconds,
    }  # fmt: skip
    pictures: list[Picture] = []
    with _client(view, shot, seconds) as client:
        view.step = steps[0]
        _wait_for_meshes(client, asked, seconds)
        for step in steps:
            view.step = step
            pictures.append(_taken(client, asked))
    return pictures


def _taken(client: Any, asked: Mapping[str, Any]) -> Picture:
    """A picture, as the page is now."""
    try:
        return _on_white(client.get_render(**asked))
    except (TimeoutError, RuntimeError) as error:
        raise NoCameraError(f"the browser gave no picture within {asked['timeout']:g} s ({error})") from None


def _wait_for_meshes(client: Any, asked: Mapping[str, Any], seconds: float) -> None:
    """Wait until the page shows all that it was sent: until small pictures of it no longer change."""
    small = {**asked, "height": SMALL, "width": round(SMALL * asked["width"] / asked["height"])}
    end, last, same = time.monotonic() + seconds, None, 0
    while same < SETTLED:
        seen = _taken(client, small)
        is_same = last is not None and np.array_equal(seen, last) and seen.min() < 250
        same, last = (same + 1 if is_same else 0), seen
        if time.monotonic() > end:
            raise NoCameraError(f"the page still changed after {seconds:g} s")
        time.sleep(PAUSE)


def _on_white(seen: Any) -> Picture:
    """Colours on a white ground, of a picture with transparency or without."""
    if seen.shape[2] < 4:
        return np.array(seen[..., :3], dtype=np.uint8)
    part = seen[..., 3:].astype(np.float64) / 255.0
    return (part * seen[..., :3] + 255.0 * (1.0 - part)).round().astype(np.uint8)


@contextmanager
def _client(view: View, shot: Shot, seconds: float) -> Generator[Any]:
    """A browser that has the page open, as viser knows it; it ends with the block."""
    program = browser()
    flags = [*FLAGS, *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else [])]
    known = {id(client) for client in view.clients()}
    quiet = logging.getLogger("websockets.server")
    with tempfile.TemporaryDirectory(prefix="constraints-", ignore_cleanup_errors=True) as folder:
        window = f"--window-size={shot.width},{shot.height + BARS}"
        command = [program, *flags, window, f"--user-data-dir={folder}", view.url]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before, quiet.disabled = quiet.disabled, True  # connections that it opens and does not use
        try:
            yield _opened(view, known, running, seconds)
        finally:
            running.terminate()
            try:
                running.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
            quiet.disabled = before


def _opened(view: View, known: set[int], running: subprocess.Popen[bytes], seconds: float) -> Any:
    """The page that was not open before."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and running.poll() is None:
        for client in view.clients():
            if id(client) not in known:
                return client
        time.sleep(READY)
    why = f"ended with {running.returncode}" if running.poll() is not None else f"did not open it in {seconds:g} s"
    raise NoCameraError(f"{running.args[0]} {why}: {view.url}")  # pyright: ignore[reportIndexIssue, reportArgumentType]
