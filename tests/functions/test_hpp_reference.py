"""The nine projection problems run with hpp-constraints: same residuals, same satisfaction, all of them projected.

What is checked is checked by formulas written here on plain pinocchio, from the files' descriptions alone.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from robots import needs_robot_data

import constraints as lc

pytestmark = needs_robot_data

DATA = Path(__file__).parent.parent / "data" / "hpp_extract.npz"
with np.load(DATA) as _stored:
    NAMES = tuple(str(name) for name in _stored["names"])
PLACE = "ur5_place_explicit"  # its contact is stood in for by a pose: errors are not those of the 8 rows
BASES = {"anchor": lc.Base.FIXED, "freeflyer": lc.Base.FREE_FLYER}
BARE = "<robot name='bare'><link name='base_link'/></robot>"  # for objects whose file is in no wheel
MARGIN = 1e-4
"""How far the surface of a placed object ends above the floor where the file does not say."""


class Reference(NamedTuple):
    description: dict[str, Any]
    problem: lc.Problem
    q0: np.ndarray
    q: np.ndarray
    error: np.ndarray
    success: np.ndarray
    in_bounds: np.ndarray
    threshold: float


@functools.cache
def part(base: str, source: str) -> lc.Robot:
    return lc.Robot.from_urdf(BARE if "hpp_environments" in source else source, base=BASES[base])


@functools.cache
def reference(name: str) -> Reference:
    """A file with its problem, built from the JSON alone."""
    with np.load(DATA) as stored:
        d = json.loads(str(stored[f"{name}/problem"]))
        q0, q, error = (stored[f"{name}/{key}"] for key in ("q0", "q", "error"))
        success, in_bounds = (stored[f"{name}/{key}"].astype(bool) for key in ("success", "in_bounds"))
        threshold = float(stored[f"{name}/error_threshold"])
    parts = [lc.Part(prefix, part(base, urdf), placement) for prefix, base, urdf, placement in d["models"]]
    robot = lc.Robot.system(parts)
    assert list(robot.joint_names) == d["joints"][1:]
    assert (robot.nq, robot.nv) == (d["nq"], d["nv"])
    robot = robot.with_bounds(lc.Bounds(robot.space, d["lower"], d["upper"]))
    constraints = [built(robot, d, c) for c in d["constraints"]]
    problem = lc.Problem(robot, constraints)
    return Reference(d, problem, q0, q, error, success, in_bounds, threshold)


def built(robot: lc.Robot, d: dict[str, Any], c: dict[str, Any]) -> lc.Implicit | lc.Explicit:
    """One constraint of a file."""
    match c["kind"]:
        case "transformation":
            f = lc.Transformation(robot, robot.frame(c["joint2"], c["frame2"]), c["frame1_world"])
        case "relative_transformation":
            f = lc.Transformation(
                robot, robot.frame(c["joint2"], c["frame2"]), reference=robot.frame(c["joint1"], c["frame1"])
            )
        case "explicit_relative_pose":
            a, b = robot.frame(c["joint1"], c["frame1"]), robot.frame(c["joint2"], c["frame2"])
            return lc.explicit_relative_pose(robot, a, b)
        case "relative_com":
            first, last = c["com_joints"]
            f = lc.CenterOfMass(
                robot,
                joints=d["joints"][first : last + 1],
                reference=robot.frame(c["joint"], lc.rigid_transform(c["reference"])),
            )
        case "locked_joint":
            return lc.locked_joint(robot, c["joint"], c["value"])
        case "explicit_convex_shape_contact":
            floor, stands = placed(robot, d, c)
            rhs = np.r_[stands.translation, pin.log3(stands.rotation)]
            return lc.explicit_relative_pose(
                robot, robot.frame("universe", floor), c["object_joint"], rhs, comparison=lc.Comparison.EQUALITY
            )
        case kind:
            raise AssertionError(kind)
    return lc.Implicit.zero(f, mask=c["mask"])


def placed(robot: lc.Robot, d: dict[str, Any], c: dict[str, Any]) -> tuple[Any, Any]:
    """Pose of the floor, and that of the object of qref on it, lifted by the margin along the floor's normal."""
    floor = pin.XYZQUATToSE3(np.array(c["floor_pose"]))
    stands = floor.actInv(pin.XYZQUATToSE3(np.array(d["qref"])[robot.slice_of(c["object_joint"])]))
    stands.translation = stands.translation + np.array([0.0, 0.0, c.get("margin", MARGIN)])
    return floor, stands


# --- plain pinocchio -------------------------------------------------------------------------------------------------


def plain_residual(r: Reference, q: np.ndarray) -> float:
    """Largest error norm of a constraint, nothing of ours but the model."""
    d, robot = r.description, r.problem.robot
    assert robot is not None
    model: Any = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    worst = 0.0
    for c in d["constraints"]:
        error = plain_error(robot, model, data, d, c, q)
        if c.get("mask") is not None:
            error = error[np.array(c["mask"], dtype=bool)]
        worst = max(worst, float(np.linalg.norm(error)))
    return worst


