"""Attributes and calls that do not exist are answered in words: by what there is, and by how the same is said here."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from constraints import Implicit, Options, Position, Problem, Projector
from constraints.errors import (
    CallError,
    ConstraintError,
    NoAttributeError,
    PathError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.keywords import NamesChecked, can_be_called, names_checked
from constraints.loops import assemble_position, assemble_velocity
from constraints.manipulation import interpolate
from constraints.models import mechanisms, sample_arm

ARM = sample_arm()
HOME = ARM.reference("home")
POSTURE: Any = ARM.at(HOME)
MOTION: Any = ARM.at(HOME, np.zeros(ARM.nv))
PROBLEM: Any = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), POSTURE.placement("tool").translation)])
INTERPOLATION: Any = interpolate(PROBLEM, HOME, HOME)
PATH: Any = INTERPOLATION.or_raise()
FOUR: Any = mechanisms.four_bar()
RULES = FOUR.constraint_set()
CLOSED = FOUR.posture("closed")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: POSTURE.velocity("tool"), r"a Posture has no attribute 'velocity': .*`velocity\(frame\)` of a motion"),
        (lambda: PATH.sampels, "nearest names are samples"),
        (lambda: POSTURE.fk("tool"), r"`placement\(frame\)`"),
        (lambda: MOTION.jacobian("tool"), r"a Motion has no attribute 'jacobian': .*`posture.jacobian\(frame\)`"),
        (lambda: PATH.at(0.5), r"a Path has no attribute 'at': use `path\(time\)`"),
        (lambda: PATH.length(), "`duration`"),
        (lambda: INTERPOLATION.at(0.5), r"an Interpolation has no attribute 'at': .*`or_raise\(\)\(time\)`"),
        (lambda: INTERPOLATION.samples, r"`or_raise\(\).samples`"),
    ],
)
def test_attributes_that_do_not_exist_are_answered(ask: Callable[[], object], said: str) -> None:
    """Fresh mistakes, fourth list 8, 53, 55 and 62: by the nearest names, and by what is meant."""
    with pytest.raises(NoAttributeError, match=said) as caught:
        ask()
    assert isinstance(caught.value, AttributeError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (POSTURE.jacobian, ("tool", 2), r"Posture.jacobian\(frame\): too many .*axes of the frame"),
        (assemble_position, (RULES, CLOSED, Options()), r"assemble_position\(constraint_set, q0, \*, .*tolerance="),
        (assemble_velocity, (RULES, CLOSED), "assemble_velocity.*missing a required argument: 'v0'"),
        (Implicit.zero, (Position(ARM, "tool"), [0.4, 0.1, 0.3]), r"Implicit.zero.*Implicit.equal\(function, rhs\)"),
        (interpolate, (PROBLEM, HOME, HOME, None, 0.1), "interpolate.*max_angle="),
        (Options, range(30), r"Options\(threshold, .*too many"),
        (Problem, (ARM,), r"Problem\(where, constraints, bounds, \*, .*'constraints'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_calls_with_too_many_or_too_few_arguments_are_answered(function: Any, arguments: Any, said: str) -> None:
    """Fresh mistakes, third list 11, fourth list 25 and 70: by the names of the arguments, and by what is meant."""
    with pytest.raises(CallError, match=said) as caught:
        function(*arguments)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ConstraintError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("function", "arguments", "named", "said"),
    [
        (assemble_position, (RULES, CLOSED), {"options": Options()}, r"no argument 'options': tolerance=, max_itera"),
        (interpolate, (PROBLEM, HOME, HOME), {"max_angel": 0.1}, "nearest names are max_angle"),
        (Options, (), {"tol": 1e-6}, "use 'threshold'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_arguments_by_names_that_do_not_exist_are_answered(
    function: Any, arguments: Any, named: Any, said: str
) -> None:
    with pytest.raises(UnknownNameError, match=said):
        function(*arguments, **named)


def test_an_interpolation_is_not_called() -> None:
    with pytest.raises(PathError, match=r"or_raise\(\)\(time\)") as caught:
        INTERPOLATION(0.5)
    assert caught.value.result is INTERPOLATION


def test_a_function_for_progress_takes_two_arguments() -> None:
    """Fresh mistake, fourth list 61: it is named before the work."""
    projector: Any = Projector(PROBLEM)
    said: list[Any] = []
    for wrong in (lambda done: None, lambda: None, lambda a, b, c: None):
        with pytest.raises(WrongObjectError, match=r"progress of a batch: expected a function of two .*done, total"):
            projector.project_batch([HOME, HOME], progress=wrong)
    projector.project_batch([HOME, HOME], progress=lambda *both: said.append(both))
    assert said[-1] == (2, 2)


def test_a_type_error_of_the_function_itself_is_passed_on() -> None:
    @names_checked("never said")
    def fails(_: object) -> None:
        raise TypeError("of its own")

    with pytest.raises(TypeError, match=r"^of its own$"):
        fails(1)
    assert fails.__name__ == "fails"


def test_what_python_itself_asks_for_stays_a_bare_question() -> None:
    """Protocols, pickling and slots that are not filled yet look for attributes, and must not pay for words."""

    class Slotted(NamesChecked):
        __slots__ = ("later",)

    for name in ("later", "__array__", "_ipython_display_"):
        with pytest.raises(AttributeError) as caught:
            getattr(Slotted(), name)
        assert not isinstance(caught.value, ConstraintError)
    assert not hasattr(POSTURE, "__array__")
    again = pickle.loads(pickle.dumps(PATH))
    np.testing.assert_array_equal(again.samples, PATH.samples)


def test_functions_that_do_not_say_what_they_take_can_be_called() -> None:
    assert can_be_called(print, 1, 2)
    assert can_be_called(dict.fromkeys, [1])
    assert not can_be_called(lambda one: one, 1, 2)
