"""Joints that cannot move because their two bounds are equal, and limits of a URDF that say less than they should."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import humanoid

import constraints as lc
from constraints.loops import AssemblyOptions, assemble_position
from constraints.models import load, mechanisms
from constraints.robot import Base, Part
from constraints.solvers import Status

FOLDER = Path(__file__).parent.parent / "data" / "mechanisms"
CLOSABLE = ("5bar_linkage", "5bar_linkage_iso3d", "cassie_like", "digit_like_2legs", "robot_delta", "talos_like")
BARE = "<limit effort='1' velocity='1'/>"
EQUAL = "<limit lower='0.25' upper='0.25' effort='1' velocity='1'/>"
ROOMY = "<limit lower='-3' upper='3' effort='1' velocity='1'/>"


def chain(*limits: str, kind: str = "revolute") -> str:
    """A planar chain with a joint for each limit, 1 m from one to the next and to the tip."""
    parts = [f"<link name='l{i}'/>" for i in range(len(limits) + 1)] + ["<link name='tip'/>"]
    for i, limit in enumerate(limits):
        ends = f"<parent link='l{i}'/><child link='l{i + 1}'/><origin xyz='1 0 0'/><axis xyz='0 0 1'/>"
        parts.append(f"<joint name='j{i}' type='{kind}'>{ends}{limit}</joint>")
    ends = f"<parent link='l{len(limits)}'/><child link='tip'/><origin xyz='1 0 0'/>"
    return f"<robot name='chain'>{''.join(parts)}<joint name='t' type='fixed'>{ends}</joint></robot>"


# What a file says


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_limit_without_lower_and_upper_is_no_bound(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Mend 20: neither attribute: no bounds, and loading names the joints; pinocchio reads [0, 0]."""
    text = chain(BARE, ROOMY, BARE, kind=kind)
    peer = pin.buildModelFromXML(text)
    assert peer.lowerPositionLimit[0] == peer.upperPositionLimit[0] == 0.0
    robot = lc.Robot.from_urdf(text)
    assert robot.bounds.lower.tolist() == [-np.inf, -3, -np.inf]
    assert robot.bounds.upper.tolist() == [np.inf, 3, np.inf]
    assert "have a <limit> without lower and upper, so they have no bounds: j0, j2" in caplog.text
    assert robot.bounds.frozen_joints == ()
    model: Any = robot.model
    assert model.upperEffortLimit.tolist() == peer.upperEffortLimit.tolist()  # the rest of the tag counts


