"""Ideas stand once: results, statuses, rows that are on, long lists of arguments, the way of forward dynamics."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import numpy as np
from house.sources import nodes

import constraints
from constraints.dynamics import Method, forward_dynamics
from constraints.loops import ConstraintSet, PointContact
from constraints.models import sample_arm
from constraints.solvers.kernels.loading import PARTS
from constraints.solvers.result import Result
from constraints.solvers.status import StatusEnum

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("constraints", "liegroups") for path in sorted((ROOT / package).rglob("*.py"))]
KERNELS = ("solvers/kernels", "solvers/tape")

DOORS = {*("plan", "inverse_dynamics", "reach_batch", "ConstraintGraph.__init__", "ContactForwardDynamics.__init__")}
"""Functions that users call by keyword, with more than eight arguments: each names a thing of its own, and what is no
such thing is in a record already (`Options`). `inverse_dynamics`: the terms of one equation. `reach_batch`: as `reach`,
by row. `plan`: a task, and how it is searched. `ConstraintGraph`: its parts. `ContactForwardDynamics`: in the
order of crocoddyl's."""

INSIDE = {"solve_inverse", "Packer.emit", "slopes_at", "swing_rates"}
INSIDE |= {"_within", "_twist_polynomial", "_called_at_once"}
"""The same within rooms: matrices of one formula."""

TWICE = {"Kept"}
"""Names of classes that stand for two things; the list only shrinks."""


def functions() -> Iterator[tuple[Path, str, ast.FunctionDef]]:
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                for item in node.body:
                    if isinstance(item, ast.FunctionDef):
                        yield path, f"{node.name}.{item.name}", item
            for item in node.body if isinstance(node, ast.Module | ast.FunctionDef) else []:
                if isinstance(item, ast.FunctionDef):
                    yield path, item.name, item


def test_results_raise_in_one_way() -> None:
    homes = {str(path.relative_to(ROOT)) for path, _, item in functions() if item.name == "or_raise"}
    assert homes == {"constraints/solvers/result.py"}
    names = {module.name for module in pkgutil.iter_modules(constraints.__path__)} - {"__main__"}
    doors = [importlib.import_module(f"constraints.{name}") for name in names]
    public = {kind for door in doors for _, kind in inspect.getmembers(door, inspect.isclass)}
    assert len({kind for kind in public if issubclass(kind, Result)} - {Result}) <= 24


def test_doors_offer_few_names() -> None:
    """What users call, make, compare with, subclass or catch; parts of results are imported from their modules."""
    offered = {
        alias.name
        for path in SOURCES
        if path.name == "__init__.py"
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert 200 < len(offered) <= 364  # 25 of them are the words of formulas: sin, norm, dot ...


def test_statuses_name_their_successes_and_are_few() -> None:
    kinds = StatusEnum.__subclasses__()
    assert len(kinds) <= 10
    for kind in kinds:
        assert 0 < sum(member.is_success for member in kind) < len(kind)


def test_rows_that_are_on_are_asked_of_the_set() -> None:
    for path in SOURCES:
        if "loops" in path.parts:
            continue
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip":
                words = [ast.unparse(argument) for argument in node.args]
                told = any(word.endswith((".names", ".kinds", ".baumgarte")) for word in words)  # says who is off
                assert told or not any(".active" in word for word in words), f"{path}:{node.lineno}"


def test_what_has_more_than_eight_arguments_is_listed() -> None:
    found = set[str]()
    for path, name, item in functions():
        names = [a.arg for a in (*item.args.posonlyargs, *item.args.args, *item.args.kwonlyargs)]
        own = names[1:] if names[:1] in (["self"], ["cls"]) else names
        if len(own) > 8 and not any(room in path.as_posix() for room in KERNELS):
            found.add(
                name if name.split(".")[-1] == "__init__" or name.split(".")[-1] == "emit" else name.split(".")[-1]
            )
    assert found == DOORS | INSIDE


def test_names_of_classes_stand_for_one_thing() -> None:
    homes: dict[str, set[Path]] = defaultdict(set)
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and node.name[0] != "_":
                homes[node.name].add(path)
    assert {name for name, paths in homes.items() if len(paths) > 1} == TWICE


def test_kernels_that_python_calls_have_names_of_their_own() -> None:
    names = [name for part in PARTS.values() for name in part.entrances]
    assert len(names) == len(set(names))


def test_forward_dynamics_enters_few_functions() -> None:
    """Of a set of one contact, from a motion that is given: 25 functions of the library, 41 once."""
    robot = sample_arm()
    rows = ConstraintSet(robot, [PointContact(robot, "tool")])
    motion = robot.at(robot.references["home"], np.ones(robot.nv))
    forward_dynamics(rows, motion)
    entered = set[tuple[str, str]]()
    ours = tuple(f"{ROOT / name}{os.sep}" for name in ("constraints", "liegroups"))  # an environment may be beside them

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name[0] != "<" and code.co_filename.startswith(ours):
            entered.add((code.co_filename, code.co_name))

    sys.setprofile(watch)
    try:
        result = forward_dynamics(rows, motion)
    finally:
        sys.setprofile(None)
    assert result.method is Method.TEST_FORCES
    assert 5 < len(entered) <= 25
