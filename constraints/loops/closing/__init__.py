"""What is left of errors where a mechanism closes, or does not: rows that nothing moves, singular places, gaps."""
