"""Constrained dynamics: forward dynamics by method, impulses and inverse dynamics, beside pinocchio's own calls.

    python benchmarks/dynamics.py [--json FILE] [--repeats N]
    python benchmarks/dynamics.py --check

Models: those of RBDL's reference results (`tests/data/rbdl.json`), Cassie as MuJoCo's menagerie has it, and, where
example-robot-data is installed, Talos on its two soles. Every call is timed in short bursts that go round, and its
time is the least of its bursts: other programs only add to it. A call of ours makes the motion (`robot.at(q, v)`) and
checks its arguments; "given a motion" leaves the making out. "rows" is the Jacobian with the drift, from the motion on.

The clock of Talos is `pin.constraintDynamics`, that of the humanoid `pin.forwardDynamics` given J and gamma: both are
timed in the same rounds. Limits: rows at most 40 us (where `pin.constraintDynamics` takes 12.7 us on Talos: the limit
is scaled with it), Talos at most 2 times its clock on the fast path and 6 times on the general one, the humanoid at
most 5.4 times its clock; the exit code is 1 where one is missed. Times of RBDL in C++ are records of another machine
(`tests/data/rbdl_timings.json`).

`--check` is quick: every method on the humanoid and on Cassie gives one acceleration.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin
import rbdl_models
from closed_mechanisms import closed_mechanism
from robots import talos
from timing import Times, cases_timed, rigid_contacts

from constraints.dynamics import Method, MethodError, forward_dynamics, impact, inverse_dynamics
from constraints.loops import ConstraintSet, Form, PointContact, SurfaceContact
from constraints.robot.files.packages import robot_data_folder

BURST, REFERENCE = 16, 12.7
SOLES = ("leg_left_sole_fix_joint", "leg_right_sole_fix_joint")
RECORDED = json.loads((bench_setup.TESTS / "data" / "rbdl_timings.json").read_text())["models"]
RBDL = ("fivebar_planar", "fourbar_planar", "slidercrank3d", "double_pendulum_absolute")


class Case:
    """A set at a state, with the calls that are timed on it.

    Args:
        name: of the model.
        constraint_set: its constraints.
        seed: of the state, near a closed one.
    """

    def __init__(self, name: str, constraint_set: ConstraintSet, q: Any, seed: int = 0) -> None:
        self.name, self.constraint_set, self.robot = name, constraint_set, constraint_set.robot
        rng = np.random.default_rng(seed)
        self.q, self.v, self.tau = q, rng.normal(size=self.robot.nv), rng.normal(size=self.robot.nv)
        self.calls: dict[str, Callable[[], Any]] = {"rows": self.rows}
        for method in Method:
            try:
                self.forward(method)
            except MethodError:
                continue
            self.calls[f"forward {method.name.lower()}"] = lambda method=method: self.forward(method)
        self.motion = self.robot.at(self.q, self.v)
        self.calls["forward automatic, given a motion"] = lambda: forward_dynamics(
            constraint_set, self.motion, self.tau
        )
        self.calls["impact"] = lambda: impact(constraint_set, self.robot.at(self.q, self.v))
        wished = self.forward(Method.DIRECT).acceleration
        self.calls["inverse dynamics, all joints driven"] = lambda: inverse_dynamics(
            constraint_set, self.robot.at(self.q, self.v), wished, actuation=np.eye(self.robot.nv)
        )
        self.calls |= self.pinocchio()

    def rows(self) -> Any:
        return self.constraint_set.rows_at(self.robot.at(self.q, self.v))

    def forward(self, method: Method) -> Any:
        return forward_dynamics(self.constraint_set, self.robot.at(self.q, self.v), self.tau, method=method)

    def pinocchio(self) -> dict[str, Callable[[], Any]]:
        """Pinocchio's calls, given J and gamma: a clock, that knows nothing of redundant rows."""
        model, q, v, tau = self.robot.model, self.q, self.v, self.tau
        rows = self.rows()
        J, data = rows.jacobian.copy(), model.createData()
        return {
            "pin.forwardDynamics given J, gamma": lambda: pin.forwardDynamics(
                model, data, q, v, tau, J, rows.drift, 1e-12
            ),
            "pin.impulseDynamics given J": lambda: pin.impulseDynamics(model, data, q, v, J, 0.0, 1e-12),
            "pin.aba, no constraints": lambda: pin.aba(model, data, q, v, tau),
        }


