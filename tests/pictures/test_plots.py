"""Pictures: traces, stick figures, and the error that names the extra."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from constraints import Base, Implicit, Options, Pose, Problem, Projection, Projector, Robot, Status
from constraints.errors import MissingExtraError, OptionError, SizeError, WrongObjectError
from constraints.models import sample_arm, sample_two_arms
from constraints.pictures import Drawing, plot_configurations
from constraints.pictures.robots import stick_figure
from constraints.pictures.traces import LEAST_RESIDUAL, plot_trace


@pytest.fixture(scope="module")
def arm() -> Robot:
    return sample_arm()


@pytest.fixture(scope="module")
def projector(arm: Robot) -> Projector:
    target = arm.at(arm.reference("home")).placement(arm.frame("tool"))
    return Projector(Problem(arm, [Implicit.equal(Pose(arm, "tool"), target)]), Options(trace=True))


def traced(projector: Projector, restarts: int) -> Projection:
    """A projection that started again that many times."""
    for seed in range(200):
        result = projector.project(projector.problem.space.random(np.random.default_rng(seed), *limits(projector)))
        if result.restarts == restarts:
            return result
    raise AssertionError("no start restarts that often")


def limits(projector: Projector) -> tuple[Any, Any]:
    return projector.problem.bounds.lower, projector.problem.bounds.upper


@pytest.mark.parametrize("restarts", [0, 2, None])
def test_trace_shows_every_iterate_and_marks_restarts(projector: Projector, restarts: int | None) -> None:
    """A residual of zero has a place on the logarithmic axis."""
    steps = [SimpleNamespace(residual=residual, restarted=False) for residual in (1.0, 0.0)]
    exact: Any = SimpleNamespace(trace=steps, status=Status.CONVERGED, success=True, iterations=1)
    result = exact if restarts is None else traced(projector, restarts)
    restarts = restarts or 0
    axes = plot_trace(result).axes[0]
    assert result.trace is not None
    drawn = [line for line in axes.lines if line.get_marker() == "o"]
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in drawn])
    np.testing.assert_allclose(heights, [max(step.residual, LEAST_RESIDUAL) for step in result.trace])
    np.testing.assert_array_equal(np.concatenate([line.get_xdata() for line in drawn]), range(len(result.trace)))
    assert len({line.get_color() for line in drawn}) == (2 if restarts else 1)
    marks = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert axes.get_legend() is None or [text.get_text() for text in axes.get_legend().get_texts()] == ["restart"]
    assert len(marks) == restarts == len(drawn) - 1
    assert axes.get_yscale() == "log"
    assert result.status.name.lower() in axes.get_title(loc="left")


def test_trace_draws_the_threshold_where_it_is_known(projector: Projector) -> None:
    axes = plot_trace(traced(projector, 0), threshold=projector.options.threshold).axes[0]
    heights = [line.get_ydata() for line in axes.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(heights, [[1e-4, 1e-4]])


def test_projection_without_a_trace_says_how_to_get_one(arm: Robot, projector: Projector) -> None:
    bare = Projector(projector.problem).project(arm.reference("home"))
    with pytest.raises(OptionError, match=r"Options\(trace=True\)"):
        bare.plot()


def hide_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let imports of matplotlib fail, whether it has been imported or not."""
    found = importlib.import_module

    def import_module(name: str, package: str | None = None) -> Any:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return found(name, package)

    monkeypatch.setattr(importlib, "import_module", import_module)


def test_missing_matplotlib_names_the_extra(projector: Projector, monkeypatch: pytest.MonkeyPatch) -> None:
    result = traced(projector, 0)
    hide_matplotlib(monkeypatch)
    with pytest.raises(MissingExtraError, match=r"lie-constraints\[plot\]") as said:
        result.plot()
    assert (said.value.library, said.value.extra) == ("matplotlib", "plot")
    copy = pickle.loads(pickle.dumps(said.value))
    assert (copy.extra, str(copy)) == ("plot", str(said.value))


def test_sticks_join_the_joints_down_to_the_tips() -> None:
    robot = sample_two_arms()
    q = robot.reference("home")
    sticks = stick_figure(robot, q, [robot.joint_names[3], "left_tool", "right_tool"])  # no stick leads to a joint
    assert min(np.linalg.norm(b - a) for a, b in sticks) > 1e-3
    posture = robot.at(q)
    starts = [np.zeros(3), *(end for _, end in sticks)]
    for a, _ in sticks:  # every stick begins where another one ends
        assert min(np.abs(a - other).max() for other in starts) < 1e-12
    for tip, (_, end) in zip(("left_tool", "right_tool"), sticks[-2:], strict=True):
        np.testing.assert_allclose(end, posture.placement(robot.frame(tip)).translation)


def test_nothing_holds_an_object_that_moves_freely() -> None:
    box = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)
    assert stick_figure(box, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]) == []
    axes = box.plot(drawing=Drawing(tips=["body"])).axes[0]
    assert [(line.get_linestyle(), line.get_marker()) for line in axes.lines] == [("None", "o")] * 2


def test_groups_of_configurations_are_drawn_side_by_side(arm: Robot, tmp_path: Path) -> None:
    """One picture a group with its title, all on one scale, which shows everything; written when asked."""
    Q = arm.random(np.random.default_rng(0), 3)
    figure = plot_configurations(arm, {"one": Q[0], "three": Q}, tmp_path / "q.png", drawing=Drawing(tips=["tool"]))
    one, three = figure.axes
    assert [text.get_text() for text in figure.texts if text.get_text() in ("one", "three")] == ["one", "three"]
    assert len(three.lines) == 3 * len(one.lines)
    assert one.get_xlim() == three.get_xlim()
    for q in Q:
        tool = arm.at(q).placement(arm.frame("tool")).translation
        limits = np.array([three.get_xlim(), three.get_ylim(), three.get_zlim()])
        assert ((limits[:, 0] <= tool) & (tool <= limits[:, 1])).all()
    assert (tmp_path / "q.png").stat().st_size > 1000
    for wrong in ({}, {"none": []}, [Q]):
        with pytest.raises((WrongObjectError, SizeError)):
            plot_configurations(arm, wrong)  # type: ignore[arg-type]
