"""The equalities of a compiled MuJoCo model, as closures and couplers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arrays import Vector

from ...errors import ConstraintError
from ...functions import Affine, Constant, Polynomial, Stacked
from ...loops import Closure, PointClosure
from ...robot import Frame, Robot
from ...robot.model.pinocchio import pin
from ...rows.explicit import Explicit
from ...rows.implicit import Implicit
from ...rows.row_owner import RowOwner
from ..structure.mechanism import Unread, or_unread
from ..structure.tree import translation
from .mjcf_tree import CompiledTree, pose_of

CONNECT, WELD, JOINT, TENDON = range(4)
"""MuJoCo's numbers for its equalities (`mjtEq`)."""
_WORDS = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
_SITE, _WRAP_JOINT = 6, 1
"""`mjOBJ_SITE` and `mjWRAP_JOINT`."""
_OFF = {"constraint": 1, "equality": 2}
"""Flags of `<option>` that switch off every equality: `mjDSBL_CONSTRAINT` and `mjDSBL_EQUALITY`."""


@dataclass(frozen=True, eq=False)
class Equalities:
    """What became of them, in the order of the file."""

    closures: list[RowOwner] = field(default_factory=list[RowOwner])
    couplers: list[Explicit | Implicit] = field(default_factory=list["Explicit | Implicit"])
    unread: list[Unread] = field(default_factory=list[Unread])


def read_equalities(mj: Any, robot: Robot, tree: CompiledTree, inactive: bool) -> Equalities:
    """Build the equalities.

    Args:
        mj: `mujoco.MjModel`.
        robot: made of the tree.
        tree: where bodies, sites and joints went.
        inactive: whether to build those that the file switches off.
    """
    out = Equalities()
    names: dict[str, int] = {}
    flags = [flag for flag, bit in _OFF.items() if int(mj.opt.disableflags) & bit]
    for e in range(mj.neq):
        kind = int(mj.eq_type[e])
        word = _WORDS[kind] if kind < len(_WORDS) else f"type {kind}"
        wanted = mj.eq(e).name or f"{word} {_objects(mj, tree, e)}".strip()
        names[wanted] = names.get(wanted, 0) + 1
        name = wanted if names[wanted] == 1 else f"{wanted} ({names[wanted]})"
        what = f"{word} equality '{name}'"
        if not inactive and (flags or not mj.eq_active0[e]):
            by = f"<flag {flags[0]}='disable'>" if flags else "active='false'"
            out.unread.append(Unread(what, f"switched off by {by}; load(..., inactive=True) builds it"))
            continue
        with or_unread(out.unread, what):
            if kind == CONNECT:
                one, other = _ends(mj, tree, e, name)
                out.closures.append(PointClosure(robot, other, one, name=name))
            elif kind == WELD:
                _weld(mj, robot, tree, e, name, out)
            elif kind in (JOINT, TENDON):
                side = _of_joint if kind == JOINT else _of_tendon
                left, right = (side(mj, robot, int(i)) for i in (mj.eq_obj1id[e], mj.eq_obj2id[e]))
                out.couplers.append(_coupled(robot, left, right, mj.eq_data[e][:5], name))
            else:
                out.unread.append(Unread(what, "flexible bodies are not built"))
    return out


def _objects(mj: Any, tree: CompiledTree, e: int) -> str:
    """The two objects of an equality, by name."""
    kind, ids = int(mj.eq_type[e]), (int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e]))
    if kind in (CONNECT, WELD):
        if int(mj.eq_objtype[e]) == _SITE:
            return " ".join(mj.site(i).name or f"site_{i}" for i in ids)
        return " ".join(tree.body_names[i] for i in ids)
    if kind == JOINT:
        return " ".join(tree.joint_name(i) for i in ids if i >= 0)
    if kind == TENDON:
        return " ".join(mj.tendon(i).name or f"tendon_{i}" for i in ids if i >= 0)
    return ""


