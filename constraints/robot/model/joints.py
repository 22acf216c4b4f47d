"""The joint types of pinocchio, in one table: their groups, which of their coordinates are angles, their words."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn, Space
from liegroups.arrays import BoolVector, Vector

from ...errors import ModelError
from .pinocchio import Model, pin

FULL_TURN = 2 * np.pi - 1e-6
"""A revolute joint whose range is at least this may be shifted by whole turns [rad]."""


class Angle(Enum):
    """What the coordinates of a joint are, where they are numbers and not unit vectors."""

    NONE = "lengths, or no numbers"
    TURN = "angles, for which a full turn changes nothing"
    SCREW = "an angle and a length at once"


class JointType(NamedTuple):
    """A type of joint; its sizes nq and nv are those of its group.

    Attributes:
        name: pinocchio's, without "JointModel"; files call it so.
        word: what messages call it.
        space: group of its coordinates.
        angle: whether these are angles stored as one number.
        axis: the coordinate axis it is along, where the type says it: "X", "Y" or "Z".
        numbers: what makes one, in the order of pinocchio's constructor and under the names that files use: "axis"
            (3,), "pitch" [m/rad], "axes" (two of them), "radii" (3,) [m].
    """

    name: str
    word: str
    space: Space
    angle: Angle = Angle.NONE
    axis: str = ""
    numbers: tuple[str, ...] = ()


JOINT_TYPES = {
    joint.name: joint
    for joint in (
        *(JointType(f"R{axis}", "revolute", Rn(1), Angle.TURN, axis) for axis in "XYZ"),
        *(JointType(f"RUB{axis}", "continuous", SO2, Angle.NONE, axis) for axis in "XYZ"),
        *(JointType(f"P{axis}", "prismatic", Rn(1), Angle.NONE, axis) for axis in "XYZ"),
        JointType("Planar", "planar", SE2),
        JointType("Spherical", "spherical", SO3),
        JointType("SphericalZYX", "spherical zyx", Rn(3), Angle.TURN),
        JointType("FreeFlyer", "free-flyer", SE3),
        JointType("Translation", "translation", Rn(3)),
        *(JointType(f"H{axis}", "helical", Rn(1), Angle.SCREW, axis, ("pitch",)) for axis in "XYZ"),
        JointType("RevoluteUnaligned", "revolute", Rn(1), Angle.TURN, numbers=("axis",)),
        JointType("PrismaticUnaligned", "prismatic", Rn(1), numbers=("axis",)),
        JointType("RevoluteUnboundedUnaligned", "continuous", SO2, numbers=("axis",)),
        JointType("HelicalUnaligned", "helical", Rn(1), Angle.SCREW, numbers=("axis", "pitch")),
        JointType("Universal", "universal", Rn(2), Angle.TURN, numbers=("axes",)),
        JointType("Ellipsoid", "ellipsoid", Rn(3), Angle.TURN, numbers=("radii",)),
    )
}
"""The types by pinocchio's name. A new one is a line; a composite joint (`COMPOSITE`) is made of them."""

COMPOSITE = "Composite"
"""Pinocchio's name of a joint that is several ones after each other."""

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def type_name(joint: Any) -> str:
    """Pinocchio's name for the type of a joint model, without "JointModel"."""
    return str(joint.shortname()).removeprefix("JointModel").removesuffix("Tpl")


def joint_whole(joint: Any) -> Any:
    """The joint model itself, with the numbers that make it, where a model holds it as one of any type."""
    return joint.extract() if hasattr(joint, "extract") else joint


def joint_axis(joint: Any) -> Vector:
    """Axis (3,) of a joint along any; pinocchio shows that of a continuous joint in its motion subspace alone."""
    if type_name(joint) != "RevoluteUnboundedUnaligned":
        return np.asarray(joint.axis, dtype=np.float64)
    memory = joint.createData()
    joint.calc(memory, np.array([1.0, 0.0]))
    return np.array(memory.S, dtype=np.float64).ravel()[3:]


def joint_space(joint: Any, name: str) -> Space:
    """Group of a pinocchio joint model.

    Raises:
        ModelError: the joint follows another one (a mimic joint), or its type is unknown here; `name` and type are
            named.
    """
    kind = type_name(joint)
    if kind == COMPOSITE:
        return ProductSpace([joint_space(part, name) for part in joint_whole(joint).joints])
    if kind in JOINT_TYPES:
        return JOINT_TYPES[kind].space
    if "Mimic" in kind:
        raise ModelError(
            f"joint '{name}' is a pinocchio mimic joint: build the model with mimic=False, so that both joints are "
            "independent, and let a constraint couple them"
        )
    raise ModelError(f"joint '{name}' has the type {kind}, which this library does not know")


