"""Mistakes of newcomers are answered: where there was silence, a bare error of Python, or a hint that misled."""

from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio
import pytest

from constraints import (
    Base,
    Comparison,
    Function,
    Implicit,
    Orientation,
    Part,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Rotation,
    Status,
    Surface,
    Target,
    Transformation,
    locked_joint,
)
from constraints.dynamics import Event, simulate
from constraints.errors import (
    CallError,
    ConstraintError,
    FrozenValueError,
    GraphError,
    ModelError,
    NoAttributeError,
    NotFiniteError,
    NotNormalizedError,
    NotWrittenError,
    OperatorError,
    OptionError,
    RobotMismatchError,
    SizeError,
    SpaceMismatchError,
    TruthValueError,
    UnknownJointError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import Constant, Identity
from constraints.loops import assemble_position
from constraints.manipulation import (
    CollisionModel,
    ConstraintGraph,
    ConstraintGraphFactory,
    Gripper,
    Handle,
    MovableObject,
    PathStatus,
    SecurityMargins,
    Shape,
)
from constraints.manipulation.states import State, Transition
from constraints.models import mechanisms, sample_arm, sample_two_arms
from constraints.pictures import Drawing, plot_configurations
from constraints.solvers import LinearStep, NewtonEngine
from constraints.solvers.projection.engines import USUAL
from constraints.testing import CheckFailed, check_space
from liegroups import SE2, SE3, SO2, Element, Group, GroupMaps, Layout, R3xSO3, Rn

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
COLLISIONS: Any = CollisionModel(ARM, [Shape("hand", "Sphere", (0.06,), "tool")])
FOUR: Any = mechanisms.four_bar()
GROUP: Any = SE3
MAPS: Any = GroupMaps
APART: Any = TOOL - Position(ARM, "elbow")
ROTATION: Any = Rotation(ARM, "tool")
POSTURE: Any = ARM.at(HOME)
FAR = RHS.replace("hand", [2.0, *GOAL[1:]])
PLACE: Any = Element(GOAL, SE3)
GRAPH: Any = ConstraintGraph(ARM, [STATE], [LOOP])
ON_TOOL: Any = ARM.frame("tool").placement


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
    ("ask", "kind", "said"),
    [
        (
            lambda: TOOL[[2, 0]],
            OperatorError,
            r"Position\(tool\)\[\[2, 0\]\] is not defined: .*stack\(f\[2\], f\[0\]\)",
        ),
        (lambda: TOOL / 0, WrongObjectError, r"Position\(tool\) is divided by: expected a number other than 0"),
        (lambda: TOOL / "2", WrongObjectError, "a number other than 0, got '2'"),
        (lambda: TOOL >= 0.3, OperatorError, r"Implicit.above\(f, lower\)"),
        (lambda: 0.3 > TOOL, OperatorError, r"Implicit.below\(f, upper\)"),
        (lambda: np.full(3, 0.3) <= TOOL, OperatorError, r"Implicit.above\(f, lower\)"),
        (Unwritten, NotWrittenError, r"Unwritten does not define evaluate; define evaluate\(self, point, value"),
        (lambda: np.ones((1, 7)) @ POSE, SpaceMismatchError, r"in A @ f: expected the space R\^n.*Position"),
        (lambda: Implicit(POSE, GOAL), WrongObjectError, r"rhs=, or Implicit.equal"),  # pyright: ignore
        (lambda: Implicit.equal(POSE, None), WrongObjectError, r"right-hand side of Pose\(tool\): .*got None"),  # pyright: ignore
        (set_field(HAND, "rhs"), FrozenValueError, r"'rhs' .*an Implicit is immutable; use rhs = problem.rhs.repl"),
        (set_field(LOCK, "rhs"), FrozenValueError, r"problem.rhs.replace\(name, point\)"),
        (delete_field, FrozenValueError, r"an Implicit is immutable"),
        (set_field(PROBLEM, "bounds"), FrozenValueError, r"a Problem is immutable; make a new one"),
        (set_field(ARM, "bounds"), FrozenValueError, r"a Robot is immutable; with_bounds"),
        (set_index, OperatorError, r"rhs\['hand'\] = ... is not defined: .*rhs = rhs.replace\(name, point\)"),
        (lambda: RHS["hand"], OperatorError, r"rhs.of\(name\)"),
        (lambda: Target(untimed), WrongObjectError, r"value of a Target: .*called as value\(t\), got untimed"),  # pyright: ignore
        (lambda: Target(lambda t: GOAL, untimed), WrongObjectError, r"velocity of a Target: .*velocity\(t\)"),  # pyright: ignore
        (lambda: Problem(ARM, [HAND], frozen={"elbow": 1.0}), WrongObjectError, r"a mapping: .*locked_joint"),  # pyright: ignore
        (lambda: PROBLEM.contains(HOME), WrongObjectError, r"its name \(for a configuration: problem.is_satis"),
        (lambda: PROBLEM.contains(TOOL), WrongObjectError, "a constraint, or its name"),
        (lambda: PROJECTOR(HOME), OperatorError, r"projector\(q\) is not defined: use projector\.project\(q\)"),
        (lambda: STATUS.CONVERGD, NoAttributeError, "nearest names are CONVERGED"),
        (lambda: PATH_STATUS.SUCCESS, NoAttributeError, "valid names are COMPLETE"),
        (
            lambda: assemble_position(FOUR.constraint_set(), FOUR.posture("closed"), driven={"crank": 0.5}),  # pyright: ignore
            WrongObjectError,
            r"driven joints: .*a mapping: the values are those of the start; robot.configuration",
        ),
        (lambda: STATE == "free", WrongObjectError, r"comparison of a State with 'free'.*state.name == 'free'"),
        (lambda: "free" != STATE, WrongObjectError, r"comparison of a State with 'free'"),
        (lambda: LOOP == "loop", WrongObjectError, r"transition.name == 'loop'"),
        (lambda: GROUP(GOAL), OperatorError, r"SE3\(...\) is not defined: a point is an array of 7 .*quaternion"),
        (lambda: MAPS(integrate=np.add), WrongObjectError, "got no map for difference, compose, inverse, adjoint"),
        (lambda: MAPS(integral=np.add), UnknownNameError, "nearest names are integrate"),
        (lambda: APART * np.eye(3), SizeError, r"operand of product: .*a matrix is written A @ f"),
        (lambda: np.eye(3) * TOOL, SizeError, r"operand of product: .*a matrix is written A @ f"),
        (lambda: abs(APART), OperatorError, r"abs\(Position\(tool\) - Position.*smooth_abs\(f, width\)"),
        (lambda: Implicit(TOOL, Comparison.EQUALITY, margin=0.01), OptionError, "row 0 is EQUALITY and has no margin"),
        (lambda: Implicit(TOOL, margin=0.01), OptionError, "row 0 is EQUAL_TO_ZERO and has no margin"),
        (
            lambda: Implicit(TOOL, [Comparison.SUPERIOR, *2 * [Comparison.EQUALITY]], margin=[0.1, 0.0, 0.1]),
            OptionError,
            r"row 2 is EQUALITY .*Implicit.between\(f, lower, upper\)",
        ),
        (lambda: Implicit.equal(POSE, POSTURE), WrongObjectError, r"of 'Pose\(tool\)'.*posture.placement\('tool'\), "),
        (lambda: Implicit.equal(ROTATION, POSTURE), WrongObjectError, r"posture.placement\('tool'\), or function"),
        (lambda: Implicit.equal(TOOL, POSTURE), WrongObjectError, r"posture.placement\('tool'\).translation, or"),
        (lambda: RHS.replace("hand", POSTURE), WrongObjectError, r"posture.placement\('tool'\)"),
        (lambda: Implicit.equal(POSE, Target(lambda t: POSTURE)), WrongObjectError, r"posture.placement\('tool'\)"),
        (lambda: PROJECTOR.project(HOME, POSTURE), WrongObjectError, r"problem.rhs_from\(posture.q\)"),
        (lambda: bool(PROJECTOR.project(HOME, FAR).status), TruthValueError, "`success`.* is Status.CONVERGED`"),
        (lambda: PLACE + PLACE, OperatorError, r"a \* b is their product, and a \+ v .*tangent vector v \(6,\)"),
        (set_field(ON_TOOL, "translation"), FrozenValueError, r"'translation'.*robot.with_frame.*placement.copy\(\)"),
        (set_field(ON_TOOL, "rotation"), FrozenValueError, "a FixedPlacement is immutable"),
        (lambda: ON_TOOL.setIdentity(), FrozenValueError, "'setIdentity'"),
        (lambda: ON_TOOL.setRandom(), FrozenValueError, "'setRandom'"),
        (set_field(ARM.frame("tool"), "placement"), FrozenValueError, "a Frame is immutable; robot.with_frame"),
        (lambda: PROBLEM + PROBLEM, OperatorError, r"Problem \+ Problem is not defined: a \| b, or a.merged\(b\)"),
        (
            lambda: APART**TOOL,
            OperatorError,
            r"Position.*elbow\) \*\* Position.* is not defined: .*exp\(g \* log\(f\)\)",
        ),
        (lambda: np.tan(TOOL), OperatorError, r"np.tan\(Position\(tool\)\) is not defined: .*from_callable"),
        (
            lambda: plot_configurations(ARM, {"home": HOME}, drawing=Drawing(tips="tool")),
            WrongObjectError,
            "tips: .*sequence.*got text",
        ),
        (
            lambda: plot_configurations(ARM, {"home": HOME}, drawing=Drawing(placements=GOAL)),
            WrongObjectError,
            "got one placement",
        ),
        (
            lambda: plot_configurations(ARM, {"home": HOME}, drawing=Drawing(placements=pinocchio.SE3.Identity())),  # pyright: ignore
            WrongObjectError,
            r"placements: expected a sequence of placements, \[placement\]",
        ),
        (lambda: bool(PATH_STATUS.START), TruthValueError, "a PathStatus .*`status is PathStatus.COMPLETE`"),
        (lambda: all(PROJECTOR.project_batch([HOME, HOME], FAR).status), TruthValueError, "`success` of the result"),
        (lambda: ARM.configuration(["elbow"], [1.0]), CallError, r"configuration\(.*by joint, \{'elbow': 1.0\}.*zip"),
        (
            lambda: Implicit.equal(TOOL, mask=[0, 1, 2], name="point"),
            WrongObjectError,
            r"expected booleans per row \(\[True, True, True\] for only the rows \[0, 1, 2\]\), got 2 at 2$",
        ),
        (
            lambda: Implicit.equal(TOOL, mask=[2]),
            WrongObjectError,
            r"\(\[False, False, True\] for only the rows \[2\]\), got 2 at 0$",
        ),
        (lambda: Implicit.equal(TOOL, mask=np.array([2, 0])), WrongObjectError, r"\[True, False, True\] for"),
        (lambda: Implicit.equal(TOOL, mask=2), WrongObjectError, r"\(\[False, False, True\] for .*\), got 2$"),
        (
            lambda: Implicit.between(TOOL, [0.3, -0.01, 0.2], [0.5, 0.01, 0.5], margin=0.05, name="slot"),
            OptionError,
            r"'slot': row 1 is empty: its margin 0.05 is wider than half its interval \[-0.01, 0.01\]",
        ),
        (
            lambda: Implicit(TOOL, lower=[0.3, -0.01, 0.2], upper=[0.5, 0.01, 0.5], margin=0.05, name="slot"),
            OptionError,
            r"'slot': row 1 is empty: its margin 0.05 is wider than half its interval \[-0.01, 0.01\]",
        ),
        (lambda: Implicit.between(TOOL, 1.0, -1.0, margin=0.05), OptionError, "row 0 has lower 1 above upper -1"),
        (
            lambda: Implicit.equal(POSE, GOAL, mask=[1, 1, 1, 0.1, 0.1, 0.1], name="hand"),
            WrongObjectError,
            r"expected booleans per row \(for weights of rows: Implicit\(..., scale=\)\), got 0.1 at 3$",
        ),
        (
            lambda: Implicit.equal(TOOL, mask=[10, 10, 1]),
            WrongObjectError,
            r"\(for weights of rows: Implicit\(..., scale=\)\), got 10 at 0$",
        ),
        (lambda: Implicit.equal(TOOL, mask=np.ones(3)), WrongObjectError, r"scale=\)\), got 1.0 at 0$"),
        (lambda: Implicit.equal(TOOL, mask=[[1], [1, 0]]), WrongObjectError, "expected booleans per row, got list$"),  # pyright: ignore
        (lambda: Handle("top", ARM.frame("tool"), mask=[1, 1, 1, 0.1, 1, 1]), WrongObjectError, "got 0.1 at 3$"),
        (
            lambda: PROBLEM | Problem(PAIR, [Implicit.equal(Position(PAIR, "left/tool"))]),
            RobotMismatchError,
            r"to two robots, 'sample_arm' and 'left . right': build all of them on one Robot object \(a system and its",
        ),
        (lambda: problem_of_box() | problem_of_scene(), RobotMismatchError, "belong to two robots, 'box' and "),
        (lambda: problem_of_scene() | problem_of_box(), RobotMismatchError, "build all of them on one"),
        (
            lambda: PROBLEM | Problem(ARM.space * ARM.space, [Implicit.equal(Identity(ARM.space * ARM.space))]),
            SpaceMismatchError,
            "one space must be the other, or exactly one factor of it",
        ),
        (
            lambda: MovableObject("box", [HANDLE_OF_BOX], [Surface("bottom", scene()[0].frame("box/middle"), BOTTOM)]),
            GraphError,
            r"first handle 'top': joint 'root_joint' is of a part alone; .*, where it is 'box/root_joint'",
        ),
        (
            np.errstate(divide="ignore", invalid="ignore")(lambda: check_space(scale_group(0.0))),
            CheckFailed,
            "fix: neutral of the Layout, or maps.difference",
        ),
        (
            lambda: FOUR.judge(FOUR.posture("closed"), driven="crank"),
            WrongObjectError,
            r"^driven joints: .*\['crank'\]",
        ),
    ],
)
def test_a_mistake_is_answered(ask: Callable[[], object], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said) as caught:
        ask()
    assert isinstance(caught.value, ConstraintError | CheckFailed)
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
    middle = (TOOL + Position(ARM, "elbow")) / 2
    assert str(middle) == "0.5 Position(tool) + 0.5 Position(elbow)"
    np.testing.assert_array_equal(middle(HOME), (0.5 * (TOOL + Position(ARM, "elbow")))(HOME))


