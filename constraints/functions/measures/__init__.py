"""Measures of configurations: how far from a singularity, from joint limits, from another configuration."""
