"""Paths along given right-hand sides: branches of solutions that are followed all at once, and what stops each."""
