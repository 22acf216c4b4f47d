"""What is added to a copy of the library is judged there, as `tests/house/test_additions.py` runs it.

It prints a line for each part that holds.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import constraints
import liegroups
from constraints import Implicit, Options, Problem, Projector, Robot, Status, dynamics, functions, loops, solvers
from constraints.files.reports import Report
from constraints.loops import Closure, ConstraintSet, Hinge, PoseClosure, PoseContact
from constraints.models import sample_two_arms
from constraints.solvers import NewtonEngine
from constraints.testing import check_function, check_space

GROUP: Any = vars(liegroups)["Heisenberg"]
HEIGHT: Any = vars(functions)["Height"]
SPHERE: Any = vars(loops)["OnSphere"]
WIND: Any = vars(dynamics)["Wind"]
STEP: Any = vars(solvers)["PseudoInverse"]
CONTROL: Any = vars(solvers)["Careful"]
SLOT: Any = vars(Hinge)["slot"].__get__(None, Hinge)
CENTRE = [0.2, 0.1, 0.3, 0.0, 0.0, 0.0, 1.0]


def constraints_of(robot: Robot, q: Any) -> list[Any]:
    """One of each kind that was added, which q satisfies."""
    at = robot.at(q)
    reach = float(np.linalg.norm(at.placement("right_tool").translation - CENTRE[:3]))
    wide = float(np.linalg.norm(at.placement("torso").actInv(at.placement("left_tool")).translation))
    height = HEIGHT(robot, "left_tool")
    return [
        Implicit.equal(height, height.value(q), name="height"),
        Closure(robot, "left_tool", "grip", SLOT([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]), name="slot"),
        PoseContact(robot, "right_tool", SPHERE(reach), CENTRE, name="sphere"),
        PoseClosure(robot, "torso", "left_tool", SPHERE(wide), name="tether"),
    ]


def mechanism() -> tuple[Robot, Any]:
    """Two arms, with a frame of the right one where the left tool is; and that configuration."""
    arms = sample_two_arms()
    q = arms.random(np.random.default_rng(0))
    at = arms.at(q)
    return arms.with_frame("grip", "right_tool", at.placement("right_tool").actInv(at.placement("left_tool"))), q


def laws(rows: list[Any]) -> None:
    """The laws of functions and of spaces."""
    for owner in rows:
        check_function(owner.function, samples=3)
    check_space(GROUP)
    print("laws")


def files(robot: Robot, rows: list[Any], q: Any) -> Path:
    """A problem that is saved, loaded and solved as it was, with the step rules; its report says them."""
    path, options = Path("problem.json"), Options(step_control=CONTROL(0.9))
    Problem(robot, rows).save(path)
    loaded = Problem.load(path)
    assert type(loaded.constraints["slot"].hinge) is Hinge  # pyright: ignore[reportAttributeAccessIssue]
    assert loaded.constraints["sphere"].pose_map.radius == rows[2].pose_map.radius  # pyright: ignore[reportAttributeAccessIssue]
    start = robot.space.integrate(q, 0.1 * np.random.default_rng(1).standard_normal(robot.nv))
    found = [Projector(each, options, NewtonEngine(STEP)).project(start) for each in (Problem(robot, rows), loaded)]
    assert found[0].status is Status.CONVERGED, found[0].describe()
    assert found[0].q.tobytes() == found[1].q.tobytes()
    assert all(np.abs(row.error_at(robot.at(found[0].q), row.default_rhs)).max() <= 1e-4 for row in rows)
    found[0].report("report.json")
    report = Report.load("report.json")
    assert report.reproduce().q.tobytes() == found[0].q.tobytes()
    text = Path("report.json").read_text()
    assert '"PseudoInverse"' in text
    assert '"Careful"' in text
    print("files")
    return path


def groups() -> None:
    """A problem on the group, from a file."""
    aim = GROUP.exp(np.array([0.3, -0.4, 0.5]))
    Problem(GROUP, [Implicit.equal(functions.Identity(GROUP), aim)]).save("group.json")
    result = Projector(Problem.load("group.json"), engine=NewtonEngine()).project(GROUP.neutral)
    assert result.status is Status.CONVERGED
    assert np.abs(result.q - aim).max() <= 1e-4
    print("group")


def forces(robot: Robot, rows: list[Any], q: Any) -> None:
    """Dynamics with the contact, the closure and the law: both equations, by pinocchio's matrices."""
    v = 0.3 * np.random.default_rng(2).standard_normal(robot.nv)
    wind, held = WIND("left_tool", [3.0, 0.0, 1.0], 2.0), ConstraintSet(robot, rows[1:])
    found = dynamics.forward_dynamics(held, robot.at(q, v), external=[wind]).or_raise()
    alone = dynamics.forward_dynamics(held, robot.at(q, v)).or_raise()
    assert np.abs(found.acceleration - alone.acceleration).max() > 1e-3
    model, data, frame = robot.model, robot.model.createData(), robot.frame("left_tool")
    needed = np.array(pin.rnea(model, data, q, v, found.acceleration))
    pin.computeJointJacobians(model, data, q)
    J: Any = pin.getFrameJacobian(model, data, frame.joint, frame.placement, pin.LOCAL_WORLD_ALIGNED)[:3]
    pushed = J.T @ (2.0 * (np.array([3.0, 0.0, 1.0]) - J @ v)) + found.multipliers @ held.jacobian(q)
    assert np.abs(needed - pushed).max() <= 1e-8 * (1.0 + np.abs(needed).max())
    asked = held.jacobian(q) @ found.acceleration + held.drift(q, v)
    assert np.abs(asked).max() <= 1e-8 * (1.0 + np.abs(found.acceleration).max())
    slopes = found.derivatives()
    assert "sphere" in slopes.by_differences  # the map says nothing of its slopes
    print("forces")


def command(path: Path) -> None:
    """`python -m constraints rows FILE`."""
    sys.argv = ["constraints", "rows", str(path)]
    with pytest.raises(SystemExit) as done:
        runpy.run_module("constraints", run_name="__main__", alter_sys=True)
    assert done.value.code == 0
    print("command")


def pages_and_samples(copy: Path) -> None:
    """The tests that ask for the rest of what the page names: pages, samples, lists."""
    tests = {
        "docs/test_docs.py": "test_every_function_is_in_the_table_and_nothing_else",
        "docs/test_site.py": "test_every_public_name_has_a_place_in_the_api_pages or test_the_page_of_a_topic",
        "docs/test_command_line_page.py": "test_the_table_has_each_command_and_all_that_it_takes",
        "functions/test_functions.py": "Height or has_a_sample or has_a_formula",
        "house/test_values.py": "test_what_is_given_by_its_name_alone or test_records_are_frozen",
        "loops/test_hinges.py": "slot",
    }
    code = pytest.main(
        [
            "-q", "-q", "--no-header", "-p", "no:cacheprovider", "-c", str(copy / "pyproject.toml"),
            *(str(copy / "tests" / name) for name in tests), "-k", " or ".join(tests.values()),
        ]
    )  # fmt: skip
    assert code == 0
    print("pages and samples")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    assert Path(constraints.__file__).is_relative_to(place), constraints.__file__
    arms, closed = mechanism()
    added = constraints_of(arms, closed)
    laws(added)
    groups()
    forces(arms, added, closed)
    command(files(arms, added, closed))
    assert "numba" not in sys.modules, "nothing is compiled here"
    pages_and_samples(place)
