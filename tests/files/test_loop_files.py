"""Closures and contacts in files: problems, right-hand sides and reports come back to the last bit, or are refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from files.test_problem_files import again, assert_same_projections, assert_same_rows
from record_arguments import with_records

import constraints as lc
from constraints.__main__ import main
from constraints.errors import FileContentError, NotSavableError
from constraints.files import loops
from constraints.loops import (
    AssemblyOptions,
    Axes,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    HingeKind,
    PointClosure,
    PointContact,
    PoseClosure,
    PoseContact,
    PoseMap,
    RodClosure,
    SurfaceContact,
    assemble_position,
)
from constraints.models import load, mechanisms, sample_two_arms
from constraints.rows.row_owner import RowOwner
from constraints.solvers import Engine, LeastChange, NewtonEngine, SparseKKT
from constraints.solvers.projection.engines import USUAL
from liegroups import Rn

ROOT = Path(__file__).resolve().parent.parent.parent
TWO_ARMS = sample_two_arms()


def unit(seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=3)
    return x / np.linalg.norm(x)


def hinges() -> dict[str, Hinge]:
    """Every type of hinge, about axes that do not round well."""
    a, b = unit(1), unit(2)
    across = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
    return {
        "locked": Hinge.locked(),
        "pin": Hinge.pin(a),
        "slider": Hinge.slider(a),
        "helical": Hinge.helical(a, 0.0137),
        "universal": Hinge.universal(a, across),
        "hooke": Hinge.hooke(a, b),
        "cylindrical": Hinge.cylindrical(a),
        "two sliders": Hinge.two_sliders(a),
        "planar": Hinge.planar(a),
        "gimbal": Hinge.gimbal(),
        "ball": Hinge.ball(),
        "translational": Hinge.translational(),
        "custom": Hinge.custom([Hinge.pin(a), Hinge.slider(b), Hinge.hooke(a, b)]),
        "custom of custom": Hinge.custom([Hinge.custom([Hinge.pin(a), Hinge.slider(b)]), Hinge.pin(b)]),
        "free": Hinge.free(),
    }


def closure(hinge: Hinge) -> Closure:
    return Closure(TWO_ARMS, "left_tool", "right_tool", hinge, name="hands")


def wall() -> pin.SE3:
    return pin.SE3(pin.exp3(0.7 * unit(5)), np.array([0.3, 0.1, 0.7]))


def owners() -> dict[str, RowOwner]:
    """Each closure and contact, with each of its arguments."""
    robot, q = TWO_ARMS, TWO_ARMS.reference("home")
    tip = robot.frame("left_tool", wall())
    axes = np.zeros((3, 6))
    axes[0, :3], axes[1, 3:], axes[2, 3:] = [1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]
    return {
        "to the world": Closure(robot, None, "left_tool", name="held"),
        "to a placement": Closure(robot, wall(), tip, Hinge.ball()),
        "from a frame to the world": Closure(robot, tip, wall(), Hinge.pin(unit(3))),
        "masked": Closure.masked(robot, "left_tool", "right_tool", [True, False, False, True, True, False], name="m"),
        "along": Closure.along(robot, "left_tool", "right_tool", axes),
        "point closure": PointClosure(robot, tip, "right_tool"),
        "rod": RodClosure(robot, "left_tool", tip_of(), 0.31),
        "point": PointContact(robot, tip, axes=Axes.LOCAL).anchored(q),
        "point, world": PointContact(robot, "left_tool", anchor=[0.3, 0.2, 0.9]),
        "point along": PointContact(robot, "left_tool", unit(4)).anchored(q),
        "point along, local": PointContact(robot, tip, unit(4), [0.3, 0.2, 0.9], axes=Axes.LOCAL, name="sole"),
        "surface": SurfaceContact(robot, "left_tool", wall()),
        "surface, world": SurfaceContact(robot, tip, axes=Axes.LOCAL_WORLD_ALIGNED, name="foot").anchored(q),
        "surface, rates": SurfaceContact(robot, tip, axes=Axes.LOCAL_WORLD_ALIGNED, form=Form.RATES).anchored(q),
        "pin, rates": Closure(robot, "left_tool", "right_tool", Hinge.pin(unit(3)), form=Form.RATES),
        "point, masked": PointContact(robot, tip, mask=[True, False, True], axes=Axes.LOCAL).anchored(q),
        "point, one row": PointContact(robot, tip, mask=[True, False, False]).anchored(q),
        "point, error in the world": PointContact(
            robot, tip, axes=Axes.LOCAL, form=Form.RATES, error_axes=Axes.LOCAL_WORLD_ALIGNED
        ).anchored(q),
        "surface, masked": SurfaceContact(
            robot, tip, mask=[True, True, False, False, True, False], form=Form.RATES
        ).anchored(q),
    }  # fmt: skip


def tip_of() -> Any:
    return TWO_ARMS.frame("right_tool", wall())


def assert_same_motion(a: RowOwner, b: RowOwner) -> None:
    """Position, velocity and acceleration rows have the same bits."""
    robot, rng = TWO_ARMS, np.random.default_rng(6)
    one, other = (ConstraintSet(robot, [owner]) for owner in (a, b))
    for _ in range(3):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        for found in ("position_error", "jacobian"):
            assert getattr(one, found)(q).tobytes() == getattr(other, found)(q).tobytes(), found
        for found in ("velocity_error", "drift"):
            assert getattr(one, found)(q, v).tobytes() == getattr(other, found)(q, v).tobytes(), found


@pytest.mark.parametrize("name", a_few(hinges(), 8))
def test_closures_of_every_hinge_come_back(name: str, tmp_path: Path) -> None:
    """Mend 14: a closure of each type of hinge in a file: the same rows at all orders, the same projections, and the
    same bytes when it is saved again."""
    problem = lc.Problem(
        TWO_ARMS, [closure(hinges()[name]), lc.Implicit.equal(lc.Position(TWO_ARMS, "left_tool"), [0.4, 0.2, 0.9])]
    )
    other = again(problem, tmp_path)
    assert_same_rows(problem, other)
    assert_same_projections(problem, other, options=lc.Options(max_iterations=15))
    a, b = (p.constraints["hands"] for p in (problem, other))
    assert isinstance(a, Closure)
    assert isinstance(b, Closure)
    assert b.hinge.kind is a.hinge.kind
    assert repr(b) == repr(a)
    if a.group.nv:
        assert_same_motion(a, other_on_ours(b))
    text = (tmp_path / "problem.json").read_text()
    assert "constraints." not in text
    assert "dynamics" not in text
    other.save(tmp_path / "problem.json")
    assert (tmp_path / "problem.json").read_text() == text


def other_on_ours(owner: Any) -> RowOwner:
    """A closure or contact of a loaded robot on the robot of these tests, whose model is the same."""
    assert owner.robot.space.same_robot(TWO_ARMS.space)
    return owner


@pytest.mark.parametrize("name", owners())
def test_closures_and_contacts_come_back(name: str, tmp_path: Path) -> None:
    """Mend 14: each closure and anchored contact, to frames, placements and the world, in both axes."""
    problem = lc.Problem(TWO_ARMS, [owners()[name]])
    other = again(problem, tmp_path)
    assert_same_rows(problem, other)
    assert_same_projections(problem, other, options=lc.Options(max_iterations=15))
    a, b = (p.constraints[0] for p in (problem, other))
    assert type(b) is type(a)
    assert_same_motion(a, other_on_ours(b))


@pytest.mark.parametrize("where", ["lifted by the problem", "lifted by hand"])
def test_lifted_closures_come_back(where: str, tmp_path: Path) -> None:
    """Mend 14: closures and contacts on a space of which the robot's is a factor, beside explicit constraints."""
    space = TWO_ARMS.space * Rn(2)
    hands, foot = closure(hinges()["hooke"]), owners()["surface"]
    rows: list[RowOwner] = [hands, foot] if "problem" in where else [hands.on(space), foot.on(space)]
    elbow = lc.linear_coupling(TWO_ARMS, "left_elbow", {"right_elbow": -0.5}, name="gear")
    problem = lc.Problem(space, [[*rows, elbow], [lc.Implicit.equal(lc.Affine(np.eye(2)), [0.1, 0.2], name="rest")]])
    other = again(problem, tmp_path)
    assert_same_rows(problem, other)
    assert_same_projections(problem, other, options=lc.Options(max_iterations=15))
    assert other.constraints["hands"].space == space


