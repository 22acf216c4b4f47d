"""The proof at scale finds what it looks for: its rows against the library's, its judgement against liars."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import scripts

import constraints as lc
from constraints.errors import ModelError, UndefinedError
from constraints.models import sample_arm, sample_two_arms


@pytest.fixture(scope="module")
def blocks(on_path: None) -> Any:
    return importlib.import_module("soundness_blocks")


@pytest.fixture(scope="module")
def judgement(on_path: None) -> Any:
    return importlib.import_module("soundness_faults")


@pytest.fixture(scope="module")
def trees(on_path: None) -> Any:
    return importlib.import_module("random_trees")


TREE = 3
"""A number whose block is of a tree."""


# Its parts.


def test_every_joint_type_of_pinocchio_is_in_each_tree_or_refused(trees: Any) -> None:
    every = {name.removeprefix("JointModel") for name in dir(pin) if name.startswith("JointModel")} - {""}
    assert every == set(trees.joint_makers()) | set(trees.REFUSED)
    for number in range(5):
        model = trees.random_tree(0, number)
        assert {str(joint.shortname()) for joint in list(model.joints)[1:]} == {
            f"JointModel{name}" for name in trees.joint_makers()
        }
        assert model == trees.random_tree(0, number)


def test_continuous_joints_of_trees_turn_about_the_axis_that_was_drawn(trees: Any) -> None:
    for seed in range(3):
        joint = trees.joint_makers()["RevoluteUnboundedUnaligned"](np.random.default_rng(seed))
        axis = trees.random_axis(np.random.default_rng(seed))
        model, angle = pin.Model(), 0.7
        model.addJoint(0, joint, pin.SE3.Identity(), "turn")
        data = model.createData()
        pin.forwardKinematics(model, data, np.array([np.cos(angle), np.sin(angle)]))
        assert str(model.joints[1].shortname()) == "JointModelRevoluteUnboundedUnaligned"
        assert np.abs(data.oMi[1].rotation - pin.exp3(angle * axis)).max() < 4e-15


def test_mimic_joints_are_refused_by_name() -> None:
    text = """<robot name='r'><link name='a'/><link name='b'/><link name='c'/>
    <joint name='first' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>
    <limit lower='-1' upper='1' effort='1' velocity='1'/></joint>
    <joint name='second' type='revolute'><parent link='b'/><child link='c'/><axis xyz='0 0 1'/>
    <limit lower='-1' upper='1' effort='1' velocity='1'/><mimic joint='first' multiplier='2'/></joint></robot>"""
    model = pin.buildModelFromXML(text, mimic=True)
    assert any("Mimic" in joint.shortname() for joint in model.joints)
    with pytest.raises(ModelError, match="second"):
        lc.Robot(model)


def test_coordinates_are_those_of_the_library(trees: Any) -> None:
    for number in range(5):
        model = trees.random_tree(1, number)
        where, space = trees.Coordinates.of(model), lc.Robot(model).space
        assert where.units == tuple(space.unit_blocks)
        np.testing.assert_array_equal(where.entries[where.flat], space.vector_q)
        np.testing.assert_array_equal(where.columns[where.flat], space.vector_v)
        np.testing.assert_array_equal(where.columns[where.angles], np.flatnonzero(space.revolute))


def test_half_a_turn_has_two_logarithms(blocks: Any) -> None:
    """Both give the placement back; an inequality that one of them satisfies is satisfied."""
    plain: Any = importlib.import_module("plain_rows")
    place, rng = plain.Place(pin.buildSampleModelManipulator()), np.random.default_rng(0)
    axes, t = rng.standard_normal((20, 3)), rng.standard_normal((20, 3))
    R = np.array([pin.exp3(np.pi * axis / np.linalg.norm(axis)) for axis in axes])
    R[-1] = pin.exp3(axes[-1])  # one that is no half turn
    place.at(np.zeros((20, place.model.nq)))
    logs = []
    for place.other in (False, True):
        logs.append(place.log6(plain.Poses(R, t)))
        ends = [pin.exp6(pin.Motion(log)) for log in logs[-1]]
        np.testing.assert_allclose([M.rotation for M in ends], R, rtol=0, atol=1e-7)
        np.testing.assert_allclose([M.translation for M in ends], t, rtol=0, atol=1e-7)
    assert place.turned.tolist() == [True] * 19 + [False]
    apart = np.linalg.norm(logs[0] - logs[1], axis=1)
    assert (apart[:-1] > 1.0).all()
    assert apart[-1] == 0.0


@pytest.mark.parametrize("kinds", [("Spherical",), ("FreeFlyer",), ("RY", "Spherical", "PZ"), ("PZ", "FreeFlyer")])
def test_half_a_turn_of_a_locked_joint_has_two_logarithms(blocks: Any, kinds: tuple[str, ...]) -> None:
    """Inside a composite joint too: whichever sign the row of an inequality is to have, it is satisfied."""
    plain: Any = importlib.import_module("plain_rows")
    made = [getattr(pin, f"JointModel{kind}")() for kind in kinds]
    joint = made[0]
    if len(kinds) > 1:
        joint = pin.JointModelComposite()
        for part in made:
            joint.addJoint(part, pin.SE3.Identity())
    model = pin.Model()
    model.addJoint(0, joint, pin.SE3.Identity(), "one")
    start = pin.neutral(model)
    at = model.nv - 3 - ("PZ" in kinds[1:])
    v = np.zeros(model.nv)
    v[at : at + 3] = np.pi * np.array([0.6, 0.0, 0.8])
    place = plain.Place(model)
    place.at(np.array([pin.integrate(model, start, v), start]))
    mask = np.arange(model.nv) == at + 2
    for sign in (1.0, -1.0):
        ends = np.sort([np.zeros(model.nv), sign * np.full(model.nv, np.inf)], axis=0)
        wanted = plain.Wanted(
            "locked",
            numbers={"joint": 1, "value": start},
            lower=ends[0],
            upper=ends[1],
            scale=np.ones(model.nv),
            mask=mask,
        )
        np.testing.assert_allclose(wanted.errors(place), 0.0, atol=1e-12)
    assert place.turned.tolist() == [True, False]


def test_rows_by_plain_pinocchio_are_those_of_the_library(blocks: Any) -> None:
    """Two roads from one description, for every kind, comparison and group, at configurations that solve nothing."""
    met, groups = set[str](), set[str]()
    for number in range(TREE, 4 * 40, 4):
        block = blocks.make_block(5, number)
        problem = block.projector.problem
        some = block.starts[:12]
        for q, ours, turned, off in zip(some, *block.measure(some), block.off_unit(some), strict=True):
            if turned or not np.isfinite(ours):
                continue
            slack = 1e-9 * (1.0 + ours) + 100.0 * off
            assert problem.residual(q, block.rhs) == pytest.approx(ours, abs=slack), block.name
        met |= {owner.name.split()[0] for owner in problem.constraints}
        groups |= {owner.group.name for owner in problem.constraints}
    kinds = importlib.import_module("random_problems")
    assert met == {*kinds.IMPLICIT, *kinds.EXPLICIT} - {"rotation", "pose_r3so3"}  # poses in other groups
    assert {"SO3", "SE3", "R3xSO3"} <= groups


def test_blocks_are_made_of_seed_and_number_alone(blocks: Any) -> None:
    for number in (0, TREE):
        one, other = blocks.make_block(3, number), blocks.make_block(3, number)
        assert one.starts.tobytes() == other.starts.tobytes()
        assert one.projector.options == other.projector.options
        assert one.name == other.name
        assert blocks.make_block(4, number).starts.tobytes() != one.starts.tobytes()


# Its judgement.


@dataclass
class Liar:
    """A projector whose results are twisted on the way: those of single calls, those of batches, or all."""

    honest: lc.Projector
    twist: Callable[[Any, np.ndarray], Any]
    single: bool = True
    many: bool = True

    @property
    def options(self) -> Any:
        return self.honest.options

    @property
    def problem(self) -> lc.Problem:
        return self.honest.problem

    def project(self, q: np.ndarray, rhs: Any = None) -> Any:
        result = self.honest.project(q, rhs)
        return self.twist(result, q) if self.single else result

    def project_batch(self, Q: np.ndarray, rhs: Any = None) -> Any:
        batch = self.honest.project_batch(Q.copy(), rhs)
        rows = [self.twist(batch[i], q) if self.many else batch[i] for i, q in enumerate(Q)]
        columns = ("q", "status", "iterations", "restarts", "residual", "success")
        return SimpleNamespace(**{name: np.array([getattr(row, name) for row in rows]) for name in columns})


def twisted(result: Any, **changes: Any) -> Any:
    """A projection with other figures."""
    return replace(result, outcome=result.outcome._replace(**changes))


def shifted(result: Any, q: np.ndarray) -> Any:
    return twisted(result, q=result.q + 0.01, status=lc.Status.CONVERGED)


def outside(result: Any, q: np.ndarray) -> Any:
    end = result.q.copy()
    end[0] += 2.0 * np.pi  # the same posture
    return twisted(result, q=end)


def not_a_number(result: Any, q: np.ndarray) -> Any:
    return twisted(result, q=np.full_like(result.q, np.nan))


def raising(result: Any, q: np.ndarray) -> Any:
    raise UndefinedError("no value")


def meddling(result: Any, q: np.ndarray) -> Any:
    q[0] += 1.0
    return result


def boasting(result: Any, q: np.ndarray) -> Any:
    return twisted(result, residual=result.residual + 1e-6)


def unlike(result: Any, q: np.ndarray) -> Any:
    return SimpleNamespace(
        q=result.q, status=result.status, iterations=result.iterations, restarts=result.restarts,
        residual=result.residual, success=not result.success,
    )  # fmt: skip


def nudged(result: Any, q: np.ndarray) -> Any:
    return twisted(result, q=np.nextafter(result.q, np.inf))


def counted_wrong(result: Any, q: np.ndarray) -> Any:
    return twisted(result, restarts=result.restarts + 1)


def restless(result: Any, q: np.ndarray) -> Any:
    return nudged(result, q) if result.iterations == 0 else result


def too_long(result: Any, q: np.ndarray) -> Any:
    return twisted(result, iterations=1000)


@pytest.fixture(scope="module")
def arm_block(blocks: Any, judgement: Any) -> Any:
    """A block of an arm's problem, with nothing wrong."""
    some = next(b for n in range(100) if (b := blocks.make_block(0, n)).name == "ur5_pose")
    block = replace(some, projector=lc.Projector(some.projector.problem))
    assert not judgement.faults(block, 30)[1]
    return block


