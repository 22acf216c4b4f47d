"""Which method takes which constraint, as a table; all that take one agree with dense algebra on plain rows."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Frame, Robot
from constraints.dynamics import DynamicsStatus, Method, MethodError, forward_dynamics
from constraints.dynamics.methods.choice import TRIED
from constraints.loops import (
    Axes,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    PointClosure,
    PointContact,
    RodClosure,
    SurfaceContact,
)
from constraints.loops.hinges.hinge import HingeTypeError
from constraints.models import sample_humanoid
from constraints.rows.stacking import Order, stack_rows

X, Y, Z = np.eye(3)
TILTED = np.array([0.6, 0.0, 0.8])
AWAY = pin.SE3(pin.exp3(np.array([0.4, -0.7, 1.1])), np.array([0.3, -0.2, 0.5]))
"""Frames are away from the origins of their joints, and turned."""

HINGES: dict[str, Hinge] = {
    "locked": Hinge.locked(), "pin": Hinge.pin(TILTED), "slider": Hinge.slider(TILTED),
    "helical": Hinge.helical(TILTED, 0.3), "universal": Hinge.universal(X, Z), "hooke": Hinge.hooke(TILTED, Y),
    "cylindrical": Hinge.cylindrical(TILTED), "two_sliders": Hinge.two_sliders(TILTED),
    "planar": Hinge.planar(TILTED), "gimbal": Hinge.gimbal(), "ball": Hinge.ball(),
    "translational": Hinge.translational(), "free": Hinge.free(),
    "custom": Hinge.custom([Hinge.pin(Z), Hinge.slider(X), Hinge.pin(Y)]),
}  # fmt: skip

EVERY = "DRNS"
"""DIRECT, RANGE_SPACE and NULL_SPACE take anything, SPARSE all frames; T: TEST_FORCES; P: PROXIMAL."""

LETTERS = {"D": Method.DIRECT, "R": Method.RANGE_SPACE, "N": Method.NULL_SPACE, "T": Method.TEST_FORCES,
           "P": Method.PROXIMAL, "S": Method.SPARSE}  # fmt: skip

# Closures, between two bodies or held to the world: derivative form, rates form. PROXIMAL takes points and frames.
CLOSURES: dict[str, tuple[str, str]] = {name: ("DRNS", "DRNS") for name in HINGES}
CLOSURES |= {name: ("DRNSP", "DRNSP") for name in ("locked", "gimbal", "ball")} | {"custom": ("DRNS", "")}

# Contacts, anchored: LOCAL derivative, LOCAL rates, world derivative, world rates; then without an anchor.
CONTACTS: dict[str, tuple[str, ...]] = {
    "one row": ("DRNST",) * 8,
    "three rows": ("DRNST", "DRNSTP", "DRNSTP", "DRNSTP", "DRNSTP", "DRNSTP", "DRNSTP", "DRNSTP"),
    "six rows": ("DRNSTP",) * 8,
}


@functools.cache
def robot() -> Robot:
    return sample_humanoid()


@functools.cache
def bodies() -> tuple[Frame, Frame]:
    """Frames on two limbs that share only the trunk."""
    model = robot().model
    leaves = [j for j in range(1, model.njoints) if j not in list(model.parents)]
    first, second = leaves[0], leaves[1]
    return tuple(  # type: ignore[return-value]
        Frame(f"on {model.names[j]}", j, pin.SE3(AWAY.rotation, AWAY.translation * k), str(model.names[j]))
        for j, k in ((first, 0.5), (second, -0.3))
    )


def state(seed: int) -> tuple[Any, Any, Any]:
    rng, model = np.random.default_rng(seed), robot().model
    q = pin.integrate(model, pin.neutral(model), 0.7 * rng.standard_normal(model.nv))
    return q, rng.standard_normal(model.nv), 10.0 * rng.standard_normal(model.nv)


def dense(rows: ConstraintSet, q: Any, v: Any, tau: Any) -> tuple[Any, Any]:
    """A KKT system of plain rows, solved by numpy."""
    model, r = robot().model, stack_rows(rows.stack, robot().at(q, v), Order.ACCELERATION)
    data = model.createData()
    H, h = np.array(pin.crba(model, data, q)), np.array(pin.nonLinearEffects(model, data, q, v))
    n, k = model.nv, rows.size
    K = np.block([[H, r.jacobian.T], [r.jacobian, np.zeros((k, k))]])
    x = np.linalg.solve(K, np.concatenate([tau - h, -r.error]))
    return x[:n], -x[n:]


def checked(make: Callable[[], Any], letters: str, seed: int) -> None:
    """Exactly the methods of the table take it, and agree with dense algebra."""
    rows = ConstraintSet(robot(), [make()])
    q, v, tau = state(seed)
    a, lam = dense(rows, q, v, tau)
    for letter, method in LETTERS.items():
        if letter not in letters:
            with pytest.raises(MethodError, match=f"Method.{method.name} does not support 'it'"):
                forward_dynamics(rows, robot().at(q, v), tau, method=method)
            continue
        result = forward_dynamics(rows, robot().at(q, v), tau, method=method)
        assert result.status is DynamicsStatus.SOLVED
        assert result.method is method, "another method had to help"
        assert np.abs(result.acceleration - a).max() < 1e-8 * max(1.0, np.abs(a).max()), method
        assert np.abs(result.multipliers - lam).max(initial=0.0) < 1e-8 * np.abs(lam).max(initial=1.0), method
    automatic = forward_dynamics(rows, robot().at(q, v), tau)
    assert np.abs(automatic.acceleration - a).max() < 1e-8 * max(1.0, np.abs(a).max())
    assert np.abs(automatic.multipliers - lam).max(initial=0.0) < 1e-8 * np.abs(lam).max(initial=1.0)


def test_every_method_is_in_the_tables() -> None:
    """Its letter here, its place among those that are tried, its row in the docs."""
    methods = set(Method) - {Method.AUTOMATIC}
    assert set(LETTERS.values()) == methods, "a letter in LETTERS, and in the cells of what the method takes"
    assert set(TRIED) == set(Method), "a place in OF_IMPACTS or TRIED of dynamics/methods/choice.py"
    page = (Path(__file__).parents[2] / "docs" / "dynamics.md").read_text(encoding="utf-8")
    rows = {name for name in re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE) if name in Method.__members__}
    assert rows == {method.name for method in methods}, "a row in the table of methods of docs/dynamics.md"


@pytest.mark.parametrize("held", ["between two bodies", "in the world"])
@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
@pytest.mark.parametrize("kind", HINGES)
def test_every_hinge_by_every_method(kind: str, form: Form, held: str) -> None:
    """The table hinge x method; a hinge of one's own has no rates."""
    a, b = bodies()
    letters = CLOSURES[kind][form is Form.RATES]

    def make() -> Closure:
        return Closure(robot(), a if held != "in the world" else AWAY, b, HINGES[kind], form=form, name="it")

    if not letters:
        with pytest.raises(HingeTypeError, match="'it'"):
            make()
        return
    assert set(EVERY) <= set(letters)
    checked(make, letters, len(kind))


