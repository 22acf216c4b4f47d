"""Scene files: the example, what is built from them, and where errors are."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from robots import needs_robot_data

from constraints.__main__ import main
from constraints.errors import ConstraintError, FileContentError, FileError
from constraints.files.scenes import Scene
from constraints.manipulation import read_scene

pytestmark = needs_robot_data

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "scenes" / "two_tables.json"
ARM = "package://example-robot-data/robots/ur_description/urdf/ur5_gripper.urdf"


@pytest.fixture(scope="module")
def scene() -> Scene:
    return read_scene(EXAMPLE)


def changed(change: Callable[[Any], object]) -> dict[str, Any]:
    """The example with something changed in it."""
    data = json.loads(EXAMPLE.read_text())
    change(data)
    return data


def written(folder: Path, data: Any) -> Path:
    path = folder / "scene.json"
    path.write_text(json.dumps(data))
    return path


def test_example_makes_its_graph(scene: Scene) -> None:
    """Two handles, one gripper: three states, a take and a release each."""
    assert [(state.name, state.priority) for state in scene.graph.states] == [
        ("ur5/gripper grasps box/top", 1), ("ur5/gripper grasps box/side", 1), ("free", 0),
    ]  # fmt: skip
    assert len(scene.graph.transitions) == 7
    assert scene.robot.joint_names[-1] == "box/root_joint"
    assert [shape.name for shape in scene.shapes] == ["left", "right", "box"]
    assert (scene.factory.margin, scene.factory.preplacement_distance) == (1e-4, 0.05)
    again = pickle.loads(pickle.dumps(scene))
    assert repr(again.graph) == repr(scene.graph)


def test_states_of_the_example_are_where_the_file_says(scene: Scene) -> None:
    """By plain pinocchio: the box stands on one of the tables on its bottom or lid; held by the lid it is as said."""
    robot, rng = scene.robot, np.random.default_rng(0)
    model: Any = robot.model
    data = model.createData()
    seen = set[str]()
    for projection in scene.graph.samples("free", rng, 30):
        q = projection.or_raise().q
        pin.forwardKinematics(model, data, q)
        oMb = data.oMi[model.getJointId("box/root_joint")]
        assert abs(oMb.translation[2] - (0.25 + 0.1 + 1e-4)) < 2e-4
        assert abs(abs(oMb.rotation[2, 2]) - 1.0) < 1e-7
        x, y = oMb.translation[:2]
        side = "left" if y > 0 else "right"
        assert abs(x - 0.55) < 0.2 + 1e-3
        assert abs(abs(y) - 0.35) < 0.25 + 1e-3
        seen.add(f"{side} {'top' if oMb.rotation[2, 2] < 0 else 'bottom'}")
    assert len(seen) == 4
    q = scene.graph.sample("ur5/gripper grasps box/top", rng).or_raise().q
    pin.forwardKinematics(model, data, q)
    gripper = scene.factory.grippers[0].frame
    oMg = data.oMi[gripper.joint] * gripper.placement
    in_box = data.oMi[model.getJointId("box/root_joint")].actInv(oMg)
    np.testing.assert_allclose(in_box.translation, [0.0, 0.0, 0.08], atol=1e-4)
    np.testing.assert_allclose(in_box.rotation[:, 0], [0.0, 0.0, -1.0], atol=1e-4)
    base = robot.frame("ur5/base_link")
    np.testing.assert_allclose(robot.at(q).placement(base).translation, [0.0, 0.0, 0.45], atol=1e-12)


def test_tables_and_boxes_collide_where_they_are(scene: Scene) -> None:
    model = scene.collision_model()
    assert {"left", "right", "box"} <= set(model.names)
    assert len(model.names) > 3
    q = np.array(scene.graph.sample("free", np.random.default_rng(0)).or_raise().q)
    for y, z, hit in ((0.35, 0.36, set()), (0.35, 0.33, {"left"}), (-0.35, 0.25, {"right"}), (0.0, 0.25, set())):
        q[-7:] = 0.55, y, z, 0.0, 0.0, 0.0, 1.0
        met = {name for pair in model.collisions(q) for name in pair[:2] if "box" in pair[:2]}
        assert met - {"box"} - {n for n in met if n.startswith("ur5")} == hit


def test_srdf_urdf_rules_and_options_are_read(tmp_path: Path) -> None:
    """Files beside the scene, one object without surfaces, a rule, options of factory and projections."""
    (tmp_path / "mug.urdf").write_text("<robot name='mug'><link name='cup'/></robot>")
    (tmp_path / "mug.srdf").write_text(
        "<robot name='mug'><handle name='ear' clearance='0.01'><position>0 0 0 1 0 0 0</position><link name='cup'/>"
        "</handle></robot>"
    )

    def change(data: Any) -> None:
        rim = {"name": "rim", "link": "cup", "mask": [True] * 5 + [False], "approach": [0, 0, 1]}
        data["objects"] = [{"name": "mug", "urdf": "mug.urdf", "srdf": "mug.srdf", "handles": [rim]}]
        data["rules"] = [
            {"grippers": ["ur5/gripper"], "handles": ["mug/ear"], "allowed": False},
            {"grippers": [".*"], "handles": [".*"], "allowed": True},
        ]
        data["options"] = {"attempts": 2, "threshold": 1e-5, "max_iterations": 30, "empty_level_sets": True}
        del data["start"], data["goal"]

    scene = read_scene(written(tmp_path, changed(change)))
    handles = {handle.name: handle for thing in scene.factory.objects for handle in thing.handles}
    assert list(handles) == ["mug/ear", "mug/rim"]
    assert handles["mug/ear"].clearance == 0.01
    assert handles["mug/rim"].rows.tolist() == [True] * 5 + [False]
    assert handles["mug/rim"].direction.tolist() == [0.0, 0.0, 1.0]
    assert [state.name for state in scene.graph.states] == ["ur5/gripper grasps mug/rim", "free"]
    assert (scene.graph.attempts, scene.graph.options.max_iterations) == (2, 30)
    assert scene.graph.threshold == 1e-5
    assert scene.factory.empty_level_sets
    assert set(scene.urdfs) == {"ur5", "mug"}


def test_joints_with_a_mimic_tag_follow(tmp_path: Path) -> None:
    """In samples of the graph, by their numbers; a factory without constraints asks about them."""
    limit = "<axis xyz='0 1 0'/><limit lower='-0.1' upper='0.1' effort='1' velocity='1'/>"
    (tmp_path / "hand.urdf").write_text(
        "<robot name='hand'><link name='palm'/><link name='a'/><link name='b'/>"
        f"<joint name='left' type='prismatic'><parent link='palm'/><child link='a'/>{limit}</joint>"
        f"<joint name='right' type='prismatic'><parent link='palm'/><child link='b'/>{limit}"
        "<mimic joint='left' multiplier='-0.5' offset='0.01'/></joint></robot>"
    )

    def change(data: Any) -> None:
        data["robots"] = [{"name": "hand", "urdf": "hand.urdf"}]
        del data["start"], data["goal"]

    scene = read_scene(written(tmp_path, changed(change)))
    q = np.array([scene.graph.sample("free", np.random.default_rng(k)).or_raise().q for k in range(5)])
    assert np.ptp(q[:, 0]) > 0.01
    np.testing.assert_allclose(q[:, 1], 0.01 - 0.5 * q[:, 0], rtol=0.0, atol=1e-12)
    asked = "joints with a mimic tag follow nothing, hand/right: constraints=mimic_constraints(robot)?"
    assert asked not in scene.graph.questions
    assert asked in replace(scene.factory, constraints=()).generate().questions


# Start, goal, pairs that may collide


def read_with(folder: Path, **entries: Any) -> Scene:
    """The example with other entries."""
    return read_scene(written(folder, changed(lambda data: data.update(entries))))


REST = [0.0, -1.6, 1.8, -1.8, -1.57, 0.0]


def test_start_and_goal_are_what_the_file_says(scene: Scene) -> None:
    """By plain pinocchio: the box stands on the left table, then upside down on the right one; the arm at rest."""
    assert isinstance(scene.goal, np.ndarray)
    assert scene.start is not None
    model: Any = scene.robot.model
    data = model.createData()
    for q, (x, y, up) in ((scene.start, (0.5, 0.35, 1.0)), (scene.goal, (0.5, -0.35, -1.0))):
        assert q[:6].tolist() == REST
        pin.forwardKinematics(model, data, q)
        oMb = data.oMi[model.getJointId("box/root_joint")]
        np.testing.assert_array_equal(oMb.translation, [x, y, 0.3501])
        assert oMb.rotation[2, 2] == up
        assert scene.graph.state_of(q).name == "free"
    assert scene.may_collide == ()


def test_configurations_are_written_in_three_ways(tmp_path: Path, scene: Scene) -> None:
    """By part, as all numbers, by the name of a reference posture; a goal may be a state; a turn has few digits."""
    assert scene.start is not None
    whole = read_with(tmp_path, start=scene.start.tolist(), goal="ur5/gripper grasps box/top")
    assert whole.start is not None
    assert whole.start.tobytes() == scene.start.tobytes()
    assert whole.goal is whole.graph.state("ur5/gripper grasps box/top")
    turned = read_with(tmp_path, goal={"box": [0.5, 0.0, 0.4, 0.0, 0.0, 0.7071, 0.7071]})
    assert isinstance(turned.goal, np.ndarray)
    np.testing.assert_allclose(turned.goal[9:], [0.0, 0.0, 0.5**0.5, 0.5**0.5], atol=1e-12)
    assert turned.goal[:6].tolist() == REST
    (tmp_path / "arm.srdf").write_text(
        "<robot name='ur5'><group name='arm'><joint name='elbow_joint'/></group><group_state name='bent' group='arm'>"
        "<joint name='elbow_joint' value='1.25'/></group_state><gripper name='g' clearance='0'>"
        "<position>0 0 0 1 0 0 0</position><link name='ee_link'/></gripper></robot>"
    )
    robots = [json.loads(EXAMPLE.read_text())["robots"][0] | {"srdf": "arm.srdf"}]
    bent = read_with(tmp_path, robots=robots, start={"ur5": "bent", "box": [0.5, 0.35, 0.3501]}, goal="ur5/bent")
    assert bent.start is not None
    assert bent.start[:6].tolist() == [0.0, 0.0, 1.25, 0.0, 0.0, 0.0]
    assert isinstance(bent.goal, np.ndarray)
    assert bent.goal[2] == 1.25


def test_faces_of_boxes_are_seen_from_outside(tmp_path: Path) -> None:
    """Four corners of each face of a box, counter-clockwise about its outward axis; and the top of a table."""
    size, names = np.array([0.06, 0.08, 0.2]), ["right", "left", "back", "front", "bottom", "top"]
    box = json.loads(EXAMPLE.read_text())["objects"][0] | {"size": size.tolist(), "faces": names}
    scene = read_with(tmp_path, objects=[box], start=None, goal=None)
    (thing,) = scene.factory.objects
    outward = {"front": (0, 1), "back": (0, -1), "left": (1, 1), "right": (1, -1), "top": (2, 1), "bottom": (2, -1)}
    assert [surface.name for surface in thing.surfaces] == [f"box/{name}" for name in names]
    for name, surface in zip(names, thing.surfaces, strict=True):
        (axis, sign), corners = (
            outward[name],
            np.array([surface.frame.placement.act(p) for p in np.asarray(surface.points)]),
        )
        assert len(corners) == 4
        np.testing.assert_allclose(abs(corners), np.tile(0.5 * size, (4, 1)), rtol=0, atol=1e-15)
        np.testing.assert_allclose(corners[:, axis], 0.5 * sign * size[axis], rtol=0, atol=1e-15)
        around = np.cross(corners[1] - corners[0], corners[2] - corners[1])
        np.testing.assert_allclose(around / np.linalg.norm(around), sign * np.eye(3)[axis], rtol=0, atol=1e-14)


def test_a_file_without_start_and_goal_has_none(tmp_path: Path) -> None:
    """They are optional, null too."""
    read = read_with(tmp_path, start=None, goal=None)
    assert read.start is None
    assert read.goal is None


def test_pairs_that_may_collide_are_left_out(tmp_path: Path, scene: Scene) -> None:
    """By coal on plain placements: the box in the table collides in the example, and may in the file that says so."""
    q = np.array(scene.start)
    q[8] = 0.3
    met = {frozenset((c.a, c.b)) for c in scene.collision_model().collisions(q)}
    assert frozenset(("box", "left")) in met
    read = read_with(tmp_path, may_collide=[["left", "box"], ["ur5/tool0*", "box"]])
    model = read.collision_model()
    assert not any({c.a, c.b} == {"box", "left"} for c in model.collisions(q))
    gone = {frozenset(pair) for pair in scene.collision_model().pairs} - {frozenset(pair) for pair in model.pairs}
    assert gone == {frozenset(("box", other)) for other in ("left", "ur5/tool0_0", "ur5/tool0_1", "ur5/tool0_2")}
    both = read.collision_model(ignored=[("box", "right")])
    assert not any(set(pair) in ({"box", "left"}, {"box", "right"}) for pair in both.pairs)


def entry(*keys: Any, value: Any) -> Callable[[Any], None]:
    """Puts a value into the example."""

    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


BAD: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "kind": (entry("format", value="lie-constraints problem"), "$.format", "is of kind 'problem', expected 'scene'"),
    "version": (entry("version", value=2), "$.version", "later version"),
    "unknown entry": (entry("robot", value=[]), "$", "'robot', which is unknown here"),
    "no workspace": (lambda data: data.pop("workspace"), "$", "no entry 'workspace'"),
    "empty workspace": (entry("workspace", "upper", value=[-1, 1, 1]), "$.workspace", "-1"),
    "no robot file": (entry("robots", 0, "urdf", value="nowhere.urdf"), "$.robots[0].urdf", "nowhere.urdf"),
    "no object file": (entry("objects", 0, value={"name": "b", "urdf": "b.urdf"}), "$.objects[0].urdf", "b.urdf"),
    "no semantics": (entry("objects", 0, "srdf", value="b.srdf"), "$.objects[0].srdf", "b.srdf"),
    "base": (entry("robots", 0, "base", value="flying"), "$.robots[0].base", "fixed, planar, free_flyer"),
    "short pose": (entry("robots", 0, "pose", value=[0, 0]), "$.robots[0].pose", "3 or 7 numbers"),
    "quaternion": (entry("tables", 0, "pose", value=[0] * 7), "$.tables[0].pose", "its norm is 0"),
    "no size": (lambda data: data["objects"][0].pop("size"), "$.objects[0]", "either 'urdf' or 'size'"),
    "size": (entry("objects", 0, "size", value=[1, -1, 1]), "$.objects[0].size", "positive"),
    "flat table": (entry("tables", 1, "size", value=[1, 0, 1]), "$.tables[1]", "positive"),
    "face": (entry("objects", 0, "faces", 1, value="lid"), "$.objects[0].faces[1]", "bottom, top, left"),
    "faces of a file": (
        entry("objects", 0, value={"name": "b", "urdf": ARM, "faces": ["top"]}), "$.objects[0].faces", "'size'"
    ),
    "mask": (entry("objects", 0, "handles", 1, "mask", value=[1] * 6), "$.objects[0].handles[1].mask[0]", "true or"),
    "link": (entry("objects", 0, "handles", 0, "link", value="bdy"), "$.objects[0].handles[0]", "box/body"),
    "handle name": (entry("objects", 0, "handles", 1, "name", value="top"), "$", "box/top"),
    "no handle": (entry("objects", 0, "handles", value=[]), "$.objects[0]", "at least one handle"),
    "name twice": (entry("tables", 1, "name", value="box"), "$.tables[1].name", "'box' too"),
    "slash": (entry("objects", 0, "name", value="a/b"), "$.objects[0].name", "slash"),
    "rule": (
        entry("rules", value=[{"grippers": ["ur5/grip"], "handles": [".*"], "allowed": True}]), "$", "ur5/grip"
    ),
    "pattern": (
        entry("rules", value=[{"grippers": ["("], "handles": [".*"], "allowed": True}]), "$.rules[0]",
        "'(' is not a regular expression",
    ),
    "nothing allowed": (
        entry("rules", value=[{"grippers": [".*"], "handles": [".*"], "allowed": False}]), "$", "rules allow no"
    ),
    "option": (entry("options", "attempts", value=0), "$", "attempts"),
    "threshold": (entry("options", "threshold", value=-1.0), "$.options", "threshold"),
    "part": (entry("start", "bax", value=[0, 0, 0]), "$.start", "'bax', which is unknown here; known are ur5, box"),
    "missing part": (entry("start", value={"ur5": REST}), "$.start", "no entry 'box'"),
    "goal without start": (lambda data: data.pop("start"), "$.goal", "no entry 'ur5'"),
    "joints": (entry("start", "ur5", value=[0.0] * 5), "$.start.ur5", "expected 6 numbers, got 5"),
    "another robot": (entry("start", value=[0.0] * 12), "$.start", "expected 13 numbers, got 12"),
    "not finite": (entry("start", "ur5", value=["inf"] * 6), "$.start.ur5[0]", "finite"),
    "norm": (entry("goal", "box", value=[0, 0, 0, 1, 1, 0, 0]), "$.goal.box", "its norm is 1.414"),
    "norm of all": (entry("start", value=[0.0] * 13), "$.start", "norm"),
    "short pose of a part": (entry("goal", "box", value=[0, 0]), "$.goal.box", "3 or 7 numbers"),
    "state": (entry("goal", value="fre"), "$.goal", "the nearest names are free"),
    "posture": (entry("start", value="free"), "$.start", "no reference posture is named 'free'"),
    "posture of a part": (entry("start", "ur5", value="home"), "$.start.ur5", "'ur5/home'"),
    "shape": (entry("may_collide", value=[["box", "lft"]]), "$.may_collide[0]", "the nearest names are left"),
    "three shapes": (entry("may_collide", value=[["box", "left", "right"]]), "$.may_collide[0]", "two shapes, got 3"),
    "one shape": (entry("may_collide", value=[["box", "box"]]), "$.may_collide[0]", "'box' twice"),
    "no text": (entry("may_collide", value=[["box", 1]]), "$.may_collide[0][1]", "expected a text"),
    "unknown option": (entry("options", "magrin", value=1.0), "$.options", "'magrin'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_place(case: str, tmp_path: Path) -> None:
    """Bad input: each is refused with its place in the file; nothing is skipped in silence."""
    change, place, word = BAD[case]
    with pytest.raises(FileContentError, match=re.escape(word)) as refused:
        read_scene(written(tmp_path, changed(change)))
    assert refused.value.place == place


@draws(25, 10000)
def test_every_entry_is_checked(tmp_path: Path, count: int) -> None:
    """Each value of the example replaced by one of another kind ends in an error of the family, or is optional."""
    whole = json.loads(EXAMPLE.read_text())

    def places(value: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        children: list[tuple[Any, Any]] = []
        if isinstance(value, dict):
            children = list(value.items())
        elif isinstance(value, list):
            children = list(enumerate(value))
        return [where, *(place for key, child in children for place in places(child, (*where, key)))]

    every = places(whole)[1:]
    for place in every[:: max(1, len(every) // count)]:
        for wrong in ({"a": 1}, True):
            path = written(tmp_path, changed(entry(*place, value=wrong)))
            with pytest.raises(ConstraintError, match=re.escape(path.name)):
                read_scene(path)


# Command line


def test_command_prints_facts_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: one fact a line, picture and Graphviz file, rates of states and transitions, exit code 0."""
    files = [str(tmp_path / name) for name in ("graph.png", "graph.dot")]
    code = main(["graph", str(EXAMPLE), "--plot", files[0], "--dot", files[1], "--validate", "6", "--seed", "1"])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    lines = said.out.splitlines()
    graph = read_scene(EXAMPLE).graph
    facts = {"states": 3, "transitions": 7, "loops": 3, "waypoint states": 6, "inner transitions": 16, "nq": 13}
    assert {f"{name} {count}" for name, count in facts.items()} <= set(lines)
    for t in graph.transitions:
        assert sum(line.startswith(f"transition '{t}' from '{t.source}' to '{t.target}'") for line in lines) == 1
    assert str(graph.validate(np.random.default_rng(1), 6)) in said.out
    assert Path(files[0]).read_bytes().startswith(b"\x89PNG")
    assert Path(files[1]).read_text() == graph.to_dot() + "\n"


def test_command_says_what_cannot_be_reached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: exit code 1 where a state is never reached, 2 where the file is refused."""
    far = written(tmp_path, changed(entry("robots", 0, "pose", value=[9.0, 0.0, 0.0])))
    assert main(["graph", str(far), "--validate", "2"]) == 1
    assert "was never reached" in capsys.readouterr().out
    assert main(["graph", str(far)]) == 0
    capsys.readouterr()
    for given in ([str(tmp_path / "none.json")], [str(far), "--plot", str(tmp_path / "no" / "g.png")]):
        assert main(["graph", *given]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.splitlines()) == 1


def test_page_on_scene_files_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The Python of the page, and its names: those that are read."""
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "scene_files.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "scene_files.md", "exec"), names)
        for line in capsys.readouterr().out.splitlines():
            assert f"# {line}" in block
    source = (ROOT / "constraints" / "files" / "scenes.py").read_text(encoding="utf-8")
    for entries in re.findall(r"\.only\(([^*)]*)\)", source):
        for name in re.findall(r'"(\w+)"', entries):
            assert f"`{name}`" in page, name
    with pytest.raises(FileError):
        read_scene("nowhere.json")
