"""The floors of the house: a module imports from its own floor or lower ones, and neighbours enter by their doors.

The imports are read from the source (`ast`), so an import inside a function, or one that only a type checker
sees, counts like any other.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from house.sources import FILES, MODULE_NAMES, PACKAGES, ROOT, Import, imports_of, module_name, parsed

from constraints.exports import ABOVE, from_above

# The floor of each room (a folder, or a file of the hall), one line each.
FLOORS = {
    "liegroups": 0,
    "constraints.errors": 1,
    "constraints.point": 1,
    "constraints.workspace": 1,
    "constraints.linear_algebra": 1,
    "constraints.exports": 1,
    "constraints.foreign_words": 1,
    "constraints.keywords": 1,
    "constraints.questions": 1,
    "constraints.ranges": 1,
    "constraints.words": 1,
    "constraints.robot": 1,
    "constraints.functions": 2,
    "constraints.rows": 3,
    "constraints.problem": 4,
    "constraints.solvers": 5,
    "constraints.certificates": 7,
    "constraints.certificates.certificate": 5,
    "constraints.certificates.check": 5,
    "constraints.certificates.path_certificate": 5,
    "constraints.certificates.path_check": 5,
    "constraints.loops": 6,
    "constraints.dynamics": 6,
    "constraints.reduced": 6,
    "constraints.models": 7,
    "constraints.actions": 7,
    "constraints.paths": 7,
    "constraints.collisions": 7,
    "constraints.manipulation": 7,
    "constraints.planning": 7,
    "constraints.files": 8,
    "constraints.pictures": 8,
    "constraints.interop": 8,
    "constraints.testing": 8,
    "constraints.cli": 8,
    "constraints.__main__": 8,
}
ENTRANCE = ("constraints", 8)  # constraints/__init__.py alone: what is under it has its own line above

# The one import upwards: names that type checkers see at a door, and that are lazy there. Methods reach up by names
# alone (`exports.from_above`).
LAZY_NAMES = "constraints.manipulation"

# Who may import what comes from outside the standard library. Anything else is imported on use (inside a function).
EVERYWHERE = ("constraints", "liegroups")
DOORS = {
    "numpy": EVERYWHERE,
    "scipy": ("constraints",),
    "pinocchio": ("constraints.robot.model.pinocchio",),
    "networkx": tuple(
        f"constraints.{room}" for room in ("problem", "reduced", "models", "paths", "manipulation", "pictures")
    ),
    "numba": ("constraints.solvers.machine", "constraints.solvers.kernels"),
    "llvmlite": ("constraints.solvers.machine",),
}
PINOCCHIO_DOOR = "constraints.robot.model.pinocchio"
TAKE_PIN = """
    robot functions loops dynamics reduced actions models collisions manipulation planning files interop
    solvers.compiled
