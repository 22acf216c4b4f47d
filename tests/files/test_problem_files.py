"""Problems, right-hand sides, options in files: what comes back is what went in, to the last bit."""

from __future__ import annotations

import itertools
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from explicit_samples import Arsinh, Sinh, Swing, arm_and_box, arm_with_tray, humanoid_and_box, pose
from house.doors import offered
from robots import humanoid, mixed_tree, needs_robot_data, panda, robots, talos, two_arms
from samples import SAMPLES, arm_frames, mixed_frames

from constraints import (
    Affine,
    Base,
    Bounds,
    CenterOfMass,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
    RightHandSide,
    Robot,
    Rotation,
    Stacked,
    Target,
    Transformation,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
    mimic_constraints,
)
from constraints.errors import FileContentError, FileError, NotSavableError, OptionError, SizeError, WrongObjectError
from constraints.files import load_task, problems, save_problem, shapes
from constraints.functions import FromCallable
from constraints.functions.frames._template import DistanceBetween
from constraints.functions.translation import RightTranslation
from constraints.models import sample_arm, sample_humanoid
from constraints.solvers.step_control import Backtracking, ConstantStep, ErrorNormBased, FixedSequence, StepControl
from liegroups import SE3, SO2, SO3, ProductSpace, R3xSO3, Rn, Segments

DATA = Path(__file__).resolve().parent.parent / "data"

ROOT = Path(__file__).resolve().parent.parent.parent
C = Comparison


def again(problem: Problem, folder: Path) -> Problem:
    problem.save(folder / "problem.json")
    return Problem.load(folder / "problem.json")


def assert_same_projections(a: Problem, b: Problem, starts: int = 3, options: Options | None = None) -> None:
    """The same bits from the same starts, counts and errors included."""
    rng = np.random.default_rng(7)
    options = options or Options(max_iterations=25)
    first, second = Projector(a, options), Projector(b, options)
    for _ in range(starts):
        q = a.robot.random(rng) if a.robot else a.space.random(rng)
        x, y = first.project(q), second.project(q)
        assert (x.status, x.iterations, x.restarts) == (y.status, y.iterations, y.restarts)
        assert x.q.tobytes() == y.q.tobytes()
        assert x.residual == y.residual or (x.residual != x.residual and y.residual != y.residual)


