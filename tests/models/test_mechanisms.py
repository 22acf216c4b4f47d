"""Built-in mechanisms and what they leave free: mobility, redundant and inconsistent rows, independent coordinates."""

from __future__ import annotations

import itertools
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few

from constraints import ConstraintError, Projector, Robot, Target
from constraints.errors import NotFiniteError, OptionError, UnknownJointError, UnknownNameError
from constraints.loops import Closure, Hinge, PointClosure, RodClosure
from constraints.models import Mechanism, mechanisms, sample_arm, sample_humanoid, sample_two_arms
from constraints.models.structure.assemblies import assemblies
from constraints.models.structure.mechanism import Unread
from constraints.models.structure.tree import JointKind, Tree

MADE: list[tuple[str, dict[str, Any], tuple[int, int, int, int]]] = [
    ("four_bar", {}, (3, 5, 2, 1)),
    ("four_bar", {"ground": 0.4, "crank": 0.2, "coupler": 0.4, "rocker": 0.2}, (3, 5, 2, 1)),
    ("five_bar", {}, (4, 5, 2, 2)),
    ("five_bar", {"ground": 0.5, "left": 1.9, "right": 1.2}, (4, 5, 2, 2)),
    ("slider_crank", {}, (4, 3, 3, 1)),
    ("slider_crank", {"offset": -0.2, "angle": -2.5}, (4, 3, 3, 1)),
    ("stewart_platform", {}, (24, 18, 18, 6)),
    ("stewart_platform", {"spread": 0.1, "height": 0.8}, (24, 18, 18, 6)),
    ("delta_robot", {}, (9, 6, 6, 3)),
    ("delta_robot", {"angle": -0.2, "width": 0.15}, (9, 6, 6, 3)),
    ("bennett", {}, (4, 6, 3, 1)),
    ("bennett", {"a": 0.1, "alpha": 1.1, "beta": 0.5, "angle": -2.0}, (4, 6, 3, 1)),
    ("scissor_lift", {"stages": 1}, (3, 5, 2, 1)),
    ("scissor_lift", {"stages": 12, "angle": 1.0}, (25, 60, 24, 1)),
]
"""Mechanism, options, and (nv, rows, rank, mobility) as counted by hand: see the docstrings."""


def built(entry: tuple[str, dict[str, Any], Any]) -> Mechanism:
    return getattr(mechanisms, entry[0])(**entry[1])


@pytest.mark.parametrize("entry", a_few(MADE, 5), ids=lambda e: f"{e[0]}{len(e[1])}")
def test_mobility_at_the_closed_posture(entry: Any) -> None:
    """Case 17: each built-in mechanism is closed by construction and has its known mobility."""
    mechanism, (nv, rows, rank, mobility) = built(entry), entry[2]
    q = mechanism.posture("closed")
    judged = mechanism.judge(q)
    assert judged.residual <= 1e-14
    assert judged.is_closed
    assert (mechanism.robot.nv, judged.rows, judged.rank, judged.mobility) == (nv, rows, rank, mobility)
    assert mechanism.mobility(q) == mobility
    assert mechanism.rank(q) == rank
    assert not judged.inconsistent
    assert set(mechanism.motors) >= set(judged.independent)  # driving the motors moves it
    assert pickle.loads(pickle.dumps(mechanism)).judge(q).redundant == judged.redundant


@pytest.mark.parametrize("entry", MADE, ids=lambda e: f"{e[0]}{len(e[1])}")
def test_it_moves_along_its_freedoms_and_stays_closed(entry: Any) -> None:
    """A mobility is a motion: a step along the null space is closed again by a correction of second order."""
    mechanism = built(entry)
    q, problem = mechanism.posture("closed"), mechanism.problem()
    basis = problem.tangent_basis(q)
    assert basis.shape[1] == entry[2][3]
    for column in basis.T:
        stepped = mechanism.robot.space.integrate(q, 1e-3 * column)
        done = Projector(problem).project(stepped).q
        correction = mechanism.robot.space.difference(stepped, done)
        assert np.abs(correction).max() <= 1e-4
        assert np.abs(mechanism.robot.space.difference(q, done)).max() >= 1e-4


