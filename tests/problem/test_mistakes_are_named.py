"""Mistakes of users on spaces, functions, constraints and problems: what they are told, or what works instead."""

from __future__ import annotations

import logging
import pickle
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, two_arms

from constraints import (
    Affine,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Status,
    Target,
    linear_coupling,
)
from constraints.errors import (
    FrozenOptionError,
    FunctionError,
    NotDeclaredError,
    OptionError,
    OtherConstraintsError,
    RightHandSideError,
    SizeError,
    SpaceMismatchError,
    UnknownNameError,
    UnknownOptionError,
    WrongObjectError,
)
from constraints.functions import Polynomial
from constraints.functions.frames.frame_function import posture_of, supporting_columns
from constraints.models import sample_arm
from constraints.testing import CheckFailed, check_function, check_space, check_target
from liegroups import SE3, SO3, Rn

# --- spaces -----------------------------------------------------------------------------------------------------------


def test_a_space_times_a_number_says_how_copies_are_written() -> None:
    """Mend, fresh mistake 16: SE3 * 2 names SE3 ** n, on either side."""
    for call in (lambda: SE3 * 2, lambda: 2 * SE3, lambda: SE3 * np.int64(2)):
        with pytest.raises(WrongObjectError, match=r"SE3.*a Space; for copies of one, SE3 \*\* n, got"):
            call()
    assert (SE3 * Rn(2)).nv == 8
    assert (SE3**2).nv == 12


class Belt(Rn):  # pyright: ignore[reportGeneralTypeIssues]
    """A space of a user's."""

    def __init__(self) -> None:
        super().__init__(2)


def test_a_class_is_no_object_of_it() -> None:
    """Mend, fresh mistake 20: checks say that a class was given, and that an object of it is wanted."""
    with pytest.raises(WrongObjectError, match=r"expected a Space, got the class Belt itself, not an object of it"):
        check_space(Belt)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="expected a Function, got the class Position itself"):
        check_function(Position)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="the class Height itself"):
        Implicit.equal(Height, [0.4])  # pyright: ignore[reportArgumentType]


# --- functions of users -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Height(Function):
    """Height of the tool; children make one mistake each."""

    robot: Robot

    def __post_init__(self) -> None:
        columns = supporting_columns(self.robot, self.robot.frame("tool").joint)
        self.declare(self.robot.space, Rn(1), columns, periodic=True)

    def height(self, point: Any) -> Any:
        return posture_of(point).placement(self.robot.frame("tool")).translation[2:]

    def slope(self, point: Any) -> Any:
        frame = self.robot.frame("tool")
        return posture_of(point).placement(frame).rotation[2] @ posture_of(point).jacobian(frame)[:3]

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        value[:] = self.height(point)
        if jacobian is not None:
            jacobian[0] = self.slope(point)


class Returned(Height):
    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        return self.height(point)


class Rebound(Height):
    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        value = self.height(point)  # noqa: F841
        if jacobian is not None:
            jacobian[0] = self.slope(point)


class Added(Height):
    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        value += self.height(point)
        if jacobian is not None:
            jacobian[0] = self.slope(point)


class NoJacobian(Height):
    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        value[:] = self.height(point)
        jacobian = self.slope(point)  # noqa: F841


class Always(Height):
    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        value[:] = self.height(point)
        jacobian[0] = self.slope(point)


class DriftReturned(Height):
    def drift(self, motion: Any, out: Any) -> Any:
        return np.zeros(1)


def everywhere(f: Function) -> dict[str, Any]:
    """What evaluates a function, by name: public doors, the solver, right-hand sides, other functions."""
    robot, home = sample_arm(), sample_arm().reference("home")
    problem = Problem(robot, [Implicit.equal(f, [0.4], name="height")])
    return {
        "value": lambda: f.value(home),
        "call": lambda: f(home),
        "jacobian": lambda: f.jacobian(home),
        "solver": lambda: Projector(problem).project(home),
        "right-hand side": lambda: problem.rhs_from(home),
        "residual": lambda: problem.residual(home),
        "composed": lambda: (2.0 * f).value(home),
    }