LIES = [
    (shifted, "its error is"),
    (outside, "outside its bounds"),
    (not_a_number, "not finite"),
    (meddling, "the start was changed"),
    (boasting, "says its residual is"),
    (too_long, "1000 iterations"),
    (unlike, "success False"),
    (restless, "projected again, its solution ends as"),
]


@pytest.mark.parametrize(("twist", "said"), LIES)
def test_each_lie_is_found_in_every_row(judgement: Any, arm_block: Any, twist: Any, said: str) -> None:
    """Whether a batch told it or a single call."""
    false = replace(arm_block, projector=Liar(arm_block.projector, twist))
    rows = {i for i in range(30) if arm_block.kinds[i] in ("random", "out of bounds")}
    solved = {i for i in rows if arm_block.projector.project(arm_block.starts[i]).success}
    assert len(solved) > 5
    found = judgement.faults(false, 30)[1]
    assert {i for i, what in found if said in what} >= solved, found


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("twist", [nudged, counted_wrong])
def test_single_calls_that_are_not_their_rows_are_found(
    judgement: Any, arm_block: Any, twist: Any, single: bool
) -> None:
    """By a bit of the configuration, or by a count: of the two thirds that are called both ways."""
    false = replace(arm_block, projector=Liar(arm_block.projector, twist, single=single, many=not single))
    found = {i for i, what in judgement.faults(false, 30)[1] if "the single call gives" in what}
    assert found == {i for i in range(30) if i % 3}


