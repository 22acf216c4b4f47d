"""Equilibria, linearised motion and modes in minimal coordinates."""
