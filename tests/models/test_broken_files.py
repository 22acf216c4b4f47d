"""Files that are broken, cut, hostile, or of a later version: each ends in a typed error that names the place."""

from __future__ import annotations

import copy
import functools
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from broken_mechanisms import KINDS, Broken, broken, taken, untouched
from each_choice import draws
from explicit_samples import arm_and_box
from fuzz import BadInput, verdict
from robots import mixed_tree
from samples import arm_frames

from constraints import (
    Affine,
    Comparison,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Report,
    Robot,
    Transformation,
    explicit_relative_pose,
    project,
)
from constraints.errors import ConstraintError, FileContentError, FileError
from constraints.loops import Axes, Closure, Hinge, PointContact, RodClosure, SurfaceContact
from constraints.models import load as load_mechanism
from constraints.rows.row_owner import RowOwner
from liegroups import Rn


def loops(robot: Robot) -> list[RowOwner]:
    """Closures and contacts with as many entries as there are."""
    hinge = Hinge.custom([Hinge.pin([0.6, 0.0, 0.8]), Hinge.helical([1.0, 0.0, 0.0], 0.1)])
    return [
        Closure(robot, "gripper", "handle", hinge),
        Closure.along(
            robot, "gripper", "handle", [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]], name="a"
        ),
        RodClosure(robot, "gripper", None, 0.4),
        PointContact(robot, "handle", [0.0, 0.6, 0.8], [0.1, 0.2, 0.3], axes=Axes.LOCAL),
        SurfaceContact(robot, "gripper").anchored(robot.neutral),
    ]


@functools.cache
def documents() -> dict[str, Any]:
    """One file of each shape, as what `json` reads of it: as many fields as possible."""
    import tempfile

    robot, mixed, space = arm_and_box(), mixed_tree(), arm_frames().space * Rn(2)
    grasp = explicit_relative_pose(robot, "gripper", "handle")
    rows = [None, Comparison.SUPERIOR, Comparison.EQUALITY, Comparison.EQUAL_TO_ZERO, Comparison.INFERIOR, None]
    mixture = Implicit(
        Transformation(robot, "handle"), rows, [0, 0, 0.1, 0, 0, 0], [1, 1, 1, 0, 1, 1], 2.0, 0.01, -1, 1
    )
    problems = {
        "carried": Problem(robot, [[grasp], [mixture]], weights={"arm/elbow": 2.0}, frozen=["arm/wrist_roll"]),
        "mixed": Problem(mixed, [Implicit.zero(Position(mixed, "chain"))]),
        "loops": Problem(robot, loops(robot)),
        "product": Problem(space, [Implicit.equal(Pose(arm_frames(), "b")), Implicit.zero(Affine([[1.0, -2.0]]))]),
    }
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        for name, problem in problems.items():
            problem.save(path)
            found[name] = json.loads(path.read_text())
        arm = arm_frames()
        constraint = Implicit.equal(Position(arm, "b"), [3.0, 0.0, 0.0])
        project(arm, [constraint], arm.neutral, Options(max_iterations=5)).report(path)
        found["report"] = json.loads(path.read_text())
    return found


def load(data: object, folder: Path, kind: str = "") -> Any:
    """Load data, or the text itself, from a file."""
    path = folder / "broken.json"
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        path.write_text(data if isinstance(data, str) else json.dumps(data))
    return Report.load(path) if kind == "report" else Problem.load(path)


def small(**changes: Any) -> dict[str, Any]:
    """A small file that loads, with changes."""
    function = {"type": "Affine", "A": [[1.0, 2.0]], "name": "sum"}
    constraint = {"type": "Implicit", "name": "sum", "function": function, "comparison": "EQUALITY"}
    whole = {"format": "lie-constraints problem", "version": 1, "shared": {}, "where": "R2", "levels": [[constraint]]}
    return whole | changes


def with_function(function: Any, **changes: Any) -> dict[str, Any]:
    data = copy.deepcopy(small(**changes))
    data["levels"][0][0]["function"] = function
    return data


