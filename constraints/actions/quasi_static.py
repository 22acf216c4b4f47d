"""Controls that hold a robot at rest, with the forces of its contacts and loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups.arguments import as_mapping, as_tolerance, natural_number, real_numbers
from liegroups.arrays import ArrayLike, Vector

from ..dynamics.inverse import EffortBeyond, beyond_words, efforts_beyond
from ..dynamics.laws.external_force import generalised
from ..dynamics.methods.status import DynamicsStatus
from ..errors import OptionError, SizeError, UnknownNameError
from ..linear_algebra import largest
from ..loops import FrictionCone, Sole
from ..solvers.result import Result
from ..words import first_names
from .stance import Load, least_within, limits_of, loads_of, overloaded

if TYPE_CHECKING:
    from .contact_dynamics import ContactForwardDynamics

Cones = Mapping[str, FrictionCone | float] | FrictionCone | float | None
"""Friction of contacts: by name, or one for all."""

RANK_OF_BALANCE = 1e-12
"""Singular values of the balance below this part of the largest, times its larger size, are zero: Crocoddyl's."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class QuasiStatic(Result):
    r"""Controls and multipliers at rest: :math:`B u + f(q, 0) + J^T \lambda = h(q, 0)`.

    Attributes:
        u: (nu,), of least norm if it is not unique.
        multipliers: lambda (size,).
        missing: (nv,) rest of the balance [N, N m].
        residual: its largest entry.
        limit: the balance counts as met up to this residual.
        iterations: number of corrections of rounding.
        status: how it ended.
        loads: what each contact carries, by name.
        overloaded: contacts whose cone or sole has to give way, where the status is NOT_ADMISSIBLE.
        beyond_limits: controls beyond the effort limits of the model.
        opened: how far the configuration is off anchors and closures, in words; empty where it is closed.
        unbalanced: coordinate -> its part of `missing` where that is above the limit [N, N m], largest first.
    """

    u: Vector
    multipliers: Vector
    missing: Vector
    residual: float
    limit: float
    iterations: int
    status: DynamicsStatus
    loads: Mapping[str, Load]
    overloaded: tuple[str, ...] = ()
    beyond_limits: tuple[EffortBeyond, ...] = ()
    opened: str = ""
    unbalanced: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def pulling(self) -> dict[str, float]:
        """Contacts that pull -> their normal force [N], negative: ground that only pushes does not hold this stance."""
        return {name: load.normal_force for name, load in self.loads.items() if load.normal_force < -self.limit}

    @property
    def friction_needed(self) -> dict[str, float]:
        """Contact -> the coefficient of friction that its force needs; infinite where it does not push."""
        return {name: load.friction_needed for name, load in self.loads.items()}

    @property
    def centre_of_pressure(self) -> dict[str, Vector]:
        """Surface contact that pushes -> centre of pressure (2,) in the plane of x and y of its rows [m]."""
        at = {name: load.centre_of_pressure for name, load in self.loads.items()}
        return {name: place for name, place in at.items() if place is not None}

    def describe(self) -> str:
        """The result in words: open state, efforts beyond limits, and a line a contact."""
        lines = [str(self)] + ([f"  {self.opened}"] if self.opened else []) + beyond_words(self.beyond_limits)
        return "\n".join([*lines, *(f"  '{name}': {load}" for name, load in self.loads.items())])

    def __str__(self) -> str:
        if self.success:
            pulls = ", ".join(f"'{name}' pulls with {-force:.3g} N" for name, force in self.pulling.items())
            return f"equilibrium (residual {self.residual:.3g} N or N m){f', but {pulls}' if pulls else ''}"
        if self.status is DynamicsStatus.NOT_ADMISSIBLE:
            named = ", ".join(f"'{name}'" for name in self.overloaded) or "the contacts together"
            return f"no admissible equilibrium: the cone or sole of {named} would have to give way"
        parts = first_names([f"'{name}' {force:.3g}" for name, force in self.unbalanced.items()])
        return f"no equilibrium: controls and contacts leave {self.residual:.3g} N or N m, at {parts}"


