"""What is shown: configurations of a robot, one after the other, with their times and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any, cast, final

import numpy as np

from liegroups.arguments import as_mapping, as_tuple, expect
from liegroups.arrays import ArrayLike, Matrix, Vector

from ...collisions.shapes import Shape
from ...dynamics import MotionRecord
from ...errors import ConstraintError, GraphError, OptionError, WrongObjectError
from ...files.scenes import Scene
from ...loops import Assembly
from ...loops.frame_rows import FrameRows
from ...manipulation.graph import ConstraintGraph
from ...models import Mechanism
from ...paths.interpolation import Interpolation
from ...paths.path import Path
from ...planning.plan import Plan
from ...ranges import whole_number
from ...reduced import Closing, Mode, Sweep
from ...robot import Frame, Robot
from ...rows.row_owner import RowOwner
from ...solvers import Projection, ProjectionBatch

A_SECOND = 25.0
"""Pictures of a motion that has times."""
DRAWN = 20
"""Configurations of a scene that are drawn to find one without collisions."""
STEPS_A_SECOND = 8.0
"""Configurations that are shown in a second where they have no times."""
PERIOD = 2.0
"""How long a period of a mode is shown [s]."""
SHOWABLE = (
    "a Robot, a Mechanism, a Scene, a Path, an Interpolation, a Plan, a MotionRecord, a Sweep, a Mode, an Assembly, a "
    "Closing, a Projection or a ProjectionBatch; for configurations, show(robot, configurations)"
)


@final
@dataclass(frozen=True, eq=False)
class Film:
    """Configurations that are shown one after the other.

    Attributes:
        robot: whose.
        configurations: (n, nq), n at least 1.
        times: (n,) when each is shown [s]; rising.
        labels: a name for each; empty where they have none.
        closures: the two frames of each closure.
        shapes: solids on frames.
        timed: whether the times are those of a motion.
    """

    robot: Robot
    configurations: Matrix
    times: Vector
    labels: tuple[str, ...] = ()
    closures: tuple[tuple[Frame, Frame], ...] = ()
    shapes: tuple[Shape, ...] = field(default=())
    timed: bool = False

    @property
    def name(self) -> str:
        """Of the robot."""
        return self.robot.name

    def __len__(self) -> int:
        return len(self.configurations)

    def label(self, i: int) -> str:
        """Name of a configuration, empty where it has none."""
        return self.labels[i] if self.labels else ""

    @staticmethod
    def of(
        robot: Robot,
        configurations: Iterable[ArrayLike],
        times: ArrayLike | None = None,
        labels: Sequence[str] = (),
        owners: Iterable[RowOwner] = (),
    ) -> Film:
        """Check the configurations.

        Args:
            robot: whose.
            configurations: (nq,) each.
            times: of each [s]; in equal steps if None.
            labels: a name for each, or none.
            owners: of rows; closures among them are shown.
        """
        rows = [np.array(robot.check(q, f"configuration {i}")) for i, q in enumerate(configurations)]
        if not rows:
            raise WrongObjectError("configurations to show", "at least one configuration", "none")
        steps = np.arange(len(rows)) / STEPS_A_SECOND if times is None else np.array(times, dtype=np.float64)
        pairs = tuple((owner.predecessor, owner.successor) for owner in owners if isinstance(owner, FrameRows))
        return Film(robot, np.array(rows), steps, tuple(labels), pairs, timed=times is not None)

    def with_labels(self, labels: Any) -> Film:
        """The same with other names.

        Raises:
            OptionError: not as many as configurations.
        """
        names = tuple(str(name) for name in as_tuple(labels, "labels", "one text a configuration"))
        if len(names) != len(self):
            raise OptionError(f"labels: expected {len(self)}, one a configuration, got {len(names)}")
        return replace(self, labels=names)


def film_of(
    what: Any,
    q: Any = None,
    *,
    shapes: Iterable[Shape] = (),
    labels: Iterable[str] | ConstraintGraph | None = None,
    most: int = 400,
) -> Film:
    """What is shown of something.

    Args:
        what, q, shapes, labels, most: as in `show`.

    Raises:
        WrongObjectError: something that cannot be shown, or a configuration given with something that has its own.
        OptionError: a name for more or fewer than all configurations.
    """
    whole_number(most, "most configurations of a view", 2)
    if q is not None and not isinstance(what, Robot | Mechanism | Scene):
        raise WrongObjectError("q", f"None: a {type(what).__name__} has its own configurations", q)
    film = _film(what, q, most)
    solids = as_tuple(shapes, "shapes to show", "Shape")
    for shape in solids:
        expect(shape, Shape, "shape to show")
    film = replace(film, shapes=(*film.shapes, *solids))
    if labels is None:
        return film
    is_graph = isinstance(labels, ConstraintGraph)
    return film.with_labels(_states(labels, film.configurations) if is_graph else labels)


def _states(graph: ConstraintGraph, configurations: Matrix) -> list[str]:
    """The state of each configuration in a graph; "in no state" where none contains it."""
    names: list[str] = []
    for q in configurations:
        try:
            names.append(graph.state_of(q).name)
        except GraphError:
            names.append("in no state")
    return names


@singledispatch
def _film(what: Any, q: Any, most: int) -> Film:
    raise WrongObjectError("what to show", SHOWABLE, what)


@_film.register
def _(what: Robot, q: Any, most: int) -> Film:
    return _of_configurations(what, q, ())


@_film.register
def _(what: Mechanism, q: Any, most: int) -> Film:
    postures = what.postures
    if q is None and postures:
        q = postures.get("closed", next(iter(postures.values())))
    return _of_configurations(what.robot.with_references(postures), q, (*what.closures, *what.couplers))


@_film.register
def _(what: Scene, q: Any, most: int) -> Film:
    where = _at_rest(what) if q is None else q
    return replace(_of_configurations(what.robot, where, ()), shapes=what.shapes)


def _at_rest(scene: Scene) -> Vector | None:
    """The first random configuration (nq,) without grasps that collides with nothing; the first one if all collide.

    None if the graph has no state without grasps, or nothing is found in it.
    """
    free = next((state for state in scene.graph.states if state.priority == 0), None)
    if free is None:
        return None
    rng = np.random.default_rng(0)
    try:
        model = scene.collision_model()
    except ConstraintError:  # without geometry that can be read, a scene can still be shown
        model = None
    first: Vector | None = None
    for _ in range(DRAWN):
        projection = scene.graph.sample(free, rng)
        if projection.success and (model is None or model.is_free(projection.q)):
            return projection.q
        first = projection.q if first is None and projection.success else first
    return first


def _of_configurations(robot: Robot, q: Any, owners: Iterable[RowOwner]) -> Film:
    """One configuration or several, by name or not; without any, the neutral one moved into the bounds."""
    if q is None:
        return Film.of(robot, [robot.bounds.clip(robot.neutral)], owners=owners)
    if isinstance(q, str):
        return Film.of(robot, [robot.reference(q)], labels=[q], owners=owners)
    if isinstance(q, Mapping):
        named: dict[str, Any] = dict(as_mapping(cast("Any", q), "q", "name -> configuration"))
        return Film.of(robot, named.values(), None, [*named], owners)
    several = as_tuple(q, "q", "a configuration (nq,), several (n, nq), or name -> configuration")
    if all(np.ndim(entry) == 0 for entry in several):
        several = (q,)
    return Film.of(robot, several, owners=owners)


@_film.register
def _(what: Path, q: Any, most: int) -> Film:
    return _of_path(what, most, lambda i: "")


@_film.register
def _(what: Interpolation, q: Any, most: int) -> Film:
    if what.path is None:
        raise WrongObjectError("path to show", "an interpolation that got anywhere", str(what))
    return _of_path(what.path, most, lambda i: "")


@_film.register
def _(what: Plan, q: Any, most: int) -> Film:
    if what.path is None:
        raise WrongObjectError("path to show", "a plan that has a path", str(what))
    names = [f"{part} (in '{part.containing}')" for part in what.on]
    return _of_path(what.path, most, lambda i: names[i])


def _of_path(path: Path, most: int, name: Callable[[int], str]) -> Film:
    """A path at equal steps of time, each piece from its start to its end; a piece has one name."""
    problem = path.pieces[0].problem
    if problem.robot is None:
        raise WrongObjectError("path to show", "a path of a robot", path)
    count = int(np.clip(round(A_SECOND * path.duration), 2, most - 1))
    rows: list[Vector] = []
    times: list[float] = []
    labels: list[str] = []
    begun = 0.0
    for i, (piece, duration) in enumerate(zip(path.pieces, path.durations, strict=True)):
        steps = max(2, round(count * duration / path.duration) + 1)
        at = np.linspace(0.0, 1.0, steps)[0 if i == 0 else 1 :]
        rows += [*piece.at_times(at)]
        times += [begun + duration * float(t) for t in at]
        labels += [name(i)] * len(at)
        begun += duration
    return Film.of(problem.robot, rows, times, labels if any(labels) else (), problem.constraints)


@_film.register
def _(what: MotionRecord, q: Any, most: int) -> Film:
    times: Vector = what.times
    count = int(np.clip(round(A_SECOND * float(times[-1] - times[0])) + 1, min(2, len(times)), most))
    wanted = np.linspace(float(times[0]), float(times[-1]), count)
    chosen = np.unique(np.clip(np.searchsorted(times, wanted - 1e-9), 0, len(times) - 1))
    rows = what.constraint_set
    return Film.of(rows.robot, what.qs[chosen], times[chosen], owners=rows.stack)


def _thinned(count: int, most: int) -> list[int]:
    """Which of so many are taken where at most some are: evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int)).tolist()


