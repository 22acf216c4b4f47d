"""What must work wherever the distribution is installed, with no extra and away from the repository.

The file stands alone: `.ci/run` copies it beside an environment that holds the wheel and pytest only.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import constraints
import liegroups
from constraints.errors import MissingExtraError
from constraints.functions import Identity

NEEDS_AN_EXTRA = ("constraints.interop",)
KERNELS = "constraints.solvers.kernels.", "constraints.solvers.tape.", "constraints.solvers.machine."
WITHOUT_NUMBA = ("cache", "layout", "loading")
"""Modules of that room that do without it; kernels are compiled as they are imported."""


def module_names() -> list[str]:
    return sorted(
        found.name
        for package in (constraints, liegroups)
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
        if not found.name.startswith(NEEDS_AN_EXTRA)
        and not found.name.endswith("__main__")
        and (not found.name.startswith(KERNELS) or found.name.rpartition(".")[2] in WITHOUT_NUMBA)
    )


def test_both_packages_come_from_one_place() -> None:
    assert Path(str(constraints.__file__)).parents[1] == Path(str(liegroups.__file__)).parents[1]


def test_modules_import_without_the_extras() -> None:
    for name in module_names():
        assert importlib.import_module(name).__doc__, name


def test_minus_undoes_plus() -> None:
    rng = np.random.default_rng(0)
    space = liegroups.SE3 * liegroups.Rn(2)
    q, v = space.random(rng), 0.5 * rng.standard_normal(space.nv)
    np.testing.assert_allclose(space.difference(q, space.integrate(q, v)), v, rtol=0, atol=1e-12)


def test_without_numba_the_compiled_engine_names_its_extra() -> None:
    space = liegroups.Rn(1)
    zero = constraints.Implicit.zero(Identity(space))
    if importlib.util.find_spec("numba") is None:
        with pytest.raises(MissingExtraError, match="fast"):
            constraints.Projector(constraints.Problem(space, [zero]), engine="compiled")
    assert constraints.Projector(constraints.Problem(space, [zero])).project([2.0]).success
