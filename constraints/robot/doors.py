"""Taking a robot from a user."""

from __future__ import annotations

from ..errors import WrongObjectError
from .robot import Robot

__all__ = ["as_robot"]


def as_robot(candidate: object, what: str) -> Robot:
    """The candidate, or a typed error that names it."""
    if not isinstance(candidate, Robot):
        raise WrongObjectError(what, "a Robot", repr(candidate) if isinstance(candidate, str) else candidate)
    return candidate
