"""Shortened paths, judged by closed forms, and by plain pinocchio and coal."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from planning.judge import ANGLE, LENGTH, faults, generator, moved, same_in_threads_and_processes
from planning.test_connect import ARM, arm_scene, height_error

from constraints import Base, Comparison, Explicit, Function, Implicit, Part, Pose, Position, Problem, Projector, Robot
from constraints.collisions import CollisionModel, Shape
from constraints.errors import OptionError, SpaceMismatchError, WrongObjectError
from constraints.functions import Affine
from constraints.models import sample_arm, sample_two_arms
from constraints.paths import Path, interpolate
from constraints.paths.moving_rhs import MovingRightHandSide
from constraints.paths.path import Piece
from constraints.planning import Limits, connect, shorten
from constraints.planning.shortening import _apart, _joints, _Shortcuts, _Shortened  # pyright: ignore[reportPrivateUsage]
from constraints.solvers import Options
from liegroups import SE3, Rn, Segments

FREELY = Limits(seconds=None)


def implicit(value: Callable[[np.ndarray], np.ndarray], space: object, name: str) -> Implicit:
    return Implicit.zero(Function.from_callable(value, space, Rn(1), name=name))  # pyright: ignore[reportArgumentType]


SPHERE = Problem(Rn(3), [implicit(lambda q: np.array([q @ q - 1.0]), Rn(3), "sphere")])


def bent(problem: Problem, nodes: np.ndarray) -> Path:
    """A path of one piece through nodes."""
    through = Path.through(problem, nodes, options=Options.local(threshold=5e-5))
    Q = np.concatenate([through.pieces[0].samples[:1], *(piece.samples[1:] for piece in through.pieces)])
    first = through.pieces[0]
    return Path((Piece(problem, first.sides, Q, np.linspace(0.0, 1.0, len(Q)), first.options),))


def on_sphere(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random nodes, each within 1 rad of the one before."""
    nodes = [np.array([1.0, 0.0, 0.0])]
    while len(nodes) < count:
        q = nodes[-1] + rng.uniform(-0.6, 0.6, 3)
        nodes.append(q / np.linalg.norm(q))
    return np.array(nodes)


def densely(path: Path, times: int = 3000) -> float:
    """Length of a path in a flat space, by numpy."""
    Q = np.concatenate([piece.at_times(np.linspace(0.0, 1.0, times)) for piece in path.pieces])
    return float(np.linalg.norm(np.diff(Q, axis=0), axis=1).sum())


def test_the_length_of_a_path_is_that_of_numpy() -> None:
    path = bent(SPHERE, on_sphere(generator(), 6))
    assert path.length == pytest.approx(np.linalg.norm(np.diff(path.samples, axis=0), axis=1).sum(), rel=1e-12)
    quarter = interpolate(SPHERE, [1, 0, 0], [0, 1, 0]).or_raise()
    assert quarter.length == pytest.approx(np.pi / 2.0, rel=1e-3)
    assert (quarter + quarter.reversed()).length == pytest.approx(2.0 * quarter.length, rel=1e-12)


def test_dofs_that_are_computed_have_no_length() -> None:
    double = Explicit(Affine([[2.0, 0.0, 0.0]], [0.0], Rn(3)), Segments.coordinates(Rn(3), [2]))
    path = interpolate(Problem(Rn(3), [double]), [0, 0, 0], [3, 4, 6]).or_raise()
    assert path.length == pytest.approx(5.0, rel=1e-12)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_detour_on_a_sphere_becomes_the_great_circle(seed: int) -> None:
    rng = generator(seed)
    path = bent(SPHERE, on_sphere(rng, 5))
    after = shorten(path, rng=rng, limits=FREELY)
    great = float(np.arccos(path.start @ path.end))
    assert great <= densely(after) + 1e-4
    assert densely(after) <= 1.03 * great
    assert np.array_equal(after.start, path.start)
    assert np.array_equal(after.end, path.end)
    assert np.abs(np.linalg.norm(after.samples, axis=1) - 1.0).max() <= 1e-4
    assert np.abs(np.diff(after.samples, axis=0)).max() <= LENGTH + 1e-12


