"""The benchmark of projections measures what it says: its reader, its judge, its sampler, its figures."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import scripts
from each_choice import a_few, draws
from house.doors import offered

import constraints
from constraints import Function, Position, Projector
from constraints.functions import Composition

PROBLEMS = sorted((scripts.BENCHMARKS / "problems").glob("*.npz"))
KEYS = [
    "problem", "engine", "success", "success_without_restarts", "us_per_projection", "us_per_usable", "us_solved",
    "iterations", "us_per_iteration", "max_error", "hpp", "ratio",
]  # fmt: skip
LEFT_TO_NEWTON = {
    "ur5_pose": 6, "panda_pose": 6, "pr2_dual": 6, "talos_stance_near": 14, "talos_stance_far": 14, "talos_hands": 20,
    "ur5_grasp_explicit": 3, "ur5_grasp_implicit": 9, "ur5_place_explicit": 6, "talos_stance_near_true_com": 14,
}  # fmt: skip

HAND = """<robot name='hand'><link name='palm'><inertial><mass value='2'/><origin xyz='0 0 0.1'/>
<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
<link name='finger'><inertial><mass value='1'/><origin xyz='0 0 0.2'/>
<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><link name='wheel'/>
<joint name='bend' type='revolute'><parent link='palm'/><child link='finger'/><origin xyz='0 0 0.3'/>
<axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>
<joint name='roll' type='continuous'><parent link='finger'/><child link='wheel'/><origin xyz='0 0 0.3'/>
<axis xyz='0 0 1'/></joint></robot>"""
BOX = "<robot name='box'><link name='body'/></robot>"
HERE = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def two_hands(*constraints: dict[str, Any]) -> dict[str, Any]:
    """A free hand, a second one on its finger that slides on nothing, and a cart: each kind of joint and root."""
    unit = [0.0, 0.0, 0.0, 1.0]
    joints = ["universe", "a/root_joint", "a/bend", "a/roll", "b/bend", "b/roll", "cart/root_joint"]
    qref = [0.1, 0.2, 0.3, *unit, 0.2, 1.0, 0.0, -0.3, 1.0, 0.0, 0.5, -0.5, 1.0, 0.0]
    lower = [-2.0] * 3 + [-1.01] * 4 + [-1.0] + [-1.01] * 2 + [-1.0] + [-1.01] * 2 + [-2.0, -2.0, -1.01, -1.01]
    return {
        "name": "two_hands",
        "doc": "",
        "models": [
            ["a", "freeflyer", HAND, HERE],
            ["b", "anchor", HAND, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], "a/wheel"],
            ["cart", "planar", "<robot name='cart'><link name='body'/></robot>", HERE],
        ],
        "joints": joints,
        "nq": len(qref),
        "nv": 13,
        "lower": lower,
        "upper": [-x for x in lower],
        "qref": qref,
        "sampler": ["uniform", {"box": 0.2, "rot": 1.0}],
        "constraints": list(constraints),
    }


def write(path: Path, description: dict[str, Any], count: int = 3) -> Path:
    q0 = np.tile(description["qref"], (count, 1))
    np.savez(path, problem=json.dumps(description), q0=q0, error_threshold=1e-4, max_iterations=40)
    return path


def pose(**changes: Any) -> dict[str, Any]:
    given = {"kind": "transformation", "joint2": "b/roll", "frame2": HERE, "frame1_world": [0.1, 0.0, 1.0, 0, 0, 0, 1]}
    return given | {"mask": [1] * 6, "comparison": ["EqualToZero"] * 6, "priority": 0} | changes


def on_a_box(*constraints: dict[str, Any]) -> dict[str, Any]:
    """The same, and a box that stands 0.1 m above its middle on a tilted floor in the world."""
    description = two_hands(*constraints)
    floor: Any = pin.XYZQUATToSE3(np.array(FLOOR))
    stands = floor * pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.4])), np.array([0.1, 0.2, 0.1]))
    description["models"].append(["box", "freeflyer", BOX, HERE])
    description["joints"].append("box/root_joint")
    description["qref"] = [*description["qref"], *pin.SE3ToXYZQUAT(stands).tolist()]
    description["lower"] += [-3.0] * 3 + [-1.01] * 4
    description["upper"] += [3.0] * 3 + [1.01] * 4
    description["nq"], description["nv"] = 24, 19
    return description


FLOOR = [0.3, 0.1, 0.5, 0.6, 0.0, 0.0, 0.8]
CONTACT = {
    "kind": "explicit_convex_shape_contact", "object_joint": "box/root_joint", "floor_joint": "universe",
    "object_surface": [[-0.1, -0.1, -0.1], [-0.1, 0.1, -0.1], [0.1, 0.1, -0.1], [0.1, -0.1, -0.1]],
    "floor_pose": FLOOR, "floor_surface": [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]],
    "comparison": ["EqualToZero"] * 5 + ["Equality"] * 3, "rhs": "from qref", "priority": 0,
}  # fmt: skip
GRASP = {
    "kind": "explicit_relative_pose", "joint1": "a/bend", "frame1": [0.1, 0, 0, 0, 0, 1, 0],
    "joint2": "box/root_joint", "frame2": [0, 0, 0.1, 1, 0, 0, 0], "mask": [1] * 6, "comparison": ["EqualToZero"] * 6,
}  # fmt: skip

MANY = (
    pose(),
    pose(mask=[1, 0, 0, 0, 1, 0], comparison=["Superior", "Inferior"]),
    pose(mask=[0, 0, 1, 0, 0, 0], comparison=["Equality"], rhs="from qref"),
    {
        "kind": "relative_transformation", "joint1": "cart/root_joint", "frame1": [0.1, 0, 0, 0, 0, 1, 0],
        "joint2": "a/bend", "frame2": [0, 0, 0.1, 1, 0, 0, 0], "mask": [1, 1, 1, 0, 1, 1],
        "comparison": ["EqualToZero", "Superior", "Inferior", "EqualToZero", "EqualToZero"],
    },
    {"kind": "relative_com", "joint": "a/bend", "reference": [0.1, 0.0, 0.0], "com_joints": [1, 2], "mask": [1, 1, 0],
     "comparison": ["EqualToZero"] * 2},
    {"kind": "relative_com", "joint": "b/bend", "reference": [0.0, 0.0, 0.1], "mask": [1] * 3,
     "comparison": ["EqualToZero"] * 3},
    {"kind": "locked_joint", "joint": "a/bend", "value": [0.4], "comparison": ["Equality"]},
    {"kind": "locked_joint", "joint": "b/roll", "value": [0.6, 0.8], "comparison": ["Equality"]},
    {"kind": "locked_joint", "joint": "a/root_joint", "value": [0.1, 0.2, 0.3, 0.6, 0.0, 0.0, 0.8],
     "comparison": ["Equality"] * 6},
    {"kind": "locked_joint", "joint": "cart/root_joint", "value": [0.1, 0.2, 0.0, 1.0], "comparison": ["Equality"] * 3},
)  # fmt: skip
SIDE = [[0.1, -0.1, -0.1], [0.1, 0.1, -0.1], [0.1, 0.1, 0.1], [0.1, -0.1, 0.1]]
SHELF = [[-1, -1, 0.7], [1, -1, 0.7], [1, 1, 0.7], [-1, 1, 0.7]]

# Every kind with every comparison and with masks.

WORDS = ("Equality", "EqualToZero", "Superior", "Inferior")
SIX: tuple[dict[str, Any], ...] = (
    pose(),
    {"kind": "relative_transformation", "joint1": "cart/root_joint", "frame1": [0.1, 0, 0, 0, 0, 1, 0],
     "joint2": "a/bend", "frame2": [0, 0, 0.1, 1, 0, 0, 0]},
    GRASP,
)  # fmt: skip
OTHERS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"kind": "relative_com", "joint": "a/bend", "reference": [0.1, 0.0, 0.0], "com_joints": [1, 2]}, 3),
    ({"kind": "locked_joint", "joint": "a/bend", "value": [0.4]}, 1),
    ({"kind": "locked_joint", "joint": "b/roll", "value": [0.6, 0.8]}, 1),
    ({"kind": "locked_joint", "joint": "cart/root_joint", "value": [0.1, 0.2, 0.0, 1.0]}, 3),
    ({"kind": "locked_joint", "joint": "a/root_joint", "value": [0.1, 0.2, 0.3, 0.6, 0.0, 0.0, 0.8]}, 6),
)


def of_every_comparison() -> Iterator[dict[str, Any]]:
    """Each kind: all rows of one comparison, with and without the right-hand side of qref; mixed rows under masks."""
    rng = np.random.default_rng(0)
    for given, size in (*((given, 6) for given in SIX), *OTHERS):
        for word in WORDS:
            yield given | {"comparison": [word] * size, "mask": [1] * size}
        yield given | {"comparison": ["Equality"] * size, "mask": [1] * size, "rhs": "from qref"}
        for _ in range(4 if size > 1 else 0):
            mask = rng.integers(0, 2, size)
            mask[rng.integers(size)] = 1
            words = [str(word) for word in rng.choice(WORDS, mask.sum())]
            yield given | {"mask": mask.tolist(), "comparison": words}
            yield given | {"mask": mask.tolist(), "comparison": words, "rhs": "from qref", "priority": 1}
        yield {key: value for key, value in given.items() if key not in ("mask", "comparison")}
    yield from MANY
    yield CONTACT | {"mask": [1] * 5 + [0] * 3, "comparison": ["EqualToZero"] * 5}
    yield CONTACT | {"mask": [0] * 5 + [1] * 3, "comparison": ["Equality"] * 3}
    yield {key: value for key, value in CONTACT.items() if key not in ("comparison", "rhs")}


@draws(1, 5)
def test_every_comparison_and_mask_of_every_kind_is_judged_alike(
    files: Any, judging: Any, tmp_path: Path, count: int
) -> None:
    """Two roads from one description, and no success that one of them denies."""
    every = list(of_every_comparison())
    assert {given["kind"] for given in every} == set(files.KINDS | files.EXPLICIT_KINDS) == set(files.KEYS)
    for given in every if count > 1 else every[::3]:
        file = files.read(write(tmp_path / "p.npz", on_a_box(given)))
        problem, judge = files.build(file), judging.Judge(file.description)
        twisted = given["kind"] == "locked_joint" and problem.explicits and "rhs" in given and len(given["mask"]) > 1
        starts = judge.starts(count, 0)
        assert [problem.bounds.contains(q) for q in starts] == [judge.in_bounds(q) for q in starts]
        if not twisted:  # a pose held at another value: the same solution, in other coordinates away from it
            assert [problem.residual(q) for q in starts] == pytest.approx(judge.residuals(starts), abs=1e-9), given
        result = Projector(problem).project(judge.starts(1, 1)[0])
        assert not twisted or result.success
        if result.success:
            assert judge.residual(result.q) <= 1e-4, given


def test_bodies_fixed_in_the_world_count_in_a_centre_of_mass(files: Any, judging: Any, tmp_path: Path) -> None:
    """Range of joints from 0: the universe; alone, and with joints that move."""
    for last in (0, 1, 2):
        given = {"kind": "relative_com", "joint": "b/bend", "reference": [0.1, 0.0, 0.1], "com_joints": [0, last],
                 "mask": [1, 0, 1], "comparison": ["EqualToZero"] * 2}  # fmt: skip
        description = two_hands(given)
        description["models"][0][1], description["models"][1] = "anchor", ["b", "anchor", HAND, [0.5, 0, 0, 0, 0, 0, 1]]
        description["joints"].remove("a/root_joint")
        for key in ("qref", "lower", "upper"):
            description[key] = description[key][7:]
        description |= {"nq": 10, "nv": 7}
        file = files.read(write(tmp_path / "p.npz", description))
        problem, judge = files.build(file), judging.Judge(file.description)
        assert judge.model.inertias[0].mass == 4.0
        for q in judge.starts(10, 0):
            assert problem.residual(q) == pytest.approx(judge.residual(q), abs=1e-12)


EXPLICIT = (
    CONTACT,
    CONTACT | {"margin": 0.05},
    CONTACT | {"object_surface": [SIDE, CONTACT["object_surface"]], "floor_surface": [SHELF, CONTACT["floor_surface"]]},
    GRASP,
    GRASP | {"joint1": "b/roll", "rhs": "from qref", "comparison": ["Equality"] * 6},
    GRASP | {"comparison": ["EqualToZero"] * 5 + ["Superior"]},
    GRASP | {"mask": [1, 1, 1, 0, 1, 1], "comparison": ["EqualToZero"] * 5},
)


@pytest.mark.parametrize("number", range(len(EXPLICIT)))
def test_reader_and_judge_agree_on_explicit_kinds(files: Any, judging: Any, tmp_path: Path, number: int) -> None:
    file = files.read(write(tmp_path / "p.npz", on_a_box(EXPLICIT[number])))
    problem, judge = files.build(file), judging.Judge(file.description)
    assert len(problem.explicits) == (1 if number < 5 else 0)  # inequalities and masks fall back to the twin
    starts = judge.starts(20, 0)
    assert [problem.residual(q) for q in starts] == pytest.approx(judge.residuals(starts), abs=1e-9)
    ends = [Projector(problem).project(q) for q in judge.starts(5, 0)]
    assert all(end.success and judge.residual(end.q) <= 1e-4 for end in ends)


def test_placed_object_ends_the_margin_above_its_floor(files: Any, tmp_path: Path) -> None:
    file = files.read(write(tmp_path / "p.npz", on_a_box(CONTACT | {"margin": 0.05})))
    q = Projector(files.build(file)).project(file.q0[0]).q
    floor: Any = pin.XYZQUATToSE3(np.array(FLOOR))
    before, after = (floor.actInv(pin.XYZQUATToSE3(numbers[-7:])) for numbers in (file.q0[0], q))
    np.testing.assert_allclose(after.translation - before.translation, [0.0, 0.0, 0.05], atol=1e-12)
    np.testing.assert_allclose(after.rotation, before.rotation, atol=1e-12)


def test_shipped_problems_are_the_agreed_ones(files: Any) -> None:
    assert [path.stem for path in PROBLEMS] == sorted(LEFT_TO_NEWTON)
    for path in PROBLEMS:
        problem = files.build(files.read(path))
        assert problem.reduced_size == LEFT_TO_NEWTON[path.stem]
        assert not problem.resolution.refused


def test_true_centre_of_mass_is_that_of_the_whole_robot(files: Any, judging: Any) -> None:
    path = next(path for path in PROBLEMS if path.stem == "talos_stance_near_true_com")
    file = files.read(path)
    robot, q = files.build(file).robot, np.array(file.description["qref"])
    data = robot.model.createData()
    centre = pin.centerOfMass(robot.model, data, q)
    foot = data.oMi[robot.model.getJointId("talos/leg_left_6_joint")]
    wanted = next(c for c in file.description["constraints"] if c["kind"] == "relative_com")["reference"]
    np.testing.assert_allclose(foot.actInv(centre), wanted, atol=1e-12)
    assert judging.Judge(file.description).residual(q) <= 1e-9


def test_all_kinds_make_one_problem(files: Any, judging: Any, tmp_path: Path) -> None:
    file = files.read(write(tmp_path / "p.npz", two_hands(*MANY)))
    problem, judge = files.build(file), judging.Judge(file.description)
    worst = [judge.residual(q) for q in judge.starts(5, 1)]
    np.testing.assert_allclose([problem.residual(q) for q in judge.starts(5, 1)], worst, atol=1e-9)


NOT_UNDERSTOOD = [
    (two_hands(pose(kind="com_between_feet")), "com_between_feet"),
    (two_hands(GRASP | {"joint2": "b/roll"}), "b/roll"),
    (on_a_box(CONTACT | {"floor_joint": "a/bend"}), "does not stand"),
    (on_a_box(CONTACT | {"floor_joint": "a/bond"}), "a/bond"),
    (on_a_box(CONTACT | {"floor_surface": [[-1, -1, 0], [1, -1, 0], [1, 1, 0.5], [-1, 1, 0]]}), "plane"),
    (on_a_box(CONTACT | {"object_surface": [[0, 0, 0], [0, 1, 0], [1, 0, 0]]}), "does not stand"),
    (on_a_box(CONTACT | {"comparison": ["Superior"] * 8}), "Superior"),
    (on_a_box(CONTACT | {"mask": [1, 0] * 4, "comparison": ["EqualToZero"] * 4}), "mask"),
    (two_hands(pose(comparison=["EqualToZero"])), "comparison"),
    (two_hands(pose(comparison=["Roughly"] * 6)), "Roughly"),
    (two_hands(pose(mask=[1] * 5, comparison=["EqualToZero"] * 5)), "mask"),
    (two_hands(pose(joint2="b/rol")), "b/rol"),
    (two_hands(pose(rhs=[1.0])), "right-hand side"),
    (two_hands(pose(weight=2.0)), "weight"),
    (two_hands(MANY[4] | {"com_joints": [3, 99]}), "com_joints"),
    (two_hands({"kind": "transformation"}), "joint2"),
    (two_hands(pose()) | {"joints": ["universe", "a/bend"]}, "a/bend"),
    (two_hands(pose()) | {"nv": 12}, "12"),
    (two_hands(pose()) | {"frozen": ["a/bend"]}, "frozen"),
    (two_hands(pose()) | {"sampler": ["halton", {}]}, "halton"),
    (two_hands(pose()) | {"sampler": ["uniform", {"spread": 1.0}]}, "spread"),
    (two_hands(pose()) | {"sampler": ["uniform", {"keep": ["a/bond"]}]}, "a/bond"),
    (two_hands(pose()) | {"models": [["a", "hovering", HAND, HERE]]}, "hovering"),
    (two_hands(pose()) | {"models": [["a", "anchor", HAND]]}, "3 entries"),
    (two_hands(pose()) | {"models": [["a", "anchor", "<robot", HERE]]}, "XML"),
    (two_hands(pose()) | {"lower": [0.0]}, "lower"),
]


@pytest.mark.parametrize(
    ("description", "named"), NOT_UNDERSTOOD, ids=lambda given: given if str(given) == given else ""
)
def test_what_is_not_understood_is_refused_by_name(
    files: Any, tmp_path: Path, description: dict[str, Any], named: str
) -> None:
    with pytest.raises(files.Refused, match=named):
        files.build(files.read(write(tmp_path / "p.npz", description)))


def test_a_model_that_is_not_installed_is_named(files: Any, tmp_path: Path) -> None:
    absent = two_hands(pose()) | {"models": [["a", "anchor", "package://nowhere/arm.urdf", HERE]]}
    with pytest.raises(files.Skipped, match="nowhere"):
        files.build(files.read(write(tmp_path / "p.npz", absent)))


def test_files_in_another_format_are_refused(files: Any, tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    np.savez(tmp_path / "other.npz", q=np.zeros(3))
    np.savez(tmp_path / "list.npz", problem="[1, 2]", q0=np.zeros((1, 3)), error_threshold=1e-4, max_iterations=40)
    for name in ("text.npz", "other.npz", "list.npz", "absent.npz"):
        with pytest.raises(files.Refused):
            files.read(tmp_path / name)


@pytest.mark.parametrize("path", a_few(PROBLEMS, 4), ids=lambda path: path.stem)
def test_sampler_draws_the_recorded_starts_again(files: Any, judging: Any, path: Path) -> None:
    file = files.read(path)
    assert file.name == path.stem
    judge = judging.Judge(file.description)
    np.testing.assert_allclose(judge.starts(len(file.q0), 20240607), file.q0, rtol=0, atol=1e-12)
    assert all(judge.in_bounds(q) for q in file.q0)


def test_sampler_near_and_joints_to_keep(judging: Any) -> None:
    description = two_hands(pose()) | {"sampler": ["near", {"sigma": 0.5, "keep": ["b/bend", "cart/root_joint"]}]}
    judge, qref = judging.Judge(description), np.array(description["qref"])
    starts = judge.starts(50, 0)
    np.testing.assert_array_equal(starts[:, 10], qref[10])
    np.testing.assert_array_equal(starts[:, 13:], np.tile(qref[13:], (50, 1)))
    assert np.abs(starts[:, 7]).max() <= 1.0
    assert starts[:, 7].std() > 0.1
    np.testing.assert_allclose(np.linalg.norm(starts[:, 3:7], axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(starts[:, 8:10], axis=1), 1.0)


@pytest.mark.parametrize("path", a_few(PROBLEMS, 4), ids=lambda path: path.stem)
def test_successes_on_shipped_problems_are_true_ones(files: Any, judging: Any, path: Path) -> None:
    file = files.read(path)
    problem, judge = files.build(file), judging.Judge(file.description)
    projector = Projector(problem)
    results = [projector.project(q) for q in file.q0[:40]]
    good = [result.q for result in results if result.success]
    assert len(good) >= 34
    assert max(judge.residual(q) for q in good) <= file.threshold
    assert all(judge.in_bounds(q) for q in good)


def run(*given: str, folder: Path) -> scripts.Done:
    return scripts.run(scripts.BENCHMARKS / "projection.py", *given, folder=folder)


def test_json_has_the_agreed_keys_and_fractions(tmp_path: Path) -> None:
    outputs = ["--json", "out.json", "--solutions", "out.npz"]
    done = run(*outputs, "--starts", "6", "--seed", "3", "--repeats", "2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out.json").read_text())
    assert [row["problem"] for row in rows] == [path.stem for path in PROBLEMS]
    stored = np.load(tmp_path / "out.npz")
    for row in rows:
        assert list(row) == KEYS
        assert row["engine"] == ("readable" if find_spec("numba") is None else "compiled")
        assert 0.0 <= row["success_without_restarts"] <= row["success"] <= 1.0
        assert row["us_per_usable"] > 0.0
        assert row["max_error"] <= 1e-4
        assert row["hpp"] is None
        assert row["ratio"] is None
        assert stored[f"{row['problem']}_q"].shape[0] == 6
        assert stored[f"{row['problem']}_success"].mean() == row["success"]
        assert row["problem"] in done.stdout


def test_files_of_the_user_run_and_others_are_named(tmp_path: Path) -> None:
    """A file that is not understood ends the run before it began; one whose model is missing is left out."""
    write(tmp_path / "mine.npz", two_hands(pose(), MANY[6]), count=2)
    write(tmp_path / "later.npz", two_hands(pose(kind="com_between_feet")) | {"name": "later"})
    absent = two_hands(pose()) | {"models": [["a", "anchor", "package://nowhere/arm.urdf", HERE]], "name": "absent"}
    write(tmp_path / "absent.npz", absent)
    done = run("mine.npz", "absent.npz", "--repeats", "1", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "two_hands" in done.stdout
    assert "absent.npz: skipped, model 'a': " in done.stderr
    done = run("mine.npz", "later.npz", "mine.npz", "--repeats", "1", "--json", "out.json", folder=tmp_path)
    assert done.returncode == 2
    assert "later.npz: refused, constraints of kind 'com_between_feet'" in done.stderr
    assert "mine.npz: refused, it is called 'two_hands' like mine.npz" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out.json").exists()
    assert run("absent.npz", folder=tmp_path).returncode == 1


def test_interpreter_without_hpp_is_a_remark(tmp_path: Path) -> None:
    done = run(
        str(PROBLEMS[-1]), "--hpp-python", str(tmp_path / "python"), "--starts", "2", "--repeats", "1", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "no HPP: " in done.stderr


@pytest.mark.parametrize(
    "given",
    [["--starts", "0"], ["--engine", "warp"], ["--plot", "a.png"], ["--repeats", "many"], ["--set", "far"],
     ["--beside", "none.json"]],
)  # fmt: skip
def test_wrong_options_end_with_one_line(given: list[str], tmp_path: Path) -> None:
    done = run(*given, folder=tmp_path)
    assert done.returncode == 2
    assert given[0] in done.stderr
    assert done.stderr.count("\n") == 1
    assert given[0] != "--engine" or "no engine is called 'warp'; there are: compiled, readable" in done.stderr


def test_figures_are_fractions_of_all_starts_and_the_ratio_is_to_the_best_line_search(on_path: None) -> None:
    """By hand: claims that do not hold count as failures; cost is that of all starts."""
    module = importlib.import_module("projection_figures")

    def made(claimed: list[int], usable: list[int], us: list[list[float]]) -> Any:
        errors = np.where(usable, 1e-5, 2.0)
        some = module.Run(np.zeros((4, 1)), np.array(claimed, dtype=bool), np.array(us), np.full(4, 5.0))
        some.usable, some.errors = np.array(usable, dtype=bool), errors
        return some

    ours = made([1, 1, 1, 0], [1, 1, 0, 0], [[9.0, 10.0, 99.0]] * 4)
    slow, fast = made([1] * 4, [1] * 4, [[80.0]] * 4), made([1] * 4, [1, 0, 0, 0], [[10.0]] * 4)
    row = module.figures(
        "p", "readable", ours, made([1, 0, 0, 0], [1, 0, 0, 0], [[1.0]] * 4), {"A": slow, "B": fast}, (2.0, 3.0)
    )
    assert list(row) == KEYS
    assert (row["success"], row["success_without_restarts"]) == (0.5, 0.25)
    assert (row["us_per_projection"], row["us_per_usable"]) == (10.0, 20.0)
    assert (row["iterations"], row["us_per_iteration"], row["max_error"]) == (5.0, 2.0, 2.0)
    assert row["hpp"] == {"success": 0.25, "us_per_usable": 40.0, "us_solved": 3.0, "line_search": "B"}
    assert (row["us_solved"], row["ratio"]) == (2.0, 0.5)
    none = made([0] * 4, [0] * 4, [[10.0]] * 4)
    row = module.figures("p", "readable", ours, ours, {"A": none})
    assert row["hpp"] == {"success": 0.0, "us_per_usable": None, "us_solved": None, "line_search": "A"}
    assert row["ratio"] is None
    assert "0.0 %" in module.table([row])


def test_the_figure_is_a_picture(on_path: None, tmp_path: Path) -> None:
    hpp = {"success": 0.5, "us_per_usable": 400.0, "us_solved": 2.0, "line_search": "Constant"}
    rows = [{"problem": "ur5_pose", "engine": "compiled", "ratio": 0.2, "success": 1.0, "hpp": hpp},
            {"problem": "mine", "engine": "compiled", "ratio": 3.0, "success": 1.0, "hpp": hpp},
            {"problem": "alone", "engine": "compiled", "ratio": None, "success": 1.0, "hpp": None}]  # fmt: skip
    other = {"problem": "mine", "engine": "readable", "ratio": 9.0, "success": 1.0, "hpp": hpp}
    draw = importlib.import_module("ratio_figure").draw
    pictures = [tmp_path / "ratio.png", tmp_path / "both.png"]
    draw(rows, pictures[0])
    draw(rows, pictures[1], [other, {**other, "problem": "not here"}])
    one, both = (picture.read_bytes() for picture in pictures)
    assert one.startswith(b"\x89PNG")
    assert both.startswith(b"\x89PNG")
    assert one != both


@pytest.mark.skipif(find_spec("numba") is None, reason="the compiled engine is an extra")
def test_rows_of_batches_are_timed_beside_their_kernel_and_on_two_threads(tmp_path: Path) -> None:
    """Engine 7: a line a problem; the program ends with an error where threads give other bits."""
    given = [str(scripts.BENCHMARKS / "problems" / f"{name}.npz") for name in ("ur5_pose", "ur5_grasp_explicit")]
    done = scripts.run(scripts.BENCHMARKS / "batch_threads.py", "--check", *given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    head, *lines, last = done.stdout.splitlines()
    assert head.split()[:3] == ["problem", "kernel", "batch"]
    assert [line.split()[0] for line in lines] == ["ur5_pose", "ur5_grasp_explicit"]
    for line in lines:
        kernel, batch, beside, threads, *usable, ratio, _, _ = map(float, line.split()[1:])
        assert beside == pytest.approx(batch - kernel, abs=0.02)
        assert ratio == pytest.approx(batch / threads, abs=0.01)  # two digits are printed
        assert min(kernel, threads, *usable) > 0.0
    assert last.startswith("200 rows, best of 1 rounds")


def test_every_shipped_function_is_timed_and_agrees_with_its_counterpart(
    on_path: None, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    module = importlib.import_module("functions")
    bench = module.Bench.of("ur5")
    timed = module.functions(bench)
    kinds = {type(f) for f in timed.values()} | {type(f.outer) for f in timed.values() if isinstance(f, Composition)}
    every = {kind for name in offered(constraints) if isinstance(kind := getattr(constraints, name), type)}
    left = {kind for kind in every if issubclass(kind, Function)} - kinds - {Function}
    assert not left, f"not in benchmarks/functions.py: {sorted(kind.__name__ for kind in left)}"
    monkeypatch.setattr(
        sys, "argv", ["functions.py", "--check", "--robot", "ur5", "--json", str(tmp_path / "out.json")]
    )
    assert module.main() == 0
    rows = json.loads((tmp_path / "out.json").read_text())["times"]
    assert [row["function"] for row in rows] == list(timed)
    assert all(row[what] > 0.0 for row in rows for what in ("value", "jacobian", "drift"))
    assert sum(row["jacobian_plain"] is not None for row in rows) == 11
    solved = {row["function"] for row in rows if row["solver"] is not None}
    balance = {"StaticStability", "ContactForces", "SupportPolygon", "StaticTorques"}
    assert solved == {*balance, "Clearance, one pair"}
    assert all(0.0 < row["solver"] < row["jacobian"] for row in rows if row["function"] in solved)
    assert "Pose, relative" in capsys.readouterr().out


def test_a_function_that_differs_from_its_counterpart_is_found(on_path: None) -> None:
    module = importlib.import_module("functions")
    bench = module.Bench.of("ur5")
    calls = module.Evaluation.at_points(Position(bench.robot, bench.b), bench).calls()
    plain = module.plain_functions(bench.robot.model, bench.a, bench.b, bench.qs, bench.vs)
    assert module.agree(calls, plain["Position"]) < 1e-12
    assert module.agree(calls, {"value": lambda i: plain["Position"]["value"](i) + 1e-3}) > 1e-4
    assert module.agree(calls, {"drift": lambda i: np.zeros(3)}) > 1e-4
