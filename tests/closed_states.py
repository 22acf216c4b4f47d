"""Closed states of every mechanism at random, and their saddle point by dense matrices of plain pinocchio.

What the tests of dynamics in minimal coordinates and the proof at scale (`benchmarks/reduced_soundness.py`) share.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Frame
from constraints.dynamics import ExternalForce
from constraints.loops import ConstraintSet
from constraints.models import Mechanism, load, mechanisms
from constraints.models.mjcf import from_qpos
from constraints.reduced import ClosedState, MinimalCoordinates, minimal_coordinates
from constraints.rows import Order, stack_rows

FOLDER = Path(__file__).parent / "data" / "mechanisms"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
BUILT_IN = ("four_bar", "five_bar", "scissor_lift", "slider_crank", "stewart_platform", "delta_robot", "bennett")
MODELS = tuple(sorted(EXPECTED))
EVERY = (*BUILT_IN, *MODELS)

NEAR = 1e-6
"""Reciprocal condition of J_v below which a state counts as near a dead point of its coordinates, and is left out."""

SPREAD, TRIES = 0.5, 6
"""Largest standard deviation of the independent coordinates [m or rad]; how often it is halved where nothing closes."""


@functools.cache
def mechanism_of(name: str) -> tuple[Mechanism, ConstraintSet, np.ndarray]:
    """A mechanism by name, its constraint set, and a closed configuration."""
    if name in BUILT_IN:
        made = getattr(mechanisms, name)()
        return made, made.constraint_set(), made.posture("closed")
    entry, file = EXPECTED[name], next(f for f in sorted((FOLDER / name).iterdir()) if f.stem == name)
    logging.disable(logging.WARNING)
    made = load(file)
    logging.disable(logging.NOTSET)
    if "closed_q" in entry:
        return made, made.constraint_set(), made.robot.space.normalize(np.array(entry["closed_q"]))
    q = from_qpos(made.robot, entry["closed_qpos_mujoco_order"]) if file.suffix == ".xml" else made.postures["file"]
    return made, made.constraint_set(), q


@functools.cache
def coordinates_of(name: str, driven: tuple[str, ...] = ()) -> MinimalCoordinates:
    """Coordinates judged at the closed configuration, some joints driven."""
    _, rows, q = mechanism_of(name)
    return minimal_coordinates(rows, q, driven=driven)


def drivable(name: str) -> list[str]:
    """Joints that can be driven alone: all their coordinates are independent in some partition."""
    coordinates = coordinates_of(name)
    robot = coordinates.constraint_set.robot
    free = set(coordinates.partition.independent.tolist())
    return [j for j in robot.joint_names if set(range(robot.nv)[robot.velocity_slice_of(j)]) <= free]


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
        n = q.size and coordinates.constraint_set.robot.nv
        state = coordinates.at(q, rng.standard_normal(n), close=True)
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
            return closing.q
        step *= 0.5
    return None


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


def truth_of(sample: Sample) -> Truth:
    """Inertia and bias by pinocchio, rows by the plain stacking code, ranks by SVD."""
    state, parts = sample.state, sample.state.coordinates.partition
    rows, robot = state.coordinates.constraint_set, state.coordinates.constraint_set.robot
    model: Any = robot.model
    data = model.createData()
    M = np.array(pin.crba(model, data, state.q))
    c = sample.tau - np.array(pin.nonLinearEffects(model, data, state.q, state.v))
    for force in sample.external:
        pin.computeJointJacobians(model, data, state.q)
        joint = force.frame.joint  # of `samples`: the frame is that of the joint
        c += np.array(pin.getJointJacobian(model, data, joint, pin.LOCAL)).reshape(6, -1).T @ np.array(force.wrench)
    stacked = stack_rows(rows.stack, robot.at(state.q, state.v), Order.ACCELERATION, state.rhs)
    J, drift = stacked.jacobian.copy(), stacked.error.copy()
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
