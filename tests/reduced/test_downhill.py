"""Steps to an equilibrium on surfaces that are known: Newton's where it is convex, downhill everywhere."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints.dynamics import JointSpring
from constraints.dynamics.laws.law import NoEnergyError
from constraints.errors import UndefinedError
from constraints.models import mechanisms
from constraints.reduced.equilibria.downhill import LONGEST_STEP_DOWNHILL, downhill, potential_of
from constraints.reduced.equilibria.equilibrium_search import ReducedStatus, newton_search
from constraints.reduced.equilibria.prescribed import LeftBranchError


class Surface:
    """A potential V(u) with its slope and curvature, as a balance in units of inertia `sizes` squared."""

    def __init__(self, H: Any, sizes: Any = (1.0, 1.0), *, wall: float = np.inf) -> None:
        self.H, self.inertia, self.wall = np.array(H, dtype=float), np.array(sizes, dtype=float), wall
        self.moving = np.arange(len(self.H))
        self.tried = list[np.ndarray]()

    def at(self, u: Any) -> Any:
        u = np.array(u, dtype=float)
        return SimpleNamespace(u=u, missing=self.H @ u, state=None)

    def derivative(self, point: Any) -> np.ndarray:
        return self.H

    def sizes(self, state: Any) -> np.ndarray:
        return self.inertia

    def beside(self, point: Any, step: np.ndarray) -> Any:
        self.tried.append(step)
        if np.abs(point.u + step).max() > self.wall:
            raise UndefinedError("beyond the wall")
        return self.at(point.u + step)

    def energy(self, point: Any) -> float:
        return 0.5 * float(point.u @ self.H @ point.u)

    def down(self, u: Any) -> Any:
        balance: Any = self
        return downhill(balance, self.at(u), self.energy)


@pytest.mark.parametrize("sizes", [(1.0, 1.0), (2.0, 0.5)])
def test_where_it_is_convex_the_step_is_that_of_newton(sizes: tuple[float, float]) -> None:
    """To the bottom, in any units; no farther than the longest step."""
    bowl = Surface([[3.0, 1.0], [1.0, 2.0]], sizes)
    following, factor, near = bowl.down([0.1, -0.2])
    np.testing.assert_allclose(following.u, 0.0, atol=1e-12)
    assert (factor, near, len(bowl.tried)) == (1.0, True, 1)
    following, factor, near = bowl.down([1.0, -0.4])
    assert factor == pytest.approx(LONGEST_STEP_DOWNHILL)
    np.testing.assert_allclose(following.u, (1.0 - LONGEST_STEP_DOWNHILL) * np.array([1.0, -0.4]), atol=1e-12)
    assert bowl.down([0.0, 0.0]) is None


def test_on_a_saddle_it_goes_down_both_ways() -> None:
    """Towards the bottom of what is convex, and away along what is not."""
    saddle = Surface([[2.0, 0.0], [0.0, -4.0]])
    following, factor, near = saddle.down([0.1, 0.05])
    np.testing.assert_allclose(following.u, [0.0, 0.1], atol=1e-12)
    assert (factor, near) == (1.0, False)
    along = Surface([[2.0, 0.0], [0.0, -1e-10]])  # as good as flat: a minimum is near
    assert along.down([0.1, 0.0])[2]
    skew = Surface([[2.0, 1.0], [-1.0, 2.0]])  # the symmetric part counts
    following, *_ = skew.down([0.1, 0.0])
    np.testing.assert_allclose(following.u, [0.0, 0.05], atol=1e-12)


def test_flat_ways_have_a_least_curvature() -> None:
    """Nothing pulls along them, and nothing moves there."""
    following, *_ = Surface([[2.0, 0.0], [0.0, 0.0]]).down([0.1, 0.7])
    np.testing.assert_allclose(following.u, [0.0, 0.7], atol=1e-12)


def test_steps_that_do_not_lead_down_are_halved() -> None:
    """At a wall, or where the potential falls by less than a ten-thousandth of what its slope says."""
    walled = Surface([[-1.0, 0.0], [0.0, 1.0]], wall=0.13)
    following, factor, _ = walled.down([0.1, 0.0])
    assert factor == 0.25
    np.testing.assert_allclose(following.u, [0.125, 0.0])
    assert len(walled.tried) == 3
    bowl = Surface([[1.0, 0.0], [0.0, 1.0]])
    start, slope = bowl.at([0.2, 0.0]), -0.04
    for part, factor in ((0.99e-4, 0.5), (1.01e-4, 1.0)):

        def energy(point: Any, part: float = part) -> float:
            full = np.abs(point.u).max() < 1e-9
            return part * slope if full else 0.0 if point.u[0] > 0.15 else slope

        balance: Any = bowl
        found = downhill(balance, start, energy)
        assert found is not None
        assert found[1] == factor
    steep: Any = Surface([[1.0, 0.0], [0.0, 1.0]])
    rises: Any = lambda point: float(point.u[0] < 0.2)  # noqa: E731
    assert downhill(steep, steep.at([0.2, 0.0]), rises) is None
    assert len(steep.tried) == 21  # to a millionth of the step


def test_what_has_no_derivative_leads_nowhere() -> None:
    for H in ([[np.inf, 0.0], [0.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]]):
        with np.errstate(invalid="ignore"):
            assert Surface(H).down([0.1, 0.1]) is None

    class Broken(Surface):
        def derivative(self, point: Any) -> np.ndarray:
            raise UndefinedError("no neighbour")

    assert Broken(np.eye(2)).down([0.1, 0.1]) is None


def test_a_potential_is_that_of_weight_and_forces_at_rest() -> None:
    """None in motion, with forces of joints or drives, extra unknowns, other equations, or a force without energy."""
    line = mechanisms.four_bar()
    coordinates = line.minimal_coordinates(line.posture("closed"))
    spring = JointSpring(line.robot, "crank", 5.0, rest=0.4)

    def asked(**changes: Any) -> Any:
        zero = np.zeros(3)
        values = {"v": zero, "acceleration": zero[:1], "driven_acceleration": zero[:0], "tau": zero,
                  "external": (spring,), "scalars": (), "balanced": np.array([0])} | changes  # fmt: skip
        given = SimpleNamespace(**{k: values[k] for k in ("acceleration", "driven_acceleration", "tau", "external")})
        point: Any = SimpleNamespace(
            given=given, state=SimpleNamespace(v=values["v"], q=coordinates.q, coordinates=coordinates)
        )
        balance: Any = SimpleNamespace(scalars=values["scalars"], moving=np.array([0]), balanced=values["balanced"])
        return potential_of(balance, point), point

    energy, point = asked()
    model: Any = line.robot.model
    data = model.createData()
    weight = pin.computePotentialEnergy(model, data, coordinates.q)
    assert energy(point) == pytest.approx(weight + spring.energy(coordinates.q))
    assert asked(external=())[0](point) == pytest.approx(weight)

    class Wind:
        def generalised(self, motion: Any) -> Any:
            return np.zeros(3)

    class Drag(Wind):
        def energy(self, q: Any) -> float:
            raise NoEnergyError("drag", "none")

    for changes in ({"v": np.array([0.0, 0.0, 1e-9])}, {"acceleration": np.ones(1)}, {"tau": np.array([0.0, 1.0, 0.0])},
                    {"driven_acceleration": np.ones(1)}, {"scalars": ("length",)}, {"balanced": np.array([0, 1])},
                    {"external": (Wind(),)}, {"external": (spring, Drag())}):  # fmt: skip
        assert asked(**changes)[0] is None


# Newton.


class Forces:
    """What is missing, R(u) = H u - b, of two coordinates; a wall beyond which loops do not close."""

    def __init__(self, H: Any, b: Any, *, wall: float = np.inf, bend: float = 0.0) -> None:
        self.H, self.b, self.wall, self.bend = np.array(H, dtype=float), np.array(b, dtype=float), wall, bend
        self.moving, self.balanced, self.scalars = np.arange(2), np.array([1, 0]), ()  # two lists: nothing is idle

    def at(self, u: Any) -> Any:
        u = np.array(u, dtype=float)
        return SimpleNamespace(u=u, missing=self.H @ u - self.b + self.bend * u**3, state=None, scalars=np.zeros(0))

    def derivative(self, point: Any) -> np.ndarray:
        return self.H + 3.0 * self.bend * np.diag(point.u**2)

    def sizes(self, state: Any) -> np.ndarray:
        return np.ones(2)

    def allowed(self, point: Any, D: Any, tolerance: float) -> np.ndarray:
        return np.full(2, tolerance)

    def beside(self, point: Any, step: np.ndarray) -> Any:
        if np.abs(point.u + step).max() > self.wall:
            raise LeftBranchError(1.0, 0.5)
        return self.at(point.u + step)

    def search(self, u: Any, most: int = 50) -> Any:
        balance: Any = self
        return newton_search(balance, self.at(u), 1e-9, most)


def test_newton_on_a_line() -> None:
    """One step of full length where it is near; from afar steps of the longest length; the budget counts steps."""
    forces = Forces([[2.0, 1.0], [0.0, 4.0]], [0.2, 0.4])
    found = forces.search([0.0, 0.0])
    assert found.status is ReducedStatus.CONVERGED
    np.testing.assert_allclose(found.points[-1].u, [0.05, 0.1], atol=1e-12)
    assert (found.factors, found.unheld, found.idle, found.reason) == ((1.0,), (), (), "")
    again = forces.search([0.05, 0.1])
    assert (again.status, again.factors, len(again.points)) == (ReducedStatus.CONVERGED, (), 1)
    far = forces.search([0.05, 5.1])
    steps = [float(np.abs(b.u - a.u).max()) for a, b in pairwise(far.points)]
    assert far.status is ReducedStatus.CONVERGED
    assert len(set(np.round(steps[:-1], 9))) == 1
    assert 0.0 < steps[-1] <= steps[0] + 1e-12
    np.testing.assert_allclose(far.factors, np.array(steps) / (5.0 - np.cumsum([0.0, *steps[:-1]])), atol=1e-9)
    for most, status in ((0, "MAX_ITERATIONS"), (1, "CONVERGED")):
        found = forces.search([0.0, 0.0], most)
        assert (found.status.name, len(found.factors)) == (status, most)


def test_newton_where_nothing_holds() -> None:
    """A direction without stiffness: left as it is where no force acts, else no equilibrium; it is told which."""
    free = Forces(np.diag([1.0, 0.0]), [0.1, 0.0]).search([0.0, 0.7])
    assert free.status is ReducedStatus.CONVERGED
    np.testing.assert_allclose(free.points[-1].u, [0.1, 0.7])
    assert free.unheld == (1,)
    pushed = Forces(np.diag([1.0, 0.0]), [0.1, 0.3]).search([0.0, 0.7])
    assert (pushed.status, pushed.unheld) == (ReducedStatus.SINGULAR, (1,))


def test_newton_at_a_wall_and_where_steps_must_be_short() -> None:
    walled = Forces(np.eye(2), [0.15, 0.0], wall=0.1).search([0.0, 0.0])
    assert walled.status is ReducedStatus.NOT_CLOSED
    assert "another branch" in walled.reason
    assert walled.factors[0] == 0.5
    assert max(np.abs(point.u).max() for point in walled.points) <= 0.1
    bent = Forces(np.eye(2), [1.0, 0.0], bend=3.0).search([0.01, 0.0])
    assert bent.status is ReducedStatus.CONVERGED
    u = bent.points[-1].u[0]
    assert u + 3.0 * u**3 == pytest.approx(1.0, abs=1e-8)
    wrong = Forces([[np.nan, 0.0], [0.0, 1.0]], [1.0, 0.0]).search([0.0, 0.0])
    assert (wrong.status, wrong.reason) == (ReducedStatus.UNDEFINED, "a force is not finite")
