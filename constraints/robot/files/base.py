"""How the root of a robot is attached to the world."""

from __future__ import annotations

from enum import Enum

from liegroups.arguments import expect

FREE_ROBOTS = "base=Base.FREE_FLYER loads a URDF robot that is free in space, base=Base.PLANAR one on wheels"
"""What helps where somebody has forgotten it."""


class Base(Enum):
    """How the root of a robot is attached to the world; the joint of a moving base is called "root_joint"."""

    FIXED = "fixed to the world"
    FREE_FLYER = "free in space: seven numbers, translation and quaternion xyzw"
    PLANAR = "free in the plane z = 0: four numbers (x, y, cos, sin)"


def as_base(base: object) -> Base:
    """A base, or a typed error that names the bases there are."""
    return expect(base, Base, "base", "a member of Base (Base.FIXED, Base.FREE_FLYER, Base.PLANAR)")
