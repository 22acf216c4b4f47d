r"""Pinocchio's constraint dynamics, where its rows span ours: contacts and closures that hold a point or a frame.

Pinocchio solves :math:`J_p a + \text{drift}_p = w`. With :math:`J = T J_p`, T regular by constraint, w and the
multipliers are converted: :math:`w = T^{-1}\gamma + \text{drift}_p`, :math:`\lambda = T^{-T} \lambda_p`.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross

from ...dynamics.methods.status import DynamicsStatus
from ...linear_algebra import norm
from ...loops import ConstraintSet
from ...loops.frame_rows import FrameRows
from ...loops.set_rows import SetRows
from ...robot import Motion
from ...robot.model.pinocchio import data_of, pin
from .pinocchio_rows import rows_of_point
from .row_space import RowSpace, in_balance
from .saddle_point import Solution, solved, unsolved

DAMPING, ITERATIONS, ACCURACY = 1e-6, 50, 1e-13
"""Of the proximal loop, for redundant rows; independent ones are solved at once, without damping."""

MET = 1e-9
"""Part of the size of the accelerations by which the rows may be missed."""

_LOCAL: Any = pin.LOCAL

NEAT, REFINED = 1e-13, 2
"""Part of their terms by which both equations may be missed before they are corrected; and how often they are."""

STEEP = 1e-8
"""Ratio of the pivots of J M^-1 J^T below which the rows may be redundant: then the general way decides."""


@final
class Anchors:
    """Pinocchio's models and data for the constraints of a set that are on, in one workspace.

    Args:
        constraint_set: whose; it is known that pinocchio has rows that span these.

    Attributes:
        model, data: pinocchio's, for these constraints alone.
        owners: the constraints, with their rows in the set and in pinocchio's order.
        places: of contacts: placement, joint, and the acceleration that pinocchio keeps at zero.
        tree: the model up to the last joint that carries one of them, its nq and nv.
        size: rows of pinocchio.
        at_once: settings for independent rows.
    """

    def __init__(self, constraint_set: ConstraintSet) -> None:
        model: Any = constraint_set.robot.model
        self.model, self.data = model, data_of(model)
        self._models, self._datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        self.owners: list[tuple[FrameRows, slice, slice]] = []
        self.size = 0
        for owner, s in constraint_set.on:
            if isinstance(owner, FrameRows):
                made = _model_of(owner, model)
                self._models.append(made)
                self._datas.append(made.createData())
                stop = self.size + s.stop - s.start
                self.owners.append((owner, s, slice(self.size, stop)))
                self.size = stop
        pin.initConstraintDynamics(model, self.data, self._models, self._datas)
        self.places = [
            (o.successor.placement, o.successor.joint, _classical if s.stop - s.start == 3 else _spatial)
            for o, _, s in self.owners
        ]
        _, tree = constraint_set.robot.space.tree_to(
            max(o.successor.joint for o, _, _ in self.owners) if self.owners else 0
        )
        self.tree: tuple[Any, int, int] = (tree, tree.nq, tree.nv)
        self.at_once = pin.ProximalSettings(ACCURACY, ACCURACY, 0.0, 1)
        self._of_set = constraint_set.size

    def accelerate(self, q: Vector, v: Vector, tau: Vector, settings: Any) -> Vector:
        """Pinocchio's acceleration (nv,), live, with rows that stay at zero."""
        a: Vector = pin.constraintDynamics(self.model, self.data, q, v, tau, self._models, self._datas, settings)
        return a

    def follow(self, wanted: Vector, damping: float, force: Vector | None = None) -> tuple[Vector, Vector]:
        """What is added to acceleration and multipliers where the rows shall be `wanted`, by the last factorisation.

        Args:
            wanted: of the rows, beside what they are already (size,).
            damping: that of the factorisation.
            force: what is added to the generalised forces (nv,).
        """
        n, k = self.model.nv, self.size
        a, lam = np.zeros(n), np.zeros(k)
        if force is None and not wanted.any():
            return a, lam
        right = np.zeros(k + n)
        if force is not None:
            right[k:] = force
        for _ in range(ITERATIONS if damping else 1):
            right[:k] = wanted + damping * lam  # [-damping, J; J^T, M] [-lambda; a], lambda near the last one
            x = self.data.constraint_chol.solve(right)
            moved = float(np.abs(x[:k] + lam).max(initial=0.0))
            a, lam = x[k:], -x[:k]
            if moved <= ACCURACY * np.abs(lam).max(initial=0.0):
                break
        return a, lam

    def conversions(self, motion: Motion) -> tuple[list[Matrix], Vector]:
        """T of each constraint, and what its rows are in excess of pinocchio's: by their drift alone (size,).

        Points that two bodies hold together: that of the predecessor is moved to where the other is, open or closed.
        Pinocchio's acceleration of them is the difference of two classical ones; the relative motion has a Coriolis
        term less.
        """
        turns, drift = list[Matrix](), np.zeros(self.size)
        for model, (owner, s, mine) in zip(self._models, self.owners, strict=True):
            pose, twist, gained = owner.moving.relative_motion(motion)
            a, k = owner.predecessor, s.stop - s.start
            D, value = np.zeros((k, 6)), np.zeros(k)
            owner.moving.pose_map.value(pose, value, D)
            if k == 3:
                turn, own = D[:, :3].copy(), gained[:3] + cross(twist[3:], twist[:3])
                if a.joint:
                    model.joint2_placement = seen = a.placement * pose
                    own += 2.0 * cross(seen.actInv(motion.with_drift().data.v[a.joint]).angular, twist[:3])
            elif a.joint:
                X: Matrix = pose.toActionMatrix()
                turn, own = -D @ np.linalg.inv(X), -X @ gained
            else:
                turn, own = D, gained
            turns.append(turn)
            drift[mine] = own
        return turns, drift

    def of_rows(self, turns: list[Matrix], wanted: Vector) -> Vector:
        """T^-1 w: what pinocchio's rows (size,) are where those of the set are w."""
        out = np.zeros(self.size)
        for (_, s, mine), T in zip(self.owners, turns, strict=True):
            out[mine] = np.linalg.solve(T, wanted[s])
        return out

    def of_multipliers(self, turns: list[Matrix], lam: Vector) -> Vector:
        """T^-T lambda: multipliers of the rows of the set, from those of pinocchio's."""
        out = np.zeros(self._of_set)
        for (_, s, mine), T in zip(self.owners, turns, strict=True):
            out[s] = np.linalg.solve(T.T, lam[mine])
        return out


