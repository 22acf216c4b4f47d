"""The order of explicit constraints: generations, the chain rule, refusals that say why."""

from __future__ import annotations

import logging
import pickle
from typing import Any

import numpy as np
import pytest
from each_choice import a_few, draws
from explicit_samples import Swing, arm_and_box, composed, differences

from constraints import (
    Affine,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Problem,
    Projector,
    Workspace,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
)
from constraints.errors import OptionError
from constraints.functions import Constant, Identity
from constraints.point import place
from constraints.problem.resolution import order
from constraints.solvers.newton.substitution import Substitution
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn, Segments, Space

EQUALITY, ZERO, SUPERIOR, INFERIOR = Comparison
LINE = Rn(6)


def at(*columns: int, space: Space = LINE) -> Segments:
    return Segments.coordinates(space, columns)


def follows(name: str, out: int, *reads: int, space: Space = LINE, **options: Any) -> Explicit:
    """A number that is a smooth function of others."""
    f = Swing(Rn(1), len(reads), out)
    return Explicit(f, at(out, space=space), at(*sorted(reads), space=space), name=name, **options)


def generations(problem: Problem) -> list[set[str]]:
    return [{e.name for e in generation} for generation in problem.resolution.generations]


# --- random graphs ---------------------------------------------------------------------------------------------------


def random_graph(seed: int) -> tuple[Space, list[Explicit], list[set[str]]]:
    """Blocks of all groups, some computed from blocks before them in a hidden order; the generations it must have."""
    rng = np.random.default_rng(seed)
    groups = [[Rn(1), Rn(2), SO2, SO3, SE2, SE3][i] for i in rng.integers(0, 6, rng.integers(4, 9))]
    space = ProductSpace(groups, [f"b{i}" for i in range(len(groups))])
    hidden = rng.permutation(len(groups)).tolist()
    explicits, depth = [], dict.fromkeys(hidden, -1)
    for position, i in enumerate(hidden):
        earlier = [j for j in hidden[:position] if rng.random() < 0.5]
        if position == 0 or rng.random() < 0.25:
            continue
        block = Segments.of(space, i)
        if not earlier:
            f: Function = Constant(groups[i].random(rng), groups[i], space)
            read = None
        else:
            read = Segments.of(space, *earlier)
            coordinates = Identity(read.space) - Constant(read.space.neutral, read.space, read.space)
            f = Swing(groups[i], read.space.nv, seed, 0.2) @ coordinates
        depth[i] = 1 + max((depth[j] for j in earlier), default=-1)
        explicits.append(Explicit(f, block, read, comparison=EQUALITY, name=f"e{i}"))
    expected: list[set[str]] = [set() for _ in range(1 + max(depth.values()))]
    for explicit in explicits:
        expected[depth[int(explicit.name[1:])]].add(explicit.name)
    return space, explicits, expected


def middle(space: Space, rng: np.random.Generator) -> np.ndarray:
    """A configuration whose rotations stay away from half a turn."""
    return space.exp(rng.uniform(-0.6, 0.6, space.nv))


@draws(15, 200)
def test_random_graphs_resolve_alike_in_any_order_of_insertion(count: int) -> None:
    """Property 6: 200 graphs: generations, result bit for bit, derivative against differences of the composed map."""
    for seed in range(count):
        space, explicits, expected = random_graph(seed)
        rng = np.random.default_rng([1, seed])
        probe = Affine(rng.standard_normal((2, space.nv)) * np.isin(np.arange(space.nv), space.vector_v), None, space)
        q0 = middle(space, rng)
        sides = {e.name: middle(e.outputs.space, rng) for e in explicits}
        results, derivatives = [], []
        for _ in range(3):
            shuffled = [explicits[i] for i in rng.permutation(len(explicits))]
            problem = Problem(space, [Implicit.equal(probe, probe.value(q0)), *shuffled])
            assert not problem.resolution.refused
            assert generations(problem) == [g for g in expected if g]
            known: set[int] = set(np.flatnonzero(problem.free).tolist())
            for e in problem.resolution.explicits:
                assert set(np.flatnonzero(e.map.columns).tolist()) <= known
                known |= set(e.outputs.v)
            rhs = problem.rhs
            for e in problem.resolution.explicits:
                rhs = rhs.replace(e, sides[e.name])
            q = composed(problem, q0, rhs)
            substitution, workspace = Substitution(problem), Workspace()
            for start in (space.random(rng), q0, q):  # what an evaluation leaves in the workspace must not count
                point = place(space, start, workspace)
                solved = substitution.resolve(substitution.start(start, rhs, workspace), rhs, point, jacobian=True)
                kept = np.flatnonzero(~problem.resolution.outputs)
                J = substitution.reduce_matrix(np.array(probe.jacobian(solved)), workspace)
            np.testing.assert_array_equal(solved, q)
            T = problem.resolution_jacobian(problem.at(q), rhs)
            np.testing.assert_allclose(J, probe.jacobian(q) @ T, rtol=0, atol=1e-12)
            np.testing.assert_array_equal(T[kept], np.eye(space.nv)[kept])
            assert not T[:, problem.resolution.outputs].any()
            results.append(q)
            derivatives.append(T)
        for q, T in zip(results[1:], derivatives[1:], strict=True):
            np.testing.assert_array_equal(q, results[0])
            np.testing.assert_allclose(T, derivatives[0], rtol=0, atol=1e-12)
        whole = differences(space, results[0], lambda p, at=problem, r=rhs: composed(at, p, r), space)
        np.testing.assert_allclose(derivatives[0], whole, rtol=0, atol=1e-7)


