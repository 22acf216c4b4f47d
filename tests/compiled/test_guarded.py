"""Kernels as plain Python: nothing of anybody else's is read or written, and results are the readable engine's."""

from __future__ import annotations

import pytest
from each_choice import draws

pytest.importorskip("numba")

from compiled.guarded import GuardedProblem
from compiled.kinds_of_problems import CASES


@draws(1, 3)
@pytest.mark.parametrize("name", CASES)
def test_projections_stay_within_what_is_theirs_and_go_the_way_of_the_readable_engine(name: str, count: int) -> None:
    """Each iterate; and what a projection leaves in the memory changes nothing of the next one."""
    case = CASES[name]()
    guarded, starts = GuardedProblem(case.problem, case.options), case.starts(count)
    found = [guarded.check(q, rhs) for q, rhs in starts]
    q, rhs = starts[0]
    again = guarded.project(q, rhs)
    assert again.q.tobytes() == found[0].q.tobytes()
    assert again[1:] == found[0][1:]
