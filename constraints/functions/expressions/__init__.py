"""Functions written down with operators: what is said of values is said of Jacobians and drifts by the same line."""
