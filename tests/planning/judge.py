"""A judge of paths on plain pinocchio and coal: what the library says of itself is not asked."""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path as Folder
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from constraints.paths import Path
from constraints.planning import Trajectory

TIMES = 1000
ANGLE, LENGTH = 0.1, 0.02
CLOSE_ANGLE, CLOSE_LENGTH = 0.02, 0.005


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def example(name: str) -> Any:
    """A module of `examples/`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Folder(__file__).resolve().parent.parent.parent / "examples")
        return importlib.import_module(name)


def same_in_threads_and_processes(
    samples_of: Callable[[bytes, int], bytes], pickled: bytes, in_processes: bool = True
) -> None:
    """Whether a seed gives the same bits in two threads, and in another process, as alone; two seeds give others."""
    alone = [samples_of(pickled, seed) for seed in (1, 2)]
    assert alone[0] != alone[1]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(samples_of, [pickled] * 2, (1, 2))) == alone
    if in_processes:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
            assert processes.submit(samples_of, pickled, 2).result() == alone[1]


def moved(model: pin.Model, q0: np.ndarray, q1: np.ndarray) -> tuple[float, float]:
    """Largest rotation and translation of a joint between two configurations, by pinocchio's difference."""
    d, angle, length = pin.difference(model, q0, q1), 0.0, 0.0
    for joint in list(model.joints)[1:]:
        part = d[joint.idx_v : joint.idx_v + joint.nv]
        kind = joint.shortname()
        if "FreeFlyer" in kind or "Planar" in kind:
            n = 3 if "FreeFlyer" in kind else 2
            shift = q1[joint.idx_q : joint.idx_q + n] - q0[joint.idx_q : joint.idx_q + n]
            angle, length = max(angle, float(np.linalg.norm(part[n:]))), max(length, float(np.linalg.norm(shift)))
        elif "P" in kind.removeprefix("JointModel") and "Spherical" not in kind:
            length = max(length, float(np.linalg.norm(part)))
        else:
            angle = max(angle, float(np.linalg.norm(part)))
    return angle, length


def faults(
    path: Path,
    model: pin.Model,
    geometry: Any,
    error: Callable[[np.ndarray], float],
    ends: tuple[np.ndarray, np.ndarray],
    threshold: float = 1e-4,
    margins: Sequence[float] | None = None,
) -> list[str]:
    """What is wrong with a path; nothing where all is well.

    Args:
        path: the path.
        model, geometry: pinocchio's, the pairs that must not collide in it.
        error: of a configuration, from plain kinematics.
        ends: the given ones.
        threshold: of the error.
        margins: of the pairs.
    """
    found = list[str]()
    if not (np.array_equal(path.start, ends[0]) and np.array_equal(path.end, ends[1])):
        found.append("an end is not the given one, bit for bit")
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    samples = path.samples
    for q0, q1 in pairwise(samples):
        angle, length = moved(model, q0, q1)
        if angle > ANGLE + 1e-9 or length > LENGTH + 1e-9:
            found.append(f"samples are {angle:.3g} rad, {length:.3g} m apart")
    times = np.unique(np.concatenate([np.linspace(0.0, path.duration, TIMES * len(path.pieces) + 1), path.times]))
    Q = [path(t) for t in times]
    worst = max(error(q) for q in Q)
    if worst > threshold:
        found.append(f"error {worst:.3g}")
    for q in Q:
        if (q < lower - 1e-12).any() or (q > upper + 1e-12).any():
            found.append("out of bounds")
            break
    data, solids = model.createData(), geometry.createData()
    for k, request in enumerate(solids.collisionRequests):
        request.security_margin = 0.0 if margins is None else margins[k]
        request.gjk_tolerance = 1e-9
    last = Q[0]
    for q in Q[:1] + Q:
        parts = 1
        if np.abs(q - last).sum() > CLOSE_LENGTH:  # else nothing moves by more: a quaternion turns by twice its chord
            angle, length = moved(model, last, q)
            parts = max(1, int(np.ceil(max(angle / CLOSE_ANGLE, length / CLOSE_LENGTH))))
        for k in range(1, parts + 1):
            between = q if k == parts else pin.interpolate(model, last, q, k / parts)
            if pin.computeCollisions(model, data, geometry, solids, between, True):
                found.append("collision")
                return found
        last = q
    return found


Error = Callable[[list[Any]], float]
"""Of the placements of all joints."""
STILL = 3e-4
"""Two bodies whose relative pose changes by less along a piece stand or are held together [m], [rad]."""
THIN = 1e-3
"""Resolution of the last look at a path: contact that is not deeper than half of it may be missed [m]."""
JOINED = 1e-6
"""Most by which a piece may begin elsewhere than the one before ended [m], [rad]."""


@dataclass(frozen=True)
class Handle:
    """Where an object may be held: a pose on a joint, and the rows (6,) of the pose in the gripper that are fixed."""

    joint: int
    place: pin.SE3
    rows: np.ndarray