def test_a_free_body_goes_straight() -> None:
    """A body whose origin stays in a plane: the straight motion has length 1, without a turn."""
    problem = Problem(SE3, [implicit(lambda q: q[2:3], SE3, "plane")])
    turned = [0.4, 0.5, 0.0, 0.0, 0.0, np.sin(0.5), np.cos(0.5)]
    nodes = np.array([[0.0, 0, 0, 0, 0, 0, 1], turned, [1.0, 0, 0, 0, 0, 0, 1]])
    path = bent(problem, nodes)
    after = shorten(path, rng=generator(), limits=FREELY)
    assert path.length > 2.0
    assert 1.0 - 1e-6 <= after.length <= 1.05
    Q = after.samples
    assert np.abs(Q[:, 2]).max() <= 1e-4
    assert np.abs(np.linalg.norm(Q[:, 3:], axis=1) - 1.0).max() <= 1e-12
    assert np.linalg.norm(np.diff(Q[:, :3], axis=0), axis=1).max() <= LENGTH + 1e-12
    angles = [2.0 * np.arccos(min(1.0, abs(float(a[3:] @ b[3:])))) for a, b in pairwise(Q)]
    assert max(angles) <= ANGLE + 1e-6


def test_what_shortcuts_pull_is_a_joint_and_those_that_overlap_are_not_taken_together() -> None:
    """A free body is one joint of six columns, a hinge one of one, a frozen one none; of three the middle overlaps."""
    free = Robot.from_urdf("<robot name='one'><link name='body'/></robot>", base=Base.FREE_FLYER)
    robot = Robot.system([Part("a", free), Part("arm", sample_arm())])
    q = np.repeat(robot.neutral[None], 2, axis=0)
    q[1, 8:] += 0.1
    stays = Implicit.zero(Position(robot, "a/body"))
    problem = Problem(robot, [stays], frozen=["arm/shoulder_yaw"])
    columns = _joints(interpolate(problem, *q).or_raise().pieces[0])
    hinges = np.eye(robot.nv, dtype=bool)[7:]
    np.testing.assert_array_equal(columns, np.vstack([np.arange(robot.nv) < 6, hinges]))
    first, last = np.array([0, 3, 6]), np.array([4, 7, 9])
    shortcuts = _Shortcuts(first, last, np.ones(3), np.zeros((0, 1)), np.zeros(0, dtype=np.intp))
    assert _apart(shortcuts, np.array([2.0, 1.0, 1.0])).tolist() == [True, False, True]
    assert _apart(shortcuts, np.array([1.0, 2.0, 1.0])).tolist() == [False, True, False]
    touching = shortcuts._replace(first=np.array([0, 4, 7]))
    assert _apart(touching, np.ones(3)).tolist() == [True, True, True]


def test_shortcuts_are_drawn_alike_from_both_ends() -> None:
    """On an arc of 3 rad: their middles lie around its middle, some begin and end where it does; nodes lie evenly."""
    angles = np.linspace(0.0, 3.0, 301)
    Q = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
    piece = Piece(SPHERE, MovingRightHandSide(SPHERE.rhs), Q, np.linspace(0.0, 1.0, 301), Options.local(threshold=5e-5))
    shortened, rng = _Shortened(piece, SPHERE.rhs, None), generator()
    drawn = [shortened._drawn(rng) for _ in range(25)]  # pyright: ignore[reportPrivateUsage]
    first, last = (np.concatenate([getattr(each, name) for each in drawn]) for name in ("first", "last"))
    assert len(first) > 400
    assert (first + last).mean() == pytest.approx(300.0, rel=0.03)
    assert (first == 0).mean() == pytest.approx((last == 300).mean(), rel=0.3)
    assert 0.04 < (first == 0).mean() < 0.2
    pulled = np.array([shortened._pulled(rng) for _ in range(60)])  # pyright: ignore[reportPrivateUsage]
    assert pulled[:, 0::3].all()
    assert (pulled[:, 1::3].sum(axis=2) == 1).all()
    for some, share in ((pulled[:, 1::3], 1.0 / 3.0), (pulled[:, 2::3], 0.5)):
        assert some.mean(axis=(0, 1)) == pytest.approx(np.full(3, share), abs=0.1)
    straight = 0
    chords, old = np.linalg.norm(Q[last] - Q[first], axis=1), np.concatenate([each.old for each in drawn])
    assert (chords < 0.99 * old).all()
    np.testing.assert_allclose(old, 0.01 * (last - first), rtol=1e-4)
    assert (old.min() < 0.6, old.max() > 2.5) == (True, True)
    for each in drawn:
        for k, (i, j) in enumerate(zip(each.first, each.last, strict=True)):
            nodes, chord = each.nodes[each.owners == k] - Q[i], Q[j] - Q[i]
            count = max(int(np.ceil(2.5 * each.old[k])), 2)
            assert len(nodes) == count + 1
            if np.abs(np.cross(nodes, chord)).max() < 1e-9:
                straight += 1
                parts = nodes @ chord / (chord @ chord)
                np.testing.assert_allclose(parts, np.linspace(0.0, 1.0, count + 1), rtol=0.0, atol=1.01 / (j - i))
    assert straight > 150


