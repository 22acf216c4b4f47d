"""Packed functions against the readable ones: value and Jacobian, at random and at bad places."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, mixed_tree, two_arms
from samples import SAMPLES, arm_frames, two_arms_frames

import constraints.functions
import constraints.loops
from constraints import (
    Affine,
    CenterOfMass,
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Function,
    Implicit,
    Options,
    Orientation,
    Pose,
    Position,
    Problem,
    Robot,
    Rotation,
    Stacked,
    Surface,
    Transformation,
)
from constraints.errors import UndefinedError
from constraints.functions import Constant, Identity, Polynomial
from constraints.functions.contact.contact_pose import PoseOfContact
from constraints.functions.frames.pose_from_rows import PoseFromRows
from constraints.functions.translation import RightTranslation, Translated
from constraints.rows.twin import Twin
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, R3xSO3, Rn, Segments, Space

pytest.importorskip("numba")

from constraints.solvers.compiled.engine import why_not
from constraints.solvers.compiled.functions import TABLE, pack_function
from constraints.solvers.compiled.packing import Argument, Packer
from constraints.solvers.compiled.problem import packed as packed_problem
from constraints.solvers.machine import jit, layout
from constraints.solvers.tape.tape import run_tape
from constraints.solvers.tape.trees import place

Numbers = Any  # the name that the kernels' type is known by


@jit.entrance
def _run(where: Numbers, joints: int, tape: int, jacobian: int) -> bool:
    """Place joints, and run a tape."""
    I, F, W = jit.integers_at(where[0]), jit.floats_at(where[1]), jit.floats_at(where[2])  # noqa: E741
    place(I, F, W, joints, I[layout.Q], jacobian)
    return run_tape(I, F, W, tape, jacobian)


class Packed:
    """A function alone, packed.

    Args:
        f: the function.
        columns: the column of each of its tangent coordinates, or -1; all in their order by default.
    """

    def __init__(self, f: Function, columns: Any = None) -> None:
        self.f, self.columns = f, np.arange(f.inputs.nv, dtype=np.int64) if columns is None else columns
        packer = Packer(int((self.columns >= 0).sum()))
        header = packer.header
        header[layout.Q] = packer.filled(f.inputs.neutral)
        header[layout.TWISTS] = packer.memory(6 * packer.columns)
        argument = Argument(header[layout.Q], self.columns, is_configuration=True)
        self.q, self.result = header[layout.Q], packer.own_result(f, argument)
        self.tape = packer.recorded(lambda: pack_function(packer, f, argument, self.result))
        tree = packer.joints
        self.joints = packer.counted([]) if tree is None else tree.table(tree.with_carriers(packer.used))
        self.record = header[layout.CALLS] = packer.memory(layout.CALL_SIZE) if packer.calls.called else 0
        self.calls, self.arrays = packer.calls, packer.arrays()

    def instructions(self) -> Any:
        """All of them, one a row."""
        table, size = self.arrays[0], layout.INSTRUCTION_SIZE
        return table[self.tape + 1 :][: size * table[self.tape]].reshape(-1, size)

    def declared(self) -> set[int]:
        """Columns that are written into the result."""
        table, rows = self.arrays[0], range(self.result.jacobian, self.result.jacobian + self.f.outputs.nv)
        lists = [int(i[layout.COLS]) for i in self.instructions() if i[layout.J] in rows]
        return {int(c) for at in lists for c in table[at + 1 :][: table[at]]}

    def value(self, q: Any, asked: int = layout.VALUES) -> Any:
        """The value."""
        work, value = self.arrays[2], self.result.value
        work[self.q : self.q + self.f.inputs.nq] = q
        if self.record:
            work[self.record + layout.MAY_CALL] = 1.0
        if not _run(jit.places(*self.arrays), self.joints, self.tape, asked):
            raise UndefinedError(self.f.name)
        return work[value : value + self.f.outputs.nq].copy()

    def linearise(self, q: Any) -> tuple[Any, Any]:
        """Value and Jacobian."""
        value, rows, at = self.value(q, layout.WITH_JACOBIAN), self.f.outputs.nv, self.result.jacobian
        kept, J = self.columns >= 0, np.zeros((rows, self.f.inputs.nv))
        packed = self.arrays[2][at : at + rows * int(kept.sum())].reshape(-1, rows).T
        J[:, kept] = packed[:, self.columns[kept]]
        return value, J


def places(space: Space, seed: int, count: int = 6) -> list[Any]:
    """Random points, the neutral one, and points next to it."""
    rng = np.random.default_rng(seed)
    steps = [rng.normal(0.0, 1.0, space.nv) for _ in range(count)]
    steps += [scale * rng.normal(0.0, 1.0, space.nv) for scale in (0.0, 1e-9, 1e-4, 3.0)]
    return [space.integrate(space.neutral, step) for step in steps]


def close(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    """To 1e-12 of the largest entry, and not a number at the same places."""
    a, b = np.asarray(a), np.asarray(b)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return False
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    return bool(np.abs(a - b).max(initial=0.0) <= tolerance * max(1.0, float(np.abs(b).max(initial=0.0))))


def same_value(space: Space, a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    """Numbers of a point, rotations up to the sign of their quaternion where a half turn leaves it free."""
    if close(a, b, tolerance):
        return True
    flipped = a.copy()
    for block in space.unit_blocks:
        if block.stop - block.start == 4 and abs(b[block.stop - 1]) < 1e-12:
            flipped[block] *= np.sign(a[block] @ b[block])
    return close(flipped, b, tolerance)


def check(packed: Packed, q: Any, tolerance: float = 1e-12) -> None:
    """Value, value with Jacobian, and Jacobian at one place."""
    f = packed.f
    try:
        expected = f.linearise(q)
    except UndefinedError:
        with pytest.raises(UndefinedError):
            packed.linearise(q)
        return
    value, jacobian = packed.linearise(q)
    expected_jacobian = np.where(packed.columns >= 0, expected.jacobian, 0.0)
    assert same_value(f.outputs, value, expected.value, tolerance), (value, expected.value)
    assert close(jacobian, expected_jacobian, tolerance), np.abs(jacobian - expected_jacobian).max(axis=0)
    assert np.array_equal(packed.value(q), value, equal_nan=True)


CALLED = (
    *("FromCallable", "DistanceBetween", "through a robot", "Lifted, by differences", "Composition, to a group"),
    *("Manipulability", "SmallestSingularValue", "StaticStability", "ContactForces", "SupportPolygon", "StaticTorques"),
)
"""Samples that are, or hold, what is called."""


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_the_readable_function(name: str) -> None:
    packed = Packed(SAMPLES[name]())
    assert bool(packed.calls.called) == (name.startswith(CALLED) or CALLED[2] in name)
    assert packed.declared() == set(np.flatnonzero(packed.f.columns))
    for q in places(packed.f.inputs, 1):
        check(packed, q, 1e-9 if name.startswith("FromCallable") else 1e-12)  # some by differences


def some_columns(nv: int, seed: int) -> Any:
    """Columns in another order, some of them left out."""
    rng = np.random.default_rng(seed)
    kept = rng.permutation(nv)[: (2 * nv + 2) // 3]
    columns = np.full(nv, -1, dtype=np.int64)
    columns[kept] = np.arange(kept.size)
    return columns


@pytest.mark.parametrize(
    "name",
    ["Transformation, relative (two arms)", "Pose, relative, R3xSO3 (two arms)", "CenterOfMass, relative (humanoid)",
     "ComBetweenFeet, three frames", "ConvexShapeContactHold, nearest of four", "Affine", "Polynomial of joints",
     "Identity of a robot", "Difference", "Stacked", "Sum, weighted", "Lifted, last factor", "Lifted, composed",
     "Composition", "Restriction"],
)  # fmt: skip
def test_columns_may_stand_elsewhere_or_not_at_all(name: str) -> None:
    f = SAMPLES[name]()
    for seed in range(3):
        packed = Packed(f, some_columns(f.inputs.nv, seed))
        for q in places(f.inputs, seed, 2):
            check(packed, q)


@pytest.mark.parametrize(
    "name",
    ["Pose (arm)", "Transformation, relative (two arms)", "CenterOfMass, relative (humanoid)", "Sum, weighted",
     "ComBetweenFeet, three frames", "ConvexShapeContactHold, nearest of four", "Stacked", "Restriction"],
)  # fmt: skip
def test_all_memory_of_a_function_is_written(name: str) -> None:
    """But for columns that it has not: no piece is longer than what it is for."""
    pieces = list[tuple[int, int]]()

    def memory(packer: Packer, size: int) -> int:
        pieces.append((packer.filled(np.zeros(size)), size))
        return pieces[-1][0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Packer, "memory", memory)
        packed = Packed(SAMPLES[name]())
    work, q = packed.arrays[2], places(packed.f.inputs, 3, 1)[0]
    for at, size in pieces:
        work[at : at + size] = np.nan
    packed.linearise(q)
    jacobians = {packed.arrays[0][layout.TWISTS], *packed.instructions()[:, layout.J].tolist()}
    assert all(at in jacobians for at, size in pieces if np.isnan(work[at : at + size]).any())


def test_functions_of_rows_in_other_columns() -> None:
    floor = contacts()[0].surfaces_of(("floor", "foot"))[0]
    for f, q in ((PoseFromRows(), [0.1, -2.0, 3.0, 0.4, -0.5, 0.6]),
                 (PoseOfContact(floor, 0.1), [0.1, 0.2, 0.3, -0.4, 0.5, 0.1, -0.2, 0.6, -0.8])):  # fmt: skip
        for seed in range(4):
            check(Packed(f, some_columns(f.inputs.nv, seed)), np.array(q))


def test_blocks_of_several_pieces_are_gathered() -> None:
    space = ProductSpace([Rn(2), SO3, Rn(1), SE2, Rn(2)])
    pieces = Segments.coordinates(space, [1, 2, 3, 4, 6, 7, 8, 10])
    whole = Identity(pieces.space).on(space, pieces)
    numbers = Affine([[1.0, -2.0, 0.5]]).on(space, Segments.coordinates(space, [0, 5, 10]))
    element = pieces.space.random(np.random.default_rng(11))
    for f in (
        whole,
        numbers,
        whole - Constant(element, pieces.space, space),
        Stacked(numbers, Translated(whole, element)),
    ):
        for columns in (None, some_columns(space.nv, 12)):
            packed = Packed(f, columns)
            for q in places(space, 12, 3):
                check(packed, q)


# Frames: at rest, half a turn apart, and where the series of the logarithm begin.

ANGLES = (0.0, 1e-12, 1e-8, 9.9e-5, 1.1e-4, 0.03, 1.0 - 1e-9, 1.0 + 1e-9, 1.5**0.5 - 1e-9, 1.5**0.5 + 1e-9, 2.8, 3.0)
LONG_ANGLES = (np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9)
AXES = ([1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [-0.48, 0.64, 0.6])
ROBOTS: dict[str, tuple[Callable[[], Robot], str]] = {
    "arm": (arm, "tool"),
    "two arms": (two_arms, "left_tool"),
    "humanoid": (humanoid, "larm6_joint"),
    "mixed": (mixed_tree, "helical"),
}


def turned_away(robot: Robot, frame: str, angle: float, axis: list[float], q: Any) -> Any:
    """A reference in the world that is a rotation away from a frame at q."""
    pose = robot.at(q).placement(robot.frame(frame))
    turn = pin.SE3(pin.AngleAxis(angle, np.array(axis)).toRotationMatrix(), np.zeros(3))
    return pose * turn.inverse()


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("kind", [Orientation, Transformation, Rotation, Pose, Position])
def test_frames_at_small_and_long_turns(robot: str, kind: Any) -> None:
    make, frame = ROBOTS[robot]
    built = make()
    for q in places(built.space, 2, 1):
        for n, angle in enumerate(ANGLES + LONG_ANGLES):
            reference = turned_away(built, frame, angle, AXES[n % len(AXES)], q)
            check(Packed(kind(built, frame, reference)), q)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("kind", [Orientation, Transformation])
def test_half_a_turn_may_go_to_either_side(robot: str, kind: Any) -> None:
    make, frame = ROBOTS[robot]
    built = make()
    for axis in AXES:
        q = built.space.neutral
        reference = turned_away(built, frame, np.pi, axis, q)
        f, angular = kind(built, frame, reference), Rotation(built, frame, reference).jacobian(q)
        value, jacobian = Packed(f).linearise(q)
        expected = f.linearise(q)
        vector, known = value[-3:], expected.value[-3:]
        assert close(vector, known) or close(vector, -known)
        assert close(jacobian[-3:], SO3.log_jacobian(vector) @ angular)
        assert close(value[:-3], expected.value[:-3])
        assert close(jacobian[:-3], expected.jacobian[:-3])


# Groups: every kind of leaf.

GROUP = ProductSpace([Rn(2), SO2, SE2, SO3, R3xSO3, SE3, Rn(1)])


def _both() -> tuple[Space, Function, Function]:
    whole = ProductSpace([GROUP, GROUP])
    first, second = (Identity(GROUP).on(whole, Segments.of(whole, i)) for i in range(2))
    return whole, first, second


def apart(x: Any, angle: float, axis: list[float]) -> Any:
    """A point of the group whose rotations are an angle away from those of x."""
    step = np.concatenate([
        [0.3, -0.4], [angle], [0.5, 2.0, -angle], angle * np.array(axis), [0.1, -3.0, 1.0], -angle * np.array(axis),
        [1.0, -2.0, 0.7], angle * np.array(axis), [0.0],
    ])  # fmt: skip
    return GROUP.integrate(x, step)


def functions_of_pairs() -> dict[str, Function]:
    whole, f, g = _both()
    element = GROUP.random(np.random.default_rng(4))
    return {
        "twin": Twin(f, g),
        "twin of products": Twin(Translated(f, element), g),
        "difference": g - f,
        "difference the other way": f - g,
        "translated": Translated(f, element),
        "translated difference": Translated(Twin(f, g), element, RightTranslation(GROUP, element)),
        "constant": g - Constant(element, GROUP, whole),
        "logarithm rows": (g - f).restricted([2, 5, 7, 11]),
        "some leaves": Twin(f, g).restricted([0, 2, 3, 4, 5, 6, 7, 8]),
    }


@pytest.mark.parametrize("name", functions_of_pairs())
def test_groups_at_small_and_long_turns(name: str) -> None:
    packed, rng = Packed(functions_of_pairs()[name]), np.random.default_rng(5)
    for n, angle in enumerate(ANGLES + LONG_ANGLES):
        for x in (GROUP.neutral, GROUP.integrate(GROUP.neutral, rng.normal(0.0, 1.0, GROUP.nv))):
            check(packed, np.concatenate([x, apart(x, angle, AXES[n % len(AXES)])]))


@pytest.mark.parametrize("name", functions_of_pairs())
def test_groups_at_a_half_turn(name: str) -> None:
    packed = Packed(functions_of_pairs()[name])
    half = np.concatenate(
        [[0.3, -0.4], [-1.0, 0.0], [0.5, 2.0, -1.0, 0.0], [0.0, 0.6, 0.8, 0.0], [0.1, -3.0, 1.0, 1.0, 0.0, 0.0, 0.0],
         [1.0, -2.0, 0.7, 0.0, 0.0, -1.0, 0.0], [0.0]]
    )  # fmt: skip
    check(packed, np.concatenate([GROUP.neutral, half]))


@pytest.mark.parametrize("angle", ANGLES + LONG_ANGLES)
def test_poses_from_rows_at_small_and_long_turns(angle: float) -> None:
    packed = Packed(PoseFromRows())
    for axis in AXES:
        for turns in (0.0, 2.0 * np.pi):
            check(packed, np.concatenate([[0.1, -2.0, 3.0], (angle + turns) * np.array(axis)]))


# Numbers.


def test_affine_rows_without_entries_are_their_offset() -> None:
    f = Affine([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]], [1.0, -1.0, 0.5])
    for g in (f, f.restricted([0, 2]), f.restricted([1]), f + f, Stacked(f, f), Affine(np.ones((1, 3))) @ f):
        for q in places(Rn(3), 6, 2):
            check(Packed(g), q)


def test_affine_leaves_nothing_behind_what_others_did_to_its_rows() -> None:
    packed = Packed(Affine([[1.0, 0.0], [0.5, 2.0]]))
    packed.arrays[2][packed.result.jacobian :] = 7.0
    check(packed, np.array([0.3, -0.2]))


@pytest.mark.parametrize("coefficients", [[2.0], [1.0, 0.0], [0.0, 3.0], [1.0, -2.0, 0.0, 0.0, 4.0]])
def test_polynomials_of_any_degree(coefficients: list[float]) -> None:
    f = Polynomial(coefficients, [0.0, -2.0, 0.5], 0.25)
    several: list[Function] = [f, Stacked(f, Affine(np.ones((1, 3)))), f @ Affine(np.eye(3, 2))]
    for g in several:
        for q in places(g.inputs, 7, 2):
            check(Packed(g), q)


def test_sums_and_differences_of_functions_with_different_columns() -> None:
    robot = two_arms_frames()
    f = Position(robot, "a") - 2.0 * Position(robot, "b", reference="c") + 0.0 * CenterOfMass(robot, ["right_elbow"])
    constant = Constant([1.0, 2.0, 3.0], Rn(3), robot.space)
    for g in (f, f + constant, constant - f, Stacked(constant, f), 3.0 * constant + constant):
        for q in places(robot.space, 8, 2):
            check(Packed(g), q)


# Contacts.

SQUARE = [[-0.5, -0.25, 0.0], [0.5, -0.25, 0.0], [0.5, 0.25, 0.0], [-0.5, 0.25, 0.0]]


def loose_body() -> Robot:
    """One body that is free in space."""
    model = pin.Model()
    index = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Identity())
    return Robot(model, "loose")


def touching(f: Any, position: list[float], rotation: Any) -> Any:
    """The configuration of the loose body that has its surface there, seen from the floor's."""
    floor, surface = f.surfaces_of(f.pairs[0])
    pose = floor.inward * pin.SE3(np.array(rotation), np.array(position)) * surface.outward.inverse()
    return pin.SE3ToXYZQUAT(pose)


