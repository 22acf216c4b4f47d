"""Shapes as nodes of viser: solids as triangles, files with meshes read by trimesh (extra `view`)."""

from __future__ import annotations

import os
import warnings
import zipfile
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import FileError
from ...exports import from_extra
from ...models.structure.visual_shapes import Colour, Form, Mesh, Solid, Triangles
from ...robot.model.pinocchio import Placement
from ...robot.placement import pose_vector
from ..views import corners_of

PLAIN: Colour = (0.72, 0.74, 0.78, 1.0)
"""Of shapes whose file gives no colour."""

LARGEST_MESH = 256 * 2**20
"""Bytes that a mesh may have, unpacked: a scan of a whole robot has a tenth."""
FINE, ROUND, ROUGH = 3, 32, 0.6
"""Subdivisions of a ball, faces around a cylinder; roughness of what has a material, which is no metal."""
_ARCHIVES = (".zip", ".gz", ".tgz", ".bz2", ".tar", ".xz", ".7z")


class Painted(NamedTuple):
    """A mesh with colours and textures of its own.

    Attributes:
        glb: the mesh as a binary glTF.
        bounds: (2, 3) its least and largest coordinates, before it is scaled [m].
        scale: along x, y, z.
    """

    glb: bytes
    bounds: Matrix
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


class Meshes:
    """Shapes made ready for the browser; each file with a mesh is read once."""

    def __init__(self) -> None:
        self._trimesh = from_extra("trimesh", "view")
        self._read: dict[tuple[str, bool], Painted | Triangles] = {}

    def add(
        self, scene: Any, name: str, placement: Placement, form: Form, colour: Colour | None, *, bare: bool = False
    ) -> Matrix:
        """Add a shape to a scene of viser; the corners (8, 3) of the box around it, where it is on the node above [m].

        Args:
            scene: of a viser server.
            name: of the node.
            placement: of the shape on the node above.
            form: the shape.
            colour: of a shape that has no colours of its own.
            bare: whether one that has some is drawn in this colour all the same.

        Raises:
            FileError: the file of a mesh cannot be read; the reason says why.
        """
        seat = at(placement)
        made = self._made(form, bare)
        if isinstance(made, Painted):
            scene.add_glb(name, made.glb, scale=made.scale, **seat)
            return _corners(made.bounds * np.array(made.scale), placement)
        r, g, b, a = PLAIN if colour is None else colour
        round_solid = isinstance(form, Solid) and form.kind in ("sphere", "capsule", "ellipsoid")
        vertices, faces = made.vertices.astype(np.float32), made.faces.astype(np.uint32)
        paint: dict[str, Any] = {"color": tuple(round(255 * x) for x in (r, g, b)), "opacity": None if a >= 1.0 else a}
        scene.add_mesh_simple(name, vertices, faces, flat_shading=not round_solid, side="double", **paint, **seat)
        return _corners(np.array([made.vertices.min(axis=0), made.vertices.max(axis=0)]), placement)

    def _made(self, form: Form, bare: bool) -> Triangles | Painted:
        if isinstance(form, Triangles):
            return form
        if isinstance(form, Solid):
            return self.solid(form)
        key = form.path, bare
        read = self._read.get(key)
        if read is None:
            read = self._read[key] = self._loaded(form, bare)
        if isinstance(read, Painted):
            return read._replace(scale=form.scale)
        return Triangles(read.vertices * np.array(form.scale), read.faces)

    def _loaded(self, mesh: Mesh, bare: bool) -> Painted | Triangles:
        """A file: as a glTF where it has colours that are wanted, as triangles otherwise."""
        refuse_large(mesh.path)
        ending = os.path.splitext(mesh.path)[1].lower()
        if ending == ".dae":
            from_extra("collada", "view", "pycollada")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks of the readers of meshes are for their authors
            try:
                scene: Any = self._trimesh.load_scene(mesh.path)
                if not scene.geometry:
                    raise FileError(mesh.path, "it has no triangles")
                if not bare and any(_has_colours(part) for part in scene.geometry.values()):
                    return Painted(_painted(scene), np.array(scene.bounds))
                whole = scene.to_mesh()
            except FileError:
                raise
            except Exception as error:  # of any of the readers of formats
                raise FileError(mesh.path, f"cannot be read as a mesh: {type(error).__name__}: {error}") from None
        return Triangles(np.array(whole.vertices), np.array(whole.faces))

    def solid(self, solid: Solid) -> Triangles:
        """A solid as triangles, its middle at the origin."""
        make, size = self._trimesh.creation, solid.size
        if solid.kind == "box":
            made = make.box(extents=size)
        elif solid.kind == "cylinder":
            made = make.cylinder(*size, sections=ROUND)
        elif solid.kind == "capsule":
            made = make.capsule(height=size[1], radius=size[0], count=(ROUND, ROUND))
            made.apply_translation(-made.bounds.mean(axis=0))
        else:
            made = make.icosphere(subdivisions=FINE)
            made.apply_scale(size if solid.kind == "ellipsoid" else size[0])
        return Triangles(np.array(made.vertices), np.array(made.faces))


def refuse_large(path: str) -> None:
    """Refuse a mesh that would fill the memory: a large file, an archive, or a 3MF that unpacks to more.

    Raises:
        FileError: names the limit.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending in _ARCHIVES:
        raise FileError(path, f"is an archive ({ending}), but a mesh was expected: unpack it")
    size = os.path.getsize(path)
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
        except (zipfile.BadZipFile, OSError) as error:
            raise FileError(path, f"cannot be read as a mesh: {error}") from None
    if size > LARGEST_MESH:
        raise FileError(path, f"has {size} bytes, unpacked, but a mesh may have at most {LARGEST_MESH}")


def _has_colours(part: Any) -> bool:
    """Whether a mesh brings a texture, or a colour that is not the one trimesh gives all."""
    return bool(getattr(getattr(part, "visual", None), "defined", False))


def _painted(scene: Any) -> bytes:
    """A glTF of parts with colours, none of them a metal: that mirrors what is around it, and nothing is."""
    for part in scene.geometry.values():
        material: Any = getattr(part.visual, "material", None)
        if material is not None:
            paint = material.to_pbr() if hasattr(material, "to_pbr") else material
            paint.metallicFactor, paint.roughnessFactor = 0.0, ROUGH
            part.visual.material = paint
    return scene.export(file_type="glb")


def _corners(bounds: Matrix, placement: Placement) -> Matrix:
    """The corners (8, 3) of a box between two corners, on what it is placed on."""
    return corners_of(bounds) @ np.asarray(placement.rotation).T + np.asarray(placement.translation)


def at(placement: Placement) -> dict[str, Any]:
    """A placement as viser takes it: translation, and quaternion wxyz."""
    pose = pose_vector(placement)
    return {"position": pose[:3], "wxyz": pose[[6, 3, 4, 5]]}


def between(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix, Vector]:
    """Where a cylinder along z goes from points a to points b (n, 3): middles, quaternions wxyz (n, 4), lengths."""
    d = b - a
    lengths = np.linalg.norm(d, axis=1)
    x, y, z = (d / np.where(lengths > 0.0, lengths, 1.0)[:, None]).T
    turned = np.stack([1.0 + z, -y, x, np.zeros_like(z)], axis=1)  # the shortest rotation from the z axis, times 2 w
    turned[~turned.any(axis=1)] = [0.0, 1.0, 0.0, 0.0]
    return 0.5 * (a + b), turned / np.linalg.norm(turned, axis=1, keepdims=True), lengths
