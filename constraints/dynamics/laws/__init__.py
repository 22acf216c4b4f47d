"""Laws of forces: springs and dampers, links, joint laws, and their sum."""

from .forces import BodyForces as BodyForces, Forces as Forces
from .frame_links import FrameLink as FrameLink
from .link_state import LinkState as LinkState, LinkStatus as LinkStatus
from .links import PointLink as PointLink, PointSpring as PointSpring
from .on_function import FunctionLaw as FunctionLaw, JointLaw as JointLaw
from .springs import FunctionSpring as FunctionSpring, HingeSpring as HingeSpring, JointSpring as JointSpring
