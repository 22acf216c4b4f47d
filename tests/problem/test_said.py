"""What a description says of right-hand sides that nobody gave, of references and of scales."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import CenterOfMass, Comparison, Implicit, Options, Pose, Position, Problem, Projector
from constraints.errors import OptionError
from constraints.paths import interpolation

GOAL = [0.45, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0]
AWAY: Any = np.array(GOAL)
NOT_GIVEN = "right-hand side: none given, so "
READ = "; problem.rhs_from(q) reads what q has"


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        (Implicit.equal(Position(arm(), "tool")), [f"{NOT_GIVEN}zero, 'tool' at the origin of the world{READ}"]),
        (
            Implicit.equal(Pose(arm(), "tool")),
            [f"{NOT_GIVEN}the identity pose, 'tool' at the origin of the world{READ}"],
        ),
        (Implicit.zero(Pose(arm(), "tool")), ["right-hand side the identity pose, 'tool' at the origin of the world"]),
        (
            Implicit.zero(Pose(arm(), "tool", reference="elbow")),
            ["right-hand side the identity pose, 'tool' at the origin of 'elbow'"],
        ),
        (
            Implicit.equal(Pose(arm(), "tool", reference=AWAY), GOAL),
            [
                "seen from the placement [0.45, 0.1, 0.3, 0, 1, 0, 0] in the world",
                "right-hand side [0.45, 0.1, 0.3, 0, 1, 0, 0]",
            ],
        ),
        (
            Implicit.zero(Position(arm(), "tool", reference=AWAY)),
            [
                "seen from the placement [0.45, 0.1, 0.3, 0, 1, 0, 0] in the world",
                "right-hand side zero, 'tool' at the origin of that placement",
            ],
        ),
        (Implicit.equal(CenterOfMass(arm())), [f"{NOT_GIVEN}zero{READ}"]),
        (Implicit.zero(CenterOfMass(arm())), []),
        (Implicit.zero(Position(arm(), "tool"), mask=[False, False, True]), ["row 2 EQUAL_TO_ZERO; rows 0-1 left out"]),
        (Implicit.equal(Position(arm(), "tool"), GOAL[:3]), ["right-hand side [0.45, 0.1, 0.3]"]),
    ],
    ids=str,
)
def test_right_hand_sides_that_nobody_gave(constraint: Implicit, said: list[str]) -> None:
    """Mend: what users knew from pages only, numbers 5, 6 and 33."""
    lines = Problem(arm(), [constraint]).describe().splitlines()
    assert [line.strip() for line in lines[2:] if line.startswith("    ")] == said


def test_a_reference_is_printed() -> None:
    """Mend: what users knew from pages only, number 33."""
    assert repr(Pose(arm(), "tool")) == "Pose('Pose(tool)': R7 -> SE3)"
    assert repr(Pose(arm(), "tool", reference="elbow")) == "Pose('Pose(tool, reference=elbow)': R7 -> SE3)"
    seen = "seen from the placement [0.45, 0.1, 0.3, 0, 1, 0, 0] in the world"
    assert repr(Pose(arm(), "tool", reference=AWAY)) == f"Pose('Pose(tool)': R7 -> SE3, {seen})"


def test_a_scaled_error_is_said_to_be_one() -> None:
    """Mend: what users knew from pages only, number 14."""
    for scale, said in ((1e-3, " (scaled)"), (1.0, ""), ([1.0, 2.0, 1.0], "")):
        row = Implicit(
            Position(arm(), "tool"), Comparison.EQUALITY, GOAL[:3], scale=scale, mask=[True, False, True], name="x"
        )
        found = Projector(Problem(arm(), [row])).project(arm().reference("home"))
        [line] = [line for line in found.describe().splitlines() if "'x'" in line]
        assert line.endswith(said)
        assert ("scaled" in line) == bool(said)


def test_options_given_to_a_call_are_sent_to_the_projector() -> None:
    """Mend: what users knew from pages only, number 38."""
    projector: Any = Projector(Problem(arm(), [Implicit.equal(Position(arm(), "tool"), GOAL[:3])]))
    said = r"takes no options, they belong to the projector: Projector\(problem, Options\(\.\.\.\)\)\.project"
    with pytest.raises(OptionError, match=said):
        projector.project(arm().neutral, options=Options())
    with pytest.raises(OptionError, match=said):
        projector.project_batch([arm().neutral], options=Options())


def test_a_step_of_more_than_half_a_turn_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, number 175."""
    problem = Problem(arm(), [Implicit.equal(Position(arm(), "tool"), GOAL[:3])])
    q = Projector(problem).project(arm().reference("home")).or_raise().q
    interpolation.interpolate(problem, q, q, max_angle=3.0)
    assert not caplog.messages
    with caplog.at_level(logging.WARNING, "constraints"):
        assert interpolation.interpolate(problem, q, q, max_angle=5.0).success
    [said] = caplog.messages
    assert said.endswith("max_angle of an interpolation is 5 rad, more than half a turn: is it in degrees?")
