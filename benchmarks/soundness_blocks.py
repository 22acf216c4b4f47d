"""Blocks of projections for `soundness.py`: one problem each, many starts, and the means to judge what comes of them.

A block is made of its seed and number, and its engine, alone; for the compiled engine it is drawn until it can be
packed. Three of four are problems of the benchmark, judged by `checking.Judge`;
the fourth has random constraints on one of five random trees, often with free bodies in narrow boxes, judged by
`plain_rows`. Of the compiled engine's every tenth block is one whose rows take Python a thousand times longer: it
refines solutions, or calls functions of a user. It has few rows, and the others do neither.
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
from plain_rows import Many, Place
from problem_files import PROBLEMS, ProblemFile, Skipped, build, read
from random_problems import SPOILT, constraint_of, random_constraints, rhs_numbers, spoil
from random_trees import Coordinates, Random, random_tree

from constraints import Bounds, Options, Problem, Projection, ProjectionBatch, Projector, RightHandSide, Robot
from constraints.solvers import why_not
from constraints.solvers.step_control import FULL_STEPS, Backtracking, ConstantStep, ErrorNormBased, FixedSequence
from liegroups import Rn, Space

__all__ = ["SIZES", "TREES", "UNIT", "Block", "make_block", "missing", "rows_of"]

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

SIZES = {"readable": 100, "compiled": 2000}
"""Projections in a block, by engine: to make a block takes as long as 500 projections by the compiled engine."""
SLOW, SLOW_ROWS = 10, 12
"""Of the compiled engine's so many blocks one is slow, and has so many rows."""
BY_FUNCTIONS = {"waves", "root"}
"""Kinds of constraints on trees that call a function of a user."""
TREES = 5
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
        measure: Q (n, nq) -> (largest error norm of a mandatory constraint (n,), rotations of half a turn met (n,)).
        lower, upper: (nq,) bounds; infinite where there are none.
        units: slices of q that are unit vectors.
        frozen: entries of q that must not change.
    """

    name: str
    projector: Projector
    rhs: RightHandSide | None
    starts: Vector
    kinds: tuple[str, ...]
    measure: Callable[[Many], tuple[Vector, Mask]]
    lower: Vector
    upper: Vector
    units: tuple[slice, ...]
    frozen: NDArray[np.intp]

    def project(self, q: Vector) -> Projection:
        return self.projector.project(q, self.rhs)

    def project_batch(self, Q: Many) -> ProjectionBatch:
        return self.projector.project_batch(Q, self.rhs)

    def inside(self, Q: Many) -> Mask:
        return np.all((Q >= self.lower) & (Q <= self.upper), axis=1)

    def off_unit(self, Q: Many) -> Vector:
        """Largest distance of a unit vector's norm to one, row by row."""
        norms = [np.sqrt((Q[:, s] * Q[:, s]).sum(axis=1)) for s in self.units]
        return np.abs(np.stack(norms) - 1.0).max(axis=0) if norms else np.zeros(len(Q))


def is_slow(number: int, engine: str) -> bool:
    """Whether the rows of a block take the compiled engine milliseconds, in Python."""
    return engine == "compiled" and number % SLOW == SLOW - 1


def rows_of(number: int, engine: str) -> int:
    """How many starts a block has."""
    return SLOW_ROWS if is_slow(number, engine) else SIZES[engine]


def make_block(seed: int, number: int, engine: str = "readable") -> Block:
    """Block `number` of a seed, solved by an engine."""
    rng = np.random.default_rng([seed, 1, number])
    files = problem_paths()
    turn, place = divmod(number, 4)
    slow, rows = (None if engine == "readable" else is_slow(number, engine)), rows_of(number, engine)
    while True:
        if place < 3:
            block = _file_block(rng, files[(3 * turn + place) % len(files)], engine, rows, slow)
        else:
            block = _tree_block(rng, seed, turn % TREES, engine, rows, slow)
        if block is None:
            continue
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


