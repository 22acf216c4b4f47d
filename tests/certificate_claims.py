"""Problems whose solutions are known, and claims about them that do not hold; solutions in 50 digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import fifty_digits as digits
import numpy as np
import pinocchio as pin
from robots import arm, humanoid, two_arms, ur5

from constraints import (
    Bounds,
    CenterOfMass,
    Implicit,
    Orientation,
    Pose,
    Position,
    Problem,
    Robot,
    Rotation,
    Transformation,
)
from constraints.certificates import Certificate, CertificateStatus, certify
from constraints.functions import Function, cos, norm, sin, stack
from constraints.functions.affine import Identity
from liegroups import R3xSO3, Rn

mp: Any = digits.mp


FUNCTIONS: tuple[Callable[[], list[Function]], ...] = (
    lambda: [Pose(arm(), "tool")],
    lambda: [Position(arm(), "tool"), Orientation(arm(), "elbow")[:2]],
    lambda: [Pose(two_arms(), "left_tool", reference="right_tool"), CenterOfMass(two_arms())],
    lambda: [
        Pose(humanoid(), "rleg6_joint", outputs=R3xSO3),
        Pose(humanoid(), "lleg6_joint"),
        CenterOfMass(humanoid()),
    ],
    lambda: [Transformation(two_arms(), "right_tool"), norm(Position(two_arms(), "left_tool"))],
    lambda: [Rotation(humanoid(), "larm6_joint", reference="rarm6_joint"), CenterOfMass(humanoid())[:2]],
)
"""What the problems ask of, by the remainder of their seed."""


def well_posed(seed: int) -> tuple[Problem, np.ndarray, Any]:
    """A problem of equalities without bounds, a configuration that solves it to rounding, and the right-hand sides."""
    rng = np.random.default_rng(seed)
    while True:
        functions = FUNCTIONS[seed % len(FUNCTIONS)]()
        robot: Any = next(g for f in functions for g in f.functions_within() if hasattr(g, "robot")).robot  # type: ignore
        free = robot.with_bounds({})
        equal = [Implicit.equal(f, f.value(free.random(rng))) for f in functions]
        problem = Problem(robot, equal, Bounds.none(robot.space))
        q = robot.random(rng)
        sides = problem.rhs_from(q)
        values = np.linalg.svd(problem.jacobian(q, sides), compute_uv=False)
        if values[0] < 100.0 * values[-1]:
            return problem, q, sides


def noise(seed: int, problem: Problem, size: float) -> np.ndarray:
    """A tangent vector of this size."""
    v = np.random.default_rng(10_000 + seed).normal(size=problem.space.nv)
    return size * v / np.linalg.norm(v)


def solved_in_digits(problem: Problem, found: Certificate, sides: Any) -> bool:
    """Whether Newton's method in 50 digits finds a solution in the slice, and as near to q as is claimed."""
    space, numbers = problem.space, found.numbers
    assert numbers is not None
    center, B = digits.point_of(space, found.center), digits.exact(found.basis)
    owners = list(problem.constraints)

    def rows(y: Any) -> Any:
        at = digits.moved(space, center, B @ y)
        parts = []
        for owner in owners:
            target = digits.point_of(owner.group, sides.points[id(owner)])
            parts.append(digits.log_between(owner.group, target, digits.value_at(owner.measured, at))[owner.rows.mask])
        return np.concatenate(parts)

    y = digits.exact(np.zeros(found.basis.shape[1]))
    C = digits.exact(numbers.preconditioner)
    for _ in range(12):
        y = y - C @ rows(y)
    if max(map(abs, rows(y))) > mp.mpf(10) ** -35 or max(map(abs, y)) > mp.mpf(found.R):
        return False
    solution, asked = digits.moved(space, center, B @ y), digits.point_of(space, found.q)
    return all(x <= mp.mpf(found.r) for x in _apart(space, asked, solution))


def _apart(space: Any, a: Any, b: Any) -> list[Any]:
    """Differences of coordinates, distances of origins, angles of rotations."""
    found = []
    for leaf, x, y in zip(space.leaves(), a, b, strict=True):
        d = digits.leaf_log(leaf.space, x, y)
        if leaf.space.is_flat or leaf.space.nv == 1:
            found += [abs(s) for s in d]
        elif leaf.space.nv == 3 and leaf.space.nq == 4 and leaf.space.name == "SO3":
            found.append(mp.sqrt(d @ d))
        else:
            split = leaf.space.nv // 2 if leaf.space.nv == 6 else 2
            origin = y[1] - x[1]
            found += [mp.sqrt(origin @ origin), mp.sqrt(d[split:] @ d[split:])]
    return found


# What does not hold.


