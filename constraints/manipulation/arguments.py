"""Arguments of constraint graphs: sequences of objects of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liegroups.arguments import expect

from ..errors import DuplicateError, WrongObjectError
from ..rows.row_owner import RowOwner


def all_of(entries: Any, kind: type[Any], what: str, plural: str = "") -> tuple[Any, ...]:
    """A sequence of objects of one kind, as a tuple.

    Args:
        entries: the sequence.
        kind: of its entries.
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

    Args:
        owners: a sequence of constraints.
        what: the argument, as the user knows it.

    Raises:
        WrongObjectError: no sequence, or an entry that is no constraint.
        DuplicateError: one constraint object twice.
    """
    return each_of(owners, RowOwner, what, "constraints")
