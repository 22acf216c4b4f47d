"""`python -m constraints assemble`: one fact a line, exit codes, the picture and the saved configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scripts
from each_choice import a_few
from models.test_mechanism_files import EXPECTED, FOLDER, MJCF, URDF, path_of

from constraints.__main__ import main
from constraints.errors import SizeError
from constraints.models import load, mechanisms
from constraints.models.structure.assemblies import assemblies
from constraints.pictures import plot_assembly
from constraints.pictures.assemblies import errors_of

SHORT = """<mujoco><worldbody><site name="there" pos="3 0 0"/>
  <body><joint name="ja" axis="0 0 1"/><geom size="0.1"/>
    <body pos="0.5 0 0"><joint name="jb" axis="0 0 1"/><geom size="0.1"/><site name="tip" pos="0.5 0 0"/></body>
  </body></worldbody><equality><connect name="end" site1="tip" site2="there"/></equality></mujoco>"""
"""Two bars of half a metre, and a point three metres away."""


def facts(text: str) -> dict[str, str]:
    """Name and number of each line that has the two."""
    words = [line.split() for line in text.splitlines()]
    return {pair[0]: pair[1] for pair in words if len(pair) == 2}


def errors_in(text: str) -> list[str]:
    """Lines of the standard error stream but warnings: joints without limits, springs that press against a bound."""
    known = "have a <limit> without lower and upper, so they have no bounds", "rest of a spring"
    lines = text.splitlines()
    warned = [line for line in lines if line.startswith("warning: ")]
    assert all(sum(map(line.count, known)) == 1 for line in warned)
    assert len(set(warned)) == len(warned)
    return [line for line in lines if line not in warned]


def test_limits_that_contradict_each_other_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.urdf"
    path.write_text(
        "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='revolute'><parent link='a'/>"
        "<child link='b'/><limit lower='1' upper='-1' effort='1' velocity='1'/></joint></robot>",
        encoding="utf-8",
    )
    assert main(["assemble", str(path)]) == 0
    (said,) = capsys.readouterr().err.splitlines()
    for words in ("warning: ", str(path), "lower limit above the upper one", "no bounds", "j [1, -1]"):
        assert words in said


@pytest.mark.parametrize("name", a_few([*URDF, *MJCF, "cassie_sdf"], 4))
def test_facts_of_every_model(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows, rank, redundant rows and mobility are those of the table, closed from nearly all starts; exit code 0."""
    assert main(["assemble", str(path_of(name))]) == 0
    said = capsys.readouterr()
    assert errors_in(said.err) == []
    found, entry = facts(said.out), EXPECTED[name]
    assert int(found["rows"]) == entry["rows"]
    assert int(found["rank"]) == entry["rank"]
    assert int(found["redundant"]) == entry["rows"] - entry["rank"]
    assert int(found["mobility"]) == entry["mobility"]
    assert int(found["closed"]) >= int(found["starts"]) - 1
    assert sum(line.startswith("redundant: row") for line in said.out.splitlines()) == entry["rows"] - entry["rank"]
    unread = load(path_of(name)).unread
    assert sum(line.startswith("unread: ") for line in said.out.splitlines()) == len({entry.kind for entry in unread})
    if name == "cassie_sdf":
        assert 1e-10 < float(found["inconsistency"]) < 1e-7
    else:
        assert float(found["residual"]) <= 1e-10


