"""Contact dynamics with derivatives against pinocchio's two calls: microseconds, in the same run.

    python benchmarks/contact_dynamics.py [--json FILE] [--check]

ANYmal on four points, Talos' legs and Talos on two soles, in their own axes, in the form RATES, with gains. `peer` is
`pin.constraintDynamics` and `computeConstraintDynamicsDerivatives`; `fused` the same through `FusedContacts` (at most
2.2 times the peer); `general` forward dynamics and its derivatives by rows, as for any set (at most 8.5 times). Least
times of bursts that go round, in processor time of this process. The exit code is 1 where a ratio is missed, or the two
ways differ by more than 1e-10.
"""

# ruff: noqa: E402  # the number of threads is set before numpy is imported
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from proving import TESTS

sys.path.append(str(TESTS))

from crocoddyl_cases import SOLES, robot_of

from constraints import Base, Robot
from constraints.dynamics import forward_dynamics
from constraints.dynamics.derivatives import solution_slopes
from constraints.dynamics.fused_contacts import FusedContacts
from constraints.loops import Axes, Baumgarte, ConstraintSet, Form, PointContact, SurfaceContact
from constraints.robot.packages import robot_data_folder

FUSED, GENERAL, SAME = 2.2, 8.5, 1e-10
BURST = 50


@dataclass(frozen=True, eq=False)
class Case:
    """A robot on its feet, at a random state."""

    name: str
    robot: Robot
    feet: tuple[str, ...]
    of_points: bool

    def measure(self, repeats: int) -> dict[str, float]:
        """Least times [us], and how far both ways are apart."""
        robot, rng = self.robot, np.random.default_rng(0)
        q = robot.random(rng)
        v, tau = rng.standard_normal((2, robot.nv))
        made: list[Any] = []
        for foot in self.feet:
            kind: Any = PointContact if self.of_points else SurfaceContact
            made.append(kind(robot, foot, axes=Axes.LOCAL, form=Form.RATES, name=foot).anchored(robot.space.neutral))
        some = ConstraintSet(robot, made).stabilised(Baumgarte(10.0, 5.0))
        fused = FusedContacts(some)

        def both_fused() -> Any:
            return fused.solve(q, v, tau), fused.slopes()

        def both_general() -> Any:
            motion = robot.at(q, v)
            found = forward_dynamics(some, motion, tau)
            a, multipliers = found.acceleration, found.multipliers
            return (a, multipliers), solution_slopes(some, q, v, a, multipliers, motion.mass_matrix())

        calls = {"peer": self.peer(q, v, tau), "fused": both_fused, "general": both_general}
        apart = 0.0
        one, other = both_fused()[1], both_general()[1]
        for name in vars(one):
            x, y = getattr(one, name), getattr(other, name)
            apart = max(apart, float(np.abs(x - y).max()) / float(np.abs(y).max()))
        return {**least(calls, repeats), "apart": apart}

    def peer(self, q: Any, v: Any, tau: Any) -> Callable[[], Any]:
        """Pinocchio's two calls."""
        model: Any = self.robot.model
        data, kind = model.createData(), pin.ContactType.CONTACT_3D if self.of_points else pin.ContactType.CONTACT_6D
        models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for foot in self.feet:
            frame = model.frames[model.getFrameId(foot)]
            one = pin.RigidConstraintModel(kind, model, frame.parentJoint, frame.placement, pin.LOCAL)
            one.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(10.0, 5.0))
            models.append(one)
            datas.append(one.createData())
        pin.initConstraintDynamics(model, data, models, datas)
        settings = pin.ProximalSettings(1e-14, 1e-14, 0.0, 1)

        def both() -> None:
            pin.constraintDynamics(model, data, q, v, tau, models, datas, settings)
            pin.computeConstraintDynamicsDerivatives(model, data, models, datas, settings)

        return both


def least(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Least time of each call [us], over bursts that go round."""
    best = dict.fromkeys(calls, np.inf)
    gc.disable()  # as `timeit` does
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(BURST):
                call()
            best[name] = min(best[name], (time.process_time() - start) / BURST * 1e6)
    gc.enable()
    return best


def cases() -> list[Case]:
    """All that can be made here: Talos needs its model installed."""
    found = [Case(name, robot_of(name), SOLES[name], name == "anymal") for name in SOLES]
    if robot_data_folder() is not None:
        path = "package://example-robot-data/robots/talos_data/robots/talos_reduced.urdf"
        found.append(Case("talos", Robot.from_urdf(path, base=Base.FREE_FLYER), SOLES["talos_legs"], False))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--check", action="store_true", help="a short run; ratios are not judged")
    options = parser.parse_args()
    figures, missed = dict[str, dict[str, float]](), 0
    for case in cases():
        times = figures[case.name] = case.measure(3 if options.check else 60)
        fused, general = times["fused"] / times["peer"], times["general"] / times["peer"]
        times |= {"fused_ratio": fused, "general_ratio": general}
        print(
            f"{case.name}: peer {times['peer']:.1f} us, fused {times['fused']:.1f} us ({fused:.2f} times), general "
            f"{times['general']:.1f} us ({general:.2f} times), apart {times['apart']:.1g}"
        )
        slow = not options.check and (fused > FUSED or general > GENERAL)
        missed += slow or times["apart"] > SAME
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
