"""Loops that cannot close say so in lengths; functions without a value, or that raise, are named."""

from __future__ import annotations

import logging
import math
import warnings

import numpy as np
import pytest

from constraints import Implicit, loops, project
from constraints.errors import UndefinedError
from constraints.functions import FromCallable
from constraints.models import mechanisms
from constraints.reduced import minimal_coordinates
from liegroups import Rn

LINKAGE = mechanisms.four_bar()
ROBOT, CLOSED = LINKAGE.robot, LINKAGE.posture("closed")


def test_a_loop_that_is_too_short_says_by_how_much() -> None:
    """The ground of 2 m less the rocker's place at 0.4 m, against a rocker of 0.3 m: 1.3 m are missing."""
    rows = loops.ConstraintSet(
        ROBOT, [loops.PointClosure(ROBOT, [2.0, 0.0, 0.5, 0, 0, 0, 1], "rocker_end", name="hook")]
    )
    said = loops.assemble_position(rows, [0.1, 0.2, 0.3]).describe()
    assert "its ends are" in said
    assert "from 'world' to 'rocker' it is 1.6 m, and the other bodies of the loop are 0.3 m together, 1.3 m" in said
    with pytest.raises(loops.OpenMechanismError, match=r"1\.3 m too short"):
        minimal_coordinates(rows, [0.1, 0.2, 0.3], close=True)


def test_a_loop_long_enough_is_not_called_short() -> None:
    none = loops.AssemblyOptions(max_iterations=0)
    said = loops.assemble_position(LINKAGE.constraint_set(), CLOSED + 0.4, options=none).describe()
    assert "too short" not in said
    assert "its ends are" in said


@pytest.mark.parametrize("turn", [0.8, 1.0, 2.0])
def test_closing_beyond_a_dead_point_asks_for_no_iterations(turn: float) -> None:
    """A crank that cannot turn so far: plain Newton jumps to and fro across the dead point."""
    linkage = mechanisms.four_bar(ground=0.4, crank=0.3, coupler=0.15, rocker=0.2, angle=0.5)
    q = linkage.posture("closed")
    coordinates = minimal_coordinates(linkage.constraint_set(), q, independent=["crank"])
    found = coordinates.close(q + np.array([turn, 0.0, 0.0]))
    assert not found.success
    assert found.jumps
    assert "max_iterations" not in str(found)
    assert "beyond it, and more iterations do not help" in str(found)


def test_closing_is_to_1e_12_by_default() -> None:
    """An error of 5e-12 is closed by one step, one of 5e-13 is not looked at."""
    coordinates = minimal_coordinates(LINKAGE.constraint_set(), CLOSED, independent=["crank"])
    exact = coordinates.close(CLOSED, tolerance=1e-15).q
    for size, iterations in ((5e-12, 1), (5e-13, 0)):
        step = np.array([0.0, 1.0, 0.0])
        error = LINKAGE.constraint_set().position_error
        step *= size / np.abs(error(exact + 1e-6 * step)).max() * 1e-6
        start = exact + step
        assert np.abs(error(start)).max() == pytest.approx(size, rel=0.2)
        found = coordinates.close(start)
        assert found.success
        assert found.iterations == iterations


def nothing(q: np.ndarray) -> list[float]:
    return [np.sqrt(q[0] - 50.0)]


def impossible(q: np.ndarray) -> list[float]:
    return [math.sqrt(q[0] - 50.0)]


def test_a_function_without_a_value_is_one_message(caplog: pytest.LogCaptureFixture) -> None:
    """No warning of numpy at each call; the constraint is named by every door, not the one beside it."""
    height = Implicit.equal(FromCallable(nothing, ROBOT.space, Rn(1)), [0.2], name="height")
    rows = loops.ConstraintSet(ROBOT, [*LINKAGE.closures, height])
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        found = project(ROBOT, [height], CLOSED)
        assert found.status.name == "UNDEFINED"
        assert "'height'" in str(found.diagnose())
        assert loops.assemble_position(rows, CLOSED).status.name == "UNDEFINED"
        with pytest.raises(loops.OpenMechanismError, match="'height' has no value in position"):
            minimal_coordinates(rows, CLOSED, close=True)
        with pytest.raises(UndefinedError, match=r"height\[0\] is not finite"):
            loops.assemble_velocity(rows, CLOSED, np.ones(3))
    assert len(caplog.records) <= 2


def test_an_exception_of_a_function_names_it() -> None:
    """The exception is the user's own, with a note."""
    height = Implicit.equal(FromCallable(impossible, ROBOT.space, Rn(1)), [0.2], name="height")
    with pytest.raises(ValueError, match="math domain error") as caught:
        project(ROBOT, [height], CLOSED)
    (note,) = caught.value.__notes__
    assert "raised by the function 'impossible' at q = [" in note


def test_an_exception_of_a_jacobian_names_it() -> None:
    def jac(q: np.ndarray) -> np.ndarray:
        raise KeyError("elbow")

    height = Implicit.equal(FromCallable(lambda q: [q[0]], ROBOT.space, Rn(1), jac, label="lift"), [0.2])
    with pytest.raises(KeyError) as caught:
        project(ROBOT, [height], CLOSED)
    assert "'Jacobian of lift'" in caught.value.__notes__[0]
