"""Local loops as explicit constraints: found, made, chained, refused; on their branch; nothing lost."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from chained_loops import closures, robot, start
from closed_mechanisms import closed_mechanism
from each_choice import a_few, draws
from models.test_mechanism_files import closed, path_of

from constraints import (
    Bounds,
    ConstraintError,
    Explicit,
    Function,
    Implicit,
    Options,
    Pose,
    Problem,
    Projector,
    Status,
    Target,
    errors,
)
from constraints.loops import (
    AssemblyOptions,
    Closure,
    ConstraintSet,
    Hinge,
    OpenMechanismError,
    PointClosure,
    PointContact,
    RodClosure,
    assemble_position,
)
from constraints.manipulation import ConstraintGraph, State, Transition
from constraints.models import Mechanism, load, mechanisms
from constraints.point import place
from constraints.reduced import LoopFunction, PlanarLoop, explicit_loops
from constraints.rows.explicit_forms import linear_coupling
from constraints.solvers import why_not
from constraints.testing import check_function
from constraints.workspace import Workspace
from liegroups import SO3, Rn

BY_NEWTON = ("slider_crank", "bennett", "scissor_lift", "delta_robot", "stewart_platform")
FILES = ("5bar_linkage_iso3d", "cassie_like", "digit_like_2legs", "talos_like", "cassie_sdf")


def tight(threshold: float = 1e-12) -> Options:
    return Options.local(threshold=threshold, max_iterations=100, patience_count=20)


def made(name: str) -> tuple[Mechanism, np.ndarray]:
    """A built-in mechanism, or one of a file, with a closed configuration."""
    mechanism, q = closed_mechanism(name)
    if name == "cassie_mjcf":  # where Cassie stands; the table's posture is on another branch
        tight, home = AssemblyOptions(tolerance=1e-12), mechanism.postures["home"]
        q = assemble_position(mechanism.constraint_set(), home, options=tight).q
    return mechanism, np.array(q)


# Case 20.


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("explicit", ["first", "both in a chain", "both at once"])
def test_chained_loops_end_where_the_implicit_ones_do(explicit: str, seed: int) -> None:
    """Case 20: explicit four-bar, second loop on its output, 6D grasp: as all-implicit to 1e-9, fewer unknowns."""
    first, second, grasp = closures()
    r, free = robot(), Bounds.none(robot().space)
    goal = Projector(Problem(r, [first, second, grasp], free), tight()).project(start(seed)).or_raise().q
    away = goal + 0.02 * np.random.default_rng(seed).standard_normal(r.nq)
    away[0] = goal[0]  # with the crank held, both have one solution nearby
    reference = Projector(Problem(r, [first, second], free, frozen=["crank"]), tight()).project(away).or_raise().q
    one = explicit_loops(ConstraintSet(r, [first]), reference, preferred=["crank"])
    loops: list[Any] = {
        "first": [*one.explicits, second],
        "both in a chain": [
            *explicit_loops(ConstraintSet(r, [second]), reference, preferred=["rocker"]).explicits,
            *one.explicits,
        ],
        "both at once": [*explicit_loops(ConstraintSet(r, [first, second]), reference, preferred=["crank"]).explicits],
    }[explicit]
    mixed = Problem(r, [*loops, grasp], free, frozen=["crank"])
    whole = Problem(r, [first, second, grasp], free, frozen=["crank"])
    generations = [len(generation) for generation in mixed.resolution.generations]
    assert generations == {"first": [1], "both in a chain": [1, 1], "both at once": [1]}[explicit]
    saved = 2 if explicit == "first" else 4
    assert int(mixed.free.sum()) == int(whole.free.sum()) - saved
    assert mixed.reduced_size < whole.reduced_size
    ends = [Projector(problem, tight()).project(away).or_raise().q for problem in (mixed, whole)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9
    assert whole.residual(ends[0]) < 1e-11


def test_loops_in_a_circle_are_refused_by_their_cycle() -> None:
    """Case 20: a coupling that drives the crank by the rocker leaves the loop implicit, and the cycle is named."""
    linkage = mechanisms.four_bar()
    r, q = linkage.robot, linkage.postures["closed"]
    back = linear_coupling(r, "crank", {"rocker": 0.5}, float(q[0] - 0.5 * q[2]), name="back drive")
    loops = explicit_loops(ConstraintSet(r, [*linkage.closures, back]), q)
    assert not loops.loops
    reasons = {kept.constraints[0].name: kept.reason for kept in loops.implicit}
    assert "it closes a cycle" in reasons["coupler_end to rocker_end"]
    assert "'back drive' -[crank]-> 'coupler_end to rocker_end'" in reasons["coupler_end to rocker_end"]
    assert "it closes a cycle" in loops.describe()
    (loop,) = linkage.explicit_loops(q).loops
    problem = Problem(r, [loop.explicit, back])  # the first given stays explicit
    assert [e.name for e in problem.explicits] == ["coupler_end to rocker_end"]
    assert "cycle" in problem.resolution.refused[0].reason
    both = Problem(r, [back, loop.explicit], Bounds.none(r.space))  # and the loop that is not has the rows it had
    assert both.reduced_size == linkage.rows
    assert both.residual(q) < 1e-12


# The functions.


@pytest.mark.parametrize("name", a_few([*BY_NEWTON, *FILES, "cassie_mjcf"], 5))
def test_laws_of_loops_by_newton(name: str) -> None:
    """Value, Jacobian B and drift by differences, purity, pickling; the rows close, with balls and free joints too."""
    mechanism, q = made(name)
    rng = np.random.default_rng(0)
    loops = mechanism.explicit_loops(q).loops
    assert loops
    seen = 0
    for loop in loops:
        f = loop.function
        if not isinstance(f, LoopFunction):
            continue
        seen += 1
        near: list[np.ndarray] = []
        while len(near) < 3:
            x = f.inputs.integrate(q[loop.inputs.q_indices], 0.03 * rng.standard_normal(f.inputs.nv))
            try:
                f.value(x)
            except errors.UndefinedError:
                continue
            near.append(x)
        check_function(f, near, tolerance=1e-5)
        for x in near:
            there = q.copy()
            there[loop.inputs.q_indices] = x
            there[loop.outputs.q_indices] = f.value(x)
            for closure in loop.closures:
                assert np.linalg.norm(closure.error_at(mechanism.robot.at(there))) < 2e-9  # as the file has decimals
    assert seen


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett", "cassie_mjcf", "robotiq_2f85"])
def test_rows_of_all_orders_are_those_of_the_closures(name: str) -> None:
    """Velocities and accelerations that the explicit map gives satisfy the closures, exactly."""
    mechanism, q = made(name)
    r, rng = mechanism.robot, np.random.default_rng(1)
    for loop in mechanism.explicit_loops(q).loops:
        rows, twins = (ConstraintSet(r, owners) for owners in (loop.closures, [loop.explicit]))
        f, x = loop.function, q[loop.inputs.q_indices]
        v, a = np.zeros(r.nv), np.zeros(r.nv)
        v[loop.inputs.v_indices], a[loop.inputs.v_indices] = rng.standard_normal((2, f.inputs.nv))
        B = f.jacobian(x)
        u, du = v[loop.inputs.v_indices], a[loop.inputs.v_indices]
        v[loop.outputs.v_indices] = B @ u
        a[loop.outputs.v_indices] = B @ du + f.drift_at(x, u)
        assert f.has_exact_drift
        assert np.abs(rows.velocity_error(q, v)).max() < 1e-11
        assert np.abs(rows.jacobian(q) @ a + rows.drift(q, v)).max() < 1e-10
        np.testing.assert_allclose(twins.drift(q, v), rows.drift(q, v), atol=1e-12)
        np.testing.assert_allclose(twins.jacobian(q), rows.jacobian(q), atol=1e-13)


def by_newton(name: str = "four_bar", **lengths: float) -> tuple[LoopFunction, PlanarLoop]:
    """A planar loop by Newton, and in closed form."""
    linkage = getattr(mechanisms, name)(**lengths)
    (loop,) = linkage.explicit_loops(linkage.postures["closed"]).loops
    closed_form = loop.function
    assert isinstance(closed_form, PlanarLoop)
    from constraints.reduced.explicit_loops.local_loops import LocalLoop, loops_in
    from constraints.reduced.explicit_loops.loop_choice import choose

    cut = LocalLoop(linkage.robot, loops_in(linkage.constraint_set())[0])
    q = linkage.postures["closed"]
    choice = choose(cut, cut.at(cut.robot.at(q))[1].copy(), linkage.motors, (), ())
    return LoopFunction(cut, choice, q), closed_form


@draws(13, 73)
def test_far_steps_stay_on_the_branch(count: int) -> None:
    """Newton against the closed form, a turn and a half away in one call; three shapes, one that is nearly flat."""
    for shape in ({}, {"ground": 0.1, "crank": 0.04, "coupler": 0.12, "rocker": 0.08}, {"crank": 0.2499}):
        newton, closed_form = by_newton("four_bar", **shape)
        for angle in np.linspace(-9.0, 9.0, count):
            np.testing.assert_allclose(newton.value([angle]), closed_form.value([angle]), atol=1e-9)


def trusted(newton: LoopFunction, closed: Any, way: np.ndarray) -> tuple[bool, float]:
    """Whether a step may be taken by the rules of the page, and how near it is to breaking one, as a ratio."""
    loop, choice = newton.loop, newton.choice
    u, v = choice.inputs.v_indices, choice.outputs.v_indices
    move = closed.slope @ way
    length, near = np.abs(move).max(), 1.0
    q = closed.q.copy()
    q[u], q[v] = q[u] + way, q[v] + move
    limit, settled = 0.3 * length + 0.05, False
    near = abs(np.log(length / 1.0))
    if length > 1.0:
        return False, near
    for _ in range(9):
        error, J = loop.at(loop.robot.at(q))
        rows = closed.rows
        if np.sign(np.linalg.det(J[np.ix_(rows, v)])) != closed.sign:
            return False, near
        correction = -np.linalg.solve(J[np.ix_(rows, v)], error[rows])
        size = np.abs(correction).max()
        if not settled:
            near = min(near, abs(np.log(size / limit)) if size > 1e-9 else near)
            if size > limit:
                return False, near
        q[v] += correction
        if settled or size <= 1e-12:
            break
        settled, limit = size <= 1e-9, 0.5 * size
    else:
        return False, near
    _, J = loop.at(loop.robot.at(q))
    turned = -np.linalg.solve(J[np.ix_(rows, v)], J[np.ix_(rows, u)]) @ way
    bend, most = np.abs(turned - move).max(), max(0.5 * max(length, np.abs(turned).max()), 0.05)
    return bool(bend <= most), min(near, abs(np.log(bend / most)))


def test_steps_are_trusted_by_the_rules_of_the_page() -> None:
    """The first correction, how fast they shrink, the change of slope and the length, against the same by numpy."""
    said = []
    for shape in ({}, {"crank": 0.2499}, {"ground": 0.1, "crank": 0.04, "coupler": 0.12, "rocker": 0.08}):
        newton, _ = by_newton("four_bar", **shape)
        for angle in np.linspace(-2.5, 2.5, 6):
            closed = newton._continued(place(newton.inputs, np.array([angle]), Workspace()))
            for way in (*np.linspace(-2.0, 2.0, 16), -0.03, 0.03):
                expected, near = trusted(newton, closed, np.array([way]))
                if near < 1e-3:  # the edge of a rule
                    continue
                posture = newton.loop.robot.at(newton.reference)
                found = newton._stepped(closed, np.array([way]), np.array([angle + way]), posture)
                assert (found is not None) == expected
                said.append(expected)
    assert 30 < sum(said) < len(said) - 30


def test_a_loop_of_any_size_has_the_same_angles() -> None:
    """A tenth of a micrometre, or a kilometre: rows are small or large, angles are angles; flat it has no reference."""
    shape = {"ground": 0.4, "crank": 0.15, "coupler": 0.35, "rocker": 0.3}
    usual = by_newton("four_bar", **shape)[0].value([2.0])
    for size in (1e-7, 1e4):
        newton = by_newton("four_bar", **{bar: size * length for bar, length in shape.items()})[0]
        np.testing.assert_allclose(newton.value([2.0]), usual, atol=1e-9)
    newton = by_newton("four_bar", ground=0.4, crank=0.2, coupler=0.4, rocker=0.2)[0]
    with pytest.raises(errors.UndefinedError, match="the reference is a dead point"):
        replace(newton, reference=np.zeros(3))


@draws(50, 300)
def test_where_the_closed_form_has_no_value_newton_has_none(count: int) -> None:
    """A five-bar driven at both pivots, all over its inputs: a value is that of the branch, or it is undefined.

    Where the way from the reference leaves the workspace Newton has no value, and the closed form may have one again
    behind it.
    """
    newton, closed_form = by_newton("five_bar")
    rng, found, undefined = np.random.default_rng(2), 0, 0
    for u in np.array([2.2, 0.9]) + rng.uniform(-3.0, 3.0, (count, 2)):
        try:
            value = newton.value(u)
        except errors.UndefinedError:
            undefined += 1
            continue
        found += 1
        there = closed_form.value(u)
        apart = value - there
        assert np.abs(apart - 2 * pi * np.round(apart / (2 * pi))).max() < 1e-8
    assert found > count / 3
    assert undefined > count / 10


def test_a_dead_point_is_undefined_and_says_so() -> None:
    """A rocker driven beyond its dead point: Newton and the closed form have no value, a projection ends UNDEFINED."""
    linkage = mechanisms.four_bar(0.1, 0.04, 0.12, 0.08, angle=np.radians(40.0))
    loops = explicit_loops(linkage.constraint_set(), linkage.postures["closed"], preferred=["rocker"])
    with pytest.raises(errors.UndefinedError, match="dead point"):
        loops.loops[0].function.value([np.radians(54.89)])
    slider = mechanisms.slider_crank()
    q = slider.postures["closed"]
    driven = explicit_loops(slider.constraint_set(), q, preferred=["slider"]).loops[0]
    far = q[slider.robot.slice_of("slider")] + 10.0
    with pytest.raises(errors.UndefinedError, match="dead point, or cannot close"):
        driven.function.value(far)
    beyond = linkage.robot.configuration({"rocker": 0.5}, start=linkage.postures["closed"])
    done = Projector(loops.problem(frozen=["rocker"]), Options.local()).project(beyond)
    assert done.status is Status.UNDEFINED


def test_a_value_depends_on_nothing_else() -> None:
    """The same bits in any order, in any thread, in a workspace that was used for other things."""
    for f in (*by_newton(), made_loop("cassie_mjcf", "left-achilles-rod")):
        rng = np.random.default_rng(3)
        start_at = f.inputs.neutral if isinstance(f, PlanarLoop) else f.reference[f.choice.inputs.q_indices]
        X = [start_at + 0.3 * rng.standard_normal(f.inputs.nq) for _ in range(24)]
        first = [f.linearise(x) for x in X]
        with ThreadPoolExecutor(4) as threads:
            again = list(threads.map(f.linearise, reversed(X)))[::-1]
        for a, b in zip(first, again, strict=True):
            assert a.value.tobytes() == b.value.tobytes()
            assert a.jacobian.tobytes() == b.jacobian.tobytes()


def made_loop(name: str, dependent: str) -> Any:
    mechanism, q = made(name)
    return next(loop.function for loop in mechanism.explicit_loops(q).loops if dependent in loop.dependent)


# Balls.


def other_branches() -> dict[str, tuple[Problem, ConstraintSet, np.ndarray, np.ndarray]]:
    """Problems of one explicit loop, with a closed configuration on its branch, and one of the same inputs on another.

    In closed form, the branch chosen by name; and by Newton, whose reference is the slider in front of the crank.
    """
    bars = mechanisms.four_bar()
    q = np.array(bars.postures["closed"])
    loops = bars.explicit_loops(q, elbows={"coupler_end to rocker_end": "crossed"})
    own = q.copy()
    own[loops.loops[0].outputs.q_indices] = loops.loops[0].function.value(q[loops.loops[0].inputs.q_indices])
    slider, front = made("slider_crank")
    back = slider.robot.configuration({"slider": [-0.3], "rod": [front[1] + pi, -front[2]]}, start=front)
    behind = (
        assemble_position(slider.constraint_set(), back, driven=["crank"], options=AssemblyOptions(tolerance=1e-12))
        .or_raise()
        .q
    )
    return {
        "closed form": (loops.problem(), bars.constraint_set(), own, q),
        "Newton": (slider.explicit_loops(front).problem(), slider.constraint_set(), front, behind),
    }


@pytest.mark.parametrize("how", ["closed form", "Newton"])
def test_a_closed_start_on_another_branch_is_no_solution(how: str) -> None:
    """Closing equations have several branches, the loop has one: there it is satisfied, and there a projection ends."""
    problem, rows, own, other = other_branches()[how]
    space = rows.robot.space
    (loop,) = problem.explicits
    inputs = ~problem.resolution.outputs
    for q in (own, other):
        assert np.abs(rows.position_error(q)).max() < 1e-9
    apart = space.difference(own, other)
    assert np.abs(apart[inputs]).max() < 1e-12
    assert np.abs(apart).max() > 0.3
    for projector in (Projector(problem), Projector(problem, Options(nearest=True)), Projector(problem, tight(1e-9))):
        for q, is_on in ((own, True), (other, False)):
            assert problem.is_satisfied(q) is is_on
            assert problem.is_satisfied(q, loop) is is_on
            assert projector.is_satisfied(q) is is_on
            assert projector.is_satisfied(q, loop.name) is is_on
            assert (problem.residual(q) < 1e-9) is is_on
            assert projector.residual(q) == problem.residual(q)
        kept, moved = projector.project(own), projector.project(other).or_raise()
        assert kept.q.tobytes() == own.tobytes()
        assert problem.is_satisfied(moved.q)
        left = space.difference(own, moved.q)
        if projector.options.nearest:  # which may move the inputs too
            continue
        np.testing.assert_allclose(left - 2.0 * pi * np.round(left / (2.0 * pi)), 0.0, atol=1e-7)
        np.testing.assert_array_equal(projector.project_batch(np.array([own, other])).q, [kept.q, moved.q])


@pytest.mark.parametrize("how", ["closed form", "Newton"])
@pytest.mark.parametrize("everywhere", [False, True])
def test_a_state_of_a_graph_is_on_the_branch_of_its_loop(how: str, everywhere: bool) -> None:
    """What `problem_of(state)` does not take for a solution is not in the state, and no target starts there."""
    problem, rows, own, other = other_branches()[how]
    (loop,) = problem.explicits
    closed = State("closed", [] if everywhere else [loop])
    go = Transition("go", closed, closed, closed)
    graph = ConstraintGraph(rows.robot, [closed], [go], constraints=[loop] if everywhere else [])
    assert graph.problem_of("closed").is_satisfied(own)
    assert not graph.problem_of("closed").is_satisfied(other)
    assert graph.contains("closed", own)
    assert not graph.contains("closed", other)
    assert graph.state_of(own) is closed
    with pytest.raises(errors.GraphError, match=f"nearest is 'closed': '{loop.name}' is off by"):
        graph.state_of(other)
    with pytest.raises(errors.GraphError, match=f"not in the state 'closed': '{loop.name}' is off by"):
        graph.target("go", other, own)
    assert graph.errors(own).states["closed"][loop.name] < 1e-9
    assert graph.errors(other).states["closed"][loop.name] > 0.1
    found = graph.target("go", own, other)
    assert found.success
    assert graph.contains("closed", found.q)


@pytest.mark.parametrize("how", ["closed form", "Newton"])
def test_small_errors_on_the_branch_count_as_in_the_closures(how: str) -> None:
    """On the branch the rows of the closures alone decide, also just below and above the threshold."""
    problem, _, own, _ = other_branches()[how]
    rng, outputs = np.random.default_rng(0), problem.resolution.outputs
    (loop,) = problem.explicits
    for step in rng.standard_normal((20, outputs.size)) * outputs:
        for part in (0.98, 1.02):
            q, size = own, part * 1e-4
            for _ in range(3):  # so far along the step that the error of the closures is of that size
                far = problem.space.integrate(own, 1e-6 * step)
                slope = float(np.linalg.norm(problem.error(far, loop))) / 1e-6
                q = problem.space.integrate(own, size / slope * step)
            error = float(np.linalg.norm(problem.error(q, loop)))
            assert error == pytest.approx(size, rel=0.01)
            assert problem.is_satisfied(q, loop) is (part < 1.0)
            assert problem.residual(q) == pytest.approx(error, rel=1e-12)


def test_whole_turns_are_no_other_branch() -> None:
    """A start with its computed joints turned by whole turns is a solution, and is returned as it is."""
    problem, _, own, other = other_branches()["closed form"]
    for turns in ([1, 0], [0, -2], [3, 1]):
        shift = np.zeros(problem.space.nv)
        shift[problem.resolution.outputs] = 2.0 * pi * np.array(turns)
        turned = problem.space.integrate(own, shift)
        assert Projector(problem).project(turned).q.tobytes() == turned.tobytes()
        assert not problem.is_satisfied(problem.space.integrate(other, shift))


def test_where_the_loop_has_no_value_it_is_not_satisfied() -> None:
    """The closures may hold where the function of the loop has no value: no projection ends there."""
    mechanism, q = made("slider_crank")
    (loop,) = mechanism.explicit_loops(q).loops
    problem = Problem(mechanism.robot, [loop.explicit])
    assert problem.is_satisfied(q)
    broken = Function.from_callable(_undefined, loop.function.inputs, loop.function.outputs, name="undefined")
    nowhere = Problem(mechanism.robot, [replace(loop.explicit, f=broken)])
    assert not nowhere.is_satisfied(q)
    assert nowhere.residual(q) == np.inf
    result = Projector(nowhere, Options.local()).project(q)
    assert result.status is Status.UNDEFINED
    assert result.q.tobytes() == q.tobytes()


def _undefined(u: np.ndarray) -> np.ndarray:
    raise errors.UndefinedError("nowhere")


def test_a_loop_that_becomes_implicit_has_the_rows_of_its_closures_alone() -> None:
    """What another constraint computes first: the closures decide, on any branch."""
    bars = mechanisms.four_bar()
    q = np.array(bars.postures["closed"])
    loops = bars.explicit_loops(q, elbows={"coupler_end to rocker_end": "crossed"})
    held = linear_coupling(bars.robot, "rocker", {"crank": 0.0}, float(q[bars.robot.slice_of("rocker")][0]))
    problem = Problem(bars.robot, [held, *loops.explicits])
    assert len(problem.resolution.refused) == 1
    assert problem.is_satisfied(q)
    assert Projector(problem).project(q).q.tobytes() == q.tobytes()


def test_the_spin_of_a_rod_is_held_and_said() -> None:
    """Cassie's achilles rod: the ball swings without turning about the rod; another spin satisfies the constraint."""
    mechanism, q = made("cassie_mjcf")
    loops = mechanism.explicit_loops(q)
    loop = loops["connect left-achilles-rod left-heel-spring"]
    assert loop.held == ("left-achilles-rod",)
    assert "no row depends on the spin of left-achilles-rod" in loops.describe()
    assert set(loop.dependent) == {"left-achilles-rod", "left-shin"}
    f = loop.function
    assert isinstance(f, LoopFunction)
    (spin,) = f.choice.spins
    rod = mechanism.closures[1].successor.placement.translation  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.abs(spin.direction @ rod), np.linalg.norm(rod), rtol=1e-9)
    ball = mechanism.robot.segments("left-achilles-rod")
    group = ball.space
    turned = q.copy()
    turned[ball.q_indices] = group.integrate(q[ball.q_indices], 0.7 * spin.direction)
    problem = loops.problem(bounds=Bounds.none(mechanism.robot.space))
    assert problem.is_satisfied(turned)
    done = Projector(problem).project(turned)
    assert done.iterations == 0
    assert done.q.tobytes() == turned.tobytes()
    for step in 0.2 * np.random.default_rng(0).standard_normal((5, 3)):
        there = f.value(q[loop.inputs.q_indices] + step)
        swing = group.difference(q[ball.q_indices], there[spin.q])
        assert abs(swing @ spin.direction) < 1e-13
        assert np.linalg.norm(swing) > 1e-3


