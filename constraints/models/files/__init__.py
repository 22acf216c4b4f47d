"""Readers of URDF with loops, SDF and MJCF, and of sidecars; their visual geometry."""