def test_what_a_user_changes_afterwards_is_not_saved(tmp_path: Path) -> None:
    """Mend 14: a file holds what closures and contacts hold, not arrays that were changed since."""
    axis, normal, anchor = unit(1), unit(2), np.array([0.3, 0.2, 0.9])
    rows = [closure(Hinge.pin(axis)), PointContact(TWO_ARMS, "left_tool", normal, anchor)]
    problem = lc.Problem(TWO_ARMS, rows)
    before = problem.error(TWO_ARMS.reference("home"))
    axis[:], normal[:], anchor[:] = [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], 0.0
    assert again(problem, tmp_path).error(TWO_ARMS.reference("home")).tobytes() == before.tobytes()


def test_axes_keep_their_bits() -> None:
    """Mend 14: an axis that was normalised is not normalised again, or its last bits would move in each file."""
    rng = np.random.default_rng(0)
    for x in rng.normal(size=(2000, 3)):
        once = Hinge.pin(x / np.linalg.norm(x) * (1.0 + 5e-7)).subhinges[0].axis
        assert Hinge.pin(once).subhinges[0].axis.tobytes() == once.tobytes()
        assert abs(np.linalg.norm(once) - 1.0) < 1e-15


def files_of_models() -> list[Path]:
    folder = ROOT / "tests" / "data" / "mechanisms"
    return sorted(path for end in ("*.sdf", "*.xml") for path in folder.rglob(end))[:6]


