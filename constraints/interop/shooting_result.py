"""SciPy's `trust-constr` on a shooting problem, and what came out of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.optimize import minimize

from liegroups.arguments import as_callable, as_tolerance, finite_number, natural_number
from liegroups.arrays import Vector

from ..errors import FailedError, OptionError, UndefinedError
from ..functions.lifted import same_space
from ..linear_algebra import largest
from ..solvers.result import Result
from ..solvers.status import StatusEnum
from .shooting_nodes import ShootingTrajectory

if TYPE_CHECKING:
    from .shooting import MultipleShooting

LEAST_CHANGE_OF_SHOOTING = 1e-12
"""Radius of the trust region at which SciPy gives up."""


@final
class ShootingStatus(StatusEnum, successes=("CONVERGED",)):
    """Why an optimisation of a trajectory ended."""

    CONVERGED = "The trajectory is stationary and all rows hold, within the tolerance."
    STALLED = "SciPy's steps became too short before the trajectory was stationary and all rows held."
    MAX_ITERATIONS = "There were no iterations left."
    INTERRUPTED = "The callback stopped it."
    NO_DYNAMICS = "A node of the trajectory to start from has no dynamics, or no finite cost."
    NO_DERIVATIVES = "A node of an iterate has dynamics but no derivatives."


@final
@dataclass(frozen=True, eq=False, repr=False)
class ShootingResult(Result):
    """The final trajectory of an optimisation, and its accuracy.

    Attributes:
        trajectory: the last one.
        status: why it ended.
        cost: of all nodes.
        defect: largest entry of the defects, in the tangent of the states.
        missed: largest violation of all other rows and bounds.
        gradient: largest entry of the gradient of the Lagrangian, by SciPy's multipliers; NaN if there is none.
        iterations: iterations of SciPy.
        charts: number of base trajectories.
        said: message of SciPy, or of the node that failed.
        opened: how far the start, and states that constraints ask for, are off the closures and anchors, in words:
            dynamics that keep the constraints start or end there by no true motion.
    """

    trajectory: ShootingTrajectory
    status: ShootingStatus
    cost: float
    defect: float
    missed: float
    gradient: float
    iterations: int
    charts: int
    said: str
    opened: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.status}\n  cost {self.cost:.6g}, defect {self.defect:.1e}, other rows {self.missed:.1e}, "
            f"gradient {self.gradient:.1e}, {self.iterations} iterations\n  {self.said}"
            + "".join(f"\n  {words}" for words in self.opened)
        )

    def __repr__(self) -> str:
        return f"ShootingResult({self.status.name}, cost {self.cost:.6g}, {self.iterations} iterations)"


def minimised(
    program: MultipleShooting,
    tolerance: float,
    max_iterations: int,
    trust_radius: float,
    penalty: float,
    turn: float,
    callback: Callable[[Vector, Any], object] | None,
) -> ShootingResult:
    """What `MultipleShooting.minimize` gives; its arguments."""
    close, left = as_tolerance(tolerance, "tolerance of a shooting problem"), natural_number(max_iterations, "steps")
    most = finite_number(turn, "turn of a chart")
    if not 0.0 < most < np.pi:
        raise OptionError(f"turn of a chart: expected an angle between 0 and pi, got {most:g}")
    if callback is not None:
        as_callable(callback, "callback of a shooting problem", "a function of z and SciPy's state")
    begin = {
        "initial_tr_radius": finite_number(trust_radius, "trust radius"),
        "initial_constr_penalty": finite_number(penalty, "penalty"),
    }
    here, used, charts, last = program, 0, 1, program.start
    if not here.nodes(last).success:
        return _result(here, last, ShootingStatus.NO_DYNAMICS, None, 0, 1, _reason(here, last))
    while True:
        watch = _Watch(here, most, callback)
        options = {"gtol": close, "xtol": LEAST_CHANGE_OF_SHOOTING, "barrier_tol": close, "maxiter": left - used}
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "delta_grad == 0.0")
                found: Any = _call(here, last, watch, options | begin)
        except (FailedError, UndefinedError) as error:
            said = f"{type(error).__name__}: {error}"
            done = used + watch.iterations
            return _result(here, watch.z, ShootingStatus.NO_DERIVATIVES, None, done, charts, said)
        used += int(found.nit)
        if not watch.far or used >= left:
            break
        here, charts = here.around(here.trajectory(found.x)), charts + 1
        last = here.start
        begin = {f"initial_{name}": float(found[name]) for name in _CARRIED if name in found}
    status = ShootingStatus.MAX_ITERATIONS if watch.far else _STATUS[int(found.status)]
    result = _result(here, found.x, status, found, used, charts, str(found.message))
    if result.success and not max(result.defect, result.missed) <= close:
        return replace(result, status=ShootingStatus.STALLED)
    return result


_CARRIED = ("tr_radius", "constr_penalty", "barrier_parameter", "barrier_tolerance")
"""What SciPy goes on with in the next charts."""
_STATUS = (ShootingStatus.MAX_ITERATIONS, ShootingStatus.CONVERGED, ShootingStatus.STALLED, ShootingStatus.INTERRUPTED)
"""Of SciPy's numbers."""


