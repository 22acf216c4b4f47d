"""A group is one file: Sim(2), turns, moves and scalings of the plane, written outside the package as a table of maps.

In complex numbers an element is p -> a p + b with a = exp(scale + i angle), and a tangent vector the matrix
[[z, u], [0, 0]] with z = rate of scaling + i rate of turning.
"""

from __future__ import annotations

import cmath
import copy
import math
import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from constraints import Function, Implicit, Problem, project
from constraints.errors import NotSavableError
from constraints.functions import Identity
from constraints.testing import check_function, check_space
from liegroups import SE3, Group, GroupMaps, Layout, R3xSO3, Rn
from liegroups.errors import NotNormalizedError, SizeError, WrongObjectError
from liegroups.formulas.batch_maps import SE3Maps

# --- the group -------------------------------------------------------------------------------------------------------


def parts(q: np.ndarray) -> tuple[complex, complex, float]:
    """Move b, turn (a unit complex number) and scale (a logarithm) of q = (x, y, cos, sin, scale)."""
    x, y, c, s, scale = q.tolist()
    return complex(x, y), complex(c, s), scale


def point(b: complex, turn: complex, scale: float) -> np.ndarray:
    turn /= abs(turn)
    return np.array([b.real, b.imag, turn.real, turn.imag, scale])


def twist(v: np.ndarray) -> tuple[complex, complex]:
    """u and z of v = (vx, vy, rate of scaling, rate of turning)."""
    x, y, growth, turning = v.tolist()
    return complex(x, y), complex(growth, turning)


def functions(z: complex) -> tuple[complex, complex]:
    """f = (1 - exp(-z)) / z and (f - 1) / z, the latter as a series near zero."""
    if abs(z) > 1.0:
        f = (1.0 - cmath.exp(-z)) / z
        return f, (f - 1.0) / z
    g = sum(-((-z) ** k) / math.factorial(k + 2) for k in range(18))
    return 1.0 + z * g, g


def block(left: complex, right: complex) -> np.ndarray:
    """The complex matrix [[left, right], [0, 1]] as a real one."""
    out = np.eye(4)
    out[:2, :2] = [[left.real, -left.imag], [left.imag, left.real]]
    out[:2, 2:] = [[right.real, -right.imag], [right.imag, right.real]]
    return out


def integrate(q, v):
    u, z = twist(v)
    return compose(q, point(u * functions(-z)[0], cmath.exp(1j * z.imag), z.real))


def difference(q0, q1):
    b, turn, scale = parts(compose(inverse(q0), q1))
    z = complex(scale, cmath.phase(turn))
    u = b / functions(-z)[0]
    return np.array([u.real, u.imag, z.real, z.imag])


def compose(q0, q1):
    (b0, turn0, scale0), (b1, turn1, scale1) = parts(q0), parts(q1)
    return point(b0 + math.exp(scale0) * turn0 * b1, turn0 * turn1, scale0 + scale1)


def inverse(q):
    b, turn, scale = parts(q)
    return point(-b * turn.conjugate() * math.exp(-scale), turn.conjugate(), -scale)


def adjoint(q):
    b, turn, scale = parts(q)
    return block(math.exp(scale) * turn, -b)


def exp_jacobian(v):
    u, z = twist(v)
    f, g = functions(z)
    return block(f, -u * g)


def log_jacobian(v):
    u, z = twist(v)
    f, g = functions(z)
    return block(1.0 / f, u * g / f)


def bracket(x, y):
    (u, z), (w, k) = twist(x), twist(y)
    out = z * w - k * u
    return np.array([out.real, out.imag, 0.0, 0.0])


LAYOUT = Layout.group("Sim2", [0.0, 0.0, 1.0, 0.0, 0.0], 4, [slice(2, 4)], "x, y, (cos, sin), then the scale")
MAPS = GroupMaps(
    integrate=integrate,
    difference=difference,
    compose=compose,
    inverse=inverse,
    adjoint=adjoint,
    exp_jacobian=exp_jacobian,
    log_jacobian=log_jacobian,
    bracket=bracket,
)
SIM2 = Group(LAYOUT, MAPS)


# --- what the house gives it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [SIM2, SIM2 * SE3 * Rn(2), SIM2**2], ids=str)
def test_a_group_of_one_file_keeps_all_laws(space) -> None:
    check_space(space, samples=20)


def test_bracket_and_second_derivative_may_be_left_to_differences() -> None:
    by_differences = Group(LAYOUT, replace(MAPS, bracket=None))
    check_space(by_differences, samples=5)
    x, y = np.random.default_rng(0).standard_normal((2, 4))
    assert np.allclose(by_differences.bracket(x, y), SIM2.bracket(x, y), atol=1e-11)


def test_a_group_of_one_file_is_a_value() -> None:
    assert repr(SIM2) == "Sim2"
    assert SIM2 == Group(LAYOUT, MAPS) != SE3
    assert hash(SIM2) == hash(Group(LAYOUT, MAPS))
    for twin in (pickle.loads(pickle.dumps(SIM2)), copy.deepcopy(SIM2)):
        assert twin == SIM2
        assert twin.maps == MAPS
    with pytest.raises(SizeError, match="the scale"):
        SIM2.check([0.0, 0.0, 1.0, 0.0])
    with pytest.raises(NotNormalizedError, match="Sim2"):
        SIM2.check([0.0, 0.0, 1.0, 1.0, 0.0])


def test_built_in_groups_are_tables_too() -> None:
    """The same class: a table of functions for one vector, and numpy over leading axes."""
    assert type(SE3) is type(SIM2)
    assert isinstance(SE3.batch_maps, SE3Maps)
    assert SE3 != Rn(3) * SIM2
    for group in (SE3, R3xSO3, Rn(3)):
        assert pickle.loads(pickle.dumps(group)) == group
    assert type(pickle.loads(pickle.dumps(Rn(3)))) is Rn


class Similarity(Function):
    """exp of a vector, in Sim(2)."""

    def __init__(self) -> None:
        self.declare(Rn(4), SIM2, np.ones(4, dtype=np.bool_), periodic=False, name="similarity")

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        value[:] = SIM2.exp(point.q)
        if jacobian is not None:
            jacobian[:] = SIM2.exp_jacobian(point.q)


def test_constraints_may_have_values_in_it() -> None:
    f = Similarity()
    check_function(f)
    aim = SIM2.exp([0.3, -0.2, 0.4, 0.9])
    result = project(Rn(4), [Implicit.equal(f, aim)], np.zeros(4))
    assert result.success
    assert np.allclose(result.q, [0.3, -0.2, 0.4, 0.9], atol=1e-4)


def test_a_problem_with_it_is_no_file(tmp_path) -> None:
    problem = Problem(SIM2, [Implicit.equal(Identity(SIM2), SIM2.neutral)])
    with pytest.raises(NotSavableError, match=r"the space 'Sim2' \(a Group\) is not a space of this library"):
        problem.save(tmp_path / "problem.json")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (("Sim2", MAPS), "layout of a space: expected a Layout, Layout.group(...), got 'Sim2'"),
        ((LAYOUT, {}), "maps of Sim2: expected GroupMaps, got dict"),
        ((LAYOUT, MAPS, SE3Maps), "batch maps of Sim2: expected BatchMaps, got the class SE3Maps"),
    ],
)
def test_a_wrong_table_is_refused(table: Any, message: str) -> None:
    with pytest.raises(WrongObjectError, match=re.escape(message)):
        Group(*table)
