"""Robots: a model, its configuration space, named frames and bounds; postures and motions at which things are read."""

from ..keywords import answer as _answer
from .bounds import Bounds as Bounds
from .files.base import Base as Base
from .frame import Frame as Frame
from .placement import rigid_transform as rigid_transform
from .posture import Motion as Motion, Posture as Posture
from .robot import Robot as Robot
from .system import Part as Part

_answer(__name__)
