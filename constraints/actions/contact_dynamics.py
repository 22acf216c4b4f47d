"""Forward dynamics with contacts and loops as an action of optimal control, with exact derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, cast, final

import numpy as np

from liegroups.arguments import as_flag, expect
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import frozen

from ..dynamics.derivatives import SolutionSlopes, balance_at
from ..dynamics.laws.external_force import Force, as_external, force_slopes, generalised
from ..dynamics.methods.row_space import in_balance
from ..dynamics.methods.status import DynamicsStatus
from ..dynamics.methods.system import open_words_at, wanted
from ..linear_algebra import largest
from ..loops import ConstraintSet
from ..loops.baumgarte import too_stiff
from ..point import place_motion
from ..robot import Motion, Robot
from ..robot.arguments import as_robot
from ..rows.right_hand_side import RightHandSide
from ..rows.stacking import check_sides
from ..words import counted, first_names
from ..workspace import Kept, Pool, Workspace
from .action import DifferentialAction, Fields, Pair, own
from .actuators import Actuators
from .constrained_action import ConstrainedAction
from .contact_calculation import ContactCalculation, ContactDerivatives
from .costs import Cost
from .equations import differentiated, rough_parts, slopes_at, solved_by_rows
from .fused import Fused, fused_of
from .quasi_static import quasi_static
from .stage_constraints import StageConstraint
from .state_space import StateSpace, of_one_robot

SETS = 64
"""Subsets, stabilisations and dampings that an action and those made from it keep pinocchio's contacts of."""

_LIGHT = ("constraint_set", "damping", "armature", "with_force_derivatives", "rhs", "external")
"""What `replace` changes without building anything."""


