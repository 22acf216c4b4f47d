"""Each function: in a problem of its own, where a value of it is reached from random starts; and what is said of it."""

from __future__ import annotations

import inspect
import logging
from typing import Any

import numpy as np
import pytest
from each_choice import draws
from samples import SAMPLES

import constraints.functions
from constraints import Function, Implicit, Problem, Projector
from constraints.collisions import Clearance

HARD = {"ContactForces, shared": 0.4, "StaticTorques": 0.05}
"""Part of the starts that succeeds, where each of many rows is to be one number: nobody asks that of forces."""


@draws(4, 200)
@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "Constant of nothing"])
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
        assert found.success.mean() >= HARD.get(name, 0.95) or count < 200
    assert (compiled.success == readable.success).mean() >= (0.95 if count >= 200 else 0.5)


PUBLIC: dict[str, Any] = {**vars(constraints.functions), "Clearance": Clearance}
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
