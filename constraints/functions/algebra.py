"""What the operators of functions make: `f @ g`, `f - g`, `f + g`, `0.5 * f`, `f / 2`, `-f`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from numbers import Real
from operator import add, mul
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arguments import expect, finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.formulas.log_slopes import is_exact_on
from liegroups.frozen import set_fields

from ..errors import SpaceMismatchError
from ..point import motion_at, place
from ..words import signed_sum
from ..workspace import Workspace
from .affine import Affine, Constant
from .combined import Combined
from .enclosures import maps as enclosing
from .enclosures.box import Bend, Enclosure, TangentBox
from .enclosures.interval import UNIT, Interval, rounded_up
from .expressions.jets import Jet, linear
from .function import Function, as_function, as_functions
from .group_motion import force_derivative_of, logarithm, seen_from
from .lifted import common_inputs


@dataclass(frozen=True, eq=False, repr=False)
class Composition(Combined):
    r"""`f @ g`: first the inner function g, then the outer one f.

    .. math:: (f \circ g)(q) = f(g(q)), \quad J = J_f(g(q))\, J_g(q), \quad
        \dot J v = J_f\,\dot J_g v + \dot J_f(g, J_g v)\, J_g v

    Args:
        outer, inner: f and g; the outputs of g are the inputs of f.

    Shapes:
        value (outer.outputs.nq,), jacobian (outer.outputs.nv, inner.inputs.nv).

    Raises:
        SpaceMismatchError: if the outputs of g are not the inputs of f.

    Source: `CalculusBase` of hpp-constraints.
    """

    outer: Function
    inner: Function

    def __post_init__(self) -> None:
        outer, inner = as_function(self.outer, "outer function"), as_function(self.inner, "inner function")
        if outer.inputs != inner.outputs:
            raise SpaceMismatchError(f"{outer.name} @ {inner.name}", outer.inputs.name, inner.outputs.name)
        self.declare_of((inner,), inner.inputs, outer.outputs, f"{outer.name} @ {inner.name}")

    @property
    def operands(self) -> tuple[Function, ...]:
        return (self.inner,)

    def combine(self, jets: Sequence[Jet], workspace: Workspace) -> Jet:
        """By the chain rule; an affine function is a linear map of all derivatives."""
        f, (inner,) = self.outer, jets
        if type(f) is Affine:
            A: Any = f.A
            return linear(f.applied(inner.value), jets, A.dot)
        inside = place(f.inputs, inner.value, workspace.child)
        value, J = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, f.inputs.nv))
        if inner.jacobian is None and inner.velocity is None:
            f.evaluate(inside, value)
            return Jet(value)
        f.evaluate(inside, value, J)
        made = linear(value, jets, J.dot)
        if inner.velocity is None:
            return made
        moving, drift = motion_at(inside, inner.velocity[:, 0]), np.zeros(f.outputs.nv)
        f.drift(moving, drift)
        made = made._replace(acceleration=made.acceleration + drift[:, None])
        if inner.rate_q is None:
            return made
        still = motion_at(inside, np.zeros(f.inputs.nv))
        by_point, by_velocity, rate, unused = np.zeros((4, *J.shape))
        f.drift_derivatives(moving, inner.acceleration[:, 0], by_point, by_velocity)
        f.drift_derivatives(still, inner.velocity[:, 0], rate, unused)
        by_q: Any = inner.jacobian
        return made._replace(
            rate_q=made.rate_q + rate @ by_q,
            by_q=made.by_q + by_point @ by_q + by_velocity @ inner.rate_q,
            by_v=made.by_v + by_velocity @ by_q,
        )

    def enclose(self, parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
        """By the chain rule, around the value of the inner function."""
        return enclosing.through(self.outer, parts[0], box)

    def bend(self, jets: Sequence[Jet], y: Vector, workspace: Workspace) -> Matrix:
        """That of the outer function."""
        return force_derivative_of(self.outer, place(self.outer.inputs, jets[0].value, workspace.child), y)

    @property
    def combines_exactly(self) -> bool:
        """Whether the outer function has formulas."""
        return self.outer.has_exact_derivatives

    @property
    def drifts_exactly(self) -> bool:
        """Whether the outer function has a formula."""
        return self.outer.has_exact_drift


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Combined):
    r"""`f - g`: difference of the values of f and g, in the tangent space.

    .. math:: (f - g)(q) = f(q) \ominus g(q) \in \mathbb{R}^{n_v}, \quad
        J = \partial_1 J_f + \partial_0 J_g

    with :math:`\partial_0, \partial_1` the Jacobians of `outputs.difference` by its two arguments: of the value d they
    are :math:`-J_{\log}(-d)` and :math:`J_{\log}(d)`.

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
        f = as_function(self.left, "left of a difference")
        constant = "a Function (for a value: Constant(value, f.outputs, f.inputs))"
        g = as_function(self.right, "right of a difference", constant)
        inputs = common_inputs((f, g), f"inputs of {f.name} - {g.name}")
        if f.outputs != g.outputs:
            raise SpaceMismatchError(f"outputs of {f.name} - {g.name}", f.outputs.name, g.outputs.name)
        self.declare_of((f, g), inputs, Rn(f.outputs.nv), f"{f.name} - {g.name}")

    @property
    def operands(self) -> tuple[Function, ...]:
        return self.left, self.right

    def combine(self, jets: Sequence[Jet], workspace: Workspace) -> Jet:
        """The logarithm of one seen from the other; of vectors their difference."""
        (f, g), space = jets, self.left.outputs
        if space.is_flat:
            return linear(f.value - g.value, jets, np.subtract)
        if f.velocity is not None:
            return logarithm(space, seen_from(space, f, g))
        value = space.difference(g.value, f.value)
        if f.jacobian is None:
            return Jet(value)
        return Jet(value, space.log_jacobian(value).dot(f.jacobian) - space.log_jacobian(-value).dot(g.jacobian))

    def enclose(self, parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
        """The logarithm of one seen from the other; of vectors their difference."""
        (f, g), space = parts, self.left.outputs
        found = enclosing.seen_from(space, f, g, box)
        return found if space.is_flat else enclosing.logarithm(space, found, box)

    def bend(self, jets: Sequence[Jet], y: Vector, workspace: Workspace) -> Matrix:
        """None of vectors."""
        n = 2 * self.left.outputs.nv
        return np.zeros((n, n)) if self.left.outputs.is_flat else super().bend(jets, y, workspace)

    @property
    def combines_exactly(self) -> bool:
        """Whether the logarithm of the outputs has formulas."""
        return is_exact_on(self.left.outputs)


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Combined):
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

    Source: `CalculusBase` of hpp-constraints.

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

    _factors: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        functions = as_functions(self.functions, "a sum", "functions, [f, g]")
        factors = np.ones(len(functions)) if self.factors is None else self.factors
        factors = np.array(finite_vector(factors, len(functions), "factors of a sum"))
        inputs, outputs = common_inputs(functions, "inputs of a sum"), functions[0].outputs
        for f in functions:
            if not f.outputs.is_flat:
                raise SpaceMismatchError(f"outputs of {f.name}, in a sum or times a number", "R^n", f.outputs.name)
            if f.outputs != outputs:
                raise SpaceMismatchError(f"outputs of {f.name} in a sum", outputs.name, f.outputs.name)
        set_fields(self, functions=functions, factors=factors, _factors=tuple(factors.tolist()))
        self.declare_of(functions, inputs, outputs, self.name or _name(functions, self._factors))

    @staticmethod
    def of(f: Function, g: Function) -> Sum:
        """`f + g`; sums without a name given by the user are merged into one."""
        terms = [Sum._terms(f), Sum._terms(g)]
        return Sum([h for functions, _ in terms for h in functions], [c for _, factors in terms for c in factors])

    @staticmethod
    def scaled(factor: object, f: Function) -> Sum:
        """`factor * f`."""
        number = float(expect(factor, Real, f"factor of {f.name}", "a number"))
        functions, factors = Sum._terms(f)
        return Sum(functions, [number * c for c in factors])

    @staticmethod
    def divided(f: Function, divisor: object) -> Sum:
        """`f / divisor`."""
        return Sum.scaled(1.0 / float(expect(divisor, Real, f"what {f.name} is divided by", "a number")), f)

    @staticmethod
    def _terms(f: Function) -> tuple[Sequence[Function], Sequence[float]]:
        """The functions of a sum and their factors; a sum with a name of its own is one function."""
        if isinstance(f, Sum) and f.name == _name(f.functions, f._factors):
            return f.functions, f._factors
        return [f], [1.0]

    is_linear = True

    @property
    def operands(self) -> Sequence[Function]:
        return self.functions

    def combine(self, jets: Sequence[Jet], workspace: Workspace) -> Jet:
        """The same sum of all."""
        return linear(self._added(*(jet.value for jet in jets)), jets, self._added)

    def enclose(self, parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
        """The same sum of all."""
        factors, n = self._factors, len(parts)
        value = self._added(*(part.value for part in parts))
        sizes = [
            abs(c) * (part.rounding + 2.0 * n * UNIT * np.abs(part.value))
            for c, part in zip(factors, parts, strict=True)
        ]

        def added(intervals: Iterable[Interval]) -> Interval:
            first, *rest = (c * x for c, x in zip(factors, intervals, strict=True))
            return reduce(add, rest, first)

        def bend() -> Bend:
            return Bend(added(part.bend.straight for part in parts), added(part.bend.slopes for part in parts))

        jacobian = added(part.jacobian for part in parts)
        return Enclosure.centred(self.outputs, box, value, rounded_up(sum(sizes)), jacobian, bend)

    def _added(self, *parts: Matrix) -> Any:
        return reduce(add, map(mul, self._factors, parts))


def _name(functions: Sequence[Function], factors: Sequence[float]) -> str:
    """The sum as it is written; a constant that is called by its number is that number."""
    numbers = [_number(f) for f in functions]
    sizes = [c if x is None else c * x for c, x in zip(factors, numbers, strict=True)]
    return signed_sum(sizes, [f.name if x is None else "" for f, x in zip(functions, numbers, strict=True)])


def _number(f: Function) -> float | None:
    outputs: Any = f.outputs
    if isinstance(f, Constant) and outputs.is_flat:
        x = float(np.asarray(f.constant)[0])
        return x if f.name == f"{x:.4g}" else None
    return None