def assert_same_rows(a: Problem, b: Problem) -> None:
    """Names, levels, rows, right-hand sides, bounds, costs: array by array, bit by bit."""
    assert a.describe() == b.describe()
    assert [level.names for level in a.levels] == [level.names for level in b.levels]
    assert a.explicits.names == b.explicits.names
    assert a.optional_last == b.optional_last
    for name in ("weights", "frozen", "free", "columns", "wraps", "has_cost"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    assert a.rhs.vector.tobytes() == b.rhs.vector.tobytes()
    for side in ("lower", "upper"):
        assert getattr(a.bounds, side).tobytes() == getattr(b.bounds, side).tobytes()
    for x, y in zip(a.constraints, b.constraints, strict=True):
        assert type(x) is type(y)
        assert (x.name, x.space, x.group, x.rows.words) == (y.name, y.space, y.group, y.rows.words)
        for name in ("lower", "upper", "scale", "free_rhs", "mask"):
            assert getattr(x.rows, name).tobytes() == getattr(y.rows, name).tobytes(), (x.name, name)


# Functions


def has_code(f: object) -> bool:
    """Whether a Python function is somewhere inside."""
    parts = [value for value in vars(f).values() if isinstance(value, Function)] if isinstance(f, Function) else []
    parts += getattr(f, "functions", ())
    return isinstance(f, FromCallable) or any(map(has_code, parts))


def groups() -> list[list[tuple[str, Function]]]:
    """The samples that hold no code, those on one space together."""
    found: dict[int, list[tuple[str, Function]]] = {}
    for name, make in SAMPLES.items():
        f = make()
        if not has_code(f):
            found.setdefault(id(f.inputs), []).append((name, f))
    return list(found.values())


def test_each_shipped_function_comes_back_bit_for_bit(tmp_path: Path) -> None:
    """Problem files: name, value, Jacobian and declared columns of every sample are the same after a round trip."""
    seen = 0
    for group in groups():
        space = group[0][1].inputs
        where = space if space.nv else Rn(0) * Rn(1)
        problem = Problem(where, [Implicit(f, Comparison.EQUALITY, name=name) for name, f in group])
        copy = again(problem, tmp_path)
        rng = np.random.default_rng(3)
        places = [where.random(rng) for _ in range(2)]
        for name, _ in group:
            f, g = (p.constraints[name].function for p in (problem, copy))  # pyright: ignore[reportAttributeAccessIssue]
            assert (g.name, repr(g), type(g)) == (f.name, repr(f), type(f)), name
            assert g.columns.tobytes() == f.columns.tobytes(), name
            assert g.periodic.tobytes() == f.periodic.tobytes(), name
            for q in places:
                here, there = f.linearise(q), g.linearise(q)
                assert here.value.tobytes() == there.value.tobytes() == f.value(q).tobytes(), name
                assert here.jacobian.tobytes() == there.jacobian.tobytes(), name
            seen += 1
    assert seen > 110


@pytest.mark.parametrize("name", [name for name, make in SAMPLES.items() if has_code(make())])
def test_functions_with_code_in_them_are_refused(name: str, tmp_path: Path) -> None:
    """Problem files: a Python function, wherever it is, is refused by the constraint's name, and no file appears."""
    f = SAMPLES[name]()
    with pytest.raises(NotSavableError, match=r"constraint 'held'.*is a Python function"):
        Problem(f.inputs, [Implicit.equal(f, name="held")]).save(tmp_path / "problem.json")
    assert not list(tmp_path.iterdir())


def test_functions_of_older_files_are_read_as_what_they_are_now(tmp_path: Path) -> None:
    """Problem files: `RelativePose` of a and b is `Pose` of b with the reference a, and so on; values as then."""
    old = DATA / "problem_of_relative_functions.json"
    then = json.loads((DATA / "values_of_relative_functions.json").read_text())
    problem, q, v = Problem.load(old), np.array(then.pop("q")), np.array(then.pop("v"))
    assert old.read_text().count('"type": "Relative') == 11
    for name, written in then.items():
        f: Any = problem.constraints[name].function  # pyright: ignore[reportAttributeAccessIssue]
        assert f.name == written["name"]
        for what, found in (("value", f.value(q)), ("jacobian", f.jacobian(q)), ("drift", f.drift_at(q, v))):
            np.testing.assert_allclose(found, written[what], rtol=0, atol=1e-14, err_msg=f"{what} of {name}")
    held = problem.constraints["held"]
    assert isinstance(held, Explicit)
    assert (type(held.f), type(held.implicit)) == (Pose, Transformation)
    copy = again(problem, tmp_path)
    assert '"Relative' not in re.sub(r'"name": "[^"]*"', "", (tmp_path / "problem.json").read_text())
    assert_same_rows(problem, copy)


def test_a_distance_of_an_older_file_has_two_frames(tmp_path: Path) -> None:
    """Problem files: the frames of the function to copy were called a and b."""
    robot, path = sample_arm(), tmp_path / "problem.json"
    Problem(robot, [Implicit.equal(DistanceBetween(robot, "tool", "elbow"), [0.3], name="apart")]).save(path)
    new = path.read_text()
    old = new.replace('"frame": "tool"', '"b": "tool"').replace('"reference": "elbow"', '"a": "elbow"')
    assert old != new
    q = robot.random(np.random.default_rng(0))
    found = []
    for text in (new, old):
        path.write_text(text)
        found.append(Problem.load(path).constraints["apart"].measured.value(q))
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("RelativePose", {"reference": "hand"}, r"the entry 'reference', which is unknown here"),
        ("RelativePose", {"a": None}, r"\.a: expected"),
        ("RelativePosition", {"b": "hnd"}, r"hand"),
        ("RelativeCenterOfMass", {"frame": None}, r"\.frame: expected"),
        ("RelativeCenterOfMass", {"reference": [0.0, 1.0]}, r"\.reference: expected 3 numbers"),
        ("RelativePose", {"type": "RelativePoze"}, r"no type 'RelativePoze'; the nearest are (?!.*Relative)"),
    ],
)
def test_mistakes_in_functions_of_older_files_are_named(
    kind: str, change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """Problem files: what an old function did not have is refused in its own words; nobody is sent to an old name."""
    data = json.loads((DATA / "problem_of_relative_functions.json").read_text())
    functions = [entry["function"] for entry in data["levels"][0] if "function" in entry]
    function = next(f for f in functions if f["type"] == kind)
    function |= change
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(data))
    with pytest.raises(FileContentError, match=said):
        Problem.load(path)


def test_every_public_function_has_a_place_in_files() -> None:
    """Problem files: each function of the library but FromCallable is in the registry, with all its fields."""
    import constraints

    public = [getattr(constraints, name) for name in offered(constraints)]
    functions = {f for f in public if isinstance(f, type) and issubclass(f, Function)}
    functions -= {Function, FromCallable}
    assert functions <= set(shapes.SHIPPED.values())
    for cls in shapes.SHIPPED.values():
        assert [field for field in shapes.shape_of(cls) if field.kind not in shapes.KINDS.values()] == []


