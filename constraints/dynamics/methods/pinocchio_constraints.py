r"""Constraints of a set as pinocchio has them: its models and data, its constraint dynamics, and their derivatives.

Contacts in their own axes (LOCAL), of three or six rows, in the form RATES, are pinocchio's to the letter
(`pinocchio_rows.is_its_own`). On a tree of elementary joints its derivatives of them are right too, stabilised or not,
damped (:math:`(J M^{-1} J^T + \mu I) \lambda = \ldots`) or not; in other axes they miss its own accelerations (by up to
2 of 1 with gains), and so they do for composite, universal and ZYX joints. What else holds a point or a frame has rows
that span those of pinocchio: see `proximal`.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross

from ...loops import ConstraintSet
from ...loops.frame_rows import FrameRows
from ...robot import Frame, Motion
from ...robot.model.pinocchio import data_of, pin
from .pinocchio_rows import has_its_slopes, rows_of_point

ITERATIONS, ACCURACY = 50, 1e-13
"""Of the proximal loop, for redundant rows; independent ones are solved at once, without damping."""

STEEP = 1e-8
"""Ratio of the pivots of J M^-1 J^T below which the rows may be redundant: then the general way decides."""

_LOCAL: Any = pin.LOCAL


def pinocchio_constraints_of(constraint_set: ConstraintSet, motion: Motion) -> PinocchioConstraints:
    """Those of the constraints that are on, without gains; made once for each workspace."""
    key = f"constraints of pinocchio {constraint_set.active.tobytes().hex()}"
    return motion.workspace.resource(constraint_set.stack, key, PinocchioConstraints, constraint_set)


def differentiable_constraints_of(constraint_set: ConstraintSet, motion: Motion) -> PinocchioConstraints | None:
    """The same with the gains of the set; None where pinocchio has no right derivatives of all rows that are on."""
    return motion.workspace.resource(constraint_set, "derivatives of pinocchio", _differentiable, constraint_set)[0]


def _differentiable(constraint_set: ConstraintSet) -> tuple[PinocchioConstraints | None]:
    return (PinocchioConstraints(constraint_set, is_stabilised=True) if has_its_slopes(constraint_set) else None,)


@final
class PinocchioConstraints:
    """Pinocchio's models and data for the constraints of a set that are on; memory for one caller at a time.

    Args:
        constraint_set: whose; pinocchio is known to have rows that span these.
        is_stabilised: whether with the gains of the set, where its rows are pinocchio's to the letter.
        damping: mu, of one solve as in Crocoddyl.
        armature: what is added to that of the model (nv,), or a number for all.

    Attributes:
        constraint_set: as given.
        model, data: pinocchio's, for these constraints alone.
        owners: the constraints, with their rows in the set and in pinocchio's order.
        size: rows of pinocchio.
    """

    def __init__(
        self, constraint_set: ConstraintSet, is_stabilised: bool = False, damping: float = 0.0, armature: Any = 0.0
    ) -> None:
        model: Any = constraint_set.robot.model
        if np.any(armature):
            model = pin.Model(model)
            model.armature = model.armature + armature
        self.constraint_set, self.model, self.data, self.size = constraint_set, model, data_of(model), 0
        self._models, self._datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        self.owners: list[tuple[FrameRows, slice, slice]] = []
        gains = dict(zip(constraint_set.names, constraint_set.baumgarte, strict=True))
        for owner, s in constraint_set.on:
            if isinstance(owner, FrameRows):
                made = _model_of(owner, model, gains[owner.name] if is_stabilised else None)
                self._models.append(made)
                self._datas.append(made.createData())
                stop = self.size + s.stop - s.start
                self.owners.append((owner, s, slice(self.size, stop)))
                self.size = stop
        pin.initConstraintDynamics(model, self.data, self._models, self._datas)
        self._pivots = self.data.constraint_chol.D[: self.size]  # shows those of each solution: memory of pinocchio
        self._pivots[:] = 0.0  # if it were a copy, no solution would be taken
        self._once = pin.ProximalSettings(ACCURACY, ACCURACY, damping, 1)
        self._damping = damping
        self._places = [
            (o.successor.placement, o.successor.joint, _classical if s.stop - s.start == 3 else _spatial)
            for o, s, _ in self.owners
        ]
        last = max((o.successor.joint for o, _, _ in self.owners), default=0)
        _, tree = constraint_set.robot.space.tree_to(last)
        self._tree: tuple[Any, int, int] = (tree, tree.nq, tree.nv)

    # Accelerations and multipliers.

    def accelerate(self, q: Vector, v: Vector, tau: Vector, settings: Any) -> Vector:
        """Pinocchio's acceleration (nv,), live, with rows that stay at zero; `settings` of its proximal loop."""
        a: Vector = pin.constraintDynamics(self.model, self.data, q, v, tau, self._models, self._datas, settings)
        return a

    def solve(self, q: Vector, v: Vector, tau: Vector) -> tuple[Vector, Vector] | None:
        """Acceleration (nv,) and multipliers (size,), copies; None: rows may be redundant, and are not damped."""
        a = self.accelerate(q, v, tau, self._once).copy()
        if not self._damping:
            pivots = self._pivots.tolist()
            if not max(pivots) < STEEP * min(pivots):  # they are negative, and STEEP is below one
                return None
        return a, self.constraint_set.spread(self.data.lambda_c.copy())

    def missed(self, q: Vector, v: Vector, a: Vector) -> float:
        """Sum of the squares of the accelerations of contacts, which pinocchio keeps at zero."""
        tree, nq, nv = self._tree
        pin.forwardKinematics(tree, self.data, q[:nq], v[:nv], a[:nv])
        found = 0.0
        for place, joint, acceleration in self._places:
            moved = acceleration(self.model, self.data, joint, place)
            found += moved.dot(moved)
        return found

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

    # Rows of the set and rows of pinocchio.

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
        out = np.zeros(self.constraint_set.size)
        for (_, s, mine), T in zip(self.owners, turns, strict=True):
            out[s] = np.linalg.solve(T.T, lam[mine])
        return out

    # After a solution: its derivatives, and kinematics.

    def differentiate(self) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]:
        """Derivatives of the last solution, views that hold until the next call.

        Returns:
            of the acceleration by q, v and tau (nv, nv), and of the multipliers that are on (k, nv).
        """
        return pin.computeConstraintDynamicsDerivatives(self.model, self.data, self._models, self._datas, self._once)

    def operational_inertia(self) -> Matrix:
        """(J M^-1 J^T)^-1 of the last solution (size, size), of rows of pinocchio."""
        return self.data.constraint_chol.getOperationalSpaceInertiaMatrix()

    def rotation(self, frame: Frame) -> Matrix:
        """Rotation (3, 3) of a frame in the world, at the last solution."""
        return self.data.oMi[frame.joint].rotation.dot(frame.placement.rotation)

    def turning(self, frame: Frame) -> Matrix:
        """Angular rows (3, nv) of the body Jacobian of a frame, at the last solution."""
        found: Matrix = pin.getFrameJacobian(self.model, self.data, frame.joint, frame.placement, _LOCAL)
        return found[3:]


def _spatial(model: Any, data: Any, joint: int, place: Any) -> Vector:
    """Acceleration (6,) of a frame."""
    return pin.getFrameAcceleration(model, data, joint, place, _LOCAL).vector


def _classical(model: Any, data: Any, joint: int, place: Any) -> Vector:
    """Acceleration (3,) of a point."""
    return pin.getFrameClassicalAcceleration(model, data, joint, place, _LOCAL).linear


def _model_of(owner: FrameRows, model: Any, gains: Any) -> Any:
    """Pinocchio's constraint: the successor first, but for frames of two bodies, where the predecessor is."""
    b, a = owner.successor, owner.predecessor
    first, second = (b.joint, b.placement), (a.joint, a.placement)
    is_point = rows_of_point(owner)
    kind = pin.ContactType.CONTACT_3D if is_point else pin.ContactType.CONTACT_6D
    if a.joint and not is_point:
        first, second = second, first
    made = pin.RigidConstraintModel(kind, model, *first, *second, _LOCAL)
    if gains is not None:
        kp = gains.position_gain if owner.has_position else 0.0
        made.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(kp, gains.velocity_gain))
    return made
