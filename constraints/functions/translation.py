"""Products with a constant element of a group."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from liegroups import Space

from ..arrays import ArrayLike, Matrix, Vector
from ..errors import WrongObjectError
from ..function import Function
from ..point import MovingPoint, Point

__all__ = ["RightTranslation"]


@dataclass(frozen=True, eq=False, repr=False)
class RightTranslation(Function):
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
        """Check the element."""
        if not isinstance(self.space, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError("space of a translation", "a Space", self.space)
        element = np.array(self.space.check(self.element, "element"))
        object.__setattr__(self, "constant", element)
        object.__setattr__(self, "inverse_adjoint", self.space.adjoint(self.space.inverse(element)))
        self.declare(self.space, self.space, name=self.name or None)

    def inverted(self) -> RightTranslation:
        """Product with the inverse element."""
        return RightTranslation(self.space, self.space.inverse(self.constant))

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = self.space.compose(point.q, self.constant)
        if jacobian is not None:
            jacobian[:] = self.inverse_adjoint

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        out[:] = 0.0
