"""What a space is made of: sizes, names, coordinates, maps, and which arrays are points and tangent vectors of it."""

from __future__ import annotations

from functools import cached_property, partial
from math import hypot
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from .arguments import expect, one_vector, stacked
from .arrays import FLOAT64, Matrix, Numbers, Vector
from .errors import SizeError
from .formulas.batch_maps import BatchMaps
from .formulas.group_maps import GroupMaps
from .formulas.looped_maps import LoopedMaps
from .formulas.second_order import log_second_by_differences, structure_constants
from .layout import Atom, Layout
from .unit_blocks import UniformPoints, normalized


class Structure:
    """A space as a set of arrays: its layout, its maps, its points, and the reading of what users give.

    Args:
        layout: its structure; its fields are attributes here (see `Space`).
        maps: its functions, for one vector.
        batch_maps: the same over leading axes; by default a loop that calls `maps` for one vector after the other.

    Raises:
        WrongObjectError: an argument is of another kind.
    """

    def __init__(self, layout: Layout, maps: GroupMaps, batch_maps: BatchMaps | None = None) -> None:
        self.layout: Final = expect(layout, Layout, "layout of a space", "a Layout, Layout.group(...)")
        self.maps: Final = expect(maps, GroupMaps, f"maps of {layout.name}", "GroupMaps")
        over_axes = LoopedMaps(maps, layout.neutral.size, layout.nv) if batch_maps is None else batch_maps
        self.batch_maps: Final = expect(over_axes, BatchMaps, f"batch maps of {layout.name}", "BatchMaps")
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

    # --- second order of one group ------------------------------------------------------------------------------------

    def _bracket(self, x: Vector, y: Vector) -> Vector:
        """Bracket of one group, by its own function or by differences."""
        bracket = self.maps.bracket
        return x.dot(self._constants).dot(y) if bracket is None else bracket(x, y)

    def _log_second(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        """Second derivative of the logarithm of one group, by its own function or by differences."""
        log_second = self.maps.log_second
        if log_second is None:
            return log_second_by_differences(self.maps.log_jacobian, r, velocity, acceleration)
        return log_second(r, velocity, acceleration)

    @cached_property
    def _constants(self) -> Matrix:
        """Structure constants (nv, nv, nv), once for a space."""
        exp = partial(self.maps.integrate, self.neutral)
        return np.moveaxis(structure_constants(self.maps.adjoint, exp, self.nv), 0, 1)

    # --- points ------------------------------------------------------------------------------------------------------

    @final
    def normalize(self, q: Numbers) -> Vector:
        """Return q with its unit blocks divided by their norms; (..., nq) -> (..., nq).

        Raises:
            NotNormalizedError: a block has norm zero.
        """
        return normalized(self._read_q(q), self.unit_blocks)

    @final
    def is_normalized(self, q: Numbers, tolerance: float = 1e-6) -> bool:
        """Whether every unit block of one q has norm 1 to within the tolerance."""
        if type(q) is not np.ndarray or q.shape != self._shape_q:
            q = one_vector(self._read_q(q), "point of is_normalized")
        return self._has_unit_blocks(q, tolerance)

    @final
    def _has_unit_blocks(self, q: Vector, tolerance: float) -> bool:
        """The same of a vector (nq,) that has been read."""
        blocks = self.unit_blocks
        if len(blocks) == 1:  # most robots: a free-flyer, or nothing
            return abs(hypot(*q[blocks[0]].tolist()) - 1.0) <= tolerance
        x: list[float] = q.tolist()
        return all([abs(hypot(*x[block]) - 1.0) <= tolerance for block in blocks])

    @final
    def random(
        self,
        rng: np.random.Generator,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
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
            DtypeError, WrongObjectError: bounds that are no numbers, a generator or a size that is none.
        """
        return UniformPoints(self.nq, self.unit_blocks, lower, upper).draw(rng, size)

    @property
    @final
    def is_flat(self) -> bool:
        """Whether all factors are R^n, so that points add like vectors."""
        return self._is_flat

    @final
    def __eq__(self, other: object) -> bool:
        """Whether the structures (atoms) are equal."""
        return self is other or (isinstance(other, Structure) and self.atoms == other.atoms)

    @final
    def __hash__(self) -> int:
        """Hash of the structure."""
        return hash(self.atoms)

    @final
    def __repr__(self) -> str:
        """Name of the space."""
        return self.name

    # --- reading -----------------------------------------------------------------------------------------------------

    @final
    def _read_q(self, q: Numbers) -> Vector:
        """Points (..., nq) as float64."""
        if type(q) is np.ndarray and q.shape == self._shape_q and q.dtype == FLOAT64:
            return q
        return stacked(q, self.nq, f"configuration of {self.name}", self.layout.hint)

    @final
    def _read_v(self, v: Numbers) -> Vector:
        """Tangent vectors (..., nv) as float64."""
        if type(v) is np.ndarray and v.shape == self._shape_v and v.dtype == FLOAT64:
            return v
        return stacked(v, self.nv, f"tangent vector of {self.name}")

    @final
    def _one_tangent(self, *vectors: Vector) -> None:
        for v in vectors:
            if v.shape != self._shape_v:
                raise SizeError(f"tangent vector of {self.name}", self.nv, v.shape)
