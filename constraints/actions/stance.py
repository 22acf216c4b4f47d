"""What holds a robot at rest, contact by contact, and whether contacts can carry it."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import as_mapping, expect, is_finite_number
from liegroups.arrays import Matrix, Vector

from ..dynamics.multipliers import wrench_of
from ..errors import OptionError
from ..linear_algebra import row_lengths
from ..loops import Axes, ConstraintSet, FrictionCone, PointContact, PoseContact, Sole, SurfaceContact

ROUNDING_OF_A_FORCE = 1e-12
"""Part of the largest multiplier up to which a force is none."""

UPRIGHT = 1.0 - 1e-6
"""Least z of a normal in the world that is not worth a word."""

ADMISSIBLE = 1e-9
"""Part of the largest force by which a limit may be exceeded."""


class Load(NamedTuple):
    """What one contact carries at rest, in the axes of its rows.

    Attributes:
        wrench: (6,) on the robot at the contact [N, N m].
        normal_force: along its normal, that of its cone where one is given [N]; negative where it pulls.
        friction_needed: the coefficient of friction that the force needs; infinite where it does not push.
        centre_of_pressure: (2,) in the plane of x and y [m], of a surface that pushes.
        normal: (3,) in the axes of the world.
        outside: how far the centre of pressure is outside its sole [m], negative inside; None without one.
    """

    wrench: Vector
    normal_force: float
    friction_needed: float
    centre_of_pressure: Vector | None
    normal: Vector
    outside: float | None = None

    def __str__(self) -> str:
        n, at = self.normal, self.centre_of_pressure
        aims = "" if n[2] > UPRIGHT else f" ({n[0]:.2g}, {n[1]:.2g}, {n[2]:.2g}) in the world"
        words = f"{self.normal_force:.4g} N along its normal{aims}, friction needed {self.friction_needed:.3g}"
        if at is None:
            return words
        off = 0.0 if self.outside is None else self.outside
        beside = f", {off:.3g} m outside its sole" if off > ROUNDING_OF_A_FORCE else ""
        return f"{words}, centre of pressure ({at[0]:.4g}, {at[1]:.4g}) m{beside}"


class MultiplierLimits(NamedTuple):
    r"""Rows that multipliers have to satisfy, :math:`A \lambda \le 0`, and of which contact each is."""

    rows: Matrix
    names: tuple[str, ...]


def loads_of(
    constraint_set: ConstraintSet, q: Vector, multipliers: Vector, cones: Any = None, soles: Any = None
) -> dict[str, Load]:
    """What the contacts that are on carry: name -> load. A `PoseContact`, whose rows have no axes, is left out.

    Args:
        constraint_set: with the contacts.
        q: configuration (nq,).
        multipliers: of all rows (size,).
        cones, soles: as in `limits_of`.
    """
    found: dict[str, Load] = {}
    given = {owner.name: cone for owner, cone in _cones(constraint_set, cones)}
    stands = {constraint_set[which].name: sole for which, sole in _mapping(soles, "soles", "contact names to a Sole")}
    posture = constraint_set.robot.at(q)
    rounding = ROUNDING_OF_A_FORCE * float(np.abs(multipliers).max(initial=0.0))
    for owner, _ in constraint_set.on:
        if not isinstance(owner, PointContact | SurfaceContact):
            continue
        wrench = wrench_of(constraint_set, owner, q, multipliers, axes=owner.axes)
        cone = given.get(owner.name) or FrictionCone(0.0, _normal_of(owner))
        normal = np.asarray(cone.normal)
        push = float(normal @ wrench[:3])
        at = Sole.pressure(wrench) if isinstance(owner, SurfaceContact) and wrench[2] > rounding else None
        force = np.where(np.abs(wrench[:3]) > rounding, wrench[:3], 0.0)
        aims = posture.placement(owner.successor).rotation @ normal if owner.axes is Axes.LOCAL else normal
        sole = stands.get(owner.name)
        outside = None if at is None or sole is None else sole.distance(at)
        found[owner.name] = Load(wrench, push, cone.needed(force), at, aims, outside)
    return found


def limits_of(constraint_set: ConstraintSet, q: Vector, cones: Any, soles: Any) -> MultiplierLimits:
    """The limits of contacts that are on.

    Args:
        constraint_set: with the contacts.
        q: configuration (nq,).
        cones: contact -> FrictionCone, or a coefficient; one coefficient or cone for all; None for none.
        soles: contact -> Sole; None for none.

    Raises:
        OptionError: a sole of a constraint that is no surface, a cone of one that is no contact.
        WrongObjectError, UnknownNameError: something else.
    """
    rows, names = [np.zeros((0, constraint_set.size))], list[str]()
    on = {id(owner) for owner, _ in constraint_set.on}
    given = [(owner, cone.rows, 3) for owner, cone in _cones(constraint_set, cones)]
    for which, sole in _mapping(soles, "soles", "contact names to a Sole"):
        owner = constraint_set[which]
        if not isinstance(owner, SurfaceContact):
            raise OptionError(f"sole of '{owner.name}': it is no SurfaceContact")
        given.append((owner, expect(sole, Sole, f"sole of '{owner.name}'").rows, 6))
    for owner, own, n in given:
        if id(owner) not in on:
            continue
        s = constraint_set.slice_of(owner)
        units = np.eye(constraint_set.size)[s]
        seen = np.array([wrench_of(constraint_set, owner, q, unit, axes=owner.axes)[:n] for unit in units])
        limit = np.zeros((len(own), constraint_set.size))
        limit[:, s] = own @ seen.T
        rows.append(limit)
        names += [owner.name] * len(own)
    return MultiplierLimits(np.concatenate(rows), tuple(names))


def _cones(constraint_set: ConstraintSet, cones: Any) -> list[tuple[Any, FrictionCone]]:
    if isinstance(cones, FrictionCone) or is_finite_number(cones):
        return [(owner, _cone(owner, cones)) for owner in constraint_set.stack if owner.is_contact]
    found: list[tuple[Any, FrictionCone]] = []
    for which, cone in _mapping(cones, "cones", "contact names to a FrictionCone or a coefficient"):
        owner = constraint_set[which]
        if not owner.is_contact:
            raise OptionError(f"friction cone of '{owner.name}': it is no contact")
        found.append((owner, _cone(owner, cone)))
    return found


def _cone(owner: Any, given: Any) -> FrictionCone:
    if isinstance(owner, PoseContact):
        raise OptionError(
            f"friction cone of '{owner.name}': the rows of a PoseContact have no axes for a cone; give cones by name, "
            "{'foot': 0.5}, to the other contacts"
        )
    if is_finite_number(given):
        return FrictionCone(given, _normal_of(owner))
    return expect(given, FrictionCone, f"friction cone of '{owner.name}'", "a FrictionCone or a coefficient")


def _normal_of(owner: Any) -> Any:
    normal = owner.normal if isinstance(owner, PointContact) else None
    return (0.0, 0.0, 1.0) if normal is None else normal


def _mapping(given: Any, what: str, words: str) -> list[tuple[Any, Any]]:
    if given is None:
        return []
    entries: Mapping[Any, Any] = as_mapping(given, f"{what} of a balance", f"from {words}")
    return list(entries.items())


def least_within(A: Matrix, b: Vector, limits: Matrix) -> Vector | None:
    r"""The shortest y with :math:`A y = b` and :math:`C y \le 0`; None where there is none.

    With :math:`y = y_0 + Z z`, Z the null space of A, it is a least distance problem in z, which non-negative least
    squares solve.

    Args:
        A: (m, n), b: (m,): met in the sense of least squares where they contradict each other.
        limits: C (k, n).

    Source: Lawson and Hanson, Solving Least Squares Problems, chapter 23.
    """
    U, values, Vt = np.linalg.svd(A)
    rank = int((values > 1e-12 * max(A.shape) * values.max(initial=0.0)).sum())
    y = Vt[:rank].T @ ((U[:, :rank].T @ b) / values[:rank])
    Z = Vt[rank:].T
    sizes = row_lengths(limits)
    C = limits[sizes > 0.0] / sizes[sizes > 0.0, None]
    G, h = -(C @ Z), C @ y
    scale = max(float(np.abs(y).max(initial=0.0)), 1e-300)
    if not len(C) or float(h.max(initial=-inf)) <= ADMISSIBLE * scale:
        return y
    from scipy.optimize import nnls

    E, f = np.vstack([G.T, h[None, :] / scale]), np.zeros(Z.shape[1] + 1)
    f[-1] = 1.0
    u = nnls(E, f)[0]
    r = E @ u - f
    if -r[-1] <= ADMISSIBLE:
        return None
    z = scale * (r[:-1] / -r[-1])
    found = y + Z @ z
    return found if float((C @ found).max()) <= 1e-6 * max(float(np.abs(found).max()), scale) else None


def overloaded(A: Matrix, b: Vector, limits: Matrix, names: tuple[str, ...], scale: float) -> tuple[str, ...]:
    """Contacts whose limits have to give way, in the sense of the least sum, for a balance with these forces.

    Args:
        A, b: the balance, A y = b.
        limits: rows C with C y <= 0.
        names: contact of each row.
        scale: of the forces, for a threshold.
    """
    from scipy.optimize import linprog

    contacts = tuple(dict.fromkeys(names))
    slack = np.array([[float(name == contact) for contact in contacts] for name in names])
    n, k = A.shape[1], len(contacts)
    found: Any = linprog(
        np.concatenate([np.zeros(n), np.ones(k)]),
        A_ub=np.hstack([limits, -slack]), b_ub=np.zeros(len(limits)),
        A_eq=np.hstack([A, np.zeros((len(A), k))]), b_eq=b,
        bounds=[(None, None)] * n + [(0.0, None)] * k, method="highs",
    )  # fmt: skip
    if not found.success:
        return ()
    return tuple(name for name, size in zip(contacts, found.x[n:].tolist(), strict=True) if size > 1e-7 * scale)
