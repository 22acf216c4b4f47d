"""Row owners whose rows are those of an implicit twin: explicit constraints, closures, contacts."""

from __future__ import annotations

import copy
from typing import Any, Self

from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ..point import MovingPoint, Point
from .implicit import Implicit
from .stack import RowOwner

__all__ = ["Twinned"]

_SHARED = ("name", "space", "group", "rows", "columns", "periodic", "default_rhs", "target")


class Twinned(RowOwner):
    """A row owner that leaves all about its rows to its implicit twin.

    Attributes:
        twin: the constraint whose rows, right-hand sides and errors are its own.
    """

    twin: Implicit

    def take_rows(self, twin: Implicit, **fields: object) -> None:
        """Become the owner of the rows of a twin (from the constructor, or of a copy).

        Args:
            twin: the twin.
            fields: what else to set, or to set otherwise than the twin has it.
        """
        shared: dict[str, object] = {name: getattr(twin, name) for name in _SHARED}
        set_fields(self, twin=twin, **(shared | fields))

    def write_position(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """As `RowOwner.write_position`, of the twin; zero rows where there is no position."""
        if self.has_position:
            self.twin.write_position(point, rhs, error, jacobian)
            return
        error[:] = 0.0
        if jacobian is not None:
            jacobian[:] = 0.0

    def write_velocity(
        self, motion: MovingPoint, rhs: Vector | None, rhs_velocity: Vector | None, error: Vector, jacobian: Matrix
    ) -> None:
        """As `RowOwner.write_velocity`, of the twin."""
        self.twin.write_velocity(motion, rhs, rhs_velocity, error, jacobian)

    def write_acceleration(
        self,
        motion: MovingPoint,
        rhs: Vector | None,
        rhs_velocity: Vector | None,
        rhs_acceleration: Vector | None,
        error: Vector,
        jacobian: Matrix,
    ) -> None:
        """As `RowOwner.write_acceleration`, of the twin."""
        self.twin.write_acceleration(motion, rhs, rhs_velocity, rhs_acceleration, error, jacobian)

    def rhs_at(self, point: Point) -> Vector:
        """As `RowOwner.rhs_at`, of the twin."""
        return self.twin.rhs_at(point)

    def check_rhs(self, rhs: Any, what: str | None = None) -> Vector:
        """As `Implicit.check_rhs`, in the coordinates of the twin."""
        return self.twin.check_rhs(rhs, what)

    def unclipped(self) -> Self:
        """As `RowOwner.unclipped`."""
        twin = self.twin.unclipped()
        if twin is self.twin:
            return self
        bare = copy.copy(self)
        set_fields(bare, twin=twin, rows=twin.rows, lifted_from=self.original)
        return bare
