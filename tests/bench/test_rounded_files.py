"""Closed chains whose angles are rounded as in a file close, keep their mobility, and move alike by every door."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from closed_mechanisms import closed_mechanism

from constraints.loops import AssemblyOptions, assemble_position


@pytest.fixture(scope="module")
def rounding(on_path: None) -> Any:
    return importlib.import_module("rounded_files")


def test_the_check_is_clean(rounding: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["rounded_files.py", "--check"])
    assert rounding.main() == 0
    said = capsys.readouterr().out
    assert "0 WRONG" in said
    assert said.count(" same ") >= 3


@pytest.mark.parametrize("digits", [8, 12])
@pytest.mark.parametrize("name", ["four_bar", "robotiq_2f85"])
def test_eight_digits_are_enough(rounding: Any, name: str, digits: int) -> None:
    found = rounding.verdict(name, digits)
    assert found.word == "same", str(found)
    assert found.mobility[0] == found.mobility[1]


def test_four_digits_are_not_and_it_is_said(rounding: Any) -> None:
    """The message names the row, how far it is off, and the tolerance that accepts it, which does."""
    drawn, q = closed_mechanism("four_bar")
    mechanism = rounding.rounded(drawn, 4)
    found = assemble_position(mechanism.constraint_set(), q)
    assert not found.success
    assert "of 'coupler_end to rocker_end' is off by" in str(found)
    assert "`tolerance=1e-04` accepts it" in str(found)
    assert assemble_position(mechanism.constraint_set(), q, options=AssemblyOptions(tolerance=1e-4)).success


def test_angles_are_rounded_as_written(rounding: Any) -> None:
    """A rotation in other axes of the body comes back to half a last digit in each of three angles."""
    rng = np.random.default_rng(0)
    R = rounding.written(np.eye(3), 15, rng)
    assert np.abs(R - np.eye(3)).max() < 1e-14
    for digits in (4, 6, 8):
        off = max(np.abs(rounding.written(np.eye(3), digits, rng) - np.eye(3)).max() for _ in range(20))
        assert 0.1 * 10.0**-digits < off < 1.5 * 10.0**-digits
