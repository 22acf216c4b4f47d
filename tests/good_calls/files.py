"""Files of problems, options, right-hand sides, reports, scenes; mechanisms, from files and built in."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from bad_values import Good, Kind, free, key, number, point, thing, vector

import constraints as lc
from constraints.manipulation import read_scene
from constraints.models import Mechanism, load, mechanisms
from liegroups import SE3

from .things import HOME, PROBLEM, projector

FOLDER = tempfile.TemporaryDirectory()
"""Where whole files are, as long as Python runs."""
SCENE = Path(__file__).resolve().parents[2] / "examples" / "scenes" / "two_tables.json"


def of_json(good: Good) -> None:
    load_rhs = partial(lc.RightHandSide.load, stack=PROBLEM.constraints)
    loads = (lc.Problem.load, load_rhs, lc.Options.load, lc.Report.load)
    writers = (PROBLEM.save, PROBLEM.rhs.save, lc.Options().save, projector().project(HOME).report)
    paths = [Path(FOLDER.name) / f"{i}.json" for i in range(len(loads))]
    for write, path in zip(writers, paths, strict=True):
        write(path)
    texts = [path.read_bytes() for path in paths]
    for read, path, text in zip(loads, paths, texts, strict=True):
        good(read, free(path)).but("path", path=[thing("str bytes"), "", "a\0b", b"problem.json"])
        others = [other for other in texts if other != text]
        good(partial(loaded, read), free(text)).but("broken.json", text=[cut(text), wrong_byte(text), *others])
    text = SCENE.read_bytes()
    good(partial(loaded, read_scene), free(text)).but("broken.json", text=[cut(text)])


def loaded(load: Callable[[Any], Any], text: bytes) -> Any:
    """What is read from a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broken.json"
        path.write_bytes(text)
        return load(path)


def cut(text: bytes) -> Kind:
    return Kind(text, (lambda c: text[: int(c.rng.integers(len(text) - 2))],))


def wrong_byte(text: bytes) -> Kind:
    """A byte that is no text."""

    def draw(c):
        at = int(c.rng.integers(len(text)))
        return text[:at] + b"\xff" + text[at + 1 :]

    return Kind(text, (draw,))


def of_mechanisms(good: Good) -> None:
    sdf = "<sdf><model name='m'><link name='a'/><link name='b'/><joint name='hinge' type='revolute'>"
    sdf += "<parent>a</parent><child>b</child></joint></model></sdf>"
    call = good(load, free(sdf), cut=free([])).but("world", path=["<world/>"])
    call.but(("URDF", "path"), path=[thing("str")]).but(
        "nowhere", path=["nowhere.urdf", "nowhere/x.xml", "nowhere.sdf"]
    )
    mistakes = ("name='a'", ""), ("name='a'", "name='b'"), ("</model>", ""), ("<link", "<pose>1 x</pose><link")
    call.but(("SDF", "XML", "URDF", "named"), path=[sdf.replace(old, new, 1) for old, new in mistakes])
    call.but(("cut", "joint"), cut=[key("hinge").within(lambda x: [x]), "hinge", [3]])
    call.given("loops", loops="x.yaml").given("inactive", inactive=True)
    call = good(load, free("<robot name='r'><link name='a'/></robot>"), free(None), base=free(lc.Base.FREE_FLYER))
    call.but(("loops", "nowhere"), loops=[thing("None str"), "nowhere.yaml"])


def of_built_in(good: Good) -> None:
    no_length = [0.0, -0.2, [0.1], True]
    for make, argument in (
        (mechanisms.four_bar, "crank"), (mechanisms.five_bar, "inner"), (mechanisms.slider_crank, "rod"),
        (mechanisms.stewart_platform, "height"), (mechanisms.delta_robot, "forearm"), (mechanisms.bennett, "a"),
    ):  # fmt: skip
        call = good(make, **{p.name: number(p.default) for p in signature(make).parameters.values()})
        call.blamed(a="a of a Bennett").but("a of a Bennett" if argument == "a" else argument, **{argument: no_length})
    call = good(mechanisms.scissor_lift, 2).but("stages", stages=[0])
    call.but("bar", bar=[0.0, -1.0, np.nan, "long", None])
    platform = mechanisms.stewart_platform()
    call = good(mechanisms.stewart_posture, platform, point(SE3, [0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0]))
    call.blamed(placement="placement of the platform").but("placement of the platform", placement=["here"])
    call = good(mechanisms.bennett, free(0.3), free(0.5), free(0.7))
    for alpha, beta in ((0.5, 0.5), (0.0, 0.5), (np.pi, 0.5), (-0.5, 0.7)):
        call.given("Bennett", alpha=alpha, beta=beta)
    linkage = mechanisms.four_bar()
    closed = free(linkage.posture("closed"))
    good(linkage.judge, vector(3, closed.good)).blamed(q=("q", "argument"))
    good(linkage.judge, closed, free(1e-6)).but("tolerance", tolerance=[-1.0, np.nan, "small", None, True])
    good(linkage.posture, key("closed")).blamed(name="reference posture")
    call = good(Mechanism, linkage.robot).blamed(robot="robot of a mechanism")
    call.but(("closures", "constraint"), closures=[3, None, "loop", [3], [print]])
    call.but("coupler", couplers=[3, None, "loop", [3], list(linkage.closures)])
    call.but(("motors", "joint"), motors=["crank", 3, key(*linkage.robot.joint_names).within(lambda x: [x])])
    call.but("posture", postures=[3, ["closed"], vector(3).within(lambda q: {"home": q})])
    call.but("unread", unread=[3, "x", ["x"], [None]])