def _ends(mj: Any, tree: CompiledTree, e: int, name: str) -> tuple[Frame, Frame]:
    """The frames on the two objects that a connect or a weld brings together.

    A connect on bodies has its anchor on each, a weld its relative pose (on the first) and its anchor (on the second).
    """
    data, ids = mj.eq_data[e], (int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e]))
    if int(mj.eq_objtype[e]) == _SITE:
        one, other = (tree.frame(tree.sites[i], pin.SE3.Identity(), f"{name}: {mj.site(i).name}") for i in ids)
        return one, other
    if int(mj.eq_type[e]) == CONNECT:
        offsets = (translation(data[0:3]), translation(data[3:6]))
    else:
        offsets = (pose_of(data[3:6], data[6:10]), translation(data[0:3]))
    one, other = (
        tree.frame(tree.bodies[i], offset, f"{name}: {tree.body_names[i]}")
        for i, offset in zip(ids, offsets, strict=True)
    )
    return one, other


def _weld(mj: Any, robot: Robot, tree: CompiledTree, e: int, name: str, out: Equalities) -> None:
    """A weld; one whose torquescale is 0 holds the anchor alone, and its other three rows ask for nothing."""
    one, other = _ends(mj, tree, e, name)
    if float(mj.eq_data[e][10]) != 0.0:
        out.closures.append(Closure(robot, other, one, name=name))
        return
    out.closures.append(PointClosure(robot, other, one, name=name))
    nothing = Constant(np.zeros(3), inputs=robot.space)
    out.couplers.append(Implicit.zero(nothing, name=f"{name}: null rows of torquescale 0"))


_Side = tuple[Vector, float]
"""Weights (nv,) and offset of a linear combination of joint coordinates."""


def _of_joint(mj: Any, robot: Robot, j: int) -> _Side:
    """The coordinate of a joint, less its reference; nothing for no joint."""
    weights = np.zeros(robot.nv)
    if j < 0:
        return weights, 0.0
    weights[mj.jnt_dofadr[j]] = 1.0
    return weights, -float(mj.qpos0[mj.jnt_qposadr[j]])


def _of_tendon(mj: Any, robot: Robot, t: int) -> _Side:
    """The length of a fixed tendon, less that at the reference; nothing for no tendon."""
    weights = np.zeros(robot.nv)
    if t < 0:
        return weights, 0.0
    for w in range(int(mj.tendon_adr[t]), int(mj.tendon_adr[t]) + int(mj.tendon_num[t])):
        if int(mj.wrap_type[w]) != _WRAP_JOINT:
            raise ConstraintError(f"tendon '{mj.tendon(t).name}' is a spatial tendon: only fixed tendons are built")
        weights[mj.jnt_dofadr[mj.wrap_objid[w]]] += float(mj.wrap_prm[w])
    return weights, -float(mj.tendon_length0[t])


def _coupled(robot: Robot, left: _Side, right: _Side, coefficients: Any, name: str) -> Explicit | Implicit:
    r"""The coupling :math:`w_1^T q + b_1 = \sum_k a_k (w_2^T q + b_2)^k`.

    Explicit where the left side is one joint that the right side does not read.
    """
    (w1, b1), (w2, b2) = left, right
    a = np.array(coefficients, dtype=np.float64)
    own = np.flatnonzero(w1)
    if own.size == 1 and w2[own[0]] == 0.0:
        weight = float(w1[own[0]])
        a[0] -= b1
        joint = next(factor.name for factor in robot.space.factors if factor.v.start == own[0])
        if w2.any() and a[1:].any():
            f: Any = Polynomial(a / weight, w2, b2, robot.space, name=name)
        else:
            f = Constant([float(np.polynomial.polynomial.polyval(b2, a)) / weight], Rn(1), robot.space, name=name)
        return Explicit(f, robot.segments(joint), name=name)
    both = Stacked([Affine(w1, [b1], robot.space), Polynomial(a, w2, b2, robot.space)])
    return Implicit.zero(Affine([[1.0, -1.0]]) @ both, name=name)
