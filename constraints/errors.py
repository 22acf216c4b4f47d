"""Errors about inputs: each one names the culprit and what was expected, and keeps both as attributes.

The base and the errors about points of a group are defined on the lowest floor (`liegroups.errors`) because the
groups raise them; this module exports all of them.
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

    def __init__(self, name: str, valid: Sequence[str], what: str = "") -> None:
        super().__init__("joint", name, valid, f"{what}: no joint is named {name!r}" if what else "")


class AmbiguousNameError(ConstraintError):
    """Several things share a name, so the name alone does not say which one is meant; `positions` lists them."""

    def __init__(self, kind: str, name: str, positions: Sequence[int]) -> None:
        self.kind, self.name, self.positions = kind, name, tuple(positions)
        places = ", ".join(str(i) for i in self.positions)
        super().__init__(
            f"{len(self.positions)} {kind}s are named {name!r}, at positions {places}: give the object or its position"
        )


class StalePostureError(ConstraintError):
    """A posture was used after its borrowed workspace moved on to another configuration."""


class UndefinedError(ConstraintError):
    """A function was asked for its value outside its domain of definition; of several boxes, `where` (boxes,)."""

    def __init__(self, message: str, where: Any = None) -> None:
        self.where = where
        super().__init__(message)


class NoEnclosureError(ConstraintError):
    """Something has no enclosure, so that nothing is proved with it: `what` it is, `why` there is none."""

    def __init__(self, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"{what} has no enclosure: {why}")


class FunctionError(ConstraintError):
    """A Function class breaks a rule of Functions: `function` is the class, `seen` the defect, `mend` the remedy."""

    def __init__(self, function: str, seen: str, mend: str) -> None:
        self.function, self.seen, self.mend = function, seen, mend
        super().__init__(f"{seen}; {mend} (constraints.testing.check_function checks all rules)")


class StepError(ConstraintError):
    """A LinearStep gave no valid direction of descent: `step` is its class, `seen` what it did."""

    def __init__(self, step: str, seen: str) -> None:
        self.step, self.seen = step, seen
        super().__init__(f"{step}.solve {seen}; it must return a new array (nv,) of finite numbers, the motion dq")


class NoAttributeError(UnknownNameError, AttributeError):
    """A value has no attribute of this name: `kind` is its class.

    Args:
        kind: the class.
        name: what was asked for.
        valid: attributes that it has.
        here: what to use instead; empty if unknown.
    """

    def __init__(self, kind: str, name: str, valid: Sequence[str], here: str = "") -> None:
        self.here = here
        words = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind} has no attribute '{name}'{here and f': use {here}'}"
        UnknownNameError.__init__(self, f"attribute of {kind}", name, valid, words)


class CallError(ConstraintError, TypeError):
    """A call with too many arguments, or too few.

    Args:
        call: the function with the names of its arguments.
        reason: what is wrong, in Python's words.
        hint: the likely intention; empty if unknown.
    """

    def __init__(self, call: str, reason: str, hint: str = "") -> None:
        self.call, self.reason, self.hint = call, reason, hint
        super().__init__(f"{call}: {reason}" + (f"; {hint}" if hint else ""))


class FrozenValueError(ConstraintError, FrozenInstanceError):
    """A field of an immutable value was set.

    Args:
        kind: its class.
        name: the field.
        here: how to make a changed copy.
    """

    def __init__(self, kind: str, name: str, here: str) -> None:
        self.kind, self.name, self.here = kind, name, here
        super().__init__(f"'{name}' cannot be set: {'an' if kind[0] in 'AEIOU' else 'a'} {kind} is immutable; {here}")


class NotDeclaredError(FunctionError, AttributeError):
    """A Function class has not called `declare`: `kind` is the class, `field` the missing field."""

    def __init__(self, kind: str, field: str) -> None:
        self.kind, self.field = kind, field
        mend = "call self.declare(inputs, outputs, ...) in __post_init__"
        super().__init__(kind, f"{kind} has no {field}, because it has not declared its inputs and outputs", mend)


class NotWrittenError(FunctionError, TypeError):
    """A Function class lacks a method that it must define: `kind` is the class, `method` the missing method."""

    def __init__(self, kind: str, method: str) -> None:
        self.kind, self.method = kind, method
        mend = "define evaluate(self, point, value, jacobian=None), which fills both; value(q) and jacobian(q) follow"
        super().__init__(kind, f"{kind} does not define {method}", mend)


class TruthValueError(ConstraintError):
    """A result or a status was used as a truth value. A failure would count as true, too; use `success` instead.

    Args:
        kind: its class.
        advice: what to use instead.
        reason: why it is neither true nor false.
    """

    def __init__(self, kind: str, advice: str, reason: str = "a failure would count as true too") -> None:
        self.kind, self.advice, self.reason = kind, advice, reason
        super().__init__(f"a {kind} is neither true nor false, because {reason}: use {advice}")


class OtherConstraintsError(SpaceMismatchError):
    """Right-hand sides belong to other constraints than the problem has: `reason` names the first difference.

    Args:
        reason: what differs, in words.
        expected, received: the constraints of the problem, and the constraints of the right-hand sides.
    """

    def __init__(self, reason: str, expected: str, received: str) -> None:
        super().__init__("right-hand side of another problem", expected, received)
        self.reason = reason
        ways = "problem.rhs.replace(name, point) changes one, problem.rhs_from(q) computes all at a configuration, and "
        ways += "problem.rhs_from_parts(rhs) copies the values of constraint objects that both problems share"
        self.args = (f"{self.what}: {reason}; {ways}",)


class OtherForcesError(SpaceMismatchError):
    """A function sees forces, or controls, that a stage does not have in that place: `function` is its name.

    Args:
        function: the function.
        expected: what the stage has there: a row of a constraint, or a control.
        received: what the function was made for.
    """

    def __init__(self, function: str, expected: str, received: str) -> None:
        super().__init__(f"inputs of {function}", expected, received)
        self.function = function
        mend = "make functions of forces and controls by a stage that has the same constraints, in the same order"
        self.args = (f"{self.what}: it sees {received}, and this stage has {expected} in that place; {mend}",)


class OptionError(ConstraintError):
    """An option or bound has a value outside its range."""


class FrozenOptionError(OptionError, FrozenInstanceError):
    """An attribute of Options was set, but Options are immutable: `name` and `value`."""

    def __init__(self, name: str, value: object) -> None:
        self.name, self.value = name, value
        super().__init__(
            f"option '{name}': Options are immutable; make a copy: dataclasses.replace(options, {name}={value!r})"
        )


class UnknownOptionError(OptionError, UnknownNameError):
    """No option of that name; the message lists the names that come closest, `valid` all of them.

    Args:
        name: the name that was given.
        valid: the options.
        meant: the option that other libraries call by this name, if known.
        shown: how to give it.
    """

    def __init__(self, name: str, valid: Sequence[str], meant: str = "", shown: str = "") -> None:
        super().__init__("option", name, valid)
        self.meant = meant
        if meant:
            self.nearest = (meant,)
            self.args = (f"no option is named {name!r}: use '{meant}'{shown and f', {shown}'}",)


class ModelError(ConstraintError):
    """A model contains something that this library cannot represent; the message names it."""


class FileError(ConstraintError):
    """A file cannot be found or read: `path` and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class FileContentError(FileError):
    """A file has wrong content: `path`, `place` (for example $.levels[0][2].function) and the reason."""

    def __init__(self, path: str, place: str, reason: str) -> None:
        super().__init__(path, f"at {place}: {reason}")
        self.place = place


