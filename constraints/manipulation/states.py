"""Nodes and edges of a constraint graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

from liegroups.arguments import as_flag, as_name, expect
from liegroups.frozen import set_fields

from ..errors import GraphError, WrongObjectError
from ..ranges import whole_number
from ..rows.row_owner import RowOwner
from ..words import counted
from .arguments import all_of, as_owners
from .foliation import refuse_free_rows


class _Named:
    """What has a name and is no text: to compare it with one raises, since it would never be equal."""

    name: str

    def __eq__(self, other: object) -> bool:
        """Whether it is the same object.

        Raises:
            WrongObjectError: the other is text; shows how names are compared.
        """
        if isinstance(other, str):
            kind = type(self).__name__
            way = f"another {kind}; its name is text: {kind.lower()}.name == {other!r}"
            raise WrongObjectError(f"comparison of a {kind} with {other!r}", way, "text")
        return True if self is other else NotImplemented

    __hash__ = object.__hash__


@final
@dataclass(frozen=True, eq=False, repr=False)
class State(_Named):
    """Configurations that satisfy some constraints: "free", "gripper grasps box/handle".

    Args:
        name: unique in the graph.
        constraints: no row may have a variable right-hand side; without constraints: every configuration.
        priority: if several states contain a configuration, the one of highest priority is its state.
        waypoint: only passed through, on a transition; never the state of a configuration.
        path_constraints: further constraints on paths in the state, not on its configurations.

    Raises:
        GraphError: a row with a variable right-hand side; it is named.
        DuplicateError: the same constraint twice.
        WrongObjectError, OptionError: other invalid arguments.

    Source: `State` of hpp-manipulation.
    """

    name: str
    constraints: Sequence[RowOwner] = ()
    priority: int = 0
    waypoint: bool = False
    path_constraints: Sequence[RowOwner] = ()

    def __post_init__(self) -> None:
        """Check the arguments."""
        as_name(self.name, "name of a state")
        who = f"state {self.name!r}"
        for what in ("constraints", "path_constraints"):
            set_fields(self, **{what: as_owners(getattr(self, what), f"{what} of {who}")})
        for owner in (*self.constraints, *self.path_constraints):
            refuse_free_rows(owner, who)
        whole_number(self.priority, f"priority of {who}")
        as_flag(self.waypoint, f"waypoint of {who}")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        kind = "waypoint" if self.waypoint else f"priority {self.priority}"
        return f"State({self.name!r}: {counted(len(self.constraints), 'constraint')}, {kind})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Transition(_Named):
    """A step from one state to another: paths in a containing state, on a leaf given by complements.

    Args:
        name: unique in the graph.
        source, target: its first and last state.
        containing: the state in which its paths stay.
        constraints: complements; their right-hand sides are taken from the start. None if there are inner transitions,
            which have their own; condition and parameters likewise.
        weight: relative probability in `graph.choose`; negative if it is only part of another one.
        short: a short motion: targets are searched from the start, not from a guess.
        inner: its parts, transitions through waypoints, in order.
        condition: for a level-set transition: constraints of the configurations whose leaf may be chosen; None for
            others.
        parameters: for a level-set transition: complements; their right-hand sides are taken from the chosen leaf.

    Raises:
        GraphError: inner transitions that do not follow each other, or constraints beside them.
        DuplicateError: the same constraint twice.
        WrongObjectError, OptionError: other invalid arguments.

    Source: `Edge`, `WaypointEdge` and `LevelSetEdge` of hpp-manipulation.
    """

    name: str
    source: State
    target: State
    containing: State
    constraints: Sequence[RowOwner] = ()
    weight: int = 1
    short: bool = False
    inner: Sequence[Transition] = ()
    condition: Sequence[RowOwner] | None = field(default=None, kw_only=True)
    parameters: Sequence[RowOwner] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check the arguments."""
        as_name(self.name, "name of a transition")
        who = f"transition {self.name!r}"
        for what in ("source", "target", "containing"):
            expect(getattr(self, what), State, f"{what} of {who}")
        for what in ("constraints", "parameters", *(("condition",) if self.condition is not None else ())):
            set_fields(self, **{what: as_owners(getattr(self, what), f"{what} of {who}")})
        if self.parameters and self.condition is None:
            raise GraphError(f"{who} has parameters of a leaf to choose, so it needs a condition too (it may be empty)")
        whole_number(self.weight, f"weight of {who}")
        as_flag(self.short, f"short of {who}")
        set_fields(self, inner=_chain(self.inner, self))
        if self.inner and (self.constraints or self.parameters or self.condition is not None):
            raise GraphError(
                f"{who} leads through waypoints: its constraints, condition and parameters must be those of its inner "
                "transitions"
            )

    @property
    def is_loop(self) -> bool:
        """Whether it leads from a state to itself."""
        return self.source is self.target

    @property
    def is_level_set(self) -> bool:
        """Whether it, or a part of it, chooses the leaf on which it ends."""
        return self.condition is not None or any(part.is_level_set for part in self.inner)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        where = f"stays in {self.source.name!r}" if self.is_loop else f"{self.source.name!r} to {self.target.name!r}"
        words = [counted(len(self.inner), "inner transition")] if self.inner else []
        words += [word for word, holds in (("short", self.short), ("level set", self.is_level_set)) if holds]
        return f"Transition({self.name!r}: {', '.join([where, *words])})"


def _chain(inner: Any, whole: Transition) -> tuple[Transition, ...]:
    """Inner transitions that lead from the source to the target."""
    who = f"inner transitions of '{whole.name}'"
    parts: tuple[Transition, ...] = all_of(inner, Transition, who, "transitions")
    here = whole.source
    for part in parts:
        if part.inner:
            raise GraphError(f"{who}: '{part.name}' must not lead through waypoints itself")
        if part.source is not here:
            raise GraphError(f"{who}: '{part.name}' starts in '{part.source}', expected '{here}'")
        here = part.target
    if parts and here is not whole.target:
        raise GraphError(f"{who} end in '{here}', expected '{whole.target}'")
    return parts
