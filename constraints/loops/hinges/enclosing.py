r"""Enclosures of what closures measure, by those of the two frames.

Rows of translations are combinations of the place of b seen from a. Rows of rotations are smooth functions of one
direction of b, :math:`d = R\,b`, or the logarithm of R; for the angle about an axis a, with :math:`e = R^T a`,

.. math:: \dot\theta = \frac{(a + e) \cdot \omega}{1 + a \cdot e}

where :math:`\omega` is the angular velocity in the axes of b. All are composed to second order (`enclosures.smooth`).
Axes are taken as the numbers that they are, unit to rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from liegroups import SE3, SO3, Rn
from liegroups.arrays import Matrix, Vector

from ...functions.enclosures.box import Bend, Enclosure, TangentBox
from ...functions.enclosures.group_bounds import OF_MAPS
from ...functions.enclosures.interval import UNIT, Interval, angle, insist, rounded_up
from ...functions.enclosures.maps import logarithm
from ...functions.enclosures.operators import RULES, of_vectors
from ...functions.enclosures.smooth import LARGEST_TILT, Formula, combined, masked, product_of, stacked, tilt
from ...functions.frames.chain_bounds import Seen, seen
from ...functions.frames.pose import Pose

if TYPE_CHECKING:
    from ...functions.frames.frame_function import FrameFunction

LEAST_CROSSING = 2e-3
"""Sine of the angle between two axes of a hinge below which they are nearly parallel, where its row is singular."""


@final
class PoseOnBox:
    """Frame b of a function seen from its frame a, on a box of configurations.

    Args:
        f: the function.
        box: of its inputs.
    """

    def __init__(self, f: FrameFunction, box: TangentBox) -> None:
        self.f, self.box = f, box

    @cached_property
    def seen(self) -> Seen:
        """B seen from a."""
        return seen(self.f.robot, self.f.frame_a, [self.f.frame_b], self.box)

    @cached_property
    def back(self) -> Seen:
        """A seen from b."""
        return seen(self.f.robot, self.f.frame_b, [self.f.frame_a], self.box)

    @property
    def place(self) -> Enclosure:
        """The origin of b (3,)."""
        return self.seen.place(self.box)

    @property
    def logarithm(self) -> Enclosure:
        """Of the pose (6,)."""
        return logarithm(SE3, Pose(self.f.robot, self.f.frame_b, self.f.frame_a).enclosure(self.box), self.box)

    @property
    def rotation_vector(self) -> Enclosure:
        """Of the rotation of b (3,)."""
        return logarithm(SO3, self.seen.turn(self.box), self.box)

    def direction(self, b: Vector) -> Enclosure:
        """A direction of b (3,)."""
        return self.seen.direction(b).place(self.box)

    def turn_about(self, axis: Vector, angle_at: Vector) -> Enclosure:
        """The twist about an axis (3,) of a, as of `twist_angle`; continued where that jumps by a whole turn.

        Args:
            axis: a.
            angle_at: () at the centre of the box [rad].

        Raises:
            UndefinedError: b may be tilted by nearly half a turn.
        """
        e, turn = self.back.direction(axis).place(self.box), self.seen.turn(self.box)
        along = Interval.of(axis[None])
        c = along.applied(e.over_box)
        insist(c.lower > np.cos(LARGEST_TILT), "the angle about an axis that may be turned round")
        rate = ((e.over_box + axis) / (c + 1.0))[..., None, :]
        near = ((e.at_center + axis) / (along.applied(e.at_center) + 1.0))[..., None, :]
        size = near.magnitude.sum(axis=(-2, -1))
        small = (self.seen.turned_by + 8.0 * OF_MAPS) * size + 8.0 * UNIT * (1.0 + np.abs(angle_at))

        def bend() -> Bend:
            leading, n = self.box.leading, self.box.space.nv
            moved = (e.jacobian - rate.turned() * (along @ e.jacobian)) / (c + 1.0)[..., None]  # what `rate` changes by
            turned = (rate @ turn.bend.slopes.reshaped(*leading, 3, n * n)).reshaped(*leading, 1, n, n)
            return Bend(near @ turn.bend.straight, turned + (turn.jacobian.turned() @ moved)[..., None, :, :])

        J = product_of(rate, turn.jacobian)
        return Enclosure.centred(Rn(1), self.box, angle_at[..., None], rounded_up(small)[..., None], J, bend)


def half_square(length: float, at: PoseOnBox) -> Enclosure:
    """Of the row of a rod."""
    x = at.place
    here, there = x.at_center, x.over_box
    value = 0.5 * (Interval.of(np.ones((1, 3))).applied(here.square()) - Interval.of(length).square())
    return Formula(value, here[..., None, :], there[..., None, :], Interval.of(np.eye(3)[None])).of(x, at.box)


def turned_halves(turn: Matrix, at: PoseOnBox) -> Enclosure:
    """Of the logarithm of the pose in other axes: those of b, then turned."""
    log, R = at.logarithm, at.seen.turn(at.box)
    rows = list[Enclosure]()
    for half in (slice(0, 3), slice(3, 6)):
        value, rounding, jacobian = log.value[..., half], log.rounding[..., half], log.jacobian[..., half, :]
        part = Enclosure.centred(Rn(3), at.box, value, rounding, jacobian)
        rows.append(combined(turn, of_vectors(Rn(3), at.box, *RULES["rotated"]((R, part), 0.0)), at.box))
    return stacked(rows, at.box)


def swing_of(a: Vector, across: Matrix, b: Vector, at: PoseOnBox) -> Enclosure:
    r"""Of :math:`r = k(c)\, B\, d`, with :math:`d = R\, b` and :math:`c = a \cdot d`.

    .. math:: r' = k B + k'\, (B d)\, a^T, \qquad
        r''(u, w) = k'\, \big((a \cdot u) B w + (a \cdot w) B u\big) + k''\, (a \cdot u)(a \cdot w) B d

    Args:
        a: axis (3,).
        across: B (2, 3).
        b: the axis in b (3,).
        at: the frames on the box.
    """
    x = at.direction(b)

    def parts(d: Interval) -> tuple[Interval, Interval, list[Interval]]:
        aside = product_of(Interval.of(across), d[..., None])
        k = [each[..., None] for each in tilt(Interval.of(a[None]).applied(d))]
        some = (across != 0.0) | ((aside.magnitude > 0.0) & (a != 0.0))
        return aside, masked(k[0] * across + k[1] * aside * a, some), k

    here, near, k_near = parts(x.at_center)
    there, slope, (_, k1, k2) = parts(x.over_box)
    twice = np.einsum("u,iw->iuw", a, across)
    curve = k1[..., None] * (twice + np.swapaxes(twice, 1, 2)) + (k2 * there)[..., None] * np.outer(a, a)
    value = masked(k_near[0][..., 0] * here[..., 0], here.magnitude[..., 0] > 0.0)
    return Formula(value, near, slope, curve).of(x, at.box)


def crossing_of(a: Vector, b: Vector, at: PoseOnBox) -> Enclosure:
    r"""Of :math:`r = -\arcsin s`, :math:`s = a \cdot R\, b`.

    Args:
        a: axis of a (3,).
        b: axis of b (3,).
        at: the frames on the box.
    """
    x = at.direction(b)

    def parts(d: Interval) -> tuple[Interval, Interval]:
        s = product_of(Interval.of(a[None]), d[..., None])[..., 0]
        rest = 1.0 - s.square()
        what = "two axes of a hinge may be parallel: there the row of their angle has no derivative"
        insist(rest.lower > LEAST_CROSSING**2, what)
        return s, rest.sqrt()

    (here, here_rest), (there, rest) = parts(x.at_center), parts(x.over_box)
    axis, below = Interval.of(a[None]), rest.reciprocal()
    near, slope = (masked(-(one[..., None] * axis), a[None] != 0.0) for one in (here_rest.reciprocal(), below))
    curve = -(there * below * below * below)[..., None, None] * np.outer(a, a)[None]
    value = masked(-angle(here, here_rest), here.magnitude > 0.0)
    return Formula(value, near, slope, curve).of(x, at.box)
