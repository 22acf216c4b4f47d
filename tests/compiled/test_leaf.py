"""Projections onto the leaf of a configuration in one call, beside the same in three steps; what is not compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box

import constraints as lc
from constraints.errors import UndefinedError
from constraints.functions import Constant
from constraints.functions.contact.contact_pose import PoseOfContact
from constraints.models import sample_arm
from constraints.rows.stack import Stack
from constraints.solvers import CompiledEngine, NewtonEngine, Status
from constraints.solvers.engine import LeafProgram, Source
from constraints.solvers.evaluation import Evaluation, ValueReader
from constraints.workspace import Workspace
from liegroups import Rn

pytest.importorskip("numba")

from constraints.solvers.compiled.evaluation import CompiledEvaluation
from constraints.solvers.compiled.leaf import CompiledLeaf

ROBOT = sample_arm()
OPTIONS = lc.Options(max_iterations=200)
PLACE = lc.Implicit(lc.Position(ROBOT, "elbow"), lc.Comparison.EQUALITY, name="place")
HAND = lc.Implicit(lc.Pose(ROBOT, "tool"), lc.Comparison.EQUALITY, name="hand")
SPACE = ROBOT.space


def configuration(seed: int, wide: float = 0.7) -> Any:
    return SPACE.integrate(ROBOT.neutral, wide * np.random.default_rng(seed).standard_normal(ROBOT.nv))


def projector(owners: list[Any]) -> lc.Projector:
    return lc.Projector(lc.Problem(ROBOT, owners), OPTIONS, CompiledEngine())


def whole_reader(engine: Any, owners: list[Any]) -> ValueReader:
    """All values of all constraints, each to its own place, its quaternions of norm one."""
    stack = Stack(owners)
    entries = np.arange(stack.rhs_size, dtype=np.intp)
    pairs = zip(stack.owners, stack.rhs_slices, strict=True)
    units = [slice(s.start + b.start, s.start + b.stop) for owner, s in pairs for b in owner.group.unit_blocks]
    return ValueReader(engine.evaluation(ROBOT, stack), entries, entries, units)


def leaf_program(solver: lc.Projector, source: Source | None, reader: ValueReader | None) -> LeafProgram:
    program = solver.program.from_leaf(source, reader)
    assert isinstance(program, CompiledLeaf)
    return program


def same(solver: lc.Projector, reader: ValueReader, found: Any, leaf: Any, q0: Any) -> None:
    """As reading the right-hand sides first, and projecting then, bit for bit."""
    outcome, rhs = found
    side = solver.problem.rhs.vector.copy()
    reader.read(leaf, Workspace(), side)
    np.testing.assert_array_equal(rhs.vector, side)
    expected = solver.project(q0, solver.problem.rhs.with_valid(side))
    assert outcome.status is expected.status
    assert (outcome.iterations, outcome.restarts) == (expected.iterations, expected.restarts)
    np.testing.assert_array_equal(outcome.q, expected.q)


def test_the_values_of_the_leaf_are_read_and_kept() -> None:
    """Of two constraints: the quaternion of the second begins at entry 6."""
    solver = projector([PLACE, HAND])
    reader = whole_reader(CompiledEngine(), [PLACE, HAND])
    program, workspace = leaf_program(solver, None, reader), Workspace()
    solved = 0
    for seed in range(6):
        leaf, q0 = configuration(seed), configuration(seed + 50, 0.4)
        before = leaf.copy(), q0.copy()
        found = program.run(leaf, q0, workspace)
        assert found is not None
        same(solver, reader, found, leaf, q0)
        np.testing.assert_array_equal([leaf, q0], before)
        solved += found[0].status is Status.CONVERGED
        if found[0].status is Status.CONVERGED:
            tool = lc.Pose(ROBOT, "tool")
            assert np.abs(tool.outputs.difference(tool.value(found[0].q), tool.value(leaf))).max() < 1e-4
    assert solved >= 3


def test_several_quaternions_are_read_and_kept() -> None:
    """Blocks of four among others, each divided by its own norm where that is not one."""
    turn = lc.Implicit(lc.Rotation(ROBOT, "elbow"), lc.Comparison.EQUALITY, name="turn")
    owners = [HAND, PLACE, turn]
    solver, reader = projector(owners), whole_reader(CompiledEngine(), owners)
    assert [(block.start, block.stop) for block in reader.units] == [(3, 7), (10, 14)]
    program = leaf_program(solver, None, reader)
    for seed in range(4):
        leaf, q0 = configuration(seed), configuration(seed + 50, 0.4)
        same(solver, reader, program.run(leaf, q0, Workspace()), leaf, q0)


def test_quaternions_that_are_read_have_norm_one() -> None:
    """As the reader makes them, one block among others: nothing else is divided."""
    reader = whole_reader(CompiledEngine(), [PLACE, HAND])
    side = np.zeros(10)
    reader.read(configuration(3), Workspace(), side)
    assert [(block.start, block.stop) for block in reader.units] == [(6, 10)]
    assert abs(np.linalg.norm(side[6:]) - 1.0) <= 1e-15
    assert np.abs(side[:3] - lc.Position(ROBOT, "elbow").value(configuration(3))).max() < 1e-14


def test_the_leaf_must_satisfy_what_holds_there() -> None:
    """Its constraints at their right-hand sides, to the limit; with a reader and without one."""
    engine, leaf, q0 = CompiledEngine(), configuration(1), configuration(51, 0.4)
    stack = Stack([PLACE])
    off = np.array([3e-4, 0.0, -4e-4])  # 5e-4 long
    rhs = lc.Problem(ROBOT, [PLACE]).rhs
    there = rhs.with_valid(lc.Position(ROBOT, "elbow").value(leaf) + off)
    solver = projector([HAND])
    for reader in (None, whole_reader(engine, [HAND])):
        for limit, passes in ((4.9e-4, False), (5.1e-4, True)):
            source = Source(engine.evaluation(ROBOT, stack), there, limit)
            found = leaf_program(solver, source, reader).run(leaf, q0, Workspace())
            assert (found is not None) == passes
            if found is not None and reader is not None:
                same(solver, reader, found, leaf, q0)
            if found is not None and reader is None:
                assert found[1] is solver.problem.rhs
                np.testing.assert_array_equal(found[0].q, solver.project(q0).q)


def test_what_a_computed_body_took_out_of_bounds_is_brought_back_on_leaves_too() -> None:
    """A box in the hand, in one half of the places that the hand comes to: outcomes of the projector, bit for bit."""
    robot, rng = arm_and_box(), np.random.default_rng(1)
    box = robot.space.leaves()[-1].q
    lower, upper = robot.bounds.lower.copy(), robot.bounds.upper.copy()
    lower[box.start] = 0.0
    held = lc.explicit_relative_pose(robot, "gripper", "handle", name="held")
    problem = lc.Problem(robot, [held], lc.Bounds(robot.space, lower, upper))
    solver, inside, moved = lc.Projector(problem, engine=CompiledEngine()), 0, 0
    program = leaf_program(solver, None, None)
    for q0 in robot.random(rng, 20):
        found = program.run(q0, q0, Workspace())
        assert found is not None
        expected = solver.project(q0)
        assert found[0].q.tobytes() == expected.q.tobytes()
        assert found[0].status is expected.status
        inside += expected.success
        moved += expected.iterations > 0
    assert inside >= 15
    assert moved > 3


def test_configurations_of_another_size_are_left_to_the_three_steps() -> None:
    program = leaf_program(projector([HAND]), None, whole_reader(CompiledEngine(), [HAND]))
    leaf, q0 = configuration(1), configuration(51)
    for pair in ((leaf[:-1], q0), (leaf, q0[:-1]), (np.tile(leaf, (2, 1)), q0)):
        assert program.run(*pair, Workspace()) is None
    assert program.run(leaf, np.full(q0.size, np.nan), Workspace()) is None
    assert program.run(leaf, q0, Workspace()) is not None


class Strange(lc.Function):
    """A function of the user's: the last tangent coordinate, squared."""

    def __init__(self) -> None:
        self.declare(SPACE, Rn(1), name="strange")

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        x = point.q[-1]
        value[0] = x * x
        if jacobian is not None:
            jacobian[0, -1] = 2.0 * x