def tilted(angle: float, direction: float, twist: float) -> Any:
    """A rotation that tilts x by an angle, after a turn about x."""
    axis = np.array([0.0, np.cos(direction), np.sin(direction)])
    tilt = pin.AngleAxis(angle, axis).toRotationMatrix()
    return tilt @ pin.AngleAxis(twist, np.array([1.0, 0.0, 0.0])).toRotationMatrix()


def contacts() -> list[Any]:
    robot = loose_body()
    floor, foot = Surface("floor", robot.frame("universe"), SQUARE), Surface("foot", robot.frame("body"), SQUARE)
    kinds: tuple[Any, ...] = (ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold)
    return [kind(robot, floor, foot, 0.125) for kind in kinds]


@pytest.mark.parametrize("kind", range(3))
def test_contacts_inside_beside_and_beyond_the_polygon(kind: int) -> None:
    f = contacts()[kind]
    packed = Packed(f)
    for y in (-0.75, -0.5, -0.25, -0.125, 0.0, 0.25, 0.5, 0.625):
        for z in (-0.625, -0.5, -0.25, 0.0, 0.125, 0.25, 0.5, 0.75):
            check(packed, touching(f, [-0.125, y, z], np.eye(3)))


@pytest.mark.parametrize("kind", range(3))
def test_contacts_at_small_and_long_tilts(kind: int) -> None:
    f = contacts()[kind]
    packed = Packed(f)
    end = np.arcsin(0.03)
    for tilt in (0.0, 1e-12, 1e-9, 1e-5, end - 1e-9, end + 1e-9, 0.5 * np.pi, 2.0 * np.pi / 3.0, 3.0):
        limit = 1e-11 if tilt == 3.0 else 1e-12
        for direction, twist in ((0.0, 0.0), (1.0, 0.7), (4.0, np.pi), (2.5, -3.0)):
            check(packed, touching(f, [0.1, 0.2, -0.6], tilted(tilt, direction, twist)), limit)
    for upside_down in (np.diag([-1.0, 1.0, -1.0]), np.diag([-1.0, -1.0, 1.0])):
        check(packed, touching(f, [0.1, 0.2, -0.6], upside_down))


