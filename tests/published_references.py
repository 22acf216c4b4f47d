"""Reference motions of the published mechanisms: closed forms in plain numpy, integrated by scipy, none of our code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import cos, sin
from published_mechanisms import BRICARD_CORNERS, SQUEEZER, SQUEEZER_ANGLES
from scipy.integrate import quad, solve_ivp

G = 9.81

# Andrews' squeezing mechanism at 0.03 s, from the test set for IVP solvers: angles, then their rates.
SQUEEZER_AT_30_MS = (
    *(0.1581077119629904e2, -0.1575637105984298e2, 0.4082224013073101e-1, -0.5347301163226948),
    *(0.5244099658805304, 0.5347301163226948, 0.1048080741042263e1),
    *(0.1139920302151208e4, -0.1424379294994111e4, 0.1103291221937134e2, 0.1929337464421385e2),
    *(0.5735699284790808, -0.1929337464421385e2, 0.3231791658026955),
)


class Squeezer:
    """M(q) q'' = f - G^T lambda, g(q) = 0, as the test set states them; q = beta, Theta, gamma, Phi, delta, Omega, eps.

    Each row of g is a sum of c cos(angle), with the angles A q + phase: sines have the phase -pi / 2.
    """

    def __init__(self) -> None:
        p: Any = SQUEEZER
        quarter = -0.5 * np.pi
        beta, both, gamma = [1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0]
        phi_delta, delta = [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0, 0]
        omega_eps, eps = [0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 1]
        x = [[(p["rr"], beta, 0.0), (-p["d"], both, 0.0)] for _ in range(3)]
        y = [[(p["rr"], beta, quarter), (-p["d"], both, quarter)] for _ in range(3)]
        x[0] += [(-p["ss"], gamma, quarter)]
        y[0] += [(p["ss"], gamma, 0.0)]
        x[1] += [(-p["e"], phi_delta, quarter), (-p["zt"], delta, 0.0)]
        y[1] += [(p["e"], phi_delta, 0.0), (-p["zt"], delta, quarter)]
        x[2] += [(-p["zf"], omega_eps, 0.0), (-p["u"], eps, quarter)]
        y[2] += [(-p["zf"], omega_eps, quarter), (p["u"], eps, 0.0)]
        rows = [row for pair in zip(x, y, strict=True) for row in pair]
        terms = [(k, *term) for k, row in enumerate(rows) for term in row]
        self.A = np.array([term[2] for term in terms], dtype=float)
        self.phase = np.array([term[3] for term in terms])
        self.S = np.zeros((6, len(terms)))
        for j, term in enumerate(terms):
            self.S[term[0], j] = term[1]

    def mass(self, q: np.ndarray) -> np.ndarray:
        p: Any = SQUEEZER
        m1, m2, m3, m4, m5, m6, m7 = p["mass"]
        i1, i2, i3, i4, i5, i6, i7 = p["inertia"]
        rr, da, zt, u = p["rr"], p["da"], p["zt"], p["u"]
        e, z = p["e"] - p["ea"], p["zf"] - p["fa"]
        M = np.zeros((7, 7))
        M[0, 0] = m1 * p["ra"] ** 2 + m2 * (rr**2 - 2 * da * rr * cos(q[1]) + da**2) + i1 + i2
        M[0, 1] = M[1, 0] = m2 * (da**2 - da * rr * cos(q[1])) + i2
        M[1, 1] = m2 * da**2 + i2
        M[2, 2] = m3 * (p["sa"] ** 2 + p["sb"] ** 2) + i3
        M[3, 3] = m4 * e**2 + i4
        M[3, 4] = M[4, 3] = m4 * (e**2 + zt * e * sin(q[3])) + i4
        M[4, 4] = m4 * (zt**2 + 2 * zt * e * sin(q[3]) + e**2) + m5 * (p["ta"] ** 2 + p["tb"] ** 2) + i4 + i5
        M[5, 5] = m6 * z**2 + i6
        M[5, 6] = M[6, 5] = m6 * (z**2 - u * z * sin(q[5])) + i6
        M[6, 6] = m6 * (z**2 - 2 * u * z * sin(q[5]) + u**2) + m7 * (p["ua"] ** 2 + p["ub"] ** 2) + i6 + i7
        return M

    def force(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        p: Any = SQUEEZER
        m2, m4, m6 = (p["mass"][i] for i in (1, 3, 5))
        sc, sd = p["sc"], p["sd"]
        x = sd * cos(q[2]) + sc * sin(q[2]) + p["B"][0] - p["C"][0]
        y = sd * sin(q[2]) - sc * cos(q[2]) + p["B"][1] - p["C"][1]
        length = np.hypot(x, y)
        spring = -p["c0"] * (length - p["l0"]) / length
        two, four, six = m2 * p["da"] * p["rr"], m4 * p["zt"] * (p["e"] - p["ea"]), m6 * p["u"] * (p["zf"] - p["fa"])
        return np.array(
            [
                p["moment"] - two * v[1] * (v[1] + 2 * v[0]) * sin(q[1]),
                two * v[0] ** 2 * sin(q[1]),
                spring * (x * (sc * cos(q[2]) - sd * sin(q[2])) + y * (sd * cos(q[2]) + sc * sin(q[2]))),
                four * v[4] ** 2 * cos(q[3]),
                -four * v[3] * (v[3] + 2 * v[4]) * cos(q[3]),
                -six * v[6] ** 2 * cos(q[5]),
                six * v[5] * (v[5] + 2 * v[6]) * cos(q[5]),
            ]
        )

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q'' and lambda."""
        angles = self.A @ q + self.phase
        G = -(self.S * sin(angles)) @ self.A
        gamma = (self.S * cos(angles)) @ (self.A @ v) ** 2
        K = np.block([[self.mass(q), G.T], [G, np.zeros((6, 6))]])
        x = np.linalg.solve(K, np.concatenate([self.force(q, v), gamma]))
        return x[:7], x[7:]

    def motion(self, duration: float, tolerance: float = 1e-11) -> np.ndarray:
        """Angles and rates (14,) after a time, from rest."""
        start = np.concatenate([list(SQUEEZER_ANGLES.values()), np.zeros(7)])
        rates = lambda t, y: np.concatenate([y[7:], self.accelerations(y[:7], y[7:])[0]])  # noqa: E731
        found = solve_ivp(rates, (0.0, duration), start, method="DOP853", rtol=tolerance, atol=tolerance)
        return found.y[:, -1]


