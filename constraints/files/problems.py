"""Problems in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from liegroups import Segments, Space
from liegroups.arrays import ArrayLike, Vector

from ..errors import ConstraintError, NotSavableError
from ..problem.problem import Problem
from ..robot import Robot
from ..words import counted
from .decoding import Decoder
from .documents import read_document, text_of, write_document
from .encoding import Encoder
from .json_values import MOST_COORDINATES, JsonValue
from .robots import bounds_on

_ENTRIES = ("shared", "where", "levels", "bounds", "weights", "frozen", "optional_last")


class PlanningTask(NamedTuple):
    """What a file asks for: a path on the constraints of a problem.

    Attributes:
        problem: the constraints.
        start, goal: configurations (nq,); None where the file has none.
    """

    problem: Problem
    start: Vector | None
    goal: Vector | None

    @property
    def aside(self) -> str:
        """What to say to whoever wants the problem alone; empty where the file has nothing else."""
        ends = " and ".join(name for name in ("start", "goal") if getattr(self, name) is not None)
        return f"left aside of the file: {ends}, for the command `plan`" if ends else ""


def save_problem(
    problem: Problem, path: str | os.PathLike[str], *, start: ArrayLike | None = None, goal: ArrayLike | None = None
) -> None:
    """Write a problem.

    Args:
        problem: the problem.
        path: the file.
        start, goal: configurations (nq,) for the command `plan`, and for `load_task`.

    Raises:
        NotSavableError: a constraint is not data; nothing is written.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with start or goal.
        FileError: the file cannot be written.
    """
    ends = {"start": start, "goal": goal}
    given = {name: problem.check(q, name).tolist() for name, q in ends.items() if q is not None}
    write_document(path, "problem", problem_data(problem) | given)


def load_problem(path: str | os.PathLike[str]) -> Problem:
    """Read a problem.

    Raises:
        FileError: the file does not exist, cannot be read, or is from a later version.
        FileContentError: its content is wrong; the message names the place in the file.
    """
    return load_task(path).problem


def load_task(path: str | os.PathLike[str]) -> PlanningTask:
    """Read a problem, and the start and goal that its file may have: numbers, or the name of a reference posture.

    Raises:
        FileError, FileContentError: as `load_problem`.
    """
    return task_from_data(read_document(path, "problem")[1])


def task_from_data(data: JsonValue) -> PlanningTask:
    """The problem of a document that `read_document` has opened, with start and goal."""
    problem = problem_from_data(data.without("start", "goal"))
    ends = data.those({name: lambda entry: _end(entry, problem) for name in ("start", "goal")})
    return PlanningTask(problem, ends.get("start"), ends.get("goal"))


def _end(entry: JsonValue, problem: Problem) -> Vector:
    """A configuration (nq,)."""
    if entry.holds(str) and problem.robot is not None:
        return entry.build(problem.robot.reference, entry.text())
    return np.array(entry.build(problem.check, entry.vector(problem.space.nq), "configuration"))


def problem_data(problem: Problem) -> dict[str, Any]:
    """A problem as data, proved by building it again: the data of the second problem are the same.

    Raises:
        NotSavableError: it is not data, or not what a file can say.
    """
    data = _data(problem)
    try:
        again = _data(problem_from_data(JsonValue("the file", "$", data)))
    except NotSavableError:
        raise
    except ConstraintError as error:
        raise NotSavableError("the problem", f"it could not be read back: {error}") from error
    if text_of(again) != text_of(data):
        where, before, after = next(_differences(data, again))
        raise NotSavableError(
            "the problem",
            f"the problem read back from the file would differ at {where}: {before!r}, then {after!r}; a class keeps "
            "what it is given, and what it derives from that is another field, `field(init=False)`",
        )
    return data


def _differences(a: Any, b: Any, where: str = "$") -> Iterator[tuple[str, Any, Any]]:
    """Where two data differ, and what they have there."""
    kinds: set[type] = {type(a), type(b)}
    if kinds == {dict} and a.keys() == b.keys():
        for name in a:
            yield from _differences(a[name], b[name], f"{where}.{name}")
    elif kinds == {list} and len(a) == len(b):
        for i, pair in enumerate(zip(a, b, strict=True)):
            yield from _differences(*pair, f"{where}[{i}]")
    elif text_of({"": a}) != text_of({"": b}):
        yield where, a, b


def problem_from_data(data: JsonValue) -> Problem:
    """The problem of `problem_data`."""
    data.only(*_ENTRIES)
    decoder = Decoder(data.entry("shared"))
    where: Robot | Space = decoder.where(data.entry("where"))
    space = where.space if isinstance(where, Robot) else where
    levels = [[decoder.constraint(item) for item in level.items()] for level in data.entry("levels").items(1000)]
    readers: dict[str, Callable[[JsonValue], Any]] = {
        "bounds": bounds_on(space).read,
        "weights": lambda entry: _weights(entry, space),
        "frozen": lambda entry: entry.build(Segments.coordinates, space, entry.integers(0, MOST_COORDINATES)),
        "optional_last": JsonValue.flag,
    }
    return data.build(Problem, where, levels, **data.those(readers))


def _weights(data: JsonValue, space: Space) -> Any:
    """Costs of all columns, or of those that are not null."""
    items = data.items()
    if len(items) != space.nv:
        data.refuse(f"expected {counted(space.nv, 'number')}, got {len(items)}")
    costs = {i: item.number() for i, item in enumerate(items) if item.value is not None}
    if len(costs) == len(items):
        return np.array(list(costs.values()))
    return {data.build(Segments.coordinates, space, list(costs)): list(costs.values())}


def _data(problem: Problem) -> dict[str, Any]:
    _, (where, levels, options) = problem.__reduce__()  # what it was built of
    encoder = Encoder()
    data: dict[str, Any] = {
        "where": encoder.robot(where) if isinstance(where, Robot) else encoder.space(where),
        "levels": [[encoder.constraint(owner, problem.space) for owner in level] for level in levels],
    }
    if options["bounds"] is not None:
        data["bounds"] = bounds_on(problem.space).write(problem.bounds)
    if options["weights"] is not None:
        data["weights"] = [
            w if has_cost else None for w, has_cost in zip(problem.weights.tolist(), problem.has_cost, strict=True)
        ]
    if problem.frozen.any():
        data["frozen"] = np.flatnonzero(problem.frozen).tolist()
    if options["optional_last"]:
        data["optional_last"] = True
    return encoder.finish(data)
