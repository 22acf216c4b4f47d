"""Step controls: how much of a step is taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, tanh
from typing import NamedTuple, final

from liegroups.arguments import is_finite_number

from ..errors import OptionError


class StepState(NamedTuple):
    """Input of a step control.

    Attributes:
        iteration: number of the step in its try, from 0.
        merit: sum over the mandatory levels of squared scaled errors, at the iterate.
        slope: derivative of the merit along the step, per unit of alpha (negative downhill).
        residual: largest error norm of a constraint.
        threshold: threshold of the projection.
    """

    iteration: int
    merit: float
    slope: float
    residual: float
    threshold: float


class StepControl(ABC):
    """Chooses the part alpha of a step that is taken. It has no memory; its input is the state."""

    @abstractmethod
    def alpha(self, state: StepState, trial: Callable[[float], float]) -> float:
        """Part of the step, in (0, 1].

        Args:
            state: state of the iteration.
            trial: function that gives the merit after alpha times the step (one evaluation without Jacobian).
        """


@final
@dataclass(frozen=True)
class FullSteps(StepControl):
    """Take every damped, capped step in full: the default. It needs no trial evaluation."""

    def alpha(self, state: StepState, trial: Callable[[float], float]) -> float:
        """One."""
        return 1.0


FULL_STEPS = FullSteps()
"""The default step control."""


@final
@dataclass(frozen=True)
class ConstantStep(StepControl):
    """Always the same part of the step.

    Args:
        value: alpha in (0, 1].

    Source: `lineSearch::Constant` of hpp-constraints.
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        """Check the range."""
        _check_parts(self, "value")

    def alpha(self, state: StepState, trial: Callable[[float], float]) -> float:
        """The value."""
        return self.value


@final
@dataclass(frozen=True)
class Backtracking(StepControl):
    r"""Armijo rule: shorten the step until the merit decreases enough.

    .. math:: f(\alpha) \le f(0) + c\,\alpha\, f'(0)

    Args:
        c: required part of the predicted decrease.
        tau: factor between tries.
        smallest: alpha that is used without a test if all larger ones failed.

    Source: `lineSearch::Backtracking` of hpp-constraints, with the same merit on both sides of the test (there the
    value is the largest squared error of a constraint, but the slope belongs to the sum over all levels).
    """

    c: float = 0.001
    tau: float = 0.7
    smallest: float = 0.2

    def __post_init__(self) -> None:
        """Check the ranges."""
        _check_parts(self, "smallest", below_one=("c", "tau"))

    def alpha(self, state: StepState, trial: Callable[[float], float]) -> float:
        """The largest of 1, tau, tau^2, ... above `smallest` that passes, or `smallest`."""
        alpha = 1.0
        while alpha > self.smallest:
            if trial(alpha) <= state.merit + self.c * alpha * state.slope:
                return alpha
            alpha *= self.tau
        return self.smallest


@final
@dataclass(frozen=True)
class FixedSequence(StepControl):
    r"""A sequence that grows towards a limit: :math:`\alpha_k = a - (a - \alpha_0)\, K^k`.

    Args:
        first: alpha_0.
        limit: a.
        factor: K.

    Source: `lineSearch::FixedSequence` of hpp-constraints (0.2, 0.35, 0.47, ... 0.95).
    """

    first: float = 0.2
    limit: float = 0.95
    factor: float = 0.8

    def __post_init__(self) -> None:
        """Check the ranges."""
        _check_parts(self, "first", "limit", below_one=("factor",))

    def alpha(self, state: StepState, trial: Callable[[float], float]) -> float:
        """The member of the sequence for this iteration."""
        return self.limit - (self.limit - self.first) * self.factor**state.iteration


@final
@dataclass(frozen=True)
class ErrorNormBased(StepControl):
    r"""Short steps far away, long ones near the goal.

    .. math:: \alpha = C - K \tanh(a\, r + b), \qquad r = (\text{residual} / \text{threshold})^2, \quad
        C = \tfrac12 + \tfrac12\alpha_{min}, \; K = \tfrac12 (1 - \alpha_{min})

    with a and b such that alpha is 0.98 at r = 1 and 0.6 at r = 1e6 for the default.

    Args:
        smallest: alpha_min.

    Source: `lineSearch::ErrorNormBased` of hpp-constraints.
    """

    smallest: float = 0.2

    def __post_init__(self) -> None:
        """Check the range."""
        _check_parts(self, "smallest")

    def alpha(self, state: StepState, trial: Callable[[float], float]) -> float:
        """A function of residual / threshold."""
        ratio = (state.residual / state.threshold) ** 2
        middle, half = 0.5 + 0.5 * self.smallest, 0.5 * (1.0 - self.smallest)
        return middle - half * tanh(_SLOPE * ratio + _OFFSET)


def _fit() -> tuple[float, float]:
    """A and b of tanh(a r + b) through (1, (0.6 - 0.98)/0.4) and (1e6, 0)."""
    near = atanh((0.6 - 0.98) / 0.4)
    slope = -near / (1e6 - 1.0)
    return slope, near - slope


_SLOPE, _OFFSET = _fit()


def _check_parts(control: StepControl, *names: str, below_one: tuple[str, ...] = ()) -> None:
    """Refuse fields that are no number in (0, 1]; those named last must be below 1 too."""
    for name in (*names, *below_one):
        value = getattr(control, name)
        if not is_part(value) or (value == 1.0 and name in below_one):
            interval = "(0, 1)" if name in below_one else "(0, 1]"
            raise OptionError(f"{name} of {type(control).__name__} must be in {interval}, got {value!r}")


def is_part(value: object) -> bool:
    """Whether a value is a number in (0, 1]."""
    return is_finite_number(value) and 0.0 < value <= 1.0
