"""The law of enclosures: no value, and no Jacobian, is outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liegroups.arrays import Vector

from ..errors import NoEnclosureError, UndefinedError
from ..functions.enclosures.box import TangentBox
from ..functions.function import Function
from ..robot import Robot
from .failure import require

SAMPLES = 1000
"""Points at which an enclosure is looked at."""

SIZES = (0.0, 1e-6, 1e-3, 0.1, 0.5)
"""Of the boxes [rad, m]."""

ROUNDING_OF_ENDS = 1e-9
"""Of the values and Jacobians that are compared, relative to 1 and their size: a sample in doubles is no proof."""


def check_enclosure(f: Function, places: Sequence[Vector], rng: np.random.Generator) -> None:
    """Look for counterexamples to the enclosure of a function that its class writes, if it is a user's.

    Those of this library are proved by hand, and judged in 50 digits (`benchmarks/certificates.py`).

    Args:
        f: the function.
        places: configurations (inputs.nq,), centres of boxes.
        rng: draws the samples.

    Raises:
        CheckFailed: a value or a Jacobian is outside.
    """
    if type(f).enclosure is Function.enclosure or type(f).__module__.partition(".")[0] == "constraints":
        return
    boxes = [(q, size) for q in places for size in SIZES]
    each = -(-SAMPLES // len(boxes))
    for q, size in boxes:
        box = TangentBox(f.inputs, q, size)
        try:
            found = f.enclosure(box)
        except NoEnclosureError:
            return
        except UndefinedError:
            continue
        for _ in range(each):
            at = _within(f, f.inputs.integrate(box.q, rng.uniform(-1.0, 1.0, f.inputs.nv) * box.r))
            try:
                value, J = f.linearise(at)
            except UndefinedError as error:
                seen = f"{f.name} has no value inside a box of size {size:g}: {error}"
                _demand("a function has a value on all of a box that it encloses", False, seen, at)
                continue
            slack = ROUNDING_OF_ENDS * (1.0 + np.abs(J).max(initial=0.0))
            inside = bool(((found.jacobian.lower - slack <= J) & (found.jacobian.upper + slack >= J)).all())
            seen = f"the Jacobian of {f.name} is outside of its enclosure, on a box of size {size:g}"
            _demand("Jacobians are inside of the enclosure", inside, seen, at)
            off = np.abs(f.outputs.difference(found.value, value))
            far = not f.outputs.is_flat and float(np.max(found.error, initial=0.0)) > 1.5  # turned beyond a half turn
            slack = ROUNDING_OF_ENDS * (1.0 + np.abs(value).max(initial=0.0))
            seen = f"the value of {f.name} is outside of its enclosure, on a box of size {size:g}"
            _demand("values are inside of the enclosure", far or bool((off <= found.error + slack).all()), seen, at)


def _within(f: Function, q: Vector) -> Vector:
    """The nearest configuration within the bounds of the function's robot, which is in the box too."""
    robot = getattr(f, "robot", None)
    if not isinstance(robot, Robot) or robot.space is not f.inputs:
        return q
    at, bounds = f.inputs.vector_q, robot.bounds
    q[at] = np.clip(q[at], bounds.lower[at], bounds.upper[at])
    return q


def _demand(law: str, holds: bool, seen: str, q: Vector) -> None:
    require(law, holds, "look at `enclosure`: bounds must hold on the whole box, rounding included", seen, q=q)
