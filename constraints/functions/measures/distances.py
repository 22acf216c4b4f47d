"""How far configurations are from joint limits, and from another configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import as_name, as_tuple, finite_vector
from liegroups.arrays import ArrayLike
from liegroups.space import as_space

from ...errors import OptionError
from ...robot import Robot
from ...robot.arguments import as_robot
from ..affine import Affine, Constant, Identity
from ..expression import dot, minimum
from ..function import Function


def limit_distance(robot: Robot, joints: Sequence[str] | None = None) -> Function:
    r"""How far joints are from the nearer of their limits, as a part of half of their range.

    .. math:: f_i(q) = \min\!\Big(\frac{q_i - l_i}{h_i},\ \frac{u_i - q_i}{h_i}\Big), \quad h_i = \frac{u_i - l_i}{2}

    It is 1 in the middle, where it has a kink, 0 at a limit, below 0 beyond. `Implicit.above(f, 0.1)` keeps off them by
    a twentieth of the range; as the optional last level of a problem `Implicit.above(f, 1.0)` draws joints to their
    middle.

    Args:
        robot: the robot, with its bounds.
        joints: names of joints; all by default. Coordinates without two finite bounds, or with two equal ones, and
            the position of a body in space, have no row.

    Shapes:
        value (rows,): one for each coordinate, in the order of q; jacobian (rows, nv).

    Raises:
        UnknownNameError: a joint that the robot does not have.
        OptionError: no coordinate is left.

    Source: T. F. Chan, R. V. Dubey, IEEE Transactions on Robotics and Automation 11 (1995).
    """
    robot = as_robot(robot, "robot of a distance to joint limits")
    space = robot.space
    wanted = np.ones(space.nv, dtype=np.bool_)
    if joints is not None:
        what = "joints of a distance to joint limits"
        names = [as_name(joint, what) for joint in as_tuple(joints, what, "names of joints", ordered=False)]
        wanted = np.isin(np.arange(space.nv), Segments.of(space, *names).v_indices) if names else ~wanted
    lower, upper = robot.bounds.lower, robot.bounds.upper
    columns, entries = (np.array(list(x), dtype=np.intp) for x in (space.vector_v, space.vector_q))
    apart = np.zeros(space.nq)
    np.subtract(upper, lower, apart, where=np.isfinite(lower) & np.isfinite(upper))
    kept = wanted[columns] & (apart[entries] > 0.0)
    if not kept.any():
        raise OptionError("joints of a distance to joint limits: expected one at least with two limits, got none")
    columns, entries = columns[kept], entries[kept]
    half = 0.5 * apart[entries]
    A = np.zeros((len(columns), space.nv))
    A[np.arange(len(columns)), columns] = 1.0 / half
    return minimum(Affine(A, -lower[entries] / half, space), Affine(-A, upper[entries] / half, space))


def squared_distance(space: Space, q: ArrayLike, weights: ArrayLike | None = None) -> Function:
    r"""The weighted square of the distance from a configuration.

    .. math:: f(x) = \sum_i w_i\,d_i^2, \quad d = \log(q^{-1} x), \qquad J = 2\,(w \circ d)^T J_d

    with :math:`J_d` the Jacobian of the logarithm, on groups too: weights within a rotation are those of its rotation
    vector, in the axes of q. The Jacobian vanishes at q itself. As the optional last level of a problem take
    the difference itself, `Implicit.zero(Identity(space) - Constant(q, space, space))` with `scale=`: the same sum.

    Args:
        space: of the configurations, `robot.space`.
        q: the configuration (nq,).
        weights: w (nv,), not negative; ones by default.

    Shapes:
        value (1,): [rad^2, m^2]; jacobian (1, nv).

    Raises:
        SizeError, NotNormalizedError: what is wrong with q.
        OptionError: a negative weight.

    Source: `ConfigurationConstraint` of hpp-constraints, whose gradient with weights within a group is not exact.
    """
    as_space(space, "space of a squared distance")
    away: Any = Identity(space) - Constant(q, space, space)
    if weights is None:
        return dot(away, away)
    w = finite_vector(weights, space.nv, "weights of a squared distance")
    if (w < 0.0).any():
        raise OptionError(f"weights of a squared distance: expected none below 0, got {w.min():.6g}")
    return dot(w * away, away)
