"""Refutations: what cannot be is proved, what can be never is, and what is open is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from certificate_claims import two_links
from each_choice import draws
from out_of_reach import farthest
from robots import arm, joint_models, needs_robot_data, panda, talos, two_arms, ur5

from constraints import (
    Affine,
    Bounds,
    CenterOfMass,
    Function,
    Implicit,
    Orientation,
    Pose,
    Position,
    Problem,
    Rotation,
    Transformation,
)
from constraints.certificates import CertificateStatus, SearchLimits, certify, refute
from constraints.certificates.boxes.chains import HalfLoop, Screws
from constraints.certificates.boxes.cutting import Boxes, Linear, cut
from constraints.certificates.boxes.reach import Reach, _Distance  # pyright: ignore[reportPrivateUsage]
from constraints.certificates.boxes.reading import Coordinates, Read
from constraints.certificates.boxes.searching import BoxSearch
from constraints.certificates.rows import ProblemRows
from constraints.errors import NotFiniteError, OptionError, SizeError, SpaceMismatchError, WrongObjectError
from constraints.functions import norm
from constraints.functions.affine import Identity
from constraints.models.mechanisms import five_bar, four_bar
from constraints.robot import Robot
from liegroups import SE3, Rn
from liegroups.errors import EmptyIntervalError

REFUTED, SOLVED, OPEN = CertificateStatus.REFUTED, CertificateStatus.SOLVED, CertificateStatus.OPEN


def at(robot: Any, frame: str, target: Any, **where: Any) -> Problem:
    """The frame at a point; of two coordinates: in the plane."""
    return Problem(robot, [Implicit.equal(Position(robot, frame, **where)[: len(target)], target)])


# Lengths.


@pytest.mark.parametrize("angle", [0.0, 1.0, -2.5])
def test_a_target_beyond_the_sum_of_lengths_is_refuted_by_lengths(angle: float) -> None:
    toward = np.array([np.cos(angle), np.sin(angle)])
    found = refute(at(two_links(), "tip", 0.901 * toward))
    assert found.status is REFUTED
    assert "'tip' is at most 0.9 m from a point on the axis of 'shoulder', and its target is 0.901 m" in found.reason
    near = refute(at(two_links(), "tip", 0.099 * toward))
    assert near.status is REFUTED
    assert "at least 0.1 m" in near.reason
    assert refute(at(two_links(), "tip", 0.899 * toward)).status is SOLVED
    assert refute(at(two_links(), "tip", 0.101 * toward)).status is SOLVED


def test_bounds_of_the_elbow_count() -> None:
    """By the law of cosines: bent by 1 rad at least, 2 rad at most."""
    far, near = (np.sqrt(0.25 + 0.16 + 0.4 * np.cos(bend)) for bend in (1.0, 2.0))
    robot = two_links(elbow=(1.0, 2.0))
    for distance, status in (
        (far + 1e-3, REFUTED),
        (far - 1e-3, SOLVED),
        (near + 1e-3, SOLVED),
        (near - 1e-3, REFUTED),
    ):
        found = refute(at(robot, "tip", [0.0, distance]))
        assert found.status is status, found
    words = refute(at(robot, "tip", [0.0, far + 1e-3])).reason
    said = float(words.split("at most ")[1].split(" m")[0])
    assert far - 1e-5 <= said <= far + 2e-4


def test_slides_count_with_their_way() -> None:
    robot = two_links(slide=True, elbow=(-0.1, 0.2))
    for distance, status in ((1.101, REFUTED), (1.099, SOLVED), (0.801, SOLVED), (0.799, REFUTED)):
        assert refute(at(robot, "tip", [0.0, distance])).status is status


@needs_robot_data
def test_a_hand_of_talos_beyond_its_chain() -> None:
    robot = talos()
    hand, torso = "gripper_left_base_link", "torso_2_link"
    s = Screws.of(Position(robot, hand, reference=torso), np.array(robot.space.neutral))
    assert s is not None
    points = np.vstack([s.origins, s.position])
    total = np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1)).sum()
    target = points[0] + (total + 0.01) * np.array([0.6, 0.8, 0.0])
    found = refute(at(robot, hand, target, reference=torso))
    assert (found.status, found.boxes) == (REFUTED, 0)
    assert found.seconds < 1.0


# Boxes.


@needs_robot_data
@pytest.mark.parametrize(("make", "frame", "beyond"), [(ur5, "ee_link", 1e-3), (panda, "panda_hand_tcp", 5e-3)])
def test_arms_out_of_reach(make: Any, frame: str, beyond: float) -> None:
    point, u = farthest(make(), frame, np.random.default_rng(1), climbs=12)
    assert refute(at(make(), frame, point + beyond * u)).status is REFUTED
    assert refute(at(make(), frame, point - 1e-2 * u), limits=SearchLimits(2.0)).status is not REFUTED


@needs_robot_data
def test_without_lengths_boxes_refute() -> None:
    """The same target, of an arm whose base is asked to be seen by three rows, which have no length."""
    point, u = farthest(ur5(), "ee_link", np.random.default_rng(2), climbs=12)
    rows = ProblemRows.of(problem := at(ur5(), "ee_link", point + 2e-3 * u), problem.rhs)
    coordinates = Coordinates.of(rows)
    search = BoxSearch(rows, coordinates, Read.of(rows, coordinates), SearchLimits(20.0))
    found = search.run()
    assert (found.reason, found.open) == ("", 0.0)
    assert found.boxes > 100


def test_a_five_bar_whose_arms_cannot_meet() -> None:
    """Pivots at -0.15 and 0.15 m, arms of 0.25 and 0.35 m: each pivot must be within 0.6 m, and beyond 0.1 m."""
    robot = five_bar().robot
    tips = Position(robot, "left_outer_end"), Position(robot, "left_outer_end", reference="right_outer_end")

    def closed(x: float, y: float) -> Problem:
        return Problem(robot, [Implicit.equal(tips[0][:2], [x, y]), Implicit.equal(tips[1][:2], [0.0, 0.0])])

    for angle in np.linspace(-3.0, 3.0, 3).tolist():
        u = np.array([np.cos(angle), np.sin(angle)])
        pivot = np.array([-0.15 if u[0] > 0.0 else 0.15, 0.0])
        for distance, status in ((0.601, REFUTED), (0.599, SOLVED)):
            found = refute(closed(*(pivot + distance * u)))
            assert found.status is status, (angle, distance, found)
    assert refute(closed(0.15, 0.099)).status is REFUTED


def test_orientations_that_links_do_not_have() -> None:
    """Two links in the plane: the tip's turn is the sum of both, which the place of the tip leaves two choices of."""
    robot = two_links()
    q = np.array([0.4, 0.9])
    f = Pose(robot, "tip")
    pose = f.value(q)
    assert refute(Problem(robot, [Implicit.equal(f, pose)])).status is OPEN  # rows that the plane makes redundant
    other = 2.0 * np.arctan2(pose[1], pose[0]) - q.sum()  # of the tip with the elbow on the other side
    for turn, status in ((q.sum() + 1e-3, REFUTED), (other + 1e-3, REFUTED), (other, OPEN)):
        pose[5:] = np.sin(0.5 * turn), np.cos(0.5 * turn)
        found = refute(Problem(robot, [Implicit.equal(f, pose)]))
        assert found.status is status, turn
        assert found.boxes > 0


