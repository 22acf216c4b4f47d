"""What a constraint set keeps of its assemblies: one build for each choice, over threads, copies and failures."""

from __future__ import annotations

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rbdl_models import LINKAGE_CLOSED, linkage
from record_arguments import with_records

from constraints import Bounds, Projector
from constraints.errors import ConstraintError, OptionError, UnknownNameError, WrongObjectError
from constraints.loops import AssemblyOptions, ConstraintSet, assemble_position
from constraints.loops.assembling import assembly_choice
from constraints.models import mechanisms
from constraints.solvers import NewtonEngine, SparseKKT
from constraints.solvers.projection.engines import USUAL
from constraints.solvers.trace import Trace
from constraints.workspace import Kept, kept_with

START = LINKAGE_CLOSED + np.random.default_rng(3).uniform(-0.2, 0.2, 5)


def fresh() -> ConstraintSet:
    """The linkage, with nothing kept."""
    return ConstraintSet(linkage().robot, list(linkage().stack))


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Projector]:
    """The projectors that assemblies build from now on."""
    made: list[Projector] = []

    def build(*arguments: Any) -> Projector:
        made.append(Projector(*arguments))
        return made[-1]

    monkeypatch.setattr(assembly_choice, "Projector", build)
    return made


def test_a_choice_is_built_once(builds: list[Projector]) -> None:
    """Engine 5: the same costs, driven joints, bounds and options build once, in whatever form they come."""
    rows = fresh()
    same: list[list[dict[str, Any]]] = [
        [{}, {"weights": None}, {"driven": []}, {"tolerance": 1e-12}],
        [{"weights": [1.0, 2.0, 1.0, 1.0, 1.0]}, {"weights": np.array([1.0, 2.0, 1.0, 1.0, 1.0])}],
        [{"weights": {"j1": 2.0}}, {"weights": {"j1": 2}}],
        [{"driven": ["j0"]}, {"driven": ("j0",)}],
        [{"driven": rows.robot.segments("j0")}, {"driven": np.array([True, False, False, False, False])}],
        [{"bounds": rows.robot.bounds}] * 2,
        [{"tolerance": 1e-10}] * 2,
        [{"max_iterations": 50}] * 2,
        [{"restarts": True, "seed": 3}] * 2,
        [{"nearest": True}] * 2,
        [{"engine": "readable"}] * 2,
    ]
    for number, alike in enumerate(same):
        results = {
            assemble_position(rows, START, **with_records(each, options=AssemblyOptions)).q.tobytes()
            for each in (*alike, *alike)
        }
        assert len(results) == 1
        assert len(builds) == number + 1
    for number, alike in enumerate(same):
        found = assemble_position(rows, START, **with_records(alike[0], options=AssemblyOptions))
        assert found.projection.problem is builds[number].problem
        assert (
            found.q.tobytes()
            == assemble_position(fresh(), START, **with_records(alike[0], options=AssemblyOptions)).q.tobytes()
        )


def test_sets_that_were_switched_share_what_is_kept(builds: list[Projector]) -> None:
    """Engine 5: what is on is part of the choice; stabilisation is none of it."""
    rows = mechanisms.delta_robot().constraint_set()
    start = rows.robot.space.integrate(mechanisms.delta_robot().posture("closed"), np.full(rows.robot.nv, 0.05))
    for _ in range(3):
        less = rows.switched(off=[0])
        one, other = assemble_position(rows.stabilised(0.1), start), assemble_position(less, start)
        assert one.success
        assert other.success
        assert len(other.projection.problem.constraints) == len(rows) - 1
        assert np.linalg.norm(rows.position_error(other.q)) > 1e-6
    assert len(builds) == 2


def test_threads_build_once(builds: list[Projector]) -> None:
    """Engine 5: threads that begin together build one assembler, and each gets what one alone gets."""
    rows, together = fresh(), Barrier(8)
    starts = [START + 0.01 * i for i in range(8)]

    def close(start: np.ndarray) -> bytes:
        together.wait()
        return b"".join(assemble_position(rows, start).q.tobytes() for _ in range(20))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(close, starts))
    assert len(builds) == 1
    assert found == [20 * assemble_position(fresh(), start).q.tobytes() for start in starts]


def test_copies_in_other_processes_begin_without() -> None:
    """Engine 5: what is kept is not pickled; a copy closes to the same bits."""
    rows = fresh()
    size = len(pickle.dumps(rows))
    found = assemble_position(rows, START)
    assert len(rows.assemblers) == 1
    assert len(pickle.dumps(rows)) == size
    copy: ConstraintSet = pickle.loads(pickle.dumps(rows))
    assert len(copy.assemblers) == 0
    assert assemble_position(copy, START).q.tobytes() == found.q.tobytes()
    assert pickle.loads(pickle.dumps(found)).q.tobytes() == found.q.tobytes()


def test_the_last_few_are_kept(builds: list[Projector]) -> None:
    """Engine 5: memory is bounded, whatever is swept."""
    rows = fresh()
    for i in range(20):
        assert assemble_position(rows, START, weights=[1.0, 1.0, 1.0, 1.0, 1.0 + i]).success
    assert len(rows.assemblers) == 16
    assemble_position(rows, START, weights=[1.0, 1.0, 1.0, 1.0, 20.0])
    assert len(builds) == 20
    assemble_position(rows, START, weights=[1.0, 1.0, 1.0, 1.0, 1.0])
    assert len(builds) == 21


