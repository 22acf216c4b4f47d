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
    """What keeps the compiled engine from solving a problem, so that the readable one does; None where nothing does.

    Args:
        problem: the problem.
        options: of the projection; the defaults if absent.
    """
    from .packing import NotPacked
    from .problem import packed

    try:
        packed(problem, Options() if options is None else options)
    except NotPacked as reason:
        return str(reason)
    return None


@final
class CompiledEngine(Engine):
    """Newton projection by compiled kernels (extra `fast`); what they do not solve is left to the readable engine.

    `why_not(problem)` names what is in the way. The kernels are compiled once on a machine, in about a minute, and
    kept (`python -m constraints warm-up` does it beforehand).

    Raises:
        MissingExtraError: at the first problem, where numba is not installed.
    """

    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
        from .program import compiled

        return compiled(problem, options)

    def evaluation(self, where: Robot | Space, stack: Stack) -> Evaluation:
        """As `Engine.evaluation`: by the kernels, where they can."""
        from .evaluation import CompiledEvaluation

        return CompiledEvaluation(where, stack)

    def __repr__(self) -> str:
        return "CompiledEngine()"
