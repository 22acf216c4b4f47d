"""Child process that plans with hpp-manipulation; started by `planning.py --hpp-python`.

It reads one JSON object a line and answers each with one, until its input ends:

    {"open": SCENE}
        -> {"planners": [...], "joints": [...]}, or {"refused": "why"}
    {"planner": NAME, "start": [...], "goal": [...], "limit": seconds}
        -> {"success": true, "seconds": processor's, "length": l, "nodes": n}

The scenes are those of the repository of hpp-python, tests/integration/{ur3-spheres, ur3-spheres-spf,
construction-set-m-rrt, romeo-placard}.py (9.0.2), with the options that these scripts give. It has no seed: each search
goes on with the random numbers of the one before.
"""

from __future__ import annotations

import time
from typing import Any

from hpp_driver import Refused, prepare_environment, serve

UR3 = [f"package://example-robot-data/robots/ur_description/{kind}/ur3_gripper.{kind}" for kind in ("urdf", "srdf")]
ROMEO = "package://example-robot-data/robots/romeo_description"
UNIT = [-1.0001, 1.0001] * 4
ROWS = [False, False, True, True, True, False]
"""Of the pose of a body that stands: height, roll, pitch."""


def objects(kind: str) -> list[str]:
    return [f"package://hpp_environments/{form}/construction_set/{kind}.{form}" for form in ("urdf", "srdf")]


