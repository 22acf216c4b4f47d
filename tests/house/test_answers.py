"""Mistakes of newcomers are answered: where there was silence, a bare error of Python, or a hint that misled."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from constraints import Function, Implicit, Pose, Position, Problem, Projector, Robot, Status, Target, locked_joint
from constraints.errors import (
    CallError,
    ConstraintError,
    FrozenValueError,
    NoAttributeError,
    NotFiniteError,
    NotNormalizedError,
    NotWrittenError,
    OperatorError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.loops import Hinge, assemble_position
from constraints.manipulation import CollisionModel, ConstraintGraphFactory, PathStatus, Shape
from constraints.manipulation.states import State, Transition
from constraints.models import mechanisms, sample_arm
from constraints.solvers import LinearStep, NewtonEngine
from constraints.testing import CheckFailed, check_space
from liegroups import SE3, Group, GroupMaps, Layout, R3xSO3, Rn

ARM: Any = sample_arm()
HOME = ARM.reference("home")
GOAL = [0.45, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0]
TOOL: Any = Position(ARM, "tool")
POSE: Any = Pose(ARM, "tool")
HAND: Any = Implicit.equal(POSE, GOAL, name="hand")
LOCK: Any = locked_joint(ARM, "elbow", 1.0)
PROBLEM: Any = Problem(ARM, [HAND])
PROJECTOR: Any = Projector(PROBLEM)
RHS: Any = PROBLEM.rhs
STATE: Any = State("free")
LOOP: Any = Transition("loop", STATE, STATE, STATE)
STATUS: Any = Status
PATH_STATUS: Any = PathStatus
HINGE: Any = Hinge
FACTORY: Any = ConstraintGraphFactory
COLLISIONS: Any = CollisionModel(ARM, [Shape("hand", "Sphere", (0.06,), "tool")])
FOUR: Any = mechanisms.four_bar()
GROUP: Any = SE3
MAPS: Any = GroupMaps


def untimed() -> list[float]:
    return [0.45, 0.1, 0.3]


class Unwritten(Function):
    """A class without evaluate."""


class Climbing(LinearStep):
    """A step of the wrong sign."""

    def __init__(self, rows: int, weights: Any = None) -> None:
        pass

    def solve(self, e: Any, J: Any, mu: float, root: Any = None) -> Any:
        return np.linalg.pinv(J, rcond=1e-3) @ e


def set_index() -> None:
    RHS["hand"] = GOAL


def set_field(thing: Any, name: str) -> Callable[[], None]:
    return lambda: setattr(thing, name, GOAL)


def delete_field() -> None:
    del HAND.rhs


@pytest.mark.parametrize(
    ("number", "ask", "kind", "said"),
    [
        (2, lambda: ARM.with_bounds(np.zeros(7), np.ones(7)), CallError, r"with_bounds.*'elbow': \(lower, upper\)"),
        (7, lambda: ARM.forward_kinematics(HOME, "tool"), NoAttributeError, r"robot.at\(q\).placement\(frame\)"),
        (7, lambda: ARM.fk(HOME), NoAttributeError, r"a Robot has no attribute 'fk': .*placement"),
        (7, lambda: ARM.jacobian(HOME, "tool"), NoAttributeError, r"robot.at\(q\).jacobian\(frame\)"),
        (8, lambda: TOOL[2], OperatorError, r"Position\(tool\)\[2\] is not defined: f.restricted\(\[2\]\)"),
        (10, lambda: TOOL / 0, WrongObjectError, r"Position\(tool\) is divided by: expected a number other than 0"),
        (10, lambda: TOOL / "2", WrongObjectError, "a number other than 0, got '2'"),
        (11, lambda: TOOL >= 0.3, OperatorError, r"Implicit.above\(f, lower\)"),
        (11, lambda: 0.3 > TOOL, OperatorError, r"Implicit.below\(f, upper\)"),
        (11, lambda: np.full(3, 0.3) <= TOOL, OperatorError, r"Implicit.above\(f, lower\)"),
        (18, Unwritten, NotWrittenError, r"Unwritten does not write evaluate; write evaluate\(self, point, value"),
        (
            20,
            lambda: np.ones((1, 7)) @ POSE,
            SpaceMismatchError,
            r"in A @ f: expected the space R\^n.*Position",
        ),
        (21, lambda: Implicit(POSE, GOAL), WrongObjectError, r"rhs=, or Implicit.equal"),  # pyright: ignore
        (25, lambda: Implicit.equal(POSE, None), WrongObjectError, r"right-hand side of Pose\(tool\): .*got None"),  # pyright: ignore
        (30, lambda: HAND.set_target(GOAL), NoAttributeError, r"problem.rhs.replace\(name, point\)"),
        (30, lambda: LOCK.set_rhs([1.0]), NoAttributeError, r"problem.rhs.replace\(name, point\)"),
        (31, set_field(HAND, "rhs"), FrozenValueError, r"'rhs' .*an Implicit does not change; rhs = problem.rhs.repl"),
        (31, set_field(LOCK, "rhs"), FrozenValueError, r"problem.rhs.replace\(name, point\)"),
        (31, delete_field, FrozenValueError, r"an Implicit does not change"),
        (31, set_field(PROBLEM, "bounds"), FrozenValueError, r"a Problem does not change; make another one"),
        (31, set_field(ARM, "bounds"), FrozenValueError, r"a Robot does not change; with_bounds"),
        (36, lambda: RHS.replace(hand=GOAL), UnknownNameError, r"rhs.replace\('hand', point\)"),
        (37, set_index, OperatorError, r"rhs\['hand'\] = ... is not defined: .*rhs = rhs.replace\(name, point\)"),
        (37, lambda: RHS["hand"], OperatorError, r"rhs.of\(name\)"),
        (39, lambda: Target(untimed), WrongObjectError, r"value of a Target: .*called as value\(t\), got untimed"),  # pyright: ignore
        (39, lambda: Target(lambda t: GOAL, untimed), WrongObjectError, r"velocity of a Target: .*velocity\(t\)"),  # pyright: ignore
        (42, lambda: PROBLEM.add(LOCK), NoAttributeError, r"Problem\(robot, \[a, b\]\)"),
        (43, lambda: Problem(ARM, [HAND], frozen={"elbow": 1.0}), WrongObjectError, r"a mapping: .*locked_joint"),  # pyright: ignore
        (46, lambda: PROBLEM.project(HOME), NoAttributeError, r"Projector\(problem\).project\(q\)"),
        (46, lambda: PROBLEM.solve(HOME), NoAttributeError, r"Projector\(problem\).project\(q\)"),
        (47, lambda: PROBLEM.contains(HOME), WrongObjectError, r"its name \(of a configuration: problem.is_satis"),
        (47, lambda: PROBLEM.contains(TOOL), WrongObjectError, "a constraint, or its name"),
        (51, lambda: PROJECTOR(HOME), OperatorError, r"projector\(q\) is not defined: projector.project\(q\)"),
        (52, lambda: PROJECTOR.apply(HOME), NoAttributeError, r"a Projector has no attribute 'apply': .*project\(q\)"),
        (52, lambda: PROJECTOR.solve(HOME), NoAttributeError, r"project\(q\)"),
        (56, lambda: STATUS.SUCCESS, NoAttributeError, "a Status has no attribute 'SUCCESS': here it is `Status.CONV"),
        (56, lambda: STATUS.CONVERGD, NoAttributeError, "nearest names are CONVERGED"),
        (56, lambda: PATH_STATUS.SUCCESS, NoAttributeError, "valid names are COMPLETE"),
        (67, lambda: HINGE.revolute([0, 0, 1]), NoAttributeError, r"a Hinge has no .*`Hinge.pin\(axis\)`"),
        (67, lambda: HINGE.prismatic(), NoAttributeError, r"`Hinge.slider\(axis\)`"),
        (67, lambda: HINGE.spherical(), NoAttributeError, r"`Hinge.ball\(\)`"),
        (67, lambda: HINGE.fixed(), NoAttributeError, r"`Hinge.locked\(\)`"),
        (
            69,
            lambda: assemble_position(FOUR.constraint_set(), FOUR.posture("closed"), driven={"crank": 0.5}),  # pyright: ignore
            WrongObjectError,
            r"driven joints: .*a mapping: they stay where the start has them, which robot.configuration",
        ),
        (74, lambda: STATE == "free", WrongObjectError, r"comparison of a State with 'free'.*state.name == 'free'"),
        (74, lambda: "free" != STATE, WrongObjectError, r"comparison of a State with 'free'"),
        (74, lambda: LOOP == "loop", WrongObjectError, r"transition.name == 'loop'"),
        (76, lambda: FACTORY.sample("free"), NoAttributeError, r"`factory.generate\(\).sample`"),
        (83, lambda: COLLISIONS.in_collision(HOME), NoAttributeError, r"`not is_free\(q\)`"),
        (94, lambda: GROUP(GOAL), OperatorError, r"SE3\(...\) is not defined: a point is an array of 7 .*quaternion"),
        (96, lambda: MAPS(integrate=np.add), WrongObjectError, "none for difference, compose, inverse, adjoint"),
        (96, lambda: MAPS(integral=np.add), UnknownNameError, "nearest names are integrate"),
    ],
)
def test_a_mistake_is_answered(number: int, ask: Callable[[], object], kind: type[Exception], said: str) -> None:
    """Mend: a hundred mistakes, each by its number."""
    with pytest.raises(kind, match=said) as caught:
        ask()
    assert isinstance(caught.value, ConstraintError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("answered", [NoAttributeError, FrozenValueError])
def test_attributes_that_are_refused_are_missing_to_python(answered: type[Exception]) -> None:
    assert issubclass(answered, AttributeError)
    assert not hasattr(PROBLEM, "add")
    assert not hasattr(STATUS, "SUCCESS")


@pytest.mark.parametrize("refused", [OperatorError, NotWrittenError])
def test_operators_that_are_refused_are_type_errors(refused: type[Exception]) -> None:
    """So that Python and numpy, which ask for operators, go on."""
    assert issubclass(refused, TypeError)
    with pytest.raises(TypeError):
        iter(PROJECTOR)
    assert np.asarray(TOOL).dtype == object


def test_a_function_is_divided_by_a_number() -> None:
    """Mend: a hundred mistakes, number 10."""
    middle = (TOOL + Position(ARM, "elbow")) / 2
    assert str(middle) == "0.5 Position(tool) + 0.5 Position(elbow)"
    np.testing.assert_array_equal(middle(HOME), (0.5 * (TOOL + Position(ARM, "elbow")))(HOME))


@pytest.mark.parametrize("group", [SE3, R3xSO3], ids=str)
def test_a_quaternion_far_from_unit_asks_for_its_order(group: Any) -> None:
    """Mend: a hundred mistakes, number 24."""
    with pytest.raises(NotNormalizedError, match="is the order x y z w, after x y z in a pose"):
        group.check([0.0, 0.0, 1.0, 0.0, 0.45, 0.1, 0.3])
    with pytest.raises(NotNormalizedError, match=r"1.001; divide it by its norm$"):
        group.check([0.0, 0.0, 1.0, 0.0, 1.001, 0.0, 0.0])


def test_a_right_hand_side_left_out_is_neutral() -> None:
    """Mend: a hundred mistakes, number 25: None is a mistake, nothing is not."""
    assert Implicit.equal(POSE).default_rhs.tolist() == SE3.neutral.tolist()


def test_not_a_number_is_no_limit() -> None:
    """Mend: a hundred mistakes, number 29."""
    with pytest.raises(
        NotFiniteError, match=r"lower of 'reach': .*no limit, -inf or inf\), received NaN at \[1\]"
    ) as caught:
        Implicit.between(TOOL, [0.3, np.nan, 0.2], [0.5, 1.0, 0.6], name="reach")
    assert caught.value.where == (1,)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_joint_locked_without_a_value_says_where(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: a hundred mistakes, number 32."""
    with caplog.at_level(logging.WARNING, "constraints"):
        locked_joint(ARM, "elbow", 0.0)
        assert not caplog.messages
        locked_joint(ARM, "elbow")
    assert caplog.messages == [
        "locked 'elbow': no value was given, it is held at [0.0]; "
        "Problem(..., frozen=['elbow']) holds it where the start has it"
    ]