def test_exceptions_of_a_row_and_of_a_batch_are_found(judgement: Any, arm_block: Any) -> None:
    for single, said in (
        (True, "raised UndefinedError: no value"),
        (False, "the batch raised UndefinedError: no value"),
    ):
        false = replace(arm_block, projector=Liar(arm_block.projector, raising, single=single, many=not single))
        statuses, found = judgement.faults(false, 30)
        raised = {i for i in range(30) if bool(i % 3) == single}
        assert statuses["raised"] == len(raised)
        assert statuses.total() == 30
        assert {i for i, what in found if what == said} == (raised if single else {0})


def test_unit_vectors_and_frozen_joints_are_looked_at(blocks: Any, judgement: Any) -> None:
    block = next(b for n in range(TREE, 400, 4) if (b := blocks.make_block(0, n)).frozen.size and not b.rhs)

    def long(result: Any, q: np.ndarray) -> Any:
        end = result.q.copy()
        end[block.units[0]] *= 1.001
        return twisted(result, q=end, status=lc.Status.CONVERGED)

    def thawed(result: Any, q: np.ndarray) -> Any:
        end = result.q.copy()
        end[block.frozen[0]] += 1e-9
        return twisted(result, q=end)

    for twist, said in ((long, "a unit vector is"), (thawed, "a frozen joint moved")):
        false = replace(block, projector=Liar(block.projector, twist))
        found = [i for i, what in judgement.faults(false, 15)[1] if said in what]
        assert {i % 3 == 0 for i in found} == {True, False}


