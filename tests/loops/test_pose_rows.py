"""Contacts and closures made of a user's map of a pose: a point on a sphere, with all that follows from the map."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Problem, Projector, Robot, Status, Target
from constraints.actions import ContactForwardDynamics
from constraints.actions.stance import limits_of
from constraints.dynamics import Method, MethodError, forward_dynamics, impact, inverse_dynamics, simulate
from constraints.errors import (
    FileContentError,
    FunctionError,
    NotSavableError,
    OptionError,
    UndefinedError,
    WrongObjectError,
)
from constraints.loops import (
    Axes,
    ConstraintSet,
    Form,
    PointContact,
    PoseClosure,
    PoseContact,
    PoseMap,
    Slopes,
    assemble_position,
    assemble_velocity,
)
from constraints.loops.closures import FixedClosureError
from constraints.models import sample_arm, sample_two_arms
from constraints.reduced import explicit_loops, minimal_coordinates
from constraints.testing import CheckFailed, check_function
from liegroups.formulas.log_slopes import FIVE_POINTS

CENTRE, RADIUS = np.array([0.4, 0.1, 0.5]), 0.3


@dataclass(frozen=True)
class OnSphere(PoseMap):
    r"""The origin of b on a sphere about the origin of a, :math:`r = |p| - R`: a bowl, a ball."""

    radius: float

    size = 1

    def value(self, pose: Any, out: Any, D: Any = None) -> None:
        p, d = self.seen(pose)
        out[0] = d - self.radius
        if D is not None:
            D[0, :3] = (p / d) @ pose.rotation

    def second(self, pose: Any, twist: Any, acceleration: Any, out: Any) -> None:
        p, d = self.seen(pose)
        n, v = p / d, pose.rotation @ twist[:3]
        a = pose.rotation @ (acceleration[:3] + np.cross(twist[3:], twist[:3]))
        out[0] = n @ a + (v @ v - (n @ v) ** 2) / d

    def seen(self, pose: Any) -> tuple[Any, float]:
        p = pose.translation
        d = float(np.sqrt(p @ p))
        if d < 1e-9:
            raise UndefinedError("the point is in the centre of its sphere")
        return p, d


@dataclass(frozen=True)
class WithSlopes(OnSphere):
    """The same, with its slopes: m = R^T p / d turns with the body by P E / d, where P is across m and E = (I, e^)."""

    def slopes(self, pose: Any, twist: Any, acceleration: Any, multipliers: Any) -> Slopes:
        p, d = self.seen(pose)
        e = p @ pose.rotation
        m, v, w = e / d, twist[:3], twist[3:]
        E = np.hstack([np.eye(3), pin.skew(e)])
        turned = (np.eye(3) - np.outer(m, m)) @ E / d
        pull, along = acceleration[:3] + np.cross(w, v), m @ v
        found = Slopes.zero(1)
        found.rate[0] = v @ turned
        found.force[:3] = multipliers[0] * turned
        found.by_pose[0] = (pull - 2.0 * along / d * v) @ turned - (v @ v - along**2) / d**2 * (m @ E)
        found.by_twist[0, :3] = np.cross(m, w) + 2.0 * (v - along * m) / d
        found.by_twist[0, 3:] = np.cross(v, m)
        return found


def bowl(robot: Robot, pose_map: PoseMap | None = None, **options: Any) -> PoseContact:
    given = WithSlopes(RADIUS) if pose_map is None else pose_map
    return PoseContact(robot, "tool", given, [*CENTRE, 0, 0, 0, 1], name="bowl", **options)


def state(rows: ConstraintSet, seed: int = 0) -> tuple[Any, Any]:
    """A closed state of the set."""
    rng = np.random.default_rng(seed)
    q = assemble_position(rows, rows.robot.random(rng)).or_raise().q
    return q, assemble_velocity(rows, q, rng.standard_normal(rows.robot.nv))


ARM = sample_arm()
SET = ConstraintSet(ARM, [bowl(ARM)])


# Rows.


@pytest.mark.parametrize("given", [OnSphere(RADIUS), WithSlopes(RADIUS)], ids=["by differences", "by formulas"])
def test_rows_keep_the_laws_of_functions(given: PoseMap) -> None:
    contact = bowl(ARM, given)
    check_function(contact.function)
    assert contact.function.has_exact_derivatives is (type(given) is WithSlopes)
    q = ARM.random(np.random.default_rng(1))
    p = ARM.at(q).placement("tool").translation
    assert contact.residual(q)[0] == pytest.approx(np.linalg.norm(p - CENTRE) - RADIUS, abs=1e-14)
    assert pickle.loads(pickle.dumps(contact)).residual(q) == contact.residual(q)
    v = np.random.default_rng(4).standard_normal(ARM.nv)
    rows = ConstraintSet(ARM, [contact]).rows_at(ARM.at(q, v))
    np.testing.assert_allclose(rows.velocity, contact.residual_rate(q, v), rtol=0, atol=1e-13)
    np.testing.assert_allclose(rows.drift, contact.residual_acceleration(q, v), rtol=0, atol=1e-12)


def test_slopes_are_those_of_differences() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        pose = pin.SE3.Random()
        pose.translation = rng.standard_normal(3)
        (twist, acceleration), y = rng.standard_normal((2, 6)), rng.standard_normal(1)
        exact = WithSlopes(RADIUS).slopes(pose, twist, acceleration, y)
        for one, other in zip(exact, OnSphere(RADIUS).slopes(pose, twist, acceleration, y), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-8 * (1.0 + np.abs(exact.by_pose).max()))


def test_it_is_solved_with_a_target_and_on_one_side() -> None:
    rng = np.random.default_rng(5)
    for contact, size in ((bowl(ARM), RADIUS), (bowl(ARM, target=Target(lambda t: [0.05])), RADIUS + 0.05)):
        result = Projector(Problem(ARM, [contact])).project(ARM.random(rng))
        assert result.status is Status.CONVERGED
        p = ARM.at(result.q).placement("tool").translation
        assert np.linalg.norm(p - CENTRE) == pytest.approx(size, abs=1e-4)
    outside = Implicit.above(bowl(ARM).function, [0.0])
    starts = ARM.random(rng, 30)
    before = [np.linalg.norm(ARM.at(q).placement("tool").translation - CENTRE) - RADIUS for q in starts]
    assert min(before) < 0.0 < max(before)
    for q, off in zip(starts, before, strict=True):
        result = Projector(Problem(ARM, [outside])).project(q)
        assert outside.function.value(result.q)[0] >= -1e-4
        assert off < -1e-4 or result.q.tobytes() == q.tobytes()


# Dynamics.


def independent(robot: Robot, q: Any, v: Any, tau: Any) -> tuple[Any, float]:
    """Accelerations and the multiplier by the whole KKT system, with pinocchio's matrices and numpy alone."""
    model = robot.model
    data = model.createData()
    M = np.array(pin.crba(model, data, q))
    M = np.triu(M) + np.triu(M, 1).T
    bias = np.array(pin.rnea(model, data, q, v, np.zeros(model.nv)))
    frame = robot.frame("tool")
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    at = data.oMi[frame.joint] * frame.placement
    pin.computeJointJacobians(model, data, q)
    J = pin.getFrameJacobian(model, data, frame.joint, frame.placement, pin.LOCAL_WORLD_ALIGNED)[:3]
    gamma = pin.getFrameClassicalAcceleration(model, data, frame.joint, frame.placement, pin.LOCAL_WORLD_ALIGNED).linear
    p = at.translation - CENTRE
    d = np.linalg.norm(p)
    n, u = p / d, J @ v
    drift = n @ gamma + (u @ u - (n @ u) ** 2) / d
    K = np.block([[M, -(n @ J)[:, None]], [(n @ J)[None, :], np.zeros((1, 1))]])
    found = np.linalg.solve(K, np.concatenate([tau - bias, [-drift]]))
    return found[:-1], float(found[-1])