@pytest.mark.parametrize(
    "make",
    [mechanisms.four_bar, mechanisms.five_bar, mechanisms.stewart_platform, *files_of_models()],
    ids=lambda make: getattr(make, "__name__", getattr(make, "stem", "")),
)
def test_problems_of_mechanisms_come_back(make: Any, tmp_path: Path) -> None:
    """Mend 14: `mechanism.problem()` of built-in mechanisms and of files with closures, couplers and contacts."""
    mechanism = load(make) if isinstance(make, Path) else make()
    problem = mechanism.problem()
    other = again(problem, tmp_path)
    assert_same_rows(problem, other)
    assert_same_projections(problem, other, 1, lc.Options(max_iterations=10))


def test_right_hand_sides_beside_closures_come_back(tmp_path: Path) -> None:
    """Mend 14: right-hand sides of a problem with closures, onto this problem and onto the loaded one."""
    goal = lc.Implicit.equal(lc.Position(TWO_ARMS, "left_tool"), [0.4, 0.2, 0.9], name="goal")
    problem = lc.Problem(TWO_ARMS, [closure(Hinge.ball()), goal, owners()["surface"]])
    rhs = problem.rhs.replace("goal", [0.3, 0.3, 0.8])
    rhs.save(tmp_path / "rhs.json")
    other = again(problem, tmp_path)
    for p in (problem, other):
        assert lc.RightHandSide.load(tmp_path / "rhs.json", p.constraints).vector.tobytes() == rhs.vector.tobytes()


@pytest.mark.program
def test_files_are_the_same_in_another_process(tmp_path: Path) -> None:
    """Mend 14: a process that has imported nothing else reads closures and contacts, and writes the same bytes."""
    lc.Problem(TWO_ARMS, [closure(hinges()["custom"]), owners()["point along"]]).save(tmp_path / "a.json")
    program = "import sys; from constraints import Problem; Problem.load(sys.argv[1]).save(sys.argv[2])"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    subprocess.run(command, check=True, env=environment)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


# Reports


