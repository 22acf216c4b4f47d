"""Conflicts, trials and dependent rows against the same rules written out here, over many random problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each_choice import a_few
from newton.test_computed_iterates import Turning
from refinement.test_rules import HELD, IDLE, NARROW, OUT, ROBOT, follows, waves

import constraints as lc
from constraints.solvers.diagnosis.conflict import Conflict, Finder, Kind, Member, Trial
from constraints.solvers.diagnosis.dependent_rows import dependence
from liegroups import Rn, Segments

N = ROBOT.nq
Set = frozenset[Member]


def failed(problem: lc.Problem, q: Any, **options: Any) -> lc.Projection:
    """A projection that was given no time."""
    given: dict[str, Any] = {"max_iterations": 2, "restarts": False}
    return lc.Projector(problem, lc.Options(**(given | options))).project(q)


# The filter.


def mixed(rng: np.random.Generator) -> lc.Problem:
    """Rows on six numbers: some that hold at zero and some that do not, bounds that hold it and some that do not."""
    size = 6
    rows = [
        lc.Implicit.equal(lc.Affine(np.eye(1, size, i)), [rng.choice([0.0, 2.0 + i, -3.0 - i])], name=f"row {i}")
        for i in range(rng.integers(2, 5))
    ]
    space = Rn(1) * Rn(1) * Rn(1) * Rn(3)
    box = np.full(size, -np.inf), np.full(size, np.inf)
    for i in range(3):
        if rng.random() < 0.7:
            box[0][i], box[1][i] = rng.choice([-1.0, 0.0]), rng.choice([1.0, 0.0, 7.0]) + 1e-3
    frozen = Segments.coordinates(space, [5] if rng.random() < 0.6 else [])
    return lc.Problem(space, rows, lc.Bounds(space, *box), frozen=frozen)


class Oracle:
    """Who says which members can be satisfied together: not those of a conflict, and some are misjudged."""

    def __init__(self, members: tuple[Member, ...], rng: np.random.Generator, noise: float) -> None:
        self.members, self.noise, self.rng = members, noise, rng
        drawn = (rng.random(len(members)) < rng.uniform(0.2, 0.6) for _ in range(rng.integers(1, 4)))
        self.conflicts = [
            frozenset(m for m, chosen in zip(members, d, strict=True) if chosen) for d in drawn if d.any()
        ]
        self.asked: list[Set] = []

    def holds(self, members: Set) -> bool:
        return not any(conflict <= members for conflict in self.conflicts)

    def __call__(self, members: tuple[Member, ...]) -> Trial:
        wanted = frozenset(members)
        self.asked.append(wanted)
        drawn = np.random.default_rng([m.position + 7 * list(Kind).index(m.kind) for m in members])
        if not self.holds(wanted) or drawn.random() < self.noise:
            return Trial(members, None, 1, 1, 1.0, 0.0)
        met = wanted
        for member in self.members:  # the solution happens to satisfy others
            met = met | {member} if self.holds(met | {member}) and drawn.random() < 0.6 else met
        return Trial(tuple(m for m in self.members if m in met), np.zeros(6), 1, 1, 0.0, 0.0)


def filtered(finder: Finder, oracle: Callable[[tuple[Member, ...]], Trial], q: np.ndarray) -> tuple[Any, list[Trial]]:
    """The filter: members are left out by groups, then one by one, and stay out where the others still fail."""
    problem, members, limit = finder._problem, finder.members, finder._limit  # pyright: ignore
    trials: list[Trial] = []

    def tried(wanted: tuple[Member, ...]) -> Trial:
        for t in trials:
            if (t.reached and set(wanted) <= set(t.members)) or (not t.reached and set(wanted) == set(t.members)):
                return t
        trials.append(oracle(wanted))
        return trials[-1]

    def error(m: Member) -> float:
        return float(np.linalg.norm(problem.error(q, m.position)))

    def touched(m: Member) -> bool:
        at = problem.space.leaves()[m.position].q
        return bool((q[at] <= problem.bounds.lower[at]).any() or (q[at] >= problem.bounds.upper[at]).any())

    rows = [m for m in members if m.kind is Kind.CONSTRAINT]
    bounds, frozen = ([m for m in members if m.kind is kind] for kind in (Kind.BOUNDS, Kind.FROZEN))
    # constraints before bounds: what bounds alone put out of reach is no conflict with another constraint
    single = [[m] for m in sorted(rows, key=error)]
    first = [[m for m in rows if error(m) <= 1e-4], *single]
    groups = [*first, bounds, frozen, [m for m in bounds if not touched(m)]]
    groups += [*single, *([m] for m in members if m not in rows)]
    if tried(members).reached:
        return None, trials
    kept, wider = members, []
    for i, group in enumerate(groups):
        rest = tuple(m for m in kept if m not in group)
        if i < len(first) and not any(m in rows for m in rest):
            continue
        if rest == kept or len(trials) >= limit:
            continue
        trial = tried(rest)
        if not trial.reached:
            kept, wider = rest, [*wider, kept]
        while trial.reached and set(kept) <= set(trial.members):  # what failed before holds after all
            if not wider:
                return None, trials
            kept, wider = wider[-1], wider[:-1]
    for m in kept:
        if len(trials) < limit:
            tried(tuple(other for other in members if other != m))
    solved = [t for t in trials if t.reached]
    without = [next((t for t in solved if set(kept) - {m} <= set(t.members)), None) for m in kept]
    together = next(t for t in trials if not t.reached and set(t.members) == set(kept))
    return Conflict(kept, together, tuple(without)), trials


@pytest.mark.parametrize("limit", [1, 4, 50])
@pytest.mark.parametrize("noise", [0.0, 0.2, 0.6])
def test_conflicts_are_those_of_a_plain_filter(noise: float, limit: int) -> None:
    """Which trials are made, in which order, what is kept, and what tells that each of it is needed."""
    for seed in range(16):
        rng = np.random.default_rng([seed, limit])
        problem = mixed(rng)
        q = rng.choice([0.0, 1e-9, 1e-4], 6)  # the last is an error of just the threshold
        projection = failed(problem, q)
        projection = lc.Projection(projection.case, projection.outcome._replace(q=q), 0.0)
        finder, twin = (Finder(projection, 8, limit, 0) for _ in range(2))
        oracle, other = (Oracle(finder.members, np.random.default_rng(seed), noise) for _ in range(2))
        finder._tried = oracle  # pyright: ignore
        found, (expected, trials) = finder.find(), filtered(twin, other, q)
        assert oracle.asked == other.asked
        assert [t.members for t in finder.trials] == [t.members for t in trials]
        assert (found is None) == (expected is None)
        if found is None:
            continue
        assert found.members == expected.members
        assert found.trial.members == expected.trial.members
        assert [w and w.members for w in found.without] == [w and w.members for w in expected.without]
        assert found.is_minimal == all(w is not None for w in expected.without)
        if noise == 0.0 and limit == 50:
            assert found.is_minimal
            assert frozenset(found.members) in oracle.conflicts
            assert not any(conflict < frozenset(found.members) for conflict in oracle.conflicts)


# A trial.


def machine(rng: np.random.Generator, edge: float) -> tuple[lc.Problem, np.ndarray]:
    """Joints with bounds, one frozen and one computed, with rows of which some are met at a configuration."""
    columns = np.array([i != IDLE for i in range(N)])
    inside = rng.uniform(np.maximum(NARROW[0], -1.0), np.minimum(NARROW[1], 1.0))
    owners: list[Any] = []
    for i in range(3):
        f = waves(rng.normal(size=(2, N)), rng.uniform(-3.0, 3.0, N), rng.normal(), edge)
        target = f(inside)[0] if edge > 1.0 else np.zeros(2)
        owners.append(
            lc.Implicit.equal(
                Turning(f, ROBOT.space, 2, columns), target + rng.choice([0.0, 0.0, 1.5]), name=f"rows {i}"
            )
        )
    reads = np.isin(range(N), [0, 1])
    computed = lc.Explicit(
        Turning(follows, ROBOT.space, 1, reads), Segments.coordinates(ROBOT.space, [OUT]), whole=ROBOT.space
    )
    owners.insert(int(rng.integers(3)), computed)
    problem = lc.Problem(ROBOT, [owners[:-1], owners[-1:]], lc.Bounds(ROBOT.space, *NARROW), frozen=[f"j{HELD}"],
                      weights=rng.uniform(0.5, 2.0, N), optional_last=bool(rng.random() < 0.3))  # fmt: skip
    return problem, inside + rng.uniform(-0.5, 0.5, N)


def projections(part: lc.Problem, q: np.ndarray, budget: int, seed: int) -> Iterator[lc.Projection]:
    """A quarter to go on, half to search, an eighth to follow that and one for bold steps."""
    own = lc.Options(max_iterations=budget, seed=seed)
    quarter = max(budget // 4, 1)
    yield lc.Projector(part, replace(own, restarts=False, max_iterations=quarter)).project(q)
    if budget < 4:
        return
    search = lc.Projector(part, replace(own, max_iterations=budget - 2 * quarter)).project(q)
    yield search
    eighth = replace(own, restarts=False, max_iterations=max(quarter // 2, 1))
    yield lc.Projector(part, eighth).project(search.q)
    yield lc.Projector(part, replace(eighth, damping=1e-4, patience_count=8)).project(q)


@pytest.mark.parametrize("seed", a_few(range(8), 3))
@pytest.mark.parametrize("budget", [3, 40])
def test_a_trial_is_a_few_projections_of_what_is_left(budget: int, seed: int) -> None:
    """Of some constraints, without the bounds and the frozen dofs that are left out: all its figures."""
    rng = np.random.default_rng(seed)
    problem, q = machine(rng, -0.9 if seed % 4 == 3 else np.inf)
    projection = failed(problem, q)
    finder = Finder(projection, budget, 9, seed)
    q = projection.q
    for _ in range(3):
        chosen = tuple(m for m in finder.members if rng.random() < 0.7)
        owners = [problem.constraints.owners[m.position] for m in chosen if m.kind is Kind.CONSTRAINT]
        lower, upper = (x.copy() for x in NARROW)
        for m in finder.members:
            if m.kind is Kind.BOUNDS and m not in chosen:
                lower[m.position], upper[m.position] = -np.inf, np.inf
        held = [f"j{HELD}"] if any(m.kind is Kind.FROZEN for m in chosen) else []
        bounds = lc.Bounds(ROBOT.space, lower, upper)
        trial = finder._tried(chosen)  # pyright: ignore
        if not owners:
            inside = bounds.clip(q)
            inside[HELD] = q[HELD] if held else inside[HELD]
            off = np.maximum(lower - inside, inside - upper).max()
            assert trial.reached == (off <= 0.0)
            assert (trial.tries, trial.iterations, trial.residual) == (1, 0, 0.0)
            assert trial.outside == pytest.approx(max(off, 0.0))
            continue
        owners.sort(key=lambda owner: not isinstance(owner, lc.Explicit))
        part = lc.Problem(ROBOT, owners, bounds, frozen=held, weights=problem.weights)
        tries, iterations, residual, outside = 0, 0, np.inf, 0.0
        for made in projections(part, q, budget, seed):
            tries, iterations = tries + made.restarts + 1, iterations + made.iterations
            if made.success or made.residual < residual or tries == 1:
                residual = made.residual
                outside = max((abs(v.amount) for v in made.violations), default=0.0)
            if made.success:
                break
        assert trial.reached == made.success
        assert (trial.tries, trial.iterations) == (tries, iterations)
        assert trial.residual == pytest.approx(residual, rel=1e-9)
        assert trial.outside == pytest.approx(outside)
        if not trial.reached:
            assert trial.members == chosen
            continue
        end = trial.solution
        assert end is not None
        np.testing.assert_allclose((end - made.q + np.pi) % (2.0 * np.pi), np.pi, atol=1e-9)  # but for whole turns
        for m in finder.members:
            if m.kind is Kind.CONSTRAINT:
                expected = np.linalg.norm(problem.error(end, m.position)) <= 1e-4
            elif m.kind is Kind.BOUNDS:
                expected = NARROW[0][m.position] <= end[m.position] <= NARROW[1][m.position]
            else:
                expected = end[HELD] == q[HELD]
            assert (m in trial.members) == expected


# Rows that depend on each other.


def rows_of(rng: np.random.Generator, name: str) -> Any:
    """Rows on five numbers that may repeat, combine or be nothing, masked in part, equalities or with one side."""
    size = int(rng.integers(1, 5))
    J = rng.normal(size=(size, 5))
    J[rng.random(size) < 0.15] = 0.0
    if size > 2 and rng.random() < 0.5:
        J[-1] = J[:2].T @ rng.normal(size=2)
    J[:, rng.random(5) < 0.2] = 0.0
    offset, mask = rng.normal(size=size), rng.random(size) < 0.8
    sides = lc.Comparison.SUPERIOR if rng.random() < 0.3 else lc.Comparison.EQUALITY
    bent = rng.random() < 0.5  # of which some are there alone what they are

    def value(q: np.ndarray) -> np.ndarray:
        return J @ q + offset + bent * q[0] ** 2 * np.arange(size)

    def slopes(q: np.ndarray) -> np.ndarray:
        return J + bent * 2.0 * q[0] * np.outer(np.arange(size), np.eye(5)[0])

    return lc.Implicit(lc.Function.from_callable(value, Rn(5), Rn(size), slopes), sides, mask=mask, name=name)


def spanned(B: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What rows are beside the span of others, against the longest of both."""
    left = rows - rows @ np.linalg.pinv(B, rcond=1e-6) @ B if len(B) else rows
    return np.linalg.norm(left, axis=1)


