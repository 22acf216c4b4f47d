"""Planar loops in closed form: Norton's figures, branches by name, derivatives, dead points, whole turns."""

from __future__ import annotations

from itertools import combinations
from math import pi
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from models.test_mechanism_files import closed, path_of
from reduced.test_published_linkages import freudenstein

from constraints import Robot
from constraints.errors import OptionError, UndefinedError, UnknownNameError
from constraints.loops import AssemblyOptions, Closure, ConstraintSet, Hinge, PointClosure, assemble_position
from constraints.models import load, mechanisms
from constraints.reduced import ElbowSide, LoopFunction, PlanarLoop, explicit_loops
from constraints.testing import check_function

NORTON = {"ground": 0.1, "crank": 0.04, "coupler": 0.12, "rocker": 0.08}
"""R. L. Norton, Design of Machinery, example 4-1: in mm 100, 40, 120, 80."""


def norton(driven: str = "crank", branch: str | None = None) -> PlanarLoop:
    """The loop of Norton's crank-rocker, driven at a joint; outputs in the order crank, coupler, rocker."""
    linkage = mechanisms.four_bar(**NORTON, angle=np.radians(40.0))
    loops = explicit_loops(
        linkage.constraint_set(),
        linkage.postures["closed"],
        preferred=[driven],
        elbows=None if branch is None else {"coupler_end to rocker_end": branch},
    )
    (loop,) = loops.loops
    assert loop.independent == (driven,)
    assert isinstance(loop.function, PlanarLoop)
    return loop.function


def rocker_of_norton(crank: float, branch: str) -> float:
    """Angle of the rocker by Norton's own formula; angles counterclockwise from x [rad]."""
    return freudenstein(crank)[0][branch == "crossed"]


@pytest.mark.parametrize(("branch", "coupler", "rocker"), [("open", 20.30, 57.33), ("crossed", -60.98, -98.01)])
def test_norton_example_4_1(branch: str, coupler: float, rocker: float) -> None:
    """Norton, Design of Machinery, example 4-1: at crank 40 deg, coupler and rocker on the open and the crossed branch.

    Norton's coupler angle is that with the ground, the joint's that with the crank. His rocker figures 57.33 and
    -98.01 are rounded; the formula of his chapter, evaluated here, gives 57.3249 and -98.0050.
    """
    crank = np.radians(40.0)
    found = norton(branch=branch).value([crank])
    ground = (np.degrees(found[0] + crank) + 180.0) % 360.0 - 180.0
    assert ground == pytest.approx(coupler, abs=0.006)
    assert np.degrees(found[1]) == pytest.approx(rocker, abs=0.006)
    assert np.cos(rocker_of_norton(crank, branch) - found[1]) == pytest.approx(1.0, abs=1e-12)


def linkage_of_axes(order: str, signs: dict[str, float]) -> ConstraintSet:
    """Norton's four-bar in the plane xy, one chain before the other in the model, each axis along z or against it.

    Against z, the x axes of the bodies stay where they are, so that all angles change sign.
    """
    model, made = pin.Model(), {"ground": 0}
    chains = {"crank": [("crank", "ground", 0.0), ("coupler", "crank", 0.04)], "rocker": [("rocker", "ground", 0.1)]}
    for name, parent, x in chains[order] + chains["rocker" if order == "crank" else "crank"]:
        place = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        axis = np.array([0.0, 0.0, signs[name]])
        made[name] = model.addJoint(made[parent], pin.JointModelRevoluteUnaligned(axis), place, name)
    for name, x in (("coupler", 0.12), ("rocker", 0.08)):
        place = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        model.addFrame(pin.Frame(f"{name}_end", made[name], 0, place, pin.FrameType.OP_FRAME))
    robot = Robot(model)
    return ConstraintSet(robot, [PointClosure(robot, "coupler_end", "rocker_end", name="tip")])


