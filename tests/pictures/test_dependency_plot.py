"""The picture of the explicit constraints: what it says, left to right, nothing over anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
from explicit_samples import arm_and_box
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from robots import arm

import constraints as lc
from constraints.pictures.graphs.dependencies import COMPUTED, FREE, RESOLVED
from constraints.problem.resolution import Dependency
from liegroups import Rn, Segments, Space


def follows(space: Space, column: int, reads: list[int], name: str, **rest: Any) -> lc.Explicit:
    """A number that is the sum of others."""
    f = lc.Affine([[1.0] * len(reads)], None, Rn(len(reads)), name=name)
    return lc.Explicit(f, Segments.coordinates(space, [column]), Segments.coordinates(space, reads), name=name, **rest)


def twelve() -> lc.Problem:
    """Twelve constraints on an arm with a box and six numbers beside: five generations, four that became implicit."""
    robot = arm_and_box()
    space = robot.space * Rn(6)
    n = robot.nv
    return lc.Problem(
        space,
        [
            lc.explicit_relative_pose(robot, "gripper", "handle", name="box in the gripper"),
            lc.linear_coupling(robot, "arm/wrist_pitch", {"arm/elbow": -0.7}, 0.2, name="pitch"),
            lc.linear_coupling(
                robot, "arm/wrist_roll", {"arm/wrist_pitch": -0.7, "arm/shoulder_yaw": 0.1}, name="roll"
            ),
            lc.locked_joint(robot, "arm/shoulder_roll", 0.1, name="lock"),
            follows(space, n, [0, 4], "a"),
            follows(space, n + 1, [n], "b"),
            follows(space, n + 2, [n + 1, 6], "c"),
            follows(space, n + 3, [n + 2], "d"),
            follows(space, n + 4, [n + 3, n], "the sum of two others, with a name of two lines"),
            lc.locked_joint(robot, "arm/wrist_roll", 0.3, name="second lock"),
            follows(space, 0, [n + 4], "cycle"),
            follows(space, n + 5, [2], "inequality", comparison=lc.Comparison.SUPERIOR),
        ],
    )


def twice() -> lc.Problem:
    """A joint locked twice, whose reason is longer than a line of the picture."""
    name = "a lock of a joint, with a name that is a sentence, which tells what the joint is locked for, and by whom"
    locks = [lc.locked_joint(arm(), arm().joint_names[0], 0.1, name=name) for name in (name, "second lock")]
    return lc.Problem(arm(), locks)


def links(problem: lc.Problem) -> dict[str, Dependency]:
    return {link.name: link for link in problem.resolution.dependencies(problem.space)}


def words(figure: Figure) -> list[str]:
    return [text.get_text().replace("\n", " ") for text in figure.axes[0].texts]


def rectangles(figure: Figure) -> list[tuple[float, float, float, float]]:
    boxes = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    return [(b.get_x(), b.get_y(), b.get_x() + b.get_width(), b.get_y() + b.get_height()) for b in boxes]


def reaches(box: tuple[float, float, float, float], side: int, point: Any) -> bool:
    """Is a point in the middle of the left (0) or right (2) side of a box?"""
    return bool(np.allclose(point, (box[side], 0.5 * (box[1] + box[3]))))


def test_links_say_what_is_read_and_computed() -> None:
    found = links(twelve())
    assert list(found)[-3:] == ["second lock", "cycle", "inequality"]
    assert found["lock"] == Dependency("lock", (), ("arm/shoulder_roll",), 0, "")
    assert found["roll"] == Dependency("roll", ("arm/shoulder_yaw", "arm/wrist_pitch"), ("arm/wrist_roll",), 1, "")
    assert found["c"] == Dependency("c", ("arm/wrist_roll", "R6[1]"), ("R6[2]",), 2, "")
    box = found["box in the gripper"]
    assert (box.writes, box.generation) == (("box/root_joint",), 2)
    assert len(box.reads) == 7
    assert found["cycle"].generation is None
    assert found["cycle"].reason.startswith("it closes a cycle: ")
    assert "already computed by 'roll'" in found["second lock"].reason
    assert "SUPERIOR" in found["inequality"].reason


def test_the_picture_says_all_and_nothing_lies_over_anything_else() -> None:
    """Boxes do not overlap, arrows lead right and through no box, each constraint, joint and reason is there."""
    problem = twelve()
    figure = problem.plot_dependencies()
    said = words(figure)
    for link in links(problem).values():
        assert link.name in said
        if link.generation is None:
            start = " ".join(link.reason.split()[:5])
            assert any(text.startswith(start) for text in said)
    for heading in ("not computed", *(f"generation {i}" for i in range(5))):
        assert heading in said
    assert any("became implicit" in text for text in said)
    boxes = rectangles(figure)
    for i, (x0, y0, x1, y1) in enumerate(boxes):
        for u0, v0, u1, v1 in boxes[:i]:
            assert min(x1, u1) - max(x0, u0) <= 1e-9 or min(y1, v1) - max(y0, v0) <= 1e-9
    (left, right), (low, high) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    assert min(b[0] for b in boxes) > left
    assert max(b[2] for b in boxes) < right
    assert min(b[1] for b in boxes) > low
    assert max(b[3] for b in boxes) < high
    arrows = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) >= sum(len(link.reads) > 0 for link in links(problem).values() if link.generation is not None)
    patches = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    inner = [(x0 + 1e-6, y0, x1 - 1e-6, y1) for x0, y0, x1, y1 in boxes]
    for arrow in arrows:
        vertices = np.asarray(arrow._path_original.interpolated(20).vertices)  # type: ignore[attr-defined]
        assert (np.diff(vertices[[0, -1], 0]) > 0.0).all()
        for end, side, colours in ((0, 2, (FREE, COMPUTED)), (-1, 0, (RESOLVED,))):
            faces = [
                patch.get_facecolor()
                for patch, b in zip(patches, boxes, strict=True)
                if reaches(b, side, vertices[end])
            ]
            assert faces in [[to_rgba(colour)] for colour in colours]
        for x, y in vertices:
            assert not any(x0 < x < x1 and y0 < y < y1 for x0, y0, x1, y1 in inner)


def test_texts_fit_their_boxes() -> None:
    figure = twelve().plot_dependencies()
    figure.canvas.draw()
    axes = figure.axes[0]
    to_data = axes.transData.inverted()
    reasons = [text.get_window_extent() for text in axes.texts if "Would compute" in text.get_text().replace("\n", " ")]
    dashed = [p.get_window_extent() for p in axes.patches if p.get_linestyle() == "--"]
    assert all(box.y0 < reason.y1 < box.y1 for box, reason in zip(dashed, reasons, strict=True))
    inside = [text for text in axes.texts if text.get_ha() == "center" and text.get_weight() != "bold"]
    boxes = rectangles(figure)
    assert len(inside) == len(boxes)
    for text in inside:
        (x0, y0), (x1, y1) = to_data.transform(text.get_window_extent().get_points())
        assert any(a <= x0 and x1 <= c and b <= y0 and y1 <= d for a, b, c, d in boxes), text.get_text()


def test_problems_with_few_or_no_explicit_constraints() -> None:
    robot = arm()
    hand = lc.Implicit.equal(lc.Position(robot, "tool"), [0.3, 0.2, 0.5])
    assert words(lc.Problem(robot, [hand]).plot_dependencies()) == ["no explicit constraints"]
    locked = lc.Problem(robot, [lc.locked_joint(robot, robot.joint_names[0], 0.1, name="lock")])
    assert "lock" in words(locked.plot_dependencies())
    held = lc.Problem(
        robot, [lc.locked_joint(robot, robot.joint_names[0], 0.1, name="lock")], frozen=robot.joint_names[:1]
    )
    said = words(held.plot_dependencies())
    assert any("is frozen. Would compute" in text for text in said)