def test_a_spin_that_others_see_is_not_held() -> None:
    """With a constraint that sees the rod's own orientation the ball is an input of the loop, as a whole."""
    mechanism, q = made("cassie_mjcf")
    watching = Implicit.equal(Pose(mechanism.robot, "left-achilles-rod", reference="left-hip-pitch"))
    watching = Implicit.equal(watching.function, watching.function.value(q), name="watching")
    loops = explicit_loops(mechanism.constraint_set([watching]), q, preferred=mechanism.motors)
    loop = loops["connect left-achilles-rod left-heel-spring"]
    assert not loop.held
    assert loop.independent == ("left-achilles-rod", "left-knee")
    assert loops["connect right-achilles-rod right-heel-spring"].held == ("right-achilles-rod",)
    assert loops.implicit[0].reason == "it is not a closure between two bodies"
    problem = loops.problem(bounds=Bounds.none(mechanism.robot.space))
    spun = q.copy()
    ball = loop.inputs.q_indices[:4]
    spun[ball] = SO3.integrate(q[ball], [0.01, 0.0, 0.02])
    assert Projector(problem, tight(1e-9)).project(spun).success


# What is found, and what is not.


@pytest.mark.parametrize(
    "name", [*BY_NEWTON, *FILES, "four_bar", "five_bar", "cassie_mjcf", "robotiq_2f85", "robot_delta"]
)
def test_all_loops_of_mechanisms_are_found(name: str) -> None:
    """Each closure is in a loop or in a reason; the loops compute the rank; motors stay independent where they can."""
    mechanism, q = made(name)
    loops = mechanism.explicit_loops(q)
    replaced = [closure for loop in loops.loops for closure in loop.closures]
    assert {id(c) for c in replaced} == {id(c) for c in mechanism.constraint_set().stack if c in mechanism.closures}
    computed = sum(len(loop.outputs) - len(loop.held) for loop in loops.loops)
    couplers = sum(int(coupler.rows.mask.sum()) for coupler in mechanism.couplers)
    assert computed + couplers == mechanism.rank(q)
    judged = set(mechanism.judge(q).dependent)
    for motor in mechanism.motors:
        if motor not in judged:
            assert all(motor not in loop.dependent for loop in loops.loops)
    problem = loops.problem(bounds=Bounds.none(mechanism.robot.space))
    assert len(problem.explicits) == len(loops.loops) + len(mechanism.couplers)
    assert problem.reduced_size == 0
    assert problem.residual(q) < 1e-9
    assert len(loops.describe().splitlines()) == 1 + len(loops.loops) + len(loops.implicit)


