"""What results say of themselves: neither true nor false, what was spent, in one line; slices; options by name."""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import pickle
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import arm, needs_robot_data, panda, ur5

import constraints
import constraints as lc
from constraints import errors
from constraints.loops import AssemblyOptions, assemble_position
from constraints.manipulation import ConstraintGraph, State, Transition, interpolate
from constraints.models import Mechanism, mechanisms, sample_arm
from constraints.models.structure.assemblies import assemblies
from constraints.models.structure.mechanism import Unread, grouped
from constraints.planning import Limits, Plan, PlanningStatus, walk
from constraints.solvers.result import Verdict
from constraints.words import counted
from liegroups import Rn

REACHED, FAR = [0.45, 0.1, 0.3], [3.0, 0.0, 0.0]


def hand(point: Any = REACHED, name: str = "hand") -> lc.Implicit:
    return lc.Implicit.equal(lc.Position(arm(), "tool"), point, name=name)


def projector(**options: Any) -> lc.Projector:
    return lc.Projector(lc.Problem(arm(), [hand()]), lc.Options(**options))


def starts(n: int) -> Any:
    return arm().random(np.random.default_rng(0), n)


def failed(**options: Any) -> lc.Projection:
    p = projector(**options)
    result = p.project(arm().neutral, p.problem.rhs.replace("hand", FAR))
    assert not result.success
    return result


def mixed(n: int = 6) -> lc.ProjectionBatch:
    """Rows that succeed and rows that fail, in turns; the right-hand side of each is its own."""
    p = projector(max_iterations=20, trace=True)
    return p.project_batch(starts(n), [p.problem.rhs.replace("hand", (REACHED, FAR)[i % 2]) for i in range(n)])


def place(x: float, y: float, z: float) -> Any:
    return [x, y, z, 0.0, 0.0, 0.0, 1.0]


@functools.cache
def graph() -> ConstraintGraph:
    free = State("free")
    held = State("held", [lc.Implicit.zero(lc.Position(arm(), "tool", place(*REACHED)))], priority=1)
    away = State("away", [lc.Implicit.zero(lc.Position(arm(), "tool", place(*FAR)))], priority=2)
    ways = [Transition("hold", free, held, free), Transition("go away", free, away, free)]
    return ConstraintGraph(arm(), [free, held, away], ways)


# --- Mend 2 -----------------------------------------------------------------------------------------------------------


def results() -> dict[str, Callable[[], Verdict]]:
    rng, q = np.random.default_rng(0), arm().neutral
    linkage = mechanisms.four_bar()
    circle = lc.Problem(arm(), [hand()])
    return {
        "Projection": failed,
        "ProjectionBatch": mixed,
        "Diagnosis": lambda: failed().diagnose(trials=2),
        "Assembly": lambda: assemble_position(
            linkage.constraint_set(), linkage.robot.neutral, options=AssemblyOptions(max_iterations=1)
        ),
        "Assemblies": lambda: assemblies(linkage, count=0),
        "Interpolation": lambda: interpolate(circle, q, q),
        "TargetConfiguration": lambda: graph().target("go away", q, arm().random(rng)),
        "Plan": lambda: walk(graph(), q, ["go away"], rng=rng, limits=Limits(sequences=1)),
        "Validation": lambda: graph().validate(rng, 2),
    }


@pytest.mark.parametrize("kind", results())
def test_a_result_is_neither_true_nor_false(kind: str) -> None:
    """Mend 2: `if projector.project(q):` passed for a failure; it raises, and names `success`."""
    result: Any = results()[kind]()  # of its own type a checker refuses `not result` already
    assert type(result).__name__ == kind
    for ask in (lambda: bool(result), lambda: not result, lambda: result or None, lambda: [1 for _ in [0] if result]):
        with pytest.raises(errors.TruthValueError, match=rf"a {kind} is neither true nor false.*`success") as caught:
            ask()
    assert caught.value.kind == kind
    assert isinstance(caught.value, ValueError)  # as numpy's
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert result is not None
    assert np.size(result.success) >= 1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: projector().project(arm().neutral), r"`success` \(True here\), or call `or_raise\(\)`"),
        (lambda: projector().project_batch(np.zeros((0, 7))), r"success.all\(\).*true for 0 of 0.*len\(\.\.\.\) == 0"),
        (mixed, r"true for 3 of 6"),
    ],
)
def test_a_success_has_no_truth_value_either(make: Callable[[], Any], said: str) -> None:
    """Mend 2: code that works by luck is found before it meets a failure; the truth of a batch is no length."""
    with pytest.raises(errors.TruthValueError, match=said):
        bool(make())


