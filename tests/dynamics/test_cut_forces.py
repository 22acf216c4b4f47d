"""Forces of cuts: rods, points and balls in the axes of the world, and what of them nothing determines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body, point
from each_choice import a_few
from linkages import moving, upright
from models.test_mechanism_files import MJCF, URDF, closed, path_of
from samples import placement

from constraints import Affine, Frame, Implicit, Robot, rigid_transform
from constraints.dynamics import ConstraintForce, DynamicsStatus, ForwardDynamics, forward_dynamics, inverse_dynamics
from constraints.dynamics.multipliers import NoWrenchError
from constraints.errors import OptionError, UndefinedError, UnknownNameError, WrongObjectError
from constraints.loops import (
    AssemblyOptions,
    Axes,
    Closure,
    ConstraintSet,
    Hinge,
    PointClosure,
    RodClosure,
    assemble_position,
    assemble_velocity,
)
from constraints.loops.frame_rows import FrameRows
from constraints.models import Mechanism, load, mechanisms, sample_two_arms

G = 9.81
Z = np.array([0.0, 0.0, 1.0])


def point_mass() -> Robot:
    """A mass without extent, free in space."""
    return one_body(pin.JointModelTranslation(), point(2.0), "mass")


def on_a_rod(length: float, q: Any, v: Any = (0.0, 0.0, 0.0)) -> ForwardDynamics:
    """A mass of 2 kg on a rod whose other end is at the origin of the world."""
    robot = point_mass()
    rows = ConstraintSet(robot, [RodClosure(robot, None, "mass", length, name="rod")])
    return forward_dynamics(rows, robot.at(q, v))


def hung(rods: int, length: float = 1.0) -> ForwardDynamics:
    """A disc of radius 1 in the plane of x and y, at rest, that hangs on as many rods at its rim."""
    robot, owners = one_body(pin.JointModelFreeFlyer(), pin.Inertia.FromCylinder(3.0, 1.0, 1e-3), "disc"), []
    for k in range(rods):
        rim = np.array([np.cos(2 * np.pi * k / rods), np.sin(2 * np.pi * k / rods), 0.0])
        above = pin.SE3(np.eye(3), rim + length * Z)
        owners.append(
            RodClosure(robot, above, Frame("rim", 1, pin.SE3(np.eye(3), rim), "disc"), length, name=f"rod{k}")
        )
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    return forward_dynamics(ConstraintSet(robot, owners), robot.at(q, np.zeros(6)))


# Rods.


@pytest.mark.parametrize("length", [0.25, 0.5, 1.0, 3.0])
def test_a_hanging_mass_pulls_its_rod(length: float) -> None:
    """Case 9: lambda = -m g / l, force on the mass (0, 0, m g), axial force -m g, whatever the length."""
    found = on_a_rod(length, [0.0, 0.0, -length]).or_raise()
    assert found.multipliers == pytest.approx([-2.0 * G / length], rel=1e-12)
    held = found.constraint_force("rod")
    assert held.force == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-12)
    assert held.moment == pytest.approx(np.zeros(3), abs=1e-12)
    assert held.point == pytest.approx([0.0, 0.0, -length])
    assert held.is_determined
    wrench = found.wrench("rod", axes=Axes.LOCAL_WORLD_ALIGNED)
    assert wrench == pytest.approx([0.0, 0.0, 2.0 * G, 0.0, 0.0, 0.0], abs=1e-12)
    assert found.axial_force("rod") == pytest.approx(-2.0 * G, rel=1e-12)  # traction
    other = found.constraint_force("rod", "predecessor")
    assert other.force == pytest.approx(-held.force)
    assert other.point == pytest.approx(np.zeros(3))


def test_a_pushed_rod_is_positive() -> None:
    """Case 9: a mass that stands on its rod: lambda and axial force positive, the force still upward."""
    found = on_a_rod(0.5, [0.0, 0.0, 0.5]).or_raise()
    assert found.multipliers[0] == pytest.approx(2.0 * G / 0.5)
    assert found.axial_force("rod") == pytest.approx(2.0 * G)  # compression
    assert found.constraint_force("rod").force == pytest.approx([0.0, 0.0, 2.0 * G])


def test_a_mechanism_of_twice_the_size_has_the_same_forces() -> None:
    """Case 9: a mass on two rods, at rest, all lengths doubled: the same forces, multipliers halved; statics say
    N = -m g / (2 cos) in each."""
    found = []
    for size in (1.0, 2.0):
        robot = point_mass()
        left, right = (pin.SE3(np.eye(3), size * np.array([x, 0.0, 0.8])) for x in (-0.6, 0.6))
        rods = [RodClosure(robot, end, "mass", size, name=name) for end, name in ((left, "left"), (right, "right"))]
        found.append(forward_dynamics(ConstraintSet(robot, rods), robot.at(np.zeros(3), np.zeros(3))).or_raise())
    one, two = found
    for name in ("left", "right"):
        assert one.axial_force(name) == pytest.approx(-2.0 * G / (2.0 * 0.8), rel=1e-12)
        assert two.axial_force(name) == pytest.approx(one.axial_force(name), rel=1e-12)
        assert two.constraint_force(name).force == pytest.approx(one.constraint_force(name).force, rel=1e-12)
        assert two.multipliers_of(name) == pytest.approx(one.multipliers_of(name) / 2.0, rel=1e-12)


def test_swapped_ends_of_a_rod_give_the_opposite_force() -> None:
    """Case 9: on the other point the opposite force; the axial force is that of the rod, however its ends are named."""
    robot = sample_two_arms()
    rng = np.random.default_rng(3)
    q = robot.random(rng)
    length = float(np.linalg.norm(PointClosure(robot, "left_tool", "right_tool").residual(q)))
    found = []
    for a, b in (("left_tool", "right_tool"), ("right_tool", "left_tool")):
        rows = ConstraintSet(robot, [RodClosure(robot, a, b, length, name="rod")])
        found.append(forward_dynamics(rows, moving(rows, q)).or_raise())
    one, two = found
    assert one.constraint_force("rod").force == pytest.approx(-two.constraint_force("rod").force, rel=1e-9)
    assert one.constraint_force("rod").force == pytest.approx(
        two.constraint_force("rod", "predecessor").force, rel=1e-9
    )
    assert one.axial_force("rod") == pytest.approx(two.axial_force("rod"), rel=1e-9)
    along = one.question.constraint_set.robot.at(q)
    x = along.placement("right_tool").translation - along.placement("left_tool").translation
    assert one.constraint_force("rod").force == pytest.approx(one.axial_force("rod") * x / length, rel=1e-9)


def test_the_rods_of_a_governor() -> None:
    """Watt governor, l = 1 m, W = 4 rad/s, g = 9.81 (conical pendulum: cos t0 = g / (l W^2), 52.184 degrees): the ball
    stays at its height, and its rod pulls with m l W^2, its vertical part the weight."""
    W = 4.0
    cos = G / W**2
    angle = np.arccos(cos)
    assert np.degrees(angle) == pytest.approx(52.184, abs=5e-4)
    out = float(np.sin(angle))
    found = on_a_rod(1.0, [out, 0.0, -cos], [0.0, W * out, 0.0]).or_raise()
    assert found.acceleration == pytest.approx([-(W**2) * out, 0.0, 0.0], abs=1e-12)
    assert found.axial_force("rod") == pytest.approx(-2.0 * W**2, rel=1e-12)
    assert found.constraint_force("rod").force[2] == pytest.approx(2.0 * G, rel=1e-12)


def test_the_rods_of_a_trifilar_pendulum() -> None:
    """Trifilar pendulum, a disc on three rods of 1 m at its rim, at rest: each pulls with m g / 3."""
    found = hung(3).or_raise()
    assert found.status is DynamicsStatus.SOLVED
    for name in ("rod0", "rod1", "rod2"):
        assert found.axial_force(name) == pytest.approx(-3.0 * G / 3.0, rel=1e-12)
        assert found.constraint_force(name).force == pytest.approx([0.0, 0.0, G], abs=1e-12)
        assert found.constraint_force(name).is_determined


def test_of_four_rods_the_share_along_them_is_not_determined() -> None:
    """Case 10: four rods at a rim, as the legs of a table: across them the force is zero for certain, along it is not
    determined; the sum carries the weight in any case."""
    found = hung(4).or_raise()
    assert found.status is DynamicsStatus.RANK_DEFICIENT
    forces = [found.constraint_force(f"rod{k}") for k in range(4)]
    for force in forces:
        assert force.force_is_determined.tolist() == [True, True, False]
        assert np.abs(force.undetermined_forces.T) == pytest.approx(np.array([[0.0, 0.0, 1.0]]))
        assert not force.is_determined
        assert "(z not determined)" in str(force)
    assert sum(f.force for f in forces) == pytest.approx([0.0, 0.0, 3.0 * G])
    asked = found.question
    rows = asked.constraint_set.switched(off=["rod3"])
    off = forward_dynamics(rows, rows.robot.at(asked.q, asked.v)).or_raise()
    assert all(off.constraint_force(f"rod{k}").is_determined for k in range(4))  # that of the fourth is zero
    assert not off.constraint_force("rod3").force.any()


def test_a_rod_of_length_zero_is_refused_when_it_is_made() -> None:
    """Case 9: by name, with what to take instead."""
    robot = point_mass()
    for length in (0.0, -1.0):
        with pytest.raises(OptionError, match=r"length of 'rod'.*positive.*PointClosure"):
            RodClosure(robot, None, "mass", length, name="rod")


@pytest.mark.parametrize("v", [(0.0, 0.0, 0.0), (1.0, -2.0, 0.5)], ids=["still", "moving"])
def test_an_open_rod_whose_ends_coincide_is_named(v: tuple[float, float, float]) -> None:
    """Case 9: there is no line and no force: a status with the row, an error that names the rod, no number that is
    none."""
    found = on_a_rod(0.5, [0.0, 0.0, 0.0], v)
    assert found.status is (DynamicsStatus.INCONSISTENT if any(v) else DynamicsStatus.RANK_DEFICIENT)
    assert np.isfinite(found.acceleration).all()
    assert np.isfinite(found.multipliers).all()
    assert found.undetermined_rows == ("rod",) or found.undetermined_rows == ("rod[0]",)
    for ask in (found.constraint_force, found.axial_force):
        with pytest.raises(UndefinedError, match="rod 'rod': its ends coincide"):
            ask("rod")


def test_forces_of_inverse_dynamics_have_the_same_sign() -> None:
    """Case 9: the same doors on inverse dynamics: held at rest by nothing but the rod."""
    robot = point_mass()
    rows = ConstraintSet(robot, [RodClosure(robot, None, "mass", 1.0, name="rod")])
    held = inverse_dynamics(rows, robot.at([0.0, 0.0, -1.0], np.zeros(3)), np.zeros(3), actuation=np.eye(3)[:, :2])
    assert held.or_raise().axial_force("rod") == pytest.approx(-2.0 * G)
    assert held.constraint_force("rod").force == pytest.approx([0.0, 0.0, 2.0 * G])


# Points and balls.


def ring(kind: str, *, floats: bool = True) -> tuple[ConstraintSet, np.ndarray]:
    """A closed chain of four bodies that floats, without gravity, or falls; cut at a point."""
    model, rng = pin.Model(), np.random.default_rng(11)
    if floats:
        model.gravity = pin.Motion.Zero()
    parent, at = 0, pin.SE3.Identity()
    joints = (pin.JointModelFreeFlyer(), pin.JointModelRZ(), pin.JointModelSpherical(), pin.JointModelRY())
    for i, joint in enumerate(joints):
        parent = model.addJoint(parent, joint, at, f"j{i}")
        model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0 + i, *rng.uniform(0.1, 0.4, 3)), placement(20 + i))
        at = placement(30 + i)
    robot = Robot(model, "ring").without_bounds()
    q = robot.random(rng)
    a = Frame("a", 1, placement(40), "j0")
    b = Frame("b", 4, robot.at(q).placement("j3").inverse() * robot.at(q).placement(a), "j3")
    if kind == "rod":
        b = Frame("b", 4, b.placement * rigid_transform([0.1, 0.2, 0.2]), "j3")
        return ConstraintSet(robot, [RodClosure(robot, a, b, 0.3, name="cut")]), q
    cut = PointClosure(robot, a, b, name="cut") if kind == "point" else Closure(robot, a, b, Hinge.ball(), name="cut")
    return ConstraintSet(robot, [cut]), q


@pytest.mark.parametrize("kind", ["point", "ball", "rod"])
def test_internal_forces_of_a_floating_chain_sum_to_zero(kind: str) -> None:
    """Case 10: a chain that floats and turns: forces and moments inside it, that of the cut among them, sum to zero:
    each body by Newton and Euler in the inertial frame, with the cut's forces as the only ones from outside."""
    rows, q = ring(kind)
    robot, model = rows.robot, rows.robot.model
    motion = moving(rows, q, 2)
    tau = np.concatenate([np.zeros(6), np.arange(1.0, robot.nv - 5)])
    found = forward_dynamics(rows, motion, tau).or_raise()
    on_s, on_p = (found.constraint_force("cut", side) for side in ("successor", "predecessor"))
    total = on_s.force + on_p.force
    moment = np.cross(on_s.point, on_s.force) + np.cross(on_p.point, on_p.force) + on_s.moment + on_p.moment
    size = 1.0 + np.abs(on_s.force).max()
    assert np.abs(total).max() < 1e-12 * size
    assert np.abs(moment).max() < 1e-10 * size
    # the force of the world on the chain, by pinocchio with the two cut forces as external ones, is zero
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    cut: Any = rows["cut"]
    for frame, seen in ((cut.successor, on_s), (cut.predecessor, on_p)):
        in_world = pin.Force(seen.force, seen.moment + np.cross(seen.point, seen.force))
        forces[frame.joint] += data.oMi[frame.joint].actInv(in_world)
    needed = pin.rnea(model, data, q, motion.v, found.acceleration, forces)
    assert np.abs(needed - tau).max() < 1e-9 * (1.0 + np.abs(needed).max())
    # without gravity and with internal forces alone the momentum stays
    change = pin.computeCentroidalMomentumTimeVariation(model, data, q, motion.v, found.acceleration)
    assert np.abs(change.vector).max() < 1e-9 * size
    assert found.multipliers.any()


