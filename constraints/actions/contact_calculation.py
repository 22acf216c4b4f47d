"""What contact dynamics give for one node: a calculation, and its derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..dynamics import DynamicsDerivatives
from ..dynamics.derivatives import SolutionSlopes
from ..dynamics.methods.row_space import RowSpace
from ..dynamics.methods.status import DynamicsStatus
from ..dynamics.methods.system import Question
from ..dynamics.multipliers import Body, Multipliers, WithMultipliers, pulling_words
from ..errors import FailedError, OptionError
from ..loops import Axes
from ..robot import Frame
from ..rows.row_owner import RowOwner
from .action import Calculation, Derivatives, StageSlopes
from .fused import HeldIn

if TYPE_CHECKING:
    from .contact_dynamics import ContactForwardDynamics


class DynamicsNode(Calculation, WithMultipliers):
    """A node with dynamics, which have a status (None at a terminal node) and multipliers."""

    status: Any

    @property
    def success(self) -> bool:
        """Whether both equations of motion hold and the cost is a number."""
        return isfinite(self.cost) and (self.status is None or self.status.is_success)

    @property
    def reason(self) -> str:
        """How the dynamics were solved, in words."""
        if self.status is None or (self.status.is_success and not self.success):
            return "no dynamics at a terminal node" if self.success else "the cost is not finite"
        return str(self.status)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ContactCalculation(DynamicsNode):
    """A node of contact dynamics.

    Attributes:
        acceleration: (nv,); None at a terminal node; NaN where it is not unique.
        multipliers: lambda (size,) of the constraint set, zero where a contact is off; None at a terminal node.
        status: how the dynamics were solved; None at a terminal node.
        action: whose.
        row_space: rank and redundant rows, where it was asked for; None where rows are damped, or surely independent.
        mass_matrix: (nv, nv) with armature; None where pinocchio kept it.
        trace: where pinocchio computed it, if it did.
    """

    acceleration: Vector | None
    multipliers: Vector | None
    status: DynamicsStatus | None
    action: ContactForwardDynamics
    row_space: RowSpace | None = None
    mass_matrix: Matrix | None = None
    trace: HeldIn | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """How far the state is off the constraints, and contacts that pull, in words; computed on request."""
        opened, push = self.action.open_at(self.x), self.multipliers
        pulls = [] if push is None else pulling_words(self.action.constraint_set, push, "N")
        return (*([opened] if opened else []), *(words.strip() for words in pulls))

    @property
    def _multipliers(self) -> Multipliers:
        if self.multipliers is None:
            raise OptionError("forces of a terminal node: it has no dynamics")
        return Multipliers(self.action.constraint_set, self.x[: self.action.state.nq], self.multipliers)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ContactDerivatives(Derivatives):
    """Derivatives of a node of contact dynamics, or of an impact, whose multipliers are impulses.

    Attributes:
        multipliers_x, multipliers_u: (size, ndx) and (size, nu), zero where a contact is off; None where they were not
            asked for, and at terminal nodes; NaN where there are no derivatives. An impact has no controls.
        by_differences: names of constraints and external forces without formulas: their part is good to about 1e-9.
        calculation: what was differentiated; None of an impact.
    """

    multipliers_x: Matrix | None = None
    multipliers_u: Matrix | None = None
    by_differences: tuple[str, ...] = ()
    calculation: ContactCalculation | None = None

    @property
    def has_exact_derivatives(self) -> bool:
        """Whether those of the dynamics are formulas: no difference."""
        return self.success and not self.by_differences

    def wrench(
        self,
        which: RowOwner | str | int,
        on: Body = "successor",
        axes: Axes = Axes.LOCAL,
        frame: Frame | str | None = None,
    ) -> StageSlopes:
        """Derivatives (6, ndx) and (6, nu) of `ContactCalculation.wrench`, of the same arguments.

        Raises:
            NoWrenchError: the constraint is neither a contact nor a closure.
            OptionError: they were not asked for (`with_force_derivatives=True`), or it is a terminal node.
            FailedError: there are no derivatives.
        """
        done, l_x, l_u = self.calculation, self.multipliers_x, self.multipliers_u
        if done is None or l_x is None or l_u is None or done.multipliers is None:
            raise OptionError(
                "derivatives of a wrench: there are none at a terminal node; elsewhere the action gives them "
                "with_force_derivatives=True"
            )
        if not self.success:
            raise FailedError(self)
        action, n = done.action, done.action.state.nv
        asked = Question(action.constraint_set, *action.state.split(done.x), np.zeros(n), (), None, action.rhs)
        k = len(l_x)
        none, rows = np.zeros((n, n)), np.zeros((k, n))
        # gamma stands for the multipliers themselves: what controls change goes by them
        by = SolutionSlopes(none, none, none, l_x[:, :n], l_x[:, n:], rows, rows.T, np.eye(k))
        found = DynamicsDerivatives(self.status, asked, done.multipliers, by, ()).wrench(which, on, axes, frame)
        return StageSlopes(np.hstack([found.by_q, found.by_v]), found.by_gamma @ l_u)
