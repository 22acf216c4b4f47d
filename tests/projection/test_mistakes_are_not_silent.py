"""Mistakes of people who are new here, in solving, closing mechanisms, files and the command line: none is silent."""

from __future__ import annotations

import copy
import logging
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from newton.test_ends import turning
from scripts import Done

from constraints import Implicit, Options, Pose, Position, Problem, Projector, Report, Robot, Status, Surface
from constraints.__main__ import main
from constraints.errors import DtypeError, FileError, OptionError, WrongObjectError
from constraints.loops import (
    AssemblyOptions,
    ConstraintSet,
    PointClosure,
    RodClosure,
    assemble_position,
    assemble_velocity,
)
from constraints.manipulation import ConstraintGraphFactory, Gripper, Handle, MovableObject, PathStatus, interpolate
from constraints.models import mechanisms, sample_arm, sample_two_arms
from constraints.rows.target import Target
from constraints.solvers import SensitivityError
from constraints.solvers.diagnosis.rounding import rounding_of

TOP = [[-0.6, -0.6, 0.0], [0.6, -0.6, 0.0], [0.6, 0.6, 0.0], [-0.6, 0.6, 0.0]]


def enlarged_arm(size: float) -> Robot:
    """The sample arm with all its lengths multiplied."""
    whole: Any = sample_arm().model
    model = whole.copy()
    for i in range(model.njoints):
        placement = model.jointPlacements[i]
        placement.translation = placement.translation * size
        model.jointPlacements[i] = placement
    for frame in model.frames:
        frame.placement.translation = frame.placement.translation * size
    return Robot(model, "enlarged arm")


