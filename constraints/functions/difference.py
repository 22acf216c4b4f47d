"""Difference of two functions."""

from __future__ import annotations

from dataclasses import dataclass

from liegroups import Rn
from liegroups.arrays import Matrix, Vector

from ..errors import SpaceMismatchError
from ..point import Point
from .function import Function, as_function
from .lifted import common_inputs

__all__ = ["Difference"]


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Function):
    r"""`f - g`: how far the value of f is from the value of g, in the tangent space.

    .. math:: (f - g)(q) = f(q) \ominus g(q) \in \mathbb{R}^{n_v}, \quad
        J = \partial_1 J_f + \partial_0 J_g

    with :math:`\partial_0, \partial_1` the Jacobians of `outputs.difference` by its two arguments.

    Args:
        left, right: f and g, with the same inputs and the same outputs.

    Shapes:
        value (outputs.nv of f,), jacobian (outputs.nv of f, inputs.nv).

    Raises:
        SpaceMismatchError, RobotMismatchError: if inputs or outputs differ.

    Source: `function::Difference` of hpp-constraints.
    """

    left: Function
    right: Function

    def __post_init__(self) -> None:
        """Check that the spaces agree."""
        f = as_function(self.left, "left of a difference")
        constant = "a Function (for a value: Constant(value, f.outputs, f.inputs))"
        g = as_function(self.right, "right of a difference", constant)
        inputs = common_inputs((f, g), f"inputs of {f.name} - {g.name}")
        if f.outputs != g.outputs:
            raise SpaceMismatchError(f"outputs of {f.name} - {g.name}", f.outputs.name, g.outputs.name)
        self.declare(
            inputs,
            Rn(f.outputs.nv),
            f.columns | g.columns,
            periodic=f.periodic & g.periodic,
            name=f"{f.name} - {g.name}",
        )

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        space = self.left.outputs
        f = point.scratch(self, "f", (space.nq,))
        g = point.scratch(self, "g", (space.nq,))
        if jacobian is None:
            self.left.evaluate(point, f)
            self.right.evaluate(point, g)
            value[:] = space.difference(g, f)
            return
        Jf = point.scratch(self, "Jf", (space.nv, self.inputs.nv))
        Jg = point.scratch(self, "Jg", (space.nv, self.inputs.nv))
        self.left.evaluate(point, f, Jf)
        self.right.evaluate(point, g, Jg)
        value[:] = space.difference(g, f)
        jacobian[:] = space.difference_dq1(g, f) @ Jf + space.difference_dq0(g, f) @ Jg
