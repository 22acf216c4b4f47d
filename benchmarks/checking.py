"""An independent judge: residuals and bounds of a problem file's configurations by plain pinocchio, and fresh starts.

It shares nothing with the library but the search for files: the model is put together again from the description, and
the rows are written from the formulas of the format.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from plain_rows import nearest

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
        self.data = self.model.createData()
        self.lower, self.upper = np.array(description["lower"]), np.array(description["upper"])
        for joint in self._joints():
            if (joint.nq, joint.nv) in ((2, 1), (7, 6), (4, 3)):  # entries of unit vectors have no bounds
                unit = slice(joint.idx_q + {2: 0, 7: 3, 4: 2}[joint.nq], joint.idx_q + joint.nq)
                self.lower[unit], self.upper[unit] = -np.inf, np.inf
        self._references: list[Vector | None] = [None] * len(description["constraints"])
        for i, constraint in enumerate(description["constraints"]):
            placed = constraint["kind"] == "explicit_convex_shape_contact"  # its value is the distance from qref
            if constraint.get("rhs") == "from qref" and not placed:
                self._place(np.array(description["qref"]))
                self._references[i] = self._value(constraint, np.array(description["qref"]))

    def residual(self, q: Vector) -> float:
        """Largest error norm over the constraints."""
        self._place(q)
        worst = 0.0
        for constraint, reference in zip(self.description["constraints"], self._references, strict=True):
            h = self._value(constraint, q)
            mask = np.array(constraint.get("mask", np.ones(h.size)), dtype=bool)
            kept = _kept_contact(h, mask) if constraint["kind"] == "explicit_convex_shape_contact" else h[mask]
            if reference is not None:
                fixed = reference[mask]
                kept = kept - np.where(np.array(_words(constraint, kept.size)) == "Equality", fixed, 0.0)
            unequal = {"Superior", "Inferior"} & set(_words(constraint, kept.size))
            if constraint["kind"] == "explicit_relative_pose" and mask.all() and not unequal:
                kept[3:] = nearest(kept[3:], h[3:])
            if constraint["kind"] != "explicit_convex_shape_contact":
                for row, word in enumerate(_words(constraint, kept.size)):
                    if word == "Superior":
                        kept[row] = min(kept[row], 0.0)
                    elif word == "Inferior":
                        kept[row] = max(kept[row], 0.0)
            worst = max(worst, float(np.sqrt(kept @ kept)))
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

    def _place(self, q: Vector) -> None:
        pin.forwardKinematics(self.model, self.data, q)

    def _oMj(self, joint: str) -> Any:
        if not self.model.existJointName(joint):
            raise ValueError(f"no joint '{joint}'")
        return self.data.oMi[self.model.getJointId(joint)]

    def _value(self, given: dict[str, Any], q: Vector) -> Vector:
        """All rows of a constraint, before mask and comparison, after `_place(q)`."""
        kind = given["kind"]
        if kind in ("transformation", "relative_transformation", "explicit_relative_pose"):
            one = (
                _pose(given["frame1_world"])
                if kind == "transformation"
                else self._oMj(given["joint1"]) * _pose(given["frame1"])
            )
            return _numbers(one.actInv(self._oMj(given["joint2"]) * _pose(given["frame2"])))
        if kind == "explicit_convex_shape_contact":
            return self._contact(given, q)
        if kind == "relative_com":
            first, last = given.get("com_joints", (1, self.model.njoints - 1))
            bodies = range(first, last + 1)
            masses = np.array([self.model.inertias[i].mass for i in bodies])
            centres = np.array([self.data.oMi[i].act(self.model.inertias[i].lever) for i in bodies])
            return self._oMj(given["joint"]).actInv(masses @ centres / masses.sum()) - np.array(given["reference"])
        if kind == "locked_joint":
            joint = self.model.joints[self.model.getJointId(given["joint"])]
            return _locked(q[joint.idx_q : joint.idx_q + joint.nq], np.array(given["value"]), joint.nv)
        raise ValueError(f"constraints of kind '{kind}' cannot be measured yet")

    def _contact(self, given: dict[str, Any], q: Vector) -> Vector:
        """Height, way to the polygon, tilt; then place and turn against qref: vectors whose axes do not matter.

        Of several surfaces the two that touch in qref count.
        """
        margin, joint = given.get("margin", 1e-4), given["object_joint"]
        pairs = [
            (_polygon(f), _polygon(o)) for f in _many(given["floor_surface"]) for o in _many(given["object_surface"])
        ]

        def seen() -> Any:
            floor = given["floor_joint"]
            return (_pose(given["floor_pose"]) if floor == "universe" else self._oMj(floor)).actInv(self._oMj(joint))

        self._place(np.array(self.description["qref"]))
        then = seen()
        floor, sole = min(pairs, key=lambda pair: np.linalg.norm(_touch(then, *pair)[0]))
        _, stood, turned = _touch(then, floor, sole)
        self._place(q)
        error, stands, turns = _touch(seen(), floor, sole)
        error[0] -= margin
        return np.concatenate([error, stands - stood, pin.log3(turns @ turned.T)])


def _words(constraint: dict[str, Any], size: int) -> list[str]:
    """Comparison of the rows that the mask keeps."""
    default = "Equality" if constraint["kind"] == "locked_joint" else "EqualToZero"
    return constraint.get("comparison", [default] * size)


def _kept_contact(value: Vector, mask: NDArray[np.bool_]) -> Vector:
    """The contact, the place, or both: of the eight rows of the format the five or the three may be masked."""
    both = mask.size != 8 or mask.all()
    return value if both else value[:5] if mask[0] else value[5:]


def _many(surface: list[Any]) -> list[Any]:
    """Polygons: one, or several."""
    return [surface] if isinstance(surface[0][0], int | float) else surface


def _polygon(points: Any) -> tuple[Vector, Vector, Vector]:
    """Vertices, their mean, and the normal."""
    corners = np.array(points, dtype=np.float64)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
    return corners, corners.mean(axis=0), normal / np.linalg.norm(normal)


def _touch(M: Any, floor: tuple[Vector, Vector, Vector], sole: tuple[Vector, Vector, Vector]) -> tuple[Any, Any, Any]:
    """Errors of a contact (height, way to the polygon, tilt); the nearest place; the rotation without the tilt."""
    corners, _, normal = floor
    centre, down = M.act(sole[1]), M.rotation @ sole[2]
    height = normal @ (centre - corners[0])
    flat = centre - height * normal
    edges = np.roll(corners, -1, axis=0) - corners
    place = flat
    if (np.cross(normal, edges) * (flat - corners)).sum(axis=1).min() < 0.0:
        along = ((flat - corners) * edges).sum(axis=1) / (edges * edges).sum(axis=1)
        places = corners + np.clip(along, 0.0, 1.0)[:, None] * edges
        place = places[np.linalg.norm(flat - places, axis=1).argmin()]
    swing = pin.Quaternion.FromTwoVectors(-normal, down)
    error = np.r_[height, flat - place, np.linalg.norm(pin.log3(swing.matrix()))]
    return error, place, swing.matrix().T @ M.rotation


def _pose(numbers: Any) -> Any:
    return pin.XYZQUATToSE3(np.array(numbers, dtype=np.float64))


def _numbers(M: Any) -> Vector:
    """Translation, then rotation logarithm."""
    return np.concatenate([M.translation, pin.log3(M.rotation)])


def _locked(q: Vector, value: Vector, nv: int) -> Vector:
    """Rows of a joint held at a value."""
    if q.size == nv:
        return q - value
    if nv == 1:
        return np.array([np.arctan2(value[0] * q[1] - value[1] * q[0], value @ q)])
    group: Any = {6: pin.liegroups.SE3, 3: pin.liegroups.SE2 if q.size == 4 else pin.liegroups.SO3}[nv]()
    return group.difference(value, q)


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
