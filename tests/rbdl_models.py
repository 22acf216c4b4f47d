"""The models of RBDL's reference results, built in pinocchio, with their constraints as they are given here."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Frame, Function, Implicit, Robot, Rotation
from constraints.loops import Closure, ConstraintSet, Hinge, PointClosure, PointContact
from constraints.rows import RowOwner
from liegroups import SO3, Rn

DATA = Path(__file__).parent / "data" / "rbdl.json"
DYNAMICS = DATA.with_name("rbdl_dynamics.json")


@functools.cache
def data() -> Any:
    return json.loads(DATA.read_text())


@functools.cache
def dynamics() -> Any:
    """Reference results of dynamics: made by `data/rbdl_dynamics.py`."""
    return json.loads(DYNAMICS.read_text())


def entry(name: str) -> Any:
    """A file, with its model."""
    for part in (data()["models"], data()["loops"], dynamics()):
        if name in part:
            return part[name]
    raise KeyError(name)


def placement(d: Any) -> pin.SE3:
    return pin.SE3(np.array(d["R"], dtype=float), np.array(d["p"], dtype=float))


def model_of(d: Any) -> Any:
    """A pinocchio model of the bodies of one file."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(d["gravity"], dtype=float), np.zeros(3))
    index = {-1: 0}
    for i, body in enumerate(d["bodies"]):
        joint, axis = body["joint"], np.array(body["joint"]["axis"], dtype=float)
        made = {
            "R": lambda axis=axis: pin.JointModelRevoluteUnaligned(axis),
            "P": lambda axis=axis: pin.JointModelPrismaticUnaligned(axis),
            "TXYZ": pin.JointModelTranslation,
            "EulerZYX": pin.JointModelSphericalZYX,
            "Spherical": pin.JointModelSpherical,
        }[joint["type"]]()
        index[i] = model.addJoint(index[body["parent"]], made, placement(body["placement"]), body["name"])
        inertia = pin.Inertia(
            body["mass"], np.array(body["com"], dtype=float), np.array(body["inertia_com"], dtype=float)
        )
        model.appendBodyToJoint(index[i], inertia, pin.SE3.Identity())
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = -np.inf, np.inf
    return model


@functools.cache
def robot_of(name: str) -> Robot:
    return Robot(model_of(entry(name)["model"]), name)


def frames_of(robot: Robot, row: Any) -> tuple[Frame, Frame]:
    a, b = row["predecessor"] + 1, row["successor"] + 1
    names = list(robot.model.names)
    return (
        Frame("predecessor", a, placement(row["frame_predecessor"]), names[a]),
        Frame("successor", b, placement(row["frame_successor"]), names[b]),
    )


class SineRow:
    """RBDL's rotation row as a row of one's own, with its exact derivative: w . vee(R - R^T) / 2.

    It is zero at half turns too, and the reference states of the slider crank are such: no closure has this row.
    """

    def __init__(self, axis: Any) -> None:
        self.axis = axis

    def of(self, A: Any) -> float:
        return float(self.axis @ [A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / 2.0

    def __call__(self, quaternion: Any) -> Any:
        return [self.of(pin.Quaternion(quaternion).matrix())]

    def jacobian(self, quaternion: Any) -> Any:
        R = pin.Quaternion(quaternion).matrix()
        return np.array([[self.of(R @ pin.skew(w)) for w in np.eye(3)]])


def set_of(name: str) -> ConstraintSet:
    """The loops of a model: closures where the rows leave a hinge; one rotation row alone is a row of one's own."""
    robot = robot_of(name)
    d = entry(name)
    groups: dict[Any, list[Any]] = {}
    for row in d["model"]["constraint_rows"]:
        groups.setdefault((row["predecessor"], row["successor"]), []).append(row)
    owners: list[RowOwner] = []
    for rows in groups.values():
        a, b = frames_of(robot, rows[0])
        axes = np.array([[*row["axis_ang_lin"][3:], *row["axis_ang_lin"][:3]] for row in rows], dtype=float)
        turning = np.abs(axes[:, 3:]).sum(axis=1) > 0.5
        label = f"loop {len(owners)}"
        if turning.sum() == 1:
            owners.append(PointClosure(robot, a, b, name=label))
            row = SineRow(axes[turning][0, 3:])
            rotation = Function.from_callable(row, SO3, Rn(1), row.jacobian, name="sine") @ Rotation(
                robot, b, reference=a
            )
            owners.append(Implicit.zero(rotation, name=f"{label} rotation"))
        else:
            owners.append(Closure.along(robot, a, b, axes, name=label))
    return ConstraintSet(robot, owners)


def contacts_of(name: str) -> ConstraintSet:
    """The contacts of a model, one for each row, in order."""
    robot = robot_of(name)
    owners: list[RowOwner] = []
    for i, row in enumerate(entry(name)["model"]["constraint_rows"]):
        j = row["body"] + 1
        point = Frame(row["name"], j, pin.SE3(np.eye(3), np.array(row["point"])), str(robot.model.names[j]))
        owners.append(PointContact(robot, point, np.array(row["normal_world"], dtype=float), name=f"{row['name']} {i}"))
    return ConstraintSet(robot, owners)


LINKAGE_CLOSED = np.pi * np.array([0.75, -0.5, 0.25, 0.5, -0.5])


@functools.cache
def linkage() -> ConstraintSet:
    """RBDL's test linkage: two chains of 2 m links from the origin, all about z, the last body held in x, y and angle.

    Its rotation row leaves two rotations free, which only a planar mechanism allows: here all of them are held.
    """
    model = pin.Model()
    body = pin.Inertia(2.0, np.array([1.0, 0.0, 0.0]), np.diag([1e-9, 1e-9, 8.0 / 3.0]))
    step = pin.SE3(np.eye(3), np.array([2.0, 0.0, 0.0]))
    parent = [0, 1, 0, 3, 4]
    for i in range(5):
        joint = model.addJoint(parent[i], pin.JointModelRZ(), pin.SE3.Identity() if i in (0, 2) else step, f"j{i}")
        if i < 4:
            model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = -np.inf, np.inf
    robot = Robot(model, "linkage")
    tip = Frame("tip", 2, step, "j1")
    return ConstraintSet(robot, [Closure(robot, tip, "j4", Hinge.slider([0.0, 0.0, 1.0]), name="loop")])