def test_what_a_user_changes_afterwards_is_not_saved(tmp_path: Path) -> None:
    """Problem files: a file holds what the functions hold, not arrays and lists that were changed since."""
    A, b, element = np.eye(2), np.ones(2), np.array([0.5, 0.5])
    placement, joints = pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), ["elbow"]
    levels: list[Any] = [Implicit.zero(RightTranslation(Rn(2), element) @ Affine(A, b))]
    problem = Problem(Rn(2), levels)
    robot = arm_frames()
    from constraints import CenterOfMass

    two = Problem(robot, [Implicit.zero(Position(robot, "b", placement)), Implicit.zero(CenterOfMass(robot, joints))])
    before = [p.error(p.space.neutral) for p in (problem, two)]
    A[:], b[:], element[:], placement.translation, joints[0] = 7.0, 7.0, 7.0, np.zeros(3), "tool"
    levels.append(Implicit.zero(Affine(np.eye(2))))
    for p, error in zip((problem, two), before, strict=True):
        assert again(p, tmp_path).error(p.space.neutral).tobytes() == error.tobytes()


# Robots


URDF = (
    "<robot name='wheels'><link name='a'/><link name='b'/><link name='c'/><link name='d'/>"
    "<joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0.3 0.5 -0.7'/></joint>"
    "<joint name='k' type='continuous'><parent link='b'/><child link='c'/><axis xyz='1 2 2'/></joint>"
    "<joint name='l' type='revolute'><parent link='c'/><child link='d'/><axis xyz='0.1 0.2 0.2'/>"
    "<limit lower='-1.1' upper='0.7' effort='1' velocity='2'/><mimic joint='m' multiplier='-0.3' offset='0.1'/></joint>"
    "<link name='e'/><joint name='m' type='prismatic'><parent link='d'/><child link='e'/><axis xyz='1 0 0'/>"
    "<limit lower='-1.5' upper='1.75' effort='1' velocity='2'/></joint></robot>"
)
SRDF = "<robot name='wheels'><group_state name='rest' group='g'><joint name='l' value='0.25'/></group_state></robot>"


@pytest.mark.parametrize("base", list(Base))
def test_robots_from_files_come_back_with_any_base(base: Base, tmp_path: Path) -> None:
    """Problem files: a robot from URDF and SRDF on any base; its model has the same digest, its bounds, postures,
    mimics and added frames the same numbers."""
    robot = Robot.from_urdf(URDF, SRDF, base=base, name="kart").with_bounds({"l": (-0.5, 0.5)})
    robot = robot.with_frame("tip", "e", pose(3)).with_frame("tip of tip", "tip", pose(4))
    problem = Problem(robot, [Implicit.equal(Pose(robot, "tip of tip"), pose(5)), *mimic_constraints(robot)])
    copy = again(problem, tmp_path)
    there = copy.robot
    assert there is not None
    assert there.space.digest == robot.space.digest
    assert there.space.same_robot(robot.space)
    assert (there.name, there.mimics, there.frame_names) == (robot.name, robot.mimics, robot.frame_names)
    assert list(there.references) == list(robot.references) == ["rest"]
    assert there.reference("rest").tobytes() == robot.reference("rest").tobytes()
    for a, b in zip(there.added_frames, robot.added_frames, strict=True):
        assert a.placement.homogeneous.tobytes() == b.placement.homogeneous.tobytes()
    assert_same_rows(problem, copy)
    assert_same_projections(problem, copy)


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_models_come_back_to_the_last_bit(robot: Robot, tmp_path: Path) -> None:
    """Problem files: trees with every joint type; the model of the file is the model, the digest says so. The random
    humanoid has limits of accelerations, which pinocchio keeps and does not show: there all the rest is compared."""
    problem = Problem(robot, [Implicit.zero(Transformation(robot, robot.joint_names[-1]))])
    there = again(problem, tmp_path).robot
    assert there is not None
    if robot is not humanoid():
        assert there.model == robot.model
        assert there.space.digest == robot.space.digest
    q, v = robot.random(np.random.default_rng(1)), np.linspace(-1.0, 1.0, robot.nv)
    one, other = (pin.Model(r.model) for r in (robot, there))
    a = pin.rnea(one, one.createData(), q, v, v)
    assert a.tobytes() == pin.rnea(other, other.createData(), q, v, v).tobytes()