def test_the_coupler_of_the_gripper_chains_with_its_fingers() -> None:
    """2F-85: both fingers are loops of their own; the coupler between their drivers stays explicit and feeds one."""
    mechanism, q = made("robotiq_2f85")
    loops = mechanism.explicit_loops(q)
    problem = loops.problem(
        bounds=Bounds.none(mechanism.robot.space)
    )  # its closed posture is out of bounds by 0.05 rad
    assert [len(generation) for generation in problem.resolution.generations] == [2, 1]
    assert [kept.reason for kept in loops.implicit] == ["it is explicit already"]
    assert int(problem.free.sum()) == mechanism.mobility(q)


def test_why_loops_stay_implicit() -> None:
    """Free bodies in part, welded bodies, contacts, targets, couplers that are rows: each with its reason."""
    mechanism = load(path_of("mj_connect"))
    q = closed("mj_connect", mechanism)
    loops = mechanism.explicit_loops(q)
    assert not loops.loops
    assert loops.implicit[0].reason == (
        "it would have to compute a part of beam1_free, but only whole joints can be computed"
    )
    mechanism = load(path_of("mj_weld"))
    reasons = {k.constraints[0].name: k.reason for k in mechanism.explicit_loops(closed("mj_weld", mechanism)).implicit}
    assert reasons["relpose"] == "nothing in it moves, so nothing is independent"

    linkage = mechanisms.four_bar()
    r, q = linkage.robot, linkage.postures["closed"]
    moving = PointClosure(r, "rocker_end", "coupler_end", name="moving", target=Target(lambda t: np.zeros(3)))
    touch = PointContact(r, "coupler_end", name="touch")
    sum_row = Implicit.equal(Pose(r, "coupler_end"), Pose(r, "coupler_end").value(q), name="placed")
    loops = explicit_loops(ConstraintSet(r, [moving, touch, sum_row]), q)
    reasons = {kept.constraints[0].name: kept.reason for kept in loops.implicit}
    assert "follows a target" in reasons["moving"]
    assert "contact" in reasons["touch"]
    assert "not a closure" in reasons["placed"]
    assert not loops.loops


