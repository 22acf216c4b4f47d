"""Events of motions: located to 1e-9, ends, resets with impacts and switched sets, and what is never silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body, point

from constraints import Robot
from constraints.dynamics import Event, MotionRecord, MotionStatus, SimulationOptions, impact, simulate
from constraints.dynamics.motions.stepping import Halt, StageState, Stepper, StepResult
from constraints.errors import DuplicateNameError, UnknownNameError, WrongObjectError
from constraints.loops import ConstraintSet, PointContact
from constraints.robot import Motion

G = 9.81


def ball() -> tuple[Robot, ConstraintSet]:
    """A point of 1 kg, with a contact along z that is off."""
    robot = one_body(pin.JointModelTranslation(), point(1.0, 1e-3), "ball")
    floor = PointContact(robot, "ball", normal=[0, 0, 1], name="floor")
    return robot, ConstraintSet(robot, [floor])


def height(motion: Motion, t: float) -> float:
    return float(motion.posture.q[2])


def bounce(rows: ConstraintSet, e: float) -> Any:
    """An impact with restitution."""
    return lambda motion, t: rows.robot.at(motion.posture.q, impact(rows, motion, restitution=e).velocity)


def drop(e: float = 0.5, duration: float = 1.0, step: float = 0.01, **changes: Any) -> MotionRecord:
    _, rows = ball()
    given: dict[str, Any] = {"direction": "falling", "reset": bounce(rows, e), **changes}
    return simulate(
        rows.switched(off=["floor"]),
        [0.0, 0.0, 1.0],
        [0.3, 0.0, 0.0],
        duration,
        step,
        events=Event(height, "lands", **given),
    )


FIRST = np.sqrt(2.0 / G)  # from a height of 1 m


def test_bounces_come_when_the_closed_form_says() -> None:
    """Item 8: times to 1e-9: sqrt(2 h / g), then flights of 2 e^k v / g; each bounce loses 1 - e^2 of the energy."""
    record = drop(duration=1.2).or_raise()
    v = np.sqrt(2.0 * G)
    expected = [FIRST, FIRST + 2 * 0.5 * v / G, FIRST + 2 * 0.75 * v / G]
    np.testing.assert_allclose([crossing.time for crossing in record.events], expected, atol=3e-9)
    for k, crossing in enumerate(record.events):
        assert crossing.after is not None
        assert crossing.v[2] == pytest.approx(-v * 0.5**k, abs=1e-7)
        assert crossing.after[1][2] == pytest.approx(v * 0.5 ** (k + 1), abs=1e-7)
        assert crossing.v[0] == crossing.after[1][0] == pytest.approx(0.3)
    twice = np.flatnonzero(np.diff(record.times) == 0.0)
    assert len(twice) == 3  # before and after each reset
    assert record.energy[twice[0]] == pytest.approx(G + 0.045, abs=1e-6)
    assert record.energy[twice[0] + 1] == pytest.approx(0.25 * G + 0.045, abs=1e-6)


@pytest.mark.parametrize("scheme", ["rk4", "semi-implicit euler"])
@pytest.mark.parametrize("step", [0.3, 0.0123])
def test_terminal_event_ends_the_motion(scheme: str, step: float) -> None:
    """Item 8: the state is that of the event, whatever the steps; times of events are those of the scheme."""
    _, rows = ball()
    record = simulate(
        rows.switched(off=["floor"]),
        *([0.0, 0.0, 1.0], np.zeros(3), 2.0, step),
        options=SimulationOptions(scheme=scheme),
        events=[Event(height, "lands", terminal=True), Event(lambda m, t: height(m, t) - 0.5, "half way")],
    )
    # Euler's energy is off by more than 1 % with such steps, which is said now
    assert record.status is (MotionStatus.EVENT if scheme == "rk4" else MotionStatus.POOR_STEP)
    assert record.success is (scheme == "rk4")
    assert [crossing.name for crossing in record.events] == ["half way", "lands"]
    assert record.time == record.events[-1].time
    assert abs(record.q[2]) < 1e-8
    assert "'lands' at" in record.reason
    if scheme == "rk4":
        np.testing.assert_allclose([c.time for c in record.events], [np.sqrt(1 / G), FIRST], atol=1e-9)
    else:  # exact too, up to half a step of the last velocity
        assert record.time == pytest.approx(FIRST, abs=step)


def test_landing_switches_the_contact_on() -> None:
    """Item 8: a reset that returns a switched set: the ball stays, and the multiplier is its weight."""
    robot, rows = ball()

    def land(motion: Motion, t: float) -> tuple[Motion, ConstraintSet]:
        return robot.at(motion.posture.q, impact(rows, motion).velocity), rows

    lands = Event(height, "lands", direction="falling", reset=land, barrier=True)
    record = simulate(rows.switched(off=["floor"]), [0, 0, 1.0], [0.3, 0, 0], 1.0, 0.01, events=lands).or_raise()
    assert len(record.events) == 1
    assert record.multipliers_of("floor")[0] == pytest.approx(0.0)
    assert record.multipliers_of("floor")[-1] == pytest.approx(G)
    assert record.v[0] == pytest.approx(0.3)
    np.testing.assert_allclose(record.qs[-20:, 2], 0.0, atol=1e-8)


def test_two_events_at_one_time_both_happen() -> None:
    """Item 8: two balls that land together: each has its own reset."""
    model = pin.Model()
    for i in range(2):
        model.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), f"ball{i}")
        model.appendBodyToJoint(i + 1, pin.Inertia(1.0, np.zeros(3), 1e-3 * np.eye(3)), pin.SE3.Identity())
    robot = Robot(model)

    def turned(i: int) -> Any:
        sign = np.array([1.0, 1.0])
        sign[i] = -0.5
        return lambda motion, t: robot.at(motion.posture.q, sign * motion.v)

    lands = [
        Event(lambda motion, t, i=i: motion.posture.q[i], f"{i}", direction="falling", reset=turned(i), barrier=True)
        for i in range(2)
    ]
    record = simulate(ConstraintSet(robot, []), [1.0, 1.0], [0.0, 0.0], 0.6, 0.01, events=lands).or_raise()
    assert [crossing.name for crossing in record.events] == ["0", "1"]
    np.testing.assert_allclose([crossing.time for crossing in record.events], FIRST, atol=3e-9)
    np.testing.assert_allclose(record.q[0], record.q[1], atol=1e-7)


def test_events_of_one_step_happen_once_each_and_in_order() -> None:
    """Item 8: one that is watched before a bounce in the same step is not seen again after it."""
    _, rows = ball()
    half = Event(lambda motion, t: height(motion, t) - 0.5, "half way", direction="falling")
    lands = Event(height, "lands", direction="falling", reset=bounce(rows, 0.5))
    record = simulate(rows.switched(off=["floor"]), [0, 0, 1.0], np.zeros(3), 0.8, 0.8, events=[half, lands]).or_raise()
    assert [crossing.name for crossing in record.events] == ["half way", "lands"]


@pytest.mark.parametrize("step", [0.1, 0.25])
def test_terminal_event_at_the_end_of_a_step_ends_the_motion(step: float) -> None:
    """Item 8: a function that is zero exactly where a step ends."""
    _, rows = ball()
    at_half = Event(lambda motion, t: t - 0.5, "time", terminal=True)
    record = simulate(rows.switched(off=["floor"]), [0, 0, 1.0], np.zeros(3), 1.0, step, events=at_half)
    assert record.status is MotionStatus.EVENT
    assert record.time == pytest.approx(0.5, abs=1e-9)
    assert len(record.events) == 1


def test_watching_does_not_change_the_motion() -> None:
    """Item 8: events that neither end nor reset leave every state as it is, bit for bit."""
    _, rows = ball()
    events = [Event(lambda m, t, at=0.1 * i: height(m, t) - at, f"{i}") for i in range(10)]
    given: Any = (rows.switched(off=["floor"]), [0, 0, 1.0], [0, 0, 1.0], 0.8, 0.05)
    watched, alone = simulate(*given, events=events), simulate(*given)
    np.testing.assert_array_equal(watched.qs, alone.qs)
    times = [crossing.time for crossing in watched.events]
    assert times == sorted(times)
    expected = [(1.0 + np.sqrt(1.0 + 2.0 * G * (1.0 - 0.1 * i))) / G for i in range(10)]
    seen = [crossing for crossing in watched.events if crossing.time > 0.3]
    for crossing in seen:
        assert crossing.time == pytest.approx(expected[int(crossing.name)], abs=1e-9)
    assert {crossing.name for crossing in seen} == {str(i) for i in range(10) if 0.3 < expected[i] < 0.8}


def test_all_events_are_asked_at_a_state_before_the_next() -> None:
    """Sides of a floor keep what they see of one state: event by event, each asked for its own dynamics."""
    _, rows = ball()
    asked: list[tuple[str, float]] = []

    def event(name: str) -> Event:
        def value(motion: Motion, t: float) -> float:
            asked.append((name, t))
            return 1.0 + t

        return Event(value, name)

    simulate(rows, [0.0, 0.0, 1.0], np.zeros(3), 0.02, 0.01, events=[event("a"), event("b")])
    assert [name for name, _ in asked] == ["a", "b"] * (len(asked) // 2)
    assert len(asked) > 8


def test_watching_does_not_end_a_motion_where_parts_of_a_step_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Item 8: a shorter step that ends in a singular pose may fail; the time is then that of a cubic, of order 4."""
    inertia = pin.Inertia(1.0, np.array([0.1, 0.0, -0.5]), np.diag([0.1, 0.2, 0.3]))
    robot = one_body(pin.JointModelSpherical(), inertia, "ball")
    level = Event(lambda motion, t: motion.posture.placement("ball").rotation[0, 2] - 0.2, "level")
    whole = Stepper.take

    def only_whole(self: Stepper, state: StageState, h: float) -> StepResult:
        if h < 0.99 * step:
            raise Halt(MotionStatus.NOT_PROJECTED)
        return whole(self, state, h)

    errors: list[float] = []
    for step in (0.02, 0.01):
        given: Any = (ConstraintSet(robot, []), robot.neutral, [1.0, 2.0, 3.0], 0.4, step)
        right = simulate(*given, events=level).or_raise()
        with monkeypatch.context() as patch:
            patch.setattr(Stepper, "take", only_whole)
            seen = simulate(*given, events=level).or_raise()
        np.testing.assert_array_equal(seen.q, right.q)
        assert len(seen.events) == len(right.events) > 0
        errors.append(abs(seen.events[0].time - right.events[0].time))
    assert errors[0] < 1e-5
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize(("direction", "count"), [("rising", 1), ("falling", 1), ("any", 2)])
def test_directions_and_events_that_happen_once(direction: Any, count: int) -> None:
    """Item 8: a ball thrown up passes 1.2 m on its way up, and on its way down."""
    _, rows = ball()
    loose = rows.switched(off=["floor"])
    for once, expected in ((False, count), (True, 1)):
        passes = Event(lambda m, t: height(m, t) - 1.2, direction=direction, once=once)
        record = simulate(loose, [0, 0, 1.0], [0, 0, 3.0], 0.7, 0.01, events=passes).or_raise()
        assert [crossing.name for crossing in record.events] == ["event 0"] * expected


