"""What `dynamics_soundness.py` knows of a state without the library's solvers: its equations, ranks, exact solutions.

Inertia and bias are pinocchio's, the rows come from the plain stacking code, ranks from an SVD, and the exact solution
from LU factors with 50 digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np
import pinocchio as pin
from dynamics_blocks import Block, State, plain_inertia
from numpy.typing import NDArray
from scipy.linalg import qr

from constraints.dynamics import (
    DynamicsStatus,
    Factorisation,
    ForwardDynamics,
    Method,
    MethodError,
    forward_dynamics,
    impact,
)
from constraints.loops import ConstraintSet, PointContact, SurfaceContact
from constraints.rows.stacking import Order, stack_rows

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

RANK, EPS = 1e-6, float(np.finfo(float).eps)
TOLERANCE = 1e-9
"""Of both equations, as a part of their terms."""

NOISE = 1e-13
"""Rounding of forces, as a part of the largest acceleration, in coordinates whose inertias are one."""

EXACT = 1e3
"""Error against the exact solution, in units of eps times the condition."""

METHODS = [m for m in Method if m is not Method.SPARSE]

OF_OTHERS = (
    *(DynamicsStatus.UNDERACTUATED, DynamicsStatus.OFF_CONSTRAINTS, DynamicsStatus.SINGULAR_ACTUATION),
    *(DynamicsStatus.EQUILIBRIUM, DynamicsStatus.NO_EQUILIBRIUM, DynamicsStatus.NOT_ADMISSIBLE),
    *(DynamicsStatus.NOT_SOLVED, DynamicsStatus.NO_DERIVATIVES),
)
"""Statuses of inverse dynamics, derivatives, stances and modes."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The equations of one state, and what an SVD says of them.

    Attributes:
        H, f, G, gamma: H a = f + G^T lambda, G a = gamma.
        unit, beta: rows that are not zero, of unit length, and what they ask for.
        left, sizes, right: U, S and V^T of the rows that are not zero, as they are.
        asked: what these ask for.
        scale: of the unknowns, such that H has a diagonal of ones.
        rank: of the rows.
        counted: rows that count, those of zeros included.
        near: singular values within a factor of ten of the limit, as parts of the largest.
        dropped: the largest singular value that does not count, as a part of the largest.
        gap: norm of the part of what is asked that the rows cannot meet, those of zeros among them.
        size: of the accelerations in gamma.
        free: of the acceleration without constraints, which their forces cancel.
        lightest: least curvature of the kinetic energy, as a part of the largest, all scaled; of all motions.
        lightest_free: of the motions that the rows leave.
    """

    H: Matrix
    f: Vector
    G: Matrix
    gamma: Vector
    unit: Matrix
    beta: Vector
    left: Matrix
    sizes: Vector
    right: Matrix
    asked: Vector
    scale: Vector
    rank: int
    counted: int
    near: Vector
    dropped: float
    gap: float
    size: float
    free: float
    lightest: float
    lightest_free: float

    @staticmethod
    def of(made: ConstraintSet, state: State) -> Truth:
        """That of a state."""
        model, n = made.robot.model, made.robot.nv
        data = model.createData()
        H = plain_inertia(model, state.q)
        f = state.tau - np.array(pin.nonLinearEffects(model, data, state.q, state.v))
        for force in state.external:
            f += plain_force(made, state.q, force)
        G, gamma, counts = plain_rows(made, state)
        lengths = np.sqrt((G * G).sum(axis=1))
        on = lengths > 0.0
        unit, beta, asked = G[on] / lengths[on, None], gamma[on] / lengths[on], gamma[on]
        U, s, Vt = np.linalg.svd(G[on], full_matrices=False) if on.any() else (np.eye(0), np.zeros(0), np.zeros((0, n)))
        part = s / s.max(initial=RANK)
        rank = int((part > RANK).sum())
        out = asked - U @ (U.T @ asked)
        far = float(np.sqrt(out @ out + gamma[~on] @ gamma[~on]))
        diagonal = np.diagonal(H)
        heavy = diagonal > 1e-12 * diagonal.max(initial=0.0)
        scale = 1.0 / np.sqrt(np.where(heavy, diagonal, diagonal.max(initial=0.0) or 1.0))
        Hs = H * scale * scale[:, None]
        Z = np.linalg.svd(Vt[:rank] * scale)[2][rank:].T if rank else np.eye(n)
        every, free = np.linalg.eigvalsh(Hs), np.linalg.eigvalsh(Z.T @ Hs @ Z) if Z.shape[1] else np.ones(1)
        unheld = scale * np.linalg.lstsq(Hs, scale * f, rcond=1e-12)[0]
        near = part[(part > 0.1 * RANK) & (part < 10.0 * RANK)]
        size, biggest = float(state.v @ state.v), max(float(every[-1]), 1e-300)
        return Truth(
            H, f, G, gamma, unit, beta, U, s, Vt, asked, scale, rank, int(counts.sum()), near,
            float(part[rank:].max(initial=0.0)), far, size,
            float(np.abs(unheld).max(initial=0.0)), float(every[0]) / biggest, float(free[0]) / biggest,
        )  # fmt: skip


def plain_force(made: ConstraintSet, q: Vector, force: Any) -> Vector:
    """Generalised force of an external one, by plain pinocchio."""
    model, frame = made.robot.model, force.frame
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    wrench = pin.Force(np.array(force.wrench))
    if force.axes.name != "LOCAL":
        turn = (data.oMi[frame.joint] * frame.placement).rotation.T
        wrench = pin.Force(turn @ wrench.linear, turn @ wrench.angular)
    at_joint = frame.placement.act(wrench).vector
    return np.array(pin.getJointJacobian(model, data, frame.joint, pin.LOCAL).T @ at_joint)


def plain_rows(made: ConstraintSet, state: State) -> tuple[Matrix, Vector, Any]:
    """G, gamma and which rows count, by the plain stacking code."""
    motion = made.robot.at(state.q, state.v)
    rows = stack_rows(made.stack, motion, Order.ACCELERATION)
    G, drift = rows.jacobian.copy(), rows.error.copy()
    rate = stack_rows(made.stack, motion, Order.VELOCITY).error.copy()
    error = made.position_error(state.q)
    counts = np.ones(made.size, dtype=np.bool_)
    for owner, s, on in zip(made.stack, made.stack.slices, made.active, strict=True):
        if not on:
            counts[s] = False
        elif owner.rows.one_sided.any():
            counts[s] &= error[s] != 0.0
    gamma = -drift if state.acceleration is None else state.acceleration - drift
    for (kp, kd), s in zip(
        [(b.position_gain, b.velocity_gain) for b in made.baumgarte], made.stack.slices, strict=True
    ):
        gamma[s] -= kp * error[s] + kd * rate[s]
    return np.where(counts[:, None], G, 0.0), np.where(counts, gamma, 0.0), counts


# Checks of one answer.


def faults_of(truth: Truth, result: ForwardDynamics) -> list[str]:
    """What is wrong with an answer, in words."""
    a, lam, status = result.acceleration, result.multipliers, result.status
    if not (np.isfinite(a).all() and np.isfinite(lam).all()):
        return ["a number that is none"]
    T = truth
    found: list[str] = []
    clear = not len(T.near) and not 0.5 < T.dropped / RANK
    if status in OF_OTHERS:
        return [f"{status.name}, which forward dynamics does not end with"]
    if status in (DynamicsStatus.SINGULAR_MASS, DynamicsStatus.SINGULAR_SYSTEM, DynamicsStatus.NOT_FINITE):
        return refusal_faults(T, status)
    if clear and result.rank != T.rank:
        found.append(f"rank {result.rank}, {T.rank} by SVD")
    if clear and (status is DynamicsStatus.SOLVED) != (
        T.rank == T.counted and status is not DynamicsStatus.INCONSISTENT
    ):
        found.append(f"{status.name} where {T.rank} of {T.counted} rows are independent")
    off = motion_residual(T, a, lam)
    if off > TOLERANCE:
        found.append(f"{status.name}: the equation of motion is missed by {off:.2g}")
    length, largest = float(np.sqrt(a @ a)), float(T.sizes.max(initial=RANK))
    size = T.size + np.abs(T.beta).max(initial=0.0) + np.abs(a).max(initial=0.0) + T.free
    beside = T.left[:, T.rank :].T @ T.asked - T.sizes[T.rank :] * (T.right[T.rank :] @ a)
    gap = max(T.gap, float(np.sqrt(beside @ beside)))
    if status is DynamicsStatus.INCONSISTENT and gap < 0.99 * RANK * largest * (T.size + length):
        found.append(f"INCONSISTENT where the gap is {gap:.2g}")
    if status.is_success and clear and gap > 1.01 * RANK * largest * (T.size + length + 10.0 * T.free):
        found.append(f"{status.name} where the gap is {gap:.2g}")
    if T.rank == len(T.unit):  # each row by itself, short ones like long ones
        off = np.abs(T.unit @ a - T.beta).max(initial=0.0) / max(size, 1e-300)
    else:
        kept = T.sizes[: T.rank] * (T.right[: T.rank] @ a) - T.left[:, : T.rank].T @ T.asked
        off = np.abs(kept).max(initial=0.0) / max(largest * size, 1e-300)
    if clear and off > TOLERANCE:
        found.append(f"{status.name}: the rows that count are missed by {off:.2g}")
    if status.is_success:
        system = result.system  # forces that cancel leave rounding of what they would do
        cancelled = (np.linalg.norm(system.tau) + np.linalg.norm(system.bias)) * len(a) / np.trace(T.H)
        least = 1.01 * TOLERANCE * (T.size + length) + 1.01e-12 * cancelled
        missed = np.flatnonzero(np.abs(T.G @ a - T.gamma) > least)
        unsaid = {result.question.constraint_set.row_name(int(i)) for i in missed} - result.missed_rows.keys()
        found += [f"{status.name}: {sorted(unsaid)} are missed, and not listed"] if unsaid else []
    return found


def refusal_faults(T: Truth, status: DynamicsStatus) -> list[str]:
    """What is wrong with saying that there is no answer."""
    if status is DynamicsStatus.SINGULAR_MASS:
        return [] if T.lightest < 1e-9 else [f"SINGULAR_MASS where the least curvature is {T.lightest:.2g}"]
    if status is DynamicsStatus.SINGULAR_SYSTEM:
        return [] if T.lightest_free < 1e-9 else [f"SINGULAR_SYSTEM where it is {T.lightest_free:.2g}"]
    return ["NOT_FINITE for finite numbers"]


def motion_residual(T: Truth, a: Vector, lam: Vector) -> float:
    """What is left of the equation of motion, in scaled coordinates, as a part of its largest term.

    Where massless coordinates alone move, all terms are zero but for rounding of the size that these motions have: that
    much is allowed, beside inertias of one.
    """
    terms = np.abs(T.H) @ np.abs(a) + np.abs(T.f) + np.abs(T.G.T) @ np.abs(lam)
    left = np.abs((T.H @ a - T.f - T.G.T @ lam) * T.scale).max(initial=0.0)
    rounding = NOISE * np.abs(a / T.scale).max(initial=0.0)
    return max(float(left) - float(rounding), 0.0) / max(float((terms * T.scale).max(initial=0.0)), 1e-300)


# Fifty digits.


@dataclass(frozen=True, eq=False)
class Exact:
    """The solution with 50 digits, in scaled unknowns, and the condition of the scaled saddle point."""

    a: Vector
    push: Vector
    norm: float
    condition: float

    def error_of(self, truth: Truth, result: ForwardDynamics) -> float:
        """Error of an answer: of a and of the joint forces of the constraints, in units of eps times the condition."""
        wrong = (result.acceleration - self.a) / truth.scale
        push = (truth.G.T @ result.multipliers - self.push) * truth.scale
        size = self.norm + truth.size * float((1.0 / truth.scale).max())
        return float(np.sqrt(wrong @ wrong + push @ push)) / (EPS * self.condition * max(size, 1e-300))


def exact_solution(T: Truth) -> Exact | None:
    """With rows chosen by pivoted QR where some repeat others; None where that is not the same question."""
    n, r = len(T.f), T.rank
    apart = max(T.gap, float(np.abs(T.left[:, r:].T @ T.asked).max(initial=0.0)))
    if r < len(T.unit) and (T.dropped > 1e-13 or apart > 100.0 * EPS * (T.size + np.abs(T.asked).max(initial=0.0))):
        return None  # rows that differ: which of them are met decides
    rows = (T.left * T.sizes) @ T.right
    chosen = np.sort(qr(rows.T, mode="r", pivoting=True)[1][:r]) if r < len(T.unit) else np.arange(r)
    S = T.unit[chosen] * T.scale
    lengths = np.sqrt((S * S).sum(axis=1))
    S = S / lengths[:, None]
    K = np.zeros((n + r, n + r))
    K[:n, :n], K[:n, n:], K[n:, :n] = T.H * T.scale * T.scale[:, None], S.T, S
    values = np.linalg.svd(K, compute_uv=False)
    condition = float(values[0] / max(values[-1], 1e-300))
    if condition > 1e14:
        return None
    with mpmath.workdps(50):
        A = mpmath.zeros(n + r)
        A[:n, :n] = mpmath.matrix(T.H.tolist())
        if r:
            A[n:, :n] = B = mpmath.matrix(T.unit[chosen].tolist())
            A[:n, n:] = -B.T
        x = mpmath.lu_solve(A, mpmath.matrix([*T.f.tolist(), *T.beta[chosen].tolist()]))
        push = np.array([float(-y) for y in A[:n, n:] * x[n:]]) if r else np.zeros(n)
        a, mu = np.split(np.array([float(y) for y in x]), [n])
    scaled = np.concatenate([a / T.scale, mu * lengths])
    return Exact(a, push, float(np.sqrt(scaled @ scaled)), condition)


# One state.


@dataclass
class Answer:
    """What was found at one state."""

    statuses: dict[str, str] = field(default_factory=dict)
    near: bool = False
    faults: list[str] = field(default_factory=list)
    near_faults: list[str] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)


def answer_of(block: Block, i: int, exactly: bool) -> Answer:
    """Solve one state by all methods, and check each."""
    state, made, out = block.states[i], block.constraint_set, Answer()
    truth = Truth.of(made, state)
    out.near = bool(len(truth.near))
    exact = exact_solution(truth) if exactly else None
    motion = made.robot.at(state.q, state.v)
    for k, method in enumerate(METHODS):
        by = list(Factorisation)[(i + k) % len(Factorisation)]
        try:
            result = forward_dynamics(
                made, motion, state.tau, method=method, factorisation=by, external=state.external,
                acceleration=state.acceleration,
            )  # fmt: skip
        except MethodError:
            continue
        word = f"{method.name} ({by.name})"
        out.statuses[method.name] = result.status.name
        found = [f"{word}: {what}" for what in faults_of(truth, result)]
        if exact is not None and result.success:
            error = exact.error_of(truth, result)
            out.errors[method.name] = error
            if error > EXACT:
                found.append(f"{word}: error {error:.2g} eps x condition {exact.condition:.2g} from the exact solution")
        (out.near_faults if out.near else out.faults).extend(found)
    judged = truth.lightest_free < 1e-14 or truth.lightest_free > 1e-9  # between, either may be said
    if judged and len({out.statuses[name] for name in ("DIRECT", "NULL_SPACE")}) > 1:
        (out.near_faults if out.near else out.faults).append(f"DIRECT and NULL_SPACE differ: {out.statuses}")
    out.faults += impact_faults(block, state, truth, i)
    return out


def impact_faults(block: Block, state: State, truth: Truth, i: int) -> list[str]:
    """What is wrong with an impact at a state, by one of the methods."""
    made, method = block.constraint_set, METHODS[i % len(METHODS)]
    bounces = any(isinstance(owner, PointContact | SurfaceContact) for owner in made.stack)
    e = [0.0, 0.5, 1.0][i % 3] if bounces else 0.0
    try:
        result = impact(made, made.robot.at(state.q, state.v), restitution=e, method=method)
    except MethodError:
        return []
    if not (np.isfinite(result.velocity).all() and np.isfinite(result.impulses).all()):
        return [f"impact {method.name}: a number that is none"]
    if not result.success and result.status is not DynamicsStatus.INCONSISTENT:
        return [f"impact {method.name}: {what}" for what in refusal_faults(truth, result.status)]
    if not result.success or truth.lightest < 1e-9 or len(truth.near):
        return []
    if not state.v.any():
        noise = TOLERANCE * max(1.0, truth.free)  # some methods hold the weight meanwhile
        return [] if np.abs(result.velocity).max() < noise else [f"impact {method.name}: at rest, it moves"]
    found: list[str] = []
    left = truth.H @ (result.velocity - state.v) - truth.G.T @ result.impulses
    terms = np.abs(truth.H) @ (np.abs(state.v) + np.abs(result.velocity)) * truth.scale
    off = float(np.abs(left * truth.scale).max() / terms.max())
    if off > TOLERANCE:
        found.append(f"impact {method.name}: momentum is missed by {off:.2g}")
    coefficients = np.zeros(made.size)
    for owner, s in zip(made.stack, made.stack.slices, strict=True):
        coefficients[s] = e if isinstance(owner, PointContact | SurfaceContact) else 0.0
    before, after = truth.G @ state.v, truth.G @ result.velocity
    size = np.abs(truth.G).max(initial=1.0) * (
        np.abs(state.v).max(initial=0.0) + np.abs(result.velocity).max(initial=0.0)
    )
    missed = np.abs(after + coefficients * before) / max(size, 1e-300)
    unsaid = {made.row_name(int(i)) for i in np.flatnonzero(missed > 2.0 * TOLERANCE)} - result.missed_rows.keys()
    if unsaid or missed.max(initial=0.0) > 10.0 * RANK:
        found.append(f"impact {method.name}: rows are missed by {missed.max():.2g}, {sorted(unsaid)} are not listed")
    T0, T1 = (0.5 * float(x @ truth.H @ x) for x in (state.v, result.velocity))
    if abs(T0 - T1 - result.energy_lost) > 1e-8 * (T0 + T1):
        found.append(f"impact {method.name}: energy lost {result.energy_lost:.6g}, {T0 - T1:.6g} by velocities")
    return found