@pytest.mark.parametrize("kind", ["point", "ball"])
def test_a_ball_force_does_not_depend_on_how_its_frame_turns(kind: str) -> None:
    """Case 10: the rows are in the axes of the first body, which turns with its ancestors: the same force in the
    inertial frame whichever way the cut's frame is turned on its body, and however the whole chain is turned."""
    rows, q = ring(kind)
    robot = rows.robot
    cut: Any = rows["cut"]
    motion = moving(rows, q, 2)
    found = forward_dynamics(rows, motion).or_raise()
    force = found.constraint_force("cut").force
    assert force == pytest.approx(motion.posture.placement(cut.predecessor).rotation @ found.multipliers, rel=1e-9)
    wrench = found.wrench("cut", axes=Axes.LOCAL_WORLD_ALIGNED)
    assert wrench == pytest.approx([*force, 0.0, 0.0, 0.0], rel=1e-9, abs=1e-10)
    assert found.is_determined("cut")
    turned = Frame("a", 1, cut.predecessor.placement * pin.SE3(pin.utils.rotate("y", 1.0), np.zeros(3)), "j0")
    other = ConstraintSet(robot, [PointClosure(robot, turned, cut.successor, name="cut")])
    again = forward_dynamics(other, motion).or_raise()
    assert np.abs(again.multipliers - found.multipliers).max() > 0.1 * np.abs(found.multipliers).max()
    assert again.constraint_force("cut").force == pytest.approx(force, rel=1e-9)
    R = pin.utils.rotate("x", 0.7) @ pin.utils.rotate("z", -1.1)
    base = pin.SE3(R, np.zeros(3)) * pin.XYZQUATToSE3(q[:7])
    moved = np.concatenate([np.array(pin.SE3ToXYZQUAT(base)), q[7:]])
    whole = forward_dynamics(rows, robot.at(moved, motion.v)).or_raise()
    assert whole.constraint_force("cut").force == pytest.approx(R @ force, rel=1e-9)


