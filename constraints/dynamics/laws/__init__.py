"""Laws of forces: springs and dampers, links, joint laws, and their sum."""

from .at_joint import JointLaw as JointLaw
from .forces import BodyForces as BodyForces, Forces as Forces
from .frame_links import FrameLink as FrameLink
from .link_state import LinkState as LinkState, LinkStatus as LinkStatus
from .links import PointLink as PointLink, PointSpring as PointSpring
from .springs import HingeSpring as HingeSpring, JointSpring as JointSpring
