"""Paths that are known to jump from one branch of solutions to another, and ones that are known not to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from certificate_claims import planar
from robots import ur5

from constraints import Bounds, Implicit, Options, Pose, Problem, Projector
from constraints.functions.affine import Identity
from constraints.paths import MovingRightHandSide, Path
from constraints.paths.path import Piece
from constraints.rows.right_hand_side import RightHandSide
from liegroups import R3xSO3, Rn


def path_through(problem: Problem, Q: np.ndarray, sides: RightHandSide | None = None) -> Path:
    """A path of these samples, whatever is between them."""
    still = MovingRightHandSide(problem.rhs if sides is None else sides)
    return Path((Piece(problem, still, Q, np.linspace(0.0, 1.0, len(Q)), Options.local()),))


def circle(radius: float = 1.0) -> Problem:
    x = Identity(Rn(2))
    return Problem(Rn(2), [Implicit.equal(x[0] * x[0] + x[1] * x[1], [radius * radius], name="circle")])


def arc(begin: float, end: float, count: int = 2) -> np.ndarray:
    angles = np.linspace(begin, end, count)
    return np.column_stack((np.cos(angles), np.sin(angles)))


def between_elbows(seed: int) -> Path:
    """Two links in the plane whose tip stays: the elbow goes from one side to the other through a few samples."""
    rng = np.random.default_rng(seed)
    p, q = rng.uniform(0.2, 1.0, 2)
    tip = planar((float(p), float(q)))
    a, b = rng.uniform(-3.0, 3.0), 10.0 ** rng.uniform(-5.0, -1.0)
    here, other = np.array([a, b]), np.array([a + 2.0 * np.arctan2(q * np.sin(b), p + q * np.cos(b)), -b])
    problem = Problem(Rn(2), [Implicit.equal(tip, tip.value(here))])
    still = [here] * int(rng.integers(1, 3))
    return path_through(problem, np.array([*still, other, other]))


def between_sheets(seed: int) -> Path:
    r"""On :math:`y^2 = x^2 + e^2`, from the upper sheet to the lower one where they are near, in steps of 0.02."""
    rng = np.random.default_rng(seed)
    e = 10.0 ** rng.uniform(-6.0, -1.0)
    x = Identity(Rn(2))
    problem = Problem(Rn(2), [Implicit.equal(x[1] * x[1] - x[0] * x[0], [e * e])])
    way = np.arange(-10, 11) * 0.02 + rng.uniform(-0.01, 0.01)
    above = np.where(way < rng.uniform(-0.03, 0.03), 1.0, -1.0)
    return path_through(problem, np.column_stack((way, above * np.hypot(way, e))))


@cache
def _wrist() -> Problem:
    robot = ur5()
    rows = Implicit.equal(Pose(robot, robot.frame_names[-1], outputs=R3xSO3), mask=[*5 * [True], False], name="tool")
    return Problem(robot, [rows], Bounds.none(robot.space))


def _flipped(problem: Problem, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, RightHandSide]:
    """A UR5 with a nearly stretched elbow, the same bent to the other side, and right-hand sides that both satisfy."""
    while True:
        q = rng.uniform(-2.0, 2.0, 6)
        q[2] = 10.0 ** rng.uniform(-4.0, -1.5)
        mirrored = q * np.where(np.arange(6) == 2, -1.0, 1.0)
        sides = problem.rhs_from(q)
        found = Projector(problem, Options.local(threshold=1e-9)).project(mirrored, sides)
        if found.success and found.q[2] < 0.0 and np.abs(found.q - q).max() < 0.3:
            return q, found.q, sides


def between_arms(seed: int) -> Path:
    """A UR5 whose tool turns about its axis, 0.02 rad a step; on the way its elbow, nearly stretched, flips.

    All but the last joint stay on a continuous path: position and axis of the tool leave them no motion.
    """
    rng = np.random.default_rng(seed)
    problem = _wrist()
    q, flipped, sides = _flipped(problem, rng)
    turned = np.arange(4)[:, None] * 0.02 * np.eye(6)[5]
    samples = np.concatenate([q + turned, flipped + turned + 0.08 * np.eye(6)[5]])
    return path_through(problem, samples, sides)


def between_elbows_of_a_tool(seed: int) -> Path:
    """A UR5 whose tool stays where it is, by all six rows of its pose; its elbow, nearly stretched, flips."""
    rng, robot = np.random.default_rng(seed), ur5()
    problem = Problem(robot, [Implicit.equal(Pose(robot, robot.frame_names[-1]))], Bounds.none(robot.space))
    q, flipped, sides = _flipped(problem, rng)
    samples = np.array([q] * int(rng.integers(1, 3)) + [flipped] * int(rng.integers(1, 3)))
    return path_through(problem, samples, sides)


JUMPING: dict[str, Callable[[int], Path]] = {
    "elbow of two links": between_elbows,
    "two sheets": between_sheets,
    "elbow of a UR5": between_arms,
    "elbow of a UR5 whose tool stays": between_elbows_of_a_tool,
}
"""Paths that jump, by kind."""
