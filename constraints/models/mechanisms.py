"""Closed chains made in Python: mechanisms with a closed posture and a known mobility, where no file is at hand."""

from .built_in.planar_mechanisms import five_bar as five_bar, four_bar as four_bar, scissor_lift as scissor_lift
from .built_in.spatial_mechanisms import (
    bennett as bennett,
    delta_robot as delta_robot,
    slider_crank as slider_crank,
    stewart_platform as stewart_platform,
    stewart_posture as stewart_posture,
)
