"""Geometry as formulas: against closed forms, scipy and plain pinocchio, at bad places, solved from random starts."""

from __future__ import annotations

from collections.abc import Callable
from math import acos, pi
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from robots import arm, two_arms
from samples import placement
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation as Turn

from constraints import Base, Bounds, Function, Implicit, Position, Problem, Projector, Robot, Rotation
from constraints.errors import (
    ConstraintError,
    NotNormalizedError,
    OptionError,
    SizeError,
    UndefinedError,
    WrongObjectError,
)
from constraints.functions import (
    AngleAbout,
    Identity,
    across,
    curve,
    direction,
    dot,
    gaze,
    in_polygon,
    in_view,
    norm,
    off_segment,
    stack,
    wrapped,
)
from constraints.solvers import why_not
from liegroups import Rn

ARM, BOTH = arm(), two_arms()
TOOL = Position(ARM, "tool")
X: Any = Identity(Rn(3))
"""A point that is given as it is."""
POINTS = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 3))
FREE = Robot.from_urdf("<robot name='o'><link name='o'/></robot>", base=Base.FREE_FLYER)
"""One body in space: its pose is q."""


def turned(R: Any, p: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    return pin.SE3ToXYZQUAT(pin.SE3(np.asarray(R, dtype=np.float64), np.asarray(p, dtype=np.float64)))


# --- values against other code ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", ["x", "-z", [0.6, 0.0, -0.8]])
@pytest.mark.parametrize("reference", [None, "left_elbow", placement(3)])
def test_directions_are_columns_of_rotations(axis: Any, reference: Any) -> None:
    f = direction(BOTH, "right_tool", axis, reference)
    u = {"x": [1.0, 0.0, 0.0], "-z": [0.0, 0.0, -1.0]}.get(axis) if isinstance(axis, str) else axis
    for seed in range(5):
        q = BOTH.random(np.random.default_rng(seed))
        posture = BOTH.at(q)
        oMa: Any = pin.SE3.Identity() if reference is None else reference
        oMa = posture.placement(reference) if isinstance(reference, str) else oMa
        expected = (oMa.inverse() * posture.placement("right_tool")).rotation @ np.asarray(u)
        np.testing.assert_allclose(f.value(q), expected, atol=1e-14)


@pytest.mark.parametrize("axis", [[0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [-1.0, 0.0, 0.0], [0.36, 0.48, 0.8]])
@pytest.mark.parametrize("angle", [0.0, 1e-12, -1e-8, 1e-4, 1.0, -2.5, 3.1, pi - 1e-8, -(pi - 1e-8)])
@pytest.mark.parametrize("tilt", [0.0, 1e-9, 0.7, 3.0])
def test_angles_are_those_of_a_turn_then_a_tilt_across(axis: list[float], angle: float, tilt: float) -> None:
    u = np.array(axis)
    beside = np.linalg.svd(u[None])[2][1]
    R = Turn.from_rotvec(tilt * beside) * Turn.from_rotvec(angle * u)
    q = turned(R.as_matrix())
    f = AngleAbout(FREE, "o", axis)
    found = f.value(q)[0]
    near = 1.0 + np.cos(tilt)
    np.testing.assert_allclose(f.jacobian(q), f.written.jacobian(q), atol=1e-14 / near**2)
    twist = R.as_quat()
    by_quaternion = 2.0 * np.arctan2(twist[:3] @ u, twist[3])
    assert abs((found - angle + pi) % (2.0 * pi) - pi) < 1e-12 / max(1e-3, near)
    assert abs((found - by_quaternion + pi) % (2.0 * pi) - pi) < 1e-11


def test_an_angle_about_an_axis_that_is_turned_over_has_no_value() -> None:
    q = turned(np.diag([1.0, -1.0, -1.0]))
    with pytest.raises(UndefinedError):
        AngleAbout(FREE, "o", "z").value(q)
    assert np.isfinite(AngleAbout(FREE, "o", "x").jacobian(turned(np.eye(3)))).all()


@pytest.mark.parametrize("turns", [-3, -1, 0, 1, 4])
@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-3, 1.0, -3.1])
def test_wrapped_angles_differ_by_whole_turns(turns: int, off: float) -> None:
    f = wrapped(Identity(Rn(1)))
    found, J = f.linearise([2.0 * pi * turns + off])
    np.testing.assert_allclose(found, [off], atol=1e-14 * (1 + 8 * abs(turns)))
    np.testing.assert_allclose(J, [[1.0]], atol=1e-14)


