"""Files whose structure is broken at random: each must end in a result or in a typed error, within seconds.

`broken_structure(seed, number)` takes a sound file of each format in turn and breaks what `fuzz` leaves whole: elements
that are moved into each other, repeated, nested and left out, attributes of others, bytes that are cut or doubled.
`fault` reads it, and says what is wrong with the answer.
"""

from __future__ import annotations

import copy
import json
import re
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from constraints import Implicit, Pose, Problem, Robot
from constraints.errors import ConstraintError
from constraints.manipulation import read_semantics
from constraints.models import load, sample_arm

SECONDS = 10.0
"""Of processor time that no small file may take."""
_INERTIAL = (
    "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial><visual><geometry>"
    "<box size='1 1 1'/></geometry></visual>"
)
URDF = (
    f"<robot name='r'><link name='a'>{_INERTIAL}</link><link name='b'>{_INERTIAL}</link><link name='c'/>"
    "<link name='d'/>"
    "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><origin xyz='0 0 1' rpy='0 0 0'/>"
    "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
    "<joint name='k' type='continuous'><parent link='b'/><child link='c'/><mimic joint='j' multiplier='2'/></joint>"
    "<joint name='l' type='fixed'><parent link='c'/><child link='d'/></joint></robot>"
)  # fmt: skip
SDF = (
    "<sdf version='1.7'><world name='w'><gravity>0 0 -9</gravity><model name='m'>"
    "<link name='a'><inertial><mass>1</mass></inertial></link>"
    "<link name='b'><pose relative_to='f'>0 0 1 0 0 0</pose></link><link name='c'/><frame name='f' attached_to='a'/>"
    "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>"
    "<limit><lower>-1</lower><upper>1</upper></limit></axis></joint>"
    "<joint name='k' type='universal'><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz></axis>"
    "<axis2><xyz>0 1 0</xyz></axis2></joint>"
    "<joint name='l' type='ball'><parent>c</parent><child>a</child></joint></model></world></sdf>"
)
SRDF = (
    "<robot name='r'><group_state name='home' group='g'><joint name='j' value='0.5'/></group_state>"
    "<disable_collisions link1='a' link2='b' reason='Adjacent'/><disable_default_collisions link='c'/>"
    "<gripper name='g'><position>0 0 0 1 0 0 0</position><link name='b'/></gripper>"
    "<handle name='h' clearance='0.1'><position>0 0 0 1 0 0 0</position><link name='c'/></handle>"
    "<contact name='s'><link name='a'/><point>0 0 0 1 0 0 1 1 0 0 1 0</point><shape>4 0 1 2 3</shape></contact></robot>"
)
SIDECAR = {
    "closed_loop": [["a", "b"], ["c", "d"]],
    "type": ["6d", "3d"],
    "name_mot": ["j"],
    "joint_name": ["k"],
    "joint_type": ["SPHERICAL"],
}
_WORDS = (
    "", "a", "j", "0", "-1", "nan", "inf", "1e999", "1 2 3", "0 0 0", "floating", "planar", "world", "\u00e9", 300 * "x"
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e300, "", "a", "nan", [], {}, [[]], [1.0, 2.0], {"type": "Pose"}, 10**400,
)  # fmt: skip


@dataclass(frozen=True)
class BrokenStructure:
    """A broken file.

    Attributes:
        format: one of `FORMATS`.
        done: what was broken, in words.
        content: its bytes.
    """

    format: str
    done: str
    content: bytes


def broken_structure(seed: int, number: int) -> BrokenStructure:
    """One of them; the same for the same seed."""
    rng = np.random.default_rng([seed, 7, number])
    name = tuple(FORMATS)[number % len(FORMATS)]
    done: list[str] = []
    text = _SOUND[name](rng, done)
    if rng.random() < 0.3:
        text = _bytes(text, rng, done)
    return BrokenStructure(name, ", ".join(done) or "nothing", text)


def fault(broken: BrokenStructure) -> str | None:
    """What is wrong with the answer to a broken file; None if it is a result or a typed error, in time."""
    began = time.thread_time()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("error")
        try:
            FORMATS[broken.format](broken.content, Path(folder))
        except ConstraintError as error:
            if not str(error).strip():
                return "an error without a word"
        except Warning as warning:
            return f"a warning: {type(warning).__name__}: {warning}"
        except Exception as error:
            return f"not a ConstraintError but {type(error).__name__}: {error}"
    took = time.thread_time() - began
    return f"it takes {took:.1f} s" if took > SECONDS else None


