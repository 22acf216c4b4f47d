"""Planar mechanisms made in Python: four-bar, five-bar, scissor lift. All move in the plane z = 0."""

from __future__ import annotations

import math

import numpy as np

from liegroups.arguments import finite_number

from ...errors import OptionError
from ...loops import Closure, Hinge
from ...ranges import positive_number, whole_number
from ...robot import Robot
from ...robot.model.pinocchio import pin
from ..structure.mechanism import Mechanism
from ..structure.tree import JointKind, Tree, translation
from .parts import add_bar, closed_at

Z = (0.0, 0.0, 1.0)


def four_bar(
    ground: float = 0.4, crank: float = 0.15, coupler: float = 0.35, rocker: float = 0.3, angle: float = 1.0
) -> Mechanism:
    """A planar four-bar linkage: mobility 1.

    The crank turns about the origin, the rocker about (ground, 0, 0); the coupler is on the crank, and a pin closes
    the loop between its end and that of the rocker. Rows 5, of which the plane makes 3 redundant. With ground =
    coupler and crank = rocker it is a parallelogram, whose rank drops where it is stretched flat.

    Args:
        ground, crank, coupler, rocker: lengths [m].
        angle: of the crank in the posture "closed" [rad]; the rocker is then to the left of the line from the crank's
            end to its own pivot.

    Raises:
        OptionError: lengths that do not close at that angle; or a length that is no positive number.
        DtypeError, NotFiniteError: an angle that is no number.

    Example:
        >>> linkage = four_bar()
        >>> linkage.rows, linkage.mobility(linkage.postures["closed"])
        (5, 1)
    """
    bars = {"ground": ground, "crank": crank, "coupler": coupler, "rocker": rocker}
    g, a, c, r = (positive_number(x, f"{name} of a four-bar") for name, x in bars.items())
    turn = finite_number(angle, "angle of a four-bar")
    tree = Tree("four_bar")
    one = _hinge(tree, 0, (0.0, 0.0, 0.0), "crank", a)
    _hinge(tree, one, (a, 0.0, 0.0), "coupler", c)
    _hinge(tree, 0, (g, 0.0, 0.0), "rocker", r)
    robot = Robot(tree.model)
    elbow = a * np.array([math.cos(turn), math.sin(turn)])
    second, third = _triangle(elbow, np.array([g, 0.0]), c, r, "four-bar")
    closed = robot.configuration({"crank": turn, "coupler": second - turn, "rocker": third})
    return _planar(robot, (("coupler_end", "rocker_end"),), ("crank",), closed)


def five_bar(
    ground: float = 0.3, inner: float = 0.25, outer: float = 0.35, left: float = 2.2, right: float = 0.9
) -> Mechanism:
    """A symmetric planar five-bar linkage, driven at both pivots: mobility 2.

    Each arm has an inner and an outer bar; a pin closes the loop between the ends of the outer ones. Rows 5, of which
    the plane makes 3 redundant.

    Args:
        ground: distance between the pivots, at (-ground/2, 0, 0) and (ground/2, 0, 0) [m].
        inner, outer: lengths [m].
        left, right: angles of the inner bars in the posture "closed" [rad].

    Raises:
        OptionError: lengths that do not close at those angles; or a length that is no positive number.
        DtypeError, NotFiniteError: an angle that is no number.
    """
    bars = {"ground": ground, "inner": inner, "outer": outer}
    g, a, b = (positive_number(x, f"{name} of a five-bar") for name, x in bars.items())
    angles = {side: finite_number(x, f"{side} angle of a five-bar") for side, x in (("left", left), ("right", right))}
    tree = Tree("five_bar")
    elbows: list[np.ndarray] = []
    for side, x in (("left", -g / 2), ("right", g / 2)):
        arm = _hinge(tree, 0, (x, 0.0, 0.0), f"{side}_inner", a)
        _hinge(tree, arm, (a, 0.0, 0.0), f"{side}_outer", b)
        elbows.append(np.array([x + a * math.cos(angles[side]), a * math.sin(angles[side])]))
    robot = Robot(tree.model)
    outward = _triangle(elbows[0], elbows[1], b, b, "five-bar")
    closed = robot.configuration(
        {f"{side}_inner": angles[side] for side in angles}
        | {f"{side}_outer": turn - angles[side] for side, turn in zip(angles, outward, strict=True)}
    )
    return _planar(robot, (("left_outer_end", "right_outer_end"),), ("left_inner", "right_inner"), closed)


