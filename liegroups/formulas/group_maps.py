"""`GroupMaps`: the functions that make a group, a table of them for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from ..arrays import Matrix, Vector
from ..errors import UnknownNameError, WrongObjectError
from .log_slopes import LogSlopes

_T = TypeVar("_T")

OfVector: TypeAlias = Callable[[Vector], Vector]
OfTwo: TypeAlias = Callable[[Vector, Vector], Vector]
OfThree: TypeAlias = Callable[[Vector, Vector, Vector], Vector]


def _named(cls: type[_T]) -> type[_T]:
    """A table that names the maps that it lacks, and those that it does not know."""
    whole: Any = cls
    fill, known = whole.__init__, {field.name: field.default is MISSING for field in fields(whole)}

    @wraps(fill)
    def filled(self: object, **maps: object) -> None:
        for name in maps:
            if name not in known:
                raise UnknownNameError("map of a group", name, tuple(known))
        lacking = [name for name, needed in known.items() if needed and name not in maps]
        if lacking:
            wanted = f"all of {', '.join(name for name, needed in known.items() if needed)}"
            raise WrongObjectError("maps of a group", wanted, f"no map for {', '.join(lacking)}")
        fill(self, **maps)

    whole.__init__ = filled
    return cls


@_named
@dataclass(frozen=True, kw_only=True)
class GroupMaps:
    r"""The functions that define a group, each for one vector; `Space` derives all others from them.

    They receive float64 arrays (nq,) and (nv,), whose sizes have been checked, and return new arrays.

    Attributes:
        integrate: of q and v: :math:`q \exp(v)` (nq,), unit blocks normalised.
        difference: of q0 and q1: :math:`\log(q_0^{-1} q_1)` (nv,), the shortest.
        compose: of q0 and q1: :math:`q_0 q_1` (nq,), unit blocks normalised.
        inverse: of q: :math:`q^{-1}` (nq,).
        adjoint: of q: :math:`Ad_q` (nv, nv), with :math:`q \exp(v) = \exp(Ad_q v)\, q`.
        exp_jacobian: of v: J (nv, nv), with :math:`\exp(v + \delta) \approx \exp(v) \exp(J \delta)`.
        log_jacobian: of v: J (nv, nv), with :math:`\log(\exp(v) \exp(\delta)) \approx v + J \delta`.
        bracket: of x and y: :math:`[x, y]` (nv,), the derivative of :math:`Ad_{\exp(s x)}\, y` by s at 0; None for
            differences of `adjoint`, exact to 1e-12.
        log_second: of r, velocity and acceleration: :math:`\ddot r` (nv,), see `Space.log_second_derivative`; None for
            differences of `log_jacobian`.
        log_slopes: of r, velocity, acceleration and y: a `LogSlopes`, see `log_slopes`; None for differences.

    Raises:
        WrongObjectError: a map is missing; the message names it.
        UnknownNameError: a map that no group has.
    """

    integrate: OfTwo
    difference: OfTwo
    compose: OfTwo
    inverse: OfVector
    adjoint: Callable[[Vector], Matrix]
    exp_jacobian: Callable[[Vector], Matrix]
    log_jacobian: Callable[[Vector], Matrix]
    bracket: OfTwo | None = None
    log_second: OfThree | None = None
    log_slopes: Callable[[Vector, Vector, Vector, Vector], LogSlopes] | None = None
