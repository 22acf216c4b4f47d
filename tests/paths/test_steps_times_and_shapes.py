"""Parts of paths each for itself: steps, pieces, times, moving right-hand sides, margins, shapes, pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import Affine, Function, Implicit, Options, Position, Problem, Projector, RightHandSide, errors
from constraints.collisions.model import CollisionModel
from constraints.collisions.pairs import LeftOutReason, WhyOut
from constraints.collisions.shapes import Shape
from constraints.collisions.words import always_in_words, in_words
from constraints.functions import Identity
from constraints.paths.interpolation import PathStatus, interpolate
from constraints.paths.moving_rhs import MovingRightHandSide
from constraints.paths.path import Jump, Path, PathError, Piece, StepSize
from constraints.paths.relative_motion import CollisionPair
from liegroups import SE2, SE3, SO2, SO3, Rn, Space

FREE = Affine(np.zeros((1, 2)), [0.0])


def problem(space: Space | None = None) -> Problem:
    """Nothing is asked: x * 0 = 0."""
    if space is None:
        return Problem(Rn(2), [Implicit.equal(FREE, name="none")])
    f = Function.from_callable(lambda q: [0.0], space, Rn(1), lambda q: np.zeros((1, space.nv)))
    return Problem(space, [Implicit.equal(f, name="none")])


def piece(samples: Any, times: Any = None) -> Piece:
    whole, n = problem(), len(samples)
    return Piece(whole, MovingRightHandSide.of(whole, None), samples, np.linspace(0, 1, n) if times is None else times,
                 Options.local())  # fmt: skip


LINE = [[0.0, 0.0], [1.0, 2.0], [1.0, 4.0]]


# Steps.


def test_steps_of_every_kind_of_joint() -> None:
    """Numbers count as metres, revolute joints and rotations as radians; a pose by its origins and its angle."""
    for space, v, jump in (
        (Rn(2), [0.3, -0.5], (0.0, 0.5)), (SO2, [0.4], (0.4, 0.0)), (SO3, [0.3, 0.0, 0.4], (0.5, 0.0)),
        (Rn(1) * SO3, [-2.0, 0.0, 0.3, 0.4], (0.5, 2.0)), (SO2 * SO2, [0.1, -0.7], (0.7, 0.0)),
        (SE3 * SO3 * SO2 * Rn(2), [*[0.0] * 4, 0.3, *[0.0] * 7], (0.3, 0.0)),
        (SE3 * SO3 * SO2 * Rn(2), [*[0.0] * 9, 3.0, 0.0, -0.25], (3.0, 0.25)),
    ):  # fmt: skip
        q = space.random(np.random.default_rng(1))
        found = StepSize(problem(space)).between(q, space.integrate(q, np.array(v)))
        np.testing.assert_allclose(found, jump, atol=1e-12)
    for space, size in ((SE2, 2), (SE3, 3)):
        rng = np.random.default_rng(2)
        a, b = space.random(rng), space.random(rng)
        found = StepSize(problem(space)).between(a, b)
        assert found.length == pytest.approx(float(np.linalg.norm(b[:size] - a[:size])))
        turn = np.linalg.norm(space.difference(a, b)[size:])
        assert found.angle == pytest.approx(float(turn))
    robot = arm()
    hand = Problem(robot, [Implicit.zero(Position(robot, "tool"))])
    steps, q = StepSize(hand), robot.neutral
    assert steps.between(q, q + 0.25 * np.eye(robot.nq)[2]) == (0.25, 0.0)
    rows = steps.between(np.array([q, q]), np.array([q + 0.1, q - 0.4 * np.eye(robot.nq)[0]]))
    np.testing.assert_allclose(rows, (0.4, 0.0), atol=1e-15)


# Pieces and paths.


def test_a_piece_is_at_its_samples_and_between_them() -> None:
    whole = piece(LINE, [0.0, 0.25, 1.0])
    for time, q in ((0.0, LINE[0]), (0.25, LINE[1]), (1.0, LINE[2]), (0.125, [0.5, 1.0]), (0.625, [1.0, 3.0]),
                    (-0.1, LINE[0]), (1.1, LINE[2]), (2.5, LINE[2]), (-9.0, LINE[0])):  # fmt: skip
        np.testing.assert_allclose(whole.at(time), q, atol=1e-15)
    back = whole.reversed()
    np.testing.assert_allclose(back.times, [0.0, 0.75, 1.0])
    np.testing.assert_array_equal(back.samples, LINE[::-1])
    assert repr(whole) == "Piece(3 samples on none)"
    assert whole.error([0.0, 0.3]) == 0.0
    assert whole.error([]) == 0.0
    for wrong in ([0.0, 0.5, 0.9], [0.1, 0.5, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]):
        with pytest.raises(PathError, match=r"must rise from 0 to 1, got \["):
            piece(LINE, wrong)
    many = np.r_[np.linspace(0.0, 0.5, 5), 0.4, 1.0]
    with pytest.raises(PathError, match=r"got 0 at the start, 0\.5 then 0\.4, 1 at the end"):
        piece(np.zeros((7, 2)), many)
    piece(np.zeros((2, 2)))
    with pytest.raises(errors.SizeError, match="expected size at least 2, received 1"):
        piece(np.zeros((1, 2)), [0.0])


def test_times_of_a_path_of_several_pieces() -> None:
    """Each piece in its own time; roundings of 1e-9 of the whole pass; reversed, lasting and added."""
    first, second = piece(LINE, [0.0, 0.25, 1.0]), piece([LINE[2], [5.0, 4.0]])
    path = Path((first, second), (2.0, 4.0))
    assert path.duration == 6.0
    np.testing.assert_allclose(path.times, [0.0, 0.5, 2.0, 2.0, 6.0])
    assert path.samples.shape == (5, 2)
    for time, q in (
        (0.0, LINE[0]),
        (0.5, LINE[1]),
        (2.0, LINE[2]),
        (3.0, [2.0, 4.0]),
        (6.0, [5.0, 4.0]),
        (1.25, [1, 3]),
    ):
        np.testing.assert_allclose(path(time), q, atol=1e-12)
        np.testing.assert_allclose(path.reversed()(6.0 - time), q, atol=1e-12)
        np.testing.assert_allclose(path.lasting(3.0)(0.5 * time), q, atol=1e-12)
    for time in (-5.9e-9, 6.0 + 5.9e-9):
        assert path(time).shape == (2,)
    for time in (-6.1e-9, 6.0 + 6.1e-9):
        with pytest.raises(errors.OptionError, match=r"is outside \[0, 6\]"):
            path(time)
    several = r"; of several times, \[path\(t\) for t in times\]"
    for wrong, said in ((np.nan, ""), ("1", ""), (None, ""), ([1.0], several)):
        with pytest.raises(errors.WrongObjectError, match=f"time on a path: .* number of seconds{said}, got"):
            path(wrong)  # type: ignore[arg-type]
    assert path.lasting(3.0).durations == (1.0, 2.0)
    assert (Path((first,)) + Path((second,))).durations == (1.0, 1.0)
    assert path.reversed().durations == (4.0, 2.0)
    assert repr(path) == "Path(2 pieces, 5 samples, 6 s)"
    for wrong in (0.0, -1.0, np.inf, "1", None, [1.0]):
        with pytest.raises(PathError, match="duration of a path: expected a positive number"):
            path.lasting(wrong)  # type: ignore[arg-type]
    for wrong in ((1.0,), (1.0, 0.0), (1.0, -1.0), (1.0, np.inf)):
        with pytest.raises(PathError, match="durations of 2 pieces must be one positive number per piece"):
            Path((first, second), wrong)
    for bad in (None, ("a", 1.0), ([1.0], 1.0)):
        with pytest.raises((PathError, errors.WrongObjectError), match="durations"):
            Path((first, second), bad)  # type: ignore[arg-type]
    with pytest.raises(PathError, match=r"piece 1 must start where piece 0 ends, it starts 4 rad or m away"):
        Path((second, second))
    np.testing.assert_allclose(path.max_jump(), Jump(0.0, 4.0))
    assert path.max_error() == 0.0


def test_samples_are_given_to_the_bit() -> None:
    """No interpolation and no projection at their times, which may be as near as one likes."""
    space = Rn(2) * SO3
    rng = np.random.default_rng(4)
    samples = np.array([space.random(rng) for _ in range(12)])
    times = np.r_[0.0, np.sort(rng.uniform(0.1, 0.9, 10)), 1.0]
    whole = problem(space)
    part = Piece(whole, MovingRightHandSide.of(whole, None), samples, times, Options.local())
    for time, q in zip(times, samples, strict=True):
        assert part.at(float(time)).tobytes() == q.tobytes()
    assert part.at(np.nextafter(times[3], 1.0)).tobytes() != samples[4].tobytes()
    path = Path((part,), (0.25,))
    assert path(0.25).tobytes() == samples[-1].tobytes()
    assert path.lasting(0.125).duration == 0.125
    assert path.lasting(1e-6).durations == (1e-6,)
    assert Path((part, part.reversed())).reversed().samples.tobytes() == Path((part, part.reversed())).samples.tobytes()


@pytest.mark.parametrize("engine", [None, "readable"])
def test_the_largest_error_may_be_in_the_middle_of_the_last_part(engine: str | None) -> None:
    """Sixty degrees of a circle: the chord is a quarter off, and passes as it is."""
    circle = Function.from_callable(lambda q: [q @ q - 1.0], Rn(2), Rn(1), lambda q: [2.0 * q], name="circle")
    whole = Problem(Rn(2), [Implicit.zero(circle)])
    for angles, times in (([0.0, 10.0, 70.0], [0.0, 0.1, 1.0]), ([0.0, 60.0, 65.0], [0.0, 0.8, 1.0]),
                          ([0.0, 5.0, 65.0, 70.0], [0.0, 0.3, 0.4, 1.0])):  # fmt: skip
        corners = np.array([[np.cos(np.radians(a)), np.sin(np.radians(a))] for a in angles])
        options, sides = Options.local(threshold=0.5), MovingRightHandSide.of(whole, None)
        part = Piece(whole, sides, corners, np.array(times), options, projector=Projector(whole, options, engine))
        assert Path((part,)).max_error() == pytest.approx(0.25)
        assert Path((part.reversed(), part)).max_error() == pytest.approx(0.25)


# Right-hand sides that move.


def test_moving_right_hand_sides() -> None:
    """They rest, go along their groups, or follow a function; windows; the ends are exact."""
    turn = Problem(SO3, [Implicit.equal(Identity(SO3), name="turn")])
    a, b = turn.rhs, turn.rhs.replace("turn", SO3.exp([0.0, 0.0, 1.0]))
    both = MovingRightHandSide(a, b)
    assert both.window == (0.0, 1.0)
    for t in (-0.5, 0.0, 1.0, 1.5):
        assert both.at(t) is (a if t <= 0.0 else b)
    np.testing.assert_allclose(SO3.log(both.at(0.25).of("turn")), [0.0, 0.0, 0.25], atol=1e-14)
    part = both.between(0.5, 1.0).between(1.0, 0.5)
    assert part.window == (1.0, 0.75)
    np.testing.assert_allclose(SO3.log(part.at(0.5).of("turn")), [0.0, 0.0, 0.875], atol=1e-14)
    rest = MovingRightHandSide(a)
    assert rest.at(0.3) is a
    asked: list[float] = []

    def follow(s: float) -> RightHandSide:
        asked.append(s)
        return a

    moving = MovingRightHandSide(function=follow, window=(0.5, 1.5))
    assert moving.at(0.25) is a
    assert asked == [0.75]
    for wrong, said in (
        ({}, "neither"), ({"last": b}, "only the last"), ({"first": a, "function": follow}, "both"),
        ({"first": a, "last": b, "function": follow}, "both"), ({"last": b, "function": follow}, "only the last"),
    ):  # fmt: skip
        with pytest.raises(errors.WrongObjectError, match=f"moving right-hand sides: .*{said}"):
            MovingRightHandSide(**wrong)  # type: ignore[arg-type]
    for window in ((0.0,), (0.0, 1.0, 2.0), (0.0, np.nan), ("a", 1.0), (np.inf, 0.0)):
        with pytest.raises(errors.WrongObjectError, match="window of moving right-hand sides"):
            MovingRightHandSide(a, window=window)  # type: ignore[arg-type]
    with pytest.raises(errors.WrongObjectError, match="function of moving"):
        MovingRightHandSide(function=3)  # type: ignore[arg-type]
    with pytest.raises(errors.WrongObjectError, match="first right-hand side that moves"):
        MovingRightHandSide(3)  # type: ignore[arg-type]
    other = Problem(SO3, [Implicit.equal(Identity(SO3), name="turn")]).rhs
    with pytest.raises(errors.SpaceMismatchError, match="right-hand sides at the end of a path"):
        MovingRightHandSide(a, other)
    with pytest.raises(errors.WrongObjectError, match=r"right-hand sides of a path at time 0\.5: .* NoneType"):
        MovingRightHandSide(function=lambda s: None).at(0.5)  # type: ignore[arg-type, return-value]


def test_a_whole_way_keeps_its_window_to_the_bit() -> None:
    """The right-hand sides of a path that comes to its end are the given ones; of a part, those of the part."""
    line = Problem(Rn(1), [Implicit.equal(Identity(Rn(1)), name="line")])
    sides = MovingRightHandSide(line.rhs.replace("line", [0.0]), line.rhs.replace("line", [0.05]), window=(0.1, 0.7))
    path = interpolate(line, sides.at(0.0).vector, sides.at(1.0).vector, rhs=sides).or_raise()
    assert path.pieces[0].sides is sides
    np.testing.assert_allclose(path(0.5), [0.02], atol=1e-12)


def test_what_users_write_for_moving_right_hand_sides() -> None:
    line = Problem(Rn(2), [Implicit.equal(Identity(Rn(2)), name="line")])
    a, b = line.rhs, line.rhs.replace("line", [1.0, 2.0])
    for given, first, last in (
        (None, [0.0, 0.0], None), (b, [1.0, 2.0], None), ([1.0, 2.0], [1.0, 2.0], None), ([1, 2], [1.0, 2.0], None),
        (np.array([1.0, 2.0]), [1.0, 2.0], None), ((a, b), [0.0, 0.0], [1.0, 2.0]), ([a, b], [0.0, 0.0], [1.0, 2.0]),
        (([1.0, 2.0], None), [1.0, 2.0], [0.0, 0.0]),
    ):  # fmt: skip
        found = MovingRightHandSide.of(line, given)
        assert found.first is not None
        assert found.first.vector.tolist() == first
        assert (None if found.last is None else found.last.vector.tolist()) == last
    assert MovingRightHandSide.of(line, found) is found
    assert MovingRightHandSide.of(line, lambda s: a).function is not None
    for wrong, said in (((a,), "1 of them"), ((a, b, a), "3 of them"), (3.0, "3.0|float"), ("ab", "ab|str")):
        with pytest.raises(errors.WrongObjectError, match=rf"right-hand sides of a path: .*({said})"):
            MovingRightHandSide.of(line, wrong)


# Interpolation.


def test_a_whole_interpolation_in_words() -> None:
    line = Problem(Rn(2), [Implicit.zero(Affine([[0.0, 1.0]]), name="line")])
    fine = interpolate(line, [0.0, 0.0], [0.1, 0.0])
    assert (fine.success, fine.reached, fine.stop) == (True, 1.0, None)
    assert str(fine) == f"{PathStatus.COMPLETE} (reached 1 of the way)"
    assert fine.describe() == f"{fine}\n  Path(1 piece, 9 samples, 1 s)"
    assert repr(fine.status) == "PathStatus.COMPLETE"


@pytest.mark.parametrize(("angle", "length"), [(0.1, 0.02), (0.5, 0.02), (0.06, 1.0)])
def test_samples_are_as_close_as_asked(angle: float, length: float) -> None:
    """Halved until both limits hold, and no more than twice as often as needed; a short way has two samples."""
    whole = problem(Rn(1) * SO3)
    q0 = whole.space.neutral
    q1 = whole.space.integrate(q0, np.array([0.5, 0.0, 0.0, 0.8]))
    path = interpolate(whole, q0, q1, max_angle=angle, max_length=length).or_raise()
    steps = max(0.8 / angle, 0.5 / length)
    n = 2 ** int(np.ceil(np.log2(steps)))
    assert len(path.samples) == n + 1
    np.testing.assert_allclose(path.times, np.linspace(0.0, 1.0, n + 1), atol=1e-15)
    near = whole.space.integrate(q0, np.array([0.9 * length, 0.0, 0.0, 0.9 * angle]))
    assert len(interpolate(whole, q0, near, max_angle=angle, max_length=length).or_raise().samples) == 2
    default, said = interpolate(whole, q0, q1), interpolate(whole, q0, q1, max_angle=0.1, max_length=0.02)
    np.testing.assert_array_equal(default.or_raise().samples, said.or_raise().samples)
    for column, limit in ((0, 0.02), (3, 0.1)):
        for part, count in ((0.95, 2), (1.05, 3)):
            near = whole.space.integrate(q0, part * limit * np.eye(4)[column])
            assert len(interpolate(whole, q0, near).or_raise().samples) == count
    for wrong in ({"max_angle": 0.0}, {"max_length": -1.0}, {"max_angle": np.inf},
                  {"max_length": "a"}, {"max_length": None}, {"max_length": [1.0]}):  # fmt: skip
        with pytest.raises(errors.OptionError, match=f"{next(iter(wrong))} of an interpolation"):
            interpolate(whole, q0, q1, **wrong)  # type: ignore[arg-type]


# Solids.


@pytest.mark.parametrize(("kind", "count"), [("Box", 3), ("Sphere", 1), ("Cylinder", 2), ("Capsule", 2)])
def test_measures_of_shapes(kind: str, count: int) -> None:
    shape = Shape("solid", kind, tuple(0.1 * (i + 1) for i in range(count)))
    assert len(shape.size) == count
    assert type(shape.solid()).__name__ == kind
    assert shape.frame == "universe"
    for wrong in ((0.1,) * (count + 1), (0.1,) * (count - 1), (0.0,) * count, (-0.1,) * count, (np.nan,) * count):
        with pytest.raises(errors.OptionError, match=f"shape 'solid': expected {count} positive sizes of a {kind}"):
            Shape("solid", kind, wrong)
    with pytest.raises(errors.OptionError, match="expected one of Box, Sphere, Cylinder, Capsule, got 'Cone'"):
        Shape("solid", "Cone", (1.0,))
    assert Shape("ball", "Sphere", 0.5).size == (0.5,)  # type: ignore[arg-type]


def ball(name: str, frame: str, x: float = 0.0, radius: float = 0.1) -> Shape:
    return Shape(name, "Sphere", (radius,), frame, [x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def test_margins_and_pairs_of_a_collision_model() -> None:
    """By name or by beginning; pairs left out by hand, not asked, on one joint; margins to the last of them."""
    robot = arm()
    shapes = [
        ball("floor/a", "universe"),
        ball("floor/b", "universe", 5.0),
        ball("tool/c", "tool"),
        ball("tool/d", "tool", 0.5),
    ]
    model = CollisionModel(robot, shapes, margin=0.01)
    assert model.pairs == (("floor/a", "tool/c"), ("floor/a", "tool/d"), ("floor/b", "tool/c"), ("floor/b", "tool/d"))
    assert {(out.a, out.b, out.reason) for out in model.left_out} == {
        ("floor/a", "floor/b", LeftOutReason.SAME_JOINT), ("tool/c", "tool/d", LeftOutReason.SAME_JOINT),
    }  # fmt: skip
    assert model.joint_pairs == (("universe", robot.frame("tool").joint_name),)
    assert model.describe().splitlines() == [
        "4 shapes on 2 joints, 4 pairs are checked", "  left out: 2 on one joint", "  margins: 0.01 m",
    ]  # fmt: skip
    assert repr(model) == "CollisionModel(4 shapes, 4 pairs; left out: 2 on one joint)"
    fewer = model.without(("floor/*", "tool/d"))
    assert fewer.pairs == (("floor/a", "tool/c"), ("floor/b", "tool/c"))
    assert "2 left out by hand" in fewer.describe()
    assert CollisionModel(robot, shapes, ignored=[("tool/d", "floor/*")]).pairs == fewer.pairs
    assert "margins" not in CollisionModel(robot, shapes).describe()
    by_pair = CollisionModel(robot, shapes, margins={("tool/*", "floor/b"): 0.25, ("floor/a", "tool/c"): -0.05})
    assert by_pair.describe().splitlines()[-1] == "  margins: -0.05, 0, 0.25 m"
    asked = model.among([CollisionPair(robot.frame("tool").joint_name, "universe", 0.5)])
    assert asked.pairs == model.pairs
    assert asked.describe().splitlines()[-1] == "  margins: 0.51 m"
    assert model.among([]).pairs == ()
    assert "4 not among the given pairs of joints" in model.among([]).describe()
    for wrong in (("floor", "tool/c"), ("floor/a", "hand/*")):
        with pytest.raises(errors.UnknownNameError):
            model.without(wrong)
    with pytest.raises(
        errors.UnknownNameError, match=r"'\*loor/\*': a `\*` stands at the end of a name only"
    ):  # planner 5
        model.without(("*loor/*", "tool/c"))
    with pytest.raises(errors.DuplicateError, match="two shapes are called 'floor/a'"):
        CollisionModel(robot, [shapes[0], shapes[0]])
    with pytest.raises(errors.OptionError, match="margin of a collision model"):
        CollisionModel(robot, shapes, margin=np.nan)


def test_margins_and_joints_that_would_be_ignored_are_refused() -> None:
    """A margin of a pair that is not checked, two for one pair, a joint that the robot does not have."""
    robot = arm()
    joint, shapes = robot.frame("tool").joint_name, [ball("floor", "universe"), ball("c", "tool"), ball("d", "tool")]
    model = CollisionModel(robot, shapes)
    for pair, said in (
        (("c", "d"), "left out: 1 on one joint"),
        (("d", "c"), "left out: 1 on one joint"),
        (("d", "d"), "a shape makes no pair with itself"),
    ):
        with pytest.raises(errors.OptionError, match=rf"no such pair is checked \({said}"):
            model.with_margins({("floor", "c"): 0.1, pair: 0.1})
        with pytest.raises(errors.OptionError, match="no such pair is checked"):
            CollisionModel(robot, shapes, margins={pair: 0.1})
    with pytest.raises(errors.OptionError, match=r"1 left out by hand"):
        model.without(("floor", "c")).with_margins({("c", "floor"): 0.1})
    with pytest.raises(errors.OptionError, match="'c' and 'floor': the pair must be given only once"):
        model.with_margins({("floor", "c"): 0.1, ("c", "floor"): 0.2})
    assert model.with_margins({("floor", "*"): 0.1, ("c", "floor"): 0.2}).describe().endswith("0.1, 0.2 m")
    assert model.with_margins({("*", "*"): 0.1}).describe().endswith("margins: 0.1 m")
    with pytest.raises(errors.UnknownJointError, match=robot.joint_names[0]):
        model.among([CollisionPair("universe", robot.joint_names[0][:-1], 0.0)])
    with pytest.raises(errors.WrongObjectError, match="pair of joints: expected a CollisionPair"):
        model.among([("universe", joint, 0.0)])  # type: ignore[list-item]
    with pytest.raises(errors.OptionError, match="margin of 'universe'"):
        model.among([CollisionPair("universe", joint, np.nan)])
    with pytest.raises(errors.OptionError, match="given twice, with different margins"):
        model.among([CollisionPair("universe", joint, 0.5), CollisionPair(joint, "universe", 0.0)])
    twice = model.among([CollisionPair("universe", joint, 0.5), CollisionPair(joint, "universe", 0.5)])
    assert twice.pairs == model.pairs


def test_pairs_in_words() -> None:
    pairs = [(f"a{i}", f"b{i}") for i in range(20)]
    assert always_in_words([]) == ""
    one = always_in_words(pairs[:1])
    assert one.startswith("'a0' and 'b0' collide in all of ")
    many = always_in_words(pairs)
    shown = many.count("' and '")
    assert f" and {20 - shown} pairs more collide in all of" in many
    assert "more" not in always_in_words(pairs[:shown])
    verdicts = [WhyOut(LeftOutReason.BY_HAND), *[WhyOut(LeftOutReason.DISABLED, "Never")] * 3,
                WhyOut(LeftOutReason.DISABLED, "Adjacent"), WhyOut(LeftOutReason.DISABLED)]  # fmt: skip
    assert in_words(verdicts, True) == "5 disabled in the SRDF (Never 3, Adjacent 1), 1 left out by hand"
    assert in_words(verdicts, False) == "5 disabled in the SRDF, 1 left out by hand"
    assert in_words([], True) == ""


def test_a_path_through_waypoints() -> None:
    """Planner 7: it meets each waypoint, and the constraints between; a row that is off is named."""
    f = Function.from_callable(lambda q: [q @ q - 1.0], Rn(2), Rn(1), lambda q: 2.0 * q[None, :])
    problem = Problem(Rn(2), [Implicit.zero(f)])
    angles = np.array([0.0, 0.7, 1.1, 2.0])
    Q = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for given in (problem, Projector(problem, Options.local(threshold=1e-9))):
        path = Path.through(given, Q, max_length=0.05)
        assert path.duration == 3.0
        for i, q in enumerate(Q):
            np.testing.assert_allclose(path(float(i)), q, atol=1e-12)
        assert abs(np.linalg.norm(path(1.5)) - 1.0) < 1e-4
        assert path.max_jump().length <= 0.05
    assert Path.through(problem, Q[:2]).duration == 1.0
    Q[2] *= 1.1
    with pytest.raises(errors.FailedError, match="waypoints 1 and 2: END") as caught:
        Path.through(problem, Q)
    assert caught.value.result.stop.q.tolist() == Q[2].tolist()
    for short in (Q[0], Q[:1], []):
        with pytest.raises(errors.SizeError):
            Path.through(problem, short)