def _file_block(rng: Random, path: Path, engine: str, rows: int, slow: bool | None) -> Block:
    spoilt = rng.random() < 0.15
    file, problem, judge = _file(path, spoilt)
    qref = np.array(file.description["qref"])
    share = 0.03 if slow is None else float(slow)
    projector = Projector(problem, _options(rng, share), engine)
    if engine == "readable":
        fresh = judge.starts(rows, int(rng.integers(2**31)))
    else:  # in less time than the projections take
        fresh = _anywhere(rng, Coordinates.of(judge.model), judge.lower, judge.upper, rows)
    starts, kinds = _starts(rng, judge.model, judge.lower, judge.upper, qref, fresh)

    def measure(Q: Many) -> tuple[Vector, Mask]:
        return judge.residuals(Q), np.zeros(len(Q), dtype=np.bool_)

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


def _tree_block(rng: Random, seed: int, number: int, engine: str, rows: int, slow: bool | None) -> Block | None:
    """A block of random constraints; none where another speed is asked for."""
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
    called = any(w.kind in BY_FUNCTIONS for w in wanted)
    if called and slow is False:
        return None
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

    def measure(Q: Many) -> tuple[Vector, Mask]:
        place.at(Q)
        errors = [w.errors(place) for w in mandatory]
        return np.max(errors, axis=0) if errors else np.zeros(len(Q)), place.turned

    frozen = np.concatenate([np.zeros(0), *(robot.segments(name).q for name in names)]).astype(np.intp)
    starts, kinds = _starts(rng, model, lower, upper, target, _anywhere(rng, where, lower, upper, rows))
    if rng.random() < 0.5:
        starts[:, frozen] = target[frozen]
    name = f"tree {number}: {', '.join(w.kind for w in wanted)}{f', {how}' if how else ''}"
    share = 0.004 if slow is None else 0.0 if not slow else 0.02 if called else 1.0
    projector = Projector(problem, _options(rng, share, optional), engine)
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
    rng: Random, model: Any, lower: Vector, upper: Vector, target: Vector, fresh: Many
) -> tuple[Many, tuple[str, ...]]:
    """Good starts and bad places: (rows, nq) and the kind of each."""
    where, kinds, starts = Coordinates.of(model), rng.choice(START_KINDS, len(fresh)), fresh.copy()
    for kind in dict.fromkeys(START_KINDS):
        rows = np.flatnonzero(kinds == kind)
        starts[rows] = _some_starts(rng, kind, model, where, target, fresh[rows])
        if kind in ("near", "half turn", "neutral"):
            clipped = rows[rng.random(rows.size) < 0.5]
            starts[clipped] = np.clip(starts[clipped], lower, upper)
    return starts, tuple(kinds.tolist())


def _some_starts(rng: Random, kind: str, model: Any, where: Coordinates, target: Vector, fresh: Many) -> Many:
    """Starts of one kind, as many as fresh ones are given."""
    n, whole = len(fresh), slice(0, model.nq)
    same = np.tile(target, (n, 1))
    if kind == "solution":
        return same
    if kind == "neutral":
        return np.tile(np.concatenate([pin.neutral(model), np.zeros(target.size - model.nq)]), (n, 1))
    if kind in ("near", "a hair away", "half turn"):
        ways = {"near": 0.1, "a hair away": 1e-10}.get(kind, 0.0) * rng.standard_normal((n, model.nv))
        for joint in list(model.joints)[1:] if kind == "half turn" else ():
            if joint.nv >= 3 and joint.nq > joint.nv:
                axes = rng.standard_normal((n, 3))
                axes /= np.sqrt((axes * axes).sum(axis=1, keepdims=True))
                ways[:, joint.idx_v + joint.nv - 3 : joint.idx_v + joint.nv] = np.pi * axes
            elif joint.nv == 1:
                ways[:, joint.idx_v] = np.where(rng.random(n) < 0.3, np.pi, 0.0)
        for q, v in zip(same, ways, strict=True):
            q[whole] = pin.integrate(model, target[whole], v)
        return same
    q = fresh.copy()
    if kind in ("out of bounds", "far away"):
        size, some = (4.0 if kind == "out of bounds" else 1e3), rng.random((n, where.entries.size)) < 0.4
        q[:, where.entries] += np.where(some, size * rng.standard_normal(some.shape), 0.0)
    elif kind == "other sign":
        q = same
        for s in where.units:
            q[:, s] *= -1.0 if s.stop - s.start == 4 else 1.0
    elif kind == "off unit":
        for s in where.units:
            q[:, s] *= 1.0 + rng.uniform(-0.4, 0.4, (n, 1)) * UNIT
    return q