def test_never_longer() -> None:
    """Also where the clock ends it early; where it does not, two of three are shorter."""
    shorter = 0
    for seed in range(9):
        rng, seconds = generator(seed), [1e-9, 0.02, None][seed % 3]
        path = bent(SPHERE, on_sphere(rng, 3))
        after = shorten(path, rng=rng, limits=Limits(seconds=seconds))
        assert after.length <= path.length
        assert densely(after, 500) <= densely(path, 500) * (1.0 + 1e-9)
        shorter += seconds is None and after.length < path.length
    assert shorter == 2


@pytest.mark.parametrize("seed", range(2))
def test_a_way_round_a_post_is_shortened_and_nothing_is_wrong_with_it(seed: int) -> None:
    problem, model, q0, q1 = arm_scene()
    path = connect(problem, q0, q1, rng=generator(seed), collisions=model).or_raise()
    after = shorten(path, rng=generator(seed), collisions=model, limits=FREELY)
    assert faults(after, ARM.model, model.checker.geometry, height_error, (q0, q1)) == []
    assert after.length < 0.75 * path.length
    freely = shorten(path, rng=generator(seed), limits=FREELY)
    assert freely.length < 0.95 * after.length  # the post is in the way of this one
    assert faults(freely, ARM.model, model.checker.geometry, height_error, (q0, q1)) == ["collision"]


def test_between_its_nodes_every_one_of_the_shortcuts_is_looked_at() -> None:
    """Three hops of a bead, side by side: plates of 1 mm, between two samples, are in the way of two straight ones."""
    robot = Robot.from_urdf("<robot name='bead'><link name='l'/></robot>", base=Base.FREE_FLYER)
    up = [0.0, 0.0, 0.0, 1.0]
    plates = [Shape(f"{x}", "Box", (1e-3, 2.0, 0.4), placement=[x + 0.5078, 0.0, 0.0, *up]) for x in (0, 2)]
    model = CollisionModel(robot, [*plates, Shape("bead", "Sphere", (2.5e-3,), "l")])
    problem = Problem(robot, [Implicit.equal(Position(robot, "l"), mask=[False, True, False], name="flat")])
    feet = [np.array([float(x), 0.0, 0.0, *up]) for x in range(4)]
    tops = [np.array([x + 0.5, 0.0, 0.6, *up]) for x in range(3)]
    (piece,) = bent(problem, np.array([*(q for pair in zip(feet, tops, strict=False) for q in pair), feet[3]])).pieces
    shortened = _Shortened(piece, piece.problem.rhs, model)
    at = np.array([int(np.abs(piece.samples - foot).max(axis=1).argmin()) for foot in feet])
    ends = piece.samples[np.column_stack([at[:-1], at[1:]]).ravel()]
    hops = _Shortcuts(at[:-1], at[1:], np.full(3, 1.5), ends, np.repeat(np.arange(3), 2))
    kept = shortened._checked(hops)  # pyright: ignore[reportPrivateUsage]
    assert (kept.first.tolist(), kept.last.tolist()) == ([at[1]], [at[2]])
    assert np.abs(np.diff(kept.nodes[:, 0])).max() <= LENGTH + 1e-12
    blind = _Shortened(piece, piece.problem.rhs, None)._checked(hops)  # pyright: ignore[reportPrivateUsage]
    assert blind.first.tolist() == at[:-1].tolist()


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_gained_elsewhere_is_kept_where_a_shortcut_passes_something_thin(seed: int) -> None:
    """Three hops of a grain; in the way of one is a sheet that none of the samples of a shortcut meets."""
    robot = Robot.from_urdf("<robot name='grain'><link name='l'/></robot>", base=Base.FREE_FLYER)
    up = [0.0, 0.0, 0.0, 1.0]
    sheet = Shape("sheet", "Box", (1e-4, 2.0, 1.0), placement=[1.5078, 0.0, 0.0, *up])
    model = CollisionModel(robot, [sheet, Shape("grain", "Sphere", (1e-4,), "l")])
    problem = Problem(robot, [Implicit.equal(Position(robot, "l"), mask=[False, True, False], name="flat")])
    path = bent(problem, np.array([[0.5 * i, 0.0, 0.6 * (i % 2), *up] for i in range(7)]))
    assert model.first_collision(path) is None
    after = shorten(path, rng=generator(seed), collisions=model, limits=FREELY)
    assert model.first_collision(after, 2e-5) is None
    assert after.length < 0.85 * path.length
    through = shorten(path, rng=generator(seed), limits=FREELY)
    assert model.first_collision(through, 2e-5) is not None


