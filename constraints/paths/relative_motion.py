"""Which bodies move against each other: what collision checks may leave out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, final

import networkx as nx
import numpy as np

from liegroups.arguments import as_mapping, as_tuple, finite_vector
from liegroups.frozen import read_only, set_fields

from ..errors import OptionError, UnknownJointError, WrongObjectError
from ..functions.contact.contact import ConvexShapeContactHold
from ..functions.frames.frame_function import FrameFunction
from ..functions.lifted import Lifted
from ..robot import Robot
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.row_owner import RowOwner

_nx: Any = nx  # for the calls whose stubs leave types open


class Tie(Enum):
    """How a body moves relative to another along a path, as in the matrix of hpp-manipulation."""

    CONSTRAINED = "held: the relative pose is the same in the whole state"
    PARAMETERIZED = "held on a leaf: the relative pose stays what it is at the start"
    UNCONSTRAINED = "free to move"


class CollisionPair(NamedTuple):
    """Two joints whose bodies may collide.

    Attributes:
        a, b: names of the joints; "universe" is the world.
        margin: distance to keep [m].
    """

    a: str
    b: str
    margin: float


@final
@dataclass(frozen=True, eq=False)
class RelativeMotion:
    """The matrix of relative motions: how the body of each joint moves relative to each other one.

    Attributes:
        names: of the joints, "universe" first.
        constrained, held: (njoints, njoints) symmetric, true where a pair is constrained; and constrained or
            parameterized.
    """

    names: tuple[str, ...]
    constrained: Any = field(repr=False)
    held: Any = field(repr=False)

    def between(self, a: str, b: str) -> Tie:
        """How the bodies of two joints move relative to each other.

        Raises:
            UnknownJointError: lists the names that come closest.
        """
        i, j = (_index(self.names, name) for name in (a, b))
        if self.constrained[i, j]:
            return Tie.CONSTRAINED
        return Tie.PARAMETERIZED if self.held[i, j] else Tie.UNCONSTRAINED

    def describe(self) -> str:
        """The pairs that are held, in words."""
        lines = [
            f"{self.names[i]} and {self.names[j]}: {self.between(self.names[i], self.names[j]).value}"
            for i in range(len(self.names))
            for j in range(i + 1, len(self.names))
            if self.held[i, j]
        ]
        return "\n".join(lines) or "all bodies are free to move against each other"


@final
@dataclass(frozen=True, eq=False)
class SecurityMargins:
    """Distances to keep between bodies.

    Args:
        default: between all pairs [m]; may be negative, if touching bodies overlap a little.
        pairs: between the bodies of two joints, by their names, in any order.

    Raises:
        OptionError, WrongObjectError, NotFiniteError: what is wrong.
    """

    default: float = 0.0
    pairs: Mapping[tuple[str, str], float] = field(default_factory=lambda: dict[tuple[str, str], float]())

    def __post_init__(self) -> None:
        """Sort the names of each pair."""
        set_fields(self, default=float(finite_vector([self.default], 1, "default margin")[0]))
        as_mapping(self.pairs, "pairs of margins", "from two joint names to a distance")
        found: dict[tuple[str, str], float] = {}
        margins: dict[Any, Any] = {**self.pairs}
        for pair, margin in margins.items():
            names = two_names(pair, "pair of a margin", "two joint names")
            key = (min(names), max(names))
            if key in found:
                raise OptionError(f"margin of {key}: the pair must be given only once")
            found[key] = float(finite_vector([margin], 1, f"margin of {key}")[0])
        set_fields(self, pairs=MappingProxyType(found))

    def of_joints(self, names: Sequence[str]) -> SecurityMargins:
        """These margins, if all names in them are joints of a robot.

        Args:
            names: of its joints; "universe", the world, need not be among them.

        Raises:
            UnknownJointError: lists the names that come closest.
        """
        known = ("universe", *names)
        for name in dict.fromkeys(name for pair in self.pairs for name in pair):
            _index(known, name)
        return self

    def between(self, a: str, b: str) -> float:
        """Distance to keep between the bodies of two joints [m]."""
        return self.pairs.get((min(a, b), max(a, b)), self.default)

    def __reduce__(self) -> tuple[Any, ...]:
        return SecurityMargins, (self.default, dict(self.pairs))


def relative_motion(robot: Robot, owners: Sequence[RowOwner]) -> RelativeMotion:
    """The matrix for configurations that satisfy some constraints.

    A constraint ties two joints where all six rows of their relative pose are equalities; ties follow each other: what
    is held by what is held is held. A Target, which moves in time, ties nothing. Constraints that fix a pose only
    together are not found.

    Args:
        robot: the robot.
        owners: constraints, with holds in place of constraints and their complements.
    """
    count = int(robot.model.njoints)
    ties = [tie for owner in owners if (tie := _tie(owner)) is not None]
    matrices: list[Any] = []
    for free_too in (False, True):
        graph: Any = _nx.Graph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from((a, b) for a, b, free in ties if free_too or not free)
        matrix = np.zeros((count, count), dtype=np.bool_)
        for group in _nx.connected_components(graph):
            members = sorted(group)
            matrix[np.ix_(members, members)] = True
        matrices.append(read_only(matrix))
    return RelativeMotion(("universe", *robot.joint_names), *matrices)


def collision_pairs(
    motion: RelativeMotion, margins: SecurityMargins, pairs: Sequence[tuple[str, str]]
) -> tuple[CollisionPair, ...]:
    """The pairs that move against each other, with their margins.

    Raises:
        UnknownJointError: lists the names that come closest.
    """
    known = {name for pair in pairs for name in pair}
    numbers = {name: _index(motion.names, name) for name in known}
    moving = [(a, b) for a, b in pairs if not motion.held[numbers[a], numbers[b]]]
    return tuple(CollisionPair(a, b, margins.between(a, b)) for a, b in moving)


def two_names(pair: Any, what: str, words: str) -> tuple[str, str]:
    """Take a pair of names from a user.

    Args:
        pair: what came.
        what: the argument, as the caller knows it.
        words: what is expected.

    Raises:
        WrongObjectError: anything else.
    """
    names = as_tuple(pair, what, words)
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise WrongObjectError(what, words, repr(pair))
    return names[0], names[1]


def _index(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise UnknownJointError(str(name), names)
    return names.index(name)


def _tie(owner: RowOwner) -> tuple[int, int, bool] | None:
    """Joints whose relative pose a constraint fixes, and whether its right-hand side may vary."""
    rows = owner.rows
    if not rows.mask.all() or (rows.lower != 0.0).any() or (rows.upper != 0.0).any() or owner.target is not None:
        return None
    free = bool(rows.free_rhs.any())
    if isinstance(owner, Explicit) and owner.implicit is None:
        return _locked(owner, free)
    function = (
        owner.implicit if isinstance(owner, Explicit) else owner.function if isinstance(owner, Implicit) else None
    )
    if isinstance(function, Lifted):
        function = function.function
    if isinstance(function, ConvexShapeContactHold):
        if function.only_pair is None:
            return None
        floor, surface = function.surfaces_of(function.only_pair)
        return floor.joint, surface.joint, free
    if isinstance(function, FrameFunction) and function.outputs.nv == 6:
        return function.frame_a.joint, function.frame_b.joint, free
    return None


def _locked(owner: Explicit, free: bool) -> tuple[int, int, bool] | None:
    """A whole joint that is held at a value."""
    space: Any = owner.space
    model = getattr(space, "model", None)
    if model is None or not owner.is_constant:
        return None
    for i, factor in enumerate(space.factors, start=1):
        if tuple(range(factor.v.start, factor.v.stop)) == owner.outputs.v:
            return int(model.parents[i]), i, free
    return None
