"""Solutions made better: nearest to a start, least in an optional level, and how they change."""
