"""What can go wrong with an input: one family, each member with data, naming the culprit and what was expected.

The base and the errors about points of a group are defined on the lowest floor (`liegroups.errors`) because the
groups raise them; this module hands out the whole family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from typing import Any

from liegroups.errors import (
    ConstraintError as ConstraintError,
    DtypeError as DtypeError,
    DuplicateNameError as DuplicateNameError,
    EmptyIntervalError as EmptyIntervalError,
    NotFiniteError as NotFiniteError,
    NotNormalizedError as NotNormalizedError,
    OperatorError as OperatorError,
    OverlapError as OverlapError,
    SizeError as SizeError,
    SpaceMismatchError as SpaceMismatchError,
    UnknownNameError as UnknownNameError,
    WrongObjectError as WrongObjectError,
)


class UnknownFrameError(UnknownNameError):
    """No frame of that name; the message lists the names that come closest, `valid` all of them."""

    def __init__(self, name: str, valid: Sequence[str]) -> None:
        super().__init__("frame", name, valid)


class UnknownJointError(UnknownNameError):
    """No joint of that name; the message lists the names that come closest, `valid` all of them."""

    def __init__(self, name: str, valid: Sequence[str]) -> None:
        super().__init__("joint", name, valid)


class AmbiguousNameError(ConstraintError):
    """Several things share a name, which is legal, but picks none of them: `positions` of those that have it."""

    def __init__(self, kind: str, name: str, positions: Sequence[int]) -> None:
        self.kind, self.name, self.positions = kind, name, tuple(positions)
        places = ", ".join(str(i) for i in self.positions)
        super().__init__(
            f"{len(self.positions)} {kind}s are named {name!r}, at positions {places}: give the object, or its position"
        )


class StalePostureError(ConstraintError):
    """A posture was used after its borrowed workspace moved on to another configuration."""


class UndefinedError(ConstraintError):
    """A function was asked for its value outside its domain of definition."""


class FunctionError(ConstraintError):
    """A Function class does not keep what a Function promises: `function`, what was `seen`, and what to `mend`."""

    def __init__(self, function: str, seen: str, mend: str) -> None:
        self.function, self.seen, self.mend = function, seen, mend
        super().__init__(f"{seen}; {mend} (constraints.testing.check_function checks all that a function promises)")


class StepError(ConstraintError):
    """A direction of descent is none: `step` is its class, and what was `seen`."""

    def __init__(self, step: str, seen: str) -> None:
        self.step, self.seen = step, seen
        super().__init__(f"{step}.solve {seen}; it returns a new array (nv,) of finite numbers, the motion dq")


class NoAttributeError(UnknownNameError, AttributeError):
    """A value has no attribute of this name: `kind` is its class.

    Args:
        kind: the class.
        name: what was asked for.
        valid: attributes that it has.
        here: how the same is said here; empty where nothing is known.
    """

    def __init__(self, kind: str, name: str, valid: Sequence[str], here: str = "") -> None:
        self.here = here
        words = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind} has no attribute '{name}'" + (
            f": here it is {here}" if here else ""
        )
        UnknownNameError.__init__(self, f"attribute of {kind}", name, valid, words)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind.removeprefix("attribute of "), self.name, self.valid, self.here)


class CallError(ConstraintError, TypeError):
    """A call with too many arguments, or too few.

    Args:
        call: the function with the names of its arguments.
        reason: what is wrong, in Python's words.
        hint: what is meant; empty where nothing is known.
    """

    def __init__(self, call: str, reason: str, hint: str = "") -> None:
        self.call, self.reason, self.hint = call, reason, hint
        super().__init__(f"{call}: {reason}" + (f"; {hint}" if hint else ""))


class FrozenValueError(ConstraintError, FrozenInstanceError):
    """A field of a value that does not change was set.

    Args:
        kind: its class.
        name: the field.
        here: how a changed one is made.
    """

    def __init__(self, kind: str, name: str, here: str) -> None:
        self.kind, self.name, self.here = kind, name, here
        super().__init__(
            f"'{name}' cannot be set: {'an' if kind[0] in 'AEIOU' else 'a'} {kind} does not change; {here}"
        )


class NotDeclaredError(FunctionError, AttributeError):
    """A Function class has not called `declare`: `kind` is the class, `field` what is missing."""

    def __init__(self, kind: str, field: str) -> None:
        self.kind, self.field = kind, field
        mend = "call self.declare(inputs, outputs, ...) in __post_init__"
        super().__init__(kind, f"{kind} has no {field}, because it does not say what it maps", mend)


class NotWrittenError(FunctionError, TypeError):
    """A Function class lacks what it must write: `kind` is the class, `method` what is missing."""

    def __init__(self, kind: str, method: str) -> None:
        self.kind, self.method = kind, method
        mend = "write evaluate(self, point, value, jacobian=None), which fills both; value(q) and jacobian(q) follow"
        super().__init__(kind, f"{kind} does not write {method}", mend)


class TruthValueError(ConstraintError):
    """A result, or its status, was asked whether it is true. That of a failure would be, too; `success` tells.

    Args:
        kind: its class.
        advice: what to ask for.
        reason: why it is neither true nor false.
    """

    def __init__(self, kind: str, advice: str, reason: str = "a failed one is a result too") -> None:
        self.kind, self.advice, self.reason = kind, advice, reason
        super().__init__(f"a {kind} is neither true nor false, because {reason}: ask for {advice}")


class OtherConstraintsError(SpaceMismatchError):
    """Right-hand sides of other constraints than those of a problem: `reason` names the first that differs.

    Args:
        reason: what differs, in words.
        expected, received: the constraints here, and those of the right-hand sides.
    """

    def __init__(self, reason: str, expected: str, received: str) -> None:
        super().__init__("right-hand side of another problem", expected, received)
        self.reason = reason
        ways = "problem.rhs.replace(name, point) changes one, problem.rhs_from(q) reads all at a configuration, and "
        ways += "problem.rhs_from_parts(rhs) takes those of constraint objects that both problems have"
        self.args = (f"{self.what}: {reason}; {ways}",)


class OptionError(ConstraintError):
    """An option or bound has a value outside its range."""


class FrozenOptionError(OptionError, FrozenInstanceError):
    """An option of options that exist was set: they are values, and do not change; `name` and `value`."""

    def __init__(self, name: str, value: object) -> None:
        self.name, self.value = name, value
        super().__init__(
            f"option '{name}': options do not change; make others, dataclasses.replace(options, {name}={value!r})"
        )


class UnknownOptionError(OptionError, UnknownNameError):
    """No option of that name; the message lists the names that come closest, `valid` all of them.

    Args:
        name: that was given.
        valid: the options.
        meant: the option that others call by this name, where it is known.
        shown: how it is given.
    """

    def __init__(self, name: str, valid: Sequence[str], meant: str = "", shown: str = "") -> None:
        super().__init__("option", name, valid)
        self.meant = meant
        if meant:
            self.nearest = (meant,)
            self.args = (f"no option is named {name!r}: here it is '{meant}'{shown and f', {shown}'}",)


class ModelError(ConstraintError):
    """A model holds something that cannot be represented here (the message names it)."""


class FileError(ConstraintError):
    """A file cannot be found, or cannot be read whole: `path` and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class FileContentError(FileError):
    """A file holds what it must not: `path`, `place` (where in it, as $.levels[0][2].function), and the reason."""

    def __init__(self, path: str, place: str, reason: str) -> None:
        super().__init__(path, f"at {place}: {reason}")
        self.place = place