@pytest.mark.parametrize("method", ["automatic", "direct", "range space", "null space", "test forces", "sparse"])
def test_dynamics_are_those_of_an_independent_solution(method: str) -> None:
    rng = np.random.default_rng(6)
    for seed in range(5):
        q, v = state(SET, seed)
        tau = rng.standard_normal(ARM.nv)
        found = forward_dynamics(SET, ARM.at(q, v), tau, method=method).or_raise()
        a, y = independent(ARM, q, v, tau)
        np.testing.assert_allclose(found.acceleration, a, rtol=0, atol=1e-9 * (1.0 + np.abs(a).max()))
        assert found.multipliers[0] == pytest.approx(y, abs=1e-9 * (1.0 + abs(y)))
        assert found.pulling == (("bowl",) if y < 0.0 else ())
        n = ARM.at(q).placement("tool").translation - CENTRE
        force = found.wrench("bowl", axes=Axes.LOCAL_WORLD_ALIGNED)[:3]
        np.testing.assert_allclose(force, y * n / np.linalg.norm(n), rtol=0, atol=1e-9 * (1.0 + abs(y)))


def test_the_result_says_which_method_and_why() -> None:
    q, v = state(SET)
    found = forward_dynamics(SET, ARM.at(q, v))
    assert (
        "TEST_FORCES, not PROXIMAL: 'bowl': its rows are those of WithSlopes, which pinocchio does not have"
        in found.describe()
    )
    assert "PROXIMAL" not in forward_dynamics(SET, ARM.at(q, v), method="direct").describe()
    with pytest.raises(MethodError, match="PROXIMAL does not support 'bowl': it has 1 row"):
        forward_dynamics(SET, ARM.at(q, v), method="proximal")
    assert "'bowl': PoseContact (WithSlopes), 1 row" in SET.describe()