@pytest.mark.parametrize("order", ["crank", "rocker"])
@pytest.mark.parametrize("crank_sign", [1.0, -1.0])
@pytest.mark.parametrize("other_sign", [1.0, -1.0])
def test_branches_are_those_of_norton_in_any_order(order: str, crank_sign: float, other_sign: float) -> None:
    """Whichever joint is the first in the model, and whatever axes they have: seen against the axis of the crank."""
    rows = linkage_of_axes(order, {"crank": crank_sign, "coupler": other_sign, "rocker": other_sign})
    robot = rows.robot
    start = robot.configuration(
        {"crank": np.radians(40.0), "coupler": -0.1, "rocker": crank_sign * other_sign * np.radians(57.0)}
    )
    q = assemble_position(rows, start, driven=["crank"], options=AssemblyOptions(tolerance=1e-12)).or_raise().q
    loop = explicit_loops(rows, q, preferred=["crank"])["tip"]
    assert loop.independent == ("crank",)
    rocker = [robot.space.factors[i].name for i in (loop.outputs.v)].index("rocker")
    here = crank_sign * other_sign * float(q[robot.slice_of("rocker")][0])
    errors = {b: 1.0 - np.cos(rocker_of_norton(np.radians(40.0), b) - here) for b in ("open", "crossed")}
    assert loop.elbow is ElbowSide[min(errors, key=lambda b: errors[b]).upper()]
    for branch in ("open", "crossed"):
        on = loop.with_elbow(branch)
        for crank in np.linspace(-3.0, 3.0, 13):
            found = crank_sign * other_sign * on.function.value([crank])[rocker]
            assert np.cos(rocker_of_norton(crank, branch) - found) == pytest.approx(1.0, abs=1e-12)


def test_dead_points_of_norton_driven_at_the_rocker() -> None:
    """Norton's crank-rocker driven at the rocker: dead at 54.900 and 128.682 deg, crank at 24.147, 231.318."""
    driven = norton("rocker")
    d, a, b, c = (NORTON[bar] for bar in ("ground", "crank", "coupler", "rocker"))
    for reach, degrees, crank, inside in ((b + a, 54.900, 24.147, 1.0), (b - a, 128.682, 231.318, -1.0)):
        dead = pi - np.arccos((d * d + c * c - reach * reach) / (2 * d * c))
        assert np.degrees(dead) == pytest.approx(degrees, abs=6e-4)
        near = driven.value([dead + inside * 1e-10])  # there both branches meet
        assert abs((np.degrees(near[0]) - crank + 180.0) % 360.0 - 180.0) < 6e-3
        for beyond in (0.0, 1e-9, 0.3):
            with pytest.raises(UndefinedError, match="form no triangle"):
                driven.value([dead - inside * beyond])


@pytest.mark.parametrize("driven", ["crank", "coupler", "rocker"])
def test_both_branches_close_the_loop_and_keep_to_their_side(driven: str) -> None:
    """Each branch closes, whichever joint is driven; the middle hinge is on the side that its name says.

    The path starts on the chain of the driver: at the rocker, where that is driven.
    """
    linkage = mechanisms.four_bar(**NORTON, angle=np.radians(40.0))
    robot, rows = linkage.robot, linkage.constraint_set()
    loop = explicit_loops(rows, linkage.postures["closed"], preferred=[driven])["coupler_end to rocker_end"]
    corners = {
        "crank": ("coupler", "rocker_end", "rocker"),
        "coupler": ("crank", "rocker_end", "rocker"),
        "rocker": ("rocker_end", "coupler", "crank"),
    }[driven]
    start = linkage.postures["closed"][robot.slice_of(driven)]
    for branch, side in ((ElbowSide.OPEN, 1.0), (ElbowSide.CROSSED, -1.0)):
        on = loop.with_elbow(branch)
        assert on.elbow is branch
        for angle in start + np.linspace(-0.3, 0.3, 5)[:, None]:
            q = robot.neutral
            q[robot.slice_of(driven)] = angle
            try:
                q[on.outputs.q_indices] = on.function.value(angle)
            except UndefinedError:
                continue
            assert np.abs(rows.position_error(q)).max() < 1e-14
            a, b, c = (robot.at(q).placement(corner).translation[:2] for corner in corners)
            assert side * ((c - a)[0] * (b - a)[1] - (c - a)[1] * (b - a)[0]) > 0.0


