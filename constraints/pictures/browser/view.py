"""A film on a page of a browser: a slider, a play button, a recording as one HTML file."""

from __future__ import annotations

import os
import threading
import webbrowser
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self, cast, final

import numpy as np

from liegroups.arguments import as_mapping, expect
from liegroups.arrays import ArrayLike, Vector

from ...errors import FileError
from ...files.writing import write_file
from ...manipulation.graph import ConstraintGraph
from ...ranges import whole_number
from ...robot import Robot
from ...robot.description import Drawing
from ...robot.files.packages import VisualFile, as_folders
from .film import Film
from .films import film_of
from .joint_sliders import JointSliders
from .serving import PageOptions, quiet, served
from .stage import Stage

PAUSE = 0.5
"""How long the last configuration is shown, and how often it is looked whether the page is closed [s]."""


def show(
    what: object,
    q: object = None,
    *,
    drawing: Drawing | None = None,
    labels: Iterable[str] | ConstraintGraph | None = None,
    most: int = 400,
    trees: bool = False,
    page: PageOptions | None = None,
) -> View:
    """Show a robot, a path or a mechanism on a page of a browser, which this process serves until it ends.

    Links are drawn by the visual geometry of the URDF, SDF or MJCF file that the robot is from; without one as sticks
    from joint to joint. What cannot be drawn, as a mesh whose file is missing, is named in the log and in
    `view.missing`, and the rest is drawn. Ends of closures are balls, joined by a red rod where they are apart. What
    has several configurations has a slider and a play button.

    Args:
        what: a Robot; a Mechanism, at its posture "closed" or its first one; a Scene; or what has configurations of its
            own: Path, Interpolation, Connection, Plan (named by its transitions), Trajectory, MotionRecord,
            Sweep, Mode, Assembly, Closing, Projection, ProjectionBatch. A Connection or Plan whose start or goal was
            refused is shown there, what collides in red; a Connection without a path at the ends of its trees.
        q: of a robot, mechanism or scene: a configuration (nq,), several (n, nq), name -> configuration, or the name of
            a reference posture. By default the neutral configuration, moved into the bounds.
        drawing: frames, placements, shapes, and where meshes are.
        labels: a name for each configuration; or a constraint graph, which names them by their states in it.
        most: how many configurations are taken at most of a path, motion, sweep or batch, evenly spaced.
        trees: draw the trees of a Connection: where the frames of the drawing are at each node, that from the start
            blue, that from the goal orange; without frames, the ends of the robot.
        page: where it is served; by default for this machine alone.

    Raises:
        WrongObjectError: something that cannot be shown.
        SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with a configuration.
        UnknownNameError, UnknownFrameError: lists the names that come closest.
        OptionError: the port is taken, labels are not as many as configurations, trees of what has none, or a drawing
            of what only stick figures have.
        MissingExtraError: viser or trimesh is not installed.

    Example:
        >>> from constraints.models import sample_arm
        >>> from constraints.pictures import PageOptions, show
        >>> with show(sample_arm(), "home", page=PageOptions(port=8123)) as view:  # doctest: +SKIP
        ...     view.wait()
        View of sample_arm at http://127.0.0.1:8123
    """
    shapes = in_browser(drawing).shapes
    where = PageOptions() if page is None else expect(page, PageOptions, "page of a view")
    view = View(film_of(what, q, shapes=shapes, labels=labels, most=most, trees=trees), drawing, where)
    if where.open_browser:
        webbrowser.open(view.url)
    return view


def in_browser(drawing: Drawing | None) -> Drawing:
    """A drawing for a page of a browser.

    Raises:
        OptionError: it has what only stick figures have.
    """
    return Drawing.of(drawing, "a page of a browser", "tips", "forces", "names", "degrees", "colour")


def files_of(robot: Robot, drawing: Drawing) -> tuple[VisualFile, ...]:
    """The files with visual geometry."""
    more, urdfs = as_folders(drawing.packages), drawing.urdfs
    if urdfs is None:
        return tuple(file._replace(packages=(*more, *file.packages)) for file in robot.visuals)
    if isinstance(urdfs, str | os.PathLike):
        return (VisualFile.of(cast("str", urdfs), "URDF", more),)
    files = as_mapping(urdfs, "urdfs of a view", "of names of parts to files")
    return tuple(VisualFile.of(file, "URDF", more).prefixed(f"{part}/") for part, file in files.items())


