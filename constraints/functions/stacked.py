"""Several functions of one argument as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from liegroups import ProductSpace
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ..errors import WrongObjectError
from ..point import MovingPoint, Point
from .function import Function, as_functions
from .group_motion import force_derivative_of
from .lifted import common_inputs


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Stacked(Function):
    r"""The concatenated values of several functions of the same argument.

    .. math:: f(q) = (f_1(q), \dots, f_n(q)) \in \mathcal{L}_1 \times \dots \times \mathcal{L}_n

    Args:
        functions: at least one, as separate arguments or as one sequence; all have the same inputs.
        name: name in messages.

    Shapes:
        value (sum of outputs.nq,), jacobian (sum of outputs.nv, inputs.nv).

    Raises:
        SpaceMismatchError, RobotMismatchError: if the inputs differ.

    Source: `DifferentiableFunctionSet` of hpp-constraints.
    """

    functions: Sequence[Function]
    name: str = field(default="", kw_only=True)

    @overload
    def __init__(self, functions: Sequence[Function], /, *, name: str = "") -> None: ...
    @overload
    def __init__(self, *functions: Function, name: str = "") -> None: ...
    @overload
    def __init__(self, *, functions: Sequence[Function], name: str = "") -> None: ...
    def __init__(self, *parts: Any, functions: Any = None, name: str = "") -> None:
        """Check that the inputs are one space."""
        if functions is None:
            functions = parts[0] if len(parts) == 1 and not isinstance(parts[0], Function) else parts
        elif parts:
            raise WrongObjectError("functions of a stack", "functions either by position or as functions=", "both")
        functions = as_functions(functions, "a stack", "functions")
        inputs = common_inputs(functions)
        set_fields(self, functions=functions)
        self.declare(
            inputs,
            ProductSpace([f.outputs for f in functions]),
            np.logical_or.reduce([f.columns for f in functions]),
            periodic=np.logical_and.reduce([f.periodic for f in functions]),
            name=name or "[" + ", ".join(f.name for f in functions) + "]",
        )

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        for f, q, v in self._blocks():
            f.evaluate(point, value[q], None if jacobian is None else jacobian[v])

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        for f, _, v in self._blocks():
            f.drift(motion, out[v])

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        for f, _, v in self._blocks():
            f.drift_derivatives(motion, a, dq[v], dv[v])

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        out[:] = sum(force_derivative_of(f, point, y[v]) for f, _, v in self._blocks())

    def _blocks(self) -> Iterator[tuple[Function, slice, slice]]:
        q = v = 0
        for f in self.functions:
            yield f, slice(q, q + f.outputs.nq), slice(v, v + f.outputs.nv)
            q, v = q + f.outputs.nq, v + f.outputs.nv
