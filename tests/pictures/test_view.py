"""Robots in a browser: what is read of their files, where it is drawn, what the slider shows, what a page holds."""

from __future__ import annotations

import io
import socket
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from models.test_visuals import crane_in
from numpy.testing import assert_allclose
from pictures.test_readable import modes

from constraints import Base, Implicit, Pose, Position, Problem, Projector, Robot, rigid_transform
from constraints.__main__ import main
from constraints.dynamics import simulate
from constraints.errors import FileError, MissingExtraError, OptionError, WrongObjectError
from constraints.loops import assemble_position
from constraints.manipulation import Shape, interpolate, read_scene
from constraints.models import mechanisms, sample_arm
from constraints.models.files.visuals import visuals_of
from constraints.models.structure.visual_shapes import Mesh, Solid
from constraints.pictures import Drawing, PageOptions, show
from constraints.pictures.browser.film import Film
from constraints.pictures.browser.films import film_of
from constraints.pictures.browser.meshes import Meshes, between
from constraints.pictures.browser.view import View
from constraints.robot import Part
from constraints.robot.files.packages import VisualFile

pytest.importorskip("viser", reason='no viser: pip install "lie-constraints[view]"')

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def crane(tmp_path: Path) -> Path:
    return crane_in(tmp_path)


def nodes(view: View) -> dict[str, Any]:
    """The nodes of the scene by name."""
    return view._server.scene._handle_from_node_name  # pyright: ignore[reportPrivateUsage]


def pose_of(view: View, name: str) -> pin.SE3:
    """Where a node is in the world: the product of the poses of the nodes above it."""
    pose, known, parts = pin.SE3.Identity(), nodes(view), name.split("/")
    for i in range(2, len(parts) + 1):
        node = known.get("/".join(parts[:i]))
        if node is not None:
            w, x, y, z = node.wxyz
            pose = pose * pin.SE3(pin.Quaternion(w, x, y, z).normalized().matrix(), np.array(node.position))
    return pose


# What is read.


def test_a_system_keeps_the_visual_files_of_its_parts(crane: Path) -> None:
    part = Robot.from_urdf(crane)
    placed = [Part("left", part), Part("right", part, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0]), Part("bare", sample_arm())]
    system = Robot.system(placed)
    assert [file.prefix for file in system.visuals] == ["left/", "right/"]
    with show(system, page=PageOptions(port=0)) as view:
        boom = pose_of(view, "/joints/3 right.turn/right.boom 1")
        assert_allclose(boom.homogeneous, _placed(system, view.q, "right/boom", 1).homogeneous, atol=1e-6)
        sticks = [name for name in nodes(view) if name.startswith("/sticks/")]
        assert sticks
        assert all(" bare." in name for name in sticks)


def _placed(robot: Robot, q: Any, link: str, i: int) -> Any:
    """Where the i-th visual of the file of a link's part is."""
    prefix, _, name = link.rpartition("/")
    file = next(file for file in robot.visuals if file.prefix == (f"{prefix}/" if prefix else ""))
    visual = visuals_of(file).found[i]
    assert visual.link == name
    return robot.at(q).placement(link) * visual.placement


def test_visuals_that_are_none_are_refused() -> None:
    with pytest.raises(WrongObjectError, match="visuals 0 of a robot"):
        Robot(sample_arm().model, visuals=["arm.urdf"])  # pyright: ignore[reportArgumentType]
    with pytest.raises(FileError, match="nothing\\.urdf"):
        VisualFile.of("nothing.urdf")


