"""The readable engine, in Python, numpy and LAPACK: the default, and the oracle of others."""

from __future__ import annotations

from functools import partial
from typing import final

from ...errors import WrongObjectError
from ...keywords import can_be_called
from ...problem.merging import explicits_as_rows
from ...problem.problem import Problem
from ..engine import Engine, Program
from ..options import Options
from .computed_bodies import BringBack, ComputedBodies
from .linear_step import DampedCholesky, LinearStep
from .program import NewtonProgram


@final
class NewtonEngine(Engine):
    """Newton projection with damped steps, priority levels, saturated bounds and restarts.

    Args:
        step: class that computes the direction of descent; damped least squares by default.

    Attributes:
        step: as given.

    Raises:
        WrongObjectError: not a subclass of LinearStep.
    """

    def __init__(self, step: type[LinearStep] = DampedCholesky) -> None:
        if not (isinstance(step, type) and issubclass(step, LinearStep)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError("linear step of an engine", "a class that is a LinearStep", step)
        if not can_be_called(step, 6, None):
            raise WrongObjectError("linear step of an engine", f"a class made by {step.__name__}(rows, weights)", step)
        if not can_be_called(step.solve, None, None, None, 0.0, None):
            words = f"{step.__name__}.solve(self, e, J, mu, root=None)"
            raise WrongObjectError("linear step of an engine", f"a class with {words}", step)
        self.step = step

    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
        problem = problem if self.step.resolves else explicits_as_rows(problem)
        computed = ComputedBodies(problem, options.threshold)
        if not computed:
            return NewtonProgram(problem, options, self.step)
        evaluation = self.evaluation(problem.robot or problem.space, problem.constraints)
        strict = partial(NewtonProgram, options=options, step=self.step)
        return NewtonProgram(problem, options, self.step, BringBack(problem, options, computed, strict, evaluation))

    def __repr__(self) -> str:
        return f"NewtonEngine({self.step.__name__})"