def test_whatever_has_a_success_is_a_result() -> None:
    """Mend 2: a class with a property `success` that is added later cannot be forgotten."""
    seen = 0
    for module in pkgutil.walk_packages(constraints.__path__, "constraints."):
        if module.name.endswith("__main__"):
            continue
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if getattr(kind, "_is_protocol", False):  # what pictures ask of a result
                continue
            if isinstance(inspect.getattr_static(kind, "success", None), property):
                assert issubclass(kind, Verdict), kind
                seen += 1
    assert seen > len(results())


# --- Mend 3 -----------------------------------------------------------------------------------------------------------


def test_comparisons_keep_the_budget_they_were_recorded_with() -> None:
    """Mend 3: the problems recorded with hpp-constraints state 40 iterations; both solvers get what a file states."""
    files = sorted((Path(__file__).parent.parent.parent / "benchmarks" / "problems").glob("*.npz"))
    assert len(files) >= 9
    for file in files:
        with np.load(file) as stored:
            assert int(stored["max_iterations"]) == 40, file.name


@needs_robot_data
@pytest.mark.parametrize(("robot", "frame"), [(panda, "panda_hand_tcp"), (ur5, "tool0")])
def test_the_default_budget_reaches_what_can_be_reached(robot: Callable[[], lc.Robot], frame: str) -> None:
    """Mend 3: poses of random configurations from random starts; at least 99 of 100, and no fewer than with 40."""
    rng, model = np.random.default_rng(0), robot()
    problem = lc.Problem(model, [lc.Implicit.equal(lc.Pose(model, frame))])
    sides, Q = [problem.rhs_from(q) for q in model.random(rng, 100)], model.random(rng, 100)
    found = lc.Projector(problem).project_batch(Q, sides).success
    before = lc.Projector(problem, lc.Options(max_iterations=40)).project_batch(Q, sides).success
    assert found.sum() >= 99
    assert not (before & ~found).any()
    assert before.sum() < 100


@pytest.mark.parametrize("status", [lc.Status.STALLED, lc.Status.STATIONARY, lc.Status.MAX_ITERATIONS])
def test_statuses_say_what_was_seen_and_guess_no_cause(status: lc.Status) -> None:
    """Mend 3: a hard start was told "a target out of reach" first."""
    for guess in ("reach,", "out of", "local minimum", "contradict", "hard"):
        assert guess not in status.value


def test_a_failure_says_what_it_used_and_what_to_do() -> None:
    """Mend 3: in str, describe() and the error of or_raise()."""
    result = failed()
    used = f"all 400 iterations used, in {result.restarts + 1} tries; more: `Options(max_iterations=4000)`; "
    used += "`diagnose()` says whether it is difficult or impossible"
    assert used in str(result)
    assert used in result.describe()
    with pytest.raises(errors.FailedError) as caught:
        result.or_raise()
    assert used in str(caught.value)
    assert caught.value.result is result
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert "; 1 iteration used, in 1 try" in str(failed(max_iterations=1))
    short = failed(restarts=False)
    assert f"; {short.iterations} of 400 iterations used, in 1 try, without restarts" in str(short)
    solved = projector().project(arm().neutral)
    assert "diagnose" not in str(solved)


