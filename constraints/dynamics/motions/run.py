"""A motion while it is computed: steps, events and resets, and their record."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Vector

from ...dynamics.methods.status import DynamicsStatus
from ...loops import ConstraintSet
from ...robot import Motion
from ..events.balance import EnergyBalance, energies
from ..events.events import Crossing, Event, Watch, restarted
from ..events.locating import TakenStep, changes_in
from ..methods.system import is_open
from .pace import Pace
from .record import MotionStatus
from .runge_kutta import BROKEN, Halt, StageState, StepResult, halted, power
from .stepping import Stepper

CLOSE_RESET = "close it in the reset (project, assemble_velocity, impact), or pass SimulationOptions(open_start=True)"

MOMENT = 1e-6
"""How much later it shows where a function that is zero after a reset goes [s]."""

MOST_RESETS = 50
"""Resets within one step from which on they are called endless."""


class RecordRow(NamedTuple):
    """The numbers that are recorded of a state, under the names of `MotionRecord`."""

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
    work: float
    energy_error: float
    position_error: float
    velocity_error: float
    dynamics: DynamicsStatus
    holds: ConstraintSet


class Estimate(NamedTuple):
    """Sums of the estimated errors of the steps.

    Attributes:
        position: [m, rad], the largest entry of each step.
        velocity: [m/s, rad/s], too.
    """

    position: float = 0.0
    velocity: float = 0.0

    def with_step(self, step: StepResult) -> Estimate:
        """With those of one more step."""
        if not step.estimates:
            return Estimate(np.nan, np.nan)
        sizes = np.abs(step.estimates[0])
        n = len(sizes) // 2
        most = float(sizes[:n].max(initial=0.0)), float(sizes[n:].max(initial=0.0))
        return Estimate(self.position + most[0], self.velocity + most[1])


@final
class Run:
    """A motion while it is computed.

    Args:
        stepper: takes the steps.
        pace: says how long they are.
        events: to look for.
        every: which steps are recorded.
        may_open: whether the start, and the states after resets, may be open.

    Attributes:
        rows: what is recorded of the states.
        crossings: the events so far.
        oscillating: events that changed their sign more than once in a step, and when first.
        balance: of energy; None before the start.
        steps: how many were taken.
    """

    def __init__(self, stepper: Stepper, pace: Pace, events: tuple[Event, ...], every: int, may_open: bool) -> None:
        self.stepper, self.pace, self.events, self.every, self.may_open = stepper, pace, events, every, may_open
        self.oscillating: dict[str, float] = {}
        self.rows: list[RecordRow] = []
        self.crossings: list[Crossing] = []
        self.balance: EnergyBalance | None = None
        self.estimate = Estimate()
        self.steps = self._resets = 0
        self._kept: Motion | None = None

    def over(self, grid: list[float], motion: Motion, report: Callable[[float], None]) -> tuple[MotionStatus, str]:
        """Go along the times, and report them; why it ended, and more words."""
        state = self.stepper.state(grid[0], motion)
        try:
            state = self.stepper.state(grid[0], self.stepper.closed(grid[0], motion))
            self.stepper.check(state)
            self.balance = EnergyBalance(state.motion)
            self.record(state)
            watch = Watch(self.events, grid[0], state.motion, self.stepper.constraint_set)
            for end in grid[1:]:
                while state.t < end:
                    state, is_over = self.step(state, end, watch)
                    if is_over:
                        self.record(state)
                        return MotionStatus.EVENT, f"It was {self.crossings[-1]}"
                    self.stepper.check(state)
                    report(state.t)
            self.record(state)
        except (Halt, *BROKEN) as error:
            self.record(state)
            end = halted(error)
            return end.status, end.reason
        return MotionStatus.FINISHED, ""

    def step(self, state: StageState, limit: float, watch: Watch) -> tuple[StageState, bool]:
        """Take one step, or the part of it up to an event that acts; whether that ends the motion."""
        acting = self.at_once(state, watch) if watch.is_past else None
        if acting is None:
            step, end = self.pace.take(state, limit)
            later = self.stepper.state(end, step.motion)
            acting, values = self.locate(state, step, later, watch)
            if acting is None:
                beyond = watch.beyond(values)
                watch.saw(values)
                self.passed(step)
                self.steps, self._resets = self.steps + 1, 0
                if beyond:
                    self.record(later)
                    words = f"At {end:.6g} s it was the function of '{beyond}'"
                    resets = [each.time for each in self.crossings if each.name == beyond and each.after is not None]
                    if resets:
                        words += f", whose reset at {resets[-1]:.6g} s does not turn it back: does the reset bounce?"
                    raise Halt(MotionStatus.BEYOND_BARRIER, words)
                if self.steps % self.every == 0:
                    self.record(later)
                return later, False
        event, there = acting
        if event.terminal:
            return there, True
        self._resets += 1
        if self._resets > MOST_RESETS:
            raise Halt(MotionStatus.ENDLESS_EVENTS, f"It was '{event.name}' at {there.t:.9f} s")
        self.pace.restart()
        return self.reset(event, there, watch), False

    def passed(self, step: StepResult) -> None:
        """Count a step, or the part of one that was taken."""
        if self.balance is not None:
            self.balance.step(step.motion, step.work)
        self.estimate = self.estimate.with_step(step)

    def at_once(self, state: StageState, watch: Watch) -> tuple[Event, StageState] | None:
        """Note the events that were beyond zero at the start and do not come back; the first that acts."""
        values = [event.value(state.t, state.motion) for event in watch.events]
        soon = self.stepper.advance(state, MOMENT)
        later = [event.value(state.t + MOMENT, soon) for event in watch.events]
        while (i := watch.past(values, later)) is not None:
            event = watch.events[i]
            self.crossings.append(Crossing(event.name, state.t, state.motion.q, state.motion.v))
            if event.acts:
                return event, state
        return None

    def locate(
        self, state: StageState, step: StepResult, later: StageState, watch: Watch
    ) -> tuple[tuple[Event, StageState] | None, list[float]]:
        """Note the events of a step in order, up to the first that changes the motion; that one, with its state.

        And the values of all functions at its end.
        """
        if not watch.events:
            return None, []
        near, taken = self.stepper.inside(state, step, later), dict[float, StepResult]()

        def part(s: float) -> StepResult:
            if s not in taken:  # all events are looked at at the same times
                taken[s] = self.part(state, s, near)
            return taken[s]

        def at(s: float) -> Motion:
            return part(s).motion

        changes = changes_in(watch.events, watch, TakenStep(state.t, later.t - state.t, step.motion, at, near))
        for i in changes.often:
            self.oscillating.setdefault(watch.events[i].name, state.t)
        for s, i in changes.times:
            event, there = watch.events[i], at(s)
            watch.happened(i)
            self.crossings.append(Crossing(event.name, state.t + s, there.q, there.v))
            if event.acts:
                self.passed(part(s))
                return (event, self.stepper.state(state.t + s, there)), changes.values
        return None, changes.values

    def part(self, state: StageState, s: float, near: Callable[[float], Motion]) -> StepResult:
        """The part of a step up to a time s after its start; where it fails, as the whole step says, by `near`."""
        try:
            return self.stepper.take(state, s)
        except Halt:  # the whole step went well; work of the mean power
            there = near(s)
            a = self.stepper.state(state.t + s, there).dynamics.acceleration
            work = 0.5 * s * (power(state.motion, state.dynamics.acceleration) + power(there, a))
            return StepResult(there, work)

    def reset(self, event: Event, there: StageState, watch: Watch) -> StageState:
        """The state after a reset, which is recorded with that before."""
        self.record(there)
        before = self.stepper.constraint_set
        motion, holds = restarted(event, there.t, there.motion, before)
        place = watch.events.index(event)
        self.stepper.hold(holds)
        watch.hold(holds)
        event = watch.events[place]
        rows = holds.rows_at(motion, self.stepper.rhs(there.t))
        errors = self.stepper.errors(rows)
        if is_open(errors.position, errors.velocity, motion.v) and not self.may_open:
            off = f"'{errors.worst}' is off by {errors.position:.3g}, its rate by {errors.velocity:.3g}"
            words = f"After the reset of '{event.name}' at {there.t:.9f} s {off}: {CLOSE_RESET}"
            raise Halt(MotionStatus.OPEN_AFTER_RESET, words)
        motion = self.stepper.closed(there.t, motion)
        last = self.crossings.pop()
        self.crossings.append(Crossing(last.name, last.time, last.q, last.v, (motion.q, motion.v)))
        state = self.stepper.state(there.t, motion)
        if self.balance is not None:
            self.balance.reset(motion)
        self.record(state)
        self.stepper.check(state)
        soon = event.value(there.t + MOMENT, self.stepper.advance(state, MOMENT))
        ends = watch.restart(place, event.value(there.t, motion), soon)
        if ends and holds is before:
            raise Halt(MotionStatus.ENDLESS_EVENTS, f"It was '{event.name}' at {there.t:.9f} s")
        return state

    def record(self, state: StageState) -> None:
        """Keep a state, once, and none from before the last one."""
        if self._kept is state.motion or (self.rows and state.t < self.rows[-1].times):
            return
        self._kept = state.motion
        motion, found, system = state.motion, state.dynamics, state.dynamics.system
        errors = self.stepper.errors(system.rows)
        kinetic, potential, of_forces = np.nan, np.nan, np.nan
        if not is_open(errors.position, errors.velocity, motion.v):
            kinetic, potential = energies(motion)
            of_forces = self.stepper.force_energy(state.t, motion)
        self.rows.append(
            RecordRow(
                *(state.t, motion.q, motion.v, found.acceleration, found.multipliers),
                *(kinetic, potential, of_forces, errors.position, errors.velocity, found.rank),
                *((self.balance.work, self.balance.error) if self.balance else (0.0, 0.0)),
                *(self.estimate.position, self.estimate.velocity, found.status, self.stepper.constraint_set),
            )
        )
