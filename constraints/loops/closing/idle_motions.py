"""Idle motions: single bodies that turn while all rows hold and nothing else moves, as rods between two balls."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...robot import Posture, Robot

SMALL_SPEED = 1e-12
"""Squared speeds that are below this part of those of the body itself are none."""


def idle_directions(robot: Robot, posture: Posture, J: Matrix, rank: int) -> dict[str, Vector]:
    r"""Motions (nv,), of norm 1, that turn a single body, by the joint that carries it.

    Of the motions Z z that the rows leave free, with :math:`T_b` the Jacobian of the twist of body b, those with
    :math:`\sum_{c \ne b} |T_c Z z|^2 = 0`. The body is in a loop, and turns about one axis; what its own joint
    leaves free alone, as the last joint of an arm, is no idle motion.

    Args:
        robot: whose bodies.
        posture: closed, with the Jacobian J (rows, nv) of the rows.
        J: Jacobian of the rows at the posture.
        rank: of J.
    """
    Z = np.linalg.svd(J)[2][rank:].T
    wide = [i for i in range(1, robot.model.njoints) if _is_in_loop(robot, i, J)]
    if not Z.shape[1] or not wide:
        return {}
    k = posture.with_jacobians()
    twists = {i: np.array(k.joint_jacobian(i)) @ Z for i in range(1, robot.model.njoints)}
    grams = {i: T.T @ T for i, T in twists.items()}
    whole, found = sum(grams.values()), dict[str, Vector]()
    for i in wide:
        values, vectors = np.linalg.eigh(whole - grams[i])
        own = vectors[:, values <= SMALL_SPEED * np.trace(whole)]
        speed = twists[i] @ own
        if own.shape[1] == 1 and np.linalg.norm(speed) > 1e-3:
            found[str(robot.model.names[i])] = Z @ own[:, 0]
    return found


def idle_motions(robot: Robot, posture: Posture, J: Matrix, rank: int) -> tuple[str, ...]:
    """The same in words: "rod0a spins about its own axis"."""
    return tuple(f"{name} spins about its own axis" for name in idle_directions(robot, posture, J, rank))


def _is_in_loop(robot: Robot, joint: int, J: Matrix) -> bool:
    """Whether a joint of several degrees of freedom, or one that carries such a body, moves rows."""
    model: Any = robot.model
    start = int(model.joints[joint].idx_v)
    return int(model.joints[joint].nv) > 1 and bool(J[:, start : start + int(model.joints[joint].nv)].any())
