"""Random configurations: free ones, and pairs that collide in all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from liegroups.arrays import Vector

from ..errors import ConstraintError
from .pairs import SAMPLES
from .words import always_in_words

if TYPE_CHECKING:
    from .model import CollisionModel


class NoFreeConfigurationError(ConstraintError):
    """No random configuration was free of collisions; `pairs` has those that collided in all of them."""

    def __init__(self, tries: int, pairs: Sequence[tuple[str, str]], reason: str) -> None:
        self.tries, self.pairs = tries, tuple(pairs)
        super().__init__(f"none of {tries} random configurations is free of collisions: {reason}")


def free_one(model: CollisionModel, rng: np.random.Generator, tries: int) -> Vector:
    """A random configuration (nq,) without collisions.

    Raises:
        NoFreeConfigurationError: none was free; names the pairs that always collide, or the most frequent one.
    """
    draws = (model.robot.random(rng) for _ in range(tries))
    q = next((q for q in draws if model.is_free(q)), None)
    if q is None:
        pairs = model.always_colliding()
        raise NoFreeConfigurationError(tries, pairs, always_in_words(pairs) or _most_met(model, rng))
    return q


def _most_met(model: CollisionModel, rng: np.random.Generator) -> str:
    """The pair that meets most often, where none always does."""
    met = Counter((c.a, c.b) for _ in range(SAMPLES) for c in model.collisions(model.robot.random(rng)))
    (a, b), count = met.most_common(1)[0]
    return f"no pair collides in all of them, '{a}' and '{b}' in {count} of {SAMPLES}"
