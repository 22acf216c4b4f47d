"""Mechanism files with one thing broken in their structure: names, types, words, references, ends of the file.

`broken(rng, kind)` breaks a URDF, an SDF or a sidecar; `taken(text)` loads it, and raises what was listed instead of
being built, so that whatever comes back was swallowed.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from constraints.errors import ConstraintError
from constraints.models import Mechanism, load

URDF = """<robot name="fourbar">
  <link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/><link name="tip_a"/>
  <link name="tip_b"/>
  <joint name="j1" type="revolute"><parent link="base"/><child link="crank"/><origin xyz="0 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="j2" type="revolute"><parent link="crank"/><child link="coupler"/><origin xyz="0 0 0.3"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="j3" type="revolute"><parent link="base"/><child link="rocker"/><origin xyz="0.5 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="fa" type="fixed"><parent link="coupler"/><child link="tip_a"/><origin xyz="0.5 0 0"/></joint>
  <joint name="fb" type="fixed"><parent link="rocker"/><child link="tip_b"/><origin xyz="0 0 0.3"/></joint>
</robot>"""
"""A parallelogram, open at the tip: crank and rocker of 0.3 m, coupler of 0.5 m."""

YAML = "closed_loop: [[tip_a, tip_b]]\ntype: [3d]\nname_mot: [j1]\n"

SDF = """<sdf version="1.9"><model name="loop">
  <link name="base"/><link name="a"><pose>0 0 0.1 0 0 0</pose></link><link name="b"><pose>0.5 0 0.1 0 0 0</pose></link>
  <link name="rod"><pose>0 0 0.6 0 0 0</pose></link>
  <joint name="ground" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="ja" type="revolute"><parent>base</parent><child>a</child><axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="jb" type="revolute"><parent>base</parent><child>b</child><axis><xyz>0 1 0</xyz>
    <limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
  <joint name="jr" type="revolute"><parent>rod</parent><child>a</child><pose relative_to="rod"/>
    <axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="end" type="revolute"><parent>rod</parent><child>b</child><pose relative_to="b">0 0 0.5 0 0 0</pose>
    <axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""

KINDS = ("URDF", "SDF", "sidecar")
FULL_URDF = URDF.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="j3" multiplier="2" offset="0.1"/>', 1)
FULL_SDF = SDF.replace("<xyz>0 1 0</xyz>", "<xyz>0 1 0</xyz><mimic joint='jb'><multiplier>2</multiplier></mimic>", 1)
FULL_YAML = YAML + "joint_name: [j2]\njoint_type: [SPHERICAL]\n"
WORDS = {"robot", "sdf", "model", "mimic"}
"""Elements whose own names are not broken: others are missed with them."""


@dataclass(frozen=True)
class Broken:
    """A file, the sidecar beside it, what was done to one of them, and words of which a message must have one."""

    text: str
    sidecar: str
    done: str
    culprits: tuple[str, ...]


def untouched(kind: str) -> tuple[str, str]:
    """The file before it is broken, and its sidecar."""
    return (FULL_SDF, "") if kind == "SDF" else (FULL_URDF, FULL_YAML)


def broken(rng: np.random.Generator, kind: str) -> Broken:
    """One of the kinds, one thing in it broken."""
    text, sidecar = untouched(kind)
    if kind == "sidecar":
        sidecar, done, culprits = _broken_sidecar(rng, sidecar)
    else:
        if rng.random() < 0.15:
            end = int(rng.integers(1, len(text) - 12))
            text, done, culprits = text[:end], f"cut at {end}", ("line", "XML", "is no", kind)
        else:
            text, done, culprits = _broken_xml(rng, text, kind)
    return Broken(text, sidecar, done, culprits)


def taken(file: Broken, *, strict: bool = True) -> Mechanism:
    """Load it; what was not read is raised."""
    with tempfile.TemporaryDirectory() as folder:
        path, loops = Path(folder) / "file.urdf", Path(folder) / "loops.yaml"
        path.write_text(file.text, encoding="utf-8")
        loops.write_text(file.sidecar, encoding="utf-8")
        mechanism = load(path, loops if file.sidecar else None, strict=strict)
    if mechanism.unread:
        raise ConstraintError("must be listed, and is: " + "; ".join(map(str, mechanism.unread)))
    return mechanism


def typo(rng: np.random.Generator, word: str) -> str:
    """The word with one letter dropped, doubled, swapped with the next, or in the other case."""
    letters = [i for i, letter in enumerate(word) if letter.isalpha()]
    at = int(rng.choice(letters))
    ways = (
        word[:at] + word[at + 1 :],
        word[:at] + 2 * word[at] + word[at + 1 :],
        word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :],
        word[:at] + word[at].swapcase() + word[at + 1 :],
    )
    wrong = [way for way in ways if way not in (word, "")]
    return str(rng.choice(wrong))


