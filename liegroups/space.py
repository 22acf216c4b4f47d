r"""`Space`, a configuration space that is a Lie group: the one interface of every group and product.

Conventions: quaternions xyzw, twists linear then angular, right perturbation (``q (+) v`` is in the body frame),
Jacobians with respect to tangent vectors, metres and radians. Layouts are those of pinocchio (``docs/conventions.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike

from .arguments import finite_vector, is_finite_vector, leading_axes, one_vector, real_numbers, receiver, stacked
from .arrays import FLOAT64, Matrix, Numbers, TangentLike, Vector
from .by_name import NoFactor, no_factor, tangent_of
from .errors import OperatorError, WrongObjectError
from .formulas.batch_maps import repeated
from .layout import Factor
from .structure import Structure
from .unit_blocks import refuse_unnormalized

_Map = Callable[[Vector, Vector], Vector]


class Space(Structure):
    r"""A configuration space that is a Lie group.

    A point q has nq entries, a tangent vector v has nv, and

    .. math:: q \oplus v = q \exp(v), \qquad q_1 \ominus q_0 = \log(q_0^{-1} q_1).

    Every map takes one vector (``ndim`` 1, computed in plain floats) or vectors stacked along leading axes (computed by
    numpy; they broadcast against each other). Maps accept what numpy reads as real numbers (lists, tuples, integers),
    and refuse the rest; only `check` also tests norms and looks for NaN. Results are new arrays.

    **A new group** is a `Group`: a layout and a table of functions. **A space with the structure of another one** but
    some different maps, for example a robot's space, is a subclass that passes on ``other.layout``,
    ``other.batch_maps`` and ``dataclasses.replace(other.maps, integrate=...)``. All other methods are derived from
    these here, and are final. A space that is not a `ProductSpace` stays one factor of a product and keeps its maps.
    ``constraints.testing.check_space`` checks all laws of a group on any space.

    Args:
        layout: sizes, neutral element, names: ``Layout.group(kind, neutral, nv, unit_blocks)``.
        maps: its functions, for one vector.
        batch_maps: the same for arrays with leading axes; by default a loop that calls `maps` for each vector.

    Attributes:
        nq: size of a configuration.
        nv: size of a tangent vector.
        name: structure in words, as "R3xSO3".
        neutral: neutral element (nq,), read-only.
        atoms: canonical structure, neighbouring R^n merged; they decide equality and hash.
        vector_q: indices in q of the coordinates of R^n factors, read-only; only these can have bounds.
        vector_v: indices in v of the same coordinates, read-only.
        unit_blocks: slices of q that have unit norm.
        layout: all of these as one object.
        maps: its functions, for one vector.
        batch_maps: the same for arrays with leading axes.
    """

    if not TYPE_CHECKING:
        _refuses_calls = True  # see `arguments.is_function`

        def __call__(self, *_: object) -> NoReturn:
            """Refused: a space makes no points of its own type."""
            order = f", {self.layout.order}" if self.layout.order else ""
            numbers = f"a point is an array of {self.nq} numbers{order}; Element(numbers, space) knows its space"
            raise OperatorError(f"{self.name}(...)", numbers)

    # --- the two ways of moving --------------------------------------------------------------------------------------

    @final
    def integrate(self, q: Numbers, v: Numbers) -> Vector:
        r"""Move from q along v: :math:`q \oplus v = q \exp(v)`, unit blocks normalised.

        Shapes:
            q (..., nq), v (..., nv) -> (..., nq).

        Raises:
            SizeError: a last axis has the wrong size, or leading axes do not broadcast.
            DtypeError: not real numbers.
        """
        is_ready = type(q) is type(v) is np.ndarray and q.shape == self._shape_q and v.shape == self._shape_v
        if is_ready and q.dtype == v.dtype == FLOAT64:
            try:
                return self.maps.integrate(q, v)
            except ZeroDivisionError:
                self._refuse_zeros(q)
                raise
        return self._mapped(self.maps.integrate, self.batch_maps.integrate, self._read_q(q), self._read_v(v))

    @final
    def difference(self, q0: Numbers, q1: Numbers) -> Vector:
        r"""Return the shortest v with :math:`q_0 \oplus v = q_1`: :math:`\log(q_0^{-1} q_1)`.

        Shapes:
            q0 (..., nq), q1 (..., nq) -> (..., nv).

        Raises:
            SizeError, DtypeError: as `integrate`.
        """
        is_ready = type(q0) is type(q1) is np.ndarray and q0.shape == self._shape_q == q1.shape
        if is_ready and q0.dtype == q1.dtype == FLOAT64:
            return self.maps.difference(q0, q1)
        return self._mapped(self.maps.difference, self.batch_maps.difference, self._read_q(q0), self._read_q(q1))

    @final
    def integrate_dq(self, q: Numbers, v: Numbers) -> Matrix:
        r"""Derivative of :math:`q \oplus v` by q: :math:`\mathrm{Ad}_{\exp(v)}^{-1}`, (..., nv, nv)."""
        q, v = self._read_q(q), self._read_v(v)
        if q.ndim == v.ndim == 1:
            return self.maps.adjoint(self.maps.integrate(self.neutral, -v))
        return repeated(
            self.batch_maps.adjoint(self.batch_maps.integrate(self.neutral, -v)), leading_axes(q, v, self.name)
        )

    @final
    def integrate_dv(self, q: Numbers, v: Numbers) -> Matrix:
        r"""Derivative of :math:`q \oplus v` by v: the right Jacobian of exp, (..., nv, nv)."""
        q, v = self._read_q(q), self._read_v(v)
        if q.ndim == v.ndim == 1:
            return self.maps.exp_jacobian(v)
        return repeated(self.batch_maps.exp_jacobian(v), leading_axes(q, v, self.name))

    @final
    def difference_dq0(self, q0: Numbers, q1: Numbers) -> Matrix:
        r"""Derivative of :math:`q_1 \ominus q_0 = d` by q0: :math:`-J_{\log}(-d)`, (..., nv, nv)."""
        return -self.log_jacobian(-self.difference(q0, q1))

    @final
    def difference_dq1(self, q0: Numbers, q1: Numbers) -> Matrix:
        r"""Derivative of :math:`q_1 \ominus q_0 = d` by q1: :math:`J_{\log}(d)`, (..., nv, nv)."""
        return self.log_jacobian(self.difference(q0, q1))

    @final
    def error(self, q0: Numbers, q1: Numbers, e: Vector, jacobian: Matrix | None = None) -> None:
        r"""Write :math:`e = q_1 \ominus q_0`, and change the derivative of q1 to that of e, in place. One vector.

        .. math:: J \leftarrow J_{\log}(e)\, J

        Args:
            q0: reference (nq,).
            q1: value (nq,).
            e: float64 array that receives the error (nv,).
            jacobian: derivative of q1 in its tangent (nv, n), overwritten by the derivative of e. Rows of plain vectors
                stay unchanged.

        Raises:
            SizeError, DtypeError, WrongObjectError: what is wrong with an argument.
        """
        try:
            ready = q0.shape == self._shape_q == q1.shape and q0.dtype == q1.dtype == e.dtype == FLOAT64
            ready = ready and e.shape == self._shape_v and (jacobian is None or jacobian.shape[0] == self.nv)
        except AttributeError:
            ready = False
        if not ready:
            q0, q1 = (one_vector(stacked(q, self.nq, "points of error"), "points of error") for q in (q0, q1))
            receiver(e, jacobian, self.nv)
        self.write_error(q0, q1, e, jacobian)

    @final
    def write_error(self, q0: Vector, q1: Vector, e: Vector, jacobian: Matrix | None = None) -> None:
        """As `error`, without checking the arguments: for inner loops."""
        e[...] = d = self.maps.difference(q0, q1)
        if jacobian is not None:
            self._carry(d, jacobian)

    @final
    def _carry(self, d: Vector, jacobian: Matrix) -> None:
        """Multiply in place by the Jacobian of log at d, group by group."""
        if self._is_single:
            jacobian[...] = self.maps.log_jacobian(d).dot(jacobian)
        for space, block in self._curved:
            space._carry(d[block], jacobian[block])

    @final
    def interpolate(self, q0: Numbers, q1: Numbers, t: float | ArrayLike) -> Vector:
        r"""Point at the fraction t of the geodesic from q0 to q1: :math:`q_0 \oplus t\, (q_1 \ominus q_0)`.

        ``t`` is a number, or an array whose axes broadcast against the leading axes of q0 and q1.
        """
        d = self.difference(q0, q1)
        if isinstance(t, int | float):
            return self.integrate(q0, t * d)
        fractions = real_numbers(t, "fraction t of interpolate")[..., None]
        leading_axes(fractions, d, self.name)
        return self.integrate(q0, fractions * d)

    # --- the group ---------------------------------------------------------------------------------------------------

    @final
    def exp(self, v: Numbers) -> Vector:
        """Exponential of v, a point; (..., nv) -> (..., nq)."""
        v = self._read_v(v)
        return self.maps.integrate(self.neutral, v) if v.ndim == 1 else self.batch_maps.integrate(self.neutral, v)

    @final
    def log(self, q: Numbers) -> Vector:
        """Logarithm: the shortest v with exp(v) = q; (..., nq) -> (..., nv)."""
        q = self._read_q(q)
        return self.maps.difference(self.neutral, q) if q.ndim == 1 else self.batch_maps.difference(self.neutral, q)

    @final
    def compose(self, q0: Numbers, q1: Numbers) -> Vector:
        """Product q0 q1 of the group; (..., nq), (..., nq) -> (..., nq)."""
        is_ready = type(q0) is type(q1) is np.ndarray and q0.shape == self._shape_q == q1.shape
        if is_ready and q0.dtype == q1.dtype == FLOAT64:
            try:
                return self.maps.compose(q0, q1)
            except ZeroDivisionError:
                self._refuse_zeros(q0, q1)
                raise
        return self._mapped(self.maps.compose, self.batch_maps.compose, self._read_q(q0), self._read_q(q1))

    @final
    def inverse(self, q: Numbers) -> Vector:
        """Inverse q^-1 in the group; (..., nq) -> (..., nq)."""
        q = self._read_q(q)
        return self.maps.inverse(q) if q.ndim == 1 else self.batch_maps.inverse(q)

    @final
    def adjoint(self, q: Numbers) -> Matrix:
        r"""Adjoint matrix: :math:`q \exp(v) = \exp(\mathrm{Ad}_q v)\, q`; (..., nq) -> (..., nv, nv)."""
        q = self._read_q(q)
        return self.maps.adjoint(q) if q.ndim == 1 else self.batch_maps.adjoint(q)

    @final
    def exp_jacobian(self, v: Numbers) -> Matrix:
        r"""Right Jacobian of exp: :math:`\exp(v + \delta) \approx \exp(v) \exp(J \delta)`; (..., nv, nv)."""
        v = self._read_v(v)
        return self.maps.exp_jacobian(v) if v.ndim == 1 else self.batch_maps.exp_jacobian(v)

    @final
    def log_jacobian(self, v: Numbers) -> Matrix:
        r"""Inverse of the right Jacobian: :math:`\log(\exp(v) \exp(\delta)) \approx v + J \delta`; (..., nv, nv)."""
        v = self._read_v(v)
        return self.maps.log_jacobian(v) if v.ndim == 1 else self.batch_maps.log_jacobian(v)

    @final
    def bracket(self, x: Vector, y: Vector) -> Vector:
        r"""Lie bracket [x, y] (nv,) of two tangent vectors: :math:`d/ds\, Ad_{\exp(s x)}\, y` at s = 0. One vector."""
        self._one_tangent(x, y)
        out = np.zeros(self.nv)
        for leaf in self.leaves():
            if not leaf.space.is_flat:
                out[leaf.v] = leaf.space._bracket(x[leaf.v], y[leaf.v])
        return out

    @final
    def log_second_derivative(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        r"""Second time derivative of :math:`r = \log g` along a motion g(t), (nv,). One vector.

        .. math:: \ddot r = J_{\log}(r)\,\dot\nu + \Big(\frac{d}{dt} J_{\log}(r)\Big)\,\nu,
            \qquad \dot r = J_{\log}(r)\,\nu

        Args:
            r: the logarithm (nv,), inside the injectivity radius.
            velocity: body velocity :math:`\nu` (nv,) of g.
            acceleration: its derivative (nv,).

        Raises:
            SizeError: an argument has another size.
        """
        self._one_tangent(r, velocity, acceleration)
        out = np.array(acceleration)
        for leaf in self.leaves():
            if not leaf.space.is_flat:
                out[leaf.v] = leaf.space._log_second(r[leaf.v], velocity[leaf.v], acceleration[leaf.v])
        return out

    @final
    def relative_motion(
        self, g: Vector, moving: tuple[Vector, Vector], reference: tuple[Vector, Vector]
    ) -> tuple[Vector, Vector]:
        r"""Body velocity of :math:`g = r^{-1} h` and its derivative, from the motions of h and r. One vector.

        .. math:: \nu = \nu_h - Ad_g^{-1}\nu_r, \qquad \dot\nu = \dot\nu_h - Ad_g^{-1}\dot\nu_r + [\nu, Ad_g^{-1}\nu_r]

        Args:
            g: point (nq,).
            moving, reference: body velocity (nv,) and its derivative (nv,) of h, and of r.
        """
        A = self.adjoint(self.inverse(g))
        seen = A @ reference[0]
        velocity = moving[0] - seen
        return velocity, moving[1] - A @ reference[1] + self.bracket(velocity, seen)

    # --- points ------------------------------------------------------------------------------------------------------

    @final
    def check(self, q: ArrayLike, what: str = "configuration", tolerance: float = 1e-6) -> Vector:
        """Check a point given by a user; return it as a float64 array (nq,), the same object if it already is one.

        Args:
            q: anything that numpy reads as nq real numbers.
            what: its name in error messages.
            tolerance: largest accepted difference of a norm from 1 in unit blocks.

        Raises:
            DtypeError: not real numbers.
            SizeError: not nq of them.
            NotFiniteError: NaN or infinity.
            NotNormalizedError: a unit block has another norm.
        """
        ready = is_finite_vector(q, self.nq)
        point = q if ready else finite_vector(q, self.nq, f"{what} of {self.name}", self.layout.hint)
        if self.unit_blocks and not self._has_unit_blocks(point, tolerance):
            refuse_unnormalized(point, self.leaves(), f"{what} of {self.name}", tolerance)
        return point

    @final
    def check_tangent(self, v: TangentLike, what: str = "tangent vector") -> Vector:
        """Check a tangent vector (nv,) given by a user, as `check`; or {factor: its numbers}, the others zero."""
        return v if is_finite_vector(v, self.nv) else tangent_of(v, self.factors, what, self.name, self._no_factor)

    _no_factor: NoFactor = staticmethod(no_factor)

    # --- structure ---------------------------------------------------------------------------------------------------

    @property
    @final
    def factors(self) -> tuple[Factor, ...]:
        """Factors with their places; a single group is its only factor."""
        return self.layout.factors or (Factor(self, slice(0, self.nq), slice(0, self.nv), self.name),)

    @final
    def leaves(self) -> tuple[Factor, ...]:
        """Factors of factors, down to single groups, with places in this space and names joined by dots."""
        return self.layout.leaves() or self.factors

    @final
    def __mul__(self, other: object) -> Space:
        """Product of two spaces: the factors of products follow each other, any other space is one factor."""
        from .product import join  # products are spaces: imported on use

        if isinstance(other, Space):
            return join(self, other)
        if isinstance(other, Number | type):
            raise WrongObjectError(
                f"factor of {self.name}", f"a Space; for copies of one, {self.name} ** n", repr(other)
            )
        return NotImplemented

    __rmul__ = __mul__  # only what is no space comes here, and is refused

    @final
    def __pow__(self, n: int) -> Space:
        """Product of n copies."""
        from .product import power  # products are spaces: imported on use

        return power(self, n)

    @final
    def _refuse_zeros(self, *arrays: Vector) -> None:
        """Name the point whose quaternion, or (cos, sin), is zero, once a map has divided by its norm."""
        for array in arrays:
            if array.shape[-1:] == self._shape_q:
                for point in array.reshape(-1, self.nq):
                    self.check(point)

    @final
    def _mapped(self, one: _Map, many: _Map, a: Vector, b: Vector) -> Vector:
        """The map of one vector, or over leading axes, at arrays that have been read."""
        is_one = a.ndim == b.ndim == 1
        if not is_one:
            leading_axes(a, b, self.name)
        try:
            return one(a, b) if is_one else many(a, b)
        except ZeroDivisionError:
            self._refuse_zeros(a, b)
            raise


def as_space(candidate: object, what: str) -> Space:
    """Take a space from a user.

    Raises:
        WrongObjectError: anything else.
    """
    if isinstance(candidate, Space):
        return candidate
    own = isinstance(getattr(candidate, "space", None), Space)
    number = isinstance(candidate, int) and not isinstance(candidate, bool)
    words = "a Space, its .space" if own else f"a Space, Rn({candidate})" if number else "a Space"
    raise WrongObjectError(what, words, candidate)
