"""Random kinematic trees with every joint type, built in plain pinocchio; the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

__all__ = ["REFUSED", "Coordinates", "joint_makers", "parts", "random_placement", "random_tree"]

Vector = NDArray[np.float64]
Random = np.random.Generator

ALIGNED = ("RX", "RY", "RZ", "RUBX", "RUBY", "RUBZ", "PX", "PY", "PZ", "HX", "HY", "HZ")
REFUSED = ("Mimic",)
"""Joint types that the library refuses: a constraint is to couple the joints."""


def random_axis(rng: Random) -> Vector:
    axis = rng.standard_normal(3)
    return axis / np.sqrt(axis @ axis)


def random_placement(rng: Random, reach: float = 0.3) -> Any:
    quaternion = rng.standard_normal(4)
    quaternion /= np.sqrt(quaternion @ quaternion)
    return pin.SE3(pin.Quaternion(quaternion).matrix(), rng.uniform(-reach, reach, 3))


def joint_makers() -> dict[str, Callable[[Random], Any]]:
    """A maker by joint type, by pinocchio's name without `JointModel`; parameters are random where there are some."""

    def aligned(name: str) -> Callable[[Random], Any]:
        make = getattr(pin, f"JointModel{name}")
        return (lambda rng: make(rng.uniform(-0.3, 0.3))) if name.startswith("H") else (lambda rng: make())

    def unbounded(rng: Random) -> Any:
        x, y, z = random_axis(rng).tolist()  # pinocchio ignores an axis that Python sets, but not that of a file
        links = '<link name="a"/><link name="b"/>'
        ends = f'<parent link="a"/><child link="b"/><axis xyz="{x!r} {y!r} {z!r}"/>'
        return pin.buildModelFromXML(
            f'<robot name="one">{links}<joint name="j" type="continuous">{ends}</joint></robot>'
        ).joints[1]

    def universal(rng: Random) -> Any:
        first, other = random_axis(rng), random_axis(rng)
        second = np.cross(first, other)
        return pin.JointModelUniversal(first, second / np.sqrt(second @ second))

    def composite(rng: Random) -> Any:
        joint = pin.JointModelComposite()
        kinds = ("RY", "PZ", "RUBX", "Spherical", "Translation", "Planar", "RevoluteUnaligned", "FreeFlyer")
        for kind in rng.choice(kinds, int(rng.integers(2, 4)), replace=False):
            joint.addJoint(makers[str(kind)](rng), random_placement(rng))
        return joint

    makers: dict[str, Callable[[Random], Any]] = {
        **{name: aligned(name) for name in ALIGNED},
        "RevoluteUnaligned": lambda rng: pin.JointModelRevoluteUnaligned(random_axis(rng)),
        "RevoluteUnboundedUnaligned": unbounded,
        "PrismaticUnaligned": lambda rng: pin.JointModelPrismaticUnaligned(random_axis(rng)),
        "HelicalUnaligned": lambda rng: pin.JointModelHelicalUnaligned(random_axis(rng), rng.uniform(-0.3, 0.3)),
        "Spherical": lambda rng: pin.JointModelSpherical(),
        "SphericalZYX": lambda rng: pin.JointModelSphericalZYX(),
        "Translation": lambda rng: pin.JointModelTranslation(),
        "Planar": lambda rng: pin.JointModelPlanar(),
        "FreeFlyer": lambda rng: pin.JointModelFreeFlyer(),
        "Universal": universal,
        "Ellipsoid": lambda rng: pin.JointModelEllipsoid(*rng.uniform(0.1, 0.5, 3)),
        "Composite": composite,
    }
    return makers


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Which entries of q are plain numbers, which are unit vectors; by pinocchio's joint types.

    Attributes:
        entries: (n,) entries of q that are plain numbers.
        columns: (n,) their tangent columns.
        units: slices of q with (cos, sin) or a quaternion.
        angles: (n,) true where the number is an angle.
        flat: (n,) true where integrating adds: not the translation of a free-flyer or planar joint.
    """

    entries: NDArray[np.intp]
    columns: NDArray[np.intp]
    units: tuple[slice, ...]
    angles: NDArray[np.bool_]
    flat: NDArray[np.bool_]

    @staticmethod
    def of(model: Any) -> Coordinates:
        """Those of a model."""
        entries, columns, units, angles, flat = list[int](), list[int](), list[slice](), list[bool](), list[bool]()
        iq = iv = 0
        for joint in list(model.joints)[1:]:
            for part in parts(joint):
                name, nq, nv = str(part.shortname()).removeprefix("JointModel"), int(part.nq), int(part.nv)
                plain = nq if nq == nv else {"FreeFlyer": 3, "Planar": 2}.get(name, 0)
                entries += range(iq, iq + plain)
                columns += range(iv, iv + plain)
                angles += [name.startswith(("R", "Universal", "SphericalZYX", "Ellipsoid"))] * plain
                flat += [nq == nv] * plain
                if plain < nq:
                    units.append(slice(iq + plain, iq + nq))
                iq, iv = iq + nq, iv + nv
        return Coordinates(
            np.array(entries, dtype=np.intp), np.array(columns, dtype=np.intp), tuple(units),
            np.array(angles, dtype=np.bool_), np.array(flat, dtype=np.bool_),
        )  # fmt: skip


def parts(joint: Any) -> Iterator[Any]:
    """The joint, or the joints that a composite one is made of."""
    if str(joint.shortname()) != "JointModelComposite":
        yield joint
        return
    for part in joint.extract().joints if hasattr(joint, "extract") else joint.joints:
        yield from parts(part)


def random_tree(seed: int, number: int) -> Any:
    """Tree `number` of a seed, a `pinocchio.Model` with one joint of each type, in random order, on random parents.

    Bodies have random inertias, some none. Numbers have no bounds, narrow ones, those of a whole turn, or wider ones.
    """
    rng, model = np.random.default_rng([seed, number]), pin.Model()
    model.name = f"tree_{number}"
    makers = joint_makers()
    last = 0
    for name in rng.permutation(list(makers)):
        parent = last if rng.random() < 0.6 else int(rng.integers(0, model.njoints))
        last = model.addJoint(parent, makers[str(name)](rng), random_placement(rng), str(name))
        if rng.random() < 0.9:
            box = pin.Inertia.FromBox(rng.uniform(0.2, 3.0), *rng.uniform(0.05, 0.3, 3))
            model.appendBodyToJoint(last, box, random_placement(rng, 0.1))
    where = Coordinates.of(model)
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for i, angle in zip(where.entries, where.angles, strict=True):
        kind = int(rng.integers(4))
        if kind:
            half = (rng.uniform(0.3, 1.5), np.pi, rng.uniform(3.2, 7.0))[kind - 1] if angle else rng.uniform(0.1, 2.0)
            middle = rng.uniform(-0.5, 0.5) if kind == 1 else 0.0
            lower[i], upper[i] = middle - half, middle + half
    model.lowerPositionLimit, model.upperPositionLimit = lower, upper
    return model
