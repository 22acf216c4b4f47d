"""Planning: paths from a start to a goal, on constraints, free of collisions; shorter ones; times for them."""

from ..keywords import answer as _answer
from .connection import Connection as Connection, connect as connect
from .following.follow import Following as Following, follow as follow
from .following.straight import straight_line as straight_line
from .limits import Limits as Limits
from .plan import Plan as Plan, plan as plan
from .shortening import shorten as shorten
from .status import PlanningStatus as PlanningStatus
from .trajectories.timing import timed as timed
from .trajectories.trajectory import Trajectory as Trajectory
from .walk import walk as walk

_answer(__name__)
