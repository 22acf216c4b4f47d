"""Methods of constrained dynamics: what each takes, the system that they solve, ranks, how they end."""
