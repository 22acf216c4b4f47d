"""The result of a projection: a value."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Never, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import WrongObjectError
from ...exports import from_above
from ...keywords import FieldOf
from ...problem.description import (
    MISSED,
    active_bounds,
    errors_of,
    frozen_by_bounds,
    missed_by_outputs,
    targets_without_time,
)
from ...problem.problem import Problem
from ...problem.questions import asked_of_case
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...words import budget, counted, larger_budget
from ..engine import Engine, Outcome
from ..options import Options
from ..result import ByJoint
from ..status import Refined, Status, Step
from .engines import cost_of_python, solved_by

if TYPE_CHECKING:
    from ...certificates.certificate import Certificate
    from ...robot.bounds import Violation
    from ..diagnosis import Diagnosis, Sensitivity

LATE = 3.0
"""A projection that took so many times its limit says why."""


class Case(NamedTuple):
    """What was asked: all that a projection depends on.

    Attributes:
        problem, rhs, options: what was solved, and how.
        start: configuration (nq,) that was given.
        near: the reference (nq,) of `nearest` that was given; None where it was the start, or none was wanted.
        engine: what solved it.
    """

    problem: Problem
    rhs: RightHandSide
    options: Options
    start: Vector
    near: Vector | None
    engine: Engine


class Solved:
    """A case with its outcome, whose fields are properties: a projection, or the report of one.

    Attributes:
        case: what was asked.
        outcome: what the program gave.
    """

    case: Case
    outcome: Outcome

    q = FieldOf[Vector]("outcome.q", "Configuration (nq,), read-only: the solution, or the iterate of least residual.")
    status = FieldOf[Status]("outcome.status", "Why it ended.")
    iterations = FieldOf[int]("outcome.iterations", "Number of iterations: Jacobians with their steps, and restarts.")
    restarts = FieldOf[int]("outcome.restarts", "Number of restarts.")
    residual = FieldOf[float]("outcome.residual", "Largest error norm of a constraint at q.")
    trace = FieldOf[Sequence[Step] | None]("outcome.trace", "The iterates; None without `Options(trace=True)`.")

    refined = FieldOf[Refined | None](
        "outcome.refined", "How the solution was refined; None without `nearest` and `optimise_last`, and on failure."
    )
    problem = FieldOf[Problem]("case.problem", "The problem.")
    rhs = FieldOf[RightHandSide]("case.rhs", "Right-hand sides of its constraints.")
    options = FieldOf[Options]("case.options", "The options.")
    start = FieldOf[Vector]("case.start", "The given configuration (nq,).")
    near = FieldOf[Vector | None](
        "case.near", "The reference (nq,) that was given; None where it was the start, or none was wanted."
    )
    engine = FieldOf[Engine]("case.engine", "The engine that solved it.")


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Projection(Solved, ByJoint):
    """Result of a projection. After a failure q is the best iterate; nothing is raised and no input changed.

    It is neither true nor false (`if projection:` raises); `success` says whether it is a solution.

    Attributes:
        case: the input; its fields (`problem`, `rhs`, `options`, `start`, `near`, `engine`) are properties too.
        outcome: the result; its fields (`q`, `status`, `iterations`, `restarts`, `residual`, `trace`,
            `refined`) are properties too.
        seconds: computing time [s].
    """

    _joint_space: ClassVar[str] = "problem.space"

    case: Case
    outcome: Outcome
    seconds: float

    def __init__(self, case: Case, outcome: Outcome, seconds: float) -> None:
        fields: Any = self.__dict__  # half the time of a frozen dataclass's own `__init__`: 0.3 of 0.6 us
        fields["case"], fields["outcome"], fields["seconds"] = case, outcome, seconds

    @property
    def stationarity(self) -> float | None:
        r"""How far a refined solution is from a stationary point of its objective; None without refinement.

        .. math:: \min_{\lambda,\,\mu \ge 0} |g - A^T \lambda - C^T \mu|\; /\; |\bar g|

        with g the gradient of the objective by the free dofs, A the equality rows, C the active inequality rows and
        bounds; :math:`\bar g` are the terms whose sum is g: one each for free and for computed dofs, one for each row
        of an optional level. A distance that can be zero counts as zero within rounding. The value is at most
        `options.refine_tolerance` if the refinement finished, and larger if its iteration limit was reached or
        `optimise_last` could not gain more. The constraints are satisfied in any case.
        """
        return None if self.refined is None else self.refined.stationarity

    def error(self, constraint: RowOwner | str | int | None = None) -> Vector:
        """Errors of the rows that count, of all constraints or of one (the object, its position, or unique name).

        Raises:
            UndefinedError: a function has no value at q (status UNDEFINED).
        """
        return self.problem.error(self.q, constraint, self.rhs)

    @property
    def effort(self) -> str:
        """In words: the iterations and tries used, how to allow more, and how to learn more about a failure."""
        tries, most = counted(self.restarts + 1, "try"), self.options.max_iterations
        used = f"{budget(self.iterations, most)}, in {tries}{'' if self.options.restarts else ', without restarts'}"
        if self.success:
            return used
        if self.status is Status.TIME_LIMIT:
            limit = self.options.seconds or self.seconds
            late = f"as the limit of {limit:g} s is looked at between chunks of iterations"
            used += f" in {self.seconds:.2g} s, {late if self.seconds > LATE * limit else f'of {limit:g} s'}"
            used += "; more: `Options(seconds=...)`"
        elif self.iterations >= most:
            used += f"; more: `Options(max_iterations={larger_budget(most)})`"
        if self.status is not Status.UNDEFINED:
            return f"{used}; `diagnose()` says whether it is difficult or impossible"
        missed = missed_by_outputs(self.problem, self.q, self.rhs, self.options.threshold)
        if not missed:
            return f"{used}; `diagnose()` names the function"
        names = ", ".join(f"{explicit.name!r}" for explicit in missed)
        return f"{used}; the computed outputs of {names} do not satisfy it: {MISSED}"

    @property
    def active_bounds(self) -> tuple[str, ...]:
        """Joints at a bound or outside it, in the order of q, for example "elbow at its lower bound"."""
        return active_bounds(self.problem, self.q)

    @property
    def questions(self) -> tuple[str, ...]:
        """Numbers of the case that look like degrees or millimetres: of right-hand sides, start and near."""
        starts = {"start": self.start, "near": self.near}
        return tuple(asked_of_case(self.problem, self.rhs, starts, new=False))

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Coordinates outside their bounds."""
        return self.problem.bounds.violations(self.q)

    def singular_values(self) -> tuple[Vector, ...]:
        """Singular values of the Jacobian at q, for each level, largest first."""
        J, start = self.problem.jacobian(self.q, self.rhs), 0
        values: list[Vector] = []
        for level in self.problem.levels:
            block: Matrix = J[start : start + level.size]
            values.append(np.asarray(np.linalg.svd(block, compute_uv=False), dtype=np.float64))
            start += level.size
        return tuple(values)

    def sensitivity(self) -> Sensitivity:
        """First derivatives of q by right-hand sides, reference, start, and parameters of the problem.

        Raises:
            SensitivityError: they are not defined; see `Sensitivity`.
        """
        return from_above("Sensitivity")(self)

    def describe(self) -> str:
        """The result in words: status, which engine solved it, errors by constraint, active bounds."""
        lines = [f"solved by {solved_by(self.problem, self.options, self.engine)}"]
        lines += filter(None, [cost_of_python(self.problem, self.engine, remedy=True)])
        if self.status is not Status.UNDEFINED:
            lines += errors_of(self.problem, self.q, self.rhs, self.options.threshold)
        lines += self.questions
        return "\n".join([str(self), *(f"  {line}" for line in lines)])

    def certify(self, *, radius: float | None = None) -> Certificate:
        """Prove that an exact solution is near this result, and how far around it is the only one.

        Args:
            radius: within which it should be the only one; by default as large as can be shown.

        Raises:
            OptionError: a radius that is not positive.
        """
        return from_above("certify")(self.problem, self.q, self.rhs, radius=radius)

    def diagnose(self, *, iterations: int = 400, trials: int = 100, seed: int = 0) -> Diagnosis:
        """Find out why it failed: conflicts, redundant rows, what would help. Print the result, or read its data.

        After a failure, parts of the constraints are projected again: up to `trials` projections.

        Args:
            iterations: budget of each trial. "Cannot be satisfied" means: not with this budget.
            trials: largest number of trials.
            seed: seed of the restarts of the trials.

        Raises:
            OptionError: a budget that is not a positive whole number.
        """
        return from_above("diagnose")(self, iterations=iterations, trials=trials, seed=seed)

    def report(self, path: str | os.PathLike[str], certificate: Certificate | None = None) -> None:
        """Write the case to a JSON file: problem, start, right-hand sides, options, versions, and the result.

        `python -m constraints project FILE` repeats it and says whether the result is the same bit for bit; in Python,
        use `Report.load(path).reproduce()`.

        Args:
            path: the file.
            certificate: of this result (`certify`), which is kept with it and checked again when it is read.

        Raises:
            NotSavableError: a constraint is not data (a Python function, a Target), or the engine is user-defined;
                nothing is written.
            WrongObjectError: no certificate, or one of another configuration than `q`.
            FileError: the file cannot be written.
        """
        from_above("save_report")(self, path, certificate)

    def plot(self, path: str | os.PathLike[str] | None = None, ax: Any = None) -> Any:
        """Figure of the trace: residual by iteration, restarts and the threshold marked.

        Args:
            path: also write it there.
            ax: matplotlib axes to draw in; a new figure by default.

        Returns:
            The matplotlib figure (extra `plot`).

        Raises:
            OptionError: there is no trace; project with `Options(trace=True)`.
        """
        return from_above("plot_trace")(self, path, self.options.threshold, ax)

    def __iter__(self) -> Never:
        """Refused: a projection is one value, not a pair as of other solvers.

        Raises:
            WrongObjectError: names `q` and `success`.
        """
        raise WrongObjectError("unpacked value", "a sequence (a projection has `q`, `success`, `status`)", self)

    @property
    def _left(self) -> str:
        """What is left of the gradient of a refinement, in words, and whether it did not finish."""
        if self.refined is None:
            return ""
        tolerance, most = self.options.refine_tolerance, self.options.refine_iterations
        left, why = self.refined.left(tolerance), f"above `refine_tolerance` {tolerance:g}"
        if self.refined.near is None:
            why = f"all {most} `refine_iterations` used"
        return f", stationarity {self.refined.stationarity:.1g}{f', {left}: {why}' if left else ''}"

    def __str__(self) -> str:
        python = cost_of_python(self.problem, self.engine)
        timeless = f"; {python}" if python else ""
        timeless += "".join(f"; {words}" for words in targets_without_time(self.problem, self.rhs))
        if not self.success:
            frozen = frozen_by_bounds(self.problem, that_matter=True)
            frozen = f"; {frozen}" if frozen else ""
            return f"{self.status} (residual {self.residual:.3g}; {self.effort}{timeless}){frozen}"
        tries = f", {counted(self.restarts, 'restart')}" if self.restarts else ""
        spent = f"{counted(self.iterations, 'iteration')}{tries}{self._left}"
        return f"{self.status} (residual {self.residual:.3g}, {spent}{timeless})"

    __repr__ = __str__
