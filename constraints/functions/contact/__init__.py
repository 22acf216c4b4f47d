"""Contacts of convex surfaces: the functions, their explicit form, and the surfaces."""

from .contact import ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold, SurfacePair
from .contact_surface import Surface

__all__ = ["ConvexShapeContact", "ConvexShapeContactComplement", "ConvexShapeContactHold", "Surface", "SurfacePair"]