def test_two_arms_that_hold_a_bar() -> None:
    robot = sample_two_arms()
    model: Any = robot.model
    data = model.createData()
    names = [model.getFrameId(name) for name in ("left_tool", "right_tool")]

    def between(q: np.ndarray) -> pin.SE3:
        pin.framesForwardKinematics(model, data, q)
        return data.oMf[names[0]].inverse() * data.oMf[names[1]]

    home = robot.references["home"]
    held = between(home)
    bar = Pose(robot, "right_tool", reference="left_tool")
    problem, rng, nodes = Problem(robot, [Implicit.equal(bar, pin.SE3ToXYZQUAT(held))]), generator(3), [home]
    while len(nodes) < 4:
        try_of = interpolate(problem, nodes[-1], _near(problem, nodes[-1], rng), options=Options.local(threshold=5e-5))
        if try_of.success:
            nodes.append(try_of.or_raise().end)
    path = bent(problem, np.array(nodes))
    after = shorten(path, rng=rng, limits=FREELY)
    assert after.length < 0.8 * path.length
    assert max(float(np.abs(pin.log6(held.actInv(between(q))).vector).max()) for q in after.samples) <= 1e-4
    assert max(moved(model, *pair)[0] for pair in pairwise(after.samples)) <= ANGLE + 1e-9
    assert after.end.tobytes() == path.end.tobytes()


