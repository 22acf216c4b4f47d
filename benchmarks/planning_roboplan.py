"""Child process that plans with roboplan; started by `planning.py --roboplan-python`.

It reads one JSON object a line and answers each with one, until its input ends:

    {"open": SCENE, "share": FOLDER}
        -> {"planners": [...]}, or {"refused": "why"}
    {"planner": NAME, "start": [...], "goal": [...], "seed": s, "limit": seconds}
        -> {"success": true, "seconds": processor's, "length": l, "nodes": n, "path": [[...], ...]}

FOLDER holds example-robot-data. The glass alone: its robot, one chain, boxes of poses. The boxes are 1e-4 wide; the
projection is as its makers set it and stops at 1e-4 m and 5e-4 rad outside of them, which is easier than what ours
keeps. Fingers are not in its q.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from hpp_driver import Refused, serve

JOINTS = 7
WIDTH, FREE = 1e-4, 10.0
"""Of the boxes: of rows that are held, and of those that are not [m], [rad]."""


class Session:
    said: dict[str, Any] = {"planners": ["roboplan"]}  # noqa: RUF012

    def __init__(self, scene: str, folder: str) -> None:
        import numpy as np
        from roboplan import core, rrt

        if scene != "glass":
            raise Refused(f"roboplan has no scene '{scene}'")
        panda = Path(folder) / "example-robot-data" / "robots" / "panda_description"
        description = core.loadUrdfSceneDescription(str(panda / "urdf" / "panda.urdf"), [folder])
        self.scene = core.Scene("glass", description)
        self.scene.importSrdf((panda / "srdf" / "panda.srdf").read_text())
        post = np.eye(4, order="F")
        post[:3, 3] = 0.45, 0.0, 0.6
        self.scene.addCylinderGeometry("post", "universe", core.Cylinder(0.05, 1.2), post, np.array([1.0, 0, 0, 1]))
        self.scene.addGroupFromChain("arm", "panda_link0", "panda_link8")
        held, free = np.full(6, WIDTH), np.array([True, True, False, False, False, True])
        held[free] = FREE
        down = np.asfortranarray(np.diag([1.0, -1.0, -1.0, 1.0]))
        down[2, 3] = 0.35
        self.hand = rrt.PoseConstraint(self.scene, "arm", "panda_hand_tcp", -held, held, down)
        self.names = list(self.scene.getJointGroupInfo("arm").joint_names)
        self.np, self.core, self.rrt = np, core, rrt

    def run(self, start: list[float], goal: list[float], seed: int, limit: float, **_: Any) -> dict[str, Any]:
        np = self.np
        ends = [self.core.JointConfiguration() for _ in range(2)]
        for end, q in zip(ends, (start, goal), strict=True):
            end.joint_names, end.positions = self.names, np.array(q[:JOINTS])
        options = self.rrt.RRTOptions(
            group_name="arm", max_nodes=200_000, max_connection_distance=1.0, collision_check_step_size=0.05,
            max_planning_time=limit, rrt_connect=True,
        )  # fmt: skip
        planner = self.rrt.RRT(self.scene, options)
        planner.setRngSeed(seed)
        began = time.process_time()
        try:
            found = planner.plan(*ends, [self.hand])
        except RuntimeError as why:
            return {"success": False, "seconds": time.process_time() - began, "why": str(why)}
        seconds = time.process_time() - began
        if found is None:
            return {"success": False, "seconds": seconds}
        path = np.array(found.positions)
        length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        nodes = sum(len(tree) for tree in planner.getNodes())
        return {"success": True, "seconds": seconds, "length": length, "nodes": nodes, "path": path.tolist()}


if __name__ == "__main__":
    serve(lambda asked: Session(asked["open"], asked["share"]))
