"""Which engine solves, said where one looks: a result, a printed problem, a projector; and kept by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import constraints
from constraints import Function, Implicit, Options, Position, Problem, Projector
from constraints.models import sample_arm
from constraints.solvers import Backtracking, NewtonEngine, diagnosis
from constraints.solvers.diagnosis import conflict
from constraints.solvers.newton.sparse_kkt import SparseKKT
from constraints.solvers.projection import engines
from constraints.solvers.projection.engines import solved_by
from liegroups import Rn

ARM = sample_arm()
REACH = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [0.4, 0.1, 0.5], name="tool")])
CIRCLE = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="circle")
OWN = Problem(Rn(2), [Implicit.zero(CIRCLE)])
needs_numba = pytest.mark.skipif(engines.USUAL == "readable", reason="numba is not installed")


@needs_numba
def test_the_compiled_engine_is_named() -> None:
    result = Projector(REACH).project(ARM.neutral)
    assert result.describe().splitlines()[1] == "  solved by the compiled engine"
    assert str(REACH) == f"{REACH!r}, solved by the compiled engine"
    assert repr(Projector(REACH)).endswith("solved by the compiled engine")


@needs_numba
def test_the_readable_engine_is_named_with_its_reason() -> None:
    because = "the readable engine, because the compiled one does not solve the step control Backtracking"
    projector = Projector(OWN, Options(step_control=Backtracking()))
    result = projector.project([3.0, 4.0])
    assert isinstance(result.engine, NewtonEngine)
    assert f"  solved by {because}" in result.describe()
    assert because in repr(projector)


def test_an_engine_that_was_asked_for_is_named_so() -> None:
    result = Projector(REACH, engine="readable").project(ARM.neutral)
    if engines.USUAL == "compiled":
        assert "  solved by the readable engine, as was asked" in result.describe()
    special = NewtonEngine(SparseKKT)
    assert f"  solved by {special!r}" in Projector(OWN, engine=special).project([3.0, 4.0]).describe()


def test_without_numba_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "USUAL", "readable")
    assert solved_by(REACH) == "the readable engine, because numba is not installed (the extra `fast`)"
    assert "numba is not installed" in str(REACH)


@needs_numba
def test_a_diagnosis_keeps_the_engine_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [9.0, 0.0, 0.0], name="far")])
    used = list[str]()

    def noted(*given: object) -> Projector:
        made = Projector(*given)  # pyright: ignore[reportArgumentType]
        used.append(repr(made.engine))
        return made

    monkeypatch.setattr(conflict, "Projector", noted)
    for engine, name in (("readable", "NewtonEngine"), ("compiled", "CompiledEngine")):
        used.clear()
        diagnosis.diagnose(Projector(far, engine=engine).project(ARM.neutral), iterations=20, trials=3)
        assert used
        assert all(name in one for one in used)


@pytest.mark.program
@needs_numba
def test_the_readable_engine_waits_for_no_kernel(tmp_path: Path) -> None:
    """With nothing on disk: it answers without numba, and the message of the other one says so."""
    script = """
import sys
from constraints import Implicit, Position, Problem, Projector
from constraints.models import sample_arm
arm = sample_arm()
problem = Problem(arm, [Implicit.equal(Position(arm, "tool"), [0.4, 0.1, 0.5])])
result = Projector(problem, engine="readable").project(arm.neutral)
result.describe(), str(problem)
print(result.success, "numba" in sys.modules, result.engine)
"""
    root = str(Path(constraints.__file__).resolve().parent.parent)
    environment = {"LIE_CONSTRAINTS_CACHE": str(tmp_path), "PYTHONPATH": root, "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[:2] == ["True", "False"]
    assert "NewtonEngine" in done.stdout
    assert done.stderr == ""
    assert not list(tmp_path.iterdir())


@needs_numba
def test_the_message_of_a_cold_start_says_how_to_go_on_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from constraints.solvers.kernels import loading

    monkeypatch.setattr(loading, "is_warm", lambda part: part == "trees")
    monkeypatch.setattr(loading, "mark_ready", lambda part: None)
    monkeypatch.setattr(loading, "_announced", set[str]())
    with loading.compiling("entry"):
        pass
    with loading.compiling("entry"):
        pass
    said = capsys.readouterr().err
    seconds = loading.PARTS["tape"].seconds + loading.PARTS["entry"].seconds
    assert f"its kernels of projections, once on this machine, in about {seconds} s of a processor" in said
    assert "engine='readable' answers at once" in said
    assert "`python -m constraints warm-up`" in said
    assert np.char.count(said, "\n") == 1