def test_colours_of_meshes_are_kept_and_none_is_a_metal(tmp_path: Path) -> None:
    """A file with colours is sent as it is, scaled, and is rough; one that is drawn in another colour as triangles."""
    trimesh, made = pytest.importorskip("trimesh"), list[Any]()
    (tmp_path / "red.mtl").write_text("newmtl red\nKd 1 0 0\n")
    box = trimesh.creation.box(extents=(1.0, 2.0, 4.0))
    lines = [f"v {x} {y} {z}" for x, y, z in box.vertices] + [f"f {a} {b} {c}" for a, b, c in box.faces + 1]
    (tmp_path / "box.obj").write_text("mtllib red.mtl\nusemtl red\n" + "\n".join(lines))
    scene = SimpleNamespace(add_glb=lambda name, glb, **style: made.append((glb, style)),
                            add_mesh_simple=lambda *_, **style: made.append(style))  # fmt: skip
    meshes, mesh = Meshes(), Mesh(str(tmp_path / "box.obj"), (2.0, 1.0, 0.5))
    for bare in (False, True):
        corners = meshes.add(scene, "it", pin.SE3.Identity(), mesh, (0.0, 1.0, 0.0, 1.0), bare=bare)
        assert_allclose([corners.min(axis=0), corners.max(axis=0)], [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
    (glb, style), plain = made
    (part,) = trimesh.load_scene(io.BytesIO(glb), file_type="glb").geometry.values()
    assert (style["scale"], plain["color"]) == ((2.0, 1.0, 0.5), (0, 255, 0))
    assert (part.visual.material.metallicFactor, part.visual.material.roughnessFactor) == (0.0, 0.6)
    assert part.visual.material.baseColorFactor.tolist() == [255, 0, 0, 255]


# What is drawn, and where.


def test_links_move_with_their_joints(crane: Path) -> None:
    robot = Robot.from_urdf(crane)
    with show(robot, page=PageOptions(port=0)) as view:
        assert view.missing == ()
        assert_allclose(view.q, [0.25, 0.0])  # neutral, moved into the bounds
        for q in ([0.25, 0.0], [1.2, 0.4]):
            view.q = q
            assert_allclose(view.q, q)
            for i, link in enumerate(("base", "boom", "boom", "hook", "hook")):
                (name,) = (name for name in nodes(view) if name.endswith(f"/{link} {i}"))
                assert_allclose(pose_of(view, name).homogeneous, _placed(robot, q, link, i).homogeneous, atol=1e-6)


def test_what_is_not_drawn_is_said(crane: Path, caplog: pytest.LogCaptureFixture) -> None:
    (crane.parents[1] / "meshes" / "hook.stl").write_text("no mesh")
    with show(Robot.from_urdf(crane), page=PageOptions(port=0)) as view:
        (reason,) = view.missing
        assert "link 'hook'" in reason
        assert "hook.stl" in reason
        assert sum("/joints/" in name for name in nodes(view)) == 2 + 3  # what can be drawn is
    assert "hook.stl" in caplog.text


def test_robots_without_geometry_are_sticks() -> None:
    robot = sample_arm()
    q = robot.reference("home")
    with show(robot, "home", page=PageOptions(port=0)) as view:
        bars = [node for name, node in nodes(view).items() if name.startswith("/sticks/")]
        colours = [bar.color for bar in bars]  # the one on the ground is grey
        assert colours == [(176, 176, 176)] + [(0, 114, 178)] * (len(bars) - 1)
        ends = robot.at(q).placed().oMi
        tool = robot.at(q).placement("tool").translation
        tips = []
        for bar in bars:
            w, x, y, z = bar.wxyz
            along = pin.Quaternion(w, x, y, z).matrix()[:, 2] * bar.scale[2]
            tips += [np.array(bar.position) + side * 0.5 * along for side in (-1.0, 1.0)]
        for point in [*(np.array(oMi.translation) for oMi in list(ends)[1:]), tool]:
            assert min(np.linalg.norm(tip - point) for tip in tips) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_bars_go_from_end_to_end(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, 20, 3))
    b[0], b[1], b[2] = a[0], a[1] - [0.0, 0.0, 2.0], a[2] + [0.0, 0.0, 1.0]
    middles, turned, lengths = between(a, b)
    for p, q, middle, (w, x, y, z), length in zip(a, b, middles, turned, lengths, strict=True):
        along = pin.Quaternion(w, x, y, z).matrix()[:, 2] * length
        assert_allclose(middle - 0.5 * along, p, atol=1e-9)
        assert_allclose(middle + 0.5 * along, q, atol=1e-9)


def test_rods_of_closures_are_seen_where_they_are_open() -> None:
    linkage = mechanisms.four_bar()
    with show(linkage, page=PageOptions(port=0)) as view:
        assert_allclose(view.q, linkage.posture("closed"))
        (rod,) = (node for name, node in nodes(view).items() if name.startswith("/closures/"))
        assert not rod.visible
        view.q = q = linkage.posture("closed") + np.array([0.0, 0.3, 0.0])
        posture, (closure,) = linkage.robot.at(q), linkage.closures
        a, b = (np.array(posture.placement(frame).translation) for frame in (closure.predecessor, closure.successor))  # type: ignore[attr-defined]
        assert rod.visible
        assert rod.scale[2] == pytest.approx(np.linalg.norm(b - a), rel=1e-6)
        assert_allclose(rod.position, 0.5 * (a + b), atol=1e-6)


def test_shapes_and_frames_are_drawn() -> None:
    robot = sample_arm()
    box = Shape("table", "Box", (1.0, 1.0, 0.1), placement=[0.5, 0.0, -0.05, 0.0, 0.0, 0.0, 1.0])
    with show(robot, drawing=Drawing(shapes=[box], frames=["tool"]), page=PageOptions(port=0)) as view:
        assert_allclose(pose_of(view, "/world/shape 0 table").translation, [0.5, 0.0, -0.05])
        tool = next(name for name in nodes(view) if name.endswith("/frame tool"))
        placed = robot.at(view.q).placement("tool")
        assert_allclose(pose_of(view, tool).homogeneous, placed.homogeneous, atol=1e-6)


@pytest.mark.parametrize(
    ("thing", "look"), [(sample_arm(), (0.62, -1.0, 0.42)), (mechanisms.four_bar(), (0.0, -0.05, 1.0))]
)
def test_a_page_looks_at_all_of_it_from_its_front(thing: Any, look: tuple[float, ...]) -> None:
    """Every joint has a ball; the camera is no further away than it must; names stand above, the floor is wide."""
    with show(thing, page=PageOptions(port=0)) as view:
        region, server, floor = view.stage.region, view._server, nodes(view)["/world/floor"]  # pyright: ignore[reportPrivateUsage]
        camera = server.initial_camera
        away = np.array(camera.position) - region.middle
        assert_allclose(camera.look_at, region.middle)
        assert_allclose(away / np.linalg.norm(away), np.array(look) / np.linalg.norm(look), atol=1e-6)
        assert 1.0 < np.linalg.norm(away) * np.tan(0.5 * camera.fov) / region.reach < 1.5
        assert 0.0 < camera.near < 0.1 * np.linalg.norm(away) < 10.0 * np.linalg.norm(away) < camera.far
        above = np.array(view.stage.label.position) - region.middle
        assert region.reach < above.max() < 1.2 * region.reach
        assert above[1 if look[2] > 0.9 else 2] == above.max()
        assert (floor.section_size, floor.cell_size) == (region.grid, 0.5 * region.grid)
        assert 2.0 * region.width < floor.width == floor.height
        assert not view.stage.label.visible
        found = {name: node.vertices for name, node in nodes(view).items() if "/ball " in name}
        balls = np.array([pose_of(view, name).translation for name in found])
        assert {node.flat_shading for name, node in nodes(view).items() if "/ball " in name} == {False}
        assert all(0.5 < np.ptp(ball, axis=0).max() / view.stage.thickness / 2.0 < 1.0 for ball in found.values())
        for oMi in list(view.robot.at(view.q).placed().oMi)[1:]:
            assert np.linalg.norm(balls - np.array(oMi.translation), axis=1).min() < 1e-6
        view.play()
        assert not view._playing.is_set()  # there is one configuration


@pytest.mark.parametrize(
    ("kind", "size", "half"),
    [("box", (1.0, 2.0, 4.0), (0.5, 1.0, 2.0)), ("sphere", (1.5,), (1.5,) * 3),
     ("cylinder", (0.5, 3.0), (0.5, 0.5, 1.5)), ("capsule", (0.5, 3.0), (0.5, 0.5, 2.0)),
     ("ellipsoid", (1.0, 2.0, 3.0), (1.0, 2.0, 3.0))],
)  # fmt: skip
def test_solids_are_as_large_as_they_say(kind: str, size: tuple[float, ...], half: tuple[float, ...]) -> None:
    """Around their middle; what is round is shaded so; a colour has 255 steps, and what is clear has an opacity."""
    made = list[Any]()
    scene = SimpleNamespace(add_mesh_simple=lambda *_, **style: made.append(style))
    seat = pin.SE3(pin.utils.rotate("z", np.pi / 2), np.array([1.0, 2.0, 3.0]))
    for alpha in (1.0, 0.4):
        corners = Meshes().add(scene, "it", seat, Solid(kind, size), (1.0, 0.5, 0.0, alpha))
        assert_allclose(np.ptp(corners, axis=0), 2.0 * np.array([half[1], half[0], half[2]]), rtol=0.02)
        assert_allclose(corners.mean(axis=0), seat.translation, atol=1e-6)
    assert [(each["color"], each["opacity"]) for each in made] == [((255, 128, 0), None), ((255, 128, 0), 0.4)]
    assert made[0]["flat_shading"] == (kind in ("box", "cylinder"))


def test_sticks_of_parts_have_colours_of_their_own() -> None:
    arm = sample_arm()
    system = Robot.system([Part("a", arm), Part("b", arm)])
    with show(system, page=PageOptions(port=0)) as view:
        bars = {name: node.color for name, node in nodes(view).items() if name.startswith("/sticks/")}
        for part, colour in (("a", (0, 114, 178)), ("b", (230, 159, 0))):
            assert {bars[name] for name in bars if f" {part}." in name} == {colour}


# The film.


def test_configurations_are_the_steps_of_the_slider() -> None:
    robot = sample_arm()
    Q = robot.random(np.random.default_rng(0), 5)
    with show(robot, Q, labels=[*"abcde"], page=PageOptions(port=0)) as view:
        assert (len(view.film), view.step, view.label) == (5, 0, "a")
        for i in (4, 2):
            view.step = i
            assert_allclose(view.q, Q[i], atol=0)
            assert view.label == view.stage.label.text == "abcde"[i]
        with pytest.raises(OptionError, match="step of a view"):
            view.step = 5


def test_names_of_configurations_are_labels() -> None:
    robot = sample_arm()
    film = film_of(robot, {"rest": robot.neutral, "home": robot.reference("home")})
    assert film.labels == ("rest", "home")
    assert film_of(robot, "home").label(0) == "home"
    with pytest.raises(OptionError, match="expected 1, one a configuration, got 2"):
        film_of(robot, labels=["a", "b"])


def _path_of_an_arm() -> Any:
    robot = sample_arm()
    height = Position(robot, "tool", rigid_transform([0.0, 0.0, 0.35]))
    level = Implicit.zero(height, mask=[False, False, True], name="level")
    problem = Problem(robot, [level])
    projector = Projector(problem)
    q0 = projector.project(robot.reference("home")).or_raise().q
    q1 = projector.project(robot.configuration({"shoulder_yaw": 0.9}, start=q0)).or_raise().q
    return interpolate(problem, q0, q1)


def test_a_path_is_shown_in_its_time() -> None:
    result = _path_of_an_arm()
    path = result.or_raise().lasting(2.0)
    film = film_of(path)
    assert film.timed
    assert (film.times[0], film.times[-1]) == (0.0, 2.0)
    assert len(film) == 51
    for t, q in zip(film.times, film.configurations, strict=True):
        assert_allclose(q, path(t), atol=1e-8)
    assert len(film_of(path, most=10)) == 10
    assert len(film_of(result)) == 26


def test_a_simulation_is_shown_in_its_time() -> None:
    linkage = mechanisms.four_bar()
    record = simulate(linkage.constraint_set(), linkage.posture("closed"), np.zeros(3), 0.2, 0.002)
    film = film_of(record)
    assert len(film) == 6
    assert_allclose(film.times, [0.0, 0.04, 0.08, 0.12, 0.16, 0.2], atol=1e-9)
    assert_allclose(film.configurations[-1], record.q)
    assert len(film.closures) == 1


def test_results_bring_their_configurations() -> None:
    linkage = mechanisms.four_bar()
    q = linkage.posture("closed")
    sweep = linkage.sweep(q, "crank", q[0] + np.linspace(0.0, 0.2, 4))
    assert_allclose(film_of(sweep).configurations, sweep.qs)
    assert film_of(sweep).labels[3] == f"crank = {q[0] + 0.2:.4g}"
    robot = sample_arm()
    target = Implicit.equal(Pose(robot, "tool"), robot.at(robot.reference("home")).placement("tool"))
    projector = Projector(Problem(robot, [target]))
    projection = projector.project(robot.reference("home") + 0.05)
    film = film_of(projection)
    assert film.labels == ("start", "CONVERGED")
    assert_allclose(film.configurations[1], projection.q)
    batch = projector.project_batch(np.array([robot.reference("home")] * 3))
    assert film_of(batch).labels == tuple(f"row {i}: CONVERGED" for i in range(3))
    assert film_of(batch, most=2).labels == ("row 0: CONVERGED", "row 2: CONVERGED")
    with pytest.raises(WrongObjectError, match="batch to show"):
        film_of(projector.project_batch(np.zeros((0, robot.nq))))


@pytest.mark.parametrize("bottom", [0.04, -0.3])
def test_the_grid_lies_at_the_ground_or_at_the_lowest_face(bottom: float) -> None:
    """Stumble 4: with a wide slab above the ground the grid lay well below it, and the robot floated."""
    slab = Shape("slab", "Box", (2.0, 2.0, 0.1), placement=[0.5, 0.0, bottom + 0.05, 0.0, 0.0, 0.0, 1.0])
    with show(sample_arm(), drawing=Drawing(shapes=[slab]), page=PageOptions(port=0)) as view:
        assert nodes(view)["/world/floor"].position[2] == pytest.approx(min(bottom, 0.0), abs=1e-6)
    box = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)
    with show(box, [0.0, 0.0, bottom + 1.0, 0.0, 0.0, 0.0, 1.0], page=PageOptions(port=0)) as view:
        assert nodes(view)["/world/floor"].position[2] == 0.0  # what is in the air floats over it


