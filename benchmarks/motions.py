"""Motions of mechanisms: energy, errors against references, accelerations computed; and a stiff bushing.

    python benchmarks/motions.py [--json FILE]
    python benchmarks/motions.py --check

By `constraints.dynamics.simulate`: a five-bar and a chain of balls; Andrews' squeezing mechanism (test set for IVP
solvers) to 0.03 s, and from IFToMM's benchmark library A02 (two four-bar windows through the flat pose) and A04
(Bricard) for 10 s. Each moves in adaptive steps with default tolerances, beside which scipy's DOP853 integrates the
same accelerations in (q, v), with rtol = atol = 1e-6 and without projection; the published ones in steps of RK4 too.
References are closed forms in plain numpy, integrated by scipy (`tests/published_references.py`). The energy is judged
by what was exchanged: the sum of the absolute changes of the kinetic energy over the steps.

The bushing holds 10 g at the tip of a pendulum, 1e6 N/m and 1e3 N s/m in all directions, and starts without the force
of gravity in it; the slow motion is that of the rigid pendulum. `--check` is quick: short motions, coarse steps.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import bench_setup
import numpy as np
import pinocchio as pin
from growth import falling
from published_mechanisms import bricard, four_bar_windows, squeezer
from published_references import SQUEEZER_AT_30_MS, Squeezer, bricard_motion, windows_motion
from scipy.integrate import solve_ivp

from constraints import Robot
from constraints.dynamics import Event, Forces, JointSpring, SimulationOptions, forward_dynamics, simulate
from constraints.loops import ConstraintSet
from constraints.models import mechanisms

MOST_ENERGY, MOST_EVALUATIONS, MOST_STEPS, MOST_ERROR, FAR = 1e-6, 2.0, 200, 1e-4, 1e-3
"""Energy by what was exchanged, accelerations by those of scipy, stiff steps a second, slow error, error of angles."""
FLAT = Event(lambda motion, t: np.sin(motion.posture.q[0]), "flat")
IN_ORDER = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


class Case(NamedTuple):
    """A motion.

    Attributes:
        steps: fixed ones, besides adaptive ones [s].
        angles: coordinates that the reference knows, and what they are at the end.
        fixed: options of fixed steps.
    """

    name: str
    rows: ConstraintSet
    q: np.ndarray
    v: np.ndarray
    duration: float
    forces: Callable[..., Any] | None = None
    steps: tuple[float, ...] = ()
    angles: tuple[Any, Any] | None = None
    events: tuple[Event, ...] = ()
    fixed: SimulationOptions | None = None


def balls(count: int) -> ConstraintSet:
    """A chain of bodies on ball joints, under gravity."""
    model, joint = pin.Model(), 0
    for i in range(count):
        at = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 if i else 0.0]))
        joint = model.addJoint(joint, pin.JointModelSpherical(), at, f"ball{i}")
        inertia = pin.Inertia(1.0 + i, np.array([0.05, 0.0, -0.25]), np.diag([0.03, 0.04, 0.01]))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return ConstraintSet(Robot(model, "balls"), [])


def cases(is_short: bool) -> list[Case]:
    """The five mechanisms."""
    five, q = falling(mechanisms.five_bar(ground=1.2, inner=1.0, outer=1.4))
    a, b, s, chain = four_bar_windows(), bricard(), squeezer(), balls(3)
    start = np.array([1.0, -2.0, 3.0, 2.0, 1.0, -1.0, 0.5, 0.5, 0.5])
    few, many = (0.4, 2.0) if is_short else (2.0, 10.0)
    linkage, fine = ((0.02,), (2e-4,)) if is_short else ((0.01, 0.005), (1e-4, 5e-5, 2.5e-5, 1e-5))
    own = Squeezer().motion(0.03, 1e-12)
    print(f"squeezer  reference within {np.abs(own - SQUEEZER_AT_30_MS)[:7].max():.1e} rad of the published angles")
    order = [s.robot.joint_index(name) - 1 for name in IN_ORDER]
    every = SimulationOptions(every=10, tolerance=1e-13)
    return [
        Case("five-bar", five, q, np.zeros(4), few),
        Case("A02", a.constraint_set, a.q, a.v, many, None, linkage, (0, windows_motion(many)[0]), (FLAT,)),
        Case("A04", b.constraint_set, b.q, b.v, many, None, linkage, (0, bricard_motion(many)[0])),
        Case("squeezer", s.constraint_set, s.q, s.v, 0.03, s.forces, fine, (order, own[:7]), fixed=every),
        Case("balls", chain, chain.robot.neutral, start, few),
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


def measured(case: Case, step: Any) -> dict[str, Any]:
    """One line of the table."""
    is_fixed = step != "adaptive"
    more = {} if case.fixed is None or not is_fixed else {"options": case.fixed}
    begin = time.perf_counter()
    record = simulate(
        case.rows,
        case.q,
        case.v,
        case.duration,
        step,
        forces=case.forces,
        events=case.events if is_fixed else (),
        **more,
    )
    line: dict[str, Any] = {
        "motion": case.name, "step": step, "status": record.status.name, "steps": record.steps,
        "evaluations": record.evaluations, "energy": float(np.abs(record.energy_error).max()) / record.exchanged_energy,
        "exchanged": record.exchanged_energy, "constraint drift": float(record.position_drift.max(initial=0.0)),
        "ranks": sorted({int(rank) for rank in record.ranks}), "seconds": time.perf_counter() - begin,
    }  # fmt: skip
    said = f"{line['status']}, energy within {line['energy']:.1e} of {line['exchanged']:.3g} J exchanged"
    if case.angles is not None:
        line["angle error"] = float(np.abs(record.q[case.angles[0]] - case.angles[1]).max())
        said += f", angles within {line['angle error']:.1e} rad"
    said += f", constraints within {line['constraint drift']:.1e}, ranks {line['ranks']}, {record.steps} steps"
    if not is_fixed:
        line["scipy"] = by_scipy(case)
        ratio = record.evaluations / line["scipy"]
        said += f", {record.evaluations} accelerations, scipy {line['scipy']} (ratio {ratio:.2f})"
    elif case.events:
        line["flat poses"] = len(record.events)
        said += f", through the flat pose {len(record.events)} times"
    print(f"{case.name:9s} step {step}: {said}, {line['seconds']:.2f} s", flush=True)
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
    rigid, (soft, forces) = pendulum(True)[0], pendulum(False)
    exact, implicit = SimulationOptions(rtol=1e-11, atol=1e-11), SimulationOptions(scheme="implicit")
    truth = simulate(ConstraintSet(rigid, []), [1.0], [0.0], duration, options=exact).or_raise()
    begin, start = time.perf_counter(), np.array([1.0, 0.0, 0.0, 0.0])
    record = simulate(ConstraintSet(soft, []), start, np.zeros(4), duration, forces=forces, options=implicit)
    line = {
        "motion": "bushing", "status": record.status.name, "steps a second": record.steps / duration,
        "evaluations": record.evaluations, "error": float(abs(record.q[0] - truth.q[0])),
        "seconds": time.perf_counter() - begin,
    }  # fmt: skip
    print(
        f"bushing   {record.status.name} {line['steps a second']:.0f} steps a second, {record.evaluations} "
        f"accelerations, slow motion within {line['error']:.1e} rad of the rigid one, {line['seconds']:.2f} s"
    )
    return line


def main() -> int:
    options = bench_setup.command(__doc__, "json", "check").parse_args()
    lines = [measured(case, step) for case in cases(options.check) for step in ("adaptive", *case.steps)]
    stiff = bushing(1.0 if options.check else 10.0)
    bench_setup.write(options.json, [*lines, stiff])
    missed = [line for line in (*lines, stiff) if line["status"] != "FINISHED" or line.get("angle error", 0.0) > FAR]
    adaptive = [line for line in lines if line["step"] == "adaptive"]
    missed += [x for x in adaptive if x["energy"] > MOST_ENERGY or x["evaluations"] > MOST_EVALUATIONS * x["scipy"]]
    missed += [stiff] if stiff["steps a second"] > MOST_STEPS or stiff["error"] > MOST_ERROR else []
    print("\n".join(f"MISSED {line}" for line in missed) or "all limits are reached")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