@pytest.mark.parametrize("held", ["between two bodies", "in the world"])
def test_points_and_rods_by_every_method(held: str) -> None:
    """PointClosure: pinocchio's rows are those of a point, also where two bodies hold it, open or closed."""
    a, b = bodies()
    at = a if held != "in the world" else AWAY
    checked(lambda: PointClosure(robot(), at, b, name="it"), "DRNSP", 3)
    checked(lambda: RodClosure(robot(), at, b, 0.7, name="it"), EVERY, 4)


@pytest.mark.parametrize("anchored", [True, False])
@pytest.mark.parametrize("axes", Axes, ids=lambda axes: axes.name)
@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
@pytest.mark.parametrize("kind", CONTACTS)
def test_every_contact_by_every_method(kind: str, form: Form, axes: Axes, anchored: bool) -> None:
    """The table contact x method, in both axes and forms, anchored or not."""
    column = (form is Form.RATES) + 2 * (axes is not Axes.LOCAL) + 4 * (not anchored)
    frame = bodies()[0]

    def make() -> PointContact | SurfaceContact:
        if kind == "six rows":
            return SurfaceContact(robot(), frame, AWAY if anchored else None, axes=axes, form=form, name="it")
        normal, at = (TILTED if kind == "one row" else None), (AWAY.translation if anchored else None)
        return PointContact(robot(), frame, normal, at, axes=axes, form=form, name="it")

    checked(make, CONTACTS[kind][column], column)


# Rows against differences, and against plain pinocchio.


def along(rows: ConstraintSet, q: Any, v: Any) -> Any:
    """d(J v)/dt at constant v, by central differences of order four."""
    model, h = robot().model, 2e-4

    def at(t: float) -> Any:
        return rows.jacobian(pin.integrate(model, q, t * v)) @ v

    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)


@pytest.mark.parametrize("kind", HINGES)
def test_drift_of_hinges_is_the_rate_of_their_rows(kind: str) -> None:
    """RBDL 7: drift = d(J v)/dt along the motion, off the manifold, in the form DERIVATIVE."""
    a, b = bodies()
    rows = ConstraintSet(robot(), [Closure(robot(), a, b, HINGES[kind], name="it")])
    q, v, _ = state(7)
    assert np.abs(along(rows, q, v) - rows.drift(q, v)).max(initial=0.0) < 1e-6


