"""Several functions of one argument as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from liegroups import ProductSpace
from liegroups.arrays import Matrix
from liegroups.frozen import set_fields

from ..errors import WrongObjectError
from ..workspace import Workspace
from .combined import Combined
from .enclosures.box import Bend, Enclosure, TangentBox
from .enclosures.interval import Interval
from .expressions.jets import Jet, linear
from .function import Function, as_functions
from .lifted import common_inputs


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Stacked(Combined):
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
        outputs = ProductSpace([f.outputs for f in functions])
        self.declare_of(functions, inputs, outputs, name or f"[{', '.join(f.name for f in functions)}]")

    is_linear = True

    @property
    def operands(self) -> Sequence[Function]:
        return self.functions

    def combine(self, jets: Sequence[Jet], workspace: Workspace) -> Jet:
        """One under the other."""
        return linear(_joined(*(jet.value for jet in jets)), jets, _joined)

    def enclose(self, parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
        """One under the other."""
        value, rounding = (
            np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in ("value", "rounding")
        )
        jacobian = Interval.joined([part.jacobian for part in parts], -2)

        def errors() -> Matrix:
            return np.concatenate([part.error for part in parts], axis=-1)

        return Enclosure(value, rounding, jacobian, errors, lambda: Bend.joined([part.bend for part in parts]))


def _joined(*parts: Matrix) -> Matrix:
    return np.concatenate(parts)
