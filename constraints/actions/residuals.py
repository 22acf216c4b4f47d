"""Functions of a stage, evaluated together: values less references, with Jacobians by state and control."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arguments import expect, refuse_repeated
from liegroups.arrays import Indices, Matrix, Vector

from ..functions.function import Function
from ..point import place
from ..workspace import Pool, Workspace
from .state_space import StageSpace


class StagePlace(NamedTuple):
    """Where a stage is evaluated.

    Attributes:
        point: (q, v, u, forces), with zeros for what a terminal node does not have.
        terminal: whether there are no controls, and no forces.
        moved: derivatives of the forces by state and control (nf, ndx + nu); None where they are not known.
    """

    point: Vector
    terminal: bool
    moved: Matrix | None

    @classmethod
    def of(
        cls, stage: StageSpace, x: Vector, u: Vector | None, forces: Vector | None = None, moved: Any = None
    ) -> StagePlace:
        """The place of a state, a control and forces.

        Args:
            stage: the space of the point.
            x: (nx,).
            u: (nu,); None at a terminal node.
            forces: multipliers (nf,); zeros by default.
            moved: their derivatives by x and by u.
        """
        control = np.zeros(stage.nu) if u is None else u
        push = np.zeros(stage.nf) if forces is None else forces
        point = np.concatenate((x, control, push[: stage.nf]))
        return cls(point, u is None, None if moved is None else np.hstack(moved)[: stage.nf])


class Term:
    """What costs and constraints of a stage have: a function, its reference and a name."""

    function: Function
    reference: Any
    name: str

    @property
    def label(self) -> str:
        """Its name, or that of its function."""
        return self.name or self.function.name


@final
class Residuals:
    r"""Stacked residuals :math:`r_i = f_i(x, u) \ominus y_i` of functions of one stage.

    Functions of the forces of contacts are differentiated through them:
    :math:`R = \partial_{x,u} f + \partial_\lambda f\; \partial\lambda / \partial(x, u)`.

    Args:
        stage: where they live.
        terms: costs, or constraints; y_i is their reference, a point of the output group.
        kind: of these.
        word: what they are called in messages.

    Attributes:
        functions: of the terms, as functions of the stage.
        size: of all rows.
        slices: the rows of each.
        running: positions of those that depend on controls or forces, which terminal nodes leave out.
    """

    def __init__(self, stage: StageSpace, terms: Sequence[Term], kind: type[Term], word: str) -> None:
        for i, term in enumerate(terms):
            expect(term, kind, f"{word} {i} of an action")
        labels = [term.label for term in terms]
        refuse_repeated(labels, f"{word} of an action")
        functions = tuple(stage.lift(term.function) for term in terms)
        self._stage, self.functions = stage, functions
        self._references = [
            f.outputs.neutral
            if term.reference is None
            else np.array(f.outputs.check(term.reference, f"reference of {word} '{term.label}'"))
            for term, f in zip(terms, functions, strict=True)
        ]
        stops = np.cumsum([0, *(f.outputs.nv for f in functions)]).tolist()
        self.slices = tuple(slice(a, b) for a, b in pairwise(stops))
        self.size: int = stops[-1]
        self.running = frozenset(i for i, f in enumerate(functions) if stage.sees_controls(f))
        self._pool = Pool(Workspace)

    def rows_of(self, which: Sequence[int]) -> Indices:
        """Rows of some of the functions, in order."""
        rows = [np.arange(self.slices[i].start, self.slices[i].stop, dtype=np.intp) for i in which]
        return np.concatenate([np.zeros(0, dtype=np.intp), *rows])

    def values(self, at: StagePlace) -> Vector:
        """Values (size,); zero for what a terminal node leaves out."""
        return self._evaluated(at, slopes=False)[0]

    def slopes(self, at: StagePlace) -> tuple[Vector, Matrix]:
        """Values (size,), and Jacobians (size, ndx + nu) by state and control."""
        value, J = self._evaluated(at, slopes=True)
        n = self._stage.state.ndx + self._stage.nu
        own = J[:, :n]
        if J[:, n:].any():
            own = own + (np.full(own.shape, np.nan) if at.moved is None else J[:, n:] @ at.moved)
        return value, own

    def _evaluated(self, at: StagePlace, *, slopes: bool) -> tuple[Vector, Matrix]:
        space = self._stage.space
        value = np.zeros(self.size)
        J = np.zeros((self.size if slopes else 0, space.nv))
        if not self.size:
            return value, J
        workspace = self._pool.take()
        point = place(space, at.point, workspace)
        for i, (f, reference, s) in enumerate(zip(self.functions, self._references, self.slices, strict=True)):
            if at.terminal and i in self.running:
                continue
            seen = np.zeros(f.outputs.nq)
            f.evaluate(point, seen, J[s] if slopes else None)
            f.outputs.write_error(reference, seen, value[s], J[s] if slopes else None)
        if not workspace.is_crowded:
            self._pool.give(workspace)
        return value, J
