"""An independent judge: residuals and bounds of a problem file's configurations by plain pinocchio, and fresh starts.

It shares nothing with the library but the search for files: the model is put together again from the description, and
the rows are written from the formulas of the format.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from plain_rows import Body, Many, Place, Poses, log3s, nearest, stacked

from constraints.robot.files.packages import find_resource

Vector = NDArray[np.float64]

BOUND_TOLERANCE = 1e-9
"""How far outside a bound still counts as inside [m or rad], for every solver alike."""


class Judge:
    """Measures configurations of one problem.

    Args:
        description: the JSON of the problem file.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        self.description = description
        self.model = assembled(description["models"])
        if list(self.model.names)[1:] != description["joints"][1:]:
            raise ValueError(f"joints {list(self.model.names)[1:]} differ from those of the file")
        self.place = Place(self.model)
        self.lower, self.upper = np.array(description["lower"]), np.array(description["upper"])
        for joint in self._joints():
            if (joint.nq, joint.nv) in ((2, 1), (7, 6), (4, 3)):  # entries of unit vectors have no bounds
                unit = slice(joint.idx_q + {2: 0, 7: 3, 4: 2}[joint.nq], joint.idx_q + joint.nq)
                self.lower[unit], self.upper[unit] = -np.inf, np.inf
        self._references: list[Any] = [None] * len(description["constraints"])
        qref = np.array(description["qref"])[None]
        self.place.at(qref)
        for i, constraint in enumerate(description["constraints"]):
            if constraint["kind"] == "explicit_convex_shape_contact":  # its value is the distance from qref
                self._references[i] = self._stood(constraint)
            elif constraint.get("rhs") == "from qref":
                self._references[i] = self._values(constraint, None)[0]

    def residual(self, q: Vector) -> float:
        """Largest error norm over the constraints."""
        return float(self.residuals(q[None])[0])

    def residuals(self, Q: Many) -> Vector:
        """(n,) largest error norms over the constraints, of configurations (n, nq)."""
        self.place.at(Q)
        worst = np.zeros(len(Q))
        for constraint, reference in zip(self.description["constraints"], self._references, strict=True):
            h = self._values(constraint, reference)
            mask = np.array(constraint.get("mask", np.ones(h.shape[1])), dtype=bool)
            contact = constraint["kind"] == "explicit_convex_shape_contact"
            kept = _kept_contact(h, mask) if contact else h[:, mask]
            words = np.array(_words(constraint, kept.shape[1]))
            if reference is not None and not contact:
                kept = kept - np.where(words == "Equality", reference[mask], 0.0)
            explicit = constraint["kind"] == "explicit_relative_pose"
            if explicit and mask.all() and not {"Superior", "Inferior"} & {*words}:
                kept[:, 3:] = nearest(kept[:, 3:], h[:, 3:])
            if not contact:
                kept = np.where(words == "Superior", np.minimum(kept, 0.0), kept)
                kept = np.where(words == "Inferior", np.maximum(kept, 0.0), kept)
            worst = np.maximum(worst, np.sqrt((kept * kept).sum(axis=1)))
        return worst

    def in_bounds(self, q: Vector) -> bool:
        """Whether q is finite and within its bounds."""
        inside = (q >= self.lower - BOUND_TOLERANCE) & (q <= self.upper + BOUND_TOLERANCE)
        return bool(inside.all() and np.isfinite(q).all())

    def starts(self, count: int, seed: int) -> Vector:
        """Fresh starts (count, nq), drawn as the file says its own were.

        Raises:
            ValueError: the sampler is not known, or a coordinate to be drawn in its bounds has none.
        """
        kind, given = self.description["sampler"]
        if kind not in ("uniform", "near"):
            raise ValueError(f"the sampler '{kind}' is not known")
        rng, qref = np.random.default_rng(seed), np.array(self.description["qref"])
        kept = set(given.get("keep", self.description.get("keep", ())))
        names = list(self.model.names)
        out = np.empty((count, self.model.nq))
        for q in out:
            near = kind == "near"
            q[:] = (
                pin.integrate(self.model, qref, given["sigma"] * rng.standard_normal(self.model.nv)) if near else qref
            )
            for joint in self._joints():
                block = slice(joint.idx_q, joint.idx_q + joint.nq)
                if names[joint.id] in kept:
                    q[block] = qref[block]
                elif joint.nq == joint.nv and near:
                    q[block] = np.clip(q[block], self.lower[block], self.upper[block])
                elif not near:
                    q[block] = self._draw(joint, qref[block], self.lower[block], self.upper[block], given, rng)
        return out

    def _draw(self, joint: Any, qref: Vector, lower: Vector, upper: Vector, given: dict[str, Any], rng: Any) -> Vector:
        """A joint's entries, by the sampler `uniform`."""
        if (joint.nq, joint.nv) == (7, 6):
            box, spread = given.get("box", 0.3), given.get("rot", np.pi)
            translation = qref[:3] + rng.uniform(-box, box, 3)
            turn = pin.exp3(spread * rng.uniform(-1, 1, 3) / np.sqrt(3))
            return np.r_[translation, (pin.Quaternion(qref[3:].copy()) * pin.Quaternion(turn)).coeffs()]
        if (joint.nq, joint.nv) == (2, 1):
            angle = rng.uniform(-np.pi, np.pi)
            return np.array([np.cos(angle), np.sin(angle)])
        if (joint.nq, joint.nv) == (4, 3):
            if not np.isfinite([lower[:2], upper[:2]]).all():
                raise ValueError("a planar root without bounds cannot be drawn in them")
            place, angle = rng.uniform(lower[:2], upper[:2]), rng.uniform(-np.pi, np.pi)
            return np.r_[place, np.cos(angle), np.sin(angle)]
        if joint.nq != joint.nv:
            raise ValueError(f"joint {joint.id} of {joint.nq} entries cannot be drawn")
        return rng.uniform(np.maximum(lower, -np.pi), np.minimum(upper, np.pi))

    # Rows by the formulas of the format.

    def _joints(self) -> list[Any]:
        return list(self.model.joints)[1:]

    def _pose(self, joint: str, placement: Any) -> Poses:
        """Poses in the world of a frame on a joint."""
        if not self.model.existJointName(joint):
            raise ValueError(f"no joint '{joint}'")
        return self.place.pose(Body(self.model.getJointId(joint), placement))

    def _values(self, given: dict[str, Any], reference: Any) -> Many:
        """All rows of a constraint, before mask and comparison, after `place.at(Q)`."""
        kind = given["kind"]
        if kind in ("transformation", "relative_transformation", "explicit_relative_pose"):
            one = (
                Poses.of(_pose(given["frame1_world"]))
                if kind == "transformation"
                else self._pose(given["joint1"], _pose(given["frame1"]))
            )
            M = one.seen(self._pose(given["joint2"], _pose(given["frame2"])))
            return np.concatenate([M.translation, log3s(M.rotation)], axis=1)
        if kind == "explicit_convex_shape_contact":
            return self._contact(given, *reference)
        if kind == "relative_com":
            first, last = given.get("com_joints", (1, self.model.njoints - 1))
            frame = self._pose(given["joint"], pin.SE3.Identity())
            return frame.act_back(self.place.center(range(first, last + 1))) - np.array(given["reference"])
        if kind == "locked_joint":
            joint = self.model.joints[self.model.getJointId(given["joint"])]
            block = self.place.q[:, joint.idx_q : joint.idx_q + joint.nq]
            return _locked(block, np.array(given["value"]), joint.nv)
        raise ValueError(f"constraints of kind '{kind}' cannot be measured yet")

    def _object(self, given: dict[str, Any]) -> Poses:
        """Poses of the object of a contact, in the frame of the floor."""
        floor = given["floor_joint"]
        placed = Poses.of(_pose(given["floor_pose"])) if floor == "universe" else self._pose(floor, pin.SE3.Identity())
        return placed.seen(self._pose(given["object_joint"], pin.SE3.Identity()))

    def _stood(self, given: dict[str, Any]) -> tuple[Polygon, Polygon, Vector, Vector]:
        """The two surfaces that touch in qref, of several; the place and the turn there."""
        then = self._object(given)
        pairs = [
            (_polygon(f), _polygon(o)) for f in _many(given["floor_surface"]) for o in _many(given["object_surface"])
        ]
        floor, sole = min(pairs, key=lambda pair: np.linalg.norm(_touch(then, *pair)[0]))
        _, stood, turned = _touch(then, floor, sole)
        return floor, sole, stood[0], turned[0]

    def _contact(self, given: dict[str, Any], floor: Polygon, sole: Polygon, stood: Vector, turned: Vector) -> Many:
        """Height, way to the polygon, tilt; then place and turn against qref: vectors whose axes do not matter."""
        error, stands, turns = _touch(self._object(given), floor, sole)
        error[:, 0] -= given.get("margin", 1e-4)
        return np.concatenate([error, stands - stood, log3s(turns @ turned.T)], axis=1)


