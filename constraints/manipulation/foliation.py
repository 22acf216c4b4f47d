"""Foliations: a constraint, the parameters it leaves free, and both together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liegroups.arguments import as_flag, as_name
from liegroups.arrays import ArrayLike
from liegroups.frozen import set_fields

from ..errors import GraphError, WrongObjectError
from ..functions.contact.contact import ConvexShapeContact, SurfacePair
from ..point import Point
from ..ranges import not_negative
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from ..words import counted


@final
@dataclass(frozen=True, eq=False, repr=False)
class Foliation:
    """A manifold of configurations, divided into leaves by parameters that are constant along a path.

    Args:
        name: name of the constraint ("place_box", "gripper grasps box/handle").
        constraint: satisfied by every configuration of the manifold; None for all configurations (an object left where
            it is).
        complement: its right-hand side identifies the leaf; None if there is only one leaf.
        hold: both together, which replaces the two where both apply: explicit if possible.
        variants: a foliation per pair of surfaces, if the constraint chooses among several.
        pair: of a variant, its surfaces.
        proven: whether the hold is known to be equivalent to constraint and complement, as those that `grasp` and
            `placement` make; else each target on it is looked at, and `graph.validate` says where it is not.

    Raises:
        WrongObjectError: a part that is not a constraint.
        GraphError: the constraint has a row whose right-hand side may vary; of hold and complement one has such a row
            and the other has none.
    """

    name: str
    constraint: RowOwner | None
    complement: RowOwner | None
    hold: RowOwner
    variants: Mapping[SurfacePair, Foliation] = field(default_factory=lambda: dict[SurfacePair, "Foliation"]())
    pair: SurfacePair | None = None
    proven: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check the arguments."""
        as_name(self.name, "name of a foliation")
        for what, owner in (("constraint", self.constraint), ("complement", self.complement), ("hold", self.hold)):
            if not isinstance(owner, RowOwner) and (owner is not None or what == "hold"):
                raise WrongObjectError(f"{what} of foliation {self.name!r}", "a constraint", owner)
        if self.constraint is not None:
            refuse_free_rows(self.constraint, f"foliation {self.name!r}")
        if self.complement is not None and _vary(self.complement) and not _vary(self.hold):
            raise GraphError(
                f"foliation {self.name!r}: no right-hand side of its hold {self.hold.name!r} may vary, so it has one "
                f"leaf, but {self.complement.name!r} has many: rows that the complement counts must be EQUALITY there"
            )
        if self.complement is not None and _vary(self.hold) and not _vary(self.complement):
            raise GraphError(
                f"foliation {self.name!r}: the right-hand side of its hold {self.hold.name!r} may vary, so it has many "
                f"leaves, but its complement {self.complement.name!r} is the same for all configurations, so all would "
                "be one leaf: its rows must be EQUALITY (`Implicit.equal`, not `zero`), or None is the complement"
            )
        as_flag(self.proven, f"proven of foliation {self.name!r}")
        set_fields(self, variants=MappingProxyType(dict(self.variants)))

    def at(self, q: ArrayLike) -> Foliation:
        """The foliation with the pair of surfaces that touch at q; itself if there is no choice.

        Args:
            q: configuration (nq,).
        """
        contact = self._contact
        return self if contact is None else self.variants[contact.pair_at(q)]

    def at_point(self, point: Point) -> Foliation:
        """The same, at a point of the robot.

        Args:
            point: where.
        """
        contact = self._contact
        return self if contact is None else self.variants[contact.pair_at_point(point)]

    @property
    def _contact(self) -> ConvexShapeContact | None:
        """The contact whose pair is to be chosen; None where there is no choice."""
        if not self.variants or not isinstance(self.constraint, Implicit):
            return None
        function = self.constraint.function
        return function if isinstance(function, ConvexShapeContact) else None

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        choice = f": {counted(len(self.variants), 'pair')} of surfaces" if self.variants else ""
        return f"Foliation({self.name!r}{choice})"

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.name, self.constraint, self.complement, self.hold, dict(self.variants), self.pair)
        return partial(Foliation, proven=self.proven), parts


def missing_rows(foliation: Foliation) -> int:
    """How many rows more than its complement tells the hold of a foliation keeps at those of the start.

    Rows of the hold that may vary count, but for as many as it needs for the constraint beside those that may not.
    """
    if foliation.complement is None:
        return 0
    vary, told = (int((o.rows.free_rhs & o.rows.mask).sum()) for o in (foliation.hold, foliation.complement))
    fixed = int(foliation.hold.rows.mask.sum()) - vary
    asked = 0 if foliation.constraint is None else int(foliation.constraint.rows.mask.sum())
    return vary - max(0, asked - fixed) - told


def _vary(owner: RowOwner) -> bool:
    """Whether a row that counts has a right-hand side that may vary."""
    return bool((owner.rows.free_rhs & owner.rows.mask).any())


