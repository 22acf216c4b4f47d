"""Bad inputs to constrained dynamics are refused by name."""

from fuzz import findings


def test_bad_inputs_are_refused_by_name() -> None:
    """RBDL case 20: whatever is wrong ends in a ConstraintError that names the culprit and what was expected."""
    found = findings("dynamics", 2026, 4)
    assert not found, found