def test_a_long_chain_given_backwards() -> None:
    """Property 6: forty numbers, each a function of the one before, given last first."""
    space = Rn(40)
    chain = [follows(f"e{i}", i, i - 1, space=space) for i in range(1, 40)]
    problem = Problem(space, chain[::-1])
    assert generations(problem) == [{f"e{i}"} for i in range(1, 40)]
    q = Projector(problem).project(np.full(40, 0.7)).q
    np.testing.assert_array_equal(q, composed(problem, np.full(40, 0.7)))
    assert problem.residual(q) == 0.0
    assert [(a.name, b.name) for a, b in problem.resolution.edges()] != []
    assert {(a.name, b.name) for a, b in problem.resolution.edges()} == {(f"e{i}", f"e{i + 1}") for i in range(1, 39)}


def test_chain_through_the_kinematics_of_a_robot() -> None:
    """Property 6: a coupled joint, a carried box posed by the hand, a height read off the box."""
    robot = arm_and_box()
    space = robot.space * Rn(3)
    couple = linear_coupling(robot, "arm/wrist_pitch", {"arm/elbow": -0.7}, 0.2)
    carry = explicit_relative_pose(robot, "gripper", "handle", [0.1, 0.0, 0.0, 0.3, 0.0, 0.0], comparison=EQUALITY)
    center = Function.from_callable(_translation, SE3, Rn(3), _its_jacobian, name="center")
    read = Explicit(
        center, Segments.coordinates(space, range(13, 16)), Segments.coordinates(space, range(7, 13)), name="center"
    )
    problem = Problem(space, [read, carry, couple])
    assert generations(problem) == [
        {"arm/wrist_pitch = linear(arm/elbow)"}, {"relative_pose(gripper, handle)"}, {"center"},
    ]  # fmt: skip
    q = np.r_[robot.random(np.random.default_rng(3)), 0.0, 0.0, 0.0]
    solved = Projector(problem).project(q).q
    assert problem.residual(solved) < 1e-12
    posture = robot.at(solved[:14])
    hand, handle = (posture.placement(robot.frame(f)) for f in ("gripper", "handle"))
    np.testing.assert_allclose(hand.actInv(handle).translation, [0.1, 0.0, 0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(solved[14:], posture.placement(robot.frame("box/root_joint")).translation, atol=1e-12)
    T = problem.resolution_jacobian(problem.at(solved))
    np.testing.assert_allclose(T, differences(space, solved, lambda p: composed(problem, p), space), rtol=0, atol=1e-7)
    assert np.abs(T[13:, 3]).max() > 1e-2  # the elbow moves the box both ways


def _translation(q: np.ndarray) -> np.ndarray:
    return q[:3]


def _its_jacobian(q: np.ndarray) -> np.ndarray:
    import pinocchio as pin

    return np.c_[pin.XYZQUATToSE3(q).rotation, np.zeros((3, 3))]


# --- refusals --------------------------------------------------------------------------------------------------------


def refusals(problem: Problem) -> dict[str, str]:
    return {r.constraint.name: r.reason for r in problem.resolution.refused}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"comparison": SUPERIOR}, "row 0 is SUPERIOR: only equalities determine the outputs"),
        ({"comparison": INFERIOR}, "row 0 is INFERIOR: only equalities determine the outputs"),
        ({"comparison": [EQUALITY, ZERO, SUPERIOR]}, "row 2 is SUPERIOR: only equalities determine the outputs"),
        ({"mask": [True, False, True]}, "row 1 is masked, so the outputs would not be determined"),
    ],
    ids=["superior", "inferior", "one inequality", "masked"],
)
def test_rows_that_determine_nothing_are_refused(options: dict[str, Any], reason: str, caplog: Any) -> None:
    """Property 7: inequality and masked rows; describe() and the log line name constraint and row."""
    f = Explicit(Swing(Rn(3), 2), at(2, 3, 4), at(0, 1), name="f", **options)
    with caplog.at_level(logging.INFO, logger="constraints"):
        problem = Problem(LINE, [f])
    assert refusals(problem) == {"f": reason}
    assert "'f' in R3" in problem.describe()
    assert f"implicit because {reason}" in problem.describe()
    assert caplog.messages == [f"explicit constraint 'f' becomes implicit: {reason}"]
    assert all(record.name.split(".")[0] == "constraints" for record in caplog.records)
    assert problem.free.all()
    assert problem.reduced_size == int(f.on(LINE).rows.mask.sum())