def test_the_nearest_pair_counts_and_columns_of_the_others_are_zero() -> None:
    f: Any = SAMPLES["ConvexShapeContactHold, nearest of four"]()
    packed, seen, rng = Packed(f), set[Any](), np.random.default_rng(9)
    for _ in range(30):
        q = f.inputs.integrate(f.inputs.neutral, rng.normal(0.0, 1.5, f.inputs.nv))
        seen.add(f.pair_at(q))
        check(packed, q)
    assert len(seen) > 1


def test_pose_of_a_contact() -> None:
    floor = contacts()[0].surfaces_of(("floor", "foot"))[0]
    packed, rng = Packed(PoseOfContact(floor, 0.1)), np.random.default_rng(10)
    for tilt in (0.0, 1e-12, 1e-5, 1.0 - 1e-9, 1.0 + 1e-9, 3.0, np.pi):
        for angle in (0.0, 1e-9, 1.0, -2.0, np.pi - 1e-9):
            direction, place = rng.uniform(0.0, 6.0), floor.polygon[0] * rng.uniform(0.0, 1.0)
            h = [*rng.normal(0.0, 1.0, 3), tilt * np.cos(direction), tilt * np.sin(direction), *place]
            check(packed, np.array([*h, np.cos(angle), np.sin(angle)]))
    for turned in ([-1.0, 0.0], [0.0, -1.0]):
        check(packed, np.array([0.0, 0.1, 0.2, 0.0, 0.0, *floor.polygon[1], *turned]))


