"""Checks for what users write: the laws of spaces, differentiable functions and targets, and what to mend there."""

from .failure import CheckFailed
from .functions import check_function
from .spaces import check_space
from .targets import check_target

__all__ = ["CheckFailed", "check_function", "check_space", "check_target"]
