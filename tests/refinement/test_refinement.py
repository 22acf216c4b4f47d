"""Nearest solutions, and the optional last level at its least: stationary points along the feasible set."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few, draws
from newton.test_levels import balance, feet, standing, starts
from robots import arm, humanoid, panda, pr2, talos, two_arms, ur5
from scipy import optimize

from constraints import (
    Affine,
    Base,
    Bounds,
    CenterOfMass,
    Explicit,
    Function,
    Implicit,
    Options,
    Orientation,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Status,
    Transformation,
)
from constraints.cli.demo_scenes import sample_scenes
from constraints.errors import OptionError, SizeError, UndefinedError
from liegroups import SE3, SO3, Rn, Segments

NEAREST = Options(nearest=True)
SHARP = Options(nearest=True, threshold=1e-10)


def left_of_gradient(problem: Problem, q: np.ndarray, near: np.ndarray) -> float:
    """What no active row explains of the gradient of the distance, relative; by all tangent columns, no substitution.

    Equalities and explicit twins come with either sign, bounds and inequality rows that are active push one way.
    """
    space, bounds = problem.space, problem.bounds
    d = space.difference(near, q)
    g = space.difference_dq1(near, q).T @ (problem.weights * d)
    np.testing.assert_allclose(slope_of_distance(problem, q, near), g, atol=1e-7)
    either, pushing = [], []
    for owner in problem.constraints:
        twin = owner.twin if isinstance(owner, Explicit) else owner
        if not isinstance(twin, Implicit):  # a closure: equalities only
            either += list(problem.jacobian(q)[problem.constraints.slices[problem.constraints.index(owner)]])
            continue
        value, J = twin.function.linearise(q)
        rhs = problem.rhs.of(owner)
        rows = space_log_rows(twin.function, rhs, value, J)
        for row, (r, gradient) in enumerate(zip(*rows, strict=True)):
            low, high = twin.rows.lower[row], twin.rows.upper[row]
            if not twin.rows.mask[row]:
                continue
            if low == high:
                either.append(gradient)
            elif r <= low + 1e-8:
                pushing.append(gradient)
            elif r >= high - 1e-8:
                pushing.append(-gradient)
    for i, k in zip(space.vector_v, space.vector_q, strict=True):
        if problem.resolution.outputs[i]:
            continue
        if q[k] <= bounds.lower[k]:
            pushing.append(np.eye(space.nv)[i])
        elif q[k] >= bounds.upper[k]:
            pushing.append(-np.eye(space.nv)[i])
    A = np.array([*either, *pushing]).T[~problem.frozen]
    least = np.r_[np.full(len(either), -np.inf), np.zeros(len(pushing))]
    fit = optimize.lsq_linear(
        A, g[~problem.frozen], (least, np.full(A.shape[1], np.inf)), tol=1e-14, lsq_solver="exact"
    )
    return float(np.linalg.norm(fit.fun) / max(np.linalg.norm(g), 1e-12))


def space_log_rows(function: Function, rhs: np.ndarray, value: np.ndarray, J: np.ndarray) -> tuple:
    group = function.outputs
    return group.difference(rhs, value), group.difference_dq1(rhs, value) @ J


def cost(problem: Problem, q: np.ndarray, near: np.ndarray) -> float:
    d = problem.space.difference(near, q)
    return 0.5 * float(d @ (problem.weights * d))


def slope_of_distance(problem: Problem, q: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Of the distance itself, by central differences."""
    steps = 1e-6 * np.eye(problem.space.nv)
    ahead, behind = ([cost(problem, problem.space.integrate(q, s * e), near) for e in steps] for s in (1, -1))
    return (np.array(ahead) - behind) / 2e-6


def stance(robot: Robot, q: np.ndarray) -> list[Implicit]:
    """Feet held, centre of mass in a small box that it starts outside of."""
    centre = CenterOfMass(robot)
    low, high = (centre.value(q) + np.array(room) for room in ([0.01, 0.01, -0.3], [0.05, 0.05, -0.02]))
    box = Implicit.between(centre, low, high, name="box")
    return [*feet(robot, q), box]


