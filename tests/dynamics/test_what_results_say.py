"""What results say of states and contacts that a reader would not want: pulling, open, without contact."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from constraints import Target
from constraints.dynamics import ExternalForce, HingeSpring, Impact, forward_dynamics, impact, inverse_dynamics
from constraints.errors import OptionError
from constraints.loops import Axes, Closure, ConstraintSet, Hinge, PointContact, RodClosure, assemble_velocity
from constraints.models import mechanisms

LINKAGE = mechanisms.five_bar()
ROBOT, CLOSED = LINKAGE.robot, LINKAGE.posture("closed")


def on_floor() -> ConstraintSet:
    return ConstraintSet(
        ROBOT, [*LINKAGE.closures, PointContact(ROBOT, "left_outer_end", [0.0, 1.0, 0.0], name="floor")]
    )


def leaving() -> Impact:
    v = assemble_velocity(LINKAGE.constraint_set(), CLOSED, [-1.0, 1.0, 1.0, -1.0])
    return impact(on_floor(), ROBOT.at(CLOSED, v))


def test_an_impact_names_the_contact_that_pulls() -> None:
    """A floor pulled back a point that was leaving it; only `pulling` knew."""
    hit = leaving()
    assert hit.pulling == ("floor",)
    assert "pulling: floor" in str(hit)
    assert f"'floor' by {-hit.multipliers_of('floor')[0]:.4g} N s" in hit.describe()
    still = impact(on_floor(), ROBOT.at(CLOSED, np.zeros(4)))
    assert "pulling" not in still.describe()


def test_an_impact_has_a_description() -> None:
    """`describe` was the one result's method that an impact had not."""
    text = leaving().describe()
    assert "6 rows, rank 3" in text
    assert "redundant: left_outer_end to right_outer_end[2]" in text


def test_an_impact_at_an_open_state_says_so() -> None:
    """The energy it lost was in part that of closing the loop."""
    rows = LINKAGE.constraint_set()
    assert "open state" not in impact(rows, ROBOT.at(CLOSED, np.zeros(4))).describe()
    apart = impact(rows, ROBOT.at(CLOSED + 0.1, np.zeros(4)))
    assert "at an open state, 'left_outer_end to right_outer_end' is off by" in apart.describe()
    assert str(apart).endswith("at an open state)")
    breaks = impact(rows, ROBOT.at(CLOSED, [1.0, 0.0, 0.0, 0.0]))
    assert "its rate by" in breaks.describe()
    landing = assemble_velocity(rows, CLOSED, [1.0, -1.0, -1.0, 1.0])
    assert "open state" not in impact(on_floor(), ROBOT.at(CLOSED, landing)).describe()  # what an impact is for


def test_inverse_dynamics_at_an_open_state_says_so() -> None:
    wish = {"left_inner": 1.0, "right_inner": 0.0}
    rows = LINKAGE.constraint_set()
    apart = inverse_dynamics(rows, ROBOT.at(CLOSED + 0.1, np.zeros(4)), wish, actuated=LINKAGE.motors)
    assert "at an open state, 'left_outer_end to right_outer_end' is off by" in apart.describe()
    closed = inverse_dynamics(rows, ROBOT.at(CLOSED, np.zeros(4)), wish, actuated=LINKAGE.motors)
    assert "open state" not in closed.describe()


def test_dynamics_name_the_contact_that_pulls() -> None:
    lift = ExternalForce("left_outer_end", [0, 30.0, 0, 0, 0, 0], Axes.LOCAL_WORLD_ALIGNED)
    there = ROBOT.at(CLOSED, np.zeros(4))
    held = forward_dynamics(on_floor(), there, external=[lift])
    assert "pulling, which contacts that only push cannot do: 'floor' by 30 N" in held.describe()
    back = inverse_dynamics(on_floor(), there, np.zeros(4), actuated=LINKAGE.motors, external=[lift])
    assert ("'floor' by" in back.describe()) is bool(back.pulling)
    press = forward_dynamics(on_floor(), there)
    assert "pulling" not in press.describe()


def test_a_restitution_that_acts_on_nothing_is_refused() -> None:
    rows, there = LINKAGE.constraint_set(), ROBOT.at(CLOSED, np.zeros(4))
    with pytest.raises(OptionError, match="the set has no contact"):
        impact(rows, there, restitution=0.5)
    assert impact(rows, there, restitution=0.0).success
    assert impact(on_floor(), there, restitution=0.5).success


def test_a_spring_in_a_locked_hinge_is_refused() -> None:
    linkage = mechanisms.four_bar()
    weld = Closure(linkage.robot, "coupler_end", "rocker_end", Hinge.locked(), name="weld")
    with pytest.raises(OptionError, match="the hinge is locked"):
        HingeSpring(weld, 4.0)


@pytest.mark.parametrize("solve", [forward_dynamics, impact, inverse_dynamics])
def test_targets_that_stand_still_for_want_of_a_time_are_said(solve: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Once, of a set and those switched from it; with right-hand sides nothing is said."""
    length = Target(lambda t: [0.3 + 0.1 * t], lambda t: [0.1], lambda t: [0.0])
    rod = RodClosure(ROBOT, "left_inner_end", "right_inner_end", length, name="cylinder")
    rows = ConstraintSet(ROBOT, [*LINKAGE.closures, rod])
    motion, asked = ROBOT.at(CLOSED, np.zeros(4)), list[Any]()
    if solve is inverse_dynamics:
        solve, asked = partial(inverse_dynamics, actuated=LINKAGE.motors), [np.zeros(4)]
    solve(rows, motion, *asked, rhs=rows.rhs_at(0.0))
    assert "stand still" not in caplog.text
    solve(rows.switched(), motion, *asked)
    solve(rows.switched(), motion, *asked)
    assert rows.moving == ("cylinder",)
    assert caplog.text.count("the targets of 'cylinder' stand still where their time begins") == 1