def test_a_plane_is_the_contact_with_that_normal() -> None:
    """A map of the plane z = 0 gives what the library's own contact gives."""

    class Above(PoseMap):
        size = 1

        def value(self, pose: Any, out: Any, D: Any = None) -> None:
            out[0] = pose.translation[2]
            if D is not None:
                D[0, :3] = pose.rotation[2]

        def second(self, pose: Any, twist: Any, acceleration: Any, out: Any) -> None:
            out[0] = pose.rotation[2] @ (acceleration[:3] + np.cross(twist[3:], twist[:3]))

    at = pin.SE3(pin.exp3(np.array([0.3, 0.2, 0.1])), np.array([0.2, 0.1, 0.4]))
    mine = ConstraintSet(ARM, [PoseContact(ARM, "tool", Above(), at, name="floor")])
    usual = ConstraintSet(ARM, [PointContact(ARM, "tool", at.rotation[:, 2], at.translation, name="floor")])
    q, v = state(usual)
    one, other = (forward_dynamics(rows, ARM.at(q, v)).or_raise() for rows in (mine, usual))
    np.testing.assert_allclose(one.acceleration, other.acceleration, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(one.multipliers, other.multipliers, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(one.wrench("floor"), other.wrench("floor"), rtol=1e-10, atol=1e-10)


def test_derivatives_of_dynamics() -> None:
    for given in (WithSlopes(RADIUS), OnSphere(RADIUS)):
        rows = ConstraintSet(ARM, [bowl(ARM, given)])
        q, v = state(rows, 1)
        found = forward_dynamics(rows, ARM.at(q, v)).or_raise().derivatives()
        assert found.by_differences == (() if type(given) is WithSlopes else ("bowl",))

        def solved(dq: Any, dv: Any, rows: ConstraintSet = rows, q: Any = q, v: Any = v) -> Any:
            moved = forward_dynamics(rows, ARM.at(ARM.space.integrate(q, dq), v + dv), method="direct")
            return np.concatenate([moved.acceleration, moved.multipliers])

        none = np.zeros(ARM.nv)
        by_q = np.array([sum(c * solved(s * e, none) for s, c in FIVE_POINTS) for e in np.eye(ARM.nv)]).T
        by_v = np.array([sum(c * solved(none, s * e) for s, c in FIVE_POINTS) for e in np.eye(ARM.nv)]).T
        size = 1.0 + np.abs(by_q).max()
        for mine, theirs in ((found.acceleration_dq, by_q[:-1]), (found.acceleration_dv, by_v[:-1]),
                             (found.multipliers_dq, by_q[-1:]), (found.multipliers_dv, by_v[-1:])):  # fmt: skip
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-7 * size)


def test_nodes_of_optimal_control_take_it() -> None:
    """Accelerations and their derivatives are those of forward dynamics."""
    q, v = state(SET, 6)
    action, u = ContactForwardDynamics(ARM, constraint_set=SET), np.ones(ARM.nv)
    done = action.calc(np.concatenate([q, v]), u).or_raise()
    found = forward_dynamics(SET, ARM.at(q, v), u).or_raise()
    by = action.calc_diff(done).or_raise()
    slopes = found.derivatives()
    size = 1.0 + np.abs(slopes.acceleration_dq).max()
    assert done.acceleration is not None
    assert by.Fx is not None
    np.testing.assert_allclose(done.acceleration, found.acceleration, rtol=0, atol=1e-10 * size)
    expected = np.hstack([slopes.acceleration_dq, slopes.acceleration_dv])
    np.testing.assert_allclose(by.Fx, expected, rtol=0, atol=1e-9 * size)


def test_the_constraint_that_keeps_pinocchio_away_is_named() -> None:
    """Beside a contact with pinocchio's rows: with it, without it, and where the set is stabilised."""
    foot = PointContact(ARM, "tool", axes=Axes.LOCAL, form=Form.RATES, name="foot")
    both = ConstraintSet(ARM, [foot, bowl(ARM)])
    motion = ARM.at(*state(SET, 7))
    alone = both.switched(off=["bowl"])
    assert "not PROXIMAL: 'bowl'" in forward_dynamics(both, motion).describe()
    assert forward_dynamics(alone, motion).method is Method.PROXIMAL
    assert "not PROXIMAL: the set is stabilised" in forward_dynamics(alone.stabilised(0.1), motion).describe()
    assert "accelerations of rows are wanted" in forward_dynamics(alone, motion, acceleration=[0.0] * 4).describe()


def test_inverse_dynamics_and_impacts() -> None:
    q, v = state(SET, 2)
    wanted = forward_dynamics(SET, ARM.at(q, v), np.ones(ARM.nv)).or_raise().acceleration
    tau = inverse_dynamics(SET, ARM.at(q, v), wanted, actuated=ARM.joint_names).or_raise().tau
    np.testing.assert_allclose(forward_dynamics(SET, ARM.at(q, v), tau).acceleration, wanted, rtol=0, atol=1e-8)
    v = np.random.default_rng(7).standard_normal(ARM.nv)
    for e in (0.0, 0.4):
        hit = impact(SET, ARM.at(q, v), restitution={"bowl": e})
        before, after = (bowl(ARM).residual_rate(q, u) for u in (v, hit.velocity))
        np.testing.assert_allclose(after, -e * before, rtol=0, atol=1e-10)


def test_a_motion_stays_on_the_bowl_and_keeps_its_energy() -> None:
    q, v = state(SET, 3)
    record = simulate(SET, q, 0.3 * v, 0.3)
    assert record.success
    model, data = ARM.model, ARM.model.createData()

    def energy(q: Any, v: Any) -> float:
        return float(pin.computeKineticEnergy(model, data, q, v) + pin.computePotentialEnergy(model, data, q))

    kept = [energy(q, v) for q, v in zip(record.qs, record.vs, strict=True)]
    assert np.ptp(kept) <= 1e-6 * (1.0 + np.abs(kept).max())
    assert max(abs(bowl(ARM).residual(q)[0]) for q in record.qs) <= 1e-9


def test_minimal_coordinates() -> None:
    split = minimal_coordinates(SET, state(SET, 4)[0])
    assert len(split.independent) == ARM.nv - 1
    assert len(split.dependent) == 1


# Closures.


def test_a_closure_between_two_bodies() -> None:
    robot = sample_two_arms()
    bead = PoseClosure(robot, "left_tool", "right_tool", WithSlopes(0.2), name="bead")
    check_function(bead.function)
    rows = ConstraintSet(robot, [bead])
    q, v = state(rows, 5)
    one, other = (forward_dynamics(rows, robot.at(q, v), method=how).or_raise() for how in ("direct", "sparse"))
    np.testing.assert_allclose(one.acceleration, other.acceleration, rtol=0, atol=1e-8)
    a, size = one.acceleration, 1.0 + np.abs(one.acceleration).max()
    assert abs(bead.residual_acceleration(q, v, a)[0]) <= 1e-9 * size
    on, against = one.wrench("bead"), one.wrench("bead", on="predecessor")
    X = bead.pose(q)
    np.testing.assert_allclose(against, -(X.act(pin.Force(on))).vector, rtol=0, atol=1e-9 * size)
    assert "'bead': it is not a contact" in forward_dynamics(rows, robot.at(q, v)).describe()
    (kept,) = explicit_loops(rows, q).implicit
    assert "WithSlopes" in kept.reason
    with pytest.raises(FixedClosureError):
        PoseClosure(robot, "left_tool", "left_tool", WithSlopes(0.2))


# The bad places, and what is refused.


def test_in_the_centre_the_contact_is_named() -> None:
    q = ARM.reference("home")
    centred = PoseContact(ARM, "tool", WithSlopes(RADIUS), ARM.at(q).placement("tool"), name="centred")
    rows = ConstraintSet(ARM, [centred])
    with pytest.raises(UndefinedError, match="'centred': the point is in the centre of its sphere"):
        centred.residual(q)
    with pytest.raises(UndefinedError, match="'centred'"):
        forward_dynamics(rows, ARM.at(q, np.zeros(ARM.nv)))
    assert Projector(Problem(ARM, [centred])).project(q).success  # another start of the engine's


class Returns(OnSphere):
    def value(self, pose: Any, out: Any, D: Any = None) -> Any:
        return np.zeros(1)


class Forgets(OnSphere):
    def second(self, pose: Any, twist: Any, acceleration: Any, out: Any) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Sizeless(OnSphere):
    size = 7


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (3, WrongObjectError, "pose_map of 'bowl'.*PoseMap"),
        (OnSphere, WrongObjectError, r"pose_map of 'bowl'.*write OnSphere\(...\)"),
        (Returns(1.0), FunctionError, "Returns.value returned ndarray, not None"),
        (Forgets(1.0), FunctionError, "Forgets.second leaves entries of `out` unwritten"),
        (Sizeless(1.0), OptionError, "size of Sizeless: expected a whole number from 1 to 6, got 7"),
    ],
)
def test_a_wrong_map_is_named(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        bowl(ARM, given)


@dataclass(frozen=True)
class WrongAxes(OnSphere):
    """D in the axes of the reference."""

    def value(self, pose: Any, out: Any, D: Any = None) -> None:
        super().value(pose, out, D)
        if D is not None:
            D[0, :3] = D[0, :3] @ pose.rotation.T


@dataclass(frozen=True)
class WithoutCentripetal(OnSphere):
    """A second derivative without the term of the velocity."""

    def second(self, pose: Any, twist: Any, acceleration: Any, out: Any) -> None:
        p, d = self.seen(pose)
        out[0] = p / d @ pose.rotation @ (acceleration[:3] + np.cross(twist[3:], twist[:3]))


@dataclass(frozen=True)
class WrongForce(WithSlopes):
    """A slope of the force of half its size."""

    def slopes(self, pose: Any, twist: Any, acceleration: Any, multipliers: Any) -> Slopes:
        found = super().slopes(pose, twist, acceleration, multipliers)
        found.force[:] *= 0.5
        return found


@pytest.mark.parametrize(
    ("pose_map", "fix"),
    [(WrongAxes, "D in `value` of the map, by the body twist"), (WithoutCentripetal, "`second` of the map"),
     (WrongForce, "`force` in `slopes` of the map")],
)  # fmt: skip
def test_a_law_that_fails_says_which_method_of_the_map_to_mend(pose_map: type[OnSphere], fix: str) -> None:
    with pytest.raises(CheckFailed) as failed:
        check_function(bowl(ARM, pose_map(RADIUS)).function, samples=3)
    assert failed.value.mend.startswith(fix)


def test_a_contact_is_no_function_but_has_one() -> None:
    with pytest.raises(WrongObjectError, match="closure: its `function`"):
        check_function(bowl(ARM, OnSphere(RADIUS)))  # type: ignore[arg-type]


def test_a_reference_that_moves_is_a_closure() -> None:
    with pytest.raises(OptionError, match=r"reference of 'bowl'.*PoseClosure"):
        PoseContact(ARM, "tool", OnSphere(1.0), "elbow", name="bowl")


def test_a_file_refuses_a_map_of_the_user_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotSavableError, match=r"constraint 'bowl'.*OnSphere, no dataclass that .* exports.*add it aft"):
        Problem(ARM, [bowl(ARM, OnSphere(RADIUS))]).save(tmp_path / "bowl.json")
    assert not list(tmp_path.iterdir())
    path = tmp_path / "floor.json"
    Problem(ARM, [PointContact(ARM, "tool", [0.0, 0.0, 1.0], np.zeros(3), name="floor")]).save(path)
    data = json.loads(path.read_text())
    (floor,) = data["levels"][0]
    data["levels"] = [[{"type": "PoseContact", "name": "bowl", "robot": floor["robot"], "frame": floor["frame"],
                        "pose_map": {"type": "OnSphere", "radius": 0.3}}]]  # fmt: skip
    path.write_text(json.dumps(data))
    with pytest.raises(
        FileContentError, match=r"pose_map\.type: 'OnSphere' is no map of a pose that .* exports.*: add the con"
    ):
        Problem.load(path)


def test_a_cone_of_friction_has_no_axes_here() -> None:
    with pytest.raises(OptionError, match="friction cone of 'bowl': the rows of a PoseContact have no axes"):
        limits_of(SET, state(SET)[0], 0.5, None)