@pytest.mark.parametrize("turns", [0, 1, -7])
def test_a_screw_holds_for_all_its_turns(turns: int) -> None:
    """A body on a thread of 5 mm a turn, about a tilted axis: on it everywhere, off it by what it slips."""
    oMa, pitch = placement(5), 0.005
    f = wrapped(2 * pi / pitch * Position(FREE, "o", oMa)[2] - AngleAbout(FREE, "o", "z", oMa))
    for angle in np.linspace(-6.0, 6.0, 7) + 2 * pi * turns:
        for slip in (0.0, 0.4e-3, -1.1e-3):
            on = pin.SE3(
                Turn.from_rotvec([0.0, 0.0, angle]).as_matrix(), np.array([0.1, 0.2, pitch * angle / (2 * pi) + slip])
            )
            value = f.value(pin.SE3ToXYZQUAT(oMa * on))[0] * pitch / (2 * pi)
            assert value == pytest.approx(slip, abs=1e-12)


def test_gears_mesh_whatever_turn_their_angles_are_in() -> None:
    first, second = (AngleAbout(BOTH, frame, "z", reference) for frame, reference in PAIRS)
    f = wrapped(17 * first + 23 * second)
    q = BOTH.random(np.random.default_rng(4))
    a, b = first.value(q)[0], second.value(q)[0]
    for j, k in ((0, 0), (1, -2), (5, 3)):
        phase = 17 * (a + 2 * pi * j) + 23 * (b + 2 * pi * k)
        assert abs(np.exp(1j * phase) - np.exp(1j * f.value(q)[0])) < 1e-12


PAIRS = (("left_tool", "left_wrist_pitch"), ("right_tool", "right_wrist_pitch"))


@pytest.mark.parametrize("axis", ["x", "y", "-z", [0.36, -0.48, 0.8]])
def test_parts_across_an_axis_are_distances_from_lines(axis: Any) -> None:
    f, g = across(X - [0.1, 0.2, 0.3], axis), norm(across(X - [0.1, 0.2, 0.3], axis)) - 0.25
    u = (
        np.eye(3)["xyz".index(axis[-1])] * (-1.0 if axis[0] == "-" else 1.0)
        if isinstance(axis, str)
        else np.array(axis)
    )
    for p in POINTS:
        away = np.linalg.norm(np.cross(p - [0.1, 0.2, 0.3], u))
        assert np.linalg.norm(f.value(p)) == pytest.approx(away, abs=1e-14)
        assert g.value(p)[0] == pytest.approx(away - 0.25, abs=1e-14)
    assert np.linalg.matrix_rank(f.jacobian(np.array([0.1, 0.2, 0.3]))) == 2
    e1, e2 = f.jacobian(POINTS[0])
    np.testing.assert_allclose(np.cross(e1, e2), u, atol=1e-15)
    with pytest.raises(UndefinedError):
        g.value([0.1, 0.2, 0.3])


def test_ways_from_segments_are_the_shortest() -> None:
    a, b = np.array([0.1, -0.2, 0.0]), np.array([0.3, 0.5, 0.4])
    f, moving = off_segment(X, a, b), off_segment(X, 1.0 * X[[0, 1, 2]] + a, b)
    for p in POINTS:
        nearest = minimize_scalar(
            lambda t, p=p: np.linalg.norm(p - a - t * (b - a)), bounds=(0.0, 1.0), method="bounded"
        )
        expected = p - a - nearest.x * (b - a)
        np.testing.assert_allclose(f.value(p), expected, atol=1e-5)  # of the search
        assert np.linalg.norm(f.value(p)) <= np.linalg.norm(expected) + 1e-15
        way = (np.clip(-a @ (b - a - p) / ((b - a - p) @ (b - a - p)), 0.0, 1.0)) * (b - a - p)
        np.testing.assert_allclose(moving.value(p), -a - way, atol=1e-13)
    for t, rank in ((-0.5, 3), (0.5, 2), (1.5, 3)):
        assert np.linalg.matrix_rank(f.jacobian(a + t * (b - a)), tol=1e-9) == rank
    np.testing.assert_allclose(f.value(a + 0.3 * (b - a)), 0.0, atol=1e-16)


