"""Kernels of functions: a tape of instructions, kinematics, and what is evaluated on it."""
