"""Straight lines as targets: where frames go on them, by plain pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Orientation, Pose, Position, Problem, Projector, rigid_transform
from constraints.errors import (
    NotFiniteError,
    OptionError,
    RightHandSideError,
    SizeError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.models import sample_arm
from constraints.planning import follow, straight_line
from liegroups import SE3, R3xSO3, Space

ARM = sample_arm()
MODEL: Any = ARM.model
Q = Projector(Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [0.5, 0.1, 0.4])])).project(
    ARM.references["home"]
).or_raise().q  # fmt: skip


def tool(q: np.ndarray) -> Any:
    data = ARM.model.createData()
    pin.framesForwardKinematics(ARM.model, data, q)
    return data.oMf[MODEL.getFrameId("tool")].copy()


@pytest.mark.parametrize("outputs", [SE3, R3xSO3])
@pytest.mark.parametrize("of_reference", [False, True])
def test_a_frame_goes_straight_and_does_not_turn(outputs: Space, of_reference: bool) -> None:
    reference = rigid_transform([0.2, 0.1, 0.3], rpy=[0.3, -0.4, 1.0])
    problem = Problem(ARM, [Implicit.equal(Pose(ARM, "tool", reference, outputs=outputs), name="tool")])
    direction, first = np.array([1.0, -2.0, 0.5]), tool(Q)
    turned = reference.rotation if of_reference else first.rotation
    step = turned @ direction / np.linalg.norm(direction)
    targets = straight_line(problem, Q, "tool", direction, 0.08, of_reference=of_reference)
    path = follow(problem, targets, Q, rng=np.random.default_rng(0)).or_raise()
    assert np.array_equal(path.start, Q)
    for s in np.linspace(0.0, 1.0, 101):
        there = tool(path(s))
        assert np.linalg.norm(there.translation - first.translation - 0.08 * s * step) <= 2e-4
        assert np.linalg.norm(pin.log3(first.rotation.T @ there.rotation)) <= 1e-4


def test_rows_that_are_free_stay_free_and_other_constraints_keep_their_values() -> None:
    position = Implicit.equal(Position(ARM, "tool"), name="tool")
    posture = Implicit.equal(Orientation(ARM, "tool"), mask=[0, 0, 1], name="spin")
    problem = Problem(ARM, [position, posture])
    targets = straight_line(problem, Q, position, [0.0, 0.0, -1.0], 0.1)
    first = tool(Q)
    assert np.abs(targets.at(1.0).of("tool") - (first.translation - 0.1 * first.rotation[:, 2])).max() < 1e-12
    assert np.array_equal(targets.at(1.0).of("spin"), problem.rhs_from(Q).of("spin"))
    up = straight_line(problem, Q, 0, [0.0, 0.0, 5.0], 0.1, of_reference=True)
    assert np.abs(up.at(0.5).of("tool") - first.translation - [0.0, 0.0, 0.05]).max() < 1e-12


def test_an_approach_is_a_retreat_run_backwards_and_ends_at_the_grasp() -> None:
    problem = Problem(ARM, [Implicit.equal(Pose(ARM, "tool"), name="tool")])
    retreat = follow(problem, straight_line(problem, Q, "tool", [0, 0, -1], 0.1), Q, rng=np.random.default_rng(0))
    approach = retreat.or_raise().reversed()
    assert np.array_equal(approach.end, Q)
    assert abs(np.linalg.norm(tool(approach.start).translation - tool(Q).translation) - 0.1) < 2e-4


def test_bad_arguments_are_named() -> None:
    problem = Problem(
        ARM, [Implicit.equal(Pose(ARM, "tool"), name="tool"), Implicit.zero(Position(ARM, "tool"), name="z")]
    )
    spin = Problem(ARM, [Implicit.equal(Orientation(ARM, "tool"), name="spin")])
    anything: Any = 3
    cases: list[tuple[type[Exception], str, tuple[Any, ...]]] = [
        (WrongObjectError, "problem", (anything, Q, "tool", [1, 0, 0], 0.1)),
        (SizeError, "q", (problem, Q[1:], "tool", [1, 0, 0], 0.1)),
        (UnknownNameError, "hand", (problem, Q, "hand", [1, 0, 0], 0.1)),
        (WrongObjectError, "Pose or a Position", (spin, Q, "spin", [1, 0, 0], 0.1)),
        (OptionError, "direction", (problem, Q, "tool", [0, 0, 0], 0.1)),
        (SizeError, "direction", (problem, Q, "tool", [1, 0], 0.1)),
        (NotFiniteError, "direction", (problem, Q, "tool", [1, 0, np.nan], 0.1)),
        (OptionError, "length", (problem, Q, "tool", [1, 0, 0], 0.0)),
        (OptionError, "length", (problem, Q, "tool", [1, 0, 0], -0.1)),
        (RightHandSideError, "z", (problem, Q, "z", [1, 0, 0], 0.1)),
    ]
    for error, words, arguments in cases:
        with pytest.raises(error, match=words):
            straight_line(*arguments)
    with pytest.raises(WrongObjectError, match="of_reference"):
        straight_line(problem, Q, "tool", [1, 0, 0], 0.1, of_reference=anything)
