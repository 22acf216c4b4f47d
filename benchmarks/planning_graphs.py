"""Scenes of `planning.py` over constraint graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path as File
from typing import Any

import bench_setup  # noqa: F401
import judge
import numpy as np
import pick_and_place
import pinocchio as pin
import swap
from planning_hpp import CONSTRUCTION, OPEN
from planning_scenes import Array, Query, Scene

from constraints import (
    Base,
    CenterOfMass,
    ConstraintError,
    Frame,
    Implicit,
    Options,
    Part,
    Pose,
    Projector,
    Robot,
    Surface,
    locked_joint,
)
from constraints.collisions import CollisionModel, Shape
from constraints.manipulation import (
    ConstraintGraph,
    ConstraintGraphFactory,
    Gripper,
    MovableObject,
    Rule,
    SecurityMargins,
    read_semantics,
)
from constraints.paths import Path
from constraints.planning import Limits, Plan, plan

Handles = Mapping[str, Sequence[tuple[Frame, Any]]]
"""Of each object: frames, and the rows that a grasp there fixes."""
THINGS = ("sphere0", "sphere1", "cylinder0", "cylinder1")
GRIPPERS = ("r0/gripper", "r1/gripper", *(f"cylinder{i}/magnet{k}" for i in range(2) for k in range(2)))
STANDS, APART = 0.025, 0.02
"""Of the construction set: height of the middle of what stands, and distance that is kept [m]."""


def spheres(share: str | None = None) -> Scene:
    """Two balls change places: ur3-spheres of hpp-python, with its start, goal and ground."""
    scene = swap.swap()
    ground = Shape("ground", "Box", (2.0, 1.0, 0.02), placement=[0.0, 0.0, -0.02, 0.0, 0.0, 0.0, 1.0])
    collisions = scene.collisions.added(ground)
    ends = scene.at(0.2, 0.3), scene.at(0.3, 0.2)
    for q in ends:
        q[:6] = [np.pi / 6, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]

    handles = {name: [(scene.robot.frame(f"{name}_top"), [1, 1, 1, 0, 1, 1])] for name in swap.BALLS}
    grippers = read_semantics(scene.robot, swap.SRDF, "ur3").grippers
    carrying = carried(scene.robot, collisions, grippers, handles, dict.fromkeys(swap.BALLS, level(swap.RADIUS)))
    return Scene([ends], 40, partial(planned, scene.graph, collisions), carrying.faults, collisions,
                 {"ManipulationPlanner": 10, "StatesPathFinder": 40})  # fmt: skip


def story(_: str | None = None) -> Scene:
    """A box is turned over with a regrasp: examples/pick_and_place.py, without its sequence and guess."""
    scene = pick_and_place.story()

    def standing(pose: Any) -> float:
        """On the bottom or on the lid, on the table of its side."""
        tilt = pose.rotation[:2, 2]
        off = pose.translation[2] - 0.5 * pick_and_place.HEIGHT - pick_and_place.MARGIN
        return max(min(abs(off - z) for _, _, z in pick_and_place.TABLES.values()), float(np.linalg.norm(tilt)))

    grippers = read_semantics(scene.robot, pick_and_place.SRDF, "ur5").grippers
    handles = {"box": [(scene.robot.frame(name), [1] * 6) for name in ("top", "side")]}
    carrying = carried(scene.robot, scene.collisions, grippers, handles, {"box": standing})
    return Scene([(scene.start, scene.goal)], 40, partial(planned, scene.graph, scene.collisions), carrying.faults,
                 scene.collisions)  # fmt: skip


def construction_set(share: str | None) -> Scene:
    """Two UR3 put two balls on the ends of a rod: construction-set of hpp-python, whose rules leave one sequence.

    Arms, balls and rods keep 2 cm from each other, but where the rules let them touch, and from the ground, which HPP
    has 5 mm below where things stand.
    """
    home = environments(share)
    arm = ur3()
    parts = [Part("r0", arm, [-0.25, 0, 0, 0, 0, 0, 1]), Part("r1", arm, [0.25, 0, 0, 0, 0, 1, 0])]
    files = {name: "sphere" if name[0] == "s" else "cylinder_08" for name in THINGS}
    urdfs = {name: str(home / "urdf" / "construction_set" / f"{kind}.urdf") for name, kind in files.items()}
    parts += [Part(name, free(urdf)) for name, urdf in urdfs.items()]
    robot = Robot.system(parts)
    semantics = read_semantics(robot, swap.SRDF, "r0") | read_semantics(robot, swap.SRDF, "r1")
    for name, kind in files.items():
        semantics |= read_semantics(robot, home / "srdf" / "construction_set" / f"{kind}.srdf", name)
    ground = Surface("ground", robot.frame("universe"), np.c_[swap.SQUARE, np.zeros(4)])
    objects = list[MovableObject]()
    for name in THINGS:
        foot = np.c_[swap.FOOT * swap.SQUARE[::-1], np.full(4, -STANDS)]
        handles = [semantics.handles[f"{name}/{h}"] for h in (("handle", "magnet") if name[0] == "s" else ("handle",))]
        objects.append(MovableObject(name, handles, [Surface(f"{name}/foot", robot.frame(f"{name}/base_link"), foot)]))
    apart = margins_between(robot)
    grippers = {name: semantics.grippers[name] for name in GRIPPERS}
    rules = [Rule(GRIPPERS, [dict(grasps).get(name, "") for name in GRIPPERS]) for grasps in CONSTRUCTION]
    graph = ConstraintGraphFactory(
        robot, list(grippers.values()), objects, [ground], rules, margin=0.0, preplacement_distance=0.05, attempts=1,
        margins=apart,
    ).generate()  # fmt: skip
    handles = {thing.name: [(handle.frame, handle.rows) for handle in thing.handles] for thing in objects}
    floor = Shape("ground", "Box", (2.0, 1.0, 0.02), placement=[0.0, 0.0, -0.02, 0.0, 0.0, 0.0, 1.0])
    collisions = CollisionModel(robot, [floor], {"r0": swap.ARM, "r1": swap.ARM, **urdfs})
    arms, c = [np.pi / 6, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0] * 2, np.sqrt(0.5)
    flat = [0.0, 0.0, 0.0, 1.0]
    places = [[0, -0.08], [-0.05, -0.16], [0.45, -0.16], [0.5, -0.08]]
    start = np.concatenate([arms, *([*xy, STANDS, *flat] for xy in places)])
    end = 0.06202136144745322
    goal = np.array([
        *arms, -end, -0.15, STANDS, c, 0, -c, 0, end, -0.15, STANDS, c, 0, c, 0, 0, -0.15, STANDS, *flat,
        0.5, -0.08, STANDS, *flat,
    ])  # fmt: skip
    standing = {name: level(STANDS) for name in THINGS}
    carrying = carried(robot, collisions, grippers, handles, standing, apart)
    return Scene([(start, goal)], 20, partial(planned, graph, collisions), carrying.faults, collisions,
                 {"ManipulationPlanner": 20})  # fmt: skip


def placard(share: str | None) -> Scene:
    """Romeo on two feet turns a sign round, from the left hand to the left hand: romeo-placard of hpp-python."""
    home, romeo = environments(share), "package://example-robot-data/robots/romeo_description"
    urdf, srdf = f"{romeo}/urdf/romeo.urdf", f"{romeo}/srdf/romeo_moveit.srdf"
    sign = str(home / "urdf" / "placard.urdf")
    alone = Robot.from_urdf(urdf, srdf, base=Base.FREE_FLYER)
    alone = alone.with_bounds({"root_joint": ([-1.0, -1.0, 0.0], [1.0, 1.0, 2.0])})
    thing = Robot.from_urdf(sign, base=Base.FREE_FLYER)
    thing = thing.with_bounds({"root_joint": ([-1.0, -1.0, 0.0], [1.0, 1.0, 1.5])})
    robot = Robot.system([Part("romeo", alone), Part("placard", thing)])
    semantics = read_semantics(robot, srdf, "romeo") | read_semantics(robot, home / "srdf" / "placard.srdf", "placard")
    objects = [MovableObject("placard", list(semantics.handles.values()))]
    hands = ["romeo/l_hand", "romeo/r_hand"]
    rules = [Rule(hands, held) for held in (["placard/low", ""], ["", "placard/high"], ["placard/low", "placard/high"])]
    grippers = {name: semantics.grippers[name] for name in reversed(hands)}
    plain = ConstraintGraphFactory(robot, list(grippers.values()), objects, rules=rules, attempts=1).generate()
    model: Any = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, robot.neutral)
    feet = {name: data.oMi[model.getJointId(name)].copy() for name in ("romeo/LAnkleRoll", "romeo/RAnkleRoll")}
    masses = list(robot.joint_names[:14])  # as HPP has it: the waist, the legs, the trunk; not arms and head
    balance = CenterOfMass(robot, masses)
    stands = [Implicit.equal(Pose(robot, name), oMf, name=name) for name, oMf in feet.items()]
    stands.append(Implicit.equal(balance, balance.value(robot.neutral), name="balance"))
    open_ = {f"romeo/{side}{joint}": angle for side in "LR" for joint, angle in OPEN.items()}
    locked = [locked_joint(robot, name, angle, name=name) for name, angle in open_.items()]
    graph = ConstraintGraph(
        robot, [*plain.states, *plain.waypoint_states], plain.transitions, plain.foliations,
        constraints=[*stands, *locked], attempts=1, options=Options(threshold=2e-4),
    )  # fmt: skip
    collisions = CollisionModel(robot, [], {"romeo": urdf, "placard": sign})
    state = graph.state("romeo/l_hand grasps placard/low")
    exact = Projector(graph.problem_of(state), Options(threshold=5e-5))  # legs are nearly straight

    def at(yaw: list[float]) -> Array:
        guess = robot.neutral.copy()
        guess[: len(ROMEO) + 19] = [*guess[:19], *ROMEO]
        guess[62:] = [0.364, 0.05, 0.483, *yaw]
        return np.array(exact.project(guess).or_raise().q)

    handles = {"placard": [(handle.frame, handle.rows) for handle in semantics.handles.values()]}
    carrying = carried(robot, collisions, grippers, handles, {"placard": lambda _: np.inf})
    com, of_romeo = balance.value(robot.neutral), [model.getJointId(name) for name in masses]
    weights = np.array([model.inertias[joint].mass for joint in of_romeo])

    def rest(q: Array) -> float:
        """Error of what the whole graph holds: feet, centre of mass, open hands."""
        pin.centerOfMass(model, data, q)
        far = [judge.far(oMf, data.oMi[model.getJointId(name)]) for name, oMf in feet.items()]
        middle = weights @ [data.oMi[j].act(model.inertias[j].lever) for j in of_romeo] / weights.sum()
        hands = [abs(q[model.joints[model.getJointId(name)].idx_q] - angle) for name, angle in open_.items()]
        return float(max(*far, np.linalg.norm(middle - com), *hands))

    def faults(path: Path, query: Query) -> list[str]:
        found = carrying.faults(path, query, 2e-4)
        worst = max(rest(path(t)) for t in np.linspace(0.0, path.duration, 1000 * len(path.pieces) + 1))
        return found + ([f"what the whole graph holds is off by {worst:.3g}"] if worst > 2e-4 else [])

    ends = at([0.0, 0.0, 1.0, 0.0]), at([0.0, 0.0, 0.0, 1.0])
    return Scene([ends], 10, partial(planned, graph, collisions), faults, collisions, {"ManipulationPlanner": 5})


ROMEO = [
    -0.38271, -0.24118, 1.01578, 0.56374, -1.33788, -1.31518, -0.39241, 0.11333, 1.06, 1.06, 1.06, 1.06, 1.06,
    1.06, 1, 1.06, 1.06, -1.06, 1.06, 1.06, 0.35937, -0.32595, -0.33115, 0.20388, 0.90076, -0.39039, 0.31725,
    1.54753, -0.01046, 0.32682, 0.24477, 1.06, 1.06, 1.06, 1.06, 1.06, 1.06, 1, 1.06, 1.06, -1.06, 1.06, 1.06,
]  # fmt: skip
"""Romeo above the legs, the sign in its left hand [rad]."""


def environments(share: str | None) -> File:
    """The folder of hpp_environments.

    Raises:
        ConstraintError: there is none.
    """
    home = None if share is None else File(share) / "hpp_environments"
    if home is None or not home.is_dir():
        raise ConstraintError("it takes objects of hpp_environments, see --share and --hpp-python")
    return home


def margins_between(robot: Robot) -> SecurityMargins:
    """Of arms and things, each against each other: where one may take the other, none."""
    arms = [name for name in robot.joint_names if name[:3] in ("r0/", "r1/")]
    things = [name for name in robot.joint_names if name not in arms]
    takes = {("r0/wrist_3_joint", "sphere"), ("r1/wrist_3_joint", "cylinder0"), ("cylinder0", "sphere")}

    def margin(a: str, b: str) -> float:
        return 0.0 if any({x, y} == {a, b} for x, y in met) else APART

    met = [(x, y) for x in robot.joint_names for y in things for g, h in takes if x.startswith(g) and y.startswith(h)]
    pairs = [(a, b) for a, b in combinations(robot.joint_names, 2) if a.split("/")[0] != b.split("/")[0]]
    return SecurityMargins(0.0, {pair: margin(*pair) for pair in pairs})


def ur3() -> Robot:
    """With the bounds of HPP's scenes."""
    arm = Robot.from_urdf(swap.ARM, swap.SRDF)
    pan, lift, elbow = arm.joint_names[:3]
    return arm.with_bounds({pan: (-np.pi, 4.0), lift: (-np.pi, 0.0), elbow: (-2.6, 2.6)})


