"""Mechanisms from files and built in, and sample robots that need no file."""

from ..loops.mobility import Mobility
from . import mechanisms
from .installed import installed_robots
from .loading import load
from .mechanism import Mechanism, Unread
from .samples import sample_arm, sample_humanoid, sample_two_arms

__all__ = [
    "Mechanism",
    "Mobility",
    "Unread",
    "installed_robots",
    "load",
    "mechanisms",
    "sample_arm",
    "sample_humanoid",
    "sample_two_arms",
]
