# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""The coupler curve of a four-bar linkage, drawn by turning its crank; then by its rocker, which has dead points.

    python examples/coupler_curve.py            # prints what it does
    python examples/coupler_curve.py --plot OUT.png   # draws it too
    python examples/coupler_curve.py --check    # the same; fails if something is not as it should be

Shows `mechanism.branches` (the two ways of closing a crank-rocker) and `mechanism.sweep` (a driver turned all the way
on one of them): transmission angles, dead points located and named, and turning back at them along the same curve.
The linkage is that of Norton, Design of Machinery, example 4-1.
"""

from __future__ import annotations

import argparse

import numpy as np

from constraints import Frame
from constraints.models import Mechanism, mechanisms
from constraints.reduced import Singularity, Sweep, SweepOptions

GROUND, CRANK, COUPLER, ROCKER = 0.1, 0.04, 0.12, 0.08  # [m]
PEN = (0.06, 0.05, 0.0)  # on the coupler, seen from the end of the crank [m]


def pen_on(linkage: Mechanism) -> Frame:
    """A point of the coupler, beside the line of its pins."""
    return linkage.robot.frame("coupler", [*PEN, 0.0, 0.0, 0.0, 1.0])


def drawn(linkage: Mechanism, qs: np.ndarray) -> np.ndarray:
    """Where the pen is (n, 2) [m]."""
    return np.array([linkage.robot.at(q).placement(pen_on(linkage)).translation[:2] for q in qs])


def draw(linkage: Mechanism, turns: list[Sweep], rocked: Sweep, dead: list[Singularity], path: str) -> None:
    """Both coupler curves with the linkage at its dead points; transmission angles over crank and rocker."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
    for found, colour, label in zip(turns, ("#1f77b4", "#9a9a9a"), ("open", "crossed"), strict=True):
        left.plot(*1000.0 * drawn(linkage, found.qs).T, color=colour, linewidth=1.8, label=f"coupler curve, {label}")
    poses = [linkage.posture("closed"), *(each.q for each in dead)]
    for q, colour in zip(poses, ("#1f77b4", "#d62728", "#d62728"), strict=True):
        at = linkage.robot.at(q)
        names = ("crank", "coupler", "rocker_end", "rocker")
        bars = 1000.0 * np.array([at.placement(name).translation[:2] for name in names])
        left.plot(*bars.T, "o-", color=colour, linewidth=1.6, markersize=4)
        tip = 1000.0 * drawn(linkage, np.array([q]))[0]
        left.fill(*np.array([bars[1], bars[2], tip]).T, color=colour, alpha=0.12, linewidth=0.0)
        left.plot(*tip, "o", color=colour, markersize=6)
    left.plot([], [], "o-", color="#d62728", markersize=4, label="dead points of the rocker")
    left.set(aspect="equal", xlabel="x [mm]", ylabel="y [mm]", title="a crank-rocker and its pen")
    left.legend(loc="lower right", fontsize=8)
    there = rocked.signs == rocked.signs[0]  # on the way back the angles are the same
    low, high = (each.value for each in dead)
    rocks = np.r_[low, rocked.values[there], high], np.r_[0.0, rocked.transmission_angles()[there], 0.0]
    cranks = turns[0].values, turns[0].transmission_angles()
    for (values, angles), colour, of in ((cranks, "#1f77b4", "crank"), (rocks, "#d62728", "rocker")):
        right.plot(np.degrees(values), np.degrees(angles), color=colour, linewidth=1.8, label=f"driven at the {of}")
    for value, side in ((low, "right"), (high, "left")):
        right.annotate(
            f"dead point\n{np.degrees(value):.2f} deg",
            (np.degrees(value), 0.0),
            xytext=(5 if side == "left" else -5, 5),
            textcoords="offset points",
            ha=side,
            fontsize=8,
            color="#d62728",
        )
    right.set(
        xlabel="angle of the driver [deg]",
        ylabel="transmission angle [deg]",
        title="how well the driver turns the rest",
    )
    right.set(xlim=(0.0, 360.0), ylim=(0.0, 92.0), xticks=range(0, 361, 60))
    right.legend(loc="upper right", fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="The coupler curve of a four-bar linkage.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    linkage = mechanisms.four_bar(GROUND, CRANK, COUPLER, ROCKER, angle=np.radians(40.0))
    q = linkage.posture("closed")
    print("1. The ways of closing it with the crank at 40 deg")
    ways = linkage.branches(q)
    print(f"{ways.describe()}\n")

    print("2. A turn of the crank, on both of them")
    cranks = np.radians(np.linspace(0.0, 360.0, 181))
    turns = [linkage.sweep(way.q, "crank", cranks).or_raise() for way in ways.ways]
    for found in turns:
        angles = np.degrees(found.transmission_angles())
        first, last = drawn(linkage, found.qs[[0, -1]])
        gap = np.abs(last - first).max()
        print(f"  transmission angle {angles.min():.3f} to {angles.max():.3f} deg; the curve closes to {gap:.0e} m")

    print("\n3. The rocker drives, there and back: from dead point to dead point")
    down = linkage.sweep(q, "rocker", np.radians([57.0, 50.0]))
    rocks = np.radians(np.linspace(54.91, 135.0, 321))
    rocked = linkage.sweep(q, "rocker", rocks, options=SweepOptions(turn_back=True)).or_raise()
    print(rocked.describe())
    both = [*down.singularities, *rocked.singularities]
    for each in both:
        print(f"  rocker {np.degrees(each.value):.3f} deg, crank {np.degrees(each.q[0]):.3f} deg")

    if options.plot is not None:
        draw(linkage, turns, rocked, both, options.plot)
    if options.check:
        assert len(ways) == 2
        assert sorted(way.sign for way in ways.ways) == [-1.0, 1.0]
        assert np.allclose(np.degrees([each.value for each in both]), [54.900, 128.682], atol=1e-3)
        assert np.allclose(np.degrees(turns[0].transmission_angles().min()), 26.384, atol=1e-3)
        # the pen of the rocker's sweep is on the curve that the crank has drawn
        curve = linkage.sweep(q, "crank", rocked.qs[:, 0]).or_raise()
        assert np.abs(drawn(linkage, curve.qs) - drawn(linkage, rocked.qs)).max() < 1e-9


if __name__ == "__main__":
    main()
