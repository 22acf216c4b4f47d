"""What `check_function` finds in wrong functions, and that its message says what to mend."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from robots import arm, humanoid, two_arms

from constraints import Affine, Function, Pose, Position, errors
from constraints.functions.frames._template import DistanceBetween
from constraints.functions.frames.frame_function import kinematics_at
from constraints.testing import CheckFailed, check_function
from liegroups import SO2, SO3, Rn


@dataclass(frozen=True, eq=False, repr=False)
class Quadratic(Function):
    """f(q) = (q0 q1, q1^2 + 3 q3) on R^4, right in every way unless `fault` says otherwise."""

    fault: str = ""
    memory: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.declare(Rn(4), Rn(2), [True, True, False, True])

    def evaluate(self, point, value, jacobian=None):
        x, y, z, w = point.q
        value[:] = x * y, y * y + 3.0 * w
        if jacobian is not None:
            jacobian[:, [0, 1, 3]] = [[y, x, 0.0], [0.0, 2.0 * y, 3.0]]
        match self.fault:
            case "undeclared value":
                value[1] += z * z
            case "undeclared Jacobian" if jacobian is not None:
                jacobian[0, 2] = 1e-300
            case "sign" if jacobian is not None:
                jacobian[1, 3] = -3.0
            case "missing" if jacobian is not None:
                jacobian[0, 1] = 0.0
            case "extra" if jacobian is not None:
                jacobian[0, 3] = 0.5
            case "scale" if jacobian is not None:
                jacobian[1, 1] = y
            case "slightly" if jacobian is not None:
                jacobian[1, 3] = 3.0 + 4e-7
            case "kink":
                value[0] += 0.1 * abs(y - 0.25)
            case "argument":
                point.q[0] = 0.0
            case "memory":
                self.memory.append(x)
                value[0] += len(self.memory)
            case "attribute":
                object.__setattr__(self, "last", x)
            case "scratch":
                scratch = point.scratch(self, "sum", (1,))
                scratch += x
                value[0] += scratch[0]
            case "two ways" if jacobian is None:
                value[0] = np.nextafter(x * y, 9.0)
            case "undefined":
                raise errors.UndefinedError("never")
            case "not a number":
                value[1] = np.inf - np.inf


class Unwritten(Quadratic):
    def evaluate(self, point, value, jacobian=None):
        x, y, _, w = point.q
        if self.fault == "value":
            value[0] = x * y
            value[1] += y * y + 3.0 * w
            return
        value[:] = x * y, y * y + 3.0 * w
        if jacobian is not None:
            jacobian[:, [0, 1]] = [[y, x], [0.0, 2.0 * y]]
            if self.fault == "entry":
                jacobian[1, 3] = 3.0
            else:
                jacobian[:, 3] += [0.0, 3.0]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("undeclared value", r"column 2 is not declared in `columns` of Quadratic, but the value changes with it"),
        (
            "undeclared Jacobian",
            r"column 2 of Quadratic is not declared in `columns` but row 0 of the Jacobian is 1e-300",
        ),
        (
            "sign",
            r"row 1, column 3 of the Jacobian of Quadratic is -3, but by central differences [23][\s\S]*fix: its sign",
        ),
        ("missing", r"row 0, column 1 of the Jacobian[\s\S]*fix: a missing term"),
        ("extra", r"row 0, column 3 of the Jacobian[\s\S]*fix: an extra term"),
        ("scale", r"row 1, column 1 of the Jacobian[\s\S]*fix: derivatives are by tangent vectors"),
        ("slightly", r"tend to its Jacobian like the square of the step"),
        ("argument", r"evaluate of Quadratic changes point.q[\s\S]*a copy of point.q"),
        ("memory", r"Quadratic gives different values with and without a Jacobian"),
        ("attribute", r"evaluation changes the attribute 'last' of Quadratic[\s\S]*no cache"),
        ("scratch", r"Quadratic gives (different values|different bits)[\s\S]*scratch"),
        ("two ways", r"Quadratic gives different values with and without a Jacobian"),
        ("undefined", r"Quadratic has a value at only 0 of \d+ random configurations[\s\S]*never"),
        (
            "not a number",
            r"^row 1 of the value of Quadratic is nan[\s\S]*law: value and Jacobian are finite[\s\S]*UndefinedError",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_fault_is_named(fault: str, said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        check_function(Quadratic(fault))


def test_a_right_function_passes() -> None:
    check_function(Quadratic())
    check_function(Quadratic(), np.zeros(4))
    check_function(Quadratic(), [[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 1e-9]])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("value", r"row 1 of the value of Unwritten is not written, or is added to"),
        ("entry", r"row 0 of the Jacobian, column 3, of Unwritten is not written"),
        ("added", r"row 0 of the Jacobian, column 3, of Unwritten is not written, or is added to[\s\S]*with ="),
    ],
)
def test_unwritten_entries_are_named(fault: str, said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        check_function(Unwritten(fault))


def test_a_kink_is_told_from_a_wrong_jacobian() -> None:
    with pytest.raises(CheckFailed, match=r"jumps or has a kink here \(slopes .* on the two sides\)"):
        check_function(Quadratic("kink"), [1.0, 0.250002, 0.0, 0.0])


# --- on a robot ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Height(Function):
    """Height of the tool of the arm, with faults."""

    fault: str = ""

    def __post_init__(self) -> None:
        robot = arm()
        columns = np.ones(7, dtype=bool)
        columns[3] = self.fault != "columns"
        object.__setattr__(self, "robot", robot)
        self.declare(robot.space, Rn(1), columns, periodic=True)

    def evaluate(self, point, value, jacobian=None):
        whole = np.zeros((3, 7))
        position = Position(arm(), "tool")
        there = np.zeros(3)
        position.evaluate(point, there, whole)
        value[0] = there[2] + (1e-3 * point.q[1] if self.fault == "turns" else 0.0)
        if jacobian is not None:
            jacobian[0, self.columns] = whole[2, self.columns]
            if self.fault == "turns":
                jacobian[0, 1] += 1e-3

    def drift(self, motion, out):
        there = np.zeros(3)
        Position(arm(), "tool").drift(motion, there)
        out[0] = there[2] * (1.001 if self.fault == "drift" else 1.0)
        if self.fault == "unwritten drift":
            out[0] = np.nan


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("columns", r"column 3 \(elbow\) is not declared in `columns` of Height, but the value changes with it"),
        (
            "turns",
            r"Height is declared periodic in column 1 \(shoulder_pitch\) but a whole turn changes[\s\S]*periodic=False",
        ),
        ("drift", r"row 0 of the drift of Height is .*but d\(J v\)/dt by differences"),
        ("unwritten drift", r"row 0 of the drift of Height is nan"),
    ],
)
def test_messages_name_the_joint(fault: str, said: str) -> None:
    check_function(Height(), samples=3)
    with pytest.raises(CheckFailed, match=said) as caught:
        check_function(Height(fault), samples=3)
    assert caught.value.where["q"].shape == (7,)
    assert "q = [" in str(caught.value)


def test_columns_of_a_joint_with_several_are_counted() -> None:
    @dataclass(frozen=True, eq=False, repr=False)
    class Spun(DistanceBetween):
        def evaluate(self, point, value, jacobian=None):
            super().evaluate(point, value, jacobian)
            value[0] += point.q[0]

    with pytest.raises(CheckFailed, match=r"column 0 \(root_joint, 1 of 6\) is not declared"):
        check_function(Spun(humanoid(), "larm6_body", "rarm6_body"), samples=2)


@dataclass(frozen=True, eq=False, repr=False)
class Squared(Function):
    """f(q) = q0^2 with drift derivatives of its own."""

    factor: float = 2.0

    def __post_init__(self) -> None:
        self.declare(Rn(1), Rn(1))

    def evaluate(self, point, value, jacobian=None):
        value[0] = point.q[0] ** 2
        if jacobian is not None:
            jacobian[0, 0] = 2.0 * point.q[0]

    def drift(self, motion, out):
        out[0] = 2.0 * motion.v[0] ** 2

    def drift_derivatives(self, motion, a, dq, dv):
        dq[0, 0] = self.factor * a[0]
        dv[0, 0] = 4.0 * motion.v[0]


def test_drift_derivatives_are_checked() -> None:
    check_function(Squared())
    with pytest.raises(CheckFailed, match="dq of the drift derivatives of Squared, row 0, column 0, is"):
        check_function(Squared(3.0))


# --- spaces, copies, doors -------------------------------------------------------------------------------------------


def test_values_must_be_points_of_the_outputs() -> None:
    def stretched(by: float) -> Function:
        return Function.from_callable(lambda q: by * SO2.exp(q), Rn(1), SO2, lambda q: np.ones((1, 1)), name="turn")

    with pytest.raises(CheckFailed, match=r"the value of turn is not a point of SO2[\s\S]*normalise"):
        check_function(stretched(1.0 + 1e-7), pickles=False)
    with pytest.raises(errors.NotNormalizedError, match="value of turn"):
        check_function(stretched(1.01), pickles=False)


def test_lambdas_do_not_pickle() -> None:
    f = Function.from_callable(lambda q: q**2, Rn(1), Rn(1), lambda q: 2.0 * q)
    check_function(f, pickles=False)
    with pytest.raises(CheckFailed, match=r"cannot be pickled[\s\S]*pickles=False"):
        check_function(f)


def test_functions_say_what_they_map_and_are_compared_by_identity() -> None:
    @dataclass(frozen=True, eq=False, repr=False)
    class Silent(Function):
        def evaluate(self, point, value, jacobian=None):
            value[:] = 0.0

    with pytest.raises(CheckFailed, match=r"call self.declare\("):
        check_function(Silent())
    Compared = dataclasses.dataclass(frozen=True, eq=True, repr=False)(type("Compared", (Squared,), {}))
    with pytest.raises(CheckFailed, match=r"Compared has its own __eq__[\s\S]*compared by identity[\s\S]*eq=False"):
        check_function(Compared())


def test_points_where_a_function_is_undefined_are_drawn_again() -> None:
    def logarithm(q: np.ndarray) -> float:
        if q[0] <= 0.1:
            raise errors.UndefinedError("logarithm of a negative number")
        return float(np.log(q[0]))

    f = Function.from_callable(logarithm, Rn(1), Rn(1), lambda q: 1.0 / q, name="log")
    check_function(f, pickles=False)
    with pytest.raises(errors.UndefinedError):
        check_function(f, [-1.0], pickles=False)


@pytest.mark.parametrize(
    ("configurations", "error"), [(np.zeros((2, 6)), errors.SizeError), (np.full(7, np.nan), errors.NotFiniteError)]
)
def test_configurations_are_checked(configurations: np.ndarray, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"configuration for Pose\(tool\)"):
        check_function(Pose(arm(), "tool"), configurations)


def test_only_functions_are_checked() -> None:
    with pytest.raises(errors.WrongObjectError, match="expected a Function"):
        check_function(np.sin)  # pyright: ignore[reportArgumentType]


def test_configurations_are_drawn_within_the_bounds_of_the_robot() -> None:
    seen: list[np.ndarray] = []
    robot = two_arms().with_bounds({"torso": (0.2, 0.3)})

    @dataclass(frozen=True, eq=False, repr=False)
    class Watched(Position):
        def evaluate(self, point, value, jacobian=None):
            if jacobian is not None:
                seen.append(point.q.copy())
            kinematics_at(point, jacobian)
            super().evaluate(point, value, jacobian)

    check_function(Watched(robot, "left_tool"), samples=5, pickles=False)
    assert all(0.19 <= q[0] <= 0.31 for q in seen)
    assert len({q.tobytes() for q in seen}) >= 5


@pytest.mark.parametrize("draw", [lambda: Function.from_callable(SO3.log, SO3, Rn(3), name="log")])
def test_two_runs_check_the_same_points(draw: Callable[[], Function]) -> None:
    runs: list[list[bytes]] = []
    for _ in range(2):
        seen: list[bytes] = []

        def spy(q: np.ndarray, seen: list[bytes] = seen) -> np.ndarray:
            seen.append(q.tobytes())
            return SO3.log(q)

        check_function(Function.from_callable(spy, SO3, Rn(3), trace=False), samples=2, pickles=False)
        runs.append(seen)
    assert runs[0] == runs[1]
    check_function(draw(), samples=2)


def test_a_failed_check_pickles() -> None:
    failed = CheckFailed("a law", {"q": np.zeros(2)}, 0.5, 1e-6, "this")
    copy = pickle.loads(pickle.dumps(failed))
    assert (
        str(copy) == str(failed) == "does not hold: a law: off by 0.5, 1e-06 is allowed\n  q = [0.0, 0.0]\n  fix: this"
    )
    assert str(CheckFailed("a law", {}, None, 0.0, "this")) == "does not hold: a law\n  fix: this"


def test_a_check_says_what_was_seen_and_not_the_law_as_if_it_held() -> None:
    """Mend 10: of a Jacobian that is NaN the message does not begin with "... is finite", nor any law as it stands."""
    f = Function.from_callable(lambda q: q**2, Rn(1), Rn(1), lambda q: np.array([np.nan]), name="square")
    with pytest.raises(CheckFailed) as caught:
        check_function(f, [[1.0]], pickles=False)
    first, *others = str(caught.value).splitlines()
    assert first == "row 0 of the Jacobian, column 0, of square is nan"
    assert "  law: value and Jacobian are finite" in others
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.seen) == (str(caught.value), first)


class Forgetful(Function):
    """Leaves out what it is told to."""

    def __init__(self, forgets: str) -> None:
        self.forgets = forgets
        self.declare(Rn(2), Rn(2), name="forgetful")

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        value[0] = point.q[0]
        if self.forgets != "value":
            value[1] = point.q[1]
        if jacobian is not None and self.forgets != "jacobian":
            jacobian[:] = np.eye(2)
        return value if self.forgets == "to return nothing" else None

    def drift(self, motion: Any, out: Any) -> None:
        if self.forgets != "drift":
            out[:] = 0.0


@pytest.mark.parametrize(
    ("forgets", "ask", "said"),
    [
        ("value", lambda f: f.value([1.0, 2.0]), "row 1 of the value of forgetful is not written"),
        ("jacobian", lambda f: f.jacobian([1.0, 2.0]), "the Jacobian of forgetful is not written"),
        ("drift", lambda f: f.drift_at([1.0, 2.0], [0.0, 1.0]), "row 0 of the drift of forgetful is not written"),
        ("to return nothing", lambda f: f([1.0, 2.0]), "evaluate of forgetful returns ndarray instead of writing"),
    ],
)
def test_what_users_forget_is_no_value(forgets: str, ask: Any, said: str) -> None:
    """Wherever it is asked for; the functions of the library are not watched, which costs time."""
    with pytest.raises(errors.FunctionError, match=said):
        ask(Forgetful(forgets))
    whole = Forgetful("nothing")
    assert whole([1.0, 2.0]).tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(whole.jacobian([1.0, 2.0]), np.eye(2))
    assert whole.drift_at([1.0, 2.0], [0.0, 1.0]).tolist() == [0.0, 0.0]
    assert hasattr(Forgetful.evaluate, "__wrapped__")
    assert not hasattr(Affine.evaluate, "__wrapped__")
