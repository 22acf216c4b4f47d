"""Words of an SDF that mean nothing, and what a mechanism without loops says of its file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from constraints.errors import EmptyProblemError, FileError
from constraints.models import load

SDF = """<sdf version="1.11" xmlns:drake="http://drake.mit.edu"><model name="m">
  <link name="a"><inertial><mass>1</mass></inertial></link><link name="b"/><link name="c"/>
  <joint name="ground" type="fixed"><parent>world</parent><child>a</child></joint>
  <joint name="x" type="revolute"><parent>a</parent><child>b</child>
    <axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
  <joint name="y" type="prismatic"><parent>b</parent><child>c</child>
    <axis><xyz>1 0 0</xyz><mimic joint="x"><multiplier>2</multiplier></mimic></axis></joint></model></sdf>"""


def said(old: str, new: str) -> str:
    assert old in SDF
    with pytest.raises(FileError) as caught:
        load(SDF.replace(old, new, 1))
    text = str(caught.value)
    lenient = load(SDF.replace(old, new, 1), strict=False)
    assert any(entry.is_mistake and str(entry) in text for entry in lenient.unread)
    return text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<parent>a</parent>", "<parent>a</parent><pos>0 0 1 0 0 0</pos>", ("<pos>", "joint 'x'", "pose")),
        ("<limit>", "<limits>", ()),
        ("<multiplier>2</multiplier>", "<multiplyer>2</multiplyer>", ("<multiplyer>", "joint 'y'", "multiplier")),
        ("<lower>-1</lower>", "<lover>-1</lover>", ("<lover>", "joint 'x'", "lower")),
        ("<mass>1</mass>", "<mas>1</mas>", ("<mas>", "link 'a'", "mass")),
        ("<link name=\"c\"/>", "<link name=\"c\"/><joints/>", ("<joints", "joint")),
        ("<model name=\"m\">", "<model name=\"m\" cannonical_link=\"b\">", ("cannonical_link", "canonical_link")),
        ("<xyz>0 0 1</xyz>", "<xyz expresed_in=\"a\">0 0 1</xyz>", ("expresed_in", "joint 'x'", "expressed_in")),
        ("</axis></joint>", "</axis><limit><lower>0</lower></limit></joint>", ("<limit>", "joint 'x'", "<axis>")),
        ("type=\"revolute\"", "type=\"revolut\"", ("joint 'x'", "revolut", "nearest names are revolute")),
        ("<child>b</child>", "<child>bb</child>", ("joint 'x'", "'bb'", "nearest names are b")),
        ("<mimic joint=\"x\">", "<mimic joint=\"y\">", ("mimic tag of joint 'y'", "itself")),
        ("<mimic joint=\"x\">", "<mimic joint=\"xx\">", ("mimic tag of joint 'y'", "'xx'", "nearest names are x")),
    ],
)  # fmt: skip
def test_slips_of_the_pen_are_errors(old: str, new: str, words: tuple[str, ...]) -> None:
    """Mend 4 and 21: unknown children, attributes, types and names, a joint that mimics itself."""
    if new == "<limits>":
        text = SDF.replace("<limit>", "<limits>").replace("</limit>", "</limits>")
        with pytest.raises(FileError, match=r"<limits> of joint 'x'.*nearest names are limit"):
            load(text)
        assert np.isinf(load(text, strict=False).robot.bounds.upper[0])
        return
    text = said(old, new)
    for word in words:
        assert word in text


def test_words_of_other_programs_are_listed() -> None:
    """Mend 21: unknown children of a joint are listed; what resembles nothing, or has a prefix, is no mistake."""
    text = SDF.replace("</axis></joint>", "</axis><drake:mimic joint='y'/><hysteresis>1</hysteresis></joint>", 1)
    what = [entry.what for entry in load(text).unread]
    assert any("mimic> of joint 'x'" in entry for entry in what)
    assert "<hysteresis> of joint 'x'" in what
    assert not load(SDF).unread


ITSELF = "it joins a link to itself, or its child is the world"


@pytest.mark.parametrize(
    ("old", "new", "what", "reason"),
    [
        ("<model name=\"m\">", "<world name='w'><joint name='j' type='fixed'/><model name=\"m\">",
         "joint 'j' of the world", "only the first model of a file is built"),
        ("<model name=\"m\">", "<model name=\"m\"><pose relative_to='hall'>0 0 1 0 0 0</pose>",
         "pose of the model relative to 'hall'", "it is read as a pose in the world"),
        ("<model name=\"m\">", "<model name=\"m\"><pose relative_to='world'>0 0 1 0 0 0</pose>", "", ""),
        ("<child>b</child>", "<child>world</child>", "joint 'x'", ITSELF),
        ("<child>b</child>", "<child>a</child>", "joint 'x'", ITSELF),
    ],
)  # fmt: skip
def test_what_has_no_place_in_a_model_is_listed(old: str, new: str, what: str, reason: str) -> None:
    assert old in SDF
    text = SDF.replace(old, new, 1)
    text = text.replace("</model></sdf>", "</model></world></sdf>") if "<world" in text else text
    unread = [(entry.what, entry.reason) for entry in load(text, strict=False).unread]
    assert (what, reason) in unread if what else not unread


def test_links_of_nested_models_are_no_mistake() -> None:
    """Mend 4: a nested model is right, and not built: so is what refers to it."""
    text = SDF.replace("</model>", "<model name='arm'><link name='d'/></model><joint name='z' type='fixed'>"
                       "<parent>c</parent><child>arm::d</child></joint></model>")  # fmt: skip
    entries = {entry.what: entry for entry in load(text).unread}
    assert "nested" in entries["joint 'z'"].reason
    assert "<model name='arm'>" in entries


def test_the_empty_problem_of_a_mechanism_says_what_was_not_read(tmp_path: Path) -> None:
    """Mend 4: the error of a mechanism that closes nothing cites what its file has."""
    five_bar = Path(__file__).parent.parent / "data" / "mechanisms" / "5bar_linkage" / "5bar_linkage.urdf"
    loops = tmp_path / "loops.yaml"
    loops.write_text("closed_loop: [[closedloop1_A, nowhere]]\ntype: [6d]\n", encoding="utf-8")
    mechanism = load(five_bar, loops, strict=False)
    with pytest.raises(EmptyProblemError) as caught:
        mechanism.problem()
    for word in (mechanism.name, "no closure", "'nowhere'", "loops.yaml"):
        assert word in str(caught.value)
    loops.write_text("closed_loop: []\n", encoding="utf-8")
    with pytest.raises(EmptyProblemError, match="sidecar"):
        load(five_bar, loops).problem()


@pytest.mark.parametrize(
    ("version", "words", "is_mistake"),
    [
        *((known, "", False) for known in ("1.4", "1.5", "1.11", "1.12")),
        *((other, f"version {other} of SDF", False) for other in ("1", "1.3", "1.13", "2.0", "1.99")),
        *((none, f"version '{none}' of SDF", True) for none in ("", "new", "1.x", "-1.4", "1..4", "v1.9")),
        (None, "the file gives none: it is read as 1.12", False),
    ],
)
def test_versions_that_are_not_known_are_named(version: str | None, words: str, is_mistake: bool) -> None:
    """What is no version is a mistake; others are read, and listed."""
    text = SDF.replace(' version="1.11"', "" if version is None else f' version="{version}"')
    if is_mistake:
        with pytest.raises(FileError, match=re.escape(f"{words}: it is none; versions 1.4 to 1.12 are known")):
            load(text)
    found = [each for each in load(text, strict=False).unread if "version" in str(each)]
    assert [each.is_mistake for each in found] == ([is_mistake] if words else [])
    assert all(words in str(each) for each in found)