def test_iterates_modes_and_scenes_are_shown() -> None:
    linkage = mechanisms.four_bar()
    q = linkage.posture("closed")
    rows = linkage.constraint_set()
    assembly = assemble_position(rows, q + 0.05)
    film = film_of(assembly)
    assert_allclose(film.configurations[-1], assembly.q)
    assert film.labels[0].startswith("iterate 0: ")
    assert len(film) == len(assembly.iterates) > 2
    swing = film_of(modes().or_raise()[0])
    assert (len(swing), swing.timed, len(swing.closures)) == (50, True, 1)
    closing = linkage.minimal_coordinates(q).close(q)
    assert_allclose(film_of(closing).configurations[-1], closing.q)
    scene = read_scene(ROOT / "examples" / "scenes" / "two_tables.json")
    shown = film_of(scene)
    assert shown.shapes == scene.shapes
    assert len(shown) == 1
    (q,) = shown.configurations  # stumble 5: all objects were at one place
    assert scene.graph.state_of(q).name == "free"
    assert scene.collision_model().is_free(q)
    assert_allclose(film_of(scene).configurations[0], q)
    unread = replace(scene, urdfs={"ur5": "nothing.urdf"})
    assert scene.graph.state_of(film_of(unread).configurations[0]).name == "free"
    assert_allclose(film_of(scene, scene.robot.neutral).configurations[0], scene.robot.neutral)