def _pick(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _xml(text: str) -> Callable[[np.random.Generator, list[str]], bytes]:
    def make(rng: np.random.Generator, done: list[str]) -> bytes:
        root = ElementTree.fromstring(text)
        for _ in range(int(rng.integers(1, 4))):
            _break_element(root, rng, done)
        return ElementTree.tostring(root)

    return make


def _break_element(root: ElementTree.Element, rng: np.random.Generator, done: list[str]) -> None:
    """One change of the tree."""
    elements = [*root.iter()]
    one, other = _pick(rng, elements), _pick(rng, elements)
    way = _pick(rng, ("drop", "move", "repeat", "nest", "tag", "attribute", "no attribute", "text", "exchange"))
    done.append(f"{way} of <{one.tag}>, <{other.tag}>")
    if way == "drop":
        next((parent.remove(one) for parent in elements if one in list(parent)), None)
    elif way == "move":
        other.append(copy.deepcopy(one))
    elif way == "repeat":
        other.extend(copy.deepcopy(one) for _ in range(int(_pick(rng, (1, 2, 50)))))
    elif way == "nest":
        for _ in range(int(_pick(rng, (1, 10, 400)))):
            one = ElementTree.SubElement(one, other.tag, other.attrib)
    elif way == "tag":
        one.tag = other.tag
    elif way == "attribute":
        key = _pick(rng, [*one.attrib, *other.attrib, "name"])
        one.set(key, other.get(key) or _pick(rng, _WORDS))
    elif way == "no attribute" and one.attrib:
        del one.attrib[_pick(rng, [*one.attrib])]
    elif way == "text":
        one.text = _pick(rng, (*_WORDS, other.text))
    else:
        one.attrib, other.attrib = dict(other.attrib), dict(one.attrib)


def _data(make_sound: Callable[[], Any]) -> Callable[[np.random.Generator, list[str]], bytes]:
    def make(rng: np.random.Generator, done: list[str]) -> bytes:
        content = copy.deepcopy(make_sound())
        for _ in range(int(rng.integers(1, 3))):
            _break_value(content, rng, done)
        return json.dumps(content).encode()

    return make


def _break_value(content: Any, rng: np.random.Generator, done: list[str]) -> None:
    """One change of lists and mappings in each other."""
    places: list[tuple[Any, Any]] = []
    left: list[Any] = [content]
    while left:
        holder = left.pop()
        keys = [*holder] if isinstance(holder, dict) else range(len(holder))
        places += [(holder, key) for key in keys]
        left += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    if not places:
        return
    holder, key = _pick(rng, places)
    elsewhere, there = _pick(rng, places)
    way = _pick(rng, ("drop", "value", "copy", "nest", "key", "repeat"))
    done.append(f"{way} at {key!s:.20}")
    if way == "drop":
        del holder[key]
    elif way == "value":
        holder[key] = copy.deepcopy(_pick(rng, _VALUES))  # what is changed later is no value of the next file
    elif way == "copy":
        holder[key] = copy.deepcopy(elsewhere[there])
    elif way == "nest":
        for _ in range(int(_pick(rng, (1, 5, 200)))):
            holder[key] = [holder[key]]
    elif way == "key" and isinstance(holder, dict):
        holder[_pick(rng, _WORDS)] = holder[key]
    elif isinstance(holder, list):
        holder += [copy.deepcopy(holder[key])] * int(_pick(rng, (1, 100)))


def _bytes(text: bytes, rng: np.random.Generator, done: list[str]) -> bytes:
    """One change of the bytes."""
    at, to = sorted(int(i) for i in rng.integers(0, len(text), 2))
    put = _pick(
        rng,
        (b"<!--", b"-->", b"&", b"&amp;", b"\0", b"\xff\xfe", b" " * 5000, b"*a", b"&a ", b'"', b"]]>", b"<![CDATA["),
    )
    way = _pick(rng, ("cut", "left out", "twice", "put in", "put before"))
    done.append(f"bytes {at} to {to} {way}")
    return {
        "cut": text[:to],
        "left out": text[:at] + text[to:],
        "twice": text[:to] + text[at:],
        "put in": text[:at] + put + text[at:],
        "put before": put + text,
    }[way]


def _problem() -> Any:
    """A sound problem, as data."""
    arm = sample_arm()
    with tempfile.TemporaryDirectory() as folder:
        Problem(arm, [Implicit.equal(Pose(arm, "tool"), name="hand")]).save(Path(folder) / "p.json")
        return json.loads((Path(folder) / "p.json").read_text())


def _sidecar_text(rng: np.random.Generator, done: list[str]) -> bytes:
    """JSON is YAML, and without quotes it looks like what people write."""
    return re.sub(rb'"(\w+)"', rb"\1", _data(lambda: SIDECAR)(rng, done))


def _read_model(content: bytes, folder: Path) -> object:
    (folder / "model.xml").write_bytes(content)
    return load(folder / "model.xml", strict=False)


def _read_srdf(content: bytes, folder: Path) -> object:
    (folder / "model.srdf").write_bytes(content)
    robot = Robot.from_urdf(URDF)
    return robot.with_srdf(folder / "model.srdf"), read_semantics(robot, folder / "model.srdf")


def _read_sidecar(content: bytes, folder: Path) -> object:
    (folder / "r.urdf").write_text(URDF)
    (folder / "r.yaml").write_bytes(content)
    return load(folder / "r.urdf", loops=folder / "r.yaml", strict=False)


def _read_problem(content: bytes, folder: Path) -> object:
    (folder / "p.json").write_bytes(content)
    return Problem.load(folder / "p.json")


FORMATS: dict[str, Callable[[bytes, Path], object]] = {
    "URDF": _read_model,
    "SDF": _read_model,
    "SRDF": _read_srdf,
    "sidecar": _read_sidecar,
    "problem": _read_problem,
}
_SOUND: dict[str, Callable[[np.random.Generator, list[str]], bytes]] = {
    "URDF": _xml(URDF),
    "SDF": _xml(SDF),
    "SRDF": _xml(SRDF),
    "sidecar": _sidecar_text,
    "problem": _data(_problem),
}
