"""Products with a constant element of a group: alone, and of a function."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from liegroups import Space
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.space import as_space

from ..errors import SpaceMismatchError
from ..point import MovingPoint, Point
from .affine import Straight
from .enclosures.box import Enclosure, TangentBox, of_many
from .enclosures.group_bounds import map_rounding
from .enclosures.interval import Interval
from .function import Function, as_function


@dataclass(frozen=True, eq=False, repr=False)
class RightTranslation(Straight):
    r"""Product with a constant element on the right.

    .. math:: f(q) = q\,c, \quad J = \mathrm{Ad}_{c}^{-1}

    Args:
        space: a group, of the argument and of the value.
        element: c (nq,).
        name: name in messages.

    Shapes:
        value (nq,), jacobian (nv, nv), constant.

    Raises:
        WrongObjectError, SizeError, NotFiniteError, NotNormalizedError: what is wrong with the space or the element.
    """

    space: Space
    element: ArrayLike
    name: str = field(default="", kw_only=True)

    constant: Vector = field(init=False)
    inverse_adjoint: Matrix = field(init=False)

    def __post_init__(self) -> None:
        as_space(self.space, "space of a translation")
        element = np.array(self.space.check(self.element, "element"))
        inverse_adjoint = self.space.adjoint(self.space.inverse(element))
        set_fields(self, element=element, constant=element, inverse_adjoint=inverse_adjoint)
        self.declare(self.space, self.space, name=self.name or None)

    def inverted(self) -> RightTranslation:
        """Product with the inverse element."""
        return RightTranslation(self.space, self.space.inverse(self.constant))

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = self.space.compose(point.q, self.constant)
        if jacobian is not None:
            jacobian[:] = self.inverse_adjoint

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        value = self.space.compose(box.on(self.inputs, self.name).q, self.constant)
        small = map_rounding(self.space, box.q, self.constant, value)
        off = np.where((self.inverse_adjoint == 0.0) | self.space.is_flat, 0.0, small[..., None])
        return Enclosure.centred(self.space, box, value, small, Interval.around(self.inverse_adjoint, off))


@dataclass(frozen=True, eq=False, repr=False)
class Translated(Function):
    r"""A function times a constant element, seen through another function.

    .. math:: h(q) = g(f(q)\,c), \quad J = J_g\,\mathrm{Ad}_{c}^{-1} J_f

    Its intermediate results belong to f: however many constants are tried, a workspace keeps memory for one.

    Args:
        inner: f, into a group.
        element: c, a point of that group.
        outer: g; the identity by default.

    Shapes:
        value (outer.outputs.nq,), jacobian (outer.outputs.nv, inner.inputs.nv).

    Raises:
        SpaceMismatchError: if the spaces do not meet.
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with the element.
    """

    inner: Function
    element: ArrayLike
    outer: Function | None = None

    constant: Vector = field(init=False)
    inverse_adjoint: Matrix = field(init=False)

    def __post_init__(self) -> None:
        f = as_function(self.inner, "function to be translated")
        group = f.outputs
        constant = np.array(group.check(self.element, f"element for {f.name}"))
        g = None if self.outer is None else as_function(self.outer, f"function of {f.name}")
        if g is not None and g.inputs != group:
            raise SpaceMismatchError(f"{g.name} of {f.name}", g.inputs.name, group.name)
        inverse_adjoint = group.adjoint(group.inverse(constant))
        set_fields(self, element=constant, constant=constant, inverse_adjoint=inverse_adjoint)
        outputs = group if g is None else g.outputs
        name = f"{f.name} times a constant" if g is None else f"{g.name} @ {f.name}"
        self.declare(f.inputs, outputs, f.columns, periodic=f.periodic, name=name)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        f, g = self.inner, self.outer
        if g is None:
            J = self._translate(point, value, jacobian)
            if jacobian is not None and J is not jacobian:
                jacobian[:] = J
            return
        middle = point.scratch(f, "translated", (f.outputs.nq,))
        if jacobian is None:
            self._translate(point, middle, None)
            g.evaluate(point.at(g.inputs, middle), value)
            return
        Jf, Jg = self._jacobians(point, g)
        Jf = self._translate(point, middle, Jf)
        g.evaluate(point.at(g.inputs, middle), value, Jg)
        jacobian[:] = Jg.dot(Jf)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        f, g, point = self.inner, self.outer, motion.point
        drift = np.zeros(f.outputs.nv)
        f.drift(motion, drift)
        drift = self.inverse_adjoint @ drift
        if g is None:
            out[:] = drift
            return
        Jf, Jg = self._jacobians(point, g)
        middle = point.scratch(f, "translated", (f.outputs.nq,))
        Jf = self._translate(point, middle, Jf)
        inside = motion.at(g.inputs, middle, Jf @ motion.v)
        g.evaluate(inside.point, point.scratch(g, "translated value", (g.outputs.nq,)), Jg)
        g.drift(inside, out)
        out += Jg @ drift

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        f, g, A = self.inner, self.outer, self.inverse_adjoint
        if g is None:
            f.drift_derivatives(motion, a, dq, dv)
            dq[:], dv[:] = A @ dq, A @ dv
            return
        self._composed(g).drift_derivatives(motion, a, dq, dv)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        if self.outer is None:
            self.inner.force_derivative(point, y @ self.inverse_adjoint, out)
            return
        self._composed(self.outer).force_derivative(point, y, out)

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        moved = RightTranslation(self.inner.outputs, self.constant) @ self.inner
        return moved.enclosure(box) if self.outer is None else (self.outer @ moved).enclosure(box)

    def _composed(self, g: Function) -> Function:
        """The same function, made of three."""
        return g @ RightTranslation(self.inner.outputs, self.constant) @ self.inner

    def _translate(self, point: Point, value: Vector, jacobian: Matrix | None) -> Matrix:
        """Write the product, f with its Jacobian into memory of the caller; the Jacobian of the product."""
        f = self.inner
        f.evaluate(point, value, jacobian)
        value[:] = f.outputs.compose(value, self.constant)
        if jacobian is None or f.outputs.is_flat:
            return self.inverse_adjoint if jacobian is None else jacobian
        return self.inverse_adjoint.dot(jacobian)

    def _jacobians(self, point: Point, g: Function) -> tuple[Matrix, Matrix]:
        f = self.inner
        inner = point.scratch(f, "translated Jacobian", (f.outputs.nv, f.inputs.nv))
        return inner, point.scratch(g, "translated Jacobian of", (g.outputs.nv, g.inputs.nv))
