"""Proof at scale: every derivative of constrained dynamics against differences of dense solutions.

    python benchmarks/derivative_soundness.py --states 1000 [--seed S] [--processes P]
    python benchmarks/derivative_soundness.py --case INDEX [--seed S]

A quarter of the states each is of ANYmal and of Talos' legs (contacts on feet and elsewhere, in both forms and axes,
single rows, two on one joint, a sole twice), of Cassie with its loops and contacts, and of random trees of every joint
type with closures of every hinge, rods, contacts, functions, stabilisation, external forces, redundant rows and
constraints that are off (`dynamics_blocks.py`).

A finding is: a derivative of accelerations, multipliers or a wrench, by q, v or tau, that misses five-point differences
of dense solutions (`derivative_oracle.py`) by more than 1e-7 of the largest entry (1e-5 where it is by differences
itself, which it says), by more than ten times what two steps of the differences are apart, and by more than multipliers
that are known to 1e-12 tell of light bodies; a state without derivatives beside which the rank of the rows is the same;
one with derivatives beside which it is not; an exception. States at which two steps are further apart than 1e-8, and
those near a loss of rank, are counted apart. The exit code is 1 when there are findings.
"""

# ruff: noqa: E402  # the number of threads is set before numpy is imported
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import functools
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from derivative_oracle import Matrix, Oracle, Vector, slope
from dynamics_blocks import Random, State, make_block, random_axes, random_axis, random_form, random_frame, random_state
from proving import TESTS, Finding, Progress, Proof, add_common, answers, checked, concluded, on_processes

sys.path.append(str(TESTS))

from crocoddyl_cases import SOLES, robot_of

from constraints import Robot
from constraints.dynamics import DynamicsDerivatives, ForwardDynamics, forward_dynamics
from constraints.dynamics.multipliers import Body
from constraints.loops import (
    Axes,
    Baumgarte,
    ConstraintSet,
    Form,
    PointContact,
    SurfaceContact,
    assemble_position,
    assemble_velocity,
)
from constraints.loops.frame_rows import FrameRows
from constraints.models import load
from constraints.rows import RowOwner

LIMIT, ROUGH, APART = 1e-7, 1e-5, 1e-8
"""How far derivatives may be from differences, those that are differences themselves, and differences from others."""

PART = 1e-3
"""Derivatives that are next to nothing are judged by this part of the others, or of what is differentiated."""

SOLVED = 1e-12
"""Multipliers are known to this part: forces that are large beside the inertia of a light body leave it less."""

NEAR = 1e-4
"""Singular values of the rows that count, below this part of the largest: there differences have other lengths."""

KINDS = ("anymal", "talos_legs", "cassie", "trees")


def question(seed: int, index: int) -> tuple[str, ConstraintSet, State]:
    """State `index` of a seed."""
    kind = KINDS[index % len(KINDS)]
    if kind == "trees":
        block = make_block(seed, index)
        return block.name, block.constraint_set, block.states[0]
    rng = np.random.default_rng([seed, index, 17])
    if kind == "cassie":
        return kind, *cassie(rng)
    robot = robot_of(kind)
    made = with_gains(rng, ConstraintSet(robot, contacts(rng, robot, SOLES[kind])))
    if rng.random() < 0.1:
        made = made.switched(off=[0])
    return kind, made, random_state(rng, made, "mixed", 1.0)


def contacts(rng: Random, robot: Robot, feet: tuple[str, ...]) -> list[RowOwner]:
    """Contacts of some feet; now and then one more on a joint, or a foot twice."""
    found: list[RowOwner] = []
    for i, foot in enumerate(feet):
        if rng.random() < 0.8 or not found:
            found.append(contact(rng, robot, foot, f"c{i}", len(feet) == 2))
    if rng.random() < 0.3:
        found.append(contact(rng, robot, random_frame(rng, robot), "more", False))
    if rng.random() < 0.25:
        found[0] = SurfaceContact(robot, feet[0], form=Form.RATES, name="foot")
        found.append(SurfaceContact(robot, feet[0], form=Form.RATES, axes=random_axes(rng), name="again"))
    return found


