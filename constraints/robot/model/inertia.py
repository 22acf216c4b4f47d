"""Joint-space inertia, in whatever order the joints of a model are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liegroups.arrays import Matrix, Vector

from .pinocchio import data_of, pin

ROUNDED_INERTIA = 1e-3
"""Relative excess of the largest moment that is taken for rounding: files have few digits, plates are at the limit."""
NO_BODY = "for the largest principal moment is above the sum of the other two"


def has_possible_moments(inertia: Matrix) -> bool:
    """Whether a body can have an inertia: its largest principal moment is at most the sum of the other two.

    Args:
        inertia: (3, 3) about the centre of mass [kg m^2].

    Source: the triangle inequality of moments; S. Traversaro et al., Identification of fully physical consistent
    inertial parameters using optimization on manifolds, IROS 2016.
    """
    least, middle, largest = np.linalg.eigvalsh(np.asarray(inertia)).tolist()
    return largest - (least + middle) <= ROUNDED_INERTIA * abs(largest)


def is_depth_first(model: Any) -> bool:
    """Whether the joints that each joint carries follow it without a gap.

    `crba`, `computeMinverse` and `constraintDynamics` of pinocchio take it for granted, and say nothing where it is not
    so: they then read and write the columns of other subtrees. Kinematics, RNEA and ABA need only parents before their
    children, which is all that `addJoint` asks for.
    """
    for j in range(1, model.njoints):
        before = j - 1
        while before != model.parents[j]:
            if before < model.parents[j]:
                return False
            before = model.parents[before]
    return True


def inertia_of(model: Any) -> Callable[[Any, Any, Vector], Matrix]:
    """What computes the joint-space inertia of a model: (model, data, q) -> M (nv, nv), a new array.

    It overwrites the joint Jacobians in the data, by the same numbers.
    """
    compute: Any = pin.crba  # gives a copy, whole; what stays in the data is half
    return compute if is_depth_first(model) else _by_bodies


def _by_bodies(model: Any, data: Any, q: Vector) -> Matrix:
    """The sum of J^T I J over all bodies, and the armatures."""
    pin.computeJointJacobians(model, data, q)
    total = np.diag(np.array(model.armature, dtype=np.float64).reshape(-1))
    for j in range(1, model.njoints):
        J = np.array(pin.getJointJacobian(model, data, j, pin.LOCAL)).reshape(6, -1)
        total += J.T @ np.asarray(model.inertias[j].matrix()) @ J
    return total


def inverse_inertia_of(model: Any) -> Callable[[Any, Any, Vector], Matrix]:
    """What computes the inverse of it by articulated bodies; not finite where a joint moves no mass."""
    if is_depth_first(model):
        compute: Any = pin.computeMinverse  # gives a copy, whole
        return compute
    still = pin.Model(model)
    still.gravity = pin.Motion.Zero()
    own, rest = data_of(still), np.zeros(model.nv)

    def by_forces(_: Any, __: Any, q: Vector) -> Matrix:
        return np.array([pin.aba(still, own, q, rest, force) for force in np.eye(model.nv)]).T

    return by_forces
