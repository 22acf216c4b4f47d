"""Derivatives of forward dynamics: mechanisms, every kind of row, forces, wrenches, against differences of results."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mpmath
import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few, draws
from robots import mixed_tree
from samples import placement, two_arms_frames

from constraints import (
    Affine,
    CenterOfMass,
    ComBetweenFeet,
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Explicit,
    Function,
    Implicit,
    Orientation,
    Pose,
    Position,
    Robot,
    Rotation,
    Stacked,
    Surface,
    Target,
    Transformation,
    dynamics,
    linear_coupling,
)
from constraints.actions import ImpulseDynamics
from constraints.dynamics.multipliers import NoWrenchError
from constraints.errors import FailedError, WrongObjectError
from constraints.functions import Identity, Polynomial
from constraints.loops import (
    AssemblyOptions,
    Axes,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    PointContact,
    SurfaceContact,
    assemble_position,
    assemble_velocity,
)
from constraints.models import mechanisms
from constraints.testing import check_function
from liegroups import SE3, R3xSO3, Rn

H = 5e-4


def slope(f: Callable[[Any], Any], n: int) -> Any:
    """Five-point differences of f at 0."""
    found = []
    for e in np.eye(n):
        found.append((8 * (f(H * e) - f(-H * e)) - f(2 * H * e) + f(-2 * H * e)) / (12 * H))
    return np.array(found).T


def check(some: ConstraintSet, q: Any, v: Any, tau: Any, tolerance: float = 1e-7, **given: Any) -> Any:
    """All derivatives against differences of results; wrenches of a contact or closure, too."""
    robot = some.robot
    names = [name for name, owner in zip(some.names, some.stack, strict=True) if hasattr(owner, "pose")]
    wrench: Any = names[0] if names else None
    ways: list[Any] = [("successor", Axes.LOCAL), ("predecessor", Axes.LOCAL_WORLD_ALIGNED)] if names else []

    def solve(q: Any, v: Any, tau: Any) -> Any:
        found = dynamics.forward_dynamics(some, robot.at(q, v), tau, method="direct", **given)
        parts = [found.wrench(wrench, on, axes) for on, axes in ways]
        return np.concatenate([found.acceleration, found.multipliers, *parts])

    result = dynamics.forward_dynamics(some, robot.at(q, v), tau, method="direct", **given)
    found = result.derivatives().or_raise()
    n, k = robot.nv, some.size
    truths = {
        "q": slope(lambda d: solve(robot.space.integrate(q, d), v, tau), n),
        "v": slope(lambda d: solve(q, v + d, tau), n),
        "tau": slope(lambda d: solve(q, v, tau + d), n),
    }
    for by, truth in truths.items():
        parts = [getattr(found, f"acceleration_d{by}"), getattr(found, f"multipliers_d{by}")]
        parts += [getattr(found.wrench(wrench, on, axes), f"by_{by}") for on, axes in ways]
        at = 0
        for part in parts:
            own = truth[at : at + len(part)]
            at += len(part)
            size = max(np.abs(own).max(initial=0.0), 1e-6 * np.abs(truth).max(initial=0.0), 1e-9)
            assert np.abs(part - own).max(initial=0.0) < tolerance * size, (by, at)
        assert at == n + k + 6 * len(ways)
    return found


# Closed chains.


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "delta_robot", "stewart_platform", "slider_crank"])
def test_closed_chains(name: str) -> None:
    """Case 14: loops between two joints, redundant ones too: multipliers of least norm, wrenches on both bodies."""
    mechanism = getattr(mechanisms, name)()
    some, rng = mechanism.constraint_set(), np.random.default_rng(1)
    q = assemble_position(some, next(iter(mechanism.postures.values())), options=AssemblyOptions(tolerance=1e-13)).q
    v = assemble_velocity(some, q, rng.standard_normal(some.robot.nv))
    found = check(some, q, v, rng.standard_normal(some.robot.nv), 1e-6)
    assert found.has_exact_derivatives
    redundant = dynamics.forward_dynamics(some, some.robot.at(q, v)).rank < some.size
    assert found.status is (dynamics.DynamicsStatus.RANK_DEFICIENT if redundant else dynamics.DynamicsStatus.SOLVED)


def test_where_the_rank_changes_there_are_none() -> None:
    """A flat parallelogram, and Bennett's linkage, which moves by its lengths alone: SINGULAR, and said so."""
    flat = mechanisms.four_bar(0.4, 0.15, 0.4, 0.15)
    q = np.zeros(flat.robot.nv)
    bennett = mechanisms.bennett()
    for some, at in (
        (flat.constraint_set(), assemble_position(flat.constraint_set(), q).q),
        (bennett.constraint_set(), next(iter(bennett.postures.values()))),
    ):
        found = dynamics.forward_dynamics(
            some, some.robot.at(at, np.zeros(some.robot.nv)), method="direct"
        ).derivatives()
        assert found.status is dynamics.DynamicsStatus.NO_DERIVATIVES
        assert not found.success
        assert not found.acceleration_dq.any()
        assert found.multipliers_dgamma.shape == (some.size, some.size)
        with pytest.raises(FailedError, match="NO_DERIVATIVES"):
            found.or_raise()


