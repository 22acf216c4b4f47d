"""`plan FILE`: a path from the start to the goal of a scene or problem file, free of collisions."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..collisions import CollisionModel, Shape
from ..errors import FileError
from ..files.documents import read_document
from ..files.problems import load_task
from ..files.scenes import Scene, read_scene
from ..files.trajectories import ENDINGS_OF_PATHS, save_path
from ..manipulation.graph import ConstraintGraph
from ..paths.path import Path
from ..pictures import Drawing, show
from ..planning import Connection, Limits, Plan, connect, plan, shorten
from .arguments import ALL_WELL, NOT_ALL, natural, outputs, seconds
from .plan_picture import draw

LIMIT = 60.0
"""Time of a search [s]."""
SHORTENING = 2.0
"""Time to shorten its path [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.description = (
        "Find a path from the start to the goal of a file, on its constraints. Of a scene the sequence of grasps is "
        "found too, and nothing collides; a problem has no solids, so collisions are not looked at. Exit code 1 when "
        "no path is found."
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="a scene, or a problem, with `start` and `goal` (docs/scene_files.md)")
    add("--seed", type=natural, default=0, metavar="N", help="seed of the random generator (%(default)s)")
    add("--limit", type=seconds, default=LIMIT, metavar="S", help="seconds of the search (%(default)g)")
    as_found = f"leave the path as it is found; otherwise it is shortened for {SHORTENING:g} s at most"
    add("--no-shorten", action="store_true", help=as_found)
    add("--save", metavar="OUT", help=f"write the path: {', '.join(ENDINGS_OF_PATHS)}")
    add("--plot", metavar="OUT.png", help="draw the configurations along the path, by transition (extra `plot`)")
    add("--show", action="store_true", help="show what was found in a browser until Ctrl-C (extra `view`)")


def run(options: argparse.Namespace) -> int:
    """Read, plan, say what was found."""
    outputs((options.file,), saved=ENDINGS_OF_PATHS, save=options.save, plot=options.plot)
    rng, limits = np.random.default_rng(options.seed), Limits(seconds=options.limit)
    answer = _answer(options.file, rng, limits)
    found = answer.found.path
    if found is None:
        print(answer.found.describe())
        for file in filter(None, (options.save, options.plot)):
            print(f"no path: {file} is not written")
    else:
        answer = answer if options.no_shorten else answer.shortened(np.random.default_rng(options.seed))
        path = answer.found.or_raise()
        print(answer.words(path, found.length))
        if options.save:
            save_path(path, options.save, answer.on)
        if options.plot:
            draw(path, answer.steps, options.plot)
    if options.show:
        _show(answer)
    return ALL_WELL if answer.found.success else NOT_ALL


@final
@dataclass(frozen=True, eq=False)
class _Answer:
    """What was found, and for what.

    Attributes:
        found: the result.
        graph: of a scene; None of a problem.
        collisions: what must not collide; None for nothing.
        shapes: to be shown.
    """

    found: Plan | Connection
    graph: ConstraintGraph | None = None
    collisions: CollisionModel | None = None
    shapes: tuple[Shape, ...] = ()

    @property
    def on(self) -> tuple[str, ...]:
        """The transition without waypoints of each piece of the path; empty of a problem."""
        return self.found.on if isinstance(self.found, Plan) else ()

    @property
    def steps(self) -> tuple[str, ...]:
        """The transition of each piece of the path, with waypoints if it has some; empty of a problem."""
        if self.graph is None:
            return ()
        whole = {inner.name: step.name for step in self.graph.transitions for inner in step.inner}
        return tuple(whole.get(name, name) for name in self.on)

    def shortened(self, rng: np.random.Generator) -> _Answer:
        """The same with a shorter path."""
        found, limits = self.found, Limits(seconds=SHORTENING)
        if isinstance(found, Plan):
            shorter = shorten(found, rng=rng, graph=self.graph, collisions=self.collisions, limits=limits)
        else:
            shorter = replace(found, path=shorten(found.or_raise(), rng=rng, limits=limits))
        return replace(self, found=shorter)

    def words(self, path: Path, before: float) -> str:
        """What was found: transitions, length now and before it was shortened, what is held, time."""
        found = self.found
        names = found.transitions if isinstance(found, Plan) else ()
        spent = found.seconds if isinstance(found, Plan) else found.effort.seconds
        lines = [str(found), *(f"  {i}. {name}" for i, name in enumerate(names, start=1))]
        if self.graph is not None and not names:
            lines.append("  no grasp or release is needed")
        was = f", {before:.4g} before it was shortened" if path.length < before else ""
        lines.append(f"  length {path.length:.4g}{was}")
        lines += [f"  held: {held}" for held in path.held()]
        return "\n".join([*lines, f"  found in {spent:.3g} s"])


def _answer(file: str, rng: np.random.Generator, limits: Limits) -> _Answer:
    """Plan what a file asks for."""
    kind, _ = read_document(file, "scene", "problem")
    if kind == "scene":
        return _of_scene(file, read_scene(file), rng, limits)
    problem, start, goal = load_task(file)
    if start is None or goal is None:
        remedy = "`constraints.files.save_problem(problem, path, start=q0, goal=q1)` writes both"
        raise FileError(file, _lacks(start, remedy))
    return _Answer(connect(problem, start, goal, rng=rng, limits=limits))


def _of_scene(file: str, scene: Scene, rng: np.random.Generator, limits: Limits) -> _Answer:
    if scene.start is None or scene.goal is None:
        raise FileError(file, _lacks(scene.start, "add it to the file (docs/scene_files.md, 'Start and goal')"))
    model = scene.collision_model()
    found = plan(scene.graph, scene.start, scene.goal, rng=rng, collisions=model, limits=limits)
    return _Answer(found, scene.graph, model, scene.shapes)


def _lacks(start: object, remedy: str) -> str:
    return f"there is no '{'start' if start is None else 'goal'}' in it to plan from or to: {remedy}"


def _show(answer: _Answer) -> None:
    """Serve a page with the path; without one with the end that was refused, or the trees of a search that failed."""
    found = answer.found
    if isinstance(found, Plan) and found.path is None and found.refused is None:
        searches = [case for case in found.cases.values() if isinstance(case, Connection)]
        if not searches:
            print("nothing to show: no search for a motion was begun")
            return
        found = searches[-1]
        print(f"shown is a search for a motion that failed: {found}")
    trees = isinstance(found, Connection) and found.path is None and found.trees is not None
    with show(found, drawing=Drawing(shapes=answer.shapes), trees=trees) as view:
        for reason in view.missing:
            print(f"not drawn: {reason}")
        view.wait()
