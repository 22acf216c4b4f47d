"""What is shown of searches for paths: the path, with its transitions; or the end that was refused, or the trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from liegroups.arrays import Vector

from ...collisions import Collision
from ...errors import OptionError, WrongObjectError
from ...planning import Connection, Plan, Trajectory
from ...planning.connection import Branchings
from ...robot import Robot
from .film import A_SECOND, Film, of_path, thinned


def of_connection(what: Connection, most: int) -> Film:
    """The path; or the end that was refused; or the ends from which trees grew."""
    robot, trees = what.problem.robot, what.trees
    if what.path is not None:
        return of_path(what.path, most)
    if robot is not None and what.refused is not None:
        return _of_refused(robot, what.refused, what, what.collisions)
    if robot is None or trees is None:
        raise WrongObjectError("path to show", "a connection of a robot with a path, a refused end or trees", str(what))
    roots = trees.from_start[trees.parents_from_start < 0], trees.from_goal[trees.parents_from_goal < 0]
    labels = [f"{end}: {what.status.name}" for end, rows in zip(("start", "goal"), roots, strict=True) for _ in rows]
    chosen = thinned(len(labels), most)
    Q = np.concatenate(roots)[chosen]
    return Film.of(robot, Q, None, [labels[i] for i in chosen], what.problem.constraints)


def of_plan(what: Plan, most: int) -> Film:
    """The path, each piece named by its transition; or the end that was refused."""
    if what.path is not None:
        return of_path(what.path, most, what.on)
    if what.refused is None or what.robot is None:
        hint = "; a Connection in `plan.cases` can be shown" if what.cases else ""
        raise WrongObjectError("path to show", f"a plan with a path, or with an end that was refused{hint}", str(what))
    return _of_refused(what.robot, what.refused, what, what.collisions)


def _of_refused(robot: Robot, q: Vector, what: Connection | Plan, met: Iterable[Collision]) -> Film:
    """The end that was refused, with what collides there."""
    names = tuple(dict.fromkeys(name for pair in met for name in (pair.a, pair.b)))
    words = f"{what.status.name}: {what.reason}" if what.reason else what.status.name
    return replace(Film.of(robot, [q], None, [words]), met=names)


def of_trajectory(what: Trajectory, most: int) -> Film:
    """The motion in its time, named by the event before."""
    problem, duration = what.parts[0].projector.problem, what.duration
    if problem.robot is None:
        raise WrongObjectError("trajectory to show", "one of a robot", what)
    count = int(np.clip(round(A_SECOND * duration) + 1, 2, most))
    times: Vector = np.linspace(0.0, duration, count if duration else 1)
    names = ["", *(event.name for event in what.events)]
    labels = [names[sum(event.time <= time for event in what.events)] for time in times.tolist()]
    rows = [what(time).q for time in times.tolist()]
    return Film.of(problem.robot, rows, times, labels if any(labels) else (), problem.constraints)


def trees_of(what: object) -> Branchings:
    """The trees of a search.

    Raises:
        OptionError: it has none.
    """
    if not isinstance(what, Connection):
        wanted = "a Connection, which keeps those of its search"
        raise OptionError(f"trees to show: expected {wanted}, got a {type(what).__name__}")
    if what.trees is None:
        raise OptionError(f"trees to show: the search grew none: {what}; leave out `trees`")
    return what.trees
