"""Points on a floor against closed forms and against motions integrated without the library."""

from __future__ import annotations

from math import atan, cos, log, sin, sqrt
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

from constraints import Robot
from constraints.dynamics import Floor, Forces, JointLaw, MotionRecord, MotionStatus, forward_dynamics, simulate
from constraints.dynamics.events import sides
from constraints.dynamics.events.sides import SLOW_SLIP
from constraints.errors import EmptyProblemError, OptionError, UnknownFrameError
from liegroups.errors import NotNormalizedError

G = 9.81


def body(joint: Any, mass: float = 1.0, inertia: float = 0.01, **points: tuple[float, float, float]) -> Robot:
    """One body on one joint, with frames."""
    model = pin.Model()
    own = model.addJoint(0, joint, pin.SE3.Identity(), "body")
    model.appendBodyToJoint(own, pin.Inertia(mass, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    for name, place in points.items():
        model.addFrame(pin.Frame(name, own, 0, pin.SE3(np.eye(3), np.array(place)), pin.FrameType.OP_FRAME))
    return Robot(model, name="body")


def particle() -> Robot:
    return body(pin.JointModelTranslation(), point=(0.0, 0.0, 0.0))


def box(half: float = 0.1, height: float = 0.1) -> Robot:
    """A cube of 1 kg with its corners below its centre."""
    corners = {f"c{i}{j}": ((2 * i - 1) * half, (2 * j - 1) * half, -height) for i in range(2) for j in range(2)}
    return body(pin.JointModelFreeFlyer(), 1.0, 1.0 * (2 * half) ** 2 / 6.0, **corners)


def run(floor: Floor, q0: Any, v0: Any, duration: float, **others: Any) -> MotionRecord:
    return simulate(floor.start(q0, v0), q0, v0, duration, forces=floor.forces, events=floor.events, **others)


def names_of(record: MotionRecord) -> list[str]:
    return [event.name for event in record.events]


def test_a_ball_bounces_as_newtons_law_says() -> None:
    """Times of impact t_1 = sqrt(2 h / g), then 2 e^k v / g apart; it rests when v e^k is below the speed of rest."""
    h, e = 0.5, 0.6
    floor = Floor(particle(), ["point"], restitution=e, rest_speed=0.05)
    record = run(floor, [0.0, 0.0, h], np.zeros(3), 2.5)
    v = sqrt(2.0 * G * h)
    bounces = 1 + int(np.ceil(log(0.05 / v) / log(e)))
    times = v / G + np.concatenate([[0.0], np.cumsum([2.0 * v * e**k / G for k in range(1, bounces)])])
    assert names_of(record) == ["point touches"] * bounces
    assert np.allclose([event.time for event in record.events], times, atol=2e-8)
    assert record.status is MotionStatus.FINISHED
    assert np.allclose(record.q, [0.0, 0.0, 0.0], atol=1e-9)
    assert floor.states(record.holding[-1]) == {"point": "slips"}  # nothing holds it on ice


def test_a_block_slides_to_a_stop_and_stays() -> None:
    """x = v^2 / (2 mu g) after v / (mu g), with a normal that is not an axis and a height."""
    mu, v = 0.3, 1.5
    floor = Floor(particle(), ["point"], friction=mu, height=0.2)
    record = run(floor, [0.0, 0.0, 0.2], [0.0, v, 0.0], 1.0)
    assert names_of(record) == ["point sticks"]
    assert record.events[0].time == pytest.approx((v - 1e-4) / (mu * G), abs=1e-7)
    assert np.allclose(record.q, [0.0, v**2 / (2.0 * mu * G), 0.2], atol=1e-8)
    assert np.allclose(record.v, 0.0, atol=1e-9)
    assert floor.states(record.holding[0]) == {"point": "slips"}
    assert floor.states(record.holding[-1]) == {"point": "sticks"}
    assert record.dissipated is not None
    assert record.dissipated[-1] == pytest.approx(0.5 * v**2, abs=1e-6)


@pytest.mark.parametrize(("angle", "slides"), [(atan(0.5) - 1e-3, False), (atan(0.5) + 0.05, True)])
@pytest.mark.parametrize("make", [particle, box])
def test_what_lies_on_a_slope_slides_beyond_the_angle_of_friction(make: Any, angle: float, slides: bool) -> None:
    """One point, and four of which three are enough: tan(angle) against mu."""
    mu, d = 0.5, 1.0
    normal = [-sin(angle), 0.0, cos(angle)]
    robot = make()
    floor = Floor(robot, [f.name for f in robot.model.frames if f.name[0] in "pc"], friction=mu, normal=normal)
    if robot.nq == 3:
        q0 = np.zeros(3)
    else:
        R = pin.rpy.rpyToMatrix(0.0, -angle, 0.0)
        q0 = pin.SE3ToXYZQUAT(pin.SE3(R, R @ np.array([0.0, 0.0, 0.1])))
    record = run(floor, q0, np.zeros(robot.nv), d)
    assert record.success
    down = np.array([-cos(angle), 0.0, -sin(angle)])
    way = 0.5 * G * (sin(angle) - mu * cos(angle)) * d**2 if slides else 0.0
    assert np.allclose(record.q[:3] - q0[:3], way * down, atol=1e-7)


@pytest.mark.parametrize("downhill", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
def test_what_holds_a_point_across_a_slope_does_not_pull(downhill: tuple[float, float]) -> None:
    """Friction has either sign; only the normal of a contact pushes."""
    floor = Floor(particle(), ["point"], friction=0.5, normal=[0.28 * downhill[0], 0.28 * downhill[1], 0.96])
    record = run(floor, np.zeros(3), np.zeros(3), 0.1)
    assert record.success
    assert "pulls" not in record.describe()


def test_a_box_slides_to_a_stop_on_four_corners() -> None:
    """Straight, as a particle does: they hold each other, so what would hold one of them is rounding."""
    mu, v = 0.4, np.array([0.2, 0.1, 0.0])
    floor = Floor(box(), ["c00", "c01", "c10", "c11"], friction=mu)
    q0, speed = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]), float(np.linalg.norm(v))
    record = run(floor, q0, np.concatenate([v, np.zeros(3)]), 0.08)
    assert record.success
    assert len(record.times) < 40
    (sticks,) = record.events
    assert sticks.time == pytest.approx((speed - SLOW_SLIP) / (mu * G), abs=1e-7)
    assert np.allclose(record.q[:3] - q0[:3], v * speed / (2.0 * mu * G), atol=1e-8)
    assert set(floor.states(record.holding[-1]).values()) == {"sticks"}


def test_a_box_spins_to_a_stop_on_four_corners_that_slip_apart() -> None:
    """Friction turns it back by mu m g r, r the distance of a corner from its axis; each one slips another way."""
    mu, spin, r, inertia = 0.4, 2.0, 0.1 * sqrt(2.0), 0.2**2 / 6.0
    floor = Floor(box(), ["c00", "c01", "c10", "c11"], friction=mu)
    q0 = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    record = run(floor, q0, np.array([0.0, 0.0, 0.0, 0.0, 0.0, spin]), 0.05)
    assert record.success
    (sticks,) = record.events
    assert sticks.time == pytest.approx((spin - SLOW_SLIP / r) * inertia / (mu * G * r), abs=1e-7)
    assert 2.0 * np.arctan2(record.q[5], record.q[6]) == pytest.approx(spin**2 * inertia / (2.0 * mu * G * r), abs=1e-7)
    assert np.allclose(record.q[:3], q0[:3], atol=1e-9)


def test_many_points_that_slip_cost_no_more_solutions_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their friction is found with the rows that are factorised once."""
    asked: list[int] = []
    own = sides.forward_dynamics
    monkeypatch.setattr(sides, "forward_dynamics", lambda *args, **kwargs: asked.append(0) or own(*args, **kwargs))
    q0, v0 = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.5, 0.2, 0.0, 0.0, 0.0, 0.3]
    for points in (["c00", "c01", "c10"], ["c00", "c01", "c10", "c11"]):
        floor = Floor(box(), points, friction=0.3)
        holds = floor.start(q0, v0)
        asked.clear()
        tau = floor.forces.under(holds)(q0, v0)
        assert len(asked) == 1
        found = forward_dynamics(holds, floor.robot.at(q0, v0), tau)
        pushes = [found.multipliers[holds.slice_of(f"{point} on the floor")] for point in points]
        speeds = [floor.robot.at(q0, v0).velocity(point)[:2] for point in points]
        forces = [-0.3 * push * v / np.linalg.norm(v) for push, v in zip(pushes, speeds, strict=True)]
        assert np.allclose(tau[:2], np.sum(forces, axis=0), atol=1e-10)


def test_a_point_lets_go_when_it_is_pulled_harder_than_it_weighs() -> None:
    """A pull of c t leaves the floor at m g / c, and then z = c (t - t0)^3 / 6."""
    robot, c = particle(), 30.0
    pull = JointLaw(robot, "body", lambda q, v, t: [0.0, 0.0, c * t])
    floor = Floor(robot, ["point"], friction=0.3, laws=[pull])
    record = run(floor, np.zeros(3), np.zeros(3), 1.0)
    assert names_of(record) == ["point leaves"]
    assert record.events[0].time == pytest.approx(G / c, abs=1e-6)
    assert record.q[2] == pytest.approx(c * (1.0 - G / c) ** 3 / 6.0, abs=1e-6)


def pole(mu: float, start: float) -> tuple[float, float, str]:
    """When a thin pole that falls on a rough floor begins to slip, at which angle, and where to, by plain formulas."""
    m, half = 1.0, 0.5
    inertia = m * (2 * half) ** 2 / 12.0

    def fall(t: float, y: Any) -> list[float]:
        return [y[1], m * G * half * sin(y[0]) / (inertia + m * half**2)]

    def forces(y: Any) -> tuple[float, float]:
        a = fall(0.0, y)[1]
        x = half * (a * cos(y[0]) - y[1] ** 2 * sin(y[0]))
        z = -half * (a * sin(y[0]) + y[1] ** 2 * cos(y[0]))
        return m * x, m * (z + G)

    def spare(t: float, y: Any) -> float:
        across, up = forces(y)
        return mu * up - abs(across)

    spare.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(fall, (0.0, 5.0), [start, 0.0], events=spare, rtol=1e-11, atol=1e-12)
    assert found.t_events is not None
    assert found.y_events is not None
    t, y = float(found.t_events[0][0]), found.y_events[0][0]
    return t, float(y[0]), "back" if forces(y)[0] > 0.0 else "forward"


def rod(inertia: np.ndarray) -> Robot:
    """A rod of 1 m and 1 kg in a vertical plane, with a foot."""
    model = pin.Model()
    slide = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
    lift = model.addJoint(slide, pin.JointModelPZ(), pin.SE3.Identity(), "z")
    turn = model.addJoint(lift, pin.JointModelRY(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(turn, pin.Inertia(1.0, np.zeros(3), inertia), pin.SE3.Identity())
    model.addFrame(pin.Frame("foot", turn, 0, pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5])), pin.FrameType.OP_FRAME))
    return Robot(model, name="rod")


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_falling_pole_slips_when_and_where_it_must(mu: float) -> None:
    """With little friction its foot slips back, with more it slips forward (Cross, Am. J. Phys. 74, 2006)."""
    half, start, robot = 0.5, 0.05, rod(np.diag([1.0, 1.0, 0.0]) / 12.0 + 1e-9 * np.eye(3))
    floor = Floor(robot, ["foot"], friction=mu)
    t, angle, where = pole(mu, start)
    q0 = [half * sin(start), half * cos(start), start]
    record = run(floor, q0, np.zeros(3), t + 0.01)
    slips = next(event for event in record.events if event.name == "foot slips")
    assert slips.time == pytest.approx(t, abs=1e-6)
    assert slips.q[2] == pytest.approx(angle, abs=1e-6)
    foot = robot.at(record.q, record.v).velocity("foot")
    R = robot.at(record.q).placement("foot").rotation
    speed = float((R @ foot[:3])[0])
    assert (speed < 0.0) if where == "back" else (speed > 0.0)


def test_a_rod_that_slides_with_much_friction_jams_and_says_so() -> None:
    """Painleve: a thin rod at 45 degrees, its foot ahead, with mu above 4/3: no forces solve the equations."""
    half, angle, robot = 0.5, np.pi / 4.0, rod(np.eye(3) / 12.0)
    q0, v0 = [half * sin(-angle), half * cos(angle), -angle], [1.0, 0.0, 0.0]
    floor = Floor(robot, ["foot"], friction=2.5)
    with pytest.raises(Exception, match="friction jams"):
        floor.start(q0, v0)
    assert Floor(robot, ["foot"], friction=0.5).start(q0, v0).active.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("tilt", "height", "duration"), [(0.1, 0.12, 0.3), pytest.param(0.3, 0.25, 0.8, marks=pytest.mark.long)]
)
def test_a_box_that_falls_on_an_edge_comes_to_rest_on_its_corners(tilt: float, height: float, duration: float) -> None:
    """Energy never grows, and in the end all four corners are down and the box lies flat."""
    robot = box()
    corners = ["c00", "c01", "c10", "c11"]
    floor = Floor(robot, corners, friction=0.6)
    q0 = pin.SE3ToXYZQUAT(pin.SE3(pin.rpy.rpyToMatrix(0.0, tilt, 0.0), np.array([0.0, 0.0, height])))
    record = run(floor, q0, np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]), duration)
    assert record.status is MotionStatus.FINISHED, record.describe()
    assert (np.diff(record.energy) <= 1e-6).all()
    assert record.q[2] == pytest.approx(0.1, abs=1e-7)
    assert np.allclose(record.v, 0.0, atol=1e-7)
    assert set(floor.states(record.holding[-1]).values()) <= {"sticks", "slips"}
    for q in record.qs:
        assert min(robot.at(q).placement(corner).translation[2] for corner in corners) > -2e-8


def test_forces_and_states_by_name() -> None:
    floor = Floor(particle(), ["point"], friction=0.3)
    record = run(floor, np.zeros(3), [1.0, 0.0, 0.0], 0.2)
    force = record.forces_by_name["Friction"]
    assert np.allclose(force[:, 0], -0.3 * G)
    assert np.allclose(record.multipliers_of("point on the floor"), G)
    assert np.allclose(record.power_by_name["Friction"], -0.3 * G * record.vs[:, 0])
    assert repr(floor) == "Floor(point; friction 0.3, restitution 0)"


def test_what_is_wrong_is_named() -> None:
    robot = particle()
    with pytest.raises(OptionError, match=r"beyond the floor by some: point \(0\.01 m\)"):
        Floor(robot, ["point"]).start([0.0, 0.0, -0.01], np.zeros(3))
    with pytest.raises(EmptyProblemError, match="floor without points"):
        Floor(robot, [])
    with pytest.raises(UnknownFrameError, match="pont"):
        Floor(robot, ["pont"])
    with pytest.raises(NotNormalizedError):
        Floor(robot, ["point"], normal=[0.0, 0.0, 2.0])
    floor = Floor(robot, ["point"], friction=0.5)
    assert isinstance(floor.forces, Forces)
    with pytest.raises(OptionError, match=r"give `floor\.forces` to `simulate`"):
        floor.forces(np.zeros(3), np.zeros(3))


def test_half_a_floor_is_refused() -> None:
    """Without its events points fall through it, without its forces they are on ice: neither is a success."""
    robot = particle()
    pull = JointLaw(robot, "body", lambda q, v: [0.1, 0.0, 0.0])
    floor = Floor(robot, ["point"], friction=0.3, laws=[pull])
    q0, v0 = [0.0, 0.0, 0.1], np.zeros(3)
    holds = floor.start(q0, v0)
    for events in ((), floor.events[:-1], floor.events[0]):
        with pytest.raises(OptionError, match="give events=floor"):
            simulate(holds, q0, v0, 0.1, forces=floor.forces, events=events)
    for forces in (None, Forces(robot, [pull]), lambda motion: np.zeros(3), Forces(robot, list(floor.forces)[1:])):
        with pytest.raises(OptionError, match="give forces=floor"):
            simulate(holds, q0, v0, 0.1, forces=forces, events=floor.events)
    more = Forces(robot, [*floor.forces, JointLaw(robot, "body", lambda q, v: [0.0, 0.2, 0.0])])
    assert simulate(holds, q0, v0, 0.1, forces=more, events=floor.events).success
    ice = Floor(robot, ["point"])
    assert simulate(ice.start(q0, v0), q0, v0, 0.1, events=ice.events).success