@final
class ContactForwardDynamics(ConstrainedAction, DifferentialAction):
    r"""Constrained forward dynamics as a node: accelerations from states and controls, with costs and constraints.

    .. math:: (M + A)\,a + h = B u + f(q, v) + J^T \lambda, \qquad J a + \mu\lambda = \gamma

    with :math:`\gamma` = - drift - stabilisation, f the external forces, and lambda acting on the successors (on the
    robot, for contacts).

    Redundant rows are allowed if their rank is the same nearby: accelerations and wrenches are exact, and the
    multipliers are those of least norm. If the rank changes there are accelerations, but no derivatives.

    Contacts of three or six rows in the form RATES go through pinocchio's fused calls in LOCAL axes (those in world
    axes are rotated, because pinocchio's own derivatives are wrong there); all others use this library's own assembly,
    with the same numbers.

    Args:
        robot: the robot.
        actuators: B; a control for each coordinate by default.
        constraint_set: contacts and loops, with their stabilisation; none by default.
        costs: terms of the cost.
        constraints: rows of inequalities and equalities.
        damping: mu >= 0, of one solve: the rows are then violated by :math:`-\mu\lambda`.
        armature: A >= 0 (nv,) or one number, added to the diagonal of the mass matrix, besides the model's own.
        with_force_derivatives: whether `calc_diff` gives derivatives of the multipliers.
        rhs: right-hand sides of the rows with their rates, `constraint_set.rhs_at(t)`; constant ones by default.
        external: springs, dampers, wrenches and other laws f that act besides, as in `forward_dynamics`; their
            derivatives are exact where they have formulas, and else named in `by_differences`.

    Attributes:
        robot, actuators, constraint_set, damping, armature, with_force_derivatives, rhs, external: as given.

    Raises:
        RobotMismatchError: parts of another robot.
        WrongObjectError, SizeError, OptionError: an invalid argument, such as a negative damping or armature.

    Source: `DifferentialActionModelContactFwdDynamics` of Crocoddyl.
    """

    _light, _what = frozenset(_LIGHT), "contact dynamics"
    actuators: Actuators
    with_force_derivatives: bool
    rhs: RightHandSide | None
    external: tuple[Force, ...]

    def __init__(
        self,
        robot: Robot,
        actuators: Actuators | None = None,
        constraint_set: ConstraintSet | None = None,
        costs: Iterable[Cost] = (),
        constraints: Iterable[StageConstraint] = (),
        damping: float = 0.0,
        armature: ArrayLike | float = 0.0,
        with_force_derivatives: bool = False,
        rhs: RightHandSide | None = None,
        external: Iterable[Force] = (),
    ) -> None:
        self.robot = as_robot(robot, "robot of contact dynamics")
        self.actuators = Actuators.full(robot) if actuators is None else expect(actuators, Actuators, "actuators")
        of_one_robot(self.robot, self.actuators.robot, "actuators")
        self._kept: Kept[tuple[Fused | None]] = Kept(SETS)
        self._memory = Pool(Workspace)
        rows = ConstraintSet(robot, []) if constraint_set is None else constraint_set
        given = rows, damping, armature, with_force_derivatives, rhs, external
        self._set(dict(zip(_LIGHT, given, strict=True)))
        stage = StateSpace(self.robot).with_controls(self.actuators.nu, self.constraint_set)
        super().__init__(stage, costs, constraints)

    def _set(self, given: Mapping[str, Any]) -> None:
        """As `ConstrainedAction._set`."""
        super()._set(given)
        self._has_armature = bool(self.armature.any())
        if "with_force_derivatives" in given:
            self.with_force_derivatives = as_flag(given["with_force_derivatives"], "with_force_derivatives")
        if "external" in given:
            self.external = as_external(given["external"])
        if "rhs" in given:
            self.rhs = given["rhs"]
        if self.rhs is not None:
            check_sides(self.constraint_set.stack, expect(self.rhs, RightHandSide, "rhs of contact dynamics"))

    @property
    def u_lower(self) -> Vector:
        """Lower bounds of the controls (nu,): effort limits of the robot, if a control drives one coordinate."""
        return self.actuators.lower

    @property
    def u_upper(self) -> Vector:
        """Upper bounds of the controls (nu,)."""
        return self.actuators.upper

    # Other actions.

    @property
    def _arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("robot", "actuators", *self._light)}

    def asked_of_step(self, h: float) -> tuple[str, ...]:
        """As `DifferentialAction.asked_of_step`: gains that are too large for it, or that act on nothing."""
        rows = self.constraint_set
        stiff = too_stiff(zip(rows.names, rows.baumgarte, strict=True), h)
        idle = f"position gains that act on nothing, for want of an anchor: {first_names(rows.idle_gains)}"
        return tuple(filter(None, (stiff, idle if rows.idle_gains else "")))

    def open_at(self, x: ArrayLike) -> str:
        """As `Action.open_at`."""
        return "".join(open_words_at(self.constraint_set, self.robot.at(*self.state.split(x)), self.rhs)).strip()

    # What a solver calls.

    quasi_static = quasi_static

    def calc(self, x: ArrayLike, u: ArrayLike | None = None) -> ContactCalculation:
        """As `Action.calc`; if the dynamics have no solution at a state, the status says so."""
        state, control = self._checked(x, u)
        if control is None:
            node = self._node(state, None)
            return ContactCalculation(**node, acceleration=None, multipliers=None, status=None, action=self)
        nq = self.state.nq
        q, v = state[:nq], state[nq:]
        tau = self._pushed(q, v, control)
        if self._fused is not None:
            done = self._fused.solve(q, v, tau)
            if done is not None:
                a, push, trace = done
                node = self._node(state, control, push)
                return frozen(
                    ContactCalculation,
                    node,
                    acceleration=a,
                    multipliers=push,
                    status=DynamicsStatus.SOLVED,
                    action=self,
                    trace=trace,
                )
        return self._assembled(state, control, tau)

    def _pushed(self, q: Vector, v: Vector, u: Vector) -> Vector:
        """Forces of controls and external ones (nv,)."""
        tau = self.actuators.tau(q, u)
        return tau + generalised(self.external, self.robot.at(q, v)) if self.external else tau

    def _assembled(self, x: Vector, u: Vector, tau: Vector) -> ContactCalculation:
        """A node by the library's own rows."""
        rows_of = self.constraint_set
        v = x[self.state.nq :]
        workspace = self._memory.take()
        motion = cast(Motion, place_motion(self.robot.space, x[: self.state.nq], v, workspace))
        M = motion.mass_matrix()
        if self._has_armature:
            M.flat[:: len(M) + 1] += self.armature
        bias = motion.bias_force()
        rows = rows_of.rows_at(motion, self.rhs)
        if not workspace.is_crowded:
            self._memory.give(workspace)
        gamma = wanted(rows_of, rows, None)

        def size() -> float:
            return float(v @ v) + in_balance(float(M.trace()), bias)

        a, push, status, row_space = solved_by_rows(rows_of, M, tau - bias, rows, gamma, self.damping, size)
        return ContactCalculation(
            **self._node(x, u, push),
            acceleration=a,
            multipliers=push,
            status=status,
            action=self,
            row_space=row_space,
            mass_matrix=M,
        )

    @cached_property
    def _fused(self) -> Fused | None:
        """Pinocchio's own contacts; None where its rows are other ones."""
        if self.rhs is not None:
            return None
        rows = self.constraint_set
        key = rows.active.tobytes(), rows.baumgarte, self.damping, self.armature.tobytes()
        return self._kept.get(key, lambda: fused_of(rows, self.damping, self.armature))[0]

    def calc_diff(self, calculation: Any) -> ContactDerivatives:
        """As `Action.calc_diff`."""
        done: ContactCalculation = own(calculation, ContactCalculation, self)
        u, a = done.u, done.acceleration
        if u is None or a is None:
            return ContactDerivatives(Fx=None, Fu=None, **self._slopes(done), calculation=done)
        if not done.success:
            return self._without(done, DynamicsStatus.NOT_SOLVED, ())
        q, v = done.x[: self.state.nq], done.x[self.state.nq :]
        drive, names = self.actuators.drive(q, u), ()
        if self.external:
            by_q, by_v, names = force_slopes(self.external, self.robot.at(q, v))
            drive = drive.beside(by_q, by_v)
        if done.trace is not None and done.multipliers is not None and self._fused is not None:
            by, push = self._fused.slopes(done.x, self._pushed(q, v, u), done.multipliers, done.trace, drive)
        else:
            found, rough = self._own_slopes(done, a)
            names += rough
            if found is None:
                return self._without(done, DynamicsStatus.NO_DERIVATIVES, names)
            by = drive.by_stage(found.a_q, found.a_v, found.a_tau)
            push = drive.by_stage(found.l_q, found.l_v, found.l_tau)
        if not np.isfinite(by[0]).all():
            return self._without(done, DynamicsStatus.NO_DERIVATIVES, names)
        node = self._slopes(done, done.multipliers, push)
        return self._differentiated(done, node, by, push, differentiated(done.status), names)

    def _own_slopes(self, done: ContactCalculation, a: Vector) -> tuple[SolutionSlopes | None, tuple[str, ...]]:
        """Derivatives by the library's own rows, and the names of constraints that have no formulas."""
        q, v, push = done.x[: self.state.nq], done.x[self.state.nq :], np.asarray(done.multipliers)
        tree = self.robot.space.elementary
        data = tree.datas.take()
        balance = balance_at(self.constraint_set, q, v, a, push, tree, data, self.rhs)
        M = np.asarray(done.mass_matrix)
        is_quick = done.row_space is None
        found = slopes_at(self.constraint_set, q, M, balance, push, data, self.damping, self.rhs, is_quick)
        tree.datas.give(data)
        return found, rough_parts(tree) + balance.rows.by_differences

    def _without(self, done: ContactCalculation, status: DynamicsStatus, names: tuple[str, ...]) -> ContactDerivatives:
        """What is left where there are no derivatives of the dynamics: NaN for these."""
        n, ndx, nu, k = self.state.nv, self.state.ndx, self.nu, self.constraint_set.size
        by, push = ((np.full((rows, ndx), np.nan), np.full((rows, nu), np.nan)) for rows in (n, k))
        return self._differentiated(done, self._slopes(done, done.multipliers), by, push, status, names)

    def _differentiated(
        self,
        done: ContactCalculation,
        node: Fields,
        by: Pair,
        push: Pair,
        status: DynamicsStatus,
        names: tuple[str, ...],
    ) -> ContactDerivatives:
        """The result, from derivatives of costs and rows, of accelerations, and of multipliers."""
        forces = push if self.with_force_derivatives else (None, None)
        return frozen(
            ContactDerivatives,
            node,
            Fx=by[0],
            Fu=by[1],
            status=status,
            multipliers_x=forces[0],
            multipliers_u=forces[1],
            by_differences=names,
            calculation=done,
        )

    def describe(self) -> str:
        """The action in words: state, actuators, contacts and loops with their stabilisation, costs, constraints."""
        lines = [
            f"contact dynamics of '{self.robot.name}': nx {self.state.nx}, ndx {self.state.ndx}, nu {self.nu}",
            f"  damping {self.damping:g}, armature up to {largest(self.armature):g}",
        ]
        rows = self.constraint_set
        for name, kind, on, gains, s in zip(
            rows.names, rows.kinds, rows.active, rows.baumgarte, rows.stack.slices, strict=True
        ):
            state = "" if on else ", off"
            lines.append(f"  {kind} '{name}': {counted(s.stop - s.start, 'row')}, {gains}{state}")
        lines += [f"  external: {force!r}" for force in self.external]
        lines += [f"  cost '{cost.label}', weight {cost.weight:g}" for cost in self.costs.costs]
        for one in self.constraints.constraints:
            lines.append(f"  {'equality' if one.is_equality else 'inequality'} '{one.label}'")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return (
            f"ContactForwardDynamics({self.robot.name!r}, nu {self.nu}, {self.constraint_set!r}, nr {self.nr}, "
            f"ng {self.ng}, nh {self.nh}, damping {self.damping:g})"
        )
