"""What functions of users do wrong, in Python and in machine code, is told by name; and what machine code gives."""

from __future__ import annotations

import copy
import ctypes
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import Function, Position
from constraints.errors import (
    CallError,
    FunctionError,
    NotPicklableError,
    NotWrittenError,
    UndefinedError,
    WrongObjectError,
)
from liegroups import Rn


class Mine(Function):
    """A function of two numbers by the code that is given."""

    def __init__(self, write: Callable[[Any, Any, Any], Any]) -> None:
        self.write = write
        self.declare(Rn(2), Rn(1), name="mine")

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        value[0] = 1.0
        self.write(point.q, value, jacobian)


def spoil(q: Any, value: Any, jacobian: Any) -> None:
    if jacobian is not None:
        jacobian[:] = 0.0
        q.setflags(write=True)
        q[0] += 1.0


@pytest.mark.parametrize(
    ("write", "error", "said"),
    [
        (lambda q, value, J: J.fill(0.0) if J is not None else None, None, ""),
        (lambda q, value, J: J.__setitem__(0, 0.0), AttributeError, "__setitem__"),
        (lambda q, value, J: J[0], FunctionError, "mine fails without a Jacobian .*; write it only `if"),
        (lambda q, value, J: len(3), TypeError, "has no len"),  # type: ignore[arg-type]
        (lambda q, value, J: q.__setitem__(0, 1.0), FunctionError, "evaluate of mine writes into q"),
        (lambda q, value, J: value.__setitem__(0, np.zeros(3)), ValueError, "setting an array element"),
        (lambda q, value, J: J is None or J.fill(0.0) or int("x"), ValueError, "invalid literal"),
        (spoil, FunctionError, "evaluate of mine writes into q"),
    ],
)  # fmt: skip
def test_what_evaluate_does_wrong_is_told_from_other_errors(write: Any, error: Any, said: str) -> None:
    f = Mine(write)
    if error is None:
        np.testing.assert_array_equal(f.linearise([3.0, 4.0]).jacobian, [[0.0, 0.0]])
        return
    with pytest.raises(error, match=said):
        _ = f.value([3.0, 4.0]), f.linearise([3.0, 4.0])


def test_masks_and_methods_that_are_missing_are_named() -> None:
    class Bare(Function):
        pass

    with pytest.raises(CallError, match=r"Position\(\.\.\., mask=\.\.\.\).*a function takes no mask"):
        Position(arm(), "tool", mask=[True, True, False])  # type: ignore[call-arg]
    with pytest.raises(NotWrittenError, match="Bare does not define evaluate"):
        Bare()  # type: ignore[abstract]


# Machine code.

POINTER = ctypes.POINTER(ctypes.c_double)


@ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER, POINTER)
def hemisphere(q: Any, value: Any, jacobian: Any) -> int:
    """Of radius 1, and the height; without a value below, and with an odd code far away."""
    value[0], value[1] = q[0] ** 2 + q[1] ** 2 + q[2] ** 2 - 1.0, q[2]
    if jacobian:
        for i, x in enumerate((2.0 * q[0], 2.0 * q[1], 2.0 * q[2], 0.0, 0.0, 1.0)):
            jacobian[i] = x
    return 1 if q[2] < 0.0 else 5 if q[0] > 7.0 else 0


def test_machine_code_is_a_function() -> None:
    f, q = Function.compiled(hemisphere, Rn(3), Rn(2), name="hemisphere"), np.array([0.5, 0.25, 2.0])
    there = f.linearise(q)
    np.testing.assert_array_equal(f.value(q), [0.25 + 0.0625 + 4.0 - 1.0, 2.0])
    np.testing.assert_array_equal(there.value, f.value(q))
    np.testing.assert_array_equal(there.jacobian, [[1.0, 0.5, 4.0], [0.0, 0.0, 1.0]])
    assert f.columns.all()
    assert (copy.copy(f), copy.deepcopy(f)) == (f, f)
    some = Function.compiled(hemisphere, Rn(3), Rn(2), columns=[True, False, True], name="")
    np.testing.assert_array_equal(some.jacobian(q), [[1.0, 0.0, 4.0], [0.0, 0.0, 1.0]])
    assert (some.name, some.columns.tolist()) == ("compiled function", [True, False, True])
    address = ctypes.cast(hemisphere, ctypes.c_void_p).value
    assert address is not None
    np.testing.assert_array_equal(Function.compiled(address, Rn(3), Rn(2), name="f").jacobian(q), there.jacobian)
    with pytest.raises(UndefinedError, match="hemisphere has no value there"):
        f.value([0.5, 0.25, -0.1])
    with pytest.raises(FunctionError, match="hemisphere returned 5; a compiled function returns 0 with a value"):
        f.value([8.0, 0.25, 0.1])
    with pytest.raises(NotPicklableError, match="hemisphere is an address of this process"):
        pickle.dumps(f)


@pytest.mark.parametrize("bad", ["sphere", 0, -1, 2**63, True, None, 1.5, arm()])
def test_what_is_no_machine_code_is_refused(bad: Any) -> None:
    with pytest.raises(WrongObjectError, match=r"compiled function 'f'.*an address, a function pointer of ctypes"):
        Function.compiled(bad, Rn(3), Rn(1), name="f")
    with pytest.raises(WrongObjectError):
        Function.compiled(hemisphere, bad, Rn(2), name="f")
    with pytest.raises(WrongObjectError):
        Function.compiled(hemisphere, Rn(3), bad, name="f")
