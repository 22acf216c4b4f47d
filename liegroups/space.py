r"""`Space`, a configuration space that is a Lie group: the one interface of every group and product.

Conventions: quaternions xyzw, twists linear then angular, right perturbation (``q (+) v`` is in the body frame),
Jacobians with respect to tangent vectors, metres and radians. Layouts are those of pinocchio (``docs/conventions.md``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from math import hypot
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Matrix, Vector
from .doors import finite_vector, is_finite_vector, stacked
from .errors import SizeError
from .layout import Atom, Factor, Layout
from .rows import Rows
from .second_order import log_second_by_differences, structure_constants
from .unit_blocks import normalized, refuse_unnormalized, uniform_point

__all__ = ["Space"]


class Space(ABC):
    r"""A configuration space that is a Lie group.

    A point q has nq entries, a tangent vector v has nv, and

    .. math:: q \oplus v = q \exp(v), \qquad q_1 \ominus q_0 = \log(q_0^{-1} q_1).

    Every map takes one vector (``ndim`` 1; plain floats, fast) or vectors stacked along leading axes (numpy, which
    broadcast against each other): two twins behind one method. Maps trust their input to be float arrays and finite;
    sizes are checked, and `check` is the door for everything else. Results are new arrays.

    **To write a space**, call ``super().__init__`` with a `Layout` (``Layout.group(kind, neutral, nv, unit_blocks)``,
    or ``other.layout`` to share the structure of another space) and implement the abstract members: for one vector

    ``_integrate(q, v)``, ``_difference(q0, q1)``, ``_compose(q0, q1)``, ``_inverse(q)``, ``_adjoint(q)``,
    ``_exp_jacobian(v)``, ``_log_jacobian(v)``,

    and ``rows``, the batch gear: ``RowByRow(self)``, or the ``rows`` of a space with the same structure. They receive
    arrays of the right size and return new ones. All the rest is derived here, once, and is final. A space may delegate
    what it does not do faster: ``def _compose(self, q0, q1): return self._joints.compose(q0, q1)``. A subclass that is
    not a `ProductSpace` stays one factor of a product, and keeps its own one-vector maps there.
    ``constraints.testing.check_space`` checks all the laws on any space.

    Attributes:
        nq: size of a configuration.
        nv: size of a tangent vector.
        name: structure in words, as "R3xSO3".
        neutral: neutral element (nq,), read-only.
        atoms: canonical structure, neighbouring R^n merged; equality and hash are those of the atoms.
        vector_q: indices in q of the coordinates of R^n factors, read-only; bounds live there.
        vector_v: indices in v of the same coordinates, read-only.
        unit_blocks: slices of q that have unit norm.
        layout: all of these as one value.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout: Final = layout
        self.nq: Final[int] = layout.neutral.size
        self.nv: Final[int] = layout.nv
        self.name: Final[str] = layout.name
        self.neutral: Final = layout.neutral
        self.atoms: Final[tuple[Atom, ...]] = layout.atoms
        self.vector_q: Final = layout.vector_q
        self.vector_v: Final = layout.vector_v
        self.unit_blocks: Final = layout.unit_blocks
        self._shape_q, self._shape_v = (self.nq,), (self.nv,)
        self._is_flat = all(kind == "R" for kind, _ in layout.atoms)
        self._is_single = not (self._is_flat or layout.factors)
        self._curved = tuple((factor.space, factor.v) for factor in layout.factors if not factor.space.is_flat)

    # --- what a group must implement: one vector, sizes already checked ----------------------------------------------

    @abstractmethod
    def _integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v) (nq,), unit blocks normalised."""

    @abstractmethod
    def _difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1) (nv,), the shortest."""

    @abstractmethod
    def _compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1 (nq,), unit blocks normalised."""

    @abstractmethod
    def _inverse(self, q: Vector) -> Vector:
        """Return q^-1 (nq,)."""

    @abstractmethod
    def _adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q (nv, nv), with q exp(v) = exp(Ad_q v) q."""

    @abstractmethod
    def _exp_jacobian(self, v: Vector) -> Matrix:
        """Return J (nv, nv), with exp(v + dv) = exp(v) exp(J dv) to first order."""

    @abstractmethod
    def _log_jacobian(self, v: Vector) -> Matrix:
        """Return J (nv, nv), with log(exp(v) exp(d)) = v + J d to first order."""

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """The batch gear: the same maps on leading axes."""

    # --- what a group may implement: second order, by differences otherwise -------------------------------------------

    def _bracket(self, x: Vector, y: Vector) -> Vector:
        """Return [x, y] (nv,); by default from differences of the adjoint, to 1e-12."""
        return x.dot(self._constants).dot(y)

    def _log_second(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        """Return the second time derivative of r = log g (nv,); by default from differences of `_log_jacobian`."""
        return log_second_by_differences(self._log_jacobian, r, velocity, acceleration)

    @cached_property
    def _constants(self) -> Matrix:
        """Structure constants (nv, nv, nv), once for a space."""
        return np.moveaxis(structure_constants(self._adjoint, self.exp, self.nv), 0, 1)

    # --- the two ways of moving --------------------------------------------------------------------------------------

    @final
    def integrate(self, q: Vector, v: Vector) -> Vector:
        r"""Move from q along v: :math:`q \oplus v = q \exp(v)`, unit blocks normalised.

        Shapes:
            q (..., nq), v (..., nv) -> (..., nq).

        Raises:
            SizeError: a last axis has the wrong size.
        """
        if q.shape == self._shape_q and v.shape == self._shape_v:
            return self._integrate(q, v)
        return self.rows.integrate(self._stacked_q(q), self._stacked_v(v))

    def integrator(self) -> Callable[[Vector, Vector], Vector]:
        """`integrate` for one q (nq,) and one v (nv,) of the right sizes, for loops; a space may know a shorter way."""
        return self._integrate

    @final
    def difference(self, q0: Vector, q1: Vector) -> Vector:
        r"""Return the shortest v with :math:`q_0 \oplus v = q_1`: :math:`\log(q_0^{-1} q_1)`.

        Shapes:
            q0 (..., nq), q1 (..., nq) -> (..., nv).

        Raises:
            SizeError: a last axis has the wrong size.
        """
        if q0.shape == self._shape_q == q1.shape:
            return self._difference(q0, q1)
        return self.rows.difference(self._stacked_q(q0), self._stacked_q(q1))

    @final
    def integrate_dq(self, q: Vector, v: Vector) -> Matrix:
        r"""Derivative of :math:`q \oplus v` by q: :math:`\mathrm{Ad}_{\exp(v)}^{-1}`, (..., nv, nv)."""
        if q.shape == self._shape_q and v.shape == self._shape_v:
            return self._adjoint(self._integrate(self.neutral, -v))
        q, v = self._stacked_q(q), self._stacked_v(v)
        return _spread(self.rows.adjoint(self.rows.integrate(self.neutral, -v)), q, v)

    @final
    def integrate_dv(self, q: Vector, v: Vector) -> Matrix:
        r"""Derivative of :math:`q \oplus v` by v: the right Jacobian of exp, (..., nv, nv)."""
        if q.shape == self._shape_q and v.shape == self._shape_v:
            return self._exp_jacobian(v)
        q, v = self._stacked_q(q), self._stacked_v(v)
        return _spread(self.rows.exp_jacobian(v), q, v)

    @final
    def difference_dq0(self, q0: Vector, q1: Vector) -> Matrix:
        r"""Derivative of :math:`q_1 \ominus q_0 = d` by q0: :math:`-J_{\log}(-d)`, (..., nv, nv)."""
        return -self.log_jacobian(-self.difference(q0, q1))

    @final
    def difference_dq1(self, q0: Vector, q1: Vector) -> Matrix:
        r"""Derivative of :math:`q_1 \ominus q_0 = d` by q1: :math:`J_{\log}(d)`, (..., nv, nv)."""
        return self.log_jacobian(self.difference(q0, q1))

    @final
    def error(self, q0: Vector, q1: Vector, e: Vector, jacobian: Matrix | None = None) -> None:
        r"""Write :math:`e = q_1 \ominus q_0`, and turn the derivative of q1 into that of e, in place. One vector.

        .. math:: J \leftarrow J_{\log}(e)\, J

        Args:
            q0: reference (nq,).
            q1: value (nq,).
            e: receives the error (nv,).
            jacobian: derivative of q1 in its tangent (nv, n), overwritten by the derivative of e. Rows of plain vectors
                stay as they are.

        Raises:
            SizeError: q0 or q1 has the wrong size.
        """
        if q0.shape != self._shape_q or q1.shape != self._shape_q:
            raise SizeError("points of error(q0, q1, ...)", self._shape_q, f"{q0.shape} and {q1.shape}")
        d = self._difference(q0, q1)
        e[...] = d
        if jacobian is not None:
            if self._is_single:
                jacobian[...] = self._log_jacobian(d).dot(jacobian)
            else:
                self._carry(d, jacobian)

    @final
    def _carry(self, d: Vector, jacobian: Matrix) -> None:
        """Multiply in place by the Jacobian of log at d, group by group."""
        if self._is_single:
            jacobian[...] = self._log_jacobian(d).dot(jacobian)
        for space, block in self._curved:
            space._carry(d[block], jacobian[block])

    @final
    def interpolate(self, q0: Vector, q1: Vector, t: float | Vector) -> Vector:
        r"""Point at the fraction t of the way: :math:`q_0 \oplus t\, (q_1 \ominus q_0)`.

        ``t`` is a number, or an array whose axes broadcast against the leading axes of q0 and q1.
        """
        d = self.difference(q0, q1)
        return self.integrate(q0, t * d if isinstance(t, int | float) else np.asarray(t)[..., None] * d)

    # --- the group ---------------------------------------------------------------------------------------------------

    @final
    def exp(self, v: Vector) -> Vector:
        """Exponential: the point reached from the neutral element along v; (..., nv) -> (..., nq)."""
        if v.shape == self._shape_v:
            return self._integrate(self.neutral, v)
        return self.rows.integrate(self.neutral, self._stacked_v(v))

    @final
    def log(self, q: Vector) -> Vector:
        """Logarithm: the shortest v with exp(v) = q; (..., nq) -> (..., nv)."""
        if q.shape == self._shape_q:
            return self._difference(self.neutral, q)
        return self.rows.difference(self.neutral, self._stacked_q(q))

    @final
    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Product q0 q1 of the group; (..., nq), (..., nq) -> (..., nq)."""
        if q0.shape == self._shape_q == q1.shape:
            return self._compose(q0, q1)
        return self.rows.compose(self._stacked_q(q0), self._stacked_q(q1))

    @final
    def inverse(self, q: Vector) -> Vector:
        """Inverse q^-1 in the group; (..., nq) -> (..., nq)."""
        if q.shape == self._shape_q:
            return self._inverse(q)
        return self.rows.inverse(self._stacked_q(q))

    @final
    def adjoint(self, q: Vector) -> Matrix:
        r"""Adjoint matrix: :math:`q \exp(v) = \exp(\mathrm{Ad}_q v)\, q`; (..., nq) -> (..., nv, nv)."""
        if q.shape == self._shape_q:
            return self._adjoint(q)
        return self.rows.adjoint(self._stacked_q(q))

    @final
    def exp_jacobian(self, v: Vector) -> Matrix:
        r"""Right Jacobian of exp: :math:`\exp(v + \delta) \approx \exp(v) \exp(J \delta)`; (..., nv, nv)."""
        if v.shape == self._shape_v:
            return self._exp_jacobian(v)
        return self.rows.exp_jacobian(self._stacked_v(v))

    @final
    def log_jacobian(self, v: Vector) -> Matrix:
        r"""Inverse of the right Jacobian: :math:`\log(\exp(v) \exp(\delta)) \approx v + J \delta`; (..., nv, nv)."""
        if v.shape == self._shape_v:
            return self._log_jacobian(v)
        return self.rows.log_jacobian(self._stacked_v(v))

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
        r"""Body velocity of :math:`g = r^{-1} h` and its derivative, from those of h and r. One vector.

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
    def normalize(self, q: Vector) -> Vector:
        """Return q with its unit blocks divided by their norms; (..., nq) -> (..., nq).

        Raises:
            NotNormalizedError: a block has norm zero.
        """
        return normalized(self._stacked_q(q), self.unit_blocks)

    @final
    def is_normalized(self, q: Vector, tolerance: float = 1e-6) -> bool:
        """Whether every unit block of one q has norm 1 to within the tolerance."""
        blocks = self.unit_blocks
        if len(blocks) == 1:  # most robots: a free-flyer, or nothing
            return abs(hypot(*q[blocks[0]].tolist()) - 1.0) <= tolerance
        x: list[float] = q.tolist()
        return all([abs(hypot(*x[block]) - 1.0) <= tolerance for block in blocks])

    @final
    def random(
        self,
        rng: np.random.Generator,
        lower: Vector | None = None,
        upper: Vector | None = None,
        size: int | None = None,
    ) -> Vector:
        """Draw points: unit blocks uniformly on their sphere (angles, Haar rotations), plain numbers within bounds.

        Args:
            rng: generator, given by the caller: the result depends on nothing else.
            lower: lower bounds (nq,); -1 stands for an infinite one (or two below an upper bound that is under 1).
            upper: upper bounds (nq,); 1 stands for an infinite one. Entries of unit blocks are ignored.
            size: number of points; one point without leading axis if None.

        Raises:
            SizeError: a bound has the wrong size.
            EmptyIntervalError: a lower bound is above its upper bound.
        """
        return uniform_point(self.nq, self.unit_blocks, rng, lower, upper, size)

    @final
    def check(self, q: ArrayLike, what: str = "configuration", tolerance: float = 1e-6) -> Vector:
        """Take a point from a user: return it as a float64 array (nq,), the same object if it is one already.

        Args:
            q: anything that numpy reads as nq real numbers.
            what: how the error messages name it.
            tolerance: largest accepted distance of a norm to 1 in unit blocks.

        Raises:
            DtypeError: not real numbers.
            SizeError: not nq of them.
            NotFiniteError: NaN or infinity.
            NotNormalizedError: a unit block has another norm.
        """
        ready = is_finite_vector(q, self.nq)
        point = q if ready else finite_vector(q, self.nq, f"{what} of {self.name}", self.layout.hint)
        if self.unit_blocks and not self.is_normalized(point, tolerance):
            refuse_unnormalized(point, self.leaves(), f"{what} of {self.name}", tolerance)
        return point

    @final
    def check_tangent(self, v: ArrayLike, what: str = "tangent vector") -> Vector:
        """Take a tangent vector from a user: return it as a float64 array (nv,); same errors as `check`."""
        return finite_vector(v, self.nv, f"{what} of {self.name}")

    # --- structure ---------------------------------------------------------------------------------------------------

    @property
    @final
    def is_flat(self) -> bool:
        """Whether all factors are R^n, so that points add like vectors."""
        return self._is_flat

    @property
    @final
    def factors(self) -> tuple[Factor, ...]:
        """Factors with their places; a single group is its own only factor."""
        return self.layout.factors or (Factor(self, slice(0, self.nq), slice(0, self.nv), self.name),)

    @final
    def leaves(self) -> tuple[Factor, ...]:
        """Factors of factors, down to single groups, with places in this space and names joined by dots."""
        if not self.layout.factors:
            return self.factors
        found: list[Factor] = []
        for factor in self.layout.factors:
            is_group = not factor.space.layout.factors
            found += [factor] if is_group else [leaf.within(factor) for leaf in factor.space.leaves()]
        return tuple(found)

    @final
    def __mul__(self, other: object) -> Space:
        """Product of two spaces: the factors of products follow each other, any other space is one factor."""
        from .product import join  # products are spaces: imported on use

        return join(self, other) if isinstance(other, Space) else NotImplemented

    @final
    def __pow__(self, n: int) -> Space:
        """Product of n copies."""
        from .product import power  # products are spaces: imported on use

        return power(self, n)

    @final
    def __eq__(self, other: object) -> bool:
        """Whether the structures (atoms) are equal."""
        return self is other or (isinstance(other, Space) and self.atoms == other.atoms)

    @final
    def __hash__(self) -> int:
        """Hash of the structure."""
        return hash(self.atoms)

    @final
    def __repr__(self) -> str:
        """Name of the space."""
        return self.name

    @final
    def _one_tangent(self, *vectors: Vector) -> None:
        for v in vectors:
            if v.shape != self._shape_v:
                raise SizeError(f"tangent vector of {self.name}", self.nv, v.shape)

    @final
    def _stacked_q(self, q: ArrayLike) -> Vector:
        return stacked(q, self.nq, f"configuration of {self.name}")

    @final
    def _stacked_v(self, v: ArrayLike) -> Vector:
        return stacked(v, self.nv, f"tangent vector of {self.name}")


def _spread(matrices: Matrix, q: Vector, v: Vector) -> Matrix:
    """Repeat matrices along the leading axes that q has and v has not."""
    axes = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    return np.array(np.broadcast_to(matrices, axes + matrices.shape[-2:]))