def test_costs_of_motion_are_described() -> None:
    """Mend: a hundred mistakes, number 45."""
    names = ARM.joint_names
    said = Problem(ARM, [HAND], weights={names[0]: 0.0, names[1]: 100.0, names[2]: 1.0}).describe()
    assert f"\n  cost of motion 100: {names[1]}\n" in said
    assert f"\n  cost of motion 0 (moves freely; frozen= keeps it still): {names[0]}\n" in said
    assert "cost of motion" not in PROBLEM.describe()


def test_a_state_compares_with_states() -> None:
    """Mend: a hundred mistakes, number 74."""
    other: Any = State("free")
    assert STATE == STATE
    assert STATE != other
    assert STATE != LOOP
    assert STATE != 1
    assert {STATE: 1, other: 2}[STATE] == 1
    assert STATE in [other, STATE]


def test_a_group_of_lambdas_is_checked_before_it_is_pickled() -> None:
    """Mend: a hundred mistakes, number 95."""
    maps = dict(integrate=lambda q, v: q + v, difference=lambda a, b: b - a, compose=lambda a, b: a + b)
    maps |= dict(inverse=lambda q: -q, exp_jacobian=lambda v: np.eye(2), log_jacobian=lambda v: np.eye(2))

    def made(adjoint: Any) -> Any:
        return Group(Layout.group("plane", neutral=[0.0, 0.0], nv=2), MAPS(**maps, adjoint=adjoint))

    with pytest.raises(CheckFailed, match=r"mend: maps.adjoint"):
        check_space(made(lambda q: -np.eye(2)))
    with pytest.raises(CheckFailed, match=r"a space can be pickled[\s\S]*for lambdas pass pickles=False"):
        check_space(made(lambda q: np.eye(2)))
    check_space(made(lambda q: np.eye(2)), pickles=False)
    check_space(Rn(2))


def test_a_diagnosis_names_the_engine_at_fault() -> None:
    """Mend: a hundred mistakes, number 98."""
    engine = NewtonEngine(Climbing)
    found = Projector(PROBLEM, engine=engine).project(HOME).diagnose()
    assert found.engine == "NewtonEngine(Climbing)"
    assert "more iterations" not in str(found)
    assert "Solve it by NewtonEngine()" in str(found)
    assert "look at the steps of NewtonEngine(Climbing)" in str(found)


def test_what_is_frozen_still_copies_and_pickles() -> None:
    again: Any = pickle.loads(pickle.dumps(Robot(ARM.model)))
    assert again.joint_names == ARM.joint_names
    assert pickle.loads(pickle.dumps(PROBLEM)).rhs.same_as(RHS)
