"""Which rows the columns of a level have numbers in, and how far its normal matrix reaches: zeros that stay zero."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .packing import Integers


def row_ranges(count: int, blocks: Iterable[tuple[slice, Iterable[int]]], together: Iterable[Integers]) -> Integers:
    """First row and end of the rows that each column may have numbers in (count, 2); (0, 0) of one that has none.

    Args:
        count: number of columns.
        blocks: rows, with the columns that they may have numbers in.
        together: columns that are mixed with each other.
    """
    ranges = np.tile(np.array([np.iinfo(np.int64).max, 0]), (count, 1))
    for rows, columns in blocks:
        for c in columns:
            ranges[c] = min(ranges[c, 0], rows.start), max(ranges[c, 1], rows.stop)
    for columns in together:
        ranges[columns] = ranges[columns, 0].min(initial=np.iinfo(np.int64).max), ranges[columns, 1].max(initial=0)
    ranges[ranges[:, 1] == 0] = 0
    return ranges


def fours(ranges: Integers) -> list[int]:
    """Columns in fours, those of like rows together: as FOURS in `layout`."""
    order: list[int] = np.lexsort((ranges[:, 1], ranges[:, 0])).tolist()
    order = [c for c in order if ranges[c, 1] > 0]
    whole = len(order) // 4 * 4
    groups = [order[k : k + 4] for k in range(0, whole, 4)]
    records = [[*sorted(g), ranges[g, 0].min(), ranges[g, 1].max()] for g in groups]
    left = sorted(order[whole:])
    return [len(groups), *(i for record in records for i in record), len(left), *left]


def profile(rows: int, ranges: Integers) -> Integers:
    """End of each row, and first row of each column, of the factors U of the normal matrix (rows, 2).

    A column of J fills the square of its rows; taking row k off those below fills the square from k to its end.
    """
    ends, starts = np.arange(1, rows + 1), np.arange(rows)
    for first, end in ranges.tolist():
        ends[first:end] = np.maximum(ends[first:end], end)
    for k in range(rows):
        ends[k : ends[k]] = np.maximum(ends[k : ends[k]], ends[k])
        starts[k : ends[k]] = np.minimum(starts[k : ends[k]], k)
    return np.column_stack((ends, starts))
