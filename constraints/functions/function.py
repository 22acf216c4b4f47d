"""Differentiable functions between configuration spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast, final

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import as_name, as_tuple, expect
from liegroups.arrays import ArrayLike, BoolVector, Matrix, TangentLike, Vector
from liegroups.frozen import read_only, set_fields
from liegroups.space import as_space

from ..errors import NoEnclosureError, SizeError, UndefinedError
from ..point import MovingPoint, Point, motion_at, place_alone
from .differences import (
    drift_by_differences,
    drift_derivatives_by_differences,
    force_derivative_by_differences,
    force_derivative_by_rates,
)
from .function_guard import Answering, declared, watch
from .signs import Signs

if TYPE_CHECKING:
    from .enclosures.box import Enclosure, TangentBox
    from .from_callable import CompiledFunction, FromCallable
    from .restriction import Restriction


class ValueAndJacobian(NamedTuple):
    """Value and Jacobian of a function at one configuration."""

    value: Vector
    jacobian: Matrix


class Function(Signs, Answering, ABC):
    r"""A differentiable function :math:`h: \mathcal{C} \to \mathcal{L}` between two spaces that are Lie groups.

    Its Jacobian maps tangent vectors of the inputs to tangent vectors of the outputs, both in the body frame:

    .. math:: h(q \oplus v) = h(q) \oplus (J(q)\, v + o(\|v\|)), \quad J \in \mathbb{R}^{n_v^{out} \times n_v^{in}}

    A subclass is a `@dataclass(frozen=True, eq=False)` of arrays, integers, frames and functions, that calls
    `declare` in `__post_init__` and implements `evaluate`; `functions/frames/_template.py` is an example to copy. It
    has no state and no cache, and changes nothing. Two functions are equal only if they are the same object.

    Attributes:
        inputs: space of the argument.
        outputs: space of the value.
        name: its name in messages.
        columns: (inputs.nv,) true for the tangent columns the value can depend on; the others are zero in the Jacobian.
        periodic: (inputs.nv,) true for columns that, as the angle of a revolute joint, can change by a full turn
            without changing the value. It is true for columns that the function does not depend on.
    """

    inputs: Space = declared()
    outputs: Space = declared()
    name: str = declared()
    columns: BoolVector = declared()
    periodic: BoolVector = declared()
    written_in: ClassVar[Mapping[str, str]] = {}
    """Where the user writes what a method gives, where that is not in the method: for words of `check_function`."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Watch classes that are not of this library: what they forget to write is an error, no value."""
        super().__init_subclass__(**options)
        if cls.__module__.partition(".")[0] != "constraints":
            watch(cls)

    @final
    def declare(
        self,
        inputs: Space,
        outputs: Space,
        columns: ArrayLike | None = None,
        *,
        periodic: bool | BoolVector = False,
        name: str | None = None,
    ) -> None:
        """Declare inputs and outputs of the function, once, in `__post_init__`.

        Args:
            inputs, outputs: the two spaces.
            columns: (inputs.nv,) booleans, true for the columns the value can depend on; all of them by default.
            periodic: whether full turns of revolute joints keep the value, for all columns or by column.
            name: name in messages; the class' name by default.

        Raises:
            SizeError: if `columns` or `periodic` has another size than the tangent of the inputs.
            WrongObjectError: the name is not a string, or a space is not a Space.
        """
        who = type(self).__name__
        as_space(inputs, f"inputs of {who}")
        as_space(outputs, f"outputs of {who}")
        name = who if name is None else as_name(name, f"name of {who}")
        if columns is None:
            on = np.ones(inputs.nv, dtype=np.bool_)
        else:
            on = np.array(columns, dtype=np.bool_)
        turns = np.array(
            np.broadcast_to(periodic, on.shape) if isinstance(periodic, bool) else periodic, dtype=np.bool_
        )
        for what, vector in (("columns", on), ("periodic", turns)):
            if vector.shape != (inputs.nv,):
                raise SizeError(f"{what} of {who}", (inputs.nv,), vector.shape)
        turns = turns | ~on
        set_fields(self, inputs=inputs, outputs=outputs, columns=read_only(on), periodic=read_only(turns), name=name)

    # What a subclass writes.

    @abstractmethod
    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """Write the value at `point`, and the Jacobian if an array for it is given.

        Args:
            point: `point.q` is the configuration; the point of a robot gives its kinematics too.
            value: (outputs.nq,) to be filled.
            jacobian: (outputs.nv, inputs.nv), C-contiguous, or None. Columns outside `columns` are zero on entry and
                must stay so; every other one is written, not added to.

        Raises:
            UndefinedError: the function has no value there.
        """

    def compact(self, point: Point, value: Vector) -> Matrix:
        """Write the value, and return the declared columns of the Jacobian (outputs.nv, `columns` that are true).

        For sparse rows. Override it if these columns cost less than the whole Jacobian.
        """
        J: Matrix = point.scratch(self, "whole", (self.outputs.nv, self.inputs.nv))
        self.evaluate(point, value, J)
        return J[:, self.columns]

    rotation_vector_blocks: Sequence[slice] = ()
    """Blocks of the argument that are rotation vectors: any of the same rotation gives the same value."""

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        r"""Write :math:`\dot J(q, v)\, v`: the output acceleration at zero input acceleration.

        The default is a central difference of :math:`J(q \oplus t v)\, v` along the manifold, in a second workspace
        (relative error about 1e-9); `has_exact_drift` is False then.

        Args:
            motion: where, and how fast.
            out: (outputs.nv,) to be filled.
        """
        drift_by_differences(self, motion, out)

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        r"""Write the derivatives of :math:`J(q)\, a + \dot J(q, v)\, v` by q (v and a kept) and by v.

        The default uses five-point differences along the manifold; `has_exact_derivatives` is False then.

        Args:
            motion: where, and how fast.
            a: tangent acceleration (inputs.nv,).
            dq, dv: (outputs.nv, inputs.nv) to be filled.
        """
        drift_derivatives_by_differences(self, motion, a, dq, dv)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        r"""Write the derivative of :math:`J(q)^T y`, the joint forces of multipliers y, by q with y constant.

        The default calls `drift_derivatives` for each column, or uses differences if that method does.

        Args:
            point: where.
            y: (outputs.nv,).
            out: (inputs.nv, inputs.nv) to be filled.
        """
        by_rates = type(self).drift_derivatives is not Function.drift_derivatives
        (force_derivative_by_rates if by_rates else force_derivative_by_differences)(self, point, y, out)

    def enclosure(self, box: TangentBox) -> Enclosure:
        r"""What is proved of value and Jacobian on a box of configurations, :math:`|v_k| \le r_k` around its centre.

        A subclass may write it: with `Interval` for arithmetic that is rounded outward, and `Enclosure.centred` for the
        value by the mean value theorem. `check_function` looks for counterexamples. Certificates rest on it.

        Args:
            box: of the inputs.

        Raises:
            NoEnclosureError: the function has none, as those that are Python code.
            UndefinedError: it may have no value somewhere on the box, or the box is too large for the bounds.
        """
        why = "its class writes none (Function.enclosure)"
        raise NoEnclosureError(f"{self.name} ({type(self).__name__})", why)

    @final
    def enclosed(self, box: TangentBox) -> Enclosure:
        """As `enclosure`, of one box or of several: one by one, where its class does not write all at once."""
        if not box.leading or getattr(type(self).enclosure, "of_many", False):
            return self.enclosure(box)
        parts: list[Enclosure] = []
        fails, why = np.zeros(box.leading, dtype=np.bool_), ""
        for i, one in enumerate(box.each):
            try:
                parts.append(self.enclosure(one))
            except UndefinedError as error:
                fails[i], why = True, str(error)
        if why:
            raise UndefinedError(why, fails)
        return type(parts[0]).each(parts)

    def translated(self, element: Vector) -> Function:
        """This function times a constant element of its outputs, on the right; subclasses may have a cheaper form.

        Args:
            element: c (outputs.nq,).
        """
        from .translation import RightTranslation

        return RightTranslation(self.outputs, element) @ self

    def relative(self, turn: Function, origin: Function) -> Function | None:
        """The one function that `rotated(inverse(turn), self - origin)` is, where a subclass knows it."""
        return None

    # What follows from it.

    @property
    def has_exact_drift(self) -> bool:
        """True if `drift` is a formula, not a finite difference, here and in all functions used by this one."""
        return type(self).drift is not Function.drift and all(f.has_exact_drift for f in self._held())

    @property
    def has_exact_derivatives(self) -> bool:
        """True if `drift_derivatives` is a formula, here and in all functions used by this one."""
        own = type(self).drift_derivatives is not Function.drift_derivatives
        return own and all(f.has_exact_derivatives for f in self._held())

    @final
    def functions_within(self) -> Iterator[Function]:
        """This function, then all functions that it is made of."""
        yield self
        for held in self._held():
            yield from held.functions_within()

    @final
    def _held(self) -> Iterator[Function]:
        """The functions that this one is made of."""
        fields: list[Any] = list(vars(self).values())
        for field in fields:
            for entry in cast("tuple[Any, ...]", field) if isinstance(field, tuple) else (field,):
                if isinstance(entry, Function):
                    yield entry

    @final
    def value(self, q: ArrayLike) -> Vector:
        """Value (outputs.nq,) at q, a copy.

        Args:
            q: configuration (inputs.nq,), checked.
        """
        return self.value_of(self.inputs.check(q, f"argument of {self.name}"))

    @final
    def __call__(self, q: ArrayLike) -> Vector:
        """`value`."""
        return self.value(q)

    @final
    def value_of(self, q: Vector) -> Vector:
        """As `value`, without checking q."""
        value = np.zeros(self.outputs.nq)
        self.evaluate(place_alone(self.inputs, q), value)
        return value

    @final
    def jacobian(self, q: ArrayLike) -> Matrix:
        """Jacobian (outputs.nv, inputs.nv) at q, a copy.

        Args:
            q: configuration (inputs.nq,), checked.
        """
        return self.linearise(q).jacobian

    @final
    def linearise(self, q: ArrayLike) -> ValueAndJacobian:
        """Value and Jacobian at q in one evaluation, copies.

        Args:
            q: configuration (inputs.nq,), checked.
        """
        return self.linearised_at(self._point(q))

    @final
    def drift_at(self, q: ArrayLike, v: TangentLike) -> Vector:
        r"""`drift` at given numbers, a copy: the bias acceleration :math:`\dot J(q, v)\, v` (outputs.nv,).

        Args:
            q: configuration (inputs.nq,), checked.
            v: velocity (inputs.nv,), checked.
        """
        velocity = self.inputs.check_tangent(v, f"velocity of {self.name}")
        point, out = self._point(q), np.zeros(self.outputs.nv)
        self.drift(motion_at(point, velocity), out)
        return out

    @final
    def restricted(self, rows: Segments | Sequence[int]) -> Restriction:
        """A function with some rows of the value: any coordinates of vector outputs, rotations only as a whole."""
        from .restriction import Restriction

        return Restriction(self, rows)

    @final
    def on(self, space: Space, block: Segments | None = None) -> Function:
        """The same function on a bigger space that has `inputs` as a factor (or as `block`)."""
        from .lifted import lifted

        return lifted(self, space, block)

    @final
    @staticmethod
    def from_callable(
        f: Callable[[Vector], ArrayLike],
        inputs: Space,
        outputs: Space,
        jacobian: Callable[[Vector], ArrayLike] | None = None,
        *,
        columns: ArrayLike | None = None,
        name: str | None = None,
        trace: bool = True,
    ) -> FromCallable:
        """Wrap any Python function of a configuration.

        Without `jacobian` its formula is read, if it can be, and what it captured is frozen (`describe()` says so;
        `trace=False` turns that off); elsewhere derivatives are by complex steps, or central differences. What f may
        return, shapes and errors are those of `FromCallable`; `columns` are its `used`, `name` its `label`.
        """
        from .from_callable import FromCallable

        return FromCallable(f, inputs, outputs, jacobian, columns, name, trace=trace)

    @final
    @staticmethod
    def compiled(
        address: Any, inputs: Space, outputs: Space, *, columns: ArrayLike | None = None, name: str
    ) -> CompiledFunction:
        """Wrap machine code: C `int f(const double *q, double *value, double *jacobian_or_NULL)`.

        The Jacobian is (outputs.nv, inputs.nv) by tangent coordinates, row by row; 0 says a value, 1 that there is
        none. See `CompiledFunction`.

        Args:
            address: an address, a function pointer of ctypes, or what `numba.cfunc` makes.
            inputs, outputs: the two spaces.
            columns: (inputs.nv,) true for the columns that the value can depend on; all by default.
            name: name in messages.
        """
        from .from_callable import CompiledFunction

        return CompiledFunction(address, inputs, outputs, columns, name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        seen: str = getattr(self, "seen_from", "")  # of poses
        seen = f", {seen}" if seen else ""
        return f"{type(self).__name__}({self.name!r}: {self.inputs.name} -> {self.outputs.name}{seen})"

    @final
    def _point(self, q: ArrayLike) -> Point:
        return place_alone(self.inputs, self.inputs.check(q, f"argument of {self.name}"))

    @final
    def linearised_at(self, point: Point) -> ValueAndJacobian:
        """Value and Jacobian at a point, copies."""
        value, jacobian = np.zeros(self.outputs.nq), np.zeros((self.outputs.nv, self.inputs.nv))
        self.evaluate(point, value, jacobian)
        return ValueAndJacobian(value, jacobian)


def as_function(candidate: Any, what: str, expected: str = "a Function") -> Function:
    """The candidate, or a typed error that names it."""
    return expect(candidate, Function, what, expected)


def as_functions(candidates: Any, of: str, entries: str) -> tuple[Function, ...]:
    """At least one function, or a typed error that names what is none.

    Args:
        candidates: a sequence.
        of: what is made of them, in messages.
        entries: the functions, in words.
    """
    listed = as_tuple(candidates, f"functions of {of}", entries)
    if not listed:
        raise SizeError(f"functions of {of}", "at least one", 0)
    return tuple(as_function(f, f"function {i} of {of}") for i, f in enumerate(listed))