def test_functions_of_the_users_are_called() -> None:
    """Rows and values are those of the functions, and leaf programs take them as they take others."""
    owners = [PLACE, lc.Implicit(Strange(), lc.Comparison.EQUALITY, name="own")]
    stack, q, workspace = Stack(owners), configuration(2), Workspace()
    compiled, plain = CompiledEvaluation(ROBOT, stack), Evaluation(ROBOT, stack)
    assert compiled.new_memory() is not None
    rhs = lc.Problem(ROBOT, owners).rhs
    for jacobian in (True, False):
        mine, theirs = (e.rows(q, rhs, workspace, jacobian=jacobian) for e in (compiled, plain))
        np.testing.assert_allclose(mine.error, theirs.error, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(mine.jacobian, theirs.jacobian, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(compiled.values(q, workspace), plain.values(q, workspace), rtol=0.0, atol=1e-14)
    solver, reader = projector(owners), whole_reader(CompiledEngine(), owners)
    program = leaf_program(solver, Source(compiled, rhs, 10.0), reader)
    for seed in range(4):
        leaf, q0 = configuration(seed), configuration(seed + 50, 0.4)
        same(solver, reader, program.run(leaf, q0, workspace), leaf, q0)


def test_rows_and_values_of_kernels_are_those_of_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a Jacobian and without; right-hand sides are taken anew where others are given."""
    stack = Stack([PLACE, HAND])
    compiled, plain, workspace = CompiledEvaluation(ROBOT, stack), Evaluation(ROBOT, stack), Workspace()
    problem = lc.Problem(ROBOT, [PLACE, HAND])
    assert compiled.places.size == stack.rhs_size == 10
    q, other = configuration(4), configuration(5)
    at = [problem.rhs.with_valid(plain.values(x, Workspace())) for x in (q, other)]
    for x, rhs in ((q, at[1]), (other, at[1]), (other, at[0]), (q, at[0])):
        for jacobian in (True, False):
            mine, theirs = compiled.rows(x, rhs, workspace, jacobian=jacobian), plain.rows(x, rhs, Workspace())
            assert np.abs(mine.error - theirs.error).max() < 1e-12
            if jacobian:
                assert np.abs(mine.jacobian - theirs.jacobian).max() < 1e-12
        assert np.abs(compiled.values(x, workspace) - plain.values(x, Workspace())).max() < 1e-12
    monkeypatch.setattr(Evaluation, "values", None)  # kernels ask nobody
    assert compiled.values(q, workspace).size == 10


def test_where_a_function_has_no_value_the_functions_say_so() -> None:
    """Off the floor a contact has no pose: rows and values are refused by name, and are back where there is one."""
    corners = [[0.5, -0.25, 0.0], [0.5, 0.25, 0.0], [-0.5, 0.25, 0.0], [-0.5, -0.25, 0.0]]
    f = PoseOfContact(lc.Surface("floor", ROBOT.frame("universe"), corners))
    stack, workspace, on = Stack([lc.Implicit(f, lc.Comparison.EQUALITY, name="pose")]), Workspace(), f.inputs.neutral
    compiled, plain = CompiledEvaluation(f.inputs, stack), Evaluation(f.inputs, stack)
    assert compiled.places.size == stack.rhs_size
    off, rhs = on.copy(), lc.Problem(f.inputs, stack.owners).rhs
    off[5] = 3.0
    for _ in range(2):
        for jacobian in (True, False):
            np.testing.assert_allclose(
                compiled.rows(on, rhs, workspace, jacobian=jacobian).error, plain.rows(on, rhs, Workspace()).error
            )
            with pytest.raises(UndefinedError):
                compiled.rows(off, rhs, workspace, jacobian=jacobian)
        with pytest.raises(UndefinedError):
            compiled.values(off, workspace)


def test_constraints_without_rows_and_those_that_stand_still() -> None:
    """Rows are by kernels where one has none, but nothing can be read then; one that nothing moves is left alone."""
    nothing = lc.Implicit(lc.Pose(ROBOT, "tool"), lc.Comparison.EQUALITY, mask=np.zeros(6, dtype=bool), name="nothing")
    still = lc.Implicit(lc.Position(ROBOT, "universe"), lc.Comparison.EQUALITY, name="still")
    constant = lc.Implicit(Constant([1.0, 2.0], Rn(2), SPACE), lc.Comparison.EQUALITY, name="constant")
    q, workspace, rhs = configuration(6), Workspace(), None
    for other, packs, reads in ((nothing, True, False), (still, False, False), (constant, True, True)):
        for owners in ([PLACE, other], [other, PLACE]):
            stack = Stack(owners)
            compiled, plain = CompiledEvaluation(ROBOT, stack), Evaluation(ROBOT, stack)
            assert (compiled.new_memory() is not None) == packs
            assert (compiled.places.size == stack.rhs_size) == reads
            assert reads or compiled.places.size == 0
            rhs = lc.Problem(ROBOT, owners).rhs
            for _ in range(2):
                mine, theirs = compiled.rows(q, rhs, workspace), plain.rows(q, rhs, Workspace())
                assert np.abs(mine.error - theirs.error).max() < 1e-12
                assert np.abs(mine.jacobian - theirs.jacobian).max() < 1e-12
                assert np.abs(compiled.values(q, workspace) - plain.values(q, Workspace())).max() < 1e-12
            reader = whole_reader(CompiledEngine(), owners)
            assert (projector([HAND]).program.from_leaf(None, reader) is not None) == reads
    empty = CompiledEvaluation(ROBOT, Stack([]))
    assert empty.new_memory() is None
    assert empty.values(q, workspace).size == 0


def test_the_readable_engine_has_no_leaf_program() -> None:
    solver = lc.Projector(lc.Problem(ROBOT, [HAND]), OPTIONS, NewtonEngine())
    assert solver.program.from_leaf(None, None) is None