def test_frames_meet_by_plain_pinocchio() -> None:
    """Points that the closures join coincide, and rods have their length, by pinocchio's own kinematics."""
    meets = {
        "four_bar": [("coupler_end", "rocker_end", 0.0)],
        "five_bar": [("left_outer_end", "right_outer_end", 0.0)],
        "slider_crank": [("rod_end", "slider_body", 0.0)],
        "stewart_platform": [(f"anchor{i}", f"leg{i}_end", 0.0) for i in range(1, 7)],
        "delta_robot": [(f"elbow{i}_{s}", f"ankle{i}_{s}", 0.5) for i in (1, 2, 3) for s in ("left", "right")],
        "scissor_lift": [("a1_top", "b2_foot", 0.0), ("a2_top", "b3_foot", 0.0), ("foot", "b1_foot", 0.0)],
    }
    for name, pairs in meets.items():
        mechanism = getattr(mechanisms, name)()
        model: Any = mechanism.robot.model
        data = model.createData()
        pin.framesForwardKinematics(model, data, mechanism.posture("closed"))
        for a, b, apart in pairs:
            ends = [data.oMf[model.getFrameId(f)].translation for f in (a, b)]
            assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(apart, abs=1e-14)


def test_a_scissor_lift_is_straight() -> None:
    lift = mechanisms.scissor_lift(5, bar=0.4, angle=0.7)
    data = lift.robot.model.createData()
    model: Any = lift.robot.model
    pin.framesForwardKinematics(model, data, lift.posture("closed"))
    rise, run = 0.4 * math.sin(0.7), 0.4 * math.cos(0.7)
    for i in range(1, 6):
        np.testing.assert_allclose(data.oMf[model.getFrameId(f"a{i}_top")].translation, [run, i * rise, 0], atol=1e-13)
        np.testing.assert_allclose(data.oMf[model.getFrameId(f"b{i}_top")].translation, [0, i * rise, 0], atol=1e-13)


def test_bennett_is_closed_on_its_whole_branch_and_overconstrained() -> None:
    """Case 17: mobility 1 although counting gives -2; rank 4 at open configurations, 3 at closed ones."""
    rng = np.random.default_rng(5)
    linkage = mechanisms.bennett(0.3, 0.6, 1.2)
    assert 4 - linkage.rows == -2
    for angle in (0.2, 1.0, 2.5, -1.7):
        other = mechanisms.bennett(0.3, 0.6, 1.2, angle)
        q = other.posture("closed")
        turned = np.eye(4)
        for theta, (bar, twist) in zip(q, [(0.3, 0.6), (0.3 * math.sin(1.2) / math.sin(0.6), 1.2)] * 2, strict=True):
            turned = turned @ pin.SE3(pin.utils.rotate("z", theta), np.zeros(3)).homogeneous
            turned = turned @ pin.SE3(pin.utils.rotate("x", twist), np.array([bar, 0, 0])).homogeneous
        np.testing.assert_allclose(turned, np.eye(4), atol=1e-14)
        assert linkage.judge(q).residual <= 1e-14  # the same linkage
        assert linkage.rank(q) == 3
    for _ in range(6):
        judged = linkage.judge(rng.uniform(-np.pi, np.pi, 4))
        assert judged.rank == 4
        assert not judged.is_closed
        assert "open configuration" in judged.describe()


def test_a_stretched_parallelogram_loses_rank() -> None:
    """Case 17: the flat parallelogram is reported: rank 1, mobility 2 there, and 1 on both sides of it."""
    lengths = {"ground": 0.4, "crank": 0.2, "coupler": 0.4, "rocker": 0.2}
    flat = mechanisms.four_bar(**lengths, angle=0.0)
    judged = flat.judge(flat.posture("closed"))
    assert (judged.rank, judged.mobility) == (1, 2)
    assert len(judged.independent) == 2
    for angle in (-0.1, 0.1):
        q = mechanisms.four_bar(**lengths, angle=angle).posture("closed")
        assert (flat.rank(q), flat.mobility(q)) == (2, 1)


