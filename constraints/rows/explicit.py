"""Explicit constraints: some variables are a function of others."""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, pi
from types import NoneType
from typing import Any, Self, final

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import as_flag, as_name, expect
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import keep_own, set_fields
from liegroups.space import as_space

from ..errors import OptionError, OverlapError, SizeError, SpaceMismatchError, UndefinedError, WrongObjectError
from ..functions.affine import Identity
from ..functions.algebra import Composition
from ..functions.function import Function, as_function
from ..functions.lifted import Lifted, block_of, same_space
from ..functions.translation import RightTranslation, Translated
from ..linear_algebra import norm
from ..point import Point, revolute_columns
from ..words import counted
from .comparison import Comparison
from .implicit import UNCHANGING, Implicit
from .row_owner import RowOwner
from .twin import Twin


@final
@UNCHANGING
@dataclass(frozen=True, eq=False, repr=False)
class Explicit(RowOwner):
    r"""Output variables that are computed from input variables.

    .. math:: q_{out} = g^{-1}\left( f(q_{in})\; rhs \right)

    with the product in the output group of f. Errors and satisfaction are those of its implicit twin
    :math:`h(q) = f(q_{in})^{-1} g(q_{out})`, with the same right-hand side, which is also the fall-back. A twin may
    have other branches, on which it gives other outputs for the same inputs, as the closing equations of a loop have:
    with `has_branches` they do not satisfy the constraint while it is explicit (`branch_error`).

    Args:
        f: function of the input block, or of the whole space (its declared columns are then the inputs).
        outputs: block of the whole space that is computed; it may consist of several segments.
        inputs: block of the whole space that is the argument of f; None if f takes the whole space.
        g: function of the output block into the group of f; the identity by default.
        g_inverse: its inverse, from the group of f to the output block.
        implicit: another twin, a function of the whole space; right-hand sides are then given in its coordinates.
        rhs_map: function from the output space of this twin to the group of f; it converts right-hand sides.
        comparison: as in `Implicit`; EQUAL_TO_ZERO by default. Inequality rows and masked rows make the
            constraint implicit.
        rhs: default right-hand side; the neutral element by default.
        mask: rows that count, as in `Implicit`.
        level: the level of its twin, if the twin must be solved instead.
        whole: the whole space; by default the inputs of f if `inputs` is None, else taken from the problem.
        has_branches: whether the twin has other solutions for the same inputs; they do not count as satisfied.
        exact_parts: set by `known_exact`, for copies by `dataclasses.replace`.
        name: name in messages; that of f by default.

    Attributes:
        map: f as a function of the whole space, if the whole space is known.
        twin: the implicit constraint with the same solutions, if the whole space is known.

    Raises:
        OverlapError: inputs and outputs share coordinates.
        SpaceMismatchError: spaces that do not match.
        SizeError: segments that reach beyond the whole space.
        OptionError, WrongObjectError: another argument is wrong.

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
    has_branches: bool = field(default=False, kw_only=True)
    exact_parts: tuple[object, ...] = field(default=(), kw_only=True)
    name: str = field(default="", kw_only=True)

    map: Function = field(init=False)
    twin: Implicit = field(init=False)

    def __post_init__(self) -> None:
        """Check what can be checked without the whole space; bind where it is known."""
        f = as_function(self.f, "f of an explicit constraint")
        set_fields(self, name=self.name or f.name)
        keep_own(self, "comparison", "rhs", "mask")  # read again when it is bound or moved
        self._check_kinds()
        if not self.outputs.v:
            raise WrongObjectError(f"outputs of {self.name!r}", "at least one coordinate", "none")
        if (self.g is None) != (self.g_inverse is None):
            raise WrongObjectError(f"g of {self.name!r}", "g and g_inverse together", "only one of them")
        if self.inputs is not None and self.inputs.overlaps(self.outputs):
            shared = sorted(set(self.inputs.v) & set(self.outputs.v))
            raise OverlapError(f"inputs and outputs of {self.name!r}", "share coordinates", shared)
        self._check_spaces(f)
        space = self.whole if self.inputs is not None else f.inputs
        if space is not None:
            self._bind(space)

    def _check_kinds(self) -> None:
        """What each argument is; and a level that is one."""
        as_name(self.name, "name of an explicit constraint")
        expect(self.outputs, Segments, f"outputs of {self.name!r}", "Segments")
        kinds = (Segments, "inputs"), (Space, "whole"), (Function, "g", "g_inverse", "implicit", "rhs_map")
        for kind, *optional in kinds:
            for what in optional:
                expect(getattr(self, what), (kind, NoneType), f"{what} of {self.name!r}", kind.__name__)
        if type(self.level) is not int or self.level < 0:
            raise OptionError(f"level of {self.name!r}: expected 0, 1, 2, ..., got {self.level!r}")
        as_flag(self.has_branches, f"has_branches of {self.name!r}")

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
        whole = twin.rows.is_plain and bool(twin.rows.mask.all())
        blocks = self.rhs_map.rotation_vector_blocks if self.rhs_map is not None and whole else ()
        self.take_rows(h, twin.rows, self.rhs, wrapped_rotation_vectors=blocks)
        set_fields(self, map=f, twin=twin, space=space)

    def on(self, space: Space) -> Explicit:
        """The same constraint on a whole space: bound to it, or lifted from one of its factors."""
        as_space(space, f"space for {self.name!r}")
        if self.is_bound:
            return self if same_space(self.space, space) else self._moved(space)
        bound = self.copy_of()
        set_fields(bound, whole=space)
        bound._bind(space)
        return bound

    def _moved(self, space: Space) -> Explicit:
        """The constraint of one factor as a constraint of the product."""
        f = self.function_on(self.map, space)
        block = block_of(self.map.inputs, space, self.name)
        outputs = Segments(
            tuple(block.q[i] for i in self.outputs.q), tuple(block.v[i] for i in self.outputs.v), self.outputs.space
        )
        twin = self.implicit and self.implicit.on(space)
        moved = replace(self, f=f, outputs=outputs, inputs=None, implicit=twin, whole=None)
        moved = moved.known_exact() if self.is_exact else moved
        set_fields(moved, _original=self.original)
        return moved

    @property
    def is_bound(self) -> bool:
        """Whether the whole space is known."""
        return hasattr(self, "twin")

    # Resolution.

    @property
    def is_constant(self) -> bool:
        """Whether the outputs depend on no input."""
        return not self.map.columns.any()

    def known_exact(self) -> Self:
        """The same constraint, marked by its author: the computed outputs always satisfy the twin."""
        exact = copy.copy(self)
        set_fields(exact, exact_parts=self._parts)
        return exact

    @property
    def is_exact(self) -> bool:
        """Whether the computed outputs are known to satisfy the twin; if not, a solver evaluates the twin too.

        True if neither g nor another twin is given, or if its author marked it (`known_exact`) and its parts are
        still the same.
        """
        said = bool(self.exact_parts) and all(map(operator.is_, self.exact_parts, self._parts))
        return said or (self.g is None and self.implicit is None)

    @property
    def _parts(self) -> tuple[object, ...]:
        return self.f, self.outputs, self.inputs, self.g, self.g_inverse, self.implicit, self.rhs_map

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

    def branch_error(self, point: Point, rhs: Vector) -> float:
        r"""What is left of the error of the twin when its outputs go to the computed ones, to first order.

        .. math:: \| e(q) + J_{out}(q)\,(q_{out}^{computed} \ominus q_{out}) \|

        It is small near the computed outputs (of second order), and not small on another branch. Motions of the outputs
        that no row sees do not count, nor do whole turns that the twin allows.

        Args:
            point: where.
            rhs: right-hand side, in the coordinates of the twin.

        Returns:
            Zero without `has_branches`; infinite where nothing can be computed.
        """
        if not self.has_branches:
            return 0.0
        computed, columns = np.zeros(self.outputs.space.nq), self.outputs.v_indices
        try:
            self.output_function(rhs).evaluate(point, computed)
        except UndefinedError:
            return inf
        way = self.outputs.space.difference(point.q[self.outputs.q_indices], computed)
        turning = (self.periodic & revolute_columns(self.space))[columns]
        way[turning] -= 2.0 * pi * np.round(way[turning] / (2.0 * pi))
        error, J = np.zeros(self.group.nv), np.zeros((self.group.nv, self.space.nv))
        self.write_position(point, rhs, error, J)
        return norm(error + J[:, columns] @ way)

    def refusal(self) -> str | None:
        """Why it cannot be resolved explicitly, independent of the other constraints; None if it can."""
        for row, (word, counts) in enumerate(zip(self.rows.words, self.rows.mask, strict=True)):
            if not counts:
                return f"row {row} is masked, so the outputs would not be determined"
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

    def __repr__(self) -> str:
        return f"Explicit({self.name!r}: {counted(len(self.outputs), 'dof')})"


def _check_block(block: Segments, space: Space, what: str) -> None:
    """Refuse segments that are no block of the space: beyond it, other groups there, not in order."""
    if not set(block.v) <= set(range(space.nv)):
        raise SizeError(f"{what} on {space.name}: tangent coordinates", f"below {space.nv}", list(block.v))
    there = Segments.coordinates(space, block.v)
    if there != block:
        names = [f"{b.space.name} at {list(b.q)}" for b in (there, block)]
        raise SpaceMismatchError(f"{what} on {space.name}", *names)