def test_the_small_file_of_these_tests_loads(tmp_path: Path) -> None:
    """Broken files: what is broken below is right before."""
    problem = load(small(), tmp_path)
    np.testing.assert_array_equal(problem.error([1.0, 2.0]), [5.0])


NOT_JSON: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "line 1, column 1"),
    "binary": (b"\x93\x01\x00", "not UTF-8 text: byte 0"),
    "npy": (b"\x93NUMPY\x01\x00", "seems to be an array of numpy"),
    "pickle": (b"cposix\nsystem\n(S'echo'\ntR.", "is not complete, valid JSON: line 1, column 1"),
    "yaml": (b"format: lie-constraints problem\n", "is not complete, valid JSON: line 1, column 1"),
    "two documents": (b"{} {}", "Extra data"),
    "a comma too many": (b'{"a": 1,}', "line 1"),
    "nested deep": (b"[" * 200_000, "nested too deep|is not complete, valid JSON"),
    "objects nested deep": (b'{"a":' * 100_000, "nested too deep|is not complete, valid JSON"),
    "NaN": (b'{"format": NaN}', 'the number NaN is not JSON, expected the text "inf"'),
    "twice": (b'{"version": 1, "version": 2}', "two entries named 'version'"),
    "long integer": (b'{"version": ' + b"9" * 5000 + b"}", "is not valid JSON here"),
    "a list": (b"[]", "is not a file of lie-constraints"),
    "null": (b"null", "is not a file of lie-constraints"),
    "a foreign object": (b'{"robot": 1}', "is not a file of lie-constraints"),
    "a foreign format": (b'{"format": "ply"}', r"\$\.format: expected one of lie-constraints problem"),
}


@pytest.mark.parametrize("case", NOT_JSON)
def test_files_that_are_none_of_ours(case: str, tmp_path: Path) -> None:
    """Broken files: no JSON, or JSON of somebody else."""
    raw, said = NOT_JSON[case]
    with pytest.raises(FileError, match=said):
        load(raw, tmp_path)


def deep(depth: int) -> Any:
    f: Any = {"type": "Affine", "A": [[1.0, 2.0]]}
    for _ in range(depth):
        f = {"type": "Composition", "outer": {"type": "Affine", "A": [[1.0]]}, "inner": f}
    return f


def doubled(times: int) -> dict[str, Any]:
    """A function whose parts double with each of its few lines."""
    shared: dict[str, Any] = {"f0": {"type": "Affine", "A": [[1.0, 2.0]]}}
    for i in range(times):
        shared[f"f{i + 1}"] = {"type": "Difference", "left": {"ref": f"f{i}"}, "right": {"ref": f"f{i}"}}
    return with_function({"ref": f"f{times}"}, shared=shared)


def spaces(times: int) -> dict[str, Any]:
    shared: dict[str, Any] = {"s0": {"type": "ProductSpace", "factors": ["R0"] * 50}}
    for i in range(times):
        shared[f"s{i + 1}"] = {"type": "ProductSpace", "factors": [{"ref": f"s{i}"}] * 50}
    return small(where={"ref": f"s{times}"}, shared=shared)


