r"""The laws that any differentiable function must keep, run on random configurations.

>>> from constraints import Pose
>>> from constraints.models import sample_arm
>>> from constraints.testing import check_function
>>> check_function(Pose(sample_arm(), "tool"), samples=3)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from liegroups import Space
from liegroups.arrays import ArrayLike, Vector

from ..errors import FunctionError, UndefinedError
from ..functions.function import Function, as_function
from ..linear_algebra import largest
from ..point import place
from ..robot import Robot
from ..robot.space import RobotSpace
from ..workspace import Workspace
from .derivatives import check_drift, check_drift_derivatives, check_force_derivative, check_jacobian
from .enclosing import check_enclosure
from .failure import CheckFailed, copies_of, require, within
from .places import column_name, evaluated, turning_entries

TO_BE_CHECKED = "function to be checked (of a constraint, contact or closure: its `function`)"


def check_function(
    function: Function,
    configurations: ArrayLike | None = None,
    *,
    rng_seed: int = 0,
    samples: int = 20,
    tolerance: float = 1e-6,
    pickles: bool = True,
) -> None:
    """Check every law of `Function`, and say which one fails, where, by how much, and what to fix.

    The laws: the whole value and the declared columns of the Jacobian are written, and nothing else; the value is a
    point of the outputs; the result is the same to the last bit with and without Jacobian, twice, in a used workspace,
    after pickling and from a deep copy; q and the function are not changed; the Jacobian agrees with central
    differences along the manifold, by value and by slope (their error falls like the square of the step); the value
    depends on declared columns alone; your own drift and its derivatives agree with differences; whole turns of
    revolute joints declared periodic do not change the value; no value or Jacobian is found outside of your own
    enclosure, in 1,000 samples on boxes of all sizes.

    Args:
        function: any function, your own included.
        configurations: (inputs.nq,) or (n, inputs.nq), where to check; by default random ones, within the bounds of the
            function's `robot` if it has one.
        rng_seed: seed of the configurations and velocities.
        samples: number of random configurations. Those where the function is undefined are drawn again.
        tolerance: largest error of a derivative against differences, relative to 1 + the largest entry.
        pickles: False for a function with lambdas, which cannot be pickled.

    Raises:
        CheckFailed: a law does not hold.
        WrongObjectError: not a function, or a class instead of an object.
        SizeError, NotFiniteError, NotNormalizedError: an invalid configuration.
    """
    try:
        _check_laws(
            as_function(function, TO_BE_CHECKED),
            configurations, rng_seed, samples, tolerance, pickles,
        )  # fmt: skip
    except FunctionError as error:
        law = "evaluate and drift write every entry of what they are given, and the Jacobian where one is given"
        raise CheckFailed(law, {}, None, 0.0, error.mend, error.seen) from error


def _check_laws(
    f: Function, configurations: ArrayLike | None, rng_seed: int, samples: int, tolerance: float, pickles: bool
) -> None:
    declared = all(hasattr(f, name) for name in ("inputs", "outputs", "columns", "periodic", "name"))
    what, kind = "a function says what it maps", type(f).__name__
    require(what, declared, "call self.declare(inputs, outputs, ...) in __post_init__", f"{kind} does not")
    by_identity = type(f).__eq__ is object.__eq__ and type(f).__hash__ is object.__hash__
    mend = "write @dataclass(frozen=True, eq=False, repr=False)"
    require("functions are compared by identity", by_identity, mend, f"{kind} has its own __eq__ or __hash__")
    before = _state(f)
    rng = np.random.default_rng(rng_seed)
    places = list(_given(f, configurations) if configurations is not None else _drawn(f, rng, samples))
    used = Workspace()
    for q in places:
        _check_buffers(f, q)
        _check_bits(f, q, places[0], used)
        check_jacobian(f, q, rng, tolerance)
        _check_turns(f, q)
        check_drift(f, q, rng, tolerance)
    if places:
        check_drift_derivatives(f, places[0], rng, tolerance)
        check_force_derivative(f, places[0], rng, tolerance)
        _check_copies(f, places[0], pickles)
        check_enclosure(f, places, rng)
    mend = "keep no state and no cache: intermediate results belong in point.scratch(self, name, shape)"
    for name, (value, content) in _state(f).items():
        holds = name in before and before[name][0] is value and before[name][1] == content
        seen = f"evaluation changes the attribute '{name}' of {f.name}"
        require("evaluation does not change the function", holds, mend, seen)


# --- where ------------------------------------------------------------------------------------------------------------


def _given(f: Function, configurations: ArrayLike) -> Iterator[Vector]:
    for q in np.atleast_2d(np.asarray(configurations, dtype=np.float64)):
        yield np.array(f.inputs.check(q, f"configuration for {f.name}"))


def _drawn(f: Function, rng: np.random.Generator, samples: int) -> Iterator[Vector]:
    found = drawn = 0
    while found < samples:
        q, drawn = _random(f, rng), drawn + 1
        try:
            f.value(q.copy())
        except UndefinedError as error:
            lost = drawn >= 20 * samples + 20
            mend = f"give `configurations` where it is defined, or look at the condition for: {error}"
            seen = f"{f.name} has a value at only {found} of {drawn} random configurations"
            require("the function has a value at most configurations", not lost, mend, seen, q=q)
            continue
        found += 1
        yield q


def _random(f: Function, rng: np.random.Generator) -> Vector:
    robot = getattr(f, "robot", None)
    if isinstance(robot, Robot) and robot.space is f.inputs:
        return robot.random(rng)
    return _random_point(f.inputs, rng)


def _random_point(space: Space, rng: np.random.Generator) -> Vector:
    """Within the bounds that the models of robots state, the unit box elsewhere."""
    if isinstance(space, RobotSpace):
        return Robot(space.model).random(rng)
    if len(space.factors) > 1:
        return np.concatenate([_random_point(factor.space, rng) for factor in space.factors])
    return space.random(rng)


# --- the laws of one evaluation ---------------------------------------------------------------------------------------


def _check_buffers(f: Function, q: Vector) -> None:
    argument = q.copy()
    value, jacobian = evaluated(f, argument, Workspace())
    seen = f"evaluate of {f.name} changes point.q"
    require(
        "evaluate does not change its argument",
        _same(argument, q),
        "work on a copy of point.q",
        seen,
        q=q,
        left=argument,
    )
    clean_value, clean_jacobian = evaluated(f, q, Workspace(), poison=0.0)
    for row in np.flatnonzero(~np.isfinite(value)):
        _refuse(f, f"row {row} of the value", float(clean_value[row]), q)
    for row, column in np.argwhere(~np.isfinite(jacobian)):
        what = f"row {row} of the Jacobian, column {column_name(f.inputs, column)},"
        _refuse(f, what, float(clean_jacobian[row, column]), q)
    for row, column in np.argwhere((jacobian != 0.0) & ~f.columns):
        entry, name = jacobian[row, column], column_name(f.inputs, column)
        seen = (
            f"column {name} of {f.name} is not declared in `columns` but row {row} of the Jacobian is {entry:.6g} there"
        )
        mend = "declare the column, or write exact zeros (or nothing) there"
        require("the Jacobian is zero outside the declared columns", False, mend, seen, q=q)
    mend = "normalise rotations: the value of a rotation is a unit quaternion xyzw, or (cos, sin)"
    seen = f"the value of {f.name} is not a point of {f.outputs.name}"
    law = "the value is a point of the outputs"
    require(law, f.outputs.is_normalized(value, 1e-9), mend, seen, q=q, value=value)


def _refuse(f: Function, what: str, from_zero: float, q: Vector) -> None:
    """An entry that was not finite, and what comes instead where the buffers are full of zeros."""
    if np.isfinite(from_zero):
        seen = f"{what} of {f.name} is not written, or is added to what was there"
        require("evaluate writes every entry", False, "write it with =, in every case", seen, q=q)
    mend = "look for a division by zero; raise UndefinedError where there is no value"
    require("value and Jacobian are finite", False, mend, f"{what} of {f.name} is {from_zero}", q=q)


def _check_bits(f: Function, q: Vector, elsewhere: Vector, used: Workspace) -> None:
    value, jacobian = evaluated(f, q, Workspace())
    alone = np.full(f.outputs.nq, np.nan)
    f.evaluate(place(f.inputs, q, Workspace()), alone)
    law = "the same bits with and without a Jacobian"
    seen = f"{f.name} gives different values with and without a Jacobian"
    mend = "compute the value by the same code in both cases"
    require(law, _same(alone, value), mend, seen, q=q, without=alone, difference=value - alone)
    mend = "keep no state and no cache; write all of the scratch memory before reading it"
    point = place(f.inputs, q, used)
    for what in ("in a workspace used elsewhere", "twice at one point"):
        again, again_jacobian = np.full_like(value, np.nan), np.zeros_like(jacobian)
        f.evaluate(point, again, again_jacobian)
        law, same = f"the same bits {what}", _same(again, value) and _same(again_jacobian, jacobian)
        require(law, same, mend, f"{f.name} gives different bits {what}", q=q, difference=again - value)
    evaluated(f, elsewhere, used)
    f.evaluate(place(f.inputs, q, used), again)
    law = "the same bits by value after a Jacobian elsewhere"
    seen = f"{f.name} gives different bits after a Jacobian elsewhere"
    require(law, _same(again, value), mend, seen, q=q, difference=again - value)


def _check_turns(f: Function, q: Vector) -> None:
    value, workspace = f.value(q), Workspace()
    for column, entry in turning_entries(f.inputs):
        if not (f.periodic[column] and f.columns[column]):
            continue
        turned, after = q.copy(), np.zeros(f.outputs.nq)
        turned[entry] += 2.0 * np.pi
        f.evaluate(place(f.inputs, turned, workspace), after)
        name, law = column_name(f.inputs, column), "a whole turn in a periodic column does not change the value"
        seen = f"{f.name} is declared periodic in column {name} but a whole turn changes its value"
        mend = "declare(..., periodic=False), or by column; only functions of sin and cos of an angle are periodic"
        within(law, largest(f.outputs.difference(value, after)), 1e-9 * (1.0 + largest(value)), mend, seen, q=q)


def _check_copies(f: Function, q: Vector, pickles: bool) -> None:
    expected = f.linearise(q)
    for what, twin in copies_of(f, "function", f.name, pickles).items():
        value, jacobian = twin.linearise(q)
        holds = _same(value, expected.value) and _same(jacobian, expected.jacobian)
        seen = f"{what} of {f.name} gives different bits"
        require(f"{what} gives the same bits", holds, "hold all data in fields", seen, q=q)


def _same(a: Vector, b: Vector) -> bool:
    return a.shape == b.shape and bool(np.all((a == b) | (np.isnan(a) & np.isnan(b))))


def _state(f: Function) -> dict[str, tuple[object, object]]:
    """The attributes, each with its content if it can change, to see whether any does."""
    state: dict[str, tuple[object, object]] = {}
    for name, value in vars(f).items():
        kept: object = value
        content: object = value.tobytes() if isinstance(value, np.ndarray) else None
        if isinstance(value, list | dict):
            content = str(kept)
        state[name] = (kept, content)
    return state
