"""Closed chains made in Python: mechanisms with a closed posture and a known mobility, where no file is at hand."""

from .planar_mechanisms import five_bar, four_bar, scissor_lift
from .spatial_mechanisms import bennett, delta_robot, slider_crank, stewart_platform, stewart_posture

__all__ = [
    "bennett",
    "delta_robot",
    "five_bar",
    "four_bar",
    "scissor_lift",
    "slider_crank",
    "stewart_platform",
    "stewart_posture",
]
