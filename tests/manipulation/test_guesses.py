"""Guesses that are not made: what no configuration reaches is not tried again, and nothing else is left out."""

from __future__ import annotations

import numpy as np
import pytest
from robots import needs_robot_data
from scenes import factory

from constraints.manipulation.targets import Search

TAKE = "r0/gripper > box0/h0 | f"


@needs_robot_data
@pytest.mark.parametrize("engine", ["readable", None])
def test_targets_are_those_of_all_guesses(engine: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A box anywhere in its bounds, mostly too far away: the same targets, with fewer guesses."""
    graph, rng = factory(surfaces=False, engine=engine).generate(), np.random.default_rng(5)
    starts, guesses = graph.robot.random(rng, 24), graph.robot.random(rng, 24)
    guess_again, guessed = Search.guess_again, list[str]()
    with monkeypatch.context() as watched:
        watched.setattr(Search, "guess_again", lambda search, by: guessed.append("again") or guess_again(search, by))
        found = [(graph.target(TAKE, a, b), guessed.append("next"))[0] for a, b in zip(starts, guesses, strict=True)]
    more = [len(words.split()) for words in " ".join(guessed).split("next")]
    batch = graph.targets(TAKE, starts, guesses)
    monkeypatch.setattr(Search, "is_hopeless", lambda *_: False)
    every = [graph.target(TAKE, a, b) for a, b in zip(starts, guesses, strict=True)]
    hopeless = [one.attempts == 1 and not one.success for one in found]
    assert 6 < sum(hopeless) < 24
    assert any(one.success for one in found)
    assert [count for count, known in zip(more, hopeless, strict=False) if known] == [0] * sum(hopeless)
    for one, row, other, known in zip(found, batch, every, hopeless, strict=True):
        assert other.attempts == (graph.attempts if known else one.attempts)
        assert row.attempts == one.attempts
        assert one.q.tobytes() == row.q.tobytes() == other.q.tobytes()
        assert one.success == other.success
        assert not (known and other.success)
