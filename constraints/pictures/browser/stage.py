"""The nodes of a film in a scene of viser, and where they are at each of its configurations."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import ConstraintError
from ...models.files.visuals import visuals_of
from ...models.structure.visual_shapes import Solid, Triangles, Visual
from ...robot import Frame, Posture, Robot
from ...robot.files.disabled_collisions import link_names
from ...robot.files.packages import VisualFile
from ...robot.frame_table import FrameKind
from ...words import first_names
from ..figures import BAD, PALETTE
from ..robots import GROUND, SHORTEST, Stick, colours_of, ends_of, parts_of, sticks_of
from ..views import Region
from .film import Film, thinned
from .meshes import Meshes, at, between

COLLIDES = (214 / 255, 39 / 255, 40 / 255, 1.0)
"""Of what collides."""
FROM_START, FROM_GOAL = PALETTE[0], BAD
"""Of the trees of a search."""
OPEN, SHUT, FIXED = (214, 39, 40), (44, 160, 44), (90, 90, 90)
"""Colours of closures: ends that are apart, ends that meet, ends that are fixed in the world."""
MOVED, STANDS = (217 / 255, 115 / 255, 13 / 255, 1.0), (0.6, 0.6, 0.6, 1.0)
"""Of shapes on joints, and of those on the world."""
SEEN_APART = 1e-3
"""Ends of a closure that are further apart than this part of the picture are joined by a rod."""
THICK = 0.024
"""Radius of a stick, as a part of the width of what is shown."""
BALL, JOINT, ROD = 1.35, 1.7, 0.5
"""Radii of balls at the ends of sticks and of closures, and of rods between these, in radii of sticks."""
NODE = 0.25
"""Size of a node of a tree, as a part of the radius of a stick."""
SAMPLED = 25
"""Configurations from which the camera finds its place."""
LOOK = (0.62, -1.0, 0.42)
"""Direction from what is shown to the camera."""
FRONTS = ((1.0, 0.0, 0.12), (0.0, -1.0, 0.12), (0.0, -0.05, 1.0))
"""The same of what is flat, across x, y and z."""
FLAT, FLAT_MECHANISM = 1e-6, 0.15
"""What is thinner than this part of its width is seen from its front; a mechanism has links in layers."""
FIELD = 0.75
"""Vertical field of view of the camera [rad]."""

CELLS, SECTIONS, FLOOR = (228, 228, 228), (205, 205, 205), 3.0
"""Colours of the lines of the floor, and its width, in widths of what is shown."""
BELOW, BRIGHT = (190, 190, 200), 1.2
"""Light from below, and strength of all."""
AWAY, NEAR, FAR = 1.2, 0.01, 20.0
"""Distance of the camera, in distances at which all just fits; nearest and farthest that it sees, in that distance."""
ARROW, THIN, ABOVE = 0.25, 0.25, 1.05
"""Length of arrows and height of the label, in reaches of what is shown; radius of arrows, in radii of sticks."""

UPRIGHT = 0.99
"""What is seen from above more steeply has y upwards."""

_log = logging.getLogger("constraints.pictures")


@final
class Stage:
    """A robot in a scene of viser.

    Args:
        server: of viser.
        film: what is shown.
        frames: drawn as three arrows.
        visuals: files with visual geometry.

    Attributes:
        missing: what could not be drawn, each with the reason.
    """

    def __init__(self, server: Any, film: Film, frames: Sequence[Frame], visuals: Sequence[VisualFile]) -> None:
        self._scene, self._film, self._meshes = server.scene, film, Meshes()
        self._carriers: dict[int, Any] = {}
        self._corners: list[tuple[int, Matrix]] = []
        self.missing: list[str] = []
        self._met = {name: False for name in film.met}
        seen = self._add_visuals(visuals)
        self._add_shapes()
        self._sticks = [stick for stick in self._all_sticks() if not seen & {stick.start[0], stick.end[0]}]
        points = self.all_points()
        self.region, self._lowest = Region.around(points), float(points[:, 2].min())
        self._radius = THICK * self.region.width
        self._lines = self._add_sticks(seen)
        self._rods = self._add_closures()
        self._add_trees(frames)
        unseen = (name for name, is_seen in self._met.items() if not is_seen)
        self.missing += [f"'{name}', which collides: no shape or link of this name is drawn" for name in unseen]
        if self.missing:
            _log.warning("%s: not drawn: %s", film.robot.name, first_names(self.missing, 3))
        for frame in frames:
            self.add_arrows(f"{self._carrier(frame.joint)}/frame {plain(frame.name)}", frame.placement)
        self._add_floor()
        above = self.region.middle + ABOVE * self.region.reach * upright(self.look())
        self.label = self._scene.add_label("/label", "", position=above, anchor="bottom-center")
        self.label.visible = False
        self._place_camera(server.initial_camera)

    # What is there.

    def _carrier(self, joint: int) -> str:
        """Name of the node that moves with a joint."""
        robot = self._film.robot
        if not joint:
            return "/world"
        name = f"/joints/{joint} {plain(str(robot.model.names[joint]))}"
        if joint not in self._carriers:
            self._carriers[joint] = self._scene.add_frame(name, show_axes=False)
        return name

    def _add_visuals(self, files: Iterable[VisualFile]) -> set[int]:
        """Add the visual geometry; the joints of all robots that have some."""
        robot, seen = self._film.robot, set[int]()
        for file in files:
            try:
                found, missing = visuals_of(file)
            except ConstraintError as error:
                self.missing.append(str(error))
                continue
            self.missing += missing
            drawn = [self._add_visual(robot, file.prefix, i, visual) for i, visual in enumerate(found)]
            if any(drawn):  # a link without geometry of a robot that has some is not seen elsewhere either
                seen |= {i for i, name in enumerate(robot.model.names) if i and str(name).startswith(file.prefix)}
        return seen

    def _add_visual(self, robot: Robot, prefix: str, i: int, visual: Visual) -> bool:
        """Add what is seen of a link; whether it could be."""
        try:
            frame = robot.frame(prefix + visual.link, kind=FrameKind.BODY)
            name = f"{self._carrier(frame.joint)}/{plain(prefix + visual.link)} {i}"
            placement, met = frame.placement * visual.placement, self._collides(prefix + visual.link)
            colour = COLLIDES if met else visual.colour
            corners = self._meshes.add(self._scene, name, placement, visual.form, colour, bare=met)
            self._corners.append((frame.joint, corners))
        except ConstraintError as error:
            self.missing.append(f"link '{prefix}{visual.link}': {error}")
            return False
        return True

    def _add_shapes(self) -> None:
        robot = self._film.robot
        for i, shape in enumerate(self._film.shapes):
            frame = robot.frame(shape.frame)
            name = f"{self._carrier(frame.joint)}/shape {i} {plain(shape.name)}"
            solid, colour = Solid(shape.kind.lower(), shape.size), MOVED if frame.joint else STANDS
            colour = COLLIDES if self._collides(shape.name) else colour
            corners = self._meshes.add(self._scene, name, frame.placement * shape.placement, solid, colour)
            self._corners.append((frame.joint, corners))

    def _collides(self, drawn: str) -> bool:
        """Whether something collides that is drawn under a name: a shape; a link, whose solids have a number more."""
        met = [name for name in self._met if drawn in (name, name.rpartition("_")[0])]
        self._met.update(dict.fromkeys(met, True))
        return bool(met)

    def _add_trees(self, frames: Sequence[Frame]) -> None:
        """Where frames, or the ends of the robot, are at the nodes of a search, a point each."""
        trees, robot = self._film.trees, self._film.robot
        if trees is None:
            return
        shown, size = frames or ends_of(robot), NODE * self._radius
        for side, Q, colour in (("start", trees.from_start, FROM_START), ("goal", trees.from_goal, FROM_GOAL)):
            postures = (robot.at(q) for q in Q)
            places = np.array([[at.placement(frame).translation for frame in shown] for at in postures], np.float32)
            for i, frame in enumerate(shown):
                name = f"/trees/{side} {plain(frame.name)}"
                self._scene.add_point_cloud(name, places[:, i], rgb(colour), point_size=size, point_shape="circle")

    def _all_sticks(self) -> list[Stick]:
        """From each joint to those that it carries, to the ends of the robot, and to those of closures."""
        robot = self._film.robot
        bodies = [frame for pair in self._film.closures for frame in pair if frame.joint]
        return sticks_of(robot, [*bodies, *ends_of(robot, bodies)])

    def _add_sticks(self, seen: set[int]) -> list[Any]:
        """Bars from joint to joint, grey on the ground, and a ball at each end and joint that is not seen."""
        robot, r, bars = self._film.robot, self._radius, list[Any]()
        own = colours_of(robot)
        colours = [GROUND, *(own[part] for part in parts_of(robot))]
        links = self._links_of_joints() if self._met else {}
        met = {joint: any([self._collides(link) for link in names]) for joint, names in links.items()}
        paints = [OPEN if met.get(joint) else rgb(colour) for joint, colour in enumerate(colours)]
        balls = {(joint, (0.0, 0.0, 0.0)): paints[joint] for joint in {*range(1, len(paints))} - seen}
        for i, (name, start, end) in enumerate(self._sticks):
            bars.append(self._bar(f"/sticks/{i} {plain(name)}", r, paints[start[0]]))
            balls |= {(joint, tuple(point.tolist())): paints[joint] for joint, point in (start, end) if joint}
        for i, ((joint, point), paint) in enumerate(balls.items()):
            self._ball(f"ball {i}", joint, np.array(point), BALL * r, paint)
        return bars

    def _links_of_joints(self) -> dict[int, list[str]]:
        """Names of the links that each joint carries."""
        found, robot = dict[int, list[str]](), self._film.robot
        for link in link_names(robot.model):
            found.setdefault(robot.frame(link, kind=FrameKind.BODY).joint, []).append(link)
        return found

    def _add_closures(self) -> list[Any]:
        """Balls at the ends of closures, and a rod between the two, seen where they are apart."""
        rods: list[Any] = []
        for i, pair in enumerate(self._film.closures):
            for side, frame in zip("ab", pair, strict=True):
                point, colour = np.array(frame.placement.translation), SHUT if frame.joint else FIXED
                self._ball(f"closure {i}{side}", frame.joint, point, self.thickness, colour)
            rods.append(self._bar(f"/closures/{i}", ROD * self._radius, OPEN))
        return rods

    def _bar(self, name: str, radius: float, colour: tuple[int, int, int]) -> Any:
        """A cylinder along z of length 1, which is stretched."""
        solid = self._meshes.solid(Solid("cylinder", (radius, 1.0)))
        return self._triangles(name, solid, colour, np.zeros(3), True)

    def _ball(self, name: str, joint: int, point: Vector, radius: float, colour: tuple[int, int, int]) -> None:
        solid = self._meshes.solid(Solid("sphere", (radius,)))
        self._triangles(f"{self._carrier(joint)}/{name}", solid, colour, point, False)

    def _triangles(
        self, name: str, solid: Triangles, colour: tuple[int, int, int], position: Vector, flat: bool
    ) -> Any:
        vertices, faces = solid.vertices.astype(np.float32), solid.faces.astype(np.uint32)
        return self._scene.add_mesh_simple(name, vertices, faces, color=colour, flat_shading=flat, position=position)

    @property
    def arrow(self) -> float:
        """Length of the arrows of a frame [m]."""
        return ARROW * self.region.reach

    @property
    def thickness(self) -> float:
        """Radius of the balls of closures, which are the thickest [m]."""
        return JOINT * self._radius

    def add_arrows(self, name: str, placement: Any) -> None:
        """Draw a placement on a node as three arrows: x red, y green, z blue; `name` is below that of the node."""
        self._scene.add_frame(name, axes_length=self.arrow, axes_radius=THIN * self._radius, **at(placement))

    def _add_floor(self) -> None:
        """A grid at z = 0, or at the lowest point of what is drawn where that is below."""
        region = self.region
        position = np.array([*region.middle[:2], min(0.0, self._lowest)])
        width, cell = FLOOR * region.width, 0.5 * region.grid
        lines = {"cell_size": cell, "cell_color": CELLS, "section_size": region.grid, "section_color": SECTIONS}
        self._scene.add_grid("/world/floor", width, width, position=position, **lines)

    def _place_camera(self, camera: Any) -> None:
        """Let new pages see all of it, in light from above and below.

        An environment that is mirrored takes a computer without a graphics card long.
        """
        self._scene.configure_environment_map(None)
        self._scene.add_light_hemisphere("/world/light", ground_color=BELOW, intensity=BRIGHT)
        away = AWAY * self.region.reach / np.tan(0.5 * FIELD)
        camera.fov, camera.near, camera.far = FIELD, NEAR * away, FAR * away
        camera.look_at, camera.position = self.region.middle, self.region.middle + away * self.look()

    # Where it is.

    def _points(self, q: Vector) -> Matrix:
        """What is to be in the picture: joints, ends of sticks and closures, corners of what is seen (n, 3) [m]."""
        posture = self._film.robot.at(q)
        oMi = posture.placed().oMi
        points = [np.array(placed.translation) for placed in list(oMi)[1:]]
        points += [end for stick in self._sticks for end in stick.placed(posture)]
        points += [end for ends in self._ends(posture) for end in ends]
        points += [oMi[joint].act(corner) for joint, corners in self._corners for corner in corners]
        return np.array(points or [np.zeros(3)])

    def _ends(self, posture: Posture) -> Matrix:
        """Ends (n, 2, 3) of closures in the world [m]."""
        pairs = self._film.closures
        ends = [[np.array(posture.placement(frame).translation) for frame in pair] for pair in pairs]
        return np.array(ends).reshape(-1, 2, 3)

    def all_points(self) -> Matrix:
        """The same at some of the configurations."""
        film = self._film
        return np.vstack([self._points(film.configurations[i]) for i in thinned(len(film), SAMPLED)])

    def look(self) -> Vector:
        """Direction to the camera: in front of what is flat, above the side of everything else."""
        size = np.ptp(self._points(self._film.configurations[0]), axis=0)
        part = FLAT_MECHANISM if self._film.closures else FLAT
        thin = np.flatnonzero(size < part * size.max())
        look = np.array(FRONTS[int(thin[0])] if len(thin) == 1 else LOOK)
        return look / np.linalg.norm(look)

    def pose(self, q: Vector, label: str = "") -> None:
        """Move everything to a configuration (nq,), and name it."""
        posture = self._film.robot.at(q)
        oMi = posture.placed().oMi
        for joint, node in self._carriers.items():
            seat = at(oMi[joint])
            node.position, node.wxyz = seat["position"], seat["wxyz"]  # nothing is sent where it has them
        stretch(self._lines, np.array([stick.placed(posture) for stick in self._sticks]).reshape(-1, 2, 3))
        for rod, length in zip(self._rods, stretch(self._rods, self._ends(posture)).tolist(), strict=True):
            rod.visible = length > SEEN_APART * self.region.reach
        self.label.text, self.label.visible = label, bool(label)


def stretch(bars: Sequence[Any], ends: Matrix) -> Vector:
    """Put bars of length 1 between points (n, 2, 3); the lengths (n,) [m]."""
    middles, turned, lengths = between(ends[:, 0], ends[:, 1])
    for bar, middle, wxyz, length in zip(bars, middles, turned, lengths.tolist(), strict=True):
        bar.position, bar.wxyz, bar.scale = middle, wxyz, (1.0, 1.0, max(length, SHORTEST))
    return lengths


def upright(look: Vector) -> Vector:
    """What is up in a picture that is seen from a direction: z, but for what is seen from above or below, y."""
    return np.eye(3)[2 if abs(look[2]) < UPRIGHT else 1]


def plain(name: str) -> str:
    """A name without the slashes by which viser puts one node on another."""
    return re.sub(r"/+", ".", name).strip(".") or "_"


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green, blue from 0 to 255 of "#rrggbb"."""
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return r, g, b