def test_five_bar_with_both_inputs() -> None:
    """A five-bar driven at both pivots: the two circles of the outer bars meet at the closure, by branch."""
    linkage = mechanisms.five_bar()
    robot, rng = linkage.robot, np.random.default_rng(0)
    (loop,) = linkage.explicit_loops(linkage.postures["closed"]).loops
    assert loop.independent == ("left_inner", "right_inner")
    assert loop.elbow is ElbowSide.OPEN
    for left, right in np.array([2.2, 0.9]) + 0.2 * rng.standard_normal((20, 2)):
        elbows = [np.array([x + 0.25 * np.cos(t), 0.25 * np.sin(t)]) for x, t in ((-0.15, left), (0.15, right))]
        along = elbows[1] - elbows[0]
        half = 0.5 * np.linalg.norm(along)
        up = np.array([-along[1], along[0]]) / (2.0 * half) * np.sqrt(0.35**2 - half**2)
        for branch, tip in (("open", elbows[0] + 0.5 * along + up), ("crossed", elbows[0] + 0.5 * along - up)):
            on = loop.with_elbow(branch)
            q = robot.configuration(left_inner=left, right_inner=right)
            q[on.outputs.q_indices] = on.function.value([left, right])
            for end in ("left_outer_end", "right_outer_end"):
                np.testing.assert_allclose(robot.at(q).placement(end).translation[:2], tip, atol=1e-14)


def chain_of_hinges(seed: int, *, closure: str, turns: str) -> tuple[ConstraintSet, np.ndarray]:
    """Six hinges about one direction in space, their axes of either sign, and what closes them; closed by assembly."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal(3)
    normal /= np.linalg.norm(normal)
    model = pin.Model()
    box = pin.Inertia.FromBox(1.0, 0.2, 0.1, 0.1)
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, box, pin.SE3.Identity())

    def hinge(parent: int, R: np.ndarray, name: str) -> tuple[int, np.ndarray]:
        """A hinge whose axis in the base's frame is +-normal, on a parent whose axes are R in it, with any own axes."""
        own = pin.exp3(rng.standard_normal(3))
        if turns == "circle":  # pinocchio makes these about coordinate axes alone
            own = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal * rng.choice([-1.0, 1.0])).matrix()
        across = rng.standard_normal(3)
        across -= normal * (normal @ across)
        across *= 0.4 / np.linalg.norm(across)
        axis = own.T @ normal * rng.choice([-1.0, 1.0])
        joint: Any = pin.JointModelRUBZ() if turns == "circle" else pin.JointModelRevoluteUnaligned(axis)
        index = model.addJoint(parent, joint, pin.SE3(R.T @ own, R.T @ across), name)
        model.appendBodyToJoint(index, box, pin.SE3.Identity())
        return index, own

    a = b = base
    Ra = Rb = np.eye(3)
    for i in range(3):
        a, Ra = hinge(a, Ra, f"a{i}")
        b, Rb = hinge(b, Rb, f"b{i}")
    across = rng.standard_normal((2, 3))
    across = 0.4 * (across - np.outer(across @ normal, normal))
    turned = pin.exp3(0.7 * normal)
    for name, joint, R, place, own in (("end a", a, Ra, across[0], np.eye(3)), ("end b", b, Rb, across[1], turned)):
        model.addFrame(pin.Frame(name, joint, 0, pin.SE3(R.T @ own, R.T @ place), pin.FrameType.OP_FRAME))
    robot = Robot(model, "six hinges").without_bounds()
    made = {
        "point": lambda: PointClosure(robot, "end a", "end b", name="closure"),
        "pin": lambda: Closure(robot, "end a", "end b", Hinge.pin(normal), name="closure"),
        "ball": lambda: Closure(robot, "end b", "end a", Hinge.ball(), name="closure"),
        "weld": lambda: Closure(robot, "end a", "end b", name="closure"),
    }[closure]()
    rows = ConstraintSet(robot, [made])
    done = assemble_position(rows, robot.neutral, options=AssemblyOptions(tolerance=1e-12))
    assert done.success
    return rows, done.q


