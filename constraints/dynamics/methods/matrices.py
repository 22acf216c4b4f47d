"""Matrices that a user gives to the linear algebra of dynamics: read, and checked against each other."""

from __future__ import annotations

import numpy as np

from liegroups.arguments import real_numbers
from liegroups.arrays import Matrix, Vector

from ...errors import OptionError, SizeError
from .row_space import RowSpace


def fitting(H: Matrix, G: Matrix, c: Vector, gamma: Vector) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Arrays that fit each other, from what was given.

    Raises:
        SizeError, WrongObjectError, DtypeError: name the one that does not.
    """
    given = zip(("H", "G", "c", "gamma"), (H, G, c, gamma), strict=True)
    mass, rows, force, asked = (
        x if type(x) is np.ndarray and x.dtype == np.float64 else real_numbers(x, f"{name} of a saddle point")
        for name, x in given
    )
    n = len(mass) if mass.ndim else 0
    k = len(rows) if rows.ndim else 0
    expected = ("H", mass, (n, n)), ("G", rows, (k, n)), ("c", force, (n,)), ("gamma", asked, (k,))
    for name, x, shape in expected:
        if x.shape != shape:
            raise SizeError(f"{name} of a saddle point", shape, x.shape)
    return mass, rows, force, asked


def own_bases(bases: tuple[Matrix, Matrix], space: RowSpace, n: int) -> tuple[Matrix, Matrix]:
    """Y (n, k) and Z (n, n - k) of one's own, for rows of full rank."""
    k = len(space.G)
    if space.rank < k:
        raise OptionError(f"given bases: expected rows of full rank, got rank {space.rank} of {k} rows")
    for name, basis, shape in zip("YZ", bases, ((n, k), (n, n - k)), strict=True):
        if np.shape(basis) != shape:
            raise SizeError(f"basis {name}", shape, np.shape(basis))
    return bases
