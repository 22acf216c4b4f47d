"""A problem in the making, for `make_problems.py`: robot, objects, a configuration, constraints that hold there."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin
from checking import assembled
from numpy.typing import NDArray

from constraints.robot.files.packages import find_resource

Row = dict[str, Any]
Vector = NDArray[np.float64]

SEED = 20261122
HERE = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
ROBOTS = "package://example-robot-data/robots"
FILES = {
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "borinot": "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "centauro": "centauro_description/urdf/centauro.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "icub": "icub_description/robots/icub_reduced.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "romeo": "romeo_description/urdf/romeo_small.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "solo": "solo_description/robots/solo12.urdf",
    "tiago": "tiago_description/robots/tiago_no_hand.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "ur10": "ur_description/urdf/ur10_joint_limited_robot.urdf",
    "xarm": "xarm_description/urdf/xarm7.urdf",
}
STANDING = {
    "anymal": ("anymal_b_simple_description/srdf/anymal-kinova.srdf", "standing_with_arm_up"),
    "centauro": ("centauro_description/srdf/centauro.srdf", "homing_nominal"),
    "go2": ("go2_description/srdf/go2.srdf", "standing"),
    "hyq": ("hyq_description/srdf/hyq.srdf", "standing"),
    "icub": ("icub_description/srdf/icub.srdf", "half_sitting"),
    "romeo": ("romeo_description/srdf/romeo_small.srdf", "half_sitting"),
    "solo": ("solo_description/srdf/solo.srdf", "standing"),
}
"""File and name of a standing configuration."""
BENT = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
"""Legs of a humanoid that comes without one [rad]: feet level under the hips."""
BOX = "<robot name='box'><link name='base_link'/></robot>"
ROOM = 2.0
"""Free bodies stay within a cube of this half side around the origin [m]."""
TILT = [0, 0, 0, 1, 1, 0]


class Scene:
    """One problem in the making.

    Args:
        name: of the problem.
        models: as in a problem file; the first one is the robot, whose prefix names have by themselves.
    """

    def __init__(self, name: str, models: list[Any]) -> None:
        self.name, self.robot, self.models = name, models[0][0], models
        self.model = assembled(models)
        self.data = self.model.createData()
        self.rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
        self.lower, self.upper = self._bounds()
        self.qref: Vector = pin.neutral(self.model)
        self.constraints: list[Row] = []

    def _bounds(self) -> tuple[Vector, Vector]:
        """Those of the URDF, and ROOM for free bodies."""
        lower, upper = self.model.lowerPositionLimit.copy(), self.model.upperPositionLimit.copy()
        for joint in list(self.model.joints)[1:]:
            block = slice(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq != joint.nv:
                free = {7: 3, 4: 2, 2: 0}[joint.nq]
                upper[block] = [ROOM] * free + [1.01] * (joint.nq - free)
                lower[block] = -upper[block]
        return lower, upper

    def joints(self, pattern: str) -> list[str]:
        """Joints whose name without prefix has the pattern."""
        return [name for name in list(self.model.names)[1:] if re.search(pattern, name.split("/", 1)[1])]

    def block(self, joint: str) -> slice:
        at = self.model.joints[self.model.getJointId(joint)]
        return slice(at.idx_q, at.idx_q + at.nq)

    def draw(self, pattern: str = "") -> None:
        """Joints of qref in the middle four fifths of their bounds, cut to a turn; free bodies stay."""
        for name in self.joints(pattern):
            block = self.block(name)
            size = block.stop - block.start
            if size == 1:
                low, high = max(self.lower[block][0], -np.pi), min(self.upper[block][0], np.pi)
                self.qref[block] = self.rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low))
            elif size in (2, 4):  # the place of a planar root, then an angle
                angle = self.rng.uniform(-np.pi, np.pi)
                self.qref[block] = [*self.rng.uniform(-1.0, 1.0, size - 2), np.cos(angle), np.sin(angle)]

    def stand(self) -> None:
        """The robot stands as its SRDF says, clipped to its bounds, or on bent legs."""
        if self.robot in STANDING:
            path, state = STANDING[self.robot]
            alone = pin.buildModelFromUrdf(str(find_resource(self.models[0][2])), pin.JointModelFreeFlyer())
            pin.loadReferenceConfigurations(alone, str(find_resource(f"{ROBOTS}/{path}")), False)
            self.qref[: alone.nq] = alone.referenceConfigurations[state]
        for pattern, angle in () if self.robot in STANDING else BENT.items():
            for name in self.joints(pattern):
                self.qref[self.block(name)] = angle
        for name in self.joints(""):
            block = self.block(name)
            if block.stop - block.start == 1:
                self.qref[block] = np.clip(self.qref[block], self.lower[block], self.upper[block])

    def pose(self, frame: str) -> Any:
        """oMf in qref."""
        pin.framesForwardKinematics(self.model, self.data, self.qref)
        return self.data.oMf[self._frame(frame)]

    def _frame(self, name: str) -> int:
        whole = name if "/" in name else f"{self.robot}/{name}"
        if not self.model.existFrame(whole, pin.FrameType.BODY):
            raise KeyError(f"{self.name}: no link '{whole}'")
        return self.model.getFrameId(whole, pin.FrameType.BODY)

    def on(self, frame: str) -> tuple[str, Any]:
        """Joint that carries a link, and the placement of the link on it."""
        entry = self.model.frames[self._frame(frame)]
        return self.model.names[entry.parentJoint], entry.placement

    # Constraints; targets are those of qref where they are not given.

    def at(self, frame: str, mask: list[int] | None = None, word: str = "EqualToZero", target: Any = None) -> None:
        """A link at a pose in the world, in some of its rows."""
        joint, placement = self.on(frame)
        wanted = self.pose(frame) if target is None else target
        self.add("transformation", mask, word, joint2=joint, frame2=numbers(placement), frame1_world=numbers(wanted))

    def between(self, frame: str, low: Vector, high: Vector, mask: list[int]) -> None:
        """Position of a link between two corners of a box in the world [m]."""
        for corner, word in ((low, "Superior"), (high, "Inferior")):
            self.at(frame, mask, word, pin.SE3(np.eye(3), corner))

    def upright(self, frame: str) -> None:
        """A link may turn about the vertical alone: what is vertical in qref stays so."""
        joint, placement = self.on(frame)
        level = pin.SE3(self.pose(frame).rotation.T, np.zeros(3))
        self.add("transformation", TILT, "EqualToZero", joint2=joint, frame2=numbers(placement * level),
                  frame1_world=HERE)  # fmt: skip

    def relative(self, one: str, other: str, mask: list[int] | None = None, kind: str = "relative_transformation",
                 grip: Any = None) -> None:  # fmt: skip
        """A link at a pose seen from another one: that of qref, or `grip`."""
        (joint1, M1), (joint2, M2) = self.on(one), self.on(other)
        seen = self.pose(one).actInv(self.pose(other)) if grip is None else grip
        frames = {"frame1": numbers(M1 * seen), "frame2": numbers(M2)}
        self.add(kind, mask, "EqualToZero", joint1=joint1, joint2=joint2, **frames)

    def balanced(self, foot: str) -> None:
        """Centre of mass over a foot where qref has it, of the bodies that hpp-constraints counts: those up to the
        last joint that hangs on the root. The two axes of the foot's joint count that are nearest to the horizontal.
        """
        joint, _ = self.on(foot)
        parents = list(self.model.parents)
        last = max(i for i, parent in enumerate(parents) if parent == 1)
        pin.forwardKinematics(self.model, self.data, self.qref)
        masses = np.array([self.model.inertias[i].mass for i in range(1, last + 1)])
        centres = np.array([self.data.oMi[i].act(self.model.inertias[i].lever) for i in range(1, last + 1)])
        oMj = self.data.oMi[self.model.getJointId(joint)]
        mask = [1, 1, 1]
        mask[int(np.abs(oMj.rotation[2]).argmax())] = 0
        reference = oMj.actInv(masses @ centres / masses.sum())
        self.add("relative_com", mask, "EqualToZero", joint=joint, reference=reference.tolist(), com_joints=[1, last])

    def lock(self, pattern: str) -> None:
        """Joints held where qref has them."""
        for name in self.joints(pattern):
            self.constraints.append({
                "kind": "locked_joint", "joint": name, "value": self.qref[self.block(name)].tolist(),
                "comparison": ["Equality"], "priority": 0,
            })  # fmt: skip

    def add(self, kind: str, mask: list[int] | None = None, word: str = "EqualToZero", **given: Any) -> None:
        """A constraint, with further entries of its kind."""
        mask = [1] * 6 if mask is None else mask
        rows = {"mask": mask, "comparison": [word] * sum(mask), "priority": 0}
        self.constraints.append({"kind": kind, **given, **rows})

    def description(self, doc: str, sampler: list[Any]) -> Row:
        """The JSON of the problem."""
        return {
            "name": self.name, "doc": doc, "models": self.models, "joints": list(self.model.names), "nq": self.model.nq,
            "nv": self.model.nv, "lower": self.lower.tolist(), "upper": self.upper.tolist(),
            "qref": self.qref.tolist(), "sampler": sampler, "constraints": self.constraints,
        }  # fmt: skip


def models_of(robot: str, root: str = "anchor", objects: Iterable[str] = ()) -> list[Any]:
    """Models of a key of FILES, which is the prefix too, with its root joint; and a free box of each other prefix."""
    return [[robot, root, f"{ROBOTS}/{FILES[robot]}", HERE], *([prefix, "freeflyer", BOX, HERE] for prefix in objects)]


def numbers(M: Any) -> list[float]:
    """Translation and quaternion xyzw."""
    return pin.SE3ToXYZQUAT(M).tolist()
