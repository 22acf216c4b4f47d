"""Functions of the values of other functions: what all of them have from one rule."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar, NamedTuple, cast, final

import numpy as np

from liegroups import Segments, Space
from liegroups.arrays import Matrix, Vector

from ..point import MovingPoint, Point
from ..robot import Frame
from ..workspace import Workspace
from .affine import Constant
from .enclosures.box import Enclosure, TangentBox, of_many
from .expressions.jets import Jet
from .function import Function
from .group_motion import moving_value
from .lifted import robots_of


class Combined(Function):
    r"""A function of the values of other functions at the same point: :math:`f(q) = \varphi(f_1(q), \dots, f_n(q))`.

    It says how a value with its derivatives is made of those of its operands, for all orders at once. Operands that
    are alike, however deep, are evaluated once.
    """

    is_linear: ClassVar[bool] = False
    """Whether the Jacobian of the combination is the same everywhere."""

    @property
    @abstractmethod
    def operands(self) -> Sequence[Function]:
        """The functions whose values it is made of."""

    @abstractmethod
    def combine(self, jets: Sequence[Jet], workspace: Workspace) -> Jet:
        """The value, with as many derivatives as those of the operands have.

        Args:
            jets: of the operands.
            workspace: memory of the evaluation.

        Raises:
            UndefinedError: there is no value.
        """

    @final
    def declare_of(self, parts: Sequence[Function], inputs: Space, outputs: Space, name: str) -> None:
        """Declare it: it depends on the columns of all its parts, and has the periods that they share."""
        columns = np.logical_or.reduce([f.columns for f in parts])
        self.declare(inputs, outputs, columns, periodic=np.logical_and.reduce([f.periodic for f in parts]), name=name)

    @property
    def drifts_exactly(self) -> bool:
        """Whether accelerations are formulas, where those of the operands are."""
        return True

    @property
    def combines_exactly(self) -> bool:
        """Whether derivatives of accelerations are formulas, where those of the operands are."""
        return True

    def bend(self, jets: Sequence[Jet], y: Vector, workspace: Workspace) -> Matrix:
        r"""What :math:`D^T y` changes by with the operands, D the Jacobian by them, (n, n) of all their rows.

        Args:
            jets: of the operands, values alone.
            y: (outputs.nv,).
            workspace: memory of the evaluation.
        """
        n = sum(f.outputs.nv for f in self.operands)
        still, none, bent = np.zeros((n, 1)), np.zeros((n, n)), np.zeros((n, n))
        for i, pushed in enumerate(np.eye(n)[:, :, None]):
            local = Jet(y, np.eye(n), still, pushed, none, none, none)
            bent[i] = y @ self.combine(self._split(jets, local), workspace).by_q
        return bent

    @final
    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        made = _jets(_parts(self, point), point, jacobian is not None)[-1]
        value[:] = made.value
        if jacobian is not None:
            jacobian[:] = made.jacobian

    @abstractmethod
    def enclose(self, parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
        """Of the combination, from those of the operands.

        Args:
            parts: of the operands.
            box: of the configurations.
        """

    @final
    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        box.on(self.inputs, self.name)
        found = list[Enclosure]()
        for f, operands in distinct(self):
            own = f.enclose([found[k] for k in operands], box) if isinstance(f, Combined) else f.enclosed(box)
            found.append(own)
        return found[-1]

    @final
    def drift(self, motion: MovingPoint, out: Vector) -> None:
        point = motion.point
        jets = list[Jet]()
        for part in _parts(self, point):
            if isinstance(part.function, Combined):
                jets.append(part.function.combine([jets[k] for k in part.operands], point.workspace))
                continue
            part.function.evaluate(point, part.value, part.jacobian)
            acceleration = np.zeros(len(part.jacobian))
            part.function.drift(motion, acceleration)
            jets.append(Jet(part.value, None, (part.jacobian @ motion.v)[:, None], acceleration[:, None]))
        out[:] = jets[-1].acceleration[:, 0]

    @final
    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        jets = list[Jet]()
        for part in _parts(self, motion.point):
            if isinstance(part.function, Combined):
                jets.append(part.function.combine([jets[k] for k in part.operands], motion.point.workspace))
            else:
                jets.append(moving_value(part.function, motion, a))
        dq[:], dv[:] = jets[-1].by_q, jets[-1].by_v

    @final
    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        parts, workspace = _parts(self, point), point.workspace
        jets = [Jet(np.array(jet.value), np.array(jet.jacobian)) for jet in _jets(parts, point, True)]
        forces = [np.zeros(part.function.outputs.nv) for part in parts]
        forces[-1][:] = y
        out[:], own = 0.0, np.zeros(out.shape)
        for part, force in zip(reversed(parts), reversed(forces), strict=True):
            f, inner = part.function, [jets[k] for k in part.operands]
            if not isinstance(f, Combined):
                f.force_derivative(point, force, own)
                out += own
                continue
            n = sum(g.outputs.nv for g in f.operands)
            values = [Jet(jet.value) for jet in inner]
            pulled = force @ f.combine(f._split(values, Jet(force, np.eye(n))), workspace).jacobian
            for k, share in zip(part.operands, f._shares(pulled), strict=True):
                forces[k] += share
            if not f.is_linear:
                J = np.vstack([jet.jacobian for jet in inner])
                out += J.T @ f.bend(values, force, workspace) @ J

    @final
    def _shares(self, rows: Vector) -> list[Vector]:
        """Rows of each operand, of those of all."""
        ends = accumulate((f.outputs.nv for f in self.operands), initial=0)
        return [rows[start:end] for start, end in pairwise(ends)]

    @final
    def _split(self, jets: Sequence[Jet], local: Jet) -> list[Jet]:
        """Values of the operands, with derivatives by all of their rows."""
        shares = [[None] * len(jets) if field is None else self._shares(field) for field in local[1:]]
        return [Jet(jet.value, *(share[k] for share in shares)) for k, jet in enumerate(jets)]

    @property
    def has_exact_drift(self) -> bool:
        return all(f.drifts_exactly if isinstance(f, Combined) else f.has_exact_drift for f, _ in distinct(self))

    @property
    def has_exact_derivatives(self) -> bool:
        return all(
            f.combines_exactly if isinstance(f, Combined) else f.has_exact_derivatives for f, _ in distinct(self)
        )


class FunctionWithFormula(Function):
    """A function with a value and Jacobian by hand: all else is that of how it is `written` with operators."""

    written: Function

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        self.written.drift(motion, out)

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        self.written.drift_derivatives(motion, a, dq, dv)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        self.written.force_derivative(point, y, out)

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        return self.written.enclosure(box.on(self.inputs, self.name))


class _Part(NamedTuple):
    """A function that another one is made of, with memory for its value and Jacobian.

    Attributes:
        function: the function.
        operands: numbers of the parts that it is made of.
        value, jacobian: memory, of one that is not made of others.
        kept: of a constant, its value alone and with its Jacobian; else None.
    """

    function: Function
    operands: tuple[int, ...]
    value: Vector
    jacobian: Matrix
    kept: tuple[Jet, Jet] | None


FOLLOWING = frozenset({"_shadow", "_parts"})
"""Fields of functions of a centre of mass that follow from their arguments."""


class Likeness:
    """Numbers for functions: those that are alike get the same one. It keeps the functions that it has met."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, object]] = {}
        self._numbers: dict[Hashable, int] = {}

    def number(self, f: Function) -> int:
        """The number of a function.

        Functions of classes that are not of this library are alike only if they are the same object.

        Args:
            f: the function.
        """
        met = self._met.get(id(f))
        if met is None:
            ours = type(f).__module__.partition(".")[0] == "constraints"
            fields = ((name, self._key(entry)) for name, entry in vars(f).items() if name not in FOLLOWING)
            key = (type(f), *fields) if ours else id(f)
            met = self._met[id(f)] = self._numbers.setdefault(key, len(self._numbers)), f
        return met[0]

    def _key(self, thing: Any) -> Hashable:
        """What stands for something that a function is made of; itself, by its identity, where nothing else does."""
        if isinstance(thing, str | int | float | None):
            return type(thing), repr(thing)
        if isinstance(thing, np.ndarray):
            array = cast("Any", thing)
            return array.shape, array.dtype.str, array.tobytes()
        if isinstance(thing, Function):
            return Function, self.number(thing)
        if isinstance(thing, tuple | list):
            return tuple(self._key(entry) for entry in cast("tuple[Any, ...]", thing))
        if isinstance(thing, Frame):
            return Frame, thing.name, thing.joint, thing.placement.homogeneous.tobytes()
        if isinstance(thing, Segments):
            return thing.q, thing.v, self._key(thing.space)
        if isinstance(thing, Space) and not robots_of(thing):
            return thing
        self._met[id(thing)] = -1, thing  # its id is its own as long as it lives
        return id(thing)


