"""A function of one factor, seen as a function of the whole product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import expect
from liegroups.arrays import Matrix, Vector
from liegroups.space import as_space

from ..errors import RobotMismatchError, SpaceMismatchError
from ..point import MovingPoint, PlacedSpace, Point
from .enclosures.box import Enclosure, TangentBox, of_many
from .enclosures.interval import Interval
from .function import Function, as_function
from .group_motion import force_derivative_of


@dataclass(frozen=True, eq=False, repr=False)
class Lifted(Function):
    r"""A function of one block of a space as a function of the whole space: it receives the point of its block.

    .. math:: h(q) = f(q_{block}), \quad J = J_f(q_{block}) \text{ in the columns of the block}

    Args:
        function: function of the block's space.
        space: the whole space.
        block: which block.

    Shapes:
        value (outputs.nq,), jacobian (outputs.nv, space.nv): zero outside the block.

    Raises:
        SpaceMismatchError: if the space of the block is not the input space of the function.

    Source: `function::OfParameterSubset` of hpp-constraints.
    """

    function: Function
    space: Space
    block: Segments

    def __post_init__(self) -> None:
        f = as_function(self.function, "function to be lifted")
        block = expect(self.block, Segments, f"block for {f.name}", "Segments of the space")
        if block.space != f.inputs:
            raise SpaceMismatchError(f"block for {f.name}", f.inputs.name, block.space.name)
        columns, periodic = np.zeros(self.space.nv, dtype=np.bool_), np.ones(self.space.nv, dtype=np.bool_)
        columns[block.v_indices] = f.columns
        periodic[block.v_indices] = f.periodic
        self.declare(self.space, f.outputs, columns, periodic=periodic, name=f.name)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        part = point.part(self.block)
        if jacobian is None:
            self.function.evaluate(part, value)
            return
        # Functions write into contiguous memory, which a block of columns is not.
        J = point.scratch(self, "jacobian", (self.outputs.nv, self.function.inputs.nv))
        self.function.evaluate(part, value, J)
        jacobian[:, self.block.v_indices] = J

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        part, v = self.function.enclosed(box.on(self.inputs, self.name).part(self.block)), self.block.v_indices
        lower, upper = np.zeros((2, *box.leading, self.outputs.nv, self.inputs.nv))
        lower[..., v], upper[..., v] = part.jacobian.lower, part.jacobian.upper
        return Enclosure(part.value, part.rounding, Interval(lower, upper), lambda: part.error)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        self.function.drift(motion.part(self.block), out)

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        f, v = self.function, self.block.v_indices
        by_q, by_v = np.zeros((2, f.outputs.nv, f.inputs.nv))
        f.drift_derivatives(motion.part(self.block), a[v], by_q, by_v)
        dq[:], dv[:] = 0.0, 0.0
        dq[:, v], dv[:, v] = by_q, by_v

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        v = self.block.v_indices
        out[:] = 0.0
        out[np.ix_(v, v)] = force_derivative_of(self.function, point.part(self.block), y)


def lifted(function: Function, space: Space, block: Segments | None = None) -> Function:
    """The function on a bigger space; itself where it lives there already.

    Args:
        function: the function.
        space: the whole space.
        block: the block it lives on; by default the one factor of the product that is its input space.

    Raises:
        SpaceMismatchError: if no factor, or more than one, fits.
    """
    as_space(space, f"space for {function.name}")
    if block is None:
        if same_space(function.inputs, space):
            return function
        block = block_of(function.inputs, space, f"space for {function.name}")
    return Lifted(function, space, block)


def block_of(part: Space, space: Space, what: str) -> Segments:
    """The block of a space that another one is: all of it, or its one factor that is that space.

    Args:
        part: the other space.
        space: the space.
        what: how messages name it.

    Raises:
        SpaceMismatchError: no factor, or more than one, fits.
    """
    if same_space(part, space):
        return Segments.all(space)
    fitting = [i for i, factor in enumerate(space.factors) if same_space(part, factor.space)]
    if len(fitting) != 1:
        found = f"{space.name} ({'no' if not fitting else len(fitting)} fitting factors)"
        raise SpaceMismatchError(what, part.name, found)
    return Segments.of(space, fitting[0])


def same_space(a: Space, b: Space) -> bool:
    """Equal spaces; where a is a robot's, or has robots as factors, those of the same robots."""
    if isinstance(a, PlacedSpace) or isinstance(b, PlacedSpace):
        return isinstance(a, PlacedSpace) and a.same_robot(b)
    if a != b:
        return False
    mine, theirs = robots_of(a), robots_of(b)
    return not mine or (len(mine) == len(theirs) and all(x.same_robot(y) for x, y in zip(mine, theirs, strict=True)))


def common_inputs(functions: Sequence[Function], what: str = "") -> Space:
    """The one input space of some functions: a robot's, if one of them is of a robot.

    Args:
        functions: at least one.
        what: how messages name the inputs; by the function that does not fit, if absent.

    Raises:
        SpaceMismatchError, RobotMismatchError: spaces of different structure, or of two robots.
    """
    of_robots = [f.inputs for f in functions if robots_of(f.inputs)]
    inputs = (of_robots or [functions[0].inputs])[0]
    for f in functions:
        if f.inputs != inputs:
            raise SpaceMismatchError(what or f"inputs of {f.name}", inputs.name, f.inputs.name)
        if not same_space(f.inputs, inputs) and robots_of(f.inputs):
            raise RobotMismatchError(
                f"{what or f'inputs of {f.name}'}: expected functions of one robot; build them on one Robot object"
            )
    return inputs


def robots_of(space: Space) -> list[PlacedSpace]:
    """The spaces of robots that a space is, or has as factors."""
    if isinstance(space, PlacedSpace):
        return [space]
    return [factor.space for factor in space.factors if isinstance(factor.space, PlacedSpace)]