def test_picture_and_saved_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, saved = tmp_path / "out.png", tmp_path / "out.npz"
    command = ["assemble", str(path_of("robot_delta")), "--seed", "3", "--plot", str(picture), "--save", str(saved)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert f"picture {picture}" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000
    mechanism = load(path_of("robot_delta"))
    with np.load(saved) as data:
        assert mechanism.judge(data["q"]).residual <= 1e-10
        assert mechanism.judge(data["start"]).residual > 0.1
        assert tuple(data["joints"]) == mechanism.robot.joint_names
        assert (int(data["rows"]), int(data["rank"]), int(data["mobility"])) == (18, 9, 5)
        assert bool(data["closed"])
        q = data["q"]
    assert main(command) == 0  # the same again, to the bit
    with np.load(saved) as data:
        assert data["q"].tobytes() == q.tobytes()


def test_loops_are_taken_from_the_file_that_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = tmp_path / "bare.urdf"
    bare.write_bytes(path_of("5bar_linkage").read_bytes())
    assert main(["assemble", str(bare)]) == 0
    said = capsys.readouterr().out
    assert facts(said)["rows"] == "0"
    assert "--loops" in said
    loops = FOLDER / "5bar_linkage" / "5bar_linkage.yaml"
    assert main(["assemble", str(bare), "--loops", str(loops)]) == 0
    assert facts(capsys.readouterr().out)["rows"] == "6"


def test_what_does_not_close_has_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Case 15: a bar too short: the closure is named with its error, and the picture shows it open."""
    path, picture = tmp_path / "short.xml", tmp_path / "short.png"
    path.write_text(SHORT, encoding="utf-8")
    assert main(["assemble", str(path), "--plot", str(picture)]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert "not closed" in said.out
    assert "open closure: end by 2" in said.out
    assert facts(said.out)["closed"] == "0"
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.urdf"], "absent.urdf"),
        ([__file__], "XML"),
        ([str(FOLDER / "expected.json")], "XML"),
        ([str(path_of("robot_delta")), "--loops", "absent.yaml"], "absent.yaml"),
        ([str(path_of("robot_delta")), "--loops", str(path_of("robot_delta"))], "YAML"),
        ([str(path_of("robotiq_2f85")), "--loops", "x.yaml"], "loops"),
        ([str(path_of("5bar_linkage")), "--seed", "-1"], "seed"),
        ([str(path_of("5bar_linkage")), "--save", "/no/such/folder/x.npz"], "/no/such/folder"),
        ([str(path_of("5bar_linkage")), "--plot", "/no/such/folder/x.png"], "/no/such/folder"),
        ([str(path_of("5bar_linkage")), "--plot", "x.notaformat"], "notaformat"),
    ],
)
def test_what_cannot_be_read_has_exit_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["assemble", *arguments]) == 2
    err = capsys.readouterr().err
    (line,) = errors_in(err)
    assert said in line
    assert "Traceback" not in err


def test_module_runs_and_wrong_usage_has_exit_code_2(tmp_path: Path) -> None:
    assert scripts.run("constraints", "assemble", folder=tmp_path).returncode == 2
    done = scripts.run("constraints", "assemble", str(path_of("mj_joint_couplers")), folder=tmp_path, PATH="")
    assert done.returncode == 0, done.stderr
    assert facts(done.stdout)["couplers"] == "6"
    assert list(tmp_path.iterdir()) == []


def test_closing_from_python() -> None:
    found = assemblies(mechanisms.delta_robot(), seed=1, count=6)
    assert found.success
    assert len(found.starts) == len(found.ends) == len(found.closed) == 8  # neutral, the posture, six random ones
    assert found.mechanism.judge(found.q).residual <= 1e-10
    assert found.judged.mobility == 3
    figure = plot_assembly(found.mechanism, found.starts[found.shown], found.ends[found.shown])
    assert len(figure.axes) == 2
    with pytest.raises(SizeError, match="seed"):
        assemblies(mechanisms.four_bar(), seed=-1)


FIVE_BAR = path_of("5bar_linkage")


def test_mistakes_have_exit_code_2_and_lenient_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mend 4: a frame that does not exist is refused; --lenient closes the rest, lists it, and exits with 1."""
    loops = tmp_path / "loops.yaml"
    loops.write_text(
        "closed_loop: [[closedloop1_A, closedloop1_B], [closedloop1_A, nowhere]]\ntype: [6d, 6d]\n", encoding="utf-8"
    )
    command = ["assemble", str(FIVE_BAR), "--loops", str(loops)]
    assert main(command) == 2
    said = capsys.readouterr()
    assert "'nowhere'" in said.err
    assert "--lenient" in said.err
    assert said.out == ""
    assert main([*command, "--lenient"]) == 1
    said = capsys.readouterr()
    assert errors_in(said.err) == []
    assert facts(said.out)["rows"] == "6"
    assert int(facts(said.out)["closed"]) > 0
    assert "mistake: closed loop ('closedloop1_A', 'nowhere')" in said.out
    assert main(["assemble", str(FIVE_BAR), "--lenient"]) == 0  # nothing wrong: lenient or not is the same


def test_joints_that_are_cut_are_listed_and_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    """Mend 5: the command names the joints that were cut, and takes --cut."""
    path = str(path_of("cassie_sdf"))
    assert main(["assemble", path]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("cut: ")] == [
        f"cut: {name}, which closes a loop" for name in load(path).cut
    ]
    assert main(["assemble", path, "--cut", "nowhere"]) == 2
    assert "valid names are left-roll-op" in capsys.readouterr().err


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "a_file").write_text("x")
    (tmp_path / "to_itself.npz").symlink_to(tmp_path / "to_itself.npz")
    (tmp_path / "to_nowhere.npz").symlink_to(tmp_path / "absent" / "x.npz")
    return {
        "folder": f"{tmp_path}",
        "in a file": f"{tmp_path}/a_file/x.npz",
        "no folder": f"{tmp_path}/absent/x.npz",
        "link to itself": f"{tmp_path}/to_itself.npz",
        "link into no folder": f"{tmp_path}/to_nowhere.npz",
        "empty": "",
        "long": f"{tmp_path}/{'x' * 300}.npz",
        "read-only": "/proc/constraints.npz",
    }


