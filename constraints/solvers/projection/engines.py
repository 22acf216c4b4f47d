"""Which engine solves: as it is given, or by its name."""

from __future__ import annotations

from collections.abc import Callable

from liegroups.arguments import expect

from ...errors import UnknownNameError
from ..engine import Engine
from ..newton.engine import NewtonEngine


def _compiled() -> Engine:
    from ..compiled.engine import CompiledEngine  # on use: it is an extra

    return CompiledEngine()


ENGINES: dict[str, Callable[[], Engine]] = {"readable": NewtonEngine, "compiled": _compiled}
"""Engines by name."""


def as_engine(candidate: Engine | str | None) -> Engine:
    """An engine: itself, by its name, or the readable one where none is given.

    Raises:
        UnknownNameError: a name that no engine has.
        WrongObjectError: something else.
    """
    if candidate is None:
        return NewtonEngine()
    if isinstance(candidate, str):
        if candidate not in ENGINES:
            raise UnknownNameError("engine", candidate, tuple(ENGINES))
        return ENGINES[candidate]()
    return expect(candidate, Engine, "engine of a projector", "an Engine, 'readable' or 'compiled'")