def test_dead_centres_of_driven_joints_are_judged() -> None:
    """Mend 12: a crank-rocker that is driven by its rocker is at a dead centre where crank and coupler are in line (a
    triangle of 3, 4, 5), by its crank nowhere; a flat parallelogram leaves coupler and rocker open."""
    linkage = mechanisms.four_bar(0.4, 0.2, 0.3, 0.3)
    dead = np.array([np.arctan2(3.0, 4.0), 0.0, 0.5 * np.pi])
    judged = linkage.judge(dead, driven=["rocker"])
    assert judged.is_closed
    assert (judged.rank, judged.mobility, judged.held_mobility, judged.blocked) == (2, 1, 1, 1)
    assert judged.undetermined == ("crank", "coupler")
    assert not judged.is_determined
    assert "may move: crank, coupler (a dead centre, or a part that moves alone)" in judged.describe()
    assert judged.held_singular_values is not None
    assert judged.held_singular_values[1] < 1e-12
    for q, driven in ((dead, "crank"), (linkage.posture("closed"), "rocker"), (linkage.posture("closed"), "crank")):
        regular = linkage.judge(q, driven=[driven])
        assert (regular.held_mobility, regular.blocked, regular.undetermined) == (0, 0, ())
        assert regular.is_determined
        assert regular.independent == (driven,)
    flat = mechanisms.four_bar(0.4, 0.2, 0.4, 0.2, angle=0.0)
    judged = flat.judge(flat.posture("closed"), driven=["crank"])
    assert (judged.mobility, judged.held_mobility, judged.blocked) == (2, 1, 0)
    assert judged.undetermined == ("coupler", "rocker")
    assert flat.judge(flat.posture("closed")).held_mobility is None
    with pytest.raises(UnknownJointError, match="crank"):
        flat.judge(flat.posture("closed"), driven=["crnk"])


def test_rows_out_of_the_plane_are_the_redundant_ones() -> None:
    """Three of the five rows of a planar pin: translation out of the plane, two rotations."""
    for name in ("four_bar", "five_bar"):
        mechanism = getattr(mechanisms, name)()
        J = mechanism.problem().jacobian(mechanism.posture("closed"))
        judged = mechanism.judge(mechanism.posture("closed"))
        assert len(judged.redundant) == 3
        zero = np.flatnonzero(np.abs(J).max(axis=1) < 1e-12)
        assert zero.size == 3
        names = [label for i, label in enumerate(labels(mechanism)) if i in zero]
        assert list(judged.redundant) == names


def labels(mechanism: Mechanism) -> list[str]:
    from constraints.loops.mobility import row_names

    return list(row_names(mechanism.stack))


def test_inconsistent_rows_are_named_with_their_size() -> None:
    """Two links that meet in the plane but not out of it: the row out of the plane is redundant, and off by 1 mm."""
    linkage = mechanisms.four_bar()
    robot = linkage.robot
    lifted = robot.frame("rocker_end", pin.SE3(np.eye(3), np.array([0.0, 0.0, 1e-3])))
    off = Mechanism(robot, (Closure(robot, "coupler_end", lifted, Hinge.pin([0, 0, 1]), name="off"),))
    judged = off.judge(linkage.posture("closed"))
    assert judged.inconsistent == {"off": pytest.approx(1e-3, rel=1e-9)}
    assert judged.inconsistency == pytest.approx(1e-3, rel=1e-9)
    assert not judged.is_closed
    assert "inconsistent by 0.001" in judged.describe()
    assert not linkage.judge(linkage.posture("closed")).inconsistent


def test_ball_and_free_joints_are_split_by_coordinate() -> None:
    """Independent coordinates of joints with several freedoms have a number; motors come first."""
    platform = mechanisms.stewart_platform()
    q = platform.posture("closed")
    assert platform.judge(q).independent == platform.motors
    bare = Mechanism(platform.robot, platform.closures, postures=platform.postures)
    assert any("[" in name for name in (*bare.judge(q).independent, *bare.judge(q).dependent))
    assert bare.mobility(q) == 6


