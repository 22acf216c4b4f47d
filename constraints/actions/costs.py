"""Costs of a stage: weighted activations of residuals, with first and Gauss-Newton second derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arguments import as_name, as_tolerance, as_tuple, expect
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import DuplicateNameError
from ..functions.function import Function, as_function
from .activations import Activation, as_activation
from .residuals import Residuals
from .state_space import StageSpace


@final
@dataclass(frozen=True, eq=False)
class Cost:
    r"""One term of a cost, :math:`w\, a(f(x, u) \ominus y)`.

    Args:
        function: f, of the configuration, the state or the stage (`StageSpace.velocity` and `control` make ones of
            velocities and controls alone).
        reference: y, a point of the output group; its neutral element by default.
        weight: w, not negative.
        activation: a; half the sum of squares by default; weights (n,) make a weighted one.
        name: the function's by default.
    """

    function: Function
    reference: Any = None
    weight: float = 1.0
    activation: Activation | ArrayLike | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Check what can be checked without the stage."""
        as_function(self.function, "function of a cost")
        as_tolerance(self.weight, "weight of a cost")
        as_name(self.name, "name of a cost")

    @property
    def label(self) -> str:
        """Its name, or that of its function."""
        return self.name or self.function.name


class CostSlopes(NamedTuple):
    """Derivatives of a cost by state and control: gradients, and Gauss-Newton second derivatives.

    Attributes:
        x: (ndx,).
        u: (nu,).
        xx: (ndx, ndx).
        xu: (ndx, nu).
        uu: (nu, nu).
    """

    x: Vector
    u: Vector
    xx: Matrix
    xu: Matrix
    uu: Matrix


@final
class CostStack:
    r"""The costs of a stage: their sum, and its derivatives.

    Second derivatives are :math:`\sum_i w_i R_i^T a_i''(r_i) R_i`, without those of the residuals (Gauss-Newton), as in
    Crocoddyl.

    Args:
        stage: where they live.
        costs: the terms.

    Raises:
        DuplicateNameError: two of one name.
        SpaceMismatchError, SizeError: a function of something else, an activation of another size.
    """

    def __init__(self, stage: StageSpace, costs: Iterable[Cost] = ()) -> None:
        self.costs: tuple[Cost, ...] = as_tuple(costs, "costs of an action", "costs")
        names: list[str] = []
        for i, cost in enumerate(self.costs):
            expect(cost, Cost, f"cost {i} of an action")
            if cost.label in names:
                raise DuplicateNameError("cost of an action", cost.label)
            names.append(cost.label)
        functions = [stage.lift(cost.function) for cost in self.costs]
        references = [_reference(cost, f) for cost, f in zip(self.costs, functions, strict=True)]
        self._activations = [
            as_activation(c.activation, f.outputs.nv, f"cost '{c.label}'")
            for c, f in zip(self.costs, functions, strict=True)
        ]
        self._residuals, self._stage = Residuals(stage, functions, references), stage

    @property
    def size(self) -> int:
        """Number of residuals."""
        return self._residuals.size

    def _counting(self, terminal: bool) -> list[int]:
        """Terms that count; at a terminal node those that see controls do not."""
        return [i for i, sees in enumerate(self._residuals.sees_controls) if not (terminal and sees)]

    def value(self, x: Vector, u: Vector, *, terminal: bool = False) -> tuple[float, Vector]:
        """The cost, and all residuals (n,)."""
        r = self._residuals.values(x, u).value
        total = 0.0
        for i in self._counting(terminal):
            total += self.costs[i].weight * self._activations[i].value(r[self._residuals.slices[i]])
        return total, r

    def slopes(self, x: Vector, u: Vector, *, terminal: bool = False) -> CostSlopes:
        """Derivatives of the cost."""
        ndx, nu = self._stage.state.ndx, self._stage.nu
        rows = self._residuals.slopes(x, u)
        g, H = np.zeros(ndx + nu), np.zeros((ndx + nu, ndx + nu))
        R = np.hstack([rows.by_x, rows.by_u])
        for i in self._counting(terminal):
            s, a, w = self._residuals.slices[i], self._activations[i], self.costs[i].weight
            g += w * (a.gradient(rows.value[s]) @ R[s])
            H += w * (R[s].T * a.curvature(rows.value[s])) @ R[s]
        return CostSlopes(g[:ndx], g[ndx:], H[:ndx, :ndx], H[:ndx, ndx:], H[ndx:, ndx:])


def _reference(cost: Cost, function: Function) -> Vector:
    if cost.reference is None:
        return function.outputs.neutral
    return np.array(function.outputs.check(cost.reference, f"reference of cost '{cost.label}'"))
