"""Where things are in a configuration: sizes, names, factors, unit blocks and coordinates that are plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arguments import refuse_repeated
from .arrays import Indices, Matrix, Vector
from .frozen import read_only

if TYPE_CHECKING:
    from .space import Space

Atom: TypeAlias = tuple[str, int]
"""Kind and size of one group: ("R", n) for R^n, (name, 1) for any other."""


@dataclass(frozen=True)
class Factor:
    """One factor of a product: a group and its place.

    Attributes:
        space: the group of the factor.
        q: its slice of the configuration.
        v: its slice of the tangent vector.
        name: its name, unique in the product.
    """

    space: Space
    q: slice
    v: slice
    name: str

    def __hash__(self) -> int:
        """Hash by value; slices have none of their own before Python 3.12."""
        return hash((self.space, self.q.start, self.q.stop, self.v.start, self.v.stop, self.name))

    def within(self, outer: Factor) -> Factor:
        """Return the same factor with its places in a bigger space that has its product as a factor."""
        q, v = outer.q.start, outer.v.start
        at_q, at_v = slice(self.q.start + q, self.q.stop + q), slice(self.v.start + v, self.v.stop + v)
        return Factor(self.space, at_q, at_v, f"{outer.name}.{self.name}")


@dataclass(frozen=True, eq=False)
class Layout:
    """Structure of a `Space`, as data. Build it with `group`, `vector` or `product`.

    Attributes:
        atoms: canonical structure, neighbouring R^n merged; two spaces are equal when their atoms are.
        neutral: neutral element (nq,), read-only.
        nv: size of a tangent vector.
        unit_blocks: slices of q that have unit norm.
        vector_q: indices of the coordinates of R^n factors in q, read-only.
        vector_v: the same coordinates in v, read-only.
        factors: factors of a product; empty for a single group.
        order: meaning of the numbers of a single group, in words, if there are more of them than dimensions.
    """

    atoms: tuple[Atom, ...]
    neutral: Vector
    nv: int
    unit_blocks: tuple[slice, ...]
    vector_q: Indices
    vector_v: Indices
    factors: tuple[Factor, ...] = ()
    order: str = ""

    def __post_init__(self) -> None:
        for array in (self.neutral, self.vector_q, self.vector_v):
            read_only(array)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild by the constructor, so that arrays are read-only again."""
        values = (self.atoms, self.neutral, self.nv, self.unit_blocks, self.vector_q, self.vector_v)
        return Layout, (*values, self.factors, self.order)

    @staticmethod
    def group(kind: str, neutral: ArrayLike, nv: int, unit_blocks: Sequence[slice] = (), order: str = "") -> Layout:
        """Layout of a single group that is not R^n.

        Args:
            kind: its name, which identifies its structure: two groups of the same kind are equal.
            neutral: its neutral element (nq,).
            nv: its dimension.
            unit_blocks: slices of q that must have unit norm; all other entries are plain numbers.
            order: meaning of the numbers of q, in words, for messages about sizes ("the quaternion xyzw").
        """
        start = np.array(neutral, dtype=np.float64)
        nothing = np.zeros(0, dtype=np.intp)
        return Layout(((kind, 1),), start, nv, tuple(unit_blocks), nothing, nothing.copy(), order=order)

    @staticmethod
    def vector(n: int) -> Layout:
        """Layout of R^n."""
        atoms: tuple[Atom, ...] = (("R", n),) if n else ()
        return Layout(atoms, np.zeros(n), n, (), np.arange(n), np.arange(n))

    @staticmethod
    def product(spaces: Sequence[Space], names: Sequence[str] | None = None) -> Layout:
        """Layout of the product of spaces, each of which becomes one factor.

        Args:
            spaces: the factors, in order.
            names: their names, all different; derived from the names of the spaces by default.

        Raises:
            DuplicateNameError: two factors have the same name.
        """
        labels = _distinct([space.name for space in spaces]) if names is None else list(names)
        refuse_repeated(labels, "factor")
        q = v = 0
        atoms: list[Atom] = []
        factors: list[Factor] = []
        blocks: list[slice] = []
        neutral: list[float] = []
        vector_q: list[int] = []
        vector_v: list[int] = []
        for space, label in zip(spaces, labels, strict=True):
            factors.append(Factor(space, slice(q, q + space.nq), slice(v, v + space.nv), label))
            blocks += [slice(block.start + q, block.stop + q) for block in space.unit_blocks]
            neutral += space.neutral.tolist()
            vector_q += (space.vector_q + q).tolist()
            vector_v += (space.vector_v + v).tolist()
            for kind, size in space.atoms:
                if kind == "R" and atoms and atoms[-1][0] == "R":
                    atoms[-1] = ("R", atoms[-1][1] + size)
                else:
                    atoms.append((kind, size))
            q, v = q + space.nq, v + space.nv
        return Layout(
            tuple(atoms),
            np.array(neutral, dtype=np.float64),
            v,
            tuple(blocks),
            np.array(vector_q, dtype=np.intp),
            np.array(vector_v, dtype=np.intp),
            tuple(factors),
        )

    def leaves(self) -> tuple[Factor, ...]:
        """Factors of factors, down to single groups, with places in this layout and names joined by dots."""
        return self._leaves

    @cached_property
    def unit_columns(self) -> Matrix:
        """Ones (nq, blocks) where an entry is part of a unit block: squares of q times these are squared norms."""
        columns = np.zeros((self.neutral.size, len(self.unit_blocks)))
        for k, block in enumerate(self.unit_blocks):
            columns[block, k] = 1.0
        return columns

    @cached_property
    def _leaves(self) -> tuple[Factor, ...]:
        found: list[Factor] = []
        for factor in self.factors:
            inner = factor.space.layout.leaves()
            found += [leaf.within(factor) for leaf in inner] if inner else [factor]
        return tuple(found)

    @cached_property
    def hint(self) -> str:
        """For messages about sizes: meaning of the numbers of a group, or factors with more numbers in q than in v.

        Empty if q and v have the same size.
        """
        if not self.factors:
            return self.order
        wide = [f"'{f.name}' takes {f.space.nq} numbers" for f in self.factors if f.space.nq != f.space.nv]
        return f"{', '.join(wide[:4])}{', ...' if len(wide) > 4 else ''}" if wide else ""

    @property
    def name(self) -> str:
        """Name derived from the atoms: ``R3xSO3``, ``SO3^2xR7``; ``R0`` for the empty product."""
        parts: list[str] = []
        i = 0
        while i < len(self.atoms):
            kind, size = self.atoms[i]
            count = 1
            while self.atoms[i + count : i + count + 1] == ((kind, size),):
                count += 1
            label = f"R{size}" if kind == "R" else kind
            parts.append(label if count == 1 else f"{label}^{count}")
            i += count
        return "x".join(parts) or "R0"


def _distinct(names: Sequence[str]) -> list[str]:
    """Number the names that occur more than once: SO3, SO3 becomes SO3[0], SO3[1]."""
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        if names.count(name) == 1:
            result.append(name)
            continue
        index = seen.get(name, 0)
        while f"{name}[{index}]" in names or f"{name}[{index}]" in result:
            index += 1
        seen[name] = index + 1
        result.append(f"{name}[{index}]")
    return result
