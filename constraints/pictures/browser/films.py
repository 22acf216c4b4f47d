"""What is shown of each kind of result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import singledispatch
from typing import Any, cast

import numpy as np

from liegroups.arguments import as_flag, as_mapping, as_tuple, expect
from liegroups.arrays import Matrix, Vector

from ...collisions import Shape
from ...dynamics import MotionRecord
from ...errors import ConstraintError, GraphError, WrongObjectError
from ...files.scenes import Scene
from ...loops import Assembly
from ...manipulation.graph import ConstraintGraph
from ...models import Mechanism
from ...paths.interpolation import Interpolation
from ...paths.path import Path
from ...planning import Connection, Plan, Trajectory
from ...ranges import whole_number
from ...reduced import Closing, Mode, Sweep
from ...robot import Robot
from ...rows.row_owner import RowOwner
from ...solvers import Projection, ProjectionBatch
from .film import A_SECOND, Film, of_path, thinned
from .searches import of_connection, of_plan, of_trajectory, trees_of

DRAWN = 20
"""Configurations of a scene that are drawn to find one without collisions."""
PERIOD = 2.0
"""How long a period of a mode is shown [s]."""
SHOWABLE = (
    "a Robot, a Mechanism, a Scene, a Path, an Interpolation, a Connection, a Plan, a Trajectory, a "
    "MotionRecord, a Sweep, a Mode, an Assembly, a Closing, a Projection or a ProjectionBatch; for configurations, "
    "show(robot, configurations)"
)


def film_of(
    what: Any,
    q: Any = None,
    *,
    shapes: Iterable[Shape] = (),
    labels: Iterable[str] | ConstraintGraph | None = None,
    most: int = 400,
    trees: bool = False,
) -> Film:
    """What is shown of something.

    Args:
        what, q, shapes, labels, most, trees: as in `show`.

    Raises:
        WrongObjectError: something that cannot be shown, or a configuration given with something that has its own.
        OptionError: a name for more or fewer than all configurations; trees of what has none.
    """
    whole_number(most, "most configurations of a view", 2)
    if q is not None and not isinstance(what, Robot | Mechanism | Scene):
        raise WrongObjectError("q", f"None: a {type(what).__name__} has its own configurations", q)
    film = _posed(what, q) if isinstance(what, Robot | Mechanism | Scene) else _film(what, most)
    solids = as_tuple(shapes, "shapes to show", "Shape")
    for shape in solids:
        expect(shape, Shape, "shape to show")
    film = replace(film, shapes=(*film.shapes, *solids), trees=trees_of(what) if as_flag(trees, "trees") else None)
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


def _posed(what: Robot | Mechanism | Scene, q: Any) -> Film:
    """At configurations that are given, or at rest."""
    if isinstance(what, Robot):
        return _of_configurations(what, q, ())
    if isinstance(what, Scene):
        where = _at_rest(what) if q is None else q
        return replace(_of_configurations(what.robot, where, ()), shapes=what.shapes)
    postures = what.postures
    if q is None and postures:
        q = postures.get("closed", next(iter(postures.values())))
    return _of_configurations(what.robot.with_references(postures), q, (*what.closures, *what.couplers))


def _at_rest(scene: Scene) -> Vector | None:
    """The start (nq,) of the file; without one a random configuration without grasps, free of collisions if one is.

    None if the graph has no state without grasps, or nothing is found in it.
    """
    if scene.start is not None:
        return scene.start
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


@singledispatch
def _film(what: Any, most: int) -> Film:
    raise WrongObjectError("what to show", SHOWABLE, what)


_film.register(Path, of_path)
_film.register(Connection, of_connection)
_film.register(Plan, of_plan)
_film.register(Trajectory, of_trajectory)


@_film.register
def _(what: Interpolation, most: int) -> Film:
    if what.path is None:
        raise WrongObjectError("path to show", "an interpolation that got anywhere", str(what))
    return of_path(what.path, most)


@_film.register
def _(what: MotionRecord, most: int) -> Film:
    times: Vector = what.times
    count = int(np.clip(round(A_SECOND * float(times[-1] - times[0])) + 1, min(2, len(times)), most))
    wanted = np.linspace(float(times[0]), float(times[-1]), count)
    chosen = np.unique(np.clip(np.searchsorted(times, wanted - 1e-9), 0, len(times) - 1))
    rows = what.constraint_set
    return Film.of(rows.robot, what.qs[chosen], times[chosen], owners=rows.stack)


@_film.register
def _(what: Sweep, most: int) -> Film:
    rows = what.coordinates.constraint_set
    if not len(what.qs):
        raise WrongObjectError("sweep to show", "one that reached a value", str(what))
    chosen = thinned(len(what.qs), most)
    labels = [f"{what.driver.name} = {value:.4g}" for value in what.values[chosen]]
    return Film.of(rows.robot, what.qs[chosen], None, labels, rows.stack)


@_film.register
def _(what: Mode, most: int) -> Film:
    rows = what.state.coordinates.constraint_set
    period = what.configurations(min(int(A_SECOND * PERIOD), most))
    return Film.of(rows.robot, period, PERIOD * np.arange(len(period)) / len(period), owners=rows.stack)


@_film.register(Assembly)
@_film.register(Closing)
def _(what: Assembly | Closing, most: int) -> Film:
    rows = what.constraint_set
    if not what.iterates:
        return Film.of(rows.robot, [what.q], None, [what.status.name], rows.stack)
    labels = [f"iterate {i}: {residual:.1e}" for i, residual in enumerate(what.residuals)]
    return Film.of(rows.robot, what.iterates, None, labels, rows.stack)


@_film.register
def _(what: Projection, most: int) -> Film:
    robot = what.problem.robot
    if robot is None:
        raise WrongObjectError("projection to show", "one of a robot", what)
    return Film.of(robot, [what.start, what.q], None, ["start", what.status.name], what.problem.constraints)


@_film.register
def _(what: ProjectionBatch, most: int) -> Film:
    robot = what.problem.robot
    if robot is None or not len(what):
        raise WrongObjectError("batch to show", "one of a robot, with a row", what)
    chosen = thinned(len(what), most)
    labels = [f"row {i}: {what.status[i].name}" for i in chosen]
    return Film.of(robot, [what.q[i] for i in chosen], None, labels, what.problem.constraints)