def test_projections_with_closures_are_reported_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mend 14: a report of a projection, and of a row of a batch, is replayed bit for bit, here and by the command."""
    problem = lc.Problem(TWO_ARMS, [closure(Hinge.pin(unit(1))), owners()["point"]])
    starts = np.array([TWO_ARMS.random(np.random.default_rng(i)) for i in range(3)])
    projector = lc.Projector(problem, lc.Options(max_iterations=30))
    for found in (projector.project(starts[0]), projector.project_batch(starts)[1]):
        found.report(tmp_path / "case.json")
        report = lc.Report.load(tmp_path / "case.json")
        assert report.differences(report.reproduce()) == ()
        assert main(["project", str(tmp_path / "case.json")]) == 0
        assert "\nthe same as reported, bit for bit" in capsys.readouterr().out
    problem.save(tmp_path / "problem.json")
    main(["describe", str(tmp_path / "problem.json")])
    assert "'hands' in R5" in capsys.readouterr().out


@pytest.mark.parametrize("case", ["plain", "costs of zero", "sparse", "bounds"])
def test_assemblies_are_reported_and_replayed(case: str, tmp_path: Path) -> None:
    """Mend 14: an assembly is replayed with the engine that solved it, also where that is not the projector's own."""
    bar = mechanisms.five_bar()
    given: dict[str, dict[str, Any]] = {
        "plain": {},
        "costs of zero": {"weights": {"left_inner": 1.0, "right_inner": 0.0, "left_outer": 0.0, "right_outer": 0.0}},
        "sparse": {"engine": NewtonEngine(SparseKKT)},
        "bounds": {"bounds": bar.robot.bounds, "driven": ["left_inner"]},
    }
    start = bar.posture("closed") + np.array([0.05, -0.1, 0.08, 0.02])
    done = assemble_position(
        bar.constraint_set(), start, **with_records(given[case], options=AssemblyOptions)
    ).or_raise()
    done.projection.report(tmp_path / "case.json")
    report = lc.Report.load(tmp_path / "case.json")
    assert report.differences(report.reproduce()) == ()
    named = case in ("costs of zero", "sparse") or USUAL == "compiled"
    assert ("engine" in json.loads((tmp_path / "case.json").read_text())) == named


@pytest.mark.parametrize(("is_sparse", "step"), [(True, SparseKKT), (False, LeastChange), (None, LeastChange)])
def test_reports_that_name_a_loop_engine_are_read(is_sparse: bool | None, step: Any, tmp_path: Path) -> None:
    """House: an engine as reports said it before engines had steps; undecided, it is sparse where that pays."""
    bar, path = mechanisms.five_bar(), tmp_path / "case.json"
    start = bar.posture("closed") + np.array([0.05, -0.1, 0.08, 0.02])
    done = assemble_position(bar.constraint_set(), start, options=AssemblyOptions(engine=NewtonEngine(step))).or_raise()
    done.projection.report(path)
    data = json.loads(path.read_text())
    data["engine"] = {"type": "LoopEngine", "is_sparse": is_sparse}
    path.write_text(json.dumps(data))
    report = lc.Report.load(path)
    assert isinstance(report.engine, NewtonEngine)
    assert report.engine.step is step
    assert report.differences(report.reproduce()) == ()


# What is refused


class OwnEngine(Engine):
    """An engine that no file can name."""

    def compile(self, problem: lc.Problem, options: lc.Options) -> Any:
        return NewtonEngine(LeastChange).compile(problem, options)


def test_what_is_not_data_is_refused_by_name(tmp_path: Path) -> None:
    """Mend 14: targets, functions of closures, engines of one's own: NotSavableError, and no file appears."""
    leg = RodClosure(TWO_ARMS, "left_tool", "right_tool", lc.Target(lambda t: [0.4 + 0.1 * t]), name="leg")
    with pytest.raises(NotSavableError, match=r"constraint 'leg'.*a Target"):
        lc.Problem(TWO_ARMS, [leg]).save(tmp_path / "problem.json")
    hands = closure(Hinge.pin())
    with pytest.raises(
        NotSavableError, match=r"'rows' cannot be saved: .*function of a closure or contact: use that object itself"
    ):
        lc.Problem(TWO_ARMS, [lc.Implicit.between(hands.function, -0.1, 0.1, name="rows")]).save(
            tmp_path / "problem.json"
        )
    done = lc.Projector(lc.Problem(TWO_ARMS, [hands]), lc.Options.local(), OwnEngine()).project(TWO_ARMS.neutral)
    with pytest.raises(NotSavableError, match="its engine is a OwnEngine"):
        done.report(tmp_path / "case.json")
    assert not list(tmp_path.iterdir())


