"""The untyped neighbour: the one place where pinocchio is imported, and Protocols for what signatures name of it.

Pinocchio's wheel ships neither stubs nor `py.typed`, so a strict type checker sees nothing of it. `pin` is `Any`;
the Protocols say what the rest of the library relies on.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["SE3", "Model", "pin"]

pin: Any = importlib.import_module("pinocchio")


class SE3(Protocol):
    """A placement (`pinocchio.SE3`): `aMb` maps coordinates in b to coordinates in a."""

    @property
    def rotation(self) -> NDArray[np.float64]:
        """Rotation matrix (3, 3)."""
        ...

    @property
    def translation(self) -> NDArray[np.float64]:
        """Translation (3,) [m]."""
        ...

    @property
    def homogeneous(self) -> NDArray[np.float64]:
        """Homogeneous matrix (4, 4)."""
        ...

    def __mul__(self, other: Any) -> Any: ...

    def inverse(self) -> SE3:
        """The inverse placement."""
        ...

    def actInv(self, other: Any) -> Any:  # pinocchio's name
        """`self^-1 * other`."""
        ...

    def copy(self) -> SE3:
        """A copy that owns its memory."""
        ...


class Model(Protocol):
    """A kinematic tree (`pinocchio.Model`), whoever made it."""

    nq: int
    nv: int
    njoints: int
    name: str
    names: Sequence[str]
    joints: Sequence[Any]
    parents: Sequence[int]
    frames: Sequence[Any]
    inertias: Sequence[Any]
    supports: Sequence[Sequence[int]]
    subtrees: Sequence[Sequence[int]]
    jointPlacements: Sequence[Any]
    lowerPositionLimit: NDArray[np.float64]
    upperPositionLimit: NDArray[np.float64]

    def createData(self) -> Any:  # pinocchio's name
        """Memory for one evaluation of the algorithms."""
        ...