@dataclass(frozen=True)
class Carrying:
    """A scene of things that are carried.

    Args:
        model, geometry: pinocchio's, with the pairs that must not collide where they move against each other.
        grippers: joint and pose on it, by name.
        objects: joint of each, by name.
        handles: of each object.
        standing: of each object the error of its pose where it stands on a floor.
        margin: distance that two joints keep [m]; half of `THIN` less is no fault.
    """

    model: Any
    geometry: Any
    grippers: Mapping[str, tuple[int, pin.SE3]]
    objects: Mapping[str, int]
    handles: Mapping[str, Sequence[Handle]]
    standing: Mapping[str, Callable[[Any], float]]
    margin: Callable[[int, int], float] = lambda a, b: 0.0
    data: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Memory of pinocchio."""
        object.__setattr__(self, "data", self.model.createData())

    def faults(self, path: Path, ends: tuple[np.ndarray, np.ndarray], threshold: float = 1e-4) -> list[str]:
        """What is wrong with a path on which each object of a piece stands where it is, or is held without slip."""
        found = list[str]()
        if not (np.array_equal(path.start, ends[0]) and np.array_equal(path.end, ends[1])):
            found.append("an end is not the given one, bit for bit")
        for number, piece in enumerate(path.pieces):
            last = path.pieces[number - 1].samples[-1] if number else piece.samples[0]
            if np.abs(pin.difference(self.model, last, piece.samples[0])).max() > JOINED:
                found.append(f"piece {number}: begins elsewhere than the one before ended")
            error, together = self._kept(piece.samples)
            geometry, margins = self.geometry.copy(), list[float]()
            for pair in list(geometry.collisionPairs):
                joints = [geometry.geometryObjects[i].parentJoint for i in (pair.first, pair.second)]
                if frozenset(joints) in together:
                    geometry.removeCollisionPair(pair)
                else:
                    margin = self.margin(*joints)
                    margins.append(margin - 0.5 * THIN if margin > 0.0 else margin)
            own = piece.samples[0], piece.samples[-1]
            found += [
                f"piece {number}: {f}" for f in faults(Path((piece,)), self.model, geometry, error, own, threshold)
            ]
        return found

    def _kept(self, Q: np.ndarray) -> tuple[Callable[[np.ndarray], float], set[frozenset[int]]]:
        """Error of what each object keeps along samples; pairs of joints that do not move against each other."""
        placed = [self._placed(q) for q in Q]
        chosen = list[Error]()
        for name, joint in self.objects.items():
            kept = [self._stands(name, joint, placed[0])]
            for handle in self.handles[name]:
                hands = [hand for hand in self.grippers.values() if hand[0] != joint]
                kept += [self._held(handle, *hand, placed[0]) for hand in hands]
            chosen.append(min(kept, key=lambda error: max(error(at) for at in placed)))
        count = self.model.njoints
        together = set[frozenset[int]]()
        for a, b in combinations(range(count), 2):
            first = placed[0][a].actInv(placed[0][b])
            if all(far(first, at[a].actInv(at[b])) < STILL for at in placed[1:]):
                together.add(frozenset((a, b)))

        def worst(q: np.ndarray) -> float:
            at = self._placed(q)
            return max(error(at) for error in chosen)

        return worst, together

    def _placed(self, q: np.ndarray) -> list[Any]:
        pin.forwardKinematics(self.model, self.data, q)
        return [pose.copy() for pose in self.data.oMi]

    def _stands(self, name: str, joint: int, start: list[Any]) -> Error:
        first, standing = start[joint], self.standing[name]
        return lambda at: max(0.5 * far(first, at[joint]), standing(at[joint]))

    def _held(self, handle: Handle, joint: int, place: pin.SE3, start: list[Any]) -> Error:
        def pose(at: list[Any]) -> Any:
            return (at[joint] * place).actInv(at[handle.joint] * handle.place)

        first = pose(start)

        def error(at: list[Any]) -> float:
            now = pose(at)
            rows = np.concatenate([now.translation, pin.log3(now.rotation)])[handle.rows]
            return max(float(np.linalg.norm(rows)), 0.5 * far(first, now))  # first has an error of its own

        return error


def far(a: pin.SE3, b: pin.SE3) -> float:
    """How far two poses are apart [m], [rad]."""
    return float(
        np.hypot(np.linalg.norm(a.translation - b.translation), np.linalg.norm(pin.log3(a.rotation.T @ b.rotation)))
    )


def toppras_duration(
    trajectory: Trajectory, velocity: Any, acceleration: Any, joints: Any = slice(None), places: Any = None
) -> float:
    """Time that toppra needs for its own spline through the same points of some joints, part by part.

    Of many points, through which it finds no speed, every second one is taken.

    Args:
        joints: which columns of the tangent these are.
        places: which coordinates of q, if others.
    """
    toppra, algorithm = (importlib.import_module(name) for name in ("toppra", "toppra.algorithm"))
    nv, total = trajectory.space.nv, 0.0
    limits = [np.broadcast_to(each, nv).astype(float)[joints] for each in (velocity, acceleration)]
    rows = [
        toppra.constraint.JointVelocityConstraint(limits[0]),
        toppra.constraint.JointAccelerationConstraint(limits[1]),
    ]
    for part in trajectory.parts:
        s, points = part.curve.s, part.curve.points[:, joints if places is None else places]
        found = None if part.law.duration > 0.0 else 0.0
        while found is None:
            spline = toppra.SplineInterpolator(s, points)
            law = algorithm.TOPPRA(rows, spline, solver_wrapper="seidel").compute_trajectory(0, 0)
            found = None if law is None else law.duration
            s, points = (np.concatenate([each[:-1:2], each[-1:]]) for each in (s, points))
        total += found
    return total


assert coal.__version__
