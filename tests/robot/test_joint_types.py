"""The table of joint types: all that pinocchio makes are in it, with its sizes, or are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import joint_models

from constraints import Robot
from constraints.errors import ModelError
from constraints.files.joint_models import model_data
from constraints.robot.model.joints import (
    COMPOSITE,
    JOINT_TYPES,
    LIMITS_OF_Q,
    LIMITS_OF_V,
    Angle,
    copied_joint,
    joint_along,
    joint_kind,
    joint_space,
    type_name,
)
from constraints.robot.model.pinocchio import pin

EVERY = sorted({name.removeprefix("JointModel") for name in dir(pin) if name.startswith("JointModel")} - {""})
"""What pinocchio can make."""

SAMPLES = {type_name(joint): joint for joint in joint_models().values()}
WORDS = {"RX": "revolute x", "RUBY": "continuous y", "PZ": "prismatic z", "SphericalZYX": "spherical zyx",
         "FreeFlyer": "free-flyer"}  # fmt: skip


class Unknown:
    """A joint model of a type that a later pinocchio may have."""

    nv = 1

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shortname(self) -> str:
        return f"JointModel{self.kind}"


@pytest.mark.parametrize("kind", EVERY)
def test_every_type_of_pinocchio_is_in_the_table_or_refused_by_name(kind: str) -> None:
    if kind in JOINT_TYPES:
        row, joint = JOINT_TYPES[kind], SAMPLES[kind]
        assert joint_space(joint, "odd") is row.space
        assert (row.space.nq, row.space.nv) == (joint.nq, joint.nv)
        words = joint_kind(joint)
        if "axis" in row.numbers:
            assert words.startswith(f"{row.word} (")
        else:
            assert words == WORDS.get(kind, f"{row.word} {row.axis.lower()}".rstrip())
        assert row.angle is Angle.NONE or row.space.is_flat
    elif kind == COMPOSITE:
        assert joint_space(SAMPLES[kind], "odd").nv == SAMPLES[kind].nv
    else:
        with pytest.raises(ModelError, match=f"'odd' .*{kind.lower()}"):
            joint_space(Unknown(kind), "odd")


def test_the_table_has_no_type_that_pinocchio_does_not_make() -> None:
    assert set(JOINT_TYPES) <= set(EVERY)
    assert all(name == row.name for name, row in JOINT_TYPES.items())


def test_a_type_that_nobody_knows_is_named() -> None:
    with pytest.raises(ModelError, match="joint 'odd' has the type Telescopic, which this library does not know"):
        joint_space(Unknown("Telescopic"), "odd")


@pytest.mark.parametrize("kind", sorted(JOINT_TYPES))
def test_a_file_has_the_numbers_of_the_table_and_a_turn_is_what_it_says(kind: str) -> None:
    row = JOINT_TYPES[kind]
    model = pin.Model()
    model.addJoint(0, SAMPLES[kind], pin.SE3.Identity(), "joint")
    written = model_data(model)["joints"][0]
    assert set(written) - {"name", "parent", "placement"} == {"type", *row.numbers}
    robot = Robot(model)
    q = robot.random(np.random.default_rng(0))
    for column, entry in zip(robot.space.vector_v, robot.space.vector_q, strict=True):
        turned = q.copy()
        turned[entry] += 2.0 * np.pi
        apart = robot.at(q).placement("joint").inverse() * robot.at(turned).placement("joint")
        assert robot.space.revolute[column] == (np.abs(apart.homogeneous - np.eye(4)).max() < 1e-9)


@pytest.mark.parametrize(("word", "pitch"), [("revolute", ()), ("prismatic", ()), ("helical", (0.2,))])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (0.0, 0.0, -1.0)])
def test_a_joint_along_an_axis_moves_along_it(word: str, pitch: Any, axis: Any) -> None:
    joint = joint_along(word, np.array(axis), *pitch)
    assert (len(type_name(joint)) == 2) == (list(axis) in np.eye(3).tolist())
    memory = joint.createData()
    joint.calc(memory, np.array([0.3]))
    turning = np.array(axis) if word != "prismatic" else np.zeros(3)
    moving = np.array(axis) * (1.0 if word == "prismatic" else pitch[0] if pitch else 0.0)
    np.testing.assert_allclose(np.array(memory.S).ravel(), [*moving, *turning], atol=1e-15)


def test_a_joint_that_is_copied_keeps_its_inertia_and_all_that_is_said_of_its_coordinates() -> None:
    """In another order, where all indices differ; a joint of another type has the inertia alone."""
    model: Any = pin.Model()
    for i, joint in enumerate(
        (pin.JointModelRX(), pin.JointModelFreeFlyer(), pin.JointModelRUBZ(), pin.JointModelPY())
    ):
        model.addJoint(i, joint, pin.SE3.Identity(), f"j{i + 1}")
        model.appendBodyToJoint(i + 1, pin.Inertia.FromSphere(1.0 + i, 0.1), pin.SE3.Identity())
    numbers = np.random.default_rng(0)
    for names, n in ((LIMITS_OF_Q, model.nq), (LIMITS_OF_V, model.nv)):
        for name in names:
            setattr(model, name, numbers.uniform(1.0, 2.0, n))
    other: Any = pin.Model()
    for i in (4, 3, 2, 1):
        copied_joint(model, i, other, 0, pin.SE3.Identity())
    for i, j in ((4, 1), (3, 2), (2, 3), (1, 4)):
        old, new = model.joints[i], other.joints[j]
        assert (other.names[j], other.inertias[j]) == (model.names[i], model.inertias[i])
        for names, a, b, n in (
            (LIMITS_OF_Q, old.idx_q, new.idx_q, old.nq),
            (LIMITS_OF_V, old.idx_v, new.idx_v, old.nv),
        ):
            for name in names:
                np.testing.assert_array_equal(getattr(other, name)[b : b + n], getattr(model, name)[a : a + n])
    assert copied_joint(model, 1, other, 4, pin.SE3.Identity(), pin.JointModelSpherical()) == 5
    assert (other.inertias[5], other.joints[5].nv) == (model.inertias[1], 3)
    assert not np.any([getattr(other, name)[-3:] for name in ("damping", "armature", "upperDryFrictionLimit")])
    assert (other.upperPositionLimit[-4:] > 1e300).all()