def _proved(seed: int) -> Certificate:
    while True:
        problem, q, sides = well_posed(seed)
        found = certify(problem, problem.space.integrate(q, noise(seed, problem, 1e-6)), sides)
        if found.success:
            return found
        seed += 1000


def nearer(seed: int) -> bool:
    """A solution is nearer than it is."""
    found = _proved(seed)
    return not replace(found, r=found.r * float(np.random.default_rng(seed).uniform(0.0, 0.999))).check()


def alone_farther(seed: int) -> bool:
    """It is the only one in more than was looked at."""
    found = _proved(seed)
    return not replace(found, R=found.R * float(np.random.default_rng(seed).uniform(1.001, 100.0))).check()


def of_less_rank(seed: int) -> bool:
    """The preconditioner, or the enclosed Jacobian, loses a rank."""
    found = _proved(seed)
    assert found.numbers is not None
    if seed % 2:
        C = found.numbers.preconditioner.copy()
        C[seed % len(C)] = 0.0
        return not replace(found, numbers=found.numbers._replace(preconditioner=C)).check()
    low, high = found.numbers.jacobian_lower.copy(), found.numbers.jacobian_upper.copy()
    low[0], high[0] = low[-1], high[-1]
    return not replace(found, numbers=found.numbers._replace(jacobian_lower=low, jacobian_upper=high)).check()


def at_singular_postures(seed: int) -> bool:
    """A six-joint arm that is stretched, with all rows of its tool: full rank is claimed."""
    rng, robot = np.random.default_rng(seed), ur5()
    q = rng.uniform(-3.0, 3.0, 6)
    q[2 if seed % 2 else 4] = 0.0  # the elbow, or the wrist
    rows = Pose(robot, "ee_link") if "ee_link" in robot.frame_names else Pose(robot, robot.frame_names[-1])
    problem = Problem(robot, [Implicit.equal(rows, rows.value(q))])
    return certify(problem, q).status is CertificateStatus.PROVED


def two_links(*, slide: bool = False, **bounds: tuple[float, float]) -> Robot:
    """Links of 0.5 m and 0.4 m, shoulder and elbow, that turn about z; the second on a slide, if asked for."""
    model, ahead = pin.Model(), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    model.name = "two_links"
    shoulder = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "shoulder")
    elbow = model.addJoint(shoulder, pin.JointModelPX() if slide else pin.JointModelRZ(), ahead, "elbow")
    model.addFrame(pin.Frame("tip", elbow, 0, pin.SE3(np.eye(3), np.array([0.4, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    return Robot(model).with_bounds(bounds)


def planar(lengths: tuple[float, float]) -> Function:
    """The tip of two links in the plane, of two angles."""
    angles = Identity(Rn(2))
    a, b = angles[0], angles[0] + angles[1]
    p, q = lengths
    return stack(p * cos(a) + q * cos(b), p * sin(a) + q * sin(b))


def with_a_second_solution(seed: int) -> bool:
    """Two links in the plane, and a radius within which the elbow can be on the other side."""
    rng = np.random.default_rng(seed)
    p, q = rng.uniform(0.2, 1.0, 2)
    tip = planar((float(p), float(q)))
    a, b = rng.uniform(-3.0, 3.0), float(rng.choice([-1.0, 1.0])) * 10.0 ** rng.uniform(-4.0, 0.0)
    other = a + 2.0 * np.arctan2(q * np.sin(b), p + q * np.cos(b))  # of the elbow at -b
    apart = float(np.hypot(other - a, 2.0 * b))
    here = np.array([a, b])
    assert np.abs(tip.value(here) - tip.value(np.array([other, -b]))).max() < 1e-12
    problem = Problem(Rn(2), [Implicit.equal(tip, tip.value(here))])
    return certify(problem, here, radius=apart * rng.uniform(1.0, 3.0)).status is CertificateStatus.PROVED


def inconsistent(seed: int) -> bool:
    """A row is asked for twice, with two right-hand sides."""
    rng, robot = np.random.default_rng(seed), arm()
    q, f = robot.random(rng), Position(robot, "tool")
    off = np.zeros(3)
    off[seed % 3] = 10.0 ** rng.uniform(-15.0, -2.0)
    twice = [Implicit.equal(f, f.value(q)), Implicit.equal(Position(robot, "tool"), f.value(q) + off)]
    return certify(Problem(robot, twice), q).status is CertificateStatus.PROVED


FALSE: dict[str, Callable[[int], bool]] = {
    "r made less": nearer,
    "R made more": alone_farther,
    "a rank lost": of_less_rank,
    "singular postures": at_singular_postures,
    "a second solution within the radius": with_a_second_solution,
    "rows that contradict": inconsistent,
}
"""Whether a claim that does not hold passes, by kind."""
