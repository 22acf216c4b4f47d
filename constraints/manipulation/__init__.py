"""Manipulation: grasps, placements, graphs of the constraints they make, and paths on these."""
