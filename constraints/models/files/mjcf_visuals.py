"""What the bodies of MJCF files look like, as MuJoCo compiles them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...robot.files.packages import VisualFile
from ...robot.files.xml import read_xml
from ...robot.placement import rigid_transform
from ..structure.visual_shapes import Colour, Form, Solid, Triangles, Visual
from .mjcf import compiled
from .mjcf_tree import read_tree

PLANE, FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)
"""MuJoCo's numbers for the types of geoms (`mjtGeom`)."""
HIDDEN = 3
"""Geoms of this group and higher ones are for collisions: MuJoCo's viewer hides them."""
GREY = (0.5, 0.5, 0.5, 1.0)
"""What MuJoCo gives a geom without a colour of its own: then its material counts."""


def visuals_of_mjcf(file: VisualFile) -> tuple[list[Visual], list[str]]:
    """The geoms of a file that MuJoCo's viewer shows, but for planes; and what cannot be drawn, in words.

    Where all geoms are in groups that the viewer hides, all are taken.

    Args:
        file: which.

    Raises:
        FileError: the file is missing, or MuJoCo cannot compile it.
        MissingExtraError: mujoco is not installed.
    """
    _, path = read_xml(file.source, "mujoco", "MJCF", file.packages, again=True)
    mj = compiled(file.source, path)
    bodies = read_tree(mj).body_names
    shown = [g for g in range(mj.ngeom) if mj.geom_group[g] < HIDDEN] or [*range(mj.ngeom)]
    found: list[Visual] = []
    missing: list[str] = []
    for g in shown:
        form = _form(mj, g)
        if form is not None:
            w, x, y, z = np.array(mj.geom_quat[g]).tolist()
            placement = rigid_transform(mj.geom_pos[g], [x, y, z, w])
            found.append(Visual(bodies[int(mj.geom_bodyid[g])], placement, form, _colour(mj, g)))
        elif mj.geom_type[g] != PLANE:
            missing.append(f"geom '{mj.geom(g).name or g}': it is of a type that is not drawn, as a height field")
    return found, missing


def _form(mj: Any, g: int) -> Form | None:
    """The shape of a geom; None where it has none that is drawn."""
    kind, size = int(mj.geom_type[g]), [float(x) for x in mj.geom_size[g]]
    if kind in (MESH, SDF):
        mesh = int(mj.geom_dataid[g])
        if mesh < 0:
            return None
        vertices, faces = (
            slice(int(first[mesh]), int(first[mesh] + count[mesh]))
            for first, count in ((mj.mesh_vertadr, mj.mesh_vertnum), (mj.mesh_faceadr, mj.mesh_facenum))
        )
        points = np.array(mj.mesh_vert[vertices], dtype=np.float64)
        return Triangles(points, np.array(mj.mesh_face[faces], dtype=np.intp))
    solids = {
        SPHERE: ("sphere", size[:1]),
        CAPSULE: ("capsule", [size[0], 2.0 * size[1]]),
        ELLIPSOID: ("ellipsoid", size),
        CYLINDER: ("cylinder", [size[0], 2.0 * size[1]]),
        BOX: ("box", [2.0 * x for x in size]),
    }
    return Solid(solids[kind][0], tuple(solids[kind][1])) if kind in solids else None


def _colour(mj: Any, g: int) -> Colour:
    """The colour of a geom, or of its material."""
    material = int(mj.geom_matid[g])
    own = tuple(float(x) for x in mj.geom_rgba[g])
    if material >= 0 and np.allclose(own, GREY):
        own = tuple(float(x) for x in mj.mat_rgba[material])
    r, g_, b, a = own
    return r, g_, b, a