def quasi_static(
    self: ContactForwardDynamics,
    x: ArrayLike,
    max_iterations: int = 5,
    tolerance: float = 1e-9,
    weights: Mapping[str, ArrayLike] | None = None,
    *,
    cones: Cones = None,
    soles: Mapping[str, Sole] | None = None,
) -> QuasiStatic:
    r"""Least controls and multipliers that hold a robot at rest.

    .. math:: \min_{u, \lambda} |W_u u|^2 + |W_\lambda \lambda|^2 \quad \text{such that} \quad
        B u + f(q, 0) + J^T \lambda = h(q, 0)

    with f the external forces of the action. Without weights newtons count as newton metres, as in Crocoddyl: an arm in
    contact then lets the contact carry part of its own weight. Contacts that are off carry nothing; damping and
    armature have no part in it.

    Args:
        x: state (nx,), at rest.
        max_iterations: corrections of rounding, at most.
        tolerance: largest entry of the balance that counts as met, as a part of the largest force of gravity, and of
            1 N (N m) where that is less.
        weights: "controls" and "multipliers" -> one number, or one an entry: what a unit of each counts. They say what
            newtons are against newton metres; infinite: what is not used at all.
        cones: contact -> FrictionCone or coefficient of friction, or one for all contacts. With cones or soles the
            forces are the least ones that the ground can give (a small quadratic program, cones as pyramids inside
            them); where there are none the status is NOT_ADMISSIBLE, with the contacts. Without both, forces may pull.
        soles: surface contact -> Sole.

    Raises:
        OptionError: a state that moves; a weight that is not positive; a cone of what is no contact, a sole of what is
            no surface.
        UnknownNameError: another name among the weights, cones or soles.
        SizeError, NotFiniteError, ...: what is wrong with x or with weights.

    Source: `quasiStatic` of Crocoddyl, which ignores velocities and says nothing where there is no equilibrium.
    """
    q, v = self.state.split(x)
    if v.any():
        raise OptionError(f"state of a quasi-static balance: expected no velocity, got up to {largest(v):.3g}")
    most = natural_number(max_iterations, "iterations of a quasi-static balance")
    close = as_tolerance(tolerance, "tolerance of a quasi-static balance")
    given = cones is not None or soles is not None
    limits = limits_of(self.constraint_set, q, cones, soles) if given else None
    motion = self.robot.at(q, v)
    B, J = self.actuators.B(q), self.constraint_set.rows_at(motion, self.rhs).jacobian
    nu, k = B.shape[1], len(J)
    scale = 1.0 / _weights(weights, nu, k)
    A, asked = np.hstack([B, J.T]) * scale, motion.bias_force()
    if self.external:
        asked = asked - generalised(self.external, motion)
    y, left, used = np.zeros(nu + k), asked, 0
    limit = close * max(largest(asked), 1.0)
    while True:
        y = y + np.linalg.lstsq(A, left, rcond=RANK_OF_BALANCE * max(A.shape))[0] if A.size else y
        missing = asked - A @ y
        if largest(missing) <= limit or used >= most or largest(missing) >= 0.5 * largest(left):
            break
        left, used = missing, used + 1
    residual, status, over = largest(missing), DynamicsStatus.EQUILIBRIUM, ()
    if residual > limit:
        status = DynamicsStatus.NO_EQUILIBRIUM
    elif limits is not None:
        C = np.hstack([np.zeros((len(limits.rows), nu)), limits.rows]) * scale
        within = least_within(A, asked, C)
        if within is None:
            status, over = DynamicsStatus.NOT_ADMISSIBLE, overloaded(A, asked, C, limits.names, largest(asked))
        else:
            y = within
            missing = asked - A @ y
    found = y * scale
    loads = loads_of(self.constraint_set, q, found[nu:], cones, soles)
    of = self.actuators
    beyond, opened = efforts_beyond(of.names, found[:nu], of.lower, of.upper), self.open_at(x)
    left_at = dict(zip(self.robot.coordinate_names, missing.tolist(), strict=True))
    unbalanced = {n: f for n, f in sorted(left_at.items(), key=lambda e: -abs(e[1])) if abs(f) > limit}
    told = largest(missing), limit, used, status, loads, over, beyond, opened, unbalanced
    return QuasiStatic(found[:nu], found[nu:], missing, *told)


def _weights(weights: Any, nu: int, k: int) -> Vector:
    found = {"controls": np.ones(nu), "multipliers": np.ones(k)}
    words = "from 'controls' and 'multipliers' to numbers"
    entries: dict[str, Any] = {} if weights is None else {**as_mapping(weights, "weights of a balance", words)}
    for name, numbers in entries.items():
        if name not in found:
            raise UnknownNameError("weights of a quasi-static balance", name, tuple(found))
        n, given = found[name].size, real_numbers(numbers, f"weights of {name}")
        if given.ndim and given.shape != (n,):
            raise SizeError(f"weights of {name}", n, given.shape)
        if not (given > 0.0).all():
            raise OptionError(f"weights of {name}: expected positive numbers, got {given.min():g}")
        found[name] = np.broadcast_to(given, (n,)).astype(np.float64)
    return np.concatenate([found["controls"], found["multipliers"]])