def test_what_was_not_solved_is_not_differentiated() -> None:
    """Rows that contradict each other: no solution, so no derivatives; something else is refused by name."""
    robot = two_arms_frames()
    rows = ConstraintSet(robot, [PointContact(robot, "a", name="one"), PointContact(robot, "a", name="two")])
    motion = robot.at(robot.space.neutral, np.zeros(robot.nv))
    result = dynamics.forward_dynamics(rows, motion, acceleration=[0, 0, 0, 1, 0, 0])
    assert result.derivatives().status is dynamics.DynamicsStatus.NOT_SOLVED
    with pytest.raises(WrongObjectError, match="forward_dynamics"):
        dynamics.dynamics_derivatives(result.derivatives())  # type: ignore[arg-type]


# Joints.


def joints_of_several_kinds() -> Robot:
    """Universal, ZYX, composite and other joints on two branches that are mixed up."""
    chain = pin.JointModelComposite()
    for i, joint in enumerate((pin.JointModelRY(), pin.JointModelPZ(), pin.JointModelSpherical())):
        chain.addJoint(joint, placement(60 + i))
    made = {
        "helical": (0, pin.JointModelHX(0.2)), "planar": (1, pin.JointModelPlanar()),
        "universal": (1, pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))),
        "composite": (2, chain), "zyx": (3, pin.JointModelSphericalZYX()),
    }  # fmt: skip
    model = pin.Model()
    for i, (name, (parent, joint)) in enumerate(made.items()):
        j = model.addJoint(parent, joint, placement(70 + i), name)
        model.appendBodyToJoint(j, pin.Inertia.FromBox(1.0 + i, 0.1, 0.2, 0.3), placement(80 + i))
    model.lowerPositionLimit, model.upperPositionLimit = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    return Robot(model)


def test_every_joint_type() -> None:
    """Universal, ZYX and composite joints, of which pinocchio's own derivatives are wrong; branches in any order."""
    robot, rng = joints_of_several_kinds(), np.random.default_rng(2)
    q, v, tau = robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    rows = ConstraintSet(
        robot,
        [
            PointContact(robot, "composite", name="point"),
            Closure(robot, "composite", "zyx", Hinge.universal(), name="hinge"),
            Implicit.zero(Rotation(robot, "zyx", reference="universal") @ Identity(robot.space), name="rotation"),
        ],
    )
    found = check(rows, q, v, tau, 1e-6)
    assert found.has_exact_derivatives
    data = robot.model.createData()  # what comes next is a view of it
    plain = pin.computeABADerivatives(robot.model, data, q, v, tau)[0].copy()
    free = dynamics.forward_dynamics(ConstraintSet(robot, []), robot.at(q, v), tau, method="direct").derivatives()
    truth = slope(
        lambda d: pin.aba(robot.model, robot.model.createData(), robot.space.integrate(q, d), v, tau), robot.nv
    )
    assert np.abs(free.acceleration_dq - truth).max() < 1e-6 * np.abs(truth).max()
    assert np.abs(plain - truth).max() > 1e-3 * np.abs(truth).max()  # pinocchio 4.1; once it is right, say so