def test_an_assembly_says_what_it_used() -> None:
    """Mend 3: as a projection; and of a branch that was left it does not say that it converged."""
    linkage = mechanisms.four_bar()
    rows, q = linkage.constraint_set(), linkage.robot.neutral
    short = assemble_position(rows, q, options=AssemblyOptions(max_iterations=1))
    for text in (short.describe(), str(short)):
        assert "; 1 iteration used; more: `max_iterations=1000`; `.projection.diagnose()` says whether it is" in text
    with pytest.raises(AttributeError, match=r"`assembly\.projection\.diagnose\(\)`"):  # not "`batch[i]...`"
        getattr(short, "diagnose")  # noqa: B009
    left = assemble_position(rows, linkage.postures["closed"] + np.array([0.3, 0.0, 0.0]), stay_on_branch=1e-9)
    assert left.status is lc.Status.LEFT_BRANCH
    with pytest.raises(errors.FailedError, match=r"^LEFT_BRANCH"):
        left.or_raise()


def test_diagnosis_spends_its_own_budget() -> None:
    """Mend 3: a larger budget of projections makes no trial of a diagnosis longer."""
    for budget in (40, 1000):
        trials = failed(max_iterations=budget).diagnose(iterations=80, trials=4).trials
        assert trials
        assert max(trial.iterations for trial in trials) <= 1.25 * 80


# --- Mend 13 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        lambda: graph().transition("hold"),
        lambda: graph().state("held"),
        lambda: graph(),
        lambda: graph().target("hold", arm().neutral, arm().neutral),
        lambda: walk(graph(), arm().neutral, ["hold"], rng=np.random.default_rng(0)),
        lambda: interpolate(lc.Problem(Rn(2), [lc.Implicit.between(parabola(), -9, 9)]), [0.0, 0.0], [1.0, 0.0]).path,
        lambda: projector(),
        lambda: lc.Options(threshold=1e-6),
        lambda: assemblies(mechanisms.four_bar(), count=1),
        lambda: mixed(),
    ],
)
def test_a_repr_is_one_short_line(value: Callable[[], object]) -> None:
    """Mend 13: that of a transition was 3320 characters long, that of a walk 13000."""
    text = repr(value())
    assert "\n" not in text
    assert 5 < len(text) < 400


def parabola() -> Any:
    return constraints.Function.from_callable(lambda q: q[:1] ** 2, Rn(2), Rn(1), name="parabola")


def test_a_transition_says_from_where_to_where() -> None:
    """Mend 13."""
    assert repr(graph().transition("hold")) == "Transition('hold': 'free' to 'held')"
    assert repr(graph().state("held")) == "State('held': 1 constraint, priority 1)"


def test_options_print_what_was_chosen() -> None:
    """Mend 13: the call that makes them."""
    chosen = lc.Options.local(threshold=1e-6)
    assert repr(chosen) == "Options(threshold=1e-06, max_iterations=100, restarts=False, wrap=False)"  # its own budget
    assert eval(repr(chosen), dict(vars(lc))) == chosen
    assert repr(lc.Options()) == "Options()"


def test_a_plan_is_told_in_a_few_lines_and_in_full_on_request() -> None:
    """Mend 13: 50 lines, a line a reason; the usual reasons are told, the others counted."""
    refusals = Counter({("go away", f"a meets b{i}"): 40 - i for i in range(30)})
    told = Plan(None, PlanningStatus.TIME, ("hold", "go away", "hold"), 7, 500, refusals)
    lines = told.describe().splitlines()
    assert lines == [
        "TIME: The time was over.",
        "  7 sequences tried, 500 targets drawn",
        "  the last one: hold, go away, hold",
        *(f"  'go away' refused {40 - i} times: a meets b{i}" for i in range(8)),
        "  and 22 other reasons (describe(details=True))",
        "  0 nodes, 0 projections, 0 checks for collisions, 0 s",
    ]
    assert len(told.describe(details=True).splitlines()) == 3 + 30 + 1
    assert str(told) == "TIME: The time was over."


