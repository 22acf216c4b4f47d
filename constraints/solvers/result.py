"""What an operation that may fail gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from operator import attrgetter
from typing import ClassVar, NoReturn, final

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Vector
from liegroups.by_name import by_name

from ..errors import TruthValueError, UnknownNameError
from ..keywords import NamesChecked

MEANT = {
    **dict.fromkeys(("x", "solution", "configuration"), "`q`"),
    "converged": "`success`",
    "message": "`status`",
    **dict.fromkeys(("fun", "cost"), "`residual`"),
    "nit": "`iterations`",
    "samples": "`or_raise().samples`, of its path",
}
"""What results of other libraries call things, and how the same is said here."""


class Result(NamesChecked, ABC):
    """Result of an operation that may fail; `success` says whether it did not.

    A failure is an ordinary value, so `if result:` would pass for it. The truth value of a result therefore raises, as
    for a numpy array. `result is None` and `len(batch) == 0` work as usual.
    """

    _meant: ClassVar[Mapping[str, str]] = MEANT

    @property
    @abstractmethod
    def success(self) -> bool | BoolVector:
        """Whether the operation succeeded; for several, (n,) booleans."""

    @final
    def __bool__(self) -> NoReturn:
        """Refuse to be true or false.

        Raises:
            TruthValueError: names `success`, and what it is.
        """
        success = self.success
        if isinstance(success, np.ndarray):
            here = f"true for {np.count_nonzero(success)} of {len(success)}"
            advice = f"`success.all()` or `success.any()` ({here}), or `len(...) == 0`"
        else:
            raises = ", or call `or_raise()`" if hasattr(self, "or_raise") else ""
            advice = f"`success` ({success} here){raises}"
        raise TruthValueError(type(self).__name__, advice)


class ByJoint(Result):
    """A result that has vectors of a robot, or of another space with named factors.

    Attributes:
        _joint_vectors: their names; the first is meant where none is given.
        _joint_space: where their space is, from the result.
    """

    _joint_vectors: ClassVar[tuple[str, ...]] = ("q",)
    _joint_space: ClassVar[str] = "constraint_set.robot.space"

    @final
    def by_joint(self, of: str | None = None) -> dict[str, float | Vector]:
        """A vector of the result by joint, in the order of `robot.joint_names`.

        Args:
            of: name of the vector, "acceleration", "tau", "q"; the result's own answer by default.

        Returns:
            joint name -> a number, or an array for a joint with several. `robot.velocity` makes a tangent vector of it
            again, `robot.configuration` a configuration.

        Raises:
            UnknownNameError: the result has no vector of that name; lists those that it has.
        """
        if of is not None and of not in self._joint_vectors:
            raise UnknownNameError(f"vector by joint of {type(self).__name__}", of, self._joint_vectors)
        space: Space = attrgetter(self._joint_space)(self)
        return by_name(getattr(self, of or self._joint_vectors[0]), space.factors)
