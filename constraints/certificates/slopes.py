r"""Bounds of the slopes of rows, constraint by constraint, near some configurations: by the lengths of links.

**Slopes.** Let :math:`F(v) = \log(r^{-1} h(m \oplus v))` be rows of a constraint, :math:`J_g` the Jacobian of h along
motions of bodies and H its derivative (`functions.frames.levers`). With :math:`e = F(v)`, and
:math:`x' = J_{\exp}(v)\, x`,

.. math:: DF\,u = J_{\log}(e)\, J_g\, u', \qquad D^2F(x, u) = \tfrac12 (H(x', u') + H(u', x')) + \text{rest}

since :math:`\tfrac12 \mathrm{ad}_{J_g x} J_g u + H(x, u) - \tfrac12 J_g\, \mathrm{ad}_x u` is the half of H(x, u) +
H(u, x), by the equation of Maurer and Cartan, :math:`H(x, u) - H(u, x) = J_g [x, u] - [J_g x, J_g u]`. With
:math:`\Gamma \ge \|J_{\log} - 1\|` and :math:`\gamma' - \tfrac12`, as in `enclosures.maps` for
:math:`a \ge \|\mathrm{ad}_e\|`, with :math:`E \ge \|J_{\exp}(v) - 1\|`, :math:`b \ge \|\mathrm{ad}_v\|` and
:math:`A \ge \|\mathrm{ad}_x\|`, x of length 1, the rest is at most

.. math:: (1 + E)^2 \left(\Gamma\, |H| + A \left( (\gamma' - \tfrac12)(1 + \Gamma) + \tfrac12 \Gamma \right) |J_g|^2
    \right) + A\, |J_g| \left( \Gamma (\tfrac12 + \tfrac25 b) + \tfrac25 b + E + \tfrac12 E^2 \right)

where :math:`\|DJ_{\exp}(v)[x] + \tfrac12 \mathrm{ad}_x\| \le A \sum_{n \ge 2} n\,b^{n-1} / (n+1)! \le \tfrac25 A b`
for b up to 1/5; the last term is that of bodies that turn, the others are those of logarithms. All of it holds as
long as e and v are no longer than is said of them here. A tilt is a function of a direction d of length 1
(`hinges.enclosing`), which moves across itself: its second derivative along d' and d'' is at most
:math:`(2 |k'| \sin\varphi + |k''| \sin^3\varphi)\, |d'| |d''|`, at a tilt of :math:`\varphi`.

**Rounding.** Samples come from kernels in doubles. A frame is a product of placements, sines and cosines along a chain:
for each joint fewer than 1,000 roundings of numbers that are at most 1, or at most L, the sum of all lengths; a column
of the Jacobian is a cross product of two such, a centre of mass a mean of them, and logarithms of what is nearer than 1
to the identity, and their Jacobians, are within 1,000 more. `OF_SAMPLES` is ten times that for each joint, and for a
logarithm, of 1 + L. That kernels and enclosures speak of the same rows is looked at once for each problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, hypot, log2
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import SE3
from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.unit_blocks import plain_entries

from ..errors import NoEnclosureError
from ..functions import CenterOfMass, Function, Orientation, Pose, Position, Rotation, Transformation
from ..functions.affine import Affine, Constant, Identity
from ..functions.enclosures.group_bounds import curved_blocks
from ..functions.enclosures.interval import UNIT, Interval, lengths
from ..functions.enclosures.smooth import tilt
from ..functions.frames.levers import Levers, Norms, NormsAlong
from ..functions.lifted import Lifted
from ..robot import Frame
from ..rows.row_owner import RowOwner
from ..rows.twin import Twin
from .rows import ProblemRows

OF_SAMPLES = 1e4 * UNIT
"""Rounding of sampled rows and Jacobians for each joint, and once more, relative to 1 + the lengths of the robot."""

TUBE = 0.012
"""Of rows with a logarithm: how far motions may be, of their slope, that lead to where they are [rad, m]."""

MOST_TURNED = 1.0
"""The same at most."""

LONGEST_WAY = 0.07
"""How long v may be [rad, m]."""

FARTHEST_ON_CIRCLE = 3.0
"""Of an angle on a circle from its target: it does not jump yet [rad]."""

INSIDE, BELOW = (4.0, 1.0), (1.0, 4.0)
"""Of lengths of slides for which slopes are bounded: steps in twice the length, and the least [m]; where slopes depend
on them, and where they do not."""

FARTHEST_TILT = 0.2
"""Of an axis from where it should be [rad]."""

OF_ADJOINTS = 2.0**0.5
"""At least the norm of the adjoint of a motion of length 1."""


class SlopedRows(NamedTuple):
    """Rows of one constraint.

    Attributes:
        rows: where they are among all.
        slope, bend: bounds of their first and second derivative by v, on a tube.
        farthest: how large the rows may be there.
        along: of several |d| (n, nv): bounds of their Jacobian along motions of bodies.
        tilted: whether they are the tilt of an axis.
    """

    rows: slice
    slope: float
    bend: float
    along: Callable[[Matrix], NormsAlong]
    farthest: float = np.inf
    tilted: bool = False


def _bounds(norms: Norms, farthest: float, curved: bool) -> tuple[float, float]:
    """Bounds of the first and second derivative of F, where e is no longer than `farthest`; see the head of this file.

    Of vectors, which are their own logarithm, `farthest` is 0.
    """
    j, H, even = norms
    a, b = OF_ADJOINTS * farthest, OF_ADJOINTS * LONGEST_WAY * curved
    gamma, more, E = 0.5 * a + a * a / 11.0, a / 5.0, 0.5 * b + 0.2 * b * b
    by_e = gamma * H + OF_ADJOINTS * (more * (1.0 + gamma) + 0.5 * gamma) * j * j
    by_v = OF_ADJOINTS * j * (gamma * (0.5 + 0.4 * b) + 0.4 * b + E + 0.5 * E * E) * curved
    return (1.0 + gamma) * (1.0 + E) * j, (1.0 + E) ** 2 * (even + by_e) + by_v


def _of_tilt(slope: float, bend: float) -> tuple[float, float]:
    """The same of the tilt of a direction with these."""
    sine = np.sin(FARTHEST_TILT)
    k, k1, k2 = (float(each.magnitude) for each in tilt(Interval(np.cos(FARTHEST_TILT), np.ones(()))))
    first, second = k + k1 * sine, 2.0 * k1 * sine + k2 * sine**3
    return first * slope, first * bend + second * slope**2


@final
class BoundedSlopes:
    """Bounds of the slopes of rows.

    Args:
        rows: of a problem with a robot.
        near: configurations (n, nq) around which they hold, by `levers.AROUND`.
        tube: how far motions may be, as `TUBE`.

    Raises:
        NoEnclosureError: a constraint has no bounds here.

    Attributes:
        blocks: of the rows.
        whole: the lengths of the robot.
    """

    def __init__(self, rows: ProblemRows, near: Matrix, tube: float = TUBE) -> None:
        problem = rows.problem
        if problem.robot is None:
            raise NoEnclosureError(str(problem), "it has no robot, whose links have lengths")
        self.blocks, self._near, self._curved = list[SlopedRows](), near, bool(curved_blocks(problem.space))
        self.whole, self._moving, self._tube = 0.0, ~problem.frozen, tube
        self._joints = problem.robot.space.elementary.model.njoints
        for each in zip(rows.owners, rows.points, rows.axes, strict=True):
            self._add(*each)

    @property
    def small(self) -> float:
        """Rounding of samples."""
        return OF_SAMPLES * (1.0 + self._joints) * (1.0 + self.whole)

    def _add(self, owner: RowOwner, point: Vector, axis: int | None) -> None:
        """The rows of one constraint."""
        f: Any = owner.measured
        kind, mask = type(owner.measured), owner.rows.mask
        if kind is CenterOfMass:
            frames, shares = f.centers
            levers = self._levers(f, frames)
            self._block(mask, *_bounds(levers.place(shares), 0.0, self._curved), levers.place_along(shares))
            return
        if kind not in (Orientation, Pose, Position, Rotation, Transformation):
            raise NoEnclosureError(owner.name, "its slope is not bounded by lengths")
        levers, whole_pose = self._levers(f, [f.frame_b]), kind is Pose and f.outputs == SE3
        flat = 0 if whole_pose or kind in (Orientation, Rotation) else 3
        places, turns = mask[:flat], mask[flat:]
        if places.any():
            one = np.ones(1)
            self._block(places, *_bounds(levers.place(one), 0.0, self._curved), levers.place_along(one))
        if axis is not None:
            slope, bend = _of_tilt(*_bounds(levers.direction, 0.0, self._curved))
            self._block(turns, slope, bend, levers.direction_along, float(np.sin(FARTHEST_TILT)), True)
        elif turns.any():
            if not turns.all() or (kind in (Orientation, Transformation) and point[flat:].any()):
                raise NoEnclosureError(owner.name, "its rows do not say that its rotation is near the target")
            norms = levers.carried.beside(levers.turn) if whole_pose else levers.turn
            farthest = min(self._tube * norms.slope, MOST_TURNED)
            along = partial(levers.twist_along, whole=whole_pose)
            self._block(turns, *_bounds(norms, farthest, self._curved), along, farthest)

    def _block(self, mask: BoolVector, *of_rows: Any) -> None:
        """Rows with all else of `SlopedRows`."""
        first = self.blocks[-1].rows.stop if self.blocks else 0
        self.blocks.append(SlopedRows(slice(first, first + int(mask.sum())), *of_rows))

    def _levers(self, f: Any, frames: Sequence[Frame]) -> Levers:
        found = Levers.between(f.robot, f.frame_a, frames, self._near, self._moving)
        self.whole = max(self.whole, found.whole)
        return found


class Slides(NamedTuple):
    """What slides, and places of bodies.

    Attributes:
        entries: of configurations, of each.
        longest: how long they may be within bounds.
        steps: of the lengths for which slopes are bounded, in twice the length, and the least of them: small where
            slopes depend on it, large where they do not, or where bounds are near.
    """

    entries: Sequence[Indices]
    longest: Sequence[float]
    steps: list[tuple[float, float]]

    @staticmethod
    def of(rows: ProblemRows) -> Slides:
        """Those of a problem with a robot."""
        space, bounds, entries = rows.problem.space, rows.problem.bounds, list[Indices]()
        robot: Any = rows.problem.robot
        tree, plain = robot.space.elementary, plain_entries(space.nq, space.unit_blocks)
        S, joints = tree.subspaces
        for i in np.unique(joints[np.abs(S[:3]).any(axis=0)]).tolist():
            joint = tree.model.joints[i]
            entries.append(joint.idx_q + np.flatnonzero(plain[joint.idx_q : joint.idx_q + joint.nq]))
        most = np.maximum(np.abs(bounds.lower), np.abs(bounds.upper))

        def slopes(near: Matrix) -> Matrix:
            return np.array([(block.slope, block.bend) for block in BoundedSlopes(rows, near).blocks])

        found, none = Slides(entries, [float(lengths(most[some])) for some in entries], []), np.zeros((1, space.nq))
        here = slopes(none) if entries else none
        for some, longest in zip(*found[:2], strict=True):
            near = none.copy()
            near[0, some[0]] = 1.0
            is_below = longest <= INSIDE[1] or np.allclose(slopes(near), here, rtol=1e-9)
            found.steps.append(BELOW if is_below else INSIDE)
        return found

    def around(self, Q: Matrix) -> tuple[float, ...]:
        """Up to which lengths slopes are to be bounded around configurations (n, nq); the same ones for many."""
        found = list[float]()
        for entries, longest, (steps, least) in zip(*self, strict=True):
            step = least
            if longest > least:
                length = hypot(*np.abs(Q[:, entries]).max(axis=0).tolist())
                step = 2.0 ** (ceil(steps * log2(max(length, least))) / steps)
            found.append(min(longest, step))
        return tuple(found)


# What is straight.


def is_straight(f: Function) -> bool:
    """Whether it is affine, into vectors and angles; or the twin of two that are."""
    if type(f) is Twin:
        return is_straight(f.f) and is_straight(f.g)
    if type(f) is Lifted:
        return is_straight(f.function)
    return type(f) in (Affine, Constant, Identity) and not curved_blocks(f.outputs)


def is_locked(f: Function) -> bool:
    """Whether it is what vectors among the coordinates are more than a constant."""
    if not isinstance(f, Twin) or not f.outputs.is_flat:
        return False
    both = [g.function if isinstance(g, Lifted) else g for g in (f.f, f.g)]
    return [type(g) for g in both] == [Constant, Identity]


def shift_of(f: Function) -> float:
    """The absolute values of what is constant in it, in all."""
    if isinstance(f, Twin):
        return shift_of(f.f) + shift_of(f.g)
    return shift_of(f.function) if isinstance(f, Lifted) else float(np.abs(f.value(f.inputs.neutral)).sum())