def test_what_was_not_read_is_grouped() -> None:
    """Mend 13: 30 ranges of ball joints are one line; each stays in `unread`, and in describe(details=True)."""
    ranges = [
        Unread(
            f"range of joint 'ball {i}'",
            f"a ball joint cannot have bounds here; the limit of the file is {0.1 * i:.4g} rad",
        )
        for i in range(30)
    ]
    other = Unread("motor 'm'", "no joint is named 'm'")
    mechanism = Mechanism(sample_arm(), unread=(*ranges, other))
    not_read = [line for line in mechanism.describe().splitlines() if "not read" in line]
    assert not_read == [f"  not read: {ranges[0]} (and 29 more of this kind)", f"  not read: {other}"]
    assert mechanism.describe(details=True).count("not read") == 31
    assert grouped([]) == []


def moving(interval: tuple[float, float] = (-np.inf, np.inf)) -> lc.Problem:
    rise = lc.Target(lambda t: [0.45, 0.1, 0.3 + 0.1 * t], interval=interval)
    return lc.Problem(arm(), [hand(rise), lc.Implicit.above(lc.Position(arm(), "elbow"), -5.0, name="elbow")])


def test_a_target_without_a_time_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 17: the projection says at which time it took the target, in the log once, and where it is printed."""
    problem, q = moving(), arm().neutral
    p, words = (
        lc.Projector(problem),
        "Target of 'hand' evaluated at time 0 s: `rhs=problem.rhs_at(t)` evaluates it at t",
    )
    with caplog.at_level(logging.WARNING, logger="constraints"):
        silent = p.project(q, problem.rhs_at(0.0))
        assert not caplog.records
        told = [p.project(q), p.project(q), p.project_batch(starts(2))[1], p.project(q, problem.rhs)]
    assert [record.getMessage() for record in caplog.records] == [f"no right-hand sides were given: {words}"]
    assert silent.q.tobytes() == told[0].q.tobytes()
    assert "Target" not in str(silent)
    for result in told:
        assert words in str(result)
        assert words in result.describe()
    assert "Target" not in str(p.project(q, problem.rhs_from(q)))  # another right-hand side than the target's
    assert "at time 2 s" in str(lc.Projector(moving((2.0, 3.0))).project(q))
    assert "Target" not in str(projector().project(q))


def same(a: lc.Projection, b: lc.Projection) -> bool:
    names = ("status", "iterations", "restarts", "residual", "seconds")
    alike = all(getattr(a, name) == getattr(b, name) for name in names)
    arrays = [(a.q, b.q), (a.start, b.start), (a.near, b.near), (a.rhs.vector, b.rhs.vector)]
    traced = (a.trace is None) == (b.trace is None) and len(a.trace or ()) == len(b.trace or ())
    return alike and traced and all(np.array_equal(x, y) for x, y in arrays if x is not None)


@pytest.mark.parametrize(
    "which", [slice(2, 5), slice(None, None, -2), slice(3, 3), [0, -1, 4], np.array([5, 5]), "failures", []]
)
@pytest.mark.parametrize("given", ["a list", "a matrix", "one", "references"])
def test_slices_of_a_batch_are_batches(which: Any, given: str) -> None:
    """Mend 17: `batch[2:5]`, masks and lists of rows; each row is that of the whole."""
    n, p = 6, projector(max_iterations=20, trace=True)
    one = p.problem.rhs.replace("hand", FAR)
    sides: Any = {"one": one, "a list": [one, p.problem.rhs] * 3}.get(given, np.tile(one.vector, (n, 1)))
    near = None
    if given == "references":
        p, near = projector(nearest=True), starts(n)[::-1]
        sides = None
    batch = p.project_batch(starts(n), sides, near=near)
    rows = ~batch.success if isinstance(which, str) else which
    part = batch[rows]
    wanted = np.arange(n)[rows] if not isinstance(which, list) else np.array(which, dtype=int)
    assert isinstance(part, lc.ProjectionBatch)
    assert len(part) == len(wanted)
    assert all(same(a, batch[int(i)]) for a, i in zip(part, wanted, strict=True))
    assert isinstance(part.rhs(0) if len(part) else p.problem.rhs, lc.RightHandSide)
    for array in (part.q, part.status, part.residual, part.starts):
        assert not array.flags.writeable
    assert sum(part.counts.values()) == len(part)
    assert pickle.loads(pickle.dumps(part)).q.tobytes() == part.q.tobytes()


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (1, "row", "1 row"),
        (0, "row", "0 rows"),
        (2, "try", "2 tries"),
        (1, "try", "1 try"),
        (3, "inner axis", "3 inner axes"),
    ],
)
def test_numbers_agree_with_what_they_count(number: int, noun: str, words: str) -> None:
    """Mend 17: "1 rows"."""
    assert counted(number, noun) == words


def test_one_row_is_a_row() -> None:
    """Mend 17: in what problems, constraints, batches and mechanisms say of themselves."""
    line = constraints.Function.from_callable(lambda q: q, Rn(1), Rn(1), lambda q: np.ones((1, 1)), name="line")
    problem = lc.Problem(Rn(1), [lc.Implicit.zero(line)])
    batch = lc.Projector(problem).project_batch([[1.0]])
    said = [
        repr(problem),
        problem.describe(),
        repr(batch),
        repr(problem.constraints),
        repr(problem.constraints.owners[0]),
    ]
    said += [str(batch[0]), str(batch[0].diagnose()), repr(mechanisms.four_bar()), repr(graph())]
    for text in said:
        for wrong in ("1 rows", "1 dofs", "1 iterations", "1 closures", "1 tries"):
            assert not re.search(rf"\b{wrong}\b", text)
    assert repr(problem) == "Problem(1 dof, 1 row: line)"


@pytest.mark.program
def test_a_missing_main_guard_is_named(tmp_path: Path) -> None:
    """Mend 17: a script without it, whose spawned workers die because they run it again."""
    script = tmp_path / "reach.py"
    script.write_text(
        "import multiprocessing\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from constraints import Implicit, Position, Problem, Projector\n"
        "from constraints.models import sample_arm\n"
        "robot = sample_arm()\n"
        "problem = Problem(robot, [Implicit.equal(Position(robot, 'tool'), [0.4, 0.1, 0.3])])\n"
        "projector = Projector(problem, engine='readable')\n"
        "with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context('spawn')) as pool:\n"
        "    projector.project_batch([robot.neutral], executor=pool)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("constraints.errors.ExecutorError: a worker of the executor died")
    assert f"{script} has no `__main__` guard" in last
    assert 'if __name__ == "__main__":' in last


# --- Mend 23 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("errorThreshold", "threshold"), ("max_iter", "max_iterations"), ("maxIterations", "max_iterations"),
        ("random_state", "seed"), ("lambda_", "damping"),
    ],
)  # fmt: skip
def test_words_of_the_field_are_answered_by_the_option(theirs: str, ours: str) -> None:
    """Mend 23: what SciPy, HPP, Drake, pink and others call an option."""
    calls: list[Callable[..., Any]] = [lc.Options, lc.Options.local, lambda **o: replace(lc.Options(), **o)]
    for call in calls:
        with pytest.raises(errors.UnknownOptionError, match=rf"no option is named '{theirs}': use '{ours}'$") as caught:
            call(**dict[str, Any]({theirs: 1}))
        assert caught.value.nearest == (ours,)
    assert isinstance(caught.value, errors.ConstraintError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_batch_without_right_hand_sides_says_once_at_which_time_targets_stand(
    caplog: pytest.LogCaptureFixture,
) -> None:
    problem = moving((2.0, 3.0))
    p = lc.Projector(problem)
    p.project_batch(starts(3), rhs=problem.rhs_at(2.5))
    assert caplog.records == []
    for _ in range(2):
        p.project_batch(starts(3))
    (record,) = caplog.records
    assert "no right-hand sides were given: Target of 'hand' evaluated at time 2 s" in record.getMessage()
