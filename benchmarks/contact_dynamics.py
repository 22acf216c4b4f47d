"""Contact dynamics with derivatives as an action, beside pinocchio's own two calls.

    python benchmarks/contact_dynamics.py [--json FILE] [--repeats N]
    python benchmarks/contact_dynamics.py --check

Models: ANYmal on four points and the legs of Talos on two soles (`tests/data/crocoddyl`), and, where example-robot-data
is installed, all of Talos on two soles. The clock is `pin.constraintDynamics` and then
`computeConstraintDynamicsDerivatives`, on the same contacts at the same state. A call of ours is `calc` and `calc_diff`
of an action with derivatives of the multipliers and no costs, arguments checked, results copied.

    fast     contacts in their own axes: pinocchio's calls inside
    general  the same contacts by the library's own rows (right-hand sides given)
    aligned  the same contacts in world axes, where pinocchio's derivatives are wrong
    core     without an action: `forward_dynamics` and the derivatives by rows, as for any set

All calls are timed in short bursts that go round, in processor time of this process; a time is the least of its bursts,
and the median is beside it. Limits, as ratios of least times in the same run: fast at most 2.2, general and core at
most 8.5; the exit code is 1 where one is missed. Beside them stand, on the legs of Talos, what acceptance case 20 asks
for in microseconds, where the clock takes 30 us: value and Jacobian of two pose constraints (40), a Newton step on them
(100; here a projection of one iteration, arguments checked and the end judged), contact dynamics with derivatives (250,
fast 50).

`--check` is quick: both ways give the same numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
import pinocchio as pin
from crocoddyl_cases import SOLES, robot_of
from robots import talos
from timing import Times, cases_timed, rigid_contacts

from constraints import Implicit, Options, Pose, Problem, Projector, Robot
from constraints.actions import Actuators, ContactForwardDynamics
from constraints.dynamics import forward_dynamics
from constraints.dynamics.derivatives import balance_at, slopes_of_balance
from constraints.loops import Axes, ConstraintSet, Form, PointContact, SurfaceContact
from constraints.robot.files.packages import robot_data_folder
from constraints.rows.stacking import Order, stack_rows
from constraints.workspace import Workspace

BURST = 20
SAME = 1e-10
LIMITS = {"fast": 2.2, "general": 8.5, "core": 8.5}
CASE_20 = {"two poses, value and Jacobian": 40.0, "Newton step": 100.0, "general": 250.0, "fast": 50.0}
CLOCK = 30.0
"""What the clock takes on the legs of Talos where case 20 was written [us]."""


class Case:
    """A robot on its contacts, with the calls that are timed.

    Args:
        name: of the model.
        robot: it.
        frames: of the contacts.
        is_point: whether they hold points; frames otherwise.
    """

    def __init__(self, name: str, robot: Robot, frames: tuple[str, ...], is_point: bool) -> None:
        self.name, self.robot = name, robot
        rng = np.random.default_rng(0)
        self.q, self.v = robot.random(rng), rng.standard_normal(robot.nv)
        actuators = Actuators.floating_base(robot)
        self.u = rng.standard_normal(actuators.nu)
        kind: Any = PointContact if is_point else SurfaceContact
        sets = [
            ConstraintSet(robot, [kind(robot, f, axes=axes, form=Form.RATES, name=f).anchored(self.q) for f in frames])
            for axes in (Axes.LOCAL, Axes.LOCAL_WORLD_ALIGNED)
        ]
        fast, aligned = (ContactForwardDynamics(robot, actuators, s, with_force_derivatives=True) for s in sets)
        self.actions = {"fast": fast, "general": fast.replace(rhs=sets[0].rhs), "aligned": aligned}
        self.x = fast.state.join(self.q, self.v)
        self.calls: dict[str, Callable[[], Any]] = {"clock": self.clock(sets[0], is_point)}
        for way, action in self.actions.items():
            self.calls[way] = lambda action=action: action.calc_diff(action.calc(self.x, self.u))
            self.calls[f"{way}, calc alone"] = lambda action=action: action.calc(self.x, self.u)

        self.calls["core"] = lambda: self.core(sets[0])

    def core(self, contacts: ConstraintSet) -> Any:
        """Forward dynamics, and derivatives by rows."""
        motion = self.robot.at(self.q, self.v)
        found = forward_dynamics(contacts, motion, self.actions["fast"].actuators.tau(self.q, self.u))
        a, multipliers = found.acceleration, found.multipliers
        tree = self.robot.space.elementary
        data = tree.datas.take()
        balance = balance_at(contacts, self.q, self.v, a, multipliers, tree, data)
        slopes = slopes_of_balance(contacts, self.q, motion.mass_matrix(), balance, multipliers, data)
        tree.datas.give(data)
        return slopes

    def clock(self, contacts: ConstraintSet, is_point: bool) -> Callable[[], Any]:
        """Pinocchio's two calls."""
        model: Any = self.robot.model
        kind = pin.ContactType.CONTACT_3D if is_point else pin.ContactType.CONTACT_6D
        owners: Any = contacts.stack
        feet = [owner.successor for owner in owners]
        data, models, datas = rigid_contacts(model, kind, [(foot.joint, foot.placement) for foot in feet])
        settings = pin.ProximalSettings(1e-14, 1e-14, 0.0, 1)
        tau = np.concatenate([np.zeros(self.robot.nv - self.u.size), self.u])

        def both() -> Any:
            pin.constraintDynamics(model, data, self.q, self.v, tau, models, datas, settings)
            return pin.computeConstraintDynamicsDerivatives(model, data, models, datas, settings)

        return both

    def add_kinematics(self, frames: tuple[str, ...]) -> None:
        """The half of case 20 without dynamics."""
        robot, rng = self.robot, np.random.default_rng(1)
        q = robot.space.integrate(self.q, 0.05 * rng.standard_normal(robot.nv))
        poses = [Implicit.equal(Pose(robot, f), Pose(robot, f).value(self.q), name=f) for f in frames]
        problem = Problem(robot, poses)
        stack, workspace = problem.constraints, Workspace()
        projector = Projector(problem, Options(max_iterations=1, restarts=False))
        self.calls["two poses, value and Jacobian"] = lambda: stack_rows(
            stack, robot.at(q, workspace=workspace), Order.POSITION
        )
        self.calls["Newton step"] = lambda: projector.project(q)


