"""Some rows of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from liegroups import Segments
from liegroups.arguments import integers
from liegroups.arrays import Matrix
from liegroups.frozen import set_fields

from ..point import part_vector
from ..words import bracketed
from ..workspace import Workspace
from .combined import Combined
from .enclosures.box import Enclosure, TangentBox
from .expressions.jets import Jet, linear
from .function import Function, as_function


@dataclass(frozen=True, eq=False, repr=False)
class Restriction(Combined):
    r"""Some rows of the value of a function: coordinates of vectors, rotations and poses as a whole.

    .. math:: h(q) = (f_i(q))_{i \in rows}, \quad J = (J_i)_{i \in rows}

    Args:
        function: the function.
        rows: Segments of its outputs, or tangent row numbers.

    Shapes:
        value (len of the rows in q,), jacobian (number of rows, inputs.nv).

    Raises:
        OverlapError, SizeError: rows that cut a rotation in two, or do not exist.

    Source: masks of the functions of hpp-constraints.
    """

    function: Function
    rows: Segments | Sequence[int]

    _rows: Segments = field(init=False)

    def __post_init__(self) -> None:
        f = as_function(self.function, "function of a restriction")
        rows = self.rows
        if not isinstance(rows, Segments):
            rows = Segments.coordinates(f.outputs, integers(rows, f"rows of {f.name}", "Segments, or row numbers"))
        set_fields(self, rows=rows, _rows=rows)
        name = f"{bracketed(f.name)}[{', '.join(map(str, rows.v))}]"
        self.declare_of((f,), f.inputs, rows.space, name)

    is_linear = True

    @property
    def operands(self) -> tuple[Function, ...]:
        return (self.function,)

    def combine(self, jets: Sequence[Jet], workspace: Workspace) -> Jet:
        """Rows of all."""
        rows = self._rows
        return linear(part_vector(jets[0].value, rows.q_slice, rows.q_indices), jets, self._taken)

    def enclose(self, parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
        """Rows of all."""
        (whole,), v = parts, self._rows.v_indices
        value, rounding = whole.value[..., self._rows.q_indices], whole.rounding[..., v]
        jacobian = whole.jacobian[..., v, :]
        return Enclosure(value, rounding, jacobian, lambda: whole.error[..., v], lambda: whole.bend.rows(v))

    def _taken(self, whole: Matrix) -> Matrix:
        return part_vector(whole, self._rows.v_slice, self._rows.v_indices)
