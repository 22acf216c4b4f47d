"""Assemblies of a mechanism from several starts, and what it then is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arguments import natural_number
from liegroups.arrays import Vector

from ...loops import AssemblyOptions, assemble_position
from ...loops.mobility import Mobility
from ...solvers.result import Verdict
from ...words import counted
from .mechanism import Mechanism

TOLERANCE_OF_ASSEMBLY = 1e-10
"""What each assembly aims at [m or rad]."""
ACCEPTED = 1e-8
"""Up to this error, in directions that motions reach, a configuration counts as closed [m or rad]."""
NOISE = (0.15, 1.0)
"""Standard deviations of random starts around the neutral one, in turns [rad or m]."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Assemblies(Verdict):
    """What the assemblies of a mechanism from several starts gave.

    It is neither true nor false (`if assemblies:` raises): `success` says whether any of them closed it.

    Attributes:
        mechanism: which.
        starts: configurations, the neutral one first.
        ends: what assembly made of each.
        closed: for each, whether it is closed: to 1e-8 [m or rad] in the directions that motions reach, and to 1e-6 in
            those that redundant rows leave to the decimals of the file.
        iterations: of each.
        chosen: which end counts: of the closed ones the first of the largest rank; without any, that of least residual.
        judged: what the mechanism is there.
        inconsistency: the largest one of redundant rows at the closed ends, or at the chosen end [m or rad].
    """

    mechanism: Mechanism
    starts: tuple[Vector, ...]
    ends: tuple[Vector, ...]
    closed: tuple[bool, ...]
    iterations: tuple[int, ...]
    chosen: int
    judged: Mobility
    inconsistency: float

    @property
    def success(self) -> bool:
        """Whether it closed from at least one start."""
        return any(self.closed)

    @property
    def q(self) -> Vector:
        """The configuration that was chosen (nq,)."""
        return self.ends[self.chosen]

    @property
    def shown(self) -> int:
        """Which start and end to draw: the chosen ones, or the first that were open where these were closed."""
        judge = self.mechanism.judge
        order = [self.chosen, *range(len(self.starts))]
        alike = [i for i in order if self.closed[i] == self.success and not judge(self.starts[i]).is_closed]
        return alike[0] if alike else self.chosen

    def __repr__(self) -> str:
        starts = counted(len(self.starts), "start")
        return f"Assemblies({self.mechanism.name!r}: closed from {sum(self.closed)} of {starts})"


def starts(mechanism: Mechanism, seed: int = 0, count: int = 20) -> tuple[Vector, ...]:
    """The neutral configuration, the postures of the mechanism, and random ones around the neutral one.

    Args:
        mechanism: whose.
        seed: of the random generator.
        count: how many random ones; their tangent noise is 0.15 and 1.0 in turns.

    Raises:
        SizeError: a seed or a count that is no natural number.
    """
    rng = np.random.default_rng(natural_number(seed, "seed"))
    robot = mechanism.robot
    centre = np.array(mechanism.postures["qpos0"]) if "qpos0" in mechanism.postures else robot.neutral
    noise = [NOISE[i % len(NOISE)] for i in range(natural_number(count, "number of random starts"))]
    drawn = [robot.space.integrate(centre, sigma * rng.standard_normal(robot.nv)) for sigma in noise]
    return (robot.neutral, *(np.array(q) for q in mechanism.postures.values()), *drawn)


def assemblies(mechanism: Mechanism, seed: int = 0, count: int = 20) -> Assemblies:
    """Assemble from the neutral configuration, the postures and random starts; bounds are not looked at.

    Args:
        mechanism: which.
        seed: of the random generator.
        count: how many random starts.

    Raises:
        SizeError: a seed or a count that is no natural number.
    """
    options = AssemblyOptions(tolerance=TOLERANCE_OF_ASSEMBLY)
    begins, rows = starts(mechanism, seed, count), mechanism.constraint_set()
    ends: list[Vector] = []
    iterations: list[int] = []
    for q in begins if mechanism.rows else begins[:1]:
        result = assemble_position(rows, q, options=options) if mechanism.rows else None
        ends.append(q if result is None else result.q)
        iterations.append(0 if result is None else result.iterations)
    judged = [mechanism.judge(q) for q in ends]
    closed = [j.is_closed and j.reachable <= ACCEPTED for j in judged]
    chosen = min(range(len(ends)), key=lambda i: (not closed[i], -judged[i].rank if closed[i] else judged[i].residual))
    counted = [j for j, is_closed in zip(judged, closed, strict=True) if is_closed] or [judged[chosen]]
    apart = max(j.inconsistency for j in counted)
    return Assemblies(
        mechanism, begins[: len(ends)], tuple(ends), tuple(closed), tuple(iterations), chosen, judged[chosen], apart
    )
