"""Parts of paths divided by a kernel: what numpy gives, and what plain pinocchio and coal say of free ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from collisions.test_along import at_a_height
from robots import mixed_tree

from constraints import Implicit, Options, Position, Problem, Projector, errors
from constraints.collisions import CollisionModel, Shape
from constraints.collisions.along import _Parts, _Search  # pyright: ignore[reportPrivateUsage]
from constraints.models import sample_arm
from constraints.models.mechanisms import delta_robot
from constraints.paths import Path, interpolate
from constraints.paths.moving_rhs import MovingRightHandSide
from constraints.paths.path import Piece

pytest.importorskip("numba")

UP = [0.0, 0.0, 0.0, 1.0]
LOCAL = Options.local(threshold=5e-5)


def balls(robot: Any, rng: np.random.Generator, count: int, size: float = 0.05) -> CollisionModel:
    """Balls on frames of a robot, and solids around it; pairs that always collide are left out."""
    names = [name for name in robot.frame_names if name != "universe"]
    chosen = [names[i] for i in rng.choice(len(names), min(count, len(names)), replace=False)]
    shapes = [Shape(f"on {name}", "Sphere", (size,), name) for name in chosen]
    walls = [
        Shape("post", "Cylinder", (0.06, 1.4), placement=[0.55, 0.0, 0.7, *UP]),
        Shape("crate", "Box", (0.3, 0.3, 0.9), placement=[-0.4, 0.3, 0.45, 0.0, 0.0, 0.6, 0.8]),
    ]
    model = CollisionModel(robot, [*shapes, *walls])
    return model.without(*model.always_colliding(20))


def of_all_joints(rng: np.random.Generator) -> Path:
    """Every type of joint, without constraints on the way."""
    robot = mixed_tree()
    frame = next(name for name in robot.frame_names if name != "universe")
    problem = Problem(robot, [Implicit.below(Position(robot, frame), [50.0] * 3, name="here")])
    q0 = robot.random(rng)
    return interpolate(problem, q0, robot.space.integrate(q0, 0.8 * rng.standard_normal(robot.nv))).or_raise()


def of_a_closed_chain(rng: np.random.Generator) -> Path:
    """A parallel robot."""
    problem = delta_robot().problem()
    space, closed = problem.space, delta_robot().posture("closed")
    projector = Projector(problem, LOCAL)
    while True:
        starts = [space.integrate(closed, 0.2 * rng.standard_normal(space.nv)) for _ in range(2)]
        ends = [projector.project(start) for start in starts]
        found = interpolate(projector, ends[0].q, ends[1].q, max_angle=0.3) if all(e.success for e in ends) else None
        if found is not None and found.path is not None:
            return found.path


def with_a_moving_side(rng: np.random.Generator) -> Path:
    """The tool moves along a line: right-hand sides are others at each time."""
    robot = sample_arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), name="tool")])
    q0 = robot.space.interpolate(robot.reference("home"), robot.random(rng), 0.1)
    here = problem.rhs_from(q0)
    there = problem.check_rhs(here.vector + rng.uniform(-0.1, 0.1, 3))
    q1 = Projector(problem, LOCAL).project(q0, there).or_raise().q
    return interpolate(problem, q0, q1, (here, there), max_angle=0.3).or_raise()


WAYS: list[Callable[[np.random.Generator], Path]] = [at_a_height, of_all_joints, of_a_closed_chain, with_a_moving_side]


def beside(path: Path, rng: np.random.Generator) -> CollisionModel:
    """Large balls, without the pairs that collide on the path."""
    model = balls(path.pieces[0].problem.robot, rng, 6, 0.15)
    met = [c[:2] for q in path.pieces[0].at_times(np.linspace(0.0, 1.0, 100)) for c in model.collisions(q)]
    return model.without(*dict.fromkeys(met))


def searched(model: CollisionModel, path: Path) -> tuple[_Search, _Parts]:
    """A search on a path, and all its parts."""
    (piece,), pairs = path.pieces, tuple(model._has.margins)  # pyright: ignore[reportPrivateUsage]
    Q, t, n = piece.samples, piece.times, len(piece.times) - 1
    every = np.ones((n, len(pairs)), dtype=np.bool_)
    return _Search(model.checker, pairs, piece, 1e-3), _Parts(
        t[:-1], t[1:], Q[:-1], Q[1:], every.astype(np.float64), every
    )


@pytest.mark.parametrize("make", WAYS)
@pytest.mark.parametrize("legs", [2, 8])
def test_the_kernel_and_numpy_say_the_same(make: Any, legs: int) -> None:
    """Configurations, bounds and verdicts of all parts, at once and of some pairs of some parts."""
    rng, seen = np.random.default_rng(legs), 0
    for _ in range(4):
        path = make(rng)
        search, parts = searched(balls(path.pieces[0].problem.robot, rng, 8, 0.2), path)
        some = parts._replace(open=rng.random(parts.open.shape) < 0.5).some(np.arange(len(parts.t0)) % 3 < 2)
        few = [parts.some(slice(i, i + 2)) for i in range(0, len(parts.t0), 3)]  # behind what collides nothing is said
        for asked in (parts, some, *few):
            ours, plain = search._by_kernel(asked, legs), search._in_numpy(asked, legs)  # pyright: ignore[reportPrivateUsage]
            assert ours is not None
            assert np.array_equal(ours.times, plain.times)
            np.testing.assert_allclose(ours.Q, plain.Q, rtol=0.0, atol=1e-9)
            for one, other in zip(ours.near, plain.near, strict=True):
                assert np.array_equal(one, other)
            of_near = np.zeros(ours.moved.shape, dtype=np.bool_)
            row, k = np.divmod(ours.near.rows, legs - 1)
            for leg in (row * legs + k, row * legs + k + 1):
                of_near[leg, ours.near.pairs] = True
            np.testing.assert_allclose(ours.moved[of_near], plain.moved[of_near], rtol=1e-9, atol=1e-9)
            seen += len(ours.near.rows)
    assert seen > 5


@pytest.mark.parametrize("make", WAYS)
def test_what_is_not_near_is_free_all_along(make: Any) -> None:
    """Legs of which a pair is near at neither end: plain coal finds them apart at 20 times between."""
    rng, looked = np.random.default_rng(3), 0
    for _ in range(3):
        path = make(rng)
        (piece,) = path.pieces
        model = beside(path, rng)
        search, parts = searched(model, path)
        found = search._by_kernel(parts, 2)  # pyright: ignore[reportPrivateUsage]
        assert found is not None
        near = set(zip(found.near.rows.tolist(), found.near.pairs.tolist(), strict=True))
        geometry = model.checker.geometry
        data, of_pairs = model.robot.model.createData(), geometry.createData()
        last = max((row for row, _ in near), default=0) if found.near.met.any() else len(parts.t0)
        for row in range(min(len(parts.t0), last, 6)):
            for q in piece.at_times(np.linspace(parts.t0[row], parts.t1[row], 20)):
                pin.updateGeometryPlacements(model.robot.model, data, geometry, of_pairs, q)
                for pair in range(len(model.pairs)):
                    if (row, pair) not in near:
                        looked += 1
                        assert not pin.computeCollision(geometry, of_pairs, pair)
    assert looked > 500


def test_a_configuration_that_is_not_reached_is_told() -> None:
    """The tool is asked to be out of reach half-way: the kernel leaves it to what tells where."""
    robot = sample_arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), name="tool")])
    q = robot.reference("home")
    here = problem.rhs_from(q)

    def side(s: float) -> Any:
        return problem.check_rhs(here.vector + np.array([0.0, 0.0, 50.0 * np.sin(np.pi * s)]))

    moved = robot.space.integrate(q, 1e-6 * np.ones(robot.nv))
    piece = Piece(problem, MovingRightHandSide(function=side), np.array([q, moved]), np.array([0.0, 1.0]), LOCAL)
    model = balls(robot, np.random.default_rng(0), 4)
    with pytest.raises(errors.FailedError, match="constraints are not reached"):
        model.first_collision(Path((piece,)))


def test_pairs_that_collide_are_those_of_plain_pinocchio() -> None:
    """All of them, in their order; the first ones where so many are enough."""
    rng = np.random.default_rng(4)
    robot = mixed_tree()
    model, hits = balls(robot, rng, 12, 0.15), 0
    data, of_pairs = robot.model.createData(), model.checker.geometry.createData()
    for _ in range(50):
        q = robot.random(rng)
        pin.computeCollisions(robot.model, data, model.checker.geometry, of_pairs, q, False)
        plain = [pair for pair, r in zip(model.pairs, of_pairs.collisionResults, strict=True) if r.isCollision()]
        assert [each[:2] for each in model.collisions(q)] == plain
        assert [each[:2] for each in model.collisions(q, 1)] == plain[:1]
        assert model.is_free(q) == (not plain)
        hits += len(plain)
    assert hits > 50
    with pytest.raises(errors.OptionError, match="most of pairs that collide"):
        model.collisions(robot.neutral, 0)
