"""The graph of a URDF: its links, the joints between them, what is wrong with them, and whether they make a tree."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from xml.etree.ElementTree import Element

from liegroups.errors import nearest_names

from ...errors import FileError, UnknownNameError
from ...words import counted, first_names
from .xml import has_xacro

JOINT_FREEDOMS = {"fixed": 0, "revolute": 1, "continuous": 1, "prismatic": 1, "planar": 3, "floating": 6}
"""Types of joints of a URDF, and how many freedoms each has."""
ELEMENTS = ("link", "joint", "material", "transmission", "gazebo", "ros2_control")
"""Of a URDF: they hold the tree, or are looked through for what joins bodies."""
_SOLIDS = ("visual", "collision")
_PARTS_OF_A_LINK = ("inertial", *_SOLIDS, "collision_checking", "contact", "gazebo")
_CHILDREN = {
    "joint": (
        "parent", "child", "origin", "axis", "limit", "mimic", "dynamics", "calibration", "safety_controller",
        "gazebo", "physics",
    ),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry", "material", "verbose"),
    "geometry": ("box", "sphere", "cylinder", "capsule", "mesh"),
}  # fmt: skip
_ATTRIBUTES = {
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity", "acceleration", "jerk", "deceleration"),
    "mimic": ("joint", "multiplier", "offset"),
    "dynamics": ("damping", "friction"),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("filename", "scale"),
}
MOST_LINKS = 4000
"""Links that a file may have: pinocchio compares each with all others."""
MOST_LEVELS = 1000
"""Joints behind each other that a URDF may have: pinocchio goes down by calling itself, and its stack ends."""
MOST_FREEDOMS = 1500
"""Degrees of freedom of a file: pinocchio has many matrices of their square, and moves all of them when
it adds a joint."""
SEARCHED = 20
"""Mistakes of one file whose messages list the names that come closest, which takes a time that goes with the names."""
WORDS = 1000
"""Different words of one element that are looked at for slips of the pen."""
_ALIKE = 0.6
"""A word that is not known and this much like a known one is a slip of the pen; others belong to other programs."""


@dataclass(frozen=True)
class Fault:
    """Something that a file says wrongly: which element, and why it means nothing."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """A joint between two links that the file has: its name, type, links and element."""

    name: str
    kind: str
    parent: str
    child: str
    element: Element

    @property
    def freedoms(self) -> int:
        """How many it has."""
        return JOINT_FREEDOMS[self.kind]


@dataclass(frozen=True, eq=False)
class UrdfGraph:
    """Links and joints of a URDF, in the order of the file.

    Attributes:
        links: names.
        joints: by name; those that join two links.
        faults: joints that do not, and what is named twice.
        twice: elements that repeat a name, and stand for nothing.
    """

    links: tuple[str, ...]
    joints: dict[str, UrdfJoint]
    faults: tuple[Fault, ...] = ()
    twice: tuple[Element, ...] = field(default=())

    @property
    def parents(self) -> dict[str, list[UrdfJoint]]:
        """The joints that have a link for their child, for each link."""
        found: dict[str, list[UrdfJoint]] = {link: [] for link in self.links}
        for joint in self.joints.values():
            found[joint.child].append(joint)
        return found

    @property
    def roots(self) -> list[str]:
        """Links that are no joint's child."""
        return [link for link, joints in self.parents.items() if not joints]

    @property
    def is_tree(self) -> bool:
        """Whether one link is the root and every other one the child of one joint, without a circle."""
        return len(self.roots) == 1 and len(self.joints) == len(self.links) - 1 == len(self.below(self.roots[0]))

    def below(self, root: str) -> set[str]:
        """The links that joints lead to from one."""
        children: dict[str, list[str]] = {}
        for joint in self.joints.values():
            children.setdefault(joint.parent, []).append(joint.child)
        found, layer = {root}, [root]
        while layer:
            layer = [child for parent in layer for child in children.get(parent, ()) if child not in found]
            found.update(layer)
        return found - {root}


def urdf_graph(root: Element, path: str) -> UrdfGraph:
    """The graph of a URDF.

    Args:
        root: the outermost element.
        path: how messages call the file.

    Raises:
        FileError: a link or a joint without a name; elements of xacro.
    """
    if has_xacro(root):
        raise FileError(path, "has xacro elements: expand it to a URDF first (xacro file.xacro > file.urdf)")
    if root.find("link") is None and root.find("group") is not None:
        raise FileError(path, "has no <link>: it is an SRDF; load it with its URDF: Robot.from_urdf(urdf, srdf)")
    refuse_larger(path, links=len(root.findall("link")))
    faults: list[Fault] = []
    twice: list[Element] = []
    links, joints = (_named(root, tag, path, faults, twice) for tag in ("link", "joint"))
    sound: dict[str, UrdfJoint] = {}
    for name, element in joints.items():
        ends = [_end(element, tag) for tag in ("parent", "child")]
        reason = _what_is_wrong(element, ends, links, search=len(faults) < SEARCHED)
        if reason:
            faults.append(Fault(f"joint '{name}'", reason))
        else:
            sound[name] = UrdfJoint(name, element.get("type", ""), str(ends[0]), str(ends[1]), element)
    return UrdfGraph(tuple(links), sound, tuple(faults), tuple(twice))


