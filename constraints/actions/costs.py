"""Costs of a stage: weighted activations of residuals, with first and Gauss-Newton second derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liegroups.arguments import as_name, as_tolerance, as_tuple
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import keep_own, set_fields

from ..errors import OptionError
from ..functions.function import Function, as_function
from .activations import Activation, as_activation
from .residuals import Residuals, StagePlace, Term
from .state_space import StageSpace


@final
@dataclass(frozen=True, eq=False)
class Cost(Term):
    r"""One term of a cost, :math:`w\, a(f(x, u) \ominus y)`.

    Args:
        function: f, of the configuration, the state or the stage (`StageSpace.velocity`, `control` and `force` make
            functions of velocities, controls and contact forces alone).
        reference: y, a point of the output group; its neutral element by default.
        weight: w, not negative and finite.
        activation: a; half the sum of squares by default; weights (n,) give a weighted sum.
        name: the function's by default.

    Raises:
        WrongObjectError, OptionError: not a Function, a negative or infinite weight, a name that is not text.
    """

    function: Function
    reference: Any = None
    weight: float = 1.0
    activation: Activation | ArrayLike | None = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check what can be checked without the stage."""
        keep_own(self, "reference", "activation")
        as_function(self.function, "function of a cost")
        weight = as_tolerance(self.weight, "weight of a cost")
        if weight == np.inf:
            raise OptionError("weight of a cost: expected a finite number, got inf")
        set_fields(self, weight=weight)  # a numpy float32 would make the sum one
        as_name(self.name, "name of a cost")


@final
class CostStack:
    r"""The costs of a stage: their sum, and its derivatives.

    Second derivatives are :math:`\sum_i w_i R_i^T a_i''(r_i) R_i`, without those of the residuals (Gauss-Newton), as in
    Crocoddyl.

    Args:
        stage: the stage space.
        costs: the terms.

    Raises:
        DuplicateNameError: two costs with the same name.
        SpaceMismatchError: a function on another space.
        SizeError, NotNormalizedError, NotFiniteError: an activation or a reference that does not fit.
    """

    def __init__(self, stage: StageSpace, costs: Iterable[Cost] = ()) -> None:
        self.costs: tuple[Cost, ...] = as_tuple(costs, "costs of an action", "costs")
        self._residuals, self._stage = Residuals(stage, self.costs, Cost, "cost"), stage
        self._activations = [
            as_activation(c.activation, f.outputs.nv, f"cost '{c.label}'")
            for c, f in zip(self.costs, self._residuals.functions, strict=True)
        ]

    @property
    def size(self) -> int:
        """Number of residuals."""
        return self._residuals.size

    def value(self, at: StagePlace) -> tuple[float, Vector]:
        """The cost, and all residuals (n,).

        Args:
            at: the point; at a terminal node costs that depend on controls or forces are left out.
        """
        r = self._residuals.values(at)
        total = 0.0
        for i in self._counting(at):
            total += self.costs[i].weight * self._activations[i].value(r[self._residuals.slices[i]])
        return total, r

    def slopes(self, at: StagePlace) -> tuple[Vector, Vector, Matrix, Matrix, Matrix]:
        """Gradients Lx (ndx,), Lu (nu,), and Gauss-Newton second derivatives Lxx, Lxu, Luu.

        Args:
            at: as in `value`.
        """
        ndx, size = self._stage.state.ndx, self._stage.state.ndx + self._stage.nu
        value, R = self._residuals.slopes(at)
        g, curvature = np.zeros(size), np.zeros((size, size))
        for i in self._counting(at):
            s, a, w = self._residuals.slices[i], self._activations[i], self.costs[i].weight
            g += w * (a.gradient(value[s]) @ R[s])
            curvature += w * ((R[s].T * a.curvature(value[s])) @ R[s])
        return g[:ndx], g[ndx:], curvature[:ndx, :ndx], curvature[:ndx, ndx:], curvature[ndx:, ndx:]

    def _counting(self, at: StagePlace) -> list[int]:
        """Terms that count."""
        running = self._residuals.running if at.terminal else ()
        return [i for i in range(len(self.costs)) if i not in running]

    def __repr__(self) -> str:
        return f"CostStack({', '.join(cost.label for cost in self.costs) or 'no costs'})"
