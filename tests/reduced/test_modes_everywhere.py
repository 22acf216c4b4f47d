"""Modes of every built-in mechanism and reference model, beside a linearised saddle point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from closed_mechanisms import ALL, closed_mechanism
from each_choice import a_few
from scipy.linalg import null_space

from constraints.loops import ConstraintSet
from constraints.reduced import equilibrium, minimal_coordinates
from constraints.robot import Motion


class Bushings:
    """A spring and damper on each tangent coordinate, towards a configuration."""

    def __init__(self, rest: np.ndarray, stiffness: np.ndarray) -> None:
        self.rest, self.stiffness = rest, stiffness

    def generalised(self, motion: Motion) -> np.ndarray:
        stretch = motion.posture.space.difference(self.rest, motion.posture.q)
        return -self.stiffness * (stretch + 0.01 * motion.v)


def saddle_point(rows: ConstraintSet, q: np.ndarray, *acting: Any) -> tuple[np.ndarray, float]:
    """Eigenvalues of Z^T (M s^2 + G s + K) Z, J Z = 0, K that of the forces less J^T lambda; and what is missing."""
    robot, n, still = rows.robot, rows.robot.nv, np.zeros(rows.robot.nv)

    def forces(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        motion = robot.at(x, v)
        return motion.bias_force() - sum(force.generalised(motion) for force in acting)

    J = rows.jacobian(q)
    load_of_rows = np.linalg.lstsq(J.T, forces(q, still))[0]

    def pulled(step: np.ndarray) -> np.ndarray:
        x = robot.space.integrate(q, step)
        return forces(x, still) - rows.jacobian(x).T @ load_of_rows

    h = 1e-3 * np.eye(n)
    K = np.array([(8.0 * (pulled(e) - pulled(-e)) - (pulled(2.0 * e) - pulled(-2.0 * e))) / 12e-3 for e in h]).T
    G = np.array([(forces(q, e) - forces(q, -e)) / 2e-3 for e in h]).T
    Z = null_space(J, rcond=1e-6)
    M, G, K = (Z.T @ A @ Z for A in (robot.at(q, still).mass_matrix(), G, K))
    k = len(M)
    A = np.block([[-np.linalg.solve(M, G), -np.linalg.solve(M, K)], [np.eye(k), np.zeros((k, k))]])
    return np.linalg.eigvals(A), float(np.abs(J.T @ load_of_rows - forces(q, still)).max())


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_modes_are_those_of_the_linearised_saddle_point(name: str) -> None:
    """Case 13, everywhere: on bushings against gravity; balls, free joints and redundant rows among them; to 1e-6."""
    mechanism, q = closed_mechanism(name)
    coordinates = minimal_coordinates(mechanism.constraint_set(), q)
    bushings = Bushings(q, np.linspace(4e3, 12e3, mechanism.robot.nv))
    found = equilibrium(coordinates, q, external=[bushings]).or_raise()
    assert np.abs(mechanism.constraint_set().position_error(found.q)).max() < 1e-6
    theirs, missing = saddle_point(mechanism.constraint_set(), found.q, bushings)
    assert missing < 1e-8 * 12e3
    for s in np.linalg.eigvals(found.linearisation().state_matrix):
        assert np.abs(theirs - s).min() < 1e-6 * abs(s)