def _named(root: Element, tag: str, path: str, faults: list[Fault], twice: list[Element]) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for i, element in enumerate(root.findall(tag)):
        name = element.get("name")
        if not name:
            raise FileError(path, f"<{tag}> number {i + 1} has no name, but it needs one")
        if name in found:
            faults.append(Fault(f"{tag} '{name}'", f"two {tag}s have this name, only the first one would be used"))
            twice.append(element)
        else:
            found[name] = element
    return found


def _end(joint: Element, tag: str) -> str | None:
    element = joint.find(tag)
    return None if element is None else element.get("link")


def _what_is_wrong(joint: Element, ends: Sequence[str | None], links: Collection[str], *, search: bool) -> str:
    """Why an element is no joint between two links; empty if it is one."""
    kind = joint.get("type")
    if kind is None or kind not in JOINT_FREEDOMS:
        return str(UnknownNameError("type of joint", kind, tuple(JOINT_FREEDOMS), search=search))
    for tag, link in zip(("parent", "child"), ends, strict=True):
        if not link:
            return f'it has no {tag}: expected <{tag} link="..."/>'
        if link not in links:
            return f"its {tag}: {UnknownNameError('link', link, tuple(links) if search else (), search=search)}"
    if ends[0] == ends[1]:
        return f"it joins link '{ends[0]}' to itself"
    return ""


def refuse_larger(path: str, *, links: int = 0, freedoms: int = 0) -> None:
    """Refuse a file with more links than can be read in a time that goes with its size, or more than memory is for.

    Args:
        path: how messages call the file.
        links: how many it has.
        freedoms: how many degrees of freedom.

    Raises:
        FileError: names the limit.
    """
    for count, most, words in ((links, MOST_LINKS, "links"), (freedoms, MOST_FREEDOMS, "degrees of freedom")):
        if count > most:
            raise FileError(path, f"has {count} {words}, expected at most {most}")


def refuse_long_chains(root: Element, path: str) -> None:
    """Refuse a URDF, whose joints make a tree, with more joints behind each other than pinocchio can go down.

    Raises:
        FileError: names the limit and a joint.
    """
    below: dict[str | None, list[tuple[str | None, str | None]]] = {}
    for joint in root.findall("joint"):
        below.setdefault(_end(joint, "parent"), []).append((joint.get("name"), _end(joint, "child")))
    ends = {child for joints in below.values() for _, child in joints}
    layer, level = [(None, link) for link in below if link not in ends], 0
    while layer:
        layer = [joint for _, link in layer for joint in below.get(link, ())]
        level += 1
        if layer and level > MOST_LEVELS:
            raise FileError(path, f"joint '{layer[0][0]}' is the {level}th of a chain, expected at most {MOST_LEVELS}")


def check_is_tree(root: Element, path: str) -> None:
    """Refuse a URDF that is no tree, since only a tree can be a robot.

    Args:
        root: the outermost element.
        path: how messages call the file.

    Raises:
        FileError: a link with two parents, which is a loop; joints that join no two links; no root, or several.
    """
    graph = urdf_graph(root, path)
    if graph.faults:
        raise FileError(path, listed(graph.faults))
    for link, joints in graph.parents.items():
        if len(joints) > 1:
            raise FileError(path, _loop(link, joints))
    if graph.links and not graph.is_tree:
        raise FileError(path, _no_tree(graph))


def listed(mistakes: Iterable[object]) -> str:
    """Mistakes of a file, the first ones in their own words."""
    said = [*map(str, mistakes)]
    more = len(said) - SEARCHED
    return "; ".join([*said[:SEARCHED], *([f"and {counted(more, 'mistake')} more"] if more > 0 else [])])


def _loop(link: str, joints: Sequence[UrdfJoint]) -> str:
    both = " and ".join(f"'{j.name}' (from '{j.parent}')" for j in joints[:SEARCHED])
    return (
        f"link '{link}' has {len(joints)} parents, through the joints {both}: a loop, but a robot must be a tree. "
        "constraints.models.load cuts the loop itself; or remove one of the joints and close the loop in a sidecar, "
        "a YAML file beside the URDF with two frames that must meet: closed_loop: [[frame_a, frame_b]] and type: [6d]"
    )


