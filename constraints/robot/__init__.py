"""Robots: a model, its configuration space, named frames and bounds; postures and motions at which things are read."""

from .bounds import Bounds
from .frame import Frame
from .frame_table import FrameKind
from .placement import as_placement, as_rotation, pose_vector, rigid_transform
from .posture import Motion, Posture
from .robot import Robot
from .space import RobotSpace
from .system import Part
from .urdf import Base

__all__ = [
    "Base",
    "Bounds",
    "Frame",
    "FrameKind",
    "Motion",
    "Part",
    "Posture",
    "Robot",
    "RobotSpace",
    "as_placement",
    "as_rotation",
    "pose_vector",
    "rigid_transform",
]
