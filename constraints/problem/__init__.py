"""Problems: constraints by level on a space with bounds; which of them are resolved explicitly, in which order."""

from ..keywords import answer as _answer
from .free_coordinates import FreeCoordinates as FreeCoordinates
from .problem import Problem as Problem

_answer(__name__)