def test_axes_of_continuous_joints_keep_their_bits(tmp_path: Path) -> None:
    """Problem files: pinocchio normalises such an axis when it reads one, which would move its last bit."""
    rng = np.random.default_rng(5)
    links = "".join(f"<link name='l{i}'/>" for i in range(41))
    joints = ""
    for i, (x, y, z) in enumerate(rng.standard_normal((40, 3)).tolist()):
        joints += (
            f"<joint name='j{i}' type='continuous'><parent link='l{i}'/><child link='l{i + 1}'/>"
            f"<axis xyz='{x} {y} {z}'/></joint>"
        )
    robot = Robot.from_urdf(f"<robot name='snake'>{links}{joints}</robot>")
    there = again(Problem(robot, [Implicit.zero(Position(robot, "l40"))]), tmp_path).robot
    assert there is not None
    assert there.space.digest == robot.space.digest


def test_robots_that_share_a_space_share_it_again(tmp_path: Path) -> None:
    """Problem files: what is one object stays one: functions on variants of a robot are functions of one robot."""
    robot = two_arms()
    other = robot.with_frame("grip", "left_tool", pose(1)).without_bounds()
    f = Position(robot, "right_tool")
    problem = Problem(robot, [Implicit.zero(Pose(other, "grip")), Implicit.equal(f), Implicit.above(f, -2.0)])
    copy = again(problem, tmp_path)
    a, b, c = (owner.function for owner in copy.constraints if isinstance(owner, Implicit))
    assert a.inputs is b.inputs is copy.space
    assert b is c
    assert_same_projections(problem, copy)
    assert (tmp_path / "problem.json").read_text().count('"model"') == 1


# Implicit constraints


def implicit_cases() -> dict[str, Callable[[], Problem]]:
    robot = arm_frames()
    hand = Transformation(robot, "b")
    target = Pose(robot, "b").value(robot.random(np.random.default_rng(4)))
    mixed = [C.EQUALITY, C.EQUAL_TO_ZERO, C.SUPERIOR, C.INFERIOR, None, None]
    low, high = [-np.inf] * 4 + [-0.5, -np.inf], [np.inf] * 4 + [0.25, 1.5]
    return {
        "zero": lambda: Problem(robot, [Implicit.zero(hand)]),
        "equal": lambda: Problem(robot, [Implicit.equal(Pose(robot, "b"), target)]),
        "equal to a placement": lambda: Problem(
            robot, [Implicit.equal(Pose(robot, "b", outputs=R3xSO3), pin.XYZQUATToSE3(target))]
        ),
        "above": lambda: Problem(robot, [Implicit.above(hand.restricted([2]), 0.3, margin=0.01)]),
        "below": lambda: Problem(robot, [Implicit.below(hand.restricted([0, 1]), [0.3, 0.1])]),
        "between": lambda: Problem(robot, [Implicit.between(hand, -0.4, [0.1, 0.2, 0.3, 4.0, 5.0, np.inf])]),
        "every kind": lambda: Problem(
            robot,
            [
                Implicit(
                    hand, mixed, [0.3, 0, 0, 0, 0, 0], [True, True, True, True, True, False],
                    [1.0, 2.0, 0.5, 1e-3, 3.0, 1.0], [0.0, 0.0, 0.01, 0.02, 0.03, 0.0], low, high, name="a mixture",
                )
            ],
        ),
        "masked": lambda: Problem(robot, [Implicit.equal(Rotation(robot, "b"), target[3:], mask=[1, 0, 1])]),
        "levels": lambda: Problem(
            robot,
            [[Implicit.zero(hand.restricted([0, 1, 2]))], [Implicit.zero(hand.restricted([3, 4]))],
             [Implicit.zero(Affine(np.eye(7), inputs=robot.space), name="rest")]],
            optional_last=True,
        ),
        "costs, frozen, bounds": lambda: Problem(
            robot, [Implicit.equal(Position(robot, "b"), [0.3, 0.1, 0.5])],
            Bounds(robot.space, np.full(7, -2.5), np.array([2.5] * 6 + [np.inf])),
            weights=[1.0, 2.0, 0.0, 1.0, 0.1, 1.0, 1.0], frozen=["elbow", Segments.of(robot.space, "wrist_roll")],
        ),
        "costs of some": lambda: Problem(robot, [Implicit.zero(hand)], weights={"elbow": 3.0, "wrist_roll": 0.0}),
        "no bounds": lambda: Problem(robot, [Implicit.zero(hand)], Bounds.none(robot.space)),
        "products": lambda: Problem(
            robot.space * Rn(2) * SO3,
            [
                Implicit.equal(Pose(robot, "b").on(robot.space * Rn(2) * SO3), target),
                Implicit.zero(Affine([[1.0, -2.0]], 0.5)),
                Implicit.zero(Transformation(robot, "a"), mask=[0, 0, 1, 0, 0, 0]),
            ],
            weights={"R2": 2.0},
        ),
        "named product": lambda: Problem(
            ProductSpace([robot.space, SO2, ProductSpace([Rn(1), SE3])], ["arm", "dial", "rest"]),
            [Implicit.equal(Position(robot, "b"), [0.3, 0.2, 0.4])], frozen=["dial"],
        ),
        "a bare space": lambda: Problem(Rn(3), [Implicit.zero(Affine([[1.0, 2.0, 3.0]], -0.0))]),
        "a robot's space": lambda: Problem(robot.space, [Implicit.equal(Stacked([hand, Rotation(robot, "a")]))]),
    }  # fmt: skip