def planar(turned: np.ndarray, *, closed_by: str) -> ForwardDynamics:
    """A moving four-bar whose plane is turned in space, closed by a point or a pin, or in its plane alone."""
    four = mechanisms.four_bar()
    tilt = pin.SE3(turned, np.zeros(3))
    model = pin.Model(four.robot.model)
    for i, parent in enumerate(model.parents):
        if i and parent == 0:
            model.jointPlacements[i] = tilt * model.jointPlacements[i]
    for frame in model.frames:
        if frame.parentJoint == 0:
            frame.placement = tilt * frame.placement
    robot = Robot(model, "tilted")
    loop: Any = four.closures[0]
    a, b = (robot.frame(frame.name) for frame in (loop.predecessor, loop.successor))
    cut: Any = {
        "point": lambda: PointClosure(robot, a, b, name="cut"),
        "pin": lambda: Closure(robot, a, b, Hinge.pin(), name="cut"),
        "plane": lambda: Closure.along(robot, a, b, np.eye(6)[:2], name="cut"),
    }[closed_by]()
    rows = ConstraintSet(robot, [cut])
    q = assemble_position(rows, four.postures["closed"], options=AssemblyOptions(tolerance=1e-13)).or_raise().q
    v = assemble_velocity(rows, q, np.array([2.0, 1.0, -1.0]))
    return forward_dynamics(rows, robot.at(q, v), [1.0, 0.0, 0.0]).or_raise()