@_film.register
def _(what: Sweep, q: Any, most: int) -> Film:
    rows = what.coordinates.constraint_set
    if not len(what.qs):
        raise WrongObjectError("sweep to show", "one that reached a value", str(what))
    chosen = _thinned(len(what.qs), most)
    labels = [f"{what.driver.name} = {value:.4g}" for value in what.values[chosen]]
    return Film.of(rows.robot, what.qs[chosen], None, labels, rows.stack)


@_film.register
def _(what: Mode, q: Any, most: int) -> Film:
    rows = what.state.coordinates.constraint_set
    period = what.configurations(min(int(A_SECOND * PERIOD), most))
    return Film.of(rows.robot, period, PERIOD * np.arange(len(period)) / len(period), owners=rows.stack)


@_film.register(Assembly)
@_film.register(Closing)
def _(what: Assembly | Closing, q: Any, most: int) -> Film:
    rows = what.constraint_set
    if not what.iterates:
        return Film.of(rows.robot, [what.q], None, [what.status.name], rows.stack)
    labels = [f"iterate {i}: {residual:.1e}" for i, residual in enumerate(what.residuals)]
    return Film.of(rows.robot, what.iterates, None, labels, rows.stack)


@_film.register
def _(what: Projection, q: Any, most: int) -> Film:
    robot = what.problem.robot
    if robot is None:
        raise WrongObjectError("projection to show", "one of a robot", what)
    return Film.of(robot, [what.start, what.q], None, ["start", what.status.name], what.problem.constraints)


@_film.register
def _(what: ProjectionBatch, q: Any, most: int) -> Film:
    robot = what.problem.robot
    if robot is None or not len(what):
        raise WrongObjectError("batch to show", "one of a robot, with a row", what)
    chosen = _thinned(len(what), most)
    labels = [f"row {i}: {what.status[i].name}" for i in chosen]
    return Film.of(robot, [what.q[i] for i in chosen], None, labels, what.problem.constraints)
