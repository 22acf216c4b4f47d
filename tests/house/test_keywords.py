"""Attributes and calls that do not exist are answered in words: by what there is, and by how the same is said here."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import constraints
from constraints import Implicit, Options, Position, Problem, Projector, errors
from constraints.functions import Constant
from constraints.keywords import NamesChecked, can_be_called
from constraints.loops import assemble_velocity
from constraints.manipulation import interpolate
from constraints.models import mechanisms, sample_arm

ARM = sample_arm()
ROBOT: Any = ARM
SPACE: Any = ARM.space
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
        (lambda: INTERPOLATION.samples, r"`or_raise\(\).samples`"),
        (lambda: FOUR.show(), r"a Mechanism .*`constraints.pictures.show\(robot, q\)`"),
    ],
)
def test_attributes_that_do_not_exist_are_answered(ask: Callable[[], object], said: str) -> None:
    """Fresh mistakes, fourth list 8, 53, 55 and 62; planner 2, 7 and 9: by the nearest names, and by what is meant."""
    with pytest.raises(errors.NoAttributeError, match=said) as caught:
        ask()
    assert isinstance(caught.value, AttributeError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (POSTURE.jacobian, ("tool", 2), r"Posture.jacobian\(frame\): too many .*axes of the frame"),
        (assemble_velocity, (RULES, CLOSED), "assemble_velocity.*missing a required argument: 'v0'"),
        (Problem, (ARM,), r"Problem\(where, constraints, bounds, \*, .*'constraints'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_calls_with_too_many_or_too_few_arguments_are_answered(function: Any, arguments: Any, said: str) -> None:
    """Fresh mistakes, third list 11, fourth list 25 and 70: by the names of the arguments, and by what is meant."""
    with pytest.raises(errors.CallError, match=said) as caught:
        function(*arguments)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, errors.ConstraintError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_an_interpolation_is_not_called() -> None:
    with pytest.raises(errors.PathError, match=r"or_raise\(\)\(time\)"):
        INTERPOLATION(0.5)


def test_a_function_for_progress_takes_two_arguments() -> None:
    """Fresh mistake, fourth list 61: it is named before the work."""
    projector: Any = Projector(PROBLEM)
    said: list[Any] = []
    for wrong in (lambda done: None, lambda: None, lambda a, b, c: None):
        with pytest.raises(
            errors.WrongObjectError, match=r"progress of a batch: expected a function of two .*done, total"
        ):
            projector.project_batch([HOME, HOME], progress=wrong)
    projector.project_batch([HOME, HOME], progress=lambda *both: said.append(both))
    assert said[-1] == (2, 2)


def test_a_type_error_of_the_function_itself_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise TypeError("of its own")

    monkeypatch.setattr(Implicit, "check_rhs", fails)
    with pytest.raises(TypeError, match=r"^of its own$"):
        PROBLEM.rhs.replace(0, HOME)


def test_what_python_itself_asks_for_stays_a_bare_question() -> None:
    """Protocols, pickling and slots that are not filled yet look for attributes, and must not pay for words."""

    class Slotted(NamesChecked):
        __slots__ = ("later",)

    for name in ("later", "__array__", "_ipython_display_"):
        with pytest.raises(AttributeError) as caught:
            getattr(Slotted(), name)
        assert not isinstance(caught.value, errors.ConstraintError)
    assert not hasattr(POSTURE, "__array__")
    again = pickle.loads(pickle.dumps(PATH))
    np.testing.assert_array_equal(again.samples, PATH.samples)


def test_functions_that_do_not_say_what_they_take_can_be_called() -> None:
    assert can_be_called(print, 1, 2)
    assert can_be_called(dict.fromkeys, [1])
    assert not can_be_called(lambda one: one, 1, 2)


def test_dir_shows_no_name_that_only_raises() -> None:
    """Planner 10: tab completion listed `robot.fk`; what it lists can be read, and what others call it is not there."""
    for thing, absent, there in (
        (ARM, {"fk", "ik", "geometry", "draw"}, {"at", "plot", "bounds"}),
        (PROBLEM, {"solve", "add"}, {"rhs", "constraints"}),
        (Projector(PROBLEM), {"run", "solve"}, {"project"}),
        (POSTURE, {"velocity", "pose"}, {"placement"}),
        (MOTION, {"placement"}, {"velocity"}),
        (ARM.space, {"distance"}, {"difference", "factors"}),
    ):
        names = set(dir(thing))
        assert not absent & names
        assert there <= names
        for name in absent:
            with pytest.raises(errors.NoAttributeError):
                getattr(thing, name)


def test_paths_are_joined_by_sum_from_the_first() -> None:
    """Planner 7: `sum(paths)` was a bare TypeError; what it is told works."""
    with pytest.raises(errors.OperatorError, match=r"`sum\(paths\[1:\], paths\[0\]\)` joins") as caught:
        sum([PATH, PATH])
    assert isinstance(caught.value, TypeError)
    joined: Any = sum([PATH], PATH)
    assert joined.duration == 2.0
    with pytest.raises(errors.WrongObjectError, match=r"\[path\(t\) for t in times\], got ndarray"):
        PATH(np.linspace(0.0, 1.0, 3))


def test_what_belongs_elsewhere_is_told() -> None:
    """Planner 9: a mask of a function, a count that came as a bound, restarts as a number."""
    with pytest.raises(errors.CallError, match=r"it belongs to the constraint, as Implicit.zero\(f, mask="):
        Position(ARM, "tool", mask=[1, 1, 0])  # type: ignore[call-arg]
    with pytest.raises(errors.SizeError, match=r"how many points is size=5"):
        ARM.space.random(np.random.default_rng(0), 5)  # type: ignore[arg-type]
    assert ARM.space.random(np.random.default_rng(0), size=5).shape == (5, ARM.nq)
    with pytest.raises(errors.OptionError, match=r"'restarts': expected True or False \(False, or Options.local\(\)"):
        Options(restarts=0)  # type: ignore[arg-type]


def test_an_end_with_another_right_hand_side_is_told() -> None:
    """Planner 9: the hand of the last configuration is elsewhere; with both right-hand sides the path is found."""
    there = Projector(PROBLEM).project(HOME, PROBLEM.rhs_from(HOME + 0.05)).q
    failed = interpolate(PROBLEM, HOME, there)
    assert "give both: `interpolate(problem, q0, q1, (rhs0, rhs1))`" in str(failed)
    assert interpolate(PROBLEM, HOME, there, (PROBLEM.rhs, PROBLEM.rhs_from(there))).success
    tool = Position(ARM, "tool")
    still = Problem(ARM, [Implicit.zero(tool - Constant(tool.value(HOME), tool.outputs, tool.inputs))])
    assert "give both" not in str(interpolate(still, HOME, there))


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("CollisionModel", "constraints.manipulation"), ("interpolate", "constraints.manipulation"),
        ("sample_arm", "constraints.models"), ("show", "constraints.pictures"), ("Polynomial", "constraints.functions"),
    ],
)  # fmt: skip
def test_a_name_of_another_package_is_told(name: str, room: str) -> None:
    """Planner 9: `constraints.CollisionModel` was a bare AttributeError; where it is said to be, it is."""
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': it is in `{room}`"):
        getattr(constraints, name)
    assert hasattr(import_module(room), name)


@pytest.mark.parametrize(
    "room", ["", ".certificates", ".files", ".manipulation", ".pictures", ".solvers", ".solvers.diagnosis"]
)
def test_a_star_takes_what_is_imported_on_use_too_and_no_modules(room: str) -> None:
    """`from constraints.certificates import *` gave nothing, without a word; the module `robot` replaced a robot."""
    taken: dict[str, object] = {}
    exec(f"from constraints{room} import *", taken)
    door = import_module(f"constraints{room}")
    names = {
        name for name in dir(door) if not name.startswith("_") and not isinstance(vars(door).get(name), ModuleType)
    }
    assert names - {"TYPE_CHECKING"} == taken.keys() - {"__builtins__"}


@pytest.mark.program
def test_a_package_that_is_not_imported_is_told() -> None:
    """Planner 9: `constraints.pictures` needs an import of its own; a name that is nowhere is not said to be there."""
    said = "import constraints\nfor name in ('pictures', 'nowhere'):\n    try:\n        getattr(constraints, name)\n"
    said += "    except AttributeError as error:\n        print(error)\n"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "module 'constraints' has no attribute 'pictures' yet: `import constraints.pictures` comes first",
        "module 'constraints' has no attribute 'nowhere'",
    ]
