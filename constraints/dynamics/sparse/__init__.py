"""Sparse algebra of many bodies: maximal coordinates, the rows between them, and the choice of independent rows."""
