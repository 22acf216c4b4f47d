"""Inverse kinematics in one call: the configuration in which a frame is where it should be."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, final

import numpy as np

from liegroups import SE2, SE3
from liegroups.arguments import as_tuple, expect
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ...errors import EmptyProblemError, SizeError
from ...functions.frames.frame_function import FrameOfRobot
from ...problem.problem import Problem
from ...robot import Frame, Robot
from ...robot.arguments import GivenPoint, robot_for
from ...robot.model.mimic import Mimic
from ...robot.placement import as_placement, pose_vector, shape_of
from ...rows.explicit_forms import mimic_constraint
from ...rows.implicit import Implicit
from ...rows.right_hand_side import RightHandSide
from ...words import counted, first_names
from ..options import Options
from .batch import ProjectionBatch
from .batch_arguments import starts_of
from .projection import Projection
from .projector import Projector
from .reach_targets import Asked, BatchTargets, GivenTargets, asked_by, rows_of


def reach(
    robot: Robot,
    frame: str | Frame,
    target: GivenPoint,
    start: ArrayLike | str | None = None,
    near: ArrayLike | str | None = None,
    *,
    reference: str | Frame | GivenPoint | None = None,
    joints: Sequence[str] | None = None,
    options: Options | None = None,
) -> Projection:
    r"""Inverse kinematics: a configuration within the bounds, in which a frame is at a target.

    The type of the target decides what is reached: a pose, a point, or a rotation,

    .. math:: {}^aM_f(q) = M \quad \text{or} \quad {}^ap_f(q) = p \quad \text{or} \quad {}^aR_f(q) = R

    with f the frame and a the reference. The robot keeps the prepared projector: the first call for a frame takes
    milliseconds longer than the next ones. The result is bit for bit the same as with the full API:
    `Projector(Problem(robot, [Implicit.equal(Pose(robot, frame), target)]), options).project(start)`.

    Args:
        robot: the robot. Mimic joints (`robot.mimics`) follow their sources, if they or their sources move the frame.
        frame: frame that shall reach the target: a frame name, or a Frame such as `robot.frame(name, offset)`.
        target: a pose (`pinocchio.SE3`, 4 x 4, or seven numbers: translation [m], quaternion xyzw), a point (three
            numbers [m]) or a rotation (scipy `Rotation`, 3 x 3, or quaternion xyzw).
        start: configuration (nq,) where the search begins, or the name of a reference posture. By default `near` if
            given, else `robot.neutral`, clipped to the bounds.
        near: configuration (nq,), or name of a reference posture: the search from the start ends at a solution nearest
            to it, locally (`Options(nearest=True)`), in the joints that move the frame; others stay where the start has
            them. If `near` is at the target already, it is the solution.
        reference: frame of the robot, or placement in the world, in which the target is given; the world by default.
        joints: names of the joints that may move; joints that do not move the frame are ignored. By default all joints
            except free-flyers and planar ones: the base of a robot, and objects, stay where they are in the start.
            `joints=robot.joint_names` lets all move.
        options: options of the projector, for example `Options.local()`, which stays near the start.

    Returns:
        The projection: `q`, `success`, `status`; if it failed, `print(result.diagnose())` says why. `result.problem`
        and `result.rhs` are the problem that was solved.

    Raises:
        UnknownFrameError, UnknownJointError, UnknownNameError: lists the names that come closest.
        WrongObjectError, SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with an argument.
        EmptyProblemError: no joint that may move moves the frame.
        OptionError: options that cannot be combined.

    Example:
        >>> from constraints import reach
        >>> from constraints.models import sample_arm
        >>> robot = sample_arm()
        >>> result = reach(robot, "tool", [0.4, 0.1, 0.3])
        >>> result.success, robot.at(result.q).placement("tool").translation.round(3)
        (True, array([0.4, 0.1, 0.3]))
    """
    ready = _ready(robot, frame, asked_by(target, "target of reach"), reference, joints, options, near is not None)
    side = ready.side(target, "target of reach")
    beside = None if near is None else _posture(robot, near, "near")
    first = _posture(robot, start, "start") if start is not None else ready.home if beside is None else beside
    return ready.projector.project(first, side, beside)


def reach_batch(
    robot: Robot,
    frame: str | Frame,
    targets: GivenTargets,
    starts: ArrayLike | str | None = None,
    near: ArrayLike | str | None = None,
    *,
    reference: str | Frame | GivenPoint | None = None,
    joints: Sequence[str] | None = None,
    options: Options | None = None,
    executor: Executor | None = None,
) -> ProjectionBatch:
    """As `reach`, for many targets, many starts, or both. Each row is bit for bit the result of `reach`.

    A single target, start or `near` is used for all rows.

    Args:
        robot, frame, reference, joints, options: as for `reach`.
        targets: points (n, 3), poses (n, 7) or (n, 4, 4), rotations (n, 3, 3), or a list of targets of one kind; or one
            target as for `reach`, except a rotation matrix (3, 3): three rows of three numbers are three points.
        starts: configurations (n, nq), or one; by default as for `reach`.
        near: configurations (n, nq), or one.
        executor: any `concurrent.futures.Executor`, whose workers solve the rows; by default this process does.

    Returns:
        The batch: arrays `q` (n, nq), `success`, `status`; `batch[i]` is a projection.

    Raises:
        as `reach`; the message has the index of a bad row.
        SizeError: numbers of rows that differ.
        ExecutorError, NotPicklableError: problems with the executor.

    Example:
        >>> import numpy as np
        >>> from constraints import reach_batch
        >>> from constraints.models import sample_arm
        >>> heights = np.array([[0.4, 0.1, z] for z in (0.2, 0.4, 0.6)])
        >>> reach_batch(sample_arm(), "tool", heights).success
        array([ True,  True,  True])
    """
    rows = rows_of(targets, "targets of reach_batch")
    ready = _ready(robot, frame, rows.asked, reference, joints, options, near is not None)
    sides = ready.sides(rows)
    beside = None if near is None else _postures(robot, near, "near")
    given = _postures(robot, starts, "starts") if starts is not None else ready.home if beside is None else beside
    count, first = None if rows.single else len(rows.targets), None if starts is None else _len(given)
    n = _count({"targets": count, "starts": first, "near": _len(beside)})
    Q = given if given.ndim == 2 else np.broadcast_to(given, (n, robot.nq))
    return ready.projector.project_batch(Q, sides, executor, near=beside)


@final
class _Ready:
    """A robot's frame, made ready to reach targets of one kind. The robot keeps it.

    Args:
        robot, frame, reference, joints, options: as for `reach`.
        asked: kind of the targets.

    Attributes:
        projector: of targets that are right-hand sides.
        home: default start (nq,).
    """

    def __init__(
        self, robot: Robot, frame: Any, asked: Asked, reference: Any, joints: tuple[str, ...] | None, options: Options
    ) -> None:
        function = asked(robot, frame, reference)
        self._constraint = Implicit.equal(function)
        mimics = _that_move(robot, function)
        held = _held(robot, joints, mimics)
        if options.nearest:  # which would draw joints to `near` that have nothing to do with the frame
            held = list(dict.fromkeys([*held, *_apart(robot, function, mimics)]))
        problem = Problem(robot, [self._constraint, *(mimic_constraint(robot, m) for m in mimics)], frozen=held)
        if not (problem.implicit_dofs & problem.free).any():
            _refuse_unmoved(robot, function, held)
        self.projector = Projector(problem, options)
        self.home = read_only(robot.bounds.clip(robot.neutral))
        self._block = problem.constraints.rhs_slices[problem.constraints.index(self._constraint)]
        self._alone = problem.rhs.vector.size == self._constraint.group.nq

    def side(self, target: Any, what: str) -> RightHandSide:
        """Right-hand sides of a target."""
        point, rhs = self._constraint.check_rhs(target, what), self.projector.problem.rhs
        if self._alone:
            return rhs.with_valid(point)
        vector = rhs.vector.copy()
        vector[self._block] = point
        return rhs.with_valid(vector)

    def sides(self, rows: BatchTargets) -> RightHandSide | Matrix:
        """Right-hand sides of rows: one for all, or vectors (n, size)."""
        if rows.single:
            return self.side(rows.targets[0], "target of reach_batch")
        rhs = self.projector.problem.rhs
        sides = np.tile(rhs.vector, (len(rows.targets), 1))
        for i, target in enumerate(rows.targets):
            sides[i, self._block] = self._constraint.check_rhs(target, f"row {i} of targets")
        return sides


def _ready(
    robot: Robot, frame: Any, asked: Asked, reference: Any, joints: Any, options: Options | None, nearest: bool
) -> _Ready:
    """What the robot keeps for such targets; made where it is not there."""
    expect(robot, Robot, "robot of reach", robot_for(robot) or _robot_of(robot))
    if not (reference is None or isinstance(reference, str | Frame)):
        reference = as_placement(reference, "reference of reach (a frame, or a placement in the world)")
    names = None if joints is None else as_tuple(joints, "joints of reach", "names of joints", ordered=False)
    place = reference if reference is None or isinstance(reference, str | Frame) else pose_vector(reference).tobytes()

    def make() -> _Ready:
        chosen = Options() if options is None else expect(options, Options, "options of reach", "Options")
        chosen = replace(chosen, nearest=True) if nearest else chosen
        return _Ready(robot, frame, asked, reference, names, chosen)

    return robot.kept.get(("reach", frame, asked, place, names, options, nearest), make)


def _robot_of(candidate: Any) -> str:
    """What is meant by something that has a robot, as a mechanism with its closures."""
    if isinstance(getattr(candidate, "robot", None), Robot):
        return "a Robot (`.robot` is the robot without the closures; Projector(mechanism.problem([...])) keeps them)"
    return ""


def _that_move(robot: Robot, function: FrameOfRobot) -> list[Mimic]:
    """The robot's mimics whose joint or source moves the frame, directly or as the source of one that does."""
    moving = {factor.name for factor in robot.space.factors if function.columns[factor.v].any()}
    while True:
        found = [mimic for mimic in robot.mimics if moving & {mimic.joint, mimic.source}]
        more = {name for mimic in found for name in (mimic.joint, mimic.source)}
        if more <= moving:
            return found
        moving |= more


