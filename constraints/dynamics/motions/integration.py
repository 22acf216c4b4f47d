"""Motions in time, on the manifold: for examples and tests, not a simulator."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arguments import as_flag, expect, finite_number, natural_number
from liegroups.arrays import ArrayLike, Matrix, Vector

from ...errors import NotFiniteError, OptionError, RobotMismatchError, UndefinedError
from ...keywords import names_checked
from ...loops import Baumgarte, ConstraintSet
from ...loops.assembly import OPEN
from ...loops.open_mechanism import OpenMechanismError
from ...robot import Motion
from ...robot.pinocchio import pin
from ...solvers.options import LEAST_THRESHOLD, below_rounding
from ...solvers.projection.batch import Progress, reporting
from ...words import first_names
from ..laws.forces import Forces
from ..status import DynamicsStatus, Method, member
from .events import Crossing, Event, Watch, as_events, of_time_and_state, restarted
from .locating import Piece, changes_in
from .metric_projection import Errors
from .record import MotionRecord, MotionStatus
from .stepping import Correction, Halt, InTime, Scheme, State, Stepper

_log = logging.getLogger(__package__)

CLOSE_IT = "close it (assemble_position, assemble_velocity), or pass open_start=True"

CLOSE_RESET = "close it in the reset (project, assemble_velocity, impact), or pass open_start=True"

ROUNDING = 1e-9
"""Part of a step that is no step of its own: durations come from divisions and sums."""

MOMENT = 1e-6
"""How much later it shows where a function that is zero after a reset goes [s]."""

MOST_RESETS = 50
"""Resets within one step from which on they are called endless."""


@names_checked("options are named: forces=, scheme=, correction=, events=, ...", tau="forces=lambda t, motion: tau")
def simulate(
    constraint_set: ConstraintSet,
    q0: ArrayLike,
    v0: ArrayLike,
    duration: float,
    step: float,
    *,
    forces: InTime | None = None,
    scheme: Scheme | str = Scheme.RK4,
    correction: Correction | str = Correction.PROJECTION,
    events: Sequence[Event] | Event = (),
    method: Method | str = Method.AUTOMATIC,
    tolerance: float = 1e-10,
    start: float = 0.0,
    every: int = 1,
    open_start: bool = False,
    progress: Progress | None = None,
) -> MotionRecord:
    r"""Integrate :math:`M a + h = \tau + J^T \lambda`, :math:`J a = \gamma` in time, with a fixed step.

    The order is 4 (RK4) or 1 (SEMI_IMPLICIT_EULER), also on rotations and placements, and with constraints. PROJECTION
    brings each state back to the constraints by the least motion in the metric of the mass matrix: the configuration on
    the rows that have a position (a contact without anchor has none), then the velocity. This acts like an ideal
    constraint, and takes no energy up to the order of the scheme. Moving targets are followed in position, velocity and
    acceleration.

    Contacts stick, and may pull (`forward_dynamics` says which do); new contacts are found only by events.

    Args:
        constraint_set: closures, contacts and other constraints.
        q0, v0: the start (nq,), (nv,), closed.
        duration: [s].
        step: step of the scheme [s]; the last one is shorter if the duration is not a multiple of it.
        forces: `Forces`, whose laws may depend on the time; or a function (t, motion) -> generalised forces (nv,), or
            None for none.
        scheme: a `Scheme`, or its name.
        correction: a `Correction`, or its name. With BAUMGARTE the log names the constraints that have no gains.
        events: events to detect; see `Event`.
        method: method of `forward_dynamics`.
        tolerance: largest error norm of a constraint after a projection.
        start: time of the start [s].
        every: record every n-th step; the start, the end and resets are always recorded.
        open_start: whether the start, and the state after a reset, may be open (a constraint off by more than 1e-4, or
            its rate by more than that part of the velocity). With PROJECTION it is closed first. With BAUMGARTE it
            settles, and the energy is NaN while it is open.
        progress: True for a progress bar by tqdm (extra `parallel`), or a function of (steps done, all steps).

    Returns:
        The motion as far as it went; what ends it early is a status, never an exception.

    Raises:
        OpenMechanismError: the start is open; names the constraint.
        OptionError: a duration or step that is not positive, or a step longer than the duration.
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
    robot = expect(constraint_set, ConstraintSet, "constraint set of a motion", "a ConstraintSet").robot
    length, h = (_positive(x, f"{w} of a motion") for x, w in ((duration, "duration"), (step, "step")))
    if h > length * (1.0 + ROUNDING):
        raise OptionError(f"step of a motion: expected at most its duration of {length:g} s, got {h:g} s")
    first = finite_number(start, "start of a motion")
    if isinstance(forces, Forces):
        if not forces.robot.space.same_robot(robot.space):
            raise RobotMismatchError("forces of a motion: they are on another robot than the constraint set")
    elif forces is not None:
        of_time_and_state(forces, "forces of a motion", "vector tau (nv,)")
    if not 0.0 < LEAST_THRESHOLD <= finite_number(tolerance, "tolerance of a motion"):
        raise OptionError(below_rounding("tolerance of a motion", tolerance))
    how: Scheme = member(Scheme, scheme, "scheme of integration")
    keeps: Correction = member(Correction, correction, "correction of a motion")
    by: Method = member(Method, method, "method of dynamics")
    watched = as_events(events)
    if keeps is Correction.BAUMGARTE:
        _say_what_drifts(constraint_set)
    stepper = Stepper(constraint_set, forces, how, keeps, by, tolerance)
    motion = robot.at(q0, v0)
    rows = constraint_set.rows_at(motion, stepper.rhs(first))
    errors = stepper.errors(rows)
    may_open = as_flag(open_start, "`open_start` of a motion")
    if is_open(errors, motion.v) and not may_open:
        off, level = (rows.velocity, "velocity") if errors.position <= OPEN else (rows.position, "position")
        raise OpenMechanismError.of(constraint_set.stack.norms(off), level, CLOSE_IT)
    count = max(1, int(np.ceil(length / h - ROUNDING)))
    grid = [first + min(k * h, length) for k in range(count)] + [first + length]
    run = _Run(stepper, watched, _every(every), may_open)
    with reporting(progress, count, "step") as report, np.errstate(over="ignore", invalid="ignore"):
        status, reason = run.over(grid, motion, report)
    if run.oscillating:
        _log.warning(
            "motion: %s changed sign more than once in a step: some changes may not have been seen; take smaller steps",
            first_names(tuple(run.oscillating)),
        )
    return _record(constraint_set, run, status, reason)


