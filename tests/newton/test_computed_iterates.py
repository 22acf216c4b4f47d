"""The iterates of a projection with computed, frozen and turning joints, against the rules written out in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from newton.test_iterates import Rows, Rules

from constraints import Bounds, Explicit, Function, Implicit, Options, Problem, Projector, Robot, Status
from liegroups import Rn, Segments

N = 8
FIRST, SECOND, CONSTANT, HELD, STIFF = 3, 4, 5, 6, 7
"""Two joints computed one from the other, one that is a constant, one frozen and one that its bounds freeze."""


class Turning(Function):
    """A function of joints that whole turns leave as it is."""

    def __init__(self, f: Rows, inputs: Any, size: int, columns: Any = None) -> None:
        self.declare(
            inputs, Rn(size), np.ones(inputs.nv, bool) if columns is None else columns, periodic=True, name="f"
        )
        object.__setattr__(self, "f", f)

    def evaluate(self, point: Any, value: np.ndarray, jacobian: np.ndarray | None = None) -> None:
        f: Any = self.f  # pyright: ignore
        value[:], J = f(point.q)
        if jacobian is not None:
            jacobian[:] = J


def chain(count: int) -> Robot:
    """Joints that turn without bounds."""
    model: Any = pin.Model()
    for i in range(count):
        limits = (np.full(1, x) for x in (9.0, 9.0, -np.inf, np.inf))
        model.addJoint(i, pin.JointModelRZ(), pin.SE3.Identity(), f"j{i}", *limits)
    return Robot(model)


ROBOT = chain(N)


def first(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the joints 0 and 1."""
    return np.array([0.7 * np.sin(q[0]) - 0.5 * np.cos(q[1])]), np.array([[0.7 * np.cos(q[0]), 0.5 * np.sin(q[1])]])