"""
PINOCCHIO_ROOMS = tuple(f"constraints.{room}" for room in TAKE_PIN.split())  # they take `pin` from the door

LAZY = "constraints.exports"  # imports what doors name in their tables, which are read here
WHERE = "tests/house/test_floors.py"
NOT_A_NAME = re.compile(r"_?(utils?|misc|common|helpers?)", re.IGNORECASE)
LONGEST_FILE = 400
MOST_FILES, MOST_WHERE_SPLIT = 20, 17
SCREEN = 45


def is_under(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)


def floor_of(module: str) -> int | None:
    """Floor of a module of ours, by the longest prefix in the table; None when it has no line there."""
    if module == ENTRANCE[0]:
        return ENTRANCE[1]
    prefix = max((p for p in FLOORS if is_under(module, (p,))), key=len, default=None)
    return None if prefix is None else FLOORS[prefix]


def complaints(module: str, source: str, is_package: bool = False) -> Iterator[str]:
    """What is wrong with the imports of one module, a sentence each."""
    floor = floor_of(module)
    if floor is None:
        yield f"{module} has no floor: give it a line in FLOORS of {WHERE}, on the lowest floor that works"
        return
    imports = imports_of(module, source, is_package)
    if floor < ENTRANCE[1] and module != LAZY:
        for line in imports.computed:
            yield f"{module}:{line} computes the name of a module it imports, which hides its floor"
    for item in imports.found:
        head = item.module.split(".")[0]
        if head in PACKAGES:
            yield from complaints_inside(module, floor, item)
        elif head not in sys.stdlib_module_names:
            yield from complaints_outside(module, head, item)


def complaints_inside(module: str, floor: int, item: Import) -> Iterator[str]:
    where = f"{module}:{item.line}"
    submodule = f"{item.module}.{item.name}"
    target = submodule if submodule in MODULE_NAMES else item.module
    other = floor_of(target)
    if other is None:
        yield f"{where} imports {target}, which has no floor: give it a line in FLOORS of {WHERE}"
    elif other > floor and (module, item.place) != (LAZY_NAMES, "TYPE_CHECKING"):
        yield f"{where} (floor {floor}) imports {target}, which is on floor {other}"
    if is_under(target, (PINOCCHIO_DOOR,)) and item.name in ("", "pin", "pinocchio", "*"):
        if not is_under(module, PINOCCHIO_ROOMS):
            yield f"{where} takes `pin` from {PINOCCHIO_DOOR}; only {', '.join(PINOCCHIO_ROOMS)} may"


def complaints_outside(module: str, head: str, item: Import) -> Iterator[str]:
    where = f"{module}:{item.line}"
    if head in DOORS:
        if not is_under(module, DOORS[head]):
            yield f"{where} imports {head}, whose door is {' or '.join(DOORS[head])}"
    elif is_under(module, ("liegroups",)):
        yield f"{where} imports {head}; liegroups rests on numpy alone"
    elif not item.on_use:
        yield f"{where} imports {head} when it is itself imported; optional neighbours are imported on use"


def test_modules_keep_to_their_floors_and_doors() -> None:
    found = [
        complaint
        for path in FILES
        for complaint in complaints(module_name(path), path.read_text(encoding="utf-8"), path.name == "__init__.py")
    ]
    assert not found, "\n".join(found)


def test_files_have_names_that_say_something_and_a_size_that_can_be_read() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {lines} lines, at most {LONGEST_FILE}; would it read better as two?"
        for path in FILES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    ]
    assert not long, "\n".join(long)
    for path in FILES:
        for part in path.relative_to(ROOT).with_suffix("").parts:
            assert not NOT_A_NAME.fullmatch(part), f"{path.relative_to(ROOT)}: {part!r} does not say what is inside"


def bodies(source: str) -> Iterator[tuple[str, int]]:
    """Each function with the lines of its body, signature and docstring left out."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            start = first.lineno if ast.get_docstring(node) is None else (first.end_lineno or 0) + 1
            yield node.name, (node.end_lineno or start) - start + 1


def test_functions_of_the_solver_fit_a_screen() -> None:
    solvers = [path for path in FILES if "solvers" in path.parts]
    listed = [(path.name, *body) for path in solvers for body in bodies(path.read_text(encoding="utf-8"))]
    assert not [long for long in listed if long[-1] > SCREEN]


def test_lines_of_a_body_are_counted_without_signature_and_docstring() -> None:
    lines = ["def f(", "    a,", "):", '    """Two', '    lines."""', "    a = 1", "", "    return a", "", "def g(): 1"]
    assert list(bodies("\n".join(lines))) == [("f", 3), ("g", 1)]


def test_folders_are_at_most_two_levels_deep() -> None:
    """Rooms of a room: `solvers/newton` and its neighbours, `functions/contact`; nothing deeper."""
    deep = [str(path.relative_to(ROOT)) for path in FILES if len(path.relative_to(ROOT).parts) > 4]
    assert not deep