def plain_error(
    robot: lc.Robot, model: Any, data: Any, d: dict[str, Any], c: dict[str, Any], q: np.ndarray
) -> np.ndarray:
    def at(joint: str, placement: list[float] | None = None) -> Any:
        M = data.oMi[model.getJointId(joint)] if joint != "universe" else pin.SE3.Identity()
        return M if placement is None else M * pin.XYZQUATToSE3(np.array(placement))

    def rows(M: Any) -> np.ndarray:
        return np.r_[M.translation, pin.log3(M.rotation)]

    match c["kind"]:
        case "transformation":
            return rows(pin.XYZQUATToSE3(np.array(c["frame1_world"])).actInv(at(c["joint2"], c["frame2"])))
        case "relative_transformation" | "explicit_relative_pose":
            return rows(at(c["joint1"], c["frame1"]).actInv(at(c["joint2"], c["frame2"])))
        case "relative_com":
            first, last = c["com_joints"]
            ids = range(first, last + 1)
            masses = [model.inertias[i].mass for i in ids]
            moments = [m * data.oMi[i].act(model.inertias[i].lever) for i, m in zip(ids, masses, strict=True)]
            foot = at(c["joint"])
            return foot.actInv(np.sum(moments, axis=0) / np.sum(masses)) - np.array(c["reference"])
        case "locked_joint":
            return q[robot.slice_of(c["joint"])] - np.array(c["value"])
        case "explicit_convex_shape_contact":
            floor, stands = placed(robot, d, c)
            return rows((floor * stands).actInv(at(c["object_joint"])))
        case kind:
            raise AssertionError(kind)


def within_bounds(r: Reference, q: np.ndarray) -> bool:
    """Bounds of the file, but for entries of unit vectors."""
    model: Any = r.problem.robot.model if r.problem.robot is not None else None
    counts = np.ones(q.size, dtype=bool)
    for joint in model.joints[1:]:
        if joint.nq != joint.nv:
            plain = 3 if joint.nq == 7 else 0
            counts[joint.idx_q + plain : joint.idx_q + joint.nq] = False
    lower, upper = np.array(r.description["lower"]), np.array(r.description["upper"])
    return bool(((lower <= q) & (q <= upper))[counts].all())


# --- properties ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", a_few(NAMES, 3))
def test_residuals_on_the_results_of_hpp_are_its_own(name: str) -> None:
    """Property 24: error norms agree within 1e-9 with those that HPP stored; and with plain pinocchio."""
    r = reference(name)
    assert len(r.q) == 10
    for q, error in zip(r.q, r.error, strict=True):
        residual = r.problem.residual(q)
        assert residual == pytest.approx(plain_residual(r, q), abs=1e-9)
        if name != PLACE:
            assert residual == pytest.approx(error, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_what_satisfies_hpp_is_satisfied(name: str) -> None:
    """Property 24: success there is satisfaction here, bounds included where they were kept; and the other way."""
    r = reference(name)
    assert r.success.sum() >= 4
    for q, success, in_bounds in zip(r.q, r.success, r.in_bounds, strict=True):
        assert within_bounds(r, q) == in_bounds
        assert r.problem.bounds.contains(q) == in_bounds
        assert (r.problem.residual(q) <= r.threshold) == success
        assert r.problem.is_satisfied(q, threshold=r.threshold) == (success and in_bounds)


@pytest.mark.parametrize("name", NAMES)
def test_results_of_hpp_come_back_as_they_are(name: str) -> None:
    """A satisfied configuration within bounds is a projection: bit for bit, in no iteration."""
    r = reference(name)
    projector = lc.Projector(r.problem, lc.Options(threshold=r.threshold))
    for q in r.q[r.success & r.in_bounds]:
        result = projector.project(q)
        assert (result.success, result.iterations) == (True, 0)
        np.testing.assert_array_equal(result.q, q)


@pytest.mark.parametrize("name", a_few(NAMES, 3))
def test_starts_of_hpp_are_projected(name: str) -> None:
    """At least 99 % of the starts, 40 iterations, in bounds: every one of thirty, checked by plain pinocchio."""
    r = reference(name)
    projector = lc.Projector(r.problem, lc.Options(threshold=r.threshold, max_iterations=40))
    solved = 0
    for q0 in r.q0:
        result = projector.project(q0)
        if result.success:
            assert result.iterations <= 40
            assert plain_residual(r, result.q) <= r.threshold
            assert within_bounds(r, result.q)
            solved += 1
    assert solved >= 0.99 * len(r.q0)


@pytest.mark.parametrize("name", NAMES)
def test_rows_left_to_newton_steps_are_those_of_hpp(name: str) -> None:
    """Explicit constraints are resolved explicitly: 3 rows instead of 9 for the carried box, 6 for the placed one."""
    r = reference(name)
    assert not r.problem.resolution.refused
    assert r.problem.reduced_size == r.description["implicit_dim"]


def test_both_grasps_are_one_set() -> None:
    """Property 11: what HPP found for the explicit grasp satisfies the implicit one, and the other way."""
    one, other = reference("ur5_grasp_explicit"), reference("ur5_grasp_implicit")
    for a, b in ((one, other), (other, one)):
        for q in a.q:
            assert b.problem.residual(q) == pytest.approx(a.problem.residual(q), abs=1e-12)
