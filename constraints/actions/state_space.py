"""States and stages: configurations, velocities and controls as points of one Lie group."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from liegroups import ProductSpace, Rn, Segments, Space
from liegroups.arguments import natural_number
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import SpaceMismatchError
from ..functions.affine import Identity
from ..functions.function import Function, as_function
from ..functions.lifted import lifted, same_space
from ..robot import Robot
from ..robot.arguments import as_robot


@final
class StateSpace:
    r"""Configuration and velocity of a robot as one Lie group, :math:`x = (q, v)`.

    Its tangent is that of q, then the derivative of v: ndx = 2 nv. Functions of states are `Function`s on `space`.

    Args:
        robot: the robot.

    Attributes:
        robot: as given.
        space: the group, with the factors "configuration" and "velocity".

    Source: `StateMultibody` of Crocoddyl.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = as_robot(robot, "robot of a state space")
        self.space = ProductSpace([self.robot.space, Rn(self.robot.nv)], ["configuration", "velocity"])

    @property
    def nq(self) -> int:
        """Numbers of a configuration."""
        return self.robot.nq

    @property
    def nv(self) -> int:
        """Numbers of a velocity."""
        return self.robot.nv

    @property
    def nx(self) -> int:
        """Numbers of a state, nq + nv."""
        return self.space.nq

    @property
    def ndx(self) -> int:
        """Numbers of a tangent vector of states, 2 nv."""
        return self.space.nv

    def join(self, q: ArrayLike, v: ArrayLike | None = None) -> Vector:
        """The state (nx,) of a configuration (nq,) and a velocity (nv,), which is zero by default."""
        speed = np.zeros(self.nv) if v is None else self.robot.space.check_tangent(v, "v")
        return np.concatenate([self.robot.check(q), speed])

    def split(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Configuration (nq,) and velocity (nv,) of a state, copies."""
        whole = self.check(x)
        return whole[: self.nq].copy(), whole[self.nq :].copy()

    def check(self, x: ArrayLike, what: str = "state") -> Vector:
        """A state from what a user gave. Raises SizeError, NotFiniteError, NotNormalizedError."""
        return self.space.check(x, what)

    @property
    def zero(self) -> Vector:
        """The neutral configuration at rest (nx,)."""
        return self.join(self.robot.neutral)

    def integrate(self, x: Vector, dx: Vector) -> Vector:
        r""":math:`x \oplus dx` (nx,)."""
        return self.space.integrate(x, dx)

    def difference(self, x0: Vector, x1: Vector) -> Vector:
        r""":math:`x_1 \ominus x_0` (ndx,)."""
        return self.space.difference(x0, x1)

    def difference_jacobians(self, x0: Vector, x1: Vector) -> tuple[Matrix, Matrix]:
        r"""Derivatives (ndx, ndx) of :math:`x_1 \ominus x_0` by x0 and by x1."""
        d = self.space.difference(x0, x1)
        # log(x0^-1 x1): moved at the end by J_log(d), at the start by -J_log(d) Ad(exp(d))^-1 = -J_log(-d)
        return -self.space.log_jacobian(-d), self.space.log_jacobian(d)

    def integrate_jacobians(self, dx: Vector) -> tuple[Matrix, Matrix]:
        r"""Derivatives (ndx, ndx) of :math:`x \oplus dx` by x and by dx."""
        step = self.space.exp(dx)
        return self.space.adjoint(self.space.inverse(step)), self.space.exp_jacobian(dx)

    def with_controls(self, nu: int) -> StageSpace:
        """States with nu controls."""
        return StageSpace(self, nu)

    def __repr__(self) -> str:
        return f"StateSpace({self.robot.name!r}, nx {self.nx}, ndx {self.ndx})"


@final
class StageSpace:
    r"""State and control as one Lie group, :math:`(q, v, u)`: where costs and constraints of a stage live.

    Args:
        state: the state space.
        nu: number of controls.

    Attributes:
        state, nu: as given.
        space: the group, with the factors "configuration", "velocity" and "control".
    """

    def __init__(self, state: StateSpace, nu: int) -> None:
        self.state, self.nu = state, natural_number(nu, "number of controls")
        robot = state.robot
        parts: list[Space] = [robot.space, Rn(robot.nv), Rn(self.nu)]
        self.space = ProductSpace(parts, ["configuration", "velocity", "control"])

    @cached_property
    def _blocks(self) -> tuple[Segments, Segments, Segments]:
        nv, whole = self.state.nv, self.space
        return (
            Segments.of(whole, 0),
            Segments.coordinates(whole, range(nv, 2 * nv)),
            Segments.coordinates(whole, range(2 * nv, whole.nv)),
        )

    def lift(self, function: Function) -> Function:
        """A function of q, of (q, v) or of (q, v, u) as one of the stage.

        Raises:
            SpaceMismatchError: a function of something else; `velocity` and `control` take functions of these alone.
        """
        f = as_function(function, "function of a stage")
        if same_space(f.inputs, self.space):
            return f
        if same_space(f.inputs, self.state.space):
            return lifted(f, self.space, Segments.coordinates(self.space, range(2 * self.state.nv)))
        if same_space(f.inputs, self.state.robot.space):
            return lifted(f, self.space, self._blocks[0])
        raise SpaceMismatchError(f"inputs of {f.name}", self.space.name, f.inputs.name)

    def velocity(self, function: Function | None = None) -> Function:
        """A function of v alone, the velocity itself by default, as one of the stage."""
        return lifted(Identity(Rn(self.state.nv)) if function is None else function, self.space, self._blocks[1])

    def control(self, function: Function | None = None) -> Function:
        """A function of u alone, the controls themselves by default, as one of the stage."""
        return lifted(Identity(Rn(self.nu)) if function is None else function, self.space, self._blocks[2])

    def join(self, x: Vector, u: Vector) -> Vector:
        """The point (nx + nu,) of the stage."""
        return np.concatenate([x, u])

    def sees_controls(self, function: Any) -> bool:
        """Whether a function of the stage depends on the controls."""
        return bool(function.columns[2 * self.state.nv :].any())

    def __repr__(self) -> str:
        return f"StageSpace({self.state.robot.name!r}, ndx {self.state.ndx}, nu {self.nu})"
