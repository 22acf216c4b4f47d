"""Pictures of graphs: of constraints, and of dependencies."""