@final
class _Watch:
    """SciPy's callback: remembers where it is, and stops at the edge of the charts, or where the user says so."""

    def __init__(self, program: MultipleShooting, turn: float, callback: Callable[[Vector, Any], object] | None):
        self._program, self._turn, self._callback = program, turn, callback
        self.z, self.iterations, self.far = program.start, 0, False

    def __call__(self, z: Vector, state: Any) -> bool:
        self.z, self.iterations = np.array(z), int(state.nit)
        self.far = self._program.turned(z) > self._turn
        stops = self._callback is not None and bool(self._callback(z, state))
        self.far = self.far and not stops
        return stops or self.far


def _call(program: MultipleShooting, z: Vector, watch: _Watch, options: dict[str, Any]) -> Any:
    box = program.bounds
    bounded = bool(np.isfinite(np.concatenate([box.lb, box.ub])).any())
    call: Any = minimize  # its stubs know no sparse Hessian
    return call(
        program.cost,
        z,
        jac=program.gradient,
        hess=program.hessian,
        bounds=box if bounded else None,
        constraints=[program.constraint],
        method="trust-constr",
        callback=watch,
        options=options,
    )


def _reason(program: MultipleShooting, z: Vector) -> str:
    for k, done in enumerate(program.nodes(z).calculations):
        if done is None or not done.success:
            return f"node {k}: {'a function is undefined' if done is None else done.reason}"
    return ""


def _result(
    program: MultipleShooting, z: Vector, status: ShootingStatus, found: Any, iterations: int, charts: int, said: str
) -> ShootingResult:
    nodes, rows, box = program.nodes(z), program.rows(z), program.bounds
    outside = np.maximum(program.lower - rows, rows - program.upper)[~program.are_defects]
    beyond = np.maximum(box.lb - z, z - box.ub)
    missed = max(largest(np.maximum(outside, 0.0)), largest(np.maximum(beyond, 0.0)))
    gradient = np.nan if found is None else float(found.optimality)
    defect = largest(np.concatenate(nodes.defects))
    told = status, nodes.cost, defect, missed, gradient, iterations, charts, said, _opened(program)
    return ShootingResult(nodes.trajectory, *told)


def _opened(program: MultipleShooting) -> tuple[str, ...]:
    """How far the start and wanted states are off the constraints, in words."""
    found = {"start": program.actions[0].open_at(program.base.xs[0])}
    for action in {id(each): each for each in (*program.actions, program.terminal)}.values():
        for one in action.constraints.constraints:
            is_state = same_space(one.function.outputs, action.state.space)
            if is_state and one.is_equality and one.reference is not None:
                found[f"'{one.label}'"] = action.open_at(one.reference)
    return tuple(f"{name}: {words}" for name, words in found.items() if words)