@pytest.mark.parametrize("step", [0.1, pytest.param(5e-3, marks=pytest.mark.long)])
def test_a_start_at_zero_goes_beyond_it(step: float) -> None:
    """On the floor: a ball that is let go falls through at once, one that is thrown up when it is back."""
    _, rows = ball()
    loose = rows.switched(off=["floor"])

    def seen(speed: float, direction: Any, set_of: ConstraintSet = loose) -> list[float]:
        watched = Event(height, "lands", direction=direction)
        record = simulate(set_of, [0, 0, 0], [0, 0, speed], 1.0, step, events=watched).or_raise()
        return [crossing.time for crossing in record.events]

    (at_once,) = seen(0.0, "falling")
    assert 0.0 < at_once <= np.sqrt(2e-6 / G) + 1e-6
    assert seen(3.0, "falling") == [pytest.approx(6.0 / G, abs=1e-8)]
    (at_once,) = seen(3.0, "rising")
    assert 0.0 < at_once < 1e-6
    assert seen(0.0, "rising") == []
    assert seen(0.0, "any") == []
    assert seen(0.0, "falling", rows) == []  # it stays there
    ended = simulate(loose, [0, 0, 0], [0, 0, 0], 1.0, step, events=Event(height, direction="falling", terminal=True))
    assert ended.status is MotionStatus.EVENT


