"""States and stages: configurations, velocities and controls as points of one Lie group."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups import ProductSpace, Rn, Segments, Space
from liegroups.arguments import expect, natural_number
from liegroups.arrays import ArrayLike, Matrix, TangentLike, Vector

from ..errors import OptionError, OtherForcesError, RobotMismatchError, SpaceMismatchError
from ..functions.affine import Identity
from ..functions.function import Function, as_function
from ..functions.lifted import lifted, robots_of, same_space
from ..loops import ConstraintSet
from ..loops.constraint_set import A_SET
from ..robot import Robot
from ..robot.arguments import as_robot
from ..rows.row_owner import RowOwner
from ..words import counted


@final
class StateSpace:
    r"""Configuration and velocity of a robot as one Lie group, :math:`x = (q, v)`.

    Its tangent is that of q, then the derivative of v: ndx = 2 nv. Functions of states are `Function`s on `space`.

    Args:
        robot: the robot.

    Attributes:
        robot: as given.
        space: the group, with the factors "configuration" and "velocity".
        nq, nv: numbers of a configuration, and of a velocity.
        nx, ndx: numbers of a state, nq + nv, and of a tangent vector of states, 2 nv.

    Source: `StateMultibody` of Crocoddyl.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = as_robot(robot, "robot of a state space")
        self.space = ProductSpace([self.robot.space, Rn(self.robot.nv)], ["configuration", "velocity"])
        self.nq, self.nv = self.robot.nq, self.robot.nv
        self.nx, self.ndx = self.space.nq, self.space.nv

    def join(self, q: ArrayLike, v: TangentLike | None = None) -> Vector:
        """The state (nx,) of a configuration (nq,) and a velocity (nv,), which is zero by default."""
        speed = np.zeros(self.nv) if v is None else self.robot.space.check_tangent(v, "v")
        return np.concatenate([self.robot.check(q), speed])

    def split(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Configuration (nq,) and velocity (nv,) of a state, copies."""
        whole = self.check(x)
        return whole[: self.nq].copy(), whole[self.nq :].copy()

    def check(self, x: ArrayLike, what: str = "state") -> Vector:
        """A checked state. Raises SizeError, NotFiniteError, NotNormalizedError."""
        return self.space.check(x, what)

    @property
    def zero(self) -> Vector:
        """The neutral configuration at rest (nx,)."""
        return self.join(self.robot.neutral)

    def integrate(self, x: ArrayLike, dx: ArrayLike) -> Vector:
        r""":math:`x \oplus dx` (nx,). Raises what `check` raises."""
        return self.space.integrate(self.check(x), self.space.check_tangent(dx))

    def difference(self, x0: ArrayLike, x1: ArrayLike) -> Vector:
        r""":math:`x_1 \ominus x_0` (ndx,). Raises what `check` raises."""
        return self.space.difference(self.check(x0), self.check(x1))

    def difference_jacobians(self, x0: ArrayLike, x1: ArrayLike) -> tuple[Matrix, Matrix]:
        r"""Derivatives (ndx, ndx) of :math:`x_1 \ominus x_0` by x0 and by x1."""
        d = self.difference(x0, x1)
        # log(x0^-1 x1): moved at the end by J_log(d), at the start by -J_log(d) Ad(exp(d))^-1 = -J_log(-d)
        return -self.space.log_jacobian(-d), self.space.log_jacobian(d)

    def integrate_jacobians(self, dx: ArrayLike) -> tuple[Matrix, Matrix]:
        r"""Derivatives (ndx, ndx) of :math:`x \oplus dx` by x and by dx; the same at every x."""
        step = self.space.check_tangent(dx)
        return self.space.adjoint(self.space.exp(-step)), self.space.exp_jacobian(step)

    def with_controls(self, nu: int, constraint_set: ConstraintSet | None = None) -> StageSpace:
        """States with nu controls, and with the multipliers of a constraint set."""
        return StageSpace(self, nu, constraint_set)

    def __repr__(self) -> str:
        return f"StateSpace({self.robot.name!r}, nx {self.nx}, ndx {self.ndx})"


@final
class StageSpace:
    r"""State and control as one Lie group, :math:`(q, v, u)`: the space of costs and constraints of a stage.

    With a constraint set the multipliers are a fourth factor, :math:`(q, v, u, \lambda)`: functions of them depend on
    the forces of contacts and loops, and an action differentiates them through its dynamics. That factor is a product
    with one factor for each constraint, of its name: so a function of forces knows whose forces it sees.

    Args:
        state: the state space.
        nu: number of controls.
        constraint_set: functions may depend on its multipliers; none by default.

    Attributes:
        state, nu, constraint_set: as given.
        nf: number of multipliers.
        space: the group, with the factors "configuration", "velocity", "control" and, with a set, "force".

    Raises:
        WrongObjectError, SizeError: an invalid argument.
        RobotMismatchError: a constraint set of another robot.
    """

    def __init__(self, state: StateSpace, nu: int, constraint_set: ConstraintSet | None = None) -> None:
        self.state = expect(state, StateSpace, "state space of a stage", "a StateSpace")
        self.nu = natural_number(nu, "number of controls")
        self.constraint_set = constraint_set
        self.nf = 0
        if constraint_set is not None:
            self.nf = expect(constraint_set, ConstraintSet, "constraint set of a stage", A_SET).size
            of_one_robot(state.robot, constraint_set.robot, "constraint set")
        nv, parts = state.nv, [state.robot.space, Rn(state.nv), Rn(self.nu)]
        self.space = self._plain = ProductSpace(parts, _FACTORS[:3])
        if constraint_set is not None and self.nf:
            forces = ProductSpace([Rn(s.stop - s.start) for s in constraint_set.stack.slices], constraint_set.names)
            self.space = ProductSpace([*parts, forces], _FACTORS)
        starts = (nv, 2 * nv, 2 * nv + self.nu, self.space.nv)
        self._after_state = _after_state(self.space, 2 * nv)
        self._columns = {name: range(a, b) for name, a, b in zip(_FACTORS[1:], starts, starts[1:], strict=False)}

    def lift(self, function: Function) -> Function:
        """A function of q, of (q, v), of (q, v, u) or of the stage, as a function of the stage.

        A function of forces was made on a stage. It fits every stage that has, in the rows that the function sees,
        constraints of the same names and sizes: switches and stabilisations do not matter.

        Raises:
            WrongObjectError: not a function.
            OtherForcesError: it sees forces of constraints that this stage does not have in these rows.
            SpaceMismatchError, RobotMismatchError: a function on another space, or of another robot; `velocity`,
                `control` and `force` take functions of these alone.
        """
        f = as_function(function, "function of a stage")
        self._refuse_other_forces(f)
        if same_space(f.inputs, self.space):
            return f
        if same_space(f.inputs, self.state.robot.space):
            return lifted(f, self.space, Segments.of(self.space, 0))
        for part in (self.state.space, self._plain):
            if same_space(f.inputs, part):
                return lifted(f, self.space, Segments.coordinates(self.space, range(part.nv)))
        for robot_space in robots_of(f.inputs):
            if not robot_space.same_robot(self.state.robot.space):
                raise RobotMismatchError(f"{f.name} is a function of another robot than '{self.state.robot.name}'")
        raise SpaceMismatchError(f"inputs of {f.name}", self.space.name, f.inputs.name)

    def _refuse_other_forces(self, function: Function) -> None:
        """Refuse a function that sees other forces or controls than those of this stage, in itself or in its parts."""
        ndx, here = self.state.ndx, self._after_state
        for f in function.functions_within():
            seen = np.flatnonzero(f.columns[ndx:]).tolist()
            if not seen or f.inputs not in (self._plain, self.space):
                continue
            made_for = _after_state(f.inputs, ndx)
            for i in seen:
                if made_for[i] != here[i]:
                    raise OtherForcesError(f.name, str(here[i]), str(made_for[i]))

    def configuration(self) -> Function:
        """The configuration q itself, as a function of the stage."""
        return self.lift(Identity(self.state.robot.space))

    def states(self) -> Function:
        """The state (q, v) itself, as a function of the stage."""
        return self.lift(Identity(self.state.space))

    def velocity(self, function: Function | None = None) -> Function:
        """A function of v alone, the velocity itself by default, as a function of the stage."""
        return self._of("velocity", Rn(self.state.nv), function)

    def control(self, function: Function | None = None) -> Function:
        """A function of u alone, the controls themselves by default, as a function of the stage."""
        return self._of("control", Rn(self.nu), function)

    def force(self, which: RowOwner | str | int | None = None, function: Function | None = None) -> Function:
        """A function of the multipliers of one constraint, or of all, the multipliers themselves by default.

        Args:
            which: the object, its position, or its name; all rows (nf,) by default.
            function: of R^k, with k the rows of the constraint.

        Raises:
            OptionError: the stage has no constraint set.
            UnknownNameError: lists the names that come closest.
            SpaceMismatchError: a function on another space.
        """
        if self.constraint_set is None:
            raise OptionError("forces of a stage: it has no constraint set; use `with_controls(nu, constraint_set)`")
        columns = self._columns["force"]
        s = slice(0, self.nf) if which is None else self.constraint_set.slice_of(which)
        label = "force" if which is None else f"force of {self.constraint_set[which].name}"
        return self._lifted(columns[s], Rn(s.stop - s.start), function, label)

    def _of(self, name: str, space: Space, function: Function | None) -> Function:
        return self._lifted(self._columns[name], space, function, name)

    def _lifted(self, columns: range, space: Space, function: Function | None, name: str) -> Function:
        f = Identity(space, name=name) if function is None else as_function(function, f"function of the {name}")
        if f.inputs != space:
            raise SpaceMismatchError(f"inputs of {f.name}", space.name, f.inputs.name)
        return lifted(f, self.space, Segments.coordinates(self.space, columns))

    def sees_controls(self, function: Function) -> bool:
        """Whether a function of the stage depends on the controls, or on the forces."""
        return bool(function.columns[self.state.ndx :].any())

    def __repr__(self) -> str:
        forces = f", nf {self.nf}" if self.nf else ""
        return f"StageSpace({self.state.robot.name!r}, ndx {self.state.ndx}, nu {self.nu}{forces})"


class _Column(NamedTuple):
    """What a column after those of the state is: a control, or a row of a constraint of so many rows."""

    row: int
    constraint: str = ""
    rows: int = 0

    def __str__(self) -> str:
        if not self.rows:
            return f"control[{self.row}]"
        return f"the force '{self.constraint}[{self.row}]' (of {counted(self.rows, 'row')})"


def _after_state(space: Space, ndx: int) -> list[_Column]:
    """All columns after those of the state. A product that a user made names no constraints: it has controls."""
    made_by_stage = tuple(factor.name for factor in space.factors) == _FACTORS
    forces = space.factors[3].space.factors if made_by_stage else ()
    parts = [(force.name, force.space.nv) for force in forces]
    rows = [_Column(i, name, k) for name, k in parts for i in range(k)]
    return [_Column(i) for i in range(space.nv - ndx - len(rows))] + rows


_FACTORS = ("configuration", "velocity", "control", "force")
"""Names of the factors of a stage."""


def of_one_robot(robot: Robot, other: Robot, what: str) -> None:
    """Refuse a part of another robot. Raises RobotMismatchError."""
    if not other.space.same_robot(robot.space):
        raise RobotMismatchError(f"{what} of another robot ('{other.name}') than the action's, '{robot.name}'")
