"""Refinements, iterate by iterate, against the same rules written out here with dense linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from each_choice import draws
from newton.test_computed_iterates import Turning, chain
from newton.test_iterates import damped
from scipy.optimize import nnls

from constraints import Bounds, Explicit, Implicit, Options, Problem, Projection, Projector
from constraints.errors import UndefinedError
from constraints.linear_algebra import null_space
from liegroups import Segments

N, OUT, IDLE, HELD = 7, 4, 5, 6
"""So many joints; one is computed, one that no row moves, one frozen."""
OPEN = np.full(N, -np.inf), np.full(N, np.inf)


ROBOT = chain(N)


def waves(a: Any, b: Any, twist: float, edge: float = np.inf) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Rows of sines of all joints but the idle one; no value where the sine of the first one is above an edge."""
    a = np.array(a, dtype=float)
    a[:, IDLE] = 0.0

    def f(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if np.sin(q[0]) > edge:
            raise UndefinedError("beyond the edge")
        value = np.sin(q + b) @ a.T + twist * np.cos(q[0] - q[1])
        J = a * np.cos(q + b)
        J[:, 0] -= twist * np.sin(q[0] - q[1])
        J[:, 1] += twist * np.sin(q[0] - q[1])
        return value, J

    return f


def follows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the computed joint is."""
    J = np.zeros((1, N))
    J[0, [0, 1]] = 0.6 * np.cos(q[0]), -0.4 * np.sin(q[1])
    return np.array([0.6 * np.sin(q[0]) + 0.4 * np.cos(q[1]) + 0.1]), J


class Local(NamedTuple):
    """What is known at a configuration: values and Jacobian of the rows; cost, gradient, and its scale."""

    q: np.ndarray
    values: np.ndarray
    J: np.ndarray
    cost: Any
    g: np.ndarray
    scale: Any


class Order(NamedTuple):
    """Motions that keep the equalities; inequalities C p >= d, of which row or bound and side; multipliers."""

    basis: np.ndarray
    C: np.ndarray
    d: np.ndarray
    number: np.ndarray
    side: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    left: Any


@dataclass
class Rules:
    """A refinement of joints by the rules of `docs/solver.md`."""

    rows: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    low: np.ndarray
    high: np.ndarray
    wish: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None
    computed: bool
    bounds: tuple[np.ndarray, np.ndarray]
    weights: np.ndarray
    o: Options
    near: np.ndarray = field(default_factory=lambda: np.zeros(N))
    trace: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        free = [i for i in range(N) if i != HELD and not (self.computed and i == OUT)]
        self.live = np.array([i for i in free if i != IDLE])
        self.turning = self.o.wrap & (self.bounds[1] - self.bounds[0] >= 2.0 * np.pi - 1e-6) & np.isin(range(N), free)
        inside = np.where(self.wish is not None and self.turning, -np.inf, self.bounds[0])
        beyond = np.where(self.wish is not None and self.turning, np.inf, self.bounds[1])
        self.box = np.where(np.isin(range(N), free), (inside, beyond), ([-np.inf], [np.inf]))
        positive = self.weights[self.weights > 0.0]
        alike = (self.weights == self.weights[0]).all()
        self.W = np.ones(N) if alike else np.maximum(self.weights, 1e-6 * positive.min()) / positive.mean()

    def resolved(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The configuration with what is computed, and its derivative by the free joints."""
        q, T = q.copy(), np.eye(N)
        if self.computed:
            value, J = follows(q)
            q[OUT], T[OUT] = value[0], J[0]
        T[:, [HELD, OUT] if self.computed else [HELD]] = 0.0
        return q, T

    def at(self, q: np.ndarray) -> Local:
        q, T = self.resolved(q)
        values, J = self.rows(q)
        if self.computed:
            values, J = np.append(values, q[OUT]), np.vstack((J, np.eye(N)[OUT]))
        moving = np.append(self.live, OUT) if self.computed else self.live
        if self.wish is None:
            d = q - self.near
            cost, g = 0.5 * d @ (self.weights * d), self.weights * d
            least = 1e-6 * self.weights.max() * max(1.0, np.abs(self.near).max())
        else:
            e, slopes = self.wish(q)
            cost, g = 0.5 * e @ e, e @ slopes
            least = np.abs(e) @ np.linalg.norm(slopes, axis=1)
        return Local(q, values, J @ T, cost, g @ T, max(np.linalg.norm(g[moving]), least))

    def off(self, local: Local) -> np.ndarray:
        """How far the rows are outside their intervals."""
        return local.values - np.clip(local.values, self.low, self.high)

    # Onto the rows.

    def restored(self, q: np.ndarray, target: np.ndarray, held: np.ndarray, budget: int) -> tuple[Local, float, int]:
        best, least, taken = None, np.inf, 0
        while True:
            local = self.at(q)
            e = np.where(np.isnan(target), self.off(local), local.values - target)
            J, worst = local.J, np.abs(e).max()
            if worst > self.tolerance:
                counts = (self.low == self.high) | (e != 0.0) | ~np.isnan(target)
                U, s, V = np.linalg.svd(J * np.outer(counts, ~held), full_matrices=False)
                rank = int((s > 1e-6 * s.max()).sum())
                e, J = e @ U[:, :rank], s[:rank, None] * V[:rank]
                worst = np.abs(e).max()
            halved = worst < 0.5 * least
            if best is None or worst < least:
                best, least = local, worst
            if least <= self.tolerance or not halved or taken >= min(budget, 12):
                return best, least, taken
            q, taken = self.stepped(local.q, e, J), taken + 1

    def stepped(self, q: np.ndarray, e: np.ndarray, J: np.ndarray) -> np.ndarray:
        mu = self.o.damping * float(e @ e) + 1e-12
        step, stuck = damped(J, e, mu, self.W), np.zeros(N, dtype=bool)
        for left in range(self.o.saturating_passes, -1, -1):
            target = np.clip(q + step, *self.box)
            if not ((target != q + step) & ~stuck).any():
                break
            stuck |= target != q + step
            step = target - q
            if left:
                to_bound = np.where(stuck, step, 0.0)
                step = damped(J * ~stuck, e + J @ to_bound, mu, self.W) + to_bound
        return self.moved(q, step * min(1.0, self.o.cap / max(np.abs(step).max(), 1e-300)))

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        after = q.copy()
        after[self.live] = np.clip(q + step, *self.box)[self.live]
        return after

    # First and second order.

    def order(self, local: Local) -> Order:
        equal, live = self.low == self.high, self.live
        basis = null_space(local.J[equal][:, live])
        found: list[tuple[np.ndarray, float, int, float]] = []
        for i in np.flatnonzero(~equal):
            found += self.ends(local.J[i, live], local.values[i], self.low[i], self.high[i], i)
        for k, i in enumerate(live):
            found += self.ends(np.eye(live.size)[k], local.q[i], self.box[0, i], self.box[1, i], equal.size + i)
        C = np.array([c for c, _, _, _ in found]).reshape(-1, live.size)
        d, number, side = (np.array([f[i] for f in found]) for i in (1, 2, 3))
        active = np.flatnonzero(d >= -1e-9)
        weights = np.zeros(d.size)
        g, normals = basis.T @ local.g[live], C[active] @ basis
        weights[active] = pushes(normals, g)
        left = np.linalg.norm(g - weights[active] @ normals)
        rows = self.multipliers(local, C, number, side, weights)
        return Order(basis, C, d, number, side, weights, rows, left / local.scale if local.scale else 0.0)

    def ends(self, c: Any, value: Any, low: Any, high: Any, number: Any) -> list[Any]:
        lower = [(c, min(low - value, 0.0), number, 1.0)] if np.isfinite(low) else []
        return lower + ([(-c, min(value - high, 0.0), number, -1.0)] if np.isfinite(high) else [])

    def multipliers(self, local: Local, C: Any, number: Any, side: Any, weights: Any) -> np.ndarray:
        rows, equal = np.zeros(self.low.size), self.low == self.high
        for i, s, w in zip(number, side, weights, strict=True):
            if i < rows.size:
                rows[i] += s * w
        left = local.g[self.live] - weights @ C
        rows[equal] = np.linalg.lstsq(local.J[equal][:, self.live].T, left, rcond=1e-6)[0]
        return rows

    def curvature(self, local: Local, rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
        columns = []
        for motion in basis.T:
            q = local.q.copy()
            q[self.live] += 1e-7 * motion
            ahead = self.at(q)
            columns.append(((ahead.g - rows @ ahead.J) - (local.g - rows @ local.J))[self.live] / 1e-7)
        H = basis.T @ np.array(columns).T
        return 0.5 * (H + H.T)

    # A step.

    def planned(self, local: Local, order: Order) -> tuple[np.ndarray, np.ndarray, Any]:
        rows, weights = order.rows, order.weights
        for again in (True, False):
            H = self.curvature(local, rows, order.basis)
            leaning = order.C[(weights > 0.0) & (order.d >= -1e-9)] @ order.basis
            unit = leaning / np.linalg.norm(leaning, axis=1)[:, None]
            values, vectors = np.linalg.eigh(H + 10.0 * np.abs(H).max(initial=0.0) * unit.T @ unit)
            c, largest = order.basis.T @ local.g[self.live], np.abs(values).max()
            sizes = np.abs(values)
            saddle = values < -1e-3 * largest
            sizes[saddle] = np.minimum(sizes, np.abs(vectors.T @ c) / 0.2)[saddle]
            root = vectors / np.sqrt(np.maximum(sizes, 1e-9 * largest))
            free = -root.T @ c
            G = order.C @ order.basis @ root
            y, weights = nearest_within(free, G, order.d)
            fresh = (weights > 0.0) & (order.weights == 0.0) & (order.number < rows.size)
            if not (again and fresh.any()):
                break
            rows = self.multipliers(local, order.C, order.number, order.side, weights)
        move = np.zeros(N)
        move[self.live] = order.basis @ root @ y
        return move, weights, 0.5 * free @ free - 0.5 * (y - free) @ (y - free)

    def advanced(self, local: Local, order: Order, most: float, budget: int) -> tuple[Local | None, Order, int]:
        whole, weights, gain = self.planned(local, order)
        if self.wish is not None and gain <= self.o.refine_gain * local.cost:
            return None, order, 0
        part = min(1.0, self.o.cap / max(np.abs(whole).max(), 1e-300))
        slope, noise = part * (local.g @ whole), 1e-10 * np.abs(local.g).max()
        alpha, spent = 1.0, 1
        for _ in range(12):
            leans = (weights > 0.0) & ((part * alpha == 1.0) | (order.d >= -1e-9))
            try:
                after, worst, steps = self.landed(local.q, alpha * part * whole, order, leans, budget - spent)
            except UndefinedError:
                alpha /= 2.0
                continue
            spent += steps
            if worst <= most and after.cost <= local.cost + 1e-4 * alpha * slope:
                return after, self.order(after), spent
            if worst <= most and after.cost <= local.cost + noise:
                if self.order(after).left < 0.5 * order.left:
                    return after, self.order(after), spent
            if spent >= budget:
                break
            alpha /= 2.0
        return None, order, spent

    def landed(self, q: Any, move: Any, order: Order, leans: Any, budget: int) -> tuple[Local, float, int]:
        q, target, held = self.moved(q, move), np.full(self.low.size, np.nan), np.zeros(N, dtype=bool)
        for i, side in zip(order.number[leans], order.side[leans], strict=True):
            if i < target.size:
                target[i] = self.low[i] if side > 0.0 else self.high[i]
            else:
                held[i - target.size] = True
                q[i - target.size] = self.box[0 if side > 0.0 else 1, i - target.size]
        return self.restored(q, target, held, budget)

    # The whole.

    def over(self, local: Local, order: Order) -> bool:
        far = self.wish is None or 2.0 * local.cost > (1e-3 * self.o.threshold) ** 2
        return order.left <= self.o.refine_tolerance or not far

    def best(self, q: np.ndarray, budget: int) -> tuple[Local, Order, int]:
        nothing = np.full(self.low.size, np.nan), np.zeros(N, dtype=bool)
        local, worst, spent = self.restored(q, *nothing, budget)
        most, order = max(self.tolerance, 1.01 * worst), self.order(local)
        self.trace = []
        while spent < budget and not self.over(local, order):
            after, new, steps = self.advanced(local, order, most, budget - spent)
            spent += steps
            if after is None:
                break
            local, order = after, new
            self.trace.append(local.q)
        return local, order, spent

    def turned(self, q: np.ndarray) -> np.ndarray:
        """Joints shifted by the whole turns that bring them nearest to the reference within their bounds."""
        if self.wish is not None:
            return q
        q = q.copy()
        resting = self.weights[IDLE] > 0.0
        if resting:
            q[IDLE] = self.near[IDLE]
        for i in np.flatnonzero(self.turning):
            if not (resting and i == IDLE):
                shifts = [q[i] + 2.0 * np.pi * k for k in range(-9, 10)]
                inside = [x for x in shifts if self.bounds[0][i] <= x <= self.bounds[1][i]]
                q[i] = min(inside, key=lambda x: abs(x - self.near[i]), default=q[i])
        return np.clip(q, *self.box)

    def run(self, found: Projection, near: np.ndarray | None) -> tuple[np.ndarray, int, float]:
        """The configuration, iterations and stationarity, from a projection that was not refined."""
        own, q0, q = near is None and self.wish is None, found.start, found.q
        self.trace = []
        if near is not None and found.problem.is_satisfied(near, None, None, self.o.threshold):
            return near, 0, 0.0
        if own and found.iterations == 0 and (q == q0).all():
            return q, 0, 0.0
        self.tolerance = min(max(1e-6 * self.o.threshold, 1e-13), 1e-10)
        self.near = q0 if near is None else near
        try:
            first = self.at(q)
            order = self.order(first)
            if found.iterations == 0 and self.over(first, order) and (self.turned(q) == q).all():
                return q, 0, order.left
            budget, start, intervals = self.o.refine_iterations, self.turned(q), (self.low, self.high)
            local, last, spent = self.best(start, budget)
            if local.cost > first.cost:
                values, equal = self.at(start).values, self.low == self.high
                self.low = np.where(equal, values, np.minimum(self.low, values))
                self.high = np.where(equal, values, np.maximum(self.high, values))
                local, last, more = self.best(start, budget - spent)
                spent += more
                self.low, self.high = intervals
        except UndefinedError:
            return q, found.iterations, np.inf
        end = local.q.copy()
        for i in np.flatnonzero(self.turning) if self.wish is not None else ():
            end[i] -= 2.0 * np.pi * np.ceil((end[i] - self.bounds[1][i]) / 2.0 / np.pi) * (end[i] > self.bounds[1][i])
            end[i] += 2.0 * np.pi * np.ceil((self.bounds[0][i] - end[i]) / 2.0 / np.pi) * (end[i] < self.bounds[0][i])
        if found.problem.residual(end) > self.o.threshold or not found.problem.bounds.contains(end):
            self.trace = []
            return q, found.iterations, order.left
        return end, found.iterations + spent, last.left


def pushes(normals: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The multipliers, not negative, that explain a gradient best."""
    mu = np.zeros(len(normals))
    usable = np.linalg.norm(normals, axis=1) > 1e-9
    if usable.any():
        mu[usable] = nnls(normals[usable].T, g)[0]
    return mu


def nearest_within(free: np.ndarray, G: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point nearest to another one with G y >= d, and the multipliers; Lawson and Hanson's least distance."""
    weights, sizes = np.zeros(d.size), np.linalg.norm(G, axis=1)
    usable = sizes > 1e-9 * sizes.max(initial=0.0)
    A, h = G[usable], d[usable] - G[usable] @ free
    if not (h > 1e-12 * np.maximum(sizes[usable], -d[usable])).any():
        return free, weights
    scale = np.abs(h).max()
    target = np.append(np.zeros(free.size), 1.0)
    w = nnls(np.vstack((A.T, h / scale)), target)[0]
    weights[usable] = w * scale / (1.0 - w @ h / scale)
    weights[weights < 1e-9 * weights.max()] = 0.0
    return free + weights @ G, weights


NARROW = np.array([-1.0, -2.0, -0.6, -3.0, -0.4, -1.0, -1.0]), np.array([1.2, 0.8, 2.0, 0.5, 0.8, 1.0, 1.0])
WIDE = np.full(N, -9.0), np.array([9.0, 4.0, 12.0, 9.0, 9.0, 9.0, 9.0])
NEAREST, LAST = Options(nearest=True, trace=True), Options(optimise_last=True, trace=True)
KINDS: dict[str, tuple[int, int, Any, bool, float, Options, float]] = {
    # equalities, inequalities, bounds, computed, edge, options, how far the reference is (None: the start)
    "free": (2, 0, OPEN, False, np.inf, NEAREST, 1.0),
    "own start": (2, 0, OPEN, False, np.inf, NEAREST, np.nan),
    "rows": (2, 3, OPEN, False, np.inf, NEAREST, 2.0),
    "rows alone": (0, 4, NARROW, False, np.inf, NEAREST, 2.0),
    "bounds": (2, 1, NARROW, False, np.inf, NEAREST, 2.0),
    "as many": (5, 0, NARROW, False, np.inf, NEAREST, 2.0),
    "computed": (2, 1, NARROW, True, np.inf, NEAREST, 2.0),
    "turns": (2, 1, WIDE, False, np.inf, NEAREST, 9.0),
    "loose": (2, 2, NARROW, False, np.inf, replace(NEAREST, threshold=0.1), 0.1),
    "short steps": (2, 2, NARROW, False, np.inf, replace(NEAREST, cap=0.1, damping=1.0, saturating_passes=2), 2.0),
    "little": (2, 2, NARROW, False, np.inf, replace(NEAREST, refine_iterations=7), 2.0),
    "less": (1, 2, OPEN, False, np.inf, replace(NEAREST, refine_iterations=3), 4.0),
    "hardly any": (2, 1, NARROW, True, np.inf, replace(NEAREST, refine_iterations=1, threshold=0.02), 1.0),
    "to the last bit": (1, 2, NARROW, False, np.inf, replace(NEAREST, refine_tolerance=1e-15), 4.0),
    "an edge": (1, 1, OPEN, False, 0.8, NEAREST, 3.0),
    "last": (2, 0, NARROW, False, np.inf, LAST, np.nan),
    "last, computed": (1, 2, NARROW, True, np.inf, LAST, np.nan),
    "last, turning": (1, 1, (-np.pi * np.ones(N), np.pi * np.ones(N)), False, np.inf, LAST, np.nan),
    "last, to the end": (1, 1, NARROW, False, np.inf, replace(LAST, refine_gain=0.0), np.nan),
}  # fmt: skip
WEIGHTS = [None, [1.0, 3.0, 0.5, 2.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.2, 0.0, 4.0, 2.0, 0.0]]


def sampled(kind: str, seed: int, rng: np.random.Generator) -> tuple[Problem, Rules, np.ndarray]:
    """A problem of a kind, the rules for it, and a solution."""
    equalities, others, bounds, computed, edge, options, _ = KINDS[kind]
    wishes = 6 if seed % 2 else 3  # more than there are motions left, or not
    columns = np.array([i != IDLE for i in range(N)])
    inside = rng.uniform(np.maximum(bounds[0], -1.5), np.minimum(bounds[1], 1.5))
    if computed:
        inside[OUT] = follows(inside)[0][0]

    def some(size: int) -> Any:
        return waves(rng.normal(size=(size, N)), rng.uniform(-3.0, 3.0, N), rng.normal(), edge)

    first, second, wish = some(equalities), some(others), some(wishes) if options.optimise_last else None
    here, there = first(inside * (edge > 1.0))[0], second(inside * (edge > 1.0))[0]
    low, high = there - rng.uniform(0.0, 0.5, others), there + rng.uniform(0.0, 0.5, others)
    high[1:2] = np.inf
    rows: list[Any] = (
        [Implicit.equal(Turning(first, ROBOT.space, equalities, columns), here, name="a")] if equalities else []
    )
    rows += [Implicit.between(Turning(second, ROBOT.space, others, columns), low, high, name="b")] if others else []
    if computed:
        reads = np.isin(range(N), [0, 1])
        f = Turning(lambda q: (follows(q)[0], follows(q)[1]), ROBOT.space, 1, reads)
        rows.append(Explicit(f, Segments.coordinates(ROBOT.space, [OUT]), whole=ROBOT.space))
    levels = (
        [rows] if wish is None else [rows[:1], rows[1:], [Implicit.zero(Turning(wish, ROBOT.space, wishes, columns))]]
    )
    weights = WEIGHTS[seed % 3]
    problem = Problem(ROBOT, levels, Bounds(ROBOT.space, *bounds), weights=weights, frozen=[f"j{HELD}"],
                      optional_last=wish is not None)  # fmt: skip

    def together(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (e, J), (f, K) = first(q), second(q)
        return np.concatenate((e - here, f)), np.concatenate((J, K))

    guard = ([bounds[0][OUT] + 1e-9], [bounds[1][OUT] - 1e-9]) if computed else ([], [])
    low, high = (np.concatenate((np.zeros(equalities), x, g)) for x, g in zip((low, high), guard, strict=True))
    return problem, Rules(together, low, high, wish, computed, bounds, np.array(weights or np.ones(N)), options), inside


@draws(1, 3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_refinements_are_those_of_the_rules(kind: str, seed: int, count: int) -> None:
    """Every iterate, the figures and the end: of joints that turn, with bounds, rows, and a reference far away."""
    *_, edge, options, far = KINDS[kind]
    rng = np.random.default_rng([seed, *kind.encode()])
    problem, rules, inside = sampled(kind, seed, rng)
    projector = Projector(problem, options)
    plain = Projector(problem, replace(options, nearest=False, optimise_last=False))
    for k in (1, 0, 2)[:count]:
        q0 = inside + rng.uniform(-0.4, 0.4, N) if k else inside if edge > 1.0 else np.zeros(N)
        q0[HELD] = inside[HELD]
        near = None if np.isnan(far) else inside + rng.uniform(-far, far, N)
        found = plain.project(q0)
        result = projector.project(q0, near=near)
        assert found.status is result.status
        if not found.success:
            continue
        q, iterations, left = rules.run(found, near)
        assert result.iterations == iterations
        steps = [step.q for step in (result.trace or ())[len(found.trace or ()) :]]
        assert len(steps) == len(rules.trace)
        np.testing.assert_allclose(np.reshape(steps, (-1, N)), np.reshape(rules.trace, (-1, N)), rtol=0, atol=1e-5)
        np.testing.assert_allclose(result.q, q, rtol=0, atol=1e-6)
        assert result.stationarity == pytest.approx(left, rel=0.05, abs=1e-8)
