"""The iterates of a projection, one by one, against the same rules written out here in a few lines of numpy."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from each_choice import draws

from constraints import Bounds, Function, Implicit, Options, Problem, Projector, Status
from liegroups import Rn

Rows = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass
class Rules:
    """A projection of numbers by `docs/solver.md`, with dense linear algebra by singular values."""

    levels: list[Rows]
    lower: np.ndarray
    upper: np.ndarray
    weights: np.ndarray
    optional: bool
    options: Options
    trace: list[tuple[np.ndarray, bool]] = field(default_factory=list)
    iterations: int = 0
    restarts: int = 0
    sure: int | None = None  # so many iterates, where the others hang on the last digit of a step that ends on a bound

    def measured(self, q: np.ndarray) -> tuple[list[float], float, float]:
        errors = [rows(q)[0] for rows in self.levels]
        errors = errors[:-1] if self.optional else errors
        norms = [float(np.linalg.norm(e)) for e in errors]
        half = 0.5 * self.options.threshold
        score = norms if len(norms) == 1 else [r if r > half else 0.0 for r in norms]
        return score, max(norms), sum(r * r for r in norms)

    def run(self, q0: np.ndarray) -> tuple[np.ndarray, Status]:
        o, q = self.options, np.clip(q0, self.lower, self.upper)
        self.best: tuple[Any, ...] = (q0, [np.inf], np.inf, np.inf, 0)
        if self.measured(q0)[1] <= o.threshold and (q == q0).all():
            return q0, Status.CONVERGED
        table = Rn(q.size).random(np.random.default_rng(o.seed), *self.range(), o.restart_table)
        start, row, last = q, zlib.crc32(q0.tobytes()), Status.STALLED
        while True:
            status = self.descend(q)
            if status is Status.CONVERGED:
                return self.best[0], status
            last = status if self.best[4] == self.restarts else last
            if not o.restarts or self.iterations >= o.max_iterations:
                return self.best[0], self.failure(last)
            self.iterations += 1
            self.restarts += 1
            drawn = [np.where(np.any([rows(start)[1].any(axis=0) for rows in self.levels], axis=0),
                              table[(row + i) % len(table)], start) for i in range(o.screen)]  # fmt: skip
            row += o.screen
            q = min(drawn, key=lambda c: self.measured(c)[1])

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """Where restarts are drawn."""
        return self.lower, self.upper

    def failure(self, status: Status) -> Status:
        q, _, residual, _, _ = self.best
        if residual <= self.options.threshold:
            return Status.CONVERGED
        if len(self.levels) > 1:
            return status
        e, J = self.levels[0](q)
        g = J.T @ e
        g[((q <= self.lower) & (g > 0.0)) | ((q >= self.upper) & (g < 0.0))] = 0.0
        return Status.STATIONARY if np.linalg.norm(g) <= 0.02 * np.linalg.norm(e) else status

    def descend(self, q: np.ndarray) -> Status:
        o = self.options
        ratio, count = (o.stall_ratio, o.stall_count) if o.restarts else (o.patience_ratio, o.patience_count)
        caps, before = [o.cap] * (len(self.levels) - 1), [np.inf] * len(self.levels)
        reference, waited, part, first, holding = [np.inf], 0, 1.0, self.restarts > 0, False
        while True:
            score, residual, merit = self.measured(q)
            self.trace.append((q, first))
            first = False
            if (score, merit) < (self.best[1], self.best[3]):
                self.best = (q, score, residual, merit, self.restarts)
            if residual <= 0.5 * o.threshold:
                return Status.CONVERGED
            now = [float(np.linalg.norm(rows(q)[0])) for rows in self.levels]
            shrinking = self.adapt(caps, before, now)
            before = now
            asked = 1.0 - part * (1.0 - ratio)
            if not shrinking:
                fell = score[0] < asked * reference[0]
                for a, b in zip(score, reference, strict=False):
                    if a < asked * b:
                        fell = True
                    if a > 0.0 or (b > 0.0 and b is not reference[0]):
                        break
                reference, waited = (score, 0) if fell else (reference, waited + 1)
                if waited >= count:
                    return Status.STALLED
            if self.iterations >= o.max_iterations:
                return Status.MAX_ITERATIONS
            self.iterations += 1
            q, part, holding = self.next(q, caps, holding)

    def adapt(self, caps: list[float], before: list[float], now: list[float]) -> bool:
        """A cap doubles while the levels above settle; else it is halved, or cut to a tenth where its own stays."""
        settling, shrinking, half = True, False, 0.5 * self.options.threshold
        for i, cap in enumerate(caps):
            settling = settling and (now[i] <= half or now[i] < 0.8 * before[i])
            factor = 2.0 if settling else 0.5 if now[i + 1] < 0.9 * before[i + 1] else 0.1
            caps[i] = min(factor * cap, self.options.cap)
            shrinking = shrinking or (not settling and caps[i] > 1e-3)
        return shrinking

    def next(self, q: np.ndarray, caps: list[float], holding: bool) -> tuple[np.ndarray, float, bool]:
        """The next iterate, the part of the step that the cap left, and whether dofs are held at bounds."""
        o = self.options
        positive = self.weights[self.weights > 0.0]
        alike = (self.weights == self.weights[0]).all()
        W = np.ones(q.size) if alike else np.maximum(self.weights, 1e-6 * positive.min()) / positive.mean()
        e, J = self.levels[0](q)
        mu = o.damping * min(float(e @ e), 100.0) + 1e-12
        held = np.zeros(q.size, dtype=bool)
        step = damped(J, e, mu, W)
        part = min(1.0, o.cap / max(np.abs(step).max(), 1e-300))
        after = q + part * step
        if not holding and not caps and ((self.lower <= after) & (after <= self.upper)).all():
            return after, part, False  # short enough: no bound is met
        for left in range(o.saturating_passes, -1, -1):
            target = q + step
            rounding = (step != 0.0) & (np.minimum(np.abs(target - self.lower), np.abs(target - self.upper)) < 1e-14)
            if self.sure is None and (rounding & ~held).any():
                self.sure = len(self.trace)
            outside = (target < self.lower) | (target > self.upper)
            if not (outside & ~held).any():
                break
            held |= outside
            inside = np.clip(target, self.lower, self.upper) - q
            if not left:
                step = inside
                break
            to_bound = np.where(held, inside, 0.0)
            step = damped(J * ~held, e + J @ to_bound, mu, W) + to_bound
        part = min(1.0, o.cap / max(np.abs(step).max(), 1e-300))
        step = part * step
        above = J * W**-0.5 * ~held
        for rows, cap in zip(self.levels[1:], caps, strict=True):
            e, J = rows(q)
            scaled = J * W**-0.5 * ~held
            step = step + self.lower_part(q, step, held, above, scaled, e + J @ step, cap, W)
            above = np.vstack((above, scaled))
        moved = np.any([rows(q)[1].any(axis=0) for rows in self.levels], axis=0)
        return np.clip(q + np.where(moved, step, 0.0), self.lower, self.upper), part, bool(held.any())

    def lower_part(self, q: Any, step: Any, held: Any, above: Any, J: Any, e: Any, cap: float, W: Any) -> np.ndarray:
        """The step of a level in the null space of those above, capped, within bounds; of held dofs exactly zero."""
        mu = self.options.damping * float(e @ e) + 1e-12
        for left in range(self.options.saturating_passes, -1, -1):
            _, sizes, V = np.linalg.svd(above)
            N = V[int((sizes > 1e-6 * sizes.max(initial=0.0)).sum()) :].T
            part = np.where(held, 0.0, N @ damped(J @ N, e, mu, np.ones(N.shape[1])) * W**-0.5)
            part *= min(1.0, cap / max(np.abs(part).max(initial=0.0), 1e-300))
            target = q + step + part
            leaving = ((target < self.lower) | (target > self.upper)) & (np.abs(part) > 1e-12 * np.abs(part).max())
            if not left or not leaving.any():
                break
            above, held = np.vstack((above, np.eye(q.size)[leaving])), held | leaving
        end = np.where(part > 0.0, self.upper, self.lower)
        rooms = ((end - q - step)[leaving] / part[leaving]).tolist()
        return part * np.clip(min(rooms, default=1.0), 0.0, 1.0)


def damped(J: np.ndarray, e: np.ndarray, mu: float, W: np.ndarray) -> np.ndarray:
    A = J / W
    return -A.T @ np.linalg.solve(J @ A.T + mu * np.eye(len(e)), e)


N = 5


def linked(target: Any, first: int = 0) -> Rows:
    """The tip of a planar chain of the coordinates from the first one on."""

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angles = np.cumsum(q[first:])
        J = np.zeros((2, q.size))
        for i in range(angles.size):
            J[:, first + i] = [-np.sin(angles[i:]).sum(), np.cos(angles[i:]).sum()]
        return np.array([np.cos(angles).sum(), np.sin(angles).sum()]) - target, J

    return rows


def bowl(a: float, where: list[int]) -> Rows:
    """The squares of some coordinates less a number: beyond reach where that is negative."""

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        J = np.zeros((1, q.size))
        J[0, where] = 2.0 * q[where]
        return np.array([q[where] @ q[where] - a]), J

    return rows


def line(normal: list[float], c: float) -> Rows:
    return lambda q: (np.array([np.dot(normal, q) - c]), np.array([normal]))


LEVELS: dict[str, tuple[list[Rows], bool]] = {
    "reach": ([linked([1.5, -2.0])], False),
    "too far": ([linked([6.0, 1.0])], False),
    "far away": ([line([1.0, 2.0, -1.0, 0.0, 0.0], 40.0)], False),
    "no root": ([bowl(-0.3, [0, 2])], False),
    "two": ([linked([1.0, 1.0]), bowl(1.5, [0, 1])], False),
    "two that fight": ([linked([2.0, 0.5]), line([1.0, 0.0, 1.0, 0.0, 0.0], 5.0)], False),
    "wish": ([linked([2.0, 0.5]), line([1.0, 0.0, 1.0, 0.0, 0.0], 5.0)], True),
    "three": ([line([1.0, 1.0, 1.0, 1.0, 1.0], 0.5), linked([1.0, 2.0]), bowl(9.0, [1, 3])], True),
}
BOX = np.array([-2.0, -1.0, -np.inf, -1.5, -3.0]), np.array([2.0, 1.5, np.inf, 0.7, 3.0])
OPEN = np.full(N, -np.inf), np.full(N, np.inf)
CASES: list[tuple[str, Any, Any, dict[str, Any]]] = [
    (name, box, weights, options)
    for name in LEVELS
    for box, weights, options in (
        (OPEN, None, {}), (BOX, None, {"restarts": False}), (BOX, [1.0, 4.0, 0.5, 2.0, 1.0], {"seed": 3, "screen": 3}),
        (BOX, [1.0, 1.0, 0.0, 2.0, 1.0], {"cap": 0.3, "saturating_passes": 3, "restarts": False}),
        (BOX, None, {"saturating_passes": 0, "damping": 1e-3, "max_iterations": 7}),
        (BOX, None, {"stall_ratio": 0.6, "stall_count": 3, "seed": 1, "restart_table": 7, "screen": 1,
                     "max_iterations": 60}),
        (OPEN, None, {"patience_ratio": 0.9, "patience_count": 2, "restarts": False, "max_iterations": 25}),
    )
]  # fmt: skip


@draws(1, 3)
@pytest.mark.parametrize(
    ("name", "box", "weights", "options"), CASES, ids=[f"{case[0]} {i % 7}" for i, case in enumerate(CASES)]
)
def test_iterates_are_those_of_the_rules(
    name: str, box: Any, weights: Any, options: dict[str, Any], count: int
) -> None:
    """Every iterate, restart, figure and status, from three starts that may be outside their bounds.

    Held dofs have no part in the steps of lower levels: roundings once took the whole step of a level. Where a step
    of rounding decides whether a dof is held, BLAS of one processor holds it and that of another does not: iterates are
    compared up to there. This is so for 12 of the 168 starts.
    """
    levels, optional = LEVELS[name]
    given: dict[str, Any] = {"max_iterations": 40, "trace": True} | options
    o = Options(**given)
    space = Rn(N)

    def constraint(rows: Rows) -> Implicit:
        size = len(rows(np.zeros(N))[0])
        seen = rows(np.full(N, 0.3))[1].any(axis=0)
        return Implicit.zero(Function.from_callable(lambda q: rows(q)[0], space, Rn(size), lambda q: rows(q)[1],
                                                    columns=seen))  # fmt: skip

    problem = Problem(
        space, [[constraint(rows)] for rows in levels], Bounds(space, *box), weights=weights, optional_last=optional
    )
    projector = Projector(problem, o)
    rng = np.random.default_rng(5)
    for _ in range(count):
        q0 = rng.uniform(-2.2, 2.2, N)
        costs = np.ones(N) if weights is None else np.array(weights)
        rules = Rules(levels, box[0], box[1], costs, optional, o)
        one = rules.next(np.clip(q0, *box), [o.cap] * (len(levels) - 1), False)[0]
        np.testing.assert_allclose(projector.one_step(q0), one, rtol=0, atol=1e-6)
        q, status = rules.run(q0)
        result = projector.project(q0)
        assert result.trace is not None
        seen, expected = result.trace[: rules.sure], rules.trace[: rules.sure]
        assert len(seen) == len(expected)
        assert [step.restarted for step in seen] == [restarted for _, restarted in expected]
        for step, (there, _) in zip(seen, expected, strict=True):
            np.testing.assert_allclose(step.q, there, rtol=0, atol=1e-6)
        if rules.sure is not None:
            continue
        assert (result.status, result.iterations, result.restarts) == (status, rules.iterations, rules.restarts)
        np.testing.assert_allclose(result.q, q, rtol=0, atol=1e-6)
        assert result.residual == pytest.approx(rules.measured(q)[1], rel=1e-6, abs=1e-9)