def broken() -> dict[str, tuple[str, Callable[[dict[str, Any]], object], str]]:
    """A closure or contact, what is done to its entries, what is said."""
    deep: dict[str, Any] = {"type": "custom", "subhinges": []}
    for _ in range(400):
        deep = {"type": "custom", "subhinges": [deep]}
    return {
        "an unknown hinge": ("hands", lambda d: d.update(hinge={"type": "pinn"}), r"hinge\.type: .*pin"),
        "an axis that is not unit": ("hands", lambda d: d["hinge"].update(axis=[0, 0, 2]), r"\.hinge: .*unit"),
        "two numbers": ("hands", lambda d: d["hinge"].update(axis=[0, 1]), r"\.hinge\.axis: expected 3 numbers"),
        "no axis": ("hands", lambda d: d["hinge"].pop("axis"), r"\.hinge: has no entry 'axis'"),
        "another entry": ("hands", lambda d: d["hinge"].update(pitch=1.0), r"\.hinge: has the entry 'pitch'"),
        "hinges in hinges": ("hands", lambda d: d.update(hinge=deep), r"subhinges\[0\]\.type: expected one of locked"),
        "freedoms that repeat": (
            "hands",
            lambda d: d.update(hinge={"type": "custom", "subhinges": [{"type": "ball"}, {"type": "gimbal"}]}),
            r"\.hinge: .*only 3",
        ),
        "one held rotation": (
            "hands",
            lambda d: d.update(hinge={"type": "composed", "axes": [[0, 0, 0, 1, 0, 0]]}),
            r"\.hinge: one rotation is held",
        ),
        "frames on one joint": ("hands", lambda d: d.update(successor=d["predecessor"]), "both on joint"),
        "a joint that is not there": ("hands", lambda d: d["predecessor"].update(joint=77), "is not a frame of"),
        "a target": ("hands", lambda d: d.update(target=[0.0]), "the entry 'target', which is unknown"),
        "no robot": ("hands", lambda d: d.pop("robot"), "has no entry 'robot'"),
        "a space without the robot": ("hands", lambda d: d.update(space="R3"), "space"),
        "a negative length": ("leg", lambda d: d.update(length=-1.0), "expected a positive number"),
        "a length in words": ("leg", lambda d: d.update(length="long"), r"\.length: expected a number"),
        "no anchor": ("sole", lambda d: d.pop("anchor"), "sole"),
        "other axes": ("sole", lambda d: d.update(axes="WORLD"), r"\.axes: expected one of LOCAL, LOCAL_WORLD_ALIGNED"),
        "another type": ("sole", lambda d: d.update(type="PointContct"), "PointContact"),
    }  # fmt: skip


