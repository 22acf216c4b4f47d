"""Options of a projector."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from liegroups.arguments import is_finite_number
from liegroups.frozen import set_fields

from ..errors import FrozenOptionError, OptionError, UnknownNameError, UnknownOptionError
from ..exports import from_above
from ..foreign_words import OPTION_CALLS, OPTIONS
from ..keywords import by_word
from ..questions import ask_once
from ..ranges import positive_number, whole_number
from .step_control import FULL_STEPS, StepControl

_T = TypeVar("_T")

LEAST_THRESHOLD = 1e-15
"""The least threshold: in float64, residuals of functions of about a metre and a radian end at up to 5e-16."""
LOOSE_THRESHOLD = 10.0
"""A threshold above this is asked about: a scaled error of so many metres or radians would be none."""
LOCAL_ITERATIONS = 100
"""Budget of a single try, and of searches that others repeat from other guesses."""
MOST_COUNT = 2**62
"""Largest count: kernels add two of them in 64 bits."""
_FROM_0 = ("max_iterations", "refine_iterations", "seed", "saturating_passes")
_FROM_1 = ("stall_count", "patience_count", "restart_table", "screen")


_MEANT = by_word(OPTIONS)


def option_meant(name: str) -> str:
    """The option that other libraries call by a name (`tol`, `maxIter`); empty where none is known.

    Args:
        name: in any case, with underscores or without.
    """
    return _MEANT.get(name.replace("_", "").lower(), "")


def not_an_argument(who: str, name: str, value: object, own: tuple[str, ...]) -> Exception:
    """The error for an option where none is taken by its name, and for a name that is no option; it shows the call.

    Args:
        who: what was called; `Options` itself, or one of `OPTION_CALLS`.
        name, value: what came by name.
        own: names of the arguments that it takes.
    """
    if who not in OPTION_CALLS:
        return UnknownOptionError(name, own, option_meant(name))
    options, call = tuple(field.name for field in fields(Options)), OPTION_CALLS[who]
    if name == "options":
        return OptionError(f"{who} takes no options, they belong to the projector: {call.format('Options(...)')}")
    if name in options:
        shown = repr(value) if isinstance(value, bool | int | float) else "..."
        there = call.format(f"Options({name}={shown})")
        return OptionError(f"{who} takes no argument '{name}', it is an option: {there}")
    meant = option_meant(name)
    if not meant:
        return UnknownNameError(f"argument of {who}", name, (*own, *options))
    return UnknownOptionError(name, options, meant, call.format(f"Options({meant}=...)"))


def _unchanging(cls: type[_T]) -> type[_T]:
    """A dataclass that answers the setting of a field, and of a name that is none."""
    whole: Any = cls
    names = tuple(field.name for field in fields(whole))

    def set_field(self: _T, name: str, value: object) -> None:
        raise FrozenOptionError(name, value) if name in names else UnknownOptionError(name, names, option_meant(name))

    whole.__setattr__ = set_field
    return cls


@_unchanging
@dataclass(frozen=True, repr=False, kw_only=True)
class Options:
    """Options of a projector, each given by its name. Immutable; the defaults are for planning queries from any start.

    Attributes:
        threshold: a constraint is satisfied when the norm of its scaled error is at most this, 1e-15 or more (float64
            rounds errors at about 1 m to 1e-16); the solver iterates to half of it, so that a later test of the
            solution passes.
        max_iterations: limit; an iteration is one Jacobian with its step, or one restart. A success costs the same
            with any limit; a failure uses all of it.
        restarts: start again from a random configuration when a try stalls, within the same budget.
        seed: seed of the table of restart configurations; seed and start determine the result.
        wrap: shift revolute joints with a range of a full turn by full turns into their bounds; these joints may then
            leave their bounds while the solver runs.
        trace: keep every iterate in `projection.trace`.
        step_control: chooses the part of each step that is taken; by default the full step.
        damping: mu = damping * squared error + 1e-12 in (J J^T + mu I) y = e.
        cap: largest move of a coordinate in one step [rad or m].
        saturating_passes: how often per step dofs that reach a bound are set to it and the others solved again.
        stall_ratio, stall_count: a try with restarts left ends after `stall_count` consecutive iterations with a
            residual not below `stall_ratio` times the best one.
        patience_ratio, patience_count: the same for a try without restarts.
        nearest: from a solution, continue to one whose weighted distance to the start (or to `near`) is stationary.
        optimise_last: from a solution, continue to a local minimum of the squared error of the optional last level.
        refine_iterations: limit for these two, in addition to `max_iterations`; the result is always a solution.
        refine_tolerance: part of the gradient that may remain at a stationary point, `projection.stationarity`.
        refine_gain: `optimise_last` ends when a step would reduce the squared error by less than this part.
        restart_table: number of random configurations drawn once per projector.
        screen: configurations that a restart evaluates, without Jacobian; it continues from the smallest residual.
        seconds: time limit [s] beside `max_iterations`, None for none; status TIME_LIMIT when it ends a search. It is
            looked at between chunks of iterations, of which a failure fills a quarter to a half of the time. How far a
            search comes then depends on the machine, so it is refused where results must be the same bits each time:
            batches, graphs, paths, files, `nearest`, `optimise_last`.

    Raises:
        UnknownOptionError: no option of that name; lists those that come closest.
        OptionError: a value outside its range.
        CallError: options without a name.
    """

    threshold: float = 1e-4
    max_iterations: int = 400
    restarts: bool = True
    seed: int = 0
    wrap: bool = True
    trace: bool = False
    step_control: StepControl = FULL_STEPS
    damping: float = 0.03
    cap: float = 1.5
    saturating_passes: int = 1
    stall_ratio: float = 0.9
    stall_count: int = 2
    patience_ratio: float = 0.98
    patience_count: int = 4
    nearest: bool = False
    optimise_last: bool = False
    refine_iterations: int = 200
    refine_tolerance: float = 1e-8
    refine_gain: float = 1e-6
    restart_table: int = 256
    screen: int = 8
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Check ranges.

        Raises:
            OptionError: names the option, its range, and what came.
        """
        as_threshold(self.threshold, "option 'threshold'")
        for name in ("cap", "stall_ratio", "patience_ratio", "refine_tolerance"):
            positive_number(getattr(self, name), f"option '{name}'")
        if self.threshold > LOOSE_THRESHOLD:
            ask_once(
                f"option 'threshold' {self.threshold:g} accepts errors of {self.threshold:g} m or rad: is it meant?"
            )
        for name in ("damping", "refine_gain"):
            value = getattr(self, name)
            self._require(name, is_finite_number(value) and value >= 0.0, "a number that is not negative")
        for least, names in enumerate((_FROM_0, _FROM_1)):
            for name in names:
                count = whole_number(getattr(self, name), f"option '{name}'", least)
                self._require(name, name == "seed" or count <= MOST_COUNT, "at most 2**62")
                set_fields(self, **{name: count})
        for name in ("restarts", "wrap", "trace", "nearest", "optimise_last"):
            hint = " (False, or Options.local(), is without restarts)" if name == "restarts" else ""
            self._require(name, isinstance(getattr(self, name), bool), f"True or False{hint}")
        if self.seconds is not None:
            positive_number(self.seconds, "option 'seconds'")
            if self.nearest or self.optimise_last:
                self.without_clock("with option 'nearest' or 'optimise_last'")
        if self.nearest and self.optimise_last:
            raise OptionError("options 'nearest' and 'optimise_last' cannot be used together: choose one")
        self._require("step_control", isinstance(self.step_control, StepControl), "a StepControl")  # pyright: ignore[reportUnnecessaryIsInstance]

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise OptionError(f"option '{name}': expected {expected}, got {getattr(self, name)!r}")

    def without_clock(self, where: str) -> Options:
        """These options, for what must give the same bits each time.

        Args:
            where: what that is, after "seconds": "of a batch".

        Raises:
            OptionError: they have a time limit.
        """
        if self.seconds is not None:
            remedy = "give max_iterations instead"
            raise OptionError(
                f"option 'seconds' {where}: results would depend on the machine, {remedy}, got {self.seconds!r}"
            )
        return self

    def __repr__(self) -> str:
        """The call that makes them: what differs from the defaults."""
        changed = [field.name for field in fields(self) if getattr(self, field.name) != field.default]
        return f"Options({', '.join(f'{name}={getattr(self, name)!r}' for name in changed)})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the options to a JSON file that `Options.load` reads. Raises NotSavableError, FileError."""
        from_above("save_options")(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Options:
        """Read options from a file. Raises FileError, with the place in the file."""
        return from_above("load_options")(path)

    @staticmethod
    def local(**changes: Any) -> Options:
        """Options for steps of planners and paths: no restarts, no wrapping, so the result is near the start.

        At most 100 iterations: a single try seldom needs so many.

        Args:
            **changes: other options.

        Raises:
            UnknownOptionError: no option of that name; lists those that come closest.
            OptionError: a value outside its range.
        """
        local: dict[str, Any] = {"restarts": False, "wrap": False, "max_iterations": LOCAL_ITERATIONS}
        return Options(**(local | changes))


def as_threshold(candidate: object, what: str) -> float:
    """Take the largest error that counts as none from a user.

    Args:
        candidate: what came.
        what: the argument, as the caller knows it: "tolerance of a motion".

    Raises:
        OptionError: no positive number, or one that residuals do not reach.
    """
    number = positive_number(candidate, what)
    if number < LEAST_THRESHOLD:
        least = f"expected at least {LEAST_THRESHOLD:g}: float64 rounds errors at about 1 m to 1e-16"
        raise OptionError(f"{what}: {least}, so a smaller one is met only by chance; got {number!r}")
    return number