@pytest.mark.parametrize("kind", [Returned, Rebound, Added])
def test_a_value_that_is_not_written_is_refused_everywhere(kind: type[Height]) -> None:
    """Mend, fresh mistake 51: no zeros or old memory pass for a value, at no door and not in the solver."""
    words = "returns ndarray instead of writing" if kind is Returned else "row 0 of the value.*is not written"
    f = kind(sample_arm())
    for what, call in everywhere(f).items():
        with pytest.raises(FunctionError, match=f"{words}.*check_function") as caught:
            call()
        assert caught.value.function == kind.__name__, what
    with pytest.raises(CheckFailed, match=words):
        check_function(f)


def test_a_value_that_is_not_written_is_refused_in_explicit_constraints() -> None:
    """Mend, fresh mistake 51: the map of an explicit constraint is watched too."""

    @dataclass(frozen=True, eq=False, repr=False)
    class Twice(Function):
        def __post_init__(self) -> None:
            self.declare(Rn(1), Rn(1))

        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
            return 2.0 * point.q

    robot = sample_arm()
    problem = Problem(robot, [Explicit(Twice(), robot.segments("wrist_pitch"), robot.segments("elbow"))])
    with pytest.raises(FunctionError, match="evaluate of Twice returns"):
        Projector(problem).project(robot.reference("home"))


def test_a_jacobian_or_drift_that_is_not_written_is_refused() -> None:
    """Mend, fresh mistake 51: neither is a Jacobian of zeros, nor a drift of old memory."""
    robot = sample_arm()
    home = robot.reference("home")
    lost = NoJacobian(robot)
    assert lost.value(home) == Height(robot).value(home)
    for what, call in everywhere(lost).items():
        if what in ("jacobian", "solver"):
            with pytest.raises(FunctionError, match="the Jacobian of NoJacobian is not written"):
                call()
    with pytest.raises(FunctionError, match="drift of DriftReturned returns ndarray"):
        DriftReturned(robot).drift_at(home, np.ones(7))


def test_a_watched_function_is_as_good_as_before() -> None:
    """Mend, fresh mistake 51: what is written passes, bit for bit, with entries left at zero and values not finite."""
    robot = sample_arm()
    rng, f = np.random.default_rng(5), Height(robot)
    check_function(f)
    q = robot.random(rng)
    assert f.value(q) == Position(robot, "tool").value(q)[2:]
    assert np.abs(f.jacobian(q)[0] - Position(robot, "tool").jacobian(q)[2]).max() < 1e-15
    assert pickle.loads(pickle.dumps(f)).value(q) == f.value(q)

    class Sparse(Function):  # writes what is not zero, and has no value for some arguments
        def __init__(self) -> None:
            self.declare(Rn(2), Rn(2))

        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
            with np.errstate(invalid="ignore"):
                value[:] = np.sqrt(point.q)
            if jacobian is not None:
                jacobian[0, 0], jacobian[1, 1] = 0.5 / value

    assert Sparse().jacobian([1.0, 4.0]).tolist() == [[0.5, 0.0], [0.0, 0.25]]
    assert np.isnan(Sparse().value([-1.0, 4.0])).tolist() == [True, False]


def test_a_function_that_is_not_declared_says_so_at_its_first_use() -> None:
    """Mend, fresh mistake 55: a typed error names the class and declare; it is an AttributeError too."""

    @dataclass(frozen=True, eq=False, repr=False)
    class Bare(Function):
        robot: Robot

        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
            value[0] = 0.0

    bare, robot = Bare(sample_arm()), sample_arm()
    for call in (
        lambda: bare.value(robot.neutral),
        lambda: bare.jacobian(robot.neutral),
        lambda: Implicit.equal(bare, [0.4]),
        lambda: Affine([[1.0]]) @ bare,
        lambda: bare - bare,
        lambda: str(bare),
    ):
        with pytest.raises(NotDeclaredError, match=r"Bare has no \w+.*self\.declare\(inputs, outputs, \.\.\.\)"):
            call()
    assert not hasattr(bare, "inputs")
    with pytest.raises(CheckFailed, match=r"self\.declare"):
        check_function(bare)