def joint_kind(joint: Any) -> str:
    """Words for the type of a pinocchio joint model: "revolute z", "revolute -y", "prismatic (0.6, 0, 0.8)"."""
    if type_name(joint) == COMPOSITE:
        return f"composite ({', '.join(joint_kind(part) for part in joint_whole(joint).joints)})"
    kind = JOINT_TYPES[type_name(joint)]
    return f"{kind.word} {_axis_word(joint) if 'axis' in kind.numbers else kind.axis.lower()}".rstrip()


def _axis_word(joint: Any) -> str:
    """The axis of a joint along any: "-y", or its three numbers."""
    axis = joint_axis(joint_whole(joint))
    opposite = next((letter for letter, along in AXES.items() if np.array_equal(-axis, along)), "")
    return f"-{opposite.lower()}" if opposite else f"({', '.join(f'{x:z.3g}' for x in axis.tolist())})"


def joint_along(word: str, direction: Vector, *pitch: float) -> Any:
    """The pinocchio joint model of a word along an axis: the aligned type where it is a coordinate axis to the bit.

    Args:
        word: "revolute", "prismatic" or "helical".
        direction: unit axis (3,).
        pitch: of a helical joint [m/rad].
    """
    axis = next((letter for letter, along in AXES.items() if np.array_equal(direction, along)), "")
    kind = next(kind for kind in JOINT_TYPES.values() if (kind.word, kind.axis) == (word, axis))
    return getattr(pin, f"JointModel{kind.name}")(*(() if axis else (direction,)), *pitch)


LIMITS_OF_Q = ("lowerPositionLimit", "upperPositionLimit", "positionLimitMargin")
LIMITS_OF_V = (
    *("lowerVelocityLimit", "upperVelocityLimit", "lowerEffortLimit", "upperEffortLimit"),
    *("lowerDryFrictionLimit", "upperDryFrictionLimit", "damping", "armature", "rotorInertia", "rotorGearRatio"),
)
"""The vectors of a model that have an entry a coordinate, or a tangent coordinate, under pinocchio's names."""


def copied_joint(source: Any, i: int, model: Any, parent: int, placement: Any, other: Any = None) -> int:
    """Add joint i of a model to another one, with its inertia and limits; its index there.

    Args:
        source: the model that has it.
        i: its index there.
        model: to be added to.
        parent, placement: where it goes.
        other: a joint model that takes its place, without limits.
    """
    old = source.joints[i]
    index = int(model.addJoint(parent, old if other is None else other, placement, source.names[i]))
    model.appendBodyToJoint(index, source.inertias[i], pin.SE3.Identity())
    if other is None:
        new = model.joints[index]
        for names, a, b, n in (
            (LIMITS_OF_Q, old.idx_q, new.idx_q, old.nq),
            (LIMITS_OF_V, old.idx_v, new.idx_v, old.nv),
        ):
            for name in names:
                getattr(model, name)[b : b + n] = getattr(source, name)[a : a + n]
    return index


def radian_columns(model: Model) -> BoolVector:
    """Mask (nv,) of the tangent columns that are an angle stored as one number in q [rad].

    Those of revolute, helical, universal, ellipsoid and ZYX joints, inside composite joints too.
    """
    return _columns(model, Angle.TURN, Angle.SCREW)


def angular_columns(model: Model) -> BoolVector:
    """Mask (nv,) of the angles stored as one number of which a whole turn changes nothing: all but those of helices."""
    return _columns(model, Angle.TURN)


def _columns(model: Model, *angles: Angle) -> BoolVector:
    found = [column for i in range(1, model.njoints) for column in _are(model.joints[i], angles)]
    return np.array(found, dtype=np.bool_)


def _are(joint: Any, angles: tuple[Angle, ...]) -> list[bool]:
    """Whether each coordinate of a joint is one of these."""
    if type_name(joint) == COMPOSITE:
        return [column for part in joint_whole(joint).joints for column in _are(part, angles)]
    return [JOINT_TYPES[type_name(joint)].angle in angles] * joint.nv
