"""Which engine solves: as it is given, or by its name."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from liegroups.arguments import expect

from ...errors import UnknownNameError
from ..engine import Engine
from ..newton.engine import NewtonEngine
from ..options import Options

if TYPE_CHECKING:
    from ...problem.problem import Problem


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


def solved_by(problem: Problem, options: Options | None = None, engine: Engine | None = None) -> str:
    """Which engine solves a problem, in words; why, where that is not the compiled one, and what it calls in Python.

    Args:
        problem: the problem.
        options: of the projection; the defaults if absent.
        engine: what solved it (`result.engine`); by default what a projector takes that is not told.

    Example:
        >>> from constraints import Implicit, Position, Problem
        >>> from constraints.models import sample_arm
        >>> arm = sample_arm()
        >>> solved_by(Problem(arm, [Implicit.equal(Position(arm, "tool"), [0.4, 0.1, 0.5])]))
        'the compiled engine'
    """
    if engine is not None and repr(engine) != repr(NewtonEngine()):
        return f"the compiled engine{_called(problem)}" if repr(engine) == "CompiledEngine()" else repr(engine)
    if USUAL == "readable":
        return "the readable engine, because numba is not installed (the extra `fast`)"
    from ..compiled.engine import why_not

    reason = why_not(problem, options)
    if reason is not None:
        return f"the readable engine, because the compiled one does not solve {reason}"
    if engine is not None:
        return "the readable engine, as was asked"
    return f"the compiled engine{_called(problem, options)}"


def _called(problem: Problem, options: Options | None = None) -> str:
    """What the compiled engine calls in Python, as it goes on."""
    from ..compiled.engine import called_in_python

    names = called_in_python(problem, options)
    return f", which calls {names} in Python" if names else ""


def cost_of_python(problem: Problem, engine: Engine, *, remedy: bool = False) -> str:
    """What the compiled engine spends in Python on a problem, in words; empty where that is nothing.

    Args:
        problem: the problem.
        engine: what solved it.
        remedy: whether they say too what to write instead of the functions that it calls.
    """
    if repr(engine) != "CompiledEngine()":
        return ""
    from ..compiled.calls import calls_of

    calls = calls_of(problem)
    if calls is None:
        return ""
    part = "part" if calls.share is None else f"{100.0 * calls.share:.0f} %"
    return f"{part} of the time in Python: {calls.names}{f'; {calls.remedy}' if remedy else ''}"


def engine_of_trials(problem: Problem, options: Options, engine: Engine) -> Engine | None:
    """The engine that goes on with a problem, and with parts of it: the readable one where that was asked for.

    Args:
        problem, options: what was solved, and how.
        engine: what solved it.

    Returns:
        None for the usual one.
    """
    asked = solved_by(problem, options, engine).endswith("as was asked")
    return engine if asked else None