def _broken_xml(rng: np.random.Generator, text: str, kind: str) -> tuple[str, str, tuple[str, ...]]:
    root = ElementTree.fromstring(text)
    everywhere: list[Callable[[], tuple[str, tuple[str, ...]] | None]] = []
    for parent in [*root.iter()]:
        for child in [*parent]:
            everywhere += _ways(rng, parent, child, kind)
    while True:
        done = everywhere[int(rng.integers(len(everywhere)))]()
        if done is not None:
            return ElementTree.tostring(root, encoding="unicode"), *done


def _ways(rng: np.random.Generator, parent: Element, child: Element, kind: str) -> list[Any]:
    """What can be broken at an element; each does it, and says what was done and who is to blame."""
    tag, name = str(child.tag), child.get("name", "")

    def misspell() -> Any:
        if tag in WORDS:
            return None
        wrong = typo(rng, tag)
        if wrong == tag or wrong in ("axis2", "links", "body"):
            return None
        child.tag = wrong
        return f"<{tag}> is <{wrong}>", (wrong, tag, name or tag)

    def misspell_attribute() -> Any:
        if not child.attrib:
            return None
        key = str(rng.choice(list(child.attrib)))
        wrong = typo(rng, key)
        child.attrib = {wrong if k == key else k: v for k, v in child.attrib.items()}
        return f"{key} of <{tag}> is {wrong}", (wrong, key, tag)

    def twice() -> Any:
        if tag not in ("link", "joint"):
            return None
        parent.append(copy.deepcopy(child))
        return f"{tag} '{name}' twice", (name,)

    def without_name() -> Any:
        if tag not in ("link", "joint"):
            return None
        del child.attrib["name"]
        return f"<{tag}> without a name", ("name", tag)

    def refer() -> Any:
        """A reference, or a type, to nothing."""
        keys = [k for k in ("link", "joint", "type", "relative_to") if k in child.attrib]
        if tag in ("parent", "child") and kind == "SDF":
            wrong = child.text = typo(rng, str(child.text)) + "_"
        elif keys:
            wrong = child.attrib[keys[0]] = typo(rng, child.attrib[keys[0]]) + "_"
        else:
            return None
        return f"<{tag}> refers to {wrong}", (wrong,)

    def remove() -> Any:
        if tag not in ("parent", "child") and not (tag == "link" and kind == "URDF"):
            return None
        parent.remove(child)
        return f"no {tag} {name} in {parent.get('name')}", (tag, name or tag, parent.get("name", ""))

    def no_number() -> Any:
        wrong = str(rng.choice(["x", "nan", "1,5", "inf", "1 2", "0x10", "--1"]))
        keys = [k for k in ("xyz", "rpy", "multiplier", "offset", "lower") if k in child.attrib]
        if wrong == "1 2" and ("xyz" in keys or tag in ("pose", "xyz")):
            return None
        if keys:
            child.attrib[keys[0]] = f"0 {wrong}" if keys[0] == "xyz" else wrong
        elif kind == "SDF" and tag in ("pose", "xyz", "multiplier", "lower", "upper"):
            if wrong == "inf" and tag in ("lower", "upper"):
                return None
            child.text = f"0 {wrong}" if tag in ("pose", "xyz") else wrong
        else:
            return None
        return f"{wrong} in <{tag}>", (wrong, tag, *keys)

    return [misspell, misspell_attribute, twice, without_name, refer, remove, no_number]


def _broken_sidecar(rng: np.random.Generator, text: str) -> tuple[str, str, tuple[str, ...]]:
    lines = text.splitlines()
    keys = [line.split(":")[0] for line in lines]
    at = int(rng.integers(len(lines)))
    key, value = keys[at], lines[at].split(": ", 1)[1]
    names = [name for name in ("tip_a", "tip_b", "3d", "j1", "j2", "SPHERICAL") if name in value]
    name = str(rng.choice(names))
    way = str(rng.choice(["key", "twice", "name", "kind", "cut", "missing", "number", "longer", "again"]))
    wrong = typo(rng, name) + "_" if way == "name" else typo(rng, key)
    changed = {
        "key": lines[at].replace(key, wrong, 1),
        "twice": f"{lines[at]}\n{lines[at]}",
        "name": lines[at].replace(name, wrong, 1),
        "kind": f"{key}: " + str(rng.choice(["3", "word", "{a: 1}", "true", "[[1]]", "[null]", "[{}]", "[[]]"])),
        "cut": lines[at][: int(rng.integers(len(key) + 3, len(lines[at])))],
        "missing": "",
        "number": lines[at].replace(name, "7", 1),
        "longer": f"{key}: [{value[1:-1]}, {value[1:-1]}, nowhere]",
        "again": f"{key}: [{value[1:-1]}, {value[1:-1]}]",
    }[way]
    if way == "missing" and key == "name_mot":
        way, changed = "key", lines[at].replace(key, wrong, 1)
    lines[at] = changed
    culprits = (key, wrong, name, "line", "loops.yaml: is no")
    return "\n".join(line for line in lines if line) + "\n", f"{way} of {key}: {changed!r}", culprits