def test_formulas_and_inequalities_are_refuted_too() -> None:
    x, plane = Identity(Rn(2)), Bounds(Rn(2), np.full(2, -3.0), np.full(2, 3.0))
    circle = Implicit.equal(x[0] * x[0] + x[1] * x[1], 1.0)
    for total, status in ((1.42, REFUTED), (1.41, SOLVED)):
        line = Implicit.equal(Affine([[1.0, 1.0]]), [total])
        found = refute(Problem(Rn(2), [circle, line], plane))
        assert found.status is status, found
    squares = x[0] * x[0] + x[1] * x[1]  # 18 at the corners
    assert refute(Problem(Rn(2), [Implicit.above(squares, 18.1)], plane)).status is REFUTED
    assert refute(Problem(Rn(2), [Implicit.above(squares, 17.9)], plane)).status is SOLVED


def test_where_a_function_has_no_value_nothing_is_proved() -> None:
    x = Identity(Rn(2))
    found = refute(Problem(Rn(2), [Implicit.above(norm(x), 4.3)], Bounds(Rn(2), np.full(2, -3.0), np.full(2, 3.0))))
    assert found.status is OPEN
    assert "square root" in found.reason
    assert 0.0 < found.open < 1e-6


def test_rows_that_are_no_loops_help_those_that_are() -> None:
    """The tip of two links is reached with the elbow at two angles, of which a row asks for neither."""
    robot = two_links()
    both = [Implicit.equal(Position(robot, "tip")[:2], [0.6, 0.3])]
    other = Implicit.equal(Identity(robot.space)[1], 0.5)
    assert (
        refute(Problem(robot, [*both, other], Bounds(robot.space, np.array([-4.0, -3.0]), np.array([4.0, 3.0])))).status
        is REFUTED
    )