def test_what_is_built_in_has_the_sizes_that_it_is_described_with() -> None:
    arm, humanoid = sample_arm(), sample_humanoid()
    np.testing.assert_array_equal(arm.reference("home"), [0.0, 0.5, 0.0, 1.2, 0.0, 0.8, 0.0])
    np.testing.assert_array_equal(arm.bounds.upper, [2.9, 2.0, 2.9, 2.6, 2.9, 2.0, 2.9])
    np.testing.assert_array_equal(arm.bounds.lower, [-2.9, -2.0, -2.9, -0.1, -2.9, -2.0, -2.9])
    assert [body.mass for body in arm.model.inertias][1:] == [3.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5]
    tool = arm.at(arm.neutral).placement(arm.frame("tool"))
    np.testing.assert_allclose(tool.translation, [0.0, 0.0, 1.33 - 0.02], atol=1e-14)
    model: Any = arm.model
    np.testing.assert_array_equal(model.upperEffortLimit, 7 * [100.0])
    np.testing.assert_array_equal(model.upperVelocityLimit, 7 * [3.0])
    link = pin.Inertia.FromCylinder(2.0, 0.05, 0.2).se3Action(pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1])))
    np.testing.assert_allclose(arm.model.inertias[4].matrix(), link.matrix(), atol=1e-15)
    arms = sample_two_arms()
    assert (arms.model.inertias[1].mass, arms.bounds.lower[0], arms.bounds.upper[0]) == (12.0, -1.5, 1.5)
    model = arms.model
    assert (model.upperEffortLimit[0], model.upperVelocityLimit[0]) == (200.0, 2.0)
    home, mirror = arms.at(arms.reference("home")), np.diag([1.0, -1.0, 1.0])
    left, right = (home.placement(f"{side}_tool") for side in ("left", "right"))
    np.testing.assert_allclose(left.translation, [0.5, 0.2, 1.0], atol=0.02)
    assert left.rotation[0, 2] > 0.95  # it points forwards
    np.testing.assert_allclose(right.translation, mirror @ left.translation, atol=1e-14)
    np.testing.assert_allclose(right.rotation, mirror @ left.rotation @ mirror, atol=1e-14)
    for side, sign in (("left", 1.0), ("right", -1.0)):  # tilted outwards by 60 degrees
        shoulder = arms.at(arms.neutral).placement(f"{side}_shoulder_yaw")
        outwards = np.array([0.0, sign * math.sin(np.pi / 3.0), 0.5])
        np.testing.assert_allclose(shoulder.rotation[:, 2], outwards, atol=1e-15)
        np.testing.assert_allclose(shoulder.translation, [0.0, sign * 0.15, 1.1] + 0.16 * outwards, atol=1e-15)
    bent = {f"{side}leg_{joint}_joint": x for side in "lr" for joint, x in
            (("shoulder2", 0.4), ("elbow", -0.8), ("wrist1", 0.4))}  # fmt: skip
    np.testing.assert_array_equal(humanoid.reference("home"), humanoid.configuration(bent))
    delta = mechanisms.delta_robot().robot
    for i, end in itertools.product((1, 2, 3), ("elbow", "ankle")):
        left, right = (delta.frame(f"{end}{i}_{side}").placement.translation for side in ("left", "right"))
        assert np.linalg.norm(left - right) == pytest.approx(0.08)
    ankles = [delta.frame(f"ankle{i}_{side}").placement.translation for i in (1, 2, 3) for side in ("left", "right")]
    np.testing.assert_allclose(np.sum(ankles, axis=0), 0.0, atol=1e-15)  # a third of a turn apart
    cranks = mechanisms.five_bar(0.5, left=1.9, right=1.2).robot
    pins = [cranks.at(cranks.neutral).placement(f"{side}_inner").translation for side in ("left", "right")]
    np.testing.assert_array_equal(pins, [[-0.25, 0.0, 0.0], [0.25, 0.0, 0.0]])
    assert mechanisms.bennett().robot.model.jointPlacements[2].translation[0] == 0.3
    platform = mechanisms.stewart_platform(spread=0.2).robot
    anchors = [platform.frame(f"anchor{i}").placement.translation for i in range(1, 7)]
    np.testing.assert_allclose(np.linalg.norm(anchors, axis=1), 0.3)
    pairs = [np.arccos(anchors[i] @ anchors[(i + 1) % 6] / 0.09) for i in (1, 3, 5)]  # of the gaps of the base
    np.testing.assert_allclose(pairs, 2 * 0.2)


def test_joints_of_a_tree_have_no_pitch_and_no_limits_by_default() -> None:
    tree = Tree("screw")
    free = tree.joint(0, JointKind.HELICAL, pin.SE3.Identity(), "free")
    screw = tree.joint(0, JointKind.HELICAL, pin.SE3.Identity(), "screw", pitch=0.25)
    data = tree.model.createData()
    pin.forwardKinematics(tree.model, data, np.full(tree.model.nq, 0.5))
    np.testing.assert_allclose(data.oMi[free].translation, 0.0, atol=1e-15)
    np.testing.assert_allclose(data.oMi[screw].translation, [0.0, 0.0, 0.125], atol=1e-15)
    assert (Robot(tree.model).bounds.upper == np.inf).all()