@pytest.mark.parametrize("group", [SE3, R3xSO3], ids=str)
def test_a_quaternion_far_from_unit_asks_for_its_order(group: Any) -> None:
    with pytest.raises(NotNormalizedError, match="is the order x y z w, after x y z in a pose"):
        group.check([0.0, 0.0, 1.0, 0.0, 0.45, 0.1, 0.3])
    with pytest.raises(NotNormalizedError, match=r"1.001; divide it by its norm$"):
        group.check([0.0, 0.0, 1.0, 0.0, 1.001, 0.0, 0.0])


def test_a_right_hand_side_left_out_is_neutral() -> None:
    """None is a mistake, nothing is not."""
    assert Implicit.equal(POSE).default_rhs.tolist() == SE3.neutral.tolist()


def test_not_a_number_is_no_limit() -> None:
    with pytest.raises(
        NotFiniteError, match=r"lower of 'reach': .*-inf or inf for no limit\), received NaN at \[1\]"
    ) as caught:
        Implicit.between(TOOL, [0.3, np.nan, 0.2], [0.5, 1.0, 0.6], name="reach")
    assert caught.value.where == (1,)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_joint_locked_without_a_value_says_where(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "constraints"):
        locked_joint(ARM, "elbow", 0.0)
        assert not caplog.messages
        locked_joint(ARM, "elbow")
    assert caplog.messages == [
        "locked 'elbow': no value was given, it is held at [0.0]; "
        "Problem(..., frozen=['elbow']) holds it at its value in the start"
    ]