# What can be is never refuted.


def _loop(robot: Any, frames: tuple[str, str], rng: np.random.Generator) -> Function:
    kinds: list[Any] = [Position, Pose, Transformation, Rotation, Orientation]
    kind, seen = kinds[int(rng.integers(len(kinds)))], frames[1] if rng.random() < 0.3 else None
    f = kind(robot, frames[0], reference=seen)
    return f[:2] if kind is Position and rng.random() < 0.3 else f


def _mixed_arm(rng: np.random.Generator) -> Robot:
    """Turns and slides on random axes, with random placements; one of the turns has cosine and sine in q."""
    model, joint, known = pin.Model(), 0, joint_models()
    kinds = ["revolute", "prismatic", "continuous", "rx", "py", "universal", "rz"]
    for i, kind in enumerate(rng.permutation(kinds).tolist()):
        place = pin.SE3(pin.Quaternion(*_unit_quaternion(rng)).matrix(), rng.uniform(-0.4, 0.4, 3))
        joint = model.addJoint(joint, known[kind], place, f"joint{i}")
        model.addFrame(pin.Frame(f"frame{i}", joint, 0, place, pin.FrameType.OP_FRAME))
    robot = Robot(model)
    return robot.with_bounds({name: (-0.5, 0.5) for name in robot.joint_names if "JointModelP" in _short(robot, name)})


def _unit_quaternion(rng: np.random.Generator) -> np.ndarray:
    """A random unit quaternion."""
    x = rng.normal(size=4)
    return x / np.linalg.norm(x)


def _short(robot: Any, name: str) -> str:
    return robot.model.joints[robot.model.getJointId(name)].shortname()


def _solved_in_a_box(seed: int) -> tuple[Problem, np.ndarray]:
    """A problem that a configuration satisfies to rounding, and bounds around that, narrow or wide."""
    rng = np.random.default_rng(seed)
    listed: list[tuple[Any, tuple[str, str]]] = [
        (arm(), ("tool", "elbow")), (two_arms(), ("left_tool", "right_tool")),
        (five_bar().robot, ("left_outer_end", "right_inner_end")), (_mixed_arm(rng), ("frame6", "frame2")),
    ]  # fmt: skip
    robot, frames = listed[seed % len(listed)]
    q = robot.random(rng)
    if seed % 5 == 0:  # at bounds, stretched
        entries = robot.space.vector_q[rng.random(len(robot.space.vector_q)) < 0.4]
        q[entries] = np.clip(0.0, robot.bounds.lower[entries], robot.bounds.upper[entries])
    f, width = _loop(robot, frames, rng), 10.0 ** rng.uniform(-3.0, 0.8)
    lower, upper = (q + s * width * rng.random(robot.nq) for s in (-1.0, 1.0))
    box = Bounds(robot.space, np.maximum(lower, robot.bounds.lower), np.minimum(upper, robot.bounds.upper))
    return Problem(robot, [Implicit.equal(f, f.value(q))], box), q


@draws(16, 2000)
def test_what_is_within_reach_is_never_refuted(count: int) -> None:
    for seed in range(count):
        problem, q = _solved_in_a_box(seed)
        rows = ProblemRows.of(problem, problem.rhs)
        coordinates = Coordinates.of(rows)
        read = Read.of(rows, coordinates)
        for _, screws, target in read.points:
            assert not any(r.refutes for r in Reach.all(screws, target, coordinates.boxes, seed % 4 == 0)), seed
        search = BoxSearch(rows, coordinates, read, SearchLimits(10.0, 2000))
        search.run()
        x = coordinates.of_configuration(coordinates.settled(q))
        left = search.pending.and_also(search.narrow)
        assert ((left.lower <= x + 1e-9) & (x - 1e-9 <= left.upper)).all(axis=1).any(), (seed, problem)


