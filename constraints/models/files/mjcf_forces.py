"""Springs and dampers of a compiled MuJoCo model, on joints and along tendons of two sites; the rest is listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ...dynamics import JointLaw, PointSpring
from ...robot import Robot
from ...robot.model.pinocchio import pin
from ..forces.joint_springs import DRY, FileForces, Passive
from ..structure.mechanism import Unread, or_unread
from .mjcf_tree import BALL, FREE, CompiledTree

_NO_SPRINGS, _NO_DAMPERS = 32, 64
"""`mjDSBL_SPRING` and `mjDSBL_DAMPER`."""
_SITE = 3
"""`mjWRAP_SITE`."""
_NOT_LINEAR = "it is not linear: only springs and dampers of constant stiffness and damping are laws here"


def mjcf_forces(mj: Any, robot: Robot, tree: CompiledTree, rest: Vector) -> FileForces:
    r"""Passive forces of a model: :math:`-k (q - q_s) - d\,v` of joints, and of tendons between two sites.

    Args:
        mj: `mujoco.MjModel`.
        robot: of the tree.
        tree: where the objects of the compiled model went.
        rest: MuJoCo's `qpos_spring` as a configuration (nq,).

    Returns:
        the laws; left out are polynomials, other tendons, dry friction, drives, fluids.
    """
    found = FileForces(robot)
    off = int(mj.opt.disableflags)
    springs, dampers = (0.0 if off & flag else 1.0 for flag in (_NO_SPRINGS, _NO_DAMPERS))
    for j in range(mj.njnt):
        dof, name = int(mj.jnt_dofadr[j]), tree.joint_name(j)
        if _has_polynomial(mj, "jnt_stiffnesspoly", j) or _has_polynomial(mj, "dof_dampingpoly", dof):
            found.left_out.append(Unread(f"spring or damper of joint '{name}'", _NOT_LINEAR))
            continue
        said = Passive(
            stiffness=springs * float(mj.jnt_stiffness[j]), damping=dampers * float(mj.dof_damping[dof]),
            friction=float(mj.dof_frictionloss[dof]),
        )  # fmt: skip
        at, kind = rest[robot.slice_of(name)], int(mj.jnt_type[j])
        if kind == FREE and said.stiffness:
            spring = FreeSpring(said.stiffness, at)
            found.laws.append(JointLaw(robot, name, spring, spring.energy))
            said = replace(said, stiffness=0.0)
        found.on_tree(name, name, [said] * {FREE: 6, BALL: 3}.get(kind, 1), at)
    for t in range(mj.ntendon):
        _tendon(mj, t, found, tree, springs, dampers)
    found.left_out.extend(_others(mj, tree))
    return found


@dataclass(frozen=True, eq=False)
class FreeSpring:
    r"""The spring of MuJoCo's free joint: :math:`-k (p - p_0)` along the world, :math:`-k \log(R_0^T R)` about it.

    Args:
        stiffness: k [N/m and N m/rad].
        rest: the pose without force (7,).
    """

    stiffness: float
    rest: Vector

    def __call__(self, q: Vector, v: Vector) -> Vector:
        """Force and moment (6,) in the axes of the body; v has no part in it."""
        stretch, turn, R = self._from_rest(q)
        return -self.stiffness * np.concatenate([R.T @ stretch, turn])

    def energy(self, q: Vector) -> float:
        """Potential energy [J]."""
        stretch, turn, _ = self._from_rest(q)
        return float(0.5 * self.stiffness * (stretch @ stretch + turn @ turn))

    def _from_rest(self, q: Vector) -> tuple[Vector, Vector, Any]:
        now, rest = pin.XYZQUATToSE3(np.array(q)), pin.XYZQUATToSE3(np.array(self.rest))
        return now.translation - rest.translation, pin.log3(rest.rotation.T @ now.rotation), now.rotation


def _tendon(mj: Any, t: int, found: FileForces, tree: CompiledTree, springs: float, dampers: float) -> None:
    """Spring and damper of a tendon: a law where it is a straight line between two sites."""
    name, k, d = mj.tendon(t).name or t, springs * float(mj.tendon_stiffness[t]), dampers * float(mj.tendon_damping[t])
    is_curved = _has_polynomial(mj, "tendon_stiffnesspoly", t) or _has_polynomial(mj, "tendon_dampingpoly", t)
    if mj.tendon_frictionloss[t]:
        found.left_out.append(Unread(f"friction of tendon '{name}'", DRY))
    what = f"{' and '.join(word for word, number in (('spring', k), ('damper', d)) if number)} of tendon '{name}'"
    if is_curved:
        found.left_out.append(Unread(f"spring or damper of tendon '{name}'", _NOT_LINEAR))
    elif k or d:
        first, (shortest, longest) = int(mj.tendon_adr[t]), mj.tendon_lengthspring[t]
        parts = slice(first, first + int(mj.tendon_num[t]))
        if list(mj.wrap_type[parts]) != [_SITE, _SITE]:
            found.left_out.append(Unread(what, "only a straight line between two sites is a law here"))
        elif k and shortest != longest:
            found.left_out.append(Unread(what, f"it is slack from {shortest:.4g} to {longest:.4g} m: give a PointLink"))
        else:
            ends = [
                tree.frame(tree.sites[site], pin.SE3.Identity(), mj.site(site).name or f"site_{site}")
                for site in map(int, mj.wrap_objid[parts])
            ]
            with or_unread(found.left_out, what):
                found.laws.append(PointSpring(found.robot, *ends, stiffness=k, damping=d, length=float(longest)))


def _others(mj: Any, tree: CompiledTree) -> Iterator[Unread]:
    """What acts on bodies and is no law here: drives that act by themselves, fluids, what is held against gravity."""
    for a in range(mj.nu):
        if mj.actuator_biastype[a] or np.any(getattr(mj, "actuator_damping", np.zeros(mj.nu))[a]):
            reason = "forces of drives are no part of a mechanism: give a JointLaw to its dynamics"
            yield Unread(f"drive of actuator '{mj.actuator(a).name or a}'", reason)
    if mj.opt.density or mj.opt.viscosity:
        yield Unread("density and viscosity of <option>", "forces of a fluid are no laws here")
    for b in range(1, mj.nbody):
        if mj.body_gravcomp[b]:
            reason = "gravity acts on every body here: give an ExternalForce to its dynamics"
            yield Unread(f"gravcomp of body '{tree.body_names[b]}'", reason)


def _has_polynomial(mj: Any, field: str, i: int) -> bool:
    """Whether coefficients beyond the linear one are there (MuJoCo 3.6 and later)."""
    return bool(np.any(getattr(mj, field)[i])) if hasattr(mj, field) else False