def test_a_joint_that_others_compute_is_never_dependent() -> None:
    """A four-bar of which two joints are locked by couplers has too few left: named."""
    linkage = mechanisms.four_bar()
    r, q = linkage.robot, linkage.postures["closed"]
    held = [
        linear_coupling(r, "crank", {}, float(q[0]), name="hold crank"),
        linear_coupling(r, "rocker", {}, float(q[2]), name="hold rocker"),
    ]
    loops = explicit_loops(ConstraintSet(r, [*linkage.closures, *held]), q)
    (reason,) = [kept.reason for kept in loops.implicit if kept.constraints[0].name == "coupler_end to rocker_end"]
    assert reason == "it would have to compute crank, rocker, which other explicit constraints compute already"
    loops = explicit_loops(ConstraintSet(r, [*linkage.closures, held[1]]), q)
    assert loops.loops[0].independent == ("rocker",)


def test_a_flat_parallelogram_is_refused() -> None:
    """Where branches meet nothing follows uniquely: the rank is not constant."""
    linkage = mechanisms.four_bar(0.4, 0.15, 0.4, 0.15, angle=1.0)
    flat = linkage.robot.neutral
    assert np.abs(linkage.constraint_set().position_error(flat)).max() < 1e-12
    (kept,) = linkage.explicit_loops(flat).implicit
    assert "not constant" in kept.reason or "dead point" in kept.reason