def anchors_of(constraint_set: ConstraintSet, motion: Motion) -> Anchors:
    """Those of a set, made once for each workspace."""
    key = f"anchors {constraint_set.active.tobytes().hex()}"
    return motion.workspace.resource(constraint_set.stack, key, Anchors, constraint_set)


def solve_at_once(constraint_set: ConstraintSet, motion: Motion, tau: Vector) -> tuple[Vector, Vector] | None:
    """Acceleration and multipliers of contacts whose rows are pinocchio's; None where the general way has to decide.

    The acceleration is checked: it is finite, it meets the rows, and the rows are far from redundant.

    Args:
        constraint_set: of contacts with the rows that pinocchio has.
        motion: the state.
        tau: generalised forces (nv,).
    """
    anchors = anchors_of(constraint_set, motion)
    model, data, q, v = anchors.model, anchors.data, motion.q, motion.v
    a = anchors.accelerate(q, v, tau, anchors.at_once)
    tree, nq, nv = anchors.tree
    pin.forwardKinematics(tree, data, q[:nq], v[:nv], a[:nv])
    missed = 0.0
    for place, joint, acceleration in anchors.places:
        moved = acceleration(model, data, joint, place, _LOCAL)
        missed += moved.dot(moved)
    if not (missed <= MET**2 or missed <= (MET * (1.0 + v @ v + np.sqrt(a @ a))) ** 2):
        return None
    pivots = data.constraint_chol.D[: anchors.size].tolist()
    if not max(pivots) < STEEP * min(pivots) < 0.0:
        return None
    return a, constraint_set.spread(data.lambda_c.copy())


