"""Random models, constraint sets and states of `dynamics_soundness.py`; the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from random_trees import joint_makers, random_axis, random_placement

from constraints import CenterOfMass, Frame, Implicit, Position, Robot
from constraints.dynamics import ExternalForce
from constraints.dynamics.laws.external_force import Force
from constraints.loops import (
    Axes,
    Baumgarte,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    PointClosure,
    PointContact,
    RodClosure,
    SurfaceContact,
)
from constraints.rows import RowOwner

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Random = np.random.Generator

SIZE = 20
"""States of a block."""

SHARES = {
    "mixed": 0.41, "contacts": 0.27, "rates": 0.24, "repeated": 0.015, "contradicting": 0.01, "stretched": 0.02,
    "narrow": 0.015, "massless": 0.02,
}  # fmt: skip
"""Kinds of blocks, with their shares."""


@dataclass(frozen=True, eq=False)
class State:
    """One question: a state with its forces."""

    q: Vector
    v: Vector
    tau: Vector
    external: tuple[Force, ...]
    acceleration: Vector | None


@dataclass(frozen=True, eq=False)
class Block:
    """A set of constraints with states.

    Attributes:
        kind: one of SHARES.
        constraint_set: whose rows.
        states: SIZE of them.
    """

    kind: str
    constraint_set: ConstraintSet
    states: tuple[State, ...]

    @property
    def name(self) -> str:
        """In messages."""
        return f"{self.kind} {', '.join(self.constraint_set.kinds)} on {self.constraint_set.robot.name}"


def make_block(seed: int, number: int) -> Block:
    """Block `number` of a seed."""
    rng = np.random.default_rng([seed, number, 14])
    kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    if kind == "stretched":
        made = stretched(rng)
    else:
        robot = random_robot(rng, number, massless=kind == "massless")
        made = random_set(rng, robot, kind)
    made = with_options(rng, made, plain=kind == "rates")
    spread = 0.0 if kind == "stretched" else 1.0
    return Block(kind, made, tuple(random_state(rng, made, kind, spread) for _ in range(SIZE)))


# Models.


def random_robot(rng: Random, number: int, massless: bool) -> Robot:
    """A random tree; every motion of it has some mass, but for the kind without."""
    while True:
        model = random_model(rng, massless)
        q = pin.integrate(model, pin.neutral(model), rng.standard_normal(model.nv))
        H = plain_inertia(model, q)
        scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
        if massless or np.linalg.eigvalsh(H * scale * scale[:, None])[0] > 1e-6:
            return Robot(model, f"tree {number}")


def plain_inertia(model: Any, q: Vector) -> Matrix:
    """Joint-space inertia, the sum of J^T I J over the bodies: right in whatever order the joints are."""
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    H = np.diag(np.array(model.armature).reshape(-1))
    for j in range(1, model.njoints):
        J = np.array(pin.getJointJacobian(model, data, j, pin.LOCAL)).reshape(6, -1)
        H += J.T @ np.array(model.inertias[j].matrix()) @ J
    return H


def random_model(rng: Random, massless: bool) -> Any:
    """Up to nine joints of any type, on random parents; masses over several powers of ten."""
    makers, model = joint_makers(), pin.Model()
    if rng.random() < 0.2:
        model.gravity = pin.Motion.Zero()
    last, spread, kinds = 0, float(rng.choice([0.3, 1.0, 2.0])), list(makers)
    loads = []
    for i in range(int(rng.integers(4, 10))):
        parent = last if rng.random() < 0.7 else int(rng.integers(0, model.njoints))
        name = kinds[int(rng.integers(len(kinds)))]
        last = model.addJoint(parent, makers[name](rng), random_placement(rng), f"{i} {name}")
        loads.append(parent)
    carries = set(loads)
    for j in range(1, model.njoints):
        if massless and (j not in carries or rng.random() < 0.1):
            continue
        box = pin.Inertia.FromBox(10.0 ** rng.uniform(-spread, spread), *rng.uniform(0.05, 0.4, 3))
        model.appendBodyToJoint(j, box, random_placement(rng, 0.1))
    model.lowerPositionLimit = np.full(model.nq, -np.inf)
    model.upperPositionLimit = np.full(model.nq, np.inf)
    return model


def stretched(rng: Random) -> ConstraintSet:
    """A planar chain held at its tip, to be stretched: its rows along the chain vanish there, those across always."""
    model, parent, n = pin.Model(), 0, int(rng.integers(2, 6))
    place = random_placement(rng) if rng.random() < 0.5 else pin.SE3.Identity()
    for i in range(n):
        at = place if i == 0 else pin.SE3(np.eye(3), np.array([rng.uniform(0.2, 1.0), 0.0, 0.0]))
        parent = model.addJoint(parent, pin.JointModelRZ(), at, f"j{i}")
        model.appendBodyToJoint(
            parent, pin.Inertia.FromBox(rng.uniform(0.5, 2.0), 0.1, 0.1, 0.3), random_placement(rng)
        )
    model.lowerPositionLimit, model.upperPositionLimit = np.full(n, -np.inf), np.full(n, np.inf)
    robot = Robot(model, "stretched chain")
    tip = Frame("tip", n, pin.SE3(np.eye(3), np.array([0.7, 0.0, 0.0])), f"j{n - 1}")
    held: RowOwner = PointContact(robot, tip, anchor=rng.uniform(-1, 1, 3), form=random_form(rng), name="tip")
    if rng.random() < 0.3:
        held = Closure(robot, place, tip, Hinge.pin("z"), form=random_form(rng), name="tip")
    return ConstraintSet(robot, [held])


# Constraints.


def random_form(rng: Random) -> Form:
    return Form.RATES if rng.random() < 0.5 else Form.DERIVATIVE


def random_axes(rng: Random) -> Axes:
    return Axes.LOCAL if rng.random() < 0.5 else Axes.LOCAL_WORLD_ALIGNED


def hinge_makers() -> dict[str, Callable[[Random], Hinge]]:
    """A maker of each type of hinge."""

    def square(rng: Random) -> tuple[Vector, Vector]:
        a, b = random_axis(rng), random_axis(rng)
        b = b - (a @ b) * a
        return a, b / np.sqrt(b @ b)

    def custom(rng: Random) -> Hinge:
        a, b = square(rng)
        return Hinge.custom([Hinge.pin(a), Hinge.slider(b), Hinge.pin(b)][: int(rng.integers(1, 4))])

    return {
        "locked": lambda rng: Hinge.locked(), "pin": lambda rng: Hinge.pin(random_axis(rng)),
        "slider": lambda rng: Hinge.slider(random_axis(rng)),
        "helical": lambda rng: Hinge.helical(random_axis(rng), rng.uniform(0.05, 0.5)),
        "universal": lambda rng: Hinge.universal(*square(rng)),
        "hooke": lambda rng: Hinge.hooke(random_axis(rng), random_axis(rng)),
        "cylindrical": lambda rng: Hinge.cylindrical(random_axis(rng)),
        "two_sliders": lambda rng: Hinge.two_sliders(random_axis(rng)),
        "planar": lambda rng: Hinge.planar(random_axis(rng)), "gimbal": lambda rng: Hinge.gimbal(),
        "ball": lambda rng: Hinge.ball(), "translational": lambda rng: Hinge.translational(),
        "free": lambda rng: Hinge.free(), "custom": custom,
    }  # fmt: skip


def random_frame(rng: Random, robot: Robot, joint: int | None = None) -> Frame:
    j = int(rng.integers(1, robot.model.njoints)) if joint is None else joint
    return Frame(f"frame on {j}", j, random_placement(rng), robot.model.names[j])


def random_contact(rng: Random, robot: Robot, name: str, rates: bool = False) -> RowOwner:
    """Of any type, axes and form; with `rates` the rows that pinocchio has."""
    frame, anchored = random_frame(rng, robot), bool(rng.random() < 0.7)
    form, axes = (Form.RATES, Axes.LOCAL) if rates else (random_form(rng), random_axes(rng))
    kind = int(rng.integers(2)) if rates else int(rng.integers(3))
    if kind == 0:
        return SurfaceContact(
            robot, frame, random_placement(rng) if anchored else None, axes=axes, form=form, name=name
        )
    normal = random_axis(rng) if kind == 2 else None
    at = rng.uniform(-0.5, 0.5, 3) if anchored else None
    return PointContact(robot, frame, normal, at, axes=axes, form=form, name=name)


def random_constraint(rng: Random, robot: Robot, name: str) -> RowOwner:
    """Any: a closure of any hinge, a point closure, a rod, a contact, the centre of mass, a one-sided place."""
    way = rng.random()
    if way < 0.25:
        return random_contact(rng, robot, name)
    if way < 0.32:
        if rng.random() < 0.5:
            return Implicit.zero(CenterOfMass(robot), name=name)
        return Implicit.above(Position(robot, random_frame(rng, robot)), name=name)  # on one side only
    a, b = (random_frame(rng, robot) for _ in range(2))
    if a.joint == b.joint:
        a = Frame("world", 0, random_placement(rng), "universe")
    if way < 0.42:
        return PointClosure(robot, a, b, name=name)
    if way < 0.5:
        return RodClosure(robot, a, b, rng.uniform(0.2, 1.5), name=name)
    makers = hinge_makers()
    word = str(rng.choice(list(makers)))
    form = Form.DERIVATIVE if word == "custom" else random_form(rng)
    return Closure(robot, a, b, makers[word](rng), form=form, name=name)


def random_set(rng: Random, robot: Robot, kind: str) -> ConstraintSet:
    """A set of full rank at a random state, and then what the kind adds."""
    owners: list[RowOwner] = []
    wish = int(rng.integers(0 if kind == "mixed" else 1, 5))
    for i in range(60):
        if len(owners) >= wish:
            break
        one = (
            random_constraint(rng, robot, f"c{i}")
            if kind not in ("contacts", "rates")
            else random_contact(rng, robot, f"c{i}", kind == "rates")
        )
        trial = [*owners, one]
        if is_full(rng, ConstraintSet(robot, trial)):
            owners = trial
    if not owners and wish:
        owners = [PointContact(robot, random_frame(rng, robot), random_axis(rng), name="one")]
    if kind in ("repeated", "contradicting"):
        owners += [
            PointContact(robot, frame := random_frame(rng, robot), name="point"),
            PointContact(robot, frame, axes=Axes.LOCAL, form=Form.RATES, name="point again"),
        ]
    if kind == "narrow":
        n, frame = random_axis(rng), random_frame(rng, robot)
        m = n + 10.0 ** rng.uniform(-10, -4) * random_axis(rng)
        owners += [PointContact(robot, frame, n, name="normal")]
        owners += [PointContact(robot, frame, m / np.sqrt(m @ m), name="normal again")]
    return ConstraintSet(robot, owners)


def is_full(rng: Random, trial: ConstraintSet) -> bool:
    """Whether the rows are independent at a random state, with some room, and can be evaluated."""
    model = trial.robot.model
    rows = trial.rows_at(
        trial.robot.at(pin.integrate(model, pin.neutral(model), rng.standard_normal(model.nv)), np.zeros(model.nv))
    )
    G = rows.jacobian[trial.counts_in(rows)]
    lengths = np.sqrt((G * G).sum(axis=1))
    if len(G) > G.shape[1] or (lengths < 1e-3).any():
        return False
    return not len(G) or bool(np.linalg.svd(G / lengths[:, None], compute_uv=False)[-1] > 1e-2)


def with_options(rng: Random, made: ConstraintSet, plain: bool) -> ConstraintSet:
    """Stabilisation, and constraints that are off."""
    if not plain or rng.random() < 0.1:
        for owner in made.stack:
            if rng.random() < 0.2:
                gains = Baumgarte(*rng.uniform(0.0, 100.0, 2)) if rng.random() < 0.5 else 10.0 ** rng.uniform(-2, 0)
                made = made.stabilised(gains, owner)
    if len(made) > 1 and rng.random() < 0.1:
        made = made.switched(off=[int(rng.integers(len(made)))])
    return made


# States.


def random_state(rng: Random, made: ConstraintSet, kind: str, spread: float) -> State:
    robot = made.robot
    step = spread * rng.standard_normal(robot.nv)
    if kind == "stretched":
        step = 10.0 ** rng.uniform(-12, 0) * rng.standard_normal(robot.nv) * (rng.random() < 0.7)
    elif rng.random() < 0.01:
        step[rng.random(robot.nv) < 0.7] = 0.0
    q = pin.integrate(robot.model, pin.neutral(robot.model), step)
    v = rng.standard_normal(robot.nv) * float(rng.choice([0.0, 0.3, 1.0, 10.0]))
    tau = rng.standard_normal(robot.nv) * (rng.random() < 0.8) * 10.0 ** rng.uniform(-1, 3)
    external: tuple[ExternalForce, ...] = ()
    if rng.random() < 0.2:
        external = (ExternalForce(random_frame(rng, robot), 10.0 * rng.standard_normal(6), random_axes(rng)),)
    acceleration: Vector | None = None
    if kind == "contradicting" or (kind in ("mixed", "contacts") and rng.random() < 0.2):
        acceleration = 10.0 ** rng.uniform(-6, 1) * rng.standard_normal(made.size)
    return State(q, v, tau, external, acceleration)
