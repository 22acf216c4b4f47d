"""Engines: what turns a problem into a program, and runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from liegroups.arrays import Vector

from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide
from ..workspace import Workspace
from .options import Options
from .status import Refined, Status, Step

__all__ = ["Engine", "Outcome", "Program"]


class Outcome(NamedTuple):
    """What a program gives back: plain data.

    Attributes:
        q: solution or best iterate (nq,).
        status: why it ended.
        iterations, restarts: how many.
        residual: largest error norm of a constraint at q.
        trace: the iterates, if asked for.
        refined: how the solution was refined, if it was.
    """

    q: Vector
    status: Status
    iterations: int
    restarts: int
    residual: float
    trace: tuple[Step, ...] | None
    refined: Refined | None = None


class Program(ABC):
    """A problem made ready to be solved many times. Immutable: what changes is in the workspace."""

    @abstractmethod
    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """Project one configuration.

        Args:
            q0: start (nq,), checked; not changed.
            rhs: right-hand sides, of this problem.
            workspace: memory of this worker.
            near: what `Options(nearest=True)` is near to (nq,), checked; the start if absent. Others leave it unread.
        """

    @abstractmethod
    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """One step from a configuration: clamp, resolve, step, resolve again; whatever it does to the error.

        Args:
            q0, rhs, workspace: as for `run`.

        Raises:
            UndefinedError: a function has no value there.
        """


class Engine(ABC):
    """Compiles problems to programs. The readable one, in Python and numpy, is the default and the oracle of others."""

    @abstractmethod
    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