@pytest.mark.parametrize("case", ["folder", "in a file", "no folder", "link to itself", "link into no folder", "empty",
                                  "long", "read-only"])  # fmt: skip
@pytest.mark.parametrize("option", ["--save", "--plot"])
def test_outputs_are_checked_before_the_work(
    case: str, option: str, places: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mend 17: a place that cannot be written is refused before anything is loaded."""

    def work(*_: object, **__: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr("constraints.cli.assemble.load", work)
    assert main(["assemble", str(FIVE_BAR), option, places[case]]) == 2
    said = capsys.readouterr().err
    assert "cannot be written" in said
    assert said.count("\n") == 1


def test_outputs_do_not_write_over_what_is_read_or_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mend 17: the input file, by another name too, is no place for an output; nor is one place for two."""
    model = tmp_path / "model.urdf"
    model.write_bytes(FIVE_BAR.read_bytes())
    (tmp_path / "link.npz").symlink_to(model)
    for place in (model, tmp_path / "link.npz", tmp_path / ".." / tmp_path.name / "model.urdf"):
        assert main(["assemble", str(model), "--save", str(place)]) == 2
        assert "the input file" in capsys.readouterr().err
    assert model.read_bytes() == FIVE_BAR.read_bytes()
    out = str(tmp_path / "out")  # without an ending it may be either
    assert main(["assemble", str(model), "--save", out, "--plot", out]) == 2
    assert "the output of --save too" in capsys.readouterr().err
    assert main(["assemble", str(path_of("5bar_linkage")), "--save", "/dev/null"]) == 0  # a device is a place
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    "command", [["demo", "--output", "OUT"], ["graph", "FILE", "--dot", "OUT"], ["graph", "FILE", "--plot", "OUT"],
                ["project", "FILE", "--save", "OUT"], ["project", "FILE", "--report", "OUT"],
                ["project", "FILE", "--plot", "OUT"]],
)  # fmt: skip
def test_every_command_checks_its_outputs_first(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mend 17: the output is what is refused, though the input is not there either."""
    words = {"FILE": str(tmp_path / "absent.json"), "OUT": str(tmp_path / "absent" / "out.png")}
    assert main([words.get(word, word) for word in command]) == 2
    said = capsys.readouterr().err
    assert "out.png: cannot be written" in said
    assert "absent.json" not in said


def test_other_ways_of_closing_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Stumble 9: a leg upside down without a word; two links of half a metre to a point 0.8 m away have an elbow on
    either side, the weld of a bar has one way."""
    other = "closed in one of several ways (`mechanism.branches`)"
    near = tmp_path / "near.xml"
    near.write_text(SHORT.replace('pos="3 0 0"', 'pos="0.8 0 0"'))
    for path, said in ((near, True), (path_of("mj_weld"), False)):
        assert main(["assemble", str(path)]) == 0
        assert (other in capsys.readouterr().out.splitlines()) is said


def test_open_closures_come_with_the_worst_first() -> None:
    platform = mechanisms.stewart_platform()
    q = platform.posture("closed")
    assert max(errors_of(platform, q).values()) < 1e-8
    moved = platform.robot.space.integrate(q, 0.1 * np.sin(np.arange(platform.robot.nv)))
    found = errors_of(platform, moved)
    closures: Any = platform.closures
    norms = [np.linalg.norm(closure.residual(moved)) for closure in closures]
    assert set(found) == {closure.name for closure in closures}
    np.testing.assert_allclose([*found.values()], sorted(norms, reverse=True), rtol=1e-12)
