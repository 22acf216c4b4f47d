"""What is said of a motion beside its numbers: contacts that pull, a start that stays, steps of stiff laws, events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups.arrays import Vector

from ...words import first_names
from ..events.balance import POOR
from ..events.floor import is_across_a_floor
from ..laws.forces import Forces
from ..laws.law import NoEnergyError
from ..multipliers import pushing_rows

if TYPE_CHECKING:
    from .record import MotionRecord
    from .run import Run

PULLS = 1e-9
"""Part of the largest multiplier of a motion below which a negative one is zero."""

MANY, SHORT = 300, 1e-3
"""Number of adaptive steps, and how little each moves on average [rad or m], from which on a law is stiff."""

BURST = 1e6
"""A rate of the constraints above this [m/s, rad/s], after a step, comes from a step that was too long."""

TOO_LONG = "the step is too long for a stiff law: a shorter or adaptive step, or scheme='implicit', may do"


def of_run(run: Run, is_adaptive: bool) -> tuple[str, ...]:
    """What the steps and events of a motion tell, in words."""
    happened = {crossing.name for crossing in run.crossings}
    silent = [f"'{event.name}'" for event in run.events if event.name not in happened]
    found = [f"did not happen: event {first_names(silent)}"] if silent else []
    tableau = run.stepper.tableau
    is_explicit = tableau is not None and not tableau.is_implicit
    if is_explicit and is_adaptive and run.steps > MANY:
        times, vs = np.array([row.times for row in run.rows]), np.array([row.vs for row in run.rows])
        path = float((np.abs(vs[1:]) * np.diff(times)[:, None]).sum(axis=0).max(initial=0.0))
        if path < SHORT * run.steps:
            mean = (times[-1] - times[0]) / run.steps
            found.append(
                f"{run.steps} steps of {mean:.2g} s on average, in which little moves: if the laws are stiff, "
                "scheme='implicit' takes far fewer"
            )
    return tuple(found)


def of_record(record: MotionRecord) -> list[str]:
    """What the states of a motion tell, in words: contacts that pull, a start that stays, laws that feed energy."""
    found: list[str] = []
    least = -PULLS * float(np.abs(record.multipliers).max(initial=0.0))
    stack = record.constraint_set.stack
    for name, row in pushing_rows(record.constraint_set).items():
        if is_across_a_floor(stack.owners[stack.index(name)]):
            continue
        push: Vector = record.multipliers[:, row]
        pulls = np.flatnonzero(push < least)
        if pulls.size:
            first = record.times[pulls[0]]
            found.append(f"contact '{name}' pulls, by up to {-push.min():.4g} N, first at {first:.6g} s")
    if len(record.times) > 1 and not record.vs.any():
        found.append("nothing moved: it starts at rest, and no force acts along a motion that the constraints leave")
    return found + ([] if record.success else feeding(record))


def feeding(record: MotionRecord) -> list[str]:
    """The law that gave most of the kinetic energy of a motion that failed, by the trapezoid of its power.

    A law with an energy of its own, as springs have, gives back what it had.
    """
    if not isinstance(record.forces, Forces) or len(record.times) < 2:
        return []
    energy = np.maximum.accumulate(np.nan_to_num(record.kinetic_energy))
    right = np.flatnonzero(np.abs(record.energy_error) <= POOR * energy)
    last = int(right[-1]) + 1 if right.size else 0
    times, found = record.times[:last], dict[str, float]()
    for name, forces in record.forces_by_name.items():
        power = np.einsum("ij,ij->i", forces[:last], record.vs[:last])
        found[name] = float((0.5 * (power[1:] + power[:-1]) * np.diff(times)).sum())
    springs = {n for n, law in zip(found, record.forces, strict=True) if _has_energy(law, record.qs[0])}
    most = max(found.values(), default=0.0)
    fed = last and most > 0.5 * energy[last - 1]
    words = "while the energy was in balance: where it should take energy, its sign is wrong"
    return [
        f"{name} did a work of {work:.3g} J {words}"
        for name, work in found.items()
        if fed and work == most and name not in springs
    ]


def _has_energy(law: Any, q: Vector) -> bool:
    try:
        return hasattr(law, "energy") and np.isfinite(law.energy(q))
    except NoEnergyError:
        return False
