r"""Lie groups as configuration spaces: one interface for single vectors (plain floats) and for batches (numpy).

    >>> import numpy as np
    >>> from liegroups import SE3, Rn
    >>> space = SE3 * Rn(2)
    >>> space.nq, space.nv
    (9, 8)
    >>> q = space.integrate(space.neutral, np.full(8, 0.1))
    >>> np.allclose(space.difference(space.neutral, q), 0.1)
    True

Conventions are pinocchio's: quaternion xyzw, twist linear then angular, :math:`q \oplus v = q \exp(v)` in the body
frame, metres and radians. This package needs only numpy.
"""

from .element import Element as Element
from .errors import ConstraintError as ConstraintError
from .formulas.batch_maps import BatchMaps as BatchMaps
from .formulas.group_maps import GroupMaps as GroupMaps
from .groups import SE2 as SE2, SE3 as SE3, SO2 as SO2, SO3 as SO3, Group as Group, R3xSO3 as R3xSO3, Rn as Rn
from .layout import Layout as Layout
from .product import ProductSpace as ProductSpace
from .segments import Segments as Segments
from .space import Space as Space

__distribution__ = "lie-constraints"
