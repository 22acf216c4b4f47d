"""Boxes of configurations, and what is known of a function on one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import finite_vector, real_numbers, stacked
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields
from liegroups.space import as_space

from ...errors import OptionError, SizeError, SpaceMismatchError
from .group_bounds import walked
from .interval import Interval, applied, lengths, rounded_up

Shared = TypeVar("Shared")
Method = TypeVar("Method", bound=Callable[..., Any])


def of_many(enclosure: Method) -> Method:
    """Mark a `Function.enclosure` that takes several boxes as one, with their leading axis."""
    enclosure.of_many = True  # pyright: ignore[reportFunctionMemberAccess]
    return enclosure


@final
@dataclass(frozen=True, eq=False)
class TangentBox:
    r"""All configurations near one: :math:`c \oplus v` with :math:`|v_k| \le r_k`.

    A joint angle is in an interval, a rotation within a bound of its rotation vector from that of c. Unit vectors of c
    are taken as normalised without any rounding. Several boxes may be one object: then `q`, `r` and all that is
    enclosed on them have a leading axis.

    Args:
        space: of the configurations.
        center: c (nq,), or (boxes, nq).
        radius: r (nv,), finite and not negative [m, rad]; a number stands for all.
        ball: (nv,) semiaxes b of an ellipsoid, where v is known to be u + w with :math:`|u_k| \le r_k - b_k` and
            :math:`\sum (w_k / b_k)^2 \le 1`: sums over many columns are less then. Where r is less than b, u is zero.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with an argument.
        OptionError: a negative radius.
    """

    space: Space
    center: ArrayLike
    radius: ArrayLike
    ball: Vector | None = None

    q: Vector = field(init=False)
    r: Vector = field(init=False)
    core: Vector = field(init=False)
    _shared: dict[Any, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        space = as_space(self.space, "space of a box")
        center = real_numbers(self.center, "center of a box")
        if center.ndim == 2:
            q = np.array(stacked(real_numbers(center, "centers of boxes", finite=True), space.nq, "centers of boxes"))
            for block in space.unit_blocks:
                off = np.abs(lengths(q[:, block]) - 1.0)
                for i in np.flatnonzero(off > 1e-6).tolist():
                    space.check(q[i], f"row {i} of centers of boxes")
                q[off > 1e-15] = space.normalize(q[off > 1e-15])
            r, shape = real_numbers(self.radius, "radius of boxes", finite=True), (len(q), space.nv)
            try:
                r = np.array(np.broadcast_to(r, shape))
            except ValueError:
                raise SizeError("radius of boxes", shape, r.shape) from None
        else:
            q = np.array(space.check(center, "center of a box"))
            if space.unit_blocks and not space.is_normalized(q, 1e-15):
                q = space.normalize(q)
            radius = real_numbers(self.radius, "radius of a box")
            r = np.full(space.nv, float(radius)) if radius.ndim == 0 else radius
            r = np.array(finite_vector(r, space.nv, "radius of a box"))
        if (r < 0.0).any():
            raise OptionError(f"radius of a box: expected numbers of at least 0, got {float(r.min()):g}")
        core: Vector = r if self.ball is None else np.asarray(rounded_up(r - self.ball) * (r > self.ball))
        set_fields(self, center=read_only(q), radius=read_only(r), q=q, r=r, core=core, _shared={})

    @property
    def leading(self) -> tuple[int, ...]:
        """Of its arrays: (boxes,), or () of one box."""
        return self.q.shape[:-1]

    def some(self, which: Any) -> TangentBox:
        """Of several: those of some numbers, or one of them."""
        ball = None if self.ball is None else self.ball[which]
        return TangentBox(self.space, self.q[which], self.r[which], ball)

    @cached_property
    def each(self) -> list[TangentBox]:
        """Of several: one by one."""
        return [self.some(i) for i in range(len(self.q))]

    def part(self, block: Segments) -> TangentBox:
        """What it is on one block of its space."""
        v, ball = block.v_indices, self.ball
        return TangentBox(
            block.space, self.q[..., block.q_indices], self.r[..., v], None if ball is None else ball[..., v]
        )

    def moved(self, rates: Matrix) -> Vector:
        """The most that `rates` (n, nv), not negative, times the sizes of v may be (n,)."""
        if self.ball is None:
            return applied(rates, self.r)
        along = rates * self.ball[..., None, :]
        by_parts = applied(rates, self.core) + np.sqrt((along * along).sum(axis=-1))
        return np.minimum(applied(rates, self.r), by_parts)

    def on(self, space: Space, name: str) -> TangentBox:
        """Itself, where it is one of this space.

        Raises:
            SpaceMismatchError: it is of another one; names the function that was asked.
        """
        if self.space is not space and self.space != space:
            raise SpaceMismatchError(f"box for {name}", space.name, self.space.name)
        return self

    def shared(self, key: object, make: Callable[[], Shared]) -> Shared:
        """What several functions need at this box, made once."""
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]


class Bend(NamedTuple):
    r"""How a Jacobian changes on a box around c, to second order.

    .. math:: J_{ik}(c \oplus v) \in [J_0]_{ik} + \sum_j [H]_{ikj}\, v_j \quad \text{for all } |v| \le r

    By the mean value theorem along :math:`c \exp(t v)`, whose body velocity is v: H has what each column k changes by
    with each direction j of the body, anywhere on the box.

    Attributes:
        straight: :math:`[J_0]` (nv, inputs.nv).
        slopes: [H] (nv, inputs.nv, inputs.nv).
    """

    straight: Interval
    slopes: Interval

    def rows(self, chosen: Any) -> Bend:
        """Of some rows of J."""
        every = np.arange(self.straight.shape[-2])
        if np.array_equal(every[chosen], every):
            return self
        return Bend(self.straight[..., chosen, :], self.slopes[..., chosen, :, :])

    @staticmethod
    def joined(parts: Sequence[Bend]) -> Bend:
        """Of matrices one under the other."""
        if len(parts) == 1:
            return parts[0]
        straight, slopes = zip(*parts, strict=True)
        return Bend(Interval.joined(straight, -2), Interval.joined(slopes, -3))

    def through(self, A: Interval) -> Bend:
        """Of A J, A (m, nv) a matrix that is the same on the whole box."""
        *leading, n, k, j = self.slopes.shape
        turned = A @ self.slopes.reshaped(*leading, n, k * j)
        return Bend(A @ self.straight, turned.reshaped(*leading, -1, k, j))


@final
@dataclass(frozen=True, eq=False)
class Enclosure:
    r"""What is proved of a function on a box.

    .. math:: f(c) = f_0 \oplus e,\; |e| \le \varepsilon, \qquad
        f(q) = f_0 \oplus d,\; |d| \le \delta, \qquad J(q) \in [J] \quad \text{for all } q \text{ in the box}

    Attributes:
        value: :math:`f_0` (nq,) of the outputs.
        rounding: :math:`\varepsilon` (nv,): how far the value at the centre may be from it, by rounding.
        jacobian: [J] (nv, inputs.nv).
        error_of: gives :math:`\delta` (nv,), `error`, when somebody asks.
        bend_of: gives `bend`, where a function knows more of its Jacobian than [J].
    """

    value: Vector
    rounding: Vector
    jacobian: Interval
    error_of: Callable[[], Vector]
    bend_of: Callable[[], Bend] | None = None

    @cached_property
    def bend(self) -> Bend:
        """How the Jacobian changes on the box; where nothing more is known, [J] without slopes."""
        if self.bend_of is not None:
            return self.bend_of()
        return Bend(self.jacobian, Interval.of(np.zeros((*self.jacobian.shape, self.jacobian.shape[-1]))))

    @cached_property
    def error(self) -> Vector:
        r""":math:`\delta` (nv,)."""
        return self.error_of()

    @staticmethod
    def centred(
        outputs: Space,
        box: TangentBox,
        value: ArrayLike,
        rounding: ArrayLike,
        jacobian: Interval,
        bend_of: Callable[[], Bend] | None = None,
    ) -> Enclosure:
        r"""By the mean value theorem: :math:`|d| \le \varepsilon + |J|\, r`.

        Along :math:`c \exp(t v)` the body velocity of the value is :math:`J(q_t)\, v`; for values in a group the
        logarithm of where it leads is bounded by `walked`.

        Args:
            outputs: space of the value.
            box: the box.
            value: as computed, at the centre.
            rounding: bound of its error (outputs.nv,).
            jacobian: an enclosure of it on the box.
            bend_of: as of the result.
        """
        leading = box.leading
        small = np.broadcast_to(np.asarray(rounding, dtype=np.float64), (*leading, outputs.nv))
        J = jacobian.spread(*leading, outputs.nv, box.space.nv)

        def error() -> Vector:
            return walked(outputs, rounded_up(small + box.moved(J.magnitude)))

        at = np.broadcast_to(np.asarray(value, dtype=np.float64), (*leading, outputs.nq))
        return Enclosure(at, small, J, error, bend_of)

    @staticmethod
    def each(parts: Sequence[Enclosure]) -> Enclosure:
        """Of one function on several boxes, from those on each of them."""

        def bend() -> Bend:
            straight, slopes = zip(*(part.bend for part in parts), strict=True)
            return Bend(Interval.each(straight), Interval.each(slopes))

        value, rounding = (np.stack([getattr(part, name) for part in parts]) for name in ("value", "rounding"))
        jacobian = Interval.each([part.jacobian for part in parts])
        return Enclosure(value, rounding, jacobian, lambda: np.stack([part.error for part in parts]), bend)

    @property
    def at_center(self) -> Interval:
        """Of values in R^n: the value at the centre."""
        return Interval.around(self.value, self.rounding)

    @property
    def over_box(self) -> Interval:
        """Of values in R^n: all values on the box."""
        return Interval.around(self.value, self.error)
