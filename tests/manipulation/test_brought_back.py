"""Loops of a grasp whose box is carried out of its bounds: brought back inside by the compiled engine alone."""

from __future__ import annotations

import numpy as np
import pytest
from scenes import factory, record

from constraints import Options, Problem
from constraints.manipulation import ConstraintGraph
from liegroups.arrays import Vector

pytest.importorskip("numba")


def graph(engine: str) -> ConstraintGraph:
    """One arm, one box, a table, as in the record of HPP."""
    options = Options(threshold=1e-4, max_iterations=40)
    return factory(arms=1, boxes=1, handles=1, surfaces=True, options=options, attempts=1, engine=engine).generate()


def configurations(name: str) -> list[Vector]:
    """Recorded configurations, quaternions to full precision."""
    stored = record()["targets"]["configurations"]
    q = np.array(stored["guess"] if name == "guess" else stored["sources"][name])
    q[:, -4:] /= np.linalg.norm(q[:, -4:], axis=1, keepdims=True)
    return list(q)


def test_nothing_readable_is_evaluated_on_the_way_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engine 6: a loop that is brought back took 57 us instead of 19, as the readable residual judged it.

    Statuses, iterations and configurations are those of the readable engine, residuals those of the problem.
    """
    mine, readable = graph("compiled"), graph("readable")
    loop = next(t for t in mine.transitions if t.is_loop and not t.is_level_set and "grasps" in t.source.name)
    pairs = list(zip(configurations(loop.source.name), configurations("guess"), strict=True))
    expected = [readable.target(loop.name, start, guess) for start, guess in pairs]
    mine.target(loop, *pairs[0])

    def refused(*_: object) -> float:
        raise AssertionError("the readable residual was asked for")

    with monkeypatch.context() as patched:
        patched.setattr(Problem, "residual", refused)
        found = [mine.target(loop, start, guess) for start, guess in pairs]
    assert sum(target.projections[0].iterations > 0 for target in found) >= 3  # brought back
    for one, other in zip(found, expected, strict=True):
        assert one.status is other.status
        assert one.projections[0].iterations == other.projections[0].iterations
        np.testing.assert_allclose(one.q, other.q, atol=1e-9)
        last = one.projections[0]
        assert last.residual == pytest.approx(last.problem.residual(last.q, last.rhs), abs=1e-12)
