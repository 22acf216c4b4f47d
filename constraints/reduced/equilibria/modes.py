"""Modes of closed mechanisms: eigenvalues and shapes of the linearised motion at an equilibrium."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import pi
from typing import Any, final, overload

import numpy as np

from liegroups.arguments import as_flag, as_tolerance, expect, finite_number, natural_number
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.frozen import read_only

from ...dynamics.methods.status import DynamicsStatus
from ...errors import OptionError
from ...exports import from_above
from ...linear_algebra import largest
from ...solvers.result import Result
from ..state import ClosedState
from ..system import motion_matrix
from ..wishes import Wished, places_of
from .idle_unknowns import idle_in
from .linearisation import Linearisation
from .prescribed import closed_beside, negligible
from .vibration import ComplexVector, Root, Vibration, roots

SAME_MOTIONS = 1e-6
"""An idle motion is one of the rigid modes where no larger part of it is none."""


class ModeClass(Enum):
    """Behaviour of a mode in time: each value describes it in words."""

    REAL_NEUTRAL = "rigid"
    REAL_GROWING = "grows"
    COMPLEX_GROWING = "grows, oscillating"
    COMPLEX_NEUTRAL = "oscillates"
    COMPLEX_DECAYING = "decays, oscillating"
    REAL_DECAYING = "decays"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Mode:
    r"""One natural motion near an equilibrium: :math:`\delta u = \mathrm{Re}(x\,e^{s t})`. Immutable.

    Attributes:
        eigenvalue: s [1/s]; for a complex pair the one with positive imaginary part.
        error: bound on the error of s, to first order, from the error estimates of the matrices [1/s].
        kind: its behaviour in time.
        independent: x (nu,), complex; the largest entry is 1.
        shape: (nv,), the same for all coordinates: dependent ones follow by B, driven ones do not move.
        state: the equilibrium.
        idle: name of the joint whose body spins about its own axis while nothing else moves; empty for other modes.
    """

    eigenvalue: complex
    error: float
    kind: ModeClass
    independent: ComplexVector
    shape: ComplexVector
    state: ClosedState
    idle: str = ""

    @property
    def frequency(self) -> float:
        """Damped oscillations per second [Hz]; 0 for a real eigenvalue."""
        return self.eigenvalue.imag / (2.0 * pi)

    @property
    def angular_frequency(self) -> float:
        """Im s [rad/s]."""
        return self.eigenvalue.imag

    @property
    def rate(self) -> float:
        """Re s [1/s]: the mode grows if it is positive, and decays if it is negative."""
        return self.eigenvalue.real

    @property
    def damping_ratio(self) -> float:
        """abs(Re s) / abs(s): 0 for an undamped oscillation, 1 for a real eigenvalue, 0 for a rigid mode."""
        size = abs(self.eigenvalue)
        return abs(self.eigenvalue.real) / size if size else 0.0

    @property
    def name(self) -> str:
        """The independent coordinates that move most: those with at least half of the largest entry; or what spins."""
        if self.idle:
            return f"{self.idle} spins about its own axis"
        names = self.state.coordinates.independent
        sizes = np.abs(self.independent)
        order = np.argsort(-sizes, kind="stable")
        most = [names[int(i)] for i in order if sizes[i] >= 0.5 * sizes.max()]
        return ", ".join(most[:3]) + (" ..." if len(most) > 3 else "")

    def configurations(self, frames: int = 24, *, amplitude: float = 0.2) -> tuple[Vector, ...]:
        r"""Closed configurations (nq,) along one period: the shape at equal phases, loops closed.

        .. math:: q_k = \mathrm{close}\,\big(q \oplus a\,\mathrm{Re}(x\,e^{i \varphi_k})\big)

        Decay and growth are not shown. The shape of a real mode moves back and forth.

        Args:
            frames: number of configurations.
            amplitude: a, of the coordinate with the largest entry [rad or m].

        Raises:
            FailedError, DeadPointError, LeftBranchError: the loops do not close at this amplitude; take a smaller
                one.
            OptionError, SizeError: an invalid number of frames.
        """
        n = natural_number(frames, "frames of a mode")
        size = finite_number(amplitude, "amplitude of a mode")
        if n == 0:
            raise OptionError("frames of a mode: expected at least 1, got 0")
        phases = np.exp(2j * pi * np.arange(n) / n)
        still = closed_beside(self.state, np.zeros(self.independent.size), np.zeros(self.state.v.size))
        return tuple(closed_beside(still, size * (phase * self.independent).real).q for phase in phases)

    def animate(
        self,
        path: str | os.PathLike[str] | None = None,
        frames: int = 24,
        amplitude: float | None = None,
        view: str | Sequence[float] | None = None,
    ) -> Any:
        """The mode as an animation: closed configurations along one period, which is shown in 1.6 s (extra `plot`).

        Args:
            path: the file that it is written to: `.gif`, `.html` (with its controls), or `.mp4` (needs ffmpeg).
            frames: pictures of a period.
            amplitude: of the coordinate with the largest entry [rad or m]; chosen so that it can be seen if None.
            view: as in `pictures.plot_robot`.

        Returns:
            The animation, as of `pictures.animate`.

        Raises:
            OptionError: no frame.
            UnknownNameError: a view that is none.
            FailedError, DeadPointError, LeftBranchError: the loops do not close that far; take a smaller amplitude.
            MissingExtraError: matplotlib is not installed.
            FileError: the file cannot be written.
        """
        return from_above("animate_mode")(self, path, frames, amplitude, view)

    def __str__(self) -> str:
        numbers = f"{self.frequency:.4g} Hz, damping ratio {self.damping_ratio:.3g}" if self.eigenvalue.imag else ""
        return f"{self.kind.value}: {numbers or f'{self.rate:.4g} 1/s'}; {self.name}"

    def __repr__(self) -> str:
        return f"Mode({self.kind.name}, s = {self.eigenvalue:.6g}, {self.name})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Modes(Result, Sequence[Mode]):
    """The modes of a closed mechanism: a sequence, rigid ones first, then by size of the eigenvalue. Immutable.

    Attributes:
        found: the modes; one per complex pair.
        status: how the analysis ended.
        linearisation: whose modes they are.
        ignored: independent coordinates that were held.
        missing: largest R_u at the state [N, N m], without the ignored coordinates.
    """

    found: tuple[Mode, ...]
    status: DynamicsStatus
    linearisation: Linearisation
    ignored: tuple[str, ...]
    missing: float

    @property
    def eigenvalues(self) -> ComplexVector:
        """Eigenvalue of each mode [1/s]."""
        return np.array([mode.eigenvalue for mode in self.found], dtype=np.complex128)

    @property
    def rigid(self) -> tuple[Mode, ...]:
        """Modes of eigenvalue zero: nothing brings the mechanism back."""
        return self.of(ModeClass.REAL_NEUTRAL)

    @property
    def is_stable(self) -> bool:
        """Whether no mode grows, to first order. Raises FailedError if there are no modes."""
        growing = (ModeClass.REAL_GROWING, ModeClass.COMPLEX_GROWING)
        return all(mode.kind not in growing for mode in self.or_raise().found)

    def of(self, kind: ModeClass) -> tuple[Mode, ...]:
        """The modes of one class."""
        expect(kind, ModeClass, "class of modes")
        return tuple(mode for mode in self.found if mode.kind is kind)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        most: int | None = None,
        view: str | Sequence[float] | None = None,
    ) -> Any:
        """Spectrum, table and shapes of the modes in a figure: at rest in grey, both ends of the motion in blue.

        Amplitudes are chosen so that the shapes can be seen; rods of closures are grey lines.

        Args:
            path: also write the figure there.
            most: shapes that are drawn, idle ones, as spins of rods, last; 8 by default, or where some are idle all
                others.
            view: as in `pictures.plot_robot`.

        Returns:
            The matplotlib figure (extra `plot`).

        Raises:
            UnknownNameError: a view that is none.
            FailedError: there are no modes.
            OptionError: no shape to draw.
            MissingExtraError: matplotlib is not installed.
            FileError: the file cannot be written.
        """
        return from_above("plot_modes")(self, path, most, view)

    def describe(self) -> str:
        """A table: class, frequency, damping, eigenvalue, and what moves most."""
        lines = [str(self)]
        if self.found:
            heads = f"{'Hz':>10} {'rad/s':>10} {'damping ratio':>14} {'rate [1/s]':>12}"
            lines.append(f"  {heads}   {'class':<19}   moves most")
        for i, mode in enumerate(self.found):
            numbers = f"{mode.frequency:10.4f} {mode.angular_frequency:10.4f} {mode.damping_ratio:14.4g}"
            lines.append(f"{i:2d}{numbers} {mode.rate:12.4g}   {mode.kind.value:<19}   {mode.name}")
        if self.ignored:
            lines.append(f"held: {', '.join(self.ignored)}")
        return "\n".join(lines)

    @overload
    def __getitem__(self, index: int) -> Mode: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Mode, ...]: ...
    def __getitem__(self, index: int | slice) -> Mode | tuple[Mode, ...]:
        """A mode by its place."""
        return self.found[index]

    def __len__(self) -> int:
        """How many."""
        return len(self.found)

    def __iter__(self) -> Iterator[Mode]:
        """The modes in order."""
        return iter(self.found)

    def __str__(self) -> str:
        if self.status is DynamicsStatus.NO_EQUILIBRIUM:
            advice = "find one by `equilibrium`, or pass at_any_state=True"
            return f"{self.status} R_u is {self.missing:.3g}; {advice}"
        return f"{self.status} {len(self.found)} of {self.linearisation.state.coordinates!r}"

    def __repr__(self) -> str:
        return f"Modes({self.status.name}, {len(self.found)})"


def modes(
    linearisation: Linearisation, *, ignored: Wished = (), at_any_state: bool = False, tolerance: float = 1e-6
) -> Modes:
    r"""Eigenvalues and shapes of the motion around an equilibrium, with loops closed.

    .. math:: (s^2 M_r + s\,C + S)\,x = 0

    with C = G_r and S = K_r at rest (`Linearisation.chart_damping` otherwise): the eigenvalues of `state_matrix`. A
    real or imaginary part that is not larger than the bound on its error counts as zero.

    Args:
        linearisation: of an equilibrium, from `equilibrium(...).linearisation()`.
        ignored: independent coordinates that are held.
        at_any_state: also analyse a state that is not an equilibrium. Its eigenvalues describe the motion near one
            instant, and for balls and free joints depend on the chart.
        tolerance: largest R_u at an equilibrium, measured as in `equilibrium`.

    Returns:
        A value; for a state that is not an equilibrium, or a singular M_r, the status says so.

    Raises:
        UnknownNameError, OptionError, WrongObjectError: an invalid argument.

    Source: modal analysis of Robotran, `mbs_modal`.
    """
    expect(linearisation, Linearisation, "linearised motion", "a Linearisation")
    coordinates = linearisation.state.coordinates
    independent = coordinates.partition.independent
    held = places_of(coordinates.constraint_set.robot, independent, ignored, "ignored coordinates")
    limit, anyhow = as_tolerance(tolerance, "tolerance of an equilibrium"), as_flag(at_any_state, "at_any_state")
    kept = np.setdiff1d(np.arange(len(linearisation.mass)), held)
    missing = largest(linearisation.residual[kept])
    names = tuple(coordinates.independent[int(i)] for i in held)

    def ended(status: DynamicsStatus, found: tuple[Mode, ...] = ()) -> Modes:
        return Modes(found, status, linearisation, names, missing)

    most = negligible(limit, linearisation.sizes, linearisation.rounding, linearisation.stiffness)
    if (np.abs(linearisation.residual) > most)[kept].any() and not anyhow:
        return ended(DynamicsStatus.NO_EQUILIBRIUM)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not finite
        matrices = _vibration(linearisation, kept)
    if not all(np.isfinite(matrix).all() for matrix in matrices):
        return ended(DynamicsStatus.NOT_FINITE)
    if kept.size:
        sizes = np.linalg.eigvalsh(matrices.mass)
        if sizes[0] <= 1e-13 * sizes[-1]:
            return ended(DynamicsStatus.SINGULAR_SYSTEM)
    T = motion_matrix(linearisation.state)[:, : len(linearisation.mass)]
    found = tuple(_mode(linearisation.state, root, kept, T) for root in roots(matrices))
    return ended(DynamicsStatus.SOLVED, _with_idle(linearisation.state, found, T))


def _with_idle(state: ClosedState, found: tuple[Mode, ...], T: Matrix) -> tuple[Mode, ...]:
    """The modes; among rigid ones, which any combinations of are too, idle motions apart and by name."""
    rigid = [mode for mode in found if mode.kind is ModeClass.REAL_NEUTRAL]
    if not rigid:
        return found
    basis = np.linalg.qr(np.array([mode.independent.real for mode in rigid]).T)[0]
    spins_of = idle_in(state).items()
    idle = {joint: x for joint, x in spins_of if np.linalg.norm(x - basis @ (basis.T @ x)) <= SAME_MOTIONS}
    if not idle:
        return found
    spins = np.array([*idle.values()]).T
    rest = basis - spins @ np.linalg.lstsq(spins, basis, rcond=None)[0]
    others = np.linalg.svd(rest)[0][:, : len(rigid) - len(idle)]
    error = max(mode.error for mode in rigid)
    shapes = [(x, "") for x in others.T] + [(x, joint) for joint, x in idle.items()]
    apart = [_shaped(state, Root(0j, error, x.astype(np.complex128)), T, joint) for x, joint in shapes]
    return (*apart, *(mode for mode in found if mode.kind is not ModeClass.REAL_NEUTRAL))


def _vibration(linear: Linearisation, kept: Indices) -> Vibration:
    """The matrices of the chart's coordinates that are kept, with the errors of their entries."""
    N = np.abs(linear.transport)
    whole = (
        linear.mass,
        linear.chart_damping,
        linear.chart_stiffness,
        linear.mass_error,
        linear.damping_error + linear.mass_error @ N,
        linear.stiffness_error + linear.damping_error @ N,
    )
    return Vibration(*(matrix[np.ix_(kept, kept)] for matrix in whole))


def _mode(state: ClosedState, root: Root, kept: Indices, T: Matrix) -> Mode:
    x = np.zeros(T.shape[1], dtype=np.complex128)
    x[kept] = root.shape
    return _shaped(state, root._replace(shape=x), T)


def _shaped(state: ClosedState, root: Root, T: Matrix, idle: str = "") -> Mode:
    """A mode of a root whose shape has all independent coordinates."""
    x = root.shape / root.shape[int(np.abs(root.shape).argmax())]
    return Mode(root.value, root.error, _kind(root.value), read_only(x), read_only(T @ x), state, idle)


def _kind(s: complex) -> ModeClass:
    words = "COMPLEX" if s.imag else "REAL"
    return ModeClass[f"{words}_{'GROWING' if s.real > 0.0 else 'DECAYING' if s.real < 0.0 else 'NEUTRAL'}"]