FLAT = np.eye(3)
UPRIGHT = pin.utils.rotate("x", np.pi / 2)
OBLIQUE = pin.utils.rotate("x", 0.6) @ pin.utils.rotate("y", 0.4)


@pytest.mark.parametrize("closed_by", ["point", "pin"])
@pytest.mark.parametrize(
    ("turned", "known"),
    [(FLAT, [True, True, False]), (UPRIGHT, [True, False, True]), (OBLIQUE, [False, False, False])],
    ids=["flat", "upright", "oblique"],
)
def test_across_its_plane_the_force_of_a_cut_is_not_determined(
    turned: np.ndarray, known: list[bool], closed_by: str
) -> None:
    """Case 10: a planar mechanism closed by a ball: undetermined is the component across its plane, by component of
    the force in the inertial frame, and as a direction; in the plane it is that of the plane's own two rows."""
    found = planar(turned, closed_by=closed_by)
    held = found.constraint_force("cut")
    assert held.force_is_determined.tolist() == known
    normal = turned @ Z
    assert held.undetermined_forces.shape == (3, 1)
    assert np.abs(held.undetermined_forces[:, 0] @ normal) == pytest.approx(1.0, abs=1e-9)
    assert held.moment_is_determined.all() == (closed_by == "point")
    truth = planar(turned, closed_by="plane").constraint_force("cut")
    inside = np.eye(3) - np.outer(normal, normal)
    assert inside @ held.force == pytest.approx(inside @ truth.force, rel=1e-8, abs=1e-8)
    if closed_by == "pin":  # its moments are about the two axes in the plane
        assert np.abs(held.undetermined_moments.T @ normal) == pytest.approx(np.zeros(2), abs=1e-9)