class Session:
    """One scene in HPP."""

    def __init__(self, scene: str) -> None:
        import numpy as np
        import pinocchio as pin
        import pyhpp.constraints as constraints
        import pyhpp.core as core
        import pyhpp.manipulation as manipulation
        from pyhpp.manipulation import constraint_graph_factory, urdf

        self.np, self.pin, self.core, self.manipulation, self.urdf = np, pin, core, manipulation, urdf
        self.constraints, self.factories = constraints, constraint_graph_factory
        self.robot = manipulation.Device(scene)
        make = {"spheres": self.spheres, "construction_set": self.construction_set, "placard": self.placard}
        if scene not in make:
            raise Refused(f"HPP has no scene '{scene}'")
        self.kept = make[scene]()
        self.problem.constraintGraph(self.graph)
        joints = list(self.robot.model().names)[1:]
        self.said = {"planners": ["ManipulationPlanner", "StatesPathFinder"], "joints": joints}
        self.planner: Any = None
        self.ends: Any = None

    def load(self, name: str, root: str, files: list[str], at: tuple[float, ...] = (0, 0, 0, 0, 0, 0, 1)) -> None:
        self.urdf.loadModel(self.robot, 0, name, root, *files, self.pin.XYZQUATToSE3(self.np.array(at, float)))

    def arms(self, *names: str) -> None:
        for name in names:
            self.robot.setJointBounds(f"{name}/shoulder_pan_joint", [-self.np.pi, 4])
            self.robot.setJointBounds(f"{name}/shoulder_lift_joint", [-self.np.pi, 0])
            self.robot.setJointBounds(f"{name}/elbow_joint", [-2.6, 2.6])

    def begin(self, threshold: float) -> None:
        self.problem = self.manipulation.Problem(self.robot)
        self.graph = self.manipulation.Graph("graph", self.robot, self.problem)
        self.graph.errorThreshold(threshold)
        self.graph.maxIterations(40)

    def placement(self, name: str, height: float, before: float, made: dict[str, Any]) -> None:
        """Rows of a body that stands at a height without surfaces, and those before it is put down."""
        joint = self.robot.model().getJointId(f"{name}/root_joint")
        kinds = self.constraints.ComparisonType

        def rows(what: str, z: float, held: list[bool], kind: Any) -> Any:
            function = self.constraints.Transformation(
                what,
                self.robot,
                joint,
                self.pin.SE3.Identity(),
                self.pin.SE3(self.np.eye(3), self.np.array([0, 0, z])),
                held,
            )
            types = self.constraints.ComparisonTypes()
            types[:] = (kind,) * 3
            return self.constraints.Implicit(function, types, [True] * 3)

        place = f"place_{name}"
        made[place] = rows(place, height, ROWS, kinds.EqualToZero)
        others = [not row for row in ROWS]
        made[f"{place}/complement"] = rows(f"{place}/complement", height, others, kinds.Equality)
        types = self.constraints.ComparisonTypes()
        types[:] = tuple(kinds.EqualToZero if row else kinds.Equality for row in ROWS)
        pose = self.np.array([0, 0, height, 0, 0, 0, 1.0])
        made[f"{place}/hold"] = self.constraints.LockedJoint(self.robot, f"{name}/root_joint", pose, types)
        self.graph.registerConstraints(made[place], made[f"{place}/complement"], made[f"{place}/hold"])
        made[f"preplace_{name}"] = rows(f"preplace_{name}", before, ROWS, kinds.EqualToZero)

    def steered(self, validation: Any, step: float) -> None:
        problem = self.problem
        problem.steeringMethod = self.core.Straight(problem)
        problem.pathValidation = validation
        projector = self.manipulation.ProgressiveProjector
        problem.pathProjector = projector(problem.distance(), problem.steeringMethod, step)

    def spheres(self) -> Any:
        names = ["sphere0", "sphere1"]
        self.load("ur3", "anchor", UR3)
        for name in names:
            self.load(name, "freeflyer", objects("sphere"))
            self.robot.setJointBounds(f"{name}/root_joint", [-1, 1, -1, 1, -0.1, 1, *UNIT])
        self.load("kitchen_area", "anchor", objects("ground"))
        self.arms("ur3")
        self.begin(1e-4)
        made: dict[str, Any] = {}
        for name in names:
            self.robot.handles()[f"{name}/handle"].mask = [True, True, True, False, True, True]
            self.placement(name, 0.02, 0.1, made)
        factory = self.factories.ConstraintGraphFactory(self.graph, made)
        factory.setGrippers(["ur3/gripper"])
        factory.setObjects(names, [[f"{name}/handle"] for name in names], [[], []])
        factory.generate()
        for i, name in enumerate(names):
            for part in (f"> {name}/handle | f_23", f"< {name}/handle | 0-{i}_32"):
                transition = self.graph.getTransition(f"ur3/gripper {part}")
                self.graph.addNumericalConstraintsToTransition(transition, [made[f"place_{name}/complement"]])
        self.steered(self.core.Dichotomy(self.robot, 0), 0.01)
        self.graph.initialize()
        return made, factory

    def construction_set(self) -> Any:
        from pyhpp.manipulation.security_margins import SecurityMargins

        self.load("r0", "anchor", UR3, (-0.25, 0, 0, 0, 0, 0, 1))
        self.load("r1", "anchor", UR3, (0.25, 0, 0, 0, 0, 1, 0))
        self.arms("r0", "r1")
        self.load("ground", "anchor", objects("ground"))
        names = [f"{kind}{i}" for kind in ("sphere", "cylinder") for i in range(2)]
        for name in names:
            self.load(name, "freeflyer", objects("sphere" if name[0] == "s" else "cylinder_08"))
            self.robot.setJointBounds(f"{name}/root_joint", [-1, 1, -1, 1, -0.1, 1, *UNIT])
        self.begin(1e-4)
        self.problem.clearConfigValidations()
        self.problem.addConfigValidation("CollisionValidation")
        made: dict[str, Any] = {}
        for name in names:
            self.placement(name, 0.025, 0.075, made)
        grippers = [f"cylinder{i}/magnet{k}" for k in range(2) for i in range(2)] + ["r0/gripper", "r1/gripper"]
        factory = self.factories.ConstraintGraphFactory(self.graph, made)
        factory.setGrippers(grippers)
        handles = [["handle", "magnet"]] * 2 + [["handle"]] * 2
        factory.setObjects(
            names, [[f"{n}/{h}" for h in each] for n, each in zip(names, handles, strict=True)], [[]] * 4
        )
        rules = list[Any]()
        for grasps in CONSTRUCTION:
            order = [g for g, _ in grasps] + [g for g in grippers if g not in dict(grasps)]
            held = [h for _, h in grasps] + ["^$"] * (len(grippers) - len(grasps))
            rules.append(self.factories.Rule(grippers=order, handles=held, link=True))
        factory.setRules(rules)
        self.steered(self.core.Progressive(self.robot, 0.02), 0.05)
        factory.generate()
        margins = SecurityMargins(self.problem, factory, ["r0", "r1", *names], self.robot)
        margins.defaultMargin = 0.02
        margins.apply()
        self.graph.initialize()
        return made, factory, margins

    def placard(self) -> Any:
        from pyhpp.core.static_stability_constraint_factory import StaticStabilityConstraintsFactory

        np = self.np
        self.load("romeo", "freeflyer", [f"{ROMEO}/urdf/romeo.urdf", f"{ROMEO}/srdf/romeo_moveit.srdf"])
        self.robot.setJointBounds("romeo/root_joint", [-1, 1, -1, 1, 0, 2, *[-2.0, 2] * 4])
        self.load("placard", "freeflyer", [f"package://hpp_environments/{k}/placard.{k}" for k in ("urdf", "srdf")])
        self.robot.setJointBounds("placard/root_joint", [-1, 1, -1, 1, 0, 1.5, *[-2.0, 2] * 4])
        self.begin(2e-4)
        self.problem.clearConfigValidations()
        self.problem.addConfigValidation("CollisionValidation")
        made: dict[str, Any] = {}
        for side in "LR":
            for joint, angle in OPEN.items():
                name = f"romeo/{side}{joint}"
                made[name] = self.constraints.LockedJoint(self.robot, name, np.array([angle]))
        of_graph = dict(made)
        q, model = self.robot.currentConfiguration(), self.robot.model()
        first = model.idx_qs[model.getJointId("placard/root_joint")]
        q[first : first + 3] = [0.4, 0, 1.2]
        self.problem.addPartialCom("romeo", ["romeo/root_joint"])
        stable = StaticStabilityConstraintsFactory(self.problem, self.robot)
        feet = "romeo/LAnkleRoll", "romeo/RAnkleRoll"
        of_graph |= stable.createStaticStabilityConstraint("balance/", "romeo", *feet, q)
        factory = self.factories.ConstraintGraphFactory(self.graph, made)
        factory.setGrippers(["romeo/r_hand", "romeo/l_hand"])
        factory.setObjects(["placard"], [["placard/low", "placard/high"]], [[]])
        hands = ["romeo/l_hand", "romeo/r_hand"]
        allowed = (["placard/low", ""], ["", "placard/high"], ["placard/low", "placard/high"])
        factory.setRules([self.factories.Rule(hands, each, True) for each in allowed])
        factory.generate()
        self.graph.addNumericalConstraintsToGraph([each for each in of_graph.values() if each is not None])
        self.graph.initialize()
        self.steered(self.core.Dichotomy(self.robot, 0), 0.05)
        return made, of_graph, factory, stable

    def run(self, planner: str, start: Any, goal: Any, limit: float, **_: Any) -> dict[str, Any]:
        """One search; the planner is kept, its roadmap is not, as in the scripts."""
        problem, ends = self.problem, (start, goal)
        if self.planner is None or self.ends != ends:
            problem.initConfig(self.np.array(start))
            problem.resetGoalConfigs()
            problem.addGoalConfig(self.np.array(goal))
            self.planner, self.ends = getattr(self.manipulation, planner)(problem), ends
            if planner == "StatesPathFinder":
                for key, value in SPF.items():
                    problem.setParameter(f"StatesPathFinder/{key}", value)
            self.planner.maxIterations(5000)
            self.planner.timeOut(limit)
        self.planner.roadmap().clear()
        began = time.process_time()
        try:
            path = self.planner.solve()
        except Exception as why:
            return {"success": False, "seconds": time.process_time() - began, "why": str(why)}
        seconds, nodes = time.process_time() - began, len(self.planner.roadmap().nodes())
        return {"success": True, "seconds": seconds, "length": float(path.length()), "nodes": nodes}