def bar(length: float, axis: int = 0, start: float = 0.0) -> Any:
    """A uniform bar of 2 kg/m along an axis, 2 cm across: two halves in its Gauss points have its moments."""
    ends = (start + length * (0.5 + sign * math.sqrt(1.0 / 12.0)) for sign in (-1.0, 1.0))
    halves = [pin.Inertia(length, x * np.eye(3)[axis], 1e-4 * length * np.eye(3)) for x in ends]
    return halves[0] + halves[1]


BODIES: dict[str, dict[str, Any]] = {
    "four_bar": {"crank": bar(0.15), "coupler": bar(0.35), "rocker": bar(0.3)},
    "five_bar": {f"{side}_{part}": bar(x) for side in ("left", "right") for part, x in
                 (("inner", 0.25), ("outer", 0.35))},
    "slider_crank": {"crank": bar(0.1), "rod": bar(0.4, 2), "slider": pin.Inertia.FromBox(0.5, *3 * [math.sqrt(6e-3)])},
    "stewart_platform": {"platform": pin.Inertia.FromCylinder(5.0, 0.3, 0.0)}
    | {f"leg{i}": bar(0.25, 2) for i in range(1, 7)} | {f"length{i}": bar(0.25, 2, -0.25) for i in range(1, 7)},
    "delta_robot": {"platform": pin.Inertia.FromCylinder(0.5, 0.06, 0.0)} | {f"arm{i}": bar(0.25) for i in (1, 2, 3)},
    "bennett": {f"hinge{i}": bar(0.3 if i % 2 else 0.3 * math.sin(1.2) / math.sin(0.6)) for i in range(1, 5)},
    "scissor_lift": {"slide": pin.Inertia.FromBox(1.0, *3 * [math.sqrt(6e-3)])}
    | {f"a{i}": bar(0.6) for i in (1, 2, 3)} | {f"b{i}": bar(0.6, 0, -0.3) for i in (1, 2, 3)},
}  # fmt: skip
"""What the joints of the mechanisms carry as they are by default: bars, discs and cubes."""

DRIVEN = {"four_bar": [1.0], "five_bar": [2.2, 0.9], "slider_crank": [0.7], "delta_robot": [0.4, 0.4, 0.4],
          "bennett": [1.0], "scissor_lift": [0.6 * math.cos(0.5)]}  # fmt: skip
"""Where the motors are in the posture "closed"; those of the platform are legs."""


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_uniform_bars_discs_and_cubes(name: str) -> None:
    mechanism = getattr(mechanisms, name)()
    robot, closed = mechanism.robot, mechanism.posture("closed")
    assert set(robot.joint_names) == set(BODIES[name])
    for joint, expected in BODIES[name].items():
        found = robot.model.inertias[robot.joint_index(joint)]
        np.testing.assert_allclose(found.matrix(), expected.matrix(), atol=1e-14)
    if name in DRIVEN:
        np.testing.assert_allclose([closed[robot.slice_of(motor)][0] for motor in mechanism.motors], DRIVEN[name])
    assert robot.bounds.contains(closed)
    lower = {joint: robot.bounds.lower[robot.slice_of(joint)] for joint in robot.joint_names}
    assert all((lower[joint] == (0.0 if joint.startswith("length") else -np.inf)).all() for joint in lower)


@pytest.mark.parametrize("name", ["four_bar", "stewart_platform"])
def test_of_several_starts_one_that_closes_with_the_largest_rank_is_chosen(name: str) -> None:
    mechanism = getattr(mechanisms, name)()
    found = assemblies(mechanism, seed=1, count=6)
    judged = [mechanism.judge(q) for q in found.ends]
    assert found.closed[found.chosen]
    assert any(found.closed) == found.success
    assert found.judged.rank == max(one.rank for one, closed in zip(judged, found.closed, strict=True) if closed)
    tree = Mechanism(mechanism.robot)
    alone = assemblies(tree)
    np.testing.assert_array_equal(alone.q, tree.robot.neutral)
    assert (alone.iterations, len(alone.ends)) == ((0,), 1)
    assert alone.shown == 0


