"""Shapes of links: solids, files with meshes, and meshes."""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroups.arrays import Indices, Matrix

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""


class Solid(NamedTuple):
    """A solid with its middle at the origin.

    Attributes:
        kind: "box", "sphere", "cylinder", "capsule" or "ellipsoid".
        size: lengths along x, y, z of a box; the radius of a sphere; the radius of a cylinder or capsule, and its
            length along z, without the half balls of a capsule; the radii along x, y, z of an ellipsoid [m].
    """

    kind: str
    size: tuple[float, ...]


class Mesh(NamedTuple):
    """A file with a mesh.

    Attributes:
        path: of the file, which is there.
        scale: along x, y, z.
    """

    path: str
    scale: tuple[float, float, float]


class Triangles(NamedTuple):
    """A mesh.

    Attributes:
        vertices: (n, 3) [m].
        faces: (m, 3), rows of vertices.
    """

    vertices: Matrix
    faces: Indices


Form = Solid | Mesh | Triangles


class Visual(NamedTuple):
    """What is seen of a link.

    Attributes:
        link: its name.
        placement: of the shape on the link.
        form: the shape.
        colour: red, green, blue and opacity; None where the file does not say, or the mesh has its own.
    """

    link: str
    placement: Any
    form: Form
    colour: Colour | None = None
