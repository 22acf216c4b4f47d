"""Checks for what users write: the laws of spaces and of differentiable functions, and what to mend when one fails."""

from .failure import CheckFailed
from .functions import check_function
from .spaces import check_space

__all__ = ["CheckFailed", "check_function", "check_space"]
