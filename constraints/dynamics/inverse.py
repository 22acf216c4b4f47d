"""Inverse dynamics with constraints: the forces of actuators for a wanted acceleration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from liegroups.arguments import as_tolerance
from liegroups.arrays import ArrayLike, TangentLike, Vector
from liegroups.by_name import block_of

from ..dynamics.methods.status import DynamicsStatus
from ..loops import ConstraintSet
from ..loops.mobility import taking_part
from ..robot import Motion
from ..robot.bounds import limits_of
from ..rows.right_hand_side import RightHandSide
from ..words import counted, first_names
from .actuation import Actuated, Actuation, ByActuators, actuation_at
from .laws.external_force import Force
from .methods.least_deviation import completed, solve_inverse
from .methods.row_space import in_balance
from .methods.saddle_point import Solution
from .methods.system import ConstrainedSystem, Question, asked, status_of
from .row_forces import RowForces, misses

TARGET = "wanted acceleration of inverse dynamics"


ROUNDING_OF_AN_EFFORT = 1e-9
"""Part of an effort limit by which an effort at the limit may be above it."""


class EffortBeyond(NamedTuple):
    """A joint force beyond a limit of the model.

    Attributes:
        name: of the coordinate, that of its joint.
        effort: the force [N, N m].
        limit: of the model, on the side of the force [N, N m].
    """

    name: str
    effort: float
    limit: float

    def __str__(self) -> str:
        return f"'{self.name}' {self.effort:.4g} (limit {self.limit:.4g})"


def efforts_beyond(names: Sequence[str], efforts: Vector, lower: Vector, upper: Vector) -> tuple[EffortBeyond, ...]:
    """Efforts that are beyond their limits; a limit of zero, which some files write for "not known", is none.

    Args:
        names: (n,) of the efforts.
        efforts: (n,) [N, N m].
        lower, upper: their limits (n,).
    """
    found: list[EffortBeyond] = []
    for name, effort, *sides in zip(names, efforts.tolist(), lower.tolist(), upper.tolist(), strict=True):
        limit = sides[1] if effort > 0.0 else sides[0]
        if limit != 0.0 and abs(effort) > abs(limit) * (1.0 + ROUNDING_OF_AN_EFFORT):
            found.append(EffortBeyond(name, effort, limit))
    return tuple(found)


def beyond_words(beyond: Sequence[EffortBeyond]) -> list[str]:
    """The line of a result that names efforts beyond the limits of the model; none without any."""
    return [f"  beyond the effort limits of the model: {first_names([str(each) for each in beyond])}"] if beyond else []


@final
@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamics(ByActuators, RowForces):
    r"""Forces of actuators: :math:`M a + h = \tau + B u + J^T \lambda`, :math:`J a = \gamma`, a near :math:`a^*`.

    It is neither true nor false (`if result:` raises): `success` says whether both equations hold and a is the target.
    If the target cannot be met (UNDERACTUATED, OFF_CONSTRAINTS) it holds a consistent triple (a, u, lambda) for the
    nearest acceleration, and `deviation` is the difference.

    Attributes:
        acceleration: a (nv,) [m/s2, rad/s2], the result of u; zero if there is none.
        effort: u (na,) [N, N m]; of least norm if several give the same.
        multipliers: lambda (size,), of least norm if rows are redundant.
        status: how it ended.
        target: a* (nv,), completed if it was given by joint.
        nearest: (nv,) the acceleration that meets the rows and is nearest to the target, with any actuation.
        actuators: B with the names of its columns.
        is_fully_actuated: whether any acceleration on the rows can be given: rank of [B, J^T] is nv.
        surplus: size of u minus the number of directions that it drives: above 0 u is not unique.
        question: arguments of the call.
        solution, solved: result of the linear algebra, and the system.
    """

    _joint_vectors: ClassVar[tuple[str, ...]] = ("tau", "acceleration", "target", "nearest", "deviation")

    acceleration: Vector
    effort: Vector
    multipliers: Vector
    status: DynamicsStatus
    target: Vector
    nearest: Vector
    actuators: Actuation
    is_fully_actuated: bool
    surplus: int
    unactuated: tuple[str, ...]
    question: Question
    solution: Solution | None
    solved: ConstrainedSystem | None

    @property
    def deviation(self) -> Vector:
        """A - a* (nv,): how far the acceleration is from the wanted one; zero up to rounding if that was met."""
        return self.acceleration - self.target

    @property
    def distance(self) -> float:
        r"""Kinetic distance from the target, :math:`|a - a^*|_M = \sqrt{(a - a^*)^T M (a - a^*)}`, which is minimal."""
        gap = self.deviation
        return float(np.sqrt(max(gap @ self.system.mass_matrix @ gap, 0.0)))

    @property
    def beyond_limits(self) -> tuple[EffortBeyond, ...]:
        """Joint forces of the actuators that are larger than the effort limits of the model, in the order of v.

        Of actuated joints; a cut hinge has no limit. Empty where the model states none.
        """
        model: Any = self.question.constraint_set.robot.model
        upper, lower = limits_of(model.upperEffortLimit), limits_of(model.lowerEffortLimit)
        names = self.question.constraint_set.robot.coordinate_names
        B, known = self.actuators.matrix, self.actuators.names
        driven = np.array([bool(B[i].any()) and name in known for i, name in enumerate(names)], dtype=np.bool_)
        return efforts_beyond(names, np.where(driven, self.tau, 0.0), -np.abs(lower), np.abs(upper))

    def describe(self) -> str:
        """The result in words: status, open state, contacts that pull, actuation, deviation, what has no actuator."""
        full = "full" if self.is_fully_actuated else "too few for the motions that the constraints leave free"
        lines = [str(self.status), *self._remarks, f"  actuation: {counted(len(self.effort), 'number')}, {full}"]
        lines += [f"  without actuator: {first_names(self.unactuated)}"] if self.unactuated else []
        lines += [f"  {self.surplus} more than needed: effort of least norm"] if self.surplus else []
        lines += [f"  {counted(len(self.multipliers), 'row')}, rank {self.rank}"]
        lines += [f"  redundant: {first_names(self.redundant_rows)}"] if self.redundant_rows else []
        lines += beyond_words(self.beyond_limits)
        lines += [f"  left out, and missed: {misses(self.missed_rows)}"] if self.missed_rows and self.success else []
        far = np.linalg.norm(self.deviation)
        if self.status in (DynamicsStatus.UNDERACTUATED, DynamicsStatus.OFF_CONSTRAINTS):
            off = np.linalg.norm(self.nearest - self.target)
            lines += [f"  deviation: norm {far:.3g}, of which {off:.3g} because the target contradicts the constraints"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"InverseDynamics({self.status.name}, {counted(len(self.effort), 'number')})"


def inverse_dynamics(
    constraint_set: ConstraintSet,
    motion: Motion,
    acceleration: TangentLike,
    *,
    actuated: Actuated | None = None,
    actuation: ArrayLike | None = None,
    tau: TangentLike | None = None,
    external: Iterable[Force] = (),
    row_acceleration: ArrayLike | None = None,
    rhs: RightHandSide | None = None,
    tolerance: float = 1e-6,
) -> InverseDynamics:
    r"""Forces u of actuators for a wanted acceleration a*, with the multipliers of the constraints.

    .. math:: \min_{a, u, \lambda} |a - a^*|_M \quad \text{such that} \quad
        M a + h = \tau + B u + J^T \lambda, \qquad J a = \gamma

    A target that the actuators can give on the constraints is met exactly; if B drives every motion that the rows leave
    free (`is_fully_actuated`), this is any target on the rows. Else the nearest acceleration is taken, in the metric of
    M (the kinetic energy of the difference), and the status says so. If several forces give the same acceleration, u
    and the multipliers of least norm are taken, in the units of their entries.

    Args:
        constraint_set: closures, contacts and other constraints, with their stabilisation.
        motion: the state, `robot.at(q, v)`.
        acceleration: a* (nv,) [m/s2, rad/s2]; or by joint, {"elbow": 1.0}: accelerations of other joints follow from
            the rows, and are as small as possible if the rows leave them free.
        actuated: names of joints, Segments, or closures (any as objects, those in the set also by name) whose cut hinge
            is driven: u is then T on its free coordinates.
        actuation: or your own B (nv, na).
        tau: other joint forces (nv,), or by joint, such as passive springs; zero by default.
        external: external forces: wrenches on bodies, forces at hinges, springs.
        row_acceleration: wanted second derivative of each row (size,), as `acceleration` of `forward_dynamics`.
        rhs: right-hand sides with their rates from `constraint_set.rhs_at(t)`.
        tolerance: the target counts as met up to a deviation of this fraction of 1 + norm of a*.

    Returns:
        A value; failure is a status, never an exception.

    Raises:
        OptionError: both `actuated` and `actuation`, or neither; something actuated twice.
        UnknownNameError, UnknownJointError: no such joint or closure.
        RobotMismatchError: the motion is of another robot.
        WrongObjectError, SizeError, DtypeError, NotFiniteError: an invalid argument.

    Source: `InverseDynamicsConstraints` and its relaxed variant of RBDL; cut joints of Karana kdFlex; `invdynared` of
    Robotran.
    """
    question = asked(constraint_set, motion, tau, external, row_acceleration, rhs)
    close = as_tolerance(tolerance, "tolerance of inverse dynamics")
    named, values = _wanted(constraint_set, acceleration)
    actuators = actuation_at(constraint_set, motion, actuated, actuation)
    if rhs is None:
        constraint_set.say_time()
    system = question.system(motion)
    G, gamma = system.jacobian, system.gamma
    speed = float(system.v @ system.v) + in_balance(float(system.mass_matrix.trace()), system.bias)
    rounding = constraint_set.rounding
    is_known = named.all() or not np.isfinite(gamma).all()
    target = values if is_known else completed(G, gamma, named, values[named], speed, rounding)
    matrices = system.mass_matrix, G, system.force, gamma, actuators.matrix, target
    found = solve_inverse(*matrices, size=speed, rounding=rounding, tolerance=close)
    solution = found.solution._replace(status=status_of(found.solution, constraint_set, system.rows))
    is_full = not found.unactuated.shape[1] and solution.status is not DynamicsStatus.NOT_FINITE
    left = taking_part(constraint_set.robot, found.unactuated)
    wish = target, found.nearest, actuators, is_full, found.surplus, left
    done = solution.acceleration, found.effort, solution.multipliers, solution.status
    return InverseDynamics(*done, *wish, question, solution, system)


def _wanted(constraint_set: ConstraintSet, acceleration: Any) -> tuple[Any, Vector]:
    """Which entries of the target are given (nv,), and their values (nv,)."""
    robot = constraint_set.robot
    if not isinstance(acceleration, Mapping):
        given = robot.space.check_tangent(acceleration, TARGET)
        return np.ones(robot.nv, dtype=np.bool_), np.array(given)
    named, values = np.zeros(robot.nv, dtype=np.bool_), np.zeros(robot.nv)
    entries: dict[str, Any] = {**acceleration}
    for joint, value in entries.items():
        s = robot.velocity_slice_of(joint)
        values[s] = block_of(value, s.stop - s.start, f"{TARGET}, '{joint}'")
        named[s] = True
    return named, values