@pytest.mark.parametrize("damping", [0.0, 1e-2])
def test_impacts_on_branches_in_any_order(damping: float) -> None:
    """Velocities after an impact and impulses, with restitution, where pinocchio's derivatives of forces are wrong."""
    robot, rng = joints_of_several_kinds(), np.random.default_rng(11)
    rows = ConstraintSet(
        robot, [PointContact(robot, "composite", name="one"), PointContact(robot, "zyx", [0, 0, 1], name="two")]
    )
    action = ImpulseDynamics(robot, rows, {"one": 0.4, "two": 0.8}, damping=damping)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)

    def hit(d: Any) -> Any:
        done = action.calc(np.concatenate([robot.space.integrate(q, d[: robot.nv]), v + d[robot.nv :]])).or_raise()
        return np.concatenate([done.next_state[robot.nq :], done.impulses])

    found = action.calc_diff(action.calc(np.concatenate([q, v]))).or_raise()
    truth = slope(hit, 2 * robot.nv)
    assert found.Fx is not None
    assert found.multipliers_x is not None
    own = np.concatenate([found.Fx[robot.nv :], found.multipliers_x])
    assert np.abs(own - truth).max() < 1e-7 * np.abs(truth).max()


FUNCTIONS: dict[str, Callable[[Robot], Function]] = {
    **{kind.__name__: lambda robot, kind=kind: kind(robot, "zyx", reference="composite")
       for kind in (Position, Orientation, Rotation, Transformation, Pose)},
    "mass": CenterOfMass,
    "mass, relative": lambda robot: CenterOfMass(robot, reference=robot.frame("zyx", placement(61))),
    "mass of joints": lambda robot: CenterOfMass(robot, ["composite", "helical"], reference="universal"),
    "mass of sub-trees": lambda robot: CenterOfMass(robot, subtrees=["universal"], reference=placement(62)),
    "mass between feet": lambda robot: ComBetweenFeet(robot, "zyx", "composite", "planar"),
    "mass between feet, of sub-trees": lambda robot: ComBetweenFeet(robot, "zyx", "planar", "planar", None, ["planar"]),
    **{kind.__name__: lambda robot, kind=kind: kind(robot, *surfaces(bent(robot)))
       for kind in (ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold)},
}  # fmt: skip
"""Functions of robots with derivatives of accelerations of their own."""


def bent(robot: Robot) -> Robot:
    """With the frames that `surfaces` are on."""
    return robot.with_frame("a", "composite", placement(63)).with_frame("b", "zyx", placement(64))


@draws(1, 3)
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_functions_on_every_joint_type(name: str, count: int) -> None:
    """Derivatives of accelerations and of joint forces, exact and said so, against differences; on two branches."""
    robot, rng = joints_of_several_kinds(), np.random.default_rng(7)
    f = FUNCTIONS[name](robot)
    assert f.has_exact_drift
    assert f.has_exact_derivatives
    for _ in range(count):
        check_function(f, [robot.random(rng)], tolerance=1e-7)


def test_ellipsoid_joints_are_by_differences() -> None:
    """They are no chain of elementary joints: derivatives are right, and flagged."""
    model, parent = pin.Model(), 0
    for i, joint in enumerate((pin.JointModelRX(), pin.JointModelEllipsoid(0.2, 0.3, 0.4), pin.JointModelRY())):
        parent = model.addJoint(parent, joint, placement(30 + i), f"j{i}")
        model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0 + i, 0.1, 0.2, 0.3), placement(40 + i))
    robot, rng = Robot(model), np.random.default_rng(3)
    rows = ConstraintSet(robot, [PointContact(robot, "j2", [0.0, 0.6, 0.8], name="point")])
    found = check(rows, 0.4 * rng.standard_normal(5), rng.standard_normal(5), rng.standard_normal(5), 1e-6)
    assert not found.has_exact_derivatives
    assert found.by_differences == ("inertia of ellipsoid joints", "point")