def test_hinges_are_saved_by_their_constructors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kind whose constructor is not called as it is: a bare `KeyError`; all kinds there are have one."""
    assert set(loops._HINGES) == {kind.name.lower() for kind in HingeKind}  # pyright: ignore[reportPrivateUsage]
    robot = sample_two_arms()
    problem = lc.Problem(robot, [Closure(robot, "left_tool", "right_tool", Hinge.pin([0.0, 0.0, 1.0]), name="grip")])
    monkeypatch.delitem(loops._HINGES, "pin")  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(NotSavableError, match=r"no constructor Hinge\.pin makes its kind again"):
        problem.save(tmp_path / "problem.json")


@pytest.mark.parametrize("case", broken())
def test_broken_closures_and_contacts_are_refused_with_their_place(case: str, tmp_path: Path) -> None:
    """Mend 14: what is wrong in a file is a FileContentError with the place, whatever it is."""
    name, change, said = broken()[case]
    leg = RodClosure(TWO_ARMS, "left_tool", "right_tool", 0.3, name="leg")
    problem = lc.Problem(TWO_ARMS, [closure(Hinge.pin()), leg, owners()["point along, local"]])
    problem.save(tmp_path / "problem.json")
    data = json.loads((tmp_path / "problem.json").read_text())
    entries = next(entry for entry in data["levels"][0] if entry["name"] == name)
    change(entries)
    (tmp_path / "problem.json").write_text(json.dumps(data))
    with pytest.raises(FileContentError, match=said) as caught:
        lc.Problem.load(tmp_path / "problem.json")
    assert caught.value.place.startswith("$")


@dataclass(frozen=True)
class OnEllipsoid(PoseMap):
    """The origin of b on a body of revolution: what a map of this library would look like to files."""

    radius: float
    height: float | None = None
    is_outside: bool = True

    size = 1

    def value(self, pose: Any, out: Any, D: Any = None) -> None:
        p = pose.translation * self.weights
        out[0] = p @ pose.translation - 1.0
        if D is not None:
            D[0, :3] = 2.0 * p @ pose.rotation

    def second(self, pose: Any, twist: Any, acceleration: Any, out: Any) -> None:
        v = pose.rotation @ twist[:3]
        a = pose.rotation @ (acceleration[:3] + np.cross(twist[3:], twist[:3]))
        out[0] = 2.0 * (v @ (self.weights * v) + pose.translation @ (self.weights * a))

    @property
    def weights(self) -> np.ndarray:
        return np.array([self.radius, self.radius, self.height or self.radius]) ** -2.0


@dataclass(frozen=True)
class Coloured(OnEllipsoid):
    """With a field that no file knows."""

    colour: complex = 1j


def test_maps_of_poses_are_saved_by_their_fields(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of those that this library has; entries that are left out are the defaults, and one is required."""
    for kind in (OnEllipsoid, Coloured):
        monkeypatch.setitem(loops.MAPS, kind.__name__, kind)
    path, maps = tmp_path / "problem.json", (OnEllipsoid(0.3), OnEllipsoid(0.3, 0.0137, False))
    bowl = PoseContact(TWO_ARMS, "left_tool", maps[0], [0.4, 0.1, 0.5, 0.0, 0.0, 0.0, 1.0], name="bowl")
    tether = PoseClosure(TWO_ARMS, "left_tool", "right_tool", maps[1], name="tether")
    problem = lc.Problem(TWO_ARMS, [bowl, tether])
    loaded = again(problem, tmp_path)
    assert_same_rows(problem, loaded)
    assert_same_projections(problem, loaded, 1)
    assert tuple(owner.pose_map for owner in loaded.constraints) == maps  # type: ignore[attr-defined]
    data = json.loads(path.read_text())
    entries = data["levels"][0][1]["pose_map"]
    assert entries == {"type": "OnEllipsoid", "radius": 0.3, "height": 0.0137, "is_outside": False}
    assert data["levels"][0][0]["pose_map"] == {"type": "OnEllipsoid", "radius": 0.3, "is_outside": True}
    del entries["height"], entries["is_outside"]
    path.write_text(json.dumps(data))
    assert lc.Problem.load(path).constraints["tether"].pose_map == maps[0]  # type: ignore[attr-defined]
    for change, said in (
        (lambda d: d.pop("radius"), r"\.pose_map: has no entry 'radius'"),
        (lambda d: d.update(width=0.1), r"\.pose_map: has the entry 'width'"),
        (lambda d: d.update(radius=0.3, type="OnEllipsod"), r"exports \(there: OnEllipsoid\)"),
    ):
        change(entries)
        path.write_text(json.dumps(data))
        with pytest.raises(FileContentError, match=said):
            lc.Problem.load(path)
        entries.update(radius=0.3)
        entries.pop("width", None)
    odd = PoseContact(TWO_ARMS, "left_tool", Coloured(0.3), name="odd")
    with pytest.raises(NotSavableError, match=r"its Coloured has a field 'colour' of a type \(complex\) that files"):
        lc.Problem(TWO_ARMS, [odd]).save(path)
