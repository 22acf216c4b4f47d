"""Motions in time, on the manifold: for examples and tests, not a simulator."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, TangentLike

from ...errors import OptionError, RobotMismatchError, UnknownNameError, WrongObjectError
from ...loops import Baumgarte, ConstraintSet
from ...loops.assembling.assembly import OPEN
from ...loops.baumgarte import too_stiff
from ...loops.constraint_set import A_SET
from ...loops.open_mechanism import OpenMechanismError
from ...ranges import positive_number
from ...solvers.projection.batch import reporting
from ...words import first_names
from ..events.events import Event, as_events
from ..events.floor import refuse_half_a_floor
from ..events.sides import Sides
from ..events.stops import as_stops
from ..events.unilateral import Unilateral
from ..laws.external_force import Force
from ..laws.forces import Forces
from ..laws.law import Law
from ..methods.status import member
from ..methods.system import is_open
from .pace import AdaptivePace, FixedPace
from .record import MotionRecord, MotionStatus
from .remarks import of_run
from .run import RecordRow, Run
from .simulation_options import WITH_ESTIMATE, Correction, Scheme, SimulationOptions
from .stepping import InTime, Stepper

_log = logging.getLogger(__package__)

CLOSE_IT = "close it (assemble_position, assemble_velocity), or pass SimulationOptions(open_start=True)"

_FORCES = ("forces of a motion", "a vector tau (nv,), or {joint: number}")
"""What forces that are a function are called in messages, and what they give."""

ROUNDING_OF_A_STEP = 1e-9
"""Part of a step that is no step of its own: durations come from divisions and sums."""

HUNDREDTHS = 100
"""Parts of the duration by which the progress of adaptive steps is told."""

ADAPTIVE = "adaptive"
"""What stands for a step that is as long as its error allows."""


def simulate(
    constraint_set: ConstraintSet,
    q0: ArrayLike,
    v0: TangentLike,
    duration: float,
    step: float | str = ADAPTIVE,
    *,
    forces: InTime | Force | Sequence[Force] | None = None,
    events: Sequence[Event] | Event = (),
    options: SimulationOptions | None = None,
) -> MotionRecord:
    r"""Integrate :math:`M a + h = \tau + J^T \lambda`, :math:`J a = \gamma` in time.

    Steps are as long as their estimated error allows (options `rtol`, `atol`), or of one duration. The order is 8
    (DOP853), 4 (IMPLICIT, RK4) or 1 (SEMI_IMPLICIT_EULER), also on rotations and placements, and with constraints.
    Stiff springs and dampers need short steps of every scheme but IMPLICIT.

    PROJECTION brings each state back to the constraints by the least motion in the metric of the mass matrix: the
    configuration on the rows that have a position (a contact without anchor has none), then the velocity. This acts
    like an ideal constraint, and takes no energy up to the order of the scheme. Moving targets are followed in
    position, velocity and acceleration.

    Contacts stick, and may pull (`forward_dynamics` says which do); new contacts are found only by events.

    Args:
        constraint_set: closures, contacts and other constraints.
        q0, v0: the start (nq,), and (nv,) or {joint: number}, closed.
        duration: [s].
        step: "adaptive", or one duration for all steps [s]; the last one is shorter if the whole is not a multiple.
        forces: `Forces`, or its laws, which may depend on the time; or a function f(motion) or f(motion, t) that
            returns generalised forces (nv,), or {joint: number}, or None for none.
        events: events to detect; see `Event`.
        options: scheme, correction, tolerances, limits of joints, what is recorded.

    Returns:
        The motion as far as it went; what ends it early is a status, never an exception. A motion whose energy is off
        by more than 1 % of what it exchanged is POOR_STEP, which is no success: its steps were too long.

    Raises:
        OpenMechanismError: the start is open; names the constraint.
        OptionError: a duration or step that is not positive, a step longer than the duration, a scheme without an
            estimate of its error for adaptive steps, or a start beyond stops.
        MethodError: a method that does not support the set.
        RobotMismatchError: forces of another robot.
        UnknownNameError, WrongObjectError, SizeError, NotFiniteError: an invalid argument, or an invalid result of a
            force or event.

    Example:
        >>> from constraints.models import mechanisms
        >>> linkage = mechanisms.five_bar()
        >>> record = simulate(linkage.constraint_set(), linkage.posture("closed"), [0, 0, 0, 0], 0.1, 0.005)
        >>> record.status.name, len(record.times), record.energy_drift < 1e-6
        ('FINISHED', 21, True)
    """
    robot = expect(constraint_set, ConstraintSet, "constraint set of a motion", A_SET).robot
    length = positive_number(duration, "duration of a motion [s]")
    h = _step(step, length)
    chosen = SimulationOptions() if options is None else expect(options, SimulationOptions, "options of a motion")
    first = chosen.start
    if not isinstance(forces, Forces) and (isinstance(forces, Sequence) or hasattr(forces, "generalised")):
        forces = Forces(robot, cast("Sequence[Force]", forces if isinstance(forces, Sequence) else [forces]))
    acting = forces if forces is None or isinstance(forces, Forces) else Law.of(forces, ("motion",), *_FORCES)
    if isinstance(forces, Forces) and not forces.robot.space.same_robot(robot.space):
        raise RobotMismatchError("forces of a motion: they are on another robot than the constraint set")
    how = _scheme(chosen.scheme, h)
    if v0 is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise WrongObjectError("v0 of a motion", "velocities (nv,), zeros at rest", "None")
    motion = robot.at(q0, v0)
    stops = as_stops(chosen.limits)
    watched = as_events(events)
    refuse_half_a_floor(constraint_set, (events,) if isinstance(events, Event) else events, acting)
    if stops is not None:
        sides = Unilateral(Sides(stops.sides(robot), acting, stops.rest_speed))
        larger = constraint_set.extended([side.normal for side in sides.sides.sides])
        constraint_set = sides.begin(motion, first, larger, "limits of joints", "m or rad")
        watched = as_events((*watched, *sides.events()))
    if chosen.correction is Correction.BAUMGARTE:
        _say_what_drifts(constraint_set)
        _say_what_grows(constraint_set, how, h)
    stepper = Stepper(constraint_set, acting, how, chosen)
    rows = constraint_set.rows_at(motion, stepper.rhs(first))
    errors = stepper.errors(rows)
    if is_open(errors.position, errors.velocity, motion.v) and not chosen.open_start:
        off, level = (rows.velocity, "velocity") if errors.position <= OPEN else (rows.position, "position")
        raise OpenMechanismError.of(constraint_set.stack.norms(off), level, CLOSE_IT)
    count = HUNDREDTHS if h is None else max(1, int(np.ceil(length / h - ROUNDING_OF_A_STEP)))
    pace = FixedPace(stepper) if h is not None else AdaptivePace(stepper, length, chosen.max_step)
    run = Run(stepper, pace, watched, chosen.every, chosen.open_start)
    with reporting(chosen.progress, count, "step") as report, np.errstate(over="ignore", invalid="ignore"):
        grid = [first, first + length]
        if h is not None:
            grid[1:1] = [first + min(k * h, length) for k in range(1, count)]
        status, reason = run.over(grid, motion, _by_time(report, grid, h or length / HUNDREDTHS, count))
    if run.oscillating:
        _log.warning(
            "motion: %s changed sign more than once in a step: some changes may not have been seen; take smaller steps",
            first_names(tuple(run.oscillating)),
        )
    return _record(constraint_set, run, *_judged(run, status, reason), of_run(run, h is None))


def _judged(run: Run, status: MotionStatus, reason: str) -> tuple[MotionStatus, str]:
    """The status of a motion that reached its end, by its energy."""
    balance = run.balance
    if balance is not None and balance.fed and not status.is_success:
        reason = f"{reason}. Forces did a work of {balance.fed:.3g} J, most of the kinetic energy".lstrip(". ")
    if not status.is_success or balance is None or not balance.is_poor:
        return status, reason
    words = f"The energy is off by up to {balance.worst:.3g} J, where {balance.basis:.3g} J were exchanged"
    return MotionStatus.POOR_STEP, f"{reason}. {words}" if reason else words


def _by_time(report: Callable[[int], None], grid: list[float], unit: float, count: int) -> Callable[[float], None]:
    """Reports of progress by the time that was reached."""
    done = [0]

    def reached(t: float) -> None:
        now = count if t >= grid[-1] else int((t - grid[0]) / unit + ROUNDING_OF_A_STEP)
        if now > done[0]:
            report(now - done[0])
            done[0] = now

    return reached


def _step(candidate: float | str, duration: float) -> float | None:
    """The duration of all steps; None for adaptive ones."""
    if isinstance(candidate, str):
        if candidate != ADAPTIVE:
            raise UnknownNameError("step of a motion", candidate, (ADAPTIVE,))
        return None
    h = positive_number(candidate, "step of a motion [s]")
    if h > duration * (1.0 + ROUNDING_OF_A_STEP):
        raise OptionError(f"step of a motion: expected at most its duration of {duration:g} s, got {h:g} s")
    return h


def _scheme(candidate: Scheme | str | None, h: float | None) -> Scheme:
    """The scheme, by default one that fits the steps."""
    if candidate is None:
        return Scheme.DOP853 if h is None else Scheme.RK4
    scheme: Scheme = member(Scheme, candidate, "scheme of integration")
    if h is None and scheme not in WITH_ESTIMATE:
        raise OptionError(
            f"scheme of adaptive steps: expected one with an estimate of its error, "
            f"{' or '.join(each.name for each in WITH_ESTIMATE)}, got {scheme.name}; or give `step` a number of seconds"
        )
    return scheme


def _record(
    constraint_set: ConstraintSet, run: Run, status: MotionStatus, reason: str, remarks: tuple[str, ...]
) -> MotionRecord:
    columns: dict[str, Any] = {
        name: np.array([getattr(row, name) for row in run.rows]) for name in RecordRow._fields[:-2]
    }
    if any(row.force_energy is None for row in run.rows):
        columns["force_energy"] = None
    statuses = tuple(row.dynamics for row in run.rows)
    told: dict[str, Any] = {"status": status, "reason": reason, "oscillating_events": run.oscillating}
    told |= {"steps": run.steps, "evaluations": run.stepper.evaluations}
    told |= {"forces": run.stepper.forces, "holding": tuple(row.holds for row in run.rows), "remarks": remarks}
    told |= {"exchanged_energy": run.balance.exchanged if run.balance else 0.0}
    return MotionRecord(constraint_set, **columns, dynamics=statuses, events=tuple(run.crossings), **told)


def _say_what_drifts(constraint_set: ConstraintSet) -> None:
    """Name in the log the constraints that are on and that nothing brings back."""
    gains = dict(zip(constraint_set.names, constraint_set.baumgarte, strict=True))
    each = [owner.name for owner, rows in constraint_set.on if rows.stop > rows.start]
    loose = [name for name in each if gains[name] == Baumgarte()]
    if loose:
        _log.warning(
            "motion with correction BAUMGARTE: no gains for %s, which will drift; `constraint_set.stabilised(time)` "
            "gives them, and correction PROJECTION needs none",
            first_names(loose),
        )


def _say_what_grows(constraint_set: ConstraintSet, scheme: Scheme, h: float | None) -> None:
    """Name in the log gains without an anchor to act on, and gains that are too large for the step."""
    idle = constraint_set.idle_gains
    if idle:
        _log.warning("motion: position gains that act on nothing, for want of an anchor: %s", first_names(idle))
    gains = zip(constraint_set.names, constraint_set.baumgarte, strict=True)
    stiff = too_stiff(gains, h) if h is not None and scheme is not Scheme.IMPLICIT else ""
    if stiff:
        _log.warning("motion: %s", stiff)