def distinct(f: Function) -> list[tuple[Function, tuple[int, ...]]]:
    """The functions that one is made of, each once and after its operands, with the numbers of these; it comes last.

    Args:
        f: the function.
    """
    likeness, places = Likeness(), dict[int, int]()
    found: list[tuple[Function, tuple[int, ...]]] = []

    def place(part: Function) -> int:
        number = likeness.number(part)
        if number not in places:
            operands = tuple(map(place, part.operands)) if isinstance(part, Combined) else ()
            places[number] = len(found)
            found.append((part, operands))
        return places[number]

    place(f)
    return found


def _laid_out(f: Function) -> list[_Part]:
    parts = list[_Part]()
    for part, operands in distinct(f):
        value, jacobian = np.zeros(part.outputs.nq), np.zeros((part.outputs.nv, part.inputs.nv))
        kept = None
        if type(part) is Constant:
            value[:] = part.constant
            kept = Jet(value), Jet(value, jacobian)
        parts.append(_Part(part, operands, value, jacobian, kept))
    return parts


def _parts(f: Function, point: Point) -> list[_Part]:
    return point.workspace.resource(f, "parts", _laid_out, f)


def _jets(parts: list[_Part], point: Point, with_jacobian: bool) -> list[Jet]:
    """Of each part, to first order."""
    jets = list[Jet]()
    for f, operands, value, jacobian, kept in parts:
        if operands:
            made: Any = f
            jets.append(made.combine([jets[k] for k in operands], point.workspace))
        elif kept is not None:
            jets.append(kept[with_jacobian])
        else:
            f.evaluate(point, value, jacobian if with_jacobian else None)
            jets.append(Jet(value, jacobian if with_jacobian else None))
    return jets
