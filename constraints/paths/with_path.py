"""Results of which users want the path."""

from __future__ import annotations

from typing import Any

from ..errors import FailedError
from ..solvers.result import Result
from .path import Path


class WithPath(Result):
    """A result whose `or_raise` gives its path; `reason` is what its status leaves open, in words."""

    path: Path | None
    status: Any
    reason: str

    def __str__(self) -> str:
        return f"{self.status} ({self.reason})" if self.reason else str(self.status)

    def __repr__(self) -> str:
        return str(self)

    def _lines_of_path(self) -> list[str]:
        """The path in words, if there is one, and what is held along it."""
        return [] if self.path is None else [f"  {self.path}", *(f"  held: {held}" for held in self.path.held())]

    @property
    def _given(self) -> Path:
        """The whole path."""
        if self.path is None:
            raise FailedError(self)
        return self.path
