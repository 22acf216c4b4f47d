"""Frozen dataclasses that are made without their constructor."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from liegroups.frozen import frozen


@dataclass(frozen=True)
class Answer:
    number: int
    text: str = "none"


def test_frozen_makes_what_the_constructor_makes() -> None:
    """Equal, locked, copied and pickled as any other; fields that have a default may be left out."""
    for made in (frozen(Answer, {"number": 3}, text="three"), frozen(Answer, {}, text="three", number=3)):
        assert made == Answer(3, "three")
        assert vars(made) == vars(Answer(3, "three"))
        assert replace(made, number=4) == Answer(4, "three")
        assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made
        with pytest.raises(FrozenInstanceError):
            made.number = 5  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    short = frozen(Answer, {"number": 3})
    assert short == Answer(3)
    assert replace(short, number=4) == Answer(4)
    assert pickle.loads(pickle.dumps(short)) == copy.copy(short) == short