def test_a_motion_that_is_only_one_to_first_order_is_refused() -> None:
    """A rod on a parallelogram, across the way of its end: redundant to first order, and rigid in truth."""
    linkage = mechanisms.four_bar(0.4, 0.15, 0.4, 0.15, angle=0.9)
    r, q = linkage.robot, linkage.postures["closed"]
    middle = r.with_frame("middle", "coupler", pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.0])))
    tip = middle.at(q).placement("middle").translation
    away = tip + 0.1 * np.array([np.cos(0.9), np.sin(0.9), 0.0])  # across its way, not from its centre
    rod = RodClosure(middle, pin.SE3(np.eye(3), away), "middle", 0.1, name="rod")
    closures = [Closure(middle, "coupler_end", "rocker_end", Hinge.pin(), name="pin"), rod]
    (kept,) = explicit_loops(ConstraintSet(middle, closures), q, preferred=["crank"]).implicit
    assert kept.reason == "its rank is not constant: 2 at the given configuration, 3 nearby"


def test_angles_of_a_bennett_linkage_close_over_a_whole_turn() -> None:
    """By Newton over a turn in one call: half a turn ahead and half a turn back are one configuration.

    Three rows of the six are singular on the way, and others take their place.
    """
    linkage = mechanisms.bennett()
    (loop,) = linkage.explicit_loops(linkage.postures["closed"]).loops
    u = linkage.postures["closed"][loop.inputs.q_indices]
    for offset in (0.0, 0.4, -0.9):
        apart = loop.function.value(u + offset + pi) - loop.function.value(u + offset - pi)
        np.testing.assert_allclose(apart - 2 * pi * np.round(apart / (2 * pi)), 0.0, atol=1e-9)


