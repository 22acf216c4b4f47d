"""What is installed, what it costs to import it, and what stands at the top of the repository."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from house.doors import offered

import constraints
import liegroups

ROOT = Path(__file__).resolve().parent.parent.parent
DISTRIBUTION = "lie-constraints"
LAYOUT = {
    *("constraints", "liegroups", "tests", "examples", "benchmarks", "docs"),
    *("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"),
    *(".ci", ".gitattributes", ".gitignore", ".pre-commit-config.yaml"),
}
IMPORT_COST = 0.15  # seconds of this process, whatever else runs, above the four dependencies


def run_python(code: str, folder: Path, *, first: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `code` in another process and folder, with `first` before everything else on its path.

    Bytecode is kept there, as it is where a package is installed: a second import does not compile.
    """
    left_out = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    if first is not None:
        environment["PYTHONPATH"] = str(first)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("package", [constraints, liegroups], ids=lambda package: package.__name__)
def test_package_is_typed_and_offers_the_names_it_lists(package: ModuleType) -> None:
    assert package.__file__ is not None
    assert (Path(package.__file__).parent / "py.typed").is_file()
    names = offered(package)
    assert names
    assert len(set(names)) == len(names)
    missing = [name for name in names if not hasattr(package, name)]
    assert not missing


def test_version_is_written_in_one_place() -> None:
    assert importlib.metadata.version(DISTRIBUTION) == constraints.__version__
    written = [
        path.relative_to(ROOT).as_posix()
        for path in (*ROOT.glob("constraints/**/*.py"), *ROOT.glob("liegroups/**/*.py"), ROOT / "pyproject.toml")
        if f'"{constraints.__version__}"' in path.read_text(encoding="utf-8")
    ]
    assert written == ["constraints/__init__.py"]


def test_both_packages_belong_to_the_distribution() -> None:
    assert liegroups.__distribution__ == DISTRIBUTION


@pytest.mark.parametrize(
    "content",
    [
        "class SO3: pass\n",
        "__distribution__ = 'liegroups'\nclass SO3: pass\n",
        "from math import pi as SO3, tau as SE3\n__version__ = '1.1.0'\n",
    ],
    ids=["unmarked", "marked", "versioned"],
)
def test_foreign_liegroups_is_named(tmp_path: Path, content: str) -> None:
    foreign = tmp_path / "site" / "liegroups" / "__init__.py"
    foreign.parent.mkdir(parents=True)
    foreign.write_text(content)
    done = run_python("import constraints", tmp_path, first=tmp_path / "site")
    assert done.returncode != 0
    last = done.stderr[done.stderr.rindex("\nImportError:") :]
    for expected in ("liegroups", str(foreign), DISTRIBUTION):
        assert expected in last


def test_import_is_cheap(tmp_path: Path) -> None:
    """And leaves the optional neighbours alone."""
    code = (
        "import sys, time, numpy, scipy.linalg, pinocchio, networkx\n"
        "before, began = set(sys.modules), time.process_time()\n"
        "import constraints\n"
        "print(time.process_time() - began)\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(tops - set(sys.stdlib_module_names)))\n"
    )
    seconds: list[float] = []
    while len(seconds) < 12 and min(seconds, default=1.0) > IMPORT_COST:  # others slow it down
        done = run_python(code, tmp_path, first=ROOT)
        assert done.returncode == 0, done.stderr
        took, tops = done.stdout.splitlines()
        assert set(tops.split()) <= {"constraints", "liegroups", "numpy", "scipy", "networkx", "pinocchio"}
        seconds.append(float(took))
    assert min(seconds) <= IMPORT_COST, f"{min(seconds):.3f} s at best of {len(seconds)}; more where others run beside"


@pytest.mark.parametrize("folder", ["tests", "examples", "benchmarks"])
def test_folders_beside_the_packages_are_not_packages(folder: str) -> None:
    assert not list((ROOT / folder).rglob("__init__.py"))


def test_nothing_stands_beside_the_agreed_layout() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    tops = {line.partition("/")[0] for line in listed.stdout.splitlines()}
    assert tops <= LAYOUT