class _Row(NamedTuple):
    """What is kept of a state, under the names of `MotionRecord`: numbers, without its memory."""

    times: float
    qs: Vector
    vs: Vector
    accelerations: Vector
    multipliers: Vector
    kinetic_energy: float
    potential_energy: float
    force_energy: float | None
    position_drift: float
    velocity_drift: float
    ranks: int
    dynamics: DynamicsStatus


@final
class _Run:
    """A motion in the making.

    Args:
        stepper: takes the steps.
        events: to look for.
        every: which steps are recorded.
        may_open: whether the start, and the states after resets, may be open.

    Attributes:
        rows: what is recorded of the states.
        crossings: the events so far.
        oscillating: events that changed their sign more than once in a step, and when first.
    """

    def __init__(self, stepper: Stepper, events: tuple[Event, ...], every: int, may_open: bool) -> None:
        self.stepper, self.events, self.every, self.may_open = stepper, events, every, may_open
        self.oscillating: dict[str, float] = {}
        self.rows: list[_Row] = []
        self.crossings: list[Crossing] = []
        self._kept: Motion | None = None

    def over(self, grid: list[float], motion: Motion, report: Any) -> tuple[MotionStatus, str]:
        """Go along the times; why it ended, and more words."""
        state = self.stepper.state(grid[0], motion)
        try:
            state = self.stepper.state(grid[0], self.stepper.closed(grid[0], motion))
            self.stepper.check(state)
            self.record(state)
            watch = Watch(self.events, grid[0], state.motion)
            for k, end in enumerate(grid[1:], 1):
                state, is_over = self.step(state, end, watch)
                if k % self.every == 0 or k == len(grid) - 1 or is_over:
                    self.record(state)
                if is_over:
                    return MotionStatus.EVENT, f"It was {self.crossings[-1]}"
                self.stepper.check(state)
                report(1)
        except Halt as halt:
            self.record(state)
            return halt.status, halt.reason
        except (UndefinedError, np.linalg.LinAlgError) as error:
            self.record(state)
            return MotionStatus.NO_ACCELERATION, str(error)
        except NotFiniteError as error:
            self.record(state)
            return MotionStatus.NOT_FINITE, str(error)
        return MotionStatus.FINISHED, ""

    def step(self, state: State, end: float, watch: Watch) -> tuple[State, bool]:
        """Go to a time of the grid, over the resets on the way; or to an event that ends the motion, and whether."""
        resets = 0
        while state.t < end:
            acting = self.at_once(state, watch) if watch.is_past else None
            if acting is None:
                motion = self.stepper.advance(state, end - state.t)
                acting, values = self.locate(self.piece(state, motion, end - state.t), state, watch)
                if acting is None:
                    state = self.stepper.state(end, motion)
                    beyond = watch.beyond(values)
                    watch.saw(values)
                    if beyond:
                        raise Halt(MotionStatus.BEYOND_BARRIER, f"At {end:.6g} s it was the function of '{beyond}'")
                    continue
            event, there = acting
            if event.terminal:
                return there, True
            resets += 1
            if resets > MOST_RESETS:
                raise Halt(MotionStatus.ENDLESS_EVENTS, f"It was '{event.name}' at {there.t:.9f} s")
            state = self.reset(event, there, watch)
        return state, False

    def at_once(self, state: State, watch: Watch) -> tuple[Event, State] | None:
        """Note the events that were beyond zero at the start and do not come back; the first that acts."""
        values = [event.value(state.t, state.motion) for event in self.events]
        soon = self.stepper.advance(state, MOMENT)
        later = [event.value(state.t + MOMENT, soon) for event in self.events]
        while (i := watch.past(values, later)) is not None:
            event = self.events[i]
            self.crossings.append(Crossing(event.name, state.t, state.motion.q, state.motion.v))
            if event.acts:
                return event, state
        return None

    def piece(self, state: State, motion: Motion, h: float) -> Piece:
        """A step that was taken, for the search of events."""

        def near(s: float) -> Motion:
            return self.stepper.between(state, motion, h, s)

        def at(s: float) -> Motion:
            try:
                return self.stepper.advance(state, s)
            except Halt:  # the whole step went well
                return near(s)

        return Piece(state.t, h, motion, at, near)

    def locate(self, piece: Piece, state: State, watch: Watch) -> tuple[tuple[Event, State] | None, list[float]]:
        """Note the events of a step in order, up to the first that changes the motion; that one, with its state.

        And the values of all functions at its end.
        """
        changes = changes_in(self.events, watch, piece)
        for i in changes.often:
            self.oscillating.setdefault(self.events[i].name, state.t)
        for s, i in changes.times:
            event, there = self.events[i], piece.at(s)
            watch.happened(i)
            self.crossings.append(Crossing(event.name, state.t + s, there.q, there.v))
            if event.acts:
                return (event, self.stepper.state(state.t + s, there)), changes.values
        return None, changes.values

    def reset(self, event: Event, there: State, watch: Watch) -> State:
        """The state after a reset, which is recorded with that before."""
        self.record(there)
        before = self.stepper.constraint_set
        motion, holds = restarted(event, there.t, there.motion, before)
        self.stepper.hold(holds)
        rows = holds.rows_at(motion, self.stepper.rhs(there.t))
        errors = self.stepper.errors(rows)
        if is_open(errors, motion.v) and not self.may_open:
            off = f"'{errors.worst}' is off by {errors.position:.3g}, its rate by {errors.velocity:.3g}"
            words = f"After the reset of '{event.name}' at {there.t:.9f} s {off}: {CLOSE_RESET}"
            raise Halt(MotionStatus.OPEN_AFTER_RESET, words)
        motion = self.stepper.closed(there.t, motion)
        last = self.crossings.pop()
        self.crossings.append(Crossing(last.name, last.time, last.q, last.v, (motion.q, motion.v)))
        state = self.stepper.state(there.t, motion)
        self.record(state)
        self.stepper.check(state)
        soon = event.value(there.t + MOMENT, self.stepper.advance(state, MOMENT))
        ends = watch.restart(self.events.index(event), event.value(there.t, motion), soon)
        if ends and holds is before:
            raise Halt(MotionStatus.ENDLESS_EVENTS, f"It was '{event.name}' at {there.t:.9f} s")
        return state

    def record(self, state: State) -> None:
        """Keep a state, once, and none from before the last one."""
        if self._kept is state.motion or (self.rows and state.t < self.rows[-1].times):
            return
        self._kept = state.motion
        motion, found, system = state.motion, state.dynamics, state.dynamics.system
        errors = self.stepper.errors(system.rows)
        kinetic, potential, of_forces = np.nan, np.nan, np.nan
        if not is_open(errors, motion.v):
            kinetic, potential = _energy(motion, system.mass_matrix)
            of_forces = self.stepper.force_energy(state.t, motion)
        self.rows.append(
            _Row(
                *(state.t, motion.q, motion.v, found.acceleration, found.multipliers),
                *(kinetic, potential, of_forces, errors.position, errors.velocity, found.rank, found.status),
            )
        )