@pytest.mark.parametrize(("given", "bounds"), [("upper='2'", [0, 2]), ("lower='-2'", [-2, 0])])
def test_one_attribute_alone_is_read_to_the_letter(
    given: str, bounds: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    """Mend 20: one of them: URDF's 0 for the other, with a log line; where that crosses them, no bounds."""
    robot = lc.Robot.from_urdf(chain(f"<limit {given} effort='1' velocity='1'/>"))
    assert [robot.bounds.lower[0], robot.bounds.upper[0]] == bounds
    words = f"have only one of lower and upper; the other is 0, as URDF defines: j0 [{bounds[0]}, {bounds[1]}]"
    assert words in caplog.text
    crossed = lc.Robot.from_urdf(chain("<limit lower='2' effort='1' velocity='1'/>"))
    assert (crossed.bounds.lower[0], crossed.bounds.upper[0]) == (-np.inf, np.inf)
    assert "a lower limit above the upper one, so they have no bounds: j0 [2, 0]" in caplog.text


def test_complete_limits_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 20: a file with both attributes loads without a word, and so do joints that have no bounds by their type."""
    lc.Robot.from_urdf(chain(ROOMY, ROOMY), base=Base.FREE_FLYER)
    lc.Robot.from_urdf(chain("", BARE, kind="continuous"))
    assert not caplog.text
    lc.Robot.from_urdf(chain("", ROOMY, kind="continuous"))
    assert "are of a type without bounds, so their lower and upper are ignored: j1" in caplog.text


@pytest.mark.parametrize("name", CLOSABLE)
def test_closable_robots_are_solved(name: str) -> None:
    """Mend 20, done when: `Projector(mechanism.problem())` solves robots whose files give effort and velocity alone.

    Judged by the closures' frames, by pinocchio.
    """
    mechanism = load(FOLDER / name / f"{name}.urdf")
    robot, rng = mechanism.robot, np.random.default_rng(0)
    projector = lc.Projector(mechanism.problem())
    for size in (0.0, 0.1, 0.1, 0.1):
        result = projector.project(robot.space.integrate(robot.neutral, size * rng.standard_normal(robot.nv)))
        assert result.success, str(result)
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, np.array(result.q))
        closures: Any = mechanism.closures
        for closure in closures:
            ends = [data.oMi[f.joint] * f.placement for f in (closure.predecessor, closure.successor)]
            off = ends[0].actInv(ends[1])
            rows = pin.log6(off).vector if closure.rows.mask.sum() == 6 else off.translation
            assert np.linalg.norm(rows) <= 1e-4


# Frozen joints


def test_equal_bounds_are_said_before_any_work(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 20: both and equal: frozen. Loading, `robot.describe()` and `problem.describe()` name the joints."""
    robot = lc.Robot.from_urdf(chain(EQUAL, ROOMY, EQUAL))
    assert "cannot move, their two bounds are equal" in caplog.text
    assert caplog.text.endswith(": j0, j2\n")
    assert robot.bounds.frozen.tolist() == [True, False, True]
    assert robot.bounds.frozen_joints == ("j0", "j2")
    lines = robot.describe().splitlines()
    assert [("cannot move" in line) for line in lines[1:]] == [True, False, True]
    tip = lc.Implicit.zero(lc.Position(robot, "tip"), mask=[True, True, False])
    assert "3 dofs (1 free)" in lc.Problem(robot, [tip]).describe()
    assert "more rows (2) than free dofs (1)" in lc.Problem(robot, [tip]).describe()
    assert "cannot move, both bounds are equal: j0, j2" in lc.Problem(robot, [tip]).describe()
    assert "cannot move" not in lc.Problem(robot, [tip], frozen=["j0", "j2"]).describe()  # the user says so himself
    assert "cannot move" not in lc.Problem(robot.without_bounds(), [tip]).describe()


def test_a_model_keeps_its_limits(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 20: `Robot(pin.Model)` keeps [0, 0]: frozen, and said."""
    robot = lc.Robot(pin.buildModelFromXML(chain(BARE, ROOMY)))
    assert (robot.bounds.lower[0], robot.bounds.upper[0]) == (0, 0)
    assert robot.bounds.frozen_joints == ("j0",)
    assert "chain: these joints cannot move" in caplog.text
    assert caplog.text.endswith(": j0\n")


def test_only_coordinates_with_equal_bounds_are_frozen() -> None:
    """Mend 20: one coordinate of a free-flyer alone; a range however small is a range."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "stage")
    model.addJoint(1, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "flyer")
    robot = lc.Robot(model).with_bounds({"stage": ([0, 0, 1], [1, 0, 1]), "flyer": (0.5, 0.5)})
    assert robot.bounds.frozen.tolist() == [False, True, True, *[False] * 6]
    assert robot.bounds.frozen_joints == ()
    assert "cannot move" not in robot.describe()
    moved = lc.Implicit.zero(lc.Position(robot, "flyer"))
    assert "cannot move, both bounds are equal: stage[1, 2]" in lc.Problem(robot, [moved]).describe()
    slim = robot.with_bounds({"stage": (0.0, 1e-12)})
    assert not slim.bounds.frozen.any()
    assert robot.with_bounds({"stage": (0.0, 0.0)}).bounds.frozen_joints == ("stage",)


def test_a_failure_names_the_joints_that_cannot_move() -> None:
    """Mend 20: a projection that fails names them where rows depend on them, and the error of `or_raise()` does."""
    robot = lc.Robot.from_urdf(chain(EQUAL, ROOMY, EQUAL))
    target = lc.Position(robot, "tip").value(np.array([1.0, 0.5, -1.0]))
    tip = lc.Implicit.equal(lc.Position(robot, "tip"), target, name="tip")
    result = lc.Projector(lc.Problem(robot, [tip])).project(robot.neutral)
    assert not result.success
    words = "cannot move, both bounds are equal: j0, j2"
    assert str(result).endswith(f"; {words}")
    assert result.describe().count(words) == 1
    assert f"Bounds: {words}" in str(result.diagnose())
    with pytest.raises(ValueError, match=words):
        result.or_raise()
    assert result.active_bounds == ()  # they are at both bounds whatever happens: no news
    elbow = lc.Implicit.equal(lc.Position(robot, "l2"), [9.0, 0.0, 0.0])
    failed = lc.Projector(lc.Problem(robot, [elbow])).project(robot.neutral)
    assert str(failed).endswith("both bounds are equal: j0")  # j2 moves nothing of it
    reached = lc.Projector(lc.Problem(robot, [lc.Implicit.equal(tip.function, tip.function.value([0.25, 0.5, 0.25]))]))
    assert "cannot move" not in str(reached.project(robot.neutral))


def test_frozen_joints_take_no_part_in_steps() -> None:
    """Mend 20: joints with equal bounds are projected as `frozen=` joints are, step for step.

    Saturated at every step instead, 414 of 600 poses of both hands of a humanoid were reached without restarts, and
    443 with `frozen=`.
    """
    robot, rng = humanoid(), np.random.default_rng(7)
    names = [f.name for f in robot.space.factors if f.space.nq == 1]
    still = names[::2]
    q0 = robot.random(rng)
    held = robot.with_bounds({name: (q0[robot.slice_of(name)][0],) * 2 for name in still})
    hand = lc.Pose(held, names[-1])
    for _ in range(20):
        target, start = held.random(rng), held.random(rng)
        wanted = [lc.Implicit.equal(hand, hand.value(target))]
        ours = lc.Projector(lc.Problem(held, wanted), lc.Options.local()).project(start)
        frozen = lc.Projector(lc.Problem(held, wanted, frozen=still), lc.Options.local()).project(start)
        assert np.array_equal(ours.q, frozen.q)
        assert (ours.status, ours.iterations) == (frozen.status, frozen.iterations)


def test_a_computed_joint_that_cannot_move_is_named() -> None:
    """Mend 20: an explicit constraint on a frozen joint ends OUT_OF_BOUNDS, and the text says why it must."""
    robot = lc.Robot.from_urdf(chain(EQUAL, ROOMY))
    problem = lc.Problem(robot, [lc.linear_coupling(robot, "j0", {"j1": 1.0}), lc.locked_joint(robot, "j1", [1.0])])
    result = lc.Projector(problem).project(robot.neutral)
    assert result.status is Status.OUT_OF_BOUNDS
    assert str(result).endswith("; cannot move, both bounds are equal: j0")


def test_a_start_off_the_frozen_value_is_moved_to_it() -> None:
    """Mend 20: bounds hold, so a start outside is brought to the one value that is inside (`frozen=` would keep it)."""
    robot = lc.Robot.from_urdf(chain(EQUAL, ROOMY, ROOMY))
    tip = lc.Position(robot, "tip")
    target = tip.value(np.array([0.25, 0.5, -1.0]))
    problem = lc.Problem(robot, [lc.Implicit.equal(tip, target)])
    assert problem.bounds.frozen.tolist() == [True, False, False]
    assert not problem.frozen.any()
    result = lc.Projector(problem).project([1.0, 0.1, 0.1])
    assert result.success
    assert result.q[0] == 0.25


# Assemblies


def test_an_assembly_claims_no_bounds_that_it_did_not_look_at() -> None:
    """Mend 20: CONVERGED of an assembly without bounds says so, and names the coordinates outside the robot's."""
    linkage = mechanisms.four_bar()
    free = assemble_position(linkage.constraint_set(), linkage.postures["closed"])
    assert free.status is Status.CONVERGED
    assert "within its bounds" not in free.describe()
    assert "it was not asked to keep any bounds" in free.describe().splitlines()[0]
    joint = linkage.robot.joint_names[0]
    q = float(free.q[linkage.robot.slice_of(joint)][0])
    tight = type(linkage)(linkage.robot.with_bounds({joint: (q + 0.1, q + 0.2)}), linkage.closures)
    outside = assemble_position(tight.constraint_set(), linkage.postures["closed"])
    assert outside.success
    assert [(v.joint, round(v.amount, 6)) for v in outside.violations] == [(joint, -0.1)]
    assert f"outside the bounds of the robot: '{joint}' 0.1 rad below its bound" in outside.describe()
    kept = assemble_position(
        tight.constraint_set(), linkage.postures["closed"], options=AssemblyOptions(bounds=tight.robot.bounds)
    )
    assert kept.success
    assert "within its bounds" in kept.describe()
    assert kept.violations == ()
    assert lc.Bounds.none(tight.robot.space).frozen_joints == ()


def test_joints_without_bounds_stay_so_in_copies(tmp_path: Path) -> None:
    """Mend 20: a robot whose file gives no bounds has none after pickling, in a file, and in a system of robots."""
    robot = lc.Robot.from_urdf(chain(BARE, ROOMY))
    problem = lc.Problem(robot, [lc.Implicit.zero(lc.Position(robot, "tip"), mask=[True, False, False])])
    problem.save(tmp_path / "problem.json")
    read = lc.Problem.load(tmp_path / "problem.json").robot
    assert read is not None
    for copy in (pickle.loads(pickle.dumps(robot)), read, lc.Robot.system([Part("a", robot), Part("b", robot)])):
        assert copy.bounds.lower.tolist()[:2] == [-np.inf, -3]
        assert copy.bounds.upper.tolist()[:2] == [np.inf, 3]
    drawn = robot.random(np.random.default_rng(0), 500)[:, 0]
    assert -np.pi <= drawn.min() < -3 < 3 < drawn.max() <= np.pi
