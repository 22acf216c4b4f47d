"""Reports: one projection with all it depends on, to be done again elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import NoneType
from typing import Any, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Vector

from ..certificates.certificate import Certificate
from ..errors import NotSavableError, WrongObjectError
from ..problem.problem import Problem
from ..solvers.compiled.engine import CompiledEngine
from ..solvers.engine import Engine, Outcome
from ..solvers.newton.engine import NewtonEngine
from ..solvers.newton.least_change import LeastChange
from ..solvers.newton.linear_step import DampedCholesky, LinearStep
from ..solvers.newton.sparse_kkt import SparseKKT, is_long_and_sparse
from ..solvers.projection.projection import Case, Projection, Solved
from ..solvers.projection.projector import Projector
from ..solvers.status import Status
from ..words import counted
from .certificates import certificate_data, certificate_from_data
from .documents import read_document, write_document
from .entries import INTEGER, NUMBER, Entry, member, record, vector
from .environment import environment
from .json_values import JsonValue
from .options import options_data, options_from_data
from .problems import PlanningTask, problem_data, problem_from_data, task_from_data
from .right_hand_sides import rhs_data, rhs_from_data

_STEPS: dict[str, type[LinearStep]] = {
    step.__name__: step
    for step in LinearStep.__subclasses__()
    if step.__module__.startswith("constraints.solvers.newton.") and step is not DampedCholesky
}
"""Those of `solvers/newton`, which are known when this module is imported."""
_ENTRIES = ("versions", "result", "start", "near", "rhs", "options", "engine", "problem", "certificate")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Report(Solved):
    """A projection that was saved by `projection.report(path)`, to be repeated.

    Attributes:
        case: the input; `problem`, `rhs`, `options`, `start`, `near`, `engine` are properties too.
        outcome: the result; `q`, `status`, `residual`, `iterations`, `restarts` are properties too.
        versions: versions of the software and machine that computed it, by name.
        certificate: of the result, checked as it was read; None where the report has none.

    Example:
        >>> import tempfile
        >>> from constraints import Implicit, Position, Report, project
        >>> from constraints.models import sample_arm
        >>> robot = sample_arm()
        >>> far = project(robot, [Implicit.equal(Position(robot, "tool"), [3.0, 0.0, 0.0])], robot.neutral)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     far.report(f"{folder}/far.json")
        ...     report = Report.load(f"{folder}/far.json")
        >>> report.differences(report.reproduce())
        ()
    """

    case: Case
    outcome: Outcome
    versions: Mapping[str, str]
    certificate: Certificate | None = None

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Report:
        """Read a report.

        Raises:
            FileError: the file cannot be read whole, or holds something else; the place in it is named.
        """
        _, data = read_document(path, "report")
        return report_from_data(data)

    def reproduce(self, *, trace: bool = False) -> Projection:
        """Repeat the projection.

        Args:
            trace: keep the iterates, whatever the report's options say; they change no bit.
        """
        options = replace(self.options, trace=True) if trace else self.options
        return Projector(self.problem, options, self.engine).project(self.start, self.rhs, self.near)

    def differences(self, projection: Projection) -> tuple[str, ...]:
        """Differences between a projection and the reported one, in words; empty if they are the same bit for bit.

        Differences of the input come first: if the problem, right-hand sides, start or reference differ, differences of
        the result say nothing about machines and versions.

        Args:
            projection: result of `reproduce`, or of another version of the problem.

        Raises:
            WrongObjectError: not a projection, or in another space.
        """
        if not isinstance(projection, Projection) or projection.q.shape != self.q.shape:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError(
                "projection to compare", f"a Projection with {counted(self.q.size, 'number')}", projection
            )
        words = [*self._asked_otherwise(projection)]
        for name in ("status", "iterations", "restarts", "residual"):
            then, now = getattr(self, name), getattr(projection, name)
            if then != now and not (then != then and now != now):  # NaN is the same as NaN
                a, b = (getattr(value, "name", repr(value)) for value in (then, now))
                words.append(f"{name}: {a} then, {b} now")
        if projection.q.tobytes() != self.q.tobytes():
            words.append(f"q: up to {float(np.abs(projection.q - self.q).max()):.3g} apart")
        return tuple(words)

    def _asked_otherwise(self, projection: Projection) -> Iterator[str]:
        """What a projection was asked that the reported one was not."""
        mine, other = self.problem, projection.problem
        if other is not mine and _written(other) != _written(mine):
            names = [", ".join(f"'{name}'" for name in problem.constraints.names) for problem in (mine, other)]
            same = f"with the same names of constraints ({names[0]})"
            yield f"problem: another one, {same if names[0] == names[1] else f'{names[0]} then, {names[1]} now'}"
        elif projection.rhs.vector.tobytes() != self.rhs.vector.tobytes():
            yield f"right-hand sides: up to {float(np.abs(projection.rhs.vector - self.rhs.vector).max()):.3g} apart"
        for name, then, now in (("start", self.start, projection.start), ("near", self.near, projection.near)):
            if (None if then is None else then.tobytes()) != (None if now is None else now.tobytes()):
                yield f"{name}: another one"
        if replace(projection.options, trace=False) != replace(self.options, trace=False):
            yield f"options: {self.options} then, {projection.options} now"

    def other_versions(self) -> tuple[str, ...]:
        """Versions that differ from those of the report, in words."""
        now = environment()
        names = [name for name in {**self.versions, **now} if self.versions.get(name) != now.get(name)]
        return tuple(f"{name}: {self.versions.get(name, 'none')} then, {now.get(name, 'none')} now" for name in names)

    def __repr__(self) -> str:
        return f"Report({self.status.name}, residual {self.residual:.3g}, {counted(self.iterations, 'iteration')})"


def save_report(projection: Projection, path: str | os.PathLike[str], certificate: Certificate | None = None) -> None:
    """Write a projection with all it depends on, and a certificate of it.

    Raises:
        NotSavableError: a constraint, or the engine, is not data; nothing is written.
        WrongObjectError: no certificate, or one of another configuration.
        FileError: the file cannot be written.
    """
    result = _result(projection.q.size).write(projection)
    content: dict[str, Any] = {"versions": environment(), "result": result, "start": projection.start.tolist()}
    if projection.near is not None:
        content["near"] = projection.near.tolist()
    content |= {"rhs": rhs_data(projection.rhs), "options": options_data(projection.options)}
    content |= _engine_data(projection.engine)
    if certificate is not None:
        what = "certificate of a report"
        if not _is_of(expect(certificate, Certificate, what), projection.q, projection.problem):
            raise WrongObjectError(what, "one of its result, of the same q bit for bit", "one of another configuration")
        content["certificate"] = certificate_data(certificate)
    write_document(path, "report", {**content, "problem": problem_data(projection.problem)})


def load_task_or_report(path: str | os.PathLike[str]) -> PlanningTask | Report:
    """Read a file that holds either.

    Raises:
        FileError: the file cannot be read whole, or holds something else; the place in it is named.
    """
    kind, data = read_document(path, "problem", "report")
    return task_from_data(data) if kind == "problem" else report_from_data(data)


def report_from_data(data: JsonValue) -> Report:
    """The report of a document that `read_document` has opened."""
    data.only(*_ENTRIES)
    problem = problem_from_data(data.entry("problem"))
    n = problem.space.nq
    start, near = data.entry("start"), None
    if data.has("near"):
        near = data.entry("near").build(problem.space.check, data.entry("near").vector(n), "near")
    case = Case(
        problem,
        rhs_from_data(data.entry("rhs"), problem.constraints),
        options_from_data(data.entry("options")),
        start.build(problem.space.check, start.vector(n), "start"),
        near,
        _engine_from_data(data.entry("engine"), problem) if data.has("engine") else NewtonEngine(),
    )
    outcome = _result(n).read(data.entry("result"))
    certificate = certificate_from_data(data.entry("certificate")) if data.has("certificate") else None
    if not isinstance(certificate, Certificate | NoneType):
        data.entry("certificate").refuse("is one of a path, expected one of a configuration")
    if certificate is not None and not _is_of(certificate, outcome.q, problem):
        data.entry("certificate").refuse("is one of another configuration, expected one of the q of the result")
    versions = {name: entry.text() for name, entry in data.entry("versions").entries()}
    return Report(case, outcome, versions, certificate)


def _is_of(certificate: Certificate, q: Vector, problem: Problem) -> bool:
    """Whether it is of this configuration, in a space of this size."""
    return certificate.q.tobytes() == q.tobytes() and len(certificate.basis) == problem.space.nv


def _result(n: int) -> Entry:
    """What came out, of a space of n coordinates."""
    return record(
        partial(Outcome, trace=None), status=member(Status), q=vector(n, finite=False),
        residual=replace(NUMBER, read=JsonValue.extended), iterations=INTEGER, restarts=INTEGER,
    )  # fmt: skip


def _written(problem: Problem) -> dict[str, Any] | None:
    """What a file would hold of a problem; None where none can."""
    try:
        return problem_data(problem)
    except NotSavableError:
        return None


def _engine_data(engine: Engine) -> dict[str, Any]:
    """The entry of an engine, where it is not the projector's own."""
    if isinstance(engine, CompiledEngine):
        return {"engine": {"type": "CompiledEngine"}}
    if not isinstance(engine, NewtonEngine):
        raise NotSavableError(
            "the projection", f"its engine is a {type(engine).__name__}, which is not an engine of this library"
        )
    if engine.step is DampedCholesky:
        return {}
    name = engine.step.__name__
    if _STEPS.get(name) is not engine.step:
        raise NotSavableError(
            "the projection", f"the step of its engine is a {name}, which is not a step of this library"
        )
    return {"engine": {"type": "NewtonEngine", "step": name}}


def _engine_from_data(data: JsonValue, problem: Problem) -> Engine:
    kind = data.entry("type").word(["NewtonEngine", "CompiledEngine", "LoopEngine"])
    if kind == "CompiledEngine":
        data.only("type")
        return CompiledEngine()
    if kind == "NewtonEngine":
        return NewtonEngine(_STEPS[data.only("type", "step").entry("step").word(list(_STEPS))])
    data.only("type", "is_sparse")  # as reports said it before engines had steps
    is_sparse = data.entry("is_sparse").flag() if data.has("is_sparse") else is_long_and_sparse(problem)
    return NewtonEngine(SparseKKT if is_sparse else LeastChange)