def test_a_film_plays_until_it_is_told_to_stand() -> None:
    robot = sample_arm()
    with show(robot, robot.random(np.random.default_rng(0), 3), page=PageOptions(port=0)) as view:
        seen = {view.step}
        view.play()
        end = time.monotonic() + 20.0
        while len(seen) < 3 and time.monotonic() < end:
            seen.add(view.step)
            time.sleep(0.01)
        view.pause()
        assert seen == {0, 1, 2}
        time.sleep(0.3)
        before = view.step
        time.sleep(0.3)
        assert view.step == before


def test_the_button_and_the_slider_of_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Pressed once it plays, once more it stands; a slider that the film moves changes nothing; Ctrl-C closes."""
    robot = sample_arm()
    Q = robot.random(np.random.default_rng(0), 3)
    made: Any = show(robot, Q, page=PageOptions(port=0))
    with made as view:
        assert [node.label for node in (view._slider, view._button)] == ["configuration", "Play"]
        assert (view._slider.min, view._slider.max, view._slider.step) == (0, 2, 1)
        for label, playing in (("Pause", True), ("Play", False)):
            view._pressed(None)
            assert (view._button.label, view._playing.is_set()) == (label, playing)
        for client, step in ((None, 0), (1, 2)):
            view.step = 0
            view._slid(SimpleNamespace(client_id=client, target=SimpleNamespace(value=2)))
            assert view.step == step
        assert_allclose(view.q, Q[2])
        assert view._words.content.startswith("2 of 2")
        view._closed.wait = interrupted
        view.wait()
        assert view._closed.is_set()
    assert capsys.readouterr().out == f"{view!r}\n".replace(" (closed)", "")


def interrupted(_: float) -> bool:
    raise KeyboardInterrupt


def test_visual_files_by_name_and_pages_that_open(crane: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file for a robot, or one for each part; the browser is opened where that is wanted."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    robot, system = Robot.from_urdf(crane), Robot.system([Part("left", Robot.from_urdf(crane))])
    for thing, urdfs in ((robot, str(crane)), (system, {"left": str(crane)})):
        bare = Robot(thing.model)
        drawing = Drawing(urdfs=urdfs, packages=[str(crane.parents[2])])
        with show(bare, drawing=drawing, page=PageOptions(port=0, open_browser=thing is robot)) as view:
            assert view.missing == ()
            assert sum("hook" in name for name in nodes(view)) == 2
            assert opened == [view.url] if thing is robot else len(opened) == 1


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(WrongObjectError, match=r"a Robot, a Mechanism, a Scene"):
        show(3)
    linkage = mechanisms.four_bar()
    q = linkage.posture("closed")
    sweep = linkage.sweep(q, "crank", [q[0]])
    with pytest.raises(WrongObjectError, match="a Sweep has its own configurations"):
        show(sweep, q)
    with pytest.raises(WrongObjectError, match="at least one configuration"):
        Film.of(sample_arm(), [])


# The page.


def test_a_port_is_free_after_the_page_is_closed() -> None:
    with (
        show(sample_arm(), page=PageOptions(port=0)) as first,
        show(mechanisms.four_bar(), page=PageOptions(port=0)) as second,
    ):
        assert first.port != second.port
        assert min(first.port, second.port) > 10_000  # not the first one that is free from 8080 on
        assert first.url == f"http://127.0.0.1:{first.port}"
        port = first.port
        with pytest.raises(OptionError, match=f"{port} is taken"):
            show(sample_arm(), page=PageOptions(port=port))
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
    assert "(closed)" in repr(first)
    first.close()  # once more does no harm


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with show(sample_arm(), page=PageOptions(port=0)) as view:
        assert f'src="{view.url}"' in view._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_recording_takes_the_times_of_its_film(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each configuration once, in order, and half a second at the end; what is shown then is what was shown before."""
    robot, said, pose = sample_arm(), list[Any](), View._pose  # pyright: ignore[reportPrivateUsage]
    Q = robot.random(np.random.default_rng(0), count)
    monkeypatch.setattr(View, "_pose", lambda view, i: (said.append(f"pose {i}"), pose(view, i)))
    with show(robot, Q, page=PageOptions(port=0)) as view:
        view.step = count // 2
        said.clear()
        recorder = SimpleNamespace(insert_sleep=said.append, as_html=lambda: "page")
        server = view._server  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(server, "get_scene_serializer", lambda: recorder)
        assert view.to_html() == "page"
        pauses = [*np.diff(view.film.times).tolist(), *([0.5] if count > 1 else [])]
        each = [part for i in range(count) for part in (f"pose {i}", *pauses[i : i + 1])]
        assert said == [*each, f"pose {count // 2}"]