def test_folders_hold_at_most_20_files() -> None:
    """Beside the door; 17 where some already are a room of the room, so that the next ones have room."""
    assert not full_folders(FILES)


def full_folders(files: list[Path]) -> dict[str, int]:
    """Folders with more files than they may hold, and how many."""
    counts = Counter(path.parent for path in files if path.name != "__init__.py")
    split = {folder.parent for folder in counts}
    most = {folder: MOST_WHERE_SPLIT if folder in split else MOST_FILES for folder in counts}
    return {str(folder): n for folder, n in counts.items() if n > most[folder]}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("liegroups.formulas.maps", "import math\nimport numpy as np\nfrom . import space\n"),
        ("constraints.functions.function", "from liegroups import Space\nfrom ..point import Point\n"),
        ("constraints.rows.stacking", "from scipy.linalg import lapack\nfrom .stack import Stack\n"),
        ("constraints.robot.model.pinocchio", "import importlib\npin = importlib.import_module('pinocchio')\n"),
        ("constraints.functions.affine", "from ..robot.pinocchio import pin\n"),
        ("constraints.solvers.result", "from ..robot.pinocchio import Model\n"),
        ("constraints.problem.resolution", "import networkx as nx\n"),
        ("constraints.pictures.traces", "def draw():\n    from matplotlib import pyplot\n"),
        ("constraints.solvers.kernels", "import numba\n"),
    ],
)
def test_right_imports_pass(module: str, source: str) -> None:
    assert list(complaints(module, source)) == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("constraints.point", "from .functions.function import Function", "floor 2"),
        ("constraints.point", "def f():\n    from .problem import Problem", "floor 4"),
        (
            "constraints.rows.stack",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..problem import Problem",
            "floor 4",
        ),
        ("constraints.functions.affine", "from .. import Problem", "floor 8"),
        ("constraints.functions.affine", "from ..solvers.projector import Projector", "floor 5"),
        (
            "constraints.functions.affine",
            "import importlib\nimportlib.import_module('..solvers', __package__)",
            "floor 5",
        ),
        ("constraints.point", "from .novelty import x", "has no floor"),
        ("constraints.novelty", "", "test_floors.py"),
        (
            "constraints.rows.stacking",
            "from importlib import import_module\nname = 'x'\nimport_module(name)",
            "computes the name",
        ),
        ("liegroups.space", "import scipy.linalg", "door"),
        ("liegroups.space", "def f():\n    import matplotlib", "numpy alone"),
        ("liegroups.space", "import constraints", "floor 8"),
        ("constraints.robot.robot", "import pinocchio as pin", "door"),
        ("constraints.functions.affine", "import importlib\npin = importlib.import_module('pinocchio')", "door"),
        ("constraints.rows.implicit", "import networkx as nx", "door"),
        ("constraints.problem.problem", "from ..robot.model.pinocchio import pin", "takes `pin`"),
        ("constraints.problem.problem", "from ..robot.model import pinocchio", "takes `pin`"),
        ("constraints.pictures.traces", "import matplotlib.pyplot as plt", "on use"),
        (
            "constraints.pictures.traces",
            "try:\n    import matplotlib\nexcept ImportError:\n    matplotlib = None",
            "on use",
        ),
    ],
)
def test_wrong_imports_are_named(module: str, source: str, said: str) -> None:
    found = list(complaints(module, source))
    assert len(found) == 1
    assert said in found[0]


def test_methods_reach_up_by_the_names_of_the_table_alone() -> None:
    """Each name is taken by somebody, exists in the room that the table says, and no other is asked for."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
    asked = re.findall(r"""from_above\(["'](\w+)["']\)""", texts)
    assert texts.count("from_above(") == len(asked) + 1  # and its definition
    assert sorted(set(asked)) == sorted(name for names in ABOVE.values() for name in names.split())
    assert all(callable(from_above(name)) for name in asked)