@pytest.mark.parametrize(
    ("kept", "wrong", "error"),
    [
        ({"max_iterations": 1}, {"max_iterations": True}, OptionError),
        ({"max_iterations": 100}, {"max_iterations": 100.0}, OptionError),
        ({"nearest": True}, {"nearest": 1}, OptionError),
        ({}, {"tolerance": [1e-12]}, OptionError),
        ({}, {"tolerance": float("nan")}, OptionError),
        ({}, {"tolerance": 1e-16}, OptionError),
        ({"driven": ["j0"]}, {"driven": "j0"}, WrongObjectError),
        ({}, {"driven": ["j9"]}, ConstraintError),
        ({}, {"engine": "fast"}, UnknownNameError),
        ({}, {"engine": ["compiled"]}, WrongObjectError),
        ({}, {"bounds": ([-1.0] * 5, [1.0] * 5)}, WrongObjectError),
    ],
)
def test_what_is_wrong_is_refused_beside_what_is_kept(kept: Any, wrong: Any, error: type[Exception]) -> None:
    """Engine 5: a value that equals a kept one, and is none that is allowed, is refused as by a new set."""
    rows = fresh()
    assemble_position(rows, START, **with_records(kept, options=AssemblyOptions))
    for _ in range(2):
        with pytest.raises(error):
            assemble_position(rows, START, **with_records(wrong, options=AssemblyOptions))
    assert len(rows.assemblers) == 1


def test_driven_joints_that_are_read_once_are_held() -> None:
    """Engine 5: names from an iterator hold their joints; they were checked, and then none was left to hold."""
    found = assemble_position(fresh(), START, driven=iter(["j0", "j2"]))  # pyright: ignore[reportArgumentType]
    assert found.success
    assert (found.q[[0, 2]] == START[[0, 2]]).all()


def test_bounds_of_another_object_are_another_choice(builds: list[Projector]) -> None:
    """Engine 5: bounds count by the object, and a narrower one is never taken for a wider one."""
    rows = fresh()
    space = rows.robot.space
    for limit in (np.pi, 0.01):
        q = assemble_position(
            rows, START, options=AssemblyOptions(bounds=Bounds(space, START - limit, START + limit))
        ).q
        assert (np.abs(q - START) <= limit + 1e-12).all()
    assert len(builds) == 2


def test_a_long_chain_is_closed_by_the_usual_engine() -> None:
    """Engine 5: a lift of 40 stages, where sparse steps used to be taken, ends in their configuration."""
    lift = mechanisms.scissor_lift(40)
    rows, space = lift.constraint_set(), lift.robot.space
    start = space.integrate(lift.posture("closed"), 0.003 * np.random.default_rng(0).standard_normal(space.nv))
    usual, sparse = (
        assemble_position(rows, start, options=AssemblyOptions(engine=e)) for e in (None, NewtonEngine(SparseKKT))
    )
    assert usual.success
    assert sparse.success
    assert usual.iterations == sparse.iterations
    assert np.abs(usual.q - sparse.q).max() < 1e-12
    expected = "CompiledEngine()" if USUAL == "compiled" else "NewtonEngine(SparseKKT)"
    assert repr(usual.projection.engine) == expected


def test_traces_are_sequences_of_steps() -> None:
    """Engine 5: iterates that are made Steps when they are read: by index, slice, and in a loop; they are read-only."""
    numbers = np.array([1.0, 2.0, 0.5, 0.0, 3.0, 4.0, 0.25, 1.0])
    trace = Trace(numbers, 2)
    assert len(trace) == 2
    assert [(s.q.tolist(), s.residual, s.restarted) for s in trace] == [
        ([1.0, 2.0], 0.5, False),
        ([3.0, 4.0], 0.25, True),
    ]
    assert trace[-1].q.tolist() == [3.0, 4.0]
    assert [s.residual for s in trace[1:]] == [0.25]
    assert not trace[0].q.flags.writeable
    with pytest.raises(IndexError):
        trace[2]
    again: Trace = pickle.loads(pickle.dumps(trace))
    assert repr(again) == repr(trace)
    assert not again[0].q.flags.writeable
    assert len(Trace(np.zeros(0), 2)) == 0


def test_a_key_that_cannot_be_hashed_is_not_kept() -> None:
    """What is made of it is given, and made again."""
    kept = Kept[int](2)
    counts = iter(range(9))
    assert [kept.get(["list"], lambda: next(counts)) for _ in range(2)] == [0, 1]
    assert [kept.get("a", lambda: next(counts)) for _ in range(2)] == [2, 2]
    assert [kept.get(key, lambda: next(counts)) for key in "bcba"] == [3, 4, 3, 5]
    assert len(kept) == 2


def test_what_is_made_of_a_thing_is_kept_as_long_as_the_thing() -> None:
    """Each result is made once for a thing and the other arguments, and is gone with the thing."""
    made = list[int]()

    @kept_with
    def squares(rows: ConstraintSet, power: int) -> NDArray[np.float64]:
        made.append(power)
        return np.full(2, float(rows.size**power))

    rows = fresh()
    first = squares(rows, 2)
    assert squares(rows, 2) is first
    assert squares(rows, 1) is not first
    assert squares(fresh(), 2) is not first
    assert made == [2, 1, 2]
    gone = weakref.ref(first)
    del first, rows
    gc.collect()
    assert gone() is None
