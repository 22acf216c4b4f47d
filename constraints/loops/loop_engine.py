"""The engine of long chains and of free coordinates: step-limited Newton on sparse rows, or with zero costs."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only_copy

from ..errors import UndefinedError
from ..linear_algebra import RANK_TOLERANCE
from ..point import Point, place
from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide
from ..solvers.engine import Engine, Outcome, Program
from ..solvers.newton.linear_step import capped
from ..solvers.newton.state import Patience
from ..solvers.options import Options
from ..solvers.status import Status, Step
from ..workspace import Workspace
from .sparse_rows import SparseRows, entries

__all__ = ["LoopEngine", "LoopProgram", "least_change", "sparse_pays"]

SPARSE_FROM = 80
"""From this many columns on, a sparse factorisation is faster where at most `SPARSE_DENSITY` of the entries count."""
SPARSE_DENSITY = 0.15
STATIONARY_RATIO = 0.02


def sparse_pays(problem: Problem) -> bool:
    """Whether the rows of a problem are many and sparse enough for a sparse factorisation."""
    stack = problem.constraints
    return problem.space.nv >= SPARSE_FROM and entries(stack) <= SPARSE_DENSITY * stack.size * problem.space.nv


@final
class LoopEngine(Engine):
    """Compiles problems to `LoopProgram`: one level, no bounds, explicit constraints by their twins.

    Args:
        is_sparse: sparse or dense linear algebra; None decides by `sparse_pays`.
    """

    def __init__(self, is_sparse: bool | None = None) -> None:
        self.is_sparse = is_sparse

    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
        return LoopProgram(problem, options, sparse_pays(problem) if self.is_sparse is None else self.is_sparse)


@final
class LoopProgram(Program):
    r"""Damped, step-limited Newton. The step is the least in the costs W, of which any may be zero.

    Sparse: the system

    .. math:: \begin{pmatrix} W & J^T \\ J & -\mu I \end{pmatrix} \begin{pmatrix} d \\ y \end{pmatrix}
        = \begin{pmatrix} 0 \\ -e \end{pmatrix}

    by a sparse factorisation; its band is as wide as a loop, and a cost of zero counts as 1e-6 of the least. Dense: by
    singular values (`least_change`), where zero is zero.

    Args:
        problem: what is solved.
        options: how.
        is_sparse: which linear algebra.
    """

    def __init__(self, problem: Problem, options: Options, is_sparse: bool) -> None:
        self.problem, self.options, self.is_sparse = problem, options, is_sparse
        self._moving = np.flatnonzero(~problem.frozen)
        self._rows = SparseRows(problem.constraints, ~problem.frozen)
        positive = problem.weights[problem.weights > 0.0]  # as the projector scales them: damping is relative to costs
        self._weights = problem.weights[self._moving] / positive.mean()
        self._least = 1e-6 * float(positive.min() / positive.mean())
        self._held = ~np.isin(np.arange(problem.space.nq), _coordinates(problem))
        if is_sparse:
            self._pattern()

    def _pattern(self) -> None:
        """Where each entry of the system goes, in the order of its compressed columns."""
        m, n = self._rows.shape
        i = np.concatenate([np.arange(n), self._rows.columns, n + self._rows.rows, n + np.arange(m)])
        j = np.concatenate([np.arange(n), n + self._rows.rows, self._rows.columns, n + np.arange(m)])
        order = np.lexsort((i, j))
        self._order, self._indices = order, i[order].astype(np.int32)
        self._pointers = np.searchsorted(j[order], np.arange(n + m + 1)).astype(np.int32)

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """As `Program.run`."""
        options = self.options
        error, data = np.empty(self._rows.shape[0]), np.empty(self._rows.rows.size)
        best, least, status = q0, np.inf, Status.MAX_ITERATIONS
        trace: list[Step] | None = [] if options.trace else None
        patience, q, iterations = Patience(options.patience_ratio, options.patience_count), q0, 0
        point: Point | None = None
        try:
            while True:
                point = self._place(point, q, workspace)
                self._rows.evaluate(point, rhs, error, data)
                residual = self._rows.residual(error)
                if not residual < np.inf:
                    raise UndefinedError("a constraint has an error that is not finite")
                if trace is not None:
                    trace.append(Step(read_only_copy(q), residual, False))
                if residual < least:
                    best, least = q, residual
                if residual <= (options.threshold if iterations == 0 else 0.5 * options.threshold):
                    break
                if patience.is_over([residual]):
                    status = Status.STALLED
                    break
                if iterations >= options.max_iterations:
                    break
                iterations += 1
                q = self._integrate(q, self._step(error, data))
        except UndefinedError:
            status = Status.UNDEFINED
        if least <= options.threshold:
            status = Status.CONVERGED
        elif status is not Status.UNDEFINED:
            self._rows.evaluate(self._place(point, best, workspace), rhs, error, data)
            gradient = self._rows.matrix(data).T @ error
            if float(gradient @ gradient) <= STATIONARY_RATIO**2 * float(error @ error):
                status = Status.STATIONARY
        kept = None if trace is None else tuple(trace)
        return Outcome(best if best is q0 else self._normalized(best), status, iterations, 0, least, kept)

    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """As `Program.step`."""
        error, data = np.empty(self._rows.shape[0]), np.empty(self._rows.rows.size)
        self._rows.evaluate(self._place(None, q0, workspace), rhs, error, data)
        return self._integrate(q0, self._step(error, data))

    def _place(self, point: Point | None, q: Vector, workspace: Workspace) -> Point:
        if point is None:
            return place(self.problem.space, q, workspace)
        point.move(q)
        return point

    def _integrate(self, q: Vector, step: Vector) -> Vector:
        """The next iterate; frozen coordinates bit for bit."""
        after = self.problem.space.integrate(q, step)
        after[self._held] = q[self._held]
        return after

    def _normalized(self, q: Vector) -> Vector:
        """With unit vectors; frozen coordinates bit for bit."""
        unit = self.problem.space.normalize(q)
        unit[self._held] = q[self._held]
        return unit

    def _step(self, error: Vector, data: Vector) -> Vector:
        mu = self.options.damping * float(error @ error) + 1e-12
        step = np.zeros(self.problem.space.nv)
        step[self._moving] = self._sparse_step(error, data, mu) if self.is_sparse else self._dense_step(error, data, mu)
        return capped(step, self.options.cap)

    def _sparse_step(self, error: Vector, data: Vector, mu: float) -> Vector:
        m, n = self._rows.shape
        values = np.concatenate([np.maximum(self._weights, self._least), data, data, np.full(m, -mu)])[self._order]
        system = sparse.csc_matrix((values, self._indices, self._pointers), shape=(n + m, n + m))
        factors: Any = splu(system, permc_spec="COLAMD")
        solution: Vector = factors.solve(np.concatenate([np.zeros(n), -error]))
        return solution[:n]

    def _dense_step(self, error: Vector, data: Vector, mu: float) -> Vector:
        J = self._rows.matrix(data).toarray()
        return -least_change(J, error, self._weights, mu)


def least_change(J: Matrix, e: Vector, W: Vector, mu: float = 0.0) -> Vector:
    """The d of least d^T W d with J d = e, by singular values; where the costs leave some open, the shortest.

    Args:
        J: (m, n).
        e: (m,); what J cannot reach is met by least squares.
        W: (n,) costs, not negative.
        mu: damping of the squared singular values.
    """
    U, s, Vt = np.linalg.svd(J)
    rank = int((s > RANK_TOLERANCE * s.max(initial=0.0)).sum())
    d = Vt[:rank].T @ ((U[:, :rank].T @ e) * s[:rank] / (s[:rank] ** 2 + mu))
    Z, root = Vt[rank:].T, np.sqrt(W)
    left, sizes, right = np.linalg.svd(root[:, None] * Z, full_matrices=False)
    priced = sizes > 1e-10 * root.max(initial=0.0)  # what costs nothing has roundings here
    open_part = right[priced].T @ ((left[:, priced].T @ (root * d)) / sizes[priced])
    return np.asarray(d - Z @ open_part)


def _coordinates(problem: Problem) -> Any:
    """Entries of q that steps may change."""
    return np.concatenate(
        [np.zeros(0, dtype=np.intp)]
        + [np.arange(f.q.start, f.q.stop) for f in problem.space.leaves() if not problem.frozen[f.v].all()]
    )
