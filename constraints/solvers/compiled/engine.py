"""The compiled engine: the algorithm of `docs/solver.md` in kernels that run a packed problem."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...workspace import Workspace
from ..engine import Engine, Outcome, Program
from ..newton.engine import NewtonEngine
from ..options import Options
from ..status import Status
from . import layout
from .packing import NotPacked
from .problem import packed

STATUSES = {
    layout.CONVERGED: Status.CONVERGED,
    layout.STALLED: Status.STALLED,
    layout.MAX_ITERATIONS_SPENT: Status.MAX_ITERATIONS,
    layout.STATIONARY: Status.STATIONARY,
    layout.OUT_OF_BOUNDS: Status.OUT_OF_BOUNDS,
    layout.UNDEFINED: Status.UNDEFINED,
}


def why_not(problem: Problem, options: Options | None = None) -> str | None:
    """What the compiled engine does not solve of a problem, so that the readable one does; None where it solves it.

    Args:
        problem: the problem.
        options: of the projection; the defaults if absent.
    """
    try:
        packed(problem, Options() if options is None else options)
    except NotPacked as reason:
        return str(reason)
    return None


@final
class CompiledEngine(Engine):
    """Newton projection by compiled kernels (extra `fast`); problems that it does not solve get the readable engine.

    `why_not(problem)` names what is in the way.
    """

    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
        try:
            return CompiledProgram(problem, options)
        except NotPacked:
            return NewtonEngine().compile(problem, options)

    def __repr__(self) -> str:
        return "CompiledEngine()"


@final
class CompiledProgram(Program):
    """A packed problem.

    Args:
        problem: what is solved.
        options: how.

    Raises:
        NotPacked: something that the compiled engine does not solve.
    """

    def __init__(self, problem: Problem, options: Options) -> None:
        from .kernels.entry import project_rows

        self.problem, self.options = problem, options
        self._integers, self._floats, self._work = packed(problem, options)
        self._run = project_rows

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """As `Program.run`."""
        memory: _Memory = workspace.resource(self, "memory", _Memory, self._work, q0.size)
        end: Matrix = np.empty((1, q0.size))
        memory.start[0] = q0
        sides = _NOTHING
        if rhs is not memory.rhs:
            memory.rhs, sides = rhs, rhs.vector[None].copy()
        self._run(self._integers, self._floats, memory.work, memory.start, sides, end, memory.figures)
        status, iterations, restarts, residual = memory.figures[0].tolist()
        return Outcome(end[0], STATUSES[int(status)], int(iterations), int(restarts), residual, None)

    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """As `Program.step`, by the readable engine."""
        return NewtonEngine().compile(self.problem, self.options).step(q0, rhs, workspace)


_NOTHING: Any = np.zeros((0, 1))


@final
class _Memory:
    """What a worker writes into."""

    __slots__ = ("figures", "rhs", "start", "work")

    def __init__(self, work: Vector, nq: int) -> None:
        self.work, self.start, self.figures = work.copy(), np.zeros((1, nq)), np.zeros((1, 4))
        self.rhs: RightHandSide | None = None