def reaching(robot: Robot, target: Any, name: str = "hand") -> Problem:
    return Problem(robot, [Implicit.equal(Position(robot, "tool"), target, name=name)])


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., Done]:
    """A command line that runs in a folder of its own, in this process."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: Done(main(arguments), *capsys.readouterr())


# Thresholds.


@pytest.mark.parametrize("threshold", [1e-17, 9.9e-16, 5e-324])
def test_a_threshold_below_rounding_is_refused(threshold: float) -> None:
    """Mend, fresh mistake 141: the error names the option, the least value, and what came."""
    with pytest.raises(OptionError, match=rf"'threshold': expected at least 1e-15.*got {re.escape(repr(threshold))}"):
        Options(threshold=threshold)
    with pytest.raises(OptionError, match="a positive number"):
        Options(threshold=0.0)


def test_the_least_threshold_can_be_met() -> None:
    """Mend, fresh mistake 141: what is allowed is met at about a metre, from every start; judged by pinocchio alone."""
    robot = sample_arm()
    problem = reaching(robot, [0.45, 0.1, 0.3])
    batch = Projector(problem, Options(threshold=1e-15)).project_batch(robot.random(np.random.default_rng(0), 30))
    assert batch.success.all()
    data = robot.model.createData()
    tool = robot.frame("tool")
    for q in batch.q:
        pin.forwardKinematics(robot.model, data, np.array(q))
        reached = (data.oMi[tool.joint] * tool.placement).translation
        np.testing.assert_allclose(reached, [0.45, 0.1, 0.3], rtol=0.0, atol=2e-15)


def test_a_diagnosis_knows_rounding() -> None:
    """Mend, fresh mistake 141: at 100 m a residual ends above 1e-15, which is no target out of reach."""
    robot = enlarged_arm(100.0)
    start = robot.random(np.random.default_rng(2))
    beyond = Options(threshold=1e-15, max_iterations=100)  # 241 iterations meet it, by chance
    near = Projector(reaching(robot, [45.0, 10.0, 30.0]), beyond).project(start)
    assert not near.success
    assert 1e-15 < near.residual < 1e-13
    diagnosis = near.diagnose()
    assert diagnosis.is_below_rounding
    assert diagnosis.conflict is None
    assert near.residual < diagnosis.rounding < 1e-12
    assert "The threshold is below rounding" in str(diagnosis)
    assert "out of reach" not in str(diagnosis).lower()
    (advice,) = diagnosis.suggestions
    wanted = float(advice.split("threshold of ")[1].split()[0])
    assert diagnosis.rounding <= wanted < 10.0 * diagnosis.rounding
    assert Projector(near.problem, Options(threshold=wanted)).project(start).success
    far = Projector(reaching(robot, [450.0, 10.0, 30.0]), Options(threshold=1e-15)).project(start).diagnose()
    assert not far.is_below_rounding
    assert "Proved out of reach" in str(far)


@pytest.mark.parametrize("size", [1.0, 10.0, 100.0, 1000.0])
def test_rounding_grows_with_distances(size: float) -> None:
    """Mend, fresh mistake 141: residuals of a Newton method that is left to run end below the rounding that is said."""
    robot = enlarged_arm(size)
    problem = reaching(robot, np.array([0.45, 0.1, 0.3]) * size)
    done = Projector(problem, Options.local(threshold=1e-9 * size)).project(sample_arm().reference("home"))
    assert done.success
    q, residuals = done.q, list[float]()
    for _ in range(6):
        residuals.append(problem.residual(q))
        q = robot.space.integrate(q, -np.linalg.pinv(problem.jacobian(q)) @ problem.error(q))
    rounding = rounding_of(problem, done.q, problem.rhs)
    assert max(residuals[2:]) <= rounding < 4e-15 * size


def test_a_tolerance_below_rounding_is_refused() -> None:
    """Mend, fresh mistake 170: in the words of the argument of an assembly."""
    mechanism = mechanisms.four_bar()
    rows, start = mechanism.constraint_set(), mechanism.robot.random(np.random.default_rng(0))
    with pytest.raises(OptionError, match=r"tolerance of an assembly: expected at least 1e-15.*got 1e-20"):
        assemble_position(rows, start, options=AssemblyOptions(tolerance=1e-20))
    assert assemble_position(
        rows, assemble_position(rows, start).or_raise().q, options=AssemblyOptions(tolerance=1e-15)
    ).success


# Batches, statuses, sensitivities, reports.


def test_a_generator_of_starts_names_the_matrix() -> None:
    """Mend, fresh mistake 148: what project_batch takes instead."""
    robot = sample_arm()
    rng = np.random.default_rng(0)
    projector = Projector(reaching(robot, [0.45, 0.1, 0.3]))
    with pytest.raises(DtypeError, match=r"Q: .*a generator: give a matrix \(n, 7\), np.array\(list\(\.\.\.\)\)"):
        projector.project_batch(robot.random(rng) for _ in range(5))  # pyright: ignore[reportArgumentType]
    with pytest.raises(DtypeError, match=r"rhs.*a map: give a matrix"):
        projector.project_batch(robot.random(rng, 2), map(list, [[0.45, 0.1, 0.3]] * 2))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("text", ["CONVERGED", "converged", "Status.CONVERGED", "Status.Converged "])
def test_a_status_is_no_text(text: str) -> None:
    """Mend, fresh mistake 154: a comparison that could never be true raises, and names the member and `success`."""
    member = Status.CONVERGED
    for compare in (lambda: text == member, lambda: member != text, lambda: Status.STALLED in [text]):
        with pytest.raises(WrongObjectError, match=r"expected Status.CONVERGED \(or use `success` of the result\)"):
            compare()
    with pytest.raises(WrongObjectError, match=r"Status.NAME, one of CONVERGED, STATIONARY"):
        _ = Status.CONVERGED == "fine"
    with pytest.raises(WrongObjectError, match=r"expected PathStatus\.JUMP"):
        _ = PathStatus.COMPLETE == "JUMP"


def test_a_status_is_what_it_was_otherwise() -> None:
    """Mend, fresh mistake 154: identity, hash, order in containers, copies, pickles and masks are kept."""
    for status in (*Status, *PathStatus):
        assert status == status
        assert pickle.loads(pickle.dumps(status)) is status
        assert copy.deepcopy(status) is status
        assert {status: 1}[status] == 1
        assert status != 1
        assert status is not None
    assert Status.CONVERGED != PathStatus.COMPLETE
    assert len({*Status}) == len(Status)
    assert Status.CONVERGED in [Status.STALLED, Status.CONVERGED]
    robot = sample_arm()
    targets = np.array([[0.45, 0.1, 0.3], [9.0, 0.0, 0.0]])
    starts = np.tile(robot.reference("home"), (2, 1))
    batch = Projector(reaching(robot, targets[0]), Options.local()).project_batch(starts, targets)
    assert (batch.status == Status.CONVERGED).tolist() == [True, False]
    assert (batch.status != Status.CONVERGED).tolist() == [False, True]
    with pytest.raises(WrongObjectError, match=r"Status\.CONVERGED"):
        _ = batch.status == "CONVERGED"


def at_height(z: Any) -> Problem:
    robot = _ARM
    height = float(np.ravel(z)[0])
    seen_from = pin.XYZQUATToSE3(np.array([0.45, 0.1, height, 0.0, 1.0, 0.0, 0.0]))
    return Problem(robot, [Implicit.zero(Pose(robot, "tool", seen_from), name="hand")])


_ARM = sample_arm()


def test_a_sensitivity_at_other_parameters_is_refused() -> None:
    """Mend, fresh mistake 157: the height 0.4 was not projected, and the error says by how much it is off."""
    options = Options(nearest=True, threshold=1e-8)
    here = Projector(at_height(0.3), options).project(_ARM.reference("home")).or_raise().sensitivity()
    with pytest.raises(SensitivityError, match=r"parameters 0.4 is not the projected one.*residual of 0.1 at"):
        here.parameter(at_height, 0.4)
    with pytest.raises(SensitivityError, match="residual of 1e-06"):
        here.parameter(at_height, [0.300001])
    slope = here.parameter(at_height, 0.3)
    h = 1e-5
    ends = [
        Projector(at_height(0.3 + side * h), options).project(here.projection.q, near=_ARM.reference("home")).q
        for side in (-1.0, 1.0)
    ]
    np.testing.assert_allclose(slope[:, 0], (ends[1] - ends[0]) / (2.0 * h), rtol=0.0, atol=2e-3)


def test_a_sensitivity_at_other_weights_or_bounds_is_refused() -> None:
    """Mend, fresh mistake 157: where the errors are the same, the gradient or an active bound may not be."""
    target, home = [0.45, 0.1, 0.3], _ARM.reference("home")

    def weighted(weight: Any) -> Problem:
        weights = np.ones(_ARM.nv)
        weights[0] = float(np.ravel(weight)[0])
        return Problem(_ARM, [Implicit.equal(Position(_ARM, "tool"), target, name="hand")], weights=weights)

    options = Options(nearest=True, threshold=1e-8)
    here = Projector(weighted(1.0), options).project(home).or_raise().sensitivity()
    with pytest.raises(SensitivityError, match="gradient of the objective changed by"):
        here.parameter(weighted, 2.0)
    assert np.isfinite(here.parameter(weighted, 1.0)).all()
    free = here.projection.q
    which = int(np.argmax(np.abs(free - home)))
    name = list(_ARM.joint_names)[which]

    def bounded(limit: Any) -> Problem:
        x = float(np.ravel(limit)[0])
        bounds = _ARM.with_bounds({name: (-x, x)}).bounds
        return Problem(_ARM, [Implicit.equal(Position(_ARM, "tool"), target, name="hand")], bounds=bounds)

    limit = float(0.5 * (abs(free[which]) + abs(home[which])))
    held = Projector(bounded(limit), options).project(home).or_raise()
    assert abs(held.q[which]) == pytest.approx(limit, abs=1e-9)
    with pytest.raises(SensitivityError, match=r"active rows or bounds changed by 0\.01"):
        held.sensitivity().parameter(bounded, limit + 0.01)


def test_a_report_says_that_the_problem_is_another_one(tmp_path: Path) -> None:
    """Mend, fresh mistake 159: what was asked comes before what came out; of the same case nothing is said."""
    robot, file = sample_arm(), tmp_path / "case.json"
    home, projector = robot.reference("home"), Projector(reaching(robot, [0.45, 0.1, 0.3]))
    done = projector.project(home)
    done.report(file)
    report = Report.load(file)
    assert report.differences(done) == ()
    assert report.differences(report.reproduce(trace=True)) == ()
    other = Projector(Problem(robot, [Implicit.equal(Pose(robot, "tool"), robot.at(home).placement("tool"), name="p")]))
    assert report.differences(other.project(home))[0] == "problem: another one, 'hand' then, 'p' now"
    moved = report.differences(Projector(reaching(robot, [0.45, 0.1, 0.31])).project(home))
    assert moved[0] == "problem: another one, with the same names of constraints ('hand')"
    assert report.differences(projector.project(home, [0.45, 0.1, 0.31]))[0] == "right-hand sides: up to 0.01 apart"
    assert report.differences(projector.project(home + 0.01))[0] == "start: another one"
    loose = Projector(reaching(robot, [0.45, 0.1, 0.3]), Options(threshold=1e-2)).project(home)
    assert report.differences(loose)[0] == "options: Options() then, Options(threshold=0.01) now"


# Mechanisms.


def test_a_velocity_of_an_open_mechanism_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Mend, fresh mistake 171: the constraint that is open most, and by how much; silence where it is closed."""
    mechanism = mechanisms.four_bar()
    rows, robot = mechanism.constraint_set(), mechanism.robot
    start = robot.random(np.random.default_rng(0))
    closed = assemble_position(rows, start).or_raise()
    with caplog.at_level(logging.WARNING):
        assemble_velocity(rows, closed.q, np.ones(robot.nv))
        assert not caplog.records
        assemble_velocity(rows, start, np.ones(robot.nv))
    (record,) = caplog.records
    error = rows.position_error(start)
    norms = {name: float(np.linalg.norm(error[rows.slice_of(name)])) for name in rows.names}
    worst = max(norms, key=lambda name: norms[name])
    assert f"'{worst}' is off by {norms[worst]:.3g}" in record.getMessage()


