"""When a search ends though it has not found what it looks for."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import final

from ..ranges import positive_number, whole_number
from ..solvers.kernels.loading import seconds_waited


@final
@dataclass(frozen=True)
class Limits:
    """Limits of a search. It ends at the first one reached, and its status says which.

    Attributes:
        seconds: wall time [s], but for the reading or compiling of kernels, which a process does once; None for no
            clock. The first search with a collision model makes its covers, and looks at the clock after that. Only the
            clock makes the result depend on the machine: without it, one seed gives the same bits.
        nodes: configurations in the trees of one search.
        sequences: sequences of transitions that `plan` tries.

    Raises:
        OptionError: a limit that is not positive, or not a number.
    """

    seconds: float | None = 60.0
    nodes: int = 200_000
    sequences: int = 1000

    def __post_init__(self) -> None:
        """Check ranges."""
        if self.seconds is not None:
            positive_number(self.seconds, "seconds of the limits of a search")
        whole_number(self.nodes, "nodes of the limits of a search", 1)
        whole_number(self.sequences, "sequences of the limits of a search", 1)


@final
class Clock:
    """The time of one search, without that in which it waited for kernels; None seconds are no limit."""

    def __init__(self, seconds: float | None) -> None:
        self._began = perf_counter() - seconds_waited()
        self._seconds = float("inf") if seconds is None else seconds

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return perf_counter() - seconds_waited() - self._began

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.spent >= self._seconds