def test_memory_between_projections_is_found(blocks: Any, judgement: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    block, fresh = blocks.make_block(0, 0), blocks.make_block(0, 0)
    assert not judgement.forgetful(0, 0, block, 1)
    used = replace(fresh, projector=Liar(fresh.projector, lambda result, q: twisted(result, q=result.q + 1e-15)))
    monkeypatch.setattr(judgement, "make_block", lambda seed, number, engine: used)
    assert "after others" in judgement.forgetful(0, 0, block, 1)[0]


# What it found.


def test_constant_maps_do_not_depend_on_the_first_start() -> None:
    """A pose between frames that nothing moves is evaluated somewhere, and its roundings stay: the same ones always."""
    model = pin.Model(sample_arm().model)
    joint = model.addJoint(4, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "object")
    robot = lc.Robot(model)
    place = pin.SE3(pin.utils.rotate("x", 0.3), np.array([0.1, 0.2, 0.3]))
    hold = lc.explicit_relative_pose(
        robot, lc.Frame("shelf", 4, place), lc.Frame("object", joint, pin.SE3.Identity()), name="hold"
    )
    assert hold.is_constant
    reach = lc.Implicit.equal(lc.Position(robot, "tool"), [0.3, 0.2, 0.7])
    rng = np.random.default_rng(0)
    starts = [robot.random(rng) for _ in range(20)]
    alone = [lc.Projector(lc.Problem(robot, [hold, reach])).project(q).q for q in starts]
    projector = lc.Projector(lc.Problem(robot, [hold, reach]))
    for q, end in zip(starts, alone, strict=True):
        assert projector.project(q).q.tobytes() == end.tobytes()


def test_starts_a_little_off_unit_end_on_it() -> None:
    """Poses of unit vectors that are off are inexact: a start that must move is normalised first."""
    model = pin.Model()
    cart = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "cart")
    arm = model.addJoint(cart, pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.5])), "arm")
    robot = lc.Robot(model)
    hand = lc.Frame("hand", arm, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.8])))
    target = robot.at(robot.random(np.random.default_rng(1))).placement(hand)
    problem = lc.Problem(robot, [lc.Implicit.equal(lc.Pose(robot, hand), target)])
    for seed in range(2, 12):
        q = robot.random(np.random.default_rng(seed))
        q[2:4] *= 1.0 + 8e-7
        q[4:8] *= 1.0 - 8e-7
        result = lc.Projector(problem).project(q)
        assert result.success
        assert robot.space.is_normalized(result.q, 1e-12)


def test_locked_joints_far_from_bounds_stay_where_they_are_told() -> None:
    """A success has the locked value to rounding, whatever the start."""
    robot = sample_two_arms()
    lock = lc.locked_joint(robot, "torso", 0.25)
    q = lc.Projector(lc.Problem(robot, [lock])).project(robot.random(np.random.default_rng(0))).q
    assert q[robot.slice_of("torso")] == 0.25