class NotSavableError(ConstraintError):
    """Something is not data, so that no file can hold it: `what` (as the constraint), and the reason."""

    def __init__(self, what: str, reason: str) -> None:
        self.what, self.reason = what, reason
        super().__init__(f"{what} cannot be saved: {reason}")


class PathError(ConstraintError):
    """A path that does not exist, does not hold together, or is asked for more than it has.

    Args:
        message: what is wrong.
        result: what failed, where something did: a Projection, Interpolation or Walk, whose `describe()` says more.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        self.result = result
        super().__init__(message)


class GraphError(ConstraintError):
    """A constraint graph cannot be built as asked, or does not contain what it was asked about."""


class RobotMismatchError(ConstraintError):
    """Functions of two different robots were put in one problem (their spaces may even be equal)."""


class DuplicateError(ConstraintError):
    """The same object was given twice."""


class MergeConflictError(ConstraintError):
    """Parts of a merged problem ask for different values of one thing: `what`, `first`, `second`."""

    def __init__(self, what: str, first: object, second: object) -> None:
        self.what, self.first, self.second = what, first, second
        super().__init__(
            f"{what}: one part says {first}, another one {second}; make them equal, or give it in one only"
        )


class EmptyProblemError(ConstraintError):
    """A problem without a single row that counts, or on a robot or space of which nothing moves."""


class RightHandSideError(ConstraintError):
    """A right-hand side asks for a value on a row that takes none: `constraint`, `row`, `value` of the log there."""

    def __init__(self, constraint: str, row: int, value: float, comparison: str) -> None:
        self.constraint, self.row, self.value, self.comparison = constraint, row, value, comparison
        super().__init__(
            f"right-hand side of {constraint!r}: row {row} is {comparison} and takes no right-hand side, "
            f"but its logarithm there is {value:.3g} (only EQUALITY rows may be non-zero: "
            "comparison=Comparison.EQUALITY makes them so, as Implicit.equal does)"
        )


class BatchRowError(ConstraintError):
    """What is wrong with one row of an argument of a batch: `row`, and the cause that says what."""

    def __init__(self, what: str, row: int, reason: str) -> None:
        self.what, self.row = what, row
        super().__init__(f"row {row} of {what}: {reason}")


class ExecutorError(ConstraintError):
    """The executor could not finish a batch: a worker died, it was shut down, or its chunks were cancelled.

    Where workers died and the script has no `if __name__ == "__main__":`, which spawned workers need, it says so.

    The cause is the executor's own exception. Nothing of the batch is returned.
    """


class NotPicklableError(ConstraintError):
    """A problem cannot be sent to another process; the cause says which of its objects does not pickle."""


class MissingExtraError(ConstraintError):
    """A library is wanted that comes with an extra: `library` and `extra` are their names."""

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(
            f"{library} is not installed: it comes with the extra '{extra}', pip install 'lie-constraints[{extra}]'"
        )