def test_a_driven_mechanism_is_not_open_without_a_time(caplog: pytest.LogCaptureFixture) -> None:
    """Mend, fresh mistake 171: nobody said what time it is, so that targets are looked at with `rhs_at(t)` only."""
    robot = sample_two_arms()
    home = robot.reference("home")
    apart = PointClosure(robot, "left_tool", "right_tool").pose(home).translation
    target = Target(lambda t: apart * (1.0 + t), lambda t: apart, lambda t: 0.0 * apart)
    rows = ConstraintSet(robot, [PointClosure(robot, "left_tool", "right_tool", target=target, name="stretch")])
    then = assemble_position(rows, home, rhs=rows.rhs_at(0.1)).or_raise().q
    with caplog.at_level(logging.WARNING):
        assemble_velocity(rows, then, np.zeros(robot.nv))
        assemble_velocity(rows, then, np.zeros(robot.nv), rhs=rows.rhs_at(0.1))
        assert ["the targets of 'stretch' stand still" in record.getMessage() for record in caplog.records] == [True]
        assemble_velocity(rows, then, np.zeros(robot.nv), rhs=rows.rhs_at(0.3))
    assert "'stretch' is off by" in caplog.text


def test_a_rod_that_is_open_says_so_in_metres() -> None:
    """Mend, fresh mistake 168: a length in millimetres; the distance is that of pinocchio."""
    robot = sample_two_arms()
    rod = RodClosure(robot, "left_tool", "right_tool", 400.0, name="rod")
    done = assemble_position(ConstraintSet(robot, [rod]), robot.reference("home"))
    assert not done.success
    model: Any = robot.model
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(done.q))
    ends = [data.oMf[model.getFrameId(name)].translation for name in ("left_tool", "right_tool")]
    apart = float(np.linalg.norm(ends[1] - ends[0]))
    assert f"its ends are {apart:.4g} m apart, its length is 400 m" in done.describe()
    closed = assemble_position(
        ConstraintSet(robot, [RodClosure(robot, "left_tool", "right_tool", 0.4)]), robot.reference("home")
    )
    assert closed.success
    assert "apart" not in closed.describe()


