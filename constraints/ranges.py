"""Numbers of users that must lie in a range; else an error says which number it is, what is expected, and what came."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups.arguments import finite_number, is_finite_number

from .errors import OptionError


def whole_number(candidate: object, what: str, least: int | None = None, most: int | None = None) -> int:
    """Take a whole number from a user, numpy's too; a truth value is none.

    Args:
        candidate: what came.
        what: the argument, as the caller knows it: "seed of a plan".
        least, most: the range, both ends included; no such end where left out.

    Raises:
        OptionError: anything else.
    """
    number: Any = candidate
    if isinstance(candidate, (int, np.integer)) and not isinstance(candidate, bool):
        if (least is None or number >= least) and (most is None or number <= most):
            return int(number)
    ends = ("" if least is None else f" from {least}") + ("" if most is None else f" to {most}")
    raise OptionError(f"{what}: expected a whole number{ends}, got {candidate!r}")


def positive_number(candidate: object, what: str) -> float:
    """Take a number above zero from a user, neither NaN nor infinite.

    Raises:
        OptionError: anything else.
    """
    if is_finite_number(candidate) and candidate > 0.0:
        return float(candidate)
    raise OptionError(f"{what}: expected a positive number, got {candidate!r}")


def not_negative(candidate: object, what: str) -> float:
    """Take a number of zero or more from a user.

    Raises:
        OptionError: below zero.
        DtypeError, NotFiniteError, SizeError: no finite number.
    """
    number = finite_number(candidate, what)
    if number < 0.0:
        raise OptionError(f"{what}: expected a number that is not negative, got {number:g}")
    return number
