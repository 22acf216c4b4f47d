r"""Lie groups as configuration spaces: one interface, plain floats for one vector, numpy for leading axes.

    >>> import numpy as np
    >>> from liegroups import SE3, Rn
    >>> space = SE3 * Rn(2)
    >>> space.nq, space.nv
    (9, 8)
    >>> q = space.integrate(space.neutral, np.full(8, 0.1))
    >>> np.allclose(space.difference(space.neutral, q), 0.1)
    True

Conventions are pinocchio's: quaternion xyzw, twist linear then angular, :math:`q \oplus v = q \exp(v)` in the body
frame, metres and radians. Numpy is all this package needs.
"""

from .batch_maps import BatchMaps
from .element import Element
from .errors import (
    ConstraintError,
    DtypeError,
    DuplicateNameError,
    EmptyIntervalError,
    NotFiniteError,
    NotNormalizedError,
    OverlapError,
    SizeError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)
from .group_maps import GroupMaps
from .groups import SE2, SE3, SO2, SO3, Group, R3xSO3, Rn
from .layout import Factor, Layout
from .looped_maps import LoopedMaps
from .product import ProductSpace
from .segments import Segments
from .space import Space

__distribution__ = "lie-constraints"

__all__ = [
    "SE2",
    "SE3",
    "SO2",
    "SO3",
    "BatchMaps",
    "ConstraintError",
    "DtypeError",
    "DuplicateNameError",
    "Element",
    "EmptyIntervalError",
    "Factor",
    "Group",
    "GroupMaps",
    "Layout",
    "LoopedMaps",
    "NotFiniteError",
    "NotNormalizedError",
    "OverlapError",
    "ProductSpace",
    "R3xSO3",
    "Rn",
    "Segments",
    "SizeError",
    "Space",
    "SpaceMismatchError",
    "UnknownNameError",
    "WrongObjectError",
]
