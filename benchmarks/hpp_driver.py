"""Child process that runs hpp-constraints on a problem file; started by `projection.py --hpp-python`.

It reads one JSON object a line and answers each with one, until its input ends:

    {"open": "FILE.npz", "starts": [[...], ...]}
        -> {"line_searches": [...]}, or {"refused": "why"}
    {"line_search": NAME, "first": i, "last": j, "repeats": r}
        -> {"us": [[...], ...], "success": [...], "q": [[...], ...]}

Starts i to j-1 are projected by `ConfigProjector.apply`, r times each; `us` has a row a start. Needs the wheel
`hpp-python`, which brings the robots too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

LINE_SEARCHES = ("Backtracking", "ErrorNormBased", "FixedSequence", "Constant")


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
        self.starts = np.array(starts)
        self.kept: list[Any] = []  # what the C++ side points to
        self.robot = self._robot()
        self.model = self.robot.model()
        joints = list(self.model.names)
        if joints[1:] != self.description["joints"][1:]:
            raise Refused(f"joints {joints[1:]} differ from those of the file")
        for name, joint in zip(joints[1:], list(self.model.joints)[1:], strict=True):
            sides = zip(self.description["lower"], self.description["upper"], strict=True)
            pairs = list(sides)[joint.idx_q : joint.idx_q + joint.nq]
            self.robot.setJointBounds(name, [x for pair in pairs for x in pair])
        constraints = [self._constraint(i, c) for i, c in enumerate(self.description["constraints"])]
        self.projectors = {name: self._projector(name, constraints) for name in LINE_SEARCHES}

    def _robot(self) -> Any:
        import pyhpp.pinocchio as hpin
        import pyhpp.pinocchio.urdf as urdf

        robot = hpin.Device(self.description["name"])
        for prefix, root, source, placement, *frame in self.description["models"]:
            base = robot.model().getFrameId(frame[0]) if frame else 0
            load = urdf.loadModelFromString if source.startswith("<") else urdf.loadModel
            load(robot, base, prefix, root, source, "", self._pose(placement))
        return robot

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
        if "rhs" in given:
            raise Refused(f"{name}: right-hand sides are not set yet")
        words = hc.ComparisonTypes()
        for word in given["comparison"]:
            words.append(getattr(hc.ComparisonType, word))
        if kind == "locked_joint":
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
            return self._relative_com(name, given), given.get("priority", 0)
        else:
            raise Refused(f"constraints of kind '{kind}' are not built yet")
        self.kept.append(function)
        return hc.Implicit(function, words, every), given.get("priority", 0)

    def _relative_com(self, name: str, given: dict[str, Any]) -> Any:
        """HPP chooses the bodies itself: refused unless they are those of the file, judged at qref."""
        np, qref = self.np, self.np.array(self.description["qref"])
        if set(given["comparison"]) != {"EqualToZero"}:
            raise Refused(f"{name}: only EqualToZero is built yet")
        problem = self.hcore.Problem(self.robot)
        joint, reference = given["joint"], np.array(given["reference"])
        probe = problem.createRelativeComConstraint(f"{name} probe", "", joint, np.zeros(3), [True] * 3)
        data = self.model.createData()
        self.pin.forwardKinematics(self.model, data, qref)
        bodies = range(given["com_joints"][0], given["com_joints"][1] + 1)
        masses = np.array([self.model.inertias[k].mass for k in bodies])
        centres = np.array([data.oMi[k].act(self.model.inertias[k].lever) for k in bodies])
        ours = data.oMi[self._joint(joint)].actInv(masses @ centres / masses.sum())
        if np.abs(np.asarray(probe.function()(qref).vector()).ravel() - ours).max() > 1e-9:
            raise Refused(f"{name}: HPP sums the mass of other joints than the file")
        self.kept += [problem, probe]
        return problem.createRelativeComConstraint(name, "", joint, reference, [bool(bit) for bit in given["mask"]])

    def _projector(self, line_search: str, constraints: list[tuple[Any, int]]) -> Any:
        projector = self.hcore.ConfigProjector(
            self.robot, self.description["name"], self.threshold, self.max_iterations
        )
        projector.lineSearchType = getattr(self.hcore.LineSearchType, line_search)
        for constraint, priority in constraints:
            if not projector.add(constraint, priority):
                raise Refused("a constraint was not accepted by ConfigProjector.add")
        return projector

    def run(self, line_search: str, first: int, last: int, repeats: int) -> dict[str, Any]:
        """Project starts first to last-1, timing each call of `apply`."""
        clock, apply = time.perf_counter, self.projectors[line_search].apply
        us: list[list[float]] = []
        success: list[bool] = []
        ends: list[list[float]] = []
        apply(self.starts[first].copy())
        for q0 in self.starts[first:last]:
            times: list[float] = []
            for _ in range(repeats):
                q = q0.copy()
                began = clock()
                done = apply(q)
                times.append(1e6 * (clock() - began))
            us.append(times)
            success.append(bool(done))
            ends.append(q.tolist())
        return {"us": us, "success": success, "q": ends}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")  # what C++ prints must not get between the answers
    os.dup2(2, 1)
    session: Session | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "open" in asked:
                session = Session(asked["open"], asked["starts"])
                answer: dict[str, Any] = {"line_searches": list(LINE_SEARCHES)}
            elif session is None:
                answer = {"refused": "no problem is open"}
            else:
                answer = session.run(asked["line_search"], asked["first"], asked["last"], asked["repeats"])
        except Refused as why:
            answer = {"refused": str(why)}
        except Exception as error:  # told to the parent, which reports it
            answer = {"refused": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    prepare_environment()
    main()
