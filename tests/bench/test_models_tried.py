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


JOINT = (
    "<joint name='{0}' type='revolute'><parent link='{1}'/><child link='{2}'/><origin xyz='0.3 0 0'/>"
    "<axis xyz='0 {3} {4}'/><limit lower='-2' upper='2' effort='1' velocity='1'/></joint>"
)
TURNS = (("j", "a", "b", 0, 1), ("k", "b", "c", 1, 0), ("l", "c", "d", 0, 1))
ARM = "".join(f"<link name='{name}'/>" for name in "abcd") + "".join(JOINT.format(*turn) for turn in TURNS)


def test_the_report_counts_what_was_tried(models_tried: Any, tmp_path: Path) -> None:
    """Mend, done when: an arm, a torn file, and what does not move; a refusal of ours alone is a finding."""
    texts = {"arm": f"<robot name='r'>{ARM}</robot>", "torn": f"<robot name='r'>{ARM}"}
    tried = dict[str, Any]()
    for name, text in {**texts, "still": "<robot name='r'><link name='a'/></robot>"}.items():
        path = tmp_path / f"{name}.urdf"
        path.write_text(text, encoding="utf-8")
        tried[name] = models_tried.attempt("p", path.name, path, str(models_tried.kind_of(path)))
    assert (tried["arm"].reached, tried["arm"].nv) == (True, 3)
    assert (tried["still"].reason, tried["still"].nv) == ("", 0)
    torn = tried["torn"]
    assert torn.reason
    assert torn.home
    assert not torn.is_finding
    text = models_tried.report(list(tried.values()), {"p": "1", "q": None})
    assert "`torn.urdf`" in text
    assert "| all |  | 3 | 2 | 1 | 0 | 0 | 0 | 1 | 0 of 0 | 1 of 1 | 1 | 0 |" in text
    assert "Not installed: q." in text
    torn.home = ""
    assert torn.is_finding
    assert "**reads it**" in models_tried.report([torn], {"p": "1"})
    assert models_tried.main(["--check", "--packages", "example-robot-data"]) == 0