# Files and the command line.


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("arm.urdf", b'<?xml version="1.0"?>\n<!-- an arm -->\n<robot name="a"><link name="b"/></robot>', "a URDF"),
        ("model.xml", b"<mujoco/>", "an MJCF model"),
        ("world.sdf", b"<sdf version='1.9'/>", "an SDF model"),
        ("page.html", b"<html></html>", "XML (<html>)"),
        ("loops.yaml", b"closed_loop: []\n", "a YAML file"),
        ("reached.npz", b"PK\x03\x04\x14\x00\xff\xfe", "an npz or another zip archive"),
        ("q.npy", b"\x93NUMPY\x01\x00", "an array of numpy"),
    ],
)
def test_a_file_of_another_kind_is_recognised(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    """Mend, fresh mistake 178: what it seems to be, and what is wanted, in one line."""
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(FileError) as refused:
        Problem.load(file)
    assert f"seems to be {words}" in str(refused.value)
    assert str(refused.value).endswith("expected JSON with a problem (`problem.save`)")
    with pytest.raises(FileError, match=r"options \(`options.save`\)"):
        Options.load(file)


def test_the_command_line_recognises_a_urdf(tmp_path: Path, command: Callable[..., Done]) -> None:
    """Mend, fresh mistake 178: `project` and `describe`; what is only torn JSON keeps its line and column."""
    (tmp_path / "arm.urdf").write_text('<robot name="a"><link name="b"/></robot>')
    for name in ("project", "describe"):
        done = command(name, "arm.urdf")
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "seems to be a URDF" in line
        assert "`problem.save`" in line
    (tmp_path / "torn.json").write_text('{"format": ')
    assert "line 1, column 12" in command("describe", "torn.json").stderr


def test_what_is_saved_is_npz(tmp_path: Path, command: Callable[..., Done]) -> None:
    """Mend, fresh mistake 179: another ending is refused before the work, by every command; none at all is fine."""
    reaching(sample_arm(), [0.45, 0.1, 0.3]).save(tmp_path / "reach.json")
    (tmp_path / "leaf.urdf").write_text('<robot name="a"><link name="b"/></robot>')
    for arguments in (("project", "reach.json", "--starts", "3"), ("assemble", "leaf.urdf")):
        for wrong in ("out.csv", "out.json", "out.npz.txt"):
            done = command(*arguments, "--save", wrong)
            assert done.returncode == 2
            assert done.stdout == ""
            assert f"error: {wrong}: --save writes .npz files" in done.stderr
            assert not (tmp_path / wrong).exists()
    for right in ("out.npz", "OUT.NPZ", "plain"):
        assert command("project", "reach.json", "--starts", "3", "--save", right).returncode == 0
        assert np.load(tmp_path / right)["q"].shape == (3, 7)


# Surfaces, paths.


def test_a_surface_says_where_its_normal_points() -> None:
    """Mend, fresh mistake 181: name, place, number of vertices and normal in one line; by hand for a tilted frame."""
    robot = sample_arm()
    up, down = (Surface("table", robot.frame("universe"), points) for points in (TOP, TOP[::-1]))
    assert up.describe() == "surface 'table' fixed in the world: 4 vertices, normal [0, 0, 1]"
    assert "normal [0, 0, -1]" in repr(down)
    assert "\n" not in repr(down)
    half = np.sqrt(0.5)
    side = Surface("side", robot.frame("tool", [0.0, 0.0, 0.0, half, 0.0, 0.0, half]), TOP[:3])  # z turns to -y
    placement: Any = robot.frame("tool").placement
    np.testing.assert_allclose(side.normal, placement.rotation @ [0.0, -1.0, 0.0], atol=1e-15)
    assert "3 vertices" in str(side)
    assert "on joint" in str(side)


def test_a_floor_that_looks_down_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """Mend, fresh mistake 181: a warning for a floor fixed in the world whose vertices go clockwise."""
    robot = sample_arm()
    gripper = Gripper("hand", robot.frame("tool"))
    thing = MovableObject("box", [Handle("top", robot.frame(robot.joint_names[0]))], [])

    def build(points: Any) -> None:
        ConstraintGraphFactory(robot, [gripper], [thing], [Surface("table", robot.frame("universe"), points)])

    with caplog.at_level(logging.WARNING):
        build(TOP)
        build([[0.0, y, z] for y, z, _ in TOP])  # a wall
        assert not any("normal" in message for message in caplog.messages)
        build(TOP[::-1])
    (message,) = [message for message in caplog.messages if "normal" in message]
    assert "'table'" in message
    assert "its normal points down" in message


def test_a_pair_of_right_hand_sides_may_be_a_list() -> None:
    """Mend, fresh mistake 193: it is the pair; a list of numbers stays a flat vector, another list is refused."""
    robot = sample_arm()
    problem = reaching(robot, [0.5, -0.1, 0.4])
    beyond = problem.rhs.replace("hand", [0.5, 0.1, 0.4])
    projector = Projector(problem)
    a = projector.project(robot.reference("home")).or_raise().q
    b = projector.project(a, beyond).or_raise().q
    expected = interpolate(problem, a, b, (problem.rhs, beyond)).or_raise()
    for given in ([problem.rhs, beyond], [[0.5, -0.1, 0.4], [0.5, 0.1, 0.4]]):
        path = interpolate(problem, a, b, given).or_raise()
        np.testing.assert_array_equal(path(0.5), expected(0.5))
    assert interpolate(problem, a, a, [0.5, -0.1, 0.4]).success
    for wrong in ([problem.rhs], [problem.rhs, beyond, beyond]):
        with pytest.raises(WrongObjectError, match=rf"a pair of them.*got {len(wrong)} of them"):
            interpolate(problem, a, b, wrong)


# Failures.


@pytest.mark.parametrize("options", [Options(), Options(restarts=False), Options(max_iterations=2)])
def test_what_failed_is_within_bounds_that_whole_turns_can_keep(options: Options) -> None:
    """Mend: the best iterate of a failure is turned back as a solution is; its residual is that of the q it has."""
    robot = turning(0.0)
    problem = Problem(robot, [Implicit.equal(Position(robot, "tip"), [-3.0, 0.3, 0.0])])
    for start in np.linspace(-3.1, 3.1, 40):
        result = Projector(problem, options).project([start])
        assert not result.success
        assert result.violations == ()
        x = float(result.q[0])
        assert result.residual == pytest.approx(np.hypot(np.cos(x) + 3.0, np.sin(x) - 0.3), rel=1e-12)


@pytest.mark.parametrize("engine", [None, "readable"])
def test_what_was_turned_is_measured_again(engine: str | None) -> None:
    """Soundness, seed 32, case 395112: a hand 100 km away sees the rounding of 159 turns; the residual is that of q."""
    limits = f"<limit lower='-{np.pi}' upper='{np.pi}' effort='1' velocity='1'/>"
    robot = Robot.from_urdf(
        "<robot name='far'><link name='base'/><link name='arm'/><link name='hand'/>"
        "<joint name='turn' type='revolute'><parent link='base'/><child link='arm'/><axis xyz='0 0 1'/>"
        f"{limits}</joint>"
        "<joint name='fix' type='fixed'><parent link='arm'/><child link='hand'/><origin xyz='1e5 0 0'/></joint></robot>"
    )
    problem = Problem(robot, [Implicit.equal(Position(robot, "hand"), [1.5e5, 1e3, 0.0])])
    for start in (1000.3, -2000.1, 777.7):
        found = Projector(problem, Options(restarts=False, max_iterations=2), engine).project([start])
        assert not found.success
        assert abs(found.q[0]) <= np.pi
        assert found.residual == pytest.approx(problem.residual(found.q), rel=1e-14)