def _no_tree(graph: UrdfGraph) -> str:
    roots = graph.roots
    if len(roots) == 1:
        (root,), on = roots, graph.below(roots[0])
        off = [link for link in graph.links if link != root and link not in on]
        return f"the joints of the links {_some(off)} form a cycle, to which none leads from the root '{root}'"
    if roots:
        return f"the links {_some(roots)} are not the child of any joint: expected one root, join the others to it"
    return "every link is the child of a joint: the joints form a cycle, expected one root"


def _some(links: Sequence[str]) -> str:
    return first_names([f"'{link}'" for link in links], SEARCHED)


def misspelt(root: Element) -> Iterator[Fault]:
    """Words of a URDF that mean nothing and resemble one that does: in the tree, its inertias and its solids."""
    words = (str(element.tag) for element in root)
    for word in islice(dict.fromkeys(words), WORDS):
        if meant(word, ELEMENTS) in ("link", "joint"):
            yield _slip("the file", "element", word, ELEMENTS)
    for joint in root.findall("joint"):
        what = f"joint '{joint.get('name')}'"
        yield from _slips(joint, what, "joint")
        yield from _out_of_place(joint, what, _CHILDREN["joint"])
        for child in joint:
            yield from _slips(child, f"{what}, its <{child.tag}>", str(child.tag))
    for link in root.findall("link"):
        what = f"link '{link.get('name')}'"
        yield from _out_of_place(link, what, ("inertial",))
        if link.find("inertial") is None:
            slips = [str(child.tag) for child in link if meant(str(child.tag), _PARTS_OF_A_LINK) == "inertial"]
            yield from (_slip(what, "element", word, ("inertial",)) for word in slips)
        for inertial in link.findall("inertial"):
            yield from _slips(inertial, f"{what}, its <inertial>", "inertial")
            for child in inertial:
                yield from _slips(child, f"{what}, its <{child.tag}>", str(child.tag))
    for tag in _SOLIDS:
        yield from misspelt_solids(root, tag)


def misspelt_solids(root: Element, tag: str = "collision") -> Iterator[Fault]:
    """Mistakes for which links of a URDF lose a solid, or have it elsewhere.

    Args:
        root: the outermost element.
        tag: "collision" or "visual".
    """
    for link in root.findall("link"):
        what = f"link '{link.get('name')}'"
        for word in islice(dict.fromkeys(str(child.tag) for child in link), WORDS):
            if meant(word, _PARTS_OF_A_LINK) == tag:
                yield _slip(what, "element", word, (tag,))
        for solid in link.findall(tag):
            where = f"{what}, its <{tag}>"
            yield from _slips(solid, where, tag)
            yield from _out_of_place(solid, where, ("origin", "geometry"))
            for child in solid:
                yield from _slips(child, f"{where}, its <{child.tag}>", str(child.tag))
            for shape in solid.iterfind("geometry/*"):
                yield from _slips(shape, f"{where}, its <{shape.tag}>", str(shape.tag))
            if len(solid.findall("geometry/*")) > 1:
                yield Fault(where, "<geometry> has several shapes: only the first one would be used")


def _out_of_place(element: Element, what: str, once: Iterable[str]) -> Iterator[Fault]:
    """Links and joints inside another one, and elements that may be there once."""
    tags = [child.tag for child in element]
    for tag in ("link", "joint"):
        if tag in tags:
            yield Fault(what, f"a <{tag}> inside it has no meaning: it belongs in <robot>")
    for tag in once:
        if is_ambiguous(element, tag):
            yield Fault(what, f"<{tag}> is given twice with different content: one was expected")


def is_ambiguous(element: Element, tag: str) -> bool:
    """Whether an element has several children of a tag that say different things."""
    return len({_said(child) for child in element.findall(tag)}) > 1


def _said(element: Element) -> tuple[object, ...]:
    """What an element says, without its layout."""
    return (
        element.tag,
        tuple(sorted(element.attrib.items())),
        (element.text or "").strip(),
        tuple(_said(child) for child in element),
    )


def _slips(element: Element, what: str, tag: str) -> Iterator[Fault]:
    """Words of one element; none where the word that was meant is there too."""
    children, attributes = [str(child.tag) for child in element], list(element.attrib)
    for kind, given, known in (
        ("element", children, _CHILDREN.get(tag, ())),
        ("attribute", attributes, _ATTRIBUTES.get(tag, ())),
    ):
        words = dict.fromkeys(given)
        for word in islice(words, WORDS):
            if meant(word, known) and meant(word, known) not in words:
                yield _slip(what, kind, word, known)


def _slip(what: str, kind: str, word: str, known: Iterable[str]) -> Fault:
    return Fault(what, str(UnknownNameError(kind, word, tuple(known))))


@functools.lru_cache(maxsize=1024)
def meant(word: str, known: tuple[str, ...]) -> str:
    """The known word that an unknown one resembles; empty where there is none, or the word is known."""
    if word in known or any(mark in word for mark in ":{"):  # a name of another program
        return ""
    return next(iter(nearest_names(word, known, 1, _ALIKE)), "")
