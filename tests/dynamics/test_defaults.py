"""What calls take where nothing is given."""

from __future__ import annotations

import numpy as np
from defaults import defaults_of

from constraints import dynamics


def test_defaults_are_those_of_the_pages() -> None:
    assert defaults_of(dynamics) == {
        "Event": {"terminal": False, "once": False, "barrier": False},
        "Floor": {"friction": 0.0, "restitution": 0.0, "height": 0.0, "rest_speed": 0.01},
        "Floor.start": {"t": 0.0},
        "FunctionSpring": {"damping": 0.0},
        "HingeForce": {"replace": False},
        "HingeSpring": {"damping": 0.0},
        "JointSpring": {"damping": 0.0},
        "MotionRecord": {"steps": 0, "evaluations": 0, "exchanged_energy": 0.0},
        "PointSpring": {"stiffness": 0.0, "damping": 0.0, "length": 0.0, "tension": 0.0},
        "SimulationOptions": {
            "tolerance": 1e-10, "start": 0.0, "every": 1, "open_start": False, "rtol": 1e-7, "atol": 1e-7,
            "max_step": np.inf,
        },
        "Stops": {"restitution": 0.0, "rest_speed": 0.01},
        "impact": {"restitution": 0.0},
        "inverse_dynamics": {"tolerance": 1e-6},
    }  # fmt: skip