def scenes() -> dict[str, tuple[Problem, list[np.ndarray]]]:
    rng = np.random.default_rng(4)
    big, twin, small = talos(), pr2(), panda()
    q = standing(big)
    hold = small.at(small.configuration({"panda_joint2": 0.3, "panda_joint4": -1.8, "panda_joint6": 2.0}))
    hand = small.frame("panda_hand")
    costs = np.random.default_rng(1).uniform(0.2, 5.0, small.nv)
    found = {
        "panda": (Problem(small, [Implicit.equal(Pose(small, hand), hold.placement(hand))], weights=costs), small),
        "pr2": (Problem(twin, [closed(twin, "l_gripper_tool_frame", "r_gripper_tool_frame")]), twin),
    }
    problems = {name: (problem, [robot.random(rng) for _ in range(4)]) for name, (problem, robot) in found.items()}
    problems["talos"] = Problem(big, stance(big, q), frozen=["torso_1_joint"]), starts(big, q, 4)
    for scene in sample_scenes():  # a humanoid on a free-flyer, an arm whose box is computed, two arms
        problems[scene.name] = scene.problem, list(scene.starts(3, 5))
    return problems


def closed(robot: Robot, a: str, b: str) -> Implicit:
    return Implicit.equal(Pose(robot, b, reference=a), [0.0, -0.4, 0.0, 0.0, 0.0, 0.0, 1.0])


SCENES = ["panda", "pr2", "talos", *(scene.name for scene in sample_scenes())]


@pytest.fixture(scope="module")
def problems() -> dict[str, tuple[Problem, list[np.ndarray]]]:
    return scenes()


@pytest.mark.parametrize("name", a_few(SCENES, 3))
def test_the_gradient_of_the_distance_is_in_the_span_of_the_active_rows(problems, name):
    """DESIGN 3.9: to 1e-8, with multipliers that push; never farther than the greedy solution; constraints met."""
    problem, given = problems[name]
    nearest, greedy = Projector(problem, NEAREST), Projector(problem)
    done = 0
    for q0 in given:
        result, other = nearest.project(q0), greedy.project(q0)
        assert result.status is other.status
        if not result.success:
            assert result.refined is None
            continue
        done += 1
        assert result.stationarity == pytest.approx(0.0, abs=1e-8)
        assert left_of_gradient(problem, result.q, q0) <= 3e-8
        assert cost(problem, result.q, q0) <= cost(problem, other.q, q0)
        assert problem.is_satisfied(result.q)
        assert result.residual <= 1e-9 or cost(problem, result.q, q0) == pytest.approx(cost(problem, other.q, q0), 1e-4)
    assert done >= len(given) - 1


def test_a_solution_stays_and_a_satisfying_reference_is_the_solution():
    """A satisfying start comes back bit for bit; near another one it moves; near a solution that one is the answer."""
    robot = arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.2, 0.5])])
    rng = np.random.default_rng(2)
    projector = Projector(problem, NEAREST)
    first, second = (projector.project(robot.random(rng)).or_raise() for _ in range(2))
    again = projector.project(first.q)
    assert again.q.tobytes() == first.q.tobytes()
    assert (again.iterations, again.stationarity) == (0, 0.0)
    there = projector.project(robot.random(rng), near=second.q)
    assert there.q.tobytes() == second.q.tobytes()
    assert (there.success, there.iterations, there.restarts, there.stationarity) == (True, 0, 0, 0.0)
    reference = robot.random(rng)
    moved = projector.project(first.q, near=reference).or_raise()
    assert cost(problem, moved.q, reference) < cost(problem, first.q, reference)
    assert left_of_gradient(problem, moved.q, reference) <= 3e-8
    stays = projector.project(moved.q, near=reference)
    assert stays.q.tobytes() == moved.q.tobytes()
    assert stays.iterations == 0


def test_the_nearest_point_of_an_ellipse():
    """Against a dense search along the curve, from inside and outside; the reference may be any point."""
    axes = np.array([2.0, 1.0])
    f = Function.from_callable(lambda q: (q / axes) @ (q / axes) - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q / axes**2)
    projector = Projector(Problem(Rn(2), [Implicit.zero(f)]), NEAREST)
    angles = np.linspace(-np.pi, np.pi, 200001)
    curve = axes * np.stack((np.cos(angles), np.sin(angles)), 1)
    rng = np.random.default_rng(0)
    for q0 in rng.uniform(-3.0, 3.0, (20, 2)):
        result = projector.project(q0).or_raise()
        distances = np.linalg.norm(curve - q0, axis=1)
        minima = distances[(distances < np.roll(distances, 1)) & (distances < np.roll(distances, -1))]
        assert np.abs(minima - np.linalg.norm(result.q - q0)).min() <= 1e-8


