"""The command line: tables, files that are written, reports that are done again, errors of one line, exit codes."""

from __future__ import annotations

import argparse
import errno
import fcntl
import importlib
import importlib.util
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scripts
from explicit_samples import arm_and_box
from pictures.test_plots import hide_matplotlib
from samples import arm_frames

import constraints as lc
from constraints.__main__ import COMMANDS, main
from constraints.cli import info
from constraints.cli.picture import SHOWN, far_apart
from constraints.cli.project import random_starts
from constraints.errors import NotSavableError, WrongObjectError
from liegroups import SO2, Rn

ROOT = Path(__file__).resolve().parent.parent.parent


def command(*given: str | Path, folder: Path | None = None, **environment: str) -> scripts.Done:
    """Run the command line in another process, warnings being errors."""
    return scripts.run("constraints", *map(str, given), folder=folder, **environment)


def problem() -> lc.Problem:
    """An arm that holds a box by an explicit constraint, at a place within reach: most starts are projected."""
    robot = arm_and_box()
    grasp = lc.explicit_relative_pose(robot, "gripper", "handle", name="grasp")
    return lc.Problem(robot, [grasp, lc.Implicit.equal(lc.Position(robot, "handle"), [0.4, 0.1, 0.5], name="place")])


def far() -> lc.Problem:
    """A target out of reach."""
    return lc.Problem(arm_frames(), [lc.Implicit.equal(lc.Position(arm_frames(), "b"), [3.0, 0.0, 0.0], name="far")])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    problem().save(tmp_path / "problem.json")
    return tmp_path / "problem.json"


# project