def test_the_assembly_that_is_drawn_starts_open_where_one_does() -> None:
    """Of those that end as the chosen one: what a picture shows moves."""
    linkage = mechanisms.four_bar(0.4, 0.2, 0.4, 0.2)
    found = assemblies(linkage, seed=2, count=4)  # a parallelogram is closed, and flat, where all angles are 0
    begun = [linkage.judge(q).is_closed for q in found.starts]
    assert begun[:3] == [True, True, False]
    assert begun[found.chosen]
    assert found.success
    assert found.shown == next(i for i, q in enumerate(begun) if found.closed[i] and not q)
    assert repr(found) == f"Assemblies('four_bar': closed from {sum(found.closed)} of 6 starts)"
    lifted = linkage.robot.frame("rocker_end", pin.SE3(np.eye(3), np.array([0.0, 0.0, 1e-3])))
    off = Mechanism(linkage.robot, (Closure(linkage.robot, "coupler_end", lifted, Hinge.pin([0, 0, 1]), name="off"),))
    never = assemblies(off, seed=2, count=2)
    assert not never.success
    assert never.shown == never.chosen
    assert never.inconsistency == pytest.approx(1e-3, rel=1e-6)


def test_inverse_kinematics_of_the_stewart_platform() -> None:
    platform = mechanisms.stewart_platform()
    rng = np.random.default_rng(1)
    for _ in range(10):
        placement = pin.SE3(pin.exp3(rng.uniform(-0.4, 0.4, 3)), np.array([0, 0, 0.5]) + rng.uniform(-0.1, 0.1, 3))
        q = mechanisms.stewart_posture(platform, placement)
        assert platform.judge(q).residual <= 1e-14
        assert platform.mobility(q) == 6
        np.testing.assert_allclose(platform.robot.at(q).placement(platform.robot.frame("platform")).homogeneous,
                                   placement.homogeneous, atol=1e-14)  # fmt: skip
    with pytest.raises(UnknownJointError):
        mechanisms.stewart_posture(mechanisms.four_bar(), pin.SE3.Identity())
    with pytest.raises(ConstraintError, match="placement of the platform"):
        mechanisms.stewart_posture(platform, [1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "options", "kind", "said"),
    [
        ("four_bar", {"coupler": 0.01}, OptionError, "four-bar"),
        ("four_bar", {"crank": -1.0}, OptionError, "crank of a four-bar"),
        ("four_bar", {"crank": 0.0}, OptionError, "crank of a four-bar"),
        ("four_bar", {"crank": "long"}, OptionError, "crank of a four-bar"),
        ("four_bar", {"angle": math.nan}, NotFiniteError, "angle"),
        ("five_bar", {"outer": 0.05}, OptionError, "five-bar"),
        ("slider_crank", {"rod": 0.05, "angle": 1.5}, OptionError, "rod of a slider-crank"),
        ("stewart_platform", {"height": 0.0}, OptionError, "height"),
        ("delta_robot", {"forearm": 0.1}, OptionError, "forearm"),
        ("delta_robot", {"base_radius": 0.5, "platform_radius": 0.25, "angle": 0}, OptionError, "forearm"),
        ("bennett", {"alpha": 0.5, "beta": 0.5}, OptionError, "Bennett"),
        ("bennett", {"alpha": 0.5, "beta": -0.7}, OptionError, "Bennett"),
        ("scissor_lift", {"stages": 0}, OptionError, "stages"),
        ("scissor_lift", {"stages": 1.5}, OptionError, "stages"),
    ],
)
def test_lengths_that_make_no_mechanism_are_refused(name: str, options: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        getattr(mechanisms, name)(**options)


def test_lengths_that_just_reach_make_one() -> None:
    """Bars that are in line, and a rod straight down."""
    made = (
        mechanisms.four_bar(1.0, 0.25, 0.5, 0.25, angle=0.0),
        mechanisms.five_bar(1.0, 0.25, 0.25, 0.0, math.pi),
        mechanisms.slider_crank(0.1, 0.5, offset=-0.5, angle=0.0),
    )
    for mechanism in made:
        assert mechanism.judge(mechanism.posture("closed")).residual <= 1e-14


def test_what_a_mechanism_takes() -> None:
    robot = sample_two_arms()
    hands = PointClosure(robot, "left_tool", "right_tool", name="hands")
    mechanism = Mechanism(robot, (hands,), motors=("torso",), postures={"home": robot.reference("home")})
    assert mechanism.rows == 3
    assert mechanism.problem().constraints.names == ("hands",)
    assert mechanism.constraint_set().stack.names == ("hands",)
    more = Closure(robot, None, "left_tool", Hinge.ball(), name="hold")
    assert mechanism.problem([more]).constraints.names == ("hands", "hold")
    assert mechanism.constraint_set([more]).stack.names == ("hands", "hold")
    assert "hands" in mechanism.describe()
    assert "nothing" not in repr(mechanism)
    with pytest.raises(UnknownNameError, match="home"):
        mechanism.posture("hmoe")
    with pytest.raises(ValueError, match="read-only"):
        mechanism.postures["home"][0] = 1.0
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"motors": ("torsso",)}, "torso"),
        ({"motors": "torso"}, "motors"),
        ({"closures": (3,)}, "constraint"),
        ({"couplers": (hands,)}, "coupler 0"),
        ({"postures": {"bad": [0.0]}}, "posture 'bad'"),
        ({"postures": [1]}, "postures"),
        ({"unread": ("x",)}, "unread 0"),
        ({"robot": 3}, "robot of a mechanism"),
    ]
    for options, said in wrong:
        with pytest.raises(ConstraintError, match=said):
            Mechanism(**{"robot": robot, **options})
    assert str(Unread("joint 'x'", "why")) == "joint 'x': why"
    with pytest.raises(ConstraintError, match="tolerance"):
        mechanism.judge(robot.neutral, tolerance=-1.0)


