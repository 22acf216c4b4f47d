"""Do enclosures hold, are converged projections proved, and are false claims refused?

    python benchmarks/certificates.py --boxes 10000         # samples of boxes over all functions, 100 each
    python benchmarks/certificates.py --formulas 300        # the same of random formulas, five boxes each
    python benchmarks/certificates.py --digits 300          # boxes judged wholly in 50 digits
    python benchmarks/certificates.py --widths 200          # how errors shrink with the size of boxes
    python benchmarks/certificates.py --projections 2000    # of the problem files: how many are proved, at what cost
    python benchmarks/certificates.py --off 200             # starts ten thresholds off, solutions in 50 digits
    python benchmarks/certificates.py --false 2000          # claims that do not hold
    python benchmarks/certificates.py --paths 100           # of scenes of the planner: proved, or refused by name; cost
    python benchmarks/certificates.py --jumps 200           # paths made to jump between branches: none may be proved
    python benchmarks/certificates.py --sweeps 100          # of linkages with known postures: complete where they are
    python benchmarks/certificates.py --check               # a little of each

Samples are at corners of boxes and inside, half each. Boxes of one function are drawn and enclosed up to 50 at once; of
the samples on these that come within 1e-9 of an end, or beyond it, the two nearest are judged in 50 digits
(`tests/fifty_digits.py`). Exit code 1 where something does not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import bench_setup  # noqa: F401
import certificate_claims as claims
import crank_chain
import enclosure_cases as cases
import numpy as np
import path_claims
import planning_leaves
from problem_files import PROBLEMS, Refused, Skipped, build, read
from proving import Progress, run_parts
from timing import with_seconds

from constraints import Projector
from constraints.certificates import CertificateStatus, certify
from constraints.certificates.batch import certify_batch
from constraints.functions.enclosures.box import TangentBox
from constraints.paths.edges import interpolate_edges
from constraints.planning import Limits

PER_BOX = 100
TOGETHER = 50
"""Boxes of one function that are drawn and enclosed as one object."""
JUDGED = 2
"""Samples in 50 digits of each such object: those nearest to an end."""
WITH_SOLIDS = 20
"""Paths of a scene that are also proved to be free of collisions, which takes seconds each."""
WELL = 1e4
"""Condition below which nearly all must be proved."""


def functions() -> dict[str, Any]:
    """Those that have an enclosure; prints how many have none."""
    every = cases.functions()
    found = {name: f for name, f in every.items() if cases.has_enclosure(f)}
    print(f"{len(found)} functions with enclosures; without: {len(every) - len(found)}")
    return found


def _sampled(what: str, drawn: Iterable[tuple[str, Any, TangentBox]], rng: np.random.Generator, calls: int) -> bool:
    """Samples of boxes of functions, several at once, so many times; whether none is outside."""
    boxes, total, progress = 0, Counter[str](), Progress(calls)
    for name, f, several in drawn:
        boxes += len(several.q)
        pairs, near = cases.enclosed_together(f, several), list[tuple[float, Any]]()
        total["boxes without a value, or too large"] += len(several.q) - len(pairs)
        before = total["outside"]
        for box, e in pairs:
            found, outside = cases.nearest(f, box, e, rng, PER_BOX)
            total.update({"samples": PER_BOX, "near an end": len(found), "outside": outside})
            near += [(one.gap, (box, e, one)) for one in found[:1]]
        for _, (box, e, one) in sorted(near, key=lambda each: each[0])[:JUDGED]:
            wrong = cases.outside_in_digits(f, box, e, one.v, one.column)
            total.update({"judged in 50 digits": 1, "outside": wrong})
        if total["outside"] > before:
            print(f"outside: {name}, of the {len(several.q)} boxes up to {boxes}", flush=True)
        progress.one_more()
    print(f"{what}: {boxes} boxes, {dict(total)}")
    return total["outside"] == 0


def boxes(count: int) -> bool:
    """Samples of boxes over all functions."""
    rng, listed = np.random.default_rng(1), [*functions().items()]
    each = min(max(count // len(listed), 1), TOGETHER)
    calls = -(-count // each)
    some = (listed[i % len(listed)] for i in range(calls))
    return _sampled("boxes", ((name, f, cases.boxes_of(f, rng, each, -6.0, 0.0)) for name, f in some), rng, calls)


def formulas(count: int) -> bool:
    """Samples of boxes of random formulas, five each."""
    rng = np.random.default_rng(2)
    some = ((f"formula {seed}", *cases.tree(seed)) for seed in range(count))
    drawn = ((name, f, cases.boxes_of(f, rng, 5, -6.0, -1.0, q)) for name, f, q in some)
    return _sampled("formulas", drawn, rng, count)


def digits(count: int) -> bool:
    """Boxes judged wholly in 50 digits: the centre, a corner, and two points inside."""
    rng, outside, judged = np.random.default_rng(3), 0, 0
    listed = [*functions().values()]
    for i in range(count):
        f, q = (listed[i % len(listed)], None) if i % 4 else cases.tree(1000 + i)
        box = cases.box_of(f, rng, -9.0, -0.5, q)
        found = cases.enclosed(f, box)
        if found is None:
            continue
        far = float(np.max(found.error, initial=0.0)) > 1.5 and not f.outputs.is_flat
        for k in range(4):
            v = cases.step_in(box, rng, k == 1) * (k > 0)
            outside += cases.outside_in_digits(f, box, found, v, int(rng.integers(max(f.inputs.nv, 1))), far)
            judged += 1
    print(f"judged in 50 digits: {judged} samples of {count} boxes, outside {outside}")
    return outside == 0


def widths(count: int) -> bool:
    """How errors, and what of them is more than the straight part, shrink where the size of a box is halved."""
    rng, errors, rests = np.random.default_rng(4), list[float](), list[float]()
    listed = [f for f in functions().values() if f.outputs.is_flat and f.inputs.nv]
    for i in range(count):
        f = listed[i % len(listed)]
        q = cases.box_of(f, rng, -3.0, -3.0).q
        found = [f.enclosure(TangentBox(f.inputs, q, size)) if _is_defined(f, q) else None for size in (2e-3, 1e-3)]
        if found[0] is None or found[1] is None:
            continue
        J = np.abs(f.jacobian(q)).sum(axis=1)
        wide, half = (e.error for e in found if e is not None)
        errors += (wide[half > 1e-9] / half[half > 1e-9]).tolist()
        over = half - J * 1e-3
        rests += ((wide - J * 2e-3)[over > 1e-9] / over[over > 1e-9]).tolist()
    shown = [np.round(np.quantile(x, [0.1, 0.5, 0.9]), 2).tolist() for x in (errors, rests)]
    print(f"twice the size: errors {shown[0]} times, beyond the straight part {shown[1]} times (10, 50, 90 %)")
    return abs(float(np.median(errors)) - 2.0) < 0.2 and abs(float(np.median(rests)) - 4.0) < 0.4


def _is_defined(f: Any, q: np.ndarray) -> bool:
    return cases.enclosed(f, TangentBox(f.inputs, q, 2e-3)) is not None


def projections(count: int) -> bool:
    """Converged projections of the problem files, and whether they are proved."""
    files = [*sorted(PROBLEMS.glob("*.npz")), *sorted((PROBLEMS / "others").glob("*.npz"))]
    each, holds = -(-count // len(files)), True
    well, proved, times, ratios, seen, together = 0, 0, list[float](), list[float](), 0, list[float]()
    for path in files:
        try:
            file = read(path)
            problem = build(file)
        except (Refused, Skipped) as why:
            print(f"left out: {path.stem}: {why}")
            continue
        projector = Projector(problem, file.options)
        rows, reasons, Q = list[tuple[float, float, float, bool]](), Counter[str](), list[np.ndarray]()
        for q0 in file.q0:
            result, cost = with_seconds(partial(projector.project, q0))
            if not result.success or len(Q) >= each:
                continue
            Q.append(result.q)
            found, took = with_seconds(partial(certify, problem, result.q))
            rows.append((took, found.R, found.r, found.success))
            ratios.append(took / cost)
            if found.success:
                holds &= not found.check()
            else:
                reasons[found.reason[:100]] += 1
            if found.condition < WELL or (not np.isfinite(found.condition)):
                well, proved = well + 1, proved + found.success
        if not rows:
            continue
        many, took = with_seconds(partial(certify_batch, problem, Q))
        together.append(took / len(Q))
        holds &= [one.success for one in many] == [row[3] for row in rows]
        holds &= not any(one.check() for one in many if one.success)
        seen += len(Q)
        times += [row[0] for row in rows]
        sizes = [row[1] for row in rows if row[3]] or [0.0]
        cost, farthest = 1e3 * np.median([row[0] for row in rows]), max([row[2] for row in rows if row[3]], default=0.0)
        good = sum(row[3] for row in rows)
        print(
            f"{path.stem:32s} proved {good:4d} of {len(Q):4d}, {cost:6.2f} ms, together {1e3 * together[-1]:5.2f} ms, "
            f"R {np.median(sizes):.2g}, r {farthest:.2g}"
        )
        for reason, times_seen in reasons.most_common(2):
            print(f"    {times_seen} times: {reason}")
    print(f"{seen} projections; condition below {WELL:g}, or none: {proved} of {well} proved; all checks hold: {holds}")
    print(f"median {1e3 * np.median(times):.2f} ms, {np.median(ratios):.0f} projections; many together: ", end="")
    print(f"{1e3 * np.median(together):.2f} ms each")
    return holds and proved >= 0.9 * well


def off(count: int) -> bool:
    """Configurations that are ten thresholds off: where they are proved, the solution is found in 50 digits."""
    proved = wrong = 0
    for seed in range(count):
        problem, q, target = claims.well_posed(seed)
        moved = problem.space.integrate(q, claims.noise(seed, problem, 1e-3))
        found = certify(problem, moved, target)
        if found.status is CertificateStatus.PROVED:
            proved += 1
            wrong += not claims.solved_in_digits(problem, found, target)
    print(f"ten thresholds off: {proved} of {count} proved; not so in 50 digits: {wrong}")
    return wrong == 0 and proved > 0


def false(count: int) -> bool:
    """Claims that do not hold, and how many pass."""
    passed, asked = Counter[str](), Counter[str]()
    kinds: dict[str, Callable[[int], bool]] = claims.FALSE
    for seed in range(count):
        name = list(kinds)[seed % len(kinds)]
        asked[name] += 1
        passed[name] += kinds[name](seed)
    for name, number in asked.items():
        print(f"{name:60s} {passed[name]} of {number} pass")
    return not sum(passed.values())


def paths(count: int) -> bool:
    """Paths that the planner finds, without and with collisions; cost beside that of their interpolation."""
    rng, holds = np.random.default_rng(0), True
    scenes = {"glass": planning_leaves.glass, "bar": planning_leaves.bar, "talos": planning_leaves.talos}
    for name, make in scenes.items():
        scene, proved, free, legs, samples = make(None), 0, 0, 0, 0
        reasons, ratios, each, radii = Counter[str](), list[float](), list[float](), list[float]()
        done = 0
        while done < -(-count // len(scenes)):
            found = scene.solve(scene.queries[done % len(scene.queries)], rng, Limits(seconds=scene.seconds))
            done += 1
            if found.path is None:
                reasons[f"no path: {found.status.name}"] += 1
                continue
            (piece,) = found.path.pieces
            cost = with_seconds(partial(interpolate_edges, piece.projector, piece.samples[:-1], piece.samples[1:]))[1]
            certificate, took = with_seconds(found.path.certify)
            proved += certificate.success
            both = [certificate]
            if done <= WITH_SOLIDS:
                both.append(found.path.certify(scene.collisions))
                free += both[1].success
            for each_one in both:
                if each_one.success:
                    holds &= not each_one.check()
                else:
                    reasons[each_one.told[:140]] += 1
            if certificate.success:
                ratios.append(took / cost)
                each.append(took / (len(piece.samples) - 1))
                radii.append(certificate.r)
                legs, samples = legs + len(certificate.legs), samples + len(piece.samples) - 1
        print(
            f"{name:8s} proved {proved} of {done}, with collisions {free} of {min(done, WITH_SOLIDS)}; "
            f"legs a part {legs / max(samples, 1):.2f}"
        )
        if ratios:
            print(
                f"    r up to {max(radii):.2g}; {1e3 * np.median(each):.1f} ms a part, "
                f"{np.median(ratios):.0f} times the interpolation"
            )
        for reason, seen in reasons.most_common(5):
            print(f"    {seen} times: {reason}")
    return holds


def jumps(count: int) -> bool:
    """Paths that jump, and how many are proved."""
    kinds, passed = [*path_claims.JUMPING.items()], 0
    for seed in range(count):
        name, make = kinds[seed % len(kinds)]
        found = make(seed).certify()
        if found.success:
            passed += 1
            print(f"proved: {name}, seed {seed}")
    print(f"paths that jump: {passed} of {count} proved")
    return passed == 0


def sweeps(count: int) -> bool:
    """Random linkages of two loops: complete only where the number of postures is that of the proved branches."""
    rng, ended, wrong, times = np.random.default_rng(6), Counter[str](), 0, list[float]()
    while sum(ended.values()) < count:
        pivot, way = rng.uniform([-0.3, -0.5], [0.5, 0.2]), rng.uniform(0.3, 2.0) * rng.choice([-1.0, 1.0])
        if not crank_chain.postures_at(pivot, crank_chain.CRANK):
            continue
        swept = crank_chain.two_loops(pivot, way)
        if len(swept.values) < 2:
            continue
        found, took = with_seconds(swept.certify)
        times.append(took)
        values = np.linspace(swept.values[0], swept.values[-1], 4000)
        numbers = {len(crank_chain.postures_at(pivot, float(value))) for value in values}
        ended[f"{found.status.name}, {'as many all the way' if len(numbers) == 1 else 'some begin or end'}"] += 1
        wrong += found.status is CertificateStatus.COMPLETE and numbers != {1 + len(found.others)}
    print(f"sweeps: {dict(ended)}, complete wrongly: {wrong}; median {np.median(times):.2f} s")
    return wrong == 0


PARTS: dict[str, tuple[Callable[[int], bool], int]] = {
    "boxes": (boxes, 20), "formulas": (formulas, 1), "digits": (digits, 2), "widths": (widths, 30),
    "projections": (projections, 32), "off": (off, 1), "false": (false, 24),
    "paths": (paths, 0), "jumps": (jumps, 9), "sweeps": (sweeps, 2),
}  # fmt: skip
"""By option: what runs, and how much of it with `--check`."""


if __name__ == "__main__":
    raise SystemExit(run_parts(__doc__, PARTS))
