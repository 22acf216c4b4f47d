"""Ways that grow by a kernel: those of numpy, and what plain pinocchio and coal say of their steps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from explicit_samples import arm_and_box
from planning.test_connect import ARM, LEVEL, POST, height_error
from robots import mixed_tree

from constraints import Bounds, Function, Implicit, Position, Problem, Projector, explicit_relative_pose
from constraints.collisions import CollisionModel, Shape
from constraints.models.mechanisms import delta_robot
from constraints.planning import Connection, Limits, connect
from constraints.planning.leaf import LeafOfProblem
from constraints.planning.trees import SearchTree
from constraints.planning.ways import STEPS_OF_GROWTH, GrowingWays, ways_to
from constraints.solvers import Options
from constraints.solvers.machine import layout
from liegroups import Rn

pytest.importorskip("numba")

OPTIONS = Options.local(threshold=5e-5)
UP = [0.0, 0.0, 0.0, 1.0]


class Scene(NamedTuple):
    """Constraints, what must be free, and how far numpy and the kernel may differ."""

    problem: Problem
    collisions: CollisionModel | None
    apart: float


def at_height() -> Scene:
    """Joints of R only: bit for bit. Solids of all kinds, of which those with corners may overlap for certain."""
    walls = [
        POST,
        Shape("crate", "Box", (0.3, 0.3, 0.9), placement=[-0.4, 0.3, 0.45, 0.0, 0.0, 0.6, 0.8]),
        Shape("ball", "Sphere", (0.2,), placement=[0.0, -0.6, 0.5, *UP]),
        Shape("pill", "Capsule", (0.1, 0.5), placement=[-0.4, -0.4, 0.4, 0.6, 0.0, 0.0, 0.8]),
        Shape("plate", "Box", (0.6, 0.004, 0.5), placement=[0.0, 0.6, 0.6, *UP]),
    ]
    moving = [
        Shape("hand", "Box", (0.12, 0.1, 0.1), "tool"),
        Shape("elbow", "Box", (0.1, 0.1, 0.2), "elbow_link"),
        Shape("wrist", "Sphere", (0.05,), "wrist_pitch_link"),
    ]
    model = CollisionModel(ARM, [*walls, *moving], margins={("hand", "ball"): 0.05, ("crate", "hand"): -0.01})
    return Scene(Problem(ARM, [LEVEL]), model, 1e-12)


def closed_chain() -> Scene:
    return Scene(delta_robot().problem(), None, 1e-10)


def held() -> Scene:
    """A box in the hand, computed from it, that must not leave its bounds: rows that are brought back."""
    robot = arm_and_box()
    grasp = explicit_relative_pose(robot, "gripper", "handle", name="held")
    lower, upper = robot.bounds.lower.copy(), robot.bounds.upper.copy()
    lower[7:10], upper[7:10] = [-0.5, -0.6, 0.1], [0.5, 0.6, 0.9]
    post = Shape("post", "Cylinder", (0.05, 2.0), placement=[0.3, 0.0, 0.0, *UP])
    model = CollisionModel(robot, [post, Shape("load", "Box", (0.1, 0.1, 0.1), "handle")])
    return Scene(Problem(robot, [grasp], Bounds(robot.space, lower, upper)), model, 1e-11)


def turning() -> Scene:
    """Joints of all groups: SO(2), SO(3), SE(2), SE(3)."""
    robot = mixed_tree()
    q = robot.space.random(np.random.default_rng(3))
    tip = Implicit.equal(
        Position(robot, "chain_tip"), Position(robot, "chain_tip").value_of(q), mask=[True, False, True]
    )
    return Scene(Problem(robot, [tip]), None, 1e-10)


SCENES = {"height": at_height, "closed": closed_chain, "held": held, "turning": turning}


@functools.cache
def scene(name: str) -> Scene:
    return SCENES[name]()


def leaf_of(name: str, kernel: bool = True) -> LeafOfProblem:
    """The leaf of a scene, by the kernel or in numpy."""
    case = scene(name)
    leaf = LeafOfProblem(Projector(case.problem, OPTIONS), case.problem.rhs, case.collisions)
    if not kernel:
        leaf.__dict__["growth"] = None
    return leaf


def on_leaf(leaf: LeafOfProblem, count: int, seed: int) -> np.ndarray:
    """Random configurations on a leaf."""
    like = leaf.space.neutral
    Q, on = leaf.projected(leaf.random(np.random.default_rng(seed), like, 4 * count))
    return Q[on][:count]


def grown(name: str, kernel: bool, seed: int = 0, count: int = 48) -> tuple[LeafOfProblem, GrowingWays]:
    """Ways from a few free starts towards random targets, of which every fourth is near."""
    leaf = leaf_of(name, kernel)
    starts, targets = on_leaf(leaf, 2 * count, seed), on_leaf(leaf, count, seed + 1)
    starts = starts[leaf.free(starts)]
    starts = starts[np.arange(len(targets)) % len(starts)]
    near, on = leaf.projected(leaf.space.interpolate(starts[::4], targets[::4], 0.05))
    targets[::4][on] = near[on]
    leaf.counts.projections = leaf.counts.checks = 0
    return leaf, ways_to(leaf, starts, targets, leaf.chart.distances(starts, targets))


def taken(ways: GrowingWays) -> np.ndarray:
    """All steps that were taken (n, nq), way by way."""
    return np.concatenate([q[: 1 + k] for q, k in zip(ways.q, ways.steps, strict=True)])


@pytest.mark.parametrize("name", SCENES)
def test_ways_of_the_kernel_are_those_of_numpy(name: str) -> None:
    for seed in (0, 10):
        by_kernel, fast = grown(name, kernel=True, seed=seed)
        by_numpy, plain = grown(name, kernel=False, seed=seed)
        assert by_kernel.growth is not None
        assert plain.steps.sum() > 100
        np.testing.assert_array_equal(fast.steps, plain.steps)
        np.testing.assert_array_equal(fast.states, plain.states)
        np.testing.assert_allclose(taken(fast), taken(plain), rtol=0.0, atol=scene(name).apart)
        np.testing.assert_allclose(fast.left, plain.left, rtol=0.0, atol=100.0 * scene(name).apart)
        assert by_kernel.counts.projections == by_numpy.counts.projections
        assert by_kernel.counts.checks == by_numpy.counts.checks


def test_all_ends_of_a_way_occur() -> None:
    ways = [grown(name, kernel=True)[1] for name in SCENES]
    states = np.concatenate([each.states for each in ways])
    steps = np.concatenate([each.steps for each in ways])
    assert (states == layout.REACHED).sum() > 5
    assert ((states == layout.ENDED) & (steps == STEPS_OF_GROWTH)).sum() > 5
    assert ((states == layout.ENDED) & (steps < STEPS_OF_GROWTH)).sum() > 20


def test_steps_that_leave_bounds_of_a_computed_body_are_brought_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()
    step = LeafOfProblem.step

    def counted(leaf: LeafOfProblem, Q: np.ndarray, *others: np.ndarray) -> Any:
        asked.append(len(Q))
        return step(leaf, Q, *others)

    monkeypatch.setattr(LeafOfProblem, "step", counted)
    leaf, ways = grown("held", kernel=True)
    assert sum(asked) > 0
    boxes = taken(ways)[:, 7:10]
    bounds = leaf.problem.bounds
    assert (boxes >= bounds.lower[7:10] - 1e-9).all()
    assert (boxes <= bounds.upper[7:10] + 1e-9).all()


def test_steps_keep_to_the_rules_and_are_free_by_plain_coal() -> None:
    leaf, ways = grown("height", kernel=True)
    collides = plainly(scene("height").collisions)
    for q, target, count in zip(ways.q, ways.targets, ways.steps.tolist(), strict=True):
        for a, b in pairwise(q[: 1 + count]):
            assert height_error(b) <= 5e-5
            assert np.linalg.norm(b - a) <= 0.2 + 1e-12
            assert np.linalg.norm(target - b) <= np.linalg.norm(target - a) - 1e-4 + 1e-12
            assert not collides(b)
    assert leaf.counts.checks > ways.steps.sum()  # some were looked at, and not free


def plainly(collisions: CollisionModel | None) -> Callable[[np.ndarray], bool]:
    """Whether a configuration collides, asked of pinocchio and coal alone."""
    assert collisions is not None
    geometry: Any = collisions.checker.geometry
    margins = tuple(collisions._has.margins.values())  # pyright: ignore[reportPrivateUsage]
    data, solids = ARM.model.createData(), geometry.createData()
    for request, margin in zip(solids.collisionRequests, margins, strict=True):
        request.security_margin, request.gjk_tolerance = margin, 1e-9

    def collides(q: np.ndarray) -> bool:
        return bool(pin.computeCollisions(ARM.model, data, geometry, solids, q, True))

    return collides


@pytest.mark.parametrize("seed", range(3))
def test_the_same_generator_gives_the_same_trees_by_both_ways(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = scene("height")
    leaf = leaf_of("height")
    ends = on_leaf(leaf, 200, 40 + seed)
    ends = ends[leaf.free(ends)]
    start, goal = ends[0], ends[np.argmax(np.linalg.norm(ends - ends[0], axis=1))]

    def search() -> Connection:
        rng = np.random.default_rng(seed)
        limits = Limits(seconds=None, nodes=4000)
        return connect(
            Projector(case.problem, OPTIONS), start, goal, rng=rng, collisions=case.collisions, limits=limits
        )

    fast = search()
    monkeypatch.setattr(LeafOfProblem, "growth", None)
    plain = search()
    assert fast.trees is not None
    assert plain.trees is not None
    for ours, theirs in zip(fast.trees, plain.trees, strict=True):  # who comes from whom, and where: but for rounding
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12)
    assert fast.status is plain.status
    assert fast.effort[:-1] == plain.effort[:-1]


def test_what_kernels_do_not_take_grows_in_numpy() -> None:
    case = scene("height")
    readable = LeafOfProblem(Projector(case.problem, OPTIONS, "readable"), case.problem.rhs, case.collisions)
    traced = LeafOfProblem(Projector(case.problem, Options.local(trace=True)), case.problem.rhs, None)
    assert readable.growth is None
    assert traced.growth is None
    starts, targets = on_leaf(readable, 12, 0), on_leaf(readable, 4, 1)
    starts = np.repeat(starts[readable.free(starts)][:1], len(targets), axis=0)
    distances = readable.chart.distances(starts, targets)
    fast, plain = (ways_to(leaf, starts, targets, distances) for leaf in (leaf_of("height"), readable))
    np.testing.assert_array_equal(fast.steps, plain.steps)
    np.testing.assert_allclose(taken(fast), taken(plain), atol=1e-9)


def test_distances_are_norms_in_largest_steps_and_neighbours_are_the_nearest() -> None:
    """On every group, with both signs of quaternions; columns that steps do not move, of a held box, do not count."""
    for name, lengths in (
        ("turning", [*range(8, 18), *range(25, 28), *range(31, 34), *range(39, 42), 46]),
        ("held", []),
    ):
        leaf, rng = leaf_of(name), np.random.default_rng(4)
        space, steps = leaf.space, np.full(leaf.space.nv, 0.1)
        steps[lengths] = 0.02
        steps[~leaf.problem.free] = np.inf
        rows = leaf.random(rng, space.neutral, 60)
        targets = space.integrate(rows[::2], 0.3 * steps.clip(max=0.1) * rng.standard_normal((30, space.nv)))
        away = np.array([np.linalg.norm(space.difference(rows, t[None]) / steps, axis=1) for t in targets])
        for k, target in enumerate(targets):
            many = np.repeat(target[None], len(rows), axis=0)
            np.testing.assert_allclose(leaf.chart.distances(rows, many), away[k], rtol=1e-9, atol=1e-9)
        quaternions = [leaf.q.stop for leaf in space.leaves() if leaf.space.atoms[0][0] in ("SO3", "SE3")]
        for stop in quaternions:
            targets[::2, stop - 4 : stop] *= -1.0
        X, T = leaf.chart.coordinates(rows), leaf.chart.coordinates(targets)
        assert X.shape == (len(rows), leaf.chart.size)
        nearest, squares = leaf.chart.nearest(X, T, np.zeros(len(rows), dtype=np.bool_))
        assert nearest.tolist() == away.argmin(axis=1).tolist() == list(range(0, 60, 2))
        np.testing.assert_allclose(squares, away.min(axis=1) ** 2, rtol=2e-3)
        others, _ = leaf.chart.nearest(X, T, np.arange(60) % 2 == 0)
        assert (others % 2 == 1).all()


def test_a_step_is_taken_that_is_projected_stays_near_gains_and_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2 cm towards a target; to it where that is nearer; not more than two steps aside or ahead."""
    flat = Implicit.zero(Function.from_callable(lambda q: q[2:], Rn(3), Rn(1), name="flat"))
    problem = Problem(Rn(3), [flat])
    leaf = LeafOfProblem(Projector(problem), problem.rhs, None)
    cases = {
        "straight": ((0.02, 0.0), True), "not projected": ((0.02, 0.0), False), "far": ((0.05, 0.0), True),
        "no gain": ((0.0, 0.01), True), "aside": ((0.02, 0.01), True), "not free": ((0.021, 0.0), True),
        "whole": ((0.01, 0.0), True),
    }  # fmt: skip
    Q, targets = np.zeros((7, 3)), np.repeat([[0.1, 0.0, 0.0]], 7, axis=0)
    targets[-1, 0] = 0.01
    ahead = list[np.ndarray]()
    q = np.array([[*place, 0.0] for place, _ in cases.values()])

    def projected(self: LeafOfProblem, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ahead.append(rows)
        return q, np.array([on for _, on in cases.values()])

    monkeypatch.setattr(LeafOfProblem, "projected", projected)
    monkeypatch.setattr(LeafOfProblem, "free", lambda self, rows: rows[:, 0] != 0.021)
    step = leaf.step(Q, targets, leaf.chart.distances(Q, targets))
    np.testing.assert_allclose(ahead[0][:, 0], [0.02] * 6 + [0.01])
    assert [name for name, done in zip(cases, step.done, strict=True) if done] == ["straight", "aside", "whole"]
    np.testing.assert_allclose(step.left, np.linalg.norm(targets - q, axis=1) / 0.02, atol=1e-12)


def test_nodes_are_kept_beyond_the_room_of_a_tree_and_what_is_cut_is_nobodys_neighbour() -> None:
    """Two chains of 1500 nodes: a cut takes out what grew behind it, and nothing else."""
    leaf = leaf_of("height")
    ends = np.stack([leaf.space.neutral, leaf.space.neutral + 0.5])
    tree, count = SearchTree(leaf, ends), 1500
    Q = np.array([ends[i % 2] + 1e-4 * (1 + i // 2) for i in range(2 * count)])
    for i in range(0, 2 * count, 500):
        tree.add(Q[i : i + 500], np.arange(i, i + 500))  # behind the node two before
    np.testing.assert_array_equal(tree.q, np.vstack([ends, Q]))
    assert tree.count == 2 * count + 2
    assert tree.parents[:4].tolist() == [-1, -1, 0, 1]
    assert tree.way(2 * count).tolist() == list(range(0, 2 * count + 1, 2))
    target = Q[-1:] + 1e-6
    assert tree.nearest(target).tolist() == [2 * count + 1]
    tree.cut(1001)
    assert [tree.is_cut(i) for i in (999, 1000, 1001, 1002, 1003, 2 * count, 2 * count + 1)] == [
        False, False, True, False, True, False, True
    ]  # fmt: skip
    assert tree.nearest(target).tolist() == [999]


def test_a_tree_without_new_ground_is_told_by_the_targets_in_vain() -> None:
    """Targets beside its nodes lead nowhere new; one far away does, and begins the count anew."""
    leaf = leaf_of("closed")
    root = on_leaf(leaf, 30, 2)
    tree = SearchTree(leaf, root[:1])
    for i in range(1, 4):
        grown = tree.grow(np.repeat(root[:1], 2, axis=0))
        assert grown.reached.all()
        assert (grown.nodes.tolist(), tree.still, tree.count) == ([0, 0], 2 * i, 1)
    far = root[leaf.chart.distances(np.repeat(root[:1], 30, axis=0), root).argsort()[-3:]]
    grown = tree.grow(far)
    assert tree.still == 0
    assert tree.count > 1
    assert (tree.parents[1:] < np.arange(1, tree.count)).all()
    for a, b in zip(tree.parents[1:], range(1, tree.count), strict=True):
        assert leaf.chart.distances(tree.q[a][None], tree.q[b][None])[0] <= 2.0