def second(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the computed joint and of joint 2."""
    return np.array([np.sin(q[1] + 0.3) + 0.4 * np.sin(q[0])]), np.array([[0.4 * np.cos(q[0]), np.cos(q[1] + 0.3)]])


def resolved(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The configuration with what is computed, and its derivative by all joints."""
    q, T = q.copy(), np.eye(N)
    q[CONSTANT], T[CONSTANT] = 0.25, 0.0
    value, J = first(q[[0, 1]])
    q[FIRST], T[FIRST] = value[0], J[0] @ T[[0, 1]]
    value, J = second(q[[2, FIRST]])
    q[SECOND], T[SECOND] = value[0], J[0] @ T[[2, FIRST]]
    T[:, [FIRST, SECOND, CONSTANT, HELD, STIFF]] = 0.0
    return q, T


class Machine(Rules):
    """The same rules with joints that are computed, frozen, or turn."""

    bounds: tuple[np.ndarray, np.ndarray]

    def run(self, q0: np.ndarray) -> tuple[np.ndarray, Status]:
        q, status = super().run(q0)
        return self.turned(resolved(q)[0]), status

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        return np.maximum(self.bounds[0], -np.pi), np.minimum(self.bounds[1], np.pi)

    def turned(self, q: np.ndarray) -> np.ndarray:
        q = q.copy()
        for i in np.flatnonzero(np.isinf(self.lower) & np.isfinite(self.bounds[0]) & (np.arange(N) < FIRST)):
            shifts = [q[i] + 2.0 * np.pi * k for k in range(-20, 21)]
            if not self.bounds[0][i] <= q[i] <= self.bounds[1][i]:
                inside = [x for x in shifts if self.bounds[0][i] <= x <= self.bounds[1][i]]
                q[i] = min(inside, key=lambda x: abs(x - q[i]))
        return q

    def ends(self, q: np.ndarray) -> Status:
        q = self.turned(resolved(q)[0])
        inside = ((self.bounds[0] <= q) & (q <= self.bounds[1])).all()
        return Status.CONVERGED if inside else Status.OUT_OF_BOUNDS

    def descend(self, q: np.ndarray) -> Status:
        status = super().descend(q)
        if status is not Status.CONVERGED:
            return status
        q = self.trace[-1][0]
        if self.ends(q) is Status.CONVERGED:  # whatever was met before, out of bounds
            self.best = (q, *self.measured(q)[:2], self.measured(q)[2], self.restarts)
        return self.ends(q)

    def failure(self, status: Status) -> Status:
        found = super().failure(status)
        return self.ends(self.best[0]) if found is Status.CONVERGED else found


def waves(rng: np.random.Generator, size: int, inside: np.ndarray, off: float) -> Rows:
    """Rows of sines that are met at a configuration, or missed by a number."""
    a, b = rng.normal(size=(size, N)), rng.uniform(-3.0, 3.0, N)
    target = np.sin(inside + b) @ a.T + off
    return lambda q: (np.sin(q + b) @ a.T - target, a * np.cos(q + b))


def reduced(rows: Rows) -> Rows:
    def seen(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, T = resolved(q)
        e, J = rows(q)
        return e, J @ T

    return seen


SIDES: list[tuple[tuple[float, float], bool, dict[str, Any]]] = [
    ((-np.inf, np.inf), True, {}), ((-2.0, 2.0), True, {}), ((-4.0, 3.0), True, {"cap": 0.8}),
    ((-4.0, 3.0), False, {"seed": 2}), ((-2.0, 2.0), False, {"restarts": False, "damping": 1.0}),
    ((-3.0, 1.5), True, {"restarts": False, "saturating_passes": 2, "cap": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize("off", [0.0, 4.0])
@pytest.mark.parametrize("sizes", [(2,), (1, 2), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("k", range(len(SIDES)))
def test_iterates_with_computed_joints_are_those_of_the_rules(k: int, sizes: tuple[int, ...], off: float) -> None:
    """Every iterate, the end and its status; joints computed one from another, a constant, frozen ones, whole turns."""
    room, wrap, options = SIDES[k]
    o = Options(**({"max_iterations": 30, "trace": True, "wrap": wrap} | options))
    rng, space = np.random.default_rng([k, *sizes, int(off)]), ROBOT.space
    lower, upper = np.full(N, room[0]), np.full(N, room[1])
    lower[[FIRST, CONSTANT, HELD]], upper[[FIRST, CONSTANT, HELD]] = -5.0, 5.0
    lower[SECOND], upper[SECOND] = (-0.4, 0.9) if k % 2 else (-np.inf, np.inf)
    lower[STIFF] = upper[STIFF] = 0.3
    inside = rng.uniform(np.maximum(lower, -1.5), np.minimum(upper, 1.5))
    levels = [waves(rng, size, resolved(inside)[0], off if i == 0 else 0.0) for i, size in enumerate(sizes)]

    def computed(f: Rows, out: int, inputs: list[int], columns: Any = None) -> Explicit:
        map_ = Turning(f, Rn(len(inputs)), 1, columns)
        return Explicit(map_, Segments.coordinates(space, [out]), Segments.coordinates(space, inputs), whole=space)

    def constant(_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0.25]), np.zeros((1, 1))

    explicits: list[Any] = [computed(second, SECOND, [2, FIRST]), computed(first, FIRST, [0, 1])]
    explicits.append(computed(constant, CONSTANT, [0], np.zeros(1, bool)))
    optional = len(sizes) == 3
    owners: list[list[Any]] = [
        [Implicit.zero(Turning(rows, space, size))] for rows, size in zip(levels, sizes, strict=True)
    ]
    owners[-1 if k % 2 else 0] += explicits
    weights = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 1.0, 3.0, 1.0]) if k % 3 else np.ones(N)
    problem = Problem(ROBOT, owners, Bounds(space, lower, upper), weights=weights, frozen=[f"j{HELD}"],
                      optional_last=optional)  # fmt: skip
    assert not problem.wraps.any() or room != (-2.0, 2.0)
    turning = (problem.wraps if wrap else np.zeros(N, bool)) | np.isin(range(N), [FIRST, SECOND, CONSTANT, HELD])
    projector = Projector(problem, o)
    for _ in range(2):
        q0 = rng.uniform(-2.5, 2.5, N)
        rules = Machine([reduced(rows) for rows in levels], np.where(turning, -np.inf, lower),
                        np.where(turning, np.inf, upper), weights, optional, o)  # fmt: skip
        rules.bounds = lower, upper
        q, status = rules.run(q0)
        result = projector.project(q0)
        assert result.trace is not None
        assert len(result.trace) == len(rules.trace)
        for step, (there, restarted) in zip(result.trace, rules.trace, strict=True):
            np.testing.assert_allclose(step.q, resolved(there)[0], rtol=0, atol=1e-6)
            assert step.restarted == restarted
        assert (result.status, result.iterations, result.restarts) == (status, rules.iterations, rules.restarts)
        np.testing.assert_allclose(result.q, q, rtol=0, atol=1e-6)
        assert result.residual == pytest.approx(rules.measured(q)[1], rel=1e-6, abs=1e-9)
