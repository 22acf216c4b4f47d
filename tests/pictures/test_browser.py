"""The page of the viewer in a browser: robots are seen, the slider moves them, a recording needs no network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import browser, console, needs_browser, picture, requested, wait

from constraints import Implicit, Position, Problem, Robot
from constraints.collisions import Collision, Shape
from constraints.models import mechanisms, sample_arm
from constraints.pictures import Drawing, PageOptions, show
from constraints.pictures.browser.view import View
from constraints.planning import Connection, PlanningStatus
from constraints.planning.connection import Branchings, Effort

Keys = pytest.importorskip("selenium.webdriver", reason='no selenium: pip install "lie-constraints[browser]"').Keys
viser = pytest.importorskip("viser", reason='no viser: pip install "lie-constraints[view]"')
pytestmark = [pytest.mark.browser, needs_browser]

SIZE = 420, 420
ALONE = "body * {visibility: hidden !important} canvas {visibility: visible !important}"
CRANE = """<robot name='crane'><link name='base'>
    <visual><geometry><box size='0.5 0.5 0.5'/></geometry>
    <material name='r'><color rgba='0.9 0.1 0.1 1'/></material></visual></link>
  <link name='boom'><visual><origin xyz='0.5 0 0'/><geometry><box size='1.2 0.3 0.3'/></geometry>
    <material name='b'><color rgba='0.1 0.1 0.9 1'/></material></visual></link>
  <joint name='turn' type='revolute'><parent link='base'/><child link='boom'/><origin xyz='0 0 0.4'/>
    <axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"""


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser(*SIZE) as found:
        yield found


def opened(driver: Any, view: View) -> np.ndarray:
    """The page of a view as it is seen, without the panels above it, as soon as it shows colours."""
    return loaded(driver, view.url)


def loaded(driver: Any, url: str, moves: bool = False) -> np.ndarray:
    """The same of any page; one that `moves`, as a recording that plays, is not asked to stand still.

    The page before is left first: what it says when its own view has ended is not of this one.
    """
    driver.get("about:blank")
    requested(driver)
    console(driver)
    driver.get(url)
    return seen(driver, lambda p: coloured(p) > 0.02, moves=moves)


def press(driver: Any, *keys: str) -> None:
    """Press keys on the slider of the page, on the first of several."""
    find = "return document.querySelector('[role=slider]')"
    wait("a slider", lambda: driver.execute_script(find)).send_keys(*keys)


def seen(driver: Any, ready: Callable[[np.ndarray], bool], seconds: float = 150.0, moves: bool = False) -> np.ndarray:
    """The picture of the page as soon as it is ready, and stands still where it does not move by itself."""
    driver.execute_script(
        "const style = document.createElement('style'); style.id = 'alone'; style.textContent = arguments[0];"
        "document.head.append(style)",
        ALONE,
    )
    last = picture(driver)

    def still() -> bool:
        nonlocal last
        before, last = last, picture(driver)
        return bool(ready(last)) and (moves or np.array_equal(before, last))

    wait("a picture that shows what is wanted", still, seconds)
    driver.execute_script("document.getElementById('alone').remove()")
    return last


def coloured(pixels: np.ndarray) -> float:
    """The part of a picture that has a colour: background, floor and shadows are grey."""
    return float((np.ptp(pixels.astype(int), axis=2) > 40).mean())


def not_background(pixels: np.ndarray) -> float:
    """The part of a picture that differs from what most of it is."""
    values, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    away = np.abs(pixels.astype(int) - values[counts.argmax()].astype(int)).max(axis=2)
    return float((away > 12).mean())


def test_a_robot_with_geometry_is_seen_and_its_joints_move(driver: Any) -> None:
    with show(Robot.from_urdf(CRANE), page=PageOptions(port=0)) as view:
        before = opened(driver, view)
        assert not_background(before) > 0.1
        assert coloured(before) > 0.1
        press(driver, Keys.END)
        wait("a joint that moves", lambda: view.q[0] == 1.0)
        after = seen(driver, lambda p: not np.array_equal(p, before))
        assert (np.abs(after.astype(int) - before).max(axis=2) > 40).mean() > 0.02
        assert not console(driver)


def test_a_path_is_seen_and_its_slider_moves_the_robot(driver: Any, tmp_path: Path) -> None:
    robot = sample_arm()
    Q = robot.space.interpolate(
        np.array([robot.reference("home")] * 8), np.array([robot.configuration(elbow=1.6)] * 8), np.linspace(0, 1, 8)
    )
    with show(robot, Q, labels=[f"step {i}" for i in range(8)], page=PageOptions(port=0)) as view:
        before = opened(driver, view)
        assert not_background(before) > 0.1
        assert coloured(before) > 0.03
        press(driver, Keys.END)
        wait("the slider to be at the end", lambda: view.step == 7)
        after = seen(driver, lambda p: not np.array_equal(p, before))
        assert (np.abs(after.astype(int) - before).max(axis=2) > 40).mean() > 0.02
        assert_label(driver, "step 7")
        page = tmp_path / "arm.html"
        view.save(page)
        driver.get("about:blank")
    loaded(driver, page.as_uri(), moves=True)
    assert requested(driver) == [page.as_uri()]
    assert not console(driver)


def assert_label(driver: Any, text: str) -> None:
    wait(f"the label {text}", lambda: text in driver.execute_script("return document.body.textContent"))


def reddish(pixels: np.ndarray) -> float:
    """The part of a picture that is red."""
    r, g, b = (pixels[..., i].astype(int) for i in range(3))
    return float(((r > 60) & (g < 0.35 * r) & (b < 0.35 * r)).mean())


def bluish(pixels: np.ndarray) -> float:
    """The part of a picture that is blue."""
    r, g, b = (pixels[..., i].astype(int) for i in range(3))
    return float(((b > 80) & (r < 0.6 * b) & (g < b)).mean())


def test_what_collides_is_red_and_trees_are_seen(driver: Any) -> None:
    """A ball in a post: both are red where the start is refused, and neither where it is not; points of two trees."""
    arm = sample_arm()
    post = Shape("post", "Box", (0.1, 0.1, 1.0), placement=[0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    drawing, page = Drawing(shapes=[post]), PageOptions(port=0)
    home = arm.reference("home")
    problem = Problem(arm, [Implicit.zero(Position(arm, "tool"), name="tool")])
    rest = Effort(0, 0, 0, 0, 0, 0.0)
    met = (Collision("post", "arm"),)
    refused = Connection(None, PlanningStatus.START_COLLIDES, problem, rest, collisions=met, refused=home)
    with show(refused, drawing=drawing, page=page) as view:
        assert reddish(opened(driver, view)) > 0.01
        assert_label(driver, "START_COLLIDES")
    stuck = Connection(
        None, PlanningStatus.STUCK, problem, rest,
        trees=Branchings(np.array([home]), np.array([-1]), np.array([home]), np.array([-1])),
    )  # fmt: skip
    with show(stuck, drawing=drawing, page=page) as view:
        without = opened(driver, view)
        assert reddish(without) == 0.0
        assert_label(driver, "start: STUCK")
    rng = np.random.default_rng(0)
    grown = np.vstack([home, arm.random(rng, 300)])
    parents = np.array([-1, *[0] * 300])
    stuck = replace(stuck, trees=Branchings(grown, parents, np.array([home]), np.array([-1])))
    with show(stuck, drawing=drawing, trees=True, page=page) as view:
        assert bluish(opened(driver, view)) > bluish(without) + 0.001
        assert not console(driver)


def test_a_closed_mechanism_is_seen(driver: Any) -> None:
    linkage = mechanisms.four_bar()
    q = linkage.posture("closed")
    with show(linkage.sweep(q, "crank", q[0] + np.linspace(0.0, 0.8, 5)), page=PageOptions(port=0)) as view:
        before = opened(driver, view)
        assert not_background(before) > 0.1
        assert coloured(before) > 0.03
        view.step = 4
        after = seen(driver, lambda p: not np.array_equal(p, before))
        assert (np.abs(after.astype(int) - before).max(axis=2) > 40).mean() > 0.02
        assert not console(driver)


def test_a_page_of_another_site_cannot_connect(driver: Any, tmp_path: Path) -> None:
    """It sends what the page of the view sends, and gets nothing; with its origin allowed it gets the robot."""
    (tmp_path / "index.html").write_text("<title>another site</title>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    connect = """
        const [port, protocol, done] = arguments, socket = new WebSocket(`ws://127.0.0.1:${port}`, [protocol]);
        socket.onmessage = () => { done("read"); socket.close() };
        socket.onclose = () => done("refused");
        setTimeout(() => done("nothing"), 20000);"""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        other = f"http://127.0.0.1:{site.server_address[1]}"
        for origins, seen in ((), "refused"), ([other], "read"):
            with show(Robot.from_urdf(CRANE), page=PageOptions(port=0, origins=origins)) as view:
                driver.get(other)
                driver.set_script_timeout(30)
                assert driver.execute_async_script(connect, view.port, f"viser-v{viser.__version__}") == seen
        driver.get("about:blank")
        site.shutdown()
    console(driver)