def test_what_was_cut_for_nothing_is_among_what_was_cut() -> None:
    robot = sample_arm()
    assert Mechanism(robot, cut=("a", "b"), loose=("b",)).loose == ("b",)
    with pytest.raises(UnknownNameError, match="joint among those that were cut"):
        Mechanism(robot, cut=("a", "b"), loose=("c",))


def test_mobility_of_an_open_configuration_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    linkage = mechanisms.four_bar()
    assert linkage.mobility(linkage.posture("closed")) == 1
    assert "mobility of an open configuration" not in caplog.text
    linkage.rank(linkage.robot.neutral)
    assert "mobility of an open configuration, which is off by" in caplog.text


def test_motors_are_preferred_where_a_mechanism_is_driven() -> None:
    linkage = mechanisms.four_bar()
    q = linkage.posture("closed")
    swept = linkage.sweep(q, "crank", [1.0, 1.2])
    np.testing.assert_allclose(swept.qs[:, 0], [1.0, 1.2])
    assert linkage.judge(swept.end).is_closed
    ways = linkage.branches(q, tries=20, seed=0).ways
    assert [way.q[0] for way in ways] == pytest.approx([1.0, 1.0])  # its elbow up and down


def test_what_moves_by_a_clock_is_taken_at_its_start() -> None:
    linkage = mechanisms.four_bar()
    robot, q = linkage.robot, linkage.posture("closed")
    reach = np.linalg.norm(robot.at(q).placement("coupler_end").translation)
    rod = RodClosure(robot, None, "coupler_end", Target(lambda t: [reach + 0.05 * t]), name="rod")
    mechanism = Mechanism(robot, (rod,))
    np.testing.assert_allclose(mechanism.branches(q, tries=2).ways[0].q, q, atol=1e-9)
    assert mechanism.minimal_coordinates(q, independent=["crank"]).independent[0] == "crank"
    with pytest.raises(ConstraintError):
        mechanism.branches(q, tries=2, t=1.0)  # there it is open


def test_a_tree_is_a_mechanism_without_rows() -> None:
    robot = Robot(sample_two_arms().model)
    tree = Mechanism(robot)
    judged = tree.judge(robot.neutral)
    assert (judged.rows, judged.rank, judged.mobility) == (0, 0, robot.nv)
    assert len(judged.independent) == robot.nv
    with pytest.raises(ConstraintError, match="row"):
        tree.problem()


def test_the_page_on_mechanisms_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).resolve().parent.parent.parent / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {}
    exec(compile(blocks[0], "docs/mechanisms.md", "exec"), names)
    assert names["done"].success
    assert names["problem"].is_satisfied(names["done"].q)
    assert "mobility 3" in capsys.readouterr().out
    exec(compile(blocks[1], "docs/mechanisms.md", "exec"), {})
    said = capsys.readouterr().out
    assert "joint 'hinge': no type of joint is named 'revolut'; the nearest names are revolute" in said
    assert "the nearest names are revolute" in blocks[1]
    assert "nv 6" in said  # the bar is free
