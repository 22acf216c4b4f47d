"""Sparse algebra of many bodies: maximal coordinates, the rows between them, and the choice of independent rows."""

from .independent_rows import (
    Block as Block,
    Choice as Choice,
    Paths as Paths,
    independent_by_elimination as independent_by_elimination,
    independent_in_closures as independent_in_closures,
    independent_of_all as independent_of_all,
    least_norm as least_norm,
    least_norm_of_all as least_norm_of_all,
    paths_of as paths_of,
)
from .maximal_coordinates import (
    Bodies as Bodies,
    Ends as Ends,
    MaximalSystem as MaximalSystem,
    SeenClosures as SeenClosures,
    seen_at as seen_at,
)
from .rank import is_rank_certain as is_rank_certain
from .relative_rows import (
    RelativeRows as RelativeRows,
    RowsOfAKind as RowsOfAKind,
    closure_rows as closure_rows,
    rows_by_kind as rows_by_kind,
)