def test_costs_of_motion_are_described() -> None:
    names = ARM.joint_names
    said = Problem(ARM, [HAND], weights={names[0]: 0.0, names[1]: 100.0, names[2]: 1.0}).describe()
    assert f"\n  cost of motion 100: {names[1]}\n" in said
    assert f"\n  cost of motion 0 (moves freely; frozen= keeps it still): {names[0]}\n" in said
    assert "cost of motion" not in PROBLEM.describe()


def test_a_state_compares_with_states() -> None:
    other: Any = State("free")
    assert STATE == STATE
    assert STATE != other
    assert STATE != LOOP
    assert STATE != 1
    assert {STATE: 1, other: 2}[STATE] == 1
    assert STATE in [other, STATE]


def test_a_group_of_lambdas_is_checked_before_it_is_pickled() -> None:
    maps = dict(integrate=lambda q, v: q + v, difference=lambda a, b: b - a, compose=lambda a, b: a + b)
    maps |= dict(inverse=lambda q: -q, exp_jacobian=lambda v: np.eye(2), log_jacobian=lambda v: np.eye(2))

    def made(adjoint: Any) -> Any:
        return Group(Layout.group("plane", neutral=[0.0, 0.0], nv=2), MAPS(**maps, adjoint=adjoint))

    with pytest.raises(CheckFailed, match=r"fix: maps.adjoint"):
        check_space(made(lambda q: -np.eye(2)))
    with pytest.raises(CheckFailed, match=r"a space can be pickled[\s\S]*for lambdas pass pickles=False"):
        check_space(made(lambda q: np.eye(2)))
    check_space(made(lambda q: np.eye(2)), pickles=False)
    check_space(Rn(2))


