"""Collisions of configurations and of paths."""

from ..keywords import answer as _answer
from .clearance import Clearance as Clearance
from .clouds import PointCloud as PointCloud
from .model import Collision as Collision, CollisionModel as CollisionModel
from .sampling import NoFreeConfigurationError as NoFreeConfigurationError
from .shapes import Shape as Shape

_answer(__name__)
