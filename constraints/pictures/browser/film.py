"""A film: configurations of a robot, one after the other, with their times and their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liegroups.arguments import as_tuple
from liegroups.arrays import ArrayLike, Matrix, Vector

from ...collisions import Shape
from ...errors import OptionError, WrongObjectError
from ...loops.frame_rows import FrameRows
from ...paths.path import Path
from ...planning.connection import Branchings
from ...robot import Frame, Robot
from ...rows.row_owner import RowOwner

A_SECOND = 25.0
"""Pictures of a motion that has times."""
STEPS_A_SECOND = 8.0
"""Configurations that are shown in a second where they have no times."""


@final
@dataclass(frozen=True, eq=False)
class Film:
    """Configurations that are shown one after the other.

    Attributes:
        robot: whose.
        configurations: (n, nq), n at least 1.
        times: (n,) when each is shown [s]; rising.
        labels: a name for each; empty where they have none.
        closures: the two frames of each closure.
        shapes: solids on frames.
        timed: whether the times are those of a motion.
        met: names of solids that collide.
        trees: of a search; None where there are none to be drawn.
    """

    robot: Robot
    configurations: Matrix
    times: Vector
    labels: tuple[str, ...] = ()
    closures: tuple[tuple[Frame, Frame], ...] = ()
    shapes: tuple[Shape, ...] = ()
    timed: bool = False
    met: tuple[str, ...] = ()
    trees: Branchings | None = None

    def __len__(self) -> int:
        return len(self.configurations)

    def label(self, i: int) -> str:
        """Name of a configuration, empty where it has none."""
        return self.labels[i] if self.labels else ""

    @staticmethod
    def of(
        robot: Robot,
        configurations: Iterable[ArrayLike],
        times: ArrayLike | None = None,
        labels: Sequence[str] = (),
        owners: Iterable[RowOwner] = (),
    ) -> Film:
        """Check the configurations.

        Args:
            robot: whose.
            configurations: (nq,) each.
            times: of each [s]; in equal steps if None.
            labels: a name for each, or none.
            owners: of rows; closures among them are shown.
        """
        rows = [np.array(robot.check(q, f"configuration {i}")) for i, q in enumerate(configurations)]
        if not rows:
            raise WrongObjectError("configurations to show", "at least one configuration", "none")
        steps = np.arange(len(rows)) / STEPS_A_SECOND if times is None else np.array(times, dtype=np.float64)
        pairs = tuple((owner.predecessor, owner.successor) for owner in owners if isinstance(owner, FrameRows))
        return Film(robot, np.array(rows), steps, tuple(labels), pairs, timed=times is not None)

    def with_labels(self, labels: Any) -> Film:
        """The same with other names.

        Raises:
            OptionError: not as many as configurations.
        """
        names = tuple(str(name) for name in as_tuple(labels, "labels", "one text a configuration"))
        if len(names) != len(self):
            raise OptionError(f"labels: expected {len(self)}, one a configuration, got {len(names)}")
        return replace(self, labels=names)


def of_path(path: Path, most: int, names: Sequence[str] = ()) -> Film:
    """A path at equal steps of time, each piece from its start to its end; a piece has one name, or none."""
    problem = path.pieces[0].problem
    if problem.robot is None:
        raise WrongObjectError("path to show", "a path of a robot", path)
    count = int(np.clip(round(A_SECOND * path.duration), 2, most - 1))
    rows: list[Vector] = []
    times: list[float] = []
    labels: list[str] = []
    begun = 0.0
    for i, (piece, duration) in enumerate(zip(path.pieces, path.durations, strict=True)):
        steps = max(2, round(count * duration / path.duration) + 1)
        at = np.linspace(0.0, 1.0, steps)[0 if i == 0 else 1 :]
        rows += [*piece.at_times(at)]
        times += [begun + duration * float(t) for t in at]
        labels += [names[i]] * len(at) if names else []
        begun += duration
    return Film.of(problem.robot, rows, times, labels, problem.constraints)


def thinned(count: int, most: int) -> list[int]:
    """Which of so many are taken where at most some are: evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int)).tolist()