def test_a_diagnosis_names_the_engine_at_fault() -> None:
    engine = NewtonEngine(Climbing)
    found = Projector(PROBLEM, engine=engine).project(HOME).diagnose()
    assert found.engine == "NewtonEngine(Climbing)"
    assert "Allow more iterations" not in str(found)
    assert f"Solve it with engine={USUAL!r}" in str(found)  # that of its trials
    assert "check the steps of NewtonEngine(Climbing)" in str(found)


def test_what_is_frozen_still_copies_and_pickles() -> None:
    again: Any = pickle.loads(pickle.dumps(Robot(ARM.model)))
    assert again.joint_names == ARM.joint_names
    assert pickle.loads(pickle.dumps(PROBLEM)).rhs.same_as(RHS)


@pytest.mark.parametrize(
    ("shapes", "why"),
    [
        ([], "it has no shape; a Robot brings no shapes, give them by shapes= and urdfs="),
        ([Shape("hand", "Sphere", (0.1,), "tool")], "only one shape, 'hand'; a Robot brings no shapes"),
        (
            [Shape("hand", "Sphere", (0.1,), "tool"), Shape("wrist", "Sphere", (0.1,), "wrist_roll")],
            "left out: 1 on one joint; `left_out` names them",
        ),
    ],
)
def test_a_collision_model_that_looks_at_nothing_says_so(
    shapes: list[Shape], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, when it is made, so that no check and no walk passes in silence."""
    model = CollisionModel(ARM, shapes)
    [said] = caplog.messages
    assert said.startswith("collision model of sample_arm: no pair of shapes is checked, so every configuration")
    assert why in said
    assert model.is_free(HOME)
    assert len(caplog.messages) == 1


def test_a_collision_model_emptied_by_hand_says_so_and_its_parts_do_not(caplog: pytest.LogCaptureFixture) -> None:
    """Of a state in which nothing moves against the other no pair is left."""
    shapes = [Shape("hand", "Sphere", (0.1,), "tool"), Shape("post", "Sphere", (0.1,), "universe")]
    model = CollisionModel(ARM, shapes)
    assert not model.among([]).pairs
    assert not model.with_margins({("hand", "post"): 0.01}).among([]).pairs
    assert not caplog.messages
    assert not model.without(("hand", "post")).pairs
    assert "left out: 1 left out by hand" in caplog.messages[0]
    CollisionModel(ARM, shapes, ignored=[("hand", "post")])
    assert len(caplog.messages) == 2


def test_the_placement_of_a_frame_is_not_written_to() -> None:
    """Against the robot's own model, and with what is made of the placement."""
    robot: Any = sample_arm()
    frame, before = robot.frame("tool"), Pose(robot, "tool")
    truth = robot.model.frames[robot.model.getFrameId("tool")].placement
    for write in (frame.placement.translation, frame.placement.rotation[0]):
        with pytest.raises(ValueError, match="read-only"):
            write += 0.1
    assert frame.placement.homogeneous.tobytes() == truth.homogeneous.tobytes()
    np.testing.assert_array_equal(before(HOME), POSE(HOME))
    other = frame.placement.copy()
    other.translation[2] += 0.1
    assert type(other) is type(frame.placement * other) is type(frame.placement.inverse()) is pinocchio.SE3
    longer = robot.with_frame("pen", frame.joint_name, other).at(HOME).placement("pen")
    reached = robot.at(HOME).placement("tool")
    np.testing.assert_allclose(reached.actInv(longer).translation, frame.placement.rotation.T[:, 2] * 0.1, atol=1e-15)
    with pytest.raises(FrozenValueError):
        copy.deepcopy(frame).placement.translation = np.zeros(3)
    again = pickle.loads(pickle.dumps(frame))
    assert again.placement.homogeneous.tobytes() == truth.homogeneous.tobytes()
    with pytest.raises(FrozenValueError):
        again.placement.translation = np.zeros(3)
    assert isinstance(again.placement, pinocchio.SE3)


def test_a_posture_places_as_pinocchio_does() -> None:
    """Bit for bit the product of the joint's placement and the frame's."""
    for q in ARM.random(np.random.default_rng(0), 20):
        data = ARM.model.createData()
        pinocchio.framesForwardKinematics(ARM.model, data, q)  # pyright: ignore
        truth = data.oMf[ARM.model.getFrameId("tool")]
        np.testing.assert_array_equal(ARM.at(q).placement("tool").homogeneous, truth.homogeneous)


def scene() -> tuple[Any, Any, list[Handle], Surface]:
    box = Robot.from_urdf("<robot name='box'><link name='middle'/></robot>", base=Base.FREE_FLYER)
    robot = Robot.system([Part("arm", sample_arm()), Part("box", box)])
    floor = Surface("table", robot.frame("universe"), [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    return robot, Gripper("hand", robot.frame("arm/tool")), [Handle("top", robot.frame("box/middle"))], floor


BOTTOM = [[-0.1, -0.1, -0.05], [-0.1, 0.1, -0.05], [0.1, 0.1, -0.05], [0.1, -0.1, -0.05]]


def test_a_surface_that_looks_into_its_object_is_named(caplog: pytest.LogCaptureFixture) -> None:
    robot, gripper, handles, floor = scene()

    def made(points: Any) -> None:
        thing = MovableObject("box", handles, [Surface("box/bottom", robot.frame("box/middle"), points)])
        ConstraintGraphFactory(robot, [gripper], [thing], [floor])

    made(BOTTOM)
    made([[x, y, 0.0] for x, y, _ in BOTTOM])  # through the origin: it looks neither in nor out
    assert not caplog.messages
    made(BOTTOM[::-1])
    [said] = caplog.messages
    assert said.startswith(
        "surface 'box/bottom' on joint 'box/root_joint': 4 vertices, normal [0, 0, 1]: its normal points into"
    )
    assert "object 'box', whose origin is on that side" in said


def test_a_surface_that_looks_at_the_mass_of_its_object_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """The centre of mass is in the object, wherever the file has its origin."""
    mass = "<inertial><mass value='1'/><origin xyz='0 0 {}'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
    for height, said in (("-0.1", "whose centre of mass is on that side"), ("0", "")):
        text = f"<robot name='box'><link name='middle'>{mass.format(height)}</inertial></link></robot>"
        box = Robot.from_urdf(text, base=Base.FREE_FLYER)
        robot = Robot.system([Part("arm", sample_arm()), Part("box", box)])
        _, _, _, floor = scene()
        bottom = Surface("bottom", robot.frame("box/middle"), BOTTOM)
        thing = MovableObject("box", [Handle("top", robot.frame("box/middle"))], [bottom])
        caplog.clear()
        ConstraintGraphFactory(robot, [Gripper("hand", robot.frame("arm/tool"))], [thing], [floor])
        assert [said in message for message in caplog.messages] == ([True] if said else [])


def test_margins_of_a_joint_that_does_not_exist() -> None:
    robot, gripper, handles, floor = scene()
    things = [MovableObject("box", handles, [Surface("bottom", robot.frame("box/middle"), BOTTOM)])]

    def asked(name: str) -> Any:
        margins = SecurityMargins(0.0, {("box/root_joint", name): 0.05})
        graph = ConstraintGraphFactory(robot, [gripper], things, [floor], margins=margins).generate()
        return graph.collision_pairs("free", [("box/root_joint", "universe")])

    with pytest.raises(UnknownJointError, match="'unverse'; the nearest names are universe"):
        asked("unverse")
    assert asked("universe")[0].margin == 0.05


def test_a_constraint_that_no_dof_moves_is_named(caplog: pytest.LogCaptureFixture) -> None:
    same = Implicit.equal(Position(ARM, "tool", reference="tool"), [0.0, 0.0, 0.0], name="hand at hand")
    problem = Problem(ARM, [same, HAND])
    said = "no dof moves it: it is satisfied everywhere or nowhere"
    assert caplog.messages == [f"constraint 'hand at hand': {said}"]
    lines = problem.describe().splitlines()
    [found] = [i for i, line in enumerate(lines) if said in line]
    assert " hand at hand " in lines[found - 1].replace("'", " ")
    assert said not in PROBLEM.describe()
    caplog.clear()
    Problem(ARM, [Implicit.between(Constant([0.0], Rn(1), ARM.space), -1.0, 1.0), locked_joint(ARM, "elbow", 1.0)])
    assert not caplog.messages  # on a constant on purpose, and computed


def test_a_margin_of_all_rows_is_that_of_the_inequalities() -> None:
    """One number for rows of which some are equalities is no mistake."""
    rows = Implicit(TOOL, [Comparison.SUPERIOR, Comparison.EQUALITY, Comparison.EQUALITY], margin=0.1).rows
    assert rows.lower.tolist() == [0.1, 0.0, 0.0]
    assert Implicit(TOOL, Comparison.EQUALITY, margin=0.0).rows.upper.tolist() == [0.0, 0.0, 0.0]


def test_a_function_on_the_right_of_an_array_is_asked() -> None:
    """What numpy leaves to the function is what it was."""
    A = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal((A @ TOOL)(HOME), A @ TOOL(HOME))
    for two in (2.0, 2, np.float64(2.0), np.int64(2), np.array(2.0)[()]):
        np.testing.assert_array_equal((two * TOOL)(HOME), 2.0 * TOOL(HOME))
        np.testing.assert_array_equal((TOOL * two)(HOME), 2.0 * TOOL(HOME))
    assert not (A == TOOL)
    assert A != TOOL
    with pytest.raises(OperatorError, match=r"Implicit\.below"):
        _ = np.ones(3) >= TOOL


BOX: Any = Robot.from_urdf("<robot name='box'><link name='middle'/></robot>", base=Base.FREE_FLYER)
PAIR: Any = Robot.system([Part("left", ARM), Part("right", ARM)])
HANDLE_OF_BOX = Handle("top", BOX.frame("middle"))


def problem_of_box() -> Problem:
    return Problem(BOX, [Implicit.equal(Position(BOX, "middle"))])


def problem_of_scene() -> Problem:
    robot = Robot.system([Part("arm", ARM), Part("box", BOX)])
    return Problem(robot, [Implicit.equal(Position(robot, "box/middle"))])


def scale_group(neutral: float) -> Any:
    """Positive numbers with their product."""
    maps: Any = dict(integrate=lambda q, v: q * np.exp(v), difference=lambda a, b: np.log(b / a))
    maps |= dict(compose=lambda a, b: a * b, inverse=lambda q: 1.0 / q, adjoint=lambda q: np.eye(1))
    maps |= dict(exp_jacobian=lambda v: np.eye(1), log_jacobian=lambda v: np.eye(1))
    return Group(Layout.group("Scale", neutral=[neutral], nv=1), MAPS(**maps))


def test_a_problem_on_one_factor_of_a_product_is_merged() -> None:
    """What is one factor of the other still is."""
    space = ARM.space * Rn(1)
    both = PROBLEM | Problem(space, [Implicit.equal(Identity(space))])
    assert both.space == space
    assert (PROBLEM | Problem(ARM.with_frame("pen", "tool"), [HAND])).constraints.names == ("hand",)


def test_a_configuration_of_joints_by_keyword_is_none_of_its_arguments() -> None:
    """Names of joints, right and wrong ones, are answered as before."""
    assert ARM.configuration(elbow=1.0)[ARM.slice_of("elbow")] == [1.0]
    with pytest.raises(UnknownJointError, match="nearest names are elbow"):
        ARM.configuration(elbw=1.0)
    with pytest.raises(CallError, match="too many positional"):
        ARM.configuration({}, {}, elbow=1.0)


TURN = 2.0 * np.pi
ORIENTATION: Any = Orientation(ARM, "tool")


@pytest.mark.parametrize(
    ("function", "lower", "upper", "rows"),
    [
        (ROTATION, [-15, -15, -180], [15, 15, 180], "rows 0-2"),
        (ROTATION, [-0.2, -15, -np.inf], [0.2, 15, np.inf], "row 1"),
        (ROTATION, -360.0, 360.0, "rows 0-2"),
        (ROTATION, -5.0, 5.0, "rows 0-2"),
        (ROTATION, [-45.0, -1.0, -np.inf], np.inf, "row 0"),
        (ROTATION, -np.inf, [np.inf, np.inf, 90.0], "row 2"),
        (ORIENTATION, [-90, -0.1, -np.pi], [90, 0.1, np.pi], "row 0"),
        (Transformation(ARM, "tool"), [-15] * 6, [15] * 6, "rows 3-5"),
        (POSE, [-15] * 6, [15] * 6, "rows 3-5"),
        (Pose(ARM, "tool", outputs=R3xSO3), [-15] * 6, [15] * 6, "rows 3-5"),
        (Identity(Rn(1) * SE2 * SO2), -90.0, 90.0, "rows 3-4"),
        (ROTATION, [-15, -0.1, -0.1], [0.1, 15, 0.1], ""),  # each still has a side that holds
        (ROTATION, -np.pi, np.pi, ""),
        (ROTATION, -3.1416, 3.15, ""),
        (ROTATION, -TURN, TURN, ""),
        (ROTATION, -6.3, 6.28, ""),
        (ROTATION, -np.inf, np.pi, ""),
        (ROTATION, [-0.1, -np.inf, -np.inf], [0.1, np.inf, np.inf], ""),
        (ROTATION, -1e3, np.finfo(float).max, ""),
        (TOOL, -15.0, 15.0, ""),
        (Identity(ARM.space), -15.0, 15.0, ""),  # joints may turn on
    ],
    ids=lambda entry: "" if isinstance(entry, Function) else str(entry),
)
def test_limits_of_rotations_in_degrees_are_named(
    function: Any, lower: Any, upper: Any, rows: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, when the constraint is made; the problem's description says it too."""
    tilt = Implicit.between(function, lower, upper, name="tilt")
    why = "a rotation vector is at most pi long; angles are in radians (did you mean degrees?)"
    said = f"limits of {rows} have no effect: {why}"
    assert caplog.messages == ([f"constraint 'tilt': {said}"] if rows else [])
    described = Problem(function.inputs, [tilt]).describe()
    assert (f"    {said}" in described.splitlines()) if rows else ("have no effect" not in described)
    assert len(caplog.messages) == bool(rows)


def test_limits_that_are_named_hold_everywhere() -> None:
    """What is said to have no effect has none; what is masked is not said."""
    problem = Problem(ARM, [Implicit.between(ROTATION, -15.0, 15.0)])
    assert not any(problem.error(q).any() for q in ARM.random(np.random.default_rng(0), 200))
    tilt = Implicit.between(ROTATION, [-15, -0.2, -0.2], [15, 0.2, 0.2], mask=[0, 1, 1])
    assert "have no effect" not in Problem(ARM, [tilt]).describe()
    on_product = Problem(ARM.space * Rn(1), [Implicit.between(ORIENTATION, -15.0, 15.0)])
    assert "limits of rows 0-2 have no effect" in on_product.describe()


def test_a_group_whose_unit_block_was_forgotten_fails_its_laws() -> None:
    """A circle as (cos, sin) without unit_blocks passed: its difference does not see the norm."""

    def circle(angle: Any) -> Any:
        return np.array([np.cos(angle), np.sin(angle)])

    maps = GroupMaps(
        integrate=lambda q, v: circle(np.arctan2(q[1], q[0]) + v[0]),
        difference=lambda a, b: np.array([np.arctan2(b[1] * a[0] - b[0] * a[1], a @ b)]),
        compose=lambda a, b: np.array([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]),
        inverse=lambda a: np.array([a[0], -a[1]]),
        adjoint=lambda q: np.eye(1),
        exp_jacobian=lambda v: np.eye(1),
        log_jacobian=lambda v: np.eye(1),
    )
    with pytest.raises(CheckFailed, match="unit_blocks of the Layout"):
        check_space(Group(Layout.group("Circle", neutral=[1.0, 0.0], nv=1), maps), pickles=False)


@pytest.mark.parametrize("ask", ["placement", "jacobian", "velocity"])
@pytest.mark.parametrize("there", ["behind the last joint", "another joint"])
def test_a_posture_refuses_frames_of_other_robots(ask: str, there: str) -> None:
    """An IndexError, or the placement of another joint."""
    if there == "another joint":
        box = pinocchio.Model()
        box.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "root_joint")
        robot, frame = Robot.system([Part("box", Robot(box, "box")), Part("arm", ARM)]), ARM.frame("tool")
    else:
        robot, frame = ARM, sample_two_arms().frame("right_tool")
    motion = robot.at(robot.neutral, np.zeros(robot.nv))
    with pytest.raises(ModelError, match=f"frame '{frame}' on joint '{frame.joint_name}'"):
        getattr(motion if ask == "velocity" else motion.posture, ask)(frame)


FEW: Any = lambda: 0.0  # noqa: E731


@pytest.mark.parametrize(
    "call",
    [
        lambda: Event(FEW, "lands"),
        lambda: Event(lambda motion, t: 0.0, "lands", reset=FEW),
        lambda: simulate(mechanisms.five_bar().constraint_set(), np.zeros(4), np.zeros(4), 0.1, 0.01, forces=FEW),
    ],
    ids=["function", "reset", "forces"],
)
def test_functions_of_a_state_that_take_none_are_refused(call: Callable[[], object]) -> None:
    """A bare TypeError out of the integrator."""
    with pytest.raises(WrongObjectError, match=r"f\(motion\) or f\(motion, t\)"):
        call()


@pytest.mark.parametrize(
    ("made", "name", "said"),
    [
        (PROJECTOR, "problem", r"a Projector is immutable; make a new one, Projector\(problem\)"),
        (PROJECTOR, "options", r"a Projector is immutable; make a new one, Projector\(problem, options\)"),
        (PROJECTOR, "threshold", r"'threshold' cannot be set: a Projector is immutable"),
        (COLLISIONS, "pairs", "a CollisionModel is immutable; `without`"),
        (FOUR.constraint_set(), "baumgarte", r"a ConstraintSet is immutable; set.stabilised\(gains, which\)"),
        (FOUR.constraint_set(), "active", r"set.switched\(on, off\)"),
        (GRAPH, "margins", r"a ConstraintGraph is immutable; make a new one, ConstraintGraph\(\.\.\.\)"),
        (RHS, "vector", r"a RightHandSide is immutable; rhs.replace\(name, point\) gives a changed copy"),
    ],
)
def test_what_solves_is_not_set_afterwards(made: Any, name: str, said: str) -> None:
    """A projector solved another problem than it said."""
    with pytest.raises(FrozenValueError, match=said):
        setattr(made, name, 1.0)
    with pytest.raises(FrozenValueError):
        delattr(made, name)
    again = pickle.loads(pickle.dumps(made))
    with pytest.raises(FrozenValueError, match=said):
        setattr(again, name, 1.0)


def test_changed_copies_are_immutable_too() -> None:
    closed: Any = FOUR.constraint_set()
    copies = [closed.switched(off=[0]), closed.stabilised(0.1), COLLISIONS.without(), RHS.replace("hand", GOAL)]
    for made in [*copies, copy.copy(PROJECTOR), RHS.at(0.0), RHS.with_valid(RHS.vector)]:
        name = next(name for name in ("baumgarte", "pairs", "vector", "engine") if hasattr(made, name))
        with pytest.raises(FrozenValueError):
            setattr(made, name, None)
    assert closed.switched(off=[0]).active.tolist().count(False) == 1
