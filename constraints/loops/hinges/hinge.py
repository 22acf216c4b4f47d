"""Hinges: what a closure leaves free, as a sequence of pins, sliders, screws and balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import pi
from typing import Any, final

import numpy as np

from liegroups import SE3, Rn, Space
from liegroups.arguments import as_tuple, expect, finite_number
from liegroups.arrays import ArrayLike, Matrix, Vector

from ...errors import ConstraintError, OptionError
from ...linear_algebra import numerical_rank, singular_values
from ...robot.model.pinocchio import Placement, pin
from ...robot.placement import X, Y, Z, unit_axis
from ...words import counted
from .rotation_rows import perpendicular_pair
from .subhinge import Subhinge, SubhingeMotion


class HingeKind(Enum):
    """The types of hinge; the value is the number of degrees of freedom, None where it depends."""

    LOCKED = 0
    PIN = "one pin"
    SLIDER = "one slider"
    HELICAL = "one screw"
    UNIVERSAL = "two pins whose axes cross at a right angle"
    HOOKE = "two pins, one axis given in each frame"
    CYLINDRICAL = "a slider and a pin on one axis"
    TWO_SLIDERS = "two sliders, no rotation"
    PLANAR = "two sliders and a pin across them"
    GIMBAL = "three pins"
    BALL = "a ball"
    TRANSLATIONAL = "three sliders"
    FREE = "three sliders and a ball"
    COMPOSED = "sliders, then a pin or a ball"
    CUSTOM = "a sequence of sub-hinges"


PARALLEL_HINGES = 5e-13
"""One minus the cosine of two directions that are parallel: they are less than 1e-6 rad apart."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Hinge:
    r"""A hinge between a predecessor and a successor frame: :math:`{}^pM_s = H(\theta)` if the closure is closed.

    Axes are in the predecessor's frame. A closure with this hinge has 6 - `dofs` rows.

    Attributes:
        kind: type of the hinge.
        subhinges: its steps, in order.
        space: space of its coordinates: numbers [m, rad] and quaternions xyzw.
        dofs: degrees of freedom it leaves.
        arguments: checked arguments of its constructor by name; they build the same hinge again.

    Source: hinge types of Karana kdFlex (its PLANAR is `two_sliders` here; its UJOINT `universal`).
    """

    kind: HingeKind
    subhinges: tuple[Subhinge, ...]
    space: Space
    dofs: int
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    # Types.

    @classmethod
    def locked(cls) -> Hinge:
        """Nothing is free."""
        return _hinge(HingeKind.LOCKED)

    @classmethod
    def pin(cls, axis: ArrayLike = Z) -> Hinge:
        """Rotation about an axis: unit (3,), or "x", "-y" and so on; all axes may be given like this."""
        step = _pin(axis)
        return _hinge(HingeKind.PIN, step, axis=step.axis)

    @classmethod
    def slider(cls, axis: ArrayLike = X) -> Hinge:
        """Translation along an axis (3,), unit."""
        step = _slider(axis)
        return _hinge(HingeKind.SLIDER, step, axis=step.axis)

    @classmethod
    def helical(cls, axis: ArrayLike = Z, pitch: float = 0.0) -> Hinge:
        r"""A screw: translation of `pitch / (2 pi)` metres per radian about an axis.

        A pose shows the number of turns of a screw only by its translation: the nearest number is fitted.

        The pitch is per turn, as on drawings and in SDF (`screw_thread_pitch`); that of pinocchio's helical joints
        (`JointModelHelicalUnaligned`) is per radian: multiply it by 2 pi.

        Args:
            axis: (3,), unit.
            pitch: advance per turn [m], not per radian; not zero.
        """
        number = finite_number(pitch, "pitch of a helical hinge")
        if number == 0.0:
            raise OptionError("pitch of a helical hinge: expected a number other than 0 (use Hinge.pin), got 0")
        step = Subhinge(SubhingeMotion.SCREW, unit_axis(axis, "axis of a hinge"), number / (2.0 * pi))
        return _hinge(HingeKind.HELICAL, step, axis=step.axis, pitch=number)

    @classmethod
    def universal(cls, first: ArrayLike = X, second: ArrayLike = Y) -> Hinge:
        """Two pins: about `first`, then about `second`, which rotates with it; at right angles to each other."""
        a = unit_axis(first, "first axis of a universal hinge")
        b = unit_axis(second, "second axis of a universal hinge")
        if abs(a @ b) > 1e-9:
            raise OptionError(
                f"axes of a universal hinge: expected a right angle, got the cosine {a @ b:.3g}; use Hinge.hooke for "
                "axes given each in its own frame"
            )
        return _hinge(
            HingeKind.UNIVERSAL, Subhinge(SubhingeMotion.PIN, a), Subhinge(SubhingeMotion.PIN, b), first=a, second=b
        )

    @classmethod
    def hooke(cls, inboard: ArrayLike = X, outboard: ArrayLike = Y) -> Hinge:
        """Two pins whose axes stay at right angles: `inboard` in the predecessor, `outboard` in the successor.

        At zero coordinates the successor is rotated by the smallest angle that makes the axes perpendicular.

        Args:
            inboard, outboard: unit (3,), each in its own frame.

        Raises:
            OptionError: the two are parallel, so that no rotation is the smallest.
        """
        a = unit_axis(inboard, "inboard axis of a Hooke hinge")
        b = unit_axis(outboard, "outboard axis of a Hooke hinge")
        if 1.0 - abs(float(a @ b)) < PARALLEL_HINGES:
            raise OptionError(
                "axes of a Hooke hinge: expected two directions, got parallel ones, for which the successor could be "
                "rotated about any axis: give the axes of its cross, such as [1, 0, 0] and [0, 1, 0]"
            )
        steps = Subhinge(SubhingeMotion.PIN, a), Subhinge(SubhingeMotion.PIN, b, turn=_square(a, b))
        return _hinge(HingeKind.HOOKE, *steps, inboard=a, outboard=b)

    @classmethod
    def cylindrical(cls, axis: ArrayLike = Z) -> Hinge:
        """Translation along an axis and rotation about it."""
        step = _pin(axis)
        return _hinge(HingeKind.CYLINDRICAL, _slider(axis), step, axis=step.axis)

    @classmethod
    def two_sliders(cls, normal: ArrayLike = Z) -> Hinge:
        """Translation across a normal, no rotation."""
        across = unit_axis(normal, "normal of a hinge")
        return _hinge(HingeKind.TWO_SLIDERS, *_plane(across), normal=across)

    @classmethod
    def planar(cls, normal: ArrayLike = Z) -> Hinge:
        """Translation across a normal and rotation about it: the planar joint of URDF."""
        across = unit_axis(normal, "normal of a hinge")
        return _hinge(HingeKind.PLANAR, *_plane(across), _pin(across), normal=across)

    @classmethod
    def gimbal(cls) -> Hinge:
        """Three pins: about x, then y, then z. It holds what `ball` holds; its coordinates are three angles."""
        return _hinge(HingeKind.GIMBAL, _pin(X), _pin(Y), _pin(Z))

    @classmethod
    def ball(cls) -> Hinge:
        """Any rotation; its coordinates are a quaternion."""
        return _hinge(HingeKind.BALL, Subhinge(SubhingeMotion.BALL, np.array(Z)))

    @classmethod
    def translational(cls) -> Hinge:
        """Any translation, no rotation."""
        return _hinge(HingeKind.TRANSLATIONAL, _slider(X), _slider(Y), _slider(Z))

    @classmethod
    def free(cls) -> Hinge:
        """Everything is free: no row."""
        return _hinge(HingeKind.FREE, *(_slider(a) for a in (X, Y, Z)), Subhinge(SubhingeMotion.BALL, np.array(Z)))

    @classmethod
    def custom(cls, subhinges: Sequence[Hinge]) -> Hinge:
        """Hinges one after the other, as `[Hinge.pin(z), Hinge.slider(x), Hinge.pin(z)]`.

        Args:
            subhinges: at least one; together at most six independent degrees of freedom.

        Raises:
            HingeError: some degrees of freedom repeat others.
        """
        parts = as_tuple(subhinges, "sub-hinges of a custom hinge", "Hinge")
        for i, part in enumerate(parts):
            expect(part, Hinge, f"sub-hinge {i} of a custom hinge")
        plain = tuple(one for part in parts for one in part.arguments.get("subhinges", (part,)))
        hinge = _hinge(HingeKind.CUSTOM, *(sub for part in parts for sub in part.subhinges), subhinges=plain)
        if hinge.dofs:
            q = hinge.space.random(
                np.random.default_rng(0), np.full(hinge.space.nq, -1.0), np.full(hinge.space.nq, 1.0)
            )
            rank = numerical_rank(singular_values(hinge.subspace(q)), scale=1.0)
            if rank < hinge.dofs:
                raise HingeError(hinge.dofs, rank)
        return hinge

    # Kinematics.

    @property
    def rows(self) -> int:
        """Rows of a closure with this hinge: 6 minus the degrees of freedom."""
        return 6 - self.dofs

    def placement(self, coordinates: ArrayLike) -> Placement:
        """H(theta), the outer frame seen from the predecessor's.

        Args:
            coordinates: (space.nq,).
        """
        return self.kinematics(self.space.check(coordinates, "hinge coordinates"))[0]

    def subspace(self, coordinates: ArrayLike) -> Matrix:
        r"""Motion subspace S (6, dofs) in the outer frame: its body twist is :math:`S\,\dot\theta`.

        Args:
            coordinates: (space.nq,).
        """
        return self.kinematics(self.space.check(coordinates, "hinge coordinates"))[1]

    def kinematics(self, q: Vector) -> tuple[Any, Matrix]:
        """Placement and motion subspace at coordinates that have been checked."""
        S, after = np.zeros((6, self.dofs)), pin.SE3.Identity()
        stop, column = q.size, self.dofs
        for sub in reversed(self.subhinges):
            n = sub.nv
            S[:, column - n : column] = after.toActionMatrixInverse() @ sub.subspace
            after = sub.placement(q[stop - sub.nq : stop]) * after
            stop, column = stop - sub.nq, column - n
        return after, S

    def drift(self, coordinates: ArrayLike, rates: ArrayLike) -> Vector:
        r"""Acceleration (6,) of the outer frame at zero :math:`\ddot\theta`: :math:`\dot S\,\dot\theta`.

        Args:
            coordinates: (space.nq,).
            rates: (dofs,).
        """
        return _drift(self.subspace(coordinates), [sub.nv for sub in self.subhinges], np.asarray(rates))

    def __repr__(self) -> str:
        return f"Hinge.{self.kind.name.lower()} ({counted(self.dofs, 'dof')})"