def test_open_configurations_are_refused() -> None:
    """An open state is refused with its residual and the remedy; a constraint that is off does not count."""
    linkage = mechanisms.four_bar()
    rows, q = linkage.constraint_set(), linkage.postures["closed"].copy()
    q[0] += 0.1
    with pytest.raises(
        OpenMechanismError, match=r"'coupler_end to rocker_end' is off by 0\.0.*assemble_position"
    ) as error:
        explicit_loops(rows, q)
    assert error.value.worst == "coupler_end to rocker_end"
    assert error.value.residual == pytest.approx(np.linalg.norm(rows.position_error(q)))
    loops = explicit_loops(rows.switched(off=["coupler_end to rocker_end"]), q)
    assert not loops.loops
    assert not loops.implicit
    assert not loops.constraints


def test_wrong_arguments_are_named() -> None:
    """Joints and loops that are not there, things of another kind: typed errors, all of the family."""
    linkage = mechanisms.four_bar()
    rows, q = linkage.constraint_set(), linkage.postures["closed"]
    with pytest.raises(errors.UnknownJointError, match="crank"):
        explicit_loops(rows, q, preferred=["cranc"])
    with pytest.raises(errors.WrongObjectError, match="ConstraintSet"):
        explicit_loops(linkage, q)  # type: ignore[arg-type]
    loops = explicit_loops(rows, q)
    with pytest.raises(errors.UnknownNameError, match="coupler_end to rocker_end"):
        loops["coupler"]
    for wrong in (lambda: explicit_loops(rows, q[:-1]), lambda: explicit_loops(rows, q, elbows=["open"])):  # type: ignore[arg-type]
        with pytest.raises(ConstraintError):
            wrong()


