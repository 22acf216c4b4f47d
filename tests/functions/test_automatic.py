"""Functions of users that a library differentiates; skipped by name where it is not installed."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from constraints import Function, Implicit, Problem, Projector
from constraints.functions import FromCallable
from liegroups import SO3, R3xSO3, Rn


def numpy_of(library: str) -> Any:
    """The numpy of a library, in double precision."""
    module = pytest.importorskip(library)
    if library == "jax":
        module.config.update("jax_enable_x64", True)
    return import_module(f"{library}.numpy")


def made(library: str, q: Any) -> Any:
    """A norm and an absolute value, which are not analytic."""
    own = numpy_of(library)
    return own.array([own.linalg.norm(q), own.abs(q[0]) * q[1]])


def by_autograd(q: Any) -> Any:
    return made("autograd", q)


def by_jax(q: Any) -> Any:
    return made("jax", q)


OF = {"autograd": by_autograd, "jax": by_jax}
LOADED: dict[str, Any] = {}
"""Libraries that a test here has imported: others are not to find them."""


@pytest.fixture(autouse=True)
def _libraries_for_these_tests_alone() -> Iterator[None]:
    sys.modules.update(LOADED)
    yield
    LOADED.update({name: sys.modules.pop(name) for name in OF if name in sys.modules})


def function(library: str) -> FromCallable:
    numpy_of(library)
    return Function.from_callable(OF[library], Rn(3), Rn(2), trace=False)


@pytest.mark.parametrize("library", OF)
def test_a_library_differentiates_what_is_not_analytic(library: str) -> None:
    """To rounding, at the cost of one call; a copy too; both engines say the same."""
    f = function(library)
    assert f.library == library
    assert f.calls_for_jacobian == 1
    assert f"with derivatives by {library} (" in f.describe()
    q = np.array([-0.3, 0.7, 1.1])
    expected = [q / np.linalg.norm(q), [-q[1], abs(q[0]), 0.0]]
    for each in (f, copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        np.testing.assert_allclose(each.jacobian(q), expected, rtol=0, atol=1e-15)
    problem = Problem(Rn(3), [Implicit.equal(f, [1.0, 0.1])])
    found = [Projector(problem, engine=engine).project(q).or_raise() for engine in ("readable", "compiled")]
    assert found[0].iterations == found[1].iterations
    np.testing.assert_allclose(found[0].q, found[1].q, rtol=0, atol=1e-9)


@pytest.mark.parametrize("library", OF)
def test_wrong_derivatives_of_a_library_do_not_count(library: str) -> None:
    """What leaves the library's numbers, or holds them still, is by differences, with the same value."""
    own: Any = numpy_of(library)
    still = {"autograd": lambda x: getattr(x, "_value", x), "jax": lambda x: import_module("jax").lax.stop_gradient(x)}
    for f in (lambda q: np.abs(np.array([float(q[0])])), lambda q: own.abs(still[library](q[:1]) * q[1:2])):
        wrapped = Function.from_callable(f, Rn(2), Rn(1), trace=False)
        assert wrapped.library == ""
        assert "central differences" in wrapped.describe()


@pytest.mark.parametrize("library", OF)
def test_rotations_are_by_differences_beside_a_library(library: str) -> None:
    own: Any = numpy_of(library)
    f = Function.from_callable(lambda q: own.linalg.norm(q[:3]) * q[5:6] ** 2, R3xSO3, Rn(1), trace=False)
    assert f.library == library
    assert f.exact_columns.tolist() == [True] * 3 + [False] * 3
    q = np.array([1.0, 2.0, 2.0, *SO3.exp([0.1, 0.2, 0.3])])
    J = f.jacobian(q)[0]
    np.testing.assert_allclose(J[:3], q[:3] / 3.0 * q[5] ** 2, rtol=1e-15)
    steps = [f.value(R3xSO3.integrate(q, 1e-6 * s * np.eye(6)[4]))[0] for s in (1.0, -1.0)]
    assert J[4] == pytest.approx((steps[0] - steps[1]) / 2e-6, abs=1e-9)
