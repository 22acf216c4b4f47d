"""Closed states of every mechanism at random, and their saddle point by dense matrices of plain pinocchio.

What the tests of dynamics in minimal coordinates and the proof at scale (`benchmarks/reduced_soundness.py`) share.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from closed_mechanisms import closed_mechanism

from constraints import Frame
from constraints.dynamics import ExternalForce, forward_dynamics
from constraints.loops import ConstraintSet
from constraints.models import Mechanism
from constraints.reduced import (
    ClosedState,
    DeadPointError,
    MinimalCoordinates,
    PartitionError,
    minimal_coordinates,
    reduced_forward_dynamics,
    reduced_inverse_dynamics,
    reduced_mass_matrix,
    reduced_residual,
    reduced_system,
)
from constraints.rows.stacking import Order, stack_rows

NEAR = 1e-6
"""Reciprocal condition of J_v below which a state counts as near a dead point of its coordinates, and is left out."""

SPREAD, TRIES = 0.5, 6
"""Largest standard deviation of the independent coordinates [m or rad]; how often it is halved where nothing closes."""


@functools.cache
def mechanism_of(name: str) -> tuple[Mechanism, ConstraintSet, np.ndarray]:
    """A mechanism by name, its constraint set, and a closed configuration."""
    mechanism, q = closed_mechanism(name)
    return mechanism, mechanism.constraint_set(), q


@functools.cache
def coordinates_of(name: str, driven: tuple[str, ...] = ()) -> MinimalCoordinates:
    """Coordinates judged at the closed configuration, some joints driven."""
    _, rows, q = mechanism_of(name)
    return minimal_coordinates(rows, q, driven=driven)


@functools.cache
def drivable(name: str) -> tuple[str, ...]:
    """Joints that can be driven alone, far from their dead points at the closed configuration."""
    found: list[str] = []
    for joint in mechanism_of(name)[0].robot.joint_names:
        try:
            coordinates = coordinates_of(name, (joint,))
        except PartitionError:
            continue
        if coordinates.at(coordinates.q).lu.rcond > 3.0 * NEAR:
            found.append(joint)
    return tuple(found)


@dataclass
class Sample:
    """A closed state with what acts on it.

    Attributes:
        state: closed.
        tau, external: what acts.
        cdd: accelerations of the driven coordinates.
    """

    state: ClosedState
    tau: np.ndarray
    external: tuple[ExternalForce, ...]
    cdd: np.ndarray


@dataclass
class LeftOut:
    """How many random states did not close, and how many are near a dead point."""

    open: int = 0
    near: int = 0


def samples(name: str, count: int, rng: np.random.Generator, left_out: LeftOut | None = None) -> Iterator[Sample]:
    """Random closed states of a mechanism; every second one has a driven joint where one can be driven."""
    out, joints, made = LeftOut() if left_out is None else left_out, drivable(name), 0
    while made < count:
        driven = (str(rng.choice(joints)),) if joints and made % 2 else ()
        coordinates = coordinates_of(name, driven)
        q = moved(coordinates, rng)
        if q is None:
            out.open += 1
            continue
        n = coordinates.constraint_set.robot.nv
        try:
            state = coordinates.at(q, rng.standard_normal(n), close=True)
        except DeadPointError:
            out.near += 1
            continue
        if state.lu.rcond < NEAR:
            out.near += 1
            continue
        robot, size = coordinates.constraint_set.robot, 5.0 * state.motion.mass_matrix().diagonal()
        tip = Frame("pushed", int(rng.integers(1, robot.model.njoints)))
        pushed = (ExternalForce(tip, size.max() * rng.standard_normal(6)),) if made % 3 == 0 else ()
        cdd = rng.standard_normal(coordinates.partition.driven.size)
        yield Sample(state, size * rng.standard_normal(n), pushed, cdd)
        made += 1


def moved(coordinates: MinimalCoordinates, rng: np.random.Generator) -> np.ndarray | None:
    """The closed configuration, its independent and driven coordinates moved at random; None where nothing closes."""
    space = coordinates.constraint_set.robot.space
    step = np.zeros(space.nv)
    step[coordinates.held] = rng.uniform(0.0, SPREAD) * rng.standard_normal(coordinates.held.size)
    for _ in range(TRIES):
        closing = coordinates.close(space.integrate(coordinates.q, step))
        if closing.success and np.abs(space.difference(coordinates.q, closing.q)).max() < np.pi:
            again = coordinates.close(closing.q, tolerance=1e-15, max_iterations=1)
            return again.q if again.residual < closing.residual else closing.q
        step *= 0.5
    return None


def state_of(name: str, seed: int = 0, driven: tuple[str, ...] = ()) -> ClosedState:
    """One random closed state of a mechanism, in motion."""
    coordinates, rng = coordinates_of(name, driven), np.random.default_rng(seed)
    q = moved(coordinates, rng)
    assert q is not None
    return coordinates.at(q, rng.standard_normal(coordinates.constraint_set.robot.nv), close=True)


@dataclass
class Truth:
    """The saddle point of a sample by dense matrices, driven coordinates held by rows of their own.

    Attributes:
        M, c: inertia and forces of the tree, M a = c + push + drives.
        J, drift: rows, and what they are at zero joint acceleration.
        acceleration: (nv,).
        driven_forces: (nc,).
        push: generalised forces of the rows (nv,).
        multipliers: of least norm (size,).
        forces: the largest force of the equation [N, N m].
    """

    M: np.ndarray
    c: np.ndarray
    J: np.ndarray
    drift: np.ndarray
    acceleration: np.ndarray
    driven_forces: np.ndarray
    push: np.ndarray
    multipliers: np.ndarray
    forces: float


def truth_of(sample: Sample, of_all: bool = True) -> Truth:
    """Inertia and bias by pinocchio, rows by the plain stacking code, ranks by SVD; of all rows or those that count."""
    state, parts = sample.state, sample.state.coordinates.partition
    rows, robot = state.coordinates.constraint_set, state.coordinates.constraint_set.robot
    model: Any = robot.model
    data = model.createData()
    M = np.array(pin.crba(model, data, state.q))
    c = sample.tau - np.array(pin.nonLinearEffects(model, data, state.q, state.v))
    for force in sample.external:
        pin.computeJointJacobians(model, data, state.q)
        joint = robot.frame(force.frame).joint  # of `samples`: the frame is that of the joint
        c += np.array(pin.getJointJacobian(model, data, joint, pin.LOCAL)).reshape(6, -1).T @ np.array(force.wrench)
    stacked = stack_rows(rows.stack, robot.at(state.q, state.v), Order.ACCELERATION, state.rhs)
    J, drift = stacked.jacobian.copy(), stacked.error.copy()
    if not of_all:
        J[parts.redundant], drift[parts.redundant] = 0.0, 0.0
    held = np.zeros((parts.driven.size, robot.nv))
    held[np.arange(parts.driven.size), parts.driven] = 1.0
    scale = 1.0 / np.sqrt(M.diagonal())  # unknowns of one size: cranks of grams beside trunks of kilograms
    Ms, cs, G = M * scale * scale[:, None], c * scale, np.vstack([J, held]) * scale
    gamma, rank = np.concatenate([-drift, sample.cdd]), parts.rank + parts.driven.size
    U, s, Vt = np.linalg.svd(G)
    U, s, W, Z = U[:, :rank], s[:rank], Vt[:rank], Vt[rank:].T
    a, lam = np.zeros(robot.nv), np.zeros(len(G))
    for _ in range(3):  # what rounding left is solved for again
        f, g = cs + lam @ G - Ms @ a, gamma - G @ a
        more = W.T @ ((U.T @ g) / s)
        more += Z @ np.linalg.solve(Z.T @ Ms @ Z, Z.T @ (f - Ms @ more))
        a, lam = a + more, lam + U @ ((W @ (Ms @ more - f)) / s)
    a = a * scale
    push, driven = lam[: len(J)] @ J, lam[len(J) :]
    least = np.linalg.lstsq(J.T, push, rcond=1e-6)[0]
    forces = max(float(np.abs(x).max(initial=0.0)) for x in (c, M @ a, push, driven))
    return Truth(M, c, J, drift, a, driven, push, least, forces)


LIMITS = {
    "acceleration": 1e-9, "driven forces": 1e-9, "forces of rows": 1e-9, "multipliers": 1e-9, "least norm": 1e-9,
    "rows": 1e-9, "residual": 1e-9, "identity": 1e-10, "energy": 1e-10, "forward, acceleration": 1e-9,
    "forward, forces of rows": 1e-9, "forward, multipliers": 1e-9, "given back": 1e-9,
}  # fmt: skip
"""What is compared, with the error that is allowed, as a part of the largest number of its kind."""

OTHER_RANK = "forward_dynamics counts rows that the digits of a file make"
ROWS_DECIDE = "which of the redundant rows count decides"
SOUND = ("SOLVED", OTHER_RANK, ROWS_DECIDE)
"""Statuses that are no findings. Rows that repeat others to the last digit of a closed state ask for accelerations that
differ by more than 1e-10 close to a fold of an overconstrained mechanism: there the truth is that of the rows that
count, and `forward_dynamics`, which takes all, is not compared."""


def errors_of(sample: Sample, rng: np.random.Generator) -> tuple[dict[str, float], str]:
    """Errors of reduced dynamics at a sample, by what is compared; and the status, or why forward_dynamics is apart."""
    state, truth, parts = sample.state, truth_of(sample), sample.state.coordinates.partition
    of_rows = truth_of(sample, of_all=False) if parts.redundant.size else truth
    decides = apart(truth.acceleration, of_rows.acceleration, np.abs(truth.acceleration).max()) > 1e-10
    truth = of_rows if decides else truth
    forces = {"tau": sample.tau, "external": sample.external}
    found = reduced_forward_dynamics(state, **forces, driven_acceleration=sample.cdd)
    size, push = float(np.abs(truth.acceleration).max()), float(np.abs(truth.push).max())
    errors = {
        "acceleration": apart(found.acceleration, truth.acceleration, size),
        "driven forces": apart(found.driven_forces, truth.driven_forces, truth.forces),
        "forces of rows": apart(found.multipliers @ truth.J, truth.push, push),
        "least norm": apart(found.least_norm() @ state.rows.jacobian, truth.push, push),
        "rows": apart((truth.J @ found.acceleration)[parts.rows], -truth.drift[parts.rows], size),
    }
    if not parts.redundant.size:
        errors["multipliers"] = apart(found.multipliers, truth.multipliers, np.abs(truth.multipliers).max())
    errors["residual"], errors["identity"] = residual_errors(sample, found.independent_acceleration, rng)
    errors["energy"] = energy_error(state, truth.M, rng)
    errors["given back"] = given_back(sample, rng)
    if found.success and decides:
        return errors, ROWS_DECIDE
    if not sample.cdd.size:
        other = forward_dynamics(state.coordinates.constraint_set, state.motion, **forces)
        if other.rank != parts.rank:
            return errors, OTHER_RANK
        errors["forward, acceleration"] = apart(found.acceleration, other.acceleration, size)
        errors["forward, forces of rows"] = apart(found.multipliers @ truth.J, other.multipliers @ truth.J, push)
        most = float(np.abs(other.multipliers).max(initial=0.0))
        errors["forward, multipliers"] = apart(found.least_norm(), other.multipliers, most)
    return errors, found.status.name


def apart(x: Any, y: Any, size: Any) -> float:
    """Largest difference, as a part of a size."""
    return float(np.abs(x - y).max(initial=0.0)) / max(float(size), 1e-300)


def residual_errors(sample: Sample, udd: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """R_u = 0 at the accelerations found; R_u = M_r udd + M_ruc[u, c] cdd + F_ruc[u], and Q_c too, at others.

    As parts of the terms of the sums.
    """
    state = sample.state
    zero = reduced_residual(state, udd, sample.cdd, tau=sample.tau, external=sample.external)
    system = reduced_system(state, tau=sample.tau, external=sample.external)
    udd, cdd = rng.standard_normal(system.split), rng.standard_normal(sample.cdd.size)
    residual = reduced_residual(state, udd, cdd, tau=sample.tau, external=sample.external)
    R = system.independent_mass @ udd + system.coupling @ cdd + system.independent_bias
    Q = system.coupling.T @ udd + system.driven_mass @ cdd + system.driven_bias

    def size(a: np.ndarray) -> float:
        terms = np.abs(system.motions.T) @ (np.abs(system.inertia) @ np.abs(a) + np.abs(system.force))
        return float(terms.max(initial=0.0))

    most = size(residual.acceleration)
    missed = max(apart(residual.independent, R, most), apart(residual.driven, Q, most))
    return apart(zero.independent, 0.0, size(zero.acceleration)), missed


def energy_error(state: ClosedState, M: np.ndarray, rng: np.random.Generator) -> float:
    """2 T = ud^T M_r ud, at a random velocity with the drives at rest; as a part of the terms of the sum."""
    ud = rng.standard_normal(state.coordinates.partition.independent.size)
    v = state.coordinates.spread(ud)
    v[state.coordinates.partition.dependent] = state.B[:, : ud.size] @ ud
    J = state.rows.jacobian[state.coordinates.partition.rows]
    assert np.abs(J @ v).max(initial=0.0) <= 1e-9 * max(1.0, np.abs(v).max())
    return apart(ud @ reduced_mass_matrix(state) @ ud, v @ M @ v, np.abs(v) @ np.abs(M) @ np.abs(v))


def given_back(sample: Sample, rng: np.random.Generator) -> float:
    """Inverse dynamics of a wish, and direct dynamics of its answer.

    As a part of the accelerations that there are, and of those that the forces would give without each other: where
    a crank of micrograms is moved by forces of newtons, their last digit moves it too.
    """
    state = sample.state
    robot, parts = state.coordinates.constraint_set.robot, state.coordinates.partition
    if not parts.independent.size:
        return 0.0
    wish = rng.standard_normal(parts.independent.size)
    columns = [*parts.independent.tolist(), *rng.permutation(parts.dependent)[:1].tolist()]  # one more than is needed
    by = reduced_inverse_dynamics(
        state, wish, sample.cdd, actuation=np.eye(robot.nv)[:, columns], tau=sample.tau, external=sample.external
    ).or_raise()
    back = reduced_forward_dynamics(
        state, sample.tau + by.tau, driven_acceleration=sample.cdd, external=sample.external
    ).or_raise()
    system, n = reduced_system(state), parts.independent.size
    T, terms = np.abs(system.motions[:, :n]), np.abs(system.inertia) @ np.abs(by.acceleration) + np.abs(system.force)
    most = float((terms + np.abs(by.tau) + np.abs(sample.tau)).max())
    alone = T @ np.abs(np.linalg.inv(system.independent_mass)).sum(axis=1) * most
    return apart(back.acceleration, by.acceleration, float((np.abs(by.acceleration) + alone).max()))
