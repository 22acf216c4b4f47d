"""Words of SDF: elements that mean nothing, and those that a mechanism has no place for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from xml.etree.ElementTree import Element

from ...errors import UnknownNameError
from ...robot.files.urdf_graph import WORDS, is_ambiguous, meant
from ..structure.mechanism import Unread

_MODEL = (
    "link", "joint", "frame", "pose", "static", "self_collide", "allow_auto_disable", "enable_wind", "plugin",
    "include", "model", "gripper",
)  # fmt: skip
_JOINT = {
    "joint": (
        "parent", "child", "pose", "axis", "axis2", "gearbox_ratio", "gearbox_reference_body", "thread_pitch",
        "screw_thread_pitch", "physics", "sensor", "plugin",
    ),
    "axis": ("xyz", "initial_position", "use_parent_model_frame", "dynamics", "limit", "mimic"),
    "limit": ("lower", "upper", "effort", "velocity", "stiffness", "dissipation"),
    "dynamics": ("damping", "friction", "spring_reference", "spring_stiffness"),
    "mimic": ("multiplier", "offset", "reference"),
}  # fmt: skip
_JOINT["axis2"] = _JOINT["axis"]
_OFTEN = ("sensor", "plugin", "physics")
_INERTIA = {
    "inertial": ("mass", "pose", "inertia", "density", "auto_inertia_params", "fluid_added_mass"),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
}
_PLACED = {
    "link": (
        "pose", "inertial", "collision", "visual", "sensor", "light", "gravity", "kinematic", "velocity_decay",
        "self_collide", "enable_wind", "must_be_base_link", "projector", "audio_source", "battery", "plugin",
    ),
    "frame": ("pose",),
}  # fmt: skip
_TOLD = ("pose", "inertial")
"""What a mechanism reads of a link or a frame: words that resemble others are not looked at."""
_ATTRIBUTES = {
    "joint": ("name", "type"),
    "xyz": ("expressed_in",),
    "mimic": ("joint", "axis"),
    "pose": ("relative_to", "frame", "degrees", "rotation_format"),
    "model": ("name", "canonical_link", "placement_frame", "version"),
    "frame": ("name", "attached_to"),
    "link": ("name",),
}


def foreign_words(model: Element) -> Iterator[Unread]:
    """Elements and attributes that SDF does not have, in what joins bodies and in their inertias.

    Args:
        model: the element of the model.
    """
    yield from _attributes(model, f"model '{model.get('name', '')}'")
    foreign = dict.fromkeys(str(element.tag) for element in model if element.tag not in _MODEL)
    slips = {word: meant(word, _MODEL) for word in islice(foreign, WORDS)}
    for element in model:
        if element.tag not in _MODEL:
            what = f"<{element.tag} name='{element.get('name', '')}'>"
            slip = slips.get(str(element.tag))
            yield _unread(what, str(element.tag), _MODEL) if slip else Unread(what, "not built")
        elif element.tag in ("model", "gripper"):
            yield Unread(f"<{element.tag} name='{element.get('name', '')}'>", "not built")
    for joint in model.findall("joint"):
        yield from _below(joint, f"joint '{joint.get('name')}'", _JOINT)
    for element in model:
        if element.tag in _PLACED:
            yield from _of_placed(element, f"{element.tag} '{element.get('name')}'")


def without_place(model: Element) -> Iterator[Unread]:
    """Words that change how bodies move, and for which a mechanism has no place: masses from shapes, forces.

    Args:
        model: the element of the model.
    """
    for link in model.findall("link"):
        what = f"link '{link.get('name')}'"
        inertial = link.find("inertial")
        if inertial is not None and _is(inertial.get("auto"), "1", "true"):
            reason = (
                "inertias are not computed from shapes: mass and inertia are those in numbers, 1 where none is given"
            )
            yield Unread(f"inertial auto='true' of {what}", reason)
        if _is(link.findtext("gravity"), "0", "false"):
            yield Unread(f"<gravity> of {what}", "gravity acts on every link here")
        if _is(link.findtext("kinematic"), "1", "true"):
            yield Unread(f"<kinematic> of {what}", "every link has dynamics here")
        if any(_is_not_zero(link.findtext(f"velocity_decay/{word}")) for word in ("linear", "angular")):
            yield Unread(f"<velocity_decay> of {what}", "it is no law here: give an ExternalForce to the dynamics")


def _is_not_zero(text: str | None) -> bool:
    return (text or "").strip().strip("+-0.") != ""


def _is(text: str | None, *words: str) -> bool:
    return (text or "").strip().lower() in words


def _of_placed(element: Element, what: str) -> Iterator[Unread]:
    """Words of a link or a frame, in what a mechanism reads of it."""
    known = _PLACED[str(element.tag)]
    yield from _attributes(element, what)
    for child in element:
        if child.tag in ("joint", "link", "frame"):
            yield Unread(
                f"<{child.tag}> inside {what}", "it has no meaning there, it belongs in <model>", is_mistake=True
            )
        elif child.tag in _TOLD:
            yield from _below(child, what, _INERTIA)
        elif meant(str(child.tag), known) in _TOLD:
            yield _unread(f"<{child.tag}> of {what}", str(child.tag), known)


def _below(element: Element, what: str, words: dict[str, tuple[str, ...]]) -> Iterator[Unread]:
    """Words below an element, as deep as the words go."""
    tag = str(element.tag)
    yield from _attributes(element, what)
    tags = [str(child.tag) for child in element]
    for word in dict.fromkeys(tags):
        if word in words.get(tag, ()) and word not in _OFTEN and is_ambiguous(element, word):
            more = ": the second axis is called <axis2>" if word == "axis" else ""
            yield Unread(f"<{word}> of {what}", f"it is given twice with different content{more}", is_mistake=True)
    for child in element:
        if tag not in words:
            continue
        if child.tag not in words[tag]:
            yield _unread(f"<{child.tag}> of {what}", str(child.tag), words[tag])
        else:
            yield from _below(child, what, words)


def _attributes(element: Element, what: str) -> Iterator[Unread]:
    known = _ATTRIBUTES.get(str(element.tag), ())
    for word in element.attrib:
        if meant(word, known):
            yield _unread(f"attribute '{word}' of <{element.tag}> of {what}", word, known)


def _unread(what: str, word: str, known: tuple[str, ...]) -> Unread:
    """A mistake where the word resembles one that belongs there, or belongs elsewhere; other words are listed."""
    if any(mark in word for mark in ":{"):
        return Unread(what, "an element of another program")
    elsewhere = next((tag for tag, words in _JOINT.items() if word in words), "")
    reason = f"it belongs in <{elsewhere}>" if elsewhere else str(UnknownNameError("word", word, known))
    return Unread(what, reason, is_mistake=bool(elsewhere or meant(word, known)))