def test_the_elementary_tree_is_made_once_and_not_pickled() -> None:
    """Its motions are those of the robot; a copy of the robot makes its own."""
    robot = mixed_tree()
    assert robot.space.elementary is robot.space.elementary
    assert "elementary" not in vars(pickle.loads(pickle.dumps(robot)).space)
    tree, rng = robot.space.elementary, np.random.default_rng(4)
    q, v, a = robot.random(rng), *rng.standard_normal((2, robot.nv))
    own = pin.rnea(tree.model, tree.datas.take(), q, v, a)
    theirs = pin.rnea(robot.model, robot.model.createData(), q, v, a)
    assert np.abs(own - theirs).max() < 1e-10 * np.abs(theirs).max()


# Rows of functions.

CUBE = [0.3, -1.0, 0.2, 0.5]


def _target(group: Any) -> Any:
    return Target(
        lambda t: group.exp(0.2 * np.ones(group.nv) * (1.0 + t)),
        lambda t: 0.3 * np.ones(group.nv),
        lambda t: 0.1 * np.arange(group.nv),
    )


def surfaces(robot: Robot, size: float = 1.0) -> tuple[list[Surface], list[Surface]]:
    """A floor on frame "a", and two surfaces on frame "b"."""
    square = np.array([[-0.4, -0.3, 0.2], [0.4, -0.3, 0.2], [0.4, 0.3, 0.2], [-0.4, 0.3, 0.2]])
    fin = [[0.0, 0.5, 0.0], [0.0, -0.4, -0.2], [0.0, 0.1, 0.6]]
    on_b = [Surface("square", robot.frame("b"), 0.3 * square), Surface("fin", robot.frame("b"), fin)]
    return [Surface("floor", robot.frame("a"), size * square)], on_b


def rows_of_functions() -> dict[str, Callable[[Robot], Any]]:
    def frame(kind: Any, **options: Any) -> Callable[[Robot], Any]:
        return lambda robot: Implicit.equal(kind(robot, "b", **options), name=kind.__name__)

    return {
        "position": frame(Position), "position, relative": frame(Position, reference="a"),
        "orientation": frame(Orientation, reference="a"), "rotation": frame(Rotation, reference="a"),
        "transformation": frame(Transformation, reference="a"), "pose": frame(Pose),
        "pose, relative": frame(Pose, reference="a"), "pose, apart": frame(Pose, reference="a", outputs=R3xSO3),
        "scaled, masked": lambda robot: Implicit(
            Transformation(robot, "b"), scale=[1, 2, 3, 4, 5, 6], mask=[1, 0, 1, 1, 0, 1], name="masked"
        ),
        "difference": lambda robot: Implicit.zero(Pose(robot, "a") - Pose(robot, "b"), name="difference"),
        "product": lambda robot: Implicit.zero(
            Affine([[1.0, -0.5, 0.3]]) @ Position(robot, "b", reference="a"), name="product"
        ),
        "stack": lambda robot: Implicit.zero(
            Stacked(Position(robot, "b"), Rotation(robot, "a")).restricted([0, 2, 3, 4, 5]), name="stack"
        ),
        "polynomial": lambda robot: Implicit.zero(
            Polynomial(CUBE, np.linspace(-1, 1, robot.nv), 0.1, robot.space), name="cam"
        ),
        "one side": lambda robot: Implicit.above(Position(robot, "b"), [9.0, -9.0, 9.0], name="one side"),
        "mass": lambda robot: Implicit.zero(CenterOfMass(robot), name="mass"),
        "mass, relative": lambda robot: Implicit.equal(
            CenterOfMass(robot, subtrees=["left_elbow", "right_shoulder_pitch"], reference="a"), name="mass"
        ),
        "mass between feet": lambda robot: Implicit.equal(ComBetweenFeet(robot, "a", "b", "c"), name="feet"),
        "surfaces": lambda robot: Implicit.zero(ConvexShapeContact(robot, *surfaces(robot), 0.1), name="lies"),
        "surfaces, place": lambda robot: Implicit.equal(
            ConvexShapeContactComplement(robot, *surfaces(robot, 20.0)), name="place"
        ),
        "surfaces, hold": lambda robot: Implicit.equal(
            ConvexShapeContactHold(robot, *surfaces(robot, 20.0)), mask=[1, 0, 0, 1, 1, 1, 1, 1], name="hold"
        ),
        "moving position": lambda robot: Implicit.equal(Position(robot, "b"), _target(Position.group), name="target"),
        "moving pose": lambda robot: Implicit.equal(Pose(robot, "b"), _target(SE3), name="target"),
    }  # fmt: skip


