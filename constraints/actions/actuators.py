"""Actuators: how controls become joint forces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arguments import as_callable, as_tuple, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..errors import DuplicateNameError, OptionError, SizeError
from ..questions import ask_once
from ..robot import Robot
from ..robot.arguments import as_robot
from ..robot.bounds import limits_of

STEP_OF_ACTUATOR_SLOPES = 1e-6
"""Of central differences of a matrix that is a function of q."""


class Drive(NamedTuple):
    """How joint forces tau change with the stage.

    Attributes:
        B: tau by u (nv, nu).
        turned: tau by q (nv, nv); None where it does not depend on it.
        selected: of a product A B, where B selects columns of A: these; or None.
        damped: tau by v (nv, nv); None where it does not depend on it.
    """

    B: Matrix
    turned: Matrix | None
    selected: tuple[slice, slice] | None
    damped: Matrix | None = None

    def beside(self, by_q: Matrix, by_v: Matrix) -> Drive:
        """The same with forces beside those of the controls, by their derivatives (nv, nv)."""
        return self._replace(turned=by_q if self.turned is None else self.turned + by_q, damped=by_v)

    def by_stage(self, by_q: Matrix, by_v: Matrix, by_tau: Matrix) -> tuple[Matrix, Matrix]:
        """Derivatives by state (k, ndx) and control (k, nu) from those by q, v and tau: (k, nv) each."""
        if self.turned is not None:
            by_q = by_q + by_tau.dot(self.turned)
        if self.damped is not None:
            by_v = by_v + by_tau.dot(self.damped)
        by_u = by_tau.dot(self.B) if self.selected is None else by_tau[self.selected].copy()
        return np.concatenate((by_q, by_v), axis=1), by_u


@final
class Actuators:
    r"""Joint forces from controls, :math:`\tau = B(q)\,u`. Immutable.

    Made by `full`, `floating_base`, `joints`, `matrix` or `function`.

    Attributes:
        robot: the robot.
        names: (nu,) what each control drives.
        lower, upper: bounds (nu,) of the controls. A control that drives one joint coordinate, with the factor b,
            has the effort limits of the model divided by b (lower and upper swapped if b < 0): [-80, 80] N m and
            b = 2 give [-40, 40]. Controls without a limit in the model, controls that drive no coordinate or
            several, and those of a `function` have no bounds: use a `StageConstraint` on B u. A limit of zero
            (`effort="0"` in URDF, which some files write for "not known") gives [0, 0]: the control cannot act.
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
        self.robot, self.names = robot, names
        self._B = None if B is None else read_only(np.array(B, order="C"))  # columns of an identity are not contiguous
        self._of_q, self._slope = of_q, slope
        self._drive = None if self._B is None else Drive(self._B, None, _selected(self._B))
        lower, upper = _limits(robot.model, np.zeros((robot.nv, len(names))) if B is None else B)
        self.lower, self.upper = read_only(lower), read_only(upper)

    @classmethod
    def full(cls, robot: Robot) -> Actuators:
        """A control for each tangent coordinate; of a free first joint, too, which the log says once a robot."""
        owner = as_robot(robot, "robot of actuators")
        if owner.nv and _has_free_base(owner):
            ask_once(
                f"full actuation of '{owner.name}': its first joint, '{owner.space.factors[0].name}', is free and has "
                "controls too, which carry the robot from outside: is Actuators.floating_base(robot) meant?"
            )
        return cls(owner, np.eye(owner.nv), owner.coordinate_names)

    @classmethod
    def floating_base(cls, robot: Robot) -> Actuators:
        """A control for each tangent coordinate but those of the first joint, which is free. Raises OptionError."""
        owner = as_robot(robot, "robot of actuators")
        if not owner.nv:
            raise OptionError(f"actuators of a floating base: '{owner.name}' has no joints")
        if not _has_free_base(owner):
            first = owner.space.factors[0].name
            raise OptionError(f"actuators of a floating base: the first joint, '{first}', is not a free joint")
        return cls(owner, np.eye(owner.nv)[:, 6:], owner.coordinate_names[6:])

    @classmethod
    def joints(cls, robot: Robot, names: Iterable[str]) -> Actuators:
        """A control for each tangent coordinate of some joints. Raises UnknownJointError, DuplicateNameError."""
        owner = as_robot(robot, "robot of actuators")
        columns: list[int] = []
        for name in as_tuple(names, "joints that are actuated", "names of joints"):
            own = owner.segments(name).v
            if own[0] in columns:
                raise DuplicateNameError("actuated joint", name)
            columns += own
        labels = owner.coordinate_names
        return cls(owner, np.eye(owner.nv)[:, columns], tuple(labels[i] for i in columns))

    @classmethod
    def matrix(cls, robot: Robot, B: ArrayLike) -> Actuators:
        """Your own matrix (nv, nu). Raises SizeError, NotFiniteError."""
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
            derivative: (q, u) -> (nv, nv), of B(q) u by q along the tangent; central differences by default, accurate
                to about 1e-9.

        Raises:
            WrongObjectError: not a function of q.
            SizeError, NotFiniteError: an invalid matrix at the neutral configuration; at others when it is called.
        """
        owner = as_robot(robot, "robot of actuators")
        as_callable(B, "actuation matrix", "a function of q")
        if derivative is not None:
            as_callable(derivative, "derivative of the actuation", "a function of q and u")
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
        """The matrix (nv, nu) at q; read-only if it is constant. Raises SizeError, NotFiniteError."""
        if self._B is not None:
            return self._B
        of_q: Any = self._of_q
        made = np.array(real_numbers(of_q(q), "actuation matrix", finite=True))
        if made.shape != (self.robot.nv, self.nu):
            raise SizeError("actuation matrix", (self.robot.nv, self.nu), made.shape)
        return made

    def tau(self, q: Vector, u: Vector) -> Vector:
        """Joint forces B(q) u (nv,) [N, N m]."""
        return self.B(q).dot(u)

    def drive(self, q: Vector, u: Vector) -> Drive:
        """How joint forces change with the stage, at q and u. Raises SizeError, NotFiniteError."""
        return self._drive or Drive(self.B(q), self.slope(q, u), None)

    def slope(self, q: Vector, u: Vector) -> Matrix:
        """Derivative (nv, nv) of B(q) u by q, along the tangent. Raises SizeError, NotFiniteError."""
        nv, space = self.robot.nv, self.robot.space
        found = np.zeros((nv, nv))
        if self._B is not None:
            return found
        if self._slope is not None:
            given = np.array(real_numbers(self._slope(q, u), "derivative of the actuation", finite=True))
            if given.shape != (nv, nv):
                raise SizeError("derivative of the actuation", (nv, nv), given.shape)
            return given
        for i, step in enumerate(STEP_OF_ACTUATOR_SLOPES * np.eye(nv)):
            ahead, behind = self.tau(space.integrate(q, step), u), self.tau(space.integrate(q, -step), u)
            found[:, i] = (ahead - behind) / (2.0 * STEP_OF_ACTUATOR_SLOPES)
        return found

    def __repr__(self) -> str:
        return f"Actuators({self.robot.name!r}, nu {self.nu})"


def _has_free_base(robot: Robot) -> bool:
    """Whether the first joint, of a robot that has one, is free."""
    return robot.space.factors[0].v.stop == 6


def _selected(B: Matrix) -> tuple[slice, slice] | None:
    """Columns of A that are A B: the rows of B that form an identity, if all others are zero."""
    nv, nu = B.shape
    first = int(B[:, 0].argmax()) if nu else 0
    return (slice(None), slice(first, first + nu)) if np.array_equal(B, np.eye(nv, nu, -first)) else None


def _limits(model: Any, B: Matrix) -> tuple[Vector, Vector]:
    """Lower and upper bounds (nu,) of controls that drive one joint coordinate: its limits through the factor."""
    lower, upper = np.full(B.shape[1], -np.inf), np.full(B.shape[1], np.inf)
    least, most = limits_of(model.lowerEffortLimit), limits_of(model.upperEffortLimit)
    for column in range(B.shape[1]):
        driven = np.flatnonzero(B[:, column])
        if driven.size == 1:
            joint = driven[0]
            sides = least[joint] / B[joint, column], most[joint] / B[joint, column]
            lower[column], upper[column] = min(sides), max(sides)
    return lower, upper
