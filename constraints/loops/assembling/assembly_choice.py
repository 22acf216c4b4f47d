"""Options of an assembly, and the projector made for each of them, which the set keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups import Segments
from liegroups.arrays import ArrayLike, BoolVector
from liegroups.frozen import set_fields

from ...keywords import record_by_name
from ...problem.arguments import costs, frozen_columns
from ...problem.problem import Problem
from ...robot import Bounds
from ...solvers import Options, Projector, why_not
from ...solvers.engine import Engine
from ...solvers.newton.engine import NewtonEngine
from ...solvers.newton.least_change import LeastChange
from ...solvers.newton.sparse_kkt import SparseKKT, is_long_and_sparse
from ...solvers.options import as_threshold
from ...solvers.projection.engines import USUAL
from ..closing.split_errors import can_be_split
from ..constraint_set import ConstraintSet

Driven = Sequence[str | Segments] | Segments
"""Joints by name, or Segments, that are held."""

LISTED = (tuple, list, Segments)
"""What can be read twice; anything else is read once."""

DRIVEN = "driven joints"
"""What messages call them."""

_NONE: tuple[str, ...] = ()
"""No driven joints, as most assemblies have them: the empty tuple is always the same."""

DAMPING_OF_ASSEMBLY, PATIENCE = 0.01, 6
"""Of 924 starts within a radian on 11 models 923 close with these. With a patience of 8 all do, but where redundant
rows contradict slightly it takes up to 17 iterations to say so, instead of 15."""

DENSE_TO = 1000
"""Up to so many rows compiled dense steps, which leave out what is zero, are sooner done than sparse ones in Python: a
lift of 100 stages (500 rows) closes in 1.9 ms and 19 ms, one of 200 in 6.4 ms and 21 ms."""


@final
@record_by_name
@dataclass(frozen=True, kw_only=True)
class AssemblyOptions:
    """How `assemble_position` closes a mechanism, each option given by its name. Immutable.

    Attributes:
        bounds: bounds to keep, as `robot.bounds`; none by default, and success then says nothing about bounds
            (`assembly.violations` does).
        tolerance: largest error norm of a constraint, 1e-15 or more (float64 rounds errors at about 1 m to 1e-16).
            Where rows are redundant, at q0 and at the end, only what joints can reduce is held to it, and the rest to
            1e-6, as `MinimalCoordinates.close` does: angles of a file are rounded. `Assembly.split` says so.
        max_iterations: budget, of all tries together.
        restarts: start again from a random configuration (within the bounds) when a try stalls, within the same
            budget; the result may then be far from q0. Driven joints stay.
        seed: of these configurations; seed and q0 determine the result.
        nearest: continue to the configuration whose weighted distance to q0 is stationary; without it each step is the
            least one, but their sum need not be.
        engine: solver, as in a Projector; by default the usual one, but with steps by `SparseKKT` for long chains that
            it does not compile, and by `LeastChange` for costs of zero (with bounds, inequalities or several levels
            always by `DampedCholesky`, which treats a cost of zero as a very small one).

    Raises:
        OptionError, WrongObjectError: an invalid option.
    """

    bounds: Bounds | None = None
    tolerance: float = 1e-12
    max_iterations: int = 100
    restarts: bool = False
    seed: int = 0
    nearest: bool = False
    engine: Engine | str | None = None

    def __post_init__(self) -> None:
        """Check types and ranges."""
        set_fields(self, tolerance=as_threshold(self.tolerance, "tolerance of an assembly"))
        self.of_projector()

    def of_projector(self) -> Options:
        """The same for a projector, which checks them."""
        changes: dict[str, Any] = {"threshold": self.tolerance, "nearest": self.nearest}
        changes |= {name: getattr(self, name) for name in ("max_iterations", "restarts", "seed")}
        return Options.local(**changes, trace=True, damping=DAMPING_OF_ASSEMBLY, patience_count=PATIENCE)


AS_USUAL = AssemblyOptions()
"""Those where none are given: made once."""


def assembler(
    constraint_set: ConstraintSet,
    weights: ArrayLike | Mapping[str, float] | None,
    driven: Driven | BoolVector,
    options: AssemblyOptions,
) -> Projector:
    """What closes a set by these arguments of `assemble_position`, which it checks: the set keeps it."""
    space = constraint_set.robot.space
    moving = None if weights is None else tuple([each.tobytes() for each in costs(space, weights)])
    held = _NONE if driven is _NONE else _names(driven)
    held = frozen_columns(space, driven, DRIVEN).tobytes() if held is None else held
    key = constraint_set.active.tobytes(), moving, held, options

    def made() -> Projector:
        frozen_columns(space, driven, DRIVEN)  # refused in words of this argument
        bounds = Bounds.none(space) if options.bounds is None else options.bounds
        problem = constraint_set.problem(weights=weights, frozen=driven, bounds=bounds)
        of_projector = options.of_projector()
        usual = None if options.nearest else _engine(problem, of_projector)
        return Projector(problem, of_projector, usual if options.engine is None else options.engine)

    return constraint_set.assemblers.get(key, made)


def _names(driven: Any) -> tuple[str, ...] | None:
    """Driven joints that are all given by name; None where they are not."""
    is_named = type(driven) in (tuple, list) and all([isinstance(name, str) for name in driven])
    return tuple(driven) if is_named else None


def _engine(problem: Problem, options: Options) -> Engine | None:
    """Steps of the least cost where some cost is zero, of sparse rows where they pay; None for the projector's own."""
    bounded = bool(np.isfinite(problem.bounds.lower).any() or np.isfinite(problem.bounds.upper).any())
    if bounded or not can_be_split(problem):
        return None
    if is_long_and_sparse(problem):
        return None if _is_compiled(problem, options) else NewtonEngine(SparseKKT)
    free = bool((problem.weights[~problem.frozen] == 0.0).any())
    return NewtonEngine(LeastChange) if free else None


def _is_compiled(problem: Problem, options: Options) -> bool:
    """Whether the usual engine is the compiled one, and closes a long chain sooner than sparse rows do."""
    dense = USUAL == "compiled" and problem.constraints.size <= DENSE_TO and not len(problem.explicits)
    return dense and why_not(problem, options) is None
