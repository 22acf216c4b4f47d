"""The story of `examples/pick_and_place.py`, checked by plain pinocchio and coal: nothing of the library judges it."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from planning import judge

from constraints.robot.files.packages import find_resource, robot_data_folder

TOLERANCE = 1.0e-4


@pytest.fixture(scope="module")
def example() -> Any:
    return judge.example("pick_and_place")


@pytest.fixture(scope="module")
def told(example: Any) -> Any:
    return example.story()


@pytest.fixture(scope="module")
def path(example: Any, told: Any) -> Any:
    return example.tell(told).or_raise()


class Judge:
    """The arm by its own model, the box by its seven numbers; solids by coal."""

    def __init__(self, example: Any) -> None:
        self.coal: Any = importlib.import_module("coal")
        self.example = example
        folder = robot_data_folder()
        assert folder is not None
        urdf = str(find_resource(example.ARM))
        self.model: Any = pin.buildModelFromUrdf(urdf)
        self.data = self.model.createData()
        packages = [str(folder.parent)]
        read = pin.buildGeomFromUrdf(self.model, urdf, pin.GeometryType.COLLISION, package_dirs=packages)
        self.arm = [(solid.parentJoint, solid.placement, solid.geometry) for solid in read.geometryObjects]
        self.base = pin.SE3(np.eye(3), np.array([0.0, 0.0, example.PEDESTAL]))
        width, height = example.WIDTH, example.HEIGHT
        self.box = self.coal.Box(width, width, height)
        still = [(self.coal.Box(*example.TOP), [x, y, z - 0.5 * example.TOP[2]]) for x, y, z in example.TABLES.values()]
        pedestal = example.PEDESTAL - 0.01
        still.append((self.coal.Box(0.2, 0.2, pedestal), [0.0, 0.0, 0.5 * pedestal]))
        self.still = [(solid, pin.SE3(np.eye(3), np.array(middle))) for solid, middle in still]
        tool = self.model.getFrameId("tool0")
        # The gripper's frame of the SRDF, on tool0: w x y z = 0.5 -0.5 -0.5 -0.5.
        on_tool = pin.SE3(pin.Quaternion(0.5, -0.5, -0.5, -0.5).matrix(), np.array([0.0, 0.0, 0.055]))
        self.tool = self.model.frames[tool].parentJoint, self.model.frames[tool].placement * on_tool
        down = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        self.handles = (pin.SE3(down, np.array([0.0, 0.0, 0.5 * height - 0.02])), pin.SE3.Identity())

    def place(self, q: np.ndarray) -> pin.SE3:
        """Place the arm; the pose of the box."""
        pin.forwardKinematics(self.model, self.data, q[:6])
        return pin.XYZQUATToSE3(q[6:])

    def grasp_error(self, q: np.ndarray) -> float:
        """How far the gripper is from the nearer handle, metres and radians."""
        box = self.place(q)
        joint, on_joint = self.tool
        gripper = self.base * self.data.oMi[joint] * on_joint
        relative = [gripper.actInv(box * handle) for handle in self.handles]
        return min(float(np.linalg.norm(np.r_[m.translation, pin.log3(m.rotation)])) for m in relative)

    def placement_error(self, q: np.ndarray) -> float:
        """How far the box is from standing upright on a table, at the margin above it."""
        box, half = self.place(q), 0.5 * self.example.HEIGHT
        tilt = float(np.linalg.norm(box.rotation[:2, 2]))
        errors = []
        for x, y, z in self.example.TABLES.values():
            beyond = np.abs(box.translation[:2] - [x, y]) - 0.5 * np.array(self.example.TOP[:2])
            height = box.translation[2] - half - z - self.example.MARGIN
            errors.append(float(np.linalg.norm([height, tilt, *np.maximum(beyond, 0.0)])))
        return min(errors)

    def meets(self, a: Any, at: pin.SE3, b: Any, bt: pin.SE3) -> bool:
        result = self.coal.CollisionResult()
        where = [self.coal.Transform3s(m.rotation, m.translation) for m in (at, bt)]
        self.coal.collide(a, where[0], b, where[1], self.coal.CollisionRequest(), result)
        return bool(result.isCollision())

    def collides(self, q: np.ndarray) -> bool:
        box = self.place(q)
        arm = [(joint, self.base * self.data.oMi[joint] * placement, solid) for joint, placement, solid in self.arm]
        if any(self.meets(self.box, box, solid, at) for solid, at in self.still):
            return True
        for joint, at, solid in arm:
            if self.meets(solid, at, self.box, box):
                return True
            if joint > 0 and any(self.meets(solid, at, other, place) for other, place in self.still if joint > 1):
                return True
        return any(
            self.meets(solid, at, other, there)
            for (i, at, solid), (j, there, other) in itertools.combinations(arm, 2)
            if abs(i - j) > 1
        )


def test_the_story_reaches_its_goal(example: Any, told: Any, path: Any) -> None:
    """It begins and ends where it should, the box on another table and on its lid."""
    assert np.array_equal(path.start, told.start)
    assert np.abs(told.robot.space.difference(path.end, told.goal)).max() < 1e-12
    start, end = (pin.XYZQUATToSE3(q[6:]) for q in (path.start, path.end))
    assert start.rotation[2, 2] > 0.999
    assert end.rotation[2, 2] < -0.999
    assert start.translation[1] > 0.2
    assert end.translation[1] < -0.2


def test_every_sample_is_on_its_constraints_and_free(example: Any, path: Any) -> None:
    """The box stands on a table or is held by a handle, to 1e-4; nothing collides; half-way between samples too."""
    judge = Judge(example)
    lower, upper = judge.model.lowerPositionLimit, judge.model.upperPositionLimit
    times = path.times
    configurations = [*path.samples, *(path(t) for t in 0.5 * (times[1:] + times[:-1]))]
    held = 0
    for q in configurations:
        assert abs(np.linalg.norm(q[9:]) - 1.0) < 1e-9
        assert (q[:6] >= lower).all()
        assert (q[:6] <= upper).all()
        grasp, placement = judge.grasp_error(q), judge.placement_error(q)
        assert min(grasp, placement) <= TOLERANCE
        held += grasp <= TOLERANCE < placement
        assert not judge.collides(q)
    assert held > 0.2 * len(configurations)


def test_nothing_jumps(path: Any) -> None:
    """Consecutive samples differ by at most 0.1 rad and 2 cm in every joint; finer times by no more."""
    steps = np.linspace(path.times[:-1], path.times[1:], 4, endpoint=False)  # a piece takes one second, however long
    fine = np.array([path(t) for t in steps.T.ravel()])
    for samples in (path.samples, fine):
        assert np.abs(np.diff(samples[:, :6], axis=0)).max() <= 0.1
        assert np.linalg.norm(np.diff(samples[:, 6:9], axis=0), axis=1).max() <= 0.02
        turns = 2.0 * np.arccos(np.clip(np.abs((samples[1:, 9:] * samples[:-1, 9:]).sum(axis=1)), 0.0, 1.0))
        assert turns.max() <= 0.1 + 1e-7


def test_a_standing_box_does_not_move(example: Any, path: Any) -> None:
    """Between two samples where the gripper is away from both handles the box rests; q and -q are one rotation."""
    judge = Judge(example)
    away = np.array([judge.grasp_error(q) > 1e-2 for q in path.samples])
    still = away[1:] & away[:-1]
    assert still.sum() > 50
    before, after = path.samples[:-1][still], path.samples[1:][still]
    assert np.abs(after[:, 6:9] - before[:, 6:9]).max() < 1e-8
    assert np.abs(np.abs((after[:, 9:] * before[:, 9:]).sum(axis=1)) - 1.0).max() < 1e-12


def test_the_plan_is_a_function_of_its_seed(example: Any, told: Any, path: Any) -> None:
    again = example.tell(told).or_raise()
    assert np.array_equal(again.samples, path.samples)