@pytest.mark.parametrize("case", implicit_cases())
def test_implicit_constraints_come_back(case: str, tmp_path: Path) -> None:
    """Problem files: all comparison kinds, masks, scales, margins, intervals, right-hand sides, levels, costs, frozen
    dofs, bounds and spaces; then the same bits from the same starts."""
    problem = implicit_cases()[case]()
    copy = again(problem, tmp_path)
    assert_same_rows(problem, copy)
    assert_same_projections(problem, copy)
    text = (tmp_path / "problem.json").read_text()
    copy.save(tmp_path / "problem.json")
    assert (tmp_path / "problem.json").read_text() == text


# Explicit constraints


def explicit_cases() -> dict[str, Callable[[], Problem]]:
    robot, tray, human = arm_and_box(), arm_with_tray(), humanoid_and_box()
    space = Rn(3) * SO3 * Rn(2)
    drive, wheel = Segments.of(space, 0), Segments.of(space, 1)
    f = Stacked([Affine([[1.0, 0.0, 0.5]]), Affine([[0.0, 2.0, 0.0]])])
    return {
        "relative pose": lambda: Problem(robot, [explicit_relative_pose(robot, "gripper", "handle"),
            Implicit.equal(Position(robot, "handle"), [0.3, 0.2, 0.4])]),
        "relative pose, right-hand side": lambda: Problem(human, [
            explicit_relative_pose(human, "hand", "handle", [0.1, 0, 0, 0, 0.2, 0], comparison=C.EQUALITY),
            Implicit.zero(Transformation(human, "handle"), mask=[0, 0, 1, 0, 0, 0])]),
        "on a moving parent": lambda: Problem(tray, [explicit_relative_pose(tray, "tool", "handle"),
            Implicit.zero(Transformation(tray, "knob", reference="handle"))]),
        "linear": lambda: Problem(robot, [linear_coupling(robot, "arm/elbow", {"arm/wrist_pitch": -0.7}, 0.1),
            Implicit.equal(Position(robot, "gripper"), [0.3, 0.2, 0.4])]),
        "locked joints": lambda: Problem(robot, [locked_joint(robot, "arm/elbow", 0.8),
            locked_joint(robot, "box/root_joint", pin.XYZQUATToSE3(pose(9))),
            Implicit.equal(Position(robot, "gripper"), [0.3, 0.2, 0.4])]),
        "locked in a space": lambda: Problem(robot.space * Rn(2), [
            locked_joint(robot.space * Rn(2), Segments.coordinates(robot.space * Rn(2), [14]), 0.5),
            Implicit.equal(Position(robot, "gripper"), [0.3, 0.2, 0.4])]),
        "blocks of a space": lambda: Problem(space, [
            Explicit(Affine(np.ones((2, 3))), Segments.of(space, 2), drive, name="drive", has_branches=True),
            Explicit(RightTranslation(SO3, [0.0, 0.6, 0.0, 0.8]) @ _constant(drive), wheel, drive, whole=space),
            Implicit.zero(Affine([[1.0, -1.0, 0.5]], 0.2))]),
        "coordinates of its own": lambda: Problem(Rn(5), [
            Explicit(f, Segments.coordinates(Rn(5), [3, 4]), Segments.coordinates(Rn(5), [0, 1, 2]),
                g=Affine(2.0 * np.eye(2)), g_inverse=Affine(0.5 * np.eye(2)),
                rhs=[0.5, 0.0], comparison=[C.EQUALITY, C.EQUAL_TO_ZERO], name="gear"),
            Implicit.zero(Affine(np.ones((1, 5))))]),
        "fall-backs, by level": lambda: Problem(robot, [[
            linear_coupling(robot, "arm/elbow", {"arm/wrist_pitch": 0.5}),
            explicit_relative_pose(robot, "gripper", "handle", level=1,
                comparison=[C.SUPERIOR] + [C.EQUAL_TO_ZERO] * 5),
            linear_coupling(robot, "arm/wrist_pitch", {"arm/elbow": 0.3}, name="back")]]),
        "lifted": lambda: Problem(Rn(2) * robot.space, [explicit_relative_pose(robot, "gripper", "handle"),
            Implicit.zero(Affine(np.eye(2)))]),
    }  # fmt: skip


