"""Problems on other robots: they are what their script makes, within reach, and solved; the benchmark runs them."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import scripts
from each_choice import a_few

from constraints import Options, Projector

PROBLEMS = sorted((scripts.BENCHMARKS / "problems" / "others").glob("*.npz"))
LEFT_TO_NEWTON = {
    "allegro_fingertips": 12, "anymal_reach": 18, "baxter_box_explicit": 8, "baxter_dual": 6, "borinot_reach": 5,
    "centauro_hands": 18, "g1_two_points": 20, "go2_patches": 20, "hyq_feet": 12, "icub_hands": 20,
    "kinova_grasp_explicit": 3, "kinova_orientation": 3, "romeo_reach": 20, "romeo_stance_far": 14, "so101_point": 3,
    "solo_feet_com": 14, "tiago_dual_bar": 12, "tiago_reach": 6, "ur10_over_table": 8, "ur10_place_explicit": 6,
    "xarm_glass": 2, "xarm_pose": 6,
}  # fmt: skip
RECORDED_ROBOTS = {"ur5", "panda", "pr2", "talos"}
TARGET_ELSEWHERE = {"ur10_over_table", "ur10_place_explicit"}
"""Where the arm of qref is not at its target."""


def close(one: Any, other: Any) -> bool:
    """Two pieces of JSON: the same but for rounding of numbers."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float):
        return abs(one - other) <= 1e-9
    return bool(one == other)


def test_the_set_has_what_it_was_made_for(files: Any) -> None:
    """Many robots, none of the recorded ones; each kind of task that planners meet."""
    assert [path.stem for path in PROBLEMS] == sorted(LEFT_TO_NEWTON)
    robots, kinds, roots, words = set[str](), set[str](), set[str](), set[str]()
    for path in PROBLEMS:
        description = files.read(path).description
        robots.add(description["models"][0][0])
        roots.add(description["models"][0][1])
        for constraint in description["constraints"]:
            kinds.add(constraint["kind"])
            words |= set(constraint["comparison"])
    assert len(robots) >= 10
    assert not robots & RECORDED_ROBOTS
    assert roots == {"anchor", "planar", "freeflyer"}
    assert kinds == set(files.KEYS)
    assert words == set(files.COMPARISONS)