@pytest.mark.parametrize("backwards", [False, True])
def test_polygons_are_their_half_planes(backwards: bool) -> None:
    corners = np.array([[0.0, 0.0], [0.4, 0.1], [0.5, 0.6], [0.1, 0.3]])[:: -1 if backwards else 1]
    hull = ConvexHull(corners)
    for f in (in_polygon(X, corners), in_polygon(Identity(Rn(2)), corners)):
        for p in POINTS:
            value = f.value(p[: f.inputs.nq])
            expected = -(hull.equations[:, :2] @ p[:2] + hull.equations[:, 2])
            np.testing.assert_allclose(sorted(value), sorted(expected), atol=1e-14)


@pytest.mark.parametrize("half_angle", [0.2, pi / 2, 2.5])
def test_a_gaze_sees_what_is_in_its_cone(half_angle: float) -> None:
    u = np.array([0.0, 0.6, 0.8])
    f = gaze(X, u, half_angle)
    for p in (*POINTS, *(-u * 0.5, u * 0.5)):
        angle = acos(np.clip(u @ p / np.linalg.norm(p), -1.0, 1.0))
        assert f.value(p)[0] == pytest.approx(np.linalg.norm(p) * (np.cos(angle) - np.cos(half_angle)), abs=1e-15)
        assert (f.value(p)[0] >= 0.0) == (angle <= half_angle)
    assert np.linalg.norm(f.jacobian(u)) > 1e-2  # on the axis too
    with pytest.raises(UndefinedError):
        f.value([0.0, 0.0, 0.0])


def test_a_view_sees_what_its_picture_shows() -> None:
    f = in_view(X, [0.5, 0.3], axis="x", right="-y")
    for p in (*POINTS, np.array([1.0, 0.0, 0.0]), np.array([-1.0, 0.1, 0.0])):
        right, down, ahead = -p[1], np.cross([1.0, 0.0, 0.0], [0.0, -1.0, 0.0]) @ p, p[0]
        seen = ahead > 0.0 and abs(right / ahead) <= np.tan(0.5) and abs(down / ahead) <= np.tan(0.3)
        assert (f.value(p) >= 0.0).all() == seen
    np.testing.assert_allclose(f.value([0.0, 0.0, 0.0]), 0.0)
    side = np.array([np.cos(0.5), -np.sin(0.5), 0.0])  # on the right side of the picture
    assert f.value(side)[0] == pytest.approx(0.0, abs=1e-16)
    assert f.value(side + 0.1 * np.array([np.sin(0.5), np.cos(0.5), 0.0]))[0] == pytest.approx(0.1)


