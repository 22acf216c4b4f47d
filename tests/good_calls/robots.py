"""Robots: their frames, bounds, postures; URDF and SRDF."""

from __future__ import annotations

from functools import partial

import numpy as np
import pinocchio as pin
from bad_values import Good, Kind, frame, free, key, placement, point, thing, typo, vector
from robots import arm, two_arms

import constraints as lc
from constraints.manipulation import read_semantics
from liegroups import Rn

from .things import BOX

JOINT, FRAME, TOOL = typo(*arm().joint_names), frame(*arm().frame_names), free("tool")


def of_robots(good: Good) -> None:
    robot, model = arm(), arm().model
    call = good(lc.Robot, model, bounds=robot.bounds, references=free({}), mimics=free([]))
    call.but("reference", references=[3, print, [1], "home", 2.5]).but("mimic", mimics=[[3], ["a"], [None], 5, print])
    folded = [vector(7).within(lambda q: {"folded": q})]
    call.but("folded", references=folded)
    good(lc.Robot.system, [lc.Part("left", robot)]).but("left", parts=[[lc.Part("left", robot)] * 2])

    def system(name, other, placement, on):
        return lc.Robot.system([lc.Part("left", robot), lc.Part(name, other, placement, on)])

    call = good(system, free("right"), robot, placement(), key("left/tool")).blamed(on=("frame", "on"), other="part")
    call.but("name of part 1", name=["", 3, None])
    good(robot.frame, FRAME)
    good(robot.frame, TOOL, placement())
    for name in ("left_tool", "right_tool", "right_wrist_roll"):
        good(robot.frame, TOOL).but(name, name=[two_arms().frame(name)])
        good(lc.Position, free(robot), TOOL).but(name, frame=[two_arms().frame(name)])
    call = good(robot.with_frame, free("tip"), FRAME, placement()).blamed(placement="placement of frame 'tip'")
    call.but("name of a frame", name=["", 3, None, {}, b"x"]).but("tool", name=["tool"])
    call = good(lc.Frame, free("tip"), 1, placement()).blamed(placement="placement of frame 'tip'")
    call.but("name", name=[thing("str")]).but("joint", joint=["elbow"])
    for of_joint in (robot.slice_of, robot.velocity_slice_of, robot.joint_index, robot.segments):
        good(of_joint, JOINT).blamed(joints0="joint")
    good(robot.segments, free("elbow"), free("wrist_roll")).but("elbow", joints1=["elbow"])
    good(robot.reference, typo("home")).blamed(name="reference posture")
    call = good(robot.with_references, free({})).but("reference", references=[3, [1.0], "home", None, print])
    call.but("folded", references=folded)
    good(robot.random, np.random.default_rng(0), 2)


def of_bounds(good: Good) -> None:
    robot, bounds = arm(), arm().bounds
    call = good(robot.with_bounds, free({"elbow": (-1.0, 1.0)})).but("bounds", bounds=[thing("dict")])
    call.but("joint", bounds=[key(*arm().joint_names).within(lambda name: {name: (-1.0, 1.0)})])
    wrong = ["x", "1", None, {}, [1.0, 2.0], np.nan, print, 1j, object(), True]
    pairs = [(1.0, -1.0), (np.inf, 1.0), 3, None, "ab", (1.0,), (1.0, 2.0, 3.0), print]
    pairs += [(low, 1.0) for low in wrong] + [(-1.0, high) for high in wrong]
    call.but("elbow", bounds=[{"elbow": pair} for pair in pairs])
    good(BOX.with_bounds, free({})).but("root_joint", bounds=[{"root_joint": (np.zeros(7), np.ones(7))}])
    low, high = free(np.full(3, -1.0)), free(np.full(3, 1.0))
    sides = [np.zeros(2), np.zeros((1, 3)), "x", None, {}, print, ["1", "2", "3"], high.good + 1j, high.good > 0]
    holed = [[np.nan if j == i else -1.0 for j in range(3)] for i in range(3)]
    call = good(lc.Bounds, Rn(3), low, high).but("lower bound", lower=[*sides, *holed]).but("upper bound", upper=sides)
    call.given("bound", lower=high.good, upper=low.good)
    wrong = [np.zeros(6), np.zeros((1, 7)), "x", None, {}, print, ["a"] * 7, [True] * 7, np.zeros(7) + 1j]
    for of_point in (bounds.contains, bounds.violations, bounds.clip):
        good(of_point, free(robot.neutral)).but("q", q=wrong)
    good(lc.Bounds.none, Rn(3))
    good(bounds.replace, free({})).but("bounds", bounds=[thing("dict")])


