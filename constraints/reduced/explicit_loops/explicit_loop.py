"""Local loops that are explicit constraints, what they replace, and what stays implicit and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import Segments
from liegroups.arguments import as_tolerance, as_tuple, expect
from liegroups.arrays import Vector
from liegroups.frozen import set_fields

from ...errors import OptionError, UnknownNameError
from ...functions.affine import Affine
from ...loops import ConstraintSet
from ...loops.mobility import CLOSED
from ...problem.problem import Problem
from ...robot import Bounds
from ...rows.explicit import Explicit
from ...rows.implicit import Implicit
from ...rows.row_owner import RowOwner
from ...words import counted, first_names
from .loop_function import LoopFunction
from .planar_loops import ElbowSide, PlanarLoop

INSIDE_JOINT_BOUNDS = 1e-4
"""How far inside their bounds computed joints are asked to be [rad or m]: the threshold of a projection."""


class KeptImplicit(NamedTuple):
    """Constraints of a set that stay implicit.

    Attributes:
        constraints: the constraints.
        reason: why.
    """

    constraints: tuple[RowOwner, ...]
    reason: str

    def describe(self) -> str:
        """Names and reason."""
        return f"{', '.join(f'{owner.name!r}' for owner in self.constraints)}: {self.reason}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class ExplicitLoop:
    """A local loop that is an explicit constraint.

    Attributes:
        explicit: the constraint; its twin has all rows of the closures.
        closures: the closures that it replaces.
        function: q_dep = g(q_ind), which depends only on its inputs: `PlanarLoop` or `LoopFunction`.
        independent, dependent: names of the joints that it reads, and of those that it computes.
        redundant: names of the rows that the others imply.
        held: names of the balls whose spin affects no row: it keeps its value at the reference.
    """

    explicit: Explicit
    closures: tuple[RowOwner, ...]
    function: PlanarLoop | LoopFunction
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    redundant: tuple[str, ...]
    held: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the constraint: the names of the closures."""
        return self.explicit.name

    @property
    def names(self) -> tuple[str, ...]:
        """Names accepted for this loop: its own, and those of its closures."""
        return tuple(dict.fromkeys([self.name, *(closure.name for closure in self.closures)]))

    @property
    def inputs(self) -> Segments:
        """Block of the robot's space that it reads."""
        return self.explicit.inputs or Segments.empty()

    @property
    def outputs(self) -> Segments:
        """Block of the robot's space that it computes."""
        return self.explicit.outputs

    @property
    def elbow(self) -> ElbowSide | None:
        """The side of a closed form, which tells its branch; None for a loop by Newton, which keeps its own."""
        return self.function.elbow if isinstance(self.function, PlanarLoop) else None

    def with_elbow(self, elbow: ElbowSide | str) -> ExplicitLoop:
        """The loop closed on a side, and so on the branch of this side.

        Args:
            elbow: the member, or its name in any case.

        Raises:
            UnknownNameError: no such side.
            OptionError: a loop by Newton, which stays on the branch of its reference.
        """
        if isinstance(elbow, str):
            if elbow.upper() not in ElbowSide.__members__:
                raise UnknownNameError(f"elbow of '{self.name}'", elbow, [side.name.lower() for side in ElbowSide])
            elbow = ElbowSide[elbow.upper()]
        wanted = expect(elbow, ElbowSide, f"elbow of '{self.name}'", "an ElbowSide, or its name")
        if isinstance(self.function, LoopFunction):
            raise OptionError(
                f"elbow of '{self.name}': without a closed form the loop stays on the branch of q: "
                "give a q on the other branch"
            )
        function = self.function.with_elbow(wanted)
        return replace(self, function=function, explicit=replace(self.explicit, f=function))

    def within(self, bounds: Bounds, margin: float = INSIDE_JOINT_BOUNDS) -> Implicit | None:
        """The constraint that keeps the computed joints within bounds; None if they have no bounds.

        Args:
            bounds: which.
            margin: distance to the bounds [rad or m]; smaller if there is less room.
        """
        space, lower, upper = bounds.space, bounds.tangent_lower, bounds.tangent_upper
        bounded = np.isfinite(lower) | np.isfinite(upper)
        columns = [i for i in self.outputs.v if bounded[i]]
        if not columns:
            return None
        inside = np.minimum(as_tolerance(margin, "margin of bounds"), 0.25 * (upper[columns] - lower[columns]))
        picked = Affine(np.eye(space.nv)[columns], inputs=space)
        return Implicit.between(picked, lower[columns], upper[columns], margin=inside, name=f"bounds of {self.name}")

    def describe(self) -> str:
        """Which joints it computes from which, and how."""
        elbow = self.elbow
        how = "Newton on the branch of the reference" if elbow is None else f"closed form, {elbow.name.lower()}"
        line = f"{self.name!r}: {', '.join(self.dependent)} from {', '.join(self.independent)} ({how})"
        if self.redundant:
            line += f"; redundant: {', '.join(self.redundant)}"
        return line + "".join(f"; no row depends on the spin of {ball}, which is held" for ball in self.held)

    def __repr__(self) -> str:
        return f"ExplicitLoop({self.name!r}: {counted(len(self.explicit.outputs), 'dof')})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class ExplicitLoops:
    """The local loops of a constraint set, made explicit if possible.

    Attributes:
        constraint_set: as given.
        loops: those that are explicit now.
        implicit: constraints that stay implicit, with the reasons.
        q: (nq,) the closed configuration whose branches they are on.
        constraints: all constraints that are on, explicit loops in place of their closures.
    """

    constraint_set: ConstraintSet
    loops: tuple[ExplicitLoop, ...]
    implicit: tuple[KeptImplicit, ...]
    q: Vector

    constraints: tuple[RowOwner, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Put each loop where the first of its closures was."""
        place = {id(closure): loop for loop in self.loops for closure in loop.closures}
        listed: list[RowOwner] = []
        for owner in self.constraint_set.anchored:
            loop = place.get(id(owner))
            if loop is None:
                listed.append(owner)
            elif loop.closures[0] is owner:
                listed.append(loop.explicit)
        set_fields(self, constraints=tuple(listed))

    @property
    def explicits(self) -> tuple[Explicit, ...]:
        """The explicit constraints of the loops."""
        return tuple(loop.explicit for loop in self.loops)

    def __getitem__(self, name: str) -> ExplicitLoop:
        """The loop of that name, or with a closure of that name. Raises UnknownNameError."""
        for loop in self.loops:
            if name in loop.names:
                return loop
        raise UnknownNameError("explicit loop", str(name), [loop.name for loop in self.loops])

    def problem(self, constraints: Iterable[RowOwner] = (), *, bounds: Bounds | None = None, **options: Any) -> Problem:
        """The constraints of the set, with explicit loops, as a problem; further constraints get the same level.

        Newton steps keep the bounds of the joints that they move, but not of computed joints: for these the problem has
        the rows of `within`.

        Args:
            constraints: further constraints.
            bounds: other bounds than the robot's; `Bounds.none(robot.space)` drops them.
            **options: of the Problem: weights, frozen.

        Raises:
            OptionError: `q` is out of these bounds in a joint of a loop: on its branch computed joints may never come
                inside. Names joints and amounts.
        """
        more = as_tuple(constraints, "constraints beside explicit loops", "constraints")
        robot = self.constraint_set.robot
        kept = robot.bounds if bounds is None else expect(bounds, Bounds, "bounds of explicit loops", "Bounds")
        self._refuse_outside(kept)
        inside = self.within(kept)
        return Problem(robot, [*self.constraints, *inside, *more], bounds, **options)

    def _refuse_outside(self, bounds: Bounds) -> None:
        """Refuse bounds that the configuration whose branches the loops are on does not keep in their joints."""
        inside = {name for loop in self.loops for name in (*loop.independent, *loop.dependent)}
        outside = [str(v) for v in bounds.violations(self.q) if v.joint in inside and abs(v.amount) > CLOSED]
        if outside:
            raise OptionError(
                f"explicit loops: they were made at a q that is out of bounds, {first_names(outside)}, and stay on its "
                "branch: make them at assemble_position(constraint_set, q, bounds=robot.bounds).q, or keep no bounds, "
                "problem(bounds=Bounds.none(robot.space))"
            )

    def within(self, bounds: Bounds, margin: float = INSIDE_JOINT_BOUNDS) -> tuple[Implicit, ...]:
        """Rows that keep the joints computed by loops within bounds: one constraint per loop, one interval per joint.

        Args:
            bounds: the bounds; joints without bounds have no row.
            margin: distance to the bounds that the rows require [rad or m], at least half the threshold of the
                projection; smaller if the bounds leave less room.
        """
        expect(bounds, Bounds, "bounds of explicit loops", "Bounds")
        rows = (loop.within(bounds, margin) for loop in self.loops)
        return tuple(row for row in rows if row is not None)

    def describe(self) -> str:
        """A line for each loop, and for each constraint that stays implicit, with the reason."""
        lines = [f"{counted(len(self.loops), 'explicit loop')}; kept implicit: {len(self.implicit)}"]
        lines += [f"  explicit {loop.describe()}" for loop in self.loops]
        lines += [f"  implicit {kept.describe()}" for kept in self.implicit]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"ExplicitLoops({counted(len(self.loops), 'loop')}, {len(self.implicit)} left)"
