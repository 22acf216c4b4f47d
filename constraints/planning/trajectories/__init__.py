"""Times for paths: curves through their samples, speeds within limits, trajectories."""