def contact(rng: Random, robot: Robot, frame: Any, name: str, whole: bool) -> RowOwner:
    """Of a surface or a point, or one row of a point."""
    way, form, axes = rng.random(), random_form(rng), random_axes(rng)
    if way < (0.7 if whole else 0.1):
        anchor = pin.SE3(pin.exp3(rng.standard_normal(3)), rng.uniform(-1.0, 1.0, 3))
        return SurfaceContact(robot, frame, anchor if rng.random() < 0.8 else None, axes=axes, form=form, name=name)
    at = rng.uniform(-0.5, 0.5, 3) if rng.random() < 0.8 else None
    normal = random_axis(rng) if way > 0.9 else None
    return PointContact(robot, frame, normal, at, axes=axes, form=form, name=name)


def with_gains(rng: Random, made: ConstraintSet) -> ConstraintSet:
    """Stabilised, more often than not."""
    doubled = any(owner.name == "again" for owner in made.stack)  # of which gains would ask two things
    return made.stabilised(Baumgarte(*rng.uniform(0.0, 30.0, 2))) if rng.random() < 0.7 and not doubled else made


@functools.cache
def cassie_closed() -> tuple[Any, ConstraintSet, Vector]:
    """The mechanism, its loops, and its closed keyframe."""
    mechanism = load(TESTS / "data" / "mechanisms" / "cassie_mjcf" / "cassie_mjcf.xml")
    return mechanism.robot, mechanism.constraint_set(), np.array(next(iter(mechanism.postures.values())))


def cassie(rng: Random) -> tuple[ConstraintSet, State]:
    """On no foot, one or two."""
    robot, loops, start = cassie_closed()
    q = robot.space.integrate(start, 0.1 * rng.standard_normal(robot.nv))
    q = assemble_position(loops, q, tolerance=1e-12, max_iterations=100).q
    found: list[RowOwner] = list(loops.stack.owners)
    for foot in ("left-foot", "right-foot"):
        if rng.random() < 0.5:
            joint = list(robot.model.names).index(foot)
            found.append(PointContact(robot, random_frame(rng, robot, joint), axes=random_axes(rng), name=foot))
    made = with_gains(rng, ConstraintSet(robot, found))
    state = random_state(rng, made, "mixed", 0.0)
    return made, replace(state, q=q, v=assemble_velocity(loops, q, state.v))


def check(name: str, some: ConstraintSet, state: State, rng: Random) -> tuple[str, list[str], float]:
    """Status, what is wrong, and the largest error."""
    oracle = Oracle(some, state)
    result = forward_dynamics(
        some, some.robot.at(state.q, state.v), state.tau, external=state.external, acceleration=state.acceleration
    )
    found = result.derivatives()
    if not result.success:
        return f"no solution {result.status.name}", [], 0.0
    sizes = np.linalg.svd(result.system.jacobian, compute_uv=False)
    if sizes.size and (sizes[: result.rank][-1:] < NEAR * sizes[0]).any():
        return "near a loss of rank", [], 0.0
    here = len(oracle.ranks_nearby(rng) | {result.rank}) == 1
    if not found.success:
        return found.status.name, [f"{found.status.name}, but the rank is the same nearby"] if here else [], 0.0
    if not here:
        return "wrong", [f"{found.status.name}, but the rank is another one nearby"], 0.0
    faults, worst, rough = list[str](), 0.0, False
    limit = LIMIT if found.has_exact_derivatives else ROUGH
    pushed = largest(result.multipliers) * largest(result.system.jacobian)
    shaken = SOLVED * pushed * largest(found.acceleration_dtau)
    for what, mine, truth, apart, floor in comparisons(oracle, result, found, rng):
        size = max(largest(truth), floor, 1e-300)
        error = largest(mine - truth) / size if mine.shape == truth.shape else np.inf
        if apart > APART:
            rough = True
        else:
            worst = max(worst, error)
        if not error <= max(limit, 10.0 * apart, shaken / size if what.startswith("acceleration") else 0.0):
            faults.append(f"{what} misses by {error:.2g} (differences: {apart:.1g}; {found})")
    return f"{found.status.name}{' (rough)' if rough else ''}", faults, worst


