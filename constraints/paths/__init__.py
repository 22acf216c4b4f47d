"""Paths on constraints, right-hand sides that move along them, and collisions on them."""
