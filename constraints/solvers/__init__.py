"""Solvers: a projector puts configurations onto the constraints of a problem."""

from .engine import Engine
from .options import Options
from .projection import Projection, Status, Step
from .projector import Projector, project

__all__ = ["Engine", "Options", "Projection", "Projector", "Status", "Step", "project"]