FIRST = {"type": "Affine", "A": [[1.0, 2.0]]}
HOSTILE: dict[str, tuple[Any, str]] = {
    "later version": (small(version=2), r"\$\.version: schema 2 is from a later version.*upgrade"),
    "much later version": (small(version=10**30), r"\$\.version: expected an integer"),
    "no version": ({"format": "lie-constraints problem"}, r"at \$: has no entry 'version'"),
    "version as a text": (small(version="1"), r"\$\.version: expected an integer"),
    "version true": (small(version=True), r"\$\.version: expected an integer"),
    "another kind": (small(format="lie-constraints options"), "is of kind 'options', expected 'problem'"),
    "an entry too many": (small(code="import os"), r"at \$: has the entry 'code', which is unknown here"),
    "a module": (
        with_function({"type": "os.system"}), r"\$\.levels\[0\]\[0\]\.function\.type.*no type 'os\.system'"
    ),
    "a base class": (with_function({"type": "Function"}), "no type 'Function'"),
    "a special name": (with_function({"type": "__class__"}), "no type '__class__'"),
    "code": (with_function({"type": "FromCallable", "f": "eval"}), "no type 'FromCallable'"),
    "a typo": (with_function({"type": "Afine", "A": [[1.0, 0.0]]}), "nearest are Affine"),
    "a field too many": (with_function(FIRST | {"_A": []}), "entry '_A', which is unknown"),
    "a field missing": (with_function({"type": "Affine"}), r"\.function: has no entry 'A'"),
    "a ragged matrix": (with_function({"type": "Affine", "A": [[1.0, 2.0], [1.0]]}), r"\.A: expected rows"),
    "a text as number": (with_function(FIRST | {"A": [["1.0", 2.0]]}), r"\.A\[0\]\[0\]: expected a number.*'1\.0'"),
    "infinity": (with_function({"type": "Affine", "A": [["inf", 2.0]]}), r"\.A\[0\]\[0\]: expected a finite number"),
    "a large integer": (with_function(FIRST | {"A": [[10**400, 2.0]]}), r"\.A\[0\]\[0\]: is an integer too large"),
    "sizes that do not fit": (with_function({"type": "Affine", "A": [[1.0, 2.0, 3.0]]}), "R3"),
    "too deep": (with_function(deep(60)), "is nested more than 50 levels deep"),
    "much too deep": (with_function(deep(400)), "nested"),
    "parts that double": (doubled(40), "has more than 20000 functions"),
    "spaces that multiply": (spaces(8), "has more than 20000 functions"),
    "a vast space": (small(where="R999999"), r"\$\.where: has coordinates of 999999 numbers; expected at most 4000"),
    "a vaster space": (small(where="R" + "9" * 30), r"\$\.where: expected a space"),
    "a space of no size": (small(where="R-1"), r"\$\.where: expected a space"),
    "a vast product": (small(where={"type": "ProductSpace", "factors": ["R3000"] * 2}), "coordinates of 6000 numbers"),
    "a long name": (with_function(FIRST | {"name": "x" * 10_000}), "text of 10000 characters"),
    "a later reference": (
        small(shared={"a": {"ref": "b"}, "b": {"type": "ProductSpace", "factors": []}}), "no shared data with the name"
    ),
    "a reference to itself": (
        small(shared={"a": {"type": "ProductSpace", "factors": [{"ref": "a"}]}}), r"factors\[0\]\.ref: no shared data"
    ),
    "a reference to another kind": (
        with_function({"ref": "s"}, shared={"s": {"type": "ProductSpace", "factors": ["R2"]}}),
        r"\.function\.ref: expected a function, 's' is a ProductSpace",
    ),
    "a reference with more": (with_function({"ref": "a", "type": "Affine"}), "entry 'type', which is unknown"),
    "no levels": (small(levels=[]), "at least one row"),
    "no such comparison": (
        small(levels=[[small()["levels"][0][0] | {"comparison": "EQUAL"}]]), r"comparison: expected one of EQUALITY"
    ),
    "a right-hand side that does not fit": (
        small(levels=[[small()["levels"][0][0] | {"rhs": [1.0, 2.0]}]]), r"\.rhs: expected 1 number, got 2"
    ),
    "bounds that exclude all": (small(bounds={"lower": [1.0, 1.0], "upper": [0.0, 2.0]}), r"\$\.bounds: .*lower bound"),
    "frozen beyond": (small(frozen=[5]), r"\$\.frozen: "),
    "costs below zero": (small(weights=[-1.0, 1.0]), "costs must not be negative"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_end_in_an_error_that_names_the_place(case: str, tmp_path: Path) -> None:
    """Broken files: wrong kinds, names, sizes, references, versions; bombs of depth, doubling and size."""
    data, said = HOSTILE[case]
    began = process_time()
    with pytest.raises(FileError, match=said) as caught:
        load(data, tmp_path)
    assert process_time() - began < 5.0
    assert "broken.json" in str(caught.value)
    assert not isinstance(caught.value, FileContentError) or caught.value.place.startswith("$")


def test_bombs_take_no_memory(tmp_path: Path) -> None:
    """Broken files: what a small file asks for is not given before it is looked at."""
    for data in (doubled(40), spaces(8), small(where="R999999")):
        tracemalloc.start()
        with pytest.raises(FileError):
            load(data, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 50e6


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken files: a limit on the size, before anything is parsed; on writing too."""
    from constraints.errors import NotSavableError
    from constraints.files import documents as module

    monkeypatch.setattr(module, "LARGEST_FILE", 1000)
    problem = load(small(), tmp_path)
    with pytest.raises(FileError, match="larger than 1000 bytes"):
        load(json.dumps(small()) + " " * 1000, tmp_path)
    monkeypatch.setattr(module, "LARGEST_FILE", 100)
    with pytest.raises(NotSavableError, match="may have at most 100"):
        problem.save(tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    """Broken files: a file cut anywhere is refused."""
    text = json.dumps(documents()["product"])
    for end in np.linspace(0, len(text) - 1, 60).astype(int):
        with pytest.raises(FileError):
            load(text[:end], tmp_path)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document; of lists of numbers the first."""
    yield path
    if isinstance(data, dict):
        for key, entry in data.items():
            yield from places(entry, (*path, key))
    elif isinstance(data, list):
        for i, entry in enumerate(data[:2] if all(isinstance(e, int | float) for e in data) else data):
            yield from places(entry, (*path, i))


def replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a place; or without the place, for Ellipsis."""
    if not path:
        return value
    data = copy.copy(data)
    if value is ... and len(path) == 1:
        del data[path[0]]
    else:
        data[path[0]] = replaced(data[path[0]], path[1:], value)
    return data


WRONG: tuple[Any, ...] = (
    ..., None, True, -1, 10**9, 1e300, "inf", "nan", "", "universe", "R3", [], [[]], [0.0], {}, {"ref": "robot 1"},
    {"type": "Affine", "A": [[1.0]]}, {"rotation": [], "translation": []}, -0.5, 1e-310, [1, 2, 3, 4, 5, 6, 7],
)  # fmt: skip


@draws(20, 120)
@pytest.mark.parametrize("name", ["carried", "mixed", "loops", "product", "report"])
def test_whatever_is_wrong_anywhere_is_an_error_or_a_problem(name: str, count: int, tmp_path: Path) -> None:
    """Broken files: wrong values at places chosen by a seed, one a time: a typed error, or a problem that can be
    described. No other exception, no warning, no crash."""
    data, loaded, said = documents()[name], 0, list[tuple[Any, Any, str]]()
    everywhere = list(places(data))
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(everywhere))[:count]
    for k, place in enumerate(chosen):
        path = everywhere[int(place)]
        if not path:
            continue
        value = WRONG[k % len(WRONG)]
        try:
            found = load(replaced(data, path, value), tmp_path, name)
        except FileError as error:
            said.append((path, value, str(error)))
            continue
        loaded += 1
        assert (found.problem if name == "report" else found).describe()
    assert not [entry for entry in said if "broken.json: at $" not in entry[2]]
    assert len(said) > 0.6 * count


@draws(40, 10000)
def test_whatever_is_wrong_with_closures_and_contacts_is_an_error_or_a_problem(tmp_path: Path, count: int) -> None:
    """Mend 14: a wrong value at each place of each closure and contact: a typed error with the place, or a problem."""
    data, said, loaded = documents()["loops"], list[str](), 0
    inside = [("levels", *place) for place in places(data["levels"]) if len(place) > 2]
    inside = inside[:: max(1, len(inside) // count)]
    for k, place in enumerate(inside):
        try:
            assert load(replaced(data, place, WRONG[k % len(WRONG)]), tmp_path).describe()
            loaded += 1
        except FileError as error:
            said.append(str(error))
    assert not [words for words in said if "broken.json: at $" not in words]
    assert len(said) > 0.6 * len(inside) > loaded


def test_places_are_named_as_one_would_write_them(tmp_path: Path) -> None:
    """Broken files: the place leads to the value, and the error keeps it as data."""
    data = copy.deepcopy(documents()["carried"])
    data["shared"]["robot 1"]["space"]["model"]["joints"][2]["placement"]["translation"][1] = "left"
    with pytest.raises(FileContentError) as caught:
        load(data, tmp_path)
    expected = "$.shared['robot 1'].space.model.joints[2].placement.translation[1]"
    assert caught.value.place == expected
    assert str(caught.value).endswith(f"broken.json: at {expected}: expected a number, got a text 'left'")
    assert caught.value.path == str(tmp_path / "broken.json")


def test_a_reflected_rotation_is_refused(tmp_path: Path) -> None:
    """Broken files: placements are looked at before pinocchio sees them."""
    data = copy.deepcopy(documents()["carried"])
    data["shared"]["robot 1"]["space"]["model"]["joints"][0]["placement"]["rotation"] = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, -1],
    ]
    with pytest.raises(FileContentError, match=r"joints\[0\]\.placement\.rotation: expected a rotation matrix"):
        load(data, tmp_path)


# Mechanism files


def test_the_mechanism_files_of_these_tests_load() -> None:
    """Mend 4: what is broken below is right before, and nothing of it is left unread."""
    for kind in KINDS:
        text, sidecar = untouched(kind)
        assert taken(Broken(text, sidecar, "", ())).closures


@draws(25, 100)
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_broken_in_a_mechanism_file_is_an_error_or_listed(kind: str, strict: bool, count: int) -> None:
    """Mend 4: whatever is broken in the structure ends in a typed error that names it and says what was expected, or is
    listed by name."""
    for seed in range(count):
        file = broken(np.random.default_rng([2026, seed]), kind)
        load_it = functools.partial(taken, file, strict=strict)
        bad = BadInput(f"load of a {kind}", file.done, load_it, file.culprits, 2026, seed)
        assert verdict(bad) is None, bad.label


@draws(30, 150)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_letters_change_a_mechanism_file_is_refused_or_loaded(kind: str, count: int) -> None:
    """Mend 4: letters dropped, doubled, or replaced anywhere, three a file: no bare error, no crash, no warning."""
    rng, refused = np.random.default_rng(4), 0
    for _ in range(count):
        parts = list(untouched(kind))
        which = 1 if kind == "sidecar" else 0
        for _ in range(3):
            at = int(rng.integers(len(parts[which])))
            new = rng.choice(["", parts[which][at] * 2, "<", '"', "0", "-", "\n", "{", "é", "\0", "x"])
            parts[which] = parts[which][:at] + new + parts[which][at + 1 :]
        try:
            taken(Broken(parts[0], parts[1], "", ()), strict=bool(rng.integers(2)))
        except ConstraintError:
            refused += 1
    assert refused > count / 2


@pytest.mark.parametrize("inside", ["link", "joint", "gazebo"])
def test_mechanism_files_that_are_nested_deep_are_refused(inside: str) -> None:
    """Mend 4: no reader runs out of stack."""
    deep = f"<{inside} name='x'>" * 5000 + f"</{inside}>" * 5000
    for text in (f"<robot name='r'>{deep}</robot>", f"<sdf><model name='m'>{deep}</model></sdf>"):
        with pytest.raises(FileError, match="nested more than 300 levels deep"):
            load_mechanism(text)
    with pytest.raises(FileError, match="nested more than 300 levels deep"):
        Robot.from_urdf(f"<robot name='r'><link name='a'/>{deep}</robot>")
