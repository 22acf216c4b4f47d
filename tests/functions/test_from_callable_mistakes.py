"""What a user's function may do that is no value: its own buffer, outputs that are not finite."""

from __future__ import annotations

import numpy as np

from constraints import Explicit, Function, Implicit, Position, Problem, Projector
from constraints.models import sample_arm
from constraints.solvers import Status
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