def of_motion(good: Good) -> None:
    robot = arm()
    call = good(robot.configuration, free({"elbow": 0.1}), start=free(robot.neutral))
    call.but("joint", values=[key(*arm().joint_names).within(lambda name: {name: 0.1})])
    call.but("start", start=[np.zeros(6), 3, {}, np.full(7, np.nan)]).but(
        "reference posture", start=["hom", "", "Home"]
    )
    wrong = ["x", {}, [1.0, 2.0], np.nan, np.inf, print, 1j, object(), True, [[1.0]], pin.SE3.Identity()]
    call.but("elbow", values=[{"elbow": angle} for angle in wrong])
    call.but("values", values=[3, [1], "home", print, np.zeros(7)])
    good(BOX.configuration, free({})).but("root_joint", values=[placement().within(lambda x: {"root_joint": x})])
    good(robot.at, free(robot.neutral), vector(7), thing("None Workspace")).blamed(v="velocity")
    for owner in (robot, BOX):
        for of_point in (owner.at, owner.check, owner.format):
            good(of_point, point(owner.space))
    motion = robot.at(robot.neutral, np.zeros(7))
    for of_frame in (motion.posture.placement, motion.posture.jacobian, motion.velocity, motion.drift_acceleration):
        good(of_frame, frame("tool", "elbow"))


def of_urdf(good: Good) -> None:
    text = "<robot name='box'><link name='body'/></robot>"
    call = good(lc.Robot.from_urdf, free(text), base=lc.Base.FREE_FLYER, srdf=free(None))
    call.but("nowhere", source=["/nowhere.urdf", "nowhere/arm.urdf", "package://nowhere/arm.urdf"])
    call.but(("source", "URDF"), source=[thing("str bytes")])
    broken = ["<robot", "<robot name='a'><link/></robot>", "<thing/>", "<robot name='a'><joint name='j'/></robot>", ""]
    call.but(("URDF", "text", "robot", "XML", "path"), source=broken)
    call.but(("SRDF", "nowhere"), srdf=["/nowhere.srdf", 3, print, {}])


