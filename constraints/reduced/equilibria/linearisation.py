"""Linearised motion of closed mechanisms: reduced mass, damping and stiffness matrices, each with an error estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, TangentLike, Vector
from liegroups.frozen import read_only

from ...dynamics.laws.external_force import Force
from ...errors import ConstraintError, OptionError, UndefinedError
from ...linear_algebra import largest
from ..dynamics import reduced_residual
from ..state import ClosedState
from ..system import motion_matrix, reduced_mass_matrix
from .extrapolation import Extrapolation
from .prescribed import NOT_BESIDE, Prescribed, closed_beside, prescribed

if TYPE_CHECKING:
    from .modes import Modes

FIRST_STEP_OF_SLOPES = 1e-2
"""First step of the differences [rad or m; rad/s or m/s]; it is halved as long as that makes them better."""
HALVINGS = 8
"""Steps of one derivative, at most."""
SHORTENINGS = 12
"""Times that the first step is divided by four where there is no neighbour, at most."""
ROUNDING_OF_INERTIA = 4.0 * np.finfo(np.float64).eps
"""Rounding of a residual as a part of its size."""

_Sampled = Callable[[float], Vector]


class NoLinearisationError(ConstraintError):
    """There is no derivative at a state: no neighbour along `coordinate` closes, or a force has no value there."""

    def __init__(self, coordinate: str, reason: str) -> None:
        self.coordinate, self.reason = coordinate, reason
        super().__init__(f"no derivative along '{coordinate}': {reason}")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Linearisation:
    r"""The linearised motion of the independent coordinates around a closed state, loops closed. Immutable.

    .. math:: M_r\,\delta\ddot u + G_r\,\delta\dot u + K_r\,\delta u = -R_u, \qquad
        G_r = \frac{\partial R_u}{\partial \dot u}, \qquad K_r = \frac{\partial R_u}{\partial u}

    of the whole residual: inertia at the prescribed accelerations, Coriolis and centrifugal terms, gravity and all
    forces; the driven coordinates keep their motion. Both derivatives are taken along the closed states: the dependent
    coordinates and velocities follow.

    **Balls and free joints.** K_r is the derivative in the chart :math:`q \oplus \delta u` around the state, of the
    components of R_u in the tangent at the moved configuration. At an equilibrium all charts give the same K_r;
    elsewhere it depends on the chart, and is not symmetric even for forces with a potential. The velocities :math:`\dot
    u` are body velocities; near a motion with velocity v the coordinates of the chart have the velocity

    .. math:: \tfrac{d}{dt}\,\delta u = \delta\dot u + N\,\delta u, \qquad N\,\delta u = -[v,\,T_u\,\delta u]_u

    with the Lie bracket of the joint's group: N is zero at rest, and for joints of one coordinate. With it
    :math:`M_r\,\ddot\xi + C\,\dot\xi + S\,\xi = 0` holds for the chart's coordinates :math:`\xi = \delta u`, where
    :math:`C = G_r - M_r N` and :math:`S = K_r - G_r N`.

    Attributes:
        state: the closed state.
        mass: M_r (nu, nu) [kg, kg m2].
        damping: G_r (nu, nu), with gyroscopic terms.
        stiffness: K_r (nu, nu).
        transport: N (nu, nu) [1/s].
        mass_error, damping_error, stiffness_error: estimates of the error of each entry (nu, nu).
        residual: R_u (nu,) at the state.
        sizes: sums (nu,) of the sizes of the terms of R_u.
        rounding: of R_u.
        given: the forces, and the prescribed accelerations.

    Source: `mbs_Mred` and the matrices Gr and Kr of Robotran.
    """

    state: ClosedState
    mass: Matrix
    damping: Matrix
    stiffness: Matrix
    transport: Matrix
    mass_error: Matrix
    damping_error: Matrix
    stiffness_error: Matrix
    residual: Vector
    sizes: Vector
    rounding: float
    given: Prescribed

    @property
    def names(self) -> tuple[str, ...]:
        """The independent coordinates, in the order of rows and columns."""
        return self.state.coordinates.independent

    @property
    def chart_damping(self) -> Matrix:
        """C = G_r - M_r N (nu, nu); G_r itself at rest."""
        return self.damping - self.mass @ self.transport

    @property
    def chart_stiffness(self) -> Matrix:
        """S = K_r - G_r N (nu, nu); K_r itself at rest."""
        return self.stiffness - self.damping @ self.transport

    @property
    def state_matrix(self) -> Matrix:
        r"""A (2 nu, 2 nu) of :math:`\dot x = A x`, :math:`x = [\delta\dot u; \delta u]`, at an equilibrium.

        .. math:: A = \begin{pmatrix} -M_r^{-1} G_r & -M_r^{-1} K_r \\ 1 & N \end{pmatrix}

        Raises:
            OptionError: M_r is singular.
        """
        try:
            both: Any = np.linalg.solve(self.mass, np.hstack([self.damping, self.stiffness]))
        except np.linalg.LinAlgError:
            raise OptionError("state matrix: M_r is singular; a coordinate moves nothing that has mass") from None
        n = len(self.mass)
        return np.vstack([-both, np.hstack([np.eye(n), self.transport])])

    def modes(self, **options: Any) -> Modes:
        """As `modes`, of this linearisation."""
        from .modes import modes

        return modes(self, **options)

    def describe(self) -> str:
        """The matrices with their error estimates."""
        lines = [f"linearised motion of {', '.join(self.names) or 'nothing'}, R_u at most {largest(self.residual):.3g}"]
        for letter, matrix, error in (
            ("M_r", self.mass, self.mass_error),
            ("G_r", self.damping, self.damping_error),
            ("K_r", self.stiffness, self.stiffness_error),
        ):
            lines.append(f"  {letter}, to {largest(error):.1g}:")
            lines += ["    " + " ".join(f"{entry:12.5g}" for entry in row) for row in matrix]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"Linearisation({', '.join(self.names)})"


def linearisation(
    state: ClosedState,
    *,
    acceleration: TangentLike | None = None,
    driven_acceleration: TangentLike | None = None,
    tau: TangentLike | None = None,
    external: Iterable[Force] = (),
) -> Linearisation:
    """M_r, G_r and K_r around any closed state, equilibrium or not.

    M_r is exact; its error estimate is its difference from the residuals of unit accelerations. G_r and K_r are central
    differences of the residual between closed states, extrapolated over halved steps (Richardson, Ridders 1982); the
    estimate is the change by the last extrapolation, with the rounding of the residual.

    Args:
        state: closed, from `coordinates.at` or from an `Equilibrium`.
        acceleration: of the independent coordinates (nu,); zero by default.
        driven_acceleration: of the driven ones (nc,); by default from their targets, else zero.
        tau: joint forces (nv,), or by joint; zero by default.
        external: external forces.

    Raises:
        NoLinearisationError: no neighbour along a coordinate closes, or a force has no value there.
        WrongObjectError, SizeError, NotFiniteError: an invalid argument.
    """
    expect(state, ClosedState, "state to be linearised", "a ClosedState, coordinates.at(q, v)")
    driven = state.coordinates.partition.driven
    if driven_acceleration is None:
        driven_acceleration = reduced_residual(state).acceleration[driven]
    return linearised(state, prescribed(state.coordinates, acceleration, driven_acceleration, tau, external))


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and modes say so
def linearised(state: ClosedState, given: Prescribed) -> Linearisation:
    """The linearisation of checked arguments."""
    names, u = state.coordinates.independent, state.coordinates.partition.independent
    n = u.size
    here = closed_beside(state, np.zeros(n))
    found = given.residual(here)
    space = state.coordinates.constraint_set.robot.space
    T = motion_matrix(here)[:, :n]
    sizes, noise = given.sizes(here, found.acceleration)
    G, G_error, K, K_error, N = (np.zeros((n, n)) for _ in range(5))
    for i, name in enumerate(names):
        unit = np.zeros(n)
        unit[i] = 1.0
        speed = np.zeros(space.nv)
        speed[u[i]] = 1.0

        def moved(h: float, unit: Vector = unit) -> Vector:
            return given.residual(closed_beside(here, h * unit)).independent

        def faster(h: float, unit: Vector = unit, speed: Vector = speed) -> Vector:
            return given.residual(closed_beside(here, 0.0 * unit, here.v + h * speed)).independent

        quick = FIRST_STEP_OF_SLOPES * max(1.0, abs(float(here.v[u[i]])))
        K[:, i], K_error[:, i] = _differentiated(moved, found.independent, name, noise, FIRST_STEP_OF_SLOPES)
        G[:, i], G_error[:, i] = _differentiated(faster, found.independent, name, noise, quick)
        N[:, i] = -space.bracket(here.v, np.ascontiguousarray(T[:, i]))[u]
    M, M_error = _mass(here, given, found.independent)
    return Linearisation(
        state=here,
        mass=read_only(M),
        damping=read_only(G),
        stiffness=read_only(K),
        transport=read_only(N),
        mass_error=read_only(M_error),
        damping_error=read_only(G_error),
        stiffness_error=read_only(K_error),
        residual=read_only(np.array(found.independent)),
        sizes=read_only(sizes),
        rounding=noise,
        given=given,
    )


def _mass(state: ClosedState, given: Prescribed, residual: Vector) -> tuple[Matrix, Matrix]:
    """M_r, and its difference to what unit accelerations change in the residual, which is linear in them."""
    M = reduced_mass_matrix(state)
    error = np.zeros(M.shape)
    for i in range(len(M)):
        more = np.array(given.acceleration)
        more[i] += 1.0
        seen = Prescribed(more, given.driven_acceleration, given.tau, given.external).residual(state)
        error[:, i] = np.abs(seen.independent - residual - M[:, i])
    sizes = np.sqrt(np.abs(np.diag(M)))
    return M, error + 8.0 * ROUNDING_OF_INERTIA * np.outer(sizes, sizes)


def _differentiated(f: _Sampled, here: Vector, name: str, noise: float, first: float) -> tuple[Vector, Vector]:
    r"""Derivative of f at 0 and its error estimate, entry by entry, by extrapolated central differences.

    With :math:`f(h) - f(-h) = 2 h f' + O(h^3)` and :math:`f(h) + f(-h) - 2 f(0) = k h + O(h^2)`: k, the change of slope
    at 0, is zero of a smooth f; at a kink it is no smaller than what a central difference is wrong by, and counts.

    Args:
        f: from a step to a vector.
        here: f(0).
        name: of the coordinate, for the error.
        noise: rounding of f.
        first: the first step; it is divided by four where f has no value there.
    """
    h, (ahead, behind) = _first(f, name, first)
    slope, kink = Extrapolation(2), Extrapolation(1)
    for k in range(HALVINGS):
        if k:
            h *= 0.5
            ahead, behind = _sampled(f, h, name)
        rounding = (noise + ROUNDING_OF_INERTIA * max(largest(ahead), largest(behind))) / h
        worse = slope.add((ahead - behind) / (2.0 * h), rounding)
        kink.add((ahead + behind - 2.0 * here) / (2.0 * h), rounding)
        if k > 1 and (worse or largest(slope.error) <= 4.0 * rounding):
            break
    change = np.abs(kink.best)
    return slope.best, slope.error + np.where(change > 4.0 * kink.error, change, 0.0)


def _first(f: _Sampled, name: str, h: float) -> tuple[float, tuple[Vector, Vector]]:
    """The largest step at which f has values on both sides, and these."""
    for _ in range(SHORTENINGS):
        try:
            return h, _sampled(f, h, name)
        except NoLinearisationError:
            h *= 0.25
    return h, _sampled(f, h, name)


def _sampled(f: _Sampled, h: float, name: str) -> tuple[Vector, Vector]:
    try:
        return f(h), f(-h)
    except (*NOT_BESIDE, UndefinedError) as error:
        raise NoLinearisationError(name, str(error)) from error
