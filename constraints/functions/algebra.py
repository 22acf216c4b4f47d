"""What the operators of functions make: `f @ g`, `f - g`, `f + g`, `0.5 * f`, `f / 2`, `-f`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from liegroups import Rn
from liegroups.arguments import expect, finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.formulas.log_slopes import is_exact_on
from liegroups.frozen import set_fields

from ..errors import SpaceMismatchError, WrongObjectError
from ..point import MovingPoint, Point
from ..words import bracketed, signed_sum
from .function import Function, as_function, as_functions
from .function_guard import APPLIED
from .group_motion import GroupMotion, force_derivative_of, force_of_logarithm, force_seen_from
from .lifted import common_inputs


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
        SpaceMismatchError: if the outputs of g are not the inputs of f.
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

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        inner = GroupMotion.of(self.inner, motion, a)
        inside = motion.at(self.outer.inputs, inner.point, inner.velocity)
        k, n = self.outer.outputs.nv, self.outer.inputs.nv
        by_point, by_velocity = np.zeros((2, k, n))
        self.outer.drift_derivatives(inside, inner.acceleration, by_point, by_velocity)
        Jf = self.outer.linearised_at(inside.point).jacobian
        dq[:] = by_point @ inner.jacobian + by_velocity @ inner.rate_q + Jf @ inner.by_q
        dv[:] = by_velocity @ inner.jacobian + Jf @ inner.by_v

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        middle, Jg = self.inner.linearised_at(point)
        inside = point.at(self.outer.inputs, middle)
        Jf = self.outer.linearised_at(inside).jacobian
        bent = force_derivative_of(self.outer, inside, y)
        self.inner.force_derivative(point, y @ Jf, out)
        out += Jg.T @ bent @ Jg

    def _jacobians(self, point: Point) -> tuple[Matrix, Matrix]:
        inner = point.scratch(self, "inner", (self.inner.outputs.nv, self.inner.inputs.nv))
        return inner, point.scratch(self, "outer", (self.outer.outputs.nv, self.outer.inputs.nv))


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Function):
    r"""`f - g`: difference of the values of f and g, in the tangent space.

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

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        space = self.left.outputs
        f, g = self.left.linearised_at(motion.point), self.right.linearised_at(motion.point)
        drift_f, drift_g = np.zeros(space.nv), np.zeros(space.nv)
        self.left.drift(motion, drift_f)
        self.right.drift(motion, drift_g)
        h = space.compose(space.inverse(g.value), f.value)
        moving = space.relative_motion(h, (f.jacobian @ motion.v, drift_f), (g.jacobian @ motion.v, drift_g))
        out[:] = space.log_second_derivative(space.log(h), *moving)

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        moving = GroupMotion.of(self.left, motion, a).seen_from(GroupMotion.of(self.right, motion, a)).logarithm()
        dq[:], dv[:] = moving.by_q, moving.by_v

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        space = self.left.outputs
        f, g = self.left.linearised_at(point), self.right.linearised_at(point)
        h = space.compose(space.inverse(g.value), f.value)
        J = f.jacobian - space.adjoint(space.inverse(h)) @ g.jacobian
        inner, added = force_of_logarithm(space, h, J, y)
        out[:] = force_seen_from(self.left, self.right, point, inner) + added

    @property
    def has_exact_derivatives(self) -> bool:
        """As for `Function`; the logarithm of the outputs must have a formula too."""
        return super().has_exact_derivatives and is_exact_on(self.left.outputs)


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Function):
    r"""Weighted sum of functions into one vector space: `f + g`, `0.5 * f`, `f / 2`, `-f`.

    .. math:: h(q) = \sum_i c_i\, f_i(q) \in \mathbb{R}^n, \quad J = \sum_i c_i J_i, \quad
        \dot J v = \sum_i c_i\, \dot J_i v

    Args:
        functions: at least one, with the same inputs and the same outputs, a vector space.
        factors: one per function; ones by default.
        name: name in messages.

    Shapes:
        value (n,), jacobian (n, inputs.nv).

    Raises:
        SpaceMismatchError, RobotMismatchError: if inputs or outputs differ, or the outputs are not a vector space.
        SizeError, DtypeError, NotFiniteError: what is wrong with the factors.

    Example:
        >>> from constraints import Position
        >>> from constraints.models import sample_arm
        >>> arm = sample_arm()
        >>> 0.5 * (Position(arm, "elbow") + Position(arm, "tool"))
        Sum('0.5 Position(elbow) + 0.5 Position(tool)': R7 -> R3)
    """

    functions: Sequence[Function]
    factors: ArrayLike | None = None
    name: str = field(default="", kw_only=True)

    _factors: Vector = field(init=False)

    def __post_init__(self) -> None:
        """Check that the spaces agree."""
        functions = as_functions(self.functions, "a sum", "functions, [f, g]")
        factors = np.ones(len(functions)) if self.factors is None else self.factors
        factors = np.array(finite_vector(factors, len(functions), "factors of a sum"))
        inputs, outputs = common_inputs(functions, "inputs of a sum"), functions[0].outputs
        for f in functions:
            if not f.outputs.is_flat:
                raise SpaceMismatchError(f"outputs of {f.name}, in a sum or times a number", "R^n", f.outputs.name)
            if f.outputs != outputs:
                raise SpaceMismatchError(f"outputs of {f.name} in a sum", outputs.name, f.outputs.name)
        set_fields(self, functions=functions, factors=factors, _factors=factors)
        self.declare(
            inputs,
            outputs,
            np.logical_or.reduce([f.columns for f in functions]),
            periodic=np.logical_and.reduce([f.periodic for f in functions]),
            name=self.name or _name(functions, factors),
        )

    @staticmethod
    def of(f: Function, g: Function) -> Sum:
        """`f + g`; sums without a name given by the user are merged into one."""
        terms = [Sum._terms(f), Sum._terms(g)]
        return Sum([h for functions, _ in terms for h in functions], [c for _, factors in terms for c in factors])

    @staticmethod
    def scaled(factor: object, f: Function) -> Sum:
        """`factor * f`."""
        way = f"for a matrix, A @ {bracketed(f.name)}"
        if isinstance(factor, Function):
            way = f"functions have no product and no norm: {APPLIED}"
        number = float(expect(factor, Real, f"factor of {f.name}", f"a number ({way})"))
        functions, factors = Sum._terms(f)
        return Sum(functions, [number * c for c in factors])

    @staticmethod
    def divided(f: Function, divisor: object) -> Sum:
        """`f / divisor`."""
        if not isinstance(divisor, Real) or not divisor:
            raise WrongObjectError(f"what {f.name} is divided by", "a number other than 0", repr(divisor))
        return Sum.scaled(1.0 / float(divisor), f)

    @staticmethod
    def _terms(f: Function) -> tuple[Sequence[Function], list[float]]:
        """The functions of a sum and their factors; a sum with a name of its own is one function."""
        if isinstance(f, Sum) and f.name == _name(f.functions, f._factors):
            return f.functions, f._factors.tolist()
        return [f], [1.0]

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        part = point.scratch(self, "part", (self.outputs.nq,))
        value[:] = 0.0
        if jacobian is not None:
            jacobian[:] = 0.0
        for i, (f, c) in enumerate(zip(self.functions, self._factors, strict=True)):
            J = None if jacobian is None else point.scratch(self, f"jacobian {i}", jacobian.shape)
            f.evaluate(point, part, J)
            value += c * part
            if jacobian is not None:
                jacobian += c * J

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        part = motion.point.scratch(self, "drift", (self.outputs.nv,))
        out[:] = 0.0
        for f, c in zip(self.functions, self._factors, strict=True):
            f.drift(motion, part)
            out += c * part

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        by_q, by_v = np.zeros(dq.shape), np.zeros(dq.shape)
        dq[:], dv[:] = 0.0, 0.0
        for f, c in zip(self.functions, self._factors, strict=True):
            f.drift_derivatives(motion, a, by_q, by_v)
            dq += c * by_q
            dv += c * by_v

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        out[:] = sum(c * force_derivative_of(f, point, y) for f, c in zip(self.functions, self._factors, strict=True))


def _name(functions: Sequence[Function], factors: Vector) -> str:
    return signed_sum(factors.tolist(), [f.name for f in functions])
