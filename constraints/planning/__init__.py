"""Planning: paths from a start to a goal, on constraints, free of collisions."""

from .connection import Branchings as Branchings, Connection as Connection, Effort as Effort, connect as connect
from .limits import Limits as Limits
from .plan import Plan as Plan, plan as plan
from .shortening import shorten as shorten
from .status import PlanningStatus as PlanningStatus