def test_of_two_that_compute_one_output_the_first_given_stays() -> None:
    """Property 7: the reason names the dofs and the constraints that compute them."""
    first, second = follows("first", 2, 0), follows("second", 2, 1)
    assert refusals(Problem(LINE, [first, second])) == {"second": "its output R6[2] is already computed by 'first'"}
    assert refusals(Problem(LINE, [second, first])) == {"first": "its output R6[2] is already computed by 'second'"}
    wide = Explicit(Swing(Rn(3), 1), at(2, 3, 4), at(0), name="wide")
    other = follows("other", 4, 5)
    problem = Problem(LINE, [first, other, wide])
    assert refusals(problem) == {"wide": "its output R6[2, 4] is already computed by 'first', 'other'"}
    assert problem.reduced_size == 3
    robot = arm_and_box()
    carry = explicit_relative_pose(robot, "gripper", "handle", name="carry")
    stand = explicit_relative_pose(robot, "universe", "handle", name="stand")
    assert refusals(Problem(robot, [carry, stand])) == {
        "stand": "its output box/root_joint is already computed by 'carry'"
    }
    two = locked_joint(robot, "arm/elbow", 0.1, name="two")
    assert refusals(Problem(robot, [locked_joint(robot, "arm/elbow", name="one"), two])) == {
        "two": "its output arm/elbow is already computed by 'one'"
    }


def test_two_constraints_with_one_name_are_two_constraints() -> None:
    """Property 8: names decide nothing."""
    a, b = follows("same", 2, 0), follows("same", 3, 1)
    problem = Problem(LINE, [a, b])
    assert len(problem.resolution.explicits) == 2
    assert (problem.contains(a), problem.contains(b), problem.contains(follows("same", 2, 0))) == (True, True, False)


def test_cycles_are_refused_with_their_path(caplog: Any) -> None:
    """Property 7: the constraint that closes the cycle is refused; the path names constraints and dofs."""
    a, b, c = follows("a", 1, 0), follows("b", 2, 1), follows("c", 0, 2, 5)
    with caplog.at_level(logging.INFO, logger="constraints"):
        problem = Problem(LINE, [a, b, c])
    path = "it closes a cycle: 'c' -[R6[0]]-> 'a', 'a' -[R6[1]]-> 'b', 'b' -[R6[2]]-> 'c'"
    assert refusals(problem) == {"c": path}
    assert f"implicit because {path}" in problem.describe()
    assert caplog.messages == [f"explicit constraint 'c' becomes implicit: {path}"]
    assert generations(problem) == [{"a"}, {"b"}]
    assert refusals(Problem(LINE, [b, c, a])) == {
        "a": "it closes a cycle: 'a' -[R6[1]]-> 'b', 'b' -[R6[2]]-> 'c', 'c' -[R6[0]]-> 'a'"
    }
    assert refusals(Problem(LINE, [follows("there", 1, 0), follows("back", 0, 1)])) == {
        "back": "it closes a cycle: 'back' -[R6[0]]-> 'there', 'there' -[R6[1]]-> 'back'"
    }