def test_a_jacobian_written_without_asking_is_told_from_other_type_errors() -> None:
    """Mend, fresh mistake 56: value() and check_function say `if jacobian is not None`; what else fails stays."""
    always = Always(sample_arm())
    with pytest.raises(FunctionError, match=r"evaluate of Always fails without a Jacobian.*if jacobian is not None"):
        always.value(sample_arm().neutral)
    with pytest.raises(CheckFailed, match="if jacobian is not None"):
        check_function(always)

    class Wrong(Height):
        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
            value[0] = "a" + 1  # pyright: ignore[reportOperatorIssue]

    with pytest.raises(TypeError, match="str"):
        Wrong(sample_arm()).value(sample_arm().neutral)


# --- algebra ----------------------------------------------------------------------------------------------------------


def test_a_matrix_times_a_function() -> None:
    """Mend, fresh mistake 59: A @ f is Affine(A) @ f, for numpy arrays and lists; sizes are checked."""
    robot, q = arm(), arm().random(np.random.default_rng(1))
    model: Any = robot.model
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    true = data.oMf[model.getFrameId("tool")].translation
    A = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0]])
    for product in (A @ Position(robot, "tool"), A.tolist() @ Position(robot, "tool")):
        assert np.abs(product.value(q) - A @ true).max() < 1e-14
    with pytest.raises(SizeError, match=r"\(1, 3\).*\(1, 2\)"):
        np.ones((1, 2)) @ Position(robot, "tool")
    with pytest.raises(OptionError, match="rotations or poses"):
        np.ones((1, 6)) @ Pose(robot, "tool")


def test_sums_and_multiples() -> None:
    """Mend, fresh mistake 60: 0.5 * (f + g) and sum([f, g]) are functions, and solved; a constant has its own."""
    robot, rng = two_arms(), np.random.default_rng(2)
    f, g = Position(robot, "left_tool"), Position(robot, "right_tool")
    middle, q = 0.5 * (f + g), robot.random(rng)
    total: Any = sum([f, g, f])
    assert total.value(q) == pytest.approx(2.0 * f.value(q) + g.value(q))
    with pytest.raises(WrongObjectError, match=r"Constant\(value, f\.outputs, f\.inputs\)"):
        Pose(robot, "left_tool") - np.ones(6)
    problem = Problem(robot, [Implicit.equal(middle, middle.value(q), name="middle")])
    assert Projector(problem).project(robot.neutral).success


def test_polynomials_print_as_they_are() -> None:
    """Mend, fresh mistake 64: repr and describe() show the polynomial, so that the order of coefficients is seen."""
    robot = sample_arm()
    follow = Polynomial([2.0, 0.0, -1.0], [0, 0, 0, 1, 0, 0, 0], inputs=robot.space)
    assert repr(follow) == "Polynomial('Polynomial': 2 - s^2, s = elbow)"
    assert "\n    value 2 - s^2, s = elbow\n" in Problem(robot, [Implicit.zero(follow, name="cam")]).describe()
    assert Polynomial([0.0, -0.5, 0.0, 1.0], [2.0, -1.0], 0.25).written_out.startswith("-0.5 s + s^3, s = 2 ")
    assert Polynomial([0.0], [1.0]).written_out.startswith("0, s = ")


# --- right-hand sides and targets -------------------------------------------------------------------------------------


def test_right_hand_sides_of_other_constraints_of_the_same_name_are_refused() -> None:
    """Mend, fresh mistake 89: equal names and groups do not make two constraints one."""
    robot, home = sample_arm(), sample_arm().reference("home")
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.45, 0.1, 0.3], name="point")])
    elbow = Implicit.equal(Position(robot, "elbow"), [0.2, 0.0, 0.6], name="point")
    masked = Implicit.equal(Position(robot, "tool"), [0.45, 0.1, 0.3], mask=[True, True, False], name="point")
    above = Implicit(Position(robot, "tool"), lower=0.0, name="point")
    for constraint in (elbow, masked, above):
        other = Problem(robot, [constraint])
        for call in (
            lambda rhs: Projector(problem).project(home, rhs),
            lambda rhs: Projector(problem).project_batch(np.array([home]), rhs),
            lambda rhs: problem.residual(home, rhs),
        ):
            with pytest.raises(OtherConstraintsError, match=r"'point'.*rhs\.replace.*rhs_from.*rhs_from_parts"):
                call(other.rhs)
    assert issubclass(OtherConstraintsError, SpaceMismatchError)


