"""Mechanisms from files and built in, and sample robots that need no file."""

from ..keywords import answer as _answer
from . import mechanisms as mechanisms
from .built_in.samples import (
    sample_arm as sample_arm,
    sample_humanoid as sample_humanoid,
    sample_two_arms as sample_two_arms,
)
from .installed import installed_robots as installed_robots
from .loading import load as load
from .structure.mechanism import Mechanism as Mechanism

_answer(__name__)