def test_a_refused_constraint_stands_in_nobodys_way() -> None:
    """What was refused computes nothing and closes no cycle."""
    a, b = follows("a", 1, 0), follows("b", 0, 1)
    late = follows("late", 0, 4)
    problem = Problem(LINE, [a, b, late])
    assert set(refusals(problem)) == {"b"}
    assert generations(problem) == [{"late"}, {"a"}]
    above = follows("above", 1, 2, comparison=SUPERIOR)
    assert set(refusals(Problem(LINE, [above, follows("below", 2, 1), follows("mine", 1, 3)]))) == {"above"}


@pytest.mark.parametrize("seed", a_few(range(20), 7))
def test_random_graphs_with_cycles_keep_what_they_can(seed: int) -> None:
    """Property 7: what stays is acyclic; each refused one would close a cycle with, or repeat, those given before."""
    rng = np.random.default_rng(seed)
    space = Rn(8)
    given = []
    for i in range(12):
        out = int(rng.integers(8))
        reads = rng.choice([j for j in range(8) if j != out], int(rng.integers(1, 4)), replace=False).tolist()
        given.append(follows(f"e{i}", out, *reads, space=space))
    problem = Problem(space, given)
    kept: list[int] = []
    reasons = refusals(problem)
    for i, e in enumerate(given):
        out, reads = e.outputs.v[0], set(e.inputs.v if e.inputs else ())
        taken = any(given[j].outputs.v[0] == out for j in kept)
        reached, frontier = set(), {out}
        while frontier:  # what the output leads to, through those that stay
            reached |= frontier
            frontier = {given[j].outputs.v[0] for j in kept if set(given[j].inputs.v) & reached} - reached  # type: ignore[union-attr]
        if taken:
            assert "is already computed by" in reasons[e.name]
        elif reached & reads:
            steps = reasons[e.name].removeprefix("it closes a cycle: ").split(", '")
            ends = [step.replace("'", "").split(" -[") for step in steps]
            names = [first for first, _ in ends]
            assert names[0] == e.name
            assert [tail.split("-> ")[1] for _, tail in ends] == [*names[1:], e.name]
        else:
            assert e.name not in reasons
            kept.append(i)
    assert {e.name for e in problem.resolution.explicits} == {given[i].name for i in kept}


def test_what_is_frozen_cannot_be_computed() -> None:
    """DESIGN 3.9: a constraint whose output is frozen becomes implicit, and says so."""
    space = Rn(3)
    e = follows("e", 1, 0, space=space).on(space)
    resolution = order(space, [e], np.array([False, True, False]))
    assert [(r.constraint.name, r.reason) for r in resolution.refused] == [("e", "its output R3[1] is frozen")]
    assert not order(space, [e], np.array([True, False, False])).refused


def test_what_falls_back_keeps_its_right_hand_side() -> None:
    """Property 7: default and replaced right-hand sides are those of the twin; so are errors and satisfaction."""
    group = SO3
    space = ProductSpace([Rn(2), group, group])
    rhs, other = group.random(np.random.default_rng(1)), group.random(np.random.default_rng(2))
    mine = Explicit(Swing(group, 2), Segments.of(space, 1), Segments.of(space, 0), comparison=EQUALITY, rhs=rhs)
    rival = Explicit(Swing(group, 2, 9), Segments.of(space, 1), Segments.of(space, 0), name="rival")
    explicit, fallen = Problem(space, [mine]), Problem(space, [rival, mine])
    assert [r.constraint.name for r in fallen.resolution.refused] == [mine.name]
    assert fallen.reduced_size == 3
    for problem in (explicit, fallen):
        np.testing.assert_array_equal(problem.rhs.of(mine), rhs)
    q = middle(space, np.random.default_rng(3))
    for problem in (explicit, fallen):
        sides = problem.rhs.replace(mine, other)
        np.testing.assert_array_equal(sides.of(mine), other)
        np.testing.assert_array_equal(sides.of(rival) if problem is fallen else sides.of(0), sides.of(-1))
        expected = group.difference(other, mine.on(space).twin.function.value(q))
        np.testing.assert_allclose(problem.error(q, mine, sides), expected, rtol=0, atol=1e-14)
    target = explicit.rhs_from(q).of(mine)
    sides = fallen.rhs_from(q)
    np.testing.assert_array_equal(sides.of(mine), target)
    solved = Projector(explicit).project(q, explicit.rhs.replace(mine, other)).q
    assert fallen.is_satisfied(solved, mine, fallen.rhs.replace(mine, other))