def scissor_lift(stages: int = 3, bar: float = 0.6, angle: float = 0.5) -> Mechanism:
    """A scissor lift of n stages in the x-y plane, y up: mobility 1, n loops of three joints each.

    Bar "a" of a stage goes from its left foot to its right top, bar "b" crosses it in the middle, on a pin. The foot
    of the first "a" is at the origin, that of the first "b" on a slide along x. Each further "a" is on the top of the
    "b" below; pins close each "b" to the top of the "a" below. Rows 5 n, rank 2 n, nv 2 n + 1.

    Args:
        stages: n.
        bar: length of the bars [m].
        angle: of the bars above the ground in the posture "closed" [rad].

    Raises:
        OptionError: no stage, or a length that is no positive number.
        DtypeError, NotFiniteError: an angle that is no number.

    Example:
        >>> lift = scissor_lift(4)
        >>> lift.robot.nv, lift.rows, lift.rank(lift.postures["closed"])
        (9, 20, 8)
    """
    n, full = whole_number(stages, "stages of a scissor lift", 1), positive_number(bar, "bar")
    tilt = finite_number(angle, "angle")
    half = 0.5 * full
    tree = Tree("scissor_lift")
    slide = tree.joint(0, JointKind.PRISMATIC, pin.SE3.Identity(), "slide", (1.0, 0.0, 0.0))
    tree.body(slide, pin.SE3.Identity(), "foot", 1.0, inertia=1e-3 * np.eye(3))
    foot, below = "slide", (0, 0.0)
    closures: list[tuple[str, str]] = []
    values = {"slide": full * math.cos(tilt)}
    for i in range(1, n + 1):
        joint, x = below
        a = tree.joint(joint, JointKind.REVOLUTE, translation((x, 0.0, 0.0)), f"a{i}", Z)
        add_bar(tree, a, f"a{i}_top", (0.0, 0.0, 0.0), (full, 0.0, 0.0))
        b = tree.joint(a, JointKind.REVOLUTE, translation((half, 0.0, 0.0)), f"b{i}", Z)
        add_bar(tree, b, f"b{i}_top", (-half, 0.0, 0.0), (half, 0.0, 0.0))
        tree.frame(b, translation((-half, 0.0, 0.0)), f"b{i}_foot")
        closures.append((foot, f"b{i}_foot"))
        # b leans to the left by the same angle: its direction is pi - tilt; a on top of it turns back
        values |= {f"a{i}": tilt if i == 1 else 2.0 * tilt - math.pi, f"b{i}": math.pi - 2.0 * tilt}
        foot, below = f"a{i}_top", (b, half)
    robot = Robot(tree.model)
    return _planar(robot, tuple(closures), ("slide",), robot.configuration(values))


def _hinge(tree: Tree, parent: int, at: tuple[float, float, float], name: str, bar: float) -> int:
    """A hinge about z with a bar along its x axis, whose end is the frame `name + "_end"`."""
    joint = tree.joint(parent, JointKind.REVOLUTE, translation(at), name, Z)
    add_bar(tree, joint, f"{name}_end", (0.0, 0.0, 0.0), (bar, 0.0, 0.0))
    return joint


def _triangle(p: np.ndarray, q: np.ndarray, a: float, b: float, what: str) -> tuple[float, float]:
    """Directions of bars a from p and b from q that meet to the left of the line from p to q [rad]."""
    along = q - p
    distance = float(np.hypot(*along))
    if not abs(a - b) <= distance <= a + b or distance == 0.0:
        raise OptionError(f"lengths of a {what}: bars of {a:g} and {b:g} m do not meet across {distance:.4g} m")
    x = (distance * distance + a * a - b * b) / (2.0 * distance)
    y = math.sqrt(max(a * a - x * x, 0.0))
    line = math.atan2(along[1], along[0])
    return line + math.atan2(y, x), line + math.atan2(y, x - distance)


def _planar(robot: Robot, loops: tuple[tuple[str, str], ...], motors: tuple[str, ...], closed: np.ndarray) -> Mechanism:
    """The mechanism whose loops are closed by pins about z."""
    return closed_at(robot, [Closure(robot, a, b, Hinge.pin(Z), name=f"{a} to {b}") for a, b in loops], motors, closed)
