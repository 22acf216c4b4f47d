"""The command that makes mutants: what it changes, and what it leaves alone."""

from __future__ import annotations

import ast
from pathlib import Path

import house.mutants as mutants
import pytest
from house.changes import places

SOURCE = '''"""Docstring with 1 < 2 and 3."""
from __future__ import annotations
x: int = 0

def f(a: float = 1.0, *, b: bool = True) -> float:
    """1 + 1."""
    if not a < 2 and -a >= 0.5:
        raise ValueError(f"{a + 1}")
    return a @ a if a is not None else a  # 7
'''


def test_one_token_is_changed_and_the_source_still_compiles() -> None:
    found = places("x.py", SOURCE)
    for mutant in found:
        changed = mutant.apply(SOURCE)
        assert changed != SOURCE
        ast.parse(changed)
        assert [a == b for a, b in zip(SOURCE.splitlines(), changed.splitlines(), strict=True)].count(False) == 1
    changes = {(m.line, SOURCE[m.start : m.stop], m.new) for m in found}
    assert changes == {
        (3, "0", "1"),
        (5, "1.0", "2.5"),
        (5, "True", "False"),
        (7, "not ", ""),
        (7, "<", "<="),
        (7, "2", "3"),
        (7, "and", "or"),
        (7, "-", ""),
        (7, ">=", ">"),
        (7, "0.5", "1.75"),
        (9, "@", "+"),
        (9, "is not", "is"),
    }


SPARED = '''
TOLERANCE = 1e-9
"""A number that a docstring explains."""
BARE = 3.5
NEAR, FAR = 1e-3, -2.0 * 50.0
"""Two numbers that a docstring explains."""

@dataclass(frozen=True, slots=True)
class A:
    x: int | None

@dataclass(eq=False, init=False)
class B:
    def __init__(self): self.x = 7

def f(a):
    print("more than " + str(a + 1))
    return list(zip(a, a, strict=True)), f"{a:.3f}", isinstance(a, A | B)
'''


def test_choices_that_are_no_behaviour_are_left_alone() -> None:
    changes = {(m.line, SPARED[m.start : m.stop], m.new) for m in places("x.py", SPARED)}
    assert changes == {(4, "3.5", "6.25"), (8, "True", "False"), (12, "False", "True"), (14, "7", "8")}


def judge(tmp_path: Path) -> mutants.Judge:
    """A room with two functions and two tests, recorded."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    (tmp_path / "README.md").write_text("")
    (tmp_path / "room.py").write_text(ROOM)
    (tmp_path / "test_room.py").write_text(TESTS)
    return mutants.Judge(tmp_path, mutants.Part(["room.py"], ["test_room.py"], {}))


ROOM = """def larger(a, b):
    return a if a > b else b

def endless(n):
    while n > 0:
        n -= 1
    return n

def unseen(a):
    return a + 1
"""
TESTS = """import room

def test_larger():
    assert room.larger(1, 2) == 2

def test_endless():
    assert room.endless(3) == 0
"""


@pytest.mark.program
@pytest.mark.parametrize("every_end", [False, pytest.param(True, marks=pytest.mark.long)])
def test_mutants_are_noticed_live_last_too_long_or_are_run_by_no_test(every_end: bool, tmp_path: Path) -> None:
    found = {(ROOM[m.start : m.stop], m.line): m for m in places("room.py", ROOM)}
    judged = judge(tmp_path)
    assert judged.end(tmp_path, found[">", 2], 20.0) == "lived"  # >=: both give the same
    assert judged.end(tmp_path, found["0", 5], 20.0) == "noticed"
    assert judged.end(tmp_path, found["+", 10], 20.0) == "no test runs it"
    assert (tmp_path / "room.py").read_text() == ROOM
    if not every_end:
        return
    assert judged.end(tmp_path, None, 20.0) == "lived"
    backwards = found["1", 6]._replace(new="0")
    assert judged.end(tmp_path, backwards, 1.0) == "too slow"
    assert (tmp_path / "room.py").read_text() == ROOM


ROOMS = [
    "rows",
    "problem",
    "solvers",
    "solvers/newton",
    "solvers/compiled",
    "solvers/kernels",
    "solvers/machine",
    "loops",
    "loops/hinges",
    "functions",
    "liegroups",
]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_have_sources_and_tests_and_each_file_one_judge(room: str) -> None:
    files = list(mutants.sources(room))
    parts = mutants.parts_of(room, files)
    assert sorted(file for part in parts for file in part.files) == files
    for part in parts:
        assert all((mutants.ROOT / tests.removeprefix("--ignore=")).exists() for tests in part.tests)


def test_kernels_are_judged_as_python_and_what_makes_them_as_it_is() -> None:
    kernels, makers = mutants.parts_of("solvers/machine", list(mutants.sources("solvers/machine")))
    assert kernels.variables["NUMBA_DISABLE_JIT"] == "1"
    assert "tests/compiled" in kernels.tests
    assert makers.variables == {}
    of_solids = mutants.parts_of("solvers/kernels", list(mutants.sources("solvers/kernels")))[1]
    assert {Path(file).name for file in of_solids.files} == {"covers.py", "division.py"}
    assert of_solids.variables["NUMBA_DISABLE_JIT"] == "1"
    assert {Path(file).name for file in makers.files} == {"jit.py", "cache.py"}


def test_a_room_that_is_none_is_named() -> None:
    with pytest.raises(SystemExit, match="no room 'cellar'"):
        list(mutants.sources("cellar"))
