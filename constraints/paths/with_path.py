"""Results of which users want the path."""

from __future__ import annotations

from ..errors import FailedError
from ..solvers.result import Result
from .path import Path


class WithPath(Result):
    """A result whose `or_raise` gives its path."""

    path: Path | None

    @property
    def _given(self) -> Path:
        """The whole path."""
        if self.path is None:
            raise FailedError(self)
        return self.path
