"""The proof at scale of dynamics in minimal coordinates finds what it looks for; the benchmark of its cost runs."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import closed_states
import pytest


def run(monkeypatch: pytest.MonkeyPatch, name: str, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
    return importlib.import_module(name).main()


def test_the_proof_is_clean(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 16, done when: no findings, figures by mechanism, one state again by its number."""
    figures = tmp_path / "figures.json"
    options = ("--states", "3", "--only", "four_bar", "robot_delta", "--json", str(figures))
    assert run(monkeypatch, "reduced_soundness", *options) == 0
    said = capsys.readouterr().out
    assert "6 closed states of 2 mechanisms (seed 0): 0 findings" in said
    assert "near a dead point" in said
    assert json.loads(figures.read_text())[0]["mechanisms"]["four_bar"]["states"] == 3
    assert run(monkeypatch, "reduced_soundness", "--case", "1") == 0
    assert "four_bar, reciprocal condition of J_v" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("acceleration", "acceleration is off by"),
        ("multipliers", "forces of rows is off by"),
        ("driven_forces", "driven forces is off by"),
    ],
)
def test_what_is_wrong_is_found(
    field: str, found: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers that are wrong by 1e-7 of themselves are findings, with the command that repeats them."""
    real = closed_states.reduced_forward_dynamics

    def wrong(*given: Any, **named: Any) -> Any:
        result = real(*given, **named)
        return replace(result, **{field: getattr(result, field) * (1.0 + 1e-7)})

    monkeypatch.setattr(closed_states, "reduced_forward_dynamics", wrong)
    assert run(monkeypatch, "reduced_soundness", "--states", "4", "--only", "five_bar") == 1
    said = capsys.readouterr().out
    assert found in said
    assert "repeat: --seed 0 --case" in said


def test_the_cost_is_compared(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 16, done when: reduced direct dynamics beside forward dynamics, in one run."""
    assert run(monkeypatch, "reduced_dynamics", "--check") == 0
    run(monkeypatch, "reduced_dynamics", "--repeats", "2", "--only", "four_bar")  # what it reaches is the machine's
    said = capsys.readouterr().out
    assert "four_bar" in said
    assert "limit 2" in said
