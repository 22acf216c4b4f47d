"""Draws docs/certificates.png: legs of a path on a circle, and the balls in which its curve is alone.

python docs/certificates_figure.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt

from constraints import Implicit, Options, Problem
from constraints.functions import Identity
from constraints.paths import MovingRightHandSide, Path as ConstraintPath
from constraints.paths.path import Piece
from liegroups import Rn


def main(file: Path) -> None:
    """Two samples 1.5 rad apart on a circle, and what is proved between them."""
    x = Identity(Rn(2))
    problem = Problem(Rn(2), [Implicit.equal(x[0] * x[0] + x[1] * x[1], [1.0], name="circle")])
    ends = np.array([[np.cos(a), np.sin(a)] for a in (0.1, 1.6)])
    piece = Piece(problem, MovingRightHandSide(problem.rhs), ends, np.array([0.0, 1.0]), Options.local())
    path = ConstraintPath((piece,))
    found = path.certify().or_raise()
    figure, axes = plt.subplots(figsize=(5.0, 4.2), layout="constrained")
    angles = np.linspace(0.0, 1.75, 200)
    axes.plot(np.cos(angles), np.sin(angles), color="black", linewidth=1.0, label="solutions")
    for k, leg in enumerate(found.legs):
        a, b = found.stops[k], found.stops[k + 1]
        across = leg.numbers.size * np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        corners = np.array([a - across, b - across, b + across, a + across])
        name = "in which the solution is alone" if k == 0 else None
        axes.fill(*corners.T, facecolor="tab:blue", alpha=0.25, edgecolor="tab:blue", linewidth=0.8, label=name)
    axes.plot(*found.stops.T, "o-", color="tab:orange", markersize=3.0, linewidth=0.8, label="stops and straight ways")
    axes.plot(*path.samples.T, "s", color="tab:red", markersize=5.0, label="samples of the path")
    axes.set(aspect="equal", xlim=(-0.15, 1.15), ylim=(-0.05, 1.15))
    axes.legend(loc="lower left", fontsize=8)
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("certificates.png"))
