"""Minimal coordinates of closed chains."""

from .explicit_loop import ExplicitLoop as ExplicitLoop, ExplicitLoops as ExplicitLoops, KeptImplicit as KeptImplicit
from .loop_finding import OpenLoopError as OpenLoopError, explicit_loops as explicit_loops
from .loop_function import LoopFunction as LoopFunction
from .planar_loops import LoopBranch as LoopBranch, PlanarLoop as PlanarLoop
