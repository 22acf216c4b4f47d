"""What the results of direct and inverse dynamics in minimal coordinates share: driven forces and multipliers."""

from __future__ import annotations

from typing import final

from liegroups.arrays import Vector

from ..dynamics.methods.status import DynamicsStatus
from ..dynamics.row_forces import RowForces
from ..errors import UnknownNameError
from ..words import first_names
from .state import ClosedState


class ReducedForces(RowForces):
    r"""A result with driven forces and multipliers: :math:`M a + h = \ldots + Q_c + J^T \lambda`.

    Attributes:
        state: where.
        acceleration: a (nv,), closed.
        driven_forces: Q_c (nc,) [N, N m], in the order of `coordinates.driven`.
        multipliers: lambda (size,); zero on redundant rows.
        status: how it ended.
    """

    state: ClosedState
    acceleration: Vector
    driven_forces: Vector
    status: DynamicsStatus
    solution, solved = None, None

    def describe(self) -> str:
        """The result in words: status, accelerations of the independent coordinates, forces of the drives, rows."""
        parts = self.state.coordinates
        lines = [f"reduced dynamics: {self}"]
        for name, x in zip(parts.independent, self.independent_acceleration, strict=True):
            lines.append(f"  acceleration of {name}: {x:.6g}")
        for name, force in zip(parts.driven, self.driven_forces, strict=True):
            lines.append(f"  force of the drive of {name}: {force:.6g}")
        if parts.redundant:
            lines.append(f"  redundant: {first_names(parts.redundant)}")
        return "\n".join(lines)

    @property
    @final
    def independent_acceleration(self) -> Vector:
        """Accelerations of the independent coordinates (nu,)."""
        return self.acceleration[self.state.coordinates.partition.independent]

    @final
    def driven_force(self, joint: str) -> Vector:
        """Q_c (k,) of one driven joint [N, N m].

        Raises:
            UnknownNameError: it is not driven; lists those that are.
        """
        robot, driven = self.state.coordinates.constraint_set.robot, self.state.coordinates.partition.driven
        columns = robot.segments(joint).v if joint in robot.joint_names else ()
        where = [driven.tolist().index(i) for i in columns if i in driven]
        if not where:
            raise UnknownNameError("driven joint", joint, self.state.coordinates.driven)
        return self.driven_forces[where]

    @final
    def least_norm(self) -> Vector:
        r"""Multipliers (size,) of least norm with the same forces :math:`J^T \lambda`: those of `forward_dynamics`."""
        space = self.row_space
        return self.multipliers if space.is_full else space.multipliers(space.along(self.multipliers @ space.G))