@final
class View:
    """A page that shows a robot. `show` makes it. It closes at the end of a `with` block, or of the process.

    In a notebook it shows itself.

    Args:
        film: what is shown.
        drawing: as for `show`.
        page: where it is served.

    Attributes:
        film: what is shown: configurations, times, labels.
        missing: what could not be drawn, each with the reason.

    Raises:
        OptionError: the port is taken, or an origin is none.
        MissingExtraError: viser or trimesh is not installed.
    """

    def __init__(self, film: Film, drawing: Drawing | None = None, page: PageOptions | None = None) -> None:
        drawing = in_browser(drawing)
        arrows = [film.robot.frame(frame) for frame in drawing.frames]
        self.film = film
        self._server = served(PageOptions() if page is None else page)
        self._lock, self._closed = threading.RLock(), threading.Event()
        self._playing = threading.Event()
        try:
            self._stage = Stage(self._server, film, arrows, files_of(film.robot, drawing))
            for i, placement in enumerate(drawing.placements):
                self._stage.add_arrows(f"/world/placement {i}", placement)
            self.missing = tuple(self._stage.missing)
            self._step, self._q = 0, film.configurations[0]
            self._add_controls()
            self._pose(0)
        except BaseException:
            self.close()
            raise

    # Where it is.

    @property
    def port(self) -> int:
        """Where the page is served."""
        return int(self._server.get_port())

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self._server.get_host()}:{self.port}"

    @property
    def stage(self) -> Stage:
        """What is in the scene of viser."""
        return self._stage

    def clients(self) -> list[Any]:
        """The open pages, as viser knows them."""
        return [*self._server.get_clients().values()]

    # What it shows.

    @property
    def robot(self) -> Robot:
        """The robot that is shown."""
        return self.film.robot

    @property
    def q(self) -> Vector:
        """Copy (nq,) of the configuration that is shown; another one may be set."""
        return np.array(self._q)

    @q.setter
    def q(self, q: ArrayLike) -> None:
        checked = np.array(self.robot.check(q))
        with self._lock, self._server.atomic():
            self._q = checked
            self._stage.pose(checked)
            if self._joints is not None:
                self._joints.show(checked)

    @property
    def step(self) -> int:
        """Which configuration of the film the slider is at; another one may be set, from 0."""
        return self._step

    @step.setter
    def step(self, step: int) -> None:
        i = whole_number(step, "step of a view", 0, len(self.film) - 1)
        if self._slider is not None and self._slider.value != i:
            self._slider.value = i
        self._pose(i)

    @property
    def label(self) -> str:
        """Name of the configuration that the slider is at; empty where it has none."""
        return self.film.label(self._step)

    def _pose(self, i: int) -> None:
        with self._lock, self._server.atomic():
            self._step, self._q = i, self.film.configurations[i]
            self._stage.pose(self._q, self.film.label(i))
            if self._words is not None:
                self._words.content = self._said(i)

    def _said(self, i: int) -> str:
        """What stands under the slider."""
        film = self.film
        when = f"{film.times[i]:.2f} s of {film.times[-1]:.2f} s" if film.timed else f"{i} of {len(film) - 1}"
        return f"{when}  \n**{film.label(i)}**" if film.label(i) else when

    def _add_controls(self) -> None:
        """Slider, play button, and what could not be drawn."""
        gui, film = self._server.gui, self.film
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.set_panel_label(film.robot.name)
        self._slider = self._button = self._words = self._joints = None
        if len(film) > 1:
            self._slider = gui.add_slider("configuration", 0, len(film) - 1, 1, 0)
            self._slider.on_update(self._slid)
            self._button = gui.add_button("Play")
            self._button.on_click(self._pressed)
            self._words = gui.add_markdown(self._said(0))
        else:
            if film.label(0):
                gui.add_markdown(f"**{film.label(0)}**")
            self._joints = JointSliders(gui, film.robot, film.configurations[0], self._turned)
        if self.missing:
            lines = "".join(f"- {reason}\n" for reason in self.missing)
            with gui.add_folder(f"not drawn: {len(self.missing)}", expand_by_default=False):
                gui.add_markdown(lines)

    def _slid(self, event: Any) -> None:
        """The slider was moved on a page."""
        if event.client_id is not None:
            self._pose(int(event.target.value))

    def _pressed(self, _: Any) -> None:
        """The button was pressed on a page."""
        if self._playing.is_set():
            self.pause()
        else:
            self.play()

    def _turned(self, change: Callable[[Vector], None]) -> None:
        """A joint was moved on a page."""
        with self._lock, self._server.atomic():
            self._q = np.array(self._q)
            change(self._q)
            self._stage.pose(self._q)

    # In motion.

    def play(self) -> None:
        """Let the film run, again and again, until `pause`."""
        if self._button is not None and not self._playing.is_set() and not self._closed.is_set():
            self._playing.set()
            self._button.label = "Pause"
            threading.Thread(target=self._run, name="view", daemon=True).start()

    def pause(self) -> None:
        """Let the film stand."""
        self._playing.clear()
        if self._button is not None:
            self._button.label = "Play"

    def _run(self) -> None:
        """Show one configuration after the other, in the time of the film."""
        while self._playing.is_set() and not self._closed.is_set():
            i = (self._step + 1) % len(self.film)
            if self._closed.wait(self._pause(i)) or not self._playing.is_set():
                return
            self.step = i

    def _pause(self, i: int) -> float:
        """How long it takes to come to a configuration from the one before [s]."""
        return max(float(self.film.times[i] - self.film.times[i - 1]), 0.0) if i else PAUSE

    # What is kept.

    def to_html(self) -> str:
        """The film as a page of its own, which plays it and needs no network and no Python."""
        with self._lock:
            before = self._step, self._q
            self._pose(0)
            recording = self._server.get_scene_serializer()
            for i in range(1, len(self.film)):
                recording.insert_sleep(self._pause(i))
                self._pose(i)
            if len(self.film) > 1:
                recording.insert_sleep(PAUSE)
            page = str(recording.as_html())
            self._pose(before[0])
            self._stage.pose(before[1], self.film.label(before[0]))
            self._q = before[1]
        return page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the film as one HTML file, which any browser opens without network.

        Args:
            path: of the file.

        Raises:
            FileError: it cannot be written, or is not called .html.
        """
        name = os.fspath(path)
        if not name.lower().endswith((".html", ".htm")):
            raise FileError(name, "is a page: expected a name that ends in .html")
        write_file(name, self.to_html().encode())

    # Its end.

    def wait(self) -> None:
        """Print where the page is, and wait until it is closed: by Ctrl-C, or from elsewhere."""
        print(self, flush=True)
        try:
            while not self._closed.wait(PAUSE):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Close the page, and free its port."""
        if not self._closed.is_set():
            self._closed.set()
            self._playing.clear()
            with quiet():
                self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"View of {self.robot.name} at {self.url}" + (" (closed)" if self._closed.is_set() else "")

    def _repr_html_(self) -> str:
        """The page inside a notebook."""
        return f'<iframe src="{self.url}" width="100%" height="500" style="border: 0"></iframe>'
