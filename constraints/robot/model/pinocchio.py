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

pin: Any = importlib.import_module("pinocchio")


class Placement(Protocol):
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

    @property
    def action(self) -> NDArray[np.float64]:
        """Matrix (6, 6) that maps twists in b to twists in a."""
        ...

    def toActionMatrixInverse(self) -> NDArray[np.float64]:  # pinocchio's name
        """Inverse of `action`."""
        ...

    def __mul__(self, other: Any) -> Any: ...

    def inverse(self) -> Placement:
        """The inverse placement."""
        ...

    def act(self, other: Any) -> Any:
        """`self * other`: of a point (3,), a twist, a force, a placement."""
        ...

    def actInv(self, other: Any) -> Any:  # pinocchio's name
        """`self^-1 * other`."""
        ...

    def copy(self) -> Placement:
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


def data_of(model: Model) -> Any:
    """Memory for pinocchio's algorithms: `model.createData()` without its copy.

    Four of its tensors are of nv^3 numbers, 4 GB for 500 joints, and the copy doubles that for a moment (2.7 times the
    time: 0.97 and 0.36 s for 300 joints).
    """
    return pin.Data(model)


def model_for(candidate: object) -> str:
    """How a model is had from what came in its place, in words.

    Args:
        candidate: what came: a path, pinocchio's wrapper, the tuple of a model and its geometries.
    """
    if isinstance(getattr(candidate, "model", None), pin.Model):
        return "a pinocchio.Model (its `.model`)"
    if isinstance(candidate, tuple | list) and any(isinstance(entry, pin.Model) for entry in candidate):  # pyright: ignore[reportUnknownVariableType]
        return "a pinocchio.Model (which is one of these)"
    return "a pinocchio.Model (for a file: Robot.from_urdf)"
