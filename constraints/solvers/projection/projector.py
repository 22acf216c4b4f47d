"""The projector: the door through which configurations are put onto constraints."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np

from liegroups import Space
from liegroups.arguments import expect, is_float64
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only_copy

from ...errors import OperatorError, OptionError
from ...keywords import closed
from ...problem.description import targets_without_time
from ...problem.problem import Problem
from ...problem.questions import asked_of_case, asked_of_start
from ...problem.tangent import kept_velocities
from ...questions import TURN, say
from ...robot import Robot
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...workspace import Pool, Workspace
from ..engine import Engine, LeafProgram, new_tuple
from ..options import Options
from ..refinement import refined
from ..status import Status
from .batch import Progress, ProjectionBatch, project_batch
from .batch_arguments import BatchRightHandSides, starts_of
from .engines import as_engine, solved_by
from .projection import Case, Projection
from .workers import Job

_log = logging.getLogger(__package__)
_CONVERGED = Status.CONVERGED

ASKED_AT_MOST = 20
"""Number of failures of a projector that are looked at for numbers that seem to be degrees or millimetres."""


@final
@closed("make a new one, Projector(problem, options)", problem="make a new one, Projector(problem)")
class Projector:
    """Projects configurations onto the constraints of a problem. Immutable; safe to share between threads.

    Args:
        problem: the constraints.
        options: the defaults are for queries from any start, `Options.local()` for steps of a planner.
        engine: "compiled" (the default if the extra `fast` is installed; the readable engine solves what it cannot,
            and `why_not(problem)` says why), "readable" (the default otherwise), or an Engine.

    Attributes:
        problem, options, engine: as given.
        program: the problem made ready, which rooms above ask for more than projections.

    Raises:
        WrongObjectError: an argument has the wrong type.
        OptionError: an option was given as an argument; the message shows `Options(...)`.
        UnknownNameError: no engine has this name.
        MissingExtraError: the compiled engine was requested, but numba is not installed.

    Example:
        >>> import numpy as np
        >>> from liegroups import Rn
        >>> from constraints import Function, Implicit, Problem, Projector
        >>> circle = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="circle")
        >>> result = Projector(Problem(Rn(2), [Implicit.zero(circle)])).project([3.0, 4.0])
        >>> bool(np.abs(result.q - [0.6, 0.8]).max() < 1e-4)
        True
    """

    def __init__(self, problem: Problem, options: Options | None = None, engine: Engine | str | None = None) -> None:
        words = "a Problem, as in Projector(Problem(robot, constraints)); for a mechanism, mechanism.problem()"
        self.problem = expect(problem, Problem, "problem of a projector", words)
        self.options = Options() if options is None else expect(options, Options, "options of a projector", "Options")
        self.engine = as_engine(engine)
        self.program = refined(self.engine, self.problem, self.options)
        self._solver = self.program.engine or self.engine
        self._evaluation = self.engine.evaluation(problem.robot or problem.space, problem.constraints)
        self._checked_there, self._shape = self.program.checks_starts, (problem.space.nq,)
        self._rows_tell = not (problem.optional_last or problem.resolution.has_branches)  # the former may be undefined
        self._pool = Pool(Workspace)
        self._job = Job(self.problem, self.options, self.engine, self.program)
        self._unseen, self._unasked = True, ASKED_AT_MOST
        self._timed = any(owner.target is not None for owner in problem.constraints)  # until it was said
        self._watches = True  # one look for both, where calls are of microseconds

    def project(
        self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None, near: ArrayLike | None = None
    ) -> Projection:
        """Project a configuration onto the constraints.

        A q that satisfies every constraint and its bounds is returned bit for bit, with CONVERGED and 0 iterations.

        Args:
            q: start (nq,); not changed.
            rhs: right-hand sides; those of the constraints if absent.
            near: with `Options(nearest=True)`, the configuration (nq,) that the solution shall be near; by default the
                start. If it satisfies everything, it is the solution.

        Returns:
            The solution; or, after a failure, the iterate of least residual with the status that says why.

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with q, rhs or near.
            OptionError: `near` without `Options(nearest=True)`; an option, which belongs to the projector.
            RightHandSideError: a right-hand side on a row that takes none.
        """
        if self._checked_there and is_float64(q) and q.shape == self._shape:
            q0 = q.copy()
        else:
            q0 = self.problem.space.check(q, "q").copy()
        if self._watches:
            self._look(q0, rhs is None)
        sides = self.problem.rhs if rhs is None else self.problem.check_rhs(rhs)
        reference = None if near is None else self._reference(near)
        free = self._pool.free  # as `take` and `give`, in 0.15 us less
        try:
            workspace = free.pop()
        except IndexError:
            workspace = Workspace()
        found = self.project_valid(q0, sides, workspace, reference)
        free.append(workspace)
        if found.outcome.status is not _CONVERGED and self._unasked:
            self._ask(found)
        return found

    if not TYPE_CHECKING:

        def __call__(self, *_: object, **__: object) -> NoReturn:
            """Refused: the method has a name."""
            raise OperatorError("projector(q)", "use projector.project(q)")

    def project_valid(
        self, q0: Vector, sides: RightHandSide, workspace: Workspace, reference: Vector | None = None
    ) -> Projection:
        """As `project`, without checking the arguments, in a workspace of the caller.

        Args:
            q0: start (nq,), a point of the space; it becomes part of the result and read-only.
            sides: right-hand sides of this problem object.
            workspace: memory of the projection, not used by others at the same time.
            reference: `near` of `project`.
        """
        began = perf_counter()
        outcome = self.program.run(q0, sides, workspace, reference)
        seconds = perf_counter() - began
        outcome.q.setflags(False)  # pyright: ignore[reportCallIssue]  # by position: 0.1 us less each than by name
        q0.setflags(False)  # pyright: ignore[reportCallIssue]
        case: Case = new_tuple(Case, (self.problem, sides, self.options, q0, reference, self._solver))
        return Projection(case, outcome, seconds)

    def project_from_leaf(
        self, program: LeafProgram, leaf: Vector, q0: Vector, workspace: Workspace
    ) -> Projection | None:
        """As `project_valid` from q0, onto the leaf of a configuration; None where the program gives nothing.

        Args:
            program: of `program.from_leaf`.
            leaf, q0, workspace: as for `LeafProgram.run`; q0 becomes part of the result and read-only.
        """
        began = perf_counter()
        found = program.run(leaf, q0, workspace)
        if found is None:
            return None
        outcome, sides = found
        seconds = perf_counter() - began
        outcome.q.setflags(False)  # pyright: ignore[reportCallIssue]
        q0.setflags(False)  # pyright: ignore[reportCallIssue]
        case: Case = new_tuple(Case, (self.problem, sides, self.options, q0, None, self._solver))
        return Projection(case, outcome, seconds)

    def project_batch(
        self,
        Q: ArrayLike,
        rhs: BatchRightHandSides | None = None,
        executor: Executor | None = None,
        chunk: int | None = None,
        progress: Progress | None = None,
        near: ArrayLike | None = None,
    ) -> ProjectionBatch:
        """Project many configurations onto the constraints, in this process or on the workers of an executor.

        Each row is bit for bit the result of `project`, independent of chunks and workers. A failed row has its
        status. The problem is pickled once, and each worker unpickles it once. An interruption (Ctrl-C) raises
        `BatchInterrupted`, a KeyboardInterrupt with the rows that were done: without an executor within 0.3 s; with
        one, the chunks that have not begun are cancelled, and it stays usable.

        Args:
            Q: starts (n, nq), one configuration per row; not changed.
            rhs: right-hand sides: one for all rows (a RightHandSide, or its flat vector), or one per row (a sequence
                of n RightHandSides, or their flat vectors (n, size)); those of the constraints if absent.
            executor: any `concurrent.futures.Executor`: threads, processes, loky, Dask's `client.get_executor()`,
                `mpi4py.futures.MPIPoolExecutor`; it is not shut down. Without one, this process solves all rows.
            chunk: rows per task; by default 32 tasks of at most 1000 rows. The compiled engine has fewer tasks, of 128
                rows or more, and threads of one process take rows from each other.
            progress: True for a bar (tqdm, extra `parallel`), or a function of (rows done, all rows), called in this
                process after each chunk.
            near: reference of `Options(nearest=True)`: one configuration (nq,), or one per row (n, nq); by default
                each start.

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError, BatchRowError: what is wrong with Q, rhs or near,
                raised before any work; the message has the index of a bad row.
            BatchInterrupted: Ctrl-C; of threads that share rows, a plain KeyboardInterrupt.
            ExecutorError: a worker died, or the executor was shut down.
            NotPicklableError: the problem cannot be sent to other processes.
            OptionError: `near` without `Options(nearest=True)`; an option, which belongs to the projector.

        Example:
            >>> from liegroups import Rn
            >>> from constraints import Function, Implicit, Problem, Projector
            >>> circle = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q)
            >>> projector = Projector(Problem(Rn(2), [Implicit.zero(circle)]))
            >>> projector.project_batch([[3.0, 4.0], [0.0, 0.5]])
            ProjectionBatch(2 rows: 2 CONVERGED; largest residual of a success ...)
        """
        self._check_near(near)
        if rhs is None and self._timed:
            self._say_time()
        batch = project_batch(self._job, Q, rhs, executor, chunk, progress, near)
        if self._unasked:
            failed, starts = ~batch.success, batch.starts
            if self._unseen and max(starts.max(initial=0.0), -starts.min(initial=0.0)) > TURN:
                failed = failed | (np.abs(starts) > TURN).any(axis=1)
            rows = np.flatnonzero(failed)
            if rows.size:
                self._ask(batch[int(rows[0])])
        return batch

    def _reference(self, near: ArrayLike) -> Vector:
        """What solutions shall be near to, checked."""
        self._check_near(near)
        reference = read_only_copy(self.problem.space.check(near, "near"))  # the result holds it
        if self._unasked and say(_log, asked_of_start(self.problem.bounds, self.problem.revolute, "near", reference)):
            self._unasked = 0
        return reference

    def _check_near(self, near: ArrayLike | None) -> None:
        if near is not None and not self.options.nearest:
            raise OptionError("'near' needs Options(nearest=True); give the projector this option")

    def _look(self, q0: Vector, default: bool) -> None:
        """Ask about a start far out of its bounds: of the first, and where solutions shall be near to it of all.

        Args:
            q0: the start.
            default: whether the right-hand sides are those of the constraints, whose time may have to be said.
        """
        if default and self._timed:
            self._say_time()
        if self._unseen:
            said = say(_log, asked_of_start(self.problem.bounds, self.problem.revolute, "start", q0))
            self._unseen = self.options.nearest and not said
            self._unasked = 0 if said else self._unasked
        self._watches = self._unseen or self._timed

    def _ask(self, found: Projection) -> None:
        """Ask about the numbers of a projection that failed: once, and of so many."""
        starts = {"start": found.start if self._unseen else None, "near": found.near}
        said = say(_log, asked_of_case(self.problem, found.rhs, starts, new=True))
        self._unasked = 0 if said else self._unasked - 1

    def _say_time(self) -> None:
        """Say once that targets are read where their time begins."""
        self._timed = False
        for words in targets_without_time(self.problem, self.problem.rhs):
            _log.warning("no right-hand sides were given: %s", words)

    def one_step(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Vector:
        """The configuration after one step of the solver, even if its error is larger.

        Args:
            q: start (nq,); before the step it is clamped to its bounds and its outputs are computed.
            rhs: right-hand sides; those of the constraints if absent.

        Raises:
            UndefinedError: a function has no value there.
        """
        q0, sides = self.problem.space.check(q, "q").copy(), self.problem.check_rhs(rhs)
        return self.program.step(q0, sides, Workspace())

    def is_satisfied(
        self, q: ArrayLike, constraint: RowOwner | str | int | None = None, rhs: RightHandSide | ArrayLike | None = None
    ) -> bool:
        """Whether q satisfies every constraint and its bounds, or one constraint, to the threshold of the options."""
        if constraint is not None:
            return self.problem.is_satisfied(q, constraint, rhs, self.options.threshold)
        return self.residual(q, rhs) <= self.options.threshold and self.problem.bounds.contains(self.problem.check(q))

    # Evaluation, for planners: what the methods of the problem say, by the engine.

    def error(
        self, q: ArrayLike, constraint: RowOwner | str | int | None = None, rhs: RightHandSide | ArrayLike | None = None
    ) -> Vector:
        """As `problem.error(q, constraint, rhs)`: signed, scaled errors of the rows that count; of all, or of one."""
        if constraint is not None:
            return self.problem.error(q, constraint, rhs)
        q, sides, workspace = self.problem.check(q), self.problem.check_rhs(rhs), self._pool.take()
        error = self._evaluation.rows(q, sides, workspace, jacobian=False).error.copy()
        self._pool.give(workspace)
        return error

    def residual(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> float:
        """As `problem.residual(q, rhs)`: largest error norm of a constraint at q, which is not changed."""
        if not self._rows_tell:
            return self.problem.residual(q, rhs)
        q, sides, workspace = self.problem.check(q), self.problem.check_rhs(rhs), self._pool.take()
        residual = self._evaluation.rows(q, sides, workspace, jacobian=False).residual
        self._pool.give(workspace)
        return residual

    def residuals(self, Q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Vector:
        """As `residual` of each row (n,) of configurations (n, nq)."""
        rows, sides, workspace = starts_of(self.problem.space, Q), self.problem.check_rhs(rhs), self._pool.take()
        if self._rows_tell:
            residuals = self._evaluation.residuals(rows, sides, workspace)
        else:
            residuals = np.array([self.problem.residual(q, sides) for q in rows])
        self._pool.give(workspace)
        return residuals

    def jacobian(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        """As `problem.jacobian(q, rhs)`: (rows that count, nv), derivatives of the errors."""
        q, sides, workspace = self.problem.check(q), self.problem.check_rhs(rhs), self._pool.take()
        jacobian = self._evaluation.rows(q, sides, workspace).jacobian.copy()
        self._pool.give(workspace)
        return jacobian

    def tangent_basis(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        """As `problem.tangent_basis(q, rhs)`: (nv, dimension), velocities that keep all mandatory errors."""
        if self.problem.optional_last:  # which may be undefined
            return self.problem.tangent_basis(q, rhs)
        return kept_velocities(self.problem, self.jacobian(q, rhs))

    def __repr__(self) -> str:
        engine = solved_by(self.problem, self.options, self._solver)
        return f"Projector({self.problem!r}, {self.options}), solved by {engine}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Projector, (self.problem, self.options, self.engine)


def kept_projector(problem: Problem, options: Options) -> Projector:
    """A projector, kept by the robot of its problem for who asks again: to make one takes a millisecond.

    Args:
        problem: the constraints.
        options: of the projector.
    """
    make = partial(Projector, problem, options)
    if problem.robot is None:
        return make()
    kept: Projector = problem.robot.kept.get(("projector", problem, options), make)
    return kept


def project(
    where: Robot | Space, constraints: Sequence[RowOwner], q: ArrayLike, options: Options | None = None
) -> Projection:
    """Project one configuration onto constraints.

    Args:
        where: the robot, or a space.
        constraints: constraints, or lists of constraints by level.
        q: start (nq,).
        options: options of the projector.

    Returns:
        The projection. For many configurations make a `Projector` once and reuse it.

    Raises:
        OptionError: an option was given as an argument; the message shows `Options(...)`.
    """
    return Projector(Problem(where, constraints), options).project(q)
