"""An independent judge: residuals and bounds of a problem file's configurations by plain pinocchio, and fresh starts.

It shares nothing with the library but the search for files: the model is put together again from the description, and
the rows are written from the formulas of the format.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from plain_rows import Body, Many, Place, Polygon, Wanted, relative, touch, value_of

from constraints.robot.files.packages import find_resource

Vector = NDArray[np.float64]

HERE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
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
        self.place.at(np.array(description["qref"])[None])
        self._wanted = [self._read(given) for given in description["constraints"]]

    def residual(self, q: Vector) -> float:
        """Largest error norm over the constraints."""
        return float(self.residuals(q[None])[0])

    def residuals(self, Q: Many) -> Vector:
        """(n,) largest error norms over the constraints, of configurations (n, nq)."""
        self.place.at(Q)
        return np.max([np.zeros(len(Q)), *(wanted.errors(self.place) for wanted in self._wanted)], axis=0)

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

    # Constraints by the formulas of the format.

    def _joints(self) -> list[Any]:
        return list(self.model.joints)[1:]

    def _body(self, joint: str, placement: Any = HERE) -> Body:
        if not self.model.existJointName(joint):
            raise ValueError(f"no joint '{joint}'")
        return Body(self.model.getJointId(joint), _pose(placement))

    def _read(self, given: dict[str, Any]) -> Wanted:
        """A constraint as data; where it has the right-hand side of qref, `place` is there."""
        wanted = self._function(given)
        value = value_of(self.place, wanted)[0]
        mask = np.array(given.get("mask", [1] * value.size), dtype=np.bool_)
        if wanted.kind == "contact":  # all rows, or five of contact, or those of the place
            mask = np.arange(value.size) < 5 if mask[0] else np.arange(value.size) >= 5
            given, mask = {}, mask | bool(np.all(given.get("mask", True)))
        default = "Equality" if wanted.kind == "locked" else "EqualToZero"
        words = np.full(value.size, default, dtype=object)
        words[mask] = given.get("comparison", default)
        rhs = np.where(words == "Equality", value, 0.0) if given.get("rhs") == "from qref" else None
        lower, upper = np.where(words == "Inferior", -np.inf, 0.0), np.where(words == "Superior", np.inf, 0.0)
        return replace(wanted, rhs=rhs, lower=lower, upper=upper, scale=np.ones(value.size), mask=mask)

    def _function(self, given: dict[str, Any]) -> Wanted:
        """What a constraint measures."""
        kind = given["kind"]
        if kind == "transformation":
            return Wanted(kind, (Body(0, _pose(given["frame1_world"])), self._body(given["joint2"], given["frame2"])))
        if kind in ("relative_transformation", "explicit_relative_pose"):
            bodies = tuple(self._body(given[f"joint{i}"], given[f"frame{i}"]) for i in (1, 2))
            return Wanted("transformation" if kind[0] == "r" else "object", bodies)
        if kind == "explicit_convex_shape_contact":
            return self._contact(given)
        if kind == "relative_com":
            first, last = given.get("com_joints", (1, self.model.njoints - 1))
            numbers = {"reference": np.array(given["reference"])}
            return Wanted("relative_center", (self._body(given["joint"]),), "R", numbers, tuple(range(first, last + 1)))
        if kind == "locked_joint":
            numbers = {"joint": self._body(given["joint"]).joint, "value": np.array(given["value"])}
            return Wanted("locked", numbers=numbers)
        raise ValueError(f"constraints of kind '{kind}' cannot be measured yet")

    def _contact(self, given: dict[str, Any]) -> Wanted:
        """An object on a floor, on the surfaces that touch in qref, of several, where `place` is."""
        on, is_fixed = given["floor_joint"], given["floor_joint"] == "universe"
        floor = Body(0, _pose(given["floor_pose"])) if is_fixed else self._body(on)
        wanted = Wanted("contact", (floor, self._body(given["object_joint"])))
        floors, soles = (_polygons(given[key]) for key in ("floor_surface", "object_surface"))
        then = relative(self.place, wanted)
        pair = min(product(floors, soles), key=lambda pair: np.linalg.norm(touch(then, *pair)[0]))
        _, stood, turned = touch(then, *pair)
        numbers = {"pair": pair, "stood": stood[0], "turned": turned[0], "margin": given.get("margin", 1e-4)}
        return replace(wanted, numbers=numbers)


def _polygons(surface: list[Any]) -> list[Polygon]:
    """One polygon, or several: vertices, their mean, the normal."""
    found = list[Polygon]()
    for points in [surface] if isinstance(surface[0][0], int | float) else surface:
        corners = np.array(points, dtype=np.float64)
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
        found.append((corners, corners.mean(axis=0), normal / np.linalg.norm(normal)))
    return found


def _pose(numbers: Any) -> Any:
    return pin.XYZQUATToSE3(np.array(numbers, dtype=np.float64))


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