@final
@dataclass(frozen=True, eq=False, repr=False)
class Leaf:
    """The leaf of a configuration on its foliations: a right-hand side of their complements.

    Attributes:
        foliations: the foliations, with their pairs of surfaces chosen.
        rhs: right-hand sides of their complements, in order.
    """

    foliations: tuple[Foliation, ...]
    rhs: RightHandSide

    def __repr__(self) -> str:
        return f"Leaf of {', '.join(repr(foliation.name) for foliation in self.foliations) or 'no foliation'}"

    def same_as(self, other: Leaf, tolerance: float = 1e-4) -> bool:
        """Whether both are the same leaf: same foliations, same pairs of surfaces, same parameters.

        Args:
            other: the other leaf.
            tolerance: largest norm of the difference of parameters in their group [m, rad], on the rows that count, for
                each foliation (q and -q of a quaternion are equal); by default the threshold of projections.

        Raises:
            OptionError, DtypeError, NotFiniteError: a tolerance that is no number of 0 or more.
        """
        tolerance = not_negative(tolerance, "tolerance of leaves")
        mine, theirs = ([(f.name, f.pair) for f in leaf.foliations] for leaf in (self, other))
        if mine != theirs:
            return False
        return all(
            np.linalg.norm(_apart(owner, a, b)[owner.rows.mask]) <= tolerance
            for owner, a, b in zip(self.rhs.stack, _points(self), _points(other), strict=True)
        )

    def among(self, positions: Sequence[int]) -> Leaf:
        """The leaf on some of its foliations.

        Args:
            positions: theirs.
        """
        stack = Stack([self.rhs.stack.owners[i] for i in positions])
        values = [self.rhs.of(i) for i in positions]
        rhs = RightHandSide(stack, np.concatenate(values) if values else np.zeros(0))
        return Leaf(tuple(self.foliations[i] for i in positions), rhs)

    def __str__(self) -> str:
        words: list[str] = []
        for foliation, point in zip(self.foliations, _points(self), strict=True):
            on = "" if foliation.pair is None else f" ({foliation.pair.object} on {foliation.pair.floor})"
            words.append(f"{foliation.name}{on}: {np.array2string(point, precision=4, suppress_small=True)}")
        return "; ".join(words) or "the only leaf"


def _points(leaf: Leaf) -> list[Any]:
    return [leaf.rhs.of(i) for i in range(len(leaf.rhs.stack))]


def _apart(owner: RowOwner, a: Any, b: Any) -> Any:
    """Difference of two right-hand sides in their group; of poses in coordinates, as poses."""
    if isinstance(owner, Explicit):
        return owner.map.outputs.difference(owner.group_rhs(a), owner.group_rhs(b))
    return owner.group.difference(a, b)


def refuse_free_rows(owner: RowOwner, who: str) -> None:
    """Refuse a constraint with rows whose right-hand side may vary.

    Raises:
        GraphError: names the constraint and the row.
    """
    free = np.flatnonzero(owner.rows.free_rhs & owner.rows.mask)
    if free.size:
        raise GraphError(
            f"{who}: row {int(free[0])} of {owner.name!r} is EQUALITY, whose right-hand side may vary; only rows "
            "that are the same for all configurations belong here (put the constraint on transitions, as a complement)"
        )


def merge_foliations(owners: Iterable[RowOwner], foliations: Sequence[tuple[Foliation, Foliation]]) -> list[RowOwner]:
    """Constraints of a problem, each once, with the hold in place of a constraint and its complement.

    Args:
        owners: what the parts of the problem ask for.
        foliations: those that may be concerned, each with the variant that is chosen. Holds come first, in this order:
            of two that compute one object the first stays explicit.
    """
    asked = {id(owner): owner for owner in owners}
    holds: list[RowOwner] = []
    for foliation, chosen in foliations:
        if id(foliation.complement) not in asked:
            continue
        if foliation.constraint is None or id(foliation.constraint) in asked:
            holds.append(chosen.hold)
            asked.pop(id(foliation.constraint), None)
            del asked[id(foliation.complement)]
        elif chosen.complement is not None and chosen is not foliation:
            asked[id(foliation.complement)] = chosen.complement
    return [*holds, *asked.values()]


def one_placement_each(foliations: Sequence[Foliation]) -> None:
    """Refuse two placements of one object."""
    placed: dict[int, str] = {}
    for foliation in foliations:
        owner = foliation.constraint
        if isinstance(owner, Implicit) and isinstance(owner.function, ConvexShapeContact):
            for joint in owner.function.object_joints:
                if placed.setdefault(joint, foliation.name) != foliation.name:
                    name = owner.function.robot.joint_names[joint - 1] if joint else "universe"
                    raise GraphError(
                        f"'{placed[joint]}' and '{foliation.name}' both place '{name}': give one placement only"
                    )


def leaf_at(foliations: Sequence[Foliation], point: Point) -> Leaf:
    """The leaf of a configuration.

    Args:
        foliations: those that count; the ones with a single leaf are left out.
        point: where.
    """
    chosen = tuple(f.at_point(point) for f in foliations if f.complement is not None)
    owners = [f.complement for f in chosen if f.complement is not None]
    stack = Stack(owners)
    values = [owner.rhs_at(point) for owner in owners]
    return Leaf(chosen, RightHandSide(stack, np.concatenate(values) if values else np.zeros(0)))