def _constant(drive: Segments) -> Function:
    from constraints.functions import Constant

    return Constant(SO3.neutral, SO3, drive.space)


@pytest.mark.parametrize("case", explicit_cases())
def test_explicit_constraints_come_back(case: str, tmp_path: Path) -> None:
    """Problem files: relative poses, linear couplings, locked joints, twins and maps of one's own, fall-backs; resolved
    in the same order, then the same bits from the same starts."""
    problem = explicit_cases()[case]()
    copy = again(problem, tmp_path)
    assert_same_rows(problem, copy)
    assert_same_projections(problem, copy)


@needs_robot_data
@pytest.mark.parametrize("factory", [panda, talos], ids=["panda", "talos"])
def test_known_robots_come_back(factory: Callable[[], Robot], tmp_path: Path) -> None:
    """Problem files: robots with postures and mimics from their URDF and SRDF."""
    robot = factory()
    hand = robot.joint_names[-1]
    target = Pose(robot, hand).value(robot.random(np.random.default_rng(2)))
    problem = Problem(robot, [Implicit.equal(Pose(robot, hand), target)])
    copy = again(problem, tmp_path)
    assert copy.space.same_robot(problem.space)  # pyright: ignore[reportAttributeAccessIssue]
    assert_same_projections(problem, copy)


BENCHMARKED = sorted((ROOT / "benchmarks" / "problems").glob("*.npz"))


@needs_robot_data
@pytest.mark.parametrize("path", a_few(BENCHMARKED, 4), ids=lambda path: path.stem)
def test_problems_of_the_benchmark_come_back(path: Path, tmp_path: Path, benchmarks: Any) -> None:
    """Problem files: every reference problem of the benchmark projects its recorded starts to the same bits."""
    problem_files = benchmarks("problem_files")
    file = problem_files.read(path)
    problem = problem_files.build(file)
    copy = again(problem, tmp_path)
    assert_same_rows(problem, copy)
    one, other = Projector(problem, file.options), Projector(copy, file.options)
    for q in file.q0[:10]:
        a, b = one.project(q), other.project(q)
        assert (a.q.tobytes(), a.status, a.residual, a.iterations) == (
            b.q.tobytes(),
            b.status,
            b.residual,
            b.iterations,
        )


# What is refused


def arm_problem(**named: Any) -> Problem:
    robot = arm_frames()
    return Problem(robot, [Implicit.equal(Position(robot, "b"), [0.3, 0.2, 0.4], name="hand"), *named.values()])


def test_what_is_not_data_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    """Problem files: a Python function, a target in time, functions of a user's classes; the constraint is named, and a
    file that was there stays as it was."""
    robot = arm_frames()
    path = tmp_path / "problem.json"
    arm_problem().save(path)
    before = path.read_bytes()
    rise = Implicit.equal(Position(robot, "a"), Target(lambda t: [0.3, 0.0, 0.4 + 0.1 * t]), name="rise")
    wave = Implicit.zero(Function.from_callable(lambda q: q @ q, robot.space, Rn(1)), name="wave")
    swing = Implicit.zero(Swing(Rn(3), 7) @ Affine(np.eye(7), inputs=robot.space), name="swing")
    turn = Explicit(Sinh(1), Segments.of(robot.space, 6), Segments.of(robot.space, 0), Arsinh(1), Sinh(1), name="turn")
    for constraint, said in (
        (rise, "function of time"), (wave, "Python function"), (swing, "Swing"), (turn, "Sinh"),
    ):  # fmt: skip
        with pytest.raises(NotSavableError, match=rf"constraint '{constraint.name}' cannot be saved: .*{said}"):
            arm_problem(more=constraint).save(path)
        assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["problem.json"]


def test_what_would_differ_when_it_is_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = sample_arm()
    one, other = (Problem(arm, [Implicit.equal(Position(arm, "tool"), [x, 0.0, 0.5])]) for x in (0.4, 0.41))
    monkeypatch.setattr(problems, "problem_from_data", lambda data: other)
    with pytest.raises(NotSavableError, match=r"would differ at \$\.levels\[0\]\[0\].*: 0\.4, then 0\.41; a class"):
        one.save(tmp_path / "reach.json")
    assert not list(tmp_path.iterdir())


def test_functions_nested_beyond_reading_are_refused(tmp_path: Path) -> None:
    """Problem files: what could not be read again is not written."""
    f: Function = Affine([[1.0, 0.5], [0.0, 1.0]])
    for _ in range(48):
        f = f @ Affine(np.eye(2))
    again(Problem(Rn(2), [Implicit.zero(f)]), tmp_path)
    with pytest.raises(NotSavableError, match="nested more than 50 levels deep"):
        Problem(Rn(2), [Implicit.zero(f @ Affine(np.eye(2)))]).save(tmp_path / "deep.json")