def _words(constraint: dict[str, Any], size: int) -> list[str]:
    """Comparison of the rows that the mask keeps."""
    default = "Equality" if constraint["kind"] == "locked_joint" else "EqualToZero"
    return constraint.get("comparison", [default] * size)


def _kept_contact(values: Many, mask: NDArray[np.bool_]) -> Many:
    """The contact, the place, or both: of the eight rows of the format the five or the three may be masked."""
    both = mask.size != 8 or mask.all()
    return values if both else values[:, :5] if mask[0] else values[:, 5:]


Polygon = tuple[Vector, Vector, Vector]
"""Vertices, their mean, and the normal."""


def _many(surface: list[Any]) -> list[Any]:
    """Polygons: one, or several."""
    return [surface] if isinstance(surface[0][0], int | float) else surface


def _polygon(points: Any) -> Polygon:
    corners = np.array(points, dtype=np.float64)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
    return corners, corners.mean(axis=0), normal / np.linalg.norm(normal)


def _touch(M: Poses, floor: Polygon, sole: Polygon) -> tuple[Many, Many, Many]:
    """Errors of a contact (height, way to the polygon, tilt); the nearest place; the rotation without the tilt."""
    corners, _, normal = floor
    centre, down = M.act(sole[1]), M.turn(sole[2])
    height = (centre - corners[0]) @ normal
    flat = centre - height[:, None] * normal
    edges, gaps = np.roll(corners, -1, axis=0) - corners, flat[:, None] - corners
    along = (gaps * edges).sum(axis=2) / (edges * edges).sum(axis=1)
    places = corners + np.clip(along, 0.0, 1.0)[..., None] * edges
    near = np.linalg.norm(flat[:, None] - places, axis=2).argmin(axis=1)
    outside = (np.cross(normal, edges) * gaps).sum(axis=2).min(axis=1) < 0.0
    place = np.where(outside[:, None], places[np.arange(len(flat)), near], flat)
    swing = np.array([pin.Quaternion.FromTwoVectors(-normal, one).matrix() for one in down]).reshape(-1, 3, 3)
    tilt = np.linalg.norm(log3s(swing), axis=1)
    error = np.concatenate([height[:, None], flat - place, tilt[:, None]], axis=1)
    return error, place, swing.transpose(0, 2, 1) @ M.rotation


