"""Stored results of crocoddyl's contact dynamics (`tests/data/crocoddyl`), and the models they are of."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Robot
from constraints.loops import Axes, Baumgarte, ConstraintSet, Form, PointContact, SurfaceContact

DATA = Path(__file__).resolve().parent / "data" / "crocoddyl"
ROBOTS = ("anymal", "talos_legs")
SOLES = {"anymal": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"), "talos_legs": ("left_sole_link", "right_sole_link")}
"""Contact frames."""


def _placement(numbers: dict[str, Any]) -> pin.SE3:
    return pin.SE3(np.array(numbers["R"]), np.array(numbers["p"]))


@functools.cache
def model_of(name: str) -> Any:
    """The pinocchio model, rebuilt."""
    stored = json.loads((DATA / f"model_{name}.json").read_text(encoding="utf-8"))
    model = pin.Model()
    model.name = stored["name"]
    for joint in stored["joints"]:
        kind = joint["kind"]
        if "Unaligned" in kind:
            axis = np.array(joint["S"])[slice(3, 6) if "Revolute" in kind else slice(0, 3)]
            made = getattr(pin, kind)(axis)
        else:
            made = getattr(pin, kind)()
        i = model.addJoint(joint["parent"], made, _placement(joint["placement"]), joint["name"])
        body = pin.Inertia(joint["mass"], np.array(joint["lever"]), np.array(joint["inertia"]))
        model.appendBodyToJoint(i, body, pin.SE3.Identity())
    for frame in stored["frames"]:
        at = _placement(frame["placement"])
        model.addFrame(pin.Frame(frame["name"], frame["parent_joint"], 0, at, pin.FrameType.OP_FRAME))
    model.gravity.linear = np.array(stored["gravity"])
    model.armature = np.array(stored["armature"])
    return model


@functools.cache
def robot_of(name: str) -> Robot:
    """The robot."""
    return Robot(model_of(name), name)


@functools.cache
def _arrays(name: str) -> dict[str, Any]:
    with np.load(DATA / f"{name}.npz") as stored:
        return {key: stored[key] for key in stored.files}


@dataclass(frozen=True, eq=False)
class ContactCase:
    """One stored case of contact dynamics: inputs, results, and the same constraint set.

    Attributes:
        name, seed: of the case.
        robot: its robot.
        rows: contacts in the order of the stack, in the form RATES, with their gains.
        damping, armature: of the case.
    """

    name: str
    seed: int
    robot: Robot
    rows: ConstraintSet
    damping: float
    armature: float

    def stored(self, field: str) -> Any:
        """A stored array."""
        return _arrays(self.robot.name)[f"{self.name}.{self.seed}.{field}"]

    @property
    def tau(self) -> Any:
        """Joint forces of the stored controls: none on the floating base."""
        u = self.stored("u")
        return np.concatenate([np.zeros(self.robot.nv - u.size), u])


def contact_cases() -> Iterator[ContactCase]:
    """All stored cases of contacts of three or six rows."""
    table = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["cases"]
    for name, case in table.items():
        if case["robot"] not in ROBOTS or not {kind for _, kind in case["contacts"]} <= {"3D", "6D"}:
            continue
        for seed in case["seeds"]:
            yield _case(name, case, int(seed))


def _case(name: str, case: dict[str, Any], seed: int) -> ContactCase:
    robot = robot_of(case["robot"])
    refs = _arrays(robot.name)[f"{name}.{seed}.refs"]
    axes = Axes.LOCAL if case["type"] == "LOCAL" else Axes.LOCAL_WORLD_ALIGNED
    owners: list[Any] = []
    for (frame, kind), ref in zip(case["contacts"], refs, strict=True):
        if frame in case["inactive"]:
            continue
        anchor = pin.SE3(ref)
        if kind == "6D":
            owners.append(SurfaceContact(robot, frame, anchor=anchor, axes=axes, form=Form.RATES, name=frame))
        else:
            at = anchor.translation
            owners.append(PointContact(robot, frame, anchor=at, axes=axes, form=Form.RATES, name=frame))
    owners.sort(key=lambda owner: owner.name)
    rows = ConstraintSet(robot, owners).stabilised(Baumgarte(*case["gains"]))
    return ContactCase(name, seed, robot, rows, case["damping"], case["armature"])