@pytest.mark.parametrize("name", a_few(list(rows_of_functions()), 8))
def test_rows_of_functions(name: str) -> None:
    """Exact for every function here, right-hand sides that move and stabilisation included."""
    robot, rng = two_arms_frames(), np.random.default_rng(8)
    owner = rows_of_functions()[name](robot)
    some = ConstraintSet(robot, [owner]).stabilised(0.3)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    found = check(some, q, v, rng.standard_normal(robot.nv), 1e-6, rhs=some.rhs_at(0.4))
    assert owner.has_exact_derivatives
    assert found.has_exact_derivatives
    if name == "one side":
        assert not found.multipliers_dq[1].any()  # it holds: no row


def test_functions_without_formulas_are_named() -> None:
    """A user's function, by differences, and said so; the centre of mass beside it is exact."""
    robot, rng = two_arms_frames(), np.random.default_rng(9)
    own = Function.from_callable(
        lambda q: np.array([np.sin(q[0]) * q[1]]), robot.space, Rn(1),
        jacobian=lambda q: np.array([[np.cos(q[0]) * q[1], np.sin(q[0]), *np.zeros(robot.nv - 2)]]), name="own",
    )  # fmt: skip
    rows = ConstraintSet(robot, [Implicit.zero(own, name="own"), Implicit.zero(CenterOfMass(robot), name="mass")])
    found = check(rows, robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv), 1e-4)
    assert found.by_differences == ("own",)
    assert "by differences: own" in str(found)
    with pytest.raises(NoWrenchError):
        found.wrench("own")


def test_a_coupler_is_a_row() -> None:
    """Case 19: a gear, an explicit constraint, through its twin."""
    robot, rng = two_arms_frames(), np.random.default_rng(10)
    gear = linear_coupling(robot, "right_elbow", {"left_elbow": 0.5}, offset=0.1)
    assert isinstance(gear, Explicit)
    assert gear.has_exact_derivatives
    some = ConstraintSet(robot, [gear])
    found = check(some, robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv))
    assert found.has_exact_derivatives


# Contacts, forces.


@pytest.mark.parametrize("axes", list(Axes), ids=lambda axes: axes.name)
@pytest.mark.parametrize("form", list(Form), ids=lambda form: form.name)
def test_contacts(form: Form, axes: Axes) -> None:
    """Cases 4, 9, 12, 13: masks of points, a surface far from its anchor with gains, two contacts on one joint."""
    robot, rng = two_arms_frames(), np.random.default_rng(11)
    frame = robot.with_frame("near", "left_tool", placement(50))
    some = ConstraintSet(
        frame,
        [
            SurfaceContact(frame, "b", placement(51), axes=axes, form=form, name="surface"),
            PointContact(frame, "a", [0.0, 0.6, 0.8], [0.1, 0.2, 0.3], axes=axes, form=form, name="row"),
            PointContact(frame, "near", [1.0, 0.0, 0.0], [0.4, 0.2, 0.1], axes=axes, form=form, name="same joint"),
        ],
    ).stabilised(0.4)
    check(some, frame.random(rng), rng.standard_normal(frame.nv), rng.standard_normal(frame.nv), 1e-6)


