"""Paths on constraints, and right-hand sides that move along them."""

from ..keywords import answer as _answer
from .interpolation import Interpolation as Interpolation, PathStatus as PathStatus, interpolate as interpolate
from .moving_rhs import MovingRightHandSide as MovingRightHandSide
from .path import Path as Path
from .relative_motion import RelativeMotion as RelativeMotion, SecurityMargins as SecurityMargins, Tie as Tie

_answer(__name__)
