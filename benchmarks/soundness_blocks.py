"""Blocks of projections for `soundness.py`: one problem each, many starts, and what is wrong with each result.

A block is made of its seed and number, and its engine, alone; for the compiled engine it is drawn until it can be
packed. Three of four are problems of the benchmark, judged by `checking.Judge`;
the fourth has random constraints on one of five random trees, often with free bodies in narrow boxes, judged by
`plain_rows`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from checking import Judge
from numpy.typing import NDArray
from plain_rows import Place
from problem_files import ProblemFile, Skipped, build, read
from random_problems import SPOILT, constraint_of, random_constraints, rhs_numbers, spoil
from random_trees import Coordinates, Random, random_tree

from constraints import Bounds, Options, Problem, Projection, Projector, RightHandSide, Robot, Status
from constraints.solvers import CompiledEngine, Engine, NewtonEngine, why_not
from constraints.solvers.step_control import FULL_STEPS, Backtracking, ConstantStep, ErrorNormBased, FixedSequence
from liegroups import Rn, Space

__all__ = ["ENGINES", "SIZES", "TREES", "Block", "faults", "forgetful", "make_block", "missing"]

Vector = NDArray[np.float64]

SIZES = {"readable": 100, "compiled": 1000}
"""Projections in a block, by engine: to make a block takes as long as 500 projections by the compiled engine."""
ENGINES: dict[str, Callable[[], Engine]] = {"compiled": CompiledEngine, "readable": NewtonEngine}
TREES = 5
PROBLEMS = Path(__file__).resolve().parent / "problems"
ROUNDING = 1e-9
"""Relative slack of the threshold: two formulas for one residual differ by rounding."""
UNIT = 1e-6
"""How far from one the norm of a unit vector of a start may be; a solution's only where its start's is."""


@dataclass(frozen=True, eq=False)
class Block:
    """A problem with its starts, and the means to judge what comes of them.

    Attributes:
        name: what it is, for messages.
        projector: what is tried.
        rhs: right-hand sides that are passed, or None.
        starts: (rows, nq), with their kinds in words.
        kinds: what each start is.
        measure: q -> (largest error norm of a mandatory constraint, whether a rotation of half a turn was met).
        lower, upper: (nq,) bounds; infinite where there are none.
        units: slices of q that are unit vectors.
        frozen: entries of q that must not change.
    """

    name: str
    projector: Projector
    rhs: RightHandSide | None
    starts: Vector
    kinds: tuple[str, ...]
    measure: Callable[[Vector], tuple[float, bool]]
    lower: Vector
    upper: Vector
    units: tuple[slice, ...]
    frozen: NDArray[np.intp]

    def project(self, q: Vector) -> Projection:
        return self.projector.project(q, self.rhs)

    def inside(self, q: Vector) -> bool:
        return bool((q >= self.lower).all() and (q <= self.upper).all())

    def off_unit(self, q: Vector) -> float:
        """Largest distance of a unit vector's norm to one."""
        return max((abs(float(np.sqrt(q[s] @ q[s])) - 1.0) for s in self.units), default=0.0)


def make_block(seed: int, number: int, engine: str = "readable") -> Block:
    """Block `number` of a seed, solved by an engine."""
    rng = np.random.default_rng([seed, 1, number])
    files = problem_paths()
    turn, place = divmod(number, 4)
    while True:
        if place < 3:
            block = _file_block(rng, files[(3 * turn + place) % len(files)], engine)
        else:
            block = _tree_block(rng, seed, turn % TREES, engine)
        if engine == "readable" or why_not(block.projector.problem, block.projector.options) is None:
            return block


@functools.cache
def problem_paths() -> tuple[Path, ...]:
    return tuple(sorted(PROBLEMS.glob("*.npz")))


def missing() -> str | None:
    """Why the problems of the benchmark cannot be built here; None where they can."""
    for path in problem_paths():
        try:
            _file(path, False)
        except Skipped as why:
            return f"{path.stem}: {why}"
    return None


# Problems of the benchmark.


@functools.cache
def _file(path: Path, spoilt: bool) -> tuple[ProblemFile, Problem, Judge]:
    """A problem file with its judge; spoilt, its first target is out of reach."""
    file = read(path)
    if spoilt:
        constraints = [dict(given) for given in file.description["constraints"]]
        for given in constraints:
            key = next((key for key in ("frame1_world", "frame1", "reference") if key in given), None)
            if key is not None:
                given[key] = [given[key][0] + 9.0, *given[key][1:]]
                break
        file = replace(file, description=file.description | {"constraints": constraints})
    return file, build(file), Judge(file.description)


