"""Published motions of closed chains at full length: errors against references, drift of energy and constraints.

    python benchmarks/published_motions.py [--json FILE]
    python benchmarks/published_motions.py --check

Andrews' squeezing mechanism (test set for IVP solvers) to 0.03 s, and from IFToMM's benchmark library A02 (two
four-bar windows through the flat pose) and A04 (Bricard) for 10 s, by `constraints.dynamics.simulate` with RK4 and
projection. References are closed forms in plain numpy, integrated by scipy (`tests/published_references.py`).

`--check` is quick: coarse steps and short motions.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
from published_mechanisms import bricard, four_bar_windows, squeezer
from published_references import SQUEEZER_AT_30_MS, Squeezer, bricard_motion, windows_motion

from constraints.dynamics import Event, MotionRecord, SimulationOptions, simulate


def figures(problem: str, step: float, record: MotionRecord, seconds: float, angle: float) -> dict[str, Any]:
    """One line of the table."""
    most = float(np.nanmax(record.kinetic_energy))
    line = {
        "problem": problem,
        "step": step,
        "status": record.status.name,
        "angle error": angle,
        "energy drift": record.energy_drift / most,
        "constraint drift": float(record.position_drift.max()),
        "ranks": sorted({int(rank) for rank in record.ranks}),
        "seconds": seconds,
    }
    drift = "driven" if problem == "squeezer" else f"energy {line['energy drift']:.1e} of the largest kinetic one"
    print(
        f"{problem:9s} step {step:g} s: {record.status.name}, angles within {angle:.1e} rad, {drift}, "
        f"constraints within {line['constraint drift']:.1e}, ranks {line['ranks']}, {seconds:.1f} s"
    )
    return line


def squeezers(steps: list[float]) -> list[dict[str, Any]]:
    """Andrews' mechanism, against a reference at 1e-12."""
    s, lines = squeezer(), []
    own = Squeezer().motion(0.03, 1e-12)
    print(f"squeezer  reference within {np.abs(own - SQUEEZER_AT_30_MS)[:7].max():.1e} rad of the published angles")
    order = [s.robot.joint_index(name) - 1 for name in ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")]
    for step in steps:
        start = time.perf_counter()
        record = simulate(
            s.constraint_set,
            s.q,
            s.v,
            0.03,
            step,
            forces=s.forces,
            options=SimulationOptions(every=10, tolerance=1e-13),
        )
        error = float(np.abs(record.q[order] - own[:7]).max())
        lines.append(figures("squeezer", step, record, time.perf_counter() - start, error))
    return lines


def linkages(duration: float, steps: list[float]) -> list[dict[str, Any]]:
    """A02 and A04."""
    lines: list[dict[str, Any]] = []
    flat = Event(lambda motion, t: np.sin(motion.posture.q[0]), "flat")
    for name, made, reference in (("A02", four_bar_windows(), windows_motion), ("A04", bricard(), bricard_motion)):
        truth = reference(duration)[0]
        for step in steps:
            start = time.perf_counter()
            events = [flat] if name == "A02" else []
            record = simulate(made.constraint_set, made.q, made.v, duration, step, events=events)
            line = figures(name, step, record, time.perf_counter() - start, float(abs(record.q[0] - truth)))
            if events:
                line["flat poses"] = len(record.events)
                print(f"          through the flat pose {len(record.events)} times")
            lines.append(line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="Published motions of closed chains.")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--check", action="store_true", help="a quick run that fails if a figure is far off")
    options = parser.parse_args()
    if options.check:
        lines = squeezers([2e-4]) + linkages(0.5, [0.02])
        assert all(line["status"] == "FINISHED" and line["angle error"] < 1e-3 for line in lines)
    else:
        lines = squeezers([1e-4, 5e-5, 2.5e-5, 1e-5]) + linkages(10.0, [0.01, 0.005])
    if options.json:
        Path(options.json).write_text(json.dumps(lines, indent=1) + "\n")


if __name__ == "__main__":
    main()