def test_pickled_loops_are_the_same() -> None:
    """A problem with explicit loops goes to another process."""
    for name in ("robotiq_2f85", "slider_crank"):
        mechanism, q = made(name)
        problem = mechanism.explicit_loops(q).problem(bounds=Bounds.none(mechanism.robot.space))
        other = pickle.loads(pickle.dumps(problem))
        away = mechanism.robot.space.integrate(q, 0.05 * np.ones(mechanism.robot.nv))
        ends = [Projector(p).project(away).or_raise().q for p in (problem, other)]
        assert ends[0].tobytes() == ends[1].tobytes()


def test_problems_with_explicit_loops_are_not_saved_but_said(tmp_path: Path) -> None:
    """Files hold closures: the error says what to save."""
    for linkage in (mechanisms.four_bar(), mechanisms.slider_crank()):
        with pytest.raises(errors.NotSavableError, match="computed from closures: save the closures"):
            linkage.explicit_loops(linkage.postures["closed"]).problem().save(tmp_path / "x.json")


def test_the_compiled_engine_says_why_it_does_not_take_them() -> None:
    """`why_not` names the loop and why; the usual engine then is the readable one."""
    linkage = mechanisms.five_bar()
    problem = linkage.explicit_loops(linkage.postures["closed"]).problem()
    assert why_not(problem) == "left_outer_end to right_outer_end, an explicit constraint whose twin has branches"
    assert Projector(problem).project(linkage.postures["closed"]).success


