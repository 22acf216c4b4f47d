"""Vectors by name: one number, or an array, for each factor of a product, as for each joint of a robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import finite_vector, one_vector, real_numbers
from .arrays import TangentLike, Vector
from .errors import ConstraintError, SizeError, UnknownNameError
from .layout import Factor

NoFactor = Callable[[Any, Sequence[str], str], Exception]
"""From a name that there is not, those that there are, and the argument, to the error."""

LISTED = 6
"""So many names say in which order numbers are."""


def no_factor(name: object, valid: Sequence[str], what: str) -> ConstraintError:
    """The error for a space whose factors have no other word."""
    return UnknownNameError("factor", name, valid, f"{what}: no factor is named {name!r}")


def tangent_of(values: TangentLike, factors: Sequence[Factor], what: str, space: str, unknown: NoFactor) -> Vector:
    """Read a tangent vector (nv,): numbers, or by name of the factors, zero where nothing is named.

    Args:
        values: nv numbers, or name -> number, or the numbers of the factor.
        factors: of the space.
        what: the argument, as the caller knows it.
        space: its name.
        unknown: makes the error for a name that there is not.

    Raises:
        UnknownNameError: lists the names that come closest.
        DtypeError, SizeError, NotFiniteError: what is wrong with the numbers; names the factor where they are by name.
    """
    size = factors[-1].v.stop if factors else 0
    if not isinstance(values, Mapping):
        return finite_vector(values, size, f"{what} of {space}", order_of(factors))
    places, vector = {factor.name: factor.v for factor in factors}, np.zeros(size)
    for name, value in values.items():
        if name not in places:
            raise unknown(name, tuple(places), what)
        at = places[name]
        vector[at] = block_of(value, at.stop - at.start, f"{what}, '{name}'")
    return vector


def block_of(value: ArrayLike, n: int, what: str) -> Vector:
    """Read the numbers of one name (n,): a plain number where it has one. Errors as in `finite_vector`."""
    numbers = real_numbers(value, what)
    return finite_vector(numbers[None] if numbers.ndim == 0 else numbers, n, what)


def by_name(x: ArrayLike, factors: Sequence[Factor]) -> dict[str, float | Vector]:
    """The numbers of a point (nq,), or of a tangent vector (nv,), by name of the factors, in order.

    Raises:
        SizeError, DtypeError: it is neither.
    """
    numbers = one_vector(real_numbers(x, "vector by name"), "vector by name")
    nq, nv = (factors[-1].q.stop, factors[-1].v.stop) if factors else (0, 0)
    if numbers.size not in (nq, nv):
        expected = nv if nq == nv else f"{nv}, or {nq} of a point"
        raise SizeError("vector by name", expected, numbers.size)
    places = {factor.name: factor.q if numbers.size == nq else factor.v for factor in factors}  # equal where nq == nv
    return {
        name: float(numbers[at.start]) if at.stop - at.start == 1 else np.array(numbers[at])
        for name, at in places.items()
    }


def order_of(factors: Sequence[Factor]) -> str:
    """How a tangent vector of several factors is given, for one of another size; empty for a single group."""
    names = [factor.name for factor in factors]
    if len(names) < 2:
        return ""
    listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    return f"in the order {listed}; or by name, {{{names[0]!r}: ...}}"


def entry_names(factors: Sequence[Factor], configuration: bool = False) -> tuple[str, ...]:
    """A name for each tangent coordinate: of its factor, with a number where that has several.

    Args:
        factors: of a space, or its leaves.
        configuration: name the numbers of configurations instead.
    """
    blocks = [(factor.name, factor.q if configuration else factor.v) for factor in factors]
    sizes = [(name, block.stop - block.start) for name, block in blocks]
    return tuple(name if size == 1 else f"{name}[{i}]" for name, size in sizes for i in range(size))
