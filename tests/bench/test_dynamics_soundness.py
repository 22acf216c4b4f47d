"""The proof at scale of dynamics finds what it looks for: wrong accelerations, multipliers, ranks and statuses."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from constraints.dynamics import DynamicsStatus, Method, forward_dynamics


def of_kind(kind: str) -> tuple[Any, Any, Any, Any]:
    """Checks, truth, exact solution and answer at the first state of the first block of a kind that succeeds."""
    blocks, checks = importlib.import_module("dynamics_blocks"), importlib.import_module("dynamics_checks")
    for number in range(400):
        rng = np.random.default_rng([0, number, 14])
        if str(rng.choice(list(blocks.SHARES), p=list(blocks.SHARES.values()))) != kind:
            continue
        block = blocks.make_block(0, number)
        state = block.states[0]
        truth = checks.Truth.of(block.constraint_set, state)
        motion = block.constraint_set.robot.at(state.q, state.v)
        result = forward_dynamics(
            block.constraint_set, motion, state.tau, method=Method.DIRECT, external=state.external,
            acceleration=state.acceleration,
        )  # fmt: skip
        if result.success and block.constraint_set.size and np.abs(result.multipliers).max() > 1e-3:
            return checks, truth, checks.exact_solution(truth), result
    raise AssertionError(f"no block of the kind {kind}")


@pytest.mark.parametrize("kind", ["mixed", "contacts", "rates", "repeated"])
def test_what_is_wrong_is_found(kind: str) -> None:
    """An answer is clean, and no longer so when its numbers are changed by 1e-6 of themselves, or its words."""
    checks, truth, exact, result = of_kind(kind)
    assert checks.faults_of(truth, result) == []
    assert exact.error_of(truth, result) < checks.EXACT
    pushed = replace(result, acceleration=result.acceleration * (1.0 + 1e-5))
    assert checks.faults_of(truth, pushed)
    assert exact.error_of(truth, pushed) > checks.EXACT
    lied = replace(result, multipliers=result.multipliers * (1.0 + 1e-5))
    assert checks.faults_of(truth, lied)
    assert exact.error_of(truth, lied) > checks.EXACT
    assert checks.faults_of(truth, replace(result, acceleration=result.acceleration * np.nan))
    for status in DynamicsStatus:
        if status in (result.status, DynamicsStatus.NOT_FINITE, DynamicsStatus.SINGULAR_SPARSE):
            continue
        assert checks.faults_of(truth, replace(result, status=status)), status