@pytest.mark.parametrize("step", [0.3, pytest.param(0.01, marks=pytest.mark.long)])
def test_bounces_without_end_are_a_status(step: float) -> None:
    """Item 8: bounces that become ever shorter: not a ball that falls through the floor, nor a loop without end."""
    record = drop(duration=3.0, step=step)
    assert record.status is MotionStatus.ENDLESS_EVENTS
    assert not record.success
    assert "'lands' at" in record.reason
    stop = FIRST + 2.0 * np.sqrt(2.0 * G) / G  # of the closed form
    assert record.time == pytest.approx(stop, abs=1e-4)
    assert record.qs[:, 2].min() > -1e-6
    assert (np.diff(record.times) >= 0.0).all()


def test_barrier_is_never_passed_in_silence() -> None:
    """Item 8: an impact without restitution, and no contact that holds: the ball would fall on."""
    record = drop(e=0.0, barrier=True)
    assert record.status is MotionStatus.BEYOND_BARRIER
    assert "'lands'" in record.reason
    assert record.time == pytest.approx(FIRST, abs=0.02)


def test_wrong_events_are_named() -> None:
    robot, rows = ball()
    other = ConstraintSet(robot, [])
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: Event(3), WrongObjectError, "function of an event"),  # pyright: ignore[reportArgumentType]
        (lambda: Event(height, direction="down"), UnknownNameError, "falling"),  # pyright: ignore[reportArgumentType]
        (lambda: Event(height, terminal=True, reset=bounce(rows, 1.0)), WrongObjectError, "not both"),
        (lambda: drop(reset=lambda m, t: m.v), WrongObjectError, "reset of 'lands'"),
        (lambda: drop(reset=lambda m, t: (m, other)), WrongObjectError, "other constraints on or off"),
        (lambda: drop(reset=lambda m, t: (m, rows, 1)), WrongObjectError, "reset of 'lands'"),
    ]
    for make, error, said in cases:
        with pytest.raises(error, match=said):
            make()
    with pytest.raises(DuplicateNameError, match="lands"):
        simulate(rows, [0, 0, 1.0], np.zeros(3), 1.0, 0.1, events=[Event(height, "lands"), Event(height, "lands")])
    with pytest.raises(Exception, match="value of the event 'high'"):
        simulate(rows, [0, 0, 1.0], np.zeros(3), 1.0, 0.1, events=[Event(lambda m, t: "high", "high")])  # pyright: ignore[reportArgumentType, reportReturnType]