def test_project_prints_what_the_projector_gives(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Command line: N seeded random starts within bounds, a table, the arrays and a picture in files."""
    out, picture = tmp_path / "out.npz", tmp_path / "out.png"
    given = ["project", str(file), "--starts", "40", "--seed", "3", "--save", str(out), "--plot", str(picture)]
    code = main(given)
    said = capsys.readouterr()
    assert said.err == ""
    p = problem()
    starts = random_starts(p, 40, 3)
    assert all(p.bounds.contains(q) for q in starts)
    expected = [lc.Projector(p, lc.Options(seed=3)).project(q) for q in starts]
    ok = [projection.success for projection in expected]
    assert f"{sum(ok)} of 40" in said.out
    assert code == (0 if all(ok) else 1)
    with np.load(out) as arrays:
        assert arrays["q0"].tobytes() == starts.tobytes()
        assert arrays["q"].tobytes() == np.array([x.q for x in expected]).tobytes()
        assert arrays["status"].tolist() == [x.status.name for x in expected]
        assert arrays["residual"].tobytes() == np.array([x.residual for x in expected]).tobytes()
        assert arrays["iterations"].tolist() == [x.iterations for x in expected]
        assert (arrays["seconds"] > 0.0).all()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_project_takes_options_and_right_hand_sides(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Command line: other right-hand sides and options from their files; a failure becomes a report."""
    sides = problem().rhs.replace("place", [0.3, -0.2, 0.6])
    sides.save(tmp_path / "rhs.json")
    lc.Options.local(max_iterations=1, threshold=1e-9).save(tmp_path / "options.json")
    rest = ["--rhs", str(tmp_path / "rhs.json"), "--options", str(tmp_path / "options.json"), "--starts", "5"]
    assert main(["project", str(file), *rest, "--report", str(tmp_path / "failure.json")]) == 1
    said = capsys.readouterr().out
    assert "0 of 5" in said
    assert "5 times" in said
    assert "MAX_ITERATIONS: " in said
    report = lc.Report.load(tmp_path / "failure.json")
    assert report.rhs.of("place").tolist() == [0.3, -0.2, 0.6]
    assert report.options == lc.Options.local(max_iterations=1, threshold=1e-9)
    assert report.start.tobytes() == random_starts(problem(), 5, 0)[0].tobytes()
    assert main(["project", str(tmp_path / "failure.json")]) == 0


def test_the_picture_shows_configurations_that_differ() -> None:
    """Planner 11: eight solutions that were one line to the eye, although others were there."""
    rng = np.random.default_rng(2)
    Q = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 20, axis=0) + 1e-3 * rng.standard_normal((60, 2))
    shown = far_apart(Rn(2), Q)
    assert [row // 20 for row in shown] == [0, 2, 1]
    assert far_apart(Rn(2), Q[:20]) == [0]
    many = rng.standard_normal((50, 2))
    rows = far_apart(Rn(2), many)
    assert len(set(rows)) == len(rows) == SHOWN
    turned = np.array([[1.0, 0.0], [1.0, 1e-3], [-1.0, 0.0]])
    assert far_apart(SO2, turned / np.linalg.norm(turned, axis=1)[:, None]) == [0, 2]


def test_more_iterations_are_a_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Planner 1: the hint names a flag that is there; it goes before the options of a file."""
    far().save(tmp_path / "far.json")
    lc.Options(max_iterations=7, threshold=1e-9, seed=3).save(tmp_path / "options.json")
    given = ["project", str(tmp_path / "far.json"), "--starts", "4", "--max-iterations", "20"]
    files = {"options": "options.json", "report": "failure.json", "plot": "far.png"}
    rest = [word for name, file in files.items() for word in (f"--{name}", str(tmp_path / file))]
    assert main([*given, *rest]) == 1  # not all are projected
    said = capsys.readouterr()
    assert "`--max-iterations 1000`" in said.out
    assert "0 of 4" in said.out
    assert "largest residual" not in said.out
    assert said.err == ""
    report = lc.Report.load(tmp_path / "failure.json")
    assert report.options == lc.Options(max_iterations=20, threshold=1e-9, seed=3)
    assert main(["project", str(tmp_path / "failure.json"), "--max-iterations", "9"]) == 2
    assert "--max-iterations can only be used with a problem" in capsys.readouterr().err


def test_project_works_on_any_space(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: a problem without robot, and one on a product with a robot; with pictures."""
    arm = arm_frames()
    space = arm.space * Rn(1)
    for where, constraints in (
        (Rn(3), [lc.Implicit.zero(lc.Affine([[1.0, 2.0, 3.0]], 0.5))]),
        (space, [lc.Implicit.equal(lc.Position(arm, "b"), [0.3, 0.2, 0.5]), lc.Implicit.zero(lc.Affine([[2.0]], 1.0))]),
    ):
        lc.Problem(where, constraints).save(tmp_path / "p.json")
        given = ["project", str(tmp_path / "p.json"), "--starts", "3", "--plot", str(tmp_path / "p.png")]
        assert main(given) == 0
        assert "3 of 3" in capsys.readouterr().out


# Reports


def reported(folder: Path, rhs: Any = None, options: lc.Options | None = None) -> Any:
    rng = np.random.default_rng(12)
    p = far()
    projection = lc.Projector(p, options or lc.Options(seed=5, max_iterations=30)).project(
        arm_frames().random(rng), rhs
    )
    projection.report(folder / "report.json")
    return projection


def test_a_report_is_done_again_bit_for_bit_in_another_process(tmp_path: Path) -> None:
    """Command line: `projection.report(path)` of a failing case, and `project FILE` in another process with other
    hashes: the same bits, exit code 0."""
    projection = reported(tmp_path)
    assert not projection.success
    done = command("project", "report.json", folder=tmp_path, PYTHONHASHSEED="77")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "the same as reported, bit for bit" in done.stdout
    assert projection.status.name in done.stdout
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["result"]["q"] == projection.q.tolist()
    assert {"python", "numpy", "scipy", "pin", "lie-constraints", "blas of scipy"} <= set(data["versions"])


@pytest.mark.parametrize("q", [3e-16, 0.5])
def test_a_report_that_differs_says_in_what(q: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: one bit that differs is exit code 1, with the quantity and the versions that differ."""
    reported(tmp_path)
    path = tmp_path / "report.json"
    data = json.loads(path.read_text())
    data["result"]["q"][0] += q
    data["versions"]["numpy"] = "1.0"
    path.write_text(json.dumps(data))
    assert main(["project", str(path)]) == 1
    said = capsys.readouterr().out
    assert "not the same as reported" in said
    assert re.search(r"q: up to \S+ apart", said)
    assert f"numpy: 1.0 then, {np.__version__} now" in said
    assert "bit for bit" not in said


def test_reports_hold_all_that_matters(tmp_path: Path) -> None:
    """Reports: right-hand sides, options, start, reference of `nearest`, rows of a batch; the trace changes no bit."""
    p = problem()
    rng = np.random.default_rng(3)
    q, near = p.space.random(rng), p.space.random(rng)
    nearest = lc.Projector(p, lc.Options(nearest=True, seed=9, trace=True))
    for projection in (
        nearest.project(q, p.rhs.replace("place", [0.3, 0.3, 0.4]), near),
        nearest.project(q),
        nearest.project_batch(np.stack([near, q]), near=q)[1],
        nearest.project_batch(np.stack([near, q]), near=np.stack([q, near]))[1],
        lc.Projector(p, lc.Options(max_iterations=0)).project(q),
    ):
        projection.report(tmp_path / "report.json")
        report = lc.Report.load(tmp_path / "report.json")
        assert report.start.tobytes() == q.tobytes()
        assert (report.near is None) == (projection.near is None)
        assert report.options == projection.options
        again = report.reproduce()
        assert report.differences(again) == ()
        assert again.q.tobytes() == projection.q.tobytes()
        assert report.differences(report.reproduce(trace=True)) == ()
        assert repr(report).startswith(f"Report({projection.status.name}")
    assert again.error("place").tobytes() == p.error(again.q, "place").tobytes()  # constraints keep their names
    other = nearest.project(near)
    assert any(words.startswith("q: up to") for words in report.differences(other))
    with pytest.raises(WrongObjectError, match="projection to compare"):
        report.differences("nothing")  # pyright: ignore[reportArgumentType]


def test_reports_of_what_is_not_data_are_refused(tmp_path: Path) -> None:
    """Reports: a target in time cannot be reported, the constraint is named, and no file appears."""
    arm = arm_frames()
    rise = lc.Implicit.equal(lc.Position(arm, "b"), lc.Target(lambda t: [0.3, 0.1, 0.5]), name="rise")
    projection = lc.Projector(lc.Problem(arm, [rise])).project(arm.neutral)
    with pytest.raises(NotSavableError, match="constraint 'rise'"):
        projection.report(tmp_path / "report.json")
    assert not (tmp_path / "report.json").exists()


# describe, info


def test_describe_says_what_the_problem_says(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: `describe` prints `problem.describe()`, and of a report what came out."""
    assert main(["describe", str(file)]) == 0
    assert capsys.readouterr().out == problem().describe() + "\n"
    projection = reported(tmp_path)
    assert main(["describe", str(tmp_path / "report.json")]) == 0
    said = capsys.readouterr().out
    assert said.startswith(far().describe())
    assert f"reported: {projection.status.name}" in said
    (owner,) = projection.rhs.stack
    target = said.split(f"'{owner.name}': [")[1].split("]")[0]
    np.testing.assert_allclose([float(x) for x in target.split(",")], projection.rhs.of(owner), atol=1e-6)


def test_describe_tells_constraints_of_one_name_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: constraints that share a name have their position behind it, right-hand sides of a report too."""
    robot = arm_frames()
    same = [lc.Implicit.equal(lc.Position(robot, frame), name="there") for frame in ("tool", "elbow")]
    lc.Projector(lc.Problem(robot, same)).project(robot.neutral).report(tmp_path / "case.json")
    assert main(["describe", str(tmp_path / "case.json")]) == 0
    said = capsys.readouterr().out
    assert [said.count(f"'there' (constraint {i})") for i in (0, 1)] == [2, 2]


@pytest.mark.parametrize("given", ["project", "assemble", "graph", "plan"])
def test_a_picture_that_nothing_can_draw_is_refused_before_the_work(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Command line: `--plot` without matplotlib is refused before the file is read, so that no work is lost."""
    hide_matplotlib(monkeypatch)
    assert main([given, "no_such_file", "--plot", str(tmp_path / "x.png")]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert "lie-constraints[plot]" in said.err
    assert said.err.count("\n") == 1


def test_info_names_what_computes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Command line: versions, linear algebra, threads, extras present or absent; nothing about this machine's user."""
    import pinocchio
    import scipy

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert main(["info"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if len(line.split()) > 1)
    assert lines["numpy"] == np.__version__
    assert lines["scipy"] == scipy.__version__
    assert lines["pin"].startswith(pinocchio.__version__)
    assert lines["lie-constraints"] == lc.__version__
    assert "OPENBLAS_NUM_THREADS=1" in lines["threads"]
    assert "blas" in lines


def test_info_advises_one_thread(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Stumble 1: simulations were ten times slower with threads, and nothing said so."""
    advice = "(for small mechanisms set OMP_NUM_THREADS=1)"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for cores, limit, said in ((4, None, True), (4, "2", True), (4, "1", False), (1, None, False)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        if limit is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", limit)
        else:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        assert main(["info"]) == 0
        line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("threads"))
        assert line.endswith(advice) is said


def test_info_knows_the_extras_of_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Command line: extras are those of the distribution, what is not installed is absent."""
    wanted = [
        "numpy>=2.0",
        "matplotlib>=3.9; extra == 'plot'",
        'no-such-thing>=1 ; extra == "odd"',
        "x; extra == 'test'",
    ]
    monkeypatch.setattr(info.importlib.metadata, "requires", lambda name: wanted)
    found = info.extras()
    assert list(found) == ["plot", "odd"]
    assert found["odd"] == ["no-such-thing (absent)"]
    assert re.fullmatch(r"matplotlib \d+\..*", found["plot"][0])


# Errors


def test_errors_are_one_line_on_stderr_and_exit_code_2(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Command line: files that are not there, broken, of another kind, of a later version; places that cannot be
    written; one line each, no traceback, exit code 2."""
    (tmp_path / "broken.json").write_text(file.read_text()[:1000])
    (tmp_path / "later.json").write_text(file.read_text().replace('"version": 1', '"version": 2'))
    (tmp_path / "equal.json").write_text(file.read_text().replace('"EQUALITY"', '"EQUAL"'))
    lc.Options().save(tmp_path / "options.json")
    reported(tmp_path)
    monkeypatch.chdir(tmp_path)
    for given, named in (
        (["describe", "nothing.json"], "nothing.json"),
        (["project", "broken.json"], "broken.json"),
        (["project", "later.json"], "later version"),
        (["describe", "options.json"], "expected 'problem' or 'report'"),
        (["project", "problem.json", "--save", "none/out.npz"], "none"),
        (["project", "problem.json", "--rhs", "options.json"], "expected 'right-hand side'"),
        (["project", "report.json", "--starts", "3"], "--starts"),
        (["describe", "."], "cannot be read"),
        (["describe", "equal.json"], ".comparison: expected one of " + ", ".join(kind.name for kind in lc.Comparison)),
        (["demo", "--output", "nowhere/demo.png"], "nowhere"),
        (["demo", "--output", "demo.nonsense"], "nonsense"),
        *((["plan", "p.json", "--save", f"p{end}"], ".json or .csv or .npz") for end in ("", ".txt", ".parquet")),
    ):
        done = command(*given, folder=tmp_path) if given[1] == "broken.json" else None
        code, err = (done.returncode, done.stderr) if done else (main(given), capsys.readouterr().err)
        assert code == 2, given
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert named in err
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "given",
    ["", "dance", "describe", "info more", "project", "project p.json --starts 0",
     "demo --starts many", "demo --starts 0", "demo --seed -1",
     "plan", "plan p.json --limit 0", "plan p.json --limit nan", "plan p.json --limit x", "plan p.json --seed -1"],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: what `argparse` refuses."""
    with pytest.raises(SystemExit) as done:
        main(given.split())
    assert done.value.code == 2
    assert "usage: python -m constraints" in capsys.readouterr().err


def test_errors_of_ours_say_so(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Command line: another exception is one line too, with its type, exit code 70; `--traceback` shows it."""

    def broken(self: lc.Problem) -> str:
        raise TypeError("two\nlines")

    monkeypatch.setattr(lc.Problem, "describe", broken)
    assert main(["describe", str(file)]) == 70
    said = capsys.readouterr().err
    assert said.startswith("error: this is a bug in lie-constraints, please report it: TypeError: two lines")
    assert said.count("\n") == 1
    with pytest.raises(TypeError):
        main(["--traceback", "describe", str(file)])


def test_interrupts_are_exit_code_130(file: Path, tmp_path: Path) -> None:
    """Command line: Ctrl-C ends with one word and exit code 130, and leaves no half file."""
    program = (
        "import signal, sys\nfrom constraints import Projector\nfrom constraints.__main__ import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background starts with it ignored
        "real = Projector.project_batch\n"
        "def begun(*given, **named):\n    print('begun', flush=True)\n    return real(*given, **named)\n"
        "Projector.project_batch = begun\nsys.exit(main(sys.argv[1:]))"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", program, "project", "problem.json", "--starts", "200000", "--save", "out.npz"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stdout.readline() == b"begun\n"
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    try:
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 130
    assert err.decode().strip() == "interrupted"
    assert out == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["problem.json"]


def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    """Command line: `... | head` ends quietly."""
    program = f"{sys.executable} -m constraints info | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {program}"], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("lie-constraints")


# Progress, help


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="tqdm is not installed")
def test_a_terminal_sees_progress_and_a_file_does_not(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Command line: a bar on the error stream where that is a terminal."""
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with open(its, "w") as terminal, monkeypatch.context() as m:
        m.setattr(sys, "stderr", terminal)
        main(["project", str(file), "--starts", "300"])
    assert "300/300" in everything(mine)
    said = capsys.readouterr().out
    assert "of 300" in said
    assert "%|" not in said


def everything(terminal: int) -> str:
    """What was written to a terminal that nobody writes to any more."""
    parts: list[bytes] = []
    try:
        while part := os.read(terminal, 10_000):
            parts.append(part)
    except OSError as end:
        if end.errno != errno.EIO:  # what Linux says when nobody holds the other side any more
            raise
    os.close(terminal)
    return b"".join(parts).decode()


def test_help_names_every_command_and_imports_none(capsys: pytest.CaptureFixture[str]) -> None:
    """Command line: the commands have modules with two functions; help of one does not import the others."""
    with pytest.raises(SystemExit) as done:
        main(["--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    for name in COMMANDS:
        assert f"    {name} " in said
        module = importlib.import_module(f"constraints.cli.{name.replace('-', '_')}")
        assert callable(module.run)
        module.add_arguments(argparse.ArgumentParser())
    program = """
import sys
from constraints.__main__ import main
for given in (["--help"], ["info", "--help"]):
    try:
        main(given)
    except SystemExit:
        loaded = [name for name in sys.modules if name.startswith("constraints.cli.") or name == "matplotlib"]
        print("loaded", *sorted(loaded))
"""
    out = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    loaded = [line.split()[1:] for line in out.splitlines() if line.startswith("loaded")]
    assert loaded == [[], ["constraints.cli.arguments", "constraints.cli.info"]]


def test_kernels_without_numba_are_a_missing_extra_and_no_bug() -> None:
    program = (
        "import sys; sys.modules['numba'] = None; from constraints.__main__ import main; sys.exit(main(['warm-up']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "lie-constraints[fast]" in done.stderr
    assert "bug" not in done.stderr