def test_external_forces() -> None:
    """Wrenches in both axes, springs and hinge forces by formulas; functions of a user by differences, and named."""
    mechanism = mechanisms.five_bar()
    robot, rng = mechanism.robot, np.random.default_rng(12)
    loop: Any = mechanism.closures[0]
    cut = Closure(robot, loop.predecessor, loop.successor, Hinge.pin(), name="cut")
    some = ConstraintSet(robot, [cut])
    q = mechanism.postures["closed"]
    v = assemble_velocity(some, q, rng.standard_normal(robot.nv))
    tip = robot.frame_names[-1]
    pushes = [dynamics.ExternalForce(tip, rng.standard_normal(6), axes) for axes in Axes]
    found = check(some, q, v, np.zeros(robot.nv), external=pushes)
    assert found.has_exact_derivatives
    spring = dynamics.PointSpring(robot, "left_inner_end", "right_inner_end", stiffness=20.0, length=0.2, damping=0.3)
    forces = [dynamics.HingeForce(cut, 1.5), dynamics.HingeSpring(cut, stiffness=4.0, damping=0.2, rest=0.3), spring]
    found = check(some, q, v, np.zeros(robot.nv), external=forces)
    assert found.has_exact_derivatives
    brake = dynamics.HingeForce(cut, lambda angle, rate: -0.4 * rate)
    rope = dynamics.PointLink(robot, "left_inner_end", "right_inner_end", lambda length, rate: 3.0 * length**2)
    found = check(some, q, v, np.zeros(robot.nv), 1e-6, external=[brake, spring, rope])
    assert found.by_differences == ("external force 0 (HingeForce)", "external force 2 (PointLink)")


# The proof at scale.