def test_the_nearest_rotation_that_takes_one_axis_to_another():
    """Closed form: the shortest turn takes the axis along the great circle, by the angle between the two."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        axis, target = rng.standard_normal((2, 3))
        axis, target = axis / np.linalg.norm(axis), target / np.linalg.norm(target)

        def seen(q: np.ndarray, axis: np.ndarray = axis, target: np.ndarray = target) -> np.ndarray:
            u, w = q[:3], q[3]
            return axis + 2.0 * np.cross(u, np.cross(u, axis) + w * axis) - target

        q0 = SO3.random(rng)
        problem = Problem(SO3, [Implicit.zero(Function.from_callable(seen, SO3, Rn(3)))])
        result = Projector(problem, SHARP).project(q0).or_raise()
        angle = np.arccos(np.clip((seen(q0) + target) @ target, -1.0, 1.0))
        assert np.linalg.norm(SO3.difference(q0, result.q)) == pytest.approx(angle, abs=1e-7)


def test_costs_decide_and_no_cost_is_free():
    """x + y + z = 1 in closed form: moves are inverse to costs; what costs nothing pays for all."""
    plane = Implicit.zero(Affine([[1.0, 1.0, 1.0]], [-1.0]))
    for costs, expected in (
        ([1.0, 1.0, 1.0], [1 / 3] * 3),
        ([1.0, 2.0, 4.0], [4 / 7, 2 / 7, 1 / 7]),
        ([1.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
    ):
        result = Projector(Problem(Rn(3), [plane], weights=costs), NEAREST).project([0.0, 0.0, 0.0])
        np.testing.assert_allclose(result.q, expected, atol=1e-9)


def test_bounds_and_inequalities_are_pushed_against_and_let_go():
    """The nearest point of a box or a half-space cut by a plane, by hand; active ones end exactly there."""
    plane = Implicit.zero(Affine([[1.0, 1.0, 1.0]], [-3.0]))
    box = Bounds(Rn(3), np.full(3, -5.0), np.array([0.5, 5.0, 5.0]))
    result = Projector(Problem(Rn(3), [plane], box), SHARP).project([0.0, 0.0, 0.0])
    np.testing.assert_allclose(result.q, [0.5, 1.25, 1.25], atol=1e-10)
    assert result.active_bounds
    let_go = Projector(Problem(Rn(3), [plane], box), SHARP).project([0.5, 1.25, 1.25], near=[-1.0, 2.0, 3.0])
    np.testing.assert_allclose(let_go.q, np.array([-1.0, 2.0, 3.0]) - 1 / 3, atol=1e-10)
    low = Implicit.below(Affine([[0.0, 1.0, 0.0]], [0.0]), 0.2, name="low")
    result = Projector(Problem(Rn(3), [plane, low]), SHARP).project([0.0, 0.0, 0.0])
    np.testing.assert_allclose(result.q, [1.4, 0.2, 1.4], atol=1e-9)
    result = Projector(Problem(Rn(3), [plane, low]), SHARP).project([1.4, 0.2, 1.4], near=[2.0, -1.0, 2.0])
    np.testing.assert_allclose(result.q, [2.0, -1.0, 2.0], atol=1e-9)


def test_bounds_of_free_bodies_and_of_computed_dofs_hold():
    """What no step keeps within its bounds is an inequality of the refinement: y = 2x with y at most 1, x drawn up."""
    space = Rn(3)
    y, x = Segments.coordinates(space, [1]), Segments.coordinates(space, [0])
    double = Explicit(Affine([[2.0]], [0.0]), y, x, whole=space, name="y = 2x")
    plane = Implicit.zero(Affine([[1.0, 0.0, 1.0]], [-2.0], space))
    problem = Problem(space, [double, plane], Bounds(space, np.full(3, -9.0), np.array([9.0, 1.0, 9.0])))
    result = Projector(problem, SHARP).project([0.0, 0.0, 2.0], near=[3.0, 6.0, 0.0]).or_raise()
    np.testing.assert_allclose(result.q, [0.5, 1.0, 1.5], atol=1e-8)
    body = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)
    body = body.with_bounds({"root_joint": ([-1.0] * 3, [0.3, 1.0, 1.0])})
    height = Implicit.equal(Position(body, "body").restricted([2]), 0.4)
    q0 = body.neutral
    near = q0.copy()
    near[:3] = 0.8, 0.2, 0.0
    near[3:7] = SO3.exp(np.array([0.3, -0.5, 0.2]))
    result = Projector(Problem(body, [height]), SHARP).project(q0, near=near).or_raise()
    assert result.q[0] == pytest.approx(0.3, abs=1e-8)
    assert body.bounds.contains(result.q)


def test_explicit_and_implicit_have_the_same_nearest_solution():
    """Falling back to the twin changes nothing else: the distance counts computed dofs too."""
    scene = next(scene for scene in sample_scenes() if "carries a box" in scene.name)
    problem = scene.problem
    implicit = Problem(scene.robot, [o.twin if isinstance(o, Explicit) else o for o in problem.constraints])
    assert implicit.reduced_size > problem.reduced_size
    for q0 in scene.starts(5, 2):
        result = Projector(problem, NEAREST).project(q0)
        if result.success:
            other = Projector(implicit, NEAREST).project(result.q, near=q0).or_raise()
            assert np.abs(scene.robot.space.difference(result.q, other.q)).max() <= 1e-7


def test_redundant_rows_do_no_harm():
    robot = two_arms()
    hold = Implicit.zero(
        Transformation(robot, "left_tool", robot.at(robot.neutral).placement(robot.frame("left_tool")))
    )
    again = Implicit.zero(hold.function, name="again")
    rng = np.random.default_rng(3)
    q0 = robot.bounds.clip(robot.space.integrate(robot.neutral, 0.3 * rng.standard_normal(robot.nv)))
    once = Projector(Problem(robot, [hold]), NEAREST).project(q0).or_raise()
    twice = Projector(Problem(robot, [hold, again]), NEAREST).project(q0).or_raise()
    assert twice.stationarity == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_allclose(once.q, twice.q, atol=1e-7)


def test_redundant_rows_that_contradict_by_less_than_the_threshold():
    """As in closed chains whose dimensions are rounded: a rank that is one only to rounding, errors that stay."""
    robot = arm()
    hold = Implicit.equal(Position(robot, "tool"), [0.4, 0.2, 0.5])
    apart = Implicit.equal(hold.function, [0.4, 0.2, 0.5 + 3e-6], name="apart")
    tilted = Function.from_callable(lambda q: hold.function.value(q)[:1] + 1e-9 * q[:1], robot.space, Rn(1))
    problem = Problem(robot, [hold, apart, Implicit.equal(tilted, [0.4], name="tilted")])
    rng = np.random.default_rng(5)
    for _ in range(5):
        result = Projector(problem, NEAREST).project(robot.random(rng)).or_raise()
        assert result.stationarity == pytest.approx(0.0, abs=1e-8)
        assert 1e-6 <= result.residual <= 5e-6


def test_joints_that_turn_end_by_the_reference():
    """A joint that may turn is shifted by whole turns where that is nearer; never with wrap=False."""
    robot = ur5()
    robot = robot.with_bounds({name: (-2.0 * np.pi, 2.0 * np.pi) for name in robot.joint_names})
    q = np.array([0.4, -1.2, 1.7, -2.07, -1.57, 0.4])
    problem = Problem(robot, [Implicit.equal(Pose(robot, "tool0"), robot.at(q).placement(robot.frame("tool0")))])
    near = q.copy()
    near[0] -= 2.0 * np.pi
    near[5] = 7.0  # 0.4 and a turn is 6.68, outside
    turned = Projector(problem, NEAREST).project(q + 0.01, near=near + 0.01).or_raise()
    np.testing.assert_allclose(turned.q[0], q[0] - 2.0 * np.pi, atol=1e-4)
    np.testing.assert_allclose(turned.q[5], q[5], atol=1e-4)
    kept = Projector(problem, Options(nearest=True, wrap=False)).project(q + 0.01, near=near + 0.01).or_raise()
    np.testing.assert_allclose(kept.q[0], q[0], atol=1e-4)


def test_dofs_that_nothing_moves_are_those_of_the_reference():
    robot = humanoid()
    q = robot.neutral
    problem = Problem(robot, [Implicit.equal(Position(robot, "lleg6_joint"), [0.1, 0.2, 0.1])])
    near = robot.bounds.clip(robot.space.integrate(q, np.full(robot.nv, 0.1)))
    result = Projector(problem, NEAREST).project(q, near=near).or_raise()
    idle = robot.space.vector_q[~problem.columns[robot.space.vector_v]]
    assert idle.size
    assert result.q[idle].tobytes() == near[idle].tobytes()


def test_a_budget_that_ends_leaves_a_solution(problems):
    """The status stays CONVERGED; `stationarity` tells, and the iterations count."""
    problem, given = problems["talos"]
    greedy = Projector(problem).project(given[0]).or_raise()
    short = Projector(problem, Options(nearest=True, refine_iterations=3)).project(given[0]).or_raise()
    whole = Projector(problem, NEAREST).project(given[0]).or_raise()
    assert short.stationarity is not None
    assert whole.stationarity is not None
    assert short.stationarity > 1e-8 >= whole.stationarity
    assert greedy.iterations < short.iterations < whole.iterations
    assert cost(problem, whole.q, given[0]) <= cost(problem, short.q, given[0]) <= cost(problem, greedy.q, given[0])
    assert "stationarity" in str(whole)
    traced = Projector(problem, Options(nearest=True, trace=True)).project(given[0]).or_raise()
    assert traced.trace is not None
    assert traced.trace[-1].q.tobytes() == traced.q.tobytes()


# The optional last level


def lowered(problem: Problem, q: np.ndarray) -> float:
    """By which part SLSQP over tangent steps lowers the squared error of the last level; 0 where it misses the rest."""
    space, last = problem.space, problem.levels[-1].size
    above = sum(level.size for level in problem.levels[:-1])
    memory: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def rows(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if v.tobytes() not in memory:
            memory.clear()
            found = problem.rows(space.integrate(q, v))
            memory[v.tobytes()] = found.error, found.jacobian @ space.integrate_dv(q, v)
        return memory[v.tobytes()]

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        e, J = (part[above : above + last] for part in rows(v))
        return float(e @ e), 2.0 * e @ J

    x = np.zeros(space.nv)
    x[space.vector_v] = q[space.vector_q]
    lower, upper = problem.bounds.tangent_lower - x, problem.bounds.tangent_upper - x
    limits = optimize.Bounds(np.where(np.isfinite(lower), lower, -3.0), np.where(np.isfinite(upper), upper, 3.0))
    held: Any = {"type": "eq", "fun": lambda v: rows(v)[0][:above], "jac": lambda v: rows(v)[1][:above]}
    found: Any = optimize.minimize(
        objective, np.zeros(space.nv), jac=True, bounds=limits, constraints=[held], method="SLSQP",
        options={"maxiter": 60, "ftol": 1e-12},
    )  # fmt: skip
    before, after = objective(np.zeros(space.nv))[0], objective(found.x)[0]
    if np.abs(rows(found.x)[0][:above]).max() > 1e-6 or before < 1e-12:
        return 0.0
    return 1.0 - after / before


@functools.cache
def optional_problems() -> dict[str, tuple[Problem, list[np.ndarray]]]:
    robot, small = talos(), panda()
    q, rng = standing(robot), np.random.default_rng(0)
    far = Implicit.equal(Position(robot, "head_2_joint"), [3.0, 0.0, 3.0], name="gaze")
    hand = Implicit.equal(Position(small, "panda_joint7"), [0.4, 0.2, 0.5])
    elbow = Implicit.equal(Position(small, "panda_joint5"), [2.0, 0.0, 0.0], name="elbow")
    turn = Implicit.equal(Orientation(small, "panda_joint7"), [0.3, 2.5, 0.2], name="turn")
    above = [feet(robot, q), [balance(robot, q)]]
    return {
        "feet, balance, gaze": (Problem(robot, [*above, [far]], optional_last=True), starts(robot, q, 3)),
        "feet, gaze": (Problem(robot, [above[0], [far]], optional_last=True), starts(robot, q, 4)),
        "hand, elbow": (Problem(small, [[hand], [elbow]], optional_last=True), [small.random(rng) for _ in range(12)]),
        "hand, turn": (Problem(small, [[hand], [turn]], optional_last=True), [small.random(rng) for _ in range(12)]),
    }


@pytest.mark.parametrize("name", ["feet, balance, gaze", "feet, gaze", "hand, elbow", "hand, turn"])
def test_slsqp_finds_nothing_to_gain_in_the_last_level(name):
    """Property 16: the last level is within 5 % of what SLSQP reaches from there; levels above and bounds hold."""
    problem, given = optional_problems()[name]
    greedy, best = Projector(problem), Projector(problem, Options(optimise_last=True))
    last = problem.levels[-1].owners[0]
    for q0 in given:
        before, after = greedy.project(q0), best.project(q0)
        assert before.status is after.status
        if not after.success:
            continue
        assert np.linalg.norm(after.error(last)) <= np.linalg.norm(before.error(last))
        assert problem.is_satisfied(after.q)
        assert problem.bounds.contains(after.q)
        assert lowered(problem, after.q) <= 0.05
        assert "yet" not in str(after)
        again = best.project(after.q)
        assert again.q.tobytes() == after.q.tobytes()
    short = Projector(problem, Options(optimise_last=True, refine_iterations=1)).project(given[0])
    assert short.success
    assert ", not at its least yet: all 1 `refine_iterations` used)" in str(short)


def test_the_last_level_at_its_least_in_closed_form():
    """x + y = 1 before (x, y) = (2, 3): (0, 1); with x at least 0.4: (0.4, 0.6)."""
    line = Implicit.zero(Affine([[1.0, 1.0]], [-1.0]))
    wish = Implicit.zero(Affine(np.eye(2), [-2.0, -3.0]), name="wish")
    options = Options(optimise_last=True, refine_gain=0.0, threshold=1e-9)
    problem = Problem(Rn(2), [[line], [wish]], optional_last=True)
    np.testing.assert_allclose(Projector(problem, options).project([5.0, 5.0]).q, [0.0, 1.0], atol=1e-7)
    box = Bounds(Rn(2), np.array([0.4, -9.0]), np.array([9.0, 9.0]))
    problem = Problem(Rn(2), [[line], [wish]], box, optional_last=True)
    np.testing.assert_allclose(Projector(problem, options).project([5.0, 5.0]).q, [0.4, 0.6], atol=1e-7)


def test_joints_that_the_levels_do_not_touch_stay_bit_for_bit():
    """Property 10, with the last level optimised."""
    robot = two_arms()
    reach = Implicit.equal(Position(robot, "left_tool").restricted([2]), 0.9)
    wish = Implicit.equal(Position(robot, "left_tool").restricted([0, 1]), [2.0, 2.0])
    problem = Problem(robot, [[reach], [wish]], optional_last=True)
    rng = np.random.default_rng(0)
    untouched = robot.space.vector_q[~problem.columns[robot.space.vector_v]]
    assert untouched.size
    for _ in range(5):
        q0 = robot.random(rng)
        result = Projector(problem, Options.local(optimise_last=True)).project(q0)
        assert result.q[untouched].tobytes() == q0[untouched].tobytes()


# What is refused


def test_options_that_do_not_go_together_are_refused():
    robot = arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.2, 0.5])])
    with pytest.raises(OptionError, match="'nearest' and 'optimise_last' cannot be used together: choose one"):
        Options(nearest=True, optimise_last=True)
    with pytest.raises(OptionError, match="optional_last"):
        Projector(problem, Options(optimise_last=True))
    with pytest.raises(OptionError, match="nearest=True"):
        Projector(problem).project(robot.neutral, near=robot.neutral)
    with pytest.raises(OptionError, match="nearest=True"):
        Projector(problem).project_batch([robot.neutral], near=robot.neutral)
    with pytest.raises(SizeError, match="near"):
        Projector(problem, NEAREST).project(robot.neutral, near=[0.0])
    wrong: list[dict[str, Any]] = [{"refine_iterations": -1}, {"refine_tolerance": 0.0}, {"nearest": 1}]
    for bad in [*wrong, {"refine_gain": -1.0}]:
        with pytest.raises(OptionError, match=next(iter(bad))):
            Options(**bad)
    assert Options.local(nearest=True).nearest


def test_nothing_is_refined_without_being_asked():
    robot = arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.2, 0.5])])
    result = Projector(problem).project(robot.neutral)
    assert result.refined is None
    assert result.stationarity is None
    assert result.status is Status.CONVERGED


def test_references_in_results_are_read_only_and_not_the_callers():
    """A result is a value: what it was near to can be changed by nobody."""
    circle = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: (2.0 * q)[None], name="circle")
    projector = Projector(Problem(Rn(2), [Implicit.zero(circle)]), NEAREST)
    near = np.array([0.0, 3.0])
    batch = projector.project_batch([[3.0, 4.0], [2.0, 1.0]], near=[near, near])
    for result in (projector.project([3.0, 4.0], near=near), *batch, *projector.project_batch([[3.0, 4.0]], near=near)):
        np.testing.assert_allclose(result.q, [0.0, 1.0], atol=1e-6)
        assert result.refined is not None
        for reference in (result.near, result.refined.near):
            assert reference is not None
            assert not reference.flags.writeable
            assert not np.shares_memory(reference, near)


@pytest.mark.parametrize("seed", range(6))
def test_a_gradient_whose_terms_cancel_is_no_gradient_left(seed: int) -> None:
    """A dof without cost takes up the row, so the least distance is a weighted mean: closed form, in few steps."""
    rng = np.random.default_rng(seed)
    space, weights, near, c = Rn(4), np.array([1.3, 0.0, 0.4, 2.7]), rng.normal(size=4), rng.normal()
    row = Function.from_callable(
        lambda q: [np.sin(q[0]) + q[1] ** 3 + q[1] + 0.3 * q[2] ** 2],
        space,
        Rn(1),
        lambda q: [[np.cos(q[0]), 3.0 * q[1] ** 2 + 1.0, 0.6 * q[2], 0.0]],
    )
    follows = Explicit(Affine([[0.7, 0.0, 0.0, 0.0]], [0.2], space), Segments.coordinates(space, [3]))
    problem = Problem(space, [Implicit.equal(row, [c]), follows], weights=weights)
    result = Projector(problem, NEAREST).project(rng.normal(size=4), near=near)
    mean = (weights[0] * near[0] + 0.7 * weights[3] * (near[3] - 0.2)) / (weights[0] + 0.49 * weights[3])
    assert result.success
    assert result.stationarity == pytest.approx(0.0, abs=1e-8)
    assert result.iterations < 60
    np.testing.assert_allclose(result.q[[0, 2]], [mean, near[2]], atol=1e-8)


@draws(12, 40)
@pytest.mark.parametrize("links", [4, 5])
def test_a_row_that_the_solution_leans_on_is_kept_while_curved_rows_are_restored(links: int, count: int) -> None:
    """Planar arms with one joint held up by an inequality: multipliers from least squares, on closed-form Jacobians."""
    leaning = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        space, lengths = Rn(links), rng.uniform(0.3, 0.7, links)

        def tip(q: np.ndarray, lengths: np.ndarray = lengths) -> np.ndarray:
            angles = np.cumsum(q)
            return np.array([lengths @ np.cos(angles), lengths @ np.sin(angles)])

        def slope(q: np.ndarray, lengths: np.ndarray = lengths) -> np.ndarray:
            angles = np.cumsum(q)
            both = np.array([-lengths * np.sin(angles), lengths * np.cos(angles)])
            return np.cumsum(both[:, ::-1], axis=1)[:, ::-1]

        reached, near = rng.uniform(-1.5, 1.5, links), rng.uniform(-2.0, 2.0, links)
        least = reached[0] - 0.1
        rows = [
            Implicit.equal(Function.from_callable(tip, space, Rn(2), slope), tip(reached)),
            Implicit.above(Affine(np.eye(1, links), [0.0], space), least),
        ]
        result = Projector(Problem(space, rows), NEAREST).project(rng.uniform(-2.0, 2.0, links), near=near)
        if not result.success:
            continue
        normals = slope(result.q)
        if result.q[0] <= least + 1e-8:
            normals, leaning = np.vstack((normals, np.eye(1, links))), leaning + 1
        multipliers = np.linalg.lstsq(normals.T, result.q - near, rcond=None)[0]
        left = result.q - near - multipliers @ normals
        assert np.sqrt(left @ left) <= 1e-7 * np.linalg.norm(result.q - near), seed
        assert len(normals) == 2 or multipliers[2] >= -1e-8, seed
    assert leaning > count / 4


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_a_jacobian_that_is_not_finite_is_a_status_and_no_exception(broken: float) -> None:
    """The solution of the steps is kept, and says that it was not refined."""
    slope = {"here": 1.0}
    row = Function.from_callable(lambda q: [q[0]], Rn(2), Rn(1), lambda q: [[slope["here"], 0.0]], name="row")
    projector = Projector(Problem(Rn(2), [Implicit.zero(row)]), NEAREST)
    slope["here"] = broken
    result = projector.project([3e-5, 1.0], near=[2.0, 2.0])
    assert result.success
    np.testing.assert_array_equal(result.q, [3e-5, 1.0])
    assert result.stationarity == np.inf


def test_dofs_that_no_row_moves_are_nearest_too() -> None:
    """A reference beyond a bound ends at the bound, a whole turn being farther; closed forms by coordinate."""
    robot = arm()
    lower, upper = np.full(7, -np.pi), np.full(7, np.pi)
    lower[4] = -np.inf
    problem = Problem(
        robot, [Implicit.equal(Affine(np.eye(1, 7), [0.0], robot.space), [0.2])], Bounds(robot.space, lower, upper)
    )
    near = np.array([0.9, 3.4, -3.4, 1.0, 3.9, 3.0, -3.0])
    result = Projector(problem, NEAREST).project(np.zeros(7), near=near)
    np.testing.assert_allclose(result.q, [0.2, np.pi, -np.pi, 1.0, np.pi, 3.0, -3.0], atol=1e-9)
    greedy = Projector(problem).project(np.zeros(7))
    assert cost(problem, result.q, near) <= cost(problem, greedy.q, near)


def test_rotations_and_poses_that_no_row_moves_rest_at_the_reference() -> None:
    """One axis without cost leaves the others theirs; a bounded pose has the nearest position: central differences."""
    space = Rn(1) * SO3 * SE3
    rng = np.random.default_rng(3)
    near, start = space.random(rng), space.random(rng)
    row = [Implicit.equal(Affine(np.eye(1)).on(space, Segments.coordinates(space, [0])), [0.3])]
    weights = np.array([1.0, 0.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 0.0, 1.0])
    free = Projector(Problem(space, row, weights=weights), NEAREST).project(start, near=near)
    np.testing.assert_allclose(free.q[1:], near[1:], atol=1e-12)
    lower, upper = np.full(space.nq, -np.inf), np.full(space.nq, np.inf)
    upper[5] = near[5] - 0.4
    start[5] = upper[5] - 0.1
    weights[8] = 0.5
    problem = Problem(space, row, Bounds(space, lower, upper), weights=weights)
    held = Projector(problem, NEAREST).project(start, near=near)
    assert held.success
    assert held.stationarity == pytest.approx(0.0, abs=1e-8)
    assert upper[5] - 2e-9 <= held.q[5] <= upper[5]
    g = slope_of_distance(problem, held.q, near)
    pushing = np.zeros(space.nv)  # the gradient of the bounded coordinate: the world's x axis in the body's frame
    pushing[4:7] = pin.XYZQUATToSE3(held.q[5:]).rotation[0]
    multiplier = g @ pushing / (pushing @ pushing)
    assert multiplier < 0.0
    np.testing.assert_allclose(g[1:], multiplier * pushing[1:], atol=1e-7)


def test_the_last_level_turns_joints_past_a_bound_that_is_no_end():
    """A joint whose range is a full turn leaves it at -pi towards a target at pi - 0.2; with `wrap=False` it stays."""
    model: Any = pin.Model()
    for name, joint, low, up in (("arm", pin.JointModelRZ(), -np.pi, np.pi), ("lift", pin.JointModelPZ(), -1.0, 1.0)):
        i = model.addJoint(0, joint, pin.SE3.Identity(), name, *(np.full(1, x) for x in (9.0, 9.0, low, up)))
        place = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
        model.addFrame(pin.Frame(f"{name} end", i, 0, place, pin.FrameType.OP_FRAME))
    robot = Robot(model)
    there = np.pi - 0.2
    held = Implicit.equal(Position(robot, "lift end"), [1.0, 0.0, 0.4])
    wish = Implicit.equal(Position(robot, "arm end"), [2.0 * np.cos(there), 2.0 * np.sin(there), 0.0])
    problem = Problem(robot, [[held], [wish]], optional_last=True)
    start = np.array([0.3 - np.pi, 0.4])
    result = Projector(problem, Options(optimise_last=True)).project(start)
    assert result.success
    np.testing.assert_allclose(result.q, [there, 0.4], rtol=0, atol=1e-3)
    kept = Projector(problem, Options(optimise_last=True, wrap=False)).project(start)
    np.testing.assert_allclose(kept.q, [-np.pi, 0.4], rtol=0, atol=1e-6)


def test_a_reference_without_a_value_is_no_solution():
    """Where a function has no value at `near` the projection goes on: never an exception."""
    space = Rn(2)

    def root(q: np.ndarray) -> np.ndarray:
        if q[0] < 0.0:
            raise UndefinedError("the root of a negative number is not real")
        return np.sqrt(q[:1])

    f = Function.from_callable(root, space, Rn(1), lambda q: np.array([[0.5 / np.sqrt(q[0]), 0.0]]))
    projector = Projector(Problem(space, [Implicit.equal(f, [2.0])]), Options(nearest=True))
    result = projector.project([1.0, 1.0], near=[-1.0, 3.0])
    assert result.success
    np.testing.assert_allclose(result.q, [4.0, 3.0], rtol=0, atol=1e-3)
    assert projector.project_batch([[1.0, 1.0]], near=[[-1.0, 3.0]]).q[0].tobytes() == result.q.tobytes()
