"""Sensitivities against the linear system that the implicit function theorem asks for, written out and solved whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from refinement.test_rules import HELD, IDLE, KINDS, OUT, ROBOT, Rules, sampled

from constraints import Bounds, Implicit, Problem, Projector
from constraints.solvers import SensitivityError
from constraints.solvers.diagnosis.sensitivity import SensitivityKind

N, H = ROBOT.nq, 1e-5


class Linear:
    """A solution with what it holds: its first order conditions by the free joints, and how they move."""

    def __init__(self, rules: Rules, q: np.ndarray, refined: bool) -> None:
        self.rules, self.q = rules, q
        local = rules.at(q)
        order = rules.order(local)
        self.live, self.rows, self.scale, self.order = rules.live, order.rows, local.scale, order
        self.equal = rules.low == rules.high
        A = local.J[self.equal][:, self.live]
        active = np.flatnonzero(order.d >= -1e-8)
        self.names = [self.name(order.number[i], order.side[i]) for i in active
                      if order.weights[i] * np.linalg.norm(order.C[i]) <= 1e-6 * local.scale]  # fmt: skip
        self.is_unique = not refined and np.linalg.matrix_rank(A, tol=1e-6) == self.live.size
        self.held = [] if self.is_unique else [(order.number[i], order.side[i]) for i in active]
        self.E = np.vstack([A, *(s * order.C[i : i + 1] for i, (_, s) in zip(active, self.held, strict=False))])
        self.T = rules.resolved(q)[1]
        self.curvature = np.diag(rules.W[self.live])
        if refined:
            self.curvature = np.transpose(
                [self.slope(lambda t, e=e: self.moved(t * e))[1] for e in np.eye(N)[self.live]]
            )

    def name(self, number: int, side: float) -> str:
        end, size = "lower" if side > 0.0 else "upper", self.rules.low.size
        if number >= size or (self.rules.computed and number == size - 1):
            return f"j{number - size if number >= size else OUT} at its {end} bound"
        return f"'b', row {number - int((self.rules.low == self.rules.high).sum())}, at its {end} end"

    def moved(self, v: np.ndarray) -> tuple[Rules, np.ndarray]:
        return self.rules, self.q + v

    def conditions(self, rules: Rules, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Held rows, gradient of the Lagrangian, and the configuration with what is computed."""
        local = rules.at(q)
        held = []
        for number, side in self.held:
            if number < rules.low.size:
                held.append(local.values[number] - (rules.low if side > 0.0 else rules.high)[number])
            else:
                i = number - rules.low.size
                held.append(local.q[i] - rules.box[0 if side > 0.0 else 1, i])
        c = np.append((local.values - rules.low)[self.equal], held)
        return c, (local.g - self.rows @ local.J)[self.live], local.q

    def slope(self, changed: Callable[[float], tuple[Rules, np.ndarray]]) -> list[np.ndarray]:
        ahead, behind = (self.conditions(*changed(t)) for t in (H, -H))
        return [(a - b) / (2.0 * H) for a, b in zip(ahead, behind, strict=True)]

    def answer(self, changed: Callable[[float], tuple[Rules, np.ndarray]]) -> np.ndarray:
        """How the solution moves with t."""
        c, G, direct = self.slope(changed)
        n, k = self.live.size, len(self.E)
        system = np.block([[self.curvature, -self.E.T], [self.E, np.zeros((k, k))]])
        x = np.linalg.lstsq(system, -np.concatenate((G, c)), rcond=1e-10)[0][:n]
        direct[self.live] = 0.0
        return self.T[:, self.live] @ x + direct

    def kept(self) -> np.ndarray:
        """The projector on the motions that keep the held rows, the others left out in the costs of motion."""
        n, k = self.live.size, len(self.E)
        system = np.block([[self.curvature, -self.E.T], [self.E, np.zeros((k, k))]])
        return np.linalg.lstsq(system, np.vstack((self.curvature, np.zeros((k, n)))), rcond=1e-10)[0][:n]


REFINED = [
    "free",
    "as many",
    "own start",
    "rows",
    "rows alone",
    "bounds",
    "computed",
    "last, to the end",
    "last, turning",
]
PLAIN = ["free", "bounds", "computed", "rows", "as many"]


