"""The benchmark of targets on constraint graphs: its judge, its short run, what it refuses."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scripts
from robots import needs_robot_data

from constraints.solvers import NewtonEngine
from constraints.solvers.projection.engines import as_engine

pytestmark = needs_robot_data

SCRIPT = scripts.BENCHMARKS / "manipulation.py"


@pytest.fixture(scope="module")
def benchmark(on_path: None) -> Any:
    """The script as a module."""
    return importlib.import_module("manipulation")


def run(*given: str) -> scripts.Done:
    return scripts.run(SCRIPT, *given)


def test_short_run_writes_its_figures(tmp_path: Path) -> None:
    """Every claimed target holds by plain pinocchio; the JSON has one row a transition."""
    done = run("--check", "--json", str(tmp_path / "figures.json"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("ok")
    rows = json.loads((tmp_path / "figures.json").read_text())["rows"]
    assert [row["transition"] for row in rows if row["case"] == "g1_o1_h1_surf"] == [
        "Loop | f", "Loop | 0-0", "r0/gripper > box0/h0 | f", "r0/gripper < box0/h0 | 0-0",
    ]  # fmt: skip
    for row in rows:
        assert 0.0 <= row["success_of_one_guess"] <= row["success"] <= 1.0
        assert row["us_per_found"] == pytest.approx(1e6 / row["targets_a_second"])
        assert row["hpp"] is None
        assert row["engine"] == repr(as_engine(None))


def test_another_engine_is_said(tmp_path: Path) -> None:
    """`--engine readable` solves readably, and the figures say so."""
    given = ("--case", "g1_o1_h1_nosurf", "--starts", "2", "--repeats", "6", "--engine", "readable")
    done = run(*given, "--json", str(tmp_path / "figures.json"))
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "figures.json").read_text())["rows"]
    assert {row["engine"] for row in rows} == {repr(NewtonEngine())}
    assert all(row["median_us"] > 0.0 for row in rows)


def test_unknown_cases_and_counts_are_refused(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad input: one line, exit code 2."""
    for given in (("--case", "g9"), ("--starts", "0"), ("--attempts", "x"), ("--engine", "quick")):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *given])
        try:
            code = benchmark.main()
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr().err
        assert code == 2
        assert given[0] in said or given[1] in said
        assert len(said.splitlines()) == 1


def test_no_peer_is_a_remark(tmp_path: Path) -> None:
    """An interpreter without hpp-python leaves our figures."""
    done = run("--case", "g1_o1_h1_nosurf", "--starts", "2", "--repeats", "1", "--hpp-python", sys.executable)
    assert done.returncode == 0
    assert "no HPP: " in done.stderr


def test_judge_knows_targets_of_hpp_and_refuses_others(benchmark: Any) -> None:
    """What hpp-manipulation put where the box stands and is held passes; a box lifted, turned, or off the table not."""
    cases = sys.modules[benchmark.Case.__module__]
    case = benchmark.Case.of("g1_o1_h1_surf", 1)
    judge = benchmark.Judge(case)
    stored = cases.record()["targets"]["configurations"]
    free, held = case.graph.states[1], case.graph.states[0]
    starts = {state: case.starts(state, None, np.random.default_rng(0))[0] for state in (free, held)}
    for name, source, target in (("Loop | f", free, free), ("Loop | 0-0", held, held)):
        loop = case.graph.transition(name)
        assert (loop.source, loop.target) == (source, target)
        assert all(judge.holds(loop, q, q) for q in starts[source])
    take, release = (case.graph.transition(f"r0/gripper {sign}") for sign in ("> box0/h0 | f", "< box0/h0 | 0-0"))
    both = cases._normalized(stored["sources"][f"{take}_intersec"])
    for q in both:
        assert judge.holds(take, starts[free][0], q)
        assert judge.holds(release, starts[held][0], q)
    still, q = case.graph.transition("Loop | f"), starts[free][1]
    for column, by in ((8, 2e-4), (6, 1e-3), (6, 2.0), (0, 10.0), (9, 0.01)):
        wrong = q.copy()
        wrong[column] += by
        wrong[9:] /= np.linalg.norm(wrong[9:])
        assert not judge.holds(still, q, wrong), column
    assert not judge.holds(take, q, q)
