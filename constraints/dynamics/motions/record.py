"""Result of a simulation: the motion, with its energy, how well it kept the constraints, and its events."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...dynamics.methods.status import DynamicsStatus
from ...exports import from_above
from ...keywords import Named
from ...linear_algebra import largest
from ...loops import ConstraintSet
from ...rows.row_owner import RowOwner
from ...solvers.result import Result
from ...solvers.status import StatusEnum
from ...words import counted, first_names
from ..events.events import Crossing
from ..laws.forces import Forces
from ..laws.law import Law
from .limits import LimitPassed, limits_passed
from .remarks import of_record
from .series import constraint_forces, forces_by_name, half_turns, series_of


class MotionStatus(StatusEnum, successes=("FINISHED", "EVENT")):
    """Why a simulation ended: each value is a sentence for humans."""

    FINISHED = "The motion was integrated over the whole duration."
    EVENT = "A terminal event ended the motion."
    NOT_PROJECTED = "A step could not be projected back onto the constraints; the motion ends before it."
    NO_ACCELERATION = (
        "The accelerations of a state are not determined, or its rows contradict each other; the motion ends there."
    )
    POOR_STEP = "The energy is off by more than 1 % of what was exchanged: steps are too long for this motion."
    STEP_TOO_SHORT = (
        "Adaptive steps became too short to go on: the laws may be stiff (scheme IMPLICIT), or jump (an Event, or a "
        "fixed step)."
    )
    STAGE_NOT_SOLVED = "The equations of an implicit step were not solved; a shorter step may be."
    NOT_FINITE = "Numbers overflow: the motion ends before that."
    BEYOND_BARRIER = (
        "The function of a barrier went below zero: undetected, and smaller steps may detect it, or let through by a "
        "reset."
    )
    OPEN_AFTER_RESET = "A reset gave a state that is off the constraints: the motion ends before it."
    ENDLESS_EVENTS = "Resets follow one another without end, like bounces that become ever shorter."


@final
@dataclass(frozen=True, eq=False, repr=False)
class MotionRecord(Result):
    """A motion at n times, as far as it went. At a reset there are two states at the same time: before and after.

    It is neither true nor false (`if record:` raises): `success` says whether it reached its end.

    Attributes:
        constraint_set: the simulated set, as it was at the start.
        times: (n,) [s].
        qs, vs: configurations (n, nq) and velocities (n, nv).
        accelerations: (n, nv).
        multipliers: (n, size), of all rows.
        kinetic_energy, potential_energy: (n,) [J], of bodies and gravity; NaN if a constraint is open, because energies
            are defined for closed states only.
        force_energy: (n,) [J], of the forces, `Forces.energy` at each time; zeros if there are none, None if a force
            has no potential energy, or the forces are a function.
        position_drift: (n,) largest norm of the errors of one constraint.
        velocity_drift: (n,) largest norm of their rates.
        dynamics: (n,) status of the accelerations: RANK_DEFICIENT if rows repeat others.
        ranks: (n,) number of independent rows: lower in a singular pose.
        work: (n,) [J], of all forces but gravity, and of moving targets, since the start: integrated beside the motion.
        energy_error: (n,) [J], change of kinetic and potential energy since the start that is neither work nor a reset:
            it is zero but for errors of the integration.
        position_error, velocity_error: (n,) sums of the estimated errors of the steps since the start, by their largest
            entry [m, rad], [m/s, rad/s]; NaN for schemes without an estimate (RK4, SEMI_IMPLICIT_EULER).
        events: events that happened, in order.
        status: why it ended.
        reason: details of the status; may be empty.
        steps, evaluations: how many steps were taken, and accelerations computed.
        exchanged_energy: sum of the absolute changes of the kinetic energy over the steps [J]; errors of the energy are
            judged by it.
        oscillating_events: names of events whose function changed its sign more than once in a step, and the time of
            the first such step [s]: there may be changes that were not seen.
        forces: what acted besides constraints and gravity, as given.
        holding: (n,) the sets that held: the simulated one with constraints on or off, as resets have left it.
        remarks: what its steps and events tell, in words: events that did not happen, steps of stiff laws.
    """

    constraint_set: ConstraintSet
    times: Vector
    qs: Matrix
    vs: Matrix
    accelerations: Matrix
    multipliers: Matrix
    kinetic_energy: Vector
    potential_energy: Vector
    force_energy: Vector | None
    position_drift: Vector
    velocity_drift: Vector
    dynamics: tuple[DynamicsStatus, ...]
    ranks: Indices
    work: Vector
    energy_error: Vector
    position_error: Vector
    velocity_error: Vector
    events: tuple[Crossing, ...]
    status: MotionStatus
    reason: str = ""
    steps: int = 0
    evaluations: int = 0
    exchanged_energy: float = 0.0
    oscillating_events: Mapping[str, float] = field(default_factory=dict[str, float])
    forces: Forces | Law | None = None
    holding: tuple[ConstraintSet, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Last time [s]."""
        return float(self.times[-1])

    @property
    def q(self) -> Vector:
        """Last configuration (nq,)."""
        return self.qs[-1]

    @property
    def v(self) -> Vector:
        """Last velocity (nv,)."""
        return self.vs[-1]

    @property
    def energy(self) -> Vector:
        """Kinetic and potential energy of bodies and gravity (n,) [J]; NaN if a constraint is open."""
        return self.kinetic_energy + self.potential_energy

    @property
    def energy_drift(self) -> float:
        """Largest change of the energy since the start [J], with `force_energy` if it is known, without open states.

        It says how well the integration went if no other forces, dampers or moving targets do work.
        """
        energy = self.energy + (0.0 if self.force_energy is None else self.force_energy)
        energy = energy[np.isfinite(energy)]
        return float(np.abs(energy - energy[0]).max()) if energy.size else float("nan")

    @property
    def dissipated(self) -> Vector | None:
        """Energy (n,) that forces have taken since the start and do not give back [J]; None without their energy.

        Of dampers and friction; drives and moving targets, which give energy, count as negative. Since a reset it is
        what the work says: jumps of the energy of springs by a reset count, too.
        """
        return None if self.force_energy is None else self.force_energy[0] - self.force_energy - self.work

    @cached_property
    def limits_passed(self) -> tuple[LimitPassed, ...]:
        """Joint limits that recorded states are beyond, by more than 1e-6, with how far and since when."""
        return limits_passed(self.constraint_set.robot, self.times, self.qs)

    @cached_property
    def half_turns(self) -> Mapping[str, list[float]]:
        """Times [s] at which springs on continuous joints passed half a turn from rest, by name of the law.

        Their force jumps there: such a spring is periodic, and does not count turns.
        """
        return half_turns(self)

    @cached_property
    def forces_by_name(self) -> Mapping[str, Matrix]:
        """Generalised forces (n, nv) of each law of `forces` at the recorded states, by type and place of the law."""
        return forces_by_name(self)

    @cached_property
    def power_by_name(self) -> Mapping[str, Vector]:
        """Power (n,) of each law of `forces`, and of each constraint (of what moves or opens), at the states [W]."""
        every = {**self.forces_by_name, **constraint_forces(self)}
        return {name: np.einsum("ij,ij->i", force, self.vs) for name, force in every.items()}

    def series(self) -> dict[str, Vector]:
        """All of it as named columns (n,): "time", "q elbow", "v elbow", "multiplier pin", "kinetic energy", ...

        A name that is no column raises an UnknownNameError with the nearest ones.
        """
        return Named("column of a motion", series_of(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `series()` to a table; the ending of the file says how.

        Args:
            path: .csv, .npz (numpy.load), or .parquet (pandas and pyarrow must be installed).

        Raises:
            OptionError: another ending, or parquet without pandas.
            FileError: the file cannot be written.
        """
        from_above("save_motion")(series_of(self), path)

    def plot(self, path: str | os.PathLike[str] | None = None, what: Sequence[str] | str | None = None) -> Any:
        """Figure of the motion over time: a panel for each quantity, with the events.

        Args:
            path: also write the figure there.
            what: some of "q", "v", "a", "force", "multiplier", "power", "energy", or names of columns of `series()`.

        Returns:
            The matplotlib figure (extra `plot`).

        Raises:
            UnknownNameError: no such quantity.
            MissingExtraError: matplotlib is not installed.
            FileError: the file cannot be written.
        """
        return from_above("plot_motion")(self, path, what)

    def multipliers_of(self, which: RowOwner | str | int) -> Matrix:
        """Multipliers (n, k) of one constraint: the object, its position, or its name."""
        return self.multipliers[:, self.constraint_set.slice_of(which)]

    def describe(self) -> str:
        """The motion in words: status, energy, drift, singular poses and events."""
        closed, lines = np.isfinite(self.energy), [str(self)]
        if closed.any():
            most = f"kinetic up to {np.nanmax(self.kinetic_energy):.3g} J"
            forces = self.force_energy
            of = " of bodies and gravity" if forces is None else ", with that of the forces" if forces.any() else ""
            rest = " (other forces do work: add `forces.energy(q)`)" if forces is None else ""
            lines.append(f"  energy{of}: within {self.energy_drift:.3g} J of its start{rest}; {most}")
            off = f"off by up to {largest(self.energy_error):.3g} J"
            lines.append(f"  balance: {off}, of {self.exchanged_energy:.3g} J exchanged")
            lost = self.dissipated
            if self.forces is not None:
                taken = "" if lost is None else f", dissipated {lost[-1]:.3g} J"
                lines.append(f"  work of forces {self.work[-1]:.3g} J{taken}")
        else:
            lines.append("  energy: none, the constraints are open throughout")
        opened = int((~closed).sum())
        lines += [f"  open at {opened} of {counted(len(closed), 'state')}: no energy there"] if opened else []
        drifts = f"errors up to {self.position_drift.max():.3g}, rates up to {self.velocity_drift.max():.3g}"
        lines.append(f"  constraints: {drifts}")
        for status in dict.fromkeys(self.dynamics):
            if status is not DynamicsStatus.SOLVED:
                count = self.dynamics.count(status)
                lines.append(f"  {status.name} at {count} of {counted(len(self.dynamics), 'state')}")
        low, high = int(self.ranks.min()), int(self.ranks.max())
        singular = counted(int((self.ranks < high).sum()), "state")
        lines += [f"  rank {high}, and down to {low} at {singular}"] if low < high else []
        beyond = [str(each) for each in self.limits_passed]
        lines += [f"  beyond joint limits: {first_names(beyond)}"] if beyond else []
        lines += [
            f"  {name} passed half a turn from rest at {', '.join(f'{t:.6g}' for t in times[:3])} s"
            f"{' and later' if len(times) > 3 else ''}: its force jumps there, for its joint is continuous"
            for name, times in self.half_turns.items()
        ]
        lines += [f"  event {crossing}" for crossing in self.events]
        lines += [
            f"  the function of '{name}' changes its sign more than once in a step, first at {t:.6g} s: some changes "
            "may not have been seen; take smaller steps"
            for name, t in self.oscillating_events.items()
        ]
        lines += [f"  {words}" for words in (*of_record(self), *self.remarks)]
        return "\n".join(lines)

    def __str__(self) -> str:
        why = f" {self.reason}." if self.reason else ""
        return f"{self.status}{why} ({counted(len(self.times), 'state')} to {self.time:.6g} s)"

    def __repr__(self) -> str:
        return f"MotionRecord({self.status.name}, {counted(len(self.times), 'state')} to {self.time:.6g} s)"