OPEN = {
    "Hand": 1.0, "Finger12": 1.06, "Finger13": 1.06, "Finger21": 1.06, "Finger22": 1.06, "Finger23": 1.06,
    "Finger31": 1.06, "Finger32": 1.06, "Finger33": 1.06, "Thumb1": 0.0, "Thumb2": 1.06, "Thumb3": 1.06,
}  # fmt: skip
"""Joints of an open hand of Romeo [rad]."""
LEFT, RIGHT = ("r0/gripper", "sphere0/handle"), ("r0/gripper", "sphere1/handle")
ROD = ("r1/gripper", "cylinder0/handle")
ENDS = ("cylinder0/magnet0", "sphere0/magnet"), ("cylinder0/magnet1", "sphere1/magnet")
CONSTRUCTION = (
    (), (LEFT,), (LEFT, ROD), (LEFT, ROD, ENDS[0]), (ROD, ENDS[0]), (RIGHT, ROD, ENDS[0]), (RIGHT, ROD, *ENDS),
    (ROD, *ENDS), ENDS,
)  # fmt: skip
"""Grasps of the states that the rules of the construction set leave."""
SPF = {"innerPlannerTimeOut": 0.0, "innerPlannerMaxIterations": 100, "nTriesUntilBacktrack": 3}
"""Parameters of StatesPathFinder in its script."""


if __name__ == "__main__":
    prepare_environment()
    serve(lambda asked: Session(asked["open"]))
