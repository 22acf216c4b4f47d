"""Adaptive motions: their energy, and accelerations computed, beside scipy's DOP853; and a stiff bushing.

    python benchmarks/adaptive_motions.py [--json FILE]
    python benchmarks/adaptive_motions.py --check

Five mechanisms move from rest or with a speed, by `constraints.dynamics.simulate` with its default tolerances. scipy
integrates the same accelerations in (q, v), with rtol = atol = 1e-6 and without projection. The energy is judged by
what was exchanged: the sum of the absolute changes of the kinetic energy over the steps.

The bushing holds 10 g at the tip of a pendulum, 1e6 N/m and 1e3 N s/m in all directions, and starts without the force
of gravity in it; the slow motion is that of the rigid pendulum. `--check` is quick: short motions.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import bench_setup  # noqa: F401
import numpy as np
import pinocchio as pin
from growth import falling
from published_mechanisms import bricard, four_bar_windows, squeezer
from scipy.integrate import solve_ivp

from constraints import Robot
from constraints.dynamics import Forces, JointSpring, SimulationOptions, forward_dynamics, simulate
from constraints.loops import ConstraintSet
from constraints.models import mechanisms

MOST_ENERGY, MOST_EVALUATIONS, MOST_STEPS, MOST_ERROR = 1e-6, 2.0, 200, 1e-4
"""What is promised: energy by what was exchanged, accelerations by those of scipy, stiff steps a second, slow error."""


class Case(NamedTuple):
    """A motion."""

    name: str
    rows: ConstraintSet
    q: np.ndarray
    v: np.ndarray
    duration: float
    forces: Callable[..., Any] | None = None


def balls(count: int) -> ConstraintSet:
    """A chain of bodies on ball joints, under gravity."""
    model, joint = pin.Model(), 0
    for i in range(count):
        at = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 if i else 0.0]))
        joint = model.addJoint(joint, pin.JointModelSpherical(), at, f"ball{i}")
        inertia = pin.Inertia(1.0 + i, np.array([0.05, 0.0, -0.25]), np.diag([0.03, 0.04, 0.01]))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return ConstraintSet(Robot(model, "balls"), [])


def cases(part: float) -> list[Case]:
    """The five mechanisms."""
    five, q = falling(mechanisms.five_bar(ground=1.2, inner=1.0, outer=1.4))
    windows, b, s, chain = four_bar_windows(), bricard(), squeezer(), balls(3)
    start = np.array([1.0, -2.0, 3.0, 2.0, 1.0, -1.0, 0.5, 0.5, 0.5])
    return [
        Case("five-bar", five, q, np.zeros(4), 2.0 * part),
        Case("windows", windows.constraint_set, windows.q, windows.v, 10.0 * part),
        Case("Bricard", b.constraint_set, b.q, b.v, 10.0 * part),
        Case("squeezer", s.constraint_set, s.q, s.v, 0.03 * part, s.forces),
        Case("balls", chain, chain.robot.neutral, start, 2.0 * part),
    ]


def by_scipy(case: Case) -> int:
    """Accelerations that scipy's DOP853 computes at 1e-6."""
    robot, count = case.rows.robot, [0]
    space, nq = robot.space, robot.nq

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        count[0] += 1
        q, v = space.integrate(y[:nq], np.zeros(robot.nv)), y[nq:]
        for block in space.unit_blocks:
            q[block] /= np.linalg.norm(q[block])
        motion = robot.at(q, v)
        tau = None if case.forces is None else case.forces(motion, t)
        a = forward_dynamics(case.rows, motion, tau).acceleration
        moved = (space.integrate(q, 1e-6 * v) - space.integrate(q, -1e-6 * v)) / 2e-6
        return np.concatenate([moved, a])

    solve_ivp(rates, (0.0, case.duration), np.concatenate([case.q, case.v]), method="DOP853", rtol=1e-6, atol=1e-6)
    return count[0]


