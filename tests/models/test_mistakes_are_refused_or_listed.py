"""Mistakes of those who design closed chains: each is refused by name, or listed in `unread`, never swallowed.

Mistakes in the four ways of writing a mechanism (URDF with a sidecar, SDF, MJCF, Python), in two lists, each
written down before any of it was tried.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_mechanisms import SDF, URDF, YAML

from constraints import Projector
from constraints.dynamics import forward_dynamics, simulate
from constraints.errors import ConstraintError
from constraints.loops import PointClosure, assemble_position
from constraints.models import Mechanism, load, mechanisms, sample_arm
from constraints.robot import Base

MJCF = """<mujoco><worldbody><body name="crank"><joint name="ja" axis="0 1 0"/><geom size="0.1"/>
    <body name="rod" pos="0.5 0 0"><joint name="jb" axis="0 1 0"/><geom size="0.1"/><site name="tip" pos="0.5 0 0"/>
    </body></body><site name="there" pos="0.7 0 0"/></worldbody>
  <equality><connect name="end" site1="tip" site2="there"/></equality></mujoco>"""


def urdf(folder: Path, old: str = "", new: str = "", loops: str | None = YAML) -> Any:
    """Load the four-bar, something in its URDF replaced, with a sidecar."""
    assert not old or old in URDF
    path = folder / "fourbar.urdf"
    path.write_text(URDF.replace(old, new, 1) if old else URDF)
    if loops is not None:
        (folder / "loops.yaml").write_text(loops)
    return load(path, None if loops is None else folder / "loops.yaml")


def sdf(old: str, new: str, **options: Any) -> Any:
    assert old in SDF
    return load(SDF.replace(old, new, 1), **options)


def mjcf(old: str, new: str) -> Any:
    assert old in MJCF
    return load(MJCF.replace(old, new, 1))


def beside(folder: Path, name: str, text: str) -> Any:
    """Load the four-bar with a file beside it."""
    (folder / name).write_text(text)
    return urdf(folder, loops=None).problem()


def four_bar() -> Any:
    return mechanisms.four_bar()


WRONG: Any = {"closed_loop": []}
"""What a sidecar holds, where its path is asked for."""


Mistake = tuple[Callable[[Path], Any], tuple[str, ...]]

MISTAKES: dict[str, Mistake] = {
    # URDF and sidecar
    "one frame closed to itself": (lambda f: urdf(f, loops=YAML.replace("tip_b", "tip_a")), ("tip_a", "itself")),
    "a loop on one link": (lambda f: urdf(f, loops=YAML.replace("tip_b", "coupler")), ("tip_a", "coupler", "move")),
    "a loop twice, turned round": (
        lambda f: urdf(f, loops="closed_loop: [[tip_a, tip_b], [tip_b, tip_a]]\ntype: [3d, 3d]"), ("tip_b", "twice"),
    ),
    "one type for all": (lambda f: urdf(f, loops=YAML.replace("[3d]", "3d")), ("'type'", "list", "[6d]")),
    "a pair, not a list of pairs": (
        lambda f: urdf(f, loops=YAML.replace("[[tip_a, tip_b]]", "[tip_a, tip_b]")), ("list of pairs", "[[tip_a, "),
    ),
    "a key twice": (lambda f: urdf(f, loops=YAML + "closed_loop: []\n"), ("closed_loop", "twice")),
    "a motor twice": (lambda f: urdf(f, loops=YAML.replace("[j1]", "[j1, j1]")), ("j1", "twice")),
    "a motor that the sidecar fixes": (
        lambda f: urdf(f, loops=YAML + "joint_name: [j1]\njoint_type: [FIXED]"), ("motor 'j1'", "fixed"),
    ),
    "a joint replaced twice": (
        lambda f: urdf(f, loops=YAML + "joint_name: [j2, j2]\njoint_type: [SPHERICAL, UJOINT_XY]"), ("j2", "twice"),
    ),
    "a universal joint of one axis": (
        lambda f: urdf(f, loops=YAML + "joint_name: [j2]\njoint_type: [UJOINT_YY]"), ("UJOINT_YY", "UJOINT_YX"),
    ),
    "a frame that two things are called": (
        lambda f: urdf(f, 'name="fb"', 'name="tip_a"'), ("tip_a", "body", "fixed joint", "rename"),
    ),
    "a name that YAML reads as a truth value": (
        lambda f: urdf(f, loops=YAML.replace("[j1]", "[on]")), ("True", "quotes"),
    ),
    "a misspelt key in the file beside": (
        lambda f: beside(f, "fourbar.yaml", YAML.replace("closed_loop", "closedloop")), ("fourbar.yaml", "closed_loop"),
    ),
    "only motors in the file beside": (
        lambda f: beside(f, "fourbar.yaml", "name_mot: [j1]\n"), ("fourbar.yaml", "name_mot", "closed_loop"),
    ),
    "the text of the sidecar for its path": (lambda f: load(URDF, YAML), ("path", "text")),
    "one line of the sidecar for its path": (lambda f: load(URDF, "closed_loop: [tip]"), ("path", "text")),
    "a mapping for the path of the sidecar": (lambda f: load(URDF, WRONG), ("loops", "path")),
    "a loop in <gazebo>": (
        lambda f: urdf(f, "</robot>", '<gazebo><joint name="j4" type="revolute"><parent>tip_a</parent>'
                       "<child>rocker</child></joint></gazebo></robot>"), ("j4", "gazebo", "sidecar"),
    ),
    "a mimic in <ros2_control>": (
        lambda f: urdf(f, "</robot>", '<ros2_control name="s" type="system"><joint name="j3">'
                       '<param name="mimic">j1</param></joint></ros2_control></robot>'),
        ("j3", "mimic", "ros2_control"),
    ),
    "a spring in the words of an SDF": (
        lambda f: urdf(f, '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="1" spring_stiffness="9"/>'),
        ("spring_stiffness", "j1", "JointSpring"),
    ),
    "a spring in <gazebo>": (
        lambda f: urdf(f, "</robot>", '<gazebo reference="j2"><springStiffness>9</springStiffness></gazebo></robot>'),
        ("springStiffness", "j2", "JointSpring"),
    ),
    "a misspelt attribute of a mimic": (
        lambda f: urdf(f, '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="j3" multipler="-2"/>'),
        ("multipler", "multiplier", "j1"),
    ),
    "a misspelt attribute of an origin": (
        lambda f: urdf(f, '<origin xyz="0 0 0.3"/>', '<origin xzy="0 0 0.3"/>'), ("xzy", "xyz", "j2"),
    ),
    "a misspelt child of a joint": (
        lambda f: urdf(f, '<origin xyz="0.5 0 0"/>', '<orign xyz="0.5 0 0"/>'), ("orign", "origin", "j3"),
    ),
    "a misspelt type of joint": (lambda f: urdf(f, 'type="fixed"', 'type="Fixed"'), ("fa", "Fixed", "fixed")),
    # SDF
    "a misspelt direction": (lambda f: sdf("<xyz>0 1 0</xyz>", "<xzy>0 1 0</xzy>"), ("xzy", "xyz", "ja")),
    "a misspelt bound": (lambda f: sdf("upper>1</upper", "uper>1</uper"), ("uper", "upper", "jb")),
    "a hinge without an axis": (
        lambda f: sdf("<child>a</child><axis><xyz>0 1 0</xyz></axis>", "<child>a</child>"), ("ja", "axis"),
    ),
    "a mimic of nothing": (lambda f: sdf("<xyz>0 1 0</xyz>", "<xyz>0 1 0</xyz><mimic/>"), ("ja", "mimic", "joint")),
    "a mimic beside the axis": (
        lambda f: sdf("</axis></joint>", '</axis><mimic joint="jb"/></joint>'), ("mimic", "ja", "axis"),
    ),
    "a link of a nested model": (lambda f: sdf("<parent>rod</parent><child>b", "<parent>arm::rod</parent><child>b"),
                                 ("end", "arm::rod", "rod")),
    # MJCF
    "a site that is not there": (lambda f: mjcf('site2="there"', 'site2="ther"'), ("ther", "end")),
    "a connect of a body to itself": (
        lambda f: mjcf('site1="tip" site2="there"', 'body1="rod" body2="rod" anchor="0 0 0"'), ("end", "rod"),
    ),
    "a sidecar for an MJCF": (lambda f: load(MJCF, "loops.yaml"), ("loops", "MJCF", "equality")),
    # Python
    "a closure of another robot": (
        lambda f: Mechanism(four_bar().robot, mechanisms.delta_robot().closures), ("rod 1_left", "another robot"),
    ),
    "a closure that is in no list": (lambda f: Mechanism(four_bar().robot, four_bar().closures[0]), ("closures", "[")),
    "a closure among the couplers": (lambda f: Mechanism(four_bar().robot, (), four_bar().closures),
                                     ("coupler 0", "closures")),
    "a frame closed to itself in Python": (
        lambda f: PointClosure(sample_arm(), "tool", "tool"), ("both on joint", "two joints"),
    ),
    "a mechanism for its constraints": (
        lambda f: assemble_position(four_bar(), four_bar().robot.neutral), ("constraint_set()",),
    ),
    "a mechanism for the constraints of dynamics": (
        lambda f: forward_dynamics(four_bar(), four_bar().robot.at([0.0] * 3, [0.0] * 3)), ("constraint_set()",),
    ),
    "a motion that starts without velocities": (
        lambda f: simulate(four_bar().constraint_set(), four_bar().posture("closed"), None, 0.1),  # type: ignore[arg-type]
        ("v0", "zeros at rest"),
    ),
    "a mechanism for a problem": (lambda f: Projector(four_bar()), ("problem()",)),
    "the name of a posture for q": (lambda f: four_bar().judge("closed"), ("posture('closed')",)),
    "the name of a built-in mechanism": (lambda f: load("four_bar"), ("mechanisms.four_bar",)),
}  # fmt: skip


# A second list, written after the first was mended.

AXIS = "<child>a</child><axis><xyz>0 1 0</xyz></axis>"
LINK = '<link name="tip_b"/>'

MISTAKES |= {
    "a base in words for a URDF": (lambda f: load(URDF, base="free_flyer"), ("base", "Base", "FREE_FLYER")),  # type: ignore[arg-type]
    "a base in words for an SDF": (lambda f: load(SDF, base="fixed"), ("base", "Base", "FIXED")),  # type: ignore[arg-type]
    "a moving base for an SDF that stands": (lambda f: load(SDF, base=Base.FREE_FLYER), ("base", "ground", "world")),
    "a joint inside a link": (
        lambda f: urdf(f, LINK, '<link name="tip_b"><joint name="in" type="fixed"/></link>'), ("joint", "tip_b"),
    ),
    "a joint inside a link of an SDF": (
        lambda f: sdf('<link name="base"/>', '<link name="base"><joint name="in" type="ball"/></link>'),
        ("joint", "link 'base'"),
    ),
    "two origins": (
        lambda f: urdf(f, '<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 0.3"/><origin xyz="1 0 0"/>'),
        ("j2", "origin", "twice"),
    ),
    "two parents in one joint of an SDF": (
        lambda f: sdf("<parent>base</parent><child>a", "<parent>base</parent><parent>b</parent><child>a"),
        ("ja", "parent", "twice"),
    ),
    "two axes of one name": (
        lambda f: sdf(AXIS, AXIS + "<axis><xyz>1 0 0</xyz></axis>"), ("ja", "axis", "twice", "axis2"),
    ),
    "an empty sidecar": (lambda f: urdf(f, loops=""), ("loops.yaml", "empty")),
    "a key without a value": (lambda f: urdf(f, loops="closed_loop:\ntype:\n"), ("closed_loop", "empty")),
    "a sidecar for a mechanism": (lambda f: load(written(f, "loops.yaml", YAML)), ("loops.yaml", "loops=")),
    "an SRDF for a URDF": (
        lambda f: load("<robot name='r'><group name='arm'/><group_state name='home' group='arm'/></robot>"),
        ("SRDF", "link"),
    ),
    "two bounds for the joint that never ends": (
        lambda f: sdf('name="jb" type="revolute"', 'name="jb" type="continuous"'), ("bounds", "jb", "continuous"),
    ),
    "a second axis of a hinge": (
        lambda f: sdf(AXIS, AXIS + "<axis2><xyz>1 0 0</xyz></axis2>"), ("axis2", "ja", "revolute"),
    ),
    "an axis of a joint that has none": (
        lambda f: urdf(f, '<origin xyz="0.5 0 0"/></joint>', '<origin xyz="0.5 0 0"/><mimic joint="j1"/></joint>'),
        ("mimic", "fa", "fixed"),
    ),
    "a folder for the sidecar": (lambda f: load(URDF, f), ("folder", "loops")),
    "a type that is a number": (lambda f: urdf(f, loops=YAML.replace("3d", "6")), ("'type'", "6d")),
    "a closed loop of three": (
        lambda f: urdf(f, loops=YAML.replace("[[tip_a, tip_b]]", "[[tip_a, tip_b, base]]")), ("pair", "tip_a"),
    ),
    "a gearbox without a reference": (
        lambda f: sdf("</model>", '<joint name="g" type="gearbox"><parent>a</parent><child>b</child></joint></model>'),
        ("joint 'g'", "gearbox_reference_body"),
    ),
    "a plain rod of the length zero in Python": (lambda f: mechanisms.four_bar(crank=0.0), ("crank",)),
}  # fmt: skip


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_designers_are_refused_or_listed(name: str, tmp_path: Path) -> None:
    """Mend 4: a typed error, or an entry of `unread`, that names the culprit and what to do; never silence."""
    call, words = MISTAKES[name]
    try:
        made = call(tmp_path)
    except ConstraintError as error:
        said = str(error)
    else:
        said = "\n".join(map(str, made.unread))
    for word in words:
        assert word in said


def test_what_the_mistakes_start_from_is_right(tmp_path: Path) -> None:
    """Mend 4: the files that the mistakes are put into have none."""
    for mechanism in (urdf(tmp_path), load(SDF), load(MJCF)):
        assert not [entry for entry in mechanism.unread if entry.is_mistake]
        assert mechanism.closures
