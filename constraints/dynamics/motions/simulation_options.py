"""Schemes, corrections, and the options of `simulate`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from liegroups.arguments import as_flag, finite_number
from liegroups.frozen import set_fields

from ...keywords import record_by_name
from ...ranges import positive_number, whole_number
from ...solvers.options import as_threshold
from ...solvers.projection.batch import Progress
from ..events.stops import PASS, Stops, as_stops
from ..methods.status import Method, member
from .tableaux import ESDIRK43, RK4, Tableau, dop853


class Scheme(Enum):
    """How a motion is integrated."""

    DOP853 = "Dormand and Prince's pair of orders 8(5, 3): twelve accelerations per step, for steps of controlled error"
    IMPLICIT = (
        "Kennedy and Carpenter's ESDIRK of orders 4(3), L-stable, with exact derivatives: for stiff springs and dampers"
    )
    RK4 = "Runge-Kutta-Munthe-Kaas of order 4: four accelerations per step, also on rotations and placements"
    SEMI_IMPLICIT_EULER = "order 1: one acceleration per step, then the configuration from the new velocity"

    def __repr__(self) -> str:
        return str(self)


class Correction(Enum):
    """How a motion keeps its constraints."""

    PROJECTION = "every state is projected onto the constraints, in the metric of the mass matrix"
    BAUMGARTE = "only by the stabilisation of the constraint set; without one the constraints drift"

    def __repr__(self) -> str:
        return str(self)


WITH_ESTIMATE = (Scheme.DOP853, Scheme.IMPLICIT)
"""Schemes that estimate the error of a step."""


def tableau_of(scheme: Scheme) -> Tableau | None:
    """Coefficients of a scheme; None of one that has none."""
    return dop853() if scheme is Scheme.DOP853 else {Scheme.IMPLICIT: ESDIRK43, Scheme.RK4: RK4}.get(scheme)


@final
@record_by_name
@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """How `simulate` computes a motion, each option given by its name. Immutable.

    Attributes:
        scheme: a `Scheme`, or its name; by default DOP853 for adaptive steps, and RK4 for others.
        correction: a `Correction`, or its name. With BAUMGARTE the log names the constraints that have no gains.
        method: a `Method` of `forward_dynamics`, or its name.
        tolerance: largest error norm of a constraint after a projection.
        rtol, atol: error that an adaptive step may have: `atol` [m, rad, m/s, rad/s], and `rtol` of each velocity, and
            of 1 m or 1 rad.
        max_step: longest adaptive step [s].
        start: time of the start [s].
        open_start: whether the start, and the state after a reset, may be open (a constraint off by more than 1e-4, or
            its rate by more than that part of the velocity). With PROJECTION it is closed first. With BAUMGARTE it
            settles, and the energy is NaN while it is open.
        limits: "pass", joints go beyond their limits, and `record.limits_passed` names them; or "stop", they are
            stopped there, or `Stops(restitution=...)`, which bounce. `record.constraint_set` then has rows for the
            stops behind its own, and resets switch the set that their keyword `constraint_set` gets.
        every: record every n-th step; the start, the end and resets are always recorded.
        progress: True for a progress bar by tqdm (extra `parallel`), or a function of (steps done, all steps); adaptive
            steps are counted in hundredths of the duration.

    Raises:
        OptionError: a tolerance or step that is not positive, or `every` below 1.
        UnknownNameError, WrongObjectError, SizeError, NotFiniteError: another invalid option.
    """

    scheme: Scheme | str | None = None
    correction: Correction | str = Correction.PROJECTION
    method: Method | str = Method.AUTOMATIC
    tolerance: float = 1e-10
    rtol: float = 1e-7
    atol: float = 1e-7
    max_step: float = np.inf
    start: float = 0.0
    open_start: bool = False
    limits: Stops | str = PASS
    every: int = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """Check ranges, and read members by their names."""
        if self.scheme is not None:
            set_fields(self, scheme=member(Scheme, self.scheme, "scheme of integration"))
        set_fields(
            self,
            correction=member(Correction, self.correction, "correction of a motion"),
            method=member(Method, self.method, "method of dynamics"),
            start=finite_number(self.start, "start of a motion"),
        )
        as_threshold(self.tolerance, "tolerance of a motion")
        for name in ("rtol", "atol"):
            positive_number(getattr(self, name), f"{name} of a motion")
        if self.max_step != np.inf:
            positive_number(self.max_step, "max_step of a motion [s]")
        as_flag(self.open_start, "`open_start` of a motion")
        as_stops(self.limits)
        whole_number(self.every, "every of a motion", 1)
