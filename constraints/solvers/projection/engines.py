"""Which engine solves: as it is given, or by its name."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from liegroups.arguments import expect

from ...errors import UnknownNameError
from ..engine import Engine
from ..newton.engine import NewtonEngine


def _compiled() -> Engine:
    from ..compiled.engine import CompiledEngine  # on use: it is an extra

    return CompiledEngine()


ENGINES: dict[str, Callable[[], Engine]] = {"readable": NewtonEngine, "compiled": _compiled}
"""Engines by name."""
USUAL = "readable" if find_spec("numba") is None else "compiled"
"""The engine where none is named: compiled where its extra is installed, whether its kernels are or not."""


def as_engine(candidate: Engine | str | None) -> Engine:
    """An engine: itself, by its name, or the usual one where none is given.

    Raises:
        UnknownNameError: a name that no engine has.
        WrongObjectError: something else.
    """
    name = USUAL if candidate is None else candidate
    if isinstance(name, str):
        if name not in ENGINES:
            raise UnknownNameError("engine", name, tuple(ENGINES))
        return ENGINES[name]()
    return expect(name, Engine, "engine of a projector", "an Engine, 'readable' or 'compiled'")
