# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots]"]
# ///
"""Cassie is dropped onto its feet: it falls, hits the ground, and stands; the forces under its heels and toes.

    python examples/cassie_dropped.py            # prints what it does
    python examples/cassie_dropped.py --plot OUT.png   # draws it, with the forces under its feet
    python examples/cassie_dropped.py --check    # the same; fails if something is not as it should be

The robot is that of example-robot-data; where it is not installed there is nothing to see. Shows closed chains in
motion with contacts that are switched on by an event: an impact, and from then on four more constraints, whose
multipliers are the forces of the ground. Contacts stick, and could pull: the example checks that they never do.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pinocchio as pin
from scipy.optimize import brentq

from constraints import ConstraintError, Frame, Robot
from constraints.dynamics import Event, Impact, MotionRecord, SimulationOptions, impact, simulate
from constraints.loops import AssemblyOptions, ConstraintSet, PointClosure, PointContact, assemble_position
from constraints.models import Mechanism, load
from constraints.robot import Motion

CASSIE = "package://example-robot-data/robots/cassie_description/robots/cassie_v2.sdf"
SIDES = ("left", "right")
HEIGHT, DURATION, STEP = 0.05, 0.6, 0.002  # [m], [s]
# By joint: inertia of the rotor seen from the joint [kg m2], stiffness [N m/rad] and damping [N m s/rad]. The last two
# are leaf springs, damped more than the real ones are so that it does not jump; the others are motors that hold it.
DRIVES = {
    "roll-op": (0.038, 800.0, 20.0),
    "yaw-op": (0.038, 400.0, 10.0),
    "pitch-op": (0.093, 400.0, 30.0),
    "knee-op": (0.093, 300.0, 30.0),
    "foot-op": (0.012, 200.0, 4.0),
    "knee-shin-joint": (0.0, 1500.0, 12.0),
    "tarsus-spring-joint": (0.0, 1250.0, 12.0),
}


@dataclass
class Cassie:
    """The robot with its loops and contacts, a balanced posture above the ground, and its drives."""

    rows: ConstraintSet
    soles: dict[str, Frame]
    posture: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray

    @property
    def robot(self) -> Robot:
        return self.rows.robot

    def lowest(self, motion: Motion) -> float:
        """Height of the lowest point of the soles above the ground [m]."""
        return min(motion.posture.placement(sole).translation[2] for sole in self.soles.values())

    def forces(self, motion: Motion) -> np.ndarray:
        """Of motors and springs, towards the posture."""
        away = self.robot.space.difference(motion.posture.q, self.posture)
        return self.stiffness * away - self.damping * motion.v


def above_ground(file: Mechanism) -> Cassie:
    """1. The mechanism with its rotors, legs turned until the feet are under the centre of mass, soles level."""
    model, closures = pin.Model(file.robot.model), cast(Any, file.closures)
    armature, stiffness, damping = np.zeros((3, model.nv))
    for side in SIDES:
        for joint, numbers in DRIVES.items():
            i = file.robot.velocity_slice_of(f"{side}-{joint}").start
            armature[i], stiffness[i], damping[i] = numbers
    model.armature = armature
    robot = Robot(model, "cassie")
    loops = [PointClosure(robot, loop.predecessor, loop.successor, name=loop.name) for loop in closures]

    def turned(angle: float) -> np.ndarray:
        return robot.configuration({f"{side}-pitch-op": angle for side in SIDES}, start=file.posture("file"))

    def ahead(angle: float) -> float:
        at = robot.at(turned(angle))
        return float(at.center_of_mass()[0] - at.placement("left-foot-op").translation[0])

    start = turned(brentq(ahead, -0.6, 0.6))
    q = (
        assemble_position(
            ConstraintSet(robot, loops), start, options=AssemblyOptions(tolerance=1e-7), driven=["root_joint"]
        )
        .or_raise()
        .q.copy()
    )
    soles = {
        f"{side} {part}": sole(robot, q, side, x) for side in SIDES for part, x in (("heel", -0.08), ("toe", 0.08))
    }
    contacts = [PointContact(robot, frame, name=name) for name, frame in soles.items()]
    cassie = Cassie(ConstraintSet(robot, [*loops, *contacts]), soles, q, stiffness, damping)
    q[2] += HEIGHT - cassie.lowest(robot.at(q, np.zeros(robot.nv)))
    return cassie


def sole(robot: Robot, q: np.ndarray, side: str, ahead: float) -> Frame:
    """A point of a foot, below its joint, and ahead of it or behind."""
    foot = robot.at(q).placement(f"{side}-foot-op")
    place = foot.actInv(foot.translation + np.array([ahead, 0.0, -0.05]))
    return robot.frame(f"{side}-foot-op", pin.SE3(np.eye(3), place))


def dropped(cassie: Cassie) -> tuple[MotionRecord, Impact]:
    """2. The motion with the contacts off, until the soles are at the ground: an impact, and they are on."""
    hits: list[Impact] = []

    def land(motion: Motion) -> tuple[Motion, ConstraintSet]:
        hits.append(impact(cassie.rows, motion).or_raise())
        return cassie.robot.at(motion.posture.q, hits[-1].velocity), cassie.rows

    lands = Event(cassie.lowest, "lands", direction="falling", reset=land, once=True)
    falling, at_rest = cassie.rows.switched(off=list(cassie.soles)), np.zeros(cassie.robot.nv)
    record = simulate(
        falling,
        cassie.posture,
        at_rest,
        DURATION,
        STEP,
        forces=cassie.forces,
        events=lands,
        options=SimulationOptions(tolerance=1e-7),
    )
    return record.or_raise(), hits[0]


def pushes(cassie: Cassie, record: MotionRecord) -> dict[str, np.ndarray]:
    """Vertical force under each heel and toe (n,) [N]."""
    return {name: record.multipliers_of(name)[:, 2] for name in cassie.soles}


def draw(cassie: Cassie, record: MotionRecord, path: str) -> None:
    """Cassie before and after, from the side, and the forces under its feet."""
    from matplotlib.figure import Figure

    from constraints.pictures.robots import stick_figure

    figure = Figure(figsize=(10.5, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 2])
    deepest = int(record.qs[:, 2].argmin())
    shown = ((0, "#c7c7c7", "start"), (deepest, "#ff7f0e", "deepest"), (len(record.times) - 1, "#1f77b4", "end"))
    for k, colour, label in shown:
        for i, (a, b) in enumerate(stick_figure(cassie.robot, record.qs[k], list(cassie.soles.values()))):
            words = f"{label}, {record.times[k]:.2f} s" if i == 0 else None
            left.plot([a[0], b[0]], [a[2], b[2]], color=colour, label=words, solid_capstyle="round")
    left.axhline(0.0, color="k", linewidth=0.8)
    left.set(aspect="equal", title="from the side", xlabel="x [m]", ylabel="z [m]")
    left.legend(loc="upper left", bbox_to_anchor=(0.0, -0.12), frameon=False)
    total = np.sum([*pushes(cassie, record).values()], axis=0)
    right.plot(record.times, total, "k", label="all")
    for name, push in pushes(cassie, record).items():
        right.plot(record.times, push, label=name, linestyle="-" if "heel" in name else "--")
    words = f"{total.max() / 1e3:.1f} kN"
    right.annotate(words, (record.events[0].time, 2000.0), xytext=(8, -12), textcoords="offset points")
    right.set(title="forces of the ground", xlabel="time [s]", ylabel="[N]", ylim=(-100.0, 2000.0))
    right.legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="Cassie is dropped onto its feet.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    try:
        cassie = above_ground(load(CASSIE))
    except ConstraintError as missing:
        print(f"Nothing takes the place of Cassie: {missing}")
        return
    weight = 9.81 * sum(inertia.mass for inertia in cassie.robot.model.inertias)
    print(f"1. {cassie.robot}, {cassie.rows}, {HEIGHT} m above the ground\n")

    print("2. It is dropped")
    record, hit = dropped(cassie)
    print(record.describe())
    print(f"  the impact: {hit}")

    print("\n3. It stands")
    stands = {name: push[-1] for name, push in pushes(cassie, record).items()}
    print("  " + ", ".join(f"{name} {push:.1f} N" for name, push in stands.items()))
    print(f"  together {sum(stands.values()):.1f} N; its weight is {weight:.1f} N")

    if options.plot is not None:
        draw(cassie, record, options.plot)
    if options.check:
        assert abs(record.events[0].time - np.sqrt(2.0 * HEIGHT / 9.81)) < 1e-8
        assert hit.impulses.reshape(-1, 3)[4:, 2].min() > 0.0  # after four loops of three rows; no foot was pulled down
        assert 0.0 < hit.energy_lost < weight * HEIGHT
        landed = record.times > record.events[0].time
        assert min(push[landed].min() for push in pushes(cassie, record).values()) > 0.0
        assert abs(sum(stands.values()) - weight) < 1.0
        assert np.abs(record.v).max() < 0.01
        assert record.position_drift.max() <= 1e-7
        last = cassie.robot.at(record.q)
        assert max(abs(last.placement(sole).translation[2]) for sole in cassie.soles.values()) < 1e-5


if __name__ == "__main__":
    main()
