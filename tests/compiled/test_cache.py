"""Where compiled kernels are kept: homes that cannot be written to, several processes, machines without numba."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from compiled import forks

from constraints import Implicit, Pose, Problem, Projector
from constraints.models import sample_arm
from constraints.solvers.machine import cache, fusing


def _path_of(find: Callable[[str], Any]) -> Callable[[], Path | None]:
    def path() -> Path | None:
        there = find("entry")
        return None if there is None else there.path

    return path


def test_kernels_are_kept_where_something_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named folder, else the user's, else one for temporary files, else none: each is tried by writing."""
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder can be made in a file")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    find = _path_of(cache.place.__wrapped__)
    assert find() == tmp_path / "named" / cache.digest()
    monkeypatch.setenv(cache.VARIABLE, str(nowhere / "named"))
    assert find() == tmp_path / "user" / "lie-constraints" / cache.digest()
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere / "user"))
    found = find()
    assert found is not None
    assert found.parent.parent == tmp_path
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(nowhere))
    assert find() is None


def test_code_is_made_for_the_processor_that_numba_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes, fused products and the folder follow `NUMBA_CPU_NAME` and `NUMBA_CPU_FEATURES`."""
    monkeypatch.delenv(cache.VARIABLE_OF_LANES, raising=False)
    monkeypatch.setattr(fusing.platform, "machine", lambda: "x86_64")
    told: Any = pytest.importorskip("numba").config
    answers = set[str]()
    for name, features, lanes, fused in (
        ("haswell", "+sse2,+avx2,+fma,-avx512f", 8, True),
        ("haswell", "+sse2,+avx2,-fma", 8, False),
        ("nehalem", "+sse2,-avx2,-fma", 4, False),
        ("generic", "", 4, False),
    ):
        monkeypatch.setattr(told, "CPU_NAME", name)
        monkeypatch.setattr(told, "CPU_FEATURES", features)
        assert (cache.lanes_wanted.__wrapped__(), fusing.has_fused()) == (lanes, fused)
        answers.add(cache.digest.__wrapped__())
    assert len(answers) == 4


def test_several_processes_compile_at_once(tmp_path: Path) -> None:
    """Each gets its answer; whoever comes later reads what they have kept."""
    kept = {cache.VARIABLE: str(tmp_path / "kept")}
    assert [said.printed.split()[0] for said in forks.run(forks.kernel(), tmp_path, kept, 3)] == ["10.0"] * 3
    (later,) = forks.run(forks.kernel(), tmp_path, kept)
    assert later.printed.split() == ["10.0", "1"]
    assert not list((tmp_path / "kept").rglob("*.tmp*"))


def test_a_report_is_replayed_by_its_engine_or_not_at_all(tmp_path: Path) -> None:
    """Where numba is not installed, what the compiled engine solved is refused by name; the readable one's is not."""
    arm = sample_arm()
    pose = Pose(arm, "tool")
    problem = Problem(arm, [Implicit.equal(pose, pose.value(np.full(arm.nq, 0.2)))])
    for engine in ("compiled", "readable"):
        projection = Projector(problem, engine=engine).project(arm.neutral)
        projection.report(tmp_path / f"{engine}.json")
    replay = (
        "import sys; sys.modules['numba'] = None\n"
        "from constraints.files import Report\n"
        "for engine in ('compiled', 'readable'):\n"
        f"    report = Report.load({str(tmp_path)!r} + f'/{{engine}}.json')\n"
        "    try: print(report.reproduce().iterations)\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", replay], stdout=subprocess.PIPE, text=True, check=True).stdout
    refused, iterations = said.rsplit("\n", 2)[:2]
    assert refused.startswith("MissingExtraError")
    assert "fast" in refused
    assert iterations == str(projection.iterations)


def test_kernels_compile_where_inner_parts_of_numba_are_missing(tmp_path: Path) -> None:
    """Linking kernels into their entrance is for the time of compiling alone: another numba compiles as it does."""
    script = """
import importlib, numba.core.typed_passes
from constraints.solvers.machine import compiling
assert set(compiling.OF_KERNELS) == set(compiling.OF_ENTRANCES) == {"pipeline_class"}
del numba.core.typed_passes.PreLowerStripPhis
importlib.reload(compiling)
print(compiling.OF_KERNELS, compiling.OF_ENTRANCES)
"""
    (said,) = forks.run(script, tmp_path, {cache.VARIABLE: str(tmp_path / "kept")})
    assert said.printed == "{} {}\n"


def test_kernels_leave_the_interpreter_to_other_threads(tmp_path: Path) -> None:
    """One waits for a number that another thread of Python writes once it has seen that the kernel runs."""
    script = """
from __future__ import annotations
import threading, time
import numpy as np
from constraints.solvers.machine.jit import Numbers, entrance, integers_at, places, taken

@entrance
def turns_until_told(where: Numbers) -> int:
    at, told = integers_at(where[0]), integers_at(where[1])
    at[0] = 1
    for i in range(500000000):
        if taken(told, 0) != 0:
            return i
    return -1

at, told, found = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), []
thread = threading.Thread(target=lambda: found.append(turns_until_told(places(at, told))))
thread.start()
while at[0] == 0:
    time.sleep(0.001)
told[0] = 1
thread.join()
print(found[0] >= 0)
"""
    (said,) = forks.run(
        f"from __future__ import annotations\n{script}", tmp_path, {cache.VARIABLE: str(tmp_path / "k")}
    )
    assert said.printed == "True\n"
