"""Contact dynamics by numpy and plain pinocchio alone: a dense saddle point, and central differences of it.

Written from the formulas of `tests/data/crocoddyl/README.md`; it shares no code with the library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DenseContact:
    """A contact: its frame, rows (of six, or of three for a point), reference, and whether rows are turned."""

    frame: str
    rows: tuple[int, ...]
    reference: Any
    is_point: bool
    aligned: bool = False
    error_in_world: bool = False


@dataclass(frozen=True)
class Dense:
    """A problem of contact dynamics.

    Args:
        model: pinocchio's.
        contacts: in order.
        B: controls to joint forces.
        gains: position and velocity.
        damping, armature: of the problem.
    """

    model: Any
    contacts: Sequence[DenseContact]
    B: Array
    gains: tuple[float, float] = (0.0, 0.0)
    damping: float = 0.0
    armature: float = 0.0
    data: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", self.model.createData())

    def rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        """J, and drift with the feedback of the gains."""
        model, data = self.model, self.data
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.updateFramePlacements(model, data)
        J, a0 = [np.zeros((0, model.nv))], [np.zeros(0)]
        for c in self.contacts:
            f = model.getFrameId(c.frame)
            local = pin.computeFrameJacobian(model, data, q, f, pin.LOCAL)
            M, nu = data.oMf[f], pin.getFrameVelocity(model, data, f, pin.LOCAL).vector
            if c.is_point:
                acceleration = pin.getFrameClassicalAcceleration(model, data, f, pin.LOCAL).vector[:3]
                moved = M.translation - c.reference.translation
                error = moved if c.error_in_world else M.rotation.T @ moved
                whole, rate = local[:3], nu[:3]
            else:
                acceleration = pin.getFrameAcceleration(model, data, f, pin.LOCAL).vector
                error, whole, rate = pin.log6(c.reference.actInv(M)).vector, local, nu
            a = acceleration + self.gains[0] * error + self.gains[1] * rate
            if c.aligned:
                R = np.kron(np.eye(len(a) // 3), M.rotation)
                whole, a = R @ whole, R @ a
            J.append(whole[list(c.rows)])
            a0.append(a[list(c.rows)])
        return np.vstack(J), np.concatenate(a0)

    def mass(self, q: Array) -> Array:
        """Inertia with both armatures."""
        M = np.array(pin.crba(self.model, self.data, q))
        M = np.triu(M) + np.triu(M, 1).T
        return M + self.armature * np.eye(len(M))

    def solve(self, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        """Acceleration and multipliers, by least squares of the whole saddle point."""
        J, a0 = self.rows(q, v)
        M = self.mass(q)
        h = pin.rnea(self.model, self.data, q, v, np.zeros(self.model.nv))
        n, k = self.model.nv, len(J)
        K = np.block([[M, -J.T], [J, self.damping * np.eye(k)]])
        x = np.linalg.lstsq(K, np.concatenate([self.B @ u - h, -a0]), rcond=1e-13)[0]
        return np.array(x[:n], dtype=np.float64), np.array(x[n:], dtype=np.float64)

    def slopes(self, q: Array, v: Array, u: Array) -> dict[str, Array]:
        """Central differences of both, by state and control."""
        n = self.model.nv

        def moved(d: Array) -> Array:
            x = np.concatenate(self.solve(pin.integrate(self.model, q, d[:n]), v + d[n : 2 * n], u + d[2 * n :]))
            return np.asarray(x)

        D = differences(moved, 2 * n + u.size)
        return {"Fx": D[:n, : 2 * n], "Fu": D[:n, 2 * n :], "df_dx": D[n:, : 2 * n], "df_du": D[n:, 2 * n :]}


def differences(f: Callable[[Array], Array], size: int, step: float = 1e-3) -> Array:
    """Central differences of order six (the error of step and rounding is about 1e-11 for ordinary functions)."""
    columns: list[Array] = []
    for e in step * np.eye(size):
        terms = [(1, 0.75), (2, -0.15), (3, 1.0 / 60.0)]
        columns.append(sum((w * (f(k * e) - f(-k * e)) for k, w in terms), np.zeros(1)) / step)
    return np.stack(columns, axis=-1)


def error(a: Any, b: Any) -> float:
    """Largest difference, as a part of the largest entry of b."""
    found, known = np.asarray(a), np.asarray(b)
    assert found.shape == known.shape
    return float(np.abs(found - known).max(initial=0.0) / max(np.abs(known).max(initial=0.0), 1e-300))
