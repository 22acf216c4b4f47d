"""Explicit constraints: some variables are a function of others."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import as_mapping, finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.space import as_space

from ..errors import OptionError, OverlapError, SizeError, SpaceMismatchError, WrongObjectError
from ..functions.affine import Affine, Identity
from ..functions.algebra import Composition
from ..functions.contact.contact_pose import PoseOfContact
from ..functions.frame_function import world_or_frame
from ..functions.function import Function, as_function
from ..functions.lifted import Lifted, same_space
from ..functions.pose import Pose
from ..functions.pose_from_rows import PoseFromRows, is_seat
from ..functions.transformation import Transformation
from ..functions.translation import RightTranslation, Translated
from ..functions.twin import Twin
from ..point import MovingPoint, Point
from ..robot import Frame, Robot, pose_vector
from ..robot.arguments import as_robot
from ..words import counted
from .by_twin import Twinned
from .comparison import Comparison
from .implicit import Implicit
from .rotation_vectors import write_turned, write_turned_rates
from .target import Target

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Explicit", "mimic_constraints"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Explicit(Twinned):
    r"""Output variables that are a function of input variables.

    .. math:: q_{out} = g^{-1}\left( f(q_{in})\; rhs \right)

    the product in the output group of f. Errors, satisfaction and fall-back are those of its implicit twin
    :math:`h(q) = f(q_{in})^{-1} g(q_{out})`, compared to the same right-hand side.

    Args:
        f: function of the input block, or of the whole space (its declared columns are then the inputs).
        outputs: block of the whole space that is computed; may be several segments.
        inputs: block of the whole space on which f lives; None where f lives on the whole space.
        g: function of the output block into the group of f; the identity by default.
        g_inverse: its inverse, from the group of f to the output block.
        implicit: another twin, a function of the whole space, in whose coordinates the right-hand side is then given.
        rhs_map: function from the output space of that twin to the group of f, that converts right-hand sides.
        comparison: as in `Implicit`; EQUAL_TO_ZERO by default. Rows that are no equality, or masked, make the
            constraint implicit.
        rhs: default right-hand side; the neutral element by default.
        mask: rows that count, as in `Implicit`.
        level: the level at which it is solved if it must fall back to its twin.
        whole: the whole space; known from f where f lives on it, from the problem otherwise.
        name: name in messages; f's by default.

    Attributes:
        map: f as a function of the whole space, where that is known.
        twin: the implicit constraint with the same solutions, likewise.
        turns: whether rows are a translation and a rotation vector that may be any of its rotation.

    Raises:
        OverlapError: inputs and outputs share coordinates.
        SpaceMismatchError: spaces that do not meet.
        SizeError: segments that reach beyond the whole space.
        OptionError, WrongObjectError: what else is wrong.

    Source: `Explicit` of hpp-constraints.
    """

    f: Function
    outputs: Segments
    inputs: Segments | None = None
    g: Function | None = None
    g_inverse: Function | None = None
    implicit: Function | None = None
    rhs_map: Function | None = None
    comparison: Comparison | Sequence[Comparison | None] | None = None
    rhs: Any = None
    mask: ArrayLike | None = None
    level: int = 0
    whole: Space | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    map: Function = field(init=False)
    turns: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Check what can be checked without the whole space; bind where it is known."""
        f = as_function(self.f, "f of an explicit constraint")
        given = {"comparison": self.comparison, "rhs": self.rhs, "mask": self.mask}
        own = {what: it if isinstance(it, Target) else copy.copy(it) for what, it in given.items()}
        set_fields(self, name=self.name or f.name, **own)  # read again when it is bound or moved: not the caller's
        self._check_kinds()
        if not self.outputs.v:
            raise WrongObjectError(f"outputs of {self.name!r}", "at least one coordinate", "none")
        if (self.g is None) != (self.g_inverse is None):
            raise WrongObjectError(f"g of {self.name!r}", "g together with g_inverse", "only one of them")
        if self.inputs is not None and self.inputs.overlaps(self.outputs):
            shared = sorted(set(self.inputs.v) & set(self.outputs.v))
            raise OverlapError(f"inputs and outputs of {self.name!r}", "share coordinates", shared)
        self._check_spaces(f)
        space = self.whole if self.inputs is not None else f.inputs
        if space is not None:
            self._bind(space)

    def _check_kinds(self) -> None:
        """What each argument is; and a level that is one."""
        if not isinstance(self.name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError("name of an explicit constraint", "a string", self.name)
        kinds: dict[type[Any], dict[str, object]] = {
            Segments: {"outputs": self.outputs, "inputs": self.inputs},
            Function: {"g": self.g, "g_inverse": self.g_inverse, "implicit": self.implicit, "rhs_map": self.rhs_map},
            Space: {"whole": self.whole},
        }
        for kind, arguments in kinds.items():
            for what, given in arguments.items():
                if not (isinstance(given, kind) or (given is None and what != "outputs")):
                    raise WrongObjectError(f"{what} of {self.name!r}", kind.__name__, given)
        if type(self.level) is not int or self.level < 0:
            raise OptionError(f"level of {self.name!r}: expected 0, 1, 2, ..., got {self.level!r}")

    def _check_spaces(self, f: Function) -> None:
        """Each space that must be another one; a function that is not given is the identity."""
        block, group = self.outputs.space, f.outputs
        twin = group if self.implicit is None else self.implicit.outputs
        g = self.g or Identity(group)
        g_inverse, rhs_map = self.g_inverse or g, self.rhs_map or Identity(group)
        for what, received, expected in (
            ("inputs", f.inputs if self.inputs is None else self.inputs.space, f.inputs),
            ("whole space", f.inputs if self.inputs is not None or self.whole is None else self.whole, f.inputs),
            ("outputs", block, g.inputs),
            ("g", g.outputs, group),
            ("argument of g_inverse", g_inverse.inputs, group),
            ("value of g_inverse", g_inverse.outputs, block),
            ("twin" if self.rhs_map is None else "argument of rhs_map", twin, rhs_map.inputs),
            ("value of rhs_map", rhs_map.outputs, group),
        ):
            if received != expected:
                raise SpaceMismatchError(f"{what} of {self.name!r}", expected.name, received.name)

    def _bind(self, space: Space) -> None:
        """Make the map and the twin on the whole space."""
        for what, block in (("outputs", self.outputs), ("inputs", self.inputs)):
            if block is not None:
                _check_block(block, space, f"{what} of {self.name!r}")
        f = self.f if self.inputs is None else Lifted(self.f, space, self.inputs)
        reads = f.columns
        if reads[self.outputs.v_indices].any():
            both = [i for i in self.outputs.v if reads[i]]
            raise OverlapError(f"inputs and outputs of {self.name!r}", "f depends on its own outputs", both)
        inner = Identity(self.outputs.space) if self.g is None else self.g
        h = self.implicit if self.implicit is not None else Twin(f, Lifted(inner, space, self.outputs))
        if not same_space(h.inputs, space):
            raise SpaceMismatchError(f"twin of {self.name!r}", space.name, h.inputs.name)
        twin = Implicit(h, self.comparison, self.rhs, mask=self.mask, name=self.name)
        turns = type(self.rhs_map) is PoseFromRows and twin.rows.is_plain and bool(twin.rows.mask.all())
        self.take_rows(twin, map=f, space=space, turns=turns)

    def on(self, space: Space) -> Explicit:
        """The same constraint on a whole space: bound to it, or moved to the factor of it where it lives."""
        as_space(space, f"space for {self.name!r}")
        if self.is_bound:
            return self if same_space(self.space, space) else self._moved(space)
        bound = copy.copy(self)
        set_fields(bound, whole=space)
        bound._bind(space)
        set_fields(bound, lifted_from=self.original)
        return bound

    def _moved(self, space: Space) -> Explicit:
        """The constraint of one factor as a constraint of the product."""
        try:
            f = self.map.on(space)
        except SpaceMismatchError as error:
            raise SpaceMismatchError(f"space for {self.name!r}", error.expected, error.received) from None
        q0, v0 = (f.block.q[0], f.block.v[0]) if isinstance(f, Lifted) else (0, 0)
        outputs = Segments(
            tuple(i + q0 for i in self.outputs.q), tuple(i + v0 for i in self.outputs.v), self.outputs.space
        )
        twin = self.implicit and self.implicit.on(space)
        moved = replace(self, f=f, outputs=outputs, inputs=None, implicit=twin, whole=None)
        set_fields(moved, lifted_from=self.original)
        return moved

    @property
    def is_bound(self) -> bool:
        """Whether the whole space is known."""
        return hasattr(self, "twin")

    # Constructors.

    @classmethod
    def relative_pose(
        cls,
        robot: Robot,
        a: Frame | str | None,
        b: Frame | str,
        rhs: Any = None,
        *,
        comparison: Comparison | Sequence[Comparison | None] | None = None,
        level: int = 0,
        name: str = "",
    ) -> Self:
        r"""Pose of a free-flying object, from frame b of it seen from frame a.

        With M2 the free-flyer joint of b, :math:`{}^{2}F_b` the placement of b on it, P its parent's frame,

        .. math:: q_{out} = {}^PM_a(q_{in})\; rhs\; {}^2F_b^{-1}

        The twin is `Transformation(robot, b, reference=a)`, in whose coordinates (t, w) the right-hand side is given
        and read. Inputs are the joints on exactly one of the chains of a and of the object's parent.

        Args:
            robot: the robot.
            a, b: frames; None is the world, b is on a joint that is a free-flyer.
            rhs: (t, w) of b seen from a, (6,) [m, rad]; zero by default.
            comparison: EQUAL_TO_ZERO by default.
            level: where the twin is solved if it cannot be explicit.
            name: name in messages.

        Raises:
            WrongObjectError: b is not on a free-flyer joint.
            OverlapError: a moves with the object.
        """
        as_robot(robot, "robot of a relative pose")
        frame_a, frame_b = (world_or_frame(robot, frame, "a relative pose") for frame in (a, b))
        model: Any = robot.model
        factor = robot.space.factors[frame_b.joint - 1] if frame_b.joint else None
        if factor is None or factor.space.name != "SE3":
            raise WrongObjectError(f"frame '{frame_b}'", "a frame on a free-flyer joint", "another joint")
        parent = int(model.parents[frame_b.joint])
        base = Frame("parent", parent, model.jointPlacements[frame_b.joint], str(model.names[parent]))
        f = Pose(robot, frame_a, reference=base)
        shift = RightTranslation(factor.space, pose_vector(frame_b.placement))
        return cls(
            f, robot.segments(factor.name), None, shift, shift.inverted(),
            Transformation(robot, frame_b, reference=frame_a), PoseFromRows(), comparison, rhs,
            level=level, name=name or f"relative_pose({frame_a}, {frame_b})",
        )  # fmt: skip

    @classmethod
    def linear(
        cls, robot: Robot, joint: str, sources: Mapping[str, float], offset: float = 0.0, *, name: str = ""
    ) -> Self:
        r"""A joint that is a linear function of others: :math:`q_j = \sum_i m_i q_i + b`.

        Args:
            robot: the robot.
            joint: the joint that follows, of one coordinate.
            sources: joint name -> multiplier.
            offset: b [rad or m].
            name: name in messages.

        Raises:
            UnknownJointError: lists the joints whose names come closest.
            WrongObjectError: a joint that is not one number.
            OverlapError: the joint among its own sources.
            DtypeError, NotFiniteError: a multiplier or offset that is no number.
        """
        _single(as_robot(robot, "robot of a linear coupling"), joint)
        as_mapping(sources, f"sources of '{joint}'", "from joint name to multiplier")
        multipliers = finite_vector(list(sources.values()), len(sources), f"multipliers of '{joint}'")
        A = np.zeros((1, robot.nv))
        for source, multiplier in zip(sources, multipliers, strict=True):
            A[0, _single(robot, source)] += multiplier
        f = Affine(A, [offset], robot.space, name=f"{joint} = linear({', '.join(sources)})")
        return cls(f, robot.segments(joint), name=name or f.name)

    # Resolution.

    @property
    def is_constant(self) -> bool:
        """Whether the outputs depend on no input."""
        return not self.map.columns.any()

    @property
    def may_miss(self) -> bool:
        """Whether what is computed may not satisfy the twin: g_inverse, or the twin, is the user's own."""
        g, g_inverse = self.g, self.g_inverse
        inverse = g is None
        if type(g) is RightTranslation and type(g_inverse) is RightTranslation:
            inverse = g_inverse.undoes(g)
        seat = self.turns and self.implicit is not None and is_seat(self.implicit, self.f, g, self.outputs.v[0])
        return not (inverse and (self.implicit is None or seat or type(self.rhs_map) is PoseOfContact))

    def group_rhs(self, rhs: Vector) -> Vector:
        """A right-hand side in the coordinates of the twin, as a point of the group of f."""
        return rhs if self.rhs_map is None else self.rhs_map.value_of(rhs)

    def outputs_of(self, value: Vector, rhs: Vector) -> Vector:
        r"""Outputs :math:`g^{-1}(f(q_{in})\, rhs)`, from a value of f and a right-hand side as the twin takes it."""
        group, g_inverse = self.map.outputs, self.g_inverse
        moved = group.compose(value, self.group_rhs(rhs))
        if isinstance(g_inverse, RightTranslation):
            return group.compose(moved, g_inverse.constant)
        return moved if g_inverse is None else g_inverse.value_of(moved)

    def refusal(self) -> str | None:
        """Why it cannot be resolved explicitly, whatever the others are; None where it can."""
        for row, (word, counts) in enumerate(zip(self.rows.words, self.rows.mask, strict=True)):
            if not counts:
                return f"row {row} is masked: the outputs would not be determined"
            if self.rows.lower[row] != 0.0 or self.rows.upper[row] != 0.0:
                return f"row {row} is {word}: only equalities determine the outputs"
        return None

    def output_function(self, rhs: Vector | None = None) -> Function:
        r"""The map :math:`q \mapsto q_{out}` as a function of the whole space, with value, Jacobian and drift.

        Args:
            rhs: right-hand side in the coordinates of the twin; the default one if absent.
        """
        f, group, g_inverse = self.map, self.map.outputs, self.g_inverse
        element = self.group_rhs(self.default_rhs if rhs is None else rhs)
        if isinstance(g_inverse, RightTranslation):
            element, g_inverse = group.compose(element, g_inverse.constant), None
        if g_inverse is not None:
            return Translated(f, element, g_inverse)
        if not group.log(element).any():
            return f
        cheaper = f.translated(element)
        return Translated(f, element) if isinstance(cheaper, Composition) else cheaper

    def write_position(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """As `RowOwner.write_position`, of the twin; rotation vectors of one rotation are one right-hand side."""
        if rhs is None or not self.turns:
            super().write_position(point, rhs, error, jacobian)
            return
        write_turned(self.twin, point, rhs, error, jacobian)

    def write_velocity(
        self, motion: MovingPoint, rhs: Vector | None, rhs_velocity: Vector | None, error: Vector, jacobian: Matrix
    ) -> None:
        """As `RowOwner.write_velocity`, of the errors of `write_position`."""
        if rhs is None or not self.turns:
            super().write_velocity(motion, rhs, rhs_velocity, error, jacobian)
            return
        write_turned_rates(self.twin, motion, rhs, (rhs_velocity,), error, jacobian)

    def write_acceleration(
        self,
        motion: MovingPoint,
        rhs: Vector | None,
        rhs_velocity: Vector | None,
        rhs_acceleration: Vector | None,
        error: Vector,
        jacobian: Matrix,
    ) -> None:
        """As `RowOwner.write_acceleration`, of the errors of `write_position`."""
        if rhs is None or not self.turns:
            super().write_acceleration(motion, rhs, rhs_velocity, rhs_acceleration, error, jacobian)
            return
        write_turned_rates(self.twin, motion, rhs, (rhs_velocity, rhs_acceleration), error, jacobian)

    def __repr__(self) -> str:
        return f"Explicit({self.name!r}: {counted(len(self.outputs), 'dof')})"


def mimic_constraints(robot: Robot) -> tuple[Explicit, ...]:
    """The robot's mimic tags as explicit constraints: each joint a linear function of its source.

    Args:
        robot: the robot; see `robot.mimics`.

    Raises:
        WrongObjectError: a tag on a joint that is not one number, as a continuous one.
    """
    return tuple(
        Explicit.linear(robot, m.joint, {m.source: m.multiplier}, m.offset, name=f"{m.joint} mimics {m.source}")
        for m in as_robot(robot, "robot of mimic constraints").mimics
    )


def _check_block(block: Segments, space: Space, what: str) -> None:
    """Refuse segments that are no block of the space: beyond it, other groups there, not in order."""
    if not set(block.v) <= set(range(space.nv)):
        raise SizeError(f"{what} on {space.name}: tangent coordinates", f"below {space.nv}", list(block.v))
    there = Segments.coordinates(space, block.v)
    if there != block:
        names = [f"{b.space.name} at {list(b.q)}" for b in (there, block)]
        raise SpaceMismatchError(f"{what} on {space.name}", *names)


def _single(robot: Robot, joint: str) -> int:
    """Column of a joint of one number."""
    factor = robot.space.factors[robot.joint_index(joint) - 1]
    if factor.space.atoms != (("R", 1),):
        raise WrongObjectError(f"joint '{joint}' in a linear coupling", "a joint of one number", factor.space.name)
    return factor.v.start
