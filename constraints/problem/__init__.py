"""Problems: constraints by level on a space with bounds; which of them are resolved explicitly, in which order."""

from .problem import Problem as Problem