def legs() -> Case:
    """The legs of Talos, with what else case 20 asks for."""
    made = Case("Talos legs, two soles", robot_of("talos_legs"), SOLES["talos_legs"], False)
    made.add_kinematics(SOLES["talos_legs"])
    return made


CASES: dict[str, Callable[[], Case]] = {
    "ANYmal, four points": lambda: Case("ANYmal, four points", robot_of("anymal"), SOLES["anymal"], True),
    "Talos legs, two soles": legs,
}
if robot_data_folder() is not None:
    CASES["Talos, two soles"] = lambda: Case("Talos, two soles", talos(), SOLES["talos_legs"], False)


def apart(case: Case) -> float:
    """How far the two ways are apart, as a part of the largest entry of each array."""
    found = list[tuple[Any, Any]]()
    for action in (case.actions["fast"], case.actions["general"]):
        done = action.calc(case.x, case.u)
        found.append((done, action.calc_diff(done)))
    (fast, fast_slopes), (general, general_slopes) = found
    if fast.trace is None or general.trace is not None:
        raise RuntimeError(f"{case.name}: the two ways are one")
    pairs = [(getattr(fast, n), getattr(general, n)) for n in ("acceleration", "multipliers")]
    names = ("Fx", "Fu", "multipliers_x", "multipliers_u")
    pairs += [(getattr(fast_slopes, n), getattr(general_slopes, n)) for n in names]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


def check(names: Sequence[str]) -> bool:
    """Both ways give the same numbers."""
    worst = {name: apart(CASES[name]()) for name in names}
    for name, part in worst.items():
        print(f"{name}: pinocchio's calls and the library's own rows are {part:.1g} apart")
    return max(worst.values()) <= SAME


def report(name: str, found: Times) -> bool:
    """A table of one model; whether every limit is reached."""
    is_met, both = True, {call: np.array([us.min(), np.median(us)]) for call, us in found.items()}
    print(f"\n{name}: least and median [us], and as parts of the clock")
    for call, us in both.items():
        ratios, limit = us / both["clock"], LIMITS.get(call)
        verdict = "" if limit is None else f"  limit {limit:g}{'' if ratios[0] <= limit else '  MISSED'}"
        is_met &= limit is None or bool(ratios[0] <= limit)
        print(f"  {call:32s} {us[0]:9.1f} {us[1]:9.1f}   {ratios[0]:6.2f} {ratios[1]:6.2f}{verdict}")
    if "Newton step" in found:
        print(f"  case 20, scaled to a clock of {CLOCK:g} us:")
        for call, limit in CASE_20.items():
            print(f"    {call:30s} {both[call][0] * CLOCK / both['clock'][0]:9.1f}   asked {limit:g}")
    return is_met


if __name__ == "__main__":
    sys.exit(cases_timed(__doc__, list(CASES), lambda name: CASES[name]().calls, BURST, report, check))
