"""Pinocchio's model: the door to the library, types of joints, inertias, mimics."""
