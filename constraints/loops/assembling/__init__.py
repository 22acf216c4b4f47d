"""Assembly of closed mechanisms: positions and velocities that satisfy the rows of a set, and why there are none."""
