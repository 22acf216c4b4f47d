"""The benchmark of plans: a short run, and its judge, which must find what is wrong."""

from __future__ import annotations

import importlib
import json
from functools import cache
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
import scripts
from robots import needs_robot_data

from constraints.paths import Path
from constraints.paths.path import Piece
from constraints.planning import Limits

pytestmark = needs_robot_data
SCRIPT = scripts.BENCHMARKS / "planning.py"


@cache
def solved(module: str, name: str) -> tuple[Any, Path]:
    """The scene, and a path that is all right."""
    scene = getattr(importlib.import_module(module), name)()
    return scene, scene.solve(scene.queries[0], np.random.default_rng(0), Limits()).or_raise()


def changed(path: Path, number: int, samples: np.ndarray) -> Path:
    """The path with other samples in a piece."""
    old = path.pieces[number]
    piece = Piece(old.problem, old.sides, samples, np.linspace(0.0, 1.0, len(samples)), old.options)
    return Path((*path.pieces[:number], piece, *path.pieces[number + 1 :]))


def test_a_short_run_writes_its_figures(tmp_path: File) -> None:
    done = scripts.run(SCRIPT, "--scene", "glass", "--seeds", "1", "--json", str(tmp_path / "figures.json"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("the judge finds nothing wrong")
    said = json.loads((tmp_path / "figures.json").read_text())
    (row,) = said["figures"]
    assert (row["scene"], row["planner"], row["runs"], row["success"]) == ("glass", "ours", 10, 10)
    assert 0.0 < row["median"] <= row["p90"] <= row["max"]
    assert row["median"] == pytest.approx(np.median([run["seconds"] for run in said["runs"]]))


def test_objects_of_another_wheel_and_bad_options_are_named() -> None:
    done = scripts.run(SCRIPT, "--scene", "placard", "--share", "/nowhere")
    assert "placard: left out" in done.stderr
    assert "hpp_environments" in done.stderr
    done = scripts.run(SCRIPT, "--seeds", "0")
    assert done.returncode == 2
    assert "--seeds" in done.stderr


@pytest.mark.long  # its search; of a leaf the judge is asked below
def test_the_judge_sees_a_ball_that_slips_or_flies() -> None:
    """A ball is moved by a millimetre in the hand, another one while it stands; the rest stays as it is."""
    scene, path = solved("planning_graphs", "spheres")
    query = scene.queries[0]
    assert scene.faults(path, query) == []
    for number in (0, 4):  # the arm comes near; a ball is carried
        samples = path.pieces[number].samples.copy()
        moved = int(np.ptp(samples[:, 6:], axis=0).argmax()) if number else 0
        first = 13 if moved >= 7 else 6
        samples[1:-1, first + 1] += 1e-3
        found = scene.faults(changed(path, number, samples), query)
        assert any("error" in fault for fault in found), (number, found)


@pytest.mark.parametrize(
    ("module", "name", "entry"),
    [("planning_leaves", "glass", 1), pytest.param("planning_graphs", "spheres", 7, marks=pytest.mark.long)],
)
def test_the_judge_sees_rows_ends_and_steps_that_are_wrong(module: str, name: str, entry: int) -> None:
    """A joint that tilts the glass is moved; or a ball, while the arm comes near."""
    scene, path = solved(module, name)
    start, goal = scene.queries[0]
    assert scene.faults(path, (start, goal)) == []
    samples = path.pieces[0].samples.copy()
    samples[1:-1, entry] += 1e-3
    assert any("error" in fault for fault in scene.faults(changed(path, 0, samples), (start, goal)))
    other = start.copy()
    other[0] += 1e-12
    assert any("an end" in fault for fault in scene.faults(path, (other, goal)))
    coarse = path.pieces[0].samples[[0, -1]]
    assert any("apart" in fault for fault in scene.faults(changed(path, 0, coarse), (start, goal)))


def test_a_path_that_grazes_a_shelf_is_not_free() -> None:
    """By less than 0.1 mm, which a look at every millimetre misses."""
    scene, _ = solved("planning_leaves", "bar")
    query = scene.queries[3]
    path = scene.solve(query, np.random.default_rng(1173), Limits()).or_raise()
    assert not scene.faults(path, query)
