"""The examples run as a reader would run them, also where the robots of example-robot-data are not installed."""

from __future__ import annotations

from pathlib import Path

import pytest
import scripts

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
WITHOUT_ROBOTS = """
import runpy, sys
from constraints import Robot, models
from constraints.errors import FileError
def without(real):
    def absent(source, *given, **named):
        if str(source).startswith("package://"):
            raise FileError(str(source), "no package 'example-robot-data'")
        return real(source, *given, **named)
    return absent
Robot.from_urdf = without(Robot.from_urdf)
models.load = without(models.load)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def run(script: Path, *arguments: str, folder: Path) -> str:
    done = scripts.run(script, *arguments, "--check", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_checks_itself(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, and writes a picture where it takes `--plot`, and nothing else."""
    draws = '"--plot"' in example.read_text(encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))  # robots are sticks: a browser draws them in tests of its own
    assert run(example, *(["--plot", "x.png"] if draws else []), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == (["x.png"] if draws else [])


@pytest.mark.parametrize(
    "name", ["closed_loop_with_two_arms", "humanoid_on_two_feet", "cassie_closures", "balance_on_slopes"]
)
def test_sample_robots_take_the_place_of_absent_ones(name: str, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(WITHOUT_ROBOTS)
    said = run(tmp_path / "run.py", str(ROOT / "examples" / f"{name}.py"), folder=tmp_path)
    assert "takes the place of" in said


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_it_needs_and_how_to_run_it(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert text.startswith("# /// script\n")
    assert 'dependencies = ["lie-constraints' in text  # or an extra of it
    assert f"python examples/{example.name} " in text