@pytest.mark.parametrize(("target", "side", "distance"), [(5.0, 1, np.hypot(3.0, 0.3)), (0.1, 0, 0.3)])
def test_a_slide_beside_an_axis_is_as_far_from_it_as_pythagoras_says(target: float, side: int, distance: float) -> None:
    """From -3 to 2 m along a line that passes the axis at 0.3 m: the greatest distance, and the least."""
    model = pin.Model()
    turn = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    beside = pin.SE3(np.eye(3), np.array([0.0, 0.3, 0.0]))
    slide = model.addJoint(turn, pin.JointModelPX(), beside, "slide")
    model.addFrame(pin.Frame("tip", slide, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    problem = at(Robot(model).with_bounds({"turn": (-3.0, 3.0), "slide": (-3.0, 2.0)}), "tip", [target, 0.0, 0.0])
    rows = ProblemRows.of(problem, problem.rhs)
    coordinates = Coordinates.of(rows)
    ((_, screws, there),) = Read.of(rows, coordinates).points
    found = list(Reach.all(screws, there, coordinates.boxes, True))
    assert found
    for reach in found:
        assert reach.refutes
        assert 0.0 <= (1 if side else -1) * (reach.tool[side] - distance) < 2e-4
    alone = HalfLoop.carrying(screws, range(1, 2), 1.0, screws.position[None], [1.0])
    _, (_, most), _ = _Distance(alone, np.zeros(3))._on(coordinates.boxes)  # of a slide without any halving
    assert most == pytest.approx(np.hypot(3.0, 0.3))


def test_a_link_alone_is_as_long_as_it_is() -> None:
    """One joint, no other axis beside it: its tip stays 0.4 m away."""
    model = pin.Model()
    turn = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    model.addFrame(pin.Frame("tip", turn, 0, pin.SE3(np.eye(3), np.array([0.4, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    for x in (0.3, 0.5):
        problem = at(Robot(model), "tip", [x, 0.0, 0.0])
        rows = ProblemRows.of(problem, problem.rhs)
        coordinates = Coordinates.of(rows)
        ((_, screws, there),) = Read.of(rows, coordinates).points
        (reach,) = Reach.all(screws, there, coordinates.boxes, False)
        assert reach.tool == pytest.approx((0.4, 0.4))
        assert reach.target == pytest.approx((x, x))


@draws(14, 400)
def test_equations_of_boxes_hold_at_samples(count: int) -> None:
    """What the equations say of a box, at its corners and inside; at the centre they are what pinocchio says."""
    for seed in range(count):
        problem, q = _solved_in_a_box(seed)
        rng = np.random.default_rng(seed)
        rows = ProblemRows.of(problem, problem.rhs)
        coordinates = Coordinates.of(rows)
        loops, turning = Read.of(rows, coordinates).loops, coordinates.turning
        if not loops:
            continue
        x = coordinates.of_configuration(coordinates.settled(q))
        r = 10.0 ** rng.uniform(-3.0, 0.5) * rng.random(len(x))
        here = Linear.of_loops(loops, Boxes(x[None], x[None]), turning)
        assert (np.abs(here.value) < 0.1 * np.repeat(here.rest, 3, axis=1)).all(), seed
        found = Linear.of_loops(loops, Boxes((x - r)[None], (x + r)[None]), turning)
        for v in (r * rng.choice([-1.0, 1.0], (40, len(x))), r * rng.uniform(-1.0, 1.0, (40, len(x)))):
            y = Linear.of_loops(loops, Boxes(x + v, x + v), turning)
            waves, bent = np.where(turning, np.sin(v), v), np.where(turning, 1.0 - np.cos(v), 0.0)
            straight = found.value + waves @ found.slopes[0].T + bent @ found.bends[0].T
            a, b = found.pairs
            crossed = (v[:, a] * v[:, b]) @ found.crosses[0].T
            for off, allowed in ((y.value - straight, found.rest), (y.value - straight - crossed, found.finer)):
                assert (np.sqrt((off.reshape(40, -1, 3) ** 2).sum(axis=2)) <= allowed * (1.0 + 1e-9) + 1e-12).all(), (
                    seed
                )
            moved = np.sqrt(((y.value - found.value).reshape(40, -1, 3) ** 2).sum(axis=2))
            assert (moved <= (found.steps.sum(axis=2) + found.rest) * (1.0 + 1e-9)).all()


def test_a_box_is_cut_to_its_solution() -> None:
    """Of two links: the posture inside stays, and a box of 0.1 rad around it shrinks with the square of its size."""
    robot, q = two_links(), np.array([0.4, 0.9])
    rows = ProblemRows.of(problem := at(robot, "tip", Position(robot, "tip").value(q)), problem.rhs)
    coordinates = Coordinates.of(rows)
    loops, widths = Read.of(rows, coordinates).loops, list[float]()
    for size in (0.1, 0.05):
        box = Boxes((q - size * np.array([0.3, 0.8]))[None], (q + size * np.array([0.9, 0.4]))[None])
        alive, after = cut(box, Linear.of_loops(loops, box, coordinates.turning))
        assert alive.all()
        assert ((after.lower <= q) & (q <= after.upper)).all()
        widths.append(float((after.upper - after.lower).max()))
    assert widths[0] / widths[1] > 3.0


# What is said where nothing is proved.


def test_a_limit_leaves_a_share() -> None:
    """Both hands at points that are each in reach; no more than a few boxes are looked at."""
    robot = two_arms()
    q = robot.random(np.random.default_rng(3))
    hands = [Position(robot, frame) for frame in ("left_tool", "right_tool")]
    apart = [Implicit.equal(f, f.value(q)) for f in hands]
    sum_of_both = Implicit.equal(hands[0] + hands[1], hands[0].value(q) + hands[1].value(q) + [0.0, 0.0, 1e-3])
    found = refute(Problem(robot, [*apart, sum_of_both]), limits=SearchLimits(20.0, 50))
    assert found.status is OPEN
    assert 0.0 < found.open <= 1.0
    assert "limit of 50 boxes" in found.reason


def test_a_solution_that_is_found_is_proved() -> None:
    robot = arm()
    found = refute(at(robot, "tool", Position(robot, "tool").value(robot.random(np.random.default_rng(4)))))
    assert found.status is SOLVED
    assert found.certificate is not None
    assert found.certificate.check() == []
    with pytest.raises(Exception, match="SOLVED"):
        found.or_raise()


def test_a_singular_solution_in_the_middle_hides_no_other_one() -> None:
    """A rhombus with all angles at zero: two of its corners are one, and it folds there in two ways."""
    rhombus = four_bar(ground=0.1, crank=0.1, coupler=0.1, rocker=0.1)
    assert not certify(rhombus.problem(), np.zeros(3)).success
    assert refute(rhombus.problem(), limits=SearchLimits(20.0, 50)).status is SOLVED


def test_functions_without_enclosure_are_named() -> None:
    f = Function.from_callable(lambda x: x[:1] ** 2 + 1.0, Rn(1), Rn(1), lambda x: 2.0 * x[None], name="my square")
    bounds = Bounds(Rn(1), np.array([-1.0]), np.array([1.0]))
    found = refute(Problem(Rn(1), [Implicit.equal(f, [0.0])], bounds), limits=SearchLimits(1.0, 100))
    assert found.status is OPEN
    assert "my square" in found.reason
    impossible = Implicit.equal(Identity(Rn(1)), [3.0])
    assert refute(Problem(Rn(1), [Implicit.equal(f, [0.0]), impossible], bounds)).status is REFUTED


class Vouched(Identity):
    """Of a user, who vouches for its enclosure."""


def test_enclosures_of_users_are_named() -> None:
    bounds = Bounds(Rn(1), np.array([-1.0]), np.array([1.0]))
    found = refute(Problem(Rn(1), [Implicit.equal(Vouched(Rn(1), name="vouched"), [3.0])], bounds))
    assert (found.status, found.rests_on) == (REFUTED, ("vouched",))


def test_rotations_as_a_whole_are_not_divided() -> None:
    f = Function.from_callable(lambda x: x[:1], SE3, Rn(1), lambda x: np.zeros((1, 6)), name="first")
    found = refute(Problem(SE3, [Implicit.equal(f, [0.5])]), limits=SearchLimits(1.0, 10))
    assert found.status is OPEN
    assert "is a rotation or a body as a whole" in found.reason


# Rows of one function.


def _asked_twice(case: str, apart: float) -> list[Any]:
    """Two constraints on what is one function, made twice; their targets are so far apart (0: both can be met)."""
    robot, q = arm(), np.linspace(-0.3, 0.4, 7)
    (f, g), pose = (Position(robot, "tool") for _ in range(2)), Pose(robot, "tool")
    x, center, up = f.value(q), CenterOfMass(robot).value(q), np.array([0.0, 0.0, apart])
    M = pose.value(q)
    turned = pose.outputs.integrate(M, np.r_[np.zeros(5), apart])
    return {
        "one object": [Implicit.equal(f, x), Implicit.equal(f, x + up)],
        "equal objects": [Implicit.equal(f, x), Implicit.equal(g, x + up)],
        "a row": [Implicit.equal(f[1:], x[1:]), Implicit.equal(g[2], x[2] + apart)],
        "the negative": [Implicit.equal(f[2], x[2]), Implicit.equal(-g[2], -x[2] - apart)],
        "a limit": [Implicit.equal(f, x), Implicit.above(g[2], x[2] + apart)],
        "an interval": [Implicit.equal(f, x), Implicit.between(g, x + up, x + up + 0.1, mask=[False, False, True])],
        "two limits": [Implicit.below(f[2], x[2]), Implicit.above(g[2], x[2] + apart)],
        "centres": [Implicit.equal(CenterOfMass(robot), center), Implicit.equal(CenterOfMass(robot), center + up)],
        "poses": [Implicit.equal(pose, M), Implicit.equal(Pose(robot, "tool"), turned)],
    }[case]


@pytest.mark.parametrize(
    "case",
    [
        "one object",
        "equal objects",
        "a row",
        "the negative",
        "a limit",
        "an interval",
        "two limits",
        "centres",
        "poses",
    ],
)
def test_rows_of_one_function_that_ask_for_different_values_contradict_each_other(case: str) -> None:
    """Also without bounds; where both can be met nothing is said, on the same target and turned past half a turn."""
    found = refute(Problem(arm(), _asked_twice(case, 1e-3), Bounds.none(arm().space)))
    assert (found.status, found.boxes) == (REFUTED, 0)
    assert "rows of one function" in found.reason
    assert "(0.001 apart)" in found.reason
    assert refute(Problem(arm(), _asked_twice(case, 0.0)), limits=SearchLimits(0.3)).status is not REFUTED


def test_one_rotation_by_two_quaternions_is_no_contradiction() -> None:
    robot, x = two_links(), np.array([0.0, 0.0, np.sin(0.3), np.cos(0.3)])
    both = [Implicit.equal(Rotation(robot, "tip"), x), Implicit.equal(Rotation(robot, "tip"), -x)]
    assert refute(Problem(robot, both), limits=SearchLimits(0.5)).status is not REFUTED


def test_an_optional_level_does_not_count() -> None:
    robot = two_links()
    levels = [
        [Implicit.equal(Position(robot, "tip")[:2], [0.5, 0.3])],
        [Implicit.equal(Position(robot, "tip"), [9.0, 9.0, 9.0])],
    ]
    assert refute(Problem(robot, levels, optional_last=True)).status is SOLVED


def test_the_centre_of_mass_has_its_enclosure() -> None:
    robot = arm()
    far = Implicit.equal(CenterOfMass(robot), [0.0, 0.0, 5.0])
    small = Bounds(robot.space, np.full(7, -0.05), np.full(7, 0.05))
    assert refute(Problem(robot, [far], robot.bounds), box=small.on(robot.space)).status is REFUTED


def test_bad_arguments() -> None:
    robot = two_links()
    problem = at(robot, "tip", [0.5, 0.0, 0.0])
    with pytest.raises(WrongObjectError, match="problem to be searched"):
        refute(robot)  # type: ignore[arg-type]
    with pytest.raises(WrongObjectError, match="box of a search"):
        refute(problem, box=([0.0, 0.0], [1.0, 1.0]))  # type: ignore[arg-type]
    with pytest.raises(SpaceMismatchError, match="box of a search"):
        refute(problem, box=Bounds.none(Rn(3)))
    with pytest.raises(SizeError):
        refute(problem, box=Bounds(robot.space, np.array([0.0]), np.array([1.0])))
    with pytest.raises(NotFiniteError):
        refute(problem, box=Bounds(robot.space, np.array([np.nan, 0.0]), np.array([1.0, 1.0])))
    with pytest.raises(NotFiniteError):
        refute(problem, [np.nan, 0.0, 0.0])
    with pytest.raises(EmptyIntervalError, match="elbow"):
        refute(
            at(two_links(elbow=(0.0, 1.0)), "tip", [0.5, 0.0, 0.0]),
            box=Bounds(robot.space, np.array([-1.0, 2.0]), np.array([1.0, 3.0])),
        )
    with pytest.raises(OptionError, match="'elbow' has no bounds"):
        refute(at(two_links(slide=True), "tip", [0.5, 0.0, 0.0]))
    for seconds, boxes in ((0.0, 1), (np.nan, 1), (1.0, 0)):
        with pytest.raises(OptionError, match="search"):
            SearchLimits(seconds, boxes)