def test_right_hand_sides_of_copies_are_taken() -> None:
    """Mend, fresh mistake 89: of pickled, loaded and equal constraints made again; stacks are compared once."""
    robot, home = sample_arm(), sample_arm().reference("home")

    def made(target: Any) -> Problem:
        point = Implicit.equal(Position(robot, "tool"), target, name="point")
        lock = linear_coupling(robot, "wrist_roll", {"forearm_roll": 0.5}, name="coupled")
        return Problem(robot, [point, lock])

    problem, seen = made([0.45, 0.1, 0.3]), list[Any]()
    q = Projector(problem).project(home).or_raise().q
    for copied in (pickle.loads(pickle.dumps(problem)), made([0.2, 0.0, 0.5])):
        assert problem.residual(q, copied.rhs.replace("point", [0.45, 0.1, 0.3])) <= 1e-4

    @dataclass(frozen=True, eq=False, repr=False)
    class Counted(Height):
        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
            seen.append(point)
            value[:] = self.height(point)
            if jacobian is not None:
                jacobian[0] = self.slope(point)

    mine, theirs = (Problem(robot, [Implicit.equal(Counted(robot), [0.4], name="h")]) for _ in range(2))
    given = [theirs.rhs.replace("h", [h]) for h in np.linspace(0.3, 0.5, 20)]
    sides = [mine.check_rhs(rhs) for rhs in given]
    assert len(seen) == 4  # two constraints at two configurations, once
    assert [float(s.vector[0]) for s in sides] == np.linspace(0.3, 0.5, 20).tolist()


def circle(sign: float) -> Target:
    return Target(
        lambda t: [0.45, 0.15 * np.cos(t), 0.45 + 0.15 * np.sin(t)],
        lambda t: [0.0, sign * 0.15 * np.sin(t), 0.15 * np.cos(t)],
        lambda t: [0.0, -0.15 * np.cos(t), -0.15 * np.sin(t)],
    )


def test_a_velocity_that_is_no_derivative_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """Mend, fresh mistake 94: rhs_at(t) says which rate of which constraint disagrees, also where the first time
    shows nothing (the sine is zero there)."""
    robot = sample_arm()

    def lines(target: Target) -> list[str]:
        problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), target, name="tool")])
        caplog.clear()
        with caplog.at_level(logging.WARNING, "constraints"):
            for t in np.linspace(0.0, 3.0, 40):
                problem.rhs_at(t)
        return [record.getMessage() for record in caplog.records]

    assert lines(circle(-1.0)) == []
    (line,) = lines(replace(circle(1.0), acceleration=None))
    assert line.startswith("'tool': the velocity of the target at 0.0769")  # the second time: at 0 s it is right
    assert "is not the derivative of its value: row 1 is 0.011" in line
    (line,) = lines(circle(1.0))
    assert line.startswith("'tool': the acceleration of the target at 0 s is not the derivative of its velocity")


def test_check_target() -> None:
    """Mend, fresh mistake 94: the check names the rate, the time and both numbers; kinks and poses pass."""
    times = np.linspace(0.1, 6.0, 9)
    check_target(circle(-1.0), times)
    with pytest.raises(CheckFailed, match=r"the velocity of the target at 1 s.*row 1 is 0\.126221.* by -0\.126221"):
        check_target(circle(1.0), [1.0])
    with pytest.raises(CheckFailed, match="the acceleration of the target"):
        check_target(replace(circle(-1.0), acceleration=lambda t: [0.0, 0.0, 1.0]), times)
    kink = Target(lambda t: [abs(t - 1.0)], lambda t: [np.sign(t - 1.0)], interval=(0.0, 2.0))
    check_target(kink, [0.0, 0.5, 1.0, 2.0])
    w = np.array([0.3, -0.2, 0.5])
    check_target(Target(lambda t: SO3.exp(w * t), lambda t: w), times, SO3)
    with pytest.raises(CheckFailed, match="velocity"):
        check_target(Target(lambda t: SO3.exp(w * t), lambda t: -w), times, SO3)
    with pytest.raises(SizeError):
        check_target(kink, [])


# --- explicit constraints ---------------------------------------------------------------------------------------------


