"""Models of other people: those of example-robot-data load or are refused by pinocchio too, and reach a pose."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from robots import needs_robot_data


@pytest.fixture(scope="module")
def models_tried(on_path: None) -> Any:
    """The command `benchmarks/models_tried.py`."""
    return importlib.import_module("models_tried")


@needs_robot_data
@pytest.mark.parametrize("apart", [5, pytest.param(1, marks=pytest.mark.long)])
def test_robots_of_example_robot_data(models_tried: Any, apart: int) -> None:
    """Mend, done when: each loads, or pinocchio refuses it too; each that moves projects its last frame onto a pose."""
    models = [model for model in models_tried.models_of("example-robot-data") if model[2] == "URDF"]
    assert len(models) > 50
    tried = [models_tried.attempt("example-robot-data", str(name), path, kind) for name, path, kind in models[::apart]]
    assert [t.file for t in tried if t.is_finding] == []
    assert {Path(t.file).name for t in tried if t.reason} <= {"ur3.urdf"}  # its robot has no name
    assert [t.file for t in tried if t.nv and not t.reached] == []
    assert sum(t.nv > 0 for t in tried) > 50 / apart


def test_the_report_counts_what_was_tried(models_tried: Any, tmp_path: Path) -> None:
    """Mend, done when: the command on models made on the spot; a refusal of ours alone is a finding."""
    assert models_tried.main(["--check"]) == 0
    torn = tmp_path / "torn.urdf"
    torn.write_text("<robot name='r'><link name='a'/>", encoding="utf-8")
    tried = models_tried.attempt("p", "torn.urdf", torn, "URDF")
    assert tried.reason
    assert tried.home
    assert not tried.is_finding
    tried.home = ""
    assert tried.is_finding
    text = models_tried.report([tried], {"p": "1", "q": None})
    assert "**reads it**" in text
    assert "Not installed: q." in text
