"""A robot: a kinematic tree with its configuration space, named frames, bounds and reference postures."""

from __future__ import annotations

import copy
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any, Self, final, overload

import numpy as np

from liegroups import Segments
from liegroups.arguments import as_name, expect, is_one_of
from liegroups.arrays import ArrayLike, TangentLike, Vector
from liegroups.layout import Factor

from ..errors import UnknownJointError, UnknownNameError
from ..keywords import FieldOf, unchanging
from ..questions import say
from ..workspace import Kept, Workspace
from .bounds import Bounds
from .configuration import VectorsByJoint, checked_postures, random_configuration
from .description import Drawn, configuration_table, description
from .files.base import Base
from .files.disabled_collisions import DisabledCollision, as_disabled, link_names
from .files.packages import VisualFile, as_folders, as_visuals
from .frame import Frame
from .frame_table import FrameKind, FrameTable
from .model.mimic import Mimic, as_mimics
from .model.pinocchio import Model, model_for, pin
from .posture import Motion, Posture
from .space import RobotSpace
from .system import Part, join

_log = logging.getLogger(__package__)

KEPT = 32
"""Size of the cache of a robot: number of results that it keeps."""


@final
@unchanging("with_bounds, with_references, with_frame, with_srdf return a changed copy")
@dataclass(frozen=True, eq=False, init=False)
class Robot(Drawn, VectorsByJoint):
    """A robot: a model, its configuration space, named frames, bounds and reference postures. Immutable.

    It uses its own copy of the model. Two robots have the same model if `robot.space.same_robot(other.space)`.

    Args:
        model: any `pinocchio.Model`.
        name: name of the robot; the model's by default.
        bounds: bounds of its joints; those of the model by default.
        references: named reference postures (nq,), added to those of the model.
        mimics: joints that follow others, from the mimic tags of the file (not enforced).
        disabled_collisions: pairs of links, by name, whose collisions are ignored, as in an SRDF.
        visuals: files with the visual geometry of its links, for drawings (`pictures.show`); set by the loaders.

    Attributes:
        space: configuration space, a product whose factors are the joints.

    Raises:
        WrongObjectError: `model` is not a `pinocchio.Model`.
        DuplicateNameError: two joints share a name.
        ModelError: the model has mimic joints, or two frames of the same kind at different places share a name.
        EmptyIntervalError, NotFiniteError: the model has invalid bounds; the message names the joint.
        SizeError, NotNormalizedError, UnknownJointError: a reference posture or a mimic does not fit the model; the
            rotation of a placement is none.
        UnknownNameError: a disabled collision of a link that the model does not have.

    Example:
        >>> robot = Robot(pin.buildSampleModelManipulator())
        >>> robot.slice_of("elbow_joint")
        slice(3, 4, None)
    """

    space: RobotSpace
    name: str
    bounds: Bounds
    references: Mapping[str, Vector]
    mimics: tuple[Mimic, ...]
    disabled_collisions: tuple[DisabledCollision, ...]
    visuals: tuple[VisualFile, ...]
    _frames: FrameTable

    def __init__(
        self,
        model: Model,
        name: str | None = None,
        bounds: Bounds | None = None,
        references: Mapping[str, ArrayLike] | None = None,
        mimics: Iterable[Mimic] = (),
        disabled_collisions: Iterable[DisabledCollision] = (),
        visuals: Iterable[VisualFile] = (),
    ) -> None:
        own: Model = pin.Model(expect(model, pin.Model, "model", model_for(model)))
        expect(bounds, (Bounds, NoneType), "bounds", "a Bounds")
        frames = FrameTable.of(own)
        space = RobotSpace(own)
        values = {entry.key(): entry.data() for entry in getattr(own, "referenceConfigurations", ())}
        self.__dict__.update(  # frozen: no attribute is assigned to
            space=space,
            name=as_name(name or own.name or "robot", "name of a robot"),
            bounds=Bounds.of(own, space) if bounds is None else bounds.on(space),
            references=checked_postures(space, values, {} if references is None else references),
            mimics=as_mimics(mimics, space),
            disabled_collisions=as_disabled(disabled_collisions, link_names(own)),
            visuals=as_visuals(visuals),
            _frames=frames,
        )

    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str],
        srdf: str | os.PathLike[str] | None = None,
        packages: Iterable[str | os.PathLike[str]] = (),
        base: Base = Base.FIXED,
        name: str | None = None,
    ) -> Robot:
        """A robot from a URDF file; only its kinematic tree is read, geometry when somebody draws it.

        Limits with lower > upper, or without `lower` and `upper`, are ignored; the log (warnings) names these joints.

        Args:
            source: path, `package://NAME/rest` address, or the XML text itself.
            srdf: the same for an SRDF file, with reference postures and disabled collisions, as in `with_srdf`.
            packages: folders of packages, searched before `ROS_PACKAGE_PATH`, `AMENT_PREFIX_PATH`, example-robot-data.
            base: how the root is attached to the world.
            name: name of the robot; the file's by default.

        Raises:
            FileError: a file is missing or cannot be read; the message names it and the reason.

        Example:
            >>> text = "<robot name='box'><link name='body'/></robot>"
            >>> print(Robot.from_urdf(text, base=Base.FREE_FLYER))
            Robot box (nq 7, nv 6)
        """
        from .files.urdf import read_urdf  # files are read on use: a twentieth of the import

        packages = as_folders(packages)
        model, mimics = read_urdf(source, packages, base)
        robot = cls(model, name, mimics=mimics, visuals=[VisualFile.of(source, "URDF", packages)])
        return robot if srdf is None else robot.with_srdf(srdf, packages)

    @classmethod
    def system(cls, parts: Iterable[Part], name: str | None = None) -> Robot:
        """Several robots and objects as one robot; joints and frames get the part's name as prefix ("panda/joint1").

        Bounds, frames, reference postures ("panda/home": the other parts at neutral), mimics and disabled collisions
        are kept.

        Args:
            parts: robots with their names and placements; a part may be placed on a frame of an earlier part.
            name: name of the system; the names of the parts by default.

        Raises:
            DuplicateNameError: two parts have the same name.
            UnknownFrameError: a part is placed on a frame that no earlier part has.
        """
        return join(parts, name, cls)

    def with_srdf(self, source: str | os.PathLike[str], packages: Iterable[str | os.PathLike[str]] = ()) -> Self:
        """The same robot with data of an SRDF file; it shares the space.

        The reference postures (`group_state`) and the disabled collisions (`disable_collisions`) are read; a
        `CollisionModel` ignores these pairs of links. The log names links that the robot does not have.

        Args:
            source, packages: as in `from_urdf`.

        Raises:
            FileError: the file is missing or cannot be read.
        """
        from .srdf import read_srdf

        postures, disabled = read_srdf(source, self.space, packages)
        together = tuple(dict.fromkeys((*self.disabled_collisions, *disabled)))
        return self.with_references(postures)._with(disabled_collisions=together)

    def _with(self, **changes: object) -> Self:
        """A robot that differs in some fields and shares the others, the space above all."""
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles have: all but what others prepared."""
        return {name: value for name, value in self.__dict__.items() if name != "kept"}

    @cached_property
    def kept(self) -> Kept[Any]:
        """Data prepared for this robot by others, for example the projectors of `constraints.reach`."""
        return Kept(KEPT)

    # Sizes and names

    model = FieldOf[Model]("space.model", "The robot's own copy of the model. Do not change it.")

    @property
    def added_frames(self) -> tuple[Frame, ...]:
        """The frames that `with_frame` has added, in order; they are not in the model."""
        return self._frames.added

    nq = FieldOf[int]("space.nq", "Number of entries of a configuration.")
    nv = FieldOf[int]("space.nv", "Number of degrees of freedom: entries of a tangent vector.")

    @property
    def neutral(self) -> Vector:
        """Neutral configuration (nq,), whether inside the bounds or not."""
        return np.array(self.space.neutral)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of q, without the universe."""
        return tuple(self.model.names)[1:]

    frame_names = FieldOf[tuple[str, ...]](
        "_frames.names", 'Names of all frames and joints, the world\'s ("universe") first.'
    )

    # Frames

    def frame(self, name: str | Frame, placement: object = None, *, kind: FrameKind | None = None) -> Frame:
        r"""The frame with this name: a body, a joint, a fixed joint, an operational frame, or "universe", the world.

        Args:
            name: the name, or a frame; "world" is the universe too if the model has no frame "world".
            placement: gives a new frame g offset from the frame f, :math:`{}^jM_g = {}^jM_f\,{}^fM_g`
                (`pinocchio.SE3`, a matrix, translation [m] and quaternion xyzw, or `rigid_transform(...)`).
            kind: which one, if several frames of different kinds share a name.

        Raises:
            UnknownFrameError: lists the frames whose names come closest.
            AmbiguousFrameError: frames at different places share the name; lists their kinds.
        """
        if isinstance(name, Frame):
            frame = name
            self.space.check_frame(frame, self.name)
        else:
            frame = self._frames.find(name, kind)
        return frame if placement is None else self._frames.offset(frame, placement)

    def with_frame(self, name: str, on: str | Frame, placement: object = None) -> Self:
        """The same robot with one more named frame; it shares the space.

        Args:
            name: name of the new frame.
            on: the frame it is fixed on.
            placement: its placement relative to that frame (as in `frame`); the identity by default.

        Raises:
            DuplicateNameError: the name is taken.
            UnknownFrameError: lists the frames whose names come closest.
        """
        return self._with(_frames=self._frames.with_frame(name, self.frame(on), placement))

    def with_bounds(self, bounds: Bounds | Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Self:
        """The same robot with other bounds for some joints; it shares the space.

        Args:
            bounds: joint name -> (lower, upper) as in `Bounds.replace`, or bounds of the whole robot.

        Raises:
            UnknownJointError: lists the joints whose names come closest.
            EmptyIntervalError, OptionError, SizeError, NotFiniteError: what is wrong with a bound.
        """
        if not isinstance(bounds, Bounds):
            return self._with(bounds=self.bounds.replace(bounds))
        whole = bounds.on(self.space)
        say(_log, self.bounds.asked_of_new(whole))
        return self._with(bounds=whole)

    def without_bounds(self) -> Self:
        """The same robot without any bounds; it shares the space."""
        return self._with(bounds=Bounds.none(self.space))

    # Joints

    def joint_index(self, joint: str) -> int:
        """Index of a joint in the model, at least 1: the universe is 0.

        Raises:
            UnknownJointError: lists the joints whose names come closest.
        """
        names = self.joint_names
        if not is_one_of(joint, names):
            raise UnknownJointError(str(joint), names)
        return names.index(joint) + 1

    def slice_of(self, joint: str) -> slice:
        """Where a joint's entries lie in q. Raises UnknownJointError."""
        return self._factor(joint).q

    def velocity_slice_of(self, joint: str) -> slice:
        """Where a joint's entries lie in a tangent vector. Raises UnknownJointError."""
        return self._factor(joint).v

    def segments(self, *joints: str) -> Segments:
        """The block of the space with the coordinates of these joints, in the order of q.

        Raises:
            UnknownJointError: lists the joints whose names come closest.
            OverlapError: a joint is given twice.
        """
        names = [self._factor(joint).name for joint in joints]
        return Segments.of(self.space, *names) if names else Segments.empty()

    def _factor(self, joint: str) -> Factor:
        return self.space.factors[self.joint_index(joint) - 1]

    # Configurations

    def check(self, q: ArrayLike, what: str = "q") -> Vector:
        """Validate a configuration: float64 (nq,), finite, unit vectors of norm 1; a valid array is returned unchanged.

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with it.
        """
        return self.space.check(q, what)

    def reference(self, name: str) -> Vector:
        """Copy (nq,) of a reference posture.

        Raises:
            UnknownNameError: lists the reference postures whose names come closest.
        """
        if not isinstance(name, str) or name not in self.references:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UnknownNameError("reference posture", name, tuple(self.references))
        return np.array(self.references[name])

    def with_references(self, references: Mapping[str, ArrayLike]) -> Self:
        """The same robot with more reference postures (nq,) by name; it shares the space.

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: a wrong value; names the posture.
        """
        new = checked_postures(self.space, references)
        say(_log, [f"posture '{name}': {words}" for name, q in new.items() for words in self.bounds.asked_of(q)])
        return self._with(references={**self.references, **new})

    def random(self, rng: np.random.Generator, size: int | None = None) -> Vector:
        r"""Random configurations: uniform within bounds, uniform angles, uniform rotations (Haar measure).

        The range of a revolute joint is cut to :math:`[-\pi, \pi]`; coordinates in metres without bounds are drawn in
        [-1, 1].

        Args:
            rng: generator, for instance `numpy.random.default_rng(0)`.
            size: how many; a single one by default.

        Returns:
            (nq,), or (size, nq).
        """
        return random_configuration(self, rng, size)

    @overload
    def at(self, q: ArrayLike, v: None = None, workspace: Workspace | None = None) -> Posture: ...
    @overload
    def at(self, q: ArrayLike, v: Workspace) -> Posture: ...
    @overload
    def at(self, q: ArrayLike, v: TangentLike, workspace: Workspace | None = None) -> Motion: ...
    def at(
        self, q: ArrayLike, v: TangentLike | Workspace | None = None, workspace: Workspace | None = None
    ) -> Posture | Motion:
        """The posture at q, or the motion at (q, v); its kinematics are computed once, on demand.

        Args:
            q: configuration (nq,).
            v: tangent velocity (nv,), for a motion, or by joint, {"elbow": 1.0}, the others zero; a workspace may be
                given in its place.
            workspace: memory to borrow; the posture raises StalePostureError once the workspace holds another
                configuration. Without a workspace the posture stays valid.

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with q or v.
        """
        found = self.space.at(q, v) if isinstance(v, Workspace) else self.space.at(q, v, workspace)
        posture = found.point if isinstance(found, Motion) else found
        posture.frames = self._frames
        return found

    def format(self, q: ArrayLike) -> str:
        """A configuration as a table: one line per joint, with units, and a mark if it is out of bounds."""
        return configuration_table(self.check(q), self.bounds, self.space)

    def describe(self) -> str:
        """The robot in words: its joints with their types and bounds, frames, reference postures, mimics."""
        return description(self)

    def __str__(self) -> str:
        return f"Robot {self.name} (nq {self.nq}, nv {self.nv})"

    __repr__ = __str__
