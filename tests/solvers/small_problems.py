"""Problems small enough for a closed form, and the iterates of an engine on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Affine, Bounds, Explicit, Implicit, Options, Problem, Projection, Projector, Robot
from constraints.functions import Polynomial
from constraints.solvers import why_not
from liegroups import Rn, Segments, Space
from liegroups.arrays import Vector

INF = np.inf


def row(coefficients: Sequence[float] | Vector, b: float, scale: float = 1.0) -> Implicit:
    """One equality: coefficients . q = b."""
    return Implicit(Affine(np.array([coefficients]), [-b]), scale=scale)


def curve(coefficients: Sequence[float], weights: Sequence[float]) -> Implicit:
    """One equality: a polynomial of weights . q is zero."""
    return Implicit.zero(Polynomial(coefficients, weights))


def box(lower: Sequence[float], upper: Sequence[float]) -> Bounds:
    return Bounds(Rn(len(lower)), np.array(lower), np.array(upper))


def computed(space: Space, out: int, inputs: int, f: Affine, twin: Affine | None = None) -> Explicit:
    """A coordinate as a function of another one."""
    places = (Segments.coordinates(space, [i]) for i in (out, inputs))
    return Explicit(f, next(places), next(places), implicit=twin, whole=space)


def run(
    engine: str, problem: Problem, start: Any, *, threshold: float = 1e-4, restarts: bool = False, **options: Any
) -> Projection:
    """Project with a trace, by this engine and no other; by the compiled one in lanes too, which must be the same."""
    asked = Options(threshold=threshold, restarts=restarts, trace=True, **options)
    assert engine == "readable" or why_not(problem, asked) is None
    result = Projector(problem, asked, engine=engine).project(start)
    if engine == "compiled":
        for row in Projector(problem, replace(asked, trace=False), engine=engine).project_batch([start] * 9):
            assert row.q.tobytes() == result.q.tobytes()
            assert (row.status, row.iterations, row.restarts) == (result.status, result.iterations, result.restarts)
    return result


def iterates(result: Projection) -> list[Any]:
    """The configurations of a trace."""
    assert result.trace is not None
    return [step.q for step in result.trace]


def second(result: Projection) -> Any:
    """The iterate after one step."""
    return iterates(result)[1]


def damping(squared_error: float, factor: float = 0.03) -> float:
    """Mu, as R10 has it."""
    return factor * min(squared_error, 100.0) + 1e-12


def robot(*joints: tuple[str, Any], lower: float = -INF, upper: float = INF) -> Robot:
    """Joints on the world, each with a frame of its name at 1 m along its x axis, and "end of NAME" at its origin."""
    model: Any = pin.Model()
    for name, kind in joints:
        joint = model.addJoint(0, kind, pin.SE3.Identity(), name)
        for frame, x in ((f"tip of {name}", 1.0), (f"end of {name}", 0.0)):
            place = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
            model.addFrame(pin.Frame(frame, joint, 0, place, pin.FrameType.OP_FRAME))
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = lower, upper
    return Robot(model, "joints")
