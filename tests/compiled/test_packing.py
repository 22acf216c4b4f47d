"""Tables of a packed problem: what stands in them, and what is not packed."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("numba")

from compiled.guarded import Guarded, GuardedProblem, Tables, plain
from compiled.kinds_of_problems import CASES, boxed, chain, equal
from compiled.test_functions import Packed, check, contacts
from explicit_samples import arm_and_box
from robots import arm, two_arms

from constraints import Bounds, Comparison, Function, Implicit, Options, Pose, Position, Problem, explicit_relative_pose
from constraints.functions import Affine, Identity, Polynomial
from constraints.functions.contact.contact_pose import PoseOfContact
from constraints.functions.translation import Translated
from constraints.solvers import Status, why_not
from constraints.solvers.compiled import problem as problem_packed
from constraints.solvers.compiled.packing import Argument, NotPacked, PackedResult, Packer, leaf_of, numbers_of
from constraints.solvers.compiled.problem import packed
from constraints.solvers.compiled.sparsity import row_ranges
from constraints.solvers.compiled.tree import PackedTree
from constraints.solvers.engine import Outcomes
from constraints.solvers.machine import layout
from constraints.solvers.newton.computed_bodies import ComputedBodies
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, R3xSO3, Rn, Segments


def counted(table: Guarded, at: int) -> list[int]:
    """What a count at `at` is followed by."""
    return [table[at + 1 + i] for i in range(table[at])]


def records(table: Guarded, at: int, size: int) -> list[list[int]]:
    """Records of some size at `at`."""
    return [[table[at + 1 + size * n + i] for i in range(size)] for n in range(table[at])]


def tables_of(problem: Problem, options: Options | None = None) -> Tables:
    return Tables(problem, options or Options())


# The packer.


def test_each_name_of_the_layout_stands_once() -> None:
    """A second one would take the place of the first in silence, and kernels write where others read."""
    body = ast.parse(inspect.getsource(layout)).body
    targets = [
        name for line in body if isinstance(line, ast.Assign) for name in ast.walk(line) if type(name) is ast.Name
    ]
    names = [name.id for name in targets if isinstance(name.ctx, ast.Store)]
    assert len(names) > 300
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_what_is_given_to_a_packer_is_found_where_it_says() -> None:
    packer = Packer(5)
    first, second = packer.table([3, -1]), packer.counted([7, 8, 9])
    third, numbers = packer.records([[1, 2], [3, 4], [5, 6]]), packer.constants([[0.5, 1.5], [2.5, 3.5]])
    memory, filled, last = packer.memory(3), packer.filled([1.0, 2.0]), packer.memory(1)
    integers, floats, work = packer.arrays()
    assert integers.dtype == np.int64
    assert (first, second, third) == (layout.HEADER, layout.HEADER + 2, layout.HEADER + 6)
    assert integers[layout.HEADER :].tolist() == [3, -1, 3, 7, 8, 9, 3, 1, 2, 3, 4, 5, 6, 0]  # no Jacobian
    assert (integers[layout.SIZE], integers[layout.JACOBIANS]) == (len(work), len(integers) - 1)
    others = [i for i in range(layout.HEADER) if i not in (layout.SIZE, layout.JACOBIANS)]
    assert not integers[others].any()  # a table that is not there is at 0
    assert (numbers, floats.tolist()) == (1, [0.0, 0.5, 1.5, 2.5, 3.5])
    assert (memory, filled, last, work.tolist()) == (1, 4, 6, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0])
    assert PackedResult(10, 20, 6).rows(7, 3) == PackedResult(17, 23, 6)


def test_groups_are_packed_once_by_their_leaves() -> None:
    space, packer = ProductSpace([Rn(2), SO2, SE2, SO3, SE3, Rn(0), Rn(3)]), Packer(1)
    at = packer.group(space)
    assert packer.group(ProductSpace([Rn(2), SO2, SE2, SO3, SE3, Rn(0), Rn(3)])) == at
    assert packer.group(SO3) != at
    table = packer.arrays()[0]
    kinds = [leaf_of(leaf.space) for leaf in space.leaves()]
    assert table[at] == len(kinds)
    assert table[at + 1 : at + 1 + 3 * len(kinds)].reshape(-1, 3).tolist() == [list(kind) for kind in kinds]
    assert kinds[:5] == [(layout.VECTOR, 2, 2), (layout.SO2, 2, 1), (layout.SE2, 4, 3), (layout.SO3, 4, 3),
                         (layout.SE3, 7, 6)]  # fmt: skip


def test_a_leaf_is_one_group_of_the_library() -> None:
    for space in (R3xSO3, ProductSpace([SO2, SE3]), SO3 * SO3):
        with pytest.raises(NotPacked, match="not one of the library's"):
            leaf_of(space)


@pytest.mark.parametrize(("passes", "lower"), [(0, False), (2, False), (0, True), (2, True)])
def test_lower_levels_have_memory_of_their_own_where_there_are_some(passes: int, lower: bool) -> None:
    rows = [[equal(Pose(arm(), "tool"))], *([[equal(Position(arm(), "elbow"))]] if lower else [])]
    I = packed(Problem(arm(), rows), Options(saturating_passes=passes)).integers  # noqa: E741
    live, above = I[layout.LIVE], 9 + 7 * (1 + passes) if lower else 0
    names = "ABOVE", "FACTORS", "REFLECTED", "PART", "ROTATED", "CAPS", "RESIDUALS", "RESIDUALS_BEFORE"
    at, levels = [int(I[getattr(layout, name)]) for name in names], 1 + lower
    assert np.diff(at).tolist() == [above * live, above * live, above, live, 6 * live * lower, levels, levels]


def test_columns_of_a_function_are_those_that_are_there_in_order() -> None:
    packer, f = Packer(4), Affine([[1.0, 0.0, 2.0, 3.0, 0.0]])
    argument = Argument(0, np.array([3, 1, 0, -1, 2]))
    assert packer.columns_of(f, argument) == [0, 3]
    own = packer.own_result(f, argument)
    assert (own.stride, packer.memory(1) - own.value) == (1, 1 + 4)  # a value, a row of columns 0 to 3
    assert own.jacobian == own.value + 1
    none = packer.own_result(f, Argument(0, np.full(5, -1)))
    assert none.jacobian == none.value + 1
    assert packer.memory(0) == none.jacobian


def test_placements_are_twelve_numbers_row_by_row() -> None:
    M = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.array([1.0, 2.0, 3.0]))
    assert numbers_of(M) == [*M.rotation.ravel().tolist(), 1.0, 2.0, 3.0]


# Problems.


@pytest.mark.parametrize("name", CASES)
def test_the_header_says_what_the_problem_is(name: str) -> None:
    case = CASES[name]()
    problem, options, integers = case.problem, case.options, tables_of(case.problem, case.options).integers
    live = np.flatnonzero(problem.implicit_dofs & problem.free & ~problem.bounds.frozen)
    computed = [v for e in problem.resolution.explicits if not e.is_constant for v in e.outputs.v]
    sizes = [level.size for level in problem.levels if level.size]
    mandatory = [level.size for level in problem.mandatory if level.size]
    expected = {
        layout.NQ: problem.space.nq,
        layout.LIVE: live.size,
        layout.COMPUTED: len(computed),
        layout.LEVELS: len(sizes),
        layout.MANDATORY: len(mandatory),
        layout.OPTIONAL: len(sizes) - len(mandatory),
        layout.RHS_SIZE: problem.rhs.vector.size,
        layout.COMPUTES: bool(problem.explicits),
        layout.MAPS: bool(computed),
        layout.RESTARTS: options.restarts,
        layout.MAX_ITERATIONS: options.max_iterations,
        layout.SCREEN: options.screen,
        layout.PASSES: options.saturating_passes,
        layout.STALL_COUNT: options.stall_count if options.restarts else options.patience_count,
    }
    assert {key: integers[key] for key in expected} == {key: int(value) for key, value in expected.items()}
    units = [[b.start, b.stop - b.start] for b in problem.space.unit_blocks]
    assert records(integers, integers[layout.UNITS], 2) == units
    moved = sorted(itertools.chain.from_iterable(_columns_moved(integers, problem)))
    assert moved == list(range(live.size))
    bounds = problem.bounds
    limited = np.flatnonzero(np.isfinite(bounds.lower) | np.isfinite(bounds.upper)).tolist()
    assert counted(integers, integers[layout.ALL_BOUNDED]) == limited
    kept, unkept = (counted(integers, integers[name]) for name in (layout.BOX, layout.UNKEPT))
    assert sorted([*kept, *unkept]) == limited
    assert set(counted(integers, integers[layout.TURNING])) <= set(unkept)


def _columns_moved(integers: Guarded, problem: Problem) -> Iterator[list[int]]:
    """Columns of each record of what steps move, those of computed and of fixed dofs left out."""
    live, widths = integers[layout.LIVE], {layout.SO2: 1, layout.SO3: 3, layout.SE2: 3, layout.SE3: 6}
    for kind, _, column in records(integers, integers[layout.MOVES], 3):
        columns = [column] if kind == layout.VECTOR else [integers[column + i] for i in range(widths[kind])]
        yield [c for c in columns if 0 <= c < live]


def test_constants_of_the_options_stand_where_they_are_read() -> None:
    for restarts in (True, False):
        options = Options(restarts=restarts, threshold=1e-5, damping=0.04, cap=0.9, stall_ratio=0.7, patience_ratio=0.6)
        tables = tables_of(Problem(arm(), [equal(Pose(arm(), "tool"))]), options)
        at = tables.integers[layout.THRESHOLDS]
        assert [tables.floats[at + i] for i in range(4)] == [1e-5, 0.04, 0.9, 0.7 if restarts else 0.6]


def test_a_trace_has_room_for_all_iterates_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(arm(), [equal(Pose(arm(), "tool"))])
    monkeypatch.setattr(problem_packed, "TRACE_SIZE", (30 + 2) * (arm().nq + 2))
    assert why_not(problem, Options(trace=True, max_iterations=30)) is None
    assert why_not(problem, Options(trace=True, max_iterations=31)) == "the option trace of up to 31 iterations"
    assert why_not(problem, Options(max_iterations=31)) is None
    assert tables_of(problem).integers[layout.TRACE] == 0


def test_bodies_are_those_with_bounds_that_steps_move() -> None:
    for planar, size in ((False, 3), (True, 2)):
        problem = boxed(planar).problem
        assert records(*_bodies(problem), 4) == [[size, 0, size, 0]]
    robot = boxed(False).problem.robot
    assert robot is not None
    for fixed in (Problem(robot, [equal(Pose(robot, "tool"))], frozen=["base"]),
                  Problem(robot, [equal(Position(robot, "tool", reference="base"))])):  # fmt: skip
        assert records(*_bodies(fixed), 4) == []
        assert why_not(fixed) is None


def _bodies(problem: Problem) -> tuple[Guarded, int]:
    integers = tables_of(problem).integers
    return integers, integers[layout.BODIES]


def test_rows_that_do_not_count_are_neither_packed_nor_evaluated() -> None:
    robot = arm()
    mine = Function.from_callable(lambda q: [q @ q], robot.space, Rn(1), name="mine")
    nothing = [Implicit(mine, mask=[False], name="none"), Implicit.equal(Pose(robot, "tool"), mask=np.zeros(6, bool))]
    place = equal(Position(robot, "elbow"), name="place")
    problem = Problem(robot, [place, *nothing])
    assert why_not(problem) is None
    integers = tables_of(problem).integers
    alone = tables_of(Problem(robot, [place])).integers
    for name, size in ((layout.RANGES, 2 * alone[layout.LIVE]), (layout.PROFILE, 6)):
        assert [integers[integers[name] + i] for i in range(size)] == [alone[alone[name] + i] for i in range(size)]
    others = range(2 * alone[layout.LIVE], 2 * integers[layout.LIVE])
    assert not any(integers[integers[layout.RANGES] + i] for i in others)
    assert integers[integers[integers[layout.LEVEL_TABLE] + layout.BLOCKS]] == 1


def test_columns_without_rows_have_no_range_even_when_mixed() -> None:
    ranges = row_ranges(6, [(slice(0, 2), [0]), (slice(2, 3), [5])], [np.array([1, 2]), np.array([], dtype=int)])
    assert ranges.tolist() == [[0, 2], [0, 0], [0, 0], [0, 0], [0, 0], [2, 3]]


# Joints.


def test_joints_are_moved_by_their_entries_and_by_what_carries_them() -> None:
    robot, packer = two_arms(), Packer(two_arms().nv)
    packer.header[layout.Q] = packer.filled(robot.neutral)
    tree = PackedTree(packer, robot, Argument(packer.header[layout.Q], np.arange(robot.nv)))
    for frame in ("left_tool", "right_tool"):
        tree.joint(robot.frame(frame).joint)
    model: Any = robot.model
    for entry in range(robot.nq):
        expected = set[int]()
        for number, joint in enumerate(tree.joints):
            index = next(i for i in range(1, model.njoints) if int(model.joints[i].idx_q) == joint.entries[0])
            support = {int(model.joints[i].idx_q) for i in model.supports[index] if i}
            if entry in support:
                expected.add(number)
        assert tree.moved_by([entry]) == expected
        lowest = min(expected, default=None)
        if lowest is not None:
            assert lowest in tree.with_carriers([max(expected)])
    assert tree.with_carriers([-1]) == set()


def test_joints_are_placed_once_unless_something_moved_them() -> None:
    """Of a wrist that follows the elbow, another that follows it, and a box in the hand: each joint is placed when its
    entries are known, and the last time holds all that levels need."""
    problem = chain(Options()).problem
    integers = tables_of(problem).integers
    record = layout.JOINT_SIZE

    def entries(at: int) -> list[int]:
        return [joint[layout.ENTRY] for joint in records(integers, at, record)]

    generations = records(integers, integers[layout.GENERATIONS], layout.GENERATION_SIZE)
    placed = [entries(joints) for joints, _, _ in generations]
    arm_and_object = list(range(problem.space.nq - 6))  # seven joints, and the body's one entry
    assert placed == [[], [], arm_and_object[:-1]] or placed[-1] == arm_and_object[:-1]
    assert entries(integers[layout.FINAL_JOINTS]) == [arm_and_object[-1]]
    assert sorted(entries(integers[layout.ALL_JOINTS])) == arm_and_object


# Values that are not there, and bounds that computed bodies leave.


def undefined() -> Problem:
    """Rows that overflow everywhere, of a joint that may turn, beside others that may."""
    robot = arm()
    over = Polynomial([1e300, 0.0, 1e300], np.eye(7)[0], 1e10, inputs=robot.space)
    return Problem(robot, [Implicit.zero(over)], Bounds(robot.space, np.full(7, -np.pi), np.full(7, np.pi)))


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("options", [Options(max_iterations=5), Options.local()], ids=["again", "one try"])
def test_rows_that_have_no_value_anywhere_leave_the_start_as_it_came(options: Options) -> None:
    problem = undefined()
    guarded = GuardedProblem(problem, options)
    for start in (np.zeros(7), np.full(7, 4.0), np.full(7, -3.5)):
        found = guarded.project(start, problem.rhs)
        assert (found.status, found.residual) == (Status.UNDEFINED, np.inf)
        np.testing.assert_array_equal(found.q, start)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_an_optional_level_without_a_value_is_as_if_it_were_not_there() -> None:
    """Its error overflows, or its slope alone, or its function has none off the floor: the level above goes its way."""
    robot, rng = arm(), np.random.default_rng(3)
    first, far = np.eye(7)[0], 3.0
    place = Implicit.equal(Position(robot, "tool"), [0.4, 0.1, 0.5], name="place")
    start = robot.random(rng)
    start[0] = 0.0
    contact = PoseOfContact(contacts()[0].surfaces_of(("floor", "foot"))[0])
    space, off = contact.inputs, contact.inputs.neutral.copy()
    off[5:7] = far
    beside = Implicit.zero(
        Affine(np.eye(5, 7), [0.3] * 5).on(space, Segments.coordinates(space, range(7))), name="five"
    )
    undefined = {
        "error": (robot, place, Polynomial([1e300, 0.0, 1e300], first, 1e10, inputs=robot.space), start),
        "slope": (robot, place, Polynomial([0.0, 1e200], 1e150 * first, inputs=robot.space), start),
        "contact": (space, beside, contact, off),
    }
    for where, above, f, q in undefined.values():
        level = Implicit(f, Comparison.EQUALITY, name="optional")
        problem = Problem(where, [[above], [level]], optional_last=True)
        options = Options.local(max_iterations=12, trace=True)
        found = GuardedProblem(problem, options).check(q)
        alone = GuardedProblem(Problem(where, [above]), options).check(q)
        assert found.status is alone.status is Status.CONVERGED
        np.testing.assert_allclose(found.q, alone.q, rtol=0.0, atol=1e-4)


def test_a_solution_is_a_solution_again_without_an_iteration() -> None:
    for name in ("outputs of outputs", "scaled outputs", "carried", "placed", "levels, optional", "whole turns"):
        case = CASES[name]()
        guarded = GuardedProblem(case.problem, case.options)
        for q, rhs in case.starts(3):
            found = guarded.project(q, rhs)
            if found.status is Status.CONVERGED:
                again = guarded.check(found.q, rhs)
                assert again.q.tobytes() == found.q.tobytes()
                assert again.iterations == 0


def test_a_projection_ends_where_a_computed_body_leaves_its_bounds() -> None:
    robot = arm_and_box()
    held = explicit_relative_pose(robot, "gripper", "handle", name="held")
    box, ended = robot.space.leaves()[-1].q, list[Status]()
    lower, upper = robot.bounds.lower.copy(), robot.bounds.upper.copy()
    lower[box.start], upper[box.start + 1] = 0.0, 0.1
    problem = Problem(robot, [held], Bounds(robot.space, lower, upper))
    options = Options(max_iterations=20)
    bodies = ComputedBodies(problem, options.threshold)
    assert bodies
    guarded, rng = GuardedProblem(problem, options, bodies), np.random.default_rng(4)
    integers = guarded.tables.integers
    assert counted(integers, integers[layout.LEAVING]) == [box.start, box.start + 1]
    for _ in range(12):
        found = guarded.project(robot.random(rng), problem.rhs)
        inside = ((lower <= found.q) & (found.q <= upper)).all()
        assert found.status is (Status.CONVERGED if inside else Status.OUT_OF_BOUNDS)
        assert found.restarts == 0
        ended.append(found.status)
    assert len(set(ended)) == 2


def test_a_solution_in_the_gap_of_almost_a_turn_is_put_at_its_end_and_gone_on_from() -> None:
    """A joint whose range is a turn less 8e-7 rad, and a pose that only its middle reaches: 4e-7 rad are no error to a
    threshold of 1e-5, and one to 1e-8."""
    robot, width, goal = arm(), np.full(7, np.pi - 4e-7), np.linspace(-0.5, 0.5, 7)
    goal[2] = 0.2 + np.pi
    tool = Implicit.equal(Pose(robot, "tool"), robot.at(goal).placement(robot.frame("tool")), name="tool")
    bounds = Bounds(robot.space, 0.2 - width, 0.2 + width)
    problem = Problem(robot, [tool], bounds, frozen=np.arange(7) != 2)
    start = goal - 0.2 * (np.arange(7) == 2)
    for options, status, iterations in (
        (Options.local(threshold=1e-5, trace=True), Status.CONVERGED, 2),
        (Options.local(threshold=1e-8, trace=True), Status.STATIONARY, 6),
        (Options(threshold=1e-8, max_iterations=30, trace=True), Status.STALLED, 30),
    ):
        found = GuardedProblem(problem, options).check(start)
        assert (found.status, found.iterations) == (status, iterations)
        assert found.q[2] == bounds.upper[2]
        assert 3e-7 < found.residual < 5e-7


# Rows of a batch.


def rows_of_batch(n: int, many: bool) -> tuple[Any, Any, Sequence[Any]]:
    case = CASES["a pose"]()
    guarded, starts = GuardedProblem(case.problem, Options(max_iterations=3)), case.starts(n)
    return guarded, np.array([q for q, _ in starts]).reshape(n, -1), [rhs for _, rhs in starts][: n if many else 1]


@pytest.mark.parametrize(("n", "many"), [(1, True), (15, False), (16, True), (17, True), (33, False)])
def test_rows_are_taken_sixteen_at_a_time(n: int, many: bool) -> None:
    """Each as alone; and nobody's row is touched where others took the first ones."""
    guarded, Q, sides = rows_of_batch(n, many)
    many_rows, found = plain("many"), Outcomes.empty(*Q.shape)
    alone = [guarded.project(q, sides[i if many else 0]) for i, q in enumerate(Q)]
    for first in (0, min(16, n)):
        turn, figures = np.array([first]), np.full((n, 4), np.nan)
        found.q[:] = np.nan
        whole = np.array([side.vector for side in sides])
        memory = guarded.tables.packed
        where = memory.integers, memory.floats, *(memory.work.copy() for _ in range(4))
        many_rows.project_rows(where, (turn,), Q, whole, found.q, figures)
        assert turn[0] == first + 16 * (1 + max(0, -(-(n - first) // 16)))
        assert np.isnan(found.q[:first]).all()
        for i in range(first, n):
            assert found.q[i].tobytes() == alone[i].q.tobytes()
            assert tuple(figures[i, 1:]) == alone[i][2:]


# Signs of quaternions.


def test_a_product_keeps_the_sign_of_its_quaternion() -> None:
    """But where it is the pose of a frame, whose sign is that of the matrix."""
    rng, robot = np.random.default_rng(2), arm()
    free, split = (Translated(Identity(group), group.random(rng)) for group in (SE3, R3xSO3))
    for f in (free, split, Translated(Pose(robot, "tool", outputs=R3xSO3), R3xSO3.random(rng))):
        packed = Packed(f)
        for _ in range(8):
            check(packed, f.inputs.integrate(f.inputs.neutral, rng.uniform(-3.0, 3.0, f.inputs.nv)))
    packed = Packed(Translated(Pose(robot, "tool"), SE3.random(rng)))
    for _ in range(8):
        value = packed.value(rng.uniform(-3.0, 3.0, robot.nq))
        np.testing.assert_allclose(value, pin.SE3ToXYZQUAT(pin.XYZQUATToSE3(value)), atol=1e-12)
