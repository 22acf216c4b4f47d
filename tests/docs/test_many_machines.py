"""The scripts of docs/many_machines.md run as they stand there, but on fewer rows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import scripts

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "many_machines.md").read_text(encoding="utf-8")
SCRIPTS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
VARIABLES = {
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
}  # fmt: skip
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert SCRIPTS["reach.py"].count("2000") == 1
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text.replace("2000", "500"))
    return tmp_path


def run_here(folder: Path, name: str) -> str:
    done = scripts.run(folder / f"{name}.py", folder=folder, **VARIABLES)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_block_is_a_script_and_is_run() -> None:
    assert len(re.findall(r"^```python", PAGE, re.MULTILINE)) == len(SCRIPTS)
    assert set(SCRIPTS) == {f"{name}.py" for name in ("reach", *SERIAL, *POOLS, "with_mpi")}


SERIAL = ("here", "targets", "threads")
POOLS = {"processes": "tqdm", "with_loky": "loky", "with_dask": "distributed"}  # script -> what it needs
SUCCESS = re.compile(r"ProjectionBatch\(500 rows: (49\d|500) CONVERGED")


def test_scripts_of_one_process_run(folder: Path) -> None:
    (folder / "all.py").write_text(f"import {', '.join(SERIAL)}")
    assert len(SUCCESS.findall(run_here(folder, "all"))) == len(SERIAL)


@pytest.mark.parametrize("name", POOLS)
def test_scripts_of_many_processes_run(folder: Path, name: str) -> None:
    """A Dask run over two worker processes gives the same bits as none: its script asserts it."""
    pytest.importorskip(POOLS[name])
    said = run_here(folder, name)
    assert SUCCESS.search(said)
    if name == "with_dask":
        assert said.rstrip().endswith("on 2 workers")


@pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec is installed")
def test_mpi_script_runs_on_three_ranks(folder: Path) -> None:
    pytest.importorskip("mpi4py")
    command = [str(MPIEXEC), "-n", "3", sys.executable, "-m", "mpi4py.futures", "with_mpi.py"]
    done = subprocess.run(command, cwd=folder, env=os.environ | VARIABLES, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert SUCCESS.search(done.stdout)
