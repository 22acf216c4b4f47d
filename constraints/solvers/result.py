"""What an operation that may fail gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, Protocol, Self, TypeVar, final, overload

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Vector
from liegroups.by_name import by_name

from ..errors import FailedError, TruthValueError, UnknownNameError
from ..keywords import NamesChecked


class Verdict(NamesChecked, ABC):
    """A value that says by `success` whether something went well.

    A failure is an ordinary value, so `if verdict:` would pass for it. Its truth value therefore raises, as for a numpy
    array. `verdict is None` and `len(batch) == 0` work as usual.
    """

    @property
    @abstractmethod
    def success(self) -> bool | BoolVector:
        """Whether it went well; for several, (n,) booleans."""

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
            raises = ", or call `or_raise()`" if isinstance(self, Result) else ""
            advice = f"`success` ({success} here){raises}"
        raise TruthValueError(type(self).__name__, advice)


Given = TypeVar("Given", covariant=True)


class _Gives(Protocol[Given]):
    """A result of which users want a part: the path of an interpolation."""

    @property
    def _given(self) -> Given: ...


class Result(Verdict):
    """Result of an operation that may fail: `success` says whether it did not, `or_raise` insists on it."""

    @property
    def success(self) -> bool:
        """Whether it ended with a success, which `status` says."""
        this: Any = self
        return this.status.is_success

    def __str__(self) -> str:
        this: Any = self
        return str(this.status)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _failure(self) -> str:
        """What the error of `or_raise` says."""
        return str(self)

    @overload
    def or_raise(self: _Gives[Given]) -> Given: ...

    @overload
    def or_raise(self) -> Self: ...

    @final
    def or_raise(self) -> Any:
        """The result if it is a success; of an interpolation or a plan, its path.

        Raises:
            FailedError: it is none; the error carries the result.
        """
        if not self.success:
            raise FailedError(self, self._failure())
        return getattr(self, "_given", self)


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
