"""Actions with a constraint set: the same with other arguments, or with contacts switched."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, final

from liegroups.arguments import expect
from liegroups.arrays import Vector

from ..errors import UnknownOptionError
from ..loops import ConstraintSet
from ..loops.constraint_set import A_SET
from ..robot import Robot
from ..rows.row_owner import RowOwner
from .action import Action
from .equations import armature_of, damping_of
from .state_space import of_one_robot


class ConstrainedAction(Action):
    """An action whose dynamics have a constraint set, a damping and an armature.

    Attributes:
        robot, constraint_set, damping, armature: arguments of the constructor.
        _light: arguments that change without building anything.
        _what: the action, in messages.
    """

    robot: Robot
    constraint_set: ConstraintSet
    damping: float
    armature: Vector
    _light: ClassVar[frozenset[str]]
    _what: ClassVar[str]

    @property
    @abstractmethod
    def _arguments(self) -> dict[str, Any]:
        """Arguments of the constructor, but for costs and constraints."""

    def _set(self, given: Mapping[str, Any]) -> None:
        """Check and take what may change without building anything."""
        if "constraint_set" in given:
            found = given["constraint_set"]
            self.constraint_set = expect(found, ConstraintSet, f"constraint set of {self._what}", A_SET)
            of_one_robot(self.robot, self.constraint_set.robot, "constraint set")
        if "damping" in given:
            self.damping = damping_of(given["damping"], self._what)
        if "armature" in given:
            self.armature = armature_of(given["armature"], self.robot.nv)

    @final
    def replace(self, **changes: Any) -> Self:
        """The same action with other arguments of the constructor.

        Changes that keep all sizes (damping, armature, the same set switched or stabilised, and what else needs no
        sizes) build nothing: costs, constraints and memory are shared.

        Args:
            **changes: arguments of the constructor by name.

        Raises:
            UnknownOptionError: no such argument; and the errors of the constructor.
        """
        terms = {"costs": self.costs.costs, "constraints": self.constraints.constraints}
        arguments: dict[str, Any] = {**self._arguments, **terms}
        for name in changes:
            if name not in arguments:
                raise UnknownOptionError(name, tuple(arguments))
        rows = getattr(changes.get("constraint_set", self.constraint_set), "stack", None)
        if changes.keys() <= self._light and rows is self.constraint_set.stack:
            other = copy.copy(self)
            vars(other).pop("_fused", None)
            other._set(changes)
            return other
        return type(self)(**{**arguments, **changes})

    @final
    def switched(
        self, on: Sequence[RowOwner | str | int] | None = None, off: Sequence[RowOwner | str | int] = ()
    ) -> Self:
        """The same action with some contacts on and others off, as `ConstraintSet.switched`; nothing is built.

        Sizes stay the same: multipliers of constraints that are off are zero.

        Args:
            on: only these are on; by default those that are on now.
            off: these are off.

        Raises:
            UnknownNameError: lists the names that come closest.
        """
        return self.replace(constraint_set=self.constraint_set.switched(on, off))
