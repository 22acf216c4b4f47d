"""Each function: in a problem of its own, where a value of it is reached from random starts; and what is said of it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each_choice import draws
from samples import SAMPLES

import constraints.functions
from constraints import Function, Implicit, Problem, Projector
from constraints.collisions import Clearance
from constraints.functions import stack

EFFORT = 10.0
"""What each motor can do [N m, N]: in random postures some of them have to do ten times as much."""
LIMITS: dict[str, Callable[[Any], tuple[Function, float, float]]] = {
    "ContactForces": lambda f: (stack(f.pyramids, f[-6:], -f[-6:]), -np.inf, 0.0),
    "ContactForces, shared": lambda f: (stack(f.pyramids, f[-6:], -f[-6:]), -np.inf, 0.0),
    "StaticTorques": lambda f: (f, -EFFORT, EFFORT),
    "StaticTorques, of joints": lambda f: (f, -EFFORT, EFFORT),
    "SupportPolygon": lambda f: (f, 0.05, np.inf),
    "SupportPolygon, of joints": lambda f: (f, 0.05, np.inf),
}
"""What users ask of balance, by function, with lower and upper limits of all rows: forces in their pyramids of friction
and no wrench that is missing, torques that the motors have, a centre of mass inside of all edges."""
MANY_NUMBERS = "Constant of nothing", "ContactForces, shared", "StaticTorques"
"""Nothing to reach; and forces of which each of 25 or 26 rows would have to be one number: of those see LIMITS."""


@draws(4, 200)
@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in MANY_NUMBERS])
def test_values_are_reached_from_random_starts(name: str, count: int, caplog: pytest.LogCaptureFixture) -> None:
    """By both engines, with equal ends; the judge is the value itself."""
    caplog.set_level(logging.ERROR)
    f, rng = SAMPLES[name](), np.random.default_rng(3)
    goal = f.value(f.inputs.random(rng))
    starts = np.array([f.inputs.random(rng) for _ in range(count)])
    problem = Problem(f.inputs, [Implicit.equal(f, goal)])
    compiled, readable = (Projector(problem, engine=e).project_batch(starts) for e in ("compiled", "readable"))
    for found in (compiled, readable):
        for q in found.q[found.success]:
            assert np.abs(f.outputs.difference(goal, f.value(q))).max(initial=0.0) < 1e-3
        assert found.success.mean() >= 0.95 or count < 200
    assert (compiled.success == readable.success).mean() >= (0.95 if count >= 200 else 0.5)


@draws(4, 200)
@pytest.mark.parametrize("name", LIMITS)
def test_limits_of_balance_are_reached_from_random_starts(name: str, count: int) -> None:
    """By both engines; of postures most of which are outside of the limits, as the value says."""
    (f, lower, upper), rng = LIMITS[name](SAMPLES[name]()), np.random.default_rng(3)
    starts = np.array([f.inputs.random(rng) for _ in range(count)])
    problem = Problem(f.inputs, [Implicit.between(f, lower, upper)])

    def outside(q: np.ndarray) -> float:
        value = f.value(q)
        return float(np.maximum(lower - value, value - upper).max())

    assert np.mean([outside(q) > 1e-2 for q in starts]) >= 0.5
    for engine in ("compiled", "readable"):
        found = Projector(problem, engine=engine).project_batch(starts)
        assert found.success.mean() >= 0.95
        assert max(outside(q) for q in found.q[found.success]) < 1e-3


OWN = {name: thing for name, thing in vars(constraints.functions).items() if not name.startswith("_")}
PUBLIC: dict[str, Any] = OWN | {"Clearance": Clearance}
KINDS = {
    name: kind for name, kind in PUBLIC.items()
    if inspect.isclass(kind) and issubclass(kind, Function) and kind is not Function
}  # fmt: skip
MAKERS = {name: make for name, make in PUBLIC.items() if inspect.isfunction(make)}
OPERATORS = {name for name, make in MAKERS.items() if make.__module__ == "constraints.functions.expression"}


@pytest.mark.parametrize("name", [*KINDS, *MAKERS])
def test_docstrings_give_formula_shapes_and_source(name: str) -> None:
    """Operators are in one table, whose page has their shapes."""
    text = inspect.getdoc(PUBLIC[name]) or ""
    wanted = ["math:"] if name in OPERATORS else ["math:", "Shapes:\n", "Source: "]
    assert not [word for word in wanted if word not in text]
