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


def tiles(rows: int, ranges: Integers, ends: Integers) -> list[int]:
    """The normal matrix in tiles of three by three entries: as TILES in `layout`. The last tiles may overlap others."""
    firsts = [*range(0, rows - 2, 3)]
    if rows > 2 and rows % 3:
        firsts.append(rows - 3)
    found = list[int]()
    count = 0
    for k, i in enumerate(firsts):
        for j in firsts[k:]:
            if ends[i : i + 3].max() > j:
                both = (ranges[:, 0] < i + 3) & (ranges[:, 1] > i) & (ranges[:, 0] < j + 3) & (ranges[:, 1] > j)
                columns: list[int] = np.flatnonzero(both).tolist()
                found += [i, j, len(columns), *columns]
                count += 1
    return [count, *found]


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


def products(table: list[int], reach: Integers) -> int:
    """About how many products the normal matrix takes, in tiles of this table, and its factors of this profile."""
    columns = len(table) - 1 - 3 * table[0]
    return 9 * columns + int(((reach[:, 0] - np.arange(len(reach))) ** 2).sum()) // 2
