"""Motions in time: integration on the manifold, corrections, events, and the record of what happened."""

from ..events.events import Event as Event
from ..events.floor import Floor as Floor
from ..events.stops import Stops as Stops
from .integration import simulate as simulate
from .record import MotionRecord as MotionRecord, MotionStatus as MotionStatus
from .simulation_options import Correction as Correction, Scheme as Scheme, SimulationOptions as SimulationOptions