def _near(problem: Problem, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A solution around a configuration."""
    projector = Projector(problem, Options.local(threshold=1e-6))
    while True:
        found = projector.project(problem.bounds.clip(q + rng.uniform(-0.5, 0.5, len(q))))
        if found.success:
            return found.q


def two_pieces() -> Path:
    """First on a sphere, then on a circle of it."""
    rng = generator()
    first = bent(SPHERE, np.vstack([on_sphere(rng, 5), [[0.6, 0.8, 0.0]]]))
    flat = implicit(lambda q: q[2:], Rn(3), "flat")
    circle = Problem(Rn(3), [SPHERE.constraints[0], flat])
    angles = np.arctan2(0.8, 0.6) + np.array([0.0, -1.0, 0.5, -0.2, 1.0])
    second = bent(circle, np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1))
    second_samples = second.pieces[0].samples.copy()
    second_samples[0] = first.end
    piece = second.pieces[0]
    return first.lasting(2.0) + Path((Piece(circle, piece.sides, second_samples, piece.times, piece.options),), (3.0,))


def test_pieces_keep_their_problems_ends_and_durations() -> None:
    path = two_pieces()
    after = shorten(path, rng=generator(), limits=FREELY)
    assert after.durations == path.durations
    for new, old in zip(after.pieces, path.pieces, strict=True):
        assert new.problem is old.problem
        assert new.samples[[0, -1]].tobytes() == old.samples[[0, -1]].tobytes()
    arcs = [float(np.arccos(piece.samples[0] @ piece.samples[-1])) for piece in path.pieces]
    assert arcs[1] == pytest.approx(1.0)
    for piece, arc in zip(after.pieces, arcs, strict=True):
        assert Path((piece,)).length <= 1.03 * arc
    assert np.abs(after.pieces[1].samples[:, 2]).max() <= 1e-4


def test_pieces_to_keep_are_left_as_they_are() -> None:
    path = two_pieces()
    after = shorten(path, rng=generator(), keep=[0], limits=FREELY)
    assert after.pieces[0] is path.pieces[0]
    assert after.length < path.length
    assert shorten(path, rng=generator(), keep=(0, 1)) is path


def test_the_leaf_is_kept() -> None:
    """Right-hand sides that are not those of the problem."""
    any_size = Function.from_callable(lambda q: np.array([q @ q]), Rn(3), Rn(1), name="size")
    problem = Problem(Rn(3), [Implicit(any_size, Comparison.EQUALITY)])
    options = Options.local(threshold=5e-5)
    Q = 2.0 * bent(SPHERE, on_sphere(generator(1), 5)).samples
    sides = MovingRightHandSide(problem.rhs_from(Q[0]))
    path = Path((Piece(problem, sides, Q, np.linspace(0.0, 1.0, len(Q)), options),))
    after = shorten(path, rng=generator(), limits=FREELY)
    assert after.length < 0.9 * path.length
    assert np.abs(np.sum(after.samples**2, axis=1) - 4.0).max() <= 1e-4


def test_pieces_whose_right_hand_sides_move_are_left_as_they_are() -> None:
    height = Function.from_callable(lambda q: q[2:], Rn(3), Rn(1), name="height")
    problem = Problem(Rn(3), [Implicit(height, Comparison.EQUALITY)])
    Q = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.1, 1.0]])
    ends = problem.rhs_from(Q[0]), problem.rhs_from(Q[-1])
    for sides in (MovingRightHandSide(*ends), MovingRightHandSide(function=MovingRightHandSide(*ends).at)):
        path = Path((Piece(problem, sides, Q, np.array([0.0, 0.5, 1.0]), Options.local()),))
        assert shorten(path, rng=generator()) is path


def test_a_path_that_does_not_move_comes_back() -> None:
    path = connect(SPHERE, [1, 0, 0], [1, 0, 0], rng=generator()).or_raise()
    assert shorten(path, rng=generator()) is path


def samples_of(pickled: bytes, seed: int) -> bytes:
    path, model = pickle.loads(pickled)
    return shorten(path, rng=generator(seed), collisions=model, limits=FREELY).samples.tobytes()


@pytest.mark.parametrize("in_processes", [False, pytest.param(True, marks=pytest.mark.long)])
def test_one_generator_gives_the_same_bits_in_threads_and_processes(in_processes: bool) -> None:
    problem, model, q0, q1 = arm_scene()
    pickled = pickle.dumps((connect(problem, q0, q1, rng=generator(1), collisions=model).or_raise(), model))
    same_in_threads_and_processes(samples_of, pickled, in_processes)


def test_bad_input_is_named() -> None:
    _, model, *_ = arm_scene()
    path, rng = two_pieces(), generator()
    given: dict[str, Any] = {"rng": rng}
    with pytest.raises(WrongObjectError, match="path to be shortened"):
        shorten(path.samples, rng=rng)  # pyright: ignore[reportCallIssue, reportArgumentType]
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"rng": 0}, WrongObjectError, "rng"),
        ({"limits": 0.05}, WrongObjectError, "limits"),
        ({"collisions": ARM}, WrongObjectError, "collisions"),
        ({"collisions": model}, SpaceMismatchError, "collision model"),
        ({"keep": 1}, WrongObjectError, "keeps"),
        ({"keep": [2]}, OptionError, "from 0 to 1, got 2"),
    ]
    for wrong, error, words in cases:
        with pytest.raises(error, match=words):
            shorten(path, **given | wrong)
