"""Motions in time: integration on the manifold, corrections, events, and the record of what happened."""

from .events import Crossing as Crossing, Event as Event
from .floor import Floor as Floor
from .integration import simulate as simulate
from .limits import LimitPassed as LimitPassed
from .record import MotionRecord as MotionRecord, MotionStatus as MotionStatus, NoMotionError as NoMotionError
from .stepping import Correction as Correction, Scheme as Scheme
from .stops import Stops as Stops
