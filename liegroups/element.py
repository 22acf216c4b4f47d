"""`Element`: a point that knows its space, for users; solvers work on arrays."""

from __future__ import annotations

from math import sqrt
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from .arguments import expect
from .arrays import Vector
from .errors import OperatorError, SpaceMismatchError
from .frozen import read_only, set_fields
from .space import Space, as_space


@final
class Element:
    r"""A point of a space: a checked, read-only array and its space.

    ``e + v`` is :math:`q \oplus v`, ``e1 - e0`` the tangent vector :math:`q_1 \ominus q_0 = \log(q_0^{-1} q_1)`, and
    ``a * b`` the product of the group.

    Args:
        q: coordinates (nq,); copied.
        space: its space.

    Raises:
        ConstraintError: a subclass says what is wrong with q (see ``Space.check``) or with the space.

    Example:
        >>> from liegroups import SO3
        >>> turn = Element([0, 0, 0, 1], SO3) + [0, 0, 1.5]
        >>> print((turn * turn).log())
        [0. 0. 3.]
    """

    __slots__ = ("q", "space")

    q: Vector
    space: Space

    def __init__(self, q: ArrayLike, space: Space) -> None:
        point = np.array(as_space(space, "space of an element").check(q, "element"))
        set_fields(self, q=read_only(point), space=space)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: an element is a value."""
        raise AttributeError(f"an Element is immutable: build a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Element, (self.q, self.space)

    def __add__(self, v: ArrayLike) -> Element:
        """Move along the tangent vector v (nv,).

        Raises:
            OperatorError: v is an Element; names their product.
        """
        if isinstance(v, Element):  # pyright: ignore[reportUnnecessaryIsInstance]
            moved = f"a + v moves a along a tangent vector v ({self.space.nv},)"
            raise OperatorError("a + b of two Elements", f"a * b is their product, and {moved}")
        return Element(self.space.integrate(self.q, self.space.check_tangent(v)), self.space)

    def __sub__(self, other: Element) -> Vector:
        """Return the shortest tangent vector v with ``other + v == self``."""
        return self.space.difference(self._same(other).q, self.q)

    def __mul__(self, other: Element) -> Element:
        """Multiply in the group."""
        return Element(self.space.compose(self.q, self._same(other).q), self.space)

    def inverse(self) -> Element:
        """Return the inverse in the group."""
        return Element(self.space.inverse(self.q), self.space)

    def log(self) -> Vector:
        """Return the shortest v with exp(v) equal to this element."""
        return self.space.log(self.q)

    def is_close(self, other: Element, tolerance: float = 1e-9) -> bool:
        """Whether the distance to the other element, the norm of the difference, is at most the tolerance."""
        v: list[float] = (self - other).tolist()
        return sqrt(sum(x * x for x in v)) <= tolerance

    def __eq__(self, other: object) -> bool:
        """Whether both are one point of one space, to 1e-12 (a quaternion and its opposite are one rotation)."""
        if not isinstance(other, Element):
            return NotImplemented
        return self.space == other.space and self.is_close(other, 1e-12)

    __hash__ = None  # equality has a tolerance  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Coordinates and space."""
        return f"Element({np.array2string(self.q, separator=', ')}, {self.space.name})"

    def _same(self, other: Element) -> Element:
        expect(other, Element, f"the other element of {self.space}")
        if self.space != other.space:
            raise SpaceMismatchError("element", self.space, other.space)
        return other