class HingeTypeError(ConstraintError):
    """The axes left free are not a hinge: the message names the hinge to use."""


class HingeError(ConstraintError):
    """Sub-hinges that repeat each other: `dofs` degrees of freedom, of which only `rank` are independent."""

    def __init__(self, dofs: int, rank: int) -> None:
        self.dofs, self.rank = dofs, rank
        super().__init__(f"sub-hinges of a custom hinge: {dofs} degrees of freedom, but the motion has only {rank}")


def _drift(S: Matrix, sizes: Sequence[int], rates: Vector) -> Vector:
    """Sum of the derivatives of the columns: each step turns with what comes after it."""
    out, after, stop = np.zeros(6), np.zeros(6), rates.size
    for size in reversed(sizes):
        own = S[:, stop - size : stop] @ rates[stop - size : stop]
        out += SE3.bracket(own, after)
        after, stop = after + own, stop - size
    return out


def _pin(axis: ArrayLike) -> Subhinge:
    return Subhinge(SubhingeMotion.PIN, unit_axis(axis, "axis of a hinge"))


def _slider(axis: ArrayLike) -> Subhinge:
    return Subhinge(SubhingeMotion.SLIDER, unit_axis(axis, "axis of a hinge"))


def _plane(normal: Vector) -> tuple[Subhinge, Subhinge]:
    n1, n2 = perpendicular_pair(normal)
    return _slider(n1), _slider(n2)


def _square(a: Vector, b: Vector) -> Matrix | None:
    """The least rotation that makes b perpendicular to a; None where it is."""
    c = float(a @ b)
    if abs(c) < 1e-12:
        return None
    across = b - c * a
    target = across / float(np.sqrt(across @ across))
    return np.asarray(pin.Quaternion.FromTwoVectors(b, target).matrix())


def _hinge(kind: HingeKind, *subhinges: Subhinge, **arguments: Any) -> Hinge:
    space: Space = Rn(0)
    for sub in subhinges:
        space = sub.space if space.nv == 0 else space * sub.space
    return Hinge(kind, subhinges, space, space.nv, arguments)


def composed(sliders: Matrix, axis: Vector | None, held: Matrix) -> Hinge:
    """Sliders along the rows of a matrix, then a pin about an axis, or a ball for None: what the held axes leave."""
    turn = Subhinge(SubhingeMotion.BALL, np.array(Z)) if axis is None else _pin(axis)
    return _hinge(HingeKind.COMPOSED, *(_slider(slider) for slider in sliders), turn, axes=held)


def chain(*subhinges: Subhinge) -> Hinge:
    """The hinge of these steps, unchecked."""
    return _hinge(HingeKind.CUSTOM, *subhinges)