def test_a_recording_holds_all_configurations_and_no_address(tmp_path: Path) -> None:
    robot = sample_arm()
    Q = robot.random(np.random.default_rng(0), 4)
    with show(robot, Q, page=PageOptions(port=0)) as view:
        view.step = 2
        view.save(tmp_path / "arm.html")
        assert view.step == 2
        assert_allclose(view.q, Q[2])
        with pytest.raises(FileError, match=r"ends in \.html"):
            view.save(tmp_path / "arm.gif")
    page = (tmp_path / "arm.html").read_text()
    assert "__VISER_EMBED_DATA__" in page
    for address in ("src=", "href="):
        for rest in page.split(address)[1:]:
            assert not rest.lstrip("\"'").startswith(("http", "//"))


def test_the_command_writes_a_page(tmp_path: Path, crane: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (crane.parents[1] / "meshes" / "hook.stl").unlink()
    page = tmp_path / "crane.html"
    assert main(["show", str(crane), "--save", str(page)]) == 0
    assert "not drawn: visual 1 of link 'hook'" in capsys.readouterr().out
    assert page.stat().st_size > 100_000
    assert main(["show", str(tmp_path / "nothing.json")]) == 2


def test_without_viser_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lie-constraints\[view\]'"):
        show(sample_arm())
