"""The solver that can be read: hierarchical Newton steps, damped, within bounds, with restarts."""