def longest(J: np.ndarray) -> float:
    return float(np.linalg.norm(J, axis=1).max(initial=0.0))


@pytest.mark.parametrize("seed", a_few(range(60), 20))
def test_dependence_is_what_ranks_say(seed: int) -> None:
    """Ranks below the levels above, the rows that are left over with what they repeat, and what no motion mends."""
    rng = np.random.default_rng(seed)
    space, names = Rn(5), iter("abcdefgh")
    levels: list[list[Any]] = [[rows_of(rng, next(names)) for _ in range(rng.integers(1, 3))] for _ in range(3)]
    if seed % 3 == 0:
        map_ = lc.Affine(rng.normal(size=(1, 2)), [0.1])
        levels[0].append(lc.Explicit(map_, Segments.coordinates(space, [4]), Segments.coordinates(space, [0, 1]),
                                  whole=space, name="x"))  # fmt: skip
    if seed % 5 == 0:
        levels[seed % 2 + 1] = [lc.Implicit.zero(lc.Affine(np.ones((1, 5))), mask=False, name="none")]
    problem = lc.Problem(
        space, levels, frozen=Segments.coordinates(space, [3] if seed % 2 else []), optional_last=seed % 4 > 1
    )
    q = rng.normal(size=5) * (rng.random(5) < 0.8)
    found = dependence(problem, q, problem.rhs)
    moving = ~problem.frozen
    stacks = [("computed", problem.explicits), *((f"level {i}", level) for i, level in enumerate(problem.levels))]
    if problem.optional_last:
        stacks[-1] = f"{stacks[-1][0]} (optional)", stacks[-1][1]
    named = [(name, stack) for name, stack in stacks if stack.size]
    assert found.levels == tuple(name for name, _ in named)
    assert found.rows == tuple(stack.size for _, stack in named)
    basis, blocks, labels = np.zeros((0, int(moving.sum()))), [], []
    spare = {str(entry.row): entry for entry in found.redundant}
    assert [str(entry.row) for entry in found.redundant] == list(spare)
    for k, (name, stack) in enumerate(named):
        owners = list(stack)
        e = np.concatenate([problem.error(q, owner) for owner in owners])
        J = np.vstack([problem.jacobian(q)[problem.constraints.slices[problem.constraints.index(o)]] for o in owners])[
            :, moving
        ]
        rows = [f"row {i} of '{o.name}'" for o in owners for i in np.flatnonzero(o.rows.mask)]
        one_sided = np.concatenate([np.repeat(o.rows.one_sided.any(), o.rows.mask.sum()) for o in owners])
        null = np.linalg.svd(basis)[2][np.linalg.matrix_rank(basis, tol=1e-6 * longest(basis)) if len(basis) else 0 :].T
        inside = J @ null
        sizes = np.linalg.svd(inside, compute_uv=False)
        np.testing.assert_allclose(found.singular_values[k], sizes, rtol=1e-6, atol=1e-9)
        assert found.ranks[k] == int((sizes > 1e-6 * longest(J)).sum())
        basis = np.vstack((basis, J))
        blocks.append((e, J, rows, one_sided & (e == 0.0), "optional" in name))
        labels += rows
    e, J, rows, idle = ([x for block in blocks if not block[4] for x in block[i]] for i in range(4))
    e, J, idle = np.array(e), np.reshape(J, (-1, int(moving.sum()))), np.array(idle)
    left = e - J @ np.linalg.lstsq(J, e, rcond=1e-6)[0]
    assert found.inconsistency == pytest.approx(np.linalg.norm(left), abs=1e-9)
    total = sum(rank for rank, block in zip(found.ranks, blocks, strict=True) if not block[4])
    over = len(e) - total
    assert over - int(idle.sum()) <= len(spare) <= over
    assert not any(row in spare for row, holds in zip(rows, idle, strict=True) if holds)
    unused = [row for row in rows if row not in spare]
    near = [problem.space.integrate(q, 0.1 * problem.free * v) for v in _draws(problem)]
    for row, entry in spare.items():
        i = rows.index(row)
        assert not entry.row.row >= 9
        repeats = [rows.index(str(r)) for r in entry.repeats]
        assert set(map(str, entry.repeats)) <= set(unused)
        if np.linalg.norm(J[i]) <= 1e-6 * longest(J):
            assert (repeats, entry.mismatch) == ([], pytest.approx(e[i]))
        else:
            c = np.linalg.lstsq(J[repeats].T, J[i], rcond=None)[0]
            np.testing.assert_allclose(c @ J[repeats], J[i], atol=1e-6 * longest(J))
            assert (np.abs(c) * np.linalg.norm(J[repeats], axis=1) > 1e-6 * np.linalg.norm(J[i])).all()
            assert entry.mismatch == pytest.approx(e[i] - c @ e[repeats], abs=1e-7)
        if not idle.any():
            there = [problem.jacobian(problem.resolution.resolved(p, problem.rhs))[:, moving] for p in near]
            kept = [labels_of(problem).index(other) for other in unused]
            mine = labels_of(problem).index(row)
            off = [spanned(K[kept], K[mine : mine + 1])[0] / longest(K) for K in there]
            assert entry.everywhere == (max(off) <= 1e-6)