def test_what_falls_back_is_solved_at_its_level() -> None:
    """The level of the constraint is that of its rows when they are implicit, and of nothing when explicit."""
    first, second = follows("first", 2, 0), follows("second", 2, 1, level=1)
    problem = Problem(LINE, [first, second])
    assert [level.names for level in problem.levels] == [(), ("second",)]
    assert "level 1: 'second'" in problem.describe()
    alone = Problem(LINE, [second])
    assert [level.names for level in alone.levels] == [()]
    given = Problem(LINE, [[first], [follows("third", 2, 1)]])
    assert [level.names for level in given.levels] == [(), ("third",)]


def test_order_is_told() -> None:
    """Property 19: describe() lists every constraint, how it is resolved, in which generation, computing what."""
    robot = arm_and_box()
    carry = explicit_relative_pose(robot, "gripper", "handle", name="carry")
    couple = linear_coupling(robot, "arm/wrist_pitch", {"arm/elbow": 1.0}, name="couple")
    text = Problem(robot, [carry, couple]).describe()
    assert "generation 0: 'couple' in R1, 1 of 1 row (1 EQUAL_TO_ZERO); explicit: computes arm/wrist_pitch" in text
    assert "generation 1: 'carry' in R6, 6 of 6 rows (6 EQUAL_TO_ZERO); explicit: computes box/root_joint" in text
    assert text.startswith(f"Problem on {robot.name}: 13 dofs (6 free), 7 rows, 0 of them left to Newton steps\n")


def test_resolution_survives_pickling() -> None:
    """Property 21: a copied problem resolves alike."""
    problem = Problem(LINE, [follows("b", 2, 1), follows("a", 1, 0), follows("c", 0, 2)])
    again = pickle.loads(pickle.dumps(problem))
    assert generations(again) == generations(problem)
    assert refusals(again) == refusals(problem)
    q = np.full(6, 0.3)
    np.testing.assert_array_equal(Projector(again).project(q).q, Projector(problem).project(q).q)


def test_the_optional_level_stays_the_last_one() -> None:
    """What falls back below an optional last level comes before it: it still must hold, and the wish need not."""
    first, second = follows("first", 2, 0), follows("second", 2, 1, level=2)
    held = Implicit.equal(Affine([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], [0.0], LINE), [0.3], name="held")
    wish = Implicit.equal(Affine([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], [0.0], LINE), [5.0], name="wish")
    problem = Problem(LINE, [[held, first, second], [wish]], optional_last=True)
    assert [level.names for level in problem.levels] == [("held",), ("second",), ("wish",)]
    result = Projector(problem).project(np.zeros(6))
    assert result.success
    assert problem.is_satisfied(result.q, second)
    assert not problem.is_satisfied(result.q, wish)
    given = Problem(LINE, [[held, first], [wish, second]], optional_last=True)
    assert [level.names for level in given.levels] == [("held",), (), ("wish", "second")]
    assert Projector(given).project(np.zeros(6)).success
    with pytest.raises(OptionError, match=r"optional_last.*two levels"):  # one level is mandatory, whatever falls back
        Problem(LINE, [[held, first, second]], optional_last=True)
    merged = problem | Problem(LINE, [follows("third", 4, 3)])
    assert [level.names for level in merged.levels] == [("held",), ("second",), ("wish",)]
    assert merged.optional_last


def test_branches_are_asked_of_all_or_of_one() -> None:
    """y = sqrt(1 + x^2) has another branch, z = x has none: on the wrong branch of y, z is where it should be."""
    space = Rn(3)
    root = Function.from_callable(lambda q: np.sqrt(1.0 + q**2), Rn(1), Rn(1), name="root")
    twin = Function.from_callable(lambda q: [q[1] ** 2 - q[0] ** 2 - 1.0], space, Rn(1), name="twin")
    x, y, z = (Segments.coordinates(space, [i]) for i in range(3))
    upper = Explicit(root, y, x, implicit=twin, whole=space, has_branches=True, name="upper")
    same = Explicit(Affine([[1.0]]), z, x, whole=space, name="same")
    problem = Problem(space, [upper, same])
    q = np.array([0.75, -1.25, 0.5])
    branch_error = problem.resolution.branch_error
    assert branch_error(problem.at(q), problem.rhs, same) == 0.0
    assert branch_error(problem.at(q), problem.rhs) == branch_error(problem.at(q), problem.rhs, upper) > 1.0
    q[1] = 1.25
    assert branch_error(problem.at(q), problem.rhs) < 1e-12
    assert problem.is_satisfied(q, "upper")
    assert not problem.is_satisfied(q, "same")