def free(urdf: str) -> Robot:
    """An object in the bounds of HPP's scenes."""
    made = Robot.from_urdf(urdf, base=Base.FREE_FLYER)
    return made.with_bounds({made.joint_names[0]: ([-1.0, -1.0, -0.1], [1.0, 1.0, 1.0])})


def planned(
    graph: ConstraintGraph, collisions: CollisionModel, query: Query, rng: np.random.Generator, limits: Limits
) -> Plan:
    return plan(graph, *query, rng=rng, collisions=collisions, limits=limits)


def carried(
    robot: Robot,
    collisions: CollisionModel,
    grippers: Mapping[str, Gripper],
    handles: Handles,
    standing: Mapping[str, Callable[[Any], float]],
    margins: SecurityMargins | None = None,
) -> judge.Carrying:
    """The judge's own view of grippers and objects."""

    def place(frame: Any) -> Any:
        return pin.SE3(np.array(frame.placement.rotation), np.array(frame.placement.translation))

    held = {
        name: [judge.Handle(frame.joint, place(frame), np.array(rows, bool)) for frame, rows in each]
        for name, each in handles.items()
    }
    hands = {name: (gripper.frame.joint, place(gripper.frame)) for name, gripper in grippers.items()}
    objects = {name: each[0].joint for name, each in held.items()}
    names, kept = list(robot.model.names), margins or SecurityMargins()
    return judge.Carrying(
        robot.model, collisions.checker.geometry, hands, objects, held, standing,
        lambda a, b: kept.between(names[a], names[b]),
    )  # fmt: skip


def level(height: float) -> Callable[[Any], float]:
    """Error of the pose of a body that stands upright, at a height."""

    def error(pose: Any) -> float:
        return max(abs(float(pose.translation[2]) - height), float(np.linalg.norm(pose.rotation[2, :2])))

    return error
