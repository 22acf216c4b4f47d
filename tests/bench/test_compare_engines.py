"""The comparison of both engines on the starts of problem files."""

from __future__ import annotations

from pathlib import Path

import pytest
import scripts

pytest.importorskip("numba")


def run(*arguments: str) -> scripts.Done:
    return scripts.run(scripts.BENCHMARKS / "compare_engines.py", *arguments)


def test_both_engines_do_the_same_on_every_problem_file() -> None:
    """Status, iterations, restarts, and configurations to 1e-9; rounding may send one of a hundred elsewhere."""
    done = run("--starts", "10", "--seed", "3", "--least", "0.9")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "32 problems, 10 starts each" in done.stdout.splitlines()[-1]


def test_a_share_below_the_least_one_is_a_failure() -> None:
    problem = str(scripts.BENCHMARKS / "problems" / "ur5_pose.npz")
    done = run(problem, "--starts", "5", "--least", "1.01")
    assert done.returncode == 1
    assert "5 of 5 the same" in done.stdout


@pytest.mark.parametrize(("change", "word"), [("iterations", "1"), ("q", "apart by 1.0e-06")])
def test_what_differs_is_shown(change: str, word: str, tmp_path: Path) -> None:
    """An engine whose answers are changed a little, one by one: none counts as the same, the first is shown."""
    script = tmp_path / "changed.py"
    script.write_text(
        f"""
import sys
sys.path.insert(0, {str(scripts.BENCHMARKS)!r})
import compare_engines
from constraints.solvers.compiled.program import CompiledProgram
was = CompiledProgram.run_many
def changed(*given):
    found = was(*given)
    if {change!r} == "q":
        found.q[:, 0] += 1e-6
    else:
        found.iterations[:] += 1
    return found
CompiledProgram.run_many = changed
sys.argv[1:] = [{str(scripts.BENCHMARKS / "problems" / "ur5_pose.npz")!r}, "--starts", "5"]
sys.exit(compare_engines.main())
"""
    )
    done = scripts.run(script)
    assert done.returncode == 1, done.stderr
    assert "0 of 5 the same" in done.stdout
    assert "start 0:" in done.stdout
    assert word in done.stdout
