"""Bad inputs to constrained dynamics are refused by name."""

from __future__ import annotations

import pytest
from dynamics_fuzz import MAKERS, bad_input
from fuzz import verdict


@pytest.mark.parametrize("entry", MAKERS)
def test_bad_inputs_are_refused_by_name(entry: str) -> None:
    """RBDL 20: whatever is wrong ends in a ConstraintError that names the culprit and what was expected."""
    first = list(MAKERS).index(entry)
    found: list[str] = []
    for number in range(first, 150 * len(MAKERS), len(MAKERS)):
        bad = bad_input(2026, number)
        said = verdict(bad)
        if said is not None:
            found.append(f"{bad.kind}: {said}")
    assert not found, "\n".join(sorted(set(found)))