SRDF = """<robot name='arm'>
  <group_state name='ready' group='arm'><joint name='elbow' value='0.5'/></group_state>
  <disable_collisions link1='forearm' link2='tool' reason='Never'/>
  <disable_default_collisions link='tool'/>
  <gripper name='hand' clearance='0.01'><position>0 0 0.1 1 0 0 0</position><link name='tool'/></gripper>
  <handle name='knob' clearance='0.02' approaching_direction='0 0 1'>
    <position xyz='0 0 0.1' rpy='0 0 0'/><link name='tool'/><mask>true true 1 1 1 0</mask></handle>
  <contact name='sole'><link name='tool'/><point>1 -1 0 1 1 0 -1 1 0 -1 -1 0</point><shape>4 0 1 2 3</shape></contact>
</robot>"""
OF_ROBOTS = (
    ("value='0.5'", "value='half'", "half"),
    ("value='0.5'", "value='nan'", "nan"),
    ("value='0.5'", "value=''", "elbow"),
    ("value='0.5'", "value='0 1 2'", "elbow"),
    ("name='ready'", "named='ready'", "group_state"),
    ("joint name='elbow'", "joint", "joint"),
    ("link1='forearm'", "link='forearm'", "link1"),
    ("link2='tool'", "link2=''", "link2"),
    ("collisions link='tool'", "collisions link1='tool'", "'link'"),
    ("<disable_collisions", "<disable_collision", "disable_collision"),
    ("<disable_default_collisions", "<disable_defaults_collisions", "disable_defaults_collisions"),
)
OF_SEMANTICS = (
    ("<gripper name='hand'", "<gripper", "gripper"),
    ("clearance='0.01'", "clearance='-0.01'", "hand"),
    ("clearance='0.01'", "clearance='1 2'", "hand"),
    ("clearance='0.01'", "clearence='0.01'", "clearence"),
    (">0 0 0.1 1 0 0 0<", ">0 0 0.1 0 0 0 0<", "hand"),
    (">0 0 0.1 1 0 0 0<", ">0 0 0.1 1 0 0<", "hand"),
    (">0 0 0.1 1 0 0 0<", ">0 0 inf 1 0 0 0<", "inf"),
    ("<position>0 0 0.1 1 0 0 0</position>", "", "position"),
    ("xyz='0 0 0.1'", "xyz='0 0'", "xyz"),
    ("rpy='0 0 0'", "rpy='0 0 0' xyzw='0 0 0 1'", "xyzw"),
    ("rpy='0 0 0'", "rp='0 0 0'", "rp"),
    ("direction='0 0 1'", "direction='0 0 0'", "knob"),
    ("direction='0 0 1'", "direction='up'", "up"),
    ("direction='0 0 1'", "direction='0 1'", "approaching_direction"),
    ("true true 1 1 1 0", "true true 1 1 1", "mask"),
    ("true true 1 1 1 0", "yes true 1 1 1 0", "yes"),
    ("true true 1 1 1 0", "1 1 1 1 0 2", "2"),
    ("true true 1 1 1 0", "1 1 1 0 0 1", "rotation"),
    ("<mask>", "<mask>1 1 1 1 1 1</mask><mask>", "mask"),
    ("<point>1 -1 0", "<point>1 -1", "point"),
    ("<point>1 -1 0", "<point>1 -1 zero", "zero"),
    ("<point>1 -1 0 1 1 0 -1 1 0 -1 -1 0</point>", "", "point"),
    ("4 0 1 2 3", "4 0 1 2", "indices"),
    ("4 0 1 2 3", "4 0 1 2 9", "vertex 9"),
    ("4 0 1 2 3", "4 0 2 1 3", "cross"),
    ("4 0 1 2 3", "2 0 1", "sole"),
    ("4 0 1 2 3", "3 0 0 0", "sole"),
    ("4 0 1 2 3", "-1 0", "whole numbers"),
    ("4 0 1 2 3", "4 0 1 2 2.5", "whole numbers"),
    ("4 0 1 2 3", "", "shape"),
    ("1 1 0 -1 1 0", "1 1 1 -1 1 0", "plane"),
    ("<handle name='knob' clearance='0.02'", "<handle name='knob' clearance='x'", "knob"),
    ("</robot>", "<gripper name='hand'><link name='tool'/><position>0 0 0 1 0 0 0</position></gripper></robot>",
     "another one"),
    ("<link name='tool'/><mask>", "<link name='tol'/><mask>", "tol"),
    ("<link name='tool'/><mask>", "<mask>", "link"),
)  # fmt: skip
"""What is written in a file, what is written instead, and a word that the error must have."""


def of_srdf(good: Good) -> None:
    links = "<link name='base'/><link name='forearm'/><link name='tool'/>"
    joints = "".join(
        f"<joint name='{name}' type='continuous'><parent link='{a}'/><child link='{b}'/></joint>"
        for name, a, b in (("shoulder", "base", "forearm"), ("elbow", "forearm", "tool"))
    )
    robot = lc.Robot.from_urdf(f"<robot name='arm'>{links}{joints}</robot>")
    others = [
        "<sdf version='1.7'/>",
        "<mujoco/>",
        "<!DOCTYPE robot [<!ENTITY a 'b'>]><robot/>",
        "/nowhere.srdf",
        "a.srdf",
    ]
    cut = Kind(None, (lambda c: SRDF[: int(c.rng.integers(len(SRDF) - 1))],))
    for read, mistakes in ((robot.with_srdf, OF_ROBOTS), (partial(read_semantics, robot), OF_SEMANTICS)):
        call = good(read, free(SRDF)).but("SRDF", source=[thing("str bytes"), cut])
        call.but(("SRDF", "nowhere", "a.srdf"), source=others)
        for old, new, culprit in mistakes:
            call.but(culprit, source=[SRDF.replace(old, new)])
        for folders in (3, [3], None):
            call.given("package", source="package://nowhere/a.srdf", packages=folders)
    good(read_semantics, robot, free(SRDF), free("")).but(("prefix", "link", "frame"), prefix=[3, None, "r1"])
    wrong = [3, "tool", ["tool"], [("tool",)], [("tool", 3)], [("tool", "tol")], [("tool", "base", None)], [None]]
    good(lc.Robot, free(robot.model), disabled_collisions=free([])).but(
        ("collision", "link"), disabled_collisions=wrong
    )
