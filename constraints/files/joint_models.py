"""A pinocchio model as plain data, and back: joints, placements, inertias, limits, frames, to the last bit.

The data are lists, numbers and texts alone. Reading them calls constructors of pinocchio with checked numbers, never a
reader of pinocchio's own archives, so that a file from anywhere can be read. What pinocchio 4.1 keeps in a model and
shows nobody (limits of accelerations and jerks, infinite in every model from a file) is not in the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ..errors import ModelError
from ..robot.model.joints import COMPOSITE, JOINT_TYPES, LIMITS_OF_Q, LIMITS_OF_V, joint_axis, joint_whole, type_name
from ..robot.model.pinocchio import Model, Placement, pin
from .json_values import MOST_COORDINATES, JsonValue

_TYPES = (*JOINT_TYPES, COMPOSITE)
_FRAMES = ("OP_FRAME", "JOINT", "FIXED_JOINT", "BODY", "SENSOR")

_LIMITS = (*LIMITS_OF_Q, *LIMITS_OF_V)


def placement_data(placement: Placement) -> dict[str, Any]:
    """A placement as its rotation matrix, row by row, and its translation [m]."""
    return {"rotation": placement.rotation.tolist(), "translation": placement.translation.tolist()}


def placement_from_data(data: JsonValue) -> Placement:
    """The placement of `placement_data`.

    Raises:
        FileContentError: it is none, or its rotation is not orthonormal to 1e-6.
    """
    data.only("rotation", "translation")
    R = data.entry("rotation").matrix(3)
    p = data.entry("translation").vector(3)
    if R.shape != (3, 3):
        data.entry("rotation").refuse(f"expected three rows, got {R.shape[0]}")
    R_is_small = np.abs(R).max() < 2.0  # so that no product overflows
    if not R_is_small or np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
        data.entry("rotation").refuse("expected a rotation matrix, its rows are not orthonormal and right-handed")
    return pin.SE3(R, p)


def model_data(model: Model) -> dict[str, Any]:
    """The model as data that `model_from_data` takes.

    Raises:
        ModelError: a joint has a type that the data do not hold.
    """
    m: Any = model
    return {
        "name": str(m.name),
        "gravity": m.gravity.vector.tolist(),
        "bodies": int(m.nbodies),
        "joints": [
            {
                "name": str(m.names[i]),
                "parent": int(m.parents[i]),
                **_joint_data(m.joints[i], str(m.names[i])),
                "placement": placement_data(m.jointPlacements[i]),
            }
            for i in range(1, m.njoints)
        ],
        "inertias": [_inertia_data(inertia) for inertia in m.inertias],
        "frames": [
            {
                "name": str(frame.name),
                "type": frame.type.name,
                "joint": int(frame.parentJoint),
                "previous": int(frame.parentFrame),
                "placement": placement_data(frame.placement),
                "inertia": _inertia_data(frame.inertia),
            }
            for frame in list(m.frames)[1:]
        ],
        "limits": {name: np.asarray(getattr(m, name)).tolist() for name in _LIMITS},
        "postures": {entry.key(): entry.data().tolist() for entry in m.referenceConfigurations},
    }


def model_from_data(data: JsonValue) -> Model:
    """The model of `model_data`.

    Raises:
        FileContentError: something in the data is wrong; its place is named.
    """
    data.only("name", "gravity", "bodies", "joints", "inertias", "frames", "limits", "postures")
    model: Any = pin.Model()
    model.name = data.entry("name").text()
    model.gravity = pin.Motion(data.entry("gravity").vector(6))
    for i, joint in enumerate(data.entry("joints").items(MOST_COORDINATES), start=1):
        parent = joint.entry("parent").integer(0, i - 1)
        kind = _joint(joint.without("name", "parent", "placement"))
        place = placement_from_data(joint.entry("placement"))
        joint.build(model.addJoint, parent, kind, place, joint.entry("name").text())
    if model.nq > MOST_COORDINATES:
        data.entry("joints").refuse(f"have {model.nq} coordinates; expected at most {MOST_COORDINATES}")
    inertias = data.entry("inertias").items()
    if len(inertias) != model.njoints:
        data.entry("inertias").refuse(f"expected {model.njoints}, the world's first, got {len(inertias)}")
    for _ in range(1, data.entry("bodies").integer(1, 10 * MOST_COORDINATES)):
        model.appendBodyToJoint(0, pin.Inertia.Zero(), pin.SE3.Identity())  # counts bodies; all inertias come next
    for i, inertia in enumerate(inertias):
        model.inertias[i] = _inertia(inertia)
    for i, frame in enumerate(data.entry("frames").items(), start=1):
        _add_frame(model, frame, i)
    limits = data.entry("limits").only(*_LIMITS)
    for name in _LIMITS:
        setattr(model, name, limits.entry(name).vector(getattr(model, name).size, finite=False))
    for name, posture in data.entry("postures").entries():
        model.referenceConfigurations[name] = posture.vector(model.nq)
    return model


def _add_frame(model: Any, data: JsonValue, i: int) -> None:
    data.only("name", "type", "joint", "previous", "placement", "inertia")
    kind = getattr(pin.FrameType, data.entry("type").word(_FRAMES))
    joint, previous = data.entry("joint").integer(0, model.njoints - 1), data.entry("previous").integer(0, 2**31)
    place, inertia = placement_from_data(data.entry("placement")), _inertia(data.entry("inertia"))
    frame = data.build(pin.Frame, data.entry("name").text(), joint, previous, place, kind, inertia)
    if data.build(model.addFrame, frame, False) != i:
        data.refuse("is a second frame with this name and type")


# Inertias


def _inertia_data(inertia: Any) -> list[float]:
    """Mass, lever and the upper triangle of the tensor at the centre, in one row of ten numbers."""
    tensor = np.asarray(inertia.inertia)
    return [float(inertia.mass), *inertia.lever.tolist(), *tensor[np.triu_indices(3)].tolist()]


def _inertia(data: JsonValue) -> Any:
    numbers = data.vector(10)
    tensor = np.zeros((3, 3))
    tensor[np.triu_indices(3)] = numbers[4:]
    tensor[np.tril_indices(3)] = tensor.T[np.tril_indices(3)]
    return data.build(pin.Inertia, float(numbers[0]), numbers[1:4], tensor)


# Joints: pinocchio's name for the type, and its numbers.


def _joint_data(joint: Any, name: str) -> dict[str, Any]:
    kind, whole = type_name(joint), joint_whole(joint)
    data: dict[str, Any] = {"type": kind}
    if kind not in _TYPES:
        raise ModelError(f"joint '{name}' has the type {kind}, which files cannot contain")
    if kind == COMPOSITE:
        data["parts"] = [
            {**_joint_data(part, name), "placement": placement_data(place)}
            for part, place in zip(whole.joints, whole.jointPlacements, strict=True)
        ]
        return data
    return data | {entry: held(whole) for entry, (held, _) in _NUMBERS.items() if entry in JOINT_TYPES[kind].numbers}


def _joint(data: JsonValue, depth: int = 0) -> Any:
    """The joint model of `_joint_data`."""
    kind = data.entry("type").word(_TYPES)
    if kind == COMPOSITE:
        return _composite(data.only("type", "parts"), depth)
    names = JOINT_TYPES[kind].numbers
    data.only("type", *names)
    numbers = [number for entry in names for number in _NUMBERS[entry][1](data.entry(entry))]
    return data.build(_continuous if kind == _CONTINUOUS else getattr(pin, f"JointModel{kind}"), *numbers)


def _composite(data: JsonValue, depth: int) -> Any:
    if depth > 4:
        data.refuse("composite joints in composite joints, more than 4 levels deep")
    whole = pin.JointModelComposite()
    parts = data.entry("parts").items(MOST_COORDINATES)
    if not parts:
        data.entry("parts").refuse("expected at least one joint")
    for part in parts:
        kind = _joint(part.without("placement"), depth + 1)
        part.build(whole.addJoint, kind, placement_from_data(part.entry("placement")))
    return whole


def _unit(data: JsonValue) -> Vector:
    axis = data.vector(3)
    if np.abs(axis).max() > 2.0 or abs(float(axis @ axis) - 1.0) > 1e-6:
        data.refuse("expected an axis of norm 1")
    return axis


def _axes(data: JsonValue) -> tuple[Vector, Vector]:
    axes = data.items()
    if len(axes) != 2:
        data.refuse(f"expected two axes, got {len(axes)}")
    first, second = _unit(axes[0]), _unit(axes[1])
    if abs(float(first @ second)) > 1e-6:
        data.refuse("expected two axes at right angles")
    return first, second


_NUMBERS: dict[str, tuple[Callable[[Any], Any], Callable[[JsonValue], Iterable[Any]]]] = {
    "pitch": (lambda joint: float(joint.pitch), lambda data: [data.number()]),
    "axis": (lambda joint: joint_axis(joint).tolist(), lambda data: [_unit(data)]),
    "axes": (lambda joint: [joint.axis1.tolist(), joint.axis2.tolist()], _axes),
    "radii": (
        lambda joint: [float(joint.radius_x), float(joint.radius_y), float(joint.radius_z)],
        lambda data: data.vector(3).tolist(),
    ),
}
"""Entries of a joint beside "type": how they are read off a joint model, and what of them its constructor is given."""

_CONTINUOUS = "RevoluteUnboundedUnaligned"


def _continuous(axis: Vector) -> Any:
    """A continuous joint about any axis.

    Pinocchio makes one from a URDF alone, and normalises the axis again, which moves its last bits. The bits of the
    file are put into the archive that pinocchio writes of such a joint: of our numbers, never of the file's text.
    """
    whole: Any = pin.buildModelFromXML(_WHEEL)
    old = joint_axis(joint_whole(whole.joints[1]))
    if not np.array_equal(old, axis):
        text, written = whole.saveToString(), " ".join(f"{x:.17e}" for x in old.tolist())
        if text.count(written) != 1:
            raise ModelError("this version of pinocchio stores joints in another format: an axis cannot be set")
        whole.loadFromString(text.replace(written, " ".join(f"{x:.17e}" for x in axis.tolist())))
    return whole.joints[1]


_WHEEL = (
    "<robot name='wheel'><link name='a'/><link name='b'/><joint name='turn' type='continuous'><parent link='a'/>"
    "<child link='b'/><axis xyz='0.48 0.6 0.64'/></joint></robot>"
)
