"""Random functions of users, well-behaved ones and others, in problems that both engines solve."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from constraints import Explicit, Function, Implicit, Options, Position, Problem, Projector, Robot
from constraints.errors import UndefinedError
from constraints.functions import norm, stack
from constraints.models import sample_arm
from liegroups import Rn, Segments, Space

ARM = sample_arm()
KINDS = (
    "plain", "no Jacobian", "undefined", "undefined Jacobian", "not finite", "raising", "raising Jacobian",
    "of wrong size", "Jacobian of wrong size", "writing", "returning", "forgetting", "slow",
)  # fmt: skip
"""What a function does, at some configurations if not at all."""


class Length(Function):
    """The length of a vector, which has a value at 0, and no derivative."""

    def __init__(self, n: int) -> None:
        self.declare(Rn(n), Rn(1), name="length")

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        value[0] = length = np.linalg.norm(point.q)
        if jacobian is not None:
            if length == 0.0:
                raise UndefinedError("length has no derivative at 0")
            jacobian[0] = point.q / length


class Boom(Exception):
    """What a user's code may raise."""


@dataclass(frozen=True, eq=False, repr=False)
class Wave(Function):
    """Waves of random directions, A sin(W x + p), that misbehave where one of them is beyond a limit."""

    space: Space
    kind: str
    A: Any
    W: Any
    p: Any
    limit: float

    def __post_init__(self) -> None:
        self.declare(self.space, Rn(len(self.A)), np.any(self.W != 0.0, axis=0), name=f"wave, {self.kind}")

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> Any:
        x, with_jacobian = point.q[: self.W.shape[1]], jacobian is not None
        phase = self.W @ x + self.p
        if np.sin(phase[0]) > self.limit:
            misbehave(self.kind, point.q, with_jacobian)
            if self.kind == "not finite":
                value[:] = np.nan
                if with_jacobian:
                    jacobian[:] = np.inf
                return None
            if self.kind == "returning":
                return self.A @ np.sin(phase)
            if self.kind == "forgetting":
                return None
            if self.kind == "of wrong size":
                value[:] = np.zeros(len(value) + 1)
        if self.kind == "slow":
            time.sleep(1e-4)
        value[:] = self.A @ np.sin(phase)
        if with_jacobian:
            jacobian[:] = (self.A * np.cos(phase)) @ self.W
        return None


def misbehave(kind: str, q: Any, with_jacobian: bool) -> None:
    """Do what the kind of a function says, if that is to raise or to write."""
    if kind == "undefined" or (kind == "undefined Jacobian" and with_jacobian):
        raise UndefinedError("nothing there")
    if kind == "raising" or (kind == "raising Jacobian" and with_jacobian):
        raise Boom("nobody knows why")
    if kind == "writing":
        q[0] = 17.0


def from_callable(wave: Wave, given: bool) -> Function:
    """The same as plain Python functions, with a Jacobian or without."""

    def value(q: Any) -> Any:
        phase = wave.W @ q + wave.p
        if np.sin(phase[0]) > wave.limit:
            misbehave(wave.kind, q, False)
            if wave.kind == "not finite":
                return np.full(len(wave.A), np.nan)
            if wave.kind in ("of wrong size", "returning", "forgetting"):
                return np.zeros(len(wave.A) + 1)
        if wave.kind == "slow":
            time.sleep(1e-4)
        return wave.A @ np.sin(phase)

    def slopes(q: Any) -> Any:
        phase = wave.W @ q + wave.p
        if np.sin(phase[0]) > wave.limit:
            if wave.kind in ("undefined Jacobian", "raising Jacobian"):
                misbehave(wave.kind, q, True)
            if wave.kind == "Jacobian of wrong size":
                return np.zeros((len(wave.A) + 1, wave.W.shape[1]))
        return (wave.A * np.cos(phase)) @ wave.W

    return Function.from_callable(value, wave.space, Rn(len(wave.A)), slopes if given else None, name=wave.name)


