"""Problems in files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from liegroups import Segments, Space

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


def save_problem(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Write a problem.

    Raises:
        NotSavableError: a constraint is not data; nothing is written.
        FileError: the file cannot be written.
    """
    write_document(path, "problem", problem_data(problem))


def load_problem(path: str | os.PathLike[str]) -> Problem:
    """Read a problem.

    Raises:
        FileError: the file does not exist, cannot be read, or is from a later version.
        FileContentError: its content is wrong; the message names the place in the file.
    """
    _, data = read_document(path, "problem")
    return problem_from_data(data)


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
        raise NotSavableError("the problem", "the problem read back from the file would differ")
    return data


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
