"""The compiled engine: the algorithm of `docs/solver.md` in kernels that run a packed problem."""

from __future__ import annotations

from typing import final

from liegroups import Space

from ...problem.problem import Problem
from ...robot import Robot
from ...rows.stack import Stack
from ..engine import Engine, Program
from ..evaluation import Evaluation
from ..options import Options


def why_not(problem: Problem, options: Options | None = None) -> str | None:
    """Why the compiled engine cannot solve a problem, and the readable engine does; None if it can.

    Args:
        problem: the problem.
        options: options of the projection; the defaults if absent.
    """
    from .packing import NotPacked
    from .problem import packed

    try:
        packed(problem, Options() if options is None else options)
    except NotPacked as reason:
        return str(reason)
    return None


def called_in_python(problem: Problem, options: Options | None = None) -> str:
    """Names of the functions that the kernels call in Python for a problem; empty where they call none.

    Args:
        problem: one that they solve.
        options: options of the projection; the defaults if absent.
    """
    from .calls import calls_of
    from .packing import NotPacked
    from .problem import packed

    calls = calls_of(problem)
    if calls is None:
        try:
            calls = packed(problem, Options() if options is None else options).calls
        except NotPacked:
            return ""
    return "" if calls is None else calls.names


@final
class CompiledEngine(Engine):
    """Newton projection by compiled kernels (extra `fast`); the readable engine solves what they cannot.

    `why_not(problem)` gives the reason. The kernels are compiled when they are needed, once per machine, and
    stored (`python -m constraints warm-up` does it beforehand).

    Raises:
        MissingExtraError: at the first problem, if numba is not installed.
    """

    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
        from .program import compiled

        return compiled(problem, options)

    def evaluation(self, where: Robot | Space, stack: Stack) -> Evaluation:
        """As `Engine.evaluation`: by the kernels, if possible."""
        from .evaluation import CompiledEvaluation

        return CompiledEvaluation(where, stack)

    def __repr__(self) -> str:
        return "CompiledEngine()"
