"""Hinges: their coordinates, rows and rates, as maps of one relative pose."""
