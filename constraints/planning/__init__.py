"""Planning: paths from a start to a goal, on constraints, free of collisions; shorter ones; times for them."""

from ..keywords import answer as _answer
from .connection import Branchings as Branchings, Connection as Connection, Effort as Effort, connect as connect
from .following.follow import Following as Following, follow as follow
from .following.reasons import BranchEnd as BranchEnd
from .following.straight import straight_line as straight_line
from .limits import Limits as Limits
from .plan import Plan as Plan, plan as plan
from .shortening import shorten as shorten
from .status import PlanningStatus as PlanningStatus
from .trajectories.timing import timed as timed
from .trajectories.trajectory import (
    JointTrajectory as JointTrajectory,
    JointTrajectoryPoint as JointTrajectoryPoint,
    PathEvent as PathEvent,
    TimedPart as TimedPart,
    Trajectory as Trajectory,
    TrajectorySamples as TrajectorySamples,
    TrajectoryState as TrajectoryState,
)
from .walk import walk as walk

_answer(__name__)
