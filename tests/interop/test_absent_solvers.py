"""Solvers that are not installed are asked for by the name of their extra."""

from __future__ import annotations

import sys

import pytest

from constraints import Implicit, Position, Problem
from constraints.actions import ContactForwardDynamics, SemiImplicitEuler, StateSpace
from constraints.errors import MissingExtraError
from constraints.interop import (
    MultipleShooting,
    OmplSpace,
    as_casadi,
    as_crocoddyl_action,
    as_crocoddyl_state,
    crocoddyl_actions,
    crocoddyl_wheels,
)
from constraints.models import sample_arm


def test_absent_solvers_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch):
    """Issue 17, item 7: crocoddyl and CasADi are imported on use only."""
    robot = sample_arm()
    action, state = ContactForwardDynamics(robot), StateSpace(robot)
    program = MultipleShooting([SemiImplicitEuler(action, 0.1)], action, state.zero)
    for library in ("crocoddyl", "casadi"):
        monkeypatch.setitem(sys.modules, library, None)
    for made in (crocoddyl_actions._model_class, crocoddyl_actions._state_class):  # pyright: ignore[reportPrivateUsage]
        made.cache_clear()
    for call in (lambda: as_crocoddyl_action(action), lambda: as_crocoddyl_state(state), crocoddyl_wheels.difference):
        with pytest.raises(MissingExtraError, match=r"lie-constraints\[crocoddyl\]"):
            call()
    with pytest.raises(MissingExtraError, match=r"lie-constraints\[casadi\]"):
        as_casadi(program)


def test_absent_ompl_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch):
    robot = sample_arm()
    level = Implicit.zero(Position(robot, "tool"), mask=[False, False, True])
    monkeypatch.setitem(sys.modules, "ompl", None)
    monkeypatch.delitem(sys.modules, "ompl.base", raising=False)
    with pytest.raises(MissingExtraError, match=r"lie-constraints\[ompl\]"):
        OmplSpace(Problem(robot, [level]), robot.neutral)


@pytest.mark.parametrize(
    ("code", "printed", "said"),
    [
        (0, "3e-15\n", ""),
        (0, "1e-9\n", ""),
        (0, "1.01e-9\n", "wrong by 1.01e-09"),
        (0, "2.98\n", r"wrong by 2.98 rad/s\^2"),
        (-11, "", "ended with exit code -11"),
    ],
)
def test_a_comparison_of_wheels_ends_in_a_sentence(code: int, printed: str, said: str, monkeypatch: pytest.MonkeyPatch):
    """An agreement, a wrong number, a crash."""
    monkeypatch.setattr(crocoddyl_wheels, "from_extra", lambda *_: type("crocoddyl", (), {"__version__": "3.2.1"}))
    found = crocoddyl_wheels._verdict(code, printed)  # pyright: ignore[reportPrivateUsage]
    if said:
        assert "crocoddyl 3.2.1" in found
        assert said.replace("\\", "") in found
        assert "are not compatible" in found
    else:
        assert found == ""