def wave(space: Space, rng: np.random.Generator) -> Function:
    """A random function of a random kind."""
    kind, rows, inner = str(rng.choice(KINDS)), int(rng.integers(1, 3)), int(rng.integers(1, 4))
    W = rng.uniform(-1.0, 1.0, (inner, space.nv)) * (rng.uniform(size=space.nv) < 0.7)
    limit = float(rng.uniform(-0.2, 1.0)) if kind != "plain" else 2.0
    made = Wave(space, kind, rng.uniform(-1.0, 1.0, (rows, inner)), W, rng.uniform(-3.0, 3.0, inner), limit)
    if kind == "no Jacobian" or rng.uniform() < 0.5:
        return from_callable(made, given=kind != "no Jacobian")
    return made


def within(robot: Robot, rng: np.random.Generator) -> Function:
    """Such a function of a robot, alone or among functions of the library."""
    f, tool = wave(robot.space, rng), Position(robot, "tool")
    match int(rng.integers(6)):
        case 0:
            return stack(tool[0], f)
        case 1:
            return 0.5 * f[0] - tool[2]
        case 2:
            return wave(Rn(3), rng) @ tool
        case 3:
            return norm(stack(f, tool))
        case _:
            return f


class Case(NamedTuple):
    """A problem with its options, and a start."""

    problem: Problem
    options: Options
    start: Any


def case(seed: int) -> Case:
    """A random problem with one or two such functions."""
    rng, robot = np.random.default_rng(seed), ARM
    f, reached = within(robot, rng), robot.random(rng)
    try:
        target = f.value(reached)
    except Exception:
        target = np.zeros(f.outputs.nq)
    target = np.where(np.isfinite(target), target, 0.0)
    place = Implicit.equal(Position(robot, "tool")[:2], Position(robot, "tool").value(reached)[:2])
    mine: list[Any] = [
        Implicit.equal(f, target),
        Implicit.above(f, target - 0.1),
        Implicit.equal(f, target, mask=np.arange(f.outputs.nv) == 0),
    ]
    constraints: list[Any] = [place, mine[int(rng.integers(3))]]
    if rng.uniform() < 0.3:
        constraints.reverse()
    if rng.uniform() < 0.2:
        joints = Segments.coordinates(robot.space, [6]), Segments.coordinates(robot.space, range(6))
        g = wave(joints[1].space, rng)
        if g.outputs.nv == 1:
            constraints.append(Explicit(g, joints[0], joints[1], whole=robot.space))
    levels = [[c] for c in constraints] if rng.uniform() < 0.2 else constraints
    options = Options(max_iterations=int(rng.choice([10, 40])), restarts=bool(rng.uniform() < 0.5))
    return Case(Problem(robot, levels), options, robot.random(rng))


def outcome(run: Callable[[], Any]) -> Any:
    """A result, or what was raised."""
    try:
        return run()
    except Exception as error:
        return error


def words_of(error: Exception) -> str:
    """What an exception says, with its notes but for the numbers in them."""
    notes = [note.partition(" at q")[0] for note in getattr(error, "__notes__", [])]
    return " | ".join([type(error).__name__, str(error), *notes])


def differs(seed: int) -> str:
    """How the engines differ on a case, of which each has its own; empty where they agree."""
    found = list[Any]()
    for engine in ("compiled", "readable"):
        problem, options, start = case(seed)
        projector = Projector(problem, options, engine)
        found.append(outcome(partial(projector.project, start)))
    mine, theirs = found
    if isinstance(mine, Exception) or isinstance(theirs, Exception):
        said, known = (words_of(x) if isinstance(x, Exception) else str(x) for x in found)
        return "" if said == known else f"{said} and {known}"
    if mine.status is not theirs.status:
        return f"{mine.status.name} after {mine.iterations} and {theirs.status.name} after {theirs.iterations}"
    apart = float(np.abs(mine.q - theirs.q).max())
    if apart <= 1e-9 or apart <= 100.0 * spread(seed, theirs.q):
        return ""
    return f"{mine.status.name}, q differs by {apart:.3g} after {mine.iterations}"


def spread(seed: int, q: Any) -> float:
    """How far the readable engine comes apart by roundings of its start: what no engine can be held to."""
    problem, options, start = case(seed)
    around = [start * (1.0 + k * 2.0**-52) for k in (-2, -1, 1, 2)]
    ends = [Projector(problem, options, "readable").project(other).q for other in around]
    return max(float(np.abs(end - q).max()) for end in ends)
