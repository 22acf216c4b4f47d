"""The command `plan`: what it finds, writes and draws; what it says where nothing is found or the file is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import coal as _coal
import numpy as np
import pinocchio as pin
import pytest
from robots import needs_robot_data

from constraints import Implicit, Position, Problem, Projector
from constraints.__main__ import main
from constraints.cli import plan as plan_command, plan_picture
from constraints.cli.plan_picture import draw
from constraints.collisions import Shape
from constraints.errors import OptionError
from constraints.files import save_path, save_problem
from constraints.models import sample_arm
from constraints.paths import Path as Motion
from constraints.planning import Plan, PlanningStatus, connect
from constraints.planning.connection import Branchings

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "scenes" / "two_tables.json"
coal: Any = _coal
STEPS = ["ur5/gripper > box/side | f", "ur5/gripper < box/side | 0-1"]


def changed(folder: Path, change: Callable[[Any], object]) -> str:
    """The path of the example with something changed in it."""
    data = json.loads(EXAMPLE.read_text())
    change(data)
    (folder / "scene.json").write_text(json.dumps(data))
    return str(folder / "scene.json")


def level() -> tuple[Problem, np.ndarray, np.ndarray]:
    """The sample arm with its tool at a height, and two ends."""
    arm = sample_arm()
    height = Implicit.equal(Position(arm, "tool"), [0.0, 0.0, 0.45], mask=[False, False, True], name="height")
    problem = Problem(arm, [height])
    projector = Projector(problem)
    ends = [projector.project(arm.configuration(shoulder_yaw=yaw, elbow=1.0)).or_raise().q for yaw in (-0.5, 0.6)]
    return problem, ends[0], ends[1]


def in_the_table(Q: np.ndarray) -> float:
    """How deep the box is in a table, at most [m]: plain coal on the poses of the rows (n, 7)."""
    box, table = coal.Box(0.05, 0.05, 0.2), coal.Box(0.4, 0.5, 0.04)
    deepest = 0.0
    for x in Q:
        oMb = pin.XYZQUATToSE3(x)
        for y in (0.35, -0.35):
            there = coal.Transform3s(np.eye(3), np.array([0.55, y, 0.23]))
            result = coal.DistanceResult()
            coal.distance(
                box, coal.Transform3s(oMb.rotation, oMb.translation), table, there, coal.DistanceRequest(), result
            )
            deepest = max(deepest, -result.min_distance)
    return deepest


@needs_robot_data
def test_a_scene_is_planned_and_the_path_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Transitions are named; ends are those of the file; by plain pinocchio and coal the box is carried from its start
    to its goal and never is in a table; the tables of the path are the same; the picture is written."""
    files = {ending: tmp_path / f"path{ending}" for ending in (".json", ".csv", ".npz")}
    picture = tmp_path / "path.png"
    assert main(["plan", str(EXAMPLE), "--save", str(files[".json"]), "--plot", str(picture)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0].startswith("FOUND: ")
    assert [line.partition(". ")[2] for line in lines[1:3]] == STEPS
    assert "no grasp or release" not in said.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(files[".json"].read_text())
    assert [piece["name"].rpartition("_")[0] for piece in found["pieces"][:8]] == [*STEPS[:1] * 4, *STEPS[1:] * 4]
    Q = np.array(found["configurations"])
    scene = json.loads(EXAMPLE.read_text())
    assert Q[0].tolist() == [*scene["start"]["ur5"], *scene["start"]["box"], 0.0, 0.0, 0.0, 1.0]
    assert Q[-1].tolist() == [*scene["start"]["ur5"], *scene["goal"]["box"]]
    assert np.abs(np.diff(Q[:, :6], axis=0)).max() <= 0.1 + 1e-9
    assert in_the_table(Q[:, 6:]) < 1e-4
    assert found["times"] == sorted(found["times"])
    assert found["pieces"][0]["begin"] == 0.0
    assert found["pieces"][-1]["end"] == found["duration"] == found["times"][-1]
    length = float(next(line.split()[1].rstrip(",") for line in lines if line.startswith("  length")))
    before = float(next(line.split()[2] for line in lines if line.startswith("  length")))
    assert length < before


@needs_robot_data
def test_the_same_seed_gives_the_same_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the clock of shortening, bit for bit; another seed gives another path."""
    written = list[bytes]()
    for i, seed in enumerate(("3", "3", "4")):
        file = tmp_path / f"{i}.csv"
        assert main(["plan", str(EXAMPLE), "--no-shorten", "--seed", seed, "--save", str(file)]) == 0
        written.append(file.read_bytes())
    assert written[0] == written[1] != written[2]
    assert "before it was shortened" not in capsys.readouterr().out
    rows = list(csv.reader(written[0].decode().splitlines()))
    assert rows[0][:3] == ["time", "piece", "q ur5/shoulder_pan_joint"]
    assert [float(x) for x in rows[1][2:8]] == json.loads(EXAMPLE.read_text())["start"]["ur5"]


@needs_robot_data
def test_a_goal_may_be_a_state_and_pairs_may_collide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plan ends with the box in the gripper, by plain pinocchio 8 cm above its middle."""
    file, out = tmp_path / "scene.json", tmp_path / "path.npz"

    def change(data: Any) -> None:
        data["goal"] = "ur5/gripper grasps box/top"
        data["may_collide"] = [["ur5/forearm_link*", "right"]]

    assert main(["plan", changed(tmp_path, change), "--save", str(out), "--no-shorten"]) == 0
    assert "1. ur5/gripper > box/top | f" in capsys.readouterr().out
    from constraints.manipulation import read_scene

    scene = read_scene(file)
    with np.load(out) as arrays:
        names = [name for name in arrays.files if name.startswith("q ")]
        q = np.array([arrays[name][-1] for name in names])
    gripper, model = scene.factory.grippers[0].frame, scene.robot.model
    joint = [str(name) for name in model.names].index("box/root_joint")
    data: Any = model.createData()
    pin.forwardKinematics(model, data, q)
    in_box = data.oMi[joint].actInv(data.oMi[gripper.joint] * gripper.placement)
    np.testing.assert_allclose(in_box.translation, [0.0, 0.0, 0.08], atol=1e-4)


def put(what: str, part: str, numbers: list[float]) -> Callable[[Any], object]:
    """Gives a part of start or goal other numbers."""
    return lambda data: data[what].update({part: numbers})


IN_TABLE = [0.0294, -0.3986, 1.9131, -2.1799, -1.7965, -0.6547]


@needs_robot_data
@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (put("start", "ur5", IN_TABLE), 1, ["START_COLLIDES", "ur5/wrist_3_link_0 collides with left"]),
        (put("goal", "ur5", IN_TABLE), 1, ["GOAL_COLLIDES", "ur5/wrist_3_link_0 collides with left"]),
        (put("start", "ur5", [0.0, 7.0, 0.0, 0.0, 0.0, 0.0]), 1, ["START_OFF", "out of bounds", "shoulder_lift_joint"]),
        (put("start", "box", [0.5, 0.35, 0.8]), 2, ["no state contains", "the nearest is 'free'", "0.45"]),
        (put("goal", "box", [0.5, 0.35, 0.8]), 2, ["no state contains", "the nearest is 'free'", "0.45"]),
        (lambda data: data.pop("start") and data.pop("goal"), 2, ["no 'start' in it", "Start and goal"]),
        (lambda data: data.pop("goal"), 2, ["no 'goal' in it", "Start and goal"]),
    ],
)
def test_ends_that_cannot_be_are_named(
    change: Callable[[Any], object], code: int, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad input: pairs, joints and states are named; nothing is written."""
    out = tmp_path / "path.csv"
    assert main(["plan", changed(tmp_path, change), "--save", str(out)]) == code
    said = capsys.readouterr()
    for word in words:
        assert word in (said.out if code == 1 else said.err)
    assert (f"no path: {out} is not written" in said.out) is (code == 1)
    assert not out.exists()


@needs_robot_data
def test_a_limit_that_is_over_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(EXAMPLE), "--limit", "1e-6"]) == 1
    assert capsys.readouterr().out.startswith("TIME: ")


# A problem


def test_a_problem_with_start_and_goal_is_connected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By plain pinocchio the tool keeps its height; that nothing is looked at for collisions is said."""
    problem, start, goal = level()
    file, out = tmp_path / "level.json", tmp_path / "path.csv"
    save_problem(problem, file, start=start, goal=goal)
    assert main(["plan", str(file), "--save", str(out), "--plot", str(tmp_path / "p.png")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("FOUND: ")
    assert "collisions were not looked at" in said
    assert "no grasp or release" not in said
    rows = np.loadtxt(out, delimiter=",", skiprows=1)[:, 2:]
    assert rows[0].tobytes() == start.tobytes()
    assert rows[-1].tobytes() == goal.tobytes()
    model: Any = sample_arm().model
    data = model.createData()
    for q in rows:
        pin.framesForwardKinematics(model, data, q)
        assert abs(data.oMf[model.getFrameId("tool")].translation[2] - 0.45) < 1e-4


def test_describe_and_project_take_a_file_with_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What they say of the problem alone, and which entries they leave aside; a wrong end is named all the same."""
    problem, start, goal = level()
    file, alone = str(tmp_path / "level.json"), str(tmp_path / "alone.json")
    problem.save(alone)
    for ends, said in (({"start": start, "goal": goal}, "start and goal"), ({"goal": goal}, "goal")):
        save_problem(problem, file, **ends)
        for command in (["describe"], ["project", "--starts", "3"]):
            codes = [main([command[0], name, *command[1:]]) for name in (alone, file)]
            found = capsys.readouterr().out
            assert codes == [0, 0]
            assert found.endswith(f"\n\nleft aside of the file: {said}, for the command `plan`\n")
            assert found.count("left aside") == 1
    assert main(["describe", alone]) == 0
    words = capsys.readouterr().out
    main(["describe", file])
    assert capsys.readouterr().out.startswith(words)
    Path(file).write_text(json.dumps(json.loads(Path(file).read_text()) | {"goal": "hom"}))
    assert main(["describe", file]) == 2
    assert "the nearest names are home" in capsys.readouterr().err


def test_a_problem_without_ends_or_that_cannot_be_connected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem, start, _ = level()
    file = tmp_path / "level.json"
    save_problem(problem, file, start=start)
    assert main(["plan", str(file)]) == 2
    assert "no 'goal' in it" in capsys.readouterr().err
    save_problem(problem, file, start=start, goal=np.zeros(7))
    assert main(["plan", str(file)]) == 1
    assert "GOAL_OFF" in capsys.readouterr().out


def test_paths_as_files(tmp_path: Path) -> None:
    """Numbers have all their digits; names are as many as pieces."""
    problem, start, goal = level()
    path = connect(problem, start, goal, rng=np.random.default_rng(0)).or_raise()
    save_path(path, tmp_path / "p.json", ["turn"])
    read = json.loads((tmp_path / "p.json").read_text())
    assert np.array(read["configurations"]).tobytes() == path.samples.tobytes()
    assert read["pieces"] == [{"name": "turn", "begin": 0.0, "end": 1.0, "constraints": ["height"]}]
    with pytest.raises(OptionError, match="expected 1, got 2"):
        save_path(path, tmp_path / "p.json", ["turn", "back"])
    with pytest.raises(OptionError, match=r"\.json or \.csv or \.npz"):
        save_path(path, tmp_path / "p.txt")


def test_the_picture_has_no_jump_of_a_quaternion(tmp_path: Path) -> None:
    """A quaternion and its opposite are one rotation: curves go on."""
    from constraints import Base, Robot

    body = Robot.from_urdf("<robot name='b'><link name='body'/></robot>", base=Base.FREE_FLYER)
    here = Implicit.zero(Position(body, "body"), name="here")
    turns = [pin.Quaternion(pin.utils.rotate("z", angle)).coeffs() for angle in np.linspace(0.0, 6.0, 90)]
    Q = np.array([[0.0, 0.0, 0.0, *(turn if i % 2 else -turn)] for i, turn in enumerate(turns)])
    path = Motion.through(Problem(body, [here]), Q)
    drawn = plan_picture._without_flips(path)
    assert np.abs(np.diff(drawn, axis=0)).max() < 0.1
    assert np.abs(np.diff(path.samples, axis=0)).max() > 1.0
    draw(path, (), str(tmp_path / "p.png"))
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


# What is shown


class Page:
    """Stands in for a page of a browser; remembers what is shown."""

    missing = ("a mesh",)

    def __init__(self, found: Any, *, drawing: Any, trees: bool) -> None:
        seen.append((found, drawing.shapes, trees))

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        seen.append("closed")

    def wait(self) -> None:
        seen.append("waited")


seen: list[Any] = []
POST = Shape("post", "Sphere", (0.1,))


@pytest.mark.parametrize(
    ("given", "shown", "trees", "words"),
    [
        ("path", "FOUND", False, "not drawn: a mesh"),
        ("goal that is off", "GOAL_OFF", False, "not drawn: a mesh"),
        ("search", "TIME", True, "not drawn: a mesh"),
        ("plan", "TIME", True, "shown is a search for a motion that failed: TIME"),
        ("plan without a search", "", False, "nothing to show: no search for a motion was begun"),
        ("refused plan", "START_COLLIDES", False, "not drawn: a mesh"),
    ],
)
def test_what_was_found_is_shown(
    given: str, shown: str, trees: bool, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path; without one the end that was refused, or the trees of the last search."""
    seen.clear()
    monkeypatch.setattr(plan_command, "show", Page)
    problem, start, goal = level()
    end = np.zeros(7) if given == "goal that is off" else goal
    path = connect(problem, start, end, rng=np.random.default_rng(0))
    late = replace(
        path,
        status=PlanningStatus.TIME,
        path=None,
        trees=Branchings(start[None], np.array([-1]), goal[None], np.array([-1])),
    )
    found: dict[str, Any] = {
        "path": path, "goal that is off": path, "search": late,
        "plan": Plan(None, PlanningStatus.TIME, cases={("a", "r"): path, ("b", "r"): late}),
        "plan without a search": Plan(None, PlanningStatus.TIME),
        "refused plan": Plan(None, PlanningStatus.START_COLLIDES, refused=start, cases={("a", "r"): late}),
    }  # fmt: skip
    plan_command._show(plan_command._Answer(found[given], shapes=(POST,)))
    said = capsys.readouterr().out
    assert words in said
    if shown:
        assert (seen[0][0].status.name, *seen[0][1:], *seen[1:]) == (shown, (POST,), trees, "waited", "closed")
    else:
        assert seen == []
