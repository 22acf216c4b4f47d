"""What a cost makes of a residual: a number, with gradient and curvature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arguments import expect, finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import set_fields

from ..errors import OptionError, SizeError


class Activation(ABC):
    """A function of a residual r (n,), a sum over its entries: its second derivative is diagonal."""

    @abstractmethod
    def value(self, r: Vector) -> float:
        """a(r)."""

    @abstractmethod
    def gradient(self, r: Vector) -> Vector:
        """a'(r) (n,)."""

    @abstractmethod
    def curvature(self, r: Vector) -> Vector:
        """Diagonal of a''(r) (n,)."""

    def check(self, size: int, what: str) -> None:
        """Refuse a residual of another size. Raises SizeError."""
        del size, what


@final
@dataclass(frozen=True, eq=False)
class Quadratic(Activation):
    r""":math:`a(r) = \tfrac12 \sum_i w_i r_i^2`.

    Args:
        weights: w (n,), not negative; ones by default.

    Raises:
        OptionError: a negative weight.
    """

    weights: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check the weights."""
        if self.weights is not None:
            w = np.array(real_numbers(self.weights, "weights of an activation", finite=True)).reshape(-1)
            if (w < 0.0).any():
                raise OptionError(f"weights of an activation: expected no negative weights, got {w.min():g}")
            set_fields(self, weights=w)

    def check(self, size: int, what: str) -> None:
        """As `Activation.check`."""
        if self.weights is not None and np.size(self.weights) != size:
            raise SizeError(f"weights of {what}", size, np.size(self.weights))

    def _scaled(self, r: Vector) -> Vector:
        return r if self.weights is None else np.asarray(self.weights) * r

    def value(self, r: Vector) -> float:
        """As `Activation.value`."""
        return 0.5 * float(r @ self._scaled(r))

    def gradient(self, r: Vector) -> Vector:
        """As `Activation.gradient`."""
        return self._scaled(r)

    def curvature(self, r: Vector) -> Vector:
        """As `Activation.curvature`."""
        return self._scaled(np.ones_like(r))


@final
@dataclass(frozen=True, eq=False)
class QuadraticBarrier(Activation):
    r"""Half the squared distance of each entry to its bounds; zero inside.

    Args:
        lower, upper: (n,); infinite where there is no bound.

    Raises:
        OptionError: a lower bound above the upper one.
    """

    lower: ArrayLike
    upper: ArrayLike

    def __post_init__(self) -> None:
        """Check the bounds."""
        a, b = (np.array(real_numbers(x, "bounds of an activation")).reshape(-1) for x in (self.lower, self.upper))
        if a.shape != b.shape:
            raise SizeError("upper bounds of an activation", a.size, b.size)
        if not (a <= b).all():
            raise OptionError("bounds of an activation: expected lower bounds that are not above the upper ones")
        set_fields(self, lower=a, upper=b)

    def check(self, size: int, what: str) -> None:
        """As `Activation.check`."""
        if np.size(self.lower) != size:
            raise SizeError(f"bounds of {what}", size, np.size(self.lower))

    def gradient(self, r: Vector) -> Vector:
        """As `Activation.gradient`: how far outside."""
        return np.minimum(r - np.asarray(self.lower), 0.0) + np.maximum(r - np.asarray(self.upper), 0.0)

    def value(self, r: Vector) -> float:
        """As `Activation.value`."""
        out = self.gradient(r)
        return 0.5 * float(out @ out)

    def curvature(self, r: Vector) -> Vector:
        """As `Activation.curvature`."""
        return ((r < np.asarray(self.lower)) | (r > np.asarray(self.upper))).astype(np.float64)


def as_activation(activation: object, size: int, what: str) -> Activation:
    """An activation that fits a residual of that size; weights alone make a quadratic one."""
    if activation is None:
        return Quadratic()
    if not isinstance(activation, Activation):
        weights = finite_vector(activation, size, f"weights of {what}")  # pyright: ignore[reportArgumentType]
        return Quadratic(weights)
    found = expect(activation, Activation, f"activation of {what}")
    found.check(size, what)
    return found
