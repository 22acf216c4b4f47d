"""Composition of two functions."""

from __future__ import annotations

from dataclasses import dataclass

from liegroups.arrays import Matrix, Vector

from ..errors import SpaceMismatchError
from ..point import MovingPoint, Point
from .function import Function, as_function

__all__ = ["Composition"]


@dataclass(frozen=True, eq=False, repr=False)
class Composition(Function):
    r"""`f @ g`: first the inner function g, then the outer one f.

    .. math:: (f \circ g)(q) = f(g(q)), \quad J = J_f(g(q))\, J_g(q), \quad
        \dot J v = J_f\,\dot J_g v + \dot J_f(g, J_g v)\, J_g v

    Args:
        outer, inner: f and g; the outputs of g are the inputs of f.

    Shapes:
        value (outer.outputs.nq,), jacobian (outer.outputs.nv, inner.inputs.nv).

    Raises:
        SpaceMismatchError: if the spaces do not meet.
    """

    outer: Function
    inner: Function

    def __post_init__(self) -> None:
        """Check that the spaces meet."""
        outer, inner = as_function(self.outer, "outer function"), as_function(self.inner, "inner function")
        if outer.inputs != inner.outputs:
            raise SpaceMismatchError(f"{outer.name} @ {inner.name}", outer.inputs.name, inner.outputs.name)
        self.declare(
            inner.inputs, outer.outputs, inner.columns, periodic=inner.periodic, name=f"{outer.name} @ {inner.name}"
        )

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        middle = point.scratch(self, "middle", (self.inner.outputs.nq,))
        if jacobian is None:
            self.inner.evaluate(point, middle)
            self.outer.evaluate(point.at(self.outer.inputs, middle), value)
            return
        Jg, Jf = self._jacobians(point)
        self.inner.evaluate(point, middle, Jg)
        self.outer.evaluate(point.at(self.outer.inputs, middle), value, Jf)
        jacobian[:] = Jf.dot(Jg)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        point = motion.point
        middle = point.scratch(self, "middle", (self.inner.outputs.nq,))
        Jg, Jf = self._jacobians(point)
        self.inner.evaluate(point, middle, Jg)
        drift = point.scratch(self, "inner drift", (self.inner.outputs.nv,))
        self.inner.drift(motion, drift)
        inside = motion.at(self.outer.inputs, middle, Jg @ motion.v)
        self.outer.evaluate(inside.point, point.scratch(self, "value", (self.outputs.nq,)), Jf)
        self.outer.drift(inside, out)
        out += Jf @ drift

    @property
    def has_exact_drift(self) -> bool:
        """True when both drifts are formulas."""
        return self.outer.has_exact_drift and self.inner.has_exact_drift

    def _jacobians(self, point: Point) -> tuple[Matrix, Matrix]:
        inner = point.scratch(self, "inner", (self.inner.outputs.nv, self.inner.inputs.nv))
        return inner, point.scratch(self, "outer", (self.outer.outputs.nv, self.outer.inputs.nv))