def windows_motion(duration: float, windows: int = 2, speed: float = 1.0) -> np.ndarray:
    """A02 as one angle: that of the cranks, and its rate, after a time; energy is (n I + m) w^2 / 2 + ..."""
    cranks = windows + 1
    inertia = cranks * (0.25 + 1.01 / 12.0) + windows
    moment = G * (0.5 * cranks + windows)

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -moment * cos(y[0]) / inertia]

    return solve_ivp(rates, (0.0, duration), [0.5 * np.pi, -speed], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def bricard_angles(a: float) -> tuple[np.ndarray, np.ndarray]:
    """A04: the five angles of the tree and their derivatives, from that of the first pin.

    The pins turn by a, b, a, b, a, b with sin a + sin b = sin a sin b: the closure of the trihedral linkage.
    """
    s = sin(a) / (sin(a) - 1.0)
    b, rate = np.arcsin(s), -cos(a) / (sin(a) - 1.0) ** 2 / np.sqrt(1.0 - s * s)
    return np.array([a, b, a, b, a]), np.array([1.0, rate, 1.0, rate, 1.0])


def bricard_energies(a: float) -> tuple[float, float]:
    """A04: kinetic energy at unit rate, and potential energy."""
    angles, rates = bricard_angles(a)
    corners = BRICARD_CORNERS
    along = [corners[(i + 1) % 6] - corners[i] for i in range(6)]
    R, w, p, u, kinetic, potential = np.eye(3), np.zeros(3), corners[0].copy(), np.zeros(3), 0.0, 0.0
    for i in range(5):
        axis = np.cross(along[i - 1], along[i])
        w = w + rates[i] * (R @ axis)
        cross = np.cross(np.eye(3), axis)
        R = R @ (np.eye(3) + sin(angles[i]) * cross + (1.0 - cos(angles[i])) * (cross @ cross))
        rod = R @ along[i]
        speed = u + np.cross(w, 0.5 * rod)
        axial = w @ rod
        kinetic += 0.5 * speed @ speed + 0.5 * (1.01 / 12.0 * (w @ w - axial**2) + 0.01 / 6.0 * axial**2)
        potential += G * (p + 0.5 * rod)[1]
        p, u = p + rod, u + np.cross(w, rod)
    return kinetic, potential


def bricard_rate(a: float) -> float:
    """A04: size of the rate of the first pin [rad/s], by the energy since the start at rest."""
    (kinetic, potential), start = bricard_energies(a), bricard_energies(0.0)[1]
    return float(np.sqrt((start - potential) / kinetic))


def bricard_time(a: float, b: float) -> float:
    """A04: time between two angles of the first pin [s], by quadrature."""
    return abs(quad(lambda x: 1.0 / bricard_rate(x), a, b, epsabs=1e-10, epsrel=1e-10)[0])


def bricard_motion(duration: float) -> np.ndarray:
    """A04 as one angle: that of the first pin, and its rate, after a time."""

    def slopes(a: float, h: float = 1e-3) -> np.ndarray:
        there = [np.array(bricard_energies(a + k * h)) for k in (-2, -1, 1, 2)]
        return (there[0] - 8.0 * there[1] + 8.0 * there[2] - there[3]) / (12.0 * h)

    def rates(t: float, y: np.ndarray) -> list[float]:
        kinetic, potential = slopes(y[0])
        return [y[1], -(kinetic * y[1] ** 2 + potential) / (2.0 * bricard_energies(y[0])[0])]

    return solve_ivp(rates, (0.0, duration), [0.0, 0.0], method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
