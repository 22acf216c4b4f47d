"""Any Python function as a differentiable function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from liegroups import Space

from ..arrays import ArrayLike, BoolVector, Matrix, Vector
from ..errors import SizeError, WrongObjectError
from ..function import Function
from ..point import Point

__all__ = ["FromCallable"]


@dataclass(frozen=True, eq=False, repr=False)
class FromCallable(Function):
    r"""A Python function of a configuration, with its Jacobian or with central differences.

    .. math:: J e_i \approx \frac{f(q \oplus h e_i) \ominus f(q \oplus -h e_i)}{2h}

    along the manifold, with h = 1e-6 (about 1e-9 accurate for well scaled functions). Pickles when the callables do.

    Args:
        f: takes q (inputs.nq,) and returns the value, (outputs.nq,) or a number.
        inputs, outputs: the two spaces.
        jac: takes q and returns (outputs.nv, inputs.nv) in tangent coordinates.
        used: (inputs.nv,) the columns it depends on, all by default.
        label: name in messages; the function's own by default.

    Raises:
        SizeError: when the callable returns something of another size.
    """

    f: Callable[[Vector], ArrayLike]
    inputs: Space
    outputs: Space
    jac: Callable[[Vector], ArrayLike] | None = None
    used: ArrayLike | None = field(default=None)
    label: str | None = None

    def __post_init__(self) -> None:
        """Declare it."""
        if not callable(self.f):
            raise WrongObjectError("function", "a callable of a configuration", self.f)
        for what in ("inputs", "outputs"):
            space: object = getattr(self, what)
            if not isinstance(space, Space):
                raise WrongObjectError(what, "a Space", space)
        used: BoolVector | None = None if self.used is None else np.array(self.used, dtype=np.bool_)
        name = self.label or getattr(self.f, "__name__", type(self.f).__name__)
        self.declare(self.inputs, self.outputs, used, name=name)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        q = point.q
        value[:] = self._call(q)
        if jacobian is None:
            return
        if self.jac is not None:
            J = np.asarray(self.jac(q.copy()), dtype=np.float64)
            shape = (self.outputs.nv, self.inputs.nv)
            if J.shape != shape and J.size != self.outputs.nv * self.inputs.nv:
                raise SizeError(f"Jacobian of {self.name}", shape, J.shape)
            jacobian[:, self.columns] = J.reshape(shape)[:, self.columns]
            return
        h = 1e-6
        for i in np.flatnonzero(self.columns):
            step = np.zeros(self.inputs.nv)
            step[i] = h
            behind, ahead = self._call(self.inputs.integrate(q, -step)), self._call(self.inputs.integrate(q, step))
            jacobian[:, i] = self.outputs.difference(behind, ahead) / (2.0 * h)

    def _call(self, q: Vector) -> Vector:
        value = np.asarray(self.f(q.copy()), dtype=np.float64)  # a copy: the user's function cannot spoil the point
        if value.size != self.outputs.nq:
            raise SizeError(f"value of {self.name}", (self.outputs.nq,), value.shape)
        return value.reshape(-1)
