"""Models of robots as data: they come back to the last bit, and what is wrong in them is refused with its place."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import mixed_tree, two_arms

from constraints import Implicit, Position, Problem, Robot
from constraints.errors import FileContentError
from constraints.files.joint_models import model_data, model_from_data
from constraints.files.json_values import MOST_COORDINATES, JsonValue

DATA = model_data(mixed_tree().model)
JOINTS = {joint["name"]: i for i, joint in enumerate(DATA["joints"])}
TURNED, LONG = [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [0.0, 0.0, 1.0 + 1e-5]
AXES = DATA["joints"][JOINTS["universal"]]["axes"]
STILL = {"rotation": np.eye(3).tolist(), "translation": [0.0, 0.0, 0.0]}
Change = Callable[[dict[str, Any]], object]


def read(change: Change) -> Any:
    data = copy.deepcopy(DATA)
    change(data)
    return model_from_data(JsonValue("the file", "$", data))


def joint(name: str, **entries: Any) -> Change:
    return lambda data: data["joints"][JOINTS[name]].update(entries)


def nested(levels: int) -> Change:
    """A composite joint in so many others."""
    chain = DATA["joints"][JOINTS["chain"]]
    part = {"type": chain["type"], "parts": chain["parts"]}
    for _ in range(levels):
        part = {"type": "Composite", "parts": [part | {"placement": STILL}]}
    return joint("chain", **part)


def test_models_come_back() -> None:
    assert model_data(read(lambda data: None)) == DATA
    for few in (
        joint("rz", parent=0), joint("universal", axes=[AXES[0], (np.array(AXES[1]) * (1.0 + 4e-7)).tolist()]),
        lambda data: data.update(bodies=1), lambda data: data["frames"][3].update(previous=0, joint=0), nested(4),
        lambda data: data.update(postures={"home": [0.0] * mixed_tree().nq}),
    ):  # fmt: skip
        data = copy.deepcopy(DATA)
        few(data)
        assert model_data(read(few)) == data


BAD: dict[str, tuple[Change, str, str]] = {
    "its own parent": (joint("rz", parent=3), "$.joints[2].parent", "from 0 to 2"),
    "a parent before the world": (joint("rz", parent=-1), "$.joints[2].parent", "from 0 to 2"),
    "the first on itself": (joint("rx", parent=1), "$.joints[0].parent", "from 0 to 0"),
    "no such type": (joint("rx", type="RW"), "$.joints[0].type", "RX"),
    "an entry of another type": (joint("rx", pitch=0.1), "$.joints[0]", "the entry 'pitch'"),
    "a long axis": (joint("revolute", axis=LONG), f"$.joints[{JOINTS['revolute']}].axis", "an axis of norm 1"),
    "one axis": (joint("universal", axes=AXES[:1]), f"$.joints[{JOINTS['universal']}].axes", "two axes, got 1"),
    "one axis twice": (joint("universal", axes=[AXES[0]] * 2), f"$.joints[{JOINTS['universal']}].axes", "right angles"),
    "no parts": (joint("chain", parts=[]), f"$.joints[{JOINTS['chain']}].parts", "at least one joint"),
    "deep": (nested(5), f"$.joints[{JOINTS['chain']}]" + ".parts[0]" * 5, "more than 4 levels deep"),
    "two rows": (
        joint("rx", placement=STILL | {"rotation": TURNED[:2]}), "$.joints[0].placement.rotation", "three rows, got 2"
    ),
    "a mirror": (
        joint("rx", placement=STILL | {"rotation": TURNED}), "$.joints[0].placement.rotation", "right-handed"
    ),
    "a skew matrix": (
        joint("rx", placement=STILL | {"rotation": [LONG, *STILL["rotation"][1:]]}),
        "$.joints[0].placement.rotation", "orthonormal",
    ),
    "gravity": (lambda data: data["gravity"].pop(), "$.gravity", "expected 6 numbers, got 5"),
    "no bodies": (lambda data: data.update(bodies=0), "$.bodies", f"from 1 to {10 * MOST_COORDINATES}"),
    "many bodies": (
        lambda data: data.update(bodies=10 * MOST_COORDINATES + 1), "$.bodies", f"from 1 to {10 * MOST_COORDINATES}"
    ),
    "an inertia less": (lambda data: data["inertias"].pop(), "$.inertias", "expected 26, the world's first, got 25"),
    "a short inertia": (lambda data: data["inertias"][4].pop(), "$.inertias[4]", "expected 10 numbers, got 9"),
    "a frame on no joint": (lambda data: data["frames"][0].update(joint=26), "$.frames[0].joint", "from 0 to 25"),
    "a frame before the world": (lambda data: data["frames"][0].update(joint=-1), "$.frames[0].joint", "from 0 to 25"),
    "before the first": (lambda data: data["frames"][0].update(previous=-1), "$.frames[0].previous", "from 0 to 2147"),
    "a frame twice": (lambda data: data["frames"][1].update(name="rx", type="JOINT"), "$.frames[1]", "second frame"),
    "few limits": (
        lambda data: data["limits"]["upperPositionLimit"].pop(), "$.limits.upperPositionLimit", "numbers, got 56"
    ),
    "a posture": (lambda data: data.update(postures={"home": [0.0]}), "$.postures.home", "numbers, got 1"),
    "a number that is none": (joint("hx", pitch="inf"), f"$.joints[{JOINTS['hx']}].pitch", "finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_broken_models_are_refused_with_their_place(case: str) -> None:
    change, place, said = BAD[case]
    with pytest.raises(FileContentError, match=said) as refused:
        read(change)
    assert refused.value.place == place


# What a robot has beside its model.

PAIR, NQ = ["torso_link", "left_elbow_link"], two_arms().nq
MIMIC = {"joint": "left_elbow", "source": "right_elbow", "multiplier": 2.0, "offset": 0.5}


def stored(folder: Path, **entries: Any) -> Robot:
    """A robot of a problem that is saved, changed and read."""
    path = folder / "problem.json"
    Problem(two_arms(), [Implicit.zero(Position(two_arms(), "left_tool"))]).save(path)
    data = json.loads(path.read_text())
    data["shared"]["robot 1"] |= entries
    path.write_text(json.dumps(data))
    robot = Problem.load(path).robot
    assert robot is not None
    return robot


def test_what_a_robot_has_beside_its_model_is_read(tmp_path: Path) -> None:
    robot = stored(
        tmp_path, name="pair", mimics=[MIMIC], references={"low": [0.25] * NQ},
        disabled_collisions=[PAIR, [*PAIR, "never"]],
    )  # fmt: skip
    assert robot.name == "pair"
    assert [tuple(pair) for pair in robot.disabled_collisions] == [(*PAIR, ""), (*PAIR, "never")]
    assert [dataclasses.asdict(mimic) for mimic in robot.mimics] == [MIMIC]
    assert robot.reference("low").tolist() == [0.25] * NQ
    again = stored(tmp_path)
    assert (again.disabled_collisions, again.mimics, tuple(again.references)) == ((), (), tuple(two_arms().references))


@pytest.mark.parametrize(
    ("entries", "place", "said"),
    [
        ({"disabled_collisions": [[*PAIR, "never", "no"]]}, ".disabled_collisions[0]", "3"),
        ({"disabled_collisions": [PAIR[:1]]}, ".disabled_collisions", "two names of links, and a reason"),
        ({"disabled_collisions": [[PAIR[0], "left_elbw_link"]]}, ".disabled_collisions", "left_elbow_link"),
        ({"disabled_collisions": [[PAIR[0], 3]]}, ".disabled_collisions[0][1]", "a text"),
        ({"mimics": [MIMIC | {"joint": "left_elbw"}]}, ".mimics[0].joint", "left_elbow"),
        ({"mimics": [MIMIC | {"source": "elbow"}]}, ".mimics[0].source", "right_elbow"),
        ({"mimics": [MIMIC | {"offset": "inf"}]}, ".mimics[0].offset", "finite"),
        ({"references": {"low": [0.25] * (NQ - 1)}}, ".references.low", f"{NQ} numbers, got {NQ - 1}"),
        ({"bounds": {"lower": [0.0] * NQ, "upper": [-1.0] * NQ}}, ".bounds", "above"),
        ({"visuals": []}, "", "'visuals', which is unknown"),
    ],
)  # fmt: skip
def test_what_is_wrong_beside_a_model_is_refused_with_its_place(
    entries: dict[str, Any], place: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(FileContentError, match=said) as refused:
        stored(tmp_path, **entries)
    assert refused.value.place.endswith(place)
