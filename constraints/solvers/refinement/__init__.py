"""Refinement of solutions: the nearest one, or the one that serves an optional last level best."""

from functools import partial

from ...problem.problem import Problem
from ..engine import Engine, Program
from ..options import Options


def refined(engine: Engine, problem: Problem, options: Options) -> Program:
    """What an engine makes of a problem, and around it a refinement or a time limit where the options ask for one.

    Args:
        engine: any.
        problem, options: what is solved, and how.

    Raises:
        OptionError: `optimise_last` without an optional last level.
    """
    if options.seconds is not None:
        from ..time_limit import TimedProgram  # on use, as below

        return TimedProgram(options.seconds, options, partial(engine.compile, problem))
    compiled = engine.compile(problem, options)
    if not (options.nearest or options.optimise_last):
        return compiled
    from .program import RefinedProgram  # on use: few problems ask for it

    return RefinedProgram(compiled, problem, options, engine)