@pytest.mark.parametrize("closure", ["point", "pin", "ball", "weld"])
@pytest.mark.parametrize("turns", ["R", "circle"])
@pytest.mark.parametrize("seed", range(3))
def test_any_planar_loop_has_a_closed_form(closure: str, turns: str, seed: int) -> None:
    """Hinges about parallel axes in space on a body that moves: closed form, all laws of a Function, rows closed."""
    rows, q = chain_of_hinges(seed, closure=closure, turns=turns)
    robot = rows.robot
    (loop,) = explicit_loops(rows, q).loops
    assert isinstance(loop.function, PlanarLoop)
    assert len(loop.dependent) == (3 if closure == "weld" else 2)
    f, u = loop.function, loop.inputs
    rng = np.random.default_rng(seed)
    near = [f.inputs.integrate(q[u.q_indices], 0.05 * rng.standard_normal(f.inputs.nv)) for _ in range(4)]
    check_function(f, near)
    for x in near:
        moved = robot.space.random(rng, robot.bounds.lower.clip(-1, 1), robot.bounds.upper.clip(-1, 1))
        moved[u.q_indices] = x
        moved[loop.outputs.q_indices] = f.value(x)
        assert np.abs(rows.position_error(moved)).max() < 1e-13


@pytest.mark.parametrize("seed", a_few(range(4), 1))
def test_every_choice_of_inputs_has_a_closed_form(seed: int) -> None:
    """Each way to choose four of the six tree joints of a loop of seven hinges as inputs, where it is regular."""
    rows, q = chain_of_hinges(seed, closure="point", turns="R")
    names, made = [name for name in rows.robot.joint_names if name != "base"], 0
    for inputs in combinations(names, len(names) - 2):
        (loop,) = explicit_loops(rows, q, preferred=inputs).loops
        if set(loop.independent) != set(inputs):  # these do not determine the others here
            continue
        made += 1
        assert isinstance(loop.function, PlanarLoop)
        there = loop.function.value(q[loop.inputs.q_indices])
        np.testing.assert_allclose(there, q[loop.outputs.q_indices], atol=1e-9)
    assert made >= 12


def test_angles_go_on_over_whole_turns() -> None:
    """A crank turned three times around: continuous angles; the coupler's has the turns, the rocker's has none."""
    f = norton()
    values = np.array([f.value([t]) for t in np.linspace(0.0, 6 * pi, 2000)])
    assert np.abs(np.diff(values, axis=0)).max() < 0.03
    np.testing.assert_allclose(values[-1] - values[0], [-6 * pi, 0.0], atol=1e-11)


def test_laws_of_a_function_and_its_derivatives() -> None:
    """Value, Jacobian and drift of the four-bar and the five-bar by central differences, on both branches."""
    for branch in ("open", "crossed"):
        check_function(norton(branch=branch), np.linspace(-3.0, 3.0, 7)[:, None])
    linkage = mechanisms.five_bar()
    f = linkage.explicit_loops(linkage.postures["closed"]).loops[0].function
    check_function(f, [[2.2, 0.9], [2.0, 1.2], [1.5, 0.4]])


def test_branches_by_wrong_names() -> None:
    """A loop, or a branch, that is not there; a branch of a loop that has no closed form."""
    linkage = mechanisms.four_bar()
    rows, q = linkage.constraint_set(), linkage.postures["closed"]
    with pytest.raises(UnknownNameError, match="nearest names are coupler_end to rocker_end"):
        explicit_loops(rows, q, elbows={"coupler end": "open"})
    with pytest.raises(UnknownNameError, match="open"):
        explicit_loops(rows, q, elbows={"coupler_end to rocker_end": "opened"})
    slider = mechanisms.slider_crank()
    loops = slider.explicit_loops(slider.postures["closed"])
    assert isinstance(loops.loops[0].function, LoopFunction)
    with pytest.raises(OptionError, match="without a closed form"):
        loops.loops[0].with_elbow(ElbowSide.OPEN)


def test_the_gripper_and_the_five_bar_of_files_are_planar() -> None:
    """Five-bars of files: the fingers of the 2F-85 (a point), and a linkage closed by a weld."""
    for name, count in (("robotiq_2f85", 2), ("5bar_linkage", 1)):
        mechanism = load(path_of(name))
        loops = mechanism.explicit_loops(closed(name, mechanism)).loops
        assert [type(loop.function) for loop in loops] == [PlanarLoop] * count