def comparisons(
    oracle: Oracle, result: ForwardDynamics, found: DynamicsDerivatives, rng: Random
) -> Iterator[tuple[str, Matrix, Matrix, float, float]]:
    """What is compared: its name, the library's, differences, how far two of them are apart, and a least size."""
    some, state, n = oracle.constraint_set, oracle.state, oracle.constraint_set.robot.nv
    wrenches = [owner for owner in some.stack if isinstance(owner, FrameRows)]
    which = wrenches[int(rng.integers(len(wrenches)))] if wrenches else None
    on: Body = "successor" if rng.random() < 0.5 else "predecessor"
    axes = list(Axes)[int(rng.integers(2))]
    frame = random_frame(rng, some.robot) if rng.random() < 0.3 else None

    def solved(q: Vector, v: Vector) -> Vector:
        """Acceleration, multipliers, and a wrench."""
        x = oracle.solution(q, v)
        if which is None:
            return x
        there = ForwardDynamics(x[:n], x[n:], result.status, result.method, result.question._replace(q=q, v=v))
        return np.concatenate([x, there.wrench(which, on, axes, frame)])

    own = None if which is None else found.wrench(which, on, axes, frame)
    k, here = some.size, largest(solved(state.q, state.v))
    for word, f, mine in (
        ("q", lambda d: solved(pin.integrate(some.robot.model, state.q, d), state.v), "dq"),
        ("v", lambda d: solved(state.q, state.v + d), "dv"),
    ):
        truth, apart = slope(f, n)
        floor = PART * max(largest(truth), here)
        yield f"acceleration by {word}", getattr(found, f"acceleration_{mine}"), truth[:n], apart, floor
        yield f"multipliers by {word}", getattr(found, f"multipliers_{mine}"), truth[n : n + k], apart, floor
        if own is not None:
            yield f"wrench by {word}", getattr(own, f"by_{word}"), truth[n + k :], apart, floor
    plain = Oracle(some, State(state.q, state.v, 0.0 * state.tau, (), None)).solution(state.q, state.v)

    def pushed(tau: Vector) -> Vector:
        return Oracle(some, State(state.q, state.v, tau, (), None)).solution(state.q, state.v) - plain

    truth = np.array([pushed(e) for e in np.eye(n)]).T
    floor = PART * max(largest(truth), largest(np.asarray(np.linalg.pinv(result.system.mass_matrix), dtype=np.float64)))
    yield "acceleration by tau", found.acceleration_dtau, truth[:n], 0.0, floor
    yield "multipliers by tau", found.multipliers_dtau, truth[n:], 0.0, floor


def largest(x: Matrix | Vector) -> float:
    """Size of the largest entry."""
    return float(np.abs(x).max(initial=0.0))


def run(seed: int, index: int) -> dict[str, Any]:
    """One state."""
    logging.disable(logging.WARNING)
    try:
        name, some, state = question(seed, index)
        status, faults, worst = check(name, some, state, np.random.default_rng([seed, index, 18]))
    except Exception as error:
        return {"status": "raised", "findings": [(index, f"raised {type(error).__name__}: {error}")], "worst": 0.0}
    return {
        "status": f"{KINDS[index % len(KINDS)]} {status}",
        "findings": [(index, f"{name}: {what}") for what in faults],
        "worst": worst,
    }


def states(options: argparse.Namespace) -> Proof:
    """Differentiate at as many states as asked for."""
    began, progress = time.perf_counter(), Progress(options.states)
    counts, findings, worst = Counter[str](), list[Finding](), 0.0
    for one in answers(partial(run, options.seed), range(options.states), options.processes):
        counts[one["status"]] += 1
        findings += one["findings"]
        worst = max(worst, one["worst"])
        progress.one_more()
    seconds = time.perf_counter() - began
    lines = [f"{n} {word}" for word, n in sorted(counts.items())]
    lines.append(f"largest error where differences are good to {APART:g}: {worst:.2g}")
    lines.append(
        f"{options.states} states (seed {options.seed}): {len(findings)} findings; {seconds:.0f} s "
        f"{on_processes(options.processes)}"
    )
    figures = {"states": options.states, "seed": options.seed, "statuses": counts, "worst": worst}
    return lines, findings, figures | {"findings": len(findings), "seconds": seconds}


def show(options: argparse.Namespace) -> int:
    """One state again."""
    name, some, state = question(options.seed, options.case)
    print(f"{name}: {some!r} {some.kinds}\n{state}")
    status, faults, worst = check(name, some, state, np.random.default_rng([options.seed, options.case, 18]))
    print(f"{status}, largest error {worst:.2g}\n" + ("\n".join(faults) or "nothing is wrong with it"))
    return int(bool(faults))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, metavar="N", help="differentiate at N random states")
    add_common(parser, "state", shown=30)
    options = checked(parser, {"states": 24})
    logging.disable(logging.WARNING)
    if options.case is not None:
        return show(options)
    return concluded(options, [("--case", lambda: states(options))])


if __name__ == "__main__":
    sys.exit(main())
