"""Arguments of constraint graphs: sequences of objects of one kind, starts and guesses; names of HPP's graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Vector

from ..errors import DuplicateError, GraphError, WrongObjectError
from ..robot import Robot
from ..rows.row_owner import RowOwner
from ..solvers import Options
from ..solvers.options import LOCAL_ITERATIONS


def all_of(entries: Any, kind: Any, what: str, plural: str = "") -> tuple[Any, ...]:
    """A sequence of objects of one kind, as a tuple.

    Args:
        entries: the sequence.
        kind: of its entries; a type, or a tuple of some.
        what: the argument, as the user knows it.
        plural: what several of the kind are called; by default the name of the class.

    Raises:
        WrongObjectError: no sequence, or an entry of another kind, which is named.
    """
    expected = f"a sequence of {plural or f'{kind.__name__}s'}"
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise WrongObjectError(what, expected, entries)
    found: list[Any] = [*entries]
    return tuple(expect(entry, kind, what, expected) for entry in found)


def each_of(entries: Any, kind: type[Any], what: str, plural: str = "") -> tuple[Any, ...]:
    """The same, each of them once.

    Args:
        entries, kind, what, plural: as in `all_of`; the entries have names.

    Raises:
        WrongObjectError: no sequence, or an entry of another kind.
        DuplicateError: one object twice; it is named.
    """
    found = all_of(entries, kind, what, plural)
    for i, entry in enumerate(found):
        if any(entry is other for other in found[:i]):
            raise DuplicateError(f"{what}: {entry.name!r} is given twice (the same object)")
    return found


def as_owners(owners: Any, what: str) -> tuple[RowOwner, ...]:
    """Constraints, each once.

    Raises:
        WrongObjectError: no sequence, or an entry that is no constraint.
        DuplicateError: one constraint object twice.
    """
    return each_of(owners, RowOwner, what, "constraints")


def configurations(robot: Robot, Q_start: ArrayLike, Q: ArrayLike) -> list[tuple[Vector, Vector]]:
    """Starts and guesses, both (n, nq), each checked.

    Raises:
        WrongObjectError: no array of two axes.
        GraphError: not as many guesses as starts.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with one of them.
    """
    found: list[list[Vector]] = []
    for Q_of, what in ((Q_start, "Q_start"), (Q, "Q")):
        rows = np.asarray(Q_of)
        if rows.ndim != 2:
            raise WrongObjectError(what, f"configurations (n, {robot.nq})", f"an array of {rows.ndim} axes")
        found.append([robot.check(row, f"{what}[{i}]") for i, row in enumerate(rows)])
    starts, guesses = found
    if len(starts) != len(guesses):
        raise GraphError(f"expected as many guesses as starts, got {len(starts)} starts and {len(guesses)} guesses")
    return list(zip(starts, guesses, strict=True))


def graph_options(given: Options | None) -> Options:
    """Options of a graph, without a clock; by default with the budget of a single try: others draw another guess."""
    chosen = Options(max_iterations=LOCAL_ITERATIONS) if given is None else given
    return expect(chosen, Options, "options of a constraint graph", "Options").without_clock("of a constraint graph")


def path_options(chosen: Options) -> Options:
    """Options for paths: half the threshold, no restarts, no wrapping; the budget of a single try, or a chosen one."""
    local = Options.local(threshold=0.5 * chosen.threshold)
    if chosen.max_iterations == Options.max_iterations:  # the default of searches with restarts
        return local
    return replace(local, max_iterations=chosen.max_iterations)
