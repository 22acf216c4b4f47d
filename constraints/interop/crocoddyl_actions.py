"""Actions for the solvers of crocoddyl: its abstract classes, derived in Python. Extra `crocoddyl`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, Vector

from ..actions import Action, Derivatives, DifferentialAction, StateSpace
from ..actions.action import Calculation
from ..errors import ConstraintError
from ..exports import from_extra
from ..robot.bounds import limits_of
from .crocoddyl_wheels import look

_log = logging.getLogger(__name__)


def as_crocoddyl_state(space: StateSpace) -> Any:
    """A state space as a `crocoddyl.StateAbstract`.

    Limits are those of the robot: `lb`, `ub` (nx,), positions of joints and velocities, infinite if there are none.
    Invalid states (a number that is not finite, a quaternion that is not a unit one) give NaN and a warning in the log:
    an exception of Python would end crocoddyl's process.

    Args:
        space: the states.

    Raises:
        WrongObjectError: not a `StateSpace`.
        MissingExtraError: crocoddyl is not installed.
    """
    return _state_class()(expect(space, StateSpace, "state space for crocoddyl", "a StateSpace"))


def as_crocoddyl_action(action: Action) -> Any:
    """An action as a model of crocoddyl, for its shooting problems and solvers.

    A differential action is a `crocoddyl.DifferentialActionModelAbstract`, which crocoddyl's integrated actions take; a
    discrete one a `crocoddyl.ActionModelAbstract`, which its shooting problems take. crocoddyl gets numbers only, no
    model of Pinocchio: the wheels of both need not be compatible. If they are not, the log says so (logger
    `constraints.interop.crocoddyl_wheels`), once, on first use of crocoddyl.

    The numbers are those of the action. If `calc` fails (a singular state, a number that is not finite, an undefined
    function, a quaternion that is not a unit one), acceleration or next state and cost are NaN, and line searches of
    crocoddyl try a shorter step; if `calcDiff` fails the derivatives are NaN, and a warning is in the log. The reason
    is in `said` of the data. No error is raised there: solvers of crocoddyl call from parallel regions, where an
    exception of Python ends the process. `calcDiff` uses the state of its arguments, never an earlier one.

    Rows g and h of terminal nodes come first in arrays of the larger of both sizes, the rest is zero; `g_lb`, `g_ub`
    are those of running nodes. Solvers of crocoddyl 3.2: FDDP, BoxFDDP and Intro are tested; only Intro uses h, and no
    solver uses g.

    Args:
        action: the action.

    Returns:
        The model; its `action` is the action, and `calculation` of its data the last result of `calc`, if any.

    Raises:
        WrongObjectError: not an action.
        MissingExtraError: crocoddyl is not installed.

    Example:
        >>> problem = crocoddyl.ShootingProblem(x0, [as_crocoddyl_action(step)] * 20, as_crocoddyl_action(last))
        ... # doctest: +SKIP
    """
    given = expect(action, Action, "action for crocoddyl", "a DifferentialAction or a DiscreteAction")
    kind = ("DifferentialAction", "xout") if isinstance(given, DifferentialAction) else ("Action", "xnext")
    return _model_class(*kind)(given)


def _crocoddyl() -> Any:
    crocoddyl = from_extra("crocoddyl", "crocoddyl")
    look()
    return crocoddyl


@cache
def _state_class() -> Any:
    crocoddyl = _crocoddyl()
    base: Any = crocoddyl.StateAbstract
    which: Any = crocoddyl.Jcomponent

    def asked(pair: Any, component: Any) -> Matrix | list[Matrix]:
        """The derivatives that crocoddyl asked for: both in a list, one as it is."""
        first, second = pair
        if component == which.both:
            return [first, second]
        return first if component == which.first else second

    class CrocoddylState(base):
        """States as a state of crocoddyl."""

        def __init__(self, space: StateSpace) -> None:
            base.__init__(self, space.nx, space.ndx)
            self.space = space
            self._rng = np.random.default_rng(0)
            model: Any = space.robot.model
            bounds = space.robot.bounds
            fastest = limits_of(model.upperVelocityLimit)
            self.lb = np.concatenate([bounds.lower, -fastest])
            self.ub = np.concatenate([bounds.upper, fastest])

        def zero(self) -> Vector:
            return self.space.zero

        def rand(self) -> Vector:
            return self.space.integrate(self.space.zero, self._rng.uniform(-1.0, 1.0, self.space.ndx))

        def diff(self, x0: Vector, x1: Vector) -> Vector:
            return _or_nan(lambda: self.space.difference(x0, x1), self.space.ndx)

        def integrate(self, x: Vector, dx: Vector) -> Vector:
            return _or_nan(lambda: self.space.integrate(x, dx), self.space.nx)

        def Jdiff(self, x0: Vector, x1: Vector, firstsecond: Any = which.both) -> Any:
            return asked(_or_nan(lambda: self.space.difference_jacobians(x0, x1), self._pair), firstsecond)

        def Jintegrate(self, x: Vector, dx: Vector, firstsecond: Any = which.both) -> Any:
            del x
            return asked(_or_nan(lambda: self.space.integrate_jacobians(dx), self._pair), firstsecond)

        def JintegrateTransport(self, x: Vector, dx: Vector, Jin: Matrix, firstsecond: Any) -> Matrix:
            del x
            by_x, by_dx = _or_nan(lambda: self.space.integrate_jacobians(dx), self._pair)
            return (by_x if firstsecond == which.first else by_dx) @ Jin

        @property
        def _pair(self) -> tuple[int, int, int]:
            return 2, self.space.ndx, self.space.ndx

        def __repr__(self) -> str:
            return f"crocoddyl state of {self.space!r}"

        __str__ = __repr__

    return CrocoddylState


@cache
def _model_class(kind: str, result: str) -> Any:
    """A model class of crocoddyl over an action.

    Args:
        kind: what crocoddyl calls it.
        result: where its data keep what the dynamics give.
    """
    crocoddyl = _crocoddyl()
    model_base: Any = getattr(crocoddyl, f"{kind}ModelAbstract")
    data_base: Any = getattr(crocoddyl, f"{kind}DataAbstract")

    class Data(data_base):
        """Memory of crocoddyl, with the calculation that filled it."""

        def __init__(self, model: Any) -> None:
            data_base.__init__(self, model)
            self.calculation: Calculation | None = None
            self.said = ""

    class CrocoddylModel(model_base):
        """An action as a model of crocoddyl."""

        def __init__(self, action: Action) -> None:
            sizes = action.nr, action.ng, action.nh, action.ng_terminal, action.nh_terminal
            model_base.__init__(self, as_crocoddyl_state(action.state), action.nu, *sizes)
            self.action = action
            if action.nu:
                self.u_lb, self.u_ub = action.u_lower, action.u_upper
            if action.ng:
                self.g_lb, self.g_ub = action.g_lower, action.g_upper

        def createData(self) -> Any:
            return Data(self)

        def calc(self, data: Any, x: Vector, u: Vector | None = None) -> None:
            done, said = _calculated(self.action, x, u)
            data.calculation, data.said = done, said
            if done is None or not done.success:
                data.cost = np.nan
                setattr(data, result, np.full(np.size(getattr(data, result)), np.nan))
                return
            data.cost = done.cost
            data.r = done.residuals
            data.g, data.h = _padded(done.g, np.size(data.g)), _padded(done.h, np.size(data.h))
            following: Any = getattr(done, "next_state" if result == "xnext" else "acceleration")
            if following is not None:
                setattr(data, result, following)

        def calcDiff(self, data: Any, x: Vector, u: Vector | None = None) -> None:
            if data.calculation is None or not _same(data.calculation, x, u):
                data.calculation, data.said = _calculated(self.action, x, u)
            done = data.calculation
            try:
                d = None if done is None else self.action.calc_diff(done.or_raise()).or_raise()
            except ConstraintError as error:
                d, data.said = None, str(error)
            if d is None:
                _log.warning("no derivatives of %r: %s", self.action, data.said)
                for name in ("Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu"):
                    getattr(data, name)[...] = np.nan
                return
            _write(data, d)

        def __repr__(self) -> str:
            return f"crocoddyl model of {self.action!r}"

        __str__ = __repr__

    return CrocoddylModel


def _or_nan(computed: Callable[[], Any], shape: Any) -> Any:
    """Numbers of the state space, or NaN where it refuses what it got, which the log then says."""
    try:
        return computed()
    except ConstraintError as error:
        _log.warning("no numbers of a state: %s", error)
        return np.full(shape, np.nan)


def _calculated(action: Action, x: Vector, u: Vector | None) -> tuple[Calculation | None, str]:
    """What an action calculates, or None and the reason: an exception would end crocoddyl's process."""
    try:
        done: Calculation = action.calc(x, u)
    except ConstraintError as error:
        return None, str(error)
    return done, "" if done.success else str(done)


def _same(done: Calculation, x: Vector, u: Vector | None) -> bool:
    """Whether a calculation is of these numbers, exactly."""
    if (u is None) != done.is_terminal or not np.array_equal(done.x, x):
        return False
    return u is None or np.array_equal(np.asarray(done.u), u)


def _padded(rows: Any, size: int) -> Any:
    """Rows for an array of crocoddyl that may have more of them; the rest is zero."""
    whole = np.zeros((size, *rows.shape[1:]))
    whole[: len(rows)] = rows
    return whole


def _write(data: Any, d: Derivatives) -> None:
    """Write derivatives into data of crocoddyl, by its setters: arrays it hands out have no axis of one entry."""
    if d.Fx is not None and d.Fu is not None:
        data.Fx, data.Fu = d.Fx, d.Fu
    data.Lx, data.Lu = d.Lx, d.Lu
    data.Lxx, data.Lxu, data.Luu = d.Lxx, d.Lxu, d.Luu
    ng, nh = np.size(data.g), np.size(data.h)
    data.Gx, data.Gu = _padded(d.Gx, ng), _padded(d.Gu, ng)
    data.Hx, data.Hu = _padded(d.Hx, nh), _padded(d.Hu, nh)