def measured(case: Case) -> dict[str, Any]:
    """One line of the table."""
    begin = time.perf_counter()
    record = simulate(case.rows, case.q, case.v, case.duration, forces=case.forces)
    seconds = time.perf_counter() - begin
    theirs = by_scipy(case)
    line = {
        "motion": case.name,
        "status": record.status.name,
        "steps": record.steps,
        "evaluations": record.evaluations,
        "scipy": theirs,
        "energy": float(np.abs(record.energy_error).max()) / record.exchanged_energy,
        "exchanged": record.exchanged_energy,
        "seconds": seconds,
    }
    print(
        f"{case.name:9s} {line['status']} energy within {line['energy']:.1e} of {line['exchanged']:.3g} J exchanged, "
        f"{record.evaluations} accelerations in {record.steps} steps, scipy {theirs} "
        f"(ratio {record.evaluations / theirs:.2f}), {seconds:.2f} s"
    )
    return line


def pendulum(is_rigid: bool) -> tuple[Robot, Forces | None]:
    """An arm of 1 kg and 0.5 m with 10 g at its tip: fixed there, or on a bushing."""
    model = pin.Model()
    arm = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "arm")
    rod = pin.Inertia(1.0, np.array([0.0, 0.0, -0.25]), np.diag([0.02, 0.02, 1e-4]))
    model.appendBodyToJoint(arm, rod, pin.SE3.Identity())
    tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5]))
    grams = pin.Inertia(0.01, np.zeros(3), np.zeros((3, 3)))
    if is_rigid:
        model.appendBodyToJoint(arm, grams, tip)
        return Robot(model, "rigid"), None
    joint = model.addJoint(arm, pin.JointModelTranslation(), tip, "bushing")
    model.appendBodyToJoint(joint, grams, pin.SE3.Identity())
    robot = Robot(model, "soft")
    return robot, Forces(robot, [JointSpring(robot, "bushing", stiffness=1e6, damping=1e3)])


def bushing(duration: float) -> dict[str, Any]:
    """The stiff motion, beside that of the rigid pendulum."""
    rigid, soft = pendulum(True)[0], pendulum(False)
    truth = simulate(
        ConstraintSet(rigid, []), [1.0], [0.0], duration, options=SimulationOptions(rtol=1e-11, atol=1e-11)
    ).or_raise()
    begin = time.perf_counter()
    start = np.array([1.0, 0.0, 0.0, 0.0])
    rows = ConstraintSet(soft[0], [])
    record = simulate(rows, start, np.zeros(4), duration, forces=soft[1], options=SimulationOptions(scheme="implicit"))
    seconds = time.perf_counter() - begin
    error = float(abs(record.q[0] - truth.q[0]))
    line = {
        "motion": "bushing",
        "status": record.status.name,
        "steps a second": record.steps / duration,
        "evaluations": record.evaluations,
        "error": error,
        "seconds": seconds,
    }
    print(
        f"bushing   {record.status.name} {line['steps a second']:.0f} steps a second, {record.evaluations} "
        f"accelerations, slow motion within {error:.1e} rad of the rigid one, {seconds:.2f} s"
    )
    return line


def main() -> None:
    """All of it, or a quick look."""
    parser = argparse.ArgumentParser(description="Adaptive motions.")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--check", action="store_true", help="a quick run that fails if a figure is too large")
    options = parser.parse_args()
    lines = [measured(case) for case in cases(0.2 if options.check else 1.0)]
    stiff = bushing(1.0 if options.check else 10.0)
    assert all(line["status"] == "FINISHED" for line in [*lines, stiff])
    assert all(line["energy"] <= MOST_ENERGY for line in lines), lines
    assert all(line["evaluations"] <= MOST_EVALUATIONS * line["scipy"] for line in lines), lines
    assert stiff["steps a second"] <= MOST_STEPS, stiff
    assert stiff["error"] <= MOST_ERROR, stiff
    if options.json:
        Path(options.json).write_text(json.dumps([*lines, stiff], indent=1) + "\n")


if __name__ == "__main__":
    main()
