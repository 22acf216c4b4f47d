"""Spatial mechanisms made in Python: slider-crank, Stewart-Gough platform, delta robot, Bennett linkage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from liegroups.arguments import expect, finite_number
from liegroups.arrays import ArrayLike, Vector

from ...errors import OptionError
from ...loops import Closure, PointClosure, RodClosure
from ...ranges import positive_number
from ...robot import Robot
from ...robot.model.pinocchio import pin
from ...robot.placement import as_placement, pose_vector
from ..structure.mechanism import Mechanism
from ..structure.tree import JointKind, JointLimits, Tree, rotation_about, translation
from .parts import add_bar, closed_at

X, Y, Z = np.eye(3)


def slider_crank(crank: float = 0.1, rod: float = 0.4, offset: float = 0.05, angle: float = 0.7) -> Mechanism:
    """A spatial slider-crank: mobility 1.

    The crank turns about z at the origin. The rod is on its end by a universal joint (about x, then y) and on the
    slider by a ball joint, which closes the loop. The slider moves along x at y = 0, z = offset. Rows 3, rank 3, nv 4.

    Args:
        crank, rod: lengths [m].
        offset: of the line of the slider from the plane of the crank [m].
        angle: of the crank in the posture "closed" [rad]; the slider is then on the side of positive x.

    Raises:
        OptionError: a rod that does not reach the line; or a length that is no positive number.
        DtypeError, NotFiniteError: an angle that is no number.
    """
    a, b = positive_number(crank, "crank of a slider-crank"), positive_number(rod, "rod of a slider-crank")
    z, turn = finite_number(offset, "offset of a slider-crank"), finite_number(angle, "angle of a slider-crank")
    tree = Tree("slider_crank")
    j = tree.joint(0, JointKind.REVOLUTE, pin.SE3.Identity(), "crank", Z)
    add_bar(tree, j, "crank_end", (0, 0, 0), (a, 0, 0))
    j = tree.joint(j, JointKind.UNIVERSAL, translation((a, 0, 0)), "rod", X, second=Y)
    add_bar(tree, j, "rod_end", (0, 0, 0), (0, 0, b))
    j = tree.joint(0, JointKind.PRISMATIC, translation((0, 0, z)), "slider", X)
    tree.body(j, pin.SE3.Identity(), "slider_body", 0.5, inertia=5e-4 * np.eye(3))
    robot = Robot(tree.model)
    end = a * np.array([math.cos(turn), math.sin(turn), 0.0])
    square = b * b - end[1] ** 2 - z * z
    if square < 0.0:
        raise OptionError(f"rod of a slider-crank: {b:g} m do not reach the line of the slider from the crank's end")
    x = end[0] + math.sqrt(square)
    aim = rotation_about(Z, -turn).rotation @ (np.array([x, 0.0, z]) - end)
    closed = robot.configuration({"crank": turn, "rod": _universal(aim), "slider": x})
    closure = PointClosure(robot, "slider", "rod_end", name="rod to slider")
    return closed_at(robot, [closure], ("crank",), closed)


def stewart_platform(
    base_radius: float = 0.5, platform_radius: float = 0.3, spread: float = 0.3, height: float = 0.5
) -> Mechanism:
    """A Stewart-Gough platform, six legs that change their length: mobility 6.

    The joint "platform" is a free-flyer. Leg i is on the base by the universal joint "leg{i}" (about x, then y) and
    has the prismatic joint "length{i}", whose coordinate is its length; ball joints to the platform close the loops.
    Rows 18, rank 18, nv 24. `leg_lengths` solves the inverse kinematics; motors are the prismatic joints.

    Args:
        base_radius, platform_radius: of the circles on which the joints are [m].
        spread: half the angle between the two joints of a pair [rad]; pairs of the base face gaps of the platform.
        height: of the platform in the posture "closed" [m].

    Raises:
        OptionError: a length that is no positive number.
        DtypeError, NotFiniteError: an angle that is no number.

    Example:
        >>> platform = stewart_platform()
        >>> platform.mobility(platform.postures["closed"])
        6
    """
    R, r = positive_number(base_radius, "base_radius"), positive_number(platform_radius, "platform_radius")
    s, h = finite_number(spread, "spread of a Stewart-Gough platform"), positive_number(height, "height")
    tree = Tree("stewart_platform")
    top = tree.joint(0, JointKind.FREE, pin.SE3.Identity(), "platform")
    tree.body(top, pin.SE3.Identity(), "platform_body", 5.0, inertia=5.0 * r * r * np.diag([0.25, 0.25, 0.5]))
    closures: list[tuple[str, str]] = []
    for i in range(6):
        pair, side = 2.0 * math.pi / 3.0 * (i // 2), 1.0 if i % 2 else -1.0
        base = _on_circle(R, pair + side * s)
        anchor = _on_circle(r, pair + side * (math.pi / 3.0 - s))
        tree.frame(top, translation(anchor), f"anchor{i + 1}")
        j = tree.joint(0, JointKind.UNIVERSAL, translation(base), f"leg{i + 1}", X, second=Y)
        add_bar(tree, j, f"leg{i + 1}_tube", (0, 0, 0), (0, 0, 0.5 * h))
        j = tree.joint(j, JointKind.PRISMATIC, pin.SE3.Identity(), f"length{i + 1}", Z, limits=JointLimits(lower=0.0))
        add_bar(tree, j, f"leg{i + 1}_foot", (0, 0, -0.5 * h), (0, 0, 0))
        tree.frame(j, pin.SE3.Identity(), f"leg{i + 1}_end")
        closures.append((f"anchor{i + 1}", f"leg{i + 1}_end"))
    robot = Robot(tree.model)
    balls = [PointClosure(robot, a, b, name=f"{b} to {a}") for a, b in closures]
    closed = _stewart_posture(robot, translation((0.0, 0.0, h)))
    return closed_at(robot, balls, tuple(f"length{i + 1}" for i in range(6)), closed)


def stewart_posture(platform: Mechanism, placement: object) -> Vector:
    """Inverse kinematics of `stewart_platform`: the closed configuration (nq,) with the platform at a placement.

    Args:
        platform: the mechanism.
        placement: of the platform in the world (`pinocchio.SE3`, 4 x 4, or seven numbers).

    Raises:
        UnknownJointError: another mechanism.
        SizeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with the placement; no mechanism.
    """
    platform = expect(platform, Mechanism, "platform of a posture")
    return _stewart_posture(platform.robot, as_placement(placement, "placement of the platform"))


def _stewart_posture(robot: Robot, oMp: Any) -> Vector:
    values: dict[str, Any] = {"platform": pose_vector(oMp)}
    for i in range(1, 7):
        base = np.array(robot.model.jointPlacements[robot.joint_index(f"leg{i}")].translation)
        aim = oMp.act(np.array(robot.frame(f"anchor{i}").placement.translation)) - base
        values[f"leg{i}"] = _universal(aim)
        values[f"length{i}"] = float(np.sqrt(aim @ aim))
    return robot.configuration(values)


def delta_robot(
    base_radius: float = 0.2,
    platform_radius: float = 0.06,
    arm: float = 0.25,
    forearm: float = 0.5,
    width: float = 0.08,
    angle: float = 0.4,
) -> Mechanism:
    """A delta robot (Clavel): three arms, each with a parallelogram of two rods to the platform: mobility 3.

    The joint "platform" is a free-flyer below the base; the rods are rod closures, of one row each, and keep it level.
    Rows 6, rank 6, nv 9. Arm i turns downwards with its joint "arm{i}".

    Args:
        base_radius, platform_radius: distance of the motors and of the platform's edges from the axis [m].
        arm, forearm: lengths of the arms and of the rods [m].
        width: of the parallelograms [m].
        angle: of the arms below the horizontal in the posture "closed" [rad].

    Raises:
        OptionError: rods that do not reach; or a length that is no positive number.
        DtypeError, NotFiniteError: an angle that is no number.

    Example:
        >>> delta = delta_robot()
        >>> delta.rows, delta.mobility(delta.postures["closed"])
        (6, 3)
    """
    sizes = {"base_radius": base_radius, "platform_radius": platform_radius, "arm": arm, "forearm": forearm}
    R, r, a, b = (positive_number(x, f"{name} of a delta robot") for name, x in sizes.items())
    w, turn = positive_number(width, "width of a delta robot"), finite_number(angle, "angle of a delta robot")
    tree = Tree("delta_robot")
    top = tree.joint(0, JointKind.FREE, pin.SE3.Identity(), "platform")
    tree.body(top, pin.SE3.Identity(), "platform_body", 0.5, inertia=0.5 * r * r * np.diag([0.25, 0.25, 0.5]))
    rods: list[tuple[str, str]] = []
    for i in range(1, 4):
        outward = rotation_about(Z, 2.0 * math.pi / 3.0 * (i - 1))
        j = tree.joint(0, JointKind.REVOLUTE, outward * translation((R, 0, 0)), f"arm{i}", Y)
        add_bar(tree, j, f"elbow{i}", (0, 0, 0), (a, 0, 0))
        for side, y in (("left", 0.5 * w), ("right", -0.5 * w)):
            rods.append((f"elbow{i}_{side}", f"ankle{i}_{side}"))
            tree.frame(j, translation((a, y, 0)), rods[-1][0])
            tree.frame(top, outward * translation((r, y, 0)), rods[-1][1])
    robot = Robot(tree.model)
    across = R + a * math.cos(turn) - r
    if abs(across) >= b:
        raise OptionError(f"forearm of a delta robot: {b:g} m do not reach the platform, {abs(across):.4g} m away")
    z = -a * math.sin(turn) - math.sqrt(b * b - across * across)
    values: dict[str, Any] = {f"arm{i}": turn for i in range(1, 4)}
    closed = robot.configuration(values | {"platform": translation((0.0, 0.0, z))})
    closures = [RodClosure(robot, e, k, b, name=f"rod {e[5:]}") for e, k in rods]
    return closed_at(robot, closures, ("arm1", "arm2", "arm3"), closed)


def bennett(a: float = 0.3, alpha: float = 0.6, beta: float = 1.2, angle: float = 1.0) -> Mechanism:
    r"""A Bennett linkage: four hinges in space, mobility 1 although counting gives -2.

    Opposite bars are equal: lengths a and b, twists alpha and beta, with :math:`a \sin\beta = b \sin\alpha`. Four
    hinges "hinge1" to "hinge4" in a row, and a locked closure from the last bar to the ground. Rows 6; rank 4 where it
    is open, 3 where it is closed.

    .. math:: \prod_{i=1}^{4} R_z(\theta_i)\, T_x(a_i)\, R_x(\alpha_i) = I, \quad \theta_3 = -\theta_1, \;
        \theta_4 = -\theta_2, \quad
        \tan\tfrac{\theta_1}{2} \tan\tfrac{\theta_2}{2} = \frac{\sin\frac{\beta+\alpha}{2}}{\sin\frac{\beta-\alpha}{2}}

    Args:
        a: length of the first bar [m]; the other one follows.
        alpha, beta: twists of the first and of the second bar [rad]; different, neither a multiple of pi.
        angle: of the first hinge in the posture "closed" [rad], no multiple of 2 pi.

    Raises:
        OptionError: twists with which it does not close; or a length that is no positive number.
        DtypeError, NotFiniteError: an angle that is no number.

    Source: G. T. Bennett, A new mechanism, Engineering 76, 1903.
    """
    one, u, v = positive_number(a, "a of a Bennett linkage"), finite_number(alpha, "alpha"), finite_number(beta, "beta")
    turn = finite_number(angle, "angle of a Bennett linkage")
    if min(abs(math.sin(u)), abs(math.sin(v)), abs(math.sin(0.5 * (v - u))), abs(math.sin(0.5 * turn))) < 1e-6:
        raise OptionError(
            "a Bennett linkage needs different twists that are not multiples of pi, and an angle that is not 0"
        )
    two = one * math.sin(v) / math.sin(u)
    if two <= 0.0:
        raise OptionError("a Bennett linkage needs sin(alpha) and sin(beta) with the same sign")
    tree, joint, placement = Tree("bennett"), 0, pin.SE3.Identity()
    for i, (bar, twist) in enumerate(((one, u), (two, v), (one, u), (two, v)), 1):
        joint = tree.joint(joint, JointKind.REVOLUTE, placement, f"hinge{i}", Z)
        add_bar(tree, joint, f"bar{i}_end", (0, 0, 0), (bar, 0, 0))
        placement = translation((bar, 0, 0)) * rotation_about(X, twist)
    tree.frame(joint, placement, "last")
    robot = Robot(tree.model)
    other = 2.0 * math.atan2(
        math.sin(0.5 * (v + u)) * math.cos(0.5 * turn), math.sin(0.5 * (v - u)) * math.sin(0.5 * turn)
    )
    closed = robot.configuration({"hinge1": turn, "hinge2": other, "hinge3": -turn, "hinge4": -other})
    closure = Closure(robot, "universe", "last", name="last bar to ground")
    return closed_at(robot, [closure], ("hinge1",), closed)


def _on_circle(radius: float, angle: float) -> Vector:
    return np.array([radius * math.cos(angle), radius * math.sin(angle), 0.0])


def _universal(aim: ArrayLike) -> Vector:
    """Angles (about x, then y) that turn the z axis to a direction (3,)."""
    x, y, z = np.asarray(aim, dtype=np.float64)
    return np.array([math.atan2(-y, z), math.atan2(x, math.hypot(y, z))])
