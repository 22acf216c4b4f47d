"""Checks for what users write: the laws of spaces, differentiable functions and targets, and what to mend there."""

from .failure import CheckFailed as CheckFailed
from .functions import check_function as check_function
from .spaces import check_space as check_space
from .targets import check_target as check_target
