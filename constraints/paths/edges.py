"""Many edges at once: what planners ask of `interpolate`, without a path for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector

from ..errors import SizeError
from ..ranges import positive_number
from ..rows.right_hand_side import RightHandSide
from ..solvers import Projector
from ..solvers.edges import Edges
from ..solvers.machine import layout
from ..solvers.projection.batch_arguments import starts_of
from .interpolation import ENDINGS, Interpolation, PathStatus, interpolate
from .moving_rhs import MovingRightHandSide


class InterpolatedEdges(NamedTuple):
    """What came of many edges, each as `interpolate` has it.

    Attributes:
        status: why each ended (n,), members of `PathStatus`.
        offsets: row where the samples of each begin, and where the last ones end (n + 1,).
        times: of all samples, from 0 to 1 on each edge (m,).
        samples: configurations (m, nq); of an edge that does not reach its end those before it stops, of one whose ends
            do not satisfy the constraints none.
    """

    status: NDArray[np.object_]
    offsets: Indices
    times: Vector
    samples: Matrix


def interpolate_edges(
    projector: Projector,
    Q0: ArrayLike,
    Q1: ArrayLike,
    rhs: Any = None,
    *,
    max_angle: float = 0.1,
    max_length: float = 0.02,
) -> InterpolatedEdges:
    """Edges from rows to rows, in few calls of a kernel where the projector has one; status and samples of each alone.

    Args:
        projector: of the constraints.
        Q0, Q1: first and last configurations (n, nq).
        rhs, max_angle, max_length: as for `interpolate`, of all edges.

    Raises:
        SizeError: not as many last configurations as first ones.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with a row; the message has its index.
        OptionError: a limit that is not a positive number.
        WrongObjectError: `projector` is no projector.
    """
    expect(projector, Projector, "projector of edges")
    space, sides = projector.problem.space, MovingRightHandSide.of(projector.problem, rhs)
    angle, length = positive_number(max_angle, "max_angle of edges"), positive_number(max_length, "max_length of edges")
    limits: Any = {"max_angle": angle, "max_length": length}
    starts, ends = starts_of(space, Q0, "Q0"), starts_of(space, Q1, "Q1")
    if len(starts) != len(ends):
        raise SizeError("Q1 of edges", f"a row for each of the {len(starts)} of Q0", len(ends))
    program, constant, alone, edges = projector.program.edges, sides.constant, range(len(starts)), None
    if program is not None and constant is not None:
        edges = program.run(starts, ends, constant, **limits)
        alone = _in_doubt(projector, edges, constant)
    found = {i: interpolate(projector, starts[i], ends[i], sides, **limits) for i in alone}
    return _merged(edges, starts, found)


def _in_doubt(projector: Projector, edges: Edges, rhs: RightHandSide) -> list[int]:
    """Edges that the kernel gives up and `interpolate` may not: ends off by rounding, middles that are brought back."""
    failed = np.flatnonzero(edges.status == layout.NOT_PROJECTED)
    back = failed[projector.project_batch(edges.middles[failed], rhs).success]
    at_ends = np.flatnonzero((edges.status == layout.AT_START) | (edges.status == layout.AT_END))
    return [*at_ends.tolist(), *back.tolist()]


def _merged(edges: Edges | None, starts: Matrix, alone: Mapping[int, Interpolation]) -> InterpolatedEdges:
    """Edges of the kernel, with those that were interpolated alone in their places."""
    if edges is not None and not alone:
        return InterpolatedEdges(ENDINGS[edges.status], edges.offsets, edges.times, edges.samples)
    status, parts = np.empty(len(starts), dtype=np.object_), list[tuple[Vector, Matrix]]()
    for i in range(len(starts)):
        if i in alone:
            status[i] = alone[i].status
            parts.append(_samples_of(alone[i], starts[i]))
        elif edges is not None:
            status[i], rows = ENDINGS[edges.status[i]], edges.rows(i)
            parts.append((edges.times[rows], edges.samples[rows]))
    offsets = np.concatenate(([0], np.cumsum([len(times) for times, _ in parts], dtype=np.intp)))
    times = np.concatenate([times for times, _ in parts] or [np.empty(0)])
    samples = np.concatenate([samples for _, samples in parts] or [np.empty((0, starts.shape[1]))])
    return InterpolatedEdges(status, offsets, times, samples)


def _samples_of(found: Interpolation, start: Vector) -> tuple[Vector, Matrix]:
    """Times on the whole edge, and samples, of an interpolation; where it has no path, its start if that is valid."""
    if found.path is not None:
        return found.reached * found.path.times, found.path.samples
    count = 0 if found.status in (PathStatus.START, PathStatus.END) else 1
    return np.zeros(count), np.array([start][:count]).reshape(count, start.size)
