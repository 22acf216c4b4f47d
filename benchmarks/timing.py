"""Calls that are timed beside each other, the commands that do it, and pinocchio's contacts, the clock of some."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

__all__ = ["Times", "cases_timed", "in_bursts", "rigid_contacts", "with_seconds"]

Times = dict[str, NDArray[np.float64]]


def in_bursts(
    calls: Mapping[Any, Callable[[], Any]], repeats: int, burst: int = 1, clock: Callable[[], Any] = time.process_time
) -> dict[Any, NDArray[np.float64]]:
    """Times of each call [us], one for each burst: processor time of this process, in bursts that go round.

    A clock may give several times, which are columns then.
    """
    found: dict[Any, list[Any]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    gc.disable()  # as `timeit` does
    for _ in range(repeats):
        for name, call in calls.items():
            if burst > 1:
                call()  # its own memory is near again
            start = clock()
            for _ in range(burst):
                call()
            found[name].append((clock() - start) / burst * 1e6)
    gc.enable()
    return {name: np.array(times) for name, times in found.items()}


def with_seconds(run: Callable[[], Any]) -> tuple[Any, float]:
    """A result, and the seconds of the processor that it took."""
    begun = time.process_time()
    found = run()
    return found, time.process_time() - begun


def cases_timed(
    doc: str | None,
    names: Sequence[str],
    calls_of: Callable[[str], Mapping[str, Callable[[], Any]]],
    burst: int,
    report: Callable[[str, Times], bool],
    check: Callable[[Sequence[str]], bool],
    repeats: int = 300,
) -> int:
    """The command of a benchmark of calls: their times by case, and whether limits are reached.

    Args:
        doc: of the module.
        names: of the cases.
        calls_of: makes the calls of a case, by name.
        burst: calls of a burst.
        report: prints what is found of a case; whether its limits are reached.
        check: the short run on cases; whether all holds.
        repeats: bursts, where no number is given.
    """
    parser = bench_setup.command(doc, "json", "check", repeats=(repeats, "bursts of each call"))
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help="of these cases alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    if options.check:
        return int(not check(options.only))
    results, missed = dict[str, Times](), list[str]()
    for name in options.only:
        results[name] = in_bursts(calls_of(name), options.repeats, burst)
        missed += [] if report(name, results[name]) else [name]
    print(f"\nlimits are missed by {', '.join(missed)}" if missed else "\nall limits are reached")
    both = {"least": np.min, "median": np.median}
    bench_setup.write(options.json, {
        name: {call: {word: float(of(us)) for word, of in both.items()} for call, us in found.items()}
        for name, found in results.items()
    })  # fmt: skip
    return int(bool(missed))


def rigid_contacts(model: Any, kind: Any, places: Iterable[tuple[int, Any]]) -> tuple[Any, Any, Any]:
    """Pinocchio's memory of a model, and its contacts of a kind with theirs: by joint and placement, in local axes."""
    data, models, datas = model.createData(), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for joint, placement in places:
        made = pin.RigidConstraintModel(kind, model, joint, placement, pin.LOCAL)
        models.append(made)
        datas.append(made.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    return data, models, datas