def test_two_closures_between_the_same_bodies_are_one_loop() -> None:
    """A joint that is closed twice over, as by a point and a pin on it: one part, redundant rows listed."""
    linkage = mechanisms.four_bar()
    r, q = linkage.robot, linkage.postures["closed"]
    twice = [*linkage.closures, PointClosure(r, "coupler_end", "rocker_end", name="again")]
    (loop,) = explicit_loops(ConstraintSet(r, twice), q, preferred=["crank"]).loops
    assert len(loop.closures) == 2
    assert len(loop.redundant) == 6
    assert isinstance(loop.function, LoopFunction)
    straight = linkage.explicit_loops(q).loops[0].function.value([1.2])
    np.testing.assert_allclose(loop.function.value([1.2]), straight, atol=1e-12)


def test_a_loop_on_a_moving_body_reads_no_joint_outside() -> None:
    """Cassie's loops do not depend on the base, nor on the other leg: they are local."""
    mechanism, q = made("cassie_mjcf")
    for loop in mechanism.explicit_loops(q).loops:
        side = loop.name.split()[1].split("-")[0]
        assert all(name.startswith(side) for name in (*loop.independent, *loop.dependent))
        assert isinstance(loop.explicit, Explicit)
        assert loop.explicit.f.inputs == Rn(1) or len(loop.inputs) == 3


def test_a_closure_of_pin_keeps_its_redundant_rows_in_the_twin() -> None:
    """The twin measures all five rows: a coupler that is bent out of its plane would be seen."""
    linkage = mechanisms.four_bar()
    (loop,) = linkage.explicit_loops(linkage.postures["closed"]).loops
    assert loop.explicit.rows.mask.size == 5
    assert loop.redundant == tuple(f"row {i} of 'coupler_end to rocker_end'" for i in (2, 3, 4))
    assert isinstance(linkage.closures[0], Closure)
    assert linkage.closures[0].hinge.kind is Hinge.pin().kind
