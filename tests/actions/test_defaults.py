"""What calls take where nothing is given."""

from __future__ import annotations

from defaults import defaults_of

from constraints import actions


def test_defaults_are_those_of_the_pages() -> None:
    assert defaults_of(actions) == {
        "ContactForwardDynamics": {"damping": 0.0, "armature": 0.0, "with_force_derivatives": False},
        "ContactForwardDynamics.quasi_static": {"max_iterations": 5, "tolerance": 1e-9},
        "Cost": {"weight": 1.0},
        "ImpulseDynamics": {"restitution": 0.0, "damping": 0.0, "armature": 0.0},
    }
