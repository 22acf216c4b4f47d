"""What others add: from outside the package, in one file each; and to a copy of it, as `docs/architecture.md` says.

(A group from outside: Sim(2), in `tests/liegroups`.)
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from house import test_floors as floors
from house.test_architecture import PAGE

from constraints import Implicit, Pose, Problem, Projector, Status
from constraints.loops import PoseContact, PoseMap
from constraints.models import sample_arm
from constraints.solvers import DampedCholesky, LinearStep, NewtonEngine, Options
from constraints.testing import check_function

ROBOT = sample_arm()


class PseudoInverse(LinearStep):
    """Gauss-Newton by the pseudo-inverse: no damping but where singular values vanish."""

    def __init__(self, rows: int, weights: np.ndarray | None = None) -> None:
        costs = np.ones(1) if weights is None else weights
        self.scale = 1.0 / np.sqrt(np.maximum(costs, 0.01 * costs[costs > 0.0].min()))

    def solve(self, e: np.ndarray, J: np.ndarray, mu: float, root: np.ndarray | None = None) -> np.ndarray:
        S = self.scale * np.eye(J.shape[1]) if root is None else root
        return -S @ (np.linalg.pinv(J @ S, rcond=1e-3) @ e)


class OnBowl(PoseMap):
    r"""The origin of b on a bowl in a: :math:`r = z - (x^2 + y^2)`."""

    size = 1

    def value(self, pose: Any, out: np.ndarray, D: np.ndarray | None = None) -> None:
        x, y, z = pose.translation
        out[0] = z - (x * x + y * y)
        if D is not None:
            D[0, :3] = np.array([-2.0 * x, -2.0 * y, 1.0]) @ pose.rotation

    def second(self, pose: Any, twist: np.ndarray, acceleration: np.ndarray, out: np.ndarray) -> None:
        x, y, _ = pose.translation
        v = pose.rotation @ twist[:3]
        a = pose.rotation @ (acceleration[:3] + np.cross(twist[3:], twist[:3]))
        out[0] = a[2] - 2.0 * (x * a[0] + y * a[1] + v[0] ** 2 + v[1] ** 2)


def reachable() -> tuple[Problem, np.ndarray]:
    """A pose that the arm reaches, and starts."""
    rng = np.random.default_rng(2)
    q = ROBOT.random(rng)
    problem = Problem(ROBOT, [Implicit.equal(Pose(ROBOT, "tool"), Pose(ROBOT, "tool").value(q))])
    return problem, np.array([ROBOT.random(rng) for _ in range(40)])


def test_a_direction_of_descent_is_one_class() -> None:
    """Bounds, caps, restarts and statuses come with the engine; batch and single call have the same bits."""
    problem, starts = reachable()
    own = Projector(problem, engine=NewtonEngine(PseudoInverse))
    batch, usual = own.project_batch(starts), Projector(problem).project_batch(starts)
    assert batch.success.sum() >= 0.9 * usual.success.sum() > 0.0
    assert all(problem.is_satisfied(q) for q in batch.q[batch.success])
    assert (batch.iterations != usual.iterations).any()  # it is another one
    for i in (0, 7):
        assert own.project(starts[i]).q.tobytes() == batch.q[i].tobytes()
    assert own.project(starts[0]).engine.__repr__() == "NewtonEngine(PseudoInverse)"


def test_the_default_direction_can_be_said() -> None:
    problem, starts = reachable()
    said, silent = (Projector(problem, engine=engine) for engine in (NewtonEngine(DampedCholesky), "readable"))
    assert said.project(starts[0]).q.tobytes() == silent.project(starts[0]).q.tobytes()


def test_a_refinement_serves_any_direction() -> None:
    """`nearest` is composed around the program of whatever engine."""
    problem, starts = reachable()
    free = Problem(ROBOT, [Implicit.equal(Pose(ROBOT, "tool"), problem.rhs.vector, mask=[True] * 3 + [False] * 3)])
    found = Projector(free, Options(nearest=True), NewtonEngine(PseudoInverse)).project(starts[0])
    usual = Projector(free, Options(nearest=True)).project(starts[0])
    assert found.success
    assert found.stationarity is not None
    assert found.stationarity <= 1e-8
    assert usual.stationarity is not None


def test_costs_of_zero_are_no_trouble() -> None:
    problem, starts = reachable()
    costly = Problem(ROBOT, problem.constraint_levels[0], weights=[1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 2.0])
    assert Projector(costly, engine=NewtonEngine(PseudoInverse)).project_batch(starts).success.mean() > 0.8


def test_a_contact_is_one_class() -> None:
    """Value, Jacobian, drift, columns, threads and pickling by the law of functions; and it is solved."""
    bowl = PoseContact(ROBOT, "tool", OnBowl(), name="on a bowl")
    check_function(bowl.function)
    result = Projector(Problem(ROBOT, [bowl])).project(ROBOT.random(np.random.default_rng(0)))
    assert result.status is Status.CONVERGED
    x, y, z = ROBOT.at(result.q).placement("tool").translation
    assert abs(z - (x * x + y * y)) <= 1e-4


# To a copy of the package: row of the page -> files that are new, and lines in files that are there.

ROOT = floors.ROOT
TEXTS = ROOT / "tests" / "data" / "additions"
NEW = {
    "a function": {"constraints/functions/frames/height.py": "height.py"},
    "a form of rows of closures or contacts": {"constraints/loops/hinges/on_sphere.py": "on_sphere.py"},
    "a law of forces": {"constraints/dynamics/laws/wind.py": "wind.py"},
    "a direction of descent": {"constraints/solvers/newton/pseudo_inverse.py": "pseudo_inverse.py"},
    "a command": {"constraints/cli/rows.py": "rows.py"},
    "a group": {"liegroups/formulas/heisenberg.py": "heisenberg.py"},
}
SLOT = '''
    @classmethod
    def slot(cls, along: ArrayLike = X, axis: ArrayLike = Z) -> Hinge:
        """A pin in a slot: translation along it, and rotation about an axis (3,), unit each."""
        slider, step = _slider(along), _pin(axis)
        return _hinge(HingeKind.SLOT, slider, step, along=slider.axis, axis=step.axis)
'''
CAREFUL = '''

@final
@dataclass(frozen=True)
class Careful(StepControl):
    """A part of the step in the first iteration, then all of it.

    Args:
        first: in (0, 1].
    """

    first: float = 0.5

    def __post_init__(self) -> None:
        """Check the range."""
        _check_parts(self, "first")

    def alpha(self, state: StepState, trial: Callable[[float], float]) -> float:
        """As `StepControl.alpha`."""
        return 1.0 if state.iteration else self.first
'''
HEISENBERG = '''
Heisenberg = Group(Layout.group("Heisenberg", [0.0, 0.0, 0.0], 3), HEISENBERG)
"""Upper triangular matrices: (x, y, z)."""
'''
LINES: dict[str, dict[str, list[tuple[str, str]]]] = {  # row -> file -> (before what, "" for the end; what is written)
    "a function": {
        "constraints/functions/__init__.py": [("", "from .frames.height import Height as Height\n")],
        "tests/samples.py": [
            ("from constraints.functions.frames._template", "from constraints.functions import Height\n"),
            ('        "DistanceBetween": lambda', '        "Height": lambda: Height(robot(), "b", reference="a"),\n'),
        ],
        "tests/functions/test_functions.py": [
            (
                '    "DistanceBetween": lambda',
                '    "Height": lambda o: np.array([(o("a").inverse() * o("b")).translation[2]]),\n',
            )
        ],
        "docs/functions.md": [
            ("| `FrameVelocity(", "| `Height(robot, b, reference=a)` | $({}^ap_b)_z$ | 1 | $R^1$ | called | - |\n")
        ],
        "docs/api/functions/poses.rst": [("", "\n.. currentmodule:: constraints.functions\n\n.. autoclass:: Height\n")],
        "docs/api/functions/index.rst": [("   ~constraints.Position\n", "   ~constraints.functions.Height\n")],
    },
    "a hinge": {
        "constraints/loops/hinges/hinge.py": [
            ("    CUSTOM = ", '    SLOT = "a slider, and a pin across it"\n'),
            ("    # Kinematics.", SLOT.lstrip("\n") + "\n"),
        ],
        "tests/loops/test_hinges.py": [
            ("}\nDOFS", '    "slot": Hinge.slot([0.6, 0.8, 0.0], [0.0, 0.0, 1.0]),\n'),
            ("), strict=True))\nSLOW", ", 2"),
        ],
    },
    "a form of rows of closures or contacts": {
        "constraints/loops/__init__.py": [("", "from .hinges.on_sphere import OnSphere as OnSphere\n")],
        "docs/api/loops/closures.rst": [(".. autoclass:: Slopes", ".. autoclass:: OnSphere\n\n")],
        "docs/api/loops/index.rst": [("   ~constraints.loops.Slopes\n", "   ~constraints.loops.OnSphere\n")],
    },
    "a law of forces": {
        "constraints/dynamics/__init__.py": [("", "from .laws.wind import Wind as Wind\n")],
        "docs/api/dynamics/forces.rst": [(".. autoclass:: JointLaw", ".. autoclass:: Wind\n\n")],
        "docs/api/dynamics/index.rst": [("   ~constraints.dynamics.JointLaw\n", "   ~constraints.dynamics.Wind\n")],
    },
    "a direction of descent": {
        "constraints/solvers/__init__.py": [
            ("if TYPE_CHECKING:", "from .newton.pseudo_inverse import PseudoInverse as PseudoInverse\n\n")
        ],
        "docs/api/projecting/steps.rst": [("", "\n.. autoclass:: PseudoInverse\n")],
        "docs/api/projecting/index.rst": [
            ("   ~constraints.solvers.SparseKKT\n", "   ~constraints.solvers.PseudoInverse\n")
        ],
    },
    "a step control": {
        "constraints/solvers/step_control.py": [("", CAREFUL)],
        "constraints/solvers/__init__.py": [("if TYPE_CHECKING:", "from .step_control import Careful as Careful\n\n")],
        "tests/house/test_values.py": [('"Backtracking", ', '    "Careful",\n')],
        "docs/api/projecting/steps.rst": [("", "\n.. autoclass:: Careful\n")],
        "docs/api/projecting/index.rst": [("   ~constraints.solvers.SparseKKT\n", "   ~constraints.solvers.Careful\n")],
    },
    "a command": {
        "constraints/__main__.py": [('    "warm-up": ', '    "rows": "count the rows of a problem",\n')],
        "docs/command_line.md": [("| `warm-up` |", "| `rows FILE` | count the rows of a problem |\n")],
    },
    "a group": {
        "liegroups/groups.py": [("from .layout", "from .formulas.heisenberg import HEISENBERG\n"), ("", HEISENBERG)],
        "liegroups/__init__.py": [("", "from .groups import Heisenberg as Heisenberg\n")],
        "docs/conventions.md": [("| a product `A * B` |", "| Heisenberg | `(x, y, z)`, tangent likewise |\n")],
        "docs/problem_files.md": [('`{"type": "ProductSpace", "factors"', '`"Heisenberg"`; ')],
        "docs/api/liegroups/spaces.rst": [("", "\n.. autodata:: Heisenberg\n")],
        "docs/api/liegroups/index.rst": [("   ~liegroups.SE2\n", "   ~liegroups.Heisenberg\n")],
    },
}


def copied(folder: Path) -> set[str]:
    """A copy of the package, its tests and pages, with all that is added; the paths that were touched."""
    for part in (*floors.PACKAGES, "tests", "docs"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.png", "mechanisms"))
    for part in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / part, folder / part)
    for files in NEW.values():
        for path, text in files.items():
            assert not (folder / path).exists()
            shutil.copy(TEXTS / text, folder / path)
    for lines in LINES.values():
        for path, entries in lines.items():
            text = (folder / path).read_text(encoding="utf-8")
            for before, what in entries:
                at = text.index(before) if before else len(text)
                text = text[:at] + what + text[at:]
            (folder / path).write_text(text, encoding="utf-8")
    return {path for each in (*NEW.values(), *LINES.values()) for path in each}


def places_of(what: str) -> set[str]:
    """The places that the page names to add something: all that is in backticks in its row, up to who judges it."""
    (row,) = re.findall(rf"^\| {what} \|(.*)\|[^|]*\|$", PAGE.split("## Where to add")[1], re.MULTILINE)
    return set(re.findall(r"`([\w/.]+)`", row))


@pytest.mark.parametrize("what", sorted({*NEW, *LINES}))
def test_the_page_names_every_place_that_is_touched(what: str) -> None:
    """A file by its path, or a new file and a page of docs/api by their folder."""
    places = places_of(what)
    for path in LINES.get(what, {}):
        folder = f"{Path(path).parent}/"
        named = folder if folder.startswith("docs/api/") else path.removeprefix("constraints/")
        assert named in places, path
    for path in NEW.get(what, {}):
        assert f"{Path(path).parent}/".removeprefix("constraints/") in places, path


def test_what_is_added_to_a_copy_keeps_the_laws(tmp_path: Path) -> None:
    """Laws, files, solutions, dynamics, the command, pages and samples in one process; then floors, sizes and names."""
    touched = copied(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    run = subprocess.run(
        [sys.executable, TEXTS / "judge.py", tmp_path], cwd=work, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{tmp_path / 'tests'}"}, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    said = [line for line in run.stdout.splitlines() if re.fullmatch(r"[a-z0-9 ]+", line)]
    assert said == ["laws", "group", "forces", "files", "7 rows on 15 dofs", "command", "pages and samples"]
    code = sorted(path for path in touched if path.startswith(floors.PACKAGES))
    for path in code:
        text, module = (tmp_path / path).read_text(encoding="utf-8"), ".".join(Path(path).with_suffix("").parts)
        is_door = path.endswith("__init__.py")
        assert list(floors.complaints(module.removesuffix(".__init__"), text, is_door)) == []
        assert len(text.splitlines()) <= floors.LONGEST_FILE, path
        assert not floors.NOT_A_NAME.fullmatch(Path(path).stem)
        assert not [name for name, lines in floors.bodies(text) if lines > floors.SCREEN]
    files = [path for package in floors.PACKAGES for path in (tmp_path / package).rglob("*.py")]
    assert floors.full_folders(files) == {}
    assert len(files) == len(floors.FILES) + sum(len(each) for each in NEW.values())