@pytest.mark.parametrize("ends", [(), ("start",), ("goal",), ("start", "goal")])
def test_starts_and_goals_are_numbers_or_postures(ends: tuple[str, ...], tmp_path: Path) -> None:
    """A task has those that are in its file, and says which the problem alone leaves aside."""
    robot = arm_problem().robot
    assert robot is not None
    path, q = tmp_path / "task.json", robot.random(np.random.default_rng(0))
    save_problem(arm_problem(), path, **dict.fromkeys(ends, q))
    task = load_task(path)
    for name in ("start", "goal"):
        there = getattr(task, name)
        assert (there is not None and there.tobytes() == q.tobytes()) if name in ends else there is None
    assert problems.load_problem(path).describe() == task.problem.describe() == arm_problem().describe()
    assert task.aside == (f"left aside of the file: {' and '.join(ends)}, for the command `plan`" if ends else "")
    posture, data = next(iter(robot.references)), json.loads(path.read_text())
    path.write_text(json.dumps(data | {"goal": None} | dict.fromkeys(ends, posture)))
    assert all(getattr(load_task(path), name).tobytes() == robot.reference(posture).tobytes() for name in ends)
    assert (load_task(path).goal is None) == ("goal" not in ends)
    wrongs = ("nowhere", "nowhere"), ([0.0], "expected 7 numbers, got 1"), (["inf"] * 7, "finite"), (3, "list")
    for (wrong, said), read in itertools.product(wrongs, (load_task, problems.load_problem)):
        path.write_text(json.dumps(data | {"goal": wrong}))
        with pytest.raises(FileContentError, match=said) as refused:
            read(path)
        assert refused.value.place.startswith("$.goal")
    with pytest.raises(SizeError, match="start"):
        save_problem(arm_problem(), tmp_path / "none.json", start=[0.0])
    assert not (tmp_path / "none.json").exists()


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    """Problem files: what is no path is a typed error, and nothing is left behind."""
    problem = arm_problem()
    for wrong in (3, None, b"p.json", "", "a\0b"):
        for call in (problem.save, Problem.load, Options.load, Options().save):
            with pytest.raises(WrongObjectError, match="path of a file"):
                call(wrong)  # pyright: ignore[reportArgumentType]
    assert not list(tmp_path.iterdir())


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Problem files: when the disk is full the old file stays and no part of a new one; permissions are as usual."""
    path = tmp_path / "problem.json"
    arm_problem().save(path)
    (tmp_path / "other").write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        arm_problem().save(path)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other", "problem.json"]


@pytest.mark.program
def test_files_are_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Problem files: nothing of a process (hashes, ids, order) is in a file."""
    problem = arm_problem()
    problem.save(tmp_path / "a.json")
    program = "import sys; from constraints import Problem; Problem.load(sys.argv[1]).save(sys.argv[2])"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "5"}
    command = [sys.executable, "-c", program, str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    subprocess.run(command, check=True, env=environment)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


# Right-hand sides and options


def test_right_hand_sides_come_back(tmp_path: Path) -> None:
    """Problem files: right-hand sides by constraint, with rates, onto this problem and onto one that was loaded; those
    of another problem are refused."""
    problem = explicit_cases()["relative pose, right-hand side"]()
    q = problem.robot.random(np.random.default_rng(8)) if problem.robot else problem.space.neutral
    sides = problem.rhs_from(q)
    moving = RightHandSide(problem.constraints, sides.vector, np.arange(12) / 7.0, np.arange(12) / 3.0)
    for rhs in (sides, moving):
        rhs.save(tmp_path / "rhs.json")
        for p in (problem, again(problem, tmp_path)):
            copy = RightHandSide.load(tmp_path / "rhs.json", p.constraints)
            assert copy.vector.tobytes() == rhs.vector.tobytes()
            assert (copy.velocity is None) == (rhs.velocity is None)
            if copy.velocity is not None and copy.acceleration is not None:
                assert copy.velocity.tobytes() == moving.velocity.tobytes()  # pyright: ignore[reportOptionalMemberAccess]
                assert copy.acceleration.tobytes() == moving.acceleration.tobytes()  # pyright: ignore[reportOptionalMemberAccess]
            assert p.residual(q, copy) == problem.residual(q, rhs)
    with pytest.raises(FileError, match=r"\$\.constraints: expected 1"):
        RightHandSide.load(tmp_path / "rhs.json", arm_problem().constraints)
    with pytest.raises(FileError, match="is of kind 'right-hand side', expected 'problem'"):
        Problem.load(tmp_path / "rhs.json")


@pytest.mark.parametrize(
    "options",
    [
        Options(), Options.local(threshold=1e-7, trace=True), Options(seed=2**70 + 1, damping=0.1 + 0.2),
        Options(step_control=ConstantStep(0.3)), Options(step_control=Backtracking(tau=0.1)),
        Options(step_control=FixedSequence()), Options(step_control=ErrorNormBased(0.1)),
    ],
    ids=repr,
)  # fmt: skip
def test_options_come_back(options: Options, tmp_path: Path) -> None:
    """Problem files: every option, all step controls; missing ones are defaults, strange ones are named."""
    path = tmp_path / "options.json"
    options.save(path)
    assert Options.load(path) == options
    data = json.loads(path.read_text())
    del data["seed"]
    path.write_text(json.dumps(data))
    assert Options.load(path).seed == 0
    for change, said in (
        ({"sed": 3}, r"at \$: has the entry 'sed'"),
        ({"threshold": -1.0}, "option 'threshold'"),
        ({"restart_table": 10**9}, r"\$\.restart_table: expected an integer from 0 to 100000"),
        ({"wrap": 1}, r"\$\.wrap: expected true or false"),
        ({"step_control": {"type": "os.system"}}, r"\$\.step_control\.type: expected one of FullSteps"),
    ):
        path.write_text(json.dumps(data | change))
        with pytest.raises(FileError, match=said):
            Options.load(path)


def test_a_constant_step_of_before_is_read(tmp_path: Path) -> None:
    """Problem files: `ConstantStep` was called `Constant`."""
    path = tmp_path / "options.json"
    options = Options(step_control=ConstantStep(0.3))
    options.save(path)
    data = json.loads(path.read_text())
    assert data["step_control"] == {"type": "ConstantStep", "value": 0.3}
    path.write_text(json.dumps(data | {"step_control": {"type": "Constant", "value": 0.3}}))
    assert Options.load(path) == options


def test_options_of_a_user_are_refused(tmp_path: Path) -> None:
    """Problem files: a step control of a user's is code."""

    class Mine(StepControl):
        def alpha(self, state: Any, trial: Any) -> float:
            return 0.5

    with pytest.raises(NotSavableError, match="Mine is not a step control of this library"):
        Options(step_control=Mine()).save(tmp_path / "options.json")
    with pytest.raises(NotSavableError, match="restart_table"):
        Options(restart_table=10**6).save(tmp_path / "options.json")
    with pytest.raises(OptionError):
        Options(restart_table=0)
    assert not list(tmp_path.iterdir())


def test_a_frame_that_is_added_on_a_frame_keeps_the_bits_of_it() -> None:
    """Problem files: a frame at the place of another is there exactly, signs of zeros included."""
    robot = mixed_frames()
    zeros = pin.SE3(pin.utils.rotate("z", np.pi), np.array([-0.0, 0.0, -0.0]))
    frame = robot.with_frame("x", "rx", zeros).frame("x")
    again = robot.with_frame("y", frame).frame("y")
    assert again.placement.homogeneous.tobytes() == frame.placement.homogeneous.tobytes()


def test_humanoid_of_the_samples_balances_the_same(tmp_path: Path) -> None:
    """Problem files: a free-flyer, the centre of mass and intervals, restarts included."""
    from constraints import ComBetweenFeet

    robot = sample_humanoid()
    feet = [Implicit.zero(Transformation(robot, "rleg_effector_body", reference="lleg_effector_body"))]
    balance = Implicit(
        ComBetweenFeet(robot, "lleg_effector_body", "rleg_effector_body", "lleg_effector_body"),
        [None, C.EQUAL_TO_ZERO, C.SUPERIOR, C.INFERIOR], lower=0.5, margin=[0.0, 0.0, 1e-3, 1e-3],
    )  # fmt: skip
    lean = Implicit.between(CenterOfMass(robot, reference="lleg_effector_body"), -0.3, 3.0)
    problem = Problem(robot, [[*feet], [balance, lean]])
    assert_same_projections(problem, again(problem, tmp_path), options=Options())


def test_mixed_tree_keeps_its_units(tmp_path: Path) -> None:
    """Problem files: unit vectors and quaternions in bounds, weights and right-hand sides of every group."""
    robot = mixed_tree()
    q = robot.random(np.random.default_rng(3))
    constraints = [Implicit.equal(f, f.value(q)) for f in (Pose(robot, "chain"), Rotation(robot, "helical"))]
    problem = Problem(robot, constraints, weights=np.linspace(0.0, 2.0, robot.nv))
    copy = again(problem, tmp_path)
    assert_same_rows(problem, copy)
    assert_same_projections(problem, copy, 2)