def test_pose_of_a_contact_off_the_floor_has_no_value() -> None:
    floor = contacts()[0].surfaces_of(("floor", "foot"))[0]
    f, corner = PoseOfContact(floor), floor.polygon[2]
    packed = Packed(f)
    for far, has_value in ((1.0 + 1e-10, True), (1.0 + 1e-7, False), (2.0, False)):
        q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, *(far * corner), 1.0, 0.0])
        if has_value:
            check(packed, q)
            continue
        for evaluate in (f.value, packed.value, packed.linearise):
            with pytest.raises(UndefinedError):
                evaluate(q)


# What is packed.

NOT_PACKED = {
    "CompiledFunction": "machine code of the user's",
    "DistanceBetween": "the example of a function of the user's",
    **dict.fromkeys(("StaticStability", "ContactForces", "StaticTorques"), "factorisations"),
    "SupportPolygon": "hulls",
    "Manipulability": "singular values, and second derivatives of the kinematics",
    "SmallestSingularValue": "the same",
    "_Pair": "the pose that contacts look at, without rows of its own",
}
"""Functions of the library that are called, and why."""


def library_functions() -> list[type[Function]]:
    """The classes of all modules of functions and of loops that functions can be made of."""
    rooms = constraints.functions, constraints.loops
    names = [module.name for room in rooms for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    found = [thing for name in names for thing in vars(importlib.import_module(name)).values()]
    classes = {c for c in found if isinstance(c, type) and issubclass(c, Function)}
    return sorted((c for c in classes if not inspect.isabstract(c)), key=lambda c: c.__name__)


@pytest.mark.parametrize("function", library_functions(), ids=lambda c: c.__name__)
def test_each_function_of_the_library_is_packed_or_called_for_a_reason(function: type[Function]) -> None:
    assert (function in TABLE) != (function.__name__ in NOT_PACKED)


class Raised(Position):
    """A user's function, made from one of the library."""

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        super().evaluate(point, value, jacobian)
        value[2] += 1.0


def norm(p: Any) -> Any:
    return np.sqrt(p @ p)


@pytest.mark.parametrize("depth", range(4))
def test_of_functions_of_a_user_only_the_part_in_python_is_called(depth: int) -> None:
    robot = arm_frames()
    raised = Raised(robot, "b", name="raised tool")
    distance = Function.from_callable(norm, Rn(3), Rn(1), name="distance", trace=False)
    f: Function = (raised, Stacked(Position(robot, "a"), raised), 2.0 * raised, distance @ Position(robot, "b"))[depth]
    problem = Problem(robot, [Implicit(f)])
    assert why_not(problem) is None
    calls = packed_problem(problem, Options()).calls
    assert calls is not None
    assert calls.in_python == ([distance] if depth == 3 else [raised])
    packed = Packed(f)
    for q in places(f.inputs, 2):
        check(packed, q, 1e-9 if depth == 3 else 1e-12)


def test_a_function_at_a_computed_configuration_is_called() -> None:
    robot = arm_frames()
    tool = Pose(robot, "b", name="tool pose")
    packed = Packed(tool @ Affine(np.eye(7), inputs=robot.space))
    assert packed.calls.in_python == [tool]
    for q in places(robot.space, 3):
        check(packed, q)
