"""Child process that runs hpp-constraints on a problem file; started by `projection.py --hpp-python`.

It reads one JSON object a line and answers each with one, until its input ends:

    {"open": "FILE.npz", "starts": [[...], ...]}
        -> {"line_searches": [...]}, or {"refused": "why"}
    {"starts": [[...], ...]}
        -> {"starts": n}: others of the problem that is open
    {"line_search": NAME, "first": i, "last": j}
        -> {"us": [...], "success": [...], "q": [[...], ...]}

Starts i to j-1 are projected by `ConfigProjector.apply`, once each. Needs the wheel `hpp-python`, which brings the
robots too. Explicit constraints are made as hpp-manipulation makes them: a grasp of a handle, a placement of contact
surfaces.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

LINE_SEARCHES = ("Backtracking", "ErrorNormBased", "FixedSequence", "Constant")
BARE = "<robot name='bare'><link name='base_link'/></robot>"


def prepare_environment() -> None:
    """Start again with the libraries of the wheels on the path of the loader, and their robots on that of packages."""
    prefix = next((p for e in sys.path if (p := Path(e) / "cmeel.prefix").is_dir()), None)
    if prefix is None or os.environ.get("HPP_DRIVER_CHILD"):
        return
    environment = dict(os.environ, HPP_DRIVER_CHILD="1")
    for variable, folder in (("LD_LIBRARY_PATH", prefix / "lib"), ("ROS_PACKAGE_PATH", prefix / "share")):
        environment[variable] = ":".join(x for x in (str(folder), environment.get(variable, "")) if x)
    environment.pop("PYTHONPATH", None)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[variable] = "1"
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


class Refused(Exception):
    """What this driver does not know how to build."""


def serve(opened: Callable[[dict[str, Any]], Any]) -> None:
    """Answer what is asked, a JSON object a line, until the input ends; what goes wrong is told to the parent.

    What `opened` makes of the first question has the answer to it, `said`, and answers the others by its `run`.
    """
    answers = os.fdopen(os.dup(1), "w")  # what C++ prints must not get between the answers
    os.dup2(2, 1)
    session: Any = None
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            if "open" in asked:
                session = opened(asked)
            elif session is None:
                raise Refused("nothing is open")
            said = session.said if "open" in asked else session.run(**asked)
        except Refused as why:
            said = {"refused": str(why)}
        except Exception as error:
            said = {"refused": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def contact(name: str, link: str, polygon: list[Any]) -> str:
    """Of an SRDF: a contact surface on a link."""
    points = "  ".join(" ".join(map(repr, map(float, point))) for point in polygon)
    shape = " ".join(map(str, [len(polygon), *range(len(polygon))]))
    return f"<contact name='{name}'><link name='{link}'/><point>{points}</point><shape>{shape}</shape></contact>"


def _on_root(source: str, polygon: list[Any]) -> str:
    """SRDF of a contact surface on the root link of a model, called `surface`."""
    tree = ElementTree.fromstring(source)
    children = {entry.get("link") for entry in tree.iter("child")}
    root = next(str(link.get("name")) for link in tree.iter("link") if link.get("name") not in children)
    return f"<robot name='{tree.get('name')}'>{contact('surface', root, polygon)}</robot>"


ROWS = {"transformation": 6, "relative_transformation": 6, "explicit_relative_pose": 6, "relative_com": 3}


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    """A constraint with its mask and comparison where the file leaves them out."""
    if given["kind"] not in ROWS:
        return {"comparison": ["Equality"]} | given
    mask = given.get("mask", [1] * ROWS[given["kind"]])
    return {"comparison": ["EqualToZero"] * sum(mask)} | given | {"mask": mask}


class Session:
    """One problem in HPP, with a projector a line search.

    Args:
        path: the problem file.
        starts: configurations to project.
    """

    def __init__(self, path: str, starts: list[list[float]]) -> None:
        import numpy as np
        import pinocchio as pin
        import pyhpp.constraints as hc
        import pyhpp.core as hcore

        self.np, self.pin, self.hc, self.hcore = np, pin, hc, hcore
        with np.load(path) as stored:
            self.description: dict[str, Any] = json.loads(str(stored["problem"]))
            self.threshold, self.max_iterations = float(stored["error_threshold"]), int(stored["max_iterations"])
        self.starts, self.said = np.array(starts), {"line_searches": list(LINE_SEARCHES)}
        self.kept: list[Any] = []  # what the C++ side points to
        self.explicits: list[Any] = []  # constraints that HPP takes only through its set of explicit ones
        self.robot = self._robot()
        self.model = self.robot.model()
        joints = list(self.model.names)
        if joints[1:] != self.description["joints"][1:]:
            raise Refused(f"joints {joints[1:]} differ from those of the file")
        for name, joint in zip(joints[1:], list(self.model.joints)[1:], strict=True):
            sides = zip(self.description["lower"], self.description["upper"], strict=True)
            pairs = list(sides)[joint.idx_q : joint.idx_q + joint.nq]
            self.robot.setJointBounds(name, [x for pair in pairs for x in pair])
        every = [_complete(given) for given in self.description["constraints"]]
        placed = any(given["kind"] == "explicit_convex_shape_contact" for given in every)
        self.from_qref = placed or any("rhs" in given for given in every)
        constraints = [self._constraint(i, given) for i, given in enumerate(every)]
        self.projectors = {name: self._projector(name, constraints) for name in LINE_SEARCHES}

    def _robot(self) -> Any:
        """Explicit constraints are made by hpp-manipulation alone, from handles and contact surfaces of its device."""
        given = self.description["constraints"]
        surfaces = self._surfaces([c for c in given if c["kind"] == "explicit_convex_shape_contact"])
        explicit = any(c["kind"].startswith("explicit") for c in given)
        if explicit:
            import pyhpp.manipulation as hpin
            import pyhpp.manipulation.urdf as urdf
        else:
            import pyhpp.pinocchio as hpin
            import pyhpp.pinocchio.urdf as urdf

        robot = hpin.Device(self.description["name"])
        models: list[Any] = self.description["models"]
        floors = [(name, "anchor", BARE, pose) for name, (_, pose) in surfaces.items() if pose is not None]
        for prefix, root, source, placement, *frame in [*models, *floors]:
            base = robot.model().getFrameId(frame[0]) if frame else 0
            from_text = source.startswith("<")
            if prefix in surfaces and not from_text:
                raise Refused(f"the contact surface of '{prefix}' needs its model as XML")
            load = urdf.loadModelFromString if from_text else urdf.loadModel
            semantics = "<robot name='none'/>" if explicit and from_text else ""
            if prefix in surfaces:
                semantics = _on_root(source, surfaces[prefix][0])
            load(robot, base, prefix, root, source, semantics, self._pose(placement))
        return robot

    def _surfaces(self, contacts: list[dict[str, Any]]) -> dict[str, tuple[list[Any], list[float] | None]]:
        """Polygon by model, with a placement for the floors, which become models of their own."""
        surfaces: dict[str, tuple[list[Any], list[float] | None]] = {}
        for i, given in enumerate(contacts):
            if given["floor_joint"] != "universe" or self.np.ndim(given["object_surface"]) != 2:
                raise Refused("contacts of several surfaces, or on what moves, are not built yet")
            surfaces[given["object_joint"].split("/")[0]] = (given["object_surface"], None)
            surfaces[f"floor_{i}"] = (given["floor_surface"], given["floor_pose"])
        return surfaces

    def _pose(self, numbers: list[float]) -> Any:
        return self.pin.XYZQUATToSE3(self.np.array(numbers))

    def _poses(self, given: dict[str, Any], *keys: str) -> list[Any]:
        return [self._pose(given[key]) for key in keys]

    def _joint(self, name: str) -> int:
        index = self.model.getJointId(name)
        if not 0 < index < self.model.njoints:
            raise Refused(f"joint '{name}' is none that moves")
        return index

    def _constraint(self, i: int, given: dict[str, Any]) -> tuple[Any, int]:
        np, hc = self.np, self.hc
        kind, name = given["kind"], f"{given['kind']} {i}"
        if kind == "explicit_convex_shape_contact":
            return self._contact_hold(name, given), given.get("priority", 0)
        if self.from_qref and "rhs" not in given and "Equality" in given["comparison"] and not self._is_at_qref(given):
            raise Refused(f"{name}: its right-hand side would be taken from qref too")
        if kind == "explicit_relative_pose":
            return self._grasp(name, given), given.get("priority", 0)
        words = hc.ComparisonTypes()
        for word in given["comparison"]:
            words.append(getattr(hc.ComparisonType, word))
        if kind == "locked_joint":
            if set(given["comparison"]) != {"Equality"} or not all(given.get("mask", [1])):
                raise Refused(f"{name}: only Equality on all rows is built yet")
            return hc.LockedJoint(self.robot, given["joint"], np.array(given["value"])), given.get("priority", 0)
        rows, every = self.pin.StdVec_Bool(), self.pin.StdVec_Bool()
        for bit in given["mask"]:
            rows.append(bool(bit))
        for _ in given["comparison"]:
            every.append(True)
        if kind == "transformation":
            joint, (placement, reference) = self._joint(given["joint2"]), self._poses(given, "frame2", "frame1_world")
            function = hc.Transformation(name, self.robot, joint, placement, reference, rows)
        elif kind == "relative_transformation":
            one, other = self._joint(given["joint1"]), self._joint(given["joint2"])
            placements = self._poses(given, "frame1", "frame2")
            function = hc.RelativeTransformation(name, self.robot, one, other, *placements, rows)
        elif kind == "relative_com":
            return self._relative_com(name, given, words, every), given.get("priority", 0)
        else:
            raise Refused(f"constraints of kind '{kind}' are not built yet")
        self.kept.append(function)
        return hc.Implicit(function, words, every), given.get("priority", 0)

    def _is_at_qref(self, given: dict[str, Any]) -> bool:
        """Whether a locked joint has its value in qref, so that both are one right-hand side."""
        if given["kind"] != "locked_joint":
            return False
        joint = self.model.joints[self._joint(given["joint"])]
        there = self.np.array(self.description["qref"])[joint.idx_q : joint.idx_q + joint.nq]
        return bool(self.np.abs(there - self.np.array(given["value"])).max() < 1e-12)

    def _relative_com(self, name: str, given: dict[str, Any], words: Any, every: Any) -> Any:
        """HPP chooses the bodies itself: refused unless they are those of the file, judged at qref."""
        np, qref = self.np, self.np.array(self.description["qref"])
        problem = self.hcore.Problem(self.robot)
        joint, reference = given["joint"], np.array(given["reference"])
        probe = problem.createRelativeComConstraint(f"{name} probe", "", joint, np.zeros(3), [True] * 3)
        data = self.model.createData()
        self.pin.forwardKinematics(self.model, data, qref)
        first, last = given.get("com_joints", (1, self.model.njoints - 1))
        bodies = range(max(first, 1), last + 1)
        masses = np.array([self.model.inertias[k].mass for k in bodies])
        centres = np.array([data.oMi[k].act(self.model.inertias[k].lever) for k in bodies])
        ours = data.oMi[self._joint(joint)].actInv(masses @ centres / masses.sum())
        if np.abs(np.asarray(probe.function()(qref).vector()).ravel() - ours).max() > 1e-9:
            raise Refused(f"{name}: HPP sums the mass of other joints than the file")
        made = problem.createRelativeComConstraint(name, "", joint, reference, [bool(bit) for bit in given["mask"]])
        self.kept += [problem, probe, made]
        return made if set(given["comparison"]) == {"EqualToZero"} else self.hc.Implicit(made.function(), words, every)

    def _grasp(self, name: str, given: dict[str, Any]) -> Any:
        """An explicit relative pose exists as a grasp: of a handle on joint 2 by a gripper on joint 1."""
        if not all(given["mask"]) or set(given["comparison"]) != {"EqualToZero"}:
            raise Refused(f"{name}: only EqualToZero on all rows is built yet")
        every = self.pin.StdVec_Bool()
        for _ in range(6):
            every.append(True)
        for joint, placement, add, more in (
            (given["joint1"], given["frame1"], self.robot.addGripper, (0.0,)),
            (given["joint2"], given["frame2"], self.robot.addHandle, (0.0, every)),
        ):
            link = self._link(joint)
            add(link.name, name, link.placement.inverse() * self._pose(placement), *more)
        gripper, handle = self.robot.grippers()[name], self.robot.handles()[name]
        for tool, key in ((gripper, "frame1"), (handle, "frame2")):
            apart = tool.localPosition.actInv(self._pose(given[key]))
            if not apart.isIdentity(1e-9):
                raise Refused(f"{name}: HPP has another {key} than the file")
        self.kept += [gripper, handle]
        return handle.createGraspAndComplement(gripper, name)

    def _link(self, joint: str) -> Any:
        """A frame of the model that is a link on the joint."""
        index = self._joint(joint)
        for frame in self.model.frames:
            if frame.parentJoint == index and frame.type == self.pin.FrameType.BODY:
                return frame
        raise Refused(f"joint '{joint}' carries no link")

    def _contact_hold(self, name: str, given: dict[str, Any]) -> None:
        """The explicit placement, its right-hand side to be taken from qref."""
        import pyhpp.manipulation as manipulation

        if self.explicits:
            raise Refused(f"{name}: one placement a problem is built yet")
        if not all(given.get("mask", [1])):
            raise Refused(f"{name}: only all rows are built yet")
        problem = manipulation.Problem(self.robot)
        graph = manipulation.Graph(name, self.robot, problem)
        prefix = given["object_joint"].split("/")[0]
        made = graph.createPlacementConstraint(
            name, [f"{prefix}/surface"], ["floor_0/surface"], given.get("margin", 1e-4)
        )
        self.kept += [problem, graph, *made]
        self.explicits.append(made[2])

    def _projector(self, line_search: str, constraints: list[tuple[Any, int]]) -> Any:
        projector = self.hcore.ConfigProjector(
            self.robot, self.description["name"], self.threshold, self.max_iterations
        )
        projector.lineSearchType = getattr(self.hcore.LineSearchType, line_search)
        explicit_set = projector.solver().explicitConstraintSet
        if any(explicit_set().add(explicit) < 0 for explicit in self.explicits):
            raise Refused("a constraint was not accepted as explicit")
        if self.explicits:
            projector.solver().explicitConstraintSetHasChanged()
        for constraint, priority in constraints:
            if constraint is not None and not projector.add(constraint, priority):
                raise Refused("a constraint was not accepted by ConfigProjector.add")
        if self.from_qref:
            projector.solver().rightHandSideFromConfig(self.np.array(self.description["qref"]))
        return projector

    def run(self, **asked: Any) -> dict[str, Any]:
        """Take other starts, or project some."""
        if "starts" not in asked:
            return self.projected(**asked)
        self.starts = self.np.array(asked["starts"])
        return {"starts": len(self.starts)}

    def projected(self, line_search: str, first: int, last: int) -> dict[str, Any]:
        """Project starts first to last-1, timing each call of `apply`."""
        clock, apply = time.perf_counter, self.projectors[line_search].apply
        told: dict[str, list[Any]] = {"us": [], "success": [], "q": []}
        apply(self.starts[first].copy())
        for q in self.starts[first:last].copy():
            began = clock()
            done = apply(q)
            took = clock() - began
            for key, one in (("us", 1e6 * took), ("success", bool(done)), ("q", q.tolist())):
                told[key].append(one)
        return told


if __name__ == "__main__":
    prepare_environment()
    serve(lambda asked: Session(asked["open"], asked["starts"]))
