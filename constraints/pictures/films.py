"""Pictures that move: matplotlib's animations, and files of them. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import FileError
from ..exports import from_extra
from ..files.writing import as_path, write_file
from .figures import in_notebook

DOTS, LARGEST = 80, 1e6
"""Pixels an inch of films in files; size of a page [MB]: matplotlib leaves pictures out of a larger one."""
KINDS = (".gif", ".html", ".mp4")
_SIGNS = {
    "minus": "\\2212", "fast-backward": "|\\25c0", "step-backward": "\\2039", "play": "\\25b6\\fe0e", "pause": "||",
    "step-forward": "\\203a", "fast-forward": "\\25b6\\fe0e|", "plus": "+",
}  # fmt: skip
_STYLE = "<style>.fa{font-style:normal;font-weight:bold}.fa-flip-horizontal{display:inline-block;transform:scaleX(-1)}"
"""What stands on the buttons of an animation: matplotlib takes it from the network otherwise."""


def check_film(path: str | os.PathLike[str] | None) -> None:
    """Refuse a file that no animation can be written to, before anything is drawn.

    Raises:
        FileError: its ending is none of those, or needs a program that is not there.
    """
    if path is None:
        return
    kind, name = as_path(path).suffix.lower(), os.fspath(path)
    if kind not in KINDS:
        raise FileError(name, f"an animation is written to a name that ends in {', '.join(KINDS)}")
    if kind == ".mp4" and not from_extra("matplotlib.animation", "plot").writers.is_available("ffmpeg"):
        raise FileError(name, "an .mp4 needs the program ffmpeg, which is not there; .gif and .html do not")


def has_window(path: str | os.PathLike[str] | None) -> bool:
    """Whether the figure of an animation is one of pyplot's: not for a file, nor in a notebook, which shows a film."""
    return path is None and not in_notebook()


def film(
    figure: Any, draw: Callable[[int], object], count: int, path: str | os.PathLike[str] | None, rate: float
) -> Any:
    """A matplotlib animation, also written to a file.

    The figure holds it: without that it would stop as soon as nobody holds it. A notebook shows it with its controls.

    Args:
        figure: pyplot's where `has_window`.
        draw: draws a picture in the figure by its number, in place of the one before.
        count: how many pictures, at least one.
        path: the file, `.gif`, `.html` (which needs no other file), or `.mp4` (where there is ffmpeg); none if None.
        rate: pictures a second.

    Raises:
        FileError: the file cannot be written, with the reason.
    """
    kind: Any = from_extra("matplotlib.animation", "plot").FuncAnimation
    draw(0)  # what the figure shows where nothing moves, as in a picture of it
    animation = kind(figure, draw, frames=count, interval=1000.0 / rate)
    animation._repr_html_ = partial(page_of, animation, rate)  # the animation is ours: nobody else has seen it
    figure._animation = animation
    if path is not None:
        ending = as_path(path).suffix.lower()
        if ending == ".html":
            content = page_of(animation, rate).encode()
        else:
            with tempfile.TemporaryDirectory() as folder:
                made = Path(folder) / f"film{ending}"
                animation.save(made, writer="pillow" if ending == ".gif" else "ffmpeg", fps=rate, dpi=DOTS)
                content = made.read_bytes()
        write_file(path, content)
    return animation


def page_of(animation: Any, rate: float) -> str:
    """An animation with its controls as HTML that needs no other file and no network."""
    with from_extra("matplotlib", "plot").rc_context({"animation.embed_limit": LARGEST}):
        page: str = animation.to_jshtml(fps=rate, default_mode="loop")
    style = _STYLE + "".join(f'.fa-{name}:before{{content:"{sign}"}}' for name, sign in _SIGNS.items()) + "</style>"
    return re.sub(r"<link[^>]*font-awesome[^>]*>", lambda _: style, page)
