"""The implicit twin of an explicit map: f(q_in)^-1 g(q_out)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..errors import SpaceMismatchError
from ..functions.enclosures import maps as enclosing
from ..functions.enclosures.box import Enclosure, TangentBox, of_many
from ..functions.function import Function, as_function
from ..functions.group_motion import force_seen_from, moving_value, seen_from
from ..point import MovingPoint, Point


@dataclass(frozen=True, eq=False, repr=False)
class Twin(Function):
    r"""What an explicit map leaves to be explained: :math:`h(q) = f(q)^{-1}\, g(q)`, a point of their group.

    .. math:: J = J_g - \mathrm{Ad}_{h}^{-1} J_f

    With :math:`\log(rhs^{-1} h)` the rows are those of the explicit constraint: for SO(3),
    :math:`J_{log}(R_f^T R_{out})` on the outputs and :math:`-J_{log}(R_f^T R_{out})\, R_{out}^T R_f\, \partial f` on
    the inputs; for vectors, 1 and :math:`-\partial f`. Columns that are neither are exactly zero.

    Args:
        f, g: functions of the whole space into one group; f of the inputs, g of the outputs.

    Shapes:
        value (group.nq,), jacobian (group.nv, inputs.nv).

    Raises:
        SpaceMismatchError: if their spaces differ.

    Source: `explicit_::ImplicitFunction` of hpp-constraints, right on all groups.
    """

    f: Function
    g: Function

    def __post_init__(self) -> None:
        """Check that both are functions of one space into one group."""
        f, g = as_function(self.f, "f of a twin"), as_function(self.g, "g of a twin")
        for what, a, b in (("inputs", f.inputs, g.inputs), ("outputs", f.outputs, g.outputs)):
            if a != b:
                raise SpaceMismatchError(f"{what} of {g.name}", a.name, b.name)
        self.declare(
            f.inputs, f.outputs, f.columns | g.columns, periodic=f.periodic & g.periodic, name=f"twin of {f.name}"
        )

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        group = self.outputs
        if jacobian is None:
            f, g = point.scratch(self, "f", (group.nq,)), point.scratch(self, "g", (group.nq,))
            self.f.evaluate(point, f)
            self.g.evaluate(point, g)
            value[:] = group.compose(group.inverse(f), g)
            return
        h, Jf, Jg = self._both(point)
        value[:] = h
        np.subtract(Jg, group.adjoint(group.inverse(h)) @ Jf, jacobian)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        r"""Write :math:`\dot\nu_g - d(\mathrm{Ad}_h^{-1}\nu_f)/dt`, with the body velocities of f and g."""
        group = self.outputs
        h, Jf, Jg = self._both(motion.point)
        drift_f, drift_g = np.zeros(group.nv), np.zeros(group.nv)
        self.f.drift(motion, drift_f)
        self.g.drift(motion, drift_g)
        out[:] = group.relative_motion(h, (Jg @ motion.v, drift_g), (Jf @ motion.v, drift_f))[1]

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        moving = seen_from(self.outputs, moving_value(self.g, motion, a), moving_value(self.f, motion, a))
        dq[:], dv[:] = moving.by_q, moving.by_v

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        out[:] = force_seen_from(self.g, self.f, point, y)

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        f, g = self.f.enclosed(box.on(self.inputs, self.name)), self.g.enclosed(box)
        return enclosing.seen_from(self.outputs, g, f, box)

    def _both(self, point: Point) -> tuple[Vector, Matrix, Matrix]:
        """The value, and the Jacobians of f and g."""
        group = self.outputs
        f, g = point.scratch(self, "f", (group.nq,)), point.scratch(self, "g", (group.nq,))
        Jf = point.scratch(self, "Jf", (group.nv, self.inputs.nv))
        Jg = point.scratch(self, "Jg", (group.nv, self.inputs.nv))
        self.f.evaluate(point, f, Jf)
        self.g.evaluate(point, g, Jg)
        return group.compose(group.inverse(f), g), Jf, Jg
