"""Products of spaces: one operation for each run of neighbouring R^n factors, and one for each other factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np

from .arguments import as_name, as_tuple, natural_number
from .arrays import Indices, Matrix, Vector
from .errors import SizeError
from .formulas.batch_maps import BatchMaps
from .formulas.group_maps import GroupMaps
from .layout import Factor, Layout
from .space import Space, as_space

Flats: TypeAlias = tuple[tuple[slice, slice], ...]
Groups: TypeAlias = tuple[tuple[Space, slice, slice], ...]


@final
class ProductSpace(Space):
    """Direct product of spaces: configurations and tangent vectors are those of the factors, concatenated.

    Args:
        spaces: the factors, in order. A factor that is a product itself stays one factor (but ``A * B`` takes
            its factors one by one).
        names: names of the factors, all different; derived from the names of the spaces by default.

    Attributes:
        flats: slices (q, v) of the runs of neighbouring R^n factors.
        groups: the other factors, with their slices of q and v.

    Raises:
        DuplicateNameError: two factors have the same name.
        SizeError: the number of names is not the number of factors.
        WrongObjectError: a factor is not a space, or a name is not a string.
    """

    def __init__(self, spaces: Sequence[Space], names: Sequence[str] | None = None) -> None:
        spaces = as_tuple(spaces, "factors of a product", "spaces")
        for i, space in enumerate(spaces):
            as_space(space, f"factor {i} of a product")
        if names is not None:
            names = as_tuple(names, "names of the factors", "strings")
            if len(names) != len(spaces):
                raise SizeError("names of the factors", len(spaces), len(names))
            for i, name in enumerate(names):
                as_name(name, f"name of factor {i}")
        layout = Layout.product(spaces, names)
        self._named = names is not None
        self.flats, self.groups = _runs(layout.factors)
        one, many = (ProductMaps(layout, self.flats, self.groups, stacked) for stacked in (False, True))
        maps = GroupMaps(
            integrate=one.integrate,
            difference=one.difference,
            compose=one.compose,
            inverse=one.inverse,
            adjoint=one.adjoint,
            exp_jacobian=one.exp_jacobian,
            log_jacobian=one.log_jacobian,
        )
        super().__init__(layout, maps, many)

    def __reduce__(self) -> tuple[Any, ...]:
        return ProductSpace, (tuple(factor.space for factor in self.layout.factors), self.explicit_names)

    @property
    def explicit_names(self) -> tuple[str, ...] | None:
        """Names of the factors if a user chose them, None if they are derived from the spaces."""
        return tuple(factor.name for factor in self.layout.factors) if self._named else None


@final
class ProductMaps(BatchMaps):
    """The maps of a product, of one vector or over leading axes: of runs of R^n, and of the other factors.

    Args:
        layout: of the product.
        flats, groups: as of `ProductSpace`.
        stacked: whether vectors have leading axes; equal factors are taken together then.
    """

    def __init__(self, layout: Layout, flats: Flats, groups: Groups, stacked: bool) -> None:
        self._nq, self._nv, self._stacked = layout.neutral.size, layout.nv, stacked
        self._identity = np.eye(layout.nv)
        self._flats = [((..., at), (..., along)) for at, along in flats]
        self._groups = list[tuple[Any, Any, Any, Any]]()
        for space, at, along in _by_kind(groups) if stacked else groups:
            block: Any = (along, along) if isinstance(along, slice) else (along[:, :, None], along[:, None, :])
            maps = space.batch_maps if stacked else space.maps
            self._groups.append((maps, (..., at), (..., along), (..., *block)))

    def _axes(self, a: Vector, b: Vector) -> tuple[int, ...]:
        return np.broadcast_shapes(a.shape[:-1], b.shape[:-1]) if self._stacked else ()

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        out = np.empty((*self._axes(q, v), self._nq))
        for at, along in self._flats:
            out[at] = q[at] + v[along]
        for maps, at, along, _ in self._groups:
            out[at] = maps.integrate(q[at], v[along])
        return out

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1)."""
        out = np.empty((*self._axes(q0, q1), self._nv))
        for at, along in self._flats:
            out[along] = q1[at] - q0[at]
        for maps, at, along, _ in self._groups:
            out[along] = maps.difference(q0[at], q1[at])
        return out

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1."""
        out = np.empty((*self._axes(q0, q1), self._nq))
        for at, _ in self._flats:
            out[at] = q0[at] + q1[at]
        for maps, at, _, _ in self._groups:
            out[at] = maps.compose(q0[at], q1[at])
        return out

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1."""
        out = -q
        for maps, at, _, _ in self._groups:
            out[at] = maps.inverse(q[at])
        return out

    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q."""
        out = np.zeros((*q.shape[:-1], self._nv, self._nv)) + self._identity
        for maps, at, _, block in self._groups:
            out[block] = maps.adjoint(q[at])
        return out

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp."""
        out = np.zeros((*v.shape, self._nv)) + self._identity
        for maps, _, along, block in self._groups:
            out[block] = maps.exp_jacobian(v[along])
        return out

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp."""
        out = np.zeros((*v.shape, self._nv)) + self._identity
        for maps, _, along, block in self._groups:
            out[block] = maps.log_jacobian(v[along])
        return out


def _by_kind(groups: Groups) -> list[tuple[Space, Any, Any]]:
    """Equal factors together: where each begins to end in q and v, as indices (factors, size), or one slice."""
    kinds = dict[Space, list[tuple[slice, slice]]]()
    for space, at, along in groups:
        kinds.setdefault(space, []).append((at, along))
    return [
        (space, *places[0]) if len(places) == 1 else (space, *map(_indices, zip(*places, strict=True)))
        for space, places in kinds.items()
    ]


def _indices(places: Sequence[slice]) -> Indices:
    """Slices of one size as indices (slices, size)."""
    return np.array([range(place.start, place.stop) for place in places], dtype=np.intp)


def join(left: Space, right: Space) -> Space:
    """Product of two spaces, factors of products side by side; names that a user chose are kept if they differ."""
    return _product([*_opened(left), *_opened(right)])


def power(space: Space, n: int) -> Space:
    """Product of n copies of a space."""
    return _product(_opened(space) * natural_number(n, f"power of {space.name}"))


def _product(parts: list[tuple[Space, str | None]]) -> Space:
    spaces = [space for space, _ in parts]
    names = [name for _, name in parts if name is not None]
    if len(names) == len(parts) and len(set(names)) == len(names):
        return ProductSpace(spaces, names)
    return ProductSpace(spaces)


def _opened(space: Space) -> list[tuple[Space, str | None]]:
    """Factors of a product with the names that a user chose for them; any other space is one factor without a name."""
    if not isinstance(space, ProductSpace):
        return [(space, None)]
    if space.explicit_names is None:
        return [(factor.space, None) for factor in space.layout.factors]
    return [(factor.space, factor.name) for factor in space.layout.factors]


def _runs(factors: Sequence[Factor]) -> tuple[Flats, Groups]:
    """Split factors into runs of neighbouring R^n, each one pair of slices, and the others one by one."""
    flats: list[tuple[slice, slice]] = []
    groups: list[tuple[Space, slice, slice]] = []
    for factor in factors:
        if not factor.space.is_flat:
            groups.append((factor.space, factor.q, factor.v))
        elif flats and flats[-1][0].stop == factor.q.start:
            q, v = flats[-1]
            flats[-1] = (slice(q.start, factor.q.stop), slice(v.start, factor.v.stop))
        else:
            flats.append((factor.q, factor.v))
    return tuple(flats), tuple(groups)