@pytest.mark.parametrize("path", a_few(PROBLEMS, 6), ids=lambda path: path.stem)
def test_the_script_makes_each_problem_again(files: Any, benchmarks: Any, path: Path) -> None:
    file = files.read(path)
    description, starts = benchmarks("make_problems").made(path.stem)
    assert file.name == path.stem
    assert (file.threshold, file.max_iterations) == (1e-4, 40)
    assert close(json.loads(json.dumps(description)), file.description)
    np.testing.assert_allclose(starts, file.q0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("path", a_few(PROBLEMS, 8), ids=lambda path: path.stem)
def test_targets_are_within_reach_and_successes_are_true_ones(files: Any, judging: Any, path: Path) -> None:
    """Reachable by qref itself, or by what the projection finds; judged by plain pinocchio."""
    file = files.read(path)
    problem, judge, qref = files.build(file), judging.Judge(file.description), np.array(file.description["qref"])
    assert problem.reduced_size == LEFT_TO_NEWTON[path.stem]
    assert not problem.resolution.refused
    assert judge.in_bounds(qref)
    assert all(judge.in_bounds(q) for q in file.q0)
    assert judge.residual(qref) <= 1e-9 or path.stem in TARGET_ELSEWHERE
    projector = Projector(problem)
    results = [projector.project(q) for q in file.q0[:20]]
    good = [result.q for result in results if result.success]
    assert len(good) >= 19
    assert max(judge.residual(q) for q in good) <= file.threshold
    assert all(judge.in_bounds(q) for q in good)


def test_an_interval_is_two_one_sided_constraints(files: Any, judging: Any) -> None:
    """A tool in a box over a table: to both, the error is how far it is outside, by the place of its link alone."""
    file = files.read(next(path for path in PROBLEMS if path.stem == "ur10_over_table"))
    sides = file.description["constraints"][:2]
    low, high = (np.array(side["frame1_world"][:3]) for side in sides)
    np.testing.assert_allclose(high - low, [0.4, 0.6, 0.2], atol=1e-12)
    file = replace(file, description=file.description | {"constraints": sides})
    problem, judge = files.build(file), judging.Judge(file.description)
    data, inside = judge.model.createData(), 0
    for q in np.vstack([file.q0, [Projector(problem).project(q).q for q in file.q0[:20]]]):
        pin.framesForwardKinematics(judge.model, data, q)
        tool = data.oMf[judge.model.getFrameId("ur10/tool0", pin.FrameType.BODY)].translation
        outside = max(np.linalg.norm(np.maximum(low - tool, 0.0)), np.linalg.norm(np.maximum(tool - high, 0.0)))
        assert problem.residual(q) == pytest.approx(outside, abs=1e-12)
        assert judge.residual(q) == pytest.approx(outside, abs=1e-12)
        inside += outside == 0.0
    assert inside > 0


@pytest.mark.parametrize("path", a_few(PROBLEMS, 8), ids=lambda path: path.stem)
def test_the_compiled_engine_packs_each_problem(files: Any, path: Path) -> None:
    pytest.importorskip("numba")
    from constraints.solvers import why_not

    assert why_not(files.build(files.read(path))) is None


def run(*given: str, folder: Path) -> scripts.Done:
    return scripts.run(scripts.BENCHMARKS / "projection.py", *given, folder=folder)


def test_the_benchmark_runs_the_set(tmp_path: Path) -> None:
    done = run("--set", "others", "--starts", "2", "--repeats", "1", "--json", "out.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out.json").read_text())
    assert [row["problem"] for row in rows] == sorted(LEFT_TO_NEWTON)
    assert all(row["us_solved"] > 0.0 for row in rows if row["success"])
    assert "geometric mean" not in done.stdout  # of no ratio
    done = run("--set", "others", str(PROBLEMS[0]), folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_the_summary_is_the_geometric_mean_and_the_worst(on_path: None) -> None:
    module = importlib.import_module("projection_figures")
    rows = [{"problem": "a", "ratio": 0.5}, {"problem": "b", "ratio": 0.02}, {"problem": "c", "ratio": None}]
    assert module.summary(rows) == "geometric mean of 2 ratios: 0.100 (1/10.0); largest: 0.50 (a)"
    assert module.summary(rows[2:]) == ""


class Peer:
    """Stands for the process of hpp-constraints: counts what it is asked, ends when told to.

    Args:
        ends_after: questions that it answers.
    """

    def __init__(self, ends_after: int = 1000) -> None:
        self.asked: list[dict[str, Any]] = []
        self.ends_after, self.starts = ends_after, np.zeros((0, 1))

    def ask(self, what: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(what)
        if len(self.asked) > self.ends_after:
            raise importlib.import_module("peer").NoPeer("it is gone")
        if "starts" in what:
            self.starts = np.array(what["starts"])
            return {"starts": len(self.starts)}
        some = self.starts[what["first"] : what["last"]]
        return {"us": [7.0] * len(some), "success": [True] * len(some), "q": some.tolist()}


def test_solvers_take_turns_and_ours_go_on_where_the_peer_ends(on_path: None) -> None:
    module = importlib.import_module("turns")
    turns: list[tuple[int, int]] = []

    def project_some(first: int, last: int, turn: int, run: Any) -> None:
        turns.append((first, last))
        run.us[first:last, turn], run.claimed[first:last] = 3.0, True

    count = 2 * module.CHUNK + 5
    chunks = [(0, module.CHUNK), (module.CHUNK, 2 * module.CHUNK), (2 * module.CHUNK, count)]
    for ends_after, names in ((1000, [module.OURS, "A"]), (2, [module.OURS])):
        peer, remarks = Peer(ends_after), list[str]()
        peer.starts = np.zeros((count, 1))
        turns.clear()
        runs = module.in_turns({module.OURS: project_some, "A": module.by_hpp(peer, "A")}, (count, 1), 2, remarks)
        assert list(runs) == names
        assert turns == chunks * 2
        assert any("it is gone" in remark for remark in remarks) == (len(names) == 1)
        assert all((run.us > 0.0).all() and run.claimed.all() for run in runs.values())


def test_each_solver_starts_at_solutions_of_its_own(on_path: None, files: Any) -> None:
    """As many as both have; the library takes what it found for solved, at once."""
    module = importlib.import_module("projection")
    file = files.read(next(path for path in PROBLEMS if path.stem == "kinova_orientation"))
    projector = Projector(files.build(file))
    ours = module.Run.empty(6, file.q0.shape[1], 1)
    ours.ends[:] = [projector.project(q).q for q in file.q0[:6]]
    ours.usable = np.array([1, 1, 0, 1, 1, 1], dtype=bool)
    theirs = module.Run.empty(6, file.q0.shape[1], 1)
    theirs.ends[:], theirs.usable = 5.0, np.array([0, 1, 1, 0, 0, 0], dtype=bool)
    peer, remarks = Peer(), list[str]()
    mine, other = module.of_solutions(projector, ours, (peer, "A", theirs), 2, remarks)
    assert mine > 0.0
    assert other > 0.0
    np.testing.assert_array_equal(peer.asked[0]["starts"], theirs.ends[:2])
    assert not any("are none to" in remark for remark in remarks)
    ours.usable[:] = False
    assert module.of_solutions(projector, ours, None, 2, remarks) == (None, None)


def test_the_benchmark_stays_on_one_core(tmp_path: Path) -> None:
    """In a process of its own; a child inherits it."""
    (tmp_path / "one.py").write_text(
        "import os, sys; sys.path.insert(0, sys.argv[1]); import turns; turns.stay_on_one_core(); "
        "print(len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else 1)"
    )
    done = scripts.run(tmp_path / "one.py", str(scripts.BENCHMARKS))
    assert done.stdout.split() == ["1"]


@pytest.mark.parametrize("engine", ["readable", *(["compiled"] if find_spec("numba") else [])])
def test_feet_on_patches_settle(files: Any, judging: Any, engine: str) -> None:
    """Sixteen limits of four feet: a step that crosses one that holds by microns let go of others (11 iterations)."""
    file = files.read(scripts.BENCHMARKS / "problems" / "others" / "go2_patches.npz")
    projector = Projector(files.build(file), Options(threshold=file.threshold, max_iterations=40), engine)
    results = [projector.project(q) for q in judging.Judge(file.description).starts(100, 7)]
    assert all(result.success for result in results)
    assert np.mean([result.iterations for result in results]) < 6.0
