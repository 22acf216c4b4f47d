"""Contacts of convex surfaces: the functions, their explicit form, and the surfaces."""

from .contact import (
    ConvexShapeContact as ConvexShapeContact,
    ConvexShapeContactComplement as ConvexShapeContactComplement,
    ConvexShapeContactHold as ConvexShapeContactHold,
    SurfacePair as SurfacePair,
)
from .contact_surface import Surface as Surface