@pytest.mark.parametrize("n", [4, 5, 9, 20])
@pytest.mark.parametrize("even", [True, False])
def test_curves_are_splines_of_scipy(n: int, even: bool) -> None:
    rng = np.random.default_rng(n)
    points, at = (
        rng.normal(size=(n, 3)),
        np.linspace(0.0, 1.0, n) if even else np.cumsum(rng.uniform(0.2, 1.0, n)) - 3.0,
    )
    f, spline = curve(Identity(Rn(1)), points, None if even else at), CubicSpline(at, points)
    for s in (*at, *rng.uniform(at[0] - 0.1, at[-1] + 0.1, 20)):
        value, J = f.linearise([s])
        np.testing.assert_allclose(value, spline(s), atol=1e-12 * np.abs(spline.c).max())
        np.testing.assert_allclose(J[:, 0], spline(s, 1), atol=1e-11 * np.abs(spline.c).max())


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: direction(ARM, "tool", [0.0, 0.0, 2.0]), NotNormalizedError, "axis of a direction"),
        (lambda: across(Rotation(ARM, "tool"), "z"), SizeError, "vector of a part across"),
        (lambda: across(TOOL[:2], "z"), SizeError, "vector of a part across"),
        (lambda: wrapped(1.0), WrongObjectError, "angles that are wrapped"),  # pyright: ignore[reportArgumentType]
        (lambda: off_segment(TOOL, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]), OptionError, "segment"),
        (lambda: off_segment(TOOL, [0.0, 0.0], [0.0, 0.0, 1.0]), SizeError, "start"),
        (lambda: off_segment(TOOL, TOOL[:2], [0.0, 0.0, 1.0]), SizeError, "start of a segment"),
        (lambda: in_polygon(TOOL, [[0, 0], [1, 0]]), SizeError, "vertices of a polygon"),
        (lambda: in_polygon(TOOL, [[0, 0], [1, 0], [2, 0]]), OptionError, "flat"),
        (lambda: in_polygon(TOOL, [[0, 0], [2, 0], [1, 0.5], [1, 2]]), OptionError, "turns inwards"),
        (lambda: in_polygon(TOOL, [[0, 0], [1, 0], [1, 0], [0, 1]]), OptionError, "two vertices at one point"),
        (lambda: in_polygon(TOOL, PENTAGRAM), OptionError, "goes round twice"),
        (lambda: gaze(TOOL, "z", 0.0), OptionError, "half angle of a gaze"),
        (lambda: gaze(TOOL, "z", 3.2), OptionError, "half angle of a gaze"),
        (lambda: in_view(TOOL, [0.5, 1.6]), OptionError, "half angle of a view"),
        (lambda: in_view(TOOL, [0.5, 0.5], "z", "z"), OptionError, "right of a view"),
        (lambda: curve(TOOL, np.eye(4)), SizeError, "parameter of a curve"),
        (lambda: curve(TOOL[0], np.eye(3)), SizeError, "points of a curve"),
        (lambda: curve(TOOL[0], np.eye(4), [0.0, 1.0, 1.0, 2.0]), OptionError, "increasing"),
        (lambda: curve(TOOL[0], np.eye(4), [0.0, 1.0]), SizeError, "parameters of a curve"),
        (lambda: curve(TOOL[0], "abc"), ConstraintError, "points of a curve"),
    ],
)
def test_what_does_not_fit_is_named(make: Callable[[], Function], error: type[ConstraintError], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


PENTAGRAM = [[np.cos(2 * pi * 2 * k / 5), np.sin(2 * pi * 2 * k / 5)] for k in range(5)]


# --- solved from random starts ---------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A problem, and what must hold of its solutions, by plain pinocchio.

    Attributes:
        where: a robot or a space.
        constraints: of the problem.
        holds: of placements by frame, and q.
        bounds: others than the robot's.
    """

    where: Any
    constraints: list[Implicit]
    holds: Callable[[Callable[[str], Any], np.ndarray], Any]
    bounds: Any = None


SPACE = ARM.space * Rn(1)
ANGLES = np.linspace(0.0, 2.0 * pi, 13)
CIRCLE = np.stack((0.4 + 0.15 * np.cos(ANGLES), 0.15 * np.sin(ANGLES), np.full(13, 0.3)), axis=1)
NEAR = 1e-3
"""Of distances and angles that are held to the threshold of the solver."""


def _away(point: Any, line: Any, axis: Any) -> float:
    return float(np.linalg.norm(np.cross(point - np.asarray(line), axis)))


def _on_curve(at: Callable[[str], Any], q: np.ndarray) -> bool:
    spline = CubicSpline(np.linspace(0.0, 1.0, 13), CIRCLE)
    return 0.0 <= q[-1] <= 1.0 and bool(np.linalg.norm(at("tool").translation - spline(q[-1])) < NEAR)


def _bounded() -> Bounds:
    low, high = ARM.bounds.lower, ARM.bounds.upper
    return Bounds(SPACE, np.append(low, 0.0), np.append(high, 1.0))


RIGHT = Position(BOTH, "right_tool", reference="left_tool")
OPPOSITE, HALF_BOX = np.array([0.0, 0.0, 1.0]), np.array([0.1, 0.1, 0.075])
TRIANGLE = [[0.2, 0.0], [0.5, -0.1], [0.4, 0.3]]
SOLVED: dict[str, Case] = {
    "point on a line": Case(
        ARM, [Implicit.zero(across(TOOL - [0.4, 0.1, 0.0], [0.0, 0.6, 0.8]))],
        lambda at, q: _away(at("tool").translation, [0.4, 0.1, 0.0], [0.0, 0.6, 0.8]) < NEAR,
    ),
    "point on a segment": Case(
        ARM, [Implicit.zero(off_segment(TOOL, [0.4, -0.1, 0.3], [0.4, 0.2, 0.3]))],
        lambda at, q: np.abs(at("tool").translation[[0, 2]] - [0.4, 0.3]).max() < NEAR
        and -0.1 - NEAR <= at("tool").translation[1] <= 0.2 + NEAR,
    ),
    "point on a plane": Case(
        ARM, [Implicit.zero(dot([0.6, 0.0, 0.8], TOOL) - 0.3)],
        lambda at, q: abs(at("tool").translation @ [0.6, 0.0, 0.8] - 0.3) < NEAR,
    ),
    "point on a cylinder": Case(
        ARM, [Implicit.zero(norm(across(TOOL - [0.5, 0.0, 0.0], "z")) - 0.15)],
        lambda at, q: abs(_away(at("tool").translation, [0.5, 0.0, 0.0], [0.0, 0.0, 1.0]) - 0.15) < NEAR,
    ),
    "point on a sphere": Case(
        ARM, [Implicit.zero(norm(TOOL - [0.4, 0.0, 0.4]) - 0.2)],
        lambda at, q: abs(np.linalg.norm(at("tool").translation - [0.4, 0.0, 0.4]) - 0.2) < NEAR,
    ),
    "clear of a capsule": Case(
        ARM, [
            Implicit.equal(TOOL, [0.4, 0.2, 0.4]),
            Implicit.above(norm(off_segment(Position(ARM, "elbow"), [0.0, 0.3, 0.0], [0.0, 0.3, 1.0])) - 0.1, 0.05),
        ],
        lambda at, q: np.linalg.norm(at("tool").translation - [0.4, 0.2, 0.4]) < NEAR
        and np.hypot(*(at("elbow").translation[:2] - [0.0, 0.3])) > 0.15 - NEAR,
    ),
    "axes parallel": Case(
        ARM, [Implicit.zero(direction(ARM, "tool", "z") - [0.0, 0.6, -0.8])],
        lambda at, q: np.linalg.norm(at("tool").rotation[:, 2] - [0.0, 0.6, -0.8]) < NEAR,
    ),
    "axes opposite, of two frames that move": Case(
        BOTH, [Implicit.zero(direction(BOTH, "right_tool", "z", reference="left_tool") + OPPOSITE)],
        lambda at, q: np.linalg.norm(at("right_tool").rotation[:, 2] + at("left_tool").rotation[:, 2]) < NEAR,
    ),
    "axes along one line, either way": Case(
        ARM, [Implicit.zero(across(direction(ARM, "tool", "x"), "y"))],
        lambda at, q: abs(abs(at("tool").rotation[1, 0]) - 1.0) < NEAR,
    ),
    "axis in a cone": Case(
        ARM, [Implicit.above(dot(direction(ARM, "tool", "z"), [0.0, 0.0, -1.0]), np.cos(0.2))],
        lambda at, q: acos(np.clip(-at("tool").rotation[2, 2], -1.0, 1.0)) < 0.2 + NEAR,
    ),
    "gaze": Case(
        BOTH, [Implicit.above(gaze(RIGHT, "z", 0.2), 0.0), Implicit.above(RIGHT[2], 0.1)],
        lambda at, q: acos(
            np.clip((p := at("left_tool").actInv(at("right_tool").translation))[2] / np.linalg.norm(p), -1.0, 1.0)
        ) < 0.2 + 1e-2,
    ),
    "looking exactly at a point": Case(
        ARM, [
            Implicit.zero(across(Position(ARM, "universe", reference="tool"), "z")),
            Implicit.above(Position(ARM, "universe", reference="tool")[2], 0.2),
        ],
        lambda at, q: np.linalg.norm((p := at("tool").inverse().translation)[:2]) < NEAR and p[2] > 0.2 - NEAR,
    ),
    "field of view": Case(
        BOTH, [Implicit.above(in_view(RIGHT, [0.3, 0.2]), 0.01)],
        lambda at, q: (p := at("left_tool").actInv(at("right_tool").translation))[2] > 0.0
        and abs(p[0]) < np.tan(0.3) * p[2] and abs(p[1]) < np.tan(0.2) * p[2],
    ),
    "in a prism": Case(
        ARM, [Implicit.above(stack(in_polygon(TOOL, TRIANGLE), TOOL[2] - 0.2, 0.4 - TOOL[2]))],
        lambda at, q: 0.2 - NEAR < at("tool").translation[2] < 0.4 + NEAR
        and (ConvexHull(TRIANGLE).equations @ [*at("tool").translation[:2], 1.0]).max() < NEAR,
    ),
    "in a box of another frame": Case(
        BOTH, [Implicit.between(RIGHT, [-0.1, -0.1, 0.05], [0.1, 0.1, 0.2])],
        lambda at, q: bool(
            (np.abs(at("left_tool").actInv(at("right_tool").translation) - [0, 0, 0.125]) < HALF_BOX + NEAR).all()
        ),
    ),
    "screw": Case(
        ARM, [Implicit.zero(wrapped(2 * pi / 0.05 * TOOL[2] - AngleAbout(ARM, "tool", "z")))],
        lambda at, q: abs(
            np.exp(2j * pi / 0.05 * at("tool").translation[2])
            - np.exp(1j * _twist(at("tool").rotation))
        ) < 5 * NEAR,
    ),
    "gears": Case(
        BOTH, [Implicit.equal(wrapped(2 * AngleAbout(BOTH, *PAIRS[0][:1], "z", PAIRS[0][1]) + 3 * AngleAbout(
            BOTH, PAIRS[1][0], "z", PAIRS[1][1])), [0.4])],
        lambda at, q: abs(
            np.exp(1j * (2 * _twist(_seen(at, *PAIRS[0])) + 3 * _twist(_seen(at, *PAIRS[1])))) - np.exp(0.4j)
        ) < NEAR,
    ),
    "point on a curve, with its parameter": Case(
        SPACE, [Implicit.zero(TOOL.on(SPACE) - curve(Identity(Rn(1)).on(SPACE), CIRCLE))], _on_curve, _bounded()
    ),
}  # fmt: skip


def _twist(R: np.ndarray) -> float:
    _, _, z, w = Turn.from_matrix(R).as_quat()
    return 2.0 * float(np.arctan2(z, w))


def _seen(at: Callable[[str], Any], b: str, a: str) -> np.ndarray:
    return at(a).rotation.T @ at(b).rotation


@draws(3, 200)
@pytest.mark.parametrize("engine", ["readable", "compiled"])
@pytest.mark.parametrize("name", SOLVED)
def test_problems_are_solved_from_random_starts(name: str, engine: str, count: int) -> None:
    case = SOLVED[name]
    robot = case.where if isinstance(case.where, Robot) else ARM
    problem = Problem(case.where, case.constraints, case.bounds)
    assert why_not(problem) is None
    projector, rng = Projector(problem, engine=engine), np.random.default_rng(5)
    solved = 0
    for _ in range(count):
        q = np.append(ARM.random(rng), rng.uniform()) if case.where is SPACE else robot.random(rng)
        result = projector.project(q)
        if result.success:
            solved += 1
            placed = robot.at(result.q[: robot.nq])
            assert case.holds(placed.placement, result.q), result.q
    assert solved >= 0.98 * count
