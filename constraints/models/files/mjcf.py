"""Mechanisms from MJCF files, compiled by MuJoCo (extra `mjcf`)."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ...errors import FileError
from ...exports import from_extra
from ...questions import say
from ...robot import Robot
from ...robot.files.packages import VisualFile, as_folders
from ...robot.files.questions import asked_of_model
from ...robot.files.urdf_graph import refuse_larger
from ...robot.files.xml import read_xml
from ..structure.mechanism import ONLY_JOINTS, Mechanism, Unread, or_unread
from .mjcf_equalities import read_equalities
from .mjcf_forces import mjcf_forces
from .mjcf_tree import CompiledTree, from_qpos as from_qpos, read_tree

_log = logging.getLogger(__package__)
_compiling = threading.Lock()
"""MuJoCo has one place for warnings; it is lent while a file is compiled."""
_JOINT_TRANSMISSIONS = (0, 1)
"""`mjTRN_JOINT` and `mjTRN_JOINTINPARENT`."""
_TRANSMISSIONS = ("a joint", "a joint", "a slider-crank", "a tendon", "a site", "a body")


def mechanism_from_mjcf(
    source: str | os.PathLike[str], inactive: bool = False, packages: Iterable[str | os.PathLike[str]] = ()
) -> Mechanism:
    """A mechanism from an MJCF file: bodies, joints, inertias, sites, keyframes and equalities as MuJoCo compiles them.

    Coordinates are MuJoCo's numbers in MuJoCo's order, but for quaternions, which are xyzw here (`from_qpos`). The
    posture "qpos0" is the reference pose, in which MuJoCo defines anchors; keyframes are the others. Bodies, joints,
    sites and equalities without a name get one.

    connect: a point closure from the second body to the first, so that its rows are MuJoCo's, turned into the second
    body's axes. weld: a locked closure, likewise; its `torquescale` weighs nothing here, but a torquescale of 0 leaves
    a point closure and three null rows. joint, tendon (fixed ones): couplers with their polynomials.

    Geometry, contacts, sensors and what drives a joint are no part of a mechanism; actuators on joints are its motors.
    Springs and dampers of joints, and of tendons between two sites, are laws (`Mechanism.forces`); other tendons, dry
    friction, drives that act by themselves, fluids and `gravcomp` go to `unread`. The flags "equality", "constraint",
    "gravity", "spring" and "damper" of `<option>` count.

    Args:
        source: path, `package://` address, or the XML text itself.
        inactive: build equalities that are switched off too; by default they go to `unread`.
        packages: folders in which packages are looked for.

    Raises:
        FileError: the file is missing, or MuJoCo cannot compile it; the message has its reason.
        MissingExtraError: mujoco is not installed.
    """
    packages = as_folders(packages)
    _, path = read_xml(source, "mujoco", "MJCF", packages)
    mj = compiled(source, path)
    refuse_larger(path, links=int(mj.nbody) + int(mj.nsite), freedoms=int(mj.nv))
    tree = read_tree(mj)
    robot = Robot(tree.tree.model, visuals=[VisualFile.of(source, "MJCF", packages)])
    say(_log, asked_of_model(tree.tree.model), path)
    unread = list(tree.unread)
    postures = _postures(mj, robot, unread)
    equalities = read_equalities(mj, robot, tree, inactive)
    motors = _motors(mj, tree, unread)
    for t in range(mj.ntendon):
        if mj.tendon_limited[t]:
            unread.append(Unread(f"range of tendon '{mj.tendon(t).name or t}'", ONLY_JOINTS))
    acting = mjcf_forces(mj, robot, tree, from_qpos(robot, mj.qpos_spring))
    unread += acting.left_out
    for name, wanted in tree.tree.renamed.items():
        unread.append(Unread(f"name of joint '{wanted}'", f"the name is taken: it is called '{name}' here"))
    return Mechanism(
        robot.with_references(postures),
        tuple(equalities.closures),
        tuple(equalities.couplers),
        motors,
        postures,
        (*equalities.unread, *unread),
        laws=tuple(acting.laws),
    )


def compiled(source: Any, path: str) -> Any:
    """A file as MuJoCo compiles it, a `mujoco.MjModel`; its remarks go to the log.

    Args:
        source: the XML text, where the path ends in " text".
        path: of the file, or how messages call the text.

    Raises:
        FileError: MuJoCo cannot compile it; the message has its reason.
        MissingExtraError: mujoco is not installed.
    """
    mujoco = from_extra("mujoco", "mjcf")

    def remark(said: str) -> None:
        _log.warning("%s: %s", path, said)

    with _compiling:
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(remark)  # instead of a file in the folder
        try:
            if path.endswith(" text"):
                return mujoco.MjModel.from_xml_string(os.fspath(source))
            return mujoco.MjModel.from_xml_path(path)
        except Exception as error:  # of several types, with the reason of MuJoCo's compiler
            raise FileError(path, f"MuJoCo cannot compile it: {error}") from None
        finally:
            mujoco.set_mju_user_warning(before)


def _postures(mj: Any, robot: Robot, unread: list[Unread]) -> dict[str, Vector]:
    postures = {"qpos0": from_qpos(robot, mj.qpos0)}
    for k in range(mj.nkey):
        name = mj.key(k).name or f"key_{k}"
        if name in postures:
            unread.append(Unread(f"keyframe '{name}'", "another posture has this name"))
            continue
        with or_unread(unread, f"keyframe '{name}'"):
            postures[name] = np.array(robot.check(from_qpos(robot, mj.key_qpos[k])))
    return postures


def _motors(mj: Any, tree: CompiledTree, unread: list[Unread]) -> tuple[str, ...]:
    motors: dict[str, None] = {}
    for a in range(mj.nu):
        kind = int(mj.actuator_trntype[a])
        if kind in _JOINT_TRANSMISSIONS:
            motors[tree.joint_name(int(mj.actuator_trnid[a][0]))] = None
        else:
            on = _TRANSMISSIONS[kind] if 0 <= kind < len(_TRANSMISSIONS) else "something else"
            unread.append(
                Unread(f"actuator '{mj.actuator(a).name or a}'", f"it drives {on}, but a motor must be a joint")
            )
    return tuple(motors)
