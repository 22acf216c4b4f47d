"""Contacts with fewer than three rows slide, and sets say so."""

from __future__ import annotations

import numpy as np

from constraints import Position
from constraints.dynamics import forward_dynamics
from constraints.loops import ConstraintSet, PointContact, SurfaceContact
from constraints.models import sample_arm


def test_a_set_says_which_contacts_slide() -> None:
    robot = sample_arm()
    tool = robot.frame_names[-1]
    rows = ConstraintSet(
        robot,
        [
            PointContact(robot, tool, [0.0, 0.0, 1.0], name="floor"),
            PointContact(robot, tool, mask=[True, False, True], name="rail"),
            PointContact(robot, tool, name="pinned"),
            SurfaceContact(robot, tool, name="glued"),
        ],
    ).switched(off=["glued"])
    lines = rows.describe().splitlines()
    assert len(lines) == 5
    assert "'floor'" in lines[1]
    assert "slides: in the plane across its normal [0.0, 0.0, 1.0]" in lines[1]
    assert "2 rows; slides: along y" in lines[2]
    assert "slides" not in lines[3]
    assert "slides" not in lines[4]
    assert lines[4].endswith("; off")


def test_a_contact_with_a_normal_is_pushed_along_its_plane() -> None:
    """By plain numbers: the point accelerates in the plane of a contact of one row, and not with three."""
    robot = sample_arm()
    tool = robot.frame_names[-1]
    motion = robot.at(robot.random(np.random.default_rng(0)), np.zeros(robot.nv))
    for contact, slides in ((PointContact(robot, tool, [0.0, 0.0, 1.0]), True), (PointContact(robot, tool), False)):
        a = forward_dynamics(ConstraintSet(robot, [contact]), motion).or_raise().acceleration
        moved = Position(robot, tool).jacobian(motion.q) @ a  # at rest
        assert abs(moved[2]) < 1e-9 * np.abs(a).max()
        assert bool(np.abs(moved[:2]).max() > 1e-3) is slides
        assert bool(contact.free) is slides
