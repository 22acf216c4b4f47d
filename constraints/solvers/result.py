"""What an operation that may fail gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, NoReturn, final

import numpy as np

from liegroups.arrays import BoolVector

from ..errors import TruthValueError
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