def labels_of(problem: lc.Problem) -> list[str]:
    """Rows that count, in the order of the problem's Jacobian."""
    return [f"row {i} of '{o.name}'" for o in problem.constraints for i in np.flatnonzero(o.rows.mask)]


def _draws(problem: lc.Problem) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(problem.space.nv) for _ in range(2)]


# Jacobians.


@pytest.mark.parametrize("size", [1e-2, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("rate", [1.0, 300.0, 3000.0])
def test_jacobians_are_doubted_by_differences_of_the_shorter_step(size: float, rate: float) -> None:
    """Of A sin(w q): doubted where they are off by a hundredth and two steps agree to a thousandth of 1 + the slope."""
    assert [doubted(size, rate, off) for off in (0.0, 0.004, 0.0105, 0.3, -0.3)][:2] == [False, False]


def doubted(size: float, rate: float, off: float) -> bool:
    """Whether a Jacobian that is so far off is doubted, as it should be."""

    def f(q: np.ndarray) -> np.ndarray:
        return size * np.array([np.sin(rate * q[0]) / rate, 0.5 * q[0]]) + [3.0 * size, -0.05 * size]

    def slopes(q: np.ndarray) -> np.ndarray:
        slope = size * np.cos(rate * q[0])
        return np.array([[slope + off * (1.0 + abs(slope))], [7.0 * size]])  # the second row holds: nobody asks

    g = lc.Function.from_callable(f, Rn(1), Rn(2), slopes, name="g")
    problem = lc.Problem(Rn(1), [lc.Implicit.zero(g)])
    result = failed(problem, [0.3])
    result = lc.Projection(result.case, result.outcome._replace(q=np.array([0.1])), 0.0)
    shorter, longer = (size * np.cos(0.1 * rate) * np.sinc(rate * h / np.pi) for h in (1e-5, 1e-4))
    most = max(abs(shorter), 0.5 * size)
    amount = abs(slopes(result.q)[0, 0] - shorter)
    found = result.diagnose(iterations=1, trials=1).doubtful_jacobians
    if abs(shorter - longer) < 1e-3 * (1.0 + most) and amount > 1e-2 * (1.0 + most):
        assert found == (("g", pytest.approx(amount, rel=1e-6)),)
    else:
        assert found == ()
    return bool(found)
