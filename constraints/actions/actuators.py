"""Actuators: how controls become joint forces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np

from liegroups.arguments import as_callable, as_tuple, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import DuplicateNameError, OptionError, SizeError
from ..loops.mobility import coordinate_names
from ..robot import Robot
from ..robot.arguments import as_robot

STEP = 1e-6
"""Of central differences of a matrix that is a function of q."""


@final
class Actuators:
    r"""Joint forces of controls, :math:`\tau = B(q)\,u`. Immutable.

    Made by `full`, `floating_base`, `joints`, `matrix` or `function`.

    Attributes:
        robot: whose.
        names: (nu,) what each control drives.
        lower, upper: bounds (nu,) of the controls, from the effort limits of the robot where a control drives one
            joint coordinate; infinite elsewhere.
        is_constant: whether B does not depend on q.
    """

    def __init__(
        self,
        robot: Robot,
        B: Matrix | None,
        names: tuple[str, ...],
        of_q: Callable[[Vector], ArrayLike] | None = None,
        slope: Callable[[Vector, Vector], ArrayLike] | None = None,
    ) -> None:
        self.robot, self._B, self.names = robot, B, names
        self._of_q, self._slope = of_q, slope
        self.lower, self.upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        if B is not None:
            self._read_limits(B)

    def _read_limits(self, B: Matrix) -> None:
        model: Any = self.robot.model
        for column in range(B.shape[1]):
            driven = np.flatnonzero(B[:, column])
            if driven.size == 1 and B[driven[0], column] == 1.0:
                self.lower[column] = model.lowerEffortLimit[driven[0]]
                self.upper[column] = model.upperEffortLimit[driven[0]]

    @classmethod
    def full(cls, robot: Robot) -> Actuators:
        """A control for each tangent coordinate."""
        owner = as_robot(robot, "robot of actuators")
        return cls(owner, np.eye(owner.nv), coordinate_names(owner))

    @classmethod
    def floating_base(cls, robot: Robot) -> Actuators:
        """A control for each tangent coordinate but those of the first joint, which is free. Raises OptionError."""
        owner = as_robot(robot, "robot of actuators")
        first = owner.space.factors[0]
        if first.v.stop - first.v.start != 6:
            raise OptionError(f"actuators of a floating base: the first joint, '{first.name}', is no free joint")
        return cls(owner, np.eye(owner.nv)[:, 6:], coordinate_names(owner)[6:])

    @classmethod
    def joints(cls, robot: Robot, names: Iterable[str]) -> Actuators:
        """A control for each tangent coordinate of some joints. Raises UnknownJointError, DuplicateNameError."""
        owner = as_robot(robot, "robot of actuators")
        columns: list[int] = []
        for name in as_tuple(names, "joints that are actuated", "names of joints"):
            s = owner.velocity_slice_of(name)
            if s.start in columns:
                raise DuplicateNameError("actuated joint", name)
            columns += range(s.start, s.stop)
        labels = coordinate_names(owner)
        return cls(owner, np.eye(owner.nv)[:, columns], tuple(labels[i] for i in columns))

    @classmethod
    def matrix(cls, robot: Robot, B: ArrayLike) -> Actuators:
        """A matrix of one's own (nv, nu). Raises SizeError, NotFiniteError."""
        owner = as_robot(robot, "robot of actuators")
        numbers = np.array(real_numbers(B, "actuation matrix", finite=True))
        if numbers.ndim != 2 or numbers.shape[0] != owner.nv:
            raise SizeError("actuation matrix", f"({owner.nv}, nu)", numbers.shape)
        return cls(owner, numbers, tuple(f"u[{i}]" for i in range(numbers.shape[1])))

    @classmethod
    def function(
        cls,
        robot: Robot,
        B: Callable[[Vector], ArrayLike],
        derivative: Callable[[Vector, Vector], ArrayLike] | None = None,
    ) -> Actuators:
        """A matrix that depends on the configuration.

        Args:
            robot: the robot.
            B: q (nq,) -> (nv, nu).
            derivative: (q, u) -> (nv, nv), of B(q) u by q along the tangent; central differences by default.
        """
        owner = as_robot(robot, "robot of actuators")
        as_callable(B, "actuation matrix", "a function of q")
        at = cls.matrix(owner, B(owner.neutral))
        return cls(owner, None, at.names, B, derivative)

    @property
    def nu(self) -> int:
        """Number of controls."""
        return len(self.names)

    @property
    def is_constant(self) -> bool:
        """Whether B does not depend on q."""
        return self._B is not None

    def B(self, q: Vector) -> Matrix:
        """The matrix (nv, nu) at q."""
        if self._B is not None:
            return self._B
        made = np.array(real_numbers(self._of_q(q), "actuation matrix", finite=True))  # pyright: ignore[reportOptionalCall]
        if made.shape != (self.robot.nv, self.nu):
            raise SizeError("actuation matrix", (self.robot.nv, self.nu), made.shape)
        return made

    def slope(self, q: Vector, u: Vector) -> Matrix:
        """Derivative (nv, nv) of B(q) u by q, along the tangent."""
        nv = self.robot.nv
        if self._B is not None:
            return np.zeros((nv, nv))
        if self._slope is not None:
            return np.array(real_numbers(self._slope(q, u), "derivative of the actuation", finite=True))
        space, found = self.robot.space, np.zeros((nv, nv))
        for i in range(nv):
            step = np.zeros(nv)
            step[i] = STEP
            ahead, behind = self.B(space.integrate(q, step)) @ u, self.B(space.integrate(q, -step)) @ u
            found[:, i] = (ahead - behind) / (2.0 * STEP)
        return found

    def __repr__(self) -> str:
        return f"Actuators({self.robot.name!r}, nu {self.nu})"
