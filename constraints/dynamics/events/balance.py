"""The balance of energy of a motion: what it exchanged, what forces did, and what integration lost."""

from __future__ import annotations

from typing import final

from ...robot import Motion
from ...robot.model.pinocchio import pin

POOR = 0.01
"""Part of the exchanged energy up to which the balance may be off."""

STEADY_ENERGY = 0.01
"""Part of the largest kinetic energy that counts as exchanged in any case: a free top exchanges nothing."""

ROUNDING_OF_ENERGY = 1e-11
"""Part of the largest energy up to which a balance that is off is rounding."""


def energies(motion: Motion) -> tuple[float, float]:
    """Kinetic energy, rotors included, and potential energy of bodies and gravity [J]."""
    k = motion.posture.placed()
    potential = float(pin.computePotentialEnergy(k.model, k.data, motion.q))
    return 0.5 * float(motion.v @ motion.inertial_force(motion.v)), potential


@final
class EnergyBalance:
    r"""Energy along a motion, apart from what resets change: :math:`T + U - W` is constant but for errors.

    Args:
        motion: the start.

    Attributes:
        work: W, of all forces but gravity and of moving constraints, since the start [J].
        error: change of T + U - W since the start [J].
        worst: largest size of that.
        exchanged: sum of the absolute changes of the kinetic energy [J].
        fed: largest work of the forces while the error was small, where the kinetic energy comes from it [J].
    """

    def __init__(self, motion: Motion) -> None:
        self.work = self.error = self.worst = self.exchanged = self.fed = 0.0
        self._kinetic, self._potential = energies(motion)
        self._largest = self._kinetic
        self._size = self._kinetic + abs(self._potential)

    def step(self, motion: Motion, work: float) -> None:
        """A step ended at a state."""
        kinetic, potential = energies(motion)
        self.work += work
        self.error += kinetic - self._kinetic + potential - self._potential - work
        self.worst = max(abs(self.error), self.worst)  # NaN, once it is
        self.exchanged += abs(kinetic - self._kinetic)
        self._kinetic, self._potential = kinetic, potential
        self._largest = max(self._largest, kinetic)
        self._size = max(self._size, kinetic + abs(potential), abs(self.work))
        if self.work > max(self.fed, 0.5 * self._largest) and not self.is_poor:
            self.fed = self.work

    def reset(self, motion: Motion) -> None:
        """The motion went on from another state."""
        self._kinetic, self._potential = energies(motion)

    @property
    def basis(self) -> float:
        """The energy that errors are compared with [J]."""
        return max(self.exchanged, STEADY_ENERGY * self._largest)

    @property
    def is_poor(self) -> bool:
        """Whether the error is too large for the motion to be right."""
        return not self.worst <= POOR * self.basis + ROUNDING_OF_ENERGY * self._size