@pytest.mark.program
@pytest.mark.parametrize("kinds", [(2,), pytest.param((0, 2, 3, 5), marks=pytest.mark.long)], ids=["trees", "all"])
def test_the_proof_at_scale_finds_what_it_looks_for(
    kinds: tuple[int, ...], benchmarks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States of every kind are clean; derivatives that are off by 2e-5, or leave restitution out, are found."""
    proof = benchmarks("derivative_soundness")
    assert [proof.KINDS[i] for i in (0, 2, 3, 5)] == ["anymal", "trees", "cassie", "actions"]
    for index in kinds:
        assert proof.run(3, index).findings == []
    found = importlib.import_module("constraints.dynamics.forward_derivatives").DynamicsDerivatives
    right = found.acceleration_dq.fget
    monkeypatch.setattr(found, "acceleration_dq", property(lambda self: right(self) * (1.0 + 2e-5)))
    assert all("acceleration by q" in proof.run(3, index).findings[0][1] for index in kinds if index in (0, 2))
    impacts = importlib.import_module("constraints.actions.impulse").ImpulseDynamics
    own = impacts._own_slopes
    monkeypatch.setattr(impacts, "_own_slopes", lambda self, done: own(self.replace(restitution=0.0), done))
    assert "motion by q" in proof.run(3, 11).findings[0][1]


def test_the_proof_at_scale_measures_impacts_of_robots_at_rest_by_free_ones(benchmarks: Any) -> None:
    """Eight rows hold eight coordinates: velocities after do not depend on those before, which 50 digits say, too.

    Nothing moves there, so the largest derivative was rounding, and was what rounding was measured by.
    """
    proof = benchmarks("derivative_soundness")
    _, some, state, (status, faults, _) = proof.judged(31, 125)
    assert (status, faults, some.size, np.abs(state.v).max()) == ("ImpulseDynamics SOLVED", [], 8, 0.0)
    action = ImpulseDynamics(some.robot, some)
    found = action.calc_diff(action.calc(np.concatenate([state.q, state.v]))).or_raise().Fx
    assert found is not None
    n = some.robot.nv
    with mpmath.workdps(50):
        inertia = some.robot.at(state.q, state.v).mass_matrix()
        J, M = (mpmath.matrix(x.tolist()) for x in (some.jacobian(state.q), inertia))
        carried = M**-1 * J.T
        after = mpmath.eye(n) - carried * (J * carried) ** -1 * J
        assert max(abs(x) for x in after) < 1e-40
    assert np.abs(found[n:, n:]).max() < 1e-12


def test_the_two_ways_of_the_benchmark_agree(benchmarks: Any) -> None:
    """Case 20: the benchmark compares what it times, and has a figure for each."""
    benchmark = benchmarks("contact_dynamics")
    case = benchmark.legs()
    assert 0.0 < benchmark.apart(case) < 1e-10
    assert {"clock", "fast", "general", "core"} <= benchmarks("timing").in_bursts(case.calls, 1).keys()


def test_nobody_elses_memory_is_written_to() -> None:
    """Velocities, drifts and inertia of a motion are the same bits after derivatives at its state, and of functions."""
    robot, rng = two_arms_frames(), np.random.default_rng(13)
    motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
    some = ConstraintSet(robot, [PointContact(robot, "b", name="point"), Implicit.zero(Position(robot, "a"))])

    def seen() -> list[Any]:
        return [motion.velocity("b"), motion.drift_acceleration("b"), motion.mass_matrix(), motion.bias_force()]

    before = seen()
    dynamics.forward_dynamics(some, motion).derivatives().or_raise()
    f = Transformation(robot, "b", reference="a")
    f.drift_derivatives(motion, np.ones(robot.nv), *np.zeros((2, 6, robot.nv)))
    f.force_derivative(motion.point, np.ones(6), np.zeros((robot.nv, robot.nv)))
    assert all((x == y).all() for x, y in zip(before, seen(), strict=True))


def test_threads_share_the_elementary_tree() -> None:
    """Derivatives of many states in four threads are the bits of one after the other."""
    robot, rng = joints_of_several_kinds(), np.random.default_rng(14)
    some = ConstraintSet(robot, [Closure(robot, "composite", "zyx", Hinge.ball(), name="ball")])
    states = [(robot.random(rng), rng.standard_normal(robot.nv)) for _ in range(40)]

    def slopes(state: Any) -> Any:
        found = dynamics.forward_dynamics(some, robot.at(*state), method="direct").derivatives()
        return np.hstack([found.acceleration_dq, found.acceleration_dv, found.multipliers_dq.T])

    alone = [slopes(state) for state in states]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(slopes, states))
    assert all((x == y).all() for x, y in zip(alone, together, strict=True))


def test_a_massless_joint_that_rows_hold() -> None:
    """The direct method solves where the mass matrix is singular; so do its derivatives."""
    model = pin.Model()
    for i, joint in enumerate((pin.JointModelRY(), pin.JointModelRY(), pin.JointModelPZ())):
        parent = model.addJoint(i, joint, placement(90 + i), f"j{i}")
        if i < 2:
            model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0 + i, 0.1, 0.2, 0.3), placement(95 + i))
    robot, rng = Robot(model), np.random.default_rng(15)
    some = ConstraintSet(robot, [PointContact(robot, "j2", [0.0, 0.6, 0.8], name="point")])
    found = check(some, rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal(3), 1e-6)
    assert found.status is dynamics.DynamicsStatus.SOLVED


def test_a_wrench_that_is_a_law_is_differenced() -> None:
    """A wrench that depends on the state is not taken as constant: its derivatives are by differences, and said so."""
    linkage = mechanisms.delta_robot()
    rows, robot, q = linkage.constraint_set(), linkage.robot, linkage.posture("closed")
    v = assemble_velocity(rows, q, np.ones(robot.nv))

    def pull(motion: Any) -> Any:
        place = motion.posture.placement(robot.frame_names[-1]).translation
        return [*(-300.0 * place), 0.0, 0.0, 0.0]

    push = dynamics.ExternalForce(robot.frame_names[-1], pull)
    slopes = dynamics.forward_dynamics(rows, robot.at(q, v), external=[push]).derivatives().or_raise()
    assert not slopes.has_exact_derivatives
    h, e = 1e-6, np.eye(robot.nv)[0]
    ahead, behind = (
        dynamics.forward_dynamics(rows, robot.at(robot.space.integrate(q, s * h * e), v), external=[push]).acceleration
        for s in (1.0, -1.0)
    )
    truth = (ahead - behind) / (2.0 * h)
    np.testing.assert_allclose(slopes.acceleration_dq[:, 0], truth, atol=1e-5 * np.abs(truth).max())