@pytest.mark.parametrize("seed", [1, 3, 5])
@pytest.mark.parametrize(("kind", "refined"), [*((k, True) for k in REFINED), *((k, False) for k in PLAIN)])
def test_derivatives_are_those_of_the_first_order_conditions(kind: str, refined: bool, seed: int) -> None:
    """By right-hand sides, reference, start and parameters; and which bounds and rows hold nothing."""
    rng = np.random.default_rng([seed, *kind.encode()])
    problem, rules, inside = sampled(kind, seed, rng)
    options, far = replace(KINDS[kind][5], threshold=1e-9, max_iterations=400), KINDS[kind][6]
    if not refined:
        options = replace(options, nearest=False, refine_tolerance=1.0)
    if rules.wish is not None:
        options = replace(options, refine_gain=0.0)
    for _ in range(9):
        start, near = inside + rng.uniform(-0.3, 0.3, N), None
        start[[IDLE, HELD]] = inside[[IDLE, HELD]]
        if refined and not np.isnan(far):
            near = inside + 0.3 * rng.uniform(-far, far, N)
            near[IDLE] = np.clip(near[IDLE], -0.9, 0.9)  # inside all bounds
        result = Projector(problem, options).project(start, near=near)
        q = result.q
        if result.success and (result.stationarity or 0.0) <= 1e-7:
            break
    else:
        raise AssertionError("none was solved")
    rules.near = start if near is None else near
    if not refined:
        rules.weights = np.zeros(N)  # nothing is minimised
    known = Linear(rules, q, refined)
    s = result.sensitivity()
    kinds = {True: SensitivityKind.UNIQUE, False: SensitivityKind.CONTINUED}
    expected = kinds[known.is_unique] if not refined else (
        SensitivityKind.NEAREST if rules.wish is None else SensitivityKind.LAST_LEVEL
    )  # fmt: skip
    assert s.kind is expected
    assert s.weakly_active == tuple(known.names)

    def check(found: np.ndarray, changed: Callable[[float], tuple[Rules, np.ndarray]], also: Any = 0.0) -> None:
        answer = known.answer(changed) + also
        np.testing.assert_allclose(found, answer, rtol=0, atol=1e-6 * max(1.0, np.abs(answer).max()))

    size, unit, equalities = rules.low.size, np.eye(N), int(known.equal.sum())
    for i in range(equalities):
        e = np.eye(size)[i]
        check(s.rhs_of("a")[:, i], lambda t, e=e: (replace(rules, low=rules.low + t * e, high=rules.high + t * e), q))
    if "b" in problem.constraints.names:
        with pytest.raises(SensitivityError, match="'b' takes no right-hand side"):
            s.rhs_of("b")
    nothing = np.zeros((N, N))
    rests = refined and rules.wish is None and problem.weights[IDLE] > 0.0
    by_near = nothing
    if refined and rules.wish is None:
        for i in range(N):
            check(
                s.near[:, i],
                lambda t, i=i: (replace(rules, near=rules.near + t * unit[i]), q),
                rests * unit[i] * (i == IDLE),
            )
        by_near = s.near
    else:
        assert not s.near.any()
    own = s.start - by_near * (near is None)
    check(own[:, HELD], lambda t: (rules, q + t * unit[HELD]))
    np.testing.assert_allclose(own[:, IDLE], (not rests) * unit[IDLE], rtol=0, atol=1e-9)
    follow = known.T[:, rules.live] @ known.kept() if s.kind is SensitivityKind.CONTINUED else nothing[:, rules.live]
    np.testing.assert_allclose(own[:, rules.live], follow, rtol=0, atol=1e-6)

    def problem_at(p: np.ndarray) -> Problem:
        """Another target, other limits, other bounds, another cost."""
        levels = [[changed(owner, p) for owner in level] for level in problem.constraint_levels]
        bounds = Bounds(ROBOT.space, *(x + p[2] for x in rules.bounds))
        return Problem(ROBOT, levels, bounds, weights=problem.weights * (1.0 + p[3] * unit[0]), frozen=[f"j{HELD}"],
                       optional_last=problem.optional_last)  # fmt: skip

    def changed(owner: Any, p: np.ndarray) -> Any:
        if owner.name == "a":
            return Implicit.equal(owner.function, owner.rhs + p[0] * np.eye(equalities)[0], name="a")
        if owner.name == "b":
            return Implicit.between(owner.function, owner.rows.lower + p[1], owner.rows.upper + p[1], name="b")
        return owner

    targets = np.arange(size) == 0 if equalities else np.zeros(size)
    guard = (np.arange(size) == size - 1) & rules.computed
    others = ~known.equal & ~guard
    by_all = s.parameter(problem_at, np.zeros(4))
    for k, rows in enumerate((targets, others, guard, 0.0 * guard)):

        def seen(t: float, k: int = k, rows: Any = rows) -> tuple[Rules, np.ndarray]:
            other = replace(rules, low=rules.low + t * rows, high=rules.high + t * rows,
                            bounds=tuple(x + t * (k == 2) for x in rules.bounds),
                            weights=rules.weights * (1.0 + t * (k == 3) * unit[0]))  # fmt: skip
            return other, q

        check(by_all[:, k], seen)
