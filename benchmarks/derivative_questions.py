"""Questions of `derivative_soundness.py`: robots with contacts, loops and other rows, at random states."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
import pinocchio as pin
from closed_mechanisms import closed_mechanism
from crocoddyl_cases import SOLES, robot_of
from derivative_oracle import Vector
from dynamics_blocks import (
    Random,
    State,
    hinge_makers,
    make_block,
    random_axes,
    random_axis,
    random_form,
    random_frame,
    random_state,
)
from random_trees import random_placement
from robots import talos

from constraints import CenterOfMass, ComBetweenFeet, ConvexShapeContact, Frame, Implicit, Robot, Surface
from constraints.dynamics import HingeForce, HingeSpring, JointSpring, PointLink, PointSpring
from constraints.dynamics.laws.external_force import Force
from constraints.functions import Identity
from constraints.loops import (
    AssemblyOptions,
    Baumgarte,
    Closure,
    ConstraintSet,
    Form,
    PointContact,
    SurfaceContact,
    assemble_position,
    assemble_velocity,
)
from constraints.robot.files.packages import robot_data_folder
from constraints.rows import RowOwner

KINDS = ("anymal", "talos_legs", "trees", "cassie", "talos", "actions")


def question(seed: int, index: int, kind: str | None = None) -> tuple[str, ConstraintSet, State]:
    """State `index` of a seed."""
    name, made, state = without_laws(seed, index, KINDS[index % len(KINDS)] if kind is None else kind)
    more = laws(np.random.default_rng([seed, index, 19]), made.robot)
    return name, made, replace(state, external=(*state.external, *more))


def without_laws(seed: int, index: int, kind: str) -> tuple[str, ConstraintSet, State]:
    """The rows, and the state with constant forces."""
    if kind == "trees":
        block = make_block(seed, index)
        return block.name, block.constraint_set, block.states[0]
    rng = np.random.default_rng([seed, index, 17])
    if kind == "cassie":
        return kind, *cassie(rng, np.random.default_rng([seed, index, 20]).random() < 0.2)
    robot = robot_named(kind)
    made = with_gains(rng, ConstraintSet(robot, contacts(rng, robot, SOLES.get(kind, SOLES["talos_legs"]))))
    if rng.random() < 0.1:
        made = made.switched(off=[0])
    state = random_state(rng, made, "mixed", 1.0)
    doubled = any(owner.name == "again" for owner in made.stack)  # two wishes for one foot contradict each other
    return kind, made, replace(state, acceleration=None) if doubled else state


def laws(rng: Random, robot: Robot) -> list[Force]:
    """Forces that follow the state, a third of the time: springs, links and forces at hinges that hold nothing."""
    if rng.random() < 0.67:
        return []
    a, b = (random_frame(rng, robot) for _ in range(2))
    if a.joint == b.joint:
        a = Frame("wall", 0, random_placement(rng), "universe")
    k, d = 10.0 ** rng.uniform(0.0, 3.0), 10.0 ** rng.uniform(-1.0, 2.0)
    makers = hinge_makers()
    cut = Closure(robot, a, b, makers[str(rng.choice([kind for kind in makers if kind != "locked"]))](rng))
    made: list[Force] = [
        PointSpring(robot, a, b, k, d, rng.uniform(0.0, 1.0), rng.uniform(-10.0, 10.0)),
        PointSpring(robot, b, a, k, d),
        PointLink(robot, a, b, rng.uniform(-10.0, 10.0)),
        JointSpring(robot, str(rng.choice(robot.joint_names)), k, d),
        HingeSpring(cut, k, d),
        HingeForce(cut, 10.0 * rng.standard_normal(cut.hinge.dofs)),
    ]
    return [law for law in made if rng.random() < 0.4]


def robot_named(kind: str) -> Robot:
    """The robot of a kind of question; all of Talos where example-robot-data is installed, else its legs."""
    if kind != "talos" or robot_data_folder() is None:
        return robot_of("talos_legs" if kind == "talos" else kind)
    return talos()


def contacts(rng: Random, robot: Robot, feet: tuple[str, ...]) -> list[RowOwner]:
    """Contacts of some feet; now and then one more on a joint, or a foot twice."""
    found: list[RowOwner] = []
    for i, foot in enumerate(feet):
        if rng.random() < 0.8 or not found:
            found.append(contact(rng, robot, foot, f"c{i}", len(feet) == 2))
    if rng.random() < 0.3:
        found.append(contact(rng, robot, random_frame(rng, robot), "more", False))
    if rng.random() < 0.25:
        found[0] = SurfaceContact(robot, feet[0], form=Form.RATES, name="foot")
        found.append(SurfaceContact(robot, feet[0], form=Form.RATES, axes=random_axes(rng), name="again"))
    if rng.random() < 0.3:
        found.append(of_mass_or_surfaces(rng, robot, feet))
    return found


def of_mass_or_surfaces(rng: Random, robot: Robot, feet: tuple[str, ...]) -> RowOwner:
    """Where the centre of mass is, of all or a part, from somewhere; a hand that lies on a plane."""
    way, names = rng.random(), robot.joint_names
    if way < 0.6:
        reference: Any = random_frame(rng, robot) if rng.random() < 0.5 else None
        subtrees = [str(rng.choice(names[len(names) // 2 :]))] if rng.random() < 0.5 else None
        return Implicit.equal(CenterOfMass(robot, subtrees=subtrees, reference=reference), name="mass")
    if way < 0.7:
        base = Frame("base", 1, pin.SE3.Identity(), names[0])
        return Implicit(ComBetweenFeet(robot, feet[0], feet[1], base), mask=[1, 1, 0, 0], name="between feet")
    square = np.array([[-0.4, -0.3, 0.0], [0.4, -0.3, 0.0], [0.4, 0.3, 0.0], [-0.4, 0.3, 0.0]])
    hand = Surface("hand", random_frame(rng, robot), square)
    return Implicit.zero(
        ConvexShapeContact(robot, Surface("floor", robot.frame("universe"), square), hand), name="lies"
    )


def contact(rng: Random, robot: Robot, frame: Any, name: str, whole: bool) -> RowOwner:
    """Of a surface or a point, some of its rows, or one along a normal."""
    way, form, axes = rng.random(), random_form(rng), random_axes(rng)
    if way < (0.7 if whole else 0.1):
        anchor = pin.SE3(pin.exp3(rng.standard_normal(3)), rng.uniform(-1.0, 1.0, 3))
        given = anchor if rng.random() < 0.8 else None
        return SurfaceContact(robot, frame, given, axes=axes, form=form, mask=random_mask(rng, 6), name=name)
    at = rng.uniform(-0.5, 0.5, 3) if rng.random() < 0.8 else None
    normal = random_axis(rng) if way > 0.9 else None
    mask = None if way > 0.9 else random_mask(rng, 3)
    return PointContact(robot, frame, normal, at, axes=axes, form=form, mask=mask, name=name)


def random_mask(rng: Random, rows: int) -> list[bool] | None:
    """Some of the rows, a third of the time."""
    if rng.random() < 0.67:
        return None
    mask = rng.random(rows) < 0.7
    mask[int(rng.integers(rows))] = True
    return mask.tolist()


def with_gains(rng: Random, made: ConstraintSet) -> ConstraintSet:
    """Stabilised, more often than not."""
    doubled = any(owner.name == "again" for owner in made.stack)  # of which gains would ask two things
    return made.stabilised(Baumgarte(*rng.uniform(0.0, 30.0, 2))) if rng.random() < 0.7 and not doubled else made


@functools.cache
def cassie_closed() -> tuple[Any, ConstraintSet, list[RowOwner], Vector]:
    """The mechanism, its loops, the same as rows of the maps that compute joints of them, and its closed keyframe."""
    mechanism, _ = closed_mechanism("cassie_mjcf")
    loops, start = mechanism.constraint_set(), np.array(next(iter(mechanism.postures.values())))
    closed = assemble_position(loops, start, options=AssemblyOptions(tolerance=1e-12)).q
    space, maps = mechanism.robot.space, mechanism.explicit_loops(closed).loops
    computed: list[RowOwner] = [
        Implicit.zero(Identity(space).restricted(loop.outputs) - loop.function.on(space, loop.inputs), name=loop.name)
        for loop in maps
    ]
    return mechanism.robot, loops, computed, start


def cassie(rng: Random, by_maps: bool) -> tuple[ConstraintSet, State]:
    """On no foot, one or two; closed by its closures, or by maps from joints to joints."""
    robot, loops, computed, start = cassie_closed()
    q = robot.space.integrate(start, 0.1 * rng.standard_normal(robot.nv))
    q = assemble_position(loops, q, options=AssemblyOptions(tolerance=1e-12, max_iterations=100)).q
    found: list[RowOwner] = list(computed if by_maps else loops.stack.owners)
    for foot in ("left-foot", "right-foot"):
        if rng.random() < 0.5:
            joint = list(robot.model.names).index(foot)
            found.append(PointContact(robot, random_frame(rng, robot, joint), axes=random_axes(rng), name=foot))
    made = with_gains(rng, ConstraintSet(robot, found))
    state = random_state(rng, made, "mixed", 0.0)
    return made, replace(state, q=q, v=assemble_velocity(loops, q, state.v), acceleration=None)  # redundant rows