@pytest.mark.parametrize("kind", [kind for kind in HINGES if kind not in ("locked", "custom")])
def test_drift_of_rates_is_their_rate_too(kind: str) -> None:
    """Rates of a hinge with classical accelerations: across its axes they are the derivative of J v as well."""
    a, b = bodies()
    rows = ConstraintSet(robot(), [Closure(robot(), a, b, HINGES[kind], form=Form.RATES, name="it")])
    q, v, _ = state(8)
    assert np.abs(along(rows, q, v) - rows.drift(q, v)).max(initial=0.0) < 1e-6


def frame_motion(frame: Frame, q: Any, v: Any, reference: Any, spatial: bool) -> tuple[Any, Any]:
    """Velocity and acceleration of a frame at zero joint acceleration, by plain pinocchio."""
    model = robot().model
    data = model.createData()
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    of = pin.getFrameAcceleration if spatial else pin.getFrameClassicalAcceleration
    args = (model, data, frame.joint, frame.placement, reference)
    return np.array(pin.getFrameVelocity(*args).vector), np.array(of(*args).vector)


@pytest.mark.parametrize("anchored", [True, False])
@pytest.mark.parametrize("axes", Axes, ids=lambda axes: axes.name)
def test_rates_of_contacts_are_those_of_pinocchio(axes: Axes, anchored: bool) -> None:
    """RATES: velocity and spatial acceleration of the frame in six rows, classical acceleration of a point in three."""
    frame = bodies()[0]
    q, v, _ = state(9)
    reference = pin.LOCAL if axes is Axes.LOCAL else pin.LOCAL_WORLD_ALIGNED
    place, point = (AWAY, AWAY.translation) if anchored else (None, None)
    six = SurfaceContact(robot(), frame, place, axes=axes, form=Form.RATES, name="six")
    three = PointContact(robot(), frame, anchor=point, axes=axes, form=Form.RATES, name="three")
    one = PointContact(robot(), frame, TILTED, anchor=point, axes=axes, form=Form.RATES, name="one")
    rows = ConstraintSet(robot(), [six, three, one])
    velocity, acceleration = frame_motion(frame, q, v, reference, spatial=True)
    _, classical = frame_motion(frame, q, v, reference, spatial=False)
    speed = np.concatenate([velocity, velocity[:3], [TILTED @ velocity[:3]]])
    drift = np.concatenate([acceleration, classical[:3], [TILTED @ classical[:3]]])
    assert np.abs(rows.velocity_error(q, v) - speed).max() < 1e-11
    assert np.abs(rows.drift(q, v) - drift).max() < 1e-10


@pytest.mark.parametrize("kind", ["three rows", "six rows", "locked"])
def test_rates_are_the_constraint_dynamics_of_pinocchio(kind: str) -> None:
    """RATES in LOCAL axes: accelerations and multipliers of `pin.constraintDynamics` on models of one's own."""
    model, (a, b) = robot().model, bodies()
    q, v, tau = state(10)
    if kind == "locked":
        owner: Any = Closure(robot(), a, b, Hinge.locked(), form=Form.RATES, name="it")
        theirs = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, model, a.joint, a.placement, b.joint, b.placement, pin.LOCAL
        )
    elif kind == "six rows":
        owner = SurfaceContact(robot(), b, axes=Axes.LOCAL, form=Form.RATES, name="it")
        theirs = pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, b.joint, b.placement, pin.LOCAL)
    else:
        owner = PointContact(robot(), b, axes=Axes.LOCAL, form=Form.RATES, name="it")
        theirs = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, b.joint, b.placement, pin.LOCAL)
    data, datas = model.createData(), [theirs.createData()]
    pin.initConstraintDynamics(model, data, [theirs], datas)
    expected = np.array(
        pin.constraintDynamics(model, data, q, v, tau, [theirs], datas, pin.ProximalSettings(1e-14, 1e-14, 0.0, 1))
    )
    forces = np.array(data.lambda_c) * (-1.0 if kind == "locked" else 1.0)  # theirs acts on the first body
    for method in (Method.AUTOMATIC, Method.DIRECT, Method.PROXIMAL):
        result = forward_dynamics(ConstraintSet(robot(), [owner]), robot().at(q, v), tau, method=method)
        assert np.abs(result.acceleration - expected).max() < 1e-8 * np.abs(expected).max()
        assert np.abs(result.multipliers - forces).max() < 1e-8 * np.abs(forces).max()
