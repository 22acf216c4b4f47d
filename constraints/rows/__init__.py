"""Constraints as rows: functions compared row by row, implicit or explicit, and their stacks."""

from ..keywords import answer as _answer
from .comparison import Comparison as Comparison
from .double_support import double_support as double_support
from .explicit import Explicit as Explicit
from .explicit_forms import (
    explicit_contact as explicit_contact,
    explicit_relative_pose as explicit_relative_pose,
    linear_coupling as linear_coupling,
    locked_joint as locked_joint,
    mimic_constraints as mimic_constraints,
)
from .implicit import Implicit as Implicit
from .right_hand_side import RightHandSide as RightHandSide
from .row_owner import RowOwner as RowOwner
from .stack import Stack as Stack
from .target import Target as Target

_answer(__name__)
