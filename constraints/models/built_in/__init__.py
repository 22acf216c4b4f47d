"""Mechanisms and robots made in Python."""