def humanoid() -> Case:
    """RBDL's humanoid on ten contact rows."""
    contacts = rbdl_models.contacts_of("humanoid_4contacts")
    space = contacts.robot.space
    q = space.integrate(space.neutral, 0.2 * np.random.default_rng(1).normal(size=space.nv))
    return Case("humanoid, 10 contact rows", contacts, q)


def of_talos(form: Form) -> Case:
    """Talos on two anchored soles."""
    robot = talos()
    home = robot.space.neutral
    soles = [SurfaceContact(robot, sole, form=form, name=sole).anchored(home) for sole in SOLES]
    q = robot.space.integrate(home, 0.1 * np.random.default_rng(0).normal(size=robot.nv))
    case = Case(f"Talos, two soles, {form.name}", ConstraintSet(robot, soles), q)
    model: Any = robot.model
    frames = [model.frames[model.getFrameId(sole)] for sole in SOLES]
    places = [(frame.parentJoint, frame.placement) for frame in frames]
    data, models, datas = rigid_contacts(model, pin.ContactType.CONTACT_6D, places)
    settings = pin.ProximalSettings(1e-12, 1e-12, 0.0, 1)
    case.calls["pin.constraintDynamics"] = lambda: pin.constraintDynamics(
        model, data, case.q, case.v, case.tau, models, datas, settings
    )
    return case


def cassie() -> Case:
    """Cassie with its four connects and a foot on the ground."""
    mechanism, _ = closed_mechanism("cassie_mjcf")
    rows = [*mechanism.constraint_set().stack.owners, PointContact(mechanism.robot, "left-foot", name="foot")]
    return Case("Cassie, four connects and a foot", ConstraintSet(mechanism.robot, rows), mechanism.postures["home"])


def of_rbdl(name: str) -> Case:
    """A model of RBDL's results at their first state."""
    state = rbdl_models.data()["models"][name]["states"][0]
    return Case(name, rbdl_models.set_of(name), np.array(state["q_inplace"], dtype=float))


CASES: dict[str, Callable[[], Case]] = {
    "humanoid, 10 contact rows": humanoid, "Cassie, four connects and a foot": cassie,
    **{name: partial(of_rbdl, name) for name in RBDL},
}  # fmt: skip
if robot_data_folder() is not None:
    CASES |= {f"Talos, two soles, {form.name}": partial(of_talos, form) for form in (Form.RATES, Form.DERIVATIVE)}


LIMITS = (
    ("Talos", "rows", "pin.constraintDynamics", REFERENCE, 40.0),
    ("RATES", "forward automatic, given a motion", "pin.constraintDynamics", 1.0, 2.0),
    ("RATES", "forward automatic", "pin.constraintDynamics", 1.0, np.inf),
    ("RATES", "forward test_forces", "pin.constraintDynamics", 1.0, 6.0),
    ("DERIVATIVE", "forward automatic", "pin.constraintDynamics", 1.0, np.inf),
    ("humanoid", "forward automatic", "pin.forwardDynamics given J, gamma", 1.0, 5.4),
)
"""A word of the case, a call, its clock, what the clock is scaled to, and how much the call may take."""


def report(name: str, found: Times) -> bool:
    """A table of one model; whether every limit is reached."""
    print(f"\n{name}")
    least, is_met = {call: float(us.min()) for call, us in found.items()}, True
    for call, micros in least.items():
        print(f"  {call:38s} {micros:9.1f} us")
    for call, micros in RECORDED.get(name.replace("humanoid, 10 contact rows", "humanoid_4contacts"), {}).items():
        print(f"  RBDL in C++, recorded: {call:15s} {micros:9.1f} us")
    for word, call, clock, scale, limit in LIMITS:
        if word in name:
            reached = least[call] * scale / least[clock]
            verdict = "" if not np.isfinite(limit) else f"limit {limit:g}{'' if reached <= limit else '  MISSED'}"
            print(f"  {f'{call} / {clock}':70s} {reached:7.2f}  {verdict}")
            is_met &= reached <= limit
    return is_met


def check(names: Sequence[str]) -> bool:
    """Every method gives one acceleration."""
    for case in (CASES[name]() for name in names[:2]):
        first = case.forward(Method.NULL_SPACE).acceleration
        for method in Method:
            try:
                found = case.forward(method).or_raise()
            except MethodError:
                continue
            assert np.abs(found.acceleration - first).max() <= 1e-8 * np.abs(first).max(), (case.name, method)
    print("every method that takes the set gives one acceleration")
    return True


if __name__ == "__main__":
    sys.exit(cases_timed(__doc__, list(CASES), lambda name: CASES[name]().calls, BURST, report, check))
