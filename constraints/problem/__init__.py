"""Problems: constraints by level on a space with bounds; which of them are resolved explicitly, in which order."""

from ..keywords import answer as _answer
from .problem import Problem as Problem

_answer(__name__)
