"""What an assembly is asked for beside its constraints and its start: a projector for each choice, kept by the set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import Segments
from liegroups.arguments import is_finite_number
from liegroups.arrays import ArrayLike, BoolVector

from ..errors import OptionError
from ..problem.arguments import costs, frozen_columns
from ..problem.problem import Problem
from ..robot import Bounds
from ..solvers import Options, Projector
from ..solvers.engine import Engine
from ..solvers.newton.engine import NewtonEngine
from ..solvers.newton.least_change import LeastChange
from ..solvers.newton.sparse_rows import SparseKKT, sparse_pays
from ..solvers.options import LEAST_THRESHOLD, below_rounding
from .constraint_set import ConstraintSet

Driven = Sequence[str | Segments] | Segments
"""Joints by name, or Segments, that are held."""

DRIVEN = "driven joints"
"""What messages call them."""

DAMPING, PATIENCE = 0.01, 6
"""Of 924 starts within a radian on 11 models 923 close with these. With a patience of 8 all do, but where redundant
rows contradict slightly it takes up to 17 iterations to say so, instead of 15."""


@final
class AssemblyChoice(NamedTuple):
    """What a projector of an assembly depends on beside the set: arguments of `assemble_position`, as they came."""

    weights: ArrayLike | Mapping[str, float] | None
    driven: Driven | BoolVector
    bounds: Bounds | None
    tolerance: float
    max_iterations: int
    nearest: bool
    engine: Engine | str | None

    def projector(self, constraint_set: ConstraintSet) -> Projector:
        """The projector of a set for this choice, which the set keeps. Raises what `assemble_position` does."""
        return constraint_set.projectors.get(self._key(constraint_set), lambda: self._made(constraint_set))

    def _key(self, constraint_set: ConstraintSet) -> tuple[Any, ...]:
        """All that the projector depends on; arrays by their bytes, numbers with their types: True is no 1."""
        space, driven = constraint_set.robot.space, self.driven
        moving = None if self.weights is None else tuple(each.tobytes() for each in costs(space, self.weights))
        is_named = isinstance(driven, tuple | list) and all(isinstance(each, str) for each in driven)
        held = tuple(driven) if is_named else frozen_columns(space, driven, DRIVEN).tobytes()
        numbers = self.tolerance, self.max_iterations, self.nearest
        return (constraint_set.active.tobytes(), moving, held, self.bounds, self.engine, *numbers, *map(type, numbers))

    def _made(self, constraint_set: ConstraintSet) -> Projector:
        space = constraint_set.robot.space
        frozen_columns(space, self.driven, DRIVEN)  # refused in words of this argument
        bounds = Bounds.none(space) if self.bounds is None else self.bounds
        problem = constraint_set.problem(weights=self.weights, frozen=self.driven, bounds=bounds)
        if is_finite_number(self.tolerance) and 0.0 < self.tolerance < LEAST_THRESHOLD:
            raise OptionError(below_rounding("tolerance of an assembly", self.tolerance))
        changes = {"threshold": self.tolerance, "max_iterations": self.max_iterations, "nearest": self.nearest}
        options = Options.local(**changes, trace=True, damping=DAMPING, patience_count=PATIENCE)
        usual = None if self.nearest else _engine(problem)
        return Projector(problem, options, usual if self.engine is None else self.engine)


def _engine(problem: Problem) -> Engine | None:
    """Steps of sparse rows where they pay, of the least cost where some cost is zero; None for the projector's own."""
    bounded = bool(np.isfinite(problem.bounds.lower).any() or np.isfinite(problem.bounds.upper).any())
    equalities = not any((owner.rows.one_sided & owner.rows.mask).any() for owner in problem.constraints)
    if bounded or len(problem.levels) > 1 or not equalities:
        return None
    free = bool((problem.weights[~problem.frozen] == 0.0).any())
    return NewtonEngine(SparseKKT) if sparse_pays(problem) else NewtonEngine(LeastChange) if free else None