def _spatial(model: Any, data: Any, joint: int, place: Any, axes: Any) -> Vector:
    """Acceleration (6,) of a frame."""
    return pin.getFrameAcceleration(model, data, joint, place, axes).vector


def _classical(model: Any, data: Any, joint: int, place: Any, axes: Any) -> Vector:
    """Acceleration (3,) of a point."""
    return pin.getFrameClassicalAcceleration(model, data, joint, place, axes).linear


def solve_proximal(
    constraint_set: ConstraintSet, motion: Motion, force: Vector, rows: SetRows, gamma: Vector, size: float
) -> Solution | None:
    """Solve by pinocchio's factorisation of constraints and inertia; None where its loop does not meet the equations.

    Args:
        constraint_set: whose rows pinocchio has.
        motion: the state.
        force: generalised forces of actuators and external forces (nv,).
        rows: of the set at the state.
        gamma: what the rows are asked for (size,).
        size: of the accelerations that gamma was computed from.
    """
    n, G = len(force), rows.jacobian
    space = RowSpace(G, constraint_set.rounding)
    if not (space.is_finite and np.isfinite(gamma).all() and np.isfinite(force).all()):
        return unsolved(space, DynamicsStatus.NOT_FINITE, n)
    if space.nearly_repeats:  # pinocchio would push along what does not count
        return None
    if not space.is_full:
        inertia = float(motion.mass_matrix().trace())
        size += in_balance(inertia, force) + in_balance(inertia, motion.bias_force())
    independent = space.independent(gamma, size)
    asked = gamma if space.is_full else space.met(gamma)
    anchors = anchors_of(constraint_set, motion)
    turns, drift = anchors.conversions(motion)
    is_full = space.rank == anchors.size  # rows of zeros are none of `space`, but pinocchio has them
    damping = 0.0 if is_full else DAMPING
    settings = pin.ProximalSettings(ACCURACY, ACCURACY, damping, 1 if is_full else ITERATIONS)
    a = np.array(anchors.accelerate(motion.q, motion.v, force, settings))
    lam = np.array(anchors.data.lambda_c)
    if not np.isfinite(a).all():
        return unsolved(space, DynamicsStatus.SINGULAR_MASS, n)
    B = independent.rows

    def multipliers(lam: Vector) -> Vector:
        """Of the independent rows; the others may be rounding, and the damped loop pushes along them all the same."""
        own = anchors.of_multipliers(turns, lam)
        return space.of_independent(own) if space.is_full else space.along(own @ G)

    more, push = anchors.follow(anchors.of_rows(turns, asked) + drift, damping)
    a, mu, tries = a + more, multipliers(lam + push), 0
    while True:
        needed = np.array(pin.rnea(anchors.model, anchors.data, motion.q, motion.v, a)) - force
        given = mu @ B
        missed = float(np.abs(needed - given).max(initial=0.0))
        scale = float(max(np.abs(x).max(initial=0.0) for x in (force, given, a)))
        rest = np.where(space.is_on, asked - G @ a, 0.0)
        if tries == REFINED or (missed <= NEAT * scale and np.abs(rest).max(initial=0.0) <= NEAT * (size + norm(a))):
            break
        more, push = anchors.follow(anchors.of_rows(turns, rest), damping, given - needed)
        a, mu, tries = a + more, mu + multipliers(push), tries + 1
    reach = MET * (size + norm(a)) * np.sqrt(np.einsum("ij,ij->i", B, B))  # short rows like long ones
    if not (missed <= 0.1 * MET * scale and (np.abs(B @ a - independent.wanted) <= reach).all()):
        return None
    return solved(space, independent, a, mu)


def _model_of(owner: FrameRows, model: Any) -> Any:
    """Pinocchio's constraint: points are of the successor first, frames of two bodies of the predecessor."""
    b, a = owner.successor, owner.predecessor
    one, other = (b.joint, b.placement), (a.joint, a.placement)
    if rows_of_point(owner):
        return pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *one, *other, pin.LOCAL)
    if not a.joint:
        return pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *one, pin.LOCAL)
    return pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *other, *one, pin.LOCAL)