def _file_block(rng: Random, path: Path, engine: str) -> Block:
    spoilt = rng.random() < 0.15
    file, problem, judge = _file(path, spoilt)
    qref = np.array(file.description["qref"])
    projector = Projector(problem, _options(rng, 0.03), ENGINES[engine]())
    if engine == "readable":
        fresh = judge.starts(SIZES[engine], int(rng.integers(2**31)))
    else:  # in less time than the projections take
        fresh = _anywhere(rng, Coordinates.of(judge.model), judge.lower, judge.upper, SIZES[engine])
    starts, kinds = _starts(rng, judge.model, judge.lower, judge.upper, qref, fresh)

    def measure(q: Vector) -> tuple[float, bool]:
        return judge.residual(q), False

    name = f"{file.name}{', out of reach' if spoilt else ''}"
    units = Coordinates.of(judge.model).units
    return Block(
        name, projector, None, starts, kinds, measure, judge.lower, judge.upper, units, np.zeros(0, dtype=np.intp)
    )  # fmt: skip


# Random constraints on random trees.


@functools.cache
def _tree(seed: int, number: int) -> tuple[Any, Robot]:
    model = random_tree(seed, number)
    return model, Robot(model)


def _tree_block(rng: Random, seed: int, number: int, engine: str) -> Block:
    model, robot = _tree(seed, number)
    extra = 2 if rng.random() < 0.15 else 0
    space: Space = robot.space * Rn(extra) if extra else robot.space
    place, where = Place(model, extra), Coordinates.of(model)
    bounded = rng.random() < 0.8
    ends = (np.full(extra, -1.5), np.full(extra, 1.5))
    lower = np.concatenate([model.lowerPositionLimit if bounded else np.full(model.nq, -np.inf), ends[0]])
    upper = np.concatenate([model.upperPositionLimit if bounded else np.full(model.nq, np.inf), ends[1]])
    target = _anywhere(rng, where, lower, upper, 1)[0]
    (boxes,) = rng.spawn(1)  # which leaves what else is drawn as it is
    if boxes.random() < 0.4:
        _put_in_boxes(boxes, where, target, lower, upper)
    how = SPOILT[int(rng.integers(len(SPOILT)))]
    wanted = spoil(rng, random_constraints(rng, place, target), how)
    if len(wanted) > 1 and rng.random() < 0.3:
        implicit = [i for i, w in enumerate(wanted) if w.kind not in ("locked", "coupled", "object")]
        for i in rng.choice(implicit, max(1, len(implicit) // 2), replace=False) if len(implicit) > 1 else ():
            wanted[int(i)] = replace(wanted[int(i)], level=1)
    default = rng.random() < 0.5
    made = [constraint_of(w, robot, space, f"{w.kind} {i}", default) for i, w in enumerate(wanted)]
    levels = [[m for m, w in zip(made, wanted, strict=True) if w.level == k] for k in (0, 1)]
    optional = bool(levels[1]) and rng.random() < 0.3
    names = [str(name) for name in rng.choice(robot.joint_names, 3, replace=False)] if rng.random() < 0.2 else []
    weights = rng.choice([0.0, 0.3, 1.0, 50.0], space.nv, p=[0.1, 0.3, 0.5, 0.1]) if rng.random() < 0.2 else None
    where_ = space if extra else robot
    problem = Problem(
        where_, levels if levels[1] else levels[0], Bounds(space, lower, upper), weights=weights,
        frozen=[robot.segments(name) for name in names], optional_last=optional,
    )  # fmt: skip
    rhs: RightHandSide | None = None
    if not default:
        for constraint, w in zip(made, wanted, strict=True):
            point = rhs_numbers(w)
            if point is not None:
                rhs = (problem.rhs if rhs is None else rhs).replace(constraint, point)
    mandatory = [w for w in wanted if not (optional and w.level == 1)]

    def measure(q: Vector) -> tuple[float, bool]:
        place.at(q)
        return max((w.error(place) for w in mandatory), default=0.0), place.turned

    frozen = np.concatenate([np.zeros(0), *(robot.segments(name).q for name in names)]).astype(np.intp)
    starts, kinds = _starts(rng, model, lower, upper, target, _anywhere(rng, where, lower, upper, SIZES[engine]))
    if rng.random() < 0.5:
        starts[:, frozen] = target[frozen]
    name = f"tree {number}: {', '.join(w.kind for w in wanted)}{f', {how}' if how else ''}"
    projector = Projector(problem, _options(rng, 0.004, optional), ENGINES[engine]())
    return Block(
        name, projector, rhs, starts, kinds, measure, lower, upper, where.units, frozen
    )  # fmt: skip


def _anywhere(rng: Random, where: Coordinates, lower: Vector, upper: Vector, count: int) -> Vector:
    """Configurations in bounds: numbers uniform, at most a turn; unit vectors uniform."""
    q = rng.uniform(np.maximum(lower, -np.pi), np.minimum(upper, np.pi), (count, lower.size))
    for s in where.units:
        v = rng.standard_normal((count, s.stop - s.start))
        q[:, s] = v / np.sqrt((v * v).sum(axis=1, keepdims=True))
    return q


def _put_in_boxes(rng: Random, where: Coordinates, target: Vector, lower: Vector, upper: Vector) -> None:
    """Narrow bounds for translations of free and planar joints, on all axes or some, on both sides or one."""
    for i in where.entries[~where.flat]:
        below, above = rng.choice([0.0, 0.01, 0.2], 2)
        sides = rng.random(2) < 0.8
        lower[i] = target[i] - below if sides[0] else lower[i]
        upper[i] = target[i] + above if sides[1] else upper[i]


def _options(rng: Random, share: float, optional: bool = False) -> Options:
    """Of every kind; `share` is how often solutions are refined, which takes its time on trees."""
    threshold = float(rng.choice([1e-4, 1e-6, 1e-8, 1e-2], p=[0.7, 0.15, 0.1, 0.05]))
    controls = (FULL_STEPS, Backtracking(), ConstantStep(0.7), FixedSequence(), ErrorNormBased())
    control = controls[0 if rng.random() < 0.85 else int(rng.integers(len(controls)))]
    budget = int(rng.choice([40, 12, 0], p=[0.85, 0.13, 0.02]))
    changes: dict[str, Any] = {"threshold": threshold, "max_iterations": budget, "step_control": control}
    refined = rng.random() < share
    if refined and optional:
        changes["optimise_last"] = True
    elif refined:
        changes["nearest"] = True
    return Options.local(**changes) if rng.random() < 0.3 else Options(seed=int(rng.integers(3)), **changes)


# Starts.

START_KINDS = (
    "random", "random", "random", "random", "near", "near", "solution", "neutral", "half turn", "out of bounds",
    "far away", "other sign", "off unit", "a hair away",
)  # fmt: skip


def _starts(
    rng: Random, model: Any, lower: Vector, upper: Vector, target: Vector, fresh: Vector
) -> tuple[Vector, tuple[str, ...]]:
    """Good starts and bad places: (rows, nq) and the kind of each."""
    where, nq = Coordinates.of(model), model.nq
    kinds = tuple(START_KINDS[int(i)] for i in rng.integers(len(START_KINDS), size=len(fresh)))
    starts = np.empty((len(fresh), target.size))
    for i, kind in enumerate(kinds):
        starts[i] = _start(rng, kind, model, where, target, fresh[i])
        if kind in ("near", "half turn", "neutral"):
            starts[i] = np.clip(starts[i], lower, upper) if rng.random() < 0.5 else starts[i]
    assert nq <= starts.shape[1]
    return starts, kinds


def _start(rng: Random, kind: str, model: Any, where: Coordinates, target: Vector, fresh: Vector) -> Vector:
    if kind == "solution":
        return target
    if kind in ("near", "a hair away"):
        q = target.copy()
        size = 0.1 if kind == "near" else 1e-10
        q[: model.nq] = pin.integrate(model, target[: model.nq], size * rng.standard_normal(model.nv))
        return q
    if kind == "half turn":
        v = np.zeros(model.nv)
        for joint in list(model.joints)[1:]:
            if joint.nv >= 3 and joint.nq > joint.nv and joint.nv != 1:
                axis = rng.standard_normal(3)
                v[joint.idx_v + joint.nv - 3 : joint.idx_v + joint.nv] = np.pi * axis / np.sqrt(axis @ axis)
            elif joint.nv == 1 and rng.random() < 0.3:
                v[joint.idx_v] = np.pi
        q = target.copy()
        q[: model.nq] = pin.integrate(model, target[: model.nq], v)
        return q
    if kind == "neutral":
        return np.concatenate([pin.neutral(model), np.zeros(target.size - model.nq)])
    q = fresh.copy()
    if kind in ("out of bounds", "far away"):
        size = 4.0 if kind == "out of bounds" else 1e3
        some = rng.random(where.entries.size) < 0.4
        q[where.entries[some]] += size * rng.standard_normal(int(some.sum()))
    elif kind == "other sign":
        q = target.copy()
        for s in where.units:
            q[s] = -q[s] if s.stop - s.start == 4 else q[s]
    elif kind == "off unit":
        for s in where.units:
            q[s] *= 1.0 + rng.uniform(-0.4, 0.4) * UNIT
    return q


# Judgement.


def faults(block: Block, i: int) -> tuple[str, list[str]]:
    """Status of one projection in words, and what is wrong with it."""
    q0 = block.starts[i].copy()
    before = q0.tobytes()
    try:
        result = block.project(q0)
    except Exception as error:
        return "raised", [f"raised {type(error).__name__}: {error}"]
    found = list[str]()
    if q0.tobytes() != before:
        found.append("the start was changed")
    q, options = result.q, block.projector.options
    if not isinstance(result.status, Status) or result.success != (result.status is Status.CONVERGED):
        found.append(f"status {result.status!r}, success {result.success!r}")
    if q.shape != q0.shape or np.shares_memory(q, q0):
        found.append("the result has another shape, or is the start's memory")
    if not np.isfinite(q).all() or np.isnan(result.residual) or (result.success and not np.isfinite(result.residual)):
        return result.status.name, [*found, f"not finite: residual {result.residual}, q {q}"]
    budget = options.max_iterations + options.refine_iterations * (options.nearest or options.optimise_last)
    if result.iterations > budget:
        found.append(f"{result.iterations} iterations of {budget}")
    apart = np.abs(q[block.frozen] - q0[block.frozen]).max(initial=0.0)
    if apart > (UNIT if block.off_unit(q0) > 1e-12 else 0.0):  # unit vectors are normalised
        found.append("a frozen joint moved")
    slack = 1e-12 + 10.0 * block.off_unit(
        q
    )  # a unit vector that is off, of a joint that stays as given, has no exact pose
    limit = options.threshold * (1.0 + ROUNDING) + slack
    error, turned = block.measure(q)
    if result.success:
        if not error <= limit:
            found.append(f"claims success, but its error is {error:.6g} (threshold {options.threshold:g})")
        if not block.inside(q):
            outside = np.maximum(block.lower - q, q - block.upper)
            found.append(f"claims success, but entry {outside.argmax()} is {outside.max():.3g} outside its bounds")
        off, allowed = block.off_unit(q), 1e-9 if block.off_unit(q0) < 1e-9 else UNIT * (1 + 1e-6)
        if off > allowed:
            found.append(f"claims success, but a unit vector is {off:.3g} off")
        if i % 8 == 0 and not found and not options.optimise_last:  # which may go on from a solution
            found += _again(block, result)
    if not turned and np.isfinite(result.residual) and abs(error - result.residual) > 1e-8 * (1.0 + error) + slack:
        found.append(f"says its residual is {result.residual:.9g}, but it is {error:.9g}")
    found += _kept(block, q0, result)
    return result.status.name, found


def _again(block: Block, result: Projection) -> list[str]:
    """Projecting a solution gives it back bit for bit."""
    again = block.project(result.q)
    same = again.q.tobytes() == result.q.tobytes() and again.iterations == 0 and again.success
    return (
        []
        if same
        else [f"projected again, its solution ends as {again} at distance {np.abs(again.q - result.q).max():.3g}"]
    )


def _kept(block: Block, q0: Vector, result: Projection) -> list[str]:
    """A start that is a solution comes back bit for bit."""
    if (result.iterations == 0 and result.success) or block.projector.options.optimise_last:
        return []
    error, turned = block.measure(q0)
    if turned or not error <= 0.999 * block.projector.options.threshold - 1e-12 or not block.inside(q0):
        return []
    return [f"its start has the error {error:.3g} and is within bounds, but it ends as {result}"]


def forgetful(seed: int, number: int, block: Block, i: int, engine: str = "readable") -> list[str]:
    """A projection by a block that was made anew is that of one that has been used, bit for bit."""
    fresh = make_block(seed, number, engine)
    try:
        one, other = block.project(block.starts[i]), fresh.project(fresh.starts[i])
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]
    same = one.q.tobytes() == other.q.tobytes() and one.status is other.status and one.iterations == other.iterations
    return (
        []
        if same
        else [f"start {i} gives {one} after others, {other} alone, apart {np.abs(one.q - other.q).max():.3g}"]
    )
