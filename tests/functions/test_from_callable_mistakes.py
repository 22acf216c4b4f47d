"""What a user's function may do that is no value: its own buffer, outputs that are not finite."""

from __future__ import annotations

import numpy as np

from constraints import Affine, Explicit, Function, Implicit, Options, Position, Problem, Projector
from constraints.models import sample_arm
from constraints.solvers import Backtracking, Status
from constraints.solvers.step_control import FULL_STEPS
from liegroups import Rn

ARM = sample_arm()
HOME = ARM.reference("home")


def test_a_function_that_returns_its_own_buffer_has_slopes() -> None:
    """Differences of one array with itself were zero."""
    buffer = np.zeros(3)

    def place(q: np.ndarray) -> np.ndarray:
        buffer[:] = ARM.at(q).placement("tool").translation
        return buffer

    f = Function.from_callable(place, ARM.space, Rn(3), name="shared")
    assert np.allclose(f.jacobian(HOME), Position(ARM, "tool").jacobian(HOME), atol=1e-8)
    assert Projector(Problem(ARM, [Implicit.equal(f, [0.45, 0.1, 0.4])])).project(HOME).success


def test_a_computed_output_that_is_not_finite_is_diagnosed() -> None:
    root = Function.from_callable(lambda x: np.sqrt(x - 5.0), Rn(1), Rn(1), name="root")
    follows = Explicit(root, ARM.segments("elbow"), ARM.segments("wrist_pitch"), name="follows")
    result = Projector(Problem(ARM, [follows])).project(HOME)
    assert result.status is Status.UNDEFINED
    assert "Start where 'follows' has a value" in str(result.diagnose(iterations=20, trials=5))


def test_a_jacobian_that_is_not_finite_ends_the_try_and_is_named() -> None:
    """Before, the function was asked at the q of NaN that such a step leads to, and `diagnose()` raised."""
    asked: list[np.ndarray] = []

    def circle(q: np.ndarray) -> np.ndarray:
        asked.append(q)
        return np.array([q @ q - 1.0])

    line = Implicit.equal(Affine([[1.0, 0.0]], [0.0], Rn(2)), [0.5])
    for wrong, control in ((np.nan, FULL_STEPS), (np.inf, FULL_STEPS), (np.nan, Backtracking())):
        f = Function.from_callable(circle, Rn(2), Rn(1), lambda q, w=wrong: [[2.0 * q[0], w]], name="circle")
        for levels in ([[Implicit.zero(f)]], [[line], [Implicit.zero(f)]]):
            projector = Projector(Problem(Rn(2), levels), Options.local(step_control=control))
            result = projector.project([0.4, 3.0])
            assert result.status is Status.UNDEFINED
            said = str(result.diagnose(iterations=2, trials=2))
            assert "the Jacobian of 'circle' is not finite" in said
            assert "Look at the Jacobian of 'circle': it is not finite there" in said
    assert np.isfinite(asked).all()
