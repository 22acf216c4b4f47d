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
    """Equal, locked, copied and pickled as any other; values for all fields, no fewer and no more."""
    made = frozen(Answer, 3, "three")
    assert made == Answer(3, "three")
    assert vars(made) == vars(Answer(3, "three"))
    assert replace(made, number=4) == Answer(4, "three")
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made
    with pytest.raises(FrozenInstanceError):
        made.number = 5  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    for values in ((3,), (3, "three", 3)):
        with pytest.raises(ValueError, match="zip"):
            frozen(Answer, *values)
