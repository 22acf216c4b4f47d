"""Proof at scale: every derivative of constrained dynamics against differences of dense solutions.

    python benchmarks/derivative_soundness.py --states 1000 [--seed S] [--processes P]
    python benchmarks/derivative_soundness.py --case INDEX [--seed S]

A sixth of the states each is of ANYmal, of Talos' legs, of all of Talos (where example-robot-data is installed), of
Cassie with its loops (closures, or maps from joints to joints), of random trees, and of actions on one of them. The
robots have contacts on feet and elsewhere, in both forms and axes, of all rows or of some by a mask, two on one joint,
a sole twice; and rows of the centre of mass or of surfaces. The trees have every joint type, with closures of every
hinge, rods, contacts, functions, stabilisation, external forces, redundant rows and constraints that are off
(`dynamics_blocks.py`). Springs, links and forces at hinges act on a third of all these. The actions are impacts with a
restitution of each contact, and forward dynamics with armature; both damped or not.

A finding is: a derivative of accelerations, velocities after an impact, multipliers, impulses or a wrench, by q, v or
tau, that misses differences of dense solutions (`derivative_oracle.py`) by more than 1e-7 of the largest entry (1e-5
where it is by differences itself, which it says), and by more than ten times what two orders of the differences, and
differences by other steps, are apart; a state without derivatives beside which the rank of the rows is the same; one
with derivatives beside which it is not; an exception. States at which two orders are further apart than 1e-8, and those
near a loss of rank, are counted apart. The exit code is 1 when there are findings.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import bench_setup  # noqa: F401
import numpy as np
import pinocchio as pin
from derivative_oracle import Matrix, Oracle, Slope, Vector, slope
from derivative_questions import KINDS, question
from dynamics_blocks import Random, State, random_frame
from proving import Finding, Part, Proof, Tally, answers, parser_of, prove

from constraints.actions import ContactForwardDynamics, ImpulseDynamics
from constraints.dynamics import DynamicsDerivatives, ForwardDynamics, forward_dynamics
from constraints.dynamics.multipliers import Body
from constraints.loops import Axes, ConstraintSet, PointContact, SurfaceContact
from constraints.loops.frame_rows import FrameRows

LIMIT, ROUGH, APART = 1e-7, 1e-5, 1e-8
"""How far derivatives may be from differences, those that are differences themselves, and differences from others."""

PART, ROUNDING = 1e-3, 1e-9
"""Derivatives that are next to nothing are judged by this part of the others of their kind (motions, or multipliers and
wrenches), or of what is differentiated; and where all of a kind is next to nothing, by the second part of all."""

NEAR = 1e-4
"""Singular values of the rows that count, below this part of the largest: there differences have other lengths."""


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
    compared = comparisons(oracle, result, found, rng)
    return verdict(found.status.name, compared, LIMIT if found.has_exact_derivatives else ROUGH, f"; {found}")


class Comparison(NamedTuple):
    """What is compared: its name, the library's, differences, how far two orders of them are apart, a least size, and
    differences by other steps."""

    what: str
    mine: Matrix
    truth: Matrix
    apart: float
    floor: float
    again: Callable[[], Matrix]


def verdict(status: str, compared: Iterable[Comparison], limit: float, said: str = "") -> tuple[str, list[str], float]:
    """Status, what is wrong, and the largest error where differences are good."""
    faults, worst, rough = list[str](), 0.0, False
    for what, mine, truth, apart, floor, again in compared:
        size = max(largest(truth), floor, 1e-300)
        error = largest(mine - truth) / size if mine.shape == truth.shape else np.inf
        if not error <= limit:
            apart = max(apart, largest(again() - truth) / size)
        if apart > APART:
            rough = True
        else:
            worst = max(worst, error)
        if not error <= max(limit, 10.0 * apart):
            faults.append(f"{what} misses by {error:.2g} (differences: {apart:.1g}{said})")
    return f"{status}{' (rough)' if rough else ''}", faults, worst


def comparisons(
    oracle: Oracle, result: ForwardDynamics, found: DynamicsDerivatives, rng: Random
) -> Iterator[Comparison]:
    """All derivatives of a result."""
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
    parts = {"acceleration": slice(0, n), "multipliers": slice(n, n + some.size)}
    if own is not None:
        parts["wrench"] = slice(n + some.size, n + some.size + 6)
    slopes = {
        "q": slope(lambda d: solved(pin.integrate(some.robot.model, state.q, d), state.v), n, [*parts.values()], 4),
        "v": slope(lambda d: solved(state.q, state.v + d), n, [*parts.values()], 2),  # of degree two in v
    }
    here = solved(state.q, state.v)
    sizes = part_sizes(here, [each.matrix for each in slopes.values()], [*parts.values()], oracle.free())
    for word, (truth, apart, again) in slopes.items():
        for (part, rows), own_apart, size in zip(parts.items(), apart, sizes, strict=True):
            mine = getattr(own, f"by_{word}") if part == "wrench" else getattr(found, f"{part}_d{word}")
            yield Comparison(f"{part} by {word}", mine, truth[rows], own_apart, size, partial(rows_of, again, rows))
    plain = Oracle(some, State(state.q, state.v, 0.0 * state.tau, (), None)).solution(state.q, state.v)

    def pushed(tau: Vector) -> Vector:
        return Oracle(some, State(state.q, state.v, tau, (), None)).solution(state.q, state.v) - plain

    truth = np.array([pushed(e) for e in np.eye(n)]).T
    floor = PART * max(largest(truth), largest(np.asarray(np.linalg.pinv(result.system.mass_matrix), dtype=np.float64)))
    yield Comparison("acceleration by tau", found.acceleration_dtau, truth[:n], 0.0, floor, lambda: truth[:n])
    yield Comparison("multipliers by tau", found.multipliers_dtau, truth[n:], 0.0, floor, lambda: truth[n:])


def part_sizes(
    here: Vector, truths: Sequence[Matrix], parts: Sequence[slice], free: tuple[float, float]
) -> list[float]:
    """The least size by which derivatives of each part are judged: of motions, then of multipliers and wrenches.

    By a part of what is differentiated, of its derivatives, and of what it were without the rows (`free`): robots that
    are held altogether do not accelerate, and those that fall freely push nothing.
    """
    of_all = [max(largest(here[rows]), *(largest(truth[rows]) for truth in truths)) for rows in parts]
    of_forces = max(free[1], *of_all[1:])  # the wrench of what is off is zero
    whole = max(of_all)
    motion = max(PART * max(of_all[0], free[0]), ROUNDING * whole)
    return [max(motion, 1e-300)] + [max(PART * of_forces, ROUNDING * whole, 1e-300)] * (len(parts) - 1)


def check_action(name: str, some: ConstraintSet, state: State, rng: Random) -> tuple[str, list[str], float]:
    """As `check`, of an impact with restitution or of forward dynamics, as actions: damped or not, with armature."""
    oracle, robot = Oracle(some, State(state.q, state.v, state.tau, (), None)), some.robot
    n, damping = robot.nv, 10.0 ** rng.uniform(-4, 0) if rng.random() < 0.4 else 0.0
    action: Any
    if rng.random() < 0.6:
        own = {owner.name: rng.random() for owner in some.stack if isinstance(owner, PointContact | SurfaceContact)}
        action = ImpulseDynamics(robot, some, own, damping=damping)
        u, e = np.zeros(0), np.zeros(some.size)
        for s, owner in zip(some.stack.slices, some.stack, strict=True):
            e[s] = own.get(owner.name, 0.0)

        def solved(q: Vector, v: Vector, u: Vector) -> Vector:
            return oracle.impact(q, v, e, damping)

    else:
        armature = rng.random(n) * (rng.random() < 0.5)
        action = ContactForwardDynamics(robot, None, some, (), (), damping, armature, with_force_derivatives=True)
        u = state.tau

        def solved(q: Vector, v: Vector, u: Vector) -> Vector:
            return oracle.damped(q, v, u, damping, armature)

    done = action.calc(np.concatenate([state.q, state.v]), u)
    kind = f"{type(action).__name__}{' damped' if damping else ''}"
    if not done.success:
        return f"{kind}: no solution {done.status.name}", [], 0.0
    sizes = np.linalg.svd(some.jacobian(state.q), compute_uv=False)
    ranks = oracle.ranks_nearby(rng)
    if not damping and (len(ranks) > 1 or (sizes[: max(ranks)][-1:] < NEAR * sizes[:1]).any()):
        return f"{kind}: near a loss of rank", [], 0.0
    found = action.calc_diff(done)
    if not found.success:
        return f"{kind}: {found.status.name}", [f"{found.status.name}, but the rank is the same nearby"], 0.0
    is_impact = isinstance(action, ImpulseDynamics)
    top, low = found.Fx[n:] if is_impact else found.Fx, found.multipliers_x
    mine, limit = np.vstack([top, low]), ROUGH if found.by_differences else LIMIT
    ways: list[tuple[str, Callable[[Vector], Vector], Matrix, int]] = [
        ("q", lambda d: solved(pin.integrate(robot.model, state.q, d), state.v, u), mine[:, :n], n),
        ("v", lambda d: solved(state.q, state.v + d, u), mine[:, n:], n),
    ]
    if u.size:
        by_u = np.vstack([found.Fu, found.multipliers_u])
        ways.append(("u", lambda d: solved(state.q, state.v, u + d), by_u, u.size))
    parts = [slice(0, n), slice(n, n + some.size)]
    slopes = [slope(f, count, parts, 4 if word == "q" else 2) for word, f, _, count in ways]
    size = max(largest(state.v), 1.0), largest(oracle.inertia(state.q) @ state.v)  # by v, free motions are the identity
    free = size if is_impact else oracle.free()
    sizes = part_sizes(solved(state.q, state.v, u), [each.matrix for each in slopes], parts, free)
    compared = (
        Comparison(f"{kind}: {part} by {word}", own[rows], truth[rows], own_apart, least, partial(rows_of, again, rows))
        for (word, _, own, _), (truth, apart, again) in zip(ways, slopes, strict=True)
        for part, rows, own_apart, least in zip(("motion", "forces"), parts, apart, sizes, strict=True)
    )
    return verdict(f"{kind} {found.status.name}", compared, limit)


def rows_of(again: Callable[[], Slope], rows: slice) -> Matrix:
    """Rows of a derivative by other steps."""
    return again().matrix[rows]


def largest(x: Matrix | Vector) -> float:
    """Size of the largest entry."""
    return float(np.abs(x).max(initial=0.0))


def judged(seed: int, index: int) -> tuple[str, ConstraintSet, State, tuple[str, list[str], float]]:
    """One question, and the verdict."""
    kind, rng = KINDS[index % len(KINDS)], np.random.default_rng([seed, index, 18])
    if kind != "actions":
        asked = question(seed, index)
        return *asked, check(*asked, rng)
    asked = question(seed, index, str(rng.choice(KINDS[:4])))
    return *asked, check_action(*asked, rng)


def run(seed: int, index: int) -> Tally:
    """One state."""
    try:
        name, _, _, (status, faults, worst) = judged(seed, index)
    except Exception as error:
        return Tally(Counter(["raised"]), findings=[(index, f"raised {type(error).__name__}: {error}")])
    found: list[Finding] = [(index, f"{name}: {what}") for what in faults]
    return Tally(Counter([f"{KINDS[index % len(KINDS)]} {status}"]), {"worst": worst}, found)


def states(options: Namespace) -> Proof:
    """Differentiate at as many states as asked for."""
    whole = Tally.of(answers(partial(run, options.seed), range(options.states), options.processes))
    worst = whole.errors.get("worst", 0.0)
    lines = [f"{n} {word}" for word, n in sorted(whole.counts.items())]
    lines.append(f"largest error where differences are good to {APART:g}: {worst:.2g}")
    figures = {"states": options.states, "statuses": whole.counts, "worst": worst}
    return Proof(f"{options.states} states (seed {options.seed}): ", whole.findings, figures, lines)


def show(options: Namespace) -> int:
    """One state again."""
    name, some, state, (status, faults, worst) = judged(options.seed, options.case)
    print(f"{name}: {some!r} {some.kinds}\n{state}")
    print(f"{status}, largest error {worst:.2g}\n" + ("\n".join(faults) or "nothing is wrong with it"))
    return int(bool(faults))


PARTS = (Part("states", "random states at which dynamics are differentiated", 24, "--case", (states,)),)

if __name__ == "__main__":
    sys.exit(prove(parser_of(__doc__, PARTS, "state"), PARTS, show))
