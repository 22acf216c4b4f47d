"""Constraint graphs whose targets are timed, with their starts, and plain pinocchio's judgement of what was found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import bench_setup  # noqa: F401
import judge
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scenes import factory, record

from constraints import ConstraintError, Options, Projector
from constraints.manipulation import ConstraintGraph, State, Transition

Array = NDArray[np.float64]
Row = dict[str, Any]

CASES = ("g1_o1_h1_surf", "g1_o1_h2_surf", "g1_o2_h1_surf", "g2_o1_h1_surf", "g1_o1_h1_nosurf")
THRESHOLD, ITERATIONS = 1e-4, 40
"""Both solvers have 40 iterations a projection, as in the recorded problems; our own default is 100."""
ROUNDING = 1e-9
INSET = 0.001
"""How far from the edge of the table the middle of a box starts at least [m]."""


@dataclass(frozen=True, eq=False)
class Case:
    """A scene with its graph: once with all attempts, once with one guess a target."""

    name: str
    graph: ConstraintGraph
    single: ConstraintGraph
    given: Row

    @staticmethod
    def of(name: str, attempts: int, engine: str | None = None) -> Case:
        match = re.fullmatch(r"g([12])_o([123])_h([12])_(surf|nosurf)", name)
        if match is None:
            raise ConstraintError(f"no case is called '{name}': expected one as {', '.join(CASES)}")
        arms, boxes, handles = (int(number) for number in match.groups()[:3])
        scene: Row = {"arms": arms, "boxes": boxes, "handles": handles, "surfaces": match[4] == "surf"}
        options = Options(threshold=THRESHOLD, max_iterations=ITERATIONS)
        graph, single = (factory(**scene, options=options, attempts=n, engine=engine).generate() for n in (attempts, 1))
        return Case(name, graph, single, {"system": record()["system"], **scene})

    def starts(self, state: State, count: int | None, rng: np.random.Generator) -> tuple[Array, Array]:
        """Starts in a state, and guesses."""
        stored = record()["targets"]["configurations"]
        if count is None and self.name == CASES[0]:
            return _normalized(stored["sources"][state.name]), _normalized(stored["guess"])
        count = 50 if count is None else count
        found: list[Array] = []
        projector = Projector(self.graph.problem_of(state), self.graph.options, "readable")  # the same for all engines
        for _ in range(20 * count):
            sample = projector.project(self._scattered(rng))
            found += [sample.q] if sample.success else []
            if len(found) == count:
                break
        return np.array(found).reshape(-1, self.graph.robot.nq), self.graph.robot.random(rng, len(found))

    def _scattered(self, rng: np.random.Generator) -> Array:
        """A random configuration, with the boxes anywhere on the table where there is one."""
        q = np.array(self.graph.robot.random(rng))
        system, n = self.given["system"], 6 * self.given["arms"]
        corners, height = np.array(system["table"]["polygon"]), -system["box"]["polygon"][0][2]
        for k in range(n, len(q) if self.given["surfaces"] else n, 7):
            place = pin.SE3(pin.utils.rotate("z", rng.uniform(-np.pi, np.pi)), np.zeros(3))
            inside = rng.uniform(corners.min(axis=0)[:2] + INSET, corners.max(axis=0)[:2] - INSET)
            place.translation = np.array([*inside, height + system["placement_margin"]])
            q[k : k + 7] = pin.SE3ToXYZQUAT(pin.XYZQUATToSE3(np.array(system["table"]["pose"])) * place)
        return q


def _normalized(rows: list[list[float]]) -> Array:
    """Recorded configurations of one arm and one box, quaternions to full precision."""
    q = np.array(rows)
    q[:, -4:] /= np.linalg.norm(q[:, -4:], axis=1, keepdims=True)
    return q


class Judge:
    """Whether a configuration is in a state, by pinocchio and the record alone."""

    def __init__(self, case: Case) -> None:
        frames = record()["targets"]["frames"]
        self._system = case.given["system"]
        self._model: Any = case.graph.robot.model
        self._data: Any = self._model.createData()
        self._gripper = pin.XYZQUATToSE3(np.array(frames["gripper"]["pose"]))
        self._boxes = [f"box{i}" for i in range(case.given["boxes"])]
        self._arms = [f"r{i}" for i in range(case.given["arms"])]
        self._surfaces = bool(case.given["surfaces"])

    def holds(self, transition: Transition, start: Array, q: Array) -> bool:
        """Whether a target is in its state, within bounds, and what stands on both sides has not moved."""
        held = self._grasps(transition.target)
        left = set(self._boxes) - {box for _, box, _ in held}
        stood = left - {box for _, box, _ in self._grasps(transition.source)}
        limit = THRESHOLD * (1.0 + ROUNDING)
        errors = [self._grasp_error(q, *grasp) for grasp in held]
        errors += [self._table_error(q, box) for box in left if self._surfaces]
        moved = [judge.far(*(self._pose(at, f"{box}/root_joint").copy() for at in (start, q))) for box in stood]
        return self._in_bounds(q) and max(errors, default=0.0) <= limit and max(moved, default=0.0) <= 2.0 * limit

    @staticmethod
    def _grasps(state: State) -> list[tuple[str, str, int]]:
        """Arm, box and handle of each grasp of a state."""
        found = re.findall(r"(r\d)/gripper grasps (box\d)/h(\d)", state.name)
        return [(arm, box, int(handle)) for arm, box, handle in found]

    def _pose(self, q: Array, joint: str) -> Any:
        pin.forwardKinematics(self._model, self._data, q)
        return self._data.oMi[self._model.getJointId(joint)]

    def _grasp_error(self, q: Array, arm: str, box: str, handle: int) -> float:
        numbers = self._system["box"]["handles"][handle]["pose_xyz_quat_xyzw"]
        handle_pose = pin.XYZQUATToSE3(np.array([*numbers[:3], *numbers[4:], numbers[3]]))  # HPP reads w first
        gripper = self._pose(q, f"{arm}/wrist_3_joint") * self._gripper
        return judge.far(gripper, self._pose(q, f"{box}/root_joint") * handle_pose)

    def _table_error(self, q: Array, box: str) -> float:
        """Height and tilt of the bottom of a box on the table; infinite beside it."""
        table = self._system["table"]
        tMb = pin.XYZQUATToSE3(np.array(table["pose"])).actInv(self._pose(q, f"{box}/root_joint"))
        bottom = tMb.act(np.mean(self._system["box"]["polygon"], axis=0))
        low, high = np.min(table["polygon"], axis=0), np.max(table["polygon"], axis=0)
        if (bottom[:2] < low[:2] - THRESHOLD).any() or (bottom[:2] > high[:2] + THRESHOLD).any():
            return float("inf")
        height = bottom[2] - self._system["placement_margin"]
        up = tMb.rotation[:, 2]
        return float(np.hypot(height, np.arccos(np.clip(up[2], -1.0, 1.0))))

    def _in_bounds(self, q: Array) -> bool:
        n = 6 * len(self._arms)
        low, high = self._model.lowerPositionLimit[:n], self._model.upperPositionLimit[:n]
        return bool(((q[:n] >= low - ROUNDING) & (q[:n] <= high + ROUNDING)).all())
