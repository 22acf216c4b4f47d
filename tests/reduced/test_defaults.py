"""What calls take where nothing is given."""

from __future__ import annotations

from defaults import defaults_of

from constraints import reduced


def test_defaults_are_those_of_the_pages() -> None:
    closing = {"tolerance": 1e-12, "max_iterations": 50, "t": 0.0}
    state = {"t": 0.0, "close": False}
    assert defaults_of(reduced) == {
        "EquilibriumOptions": {"tolerance": 1e-9, "max_iterations": 50, **state},
        "ExplicitLoops.within": {"margin": 1e-4},
        "MinimalCoordinates": {"tolerance": 1e-6},
        "MinimalCoordinates.at": state,
        "MinimalCoordinates.close": closing,
        "MinimalCoordinates.step": {"t": 0.0},
        "Mode.animate": {"frames": 24},
        "Mode.configurations": {"frames": 24, "amplitude": 0.2},
        "Sweep.certify": {"branches": True, "seconds": 30.0},
        "SweepOptions": {
            "turn_back": False, "cross": False, "step": 0.1, "tolerance": 1e-12, "max_steps": 100_000, **state,
        },
        "branches": {"tries": 100, "seed": 0, "tolerance": 1e-12, **state},
        "minimal_coordinates": state,
        "modes": {"at_any_state": False, "tolerance": 1e-6},
    }  # fmt: skip