def is_open(errors: Errors, v: Vector) -> bool:
    """Whether a mechanism is open: positions by more than 1e-4, or rates by more than that part of the velocity."""
    size = 1.0 + float(np.abs(v).max(initial=0.0))
    return not (errors.position <= OPEN and errors.velocity <= OPEN * size)


def _record(constraint_set: ConstraintSet, run: _Run, status: MotionStatus, reason: str) -> MotionRecord:
    columns: dict[str, Any] = {name: np.array([getattr(row, name) for row in run.rows]) for name in _Row._fields[:-1]}
    if any(row.force_energy is None for row in run.rows):
        columns["force_energy"] = None
    statuses = tuple(row.dynamics for row in run.rows)
    told: dict[str, Any] = {"status": status, "reason": reason, "oscillating_events": run.oscillating}
    return MotionRecord(constraint_set, **columns, dynamics=statuses, events=tuple(run.crossings), **told)


def _energy(motion: Motion, M: Matrix) -> tuple[float, float]:
    """Kinetic energy, rotors included, and potential energy [J]."""
    k = motion.posture.placed()
    potential = float(pin.computePotentialEnergy(k.model, k.data, motion.q))
    return 0.5 * float(motion.v @ M @ motion.v), potential


def _say_what_drifts(constraint_set: ConstraintSet) -> None:
    """Name in the log the constraints that are on and that nothing brings back."""
    gains = dict(zip(constraint_set.names, constraint_set.baumgarte, strict=True))
    each = zip(gains, constraint_set.stack.slices, constraint_set.active, strict=True)
    loose = [name for name, s, on in each if on and s.stop > s.start and gains[name] == Baumgarte()]
    if loose:
        _log.warning(
            "motion with correction BAUMGARTE: no gains for %s, which will drift; `constraint_set.stabilised(time)` "
            "gives them, and correction PROJECTION needs none",
            first_names(loose),
        )


def _positive(candidate: float, what: str) -> float:
    number = finite_number(candidate, what)
    if number <= 0.0:
        raise OptionError(f"{what}: expected a positive time [s], got {number:g}")
    return number


def _every(candidate: int) -> int:
    every = natural_number(candidate, "every of a motion")
    if every < 1:
        raise OptionError(f"every of a motion: expected at least 1, got {every}")
    return every
