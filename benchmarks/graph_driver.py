"""Child process that builds a constraint graph with hpp-manipulation; started by `manipulation.py --hpp-python`.

It reads one JSON object a line and answers each with one, until its input ends:

    {"open": {"system": ..., "arms": i, "boxes": j, "handles": k, "surfaces": true}, "threshold": t, "iterations": n}
        -> {"joints": [...], "transitions": [...]}, or {"refused": "why"}
    {"transition": NAME, "starts": [[...], ...], "guesses": [[...], ...]}
        -> {"us": [...], "success": [...], "q": [[...], ...]}

`system` is that of `tests/data/constraint_graphs.json`. Needs the wheel `hpp-python`, which brings the robots too.
"""

from __future__ import annotations

import time
from typing import Any

from hpp_driver import BARE, contact, prepare_environment, serve

UR5 = "package://example-robot-data/robots/ur_description"


def srdf_of_box(box: dict[str, Any], handles: int) -> str:
    """Handles and the bottom of a box."""
    tags = "".join(
        f"<handle name='{entry['name'].split('/')[1]}' clearance='{box['handle_clearance']}'>"
        f"<position>{' '.join(map(repr, entry['pose_xyz_quat_xyzw']))}</position><link name='base_link'/>"
        f"<approaching_direction>{' '.join(map(str, box['approach']))}</approaching_direction>"
        f"<mask>{' '.join(map(str, box['mask']))}</mask></handle>"
        for entry in box["handles"][:handles]
    )
    return f"<robot name='box'>{tags}{contact('bottom', 'base_link', box['polygon'])}</robot>"


class Session:
    """One graph in HPP."""

    def __init__(self, case: dict[str, Any], threshold: float, iterations: int) -> None:
        import numpy as np
        import pinocchio as pin
        import pyhpp.manipulation as manipulation
        import pyhpp.manipulation.urdf as urdf
        from pyhpp.manipulation.constraint_graph_factory import ConstraintGraphFactory

        self.np = np
        system, arms, boxes = case["system"], case["arms"], case["boxes"]
        pose = lambda numbers: pin.XYZQUATToSE3(np.array(numbers))  # noqa: E731
        robot = manipulation.Device("scene")
        for arm in system["robots"][:arms]:
            files = (f"{UR5}/urdf/ur5_gripper.urdf", f"{UR5}/srdf/ur5_gripper.srdf")
            urdf.loadModel(robot, 0, arm["prefix"], "anchor", *files, pose(arm["pose"]))
        box, table = system["box"], system["table"]
        for i in range(boxes):
            semantics = srdf_of_box(box, case["handles"])
            urdf.loadModelFromString(robot, 0, f"box{i}", "freeflyer", BARE, semantics, pin.SE3.Identity())
            robot.setJointBounds(f"box{i}/root_joint", box["root_bounds"])
        if case["surfaces"]:
            top = f"<robot name='table'>{contact('top', 'base_link', table['polygon'])}</robot>"
            urdf.loadModelFromString(robot, 0, table["prefix"], "anchor", BARE, top, pose(table["pose"]))
        problem = manipulation.Problem(robot)
        graph = manipulation.Graph("graph", robot, problem)
        graph.maxIterations(iterations)
        graph.errorThreshold(threshold)
        factory = ConstraintGraphFactory(graph)
        names = [f"box{i}" for i in range(boxes)]
        factory.setGrippers([f"{arm['prefix']}/gripper" for arm in system["robots"][:arms]])
        surfaces = [[f"{name}/bottom"] if case["surfaces"] else [] for name in names]
        factory.setObjects(names, [[f"{name}/h{k}" for k in range(case["handles"])] for name in names], surfaces)
        if case["surfaces"]:
            factory.environmentContacts([table["surface"]])
            for name in names:
                factory.setPreplacementDistance(name, system["preplacement_distance"])
        factory.generate()
        graph.initialize()
        self.kept, self.graph = (robot, problem, factory), graph
        self.said = {"joints": list(robot.model().names)[1:], "transitions": list(graph.getTransitionNames())}

    def run(self, transition: str, starts: Any, guesses: Any) -> dict[str, Any]:
        """Targets, timing each call."""
        np, clock, generate = self.np, time.perf_counter, self.graph.generateTargetConfig
        edge = self.graph.getTransition(transition)
        told: dict[str, list[Any]] = {"us": [], "success": [], "q": []}
        pairs = list(zip(np.array(starts), np.array(guesses), strict=True))
        generate(edge, *pairs[0])
        for start, guess in pairs:
            began = clock()
            done, end = generate(edge, start, guess)[:2]
            took = clock() - began
            for key, one in (("us", 1e6 * took), ("success", bool(done)), ("q", np.asarray(end).ravel().tolist())):
                told[key].append(one)
        return told


if __name__ == "__main__":
    prepare_environment()
    serve(lambda asked: Session(asked["open"], asked["threshold"], asked["iterations"]))