def _pose(numbers: Any) -> Any:
    return pin.XYZQUATToSE3(np.array(numbers, dtype=np.float64))


def _locked(Q: Many, value: Vector, nv: int) -> Many:
    """Rows of a joint held at a value."""
    if value.size == nv:
        return Q - value
    if nv == 1:
        return np.arctan2(value[0] * Q[:, 1] - value[1] * Q[:, 0], Q @ value)[:, None]
    group: Any = {6: pin.liegroups.SE3, 3: pin.liegroups.SE2 if value.size == 4 else pin.liegroups.SO3}[nv]()
    return stacked([group.difference(value, q) for q in Q], nv)


def assembled(models: list[Any]) -> Any:
    """The models of the file appended to each other, names prefixed."""
    roots = {"anchor": (), "freeflyer": (pin.JointModelFreeFlyer(),), "planar": (pin.JointModelPlanar(),)}
    whole: Any = pin.Model()
    for prefix, root, source, placement, *frame in models:
        if source.startswith("<"):
            model = pin.buildModelFromXML(source, *roots[root])
        else:
            model = pin.buildModelFromUrdf(str(find_resource(source)), *roots[root])
        for i in range(1, model.njoints):
            model.names[i] = f"{prefix}/{model.names[i]}"
        for entry in model.frames:
            if entry.name != "universe":
                entry.name = f"{prefix}/{entry.name}"
        whole = pin.appendModel(whole, model, whole.getFrameId(frame[0]) if frame else 0, _pose(placement))
    return whole
