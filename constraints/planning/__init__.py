"""Planning: times for paths."""

from .timing import timed as timed
from .trajectory import (
    JointTrajectory as JointTrajectory,
    JointTrajectoryPoint as JointTrajectoryPoint,
    PathEvent as PathEvent,
    TimedPart as TimedPart,
    Trajectory as Trajectory,
    TrajectorySamples as TrajectorySamples,
    TrajectoryState as TrajectoryState,
)
