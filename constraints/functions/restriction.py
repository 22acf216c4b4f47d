"""Some rows of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from liegroups import Segments
from liegroups.arguments import integers
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ..point import MovingPoint, Point
from .function import Function, as_function


@dataclass(frozen=True, eq=False, repr=False)
class Restriction(Function):
    """Some rows of the value of a function: coordinates of vectors, rotations and poses as a whole.

    Args:
        function: the function.
        rows: Segments of its outputs, or tangent row numbers.

    Shapes:
        value (len of the rows in q,), jacobian (number of rows, inputs.nv).

    Raises:
        OverlapError, SizeError: rows that cut a rotation in two, or do not exist.
    """

    function: Function
    rows: Segments | Sequence[int]

    _rows: Segments = field(init=False)

    def __post_init__(self) -> None:
        """Turn row numbers into a block of the outputs."""
        f = as_function(self.function, "function of a restriction")
        rows = self.rows
        if not isinstance(rows, Segments):
            rows = Segments.coordinates(f.outputs, integers(rows, f"rows of {f.name}", "Segments, or row numbers"))
        set_fields(self, rows=rows, _rows=rows)
        self.declare(
            f.inputs, rows.space, f.columns, periodic=f.periodic, name=f"{f.name}[{', '.join(map(str, rows.v))}]"
        )

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        f, rows = self.function, self._rows
        whole = point.scratch(self, "value", (f.outputs.nq,))
        if jacobian is None:
            f.evaluate(point, whole)
        else:
            J = point.scratch(self, "jacobian", (f.outputs.nv, f.inputs.nv))
            f.evaluate(point, whole, J)
            jacobian[:] = J[rows.v_indices]
        value[:] = whole[rows.q_indices]

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        whole = motion.point.scratch(self, "drift", (self.function.outputs.nv,))
        self.function.drift(motion, whole)
        out[:] = whole[self._rows.v_indices]

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        by_q, by_v = np.zeros((2, self.function.outputs.nv, self.inputs.nv))
        self.function.drift_derivatives(motion, a, by_q, by_v)
        dq[:], dv[:] = by_q[self._rows.v_indices], by_v[self._rows.v_indices]

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        whole = np.zeros(self.function.outputs.nv)
        whole[self._rows.v_indices] = y
        self.function.force_derivative(point, whole, out)
