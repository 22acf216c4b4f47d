"""The API as users and their tools see it: types, docstrings, keyword arguments, lists."""

from __future__ import annotations

import enum
import importlib.util
import inspect
import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from house.doors import offered
from robots import arm

import constraints
import liegroups
from constraints import Comparison, Implicit, Options, Pose, Position, Problem, Projector

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "tests" / "data" / "user_program.py"


def pyright() -> list[str] | None:
    """The type checker of this environment."""
    beside = shutil.which("pyright", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("pyright")
    return [found, "--pythonpath", sys.executable] if found else None


@pytest.mark.program
@pytest.mark.skipif(pyright() is None, reason="pyright is not installed")
def test_a_user_program_passes_strict_type_checking(tmp_path):
    """Property 25: a small program that uses the API passes pyright, strict, without an ignored line; a wrong one
    does not."""
    text = PROGRAM.read_text(encoding="utf-8")
    assert "type: ignore" not in text
    assert "pyright:" not in text
    (tmp_path / "right.py").write_text(text, encoding="utf-8")
    wrong = text.replace('Position(robot, "left_tool"), Target(path', 'Position("left_tool", 3), Target(path')
    typo = text.replace("Options(threshold=", "Options(treshold=")
    assert text not in (wrong, typo)
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    (tmp_path / "typo.py").write_text(typo, encoding="utf-8")
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT)]}
    settings["stubPath"] = str(ROOT / "tests" / "stubs")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [*(pyright() or []), "--project", str(tmp_path), "--outputjson"]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    said = json.loads(out.stdout)
    complaints = {"right.py": list[str](), "wrong.py": list[str](), "typo.py": list[str]()}
    for entry in said["generalDiagnostics"]:
        complaints[Path(entry["file"]).name].append(f"{entry['range']['start']['line'] + 1}: {entry['message']}")
    assert not complaints["right.py"], "\n".join(complaints["right.py"])
    assert complaints["wrong.py"]
    assert any("treshold" in complaint for complaint in complaints["typo.py"])


def test_the_user_program_runs():
    """Property 25: what passes the checker also works."""
    spec = importlib.util.spec_from_file_location("user_program", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    program: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    assert program.main() == 0


DOORS = (constraints, liegroups, *(import_module(f"constraints.{room}") for room in (
    "functions", "rows", "robot", "solvers", "loops", "models", "manipulation", "interop", "testing")))  # fmt: skip
PUBLIC = list({id(getattr(door, name)): (door, name) for door in reversed(DOORS) for name in offered(door)}.values())


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[f"{p.__name__}.{n}" for p, n in PUBLIC])
def test_every_public_name_has_a_docstring(package: ModuleType, name: str):
    """Property 25: every public name says what it is, every public method what it does."""
    thing: Any = getattr(package, name)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        thing = type(thing)  # SO3, SE3: values of documented classes
    assert (inspect.getdoc(thing) or "").strip()
    assert thing.__doc__
    if not inspect.isclass(thing):
        return
    for method, member in members_of(thing):
        assert (inspect.getdoc(member) or "").strip(), f"{name}.{method} has no docstring"


def members_of(thing: type) -> list[tuple[str, Any]]:
    """Public methods and properties of a class, those of its own library's bases too."""
    own = [base for base in thing.__mro__ if base.__module__.split(".")[0] in ("constraints", "liegroups")]
    found: dict[str, Any] = {}
    for base in reversed(own):
        for name, member in vars(base).items():
            if name.startswith("_"):
                continue
            if isinstance(member, staticmethod | classmethod):
                member = member.__func__
            if inspect.isfunction(member) or isinstance(member, property):
                found[name] = getattr(thing, name, member)
    return list(found.items())


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[f"{p.__name__}.{n}" for p, n in PUBLIC])
def test_arguments_have_names_and_types(package: ModuleType, name: str):
    """Property 25: every public function and constructor takes its arguments by keyword, each with its type."""
    thing: Any = getattr(package, name)
    if not callable(thing) or (isinstance(thing, type) and issubclass(thing, Exception)):
        return
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return  # enumerations and named tuples of other shapes
    for argument in signature.parameters.values():
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        assert argument.kind is not argument.POSITIONAL_ONLY, f"{name}: {argument}"
        if thing.__module__.startswith(("constraints", "liegroups")) and not is_enumeration(thing):
            assert argument.annotation is not argument.empty, f"{name}: {argument.name} has no type"


def is_enumeration(thing: Any) -> bool:
    """Whether it is an enumeration, whose signature is Python's."""
    return isinstance(thing, type) and issubclass(thing, enum.Enum)


def test_keyword_arguments():
    """Property 25: the same objects by position and by keyword."""
    robot = arm()
    f = Pose(robot=robot, frame="tool", reference=None, outputs=liegroups.R3xSO3, name="hand")
    c = Implicit(function=f, comparison=Comparison.EQUALITY, rhs=None, mask=None, scale=None, margin=0.0, name="hold")
    problem = Problem(where=robot, constraints=[c], bounds=None)
    projector = Projector(problem=problem, options=Options(threshold=1e-5), engine=None)
    q = robot.reference("home")
    a = projector.project(q=q, rhs=problem.rhs_from(q=q))
    b = Projector(Problem(robot, [Implicit(Pose(robot, "tool", None, liegroups.R3xSO3), Comparison.EQUALITY)])).project(
        q, problem.rhs_from(q).vector
    )
    assert a.q.tobytes() == b.q.tobytes() == q.tobytes()


def test_lists_are_accepted_everywhere():
    """Property 25: lists, tuples and arrays are one for masks, comparisons, scales, bounds, configurations."""
    robot, q = arm(), arm().reference("home")
    answers = set[bytes]()
    kinds: tuple[Any, ...] = (list, tuple, np.array)
    for kind in kinds:
        c = Implicit(
            Position(robot, "tool"),
            [Comparison.EQUALITY] * 3,
            kind([0.3, 0.1, 0.6]),
            kind([True, False, True]),
            kind([1.0, 2.0, 3.0]),
        )
        box = constraints.Bounds(robot.space, kind([-2.0] * 7), kind([2.0] * 7))
        answers.add(Projector(Problem(robot, [c], box)).project(kind(q.tolist())).q.tobytes())
    assert len(answers) == 1


def test_the_front_door_offers_few_names():
    """Property 25: at most 46; `test_packaging` looks at each."""
    assert len(offered(constraints)) <= 46
