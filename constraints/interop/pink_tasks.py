"""Functions and constraints as tasks of pink (differential inverse kinematics), and back. Extra `pink`."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arguments import as_tolerance, expect, finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ..errors import OptionError, RobotMismatchError, WrongObjectError
from ..exports import from_extra
from ..functions.function import Function
from ..point import Point
from ..robot import Robot
from ..robot.arguments import as_robot
from ..robot.model.pinocchio import pin
from ..robot.space import RobotSpace
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.stack import Stack
from ..rows.stacking import Order, Rows, stack_rows


def as_pink_task(
    constraint: Function | Implicit,
    rhs: Any = None,
    *,
    cost: ArrayLike = 1.0,
    gain: float = 1.0,
    lm_damping: float = 0.0,
) -> Any:
    r"""A function, or an Implicit constraint, as a `pink.tasks.Task`.

    pink solves :math:`J(q)\, \Delta q = -\alpha\, e(q)`. The error has the active rows of the constraint,
    :math:`e = \log(rhs^{-1} h(q))` scaled; it is zero if an inequality holds. J is its derivative, which is zero there
    too. (pink's own `FrameTask` has e = log6 of the target seen from the frame, the opposite way round.)

    Args:
        constraint: an Implicit constraint on a robot; or a function, which must then be equal to `rhs`.
        rhs: right-hand side; the constraint's own if absent, the neutral element for a function.
        cost: weight of the rows, one number or one per active row.
        gain: alpha in (0, 1].
        lm_damping: Levenberg-Marquardt damping of pink.

    Returns:
        The task. Its `rhs` may be assigned, like pink's targets.

    Raises:
        WrongObjectError: not a function of a robot's configuration.
        MissingExtraError: pink is not installed.
        RightHandSideError, SizeError: an invalid rhs.
        RobotMismatchError: raised by the task if pink's configuration is of another robot.
    """
    owner = Implicit.equal(constraint) if isinstance(constraint, Function) else constraint
    expect(owner, Implicit, "constraint of a pink task", "a Function or an Implicit constraint")
    if not isinstance(owner.space, RobotSpace):
        raise WrongObjectError(f"constraint {owner.name!r} of a pink task", "one on a robot", f"one on {owner.space}")
    point = owner.default_rhs if rhs is None else owner.check_rhs(rhs)
    if not 0.0 < as_tolerance(gain, "gain of a pink task") <= 1.0:
        raise OptionError(f"gain of a pink task: expected a number in (0, 1], got {gain!r}")
    damping = as_tolerance(lm_damping, "lm_damping of a pink task")
    rows = int(owner.rows.mask.sum())
    each: Any = cost if np.ndim(cost) else [cost] * rows
    return _task_class()(owner, point, finite_vector(each, rows, "cost of a pink task"), float(gain), damping)


def _tasks() -> Any:
    return from_extra("pink", "pink")


@cache
def _task_class() -> type[Any]:
    """The class of tasks, made when pink is first asked for."""
    base: Any = _tasks().tasks.Task

    class ConstraintTask(base):
        """Rows of an Implicit constraint as a task of pink."""

        def __init__(self, constraint: Implicit, rhs: Vector, cost: Any, gain: float, lm_damping: float) -> None:
            base.__init__(self, cost=cost, gain=gain, lm_damping=lm_damping)
            self.constraint = constraint
            self._stack = Stack([constraint])
            self._sides = RightHandSide(self._stack, rhs)
            self._known: Any = None

        @property
        def rhs(self) -> Vector:
            """The right-hand side (nq,) of the constraint's group."""
            return self._sides.vector

        @rhs.setter
        def rhs(self, rhs: Any) -> None:
            self._sides = self._sides.replace(self.constraint, rhs)

        def compute_error(self, configuration: Any) -> Vector:
            return self._rows(configuration, jacobian=False).error

        def compute_jacobian(self, configuration: Any) -> Matrix:
            return self._rows(configuration, jacobian=True).jacobian

        def _rows(self, configuration: Any, jacobian: bool) -> Rows:
            space: Any = self.constraint.space
            if configuration.model is not self._known:  # looked at once a model
                if list(configuration.model.names) != list(space.model.names) or configuration.model.nq != space.nq:
                    raise RobotMismatchError(
                        f"task '{self.constraint.name}': expected a configuration of a robot with the joints "
                        f"{', '.join(list(space.model.names)[1:])}, got one with other joints"
                    )
                self._known = configuration.model
            point = space.place_alone(space.check(np.array(configuration.q), "q of pink's configuration"))
            rows = stack_rows(self._stack, point, Order.POSITION, self._sides, jacobian=jacobian)
            return Rows(rows.error.copy(), rows.jacobian.copy(), self._stack.slices)  # while the point is held

        def __repr__(self) -> str:
            return f"ConstraintTask({self.constraint!r}, cost={self.cost}, gain={self.gain})"

        def __reduce__(self) -> tuple[Any, ...]:
            return _rebuilt, (self.constraint, self.rhs, self.cost, self.gain, self.lm_damping)

    return ConstraintTask


def _rebuilt(constraint: Implicit, rhs: Vector, cost: Any, gain: float, lm_damping: float) -> Any:
    return _task_class()(constraint, rhs, cost, gain, lm_damping)


@dataclass(frozen=True, eq=False, repr=False)
class PinkFunction(Function):
    r"""The error of a pink task as a function, :math:`f(q) = e(q) \in \mathbb{R}^k`, with the task's Jacobian.

    The task is copied: targets set on it later have no effect. Tasks whose Jacobian is the derivative of their error
    can be solved for: `FrameTask`, `RelativeFrameTask`, `ComTask`, `PostureTask`, `JointCouplingTask`,
    `LinearHolonomicTask`. Tasks on velocities (`DampingTask`, `LowAccelerationTask`) cannot, nor a `PostureTask` of
    ball, planar or free joints beside the root (its Jacobian is the identity), nor those whose error is not a function
    of q; `constraints.testing.check_function` shows which. A task has the frames of the model, not those of
    `robot.with_frame`.

    Args:
        robot: robot of the configurations.
        task: a `pink.tasks.Task` with its target set.
        name: name in messages; the class of the task by default.

    Shapes:
        value (k,), jacobian (k, nv): in the units of the task's error.

    Raises:
        WrongObjectError: not a task of pink, one that is not ready for this robot (the message says why), or one
            whose Jacobian is not the derivative of its error, as those on velocities.
        MissingExtraError: pink is not installed.
    """

    robot: Robot
    task: Any
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Copy the task, and ask it for its size."""
        as_robot(self.robot, "robot of a pink task")
        expect(self.task, _tasks().tasks.Task, "task", "a pink.tasks.Task")
        set_fields(self, task=copy.deepcopy(self.task))
        kind = type(self.task).__name__
        try:
            size = int(np.size(self.task.compute_error(self._configuration())))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise WrongObjectError(f"task {kind}", f"one that is ready for {self.robot.name}", reason) from error
        self.declare(self.robot.space, Rn(size), name=self.name or kind)
        if not any(self._is_differentiated(seed) for seed in range(3)):
            reason = "one on velocities, or of ball, planar or free joints: its Jacobian is no derivative of its error"
            raise WrongObjectError(f"task {kind}", "one whose error is a function of the configuration", reason)

    def _is_differentiated(self, seed: int) -> bool:
        """Whether J v is the change of the error along v, at one configuration: there may be a jump."""
        rng, h = np.random.default_rng(seed), 1e-5
        q, v = self.robot.random(rng), rng.normal(size=self.robot.nv)
        ahead, behind = (self.value(self.robot.space.integrate(q, step * v)) for step in (h, -h))
        change, along = (ahead - behind) / (2.0 * h), self.jacobian(q) @ v
        return bool(np.abs(change - along).max(initial=0.0) <= 1e-4 * (1.0 + np.abs(along).max(initial=0.0)))

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """As `Function.evaluate`, using the task."""
        configuration = point.workspace.resource(self, "configuration", self._configuration)
        configuration.update(point.q)
        value[:] = self.task.compute_error(configuration)
        if jacobian is not None:
            jacobian[:] = self.task.compute_jacobian(configuration)

    def _configuration(self) -> Any:
        model: Any = pin.Model(self.robot.model)  # a copy: pink writes attributes to it
        return _tasks().Configuration(model, model.createData(), self.robot.neutral)