@pytest.mark.parametrize("turned", [FLAT, OBLIQUE], ids=["flat", "oblique"])
def test_a_planar_cut_without_the_row_across_has_no_force_there(turned: np.ndarray) -> None:
    """Case 10: two rows in the plane: the component across it is zero for certain, and so is each moment."""
    held = planar(turned, closed_by="plane").constraint_force("cut")
    assert held.is_determined
    assert held.force @ (turned @ Z) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(held.force).max() > 0.1


def test_least_norm_leaves_nothing_across_the_plane() -> None:
    """Case 10: of a row that no motion meets the multiplier is zero, which the mask says is a choice."""
    found = planar(FLAT, closed_by="point")
    assert found.multipliers[2] == pytest.approx(0.0, abs=1e-12)
    assert found.undetermined_rows == ("cut[2]",)


def test_what_is_flagged_is_exactly_what_other_multipliers_change() -> None:
    """Case 10: truth by linear algebra: multipliers plus any combination that gives no joint force give the same
    motion; along undetermined directions the force changes by them, across it does not."""
    rows, q = upright("four_bar")
    cut: Any = rows["cut"]
    both = ConstraintSet(rows.robot, [cut, PointClosure(rows.robot, cut.predecessor, cut.successor, name="point")])
    motion = moving(both, q)
    found = forward_dynamics(both, motion).or_raise()
    U, sizes, _ = np.linalg.svd(both.jacobian(q))
    null = U[:, int((sizes > 1e-9).sum()) :]
    for name in ("cut", "point"):
        held = found.constraint_force(name)
        s = both.slice_of(name)
        owner: Any = both[name]
        on_s = owner.constraint_matrices(q)[1]
        R = motion.posture.placement(cut.successor).rotation
        change = R @ on_s[:, :3].T @ null[s]
        assert np.linalg.matrix_rank(change, 1e-8) == held.undetermined_forces.shape[1] == 3
        assert not held.force_is_determined.any()
        turns = R @ on_s[:, 3:].T @ null[s]
        assert np.linalg.matrix_rank(turns, 1e-8) == held.undetermined_moments.shape[1]