class NotSavableError(ConstraintError):
    """Something is not plain data and cannot be saved: `what` (for example the constraint) and the reason."""

    def __init__(self, what: str, reason: str) -> None:
        self.what, self.reason = what, reason
        super().__init__(f"{what} cannot be saved: {reason}")


class FailedError(ConstraintError):
    """An operation did not succeed.

    Args:
        result: what it gave back; its `describe()` says more.
        words: what to say; by default what the result says of itself.
    """

    def __init__(self, result: Any, words: str = "") -> None:
        self.result = result
        super().__init__(words or str(result))


class PathError(ConstraintError):
    """A path is not connected, or was asked for something that it does not have."""


class GraphError(ConstraintError):
    """A constraint graph cannot be built as described, or does not contain what was looked up in it."""


class RobotMismatchError(ConstraintError):
    """Functions of two different robots are in one problem (their spaces may even be equal)."""


class DuplicateError(ConstraintError):
    """The same object was given twice."""


class MergeConflictError(ConstraintError):
    """Parts of a merged problem give different values to the same thing: `what`, `first`, `second`."""

    def __init__(self, what: str, first: object, second: object) -> None:
        self.what, self.first, self.second = what, first, second
        super().__init__(
            f"{what}: one part says {first}, another says {second}; make them equal, or give it in one part only"
        )


class EmptyProblemError(ConstraintError):
    """A problem has no row that counts, or nothing in its robot or space can move."""


class RightHandSideError(ConstraintError):
    """A right-hand side is non-zero on a row that takes none: `constraint`, `row`, `value` of the log in this row."""

    def __init__(self, constraint: str, row: int, value: float, comparison: str) -> None:
        self.constraint, self.row, self.value, self.comparison = constraint, row, value, comparison
        super().__init__(
            f"right-hand side of {constraint!r}: row {row} is {comparison} and takes no right-hand side, "
            f"but its logarithm in this row is {value:.3g} (only EQUALITY rows may be non-zero: "
            "give comparison=Comparison.EQUALITY, or use Implicit.equal)"
        )


class BatchRowError(ConstraintError):
    """One row of a batch argument is wrong: `row` is its index, the cause says what is wrong."""

    def __init__(self, what: str, row: int, reason: str) -> None:
        self.what, self.row = what, row
        super().__init__(f"row {row} of {what}: {reason}")


class ExecutorError(ConstraintError):
    """The executor could not finish a batch: a worker died, it was shut down, or its chunks were cancelled.

    If workers died and the script has no `if __name__ == "__main__":`, which spawned workers need, the message says so.
    The cause is the exception of the executor. No part of the batch is returned.
    """


class NotPicklableError(ConstraintError):
    """A problem cannot be sent to another process; the cause names the object that cannot be pickled."""


class MissingExtraError(ConstraintError):
    """A library is needed that comes with an extra: `library` and `extra` are their names."""

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(
            f"{library} is not installed: it comes with the extra '{extra}': "
            f"pip install 'lie-constraints[{extra}]', or '.[{extra}]' in a checkout"
        )
