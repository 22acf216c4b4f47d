"""Modes of every built-in mechanism and reference model, beside a linearised saddle point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each_choice import a_few
from scipy.linalg import null_space

from constraints.models import Mechanism, load, mechanisms
from constraints.reduced import equilibrium, minimal_coordinates
from constraints.robot import Motion
from tests.models.test_mechanism_files import MJCF, URDF, closed, path_of

BUILT_IN = ("four_bar", "five_bar", "scissor_lift", "bennett", "delta_robot", "stewart_platform", "slider_crank")


def made(name: str) -> tuple[Mechanism, np.ndarray]:
    if name in BUILT_IN:
        mechanism = getattr(mechanisms, name)()
        return mechanism, mechanism.posture("closed")
    mechanism = load(path_of(name))
    return mechanism, closed(name, mechanism)


class Bushings:
    """A spring and damper on each tangent coordinate, towards a configuration."""

    def __init__(self, rest: np.ndarray, stiffness: np.ndarray) -> None:
        self.rest, self.stiffness = rest, stiffness

    def generalised(self, motion: Motion) -> np.ndarray:
        stretch = motion.posture.space.difference(self.rest, motion.posture.q)
        return -self.stiffness * (stretch + 0.01 * motion.v)


def saddle_point(mechanism: Mechanism, q: np.ndarray, force: Any) -> tuple[np.ndarray, float]:
    """Eigenvalues of Z^T (M s^2 + G s + K) Z, J Z = 0, K that of the forces less J^T lambda; and what is missing."""
    rows, robot = mechanism.constraint_set(), mechanism.robot
    n, still = robot.nv, np.zeros(robot.nv)

    def forces(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        motion = robot.at(x, v)
        return motion.bias_force() - force.generalised(motion)

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


@pytest.mark.parametrize("name", a_few([*BUILT_IN, *URDF, *MJCF, "cassie_sdf"], 7))
def test_modes_are_those_of_the_linearised_saddle_point(name: str) -> None:
    """Case 13, everywhere: on bushings against gravity; balls, free joints and redundant rows among them; to 1e-6."""
    mechanism, q = made(name)
    coordinates = minimal_coordinates(mechanism.constraint_set(), q)
    bushings = Bushings(q, np.linspace(4e3, 12e3, mechanism.robot.nv))
    found = equilibrium(coordinates, q, external=[bushings]).or_raise()
    assert np.abs(mechanism.constraint_set().position_error(found.q)).max() < 1e-6
    theirs, missing = saddle_point(mechanism, found.q, bushings)
    assert missing < 1e-8 * 12e3
    for s in np.linalg.eigvals(found.linearisation().state_matrix):
        assert np.abs(theirs - s).min() < 1e-6 * abs(s)
