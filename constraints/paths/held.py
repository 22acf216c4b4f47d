"""Which constraints a path holds, and how well."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .path import Path


class Held(NamedTuple):
    """A constraint that a path holds.

    Attributes:
        name: of the constraint.
        error: its largest error norm along the path, in the units of its rows.
    """

    name: str
    error: float

    def __str__(self) -> str:
        return f"{self.name}, largest error {self.error:.3g}"


def held_along(path: Path) -> tuple[Held, ...]:
    """What `Path.held` gives."""
    worst = dict[str, float]()
    for piece in path.pieces:
        times = np.concatenate([piece.times, 0.5 * (piece.times[1:] + piece.times[:-1])]).tolist()
        for q, t in zip(piece.at_times(times), times, strict=True):
            for label, norm in piece.problem.constraints.norms(piece.problem.error(q, rhs=piece.sides.at(t))):
                worst[label] = max(worst.get(label, 0.0), float(norm))
    return tuple(Held(*each) for each in worst.items())