def _held(robot: Robot, joints: tuple[str, ...] | None, mimics: Sequence[Mimic]) -> list[str]:
    """Names of the joints that do not move, but for those that follow others."""
    if joints is None:
        return [factor.name for factor in robot.space.factors if factor.space in (SE2, SE3)]
    for name in joints:
        robot.joint_index(expect(name, str, "entry of joints of reach", "the name of a joint"))
    following = {mimic.joint for mimic in mimics}
    return [name for name in robot.joint_names if name not in joints and name not in following]


def _apart(robot: Robot, function: FrameOfRobot, mimics: Sequence[Mimic]) -> list[str]:
    """Names of the joints that neither move the frame nor take part in mimics that do."""
    taking_part = {name for mimic in mimics for name in (mimic.joint, mimic.source)}
    return [f.name for f in robot.space.factors if f.name not in taking_part and not function.columns[f.v].any()]


def _refuse_unmoved(robot: Robot, function: FrameOfRobot, held: Sequence[str]) -> None:
    """Say why nothing moves a frame."""
    frame, other = f"frame '{function.frame_b}'", f"'{function.frame_a}'" if function.frame_a.joint else "the world"
    between = [joint.name for joint in robot.space.factors if joint.name in held and function.columns[joint.v].any()]
    if not between:
        raise EmptyProblemError(f"{frame} cannot be moved: no joint is between it and {other}")
    held_ones = f"the joints between {frame} and {other} are held: {first_names(between)}"
    raise EmptyProblemError(f"{held_ones}; to let them move, give joints={between[:1]} or more")


def _posture(robot: Robot, q: Any, what: str) -> Vector:
    """A configuration, checked, or that of a reference posture."""
    return robot.reference(q) if isinstance(q, str) else robot.check(q, what)


def _postures(robot: Robot, Q: Any, what: str) -> Vector | Matrix:
    """One configuration (nq,), or rows (n, nq), checked."""
    shape = (robot.nq,) if isinstance(Q, str) else shape_of(Q)
    one = shape is not None and len(shape) == 1
    return _posture(robot, Q, what) if one else starts_of(robot.space, Q, what)


def _len(rows: Vector | Matrix | None) -> int | None:
    return None if rows is None or rows.ndim == 1 else len(rows)


def _count(rows: dict[str, int | None]) -> int:
    """How many rows there are, by what has rows; one where nothing has."""
    known = {name: count for name, count in rows.items() if count is not None}
    first = next(iter(known), "")
    for name, count in known.items():
        if count != known[first]:
            raise SizeError(f"{name} of reach_batch", f"one, or {counted(known[first], 'row')} as {first}", count)
    return known.get(first, 1)
