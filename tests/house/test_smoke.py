"""What must work wherever the distribution is installed, with no extra and away from the repository.

The file stands alone: `.ci/run` copies it beside an environment that holds the wheel and pytest only.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import constraints
import liegroups

NEEDS_AN_EXTRA = ("constraints.compiled", "constraints.interop")


def module_names() -> list[str]:
    return sorted(
        found.name
        for package in (constraints, liegroups)
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
        if not found.name.startswith(NEEDS_AN_EXTRA) and not found.name.endswith("__main__")
    )


def test_both_packages_come_from_one_place() -> None:
    assert Path(str(constraints.__file__)).parents[1] == Path(str(liegroups.__file__)).parents[1]


@pytest.mark.parametrize("name", module_names())
def test_module_imports_without_the_extras(name: str) -> None:
    assert importlib.import_module(name).__doc__


def test_minus_undoes_plus() -> None:
    rng = np.random.default_rng(0)
    space = liegroups.SE3 * liegroups.Rn(2)
    q, v = space.random(rng), 0.5 * rng.standard_normal(space.nv)
    np.testing.assert_allclose(space.difference(q, space.integrate(q, v)), v, rtol=0, atol=1e-12)
