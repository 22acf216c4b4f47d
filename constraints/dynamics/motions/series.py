"""What a motion did, as named columns over time: coordinates, forces, power and energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups.arrays import Vector
from liegroups.by_name import entry_names

from ...loops.mobility import row_names
from ...robot import Robot
from ..laws.external_force import Force
from ..laws.forces import Forces
from ..laws.hinge_forces import AtHinge
from ..laws.springs import JointSpring

if TYPE_CHECKING:
    from .record import MotionRecord


def series_of(record: MotionRecord) -> dict[str, Vector]:
    """Columns (n,) by name, in SI units: time, q, v, a, multipliers, forces and powers of laws, energies, errors."""
    robot = record.constraint_set.robot
    names = robot.coordinate_names
    columns: dict[str, Vector] = {"time": record.times}
    columns |= {f"q {name}": record.qs[:, i] for i, name in enumerate(entry_names(robot.space.factors, True))}
    columns |= {f"v {name}": record.vs[:, i] for i, name in enumerate(names)}
    columns |= {f"a {name}": record.accelerations[:, i] for i, name in enumerate(names)}
    rows = row_names(record.constraint_set.stack)
    columns |= {f"multiplier {name}": record.multipliers[:, i] for i, name in enumerate(rows)}
    for law, force in record.forces_by_name.items():
        moved = np.flatnonzero(force.any(axis=0))
        columns |= {f"force of {law} on {names[i]}": force[:, i] for i in moved}
    columns |= {f"power of {law}": power for law, power in record.power_by_name.items()}
    columns |= energies_of(record)
    columns |= {"energy error": record.energy_error}
    columns |= {"position drift": record.position_drift, "velocity drift": record.velocity_drift}
    return columns


def energies_of(record: MotionRecord) -> dict[str, Vector]:
    """Energies (n,) by name [J]: kinetic, potential, of forces, work, and what was dissipated."""
    columns = {"kinetic energy": record.kinetic_energy, "potential energy": record.potential_energy}
    if record.force_energy is not None:
        columns["energy of forces"] = record.force_energy
    columns["work of forces"] = record.work
    if record.dissipated is not None:
        columns["dissipated energy"] = record.dissipated
    return columns


def forces_by_name(record: MotionRecord) -> dict[str, Any]:
    """Generalised forces (n, nv) of each law, and of each constraint, by name."""
    n, nv, given = len(record.times), record.vs.shape[1], record.forces
    robot: Robot = record.constraint_set.robot
    states: Any = map(robot.at, record.qs, record.vs)  # one after the other: each has memory of its own
    out = dict[str, Any]()
    if isinstance(given, Forces):
        labels = _labels(list(given))
        for label in labels:
            out[label] = np.zeros((n, nv))
        for k, motion in enumerate(states):
            acting = given.under(record.holding[k]).at(float(record.times[k]))
            for label, law in zip(labels, acting, strict=True):
                out[label][k] = law.generalised(motion)
    elif given is not None:
        out["forces"] = np.zeros((n, nv))
        for k, motion in enumerate(states):
            tau = given.under(record.holding[k]).in_time(float(record.times[k]), motion)
            out["forces"][k] = 0.0 if tau is None else robot.space.check_tangent(tau, "tau")
    return out


def half_turns(record: MotionRecord) -> dict[str, list[float]]:
    """Times [s] at which periodic springs passed half a turn from rest, where their force jumps, by name of the law."""
    out = dict[str, list[float]]()
    laws = list(record.forces) if isinstance(record.forces, Forces) else []
    for label, law in zip(_labels(laws), laws, strict=True):
        if not isinstance(law, JointSpring) or not law.is_periodic or not np.any(law.stiffness):
            continue
        angles = np.array([law.angle(q) for q in record.qs])
        jumps = np.flatnonzero(np.abs(np.diff(angles)) > np.pi)
        if jumps.size:  # between the two states the angle is linear in time
            before, after = np.pi - np.abs(angles[jumps]), np.pi - np.abs(angles[jumps + 1])
            part = before / np.maximum(before + after, np.finfo(float).tiny)
            t = record.times
            out[label] = (t[jumps] + part * (t[jumps + 1] - t[jumps])).tolist()
    return out


def constraint_forces(record: MotionRecord) -> Mapping[str, Any]:
    r"""Generalised forces (n, nv) of each constraint, :math:`J_i^T \lambda_i`, by name."""
    stack = record.constraint_set.stack
    out = {name: np.zeros_like(record.vs) for name in stack.names}
    for k, (q, multipliers) in enumerate(zip(record.qs, record.multipliers, strict=True)):
        J = record.holding[k].jacobian(q)
        for name, s in zip(stack.names, stack.slices, strict=True):
            out[name][k] = multipliers[s] @ J[s]
    return out


def _labels(laws: list[Force]) -> list[str]:
    """A name for each law, by its type and what it acts on; numbered where two would be the same."""
    labels: list[str] = []
    for law in laws:
        label = f"{type(law).__name__} {_place(law)}".strip()
        same = sum(1 for other in labels if other == label or other.startswith(f"{label} ("))
        labels.append(f"{label} ({same + 1})" if same else label)
    return labels


def _place(law: Force) -> str:
    """What a law acts on, by name; empty where it does not tell."""
    at: Any = law.closure.name if isinstance(law, AtHinge) else getattr(law, "joint", None)
    if at is None:
        ends = [getattr(law, end, None) for end in ("frame", "a", "b", "predecessor", "successor")]
        at = " to ".join(str(getattr(end, "name", end)) for end in ends if end is not None)
    return str(at)