def test_a_solution_is_the_nearest_one_to_itself(blocks: Any) -> None:
    """Bit for bit, though roundings of computed outputs and other signs of quaternions are as good."""
    block = blocks.make_block(2, 103)
    assert block.projector.problem.explicits
    projector = lc.Projector(block.projector.problem, lc.Options(nearest=True))
    rows = [i for i in range(60) if block.kinds[i] in ("solution", "other sign")]
    for i in rows:
        result = projector.project(block.starts[i], block.rhs)
        assert result.q.tobytes() == block.starts[i].tobytes()
        assert result.iterations == 0
    assert len(rows) > 5


def test_refinements_keep_to_their_budget(blocks: Any) -> None:
    """Iterations to a solution and those around it: at most the sum of what the options give."""
    longer = 0
    for number in (3, 15):
        block = blocks.make_block(1, number)
        some = (
            lc.Options(restarts=False),
            lc.Options(restarts=False, nearest=True),
            lc.Options(restarts=False, nearest=True, refine_iterations=5),
        )
        plain, full, short = (lc.Projector(block.projector.problem, options) for options in some)
        for q in block.starts[:12]:
            first, last = plain.project(q, block.rhs), short.project(q, block.rhs)
            assert last.success == first.success
            assert last.iterations <= first.iterations + 5
            longer += full.project(q, block.rhs).iterations > first.iterations + 5
    assert longer > 5  # the budget matters


# The command.


@pytest.fixture
def command(on_path: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> Callable[..., Any]:
    """Runs `soundness.py` in this process, in a folder of its own: exit code, output, error output."""
    soundness = importlib.import_module("soundness")
    monkeypatch.chdir(tmp_path)

    def run(*given: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["soundness.py", *given])
        try:
            code = soundness.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_command_is_determined_by_its_seed_and_goes_on_from_its_log(command: Any, tmp_path: Path) -> None:
    code, said, _ = command("--projections", "230", "--seed", "7", "--json", "one.json")
    assert code == 0, said
    assert said.startswith("230 projections (seed 7): ")
    assert "; 0 findings; " in said
    assert command("--projections", "100", "--seed", "7", "--log", "log")[0] == 0
    with (tmp_path / "log").open("a") as file:
        file.write("\n[[1, 1")  # stopped while writing
    said = command("--projections", "230", "--seed", "7", "--log", "log", "--processes", "2", "--json", "two.json")[1]
    assert "1 of 3 blocks read from log" in said
    one, two = (json.loads((tmp_path / name).read_text())[0] for name in ("one.json", "two.json"))
    assert one["statuses"] == two["statuses"]
    assert one["projections"] == two["projections"] == 230
    code, _, said = command("--projections", "100", "--seed", "8", "--log", "log")
    assert code == 2
    assert "another run" in said


def test_a_case_is_repeated_in_full(command: Any) -> None:
    code, said, _ = command("--case", "312")
    assert code == 0, said
    assert "tree 0" in said
    assert "nothing is wrong with it" in said
    assert command("--case", "18012", "--engine", "compiled")[2] == "--case: block 9 has 12 starts, no start 12\n"


def test_findings_end_with_exit_code_one(command: Any, arm_block: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    false = replace(arm_block, projector=Liar(arm_block.projector, shifted))
    for module in ("soundness", "soundness_faults"):
        monkeypatch.setattr(importlib.import_module(module), "make_block", lambda seed, number, engine: false)
    code, said, _ = command("--projections", "10")
    assert code == 1
    assert "FOUND ur5_pose, start " in said
    assert "(repeat: --engine readable --seed 0 --case 0)" in said


def test_fuzz_is_a_command() -> None:
    done = scripts.run(scripts.BENCHMARKS / "soundness.py", "--fuzz", "60", "--seed", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("60 bad inputs (seed 3) at ")
    assert "60 refused by name; 0 findings" in done.stdout
    assert "60 read or refused; 0 findings" in done.stdout


@pytest.mark.parametrize("given", [[], ["--projections", "0"], ["--processes", "0", "--fuzz", "1"]])
def test_wrong_options_end_with_the_usage(command: Any, given: list[str]) -> None:
    code, _, said = command(*given)
    assert code == 2
    assert (given[0] if given else "--projections") in said