def check_flags(mechanism: Mechanism, q: np.ndarray) -> None:
    """Truth by a plain singular value decomposition of J: the span of what multipliers without a joint force do to
    force and moment of each cut is that of the undetermined directions."""
    rows = mechanism.constraint_set()
    motion = moving(rows, q)
    found = forward_dynamics(rows, motion)
    U, sizes, _ = np.linalg.svd(rows.jacobian(q))
    null = U[:, int((sizes > 1e-6 * sizes[0]).sum()) :]
    for owner in rows.stack:
        if not isinstance(owner, FrameRows):
            continue
        held = found.constraint_force(owner)
        R = motion.posture.placement(owner.successor).rotation
        D, some = owner.constraint_matrices(q)[1], null[rows.slice_of(owner)]
        for columns, directions in (
            (R @ D[:, :3].T @ some, held.undetermined_forces),
            (R @ D[:, 3:].T @ some, held.undetermined_moments),
        ):
            rank = 0 if not columns.size else int(np.linalg.matrix_rank(columns, 1e-6))
            assert directions.shape == (3, rank)
            inside = directions @ directions.T @ columns
            assert np.abs(columns - inside).max(initial=0.0) < 1e-6
        assert held.is_determined == found.is_determined(owner)


@pytest.mark.parametrize(
    "name", ["bennett", "delta_robot", "five_bar", "four_bar", "scissor_lift", "slider_crank", "stewart_platform"]
)
def test_flags_on_every_built_in_mechanism(name: str) -> None:
    """Case 10: undetermined directions of each cut, against plain linear algebra."""
    mechanism = getattr(mechanisms, name)()
    start = mechanism.posture("closed")
    check_flags(
        mechanism,
        assemble_position(mechanism.constraint_set(), start, options=AssemblyOptions(tolerance=1e-12)).or_raise().q,
    )


@pytest.mark.parametrize("name", a_few([*URDF, *MJCF, "cassie_sdf"], 4))
def test_flags_on_every_reference_model(name: str) -> None:
    """Case 10: the same on models of files, Cassie among them, whose plantar loop is planar but for its digits."""
    mechanism = load(path_of(name))
    check_flags(mechanism, closed(name, mechanism))


def test_what_a_force_says_of_itself() -> None:
    """Case 10: printed, the components that nothing determines are named."""
    held = planar(FLAT, closed_by="pin").constraint_force("cut")
    assert isinstance(held, ConstraintForce)
    assert str(held).startswith("'cut' on ")
    assert "N (z not determined); moment" in str(held)
    assert str(held).endswith("N m (x, y not determined)")
    assert "not determined" not in str(on_a_rod(1.0, [0.0, 0.0, -1.0]).constraint_force("rod"))


def test_bad_questions_about_forces_of_cuts() -> None:
    """RBDL 20: typed errors that name the culprit."""
    robot = sample_two_arms()
    held = Implicit.zero(Affine(np.eye(robot.nv)[:1], inputs=robot.space), name="held")
    joined = PointClosure(robot, "left_tool", "right_tool", name="hands")
    found = forward_dynamics(ConstraintSet(robot, [held, joined]), robot.at(robot.neutral, np.zeros(robot.nv)))
    for ask in (found.constraint_force, found.wrench, found.inter_body_force):
        with pytest.raises(NoWrenchError, match=r"'held' .*generalised_force"):
            ask("held")
    with pytest.raises(WrongObjectError, match="Closure"):
        found.hinge_force("held")
    wrong: Any = "sucessor"
    with pytest.raises(UnknownNameError, match="successor"):
        found.constraint_force("hands", wrong)
    with pytest.raises(UnknownNameError, match="hands"):
        found.constraint_force("hand")
    with pytest.raises(WrongObjectError, match="constraint with an axial force"):
        found.axial_force("hands")


def test_the_force_in_a_joint_that_is_not_cut() -> None:
    """Stumble 5: the error says to cut it; what hung on it is then held by the closure, here against its weight."""
    urdf = """<robot name="bar"><link name="base"/><link name="bar"><inertial><origin xyz="0 0 -0.3"/>
      <mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="base"/><child link="bar"/><axis xyz="0 1 0"/></joint>
      </robot>"""
    whole = load(urdf)
    hanging = forward_dynamics(whole.constraint_set(), whole.robot.at(whole.robot.neutral, [0.0]))
    for ask in (hanging.constraint_force, hanging.inter_body_force, hanging.wrench):
        with pytest.raises(UnknownNameError, match=r"a joint that is not cut; for the force in it cut it, `load\("):
            ask("hinge")
    with pytest.raises(UnknownNameError, match="no constraint is named 'nothing'; there are none at all"):
        hanging.constraint_force("nothing")
    cut = load(urdf, cut=["hinge"])
    held = forward_dynamics(cut.constraint_set(), cut.robot.at(cut.robot.neutral, np.zeros(6))).or_raise()
    np.testing.assert_allclose(held.constraint_force("hinge").force, [0.0, 0.0, 2.0 * G], atol=1e-9)