def test_an_offset_without_equality_names_the_comparison() -> None:
    """Mend, fresh mistake 112: the way out is one that explicit constraints have too."""
    robot = sample_arm()
    tied = Explicit(Affine([[1.0]]), robot.segments("wrist_pitch"), robot.segments("elbow"), rhs=[0.1], name="c")
    with pytest.raises(RightHandSideError, match=r"'c': row 0 is EQUAL_TO_ZERO.*comparison=Comparison\.EQUALITY"):
        Problem(robot, [tied])  # where its space is known
    segments = robot.segments("wrist_pitch"), robot.segments("elbow")
    moved = Explicit(Affine([[1.0]]), *segments, rhs=[0.1], comparison=Comparison.EQUALITY, name="c")
    assert Problem(robot, [moved]).rhs.of("c") == [0.1]


def test_a_wrong_inverse_is_named_in_the_result() -> None:
    """Mend, fresh mistake 113: the text says whose computed outputs do not satisfy it, and so does the diagnosis."""
    robot = sample_arm()
    segments = robot.segments("wrist_pitch"), robot.segments("elbow")
    coupled = Explicit(Affine([[1.0]]), *segments, g=Affine([[2.0]]), g_inverse=Affine([[2.0]]), name="2 wrist = elbow")
    result = Projector(Problem(robot, [coupled])).project(robot.reference("home"))
    words = "computed outputs of '2 wrist = elbow' do not satisfy it: its g_inverse or its twin is wrong"
    assert result.status is Status.UNDEFINED
    assert words in str(result)
    assert "names the function" not in str(result)
    (found,) = result.diagnose(iterations=20, trials=2).undefined
    assert found.constraint == "2 wrist = elbow"
    raised = Implicit.equal(Position(robot, "tool"), [0.45, 0.1, 0.4], name="raised")
    both = Projector(Problem(robot, [coupled, raised]), Options(max_iterations=1)).project(robot.reference("home"))
    assert both.status is Status.MAX_ITERATIONS  # whatever the status, the diagnosis looks at them
    (helps,) = both.diagnose(iterations=200).suggestions
    assert helps.startswith("Look at '2 wrist = elbow': its computed outputs do not satisfy it; its g_inverse")
    right = Explicit(Affine([[1.0]]), *segments, g=Affine([[2.0]]), g_inverse=Affine([[0.5]]), name="2 wrist = elbow")
    assert Projector(Problem(robot, [right])).project(robot.reference("home")).success


# --- problems and options ---------------------------------------------------------------------------------------------


def test_names_with_line_breaks_stay_on_one_line(tmp_path: Any) -> None:
    """Mend, fresh mistake 119: texts escape them, files keep them, and they are found by their own name."""
    name, robot = "pick {part}\n100% of the way", sample_arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.45, 0.1, 0.3], name=name)])
    problem.save(tmp_path / "task.json")
    again = Problem.load(tmp_path / "task.json")
    assert again.constraints.names == (name,)
    result = Projector(again).project(robot.reference("home"))
    shown = r"'pick {part}\n100% of the way'"
    for text in (again.describe(), result.describe(), str(result.diagnose())):
        assert shown in text
        assert "\n100%" not in text
    for text in (repr(again), repr(again.constraints), again.constraints.labels[0]):
        assert "\n" not in text
    with pytest.raises(SizeError, match=r"right-hand side of 'pick \{part\}\\n100%"):
        again.rhs.replace(name, [1.0])
    with pytest.raises(UnknownNameError):
        again.rhs.replace("pick", [1.0, 0.0, 0.0])


def test_options_do_not_change() -> None:
    """Mend, fresh mistake 142: the error shows dataclasses.replace, and is still a FrozenInstanceError."""
    options = Options()
    with pytest.raises(FrozenOptionError, match=r"dataclasses\.replace\(options, threshold=1e-08\)"):
        options.threshold = 1e-8  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        options.seed = 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(UnknownOptionError, match="threshold"):
        options.treshold = 1e-8  # pyright: ignore[reportAttributeAccessIssue]
    assert options == Options()
    assert replace(options, threshold=1e-8).threshold == 1e-8
    assert pickle.loads(pickle.dumps(options)) == options
